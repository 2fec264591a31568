"""Numbers from ranks: pure functions, each with its formula.

A rank is 1 for the best candidate. Ranks may be halves, where equal scores share their places.
The results do not depend on the order of the ranks, to the last digit.

>>> ranking_metrics([1, 2, 4, 1], ks=(1, 3))
{'mrr': 0.6875, 'hits@1': 0.5, 'hits@3': 0.75, 'mean_rank': 2.0}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from openbiolink.errors import InputError, ScoreError
from openbiolink.metrics.chance import (
    Chance,
    Moments,
    chance_of,
    chance_of_hits,
    chance_of_mean_rank,
    chance_of_mrr,
    tally_candidates,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Ties = Literal["optimistic", "realistic", "pessimistic"]
Ranks = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Candidates = npt.NDArray[np.integer[Any]]

TIES: tuple[Ties, ...] = get_args(Ties)
KS = (1, 3, 10)
NUMBERS = (int, float, np.integer, np.floating, Decimal, Fraction)
PLAIN = {int, float, *np.sctypeDict.values()} - {object}
WIDTH = 1 << 16  # ranks up to this are counted without being sorted
SHARE = {"optimistic": 0.0, "realistic": 0.5, "pessimistic": 1.0}


def ranks_from_counts(
    better: npt.NDArray[np.integer], equal: npt.NDArray[np.integer], *, ties: Ties = "realistic"
) -> Ranks:
    """1-based ranks of answers, from how many candidates scored better and how many the same.

    `rank = 1 + better + share * equal`, where the share is 0 (optimistic: the answer comes first among
    equals), 1/2 (realistic: the mean of first and last place) or 1 (pessimistic: it comes last).
    Source: Berrendorf et al. 2020, "On the Ambiguity of Rank-Based Evaluation of Entity Alignment or
    Link Prediction Methods", arXiv 2002.06914, section 3.

    Args:
        better: number of candidates with a better score than the answer, any shape; the answer is none.
        equal: number of other candidates with the same score, same shape.
        ties: the rule.

    Raises:
        InputError: the rule is unknown, or a count is negative.

    >>> ranks_from_counts(np.array([0, 1]), np.array([3, 0]), ties="realistic").tolist()
    [2.5, 2.0]
    """
    check_ties(ties)
    if (better < 0).any() or (equal < 0).any():
        raise InputError("a number of better or equal candidates is negative; such counts start at 0")
    return 1.0 + better + SHARE[ties] * equal


def ranks_from_scores(
    scores: npt.ArrayLike,
    true_index: npt.ArrayLike,
    mask: npt.ArrayLike | None = None,
    ties: Ties | Literal["average"] = "realistic",
    *,
    higher_is_better: bool = True,
) -> Ranks:
    """1-based ranks of the right candidates among the scores of all.

    Args:
        scores: of every candidate, a row per query, shape (..., n).
        true_index: the place of the right candidate in each row, from 0, shape (...).
        mask: true where a candidate is left out (another right answer, in a filtered evaluation), shape (..., n); the
            right candidate is never left out.
        ties: as in `ranks_from_counts`; `average` is another word for `realistic`.
        higher_is_better: False for distances.

    Returns:
        Shape (...); whole numbers and halves.

    Raises:
        InputError: shapes do not fit, or a place does not exist.
        ScoreError: a score that counts is NaN.

    >>> ranks_from_scores([[0.9, 0.9, 0.1]], [0]).tolist()
    [1.5]
    >>> ranks_from_scores([[0.9, 0.9, 0.1]], [0], mask=[[False, True, False]]).tolist()
    [1.0]
    """
    rule = "realistic" if ties == "average" else ties
    check_ties(rule)
    if np.ma.isMaskedArray(scores):
        raise InputError("scores are a masked array; give its data, and its mask as `mask`")
    given, places = np.asarray(scores), np.asarray(true_index)
    if given.ndim != places.ndim + 1 or given.shape[:-1] != places.shape or given.dtype.kind not in "iuf":
        raise InputError(
            f"scores of shape {given.shape} and type {given.dtype} for places of shape {places.shape}; expected "
            "numbers of shape (..., n) for (...)"
        )
    if places.dtype.kind not in "iu":
        raise InputError(f"true_index is of type {places.dtype}; expected whole numbers that count from 0")
    if (wrong := (places < 0) | (places >= given.shape[-1])).any():
        row = tuple(np.argwhere(wrong)[0].tolist())
        raise InputError(f"true_index is {places[row]} at {row}, of {given.shape[-1]} candidates; count from 0")
    here = places[..., np.newaxis]
    left_out = np.zeros(given.shape, np.bool_) if mask is None else np.array(mask)
    if left_out.shape != given.shape or left_out.dtype != np.bool_:
        raise InputError(
            f"mask has shape {left_out.shape} and type {left_out.dtype}; expected true or false in shape {given.shape}"
        )
    np.put_along_axis(left_out, here, values=False, axis=-1)
    if (np.isnan(given) & ~left_out).any():
        row = tuple(np.argwhere(np.isnan(given) & ~left_out)[0].tolist())
        raise ScoreError(f"the score at {row} is NaN, which has no rank; mend the model or mask the candidate")
    level = np.take_along_axis(given, here, axis=-1)
    better = (given > level if higher_is_better else given < level) & ~left_out
    equal = (given == level) & ~left_out
    return np.asarray(ranks_from_counts(better.sum(axis=-1), equal.sum(axis=-1) - 1, ties=rule))


def average_tied(ranks: Iterable[float]) -> list[float]:
    """The places of one list of competitors, with the mean place for those who share one.

    Args:
        ranks: places in which equals all have the best place of their group, as in 1, 1, 3; in any order.

    Raises:
        InputError: something is no rank, or the places cannot be: after two firsts comes the third.

    >>> average_tied([1, 1, 3, 4, 5])
    [1.5, 1.5, 3.0, 4.0, 5.0]
    """
    array = check_ranks(ranks)
    values, counts = _tally(array)
    after = 1 + np.cumsum(counts) - counts
    if not np.array_equal(values, after):
        wrong = int(np.flatnonzero(values != after)[0])
        raise InputError(
            f"place {values[wrong]:g} comes after {after[wrong] - 1} competitors, expected {after[wrong]}; give "
            "places of one list, where equals have the best of theirs, as in 1, 1, 3"
        )
    return [float(place) for place in array + (counts[np.searchsorted(values, array)] - 1) / 2]


def check_ties(ties: str) -> None:
    """Refuse a tie rule that does not exist.

    Raises:
        InputError: the message names the rules there are.
    """
    if ties not in SHARE:
        raise InputError(f"ties={ties!r} is not a tie rule; choose one of {', '.join(TIES)}")


def mean_reciprocal_rank(ranks: Iterable[float]) -> float:
    """The mean of 1/rank, in [0, 1]; 1 means that every answer came first. An answer that was not found adds 0.

    Source: Voorhees 1999, "The TREC-8 Question Answering Track Report".

    Raises:
        InputError: there are no ranks, or one is not a number of at least 1.

    >>> mean_reciprocal_rank([1, 4])
    0.625
    """
    values, counts = _tally(ranks)
    return math.fsum(counts / values) / int(counts.sum())


def hits_at_k(ranks: Iterable[float], *, k: int) -> float:
    """The share of ranks that are at most k, in [0, 1].

    Source: Bordes et al. 2013, "Translating Embeddings for Modeling Multi-relational Data", section 4.2.

    Raises:
        InputError: as `mean_reciprocal_rank`, or k is not a whole number of at least 1.

    >>> hits_at_k([1, 10, 11], k=10)
    0.6666666666666666
    """
    check_k(k)
    values, counts = _tally(ranks)
    return int(counts[values <= k].sum()) / int(counts.sum())


def mrr(ranks: Iterable[float]) -> float:
    """Short for `mean_reciprocal_rank`.

    >>> mrr([1, 3, 5, 10, 20, 2, 1, 8, 15, 1])
    0.4375
    """
    return mean_reciprocal_rank(ranks)


def hits_at(ranks: Iterable[float], k: int = 10) -> float:
    """Short for `hits_at_k`.

    >>> hits_at([1, 3, 5, 10, 20, 2, 1, 8, 15, 1], 3)
    0.5
    """
    return hits_at_k(ranks, k=k)


def mean_rank(ranks: Iterable[float]) -> float:
    """The arithmetic mean of the ranks, 1 or more; smaller is better. Infinite where an answer was not found.

    Source: Bordes et al. 2013, as `hits_at_k`.

    Raises:
        InputError: as `mean_reciprocal_rank`.
    """
    values, counts = _tally(ranks)
    return math.fsum(counts * values) / int(counts.sum())


def ranking_metrics(ranks: Iterable[float], ks: Sequence[int] = KS) -> dict[str, float]:
    """All of them: keys `mrr`, `hits@k` for every k, `mean_rank`; plain floats.

    Raises:
        InputError: as `hits_at_k`.
    """
    values, counts = _tally(ranks)
    total = int(counts.sum())
    hits = {f"hits@{k}": int(counts[values <= k].sum()) / total for k in check_ks(ks)}
    mrr, mean = math.fsum(counts / values) / total, math.fsum(counts * values) / total
    return {"mrr": mrr, **hits, "mean_rank": mean}


def summary(tally: Tally, ks: Sequence[int] = KS) -> dict[str, Any]:
    """What one wants to know of ranks: `count`, `mrr`, `mean_rank`, `median_rank` and `hits@k` for every k.

    Where answers were not found (infinite ranks), `not_found` says how many, and mean and median rank are None where
    they are infinite.

    Raises:
        InputError: as `hits_at_k`.

    >>> summary(tally_ranks([1, 3, 5, 10, 20, 2, 1, 8, 15, 1]), ks=(1, 3))
    {'count': 10, 'mrr': 0.4375, 'mean_rank': 6.6, 'median_rank': 4.0, 'hits@1': 0.3, 'hits@3': 0.5}
    """
    total = tally.total
    missing = int(tally.counts[np.isinf(tally.ranks)].sum())
    mean, median = mean_metric("mean_rank").value(tally), _median(tally)
    return {
        "count": total,
        **({"not_found": missing} if missing else {}),
        "mrr": math.fsum(tally.counts / tally.ranks) / total,
        "mean_rank": mean if math.isfinite(mean) else None,
        "median_rank": median if math.isfinite(median) else None,
        **{f"hits@{k}": int(tally.counts[tally.ranks <= k].sum()) / total for k in check_ks(ks)},
    }


def median_rank(ranks: Iterable[float]) -> float:
    """The middle one of the ranks, or the mean of the middle two.

    Raises:
        InputError: as `mean_reciprocal_rank`.

    >>> median_rank([1, 9, 3]), median_rank([1, 2, 3, 9])
    (3.0, 2.5)
    """
    return _median(tally_ranks(ranks))


def geometric_mean_rank(ranks: Iterable[float]) -> float:
    """The geometric mean of the ranks: exp of the mean of log(rank), 1 or more; smaller is better.

    Source: Hoyt et al. 2022, arXiv 2203.07544, section 2.

    Raises:
        InputError: as `mean_reciprocal_rank`.

    >>> round(geometric_mean_rank([1, 4]), 12)
    2.0
    """
    return _geometric(tally_ranks(ranks))


def harmonic_mean_rank(ranks: Iterable[float]) -> float:
    """The harmonic mean of the ranks, which is 1 / MRR; smaller is better.

    Source: Hoyt et al. 2022, as `geometric_mean_rank`.

    Raises:
        InputError: as `mean_reciprocal_rank`.

    >>> harmonic_mean_rank([1, 4])
    1.6
    """
    return _inverse(mean_reciprocal_rank(ranks))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What every metric is worked out from: different ranks, and different numbers of candidates.

    Attributes:
        ranks: in ascending order.
        counts: how many queries have each rank.
        candidates: numbers of candidates in ascending order; None where they are not known.
        queries: how many queries have each number of candidates.
    """

    ranks: Ranks
    counts: Counts
    candidates: Counts | None = None
    queries: Counts | None = None

    @property
    def total(self) -> int:
        """The number of ranks."""
        return int(self.counts.sum())


def tally_ranks(ranks: Iterable[float], candidates: Candidates | None = None) -> Tally:
    """The tally of ranks, and of the candidates that the answers had.

    Args:
        ranks: of the answers.
        candidates: for each query how many were ranked, the answer among them; in any order.

    Raises:
        InputError: as `mean_reciprocal_rank`, or there are not as many numbers of candidates as ranks.
    """
    values, counts = _tally(ranks)
    if candidates is None:
        return Tally(ranks=values, counts=counts)
    numbers, queries = tally_candidates(candidates)
    if queries.sum() != counts.sum():
        raise InputError(
            f"{int(counts.sum())} ranks with {int(queries.sum())} numbers of candidates; give one for each"
        )
    as_many = queries.sum() - np.concatenate([[0], np.cumsum(queries)])[np.searchsorted(numbers, values)]
    as_bad = np.cumsum(counts[::-1])[::-1]
    if (as_bad > as_many).any():
        at = int(np.flatnonzero(as_bad > as_many)[0])
        raise InputError(
            f"{as_bad[at]} ranks are {values[at]:g} or worse, but {as_many[at]} queries have as many candidates; "
            "no rank is larger than the number of its candidates"
        )
    return Tally(ranks=values, counts=counts, candidates=numbers, queries=queries)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """A metric that is the mean over all queries of a number that follows from the rank.

    Attributes:
        of: (ranks, 1 or how often each occurs) → that number of each, times as often.
        moments: its expectation and variance for one query of random rank.
        best: the metric of a perfect model.
        rising: whether larger is better.
        within_one: whether it is from 0 to 1.
    """

    of: Callable[[Ranks, Counts | int], Ranks]
    moments: Callable[[Counts], Moments]
    best: float
    rising: bool
    within_one: bool

    def value(self, tally: Tally) -> float:
        """The metric."""
        return math.fsum(self.of(tally.ranks, tally.counts)) / tally.total

    def chance(self, tally: Tally) -> Chance:
        """The metric of random ranks."""
        if tally.candidates is None or tally.queries is None:
            raise InputError("a metric adjusted for chance needs the number of candidates of each query; give them")
        return chance_of(self.moments, tally.candidates, tally.queries)


def mean_metric(name: str) -> Mean:
    """The mean over queries of that name: `mrr`, `mean_rank`, or `hits@k` for any k.

    Raises:
        InputError: there is no such mean.

    >>> mean_metric("hits@5").of(np.array([5.0, 5.5]), 1).tolist()
    [1.0, 0.0]
    """
    if name == "mrr":
        return Mean(
            of=lambda ranks, times: times / ranks, moments=chance_of_mrr, best=1.0, rising=True, within_one=True
        )
    if name == "mean_rank":
        return Mean(
            of=lambda ranks, times: ranks * times, moments=chance_of_mean_rank, best=1.0, rising=False, within_one=False
        )
    word, _, number = name.partition("@")
    if word != "hits" or not (number.isascii() and number.isdecimal() and int(number)) or number.startswith("0"):
        raise InputError(f"metric {name!r} is no mean over queries; choose mrr, mean_rank or hits@K, as in hits@10")
    k = int(number)
    return Mean(
        of=lambda ranks, times: np.asarray((ranks <= k) * times, np.float64),
        moments=partial(chance_of_hits, k=k),
        best=1.0,
        rising=True,
        within_one=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A row of `METRICS`.

    Attributes:
        compute: the metric of a tally; None where it is not defined, since chance leaves nothing to reach.
        formula: in words and signs; r are the ranks, E and V expectation and variance of random ranks.
        range: from the worst to the best, or of what kind.
        source: where it was defined.
        not_for: what it must not be used for.
        by_chance: whether it needs the numbers of candidates.
    """

    compute: Callable[[Tally], float | None]
    formula: str
    range: str
    source: str
    not_for: str
    by_chance: bool = False


def _inverse(mrr: float) -> float:
    return 1 / mrr if mrr else math.inf


def _median(tally: Tally) -> float:
    places = np.searchsorted(np.cumsum(tally.counts), [(tally.total - 1) // 2, tally.total // 2], side="right")
    return float(tally.ranks[places].sum()) / 2


def _geometric(tally: Tally) -> float:
    return math.exp(math.fsum(tally.counts * np.log(tally.ranks)) / tally.total)


def _adjusted(tally: Tally, mean: Mean) -> float | None:
    """0 by chance, 1 at best."""
    expectation = mean.chance(tally).expectation
    return None if expectation == mean.best else (mean.value(tally) - expectation) / (mean.best - expectation) + 0.0


def _standardised(tally: Tally, mean: Mean) -> float | None:
    """Distance from chance in standard deviations, positive where it is better."""
    chance = mean.chance(tally)
    distance = mean.value(tally) - chance.expectation
    return None if not chance.variance else (distance if mean.rising else 0.0 - distance) / math.sqrt(chance.variance)


def _share_of_chance(tally: Tally) -> float:
    mean = mean_metric("mean_rank")
    return mean.value(tally) / mean.chance(tally).expectation


TREC = "Voorhees 1999, The TREC-8 Question Answering Track Report"
BORDES = "Bordes et al. 2013, Translating Embeddings for Modeling Multi-relational Data"
BERRENDORF = "Berrendorf et al. 2020, [arXiv 2002.06914](https://arxiv.org/abs/2002.06914)"
HOYT = "Hoyt et al. 2022, [arXiv 2203.07544](https://arxiv.org/abs/2203.07544)"
OTHER_SIZES = "comparing data sets or candidate sets of different sizes: fewer candidates make it better"
NO_TIES = "models whose scores are often equal, without saying the tie rule"
OUTLIERS = "a single number for a model: a few very bad ranks decide it"
CHANCE_TIES = "optimistic or pessimistic ranks: what it says of chance holds for realistic ones"
TEST_SIZE = "comparing test sets of different sizes: it grows with the number of queries"


def _plain_rows(means: Mapping[str, Mean], ks: Sequence[int]) -> dict[str, Metric]:
    """Metrics of ranks alone."""
    low = "≥ 1, low is good"
    return {
        "mrr": Metric(
            compute=means["mrr"].value, formula="mean of 1 / r", range="0 … 1", source=TREC, not_for=OTHER_SIZES
        ),
        **{
            f"hits@{k}": Metric(
                compute=means[f"hits@{k}"].value,
                formula=f"share of r ≤ {k}",
                range="0 … 1",
                source=BORDES,
                not_for=NO_TIES if k == 1 else f"graphs with few candidates: of {10 * k}, chance finds a tenth",
            )
            for k in ks
        },
        "mean_rank": Metric(
            compute=means["mean_rank"].value, formula="mean of r", range=low, source=BORDES, not_for=OUTLIERS
        ),
        "median_rank": Metric(
            compute=_median,
            formula="the middle r",
            range=low,
            source=HOYT,
            not_for="telling good models apart: it is 1 for all that rank half of the answers first",
        ),
        "geometric_mean_rank": Metric(
            compute=_geometric, formula="exp(mean of log r)", range=low, source=HOYT, not_for=OTHER_SIZES
        ),
        "harmonic_mean_rank": Metric(
            compute=lambda tally: _inverse(means["mrr"].value(tally)),
            formula="1 / mrr",
            range=low,
            source=HOYT,
            not_for="anything that mrr says already; it is the same number turned round",
        ),
    }


def _chance_rows(means: Mapping[str, Mean]) -> dict[str, Metric]:
    """Metrics set against random ranks."""
    rows = {
        "adjusted_mean_rank": Metric(
            compute=_share_of_chance,
            formula="mean_rank / E(mean_rank)",
            range="0 < … < 2, low is good, 1 by chance",
            source=BERRENDORF,
            not_for=CHANCE_TIES,
            by_chance=True,
        ),
    }
    for name, mean in means.items():
        rows["adjusted_mean_rank_index" if name == "mean_rank" else f"adjusted_{name}"] = Metric(
            compute=partial(_adjusted, mean=mean),
            formula=f"({name} - E({name})) / (1 - E({name}))",
            range="≤ 1, 0 by chance",
            source=BERRENDORF if name == "mean_rank" else HOYT,
            not_for=CHANCE_TIES,
            by_chance=True,
        )
    for name, mean in means.items():
        distance = f"{name} - E({name})" if mean.rising else f"E({name}) - {name}"
        rows[f"z_{name}"] = Metric(
            compute=partial(_standardised, mean=mean),
            formula=f"({distance}) / sqrt(V({name}))",
            range="any number, 0 by chance, high is good",
            source=HOYT,
            not_for=TEST_SIZE,
            by_chance=True,
        )
    return rows


MEAN_METRICS: Mapping[str, Mean] = MappingProxyType(
    {name: mean_metric(name) for name in ("mrr", *(f"hits@{k}" for k in KS), "mean_rank")}
)
METRICS: Mapping[str, Metric] = MappingProxyType(_plain_rows(MEAN_METRICS, KS) | _chance_rows(MEAN_METRICS))


def all_metrics(ranks: Iterable[float], candidates: Candidates | None = None) -> dict[str, float | None]:
    """Every metric of `METRICS` by name; those adjusted for chance only where numbers of candidates are given.

    Sources: Berrendorf et al. 2020, arXiv 2002.06914 (adjusted mean rank and its index); Hoyt et al. 2022, arXiv
    2203.07544 (the other adjusted and the standardised forms). Adjusted forms are meant for realistic ranks.

    Args:
        ranks: of the answers.
        candidates: as in `tally_ranks`.

    Raises:
        InputError: as `tally_ranks`.

    >>> all_metrics([1, 3], np.array([5, 5]))["adjusted_mean_rank_index"]
    0.5
    """
    tally = tally_ranks(ranks, candidates)
    known = candidates is not None
    return {name: row.compute(tally) for name, row in METRICS.items() if known or not row.by_chance}


def check_ks(ks: Sequence[int]) -> tuple[int, ...]:
    """The different k of hits@k.

    Raises:
        InputError: one is no whole number of at least 1.
    """
    if isinstance(ks, (str, bytes)) or not hasattr(ks, "__iter__"):
        raise InputError(f"ks={ks!r}; expected whole numbers, as in (1, 3, 10)")
    return tuple(dict.fromkeys(int(check_k(k)) for k in ks))


def check_k(k: int) -> int:
    """The k of hits@k.

    Raises:
        InputError: it is no whole number of at least 1.
    """
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise InputError(f"k={k!r} in hits@k; expected a whole number of at least 1")
    return k


def _tally(ranks: Iterable[float]) -> tuple[Ranks, Counts]:
    """The different ranks in ascending order and how often each occurs: sums over them have one order."""
    array = check_ranks(ranks)
    if not array.size:
        raise InputError("there are no ranks; a metric of nothing is not defined")
    return count_ranks(array)


def count_ranks(array: npt.NDArray[Any]) -> tuple[Ranks, Counts]:
    """The different ranks of an array of `check_ranks` in ascending order, and how often each occurs.

    Ranks are mostly small whole numbers or halves, which are counted without sorting them.

    >>> [part.tolist() for part in count_ranks(np.array([3, 1.5, 3]))]
    [[1.5, 3.0], [1, 2]]
    """
    doubled = array if array.dtype.kind in "iu" else array * 2.0
    if array.size and float(doubled.max()) <= max(WIDTH, 4 * array.size):
        places = doubled.astype(np.int64, copy=False)
        if places is doubled or array.dtype.kind in "iu" or np.array_equal(places, doubled):
            times = np.bincount(places)
            found = np.flatnonzero(times)
            return found / (1.0 if array.dtype.kind in "iu" else 2.0), times[found].astype(np.int64)
    values, counts = np.unique(array.astype(np.float64), return_counts=True)
    return values, counts.astype(np.int64)


def check_ranks(ranks: Iterable[float]) -> npt.NDArray[Any]:
    """The ranks as an array of whole numbers or floats, shape (n,).

    Args:
        ranks: an array, a list, a series, or whatever gives one number after another. Whole numbers or halves and
            other fractions of at least 1; infinity stands for an answer that was not found.

    Raises:
        InputError: something is no rank; the message has its position, counted from 1.
    """
    if isinstance(ranks, (str, bytes, Mapping, AbstractSet)) or not (
        hasattr(ranks, "__iter__") or hasattr(ranks, "__array__")
    ):
        raise InputError(f"ranks are of type {type(ranks).__name__}; expected a list or an array, one number per rank")
    given: Any = ranks if hasattr(ranks, "__array__") else list(ranks)
    if isinstance(given, list):
        kinds = {*map(type, given)}
        if not all(issubclass(kind, NUMBERS) and kind is not bool for kind in kinds):
            _refuse_element(given)
        given = list(map(float, given)) if kinds - PLAIN else given
    elif np.ma.isMaskedArray(given):
        raise InputError("ranks are a masked array; give those that count, as in ranks.compressed()")
    try:
        array = np.asarray(given)
        array = array.astype(np.float64) if array.dtype == object and isinstance(given, list) else array
    except (ValueError, TypeError, RuntimeError, OverflowError) as error:
        raise InputError(f"ranks cannot be read as numbers ({error}); expected one number per rank") from error
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iuf"):
        raise InputError(f"ranks have shape {array.shape} and type {array.dtype}; expected one number per rank")
    if array.size and not float(array.min()) >= 1:  # also where it is NaN
        first = int(np.flatnonzero(~(array >= 1))[0])
        raise InputError(f"rank {first + 1} of {array.size} is {array[first]}; ranks are numbers and start at 1")
    return array if array.size else np.empty(0)


def _refuse_element(given: Sequence[Any]) -> None:
    """Name the first element that is no number."""
    for place, one in enumerate(given, 1):
        if isinstance(one, (list, tuple, np.ndarray)):
            raise InputError(f"rank {place} of {len(given)} is a list; expected one number per rank")
        if isinstance(one, bool) or not isinstance(one, NUMBERS):
            raise InputError(f"rank {place} of {len(given)} is {one!r}; expected one number per rank")
