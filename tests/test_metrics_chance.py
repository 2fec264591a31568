"""Metrics of random ranks, and those adjusted for them: formulas against counting all ranks that could be."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openbiolink.errors import InputError
from openbiolink.metrics import (
    METRICS,
    all_metrics,
    chance_level,
    geometric_mean_rank,
    harmonic_mean_rank,
    mean_reciprocal_rank,
    median_rank,
)
from oracles import statistics as oracle

few_candidates = st.lists(st.integers(1, 5), min_size=1, max_size=4)
VALUES = {
    "mrr": lambda rank: Fraction(1, rank),
    "hits@1": lambda rank: rank <= 1,
    "hits@3": lambda rank: rank <= 3,
    "mean_rank": lambda rank: rank,
}


@st.composite
def ranked(draw):
    candidates = draw(st.lists(st.integers(1, 40), min_size=1, max_size=30))
    return [draw(st.integers(2, 2 * number)) / 2 for number in candidates], candidates


@settings(deadline=None, max_examples=25)
@given(few_candidates)
def test_chance_is_what_all_ranks_together_give(candidates):
    found = chance_level(np.array(candidates), ks=(1, 3))
    for name, value in VALUES.items():
        mean, variance = oracle.chance(candidates, value)
        assert found[name].expectation == pytest.approx(float(mean), rel=1e-13)
        assert found[name].variance == pytest.approx(float(variance), rel=1e-12, abs=1e-16)


@settings(deadline=None, max_examples=25)
@given(ranked())
def test_other_means_are_their_definitions(pair):
    ranks, _ = pair
    assert median_rank(ranks) == oracle.median(ranks)
    assert geometric_mean_rank(ranks) == pytest.approx(math.prod(ranks) ** (1 / len(ranks)), rel=1e-12)
    assert harmonic_mean_rank(ranks) == 1 / mean_reciprocal_rank(ranks)
    found = all_metrics(ranks)
    assert found["harmonic_mean_rank"] <= found["geometric_mean_rank"] * (1 + 1e-12)
    assert found["geometric_mean_rank"] <= found["mean_rank"] * (1 + 1e-12)
    assert not [name for name in found if METRICS[name].by_chance]


@settings(deadline=None, max_examples=25)
@given(ranked(), st.randoms(use_true_random=False))
def test_adjusted_forms_follow_from_the_plain_ones(pair, random):
    ranks, candidates = pair
    found = all_metrics(ranks, np.array(candidates))
    level = chance_level(np.array(candidates))
    assert list(found) == list(METRICS)
    for name, chance in level.items():
        adjusted = found["adjusted_mean_rank_index" if name == "mean_rank" else f"adjusted_{name}"]
        if chance.expectation == 1:
            assert adjusted is None
        else:
            assert adjusted == pytest.approx((found[name] - chance.expectation) / (1 - chance.expectation), abs=1e-12)
            assert adjusted <= 1 + 1e-12
        standardised = found[f"z_{name}"]
        if chance.variance:
            sign = -1 if name == "mean_rank" else 1
            assert standardised == pytest.approx(sign * (found[name] - chance.expectation) / math.sqrt(chance.variance))
        else:
            assert standardised is None
    assert found["adjusted_mean_rank"] == found["mean_rank"] / level["mean_rank"].expectation
    again = list(zip(ranks, candidates, strict=True))
    random.shuffle(again)
    assert all_metrics([rank for rank, _ in again], np.array([number for _, number in again])) == found


def test_the_best_are_1_and_chance_is_0():
    best = all_metrics(np.ones(5), np.array([4, 9, 2, 100, 50]))
    assert {best[name] for name in best if name.startswith("adjusted_") and name != "adjusted_mean_rank"} == {1.0}
    even = all_metrics([5, 5], np.array([9, 9]))
    assert even["adjusted_mean_rank"] == 1.0
    assert even["adjusted_mean_rank_index"] == even["z_mean_rank"] == 0.0
    assert math.copysign(1, even["adjusted_mean_rank_index"]) == math.copysign(1, even["z_mean_rank"]) == 1


def test_harmonic_sums_are_exact_to_the_last_digit():
    number = 3000
    first = sum(Fraction(1, i) for i in range(1, number + 1))
    second = sum(Fraction(1, i * i) for i in range(1, number + 1))
    found = chance_level(np.array([number]))["mrr"]
    assert found.expectation == float(first) / number
    assert found.variance == pytest.approx(float(second / number - (first / number) ** 2), rel=1e-15)


def test_what_is_no_number_of_candidates_is_refused():
    with pytest.raises(InputError, match="a query has 0 candidates"):
        chance_level(np.array([3, 0]))
    with pytest.raises(InputError, match="expected a whole number per query"):
        chance_level(np.array([1.5]))
    with pytest.raises(InputError, match="2 ranks with 3 numbers of candidates"):
        all_metrics([1, 2], np.array([4, 4, 4]))


def test_every_metric_is_in_the_page():
    from conftest import ROOT

    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    rows = [f"| `{name}` | {row.formula} | {row.range} |" for name, row in METRICS.items()]
    assert [row for row in rows if row not in page] == []
