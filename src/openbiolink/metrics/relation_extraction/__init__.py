"""Scores of relation extraction: how many relations of a text were found, and how many that were found are true."""

from openbiolink.metrics.relation_extraction.checks import check_document
from openbiolink.metrics.relation_extraction.mistakes import KINDS, RelationError, document_errors, iter_errors
from openbiolink.metrics.relation_extraction.pairing import pair_documents
from openbiolink.metrics.relation_extraction.readers import (
    FORMATS,
    read_both,
    read_facts,
    read_relations,
    recognise,
)
from openbiolink.metrics.relation_extraction.scoring import Counts, RelationResult, RelationScorer, score_relations
from openbiolink.metrics.relation_extraction.settings import RelationOptions, Settings, normalised
from openbiolink.metrics.relation_extraction.table import errors_table
from openbiolink.metrics.relation_extraction.uncertainty import (
    RelationDifference,
    bootstrap_relations,
    compare_relations,
)

__all__ = [
    "FORMATS",
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
    "errors_table",
    "iter_errors",
    "normalised",
    "pair_documents",
    "read_both",
    "read_facts",
    "read_relations",
    "recognise",
    "score_relations",
]
