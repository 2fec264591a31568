"""Write the embedded demo sources: made-up rows in the native layouts of all sources of edition 2020.

    python tools/make_demo_sources.py [FOLDER]

FOLDER is `src/openbiolink/demo` by default; the same bytes come out on every run. Nothing in these
files is a fact: every entity is a number, every number belongs to a community, and pairs are drawn so
that low numbers and pairs of one community are frequent. After the drawn rows each file holds the odd
rows that real files of its kind are known for, once each.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Pair = tuple[int, int]
    Row = Sequence[str | int | float]

HOME = Path(__file__).resolve().parent.parent / "src" / "openbiolink" / "demo"
SEED = 2020
COMMUNITIES = 4
COHESION = 6.0  # how much more likely a pair within a community is
SKEW = 0.9  # exponent of the popularity of low numbers

GENES, TERMS, DISEASES, DRUGS, PHENOTYPES, PATHWAYS, ORGANS, CELLS = 90, 45, 40, 40, 60, 20, 20, 6
ANATOMIES = ORGANS + CELLS
ROOT, INHERITANCE, RECESSIVE, COURSE, ONSET = 1, 2, 3, 4, 5  # phenotype terms that are no phenotypes
FIRST_PHENOTYPE = 6
SECOND_PROTEIN, SHARED_PROTEIN, UNKNOWN_PROTEIN = 500, 601, 900
ALTERNATIVE, REPLACED, RETIRED, UNKNOWN = 501, 601, 602, 999  # local ids: old spelling, obsolete, absent

# --------------------------------------------------------------------------------------- identifiers


def gene(number: int) -> str:
    """An NCBI gene id."""
    return str(990_000_000 + number)


def protein(number: int) -> str:
    """A protein as STRING and STITCH write it."""
    return f"9606.ENSP{99_000_000_000 + number}"


def accession(number: int) -> str:
    """A UniProt accession."""
    return f"X9M{number:03d}"


def ensembl(number: int) -> str:
    """An Ensembl gene id."""
    return f"ENSG{99_000_000_000 + number}"


def compound(number: int) -> int:
    """A PubChem compound id; short, so that the paddings of STITCH and SIDER show."""
    return 990_000 + number


def term(prefix: str, number: int) -> str:
    """The id of an ontology term."""
    return f"{prefix}:{9_900_000 + number}"


def anatomy(number: int) -> str:
    """An organ, or a cell type for the numbers after the organs."""
    return term("UBERON" if number <= ORGANS else "CL", number)


def mim(number: int) -> str:
    """The local part of an OMIM id."""
    return str(990_000 + number)


def concept(number: int) -> str:
    """A UMLS concept: diseases from 1, their second concepts from 2001, phenotypes from 5001."""
    return f"C{9_900_000 + number}"


SECOND_CONCEPT, SIGN = 2000, 5000
TWO_DISEASES, OLD_DISEASE, REPLACED_DISEASE, RETIRED_DISEASE, UNKNOWN_DISEASE, NO_DISEASE = range(3001, 3007)

# ------------------------------------------------------------------------------------------- drawing


def draw(topic: str, heads: range, tails: range, count: int, *, unordered: bool = False) -> list[Pair]:
    """The `count` first of all pairs in a random order in which popular and related pairs come early.

    Args:
        topic: seeds the order, so that files can share their pairs.
        heads: numbers of the heads; a low number is popular.
        tails: numbers of the tails.
        count: how many pairs.
        unordered: only pairs with head < tail.
    """
    rng = random.Random(f"{SEED} {topic}")
    keyed = []
    for head in heads:
        for tail in tails:
            rank = (1 + head - heads.start) * (1 + tail - tails.start)
            weight = rank**-SKEW * (COHESION if head % COMMUNITIES == tail % COMMUNITIES else 1.0)
            key = rng.random() ** (1 / weight)
            if head < tail or not unordered:
                keyed.append((key, head, tail))
    keyed.sort(reverse=True)
    return [(head, tail) for _, head, tail in keyed[:count]]


def numbers(last: int, first: int = 1) -> range:
    """From `first` to `last`, both included."""
    return range(first, last + 1)


def gene_pairs() -> list[Pair]:
    """Pairs of genes; the first are in the links and the actions, the last in the actions only."""
    return draw("gene gene", numbers(GENES), numbers(GENES), 330, unordered=True)


def drug_pairs() -> list[Pair]:
    """Pairs of a gene and a drug, used as `gene_pairs`."""
    return draw("gene drug", numbers(GENES), numbers(DRUGS), 330)


def score(rng: random.Random) -> int:
    """A confidence between 150 and 999, low ones more often."""
    return 150 + int(850 * rng.random() ** 1.5)


def table(rows: Iterable[Row], *, header: str = "", separator: str = "\t") -> str:
    """Lines of cells, after the header where there is one."""
    lines = [separator.join(map(str, row)) for row in rows]
    return "".join(f"{line}\n" for line in ([header] if header else []) + lines)


# ---------------------------------------------------------------------------------- STRING and STITCH


def string_links() -> str:
    """Both directions of every pair, as in STRING."""
    rng = random.Random(f"{SEED} string.links")
    links = [(protein(a), protein(b), score(rng)) for a, b in sorted(gene_pairs()[:315])]
    links[3] = (*links[3][:2], 400)  # exactly at the limits of medium and high
    links[4] = (*links[4][:2], 700)
    links += [
        (protein(SECOND_PROTEIN + 1), protein(2), 651),  # a second protein of gene 1: the better score counts
        (protein(1), protein(SECOND_PROTEIN + 1), 999),  # two proteins of one gene: a self loop
        (protein(SHARED_PROTEIN), protein(5), 512),  # a protein that maps to two genes
        (protein(UNKNOWN_PROTEIN), protein(6), 800),  # a protein without a gene
    ]
    rows = [(a, b, value) for a, b, value in links] + [(b, a, value) for a, b, value in links]
    rows += [(protein(88), protein(89), 900), (protein(89), protein(88), 800)]  # directions that disagree
    return table(rows, header="protein1 protein2 combined_score", separator=" ")


STRING_MODES = (  # mode, action, directional, share of the pairs
    ("activation", "activation", True, 0.36),
    ("binding", "", False, 0.50),
    ("binding", "activation", True, 0.22),
    ("binding", "inhibition", True, 0.22),
    ("catalysis", "", True, 0.30),
    ("expression", "", True, 0.24),
    ("inhibition", "inhibition", True, 0.28),
    ("ptmod", "", False, 0.30),
    ("reaction", "", True, 0.32),
)


def string_actions() -> str:
    """Every action in both orders; a directional one is true of the order in which `a` acts."""
    rng = random.Random(f"{SEED} string.actions")
    rows: list[Row] = []
    for a, b in sorted(gene_pairs()[:105] + gene_pairs()[315:]):
        for mode, action, directional, share in STRING_MODES:
            if rng.random() < share:
                head, tail = (a, b) if rng.random() < 0.5 else (b, a)
                flags = ("t", "t", "f") if directional else ("f", "f", "f")
                value = score(rng)
                rows.append((protein(head), protein(tail), mode, action, flags[0], flags[1], value))
                rows.append((protein(tail), protein(head), mode, action, flags[0], flags[2], value))
    rows += [
        (protein(1), protein(2), "activation", "activation", "f", "f", 309),  # no direction is known
        (protein(2), protein(1), "activation", "activation", "f", "f", 309),
        (protein(1), protein(2), "catalysis", "", "t", "t", 400),  # both act, with the scores of the limits
        (protein(2), protein(1), "catalysis", "", "t", "t", 700),
        (protein(1), protein(3), "expression", "inhibition", "t", "t", 913),  # an action unlike the mode
        (protein(3), protein(1), "expression", "inhibition", "t", "f", 913),
        (protein(1), protein(SECOND_PROTEIN + 1), "binding", "", "f", "f", 500),  # a self loop
        (protein(UNKNOWN_PROTEIN), protein(6), "reaction", "", "t", "t", 800),  # a protein without a gene
        (protein(SHARED_PROTEIN), protein(5), "ptmod", "", "f", "f", 620),  # in one order only
    ]
    return table(rows, header="\t".join(STRING_ACTION_COLUMNS))


STRING_ACTION_COLUMNS = ("item_id_a", "item_id_b", "mode", "action", "is_directional", "a_is_acting", "score")


def string_entrez() -> str:
    """Proteins of the genes; eight genes have two, one protein has two genes."""
    rows: list[Row] = [(9606, gene(number), protein(number)) for number in numbers(GENES)]
    rows += [(9606, gene(number), protein(SECOND_PROTEIN + number)) for number in numbers(8)]
    rows += [(9606, f"{gene(3)}|{gene(4)}", protein(SHARED_PROTEIN))]
    return table(rows, header="# NCBI taxid / entrez / STRING ")


def stereo(number: int) -> str:
    """A compound with its stereochemistry, as STITCH writes it."""
    return f"CIDs{compound(number):08d}"


def flat(number: int) -> str:
    """The same compound without stereochemistry."""
    return f"CIDm{compound(number):08d}"


def stitch_links() -> str:
    """Stereo rows for every pair, flat rows for some."""
    rng = random.Random(f"{SEED} stitch.links")
    rows: list[Row] = []
    for target, drug in sorted(drug_pairs()[:315]):
        value = score(rng)
        rows.append((stereo(drug), protein(target), value))
        if rng.random() < 0.25:
            rows.append((flat(drug), protein(target), value))
    rows += [
        (stereo(1), protein(SECOND_PROTEIN + 1), 400),  # second proteins, with the scores of the limits
        (stereo(1), protein(SECOND_PROTEIN + 2), 700),
        (stereo(2), protein(UNKNOWN_PROTEIN), 800),  # a protein without a gene
        (stereo(3), protein(SHARED_PROTEIN), 450),  # a protein that maps to two genes
        (flat(DRUGS + 9), protein(1), 900),  # a compound that only occurs flat
    ]
    return table(rows, header="chemical\tprotein\tcombined_score")


STITCH_MODES = (  # mode, action, share of the pairs
    ("activation", "activation", 0.30),
    ("binding", "", 0.55),
    ("binding", "activation", 0.18),
    ("binding", "inhibition", 0.22),
    ("catalysis", "", 0.20),
    ("expression", "", 0.20),
    ("inhibition", "inhibition", 0.40),
    ("pred_bind", "", 0.34),
    ("reaction", "", 0.22),
)


def stitch_actions() -> str:
    """Every action twice, with the compound and with the protein in front."""
    rng = random.Random(f"{SEED} stitch.actions")
    rows: list[Row] = []
    for target, drug in sorted(drug_pairs()[:100] + drug_pairs()[315:]):
        for mode, action, share in STITCH_MODES:
            if rng.random() < share:
                value, acting = score(rng), "t" if rng.random() < 0.7 else "f"
                rows.append((stereo(drug), protein(target), mode, action, acting, value))
                rows.append((protein(target), stereo(drug), mode, action, "f", value))
    rows += [
        (stereo(4), protein(1), "binding", "ac", "t", 521),  # short names of actions
        (stereo(4), protein(2), "binding", "in", "f", 521),
        (stereo(5), protein(1), "binding", "", "f", 191),  # one pair, two scores
        (stereo(5), protein(1), "binding", "", "f", 521),
        (flat(6), protein(1), "pred_bind", "", "f", 170),  # flat
        (protein(7), stereo(7), "expression", "", "t", 640),  # the protein acts on the drug
        (stereo(8), protein(UNKNOWN_PROTEIN), "reaction", "", "t", 700),  # a protein without a gene
    ]
    return table(rows, header="item_id_a\titem_id_b\tmode\taction\ta_is_acting\tscore")


# ----------------------------------------------------------------------------------------- ontologies


@dataclass(frozen=True, slots=True, kw_only=True)
class Stanza:
    """One stanza of an OBO file: its kind, id, name and further lines."""

    id: str
    name: str
    lines: tuple[str, ...] = ()
    kind: str = "Term"


def with_lines(stanzas: Sequence[Stanza], odd: Mapping[int, Sequence[str]]) -> list[Stanza]:
    """The stanzas, those at the positions `odd` with more lines at their end."""
    return [replace(one, lines=(*one.lines, *odd.get(position, ()))) for position, one in enumerate(stanzas)]


PART_OF = Stanza(id="part_of", name="part of", lines=("is_transitive: true",), kind="Typedef")


def obo(name: str, header: Sequence[str], stanzas: Sequence[Stanza]) -> str:
    """An OBO file with a type definition in its middle, where a careless reader stops."""
    middle = len(stanzas) // 2
    lines = ["format-version: 1.2", "data-version: releases/2020-03-01", *header, f"ontology: {name}"]
    lines.insert(2, "remark: made-up terms for a demonstration, nothing here is a fact")
    for stanza in [*stanzas[:middle], PART_OF, *stanzas[middle:]]:
        lines += ["", f"[{stanza.kind}]", f"id: {stanza.id}", f"name: {stanza.name}", *stanza.lines]
    return "".join(f"{line}\n" for line in lines)


def parents(topic: str, count: int, *, roots: int, groups: int) -> dict[int, list[int]]:
    """Parents of the terms 1…count: lower terms of the same group, a second one for every fifth."""
    rng = random.Random(f"{SEED} {topic}")
    found: dict[int, list[int]] = {}
    for number in numbers(count):
        kin = [other for other in numbers(number - 1) if other % groups == number % groups] or [1]
        first, second = (kin[int(len(kin) * rng.random() ** 2)] for _ in range(2))
        found[number] = [] if number <= roots else [first]
        if found[number] and number % 5 == 0 and second != first:
            found[number].append(second)
    return found


def obsolete_stanzas(prefix: str, successor: str) -> list[Stanza]:
    """An obsolete term with a successor, and one without."""
    return [
        Stanza(
            id=term(prefix, REPLACED),
            name="obsolete made-up term with a successor",
            lines=(
                f"alt_id: {term(prefix, REPLACED + 10)}",
                "is_obsolete: true",
                f"replaced_by: {successor}",
            ),
        ),
        Stanza(
            id=term(prefix, RETIRED),
            name="obsolete made-up term without a successor",
            lines=(f"is_a: {successor} ! left behind", "is_obsolete: true", f"consider: {successor}"),
        ),
    ]


ASPECTS = {1: ("P", "biological_process"), 2: ("F", "molecular_function"), 0: ("C", "cellular_component")}


def go_ontology() -> str:
    """Three trees, one for each aspect, and parts across them."""
    stanzas = []
    above = parents("go.ontology", TERMS, roots=3, groups=3)
    for number in numbers(TERMS):
        lines = [f"namespace: {ASPECTS[number % 3][1]}"]
        lines += [f"is_a: {term('GO', parent)} ! made-up term {parent}" for parent in above[number]]
        if number > 12 and number % 2:
            lines.append(f"relationship: part_of {term('GO', number // 3)} ! made-up term")
        stanzas.append(Stanza(id=term("GO", number), name=f"made-up term {number}", lines=tuple(lines)))
    odd = {
        6: ['def: "A made-up \\"term\\"\\, no fact." [MADEUP:0, PMID:99 with blanks]'],
        7: [f"alt_id: {term('GO', ALTERNATIVE)}", f"alt_id: {term('GO', ALTERNATIVE + 1)}"],
        8: [f'relationship: part_of {term("GO", 2)} {{qual="y"}} ! made-up \\{{brace'],
        9: [f"relationship: regulates {term('GO', 4)} ! no part", f"intersection_of: {term('GO', 4)}"],
    }
    header = ['subsetdef: madeup_slim "Made-up slim"', "idspace: MADEUP urn:made-up"]
    return obo("go", header, with_lines(stanzas, odd) + obsolete_stanzas("GO", term("GO", 12)))


def do_ontology() -> str:
    """Diseases with their OMIM and UMLS cross references; the last four have no OMIM entry."""
    stanzas = []
    above = parents("do.ontology", DISEASES, roots=1, groups=COMMUNITIES)
    for number in numbers(DISEASES):
        lines = [f"xref: MESH:D99{number:04d}", f"xref: UMLS_CUI:{concept(number)}"]
        lines += [f"xref: OMIM:{mim(number)}"] if number <= DISEASES - 4 else []
        lines += [f"is_a: {term('DOID', parent)} ! made-up disease {parent}" for parent in above[number]]
        stanzas.append(Stanza(id=term("DOID", number), name=f"made-up disease {number}", lines=tuple(lines)))
    odd = {
        7: [f"alt_id: {term('DOID', ALTERNATIVE)}"],
        9: [f"xref: OMIM:{mim(6)}", f"xref: OMIM:PS{mim(6)}"],  # two diseases of one entry, and a series
        10: [f'xref: OMIM:{mim(700)} {{source="made-up"}}', f"xref: MIM:{mim(701)}"],
        11: ['synonym: "made-up (\\"quoted\\") \\! name" EXACT []'],
    }
    header = ['subsetdef: DO_madeup_slim ""', "default-namespace: disease_ontology"]
    return obo("doid", header, with_lines(stanzas, odd) + obsolete_stanzas("DOID", term("DOID", 9)))


def hpo_ontology() -> str:
    """Phenotypes with their UMLS cross references, below a root that also holds inheritance and course."""
    names = {ROOT: "made-up root", INHERITANCE: "made-up mode of inheritance", RECESSIVE: "made-up recessive"}
    names |= {COURSE: "made-up clinical course", ONSET: "made-up onset"}
    stanzas = []
    above = parents("hpo.ontology", PHENOTYPES, roots=1, groups=COMMUNITIES)
    above |= {INHERITANCE: [ROOT], RECESSIVE: [INHERITANCE], COURSE: [ROOT], ONSET: [COURSE]}
    for number in numbers(PHENOTYPES):
        kin = [parent if number <= ONSET or parent >= FIRST_PHENOTYPE else ROOT for parent in above[number]]
        lines = [f"xref: UMLS:{concept(SIGN + number)}"] if number >= FIRST_PHENOTYPE else []
        lines += [f"is_a: {term('HP', parent)} ! made-up phenotype {parent}" for parent in dict.fromkeys(kin)]
        name = names.get(number, f"made-up phenotype {number}")
        stanzas.append(Stanza(id=term("HP", number), name=name, lines=tuple(lines)))
    odd = {
        7: [f"alt_id: {term('HP', ALTERNATIVE)}", "creation_date: 2020-03-01T00:00:00Z"],
        8: [f'xref: UMLS:{concept(SIGN + 8)} "made-up: described"'],  # a concept of two phenotypes
        9: [f'is_a: {term("HP", 7)} {{source="made-up"}} ! made-up phenotype 7'],
    }
    header = ['synonymtypedef: layperson "layperson term"', "default-namespace: human_phenotype"]
    return obo("hp", header, with_lines(stanzas, odd) + obsolete_stanzas("HP", term("HP", 12)))


def uberon_ontology() -> str:
    """Organs and cell types, and terms of upper ontologies that are no anatomy."""
    stanzas = [Stanza(id="BFO:9900004", name="made-up independent continuant")]
    above = parents("uberon.ontology", ANATOMIES, roots=1, groups=2)
    for number in numbers(ANATOMIES):
        lines = [f"is_a: {anatomy(parent)} ! made-up anatomy {parent}" for parent in above[number]]
        if number > 4:
            lines.append(f'relationship: part_of {anatomy(number // 2)} {{source="made-up"}} ! made up')
        stanzas.append(Stanza(id=anatomy(number), name=f"made-up anatomy {number}", lines=tuple(lines)))
    odd = {
        1: ["is_a: BFO:9900004 ! made-up independent continuant"],
        5: ['def: "Made up [really], \\n no fact." []', 'xref: UMLS:C9999999 {source="made-up:5"}'],
        6: [f"alt_id: {term('UBERON', ALTERNATIVE)}", "relationship: part_of CARO:9900001"],
        7: [f"relationship: capable_of_part_of {term('GO', 4)} ! no anatomy"],
    }
    header = ['synonymtypedef: SYSTEMATIC "a made-up type"', "treat-xrefs-as-equivalent: CARO"]
    return obo("uberon/ext", header, with_lines(stanzas, odd) + obsolete_stanzas("UBERON", anatomy(9)))


# ----------------------------------------------------------------------------- annotations of genes


def gaf_row(number: int, go: int, evidence: str, **other: str) -> list[str]:
    """One annotation of GAF 2.1; `other` names cells that differ from the usual ones."""
    usual = {"db": "UniProtKB", "id": accession(number), "qualifier": "", "name": "made up", "form": ""}
    cell = usual | {"taxon": "taxon:9606"} | other
    row = [cell["db"], cell["id"], f"MADEUP{number}", cell["qualifier"], term("GO", go), "GO_REF:9900001"]
    row += [
        evidence,
        "",
        ASPECTS[go % 3][0],
        cell["name"],
        f"MU{number}",
        "protein",
        cell["taxon"],
        "20200301",
    ]
    return [*row, "MADEUP", "", cell["form"]]


def go_annotations() -> str:
    """Pairs of gene and term, half of them inferred electronically."""
    rng = random.Random(f"{SEED} go.annotations")
    evidences = ("IEA", "IEA", "IEA", "IDA", "IBA", "TAS")
    pairs = sorted(draw("gene go", numbers(GENES), numbers(TERMS, 4), 380))
    rows = [gaf_row(number, go, evidences[int(6 * rng.random())]) for number, go in pairs]
    rows += [
        gaf_row(1, 10, "NAS", qualifier="NOT"),  # negated, in each spelling
        gaf_row(2, 10, "NAS", qualifier="NOT|contributes_to"),
        gaf_row(3, 10, "NAS", qualifier="NOT|involved_in"),
        gaf_row(4, 10, "NAS", qualifier="contributes_to"),  # not negated
        gaf_row(5, 10, "IPI", taxon="taxon:9606|taxon:562"),  # a gene that acts in another organism
        gaf_row(6, 10, "IPI", taxon="taxon:562"),  # a gene of another organism
        gaf_row(7, 10, "IEA"),  # twins of evidence
        gaf_row(7, 10, "IDA"),
        gaf_row(8, ALTERNATIVE, "IDA"),  # an alternative id, and obsolete ones
        gaf_row(9, REPLACED, "IDA"),
        gaf_row(10, RETIRED, "IDA"),
        gaf_row(11, UNKNOWN, "IDA"),  # an id that the ontology does not hold
        gaf_row(12, 1, "ND"),  # no data
        gaf_row(SECOND_PROTEIN + 1, 10, "IDA"),  # a second accession of gene 1
        gaf_row(701, 10, "IDA"),  # accessions without a gene id, and in no mapping
        gaf_row(702, 10, "IDA"),
        gaf_row(13, 10, "IDA", db="RNAcentral", id="URS9900000001_9606"),
        gaf_row(14, 10, "IDA", form=f"UniProtKB:{accession(14)}-2"),  # an isoform
        gaf_row(15, 10, "IDA", name="5'-made-up \"gene, 15"),  # quotes that do not quote
    ]
    head = ("!gaf-version: 2.1", "!", "!Made-up annotations for a demonstration, nothing here is a fact", "!")
    return "".join(f"{line}\n" for line in head) + table(rows)


def uniprot_id_mapping() -> str:
    """Accession, gene id and Ensembl id in a table of 22 columns without header."""

    def row(number: int, genes: str, ensembls: str) -> list[str]:
        cells = [""] * 22
        cells[0], cells[1], cells[2] = accession(number), f"MU{number}_HUMAN", genes
        cells[6], cells[12], cells[18] = f"{term('GO', 4)}; {term('GO', 5)}", "9606", ensembls
        return cells

    rows = [row(number, gene(number), ensembl(number)) for number in numbers(GENES)]
    rows += [
        row(SECOND_PROTEIN + 1, gene(1), ensembl(1)),  # two accessions of one gene
        row(SECOND_PROTEIN + 2, gene(2), f"{ensembl(2)}.14"),  # an Ensembl id with its version
        row(703, f"{gene(3)}; {gene(4)}", f"{ensembl(601)}; {ensembl(602)}"),  # several genes and Ensembl ids
        row(701, "", ensembl(603)),  # no gene id
        row(704, gene(5), ""),  # no Ensembl id
    ]
    return table(rows)


def disgenet_gene_disease() -> str:
    """Genes and UMLS concepts with a score in [0, 1]."""
    rng = random.Random(f"{SEED} disgenet.gene_disease")

    def row(number: int, cui: str, value: float | str) -> Row:
        name, year = "made up", 1980 + number % 40
        kind = ("disease", "C99", "Disease or Syndrome")
        front = (gene(number), f"MADEUP{number}", 0.5, "", cui, name, *kind)
        return (*front, value, "", year, 2020, 1, 0, "MADEUP")

    pairs = sorted(draw("gene disease", numbers(GENES), numbers(DISEASES), 190))
    rows = [row(number, concept(disease), round(0.1 + 0.9 * rng.random(), 9)) for number, disease in pairs]
    rows += [
        row(1, concept(TWO_DISEASES), "0.4"),  # exactly at the limits, and a concept of two diseases
        row(2, concept(1), "0.7"),
        row(3, concept(SECOND_CONCEPT + 1), "0.31"),  # two concepts of one disease, with different scores
        row(3, concept(1), "0.61"),
        row(4, concept(OLD_DISEASE), "0.5"),  # concepts of an old id, of obsolete ids, of an absent one
        row(5, concept(REPLACED_DISEASE), "0.5"),
        row(6, concept(RETIRED_DISEASE), "0.5"),
        row(7, concept(UNKNOWN_DISEASE), "0.5"),
        row(8, concept(NO_DISEASE), "0.9"),  # a concept without a disease
    ]
    return table(rows, header="\t".join(DISGENET_COLUMNS))


DISGENET_COLUMNS = (
    "geneId", "geneSymbol", "DSI", "DPI", "diseaseId", "diseaseName", "diseaseType", "diseaseClass",
    "diseaseSemanticType", "score", "EI", "YearInitial", "YearFinal", "NofPmids", "NofSnps", "source",
)  # fmt: skip


def disgenet_mappings() -> str:
    """UMLS concepts and their codes in several vocabularies; only `DO` is a disease id."""

    def row(number: int, vocabulary: str, code: str) -> Row:
        return (concept(number), f"Made-up disease of {concept(number)}", vocabulary, code, "made-up name")

    def local(number: int) -> str:
        return term("DOID", number).removeprefix("DOID:")

    rows = [row(number, "DO", local(number)) for number in numbers(DISEASES)]
    rows += [row(number, "OMIM", mim(number)) for number in numbers(5)]
    rows += [row(SECOND_CONCEPT + number, "DO", local(number)) for number in numbers(5)]
    rows += [row(SIGN + number, "HPO", term("HP", number)) for number in numbers(8, FIRST_PHENOTYPE)]
    rows += [
        row(TWO_DISEASES, "DO", local(6)),
        row(TWO_DISEASES, "DO", local(7)),
        row(OLD_DISEASE, "DO", local(ALTERNATIVE)),
        row(REPLACED_DISEASE, "DO", local(REPLACED)),
        row(RETIRED_DISEASE, "DO", local(RETIRED)),
        row(UNKNOWN_DISEASE, "DO", local(UNKNOWN)),
        row(NO_DISEASE, "MSH", "D990001"),
    ]
    rows[3] = (*rows[3][:4], "made-up naïve name")  # not ASCII
    return table(rows, header="diseaseId\tname\tvocabulary\tcode\tvocabularyName")


GENES_TO_PHENOTYPE_COLUMNS = (
    "#Format: entrez-gene-id", "entrez-gene-symbol", "HPO-Term-ID", "HPO-Term-Name", "Frequency-Raw",
    "Frequency-HPO", "Additional Info from G-D source", "G-D source", "disease-ID for link",
)  # fmt: skip


def hpo_gene_phenotype() -> str:
    """Genes and phenotypes; the header is a comment that spells its tabs out."""

    def row(number: int, phenotype: int, disease: int, frequency: str = "") -> Row:
        name = (gene(number), f"MADEUP{number}", term("HP", phenotype), "Made-up phenotype")
        return (
            *name,
            frequency,
            term("HP", 990) if frequency else "",
            "-",
            "mim2gene",
            f"OMIM:{mim(disease)}",
        )

    pairs = sorted(draw("gene phenotype", numbers(GENES), numbers(PHENOTYPES, FIRST_PHENOTYPE), 290))
    rows = [row(number, phenotype, 1 + number % DISEASES) for number, phenotype in pairs]
    rows += [
        row(1, FIRST_PHENOTYPE, 1, "-"),  # no frequency, and one pair through two diseases
        row(1, FIRST_PHENOTYPE, 2, "3/7"),
        row(2, ALTERNATIVE, 3),  # an alternative id, and obsolete ones
        row(3, REPLACED, 3),
        row(4, RETIRED, 3),
        row(5, RECESSIVE, 3),  # a mode of inheritance
    ]
    return table(rows, header="<tab>".join(GENES_TO_PHENOTYPE_COLUMNS))


def ctd_gene_pathway() -> str:
    """Genes and pathways of two databases, below a block of comments that ends with the header."""

    def row(number: int, pathway: int) -> Row:
        code = f"REACT:R-HSA-{99_000_000 + pathway}" if pathway <= 12 else f"KEGG:hsa{99_000 + pathway}"
        return (f"MADEUP{number}", gene(number), f"Made-up pathway {pathway}", code)

    rows = [row(*pair) for pair in sorted(draw("gene pathway", numbers(GENES), numbers(PATHWAYS), 200))]
    rows += [rows[0]]  # a duplicate
    rows += [("MADEUP1", gene(1), 'Made-up "module" 21', "KEGG:hsa_M99021")]  # a module of KEGG
    comments = ["# Made-up rows for a demonstration, nothing here is a fact", "#", "# Fields:"]
    comments += ["# GeneSymbol\tGeneID\tPathwayName\tPathwayID", "#"]
    return "".join(f"{line}\n" for line in comments) + table(rows)


# ------------------------------------------------------------------------------- genes and anatomies


def bgee_expression() -> str:
    """Presence and absence of expression, in the seven columns of Bgee 14."""
    rng = random.Random(f"{SEED} bgee.expression")

    def row(number: int, where: str, call: str, quality: str) -> Row:
        name = '"made up, so  quoted"' if where == anatomy(1) else '"made up"'
        return (ensembl(number), f'"MU{number}"', where, name, call, f"{quality} quality", f"{99 + number}.5")

    pairs = draw("gene anatomy", numbers(GENES), numbers(ANATOMIES), 400)
    calls = dict.fromkeys(pairs[:310], "present") | dict.fromkeys(pairs[310:], "absent")
    rows = [
        row(number, anatomy(where), call, "gold" if rng.random() < 0.6 else "silver")
        for (number, where), call in sorted(calls.items())
    ]
    rows += [
        row(601, anatomy(1), "present", "silver"),  # Ensembl ids of two genes each, so one call is four edges
        row(602, anatomy(1), "absent", "gold"),
        row(603, anatomy(2), "present", "gold"),  # Ensembl ids without a gene
        row(699, anatomy(2), "present", "gold"),
        row(1, term("UBERON", ALTERNATIVE), "present", "gold"),  # an alternative id, and obsolete ones
        row(2, term("UBERON", REPLACED), "present", "gold"),
        row(3, term("UBERON", RETIRED), "present", "gold"),
        row(4, term("UBERON", UNKNOWN), "present", "gold"),  # an id that the ontology does not hold
    ]
    return table(rows, header="\t".join(BGEE_COLUMNS))


BGEE_COLUMNS = (
    "Gene ID", "Gene name", "Anatomical entity ID", "Anatomical entity name", "Expression", "Call quality",
    "Expression rank",
)  # fmt: skip


def bgee_differential() -> str:
    """Over- and under-expression in one developmental stage."""
    rng = random.Random(f"{SEED} bgee.differential")

    def row(number: int, where: str, call: str, quality: str) -> Row:
        stage = (term("UBERON", 113), "made-up stage")
        return (ensembl(number), f'"MU{number}"', where, '"made up"', *stage, call, quality)

    pairs = draw("gene differential", numbers(GENES), numbers(ANATOMIES), 280)
    rows = []
    for number, where in sorted(pairs[:260]):
        call = "over-expression" if rng.random() < 0.5 else "under-expression"
        rows.append(row(number, anatomy(where), call, "high quality" if rng.random() < 0.7 else "low quality"))
    neither = "not differentially expressed"
    rows += [row(number, anatomy(where), neither, "high quality") for number, where in pairs[260:]]
    rows += [
        row(1, anatomy(24), "low ambiguity", "NA"),  # neither over nor under
        row(1, anatomy(25), "high ambiguity", "NA"),
        row(601, anatomy(26), "over-expression", "high quality"),  # one gene, two Ensembl ids that disagree
        row(3, anatomy(26), "under-expression", "low quality"),
    ]
    return table(rows, header="\t".join(DIFFERENTIAL_COLUMNS))


DIFFERENTIAL_COLUMNS = (
    "Gene ID", "Gene name", "Anatomical entity ID", "Anatomical entity name", "Developmental stage ID",
    "Developmental stage name", "Differential expression", "Call quality",
)  # fmt: skip


# ------------------------------------------------------------------------------- diseases and drugs


def annotation(disease: str, phenotype: int, evidence: str, qualifier: str = "", aspect: str = "P") -> Row:
    """One row of the 15 columns of `phenotype_annotation.tab`."""
    database, local = disease.split(":")
    cells = (database, local, "MADE-UP DISEASE", qualifier, term("HP", phenotype), disease, evidence)
    return (*cells, "", term("HP", 990), "", aspect, "", "HPO:x[2020-03-01]", "", "")


def disease_phenotype_pairs() -> list[Pair]:
    """Pairs of disease and phenotype; the last ones are negated."""
    return draw("disease phenotype", numbers(DISEASES), numbers(PHENOTYPES, FIRST_PHENOTYPE), 320)


def hpo_disease_phenotype() -> str:
    """Phenotypes of diseases, those of OMIM without a header."""
    rng = random.Random(f"{SEED} hpo.disease_phenotype")
    evidences = ("IEA", "TAS", "TAS", "PCS")
    rows = [
        annotation(f"OMIM:{mim(disease)}", phenotype, evidences[int(4 * rng.random())])
        for disease, phenotype in sorted(disease_phenotype_pairs()[:285])
    ]
    one = f"OMIM:{mim(1)}"
    rows += [
        annotation(one, RECESSIVE, "IEA", aspect="I"),  # inheritance and course
        annotation(one, ONSET, "TAS", aspect="C"),
        annotation(one, 60, "TAS", aspect="O"),  # the older letter of a phenotype
        annotation("ORPHA:990001", 6, "TAS"),  # diseases of other registers
        annotation("DECIPHER:9901", 6, "IEA"),
        annotation(f"OMIM:{mim(6)}", 59, "TAS"),  # an entry of two diseases
        annotation(f"OMIM:PS{mim(6)}", 58, "TAS"),  # a series of entries
        annotation(f"OMIM:{mim(700)}", 57, "TAS"),
        annotation(f"OMIM:{mim(701)}", 57, "TAS"),
        annotation(one, ALTERNATIVE, "TAS"),  # an alternative id, and obsolete ones
        annotation(f"OMIM:{mim(2)}", REPLACED, "TAS"),
        annotation(f"OMIM:{mim(2)}", RETIRED, "TAS"),
        annotation(f"OMIM:{mim(3)}", 56, "IEA"),  # twins of evidence
        annotation(f"OMIM:{mim(3)}", 56, "PCS"),
        annotation(f"OMIM:{mim(4)}", 55, "TAS", qualifier="NOT"),  # negated, in the wrong file
    ]
    rows[0] = (*rows[0][:2], '"MADE-UP DISEASE; MU"', *rows[0][3:])  # a name in quotes, and half a quote
    rows[1] = (*rows[1][:2], 'MADE-UP 5" DISEASE', *rows[1][3:])
    return table(rows)


def hpo_disease_phenotype_negated() -> str:
    """Phenotypes that diseases do not have."""
    pairs = sorted(disease_phenotype_pairs()[285:])
    rows = [annotation(f"OMIM:{mim(disease)}", phenotype, "TAS", "NOT") for disease, phenotype in pairs]
    rows += [
        annotation(f"OMIM:{mim(1)}", 60, "IEA", "NOT"),  # negated here, stated there: a conflict
        annotation("ORPHA:990001", 7, "TAS", "NOT"),
    ]
    return table(rows)


def sider_side_effects() -> str:
    """Drugs and the concepts of their side effects, mostly as twins of two MedDRA levels."""
    rng = random.Random(f"{SEED} sider.side_effects")

    def row(drug: int, label: str, level: str, sign: int, flat: int = 0) -> Row:
        ids = (f"CID1{compound(flat or drug):08d}", f"CID0{compound(drug):08d}")
        return (*ids, label, level, concept(SIGN + sign) if level else "", f"Made-up sign {sign}")

    rows = []
    pairs = draw("drug phenotype", numbers(DRUGS), numbers(PHENOTYPES, FIRST_PHENOTYPE), 270)
    for drug, sign in sorted(pairs):
        levels = ("LLT", "PT") if rng.random() < 0.6 else ("PT",)
        rows += [row(drug, concept(SIGN + sign), level, sign) for level in levels]
    rows += [
        row(1, concept(SIGN + 10), "", 10),  # no level
        row(2, "", "LLT", 11),  # no concept
        row(3, concept(SIGN + UNKNOWN), "PT", UNKNOWN),  # a concept without a phenotype
        row(4, concept(SIGN + 8), "PT", 8, flat=DRUGS + 8),  # a flat id unlike the stereo id; two phenotypes
    ]
    return table(rows)


def drugcentral_dump() -> str:
    """A dump of PostgreSQL with the two tables that are read, among others of similar names."""
    head = ["--", "-- Made-up rows for a demonstration, nothing here is a fact", "--", ""]
    head += ["SET client_encoding = 'UTF8';", "CREATE TABLE public.identifier (", "    id integer", ");"]
    view = ("public.omop_relationship_doid_view", ("struct_id", "relationship_name", "doid"))
    kin = copy_block(*view, [(9901, "indication", term("DOID", 40))])
    other = copy_block("public.parentmol", ("cd_id", "name"), [(9901, "made-up parent")])
    like = copy_block("public.identifier_type", ("id", "id_type"), [(1, "PUBCHEM_CID")])
    relationships = copy_block("public.omop_relationship", OMOP_COLUMNS, omop_rows())
    identifiers = copy_block("public.identifier", IDENTIFIER_COLUMNS, identifier_rows())
    return "".join(f"{line}\n" for line in [*head, *kin, *relationships, *other, *like, *identifiers])


def copy_block(name: str, columns: Sequence[str], rows: Iterable[Row]) -> list[str]:
    """The lines of one table of a dump."""
    data = ["\t".join(map(str, row)) for row in rows]
    title = ["", "--", f"-- Name: {name}; Type: TABLE DATA; Schema: public; Owner: -", "--", ""]
    return [*title, f"COPY {name} ({', '.join(columns)}) FROM stdin;", *data, "\\."]


OMOP_COLUMNS = (
    "id", "struct_id", "concept_id", "relationship_name", "concept_name", "umls_cui", "snomed_full_name",
    "cui_semantic_type", "snomed_conceptid",
)  # fmt: skip
IDENTIFIER_COLUMNS = ("struct_id", "id", "id_type", "identifier", "parent_match")  # in an order of its own


def omop_rows() -> list[Row]:
    """Indications, contraindications and other relations of a drug and a concept."""

    def row(structure: int, disease: int, kind: str, cui: str = "", name: str = "made-up") -> Row:
        front = (1000 + len(rows), 9900 + structure, 99_000 + disease, kind, name)
        return (*front, cui or concept(disease), f"{name} (disorder)", "T047", "\\N")

    rows: list[Row] = []
    pairs = draw("drug disease", numbers(DRUGS), numbers(DISEASES), 150)
    for structure, disease in sorted(pairs):
        kind = "indication" if (structure, disease) in pairs[:100] else "contraindication"
        rows.append(row(structure, disease, kind))
    rows.append(row(1, 1, "contraindication"))  # perhaps indicated above: a conflict
    rows.append(row(1, 1, "indication"))
    rows.append(row(2, 2, "off-label use"))
    rows.append(row(2, 3, "reduce risk"))
    rows.append(row(2, 4, "symptomatic treatment"))
    rows.append(row(2, 5, "diagnosis"))
    rows.append(row(3, 1, "indication", "\\N"))  # no concept
    rows.append(row(3, 2, "indication", concept(NO_DISEASE)))  # a concept without a disease
    rows.append(row(3, 6, "indication", concept(TWO_DISEASES)))  # a concept of two diseases
    rows.append(row(77, 6, "indication"))  # a structure without a compound
    rows.append(row(4, 8, "indication", name="made-up\\twith \\\\ and\\nescapes"))
    return rows


def identifier_rows() -> list[Row]:
    """The ids of the structures; the first two have two compounds each."""
    rows: list[Row] = []
    for structure in numbers(DRUGS):
        rows.append((9900 + structure, 2 * structure, "PUBCHEM_CID", compound(structure), "\\N"))
        rows.append((9900 + structure, 2 * structure + 1, "KEGG_DRUG", f"D99{structure:03d}", "f"))
    rows.append((9901, 501, "PUBCHEM_CID", compound(DRUGS + 1), "\\N"))
    rows.append((9902, 502, "PUBCHEM_CID", compound(DRUGS + 2), "t"))
    rows.append((9978, 503, "UNII", "MADEUP99XX", "\\N"))
    return rows


# ------------------------------------------------------------------------------------------- the files

FILES = {
    "bgee.differential": ("Homo_sapiens_diffexpr-anatomy-simple.tsv", bgee_differential),
    "bgee.expression": ("Homo_sapiens_expr_simple.tsv", bgee_expression),
    "ctd.gene_pathway": ("CTD_genes_pathways.tsv", ctd_gene_pathway),
    "disgenet.gene_disease": ("curated_gene_disease_associations.tsv", disgenet_gene_disease),
    "disgenet.mappings": ("disease_mappings.tsv", disgenet_mappings),
    "do.ontology": ("doid.obo", do_ontology),
    "drugcentral.dump": ("drugcentral.dump.sql", drugcentral_dump),
    "go.annotations": ("goa_human.gaf", go_annotations),
    "go.ontology": ("go-basic.obo", go_ontology),
    "hpo.disease_phenotype": ("phenotype_annotation.tab", hpo_disease_phenotype),
    "hpo.disease_phenotype_negated": ("phenotype_annotation_negated.tab", hpo_disease_phenotype_negated),
    "hpo.gene_phenotype": ("genes_to_phenotype.txt", hpo_gene_phenotype),
    "hpo.ontology": ("hp.obo", hpo_ontology),
    "sider.side_effects": ("meddra_all_se.tsv", sider_side_effects),
    "stitch.actions": ("9606.actions.tsv", stitch_actions),
    "stitch.links": ("9606.protein_chemical.links.tsv", stitch_links),
    "string.actions": ("9606.protein.actions.txt", string_actions),
    "string.entrez": ("human.entrez_2_string.tsv", string_entrez),
    "string.links": ("9606.protein.links.txt", string_links),
    "uberon.ontology": ("ext.obo", uberon_ontology),
    "uniprot.id_mapping": ("HUMAN_9606_idmapping_selected.tab", uniprot_id_mapping),
}


def source_map() -> str:
    """The source map of the demo, paths relative to it."""
    lines = ["# The source map of the demo. Every row of these files is made up; see README.md.", ""]
    lines += ['edition = "2020"', "", "[sources]"]
    lines += [f'"{source}" = "sources/{name}"' for source, (name, _) in sorted(FILES.items())]
    return "".join(f"{line}\n" for line in lines)


def demo_files() -> dict[str, str]:
    """Text of every generated file by its path in the demo folder."""
    files = {f"sources/{name}": make() for name, make in FILES.values()}
    return files | {"sources.toml": source_map()}


def write_demo_files(folder: Path) -> None:
    """Write the files of the demo below `folder`, which is made where it is absent."""
    for path, text in demo_files().items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write_demo_files(Path(sys.argv[1]) if len(sys.argv) > 1 else HOME)
