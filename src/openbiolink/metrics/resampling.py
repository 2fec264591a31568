"""What random draws and tests of differences share, whatever is drawn: numbers that add up exactly, seeds, sign flips.

Sources: Fisher 1935, "The Design of Experiments", section 21 (sign flips); Phipson & Smyth 2010, "Permutation P-values
Should Never Be Zero"; Cohen 1988, "Statistical Power Analysis for the Behavioral Sciences", section 2.4; Holm 1979, "A
Simple Sequentially Rejective Multiple Test Procedure".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from openbiolink.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

Values = npt.NDArray[np.float64]

RESAMPLES = 1000
CONFIDENCE = 0.95
ROOM = 1 << 22  # numbers that a block of draws may hold: 32 MB
ALPHA, POWER = 0.05, 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A metric and how sure it is.

    Attributes:
        value: the metric.
        standard_error: in closed form where there is one, else of the draws; None where one cluster only is drawn from.
        low: lower end of the interval.
        high: upper end.
    """

    value: float
    standard_error: float | None
    low: float
    high: float


def round_for_sums(values: Values) -> Values:
    """The numbers as multiples of a power of two so large that no sum of as many of them is rounded.

    >>> bool(round_for_sums(np.array([1.0, 1 / 3]))[1] == 1 / 3), round_for_sums(np.full(4, 0.5)).tolist()
    (False, [0.5, 0.5, 0.5, 0.5])
    """
    largest = float(np.abs(values).max(initial=0.0)) * max(values.size, 1)
    unit = 2.0 ** (math.frexp(largest)[1] - 52)
    return np.round(values / unit) * unit


def check_draws(seed: int, resamples: int, confidence: float) -> None:
    """Refuse options of draws that cannot be.

    Raises:
        InputError: the message names the option.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed={seed!r} is no seed; give a whole number of at least 0")
    if isinstance(resamples, bool) or not isinstance(resamples, int) or resamples < 1:
        raise InputError(f"resamples={resamples!r} is too few; give 1 or more")
    if not 0 < confidence < 1:
        raise InputError(f"confidence={confidence!r} is no share between 0 and 1; give 0.95, for one")


def generator(seed: int, purpose: int) -> np.random.Generator:
    """Random numbers of a seed for one purpose, independent of those for another."""
    return np.random.Generator(np.random.PCG64([seed, purpose]))


def flip_signs(differences: Values, *, seed: int = 0, flips: int = RESAMPLES) -> float:
    """The probability that a sum of differences as far from 0 comes about if every sign is as likely as the other.

    Args:
        differences: of pairs, shape (n,), rounded as `round_for_sums` does; their order does not matter.
        seed: of the flips.
        flips: how often all signs are drawn.

    Returns:
        From 1 / (1 + flips) to 1.

    >>> flip_signs(np.zeros(3)), flip_signs(np.ones(20))
    (1.0, 0.000999000999000999)
    """
    size = np.sort(np.abs(differences[differences != 0]))
    if not len(size):
        return 1.0
    source, seen, further = generator(seed, 1), abs(float(differences.sum())), 0
    octets = -(-len(size) // 8)
    block = max(1, ROOM // len(size))
    for first in range(0, flips, block):
        rows = min(block, flips - first)
        bits = np.unpackbits(source.integers(0, 256, (rows, octets), dtype=np.uint8), axis=1, count=len(size))
        sums = bits.astype(np.float64) @ size * 2 - float(size.sum())  # exact, so in whatever order they are added
        further += int((np.abs(sums) >= seen).sum())
    return (1 + further) / (1 + flips)


def triples_needed(effect: float, *, alpha: float = ALPHA, power: float = POWER) -> int | None:
    """How many test triples find a difference of that effect, by the normal approximation; None for no effect.

    The signs of n differences have 2 ** n patterns, and two of them are as far from 0 as any, so that there are never
    fewer than it takes to make 2 ** (1 - n) less than alpha.

    Args:
        effect: mean over standard deviation of the differences.
        alpha: the probability of finding one that is none.
        power: the probability of finding it.

    >>> triples_needed(0.5), triples_needed(-0.05), triples_needed(5.0), triples_needed(0.0)
    (32, 3140, 6, None)
    """
    if not effect:
        return None
    reach = NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(power)
    return max(math.ceil((reach / effect) ** 2), math.floor(1 - math.log2(alpha)) + 1)


def holm(probabilities: Sequence[float]) -> list[float]:
    """The probabilities corrected for their number, in the same order.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected, highest = [0.0] * len(probabilities), 0.0
    for place, number in enumerate(sorted(range(len(probabilities)), key=probabilities.__getitem__)):
        highest = max(highest, min(1.0, (len(probabilities) - place) * probabilities[number]))
        corrected[number] = highest
    return corrected
