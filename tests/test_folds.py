"""Folds: every edge but those of the test set is validated once, and each fold is clean on its own."""

import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openbiolink.errors import InputError
from openbiolink.split import RandomSplit
from oracles.leakage import find_leaks, find_losses, read_rows, read_split
from split_graphs import contents_of_two_orders, graphs, run_command, share_of_edge, split

FEW = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
BEFORE_PARTS = {"self_loop", "conflict", "surplus_negative", "untyped_node", "negatives_off"}
CLEANED = {"unseen_node", "unseen_relation", "super_relation", "implied_negative", "reverse"}


def held(folder, part):
    """The rows of a part before the clean-up, as (head, relation, tail, sign)."""
    kept = {(*row[:3], row[4]) for sign in (0, 1) for row in read_split(folder)[part, sign]}
    return kept | gone(folder)


def gone(folder):
    rows = read_rows(folder / "removed_edges.tsv")
    return {(*row[:3], row[4]) for row in rows if row[6].partition(":")[0] in CLEANED}


@FEW
@given(graphs(), st.sampled_from([2, 3, 0.3]), st.integers(0, 3))
def test_folds_part_what_is_not_tested_and_none_leaks(graph, crossval, seed):
    edges, negatives = graph
    scheme = RandomSplit(test_fraction=0.2, crossval=crossval, seed=seed)
    with TemporaryDirectory() as name:
        found = split(Path(name), scheme, edges, negatives)
        number = 4 if crossval == 0.3 else crossval
        folders = [found.folder / f"fold_{fold}" for fold in range(number)]
        assert [entry["folder"] for entry in found.manifest["folds"]] == [folder.name for folder in folders]
        assert sorted(path.name for path in found.folder.iterdir() if path.is_dir()) == sorted(f.name for f in folders)
        test = held(found.folder, "test")
        assert test == {row for row in test if share_of_edge(seed, row[:3]) < 0.2}
        rest = {(*row[:3], row[4]) for sign in (0, 1) for row in read_split(found.folder)["train", sign]}
        validated = []
        for folder, entry in zip(folders, found.manifest["folds"], strict=True):
            rows = read_split(folder)
            assert find_leaks(folder) == []
            assert not find_losses(folder, edges=edges, tn_edges=negatives)
            assert not any(entry["leaks"].values())
            train = {(*row[:3], row[4]) for sign in (0, 1) for row in rows["train", sign]}
            mine = rest - train
            validated += sorted(mine)
            # What a fold's test set lacks, this fold's own training set has unlearnt.
            assert {(*row[:3], row[4]) for sign in (0, 1) for row in rows["test", sign]} <= test
            assert held(folder, "validation") | held(folder, "test") == mine | test
        assert sorted(validated) == sorted(rest)


def test_a_fold_is_filtered_from_the_test_set_as_it_was(tmp_path):
    """Fold 0 lacks what only training of fold 1 has; that does not cost fold 1 a row."""
    shuffler = random.Random(3)
    edges = [(f"a{shuffler.randrange(12)}", "r", f"b{shuffler.randrange(12)}", "", "") for _ in range(60)]
    nodes = {f"{side}{number}": side for side in "ab" for number in range(12)}
    scheme = RandomSplit(test_fraction=0.3, crossval=3, negatives_train_validation=False, negatives_test=False)
    found = split(tmp_path, scheme, edges, nodes=nodes)
    whole = {row[:3] for row in read_rows(found.folder / "test_sample.csv")}
    sizes = set()
    for fold in range(3):
        rows = read_split(found.folder / f"fold_{fold}")
        seen = {node for row in rows["train", 1] for node in (row[0], row[2])}
        mine = {row[:3] for row in rows["test", 1]}
        assert mine == {row for row in whole if {row[0], row[2]} <= seen}
        sizes.add(len(mine))
    assert len(sizes) > 1  # else the example shows nothing


def test_row_order_changes_no_byte_of_folds():
    shuffler = random.Random(5)
    graph = ([(f"NCBIGENE:{a}", "GENE_GENE", f"NCBIGENE:{b}", "", "") for a in range(1, 9) for b in range(1, 9)], [])
    first, second = contents_of_two_orders(RandomSplit(test_fraction=0.2, crossval=2), graph, shuffler)
    assert first == second
    assert len(first) > 20


@pytest.mark.parametrize("crossval", [0, 1, -1, 2.5, float("nan"), float("inf"), 1001, 0.0001, 1e-300])
def test_what_is_no_number_of_folds_is_refused(crossval):
    with pytest.raises(InputError, match=r"--crossval"):
        RandomSplit(crossval=crossval)


def test_the_command_makes_folds(tmp_path, monkeypatch, capsys):
    (tmp_path / "edges.csv").write_text("".join(f"a{n}\tr\tb{n % 3}\n" for n in range(12)), encoding="utf-8")
    nodes = [f"a{n}\tA\n" for n in range(12)] + [f"b{n}\tB\n" for n in range(3)]
    (tmp_path / "nodes.csv").write_text("".join(nodes), encoding="utf-8")
    files = ("--edges", str(tmp_path / "edges.csv"), "--nodes", str(tmp_path / "nodes.csv"))
    run_command(monkeypatch, capsys, "-p", str(tmp_path), "split", "rand", *files, "--crossval", "0.3")
    manifest = json.loads((tmp_path / "train_test_data" / "manifest.json").read_text(encoding="utf-8"))
    assert len(manifest["folds"]) == 4
    assert (tmp_path / "train_test_data" / "fold_3" / "train_sample.csv").is_file()
