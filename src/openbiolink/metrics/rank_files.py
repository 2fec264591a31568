"""Ranks in text files, counted as they stream by: memory grows with the number of different ranks only.

Two shapes are read, plain, gzip or zip, with LF or CR LF, with or without a byte-order mark:

- one rank a line, blank lines between them or not;
- tab-separated columns under a header: `rank`, or one column for each side (`head_rank` and `tail_rank`, `rank_head`
  and `rank_tail`, or `head` and `tail`), and any others, such as `relation` and `side`.

A rank is a decimal number of at least 1, or `inf` for an answer that was not found. Everything else is refused with its
line; nothing is skipped and nothing is mended.
"""

from __future__ import annotations

import math
import multiprocessing
import re
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from openbiolink.errors import InputError
from openbiolink.files import CHUNK, GZIP_MAGIC, MAX_LINE, UTF8_BOM, ZIP_MAGIC, check_file, iter_unpacked
from openbiolink.metrics.accumulator import RankingEvaluator
from openbiolink.metrics.ranking import KS
from openbiolink.progress import silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from openbiolink.files import Note
    from openbiolink.metrics.ranking import Ranks
    from openbiolink.progress import Progress

    Labels = tuple[str, ...]

RANK = re.compile(rb"[0-9]{1,300}(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,3})?|[+]?inf", re.IGNORECASE)
SIDES = ("head", "tail")
PAIRS = (("head_rank", "tail_rank"), ("rank_head", "rank_tail"), SIDES)
LONGEST = 40  # letters of a cell that a message shows
SHOWN = 3  # wrong lines that a message names
PART = 1 << 25  # bytes of a plain file that are worth a process


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Where ranks and labels stand in a line.

    Attributes:
        width: how many columns there are; 1 where a line is a rank.
        ranks: numbers of the columns of ranks.
        sides: the side of each of them, empty where the file says it otherwise or not at all.
        by: names of the groupings.
        labels: for each grouping the number of its column; None for a side that follows from the column of the rank.
    """

    width: int
    ranks: tuple[int, ...]
    sides: tuple[str, ...]
    by: tuple[str, ...]
    labels: tuple[int | None, ...]


def read_ranks(
    paths: Path | str | Sequence[Path | str],
    ks: Sequence[int] = KS,
    *,
    by: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    workers: int = 1,
    note: Note | None = None,
    report: Progress = silent,
) -> RankingEvaluator:
    """Count the ranks of files.

    Args:
        paths: one file or several, whose ranks are counted together.
        ks: the k of hits@k.
        by: columns to group by, `relation` and `side` for instance. Where each side has its own column of ranks,
            `side` is head or tail.
        columns: names of the columns of ranks: one, or that of heads and that of tails. Found by themselves by default.
        workers: processes. Several files, and parts of large plain files, are counted by several, with the same result.
            With more than one, a script must call this below `if __name__ == "__main__":`.
        note: called with one line for what a reader of the numbers should know.
        report: called with a file name, bytes done and bytes in all.

    Raises:
        InputError: a file is absent or damaged, a line is wrong, a column is missing, or there is no rank in any file.
    """
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InputError(f"workers={workers!r}; expected a whole number of at least 1")
    given = [Path(paths)] if isinstance(paths, (str, Path)) else [Path(path) for path in paths]
    groups = (by,) if isinstance(by, str) else tuple(by)
    evaluator = RankingEvaluator(ks, by=groups)
    for path in given:
        check_file(path)
    say, tell = note or _ignore, report
    parts = [(path, begin, end) for path in given for begin, end in _parts(path, workers)]
    try:
        if workers > 1 and len(parts) > 1:
            _count_in_processes(evaluator, parts, columns, min(workers, len(parts)), tell)
        else:
            _count_one_by_one(evaluator, given, columns, say, tell)
    except _WrongLineError:  # the line is known only to who counts from the first one on
        evaluator.reset()
        _count_one_by_one(evaluator, given, columns, say, tell)
    if not evaluator.num_ranks:
        raise InputError(
            f"{', '.join(map(str, given)) or 'no file'}: there are no ranks; a metric of nothing is not defined"
        )
    return evaluator


def iter_ranks(path: Path | str, *, note: Note | None = None) -> Iterator[Ranks]:
    """The ranks of a file in their order, some at a time; memory stays the same however many there are.

    Both sides of a line follow one another where each has its column.

    Raises:
        InputError: as `read_ranks`, but for a file without ranks.
    """
    return (rows.ravel() for rows in iter_rank_rows(path, note=note))


def iter_rank_rows(
    path: Path | str, *, columns: Sequence[str] | None = None, note: Note | None = None
) -> Iterator[Ranks]:
    """The same with a row for each line, of shape (n, 1), or (n, 2) where each side has its column.

    Raises:
        InputError: as `iter_ranks`.
    """
    source = Path(path)
    check_file(source)
    found: Columns | None = None
    parsed: dict[bytes, float] = {}
    for first, lines in _blocks(source, note or _ignore):
        found, skip = _columns_of(source, lines, found, (), columns)
        cells = _cells(source, lines[skip:], first + skip, found)
        texts = [text.strip() for row in zip(*(cells[place] for place in found.ranks), strict=True) for text in row]
        _learn(texts, parsed, partial(_refuse, source, lines[skip:], first + skip, found))
        yield np.array([parsed[text] for text in texts], np.float64).reshape(-1, len(found.ranks))


def parse_rank(text: bytes) -> float | str:
    """The rank that a text is, or what is wrong with it.

    >>> parse_rank(b"1.5"), parse_rank(b"inf"), parse_rank(b"0"), parse_rank(b"1_0")
    (1.5, inf, 'is 0, but ranks start at 1', "'1_0' is no rank")
    """
    shown = text.decode("utf-8", "backslashreplace")
    shown = shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}…"
    if not RANK.fullmatch(text):
        return f"{shown!r} is no rank"
    rank = float(text)
    if math.isinf(rank) and b"n" not in text.lower():
        return f"{shown} is too large for a rank"
    return rank if rank >= 1 else f"is {shown}, but ranks start at 1"


class _WrongLineError(Exception):
    """A part of a file holds what is no rank."""


def _count_one_by_one(
    evaluator: RankingEvaluator, paths: Iterable[Path], columns: Sequence[str] | None, note: Note, report: Progress
) -> None:
    for path in paths:
        size = path.stat().st_size
        for labels, texts in _count_file(path, evaluator.by, columns, note, partial(report, path.name)).items():
            _add(evaluator, labels, texts)
        report(path.name, size, size)


def _add(evaluator: RankingEvaluator, labels: Labels, texts: Mapping[bytes, int]) -> None:
    """Count texts that are known to be ranks; several may be the same one, as 1 and 1.0."""
    ranks = np.array([float(text) for text in texts])
    values, of = np.unique(ranks, return_inverse=True)
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, of, np.fromiter(texts.values(), np.int64, len(texts)))
    evaluator.count(labels, (values, counts))


def _count_in_processes(
    evaluator: RankingEvaluator,
    parts: Sequence[tuple[Path, int, int]],
    columns: Sequence[str] | None,
    workers: int,
    report: Progress,
) -> None:
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise InputError("workers: a process was started at import; put the call below `if __name__ == '__main__':`")
    total = sum(end - begin for _, begin, end in parts)
    done = 0
    try:
        with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
            counted = pool.map(_count_part, parts, [(evaluator.by, columns)] * len(parts))
            for (path, begin, end), groups in zip(parts, counted, strict=True):
                for labels, texts in groups.items():
                    _add(evaluator, labels, texts)
                done += end - begin
                report(path.name, done, total)
    except BrokenProcessPool as error:
        raise InputError(
            f"workers={workers}: a process ended early (out of memory, or a script that does not call this below "
            "`if __name__ == '__main__':`); use one worker"
        ) from error


def _count_part(
    part: tuple[Path, int, int], options: tuple[Labels, Sequence[str] | None]
) -> dict[Labels, Counter[bytes]]:
    path, begin, end = part
    by, columns = options
    try:
        return _count_file(path, by, columns, _ignore, _ignore_bytes, begin=begin, end=end)
    except InputError as error:
        raise _WrongLineError(str(error)) from error


def _parts(path: Path, workers: int) -> list[tuple[int, int]]:
    """Ranges of bytes of a file that are counted by themselves, each from the start of a line to the end of one."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        magic = stream.read(4)
        if workers == 1 or size < 2 * PART or magic[:2] == GZIP_MAGIC or magic == ZIP_MAGIC:
            return [(0, size)]
        cuts = [0]
        number = min(4 * workers, size // PART)
        for place in (size * one // number for one in range(1, number)):
            stream.seek(place)
            stream.readline(MAX_LINE)
            if cuts[-1] < stream.tell() < size:
                cuts.append(stream.tell())
    return list(pairwise([*cuts, size]))


def _count_file(
    path: Path,
    by: Labels,
    columns: Sequence[str] | None,
    note: Note,
    report: Callable[[int, int], None],
    *,
    begin: int = 0,
    end: int | None = None,
) -> dict[Labels, Counter[bytes]]:
    """How often each text of a rank occurs in each group of a file, or of a part of a plain one."""
    groups: dict[Labels, Counter[bytes]] = {}
    parsed: dict[bytes, float] = {}
    found = _columns_of(path, _head(path), None, by, columns)[0] if begin else None
    size, done = path.stat().st_size, 0
    for first, lines in _blocks(path, note, begin=begin, end=end):
        found, skip = _columns_of(path, lines, found, by, columns)
        refuse = partial(_refuse, path, lines[skip:], first + skip, found)
        for labels, texts in _counted(path, lines[skip:], first + skip, found).items():
            _learn(texts, parsed, refuse)
            groups.setdefault(labels, Counter()).update(texts)
        done += sum(map(len, lines)) + len(lines)
        report(min(done, size), size)
    return groups


def _head(path: Path) -> list[bytes]:
    """The first lines of a plain file."""
    with path.open("rb") as stream:
        return stream.read(CHUNK).removeprefix(UTF8_BOM).replace(b"\r\n", b"\n").split(b"\n")


def _blocks(path: Path, note: Note, *, begin: int = 0, end: int | None = None) -> Iterator[tuple[int, list[bytes]]]:
    """Some lines at a time without their ends, and the number of the first of them."""
    number, rest = 1, b""
    chunks = iter_unpacked(path, note) if end is None else _range(path, begin, end)
    for place, chunk in enumerate(chunks):
        text = rest + (chunk.removeprefix(UTF8_BOM) if place == 0 and begin == 0 else chunk)
        cut = text.rfind(b"\n") + 1
        rest = text[cut:]
        if len(rest) > MAX_LINE:
            raise InputError(
                f"{path}: a line is longer than {MAX_LINE:,} bytes, which no line of ranks is; check that it is text"
            )
        if cut:
            lines = text[: cut - 1].replace(b"\r\n", b"\n").split(b"\n")
            lines[-1] = lines[-1].removesuffix(b"\r")
            yield number, lines
            number += len(lines)
    if rest:
        yield number, [rest.removesuffix(b"\r")]


def _range(path: Path, begin: int, end: int) -> Iterator[bytes]:
    with path.open("rb") as stream:
        stream.seek(begin)
        while begin < end and (chunk := stream.read(min(CHUNK, end - begin))):
            begin += len(chunk)
            yield chunk


def _columns_of(
    path: Path, lines: Sequence[bytes], known: Columns | None, by: Labels, columns: Sequence[str] | None
) -> tuple[Columns, int]:
    """The columns of a file, and how many of these lines stand before the first row."""
    if known is not None:
        return known, 0
    place = next((place for place, line in enumerate(lines) if line.strip()), None)
    if place is None:
        return Columns(width=1, ranks=(0,), sides=(), by=(), labels=()), 0
    first = lines[place].decode("utf-8", "backslashreplace")
    names = [name.strip() for name in first.split("\t")]
    wanted = next((pair for pair in (("rank",), *PAIRS) if {*pair} <= {*names}), None) if columns is None else columns
    words = {"relation", *(name for pair in PAIRS for name in pair)}
    if columns is None and wanted is None and len(names) == 1 and not by and names[0] not in words:
        return Columns(width=1, ranks=(0,), sides=(), by=(), labels=()), 0
    if columns is None and wanted is None:
        raise InputError(
            f"{path}, line {place + 1}: {first[:80]!r} names no column of ranks; give a header with rank, or with "
            f"head_rank and tail_rank{', and ' + ', '.join(by) if by else ''}"
        )
    if (
        columns is None
        and wanted == ("rank",)
        and (other := next((pair for pair in PAIRS[:2] if {*pair} & {*names}), None))
    ):
        raise InputError(
            f"{path}, line {place + 1}: the header has rank and {' or '.join(other)}; say by `columns` which are meant"
        )
    return _named(path, place, names, tuple(wanted or ()), by), place + 1


def _named(path: Path, place: int, names: Sequence[str], wanted: Labels, by: Labels) -> Columns:
    """The columns of these names."""
    double = sorted(name for name, times in Counter(names).items() if times > 1)
    sides = SIDES if len(wanted) == 2 else ()
    needed = [*wanted, *(name for name in by if not (sides and name == "side"))]
    absent = [name for name in needed if name not in names]
    faults = (
        f"has no column {', '.join(absent)}" if absent else "",
        f"has two columns {double[0]}" if double else "",
        f"is asked for {len(wanted)} columns of ranks; give one, or one for heads and one for tails"
        if not 1 <= len(wanted) <= 2
        else "",
        f"is asked twice for the column {wanted[0]}" if len({*wanted}) < len(wanted) else "",
        f"has no groups in the column of ranks {wanted[0]}" if {*wanted} & {*by} else "",
    )
    if fault := next(filter(None, faults), ""):
        raise InputError(f"{path}, line {place + 1}: the header {fault}; there are {', '.join(names)}")
    labels = tuple(None if sides and name == "side" else names.index(name) for name in by)
    return Columns(width=len(names), ranks=tuple(map(names.index, wanted)), sides=sides, by=by, labels=labels)


def _cells(path: Path, lines: Sequence[bytes], first: int, columns: Columns) -> list[list[bytes]]:
    """The cells of all lines that are not blank, column by column.

    Raises:
        InputError: a line has too many cells or too few.
    """
    if columns.width == 1:
        return [[line for line in lines if line.strip()]]
    tabs = columns.width - 1
    if {line.count(b"\t") for line in lines} != {tabs}:
        for number, line in enumerate(lines, first):
            if line.strip() and (there := line.count(b"\t") + 1) != columns.width:
                raise InputError(
                    f"{path}, line {number}: has {there} columns, the header has {columns.width}; mend the line"
                )
        lines = [line for line in lines if line.strip()]
    flat = (
        b"\t".join(lines).split(b"\t") if lines else []
    )  # one list for all: a list for each line costs three times as much
    return [flat[place :: columns.width] for place in range(columns.width)]


def _counted(path: Path, lines: Sequence[bytes], first: int, columns: Columns) -> dict[Labels, Counter[bytes]]:
    """How often each text of a rank stands in these lines, by group."""
    if columns.width == 1:
        found = Counter[bytes]()
        for text, times in Counter(lines).items():
            found[text.strip()] += times
        del found[b""]
        return {(): found}
    cells = _cells(path, lines, first, columns)
    given = [cells[one] for one in columns.labels if one is not None]
    groups: dict[Labels, Counter[bytes]] = {}
    for place, side in zip(columns.ranks, columns.sides or ("",), strict=True):
        listed: dict[tuple[bytes, ...], list[bytes]] = {(): cells[place]}
        if given:
            listed = defaultdict(list)
            for text, labels in zip(cells[place], zip(*given, strict=True), strict=True):
                listed[labels].append(text)
        for labels, texts in listed.items():
            names = iter(labels)
            of = tuple(side if one is None else _text(path, lines, first, next(names)) for one in columns.labels)
            found = groups.setdefault(of, Counter())
            for text, times in Counter(texts).items():
                found[text.strip()] += times
    return groups


def _text(path: Path, lines: Sequence[bytes], first: int, cell: bytes) -> str:
    try:
        return cell.decode("utf-8")
    except UnicodeDecodeError as error:
        number = next(number for number, line in enumerate(lines, first) if cell in line.split(b"\t"))
        raise InputError(f"{path}, line {number}: {cell!r} is not UTF-8; convert the file to UTF-8") from error


def _learn(texts: Iterable[bytes], parsed: dict[bytes, float], refuse: Callable[[], None]) -> None:
    """Parse the texts that were not seen before; `refuse` is called where one is no rank."""
    for text in texts:
        if text not in parsed:
            found = parse_rank(text)
            if isinstance(found, str):
                refuse()
            else:
                parsed[text] = found


def _cell(line: bytes, place: int, columns: Columns) -> bytes:
    return line if columns.width == 1 else line.split(b"\t")[place]


def _refuse(path: Path, lines: Sequence[bytes], first: int, columns: Columns) -> None:
    """Name the lines that hold what is no rank.

    Raises:
        InputError: always.
    """
    wrong = [
        (number, found)
        for number, line in enumerate(lines, first)
        for place in columns.ranks
        if line.strip() and isinstance(found := parse_rank(_cell(line, place, columns).strip()), str)
    ]
    (number, fault), *others = wrong
    also = "; ".join(f"line {line} {words}" for line, words in others[: SHOWN - 1])
    also = f" (also {also}{' and others' if len(others) >= SHOWN else ''})" if also else ""
    raise InputError(
        f"{path}, line {number}: {fault}{also}; give one number of at least 1 for each answer, or inf for one that was "
        "not found"
    )


def _ignore(_text: str) -> None:
    pass


def _ignore_bytes(_done: int, _total: int) -> None:
    pass
