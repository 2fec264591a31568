"""Numbers about ranks and scores by their definitions, in plain Python: slow, obvious, and of no package."""

import math
from fractions import Fraction
from itertools import product


def chance(candidates, value):
    """Expectation and variance of the mean of `value(rank)`, over all ranks that the queries could have together."""
    draws = []
    for ranks in product(*(range(1, number + 1) for number in candidates)):
        draws.append(sum(Fraction(value(rank)) for rank in ranks) / len(ranks))
    mean = sum(draws) / len(draws)
    return mean, sum((draw - mean) ** 2 for draw in draws) / len(draws)


def median(values):
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def auroc(positive, negative):
    halves = sum(2 if p > n else p == n for p in positive for n in negative)
    return Fraction(halves, 2 * len(positive) * len(negative))


def average_precision(positive, negative):
    """The mean over positives of the precision among all that score at least as high."""
    total = Fraction(0)
    for score in positive:
        true = sum(other >= score for other in positive)
        total += Fraction(true, true + sum(other >= score for other in negative))
    return total / len(positive)


def cluster_error(clusters):
    """Standard error of sum / number, from lists of contributions that belong together."""
    count, total = len(clusters), sum(map(len, clusters))
    mean = sum(map(sum, clusters)) / total
    spread = sum((sum(one) - mean * len(one)) ** 2 for one in clusters)
    return math.sqrt(count / (count - 1) * spread) / total


def relation_class(triples, relation, many):
    own = {triple for triple in triples if triple[1] == relation}
    if not own:
        return "unseen"
    heads, tails = {h for h, _, _ in own}, {t for _, _, t in own}
    return f"{'N' if len(own) / len(tails) >= many else '1'}-{'N' if len(own) / len(heads) >= many else '1'}"


def flips(differences):
    """The share of all sign patterns whose sum is at least as far from 0."""
    seen = abs(sum(differences))
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((-1, 1), repeat=len(differences))
    ]
    return sum(one >= seen for one in sums) / len(sums)
