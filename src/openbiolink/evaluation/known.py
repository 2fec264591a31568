"""Known answers: for every question with one end and a relation given, the entities that the graph has there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from openbiolink.dataset import PARTS, Codes, Dataset, Part
from openbiolink.index import HEAD, RELATION, TAIL, KnownAnswers, Side, all_codes, known_answers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "ANSWER_COLUMN",
    "HEAD",
    "RELATION",
    "TAIL",
    "KnownAnswers",
    "Side",
    "count_ranked",
    "find_known",
    "query_codes",
]

Counts = npt.NDArray[np.int64]

ANSWER_COLUMN: Mapping[Side, int] = {"head": HEAD, "tail": TAIL}


def query_codes(dataset: Dataset, triples: npt.NDArray[np.integer], side: Side) -> Codes:
    """One number per triple, equal where the query of that side is the same."""
    given = triples[:, TAIL if side == "head" else HEAD].astype(np.int64)
    return given * dataset.num_relations + triples[:, RELATION]


def find_known(dataset: Dataset, side: Side, filter_parts: Sequence[Part]) -> KnownAnswers:
    """The known answers of all questions of one side that the parts given ask."""
    index, sizes = dataset.index, (dataset.num_entities, dataset.num_relations)
    if index and set(filter_parts) == set(PARTS) and index.is_of(map(dataset.part, PARTS), *sizes):
        return index.known[side]
    return known_answers(all_codes(map(dataset.part, filter_parts), side, *sizes), dataset.num_entities)


def count_ranked(dataset: Dataset, triples: npt.NDArray[np.integer], known: Mapping[Side, KnownAnswers]) -> Counts:
    """How many candidates each query has where all entities are candidates, the answer among them.

    Args:
        dataset: all of its entities are candidates, save the other known answers.
        triples: whose ends are asked for, shape (n, 3).
        known: of each side.

    Returns:
        Shape (n, 2), columns head and tail.
    """
    columns = []
    for side in ANSWER_COLUMN:
        begin, end = known[side].spans(query_codes(dataset, triples, side))
        is_known = holds_answer(known[side], begin, end, triples[:, ANSWER_COLUMN[side]])
        columns.append(dataset.num_entities - (end - begin) + is_known)
    return np.stack(columns, axis=1)


def holds_answer(
    known: KnownAnswers, begin: Counts, end: Counts, answers: npt.NDArray[np.integer]
) -> npt.NDArray[np.bool_]:
    """For each span of known answers whether the answer of the same row is in it: all rows are bisected together."""
    low, high = begin.copy(), end.copy()
    while (open_rows := low < high).any():
        middle = (low + high) // 2
        below = np.zeros(len(low), np.bool_)
        below[open_rows] = known.answers[middle[open_rows]] < answers[open_rows]
        low = np.where(open_rows & below, middle + 1, low)
        high = np.where(open_rows & ~below, middle, high)
    found = low < end
    found[found] = known.answers[low[found]] == answers[found]
    return found
