"""Precision, recall and F1 of extracted relations, for `evaluate.load`; the numbers are those of `openbiolink`."""

from typing import Any

import datasets
import evaluate

from openbiolink.errors import InputError
from openbiolink.huggingface.rows import COLUMNS, relations_of, rows_of
from openbiolink.metrics.relation_extraction import RelationScorer, score_relations

DESCRIPTION = """\
Precision, recall and F1 of extracted relations: of each relation type, of all relations (micro), and as means over the
relation types (macro).
"""

CITATION = """\
@inproceedings{taille-etal-2020-lets,
    title = {Let's Stop Incorrect Comparisons in End-to-end Relation Extraction!},
    author = {Taill{\\'e}, Bruno and Guigue, Vincent and Scoutheeten, Geoffrey and Gallinari, Patrick},
    booktitle = {Proceedings of the 2020 Conference on Empirical Methods in Natural Language Processing (EMNLP)},
    pages = {3689--3701},
    year = {2020},
    eprint = {2009.10684},
    archivePrefix = {arXiv},
    url = {https://arxiv.org/abs/2009.10684},
}
"""

INPUTS = """
Args:
    predictions: list of documents, each a list of relations. A relation is a dictionary with the texts `head`,
        `head_type`, `type`, `tail` and `tail_type`. Some options also look at `head_span` and `tail_span`
        ([start, end), whole numbers), `head_id` and `tail_id` (texts) or `score` (a number).
    references: the right relations of the same documents, in the same order.
    mode: `strict` (default): heads, tails and their types must be equal. `boundaries`: entity types do not matter.
        `relaxed`: as strict, but spans need only share a place.
    match: what of heads and tails is compared: `text` (default), `span` (always in mode `relaxed`) or `id`.
    relation_types: the only relation types that count; by default those of either side.
    types_from: `union` (default) of both sides, or `references`, where predictions of other types do not count.
    symmetric: relation types for which head and tail may change places.
    leave_out: relation types that do not count, such as `no_relation`.
    scale: `percent` (default, 0 to 100) or `fraction` (0 to 1).
    normalise: what does not matter in the texts of heads and tails: `case`, `blanks`, `unicode`; none by default.
    threshold: predictions with a lower `score` do not count.

Returns:
    A dictionary with one row for each relation type, by name, and the row `ALL`. Each row has the counts `tp`, `fp` and
    `fn` and the scores `p`, `r` and `f1`; `ALL` has also `Macro_f1`, `Macro_p` and `Macro_r`.
"""


class RelationExtraction(evaluate.Metric):
    """Precision, recall and F1 of extracted relations."""

    _documents: int  # added since the last result

    def _info(self) -> evaluate.MetricInfo:
        """What `evaluate` wants to know."""
        relation = {column: datasets.Value("string") for column in COLUMNS}
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation=CITATION,
            inputs_description=INPUTS,
            features=datasets.Features({"predictions": [relation], "references": [relation]}),
            codebase_urls=["https://github.com/btaille/sincere/blob/master/code/utils/evaluation.py"],
            reference_urls=["https://arxiv.org/abs/2009.10684"],
        )

    def compute(self, *, predictions: Any = None, references: Any = None, **options: Any) -> dict[str, Any] | None:
        """Score what was added and what is given here, then forget it.

        Raises:
            ValueError: an option is wrong, or something is no relation; one line that says where and which field. What
                was added before stays if an option, `predictions` or `references` is wrong.
        """
        RelationScorer(**options)  # refuses what no option may be
        if self.writer is None and predictions is None and references is None:
            raise ValueError("there are no documents; give predictions and references here, or to add or add_batch")
        found: dict[str, Any] | InputError | None = super().compute(
            predictions=predictions, references=references, **options
        )
        if isinstance(found, InputError):
            raise found
        return found

    def add_batch(self, *, predictions: Any = None, references: Any = None) -> None:
        """Add documents; all of them, or none if one is refused.

        Raises:
            ValueError: something is no relation; one line that says where and which field.
        """
        super().add_batch(**self._checked(predictions, references))

    def add(self, *, prediction: Any = None, reference: Any = None) -> None:
        """Add one document.

        Raises:
            ValueError: something is no relation; one line that says where and which field.
        """
        rows = self._checked([prediction], [reference])
        super().add(prediction=rows["predictions"][0], reference=rows["references"][0])

    def _checked(self, predictions: Any, references: Any) -> dict[str, Any]:
        """The rows to store; here, since `evaluate` changes values that do not fit, without a word."""
        first = 0 if self.writer is None else self._documents
        rows = rows_of(predictions=predictions, references=references, first=first)
        self._documents = first + len(rows["predictions"])
        return rows

    def _compute(self, *, predictions: Any, references: Any, **options: Any) -> dict[str, Any] | InputError:
        """The scores, or the error, for `compute` to raise once `evaluate` has put its files away."""
        try:
            return score_relations(
                predictions=relations_of(predictions), references=relations_of(references), **options
            )
        except InputError as error:
            return error
