"""Delimited text in and out of DuckDB, every cell as text, every row kept or named.

The reader is DuckDB's, with everything that guesses switched off: no quotes, no comments inside a
line, no types, no missing values. `NA`, `1E5`, `007` and `"` stay what they are.
"""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from openbiolink.errors import InputError, OpenBioLinkError
from openbiolink.files import CHUNK, iter_lines, unpack

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from openbiolink.files import Note

NEVER_A_CELL = "\n"  # stands for "missing": no cell holds a line end, so no text does
NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"  # a decimal number; engines take more, such as 1_000
MAX_LINE = 1 << 24
SHOWN = 3


@contextmanager
def open_database(*, memory: str = "1500MB") -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """A private DuckDB database in a temporary folder, and that folder; both are gone afterwards.

    Args:
        memory: what DuckDB may hold in memory; more goes to the folder.

    Raises:
        OpenBioLinkError: memory or disk do not suffice, or a file cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="openbiolink-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": memory,
            "temp_directory": str(folder / "spill"),
            "threads": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
            "autoinstall_known_extensions": False,
        }
        connection = duckdb.connect(str(folder / "work.duckdb"), config=settings)
        try:
            connection.execute("SET enable_progress_bar = false")
            yield connection, folder
        except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
            found = re.search(r'"exception_message":"(.*?)"', str(error))
            reason = found[1] if found else str(error).splitlines()[0]
            raise OpenBioLinkError(
                f"the table engine could not go on ({reason}); free space where results are written and in "
                f"{tempfile.gettempdir()}, or set TMPDIR to another folder"
            ) from error
        finally:
            connection.close()


def quote(text: str) -> str:
    """The text as an SQL string literal.

    >>> quote("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def number_sql(text: str) -> str:
    """An SQL expression for the finite number that a text stands for as a decimal; NULL for any other text."""
    value = f"try_cast({text} AS DOUBLE)"
    return f"(CASE WHEN regexp_full_match({text}, {quote(NUMBER)}) AND isfinite({value}) THEN {value} END)"


def read_delimited(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    *,
    table: str,
    columns: Sequence[str],
    note: Note,
    separator: str = "\t",
    skip: int = 0,
    comment: str | None = None,
    whole_rows_are_data: bool = False,
    keep: Sequence[str] | None = None,
) -> None:
    """Read a plain, gzip or zip file of delimited text into a table of VARCHAR columns.

    Blank lines are skipped, and lines that begin with `comment` are skipped and noted. An empty cell
    is the empty text. The order of the rows is that of the file.

    Args:
        connection: the database that receives the table.
        path: the file; its lines end with LF or CR LF and may begin with a byte-order mark.
        table: name of the table to create or replace.
        columns: a name for each column of the file, in order.
        note: called with one line for everything that was skipped.
        separator: one character.
        skip: number of leading lines that are not data.
        comment: what a comment line begins with, if there are any.
        whole_rows_are_data: whether a line that begins so and has the right number of cells is a row, since
            identifiers may begin so too; that is noted.
        keep: the columns to keep, all by default.

    Raises:
        InputError: a row has too many or too few cells, or is not UTF-8; the message names the file
            and the first bad lines.
    """
    folder = Path(connection.execute("SELECT current_setting('temp_directory')").fetchall()[0][0]).parent
    keep = list(keep or columns)
    drops = comment is not None and not whole_rows_are_data
    marked = drops and columns[0] not in keep  # comments are told by the first column, kept or not
    read = [columns[0], *keep] if marked else keep
    plain = _unglobbed(unpack(path, folder, note), folder)
    try:
        try:
            _load(connection, plain, table, columns, separator=separator, skip=skip, keep=read)
        except duckdb.InvalidInputException:
            normal = _with_plain_line_ends(path, folder, note)
            try:
                _load(connection, normal, table, columns, separator=separator, skip=skip, keep=read)
            except duckdb.InvalidInputException as error:
                reason = str(error).splitlines()[0]
                raise InputError(f"{path}: cannot be read as delimited text ({reason}); check the file") from error
            finally:
                normal.unlink()
        _refuse_rejects(connection, path, columns, separator=separator, comment=comment, note=note)
        if comment is not None:
            _tell_comments(connection, path, table, columns[0], comment=comment, drop=drops, note=note)
        if marked:
            connection.execute(f'ALTER TABLE {table} DROP COLUMN "{columns[0]}"')
    finally:
        if plain != path:
            plain.unlink()


def _unglobbed(path: Path, folder: Path) -> Path:
    """The path, or a link to it under a plain name, since the engine takes `*`, `?` and `[` in names as patterns."""
    if not set("*?[") & set(str(path)):
        return path
    link = folder / f"plain-{len(list(folder.iterdir()))}"
    link.symlink_to(path.resolve())
    return link


def _load(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    table: str,
    columns: Sequence[str],
    *,
    separator: str,
    skip: int,
    keep: Sequence[str],
) -> None:
    declared = ", ".join(f"{quote(name)}: 'VARCHAR'" for name in columns)
    chosen = ", ".join(f'coalesce("{name}", \'\') AS "{name}"' for name in keep)
    connection.execute("DROP TABLE IF EXISTS rejects; DROP TABLE IF EXISTS scans")
    connection.execute(f"""
        CREATE OR REPLACE TABLE {table} AS SELECT {chosen} FROM read_csv(
            {quote(str(path))}, delim = {quote(separator)}, skip = {skip}, columns = {{{declared}}},
            auto_detect = false, header = false, quote = '', escape = '', comment = '', nullstr = '{NEVER_A_CELL}',
            null_padding = false, compression = 'none', max_line_size = {MAX_LINE}, buffer_size = {4 * MAX_LINE},
            store_rejects = true, rejects_table = 'rejects', rejects_scan = 'scans', rejects_limit = 0)
    """)


def _with_plain_line_ends(path: Path, folder: Path, note: Note) -> Path:
    handle, name = tempfile.mkstemp(dir=folder, prefix="lines-")
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(line + "\n" for line in iter_lines(path, note))
    return Path(name)


def _refuse_rejects(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    columns: Sequence[str],
    *,
    separator: str,
    comment: str | None,
    note: Note,
) -> None:
    kinds = dict(connection.execute("SELECT line, max(error_type::VARCHAR) FROM rejects GROUP BY line").fetchall())
    if not kinds:
        return
    comments, bad = 0, []
    for number, text in enumerate(iter_lines(path, lambda _: None), start=1):
        if number not in kinds or not text.strip():
            continue
        if comment is not None and text.startswith(comment):
            comments += 1
        else:
            bad.append((number, kinds[number], text))
    if comments:
        note(f"{path}: {comments} lines that begin with {comment!r} were skipped as comments")
    if not bad:
        return
    described = []
    for line, kind, text in bad[:SHOWN]:
        cells = text.count(separator) + 1
        fault = f"{cells} cells" if kind in {"MISSING COLUMNS", "TOO MANY COLUMNS"} else kind.lower()
        described.append(f"line {line} ({fault})")
    more = f" and {len(bad) - SHOWN} more lines" if len(bad) > SHOWN else ""
    name = {"\t": "tabs", " ": "blanks", ",": "commas", "|": "bars"}.get(separator, repr(separator))
    raise InputError(
        f"{path}, {', '.join(described)}{more}: expected {len(columns)} cells separated by {name} in UTF-8; "
        "mend or remove these lines"
    )


def _tell_comments(
    connection: duckdb.DuckDBPyConnection, path: Path, table: str, first: str, *, comment: str, drop: bool, note: Note
) -> None:
    """Note the whole rows that begin like comments, and drop them if they are."""
    begins = f'FROM {table} WHERE starts_with("{first}", {quote(comment)})'
    rows = connection.execute(f"{'DELETE' if drop else 'SELECT count(*)'} {begins}").fetchall()[0][0]
    if rows and drop:
        note(f"{path}: {rows} lines that begin with {comment!r} were skipped as comments")
    elif rows:
        note(f"{path}: {rows} whole rows begin with {comment!r} and are read as rows, not as comments")


def first_lines(path: Path, note: Note, *, limit: int) -> list[str]:
    """The first lines of a text file, at most `limit`, without line ends."""
    return list(islice(iter_lines(path, note), limit))


def write_tsv(connection: duckdb.DuckDBPyConnection, query: str, path: Path) -> int:
    """Write the rows of a query as tab-separated text: no header, no quotes, LF; returns their number.

    Raises:
        InputError: a cell holds a tab or a line end, which such a file cannot hold.
    """
    copied = connection.execute(
        f"COPY ({query}) TO {quote(str(path))} "
        "(FORMAT csv, DELIMITER '\t', HEADER false, QUOTE '', ESCAPE '', NULL '', NEW_LINE '\\n')"
    ).fetchall()
    rows, columns = int(copied[0][0]), len(connection.execute(f"DESCRIBE {query}").fetchall())
    if _count_bytes(path, b"\t\n\r") != [rows * (columns - 1), rows, 0]:
        raise InputError(f"{path.name}: a cell holds a tab or a line end, which no table file can; mend the source")
    return rows


def _count_bytes(path: Path, letters: bytes) -> list[int]:
    counts = [0] * len(letters)
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            counts = [count + chunk.count(letter) for count, letter in zip(counts, letters, strict=True)]
    return counts
