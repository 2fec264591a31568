"""Parquet: typed columns, zstd, one file for each kind of node and edge.

Nodes have id, type and name; edges have head, relation, tail, score, score_number, source, head_type, tail_type and
date. `score` is the text of the source, `score_number` its value where it is a decimal number; `date` is text, since
sources give years, months or days. What is absent is null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from openbiolink.graph.writers.rows import EDGES, NODES, date_edges, edges_where, named
from openbiolink.tables import number_sql, quote

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from openbiolink.graph.writers import WriterContext


def write_parquet(connection: duckdb.DuckDBPyConnection, folder: Path, context: WriterContext) -> dict[str, int]:
    """Write nodes and edges as Parquet, sorted as the tables are; returns file name → rows."""
    queries = {
        f"{stem}.parquet": f"SELECT id, type, nullif(name, '') AS name FROM {named(nodes)} ORDER BY ALL"
        for stem, nodes in NODES.items()
    }
    table = date_edges(connection)
    for stem, test in EDGES.items():
        queries[f"{stem}.parquet"] = f"""
            SELECT head, relation, tail, nullif(score, '') AS score, {number_sql("score")} AS score_number, source,
                head_type, tail_type, nullif(date, '') AS date
            FROM {edges_where(test, context.options, table=table)} ORDER BY head, relation, tail"""
    rows = {}
    for name, query in queries.items():
        copied = connection.execute(f"COPY ({query}) TO {quote(str(folder / name))} (FORMAT parquet, COMPRESSION zstd)")
        rows[name] = int(copied.fetchall()[0][0])
    return rows
