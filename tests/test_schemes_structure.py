"""The schemes that keep the shape of the graph: each keeps its promise, and none leaks or loses a row."""

from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openbiolink.errors import InputError
from openbiolink.split import ComponentSplit, DegreeSplit, RandomSplit
from oracles.leakage import find_leaks, read_split
from split_graphs import (
    KINDS,
    PAIRS,
    by_shares,
    contents_of_two_orders,
    family_of,
    find_lost,
    find_misplaced,
    graphs,
    parts_before_and_after,
    placed_rows,
    run_command,
    share_of_edge,
    split,
    write,
)

FEW = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
FEWER = settings(FEW, max_examples=3)
GRAPHS = graphs()
SHARES = st.sampled_from([(0.3, 0.2), (0.5, 0.0), (0.0, 0.4), (0.15, 0.25)])


def schemes(*kinds):
    """Any of some schemes, with options."""
    return st.builds(
        lambda kind, shares, **given: kind(test_fraction=shares[0], validation_fraction=shares[1], **given),
        kind=st.sampled_from(kinds),
        shares=SHARES,
        seed=st.integers(-1, 9),
        directed=st.booleans(),
    )


def unit_of(triple):
    return tuple(sorted((triple[0], triple[2]))), family_of(triple)


def list_units(edges):
    """The distinct units of a graph."""
    return {unit_of(row) for row in edges if row[0] != row[2]}


def share_of_unit(seed, unit):
    (low, high), family = unit
    return share_of_edge(seed, (low, family, high))


def check(graph, scheme, expected):
    """Split a graph, see to what all schemes promise and to where its positives are."""
    with TemporaryDirectory() as name:
        found = split(Path(name), scheme, *graph)
        assert find_leaks(found.folder, directed=scheme.directed) == []
        assert find_lost(found, *graph) == []
        assert find_misplaced(found.folder, lambda _, triple: expected[unit_of(triple)], signs=(1,)) == []
        assert not any(found.manifest["leaks"].values())


# Degrees alike


def expected_by_degree(edges, scheme):
    """{unit: part}, worked out one family and one power of two after the other."""
    units = list_units(edges)
    degree, anchors = Counter(), set()
    of_node = defaultdict(list)
    for unit in units:
        for node in unit[0]:
            degree[node, unit[1]] += 1
            of_node[node, unit[1]].append(unit)
    for around in of_node.values():
        anchors.add(max(around, key=lambda unit: share_of_unit(scheme.seed, unit)))
    levels = defaultdict(list)
    for unit in units:
        product = degree[unit[0][0], unit[1]] * degree[unit[0][1], unit[1]]
        levels[unit[1], product.bit_length() - 1].append(unit)
    expected, before = dict.fromkeys(units, "train"), Counter()
    for (family, _), here in sorted(levels.items()):
        after = before[family] + len(here)
        free = sorted(set(here) - anchors, key=lambda unit: share_of_unit(scheme.seed, unit))
        for part, share in (("test", scheme.test_fraction), ("validation", scheme.validation_fraction)):
            reached = [int(Fraction(str(share)) * number + Fraction(1, 2)) for number in (before[family], after)]
            number = reached[1] - reached[0]
            expected |= dict.fromkeys(free[:number], part)
            free = free[number:]
        before[family] = after
    return expected


@FEW
@given(GRAPHS, schemes(DegreeSplit))
def test_every_level_of_degrees_is_held_out_in_the_same_share(graph, scheme):
    check(graph, scheme, expected_by_degree(graph[0], scheme))


def hub_graph(seed):
    """A graph of one relation whose degrees are from 6 to about 60."""
    graph = nx.barabasi_albert_graph(120, 6, seed=seed)
    nodes = {f"N{node}": "THING" for node in graph}
    return nodes, [(f"N{head}", "r", f"N{tail}", "", "") for head, tail in graph.edges]


def distance(edges, folder):
    """The greatest gap between the shares of train and test edges whose product of degrees is at most any number."""
    degree = Counter(node for row in edges for node in (row[0], row[2]))
    products = {
        part: [degree[row[0]] * degree[row[2]] for row in rows]
        for (part, sign), rows in read_split(folder).items()
        if sign
    }
    return max(
        abs(
            sum(one <= limit for one in products["train"]) / len(products["train"])
            - sum(one <= limit for one in products["test"]) / len(products["test"])
        )
        for limit in {*products["train"], *products["test"]}
    )


def test_degrees_are_closer_than_by_chance(tmp_path):
    chance, ours = [], []
    for seed in range(3):
        nodes, edges = hub_graph(seed)
        for kind, found in ((RandomSplit, chance), (DegreeSplit, ours)):
            result = split(tmp_path, kind(test_fraction=0.2, validation_fraction=0.0, seed=seed), edges, nodes=nodes)
            found.append(distance(edges, result.folder))
        told = result.manifest["details"]["degree_distance"]
        assert told == {"mean": round(ours[-1], 6), "max": told["mean"], "relations": {"r": told["mean"]}}
        assert result.manifest["relations"]["r"]["test"] == round(len(edges) / 5)
    assert max(ours) < 0.1
    assert sum(ours) < sum(chance)


def test_a_ring_by_hand(tmp_path):
    """All products of degrees are 4; every node keeps the greater of its two edges, so the two least ones can go."""
    nodes = {f"N{number}": "THING" for number in range(10)}
    edges = [(f"N{number}", "r", f"N{(number + 1) % 10}", "", "") for number in range(10)]
    ranked = sorted(edges, key=lambda row: share_of_edge(42, row))
    free = [
        row
        for row in ranked
        if all(
            any(
                row != other and {end} & {other[0], other[2]} and share_of_edge(42, other) > share_of_edge(42, row)
                for other in edges
            )
            for end in (row[0], row[2])
        )
    ]
    found = split(tmp_path, DegreeSplit(test_fraction=0.1, validation_fraction=0.1), edges, nodes=nodes)
    placed = placed_rows(found.folder)
    assert len(free) >= 2
    assert [placed[1, row[:3]] for row in free[:2]] == ["test", "validation"]
    assert Counter(part for (sign, _), part in placed.items() if sign) == {"train": 8, "test": 1, "validation": 1}
    assert found.manifest["details"]["degree_distance"] == {"mean": 0.0, "max": 0.0, "relations": {"r": 0.0}}


def test_a_star_has_nothing_to_hold_out(tmp_path):
    nodes = {f"N{number}": "THING" for number in range(6)}
    edges = [("N0", "r", f"N{number}", "", "") for number in range(1, 6)]
    found = split(tmp_path, DegreeSplit(test_fraction=0.4, validation_fraction=0.4), edges, nodes=nodes)
    assert found.manifest["counts"]["parts"]["train"]["positive"] == 5
    assert found.manifest["details"]["degree_distance"] == {"mean": None, "max": None, "relations": {}}


# Components kept


def components(triples):
    graph = nx.Graph((head, tail) for head, _, tail in triples if head != tail)
    return {frozenset(nodes) for nodes in nx.connected_components(graph)}


def expected_by_forest(edges, scheme):
    """{unit: part}, with the forest of networkx."""
    graph = nx.MultiGraph()
    for unit in list_units(edges):
        graph.add_edge(*unit[0], key=unit[1], weight=int(share_of_unit(scheme.seed, unit) * 2**60))
    forest = nx.maximum_spanning_edges(graph, keys=True, data=False)
    kept = {(tuple(sorted((one, other))), family) for one, other, family in forest}
    shares = scheme.test_fraction, scheme.validation_fraction
    return {
        unit: "train" if unit in kept else by_shares(share_of_unit(scheme.seed, unit), *shares)
        for unit in list_units(edges)
    }


@FEW
@given(GRAPHS, schemes(ComponentSplit), PAIRS)
def test_training_falls_into_no_more_pieces_than_the_graph(graph, scheme, pairs):
    """The parts of the made-up graph hang together, and the pairs added to it are pieces of their own."""
    others = [(f"{head}?", "of its own", f"{tail}?", "", "") for head, tail in pairs]
    nodes = {row[place]: "THING" for row in others for place in (0, 2)}
    edges = graph[0] + others
    with TemporaryDirectory() as name:
        found = split(Path(name), scheme, edges, graph[1], nodes=KINDS | nodes)
        placed = placed_rows(found.folder)
    learned = [row for (sign, row), part in placed.items() if sign and part == "train"]
    assert components(learned) == components([row[:3] for row in edges])
    by_hash = (share_of_unit(scheme.seed, unit) for unit in list_units(edges))
    below = sum(by_shares(share, scheme.test_fraction, scheme.validation_fraction) != "train" for share in by_hash)
    kept = found.manifest["details"]["units_kept_together"]
    assert kept == below - sum(part != "train" for part in expected_by_forest(edges, scheme).values())


@FEW
@given(GRAPHS, schemes(ComponentSplit))
def test_what_is_not_of_the_forest_goes_by_its_hash(graph, scheme):
    check(graph, scheme, expected_by_forest(graph[0], scheme))


def test_a_tree_has_nothing_to_hold_out_and_a_ring_one_edge(tmp_path):
    nodes = {f"N{number}": "THING" for number in range(10)}
    edges = [(f"N{number}", "r", f"N{number + 1}", "", "") for number in range(9)]
    scheme = ComponentSplit(test_fraction=0.5, validation_fraction=0.4)
    tree = split(tmp_path, scheme, edges, nodes=nodes)
    assert tree.manifest["counts"]["parts"]["train"]["positive"] == 9
    edges.append(("N9", "r", "N0", "", ""))
    ring = split(tmp_path, scheme, edges, nodes=nodes)
    held = [row for (sign, row), part in placed_rows(ring.folder).items() if sign and part != "train"]
    assert held == [min(edges, key=lambda row: share_of_edge(42, row))[:3]]
    below = sum(share_of_edge(42, row) < Fraction(0.5) + Fraction(0.4) for row in edges)
    assert ring.manifest["details"] == {"units_kept_together": below - 1}


# What every scheme promises


@FEWER
@given(GRAPHS, schemes(DegreeSplit, ComponentSplit), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_byte(graph, scheme, shuffler):
    first, second = contents_of_two_orders(scheme, graph, shuffler)
    assert first == second


@FEWER
@given(GRAPHS, schemes(DegreeSplit), PAIRS)
def test_an_unrelated_relation_moves_no_edge_of_degrees(graph, scheme, pairs):
    before, after = parts_before_and_after(scheme, graph, pairs)
    both = before.keys() & after.keys()
    assert {key: before[key] for key in both} == {key: after[key] for key in both}


@FEWER
@given(GRAPHS, schemes(ComponentSplit), PAIRS)
def test_an_unrelated_relation_moves_no_held_out_edge_of_components(graph, scheme, pairs):
    """It can only take an edge's place in the forest, so that the edge goes where its hash says."""
    before, after = parts_before_and_after(scheme, graph, pairs)
    held = {key: part for key, part in before.items() if key[0] and part != "train" and key in after}
    assert held == {key: after[key] for key in held}
    for key in before.keys() & after.keys():
        if key[0] and before[key] != after[key]:
            share = share_of_edge(scheme.seed, key[1])
            assert after[key] == by_shares(share, scheme.test_fraction, scheme.validation_fraction)


# Negatives


@pytest.mark.parametrize("kind", [DegreeSplit, ComponentSplit])
def test_negatives_are_shared_out_like_positives(tmp_path, kind):
    nodes, edges = hub_graph(1)
    found = split(tmp_path, kind(test_fraction=0.2, validation_fraction=0.1), edges, nodes=nodes)
    for rows in found.manifest["counts"]["parts"].values():
        assert rows["positive"] > 0
        assert abs(rows["negative"] - rows["positive"]) < 5 * rows["positive"] ** 0.5


# Options, and the command line made of them


@pytest.mark.parametrize("kind", [DegreeSplit, ComponentSplit])
def test_options_out_of_range_are_refused(kind):
    with pytest.raises(InputError, match=r"test_fraction \(--test-frac\) is 1"):
        kind(test_fraction=1)
    with pytest.raises(InputError, match="their sum must be below 1"):
        kind(test_fraction=0.6, validation_fraction=0.4)


@pytest.mark.parametrize("name", ["degree", "components"])
def test_the_command_line_has_each_scheme(tmp_path, monkeypatch, capsys, name):
    monkeypatch.setenv("COLUMNS", "200")
    nodes, edges = hub_graph(2)
    graph = ["--edges", write(tmp_path, "edges.csv", edges), "--nodes", write(tmp_path, "nodes.csv", nodes.items())]
    status, out, _ = run_command(monkeypatch, capsys, "split", name, "--help")
    assert status == 0
    assert [option for option in ("--test-frac SHARE", "--val SHARE", "--seed NUMBER") if option not in out] == []
    status, out, err = run_command(monkeypatch, capsys, "-p", tmp_path, "split", name, *graph, "--test-frac", "0.1")
    assert (status, out.strip()) == (0, str(tmp_path / "train_test_data"))
    assert "audit: no leak is left" in err
