"""Real vectors in the layout of DGL-KE, and real files of ranks: ranks and metrics of the program that made them."""

import csv
import json

import numpy as np
import pytest

from openbiolink import evaluate, load_dataset
from openbiolink.evaluation.models import evaluate_ranks, read_model
from openbiolink.metrics import TIES
from oracles import vectors as oracle

pytestmark = pytest.mark.real

SIDES = ("head", "tail")
VECTORS = {
    "nations/distmult": oracle.distmult,
    "umls/distmult": oracle.distmult,
    "nations/transe_l1": lambda h, r, t: oracle.transe(h, r, t, 1),
    "umls/transe_l1": lambda h, r, t: oracle.transe(h, r, t, 1),
}
NAMES = {"mrr": "inverse_harmonic_mean_rank", "mean_rank": "arithmetic_mean_rank"} | {
    f"hits@{k}": f"hits_at_{k}" for k in (1, 3, 10)
}
UNIT = 2.0**-24  # of float32, in which the maker computed


def read(shared, model):
    folder = shared / "data" / "predictions" / "pykeen" / model
    with (folder / "ranks.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    ranks = {
        ((row["head"], row["relation"], row["tail"]), side): [
            int(row[f"{side}_rank_{rule}"]) for rule in ("optimistic", "pessimistic")
        ]
        for row in rows
        for side in SIDES
    }
    return folder, load_dataset(shared / "data" / "kg" / folder.parent.name), ranks


def found_ranks(result):
    return {
        (tuple(result.dataset.label(triple)), side): [1 + better[column], 1 + better[column] + equal[column]]
        for triple, better, equal in zip(result.triples, result.better.tolist(), result.equal.tolist(), strict=True)
        for column, side in enumerate(SIDES)
    }


def check_metrics(result, folder):
    expected = json.loads((folder / "results.json").read_text())["metrics"]
    for ties in TIES:
        for side in (*SIDES, "both"):
            for name, value in result.metrics(side, ties=ties).items():
                assert value == pytest.approx(expected[side][ties][NAMES[name]], abs=1e-6, rel=UNIT), (ties, side, name)


@pytest.mark.parametrize("model", VECTORS)
def test_saved_vectors_give_the_ranks_of_the_maker_or_scores_that_float32_cannot_tell_apart(shared, model):
    folder, dataset, expected = read(shared, model)
    result = evaluate(read_model("dglke", folder / "dglke", dataset), dataset)
    found = found_ranks(result)
    assert found.keys() == expected.keys()
    tables, rows = [], []
    for kind, many in (("entity", "entities"), ("relation", "relations")):
        tables.append(np.load(next((folder / "dglke").glob(f"*_{kind}.npy"))).astype(float))
        lines = (folder / "dglke" / f"{many}.tsv").read_text(encoding="utf-8").splitlines()
        rows.append({line.split("\t")[1]: int(line.split("\t")[0]) for line in lines})
    size = max(np.abs(table).max() for table in tables)
    bound = 4 * (tables[0].shape[1] + 8) ** 2 * UNIT * max(size, size**3)
    different = {}
    for (triple, side), ranks in found.items():
        if ranks != expected[triple, side]:
            h, r, t = rows[0][triple[0]], rows[1][triple[1]], rows[0][triple[2]]
            made = [(e, t) if side == "head" else (h, e) for e in rows[0].values()]
            scores = np.array([VECTORS[model](tables[0][a], tables[1][r], tables[0][b]) for a, b in made])
            gaps = np.sort(np.abs(scores - VECTORS[model](tables[0][h], tables[1][r], tables[0][t])))
            near = int((gaps <= bound).sum()) - 1
            assert max(abs(a - b) for a, b in zip(ranks, expected[triple, side], strict=True)) <= near
            different[triple, side] = gaps[1]
    print(f"{model}: {len(different)} of {len(found)} pairs of ranks differ", *different.items(), sep="\n  ")
    if not different:
        check_metrics(result, folder)


@pytest.mark.parametrize("model", [*VECTORS, "nations/complex", "umls/complex", "codex-s/complex"])
def test_saved_ranks_give_the_metrics_of_the_maker(shared, model):
    folder, dataset, expected = read(shared, model)
    result = evaluate_ranks(folder / "ranks.tsv", dataset)
    assert found_ranks(result) == expected
    check_metrics(result, folder)
