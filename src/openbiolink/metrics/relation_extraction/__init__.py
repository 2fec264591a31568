"""Scores of relation extraction: how many relations of a text were found, and how many that were found are true."""

from openbiolink.metrics.relation_extraction.checks import check_document
from openbiolink.metrics.relation_extraction.scoring import (
    Counts,
    RelationResult,
    RelationScorer,
    score_relations,
)
from openbiolink.metrics.relation_extraction.settings import RelationOptions, Settings, normalised

__all__ = [
    "Counts",
    "RelationOptions",
    "RelationResult",
    "RelationScorer",
    "Settings",
    "check_document",
    "normalised",
    "score_relations",
]
