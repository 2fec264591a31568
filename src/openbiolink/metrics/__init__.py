"""Metrics as pure functions of ranks."""

from openbiolink.metrics.chance import Chance, chance_level
from openbiolink.metrics.ranking import (
    METRICS,
    TIES,
    Ties,
    all_metrics,
    geometric_mean_rank,
    harmonic_mean_rank,
    hits_at_k,
    mean_rank,
    mean_reciprocal_rank,
    median_rank,
    ranking_metrics,
    ranks_from_counts,
)

__all__ = [
    "METRICS",
    "TIES",
    "Chance",
    "Ties",
    "all_metrics",
    "chance_level",
    "geometric_mean_rank",
    "harmonic_mean_rank",
    "hits_at_k",
    "mean_rank",
    "mean_reciprocal_rank",
    "median_rank",
    "ranking_metrics",
    "ranks_from_counts",
]
