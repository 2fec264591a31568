"""The documented door `openbiolink.evaluation.dataLoader.DataLoader`; the work is done in `openbiolink.dataset`."""  # noqa: N999 - the documented name

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from openbiolink.dataset import PARTS, Dataset, ignore, load_dataset, reindex
from openbiolink.errors import InputError
from openbiolink.evaluation.known import ANSWER_COLUMN, HEAD, TAIL, KnownAnswers, find_known, query_codes
from openbiolink.evaluation.result import SIDES, Side
from openbiolink.evaluation.scorers import as_array, as_tensor
from openbiolink.tables import open_database, read_delimited

if TYPE_CHECKING:
    from collections.abc import Iterator

    from openbiolink.files import Note

PUBLISHED = ("HQ_DIR", "HQ_UNDIR", "ALL_DIR", "ALL_UNDIR")


class DataLoader:
    """A data set in the folder `root/name`, as tensors where PyTorch is installed, else as NumPy arrays.

    `DataLoader("HQ_DIR")`, with the name of a published data set in the first place, means that name in the
    folder `dataset`. Ids are given by the sorted labels of all parts, or by the two mapping files, which have
    two tab-separated columns, id and label, and no header. No triple is dropped.

    Attributes:
        dataset: the data set that all else is taken from.
        entity_to_id: id of every entity label.
        relation_to_id: id of every relation label.
    """

    dataset: Dataset
    entity_to_id: dict[str, int]
    relation_to_id: dict[str, int]

    def __init__(
        self,
        root: str | Path = "dataset",
        name: str = "HQ_DIR",
        entity_to_id_path: str | Path | None = None,
        relation_to_id_path: str | Path | None = None,
        *,
        note: Note = ignore,
    ) -> None:
        """Read the data set.

        Args:
            root: the folder that holds folders of data sets.
            name: the folder of the data set in it, of a form that `openbiolink.dataset.load_dataset` reads.
            entity_to_id_path: file of entity ids and labels; needs the other one too.
            relation_to_id_path: file of relation ids and labels.
            note: called with one line for everything that a reader of results should know.

        Raises:
            InputError: there is no such folder, or one of its files or of the mapping files is wrong.
        """
        if root in PUBLISHED:
            root, name = "dataset", str(root)
        folder = Path(root) / name
        if not folder.is_dir():
            raise InputError(
                f"{folder}: no such folder; put the data set there (train_test_data with train_sample.csv, "
                "val_sample.csv, test_sample.csv), or say where it is with root= and name="
            )
        if (entity_to_id_path is None) != (relation_to_id_path is None):
            raise InputError("entity_to_id_path and relation_to_id_path go together; give both or none")
        dataset = load_dataset(folder, note=note)
        if entity_to_id_path is not None and relation_to_id_path is not None:
            entities = _labels_by_id(Path(entity_to_id_path), note)
            relations = _labels_by_id(Path(relation_to_id_path), note)
            dataset = reindex(dataset, entities=entities, relations=relations)
        self.dataset = dataset
        self.entity_to_id = {label: number for number, label in enumerate(dataset.entities)}
        self.relation_to_id = {label: number for number, label in enumerate(dataset.relations)}

    @property
    def num_entities(self) -> int:
        """Number of entities in the data set."""
        return self.dataset.num_entities

    @property
    def num_relations(self) -> int:
        """Number of relations in the data set."""
        return self.dataset.num_relations

    @cached_property
    def training(self) -> Any:
        """Training triples, whole numbers of 64 bits, shape (num_train, 3)."""
        return as_tensor(self.dataset.train.astype(np.int64))

    @cached_property
    def validation(self) -> Any:
        """Validation triples, shape (num_valid, 3)."""
        return as_tensor(self.dataset.valid.astype(np.int64))

    @cached_property
    def testing(self) -> Any:
        """Test triples, shape (num_test, 3)."""
        return as_tensor(self.dataset.test.astype(np.int64))

    def get_test_batches(self, batch_size: int = 100) -> tuple[int, Iterator[Any]]:
        """The number of batches, and the batches: consecutive test triples of shape (b, 3).

        The last batch may be short.

        Raises:
            InputError: the batch size is below 1.
        """
        if batch_size < 1:
            raise InputError(f"batch_size={batch_size} is too small; give 1 or more triples per batch")
        starts = range(0, len(self.dataset.test), batch_size)
        return len(starts), (self.testing[start : start + batch_size] for start in starts)

    def filter_scores(self, batch: Any, scores: Any, filter_col: Literal[0, 2], filter_val: float = np.nan) -> Any:
        """A copy of the scores in which the other known answers of every triple have another value.

        Known are the triples of all parts; the score of the triple itself stays.

        Args:
            batch: triples, shape (b, 3).
            scores: shape (b, num_entities).
            filter_col: 0 if the scores are of heads, 2 if they are of tails.
            filter_val: the value to put.

        Raises:
            InputError: the column is neither 0 nor 2.
        """
        if filter_col not in {HEAD, TAIL}:
            raise InputError(f"filter_col={filter_col!r} is no side; give 0 for heads or 2 for tails")
        side: Side = "head" if filter_col == HEAD else "tail"
        triples = as_array(batch)
        known = self._known[side]
        begin, end = known.spans(query_codes(self.dataset, triples, side))
        rows = np.repeat(np.arange(len(triples)), end - begin)
        spans = zip(begin.tolist(), end.tolist(), strict=True)
        columns = np.concatenate([known.answers[:0], *(known.answers[a:b] for a, b in spans)])
        other = columns != triples[rows, ANSWER_COLUMN[side]]
        if hasattr(scores, "clone"):
            filtered = scores.clone()
        else:
            filtered = np.array(scores, np.result_type(np.asarray(scores).dtype, np.float32))
        filtered[rows[other], columns[other].astype(np.int64)] = filter_val
        return filtered

    @cached_property
    def _known(self) -> dict[Side, KnownAnswers]:
        every = np.concatenate([self.dataset.part(part) for part in PARTS])
        return {side: find_known(self.dataset, every, side, PARTS) for side in SIDES}


def _labels_by_id(path: Path, note: Note) -> list[str]:
    """The labels of a mapping file in the order of their ids, which must be 0, 1, 2 and so on, each once."""
    with open_database() as (connection, _):
        read_delimited(connection, path, table="mapping", columns=("id", "label"), note=note)
        ordered = "SELECT id, label FROM mapping ORDER BY try_cast(id AS BIGINT), id"
        rows = connection.execute(ordered).fetchall()
    for number, (text, _) in enumerate(rows):
        if text != str(number):
            raise InputError(
                f"{path}: id {text!r} where {number} should be; the first column must hold every id "
                f"from 0 to {len(rows) - 1} once, the second its label"
            )
    return [label for _, label in rows]
