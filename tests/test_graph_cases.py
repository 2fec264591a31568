"""The known kinds of fault in source files, each with the outcome that is right; and the case files are untouched."""

import hashlib
import re
import shutil
from pathlib import Path

import pytest

from openbiolink.graph import GraphOptions, generate_graph
from openbiolink.graph.identifiers import condition_sql, create_macros
from openbiolink.schema import load_schema
from openbiolink.sources.declarations import Condition
from openbiolink.tables import open_database, read_delimited
from source_files import (
    ACCESSION,
    PROTEIN,
    edition,
    generate,
    read_graph,
    write,
    write_chemical_links,
    write_entrez,
    write_id_mapping,
    write_obo,
)

ROOT = Path(__file__).resolve().parent
GENES = {ACCESSION(90000 + number): f"99000{number}" for number in range(1, 7)}
GO_ROOT = "GO:9900001"


def note_lines(graph):
    """All notes of a manifest; they name files, never folders."""
    text = " ".join(graph.manifest["notes"])
    assert "/" not in text
    return text


@pytest.fixture
def mapping(tmp_path):
    """UniProt X90001 to X90006 → NCBI genes 990001 to 990006."""
    return write_id_mapping(tmp_path, GENES)


def annotations(cases, name, mapping, folder, *, ontology=None):
    """The graph of a case's annotation file, with its ontology or a small one."""
    sources = {
        "go.annotations": cases / f"{name}.gaf",
        "go.ontology": ontology
        or write_obo(folder / "go-basic.obo", {GO_ROOT: [], "GO:9900002": [f"is_a: {GO_ROOT}"]}),
        "uniprot.id_mapping": mapping,
    }
    return generate(sources, folder / "graph")


# ------------------------------------------------------------------------------------------------------ case files


def listed_cases():
    lines = (ROOT / "cases.sha256").read_text(encoding="utf-8").splitlines()
    return dict(reversed(line.split()) for line in lines)


def test_no_case_file_is_missing_and_none_was_added():
    names = {Path(name).name for name in listed_cases()}
    assert names == {path.name for path in (ROOT / "cases").iterdir()}
    assert "expected.json" in names
    numbers = {name[:3] for name in names if re.match(r"c\d\d-", name)}
    assert numbers == {f"c{number:02d}" for number in range(1, 56)}


@pytest.mark.parametrize("name", sorted(listed_cases()))
def test_a_case_file_is_byte_for_byte_as_it_was_handed(name):
    raw = (ROOT / "cases" / Path(name).name).read_bytes()
    assert hashlib.sha256(raw).hexdigest() == listed_cases()[name]


# ------------------------------------------------------------------------------------------------------- ontologies


def test_c01_obsolete_terms_are_replaced_or_listed(cases, mapping, tmp_path):
    graph = annotations(cases, "c01-obo-obsolete", mapping, tmp_path, ontology=cases / "c01-obo-obsolete.obo")
    gone = {"GO:9900003", "GO:9900004"}
    assert not gone & {row[0] for row in graph.rows("ALL_nodes.csv")}
    assert graph.pairs("IS_A") == {("GO:9900002", GO_ROOT)}
    assert graph.pairs("GENE_GO") == {("NCBIGENE:990001", "GO:9900002"), ("NCBIGENE:990002", "GO:9900002")}
    assert ("GO:9900004", "GO") in graph.unmapped
    assert graph.ledger["GENE_GO"] == {"read": 3, "kept": 2, "obsolete": 1}
    assert graph.manifest["replaced_in_ontology"] == {"GENE_GO: GO ids replaced through go.ontology": 1}
    assert graph.ledger["IS_A.GO"] == {"read": 2, "kept": 1, "filtered:obsolete_term": 1}


def test_c02_all_alternative_ids_are_followed(cases, mapping, tmp_path):
    graph = annotations(cases, "c02-obo-alt-ids", mapping, tmp_path, ontology=cases / "c02-obo-alt-ids.obo")
    assert graph.pairs("GENE_GO") == {(f"NCBIGENE:99000{number}", "GO:9900011") for number in (1, 2, 3)}
    assert {row[0] for row in graph.rows("nodes.csv") if row[1] == "GO"} == {"GO:9900010", "GO:9900011"}
    assert graph.ledger["GENE_GO"] == {"read": 4, "kept": 3, "duplicate": 1}


def test_c03_qualifiers_and_references_never_end_up_in_an_id(cases, tmp_path):
    graph = generate({"uberon.ontology": cases / "c03-obo-qualifiers-xrefs.obo"}, tmp_path / "graph")
    edge = ("UBERON:9900002", "UBERON:9900001")
    assert set(graph.edges) == {(edge[0], "IS_A", edge[1]), (edge[0], "PART_OF", edge[1])}


def test_c04_a_cycle_is_named_and_a_term_is_not_its_own_parent(cases, tmp_path):
    graph = generate({"uberon.ontology": cases / "c04-obo-cycle.obo"}, tmp_path / "graph")
    a, b, c = (f"CL:990000{number}" for number in (1, 2, 3))
    assert graph.pairs("IS_A") == {(a, b), (b, a), (c, a)}
    assert graph.ledger["IS_A.UBERON"] == {"read": 4, "kept": 3, "self_loop": 1}
    assert f"{a} -> {b} -> {a}" in note_lines(graph)
    assert f"{c} -> {c}" in note_lines(graph)
    reached, parents = {c}, graph.pairs("IS_A")
    while more := {parent for child, parent in parents if child in reached} - reached:
        reached |= more
    assert reached - {c} == {a, b}


def test_c19_windows_line_ends_and_stanzas_without_blank_lines(cases, tmp_path):
    graph = generate({"do.ontology": cases / "c19-obo-crlf.obo"}, tmp_path / "graph")
    assert graph.pairs("IS_A") == {("DOID:9902", "DOID:9901"), ("DOID:9903", "DOID:9902")}
    assert graph.rows("nodes.csv") == [("DOID:9901", "DIS"), ("DOID:9902", "DIS"), ("DOID:9903", "DIS")]


# ------------------------------------------------------------------------------------------------------- annotations


def test_c05_negated_annotations_are_counted_and_never_positive(cases, mapping, tmp_path):
    graph = annotations(cases, "c05-gaf-not", mapping, tmp_path)
    assert graph.pairs("GENE_GO") == {("NCBIGENE:990001", GO_ROOT), ("NCBIGENE:990006", GO_ROOT)}
    assert graph.ledger["GENE_GO"] == {"read": 6, "kept": 2, "negated": 4}
    assert graph.negatives == {}


def test_c18_the_first_taxon_is_that_of_the_gene_product(cases, mapping, tmp_path):
    graph = annotations(cases, "c18-gaf-dual-taxon", mapping, tmp_path)
    assert graph.pairs("GENE_GO") == {("NCBIGENE:990001", GO_ROOT), ("NCBIGENE:990002", GO_ROOT)}
    assert graph.ledger["GENE_GO"] == {"read": 4, "kept": 2, "filtered:taxon": 2}


def test_c06_both_ages_of_an_annotation_file_give_the_same(cases, tmp_path):
    companions = {
        "do.ontology": write_obo(tmp_path / "doid.obo", {"DOID:9901": ["xref: OMIM:990001"]}),
        "hpo.ontology": write_obo(tmp_path / "hp.obo", {"HP:9900001": [], "HP:9900002": []}),
    }
    graphs = []
    for age in ("new", "old"):
        copied = tmp_path / age / "phenotype.hpoa"
        copied.parent.mkdir()
        shutil.copy(cases / f"c06-hpoa-not-header-{age}.hpoa", copied)
        graphs.append(generate({**companions, "hpo.disease_phenotype": copied}, tmp_path / age / "graph"))
    for graph in graphs:
        assert graph.pairs("DIS_PHENOTYPE") == {("DOID:9901", "HP:9900001")}
        assert set(graph.negatives) == {("DOID:9901", "DIS_PHENOTYPE", "HP:9900002")}
        assert graph.ledger["DIS_PHENOTYPE"] == {"read": 3, "kept": 1, "negated": 1, "unmapped_head": 1}
        assert graph.ledger["TN.DIS_PHENOTYPE"] == {"read": 3, "kept": 1, "filtered:not_negated": 2}
        assert graph.unmapped == {("ORPHANET:9902", "DIS")}
    new, old = ({path.name: path.read_bytes() for path in graph.folder.iterdir()} for graph in graphs)
    assert {name for name in new if new[name] != old[name]} == {"manifest.json", "croissant.json"}


# ----------------------------------------------------------------------------------------------------------- scores


def test_c11_compounds_have_their_number_whatever_the_kind_of_id(cases, tmp_path):
    proteins = {PROTEIN(990001): "990001", PROTEIN(990002): "990002"}
    sources = {
        "stitch.links": cases / "c11-stitch-sider-ids-links.tsv",
        "string.entrez": write_entrez(tmp_path, proteins),
        "sider.side_effects": cases / "c11-stitch-sider-ids-se.tsv",
        "hpo.ontology": write_obo(tmp_path / "hp.obo", {"HP:9900001": ["xref: UMLS:C9900001"]}),
    }
    graph = generate(sources, tmp_path / "graph")
    drugs = {row[0] for row in graph.rows("nodes.csv") if row[1] == "DRUG"}
    assert drugs == {"PUBCHEM.COMPOUND:9001", "PUBCHEM.COMPOUND:9009002"}
    assert graph.pairs("GENE_DRUG") == {("NCBIGENE:990001", "PUBCHEM.COMPOUND:9001")}
    assert graph.ledger["GENE_DRUG"] == {"read": 3, "kept": 1, "filtered:not_stereo": 2}
    assert graph.pairs("DRUG_PHENOTYPE") == {(drug, "HP:9900001") for drug in drugs}


def test_c11_a_flat_id_has_one_more_digit_in_front(cases, tmp_path):
    rule = edition().rules["DRUG_PHENOTYPE"]
    changed = rule.model_copy(update={"head": rule.head.model_copy(update={"column": "stitch_flat"})})
    catalogue = edition().model_copy(update={"rules": {"DRUG_PHENOTYPE": changed}})
    sources = {
        "sider.side_effects": cases / "c11-stitch-sider-ids-se.tsv",
        "hpo.ontology": write_obo(tmp_path / "hp.obo", {"HP:9900001": ["xref: UMLS:C9900001"]}),
    }
    generate_graph(catalogue, sources, tmp_path / "graph")
    drugs = {head for head, _ in read_graph(tmp_path / "graph").pairs("DRUG_PHENOTYPE")}
    assert drugs == {"PUBCHEM.COMPOUND:9001", "PUBCHEM.COMPOUND:9002"}


def test_c11_rows_of_a_compound_that_become_equal_are_one_edge(tmp_path):
    rows = [f"CIDs0000900{number} {PROTEIN(1)} {score}" for number, score in ((1, 300), (1, 1000), (1, 900), (2, 99))]
    sources = {
        "stitch.links": write_chemical_links(tmp_path, rows),
        "string.entrez": write_entrez(tmp_path, {PROTEIN(1): "990001"}),
    }
    graph = generate(sources, tmp_path / "graph")
    gene = "NCBIGENE:990001"
    assert graph.edges == {
        (gene, "GENE_DRUG", "PUBCHEM.COMPOUND:9001"): ("1000", "STITCH"),
        (gene, "GENE_DRUG", "PUBCHEM.COMPOUND:9002"): ("99", "STITCH"),
    }
    assert graph.ledger["GENE_DRUG"] == {"read": 4, "kept": 2, "duplicate": 2}


@pytest.fixture
def scored(cases, tmp_path):
    proteins = {PROTEIN(990000 + number): f"99000{number}" for number in range(1, 7)}
    return {"string.links": cases / "c13-score-cutoff-links.txt", "string.entrez": write_entrez(tmp_path, proteins)}


def partners(graph):
    return {tail.removeprefix("NCBIGENE:") for head, tail in graph.pairs("GENE_GENE") if head == "NCBIGENE:990001"}


def test_c13_the_high_level_is_above_700_and_counts_numbers(scored, tmp_path):
    graph = generate(scored, tmp_path / "graph", quality="high")
    assert partners(graph) == {"990004"}
    assert graph.ledger["GENE_GENE"] == {"read": 5, "kept": 1, "below_quality": 3, "filtered:no_score": 1}
    assert "c13-score-cutoff-links.txt" in note_lines(graph)
    assert "line 6" in note_lines(graph)
    assert "left out" in note_lines(graph)


def test_c13_without_a_cut_off_a_missing_score_is_kept_and_named(scored, tmp_path):
    graph = generate(scored, tmp_path / "graph")
    assert partners(graph) == {f"99000{number}" for number in range(2, 7)}
    assert graph.edges["NCBIGENE:990001", "GENE_GENE", "NCBIGENE:990006"] == ("", "STRING")
    assert "line 6" in note_lines(graph)
    assert "kept without one" in note_lines(graph)


def test_c13_at_least_keeps_its_boundary_and_above_does_not(cases):
    path, columns = cases / "c13-score-cutoff-links.txt", ["protein1", "protein2", "score"]
    with open_database() as (connection, _):
        create_macros(connection, load_schema())
        read_delimited(connection, path, table="links", columns=columns, note=str, separator=" ", skip=1)
        for condition, expected in (
            (Condition(column="score", above=700), ["1000"]),
            (Condition(column="score", at_least=700), ["700", "1000"]),
        ):
            rows = connection.execute(f"SELECT score FROM links WHERE {condition_sql(condition)}").fetchall()
            assert [row[0] for row in rows] == expected


def test_c13_a_rule_that_says_at_least_keeps_700_as_well(scored, tmp_path):
    rule = edition().rules["GENE_GENE"]
    bound = Condition(column="combined_score", at_least=700)
    changed = rule.model_copy(update={"quality": rule.quality.model_copy(update={"high": bound})})
    catalogue = edition().model_copy(update={"rules": {"GENE_GENE": changed}})
    generate_graph(catalogue, scored, tmp_path / "graph", options=GraphOptions(quality="high"))
    assert partners(read_graph(tmp_path / "graph")) == {"990003", "990004"}


def test_a_score_that_is_no_number_is_counted_and_its_lines_named(tmp_path):
    rows = [f"{PROTEIN(1)} {PROTEIN(2)} high", f"{PROTEIN(1)} {PROTEIN(3)} 900", f"{PROTEIN(1)} {PROTEIN(2)} nan"]
    links = write(tmp_path / "links.txt", ["protein1 protein2 combined_score", *rows])
    entrez = write_entrez(tmp_path, {PROTEIN(number): f"99000{number}" for number in (1, 2, 3)})
    graph = generate({"string.links": links, "string.entrez": entrez}, tmp_path / "graph")
    assert partners(graph) == {"990003"}
    assert graph.ledger["GENE_GENE"] == {"read": 3, "kept": 1, "filtered:bad_score": 2}
    assert "line 2, 4" in note_lines(graph)
