"""What a catalogue declares, as frozen objects: sources, maps, names and edge rules.

Unknown keys are refused, and what one declaration says is checked by itself; references between them are
checked by `sources.catalogue`.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Literal, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, InstanceOf, model_validator
from pydantic_core import PydanticCustomError

from openbiolink.errors import InputError
from openbiolink.schema import Schema  # noqa: TC001, the model needs it at run time
from openbiolink.tables import regex_fault

if TYPE_CHECKING:
    from collections.abc import Iterable

QualityLevel = Literal["all", "low", "medium", "high"]


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{pattern!r} is not a regular expression ({error})") from None
    return pattern


def _has_group(pattern: str) -> str:
    if not re.compile(_compiles(pattern)).groups:
        raise ValueError(f"{pattern!r} has no group to extract")
    return pattern


def _runs(pattern: str) -> str:
    if fault := regex_fault(pattern):
        raise ValueError(f"{pattern!r} is not a regular expression of RE2, which rows are tested with ({fault})")
    return pattern


def _runs_with_group(pattern: str) -> str:
    if regex_fault(_runs(pattern), r"\1"):
        raise ValueError(f"{pattern!r} has no group to extract")
    return pattern


def _is_address(url: str) -> str:
    """Refuse what no server can be asked for, and keys in the query, which would stand in every lock and message."""
    fault = PydanticCustomError("address", "is no http, https or ftp address of the form https://host/path")
    if not re.fullmatch(r"(https?|ftp)://[^/\s]+/[^\s\x00-\x1f\x7f]*", url):
        raise fault
    try:
        parts = urlsplit(url)
        port, host = parts.port, (parts.hostname or "").encode("idna")
    except ValueError:  # of brackets, of ports that are no numbers up to 65535, and of labels that no host has
        raise fault from None
    if not host or port == 0:
        raise fault
    secret = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True) if SECRET.search(name)]
    if secret:
        raise PydanticCustomError(
            "secret",
            "has {name} in its query, which would be written wherever the address is; put the key into an environment "
            "variable and name that in `credential`",
            {"name": repr(secret[0])},
        )
    return url


SECRET = re.compile(r"key$|token|secret|passw|pwd|credential|signature", re.IGNORECASE)
Url = Annotated[str, AfterValidator(_is_address)]
# Python's regular expressions tell layouts and versions, RE2 those of rows.
Pattern = Annotated[str, AfterValidator(_compiles)]
Extract = Annotated[str, AfterValidator(_has_group)]
RowPattern = Annotated[str, AfterValidator(_runs)]
RowExtract = Annotated[str, AfterValidator(_runs_with_group)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Line = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]*$")]  # text without line ends and other control characters
ColumnName = Annotated[str, Field(pattern=r"^[\w .()/-]+$")]
NotEmpty = Annotated[str, Field(min_length=1)]
UNSAFE_NAME = re.compile(r"\.*|.*[/\\\x00-\x1f\x7f].*|.*\.(part|tmp|lock)", re.IGNORECASE | re.DOTALL)


class _Declared(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Layout(_Declared):
    """One shape that a source's file is known to have had.

    Attributes:
        name: what the manifest calls it.
        separator: the character between cells; several where releases differ.
        quoted: whether cells may stand between quotation marks, doubled inside, and then hold separators and line
            ends (RFC 4180). Otherwise a quotation mark is a letter like any other.
        comment: what comment lines begin with.
        header: where column names stand: in the first line, in a comment line, in one of the first lines below a
            banner, or nowhere.
        named: our column name → the header's name, for files with a header; further columns may follow.
        optional: the same for columns that some releases lack; their cells are empty then, which is noted.
        positional: our names of all columns in order, for files without a header.
        patterns: our column name → regular expression that the first data cells match as a whole.
        compose: our column name → template of other columns, such as "{database}:{local_id}".
    """

    name: Line
    separator: tuple[Annotated[str, Field(pattern=r'^[^"\r\n\x00]$')], ...] = ("\t",)
    quoted: bool = False
    comment: Annotated[Line, Field(min_length=1)] | None = None
    header: Literal["first", "comment", "below", "none"] = "first"
    named: dict[ColumnName, Line] = {}
    optional: dict[ColumnName, Line] = {}
    positional: tuple[ColumnName, ...] = ()
    patterns: dict[str, Pattern] = {}
    compose: dict[ColumnName, str] = {}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.header == "none") != bool(self.positional) or (self.header == "none") == bool(self.named):
            raise ValueError("a layout with a header has `named` columns, one without has `positional` ones")
        if self.optional and self.header == "none":
            raise ValueError("only a layout with a header has `optional` columns")
        unknown = set(self.patterns) - set(self.positional or self.named)
        if unknown:
            raise ValueError(f"patterns for columns that the layout does not have: {sorted(unknown)}")
        _check_unique("columns", self.columns())
        _check_unique("columns of the file", [*self.named.values(), *self.optional.values()])
        plain = {column for column in self.positional or self.named if re.fullmatch(r"\w+", column)}
        for template in self.compose.values():
            if re.search("[{}]", re.sub(r"\{(\w+)\}", lambda found: "" if found[1] in plain else "{", template)):
                raise ValueError(f"{template!r} puts together what is no column; there are {sorted(plain)}")
        return self

    def columns(self) -> tuple[str, ...]:
        """Our names of all columns a table of this layout has."""
        return (*(self.positional or self.named), *self.optional, *self.compose)


def _check_unique(what: str, names: Iterable[str]) -> None:
    """Names of columns and tables are told apart without regard to letter case."""
    listed = [name.casefold() for name in names]
    if repeated := sorted({name for name in listed if listed.count(name) > 1}):
        raise ValueError(f"two {what} are called {repeated[0]!r}, letter case aside")


class Licence(_Declared):
    """Terms under which a source may be used.

    Attributes:
        title: their name in words.
        url: where they stand.
        spdx: their SPDX licence expression; "LicenseRef-…" where SPDX has none.
        reuse: how freely what is made of them may be used: "open" (any use, at most with attribution), "share-alike",
            "non-commercial", or "closed" (not to be passed on).
        attribution: whether the source must be named.
        printed: how the licence table of the first release prints it, where it does so in another way.
    """

    title: Line
    url: Annotated[Line, Field(pattern=r"^https?://\S+$")]
    spdx: Annotated[Line, Field(pattern=r"^[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*$")]
    reuse: Literal["open", "share-alike", "non-commercial", "closed"]
    attribution: bool = True
    printed: str = ""


class Address(_Declared):
    """One place where a source's file can be had.

    Attributes:
        url: an http, https or ftp address.
        kind: "pinned" (always this release), "rolling" (whatever is newest), "mirror" or "archive".
        sha256: checksum of the file, where it is known.
        size: its bytes, where they are known.
        min_bytes: fewer bytes than this cannot be the whole file.
        credential: name of an environment variable; over HTTP its value is sent as the header `Authorization`, over FTP
            it is `user:password`.
    """

    url: Url
    kind: Literal["pinned", "rolling", "mirror", "archive"]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None
    size: Annotated[int, Field(gt=0)] | None = None
    min_bytes: Annotated[int, Field(ge=0)] = 1
    credential: str | None = None


class Probe(_Declared):
    """How the version of a source is found out.

    Attributes:
        pattern: regular expression whose first group is the version.
        url: where to look; the first lines of the source's own file where there is none.
    """

    pattern: Extract
    url: Url | None = None


class Source(_Declared):
    """One upstream file.

    Attributes:
        title: what it is, in words.
        gives: its role in the licence table, such as "edge (gene-gene)".
        homepage: where people read about it.
        licence: short name of its terms, one of the catalogue's licences.
        version: the release that the edition was made from, as far as it is known.
        checked: how far these facts were checked. "full": every declared layout, with all its columns, against a whole
            file as the source gave it out, of any release. "excerpt": the same against a part of such a file. "no":
            only against what others write of the file, or files that were made up or derived from other data. Of
            several layouts the one that was checked least counts.
        default: whether it is used without being asked for by name.
        infores: its id in the Biolink information resource registry, such as "infores:string".
        derived_from: sources whose content is copied into this one, by id where they are in the catalogue and by a
            name without a dot where they are not.
        addresses: where the file can be had, the best place first; none where it must be got by hand.
        by_hand: how to get the file where no address gives it.
        saved_as: file name after a download; the last part of the address where it is empty.
        probe: how its version is found out.
        format: which reader reads it.
        layouts: shapes of the file, most telling first (delimited text only).
        tables: table name → columns it must have (database dumps only).
        optional_tables: those of them that some releases lack; they are empty then, which is noted.
        files: file-name patterns by which a folder of sources is searched.
    """

    title: Line
    gives: tuple[Line, ...]
    homepage: Line
    licence: str
    version: Line = ""
    checked: Literal["full", "excerpt", "no"] = "no"
    default: bool = True
    infores: Annotated[str, Field(pattern="^infores:[a-z0-9-]+$")] | None = None
    derived_from: tuple[str, ...] = ()
    addresses: tuple[Address, ...] = Field(default=(), alias="address")
    by_hand: Line = ""
    saved_as: str = ""
    probe: Probe | None = None
    format: Literal["delimited", "gaf", "obo", "pgdump"]
    layouts: tuple[Layout, ...] = Field(default=(), alias="layout")
    tables: dict[ColumnName, tuple[ColumnName, ...]] = {}
    optional_tables: tuple[str, ...] = ()
    files: Annotated[tuple[Line, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.format == "delimited") != bool(self.layouts):
            raise ValueError("delimited text needs at least one `layout`, other formats have none")
        if (self.format == "pgdump") != bool(self.tables):
            raise ValueError("a database dump needs `tables`, other formats have none")
        if unknown := sorted(set(self.optional_tables) - self.tables.keys()):
            raise ValueError(f"{unknown[0]!r} is optional, but none of `tables`")
        _check_unique("tables", self.tables)
        for columns in self.tables.values():
            _check_unique("columns", columns)
        name = self.file_name() if self.addresses or self.saved_as else ""
        if (self.addresses or self.saved_as) and UNSAFE_NAME.fullmatch(name):
            raise ValueError(f"a download cannot be saved as {name!r}; set `saved_as` to the plain name of a file")
        if self.addresses and not any(fnmatch(name, pattern) for pattern in self.files):
            raise ValueError(f"a download is saved as {name!r}, which fits none of `files`; set `saved_as`")
        return self

    def file_name(self) -> str:
        """The name that a download of this source has."""
        return self.saved_as or PurePosixPath(unquote(urlsplit(self.addresses[0].url).path)).name


class Listed(_Declared):
    """Rows of another table that a row must have a partner in.

    Attributes:
        source: the other source.
        table: its table.
        columns: our column → the other table's column; all of them must be equal, letter for letter.
        where: conditions that the other rows meet.
    """

    source: str
    table: str = "rows"
    columns: Annotated[dict[str, str], Field(min_length=1)]
    where: tuple[Condition, ...] = ()

    def other_columns(self) -> frozenset[str]:
        """All columns of the other table that are read."""
        return frozenset(self.columns.values()).union(*(condition.columns() for condition in self.where))


class Condition(_Declared):
    """A test of a row; a row that fails it is counted as `filtered:<reason>`. Exactly one test is given.

    Attributes:
        column: the column whose cell is tested; none for `listed_in`.
        reason: why a row that fails is left out, in one word.
        one_of: the cell is one of these texts.
        none_of: the cell is none of these texts.
        matches: the cell matches this regular expression somewhere.
        matches_not: the cell does not match this regular expression anywhere.
        token: the cell holds this text between separators, in any letter case.
        separator: what stands between the tokens of a cell.
        above: the cell is a number above this one.
        at_least: the cell is this number or one above.
        listed_in: the row has a partner in another table.
    """

    column: str = ""
    reason: Line = ""
    one_of: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    none_of: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    matches: RowPattern | None = None
    matches_not: RowPattern | None = None
    token: str | None = None
    separator: NotEmpty = "|"
    above: Number | None = None
    at_least: Number | None = None
    listed_in: Listed | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        tests = ("one_of", "none_of", "matches", "matches_not", "token", "above", "at_least", "listed_in")
        given = [name for name in tests if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"a condition has exactly one test of {', '.join(tests)}, not {given}")
        if (self.listed_in is None) != bool(self.column):
            raise ValueError("a condition tests a `column`, and only `listed_in` goes without one")
        return self

    def columns(self) -> frozenset[str]:
        """The columns that the test reads."""
        return frozenset([self.column]) if self.listed_in is None else frozenset(self.listed_in.columns)


def listings_of(conditions: Iterable[Condition]) -> tuple[Listed, ...]:
    """The tables that some conditions look into, and those that the conditions on these look into in turn."""
    listed = [condition.listed_in for condition in conditions if condition.listed_in is not None]
    return (*listed, *(deeper for listing in listed for deeper in listings_of(listing.where)))


class Cell(_Declared):
    """How identifiers are taken out of a cell.

    Attributes:
        column: the column.
        split: separator of several identifiers in one cell.
        extract: regular expression whose first group is the local id; a cell without a match has no id.
        prefix: namespace put before an id that does not carry one.
        rewrite: regular expression → replacement, for ids that a source spells in a way of its own.
    """

    column: str
    split: NotEmpty | None = None
    extract: RowExtract | None = None
    prefix: str | None = None
    rewrite: dict[RowPattern, str] = {}

    @model_validator(mode="after")
    def _check_rewrite(self) -> Self:
        for pattern, replacement in self.rewrite.items():
            if fault := regex_fault(pattern, replacement):
                raise ValueError(f"{pattern!r} cannot be rewritten as {replacement!r} ({fault})")
        return self


class End(Cell):
    """The head or the tail of an edge rule.

    Attributes:
        type: node type.
        via: maps to follow, in order; an id that a map does not hold is unmapped.
        ontology: source whose alternative and obsolete ids are followed at the end.
    """

    type: str
    via: tuple[str, ...] = ()
    ontology: str | None = None


class IdMap(_Declared):
    """A table of one namespace's ids and another's; several values of a key all count.

    Attributes:
        source: the source.
        table: its table.
        where: conditions that its rows meet; others are passed over.
        key: the id that is looked up.
        value: the id that it stands for.
    """

    source: str
    table: str = "rows"
    where: tuple[Condition, ...] = ()
    key: Cell
    value: Cell

    def columns(self) -> frozenset[str]:
        """All columns of the source that the map reads."""
        columns = frozenset([self.key.column, self.value.column])
        return columns.union(*(condition.columns() for condition in self.where))

    def listings(self) -> tuple[Listed, ...]:
        """The tables of other sources that its conditions look into."""
        return listings_of(self.where)


class Name(_Declared):
    """Where names of nodes stand.

    Attributes:
        source: the source; names are read only where a graph uses it.
        table: its table.
        node: which node it is, an end as of a rule.
        text: the column of its name.
        kind: the column that says what kind of thing it is within its node type, where there is one, such as the
            branch of the Gene Ontology.
        where: conditions that its rows meet; others are passed over.
    """

    source: str
    table: str = "rows"
    node: End
    text: str
    kind: str | None = None
    where: tuple[Condition, ...] = ()

    def columns(self) -> frozenset[str]:
        """All columns of the source that are read."""
        columns = frozenset([self.node.column, self.text, self.kind or self.text])
        return columns.union(*(condition.columns() for condition in self.where))

    def ends(self) -> tuple[End, ...]:
        """The cell of the node."""
        return (self.node,)

    def listings(self) -> tuple[Listed, ...]:
        """The tables of other sources that its conditions look into."""
        return listings_of(self.where)


class When(_Declared):
    """Where the date stands at which a row was stated.

    Attributes:
        column: the column.
        pattern: regular expression whose groups are year, month and day; the last two may be absent. Of several
            matches in a cell the earliest date counts.
    """

    column: str
    pattern: Annotated[Extract, AfterValidator(_runs)] = r"(\d{4})-(\d{2})-(\d{2})"


class Band(_Declared):
    """How many rows a rule is expected to have: at least the first number, at most the second.

    Attributes:
        read: rows of the source.
        kept: rows that give edges.
    """

    read: tuple[int, int] | None = None
    kept: tuple[int, int] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        bands = [band for band in (self.read, self.kept) if band is not None]
        if not bands or any(not 0 <= low <= high for low, high in bands):
            raise ValueError("expect has `read` or `kept`, each [fewest, most]")
        return self


class Score(_Declared):
    """Where the quality score stands, and what is better.

    Attributes:
        column: the column; its text is kept letter for letter.
        extract: regular expression whose first group is the score, where the cell holds more; a cell without a match
            has no score.
        best_first: for scores that are words, the words from best to worst; others come last, which is noted.
            Without it the score is a number and more is better.
    """

    column: str
    extract: RowExtract | None = None
    best_first: tuple[Line, ...] = ()


class Quality(_Declared):
    """The condition that a row meets at each level; a level without one lets every row pass.

    A condition that names no column tests that of the score.

    Attributes:
        low: what a row says to be of low quality at least.
        medium: the same for medium quality.
        high: the same for high quality.
    """

    low: Condition | None = None
    medium: Condition | None = None
    high: Condition | None = None


class Rule(_Declared):
    """How one source's rows become edges of one relation.

    Attributes:
        relation: the relation, as in the schema, which also says whether it is symmetric.
        source: the source.
        table: the table of the source, where it has several.
        label: what the source column of the graph says.
        default: whether it is built without being asked for by name.
        negative: whether the rows state that the relation does NOT hold.
        head: the head.
        tail: the tail.
        where: conditions that rows of this rule meet.
        negation: the condition that marks a row as negated; such rows are counted as `negated`.
        score: the quality score.
        quality: the quality levels.
        date: when a row was stated.
        expect: how many rows there should be; a build outside of it stops.
    """

    relation: str
    source: str
    table: str = "rows"
    label: Line
    default: bool = True
    negative: bool = False
    head: End
    tail: End
    where: tuple[Condition, ...] = ()
    negation: Condition | None = None
    score: Score | None = None
    quality: Quality = Quality()
    date: When | None = None
    expect: Band | None = None

    def columns(self) -> frozenset[str]:
        """All columns of the source that the rule reads."""
        cells: tuple[Cell | Score | When | None, ...] = (self.head, self.tail, self.score, self.date)
        columns = frozenset(cell.column for cell in cells if cell is not None)
        return columns.union(*(condition.columns() for condition in self.conditions()))

    def conditions(self) -> tuple[Condition, ...]:
        """Every test of the rule, quality levels and negation included."""
        tests = (*self.where, self.quality.low, self.quality.medium, self.quality.high, self.negation)
        return tuple(test for test in tests if test is not None)

    def ends(self) -> tuple[End, ...]:
        """The head and the tail."""
        return (self.head, self.tail)

    def listings(self) -> tuple[Listed, ...]:
        """The tables of other sources that its conditions look into."""
        return listings_of(self.conditions())


class Namespace(_Declared):
    """Identifiers of others that graphs use without reading a source of theirs.

    Attributes:
        title: who gives the identifiers.
        gives: its role in the licence table, such as "id (genes)".
        licence: short name of their terms.
        homepage: where people read about them.
        prefixes: prefixes of the identifiers, as the schema spells them.
    """

    title: str
    gives: tuple[str, ...]
    licence: str
    homepage: str
    prefixes: tuple[str, ...] = ()


class Catalogue(_Declared):
    """All declarations of one edition, by name, and the schema that they go by."""

    edition: str
    sources: dict[str, Source] = Field(alias="source")
    maps: dict[str, IdMap] = Field(default={}, alias="map")
    rules: dict[str, Rule] = Field(alias="rule")
    names: dict[str, Name] = Field(default={}, alias="name")
    namespaces: dict[str, Namespace] = Field(default={}, alias="namespace")
    licences: dict[str, Licence] = Field(alias="licence")
    graph_schema: InstanceOf[Schema] = Field(repr=False)

    def needs(self, reader: Rule | Name) -> tuple[str, ...]:
        """The ids of every source that a rule or a name needs, its own first, without repeats."""
        maps = [self.maps[name] for end in reader.ends() for name in end.via]
        ontologies = [end.ontology for end in reader.ends() if end.ontology is not None]
        listings = [listing.source for one in (reader, *maps) for listing in one.listings()]
        return tuple(dict.fromkeys([reader.source, *(one.source for one in maps), *ontologies, *listings]))

    def used_by_default(self) -> tuple[str, ...]:
        """The ids of the sources that a build without any options uses: those of the rules that are built by default.

        A rule is not, where a source that it needs is used only if it is named.
        """
        needs = [self.needs(rule) for rule in self.rules.values() if rule.default]
        used = {name for names in needs if all(self.sources[one].default for one in names) for name in names}
        return tuple(name for name in self.sources if name in used)

    def source(self, name: str) -> Source:
        """The source of this id.

        Raises:
            InputError: there is none; the message names the known ones.
        """
        if name not in self.sources:
            known = ", ".join(sorted(self.sources))
            raise InputError(f"unknown source {name!r}{did_you_mean(name, self.sources)}; known are {known}")
        return self.sources[name]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint such as ` (did you mean 'x'?)`, or nothing where no known name is close."""
    close = get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
