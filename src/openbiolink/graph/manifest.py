"""The manifest of a graph: what it was made of, how, and what came of it. The same build gives the same bytes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from openbiolink.errors import InputError
from openbiolink.files import sha256_of
from openbiolink.graph.licence import effective_licence
from openbiolink.graph.statistics import count_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import duckdb

    from openbiolink.graph.build import Build
    from openbiolink.graph.plan import GraphOptions, Plan
    from openbiolink.sources.declarations import Catalogue

FORMAT = "openbiolink-graph/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What a graph in the database was made of, and how.

    Attributes:
        catalogue: the edition.
        plan: what was to be built.
        options: how, and the formats to write.
        build: what was built.
        origins: source id → `url` and `version`, where they are known.
        added: files of the user that were added to the edition.
    """

    catalogue: Catalogue
    plan: Plan
    options: GraphOptions
    build: Build
    origins: Mapping[str, Mapping[str, str]]
    added: Sequence[Path]


def describe_graph(connection: duckdb.DuckDBPyConnection, provenance: Provenance) -> dict[str, Any]:
    """The manifest of a graph that is in the database, but for the files written and the notes."""
    catalogue, build, options = provenance.catalogue, provenance.build, provenance.options
    licences: dict[str, list[str]] = {}
    for name in sorted(build.loaded):
        licences.setdefault(catalogue.sources[name].licence, []).append(name)
    return {
        "format": FORMAT,
        "version": version("openbiolink"),
        "edition": catalogue.edition,
        "catalogues": [{"file": path.name, "sha256": sha256_of(path)} for path in provenance.added],
        "directed": options.directed,
        "options": _plain(asdict(options) | asdict(options.output)),
        "inputs": _inputs(catalogue, build, provenance.origins),
        "licences": dict(sorted(licences.items())),
        "licence": _licence(connection, catalogue, build, provenance.origins),
        "missing_sources": _plain(provenance.plan.missing),
        "left_out": {name: _plain(asdict(entry)) for name, entry in provenance.plan.left_out.items()},
        "counts": _counts(connection),
        "not_in_ontology": build.not_in_ontology,
        "replaced_in_ontology": build.replaced,
        "ledger": [asdict(entry) for entry in build.ledger],
    }


def table_separator(manifest: Mapping[str, Any], place: Path) -> str:
    """What stands between the cells of a graph's TSV files: a tab, unless its manifest says otherwise.

    Raises:
        InputError: the manifest, which lies at `place`, names something else than one character.
    """
    options = manifest.get("options")
    separator = options.get("separator", "\t") if isinstance(options, dict) else "\t"
    if not isinstance(separator, str) or len(separator) != 1:
        raise InputError(f"{place}: options.separator is {separator!r}, expected one character; mend it")
    return separator


def _plain(entries: Mapping[str, Any]) -> dict[str, Any]:
    """The entries as JSON has them: lists for tuples, and no options within options."""
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in entries.items()
        if not isinstance(value, dict)
    }


def _inputs(catalogue: Catalogue, build: Build, origins: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, Any]]:
    inputs: dict[str, dict[str, Any]] = {}
    for name, source in sorted(build.loaded.items()):
        inputs[name] = {
            "file": source.path.name,
            "sha256": source.sha256,
            "bytes": source.size,
            "layout": source.layout,
            "licence": catalogue.sources[name].licence,
        }
        known = origins.get(name, {})
        inputs[name] |= {key: known[key] for key in ("version", "url") if known.get(key)}
    return inputs


def _licence(
    connection: duckdb.DuckDBPyConnection,
    catalogue: Catalogue,
    build: Build,
    origins: Mapping[str, Mapping[str, str]],
) -> dict[str, Any]:
    edges = dict.fromkeys(build.loaded, 0)
    for entry in build.ledger:
        edges[entry.source] += entry.edges
    versions = {name: known.get("version", "") for name, known in origins.items()}
    used = connection.execute("SELECT DISTINCT split_part(id, ':', 1) FROM all_nodes").fetchall()
    prefixes = {prefix for (prefix,) in used}
    return effective_licence(catalogue, build.loaded, versions=versions, edges=edges, prefixes=prefixes)


def _counts(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    relations = connection.execute("""
        SELECT relation, count(*) FILTER (NOT negative), count(*) FILTER (negative)
        FROM edges GROUP BY relation ORDER BY relation
    """).fetchall()
    types = connection.execute("SELECT type, count(*) FROM nodes GROUP BY type ORDER BY type").fetchall()
    return {
        "nodes": count_rows(connection, "nodes"),
        "edges": count_rows(connection, "edges WHERE NOT negative"),
        "tn_nodes": count_rows(connection, "tn_nodes"),
        "tn_edges": count_rows(connection, "edges WHERE negative"),
        "all_nodes": count_rows(connection, "all_nodes"),
        "named_nodes": count_rows(connection, "names"),
        "dated_edges": count_rows(connection, "dates WHERE NOT negative"),
        "tn_dated_edges": count_rows(connection, "dates WHERE negative"),
        "node_types": dict(types),
        "relations": {relation: {"edges": yes, "tn_edges": no} for relation, yes, no in relations},
    }
