"""The files of a graph: tab-separated without headers, sorted by bytes, the same on every run."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from openbiolink.files import sha256_of, write_json, write_text
from openbiolink.tables import write_tsv

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import duckdb

    from openbiolink.graph.build import Build, LedgerEntry, RuleStatistics
    from openbiolink.graph.plan import GraphOptions, Plan
    from openbiolink.sources.declarations import Catalogue

FORMAT = "openbiolink-graph/1"
MANIFEST = "manifest.json"
NODE_COLUMNS = "id, type"
EDGE_COLUMNS = "head, relation, tail, score, source"

# File name → query of its rows. Views `nodes`, `tn_nodes` and `all_nodes` are made by `_create_views`.
TABLE_FILES = {
    "ALL_nodes.csv": "SELECT id, type FROM all_nodes ORDER BY ALL",
    "edges.csv": f"SELECT {EDGE_COLUMNS} FROM edges WHERE NOT negative ORDER BY ALL",
    "edges_list.csv": "SELECT DISTINCT relation FROM edges WHERE NOT negative ORDER BY ALL",
    "nodes.csv": "SELECT id, type FROM nodes ORDER BY ALL",
    "nodes_list.csv": "SELECT DISTINCT type FROM nodes ORDER BY ALL",
    "TN_edges.csv": f"SELECT {EDGE_COLUMNS} FROM edges WHERE negative ORDER BY ALL",
    "TN_edges_list.csv": "SELECT DISTINCT relation FROM edges WHERE negative ORDER BY ALL",
    "TN_nodes.csv": "SELECT id, type FROM tn_nodes ORDER BY ALL",
    "TN_nodes_list.csv": "SELECT DISTINCT type FROM tn_nodes ORDER BY ALL",
    "ids_no_mapping.tsv": "SELECT DISTINCT id, type FROM unmapped WHERE NOT negative ORDER BY ALL",
    "tn_ids_no_mapping.tsv": "SELECT DISTINCT id, type FROM unmapped WHERE negative ORDER BY ALL",
    # Pairs that are stated and denied: the edge, its score and source, the true negative's score and source.
    "conflicts.tsv": """
        SELECT yes.head, yes.relation, yes.tail, yes.score, yes.source, no.score, no.source
        FROM edges AS yes JOIN edges AS no USING (head, relation, tail)
        WHERE NOT yes.negative AND no.negative ORDER BY ALL""",
}
STATISTICS_FILES = {"stats.txt": False, "tn_stats.txt": True}
GRAPH_FILES = frozenset({*TABLE_FILES, *STATISTICS_FILES, "ledger.tsv", MANIFEST})

STATISTICS_HEADER = (
    "Edge Type", "Node1 Type", "Node2 Type", "Nr edges", "Nr edges no mapping", "Nr edges below cutoff",
    "Edges coverage", "Duplicated edges", "Nr edges return direction", "Nr edges after mapping (final nr)",
    "Nr nodes1 no mapping", "Nr nodes2 no mapping", "Nr nodes1", "Nr nodes2", "nodes1 coverage", "nodes2 coverage",
)  # fmt: skip
LEDGER_HEADER = ("rule", "source", "reason", "rows", "edges")


def write_graph(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    *,
    catalogue: Catalogue,
    plan: Plan,
    options: GraphOptions,
    build: Build,
    notes: Sequence[str],
) -> dict[str, Any]:
    """Write all files of a graph into an empty folder and return its manifest."""
    _create_views(connection)
    rows = {name: write_tsv(connection, query, folder / name) for name, query in TABLE_FILES.items()}
    for name, negative in STATISTICS_FILES.items():
        write_text(folder / name, _statistics_text(entry for entry in build.statistics if entry.negative == negative))
    write_text(folder / "ledger.tsv", _ledger_text(build.ledger))
    manifest = _manifest(connection, catalogue, plan, options, build)
    manifest["outputs"] = {
        name: {"sha256": sha256_of(folder / name), "bytes": (folder / name).stat().st_size}
        | ({"rows": rows[name]} if name in rows else {})
        for name in sorted(GRAPH_FILES - {MANIFEST})
    }
    manifest["notes"] = list(notes)
    write_json(folder / MANIFEST, manifest)
    return manifest


def _create_views(connection: duckdb.DuckDBPyConnection) -> None:
    for name, test in (("nodes", "NOT negative"), ("tn_nodes", "negative"), ("all_nodes", "true")):
        connection.execute(f"""
            CREATE OR REPLACE TABLE {name} AS
            SELECT head AS id, head_type AS type FROM edges WHERE {test}
            UNION SELECT tail, tail_type FROM edges WHERE {test}
        """)


def _statistics_text(statistics: Iterable[RuleStatistics]) -> str:
    lines = ["\t".join(STATISTICS_HEADER)]
    for entry in sorted(statistics, key=lambda entry: (entry.relation, entry.rule)):
        values = (
            entry.relation, entry.head_type, entry.tail_type, entry.rows, entry.no_mapping, entry.below_quality,
            _coverage(entry.no_mapping, entry.rows), entry.additions - entry.edges, entry.returned, entry.edges,
            entry.heads_no_mapping, entry.tails_no_mapping, entry.heads, entry.tails,
            _coverage(entry.heads_no_mapping, entry.heads), _coverage(entry.tails_no_mapping, entry.tails),
        )  # fmt: skip
        lines.append("\t".join(str(value) for value in values))
    return "\n".join(lines) + "\n"


def _coverage(lost: int, total: int) -> str:
    """The share that was not lost; empty where there was nothing."""
    return str(1 - lost / total) if total else ""


def _ledger_text(ledger: Iterable[LedgerEntry]) -> str:
    lines = ["\t".join(LEDGER_HEADER)]
    lines += [f"{entry.rule}\t{entry.source}\t{entry.reason}\t{entry.rows}\t{entry.edges}" for entry in ledger]
    return "\n".join(lines) + "\n"


def _manifest(
    connection: duckdb.DuckDBPyConnection, catalogue: Catalogue, plan: Plan, options: GraphOptions, build: Build
) -> dict[str, Any]:
    licences: dict[str, list[str]] = {}
    for name in sorted(build.loaded):
        licences.setdefault(catalogue.sources[name].licence, []).append(name)
    return {
        "format": FORMAT,
        "version": version("openbiolink"),
        "edition": catalogue.edition,
        "directed": options.directed,
        "options": {
            "quality": options.quality,
            "directed": options.directed,
            "relations": list(options.relations),
            "excluded_sources": list(options.excluded_sources),
        },
        "inputs": {
            name: {
                "file": source.path.name,
                "sha256": source.sha256,
                "bytes": source.size,
                "layout": source.layout,
                "licence": catalogue.sources[name].licence,
            }
            for name, source in sorted(build.loaded.items())
        },
        "licences": dict(sorted(licences.items())),
        "missing_sources": {name: list(relations) for name, relations in plan.missing.items()},
        "counts": _counts(connection),
        "not_in_ontology": build.not_in_ontology,
        "replaced_in_ontology": build.replaced,
        "ledger": [
            {
                "rule": entry.rule,
                "source": entry.source,
                "reason": entry.reason,
                "rows": entry.rows,
                "edges": entry.edges,
            }
            for entry in build.ledger
        ],
    }


def _counts(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    def count(what: str) -> int:
        return int(connection.execute(f"SELECT count(*) FROM {what}").fetchall()[0][0])

    relations = connection.execute("""
        SELECT relation, count(*) FILTER (NOT negative), count(*) FILTER (negative)
        FROM edges GROUP BY relation ORDER BY relation
    """).fetchall()
    types = connection.execute("SELECT type, count(*) FROM nodes GROUP BY type ORDER BY type").fetchall()
    return {
        "nodes": count("nodes"),
        "edges": count("edges WHERE NOT negative"),
        "tn_nodes": count("tn_nodes"),
        "tn_edges": count("edges WHERE negative"),
        "all_nodes": count("all_nodes"),
        "conflicts": count(f"({TABLE_FILES['conflicts.tsv']})"),
        "node_types": dict(types),
        "relations": {relation: {"edges": yes, "tn_edges": no} for relation, yes, no in relations},
    }
