"""Two trivial models, so that every benchmark has its floor.

Neither looks at the entity that a query gives, so what beats them only slightly has learnt little more
than which entities are common.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from openbiolink.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openbiolink.dataset import Dataset, Triples
    from openbiolink.evaluation.scorers import Batch

Counts = npt.NDArray[np.float32]

CountScores = Callable[[Any], tuple[Counts, Counts]]

EXACT = 2**24  # float32 holds every whole number up to here


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A scorer whose scores are counts over the training triples."""

    name: str
    score_batch: CountScores


def baseline(name: str, dataset: Dataset) -> Baseline:
    """A trivial scorer made from the training triples, each counted once however often it is given.

    `degree` scores a candidate by the number of training triples it takes part in, on whichever side.
    `frequency` scores it by how often it is the tail (for head queries: the head) of the query's relation.

    Raises:
        InputError: there is no baseline of that name.
    """
    if name not in BASELINES:
        raise InputError(f"baseline {name!r} does not exist; choose one of {', '.join(BASELINES)}")
    _, first = np.unique(dataset.codes(dataset.train), return_index=True)
    return Baseline(name=name, score_batch=BASELINES[name](dataset, dataset.train[first]))


def _degree(dataset: Dataset, train: Triples) -> CountScores:
    ends = np.concatenate([train[:, 0], train[train[:, 0] != train[:, 2], 2]])
    degree = _count(ends, dataset.num_entities)

    @lru_cache(maxsize=2)  # a full batch and the last one: filling them takes longer than ranking them
    def rows(number: int) -> Counts:
        return np.tile(degree, (number, 1))

    return lambda batch: (rows(len(batch)), rows(len(batch)))


def _frequency(dataset: Dataset, train: Triples) -> CountScores:
    order = np.argsort(train[:, 1], kind="stable")
    by_relation = train[order]
    bounds = np.searchsorted(by_relation[:, 1], np.arange(dataset.num_relations + 1))

    @lru_cache(maxsize=64)
    def frequency(column: int, relation: int) -> Counts:
        triples = by_relation[bounds[relation] : bounds[relation + 1]]
        return _count(triples[:, column], dataset.num_entities)

    def rows(column: int, batch: Batch) -> Counts:
        return np.stack([frequency(column, relation) for relation in batch[:, 1].tolist()])

    return lambda batch: (rows(0, batch), rows(2, batch))


def _count(entities: npt.NDArray[np.int32], num_entities: int) -> Counts:
    counts = np.bincount(entities, minlength=num_entities)
    return counts.astype(np.float32 if counts.max(initial=0) < EXACT else np.float64)


BASELINES: Mapping[str, Callable[[Dataset, Triples], CountScores]] = MappingProxyType(
    {"degree": _degree, "frequency": _frequency}
)
