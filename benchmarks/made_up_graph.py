"""Make up a graph of any size that is shaped like a real one.

    python benchmarks/made_up_graph.py m1|hq|all|NUMBER FOLDER [--nodes NUMBER] [--seed 1]

Writes edges.csv, TN_edges.csv and nodes.csv as `openbiolink generate` lays them out: m1 has a million edges, hq 8.5
and all 52 million. There are 30 relations of the built-in schema, some of them rare. The node of rank k of its type
has a degree proportional to k^-SKEW, symmetric relations stand in both directions, and of the pairs of a sub-relation
INHERITED stand in its super-relation too. What a relation states is a true negative of the one that it excludes; two
other relations have random true negatives. No triple stands twice. The same size and seed give the same bytes.
"""

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np

from openbiolink.schema import load_schema

SIZES = {"m1": (1_000_000, 60_000), "hq": (8_500_000, 180_000), "all": (52_000_000, 480_000)}  # edges, nodes
SKEW = 0.6
INHERITED = 0.6
CHUNK = 1 << 20
TRUE_NEGATIVES = 0.05  # of the rows of a relation with random ones

# Node type → share of the nodes, and how an id begins.
NODE_TYPES = {
    "GENE": (0.10, "NCBIGENE:"),
    "GO": (0.20, "GO:"),
    "DIS": (0.08, "DOID:"),
    "DRUG": (0.45, "PUBCHEM.COMPOUND:"),
    "PHENOTYPE": (0.09, "HP:"),
    "PATHWAY": (0.02, "REACTOME:R-HSA-"),
    "ANATOMY": (0.06, "UBERON:"),
}

# Relation → share of the edges, and the source.
RELATIONS = {
    "GENE_GENE": (0.22, "STRING"),
    "GENE_BINDING_GENE": (0.08, "STRING"),
    "GENE_ACTIVATION_GENE": (0.02, "STRING"),
    "GENE_CATALYSIS_GENE": (0.03, "STRING"),
    "GENE_EXPRESSION_GENE": (0.004, "STRING"),
    "GENE_INHIBITION_GENE": (0.01, "STRING"),
    "GENE_REACTION_GENE": (0.05, "STRING"),
    "GENE_BINDACT_GENE": (0.006, "STRING"),
    "GENE_BINDINH_GENE": (0.001, "STRING"),
    "GENE_DRUG": (0.10, "STITCH"),
    "DRUG_ACTIVATION_GENE": (0.012, "STITCH"),
    "DRUG_BINDING_GENE": (0.03, "STITCH"),
    "DRUG_CATALYSIS_GENE": (0.005, "STITCH"),
    "DRUG_EXPRESSION_GENE": (0.008, "STITCH"),
    "DRUG_INHIBITION_GENE": (0.02, "STITCH"),
    "DRUG_BINDACT_GENE": (0.002, "STITCH"),
    "DRUG_BINDINH_GENE": (0.004, "STITCH"),
    "GENE_GO": (0.08, "GO"),
    "GENE_DIS": (0.04, "DisGeNet"),
    "GENE_PHENOTYPE": (0.05, "HPO"),
    "GENE_PATHWAY": (0.02, "CTD"),
    "GENE_OVEREXPRESSED_ANATOMY": (0.03, "Bgee"),
    "GENE_UNDEREXPRESSED_ANATOMY": (0.02, "Bgee"),
    "GENE_EXPRESSED_ANATOMY": (0.12, "Bgee"),
    "DIS_DRUG": (0.0005, "DrugCentral"),
    "DIS_PHENOTYPE": (0.02, "HPO"),
    "DRUG_PHENOTYPE": (0.015, "SIDER"),
    "IS_A": (0.0025, "GO"),
    "PART_OF": (0.00003, "GO"),
    "DRUG_REACTION_GENE": (0.00001, "STITCH"),
}
WITH_SCORE = frozenset({"STRING", "STITCH"})
HIERARCHY = "GO"  # the type of both ends where the schema allows any
WITH_TRUE_NEGATIVES = ("GENE_EXPRESSED_ANATOMY", "DIS_PHENOTYPE")


def draw_pairs(rng, *, shape, wanted, known, ordered):
    """Distinct pairs of unlike nodes besides the known ones, in random order; at most the half of all that exist.

    A pair is the number `head rank * shape[1] + tail rank`. With `ordered`, heads are those of greater rank: pairs
    that point up a hierarchy, or of which a symmetric relation holds the one order.
    """
    known = np.unique(known)
    wanted = min(wanted, shape[0] * shape[1] // (4 if ordered else 2) - len(known))
    found = np.empty(0, dtype=np.int64)
    while len(found) < wanted:
        more = int(1.3 * (wanted - len(found))) + 64
        head, tail = ((limit * rng.random(more) ** (1 / (1 - SKEW))).astype(np.int64) for limit in shape)
        if ordered:
            head, tail = np.maximum(head, tail), np.minimum(head, tail)
        keys = (head * shape[1] + tail)[(head != tail) | (shape[0] != shape[1])]
        found = np.unique(np.concatenate([found, keys]))
        found = found[~_is_among(found, known)]
    return rng.permutation(found)[:wanted]


def _is_among(keys, known):
    """Whether each key is one of the known ones, which are sorted."""
    return np.append(known, -1)[np.searchsorted(known, keys)] == keys


def draw_relations(rng, schema, *, edges, counts):
    """Yield (relation, types of both ends, pairs, true-negative pairs), the most special relations first.

    The first of two relations that exclude each other comes again, without pairs, when its true negatives are known.
    """
    inherited, by_name = defaultdict(list), {}
    for name in sorted(RELATIONS, key=lambda name: (-len(schema.ancestors(name)), name)):
        relation = schema.relation(name)
        types = tuple(HIERARCHY if kind == "*" else kind for kind in (relation.head, relation.tail))
        shape = tuple(counts[kind] for kind in types)
        given = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *inherited.pop(name, [])]))
        contrary = by_name.get(relation.excludes, np.empty(0, dtype=np.int64))
        wanted = max(2, round(RELATIONS[name][0] * edges)) // (2 if relation.symmetric else 1)
        ordered = relation.symmetric or relation.head == "*"
        own = max(0, wanted - len(given))
        known = np.concatenate([given, contrary])
        pairs = np.concatenate([given, draw_pairs(rng, shape=shape, wanted=own, known=known, ordered=ordered)])
        pairs = rng.permutation(pairs)
        if relation.parent is not None:
            shared = pairs[: round(INHERITED * len(pairs))]
            general = schema.relation(relation.parent.relation)
            inherited[general.name].append(_as_said_by(shared, shape, relation.parent.flipped, general.symmetric))
        few = round(TRUE_NEGATIVES * len(pairs)) if name in WITH_TRUE_NEGATIVES else 0
        false = draw_pairs(rng, shape=shape, wanted=few, known=pairs, ordered=False)
        yield relation, types, pairs, np.concatenate([false, contrary])
        if relation.excludes in by_name:
            yield schema.relation(relation.excludes), types, pairs[:0], pairs
        if relation.excludes is not None:
            by_name[name] = pairs


def _as_said_by(pairs, shape, flipped, symmetric):
    """The pairs of a sub-relation as its super-relation has them."""
    head, tail = np.divmod(pairs, shape[1])
    if flipped:
        return tail * shape[0] + head
    if symmetric:
        return np.maximum(head, tail) * shape[1] + np.minimum(head, tail)
    return pairs


def node_names(rng, counts):
    """Type → ids of its nodes by rank, all of the same length, shape (nodes, letters) of bytes."""
    names = {}
    for kind, (_, start) in NODE_TYPES.items():
        numbers = rng.permutation(counts[kind]) + 1
        text = np.char.add(start.encode(), np.char.zfill(numbers.astype("S7"), 7))
        names[kind] = text.view(np.uint8).reshape(len(text), -1)
    return names


def write_rows(stream, rng, name, *, heads, tails):
    """Write rows of a relation; its ids have one length each, so that all rows of it are as long."""
    source = RELATIONS[name][1]
    scored = source in WITH_SCORE
    between, end = f"\t{name}\t".encode(), f"\t{'000' if scored else ''}\t{source}\n".encode()
    for start in range(0, len(heads), CHUNK):
        head, tail = heads[start : start + CHUNK], tails[start : start + CHUNK]
        middle, last = (
            np.broadcast_to(np.frombuffer(text, np.uint8), (len(head), len(text))) for text in (between, end)
        )
        rows = np.concatenate([head, middle, tail, last], axis=1)
        if scored:
            place = rows.shape[1] - len(end) + 1
            score = rng.integers(150, 1000, size=len(rows))
            for digit, power in enumerate((100, 10, 1)):
                rows[:, place + digit] = ord("0") + score // power % 10
        stream.write(rows.tobytes())


def make_graph(folder, *, edges, nodes, seed):
    """Write the three files of a graph of about so many edges and at most so many nodes into a folder."""
    rng = np.random.default_rng(seed)
    counts = {kind: max(20, round(share * nodes)) for kind, (share, _) in NODE_TYPES.items()}
    names = node_names(rng, counts)
    used = {kind: np.zeros(count, dtype=bool) for kind, count in counts.items()}
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "edges.csv").open("wb") as positive, (folder / "TN_edges.csv").open("wb") as negative:
        for relation, types, pairs, false in draw_relations(rng, load_schema(), edges=edges, counts=counts):
            for keys, stream in ((pairs, positive), (false, negative)):
                for start in range(0, len(keys), CHUNK):
                    ranks = np.divmod(keys[start : start + CHUNK], counts[types[1]])
                    heads, tails = (names[kind][rank] for kind, rank in zip(types, ranks, strict=True))
                    write_rows(stream, rng, relation.name, heads=heads, tails=tails)
                    if relation.symmetric:
                        write_rows(stream, rng, relation.name, heads=tails, tails=heads)
                    for kind, rank in zip(types, ranks, strict=True):
                        used[kind][rank] = True
    with (folder / "nodes.csv").open("wb") as stream:
        for kind in NODE_TYPES:
            stream.writelines(row.tobytes() + f"\t{kind}\n".encode() for row in names[kind][used[kind]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("size", metavar="SIZE", help="m1, hq, all or a number of edges")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    edges, nodes = SIZES.get(options.size) or (int(options.size), max(1000, int(options.size) // 20))
    make_graph(options.folder, edges=edges, nodes=options.nodes or nodes, seed=options.seed)


if __name__ == "__main__":
    main()
