"""Small made-up source files, written where a test wants them, and graphs read back."""

import gzip
import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from openbiolink.graph import GraphOptions, generate_graph
from openbiolink.sources.catalogue import load_catalogue
from openbiolink.sources.declarations import Catalogue
from oracles.graph import Expected

DEMO = Path(str(files("openbiolink").joinpath("demo")))
PROTEIN = "9606.ENSP{:011d}".format
ACCESSION = "X{:05d}".format


@cache
def edition() -> Catalogue:
    return load_catalogue("2020")


def demo_sources() -> dict[str, Path]:
    """Source id → file of the embedded demo."""
    content = tomllib.loads((DEMO / "sources.toml").read_text(encoding="utf-8"))
    return {name: DEMO / path for name, path in content["sources"].items()}


def write(path: Path, lines: Iterable[str], *, end: str = "\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(line + end for line in lines).encode())
    return path


def write_tabbed(path: Path, rows: Iterable[Iterable[str]]) -> Path:
    return write(path, ("\t".join(row) for row in rows))


def write_entrez(folder: Path, genes: Mapping[str, str]) -> Path:
    """STRING protein (with its taxon) → NCBI gene, several joined by bars."""
    rows = (f"9606\t{gene}\t{protein}" for protein, gene in genes.items())
    return write(folder / "human.entrez_2_string.tsv", ["# NCBI taxid / entrez / STRING ", *rows])


def write_id_mapping(folder: Path, genes: Mapping[str, str], ensembl: Mapping[str, str] | None = None) -> Path:
    """UniProt accession → NCBI gene, several joined by "; "; accession → Ensembl genes."""
    rows = []
    for accession, gene in genes.items():
        row = [""] * 22
        row[0], row[1], row[2], row[12] = accession, f"{accession}_HUMAN", gene, "9606"
        row[18] = (ensembl or {}).get(accession, "")
        rows.append(row)
    return write_tabbed(folder / "HUMAN_9606_idmapping_selected.tab", rows)


def write_obo(path: Path, terms: Mapping[str, Iterable[str]]) -> Path:
    """Term id → its further lines, such as "is_a: GO:9900001"."""
    lines = ["format-version: 1.2", "ontology: made-up", ""]
    for identifier, further in terms.items():
        lines += ["[Term]", f"id: {identifier}", f"name: made-up {identifier}", *further, ""]
    return write(path, lines)


def gaf_row(accession: str, term: str, *, qualifier: str = "", evidence: str = "IDA", taxon: str = "taxon:9606") -> str:
    cells = ["UniProtKB", accession, "AAA", qualifier, term, "PMID:1", evidence, "", "P", "made-up", "", "protein"]
    return "\t".join([*cells, taxon, "20200101", "TEST", "", ""])


def write_gaf(folder: Path, rows: Iterable[str]) -> Path:
    return write(folder / "goa_human.gaf", ["!gaf-version: 2.1", "!made-up", *rows])


def annotation_row(
    disease: str, phenotype: str, *, qualifier: str = "", evidence: str = "PCS", aspect: str = "P"
) -> str:
    cells = [disease, "made-up", qualifier, phenotype, "PMID:1", evidence, "", "", "", "", aspect, "TEST"]
    return "\t".join(cells)


def write_annotations(folder: Path, rows: Iterable[str]) -> Path:
    header = (
        "database_id disease_name qualifier hpo_id reference evidence onset frequency sex modifier aspect biocuration"
    )
    return write(folder / "phenotype.hpoa", ["#description: made-up", header.replace(" ", "\t"), *rows])


def write_links(folder: Path, rows: Iterable[str]) -> Path:
    return write(folder / "9606.protein.links.txt", ["protein1 protein2 combined_score", *rows])


def write_string_actions(folder: Path, rows: Iterable[str]) -> Path:
    """Rows of item_id_a item_id_b mode action is_directional a_is_acting score, cells separated by one blank."""
    header = "item_id_a item_id_b mode action is_directional a_is_acting score"
    return write(folder / "9606.protein.actions.txt", [line.replace(" ", "\t") for line in (header, *rows)])


def write_chemical_links(folder: Path, rows: Iterable[str]) -> Path:
    header = "chemical protein combined_score"
    return write(folder / "9606.protein_chemical.links.tsv", [line.replace(" ", "\t") for line in (header, *rows)])


def write_expression(folder: Path, rows: Iterable[Iterable[str]]) -> Path:
    """Rows of gene, anatomy, call, grade."""
    header = ("Gene ID", "Gene name", "Anatomical entity ID", "Anatomical entity name", "Expression", "Call quality")
    cells = ((gene, '"a ""name"', anatomy, "made-up", call, grade) for gene, anatomy, call, grade in rows)
    return write_tabbed(folder / "Homo_sapiens_expr_simple.tsv", [header, *cells])


def write_gene_disease(folder: Path, rows: Iterable[Iterable[str]]) -> Path:
    """Rows of gene, disease, score."""
    cells = ((gene, "AAA", disease, "made-up", score) for gene, disease, score in rows)
    header = ("geneId", "geneSymbol", "diseaseId", "diseaseName", "score")
    return write_tabbed(folder / "curated_gene_disease_associations.tsv", [header, *cells])


def write_disease_mappings(folder: Path, rows: Iterable[Iterable[str]]) -> Path:
    """Rows of disease, vocabulary, code."""
    cells = ((disease, "made-up", vocabulary, code, "made-up") for disease, vocabulary, code in rows)
    header = ("diseaseId", "name", "vocabulary", "code", "vocabularyName")
    return write(folder / "disease_mappings.tsv", ("|".join(row) for row in [header, *cells]))


def write_dump(folder: Path, relationships: Iterable[str], identifiers: Iterable[str]) -> Path:
    """Rows of struct_id, relationship_name, umls_cui and of identifier, id_type, struct_id, cells as in a dump."""
    lines = ["-- made-up", "COPY public.omop_relationship (struct_id, relationship_name, umls_cui) FROM stdin;"]
    lines += [*relationships, "\\.", "", "COPY public.identifier (identifier, id_type, struct_id) FROM stdin;"]
    return write(folder / "drugcentral.dump.sql", [*lines, *identifiers, "\\."])


@st.composite
def ontologies(draw: st.DrawFn, prefix: str, *, terms: int = 7) -> dict[str, list[str]]:
    """Terms with parents, other ids and replacements among themselves, in any tangle."""
    ids = [f"{prefix}:99000{number:02d}" for number in range(draw(st.integers(1, terms)))]
    anyone = st.lists(st.sampled_from([*ids, f"{prefix}:9999999"]), max_size=2, unique=True)
    others = st.lists(st.sampled_from([*ids, f"{prefix}:9900090", f"{prefix}:9900091"]), max_size=2, unique=True)
    found = {}
    for identifier in draw(st.permutations(ids)):
        lines = [f"is_a: {one} ! x" for one in draw(anyone)]
        lines += [f"relationship: part_of {one}" for one in draw(anyone)]
        lines += [f"alt_id: {one}" for one in draw(others)]
        if draw(st.integers(0, 2)) == 0:
            lines += ["is_obsolete: true", *(f"replaced_by: {one}" for one in draw(anyone))]
        found[identifier] = lines
    return found


# ------------------------------------------------------------------------------------------- the same, otherwise


def as_windows(raw: bytes) -> bytes:
    return b"\xef\xbb\xbf" + raw.replace(b"\n", b"\r\n")


def as_gzip(raw: bytes) -> bytes:
    half = len(raw) // 2
    return gzip.compress(raw[:half], mtime=0) + gzip.compress(raw[half:], mtime=0)


def rewritten(sources: Mapping[str, Path], folder: Path, change: Callable[[str, bytes], bytes]) -> dict[str, Path]:
    """Copies of source files in another folder, under the same names, each changed."""
    folder.mkdir(parents=True, exist_ok=True)
    copies = {name: folder / path.name for name, path in sources.items()}
    for name, path in sources.items():
        copies[name].write_bytes(change(name, path.read_bytes()))
    return copies


# ------------------------------------------------------------------------------------------------------- graphs

Edges = dict[tuple[str, str, str], tuple[str, str]]


@dataclass(frozen=True)
class WrittenGraph:
    """A graph as it lies in its folder, read without the package."""

    folder: Path
    manifest: Mapping[str, Any]
    edges: Edges
    negatives: Edges
    ledger: Mapping[str, Mapping[str, int]]  # rule → reason → rows, reasons without rows left out
    given: Mapping[str, int]  # rule → edges
    unmapped: set[tuple[str, ...]]
    negative_unmapped: set[tuple[str, ...]]
    dates: Mapping[tuple[str, str, str], str]
    negative_dates: Mapping[tuple[str, str, str], str]
    names: Mapping[str, str]

    def pairs(self, relation: str) -> set[tuple[str, str]]:
        return {(head, tail) for head, name, tail in self.edges if name == relation}

    def rows(self, name: str) -> list[tuple[str, ...]]:
        return read_rows(self.folder / name)


def generate(sources: Mapping[str, Path], folder: Path, **options: Any) -> WrittenGraph:
    """Build the graph of edition 2020 with some options, and read it back."""
    generate_graph(edition(), sources, folder, options=GraphOptions(**options))
    return read_graph(folder)


def read_rows(path: Path) -> list[tuple[str, ...]]:
    text = path.read_bytes().decode("utf-8")
    assert not text or text.endswith("\n"), path
    return [tuple(line.split("\t")) for line in text.split("\n")[:-1]]


def read_graph(folder: Path) -> WrittenGraph:
    header, *ledger = read_rows(folder / "ledger.tsv")
    assert header == ("rule", "source", "reason", "rows", "edges")
    counts: dict[str, dict[str, int]] = {}
    for rule, _, reason, rows, _ in ledger:
        assert reason not in counts.setdefault(rule, {}), (rule, reason)
        counts[rule][reason] = int(rows)
    return WrittenGraph(
        folder=folder,
        manifest=json.loads((folder / "manifest.json").read_text(encoding="utf-8")),
        edges=read_edges(folder / "edges.csv"),
        negatives=read_edges(folder / "TN_edges.csv"),
        ledger={rule: {reason: rows for reason, rows in entry.items() if rows} for rule, entry in counts.items()},
        given={rule: int(edges) for rule, _, reason, _, edges in ledger if reason == "kept"},
        unmapped=set(read_rows(folder / "ids_no_mapping.tsv")),
        negative_unmapped=set(read_rows(folder / "tn_ids_no_mapping.tsv")),
        dates={row[:3]: row[3] for row in read_further(folder / "edge_dates.tsv", 4)},
        negative_dates={row[:3]: row[3] for row in read_further(folder / "TN_edge_dates.tsv", 4)},
        names=dict(read_further(folder / "node_names.tsv", 2)),
    )


def read_further(path: Path, width: int) -> list[tuple[str, ...]]:
    """The rows of what is known besides of nodes or edges: sorted, one for each."""
    rows = read_rows(path)
    assert rows == sorted(rows), path
    assert all(len(row) == width for row in rows), path
    assert len({row[:-1] for row in rows}) == len(rows), f"{path} holds one twice"
    return rows


def read_edges(path: Path) -> Edges:
    rows = read_rows(path)
    edges = {(head, relation, tail): (score, source) for head, relation, tail, score, source in rows}
    assert len(edges) == len(rows), f"{path} holds an edge twice"
    return edges


def assert_as_expected(graph: WrittenGraph, expected: Expected) -> None:
    """The graph and its ledger are those of the naive builder, edge by edge, score by score, row by row."""
    for found, wanted in ((graph.edges, expected.edges), (graph.negatives, expected.negatives)):
        assert sorted(wanted.keys() - found.keys())[:5] == [], "edges that are missing"
        assert sorted(found.keys() - wanted.keys())[:5] == [], "edges that should not be there"
        differing = [(edge, value, wanted[edge]) for edge, value in found.items() if value != wanted[edge]]
        assert differing[:5] == [], "other scores or sources"
    assert graph.ledger.keys() == expected.ledger.keys()
    for rule, counts in expected.ledger.items():
        assert graph.ledger[rule] == dict(counts), f"{rule}: {graph.ledger[rule]} is not {dict(counts)}"
    assert graph.given == expected.given
    assert graph.dates == expected.dates
    assert graph.negative_dates == expected.negative_dates
    assert graph.names == expected.names
    assert graph.unmapped == expected.unmapped, f"only one has {graph.unmapped ^ expected.unmapped}"
    assert graph.negative_unmapped == expected.negative_unmapped
    assert graph.manifest["not_in_ontology"] == expected.unknown
