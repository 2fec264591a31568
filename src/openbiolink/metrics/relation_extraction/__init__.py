"""Scores of relation extraction: how many relations of a text were found, and how many that were found are true."""

from openbiolink.metrics.relation_extraction.checks import check_document
from openbiolink.metrics.relation_extraction.mistakes import KINDS, RelationError, document_errors, iter_errors
from openbiolink.metrics.relation_extraction.scoring import Counts, RelationResult, RelationScorer, score_relations
from openbiolink.metrics.relation_extraction.settings import RelationOptions, Settings, normalised
from openbiolink.metrics.relation_extraction.uncertainty import (
    RelationDifference,
    bootstrap_relations,
    compare_relations,
)

__all__ = [
    "KINDS",
    "Counts",
    "RelationDifference",
    "RelationError",
    "RelationOptions",
    "RelationResult",
    "RelationScorer",
    "Settings",
    "bootstrap_relations",
    "check_document",
    "compare_relations",
    "document_errors",
    "iter_errors",
    "normalised",
    "score_relations",
]
