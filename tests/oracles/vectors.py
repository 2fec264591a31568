"""Scores of models given as vectors, a triple at a time, out of the formulas of their papers."""

import cmath
import math


def _complex(row):
    size = len(row) // 2
    return [complex(re, im) for re, im in zip(row[:size], row[size:], strict=True)]


def distmult(h, r, t):
    return math.fsum(a * b * c for a, b, c in zip(h, r, t, strict=True))


def complex_bilinear(h, r, t):
    terms = zip(_complex(h), _complex(r), _complex(t), strict=True)
    return math.fsum((a * b * c.conjugate()).real for a, b, c in terms)


def rescal(h, matrix, t):
    size = len(h)
    return math.fsum(h[i] * matrix[i * size + j] * t[j] for i in range(size) for j in range(size))


def simple(h, h_tail, r, inverse, t_head, t):
    return (distmult(h, r, t) + distmult(t_head, inverse, h_tail)) / 2


def transe(h, r, t, norm):
    gaps = [abs(a + b - c) for a, b, c in zip(h, r, t, strict=True)]
    return -math.fsum(gaps) if norm == 1 else -math.sqrt(math.fsum(gap * gap for gap in gaps))


def rotate(h, r, t, form):
    turns = [cmath.exp(1j * angle) for angle in r] if 2 * len(r) == len(h) else _complex(r)
    gaps = [abs(a * b - c) for a, b, c in zip(_complex(h), turns, _complex(t), strict=True)]
    return -math.fsum(gaps) if form == "modulus" else -math.sqrt(math.fsum(gap * gap for gap in gaps))


def counts(scores, answer, known, slack):
    """(least better, most better, least equal, most equal) where scores nearer than `slack` may be in any order."""
    others = [score for entity, score in enumerate(scores) if entity != answer and entity not in known]
    above = sum(score > scores[answer] + slack for score in others)
    near = sum(abs(score - scores[answer]) <= slack for score in others)
    same = sum(score == scores[answer] for score in others)
    return above, above + near, same, near
