"""Metrics as pure functions of ranks."""

from openbiolink.metrics.ranking import (
    TIES,
    Ties,
    hits_at_k,
    mean_rank,
    mean_reciprocal_rank,
    ranking_metrics,
    ranks_from_counts,
)

__all__ = [
    "TIES",
    "Ties",
    "hits_at_k",
    "mean_rank",
    "mean_reciprocal_rank",
    "ranking_metrics",
    "ranks_from_counts",
]
