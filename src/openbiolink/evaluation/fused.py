"""Counts of better and equal candidates for models given as vectors: exact, at the speed of matrix products.

What a score is, `openbiolink.evaluation.exact` defines; it depends on query and candidate alone.

**How it is found.** Every different question is scored once, a block of questions against a block of candidates, by a
float32 product (or, where there is none, a float32 loop). Its error is at most `epsilon`, by

    |approximate - exact| <= (d + 8) * 2^-24 * 1.01 * |q| * |e|  +  d * 2^-125 * (1 + |q| + |e|)      (dot)

for any order of the additions, with or without fused products (Higham 2002, "Accuracy and Stability of Numerical
Algorithms", section 3.1, with one rounding more for q), |e| being the longest vector of the block; likewise for the
other forms, see `band_of`. A candidate further than that from the answer's score is decided; the others, about one in
a thousand, are worked out exactly. Known answers are taken out by their own exact scores.

Memory: one block of scores for each thread (2 MB), whatever the sizes.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from openbiolink.errors import InputError
from openbiolink.evaluation.exact import SCORES, score_answers, weights_of
from openbiolink.evaluation.known import ANSWER_COLUMN, RELATION, query_codes
from openbiolink.evaluation.result import SIDES
from openbiolink.tables import processors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from openbiolink.dataset import Dataset, Triples
    from openbiolink.evaluation.candidates import Candidates
    from openbiolink.evaluation.known import KnownAnswers
    from openbiolink.evaluation.vectors import Form, Parameters, VectorModel
    from openbiolink.index import Side
    from openbiolink.progress import Progress

Counts = npt.NDArray[np.int64]

QUERIES, CANDIDATES, STRIP = 512, 1024, 128  # of a block: rows, columns; columns that are counted at a time
UNIT = 2.0**-24  # of float32: half the distance of 1 to the next number
ROOM = 1.01
TINY = 2.0**-125


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One of several equal parts of the work: every batch whose number leaves `number` when divided by `of`.

    Attributes:
        number: from 0.
        of: how many parts there are.
        total: the sum over all parts of an array that each of them has.
    """

    number: int = 0
    of: int = 1
    total: Callable[[Counts], Counts] = field(default=lambda counts: counts, repr=False)


WHOLE = Shard()


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """What counts a batch.

    Attributes:
        count: (batch, pool, better, equal, whether to stop) fills `better` and `equal`, zeros of shape (n,).
        questions: of a batch at most.
        threads: that call it, if not as many as there are processors.
        prepare: called with each pool before its first batch.
        around: entered for the time of the counting.
    """

    count: Callable[[Batch, Pool, Counts, Counts, Callable[[], bool]], None]
    questions: int
    threads: int | None = None
    prepare: Callable[[Pool], None] = lambda _: None
    around: Callable[[], AbstractContextManager[None]] = nullcontext


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """The different questions of one side, and the answers of each.

    Attributes:
        given: entity of each question, shape (q,).
        relation: relation of each, shape (q,).
        offsets: shape (q + 1,); question i owns `answers[offsets[i]:offsets[i + 1]]`.
        answers: entities, shape (n,).
        rows: for each answer the row of the test triple it belongs to, shape (n,).
    """

    given: npt.NDArray[np.int64]
    relation: npt.NDArray[np.int64]
    offsets: Counts
    answers: npt.NDArray[np.int64]
    rows: Counts


def count_vectors(
    model: VectorModel,
    dataset: Dataset,
    triples: Triples,
    known: Mapping[Side, KnownAnswers],
    *,
    candidates: Candidates | None = None,
    backend: Backend | None = None,
    threads: int | None = None,
    shard: Shard = WHOLE,
    progress: Progress,
) -> tuple[Counts, Counts]:
    """Candidates better than the answer and equal to it, for every triple and side: two arrays of shape (n, 2).

    Args:
        model: with the ids of the data set.
        dataset: the entities.
        triples: whose ends are asked for.
        known: for each side what is no candidate, besides the answer.
        candidates: what else is none; all entities are candidates by default.
        backend: what counts; by default the processor, as this module describes.
        threads: how many; as many as there are processors by default.
        shard: which batches of questions are counted; the others stay 0.
        progress: told how many questions are done.

    Raises:
        InputError: the model has other numbers of entities or relations.
    """
    if model.num_entities != dataset.num_entities or model.num_relations < dataset.num_relations:
        raise InputError(
            f"{model.name} has {model.num_entities} entities and {model.num_relations} relations, the data set "
            f"{dataset.num_entities} and {dataset.num_relations}; give the model that was trained on it"
        )
    chosen = backend or Backend(count=count_batch, questions=QUERIES)
    chosen = replace(chosen, threads=threads or chosen.threads or processors())
    better, equal = np.zeros((len(triples), 2), np.int64), np.zeros((len(triples), 2), np.int64)
    tasks = [
        (column, side, list_questions(dataset, triples, side, rows), ids)
        for column, side in enumerate(SIDES)
        for rows, ids in _by_candidates(triples, side, candidates)
    ]
    total, done = sum(len(questions.given) for _, _, questions, _ in tasks), 0
    progress("rank", 0, total)
    with chosen.around():
        for column, side, questions, ids in tasks:
            above, level = np.zeros(len(questions.answers), np.int64), np.zeros(len(questions.answers), np.int64)
            pool = _pool(model.candidates[side], ids)
            chosen.prepare(pool)
            spans = known[side].spans(questions.given * dataset.num_relations + questions.relation)
            known_here = (known[side].answers, *spans)
            for number in _count_questions(model, side, questions, pool, known_here, above, level, chosen, shard):
                done += number
                progress("rank", done, total)
            better[questions.rows, column], equal[questions.rows, column] = above, level
    return better, equal


def _by_candidates(
    triples: Triples, side: Side, candidates: Candidates | None
) -> list[tuple[Counts, npt.NDArray[np.int64] | None]]:
    """Rows of triples whose answers compete with the same entities, and those entities; None where it is all."""
    if candidates is None:
        return [(np.arange(len(triples)), None)]
    sets = candidates.of[side][triples[:, RELATION]]
    return [
        (np.flatnonzero(sets == number), None if number < 0 else candidates.sets[number])
        for number in np.unique(sets).tolist()
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """What answers compete with.

    Attributes:
        table: vectors of all entities, shape (num_entities, d).
        vectors: of the candidates, shape (n, d).
        halves: half the squared length of each candidate, shape (n,).
        longest: length of the longest vector of each block of candidates, rounded up.
        inside: for every entity whether it is a candidate.
    """

    table: npt.NDArray[np.float32]
    vectors: npt.NDArray[np.float32]
    halves: npt.NDArray[np.float32]
    longest: npt.NDArray[np.float64]
    inside: npt.NDArray[np.bool_]


def _pool(table: npt.NDArray[np.float32], ids: npt.NDArray[np.int64] | None) -> Pool:
    vectors = table if ids is None else table[ids]
    inside = np.full(len(table), ids is None)
    if ids is not None:
        inside[ids] = True
    squares = np.empty(len(vectors))
    for first in range(0, len(vectors), CANDIDATES):
        block = vectors[first : first + CANDIDATES].astype(np.float64)
        squares[first : first + CANDIDATES] = np.einsum("ij,ij->i", block, block)
    longest = np.maximum.reduceat(squares, np.arange(0, len(squares), CANDIDATES)) if len(squares) else squares
    with np.errstate(over="ignore"):  # such candidates are not compared in float32, see `band_of`
        halves = (squares / 2).astype(np.float32)
    return Pool(
        table=table,
        vectors=vectors,
        halves=halves,
        longest=np.sqrt(longest) * ROOM,
        inside=inside,
    )


def list_questions(dataset: Dataset, triples: Triples, side: Side, rows: Counts) -> Questions:
    """The different questions that some rows of triples ask, in ascending order of entity and relation."""
    codes = query_codes(dataset, triples[rows], side)
    order = np.argsort(codes, kind="stable")
    ordered, rows = codes[order], rows[order]
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    given, relation = np.divmod(ordered[first], dataset.num_relations)
    return Questions(
        given=given,
        relation=relation,
        offsets=np.append(first, len(codes)),
        answers=triples[rows, ANSWER_COLUMN[side]].astype(np.int64),
        rows=rows,
    )


def _count_questions(  # noqa: PLR0917 - all of `count_vectors`
    model: VectorModel,
    side: Side,
    questions: Questions,
    pool: Pool,
    known: tuple[Any, Counts, Counts],
    better: Counts,
    equal: Counts,
    backend: Backend,
    shard: Shard,
) -> Iterator[int]:
    """Fill `better` and `equal`, and give the number of questions in each batch that is done."""
    size = backend.questions
    starts = range(shard.number * size, len(questions.given), shard.of * size)
    stopped = False

    def work(start: int) -> int:
        stop = min(start + size, len(questions.given))
        asked = model.query(side, questions.given[start:stop], questions.relation[start:stop])
        own = questions.offsets[start : stop + 1]
        span = slice(own[0], own[-1])
        batch = Batch(
            form=model.form,
            vectors=np.ascontiguousarray(asked.vectors),
            weights=weights_of(asked),
            offsets=own - own[0],
            answers=questions.answers[span],
            known=known[0],
            begin=known[1][start:stop],
            end=known[2][start:stop],
        )
        with np.errstate(over="ignore", invalid="ignore"):  # likewise
            backend.count(batch, pool, better[span], equal[span], lambda: stopped)
        return stop - start

    with threadpool_limits(1, "blas"), ThreadPoolExecutor(backend.threads) as workers:
        try:
            yield from workers.map(work, starts)
        finally:
            stopped = True
            workers.shutdown(cancel_futures=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Some questions.

    Attributes:
        form: of the score.
        vectors: queries, shape (b, d).
        weights: of the dimensions, shape (b, d); 1 where there are none.
        offsets: shape (b + 1,); question i owns `answers[offsets[i]:offsets[i + 1]]`.
        answers: entities.
        known: entities; those of question i are `known[begin[i]:end[i]]`.
        begin: shape (b,).
        end: shape (b,).
    """

    form: Form
    vectors: npt.NDArray[np.float64]
    weights: npt.NDArray[np.float64]
    offsets: Counts
    answers: npt.NDArray[np.int64]
    known: Any
    begin: Counts
    end: Counts


def count_batch(batch: Batch, pool: Pool, better: Counts, equal: Counts, is_stopped: Callable[[], bool]) -> None:
    """Fill `better` and `equal` for the answers of a batch of questions."""
    vectors, weights, score = batch.vectors, batch.weights, SCORES[batch.form]
    level = exact_levels(batch, pool)
    band = band_of(batch, pool, level)
    short = vectors.astype(np.float32)
    room = np.empty((len(vectors), CANDIDATES), np.float32)
    for number, first in enumerate(range(0, len(pool.vectors), CANDIDATES)):
        if is_stopped():
            return
        block = pool.vectors[first : first + CANDIDATES]
        scores = room[:, : len(block)]
        _fill(batch.form, short, block, pool.halves[first : first + CANDIDATES], scores)
        bounds = (*band, pool.longest[number])
        count_block(score, scores, vectors, weights, block, batch.offsets, level, bounds, better, equal)
    take_out_known(batch, pool, level, better, equal)


def exact_levels(batch: Batch, pool: Pool) -> npt.NDArray[np.float64]:
    """The exact score of each answer of a batch."""
    level = np.empty(len(batch.answers))
    score = SCORES[batch.form]
    score_answers(score, batch.vectors, batch.weights, pool.table, batch.offsets, batch.answers, level)
    return level


def take_out_known(batch: Batch, pool: Pool, level: npt.NDArray[np.float64], better: Counts, equal: Counts) -> None:
    """Take known answers, and each answer itself, out of the counts of a batch, by their exact scores."""
    score, known = SCORES[batch.form], (batch.known, batch.begin, batch.end, pool.inside)
    vectors, weights = batch.vectors, batch.weights
    _take_out_known(score, vectors, weights, pool.table, batch.offsets, batch.answers, level, known, better, equal)


def answer_bounds(
    batch: Batch, pool: Pool, level: npt.NDArray[np.float64], longest: float
) -> tuple[Parameters, Parameters]:
    """For each answer the approximate scores between which a candidate of a block is undecided.

    Both are infinite where float32 may overflow.

    Args:
        batch: the questions.
        pool: the candidates.
        level: exact score of each answer.
        longest: length of the longest candidate of the block.
    """
    centre, fixed, slope, curve = band_of(batch, pool, level)
    epsilon = fixed + np.repeat((slope + curve * longest) * longest, np.diff(batch.offsets))
    low, high = (centre - epsilon).astype(np.float32), (centre + epsilon).astype(np.float32)
    low = np.where(low > centre - epsilon, np.nextafter(low, np.float32(-np.inf)), low)
    high = np.where(high < centre + epsilon, np.nextafter(high, np.float32(np.inf)), high)
    return low, high


def _fill(form: Form, short: Parameters, block: Parameters, halves: Parameters, scores: Parameters) -> None:
    """Fill `scores` (b, n) with what is compared, from queries (b, d) and candidates (n, d), in float32."""
    if form in {"dot", "l2"}:
        np.matmul(short, block.T, out=scores)
    if form == "l2":
        scores -= halves
    elif form == "l1":
        _fill_l1(short, np.ascontiguousarray(block.T), scores)
    elif form == "modulus":
        _fill_modulus(short, np.ascontiguousarray(block.T), scores)


def band_of(batch: Batch, pool: Pool, level: npt.NDArray[np.float64]) -> tuple[Any, ...]:
    """Where the approximate scores are compared: the centre for each answer, and the error epsilon around it.

    epsilon = fixed (of the answer) + slope (of the question) * N + curve (of the question) * N ** 2, N being the
    length of the longest candidate of the block; infinite where float32 may overflow.
    """
    longest = float(pool.longest.max(initial=0))
    dimensions = batch.vectors.shape[1]
    counts = np.diff(batch.offsets)
    length = np.sqrt(np.einsum("ij,ij->i", batch.vectors, batch.vectors)) * ROOM
    gamma = (dimensions + 8) * UNIT * ROOM
    fine = (dimensions + 8) * 2.0**-52  # of the float64 sums themselves
    off = np.abs(batch.weights - 1).max(axis=1) * ROOM
    each, each_off = np.repeat(length, counts), np.repeat(off, counts)
    size = (each + longest) ** 2
    tiny = dimensions * TINY * (1 + each + longest)  # where products, or numbers themselves, are taken for 0
    if batch.form == "dot":
        centre, fixed = level, fine * each * longest + tiny
        slope, curve = gamma * length, np.zeros(len(length))
    elif batch.form == "l2":
        centre = (level + np.repeat(np.einsum("ij,ij->i", batch.vectors, batch.vectors), counts)) / 2
        fixed = fine * (size + np.abs(level)) + each_off * each**2 / 2 + tiny
        slope, curve = (gamma + off) * length, (gamma + off) / 2
    else:
        # Without weights a score as large as the answer's is between |level| / largest and |level| / smallest weight.
        total = np.repeat(np.abs(batch.vectors).sum(axis=1), counts)
        least, most = (np.repeat(found(batch.weights, axis=1), counts) for found in (np.min, np.max))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            far = np.where(least > 0, np.abs(level) / least, np.inf) * (1 + fine)
        near = np.where(most > 0, np.abs(level) / np.maximum(most, np.finfo(np.float64).tiny), 0.0) * (1 - fine)
        known = np.isfinite(far)
        far = np.where(known, far, near)
        centre = -(far + near) / 2
        fixed = (far - near) / 2 + (gamma + fine) * ROOM * far + 2 * UNIT * total + dimensions * 2.0**-60
        fixed = np.where(known, fixed, np.inf)
        slope = curve = np.zeros(len(length))
    fixed = np.where(size < 2.0**120, fixed, np.inf)
    return centre, fixed, slope, curve


@numba.njit(nogil=True)
def count_block(  # noqa: C901, PLR0917
    score: Any, scores: Any, vectors: Any, weights: Any, block: Any, offsets: Any, level: Any,
    bounds: Any, better: Any, equal: Any,
) -> None:  # fmt: skip
    """Add the candidates of a block that are better than each answer, and equal to it.

    A strip of columns is compared with both ends of the answer's band first, which is fast; where a candidate is
    inside, those of the strip are marked, and worked out exactly.
    """
    centre, fixed, slope, curve, longest = bounds
    flags = np.zeros(STRIP, np.uint8)
    words = flags.view(np.uint64)
    for b in range(scores.shape[0]):
        row = scores[b]
        for a in range(offsets[b], offsets[b + 1]):
            epsilon = fixed[a] + (slope[b] + curve[b] * longest) * longest
            decides = epsilon < np.inf
            low, high = float_below(centre[a] - epsilon), float_above(centre[a] + epsilon)
            above, level_with = np.int64(0), np.int64(0)
            for first in range(0, row.shape[0], STRIP):
                strip = row[first : first + STRIP]
                size = strip.shape[0]
                if decides:
                    sure, likely = np.int32(0), np.int32(0)
                    for j in range(size):
                        sure += strip[j] > high
                        likely += strip[j] >= low
                    above += sure
                    if sure == likely:
                        continue
                    for j in range(size):
                        flags[j] = (strip[j] >= low) & (strip[j] <= high)
                else:
                    flags[:size] = 1
                flags[size:] = 0
                for word in range(words.shape[0]):
                    if words[word] == 0:
                        continue
                    for j in range(8 * word, 8 * word + 8):
                        if flags[j]:
                            exact = score(vectors[b], weights[b], block[first + j])
                            above += exact > level[a]
                            level_with += exact == level[a]
            better[a] += above
            equal[a] += level_with


@numba.njit(nogil=True)
def float_below(value: Any) -> Any:
    """A float32 that is not above a number, and hardly below: its rounding is less than what is taken off."""
    return np.float32(value - abs(value) * 2.0**-23 - TINY)


@numba.njit(nogil=True)
def float_above(value: Any) -> Any:
    """A float32 that is not below a number, and hardly above."""
    return np.float32(value + abs(value) * 2.0**-23 + TINY)


@numba.njit(nogil=True)
def _take_out_known(  # noqa: PLR0917
    score: Any, vectors: Any, weights: Any, table: Any, offsets: Any, answers: Any, level: Any,
    known: Any, better: Any, equal: Any,
) -> None:  # fmt: skip
    """Take known answers, and each answer itself, out of the counts."""
    entities, begin, end, inside = known
    for b in range(vectors.shape[0]):
        for a in range(offsets[b], offsets[b + 1]):
            equal[a] -= inside[answers[a]]
        for k in range(begin[b], end[b]):
            if inside[entities[k]]:
                exact = score(vectors[b], weights[b], table[entities[k]])
                for a in range(offsets[b], offsets[b + 1]):
                    if entities[k] != answers[a]:
                        better[a] -= exact > level[a]
                        equal[a] -= exact == level[a]


@numba.njit(nogil=True)
def _fill_l1(short: Any, columns: Any, scores: Any) -> None:
    """Fill `scores` (b, n) with minus the sum of |q - e|, from queries (b, d) and candidates (d, n)."""
    for b in range(scores.shape[0]):
        row = scores[b]
        row[:] = 0
        for i in range(columns.shape[0]):
            value, column = short[b, i], columns[i]
            for j in range(row.shape[0]):
                row[j] -= abs(value - column[j])


@numba.njit(nogil=True)
def _fill_modulus(short: Any, columns: Any, scores: Any) -> None:
    """The same for the lengths of complex differences."""
    size = columns.shape[0] // 2
    for b in range(scores.shape[0]):
        row = scores[b]
        row[:] = 0
        for i in range(size):
            re, im, res, ims = short[b, i], short[b, size + i], columns[i], columns[size + i]
            for j in range(row.shape[0]):
                x, y = re - res[j], im - ims[j]
                row[j] -= np.sqrt(x * x + y * y)
