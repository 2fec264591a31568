"""The protocol of the OpenBioLink2021 challenge: ten predictions for every question, hits@10, and the file to send in.

The data set is OBL2021 (`openbiolink datasets fetch OBL2021`): triples of ids, and the labels of the ids beside them.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from openbiolink.dataset import Dataset, Part, ignore, read_dataset, reindex
from openbiolink.errors import InputError
from openbiolink.evaluation.models.maps import read_labels
from openbiolink.evaluation.result import SIDES
from openbiolink.evaluation.scorers import as_array

if TYPE_CHECKING:
    from openbiolink.files import Note

TEN = 10
QUERIES = 361_928  # both sides of the 180,964 test triples of the challenge
KEY = "pred_top10"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopTen:
    """What ten predictions for every question are worth.

    Attributes:
        hits_at_10: share of the questions of both sides whose answer is among the ten.
        head: the same of the head questions alone.
        tail: the same of the tail questions alone.
        triples: how many triples were asked for, with two questions each.
        submission: the file that was written, or None.
    """

    hits_at_10: float
    head: float
    tail: float
    triples: int
    submission: Path | None


def load_obl2021(folder: Path | str, *, note: Note = ignore) -> Dataset:
    """The data set of the challenge: `train.tsv`, `valid.tsv`, `test.tsv` of ids, `entities.tsv`, `relations.tsv`.

    Ids are those of the files, labels those that stand beside them; the checksum is that of the triples of ids.

    Args:
        folder: the folder with these files.
        note: called with one line for everything that a reader of results should know.

    Raises:
        InputError: a file is absent or wrong, or a triple has an id that has no label.
    """
    place = Path(folder)
    entities, relations = (read_labels(place / f"{kind}.tsv", note=note) for kind in ("entities", "relations"))
    by_id = read_dataset(train=place / "train.tsv", valid=place / "valid.tsv", test=place / "test.tsv", note=note)
    for kind, found, labels in (("entity", by_id.entities, entities), ("relation", by_id.relations, relations)):
        numbers = {str(number) for number in range(len(labels))}
        if strange := sorted(set(found) - numbers):
            raise InputError(f"{place}: {kind} {strange[0]!r} of a triple is no id from 0 to {len(labels) - 1}")
    ordered = reindex(
        by_id,
        entities=[str(number) for number in range(len(entities))],
        relations=[str(number) for number in range(len(relations))],
    )
    return replace(ordered, entities=tuple(entities), relations=tuple(relations))


def evaluate_obl2021(
    h_pred_top10: Any,
    t_pred_top10: Any,
    dataset: Dataset,
    *,
    part: Part = "test",
    submission: Path | str | None = None,
    note: Note = ignore,
) -> TopTen:
    """Count the questions whose answer is among ten predictions, and write the file to send in.

    A question is a hit if its answer is one of the ten, at whatever place; known answers are not filtered, that is for
    whoever makes the lists. The file is the `.npz` of the challenge: `pred_top10`, whole numbers of 32 bits, shape
    (2n, 10), the tails of all triples before the heads of all triples. The same lists give the same bytes.

    Args:
        h_pred_top10: ids of predicted heads, best first, shape (n, 10), whole numbers, each once in its row; an array,
            a tensor or lists. Row i is of triple i of the part.
        t_pred_top10: ids of predicted tails, likewise.
        dataset: the triples and the number of entities.
        part: whose triples were asked for.
        submission: the file to write; none by default. Its name ends in `.npz`.
        note: told where the challenge would not accept the file, since it has another number of rows.

    Raises:
        InputError: the part is empty, the lists have another shape or type, an id is none of the data set or stands in
            a row twice, or the file cannot be written.

    >>> from openbiolink.dataset import from_labelled
    >>> labels = [f"e{number}" for number in range(12)]
    >>> test = [("e0", "r", "e1"), ("e2", "r", "e11")]
    >>> dataset = from_labelled(train=test, valid=[], test=test, entities=labels)
    >>> evaluate_obl2021([[*range(10)], [*range(10)]], [[*range(10)], [*range(10)]], dataset).hits_at_10
    0.75
    """
    triples = dataset.part(part)
    if not len(triples):
        raise InputError(f"no {part} triples: the part is empty, so there is nothing to evaluate")
    given = dict(zip(SIDES, (h_pred_top10, t_pred_top10), strict=True))
    lists = {side: _checked(given[side], f"{side} predictions", len(triples), dataset.num_entities) for side in SIDES}
    hits = {
        side: int((lists[side] == triples[:, column, np.newaxis]).any(axis=1).sum())
        for side, column in zip(SIDES, (0, 2), strict=True)
    }
    target = None if submission is None else Path(submission)
    if target is not None:
        rows = np.concatenate([lists["tail"], lists["head"]])
        if len(rows) != QUERIES:
            note(f"{target}: has {len(rows):,} rows, the challenge takes {QUERIES:,} (both sides of its test set)")
        _write(target, rows)
    return TopTen(
        hits_at_10=sum(hits.values()) / (2 * len(triples)),
        head=hits["head"] / len(triples),
        tail=hits["tail"] / len(triples),
        triples=len(triples),
        submission=target,
    )


def _checked(given: Any, what: str, rows: int, num_entities: int) -> npt.NDArray[np.int32]:
    try:
        ids = np.asarray(as_array(given))
    except ValueError as error:
        raise InputError(f"the {what} are ragged; give ten ids in every row") from error
    if ids.shape != (rows, TEN):
        raise InputError(f"the {what} have shape {ids.shape}; expected {(rows, TEN)}: ten ids for every triple")
    if ids.dtype.kind not in "iu":
        raise InputError(f"the {what} have type {ids.dtype}; expected whole numbers, the ids of entities")
    if wrong := np.argwhere((ids < 0) | (ids >= num_entities)).tolist():
        row, column = wrong[0]
        raise InputError(
            f"row {row} of the {what} has id {ids[row, column]}; the data set has ids from 0 to {num_entities - 1}"
        )
    ordered = np.sort(ids, axis=1)
    if twice := np.argwhere(ordered[:, 1:] == ordered[:, :-1]).tolist():
        row, column = twice[0]
        raise InputError(f"row {row} of the {what} has id {ordered[row, column]} twice; give ten different ids")
    return ids.astype(np.int32)


def _write(path: Path, rows: npt.NDArray[np.int32]) -> None:
    """The array in a packed file, in which NumPy writes no time; written beside and renamed."""
    if path.suffix != ".npz" or path.is_dir():
        raise InputError(f"{path}: is no name of a submission; give one that ends in .npz, such as pred_OBL2021.npz")
    beside = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as stream:
            np.savez_compressed(stream, allow_pickle=False, **{KEY: np.ascontiguousarray(rows, "<i4")})
        beside.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); choose another place") from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
