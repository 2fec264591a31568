"""What an evaluation found: whole numbers for each query, and every number that follows from them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from openbiolink.dataset import PARTS, Dataset, Part, Triples
from openbiolink.errors import InputError
from openbiolink.metrics.ranking import Ranks, Ties, ranking_metrics, ranks_from_counts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from openbiolink.index import Side

Sides = Literal["head", "tail", "both"]
Metrics = dict[str, float]

SIDES: tuple[Side, ...] = ("head", "tail")
COLUMNS: Mapping[Sides, list[int]] = MappingProxyType({"head": [0], "tail": [1], "both": [0, 1]})
FORMAT = "openbiolink-result/2"
ALL_ENTITIES: Mapping[str, Any] = MappingProxyType({"kind": "all"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """How the ranked test triples were drawn.

    Attributes:
        population: how many there were to draw from.
        seed: of the draw.
    """

    population: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation:
    """The ranks of all test triples, head and tail.

    Attributes:
        model: what was evaluated.
        dataset: on what.
        triples: the test triples that were ranked, ids, shape (n, 3).
        better: candidates with a better score than the answer, shape (n, 2), columns head and tail.
        equal: other candidates with the same score, likewise.
        candidates: all that were ranked, the answer among them, likewise.
        ties: the tie rule shown where none is asked for.
        filter_parts: the parts whose triples were left out as known answers.
        higher_is_better: whether the larger score was the better one.
        left_out: test triples that were not ranked, because training lacks their entity or relation.
        not_listed: answers that a top-k file does not list, by side; they tie with all unlisted candidates.
        notes: one line for everything that a reader of the numbers should know.
        candidate_set: what was ranked, as `openbiolink.evaluation.candidates` describes it.
        sample: how the test triples were drawn, if not all of them were ranked.
        described: what a file of ranks says of the data set, where that is not at hand; `dataset` then has the test
            triples only.
    """

    model: str
    dataset: Dataset = field(repr=False)
    triples: Triples = field(repr=False)
    better: npt.NDArray[np.int64] = field(repr=False)
    equal: npt.NDArray[np.int64] = field(repr=False)
    candidates: npt.NDArray[np.int64] = field(repr=False)
    ties: Ties
    filter_parts: tuple[Part, ...]
    higher_is_better: bool
    left_out: int = 0
    not_listed: Mapping[Side, int] = field(default_factory=lambda: {"head": 0, "tail": 0})
    notes: tuple[str, ...] = ()
    candidate_set: Mapping[str, Any] = field(default_factory=lambda: ALL_ENTITIES)
    sample: Sample | None = None
    described: Mapping[str, Any] | None = field(default=None, repr=False)

    def ranks(self, side: Sides = "both", *, ties: Ties | None = None, relation: str | None = None) -> Ranks:
        """The ranks, 1 or more, in the order of the test triples; for `both` each has its head rank first.

        Args:
            side: which queries.
            ties: the tie rule; that of the evaluation by default.
            relation: only test triples of this relation.

        Raises:
            InputError: the side, the tie rule or the relation does not exist.
        """
        if side not in COLUMNS:
            raise InputError(f"side={side!r} does not exist; choose one of {', '.join(COLUMNS)}")
        rows = slice(None) if relation is None else self._rows_of(relation)
        better, equal = self.better[rows][:, COLUMNS[side]], self.equal[rows][:, COLUMNS[side]]
        return ranks_from_counts(better, equal, ties=ties or self.ties).ravel()

    def metrics(self, side: Sides = "both", *, ties: Ties | None = None, relation: str | None = None) -> Metrics:
        """`mrr`, `hits@1`, `hits@3`, `hits@10`, `mean_rank` over the ranks that `ranks` gives.

        Raises:
            InputError: as `ranks`, or the relation has no test triple.
        """
        return ranking_metrics(self.ranks(side, ties=ties, relation=relation))

    def relations(self) -> tuple[str, ...]:
        """The relations that have test triples, sorted."""
        return tuple(sorted(self.dataset.relations[number] for number in np.unique(self.triples[:, 1])))

    def to_dict(self, **options: Any) -> dict[str, Any]:
        """All numbers as plain Python that JSON can hold: no NaN, no infinity, no time, no path.

        Args:
            options: those of `openbiolink.evaluation.document.result_document`.

        Raises:
            InputError: as there.
        """
        from openbiolink.evaluation.document import result_document

        return result_document(self, **options)

    def _rows_of(self, relation: str) -> npt.NDArray[np.bool_]:
        if relation not in self.dataset.relations:
            raise InputError(f"relation {relation!r} is not in the data set; check its spelling")
        rows: npt.NDArray[np.bool_] = self.triples[:, 1] == self.dataset.relations.index(relation)
        return rows


def describe_dataset(evaluation: Evaluation) -> dict[str, Any]:
    """Checksums and sizes of what was evaluated on, as JSON can hold them."""
    if evaluation.described is not None:
        return dict(evaluation.described)
    dataset = evaluation.dataset
    return {
        "checksum": dataset.checksum,
        "files": dict(dataset.files),
        "num_entities": dataset.num_entities,
        "num_relations": dataset.num_relations,
        **{f"num_{part}": len(dataset.part(part)) for part in PARTS},
        "unseen": {part: asdict(counts) for part, counts in dataset.unseen.items()},
        "duplicates": dict(dataset.duplicates),
        "in_train": dict(dataset.in_train),
    }


def metric_rows(evaluation: Evaluation, *, ties: Ties | None = None) -> list[tuple[str, str, int, Metrics]]:
    """What a table of the result shows: relation or `all`, side, number of ranks, metrics.

    First head, tail and both over all relations, then both for every relation that has test triples.
    """
    chosen: list[tuple[str | None, Sides]] = [(None, side) for side in COLUMNS]
    chosen += [(relation, "both") for relation in evaluation.relations()]
    rows = []
    for relation, side in chosen:
        ranks = evaluation.ranks(side, ties=ties, relation=relation)
        rows.append((relation or "all", str(side), len(ranks), ranking_metrics(ranks)))
    return rows


def render_table(evaluation: Evaluation, *, ties: Ties | None = None) -> Table:
    """The result as a table for the terminal."""
    from rich.table import Table
    from rich.text import Text

    rows = metric_rows(evaluation, ties=ties)
    title = f"{evaluation.model}: filtered by {', '.join(evaluation.filter_parts) or 'nothing'}"
    table = Table(title=Text(f"{title}, ties {ties or evaluation.ties}"))
    table.add_column("relation", overflow="fold")
    table.add_column("side")
    for name in ("ranks", *rows[0][3]):
        table.add_column(name, justify="right")
    for number, (relation, side, count, metrics) in enumerate(rows):
        numbers = [f"{value:.2f}" if name == "mean_rank" else f"{value:.4f}" for name, value in metrics.items()]
        last_overall = number == len(COLUMNS) - 1
        table.add_row(Text(relation), side, f"{count:,}", *numbers, end_section=last_overall)
    return table
