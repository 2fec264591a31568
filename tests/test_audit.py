"""The audit equals its definitions on any split, says what was planted and no more, and cleans what it finds."""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import split_graphs
from openbiolink.audit import audit_files, find_parts
from openbiolink.audit.fix import fix_split
from openbiolink.cli import main
from openbiolink.dataset import from_labelled
from openbiolink.errors import InputError
from openbiolink.evaluation import BASELINES, baseline, evaluate
from openbiolink.schema import load_schema, read_schema
from openbiolink.split import ColdSplit, RandomSplit, SemiInductiveSplit
from oracles import audit as oracle
from oracles.implied import consequences
from oracles.leakage import PARENT, SYMMETRIC, read_split

NODES = ["n1", "n10", "n2", "NA", "a b", "ä"]
RELATIONS = "abcde"
SCHEMAS = [
    {},
    {"a": {"symmetric": True}, "b": {"transitive": True}, "c": {"transitive": True}},
    {"a": {"parent": "b"}, "b": {"symmetric": True}, "c": {"inverse": "d", "transitive": True}, "d": {}},
    {"a": {"parent": "~b"}, "b": {"parent": "c"}, "c": {"symmetric": True}, "d": {"transitive": True}},
    {"a": {"inverse": "b"}, "b": {"parent": "~c"}, "c": {"transitive": True}, "d": {"symmetric": True, "parent": "e"}},
]
SLOW = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
FEW = settings(SLOW, max_examples=3)
OWN_NAMES = {"train": "train", "validation": "valid", "test": "test"}
ERRORS = {
    "duplicate",
    "loop",
    "reversed",
    "super_relation",
    "negative_collision",
    "unseen_entity",
    "unseen_relation",
}
COUNTS, RANKS = {"count", "test_affected"}, {"mrr", "mrr_affected", "mrr_unaffected"}
TOLERANCE = 1e-12


# Splits: relations that are made of each other, so that every check has something to find


def random_pairs(shuffler, nodes, before):
    """Ordered pairs: any, all of some heads and tails, or made from the pairs of an earlier relation."""
    kind = shuffler.choice(["any", "any", "product", "copy", "turned", "part", "both ways"])
    if kind == "product":
        heads, tails = (shuffler.sample(nodes, shuffler.randint(1, min(3, len(nodes)))) for _ in range(2))
        return {(head, tail) for head in heads for tail in tails}
    some = {tuple(shuffler.choices(nodes, k=2)) for _ in range(shuffler.randint(1, 9))}
    if kind == "any" or not before:
        return some
    base = shuffler.choice(before)
    left = {pair for pair in base if shuffler.random() < (0.5 if kind == "part" else 0.9)}
    if kind == "turned":
        return {pair[::-1] for pair in left}
    return left | {pair[::-1] for pair in left} if kind == "both ways" else left


@st.composite
def splits(draw):
    """Parts → rows, negatives likewise, a schema and a threshold."""
    shuffler = random.Random(draw(st.integers(0, 2**32)))
    nodes = shuffler.sample(NODES, shuffler.randint(2, len(NODES)))
    pairs = []
    for _ in range(shuffler.randint(1, len(RELATIONS))):
        pairs.append(random_pairs(shuffler, nodes, pairs))
    rows = [(head, name, tail) for name, found in zip(RELATIONS, pairs, strict=False) for head, tail in sorted(found)]
    rows += shuffler.choices(rows, k=shuffler.choice([0, 2, 8]))  # repeats, in any part
    weights = shuffler.choice([(6, 0, 1, 2), (2, 0, 2, 2), (3, 2, 1, 3)])
    parts = {part: [] for part in oracle.PARTS}
    for row in rows:
        parts[shuffler.choices(oracle.PARTS, weights)[0]].append(row)
    negatives = {part: [] for part in oracle.PARTS}
    for _ in range(shuffler.choice([0, 0, 3, 10])):
        head, tail = shuffler.choices([*nodes, "only in negatives"], k=2)
        negatives[shuffler.choice(oracle.PARTS)].append((head, shuffler.choice(RELATIONS), tail))
    return parts, negatives, draw(st.sampled_from(SCHEMAS)), draw(st.sampled_from([0.8, 0.8, 0.5, 0.9, 1.0]))


SPLITS = splits()
CIRCLES = (  # paths that end where they began, and such that also are an edge
    {
        "train": [("NA", "b", "n1"), ("n1", "b", "n2"), ("n2", "b", "NA"), ("n2", "b", "ä"), ("ä", "c", "n1")],
        "inference": [("n10", "b", "a b"), ("a b", "b", "n10"), ("n1", "c", "ä"), ("n1", "c", "n2"), ("NA", "b", "NA")],
        "valid": [("n10", "b", "a b")],
        "test": [("NA", "b", "n2"), ("NA", "b", "ä"), ("ä", "b", "NA"), ("n10", "b", "a b"), ("ä", "c", "n2")],
    },
    {},
    {"b": {"transitive": True}, "c": {"transitive": True}},
    0.8,
)
LOOPS = (  # of a relation that joins all its heads with all its tails, and of one that is symmetric
    {
        "train": [("NA", "a", "ä"), ("n1", "a", "n2"), ("n1", "a", "ä"), ("n10", "a", "n10"), ("n2", "a", "n2")],
        "valid": [("NA", "b", "n10"), ("n10", "b", "n10")],
        "test": [("NA", "a", "n2"), ("n1", "a", "n10"), ("n10", "b", "NA"), ("NA", "b", "NA")],
    },
    {
        "train": [("n10", "b", "NA"), ("NA", "b", "NA")],
        "test": [("n2", "a", "NA"), ("NA", "b", "NA"), ("NA", "b", "NA")],
    },
    {"b": {"symmetric": True, "parent": "a"}},
    0.8,
)


def write_rows(path, rows):
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8", newline="\n")


def write_split(folder, parts, negatives=None):
    """A folder as `find_parts` understands it; train, valid and test are always there."""
    for part in oracle.PARTS:
        if parts.get(part) or part != "inference":
            write_rows(folder / f"{part}.txt", parts.get(part, ()))
        if (negatives or {}).get(part):
            write_rows(folder / f"{part}_negatives.txt", negatives[part])
    return folder


def write_schema(path, schema):
    """The declarations of the oracle as TOML."""
    lines = ["[relation]"]
    for name, entry in schema.items():
        keys = ", ".join(f"{key} = {json.dumps(value)}" for key, value in entry.items())
        lines.append(f'"{name}" = {{ {keys} }}')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def audited(parts, negatives=None, schema=None, threshold=0.8, **more):
    with TemporaryDirectory() as name:
        folder = write_split(Path(name), parts, negatives)
        declared = read_schema(write_schema(folder / "declared.toml", schema or {}))
        return audit_files(find_parts(folder), schema=declared, threshold=threshold, note=lambda line: None, **more)


def by_id(audit):
    return {finding.id: finding for finding in audit.checks}


def comparable(details):
    """What a finding lists as sets: names of relations, or (relation, other, turned)."""
    found = dict(details)
    if "pairs" in found:
        found["pairs"] = {(one["relation"], one["other"], one["turned"]) for one in found["pairs"]}
    if isinstance(found.get("relations"), list):
        found["relations"] = {one["relation"] for one in found["relations"]}
    if "symmetric_relations" in found:
        found["symmetric_relations"] = set(found["symmetric_relations"])
    return found


# Laws


@SLOW
@given(SPLITS)
@example(CIRCLES)
@example(LOOPS)
def test_every_check_equals_its_definition(split):
    parts, negatives, schema, threshold = split
    found = by_id(audited(parts, negatives, schema, threshold))
    expected = oracle.audit(parts, negatives=negatives, schema=schema, threshold=threshold)
    for check, numbers in expected.items():
        for key in numbers.keys() & COUNTS:
            assert (check, key, getattr(found[check], key)) == (check, key, numbers[key])
        for key in numbers.keys() & RANKS:
            value = getattr(found[check], key)
            assert value == (None if numbers[key] is None else pytest.approx(numbers[key], abs=TOLERANCE)), (check, key)
        more = {key: value for key, value in numbers.items() if key not in COUNTS | RANKS}
        details = comparable(found[check].details)
        assert {key: details[key] for key in more} == more, check


@FEW
@given(SPLITS, st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_a_second_run_changes_anything(split, shuffler):
    parts, negatives, schema, threshold = split
    first = audited(parts, negatives, schema, threshold)
    assert audited(parts, negatives, schema, threshold) == first
    mixed, mixed_negatives = (
        {part: shuffler.sample(rows, len(rows)) for part, rows in some.items()} for some in (parts, negatives)
    )
    other = audited(mixed, mixed_negatives, schema, threshold)
    assert other.checks == first.checks
    assert (other.rows, other.entities, other.relations) == (first.rows, first.entities, first.relations)


@FEW
@given(SPLITS)
def test_numbers_of_a_finding_fit_together(split):
    parts, negatives, schema, threshold = split
    audit = audited(parts, negatives, schema, threshold)
    tests = len(parts["test"])
    for finding in audit.checks:
        assert 0 <= finding.test_affected <= tests
        assert finding.test_share == (finding.test_affected / tests if tests else 0)
        if finding.mrr is None and finding.id != "negative_collision":
            assert finding.test_affected <= finding.count <= sum(map(len, parts.values()))
        assert (finding.mrr_affected is None) <= (not finding.test_affected or finding.mrr_unaffected is None)
        for value in (finding.mrr, finding.mrr_affected, finding.mrr_unaffected):
            assert value is None or 0 < value <= 1
        assert finding.severity == "info" or finding.count
        assert bool(finding.count) <= bool(finding.examples) <= 3
    assert audit.rows == {part: {"positive": len(parts[part]), "negative": len(negatives[part])} for part in audit.rows}
    assert sum(sum(entry.values()) for entry in audit.rows.values()) == sum(
        len(rows) for some in (parts, negatives) for rows in some.values()
    )


@FEW
@given(SPLITS)
def test_examples_are_rows_that_the_check_speaks_of(split):
    parts, negatives, schema, threshold = split
    graph = oracle.Graph(parts, negatives, schema, threshold)
    for finding in audited(parts, negatives, schema, threshold).checks:
        rows = [((one.head, one.relation, one.tail), one.part) for one in finding.examples]
        if finding.id in oracle.CHECKS:
            hit = oracle.CHECKS[finding.id](graph)[0]
            assert rows == sorted({(triple, part) for part, triple in graph.rows if hit(part, triple)})[:3]
        elif finding.id == "negative_collision":
            denied = {(triple, part) for part, triple in graph.negatives}
            assert rows == sorted(set(rows) & denied)
            assert len(rows) <= 3
        else:
            assert rows == []
        assert all(one.because for one in finding.examples)


@FEW
@given(SPLITS)
def test_floors_are_those_of_the_evaluation(split):
    parts = split[0]
    if not parts["test"]:
        return
    dataset = from_labelled(train=parts["train"] + parts["inference"], valid=parts["valid"], test=parts["test"])
    found = by_id(audited(parts))
    for name in BASELINES:
        result = evaluate(baseline(name, dataset), dataset, unseen="keep")
        assert found[f"{name}_baseline"].mrr == pytest.approx(result.metrics(ties="realistic")["mrr"], abs=TOLERANCE)


@FEW
@given(SPLITS, st.permutations(NODES))
def test_names_of_entities_do_not_matter(split, names):
    parts, negatives, schema, threshold = split
    new = dict(zip(NODES, names, strict=True))

    def renamed(some):
        return {
            part: [(new.get(head, head), relation, new.get(tail, tail)) for head, relation, tail in rows]
            for part, rows in some.items()
        }

    first = by_id(audited(parts, negatives, schema, threshold))
    other = by_id(audited(renamed(parts), renamed(negatives), schema, threshold))
    for check, one in first.items():
        for key in ("severity", "count", "test_affected", "details"):
            assert getattr(other[check], key) == getattr(one, key)
        for key in ("mrr", "mrr_affected", "mrr_unaffected"):
            assert getattr(other[check], key) == pytest.approx(getattr(one, key), abs=TOLERANCE)


@pytest.mark.xdist_group("spark")
def test_both_engines_say_the_same(spark):
    parts, negatives = everything()
    parts = together(parts, CIRCLES[0])
    schema = DECLARED | CIRCLES[2]
    found = [audited(parts, negatives, schema, engine_name=name) for name in ("embedded", "spark")]
    assert found[0] == found[1]
    assert {one.id for one in found[0].checks if one.count} > ERRORS


@settings(SLOW, max_examples=5)
@given(split_graphs.graphs(), st.sampled_from([0.1, 0.3]))
def test_a_split_of_our_own_has_no_error(graph, share):
    with TemporaryDirectory() as name:
        scheme = RandomSplit(test_fraction=share, validation_fraction=share)
        folder = split_graphs.split(Path(name), scheme, *graph).folder
        files = find_parts(folder)
        found = by_id(audit_files(files, schema=load_schema(), note=lambda line: None))
        rows = read_split(folder)
    assert not files.unseen_by_design
    parts, negatives = (
        {part: [row[:3] for row in rows[name, sign]] for name, part in OWN_NAMES.items()} for sign in (1, 0)
    )
    assert {check: found[check].count for check in ERRORS} == dict.fromkeys(ERRORS, 0)
    schema = {name: {"parent": "~" * flipped + parent} for name, (parent, flipped) in PARENT.items()}
    for key, names in (("symmetric", SYMMETRIC), ("transitive", ("IS_A", "PART_OF"))):
        for name in names:
            schema.setdefault(name, {})[key] = True
    expected = oracle.audit(parts, negatives=negatives, schema=schema, ranks=False)
    assert {check: found[check].count for check in expected} == {check: one["count"] for check, one in expected.items()}


# The oracle, by hand


def test_the_oracle_counts_and_ranks_as_one_does_by_hand():
    parts = {
        "train": [("a", "r", "b"), ("b", "r", "c"), ("c", "r", "c"), ("c", "s", "b")],
        "valid": [("a", "r", "b")],
        "test": [("b", "r", "a"), ("a", "r", "d")],
    }
    found = oracle.audit(parts, schema={"s": {"inverse": "r"}}, negatives={"train": [("a", "s", "b"), ("a", "s", "a")]})
    counts = {check: (entry["count"], entry["test_affected"]) for check, entry in found.items() if "count" in entry}
    assert counts == {
        "negative_collision": (1, 1),  # a-s-b, for b-r-a holds
        "duplicate": (2, 0),  # a-r-b
        "loop": (1, 0),
        "reversed": (3, 1),  # a-r-b twice and b-r-a
        "super_relation": (0, 0),  # b-r-c and c-s-b are both of train
        "inverse_relation": (0, 0),
        "near_duplicate_relation": (0, 0),
        "contained_relation": (0, 0),
        "same_pair": (0, 0),
        "cartesian_relation": (0, 0),
        "transitive": (0, 0),
        "unseen_entity": (1, 1),  # d
        "unseen_relation": (0, 0),
        "component_drift": (1, 1),
    }
    # Predicted are b-r-a and c-r-b. b-r-a: the only tail and the only head predicted. a-r-d: no tail predicted, a and
    # c compete; no head predicted, b, c and d compete.
    assert found["reversed"]["mrr_affected"] == 1
    assert found["reversed"]["mrr_unaffected"] == pytest.approx((1 / 2 + 1 / 2.5) / 2)
    # Predicted are a-r-a, b-r-b, c-r-c, d-r-d. b-r-a: of the tails a, b, d (c is known) b is better, d as good as a;
    # of the heads, all but b compete, and a is better. a-r-d: of the tails a, c, d, a is better; of the heads, d is.
    expected = [1 / 2.5, 1 / (2 + 2 / 2), 1 / 2.5, 1 / (2 + 2 / 2)]
    assert found["loop"]["mrr_unaffected"] == pytest.approx(sum(expected) / 4)
    assert found["duplicate"]["mrr_affected"] is None


# What is planted is found, and nothing else

SOUND = {
    "train": [
        *((f"n{number}", "edge", f"n{number + 1}") for number in range(9)),
        *((f"n{number}", "part", f"n{number + 5}") for number in range(3)),
        *((f"m{number}", "up", f"m{number + 1}") for number in range(5)),
        ("m0", "special", "n9"),
        ("m4", "same", "n9"),
    ],
    "valid": [("n9", "edge", "n3"), ("n4", "part", "m2")],
    "test": [("n2", "edge", "n8"), ("n8", "part", "n0"), ("m1", "same", "n3")],
}
SOUND_NEGATIVES = {"train": [("n0", "edge", "n9")], "test": [("n3", "part", "n9")]}
DECLARED = {
    "special": {"parent": "~edge"},
    "up": {"transitive": True},
    "same": {"symmetric": True},
    "whole": {"inverse": "part"},
    "part": {},
}
PLANTS = {  # name → (added rows, added negatives, {check: (count, test_affected)})
    "duplicate": ({"test": [("n0", "edge", "n1")]}, {}, {"duplicate": (2, 1)}),
    "duplicate of its own part": ({"train": [("n0", "edge", "n1")]}, {}, {"duplicate": (2, 0)}),
    "loop": ({"test": [("n1", "edge", "n1")]}, {}, {"loop": (1, 1)}),
    "reversed": ({"test": [("n1", "edge", "n0")]}, {}, {"reversed": (2, 1)}),
    "reversed, valid and test": ({"test": [("n3", "edge", "n9")]}, {}, {"reversed": (2, 1)}),
    "super-relation": (
        {"train": [("n8", "special", "n2")]},
        {},
        {"super_relation": (1, 1), "same_pair": (2, 1)},
    ),
    "more special than training": (  # which tells nothing about it
        {"test": [("n1", "special", "n0")]},
        {},
        {"same_pair": (2, 1)},
    ),
    "super-relation, valid and test": (
        {"test": [("n3", "special", "n9")]},
        {},
        {"super_relation": (1, 0), "same_pair": (2, 1)},
    ),
    "inverse by declaration": (
        {"train": [("m0", "whole", "n8")], "test": [("n5", "whole", "n0")]},
        {},
        {"super_relation": (1, 1), "same_pair": (2, 1)},
    ),
    "inverse by the data": (
        {"train": [("n0", "f", "n7"), ("n1", "f", "m4"), ("n7", "g", "n0")], "test": [("m4", "g", "n1")]},
        {},
        {"inverse_relation": (2, 1), "same_pair": (2, 1)},
    ),
    "near-duplicate": (
        {"train": [("n0", "f", "n7"), ("n1", "f", "m4"), ("n0", "g", "n7")], "test": [("n1", "g", "m4")]},
        {},
        {"near_duplicate_relation": (2, 1), "same_pair": (2, 1)},
    ),
    "contained": (
        {
            "train": [("n0", "f", "n7"), ("n1", "f", "m4"), ("n2", "g", "m3"), ("n3", "g", "m0")],
            "test": [("n0", "g", "n7"), ("n1", "g", "m4")],
        },
        {},
        {"contained_relation": (2, 2), "same_pair": (4, 2)},
    ),
    "contained, turned": (
        {
            "train": [("n0", "f", "n7"), ("n1", "f", "m4"), ("n2", "g", "m3"), ("n3", "g", "m0")],
            "valid": [("n7", "g", "n0"), ("m4", "g", "n1")],
        },
        {},
        {"contained_relation": (2, 0), "same_pair": (4, 0)},
    ),
    "same pair": ({"test": [("n7", "edge", "n2")]}, {}, {"same_pair": (2, 1)}),
    "cartesian": (
        {"train": [("n0", "f", "m1"), ("n0", "f", "m2"), ("n1", "f", "m1")], "test": [("n1", "f", "m2")]},
        {},
        {"cartesian_relation": (4, 1)},
    ),
    "transitive": ({"test": [("m0", "up", "m3")]}, {}, {"transitive": (1, 1)}),
    "negative of training that is true": ({}, {"train": [("n2", "edge", "n8")]}, {"negative_collision": (1, 1)}),
    "negative of test that is implied": (
        {},
        {"test": [("n3", "same", "m1"), ("n9", "edge", "m0")]},
        {"negative_collision": (2, 1)},
    ),
    "unseen entity": (
        {"test": [("n1", "edge", "new"), ("new", "edge", "n1 ")]},
        {},
        {"unseen_entity": (2, 2), "component_drift": (2, 2)},
    ),
    "unseen relation": ({"valid": [("n1", "new", "m1")]}, {}, {"unseen_relation": (1, 0)}),
    "component drift": (
        {"train": [("x0", "edge", "x1"), ("x1", "edge", "x2")], "test": [("x0", "edge", "n4")]},
        {},
        {"component_drift": (1, 1)},
    ),
}


def together(first, second):
    return {part: [*first.get(part, ()), *second.get(part, ())] for part in oracle.PARTS}


def everything():
    """A split with all that is planted, and its negatives."""
    parts, negatives = SOUND, SOUND_NEGATIVES
    for rows, more, _ in PLANTS.values():
        parts, negatives = together(parts, rows), together(negatives, more)
    return parts, negatives


def test_a_sound_split_has_no_finding():
    found = by_id(audited(SOUND, SOUND_NEGATIVES, DECLARED))
    assert {check: one.count for check, one in found.items()} == dict.fromkeys(found, 0)
    assert {one.severity for one in found.values()} == {"info"}
    assert all(one.mrr_affected is None for one in found.values() if one.id != "copy_baseline")


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_leak_is_found_and_nothing_else(plant):
    rows, negatives, expected = PLANTS[plant]
    parts, false = together(SOUND, rows), together(SOUND_NEGATIVES, negatives)
    found = by_id(audited(parts, false, DECLARED))
    counts = {check: (one.count, one.test_affected) for check, one in found.items() if one.count}
    assert counts == expected  # counted by hand
    by_oracle = oracle.audit(parts, negatives=false, schema=DECLARED, ranks=False)
    assert counts == {key: (one["count"], one["test_affected"]) for key, one in by_oracle.items() if one["count"]}


@pytest.mark.parametrize(
    ("plant", "severity"),
    [
        ("duplicate", "error"),
        ("duplicate of its own part", "warning"),
        ("loop", "error"),
        ("reversed", "error"),
        ("super-relation", "error"),
        ("inverse by the data", "warning"),
        ("near-duplicate", "warning"),
        ("contained", "warning"),
        ("same pair", "warning"),
        ("cartesian", "warning"),
        ("transitive", "warning"),
        ("negative of training that is true", "error"),
        ("unseen entity", "error"),
        ("unseen relation", "error"),
        ("component drift", "info"),
    ],
)
def test_severity_of_a_finding(plant, severity):
    rows, negatives, expected = PLANTS[plant]
    audit = audited(together(SOUND, rows), together(SOUND_NEGATIVES, negatives), DECLARED)
    assert by_id(audit)[next(iter(expected))].severity == severity
    assert audit.worst() == severity


# Files


def sample_rows(rows, value):
    return [(*row, "0.5", value, "A;B") for row in rows]


def written_otherwise(folder, layout, parts, negatives):
    """The same rows in another layout."""
    names = {"train": "train", "valid": "val", "test": "test"}
    if layout == "packed":
        for part in names:
            for ending, some in (("", parts), ("_negatives", negatives)):
                text = "".join("\t".join(row) + "\r\n" for row in some.get(part, ()))
                (folder / f"{part}{ending}.tsv.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + text.encode()))
        return folder
    place = folder / "train_test_data" if layout == "subfolder" else folder
    place.mkdir(exist_ok=True)
    for part, name in names.items():
        positive, negative = sample_rows(parts.get(part, ()), "1"), sample_rows(negatives.get(part, ()), "0")
        if layout == "mixed":
            positive += negative
        else:
            write_rows(place / f"negative_{name}_sample.csv", negative)
        write_rows(place / f"{name}_sample.csv", positive)
    return folder


@pytest.mark.parametrize("layout", ["packed", "subfolder", "sample", "mixed"])
def test_the_layout_of_the_files_does_not_matter(layout, tmp_path):
    parts, negatives = everything()
    expected = audited(parts, negatives)
    files = find_parts(written_otherwise(tmp_path, layout, parts, negatives))
    found = audit_files(files, schema=load_schema(), note=lambda line: None)
    assert found.checks == expected.checks
    assert {part: entry for part, entry in found.rows.items() if any(entry.values())} == {
        part: entry for part, entry in expected.rows.items() if any(entry.values())
    }


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("test.txt", "a\tr\n"),
        ("test.txt", "a\tr\tb\tc\td\te\tf\tg\n"),
        ("test.txt", "a\tr\t\n"),
        ("test.txt", "\tr\tb\n"),
        ("test.txt", None),
        ("train.txt", None),
        ("train.tsv", "a\tr\tb\n"),
        ("test.txt.gz", "not packed"),
        ("val.txt", "a\tr\tb\n"),
    ],
)
def test_bad_input_is_refused_in_one_line(name, content, tmp_path):
    write_split(tmp_path, SOUND)
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_text(content)
    with pytest.raises(InputError) as caught:
        audit_files(find_parts(tmp_path), schema=load_schema(), note=lambda line: None)
    assert "\n" not in str(caught.value)
    assert name.split(".")[0] in str(caught.value) or str(tmp_path) in str(caught.value)


def test_a_first_row_that_reads_like_a_heading_is_told(tmp_path):
    audit = audit_files(find_parts(write_split(tmp_path, SOUND)), schema=load_schema())
    assert audit.notes == ()
    rows = {part: [("Head", "Relation", "Tail"), *some] for part, some in SOUND.items()}
    audit = audit_files(find_parts(write_split(tmp_path, rows)), schema=load_schema())
    assert [note.split(":")[0] for note in audit.notes] == ["train.txt", "valid.txt", "test.txt"]
    assert all("(head, relation, tail) reads like a heading" in note for note in audit.notes)


def test_a_blank_id_has_its_line_and_any_other_blank_is_a_name(tmp_path):
    parts = together(SOUND, {"train": [("\u00a0", SOUND["train"][0][1], SOUND["train"][0][0])]})
    assert audit_files(find_parts(write_split(tmp_path, parts)), schema=load_schema()).worst() is None
    parts = together(SOUND, {"train": [(" ", "r", "x")]})
    with pytest.raises(InputError, match=rf"train\.txt, line {len(parts['train'])}: an id is empty"):
        audit_files(find_parts(write_split(tmp_path, parts)), schema=load_schema())


@pytest.mark.parametrize("said", [{}, {"unseen_by_design": False}, {"unseen_by_design": True}, {"scheme": "cold"}])
def test_unseen_entities_are_no_error_where_the_manifest_says_so(said, tmp_path):
    unseen = {"test": [("n1", "edge", "new")]}
    by_design = said.get("unseen_by_design", False)
    manifest = {"format": "openbiolink-split/1", "scheme": "mine"} | said
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    parts = together(SOUND, unseen)
    stayed, removed = cleaned(tmp_path, parts, DECLARED)
    for folder in (tmp_path, tmp_path / "out"):  # the cleaned split says it, too
        assert find_parts(folder).unseen_by_design == by_design
    found = by_id(audit_files(find_parts(tmp_path), schema=load_schema()))["unseen_entity"]
    assert (found.count, found.severity) == (1, "info" if by_design else "error")
    assert found.details.get("by_design") == ("mine" if by_design else None)
    row = ("test", unseen["test"][0])
    assert (row in stayed, removed) == (by_design, {} if by_design else {row: ["unseen_entity", "new"]})


def test_only_the_manifest_of_a_split_is_heeded(tmp_path):
    write_split(tmp_path, SOUND)
    (tmp_path / "manifest.json").write_text('{"format": "other/1", "unseen_by_design": "yes"}')
    assert not find_parts(tmp_path).unseen_by_design
    for key in ("unseen_by_design", "directed"):
        (tmp_path / "manifest.json").write_text(f'{{"format": "openbiolink-split/1", "{key}": "no"}}')
        with pytest.raises(InputError, match=rf"manifest\.json: {key} is 'no', expected true or false"):
            find_parts(tmp_path)


@pytest.mark.parametrize("kind", [ColdSplit, partial(SemiInductiveSplit, types=("GENE",))])
@pytest.mark.parametrize("relations", [(), ("GENE_DRUG",)])
@settings(SLOW, max_examples=1)
@given(graph=split_graphs.graphs())
def test_a_split_says_whether_nodes_are_unseen_by_design(kind, relations, graph):
    scheme = kind(relations=relations, test_fraction=0.3, validation_fraction=0.3)
    with TemporaryDirectory() as name:
        found = split_graphs.split(Path(name), scheme, *graph)
        files = find_parts(found.folder)
    assert found.manifest["unseen_by_design"] == files.unseen_by_design == (not relations)
    assert files.inductive == (None if relations else scheme.name)


@pytest.mark.parametrize("value", ["1", "0", "true", "false", "2"])
def test_parquet_of_any_name_may_have_values(value, tmp_path):
    write_split(tmp_path, SOUND)
    (tmp_path / "test.txt").unlink()
    row = SOUND["test"][0]
    columns = ", ".join(f"'{cell}' AS {name}" for name, cell in zip(("head", "relation", "tail"), row, strict=True))
    duckdb.sql(f"COPY (SELECT {columns}, {value} AS value) TO '{tmp_path / 'test.parquet'}'")
    files = find_parts(tmp_path)
    if value == "2":
        with pytest.raises(InputError, match="neither 0 nor 1"):
            audit_files(files, schema=load_schema())
    else:
        positive = value in {"1", "true"}
        counts = audit_files(files, schema=load_schema()).rows["test"]
        assert counts == {"positive": int(positive), "negative": int(not positive)}


# The command


def command(*words):
    """Status, standard output and standard error of the command, which is run in this process."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    out, err = StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["openbiolink", "audit", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
    for number, handler in handlers.items():
        signal.signal(number, handler)
    return subprocess.CompletedProcess(words, int(end.value.code or 0), out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def leaking(tmp_path_factory):
    """A folder with something of every kind."""
    folder = tmp_path_factory.mktemp("leaking")
    write_schema(folder / "schema.toml", DECLARED)
    return write_split(folder, *everything())


def test_json_holds_every_check(leaking):
    done = command(leaking, "--json")
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    ids = [one["id"] for one in document["checks"]]
    assert set(ids) >= {*oracle.CHECKS, "negative_collision", "degree_baseline", "frequency_baseline", "copy_baseline"}
    assert len(ids) == len(set(ids))
    for one in document["checks"]:
        assert one.keys() >= {"id", "severity", "count", "test_affected", "test_share", "examples"}
        assert one["severity"] in {"error", "warning", "info"}
        assert all(shown.keys() == {"part", "head", "relation", "tail", "because"} for shown in one["examples"])
    assert str(leaking) not in done.stdout
    line = [sys.executable, "-m", "openbiolink", "audit", leaking, "--json"]
    again = subprocess.run(line, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONHASHSEED": "7"})
    assert (again.returncode, again.stdout) == (1, done.stdout)


def test_status_says_what_was_found(leaking, tmp_path):
    sound, warned = tmp_path / "sound", tmp_path / "warned"
    for folder, plant in ((sound, {}), (warned, PLANTS["same pair"][0])):
        folder.mkdir()
        write_split(folder, together(SOUND, plant))
    assert command(leaking).returncode == 1
    assert command(sound, "--fail-on", "info").returncode == 0
    assert command(warned).returncode == 0
    assert command(warned, "--fail-on", "warning").returncode == 1
    write_rows(warned / "test.txt", [("n0", "edge")])
    for wrong in ([warned], [tmp_path / "nowhere"], [sound, "--fail-on", "nothing"], [sound, "--threshold", "1.5"]):
        done = command(*wrong)
        assert done.returncode == 2, (wrong, done.stdout, done.stderr)


# The cleaned split


def counted(parts, negatives):
    """(part, triple, sign) → rows."""
    signs = ((parts, "1"), (negatives, "0"))
    return Counter((part, tuple(row), sign) for some, sign in signs for part, rows in some.items() for row in rows)


def read_table(path):
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [tuple(line.split("\t")) for line in text.split("\n")[:-1]]


def read_cleaned(folder):
    """What stayed, and what was taken out with a reason, both as `counted`."""
    stayed, negatives = (
        {part: read_table(folder / f"{part}{ending}.tsv") for part in oracle.PARTS} for ending in ("", "_negatives")
    )
    removed = read_table(folder / "removed.tsv")
    assert all(len(row) == 6 and row[5] for row in removed)
    return counted(stayed, negatives), Counter((part, (h, r, t), sign) for part, h, r, t, sign, _ in removed)


def read_reasons(folder):
    """(part, triple) of every positive row that was taken out → the words of its reason."""
    return {(row[0], row[1:4]): row[5].split(":") for row in read_table(folder / "removed.tsv") if row[4] == "1"}


def cleaned(folder, parts, schema, *, warnings=False):
    """What stayed, as (part, triple), and what did not, as `read_reasons`."""
    write_split(folder, parts)
    declared = read_schema(write_schema(folder / "declared.toml", schema))
    fix_split(find_parts(folder), folder / "out", schema=declared, warnings=warnings, overwrite=True)
    return {(part, triple) for part, triple, _ in read_cleaned(folder / "out")[0]}, read_reasons(folder / "out")


def errors(audit):
    return [finding.id for finding in audit.checks if finding.severity == "error"]


@settings(SLOW, max_examples=8)
@given(SPLITS, st.booleans())
def test_a_cleaned_split_lost_nothing_and_has_no_error(split, warnings):
    parts, negatives, schema, threshold = split
    with TemporaryDirectory() as name:
        folder, out = write_split(Path(name), parts, negatives), Path(name) / "out"
        declared = read_schema(write_schema(folder / "declared.toml", schema))
        options = {"schema": declared, "threshold": threshold, "note": lambda line: None}
        try:
            audit = fix_split(find_parts(folder), out, warnings=warnings, **options)
        except InputError:  # nothing is left to learn from, and all else is unseen then
            assert all(row[0] == row[2] for part in oracle.CONTEXT for row in parts[part])
            assert not out.exists()
            return
        again = audit_files(find_parts(out), **options)
        stayed, removed = read_cleaned(out)
    assert stayed + removed == counted(parts, negatives)
    assert errors(audit) == []
    assert again.checks == audit.checks
    assert {number for (_, _, sign), number in stayed.items() if sign == "1"} == {1}
    if warnings:
        found = by_id(audit)
        kinds = ("inverse_relation", "near_duplicate_relation", "contained_relation", "same_pair", "transitive")
        assert {kind: found[kind].count for kind in kinds} == dict.fromkeys(kinds, 0)
    kept = {triple for part, triple, sign in stayed if (part, sign) == ("train", "1")}
    assert kept == {row for row in parts["train"] if row[0] != row[2]}


def gives_away(kind, other, row, graph):
    """Whether a row gives another one away in the way that a reason names, by the definitions."""
    follows = consequences(graph.schema, other)
    turned = other[0] != row[0]
    alike = (other[1], row[1])
    return {other[0], other[2]} == {row[0], row[2]} and {
        "reversed": row == oracle.turn(other),
        "super_relation": row in follows and row[1] != other[1],
        "inverse_relation": turned and alike in oracle.like_relations(graph, turned=True),
        "near_duplicate_relation": not turned and alike in oracle.like_relations(graph, turned=False),
        "contained_relation": (*alike, turned) in oracle.contained_relations(graph),
        "same_pair": row[1] != other[1],
    }[kind]


@SLOW
@given(SPLITS, st.booleans())
def test_a_row_goes_only_for_one_that_stays_and_gives_it_away(split, warnings):
    parts, _, schema, _ = split
    with TemporaryDirectory() as name:
        try:
            stayed, removed = cleaned(Path(name), parts, schema, warnings=warnings)
        except InputError:
            return
    graph = oracle.Graph(parts, None, schema, 0.8)
    for (part, row), (kind, *words) in removed.items():
        if kind in {"loop", "duplicate", "transitive", "unseen_entity", "unseen_relation"}:
            continue
        place, relation = words
        others = [other for where, other in stayed if where == place and other[1] == relation]
        assert any(gives_away(kind, other, row, graph) for other in others)
        assert warnings or kind in ERRORS
        assert place != part != "train"
        assert part != "inference" or (place == "train" and kind not in {"super_relation", "contained_relation"})


UNDER = {"s": {"parent": "r"}}
STRANGERS = [("n1", "r", "n2"), ("n2", "s", "n3"), ("n3", "q", "a"), ("n3", "r", "b")]  # so that all is seen
CLEANED = {  # name → (schema, other rows of each part than STRANGERS, reason of each row that goes)
    "the reverse of a row that goes stays": (
        UNDER,
        {"valid": [("a", "s", "b"), ("b", "r", "a")], "test": [("a", "r", "b")]},
        {("test", ("a", "r", "b")): ["super_relation", "valid", "s"]},
    ),
    "a row that implies one of training or inference stays": (
        UNDER,
        {
            "train": [("a", "r", "b"), ("n2", "r", "a")],
            "inference": [("n1", "r", "a"), ("n2", "s", "a")],
            "valid": [("n1", "s", "a")],
            "test": [("a", "s", "b")],
        },
        {},
    ),
    "what training and inference imply goes, if held out": (
        UNDER,
        {
            "train": [("a", "s", "b"), ("a", "s", "n1")],
            "inference": [("n2", "s", "a"), ("a", "r", "n1")],
            "valid": [("n2", "r", "a")],
            "test": [("a", "r", "b")],
        },
        {
            ("valid", ("n2", "r", "a")): ["super_relation", "inference", "s"],
            ("test", ("a", "r", "b")): ["super_relation", "train", "s"],
        },
    ),
    "what a row of inference implied stays if that one goes": (
        {"r": {"parent": "q"}},
        {"train": [("a", "r", "b")], "inference": [("b", "r", "a")], "test": [("b", "q", "a")]},
        {("inference", ("b", "r", "a")): ["reversed", "train", "r"]},
    ),
    "of two that give each other away that of validation goes": (
        {"s": {"inverse": "q"}},
        {"valid": [("a", "r", "b"), ("n1", "s", "a")], "test": [("b", "r", "a"), ("a", "q", "n1")]},
        {
            ("valid", ("a", "r", "b")): ["reversed", "test", "r"],
            ("valid", ("n1", "s", "a")): ["super_relation", "test", "q"],
        },
    ),
    "both of two pairs on two levels": (
        UNDER,
        {"valid": [("b", "s", "a"), ("a", "r", "b")], "test": [("a", "s", "b"), ("b", "r", "a")]},
        {
            ("valid", ("b", "s", "a")): ["reversed", "test", "s"],
            ("valid", ("a", "r", "b")): ["reversed", "test", "r"],
        },
    ),
}


@pytest.mark.parametrize("case", CLEANED)
def test_no_more_is_taken_out_than_must_be(case, tmp_path):
    schema, rows, expected = CLEANED[case]
    parts = together({"train": STRANGERS}, rows)
    stayed, removed = cleaned(tmp_path, parts, schema)
    assert removed == expected
    assert stayed == {(part, row) for part, rows in parts.items() for row in rows} - expected.keys()


def test_with_warnings_inference_loses_what_stands_for_a_pair_of_training(tmp_path):
    parts = {"train": [*STRANGERS, ("a", "r", "b")], "inference": [("a", "s", "b")], "test": [("n1", "s", "a")]}
    assert cleaned(tmp_path, parts, UNDER)[1] == {}
    assert cleaned(tmp_path, parts, UNDER, warnings=True)[1] == {
        ("inference", ("a", "s", "b")): ["same_pair", "train", "r"]
    }


def test_the_command_cleans_into_a_folder_that_has_no_error(leaking, tmp_path):
    out = tmp_path / "out"
    done = command(leaking, "--fix", out)
    assert done.returncode == 1, done.stderr  # of what was found, not of what was written
    stayed, removed = read_cleaned(out)
    parts, negatives = (
        {part: read_table(leaking / f"{part}{ending}.txt") for part in oracle.PARTS} for ending in ("", "_negatives")
    )
    assert stayed + removed == counted(parts, negatives)
    assert removed
    again = command(out, "--json")  # the folder holds the schema, too
    assert again.returncode == 0, again.stdout + again.stderr
    assert not [one["id"] for one in json.loads(again.stdout)["checks"] if one["severity"] == "error"]
    refused = command(leaking, "--fix", out)
    assert (refused.returncode, refused.stderr.count("Error: ")) == (2, 1), refused.stderr
