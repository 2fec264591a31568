"""How sure a number from ranks is, and whether two sets of ranks differ.

What is drawn anew is a row of ranks: those that depend on each other, such as the two ranks of a test triple, stand in
one row. Of C rows with the sums s and n queries each, and the metric m = sum of s / sum of n,

    standard error   sqrt(C / (C - 1) * sum of (s - m n) ** 2) / sum of n
    bootstrap        C rows drawn with replacement, their m; percentiles of many such draws

and of two sets of ranks counts the difference d of each row, second minus first:

    interval      percentiles of the mean of d over rows drawn with replacement
    p             the share of sign flips of d whose mean is at least as far from 0, on either side, the one that was
                  seen among them: (1 + number of such flips) / (1 + flips)
    effect        mean of d / standard deviation of d, positive where the second is better (Cohen's d of pairs)
    needed        ((z(1 - alpha / 2) + z(power)) / effect) ** 2 rows, so that a difference of this size is found at
                  alpha = 0.05 with probability 0.8; and so many that 2 ** (1 - needed), the smallest p, is below alpha

Sources: Cochran 1977, "Sampling Techniques", section 6.4 (ratio estimate); Efron & Tibshirani 1993, "An Introduction to
the Bootstrap", section 13.3 (percentile interval); those of tests in `openbiolink.metrics.resampling`.

Random numbers are those of NumPy's PCG64. Sums are exact: what is added is first rounded to multiples of a power of
two, 2 ** -32 of the largest where there are a million rows. Rows are drawn from a list that is sorted by what they
contribute. So an interval depends on seed and ranks alone, not on the order of rows, other metrics, or threads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from openbiolink.errors import InputError
from openbiolink.metrics.ranking import MEAN_METRICS, check_ranks, mean_metric, tally_ranks
from openbiolink.metrics.resampling import (
    CONFIDENCE,
    RESAMPLES,
    ROOM,
    Interval,
    check_draws,
    flip_signs,
    generator,
    round_for_sums,
    triples_needed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Values = npt.NDArray[np.float64]

MEANS = tuple(MEAN_METRICS)
NOISE = 2.0**-50  # more than two sums of two rounded fractions 1 / rank may differ by where they are equal


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """What is drawn together, sorted by its numbers.

    Attributes:
        sums: of the contributions of each cluster, a column per metric, shape (c, m); sums of them are exact.
        sizes: queries of each, shape (c,).
        off: what each metric is larger than the rounded sums say, shape (m,).
    """

    sums: Values
    sizes: Values
    off: Values


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One metric of two models on the same test triples.

    Attributes:
        difference: the metric of the second minus that of the first.
        low: lower end of the interval of the difference.
        high: upper end.
        p: probability of a difference as large by chance, two-sided.
        effect: mean over standard deviation of the differences of triples, positive where the second is better; None
            where it is not defined: one triple, or all differences equal.
        wins: test triples where the second is better.
        ties: where both are equal.
        losses: where the first is better.
        needed: test triples to find a difference of this size, 6 at least; None where there is none.
    """

    difference: float
    low: float
    high: float
    p: float
    effect: float | None
    wins: int
    ties: int
    losses: int
    needed: int | None


def bootstrap_ranks(
    ranks: Any,
    metrics: Sequence[str] = MEANS,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> dict[str, Interval]:
    """Percentile intervals of metrics of ranks; ten seconds for a million of them.

    Args:
        ranks: shape (n,), or (n, s) for n times s ranks that depend on each other.
        metrics: means over queries: `mrr`, `mean_rank`, `hits@K`.
        seed: of the draws.
        resamples: how many draws.
        confidence: share of draws inside the interval.

    Raises:
        InputError: something is no rank, there are none, an option is wrong, or a rank is infinite where the mean rank
            is asked for.

    >>> interval = bootstrap_ranks([1, 3, 5, 10, 20, 2, 1, 8, 15, 1], ["mrr"], seed=7)["mrr"]
    >>> interval.low < interval.value < interval.high
    True
    """
    check_draws(seed, resamples, confidence)
    check_metrics(metrics)
    rows = rank_rows(ranks, metrics)
    names = (*MEANS, *(name for name in metrics if name not in MEANS))
    sums = contributions(rows, names).sum(axis=1)
    values = _values(rows, metrics)
    chosen = [names.index(name) for name in metrics]
    clusters = sorted_clusters(sums, np.full(len(rows), float(rows.shape[1])), chosen, values)
    return intervals(clusters, metrics, seed=seed, resamples=resamples, confidence=confidence)


def intervals(
    clusters: Clusters, metrics: Sequence[str], *, seed: int, resamples: int, confidence: float
) -> dict[str, Interval]:
    """The percentile intervals of the metrics that clusters hold, in their order."""
    drawn = np.concatenate(list(draw_means(clusters, seed, resamples)))
    ends = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    ends += clusters.off
    return {
        name: Interval(value=value, standard_error=error, low=float(low), high=float(high))
        for name, (value, error), low, high in zip(metrics, standard_errors(clusters), *ends, strict=True)
    }


def compare_ranks(
    first: Any,
    second: Any,
    metrics: Sequence[str] = MEANS,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> dict[str, Difference]:
    """The differences of two sets of ranks of the same queries, metric by metric.

    Args:
        first: as in `bootstrap_ranks`.
        second: of the same shape; each rank of the same query as in `first`.
        metrics: means over queries: `mrr`, `mean_rank`, `hits@K`.
        seed: of the draws.
        resamples: how many rows are drawn anew, and how often signs are flipped.
        confidence: of the intervals.

    Raises:
        InputError: the shapes differ, something is no rank, or an option is wrong.

    >>> compare_ranks([4, 2, 9], [1, 1, 3], ["mrr"])["mrr"].wins
    3
    """
    check_draws(seed, resamples, confidence)
    check_metrics(metrics)
    both = [rank_rows(one, metrics) for one in (first, second)]
    if both[0].shape != both[1].shape:
        raise InputError(f"ranks of shapes {both[0].shape} and {both[1].shape}; give both for the same queries")
    names = (*MEANS, *(name for name in metrics if name not in MEANS))
    of = [contributions(rows, names).sum(axis=1) for rows in both]
    order = np.lexsort([*of[1].T[::-1], *of[0].T[::-1]])
    chosen = [names.index(name) for name in metrics]
    apart = (of[1][:, chosen] - of[0][:, chosen])[order]
    apart[np.abs(apart) < NOISE] = 0.0
    exact = np.stack([round_for_sums(column) for column in apart.T], axis=1)
    values = np.stack([_values(rows, metrics) for rows in both], axis=1)
    sides = both[0].shape[1]
    sizes = np.full(len(exact), float(sides))
    off = values[:, 1] - values[:, 0] - exact.sum(axis=0) / float(sizes.sum())
    drawn = np.concatenate(list(draw_means(Clusters(sums=exact, sizes=sizes, off=off), seed, resamples)))
    ends = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0) + off
    return {
        name: _difference(name, given, column / sides, before_after, (low, high), seed=seed, flips=resamples)
        for name, given, column, before_after, low, high in zip(
            metrics, apart.T, exact.T, values.tolist(), *ends.tolist(), strict=True
        )
    }


def _difference(
    name: str, given: Values, each: Values, values: Sequence[float], ends: tuple[float, float], *, seed: int, flips: int
) -> Difference:
    """What the differences of all triples say of one metric: as given, and rounded so that sums are exact."""
    better = 1 if mean_metric(name).rising else -1
    deviation = float(each.std(ddof=1)) if len(each) > 1 else 0.0
    effect = better * float(each.mean()) / deviation if deviation else None
    wins, losses = int((better * given > 0).sum()), int((better * given < 0).sum())
    return Difference(
        difference=values[1] - values[0],
        low=ends[0],
        high=ends[1],
        p=flip_signs(each, seed=seed, flips=flips),
        effect=effect,
        wins=wins,
        ties=len(each) - wins - losses,
        losses=losses,
        needed=triples_needed(math.inf if effect is None else effect) if wins or losses else None,
    )


def rank_rows(ranks: Any, metrics: Sequence[str]) -> Values:
    """Ranks as rows of those that depend on each other, shape (n, s).

    Raises:
        InputError: there are none, one is no rank, or one is infinite and the mean rank is asked for.
    """
    given = ranks if hasattr(ranks, "__array__") or not hasattr(ranks, "__iter__") else list(ranks)
    shape = np.shape(given) if hasattr(given, "__array__") or _holds_lists(given) else None
    if shape is not None and len(shape) > 2:
        raise InputError(f"ranks have shape {shape}; expected (n,) or (n, s)")
    flat = check_ranks(np.ravel(given) if shape is not None and len(shape) == 2 else given).astype(np.float64)
    if not flat.size:
        raise InputError("there are no ranks; nothing can be said of nothing")
    missing = int(np.isinf(flat).sum())
    if missing and "mean_rank" in metrics:
        raise InputError(
            f"answers that were not found: {missing}, so the mean rank is infinite; leave mean_rank out of `metrics`"
        )
    return flat.reshape(-1, shape[1] if shape is not None and len(shape) == 2 else 1)


def _holds_lists(given: Any) -> bool:
    return isinstance(given, list) and bool(given) and all(isinstance(one, (list, tuple, np.ndarray)) for one in given)


def contributions(rows: Values, metrics: Sequence[str]) -> Values:
    """What each rank contributes to each metric: shape (n, s, m) for ranks of shape (n, s).

    Raises:
        InputError: there is no such metric.
    """
    return np.stack([mean_metric(name).of(rows, 1) for name in metrics], axis=2)


def sorted_clusters(sums: Values, sizes: Values, chosen: Sequence[int], values: Values) -> Clusters:
    """Clusters of these columns of sums, in an order that follows from all of them; `values` are the exact metrics."""
    order = np.lexsort([*sums.T[::-1], sizes])
    kept = np.stack([round_for_sums(sums[order, column]) for column in chosen], axis=1)
    return Clusters(sums=kept, sizes=sizes[order], off=values - kept.sum(axis=0) / float(sizes.sum()))


def _values(rows: Values, metrics: Sequence[str]) -> Values:
    tally = tally_ranks(rows.ravel())
    return np.array([mean_metric(name).value(tally) for name in metrics])


def check_metrics(metrics: Sequence[str]) -> None:
    """Refuse metrics that are no means over queries, or are asked for twice.

    Raises:
        InputError: the message names them.
    """
    if isinstance(metrics, str) or len(set(metrics)) < len(metrics) or not metrics:
        raise InputError(f"metrics={metrics!r}; give names of metrics, one at least and each once")
    for name in metrics:
        mean_metric(name)


def draw_means(clusters: Clusters, seed: int, resamples: int) -> Iterator[Values]:
    """The metrics of some draws at a time, shape (b, m)."""
    source, count = generator(seed, 0), len(clusters.sizes)
    numbers = np.concatenate([clusters.sums, clusters.sizes[:, np.newaxis]], axis=1)
    block = max(1, ROOM // count)
    times = np.empty((min(block, resamples), count))
    for first in range(0, resamples, block):
        rows = min(block, resamples - first)
        for row in range(rows):
            times[row] = np.bincount(source.integers(0, count, count), minlength=count)
        totals = times[:rows] @ numbers  # exact, so in whatever order they are added
        yield totals[:, :-1] / totals[:, -1:]


def standard_errors(clusters: Clusters) -> list[tuple[float, float | None]]:
    """Each metric and its standard error, None where there is one cluster only."""
    count, total = len(clusters.sizes), float(clusters.sizes.sum())
    found: list[tuple[float, float | None]] = []
    for column, off in zip(clusters.sums.T, clusters.off.tolist(), strict=True):
        value = float(column.sum()) / total
        spread = math.fsum((column - value * clusters.sizes) ** 2)
        found.append((value + off, math.sqrt(count / (count - 1) * spread) / total if count > 1 else None))
    return found
