"""What `openbiolink evaluate` can be asked: candidates, samples, negatives, ranks, devices, processes."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from openbiolink.cli import app
from openbiolink.errors import OpenBioLinkError

SCHEMA = json.loads(Path(__file__).parents[1].joinpath("docs/schema/result-2.schema.json").read_text())
GENES, DISEASES = [f"NCBIGENE:{number}" for number in range(1, 19)], [f"DOID:{number}" for number in range(1, 9)]


@pytest.fixture(scope="module")
def split(tmp_path_factory):
    """A data set of genes and diseases with negatives, beside a DistMult of it."""
    folder = tmp_path_factory.mktemp("split")
    generator = np.random.default_rng(1)
    pairs = [(gene, "GENE_DIS", disease) for gene in GENES for disease in DISEASES]
    chosen = [pairs[place] for place in generator.permutation(len(pairs))]
    rows = {"train": chosen[:60], "valid": chosen[60:70], "test": chosen[70:85]}
    rows |= {"valid_negatives": chosen[85:95], "test_negatives": chosen[95:120]}
    for name, triples in rows.items():
        (folder / f"{name}.txt").write_text("".join("\t".join(triple) + "\n" for triple in triples))
    model = folder / "model"
    model.mkdir()
    for name, labels in (("entities", [*GENES, *DISEASES]), ("relations", ["GENE_DIS"])):
        np.save(model / f"{name}.npy", generator.standard_normal((len(labels), 12), dtype=np.float32))
        (model / f"{name}.tsv").write_text("".join(f"{number}\t{label}\n" for number, label in enumerate(labels)))
    return folder


@pytest.fixture
def evaluate(split):
    def run(*words, refused=False, model=True):
        given = ["--embeddings", str(split / "model"), "--model", "distmult"] if model else []
        done = CliRunner().invoke(
            app, ["evaluate", str(split), *given, "--unseen", "keep", *map(str, words)], env={"COLUMNS": "160"}
        )
        if refused:
            assert isinstance(done.exception, OpenBioLinkError), done.output
            return str(done.exception)
        assert done.exit_code == 0, done.output
        return done.output

    return run


def result_of(evaluate, out, *words, **options):
    evaluate("--out", out, *words, **options)
    result = json.loads(out.read_text())
    Draft202012Validator(SCHEMA).validate(result)
    return result


def test_typed_candidates_are_those_of_the_type(evaluate, tmp_path):
    every = result_of(evaluate, tmp_path / "all.json")
    typed = result_of(evaluate, tmp_path / "typed.json", "--candidates", "typed")
    assert every["candidate_set"] == {"kind": "all"}
    sizes = {name: found["entities"] for name, found in typed["candidate_set"]["sets"].items()}
    assert sizes == {"GENE": len(GENES), "DIS": len(DISEASES)}
    assert typed["metrics"]["realistic"]["both"]["mrr"] > every["metrics"]["realistic"]["both"]["mrr"]
    assert set(typed["breakdowns"]["node_type"]) == {"GENE", "DIS"}


def test_candidates_of_a_list(evaluate, tmp_path):
    (tmp_path / "list.txt").write_text("".join(f"{label}\n" for label in [*GENES, *DISEASES]))
    listed = result_of(evaluate, tmp_path / "listed.json", "--candidates", tmp_path / "list.txt")
    assert listed["metrics"] == result_of(evaluate, tmp_path / "all.json")["metrics"]
    (tmp_path / "list.txt").write_text("DOID:99\n")
    assert "'DOID:99' is not in the data set" in evaluate("--candidates", tmp_path / "list.txt", refused=True)


def test_an_estimate_says_what_it_is_of_and_encloses_the_whole(evaluate, tmp_path):
    whole = result_of(evaluate, tmp_path / "all.json")
    part = result_of(evaluate, tmp_path / "part.json", "--estimate", 8, "--seed", 3)
    assert part["sample"] == {"population": 15, "seed": 3}
    assert part["ranked_triples"] == 8
    for name, interval in part["estimate"]["sides"]["both"].items():
        assert interval["low"] <= whole["metrics"]["realistic"]["both"][name] <= interval["high"]
    assert "of all 15 test triples is within" in evaluate("--estimate", 8)
    assert "give a number from 1 to 15" in evaluate("--estimate", 16, refused=True)


def test_negatives_are_told_apart(evaluate, tmp_path):
    result = result_of(evaluate, tmp_path / "out.json", "--negatives")
    assert 0 <= result["classification"]["overall"]["auroc"] <= 1
    assert result["classification"]["calibration"]["method"] == "logistic"
    assert result_of(evaluate, tmp_path / "plain.json")["classification"] is None
    constant = result_of(evaluate, tmp_path / "b.json", "--negatives", "--baseline", "frequency", model=False)
    assert constant["classification"]["overall"]["positives"] == 15


def test_kept_ranks_give_the_same_numbers_again(evaluate, tmp_path):
    first = result_of(evaluate, tmp_path / "a.json", "--ranks-out", tmp_path / "ranks.parquet", "--seed", 1)
    again = result_of(evaluate, tmp_path / "b.json", "--ranks", tmp_path / "ranks.parquet", "--seed", 1, model=False)
    assert again == first
    assert first["intervals"]["seed"] == 1


@pytest.mark.parametrize("change", ["a row less", "a row twice", "another count"])
def test_kept_ranks_that_were_changed_are_refused(evaluate, tmp_path, change):
    evaluate("--ranks-out", tmp_path / "ranks.tsv")
    *above, last = (tmp_path / "ranks.tsv").read_text().splitlines(keepends=True)
    cells = last.rstrip().split("\t")
    cells[-1] = str(int(cells[-1]) + 1)
    ends = {"a row less": [], "a row twice": [last, last], "another count": ["\t".join(cells) + "\n"]}
    (tmp_path / "ranks.tsv").write_text("".join([*above, *ends[change]]))
    assert "added, taken away or changed" in evaluate("--ranks", tmp_path / "ranks.tsv", refused=True, model=False)


def test_rows_of_kept_ranks_may_stand_in_any_order(evaluate, tmp_path):
    first = result_of(evaluate, tmp_path / "a.json", "--ranks-out", tmp_path / "ranks.tsv")
    lines = (tmp_path / "ranks.tsv").read_text().splitlines(keepends=True)
    (tmp_path / "ranks.tsv").write_text("".join([*lines[:2], *reversed(lines[2:])]))
    again = result_of(evaluate, tmp_path / "b.json", "--ranks", tmp_path / "ranks.tsv", model=False)
    assert again == first


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def score(batch):\n    raise SystemExit(0)\n", "mine.py, line 2: SystemExit: 0; mend it"),
        ("import absent_one\n", "mine.py, line 1: ModuleNotFoundError: No module named 'absent_one'"),
        ("def score(batch:\n", "importing failed, SyntaxError: '(' was never closed (mine.py, line 1)"),
    ],
)
def test_a_scorer_that_fails_is_named_with_the_place(evaluate, tmp_path, monkeypatch, text, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    (tmp_path / "mine.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert said in evaluate("--scorer", "mine:score", model=False, refused=True)
    missing = evaluate("--scorer", "nowhere_at_all:score", model=False, refused=True)
    assert missing.startswith("nowhere_at_all:score: there is no module 'nowhere_at_all'; check its spelling")


def test_nan_is_named_by_the_row_of_the_file(evaluate, split, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(split / "model", model)
    entities = np.load(model / "entities.npy")
    entities[5, 3] = np.nan
    np.save(model / "entities.npy", entities)
    said = evaluate("--embeddings", model, "--model", "distmult", model=False, refused=True)
    assert f"{model}, entities: row 5 (the first is 0) holds NaN or infinity" in said


def test_threads_devices_and_processes_change_no_byte(evaluate, split, tmp_path):
    wanted = result_of(evaluate, tmp_path / "a.json")
    assert result_of(evaluate, tmp_path / "b.json", "--threads", 3) == wanted
    assert result_of(evaluate, tmp_path / "c.json", "--device", "cpu") == wanted
    assert result_of(evaluate, tmp_path / "e.json", "--first-pass", "int8") == wanted
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    words += ["-m", "openbiolink", "evaluate", str(split), "--unseen", "keep", "--distributed"]
    words += ["--embeddings", str(split / "model"), "--model", "distmult", "--out", str(tmp_path / "d.json")]
    done = subprocess.run(
        words, check=False, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("d.json") == 1
    assert done.stderr.count("rank (0/") == 1  # one of them speaks
    assert (tmp_path / "d.json").read_bytes() == (tmp_path / "a.json").read_bytes()


def test_options_that_do_not_fit_the_input_are_refused(evaluate):
    assert "--device goes with" in evaluate("--baseline", "degree", "--device", "cpu", refused=True, model=False)
    assert "--estimate goes with" in evaluate("--ranks", "x.tsv", "--estimate", 3, refused=True, model=False)
    assert "leave one out" in evaluate("--first-pass", "int8", "--device", "cpu", refused=True)
    assert "is started by torchrun" in evaluate("--distributed", refused=True)
