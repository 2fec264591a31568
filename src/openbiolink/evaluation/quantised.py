"""A first pass in whole numbers of 8 bits, for dot products: most comparisons are made so, ranks are the same.

With q ≈ s (q' + q''/256) and e ≈ z e' (q', q'', e' whole numbers of 8 bits; s of each query, z of each candidate)

    |q·e - s z (256 q' + q'')·e' / 256|  <=  |q - s (q' + q''/256)| |e|  +  |s (q' + q''/256)| |e - z e'|

and both products are exact in 32 bits. What that leaves undecided is compared by a float32 product of its own, and what
that leaves undecided exactly, as in `openbiolink.evaluation.fused`. Where more than `LIMIT` of the pairs are left after
some blocks of candidates, the rest of the batch is done in float32 from the start: random vectors and answers with
poor ranks leave many.

It needs PyTorch, and pays where the processor multiplies such numbers several times as fast (VNNI, AMX).
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from openbiolink.errors import InputError
from openbiolink.evaluation.exact import SCORES
from openbiolink.evaluation.fused import (
    CANDIDATES,
    QUERIES,
    ROOM,
    Backend,
    band_of,
    count_batch,
    count_block,
    exact_levels,
    float_above,
    float_below,
    take_out_known,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from openbiolink.evaluation.fused import Batch, Counts, Pool

LIMIT = 0.02  # of the pairs of answers and candidates: then a float32 product is as fast
TRIED = 4  # blocks, before it is decided
LEVELS = 127
FINER = 256  # of the second part of a query
NARROWEST = 8  # dimensions for which the product is taken from PyTorch, which for one of them fills in nothing
WIDEST = 512  # dimensions for which 32 bits hold every sum: 512 * 128 * 127 * 257 < 2 ** 31
SPREAD = (math.sqrt(5) - 1) / 2  # numbers of blocks times this, modulo 1, give an order that is spread over all
TINIEST = 2.0**-100
SLACK = np.float32(2.0**-20)  # for the rounding of a few float32 operations


def quantised_backend() -> Backend:
    """A backend for `openbiolink.evaluate`; forms other than dot products are counted as without it.

    Raises:
        InputError: PyTorch is absent.
    """
    try:
        import torch
    except ImportError as error:
        raise InputError("a first pass in 8 bits needs PyTorch; install openbiolink[torch]") from error
    held: dict[int, tuple[Any, ...]] = {}

    @contextmanager
    def around() -> Iterator[None]:
        threads = torch.get_num_threads()
        try:
            yield
        finally:
            held.clear()
            torch.set_num_threads(threads)

    def prepare(pool: Pool) -> None:
        if id(pool.vectors) not in held:
            held.clear()
            with np.errstate(over="ignore"):  # such candidates are worked out exactly, see `band_of`
                held[id(pool.vectors)] = (pool, *_quantise_rows(torch, pool.vectors))

    def count(batch: Batch, pool: Pool, better: Counts, equal: Counts, is_stopped: Callable[[], bool]) -> None:
        if batch.form != "dot" or not NARROWEST <= batch.vectors.shape[1] <= WIDEST or not len(pool.vectors):
            count_batch(batch, pool, better, equal, is_stopped)
            return
        torch.set_num_threads(1)
        with torch.inference_mode():
            _count(torch, batch, (pool, *held[id(pool.vectors)][1:]), better, equal, is_stopped)

    return Backend(count=count, questions=QUERIES, prepare=prepare, around=around)


def _quantise_rows(
    torch: Any, vectors: npt.NDArray[np.float32]
) -> tuple[Any, npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Whole numbers e' (n, d), and for each row its unit z, its length and that of e - z e', rounded up."""
    numbers = torch.empty(vectors.shape, dtype=torch.int8)
    facts = np.empty((3, len(vectors)))
    for first in range(0, len(vectors), CANDIDATES):
        block = vectors[first : first + CANDIDATES].astype(np.float64)
        unit = np.maximum(np.abs(block).max(axis=1), TINIEST) / LEVELS
        rounded = np.rint(block / unit[:, np.newaxis])
        rest = block - unit[:, np.newaxis] * rounded
        numbers[first : first + CANDIDATES] = torch.from_numpy(rounded.astype(np.int8))
        facts[:, first : first + CANDIDATES] = unit, _lengths(block), _lengths(rest)
    units, lengths, rests = facts.astype(np.float32)
    return numbers, units, lengths, rests


def _lengths(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)) * ROOM)


def _count(  # noqa: PLR0917 - all of `quantised_backend`
    torch: Any,
    batch: Batch,
    held: tuple[Any, ...],
    better: Counts,
    equal: Counts,
    is_stopped: Callable[[], bool],
) -> None:
    """Fill `better` and `equal` for the answers of a batch."""
    pool, numbers, units, lengths, rests = held
    vectors, weights, score = batch.vectors, batch.weights, SCORES[batch.form]
    level = exact_levels(batch, pool)
    band = band_of(batch, pool, level)
    short = vectors.astype(np.float32)
    unit = np.maximum(np.abs(vectors).max(axis=1, keepdims=True), TINIEST) / LEVELS
    first_part = np.rint(vectors / unit)
    second_part = np.clip(np.rint((vectors / unit - first_part) * FINER), -128, 127)
    kept = unit * (first_part + second_part / FINER)
    coarse = (_lengths(vectors - kept), _lengths(kept), unit[:, 0] / FINER)
    asked = [torch.from_numpy(part.astype(np.int8)) for part in (first_part, second_part)]
    whole = [torch.empty((len(vectors), CANDIDATES), dtype=torch.int32) for _ in asked]
    room = np.empty((len(vectors), CANDIDATES), np.float32)
    pays, left, pairs = True, 0, 0
    blocks = -(-len(pool.vectors) // CANDIDATES)
    for tried, number in enumerate(sorted(range(blocks), key=lambda number: (number * SPREAD % 1, number))):
        if is_stopped():
            return
        first = number * CANDIDATES
        here = slice(first, first + CANDIDATES)
        block, bounds = pool.vectors[here], (*band, pool.longest[number])
        if pays:
            found = [place.reshape(-1)[: len(asked[0]) * len(block)].view(-1, len(block)) for place in whole]
            for part, place in zip(asked, found, strict=True):
                torch._int_mm(part, numbers[here].T, out=place)  # noqa: SLF001 - there is no other
            facts = (units[here], lengths[here], rests[here])
            left += _count_coarse(
                score, found[0].numpy(), found[1].numpy(), facts, coarse, short, vectors, weights, block,
                batch.offsets, level, bounds, better, equal,
            )  # fmt: skip
            pairs += len(level) * len(block)
            pays = tried < TRIED or left <= LIMIT * pairs
        else:
            scores = room[:, : len(block)]
            np.matmul(short, block.T, out=scores)
            count_block(score, scores, vectors, weights, block, batch.offsets, level, bounds, better, equal)
    take_out_known(batch, pool, level, better, equal)


@numba.njit(nogil=True)
def _count_coarse(  # noqa: PLR0912, PLR0917, C901 - a compiled function takes no keywords, and is fastest in one piece
    score: Any, first_part: Any, second_part: Any, facts: Any, coarse: Any, short: Any, vectors: Any, weights: Any,
    block: Any, offsets: Any, level: Any, bounds: Any, better: Any, equal: Any,
) -> Any:  # fmt: skip
    """Add the candidates of a block that are better than each answer, and equal to it; the number of pairs left."""
    centre, fixed, slope, curve, longest = bounds
    units, lengths, rests = facts
    query_rest, query_length, query_unit = coarse
    size, left = block.shape[0], np.int64(0)
    least, most = np.empty(size, np.float32), np.empty(size, np.float32)
    flags = np.zeros((size + 7) // 8 * 8, np.uint8)
    words = flags.view(np.uint64)
    for b in range(vectors.shape[0]):
        high_row, low_row = first_part[b], second_part[b]
        rest, length, unit = np.float32(query_rest[b]), np.float32(query_length[b]), np.float32(query_unit[b])
        for j in range(size):
            near = np.float32(FINER * high_row[j] + low_row[j]) * (unit * units[j])
            error = rest * lengths[j] + length * rests[j]
            error += SLACK * (error + abs(near))
            least[j] = near - error
            most[j] = near + error
        for a in range(offsets[b], offsets[b + 1]):
            epsilon = fixed[a] + (slope[b] + curve[b] * longest) * longest
            decides = epsilon < np.inf
            low, high = float_below(centre[a] - epsilon), float_above(centre[a] + epsilon)
            above, level_with = np.int64(0), np.int64(0)
            if decides:
                sure = np.int32(0)
                for j in range(size):
                    sure += least[j] > high
                    flags[j] = (most[j] >= low) & (least[j] <= high)
                above += sure
            else:
                flags[:size] = 1
            for word in range(words.shape[0]):
                if words[word] == 0:
                    continue
                for j in range(8 * word, 8 * word + 8):
                    if flags[j] == 0:
                        continue
                    left += 1
                    if decides:
                        product = _product(short[b], block[j])
                        if product > high:
                            above += 1
                            continue
                        if product < low:
                            continue
                    exact = score(vectors[b], weights[b], block[j])
                    above += exact > level[a]
                    level_with += exact == level[a]
            better[a] += above
            equal[a] += level_with
    return left


@numba.njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _product(query: Any, candidate: Any) -> Any:
    total = np.float32(0)
    for i in range(query.shape[0]):
        total += query[i] * candidate[i]
    return total
