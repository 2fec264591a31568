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
from oracles.leakage import find_leaks, read_rows, read_split
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
    share_of,
    share_of_edge,
    split,
    write,
)

FEW = settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
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
        node: by_shares(
            share_of(scheme.seed, "entity", node), scheme.test_fraction, scheme.validation_fraction
        )
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
    held = {
        node: part for node, part in classes(scheme).items() if KINDS[node] in scheme.types and part != "train"
    }

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
    """Ten drugs, each with the same two genes and a relation between neighbours."""
    nodes = dict.fromkeys([f"D{number}" for number in range(10)], "DRUG") | {"G1": "GENE", "G2": "GENE"}
    edges = [(f"D{number}", "treats", gene, "", "") for number in range(10) for gene in ("G1", "G2")]
    edges += [(f"D{number}", "like", f"D{(number + 1) % 10}", "", "") for number in range(10)]
    return nodes, edges


def parts_of(folder):
    return {
        part: [" ".join(row[:3]) for row in rows] for (part, sign), rows in read_split(folder).items() if sign
    }
