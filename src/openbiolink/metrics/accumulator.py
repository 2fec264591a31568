"""Ranks that come piece by piece: an accumulator that can be merged, and sums over chunks and processes.

What is kept is how often each different rank occurred, for each group. So memory grows with the number of different
ranks and not with the number of ranks, and every number is the same to the last digit however the ranks were cut into
pieces, in whatever order the pieces came, and whoever counted them.

>>> ranks = RankingEvaluator()
>>> ranks.add_batch([1, 3, 5])
>>> ranks.add_batch([2, 4, 6])
>>> ranks.result()["mrr"]
0.4083333333333334
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import numpy.typing as npt

from openbiolink.errors import InputError
from openbiolink.metrics.ranking import KS, Tally, check_ks, check_ranks, count_ranks, summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from openbiolink.metrics.ranking import Counts, Ranks

    Labels = tuple[str, ...]
    Piece = tuple[Ranks, Counts]

FORMAT = "openbiolink-ranks-state/1"
KEYS = ("count", "not_found", "mrr", "mean_rank", "median_rank", "groups", "macro")
LARGEST = 1 << 62  # a count
CHUNK = 10_000  # ranks that are looked at together
WAITING = 1 << 16  # ranks that were given one by one and are not counted yet


class RankingEvaluator:
    """Counts ranks and gives their metrics.

    Args:
        ks: the k of hits@k.
        by: names of what ranks may be grouped by, such as `("relation", "side")`. Every rank then has a label for each.

    Raises:
        InputError: a k is no whole number of at least 1, or a name comes twice.

    >>> evaluator = RankingEvaluator(ks=(1,), by=["side"])
    >>> evaluator.add(1, side="head")
    >>> evaluator.add_batch([2, 4], side="tail")
    >>> [(group["side"], group["mrr"]) for group in evaluator.result()["groups"]]
    [('head', 1.0), ('tail', 0.375)]
    """

    def __init__(self, ks: Sequence[int] = KS, *, by: Sequence[str] = ()) -> None:
        """Start without ranks."""
        self.ks = check_ks(ks)
        self.by = (by,) if isinstance(by, str) else tuple(by)
        if len({*self.by}) < len(self.by):
            raise InputError(f"by={by!r} names the same grouping twice; give each once")
        if taken := [name for name in self.by if name in KEYS or name.startswith("hits@")]:
            raise InputError(f"by={taken[0]!r} is the name of a number of the result; call the grouping otherwise")
        self._counted: dict[Labels, Piece] = {}
        self._waiting: dict[Labels, list[float]] = {}
        self._number_waiting = 0

    def add(self, rank: float, **labels: str) -> None:
        """Count one rank.

        Args:
            rank: 1 or more; infinity for an answer that was not found.
            labels: one for each name of `by`.

        Raises:
            InputError: it is no rank, or the labels are not those of `by`. Nothing is counted then.
        """
        check_ranks([rank])
        self._waiting.setdefault(self._labels(labels), []).append(rank)
        self._number_waiting += 1
        if self._number_waiting >= WAITING:
            self._count_waiting()

    def add_batch(self, ranks: Iterable[float], **labels: str | Iterable[str]) -> None:
        """Count many ranks; none is fine.

        Args:
            ranks: as in `ranking_metrics`.
            labels: for each name of `by` one label for all, or as many labels as ranks.

        Raises:
            InputError: as `add`; nothing of the batch is counted then.
        """
        array = check_ranks(ranks)
        if all(isinstance(label, str) for label in labels.values()):
            of = self._labels(labels)
            if array.size:
                self.count(of, count_ranks(array))
            return
        groups = self._groups(array.size, labels)
        for of, rows in groups.items():
            self.count(of, count_ranks(array[rows]))

    def count(self, labels: Labels, piece: Piece) -> None:
        """Add different ranks, in ascending order, and how often each occurred, to the group of these labels."""
        if not len(piece[0]):
            return
        there = self._counted.get(labels)
        self._counted[labels] = piece if there is None else _joined([there, piece])

    def merge(self, other: RankingEvaluator) -> Self:
        """Add what another one has counted, which stays as it is; gives this one back.

        Raises:
            InputError: the other one has other ks or is grouped otherwise.
        """
        if not isinstance(other, RankingEvaluator):
            raise InputError(f"{other!r} has counted no ranks; give a RankingEvaluator, or from_state(…)")
        if (self.ks, self.by) != (other.ks, other.by):
            raise InputError(
                f"ks={other.ks}, by={other.by} cannot be merged into ks={self.ks}, by={self.by}; give both the same"
            )
        for labels, piece in other._pieces().items():
            self.count(labels, piece)
        return self

    def reset(self) -> None:
        """Forget all ranks."""
        self._counted.clear()
        self._waiting.clear()
        self._number_waiting = 0

    def state(self) -> dict[str, Any]:
        """What was counted, as plain Python that JSON can hold: for another process, or a file."""
        groups = [
            {
                "labels": list(labels),
                "ranks": ranks[np.isfinite(ranks)].tolist(),
                "counts": counts[np.isfinite(ranks)].tolist(),
                "not_found": int(counts[~np.isfinite(ranks)].sum()),
            }
            for labels, (ranks, counts) in sorted(self._pieces().items())
        ]
        return {"format": FORMAT, "ks": list(self.ks), "by": list(self.by), "groups": groups}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> RankingEvaluator:
        """One that has counted what `state` says.

        Raises:
            InputError: it is no such state, or something in it cannot be.
        """
        try:
            if state["format"] != FORMAT:
                raise InputError(f"a state of format {state['format']!r}; expected {FORMAT!r}, from `state()`")
            made = cls(state["ks"], by=state["by"])
            for group in state["groups"]:
                made.count(*_checked_group(group, len(made.by)))
        except (KeyError, TypeError, AttributeError, OverflowError) as error:
            raise InputError(f"a state of ranks is damaged ({error!r}); make it with `state()`") from error
        return made

    @property
    def num_ranks(self) -> int:
        """How many ranks were counted."""
        return sum(int(counts.sum()) for _, counts in self._counted.values()) + self._number_waiting

    def tally(self) -> Tally:
        """All ranks, whatever their group.

        Raises:
            InputError: there are none.
        """
        pieces = self._pieces().values()
        if not pieces:
            raise InputError("there are no ranks; a metric of nothing is not defined")
        ranks, counts = _joined(list(pieces))
        return Tally(ranks=ranks, counts=counts)

    def result(self) -> dict[str, Any]:
        """The metrics of all ranks as `summary` gives them.

        With `by` there are also `groups`, a list of the metrics of each group with its labels, sorted by these, and
        `macro`, the mean over groups of `mrr` and every `hits@k`.

        Raises:
            InputError: there are no ranks.
        """
        found = summary(self.tally(), self.ks)
        if not self.by:
            return found
        groups: list[dict[str, Any]] = [
            dict(zip(self.by, labels, strict=True)) | summary(Tally(ranks=ranks, counts=counts), self.ks)
            for labels, (ranks, counts) in sorted(self._pieces().items())
        ]
        means = ("mrr", *(f"hits@{k}" for k in self.ks))
        macro = {name: math.fsum(group[name] for group in groups) / len(groups) for name in means}
        return found | {"groups": groups, "macro": macro}

    def _labels(self, labels: Mapping[str, Any]) -> Labels:
        if {*labels} != {*self.by}:
            given, expected = (", ".join(names) or "nothing" for names in (labels, self.by))
            raise InputError(f"labels for {given}; expected one for each of: {expected}")
        return tuple(_label(labels[name]) for name in self.by)

    def _groups(self, size: int, labels: Mapping[str, str | Iterable[str]]) -> dict[Labels, npt.NDArray[np.int64]]:
        """The rows of each group of a batch."""
        columns = {name: [of] * size if isinstance(of, str) else list(of) for name, of in labels.items()}
        for name, column in columns.items():
            if len(column) != size:
                raise InputError(f"{len(column)} labels of {name} for {size} ranks; give one for each")
        rows: dict[Labels, list[int]] = {}
        self._labels(dict.fromkeys(columns, ""))
        for row, of in enumerate(zip(*(columns[name] for name in self.by), strict=True)):
            rows.setdefault(tuple(map(_label, of)), []).append(row)
        return {of: np.array(found) for of, found in rows.items()}

    def _count_waiting(self) -> None:
        waiting, self._waiting, self._number_waiting = self._waiting, {}, 0
        for labels, ranks in waiting.items():
            self.count(labels, count_ranks(np.asarray(ranks)))

    def _pieces(self) -> dict[Labels, Piece]:
        self._count_waiting()
        return self._counted


def metrics_from_chunks(
    ranks: Iterable[float | Iterable[float]], chunk_size: int = CHUNK, ks: Sequence[int] = KS
) -> dict[str, Any]:
    """Metrics of ranks that need not be in memory together; equal to those of all of them, to the last digit.

    Args:
        ranks: one number after another, or one list or array of them after another; an empty one adds nothing.
        chunk_size: how many single numbers are counted at a time; it changes memory and time only.
        ks: the k of hits@k.

    Returns:
        What `summary` gives.

    Raises:
        InputError: there are no ranks at all, one is no rank, or the size is below 1.

    >>> metrics_from_chunks([[1], [10] * 9])["mrr"]
    0.19
    """
    evaluator = RankingEvaluator(ks)
    for number, chunk in enumerate(chunks_of(ranks, chunk_size), 1):
        try:
            evaluator.add_batch(chunk)
        except InputError as error:
            raise InputError(f"chunk {number}: {error}") from error
    return evaluator.result()


def chunks_of(ranks: Iterable[Any], chunk_size: int = CHUNK) -> Iterator[Iterable[float]]:
    """Lists of single numbers, at most so many in each; lists and arrays among them stay what they are.

    Raises:
        InputError: the size is no whole number of at least 1.
    """
    if isinstance(chunk_size, bool) or not isinstance(chunk_size, int) or chunk_size < 1:
        raise InputError(f"chunk_size={chunk_size!r}; expected a whole number of at least 1")
    remaining = iter(ranks)
    for first in remaining:
        if isinstance(first, (str, bytes)):
            raise InputError(f"{first!r} is no rank and no list of ranks; give numbers")
        if _is_list(first):
            yield first
            continue
        chunk = [first]
        for one in islice(remaining, chunk_size - 1):
            if _is_list(one):
                yield chunk
                chunk = []
                yield from chunks_of([one])
                break
            chunk.append(one)
        if chunk:
            yield chunk


def _is_list(one: Any) -> bool:
    """Whether it is a list or an array, and not a number: an array without dimensions is one."""
    return hasattr(one, "__iter__") and getattr(one, "ndim", None) != 0


def metrics_parallel(
    ranks: Iterable[float] | Path | str | Sequence[Path | str], workers: int = 4, ks: Sequence[int] = KS
) -> dict[str, Any]:
    """Metrics of ranks that several workers count; equal to those of one, to the last digit.

    An array is counted by threads, of which more than one is rarely worth it: a million ranks take milliseconds. Files
    are counted by processes, see `openbiolink.metrics.read_ranks`.

    Args:
        ranks: as in `ranking_metrics`; or a file, or several.
        workers: how many threads or processes.
        ks: the k of hits@k.

    Returns:
        What `summary` gives.

    Raises:
        InputError: as `ranking_metrics` or `read_ranks`, or there is not at least one worker.
    """
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InputError(f"workers={workers!r}; expected a whole number of at least 1")
    if isinstance(ranks, (str, Path)) or (
        isinstance(ranks, Sequence) and ranks and all(isinstance(one, (str, Path)) for one in ranks)
    ):
        from openbiolink.metrics.rank_files import read_ranks

        return read_ranks(cast("Sequence[str]", ranks), ks, workers=workers).result()
    array = check_ranks(cast("Iterable[float]", ranks))
    evaluator = RankingEvaluator(ks)
    with ThreadPoolExecutor(workers) as pool:
        for piece in pool.map(count_ranks, np.array_split(array, workers)):
            evaluator.count((), piece)
    return evaluator.result()


def _joined(pieces: Sequence[Piece]) -> Piece:
    """The sum of counts; ranks stay in ascending order."""
    ranks = np.concatenate([piece[0] for piece in pieces])
    values, of = np.unique(ranks, return_inverse=True)
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, of, np.fromiter(chain.from_iterable(piece[1] for piece in pieces), np.int64, len(ranks)))
    return values, counts


def _checked_group(group: Mapping[str, Any], width: int) -> tuple[Labels, Piece]:
    """A group of a state.

    Raises:
        InputError: something in it cannot be.
    """
    labels = tuple(_label(one) for one in group["labels"])
    ranks, missing = check_ranks(group["ranks"]).astype(np.float64), group["not_found"]
    numbers = [missing, *group["counts"]]
    if any(isinstance(one, bool) or not isinstance(one, int) for one in numbers) or len(labels) != width:
        raise InputError(f"group {labels} of a state: counts are whole numbers, and labels {width}; make it anew")
    if missing < 0 or min(numbers[1:], default=1) < 1 or sum(numbers) > LARGEST:
        raise InputError(f"group {labels} of a state: a count is below 1, or all are above {LARGEST}; make it anew")
    counts = np.array(numbers[1:], np.int64)
    if ranks.shape != counts.shape or (np.diff(ranks) <= 0).any() or not np.isfinite(ranks).all():
        raise InputError(f"group {labels} of a state: finite ranks must ascend, each with a count; make it anew")
    if missing:
        ranks, counts = np.append(ranks, np.inf), np.append(counts, missing)
    return labels, (ranks, counts)


def _label(label: object) -> str:
    if not isinstance(label, str):
        raise InputError(f"{label!r} is no label of a group; expected text")
    return str(label)
