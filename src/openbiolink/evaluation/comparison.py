"""Is one model better than another? The same test triples, ranked by both, compared in pairs.

Of each test triple counts the difference of what its queries contribute, second model minus first; the formulas are
those of `openbiolink.metrics.uncertainty`, where a row is a test triple.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from openbiolink.errors import InputError
from openbiolink.evaluation.result import SIDES, describe_dataset
from openbiolink.evaluation.uncertainty import bootstrap_intervals
from openbiolink.metrics.resampling import ALPHA, CONFIDENCE, POWER, RESAMPLES, holm
from openbiolink.metrics.uncertainty import MEANS, Difference, compare_ranks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.table import Table

    from openbiolink.evaluation.result import Evaluation, Sides
    from openbiolink.metrics.ranking import Ties

Values = npt.NDArray[np.float64]

FORMAT = "openbiolink-compare/1"


def compare(
    first: Evaluation,
    second: Evaluation,
    side: Sides = "both",
    *,
    ties: Ties = "realistic",
    metrics: Sequence[str] = MEANS,
    seed: int = 0,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> dict[str, Difference]:
    """The differences of two models, metric by metric.

    Args:
        first: the model to compare with.
        second: the other one, ranked on the same test triples under the same protocol.
        side: which queries.
        ties: the tie rule, for both.
        metrics: means over queries: `mrr`, `mean_rank`, `hits@K`.
        seed: of the draws.
        resamples: how many triples are drawn anew, and how often signs are flipped.
        confidence: of the intervals.

    Raises:
        InputError: the two do not have the same data set, test triples or protocol, or an option is wrong.
    """
    rows = [one.ranks(side, ties=ties).reshape(len(one.triples), -1)[order] for one, order in _aligned(first, second)]
    return compare_ranks(rows[0], rows[1], metrics, seed=seed, resamples=resamples, confidence=confidence)


def compare_all(
    evaluations: Mapping[str, Evaluation],
    *,
    ties: Ties = "realistic",
    metrics: Sequence[str] = MEANS,
    seed: int = 0,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> dict[str, Any]:
    """Every model by itself, and each in comparison with the first, as plain Python that JSON can hold.

    Where there are more than two models, `p_holm` is corrected for their number, metric by metric.

    Args:
        evaluations: by the name to show, two at least.
        ties: the tie rule, for all.
        metrics: as in `compare`.
        seed: of the draws.
        resamples: as in `compare`.
        confidence: of the intervals.

    Raises:
        InputError: as `compare`, or there are fewer than two models.
    """
    if len(evaluations) < 2:
        raise InputError("one set of ranks leaves nothing to compare; give two or more")
    draws: dict[str, Any] = {"seed": seed, "resamples": resamples, "confidence": confidence}
    options: dict[str, Any] = {"ties": ties, "metrics": metrics, **draws}
    (first_name, first), *others = evaluations.items()
    found = {name: compare(first, other, **options) for name, other in others}
    corrected = {metric: holm([one[metric].p for one in found.values()]) for metric in metrics}
    return {
        "format": FORMAT,
        "version": version("openbiolink"),
        "dataset": describe_dataset(first),
        "filter_parts": list(first.filter_parts),
        "candidate_set": dict(first.candidate_set),
        "sample": None if first.sample is None else asdict(first.sample),
        "test_triples": len(first.triples),
        "ties": ties,
        "metrics": list(metrics),
        **draws,
        "alpha": ALPHA,
        "power": POWER,
        "models": [
            {"name": name, "metrics": {key: asdict(one) for key, one in bootstrap_intervals(own, **options).items()}}
            for name, own in evaluations.items()
        ],
        "comparisons": [
            {
                "first": first_name,
                "second": name,
                "metrics": {key: asdict(one[key]) | {"p_holm": corrected[key][place]} for key in metrics},
            }
            for place, (name, one) in enumerate(found.items())
        ],
    }


def render_comparison(document: Mapping[str, Any]) -> tuple[Table, Table]:
    """What `compare_all` found as tables for the terminal: the models, and their differences."""
    from rich.text import Text

    share, last = f"{document['confidence']:.0%}", document["metrics"][-1]
    title = f"{document['test_triples']:,} test triples, ties {document['ties']}"
    models = _table(title, ("value", f"{share} interval", "standard error"))
    for model in document["models"]:
        for name, one in model["metrics"].items():
            error = "" if one["standard_error"] is None else _shown(name, one["standard_error"])
            shown = (_shown(name, one["value"]), _range(name, one), error)
            models.add_row(Text(model["name"]), name, *shown, end_section=name == last)
    p, shown_p = ("p_holm", "p (Holm)") if len(document["comparisons"]) > 1 else ("p", "p")
    titles = ("difference", f"{share} interval", shown_p, "effect", "wins / ties / losses", "needed")
    differences = _table(f"differences from {document['comparisons'][0]['first']}", titles)
    for pair in document["comparisons"]:
        for name, one in pair["metrics"].items():
            cells = (
                _shown(name, one["difference"], sign="+"),
                _range(name, one, sign="+"),
                f"{one[p]:.4f}",
                "" if one["effect"] is None else f"{one['effect']:+.3f}",
                f"{one['wins']:,} / {one['ties']:,} / {one['losses']:,}",
                "" if one["needed"] is None else f"{one['needed']:,}",
            )
            differences.add_row(Text(pair["second"]), name, *cells, end_section=name == last)
    return models, differences


def advice(document: Mapping[str, Any]) -> list[str]:
    """A line for each difference that more test triples than there are would be needed to find.

    Args:
        document: of `compare_all`.
    """
    there = document["test_triples"]
    return [
        f"{pair['second']}: this difference in {name} needs about {one['needed']:,} test triples, there are {there:,}"
        for pair in document["comparisons"]
        for name, one in pair["metrics"].items()
        if one["needed"] is not None and one["needed"] > there
    ]


def _table(title: str, numbers: Sequence[str]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title))
    table.add_column("model", overflow="fold")
    table.add_column("metric")
    for name in numbers:
        table.add_column(name, justify="right")
    return table


def _shown(name: str, value: float, sign: str = "") -> str:
    return f"{value:{sign},.2f}" if name == "mean_rank" else f"{value:{sign}.4f}"


def _range(name: str, one: Mapping[str, float], sign: str = "") -> str:
    return f"{_shown(name, one['low'], sign)} … {_shown(name, one['high'], sign)}"


def _aligned(first: Evaluation, second: Evaluation) -> list[tuple[Evaluation, Any]]:
    """Both evaluations with an order of their rows in which the test triples are the same.

    Raises:
        InputError: what was ranked is not the same.
    """
    _refuse_unlike("data set (checksum)", *(describe_dataset(one)["checksum"] for one in (first, second)))
    _refuse_unlike("filter", *(", ".join(one.filter_parts) or "none" for one in (first, second)))
    if first.candidate_set != second.candidate_set:
        kinds = [str(one.candidate_set.get("kind")) for one in (first, second)]
        _refuse_unlike("candidate set", *(kinds if kinds[0] != kinds[1] else (f"{kinds[0]} (1)", f"{kinds[1]} (2)")))
    _refuse_unlike("number of ranked triples", len(first.triples), len(second.triples))
    moved = _with_ids_of(first, second)
    orders = [np.lexsort(one.triples.T[::-1]) for one in (first, moved)]
    unlike = (first.triples[orders[0]] != moved.triples[orders[1]]).any(axis=1)
    if unlike.any():
        label = ", ".join(first.dataset.label(first.triples[orders[0]][np.flatnonzero(unlike)[0]]))
        raise InputError(f"the models were ranked on different test triples, ({label}) for one; rank both on the same")
    numbers = [one.candidates[order] for one, order in zip((first, moved), orders, strict=True)]
    if len(wrong := np.argwhere(numbers[0] != numbers[1])):
        row, column = wrong[0]
        label = ", ".join(first.dataset.label(first.triples[orders[0][row]]))
        what = f"number of candidates for the {SIDES[column]} of triple ({label})"
        _refuse_unlike(what, *(one[row, column] for one in numbers))
    return list(zip((first, moved), orders, strict=True))


def _refuse_unlike(what: str, one: object, other: object) -> None:
    if one != other:
        raise InputError(f"the models differ in {what}: {one} and {other}; compare ranks of one protocol")


def _with_ids_of(first: Evaluation, second: Evaluation) -> Evaluation:
    """The second evaluation with the ids of the first."""
    old, new = second.dataset, first.dataset
    if old.entities == new.entities and old.relations == new.relations:
        return second
    places: list[Mapping[str, int]] = [
        {label: number for number, label in enumerate(labels)} for labels in (new.entities, new.relations)
    ]
    maps = [
        np.array([place.get(label, -1) for label in labels], np.int32)
        for place, labels in zip(places, (old.entities, old.relations), strict=True)
    ]
    columns = [maps[number][second.triples[:, column]] for column, number in enumerate((0, 1, 0))]
    return replace(second, triples=np.stack(columns, axis=1))
