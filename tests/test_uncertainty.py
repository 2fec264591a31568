"""Intervals, comparisons and estimates: they depend on ranks and seed alone, and hold what they promise."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_up_ranks import make_evaluation, make_graph
from openbiolink.dataset import reindex
from openbiolink.errors import InputError
from openbiolink.evaluation.comparison import compare, compare_all
from openbiolink.evaluation.result import Sample
from openbiolink.evaluation.sampling import estimate, reach_of_mean, sample_rows
from openbiolink.evaluation.uncertainty import bootstrap_intervals, normal_intervals
from openbiolink.metrics.resampling import flip_signs, holm, round_for_sums, triples_needed
from oracles import statistics as oracle

seeds = st.integers(0, 10**6)
FEW = {"resamples": 50}


def rows_of(evaluation, rows):
    """The evaluation of some of its triples, in another order or more than once."""
    arrays = {name: getattr(evaluation, name)[rows] for name in ("triples", "better", "equal", "candidates")}
    return replace(evaluation, **arrays)


@settings(deadline=None, max_examples=10)
@given(seeds)
def test_intervals_depend_on_seed_and_ranks_alone(seed):
    found = make_evaluation(make_graph(seed), seed)
    shuffled = rows_of(found, np.random.default_rng(seed).permutation(len(found.triples)))
    for cluster in ("triple", "query"):
        for side in ("head", "both"):
            once = bootstrap_intervals(found, side, seed=seed, cluster=cluster, **FEW)
            assert once == bootstrap_intervals(shuffled, side, seed=seed, cluster=cluster, **FEW)
            alone = bootstrap_intervals(found, side, seed=seed, cluster=cluster, metrics=["hits@5", "mrr"], **FEW)
            assert alone["mrr"] == once["mrr"]
            for name, value in found.metrics(side).items():
                assert once[name].value == pytest.approx(value, rel=1e-15)
                assert once[name].low <= once[name].high
    assert bootstrap_intervals(found, seed=1, **FEW) != bootstrap_intervals(found, seed=2, **FEW)


@settings(deadline=None, max_examples=10)
@given(seeds, st.sampled_from(["head", "tail", "both"]))
def test_standard_errors_are_their_definition(seed, side):
    found = make_evaluation(make_graph(seed), seed)
    ranks = found.ranks(side).reshape(len(found.triples), -1).tolist()
    triples = normal_intervals(found, side)
    assert triples["mean_rank"].standard_error == pytest.approx(oracle.cluster_error(ranks), rel=1e-9)
    inverse = [[1 / rank for rank in own] for own in ranks]
    assert triples["mrr"].standard_error == pytest.approx(oracle.cluster_error(inverse), rel=1e-7)
    questions = {}
    for triple, own in zip(found.triples.tolist(), ranks, strict=True):
        for one, rank in zip(("head", "tail") if side == "both" else (side,), own, strict=True):
            key = (one, triple[1], triple[2 if one == "head" else 0])
            questions.setdefault(key, []).append(rank)
    queries = normal_intervals(found, side, cluster="query")
    assert queries["mean_rank"].standard_error == pytest.approx(oracle.cluster_error([*questions.values()]), rel=1e-9)


def test_bootstrap_and_closed_form_agree():
    found = make_evaluation(make_graph(1, test=400), 1)
    drawn, closed = bootstrap_intervals(found, resamples=2000), normal_intervals(found)
    for name, one in closed.items():
        assert drawn[name].low == pytest.approx(one.low, abs=0.3 * one.standard_error)
        assert drawn[name].high == pytest.approx(one.high, abs=0.3 * one.standard_error)


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    everything = make_evaluation(make_graph(2, entities=40, test=3000), 2)
    truth = everything.metrics()
    random, covered = np.random.default_rng(0), dict.fromkeys(("mrr", "hits@3"), 0)
    for repeat in range(100):
        part = rows_of(everything, random.integers(0, 3000, 120))
        for name, one in bootstrap_intervals(part, metrics=list(covered), seed=repeat, resamples=200).items():
            covered[name] += one.low <= truth[name] <= one.high
    assert all(86 <= count <= 100 for count in covered.values()), covered


def test_one_triple_and_equal_ranks_have_intervals_without_width():
    single = rows_of(make_evaluation(), [0])
    same = rows_of(make_evaluation(), [0] * 7)
    for found, error in ((single, None), (same, 0.0)):
        for one in (*bootstrap_intervals(found, **FEW).values(), *normal_intervals(found).values()):
            assert one.low == one.value == one.high
            assert one.standard_error == error if error is None else one.standard_error < 1e-9
    again = compare(single, single, **FEW)["mrr"]
    assert (again.difference, again.p, again.effect, again.needed) == (0.0, 1.0, None, None)


@settings(deadline=None, max_examples=10)
@given(seeds)
def test_a_model_does_not_differ_from_itself(seed):
    found = make_evaluation(make_graph(seed), seed)
    for one in compare(found, found, seed=seed, **FEW).values():
        assert (one.difference, one.low, one.high, one.p) == (0.0, 0.0, 0.0, 1.0)
        assert (one.wins, one.ties, one.losses) == (0, 30, 0)
        assert one.effect is None
        assert one.needed is None


@settings(deadline=None, max_examples=10)
@given(seeds)
def test_comparisons_depend_on_ranks_alone_and_turn_round(seed):
    graph = make_graph(seed)
    first, second = make_evaluation(graph, seed), make_evaluation(graph, seed + 1, skill=1.0)
    found = compare(first, second, seed=seed, **FEW)
    random = np.random.default_rng(seed)
    shuffled = [rows_of(one, random.permutation(30)) for one in (first, second)]
    assert compare(*shuffled, seed=seed, **FEW) == found
    other = reindex(graph, entities=graph.entities[::-1], relations=graph.relations)
    moved = second.triples.copy()
    moved[:, [0, 2]] = graph.num_entities - 1 - moved[:, [0, 2]]
    assert compare(first, replace(second, dataset=other, triples=moved), seed=seed, **FEW) == found
    for name, back in compare(second, first, seed=seed, **FEW).items():
        one = found[name]
        assert back.difference == -one.difference
        assert (back.p, back.wins, back.losses, back.needed) == (one.p, one.losses, one.wins, one.needed)
        assert back.effect == (None if one.effect is None else pytest.approx(-one.effect))
        values = [model.metrics()[name] for model in (first, second)]
        assert one.difference == values[1] - values[0]
        assert one.wins + one.ties + one.losses == 30


def test_a_better_model_is_found_to_be_better():
    graph = make_graph(4, entities=60, test=400)
    first = make_evaluation(graph, 1)
    better = replace(first, better=first.better // 3, equal=first.equal // 3)
    found = compare(first, better, metrics=["mrr", "hits@10", "mean_rank"], resamples=500)
    for name, one in found.items():
        assert one.p == pytest.approx(1 / 501)
        assert one.effect > 0
        assert one.wins > one.losses == 0
        assert one.needed < 400
        assert (one.high < 0) if name == "mean_rank" else (one.low > 0)


@settings(deadline=None, max_examples=15)
@given(st.lists(st.integers(-8, 8).map(lambda number: number / 4), min_size=1, max_size=9), seeds)
def test_flipped_signs_come_near_all_sign_patterns(differences, seed):
    found = flip_signs(np.array(differences), seed=seed, flips=2000)
    assert found == pytest.approx(oracle.flips(differences), abs=0.06)
    assert flip_signs(-np.array(differences[::-1]), seed=seed, flips=2000) == found


def test_sums_of_rounded_numbers_are_exact():
    values = np.random.default_rng(0).random(10_000)
    rounded = round_for_sums(values)
    assert rounded.sum() == rounded[::-1].sum() == np.sort(rounded).sum()
    assert np.abs(rounded - values).max() < 1e-11


def test_holm_and_power():
    assert holm([0.04, 0.01]) == [0.04, 0.02]
    assert holm([0.5, 0.9, 0.6]) == [1.0, 1.0, 1.0]
    assert triples_needed(0.2) == 197  # as in tables of the paired t test by the normal approximation
    for alpha in (0.05, 0.01, 0.5):
        fewest = triples_needed(10.0, alpha=alpha)
        assert oracle.flips([1.0] * fewest) < alpha <= oracle.flips([1.0] * (fewest - 1))


def test_wins_are_counted_by_ranks_however_large():
    graph = make_graph(5, test=50)
    first = make_evaluation(graph, 1, candidates=np.full((50, 2), 10**7))
    far = replace(first, better=first.better + 5_000_000, equal=first.equal * 0)
    far.better[0] = 0
    nearer = replace(far, better=np.maximum(far.better - 1, 0))
    found = compare(far, nearer, metrics=["mrr", "mean_rank"], **FEW)
    assert {(one.wins, one.ties, one.losses) for one in found.values()} == {(49, 1, 0)}
    one, other = (replace(far, better=far.better * 0 + np.array(own) - 1) for own in ([3, 3], [2, 6]))
    assert compare(one, other, metrics=["mrr"], **FEW)["mrr"].ties == 50  # 1/3 + 1/3 = 1/2 + 1/6


def test_three_models_are_corrected_for_being_three():
    graph = make_graph(6)
    models = {f"m{number}": make_evaluation(graph, number) for number in range(3)}
    found = compare_all(models, metrics=["mrr"], **FEW)
    ps = [pair["metrics"]["mrr"]["p"] for pair in found["comparisons"]]
    assert [pair["metrics"]["mrr"]["p_holm"] for pair in found["comparisons"]] == holm(ps)
    assert [pair["second"] for pair in found["comparisons"]] == ["m1", "m2"]
    assert found["sample"] is None
    drawn = {name: sampled(one, 20, 0) for name, one in models.items()}
    assert compare_all(drawn, metrics=["mrr"], **FEW)["sample"] == {"population": 30, "seed": 0}
    with pytest.raises(InputError, match="nothing to compare"):
        compare_all({"m0": models["m0"]})


def test_unlike_evaluations_are_not_compared():
    graph = make_graph(7)
    first = make_evaluation(graph, 1)
    for other, message in (
        (make_evaluation(make_graph(8), 1), r"differ in data set \(checksum\)"),
        (make_evaluation(graph, 1, filter_parts=("train",)), "differ in filter: train, valid, test and train"),
        (make_evaluation(graph, 1, candidate_set={"kind": "typed"}), "differ in candidate set: all and typed"),
        (rows_of(first, np.arange(29)), "differ in number of ranked triples: 30 and 29"),
        (rows_of(first, [0] * 30), "ranked on different test triples"),
        (
            replace(first, candidates=first.candidates + np.arange(2)),
            "differ in number of candidates for the tail of triple",
        ),
    ):
        with pytest.raises(InputError, match=message):
            compare(first, other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "seed=-1 is no seed"),
        ({"resamples": 0}, "resamples=0 is too few"),
        ({"confidence": 1.0}, "confidence=1.0"),
        ({"metrics": ["mrr", "mrr"]}, "each once"),
        ({"metrics": ["median_rank"]}, "'median_rank' is no mean over queries"),
        ({"metrics": ["hits@0"]}, "choose mrr, mean_rank or hits@K"),
        ({"cluster": "relation"}, "choose one of triple, query"),
        ({"side": "left"}, "choose one of head, tail, both"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(InputError, match=message):
        bootstrap_intervals(make_evaluation(), **options)


def sampled(everything, size, seed):
    rows = sample_rows(everything.triples, size, seed)
    return replace(rows_of(everything, rows), sample=Sample(population=len(everything.triples), seed=seed))


def test_estimates_hold_the_truth():
    everything = make_evaluation(make_graph(9, entities=30, test=2000), 9, skill=3.0)
    for size in (1, 60, 1500):
        missed = 0
        for seed in range(60):
            for name, one in estimate(sampled(everything, size, seed)).items():
                missed += not one.low <= everything.metrics()[name] <= one.high
                assert 0 <= one.low <= one.value <= one.high <= 1
        assert missed <= 12  # of 240 at 95 %; in truth the bound is wide
    whole = estimate(sampled(everything, 2000, 0))
    for name, one in whole.items():
        assert one.low == one.value == one.high == pytest.approx(everything.metrics()[name], rel=1e-15)


def test_a_larger_sample_is_surer():
    reaches = [reach_of_mean(0.3, size, 10**6, 0.95) for size in (10, 100, 1000, 10**4, 10**5, 10**6 - 1, 10**6)]
    assert reaches == sorted(reaches, reverse=True)
    assert reach_of_mean(0.01, 10**4, 10**6, 0.95) < reach_of_mean(0.3, 10**4, 10**6, 0.95)
    assert reach_of_mean(0.3, 100, 10**6, 0.9) < reach_of_mean(0.3, 100, 10**6, 0.99)


@settings(deadline=None, max_examples=15)
@given(seeds, st.integers(1, 30))
def test_a_sample_is_of_triples_not_of_rows(seed, size):
    triples = make_graph(seed).test
    order = np.random.default_rng(seed).permutation(30)
    rows = sample_rows(triples, size, seed)
    assert len(set(rows.tolist())) == size
    assert sorted(rows) == rows.tolist()
    again = triples[order][sample_rows(triples[order], size, seed)]
    assert sorted(map(tuple, triples[rows])) == sorted(map(tuple, again))


def test_what_cannot_be_estimated():
    found = make_evaluation()
    with pytest.raises(InputError, match="not one of a sample"):
        estimate(found)
    with pytest.raises(InputError, match="'mean_rank' has no upper bound"):
        estimate(sampled(found, 5, 0), metrics=["mean_rank"])
    with pytest.raises(InputError, match="size=31 of the sample"):
        sample_rows(found.triples, 31, 0)
