"""How far a number may be from that of another test set of the same kind: standard errors and bootstrap intervals.

The two ranks of a test triple depend on each other, so what is drawn anew is the triple (or, if wanted, all answers of
a question). The formulas are those of `openbiolink.metrics.uncertainty`, where a row is such a cluster.

Source: Cameron et al. 2008, "Bootstrap-Based Improvements for Inference with Clustered Errors" (clusters drawn whole).
"""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import numpy.typing as npt

from openbiolink.errors import InputError
from openbiolink.evaluation.known import query_codes
from openbiolink.evaluation.result import COLUMNS, SIDES
from openbiolink.metrics.ranking import mean_metric, tally_ranks
from openbiolink.metrics.resampling import CONFIDENCE, RESAMPLES, Interval, check_draws, round_for_sums
from openbiolink.metrics.uncertainty import (
    MEANS,
    Clusters,
    check_metrics,
    contributions,
    intervals,
    sorted_clusters,
    standard_errors,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openbiolink.evaluation.result import Evaluation, Sides
    from openbiolink.metrics.ranking import Ties

Cluster = Literal["triple", "query"]
Values = npt.NDArray[np.float64]


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
    return intervals(clusters, metrics, seed=seed, resamples=resamples, confidence=confidence)


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
    ranks = evaluation.ranks(side, ties=ties).reshape(len(evaluation.triples), -1)
    parts = contributions(ranks, names)
    if cluster == "triple":
        sums, sizes = parts.sum(axis=1), np.full(len(parts), float(parts.shape[1]))
    else:
        codes = [query_codes(evaluation.dataset, evaluation.triples, one) for one in SIDES]
        _, of = np.unique((2 * np.stack(codes, axis=1) + np.arange(2))[:, COLUMNS[side]], return_inverse=True)
        exact = [round_for_sums(column).ravel() for column in np.moveaxis(parts, 2, 0)]
        sums = np.stack([np.bincount(of.ravel(), weights=column) for column in exact], axis=1)
        sizes = np.bincount(of.ravel()).astype(np.float64)
    tally = tally_ranks(evaluation.ranks(side, ties=ties))
    values = np.array([mean_metric(name).value(tally) for name in metrics])
    return sorted_clusters(sums, sizes, [names.index(name) for name in metrics], values)
