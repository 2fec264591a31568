"""Known answers: for every question with one end and a relation given, the entities that the graph has there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from openbiolink.dataset import Codes, Dataset, Part, Triples, distinct_codes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from openbiolink.evaluation.result import Side

Counts = npt.NDArray[np.int64]

HEAD, RELATION, TAIL = 0, 1, 2
ANSWER_COLUMN: Mapping[Side, int] = {"head": HEAD, "tail": TAIL}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswers:
    """The known answers of every query of one side, each once, in ascending order.

    Attributes:
        codes: one number per query, ascending, shape (q,).
        offsets: shape (q + 1,); query i owns `answers[offsets[i]:offsets[i + 1]]`.
        answers: entity ids.
    """

    codes: Codes
    offsets: Counts
    answers: Triples

    def spans(self, codes: Codes) -> tuple[Counts, Counts]:
        """Where the answers of the queries begin and end; an unknown query has an empty span."""
        if not len(self.codes):
            return np.zeros(len(codes), np.int64), np.zeros(len(codes), np.int64)
        place = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        begin = self.offsets[place]
        return begin, np.where(self.codes[place] == codes, self.offsets[place + 1], begin)


def query_codes(dataset: Dataset, triples: npt.NDArray[np.integer], side: Side) -> Codes:
    """One number per triple, equal where the query of that side is the same."""
    given = triples[:, TAIL if side == "head" else HEAD].astype(np.int64)
    return given * dataset.num_relations + triples[:, RELATION]


def find_known(
    dataset: Dataset, triples: npt.NDArray[np.integer], side: Side, filter_parts: Sequence[Part]
) -> KnownAnswers:
    """The known answers of the queries that these triples ask, looked up in the parts given."""
    queries = distinct_codes(query_codes(dataset, triples, side))
    found = [dataset.codes(triples[:0])]  # empty; refuses graphs too large for what follows
    for part in filter_parts:
        codes = query_codes(dataset, dataset.part(part), side)
        place = np.minimum(np.searchsorted(queries, codes), len(queries) - 1)
        asked = np.flatnonzero(queries[place] == codes) if len(queries) else np.empty(0, np.int64)
        answers = dataset.part(part)[asked, ANSWER_COLUMN[side]]
        found.append(place[asked] * dataset.num_entities + answers)
    pairs = distinct_codes(np.concatenate(found))
    owner, answer = np.divmod(pairs, dataset.num_entities)
    offsets = np.searchsorted(owner, np.arange(len(queries) + 1))
    return KnownAnswers(codes=queries, offsets=offsets, answers=answer.astype(np.int32))
