"""The schemes that hold out nodes or branches: each keeps its promise, and none leaks or loses a row."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openbiolink.audit import audit_files, find_parts
from openbiolink.errors import InputError
from openbiolink.schema import load_schema
from openbiolink.split import BranchSplit, ColdSplit, InductiveSplit, SemiInductiveSplit
from oracles.leakage import find_leaks
from split_graphs import (
    KINDS,
    NODES,
    PAIRS,
    by_shares,
    contents_of_two_orders,
    family_of,
    find_lost,
    find_misplaced,
    graphs,
    parts_before_and_after,
    placed_rows,
    reasons,
    run_command,
    share_of,
    share_of_edge,
    split,
    write,
)

FEW = settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
FEWER = settings(FEW, max_examples=3)
GRAPHS = graphs()
HIERARCHIES = {"IS_A", "PART_OF"}
SHARES = st.sampled_from([(0.3, 0.2), (0.5, 0.0), (0.0, 0.4), (0.25, 0.25)])
COMMON = {"seed": st.integers(-1, 9), "directed": st.booleans()}
CHOSEN = st.sampled_from([(), (), ("DRUG_BINDACT_GENE", "GENE_OVEREXPRESSED_ANATOMY"), ("GENE_GENE",)])
SEMI = st.builds(
    lambda shares, **given: SemiInductiveSplit(test_fraction=shares[0], validation_fraction=shares[1], **given),
    shares=SHARES,
    types=st.sampled_from([("DRUG",), ("GENE", "ANATOMY")]),
    relations=CHOSEN,
    **COMMON,
)
INDUCTIVE = st.builds(
    lambda shares, **given: InductiveSplit(test_fraction=shares[0], validation_fraction=shares[1], **given),
    shares=SHARES,
    types=st.sampled_from([(), ("GENE",), ("DRUG", "GENE")]),
    new_fraction=st.sampled_from([0.3, 0.5]),
    **COMMON,
)
COLD = st.builds(
    lambda shares, **given: ColdSplit(test_fraction=shares[0], validation_fraction=shares[1], **given),
    shares=SHARES,
    relations=CHOSEN,
    **COMMON,
)
BRANCH = st.builds(
    BranchSplit,
    roots=st.sampled_from([("UBERON:2",), ('CL:"9', "UBERON:3")]),
    validation_roots=st.sampled_from([(), ("UBERON:4",)]),
    hierarchies=st.sampled_from([(), ("IS_A",)]),
    relations=st.sampled_from([(), ("GENE_UNDEREXPRESSED_ANATOMY",)]),
    **COMMON,
)
SCHEMES = st.one_of(SEMI, INDUCTIVE, COLD, BRANCH)


def is_target(scheme, triple):
    chosen = {family_of(("", name, "")) for name in scheme.relations}
    return family_of(triple) in chosen or not chosen


def classes(scheme):
    """{node: part} by the hash of every node."""
    return {
        node: by_shares(share_of(scheme.seed, "entity", node), scheme.test_fraction, scheme.validation_fraction)
        for node in KINDS
    }


def check(graph, scheme, expected, *, reason=None, unseen=()):
    """Split a graph, see to what all schemes promise, and return its folder's rows."""
    with TemporaryDirectory() as name:
        found = split(Path(name), scheme, *graph)
        assert find_leaks(found.folder, directed=scheme.directed, unseen=unseen) == []
        assert find_lost(found, *graph) == []
        assert find_misplaced(found.folder, expected, reason=reason) == []
        leaks = {check for check, number in found.manifest["leaks"].items() if number}
        assert leaks <= ({"unseen_entity"} if unseen else set())
        return placed_rows(found.folder)


# Each scheme's own law


@FEW
@given(GRAPHS, SEMI)
def test_a_held_out_node_has_no_target_edge_in_training(graph, scheme):
    held = {node: part for node, part in classes(scheme).items() if KINDS[node] in scheme.types and part != "train"}

    def expected(_, triple):
        ends = [held[node] for node in (triple[0], triple[2]) if node in held]
        if not ends or not is_target(scheme, triple):
            return "train"
        return ends[0] if len(ends) == 1 else None

    placed = check(graph, scheme, expected, reason="two_held_nodes", unseen=() if scheme.relations else held)
    for (_, triple), part in placed.items():
        ends = held.keys() & {triple[0], triple[2]}
        if part == "train":
            assert not ends or not is_target(scheme, triple)
        else:
            assert len(ends) == 1


@FEW
@given(GRAPHS, INDUCTIVE)
def test_training_and_the_rest_have_no_divided_node_in_common(graph, scheme):
    divided = set(scheme.types or NODES)
    new = {node for node in KINDS if share_of(scheme.seed, "entity", node) < scheme.new_fraction}

    def expected(_, triple):
        ends = {node in new for node in (triple[0], triple[2]) if KINDS[node] in divided}
        if True not in ends:
            return "train"
        if False in ends:
            return None
        part = by_shares(share_of_edge(scheme.seed, triple), scheme.test_fraction, scheme.validation_fraction)
        return "inference" if part == "train" else part

    placed = check(graph, scheme, expected, reason="crosses")
    learned, other, shown = set(), set(), set()
    for (sign, (head, _, tail)), part in placed.items():
        (learned if part == "train" else other).update((head, tail))
        if sign and part in {"train", "inference"}:
            shown.update((head, tail))
    assert not {node for node in learned & other if KINDS[node] in divided}
    assert other <= shown | {node for (sign, row), part in placed.items() if not sign for node in (row[0], row[2])}


@FEW
@given(GRAPHS, COLD)
def test_no_end_of_a_held_out_edge_has_a_target_edge_in_training(graph, scheme):
    parts = classes(scheme)

    def expected(_, triple):
        if not is_target(scheme, triple):
            return "train"
        ends = {parts[triple[0]], parts[triple[2]]}
        return ends.pop() if len(ends) == 1 else None

    unseen = () if scheme.relations else [node for node, part in parts.items() if part != "train"]
    placed = check(graph, scheme, expected, reason="one_end_held", unseen=unseen)
    ends = {part: set() for part in ("train", "validation", "test")}
    for (_, triple), part in placed.items():
        if is_target(scheme, triple):
            ends[part].update((triple[0], triple[2]))
    assert not ends["train"] & (ends["validation"] | ends["test"])
    assert not ends["validation"] & ends["test"]


def below(edges, roots, hierarchies):
    """The terms from which a chain of edges leads to one of the roots, and the roots."""
    found = set(roots)
    for _ in KINDS:
        found |= {row[0] for row in edges if row[1] in hierarchies and row[2] in found and row[0] != row[2]}
    return found


@FEW
@given(GRAPHS, BRANCH)
def test_no_term_of_a_branch_has_a_target_edge_in_training(graph, scheme):
    hierarchies = set(scheme.hierarchies) or HIERARCHIES
    tested, validated = (below(graph[0], roots, hierarchies) for roots in (scheme.roots, scheme.validation_roots))

    def expected(_, triple):
        ends = {triple[0], triple[2]}
        if triple[1] in hierarchies or not is_target(scheme, triple):
            return "train"
        return "test" if ends & tested else "validation" if ends & validated else "train"

    placed = check(graph, scheme, expected)
    learned = [row for (_, row), part in placed.items() if part == "train" and row[1] not in hierarchies]
    for row in learned:
        assert not is_target(scheme, row) or not {row[0], row[2]} & (tested | validated)


# What every scheme promises


@FEWER
@given(GRAPHS, SCHEMES, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_byte(graph, scheme, shuffler):
    first, second = contents_of_two_orders(scheme, graph, shuffler)
    assert first == second


@FEW
@given(GRAPHS, SCHEMES, PAIRS)
def test_an_unrelated_relation_moves_no_edge(graph, scheme, pairs):
    before, after = parts_before_and_after(scheme, graph, pairs)
    both = before.keys() & after.keys()
    assert {key: before[key] for key in both} == {key: after[key] for key in both}


# Counted by hand


def drug_graph():
    """Ten drugs in a ring, each with the same two genes.

    The shares that stand for nodes are, for the seed 42: D4 0.05, D9 0.07, G2 0.24, D6 0.26, G1 0.29, D2 0.36, D0 0.44,
    D5 0.49, D3 0.54, D7 0.78, D8 0.78, D1 0.80.
    """
    nodes = dict.fromkeys([f"D{number}" for number in range(10)], "DRUG") | {"G1": "GENE", "G2": "GENE"}
    edges = [(f"D{number}", "treats", gene, "", "") for number in range(10) for gene in ("G1", "G2")]
    edges += [(f"D{number}", "like", f"D{(number + 1) % 10}", "", "") for number in range(10)]
    return nodes, [*edges, ("G1", "near", "G2", "", "")]


def counted(tmp_path, scheme, *, nodes, edges, **options):
    """What is in each part, as text without the edge's other columns, and the reasons of what is in none."""
    found = split(tmp_path, scheme, edges, nodes=nodes, **options)
    parts = {part: [] for part in ("train", "inference", "validation", "test")}
    for (sign, triple), part in sorted(placed_rows(found.folder).items()):
        if sign:
            parts[part].append(" ".join(triple))
    left = {" ".join(triple): reason for (sign, triple), reason in reasons(found.folder).items() if sign}
    return found, parts, left


def test_new_drugs_by_hand(tmp_path):
    nodes, edges = drug_graph()
    scheme = SemiInductiveSplit(types=("DRUG",), test_fraction=0.1, validation_fraction=0.4)
    found, parts, left = counted(tmp_path, scheme, nodes=nodes, edges=edges)
    treats = {name: [f"{name} treats G1", f"{name} treats G2"] for name in nodes}
    assert parts["test"] == sorted(["D3 like D4", "D8 like D9", *treats["D4"], *treats["D9"]])
    rings = ["D0 like D1", "D1 like D2", "D2 like D3", "D6 like D7"]
    assert parts["validation"] == sorted(rings + treats["D0"] + treats["D2"] + treats["D5"] + treats["D6"])
    assert left == dict.fromkeys(["D4 like D5", "D5 like D6", "D9 like D0"], "two_held_nodes")
    assert len(parts["train"]) == 31 - 6 - 12 - 3
    assert found.manifest["details"] == {"nodes": {"test": 2, "train": 6, "validation": 4}}
    assert found.manifest["counts"]["removed"]["positive"] == {"two_held_nodes": 3}
    some = SemiInductiveSplit(types=("DRUG",), relations=("treats",), test_fraction=0.1, validation_fraction=0.4)
    _, parts, left = counted(tmp_path, some, nodes=nodes, edges=edges)
    assert parts["test"] == sorted(treats["D4"] + treats["D9"])
    assert len(parts["train"]) == 10 + 1 + 8
    assert left == {}


def test_a_new_node_that_no_other_relation_shows_is_left_out(tmp_path):
    nodes, edges = drug_graph()
    edges = [row for row in edges if row[:2] not in {("D4", "like"), ("D3", "like")}]
    scheme = SemiInductiveSplit(types=("DRUG",), relations=("treats",), test_fraction=0.1)
    _, parts, left = counted(tmp_path, scheme, nodes=nodes, edges=edges)
    assert left == dict.fromkeys(["D4 treats G1", "D4 treats G2"], "unseen_node:D4")
    assert parts["test"] == ["D9 treats G1", "D9 treats G2"]


def test_two_graphs_of_drugs_by_hand(tmp_path):
    nodes, edges = drug_graph()
    scheme = InductiveSplit(types=("DRUG",), new_fraction=0.27)
    found, parts, left = counted(tmp_path, scheme, nodes=nodes, edges=edges)
    assert len(parts["train"]) == 14 + 4 + 1
    crossing = ["D3 like D4", "D4 like D5", "D5 like D6", "D6 like D7", "D8 like D9", "D9 like D0"]
    assert {row for row, reason in left.items() if reason == "crosses"} == set(crossing)
    rest = parts["inference"] + parts["validation"] + parts["test"] + [row for row in left if row not in crossing]
    assert sorted(rest) == [f"D{number} treats G{gene}" for number in (4, 6, 9) for gene in (1, 2)]
    assert found.manifest["details"] == {"nodes": {"both": 2, "inference": 3, "train": 7}}
    assert found.manifest["relations"]["treats"]["inference"] == len(parts["inference"]) > 0
    assert {"inference_sample.csv", "negative_inference_sample.csv"} <= found.files.keys()


def test_an_audit_reads_the_inference_graph(tmp_path):
    nodes = {f"N{number}": "THING" for number in range(40)}
    names = list(nodes)
    edges = [(names[a], "r", names[(a + step) % 40], "", "") for a in range(40) for step in (1, 3, 7, 11)]
    found = split(tmp_path, InductiveSplit(new_fraction=0.5), edges, nodes=nodes)
    counts = found.manifest["counts"]["parts"]
    assert min(counts[part]["positive"] for part in ("train", "inference", "validation", "test")) > 3
    audit = audit_files(find_parts(found.folder), schema=load_schema())
    assert audit.rows["inference"] == counts["inference"]
    found = {check.id: check.count for check in audit.checks}
    leaks = ("duplicate", "loop", "reversed", "super_relation", "negative_collision", "unseen_entity")
    assert [found[check] for check in leaks] == [0] * len(leaks)


def test_two_new_ends_by_hand(tmp_path):
    nodes, edges = drug_graph()
    scheme = ColdSplit(test_fraction=0.27, validation_fraction=0)
    _, parts, left = counted(tmp_path, scheme, nodes=nodes, edges=edges)
    assert parts["test"] == ["D4 treats G2", "D6 treats G2", "D9 treats G2"]
    assert set(left.values()) == {"one_end_held"}
    assert (len(parts["train"]), len(left)) == (7 + 4, 10 + 6 + 1)
    scheme = ColdSplit(relations=("treats",), test_fraction=0.27, validation_fraction=0)
    _, parts, left = counted(tmp_path, scheme, nodes=nodes, edges=edges)
    assert len(parts["test"]) == 3
    assert (len(parts["train"]), len(left)) == (7 + 10 + 1, 10)


TERMS = [
    *(("B", "IS_A", "A"), ("C", "IS_A", "B"), ("C", "IS_A", "X"), ("D", "PART_OF", "C")),
    *(("E", "IS_A", "X"), ("X", "IS_A", "A"), ("F", "kind of", "B"), ("F", "IS_A", "A")),
]
TREATED = [("g", "in", term) for term in "ABCDEFX"] + [("h", "on", "D"), ("h", "on", "A"), ("g", "knows", "h")]


def term_graph():
    nodes = dict.fromkeys("ABCDEFX", "TERM") | dict.fromkeys("gh", "GENE")
    return nodes, [(*row, "", "") for row in TERMS + TREATED]


@pytest.mark.parametrize(
    ("options", "test", "validation"),
    [
        ({"roots": ("B",)}, ["g in B", "g in C", "g in D", "h on D", "F kind of B"], []),
        (
            {"roots": ("B",), "validation_roots": ("X",)},
            ["g in B", "g in C", "g in D", "h on D", "F kind of B"],
            ["g in E", "g in X"],
        ),
        ({"roots": ("B",), "hierarchies": ("IS_A",)}, ["g in B", "g in C", "F kind of B", "D PART_OF C"], []),
        ({"roots": ("B",), "hierarchies": ("kind of",), "relations": ("in",)}, ["g in B", "g in F"], []),
        ({"roots": ("B", "E"), "relations": ("on", "kind of")}, ["h on D", "F kind of B"], []),
        ({"roots": ("D",)}, ["g in D", "h on D"], []),
    ],
    ids=str,
)
def test_branches_by_hand(tmp_path, options, test, validation):
    nodes, edges = term_graph()
    found, parts, left = counted(tmp_path, BranchSplit(**options), nodes=nodes, edges=edges)
    gone = {row for row, reason in left.items() if reason.startswith("unseen_")}
    assert set(left) == gone
    assert parts["test"] == sorted(set(test) - gone)
    assert parts["validation"] == sorted(set(validation) - gone)
    assert gone <= {"F kind of B", "D PART_OF C"}  # the only edge of its relation
    assert "nodes" in found.manifest["details"]


def test_a_cycle_of_terms_is_below_each_of_them(tmp_path):
    nodes, edges = term_graph()
    edges.append(("A", "IS_A", "C", "", ""))
    found, parts, _ = counted(tmp_path, BranchSplit(roots=("D", "C")), nodes=nodes, edges=edges)
    assert found.manifest["details"]["nodes"] == {"test": 7, "train": 2}
    assert [row for row in parts["train"] if " in " in row] == []


# Options, and the command line made of them


@pytest.mark.parametrize(
    ("scheme", "wrong", "message"),
    [
        (SemiInductiveSplit, {"types": ()}, r"types \(--type\) is empty"),
        (SemiInductiveSplit, {"types": ("A",), "test_fraction": 1}, r"test_fraction \(--test-frac\) is 1"),
        (InductiveSplit, {"new_fraction": 0}, r"new_fraction \(--new-frac\) is 0"),
        (InductiveSplit, {"test_fraction": 0.5, "validation_fraction": 0.5}, "their sum must be below 1"),
        (ColdSplit, {"validation_fraction": -0.1}, r"validation_fraction \(--val\) is -0.1"),
        (BranchSplit, {"roots": ()}, r"roots \(--root\) is empty"),
        (BranchSplit, {"roots": ("A",), "validation_roots": ("A",)}, "'A' is a root to test and to validate"),
    ],
)
def test_options_out_of_range_are_refused(scheme, wrong, message):
    with pytest.raises(InputError, match=message):
        scheme(**wrong)


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        (SemiInductiveSplit(types=("term",)), "--type 'term' is no type of a node of the graph; there are GENE, TERM$"),
        (ColdSplit(relations=("at",)), "--relation 'at' is no relation of the graph; there are IS_A, PART_OF, in, "),
        (BranchSplit(roots=("b",)), "--root 'b' is no node of the graph; there are A, B, "),
        (BranchSplit(roots=("B",), validation_roots=("b",)), "--val-root 'b' is no node"),
        (BranchSplit(roots=("B",), hierarchies=("isa",)), "--hierarchy 'isa' is no relation"),
        (BranchSplit(roots=("B",), relations=("PART_OF",)), "--relation 'PART_OF' is a hierarchy"),
    ],
)
def test_names_that_the_graph_lacks_are_refused(tmp_path, scheme, message):
    nodes, edges = term_graph()
    with pytest.raises(InputError, match=message):
        split(tmp_path, scheme, edges, nodes=nodes)
    assert not (tmp_path / "out").exists()


def test_a_branch_needs_a_hierarchy(tmp_path):
    nodes, edges = drug_graph()
    with pytest.raises(InputError, match="calls no relation of the graph transitive"):
        split(tmp_path, BranchSplit(roots=("D1",)), edges, nodes=nodes)
    schema = tmp_path / "schema.toml"
    schema.write_text("[relation]\nlike = { transitive = true }\n", encoding="utf-8")
    found = split(tmp_path, BranchSplit(roots=("D1",)), edges[:-11] + edges[-9:-1], nodes=nodes, schema=schema)
    assert found.manifest["details"]["nodes"]["test"] > 0


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["semi-inductive", "--type", "DRUG", "--test-frac", "0.1"], ["--type TYPE", "--relation NAME", "--val SHARE"]),
        (["inductive", "--new-frac", "0.27"], ["--type TYPE", "--new-frac SHARE", "--test-frac SHARE"]),
        (["cold", "--relation", "treats"], ["--relation NAME", "--test-frac SHARE", "--negatives"]),
        (["branch", "--root", "D1", "--hierarchy", "like"], ["--root ID", "--val-root ID", "--hierarchy NAME"]),
    ],
    ids=lambda words: words[0],
)
def test_the_command_line_has_each_scheme(tmp_path, monkeypatch, capsys, words, options):
    monkeypatch.setenv("COLUMNS", "200")
    nodes, edges = drug_graph()
    graph = ["--edges", write(tmp_path, "edges.csv", edges), "--nodes", write(tmp_path, "nodes.csv", nodes.items())]
    status, out, _ = run_command(monkeypatch, capsys, "split", words[0], "--help")
    assert status == 0
    assert [option for option in options if option not in out] == []
    status, out, err = run_command(monkeypatch, capsys, "-p", tmp_path, "split", *words, *graph)
    assert (status, out.strip()) == (0, str(tmp_path / "train_test_data"))
    assert "train: " in err
    assert "audit: no leak is left" in err
    assert (words[0] == "semi-inductive") == ("nodes that training lacks, as the scheme wants it" in err)
    assert (words[0] == "inductive") == ("inference: " in err)
