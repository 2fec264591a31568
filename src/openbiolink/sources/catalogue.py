"""The catalogue: every source, identifier map and edge rule of an edition, declared in TOML.

An edition is a folder of TOML files; files of the user add to it or replace parts of it. References are checked,
and the objects are frozen: engines read them, nothing is decided here.
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from openbiolink.errors import CatalogueError, InputError
from openbiolink.files import check_file
from openbiolink.schema import ANY_TYPE, load_schema
from openbiolink.sources.declarations import Catalogue, Cell, End, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from importlib.resources.abc import Traversable

    from openbiolink.schema import Schema
    from openbiolink.sources.declarations import IdMap, Name, Rule

EDITIONS = ("2020", "2026")
DEFAULT_EDITION = "2026"
Places = dict[tuple[str, str], str]  # kind and name of a declaration → how messages name it
SHARED = "shared"  # the folder of what all editions have in common
NAME = re.compile(r"\w[\w .:+()-]*")


def load_catalogue(edition: str, *added: Path) -> Catalogue:
    """Read and check the packaged declarations of an edition.

    Args:
        edition: its name, one of `EDITIONS`.
        added: TOML files of the same form. What they declare is added, or takes the place of the whole declaration
            of the same name; of several files the last one counts.

    Raises:
        InputError: there is no such edition, or an added file is absent.
        CatalogueError: a declaration is wrong; the message says which and why.
    """
    if edition not in EDITIONS:
        raise InputError(f"unknown edition {edition!r}; known are {', '.join(EDITIONS)}")
    for path in added:
        check_file(path)
    folder = files("openbiolink") / "sources" / "editions"
    declarations = [file for part in (SHARED, edition) for file in sorted((folder / part).iterdir(), key=_name_of)]
    return parse_catalogue(edition, declarations, added)


def parse_catalogue(edition: str, declarations: Iterable[Traversable], added: Iterable[Traversable] = ()) -> Catalogue:
    """Put the tables of several TOML files together and check them.

    Tables named `end`, `score` and `quality` hold pieces that rules refer to by name, so that what several
    rules share is written once. Tables named `node_type`, `prefix` and `relation` add to the schema.

    Args:
        edition: the name of the edition.
        declarations: files of which no two declare the same.
        added: files whose declarations take the place of earlier ones.

    Raises:
        CatalogueError: as `load_catalogue`.
    """
    licences = files("openbiolink") / "sources" / "licences.toml"
    places: Places = {}
    merged = _merge([licences, *declarations], places, replace=False)
    for kind, entries in _merge(added, places, replace=True).items():
        merged[kind] |= entries
    schema = load_schema({kind: merged.pop(kind) for kind in SCHEMA_TABLES})
    pieces = {kind: merged.pop(kind) for kind in PIECES}
    for name, source in merged["source"].items():
        if isinstance(source.get("layout"), str):
            piece = _named_piece(places["source", name], "layout", source["layout"], merged["source"])
            source["layout"] = piece.get("layout", ())
    for kind, keys in PIECES_OF.items():
        for name, entry in merged[kind].items():
            for key, piece_kind in keys.items():
                if isinstance(entry.get(key), str):
                    entry[key] = _named_piece(places[kind, name], key, entry[key], pieces[piece_kind])
    for rule in merged["rule"].values():
        _test_scores(rule)
    try:
        catalogue = Catalogue(edition=edition, graph_schema=schema, **merged)
    except ValidationError as error:
        raise CatalogueError(_describe_fault(error, places)) from error
    _check_references(catalogue, places)
    return catalogue


def _describe_fault(error: ValidationError, places: Places) -> str:
    """The first fault that the models found, and where it stands."""
    first = error.errors()[0]
    kind, name, *keys = (str(part) for part in first["loc"])
    key = repr(".".join(keys))[1:-1]
    within = f" {key}:" if keys else ""
    words = " ".join(first["msg"].removeprefix("Value error, ").split())
    if first["type"] == "extra_forbidden":
        return f"{places[kind, name]}: unknown key '{key}'; docs/catalogue.md has those that are known"
    got = f" (got {first['input']!r:.80})" if keys and first["type"] not in {"missing", "secret"} else ""
    return f"{places[kind, name]}:{within} {words}{got}"


def _test_scores(rule: dict[str, Any]) -> None:
    """Let quality levels without a column test the score of their rule."""
    score, quality = rule.get("score"), rule.get("quality")
    if isinstance(score, dict) and isinstance(quality, dict) and "column" in score:
        rule["quality"] = {
            level: {"column": score["column"], **test} if isinstance(test, dict) and "listed_in" not in test else test
            for level, test in quality.items()
        }


SCHEMA_TABLES = ("node_type", "prefix", "relation")
PIECES = ("end", "score", "quality")
PIECES_OF = {  # kind of declaration → key → the pieces that it can name
    "rule": {"head": "end", "tail": "end", "score": "score", "quality": "quality"},
    "name": {"node": "end"},
}
CATALOGUE_TABLES = ("source", "map", "rule", "name", "namespace", "licence", *PIECES)


def _merge(declarations: Iterable[Traversable], places: Places, *, replace: bool) -> dict[str, dict[str, Any]]:
    """The tables of all files by kind and name; their places are added to `places`."""
    merged: dict[str, dict[str, Any]] = {kind: {} for kind in (*CATALOGUE_TABLES, *SCHEMA_TABLES)}
    for file in declarations:
        try:
            tables = tomllib.loads(file.read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:  # TOML or UTF-8 that is none, numbers or nesting beyond measure
            raise CatalogueError(f"{_place(file)}: not valid TOML ({error})") from error
        for kind, entries in tables.items():
            _check_entries(_place(file), kind, entries)
            repeated = sorted(merged[kind].keys() & entries.keys())
            if repeated and not replace:
                raise CatalogueError(f"{_place(file)}: [{kind}.{repeated[0]!r}] is declared twice; keep one")
            merged[kind] |= entries
            places |= {(kind, name): f'{_place(file)}: [{kind}."{name}"]' for name in entries}
    return merged


def _check_entries(place: str, kind: str, entries: Any) -> None:
    """Check that a table of a file holds tables, or lists, under names that can stand in messages and databases."""
    known = (*CATALOGUE_TABLES, *SCHEMA_TABLES)
    if kind not in known:
        raise CatalogueError(f"{place}: unknown table {kind!r}; known are {', '.join(known)}")
    if not isinstance(entries, dict):
        raise CatalogueError(f"{place}: {kind!r} is no table; write [{kind}.<name>]")
    for name, entry in entries.items():
        if NAME.fullmatch(name) is None:
            raise CatalogueError(
                f"{place}: [{kind}] has the name {name!r}; names are of letters, digits, blanks and _ - . : + ( )"
            )
        wanted: type = list if kind == "node_type" else dict
        if not isinstance(entry, wanted):
            form = f'{name} = ["PREFIX"]' if kind == "node_type" else f"[{kind}.<name>]"
            raise CatalogueError(f"{place}: {name!r} in [{kind}] is no {wanted.__name__}; write {form}")


def _name_of(file: Traversable) -> str:
    return file.name


def _place(file: Traversable) -> str:
    """How a message names a file: by its path where the user gave it."""
    return str(file) if isinstance(file, Path) and "editions" not in file.parts else file.name


def _named_piece(owner: str, key: str, name: str, pieces: Mapping[str, Any]) -> Any:
    if name not in pieces:
        raise CatalogueError(f"{owner}: {key} = {name!r} is not declared{did_you_mean(name, pieces)}")
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
    "gaf": {"rows": ("database", "object_id", "symbol", "qualifier", "go_id", "evidence", "aspect", "taxon", "date")},
    "obo": {
        "is_a": ("id", "parent", "obsolete"),
        "part_of": ("id", "parent", "obsolete"),
        "xref": ("id", "xref"),
        "name": ("id", "name", "namespace"),
    },
}


def _check_references(catalogue: Catalogue, places: Places) -> None:
    schema = catalogue.graph_schema
    for name, rule in catalogue.rules.items():
        owner = places["rule", name]
        if rule.relation not in schema.relations:
            hint = did_you_mean(rule.relation, schema.relations)
            raise CatalogueError(f"{owner}: relation {rule.relation!r} is not in the schema{hint}")
        relation = schema.relations[rule.relation]
        for end, side, expected in ((rule.head, "head", relation.head), (rule.tail, "tail", relation.tail)):
            _check_end(catalogue, owner, end, schema)
            if expected not in {ANY_TYPE, end.type}:
                raise CatalogueError(
                    f"{owner}: its {side} is {end.type}, but the {side} of relation {rule.relation} is {expected}; "
                    "mend one of them"
                )
        for condition in rule.where:
            if not condition.reason:
                raise CatalogueError(f"{owner}: the condition on {condition.column!r} has no reason; give one")
        _check_tables(catalogue, owner, rule)
    _check_lookups(catalogue, schema, places)
    _check_origins(catalogue, places)
    for kind, owners in (("source", catalogue.sources), ("namespace", catalogue.namespaces)):
        for name, licensed in owners.items():
            if licensed.licence not in catalogue.licences:
                hint = did_you_mean(licensed.licence, catalogue.licences)
                raise CatalogueError(f"{places[kind, name]}: licence {licensed.licence!r} is not declared{hint}")


def _check_origins(catalogue: Catalogue, places: Places) -> None:
    for name, source in catalogue.sources.items():
        for origin in source.derived_from:
            if "." in origin and origin not in catalogue.sources:
                raise CatalogueError(
                    f"{places['source', name]}: derived_from {origin!r} is not a declared source"
                    f"{did_you_mean(origin, catalogue.sources)}; what is none is named without a dot"
                )
    for kind, names in (("source", catalogue.sources), ("map", catalogue.maps)):
        spellings: dict[str, str] = {}
        for name in names:
            if spellings.setdefault(name.casefold(), name) != name:
                raise CatalogueError(f"{places[kind, name]}: is also there in other letter case; rename one")


def _check_lookups(catalogue: Catalogue, schema: Schema, places: Places) -> None:
    for name, mapping in catalogue.maps.items():
        for cell in (mapping.key, mapping.value):
            _check_prefix(places["map", name], cell, schema)
        _check_tables(catalogue, places["map", name], mapping)
    for name, entry in catalogue.names.items():
        _check_end(catalogue, places["name", name], entry.node, schema)
        _check_tables(catalogue, places["name", name], entry)


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


def _check_tables(catalogue: Catalogue, owner: str, reader: Rule | IdMap | Name) -> None:
    _check_columns(catalogue, owner, reader.source, reader.table, reader.columns())
    for listing in reader.listings():
        _check_columns(catalogue, owner, listing.source, listing.table, listing.other_columns())


def _check_columns(catalogue: Catalogue, owner: str, source: str, table: str, columns: frozenset[str]) -> None:
    if source not in catalogue.sources:
        raise CatalogueError(f"{owner}: source {source!r} is not declared{did_you_mean(source, catalogue.sources)}")
    for available in _columns_of(catalogue, source, table):
        missing = sorted(columns - available)
        if missing:
            raise CatalogueError(
                f"{owner}: reads column {missing[0]!r}, which table {table!r} of {source!r} does not have in every "
                f"layout{did_you_mean(missing[0], available)}; columns: {', '.join(sorted(available))}"
            )
