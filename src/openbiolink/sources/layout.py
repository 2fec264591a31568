"""Which of its known layouts a file of delimited text has: told by header or by cells, never by counting lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from openbiolink.errors import InputError
from openbiolink.tables import first_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from openbiolink.files import Note
    from openbiolink.sources.declarations import Layout, Source

SNIFFED_LINES = 500
TESTED_ROWS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLayout:
    """A file's layout.

    Attributes:
        layout: the declaration that fits.
        separator: the character between cells.
        skip: number of leading lines that are comments or header.
        columns: a name for every column of the file in order; columns without a use are `unused 3` and the like.
    """

    layout: Layout
    separator: str
    skip: int
    columns: tuple[str, ...]


def find_layout(path: Path, name: str, source: Source, note: Note) -> FoundLayout:
    """Find the layout of a source's file from its first lines.

    Raises:
        InputError: no known layout fits; the message says what the nearest one expects and what was found.
    """
    lines = first_lines(path, note, limit=SNIFFED_LINES)
    if not any(line.strip() for line in lines):
        raise InputError(f"{path}: is empty, expected {source.title}; fetch the file again")
    for layout in source.layouts:
        for separator in layout.separator:
            found = _fit(lines, layout, separator)
            if found is not None:
                return found
    nearest, expected, line = _nearest(lines, source.layouts)
    raise InputError(
        f"{path}: fits no known layout of {name} ({source.title}); the nearest, {nearest.name!r}, "
        f"expects {expected}; found {line!r:.120}; check that this is the right file"
    )


def _fit(lines: Sequence[str], layout: Layout, separator: str) -> FoundLayout | None:
    skip = _leading_comments(lines, layout)
    if layout.header == "none":
        if skip == len(lines) or not _cells_match(lines[skip:], layout, separator):
            return None
        return FoundLayout(layout=layout, separator=separator, skip=skip, columns=layout.positional)
    if layout.header == "first":
        candidates = lines[skip : skip + 1]
        skip += 1
    else:
        candidates = [line.removeprefix(layout.comment or "").lstrip(" ") for line in lines[:skip]]
    for line in candidates:
        columns = _name_columns(line.split(separator), layout)
        if columns is not None:
            return FoundLayout(layout=layout, separator=separator, skip=skip, columns=columns)
    return None


def _leading_comments(lines: Sequence[str], layout: Layout) -> int:
    if layout.comment is None:
        return 0
    isdata = (number for number, line in enumerate(lines) if line.strip() and not line.startswith(layout.comment))
    return next(isdata, len(lines))


def _cells_match(lines: Sequence[str], layout: Layout, separator: str) -> bool:
    rows = [line.split(separator) for line in lines if line.strip()][:TESTED_ROWS]
    if layout.comment is not None:
        rows = [row for row in rows if not row[0].startswith(layout.comment)]
    tests = [(layout.positional.index(column), re.compile(pattern)) for column, pattern in layout.patterns.items()]
    return all(
        len(row) == len(layout.positional) and all(test.fullmatch(row[place]) for place, test in tests) for row in rows
    )


def _name_columns(header: Sequence[str], layout: Layout) -> tuple[str, ...] | None:
    """Our name of each column of a header, or None where a needed column is missing or stands twice."""
    cells = [cell.strip().strip('"').casefold() for cell in header]
    wanted = {text.casefold(): ours for ours, text in layout.named.items()}
    if any(cells.count(text) != 1 for text in wanted):
        return None
    return tuple(wanted.get(cell, f"unused {place}") for place, cell in enumerate(cells))


def _nearest(lines: Sequence[str], layouts: Sequence[Layout]) -> tuple[Layout, str, str]:
    """The layout whose description is most like the file, what it expects, and the line it was compared with."""
    compared = []
    for layout in layouts:
        skip = min(_leading_comments(lines, layout), len(lines) - 1)
        line = lines[max(skip - 1, 0)] if layout.header == "comment" else lines[skip]
        if layout.header == "none":
            rules = ", ".join(f"{column} like {pattern}" for column, pattern in layout.patterns.items())
            expected = f"{len(layout.positional)} columns without a header ({rules})"
            cells = max(len(line.split(separator)) for separator in layout.separator)
            likeness = 0.5 - abs(cells - len(layout.positional)) / 100
        else:
            present = {
                cell.strip().strip('"').casefold() for separator in layout.separator for cell in line.split(separator)
            }
            missing = [text for text in layout.named.values() if text.casefold() not in present]
            expected = f"a column {(missing or list(layout.named.values()))[0]!r}"
            likeness = SequenceMatcher(None, "\t".join(layout.named.values()), line).ratio()
        compared.append((likeness, layout, expected, line))
    _, layout, expected, line = max(compared, key=lambda entry: entry[0])
    return layout, expected, line
