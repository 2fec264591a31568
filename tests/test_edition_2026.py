"""The graph of edition 2026: every rule on made-up files, edge by edge as counted by hand, and on what real files fit.

Genes 990001 to 990003 are g1 to g3 below; terms MONDO:9900001, HP:9900002 and the like are M1, H2 and the like.
"""

import gzip
from collections import Counter

import pytest

from edition_2026 import generate_2026, write_gencc, write_hpoa, write_ontology, write_sources
from openbiolink.errors import InputError
from openbiolink.graph import GraphOptions, generate_graph
from openbiolink.graph.plan import wanted_sources
from openbiolink.sources.catalogue import load_catalogue
from openbiolink.sources.layout import find_layout
from openbiolink.tables import first_lines
from oracles import graph as oracle
from source_files import write, write_tabbed

CATALOGUE = load_catalogue("2026")
SHORT = {
    "g": "NCBIGENE:99000", "G": "GO:990000", "M": "MONDO:990000", "H": "HP:990000", "U": "UBERON:990000",
    "C": "CL:990000", "D": "PUBCHEM.COMPOUND:99", "R": "REACTOME:R-HSA-99",
}  # fmt: skip
OPT_IN = {"sider.side_effects", "ctd.gene_pathway", "kegg.gene_pathway"}


def long(text):
    """The id that a short one stands for."""
    return SHORT[text[0]] + text[1:]


def spelled(*edges):
    """Edges as (head, tail) → (score, source), of words "head tail score source", a score's blanks written as _."""
    found = {}
    for edge in edges:
        head, tail, *score, source = edge.split()
        found[long(head), long(tail)] = ("".join(score).replace("_", " "), source)
    return found


POSITIVE = {
    "GENE_GENE": spelled(
        "g1 g2 400 STRING", "g2 g1 400 STRING", "g1 g3 701 STRING", "g3 g1 701 STRING", "g2 g3 701 STRING",
        "g3 g2 701 STRING",
    ),
    "GENE_REGULATION_GENE": spelled("g2 g1 800 STRING"),
    "GENE_DRUG": spelled("g1 D01 701 STITCH"),
    **{
        f"DRUG_{mode}_GENE": spelled("D01 g1 700 STITCH")
        for mode in ("ACTIVATION", "CATALYSIS", "EXPRESSION", "INHIBITION", "PREDBIND", "REACTION")
    },
    "DRUG_BINDING_GENE": spelled("D01 g1 701 STITCH", "D01 g2 300 STITCH"),
    "DRUG_BINDACT_GENE": spelled("D01 g1 701 STITCH"),
    "DRUG_BINDINH_GENE": spelled("D01 g2 300 STITCH"),
    "GENE_GO": spelled("g1 G2 IDA GO", "g2 G2 IEA GO", "g3 G2 IEA GO", "g1 G1 NAS GO"),
    "GENE_DIS": spelled(
        "g1 M1 Definitive GenCC", "g2 M1 Moderate GenCC", "g3 M2 Supportive GenCC", "g3 M1 Moderate ClinGen",
        "g3 M3 4 DISEASES", "g1 M3 3 DISEASES", "g2 M3 3 DISEASES",
    ),
    "GENE_PHENOTYPE": spelled("g1 H2 HPO"),
    "GENE_PATHWAY": spelled("g1 R01 TAS Reactome", "g2 R01 IEA Reactome"),
    "GENE_EXPRESSED_ANATOMY": spelled(
        "g1 U1 gold_quality Bgee", "g2 C1 silver_quality Bgee", "g2 U1 silver_quality Bgee",
        "g3 U2 bronze_quality Bgee",
    ),
    "DIS_PHENOTYPE": spelled("M1 H2 PCS HPO", "M2 H2 TAS HPO", "M1 H1 IEA HPO", "M2 H1 PCS HPO"),
    "DIS_DRUG": spelled("M3 D01 DrugCentral", "M3 D11 DrugCentral"),
    "IS_A": spelled(
        "G2 G1 GO", "G3 G1 GO", "H2 H1 HPO", "H3 H1 HPO", "M2 M1 MONDO", "M3 M1 MONDO", "U2 U1 UBERON", "U3 U1 UBERON",
        "C1 U1 UBERON",
    ),
    "PART_OF": spelled("G2 G1 GO", "U2 U1 UBERON"),
}  # fmt: skip
NEGATIVE = {
    "GENE_GO": spelled("g1 G1 IDA GO"),
    "GENE_DIS": spelled(
        "g2 M2 Refuted_Evidence GenCC", "g2 M3 Disputed_Evidence GenCC", "g3 M3 No_Known_Disease_Relationship GenCC",
        "g1 M3 Disputed ClinGen",
    ),
    "GENE_EXPRESSED_ANATOMY": spelled("g1 U2 gold_quality Bgee"),
    "DIS_PHENOTYPE": spelled("M2 H1 TAS HPO"),
    "DIS_DRUG": spelled("M1 D02 DrugCentral"),
}  # fmt: skip
# Only with --include. What more a relation gets, or what it has at all.
INCLUDED = {
    "GENE_NEIGHBORHOOD_GENE": spelled("g1 g2 100 STRING", "g2 g1 100 STRING"),
    "GENE_FUSION_GENE": spelled("g1 g2 200 STRING", "g2 g1 200 STRING"),
    "GENE_COOCCURRENCE_GENE": spelled("g1 g2 300 STRING", "g2 g1 300 STRING"),
    "GENE_COEXPRESSION_GENE": spelled("g1 g2 400 STRING", "g2 g1 400 STRING"),
    "GENE_EXPERIMENT_GENE": spelled("g1 g3 700 STRING", "g3 g1 700 STRING"),
    "GENE_DATABASE_GENE": spelled("g1 g3 650 STRING", "g3 g1 650 STRING", "g2 g3 650 STRING", "g3 g2 650 STRING"),
    "GENE_TEXTMINING_GENE": spelled("g1 g3 300 STRING", "g3 g1 300 STRING", "g2 g3 300 STRING", "g3 g2 300 STRING"),
    "GENE_PHENOTYPE.any": spelled("g2 H2 HPO", "g3 H1 HPO", "g1 H1 HPO"),
    "sider": spelled("D02 H1 SIDER", "D02 H2 SIDER"),
    "ctd": {
        ("NCBIGENE:990002", "KEGG:M99001"): ("", "CTD"),
        ("NCBIGENE:990003", "KEGG:hsa99001"): ("", "CTD"),
    },
    "kegg": {("NCBIGENE:990003", "KEGG:hsa99002"): ("", "KEGG")},
}  # fmt: skip
LEDGER = {
    "GENE_GENE": {"read": 7, "kept": 2, "duplicate": 3, "unmapped_head": 1, "unmapped_tail": 1},
    "GENE_DIS": {
        "read": 10, "kept": 3, "duplicate": 1, "filtered:not_asserted": 4, "obsolete": 1, "unmapped_head": 1,
    },
    "GENE_DIS.ClinGen": {
        "read": 6, "kept": 1, "duplicate": 2, "filtered:not_asserted": 2, "filtered:ruled_line": 1,
    },
    "GENE_DIS.DISEASES": {
        "read": 8, "kept": 2, "duplicate": 1, "filtered:keyword": 1, "filtered:no_star": 1, "filtered:not_a_protein": 1,
        "filtered:other_vocabulary": 1, "unmapped_tail": 1,
    },
    "GENE_GO": {
        "read": 13, "kept": 3, "duplicate": 2, "negated": 3, "filtered:database": 1, "filtered:no_data": 1,
        "filtered:taxon": 1, "obsolete": 1, "unmapped_head": 1,
    },
    "DIS_PHENOTYPE": {
        "read": 11, "kept": 4, "duplicate": 1, "negated": 2, "filtered:aspect": 1, "filtered:seen_in_nobody": 1,
        "unmapped_head": 2,
    },
    "GENE_PHENOTYPE": {"read": 4, "kept": 1, "filtered:not_mendelian": 3},
    "GENE_EXPRESSED_ANATOMY": {
        "read": 7, "kept": 3, "duplicate": 1, "filtered:not_present": 2, "unmapped_head": 1,
    },
}  # fmt: skip


def by_relation(edges):
    found = {}
    for (head, relation, tail), value in edges.items():
        found.setdefault(relation, {})[head, tail] = value
    return found


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return write_sources(tmp_path_factory.mktemp("made-up"))


@pytest.fixture(scope="module")
def graph(sources, tmp_path_factory):
    """The graph of all made-up files, as it is built by default."""
    return generate_2026(sources, tmp_path_factory.mktemp("default") / "graph")


@pytest.fixture(scope="module")
def everything(sources, tmp_path_factory):
    """The graph with all that is built only where it is asked for."""
    return generate_2026(sources, tmp_path_factory.mktemp("all") / "graph", included=tuple(INCLUDED))


# --------------------------------------------------------------------------------------------------- made-up files


def test_there_is_a_file_of_every_source(sources):
    assert set(sources) == set(CATALOGUE.sources)


def test_every_edge_is_as_counted_by_hand(graph):
    assert by_relation(graph.edges) == POSITIVE
    assert by_relation(graph.negatives) == NEGATIVE


@pytest.mark.parametrize("rule", LEDGER)
def test_every_row_is_accounted_for_as_counted_by_hand(graph, rule):
    assert graph.ledger[rule] == LEDGER[rule]


def test_what_is_asked_for_comes_on_top(everything):
    expected = {relation: dict(edges) for relation, edges in POSITIVE.items()}
    relations = {"GENE_PHENOTYPE.any": "GENE_PHENOTYPE", "sider": "DRUG_PHENOTYPE"}
    relations |= {"ctd": "GENE_PATHWAY", "kegg": "GENE_PATHWAY"}
    for name, edges in INCLUDED.items():
        expected.setdefault(relations.get(name, name), {}).update(edges)
    assert by_relation(everything.edges) == expected
    assert by_relation(everything.negatives) == NEGATIVE


def test_claims_that_are_stated_and_denied_are_listed(graph):
    conflicts = {(row[0], row[2]) for row in graph.rows("conflicts.tsv")}
    pairs = ["g1 G1", "g1 M3", "g2 M3", "g3 M3", "M2 H1"]
    assert conflicts == {tuple(long(end) for end in pair.split()) for pair in pairs}


def test_ids_that_lead_nowhere_are_listed(graph):
    assert {row[0] for row in graph.rows("ids_no_mapping.tsv")} == {
        "DECIPHER:9909", "DOID:9999", "ENSEMBL:ENSG99000000099", "ENSEMBL:ENSP99000000099", "GO:9900009", "HGNC:99099",
        "MIM:990004", "MONDO:9900009", "UMLS:C9999999", "UNIPROT:X99009",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("quality", "pairs"),
    [
        ("low", "g1M1 g2M1 g3M2 g3M1 g3M3 g1M3 g2M3"),
        ("medium", "g1M1 g2M1 g3M1 g3M3 g1M3 g2M3"),
        ("high", "g1M1 g3M3"),
    ],
)
def test_grades_of_three_sources_are_one_scale(sources, tmp_path, quality, pairs):
    built = generate_2026(sources, tmp_path / "graph", quality=quality, relations=("GENE_DIS",))
    assert built.pairs("GENE_DIS") == {(long(pair[:2]), long(pair[2:])) for pair in pairs.split()}
    denied = {"low": "g2M2 g2M3 g3M3 g1M3", "medium": "g2M2 g2M3 g1M3", "high": "g2M2"}[quality]
    assert {(head, tail) for head, _, tail in built.negatives} == {
        (long(pair[:2]), long(pair[2:])) for pair in denied.split()
    }


@pytest.mark.parametrize(("quality", "pairs"), [("medium", {"g1g3", "g2g3"}), ("high", {"g1g3", "g2g3"})])
def test_cut_offs_of_string_are_strict(sources, tmp_path, quality, pairs):
    built = generate_2026(sources, tmp_path / "graph", quality=quality, relations=("GENE_GENE",), directed=False)
    assert {(head, tail) for head, tail in built.pairs("GENE_GENE")} == {
        (long(pair[:2]), long(pair[2:])) for pair in pairs
    }
    assert set(by_relation(built.edges)["GENE_GENE"].values()) == {("701", "STRING")}


@pytest.mark.parametrize(
    ("source", "write_old", "layout"),
    [
        ("gencc.gene_disease", lambda folder: write_gencc(folder, old=True), "by uuid (to 2026)"),
        ("hpo.disease_phenotype", lambda folder: write_hpoa(folder, old=True), "hpoa, header in a comment (to 2021)"),
    ],
)
def test_older_layouts_give_the_same_graph(sources, graph, tmp_path, source, write_old, layout):
    older = {**sources, source: write_old(tmp_path)}
    built = generate_2026(older, tmp_path / "graph")
    assert built.edges == graph.edges
    assert built.negatives == graph.negatives
    assert built.ledger == graph.ledger
    assert built.manifest["inputs"][source]["layout"] == layout
    assert graph.manifest["inputs"][source]["layout"] != layout


def test_a_gene_phenotype_file_without_diseases_is_refused(sources, tmp_path):
    rows = [("ncbi_gene_id", "gene_symbol", "hpo_id", "hpo_name"), ("990001", "AAA1", "HP:9900001", "x")]
    path = write_tabbed(tmp_path / "genes_to_phenotype.txt", rows)
    with pytest.raises(InputError, match=r"fits no known layout of hpo\.gene_phenotype"):
        generate_2026({**sources, "hpo.gene_phenotype": path}, tmp_path / "graph")


def test_too_few_rows_stop_a_build(sources, tmp_path):
    with pytest.raises(InputError, match="expected 8,000,000 to 16,000,000"):
        generate_graph(CATALOGUE, sources, tmp_path / "graph", options=GraphOptions(relations=("GENE_GENE",)))
    assert not (tmp_path / "graph").exists()


# ---------------------------------------------------------------------------------------------------- names, dates


def test_nodes_have_the_names_of_their_sources(everything):
    names = dict(everything.rows("node_names.tsv"))
    wanted = {"NCBIGENE:990001": "AAA1", "PUBCHEM.COMPOUND:9902": "drug two", "REACTOME:R-HSA-9901": "made-up pathway"}
    wanted |= {"KEGG:M99001": "module", "CL:9900001": "made-up CL:9900001", "MONDO:9900003": "made-up MONDO:9900003"}
    assert wanted.items() <= names.items()
    nameless = {node for node, _ in everything.rows("ALL_nodes.csv")} - names.keys()
    # A drug that stands for several compounds names none of them.
    assert nameless == {"KEGG:hsa99002", "PUBCHEM.COMPOUND:9901", "PUBCHEM.COMPOUND:9911"}


def test_a_dump_without_names_gives_the_same_edges_and_a_note(sources, graph, tmp_path):
    text = sources["drugcentral.dump"].read_text(encoding="utf-8")
    start, end = text.index("COPY public.structures"), text.index("COPY public.omop")
    dump = write(tmp_path / "drugcentral.dump.sql", (text[:start] + text[end:]).splitlines())
    built = generate_2026({**sources, "drugcentral.dump": dump}, tmp_path / "graph")
    assert built.edges == graph.edges
    assert "drugcentral.dump.sql: has no table structures, which is taken as empty" in built.manifest["notes"]
    broken = write(dump, (text[:end]).splitlines())
    with pytest.raises(InputError, match="no COPY block of table"):
        generate_2026({**sources, "drugcentral.dump": broken}, tmp_path / "graph")


def test_a_grade_that_is_not_known_comes_last_and_is_noted(sources, graph, tmp_path):
    text = sources["hpo.disease_phenotype"].read_text(encoding="utf-8")
    path = write(tmp_path / "phenotype.hpoa", text.replace("\tPCS\t", "\tXYZ\t").splitlines())
    built = generate_2026({**sources, "hpo.disease_phenotype": path}, tmp_path / "graph")
    assert built.edges[long("M1"), "DIS_PHENOTYPE", long("H2")] == ("IEA", "HPO")
    rows = [line.split("\t") for line in text.splitlines() if "\tPCS\t" in line]
    taken = sum(row[2] == "" and row[10] == "P" and not row[7].startswith("0/") for row in rows)
    words = (
        f"DIS_PHENOTYPE: {taken} rows of phenotype.hpoa have a score that is not known, such as 'XYZ', and come last"
    )
    assert taken > 1
    assert words in built.manifest["notes"]
    assert not any("is not known" in note for note in graph.manifest["notes"])


def test_an_edge_has_its_earliest_date(graph):
    dates = {(head, tail): date for head, _, tail, date in graph.rows("edge_dates.tsv")}
    denied = {(head, tail): date for head, _, tail, date in graph.rows("TN_edge_dates.tsv")}
    assert dates == {
        tuple(long(end) for end in edge.split()): date
        for edge, date in {
            "g1 M1": "2016-01-01", "g2 M1": "2020-12-31", "g3 M2": "2019-01-01", "g3 M1": "2023-01-01",
            "g3 M3": "2021-01-01", "g1 G2": "2019-01-01", "g2 G2": "2022-02-02", "g3 G2": "2022-02-02",
            "M1 H2": "2009-02-17", "M2 H2": "2026-08-05", "M2 H1": "2020-01-01",
        }.items()
    }  # fmt: skip
    assert denied == {
        tuple(long(end) for end in edge.split()): date
        for edge, date in {
            "g2 M2": "2018-12-31", "g2 M3": "2019-01-01", "g3 M3": "2019-01-01", "g1 M3": "2022-01-01",
            "g1 G1": "2021-01-01", "M2 H1": "2026-08-05",
        }.items()
    }  # fmt: skip


# ----------------------------------------------------------------------------------------------- what is used when


def test_sources_with_narrow_terms_are_used_only_where_they_are_asked_for():
    by_default = set(wanted_sources(CATALOGUE, GraphOptions()))
    assert set(CATALOGUE.sources) - by_default == {*OPT_IN, "medgen.hpo"}
    reuse = {CATALOGUE.licences[CATALOGUE.sources[name].licence].reuse for name in by_default}
    assert reuse == {"open", "share-alike"}
    with_sider = set(wanted_sources(CATALOGUE, GraphOptions(included=("sider",))))
    assert with_sider - by_default == {"sider.side_effects", "medgen.hpo"}


def test_open_terms_leave_only_drugcentral_out():
    by_default = set(wanted_sources(CATALOGUE, GraphOptions()))
    assert by_default - set(wanted_sources(CATALOGUE, GraphOptions(licence="open"))) == {"drugcentral.dump"}


def test_sources_that_nobody_may_pass_on_are_never_there():
    assert not any("disgenet" in text.lower() for text in CATALOGUE.sources)
    closed = {
        name for name, source in CATALOGUE.sources.items() if CATALOGUE.licences[source.licence].reuse == "closed"
    }
    assert closed == {"kegg.gene_pathway"}


# ------------------------------------------------------------------------------------------------------ real files


def read_real(path):
    """The rows of a gzipped tab-separated file whose comments begin with # or !."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t") for line in lines if line[0] not in "#!"]


def mondo_of(diseases):
    return {disease: f"MONDO:{9_910_000 + number:07d}" for number, disease in enumerate(sorted(diseases))}


@pytest.fixture(scope="module")
def real(shared, tmp_path_factory):
    """Real files in layouts of 2026, with maps made up for those that could not be had; and the graph of them."""
    data, folder = shared / "data", tmp_path_factory.mktemp("real")
    hpo = data / "hpo" / "2025-01-16"
    sources = {
        "go.ontology": data / "go" / "go-basic.export.obo.gz",
        "go.annotations": data / "go" / "goa_human.export.gaf.gz",
        "uniprot.id_mapping": data / "ids" / "HUMAN_9606_idmapping_selected.export.tab.gz",
        "string.entrez": data / "ids" / "human.entrez_2_string.export.tsv.gz",
        "stitch.links": data / "stitch" / "9606.protein_chemical.links.export.tsv.gz",
        "hpo.ontology": hpo / "hp.obo.gz",
        "hpo.disease_phenotype": hpo / "phenotype.hpoa.gz",
        "hpo.gene_phenotype": hpo / "genes_to_phenotype.txt.gz",
        "uberon.ontology": data / "uberon" / "musculoskeletal.obo.gz",
        "bgee.expression": data / "bgee" / "Homo_sapiens_expr_simple.export.tsv.gz",
        "sider.side_effects": data / "sider" / "meddra_all_se.tsv.gz",
        "mondo.ontology": write_ontology(folder / "mondo.obo", "MONDO"),
    }
    hub = mondo_of({row[0] for row in read_real(hpo / "phenotype.hpoa.gz")[1:]})
    rows = [("subject_id", "predicate_id", "object_id")]
    rows += [(mondo, "skos:exactMatch", disease.replace("ORPHA", "Orphanet")) for disease, mondo in hub.items()]
    sources["mondo.mappings"] = write_tabbed(folder / "mondo.sssom.tsv", rows)
    rows = [("ncbi_gene_id", "gene_symbol", "association_type", "disease_id", "source")]
    for gene, symbol, *_, disease in read_real(hpo / "genes_to_phenotype.txt.gz")[1:]:
        kind = "MENDELIAN" if disease.startswith("OMIM") else "UNKNOWN"
        rows.append((f"NCBIGene:{gene}", symbol, kind, disease, "x"))
    sources["hpo.gene_disease"] = write_tabbed(folder / "genes_to_disease.txt", dict.fromkeys(rows))
    rows = [("hgnc_id", "symbol", "name", "entrez_id", "ensembl_gene_id")]
    for cells in read_real(sources["uniprot.id_mapping"]):
        genes, ensembl = ([one.strip() for one in cells[place].split(";") if one.strip()] for place in (2, 18))
        rows += [("HGNC:99", "x", "x", gene, one) for gene in genes for one in ensembl]
    sources["hgnc.genes"] = write_tabbed(folder / "hgnc_complete_set.txt", rows)
    lines = ["#CUI|SDUI|HpoStr|MedGenStr|MedGenStr_SAB|STY|"]
    for term in oracle.read_terms(sources["hpo.ontology"]):
        cuis = [xref.removeprefix("UMLS:") for xref in term.xrefs if xref.startswith("UMLS:")]
        lines += [f"{cui}|{term.identifier}|x|x|HPO|x|" for cui in cuis]
    sources["medgen.hpo"] = write(folder / "MedGen_HPO_Mapping.txt", lines)
    return sources, generate_2026(sources, folder / "graph", included=("sider",)), hub


@pytest.mark.real
def test_pairs_of_real_files_are_those_of_edition_2020(real):
    """Numbers that an independent calculation gave for the same files and an equal recipe."""
    _, graph, _ = real
    counts = Counter(relation for _, relation, _ in graph.edges)
    assert counts["GENE_DRUG"] == 10_595
    assert counts["GENE_EXPRESSED_ANATOMY"] == 285_764
    trees = {"IS_A.HPO": 23_392, "IS_A.GO": 70_058, "IS_A.UBERON": 4_545, "PART_OF.GO": 6_997, "PART_OF.UBERON": 2_326}
    assert {name: graph.given[name] for name in trees} == trees


@pytest.mark.real
def test_annotations_of_real_genes_are_those_of_2020_without_those_that_say_nothing(real):
    sources, graph, _ = real
    genes = {row[0]: row[2].split("; ") for row in read_real(sources["uniprot.id_mapping"]) if row[2]}
    terms = oracle.read_terms(sources["go.ontology"])
    live = {
        one: term.identifier for term in terms if not term.obsolete for one in (*term.alternatives, term.identifier)
    }
    live |= {term.identifier: live[term.replaced_by[0]] for term in terms if term.obsolete and term.replaced_by}
    said, nothing = set(), set()
    for row in read_real(sources["go.annotations"]):
        pairs = {(f"NCBIGENE:{gene}", live[row[4]]) for gene in genes.get(row[1], ()) if row[4] in live}
        (nothing if row[6] == "ND" else said).update(pairs)
    assert len(said | nothing) == 290_563  # as counted independently
    assert len(nothing - said) > 1_000
    assert graph.pairs("GENE_GO") == said


@pytest.mark.real
def test_phenotypes_of_real_diseases_and_genes_are_those_of_a_plain_reading(real):
    sources, graph, hub = real
    live = oracle.read_terms(sources["hpo.ontology"])
    terms = {one: term.identifier for term in live for one in (*term.alternatives, term.identifier)}
    rows = [row for row in read_real(sources["hpo.disease_phenotype"])[1:] if row[10] == "P"]
    denied = {(hub[row[0]], terms[row[3]]) for row in rows if row[2] == "NOT"}
    stated = {(hub[row[0]], terms[row[3]]) for row in rows if row[2] != "NOT" and not row[7].startswith("0/")}
    assert graph.pairs("DIS_PHENOTYPE") == stated
    assert {(head, tail) for head, relation, tail in graph.negatives if relation == "DIS_PHENOTYPE"} == denied
    assert len(denied) > 500
    assert graph.ledger["DIS_PHENOTYPE"]["filtered:seen_in_nobody"] == sum(
        row[2] != "NOT" and row[7].startswith("0/") for row in rows
    )
    pairs = read_real(sources["hpo.gene_phenotype"])[1:]
    assert graph.pairs("GENE_PHENOTYPE") == {
        (f"NCBIGENE:{row[0]}", terms[row[2]]) for row in pairs if row[5].startswith("OMIM")
    }
    years = Counter(date[:4] for _, relation, _, date in graph.rows("edge_dates.tsv") if relation == "DIS_PHENOTYPE")
    assert {"2009", "2024"} <= years.keys()


@pytest.mark.real
def test_real_side_effects_are_those_of_preferred_terms(real):
    sources, graph, _ = real
    terms = oracle.read_terms(sources["hpo.ontology"])
    signs = {}
    for term in terms:
        for xref in term.xrefs:
            if xref.startswith("UMLS:") and not term.obsolete:
                signs.setdefault(xref.removeprefix("UMLS:"), set()).add(term.identifier)
    expected = {
        (f"PUBCHEM.COMPOUND:{int(stereo[4:])}", sign)
        for _, stereo, _, kind, cui, _ in read_real(sources["sider.side_effects"])
        if kind == "PT"
        for sign in signs.get(cui, ())
    }
    assert len(expected) > 50_000
    assert graph.pairs("DRUG_PHENOTYPE") == expected


@pytest.mark.real
@pytest.mark.parametrize(
    ("source", "path", "layout"),
    [
        ("string.links", "string/excerpts/9606.protein.links.full.v12.0.txt.gz", "full links"),
        ("string.links", "string/excerpts/10090.protein.links.detailed.txt", "links, with or without channels"),
        ("hpo.disease_phenotype", "hpo/excerpts/phenotype.2025-05-06.excerpt.hpoa", "hpoa, plain header (from 2021)"),
        ("hpo.disease_phenotype", "hpo/2021-02-08/phenotype.hpoa.gz", "hpoa, header in a comment (to 2021)"),
        ("hpo.gene_phenotype", "hpo/excerpts/genes_to_phenotype.2025.excerpt.txt", "6 columns (from June 2023)"),
        ("ctd.gene_pathway", "openbiolink-fixtures/CDT_gene_pathway.tsv", "header in a comment"),
        ("stitch.actions", "openbiolink-fixtures/STITCH_gene_drug_actions.tsv", "actions"),
    ],
)
def test_real_excerpts_have_the_layout_that_is_declared(shared, source, path, layout):
    lines = first_lines(shared / "data" / path, lambda _: None, limit=500)
    assert find_layout(lines, name=source, source=CATALOGUE.sources[source], place=path).layout.name == layout
