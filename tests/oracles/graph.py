"""A naive builder of the 2020 graph: dictionaries and loops over rows, one row at a time.

It shares nothing with the package: it opens, unpacks and takes apart every file itself, and its recipe is
written down here once more, so that a mistake in the package's declarations shows as a difference.

What it holds to, where the recipe leaves a choice:

* Blanks and quotation marks around an identifier or a number do not belong to it.
* A row is counted under the first reason that applies: negated, filtered (in the order of the conditions), a
  score that is no number, no score although there is a cut-off, below the cut-off, then for the best of its
  identifier pairs: obsolete, head unmapped, tail unmapped, self loop.
* Of rows with the same edge the one with the best score gives it; a missing score is worst. Equal scores: the
  smaller text of the score, the earlier rule, the smaller head cell, the smaller tail cell, the earlier row.
* An identifier is mapped to every target that its map holds; an ontology's alternative id stands for the term
  (of several terms the smallest), an obsolete one for the first term that replaces it.
* A head or tail whose identifier has not the form of its kind counts as unmapped.
* The date of an edge is the earliest of all rows that give it, kept or not; a node has the smallest of the names that
  the first table with any gives it.
"""

import gzip
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from math import inf, isfinite
from pathlib import Path

# ------------------------------------------------------------------------------------------- facts

VALID = {
    "GENE": r"NCBIGENE:\d+",
    "GO": r"GO:\d{7}",
    "DIS": r"DOID:\d+",
    "DRUG": r"PUBCHEM\.COMPOUND:\d+",
    "PHENOTYPE": r"HP:\d{7}",
    "PATHWAY": r"KEGG:[A-Za-z]*\d+|REACTOME:R-[A-Z]{3}-\d+(-\d+)?(\.\d+)?",
    "ANATOMY": r"UBERON:\d+|CL:\d{7}",
}
VALID = {kind: re.compile(pattern, re.ASCII) for kind, pattern in VALID.items()}
PREFIXES = [
    "NCBIGENE", "GO", "DOID", "PUBCHEM.COMPOUND", "HP", "REACTOME", "KEGG", "UBERON", "CL", "UMLS", "ENSEMBL",
    "UNIPROT", "MIM", "ORPHANET", "DECIPHER", "DRUGCENTRAL", "HGNC", "MONDO", "MESH", "CHEBI", "FBbt",
]  # fmt: skip
SPELLINGS = {prefix.upper(): prefix for prefix in PREFIXES} | {
    "OMIM": "MIM", "ORPHA": "ORPHANET", "ORDO": "ORPHANET", "REACT": "REACTOME", "ENTREZ": "NCBIGENE",
    "ENTREZGENE": "NCBIGENE", "GENEID": "NCBIGENE", "PUBCHEM": "PUBCHEM.COMPOUND", "PUBCHEM.CID": "PUBCHEM.COMPOUND",
    "CID": "PUBCHEM.COMPOUND", "UMLS_CUI": "UMLS", "HPO": "HP", "MSH": "MESH", "UNIPROTKB": "UNIPROT",
}  # fmt: skip
GO_EVIDENCE = [
    "EXP", "IDA", "IPI", "IMP", "IGI", "IEP", "HTP", "HDA", "HMP", "HGI", "HEP", "IBA", "IBD", "IKR", "IRD", "ISS",
    "ISO", "ISA", "ISM", "IGC", "RCA", "TAS", "NAS", "IC", "ND", "IEA",
]  # fmt: skip
HPO_EVIDENCE = ["PCS", "ICE", "TAS", "IEA"]
PRESENCE = ["gold quality", "silver quality", "bronze quality"]
DIFFERENCE = ["high quality", "low quality"]
LEVELS = ("low", "medium", "high")
SYMMETRIC = {"GENE_GENE", "GENE_BINDING_GENE", "GENE_PTMOD_GENE"}
OK, OBSOLETE, UNMAPPED_HEAD, UNMAPPED_TAIL, SELF_LOOP = 0, 5, 6, 7, 8
FATES = {OBSOLETE: "obsolete", UNMAPPED_HEAD: "unmapped_head", UNMAPPED_TAIL: "unmapped_tail", SELF_LOOP: "self_loop"}
AROUND = ' \t\r\n\f"\u00a0\u2003\u3000'
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def bare(text: str) -> str:
    return text.strip(AROUND)


def curie(text: str, prefix: str = "") -> str:
    """The identifier with its prefix in the one spelling; `prefix` is added where it is missing."""
    text = bare(text)
    if not text:
        return ""
    found, colon, local = text.partition(":")
    found = SPELLINGS.get(bare(found).upper(), bare(found))
    if prefix and not (colon and found == prefix):
        return f"{prefix}:{text}"
    return f"{found}:{bare(local)}" if colon else text


def group(pattern: str, text: str) -> str:
    """The first group of the pattern in the text without what stands around it; empty where there is none."""
    found = re.search(pattern, bare(text), re.ASCII)
    return found[1] if found else ""


# ------------------------------------------------------------------------------------------ reading


def read_text(path: Path) -> str:
    raw = path.read_bytes()
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    elif raw[:2] == b"PK":
        with zipfile.ZipFile(path) as archive:
            raw = archive.read(archive.namelist()[0])
    return raw.decode("utf-8-sig")


def read_lines(path: Path) -> list[str]:
    return [line.removesuffix("\r") for line in read_text(path).split("\n")]


def read_rows(path: Path, *, separator: str = "\t", comment: str = "\0") -> Iterator[list[str]]:
    """The cells of every line that is neither blank nor a comment."""
    for line in read_lines(path):
        if line.strip() and not line.startswith(comment):
            yield line.split(separator)


def read_named(path: Path, *names: str, separators: str = "\t", comment: str = "\0") -> Iterator[list[str]]:
    """The cells under some names of a header line, whatever else the file has."""
    lines = [line for line in read_lines(path) if line.strip()]
    start = next(i for i, line in enumerate(lines) if not line.startswith(comment))
    for number in (start, *range(start - 1, -1, -1)):
        for separator in separators:
            header = [cell.strip().lower() for cell in lines[number].lstrip("# ").split(separator)]
            if all(name.lower() in header for name in names):
                places = [header.index(name.lower()) for name in names]
                for line in lines[max(number + 1, start) :]:
                    if not line.startswith(comment):
                        cells = line.split(separator)
                        yield [cells[place] for place in places]
                return
    raise AssertionError(f"{path}: no header with {names}")


@dataclass
class Term:
    identifier: str = ""
    name: str = ""
    obsolete: bool = False
    alternatives: list[str] = field(default_factory=list)
    replaced_by: list[str] = field(default_factory=list)
    is_a: list[str] = field(default_factory=list)
    part_of: list[str] = field(default_factory=list)
    xrefs: list[str] = field(default_factory=list)


@cache
def read_terms(path: Path, _stamp: float = 0) -> list[Term]:
    terms: list[Term] = []
    inside = False
    for raw in read_lines(path):
        line = raw.strip()
        if line.startswith("[") and line.endswith("]"):
            inside = line == "[Term]"
            if inside:
                terms.append(Term())
            continue
        if not inside or ":" not in line:
            continue
        tag, _, rest = line.partition(":")
        words = rest.split("{")[0].split()
        if not words:
            continue
        term = terms[-1]
        if tag == "id":
            term.identifier = words[0]
        elif tag == "name" and not term.name:
            plain = re.sub(r"\s*(?<!\\)\{[^{}]*\}$", "", re.split(r"(?<!\\)\s!\s", rest)[0].rstrip())
            term.name = re.sub(r"\\(.)", r"\1", plain).strip()
        elif tag == "is_obsolete":
            term.obsolete = words[0] == "true"
        elif tag == "alt_id":
            term.alternatives.append(words[0])
        elif tag == "replaced_by":
            term.replaced_by.append(words[0])
        elif tag == "is_a":
            term.is_a.append(words[0])
        elif tag == "xref":
            term.xrefs.append(words[0])
        elif tag == "relationship" and words[0] == "part_of":
            term.part_of.append(words[1])
    return [term for term in terms if term.identifier]


def read_copy(path: Path, table: str, *names: str) -> Iterator[list[str]]:
    """Some columns of one table of a plain PostgreSQL dump."""
    places: list[int] | None = None
    escapes = {r"\\": "\\", r"\t": "\t", r"\n": "\n", r"\r": "\r", r"\b": "\b", r"\f": "\f", r"\v": "\v"}
    for line in read_lines(path):
        if places is None:
            found = re.match(r"COPY (?:\w+\.)?(\w+) \((.*)\) FROM stdin;", line)
            if found and found[1] == table:
                columns = [column.strip(' "') for column in found[2].split(",")]
                places = [columns.index(name) for name in names]
        elif line == "\\.":
            places = None
        else:
            cells = line.split("\t")
            wanted = [cells[place] for place in places]
            yield [
                "" if cell == "\\N" else re.sub(r"\\.", lambda m: escapes.get(m[0], m[0][1:]), cell) for cell in wanted
            ]


# ------------------------------------------------------------------------------------------ identifiers

Found = tuple[str, int, bool]  # identifier, OK or OBSOLETE or UNMAPPED_HEAD, whether its ontology lacks it


class Identifiers:
    """What each cell of each kind of end stands for, with the maps and ontologies of one set of files."""

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self.paths = paths
        self.seen: dict[tuple[str, str], list[Found]] = {}
        self.maps: dict[str, dict[str, set[str]]] = {}
        self.ontologies: dict[str, dict[str, str]] = {}

    def identify(self, kind: str, cell: str) -> list[Found]:
        if (kind, cell) not in self.seen:
            self.seen[kind, cell] = sorted(set(self._identify(kind, cell)))
        return self.seen[kind, cell]

    def _identify(self, kind: str, cell: str) -> Iterator[Found]:
        end = ENDS[kind]
        start = end.first(cell)
        if not start:
            yield bare(cell), UNMAPPED_HEAD, False
            return
        found = [start]
        if end.map:
            found = sorted(self.map(end.map).get(start, ()))
            if not found:
                yield start, UNMAPPED_HEAD, False
        for identifier in found:
            live, fate, unknown = identifier, OK, False
            if end.ontology:
                resolved = self.ontology(end.ontology)
                unknown = identifier not in resolved
                live = resolved.get(identifier, identifier)
                if not live and identifier:
                    live, fate = identifier, OBSOLETE
            valid = VALID[end.type].fullmatch(live) is not None
            yield live, UNMAPPED_HEAD if fate == OK and not valid else fate, unknown and valid

    def map(self, name: str) -> dict[str, set[str]]:
        if name not in self.maps:
            pairs = defaultdict(set)
            for key, value in MAPS[name][1](self.paths[MAPS[name][0]]):
                if key and value:
                    pairs[key].add(value)
            self.maps[name] = dict(pairs)
        return self.maps[name]

    def ontology(self, source: str) -> dict[str, str]:
        """Every id of the file → the live id, empty where there is none."""
        if source in self.ontologies:
            return self.ontologies[source]
        terms = {term.identifier: term for term in terms_of(self.paths[source])}
        owners: dict[str, set[str]] = defaultdict(set)
        for term in terms.values():
            for alternative in term.alternatives:
                owners[alternative].add(term.identifier)

        def resolve(identifier: str, before: frozenset[str]) -> str:
            if identifier in before:
                return ""
            before |= {identifier}
            if identifier in terms:
                term = terms[identifier]
                if not term.obsolete:
                    return identifier
                others = [one for one in term.replaced_by if one != identifier]
                return resolve(others[0], before) if others else ""
            if identifier in owners:
                return resolve(min(owners[identifier]), before)
            return identifier

        table = {curie(one): curie(resolve(one, frozenset())) for one in [*terms, *owners]}
        self.ontologies[source] = table
        return table


def terms_of(path: Path) -> list[Term]:
    return read_terms(path, path.stat().st_mtime_ns)


@dataclass(frozen=True)
class End:
    type: str
    first: Callable[[str], str]
    map: str = ""
    ontology: str = ""


def compound(cell: str) -> str:
    number = group(r"^CID[01sm]0*([1-9]\d*)$", cell)
    return f"PUBCHEM.COMPOUND:{number}" if number else ""


def protein(cell: str) -> str:
    found = group(r"^9606\.(\S+)$", cell)
    return f"ENSEMBL:{found}" if found else ""


def ensembl_gene(cell: str) -> str:
    found = group(r"^(ENSG\d+)(?:\.\d+)?$", cell)
    return f"ENSEMBL:{found}" if found else ""


def concept(cell: str) -> str:
    return curie(group(r"^(C\d+)$", cell), "UMLS")


def pathway(cell: str) -> str:
    return curie(re.sub(r"^KEGG:hsa_M", "KEGG:M", bare(cell)))


ENDS = {
    "protein": End("GENE", protein, map="string_to_gene"),
    "gene": End("GENE", lambda cell: curie(cell, "NCBIGENE")),
    "accession": End("GENE", lambda cell: curie(cell, "UNIPROT"), map="uniprot_to_gene"),
    "ensembl": End("GENE", ensembl_gene, map="ensembl_to_gene"),
    "compound": End("DRUG", compound),
    "structure": End("DRUG", lambda cell: curie(cell, "DRUGCENTRAL"), map="drugcentral_to_pubchem"),
    "go": End("GO", curie, ontology="go.ontology"),
    "disease": End("DIS", curie, ontology="do.ontology"),
    "umls_disease": End("DIS", lambda cell: curie(cell, "UMLS"), map="umls_to_doid", ontology="do.ontology"),
    "concept_disease": End("DIS", concept, map="umls_to_doid", ontology="do.ontology"),
    "entry_disease": End("DIS", curie, map="disease_to_doid", ontology="do.ontology"),
    "phenotype": End("PHENOTYPE", curie, ontology="hpo.ontology"),
    "sign": End("PHENOTYPE", concept, map="umls_to_hp", ontology="hpo.ontology"),
    "anatomy": End("ANATOMY", curie, ontology="uberon.ontology"),
    "pathway": End("PATHWAY", pathway),
}


def string_genes(path: Path) -> Iterator[tuple[str, str]]:
    for _, genes, name in read_rows(path, comment="#"):
        for gene in genes.split("|"):
            yield protein(name), curie(gene, "NCBIGENE")


def uniprot_genes(path: Path) -> Iterator[tuple[str, str]]:
    for row in read_rows(path):
        for gene in row[2].split(";"):
            yield curie(row[0], "UNIPROT"), curie(gene, "NCBIGENE")


def ensembl_genes(path: Path) -> Iterator[tuple[str, str]]:
    for row in read_rows(path):
        for one in row[18].split(";"):
            for gene in row[2].split(";"):
                yield ensembl_gene(one), curie(gene, "NCBIGENE")


def disease_vocabulary(path: Path) -> Iterator[tuple[str, str]]:
    for disease, vocabulary, code in read_named(path, "diseaseId", "vocabulary", "code", separators="\t|"):
        if vocabulary == "DO":
            yield curie(disease, "UMLS"), curie(code, "DOID")


def drug_compounds(path: Path) -> Iterator[tuple[str, str]]:
    for structure, kind, identifier in read_copy(path, "identifier", "struct_id", "id_type", "identifier"):
        if kind == "PUBCHEM_CID":
            yield curie(structure, "DRUGCENTRAL"), curie(group(r"^0*([1-9]\d*)$", identifier), "PUBCHEM.COMPOUND")


def disease_entries(path: Path) -> Iterator[tuple[str, str]]:
    for term in terms_of(path):
        for xref in term.xrefs:
            yield curie(group(r"^(O?MIM:(?:PS)?\d+)$", xref)), curie(term.identifier)


def sign_concepts(path: Path) -> Iterator[tuple[str, str]]:
    for term in terms_of(path):
        for xref in term.xrefs:
            yield curie(group(r"^UMLS:(C\d+)$", xref), "UMLS"), curie(term.identifier)


MAPS: dict[str, tuple[str, Callable[[Path], Iterator[tuple[str, str]]]]] = {
    "string_to_gene": ("string.entrez", string_genes),
    "uniprot_to_gene": ("uniprot.id_mapping", uniprot_genes),
    "ensembl_to_gene": ("uniprot.id_mapping", ensembl_genes),
    "umls_to_doid": ("disgenet.mappings", disease_vocabulary),
    "drugcentral_to_pubchem": ("drugcentral.dump", drug_compounds),
    "disease_to_doid": ("do.ontology", disease_entries),
    "umls_to_hp": ("hpo.ontology", sign_concepts),
}

# --------------------------------------------------------------------------------------------- dates


def calendar_date(parts: list[str]) -> str:
    """Year, month and day as a date; empty where there is no such day. Month and day may be absent."""
    if len(parts[0]) != 4 or any(len(part) > 2 for part in parts[1:]):
        return ""
    year, month, day = (int(part) for part in [*parts, "1", "1"][:3])
    try:
        date(year, month, day)
    except ValueError:
        return ""
    return "-".join([parts[0], *(part.zfill(2) for part in parts[1:])])


def earliest(cell: str, pattern: str = r"(\d{4})-(\d{2})-(\d{2})") -> str:
    """The earliest date in a cell; empty where there is none."""
    found = [calendar_date([part for part in match.groups() if part]) for match in re.finditer(pattern, cell, re.ASCII)]
    return min(filter(None, found), default="")


# --------------------------------------------------------------------------------------------- rules


@dataclass(frozen=True)
class Row:
    """One row as a rule sees it: a reason to drop it, or its two cells, its score and its date."""

    drop: str = ""
    head: str = ""
    tail: str = ""
    score: str = ""
    date: str = ""


@dataclass(frozen=True)
class Rule:
    relation: str
    source: str
    label: str
    ends: tuple[str, str]
    rows: Callable[[Path], Iterator[Row]]
    negative: bool = False
    bounds: tuple[float, float, float] | None = None  # a score is a number above the bound of its level
    words: Iterable[str] = ()  # a score is a word, best first
    passing: tuple[Callable[[str], bool] | None, ...] = (None, None, None)  # test of a word at each level

    def needs(self) -> set[str]:
        ends = [ENDS[kind] for kind in self.ends]
        return {self.source, *(MAPS[end.map][0] for end in ends if end.map), *(e.ontology for e in ends if e.ontology)}


def first_failure(**conditions: bool) -> str:
    return next((f"filtered:{name}" for name, met in conditions.items() if not met), "")


def read_string_links(path: Path) -> Iterator[Row]:
    for one, two, score in read_named(path, "protein1", "protein2", "combined_score", separators=" \t"):
        yield Row("", one, two, score)


def read_string_actions(
    mode: str, action: str | None = None, *, both_ways: bool = False
) -> Callable[[Path], Iterator[Row]]:
    def rows(path: Path) -> Iterator[Row]:
        names = ("item_id_a", "item_id_b", "mode", "action", "is_directional", "a_is_acting", "score")
        for a, b, found, kind, directional, acting, score in read_named(path, *names):
            tests = {"mode": found == mode}
            if action is not None:
                tests["action"] = kind == action
            tests |= {"directional": directional == "f"} if both_ways else {
                "undirected": directional == "t", "a_not_acting": acting == "t"
            }  # fmt: skip
            yield Row(first_failure(**tests), a, b, score)

    return rows


def read_stitch_links(path: Path) -> Iterator[Row]:
    for chemical, name, score in read_named(path, "chemical", "protein", "combined_score"):
        yield Row(first_failure(not_stereo=chemical.startswith("CIDs")), name, chemical, score)


def read_stitch_actions(mode: str, actions: tuple[str, ...] = ()) -> Callable[[Path], Iterator[Row]]:
    def rows(path: Path) -> Iterator[Row]:
        for a, b, found, action, score in read_named(path, "item_id_a", "item_id_b", "mode", "action", "score"):
            drop = first_failure(
                not_stereo_first=a.startswith("CIDs"), mode=found == mode, action=not actions or action in actions
            )
            yield Row(drop, a, b, score)

    return rows


def read_go(path: Path) -> Iterator[Row]:
    for row in read_rows(path, comment="!"):
        negated = "NOT" in [piece.strip().upper() for piece in row[3].split("|")]
        drop = first_failure(
            database=row[0].strip() == "UniProtKB", taxon=row[12].split("|")[0].strip() == "taxon:9606"
        )
        drop = "negated" if negated else drop
        yield Row(drop, row[1], row[4], row[6], earliest(row[13], r"^(\d{4})(\d{2})(\d{2})$"))


def read_gene_disease(path: Path) -> Iterator[Row]:
    years = ["YearInitial"] if "YearInitial" in read_lines(path)[0] else []
    for gene, disease, score, *year in read_named(path, "geneId", "diseaseId", "score", *years):
        yield Row("", gene, disease, score, earliest("".join(year), r"^(\d{4})(?:\.0)?$"))


def read_annotations(path: Path) -> Iterator[tuple[str, str, str, str, str, str]]:
    """Disease, qualifier, phenotype, evidence, aspect and date, of the releases before and since 2020."""
    lines = read_lines(path)
    if any(re.match("#?database_?id\t", line, re.IGNORECASE) for line in lines):
        disease = "database_id" if any(line.startswith("database_id") for line in lines) else "DatabaseID"
        yield from map(
            tuple, read_named(path, disease, "qualifier", "hpo_id", "evidence", "aspect", "biocuration", comment="#")
        )
        return
    for row in read_rows(path, comment="#"):
        aspect = row[11] if len(row) == 14 and row[11] in list("OPICMH") else row[10]
        yield f"{row[0]}:{row[1]}", row[3], row[4], row[6], aspect, row[12]


def is_not(qualifier: str) -> bool:
    return "NOT" in [piece.strip().upper() for piece in qualifier.split("|")]


def read_disease_phenotype(path: Path) -> Iterator[Row]:
    for disease, qualifier, phenotype, evidence, aspect, curation in read_annotations(path):
        drop = "negated" if is_not(qualifier) else first_failure(aspect=aspect in {"P", "O"})
        yield Row(drop, disease, phenotype, evidence, earliest(curation))


def read_no_disease_phenotype(path: Path) -> Iterator[Row]:
    for disease, qualifier, phenotype, evidence, aspect, curation in read_annotations(path):
        drop = first_failure(not_negated=is_not(qualifier), aspect=aspect in {"P", "O"})
        yield Row(drop, disease, phenotype, evidence, earliest(curation))


def read_gene_phenotype(path: Path) -> Iterator[Row]:
    if read_text(path).startswith("ncbi_gene_id"):
        for gene, phenotype in read_named(path, "ncbi_gene_id", "hpo_id"):
            yield Row("", gene, phenotype)
        return
    for row in read_rows(path, comment="#"):
        yield Row("", row[0], row[2] if row[2].startswith("HP:") else row[3])


def read_gene_pathway(path: Path) -> Iterator[Row]:
    for row in read_rows(path, comment="#"):
        yield Row("", row[1], row[3])


def read_expression(**wanted: str) -> Callable[[Path], Iterator[Row]]:
    reason, call = next(iter(wanted.items()))

    def rows(path: Path) -> Iterator[Row]:
        names = ("Gene ID", "Anatomical entity ID", "Expression", "Call quality")
        for gene, anatomy, found, grade in read_named(path, *names):
            yield Row(
                first_failure(**{reason: found == call, "composite_anatomy": "∩" not in anatomy}), gene, anatomy, grade
            )

    return rows


def read_difference(**wanted: str) -> Callable[[Path], Iterator[Row]]:
    reason, call = next(iter(wanted.items()))

    def rows(path: Path) -> Iterator[Row]:
        names = ("Gene ID", "Anatomical entity ID", "Differential expression", "Call quality")
        for gene, anatomy, found, grade in read_named(path, *names):
            yield Row(
                first_failure(**{reason: found == call, "composite_anatomy": "∩" not in anatomy}), gene, anatomy, grade
            )

    return rows


def read_drugcentral(**wanted: str) -> Callable[[Path], Iterator[Row]]:
    reason, name = next(iter(wanted.items()))

    def rows(path: Path) -> Iterator[Row]:
        columns = ("struct_id", "relationship_name", "umls_cui")
        for structure, found, disease in read_copy(path, "omop_relationship", *columns):
            yield Row(first_failure(**{reason: found == name}), disease, structure)

    return rows


def read_side_effects(path: Path) -> Iterator[Row]:
    for row in read_rows(path):
        yield Row("", row[1], row[2])


def read_tree(relation: str, *prefixes: str) -> Callable[[Path], Iterator[Row]]:
    def rows(path: Path) -> Iterator[Row]:
        for term in terms_of(path):
            for parent in getattr(term, relation):
                own = [one.startswith(prefixes) for one in (term.identifier, parent)]
                drop = first_failure(obsolete_term=not term.obsolete, foreign_term=all(own))
                yield Row(drop, term.identifier, parent)

    return rows


OUT_OF_1000, OUT_OF_1 = (0, 400, 700), (0, 0.4, 0.7)
PRESENCE_PASSES = tuple(lambda grade, n=n: grade in PRESENCE[:n] for n in (3, 2, 1))
DIFFERENCE_PASSES = tuple(lambda grade, n=n: grade in DIFFERENCE[:n] for n in (2, 2, 1))
NOT_BY_MACHINE = (None, None, lambda evidence: evidence not in {"IEA", ""})


def string_action(mode: str, action: str | None = None, *, both_ways: bool = False, name: str = "") -> Rule:
    relation = f"GENE_{name or mode.upper()}_GENE"
    rows = read_string_actions(mode, action, both_ways=both_ways)
    return Rule(relation, "string.actions", "STRING", ("protein", "protein"), rows, bounds=OUT_OF_1000)


def stitch_action(mode: str, actions: tuple[str, ...] = (), name: str = "") -> Rule:
    relation = f"DRUG_{name or mode.upper().replace('_', '')}_GENE"
    rows = read_stitch_actions(mode, actions)
    return Rule(relation, "stitch.actions", "STITCH", ("compound", "protein"), rows, bounds=OUT_OF_1000)


def bgee(relation: str, rows: Callable[[Path], Iterator[Row]], *, negative: bool = False) -> Rule:
    present = relation == "GENE_EXPRESSED_ANATOMY"
    return Rule(
        relation, "bgee.expression" if present else "bgee.differential", "Bgee", ("ensembl", "anatomy"), rows, negative,
        words=PRESENCE if present else DIFFERENCE, passing=PRESENCE_PASSES if present else DIFFERENCE_PASSES,
    )  # fmt: skip


def annotation(source: str, rows: Callable[[Path], Iterator[Row]], *, negative: bool) -> Rule:
    ends = ("entry_disease", "phenotype")
    return Rule("DIS_PHENOTYPE", source, "HPO", ends, rows, negative, words=HPO_EVIDENCE, passing=NOT_BY_MACHINE)


def tree(relation: str, source: str, label: str, kind: str, *prefixes: str) -> Rule:
    return Rule(relation.upper(), source, label, (kind, kind), read_tree(relation, *prefixes))


OVER, UNDER = (
    read_difference(not_over_expressed="over-expression"),
    read_difference(not_under_expressed="under-expression"),
)
RULES: dict[str, Rule] = {
    "GENE_GENE": Rule(
        "GENE_GENE", "string.links", "STRING", ("protein", "protein"), read_string_links, bounds=OUT_OF_1000
    ),
    "GENE_ACTIVATION_GENE": string_action("activation"),
    "GENE_CATALYSIS_GENE": string_action("catalysis"),
    "GENE_EXPRESSION_GENE": string_action("expression"),
    "GENE_INHIBITION_GENE": string_action("inhibition"),
    "GENE_REACTION_GENE": string_action("reaction"),
    "GENE_BINDACT_GENE": string_action("binding", "activation", name="BINDACT"),
    "GENE_BINDINH_GENE": string_action("binding", "inhibition", name="BINDINH"),
    "GENE_BINDING_GENE": string_action("binding", both_ways=True),
    "GENE_PTMOD_GENE": string_action("ptmod", both_ways=True),
    "GENE_DRUG": Rule(
        "GENE_DRUG", "stitch.links", "STITCH", ("protein", "compound"), read_stitch_links, bounds=OUT_OF_1000
    ),
    "DRUG_ACTIVATION_GENE": stitch_action("activation"),
    "DRUG_BINDING_GENE": stitch_action("binding"),
    "DRUG_CATALYSIS_GENE": stitch_action("catalysis"),
    "DRUG_EXPRESSION_GENE": stitch_action("expression"),
    "DRUG_INHIBITION_GENE": stitch_action("inhibition"),
    "DRUG_PREDBIND_GENE": stitch_action("pred_bind"),
    "DRUG_REACTION_GENE": stitch_action("reaction"),
    "DRUG_BINDACT_GENE": stitch_action("binding", ("activation", "ac"), "BINDACT"),
    "DRUG_BINDINH_GENE": stitch_action("binding", ("inhibition", "in"), "BINDINH"),
    "GENE_DIS": Rule(
        "GENE_DIS", "disgenet.gene_disease", "DisGeNet", ("gene", "umls_disease"), read_gene_disease, bounds=OUT_OF_1
    ),
    "GENE_GO": Rule(
        "GENE_GO", "go.annotations", "GO", ("accession", "go"), read_go, words=GO_EVIDENCE, passing=NOT_BY_MACHINE
    ),
    "GENE_PHENOTYPE": Rule("GENE_PHENOTYPE", "hpo.gene_phenotype", "HPO", ("gene", "phenotype"), read_gene_phenotype),
    "GENE_PATHWAY": Rule("GENE_PATHWAY", "ctd.gene_pathway", "CTD", ("gene", "pathway"), read_gene_pathway),
    "GENE_EXPRESSED_ANATOMY": bgee("GENE_EXPRESSED_ANATOMY", read_expression(not_present="present")),
    "TN.GENE_EXPRESSED_ANATOMY": bgee("GENE_EXPRESSED_ANATOMY", read_expression(not_absent="absent"), negative=True),
    "GENE_OVEREXPRESSED_ANATOMY": bgee("GENE_OVEREXPRESSED_ANATOMY", OVER),
    "TN.GENE_OVEREXPRESSED_ANATOMY": bgee("GENE_OVEREXPRESSED_ANATOMY", UNDER, negative=True),
    "GENE_UNDEREXPRESSED_ANATOMY": bgee("GENE_UNDEREXPRESSED_ANATOMY", UNDER),
    "TN.GENE_UNDEREXPRESSED_ANATOMY": bgee("GENE_UNDEREXPRESSED_ANATOMY", OVER, negative=True),
    "DIS_PHENOTYPE": annotation("hpo.disease_phenotype", read_disease_phenotype, negative=False),
    "TN.DIS_PHENOTYPE": annotation("hpo.disease_phenotype", read_no_disease_phenotype, negative=True),
    "TN.DIS_PHENOTYPE.negated_file": annotation(
        "hpo.disease_phenotype_negated", read_no_disease_phenotype, negative=True
    ),
    "DIS_DRUG": Rule(
        "DIS_DRUG", "drugcentral.dump", "DrugCentral", ("concept_disease", "structure"),
        read_drugcentral(not_indication="indication"),
    ),
    "TN.DIS_DRUG": Rule(
        "DIS_DRUG", "drugcentral.dump", "DrugCentral", ("concept_disease", "structure"),
        read_drugcentral(not_contraindication="contraindication"), negative=True,
    ),
    "DRUG_PHENOTYPE": Rule("DRUG_PHENOTYPE", "sider.side_effects", "SIDER", ("compound", "sign"), read_side_effects),
    "IS_A.GO": tree("is_a", "go.ontology", "GO", "go", "GO:"),
    "IS_A.HPO": tree("is_a", "hpo.ontology", "HPO", "phenotype", "HP:"),
    "IS_A.DO": tree("is_a", "do.ontology", "DO", "disease", "DOID:"),
    "IS_A.UBERON": tree("is_a", "uberon.ontology", "UBERON", "anatomy", "UBERON:", "CL:"),
    "PART_OF.GO": tree("part_of", "go.ontology", "GO", "go", "GO:"),
    "PART_OF.UBERON": tree("part_of", "uberon.ontology", "UBERON", "anatomy", "UBERON:", "CL:"),
}  # fmt: skip

# --------------------------------------------------------------------------------------------- names


def names_of_terms(path: Path) -> Iterator[tuple[str, str]]:
    for term in terms_of(path):
        if not term.obsolete:
            yield curie(term.identifier), term.name


def names_in(kind: str, *columns: str) -> Callable[[Path], Iterator[tuple[str, str]]]:
    def names(path: Path) -> Iterator[tuple[str, str]]:
        for cell, name in read_named(path, *columns):
            yield ENDS[kind].first(cell), name

    return names


def names_of_phenotype_genes(path: Path) -> Iterator[tuple[str, str]]:
    if read_text(path).startswith("ncbi_gene_id"):
        yield from names_in("gene", "ncbi_gene_id", "gene_symbol")(path)
        return
    for row in read_rows(path, comment="#"):
        yield curie(row[0], "NCBIGENE"), row[1]


def names_of_accessions(path: Path) -> Iterator[tuple[str, str]]:
    for row in read_rows(path, comment="!"):
        if row[0].strip() == "UniProtKB" and row[12].split("|")[0].strip() == "taxon:9606":
            yield curie(row[1], "UNIPROT"), row[2]


def names_of_pathways(path: Path) -> Iterator[tuple[str, str]]:
    for row in read_rows(path, comment="#"):
        yield pathway(row[3]), row[2]


def names_of_pathway_genes(path: Path) -> Iterator[tuple[str, str]]:
    for row in read_rows(path, comment="#"):
        yield curie(row[1], "NCBIGENE"), row[0]


# Node type, source, map of the ids if any, and where the names stand; the first with a name for a node gives it.
NAMES: list[tuple[str, str, str, Callable[[Path], Iterator[tuple[str, str]]]]] = [
    ("GENE", "hpo.gene_phenotype", "", names_of_phenotype_genes),
    ("GENE", "disgenet.gene_disease", "", names_in("gene", "geneId", "geneSymbol")),
    ("GENE", "ctd.gene_pathway", "", names_of_pathway_genes),
    ("GENE", "go.annotations", "uniprot_to_gene", names_of_accessions),
    ("DIS", "do.ontology", "", names_of_terms),
    ("PATHWAY", "ctd.gene_pathway", "", names_of_pathways),
    ("GO", "go.ontology", "", names_of_terms),
    ("PHENOTYPE", "hpo.ontology", "", names_of_terms),
    ("ANATOMY", "uberon.ontology", "", names_of_terms),
]


def name_nodes(identifiers: Identifiers, nodes: Mapping[str, str], used: set[str]) -> dict[str, str]:
    """The name of each node (id → type) that a source in use has one for."""
    names: dict[str, str] = {}
    for kind, source, via, pairs in NAMES:
        if source not in used or (via and MAPS[via][0] not in used):
            continue
        found: dict[str, set[str]] = defaultdict(set)
        for identifier, name in pairs(identifiers.paths[source]):
            meant = identifiers.map(via).get(identifier, ()) if via else [identifier]
            for node in meant:
                if len(meant) == 1 and bare(name) not in {"", "-"} and nodes.get(node) == kind:
                    found[node].add(bare(name))
        names = {node: min(texts) for node, texts in found.items()} | names
    return names


# --------------------------------------------------------------------------------------------- build

Edge = tuple[str, str, str]


@dataclass
class Expected:
    """What a graph should hold.

    `ledger`: rule → reason → rows, without reasons that no row has; `given`: rule → edges that its rows gave;
    `unmapped`: (identifier, node type) of ends that came to nothing; `unknown`: "relation: type not in source" →
    identifiers that an ontology does not hold; `dates`, `negative_dates`: edge → earliest date; `names`: node → name.
    """

    edges: dict[Edge, tuple[str, str]] = field(default_factory=dict)
    negatives: dict[Edge, tuple[str, str]] = field(default_factory=dict)
    ledger: dict[str, dict[str, int]] = field(default_factory=dict)
    given: dict[str, int] = field(default_factory=dict)
    unmapped: set[tuple[str, str]] = field(default_factory=set)
    negative_unmapped: set[tuple[str, str]] = field(default_factory=set)
    unknown: dict[str, int] = field(default_factory=dict)
    lacking: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    self_loops: dict[str, set[str]] = field(default_factory=dict)
    dates: dict[Edge, str] = field(default_factory=dict)
    negative_dates: dict[Edge, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


def build(paths: Mapping[str, Path], *, quality: str = "all", directed: bool = True) -> Expected:
    """Build what can be built from some source files, edge by edge."""
    expected = Expected()
    identifiers = Identifiers(paths)
    groups: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for name, rule in RULES.items():
        if rule.needs() <= set(paths):
            groups[rule.relation, rule.negative].append(name)
    for names in groups.values():
        _build_group(expected, identifiers, names, quality, directed=directed)
    nodes: dict[str, set[str]] = defaultdict(set)
    for head, relation, tail in (*expected.edges, *expected.negatives):
        nodes[relation] |= {head, tail}
    used = set().union(*(RULES[name].needs() for names in groups.values() for name in names))
    kinds = {
        node: next(kind for kind, form in VALID.items() if form.fullmatch(node))
        for node in set().union(*nodes.values())
    }
    expected.names = name_nodes(identifiers, kinds, used)
    for (text, relation), missing in expected.lacking.items():
        if missing & nodes[relation]:
            expected.unknown[text] = len(missing & nodes[relation])
    return expected


def _build_group(
    expected: Expected, identifiers: Identifiers, names: list[str], quality: str, *, directed: bool
) -> None:
    first = RULES[names[0]]
    symmetric = first.relation in SYMMETRIC
    best: dict[tuple[str, str], tuple] = {}
    dates: dict[tuple[str, str], str] = {}
    candidates: list[tuple[int, int, list[tuple[str, str]]]] = []
    for number, name in enumerate(names):
        rule, counts = RULES[name], defaultdict(int)
        expected.ledger[name] = counts
        unknown: tuple[set[str], set[str]] = (set(), set())
        for place, row in enumerate(rule.rows(identifiers.paths[rule.source])):
            counts["read"] += 1
            reason, score, rank = _judge(rule, row, quality)
            if reason and reason != "below_quality":
                counts[reason] += 1
                continue
            ends = [
                identifiers.identify(kind, cell) for kind, cell in zip(rule.ends, (row.head, row.tail), strict=True)
            ]
            for side, kind, found in zip(unknown, rule.ends, ends, strict=True):
                _list_lost(expected, rule, ENDS[kind].type, found, side)
            pairs, fate = _pair(expected, rule, *ends, symmetric=symmetric)
            if reason:
                counts[reason] += 1
            elif not pairs:
                counts[FATES[fate]] += 1
            else:
                candidates.append((number, place, pairs))
                key = (rank, score, number, row.head, row.tail, place)
                for pair in pairs:
                    best[pair] = min(best.get(pair, key), key)
                    if row.date:
                        dates[pair] = min(dates.get(pair, row.date), row.date)
        for kind, missing in zip(rule.ends, unknown, strict=True):
            if missing:
                text = f"{rule.relation}: {ENDS[kind].type} not in {ENDS[kind].ontology}"
                expected.lacking.setdefault((text, rule.relation), set()).update(missing)
    copies = 2 if symmetric and directed else 1
    for number, place, pairs in candidates:
        kept = any(best[pair][2] == number and best[pair][5] == place for pair in pairs)
        expected.ledger[names[number]]["kept" if kept else "duplicate"] += 1
    for number, name in enumerate(names):
        expected.given[name] = copies * sum(key[2] == number for key in best.values())
    target = expected.negatives if first.negative else expected.edges
    when = expected.negative_dates if first.negative else expected.dates
    for (head, tail), stated in dates.items():
        when |= {(one, first.relation, other): stated for one, other in [(head, tail), (tail, head)][:copies]}
    for (head, tail), key in best.items():
        value = key[1], RULES[names[key[2]]].label
        target[head, first.relation, tail] = value
        if copies == 2:
            target[tail, first.relation, head] = value


def _judge(rule: Rule, row: Row, quality: str) -> tuple[str, str, float]:
    """The reason to drop a row before its identifiers are looked at, its score, and the place of the score."""
    score = bare(row.score)
    level = LEVELS.index(quality) if quality != "all" else None
    if rule.bounds is not None:
        score = "" if score in {"", "NA", "-"} else score
        number = float(score) if NUMBER.fullmatch(score) else inf
        if row.drop:
            return row.drop, "", 0
        if score and not isfinite(number):
            return "filtered:bad_score", "", 0
        if level is not None and not score:
            return "filtered:no_score", "", 0
        below = level is not None and not number > rule.bounds[level]
        return "below_quality" if below else "", score, -number if score else inf
    words = list(rule.words)
    rank = words.index(score) if score in words else len(words)
    test = rule.passing[level] if level is not None else None
    if row.drop:
        return row.drop, "", 0
    return "below_quality" if test is not None and not test(row.score) else "", score, rank


def _list_lost(expected: Expected, rule: Rule, kind: str, found: list[Found], unknown: set[str]) -> None:
    lost = expected.negative_unmapped if rule.negative else expected.unmapped
    for identifier, fate, missing in found:
        if fate != OK and identifier:
            lost.add((identifier, kind))
        if missing:
            unknown.add(identifier)


def _pair(
    expected: Expected, rule: Rule, heads: list[Found], tails: list[Found], *, symmetric: bool
) -> tuple[list[tuple[str, str]], int]:
    """The pairs that a row states, and the first reason of those that come to nothing."""
    pairs, fates = [], []
    for head, head_fate, _ in heads:
        for tail, tail_fate, _ in tails:
            if OBSOLETE in {head_fate, tail_fate}:
                fates.append(OBSOLETE)
            elif head_fate:
                fates.append(UNMAPPED_HEAD)
            elif tail_fate:
                fates.append(UNMAPPED_TAIL)
            elif head == tail:
                fates.append(SELF_LOOP)
                expected.self_loops.setdefault(rule.relation, set()).add(head)
            else:
                pairs.append(tuple(sorted((head, tail))) if symmetric else (head, tail))
    return pairs, min(fates, default=OK)
