"""The catalogue: every source, identifier map and edge rule of an edition, declared in TOML.

An edition is a folder of TOML files. Unknown keys are refused, references are checked, and the
objects are frozen: engines read them, nothing is decided here.
"""

from __future__ import annotations

import re
import tomllib
from difflib import get_close_matches
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from openbiolink.errors import CatalogueError, InputError
from openbiolink.schema import Schema, load_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from importlib.resources.abc import Traversable

QualityLevel = Literal["all", "low", "medium", "high"]
EDITIONS = ("2020",)


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
        comment: what comment lines begin with.
        header: where column names stand: in the first line, in a comment line, or nowhere.
        named: our column name → the header's name, for files with a header; further columns may follow.
        positional: our names of all columns in order, for files without a header.
        patterns: our column name → regular expression that the first data cells match as a whole.
        compose: our column name → template of other columns, such as "{database}:{local_id}".
    """

    name: str
    separator: tuple[str, ...] = ("\t",)
    comment: str | None = None
    header: Literal["first", "comment", "none"] = "first"
    named: dict[str, str] = {}
    positional: tuple[str, ...] = ()
    patterns: dict[str, Pattern] = {}
    compose: dict[str, str] = {}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.header == "none") != bool(self.positional) or (self.header == "none") == bool(self.named):
            raise ValueError("a layout with a header has `named` columns, one without has `positional` ones")
        unknown = set(self.patterns) - set(self.positional or self.named)
        if unknown:
            raise ValueError(f"patterns for columns that the layout does not have: {sorted(unknown)}")
        return self

    def columns(self) -> tuple[str, ...]:
        """Our names of all columns a table of this layout has."""
        return (*(self.positional or self.named), *self.compose)


class Source(_Declared):
    """One upstream file.

    Attributes:
        title: what it is, in words.
        gives: its role in the licence table, such as "edge (gene-gene)".
        homepage: where people read about it.
        licence: short name of its terms.
        version: the release that the edition was made from, as far as it is known.
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
        return self


class Condition(_Declared):
    """A test of one cell; a row that fails it is counted as `filtered:<reason>`.

    Exactly one test is given: the cell is one of some texts, none of some texts, matches or does not
    match a regular expression somewhere, holds a token between separators, or is a number above or
    at least a bound.
    """

    column: str
    reason: str = ""
    one_of: tuple[str, ...] | None = None
    none_of: tuple[str, ...] | None = None
    matches: Pattern | None = None
    matches_not: Pattern | None = None
    token: str | None = None
    separator: str = "|"
    above: float | None = None
    at_least: float | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        tests = ("one_of", "none_of", "matches", "matches_not", "token", "above", "at_least")
        given = [name for name in tests if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"a condition has exactly one test of {', '.join(tests)}, not {given}")
        return self


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
    """A table of one namespace's ids and another's; several values of a key all count."""

    source: str
    table: str = "rows"
    where: tuple[Condition, ...] = ()
    key: Cell
    value: Cell

    def columns(self) -> frozenset[str]:
        """All columns of the source that the map reads."""
        cells: tuple[Cell | Condition, ...] = (self.key, self.value, *self.where)
        return frozenset(cell.column for cell in cells)


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
    """The condition that a row meets at each level; a level without one lets every row pass."""

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
        negative: whether the rows state that the relation does NOT hold.
        head: the head.
        tail: the tail.
        where: conditions that rows of this rule meet.
        negation: the condition that marks a row as negated; such rows are counted as `negated`.
        score: the quality score.
        quality: the quality levels.
    """

    relation: str
    source: str
    table: str = "rows"
    label: str
    negative: bool = False
    head: End
    tail: End
    where: tuple[Condition, ...] = ()
    negation: Condition | None = None
    score: Score | None = None
    quality: Quality = Quality()

    def columns(self) -> frozenset[str]:
        """All columns of the source that the rule reads."""
        levels = (self.quality.low, self.quality.medium, self.quality.high, self.negation)
        cells: tuple[Cell | Condition | Score | None, ...] = (self.head, self.tail, *self.where, *levels, self.score)
        return frozenset(cell.column for cell in cells if cell is not None)


class Catalogue(_Declared):
    """All declarations of one edition, by name."""

    edition: str
    sources: dict[str, Source] = Field(alias="source")
    maps: dict[str, IdMap] = Field(alias="map")
    rules: dict[str, Rule] = Field(alias="rule")

    def needs(self, rule: Rule) -> tuple[str, ...]:
        """The ids of every source that a rule needs, its own first, without repeats."""
        ends = (rule.head, rule.tail)
        maps = [self.maps[name].source for end in ends for name in end.via]
        ontologies = [end.ontology for end in ends if end.ontology is not None]
        return tuple(dict.fromkeys([rule.source, *maps, *ontologies]))

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


def load_catalogue(edition: str) -> Catalogue:
    """Read and check the packaged declarations of an edition.

    Raises:
        InputError: there is no such edition.
        CatalogueError: a declaration is wrong; the message says which and why.
    """
    if edition not in EDITIONS:
        raise InputError(f"unknown edition {edition!r}; known are {', '.join(EDITIONS)}")
    folder = files("openbiolink") / "sources" / "editions" / edition
    return parse_catalogue(edition, sorted(folder.iterdir(), key=lambda file: file.name))


def parse_catalogue(edition: str, declarations: Iterable[Traversable]) -> Catalogue:
    """Put the tables of several TOML files together and check them.

    Tables named `end` and `quality` hold pieces that rules refer to by name, so that what several
    rules share is written once.

    Raises:
        CatalogueError: as `load_catalogue`.
    """
    merged = _merge(declarations)
    ends, qualities = merged.pop("end"), merged.pop("quality")
    for name, source in merged["source"].items():
        if isinstance(source.get("layout"), str):
            source["layout"] = _named_piece(name, "layout", source["layout"], merged["source"])["layout"]
    for name, rule in merged["rule"].items():
        for key, pieces in (("head", ends), ("tail", ends), ("quality", qualities)):
            if isinstance(rule.get(key), str):
                rule[key] = _named_piece(name, key, rule[key], pieces)
    try:
        catalogue = Catalogue(edition=edition, **merged)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise CatalogueError(f"edition {edition}: {place}: {first['msg']} (got {first['input']!r:.80})") from error
    _check_references(catalogue)
    return catalogue


def _merge(declarations: Iterable[Traversable]) -> dict[str, dict[str, Any]]:
    """The tables of all files by kind and name."""
    merged: dict[str, dict[str, Any]] = {"source": {}, "map": {}, "rule": {}, "end": {}, "quality": {}}
    for file in declarations:
        try:
            tables = tomllib.loads(file.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError as error:
            raise CatalogueError(f"{file.name}: not valid TOML ({error})") from error
        for kind, entries in tables.items():
            if kind not in merged:
                raise CatalogueError(f"{file.name}: unknown table [{kind}]; known are {', '.join(merged)}")
            tables_in = entries.items() if isinstance(entries, dict) else [(kind, entries)]
            wrong = [name for name, entry in tables_in if not isinstance(entry, dict)]
            if wrong:
                raise CatalogueError(f"{file.name}: {wrong[0]!r} in [{kind}] is no table; write [{kind}.<name>]")
            repeated = sorted(merged[kind].keys() & entries.keys())
            if repeated:
                raise CatalogueError(f"{file.name}: [{kind}.{repeated[0]!r}] is declared twice; keep one")
            merged[kind] |= entries
    return merged


def _named_piece(owner: str, key: str, name: str, pieces: Mapping[str, Any]) -> Any:
    if name not in pieces:
        raise CatalogueError(f"{owner!r}: {key} = {name!r} is not declared{did_you_mean(name, pieces)}")
    return pieces[name]


def _columns_of(catalogue: Catalogue, source: str, table: str) -> Iterable[frozenset[str]]:
    """The columns that a table of a source has, for each layout."""
    declared = catalogue.sources[source]
    if declared.format == "delimited":
        return [frozenset(layout.columns()) if table == "rows" else frozenset() for layout in declared.layouts]
    if declared.format == "pgdump":
        return [frozenset(declared.tables.get(table, ()))]
    return [frozenset(TABLES[declared.format].get(table, ()))]


# The tables that readers of fixed formats give.
TABLES: dict[str, dict[str, tuple[str, ...]]] = {
    "gaf": {"rows": ("database", "object_id", "qualifier", "go_id", "evidence", "aspect", "taxon", "date")},
    "obo": {
        "is_a": ("id", "parent", "obsolete"),
        "part_of": ("id", "parent", "obsolete"),
        "xref": ("id", "xref"),
    },
}


def _check_references(catalogue: Catalogue) -> None:
    schema = load_schema()
    for name, rule in catalogue.rules.items():
        owner = f"rule {name!r}"
        if rule.relation not in schema.relations:
            hint = did_you_mean(rule.relation, schema.relations)
            raise CatalogueError(f"{owner}: relation {rule.relation!r} is not in the schema{hint}")
        for end in (rule.head, rule.tail):
            _check_end(catalogue, owner, end, schema)
        for condition in rule.where:
            if not condition.reason:
                raise CatalogueError(f"{owner}: the condition on {condition.column!r} has no reason; give one")
        _check_columns(catalogue, owner, rule.source, rule.table, rule.columns())
    for name, mapping in catalogue.maps.items():
        for cell in (mapping.key, mapping.value):
            _check_prefix(f"map {name!r}", cell, schema)
        _check_columns(catalogue, f"map {name!r}", mapping.source, mapping.table, mapping.columns())


def _check_end(catalogue: Catalogue, owner: str, end: End, schema: Schema) -> None:
    if end.type not in schema.node_types:
        raise CatalogueError(f"{owner}: node type {end.type!r} is not in the schema")
    for via in end.via:
        if via not in catalogue.maps:
            raise CatalogueError(f"{owner}: map {via!r} is not declared{did_you_mean(via, catalogue.maps)}")
    declared = catalogue.sources.get(end.ontology or "")
    if end.ontology is not None and (declared is None or declared.format != "obo"):
        raise CatalogueError(f"{owner}: ontology {end.ontology!r} is not a declared source of format obo")
    _check_prefix(owner, end, schema)


def _check_prefix(owner: str, cell: Cell, schema: Schema) -> None:
    if cell.prefix is not None and cell.prefix not in schema.prefixes:
        hint = did_you_mean(cell.prefix, schema.prefixes)
        raise CatalogueError(f"{owner}: prefix {cell.prefix!r} is not a registered spelling{hint}")


def _check_columns(catalogue: Catalogue, owner: str, source: str, table: str, columns: frozenset[str]) -> None:
    if source not in catalogue.sources:
        raise CatalogueError(f"{owner}: source {source!r} is not declared{did_you_mean(source, catalogue.sources)}")
    for available in _columns_of(catalogue, source, table):
        missing = sorted(columns - available)
        if missing:
            raise CatalogueError(
                f"{owner} reads column {missing[0]!r}, which table {table!r} of {source!r} does not have in every "
                f"layout{did_you_mean(missing[0], available)}; columns: {', '.join(sorted(available))}"
            )
