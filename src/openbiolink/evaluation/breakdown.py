"""Where a model is good: metrics of groups of queries, and the mean over relations.

A function gives every query one label; `group_metrics` does the rest. The groups of a breakdown hold every query once,
so their means, weighted by their sizes, are the mean over all queries (micro). `macro_metrics` gives every relation the
same weight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from openbiolink.errors import InputError
from openbiolink.evaluation.known import ANSWER_COLUMN, HEAD, RELATION, TAIL
from openbiolink.evaluation.result import COLUMNS, SIDES
from openbiolink.index import distinct_codes
from openbiolink.metrics.ranking import ranking_metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openbiolink.dataset import Dataset, Triples
    from openbiolink.evaluation.result import Evaluation, Metrics, Sides
    from openbiolink.metrics.ranking import Ties

Numbers = npt.NDArray[np.int64]

UNKNOWN = "unknown"
UNSEEN = "unseen"
MANY = 1.5  # of entities per query: from here on a side is a many side
CLASSES = ("1-1", "1-N", "N-1", "N-N", UNSEEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """A label for each query.

    Attributes:
        names: the labels, in the order in which they are shown.
        of: the number of the label of each query, shape (n, 2), columns head and tail.
    """

    names: tuple[str, ...]
    of: Numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The queries of one label: how many there are, and their metrics."""

    queries: int
    metrics: Metrics


def group_metrics(
    evaluation: Evaluation, labels: Labels, side: Sides = "both", *, ties: Ties | None = None
) -> dict[str, Group]:
    """The metrics of the queries of each label that has any, in the order of the labels.

    Args:
        evaluation: what was found.
        labels: of its queries.
        side: which queries.
        ties: the tie rule; that of the evaluation by default.

    Raises:
        InputError: the side or the tie rule does not exist.
    """
    ranks = evaluation.ranks(side, ties=ties)
    of = labels.of[:, COLUMNS[side]].ravel()
    order = np.argsort(of, kind="stable")
    bounds = np.searchsorted(of[order], np.arange(len(labels.names) + 1))
    groups = {}
    for number, name in enumerate(labels.names):
        own = ranks[order[bounds[number] : bounds[number + 1]]]
        if len(own):
            groups[name] = Group(queries=len(own), metrics=ranking_metrics(own))
    return groups


def macro_metrics(evaluation: Evaluation, side: Sides = "both", *, ties: Ties | None = None) -> Metrics:
    """The mean of each metric over all relations that have test triples, however many these are.

    Raises:
        InputError: as `group_metrics`.
    """
    groups = group_metrics(evaluation, by_relation(evaluation), side, ties=ties).values()
    names = next(iter(groups)).metrics
    return {name: math.fsum(group.metrics[name] for group in groups) / len(groups) for name in names}


def by_side(evaluation: Evaluation) -> Labels:
    """Whether the head or the tail is asked for."""
    return Labels(names=SIDES, of=np.broadcast_to(np.arange(2), evaluation.better.shape))


def by_relation(evaluation: Evaluation) -> Labels:
    """The relation, sorted by name."""
    names = evaluation.dataset.relations
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(names), np.int64)
    place[order] = np.arange(len(names))
    return Labels(names=tuple(names[number] for number in order), of=_twice(place[evaluation.triples[:, RELATION]]))


def by_node_type(evaluation: Evaluation, types: Sequence[str]) -> Labels:
    """The node type of the answer, sorted by name; where it has none it is `unknown`.

    Args:
        evaluation: what was found.
        types: of every entity, an empty text where there is none (see `openbiolink.evaluation.candidates.read_types`).

    Raises:
        InputError: there are not as many types as entities.
    """
    if len(types) != evaluation.dataset.num_entities:
        raise InputError(f"{len(types)} node types for {evaluation.dataset.num_entities} entities; give one for each")
    names = sorted({kind or UNKNOWN for kind in types})
    number = {name: place for place, name in enumerate(names)}
    of_entity = np.array([number[kind or UNKNOWN] for kind in types], np.int64)
    return Labels(names=tuple(names), of=of_entity[_answers(evaluation)])


def by_degree(evaluation: Evaluation) -> Labels:
    """The number of training triples that the answer takes part in, in steps of 0, 1, 2-3, 4-7 and so on.

    A triple counts once however often it is given, also where the answer is at both ends.

    Raises:
        InputError: the training triples are not at hand.
    """
    train = _training(evaluation)
    ends = np.concatenate([train[:, HEAD], train[train[:, HEAD] != train[:, TAIL], TAIL]])
    degree = np.bincount(ends, minlength=evaluation.dataset.num_entities)
    _, bucket = np.frexp(degree.astype(np.float64))  # 0 → 0, 1 → 1, 2 and 3 → 2, 4 to 7 → 3
    of = bucket.astype(np.int64)[_answers(evaluation)]
    highest = int(of.max(initial=0))
    names = ["0", "1", *(f"{1 << (power - 1)}-{(1 << power) - 1}" for power in range(2, highest + 1))]
    return Labels(names=tuple(names[: highest + 1]), of=of)


def by_relation_class(evaluation: Evaluation) -> Labels:
    """Whether the relation joins one head or many with one tail or many: 1-1, 1-N, N-1, N-N, or `unseen` in training.

    A side is a many side where a query has 1.5 or more answers there on average, each training triple counted once.
    Source: Bordes et al. 2013, "Translating Embeddings for Modeling Multi-relational Data", section 4.3.

    Raises:
        InputError: as `by_degree`.
    """
    dataset, train = evaluation.dataset, _training(evaluation)
    triples = np.bincount(train[:, RELATION], minlength=dataset.num_relations)
    many = [
        triples >= MANY * _different_ends(dataset, train, given) for given in (TAIL, HEAD)
    ]  # many heads for a tail, many tails for a head
    number = np.where(triples == 0, CLASSES.index(UNSEEN), 2 * many[0] + many[1])
    return Labels(names=CLASSES, of=_twice(number[evaluation.triples[:, RELATION]]))


def _different_ends(dataset: Dataset, train: Triples, column: int) -> Numbers:
    """How many different entities each relation has at one end."""
    codes = train[:, RELATION].astype(np.int64) * dataset.num_entities + train[:, column]
    return np.bincount(distinct_codes(codes) // dataset.num_entities, minlength=dataset.num_relations)


def _training(evaluation: Evaluation) -> Triples:
    """The different training triples."""
    dataset = evaluation.dataset
    if evaluation.described is not None:
        raise InputError("a breakdown by degree or class needs the training triples; give the data set with the ranks")
    codes, tail = np.divmod(distinct_codes(dataset.codes(dataset.train)), dataset.num_entities)
    head, relation = np.divmod(codes, max(dataset.num_relations, 1))
    return np.stack([head, relation, tail], axis=1).astype(np.int32)


def _answers(evaluation: Evaluation) -> Triples:
    return evaluation.triples[:, [ANSWER_COLUMN[side] for side in SIDES]]


def _twice(of_row: npt.NDArray[np.integer]) -> Numbers:
    """The same number for both sides."""
    return np.repeat(of_row.astype(np.int64)[:, np.newaxis], len(SIDES), axis=1)
