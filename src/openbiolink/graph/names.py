"""The names of a graph's nodes, as its own sources give them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openbiolink.graph.identifiers import OK, condition_sql, create_ends
from openbiolink.sources.read import table_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    import duckdb

    from openbiolink.sources.declarations import Catalogue, Name

NO_NAME = ("", "-")
# Tabs, line ends and other control characters, which no name in a table may hold, become blanks.
PLAIN_TEXT = r"trim(regexp_replace({}, '[\x00-\x1f\x7f\x85\x{{2028}}\x{{2029}}]+', ' ', 'g'))"


def create_names(connection: duckdb.DuckDBPyConnection, catalogue: Catalogue, names: Iterable[str]) -> None:
    """Create `names` (id, name, kind): at most one name and kind for each node of `all_nodes`; the kind may be empty.

    The first declaration that has one gives it: the smallest in byte order of the names that stand with the node's own
    id, or, where there are none, of those of ids that it stands for. A cell that stands for several nodes names none
    of them, and `-` is no name.

    Args:
        connection: the database, with the macros, the lookups and `all_nodes`.
        catalogue: the edition.
        names: the declarations to use, in order; their sources have been read.
    """
    connection.execute("CREATE OR REPLACE TABLE names (id VARCHAR, name VARCHAR, kind VARCHAR)")
    for name in names:
        _add_names(connection, catalogue, catalogue.names[name])


def _add_names(connection: duckdb.DuckDBPyConnection, catalogue: Catalogue, entry: Name) -> None:
    conditions = [condition_sql(condition) for condition in entry.where] or ["true"]
    kind = "''" if entry.kind is None else f'"{entry.kind}"'
    connection.execute(f"""
        CREATE OR REPLACE TABLE named AS
        SELECT DISTINCT "{entry.node.column}" AS cell, {PLAIN_TEXT.format(f'"{entry.text}"')} AS name, {kind} AS kind
        FROM {table_name(entry.source, entry.table)} WHERE {" AND ".join(conditions)}
    """)
    cells = f"SELECT DISTINCT cell FROM named WHERE name NOT IN {NO_NAME}"
    create_ends(connection, catalogue.graph_schema, end=entry.node, cells=cells, table="named_ends")
    connection.execute(f"""
        INSERT INTO names
        SELECT id, coalesce(min(name) FILTER (NOT moved), min(name)),
            coalesce(min(kind) FILTER (NOT moved), min(kind))
        FROM named JOIN (
            SELECT cell, min(id) AS id, bool_and(moved) AS moved FROM named_ends WHERE fate = {OK}
            GROUP BY cell HAVING count(DISTINCT id) = 1) USING (cell)
        SEMI JOIN all_nodes USING (id) ANTI JOIN names USING (id)
        WHERE name NOT IN {NO_NAME} GROUP BY id;
        DROP TABLE named; DROP TABLE named_ends
    """)
