"""Metrics by themselves: of ranks and of extracted relations, whatever program they come from."""

from openbiolink.metrics.accumulator import RankingEvaluator, metrics_from_chunks, metrics_parallel
from openbiolink.metrics.chance import Chance, chance_level
from openbiolink.metrics.curves import hits_curve, plot_hits_curve, show_hits_curve
from openbiolink.metrics.rank_files import iter_rank_rows, iter_ranks, read_ranks
from openbiolink.metrics.ranking import (
    METRICS,
    TIES,
    Ties,
    all_metrics,
    average_tied,
    geometric_mean_rank,
    harmonic_mean_rank,
    hits_at,
    hits_at_k,
    mean_rank,
    mean_reciprocal_rank,
    median_rank,
    mrr,
    ranking_metrics,
    ranks_from_counts,
    ranks_from_scores,
    summary,
    tally_ranks,
)
from openbiolink.metrics.uncertainty import bootstrap_ranks, compare_ranks

__all__ = [
    "METRICS",
    "TIES",
    "Chance",
    "RankingEvaluator",
    "Ties",
    "all_metrics",
    "average_tied",
    "bootstrap_ranks",
    "chance_level",
    "compare_ranks",
    "geometric_mean_rank",
    "harmonic_mean_rank",
    "hits_at",
    "hits_at_k",
    "hits_curve",
    "iter_rank_rows",
    "iter_ranks",
    "mean_rank",
    "mean_reciprocal_rank",
    "median_rank",
    "metrics_from_chunks",
    "metrics_parallel",
    "mrr",
    "plot_hits_curve",
    "ranking_metrics",
    "ranks_from_counts",
    "ranks_from_scores",
    "read_ranks",
    "show_hits_curve",
    "summary",
    "tally_ranks",
]
