"""The command line: results go where one said, nothing is overwritten by mistake, Ctrl-C ends in order."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from conftest import ROOT

SOURCES = ROOT / "src" / "openbiolink" / "demo" / "sources.toml"


def command(*words, cwd=None):
    line = [sys.executable, "-m", "openbiolink", *map(str, words)]
    return subprocess.run(line, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    for part, rows in {"train": "a\tr\tb\nb\tr\tc\n", "valid": "", "test": "a\tr\tc\n"}.items():
        (folder / f"{part}.txt").write_text(rows)
    return folder


def test_a_result_may_replace_a_result_but_nothing_else(dataset, tmp_path):
    out = tmp_path / "new" / "result.json"
    for _ in range(2):
        done = command("evaluate", dataset, "--baseline", "degree", "--out", out)
        assert done.returncode == 0, done.stderr
    assert json.loads(out.read_text())["model"] == "degree"
    other = tmp_path / "train.txt"
    other.write_text("a\tr\tb\n")
    for wrong in (other, tmp_path):
        done = command("evaluate", dataset, "--baseline", "degree", "--out", wrong)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert str(wrong) in done.stderr
    assert other.read_text() == "a\tr\tb\n"


def test_a_result_goes_through_links_and_into_pipes(dataset, tmp_path):
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    link.symlink_to(target)
    assert command("evaluate", dataset, "--baseline", "degree", "--out", link).returncode == 0
    assert link.is_symlink()
    assert json.loads(target.read_text())["test_triples"] == 1
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        assert command("evaluate", dataset, "--baseline", "degree", "--out", pipe).returncode == 0
        assert json.loads(reader.communicate()[0])["test_triples"] == 1
    assert pipe.is_fifo()
    shown = command("evaluate", dataset, "--baseline", "degree", "--out", "/dev/stdout")  # a pipe here
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout[shown.stdout.index("{") : shown.stdout.rindex("}") + 1])["test_triples"] == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("seconds", [0.8, 1.6])
def test_an_interrupted_command_ends_in_order(tmp_path, number, seconds):
    line = [sys.executable, "-m", "openbiolink", "-p", tmp_path, "generate", "--source-map", SOURCES]
    with subprocess.Popen(line, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as run:
        while "read " not in run.stderr.readline():
            assert run.poll() is None
        time.sleep(seconds - 0.7)
        run.send_signal(number)
        err = run.communicate()[1]
    if run.returncode != 0:  # else it was done before
        assert run.returncode == 128 + number
        assert err.splitlines()[-1].startswith("Interrupted:")
        assert "Traceback" not in err
    left = sorted(entry.name for entry in tmp_path.iterdir())
    assert left == (["graph_files"] if run.returncode == 0 else [])


def test_the_demo_replaces_its_own_split_only(tmp_path):
    assert command("demo", cwd=tmp_path).returncode == 0
    graph = tmp_path / "demo" / "graph_files"
    words = ("--edges", graph / "edges.csv", "--nodes", graph / "nodes.csv", "--seed", 7, "--overwrite")
    assert command("-p", tmp_path / "demo", "split", "rand", *words).returncode == 0
    before = (tmp_path / "demo" / "train_test_data" / "manifest.json").read_bytes()
    done = command("demo", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert (tmp_path / "demo" / "train_test_data" / "manifest.json").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("generate", "--license", "free"), "'free' is not one of"),
        (("split", "rand", "--test-frac", "x"), "valid number"),
        (("diff", "a"), "GRAPH2"),
        (("nothing",), "No such command 'nothing'"),
    ],
)
def test_a_slip_in_the_command_line_is_one_line(words, fault):
    done = command(*words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert fault in done.stderr
    assert "--help` says what there is" in done.stderr


def test_a_graph_without_an_edge_is_refused_and_an_earlier_one_stays(tmp_path):
    (tmp_path / "links.txt").write_text("protein1 protein2 combined_score\n9606.ENSP1 9606.ENSP2 500\n")
    (tmp_path / "map.tsv").write_text("# NCBI taxid / entrez / STRING\n9606\t1\t9606.ENSP00000000001\n")
    (tmp_path / "map.toml").write_text('[sources]\n"string.links" = "links.txt"\n"string.entrez" = "map.tsv"\n')
    done = command("-p", tmp_path, "generate", "--source-map", tmp_path / "map.toml", "--allow-band", "all")
    assert done.returncode == 2
    assert "none of the 1 rows read gives an edge (1 unmapped_head)" in done.stderr
    assert not (tmp_path / "graph_files").exists()


def test_the_version_is_said():
    from importlib.metadata import version

    assert command("--version").stdout == f"openbiolink {version('openbiolink')}\n"


def test_every_option_of_split_rand_reaches_the_split(tmp_path):
    rows = [f"g{n % 9}\tR\tg{n // 9}\t\tA\n" for n in range(81) if n % 9 != n // 9]
    (tmp_path / "edges.csv").write_text("".join(rows))
    (tmp_path / "nodes.csv").write_text("".join(f"g{n}\tGENE\n" for n in range(9)))
    files = ("--edges", tmp_path / "edges.csv", "--nodes", tmp_path / "nodes.csv")
    for words, changed in (
        (
            ("--test-frac", 0.3, "--val", 0.1, "--seed", 7),
            {"test_fraction": 0.3, "validation_fraction": 0.1, "seed": 7},
        ),
        (("--no-neg-train-val",), {"negatives_train_validation": False}),
        (("--no-neg-test",), {"negatives_test": False}),
        (("--undirected",), {"directed": False}),
        (("--directed",), {"directed": True}),
        (("--negatives", "hard", "--per-positive", 2), {"negatives": "hard", "per_positive": 2}),
        (("--crossval", 3), {"crossval": 3.0}),
    ):
        done = command("-p", tmp_path, "split", "rand", *files, *words, "--overwrite")
        assert done.returncode == 0, done.stderr
        manifest = json.loads((tmp_path / "train_test_data" / "manifest.json").read_text())
        usual = {
            "test_fraction": 0.05,
            "validation_fraction": 0.05,
            "seed": 42,
            "negatives_train_validation": True,
            "negatives_test": True,
            "directed": None,
            "negatives": "uniform",
            "per_positive": 1,
            "crossval": None,
        }
        assert manifest["options"] == usual | changed
        assert manifest["directed"] == (changed.get("directed") is not False)
        names = {path.name for path in (tmp_path / "train_test_data").iterdir()}
        assert ("negative_train_sample.csv" in names) == changed.get("negatives_train_validation", True)
        assert ("negative_test_sample.csv" in names) == changed.get("negatives_test", True)
    done = command("-p", tmp_path, "split", "rand", *files)
    assert done.returncode == 2
    assert "--overwrite" in done.stderr


def test_every_option_of_evaluate_reaches_the_evaluation(tmp_path):
    for part, rows in {"train": "a\tr\tb\nb\tr\tc\n", "valid": "", "test": "a\tr\tc\nz\tr\ta\n"}.items():
        (tmp_path / f"{part}.txt").write_text(rows)
    lists = "a r c\nHeads: a\t1\tc\t2\nTails: c\t1\ta\t1\n"
    (tmp_path / "top.txt").write_text(lists)
    words = ("evaluate", tmp_path, "--predictions", tmp_path / "top.txt", "--out", tmp_path / "r.json")
    refused = command(*words)
    assert (refused.returncode, refused.stderr.count("Error:")) == (2, 1)
    assert "--unseen drop" in refused.stderr
    ranks = {}
    for name, more in {"higher": (), "lower": ("--lower-is-better",), "ties": ("--ties", "pessimistic")}.items():
        done = command(*words, "--unseen", "drop", *more)
        assert done.returncode == 0, done.stderr
        result = json.loads((tmp_path / "r.json").read_text())
        ranks[name] = [result["metrics"]["realistic"][side]["mean_rank"] for side in ("head", "tail")]
        assert (result["left_out"], result["higher_is_better"]) == (1, name != "lower")
        assert result["ties"] == ("pessimistic" if name == "ties" else "realistic")
        assert f"ties {result['ties']}" in done.stdout
    assert ranks == {"higher": [2.0, 1.5], "lower": [1.0, 1.5], "ties": [2.0, 1.5]}
    assert command(*words, "--unseen", "keep").returncode == 0
    assert json.loads((tmp_path / "r.json").read_text())["not_listed"] == 2


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are those of Unix")
@pytest.mark.parametrize("most", [20_000, 200_000, 1_000_000])
def test_a_full_disk_is_one_line(tmp_path, most):
    import resource

    limit = (resource.RLIMIT_FSIZE, (most, most))
    line = [sys.executable, "-m", "openbiolink", "-p", str(tmp_path), "generate", "--source-map", str(SOURCES)]
    done = subprocess.run(
        line, capture_output=True, text=True, check=False, preexec_fn=lambda: resource.setrlimit(*limit)
    )
    errors = [text for text in done.stderr.splitlines() if text.startswith("Error: ")]
    assert (done.returncode, len(errors)) == (2, 1), done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "graph_files").exists()


def test_the_help_names_every_format_that_can_be_written():
    from openbiolink.cli.generate import FORMATS
    from openbiolink.graph.writers import WRITERS

    assert tuple(WRITERS) == FORMATS
