"""The page of benchmarks is what its raw results make, these say all they must, and the program that measures runs."""

import importlib.util
import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
CLOCKS = {"wall", "cpu"}
EVERY = {"kind", "size", "seconds", "median", "peak_mb", "triples", "commit", "date", "load_average"}
RANKED = {"ratio", "ratios", "products", "queries", "model", "dimension"}
FIELDS = {
    "ours": EVERY | RANKED | {"held_mb", "threads", "same_ranks", "first_pass", "vectors"},
    "load": EVERY | {"kept"},
    "peer": EVERY | RANKED | {"differ", "peer"},
    "peer load": EVERY | {"peer"},
}


def load(name):
    """A program of the folder as a module."""
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make_page = load("make_page")


@pytest.fixture(scope="module")
def results():
    return make_page.read_results(make_page.RESULTS)


def test_the_page_and_the_chart_are_what_the_results_make(results):
    assert (BENCHMARKS / "README.md").read_text(encoding="utf-8") == make_page.make_page(results)
    assert (BENCHMARKS / "ratios.svg").read_text(encoding="utf-8") == make_page.make_chart(results)


def test_results_say_where_they_are_from(results):
    machine = results["machine"]
    assert {"processor", "flags", "cores", "memory_gb", "system", "python", "numpy", "blas"} == machine.keys()
    for entry in results["entries"].values():
        assert re.fullmatch(r"[0-9a-f]{12}\+?", entry["commit"])
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", entry["date"])


def test_every_entry_has_its_fields_and_its_medians_follow_from_its_repeats(results):
    for name, entry in results["entries"].items():
        assert entry.keys() >= FIELDS[entry["kind"]], name
        assert entry["seconds"].keys() == entry["median"].keys() == CLOCKS
        triples = entry["triples"]
        assert triples["run"] <= triples["total"], name
        for clock in CLOCKS:
            middle = make_page.median(entry["seconds"][clock])
            assert entry["median"][clock] == pytest.approx(triples["scale"] * middle, rel=1e-3, abs=1e-3), name
            if "ratio" in entry:
                repeats, bare = entry["seconds"][clock], entry["products"]["seconds"][clock]
                quotients = [
                    2 * triples["scale"] * one / (before + after)
                    for one, (before, after) in zip(repeats, pairwise(bare), strict=True)
                ]
                assert entry["ratio"][clock] == pytest.approx(make_page.median(quotients), rel=1e-2), name


def test_ranks_are_the_same_in_every_repeat_and_first_pass(results):
    assert all(entry["same_ranks"] for entry in results["entries"].values() if entry["kind"] == "ours")


def test_a_target_that_is_missed_is_said_so():
    text, sign, wanted, got, _ = make_page.list_targets({})[0]
    assert got is None
    assert sign == make_page.AT_MOST
    for ratio, word in ((wanted, "met"), (wanted + 0.01, "**not met**")):
        entries = {"ours small distmult": {"ratio": {"wall": ratio}}}
        rows = {row[0]: row[3] for row in make_page.target_rows(entries)}
        assert rows[text] == word
        assert set(rows.values()) == {word, "not measured"}


def test_results_of_another_format_are_refused(tmp_path):
    (tmp_path / "old.json").write_text(json.dumps({"format": "openbiolink-benchmark/0"}))
    with pytest.raises(SystemExit, match="openbiolink-benchmark/0, expected"):
        make_page.read_results(tmp_path / "old.json")


def test_the_program_measures_a_small_split_and_the_page_shows_it(tmp_path):
    file = tmp_path / "results.json"
    command = [sys.executable, BENCHMARKS / "bench_evaluate.py", "--only", "ours tiny", "--repeats", "2"]
    command += ["--data", tmp_path / "data", "--results", file]
    subprocess.run([str(part) for part in command], check=True, capture_output=True, timeout=120)
    results = make_page.read_results(file)
    (entry,) = results["entries"].values()
    assert entry.keys() >= FIELDS["ours"]
    assert entry["triples"] == {"run": 100, "total": 100, "scale": 1.0}
    assert len(entry["seconds"]["wall"]) == 2
    assert len(entry["products"]["seconds"]["wall"]) == 3
    assert 100 < entry["queries"] <= 200
    assert "| 2,000 entities | DistMult 16 |" in make_page.make_page(results)


def test_the_page_of_metrics_is_what_its_results_make():
    program = load("bench_metrics")
    results = json.loads(program.RESULTS.read_text(encoding="utf-8"))
    assert program.PAGE.read_text(encoding="utf-8") == program.make_page(results)
    for metric, programs in results["peers"].items():
        for name, one in programs.items():
            assert one["value"] == pytest.approx(programs["naive"]["value"], rel=1e-6), (metric, name)
    assert {"ranx", "torchmetrics", "pykeen"} <= results["peers"]["mrr"].keys()
