"""Breakdowns and candidate sets: every query in one group, labels as counted in another way, sets as declared."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_up_ranks import PARTS, make_evaluation, make_graph
from openbiolink.dataset import from_labelled, load_dataset
from openbiolink.errors import InputError
from openbiolink.evaluation import evaluate
from openbiolink.evaluation.breakdown import (
    by_degree,
    by_node_type,
    by_relation,
    by_relation_class,
    by_side,
    group_metrics,
    macro_metrics,
)
from openbiolink.evaluation.candidates import (
    ALL,
    candidate_subset,
    count_candidates_of,
    read_types,
    typed_candidates,
)
from openbiolink.evaluation.known import find_known
from openbiolink.evaluation.result import SIDES
from openbiolink.schema import load_schema
from oracles import ranking, statistics

seeds = st.integers(0, 10**6)


def kinds_of(graph):
    return [["A", "B", ""][number % 3] for number in range(graph.num_entities)]


def all_labels(found):
    return {
        "side": by_side(found),
        "relation": by_relation(found),
        "type": by_node_type(found, kinds_of(found.dataset)),
        "degree": by_degree(found),
        "class": by_relation_class(found),
    }


@settings(deadline=None, max_examples=15)
@given(seeds)
def test_groups_hold_every_query_once_and_their_weighted_mean_is_the_whole(seed):
    found = make_evaluation(make_graph(seed), seed)
    for labels in all_labels(found).values():
        for side, queries in (("head", 30), ("tail", 30), ("both", 60)):
            for ties in ("optimistic", "realistic", "pessimistic"):
                groups = group_metrics(found, labels, side, ties=ties)
                assert sum(group.queries for group in groups.values()) == queries
                for name, value in found.metrics(side, ties=ties).items():
                    summed = sum(group.queries * group.metrics[name] for group in groups.values())
                    assert summed / queries == pytest.approx(value)


@settings(deadline=None, max_examples=15)
@given(seeds)
def test_labels_are_what_they_say(seed):
    graph = make_graph(seed, train=60)
    found = make_evaluation(graph, seed)
    train = {tuple(row) for row in graph.train.tolist()}
    labels = all_labels(found)
    for row, triple in enumerate(graph.test.tolist()):
        for column, answer in enumerate((triple[0], triple[2])):
            own = {name: one.names[one.of[row, column]] for name, one in labels.items()}
            degree = ranking.degree_score(answer, train)
            low, _, high = own["degree"].partition("-")
            assert int(low) <= degree <= int(high or low)
            assert int(high or low) in {0, 1, 2 * int(low) - 1}
            assert own["side"] == SIDES[column]
            assert own["relation"] == graph.relations[triple[1]]
            assert own["type"] == (kinds_of(graph)[answer] or "unknown")
            assert own["class"] == statistics.relation_class(train, triple[1], 1.5)


def test_macro_gives_every_relation_the_same_weight():
    found = make_evaluation(make_graph(3), 3)
    for side in ("head", "tail", "both"):
        each = [found.metrics(side, relation=name) for name in found.relations()]
        for name, value in macro_metrics(found, side).items():
            assert value == pytest.approx(sum(one[name] for one in each) / len(each))


def test_what_is_not_at_hand_is_refused():
    found = make_evaluation()
    with pytest.raises(InputError, match="2 node types for 12 entities"):
        by_node_type(found, ["A", "B"])
    with pytest.raises(InputError, match="needs the training triples"):
        by_degree(replace(found, described={}))
    with pytest.raises(InputError, match="side='left' does not exist"):
        macro_metrics(found, "left")


GRAPH = from_labelled(
    train=[
        ("NCBIGENE:1", "GENE_DRUG", "PUBCHEM.COMPOUND:1"),
        ("NCBIGENE:2", "GENE_GENE", "NCBIGENE:1"),
        ("x", "IS_A", "y"),
    ],
    valid=[],
    test=[("NCBIGENE:2", "GENE_DRUG", "PUBCHEM.COMPOUND:1"), ("x", "GENE_GENE", "NCBIGENE:1"), ("x", "IS_A", "x")],
)


def members(found, side, relation):
    number = found.of[side][GRAPH.relations.index(relation)]
    return None if number == ALL else {GRAPH.entities[entity] for entity in found.sets[number].tolist()}


def test_typed_candidates_are_those_of_the_schema(tmp_path):
    notes = []
    found = typed_candidates(GRAPH, read_types(tmp_path, GRAPH), load_schema(), note=notes.append)
    genes = {"NCBIGENE:1", "NCBIGENE:2"}
    assert members(found, "head", "GENE_DRUG") == members(found, "tail", "GENE_GENE") == genes
    assert members(found, "tail", "GENE_DRUG") == {"PUBCHEM.COMPOUND:1"}
    assert members(found, "head", "IS_A") is None
    assert notes == [
        "typed candidates: entities without a node type, which are in no set: 2",
        "typed candidates: relations with an end of any type, where all entities are candidates: 1",
        "typed candidates: test triples whose head is of another type, and competes anyway: 1",
    ]
    about = found.describe()
    assert about["kind"] == "typed"
    assert about["sets"]["GENE"]["entities"] == 2
    assert about["relations"]["GENE_DRUG"] == {"head": "GENE", "tail": "DRUG"}
    assert about["relations"]["IS_A"] == {"head": "*", "tail": "*"}


def test_types_are_read_from_node_files(tmp_path):
    for part in PARTS:
        rows = (GRAPH.label(triple) for triple in GRAPH.part(part))
        (tmp_path / f"{part}.txt").write_text("".join("\t".join(row) + "\n" for row in rows))
    (tmp_path / "train_val_nodes.csv").write_text("x\tTHING\nNCBIGENE:1\tGENE\tname\n\n")
    (tmp_path / "nodes.tsv").write_text("x\tTHING\n")
    loaded = load_dataset(tmp_path)
    types = dict(zip(loaded.entities, read_types(tmp_path, loaded), strict=True))
    assert types == {"x": "THING", "y": "", "NCBIGENE:1": "GENE", "NCBIGENE:2": "GENE", "PUBCHEM.COMPOUND:1": "DRUG"}
    (tmp_path / "nodes.tsv").write_text("\nx\tOTHER\n")
    with pytest.raises(InputError, match=r"nodes\.tsv, line 2: node 'x' is of type 'OTHER', in .*, line 1 of 'THING'"):
        read_types(tmp_path, loaded)
    (tmp_path / "nodes.tsv").write_text("x\n")
    with pytest.raises(InputError, match=r"nodes\.tsv, line 1: 'x' has no id and type"):
        read_types(tmp_path, loaded)


def test_third_party_data_without_types_are_refused_with_a_way_out(tmp_path):
    graph = make_graph()
    with pytest.raises(InputError, match=r"none of the 12 entities has a node type; put nodes\.csv"):
        typed_candidates(graph, read_types(tmp_path, graph), load_schema())
    with pytest.raises(InputError, match=r"no relation has node types in the schema, 'r0' for one; declare"):
        typed_candidates(graph, kinds_of(graph), load_schema())


def test_a_subset_is_a_list_or_a_file(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("x\n\ny\nx\n")
    notes = []
    found = candidate_subset(GRAPH, path, note=notes.append)
    assert members(found, "head", "IS_A") == members(found, "tail", "GENE_DRUG") == {"x", "y"}
    assert notes == ["candidates that are given more than once and count once: 1"]
    assert found.describe() == candidate_subset(GRAPH, ["y", "x"]).describe()
    path.write_text("x\nz\n")
    with pytest.raises(InputError, match=r"list\.txt, line 2: entity 'z' is not in the data set"):
        candidate_subset(GRAPH, path)
    with pytest.raises(InputError, match="candidates: no entities"):
        candidate_subset(GRAPH, [])


@settings(deadline=None, max_examples=25)
@given(seeds, st.data())
def test_numbers_of_candidates_are_those_of_the_competitors(seed, data):
    graph = make_graph(seed)
    parts = data.draw(st.lists(st.sampled_from(PARTS), unique=True))
    chosen = data.draw(st.lists(st.sampled_from(graph.entities), min_size=1, unique=True))
    known = {side: find_known(graph, side, parts) for side in SIDES}
    triples = {tuple(graph.label(row)) for part in parts for row in graph.part(part)}
    for candidates, entities in ((None, graph.entities), (candidate_subset(graph, chosen), chosen)):
        counts = count_candidates_of(graph, graph.test, known, candidates)
        for row, triple in enumerate(graph.test):
            label = graph.label(triple)
            expected = [1 + len(list(ranking.competitors(label, side, entities, triples))) for side in SIDES]
            assert counts[row].tolist() == expected


def test_an_evaluation_keeps_the_numbers_of_candidates():
    graph = make_graph(5)
    table = np.random.default_rng(0).random((12, 3, 12))
    for parts in (PARTS, (), ("train",)):
        found = evaluate(
            lambda batch: (table[:, batch[:, 1], batch[:, 2]].T, table[batch[:, 0], batch[:, 1]]),
            graph,
            filter_parts=parts,
            unseen="keep",
        )
        known = {side: find_known(graph, side, parts) for side in SIDES}
        assert found.candidates.tolist() == count_candidates_of(graph, graph.test, known, None).tolist()
