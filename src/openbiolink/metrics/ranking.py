"""Numbers from ranks: pure functions, each with its formula.

A rank is 1 for the best candidate. Ranks may be halves, where equal scores share their places.
The results do not depend on the order of the ranks, to the last digit.

>>> ranking_metrics([1, 2, 4, 1], ks=(1, 3))
{'mrr': 0.6875, 'hits@1': 0.5, 'hits@3': 0.75, 'mean_rank': 2.0}
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import numpy.typing as npt

from openbiolink.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Ties = Literal["optimistic", "realistic", "pessimistic"]
Ranks = npt.NDArray[np.float64]

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


def _check_k(k: int) -> None:
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise InputError(f"k={k!r} in hits@k; expected a whole number of at least 1")


def _tally(ranks: Iterable[float]) -> tuple[Ranks, npt.NDArray[np.int64]]:
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
