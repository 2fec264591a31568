"""Make up a split of any size that is shaped like a published one.

    python benchmarks/made_up_split.py tiny|small|hq FOLDER [--seed 1]

Writes train_sample.csv, val_sample.csv and test_sample.csv as `openbiolink split` lays them out. `hq` has the size of
the published HQ_DIR: 184,732 entities, 28 relations, 8,503,580, 397,066 and 401,901 triples; `small` has 20,000
entities and 300,000, 10,000 and 10,000; `tiny` is for tests. Ends are drawn from the nodes of a type, the node of rank
k with a chance proportional to k^-SKEW; most relations join only a part of the nodes, and nodes that were never drawn
get one training triple. No triple stands twice. The same size and seed give the same bytes.
"""

import argparse
from pathlib import Path

import duckdb
import numpy as np

SIZES = {
    "tiny": (2_000, 3_000, 100, 100),
    "small": (20_000, 300_000, 10_000, 10_000),
    "hq": (184_732, 8_503_580, 397_066, 401_901),
}
SKEW = 0.65
ACTIVE = 0.3  # of the nodes of a type, those that a relation joins, unless it is one of WHOLE
WHOLE = ("GENE_DRUG", "IS_A", "GENE_DIS", "GENE_PHENOTYPE", "GENE_PATHWAY", "ANATOMY_PART_OF_ANATOMY")
NAMES = ("train", "val", "test")
TYPES = {"GENE": 0.12, "DRUG": 0.45, "GO": 0.24, "DIS": 0.07, "PHENOTYPE": 0.06, "ANATOMY": 0.05, "PATHWAY": 0.01}

# Relation → share of the triples, type of the heads, type of the tails.
RELATIONS = {
    "GENE_GENE": (0.19, "GENE", "GENE"),
    "GENE_EXPRESSED_ANATOMY": (0.17, "GENE", "ANATOMY"),
    "GENE_DRUG": (0.11, "GENE", "DRUG"),
    "GENE_PHENOTYPE": (0.09, "GENE", "PHENOTYPE"),
    "GENE_GO": (0.08, "GENE", "GO"),
    "GENE_DIS": (0.07, "GENE", "DIS"),
    "DRUG_PHENOTYPE": (0.06, "DRUG", "PHENOTYPE"),
    "GENE_REACTION_GENE": (0.05, "GENE", "GENE"),
    "DIS_PHENOTYPE": (0.04, "DIS", "PHENOTYPE"),
    "GENE_PATHWAY": (0.03, "GENE", "PATHWAY"),
    "DRUG_BINDING_GENE": (0.03, "DRUG", "GENE"),
    "GENE_BINDING_GENE": (0.02, "GENE", "GENE"),
    "DIS_DRUG": (0.01, "DIS", "DRUG"),
    "PART_OF": (0.01, "GO", "GO"),
    "IS_A": (0.01, "GO", "GO"),
    **{f"GENE_{name}_GENE": (0.003, "GENE", "GENE") for name in ("ACTIVATION", "CATALYSIS", "INHIBITION", "BINDACT")},
    **{f"DRUG_{name}_GENE": (0.002, "DRUG", "GENE") for name in ("ACTIVATION", "CATALYSIS", "INHIBITION", "BINDACT")},
    **{f"GENE_{name}_ANATOMY": (0.002, "GENE", "ANATOMY") for name in ("OVEREXPRESSED", "UNDEREXPRESSED", "ABSENT")},
    "ANATOMY_PART_OF_ANATOMY": (0.001, "ANATOMY", "ANATOMY"),
    "PATHWAY_PART_OF_PATHWAY": (0.0001, "PATHWAY", "PATHWAY"),
}


def draw_triples(rng, entities, total):
    """Distinct triples, shape (total, 3), in random order; ids of entities are grouped by type."""
    bounds = np.concatenate([[0], np.round(np.cumsum(list(TYPES.values())) / sum(TYPES.values()) * entities)])
    pools = {name: (int(bounds[i]), int(bounds[i + 1])) for i, name in enumerate(TYPES)}
    shares = np.array([share for share, _, _ in RELATIONS.values()])
    wanted = np.round(shares / shares.sum() * total).astype(int)
    wanted[0] += total - wanted.sum()
    found = []
    for number, (name, (_, heads, tails)) in enumerate(RELATIONS.items()):
        count, active = wanted[number], 1 if name in WHOLE else ACTIVE
        (low, high), (first, last) = pools[heads], pools[tails]
        high, last = low + int((high - low) * active), first + int((last - first) * active)
        keys = np.empty(0, np.int64)
        while len(keys) < count:
            size = 2 * (count - len(keys)) + 100
            head = low + ((high - low) * rng.random(size) ** (1 / (1 - SKEW))).astype(np.int64)
            tail = first + ((last - first) * rng.random(size) ** (1 / (1 - SKEW))).astype(np.int64)
            keys = np.union1d(keys, head * entities + tail)
        head, tail = np.divmod(rng.choice(keys, count, replace=False), entities)
        found.append(np.column_stack([head, np.full(count, number), tail]))
    every = np.concatenate(found).astype(np.int32)
    every = every[rng.permutation(len(every))]
    absent = np.setdiff1d(np.arange(entities), every[:, [0, 2]])
    leading = np.column_stack([absent, np.zeros_like(absent), np.zeros_like(absent)]).astype(np.int32)
    return np.concatenate([leading, every[len(absent) :]])


def make_arrays(size, seed=1):
    """Entities, relations, and the three parts, shapes (n, 3)."""
    entities, *counts = SIZES[size]
    every = draw_triples(np.random.default_rng(seed), entities, sum(counts))
    return entities, list(RELATIONS), np.split(every, np.cumsum(counts)[:-1])


def make_split(size, folder, seed=1):
    """Write the split and return the folder."""
    entities, relations, parts = make_arrays(size, seed)
    folder.mkdir(parents=True, exist_ok=True)
    labels = np.array([f"MADEUP:{number:07}" for number in range(entities)], object)
    connection = duckdb.connect()
    connection.register("label", {"id": np.arange(entities), "label": labels})
    connection.register("relation", {"id": np.arange(len(relations)), "label": np.array(relations, object)})
    for name, part in zip(NAMES, parts, strict=True):
        rows = {"n": np.arange(len(part)), "h": part[:, 0], "r": part[:, 1], "t": part[:, 2]}
        connection.register("part", rows)
        connection.execute(
            f"COPY (SELECT a.label, r.label, b.label, NULL AS score, 1 AS value, 'made up' AS source FROM part "
            f"JOIN label a ON a.id = h JOIN relation r ON r.id = part.r JOIN label b ON b.id = t ORDER BY n) "
            f"TO '{folder / name}_sample.csv' (HEADER false, DELIMITER '\t')"
        )
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("size", choices=SIZES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print(make_split(arguments.size, arguments.folder, arguments.seed))


if __name__ == "__main__":
    main()
