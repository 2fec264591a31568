"""The random split: nothing is lost, nothing leaks, and the same input gives the same bytes."""

import gzip
import hashlib
import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openbiolink.errors import InputError
from openbiolink.split import GraphFiles, RandomSplit, build, random_split
from oracles.leakage import (
    find_faults,
    find_leaks,
    find_negative_faults,
    find_unjustified,
    read_rows,
    read_split,
)

NODES = {
    "GENE": ["NCBIGENE:1", "NCBIGENE:10", "NCBIGENE:2", "NA", "a b"],
    "DRUG": ["PUBCHEM.COMPOUND:7", "007", "7"],
    "ANATOMY": ["UBERON:1", 'CL:"9', "ä"],
}
KINDS = {node: kind for kind, nodes in NODES.items() for node in nodes}
OUTSIDE = {"NCBIGENE:99": "GENE", "UBERON:99": "ANATOMY", "nobody:1": None}  # occur in true negatives only
RELATIONS = {
    "GENE_GENE": ("GENE", "GENE"),
    "GENE_BINDING_GENE": ("GENE", "GENE"),
    "GENE_BINDACT_GENE": ("GENE", "GENE"),
    "GENE_ACTIVATION_GENE": ("GENE", "GENE"),
    "GENE_DRUG": ("GENE", "DRUG"),
    "DRUG_BINDING_GENE": ("DRUG", "GENE"),
    "DRUG_BINDACT_GENE": ("DRUG", "GENE"),
    "GENE_EXPRESSED_ANATOMY": ("GENE", "ANATOMY"),
    "GENE_OVEREXPRESSED_ANATOMY": ("GENE", "ANATOMY"),
    "no such relation": ("ANATOMY", "ANATOMY"),
}
DEFAULT = RandomSplit()
SLOW = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
FEW = settings(SLOW, max_examples=10)


def random_edge(draw, outside):
    relation = draw.choice(sorted(RELATIONS))
    head, tail = (
        draw.choice(NODES[kind] + [node for node in outside if OUTSIDE[node] in {kind, None}])
        for kind in RELATIONS[relation]
    )
    score = draw.choice(["", "900", "900.0", "1E5", "high", "NA", "-3"])
    return head, relation, tail, score, draw.choice(["", "A", "B", "B;A"])


@st.composite
def graphs(draw):
    """Edges and true negatives: dense, so that relations imply each other in many places."""
    shuffler = random.Random(draw(st.integers(0, 2**32)))
    edges = [random_edge(shuffler, ()) for _ in range(draw(st.integers(1, 120)))]
    return edges, [random_edge(shuffler, sorted(OUTSIDE)) for _ in range(draw(st.integers(0, 50)))]


GRAPHS = graphs()
FRACTIONS = st.sampled_from([(0.3, 0.3), (0.45, 0.1), (0.05, 0.05), (0.0, 0.4), (0.4, 0.0)])


@st.composite
def options(draw, **fixed):
    test, validation = draw(FRACTIONS)
    return RandomSplit(
        test_fraction=test,
        validation_fraction=validation,
        seed=draw(st.integers(-1, 5)),
        directed=draw(st.sampled_from([None, True, False])),
        **{
            name: fixed[name] if name in fixed else draw(st.booleans())
            for name in ("negatives_train_validation", "negatives_test")
        },
    )


def write(folder, name, rows):
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8", newline="\n")
    return path


def split(folder, positives, negatives=(), *, nodes=KINDS, choice=DEFAULT, overwrite=True, notes=None):
    return random_split(
        write(folder, "edges.csv", positives),
        write(folder, "nodes.csv", nodes.items()),
        folder / "out",
        tn_edges=write(folder, "TN_edges.csv", negatives),
        options=choice,
        overwrite=overwrite,
        note=(lambda line: None) if notes is None else notes.append,
    )


def split_case(cases, tmp_path, case, choice, notes=None):
    return random_split(
        cases / f"{case}-edges.tsv",
        cases / f"{case}-nodes.tsv",
        tmp_path / "out",
        tn_edges=None,
        options=choice,
        overwrite=True,
        note=(lambda line: None) if notes is None else notes.append,
    )


def fractions(choice):
    return {"seed": choice.seed, "test": choice.test_fraction, "validation": choice.validation_fraction}


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def triples(folder, *, sign=1):
    return {part: [row[:3] for row in rows] for (part, other), rows in read_split(folder).items() if other == sign}


# Laws


@SLOW
@given(GRAPHS, options())
def test_nothing_is_lost_and_nothing_leaks(graph, choice):
    positives, negatives = graph
    directed = choice.directed is not False
    with TemporaryDirectory() as name:
        folder = Path(name)
        found = split(folder, positives, negatives, choice=choice)
        assert find_leaks(found.folder, directed=directed) == []
        assert find_unjustified(found.folder, fractions=fractions(choice), directed=directed) == []
        inputs = {"edges": positives, "tn_edges": negatives, "nodes": KINDS.items()}
        assert find_faults(found.folder, **inputs, options=fractions(choice)) == []
        assert found.manifest == json.loads(found.files["manifest.json"].read_text(encoding="utf-8"))
        assert str(folder) not in found.files["manifest.json"].read_text(encoding="utf-8")


@FEW
@given(GRAPHS, options(negatives_train_validation=True, negatives_test=True))
def test_every_group_gets_as_many_negatives_as_there_are(graph, choice):
    with TemporaryDirectory() as name:
        found = split(Path(name), *graph, choice=choice)
        faults = find_negative_faults(
            found.folder, nodes=KINDS, kinds=KINDS | OUTSIDE, directed=choice.directed is not False
        )
    assert faults == []


@FEW
@given(GRAPHS, options(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_byte(graph, choice, shuffler):
    positives, negatives = graph
    with TemporaryDirectory() as name:
        first = contents(split(Path(name, "a"), positives, negatives, choice=choice).folder)
        nodes = list(KINDS.items())
        mixed = [list(rows) for rows in (positives, negatives, nodes)]
        for rows in mixed:
            shuffler.shuffle(rows)
        second = contents(split(Path(name, "b"), mixed[0], mixed[1], nodes=dict(mixed[2]), choice=choice).folder)
    manifests = [json.loads(files.pop("manifest.json")) for files in (first, second)]
    assert first == second
    for manifest in manifests:
        del manifest["inputs"]
    assert manifests[0] == manifests[1]


@FEW
@given(GRAPHS, st.lists(st.tuples(*[st.sampled_from(NODES["GENE"])] * 2), max_size=10))
def test_an_unrelated_relation_moves_no_edge(graph, pairs):
    choice = RandomSplit(test_fraction=0.3, validation_fraction=0.3)
    more = [(head, "unrelated", tail, "", "C") for head, tail in pairs]
    with TemporaryDirectory() as name:
        places = []
        for folder, extra in (("a", []), ("b", more)):
            found = split(Path(name, folder), graph[0] + extra, graph[1], choice=choice)
            rows = read_split(found.folder)
            places.append({(sign, row[:3]): part for (part, sign), content in rows.items() for row in content})
    before, after = places
    both = before.keys() & after.keys()
    assert {key: before[key] for key in both} == {key: after[key] for key in both}


PLANTED = {
    "twice": (("a", "r", "b"), "test", ("a", "r", "b"), "train"),
    "loop": (("a", "r", "a"), "test", None, None),
    "reverse": (("a", "r", "b"), "test", ("b", "r", "a"), "train"),
    "super-relation": (("a", "GENE_GENE", "b"), "test", ("b", "GENE_BINDACT_GENE", "a"), "val"),
    "unseen": (("a", "r", "stranger"), "val", None, None),
}


@pytest.mark.parametrize("leak", PLANTED)
def test_the_independent_check_finds_what_is_planted(tmp_path, leak):
    first, part, second, other = PLANTED[leak]
    rows = {"train": [("a", "GENE_GENE", "c"), ("b", "GENE_BINDACT_GENE", "c"), ("b", "r", "c")], "val": [], "test": []}
    rows[part].append(first)
    if second is not None:
        rows[other].append(second)
    for name, content in rows.items():
        write(tmp_path, f"{name}_sample.csv", [(*row, "", "1", "") for row in content])
    found = find_leaks(tmp_path)
    assert found
    assert {line.partition(":")[0] for line in found} == {leak}


def test_the_independent_check_finds_planted_negatives(tmp_path):
    write(tmp_path, "val_sample.csv", [])
    write(tmp_path, "test_sample.csv", [])
    positives = [("a", "GENE_GENE", "b"), ("a", "GENE_DRUG", "c"), ("c", "DRUG_BINDACT_GENE", "b")]
    write(tmp_path, "train_sample.csv", [(*row, "", "1", "") for row in positives])
    write(tmp_path, "negative_train_sample.csv", [("a", "GENE_DRUG", "b", "", "0", "")])
    write(tmp_path, "negative_test_sample.csv", [("b", "DRUG_BINDACT_GENE", "a", "", "0", "")])
    assert [line.partition(":")[0] for line in find_leaks(tmp_path)] == ["negative"]
    false = [("b", "GENE_GENE", "a"), ("b", "GENE_DRUG", "c")]
    write(tmp_path, "negative_train_sample.csv", [(*row, "", "0", "") for row in false])
    assert sorted(find_leaks(tmp_path)) == [f"true: negative {row}" for row in sorted(false)]


# Cases


CHOICES = [
    RandomSplit(test_fraction=test, validation_fraction=validation, seed=seed)
    for seed in (1, 42)
    for test, validation in ((0.05, 0.05), (0.3, 0.3), (0.2, 0.0))
]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
@pytest.mark.parametrize(
    ("case", "rows", "loops"),
    [
        ("c21-self-loops", 18, 2),
        ("c22-mirrored-pairs", 18, 0),
        ("c23-rare-relations", 8, 0),
        ("c25-duplicate-rows-cross-splits", 12, 0),
        ("c28-degree-one-leaves", 16, 0),
    ],
)
def test_cases_of_small_graphs(cases, tmp_path, case, rows, loops, choice):
    notes = []
    found = split_case(cases, tmp_path, case, choice, notes)
    edge_rows, node_rows = (read_rows(cases / f"{case}-{what}.tsv") for what in ("edges", "nodes"))
    assert find_leaks(found.folder) == []
    assert find_faults(found.folder, edges=edge_rows, tn_edges=[], nodes=node_rows, options=fractions(choice)) == []
    kept = [row for content in triples(found.folder).values() for row in content]
    removed = [row for row in read_rows(found.folder / "removed_edges.tsv") if row[4] == "1"]
    assert len(kept) + len(removed) == rows
    assert sum(row[6] == "self_loop" for row in removed) == loops
    assert found.manifest["counts"]["removed"]["positive"].get("self_loop", 0) == loops
    assert list(found.manifest["notes"]) == notes
    for part in ("train", "validation", "test"):
        empty = not found.manifest["counts"]["parts"][part]["positive"]
        assert (f"the {part} set is empty" in notes) == empty


def test_a_relation_without_test_edges_is_named(cases, tmp_path):
    notes = []
    choice = RandomSplit(test_fraction=0.3, validation_fraction=0.3, seed=42)
    found = split_case(cases, tmp_path, "c23-rare-relations", choice, notes)
    assert found.manifest["counts"]["parts"]["test"]["positive"] > 0
    without = sorted(name for name, entry in found.manifest["relations"].items() if not entry["test"])
    assert without
    assert f"{len(without)} relations have no test edge: {', '.join(without)}" in notes


def test_repeated_rows_are_merged_and_counted(cases, tmp_path):
    found = split_case(cases, tmp_path, "c25-duplicate-rows-cross-splits", RandomSplit())
    assert found.manifest["counts"]["input"]["positive"] == 12
    assert found.manifest["counts"]["input"]["positive_duplicates"] == 18
    assert "18 repeated positive rows were merged" in found.manifest["notes"]


def test_a_leaf_that_is_held_out_is_named(cases, tmp_path):
    lost = set()
    for seed in range(5):
        choice = RandomSplit(test_fraction=0.3, validation_fraction=0.3, seed=seed)
        found = split_case(cases, tmp_path, "c28-degree-one-leaves", choice)
        removed = [row for row in read_rows(found.folder / "removed_edges.tsv") if row[4] == "1"]
        reasons = {row[2]: row[6] for row in removed if row[2] in {f"P:{number}" for number in range(2, 12)}}
        assert all(text.startswith("unseen_node:") and leaf in text for leaf, text in reasons.items())
        files = [found.folder / f"removed_{part}_nodes.csv" for part in ("test", "val")]
        assert reasons.keys() <= {row[0] for path in files for row in read_rows(path)}
        lost |= reasons.keys()
    assert lost


def test_the_only_negative_there_is(cases, tmp_path):
    for seed in range(5):
        notes = []
        choice = RandomSplit(test_fraction=0.3, validation_fraction=0.3, seed=seed)
        found = split_case(cases, tmp_path, "c26-negatives-collide", choice, notes)
        negatives = [row for content in triples(found.folder, sign=0).values() for row in content]
        negatives += [row[:3] for row in read_rows(found.folder / "removed_edges.tsv") if row[4] == "0"]
        assert negatives == [("C:2", "DRUG_GENE", "G:2")]
        assert found.manifest["relations"]["DRUG_GENE"]["shortfall"] == 2
        assert any(line.startswith("DRUG_GENE (DRUG, GENE): 1 of 3 negatives, 2 short") for line in notes)


PROGRAM = """
import sys
from pathlib import Path
from openbiolink.split import RandomSplit, random_split
edges, nodes, target = map(Path, sys.argv[1:])
options = RandomSplit(test_fraction=0.2, validation_fraction=0.2)
random_split(edges, nodes, target, tn_edges=None, options=options, note=lambda line: None)
"""


def test_the_same_seed_gives_the_same_bytes_in_every_process(cases, tmp_path):
    case = cases / "c24-same-seed-same-split"
    runs = []
    for number, seed in enumerate(("0", "1", "random")):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        target = tmp_path / f"out{number}"
        command = [sys.executable, "-c", PROGRAM, f"{case}-edges.tsv", f"{case}-nodes.tsv", str(target)]
        subprocess.run(command, env=environment, check=True)
        runs.append(contents(target))
    assert runs[0] == runs[1] == runs[2]
    assert len(read_rows(tmp_path / "out0" / "train_sample.csv")) > 10


def test_nodes_that_are_not_listed_are_named_with_their_rows(cases, tmp_path):
    with pytest.raises(InputError, match=r"line 2 \(NCBIGENE:2\), line 3 \(DOID:9\): 2 nodes") as error:
        split_case(cases, tmp_path, "c29-dangling-edges", RandomSplit())
    assert "c29-dangling-edges-edges.tsv" in str(error.value)
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


# Reading


def test_node_files_with_names_comments_and_quotes(cases, tmp_path):
    for case, ids in (
        ("c08-hash-in-values", ["CHEBI:9901", "CHEBI:9902", "CHEBI:9903"]),
        ("c09-tsv-quotes", [f"GO:99000{number}" for number in range(21, 27)]),
    ):
        rows = [(left, "r", right, "", "A") for left in ids for right in ids if left < right]
        found = random_split(
            write(tmp_path, "edges.csv", rows),
            cases / f"{case}-nodes.tsv",
            tmp_path / "out",
            tn_edges=None,
            options=RandomSplit(test_fraction=0, validation_fraction=0),
            overwrite=True,
            note=lambda line: None,
        )
        assert [row[0] for row in read_rows(found.folder / "train_val_nodes.csv")] == ids
        comments = [note for note in found.manifest["notes"] if "skipped as comments" in note]
        assert len(comments) == (case == "c08-hash-in-values")
        assert all(note.startswith(f"{case}-nodes.tsv: 1 lines") for note in comments)


def test_gzip_members_and_windows_files(cases, tmp_path):
    ids = ["NCBIGENE:990001", "NCBIGENE:990002", "NCBIGENE:990003", "DOID:9901"]
    whole = RandomSplit(test_fraction=0, validation_fraction=0)
    found = random_split(
        cases / "c16-gz-two-members-edges.tsv.gz",
        write(tmp_path, "nodes.csv", [(node, "any") for node in ids]),
        tmp_path / "out",
        tn_edges=None,
        options=whole,
        note=lambda line: None,
    )
    assert len(read_rows(found.folder / "train_sample.csv")) == 3
    found = split_case(cases, tmp_path, "c17-bom-crlf-edges", whole)
    assert (found.folder / "train_sample.csv").read_bytes() == (
        b"NCBIGENE:990001\tGENE_DIS\tDOID:9901\t0.7\t1\tA\nNCBIGENE:990001\tGENE_DIS\tDOID:9902\t0.7\t1\t\n"
    )
    assert read_rows(found.folder / "train_val_nodes.csv") == [
        ("DOID:9901", "DIS"), ("DOID:9902", "DIS"), ("NCBIGENE:990001", "GENE"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("scores", "sources", "score", "source"),
    [
        (["900", "1000", "99"], ["B", "A", "B"], "1000", "A;B"),
        (["900.0", "900"], ["A;C", "B;A"], "900", "A;B;C"),
        (["high", "3", "NA"], ["", "A", ""], "3", "A"),
        (["low", "high", ""], ["B;A", "B;A", "B;A"], "high", "B;A"),
        (["nan", "inf", "-5"], ["", "", ""], "-5", ""),
    ],
)
def test_the_best_score_and_all_sources_of_repeated_rows_stay(tmp_path, scores, sources, score, source):
    rows = [("NA", "r", "007", *cells) for cells in zip(scores, sources, strict=True)]
    for order in (rows, rows[::-1]):
        found = split(tmp_path, order, choice=RandomSplit(test_fraction=0, validation_fraction=0))
        assert read_rows(found.folder / "train_sample.csv") == [("NA", "r", "007", score, "1", source)]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("edges.csv", "a\tr\tb\t\tA\n\n\tr\tb\t\tA\n", r"edges.csv, line 3: an id or type is empty"),
        ("edges.csv", "a\t\tb\t\tA\n", r"edges.csv, line 1: an id or type is empty"),
        ("edges.csv", "a\tr\tb\t\tA\n  \n\t\t\t\t\n", r"edges.csv, line 3: an id or type is empty"),
        ("edges.csv", "a\t \tb\t\tA\n", r"edges.csv, line 1: an id or type is empty"),
        ("edges.csv", "a\tr\tb\tx\n", r"edges.csv, line 1 \(4 cells\): expected 5 cells"),
        ("edges.csv", "a\tr\tb\na\tr\tb\t\t\n", r"edges.csv, line 2 \(5 cells\): expected 3 cells"),
        ("TN_edges.csv", "a\tr\t\t\tA\n", r"TN_edges.csv, line 1: an id or type is empty"),
        ("nodes.csv", "a\tGENE\nb\t\n", r"nodes.csv, line 2: an id or type is empty"),
        ("nodes.csv", "a\tGENE\nb\tGENE\na\tDRUG\n", r"line 1 \(a is GENE\), line 3 \(a is DRUG\)"),
        ("nodes.csv", "a\tGENE\tx\nb\tGENE\n", r"nodes.csv, line 2 \(2 cells\): expected 3 cells"),
        ("nodes.csv", "a\tGENE\n", r"edges.csv, line 1 \(b\): 1 nodes of edges are not in .*nodes.csv"),
    ],
)
def test_bad_rows_are_refused_and_nothing_is_written(tmp_path, name, text, message):
    files = {
        "edges.csv": "a\tr\tb\t\tA\n",
        "TN_edges.csv": "b\tr\ta\t\tA\n",
        "nodes.csv": "a\tGENE\nb\tGENE\n",
    } | {name: text}
    for file, content in files.items():
        (tmp_path / file).write_text(content, encoding="utf-8")
    before = contents(tmp_path)
    with pytest.raises(InputError, match=message) as error:
        random_split(
            tmp_path / "edges.csv",
            tmp_path / "nodes.csv",
            tmp_path / "out",
            tn_edges=tmp_path / "TN_edges.csv",
            options=RandomSplit(),
            note=lambda line: None,
        )
    assert "\n" not in str(error.value)
    assert contents(tmp_path) == before


def test_many_missing_nodes_are_counted(tmp_path):
    rows = [("NA", "r", f"missing{number}", "", "A") for number in range(9)]
    with pytest.raises(InputError, match=r"line 3 \(missing2\) and 6 more lines: 9 nodes of edges"):
        split(tmp_path, rows)


def test_nodes_of_true_negatives_get_their_type_from_where_it_stands(tmp_path):
    positives = [(head, "r", tail, "", "A") for head in ("NA", "NCBIGENE:1") for tail in ("007", "ä")]
    negatives = [
        ("x:1", "r", "007", "", "TN"),  # ALL_nodes.csv says GENE
        ("NCBIGENE:99", "r", "ä", "", "TN"),  # the prefix says GENE
        ("nobody:1", "r", "nobody:2", "", "TN"),  # nothing says what these are
        ("NA", "r", "nobody:2", "", "TN"),
    ]
    write(tmp_path, "ALL_nodes.csv", [*KINDS.items(), ("x:1", "GENE")])
    found = split(tmp_path, positives, negatives, choice=RandomSplit(test_fraction=0, validation_fraction=0))
    used = triples(found.folder, sign=0)["train"]
    assert ("x:1", "r", "007") in used
    assert ("NCBIGENE:99", "r", "ä") in used
    assert len(used) == 4
    removed = read_rows(found.folder / "removed_edges.tsv")
    assert [(*row[:3], row[6]) for row in removed] == [
        ("NA", "r", "nobody:2", "untyped_node:nobody:2"),
        ("nobody:1", "r", "nobody:2", "untyped_node:nobody:1,nobody:2"),
    ]
    assert ("x:1", "GENE") in read_rows(found.folder / "train_val_nodes.csv")
    assert found.manifest["inputs"]["all_nodes"]["file"] == "ALL_nodes.csv"


# Negatives


def test_true_negatives_come_first_and_each_has_its_fate(tmp_path):
    positives = [
        ("NCBIGENE:1", "GENE_GENE", "NCBIGENE:2", "", "A"),
        ("NCBIGENE:1", "GENE_OVEREXPRESSED_ANATOMY", "ä", "", "A"),
        ("NCBIGENE:2", "GENE_EXPRESSED_ANATOMY", "ä", "", "A"),
        ("007", "DRUG_BINDING_GENE", "NA", "", "A"),
    ]
    negatives = [
        ("NCBIGENE:2", "GENE_GENE", "NCBIGENE:1", "", "TN"),  # the reverse is positive
        ("NA", "GENE_GENE", "NA", "", "TN"),
        ("NA", "GENE_GENE", "NCBIGENE:10", "5", "TN"),
        ("NCBIGENE:1", "GENE_EXPRESSED_ANATOMY", "ä", "", "TN"),  # over-expressed, so expressed
        ("NCBIGENE:1", "GENE_EXPRESSED_ANATOMY", "UBERON:1", "", "TN"),
        ("NCBIGENE:2", "GENE_EXPRESSED_ANATOMY", "UBERON:1", "", "TN"),
        ("NA", "GENE_DRUG", "007", "", "TN"),  # no positive has this relation; bound, so it interacts
        ("NA", "GENE_DIS", "007", "", "TN"),  # no positive has this relation
    ]
    choice = RandomSplit(test_fraction=0, validation_fraction=0)
    found = split(tmp_path, positives, negatives, choice=choice)
    rows = {row[:3]: row for row in read_rows(found.folder / "negative_train_sample.csv")}
    assert len(rows) == 4
    assert rows["NA", "GENE_GENE", "NCBIGENE:10"] == ("NA", "GENE_GENE", "NCBIGENE:10", "5", "0", "TN")
    expressed = [row for row in rows.values() if row[1] == "GENE_EXPRESSED_ANATOMY"]
    assert [row[5] for row in expressed] == ["TN"]
    removed = {row[:3]: row[6] for row in read_rows(found.folder / "removed_edges.tsv")}
    surplus = {row[:3] for row in negatives if row[2] == "UBERON:1"} - rows.keys()
    assert removed == {
        ("NCBIGENE:2", "GENE_GENE", "NCBIGENE:1"): "conflict",
        ("NA", "GENE_GENE", "NA"): "self_loop",
        ("NCBIGENE:1", "GENE_EXPRESSED_ANATOMY", "ä"): "conflict:GENE_OVEREXPRESSED_ANATOMY",
        ("NA", "GENE_DRUG", "007"): "conflict:DRUG_BINDING_GENE",
        ("NA", "GENE_DIS", "007"): "surplus_negative",
    } | dict.fromkeys(surplus, "surplus_negative")
    assert len(surplus) == 1


def test_surplus_true_negatives_are_spread_like_positives(tmp_path):
    heads, tails = [f"h{number}" for number in range(60)], [f"t{number}" for number in range(60)]
    nodes = dict.fromkeys(heads, "A") | dict.fromkeys(tails, "B")
    pairs = [(head, "R", tail) for head in heads for tail in tails]
    positives = [(*pair, "", "A") for pair in pairs if (int(pair[0][1:]) + int(pair[2][1:])) % 4 == 0]
    negatives = [(*pair, "", "TN") for pair in pairs if (int(pair[0][1:]) + int(pair[2][1:])) % 4]
    parts = split(tmp_path, positives, negatives, nodes=nodes).manifest["counts"]["parts"]
    assert 780 < parts["train"]["negative"] < 840  # 900 negatives, 90 % of them
    assert 20 < parts["test"]["negative"] < 70


def test_what_excludes_each_other_is_in_one_part(tmp_path):
    over, under = "GENE_OVEREXPRESSED_ANATOMY", "GENE_UNDEREXPRESSED_ANATOMY"
    genes, places = [f"NCBIGENE:{n}" for n in range(30)], [f"UBERON:{n}" for n in range(30)]
    nodes = dict.fromkeys(genes, "GENE") | dict.fromkeys(places, "ANATOMY")
    rows = [
        (gene, (over, under)[(n + m) % 2], place, "", "A")
        for n, gene in enumerate(genes)
        for m, place in enumerate(places)
    ]
    denied = [(gene, under if relation == over else over, place, "", "TN") for gene, relation, place, *_ in rows]
    found = split(tmp_path, rows, denied, nodes=nodes)
    part_of = {}
    for sign in (1, 0):
        for part, listed in triples(found.folder, sign=sign).items():
            for head, _, tail in listed:
                assert part_of.setdefault((head, tail), part) == part
    assert len(set(part_of.values())) == 3


def test_of_too_many_true_negatives_those_with_the_smallest_hash_are_used(tmp_path):
    positives = [("NA", "r", node, "", "A") for node in NODES["DRUG"]]
    negatives = [(gene, "r", node, "", "TN") for gene in NODES["GENE"][:4] for node in NODES["DRUG"]]
    choice = RandomSplit(test_fraction=0, validation_fraction=0, seed=7)
    for order in (negatives, negatives[::-1]):
        found = split(tmp_path, positives, order, choice=choice)

        def place(triple):
            low, high = sorted((triple[0], triple[2]))
            return hashlib.md5(f"7 surplus\t{low}\tr\t{high}".encode()).hexdigest()[:15]

        free = [row[:3] for row in negatives if row[0] != "NA"]
        assert triples(found.folder, sign=0)["train"] == sorted(sorted(free, key=place)[:3])


@pytest.mark.parametrize("train_validation", [True, False])
@pytest.mark.parametrize("test", [True, False])
def test_negatives_that_nobody_wants_are_not_written(tmp_path, train_validation, test):
    positives = [(head, "r", tail, "", "A") for head in NODES["GENE"] for tail in NODES["ANATOMY"]]
    negatives = [(head, "r", "007", "", "TN") for head in NODES["GENE"]]
    positives += [(head, "r", "PUBCHEM.COMPOUND:7", "", "A") for head in NODES["GENE"]]
    choice = RandomSplit(
        test_fraction=0.3, validation_fraction=0.3, negatives_train_validation=train_validation, negatives_test=test
    )
    found = split(tmp_path, positives, negatives, choice=choice)
    names = {path.name for path in found.folder.iterdir()}
    assert {"negative_train_sample.csv", "negative_val_sample.csv"} & names == (
        {"negative_train_sample.csv", "negative_val_sample.csv"} if train_validation else set()
    )
    assert ("negative_test_sample.csv" in names) == test
    off = [row[:3] for row in read_rows(found.folder / "removed_edges.tsv") if row[6] == "negatives_off"]
    listed = {row for content in triples(found.folder, sign=0).values() for row in content} | set(off)
    assert len(off) < len(negatives) or not (train_validation or test)
    assert (not off) == (train_validation and test)
    if not (train_validation or test):
        assert listed == {row[:3] for row in negatives}


def mirrored_graph(pairs):
    shuffler = random.Random(7)
    nodes = [f"NCBIGENE:{number}" for number in range(200)]
    drawn = sorted({tuple(sorted(shuffler.sample(nodes, 2))) for _ in range(pairs)})
    return dict.fromkeys(nodes, "GENE"), drawn


def test_symmetric_relations_keep_their_share_of_the_test_set(tmp_path):
    nodes, pairs = mirrored_graph(4000)
    rows = [(*ends[:1], "GENE_GENE", *ends[1:], "", "A") for a, b in pairs for ends in ((a, b), (b, a))]
    rows += [(a, "IS_A", b, "", "A") for a, b in pairs]
    found = split(tmp_path, rows, nodes=nodes)
    entry = found.manifest["relations"]["GENE_GENE"]
    spread = 5 * 2 * (len(pairs) * 0.05 * 0.95) ** 0.5  # five standard deviations of twice a binomial
    for part in ("test", "validation"):
        assert abs(entry[part] - 0.05 * 2 * len(pairs)) < spread
        assert abs(entry["share"][part] - 2 / 3) < 0.1
    for sign in (1, 0):
        for content in triples(found.folder, sign=sign).values():
            symmetric = {row for row in content if row[1] == "GENE_GENE"}
            assert {(t, r, h) for h, r, t in symmetric} == symmetric
    assert entry["shortfall"] == 0


def test_negatives_stand_in_the_orders_that_positives_stand_in(tmp_path):
    nodes, pairs = mirrored_graph(600)
    rows = [(b, "GENE_GENE", a, "", "A") if a < b else (a, "GENE_GENE", b, "", "A") for a, b in pairs]
    found = split(tmp_path, rows, nodes=nodes, choice=RandomSplit(test_fraction=0, validation_fraction=0))
    negatives = triples(found.folder, sign=0)["train"]
    assert len(negatives) == len(rows)
    assert all(head > tail for head, _, tail in negatives)


def test_relations_do_not_share_their_negatives(tmp_path):
    nodes, pairs = mirrored_graph(600)
    rows = [(a, relation, b, "", "A") for a, b in pairs for relation in ("r1", "r2")]
    found = split(tmp_path, rows, nodes=nodes, choice=RandomSplit(test_fraction=0, validation_fraction=0))
    negatives = triples(found.folder, sign=0)["train"]
    drawn = [{(head, tail) for head, relation, tail in negatives if relation == name} for name in ("r1", "r2")]
    assert len(drawn[0]) == len(drawn[1]) == len(pairs)
    assert len(drawn[0] & drawn[1]) < 0.1 * len(pairs)


# Direction, files, threads


def test_the_direction_is_that_of_the_manifest_beside_the_edges(tmp_path):
    rows = [("NA", "r", "NCBIGENE:1", "", "A"), ("NA", "r", "NCBIGENE:2", "", "A")]
    assert split(tmp_path, rows).manifest["directed"] is True
    (tmp_path / "manifest.json").write_text('{"directed": false}', encoding="utf-8")
    assert split(tmp_path, rows).manifest["directed"] is False
    assert split(tmp_path, rows, choice=RandomSplit(directed=True)).manifest["directed"] is True
    (tmp_path / "manifest.json").write_text("{}", encoding="utf-8")
    assert split(tmp_path, rows).manifest["directed"] is True
    for broken in ("{", '{"directed": "no"}'):
        (tmp_path / "manifest.json").write_text(broken, encoding="utf-8")
        with pytest.raises(InputError, match=r"manifest.json: .*--directed"):
            split(tmp_path, rows)


def test_the_separator_is_that_of_the_manifest_beside_the_files(tmp_path):
    """A graph gives the same split whatever stands between its cells, and faults are found in the same lines."""
    edges, negatives = (
        [(f"NCBIGENE:{n}", "r", f"NCBIGENE:{(n * step) % 31}", str(n), "A b") for n in range(30)] for step in (3, 5)
    )
    nodes = {f"NCBIGENE:{n}": "GENE" for n in range(31)}
    found = []
    for separator in "\t;, ":
        folder = tmp_path / f"separated by {ord(separator)}"
        folder.mkdir()
        if separator != "\t":
            manifest = {"format": "openbiolink-graph/1", "directed": True, "options": {"separator": separator}}
            (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        paths = {
            name: write(folder, name, [(separator.join(cell.replace(separator, "-") for cell in row),) for row in rows])
            for name, rows in (
                ("edges.csv", edges),
                ("TN_edges.csv", negatives),
                ("nodes.csv", nodes.items()),
                ("ALL_nodes.csv", [*nodes.items(), ("NCBIGENE:99", "GENE")]),
            )
        }

        def run(paths=paths, folder=folder):
            return random_split(
                paths["edges.csv"],
                paths["nodes.csv"],
                folder / "out",
                tn_edges=paths["TN_edges.csv"],
                options=DEFAULT,
                overwrite=True,
                note=lambda _: None,
            )

        tables = contents(run().folder)
        found.append({name: data.replace(b"A-b", b"A b") for name, data in tables.items() if not name.endswith("json")})
        with paths["edges.csv"].open("a", encoding="utf-8") as stream:
            stream.write(separator.join(("NCBIGENE:1", "r", "NCBIGENE:1000", "", "")) + "\n")
        with pytest.raises(InputError, match=r"line 31 \(NCBIGENE:1000\): 1 nodes of edges are not in"):
            run()
    assert all(one == found[0] for one in found)
    assert found[0]["train_sample.csv"].count(b"\t") == 5 * found[0]["train_sample.csv"].count(b"\n") > 0


@pytest.mark.parametrize("separator", ["", ";;", 3, None])
def test_a_manifest_with_a_separator_that_is_none_is_refused(tmp_path, separator):
    (tmp_path / "manifest.json").write_text(json.dumps({"options": {"separator": separator}}), encoding="utf-8")
    with pytest.raises(InputError, match=r"manifest.json: options.separator is .* expected one character"):
        split(tmp_path, [("NA", "r", "NCBIGENE:1", "", "A")])


def test_the_terms_of_the_graph_are_carried_over(tmp_path):
    rows = [("NA", "r", "NCBIGENE:1", "", "A")]
    found = split(tmp_path, rows)
    assert "The terms are unknown" in found.files["LICENSE.txt"].read_text(encoding="utf-8")
    assert found.manifest["licence"] is None
    (tmp_path / "LICENSE.txt").write_bytes(b"terms of \xff mine\r\n")
    terms = {"terms": {"T": {"url": "https://example.org/terms"}}, "sources": {}}
    for kind, expected in (("openbiolink-graph/1", terms), ("another", None)):
        manifest = {"format": kind, "licence": terms}
        (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        found = split(tmp_path, rows)
        assert found.files["LICENSE.txt"].read_bytes() == b"terms of \xff mine\r\n"
        assert found.manifest["licence"] == expected
        description = json.loads(found.files["croissant.json"].read_text(encoding="utf-8"))
        assert description["license"] == (["https://example.org/terms"] if expected else ["LICENSE.txt"])


def test_an_existing_split_is_replaced_only_when_told(tmp_path):
    rows = [("NA", "r", "NCBIGENE:1", "", "A")]
    old = contents(split(tmp_path, rows).folder)
    with pytest.raises(InputError, match=r"out: exists already; say --overwrite"):
        split(tmp_path, [], overwrite=False)
    with pytest.raises(InputError, match="4 cells"):
        split(tmp_path, [("NA", "r", "NA", "")])
    assert contents(tmp_path / "out") == old
    (tmp_path / "out" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"notes.txt, which was not written here"):
        split(tmp_path, rows)
    assert contents(tmp_path / "out") == old | {"notes.txt": b"mine"}


@pytest.mark.parametrize("step", ["_add_negatives", "clean_up", "write_tables", "write_terms", "write_manifests"])
def test_what_fails_half_way_leaves_the_old_split_whole(tmp_path, monkeypatch, step):
    rows = [("NA", "r", "NCBIGENE:1", "", "A")]
    old = contents(split(tmp_path, rows).folder)

    def stop(*arguments, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(build, step, stop)
    with pytest.raises(KeyboardInterrupt):
        split(tmp_path, [*rows, ("NA", "r", "NCBIGENE:2", "", "A")])
    assert contents(tmp_path / "out") == old
    assert {path.name for path in tmp_path.iterdir()} == {"edges.csv", "TN_edges.csv", "nodes.csv", "out"}


def test_a_graph_without_edges_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no edges"):
        split(tmp_path, [])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("file", ["edges", "nodes", "tn_edges"])
def test_a_path_without_a_name_is_refused(tmp_path, file):
    files = {name: tmp_path / name for name in ("edges", "nodes", "tn_edges")}
    with pytest.raises(InputError, match="is a folder, expected a file"):
        GraphFiles(**files | {file: Path()})


def test_a_graph_of_one_loop_gives_empty_parts(tmp_path):
    notes = []
    found = split(tmp_path, [("NCBIGENE:1", "IS_A", "NCBIGENE:1", "", "A")], notes=notes)
    filled = {name for name, entry in found.manifest["outputs"].items() if entry.get("rows")}
    assert filled == {"removed_edges.tsv"}
    assert {f"the {part} set is empty" for part in ("train", "validation", "test")} <= set(notes)


def test_ids_that_begin_with_a_hash_are_ids(tmp_path):
    rows = [(f"#{number % 5}", "R", f"x{number}", "", "A") for number in range(20)]
    notes = []
    nodes = {node: "THING" for head, _, tail, *_ in rows for node in (head, tail)}
    found = split(tmp_path, rows, nodes=nodes, notes=notes)
    counts = found.manifest["counts"]
    kept = sum(part["positive"] for part in counts["parts"].values()) + sum(counts["removed"]["positive"].values())
    assert kept == counts["input"]["positive"] == 20
    assert any("whole rows begin with '#'" in note for note in notes)


def test_threads_change_no_byte(tmp_path, monkeypatch):
    shuffler = random.Random(3)
    nodes = dict.fromkeys((f"NCBIGENE:{number}" for number in range(3000)), "GENE")
    names = list(nodes)
    rows = [
        (shuffler.choice(names), relation, shuffler.choice(names), "", "A")
        for relation in ("GENE_GENE", "GENE_BINDING_GENE", "IS_A")
        for _ in range(45_000)
    ]
    runs = []
    for threads in (1, 5):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, threads=threads: range(threads), raising=False)
        runs.append(contents(split(tmp_path, rows, rows[:30_000:3], nodes=nodes).folder))
    assert runs[0] == runs[1]
    assert find_leaks(tmp_path / "out") == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"test_fraction": 1.0}, r"test_fraction \(--test-frac\) is 1.0"),
        ({"test_fraction": -0.1}, r"test_fraction \(--test-frac\) is -0.1"),
        ({"validation_fraction": float("nan")}, r"validation_fraction \(--val\) is nan"),
        ({"test_fraction": 0.5, "validation_fraction": 0.5}, "leave nothing to train on"),
        ({"seed": 4.2}, "seed is 4.2"),
        ({"seed": True}, "seed is True"),
    ],
)
def test_options_out_of_range_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        replace(RandomSplit(), **wrong)


@pytest.mark.real
@pytest.mark.parametrize("name", ["nations", "umls", "wn18rr"])
def test_real_graphs_without_types_or_known_relations(shared, tmp_path, name):
    lines = []
    for path in sorted((shared / "data" / "kg" / name).glob("t*.txt*")):
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
        lines += [line.split("\t") for line in text.splitlines()]
    rows = [(head, relation, tail, "", "") for head, relation, tail in lines]
    nodes = dict.fromkeys(sorted({node for row in rows for node in (row[0], row[2])}), "any")
    found = split(tmp_path, rows, nodes=nodes)
    assert find_leaks(found.folder) == []
    assert find_faults(found.folder, edges=rows, tn_edges=[], nodes=nodes.items(), options=fractions(DEFAULT)) == []


def test_what_only_looks_like_a_number_is_no_best_score(tmp_path):
    rows = [("NA", "r", "007", score, "A") for score in ("900", "1_000", "nan", "inf", "")]
    found = split(tmp_path, rows, choice=RandomSplit(test_fraction=0, validation_fraction=0))
    assert (found.folder / "train_sample.csv").read_text().split("\t")[3] == "900"
