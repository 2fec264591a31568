"""Anybody's edge list becomes canonical: one spelling, one row an edge, nothing lost."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openbiolink.errors import InputError
from openbiolink.graph import import_edges


def run(source, folder):
    notes = []
    counts = import_edges(source, folder / "out", note=notes.append)
    edges = [tuple(line.split("\t")) for line in (folder / "out" / "edges.csv").read_text().splitlines()]
    nodes = [line.split("\t")[0] for line in (folder / "out" / "nodes.csv").read_text().splitlines()]
    return counts, edges, nodes, notes


def test_prefixes_that_differ_in_letter_case_are_one(cases, tmp_path):
    counts, edges, nodes, _ = run(cases / "c10-curie-case-edges.tsv", tmp_path)
    assert {edge[:3] for edge in edges} == {
        ("NCBIGENE:990001", "GENE_DIS", "DOID:9901"),
        ("NCBIGENE:990001", "GENE_ANATOMY", "UBERON:9901"),
        ("NCBIGENE:990002", "GENE_DIS", "DOID:9901"),
    }
    assert nodes == ["DOID:9901", "FBbt:9901", "NCBIGENE:990001", "NCBIGENE:990002", "UBERON:9901"]
    assert (counts.rows, counts.edges, counts.duplicates, counts.self_loops, counts.respelled) == (6, 3, 2, 1, 4)


def test_duplicates_keep_the_best_score_and_all_sources(cases, tmp_path):
    counts, edges, _, _ = run(cases / "c14-duplicate-edges-edges.tsv", tmp_path)
    assert ("NCBIGENE:990001", "GENE_DIS", "DOID:9901", "0.9", "A;B") in edges
    assert (counts.edges, counts.duplicates) == (3, 2)


def test_bytes_after_the_gzip_data_are_noted(cases, tmp_path):
    counts, _, _, notes = run(cases / "c15-gz-trailing-bytes-edges.tsv.gz", tmp_path)
    assert counts.rows == 2
    assert len(notes) == 1
    assert "c15-gz-trailing-bytes-edges.tsv.gz" in notes[0]
    assert "ignored" in notes[0]


def test_all_gzip_members_are_read(cases, tmp_path):
    assert run(cases / "c16-gz-two-members-edges.tsv.gz", tmp_path)[0].edges == 3


def test_blanks_around_ids_make_no_second_node(cases, tmp_path):
    counts, edges, nodes, _ = run(cases / "c20-curie-blanks-edges.tsv", tmp_path)
    assert nodes == ["DOID:9901", "DOID:9902", "NCBIGENE:990001"]
    assert (len(edges), counts.trimmed) == (2, 3)


def test_an_empty_identifier_is_refused(tmp_path):
    source = tmp_path / "edges.tsv"
    source.write_text("A:1\tR\tB:1\t\t\n \tR\tB:1\t\t\n")
    with pytest.raises(InputError, match="1 rows have an empty head"):
        import_edges(source, tmp_path / "out", note=print)
    assert not (tmp_path / "out").exists()


IDS = st.sampled_from(["GO:1", "go:1", "Go: 1", "X:1", "x:1", "y", "Y", " y "])
ROWS = st.lists(
    st.tuples(IDS, st.sampled_from("RS"), IDS, st.sampled_from(["", "1", "0.5", "b"]), st.sampled_from("AB"))
)


@settings(max_examples=25, deadline=None)
@given(rows=ROWS, data=st.data())
def test_no_row_is_lost_and_order_does_not_matter(rows, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("import")
    texts = []
    for number, order in enumerate((rows, data.draw(st.permutations(rows)))):
        source = folder / f"{number}.tsv.gz"
        source.write_bytes(gzip.compress("".join("\t".join(row) + "\n" for row in order).encode()))
        counts = import_edges(source, folder / f"out{number}", note=print)
        assert counts.rows == len(rows) == counts.edges + counts.duplicates + counts.self_loops
        texts.append((folder / f"out{number}" / "edges.csv").read_bytes())
    assert texts[0] == texts[1]
    folded = {edge.split(b"\t")[0].partition(b":")[0] for edge in texts[0].splitlines() if b":" in edge.split(b"\t")[0]}
    assert len(folded) == len({prefix.upper() for prefix in folded})


def test_the_nodes_have_types_that_a_split_understands(cases, tmp_path):
    run(cases / "c10-curie-case-edges.tsv", tmp_path)
    types = dict(line.split("\t") for line in (tmp_path / "out" / "nodes.csv").read_text().splitlines())
    assert types["NCBIGENE:990001"] == "GENE"
    assert types["FBbt:9901"] == "FBbt"


def test_what_only_looks_like_a_number_is_no_best_score_and_sources_are_told_apart(tmp_path):
    source = tmp_path / "edges.tsv"
    scores = {"0.9": "S1;S2", "nan": "S1", "1_000": "S3", "inf": ""}
    source.write_text("".join(f"A:1\tR\tB:1\t{score}\t{label}\n" for score, label in scores.items()))
    assert run(source, tmp_path)[1] == [("A:1", "R", "B:1", "0.9", "S1;S2;S3")]
