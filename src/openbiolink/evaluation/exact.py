"""What the score of a model given as vectors is, to the last bit.

It is the sum that `openbiolink.evaluation.vectors` names, in float64, of the float64 query and the float32 candidate.
Eight partial sums, over the dimensions i = 0..7 modulo 8, each in ascending order, are joined as
((0+4)+(2+6)) + ((1+5)+(3+7)); the last d modulo 8 dimensions are added one after the other. No products are fused with
sums. So a score depends on query and candidate alone: not on blocks, batches, threads, the order of entities, the BLAS
or the device; candidates with equal vectors have equal scores.

>>> query, candidate = np.arange(9.0), np.ones(9, np.float32)
>>> float(SCORES["dot"](query, np.ones(9), candidate)), float(SCORES["l1"](query, np.ones(9), candidate))
(36.0, -29.0)
"""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openbiolink.evaluation.vectors import Form, Queries, VectorModel

AT_ONCE = 4096  # triples


def score_triples(model: VectorModel, triples: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float64]:
    """The exact score of each triple of ids, shape (n,), in the tail's place.

    Args:
        model: with the ids of the triples.
        triples: shape (n, 3).
    """
    out = np.empty(len(triples))
    for first in range(0, len(triples), AT_ONCE):
        batch = triples[first : first + AT_ONCE]
        asked = model.query("tail", batch[:, 0], batch[:, 1])
        vectors, here = np.ascontiguousarray(asked.vectors), out[first : first + AT_ONCE]
        rows, tails = np.arange(len(batch)), batch[:, 2].astype(np.int64)
        score_pairs(SCORES[model.form], vectors, weights_of(asked), model.candidates["tail"], rows, tails, here)
    return out


def weights_of(asked: Queries) -> npt.NDArray[np.float64]:
    """Weights of the dimensions, shape (b, d): 1 where there are none."""
    if asked.weights is not None:
        return np.ascontiguousarray(asked.weights)
    return np.broadcast_to(np.ones(asked.vectors.shape[1]), asked.vectors.shape)


def _summing(term: Any, *, halves: bool = False) -> Any:
    """A compiled function (query, weights, candidate) → the exact score, as the module describes it.

    `term(query, weights, candidate, i, size)` is one of the numbers to add; with `halves` there are d / 2 of them.
    """

    @numba.njit(nogil=True)
    def total(query: Any, weights: Any, candidate: Any) -> Any:
        size = query.shape[0] // 2 if halves else query.shape[0]
        whole = size - size % 8
        a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
        for i in range(0, whole, 8):
            a0 += term(query, weights, candidate, i, size)
            a1 += term(query, weights, candidate, i + 1, size)
            a2 += term(query, weights, candidate, i + 2, size)
            a3 += term(query, weights, candidate, i + 3, size)
            a4 += term(query, weights, candidate, i + 4, size)
            a5 += term(query, weights, candidate, i + 5, size)
            a6 += term(query, weights, candidate, i + 6, size)
            a7 += term(query, weights, candidate, i + 7, size)
        joined = ((a0 + a4) + (a2 + a6)) + ((a1 + a5) + (a3 + a7))
        for i in range(whole, size):
            joined += term(query, weights, candidate, i, size)
        return joined

    return total


@numba.njit
def _product(query: Any, weights: Any, candidate: Any, i: Any, size: Any) -> Any:  # noqa: ARG001 - all terms are called alike
    return query[i] * np.float64(candidate[i])


@numba.njit
def _gap(query: Any, weights: Any, candidate: Any, i: Any, size: Any) -> Any:  # noqa: ARG001
    return -abs(query[i] - np.float64(candidate[i])) * weights[i]


@numba.njit
def _square(query: Any, weights: Any, candidate: Any, i: Any, size: Any) -> Any:  # noqa: ARG001
    gap = query[i] - np.float64(candidate[i])
    return -gap * gap * weights[i]


@numba.njit
def _modulus(query: Any, weights: Any, candidate: Any, i: Any, size: Any) -> Any:
    re, im = query[i] - np.float64(candidate[i]), query[size + i] - np.float64(candidate[size + i])
    return -math.sqrt(re * re + im * im) * weights[i]


SCORES: Mapping[Form, Any] = MappingProxyType(
    {
        "dot": _summing(_product),
        "l1": _summing(_gap),
        "l2": _summing(_square),
        "modulus": _summing(_modulus, halves=True),
    }
)


@numba.njit(nogil=True)
def score_answers(  # noqa: PLR0917 - a compiled function takes no keywords
    score: Any, vectors: Any, weights: Any, table: Any, offsets: Any, answers: Any, level: Any
) -> None:
    """Fill `level` with the exact score of each answer."""
    for b in range(vectors.shape[0]):
        for a in range(offsets[b], offsets[b + 1]):
            level[a] = score(vectors[b], weights[b], table[answers[a]])


@numba.njit(nogil=True)
def score_pairs(  # noqa: PLR0917
    score: Any, vectors: Any, weights: Any, table: Any, asked: Any, candidates: Any, out: Any
) -> None:
    """Fill `out` with the exact scores of pairs, given as rows of `vectors` and rows of `table`."""
    for i in range(asked.shape[0]):
        out[i] = score(vectors[asked[i]], weights[asked[i]], table[candidates[i]])
