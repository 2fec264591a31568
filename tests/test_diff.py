"""The differences of two graphs are those of their sets, in both directions, and no edge is counted twice."""

import json
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from openbiolink.errors import InputError
from openbiolink.graph.diff import diff_graphs, render_diff
from oracles.diff import compare_edges, compare_nodes, same_nodes

COUNTS = ("first", "second", "kept", "reidentified", "lost", "gained", "score_changed", "source_changed")
TYPES = {f"n{number}": kind for kind, numbers in {"GENE": range(5), "DIS": range(5, 10)}.items() for number in numbers}
TRIPLES = st.tuples(st.sampled_from(sorted(TYPES)), st.sampled_from("rs"), st.sampled_from(sorted(TYPES)))
ROWS = st.dictionaries(TRIPLES, st.tuples(st.sampled_from(["", "1", "2"]), st.sampled_from(["A", "B"])), max_size=30)


@st.composite
def graphs(draw):
    """A graph of few nodes; names are shared by some."""
    edges, negatives = draw(ROWS), draw(ROWS)
    ends = sorted({end for rows in (edges, negatives) for head, _, tail in rows for end in (head, tail)})
    names = draw(st.dictionaries(st.sampled_from(sorted(TYPES)), st.sampled_from(["", "x", "y", "z"]), max_size=5))
    return {
        "edges": edges,
        "negatives": negatives,
        "types": {end: TYPES[end] for end in ends},
        "names": {node: name for node, name in names.items() if node in ends},
    }


@st.composite
def pairs_of_graphs(draw):
    """A graph, and the same with some ids renamed, some edges left out, and some scores and sources changed."""
    first = draw(graphs())
    renamed = {node: f"{node}'" for node in draw(st.sets(st.sampled_from(sorted(TYPES)), max_size=6))}
    second = {
        kind: {
            (renamed.get(head, head), relation, renamed.get(tail, tail)): draw(
                st.sampled_from([cells, cells, ("2", "B")])
            )
            for (head, relation, tail), cells in first[kind].items()
            if draw(st.sampled_from([True, True, True, False]))
        }
        for kind in ("edges", "negatives")
    }
    ends = {end for kind in second for head, _, tail in second[kind] for end in (head, tail)}
    old = {new: node for node, new in renamed.items()}
    types = {end: TYPES[old.get(end, end)] for end in ends}
    names = {renamed.get(node, node): name for node, name in first["names"].items() if renamed.get(node, node) in ends}
    return first, {**second, "types": types, "names": names}


def write(folder, graph, **manifest):
    folder.mkdir(parents=True)

    def table(name, rows):
        folder.joinpath(name).write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")

    table("edges.csv", [(*triple, *cells) for triple, cells in graph["edges"].items()])
    if graph["negatives"]:
        table("TN_edges.csv", [(*triple, *cells) for triple, cells in graph["negatives"].items()])
    table("ALL_nodes.csv", graph["types"].items())
    if graph["names"]:
        table("node_names.tsv", graph["names"].items())
    if manifest:
        content = {"format": "openbiolink-graph/1"} | manifest
        folder.joinpath("manifest.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def diff(first, second, **manifest):
    with TemporaryDirectory() as name:
        folders = [write(Path(name, side), graph, **manifest) for side, graph in (("a", first), ("b", second))]
        return diff_graphs(*folders)


def counts_of(row):
    return {name: number for name, number in asdict(row).items() if name in COUNTS and number}


def graph_of(edges, types=None, names=None, negatives=()):
    """Edges as "head relation tail", all of source S."""
    rows = {kind: {tuple(row.split()): ("", "S") for row in content} for kind, content in
            (("edges", edges), ("negatives", negatives))}  # fmt: skip
    ends = {end for kind in rows for head, _, tail in rows[kind] for end in (head, tail)}
    return {**rows, "types": {end: (types or {}).get(end, "T") for end in ends}, "names": names or {}}


@settings(max_examples=30, deadline=None)
@given(st.one_of(pairs_of_graphs(), st.tuples(graphs(), graphs())))
def test_the_differences_are_those_of_sets(pair):
    first, second = pair
    found = diff(first, second)
    assert {(same.first, same.second, same.rule) for same in found.same_nodes} == {
        (old, new, rule) for old, (new, rule) in same_nodes(first, second).items()
    }
    assert {row.type: counts_of(row) for row in found.nodes} == compare_nodes(first, second)
    edges = {(row.negative, row.relation, row.source): counts_of(row) for row in found.edges}
    assert edges == compare_edges(first, second)


@settings(max_examples=12, deadline=None)
@given(pairs_of_graphs())
def test_numbers_add_up_and_turn_round(pair):
    first, second = pair
    found, turned = diff(first, second), diff(second, first)
    sums = []
    for each in (found, turned):
        for row in each.nodes:
            assert row.first - row.lost - row.reidentified == row.kept == row.second - row.gained - row.reidentified
        totals = {}
        for row in each.edges:
            assert row.first - row.lost - row.reidentified == row.kept
            place = totals.setdefault((row.negative, row.relation), dict.fromkeys(COUNTS, 0))
            for name in COUNTS:
                place[name] += getattr(row, name)
        for total in totals.values():
            assert total["second"] - total["gained"] - total["reidentified"] == total["kept"]
        sums.append(totals)
    swap = {"first": "second", "second": "first", "lost": "gained", "gained": "lost"}
    assert sums[1] == {key: {swap.get(name, name): total[name] for name in COUNTS} for key, total in sums[0].items()}
    assert {(same.first, same.second, same.rule) for same in found.same_nodes} == {
        (same.second, same.first, same.rule) for same in turned.same_nodes
    }


@settings(max_examples=6, deadline=None)
@given(graphs(), st.randoms(use_true_random=False))
def test_a_graph_does_not_differ_from_itself_in_another_order(graph, shuffler):
    mixed = {}
    for kind, rows in graph.items():
        items = list(rows.items())
        shuffler.shuffle(items)
        mixed[kind] = dict(items)
    found = diff(graph, mixed, inputs={}, edition="2020")
    assert (found.inputs, found.settings, found.same_nodes, found.notes) == ((), (), (), ())
    same = ("first", "second", "kept")
    assert all(counts_of(row) == dict.fromkeys(same, row.first) for row in found.edges)
    assert all(row.first == row.second == row.kept for row in found.nodes)


def rules(first, second):
    return [(same.first, same.second, same.rule) for same in diff(first, second).same_nodes]


def test_a_name_tells_the_same_node_unless_two_have_it_or_the_type_is_another():
    first = graph_of(["old r x"], names={"old": "gene one"})
    second = graph_of(["new r x"], names={"new": "gene one"})
    assert rules(first, second) == [("old", "new", "name")]
    assert rules(first, graph_of(["new r x"], {"new": "U"}, {"new": "gene one"})) == []
    assert rules(first, graph_of(["new r x"], names={"new": "gene two"})) == []
    twice = graph_of(["new r x", "x r y"], names={"new": "gene one", "y": "gene one"})
    assert rules(first, twice) == []
    kept = graph_of(["old r x", "x r y"], names={"old": "gene one", "y": "gene one"})
    assert rules(kept, second) == []


def test_neighbours_tell_the_same_node_if_there_are_two_and_nobody_else_has_them():
    around = ["{} r x", "y s {}"]

    def made(*nodes, more=()):
        return graph_of([row.format(node) for node in nodes for row in around] + list(more))

    assert rules(made("old"), made("new")) == [("old", "new", "neighbours")]
    assert rules(graph_of(["old r x"]), graph_of(["new r x"])) == []
    assert rules(graph_of(["old r x", "x s old"]), graph_of(["new r x", "x s new"])) == []
    assert rules(made("old", "other"), made("new")) == []
    assert rules(made("old"), made("new", "newer")) == []
    assert rules(made("old"), made("new", more=["new r z"])) == []
    assert rules(made("old"), graph_of(["new r x", "new s y"])) == []
    assert rules(made("old"), graph_of(["new r x"], negatives=["y s new"])) == []


def test_neighbours_that_have_new_ids_of_the_same_name_are_the_same():
    first = graph_of(["a r old", "old r b"], names={"a": "A", "b": "B"})
    second = graph_of(["a2 r new", "new r b2"], names={"a2": "A", "b2": "B"})
    assert rules(first, second) == [("a", "a2", "name"), ("b", "b2", "name"), ("old", "new", "neighbours")]
    found = diff(first, second)
    assert [counts_of(row) for row in found.edges] == [{"first": 2, "second": 2, "reidentified": 2}]


def test_changed_inputs_and_settings_are_named(tmp_path):
    one = {"inputs": {"a": {"sha256": "1", "layout": "x", "version": "v1"}, "gone": {"sha256": "2"}}}
    other = {"inputs": {"a": {"sha256": "3", "layout": "x", "version": "v2"}, "new": {"sha256": "4"}}}
    graph = graph_of(["a r b"])
    folders = [
        write(tmp_path / "one", graph, edition="2020", options={"quality": "all", "scores": True}, **one),
        write(tmp_path / "other", graph, edition="2026", options={"quality": "all", "scores": False}, **other),
    ]
    found = diff_graphs(*folders)
    assert [(change.what, change.first, change.second) for change in found.inputs] == [
        ("a: sha256", "1", "3"),
        ("a: version", "v1", "v2"),
        ("gone", "2", None),
        ("new", None, "4"),
    ]
    assert [(change.what, change.first, change.second) for change in found.settings] == [
        ("edition", "2020", "2026"),
        ("options.scores", True, False),
    ]
    assert json.loads(json.dumps(found.to_dict()))["format"] == "openbiolink-diff/1"


def test_a_graph_without_manifest_nodes_or_names_can_be_compared(tmp_path):
    for name, rows in (("a", "x\tr\ty\t\tS\n"), ("b", "x\tr\ty\t\tS\nx\tr\ty\t5\tS\n# a comment\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "edges.csv").write_text(rows, encoding="utf-8")
    found = diff_graphs(tmp_path / "a", tmp_path / "b")
    assert [counts_of(row) for row in found.edges] == [{"first": 1, "second": 1, "kept": 1}]
    assert [(row.type, row.kept) for row in found.nodes] == [("", 2)]
    assert [part for part in found.notes if "no manifest.json" in part or "1 repeated" in part] != []
    assert found.inputs == ()


def test_the_separator_of_the_manifest_and_third_columns_are_understood(tmp_path):
    folder = write(tmp_path / "a", graph_of(["x r y"]), options={"separator": ";"})
    (folder / "edges.csv").write_text("x;r;y;;S\n", encoding="utf-8")
    (folder / "ALL_nodes.csv").write_text("# a comment\nx;T;a name\ny;T;another\n", encoding="utf-8")
    other = write(tmp_path / "b", graph_of(["x r y"]))
    found = diff_graphs(folder, other)
    assert [counts_of(row) for row in found.edges] == [{"first": 1, "second": 1, "kept": 1}]
    assert [(row.type, row.kept) for row in found.nodes] == [("T", 2)]


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("edges.csv", None, "has no edges.csv"),
        ("edges.csv", "x\tr\n", "expected 5 cells"),
        ("manifest.json", "{", "is not JSON"),
        ("manifest.json", '{"format": "openbiolink-split/1"}', "not the manifest of a graph"),
        ("manifest.json", "[]", "not the manifest of a graph"),
    ],
)
def test_what_is_no_graph_is_refused(tmp_path, name, text, fault):
    good = write(tmp_path / "good", graph_of(["x r y"]))
    bad = write(tmp_path / "bad", graph_of(["x r y"]))
    if text is None:
        (bad / name).unlink()
    else:
        (bad / name).write_text(text, encoding="utf-8")
    for folders in ((good, bad), (bad, good)):
        with pytest.raises(InputError, match=fault):
            diff_graphs(*folders)


def test_the_table_shows_changes_and_sums_and_nothing_that_stayed():
    first = graph_of(["a r b", "a s b"], negatives=["a r c"])
    second = graph_of(["a r b", "a s c", "[red] s b"], negatives=["a r c"])
    screen = StringIO()
    Console(file=screen, width=150).print(render_diff(diff(first, second, edition="2020")))
    shown = screen.getvalue()
    lines = [line.split() for line in shown.splitlines() if line.strip()]
    assert ["relation", "source", "first", "second", "kept", "lost", "gained"] in lines
    assert ["s", "S", "1", "2", "0", "1", "2"] in lines
    assert not [line for line in lines if line[0] == "r"]
    assert ["2", "3", "1", "1", "2"] in lines
    assert "settings: 0 changes" in shown


@pytest.mark.real
def test_ids_that_are_renamed_in_a_real_graph_are_found(shared, tmp_path):
    from openbiolink.graph import GraphOptions, generate_graph
    from openbiolink.sources.catalogue import load_catalogue
    from openbiolink.sources.local import read_source_map

    _, sources = read_source_map(shared / "data" / "local-sources.toml")
    wanted = GraphOptions(relations=("GENE_DIS",))
    graph = generate_graph(load_catalogue("2020"), sources, tmp_path / "a", options=wanted).folder
    rows = [line.split("\t") for line in (graph / "edges.csv").read_text(encoding="utf-8").splitlines()]
    types = [line.split("\t") for line in (graph / "ALL_nodes.csv").read_text(encoding="utf-8").splitlines()]
    renamed = {node: f"MADE.UP:{node}" for node, kind in types if kind == "DIS"}
    second = {
        "edges": {(row[0], row[1], renamed.get(row[2], row[2])): tuple(row[3:]) for row in rows},
        "negatives": {},
        "types": {renamed.get(node, node): kind for node, kind in types},
        "names": {},
    }
    found = diff_graphs(graph, write(tmp_path / "b", second))
    first = {
        "edges": {tuple(row[:3]): tuple(row[3:]) for row in rows}, "negatives": {}, "types": dict(types), "names": {}
    }  # fmt: skip
    assert {(row.negative, row.relation, row.source): counts_of(row) for row in found.edges} == compare_edges(
        first, second
    )
    assert all(same.second == renamed[same.first] for same in found.same_nodes)
    assert len(found.same_nodes) > len(renamed) / 2
