"""The documented door `openbiolink.evaluation.dataLoader.DataLoader`; the work is done in `openbiolink.dataset`."""  # noqa: N999 - the documented name

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from openbiolink.dataset import PARTS, Dataset, ignore, load_dataset, reindex
from openbiolink.errors import InputError
from openbiolink.evaluation.known import ANSWER_COLUMN, HEAD, TAIL, KnownAnswers, find_known, query_codes
from openbiolink.evaluation.models.maps import read_labels
from openbiolink.evaluation.result import SIDES
from openbiolink.evaluation.scorers import as_array, as_tensor, check_count
from openbiolink.sources.fetch import Listener
from openbiolink.sources.published import fetch_published, load_published, splits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from openbiolink.files import Note
    from openbiolink.index import Side


class _Default(str):
    """A default that can be told from the same text given by a caller."""

    __slots__ = ()


class DataLoader:
    """A data set in the folder `root/name`, as tensors where PyTorch is installed, else as NumPy arrays.

    `DataLoader("HQ_DIR")`, where the only argument beside the mapping files is the name of a published data set, means
    that name in the folder `dataset`; to mean a folder of such a name give `name` too. A published data set that is not
    there is downloaded. Ids are given by the sorted labels of all parts, or by the two mapping files, which have
    two tab-separated columns, id and label (or label and id, which is noted), see `openbiolink.evaluation.models.maps`.
    No triple is dropped.

    Attributes:
        root: the folder that holds folders of data sets.
        name: the folder of the data set in it.
        dataset: the data set that all else is taken from.
        entity_to_id: id of every entity label.
        relation_to_id: id of every relation label.
        entity_to_id_path: the mapping file of entities that was given, or None.
        relation_to_id_path: the mapping file of relations that was given, or None.
    """

    root: Path
    name: str
    dataset: Dataset
    entity_to_id: dict[str, int]
    relation_to_id: dict[str, int]
    entity_to_id_path: Path | None
    relation_to_id_path: Path | None

    def __init__(
        self,
        root: str | Path = "dataset",
        name: str = _Default("HQ_DIR"),
        entity_to_id_path: str | Path | None = None,
        relation_to_id_path: str | Path | None = None,
        *,
        download: bool | str = True,
        note: Note = ignore,
    ) -> None:
        """Read the data set, after downloading it where it is a published one that is not there.

        Args:
            root: the folder that holds folders of data sets.
            name: the folder of the data set in it, of a form that `openbiolink.dataset.load_dataset` reads.
            entity_to_id_path: file of entity ids and labels; needs the other one too.
            relation_to_id_path: file of relation ids and labels.
            download: whether a published data set that is not there is downloaded, which may be hundreds of megabytes;
                or the address of a folder that has its archive, in the place of the published one.
            note: called with one line for everything that a reader of results should know.

        Raises:
            InputError: there is no such folder and it cannot be downloaded, or one of its files or of the mapping files
                is wrong.
        """
        if isinstance(name, _Default) and isinstance(root, str) and root in load_published().sources:
            root, name = "dataset", root
        self.root, self.name = Path(root), str(name)
        folder = self.root / self.name
        if (entity_to_id_path is None) != (relation_to_id_path is None):
            raise InputError("entity_to_id_path and relation_to_id_path go together; give both or none")
        if not folder.is_dir() or not any(folder.iterdir()):
            _get(self.root, self.name, download=download, note=note)
        dataset = load_dataset(folder, index=True, note=note)
        self.entity_to_id_path = None if entity_to_id_path is None else Path(entity_to_id_path)
        self.relation_to_id_path = None if relation_to_id_path is None else Path(relation_to_id_path)
        if self.entity_to_id_path is not None and self.relation_to_id_path is not None:
            entities = read_labels(self.entity_to_id_path, note=note)
            relations = read_labels(self.relation_to_id_path, note=note)
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
            InputError: the batch size is no whole number, or below 1.
        """
        check_count("batch_size", batch_size, "triples per batch")
        starts = range(0, len(self.dataset.test), batch_size)
        return len(starts), (self.testing[start : start + batch_size] for start in starts)

    def filter_scores(self, batch: Any, scores: Any, filter_col: Literal[0, 2], filter_val: float = np.nan) -> Any:
        """A copy of the scores in which the other known answers of every triple have another value.

        Known are the triples of all parts; the score of the triple itself stays.

        Args:
            batch: triples, shape (b, 3).
            scores: shape (b, num_entities); whole numbers become floats.
            filter_col: 0 if the scores are of heads, 2 if they are of tails.
            filter_val: the value to put.

        Returns:
            As the scores are, a tensor or an array, shape (b, num_entities).

        Raises:
            InputError: the column is neither 0 nor 2, the batch holds what are no ids of the data set, or the scores
                have another shape.
        """
        if filter_col not in {HEAD, TAIL}:
            raise InputError(f"filter_col={filter_col!r} is no side; give 0 for heads or 2 for tails")
        side: Side = "head" if filter_col == HEAD else "tail"
        triples = check_triples(np.asarray(as_array(batch)), self.dataset, "batch")
        if (shape := tuple(np.shape(scores))) != (len(triples), self.num_entities):
            raise InputError(
                f"the scores have shape {shape}; expected {(len(triples), self.num_entities)}: one row per triple of "
                "the batch, one column per entity"
            )
        known = self._known[side]
        begin, end = known.spans(query_codes(self.dataset, triples, side))
        rows = np.repeat(np.arange(len(triples)), end - begin)
        spans = zip(begin.tolist(), end.tolist(), strict=True)
        columns = np.concatenate([known.answers[:0], *(known.answers[a:b] for a, b in spans)])
        other = columns != triples[rows, ANSWER_COLUMN[side]]
        if hasattr(scores, "clone"):
            whole = getattr(scores, "is_floating_point", lambda: True)
            filtered = scores.clone() if whole() else scores.double()
        else:
            filtered = np.array(scores, np.result_type(np.asarray(scores).dtype, np.float32))
        filtered[rows[other], columns[other].astype(np.int64)] = filter_val
        return filtered

    @cached_property
    def _known(self) -> dict[Side, KnownAnswers]:
        return {side: find_known(self.dataset, side, PARTS) for side in SIDES}


def check_triples(triples: Any, dataset: Dataset, what: str) -> npt.NDArray[np.int64]:
    """Triples of ids, shape (n, 3), as whole numbers of 64 bits.

    Raises:
        InputError: they have another shape or type, or an id is not one of the data set.
    """
    array = np.asarray(triples)
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "iu":
        raise InputError(
            f"the {what} has shape {array.shape} and type {array.dtype}; expected whole numbers, shape (n, 3): head, "
            "relation and tail by id"
        )
    limits = (dataset.num_entities, dataset.num_relations, dataset.num_entities)
    if wrong := np.argwhere((array < 0) | (array >= np.array(limits))).tolist():
        row, column = wrong[0]
        kind = "relation" if column == 1 else "entity"
        raise InputError(
            f"row {row} of the {what} has {kind} {array[row, column]}; the data set has ids from 0 to "
            f"{limits[column] - 1}"
        )
    return array.astype(np.int64)


def _get(root: Path, name: str, *, download: bool | str, note: Note) -> None:
    """Download a published data set that is not there.

    Raises:
        InputError: it is none, it is not to be downloaded, or that fails.
    """
    folder = root / name
    if name not in splits() and name in load_published().sources:
        raise InputError(
            f"{folder}: no such folder, and {name} is not a split that is read here; "
            f"`openbiolink datasets fetch {name} --dir {root}` gets it"
        )
    if name not in splits():
        raise InputError(
            f"{folder}: no such folder; put the data set there (train_test_data with train_sample.csv, "
            "val_sample.csv, test_sample.csv), or say where it is with root= and name="
        )
    command = f"openbiolink datasets fetch {name} --dir {root}"
    if not download:
        raise InputError(f"{folder}: no such folder; `{command}` downloads it, as download=True does")
    note(f"{folder}: is not there and is downloaded now, as `{command}` does")
    fetch_published(name, root, mirror=download if isinstance(download, str) else "", listener=Listener(note=note))
