"""Results, kept ranks and comparisons as files: what the schemas say, whole, the same bytes, read back as they were."""

import json
import math

import duckdb
import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ROOT
from made_up_ranks import make_evaluation, make_graph
from openbiolink.errors import InputError
from openbiolink.evaluation.candidates import candidate_subset
from openbiolink.evaluation.classification import evaluate_classification
from openbiolink.evaluation.rankfile import read_ranks, write_ranks
from openbiolink.evaluation.result import Sample
from split_graphs import run_command
from test_uncertainty import rows_of


def read_schema(name):
    rules = json.loads((ROOT / "docs" / "schema" / name).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(rules)
    return jsonschema.Draft202012Validator(rules)


def as_read(document):
    return json.loads(json.dumps(document, allow_nan=False))


def documents():
    graph = make_graph()
    found = make_evaluation(graph)
    false = np.array([[0, 0, 1]], np.int32)
    ones = np.ones((100, 12))
    classified = evaluate_classification(lambda batch: (ones[: len(batch)],) * 2, graph, false, probabilities=True)
    subset = candidate_subset(graph, graph.entities[:5]).describe()
    yield found.to_dict()
    yield found.to_dict(seed=3, resamples=20, types=["X"] * 12, classification=classified)
    yield make_evaluation(graph, sample=Sample(population=90, seed=1), candidate_set=subset).to_dict()
    yield rows_of(found, [0]).to_dict()


def test_results_are_what_the_schema_says():
    schema = read_schema("result-2.schema.json")
    for document in map(as_read, documents()):
        schema.validate(document)
        assert set(document) == set(schema.schema["properties"])
    for key in document:  # the schema is no sieve: it misses every key that is taken out
        assert not schema.is_valid({name: value for name, value in document.items() if name != key}), key
    assert not schema.is_valid(document | {"mrr": 0.5})


def test_the_result_holds_together():
    found = make_evaluation(make_graph(1), 1)
    document = found.to_dict(seed=0, resamples=50)
    for ties, sides in document["metrics"].items():
        for side, metrics in sides.items():
            assert metrics == found.metrics(side, ties=ties)
            assert document["further_metrics"][ties][side]["harmonic_mean_rank"] == pytest.approx(1 / metrics["mrr"])
    for side, metrics in document["intervals"]["sides"].items():
        for name, one in metrics.items():
            assert one["value"] == pytest.approx(document["metrics"]["realistic"][side][name], rel=1e-14)
            assert one["low"] <= one["value"] <= one["high"]
    for name, groups in document["breakdowns"].items():
        assert sum(group["queries"] for group in groups.values()) == 60, name
    expected = np.mean((found.candidates + 1) / 2)
    assert document["chance"]["both"]["mean_rank"]["expectation"] == pytest.approx(expected)
    assert all(math.isfinite(one["standard_error"]) for one in document["intervals"]["sides"]["both"].values())


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 10**6), st.sampled_from([".parquet", ".tsv"]))
def test_kept_ranks_are_the_evaluation(tmp_path_factory, seed, suffix):
    graph = make_graph(seed)
    found = make_evaluation(graph, seed, model="ä 'b'\"c", notes=("a note",), left_out=2)
    path = tmp_path_factory.mktemp("ranks") / f"kept{suffix}"
    write_ranks(found, path)
    content = path.read_bytes()
    write_ranks(rows_of(found, np.random.default_rng(seed).permutation(30)), path)
    assert path.read_bytes() == content
    alone, whole = read_ranks(path), read_ranks(path, graph)
    wanted = found.to_dict(seed=1, resamples=20)
    assert whole.to_dict(seed=1, resamples=20) == wanted
    without = alone.to_dict(seed=1, resamples=20)
    assert set(wanted["breakdowns"]) - set(without["breakdowns"]) == {"degree", "relation_class"}
    without["breakdowns"] = wanted["breakdowns"]
    assert without == wanted
    write_ranks(alone, path)
    assert path.read_bytes() == content


def test_kept_ranks_are_plain_columns(tmp_path):
    found = make_evaluation()
    write_ranks(found, tmp_path / "kept.parquet")
    write_ranks(found, tmp_path / "kept.tsv")
    rows = duckdb.sql(f"SELECT * FROM '{tmp_path / 'kept.parquet'}'").fetchall()
    lines = (tmp_path / "kept.tsv").read_text().splitlines()
    assert lines[1].split("\t") == [
        *("head", "relation", "tail", "head_better", "head_equal", "head_candidates"),
        *("tail_better", "tail_equal", "tail_candidates"),
    ]
    assert ["\t".join(map(str, row)) for row in rows] == lines[2:]
    assert str(tmp_path) not in lines[0]


def spoil(path, old, new):
    path.write_text(path.read_text().replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# {", "{", "is no file of ranks"),
        ("head_better", "better", "is no file of ranks"),
        ('"ties": "realistic"', '"ties": "best"', "choose one of optimistic"),
        ('"model": "made up"', '"model": 3', "what it says of its ranks is damaged"),
        ('"left_out": 0', '"out": 0', "what it says of its ranks is damaged"),
        ("openbiolink-ranks/1", "openbiolink-ranks/9", "expected 'openbiolink-ranks/1'"),
        ("\t1\t", "\t1.5\t", "cannot be"),
        ("\t1\t", "\t99\t", "cannot be"),
        ("\t1\t", "\t", "cells"),
    ],
)
def test_damaged_ranks_are_refused(tmp_path, old, new, message):
    path = tmp_path / "kept.tsv"
    write_ranks(make_evaluation(), path)
    spoil(path, old, new)
    with pytest.raises(InputError, match=message) as caught:
        read_ranks(path)
    assert "\n" not in str(caught.value)


def test_ranks_of_another_data_set_and_other_files_are_refused(tmp_path):
    found, path = make_evaluation(), tmp_path / "kept.parquet"
    write_ranks(found, path)
    with pytest.raises(InputError, match="ranks of another data set"):
        read_ranks(path, make_graph(1))
    duckdb.sql(f"COPY (SELECT 1 AS a) TO '{tmp_path / 'other.parquet'}'")
    with pytest.raises(InputError, match="is no Parquet file of ranks"):
        read_ranks(tmp_path / "other.parquet")
    (tmp_path / "notes.tsv").write_text("mine\n")
    for name, message in (
        ("other.parquet", "holds no ranks; choose another name"),
        ("notes.tsv", "holds no ranks; choose another name"),
        ("kept.csv", "written as .parquet or .tsv"),
    ):
        with pytest.raises(InputError, match=message):
            write_ranks(found, tmp_path / name)
    assert (tmp_path / "notes.tsv").read_text() == "mine\n"


def test_the_command_compares(tmp_path, monkeypatch, capsys):
    graph = make_graph(2)
    paths = []
    for number in range(3):
        paths.append(tmp_path / f"{number}{'.tsv' if number else '.parquet'}")
        write_ranks(make_evaluation(graph, number, model=f"model {min(number, 1)}"), paths[-1])
    out = tmp_path / "out.json"
    words = ("--out", out, "--resamples", 30, "--seed", 4, "--metric", "mrr", "--metric", "hits@2")
    status, shown, _ = run_command(monkeypatch, capsys, "compare", *paths, *words)
    assert status == 0
    document = json.loads(out.read_text())
    read_schema("compare-1.schema.json").validate(document)
    assert [one["name"] for one in document["models"]] == [
        "model 0 (0.parquet)",
        "model 1 (1.tsv)",
        "model 1 (2.tsv)",
    ]
    first = document["models"][0]["metrics"]["mrr"]
    assert first["value"] == pytest.approx(make_evaluation(graph, 0).metrics()["mrr"])
    assert f"{first['value']:.4f}" in shown
    assert "p (Holm)" in shown
    assert str(out) in shown
    content = out.read_bytes()
    assert run_command(monkeypatch, capsys, "compare", *paths, *words)[0] == 0
    assert out.read_bytes() == content
    (tmp_path / "mine.json").write_text("{}")
    write_ranks(make_evaluation(make_graph(3)), tmp_path / "other.tsv")
    for arguments, message in (
        ((paths[0],), "leaves nothing to compare"),
        ((paths[0], tmp_path / "absent.tsv"), "no such file"),
        ((paths[0], tmp_path / "other.tsv"), "the models differ in data set"),
        ((*paths, "--out", tmp_path / "mine.json"), "is no comparison"),
        ((*paths, "--out", tmp_path), "is a folder"),
        ((*paths, "--metric", "median_rank"), "is no mean over queries"),
        ((*paths, "--resamples", 0), "too few"),
    ):
        status, _, said = run_command(monkeypatch, capsys, "compare", *arguments)
        assert (status, message in " ".join(said.split())) == (2, True), said
