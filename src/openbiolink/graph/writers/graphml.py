"""GraphML: small graphs for NetworkX and graph viewers, which hold a graph in memory as a whole.

`graph.graphml` holds the edges, `TN_graph.graphml` the true negatives: a program that draws or counts edges must not
meet what is known not to hold. Every edge has a direction, from head to tail, also where the relation is symmetric,
because the readers take no mixture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from openbiolink.errors import InputError
from openbiolink.graph.writers.rows import (
    EDGES,
    GRAPH_CELLS,
    NODES,
    date_edges,
    edges_where,
    named,
    refuse_cells,
    write_lines,
)

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from openbiolink.graph.writers import WriterContext

MOST_EDGES = 1_000_000  # NetworkX needs about 1 KiB of memory for each
FILES = {"graph.graphml": ("nodes", "edges"), "TN_graph.graphml": ("TN_nodes", "TN_edges")}
NODE_KEYS = ("name", "type")
EDGE_KEYS = ("relation", "score", "source", "date")
NOT_XML = r"[\x00-\x08\x0B\x0C\x0E-\x1F\x{FFFE}\x{FFFF}]"
BEFORE = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    + "".join(
        f'<key id="{key}" for="{kind}" attr.name="{key}" attr.type="string"/>\n'
        for kind, keys in (("node", NODE_KEYS), ("edge", EDGE_KEYS))
        for key in keys
    )
    + '<graph edgedefault="directed">\n'
)
AFTER = "</graph>\n</graphml>\n"


def write_graphml(connection: duckdb.DuckDBPyConnection, folder: Path, context: WriterContext) -> dict[str, int]:
    """Write edges and true negatives as a graph each; returns file name → nodes and edges in it.

    Raises:
        InputError: there are more than `MOST_EDGES` edges, or a cell holds a character that XML does not have.
    """
    for test in EDGES.values():
        count = connection.execute(f"SELECT count(*) FROM edges WHERE {test}").fetchall()[0][0]
        if count > MOST_EDGES:
            raise InputError(
                f"--output-format GraphML: the graph has {count:,} edges, expected at most {MOST_EDGES:,}, since "
                "readers of GraphML hold it all in memory; nothing was written in any format; take Parquet, Neo4j, KGX "
                "or RDF-N3 instead, or build fewer relations"
            )
    refuse_cells(
        connection,
        GRAPH_CELLS,
        test=f"regexp_matches(cell, '{NOT_XML}')",
        fault="holds a character that XML does not have; mend the source, or leave GraphML out",
    )
    rows = {}
    for name, (nodes, edges) in FILES.items():
        told = edges_where(EDGES[edges], context.options, table=date_edges(connection))
        query = f"""
            SELECT CASE WHEN is_edge THEN {_edge_text()} ELSE {_node_text()} END FROM (
                SELECT false AS is_edge, id AS head, '' AS relation, '' AS tail, '' AS score, '' AS source, '' AS date,
                    any_value(name) AS name, string_agg(type, ';' ORDER BY type) AS type
                FROM {named(NODES[nodes])} GROUP BY id
                UNION ALL SELECT true, head, relation, tail, score, source, date, '', '' FROM {told}
                ORDER BY is_edge, head, relation, tail)"""
        rows[name] = write_lines(connection, query, folder / name, before=BEFORE, after=AFTER)
    return rows


def _node_text() -> str:
    return f"'<node id=\"' || {_escaped('head')} || '\">' || {_data(NODE_KEYS)} || '</node>'"


def _edge_text() -> str:
    ends = f"'<edge source=\"' || {_escaped('head')} || '\" target=\"' || {_escaped('tail')} || '\">'"
    return f"{ends} || {_data(EDGE_KEYS)} || '</edge>'"


def _data(columns: tuple[str, ...]) -> str:
    """SQL of the properties that are not empty."""
    return " || ".join(
        f"CASE WHEN {column} = '' THEN '' ELSE '<data key=\"{column}\">' || {_escaped(column)} || '</data>' END"
        for column in columns
    )


def _escaped(column: str) -> str:
    text = column
    for mark, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = f"replace({text}, '{mark}', '{entity}')"
    for code in (9, 10, 13):  # as they are, XML readers turn them into blanks or other line ends
        text = f"replace({text}, chr({code}), '&#{code};')"
    return text
