"""The files of a graph: the formats asked for, and beside them ledger, statistics, terms of use and manifest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from openbiolink.croissant import CROISSANT_FILE, LEDGER_COLUMNS, LICENCE_FILE, MANIFEST_FILE, croissant
from openbiolink.files import sha256_of, write_json, write_text
from openbiolink.graph.licence import licence_text
from openbiolink.graph.manifest import FORMAT, describe_graph
from openbiolink.graph.statistics import statistics_text
from openbiolink.graph.writers import WRITERS, OutputOptions, WriterContext, owned_file
from openbiolink.graph.writers.rows import edges_where
from openbiolink.tables import write_tsv

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import duckdb

    from openbiolink.graph.ledger import LedgerEntry
    from openbiolink.graph.manifest import Provenance

LEDGER = "ledger.tsv"
STATISTICS_FILES = {"stats.txt": False, "tn_stats.txt": True}

# File name → query of its rows; tab-separated, without header, sorted by bytes.
LISTS = {
    "edges_list.csv": "SELECT DISTINCT relation FROM edges WHERE NOT negative ORDER BY ALL",
    "nodes_list.csv": "SELECT DISTINCT type FROM nodes ORDER BY ALL",
    "TN_edges_list.csv": "SELECT DISTINCT relation FROM edges WHERE negative ORDER BY ALL",
    "TN_nodes_list.csv": "SELECT DISTINCT type FROM tn_nodes ORDER BY ALL",
    "ids_no_mapping.tsv": "SELECT DISTINCT id, type FROM unmapped WHERE NOT negative ORDER BY ALL",
    "tn_ids_no_mapping.tsv": "SELECT DISTINCT id, type FROM unmapped WHERE negative ORDER BY ALL",
}
# Pairs that are stated and denied: the edge, its score and source, the true negative's score and source.
CONFLICTS = "conflicts.tsv"
CONFLICTS_QUERY = """
    SELECT yes.head, yes.relation, yes.tail, yes.score, yes.source, no.score, no.source
    FROM {edges} AS yes JOIN {negatives} AS no USING (head, relation, tail) ORDER BY ALL"""
# What is known besides of nodes and edges, written with the format TSV.
FURTHER_TABLES = {
    "node_names.tsv": "SELECT id, name FROM names ORDER BY ALL",
    "edge_dates.tsv": "SELECT head, relation, tail, date FROM dates WHERE NOT negative ORDER BY ALL",
    "TN_edge_dates.tsv": "SELECT head, relation, tail, date FROM dates WHERE negative ORDER BY ALL",
}
COMMON_FILES = frozenset({*LISTS, *STATISTICS_FILES, CONFLICTS, LEDGER, LICENCE_FILE, CROISSANT_FILE, MANIFEST_FILE})
TABLE_FILES = ("ALL_nodes.csv", "edges.csv", "nodes.csv", "TN_edges.csv", "TN_nodes.csv")
GRAPH_FILES = COMMON_FILES | {*FURTHER_TABLES, *TABLE_FILES}


def owned_files(folder: Path) -> frozenset[str]:
    """The files of a folder that an earlier build wrote there, as its manifest says; none where there is no graph."""
    try:
        manifest = json.loads((folder / MANIFEST_FILE).read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT:
            return frozenset()
        names = {str(name) for name in manifest["outputs"]}
    except (OSError, ValueError, KeyError, TypeError):
        return frozenset()
    return frozenset({MANIFEST_FILE} | {name for name in names if name in GRAPH_FILES or owned_file(name)})


def write_graph(
    connection: duckdb.DuckDBPyConnection, folder: Path, provenance: Provenance, notes: list[str]
) -> dict[str, Any]:
    """Write all files of a graph into an empty folder and return its manifest.

    Args:
        connection: the database of the build.
        folder: the folder.
        provenance: what the graph was made of, and how.
        notes: what the manifest says in notes; those of the writers are added.
    """
    catalogue, options, build = provenance.catalogue, provenance.options, provenance.build
    rows = _write_tables(connection, folder, options.output)
    context = WriterContext(catalogue=catalogue, options=options.output, directed=options.directed, note=notes.append)
    for name in options.output.formats:
        rows |= WRITERS[name](connection, folder, context)
    for name, negative in STATISTICS_FILES.items():
        write_text(folder / name, statistics_text(entry for entry in build.statistics if entry.negative == negative))
    write_text(folder / LEDGER, _ledger_text(build.ledger))
    manifest = describe_graph(connection, provenance)
    write_text(folder / LICENCE_FILE, licence_text(manifest["licence"]))
    manifest["counts"]["conflicts"] = rows[CONFLICTS]
    manifest["outputs"] = {path.name: _describe_file(path, rows) for path in sorted(folder.iterdir())}
    write_json(folder / CROISSANT_FILE, croissant(manifest))
    manifest["outputs"][CROISSANT_FILE] = _describe_file(folder / CROISSANT_FILE, rows)
    manifest["notes"] = notes
    write_json(folder / MANIFEST_FILE, manifest)
    return manifest


def _write_tables(connection: duckdb.DuckDBPyConnection, folder: Path, options: OutputOptions) -> dict[str, int]:
    edges, negatives = (edges_where(test, options) for test in ("NOT negative", "negative"))
    queries = LISTS | {CONFLICTS: CONFLICTS_QUERY.format(edges=edges, negatives=negatives)}
    if "TSV" in options.formats:
        queries |= FURTHER_TABLES
    return {name: write_tsv(connection, query, folder / name) for name, query in queries.items()}


def _describe_file(path: Path, rows: Mapping[str, int]) -> dict[str, Any]:
    """Checksum and size of a file, and its rows where it has some."""
    described = {"sha256": sha256_of(path), "bytes": path.stat().st_size}
    return described | ({"rows": rows[path.name]} if path.name in rows else {})


def _ledger_text(ledger: Iterable[LedgerEntry]) -> str:
    lines = ["\t".join(LEDGER_COLUMNS)]
    lines += [f"{entry.rule}\t{entry.source}\t{entry.reason}\t{entry.rows}\t{entry.edges}" for entry in ledger]
    return "\n".join(lines) + "\n"
