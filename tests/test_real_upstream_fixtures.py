"""The small files that the earlier program was tested with give the graph that it gave (its own counts)."""

import pytest

from openbiolink.graph import generate_graph
from openbiolink.sources.catalogue import load_catalogue
from openbiolink.sources.local import find_sources

TWO = {
    "GENE_BINDING_GENE", "GENE_DIS", "GENE_EXPRESSED_ANATOMY", "GENE_GENE", "GENE_OVEREXPRESSED_ANATOMY",
    "GENE_PTMOD_GENE",
}  # fmt: skip
MORE = {"GENE_PATHWAY": 3, "IS_A": 14, "PART_OF": 4}


@pytest.mark.real
def test_all_files_are_recognised_and_give_the_known_graph(shared, tmp_path):
    catalogue = load_catalogue("2020")
    sources = find_sources(catalogue, shared / "data" / "openbiolink-fixtures")
    assert sources.keys() == catalogue.sources.keys()
    counts = generate_graph(catalogue, sources, tmp_path / "graph").manifest["counts"]
    assert (counts["edges"], counts["nodes"], counts["tn_edges"], counts["tn_nodes"]) == (56, 25, 6, 6)
    relations = {name: entry["edges"] for name, entry in counts["relations"].items()}
    assert len(relations) == 32
    assert relations == {name: MORE.get(name, 2 if name in TWO else 1) for name in relations}
