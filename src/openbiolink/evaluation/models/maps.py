"""Id maps of other programs: what each row of a model stands for, and its place in a data set.

A map has two columns separated by a tab, id and label or label and id; the ids are 0 to n - 1, each once. Which column
holds the ids is found out, or said by a first line `id<TAB>label` or `label<TAB>id`. The same rule holds for the maps
that `openbiolink.evaluation.dataLoader` is given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from openbiolink.dataset import ignore
from openbiolink.errors import InputError
from openbiolink.files import iter_lines
from openbiolink.tables import iter_quoted_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from openbiolink.dataset import Dataset
    from openbiolink.files import Note

Rows = npt.NDArray[np.int64]

NUMBER = re.compile("0|[1-9][0-9]{0,17}")
HEADER = {"id", "label"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where a data set's entities and relations are among the rows of a model.

    Attributes:
        entities: row of each entity, shape (num_entities,).
        relations: row of each relation, shape (num_relations,).
        num_entities: rows that the model has for entities.
        num_relations: likewise.
    """

    entities: Rows
    relations: Rows
    num_entities: int
    num_relations: int


def read_labels(path: Path, *, quoted: bool = False, note: Note = ignore) -> tuple[str, ...]:
    """The labels of a map in the order of their ids.

    Args:
        path: the map, plain or packed.
        quoted: whether cells may stand in quotation marks, as pandas writes them.
        note: called with one line for everything that a reader of results should know.

    Raises:
        InputError: a line has not two cells, a label is there twice, the ids are not 0 to n - 1, or both columns are.
    """
    rows = list(_rows(path, quoted=quoted, note=note))
    header = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    named = len(header) == 2 and set(header) == HEADER
    rows = rows[1:] if named else rows
    if not rows:
        raise InputError(f"{path}: no rows; expected an id and a label in each line")
    for line, cells in rows:
        if len(cells) != 2 or not all(cells):
            raise InputError(f"{path}, line {line}: expected an id and a label separated by a tab; mend the map")
    columns = [[cells[number] for _, cells in rows] for number in (0, 1)]
    found = [_by_id(columns[number], columns[1 - number]) for number in (0, 1)]
    if named:
        place = header.index("id")
    elif found[0] is not None and found[1] is not None and found[0] != found[1]:
        raise InputError(
            f"{path}: both columns hold 0 to {len(rows) - 1}, so either may be the ids; "
            "say which by a first line `id<TAB>label` or `label<TAB>id`"
        )
    else:
        place = 1 if found[0] is None and found[1] is not None else 0
        if place:
            note(f"{path}: its columns are label and id, the reverse of id and label; they are read so")
    labels = found[place]
    if labels is None:
        raise InputError(f"{path}: {_fault(rows, columns, header)}; ids are 0 to n - 1, each once")
    _refuse_twice(path, [(line, cells[1 - place]) for line, cells in rows])
    return labels


def _rows(path: Path, *, quoted: bool, note: Note) -> Iterator[tuple[int, list[str]]]:
    if not quoted:
        yield from ((number, line.split("\t")) for number, line in enumerate(iter_lines(path, note), 1))
        return
    lines = iter_lines(path, note, ends=True)
    for number, cells in iter_quoted_rows(lines, separator="\t", comment=None, skip=0, place=str(path)):
        yield number, cells or []


def _by_id(ids: Sequence[str], labels: Sequence[str]) -> tuple[str, ...] | None:
    """The labels in the order of the ids; None where these are not 0 to n - 1, each once."""
    if not all(NUMBER.fullmatch(text) for text in ids):
        return None
    numbers = [int(text) for text in ids]
    if len(set(numbers)) < len(numbers) or max(numbers) >= len(numbers):
        return None
    ordered = [""] * len(numbers)
    for number, label in zip(numbers, labels, strict=True):
        ordered[number] = label
    return tuple(ordered)


def _fault(rows: Sequence[tuple[int, list[str]]], columns: Sequence[Sequence[str]], header: Sequence[str]) -> str:
    """What is wrong with the ids of a map, in words."""
    counts = [sum(bool(NUMBER.fullmatch(text)) for text in column) for column in columns]
    place = header.index("id") if set(header) == HEADER else int(counts[1] > counts[0])
    if not counts[place]:
        return "neither column holds ids"
    seen: dict[str, int] = {}
    for line, cells in rows:
        text = cells[place]
        if not NUMBER.fullmatch(text):
            return f"line {line} has {text!r} where the others have an id"
        if text in seen:
            return f"id {text} is in line {seen[text]} and in line {line}"
        if int(text) >= len(rows):
            return f"line {line} has id {text}, but there are {len(rows)} rows"
        seen[text] = line
    return "the ids have gaps"


def _refuse_twice(path: Path, labels: Sequence[tuple[int, str]]) -> None:
    seen: dict[str, int] = {}
    for line, label in labels:
        if label in seen:
            raise InputError(f"{path}, line {line}: {label!r} is in line {seen[label]} already; a label has one id")
        seen[label] = line


def find_places(
    dataset: Dataset, entities: Sequence[str], relations: Sequence[str], *, place: str, note: Note = ignore
) -> Places:
    """Where the entities and relations of a data set are among the rows of a model.

    Args:
        dataset: all of its entities are candidates, so that each needs a row.
        entities: label of each row of the model.
        relations: likewise.
        place: what messages call the model.
        note: told how many rows stand for nothing in the data set, and are no candidates.

    Raises:
        InputError: the model lacks an entity or a relation of the data set.
    """
    return Places(
        entities=_order(dataset.entities, entities, "entity", "entities", place, note),
        relations=_order(dataset.relations, relations, "relation", "relations", place, note),
        num_entities=len(entities),
        num_relations=len(relations),
    )


def _order(  # noqa: PLR0917
    wanted: Sequence[str], labels: Sequence[str], one: str, many: str, place: str, note: Note
) -> Rows:
    row = {label: number for number, label in enumerate(labels)}
    absent = [label for label in wanted if label not in row]
    if absent:
        raise InputError(
            f"{place}: lacks {len(absent)} of the {len(wanted)} {many} of the data set, {one} {absent[0]!r} first, "
            "which has no score then; give the model that was trained on it, with its own id maps"
        )
    if len(row) > len(wanted):
        there = set(wanted)
        further = next(label for label in labels if label not in there)
        note(
            f"{place}: {len(row) - len(wanted)} {many} of the model, {further!r} first, are not in the data set "
            "and are left out"
        )
    return np.array([row[label] for label in wanted], np.int64)
