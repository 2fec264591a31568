"""Graphs as a build leaves them in its database, made up from the rules of an edition."""

from contextlib import contextmanager
from dataclasses import dataclass, field

import duckdb

IDS = {
    "GENE": [f"NCBIGENE:{number}" for number in (1, 2, 10, 9900001)],
    "GO": ["GO:0003674", "GO:0005575", "GO:0008150", "GO:0003824", "GO:9900001"],
    "DIS": {"2020": ["DOID:1", "DOID:9900001"], "2026": ["MONDO:0000001", "MONDO:9900001"]},
    "DRUG": ["PUBCHEM.COMPOUND:2244", "PUBCHEM.COMPOUND:9900001"],
    "PHENOTYPE": ["HP:0000118", "HP:9900001"],
    "PATHWAY": ["REACTOME:R-HSA-109581", "KEGG:hsa04210"],
    "ANATOMY": ["UBERON:0000955", "CL:0000540"],
}
KINDS = {
    "GO:0003674": "molecular_function",
    "GO:0003824": "molecular_function",
    "GO:0005575": "cellular_component",
    "GO:0008150": "biological_process",
}
NAMES = {
    "GO:0003674": "molecular_function",
    "GO:0003824": "catalytic activity",
    "GO:0005575": "cellular_component",
    "GO:0008150": "biological_process",
    "NCBIGENE:10": "NAT2",
    "NCBIGENE:1": 'A1B"G" \\ (x), y) // no comment: µ',
    "PUBCHEM.COMPOUND:2244": "aspirin",
    "REACTOME:R-HSA-109581": "Apoptosis",
}

# A catalogue file that adds a relation of its own, without any vocabulary for it.
USER = """
[prefix]
MINE = { pattern = 'm\\d+' }
[node_type]
THING = ["MINE"]
[relation]
THING_LIKES_GENE = { head = "THING", tail = "GENE" }
[source.mine]
title = "A source of my own"
gives = ["edge"]
homepage = "https://example.org"
licence = "CC0 1.0"
format = "delimited"
files = ["mine.tsv"]
layout = [{ name = "two columns", header = "none", positional = ["a", "b"] }]
[rule.THING_LIKES_GENE]
relation = "THING_LIKES_GENE"
source = "mine"
label = "mine"
head = { type = "THING", column = "a", prefix = "MINE" }
tail = { type = "GENE", column = "b", prefix = "NCBIGENE" }
"""


@dataclass
class Built:
    """What the tables hold; edges are (head, relation, tail, negative) → (score, source, rule, date)."""

    edges: dict[tuple[str, str, str, bool], tuple[str, str, str, str]]
    types: dict[str, str]
    names: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)

    def of(self, *, negative):
        """The edges or the true negatives."""
        return {key[:3]: value for key, value in self.edges.items() if key[3] == negative}


def every_rule(catalogue, *, directed=True):
    """A graph with a few edges of each rule of an edition; symmetric ones in both directions if it is directed."""
    edges, types = {}, {}
    for name, rule in catalogue.rules.items():
        heads, tails = (_ids_of(end.type, catalogue.edition) for end in (rule.head, rule.tail))
        symmetric = catalogue.graph_schema.relation(rule.relation).symmetric
        for number, pair in enumerate((h, t) for h in heads for t in tails if h != t):
            head, tail = sorted(pair) if symmetric else pair
            score = ["", "900", "gold quality", "0.5"][number % 4]
            for one, other in [(head, tail), (tail, head)] if symmetric and directed else [(head, tail)]:
                key = (one, rule.relation, other, rule.negative)
                edges.setdefault(key, (score, rule.label, name, "2019" if number % 3 else ""))
            types |= {head: rule.head.type, tail: rule.tail.type}
    return Built(edges=edges, types=types, names=NAMES, kinds=KINDS)


def _ids_of(node_type, edition):
    ids = IDS.get(node_type, [])
    return ids[edition] if isinstance(ids, dict) else ids


@contextmanager
def database(built, *, threads=2, reverse=False):
    """The tables of a build that gave this graph."""
    ends = {no: {end for (h, _, t, n) in built.edges if n == no for end in (h, t)} for no in (False, True)}
    tables = {
        "edges": [
            (h, r, t, score, label, no, built.types[h], built.types[t], rule)
            for (h, r, t, no), (score, label, rule, _) in built.edges.items()
        ],
        "dates": [(*key, value[3]) for key, value in built.edges.items() if value[3]],
        "names": [
            (one, name, built.kinds.get(one, ""))
            for one, name in built.names.items()
            if one in ends[True] | ends[False]
        ],
        "nodes": [(one, built.types[one]) for one in sorted(ends[False])],
        "tn_nodes": [(one, built.types[one]) for one in sorted(ends[True])],
        "all_nodes": [(one, built.types[one]) for one in sorted(ends[True] | ends[False])],
    }
    with duckdb.connect(config={"threads": threads}) as connection:
        connection.execute("""
            CREATE TABLE edges (head VARCHAR, relation VARCHAR, tail VARCHAR, score VARCHAR, source VARCHAR,
                negative BOOLEAN, head_type VARCHAR, tail_type VARCHAR, rule VARCHAR);
            CREATE TABLE dates (head VARCHAR, relation VARCHAR, tail VARCHAR, negative BOOLEAN, date VARCHAR);
            CREATE TABLE names (id VARCHAR, name VARCHAR, kind VARCHAR);
            CREATE TABLE nodes (id VARCHAR, type VARCHAR);
            CREATE TABLE tn_nodes (id VARCHAR, type VARCHAR);
            CREATE TABLE all_nodes (id VARCHAR, type VARCHAR);
        """)
        for table, rows in tables.items():
            if rows:
                marks = ", ".join("?" * len(rows[0]))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows[::-1] if reverse else rows)
        yield connection
