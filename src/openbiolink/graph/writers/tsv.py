"""TSV: delimited text without headers and quotes, the form that the other stages read.

`edges.csv` and `TN_edges.csv` hold head, relation, tail, score and source; `nodes.csv`, `TN_nodes.csv` and
`ALL_nodes.csv` hold id and type. With a file for each relation and node type the columns are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from openbiolink.croissant import EDGE_COLUMNS, NODE_COLUMNS
from openbiolink.errors import InputError
from openbiolink.graph.writers.rows import edge_files, edges_where, node_files, refuse_cells
from openbiolink.tables import quote, write_tsv

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import duckdb

    from openbiolink.graph.writers import WriterContext


def refuse_separator(separator: str, cells: Iterable[str]) -> None:
    """Stop if one of some cells holds the separator.

    Raises:
        InputError: one does; the first in byte order is named.
    """
    for cell in sorted(cells):
        if separator in cell:
            raise InputError(f"the cell {cell!r} {_fault(separator)}")


def _fault(separator: str) -> str:
    return (
        f"holds the separator {separator!r} (--output-sep), and cells are written without quotation marks; choose "
        "another separator"
    )


def write_tables(connection: duckdb.DuckDBPyConnection, folder: Path, context: WriterContext) -> dict[str, int]:
    """Write nodes and edges as delimited text; returns file name → rows.

    Raises:
        InputError: a cell holds the separator.
    """
    options = context.options
    separator = options.separator
    refuse_cells(
        connection,
        f"SELECT unnest([{', '.join(NODE_COLUMNS)}]) AS cell FROM all_nodes "
        f"UNION ALL SELECT unnest([relation, score, source]) FROM {edges_where('true', options)}",
        test=f"contains(cell, {quote(separator)})",
        fault=_fault(separator),
    )
    rows = {}
    for files, columns in ((node_files, NODE_COLUMNS), (edge_files, EDGE_COLUMNS)):
        for stem, query in files(connection, options).items():
            name = f"{stem}.csv"
            ordered = f"SELECT {', '.join(columns)} FROM {query} ORDER BY ALL"
            rows[name] = write_tsv(connection, ordered, folder / name, separator=separator)
    return rows
