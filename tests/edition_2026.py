"""Made-up source files in every layout of edition 2026, with the odd rows that real files are known for.

All ids are invented: their numbers begin with 99. Three genes, 990001 to 990003, are AAA1 to AAA3 everywhere.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from openbiolink.graph import GraphOptions, generate_graph
from openbiolink.sources.catalogue import load_catalogue
from source_files import WrittenGraph, read_graph, write, write_id_mapping, write_obo, write_tabbed

P1, P2, P3, P12, P99 = (f"9606.ENSP990000000{number:02d}" for number in (1, 2, 3, 12, 99))
CHANNELS = ["neighborhood", "fusion", "cooccurence", "coexpression", "experimental", "database", "textmining"]
GENCC_NEW = [
    "sgc_id", "version_number", "gene_curie", "gene_symbol", "disease_curie", "disease_title", "classification_title",
    "moi_title", "submitter_title", "submitted_as_date", "submitted_as_notes", "submitted_as_pmids",
]  # fmt: skip
GENCC_OLD = [
    "uuid", "gene_curie", "gene_symbol", "disease_curie", "disease_title", "disease_original_curie",
    "disease_original_title", "classification_curie", "classification_title", "moi_curie", "moi_title",
    "submitter_curie", "submitter_title", "submitted_as_hgnc_id", "submitted_as_hgnc_symbol",
    "submitted_as_disease_id", "submitted_as_disease_name", "submitted_as_moi_id", "submitted_as_moi_name",
    "submitted_as_submitter_id", "submitted_as_submitter_name", "submitted_as_classification_id",
    "submitted_as_classification_name", "submitted_as_date", "submitted_as_public_report_url", "submitted_as_notes",
    "submitted_as_pmids", "submitted_as_assertion_criteria_url", "submitted_as_submission_id", "submitted_run_date",
]  # fmt: skip
HPOA_NEW = [
    "database_id", "disease_name", "qualifier", "hpo_id", "reference", "evidence", "onset", "frequency", "sex",
    "modifier", "aspect", "biocuration",
]  # fmt: skip
HPOA_OLD = [
    "#DatabaseID", "DiseaseName", "Qualifier", "HPO_ID", "Reference", "Evidence", "Onset", "Frequency", "Sex",
    "Modifier", "Aspect", "Biocuration",
]  # fmt: skip


def quoted(cells: Iterable[str], separator: str) -> str:
    """A line of quoted cells, in which a cell may hold the separator, a line end, or a doubled quotation mark."""
    return separator.join('"' + cell.replace('"', '""') + '"' for cell in cells)


# ---------------------------------------------------------------------------------------------------------- genes


def write_hgnc(folder: Path) -> Path:
    rows = [
        [f"HGNC:9900{number}", f"AAA{number}", f"made-up gene {number}", f"99000{number}", f"ENSG9900000000{number}"]
        for number in (1, 2, 3)
    ]
    header = ["hgnc_id", "symbol", "name", "entrez_id", "ensembl_gene_id"]
    without_gene = ["HGNC:99099", "AAA99", "no gene of NCBI", "", "ENSG99000000099"]
    cells = [[*row[:3], "Approved", '"A|B"', *row[3:], ""] for row in [*rows, without_gene]]
    return write_tabbed(
        folder / "hgnc_complete_set.txt", [[*header[:3], "status", "alias_symbol", *header[3:], "vega_id"], *cells]
    )


def write_entrez(folder: Path) -> Path:
    rows = [
        ("9606", "990001", P1), ("9606", "990002", P2), ("9606", "990003", P3), ("9606", "990001|990002", P12),
        ("10090", "990009", "10090.ENSMUSP99000000001"),
    ]  # fmt: skip
    lines = ("\t".join(row) for row in rows)
    return write(folder / "all_organisms.entrez_2_string.tsv", ["# NCBI taxid / entrez / STRING ", *lines])


def write_accessions(folder: Path) -> Path:
    genes = {"X99001": "990001", "X99002": "990002; 990003", "X99009": "", "X99011": "990001"}
    return write_id_mapping(folder, genes, {"X99001": "ENSG99000000001.14"})


# -------------------------------------------------------------------------------------------- STRING and STITCH


def write_channels(folder: Path) -> Path:
    """Every pair of proteins, its channels that have evidence, and the combined score."""
    rows: list[tuple[str, str, dict[str, int], int]] = [
        (P1, P2, {"coexpression": 400}, 400),
        (P2, P1, {"coexpression": 400}, 400),
        (P1, P3, {"experimental": 700}, 700),
        (P1, P99, {"textmining": 900}, 900),
        (P99, P1, {"textmining": 900}, 900),
        (P12, P3, {"database": 650, "textmining": 300}, 701),
        (P12, P1, {"neighborhood": 100, "fusion": 200, "cooccurence": 300}, 300),
    ]
    lines = (
        " ".join([one, other, *(str(found.get(channel, 0)) for channel in CHANNELS), str(combined)])
        for one, other, found, combined in rows
    )
    header = " ".join(["protein1", "protein2", *CHANNELS, "combined_score"])
    return write(folder / "9606.protein.links.detailed.v12.5.txt", [header, *lines])


def write_regulation(folder: Path) -> Path:
    rows = [f"{P2} {P1} 800", f"{P1} {P99} 500"]
    return write(folder / "9606.protein.regulatory.links.v12.5.txt", ["protein1 protein2 combined_score", *rows])


def write_chemical_links(folder: Path) -> Path:
    rows = [("CIDs00009901", P1, "701"), ("CIDm00009901", P1, "900"), ("CIDs00009902", P99, "900")]
    return write_tabbed(
        folder / "9606.protein_chemical.links.v5.0.tsv", [("chemical", "protein", "combined_score"), *rows]
    )


def write_chemical_actions(folder: Path) -> Path:
    drug = "CIDs00009901"
    modes = ["activation", "catalysis", "expression", "inhibition", "pred_bind", "reaction"]
    rows = [(drug, P1, mode, "", "f", "700") for mode in modes]
    rows += [(drug, P1, "binding", "ac", "t", "701"), (drug, P2, "binding", "inhibition", "t", "300")]
    rows += [(P1, drug, "activation", "", "f", "900"), ("CIDm00009901", P1, "binding", "activation", "t", "900")]
    header = ("item_id_a", "item_id_b", "mode", "action", "a_is_acting", "score")
    return write_tabbed(folder / "9606.actions.v5.0.tsv", [header, *rows])


# --------------------------------------------------------------------------------------------------- ontologies


def tree(prefix: str) -> dict[str, list[str]]:
    """A root, two terms below it, an obsolete one with a successor and one without."""
    root, child, other, moved, gone = (f"{prefix}:990000{number}" for number in (1, 2, 3, 8, 9))
    part = f'relationship: part_of {root} {{qual="y"}} ! made-up'
    return {
        root: [],
        child: [f"is_a: {root} ! made-up", part, f"alt_id: {prefix}:9900012", "xref: MIM:990001"],
        other: [f"is_a: {root}", "is_a: BFO:0000001", "relationship: part_of BFO:0000001"],
        "BFO:0000001": [f"is_a: {root}", f"relationship: part_of {root}"],
        moved: [f"is_a: {root}", f"relationship: part_of {root}", "is_obsolete: true", f"replaced_by: {child}"],
        gone: ["is_obsolete: true", f"alt_id: {prefix}:9900019"],
    }


def write_ontology(path: Path, prefix: str, more: Mapping[str, list[str]] | None = None) -> Path:
    write_obo(path, tree(prefix) | dict(more or {}))
    text = path.read_text(encoding="utf-8")
    typedef = f"[Typedef]\nid: part_of\nname: part of\nis_a: {prefix}:9900001\n\n"
    place = text.index(f"[Term]\nid: {prefix}:9900003")
    path.write_bytes((text[:place] + typedef + text[place:]).encode())
    return path


# ---------------------------------------------------------------------------------------------------- annotations


def write_annotations_of_genes(folder: Path) -> Path:
    """GAF 2.2: accession, relation, term, evidence, date, taxon, database."""
    human = "taxon:9606"
    rows = [
        ("X99001", "enables", "GO:9900002", "IDA", "20200101", human, "UniProtKB"),
        ("X99001", "enables", "GO:9900002", "IEA", "20190101", human, "UniProtKB"),
        ("X99001", "NOT|involved_in", "GO:9900001", "IDA", "20210101", human, "UniProtKB"),
        ("X99002", "involved_in", "GO:9900012", "IEA", "20220202", human, "UniProtKB"),
        ("X99001", "located_in", "GO:9900008", "TAS", "20230303", "taxon:9606|taxon:562", "UniProtKB"),
        ("X99001", "enables", "GO:9900003", "IDA", "20200101", "taxon:10090", "UniProtKB"),
        ("X99001", "NOT|enables", "GO:9900003", "IDA", "20200101", "taxon:10090", "UniProtKB"),
        ("X99011", "involved_in", "GO:9900001", "ND", "20200101", human, "UniProtKB"),
        ("CPX-9901", "enables", "GO:9900002", "IDA", "20200101", human, "ComplexPortal"),
        ("CPX-9901", "NOT|enables", "GO:9900002", "IDA", "20200101", human, "ComplexPortal"),
        ("X99009", "enables", "GO:9900002", "IDA", "20200101", human, "UniProtKB"),
        ("X99001", "enables", "GO:9900009", "IDA", "20200101", human, "UniProtKB"),
        ("X99011", "", "GO:9900001", "NAS", "", human, "UniProtKB"),
    ]
    lines = []
    for accession, relation, term, evidence, date, taxon, base in rows:
        cells = [base, accession, "AAA1", relation, term, "PMID:1", evidence, "", "P", "x", "", "protein", taxon, date]
        lines.append("\t".join([*cells, "TEST", "", ""]))
    comments = ["!gaf-version: 2.2", "!", "!generated-by: made-up", "!date-generated: 2026-08-05T01:02", "!"]
    return write(folder / "HUMAN-uniprot.gaf", [*comments, *lines[:4], "!in the middle", *lines[4:]])


def write_hpoa(folder: Path, *, old: bool = False) -> Path:
    """Disease, qualifier, phenotype, evidence, frequency, aspect, curation, in the newer or the older layout."""
    rows = [
        ("OMIM:990001", "", "HP:9900002", "PCS", "1/2", "P", "HPO:a[2015-02-03];HPO:b[2012-01-02]"),
        ("OMIM:990001", "", "HP:9900002", "IEA", "", "P", "HPO:iea[2009-02-17]"),
        ("ORPHA:9902", "", "HP:9900012", "TAS", "HP:0040281", "P", "ORPHA:orphadata[2026-08-05]"),
        ("ORPHA:9902", "NOT", "HP:9900001", "TAS", "", "P", "ORPHA:orphadata[2026-08-05]"),
        ("OMIM:990001", "NOT", "HP:9900001", "TAS", "", "H", "HPO:a[2020-01-01]"),
        ("DECIPHER:9909", "", "HP:9900001", "TAS", "", "P", "HPO:a[2020-01-01]"),
        ("OMIM:990001", "", "HP:9900001", "IEA", "100/100", "P", "HPO:a"),
        ("OMIM:990001", "", "HP:9900003", "TAS", "", "I", "HPO:a[2020-01-01]"),
        ("OMIM:990001", "", "HP:9900003", "PCS", "0/3", "P", "HPO:a[2020-01-01]"),
        ("OMIM:990004", "", "HP:9900001", "PCS", "", "P", "HPO:a[2020-01-01]"),
        ("OMIM:PS990005", "", "HP:9900001", "PCS", "10%", "P", "HPO:a[2020-01-01]"),
    ]
    lines = [
        f'{disease}\t"made-up\t{call}\t{term}\tPMID:1\t{evidence}\t\t{often}\t\t\t{aspect}\t{by}'
        for disease, call, term, evidence, often, aspect, by in rows
    ]
    if old:
        comments = ["#description: made-up", "#date: 2020-03-27", "#tracker: x", "#HPO-version: x"]
        return write(folder / "phenotype.hpoa", [*comments, "\t".join(HPOA_OLD), *lines])
    comments = ["#description: made-up", "#version: 2026-06-23", "#tracker: x", "#hpo-version: x"]
    return write(folder / "phenotype.hpoa", [*comments, "\t".join(HPOA_NEW), *lines])


def write_gene_phenotypes(folder: Path) -> Path:
    rows = [
        ("990001", "AAA1", "HP:9900002", "x", "-", "OMIM:990001"),
        ("990002", "AAA2", "HP:9900002", "x", "1/2", "OMIM:990002"),
        ("990003", "AAA3", "HP:9900001", "x", "-", "ORPHA:9902"),
        ("990001", "AAA1", "HP:9900001", "x", "-", "OMIM:990002"),
    ]
    header = ("ncbi_gene_id", "gene_symbol", "hpo_id", "hpo_name", "frequency", "disease_id")
    return write_tabbed(folder / "genes_to_phenotype.txt", [header, *rows])


def write_genes_of_diseases(folder: Path) -> Path:
    rows = [
        ("NCBIGene:990001", "AAA1", "MENDELIAN", "OMIM:990001", "x"),
        ("NCBIGene:990002", "AAA2", "POLYGENIC", "OMIM:990002", "x"),
        ("NCBIGene:990003", "AAA3", "UNKNOWN", "ORPHA:9902", "x"),
    ]
    header = ("ncbi_gene_id", "gene_symbol", "association_type", "disease_id", "source")
    return write_tabbed(folder / "genes_to_disease.txt", [header, *rows])


# -------------------------------------------------------------------------------------------- genes and diseases


def write_sssom(folder: Path) -> Path:
    rows = [
        ("MONDO:9900001", "skos:exactMatch", "OMIM:990001"),
        ("MONDO:9900001", "skos:exactMatch", "UMLS:C9900001"),
        ("MONDO:9900001", "skos:broadMatch", "OMIM:990004"),
        ("MONDO:9900002", "skos:exactMatch", "Orphanet:9902"),
        ("MONDO:9900002", "skos:exactMatch", "OMIMPS:990005"),
        ("MONDO:9900003", "skos:exactMatch", "DOID:9903"),
        ("MONDO:9900003", "skos:exactMatch", "UMLS:C9900003"),
        ("MONDO:9900003", "skos:relatedMatch", "DOID:9999"),
    ]
    header = ("subject_id", "subject_label", "predicate_id", "object_id", "object_label", "mapping_justification")
    lines = (f"{mondo}\tx\t{match}\t{other}\tx\tsemapv:x" for mondo, match, other in rows)
    comments = ["# curie_map:", "#   MONDO: http://example.org/MONDO_", "# license: made-up"]
    return write(folder / "mondo.sssom.tsv", [*comments, "\t".join(header), *lines])


def write_gencc(folder: Path, *, old: bool = False) -> Path:
    """Gene, disease, classification and date, every cell quoted, with line ends in the notes."""
    rows = [
        ("HGNC:99001", "MONDO:9900001", "Definitive", "2018-03-30 13:31:56"),
        ("HGNC:99001", "MONDO:9900001", "Limited", "2016-01-01"),
        ("HGNC:99002", "MONDO:9900002", "Refuted Evidence", "2019-01-01"),
        ("HGNC:99002", "MONDO:9900003", "Disputed Evidence", "2019-01-01"),
        ("HGNC:99003", "MONDO:9900003", "No Known Disease Relationship", "2019-01-01"),
        ("HGNC:99003", "MONDO:9900001", "Animal Model Only", "2019-01-01"),
        ("HGNC:99003", "MONDO:9900008", "Supportive", "2019-01-01"),
        ("HGNC:99099", "MONDO:9900001", "Strong", "2019-01-01"),
        ("HGNC:99002", "MONDO:9900009", "Moderate", "2019-01-01"),
        ("HGNC:99002", "MONDO:9900001", "Moderate", "2020-12-31"),
    ]
    header = GENCC_OLD if old else GENCC_NEW
    places = ("gene_curie", "disease_curie", "classification_title", "submitted_as_date")
    lines = [quoted(header, "\t")]
    for number, row in enumerate(rows):
        cells = dict.fromkeys(header, "made-up") | dict(zip(places, row, strict=True))
        cells[header[0]] = f"GENCC-{number}"
        cells["submitted_as_notes"] = 'one line\nanother\twith "marks"\n\n' if number % 2 == 0 else ""
        lines.append(quoted(cells.values(), "\t"))
    return write(folder / "gencc-submissions.tsv", lines)


def write_clingen(folder: Path) -> Path:
    """Gene, disease, classification and date below a banner between ruled lines."""
    rows = [
        ("HGNC:99001", "MONDO:9900001", "Strong", "2017-05-01T16:00:00.000Z"),
        ("HGNC:99003", "MONDO:9900003", "Limited", "2021-01-01T16:00:00.000Z"),
        ("HGNC:99002", "MONDO:9900002", "Refuted", "2018-12-31T16:00:00.000Z"),
        ("HGNC:99001", "MONDO:9900003", "Disputed", "2022-01-01T16:00:00.000Z"),
        ("HGNC:99003", "MONDO:9900001", "Moderate", "2023-01-01T16:00:00.000Z"),
    ]
    header = [
        "GENE SYMBOL", "GENE ID (HGNC)", "DISEASE LABEL", "DISEASE ID (MONDO)", "MOI", "SOP", "CLASSIFICATION",
        "ONLINE REPORT", "CLASSIFICATION DATE", "GCEP",
    ]  # fmt: skip
    ruled = quoted(["+++++++"] * len(header), ",")
    lines = [quoted([text, *[""] * (len(header) - 1)], ",") for text in ("CLINGEN MADE-UP", "FILE CREATED: 2026-09-01")]
    lines += [ruled, quoted(header, ","), ruled]
    for gene, disease, grade, date in rows:
        cells = ["AAA", gene, "one, two", disease, "AD", "SOP10", grade, "x", date, 'so-called "panel"']
        lines.append(quoted(cells, ","))
    return write(folder / "clingen-gene-validity.csv", lines)


def write_diseases(folder: Path) -> Path:
    p1, p3, p12 = (protein.removeprefix("9606.") for protein in (P1, P3, P12))
    rows = [
        (p3, "DOID:9903", "MedlinePlus", "1"),
        (p3, "DOID:9903", "MedlinePlus", "4.5"),
        (p12, "DOID:9903", "MedlinePlus", "3.000"),
        (p1, "DOID:9903", "MedlinePlus", "0.5"),
        (p1, "DOID:9903", "UniProtKB-KW", "4"),
        ("hsa-miR-9901", "DOID:9903", "MedlinePlus", "5"),
        (p1, "AmyCo:9901", "AmyCo", "4"),
        (p1, "DOID:9999", "MedlinePlus", "5"),
    ]
    cells = ((protein, "AAA", disease, "x", origin, "CURATED", stars) for protein, disease, origin, stars in rows)
    return write_tabbed(folder / "human_disease_knowledge_filtered.tsv", cells)


# ------------------------------------------------------------------------------------------------- drugs, anatomy


def write_dump(folder: Path) -> Path:
    lines = [
        "-- PostgreSQL database dump",
        "COPY public.structures (name, cd_id, id) FROM stdin;",
        "drug\\tone\t1\t9901",
        "drug\\ttwo\t2\t9902",
        "\\N\t3\t9903",
        "\\.",
        "COPY public.omop_relationship (umls_cui, id, struct_id, relationship_name, concept_name) FROM stdin;",
        "C9900003\t1\t9901\tindication\ta \\\\ and a \\t",
        "C9900001\t2\t9902\tcontraindication\tx",
        "C9900001\t3\t9901\toff-label use\tx",
        "\\N\t4\t9901\tindication\tx",
        "C9999999\t5\t9901\tindication\tx",
        "\\.",
        "COPY public.identifier (id, identifier, id_type, struct_id, parent_match) FROM stdin;",
        "1\t9901\tPUBCHEM_CID\t9901\t\\N",
        "2\t9911\tPUBCHEM_CID\t9901\t\\N",
        "3\t9902\tPUBCHEM_CID\t9902\t\\N",
        "4\t9903\tUNII\t9902\tf",
        "\\.",
    ]
    return write(folder / "drugcentral.dump.11012023.sql", lines)


def write_side_effects(folder: Path) -> Path:
    rows = [
        ("CID100009901", "CID000009902", "C9900019", "LLT", "C9900011", "made-up"),
        ("CID100009901", "CID000009902", "C9900019", "PT", "C9900011", "made-up"),
        ("CID100009901", "CID000009902", "C9900019", "", "C9900011", "made-up"),
        ("CID100009901", "CID000009902", "C9900019", "PT", "", "made-up"),
        ("CID100009901", "CID000009902", "C9900019", "PT", "C9900018", "made-up"),
    ]
    return write_tabbed(folder / "meddra_all_se.tsv", rows)


def write_medgen(folder: Path) -> Path:
    rows = ["C9900011|HP:9900001|x|x|HPO|Finding|", "C9900011|HP:9900012|x|x|HPO|Finding|"]
    return write(folder / "MedGen_HPO_Mapping.txt", ["#CUI|SDUI|HpoStr|MedGenStr|MedGenStr_SAB|STY|", *rows])


def write_expression(folder: Path) -> Path:
    """Gene, anatomy, call and grade in nine columns, names quoted."""
    both = "CL:9900001 ∩ UBERON:9900001"
    rows = [
        ("ENSG99000000001", "UBERON:9900001", "present", "gold quality"),
        ("ENSG99000000002", both, "present", "silver quality"),
        ("ENSG99000000002", "UBERON:9900001", "present", "bronze quality"),
        ("ENSG99000000001", "UBERON:9900002", "absent", "gold quality"),
        ("ENSG99000000001", both, "absent", "gold quality"),
        ("ENSG99000000003", "UBERON:9900012", "present", "bronze quality"),
        ("ENSG99000000099", "UBERON:9900001", "present", "gold quality"),
    ]
    cells = (
        (gene, '"made-up, ""so-called"""', anatomy, '"made-up  part"', call, grade, "1e-9", "99.0", "1.2e3")
        for gene, anatomy, call, grade in rows
    )
    header = (
        "Gene ID", "Gene name", "Anatomical entity ID", "Anatomical entity name", "Expression", "Call quality", "FDR",
        "Expression score", "Expression rank",
    )  # fmt: skip
    return write_tabbed(folder / "Homo_sapiens_expr_simple.tsv", [header, *cells])


# ------------------------------------------------------------------------------------------------------- pathways


def write_reactome(folder: Path) -> Path:
    rows = [
        ("990001", "R-HSA-9901", "made-up pathway", "IEA", "Homo sapiens"),
        ("990001", "R-HSA-9901", "made-up pathway", "TAS", "Homo sapiens"),
        ("990002", "R-HSA-9901", "made-up pathway", "IEA", "Homo sapiens"),
        ("990009", "R-MMU-9901", "made-up pathway", "TAS", "Mus musculus"),
    ]
    cells = ((gene, pathway, f"x/{pathway}", name, evidence, kind) for gene, pathway, name, evidence, kind in rows)
    return write_tabbed(folder / "NCBI2Reactome.txt", cells)


def write_ctd(folder: Path) -> Path:
    rows = [
        ("AAA1", "990001", "made-up pathway", "REACT:R-HSA-9901"),
        ("AAA2", "990002", "module", "KEGG:hsa_M99001"),
        ("AAA3", "990003", "made-up", "KEGG:hsa99001"),
    ]
    comments = ["# Made-up", "#", "# Report created: Tue Sep 1 2026", "#", "# Fields:"]
    header = "# GeneSymbol\tGeneID\tPathwayName\tPathwayID"
    return write(folder / "CTD_genes_pathways.tsv", [*comments, header, "#", *("\t".join(row) for row in rows)])


def write_kegg(folder: Path) -> Path:
    return write_tabbed(folder / "kegg-link-pathway-hsa.tsv", [("hsa:990003", "path:hsa99002")])


# ------------------------------------------------------------------------------------------------------ all of them


def write_sources(folder: Path) -> dict[str, Path]:
    """Every source of the edition, by id."""
    return {
        "hgnc.genes": write_hgnc(folder),
        "uniprot.id_mapping": write_accessions(folder),
        "string.entrez": write_entrez(folder),
        "string.links": write_channels(folder),
        "string.regulation": write_regulation(folder),
        "stitch.links": write_chemical_links(folder),
        "stitch.actions": write_chemical_actions(folder),
        "go.ontology": write_ontology(folder / "go-basic.obo", "GO"),
        "go.annotations": write_annotations_of_genes(folder),
        "mondo.ontology": write_ontology(folder / "mondo.obo", "MONDO"),
        "mondo.mappings": write_sssom(folder),
        "gencc.gene_disease": write_gencc(folder),
        "clingen.gene_disease": write_clingen(folder),
        "diseases.knowledge": write_diseases(folder),
        "hpo.ontology": write_ontology(folder / "hp.obo", "HP"),
        "hpo.disease_phenotype": write_hpoa(folder),
        "hpo.gene_phenotype": write_gene_phenotypes(folder),
        "hpo.gene_disease": write_genes_of_diseases(folder),
        "drugcentral.dump": write_dump(folder),
        "sider.side_effects": write_side_effects(folder),
        "medgen.hpo": write_medgen(folder),
        "uberon.ontology": write_ontology(folder / "uberon.obo", "UBERON", {"CL:9900001": ["is_a: UBERON:9900001"]}),
        "bgee.expression": write_expression(folder),
        "reactome.gene_pathway": write_reactome(folder),
        "ctd.gene_pathway": write_ctd(folder),
        "kegg.gene_pathway": write_kegg(folder),
    }


def generate_2026(sources: Mapping[str, Path], folder: Path, **options: object) -> WrittenGraph:
    """Build the graph of edition 2026 with some options, whatever the number of rows, and read it back."""
    chosen = GraphOptions(**{"allowed_bands": ("all",), **options})  # type: ignore[arg-type]
    generate_graph(load_catalogue("2026"), sources, folder, options=chosen)
    return read_graph(folder)
