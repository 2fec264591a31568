"""Splits and audits on Spark: every file has the bytes, and every report the content, of the embedded engine's."""

import json
import random

import fsspec
import pytest

from openbiolink.audit import audit_files, find_parts
from openbiolink.engines import spark as spark_module
from openbiolink.places import place
from openbiolink.schema import load_schema
from openbiolink.split import GraphFiles, RandomSplit, StratifiedSplit, split_graph
from split_graphs import KINDS, NODES, RELATIONS, made_up_rows, write

pytestmark = pytest.mark.xdist_group("spark")
SETTINGS = {  # what pays for millions of rows only; test_engines.py has statements with them
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "1",
}
HELD_OUT = {"test_fraction": 0.2, "validation_fraction": 0.2}


@pytest.fixture(autouse=True)
def quick(spark, monkeypatch):
    """A Spark session, with settings for tables of tens of rows."""
    monkeypatch.setattr(spark_module, "SETTINGS", spark_module.SETTINGS | SETTINGS)


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    """Rows of which many are loops, repeated, turned round or imply each other; and true negatives."""
    folder, shuffler = tmp_path_factory.mktemp("spark"), random.Random(4)
    edges = made_up_rows(shuffler, 90)
    edges += [(NODES[head][0], relation, NODES[tail][-1], "", "A") for relation, (head, tail) in RELATIONS.items()]
    edges += [(node, "a thing", "UBERON:1", "", "") for node in KINDS if node != "UBERON:1"]
    return GraphFiles(
        edges=write(folder, "edges.csv", edges),
        nodes=write(folder, "nodes.csv", KINDS.items()),
        tn_edges=write(folder, "TN_edges.csv", made_up_rows(shuffler, 30)),
    )


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("scheme", [RandomSplit(**HELD_OUT), StratifiedSplit(**HELD_OUT)], ids=lambda one: one.name)
def test_a_split_has_the_same_bytes(graph, tmp_path, scheme):
    notes = {"embedded": [], "spark": []}
    expected, found = (
        contents(split_graph(graph, tmp_path / name, scheme, engine=name, note=said.append).folder)
        for name, said in notes.items()
    )
    assert found == expected
    assert notes["spark"] == notes["embedded"]
    counts = json.loads(found["manifest.json"])["counts"]
    assert all(part["positive"] and part["negative"] for part in counts["parts"].values())
    assert {"self_loop", "super_relation"} <= counts["removed"]["positive"].keys()


@pytest.fixture(scope="module")
def leaky(graph, tmp_path_factory):
    """The rows of the graph in parts that are not cleaned up, and some of them turned round."""
    folder = tmp_path_factory.mktemp("leaky")
    rows = [line.split("\t")[:3] for line in graph.edges.read_text(encoding="utf-8").splitlines()]
    negatives = [line.split("\t")[:3] for line in graph.tn_edges.read_text(encoding="utf-8").splitlines()]
    for number, part in enumerate(("train", "valid", "test")):
        turned = [row[::-1] for row in rows[2::3] if row[1] == "IS_A"] if part == "train" else []
        write(folder, f"{part}.tsv", rows[number::3] + turned)
        write(folder, f"{part}_negatives.tsv", negatives[number::3])
    return folder


def test_an_audit_has_the_same_content(leaky):
    system = fsspec.filesystem("memory")
    system.put(str(leaky), "/leaky", recursive=True)
    try:
        given = {"embedded": find_parts(leaky), "spark": find_parts(place("memory://leaky"))}
        expected, found = (
            audit_files(files, schema=load_schema(), engine_name=name).to_dict() for name, files in given.items()
        )
    finally:
        system.rm("/leaky", recursive=True)
    assert found == expected
    wrong = {check["id"] for check in found["checks"] if check["count"]}
    assert {"duplicate", "loop", "reversed", "super_relation", "same_pair", "negative_collision"} <= wrong
