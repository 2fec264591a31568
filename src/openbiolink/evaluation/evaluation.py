"""The documented door `openbiolink.evaluation.evaluation.Evaluator`; the work is done by `evaluate`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from openbiolink.dataset import PARTS
from openbiolink.errors import InputError
from openbiolink.evaluation.dataLoader import DataLoader
from openbiolink.evaluation.ranking import UnseenRule, evaluate
from openbiolink.evaluation.scorers import as_tensor, check_count
from openbiolink.progress import silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from openbiolink.metrics.ranking import Ties
    from openbiolink.progress import Progress

KEYS = ("hits@1", "hits@3", "hits@10", "mrr")


class Evaluator(ABC):
    """A model to evaluate: a subclass says how a batch of triples is scored.

    Attributes:
        dl: the data set.
        higher_is_better: False if the scores are distances.
        entities: all entity ids, shape (num_neg,).
        relations: all relation ids.
        num_neg: number of candidates per query, which is that of all entities.
    """

    def __init__(self, dl: DataLoader, higher_is_better: bool = True) -> None:
        """Take the data set and the direction of the scores.

        Raises:
            InputError: `dl` is no `DataLoader`.
        """
        if not isinstance(dl, DataLoader):
            raise InputError(f"an Evaluator needs a DataLoader, not {type(dl).__name__}; give DataLoader(root, name)")
        self.dl = dl
        self.higher_is_better = higher_is_better
        self.entities = as_tensor(np.arange(dl.num_entities))
        self.relations = as_tensor(np.arange(dl.num_relations))
        self.num_neg = dl.num_entities

    @abstractmethod
    def score_batch(self, batch: Any) -> Sequence[Any]:
        """The scores of a batch of triples of shape (b, 3), a tensor where PyTorch is installed.

        Returns either two matrices `(head_scores, tail_scores)` or the four arrays `(positive_head,
        negative_head, positive_tail, negative_tail)`; see `openbiolink.evaluation.scorers` for their shapes.
        """

    def evaluate(
        self,
        batch_size: int = 100,
        processors: int = -1,
        filtering: bool = True,
        *,
        ties: Ties = "realistic",
        unseen: UnseenRule = "refuse",
        progress: Progress = silent,
    ) -> dict[str, float]:
        """Rank all test triples; plain floats under the keys `hits@1`, `hits@3`, `hits@10`, `mrr`.

        Args:
            batch_size: test triples per call of `score_batch`.
            processors: how many processors may be used, -1 for all. It is checked and changes nothing else: a model
                uses what processors it likes, and counting takes less time than one needs to read the scores.
            filtering: whether the known triples of all parts are left out among the candidates. Say False only where
                the scores are filtered: known triples whose score is NaN or infinite are left out even then.
            ties: where equal scores put the answer.
            unseen: what to do about test triples with an entity or relation that training lacks.
            progress: told how many test triples are done.

        Raises:
            InputError: as `openbiolink.evaluation.evaluate`, or the batch size or the processors are no such number.
            ScoreError: likewise.
        """
        check_count("batch_size", batch_size, "triples per batch")
        if isinstance(processors, bool) or processors != -1:
            check_count("processors", processors, "processors, or -1 for all")
        if not isinstance(filtering, bool):
            raise InputError(f"filtering={filtering!r} is neither True nor False; give one of them")
        result = evaluate(
            lambda batch: self.score_batch(as_tensor(batch)),
            self.dl.dataset,
            batch_size=batch_size,
            ties=ties,
            filter_parts=PARTS if filtering else (),
            higher_is_better=self.higher_is_better,
            unseen=unseen,
            model_name=type(self).__name__,
            progress=progress,
        ).metrics()
        return {key: result[key] for key in KEYS}
