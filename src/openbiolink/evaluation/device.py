"""The counting of `openbiolink.evaluation.fused` through PyTorch, on a GPU or whatever device it knows: same counts.

Products are float32, without TensorFloat-32 or bfloat16, so the same bounds hold. What they leave undecided is
worked out on the device too, as the definition of a score has it: every product and every sum is one float64 operation
on whole arrays, in the order of the definition, and nothing is fused. So the bits are those of the processor. Square
roots are not, since PyTorch does not round all of them to the nearest number; the form that has them is worked out on
the processor.

Memory: the candidates, once, and blocks of scores for which a part of what is free is taken.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from openbiolink.errors import InputError
from openbiolink.evaluation.exact import SCORES, score_pairs
from openbiolink.evaluation.fused import CANDIDATES, Backend, answer_bounds, exact_levels, take_out_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from openbiolink.evaluation.fused import Batch, Counts, Pool
    from openbiolink.evaluation.vectors import Form

QUESTIONS = 2048  # of a batch
SHARE = 0.25  # of the free memory of a GPU, for blocks of scores
PLAIN = 1 << 28  # bytes for blocks of scores elsewhere
BYTES = 24  # that a score takes, with what is derived from it
PAIRS = 1 << 16  # that are worked out exactly at once
LANES = 8


def device_backend(name: str) -> Backend:
    """A backend for `openbiolink.evaluate` that counts on a device of PyTorch, `cuda` or `cuda:1` or `cpu` for example.

    Raises:
        InputError: PyTorch is absent, or has no such device.
    """
    try:
        import torch
    except ImportError as error:
        raise InputError(f"device {name!r} needs PyTorch; install openbiolink[torch]") from error
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"device {name!r} is not there ({str(error).splitlines()[0]}); choose another") from error
    held: dict[str, Any] = {}

    @contextmanager
    def around() -> Iterator[None]:
        try:
            yield
        finally:
            held.clear()

    def prepare(pool: Pool) -> None:
        held["table"], held["halves"] = (torch.tensor(array, device=device) for array in (pool.vectors, pool.halves))

    def count(batch: Batch, pool: Pool, better: Counts, equal: Counts, is_stopped: Callable[[], bool]) -> None:
        with torch.inference_mode():
            _count(torch, device, batch, (pool, held["table"], held["halves"]), better, equal, is_stopped)

    return Backend(count=count, questions=QUESTIONS, threads=1, prepare=prepare, around=around)


def _count(  # noqa: PLR0917 - all of `device_backend`
    torch: Any,
    device: Any,
    batch: Batch,
    held: tuple[Pool, Any, Any],
    better: Counts,
    equal: Counts,
    is_stopped: Callable[[], bool],
) -> None:
    """Fill `better` and `equal` for the answers of a batch."""
    pool, table, halves = held
    level = exact_levels(batch, pool)
    owner = np.repeat(np.arange(len(batch.vectors)), np.diff(batch.offsets))
    queries = torch.tensor(batch.vectors, device=device)
    weights = torch.tensor(batch.weights, device=device)
    short, levels = queries.float(), torch.tensor(level, device=device)
    columns, rows = _sizes(torch, device, len(short), len(pool.vectors))
    above, same = (torch.zeros(len(level), dtype=torch.int64, device=device) for _ in range(2))
    for first in range(0, len(pool.vectors), columns):
        if is_stopped():
            return
        block = table[first : first + columns]
        scores = _approximate(torch, batch.form, short, block, halves[first : first + columns])
        longest = float(pool.longest[first // CANDIDATES : -(-(first + len(block)) // CANDIDATES)].max())
        low, high = (torch.tensor(bound, device=device) for bound in answer_bounds(batch, pool, level, longest))
        for start in range(0, len(level), rows):
            part = slice(start, start + rows)
            own = torch.tensor(owner[part], device=device)
            found = scores[own]
            sure = found > high[part, None]
            above[part] += sure.sum(dim=1)
            # The negation takes what is no number, which float32 overflow leaves, for undecided.
            answers, candidates = torch.nonzero(~sure & ~(found < low[part, None]), as_tuple=True)
            for pair in range(0, len(answers), PAIRS):
                which, what = answers[pair : pair + PAIRS], candidates[pair : pair + PAIRS]
                asked = own[which]
                if batch.form == "modulus":
                    scores_of = np.empty(len(asked))
                    rows_of, columns_of = (pairs.cpu().numpy() for pairs in (asked, what + first))
                    score = SCORES[batch.form]
                    score_pairs(score, batch.vectors, batch.weights, pool.vectors, rows_of, columns_of, scores_of)
                    exact = torch.tensor(scores_of, device=device)
                else:
                    exact = _exact(torch, batch.form, queries[asked], weights[asked], block[what].double())
                which = which + start
                above.index_add_(0, which, (exact > levels[which]).long())
                same.index_add_(0, which, (exact == levels[which]).long())
    better += above.cpu().numpy()
    equal += same.cpu().numpy()
    take_out_known(batch, pool, level, better, equal)


def _sizes(torch: Any, device: Any, questions: int, candidates: int) -> tuple[int, int]:
    """Columns and rows of a block of scores, from the memory that is free."""
    room = int(torch.cuda.mem_get_info(device)[0] * SHARE) if device.type == "cuda" else PLAIN
    columns = max(CANDIDATES, room // (2 * BYTES * questions) // CANDIDATES * CANDIDATES)
    columns = min(columns, -(-candidates // CANDIDATES) * CANDIDATES, 1 << 16)
    return columns, max(1, room // (2 * BYTES * columns))


def _approximate(torch: Any, form: Form, short: Any, block: Any, halves: Any) -> Any:
    """What is compared, (b, n), in float32; see `openbiolink.evaluation.fused`."""
    if form in {"dot", "l2"}:
        precision = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")
        try:
            scores = short @ block.T
        finally:
            torch.set_float32_matmul_precision(precision)
        return scores - halves if form == "l2" else scores
    scores = torch.zeros((len(short), len(block)), dtype=torch.float32, device=short.device)
    size = short.shape[1] // 2 if form == "modulus" else short.shape[1]
    for i in range(size):
        gap = short[:, i, None] - block[None, :, i]
        if form == "modulus":
            other = short[:, size + i, None] - block[None, :, size + i]
            scores -= torch.sqrt(gap * gap + other * other)
        else:
            scores -= gap.abs()
    return scores


def _exact(torch: Any, form: Form, queries: Any, weights: Any, candidates: Any) -> Any:
    """The exact scores of pairs, shape (n,), from queries, weights and candidates, shape (n, d), all float64."""
    if form == "dot":
        terms = queries * candidates
    else:
        gaps = queries - candidates
        terms = (-gaps.abs() if form == "l1" else -gaps * gaps) * weights
    whole = terms.shape[1] - terms.shape[1] % LANES
    lanes = torch.zeros((len(terms), LANES), dtype=torch.float64, device=terms.device)
    for i in range(0, whole, LANES):
        lanes += terms[:, i : i + LANES]
    a = lanes.unbind(dim=1)
    joined = ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
    for i in range(whole, terms.shape[1]):
        joined += terms[:, i]
    return joined
