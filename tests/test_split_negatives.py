"""Drawing pairs: never twice, never one that is excluded, evenly, and it always ends."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbiolink.split import negatives
from openbiolink.split.negatives import Orders, draw_pairs


@st.composite
def tables(draw):
    alike = draw(st.booleans())
    heads = draw(st.integers(1, 9))
    tails = heads if alike else draw(st.integers(1, 9))
    unordered = draw(st.booleans())
    allowed = [
        x * tails + y
        for x, y in product(range(heads), range(tails))
        if not (alike and (x == y or (unordered and x > y)))
    ]
    excluded = draw(st.sets(st.sampled_from(allowed))) if allowed else set()
    return (heads, tails), alike, unordered, sorted(excluded), set(allowed) - excluded


@pytest.mark.parametrize("small", [0, 4096])
def test_pairs_are_distinct_free_and_as_many_as_there_are(small):
    @given(tables(), st.integers(0, 90), st.integers(0, 5))
    def check(table, wanted, seed):
        shape, alike, unordered, excluded, free = table
        pairs = [
            draw_pairs(
                np.random.PCG64(seed),
                shape=shape,
                wanted=wanted,
                excluded=np.array(excluded, dtype=np.int64),
                alike=alike,
                unordered=unordered,
            ).tolist()
            for _ in range(2)
        ]
        assert pairs[0] == pairs[1]
        assert len(set(pairs[0])) == len(pairs[0]) == min(wanted, len(free))
        assert set(pairs[0]) <= free

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(negatives, "SMALL", small)
        check()


@pytest.mark.parametrize(("size", "wanted"), [(60, 400), (200, 400)], ids=["listed", "drawn"])
@pytest.mark.parametrize("unordered", [True, False])
def test_pairs_are_drawn_evenly(size, wanted, unordered):
    times = np.zeros(size * size)
    streams = 200
    for seed in range(streams):
        pairs = draw_pairs(
            np.random.PCG64(seed),
            shape=(size, size),
            wanted=wanted,
            excluded=np.empty(0, dtype=np.int64),
            alike=True,
            unordered=unordered,
        )
        times[pairs] += 1
    by_node = times.reshape(size, size).sum(axis=0) + times.reshape(size, size).sum(axis=1)
    expected = 2 * streams * wanted / size
    assert times.sum() == streams * wanted
    assert np.abs(by_node - expected).max() < 6 * expected**0.5


def test_a_dense_table_is_listed_and_a_sparse_one_drawn(monkeypatch):
    listed = []
    flatnonzero = np.flatnonzero
    monkeypatch.setattr(np, "flatnonzero", lambda free: listed.append(free.size) or flatnonzero(free))
    for size in (100, 5000):
        draw_pairs(
            np.random.PCG64(1),
            shape=(size, size),
            wanted=9000,
            excluded=np.empty(0, dtype=np.int64),
            alike=False,
            unordered=False,
        )
    assert listed == [100 * 100]


@given(*[st.builds(Orders, *[st.integers(0, 6)] * 3)] * 2)
def test_missing_rows_add_up(wanted, there):
    missing = wanted.without(there)
    assert missing.rows == max(0, wanted.rows - there.rows)
    assert min(missing.both, missing.forward, missing.backward) >= 0
    assert missing.both <= wanted.both
    assert missing.backward <= wanted.backward
