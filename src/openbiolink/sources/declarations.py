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
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, InstanceOf, model_validator

from openbiolink.errors import InputError
from openbiolink.schema import Schema  # noqa: TC001, the model needs it at run time

if TYPE_CHECKING:
    from collections.abc import Iterable

QualityLevel = Literal["all", "low", "medium", "high"]


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is not a regular expression ({error})") from None
    return pattern


def _has_group(pattern: str) -> str:
    if not re.compile(_compiles(pattern)).groups:
        raise ValueError(f"{pattern!r} has no group to extract")
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]
Extract = Annotated[str, AfterValidator(_has_group)]


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

    name: str
    separator: tuple[str, ...] = ("\t",)
    quoted: bool = False
    comment: str | None = None
    header: Literal["first", "comment", "below", "none"] = "first"
    named: dict[str, str] = {}
    optional: dict[str, str] = {}
    positional: tuple[str, ...] = ()
    patterns: dict[str, Pattern] = {}
    compose: dict[str, str] = {}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.header == "none") != bool(self.positional) or (self.header == "none") == bool(self.named):
            raise ValueError("a layout with a header has `named` columns, one without has `positional` ones")
        if self.optional and self.header == "none":
            raise ValueError("only a layout with a header has `optional` columns")
        unknown = set(self.patterns) - set(self.positional or self.named)
        if unknown:
            raise ValueError(f"patterns for columns that the layout does not have: {sorted(unknown)}")
        return self

    def columns(self) -> tuple[str, ...]:
        """Our names of all columns a table of this layout has."""
        return (*(self.positional or self.named), *self.optional, *self.compose)


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

    title: str
    url: str
    spdx: str
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
        credential: name of an environment variable whose value is sent as the header `Authorization`.
    """

    url: Annotated[str, Field(pattern=r"^(https?|ftp)://[^/\s]+/\S*$")]
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
    url: Annotated[str, Field(pattern=r"^(https?|ftp)://[^/\s]+/\S*$")] | None = None


class Source(_Declared):
    """One upstream file.

    Attributes:
        title: what it is, in words.
        gives: its role in the licence table, such as "edge (gene-gene)".
        homepage: where people read about it.
        licence: short name of its terms, one of the catalogue's licences.
        version: the release that the edition was made from, as far as it is known.
        checked: how far these facts were checked: against the whole file, an excerpt of it, or not at all.
        default: whether it is used without being asked for by name.
        infores: its id in the Biolink information resource registry, such as "infores:string".
        derived_from: sources whose content is copied into this one, by id or name.
        addresses: where the file can be had, the best place first; none where it must be got by hand.
        by_hand: how to get the file where no address gives it.
        saved_as: file name after a download; the last part of the address where it is empty.
        probe: how its version is found out.
        format: which reader reads it.
        layouts: shapes of the file, most telling first (delimited text only).
        tables: table name → columns it must have (database dumps only).
        files: file-name patterns by which a folder of sources is searched.
    """

    title: str
    gives: tuple[str, ...]
    homepage: str
    licence: str
    version: str = ""
    checked: Literal["full", "excerpt", "no"] = "no"
    default: bool = True
    infores: Annotated[str, Field(pattern="^infores:[a-z0-9-]+$")] | None = None
    derived_from: tuple[str, ...] = ()
    addresses: tuple[Address, ...] = Field(default=(), alias="address")
    by_hand: str = ""
    saved_as: str = ""
    probe: Probe | None = None
    format: Literal["delimited", "gaf", "obo", "pgdump"]
    layouts: tuple[Layout, ...] = Field(default=(), alias="layout")
    tables: dict[str, tuple[str, ...]] = {}
    files: tuple[str, ...]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.format == "delimited") != bool(self.layouts):
            raise ValueError("delimited text needs at least one `layout`, other formats have none")
        if (self.format == "pgdump") != bool(self.tables):
            raise ValueError("a database dump needs `tables`, other formats have none")
        if self.addresses and not any(fnmatch(self.file_name(), pattern) for pattern in self.files):
            raise ValueError(f"a download is saved as {self.file_name()!r}, which fits none of `files`; set `saved_as`")
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
        token: the cell holds this text between separators.
        separator: what stands between the tokens of a cell.
        above: the cell is a number above this one.
        at_least: the cell is this number or one above.
        listed_in: the row has a partner in another table.
    """

    column: str = ""
    reason: str = ""
    one_of: tuple[str, ...] | None = None
    none_of: tuple[str, ...] | None = None
    matches: Pattern | None = None
    matches_not: Pattern | None = None
    token: str | None = None
    separator: str = "|"
    above: float | None = None
    at_least: float | None = None
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
    split: str | None = None
    extract: Extract | None = None
    prefix: str | None = None
    rewrite: dict[Pattern, str] = {}


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
        node: the cell that says which node it is.
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
    pattern: Extract = r"(\d{4})-(\d{2})-(\d{2})"


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
        best_first: for scores that are words, the words from best to worst; others come last.
            Without it the score is a number and more is better.
    """

    column: str
    best_first: tuple[str, ...] = ()


class Quality(_Declared):
    """The condition that a row meets at each level; a level without one lets every row pass.

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
    label: str
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
    """

    title: str
    gives: tuple[str, ...]
    licence: str
    homepage: str


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
