"""Numbers from ranks: pure functions, each with its formula.

A rank is 1 for the best candidate. Ranks may be halves, where equal scores share their places.
The results do not depend on the order of the ranks, to the last digit.

>>> ranking_metrics([1, 2, 4, 1], ks=(1, 3))
{'mrr': 0.6875, 'hits@1': 0.5, 'hits@3': 0.75, 'mean_rank': 2.0}
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from openbiolink.errors import InputError
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
    from collections.abc import Callable, Iterable, Mapping, Sequence

Ties = Literal["optimistic", "realistic", "pessimistic"]
Ranks = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Candidates = npt.NDArray[np.integer[Any]]

TIES: tuple[Ties, ...] = get_args(Ties)
KS = (1, 3, 10)
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


def check_ties(ties: str) -> None:
    """Refuse a tie rule that does not exist.

    Raises:
        InputError: the message names the rules there are.
    """
    if ties not in SHARE:
        raise InputError(f"ties={ties!r} is not a tie rule; choose one of {', '.join(TIES)}")


def mean_reciprocal_rank(ranks: Iterable[float]) -> float:
    """The mean of 1/rank, in (0, 1]; 1 means that every answer came first.

    Source: Voorhees 1999, "The TREC-8 Question Answering Track Report".

    Raises:
        InputError: there are no ranks, or one is not a finite number of at least 1.

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
    _check_k(k)
    values, counts = _tally(ranks)
    return int(counts[values <= k].sum()) / int(counts.sum())


def mean_rank(ranks: Iterable[float]) -> float:
    """The arithmetic mean of the ranks, 1 or more; smaller is better.

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
    for k in ks:
        _check_k(k)
    values, counts = _tally(ranks)
    total = int(counts.sum())
    hits = {f"hits@{k}": int(counts[values <= k].sum()) / total for k in ks}
    mrr, mean = math.fsum(counts / values) / total, math.fsum(counts * values) / total
    return {"mrr": mrr, **hits, "mean_rank": mean}


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
    return 1 / mean_reciprocal_rank(ranks)


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
        by_chance: whether it needs the numbers of candidates.
    """

    compute: Callable[[Tally], float | None]
    formula: str
    range: str
    by_chance: bool = False


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


def _rows(ks: Sequence[int]) -> dict[str, Metric]:
    means = {name: mean_metric(name) for name in ("mrr", *(f"hits@{k}" for k in ks), "mean_rank")}
    rows = {
        "mrr": Metric(compute=means["mrr"].value, formula="mean of 1 / r", range="0 < … ≤ 1"),
        **{
            f"hits@{k}": Metric(compute=means[f"hits@{k}"].value, formula=f"share of r ≤ {k}", range="0 … 1")
            for k in ks
        },
        "mean_rank": Metric(compute=means["mean_rank"].value, formula="mean of r", range="≥ 1, low is good"),
        "median_rank": Metric(compute=_median, formula="the middle r", range="≥ 1, low is good"),
        "geometric_mean_rank": Metric(compute=_geometric, formula="exp(mean of log r)", range="≥ 1, low is good"),
        "harmonic_mean_rank": Metric(
            compute=lambda tally: 1 / means["mrr"].value(tally), formula="1 / mrr", range="≥ 1, low is good"
        ),
        "adjusted_mean_rank": Metric(
            compute=_share_of_chance,
            formula="mean_rank / E(mean_rank)",
            range="0 < … < 2, low is good, 1 by chance",
            by_chance=True,
        ),
    }
    for name, mean in means.items():
        rows["adjusted_mean_rank_index" if name == "mean_rank" else f"adjusted_{name}"] = Metric(
            compute=partial(_adjusted, mean=mean),
            formula=f"({name} - E({name})) / (1 - E({name}))",
            range="≤ 1, 0 by chance",
            by_chance=True,
        )
    for name, mean in means.items():
        distance = f"{name} - E({name})" if mean.rising else f"E({name}) - {name}"
        rows[f"z_{name}"] = Metric(
            compute=partial(_standardised, mean=mean),
            formula=f"({distance}) / sqrt(V({name}))",
            range="any number, 0 by chance, high is good",
            by_chance=True,
        )
    return rows


METRICS: Mapping[str, Metric] = MappingProxyType(_rows(KS))


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


def _check_k(k: int) -> None:
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise InputError(f"k={k!r} in hits@k; expected a whole number of at least 1")


def _tally(ranks: Iterable[float]) -> tuple[Ranks, Counts]:
    """The different ranks in ascending order and how often each occurs: sums over them have one order."""
    values, counts = np.unique(_checked(ranks), return_counts=True)
    return values, counts.astype(np.int64)


def _checked(ranks: Iterable[float]) -> Ranks:
    given = ranks if isinstance(ranks, np.ndarray) else list(ranks)
    truths = isinstance(given, list) and any(isinstance(rank, (bool, np.bool_)) for rank in given)
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise InputError("ranks are lists of different lengths; expected one number per rank") from error
    if not array.size:
        raise InputError("there are no ranks; a metric of nothing is not defined")
    if array.ndim != 1 or array.dtype.kind not in "iuf" or truths:
        raise InputError(f"ranks have shape {array.shape} and type {array.dtype}; expected one number per rank")
    values = array.astype(np.float64)
    wrong = np.flatnonzero(~((values >= 1) & (values < np.inf)))
    if wrong.size:
        first = int(wrong[0])
        raise InputError(f"rank {first + 1} of {values.size} is {array[first]}; ranks are finite and start at 1")
    return values
