"""The embedded demo sources are what the script writes, look like real files, and hold what they should."""

import re
import runpy
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import cast

import pytest

from openbiolink.schema import load_schema
from openbiolink.sources.catalogue import load_catalogue
from oracles.graph import Expected, build

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "tools" / "make_demo_sources.py"
DEMO = Path(str(files("openbiolink").joinpath("demo")))
LIMIT = 400_000  # bytes of all source files together

WIDTHS = {
    "string.links": 3,
    "string.actions": 7,
    "string.entrez": 3,
    "stitch.links": 3,
    "stitch.actions": 6,
    "go.annotations": 17,
    "disgenet.gene_disease": 16,
    "disgenet.mappings": 5,
    "hpo.disease_phenotype": 15,
    "hpo.disease_phenotype_negated": 15,
    "hpo.gene_phenotype": 9,
    "bgee.expression": 7,
    "bgee.differential": 8,
    "ctd.gene_pathway": 4,
    "sider.side_effects": 6,
    "uniprot.id_mapping": 22,
}
HEADERS = {
    "string.links": "protein1 protein2 combined_score",
    "string.actions": "item_id_a|item_id_b|mode|action|is_directional|a_is_acting|score",
    "string.entrez": "# NCBI taxid / entrez / STRING ",
    "stitch.links": "chemical|protein|combined_score",
    "stitch.actions": "item_id_a|item_id_b|mode|action|a_is_acting|score",
    "disgenet.gene_disease": "geneId|geneSymbol|DSI|DPI|diseaseId|diseaseName|diseaseType|diseaseClass|"
    "diseaseSemanticType|score|EI|YearInitial|YearFinal|NofPmids|NofSnps|source",
    "disgenet.mappings": "diseaseId|name|vocabulary|code|vocabularyName",
    "hpo.gene_phenotype": "#Format: entrez-gene-id<tab>entrez-gene-symbol<tab>HPO-Term-ID<tab>HPO-Term-Name"
    "<tab>Frequency-Raw<tab>Frequency-HPO<tab>Additional Info from G-D source<tab>G-D source"
    "<tab>disease-ID for link",
    "bgee.expression": "Gene ID|Gene name|Anatomical entity ID|Anatomical entity name|Expression|"
    "Call quality|Expression rank",
    "bgee.differential": "Gene ID|Gene name|Anatomical entity ID|Anatomical entity name|"
    "Developmental stage ID|Developmental stage name|Differential expression|Call quality",
}  # a bar stands for a tab
ONTOLOGIES = {"go.ontology", "hpo.ontology", "do.ontology", "uberon.ontology"}


def path_of(source: str) -> Path:
    return DEMO / tomllib.loads((DEMO / "sources.toml").read_text(encoding="utf-8"))["sources"][source]


def lines_of(source: str) -> list[str]:
    return path_of(source).read_text(encoding="utf-8").splitlines()


def rows_of(source: str) -> list[list[str]]:
    """The data rows of a delimited source: no header, no comments."""
    separator = " " if source == "string.links" else "\t"
    lines = lines_of(source)[1:] if source in HEADERS else lines_of(source)
    return [line.split(separator) for line in lines if not line.startswith(("!", "#"))]


def copy_rows(table: str) -> list[dict[str, str]]:
    """The rows of one table of the dump, cells as written there."""
    lines = lines_of("drugcentral.dump")
    start = next(i for i, line in enumerate(lines) if line.startswith(f"COPY {table} ("))
    columns = re.findall(r"\w+", lines[start].partition("(")[2].partition(")")[0])
    block = lines[start + 1 : lines.index("\\.", start)]
    return [dict(zip(columns, line.split("\t"), strict=True)) for line in block]


def stanzas_of(source: str) -> list[dict[str, list[str]]]:
    """Tag → values (comments and qualifiers cut off) of each term of an ontology."""
    found: list[dict[str, list[str]]] = []
    for block in path_of(source).read_text(encoding="utf-8").split("\n\n")[1:]:
        kind, *tags = block.strip().splitlines()
        stanza = defaultdict(list)
        for tag, value in (line.split(": ", 1) for line in tags):
            stanza[tag].append(re.split(r" [!{]", value)[0])
        if kind == "[Term]":
            found.append(stanza)
    return found


@pytest.fixture(scope="module")
def write_demo_files() -> Callable[[Path], None]:
    return cast("Callable[[Path], None]", runpy.run_path(str(SCRIPT))["write_demo_files"])


def test_the_committed_files_are_the_bytes_that_the_script_writes(
    write_demo_files: Callable[[Path], None], tmp_path: Path
) -> None:
    write_demo_files(tmp_path)
    written = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    committed = {path.relative_to(DEMO): path.read_bytes() for path in [*DEMO.glob("sources/*"), DEMO / "sources.toml"]}
    assert written == committed


def test_the_source_map_names_every_source_of_the_edition_and_nothing_lies_beside() -> None:
    source_map = tomllib.loads((DEMO / "sources.toml").read_text(encoding="utf-8"))
    assert source_map["edition"] == "2020"
    assert set(source_map["sources"]) == {*WIDTHS, *ONTOLOGIES, "drugcentral.dump"}
    assert {DEMO / name for name in source_map["sources"].values()} == set(DEMO.glob("sources/*"))


def test_the_files_are_small_utf8_text_with_unix_line_ends() -> None:
    contents = [path.read_bytes() for path in DEMO.glob("sources/*")]
    assert sum(map(len, contents)) < LIMIT
    assert all(content.endswith(b"\n") and b"\r" not in content for content in contents)
    assert sum(not content.decode("utf-8").isascii() for content in contents) == 1


@pytest.mark.parametrize("source", sorted(HEADERS))
def test_the_header_is_that_of_the_edition(source: str) -> None:
    assert lines_of(source)[0] == HEADERS[source].replace("|", "\t")


@pytest.mark.parametrize("source", sorted(WIDTHS))
def test_every_row_has_the_columns_of_the_edition(source: str) -> None:
    assert {len(row) for row in rows_of(source)} == {WIDTHS[source]}


@pytest.mark.parametrize("source", sorted({*ONTOLOGIES, "go.annotations", "ctd.gene_pathway", "drugcentral.dump"}))
def test_files_with_room_for_a_comment_say_that_they_are_made_up(source: str) -> None:
    assert any("made-up" in line.lower() for line in lines_of(source)[:5])


def test_ids_are_made_up_and_of_the_right_shape() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in DEMO.glob("sources/*"))
    schema = load_schema()
    local = {"GO": "99", "DOID": "99", "HP": "99", "UBERON": "99", "CL": "99"}
    for prefix, start in local.items():
        ids = set(re.findall(rf"\b{prefix}:([\w-]+)", text))
        assert ids
        assert all(re.fullmatch(schema.prefixes[prefix].pattern, one) for one in ids)
        assert all(re.match(start, one) for one in ids)
    assert {len(one) for one in re.findall(r"\bENS[PG](\d+)", text)} == {11}
    assert all(one.startswith("99") for one in re.findall(r"\bENS[PG](\d+)", text))
    assert set(re.findall(r"\bC(\d{7})\b", text)) <= {f"99{n:05d}" for n in range(100_000)}
    uniprot = re.compile(r"[OPQ][0-9][A-Z0-9]{3}[0-9]|[A-NR-Z][0-9]([A-Z][A-Z0-9]{2}[0-9]){1,2}")
    assert all(uniprot.fullmatch(row[0]) for row in rows_of("uniprot.id_mapping"))


# ------------------------------------------------------------------------------- what the rows amount to


@pytest.fixture(scope="module")
def expected() -> Expected:
    """The graph of these files, by the naive builder."""
    return build({source: path_of(source) for source in {*WIDTHS, *ONTOLOGIES, "drugcentral.dump"}})


def test_every_relation_has_edges_and_the_big_ones_enough_for_a_split(expected: Expected) -> None:
    counts = Counter(relation for _, relation, _ in expected.edges)
    assert set(counts) == {rule.relation for rule in load_catalogue("2020").rules.values()}
    assert min(counts.values()) >= 15
    assert sum(count >= 100 for count in counts.values()) >= 14
    assert 3_000 <= counts.total() <= 5_000


def test_true_negatives_exist_and_some_contradict_a_positive(expected: Expected) -> None:
    negatives = Counter(relation for _, relation, _ in expected.negatives)
    conflicts = Counter(relation for _, relation, _ in expected.negatives.keys() & expected.edges.keys())
    assert all(negatives[relation] >= 30 for relation in ("DIS_DRUG", "DIS_PHENOTYPE", "GENE_EXPRESSED_ANATOMY"))
    over_and_under = {"GENE_OVEREXPRESSED_ANATOMY", "GENE_UNDEREXPRESSED_ANATOMY"}
    assert {"DIS_DRUG", "DIS_PHENOTYPE", *over_and_under} <= set(conflicts)


def test_rows_are_kept_and_dropped_for_every_kind_of_reason(expected: Expected) -> None:
    reasons = {reason.partition(":")[0] for rows in expected.ledger.values() for reason in rows}
    every = {"duplicate", "negated", "filtered", "obsolete", "unmapped_head", "unmapped_tail", "self_loop"}
    assert reasons == {"read", "kept"} | every


@pytest.mark.parametrize("relation", ["GENE_GENE", "GENE_GO", "GENE_PHENOTYPE", "GENE_EXPRESSED_ANATOMY", "GENE_DRUG"])
def test_degrees_are_skewed(expected: Expected, relation: str) -> None:
    degrees = Counter(tail for _, name, tail in expected.edges if name == relation)
    ordered = sorted(degrees.values(), reverse=True)
    popular = ordered[: max(1, len(ordered) // 5)]
    assert sum(popular) > 0.35 * sum(ordered)  # a fifth of the tails has far more than a fifth of the edges


# ------------------------------------------------------------------------------------------- odd rows


def test_odd_rows_of_string_and_stitch() -> None:
    links = rows_of("string.links")
    assert {"400", "700"} <= {row[2] for row in links}
    pairs = {(a, b): score for a, b, score in links}
    assert all((b, a) in pairs for a, b in pairs)
    assert sum(pairs[a, b] != pairs[b, a] for a, b in pairs) == 2
    proteins = {protein for row in rows_of("string.entrez") for protein in row[2:]}
    assert sum("|" in row[1] for row in rows_of("string.entrez")) == 1
    assert {a for a, b in pairs} - proteins == {"9606.ENSP99000000900"}
    actions = rows_of("string.actions")
    assert {(row[4], row[5]) for row in actions} == {("f", "f"), ("t", "t"), ("t", "f")}
    assert any(not row[3] for row in actions)
    assert {row[0][:4] for row in rows_of("stitch.links")} == {"CIDs", "CIDm"}
    chemical_actions = rows_of("stitch.actions")
    assert {row[0][:4] for row in chemical_actions} == {"CIDs", "CIDm", "9606"}
    assert {"ac", "in", ""} < {row[3] for row in chemical_actions}


def test_odd_rows_of_gene_annotations() -> None:
    annotations = rows_of("go.annotations")
    assert {"NOT", "NOT|contributes_to", "NOT|involved_in", "contributes_to", ""} == {row[3] for row in annotations}
    assert {"taxon:9606", "taxon:562", "taxon:9606|taxon:562"} == {row[12] for row in annotations}
    evidence = defaultdict(set)
    for row in annotations:
        evidence[row[1], row[4]].add(row[6])
    assert {"IEA", "IDA"} in evidence.values()
    assert any(row[6] == "ND" for row in annotations)
    assert any('"' in row[9] for row in annotations)
    assert any(row[16] for row in annotations)
    ids = rows_of("uniprot.id_mapping")
    assert sum("; " in row[2] for row in ids) == 1
    assert sum(not row[2] for row in ids) == 1
    assert sum("." in row[18] for row in ids) == 1
    assert len({row[2] for row in ids}) < len(ids)
    assert {row[5] for row in rows_of("bgee.expression")} == {"gold quality", "silver quality"}
    assert {row[7] for row in rows_of("bgee.differential")} == {"high quality", "low quality", "NA"}
    assert len({row[6] for row in rows_of("bgee.differential")}) == 5
    assert any('"' in row[3] and "," in row[3] for row in rows_of("bgee.expression"))
    assert "-" in {row[4] for row in rows_of("hpo.gene_phenotype")}
    assert {row[3].partition(":")[0] for row in rows_of("ctd.gene_pathway")} == {"REACT", "KEGG"}
    assert "# GeneSymbol\tGeneID\tPathwayName\tPathwayID" in lines_of("ctd.gene_pathway")


def test_odd_rows_of_diseases_and_drugs() -> None:
    annotations = rows_of("hpo.disease_phenotype")
    assert {row[0] for row in annotations} == {"OMIM", "ORPHA", "DECIPHER"}
    assert {row[10] for row in annotations} == {"P", "O", "I", "C"}
    assert {row[3] for row in rows_of("hpo.disease_phenotype_negated")} == {"NOT"}
    assert {row[2] for row in rows_of("disgenet.mappings")} == {"DO", "OMIM", "HPO", "MSH"}
    assert {"0.4", "0.7"} <= {row[9] for row in rows_of("disgenet.gene_disease")}
    effects = rows_of("sider.side_effects")
    assert {row[3] for row in effects} == {"LLT", "PT", ""}
    assert any(not row[2] for row in effects)
    assert any(row[0][4:] != row[1][4:] for row in effects)
    relationships = copy_rows("public.omop_relationship")
    assert {"contraindication", "off-label use", "indication"} < {row["relationship_name"] for row in relationships}
    assert any(row["umls_cui"] == "\\N" for row in relationships)
    assert any("\\t" in row["concept_name"] and "\\\\" in row["concept_name"] for row in relationships)
    assert list(copy_rows("public.identifier")[0])[:2] == ["struct_id", "id"]
    compounds = [row["struct_id"] for row in copy_rows("public.identifier") if row["id_type"] == "PUBCHEM_CID"]
    assert len(set(compounds)) < len(compounds)


@pytest.mark.parametrize("source", sorted(ONTOLOGIES))
def test_odd_stanzas_of_ontologies(source: str) -> None:
    text = path_of(source).read_text(encoding="utf-8")
    before, after = text.split("[Typedef]")
    assert before.count("[Term]") > 10
    assert after.count("[Term]") > 10
    obsolete = [one for one in stanzas_of(source) if "is_obsolete" in one]
    assert [bool(one["replaced_by"]) for one in obsolete] == [True, False]
    assert any(one["alt_id"] for one in obsolete)
    assert any(one["alt_id"] for one in stanzas_of(source) if one not in obsolete)
    assert any(len(one["is_a"]) > 1 for one in stanzas_of(source))
    assert re.search(r" \{.*=", text)
