"""What all measurements of the evaluation share: the clock, the peak of memory, and the bare products to divide by.

It is imported in environments of other programs too, so it needs NumPy and threadpoolctl only. The bare products are
the float32 matrix products of as many queries with all entities, their results thrown away, cut into blocks in the way
that is fastest here. They are timed right before and right after what is measured, in the same process, and the
quotient with their mean is kept: what else the machine does falls on both.
"""

import re
import resource
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

TRIAL = 3e10  # multiplications and additions of a trial of a way to cut
ROUNDS = 3
# Ways to cut: threads of Python, threads of the BLAS in each, rows and columns of a block; 0 means all columns.
WAYS = (
    (2, 1, 512, 1024),
    (2, 1, 512, 4096),
    (2, 1, 1024, 2048),
    (1, 2, 1024, 4096),
    (1, 2, 2048, 8192),
    (1, 2, 512, 0),
)


def multiply(way, queries, table):
    """Multiply that many queries with all rows of a table of shape (n, d), block by block."""
    threads, blas, rows, columns = way
    columns = min(columns or len(table), len(table))
    asked = np.random.default_rng(0).standard_normal((min(rows, queries), table.shape[1]), dtype=np.float32)

    def work(number):
        block = asked[: min(rows, queries - number * rows)]
        room = np.empty((len(block), columns), np.float32)
        for first in range(0, len(table), columns):
            part = table[first : first + columns]
            np.matmul(block, part.T, out=room[:, : len(part)])

    with threadpool_limits(blas, "blas"), ThreadPoolExecutor(threads) as workers:
        list(workers.map(work, range(-(-queries // rows))))


def find_fastest(queries, table):
    """The fastest way to cut, and the billions of operations per second of every way."""
    speeds = dict.fromkeys(WAYS, 0.0)
    for _ in range(ROUNDS):  # all ways in every round, so that a slow moment falls on more than one of them
        for way in WAYS:
            number = int(min(queries, max(way[0] * way[2], TRIAL / 2 / table.size)))
            seconds, _ = clock(lambda way=way, number=number: multiply(way, number, table))
            speeds[way] = max(speeds[way], 2 * number * table.size / seconds / 1e9)
    return max(speeds, key=speeds.get), {name_of(way): round(speed, 1) for way, speed in speeds.items()}


def name_of(way):
    threads, blas, rows, columns = way
    return f"{threads} x {blas} threads, blocks of {rows} x {columns or 'all'}"


def clock(step):
    """Wall seconds and CPU seconds of a call."""
    start, busy = time.perf_counter(), time.process_time()
    step()
    return time.perf_counter() - start, time.process_time() - busy


def measure(step, *, queries, table, repeats, scale=1.0, share=1.0):
    """Time a step and the products around it.

    Args:
        step: what is called.
        queries: how many products of a query with the table the whole takes.
        table: vectors of all entities.
        repeats: how often.
        scale: how many times as much the whole is as the step.
        share: of the products that is timed, for sizes where all of them take minutes.

    Returns:
        Facts of an entry: seconds of every repeat, their medians (of the whole), those of the products, the median
        quotient of both, the peak of memory.
    """
    way, speeds = find_fastest(queries, table)
    part = max(1, round(queries * share))

    def products():
        return [seconds * queries / part for seconds in clock(lambda: multiply(way, part, table))]

    start = reset_peak()
    before, steps, bare, quotients, peaks = products(), [], [], [], []
    bare.append(before)
    for _ in range(repeats):
        reset_peak()
        steps.append(clock(step))
        peaks.append(peak_memory())
        after = products()
        quotients.append([2 * scale * a / (b + c) for a, b, c in zip(steps[-1], before, after, strict=True)])
        bare.append(after)
        before = after
    return {
        "seconds": by_clock(steps),
        "median": medians(steps, scale),
        "products": {"way": name_of(way), "speeds": speeds, "share": share, "seconds": by_clock(bare)},
        "ratio": medians(quotients),
        "ratios": by_clock(quotients),
        "queries": queries,
        "peak_mb": round(max(peaks), 1),
        "before_mb": round(start, 1),
    }


def by_clock(rows):
    return {name: [round(row[i], 4) for row in rows] for i, name in enumerate(("wall", "cpu"))}


def medians(rows, scale=1.0):
    return {name: round(scale * statistics.median(row[i] for row in rows), 4) for i, name in enumerate(("wall", "cpu"))}


def reset_peak():
    """Forget the peak so far, where the system can (Linux); returns the memory in use in MB (10^6 bytes)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak_memory()


def peak_memory():
    """The largest memory of this process since `reset_peak`, in MB; elsewhere than on Linux since its start."""
    with suppress(OSError):
        return int(re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
