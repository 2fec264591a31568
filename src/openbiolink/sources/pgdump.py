"""Plain-text dumps of PostgreSQL: the COPY blocks of chosen tables, streamed.

Format: https://www.postgresql.org/docs/current/sql-copy.html, "Text Format".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from openbiolink.errors import InputError
from openbiolink.files import iter_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from openbiolink.files import Note

COPY = re.compile(r"COPY\s+(?:\"?(\w+)\"?\.)?\"?(\w+)\"?\s*\(([^)]*)\)\s+FROM\s+stdin;", re.IGNORECASE)
ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9A-Fa-f]{1,2}|.)")
ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
END = "\\."
NULL = "\\N"


def iter_copy_rows(
    path: Path, tables: Mapping[str, Sequence[str]], note: Note, optional: Collection[str] = ()
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The rows of the chosen tables as (table, cells in the order asked for); NULL is the empty text.

    Args:
        path: the dump, plain or compressed.
        tables: table name → the columns wanted. Names are matched whole, in any schema; columns are
            found by the COPY statement's own list.
        note: receives remarks about the file.
        optional: tables that may be missing.

    Raises:
        InputError: another table or a column is missing, or a row has another number of cells than its table.
    """
    missing = set(tables)
    block: tuple[str, int, list[int]] | None = None
    for number, line in enumerate(iter_lines(path, note), start=1):
        if block is None:
            found = COPY.match(line)
            if found is not None and found[2] in tables:
                missing.discard(found[2])
                block = _open_block(path, number, found, tables[found[2]])
        elif line == END:
            block = None
        else:
            table, width, places = block
            cells = line.split("\t")
            if len(cells) != width:
                raise InputError(
                    f"{path}, line {number}: {len(cells)} cells in table {table}, expected {width}; "
                    "fetch the dump again"
                )
            yield table, tuple(_decode(cells[place]) for place in places)
    if block is not None:
        raise InputError(f"{path}: ends inside table {block[0]}; the dump is cut short, fetch it again")
    for table in sorted(missing):
        if table not in optional:
            raise InputError(f"{path}: has no COPY block of table {table}; check that this is the right dump")
        note(f"{path}: has no table {table}, which is taken as empty")


def _open_block(path: Path, number: int, found: re.Match[str], wanted: Sequence[str]) -> tuple[str, int, list[int]]:
    columns = [column.strip().strip('"') for column in found[3].split(",")]
    absent = [column for column in wanted if column not in columns]
    if absent:
        raise InputError(
            f"{path}, line {number}: table {found[2]} has no column {absent[0]!r}; it has {', '.join(columns)}"
        )
    return found[2], len(columns), [columns.index(column) for column in wanted]


def _decode(cell: str) -> str:
    if cell == NULL:
        return ""
    return ESCAPE.sub(_unescape, cell) if "\\" in cell else cell


def _unescape(found: re.Match[str]) -> str:
    code = found[1]
    if code[0] in "01234567":
        return chr(int(code, 8))
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    return ESCAPED.get(code, code)
