"""The split by time: training is the earlier slice, what is new is held out, and what else changed is told."""

import json
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openbiolink.errors import InputError
from openbiolink.split import GraphFiles, RandomSplit, TimeSplit, split_graph
from oracles.leakage import consequences, find_leaks, find_losses, read_rows, read_split
from split_graphs import KINDS, made_up_rows, placed_rows, run_command, share_of_edge, write

SOME = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
FEW = settings(SOME, max_examples=4)
NO_ROWS = ()


def kinds_of(rows):
    """The type of every node of some rows, by its prefix where it is not a known one."""
    nodes = sorted({node for row in rows for node in (row[0], row[2])})
    return {node: KINDS.get(node, "DIS" if node.startswith("DOID") else "GENE") for node in nodes}


def files_of(folder, edges, negatives=NO_ROWS, nodes=None):
    return GraphFiles(
        edges=write(folder, "edges.csv", edges),
        nodes=write(folder, "nodes.csv", (kinds_of(edges) if nodes is None else nodes).items()),
        tn_edges=write(folder, "TN_edges.csv", negatives),
    )


DEFAULT = TimeSplit()


def split(folder, old, now, scheme=DEFAULT, *, notes=None, **more):
    """Split two slices, each a tuple of edges, true negatives and nodes, of which the last ones may be missing."""
    folder.mkdir(exist_ok=True)
    before, graph = files_of(folder / "old", *old), files_of(folder / "now", *now)
    note = (lambda line: None) if notes is None else notes.append
    return split_graph(graph, folder / "out", scheme, before=before, overwrite=True, note=note, **more)


def distinct_rows(draw, number):
    return list({row[:3]: row for row in made_up_rows(draw, number)}.values())


def later(draw, rows):
    """The rows as a later slice has them: some vanish, some get another score or source, some are new."""
    kept = [row for row in rows if draw.random() < 0.8]
    changed = [(*row[:3], draw.choice([row[3], "901", "9e2"]), draw.choice([row[4], "C"])) for row in kept]
    return list({row[:3]: row for row in changed + made_up_rows(draw, len(rows) // 2 + 1)}.values())


@st.composite
def slices(draw):
    """Two slices; some nodes are only in the later one, some are in true negatives only, and types differ."""
    shuffler = random.Random(draw(st.integers(0, 2**32)))
    edges = distinct_rows(shuffler, draw(st.integers(5, 100)))
    newer = later(shuffler, edges)
    negatives = distinct_rows(shuffler, draw(st.integers(0, 40)))
    newer_negatives = later(shuffler, negatives)
    spare = {node: KINDS[node] for node in KINDS if shuffler.random() < 0.5}
    return (edges, negatives, kinds_of(edges)), (newer, newer_negatives, kinds_of(newer) | spare)


@st.composite
def schemes(draw):
    return TimeSplit(
        validation_fraction=draw(st.sampled_from([0.0, 0.3, 0.5])),
        seed=draw(st.integers(-1, 5)),
        negatives=draw(st.sampled_from(["uniform", "degree", "hard"])),
        per_positive=draw(st.sampled_from([1, 2])),
        directed=draw(st.sampled_from([None, True, False])),
        negatives_train_validation=draw(st.booleans()),
        negatives_test=draw(st.booleans()),
    )


SLICES, SCHEMES = slices(), schemes()


def triples_of(rows):
    return {row[:3] for row in rows}


# Laws


@SOME
@given(SLICES, SCHEMES)
def test_the_laws_of_a_split_by_time(graph, scheme):
    (old, old_negatives, _), (now, now_negatives, _) = graph
    with TemporaryDirectory() as name:
        found = split(Path(name), *graph, scheme)
        assert find_leaks(found.folder, directed=scheme.directed is not False) == []
        assert find_losses(found.folder, edges=old + now, tn_edges=old_negatives + now_negatives) == []
        assert not any(found.manifest["leaks"].values())
        assert name not in (found.folder / "manifest.json").read_text(encoding="utf-8")
        assert find_slice_faults(found.folder, *graph) == []
        assert find_misplaced(found.folder, *graph, scheme) == []
        assert find_wrong_negatives(found.folder, *graph, directed=scheme.directed is not False) == []


def find_slice_faults(folder, before, after):
    """What is wrong with training, which is the earlier slice, and with the list of what vanished."""
    (old, old_negatives, _), (now, now_negatives, _) = before, after
    trained = {(*row[:4], row[5]) for row in read_rows(folder / "train_sample.csv")}
    faults = list(trained ^ {row for row in old if row[0] != row[2]})
    vanished = {(*row[:4], "1", row[4]) for row in old if row[:3] not in triples_of(now)}
    vanished |= {(*row[:4], "0", row[4]) for row in old_negatives if row[:3] not in triples_of(now_negatives)}
    listed = read_rows(folder / "vanished_edges.csv")
    return faults + list(vanished ^ set(listed)) + listed[len(vanished) :]


def find_misplaced(folder, before, after, scheme):
    """Rows in the wrong part, held-out rows that are not as the later slice has them, rows removed without need."""
    (old, old_negatives, _), (now, now_negatives, _) = before, after
    entered = {1: triples_of(old), 0: triples_of(old_negatives)}
    asserted = entered[0] | triples_of(now_negatives)
    faults = []
    for (sign, triple), part in placed_rows(folder).items():
        held = "test"
        if share_of_edge(scheme.seed, triple) < Fraction(scheme.validation_fraction):
            held = "validation"
        right = {"train", held}  # of a drawn negative
        if sign or triple in asserted:
            right = {"train" if triple in entered[sign] else held}
        if part not in right:
            faults.append((part, sign, triple))
    for part in ("test", "val"):
        held_out = {(*row[:4], row[5]) for row in read_rows(folder / f"{part}_sample.csv")}
        faults += held_out - set(now)
    seen = {node for row in read_rows(folder / "train_sample.csv") for node in (row[0], row[2])}
    for row in read_rows(folder / "removed_edges.tsv"):
        trained = row[4] == "1" and row[:3] in entered[1] and row[0] != row[2]
        unseen = row[6].startswith("unseen_node:")
        drawn = row[4] == "0" and row[:3] not in asserted  # from nodes that training has seen
        if trained or (unseen and (drawn or {row[0], row[2]} <= seen)):
            faults.append(row)
    return faults


def find_wrong_negatives(folder, before, after, *, directed):
    """Negatives that are true in a slice, or twice there, or in another order in another part."""
    (old, old_negatives, _), (now, now_negatives, _) = before, after
    true = triples_of(old + now)
    true |= {implied for triple in true for implied in consequences(triple, directed=directed)}
    rows = read_split(folder)
    negatives = [row[:3] for (_, sign), content in rows.items() if not sign for row in content]
    drawn = set(negatives) - triples_of(old_negatives + now_negatives)
    faults = list(true.intersection(negatives)) + list(turned(drawn) & true)
    faults += [triple for triple, number in Counter(negatives).items() if number > 1]
    held_out = triples_of(rows["validation", 0] + rows["test", 0])
    return faults + list(turned(triples_of(rows["train", 0])) & held_out)


def turned(triples):
    return {(tail, relation, head) for head, relation, tail in triples}


@FEW
@given(SLICES, SCHEMES, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_byte(graph, scheme, shuffler):
    found = []
    for mixed in (False, True):
        again = [
            (*(shuffler.sample(rows, len(rows)) if mixed else rows for rows in (edges, negatives)),
             dict(shuffler.sample(list(nodes.items()), len(nodes))) if mixed else nodes)
            for edges, negatives, nodes in graph
        ]  # fmt: skip
        with TemporaryDirectory() as name:
            folder = split(Path(name), *again, scheme).folder
            files = {path.name: path.read_bytes() for path in folder.iterdir()}
        manifest = json.loads(files.pop("manifest.json"))
        del manifest["inputs"]
        found.append((files, manifest))
    assert found[0] == found[1]


@FEW
@given(SLICES, SCHEMES)
def test_validation_is_taken_from_what_was_tested(graph, scheme):
    whole, parted = replace(scheme, validation_fraction=0.0), replace(scheme, validation_fraction=0.5)
    with TemporaryDirectory() as name:
        tested, divided = (placed_rows(split(Path(name), *graph, choice).folder) for choice in (whole, parted))
    assert "validation" not in tested.values()
    positives = {key: part for key, part in divided.items() if key[0]}
    assert {key for key, part in positives.items() if part == "train"} == {
        key for key, part in tested.items() if key[0] and part == "train"
    }
    stays = {key for key, part in positives.items() if part == "test"}
    # What a row of the same part implied may now be given away by one of the other.
    assert stays <= {key for key, part in tested.items() if part == "test"}


def count_naively(old, now):
    """{(relation, source): earlier, present, vanished, appeared, with another score}, a row at a time."""
    before, after = ({row[:3]: row[3:] for row in rows} for rows in (old, now))
    counts = {}
    for triple in before.keys() | after.keys():
        source = before[triple][1] if triple in before else after[triple][1]
        count = counts.setdefault((triple[1], source), [0] * 5)
        count[0] += triple in before
        count[1] += triple in after
        count[2] += triple not in after
        count[3] += triple not in before
        if triple in before and triple in after:
            scores = [side[triple][0] for side in (before, after)]
            numbers = [float(score) if score else None for score in scores]
            count[4] += numbers[0] != numbers[1]
    return counts


@FEW
@given(SLICES)
def test_what_changed_is_counted_by_relation_and_source(graph):
    (old, old_negatives, _), (now, now_negatives, _) = graph
    with TemporaryDirectory() as name:
        found = split(Path(name), *graph)
        rows = read_rows(found.folder / "changes.tsv")
    assert rows[0] == (
        "what",
        "name",
        "source",
        "earlier",
        "present",
        "vanished",
        "appeared",
        "score_changed",
        "warning",
    )
    for what, one, other in (("edges", old, now), ("true_negatives", old_negatives, now_negatives)):
        counted = {row[1:3]: list(map(int, row[3:8])) for row in rows if row[0] == what}
        expected = count_naively(one, other)
        assert counted == expected
        sums = [sum(column) for column in zip(*expected.values(), strict=True)] or [0] * 5
        assert list(found.manifest["changes"][what].values()) == sums
    warned = [{**row, "vanished": None} for row in found.manifest["changes"]["warnings"]]
    assert sorted(row["warning"] for row in warned) == sorted(row[8] for row in rows[1:] if row[8])


# One case, and what is counted by hand


def test_edges_that_vanish_and_ids_that_change(cases, tmp_path):
    rows = [read_rows(cases / f"c27-time-slice-vanishing-{name}-edges.tsv") for name in ("t1", "t2")]
    notes = []
    found = split(tmp_path, *((content,) for content in rows), notes=notes)
    folder = found.folder
    assert {(*row[:4], row[5]) for row in read_rows(folder / "train_sample.csv")} == set(rows[0])
    assert read_rows(folder / "test_sample.csv") == [("NCBIGENE:3", "GENE_DIS", "DOID:1", "0.6", "1", "A")]
    assert read_rows(folder / "val_sample.csv") == []
    assert read_rows(folder / "removed_edges.tsv") == [
        ("HGNC:2", "GENE_DIS", "DOID:1", "0.5", "1", "A", "unseen_node:HGNC:2"),
        ("NCBIGENE:9", "GENE_DIS", "DOID:1", "0.6", "1", "A", "unseen_node:NCBIGENE:9"),
    ]
    assert read_rows(folder / "removed_test_nodes.csv") == [("HGNC:2",), ("NCBIGENE:9",)]
    assert read_rows(folder / "vanished_edges.csv") == [("NCBIGENE:2", "GENE_DIS", "DOID:1", "0.5", "1", "A")]
    assert "prefix HGNC is unknown to the earlier slice: 1 nodes, whose ids may have changed" in notes
    assert (
        "1 of 4 edges of the earlier slice have vanished (listed in vanished_edges.csv), 3 of 6 in the present one are "
        "new, 0 have another score" in notes
    )
    assert "GENE_DIS of A: 1 of 3 edges vanished, 3 appeared, 0 changed their score" in notes
    assert list(found.manifest["notes"]) == notes
    assert found.manifest["changes"]["edges"] == {
        "earlier": 4, "present": 6, "vanished": 1, "appeared": 3, "score_changed": 0,
    }  # fmt: skip


def gene(number):
    return f"NCBIGENE:{number}"


def test_signs_that_change_are_conflicts(tmp_path):
    base = [(gene(number), "GENE_DIS", "DOID:1", "", "A") for number in range(4)] + [
        ("NCBIGENE:0", "GENE_DIS", "DOID:2", "", "A")
    ]
    false_then = ("NCBIGENE:1", "GENE_DIS", "DOID:2", "", "B")
    false_now = ("NCBIGENE:2", "GENE_DIS", "DOID:1", "", "B")
    old = base, [false_then]
    now = [row for row in base if row[:3] != false_now[:3]] + [false_then], [false_now]
    found = split(tmp_path, old, now)
    removed = {(row[:3], row[4], row[6]) for row in read_rows(found.folder / "removed_edges.tsv")}
    assert removed == {(false_then[:3], "0", "conflict"), (false_now[:3], "0", "conflict")}
    placed = placed_rows(found.folder)
    assert placed[1, false_then[:3]] == "test"
    assert placed[1, false_now[:3]] == "train"
    vanished = {(row[:3], row[4]) for row in read_rows(found.folder / "vanished_edges.csv")}
    assert vanished == {(false_now[:3], "1"), (false_then[:3], "0")}


def test_true_negatives_come_first_in_their_own_slice(tmp_path):
    genes, diseases = [gene(number) for number in range(12)], [f"DOID:{number}" for number in range(12)]
    old = [(node, "GENE_DIS", other, "", "A") for node, other in zip(genes, diseases, strict=True)]
    new = [(genes[number], "GENE_DIS", diseases[number - 1], "", "A") for number in range(4)]
    stranger = [("NCBIGENE:99", "GENE_DIS", "DOID:0", "", "A")]
    once = [(genes[0], "GENE_DIS", diseases[5], "", "T"), (genes[1], "GENE_DIS", diseases[6], "", "T")]
    later_on = [(genes[2], "GENE_DIS", diseases[7], "", "T"), ("NCBIGENE:99", "GENE_DIS", "DOID:3", "", "T")]
    found = split(tmp_path, (old, once), (old + new + stranger, once + later_on))
    parts = found.manifest["counts"]["parts"]
    assert parts["train"] == {"positive": 12, "negative": 12}
    assert parts["test"] == {"positive": 4, "negative": 4}
    sources = {
        part: Counter(row[5] for row in read_rows(found.folder / f"negative_{part}_sample.csv"))
        for part in ("train", "test")
    }
    assert sources == {"train": {"T": 2, "GENERATED": 10}, "test": {"T": 1, "GENERATED": 3}}
    removed = {(row[0], row[4], row[6]) for row in read_rows(found.folder / "removed_edges.tsv")}
    assert removed == {("NCBIGENE:99", sign, "unseen_node:NCBIGENE:99") for sign in "01"}


def test_a_shortfall_of_negatives_names_its_slice(tmp_path, monkeypatch):
    found, original = [], TimeSplit.add_negatives

    def kept(scheme, engine, progress):
        found.extend(original(scheme, engine, progress))
        return tuple(found)

    monkeypatch.setattr(TimeSplit, "add_negatives", kept)
    edges = [(gene(one), "GENE_DIS", f"DOID:{other}", "", "A") for one, other in ("00", "11", "22", "01", "02", "12")]
    split(tmp_path, (edges[:3],), (edges,), TimeSplit(per_positive=2))
    assert [short.in_words() for short in found] == [
        "GENE_DIS (GENE, DIS) in the earlier slice: 3 of 6 negatives, 3 short, since no more pairs are free",
        "GENE_DIS (GENE, DIS) in what is new: 0 of 6 negatives, 6 short, since no more pairs are free",
    ]


def test_negatives_that_are_only_turned_around_are_not_tested(tmp_path):
    edges = [(gene(number), "GENE_ACTIVATION_GENE", gene(number + 1), "", "A") for number in range(8)]
    new = [(gene(0), "GENE_ACTIVATION_GENE", gene(7), "", "A"), (gene(1), "GENE_ACTIVATION_GENE", gene(7), "", "A")]
    then = (gene(2), "GENE_ACTIVATION_GENE", gene(5), "", "T")
    turned = (gene(5), "GENE_ACTIVATION_GENE", gene(2), "", "T")
    found = split(tmp_path, (edges, [then]), (edges + new, [then, turned]))
    assert placed_rows(found.folder)[0, then[:3]] == "train"
    assert [(row[:3], row[6]) for row in read_rows(found.folder / "removed_edges.tsv")] == [(turned[:3], "reverse")]
    assert found.manifest["counts"]["parts"]["test"] == {"positive": 2, "negative": 2}


@pytest.mark.parametrize("seed", range(3))
def test_drawn_negatives_are_not_those_of_training_turned_around(tmp_path, seed):
    edges = [(gene(number), "GENE_ACTIVATION_GENE", gene((number + 1) % 6), "", "A") for number in range(6)]
    new = [(gene(number), "GENE_ACTIVATION_GENE", gene((number + 2) % 6), "", "A") for number in range(3)]
    folder = split(tmp_path, (edges,), (edges + new,), TimeSplit(seed=seed)).folder
    rows = read_split(folder)
    assert len(rows["train", 0]) == 6
    assert rows["test", 0]
    assert not turned(triples_of(rows["train", 0])) & triples_of(rows["test", 0])


def test_held_out_copies_of_training_edges_go_and_training_stays(tmp_path):
    edges = [
        ("NCBIGENE:1", "GENE_GENE", "NCBIGENE:2", "1", "A"),
        ("NCBIGENE:2", "GENE_BINDACT_GENE", "NCBIGENE:3", "1", "A"),
    ]
    new = [
        ("NCBIGENE:2", "GENE_GENE", "NCBIGENE:1", "1", "A"),
        ("NCBIGENE:2", "GENE_GENE", "NCBIGENE:3", "1", "A"),
        ("NCBIGENE:1", "GENE_GENE", "NCBIGENE:3", "1", "A"),
    ]
    found = split(tmp_path, (edges,), (edges + new,))
    removed = {row[:3]: row[6] for row in read_rows(found.folder / "removed_edges.tsv")}
    assert removed == {new[0][:3]: "reverse", new[1][:3]: "super_relation:GENE_BINDACT_GENE"}
    assert len(read_rows(found.folder / "train_sample.csv")) == 2
    assert [row[:3] for row in read_rows(found.folder / "test_sample.csv")] == [new[2][:3]]


def test_repeated_rows_of_the_earlier_slice_are_counted(tmp_path):
    rows = [("NCBIGENE:1", "GENE_GENE", "NCBIGENE:2", score, source) for score, source in (("1", "A"), ("2", "B"))]
    notes = []
    found = split(tmp_path, (rows,), (rows[:1],), notes=notes)
    assert "edges.csv: 1 repeated rows of the earlier slice were merged" in found.manifest["notes"]
    assert read_rows(found.folder / "train_sample.csv") == [(*rows[1][:4], "1", "A;B")]


# Warnings


MANY = [(gene(number), "GENE_DIS", "DOID:1", "0.5", "A") for number in range(10)]


def warnings(tmp_path, old, now, manifests=None):
    """The warnings about two slices, by what they are about."""
    for side, content in (manifests or {}).items():
        (tmp_path / side).mkdir(exist_ok=True)
        (tmp_path / side / "manifest.json").write_text(json.dumps(content), encoding="utf-8")
    found = split(tmp_path, old, now)
    told = [row["warning"] for row in found.manifest["changes"]["warnings"]]
    assert set(told) <= set(found.manifest["notes"])
    by_what = {}
    for row in found.manifest["changes"]["warnings"]:
        by_what.setdefault(row["what"], []).append(row["warning"])
    return by_what


def rescored(*scores):
    return [(*row[:3], score, row[4]) for row, score in zip(MANY, scores * 10, strict=False)]


def test_a_slice_like_the_one_before_is_not_warned_of(tmp_path):
    assert warnings(tmp_path, (MANY,), (rescored("0.50"),)) == {}


def test_edges_that_vanish_and_scores_that_change_are_warned_of(tmp_path):
    now = [*MANY[2:9], (*MANY[9][:3], "0.6", "A"), ("NCBIGENE:0", "GENE_DIS", "DOID:2", "0.5", "B")]
    assert warnings(tmp_path, (MANY,), (now,))["edges"] == [
        "GENE_DIS of A: 2 of 10 edges vanished, 0 appeared, 1 changed their score"
    ]


@pytest.mark.parametrize(
    ("scores", "fault"),
    [
        (("500",), "median and range"),
        (("0.5", "0.5", "0.5", "2.5"), "range"),
        (("-0.5", "-0.4"), "median"),
        (("0.5", "high"), "share of numbers"),
        (("0.5", ""), "share of numbers"),
        (("0.9", "0.2"), None),
        (("0.5", "2.4"), None),
    ],
)
def test_scores_on_another_scale_are_warned_of(tmp_path, scores, fault):
    found = warnings(tmp_path, (MANY,), (rescored(*scores),)).get("scores", [])
    assert [line.partition("): ")[0] for line in found] == (
        [] if fault is None else [f"scores of GENE_DIS of A may be on another scale ({fault}"]
    )


def test_ids_of_another_form_are_warned_of(tmp_path):
    old = [("HP:0000118", "r", f"HP:00001{number}", "", "A") for number in range(20, 29)]
    now = [tuple(cell.replace("HP:0000", "HP:") for cell in row) for row in old]
    in_present = "ids of HP look like 0 in the present slice only: {} nodes, such as HP:{}"
    assert warnings(tmp_path, (old,), (now,))["id_form"] == [
        in_present.format(10, "118"),
        "ids of HP look like 0000000 in the earlier slice only: 10 nodes, such as HP:0000118",
    ]
    assert warnings(tmp_path, (old,), (now[:1] + old,))["id_form"] == [in_present.format(2, "118")]


def test_ids_that_only_grow_are_not_warned_of(tmp_path):
    old = [("HP:0000118", "r", f"HP:00001{number}", "", "A") for number in range(20, 29)]
    grown = [(f"HP:{3000000 + number}", "r", "HP:0000118", "", "A") for number in range(2)]
    assert "id_form" in warnings(tmp_path, (old,), (old + grown,))  # 2 of 12 ids: no zero says their length
    assert "id_form" not in warnings(tmp_path, (old + grown[:1],), (old + grown,))
    assert "id_form" not in warnings(tmp_path, (MANY,), ([*MANY, (gene(10**6), *MANY[0][1:])],))
    few = [(gene(number), "r", "HP:0000118", "", "A") for number in range(30)]
    odd = [("NCBIGENE:x1", "r", "HP:0000118", "", "A")]
    assert "id_form" not in warnings(tmp_path, (few,), (few + odd,))  # 1 of 31


def test_prefixes_of_one_slice_and_unknown_ones_are_warned_of(tmp_path):
    old = [*MANY, ("OLD:1", "GENE_DIS", "DOID:1", "0.5", "A"), ("odd:1", "GENE_DIS", "DOID:1", "0.5", "A")]
    now = [*MANY, ("HGNC:5", "GENE_DIS", "DOID:1", "0.5", "A"), ("odd:1", "GENE_DIS", "DOID:1", "0.5", "A")]
    assert warnings(tmp_path, (old,), (now, [("EVE:1", "GENE_DIS", "DOID:1", "", "A")]))["prefix"] == [
        "prefix EVE is unknown to the earlier slice: 1 nodes, whose ids may have changed",
        "prefix HGNC is unknown to the earlier slice: 1 nodes, whose ids may have changed",
        "prefix OLD is unknown to the present slice: 1 nodes, whose ids may have changed",
        "prefix odd is not one that the schema knows (1 nodes)",
    ]


@pytest.mark.parametrize(("number", "warned"), [(14, False), (15, True), (6, False), (5, True)])
def test_numbers_that_jump_are_warned_of(tmp_path, number, warned):
    now = [(gene(place), "GENE_DIS", "DOID:1", "0.5", "A") for place in range(number)]
    found = warnings(tmp_path, (MANY,), (now,))
    change = f"{number / 10 - 1:+.0%}".replace("%", " %")
    assert found.get("nodes", []) == [f"type GENE: 10 nodes earlier, {number} now ({change})"] * warned
    assert found.get("relation", []) == [f"relation GENE_DIS: 10 edges earlier, {number} now ({change})"] * warned


def test_relations_and_types_of_one_slice_are_warned_of(tmp_path):
    then = [("GO:1", "PART_OF", "GO:2", "", "A")]
    since = [("NCBIGENE:1", "GENE_GENE", "NCBIGENE:2", "", "A")]
    old = [*MANY, *then], NO_ROWS, kinds_of(MANY) | {"GO:1": "GO", "GO:2": "GO"}
    found = warnings(tmp_path, old, ([*MANY, *since],))
    assert found["relation"] == [
        "relation GENE_GENE is in the present slice only: 1 edges",
        "relation PART_OF is in the earlier slice only: 1 edges",
    ]
    assert found["nodes"] == ["type GO is in the earlier slice only: 2 nodes"]


def test_nodes_of_another_type_are_warned_of(tmp_path):
    old = MANY, NO_ROWS, kinds_of(MANY) | {"NCBIGENE:3": "PROTEIN"}
    found = warnings(tmp_path, old, (MANY,))
    assert found["retyped"] == ["1 nodes of type PROTEIN are of type GENE now, such as NCBIGENE:3; the latter counts"]


def manifest(inputs, **more):
    return {"format": "openbiolink-graph/1", "version": "1", "edition": "a", "inputs": inputs, **more}


def test_sources_and_options_that_differ_are_warned_of(tmp_path):
    source = {"sha256": "00", "version": "1", "layout": "x", "licence": "CC0-1.0"}
    old = manifest({"same": source, "go.ontology": source, "mapping": source, "gone": source}, directed=True)
    now = manifest(
        {
            "same": source,
            "go.ontology": source | {"sha256": "11", "version": "2"},
            "mapping": source | {"sha256": "22"},
        },
        directed=False,
    )
    found = warnings(tmp_path, (MANY,), (MANY,), manifests={"old": old, "now": now})
    assert found == {
        "input": [
            "source file go.ontology differs between the slices (sha256, version)",
            "source file gone is used by the earlier slice only",
            "source file mapping differs between the slices (sha256)",
        ],
        "setting": ["the manifests of the slices differ in directed"],
    }


def test_true_negatives_of_one_slice_are_warned_of(tmp_path):
    before, graph = files_of(tmp_path / "old", MANY), files_of(tmp_path / "now", MANY)
    notes = []
    split_graph(replace(graph, tn_edges=None), tmp_path / "out", TimeSplit(), before=before, note=notes.append)
    assert "only the earlier slice comes with true negatives" in notes


def test_many_warnings_are_cut_short_and_listed(tmp_path):
    old = [(gene(number), f"R{place:02}", gene(number + 1), "", "A") for place in range(25) for number in range(3)]
    notes = []
    found = split(tmp_path, (old,), ([row for row in old if row[0] != gene(0)],), notes=notes)
    assert sum("vanished, 0 appeared" in line for line in notes) == 20
    assert "5 more warnings about edges (listed in changes.tsv)" in notes
    assert sum(row[0] == "edges" and row[8] != "" for row in read_rows(found.folder / "changes.tsv")[1:]) == 25


# Files, terms, engines and the command line


def test_the_files_are_those_of_a_random_split_and_two_more(tmp_path):
    now = files_of(tmp_path / "now", MANY)
    usual = split_graph(now, tmp_path / "rand", RandomSplit(), note=lambda line: None)
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "LICENSE.txt").write_text("Terms of old times.\n", encoding="utf-8")
    found = split(tmp_path, (MANY[:5],), (MANY,))
    assert found.files.keys() == usual.files.keys() | {"vanished_edges.csv", "changes.tsv"}
    assert (found.folder / "LICENSE.txt").read_text(encoding="utf-8").endswith("Terms of old times.\n")
    tables = {
        entry["@id"] for entry in json.loads((found.folder / "croissant.json").read_text(encoding="utf-8"))["recordSet"]
    }
    assert {"vanished_edges", "changes"} <= tables
    assert found.manifest["inputs"].keys() >= {"edges", "tmo_edges", "tmo_nodes", "tmo_tn_edges"}
    again = split(tmp_path, (MANY[:5],), (MANY,), output_format="parquet")
    assert {Path(name).stem for name in again.manifest["outputs"]} == {
        Path(name).stem for name in found.manifest["outputs"]
    }


@pytest.mark.xdist_group("spark")
def test_every_engine_writes_the_same_bytes(spark, tmp_path):
    draw = random.Random(5)
    edges, negatives = distinct_rows(draw, 80), distinct_rows(draw, 30)
    now = [*later(draw, edges), ("HP:0000118", "GENE_DIS", "DOID:7", "-3.25", "A")], later(draw, negatives)
    found = []
    for engine in ("embedded", "spark"):
        folder = split(tmp_path, (edges, negatives), now, TimeSplit(validation_fraction=0.3), engine=engine).folder
        found.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert found[0] == found[1]


def test_the_command_splits_by_time(tmp_path, monkeypatch, capsys):
    before, graph = files_of(tmp_path / "old", MANY[:8], [MANY[9]]), files_of(tmp_path / "now", MANY, NO_ROWS)
    files = {
        "--edges": graph.edges, "--tn-edges": graph.tn_edges, "--nodes": graph.nodes,
        "--tmo-edges": before.edges, "--tmo-tn-edges": before.tn_edges, "--tmo-nodes": before.nodes,
    }  # fmt: skip
    words = [word for pair in files.items() for word in pair]
    status, shown, told = run_command(monkeypatch, capsys, "-p", tmp_path, "split", "time", *words, "--val", "0.5")
    assert status == 0, told
    assert shown.strip() == str(tmp_path / "train_test_data")
    assert "1 of 1 true negatives of the earlier slice have vanished" in told
    options = json.loads((tmp_path / "train_test_data" / "manifest.json").read_text(encoding="utf-8"))["options"]
    assert options["validation_fraction"] == 0.5
    status, _, told = run_command(monkeypatch, capsys, "-p", tmp_path, "split", "time", *words[:6])
    assert status == 2
    assert "--tmo-edges" in told


def test_slices_that_are_missing_or_of_no_use_are_refused(tmp_path):
    graph = files_of(tmp_path / "now", MANY)
    with pytest.raises(InputError, match=r"split time: needs an earlier slice.*--tmo-edges"):
        split_graph(graph, tmp_path / "out", TimeSplit(), note=lambda line: None)
    with pytest.raises(InputError, match=r"split rand: takes no earlier slice .*edges.csv"):
        split_graph(graph, tmp_path / "out", RandomSplit(), before=graph, note=lambda line: None)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("share", [-0.1, 1, 1.5, float("nan")])
def test_shares_that_are_none_are_refused(share):
    with pytest.raises(InputError, match=r"\(--val\) is .*expected a number from 0 to below 1"):
        TimeSplit(validation_fraction=share)
