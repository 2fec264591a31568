"""Made-up graphs to split, and what tests of several schemes read of a split."""

import hashlib
import json
import random
import signal
import sys
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import strategies as st

from openbiolink.cli import main
from openbiolink.split import GraphFiles, split_graph
from oracles.leakage import find_losses, read_rows, read_split

NODES = {
    "GENE": [f"NCBIGENE:{number}" for number in range(1, 9)],
    "DRUG": ["PUBCHEM.COMPOUND:7", "007", "7", "a b", "NA"],
    "ANATOMY": ["UBERON:1", "UBERON:2", "UBERON:3", "UBERON:4", 'CL:"9', "ä"],
}
KINDS = {node: kind for kind, nodes in NODES.items() for node in nodes}
RELATIONS = {
    "GENE_GENE": ("GENE", "GENE"),
    "GENE_BINDACT_GENE": ("GENE", "GENE"),
    "GENE_DRUG": ("GENE", "DRUG"),
    "DRUG_BINDACT_GENE": ("DRUG", "GENE"),
    "GENE_EXPRESSED_ANATOMY": ("GENE", "ANATOMY"),
    "GENE_OVEREXPRESSED_ANATOMY": ("GENE", "ANATOMY"),
    "GENE_UNDEREXPRESSED_ANATOMY": ("GENE", "ANATOMY"),
    "of its own": ("DRUG", "ANATOMY"),
    "IS_A": ("ANATOMY", "ANATOMY"),
    "PART_OF": ("ANATOMY", "ANATOMY"),
}
FAMILY = {"GENE_UNDEREXPRESSED_ANATOMY": "GENE_OVEREXPRESSED_ANATOMY"}
BEFORE_PARTS = {"self_loop", "conflict", "surplus_negative", "untyped_node", "negatives_off"}


def made_up_rows(draw, number):
    """Rows of nodes that fit, of which many stand in both orders or under several relations."""
    rows = []
    for _ in range(number):
        relation = draw.choice(sorted(RELATIONS))
        head, tail = (draw.choice(NODES[kind]) for kind in RELATIONS[relation])
        rows.append((head, relation, tail, draw.choice(["", "900"]), draw.choice(["", "A", "B;A"])))
    return rows


@st.composite
def graphs(draw):
    """Edges and true negatives; every relation has an edge, and every node one by a relation of its own."""
    shuffler = random.Random(draw(st.integers(0, 2**32)))
    edges = made_up_rows(shuffler, draw(st.integers(20, 150)))
    edges += [(NODES[head][0], relation, NODES[tail][-1], "", "A") for relation, (head, tail) in RELATIONS.items()]
    edges += [(node, "a thing", "UBERON:1", "", "") for node in KINDS if node != "UBERON:1"]
    return edges, made_up_rows(shuffler, draw(st.integers(0, 40)))


def write(folder, name, rows):
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8", newline="\n")
    return path


def split(folder, scheme, edges, negatives=(), *, nodes=KINDS, schema=None):
    files = GraphFiles(
        edges=write(folder, "edges.csv", edges),
        nodes=write(folder, "nodes.csv", nodes.items()),
        tn_edges=write(folder, "TN_edges.csv", negatives),
    )
    return split_graph(files, folder / "out", scheme, schema=schema, overwrite=True, note=lambda line: None)


def placed_rows(folder):
    """{(sign, triple): part} of the rows that are in a part."""
    return {(sign, row[:3]): part for (part, sign), rows in read_split(folder).items() for row in rows}


def reasons(folder):
    """{(sign, triple): reason} of the rows that a scheme was to place and that are in no part."""
    rows = {(int(row[4]), row[:3]): row[6] for row in read_rows(folder / "removed_edges.tsv")}
    return {key: reason for key, reason in rows.items() if reason.partition(":")[0] not in BEFORE_PARTS}


def share_of(*words):
    """A number from 0 to below 1 that stands for these words."""
    return Fraction(int(hashlib.md5("\t".join(map(str, words)).encode()).hexdigest()[:15], 16), 2**60)


def family_of(triple):
    return FAMILY.get(triple[1], triple[1])


def share_of_edge(seed, triple):
    low, high = sorted((triple[0], triple[2]))
    return share_of(seed, low, family_of(triple), high)


def by_shares(share, test, validation):
    held = Fraction(test) + Fraction(validation)
    return "test" if share < Fraction(test) else "validation" if share < held else "train"


def find_misplaced(folder, expected, *, reason=None, signs=(1, 0)):
    """One line for every row that is not where a function of sign and triple says, None for a row in no part.

    A row of a held-out part may be missing, since the clean-up removes some; no other may.
    """
    faults = [
        f"{triple} is in {part}, not in {wanted}"
        for (sign, triple), part in placed_rows(folder).items()
        if sign in signs and (wanted := expected(sign, triple)) != part
    ]
    left_out = {key: found for key, found in reasons(folder).items() if key[0] in signs}
    for (sign, triple), found in left_out.items():
        wanted = expected(sign, triple)
        if (found == reason) != (wanted is None) or wanted in {"train", "inference"}:
            faults.append(f"{triple} is in no part for {found}, not in {wanted}")
    return faults


def find_lost(found, edges, negatives):
    """One line for everything that is lost, and for a path of this machine in the manifest."""
    text = (found.folder / "manifest.json").read_text(encoding="utf-8")
    faults = ["the manifest names a folder"] if str(found.folder.parent) in text else []
    return faults + find_losses(found.folder, edges=edges, tn_edges=negatives)


def contents_of_two_orders(scheme, graph, shuffler):
    """The files of a split, by name, of the same rows in two orders; without what the manifest says of its inputs."""
    found = []
    for rows in (graph, [shuffler.sample(list(rows), len(rows)) for rows in graph]):
        with TemporaryDirectory() as name:
            folder = split(Path(name), scheme, *rows).folder
            files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
            content: dict = {name: path.read_bytes() for name, path in files.items()}
        for manifest in [name for name in content if name.endswith("manifest.json")]:
            content[manifest] = json.loads(content[manifest])
            del content[manifest]["inputs"]
        found.append(content)
    return found


def parts_before_and_after(scheme, graph, pairs):
    """{(sign, triple): part} of a split and of one with an unrelated relation between some pairs."""
    more = [(head, "unrelated", tail, "", "A") for head, tail in pairs]
    with TemporaryDirectory() as name:
        return [
            placed_rows(split(Path(name, place), scheme, graph[0] + extra, graph[1]).folder)
            for place, extra in (("a", []), ("b", more))
        ]


PAIRS = st.lists(st.tuples(*[st.sampled_from(sorted(KINDS))] * 2), max_size=10)


def run_command(monkeypatch, capsys, *words):
    """Run the command line in this process; returns status, output and messages."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["openbiolink", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    return ended.value.code or 0, shown.out, shown.err
