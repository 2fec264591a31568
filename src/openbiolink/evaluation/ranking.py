"""Exact filtered ranks: every test triple, both sides, against all entities.

For a test triple (h, r, t) the tail query (h, r, ?) has the answer t, and every other entity is a
candidate, save those that the graph is known to join: they are right too and are left out. The head
query (?, r, t) likewise. Two whole numbers per query, how many candidates score better and how many
the same, give every tie rule and every metric.

The kernel runs through each row of scores once, in one thread: 100 rows of 200,000 float32 scores take
3 ms, which is what reading them from memory takes, and two threads take no less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numba
import numpy as np
import numpy.typing as npt

from openbiolink.dataset import PARTS, Dataset, Part, Triples, unseen_rows
from openbiolink.errors import InputError, ScoreError
from openbiolink.evaluation.candidates import ALL, Candidates, count_candidates_of
from openbiolink.evaluation.fused import WHOLE, Backend, Shard, count_vectors
from openbiolink.evaluation.known import ANSWER_COLUMN, RELATION, KnownAnswers, find_known, query_codes
from openbiolink.evaluation.result import ALL_ENTITIES, SIDES, Evaluation, Sample
from openbiolink.evaluation.sampling import sample_rows
from openbiolink.evaluation.scorers import (
    ScoreFunction,
    Scorer,
    SideScores,
    score_function,
    score_sides,
    scorer_name,
)
from openbiolink.evaluation.vectors import VectorModel
from openbiolink.metrics.ranking import Ties, check_ties
from openbiolink.progress import silent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from openbiolink.index import Side
    from openbiolink.progress import Progress

UnseenRule = Literal["refuse", "drop", "keep"]
Counts = npt.NDArray[np.int64]

ABOVE, BELOW, LEVEL, NOT_FINITE = 0, 1, 2, 3


def evaluate(
    scorer: Scorer | ScoreFunction | VectorModel,
    dataset: Dataset,
    *,
    batch_size: int = 100,
    ties: Ties = "realistic",
    filter_parts: Sequence[Part] = PARTS,
    higher_is_better: bool = True,
    unseen: UnseenRule = "refuse",
    candidates: Candidates | None = None,
    sample: int | None = None,
    seed: int = 0,
    backend: Backend | None = None,
    threads: int | None = None,
    shard: Shard = WHOLE,
    model_name: str | None = None,
    progress: Progress = silent,
) -> Evaluation:
    """Rank the right answers of all test triples, on both sides, among all entities.

    Memory stays near what the scorer returns for one batch: 2 * batch_size * num_entities scores.

    Args:
        scorer: a function of a batch or an object with `score_batch` (see `openbiolink.evaluation.scorers`), or a model
            given as vectors (see `openbiolink.evaluation.vectors`), which is faster by far and exact by definition.
        dataset: the triples and all candidates.
        batch_size: test triples per call of the scorer; of no use for a model given as vectors.
        ties: the rule that the result shows first; it holds all three.
        filter_parts: the parts whose triples count as known; none gives raw ranks.
        higher_is_better: False for distances.
        unseen: what to do about test triples with an entity or relation that training lacks: `refuse` them
            with an error, `drop` them and say so in the result, or `keep` them like all others.
        candidates: what answers compete with (see `openbiolink.evaluation.candidates`); all entities by default.
        sample: how many test triples to rank, drawn from those that would be (see `openbiolink.evaluation.sampling`);
            all by default.
        seed: of the draw.
        backend: for models given as vectors; by default the processor (see `openbiolink.evaluation.device`).
        threads: for models given as vectors; as many as there are processors by default.
        shard: what this process does (see `openbiolink.evaluation.distributed`); all of it by default.
        model_name: the name in the result; by default that of the scorer.
        progress: told how many test triples are done.

    Raises:
        InputError: there are no test triples, some are unseen and refused, or an option is wrong.
        ScoreError: scores have a wrong shape or type, or one that must be ranked is NaN or infinite. At a triple of the
            data set NaN and infinity say that it is left out, whatever `filter_parts` has.

    >>> from openbiolink.dataset import from_labelled
    >>> graph = from_labelled(train=[("a", "r", "b"), ("b", "r", "c")], valid=[], test=[("a", "r", "c")])
    >>> result = evaluate(lambda batch: ([[3, 2, 1]] * len(batch), [[1, 2, 3]] * len(batch)), graph)
    >>> result.metrics()["mrr"]
    1.0
    """
    if batch_size < 1:
        raise InputError(f"batch_size={batch_size} is too small; give 1 or more triples per batch")
    protocol = check_protocol(dataset, ties=ties, filter_parts=filter_parts, unseen=unseen)
    triples, drawn = protocol.triples, None
    if sample is not None:
        drawn = Sample(population=len(triples), seed=seed)
        triples = triples[sample_rows(triples, sample, seed)]
    known = {side: find_known(dataset, side, filter_parts) for side in SIDES}
    if isinstance(scorer, VectorModel):
        if not higher_is_better:
            raise InputError(f"{scorer.name} is a model given as vectors, whose better scores are higher ones")
        better, equal = count_vectors(
            scorer,
            dataset,
            triples,
            known,
            candidates=candidates,
            backend=backend,
            threads=threads,
            shard=shard,
            progress=progress,
        )
        ranked = count_candidates_of(dataset, triples, known, candidates)
    else:
        better, equal, ranked = (np.zeros((len(triples), 2), np.int64) for _ in range(3))
        for rows, counts in _count_batches(scorer, dataset, triples, known, candidates, batch_size, shard, progress):
            better[rows] = counts[:, :, ABOVE if higher_is_better else BELOW]
            equal[rows] = counts[:, :, LEVEL]
            ranked[rows] = 1 + counts[:, :, [ABOVE, BELOW, LEVEL]].sum(axis=2)
        ranked = shard.total(ranked)
    return Evaluation(
        model=model_name or (scorer.name if isinstance(scorer, VectorModel) else scorer_name(scorer)),
        dataset=dataset,
        triples=triples,
        better=shard.total(better),
        equal=shard.total(equal),
        candidates=ranked,
        ties=ties,
        filter_parts=tuple(filter_parts),
        higher_is_better=higher_is_better,
        left_out=protocol.left_out,
        notes=protocol.notes,
        candidate_set=ALL_ENTITIES if candidates is None else candidates.describe(),
        sample=drawn,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """The test triples to rank, how many are left out, and what to say about that."""

    triples: Triples
    left_out: int
    notes: tuple[str, ...]


def check_protocol(dataset: Dataset, *, ties: str, filter_parts: Sequence[str], unseen: str) -> Protocol:
    """Check the options that all ways of evaluating share, and choose the test triples to rank.

    Raises:
        InputError: an option has a value that does not exist, there are no test triples, some are unseen
            and refused, or dropping them leaves none.
    """
    check_ties(ties)
    strange = [part for part in filter_parts if part not in PARTS]
    if strange or isinstance(filter_parts, str):
        raise InputError(f"filter_parts={filter_parts!r} has no such part; choose among {', '.join(PARTS)}")
    if unseen not in get_args(UnseenRule):
        raise InputError(f"unseen={unseen!r} is no rule; choose one of {', '.join(get_args(UnseenRule))}")
    total = len(dataset.test)
    if not total:
        raise InputError("no test triples: the test part is empty, so there is nothing to evaluate")
    by_entity, by_relation = unseen_rows(dataset, "test")
    lacking = by_entity | by_relation
    count = int(lacking.sum())
    if count and unseen == "refuse":
        raise InputError(
            f"{count} of {total} test triples are unseen in training ({int(by_entity.sum())} by an entity, "
            f"{int(by_relation.sum())} by a relation); leave them out with unseen='drop' "
            "(--unseen drop) or rank them with unseen='keep' (--unseen keep)"
        )
    if not count or unseen == "keep":
        return Protocol(triples=dataset.test, left_out=0, notes=())
    if count == total:
        raise InputError(f"{count} of {total} test triples left out, none to evaluate; say unseen='keep'")
    note = f"{count} of {total} test triples left out: training lacks their entity or relation"
    return Protocol(triples=dataset.test[~lacking], left_out=count, notes=(note,))


def _count_batches(  # noqa: PLR0917 - all of `evaluate`
    scorer: Scorer | ScoreFunction,
    dataset: Dataset,
    triples: Triples,
    known: Mapping[Side, KnownAnswers],
    candidates: Candidates | None,
    batch_size: int,
    shard: Shard,
    progress: Progress,
) -> Iterator[tuple[slice, Counts]]:
    score, total = score_function(scorer), len(triples)
    graph: dict[Side, KnownAnswers] = {}  # of all parts, looked up where a model leaves some answers out itself
    masks = np.zeros((len(candidates.sets) if candidates else 0, dataset.num_entities), np.bool_)
    for mask, ids in zip(masks, candidates.sets if candidates else (), strict=True):
        mask[ids] = True
    every = np.full(dataset.num_relations, ALL, np.int64)
    progress("rank", 0, total)
    for start in range(shard.number * batch_size, total, shard.of * batch_size):
        rows = slice(start, min(start + batch_size, total))
        batch = triples[rows]
        sides = score_sides(score, batch.astype(np.int64), dataset.num_entities)
        counts = np.stack(
            [
                _count_side(one, dataset, batch, side, known[side], masks, candidates.of[side] if candidates else every)
                for one, side in zip(sides, SIDES, strict=True)
            ],
            axis=1,
        )
        if counts[:, :, NOT_FINITE].any():
            graph = graph or {side: find_known(dataset, side, PARTS) for side in SIDES}
            for column, (one, side) in enumerate(zip(sides, SIDES, strict=True)):
                set_of = candidates.of[side] if candidates else every
                _leave_out(one, dataset, batch, side, known[side], graph[side], masks, set_of, counts[:, column])
            _refuse_not_finite(counts[:, :, NOT_FINITE], dataset, batch)
        yield rows, counts
        progress("rank", rows.stop, total)


def _count_side(  # noqa: PLR0917
    scores: SideScores,
    dataset: Dataset,
    triples: Triples,
    side: Side,
    known: KnownAnswers,
    masks: npt.NDArray[np.bool_],
    set_of: Counts,
) -> Counts:
    """Numbers of candidates by row and by where they score: shape (b, 4), see `_count_candidates`."""
    begin, end = known.spans(query_codes(dataset, triples, side))
    counts = np.empty((len(triples), 4), np.int64)
    answers = triples[:, ANSWER_COLUMN[side]].copy()
    sets = set_of[triples[:, RELATION]]
    count_candidates(scores.candidates, scores.answers, answers, known.answers, begin, end, masks, sets, counts)
    return counts


def _leave_out(  # noqa: PLR0917 - all of `_count_batches`
    scores: SideScores,
    dataset: Dataset,
    triples: Triples,
    side: Side,
    known: KnownAnswers,
    graph: KnownAnswers,
    masks: npt.NDArray[np.bool_],
    set_of: Counts,
    counts: Counts,
) -> None:
    """Take out of the counts what the model left out: triples of the graph whose score is no finite number."""
    codes = query_codes(dataset, triples, side)
    answers = triples[:, ANSWER_COLUMN[side]]
    for row in np.flatnonzero(counts[:, NOT_FINITE]).tolist():
        begin, end = graph.spans(codes[row : row + 1])
        others = graph.answers[begin[0] : end[0]]
        begin, end = known.spans(codes[row : row + 1])
        others = np.setdiff1d(others, known.answers[begin[0] : end[0]], assume_unique=True)
        others = others[others != answers[row]]
        if (chosen := set_of[triples[row, RELATION]]) != ALL:
            others = others[masks[chosen, others]]
        found = scores.candidates[row, others]
        found, level = found[~np.isfinite(found)], scores.answers[row]
        above, same = np.count_nonzero(found > level), np.count_nonzero(found == level)
        counts[row] -= (above, len(found) - above - same, same, len(found))


def _refuse_not_finite(missing: Counts, dataset: Dataset, triples: Triples) -> None:
    rows = np.flatnonzero(missing.any(axis=1))
    if rows.size:
        first = rows[0]
        sides = " and ".join(side for side, count in zip(SIDES, missing[first], strict=True) if count)
        triple = ", ".join(dataset.label(triples[first]))
        raise ScoreError(
            f"NaN or infinity among the {sides} scores of test triple ({triple}), which cannot be ranked; "
            "mend the model so that every score is a finite number"
        )


def _count_candidates(  # noqa: PLR0917 - a compiled function takes no keywords
    scores: Any, answer_scores: Any, answers: Any, known: Any, begin: Any, end: Any, masks: Any, sets: Any, counts: Any
) -> None:
    """Fill `counts` (b, 4): candidates ABOVE, BELOW and LEVEL with the answer, and those that are NOT_FINITE.

    `scores` is (b, num_entities); `known[begin[i]:end[i]]` are the known answers of row i, each once. They and the
    answer's own column are no candidates, nor what `masks[sets[i]]` leaves out, where `sets[i]` is none (-1). An answer
    that is not finite counts as one candidate more that is not; BELOW has every candidate that is neither above nor
    level, also NaN.
    """
    for i in range(scores.shape[0]):
        row, answer, level, chosen = scores[i], answers[i], answer_scores[i], sets[i]
        above, same, finite, candidates = 0, 0, 0, 0
        if chosen < 0:
            for j in range(row.shape[0]):
                above += row[j] > level
                same += row[j] == level
                finite += row[j] - row[j] == 0
            candidates = row.shape[0]
        else:
            mask = masks[chosen]
            for j in range(row.shape[0]):
                above += mask[j] & (row[j] > level)
                same += mask[j] & (row[j] == level)
                finite += mask[j] & (row[j] - row[j] == 0)
                candidates += mask[j]
        answer_is_known = False
        for k in range(begin[i], end[i] + 1):
            entity = known[k] if k < end[i] else answer  # the answer last, unless it was among the known ones
            if k == end[i] and answer_is_known:
                continue
            answer_is_known |= entity == answer
            if chosen < 0 or masks[chosen, entity]:
                above -= row[entity] > level
                same -= row[entity] == level
                finite -= row[entity] - row[entity] == 0
                candidates -= 1
        counts[i, ABOVE] = above
        counts[i, BELOW] = candidates - above - same
        counts[i, LEVEL] = same
        counts[i, NOT_FINITE] = candidates - finite + (level - level != 0)


count_candidates = numba.njit(nogil=True)(_count_candidates)
