"""Ranks that are known already, by whatever program: one row for each test triple.

The columns are found by their names, in any order, in a tab-separated file with a header line (plain or packed) or a
Parquet file: head, relation, tail, and for SIDE head and tail one of the pairs

    SIDE_better, SIDE_equal                              candidates with a better and with the same score
    SIDE_optimistic, SIDE_pessimistic                    ranks, 1 or more
    SIDE_rank_optimistic, SIDE_rank_pessimistic          the same

Other columns are not looked at. A file that `evaluate --ranks-out` wrote says itself what its ranks are of, see
`openbiolink.evaluation.rankfile`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from openbiolink.dataset import PARTS, TRIPLE, Dataset, Part, Triples, ignore
from openbiolink.errors import InputError
from openbiolink.evaluation.known import count_ranked, find_known
from openbiolink.evaluation.rankfile import is_kept, read_ranks
from openbiolink.evaluation.ranking import UnseenRule, check_protocol
from openbiolink.evaluation.result import SIDES, Evaluation
from openbiolink.evaluation.topk import id_of
from openbiolink.files import check_file, iter_lines
from openbiolink.metrics.ranking import Ties, check_ties
from openbiolink.tables import open_database, quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from openbiolink.files import Note

Counts = npt.NDArray[np.int64]

PAIRS = (("{}_better", "{}_equal"), ("{}_optimistic", "{}_pessimistic"), ("{}_rank_optimistic", "{}_rank_pessimistic"))
WHOLE = re.compile(r"[0-9]{1,18}")
PARQUET_MAGIC = b"PAR1"


def evaluate_ranks(
    path: Path | str,
    dataset: Dataset,
    *,
    ties: Ties = "realistic",
    filter_parts: Sequence[Part] = PARTS,
    unseen: UnseenRule = "refuse",
    model_name: str | None = None,
    note: Note = ignore,
) -> Evaluation:
    """Take the ranks of all test triples from a file.

    A rank worse than the number of candidates that the filter leaves is refused. Triples of the file that are no test
    triples are counted in a note and otherwise ignored.

    Args:
        path: the file.
        dataset: the test triples, the known triples, and all candidates.
        ties: the rule that the result shows first; it holds all three.
        filter_parts: the parts whose triples were left out as known answers when the ranks were made.
        unseen: as for `evaluate`.
        model_name: the name in the result; by default that of the file.
        note: called with one line for everything that a reader of the result should know.

    Raises:
        InputError: as `evaluate`, a test triple is not in the file, or a row is wrong (its place is named).
    """
    source = Path(path)
    if is_kept(source):
        check_ties(ties)
        kept = read_ranks(source, dataset)
        if set(filter_parts) not in (set(PARTS), set(kept.filter_parts)):
            raise InputError(
                f"{source}: its ranks are filtered by {', '.join(kept.filter_parts) or 'nothing'}, not by "
                f"{', '.join(filter_parts) or 'nothing'}; say nothing of the filter, or rank the model again"
            )
        return replace(kept, ties=ties, model=model_name or kept.model)
    protocol = check_protocol(dataset, ties=ties, filter_parts=filter_parts, unseen=unseen)
    found, foreign = _read(source, dataset, note)
    asked = list(map(tuple, protocol.triples.tolist()))
    absent = [row for row, triple in enumerate(asked) if triple not in found]
    if absent:
        first = ", ".join(dataset.label(protocol.triples[absent[0]]))
        raise InputError(
            f"{source}: lacks {len(absent)} of {len(asked)} test triples, ({first}) first; add their ranks"
        )
    counts = np.array([found[triple] for triple in asked], np.int64).reshape(-1, len(SIDES), 2)
    candidates = count_ranked(
        dataset, protocol.triples, {side: find_known(dataset, side, filter_parts) for side in SIDES}
    )
    _refuse_too_many(source, dataset, protocol.triples, counts.sum(axis=2) + 1 - candidates, filter_parts)
    notes = [*protocol.notes, f"{source.name}: the ranks are those of the file, taken as filtered by what is said here"]
    if foreign:
        notes.append(f"{source.name}: triples that are no test triples and were ignored: {foreign}")
    for line in notes:
        note(line)
    return Evaluation(
        model=model_name or source.name,
        dataset=dataset,
        triples=protocol.triples,
        better=counts[:, :, 0],
        equal=counts[:, :, 1],
        candidates=candidates,
        ties=ties,
        filter_parts=tuple(filter_parts),
        higher_is_better=True,
        left_out=protocol.left_out,
        notes=tuple(notes),
    )


def _read(path: Path, dataset: Dataset, note: Note) -> tuple[dict[tuple[int, ...], tuple[int, ...]], int]:
    """Better and equal for head, then for tail, by test triple; the number of rows of other triples."""
    entity = {label: number for number, label in enumerate(dataset.entities)}
    relation = {label: number for number, label in enumerate(dataset.relations)}
    test = Counter(map(tuple, dataset.test.tolist()))
    found: dict[tuple[int, ...], tuple[int, ...]] = {}
    seen: Counter[tuple[int, ...]] = Counter()
    foreign = 0
    for place, row in _rows(path, note):
        triple = (
            id_of(row["head"], entity, "entity", place),
            id_of(row["relation"], relation, "relation", place),
            id_of(row["tail"], entity, "entity", place),
        )
        counts = tuple(number for side in SIDES for number in _counts(row, side, place))
        foreign += triple not in test
        if triple in test:
            seen[triple] += 1
            if found.setdefault(triple, counts) != counts or seen[triple] > test[triple]:
                labels = ", ".join(str(row[name]) for name in TRIPLE)
                raise InputError(f"{place}: triple ({labels}) was given already; keep one row for each test triple")
    return found, foreign


def _rows(path: Path, note: Note) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows by column name, each with its place in words."""
    check_file(path)
    with path.open("rb") as stream:
        packed = stream.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC
    yield from _parquet_rows(path) if packed else _text_rows(path, note)


def _text_rows(path: Path, note: Note) -> Iterator[tuple[str, Mapping[str, Any]]]:
    lines = ((number, line) for number, line in enumerate(iter_lines(path, note), 1) if line.strip())
    header = next(lines, (0, ""))[1].split("\t")
    _columns(header, path)
    for number, line in lines:
        cells = line.split("\t")
        if len(cells) != len(header):
            raise InputError(f"{path}, line {number}: {len(cells)} cells, its header has {len(header)}; mend the row")
        yield f"{path}, line {number}", dict(zip(header, cells, strict=True))


def _parquet_rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    rows = _read_parquet(path, "SELECT * FROM read_parquet({})")
    header = next(rows)
    _columns(header, path)
    for number, cells in enumerate(rows, 1):
        yield f"{path}, row {number}", dict(zip(header, cells, strict=True))


def _read_parquet(path: Path, query: str) -> Iterator[Sequence[Any]]:
    """The names of the columns, then the rows, of a query in which `{}` stands for the file."""
    import duckdb

    plain = "".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(path))  # stand for themselves
    with open_database() as (connection, _):
        try:
            result = connection.execute(query.format(quote(plain)))
            yield [column[0] for column in result.description or ()]
            while rows := result.fetchmany(10_000):
                yield from rows
        except duckdb.Error as error:
            fault = str(error).splitlines()[0]
            raise InputError(f"{path}: is no Parquet file that can be read ({fault}); write it again") from error


def _columns(header: Sequence[str], path: Path) -> None:
    """Refuse a header without the columns that are needed, or with one of them twice."""
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InputError(f"{path}: has two columns {twice[0]!r}; keep one of them")
    lacking = [name for name in TRIPLE if name not in header]
    lacking += [f"{side}_better and {side}_equal" for side in SIDES if _pair(header, side) is None]
    if lacking:
        raise InputError(
            f"{path}: has no column {lacking[0]}; expected head, relation, tail, and for each side SIDE_better and "
            "SIDE_equal, or SIDE_optimistic and SIDE_pessimistic, in a first line with tabs"
        )


def _pair(names: Any, side: str) -> tuple[int, str, str] | None:
    for number, pair in enumerate(PAIRS):
        first, second = (name.format(side) for name in pair)
        if first in names and second in names:
            return number, first, second
    return None


def _counts(row: Mapping[str, Any], side: str, place: str) -> tuple[int, int]:
    """Candidates better than the answer and equal to it, from the two numbers of a side."""
    pair = _pair(row, side)
    assert pair is not None  # noqa: S101 - the header was looked at
    kind, *names = pair
    numbers = []
    for name in names:
        text = str(row[name])
        if not WHOLE.fullmatch(text):
            raise InputError(f"{place}: {name} is {text!r}, expected a whole number; mend it")
        numbers.append(int(text))
    first, second = numbers
    if kind == 0:
        return first, second
    if not 1 <= first <= second:
        raise InputError(
            f"{place}: {names[0]} is {first} and {names[1]} {second}; ranks are 1 or more and the former no larger"
        )
    return first - 1, second - first


def _refuse_too_many(
    path: Path, dataset: Dataset, triples: Triples, excess: Counts, filter_parts: Sequence[Part]
) -> None:
    """Refuse ranks that are worse than there are candidates, by as many as `excess` says, shape (n, 2)."""
    worse = np.argwhere(excess > 0)
    if worse.size:
        row, column = worse[0]
        triple = ", ".join(dataset.label(triples[row]))
        raise InputError(
            f"{path}: the {SIDES[column]} of triple ({triple}) is ranked worse than the candidates that the filter "
            f"({', '.join(filter_parts)}) leaves, by {excess[row, column]}; "
            "give ranks of this data set that are filtered so"
        )
