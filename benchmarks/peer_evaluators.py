"""Other programs, run on the same split and vectors, in an environment of their own.

    python benchmarks/peer_evaluators.py '{"peer": ..., ...}'

Started by `bench_evaluate.py`, which says what to measure; prints the facts of one entry as JSON. Nothing of the
package is imported. What is not the other program's own work is not timed: its model, data set and index are there
before.
"""

import json
import sys
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
import yardstick

PYKEEN_BATCH, TORCHKGE_BATCH, BATCH = 32, 32, 100
CODE = {"head": (2, 0), "tail": (0, 2)}  # of a side: the column that is given and the one that is asked for


def rank_pykeen(task, arrays):
    """`RankBasedEvaluator` on PyKEEN's own model with our vectors; realistic ranks."""
    from pykeen.evaluation import RankBasedEvaluator
    from pykeen.models import ComplEx, DistMult, TransE
    from pykeen.triples import CoreTriplesFactory

    entities, relations = len(arrays["entities"]), len(arrays["relations"])
    train, valid, test = (torch.as_tensor(arrays[name].astype(np.int64)) for name in ("train", "valid", "test"))
    factory = CoreTriplesFactory(train, num_entities=entities, num_relations=relations)
    size = arrays["entities"].shape[1]
    model = {
        "distmult": lambda: DistMult(triples_factory=factory, embedding_dim=size),
        "transe-l2": lambda: TransE(triples_factory=factory, embedding_dim=size, scoring_fct_norm=2),
        "complex": lambda: ComplEx(triples_factory=factory, embedding_dim=size // 2),
    }[task["model"]]()
    for kind in ("entity", "relation"):
        table = arrays["entities" if kind == "entity" else "relations"]
        if task["model"] == "complex":
            table = table.reshape(len(table), 2, -1).transpose(0, 2, 1).reshape(len(table), -1)
        weight = getattr(model, f"{kind}_representations")[0]._embeddings.weight  # noqa: SLF001 - there is no other way in
        weight.data = torch.as_tensor(table.copy()).reshape(weight.shape)
    evaluator = RankBasedEvaluator(clear_on_finalize=False)
    rows = test[: task["triples"]]

    def run():
        evaluator.clear()
        evaluator.evaluate(
            model, rows, batch_size=PYKEEN_BATCH, use_tqdm=False, additional_filter_triples=[train, valid, test]
        )

    def ranks():
        return np.column_stack([np.concatenate(evaluator.ranks[side, "realistic"]) for side in CODE])

    return run, ranks, "realistic"


def rank_torchkge(task, arrays):
    """`LinkPredictionEvaluator` on TorchKGE's own model with our vectors; pessimistic ranks."""
    from torchkge.data_structures import KnowledgeGraph
    from torchkge.evaluation import LinkPredictionEvaluator
    from torchkge.models import ComplExModel, DistMultModel, TransEModel

    sizes = arrays["entities"].shape[1], len(arrays["entities"]), len(arrays["relations"])
    model = {
        "distmult": lambda: DistMultModel(*sizes),
        "transe-l2": lambda: TransEModel(*sizes, dissimilarity_type="L2"),
        "complex": lambda: ComplExModel(sizes[0] // 2, *sizes[1:]),
    }[task["model"]]()
    for name, table in {"ent_emb": arrays["entities"], "rel_emb": arrays["relations"]}.items():
        if task["model"] == "complex":
            for part, half in zip(("re", "im"), np.split(table, 2, axis=1), strict=True):
                getattr(model, f"{part}_{name}").weight.data = torch.as_tensor(half.copy())
        else:
            getattr(model, name).weight.data = torch.as_tensor(table.copy())
    ids = {"ent2ix": {i: i for i in range(sizes[1])}, "rel2ix": {i: i for i in range(sizes[2])}}
    every = np.concatenate([arrays[name] for name in ("test", "train", "valid")]).astype(np.int64)
    columns = dict(zip(("heads", "relations", "tails"), torch.as_tensor(every).T, strict=True))
    whole = KnowledgeGraph(kg={name: column.contiguous() for name, column in columns.items()}, **ids)
    count = task["triples"]
    graph = KnowledgeGraph(
        kg={name: column[:count].contiguous() for name, column in columns.items()},
        dict_of_heads=whole.dict_of_heads,
        dict_of_tails=whole.dict_of_tails,
        dict_of_rels=whole.dict_of_rels,
        **ids,
    )
    evaluator = LinkPredictionEvaluator(model, graph)

    def run():
        with torch.no_grad():
            evaluator.evaluate(b_size=TORCHKGE_BATCH, verbose=False)

    def ranks():
        return np.column_stack([evaluator.filt_rank_true_heads.numpy(), evaluator.filt_rank_true_tails.numpy()])

    return run, ranks, "pessimistic"


def rank_old(task, arrays):
    """The method of the first OpenBioLink's evaluator, mended: its filter is called rightly and no rank is one too far.

    It scores a batch by one matrix product, looks each row's other known answers up in a dictionary of sets, overwrites
    their scores with NaN by a tensor made for the row, and counts the scores that are no smaller; pessimistic ranks.
    """
    known = {side: defaultdict(set) for side in CODE}
    for part in ("train", "valid", "test"):
        for triple in arrays[part].tolist():
            for side, (given, asked) in CODE.items():
                known[side][triple[given], triple[1]].add(triple[asked])
    score, test = scorer(task, arrays), torch.as_tensor(arrays["test"][: task["triples"]].astype(np.int64))
    found = torch.empty((len(test), 2))

    def run():
        for first in range(0, len(test), BATCH):
            batch = test[first : first + BATCH]
            for column, (side, (given, asked)) in enumerate(CODE.items()):
                scores, answers = score(side, batch), batch[:, asked]
                for row in range(len(batch)):
                    triple = batch[row].tolist()
                    others = list(known[side][triple[given], triple[1]] - {triple[asked]})
                    scores[row, torch.tensor(others, dtype=torch.long)] = float("nan")
                level = scores.gather(1, answers.view(-1, 1))
                found[first : first + BATCH, column] = (scores >= level).sum(dim=1)

    return run, found.numpy, "pessimistic"


def rank_ogb(task, arrays):
    """OGB's way for all candidates: one product, known answers masked by ours, `Evaluator('ogbl-biokg')`; realistic."""
    from ogb.linkproppred import Evaluator

    evaluator = Evaluator("ogbl-biokg")
    every = np.concatenate([arrays[part] for part in ("train", "valid", "test")]).astype(np.int64)
    index = {}
    for side, (given, asked) in CODE.items():
        codes = every[:, given] * len(arrays["relations"]) + every[:, 1]
        order = np.argsort(codes, kind="stable")
        index[side] = codes[order], torch.as_tensor(every[order, asked])
    score, test = scorer(task, arrays), torch.as_tensor(arrays["test"][: task["triples"]].astype(np.int64))
    found = torch.empty((len(test), 2))

    def run():
        for first in range(0, len(test), BATCH):
            batch = test[first : first + BATCH]
            for column, (side, (given, asked)) in enumerate(CODE.items()):
                scores = score(side, batch)
                level = scores.gather(1, batch[:, asked].view(-1, 1)).view(-1)
                codes, answers = index[side]
                wanted = (batch[:, given] * len(arrays["relations"]) + batch[:, 1]).numpy()
                begin, end = (np.searchsorted(codes, wanted, one) for one in ("left", "right"))
                rows = np.repeat(np.arange(len(batch)), end - begin)
                places = np.arange(len(rows)) + np.repeat(begin - np.cumsum(end - begin) + (end - begin), end - begin)
                scores[torch.as_tensor(rows), answers[torch.as_tensor(places)]] = -torch.inf
                got = evaluator.eval({"y_pred_pos": level, "y_pred_neg": scores})
                found[first : first + BATCH, column] = 1 / got["mrr_list"]

    return run, lambda: np.round(2 * found.numpy()) / 2, "realistic"


def scorer(task, arrays):
    """A function (side, triples) → scores of all entities by one matrix product, given to the old and OGB's way."""
    table, relations = torch.as_tensor(arrays["entities"]), torch.as_tensor(arrays["relations"])
    halves, form = (table * table).sum(dim=1) / 2, task["model"]

    def score(side, batch):
        known, step = table[batch[:, CODE[side][0]]], relations[batch[:, 1]]
        if form == "distmult":
            return (known * step) @ table.T
        if form == "transe-l2":
            return (known + step if side == "tail" else known - step) @ table.T - halves
        (re, im), (r_re, r_im) = known.chunk(2, dim=1), step.chunk(2, dim=1)
        if side == "tail":
            return torch.cat([re * r_re - im * r_im, re * r_im + im * r_re], dim=1) @ table.T
        return torch.cat([re * r_re + im * r_im, im * r_re - re * r_im], dim=1) @ table.T

    return score


PEERS = {"pykeen": rank_pykeen, "torchkge": rank_torchkge, "old way": rank_old, "ogb": rank_ogb}


def measure_ranks(task):
    """Facts of an entry of the peer's ranks: times, and how many ranks differ from ours under the same tie rule."""
    arrays = np.load(task["arrays"])
    arrays = {name: arrays[name] for name in arrays.files}
    total = len(arrays["test"])
    task["triples"] = min(task["triples"] or total, total)
    start = time.perf_counter()
    run, ranks, ties = PEERS[task["peer"]](task, arrays)
    index = time.perf_counter() - start
    facts = yardstick.measure(
        run,
        queries=int(arrays["queries"]),
        table=arrays["entities"],
        repeats=task["repeats"],
        scale=total / task["triples"],
    )
    better, equal = arrays["better"][: task["triples"]], arrays["equal"][: task["triples"]]
    gaps = np.abs(ranks() - (1 + better + (equal / 2 if ties == "realistic" else equal)))
    differ = {"ties": ties, "of": gaps.size, "ranks": int((gaps > 0).sum()), "most": float(gaps.max())}
    triples = {"run": task["triples"], "total": total, "scale": round(total / task["triples"], 4)}
    return {**facts, "triples": triples, "differ": differ, "prepare_s": round(index, 2)}


def load_pykeen(files):
    """`TriplesFactory` of every part, and the filter index of both sides for the test part."""
    from pykeen.evaluation.evaluation_loop import LCWAEvaluationDataset
    from pykeen.triples import TriplesFactory

    options = {"load_triples_kwargs": {"column_remapping": (0, 1, 2)}}
    train = TriplesFactory.from_path(files["train"], **options)
    ids = {"entity_to_id": train.entity_to_id, "relation_to_id": train.relation_to_id}
    valid, test = (TriplesFactory.from_path(files[part], **options, **ids) for part in ("val", "test"))
    LCWAEvaluationDataset(factory=test, additional_filter_triples=[train, valid])
    return sum(factory.num_triples for factory in (train, valid, test))


def load_old(files):
    """The method of the first OpenBioLink's loader, mended: labels by pandas, ids in order, then sets row by row."""
    import pandas as pd

    parts = {
        name: pd.read_csv(
            file, sep="\t", header=None, usecols=[0, 1, 2], names=["h", "r", "t"], dtype=str, keep_default_na=False
        )
        for name, file in files.items()
    }
    entities = {label: i for i, label in enumerate(sorted({*parts["train"]["h"], *parts["train"]["t"]}))}
    relations = {label: i for i, label in enumerate(sorted(set(parts["train"]["r"])))}
    heads, tails, count = defaultdict(set), defaultdict(set), 0
    for rows in parts.values():
        columns = [rows["h"].map(entities), rows["r"].map(relations), rows["t"].map(entities)]
        known = np.logical_and.reduce([column.notna() for column in columns])
        triples = torch.as_tensor(np.column_stack([column[known].astype(np.int64) for column in columns]))
        for row in triples:
            head, relation, tail = row.tolist()
            heads[tail, relation].add(head)
            tails[head, relation].add(tail)
        count += len(triples)
    return count


LOADERS = {"pykeen": load_pykeen, "old way": load_old}


def measure_load(task):
    """Facts of an entry of the peer's loading, once, scaled by the rows that were read."""
    start, counts = yardstick.reset_peak(), []
    seconds = [yardstick.clock(lambda: counts.append(LOADERS[task["peer"]](task["files"])))]
    scale = task["rows"] / counts[0]
    return {
        "seconds": yardstick.by_clock(seconds),
        "median": yardstick.medians(seconds, scale),
        "triples": {"run": counts[0], "total": task["rows"], "scale": round(scale, 4)},
        "peak_mb": round(yardstick.peak_memory(), 1),
        "before_mb": round(start, 1),
    }


def main():
    warnings.simplefilter("ignore")
    task = json.loads(sys.argv[1])
    torch.set_num_threads(2)
    facts = measure_load(task) if "files" in task else measure_ranks(task)
    Path(task["out"]).write_text(json.dumps(facts))


if __name__ == "__main__":
    main()
