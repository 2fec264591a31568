"""What an answer competes with: all entities, those of the right node type, or a list of entities.

    read_types(folder, dataset)          node files of a split, else prefixes of ids  →  a type per entity
    typed_candidates(dataset, types)     node types of the heads and tails of a relation, by the schema
    candidate_subset(dataset, labels)    a list of entities, the same for all relations

The answer itself is always a candidate, also where it is not in the set.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from openbiolink.dataset import SPLIT_FOLDER, ignore
from openbiolink.errors import InputError
from openbiolink.evaluation.known import ANSWER_COLUMN, RELATION, count_ranked, holds_answer, query_codes
from openbiolink.evaluation.result import SIDES
from openbiolink.files import iter_lines
from openbiolink.schema import ANY_TYPE, schema_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from openbiolink.dataset import Dataset, Triples
    from openbiolink.evaluation.known import KnownAnswers
    from openbiolink.files import Note
    from openbiolink.index import Side
    from openbiolink.schema import Schema

Ids = npt.NDArray[np.int64]

ALL = -1
UNTYPED = ""
NODE_STEMS = ("train_val_nodes", "test_nodes", "nodes")
NODE_ENDINGS = (".csv", ".tsv", ".txt")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidates:
    """Which entities compete, for each relation and side.

    Attributes:
        kind: how they were chosen.
        names: of the sets.
        sets: entity ids, each ascending without repetition.
        of: for each side the number of the set of every relation, shape (num_relations,); `ALL` for all entities.
        sums: SHA-256 of the labels of each set, sorted, a line each.
        relations: labels of the relations.
    """

    kind: Literal["typed", "subset"]
    names: tuple[str, ...]
    sets: tuple[Ids, ...] = field(repr=False)
    of: Mapping[Side, Ids] = field(repr=False)
    sums: tuple[str, ...] = field(repr=False)
    relations: tuple[str, ...] = field(repr=False)

    def describe(self) -> dict[str, Any]:
        """What a result says of them: the sets by name, and those of each relation; `*` are all entities."""
        shown = {ALL: ANY_TYPE, **dict(enumerate(self.names))}
        return {
            "kind": self.kind,
            "sets": {
                name: {"entities": len(ids), "sha256": digest}
                for name, ids, digest in zip(self.names, self.sets, self.sums, strict=True)
            },
            "relations": {
                label: {side: shown[int(self.of[side][number])] for side in SIDES}
                for number, label in sorted(enumerate(self.relations), key=lambda pair: pair[1])
            },
        }


def typed_candidates(dataset: Dataset, types: Sequence[str], schema: Schema, *, note: Note = ignore) -> Candidates:
    """Candidates of the node types that the schema has for heads and tails of each relation.

    A relation that the schema does not know, or whose ends may be of any type, has all entities as candidates.

    Args:
        dataset: the entities and relations.
        types: of every entity, empty where it has none; such entities are in no set.
        schema: what is known of relations.
        note: called with one line for everything that a reader of results should know.

    Raises:
        InputError: no entity has a type, or no relation has types.
    """
    members: dict[str, list[int]] = {}
    for entity, kind in enumerate(types):
        members.setdefault(kind, []).append(entity)
    untyped = len(members.pop(UNTYPED, []))
    if not members:
        raise InputError(
            f"none of the {dataset.num_entities} entities has a node type; put nodes.csv (id, type) beside the parts, "
            "declare prefixes in schema.toml, or take all entities as candidates"
        )
    wanted = {side: [getattr(schema.relation(relation), side) for relation in dataset.relations] for side in SIDES}
    names = tuple(sorted({kind for kinds in wanted.values() for kind in kinds if kind != ANY_TYPE}))
    if not names:
        raise InputError(
            f"no relation has node types in the schema, {dataset.relations[0]!r} for one; declare head and tail of "
            "relations in schema.toml beside the parts, or take all entities as candidates"
        )
    number = {ANY_TYPE: ALL, **{name: place for place, name in enumerate(names)}}
    for line in _remarks(dataset, untyped, wanted, names, members):
        note(line)
    sets = tuple(np.array(members.get(name, []), np.int64) for name in names)
    of = {side: np.array([number[kind] for kind in kinds], np.int64) for side, kinds in wanted.items()}
    return _candidates("typed", dataset, names, sets, of)


def _remarks(
    dataset: Dataset,
    untyped: int,
    wanted: Mapping[Side, Sequence[str]],
    names: Sequence[str],
    members: Mapping[str, Sequence[int]],
) -> Iterator[str]:
    if untyped:
        yield f"typed candidates: entities without a node type, which are in no set: {untyped}"
    if empty := [name for name in names if name not in members]:
        yield f"typed candidates: node types without entities: {', '.join(empty)}"
    free = sum(ANY_TYPE in ends for ends in zip(*wanted.values(), strict=True))
    if free:
        yield f"typed candidates: relations with an end of any type, where all entities are candidates: {free}"
    kind_of = np.full(dataset.num_entities, ALL, np.int64)
    for place, name in enumerate(names):
        kind_of[np.array(members.get(name, []), np.int64)] = place
    number = {ANY_TYPE: ALL, **{name: place for place, name in enumerate(names)}}
    for side in SIDES:
        right = np.array([number[kind] for kind in wanted[side]], np.int64)[dataset.test[:, RELATION]]
        other = (right != ALL) & (kind_of[dataset.test[:, ANSWER_COLUMN[side]]] != right)
        if other.any():
            yield f"typed candidates: test triples whose {side} is of another type, and competes anyway: {other.sum()}"


def candidate_subset(dataset: Dataset, labels: Iterable[str] | Path, *, note: Note = ignore) -> Candidates:
    """The candidates of a list, the same for all relations and both sides.

    Args:
        dataset: the entities.
        labels: of the candidates, or a file with one on each line (blank lines are skipped).
        note: called with one line if labels are given more than once.

    Raises:
        InputError: a label is not in the data set, or there are none.
    """
    if isinstance(labels, Path):
        lines = ((f"{labels}, line {number}", line) for number, line in enumerate(iter_lines(labels, note), 1))
        given = [(place, line) for place, line in lines if line.strip()]
    else:
        given = [(f"candidate {number}", label) for number, label in enumerate(labels, 1)]
    id_of = {label: number for number, label in enumerate(dataset.entities)}
    for place, label in given:
        if label not in id_of:
            raise InputError(f"{place}: entity {label!r} is not in the data set; take it out of the candidates")
    if not given:
        raise InputError(f"{labels if isinstance(labels, Path) else 'candidates'}: no entities; name one at least")
    ids = np.unique(np.array([id_of[label] for _, label in given], np.int64))
    if len(ids) < len(given):
        note(f"candidates that are given more than once and count once: {len(given) - len(ids)}")
    of = {side: np.zeros(dataset.num_relations, np.int64) for side in SIDES}
    return _candidates("subset", dataset, ("listed",), (ids,), of)


def _candidates(
    kind: Literal["typed", "subset"],
    dataset: Dataset,
    names: tuple[str, ...],
    sets: tuple[Ids, ...],
    of: Mapping[Side, Ids],
) -> Candidates:
    sums = (sorted(dataset.entities[entity] for entity in ids.tolist()) for ids in sets)
    return Candidates(
        kind=kind,
        names=names,
        sets=sets,
        of=MappingProxyType(dict(of)),
        sums=tuple(hashlib.sha256("".join(f"{label}\n" for label in labels).encode()).hexdigest() for labels in sums),
        relations=dataset.relations,
    )


def count_candidates_of(
    dataset: Dataset, triples: Triples, known: Mapping[Side, KnownAnswers], candidates: Candidates | None
) -> Ids:
    """How many candidates each query has, the answer among them: shape (n, 2), columns head and tail.

    Args:
        dataset: the entities.
        triples: whose ends are asked for, shape (n, 3).
        known: of each side; known answers are no candidates, save the answer itself.
        candidates: which entities compete; None for all.
    """
    counts = count_ranked(dataset, triples, known)
    if candidates is None:
        return counts
    for column, side in enumerate(SIDES):
        answers = triples[:, ANSWER_COLUMN[side]]
        begin, end = known[side].spans(query_codes(dataset, triples, side))
        is_known = holds_answer(known[side], begin, end, answers)
        set_of = candidates.of[side][triples[:, RELATION]]
        for number, ids in enumerate(candidates.sets):
            inside = np.zeros(dataset.num_entities, np.bool_)
            inside[ids] = True
            before = np.concatenate([[0], np.cumsum(inside[known[side].answers])])
            own = np.flatnonzero(set_of == number)
            left_out = before[end[own]] - before[begin[own]]
            counts[own, column] = 1 + len(ids) - left_out - (inside[answers[own]] & ~is_known[own])
    return counts


def read_types(folder: Path | str, dataset: Dataset, *, schema: Schema | None = None) -> tuple[str, ...]:
    """The node type of every entity of a data set; empty where nothing tells it.

    Types are read from `train_val_nodes`, `test_nodes` and `nodes` (`.csv`, `.tsv` or `.txt`; id, type and maybe more
    columns, tab-separated), plain or packed, in the folder or its `train_test_data`. An entity that they lack has the
    type of its prefix, by the schema.

    Args:
        folder: of the data set.
        dataset: the entities.
        schema: by default that of the folder.

    Raises:
        InputError: a line has no type, an entity has two, or the schema of the folder is wrong.
    """
    places = (Path(folder), Path(folder) / SPLIT_FOLDER)
    names = [f"{stem}{ending}{packed}" for stem in NODE_STEMS for ending in NODE_ENDINGS for packed in ("", ".gz")]
    found: dict[str, tuple[str, str]] = {}
    for path in (place / name for place in places for name in names):
        if path.is_file():
            _read_nodes(path, found)
    holder = next((place for place in places if (place / "schema.toml").is_file()), places[0])
    facts = schema or schema_of(holder)[0]
    prefixes = {label.partition(":")[0] for label in dataset.entities if label not in found and ":" in label}
    type_of = {prefix: facts.node_type(f"{prefix}:") or UNTYPED for prefix in sorted(prefixes)}
    return tuple(
        found[label][0]
        if label in found
        else type_of.get(label.partition(":")[0], UNTYPED)
        if ":" in label
        else UNTYPED
        for label in dataset.entities
    )


def _read_nodes(path: Path, found: dict[str, tuple[str, str]]) -> None:
    """Add id → (type, place) of a file of nodes."""
    for number, line in enumerate(iter_lines(path, ignore), 1):
        if not line:
            continue
        place, cells = f"{path}, line {number}", line.split("\t")
        if len(cells) < 2 or not cells[0] or not cells[1]:
            raise InputError(f"{place}: {line[:60]!r} has no id and type; expected them with a tab between")
        earlier = found.setdefault(cells[0], (cells[1], place))
        if earlier[0] != cells[1]:
            raise InputError(
                f"{place}: node {cells[0]!r} is of type {cells[1]!r}, in {earlier[1]} of {earlier[0]!r}; keep one type"
            )
