"""Positives told from negatives: areas by their definitions, ties and all; probabilities that are what they say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_up_ranks import make_graph
from openbiolink.dataset import from_labelled, load_dataset
from openbiolink.errors import InputError, ScoreError
from openbiolink.evaluation.classification import (
    area_under_roc,
    average_precision,
    calibration_error,
    evaluate_classification,
    fit_logistic,
    read_negatives,
)
from openbiolink.evaluation.vectors import distmult
from oracles import statistics as oracle

scores = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=12)
GRAPH = from_labelled(
    train=[("a", "r", "b"), ("c", "q", "d")],
    valid=[("b", "r", "c"), ("a", "q", "c")],
    test=[("a", "r", "d"), ("b", "q", "d"), ("a", "r", "d")],
)
FALSE = np.array([[1, 1, 0], [0, 0, 3], [3, 1, 3]], np.int32)


def table_scorer(table):
    return lambda batch: (table[:, batch[:, 1], batch[:, 2]].T, table[batch[:, 0], batch[:, 1]])


@settings(deadline=None, max_examples=25)
@given(scores, scores, st.randoms(use_true_random=False))
def test_areas_are_their_definitions(positive, negative, random):
    ours, theirs = np.array(positive), np.array(negative)
    found = area_under_roc(ours, theirs), average_precision(ours, theirs)
    assert found[0] == float(oracle.auroc(positive, negative))
    assert found[1] == pytest.approx(float(oracle.average_precision(positive, negative)), rel=1e-14)
    random.shuffle(positive)
    random.shuffle(negative)
    assert (
        area_under_roc(np.array(positive), np.array(negative)),
        average_precision(np.array(positive), np.array(negative)),
    ) == found
    assert area_under_roc(theirs, ours) == pytest.approx(1 - found[0])
    assert area_under_roc(np.exp(ours), np.exp(theirs)) == found[0]


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 10), st.booleans()), min_size=1, max_size=30), st.integers(1, 5))
def test_calibration_error_puts_every_triple_in_one_bin(pairs, bins):
    positive = np.array([number / 10 for number, truth in pairs if truth])
    negative = np.array([number / 10 for number, truth in pairs if not truth])
    found = calibration_error(positive, negative, bins=bins)
    assert 0 <= found <= 1
    whole = abs(sum(number / 10 for number, _ in pairs) - len(positive)) / len(pairs)
    assert found >= whole - 1e-12
    assert calibration_error(positive, negative, bins=1) == pytest.approx(whole, abs=1e-12)


def test_a_logistic_curve_finds_the_one_that_made_the_truth():
    random = np.random.default_rng(0)
    values = random.normal(3, 2, 20_000)
    truth = random.random(20_000) < 1 / (1 + np.exp(-(1.5 * values - 4)))
    curve = fit_logistic(values[truth], values[~truth])
    for score in (0.0, 2.0, 4.0):
        assert curve(np.array([score]))[0] == pytest.approx(1 / (1 + np.exp(-(1.5 * score - 4))), abs=0.02)
    apart = fit_logistic(np.array([5.0, 6.0]), np.array([-1e6, -2e6]))
    assert np.isfinite(apart(np.array([-1e9, 0.0, 1e9]))).all()
    same = fit_logistic(np.array([1.0, 1.0]), np.array([1.0]))
    assert 0 < same(np.array([1.0]))[0] < 1


def test_what_is_found_on_a_graph():
    table = np.random.default_rng(1).random((4, 2, 4))
    found = evaluate_classification(table_scorer(table), GRAPH, FALSE[:2], probabilities=True, model_name="t")
    by_hand = [[table[row[0], row[1], row[2]] for row in rows] for rows in ({(0, 1, 3), (1, 0, 3)}, FALSE[:2].tolist())]
    assert found.overall.positives == 2  # the triple that is given twice counts once
    assert found.overall.auroc == float(oracle.auroc(*by_hand))
    assert found.calibration.method == "given"
    brier = (sum((1 - one) ** 2 for one in by_hand[0]) + sum(one**2 for one in by_hand[1])) / 4
    assert found.calibration.brier == pytest.approx(brier)
    assert {name: (one.positives, one.negatives) for name, one in found.by_relation.items()} == {
        "q": (1, 1),
        "r": (1, 1),
    }
    alone = evaluate_classification(table_scorer(table), GRAPH, FALSE[:1])
    assert alone.by_relation["q"].auroc is None
    assert alone.calibration is None
    assert alone.notes == ("scores are no probabilities, so nothing is said of calibration",)
    fitted = evaluate_classification(table_scorer(-table), GRAPH, FALSE, valid_negatives=FALSE, higher_is_better=False)
    assert fitted.calibration.method == "logistic"
    assert fitted.overall == evaluate_classification(table_scorer(table), GRAPH, FALSE).overall
    apart = from_labelled(train=[("a", "r", "b"), ("c", "q", "b")], valid=[], test=[("a", "r", "c"), ("d", "r", "c")])
    found = evaluate_classification(table_scorer(table), apart, FALSE[:1])
    assert found.overall.positives == 2
    assert found.notes[-1] == "test triples that are unseen in training are positives too, whether ranked or not: 1"


def test_vectors_are_scored_as_they_are_ranked():
    graph = make_graph(1)
    random = np.random.default_rng(2)
    entities, relations = (random.normal(size=(count, 5)).astype(np.float32) for count in (12, 3))
    false = np.array([[0, 0, 1], [5, 1, 7], [3, 2, 2]], np.int32)
    found = evaluate_classification(distmult(entities, relations), graph, false)
    table = np.einsum("hd,rd,td->hrt", *(one.astype(np.float64) for one in (entities, relations, entities)))
    assert found.overall == evaluate_classification(table_scorer(table), graph, false).overall
    assert found.model == "distmult"


def test_what_cannot_be_classified():
    scorer = table_scorer(np.full((4, 2, 4), 2.0))
    with pytest.raises(InputError, match="needs test triples and negatives"):
        evaluate_classification(scorer, GRAPH, FALSE[:0])
    with pytest.raises(ScoreError, match="above 1, so it is no probability"):
        evaluate_classification(scorer, GRAPH, FALSE, probabilities=True)
    with pytest.raises(InputError, match="say one of the two"):
        evaluate_classification(scorer, GRAPH, FALSE, probabilities=True, higher_is_better=False)
    with pytest.raises(InputError, match="bins=0"):
        evaluate_classification(scorer, GRAPH, FALSE, bins=0)
    with pytest.raises(ScoreError, match=r"the score of triple \(.*\) is NaN or infinite"):
        evaluate_classification(table_scorer(np.full((4, 2, 4), np.nan)), GRAPH, FALSE)


def test_negatives_are_read_and_none_is_lost_in_silence(tmp_path):
    rows = {"train": "a\tr\tb\n", "valid": "b\tr\tc\n", "test": "a\tr\td\n"}
    for part, text in rows.items():
        (tmp_path / f"{part}.txt").write_text(text)
    graph, notes = load_dataset(tmp_path), []
    assert read_negatives(tmp_path, "test", graph) is None
    path = tmp_path / "test_negatives.txt"
    path.write_text("d\tr\ta\n\na\tr\tz\na\tr\tb\n")
    found = read_negatives(tmp_path, "test", graph, note=notes.append)
    assert [graph.label(row) for row in found] == [("d", "r", "a")]
    assert notes == [
        "test_negatives.txt: negatives with an entity or relation that the data set lacks, left out: 1",
        "test_negatives.txt: negatives that are triples of the data set, left out: 1",
    ]
    path.rename(tmp_path / "valid_negatives.txt")
    (tmp_path / "train_test_data").mkdir()
    sample = tmp_path / "train_test_data" / "negative_test_sample.csv"
    sample.write_text("d\tr\ta\t\t0\tGENERATED\n")
    assert read_negatives(tmp_path, "test", graph).tolist() == found.tolist()
    sample.write_text("d\tr\ta\t\t1\tx\n")
    with pytest.raises(InputError, match=r"negative_test_sample\.csv, line 1: value '1' among negatives"):
        read_negatives(tmp_path, "test", graph)
    sample.write_text("d\tr\n")
    with pytest.raises(InputError, match="line 1: 'd\\\\tr' is no triple"):
        read_negatives(tmp_path, "test", graph)


@pytest.mark.real
def test_true_negatives_of_codex(shared):
    from openbiolink.evaluation import baseline

    folder = shared / "data" / "kg" / "codex-s"
    dataset = load_dataset(folder)
    negatives = {part: read_negatives(folder, part, dataset) for part in ("valid", "test")}
    assert [len(one) for one in negatives.values()] == [1827, 1828]
    scorer = baseline("frequency", dataset)
    found = evaluate_classification(scorer, dataset, negatives["test"], valid_negatives=negatives["valid"])
    batches = [np.unique(part, axis=0).astype(np.int64) for part in (dataset.test, negatives["test"])]
    positive, negative = (
        [float(scores[tail]) for scores, tail in zip(scorer.score_batch(rows)[1], rows[:, 2], strict=True)]
        for rows in batches
    )
    assert found.overall.auroc == float(oracle.auroc(positive, negative))
    assert found.overall.auprc == pytest.approx(float(oracle.average_precision(positive, negative)), rel=1e-12)
    assert found.calibration.brier < 0.25
