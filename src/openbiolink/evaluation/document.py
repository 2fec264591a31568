"""`result.json`: everything an evaluation found, as plain Python that JSON can hold.

The format is described by `docs/schema/result-2.schema.json`. There is no NaN or infinity in it, no time and no path; a
number that is not defined is null.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from openbiolink.evaluation.breakdown import (
    Labels,
    by_degree,
    by_node_type,
    by_relation,
    by_relation_class,
    by_side,
    group_metrics,
    macro_metrics,
)
from openbiolink.evaluation.result import COLUMNS, FORMAT, describe_dataset
from openbiolink.evaluation.sampling import estimate
from openbiolink.evaluation.uncertainty import bootstrap_intervals, normal_intervals
from openbiolink.metrics.chance import chance_level
from openbiolink.metrics.ranking import TIES, all_metrics
from openbiolink.metrics.resampling import CONFIDENCE, RESAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from openbiolink.evaluation.classification import Classification
    from openbiolink.evaluation.result import Evaluation


def result_document(
    evaluation: Evaluation,
    *,
    types: Sequence[str] | None = None,
    seed: int | None = None,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    classification: Classification | None = None,
) -> dict[str, Any]:
    """All numbers of an evaluation.

    Args:
        evaluation: what was found.
        types: node type of every entity, for the breakdown by type.
        seed: of the bootstrap intervals; None for intervals by the standard error.
        resamples: how many draws the bootstrap makes.
        confidence: of all intervals.
        classification: what was found on negatives, if they were scored.

    Raises:
        InputError: an option is wrong.
    """
    about = describe_dataset(evaluation)
    metrics = _by_ties_and_side(evaluation.metrics)
    return {
        "format": FORMAT,
        "version": version("openbiolink"),
        "model": evaluation.model,
        "dataset": about,
        "ties": evaluation.ties,
        "filter_parts": list(evaluation.filter_parts),
        "higher_is_better": evaluation.higher_is_better,
        "candidate_set": dict(evaluation.candidate_set),
        "test_triples": about["num_test"],
        "ranked_triples": len(evaluation.triples),
        "left_out": evaluation.left_out,
        "sample": None if evaluation.sample is None else asdict(evaluation.sample),
        "not_listed": sum(evaluation.not_listed.values()),
        "not_listed_by_side": dict(evaluation.not_listed),
        "notes": list(evaluation.notes),
        "metrics": metrics,
        "further_metrics": _further(evaluation, metrics["realistic"]["both"]),
        "chance": _chance(evaluation),
        "macro": _by_ties_and_side(lambda side, ties: macro_metrics(evaluation, side, ties=ties)),
        "by_relation": _by_relation(evaluation),
        "breakdowns": _breakdowns(evaluation, types),
        "intervals": _intervals(evaluation, seed, resamples, confidence),
        "estimate": _estimate(evaluation, confidence),
        "classification": None if classification is None else classification.to_dict(),
    }


def _by_ties_and_side(compute: Callable[..., Any]) -> dict[str, dict[str, Any]]:
    return {ties: {side: compute(side, ties=ties) for side in COLUMNS} for ties in TIES}


def _further(evaluation: Evaluation, shown: dict[str, float]) -> dict[str, dict[str, Any]]:
    """The metrics of `METRICS` beyond those that are shown everywhere."""

    def compute(side: Any, *, ties: Any) -> dict[str, float | None]:
        found = all_metrics(evaluation.ranks(side, ties=ties), evaluation.candidates[:, COLUMNS[side]])
        return {name: value for name, value in found.items() if name not in shown}

    return _by_ties_and_side(compute)


def _chance(evaluation: Evaluation) -> dict[str, Any]:
    return {
        side: {
            name: {"expectation": chance.expectation, "standard_deviation": math.sqrt(chance.variance)}
            for name, chance in chance_level(evaluation.candidates[:, columns]).items()
        }
        for side, columns in COLUMNS.items()
    }


def _by_relation(evaluation: Evaluation) -> dict[str, Any]:
    labels = by_relation(evaluation)
    groups = _by_ties_and_side(lambda side, ties: group_metrics(evaluation, labels, side, ties=ties))
    return {
        relation: {
            ties: {side: found[relation].metrics for side, found in sides.items()} for ties, sides in groups.items()
        }
        for relation in evaluation.relations()
    }


def _breakdowns(evaluation: Evaluation, types: Sequence[str] | None) -> dict[str, Any]:
    """Queries and metrics of each group, by breakdown; those that need what is not at hand are absent."""
    labels: dict[str, Labels] = {"side": by_side(evaluation)}
    if types is not None:
        labels["node_type"] = by_node_type(evaluation, types)
    if evaluation.described is None:
        labels |= {"degree": by_degree(evaluation), "relation_class": by_relation_class(evaluation)}
    found = {}
    for name, own in labels.items():
        groups = {ties: group_metrics(evaluation, own, ties=ties) for ties in TIES}
        found[name] = {
            label: {"queries": group.queries, "metrics": {ties: groups[ties][label].metrics for ties in TIES}}
            for label, group in groups[evaluation.ties].items()
        }
    return found


def _intervals(evaluation: Evaluation, seed: int | None, resamples: int, confidence: float) -> dict[str, Any]:
    """Those of the tie rule that is shown, by side and metric."""
    about: dict[str, Any] = {"ties": evaluation.ties, "confidence": confidence, "cluster": "triple"}
    if seed is None:
        about |= {"method": "standard error", "seed": None, "resamples": None}
        sides = {side: normal_intervals(evaluation, side, confidence=confidence) for side in COLUMNS}
    else:
        about |= {"method": "bootstrap", "seed": seed, "resamples": resamples}
        options: dict[str, Any] = {"seed": seed, "resamples": resamples, "confidence": confidence}
        sides = {side: bootstrap_intervals(evaluation, side, **options) for side in COLUMNS}
    found = {side: {name: asdict(one) for name, one in own.items()} for side, own in sides.items()}
    return {**about, "sides": found}


def _estimate(evaluation: Evaluation, confidence: float) -> dict[str, Any] | None:
    """What a sample says of all test triples, with a guarantee; None where all were ranked."""
    if evaluation.sample is None:
        return None
    sides = {side: estimate(evaluation, side, confidence=confidence) for side in COLUMNS}
    found = {side: {name: asdict(one) for name, one in own.items()} for side, own in sides.items()}
    return {"ties": evaluation.ties, "confidence": confidence, "sides": found}
