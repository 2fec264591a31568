"""The audit of real benchmarks: what is known of them, what an independent count gives, what copying gains."""

import gzip

import pytest

from openbiolink.audit import audit_files, find_parts
from openbiolink.schema import load_schema, read_schema
from oracles import audit as oracle

pytestmark = pytest.mark.real

# Rows of all parts, and of the test part. What is not listed is not found.
# Counted by tests/oracles/audit.py; published numbers are marked.
FOUND = {
    "codex-s": {"reversed": (1102, 266), "same_pair": (132, 32)},  # negatives of valid and test are all false
    "fb15k-237": {
        "loop": (1806, 91),
        "reversed": (488, 244),  # none with train: its makers took out held-out pairs that training joins
        "contained_relation": (68, 32),
        "same_pair": (977, 487),
        "cartesian_relation": (1016, 97),
        "unseen_entity": (37, 28),  # 28 test triples, 9 of validation: published
        "component_drift": (37, 28),
    },
    "know2bio-sampled": {
        "near_duplicate_relation": (512, 153),
        "contained_relation": (2, 1),
        "same_pair": (796, 234),
        "unseen_relation": (3, 0),
    },
    "nations": {
        "reversed": (482, 127),
        "inverse_relation": (54, 11),
        "near_duplicate_relation": (132, 31),
        "contained_relation": (230, 115),
        "same_pair": (1956, 201),
        "cartesian_relation": (78, 6),
    },
    "umls": {
        "reversed": (374, 106),
        "contained_relation": (191, 96),
        "same_pair": (2447, 427),
        "cartesian_relation": (1731, 153),
    },
    "wn18rr": {
        "loop": (9, 0),
        "reversed": (
            4394,
            1127,
        ),  # symmetric relations, split apart: over a third of test, as published
        "same_pair": (57, 16),
        "unseen_entity": (420, 210),  # 210 test triples: published
        "component_drift": (461, 234),
    },
}
SIZES = {  # rows of train, valid, test; entities; relations: published
    "codex-s": (32888, 1827, 1828, 2034, 42),
    "fb15k-237": (272115, 17535, 20466, 14541, 237),
    "nations": (1592, 199, 201, 14, 55),
    "umls": (5216, 652, 661, 135, 46),
    "wn18rr": (86835, 3034, 3134, 40943, 11),
}
SYMMETRIC = {
    "codex-s": {"P26", "P3373", "P530"},  # spouse, sibling, diplomatic relation
    "umls": {"degree_of", "precedes"},
    "wn18rr": {"_derivationally_related_form", "_similar_to", "_verb_group"},
}
TOLERANCE = 1e-12


def read_rows(path):
    """The rows of a file, plain or packed; none where there is no file."""
    packed = path.with_name(path.name + ".gz")
    if not path.exists() and not packed.exists():
        return []
    text = (path.read_bytes() if path.exists() else gzip.decompress(packed.read_bytes())).decode("utf-8")
    return [tuple(line.split("\t")) for line in text.splitlines()]


def read_parts(folder, ending=""):
    return {part: read_rows(folder / f"{part}{ending}.txt") for part in oracle.PARTS}


def audited(folder, schema=None):
    audit = audit_files(find_parts(folder), schema=schema or load_schema(), note=lambda line: None)
    return audit, {finding.id: finding for finding in audit.checks}


def counts(found):
    return {check: (one.count, one.test_affected) for check, one in found.items() if one.count}


@pytest.mark.parametrize("name", FOUND)
def test_what_is_known_is_found(shared, name):
    audit, found = audited(shared / "data" / "kg" / name)
    assert counts(found) == FOUND[name]
    if name in SYMMETRIC:
        assert set(found["reversed"].details["symmetric_relations"]) == SYMMETRIC[name]
    rows = tuple(audit.rows[part]["positive"] for part in ("train", "valid", "test"))
    if name in SIZES:
        assert (*rows, audit.entities, audit.relations) == SIZES[name]
    for check, (_, affected) in FOUND[name].items():
        assert found[check].test_share == affected / rows[-1]


@pytest.mark.parametrize("name", FOUND)
def test_an_independent_count_finds_the_same(shared, name):
    folder = shared / "data" / "kg" / name
    found = oracle.audit(read_parts(folder), negatives=read_parts(folder, "_negatives"), ranks=False)
    assert {check: (one["count"], one["test_affected"]) for check, one in found.items() if one["count"]} == FOUND[name]
    if name in SYMMETRIC:
        assert found["reversed"]["symmetric_relations"] == SYMMETRIC[name]


def write_split(folder, parts):
    for part in ("train", "valid", "test"):
        (folder / f"{part}.txt").write_text("".join("\t".join(row) + "\n" for row in parts[part]), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("name", "queries"), [("nations", 201), ("umls", 100), ("codex-s", 25), ("know2bio-sampled", 4)]
)
def test_gains_equal_the_naive_ranking_of_some_queries(shared, tmp_path, name, queries):
    """The test part is cut to rows at equal distances, the others become validation."""
    parts = read_parts(shared / "data" / "kg" / name)
    rows = parts["test"]
    chosen = set(range(0, len(rows), len(rows) // queries))
    parts["valid"] = parts["valid"] + [row for place, row in enumerate(rows) if place not in chosen]
    parts["test"] = [rows[place] for place in sorted(chosen)]
    _, found = audited(write_split(tmp_path, parts))
    compared = 0
    for check, numbers in oracle.audit(parts).items():
        for key in ("count", "test_affected", "mrr", "mrr_affected", "mrr_unaffected"):
            if key in numbers:
                value = numbers[key]
                expected = value if value is None or isinstance(value, int) else pytest.approx(value, abs=TOLERANCE)
                assert getattr(found[check], key) == expected, (check, key)
                compared += 1
    assert compared > 50


def test_held_out_pairs_of_fb15k_237_are_not_joined_in_training(shared, tmp_path):
    """Toutanova and Chen (2015) took out every held-out triple whose entities a training triple joins."""
    parts = read_parts(shared / "data" / "kg" / "fb15k-237")
    _, found = audited(write_split(tmp_path, parts | {"valid": []}))
    assert {check: found[check].count for check in ("reversed", "same_pair")} == {"reversed": 0, "same_pair": 0}


def test_declared_hierarchies_of_wordnet(shared, tmp_path):
    declared = tmp_path / "wordnet.toml"
    declared.write_text('[relation]\n"_hypernym" = { transitive = true }\n', encoding="utf-8")
    folder = shared / "data" / "kg" / "wn18rr"
    _, found = audited(folder, read_schema(declared))
    graph = oracle.Graph(read_parts(folder), {}, {"_hypernym": {"transitive": True}}, 0.8)
    hit, rule, _ = oracle.find_transitive(graph)
    parts = [part for part, triple in graph.rows if hit(part, triple)]
    assert counts(found) == FOUND["wn18rr"] | {"transitive": (len(parts), parts.count("test"))}
    assert counts(found)["transitive"] == (4, 2)
    affected = [triple for part, triple in graph.rows if part == "test" and hit(part, triple)]
    naive = oracle.mean_reciprocal_rank(graph, affected, rule)
    assert found["transitive"].mrr_affected == pytest.approx(naive, abs=TOLERANCE)


def test_symmetric_relations_of_wordnet_are_split_apart(shared):
    """Every reversed copy of a test row is of a symmetric relation, and copying it is nearly always right."""
    parts = read_parts(shared / "data" / "kg" / "wn18rr")
    learnt = {oracle.turn(row) for row in parts["train"]} | {oracle.turn(row) for row in parts["valid"]}
    assert {row[1] for row in parts["test"] if row in learnt} <= SYMMETRIC["wn18rr"] | {"_also_see"}
    _, found = audited(shared / "data" / "kg" / "wn18rr")
    assert found["reversed"].mrr_affected > 0.9
