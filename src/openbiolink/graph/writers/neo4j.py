"""Neo4j: two CSV files for the bulk import, each with its header.

    neo4j-admin database import full --nodes=neo4j_nodes.csv --relationships=neo4j_edges.csv DATABASE

A node that has several types has several labels. A true negative has the property `negative` and a type of its own,
`NOT_` before the relation, so that a query for a relation never finds what is known not to hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from openbiolink.graph.writers.rows import GRAPH_CELLS, date_edges, edges_where, named, refuse_cells
from openbiolink.tables import quote

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from openbiolink.graph.writers import WriterContext

LABELS_APART = ";"


def write_neo4j(connection: duckdb.DuckDBPyConnection, folder: Path, context: WriterContext) -> dict[str, int]:
    """Write all nodes and edges for `neo4j-admin database import`; returns file name → rows.

    Raises:
        InputError: a cell holds a line end, or a node type the mark that stands between labels.
    """
    refuse_cells(
        connection,
        GRAPH_CELLS,
        test=r"regexp_matches(cell, '[\n\r]')",
        fault="holds a line end, which the import of Neo4j does not take; mend the source",
    )
    refuse_cells(
        connection,
        "SELECT type AS cell FROM all_nodes",
        test=f"contains(cell, {quote(LABELS_APART)})",
        fault=f"is a node type with {LABELS_APART!r}, which stands between labels; rename it in the catalogue",
    )
    edges = edges_where("true", context.options, table=date_edges(connection))
    queries = {
        "neo4j_nodes.csv": f"""
            SELECT id AS "id:ID", nullif(any_value(name), '') AS name,
                string_agg(type, {quote(LABELS_APART)} ORDER BY type) AS ":LABEL"
            FROM {named("all_nodes")} GROUP BY id ORDER BY id""",
        "neo4j_edges.csv": f"""
            SELECT head AS ":START_ID", tail AS ":END_ID",
                CASE WHEN negative THEN 'NOT_' ELSE '' END || relation AS ":TYPE",
                nullif(score, '') AS score, source, nullif(date, '') AS date, negative AS "negative:boolean"
            FROM {edges} ORDER BY negative, head, relation, tail""",
    }
    rows = {}
    for name, query in queries.items():
        copied = connection.execute(
            f"COPY ({query}) TO {quote(str(folder / name))} "
            "(FORMAT csv, DELIMITER ',', HEADER true, QUOTE '\"', ESCAPE '\"', NULL '', NEW_LINE '\\n')"
        )
        rows[name] = int(copied.fetchall()[0][0])
    return rows
