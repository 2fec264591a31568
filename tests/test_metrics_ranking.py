"""Metrics of ranks: formulas, laws, and input that is no rank."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbiolink.errors import InputError
from openbiolink.metrics import (
    TIES,
    hits_at_k,
    mean_rank,
    mean_reciprocal_rank,
    ranking_metrics,
    ranks_from_counts,
)
from oracles import ranking as oracle

ranks = st.lists(st.integers(2, 60).map(lambda doubled: doubled / 2), min_size=1, max_size=40)


def close(found, expected):
    return found == pytest.approx(expected, rel=1e-12, abs=0)


@given(ranks)
def test_metrics_are_their_definitions(values):
    assert close(ranking_metrics(values), oracle.metrics(values))
    assert close(mean_reciprocal_rank(values), oracle.metrics(values)["mrr"])
    assert close(mean_rank(values), oracle.metrics(values)["mean_rank"])
    for k in (1, 3, 10):
        assert hits_at_k(values, k=k) == oracle.metrics(values)[f"hits@{k}"]


@given(ranks)
def test_metrics_keep_to_their_ranges_and_to_one_another(values):
    found = ranking_metrics(values, ks=(1, 2, 3, 5, 10))
    hits = [found[f"hits@{k}"] for k in (1, 2, 3, 5, 10)]
    assert 0 < found["mrr"] <= 1
    assert found["mean_rank"] >= 1
    assert hits == sorted(hits)
    assert all(0 <= hit <= 1 for hit in hits)
    for k in (1, 2, 3, 5, 10):
        floor = found["hits@1"] + (found[f"hits@{k}"] - found["hits@1"]) / k
        assert found["mrr"] >= floor - 1e-12


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=200), st.randoms(use_true_random=False))
def test_order_changes_not_even_the_last_digit(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    assert ranking_metrics(values) == ranking_metrics(shuffled) == ranking_metrics(np.array(values))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1))
def test_ranks_from_counts(pairs):
    better, equal = np.array(pairs).T
    for ties in TIES:
        expected = [oracle.rank(b, e, ties) for b, e in pairs]
        assert ranks_from_counts(better, equal, ties=ties).tolist() == expected


@pytest.mark.parametrize("case", ["c39", "c40", "c41", "c43"])
def test_cases(cases, case):
    names = sorted(cases.glob(f"{case}-*.txt"))
    values = [int(line) for name in names for line in name.read_text().split()]
    expected = json.loads((cases / "expected.json").read_text())[case]
    found = ranking_metrics(values)
    for name in found:
        assert found[name] == pytest.approx(expected[name], abs=1e-9), name


def test_zero_based_ranks_are_refused_by_position(cases):
    values = [int(line) for line in next(cases.glob("c42-*.txt")).read_text().split()]
    with pytest.raises(InputError, match=r"^rank 3 of 4 is 0; ranks are numbers and start at 1$"):
        ranking_metrics(values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "there are no ranks"),
        (np.array([]), "there are no ranks"),
        ([1, float("nan")], "rank 2 of 2 is nan"),
        ([1, 0.5], "rank 2 of 2 is 0.5"),
        ([1, -3], "rank 2 of 2 is -3"),
        ([[1, 2], [3, 4]], "expected one number per rank"),
        ([[1, 2], [3]], "rank 1 of 2 is a list"),
        (["1", "2"], "expected one number per rank"),
        ([True, 2], "expected one number per rank"),
        ([None, 2], "expected one number per rank"),
        (np.array([True, True]), "expected one number per rank"),
    ],
)
def test_what_is_no_rank_is_refused(values, message):
    for metric in (ranking_metrics, mean_reciprocal_rank, mean_rank, lambda given: hits_at_k(given, k=1)):
        with pytest.raises(InputError, match=message):
            metric(values)


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "3"])
def test_hits_at_what_is_no_whole_number(k):
    with pytest.raises(InputError, match="whole number of at least 1"):
        hits_at_k([1, 2], k=k)
    with pytest.raises(InputError, match="whole number of at least 1"):
        ranking_metrics([1, 2], ks=(k,))


def test_other_ks_and_iterables():
    assert ranking_metrics((rank for rank in (1, 4)), ks=(5,)) == {"mrr": 0.625, "hits@5": 1.0, "mean_rank": 2.5}
    assert all(type(value) is float for value in ranking_metrics(np.array([1, 2])).values())


def test_counts_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="negative"):
        ranks_from_counts(np.array([-1]), np.array([0]))
    with pytest.raises(InputError, match="choose one of optimistic, realistic, pessimistic"):
        ranks_from_counts(np.array([1]), np.array([0]), ties="best")
