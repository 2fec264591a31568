"""Which of its known layouts a file of delimited text has: told by header or by cells, never by counting lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import TYPE_CHECKING

from openbiolink.errors import InputError
from openbiolink.tables import iter_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from openbiolink.sources.declarations import Layout, Source

SNIFFED_LINES = 500
HEADER_WITHIN = 50
TESTED_ROWS = 20
ALIKE = 0.75
SHOWN_LETTERS = 200
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")  # of a name such as geneId, HPO_ID or combined_score


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLayout:
    """A file's layout.

    Attributes:
        layout: the declaration that fits.
        separator: the character between cells.
        skip: number of leading lines that are comments, banner or header.
        columns: a name for every column of the file in order; columns without a use are `unused 3` and the like.
        header: the cells of the header letter for letter; none where the file has no header.
    """

    layout: Layout
    separator: str
    skip: int
    columns: tuple[str, ...]
    header: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Misfit:
    """How far a row of a file is from what a layout expects, between 0 and 1, and what is wrong in words."""

    likeness: float
    layout: Layout
    expects: str
    found: Sequence[str]


def find_layout(lines: Sequence[str], *, name: str, source: Source, place: str) -> FoundLayout:
    """Find the layout of a source's file from its first lines.

    Args:
        lines: the first lines, whole and without their ends; `SNIFFED_LINES` are enough.
        name: the id of the source.
        source: its declaration.
        place: what the message calls the file: its path or address.

    Raises:
        InputError: no known layout fits; the message says what the nearest one expects and what was found.
    """
    check_begun(lines, source, place)
    found = fit_layout(lines, source)
    if found is None:
        raise InputError(
            f"{place}: fits no known layout of {name} ({source.title}); {_explain_misfit(lines, source)}; "
            "check that this is the right file, or declare its layout in a catalogue file of your own"
        )
    return found


def check_begun(lines: Sequence[str], source: Source, place: str) -> None:
    """Refuse a file that holds nothing, or nothing but blank lines, where it begins.

    Raises:
        InputError: naming the place.
    """
    if not any(line.strip() for line in lines):
        raise InputError(f"{place}: is empty, expected {source.title}; fetch the file again")


def fit_layout(lines: Sequence[str], source: Source) -> FoundLayout | None:
    """The first of a source's layouts that the first lines of a file fit, or None."""
    fitting = (_fit(lines, layout, separator) for layout in source.layouts for separator in layout.separator)
    return next((found for found in fitting if found is not None), None)


def _fit(lines: Sequence[str], layout: Layout, separator: str) -> FoundLayout | None:
    for skip, header in _possible_headers(lines, layout, separator):
        columns = _name_columns(header, layout)
        if columns is None:
            continue
        rows = _first_rows(lines[skip:], layout, separator, header=header)
        if (rows or header) and _first_fault(rows, columns, layout) is None:
            return FoundLayout(layout=layout, separator=separator, skip=skip, columns=columns, header=tuple(header))
    return None


def _explain_misfit(lines: Sequence[str], source: Source) -> str:
    """Why the first lines of a file fit none of a source's layouts: what the nearest one expects, what is there."""
    misfits = [
        misfit
        for layout in source.layouts
        for separator in layout.separator
        for misfit in _find_misfits(lines, layout, separator)
    ]
    nearest = max(misfits, key=lambda misfit: misfit.likeness)  # of equals the first
    shown = ", ".join(repr(cell) for cell in nearest.found)
    shown = shown if len(shown) <= SHOWN_LETTERS else f"{shown[:SHOWN_LETTERS]}…"
    columns = "1 column" if len(nearest.found) == 1 else f"{len(nearest.found)} columns"
    return f"the nearest, {nearest.layout.name!r}, expects {nearest.expects}; found {columns}: {shown}"


def _possible_headers(lines: Sequence[str], layout: Layout, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that may be the header of a layout, each with the number of lines down to where data begin."""
    if layout.header == "none":
        yield _count_comments(lines, layout), []
    elif layout.header == "comment":
        skip = _count_comments(lines, layout)
        for line in lines[:skip]:
            text = line.removeprefix(layout.comment or "").lstrip(" ")
            yield from ((skip, cells) for _, cells in iter_rows([text], separator=separator))
    else:
        rows = islice(_iter_rows(lines, layout, separator), 1 if layout.header == "first" else None)
        for number, cells in rows:
            if number <= HEADER_WITHIN or layout.header == "first":
                yield number + sum(cell.count("\n") for cell in cells), cells


def _count_comments(lines: Sequence[str], layout: Layout) -> int:
    if layout.comment is None:
        return 0
    isdata = (number for number, line in enumerate(lines) if line.strip() and not line.startswith(layout.comment))
    return next(isdata, len(lines))


def _iter_rows(lines: Sequence[str], layout: Layout, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of some first lines, as far as they can be told apart: the last one may be cut within its quotes."""
    try:
        yield from iter_rows(lines, separator=separator, quoted=layout.quoted, comment=layout.comment)
    except InputError:
        return


def _first_rows(lines: Sequence[str], layout: Layout, separator: str, *, header: Sequence[str] = ()) -> list[list[str]]:
    """Some first rows of data; a header that is repeated is none."""
    rows = (cells for _, cells in _iter_rows(lines, layout, separator) if cells != header)
    return list(islice(rows, TESTED_ROWS))


def _fold(cell: str) -> str:
    """The name of a column as it is compared: without quotation marks, blanks and case."""
    return cell.strip().strip('"').casefold()


def _name_columns(header: Sequence[str], layout: Layout) -> tuple[str, ...] | None:
    """Our name of each column of a header, or None where a needed column is missing or stands twice."""
    if layout.header == "none":
        return layout.positional
    cells = [_fold(cell) for cell in header]
    needed = {_fold(text): ours for ours, text in layout.named.items()}
    wanted = needed | {_fold(text): ours for ours, text in layout.optional.items()}
    if any(cells.count(text) != 1 for text in needed) or any(cells.count(text) > 1 for text in wanted):
        return None
    return tuple(wanted.get(cell, f"unused {place}") for place, cell in enumerate(cells))


def _first_fault(
    rows: Sequence[Sequence[str]], columns: Sequence[str], layout: Layout
) -> tuple[Sequence[str], str] | None:
    """The first of some rows that is not as its layout says, and the column at fault, "" where the width is.

    Below a header a row of another width is no fault of the layout: it is named when the file is read.
    """
    for row in rows:
        if len(row) == len(columns):
            wrong = _wrong_columns(row, columns, layout)
            if wrong:
                return row, wrong[0]
        elif layout.header == "none":
            return row, ""
    return None


def _wrong_columns(row: Sequence[str], columns: Sequence[str], layout: Layout) -> list[str]:
    """The columns whose cells do not match their patterns."""
    around = " " if layout.quoted else ' "'
    cells = dict(zip(columns, row, strict=True))
    return [
        column for column, pattern in layout.patterns.items() if not re.fullmatch(pattern, cells[column].strip(around))
    ]


def _find_misfits(lines: Sequence[str], layout: Layout, separator: str) -> Iterator[_Misfit]:
    """What is wrong with each row that might have been the header, or with the first rows where there is none."""
    rows = _first_rows(lines, layout, separator) or [[next((line for line in lines if line.strip()), "")]]
    if layout.header == "none":
        yield _compare_rows(rows, layout)
        return
    for skip, header in list(_possible_headers(lines, layout, separator)) or [(len(lines), rows[0])]:
        yield _compare_header(header, _first_rows(lines[skip:], layout, separator, header=header), layout)


def _compare_header(header: Sequence[str], rows: Sequence[Sequence[str]], layout: Layout) -> _Misfit:
    present = [_fold(cell) for cell in header]
    wanted = list(layout.named.values())
    missing = [text for text in wanted if _fold(text) not in present]
    repeated = [text for text in (*wanted, *layout.optional.values()) if present.count(_fold(text)) > 1]
    if missing:
        renamed = _find_renamed(missing, [cell for cell in header if _fold(cell) not in map(_fold, wanted)])
        hints = {text: f" ({new!r} may be its new name)" for text, new in renamed.items()}
        described = ", ".join(f"{text!r}{hints.get(text, '')}" for text in missing)
        expects = f"{'a column' if len(missing) == 1 else 'columns'} {described}"
        return _Misfit(1 - (len(missing) - len(renamed) / 2) / len(wanted), layout, expects, header)
    if repeated:
        expects = f"one column {repeated[0]!r}, not {present.count(_fold(repeated[0]))}"
        return _Misfit(1, layout, expects, header)
    columns = _name_columns(header, layout) or ()
    row, column = _first_fault(rows, columns, layout) or ((), "")
    cell = row[columns.index(column)]
    expects = f"text like {layout.patterns[column]} in column {layout.named[column]!r}, not {cell!r:.60}"
    return _Misfit(1, layout, expects, header)


def _compare_rows(rows: Sequence[Sequence[str]], layout: Layout) -> _Misfit:
    width = len(layout.positional)
    row, column = _first_fault(rows, layout.positional, layout) or (rows[0], "")
    if column:
        cell = row[layout.positional.index(column)]
        right = 1 - len(_wrong_columns(row, layout.positional, layout)) / len(layout.patterns)
        expects = f"{width} columns without a header, {column} like {layout.patterns[column]} and not {cell!r:.60}"
        return _Misfit(0.3 + 0.6 * right, layout, expects, row)
    rules = ", ".join(f"{column} like {pattern}" for column, pattern in layout.patterns.items())
    expects = f"{width} columns without a header ({rules})"
    return _Misfit(max(0, 0.2 - abs(len(row) - width) / 20), layout, expects, row)


def _find_renamed(missing: Sequence[str], others: Sequence[str]) -> dict[str, str]:
    """Missing column → the other column of a header whose name is most like it, where one is like it at all."""
    renamed: dict[str, str] = {}
    for text in missing:
        likeness = {cell: _likeness(text, cell) for cell in others if cell not in renamed.values()}
        best = max(likeness, key=lambda cell: likeness[cell], default="")
        if likeness.get(best, 0) >= ALIKE:
            renamed[text] = best
    return renamed


def _likeness(first: str, second: str) -> float:
    """How alike two names of columns are, from 0 to 1; a name within another is like it."""
    words = [[word.lower() for word in WORD.findall(text)] for text in (first, second)]
    ratio = SequenceMatcher(None, "".join(words[0]), "".join(words[1])).ratio()
    within = all(words) and (set(words[0]) <= set(words[1]) or set(words[1]) <= set(words[0]))
    return max(ratio, ALIKE) if within else ratio
