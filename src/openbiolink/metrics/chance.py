"""What a metric is when ranks are drawn by lot: expectation and variance, in closed form.

The answer of a query with n candidates, itself among them, has each of the ranks 1 to n with the same probability, and
queries are independent. Sources: Berrendorf et al. 2020, arXiv 2002.06914, section 4; Hoyt et al. 2022, "A Unified
Framework for Rank-based Evaluation Metrics for Link Prediction in Knowledge Graphs", arXiv 2203.07544, section 3.

    rank          expectation (n + 1) / 2     variance (n ** 2 - 1) / 12
    1 / rank      expectation H1(n) / n       variance H2(n) / n - (H1(n) / n) ** 2
    rank <= k     expectation p = min(k, n) / n    variance p (1 - p)

H1(n) and H2(n) are the sums of 1/i and 1/i ** 2 for i from 1 to n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from openbiolink.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Values = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Moments = tuple[Values, Values]

BITS = 80  # after the point, of the sums of fractions


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """A metric of random ranks.

    Attributes:
        expectation: its mean over all draws.
        variance: its variance over all draws; smaller with more queries.
    """

    expectation: float
    variance: float


def tally_candidates(candidates: npt.NDArray[np.integer[Any]]) -> tuple[Counts, Counts]:
    """The different numbers of candidates in ascending order, and how many queries have each.

    Args:
        candidates: for each query how many candidates were ranked, the answer among them, any shape.

    Raises:
        InputError: there are no queries, or a number is no whole one of at least 1.

    >>> [part.tolist() for part in tally_candidates(np.array([5, 2, 5]))]
    [[2, 5], [1, 2]]
    """
    given = np.asarray(candidates)
    if given.dtype.kind not in "iu" or not given.size:
        raise InputError(
            f"numbers of candidates have shape {given.shape} and type {given.dtype}; expected a whole number per query"
        )
    if given.min() < 1:
        raise InputError(f"a query has {given.min()} candidates; the answer is one, so there is at least 1")
    values, counts = np.unique(given.astype(np.int64), return_counts=True)
    return values, counts.astype(np.int64)


def chance_of(moments: Callable[[Counts], Moments], values: Counts, counts: Counts) -> Chance:
    """Expectation and variance of the mean over queries.

    Args:
        moments: expectation and variance of one query, for numbers of candidates.
        values: numbers of candidates.
        counts: how many queries have each.
    """
    expectation, variance = moments(values)
    total = int(counts.sum())
    return Chance(expectation=math.fsum(counts * expectation) / total, variance=math.fsum(counts * variance) / total**2)


def chance_of_mean_rank(candidates: Counts) -> Moments:
    """Expectation and variance of the rank of one query with that many candidates, element by element.

    >>> [part.tolist() for part in chance_of_mean_rank(np.array([1, 5]))]
    [[1.0, 3.0], [0.0, 2.0]]
    """
    wide = candidates.astype(np.float64)
    return (wide + 1) / 2, (wide * wide - 1) / 12


def chance_of_mrr(candidates: Counts) -> Moments:
    """The same of 1/rank.

    >>> [part.tolist() for part in chance_of_mrr(np.array([1, 2]))]
    [[1.0, 0.75], [0.0, 0.0625]]
    """
    largest = int(candidates.max())
    first, second = _harmonic_sums(1 << (largest - 1).bit_length())
    mean = first[candidates] / candidates
    return mean, second[candidates] / candidates - mean * mean


def chance_of_hits(candidates: Counts, *, k: int) -> Moments:
    """The same of whether the rank is at most k.

    >>> [part.tolist() for part in chance_of_hits(np.array([1, 4]), k=1)]
    [[1.0, 0.25], [0.0, 0.1875]]
    """
    share = np.minimum(candidates, k) / candidates
    return share, share * (1 - share)


def chance_level(candidates: npt.NDArray[np.integer[Any]], *, ks: tuple[int, ...] = (1, 3, 10)) -> dict[str, Chance]:
    """Expectation and variance of `mrr`, `hits@k` for every k and `mean_rank` under random ranks.

    Args:
        candidates: for each query how many candidates were ranked, the answer among them, any shape.
        ks: the numbers k.

    Raises:
        InputError: as `tally_candidates`.

    >>> chance_level(np.array([2, 2]), ks=(1,))["hits@1"]
    Chance(expectation=0.5, variance=0.125)
    """
    values, counts = tally_candidates(candidates)
    moments: Mapping[str, Callable[[Counts], Moments]] = {
        "mrr": chance_of_mrr,
        **{f"hits@{k}": partial(chance_of_hits, k=k) for k in ks},
        "mean_rank": chance_of_mean_rank,
    }
    return {name: chance_of(one, values, counts) for name, one in moments.items()}


@lru_cache(maxsize=2)
def _harmonic_sums(largest: int) -> Moments:
    """H1 and H2 of 0 to `largest`: sums of whole numbers, so that no error adds up; 0.2 s per million."""
    one = 1 << BITS
    sums = []
    for power in (1, 2):
        parts = (one // i**power for i in range(1, largest + 1))
        sums.append(np.fromiter((whole / one for whole in accumulate(parts, initial=0)), np.float64, largest + 1))
        sums[-1].setflags(write=False)
    return sums[0], sums[1]
