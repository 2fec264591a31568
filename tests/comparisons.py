"""One table of ways to work out the same metrics of the same ranks: read by tests and by benchmarks.

    COMPARISONS[metric][way](ranks) -> number

`ours` is the package, `naive` is the definition in plain Python, the others are programs that people use. Each takes
whole ranks of at least 1. `PEERS` says how each program is fed. ranx compiles for most of a minute before its first
number, so that `benchmarks/bench_metrics.py` alone runs it.
"""

from functools import lru_cache

import numpy as np

from openbiolink.metrics import hits_at_k, mean_rank, mean_reciprocal_rank, median_rank
from oracles import ranking as oracle

PEERS = {
    "pykeen": "classes of `pykeen.metrics.ranking`, on an array of ranks",
    "torchmetrics": "`torchmetrics.retrieval`: scores of as many candidates as the rank of a query, the right one last",
    "ranx": "`ranx.evaluate`: runs of as many documents as the rank of a query, the right one last",
}


def pykeen(name, **options):
    def compute(ranks):
        from pykeen.metrics import ranking

        return float(getattr(ranking, name)(**options)(np.asarray(ranks)))

    return compute


def torchmetrics(name, **options):
    def compute(ranks):
        from torchmetrics import retrieval

        scores, right, query = torch_rows(tuple(int(rank) for rank in ranks))
        return float(getattr(retrieval, name)(**options)(scores, right, indexes=query))

    return compute


@lru_cache(maxsize=1)
def torch_rows(ranks):
    """Scores that put the right candidate of each query at its rank."""
    import torch

    sizes = torch.tensor(ranks)
    query = torch.repeat_interleave(torch.arange(len(ranks)), sizes)
    within = torch.arange(int(sizes.sum())) - torch.repeat_interleave(torch.cumsum(sizes, 0) - sizes, sizes)
    return 1 / (1 + within.double()), within + 1 == sizes[query], query  # it takes scores below 0 for wrong answers


def ranx(name):
    def compute(ranks):
        import ranx

        wanted, listed = ranx_runs(tuple(int(rank) for rank in ranks))
        return float(ranx.evaluate(wanted, listed, name, make_comparable=False))

    return compute


@lru_cache(maxsize=1)
def ranx_runs(ranks):
    import ranx

    wanted = {f"q{place}": {"right": 1} for place in range(len(ranks))}
    listed = {
        f"q{place}": {**{f"d{better}": float(rank - better) for better in range(rank - 1)}, "right": 0.5}
        for place, rank in enumerate(ranks)
    }
    return ranx.Qrels(wanted), ranx.Run(listed)


COMPARISONS = {
    "mrr": {
        "ours": mean_reciprocal_rank,
        "naive": lambda ranks: oracle.metrics(ranks)["mrr"],
        "pykeen": pykeen("InverseHarmonicMeanRank"),
        "torchmetrics": torchmetrics("RetrievalMRR"),
        "ranx": ranx("mrr"),
    },
    **{
        f"hits@{k}": {
            "ours": lambda ranks, k=k: hits_at_k(ranks, k=k),
            "naive": lambda ranks, k=k: oracle.metrics(ranks)[f"hits@{k}"],
            "pykeen": pykeen("HitsAtK", k=k),
            "torchmetrics": torchmetrics("RetrievalHitRate", top_k=k),
            "ranx": ranx(f"hit_rate@{k}"),
        }
        for k in (1, 3, 10)
    },
    "mean_rank": {
        "ours": mean_rank,
        "naive": lambda ranks: oracle.metrics(ranks)["mean_rank"],
        "pykeen": pykeen("ArithmeticMeanRank"),
    },
    "median_rank": {
        "ours": median_rank,
        "naive": oracle.median,
        "pykeen": pykeen("MedianRank"),
    },
}
