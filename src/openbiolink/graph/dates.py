"""When rows were stated, and from that the earliest date of each edge."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from openbiolink.tables import quote

if TYPE_CHECKING:
    import duckdb

    from openbiolink.sources.declarations import When

PARTS = ("year", "month", "day")


def create_cell_dates(connection: duckdb.DuckDBPyConnection, when: When, *, cells: str, table: str) -> None:
    """Create a table of what every distinct cell says about time.

    Dates are texts: YYYY-MM-DD, or YYYY-MM or YYYY where that is all that is said. The earliest is the smallest in
    byte order, so that a year alone counts as its beginning.

    Args:
        connection: the database, with the macros.
        when: how dates are written; a match that is no date of the calendar, such as month 13, is none.
        cells: a query of the distinct cells, one column `cell`.
        table: the table to create: `cell`, `date` (the earliest; NULL without any), and `wrong` (the first match that
            is no date, or the cell where nothing in it is like a date; NULL without any, and for an empty cell).
    """
    groups = re.compile(when.pattern).groups
    parts = ", ".join(
        f"unnest(regexp_extract_all(cell, {quote(when.pattern)}, {number})) AS {part}"
        if number <= groups
        else f"'' AS {part}"
        for number, part in enumerate(PARTS, start=1)
    )
    year, month, day = (f"regexp_replace(coalesce({part}, ''), '^([0-9])$', '0\\1')" for part in PARTS)
    connection.execute(f"""
        CREATE OR REPLACE TABLE {table} AS WITH cells AS ({cells}),
        found AS (SELECT cell, {parts} FROM cells),
        padded AS (SELECT cell, {year} AS year, {month} AS month, {day} AS day FROM found),
        texts AS (
            SELECT cell, concat_ws('-', year, nullif(month, ''), nullif(day, '')) AS text,
                year <> '0000' AND (month <> '' OR day = '') AS whole
            FROM padded),
        checked AS (
            SELECT cell, text, whole AND regexp_full_match(text, '[0-9]{{4}}(-[0-9]{{2}}){{0,2}}')
                AND try_cast(text || substr('-01-01', length(text) - 3) AS DATE) IS NOT NULL AS valid
            FROM texts)
        SELECT cell, min(text) FILTER (valid) AS date, coalesce(min(text) FILTER (NOT valid),
            CASE WHEN count(text) = 0 AND bare(cell) <> '' THEN cell END) AS wrong
        FROM cells LEFT JOIN checked USING (cell) GROUP BY cell
    """)
