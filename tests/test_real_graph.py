"""The graph of real source files: the counts of an independent calculation, and the naive builder edge by edge."""

import json
import resource
import time
import tomllib

import pytest

from openbiolink.graph import GRAPH_FILES
from oracles.graph import build
from source_files import assert_as_expected, edition, generate

pytestmark = pytest.mark.real

# Distinct pairs per relation as the folder of the files states them; disease-phenotype with aspect P.
PAIRS = {
    "GENE_GO": 290_563, "GENE_PHENOTYPE": 259_012, "DIS_PHENOTYPE": 32_746, "GENE_DIS": 12_692, "GENE_GENE": 12_706,
    "GENE_DRUG": 10_595, "GENE_EXPRESSED_ANATOMY": 285_764, "GENE_OVEREXPRESSED_ANATOMY": 87_583,
    "GENE_UNDEREXPRESSED_ANATOMY": 99_636, "GENE_PATHWAY": 16_756, "DRUG_PHENOTYPE": 88_256,
    "IS_A": 23_392 + 70_058 + 6_921 + 4_545, "PART_OF": 6_997 + 2_326,
}  # fmt: skip
TREES = {
    "IS_A.HPO": 23_392, "IS_A.GO": 70_058, "IS_A.DO": 6_921, "IS_A.UBERON": 4_545, "PART_OF.GO": 6_997,
    "PART_OF.UBERON": 2_326,
}  # fmt: skip


def read_sources(source_map):
    content = tomllib.loads(source_map.read_text(encoding="utf-8"))
    return {name: source_map.parent / path for name, path in content["sources"].items()}


@pytest.fixture(scope="module")
def newest(shared, tmp_path_factory):
    """Sources, graph and seconds of the newest files."""
    sources = read_sources(shared / "data" / "local-sources.toml")
    start = time.perf_counter()
    graph = generate(sources, tmp_path_factory.mktemp("real") / "graph")
    return sources, graph, time.perf_counter() - start


@pytest.fixture(scope="module")
def older(shared, tmp_path_factory):
    """Sources and graph with the phenotype files of 2021."""
    sources = read_sources(shared / "data" / "local-sources-2021.toml")
    return sources, generate(sources, tmp_path_factory.mktemp("real-2021") / "graph")


def test_pairs_per_relation_are_those_of_an_independent_calculation(newest):
    _, graph, seconds = newest
    counts = {name: entry["edges"] for name, entry in graph.manifest["counts"]["relations"].items()}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\n{len(graph.edges):,} edges in {seconds:.0f} s with reading them back, {peak:,.0f} MiB at most")
    print(json.dumps(counts))
    assert counts == PAIRS
    assert {name: graph.given[name] for name in TREES} == TREES
    assert len(graph.edges) == sum(PAIRS.values())
    over, under = graph.pairs("GENE_OVEREXPRESSED_ANATOMY"), graph.pairs("GENE_UNDEREXPRESSED_ANATOMY")
    assert len(over & under) == 43
    assert len(graph.rows("conflicts.tsv")) == 2 * 43


def test_every_edge_score_and_row_of_the_newest_files_is_as_expected(newest):
    sources, graph, _ = newest
    expected = build(sources)
    assert_as_expected(graph, expected)
    assert len(expected.self_loops["GENE_GENE"]) == 198


def test_every_edge_score_and_row_of_the_older_files_is_as_expected(older):
    sources, graph = older
    assert_as_expected(graph, build(sources))


def test_negated_annotations_of_2021_are_true_negatives(older):
    _, graph = older
    negated = {edge for edge in graph.negatives if edge[1] == "DIS_PHENOTYPE"}
    print(f"\n{len(negated)} true negatives of DIS_PHENOTYPE from {graph.ledger['DIS_PHENOTYPE']['negated']} NOT rows")
    assert graph.ledger["DIS_PHENOTYPE"]["negated"] == 914 + 568
    assert (
        graph.ledger["TN.DIS_PHENOTYPE"]["read"] - graph.ledger["TN.DIS_PHENOTYPE"]["filtered:not_negated"] == 914 + 568
    )
    assert len(negated) == graph.given["TN.DIS_PHENOTYPE"] > 250
    assert "GENE_PHENOTYPE" in graph.manifest["missing_sources"]["hpo.gene_phenotype"]


def test_no_row_of_a_real_file_is_lost(newest, older):
    for graph in (newest[1], older[1]):
        for rule, counts in graph.ledger.items():
            assert counts["read"] == sum(rows for reason, rows in counts.items() if reason != "read"), rule
        assert {path.name for path in graph.folder.iterdir()} == GRAPH_FILES


def test_the_notes_say_what_gives_no_edge_and_nothing_else(newest):
    _, graph, _ = newest
    rules = [
        "TN.GENE_EXPRESSED_ANATOMY",
        "TN.DIS_PHENOTYPE",
    ]  # no absent calls, no NOT row that maps: see the data's README
    assert [note.split(":")[0] for note in graph.manifest["notes"]] == rules
    assert all("gives an edge" in note for note in graph.manifest["notes"])
    assert set(graph.manifest["missing_sources"]) == set(edition().sources) - set(newest[0])
