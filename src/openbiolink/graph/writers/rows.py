"""What the writers share: which rows go into which file, and lines that are put together in the database.

All sorting is by bytes. Queries are handed on as sub-queries in parentheses, so that they can be put into others.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from openbiolink.errors import InputError
from openbiolink.tables import quote

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from openbiolink.graph.writers import OutputOptions

NODES = {"nodes": "(FROM nodes)", "TN_nodes": "(FROM tn_nodes)", "ALL_nodes": "(FROM all_nodes)"}
EDGES = {"edges": "NOT negative", "TN_edges": "negative"}
GRAPH_CELLS = """
    SELECT unnest([id, type]) AS cell FROM all_nodes UNION ALL SELECT name FROM names
    UNION ALL SELECT unnest([relation, score, source]) FROM edges UNION ALL SELECT date FROM dates"""
PART_OF_FILE_NAME = "[A-Z][A-Z0-9_]*"  # capitals only: such files cannot be mistaken for others, on any file system


def node_files(connection: duckdb.DuckDBPyConnection, options: OutputOptions) -> dict[str, str]:
    """File name without its end → sub-query of its nodes (id, type).

    Raises:
        InputError: a file for each node type is asked for, and the name of one cannot stand in a file name.
    """
    return _divided(connection, NODES, "type") if options.multi_file else dict(NODES)


def edge_files(
    connection: duckdb.DuckDBPyConnection, options: OutputOptions, *, table: str = "edges"
) -> dict[str, str]:
    """File name without its end → sub-query of its edges, with the columns of the table; raises as `node_files`."""
    whole = {name: edges_where(test, options, table=table) for name, test in EDGES.items()}
    return _divided(connection, whole, "relation") if options.multi_file else whole


def edges_where(test: str, options: OutputOptions, *, table: str = "edges") -> str:
    """Sub-query of the edges that pass an SQL test, with the score emptied if no scores are wanted.

    Args:
        test: SQL test of a row.
        options: whether scores are wanted.
        table: `edges`, or what `date_edges` answers.
    """
    columns = "*" if options.scores else "* REPLACE ('' AS score)"
    return f"(SELECT {columns} FROM {table} WHERE {test})"


def date_edges(connection: duckdb.DuckDBPyConnection) -> str:
    """The name of a table of the edges with a further column `date`, empty where there is none.

    It is made by the first writer that asks. To join and to sort in one query takes more memory than the two after
    each other, which never need more than the database may have.
    """
    connection.execute("""
        CREATE TABLE IF NOT EXISTS dated_edges AS
        SELECT edges.* REPLACE (coalesce(score, '') AS score), coalesce(date, '') AS date
        FROM edges LEFT JOIN dates USING (head, relation, tail, negative)
    """)
    return "dated_edges"


def _divided(connection: duckdb.DuckDBPyConnection, queries: dict[str, str], column: str) -> dict[str, str]:
    divided = {}
    for name, query in queries.items():
        for (value,) in connection.execute(f"SELECT DISTINCT {column} FROM {query} ORDER BY 1").fetchall():
            refuse_file_name(column, value)
            divided[f"{name}_{value}"] = f"(FROM {query} WHERE {column} = {quote(value)})"
    return divided


def refuse_file_name(column: str, value: str) -> None:
    """Stop if a relation or node type cannot stand in the name of a file.

    Raises:
        InputError: it cannot.
    """
    if re.fullmatch(PART_OF_FILE_NAME, value) is None:
        raise InputError(
            f"--output-multi-file: the {column} {value!r} cannot be part of a file name, which takes A-Z, 0-9 and _; "
            "rename it in the catalogue, or write one file for all"
        )


def named(nodes: str) -> str:
    """Sub-query of nodes with a further column `name`, empty where there is none."""
    return f"(SELECT id, type, coalesce(name, '') AS name FROM {nodes} LEFT JOIN names USING (id))"


def refuse_cells(connection: duckdb.DuckDBPyConnection, cells: str, *, test: str, fault: str) -> None:
    """Stop if a cell passes an SQL test.

    Args:
        connection: the database of the build.
        cells: query with one column `cell`.
        test: SQL test of `cell`.
        fault: what is wrong with such a cell and what to do, after "the cell '…' ".

    Raises:
        InputError: one does; the first in byte order is named.
    """
    found = connection.execute(f"SELECT min(cell) FROM ({cells}) WHERE {test}").fetchall()[0][0]
    if found is not None:
        raise InputError(f"the cell {found!r} {fault}")


def write_lines(connection: duckdb.DuckDBPyConnection, query: str, path: Path, *, before: str, after: str = "") -> int:
    """Write the texts of a query with one column as they are, LF after each; returns their number.

    Args:
        connection: the database of the build.
        query: its rows may hold line ends of their own.
        path: the file to write.
        before: text at the start of the file, with its line ends.
        after: text at its end.
    """
    header = before.removesuffix("\n").replace('"', '""')
    copied = connection.execute(
        f'COPY (FROM ({query}) AS lines("{header}")) TO {quote(str(path))} '
        "(FORMAT csv, DELIMITER '\t', HEADER true, QUOTE '', ESCAPE '', NEW_LINE '\\n')"
    ).fetchall()
    with path.open("a", encoding="utf-8", newline="\n") as stream:
        stream.write(after)
    return int(copied[0][0])
