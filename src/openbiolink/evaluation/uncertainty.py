"""How far a number may be from that of another test set of the same kind: standard errors and bootstrap intervals.

The two ranks of a test triple depend on each other, so what is drawn anew is the triple (or, if wanted, the question).
Of a cluster c with the sum s_c and n_c queries, and the metric m = sum of s / sum of n over C clusters,

    standard error   sqrt(C / (C - 1) * sum of (s_c - m n_c) ** 2) / sum of n
    bootstrap        C clusters drawn with replacement, their m; percentiles of many such draws

Sources: Cochran 1977, "Sampling Techniques", section 6.4 (ratio estimate); Efron & Tibshirani 1993, "An Introduction
to the Bootstrap", section 13.3 (percentile interval); Cameron et al. 2008, "Bootstrap-Based Improvements for Inference
with Clustered Errors" (clusters drawn whole).

Random numbers are those of NumPy's PCG64. Sums are exact: what is added is first rounded to multiples of a power of
two, 2 ** -32 of the largest where there are a million clusters. Clusters are drawn from a list that is sorted by what
they contribute. So an interval depends on seed and ranks alone, not on the order of triples, the metrics that are asked
for, or threads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import numpy.typing as npt

from openbiolink.errors import InputError
from openbiolink.evaluation.known import query_codes
from openbiolink.evaluation.result import COLUMNS, SIDES
from openbiolink.metrics.ranking import KS, mean_metric, tally_ranks
from openbiolink.metrics.resampling import CONFIDENCE, RESAMPLES, ROOM, check_draws, generator, round_for_sums

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from openbiolink.evaluation.result import Evaluation, Sides
    from openbiolink.metrics.ranking import Ties

Cluster = Literal["triple", "query"]
Values = npt.NDArray[np.float64]

MEANS = ("mrr", *(f"hits@{k}" for k in KS), "mean_rank")


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A metric and how sure it is.

    Attributes:
        value: the metric.
        standard_error: in closed form; None where there is one cluster only.
        low: lower end of the interval.
        high: upper end.
    """

    value: float
    standard_error: float | None
    low: float
    high: float


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


def bootstrap_intervals(
    evaluation: Evaluation,
    side: Sides = "both",
    *,
    ties: Ties | None = None,
    metrics: Sequence[str] = MEANS,
    seed: int = 0,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    cluster: Cluster = "triple",
) -> dict[str, Interval]:
    """Percentile intervals of the bootstrap over clusters of queries; a few seconds for 400,000 triples.

    Args:
        evaluation: what was found.
        side: which queries.
        ties: the tie rule; that of the evaluation by default.
        metrics: means over queries: `mrr`, `mean_rank`, `hits@K`.
        seed: of the draws.
        resamples: how many draws.
        confidence: share of draws inside the interval.
        cluster: what is drawn whole: a test `triple` with both its queries, or all answers of a `query`.

    Raises:
        InputError: an option is wrong.
    """
    check_draws(seed, resamples, confidence)
    clusters = collect_clusters(evaluation, side, ties=ties, metrics=metrics, cluster=cluster)
    drawn = np.concatenate(list(draw_means(clusters, seed, resamples)))
    ends = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    ends += clusters.off
    return {
        name: Interval(value=value, standard_error=error, low=float(low), high=float(high))
        for name, (value, error), low, high in zip(metrics, standard_errors(clusters), *ends, strict=True)
    }


def normal_intervals(
    evaluation: Evaluation,
    side: Sides = "both",
    *,
    ties: Ties | None = None,
    metrics: Sequence[str] = MEANS,
    confidence: float = CONFIDENCE,
    cluster: Cluster = "triple",
) -> dict[str, Interval]:
    """Intervals by the standard error alone, which cost nothing and draw nothing; cut where the metric ends.

    Where there is one cluster only, the ends are the metric itself. Arguments and errors as `bootstrap_intervals`.

    Raises:
        InputError: an option is wrong.
    """
    check_draws(0, 1, confidence)
    clusters = collect_clusters(evaluation, side, ties=ties, metrics=metrics, cluster=cluster)
    width = NormalDist().inv_cdf((1 + confidence) / 2)
    found = {}
    for name, (value, error) in zip(metrics, standard_errors(clusters), strict=True):
        reach, bounded = width * (error or 0.0), mean_metric(name).within_one
        low, high = max(value - reach, 0.0 if bounded else 1.0), value + reach
        found[name] = Interval(value=value, standard_error=error, low=low, high=min(high, 1.0) if bounded else high)
    return found


def collect_clusters(
    evaluation: Evaluation, side: Sides, *, ties: Ties | None, metrics: Sequence[str], cluster: Cluster = "triple"
) -> Clusters:
    """The clusters of queries, with the sums of what they contribute to each metric.

    Raises:
        InputError: there is no such side, tie rule, metric or cluster, or a metric is asked for twice.
    """
    if cluster not in get_args(Cluster):
        raise InputError(f"cluster={cluster!r} does not exist; choose one of {', '.join(get_args(Cluster))}")
    check_metrics(metrics)
    names = (*MEANS, *(name for name in metrics if name not in MEANS))  # sorted by these, whatever is asked for
    parts = contributions(evaluation, side, ties=ties, metrics=names)
    if cluster == "triple":
        sums, sizes = parts.sum(axis=1), np.full(len(parts), float(parts.shape[1]))
    else:
        codes = [query_codes(evaluation.dataset, evaluation.triples, one) for one in SIDES]
        _, of = np.unique((2 * np.stack(codes, axis=1) + np.arange(2))[:, COLUMNS[side]], return_inverse=True)
        exact = [round_for_sums(column).ravel() for column in np.moveaxis(parts, 2, 0)]
        sums = np.stack([np.bincount(of.ravel(), weights=column) for column in exact], axis=1)
        sizes = np.bincount(of.ravel()).astype(np.float64)
    order = np.lexsort([*sums.T[::-1], sizes])
    chosen = np.stack([round_for_sums(sums[order, names.index(name)]) for name in metrics], axis=1)
    tally = tally_ranks(evaluation.ranks(side, ties=ties))
    values = np.array([mean_metric(name).value(tally) for name in metrics])
    return Clusters(sums=chosen, sizes=sizes[order], off=values - chosen.sum(axis=0) / float(sizes.sum()))


def check_metrics(metrics: Sequence[str]) -> None:
    """Refuse metrics that are no means over queries, or are asked for twice.

    Raises:
        InputError: the message names them.
    """
    if isinstance(metrics, str) or len(set(metrics)) < len(metrics) or not metrics:
        raise InputError(f"metrics={metrics!r}; give names of metrics, one at least and each once")
    for name in metrics:
        mean_metric(name)


def contributions(evaluation: Evaluation, side: Sides, *, ties: Ties | None, metrics: Sequence[str]) -> Values:
    """What each query contributes to each metric: shape (n, sides, m).

    Raises:
        InputError: there is no such side, tie rule or metric.
    """
    ranks = evaluation.ranks(side, ties=ties).reshape(len(evaluation.triples), -1)
    return np.stack([mean_metric(name).of(ranks, 1) for name in metrics], axis=2)


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
