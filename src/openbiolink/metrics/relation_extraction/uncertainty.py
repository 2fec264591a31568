"""How sure a score of relation extraction is, and whether two systems differ; what is drawn are whole documents.

    bootstrap    as many documents as there are, drawn with replacement, and scored; percentiles of many such draws
    p            the predictions of the two systems change places in each document with probability 1/2, and both are
                 scored; the share of draws whose difference is at least as far from 0, on either side, the one that
                 was seen among them: (1 + number of such draws) / (1 + flips)

Every draw is scored as `score_relations` would: micro scores are those of the sums, and macro scores are means over the
types that the draw has, or over `relation_types` where they are given.

Sources: Efron & Tibshirani 1993, "An Introduction to the Bootstrap", section 13.3 (percentile interval); Noreen 1989,
"Computer-Intensive Methods for Testing Hypotheses", chapter 2, and Yeh 2000, "More Accurate Tests for the Statistical
Significance of Result Differences", arXiv cs/0008005 (predictions that change places).

Random numbers are those of NumPy's PCG64. What is added are whole numbers, and documents are drawn from a list that is
sorted by what they count. So the results depend on seed and counts alone, not on the order of documents or threads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from openbiolink.errors import InputError
from openbiolink.metrics.relation_extraction.checks import iter_pairs
from openbiolink.metrics.relation_extraction.scoring import RelationScorer
from openbiolink.metrics.resampling import CONFIDENCE, RESAMPLES, ROOM, Interval, check_draws, generator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from openbiolink.metrics.relation_extraction.checks import Corpus
    from openbiolink.metrics.relation_extraction.scoring import RelationResult
    from openbiolink.metrics.relation_extraction.settings import RelationOptions, Settings

Values = npt.NDArray[np.float64]
Counted = tuple[tuple[str, int, int, int], ...]  # of a document: type, right, predicted, referenced

SCORES = ("p", "r", "f1")
METRICS = (*(f"micro_{name}" for name in SCORES), *(f"macro_{name}" for name in SCORES))
FEWEST, MOST = 10, 100_000  # draws
NOISE = 1e-12  # in the share of a perfect score: more than two sums of the same fractions may differ by


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationDifference:
    """One score of two systems on the same documents, in the scale of the options.

    Attributes:
        first: the score of the first.
        second: the score of the second.
        difference: second minus first.
        low: lower end of the interval of the difference.
        high: upper end.
        p: probability of a difference as large by chance, two-sided.
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float


def bootstrap_relations(
    *,
    predictions: Corpus,
    references: Corpus,
    seed: int = 0,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    **options: Unpack[RelationOptions],
) -> dict[str, Interval]:
    """Percentile intervals over documents of micro and macro scores.

    Args:
        predictions: as in `score_relations`.
        references: as there.
        seed: of the draws.
        resamples: how many draws, from 10 to 100,000.
        confidence: share of draws inside the interval.
        **options: as in `score_relations`.

    Returns:
        `micro_p`, `micro_r`, `micro_f1`, `macro_p`, `macro_r`, `macro_f1`. The standard error of each is the standard
        deviation of the draws; None where there is one document only.

    Raises:
        InputError: as `score_relations`, or an option of the draws is wrong.

    >>> acid = {"head": "aspirin", "head_type": "drug", "type": "treats", "tail": "pain", "tail_type": "disease"}
    >>> found = bootstrap_relations(predictions=[[acid]] * 3 + [[]], references=[[acid]] * 4, seed=1)["micro_r"]
    >>> found.value, found.high
    (75.0, 100.0)
    """
    check_resamples(seed, resamples, confidence)
    counted, result = _count(predictions, references, options)
    types = sorted({row[0] for document in counted for row in document})
    documents = Counter(counted)
    rows = sorted(documents)
    numbers = _table(rows, types).reshape(len(rows), -1)
    drawn = np.concatenate(
        [
            _scores(totals.reshape(len(totals), len(types), 3), result.settings)
            for totals in _draw(numbers, [documents[row] for row in rows], seed, resamples)
        ]
    )
    ends = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    errors = drawn.std(axis=0, ddof=1).tolist() if len(counted) > 1 else [None] * len(METRICS)
    return {
        name: Interval(value=value, standard_error=error, low=low, high=high)
        for name, value, error, low, high in zip(METRICS, _values(result), errors, *ends.tolist(), strict=True)
    }


def compare_relations(
    *,
    references: Corpus,
    first: Corpus,
    second: Corpus,
    seed: int = 0,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    **options: Unpack[RelationOptions],
) -> dict[str, RelationDifference]:
    """The differences of two systems on the same documents, score by score.

    Args:
        references: as in `score_relations`.
        first: predictions of the system to compare with.
        second: predictions of the other one.
        seed: of the draws.
        resamples: how often documents are drawn anew, and how often predictions change places; from 10 to 100,000.
        confidence: of the intervals.
        **options: as in `score_relations`, for both.

    Returns:
        `micro_p`, `micro_r`, `micro_f1`, `macro_p`, `macro_r`, `macro_f1`.

    Raises:
        InputError: as `score_relations`, where the system is named first, or an option of the draws is wrong.

    >>> acid = {"head": "aspirin", "head_type": "drug", "type": "treats", "tail": "pain", "tail_type": "disease"}
    >>> found = compare_relations(references=[[acid]] * 9, first=[[]] * 9, second=[[acid]] * 9)["micro_f1"]
    >>> found.difference, found.p < 0.05
    (100.0, True)
    """
    check_resamples(seed, resamples, confidence)
    references = _twice(references)
    systems: list[tuple[list[Counted], RelationResult]] = []
    for name, predictions in (("first", first), ("second", second)):
        try:
            systems.append(_count(predictions, references, options))
        except InputError as error:
            raise InputError(f"{name} system: {error}") from error
    (one, before), (other, after) = systems
    types = sorted({row[0] for document in (*one, *other) for row in document})
    documents = Counter(zip(one, other, strict=True))
    rows = sorted(documents)
    counts = [documents[row] for row in rows]
    tables = np.stack([_table([row[system] for row in rows], types) for system in (0, 1)], axis=1)
    shape = tables.shape[1:]
    drawn = np.concatenate(
        [
            _apart(totals.reshape(len(totals), *shape), after.settings)
            for totals in _draw(tables.reshape(len(rows), -1), counts, seed, resamples)
        ]
    )
    ends = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    total = np.tensordot(np.array(counts, np.float64), tables, 1)[np.newaxis]
    seen = np.abs(_apart(total, after.settings)) - NOISE * after.settings.whole
    further = np.zeros(len(METRICS))
    for swapped in _swap(tables, counts, seed, resamples):
        further += (np.abs(_apart(swapped, after.settings)) >= seen).sum(axis=0)
    chances = ((1 + further) / (1 + resamples)).tolist()
    return {
        name: RelationDifference(first=old, second=new, difference=new - old, low=low, high=high, p=p)
        for name, old, new, low, high, p in zip(
            METRICS, _values(before), _values(after), *ends.tolist(), chances, strict=True
        )
    }


def check_resamples(seed: int, resamples: int, confidence: float = CONFIDENCE) -> None:
    """Refuse options of draws that cannot be, or that say nothing.

    Raises:
        InputError: the message names the option.
    """
    check_draws(seed, resamples, confidence)
    if not FEWEST <= resamples <= MOST:
        raise InputError(
            f"resamples={resamples} is too {'few' if resamples < FEWEST else 'many'}; "
            f"give {FEWEST} at least and {MOST:,} at most, 1000 as a rule"
        )


def _twice(corpus: Corpus) -> Corpus:
    """The corpus as one that can be read more than once; what is none stays as it is, to be refused."""
    if isinstance(corpus, Mapping):
        return {name: _listed(document) for name, document in corpus.items()}
    listed = _listed(corpus)
    return [_listed(document) for document in listed] if isinstance(listed, list) else corpus


def _listed(given: Any) -> Any:
    return [*given] if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping) else given


def _count(predictions: Corpus, references: Corpus, options: RelationOptions) -> tuple[list[Counted], RelationResult]:
    """What each document counts, and the result of all."""
    scorer, counted = RelationScorer(**options), []
    for number, (name, prediction, reference) in enumerate(iter_pairs(predictions, references)):
        document = number if name is None else name
        counted.append(scorer.count_document(prediction=prediction, reference=reference, document=document))
    return counted, scorer.result()


def _table(documents: Sequence[Counted], types: Sequence[str]) -> Values:
    """What each document counts: shape (documents, types, 3)."""
    place_of = {name: place for place, name in enumerate(types)}
    table = np.zeros((len(documents), len(types), 3))
    rows = np.repeat(np.arange(len(documents)), [len(document) for document in documents])
    columns = np.array([place_of[row[0]] for document in documents for row in document], np.int64)
    table[rows, columns] = np.array([row[1:] for document in documents for row in document]).reshape(-1, 3)
    return table


def _values(result: RelationResult) -> list[float]:
    return [of[name] for of in (result.micro, result.macro) for name in SCORES]


def _scores(totals: Values, settings: Settings) -> Values:
    """The `METRICS` of sums over documents.

    Args:
        totals: right, predicted and referenced of each type, shape (..., types, 3).
        settings: of the scores.

    Returns:
        Shape (..., 6).
    """
    right, predicted, wanted = np.moveaxis(totals, -1, 0)
    if settings.types_from == "references":
        predicted = np.where(wanted > 0, predicted, 0.0)
    fixed = settings.relation_types
    number = ((predicted + wanted) > 0).sum(axis=-1) if fixed is None else np.full(right.shape[:-1], len(fixed))
    sums = [part.sum(axis=-1) for part in (right, predicted, wanted)]
    means = [_ratio(part.sum(axis=-1), number) for part in _fractions(right, predicted, wanted)]
    return settings.whole * np.stack([*_fractions(*sums), *means], axis=-1)


def _fractions(right: Values, predicted: Values, wanted: Values) -> list[Values]:
    return [_ratio(right, predicted), _ratio(right, wanted), _ratio(2 * right, predicted + wanted)]


def _ratio(above: Values, below: Any) -> Values:
    return above / np.where(below > 0, below, 1)


def _apart(totals: Values, settings: Settings) -> Values:
    """The scores of the second system minus those of the first, of sums in shape (draws, 2, types, 3)."""
    scores = _scores(totals, settings)
    return np.asarray(scores[:, 1] - scores[:, 0])


def _draw(numbers: Values, counts: Sequence[int], seed: int, resamples: int) -> Iterator[Values]:
    """Sums of documents drawn with replacement, some draws at a time.

    Args:
        numbers: of each kind of document, shape (k, m).
        counts: how many documents are of each kind.
        seed: of the draws.
        resamples: how many draws.

    Yields:
        Shape (draws, m).
    """
    source, kinds = generator(seed, 0), np.repeat(np.arange(len(counts)), counts)
    block = max(1, ROOM // (len(counts) + numbers.shape[1] + 1))
    for first in range(0, resamples, block):
        times = np.empty((min(block, resamples - first), len(counts)))
        for row in times:
            row[:] = np.bincount(kinds[source.integers(0, len(kinds), len(kinds))], minlength=len(counts))
        yield times @ numbers  # of whole numbers, so exact in whatever order they are added


def _swap(tables: Values, counts: Sequence[int], seed: int, flips: int) -> Iterator[Values]:
    """Sums of both systems when their predictions change places in some documents, some draws at a time.

    Args:
        tables: of each kind of document, shape (k, 2, types, 3).
        counts: how many documents are of each kind.
        seed: of the draws.
        flips: how many draws.

    Yields:
        Shape (draws, 2, types, 3).
    """
    shape = tables.shape[1:]
    both = np.tensordot(np.array(counts, np.float64), tables, 1).sum(axis=0).ravel()
    apart = (tables[:, 1] - tables[:, 0]).reshape(len(tables), -1)
    unlike: Counter[tuple[float, ...]] = Counter()
    for row, count in zip(apart.tolist(), counts, strict=True):
        sign = next((number for number in row if number), 0.0)
        if sign:
            unlike[tuple(row if sign > 0 else [-number for number in row])] += count
    kinds = sorted(unlike)
    numbers = np.array(kinds, np.float64).reshape(len(kinds), both.size)
    of_each = np.array([unlike[kind] for kind in kinds], np.int64)
    source = generator(seed, 1)
    block = max(1, ROOM // (len(kinds) + 2 * both.size + 1))
    for first in range(0, flips, block):
        ways = 2.0 * source.binomial(of_each, 0.5, (min(block, flips - first), len(kinds))) - of_each
        off = ways @ numbers  # whole numbers again
        yield np.stack([both - off, both + off], axis=1).reshape(len(off), *shape) / 2
