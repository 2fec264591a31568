"""A benchmark data set in memory: integer triples, their labels, and what is odd about them.

    split folder, or train/valid/test files  →  load_dataset / read_dataset  →  Dataset
    lists of labelled triples                →  from_labelled                →  Dataset

>>> dataset = from_labelled(train=[("b", "r", "a")], valid=[], test=[("a", "r", "b")])
>>> dataset.entities, dataset.test.tolist()
(('a', 'b'), [[0, 0, 1]])
"""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from openbiolink.errors import InputError
from openbiolink.files import INDEX_FILE, iter_lines, sha256_of
from openbiolink.index import (
    FilterIndex,
    KnownAnswers,
    Side,
    all_codes,
    distinct_codes,
    known_answers,
    load_index,
    save_index,
    triple_codes,
)
from openbiolink.tables import open_database, quote, read_delimited

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import duckdb

    from openbiolink.files import Note

Part = Literal["train", "valid", "test"]
Triples = npt.NDArray[np.int32]
Codes = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Labelled = tuple[str, str, str]

KEPT_FROM = 1_000_000  # triples: smaller data sets are read in a second or two
INDEX_ARRAYS = ("codes", "offsets", "answers")
PARTS: tuple[Part, ...] = ("train", "valid", "test")
TRIPLE = ("head", "relation", "tail")
SAMPLE = (*TRIPLE, "score", "value", "source")
NEGATIVE = ("0", "0.0", "False", "false")
SPLIT_FOLDER = "train_test_data"
PLAIN_STEMS: Mapping[Part, str] = MappingProxyType({part: part for part in PARTS})
SPLIT_STEMS: Mapping[Part, str] = MappingProxyType(
    {"train": "train_sample", "valid": "val_sample", "test": "test_sample"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """What one part holds that training lacks.

    Attributes:
        triples: triples with an unseen entity, an unseen relation, or both.
        by_entity: triples with an unseen entity.
        by_relation: triples with an unseen relation.
        entities: different unseen entities.
        relations: different unseen relations.
    """

    triples: int
    by_entity: int
    by_relation: int
    entities: int
    relations: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dataset:
    """Three parts of one knowledge graph, as ids, with the labels that the ids stand for.

    Attributes:
        train: training triples, shape (n, 3), columns head, relation, tail, in file order; read-only.
        valid: validation triples, likewise; may have no rows.
        test: test triples, likewise; may have no rows.
        entities: label of every entity id; sorted by code point unless an order was given.
        relations: label of every relation id, likewise.
        checksum: SHA-256 of the triples by label, in order: the same for plain and packed files.
        files: SHA-256 of the bytes of the file of every part; empty where no files were read.
        unseen: for `valid` and `test`, what training lacks.
        duplicates: for every part, how many rows repeat an earlier row of that part.
        in_train: for `valid` and `test`, how many rows are training triples too.
        notes: one line for everything that a reader of results should know.
        index: the known answers of all parts, where they were asked for.
    """

    train: Triples
    valid: Triples
    test: Triples
    entities: tuple[str, ...] = field(repr=False)
    relations: tuple[str, ...] = field(repr=False)
    checksum: str
    files: Mapping[Part, str]
    unseen: Mapping[Part, Unseen]
    duplicates: Mapping[Part, int]
    in_train: Mapping[Part, int]
    notes: tuple[str, ...]
    index: FilterIndex | None = field(default=None, repr=False)

    @property
    def num_entities(self) -> int:
        """Number of entities: every one of them is a candidate answer."""
        return len(self.entities)

    @property
    def num_relations(self) -> int:
        """Number of relations."""
        return len(self.relations)

    def part(self, name: Part) -> Triples:
        """The triples of one part."""
        return {"train": self.train, "valid": self.valid, "test": self.test}[name]

    def label(self, triple: npt.NDArray[np.integer]) -> Labelled:
        """The labels of one triple of ids, shape (3,)."""
        return self.entities[triple[0]], self.relations[triple[1]], self.entities[triple[2]]

    def codes(self, triples: npt.NDArray[np.integer]) -> Codes:
        """One number per triple: equal for equal triples, and ordered by head, relation, tail.

        Raises:
            InputError: entities and relations are so many that 64 bits cannot tell triples apart.
        """
        return triple_codes(triples, "tail", self.num_entities, self.num_relations)


def ignore(note: str) -> None:
    """A reader of notes who does not read them; `Dataset.notes` keeps them anyway."""


def load_dataset(path: Path | str, *, index: bool = False, note: Note = ignore) -> Dataset:
    """Read a split folder, or a folder with three files of triples.

    Understood are `train_sample.csv`, `val_sample.csv`, `test_sample.csv` (six tab-separated columns:
    head, relation, tail, score, value, source), in `path` or in `path/train_test_data`, and else
    `train`, `valid`, `test` with the ending `.txt` or `.tsv` (three columns). Any of them may end in `.gz`.
    Every cell is text. Nothing is dropped: what is odd is counted, kept, and said through `note`.

    Args:
        path: the folder.
        index: whether to find the known answers of every question too. Those of a large data set are kept in the
            folder, with all else, for the next time; as long as the files are the same, that takes a moment.
        note: called with one line for everything a reader of results should know.

    Raises:
        InputError: a file is absent, present in two forms, damaged, or has a row that is not a triple.
    """
    folder = Path(path)
    if not folder.is_dir():
        fault = "is a file, expected a folder" if folder.exists() else "no such folder"
        raise InputError(f"{folder}: {fault}; give the folder that holds the parts of a data set")
    found = [
        (files, columns)
        for place in (folder, folder / SPLIT_FOLDER)
        for stems, endings, columns in (
            (SPLIT_STEMS, (".csv",), SAMPLE),
            (PLAIN_STEMS, (".txt", ".tsv"), TRIPLE),
        )
        if (files := _find_parts(place, stems, endings))
    ]
    if not found:
        raise InputError(
            f"{folder}: holds no data set; expected train_sample.csv, val_sample.csv and test_sample.csv, "
            "or train.txt, valid.txt and test.txt"
        )
    if len(found) > 1:
        names = " and ".join(str(files["train"]) for files, _ in found[:2])
        raise InputError(f"{folder}: holds more than one data set ({names}); give the folder of one of them")
    files, columns = found[0]
    return _read_indexed(files, columns, note) if index else _read(files, columns, note)


def read_dataset(*, train: Path | str, valid: Path | str, test: Path | str, note: Note = ignore) -> Dataset:
    """Read three files of triples, three tab-separated columns each, plain or packed, whatever their names.

    Raises:
        InputError: as `load_dataset`.
    """
    return _read({"train": Path(train), "valid": Path(valid), "test": Path(test)}, TRIPLE, note)


def from_labelled(
    *,
    train: Sequence[Sequence[str]],
    valid: Sequence[Sequence[str]],
    test: Sequence[Sequence[str]],
    entities: Sequence[str] | None = None,
    relations: Sequence[str] | None = None,
    note: Note = ignore,
) -> Dataset:
    """A data set from triples of labels; `entities` and `relations` give the order of ids, if it matters.

    Raises:
        InputError: a triple is not three labels, or a label is absent from the order that was given.
    """
    labelled: dict[Part, Sequence[Sequence[str]]] = {"train": train, "valid": valid, "test": test}
    for part, triples in labelled.items():
        for number, triple in enumerate(triples, 1):
            _check_labels(triple, f"{part} triple {number}")
    rows = [triple for triples in labelled.values() for triple in triples]
    nodes = sorted({label for head, _, tail in rows for label in (head, tail)})
    names = sorted({relation for _, relation, _ in rows})
    node_id, name_id = _positions(nodes), _positions(names)
    parts: dict[Part, Triples] = {
        part: np.array([(node_id[h], name_id[r], node_id[t]) for h, r, t in triples], np.int32).reshape(-1, 3)
        for part, triples in labelled.items()
    }
    dataset = _assemble(parts, tuple(nodes), tuple(names), files={}, note=note)
    return reindex(dataset, entities=entities or nodes, relations=relations or names)


def reindex(dataset: Dataset, *, entities: Sequence[str], relations: Sequence[str]) -> Dataset:
    """The same data set with ids in the order of the labels given; more labels than occur are allowed.

    Entities that occur in no triple become candidates like all others.

    Raises:
        InputError: a label is given twice, or one that occurs in a triple is not given.
    """
    new_entity = _new_ids("entity", dataset.entities, entities)
    new_relation = _new_ids("relation", dataset.relations, relations)
    return replace(
        dataset,
        train=_moved(dataset.train, new_entity, new_relation),
        valid=_moved(dataset.valid, new_entity, new_relation),
        test=_moved(dataset.test, new_entity, new_relation),
        entities=tuple(entities),
        relations=tuple(relations),
        index=None,
    )


def _moved(triples: Triples, new_entity: Triples, new_relation: Triples) -> Triples:
    columns = (new_entity[triples[:, 0]], new_relation[triples[:, 1]], new_entity[triples[:, 2]])
    return _frozen(np.stack(columns, axis=1))


def _new_ids(kind: str, old: Sequence[str], new: Sequence[str]) -> Triples:
    position = _positions(new)
    if len(position) < len(new):
        twice = next(label for number, label in enumerate(new) if position[label] != number)
        raise InputError(f"{kind} {twice!r} is given twice in the order of ids; every label needs one id")
    absent = [label for label in old if label not in position]
    if absent:
        raise InputError(
            f"{len(absent)} {kind} labels of the data set, {absent[0]!r} first, are not in the order of ids "
            "that was given; add them"
        )
    return np.array([position[label] for label in old], np.int32)


def _positions(labels: Sequence[str]) -> dict[str, int]:
    return {label: number for number, label in enumerate(labels)}


def _check_labels(triple: object, place: str) -> None:
    cells = triple if isinstance(triple, (tuple, list)) else ()
    if len(cells) != len(TRIPLE) or not all(isinstance(label, str) and label for label in cells):
        raise InputError(f"{place} is {triple!r}; expected three labels, each a text that is not empty")


def _find_parts(folder: Path, stems: Mapping[Part, str], endings: Iterable[str]) -> dict[Part, Path]:
    """The file of every part, or nothing where the training part is absent."""
    names = {
        part: [stem + ending + packed for ending in endings for packed in ("", ".gz")] for part, stem in stems.items()
    }
    there = {part: [folder / name for name in names[part] if (folder / name).is_file()] for part in stems}
    if not there["train"]:
        return {}
    for part, paths in there.items():
        if not paths:
            raise InputError(
                f"{folder}: has {there['train'][0].name} but no {names[part][0]}; add it, "
                "and if there are no such triples add an empty file"
            )
        if len(paths) > 1:
            raise InputError(f"{folder}: has {paths[0].name} and {paths[1].name}; keep the one that is meant")
    return {part: paths[0] for part, paths in there.items()}


def _read(files: Mapping[Part, Path], columns: Sequence[str], note: Note, *, index: bool = False) -> Dataset:
    notes: list[str] = []

    def tell(line: str) -> None:
        notes.append(line)
        note(line)

    with ThreadPoolExecutor(1) as pool, open_database(on_disk=False) as (connection, _):
        sums = pool.map(sha256_of, files.values())
        for part, path in files.items():
            keep = [name for name in columns if name in (*TRIPLE, "value")]
            read_delimited(connection, path, table=part, columns=columns, keep=keep, note=tell)
            _refuse_rows(connection, path, part, columns)
        entities = _vocabulary(connection, "entity", ("head", "tail"))
        relations = _vocabulary(connection, "relation", ("relation",))
        if not entities:
            raise InputError(f"{files['train']}: no triples, nor in the other parts; check the files")
        parts = {part: _encoded(connection, part) for part in files}
        checked = dict(zip(files, sums, strict=True))
    return _assemble(parts, entities, relations, files=checked, index=index, note=note, notes=tuple(notes))


def _read_indexed(files: Mapping[Part, Path], columns: Sequence[str], note: Note) -> Dataset:
    """As `_read` with the index, from the file that keeps both, or else kept in it if there are many triples."""
    folder = files["train"].parent
    if (kept := load_index(folder)) is not None:
        facts, arrays = kept
        if _is_unchanged(files, facts, note):
            dataset = _unpacked(facts, arrays)
            for line in dataset.notes:
                note(line)
            return dataset
    before = {part: _stamp(path) for part, path in files.items()}
    dataset = _read(files, columns, note, index=True)
    if sum(len(dataset.part(part)) for part in PARTS) >= KEPT_FROM:
        _keep(folder, dataset, before, note)
    return dataset


def _keep(folder: Path, dataset: Dataset, stamps: Mapping[Part, list[Any]], note: Note) -> None:
    try:
        save_index(folder, *_packed(dataset, stamps))
    except OSError as error:
        note(
            f"{folder}: {INDEX_FILE}, which saves time when the data set is read again, was not kept ({error.strerror})"
        )


def _stamp(path: Path) -> list[Any]:
    """What changes when a file is written."""
    found = path.stat()
    return [path.name, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


def _is_unchanged(files: Mapping[Part, Path], facts: Mapping[str, Any], note: Note) -> bool:
    """Whether the files are those that were read: by their stamps, else by their SHA-256."""
    stamps = {part: _stamp(path) for part, path in files.items()}
    if stamps == facts["stamps"]:
        return True
    if any(stamps[part][:2] != facts["stamps"].get(part, [])[:2] for part in files):
        return False
    note(f"{files['train'].parent}: its files were copied or touched; they are compared with {INDEX_FILE} by SHA-256")
    return all(sha256_of(path) == facts["files"][part] for part, path in files.items())


def _packed(dataset: Dataset, stamps: Mapping[Part, list[Any]]) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    facts = {
        "stamps": stamps,
        "files": dict(dataset.files),
        "checksum": dataset.checksum,
        "unseen": {part: asdict(counts) for part, counts in dataset.unseen.items()},
        "duplicates": dict(dataset.duplicates),
        "in_train": dict(dataset.in_train),
        "notes": list(dataset.notes),
    }
    arrays: dict[str, npt.NDArray[Any]] = {part: dataset.part(part) for part in PARTS}
    for name in ("entities", "relations"):
        arrays[name] = np.frombuffer("\n".join(getattr(dataset, name)).encode(), np.uint8)
    for side, answers in dataset.index.known.items() if dataset.index else ():
        arrays |= {f"{side} {name}": getattr(answers, name) for name in INDEX_ARRAYS}
    return facts, arrays


def _unpacked(facts: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Dataset:
    entities, relations = (tuple(arrays[name].tobytes().decode().split("\n")) for name in ("entities", "relations"))
    sides: tuple[Side, Side] = ("head", "tail")
    train, valid, test = (_frozen(arrays[part]) for part in PARTS)
    known = {side: KnownAnswers(**{name: arrays[f"{side} {name}"] for name in INDEX_ARRAYS}) for side in sides}
    return Dataset(
        train=train,
        valid=valid,
        test=test,
        entities=entities,
        relations=relations,
        checksum=facts["checksum"],
        files=MappingProxyType(facts["files"]),
        unseen=MappingProxyType({part: Unseen(**counts) for part, counts in facts["unseen"].items()}),
        duplicates=MappingProxyType(facts["duplicates"]),
        in_train=MappingProxyType(facts["in_train"]),
        notes=tuple(facts["notes"]),
        index=FilterIndex(
            parts=(train, valid, test), num_entities=len(entities), num_relations=len(relations), known=known
        ),
    )


def _refuse_rows(connection: duckdb.DuckDBPyConnection, path: Path, part: Part, columns: Sequence[str]) -> None:
    """Refuse triples without a label, and rows marked as negative, which are no triples of the graph."""
    rules = {"head = '' OR relation = '' OR tail = ''": ("an empty id", "give every id")}
    if "value" in columns:
        marks = ", ".join(quote(mark) for mark in NEGATIVE)
        rules[f"value IN ({marks})"] = ("a negative (value 0)", "keep negatives in files of their own")
    for condition, (fault, way_out) in rules.items():
        query = f"SELECT count(*), min(rowid) FROM {part} WHERE {condition}"
        count, row = connection.execute(query).fetchall()[0]
        if count:
            line = _line_of_row(path, row, len(columns))
            raise InputError(f"{path}, line {line}: {fault}; {way_out} (such rows: {count})")


def _line_of_row(path: Path, row: int, cells: int) -> int:
    lines = enumerate(iter_lines(path, ignore), 1)
    whole = (number for number, line in lines if line.count("\t") == cells - 1)
    return next(number for position, number in enumerate(whole) if position == row)


def _vocabulary(connection: duckdb.DuckDBPyConnection, name: str, columns: Iterable[str]) -> tuple[str, ...]:
    """Make a DuckDB type of all labels, so that a cast turns a label into its id, and return the labels.

    DuckDB compares text by its UTF-8 bytes, which is the order of code points.
    """
    every = " UNION ".join(f"SELECT {column} AS label FROM {part}" for part in PARTS for column in columns)
    connection.execute(f"CREATE TABLE {name}_labels AS SELECT label FROM ({every}) ORDER BY label")
    labels = connection.execute(f"SELECT label FROM {name}_labels ORDER BY label").fetchall()
    if labels:
        connection.execute(f"CREATE TYPE {name}_id AS ENUM (SELECT label FROM {name}_labels ORDER BY label)")
    return tuple(label for (label,) in labels)


def _encoded(connection: duckdb.DuckDBPyConnection, part: Part) -> Triples:
    """The triples of a part as ids, and its table gone; DuckDB keeps the order of a table that is read through."""
    columns = connection.execute(f"""
        SELECT enum_code(head::entity_id) AS head, enum_code(relation::relation_id) AS relation,
               enum_code(tail::entity_id) AS tail
        FROM {part}
    """).fetchnumpy()
    connection.execute(f"DROP TABLE {part}")
    triples = np.empty((len(columns["head"]), 3), np.int32)
    for number, name in enumerate(TRIPLE):
        triples[:, number] = columns.pop(name)
    return triples


def _assemble(
    parts: Mapping[Part, Triples],
    entities: tuple[str, ...],
    relations: tuple[str, ...],
    *,
    files: Mapping[Part, str],
    note: Note,
    notes: tuple[str, ...] = (),
    index: bool = False,
) -> Dataset:
    """Freeze the parts, whose ids follow the sorted labels, count what is odd about them, and index them if asked."""
    plain = Dataset(
        train=_frozen(parts["train"]),
        valid=_frozen(parts["valid"]),
        test=_frozen(parts["test"]),
        entities=entities,
        relations=relations,
        checksum="",
        files=MappingProxyType(dict(files)),
        unseen=MappingProxyType({}),
        duplicates=MappingProxyType({}),
        in_train=MappingProxyType({}),
        notes=(),
    )
    with ThreadPoolExecutor(2) as pool:  # sorting and hashing leave the interpreter free for each other
        checksum = pool.submit(_checksum, parts, entities, relations)
        heads = pool.submit(_head_index, plain) if index else None
        duplicates, in_train, tails = _count_repeated(plain, index=index)
        counted = replace(
            plain,
            unseen=MappingProxyType(_count_unseen(plain)),
            duplicates=MappingProxyType(duplicates),
            in_train=MappingProxyType(in_train),
            checksum=checksum.result(),
            index=FilterIndex(
                parts=(plain.train, plain.valid, plain.test),
                num_entities=len(entities),
                num_relations=len(relations),
                known={"head": heads.result(), "tail": tails},
            )
            if heads and tails
            else None,
        )
    found = tuple(_describe(counted))
    for line in found:
        note(line)
    return replace(counted, notes=notes + found)


def _count_repeated(dataset: Dataset, *, index: bool) -> tuple[dict[Part, int], dict[Part, int], KnownAnswers | None]:
    """Rows that repeat an earlier one of their part, rows that are in training too, and the tail index if asked."""
    distinct = _all_codes(dataset, "tail")
    duplicates, in_train = dict.fromkeys(PARTS, 0), dict.fromkeys(PARTS[1:], 0)
    if len(distinct) < sum(len(dataset.part(part)) for part in PARTS):
        codes = {part: dataset.codes(dataset.part(part)) for part in PARTS}
        train = distinct_codes(codes["train"])
        duplicates = {part: len(codes[part]) - len(distinct_codes(codes[part])) for part in PARTS}
        in_train = {part: _count_in(codes[part], train) for part in PARTS[1:]}
    return duplicates, in_train, known_answers(distinct, dataset.num_entities) if index else None


def _head_index(dataset: Dataset) -> KnownAnswers:
    return known_answers(_all_codes(dataset, "head"), dataset.num_entities)


def _all_codes(dataset: Dataset, side: Side) -> Codes:
    parts = (dataset.part(part) for part in PARTS)
    return all_codes(parts, side, dataset.num_entities, dataset.num_relations)


def _count_in(codes: Codes, train: Codes) -> int:
    if not len(train):
        return 0
    place = np.minimum(np.searchsorted(train, np.sort(codes)), len(train) - 1)
    return int((train[place] == np.sort(codes)).sum())


def _frozen(triples: Triples) -> Triples:
    triples.setflags(write=False)
    return triples


def _checksum(parts: Mapping[Part, Triples], entities: Iterable[str], relations: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for labels in (entities, relations):
        digest.update(("\n".join(labels) + "\n\n").encode())
    for part in PARTS:
        digest.update(f"{part} {len(parts[part])}\n".encode())
        digest.update(np.ascontiguousarray(parts[part], "<i4").tobytes())
    return digest.hexdigest()


def unseen_rows(dataset: Dataset, part: Part) -> tuple[Mask, Mask]:
    """For every triple of a part, whether training lacks one of its entities, and whether its relation."""
    return _unseen_in(dataset.part(part), *_unseen_labels(dataset))


def _unseen_in(triples: Triples, entity: Mask, relation: Mask) -> tuple[Mask, Mask]:
    return entity[triples[:, 0]] | entity[triples[:, 2]], relation[triples[:, 1]]


def _unseen_labels(dataset: Dataset) -> tuple[Mask, Mask]:
    entity, relation = np.ones(dataset.num_entities, np.bool_), np.ones(dataset.num_relations, np.bool_)
    entity[dataset.train[:, 0]] = False
    entity[dataset.train[:, 2]] = False
    relation[dataset.train[:, 1]] = False
    return entity, relation


def _count_unseen(dataset: Dataset) -> dict[Part, Unseen]:
    entity, relation = _unseen_labels(dataset)
    counts = {}
    for part in PARTS[1:]:
        triples = dataset.part(part)
        by_entity, by_relation = _unseen_in(triples, entity, relation)
        ends, names = triples[:, [0, 2]].ravel(), triples[:, 1]
        counts[part] = Unseen(
            triples=int((by_entity | by_relation).sum()),
            by_entity=int(by_entity.sum()),
            by_relation=int(by_relation.sum()),
            entities=len(set(ends[entity[ends]].tolist())),
            relations=len(set(names[relation[names]].tolist())),
        )
    return counts


def _describe(dataset: Dataset) -> Iterable[str]:
    for part in PARTS:
        total = len(dataset.part(part))
        if not total:
            yield f"{part}: no triples; the part is empty"
        if dataset.duplicates[part]:
            yield f"{part}: {dataset.duplicates[part]} of {total} rows repeat an earlier row; they are kept"
        if dataset.in_train.get(part):
            yield f"{part}: {dataset.in_train[part]} of {total} triples are also in train"
        if part in dataset.unseen and dataset.unseen[part].triples:
            unseen = dataset.unseen[part]
            yield (
                f"{part}: {unseen.triples} of {total} triples hold what train lacks: "
                f"{unseen.by_entity} an entity ({unseen.entities} different), "
                f"{unseen.by_relation} a relation ({unseen.relations} different)"
            )
