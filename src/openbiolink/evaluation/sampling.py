"""A quick estimate: some test triples are ranked exactly, and the metric of all of them is enclosed.

The triples are drawn without replacement, and each is ranked on both sides against all candidates, so nothing is biased
(ranks among sampled *candidates* are; see Krichene & Rendle 2020, "On Sampled Metrics for Item Recommendation"). The
interval holds with the stated probability whatever the model, for a sample of any size, since it rests on no normal
distribution. Of a triple counts the mean of what its queries contribute, from 0 to 1. With n of N triples drawn, their
mean m and standard deviation s (divided by n):

    Hoeffding-Serfling              m ± sqrt(rho * log(2 / a) / (2 n))
    empirical Bernstein-Serfling    m ± (s * sqrt(2 * rho * L / n) + kappa * L / n),   L = log(10 / a)

where rho = 1 - (n - 1) / N, or (1 - n / N)(1 + 1 / n) if n > N / 2, and kappa = 7/3 + 3 / sqrt(2). Each is asked for
half of the error probability that is allowed, which is a, and the narrower one counts. Sources: Serfling 1974,
"Probability Inequalities for the Sum in Sampling without Replacement"; Bardenet & Maillard 2015, "Concentration
Inequalities for Sampling without Replacement", arXiv 1309.4029, corollary 2.5 and theorem 4.3, after Maurer & Pontil
2009, arXiv 0907.3740.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from openbiolink.errors import InputError
from openbiolink.evaluation.uncertainty import collect_clusters
from openbiolink.metrics.ranking import mean_metric
from openbiolink.metrics.resampling import CONFIDENCE, Interval, check_draws, generator
from openbiolink.metrics.uncertainty import MEANS, check_metrics, standard_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openbiolink.evaluation.result import Evaluation, Sides
    from openbiolink.metrics.ranking import Ties

Rows = npt.NDArray[np.int64]

KAPPA = 7 / 3 + 3 / math.sqrt(2)
BOUNDED = tuple(name for name in MEANS if mean_metric(name).within_one)


def sample_rows(triples: npt.NDArray[np.integer[Any]], size: int, seed: int) -> Rows:
    """Rows of test triples drawn without replacement, ascending; the same triples whatever their order.

    Args:
        triples: ids, shape (n, 3).
        size: how many to draw.
        seed: of the draw.

    Raises:
        InputError: there are not so many triples, or an option is wrong.
    """
    check_draws(seed, 1, CONFIDENCE)
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= len(triples):
        raise InputError(
            f"size={size!r} of the sample (--estimate); give a number from 1 to {len(triples)} test triples"
        )
    drawn = generator(seed, 2).choice(len(triples), size, replace=False, shuffle=False)
    order = np.lexsort(triples.T[::-1])
    return np.sort(order[drawn])


def estimate(
    evaluation: Evaluation,
    side: Sides = "both",
    *,
    ties: Ties | None = None,
    metrics: Sequence[str] = BOUNDED,
    confidence: float = CONFIDENCE,
) -> dict[str, Interval]:
    """Intervals that hold the metrics of all test triples, from the ranks of a sample of them.

    Each interval by itself holds its metric with the stated probability over draws of the sample. The standard error is
    that of the sample with the correction for drawing without replacement.

    Args:
        evaluation: of the sample; its `sample` says how many test triples there are.
        side: which queries.
        ties: the tie rule; that of the evaluation by default.
        metrics: of those from 0 to 1: `mrr` and `hits@K`.
        confidence: the probability.

    Raises:
        InputError: an option is wrong, a metric has no bounds, or the evaluation is not one of a sample.
    """
    check_draws(0, 1, confidence)
    check_metrics(metrics)
    if evaluation.sample is None:
        raise InputError("the evaluation is not one of a sample, so there is nothing to estimate; take its metrics")
    for name in metrics:
        if not mean_metric(name).within_one:
            raise InputError(f"metric {name!r} has no upper bound, so no guarantee can be given; choose mrr or hits@K")
    clusters = collect_clusters(evaluation, side, ties=ties, metrics=metrics)
    population, size = evaluation.sample.population, len(evaluation.triples)
    share = clusters.sums / clusters.sizes[:, np.newaxis]
    left = 1 - size / population
    found = {}
    for name, values, (value, error) in zip(metrics, share.T, standard_errors(clusters), strict=True):
        reach = reach_of_mean(float(values.std()), size, population, confidence)
        found[name] = Interval(
            value=value,
            standard_error=None if error is None else error * math.sqrt(left),
            low=max(value - reach, 0.0),
            high=min(value + reach, 1.0),
        )
    return found


def reach_of_mean(deviation: float, size: int, population: int, confidence: float) -> float:
    """How far the mean of a sample of numbers from 0 to 1 may be from the mean of all, as the module says.

    Args:
        deviation: standard deviation of the sample, divided by `size`.
        size: numbers drawn.
        population: numbers there are.
        confidence: probability that the distance is no larger.

    >>> reach_of_mean(0.5, 100, 100, 0.95), round(reach_of_mean(0.5, 100, 10**9, 0.95), 3)
    (0.0, 0.148)
    """
    if size == population:
        return 0.0
    error = (1 - confidence) / 2
    rho = 1 - (size - 1) / population if size <= population / 2 else (1 - size / population) * (1 + 1 / size)
    bounded = math.sqrt(rho * math.log(2 / error) / (2 * size))
    log = math.log(10 / error)
    return min(bounded, deviation * math.sqrt(2 * rho * log / size) + KAPPA * log / size)
