"""Delimited text in and out of DuckDB, every cell as text, every row kept or named.

The reader is DuckDB's, with everything that guesses switched off: no quotes, no comments inside a
line, no types, no missing values. `NA`, `1E5`, `007` and `"` stay what they are. Files whose cells are
quoted (RFC 4180) are taken apart by Python's `csv`, which holds to the quotes strictly.
"""

from __future__ import annotations

import csv
import os
import re
import tempfile
from contextlib import contextmanager
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import numpy as np

from openbiolink.errors import InputError, OpenBioLinkError
from openbiolink.files import CHUNK, MAX_LINE, iter_lines, scratch_folder, unpack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from openbiolink.files import Note

# What the engine raises where memory or disk do not suffice; which one depends on what it was just doing.
NO_ROOM = (duckdb.IOException, duckdb.OutOfMemoryException, duckdb.TransactionException, duckdb.FatalException)
NEVER_A_CELL = "\n"  # stands for "missing": no cell holds a line end, so no text does
NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"  # a decimal number; engines take more, such as 1_000
BATCH = 10_000  # rows that are handed over at once
SHOWN = 3


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def open_database(*, memory: str = "1500MB", on_disk: bool = True) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """A private DuckDB database in a temporary folder, and that folder; both are gone afterwards.

    Args:
        memory: what DuckDB may hold in memory; more goes to the folder.
        on_disk: whether tables are written to the folder from the start, which takes less memory and more time.

    Raises:
        OpenBioLinkError: memory or disk do not suffice, or a file cannot be written.
    """
    with scratch_folder(Path(tempfile.gettempdir()), "openbiolink-database-") as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": memory,
            "temp_directory": str(folder / "spill"),
            "threads": processors(),
            "autoinstall_known_extensions": False,
        }
        connection = None
        try:
            connection = duckdb.connect(str(folder / "work.duckdb") if on_disk else ":memory:", config=settings)
            connection.execute("SET enable_progress_bar = false")
            yield connection, folder
        except NO_ROOM as error:
            found = re.search(r'"exception_message":"((?:[^"\\]|\\.)*)"', str(error))
            reason = found[1].replace('\\"', "'") if found else str(error).splitlines()[0]
            raise OpenBioLinkError(
                f"the table engine could not go on ({reason}); free space where results are written and in "
                f"{tempfile.gettempdir()}, or set TMPDIR to another folder"
            ) from error
        finally:
            if connection is not None:
                connection.close()


def quote(text: str) -> str:
    """The text as an SQL string literal.

    >>> quote("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


@cache
def regex_fault(pattern: str, replacement: str = "") -> str:
    r"""What DuckDB has against a regular expression (RE2) or its replacement; nothing where it takes both.

    >>> regex_fault("a|b"), regex_fault("(?=a)"), bool(regex_fault("(a)", r"\2"))
    ('', 'invalid perl operator: (?=', True)
    """
    try:
        _regex_engine().execute("SELECT regexp_replace('', ?, ?)", [pattern, replacement])
    except duckdb.Error as error:
        return str(error).splitlines()[0].split(": ", 1)[-1]
    return ""


def _regex_engine() -> duckdb.DuckDBPyConnection:
    """A cursor of a database that holds nothing."""
    return _empty_database().cursor()


@cache
def _empty_database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


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
    quoted: bool = False,
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
        quoted: whether cells may stand in quotation marks, as `iter_quoted_rows` takes them.
        skip: number of leading lines that are not data.
        comment: what a comment line begins with, if there are any.
        whole_rows_are_data: whether a line that begins so and has the right number of cells is a row, since
            identifiers may begin so too; that is noted.
        keep: the columns to keep, all by default.

    Raises:
        InputError: a row has too many or too few cells, quotation marks without a partner, or is not UTF-8;
            the message names the file and the first bad lines.
    """
    if quoted:
        rows = _iter_whole_rows(path, len(columns), separator=separator, skip=skip, comment=comment, note=note)
        places = [columns.index(column) for column in keep or columns]
        create_text_table(connection, table, [columns[place] for place in places])
        insert_rows(connection, table, (tuple(cells[place] for place in places) for cells in rows))
        return
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
    described = []
    for line, kind, text in bad[:SHOWN]:
        cells = text.count(separator) + 1
        fault = f"{cells} cells" if kind in {"MISSING COLUMNS", "TOO MANY COLUMNS"} else kind.lower()
        described.append(f"line {line} ({fault})")
    if bad:
        raise ragged_lines(path, described, len(bad), width=len(columns), separator=separator)


def ragged_lines(path: Path, described: Sequence[str], lines: int, *, width: int, separator: str) -> InputError:
    """The error of a file with `lines` lines that are not rows of `width` cells, the first of them described."""
    more = f" and {lines - SHOWN} more lines" if lines > SHOWN else ""
    name = {"\t": "tabs", " ": "blanks", ",": "commas", "|": "bars"}.get(separator, repr(separator))
    return InputError(
        f"{path}, {', '.join(described)}{more}: expected {width} cells separated by {name} in UTF-8; "
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


def iter_rows(
    lines: Iterable[str], *, separator: str, quoted: bool = False, comment: str | None = None, skip: int = 0
) -> Iterator[tuple[int, list[str]]]:
    r"""The cells of each row with the number of its first line; blank lines and comments are left out.

    Unlike `read_delimited` this counts no cells; it is for looking at a few rows, and for messages.

    Args:
        lines: the lines without their ends.
        separator: one character.
        quoted: whether cells may stand in quotation marks.
        comment: what a comment line begins with.
        skip: number of leading lines that are not data.

    Raises:
        InputError: a quotation mark has no partner, or text follows it.

    >>> list(iter_rows(["# x", 'a,"b', 'c"', "", "d,e"], separator=",", quoted=True, comment="#"))
    [(2, ['a', 'b\nc']), (5, ['d', 'e'])]
    """
    if quoted:
        ended = (line + "\n" for line in lines)
        rows = iter_quoted_rows(ended, separator=separator, comment=comment, skip=skip, place="quoted text")
        yield from ((number, cells) for number, cells in rows if cells and separator.join(cells).strip())
        return
    for number, line in enumerate(lines, start=1):
        if number > skip and line.strip() and not (comment and line.startswith(comment)):
            yield number, line.split(separator)


def iter_quoted_rows(
    lines: Iterable[str], *, separator: str, comment: str | None, skip: int, place: str
) -> Iterator[tuple[int, list[str] | None]]:
    """The rows of text whose cells may stand in quotation marks, each with the number of its first line.

    As RFC 4180 has it, a cell in quotation marks may hold separators and line ends, and marks are doubled inside
    it; a mark within a cell that does not begin with one is a letter. In the place of a comment there is None.

    Args:
        lines: the lines with their ends.
        separator: one character.
        comment: what a comment line begins with, an opening quotation mark aside.
        skip: number of leading lines that are not data.
        place: what messages call the text.

    Raises:
        InputError: a quotation mark has no partner, text follows it, or a cell is longer than `csv` takes.
    """
    marks = (comment, f'"{comment}') if comment else ()
    start, begun, is_comment = 0, False, False

    def fed() -> Iterator[str]:
        nonlocal start, begun, is_comment
        for number, line in enumerate(lines, start=1):
            if number <= skip:
                continue
            if not begun:
                start, begun, is_comment = number, True, line.startswith(marks)
            yield "\n" if is_comment else line

    try:
        for cells in csv.reader(fed(), delimiter=separator, strict=True):
            begun = False
            yield start, None if is_comment else cells
    except csv.Error as error:
        raise InputError(
            f"{place}, line {start}: quotation marks are not in pairs, or not around a whole cell ({error}); "
            "those inside a quoted cell are doubled; mend this row"
        ) from error


def _iter_whole_rows(
    path: Path, width: int, *, separator: str, comment: str | None, skip: int, note: Note
) -> Iterator[list[str]]:
    """The rows of a quoted file that have `width` cells; blank lines are skipped, any other row is an error."""
    comments, ragged, described = 0, 0, []
    lines = iter_lines(path, note, ends=True)
    for number, cells in iter_quoted_rows(lines, separator=separator, comment=comment, skip=skip, place=str(path)):
        if cells is None:
            comments += 1
        elif len(cells) == width:
            yield cells
        elif separator.join(cells).strip():
            ragged += 1
            described += [f"line {number} ({len(cells)} cells)"] if ragged <= SHOWN else []
    if ragged:
        raise ragged_lines(path, described, ragged, width=width, separator=separator)
    if comments:
        note(f"{path}: {comments} lines that begin with {comment!r} were skipped as comments")


def create_text_table(connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str]) -> None:
    """Create or replace an empty table whose columns all hold text."""
    declared = ", ".join(f'"{column}" VARCHAR' for column in columns)
    connection.execute(f"CREATE OR REPLACE TABLE {table} ({declared})")


def insert_rows(connection: duckdb.DuckDBPyConnection, table: str, rows: Iterable[tuple[str, ...]]) -> None:
    """Add rows of text to a table, some at a time."""
    remaining = iter(rows)
    while batch := list(islice(remaining, BATCH)):
        columns = enumerate(zip(*batch, strict=True))
        connection.register("batch", {f"column {place}": np.array(cells, dtype=object) for place, cells in columns})
        connection.execute(f"INSERT INTO {table} SELECT * FROM batch")
        connection.unregister("batch")


def first_lines(path: Path, note: Note, *, limit: int) -> list[str]:
    """The first lines of a text file, at most `limit`, without line ends."""
    return list(islice(iter_lines(path, note), limit))


def write_tsv(connection: duckdb.DuckDBPyConnection, query: str, path: Path, *, separator: str = "\t") -> int:
    """Write the rows of a query as delimited text: no header, no quotes, LF; returns their number.

    Args:
        connection: the database that the query asks.
        query: its rows, in the order to write.
        path: the file to write.
        separator: one ASCII character.

    Raises:
        InputError: a cell holds the separator or a line end, which such a file cannot hold.
    """
    copied = connection.execute(
        f"COPY ({query}) TO {quote(str(path))} (FORMAT csv, DELIMITER {quote(separator)}, "
        "HEADER false, QUOTE '', ESCAPE '', NULL '', NEW_LINE '\\n')"
    ).fetchall()
    rows, columns = int(copied[0][0]), len(connection.execute(f"DESCRIBE {query}").fetchall())
    refuse_broken_cells(path, rows=rows, columns=columns, separator=separator)
    return rows


def refuse_broken_cells(path: Path, *, rows: int, columns: int, separator: str) -> None:
    """Check that a file of delimited text has no more separators and line ends than its rows need.

    Raises:
        InputError: it has, so that a cell holds one.
    """
    if _count_bytes(path, f"{separator}\n\r".encode("ascii")) != [rows * (columns - 1), rows, 0]:
        name = "tab" if separator == "\t" else repr(separator)
        raise InputError(f"{path.name}: a cell holds a {name} or a line end, which no table file can; mend the source")


def _count_bytes(path: Path, letters: bytes) -> list[int]:
    counts = [0] * len(letters)
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            counts = [count + chunk.count(letter) for count, letter in zip(counts, letters, strict=True)]
    return counts
