"""From the files of a split to the tables of an audit: any triple files, our own split folders among them."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from openbiolink.audit.context import PARTS
from openbiolink.croissant import MANIFEST_FILE
from openbiolink.dataset import NEGATIVE, SAMPLE, SPLIT_FOLDER, TRIPLE, ignore
from openbiolink.errors import InputError
from openbiolink.files import iter_lines
from openbiolink.places import place
from openbiolink.tables import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from openbiolink.engines import Engine
    from openbiolink.files import Note
    from openbiolink.schema import Schema

POSITIVE = ("1", "1.0", "True", "true")
STEMS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "train": ("train",),
        "inference": ("inference",),
        "valid": ("valid", "val", "validation", "dev"),
        "test": ("test",),
    }
)
ENDINGS = (".txt", ".tsv", ".csv")
PARQUET = ".parquet"
PACKED = ".gz"
COMMENT = "#"
HEADINGS = (  # names that other programs give to the first three columns
    ("head", "subject", "source", "from", "h"),
    ("relation", "predicate", "edge", "rel", "label", "type", "r"),
    ("tail", "object", "target", "to", "t"),
)
SEPARATORS: Mapping[str, str] = MappingProxyType({",": "commas", ";": "semicolons", "|": "bars", " ": "blanks"})
OURS = ("openbiolink-split/", "openbiolink-cleaned/")  # formats of manifests that know scheme and direction


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFiles:
    """The files of a split.

    Attributes:
        positive: part → its files; `train` and `test` are needed, `inference` and `valid` are not. A file may hold
            negative rows too, if it says so in a column.
        negative: part → its files of negatives.
        nodes: lists the entities that there are, in its first column.
        scheme: of our own split, by its manifest.
        unseen_by_design: whether that scheme keeps entities from all that a model may learn from, by the same manifest.
        directed: False where a-b is b-a in every relation, by the same manifest.
    """

    positive: Mapping[str, tuple[Path, ...]]
    negative: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    nodes: Path | None = None
    scheme: str | None = None
    unseen_by_design: bool = False
    directed: bool = True

    @property
    def inductive(self) -> str | None:
        """The scheme, where it keeps entities from training on purpose; `unnamed` where nothing says which it is."""
        return (self.scheme or "unnamed") if self.unseen_by_design else None

    def named(self) -> list[tuple[str, str, bool, Path]]:
        """(name in a report, part, whether positive, file) of every file of triples, in the order of parts."""
        return [
            (f"{part}{'' if positive else '_negatives'}{f'_{number}' if number else ''}", part, positive, path)
            for positive, files in ((True, self.positive), (False, self.negative))
            for part in PARTS
            for number, path in enumerate(files.get(part, ()))
        ]


def find_parts(folder: Path | str) -> AuditFiles:
    """Find the files of a split in a folder, or in its subfolder `train_test_data`.

    A part is a file `train`, `valid` (`val`, `validation`, `dev`) or `test`, perhaps `inference`, with the ending
    `.txt`, `.tsv` or `.csv`, perhaps packed (`.gz`), or `.parquet`; or `train_sample` and so on. Negatives are in
    `train_negatives` or `negative_train_sample`, and so on. No other file is looked at, but for `manifest.json`.

    Raises:
        InputError: no folder; the training or the test part is absent, or a part is there twice; `manifest.json` of our
            own split is damaged.
    """
    top = place(folder)
    if not top.is_dir():
        fault = "is a file, expected a folder" if top.exists() else "no such folder"
        raise InputError(f"{top}: {fault}; give the folder that holds the parts of a split")
    places = [one for one in (top, top / SPLIT_FOLDER) if one.is_dir() and _candidates(one)]
    if len(places) > 1:
        raise InputError(f"{top}: holds a split, and {places[1]} another; give the folder of one of them")
    if not places:
        raise InputError(
            f"{top}: holds no split; expected train_sample.csv, val_sample.csv and test_sample.csv, or train, valid "
            f"and test with the ending {', '.join(ENDINGS)} (perhaps {PACKED}) or {PARQUET}"
        )
    found = _candidates(places[0])
    for (part, positive), paths in found.items():
        if len(paths) > 1:
            what = part if positive else f"negatives of {part}"
            raise InputError(
                f"{places[0]}: has {paths[0].name} and {paths[1].name} for {what}; keep the one that is meant"
            )
    for part in ("train", "test"):
        if (part, True) not in found:
            there = ", ".join(path.name for paths in found.values() for path in paths)
            raise InputError(f"{places[0]}: has no {part} part, only {there}; add it")
    manifest = _read_manifest(places[0] / MANIFEST_FILE)
    return AuditFiles(
        positive={part: tuple(paths) for (part, positive), paths in found.items() if positive},
        negative={part: tuple(paths) for (part, positive), paths in found.items() if not positive},
        scheme=manifest.get("scheme"),
        unseen_by_design=_flag(manifest, "unseen_by_design", places[0] / MANIFEST_FILE, default=False),
        directed=_flag(manifest, "directed", places[0] / MANIFEST_FILE, default=True),
    )


def _candidates(folder: Path) -> dict[tuple[str, bool], list[Path]]:
    """(part, whether positive) → the files that may be it, by name."""
    meant: dict[str, tuple[str, bool]] = {}
    for part, stems in STEMS.items():
        for stem in stems:
            meant |= dict.fromkeys((stem, f"{stem}_sample"), (part, True))
            meant |= dict.fromkeys((f"{stem}_negatives", f"negative_{stem}_sample"), (part, False))
    found: dict[tuple[str, bool], list[Path]] = {}
    for path in sorted(folder.iterdir()):
        name = path.name.removesuffix(PACKED)
        stem, dot, ending = name.rpartition(".")
        fits = dot + ending in ENDINGS or (dot + ending == PARQUET and name == path.name)
        if fits and stem in meant and (path.is_file() or dot + ending == PARQUET):
            found.setdefault(meant[stem], []).append(path)
    return found


def _read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of our own split; nothing where there is none, or that of something else."""
    if not path.is_file():
        return {}
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: is not JSON ({error}); mend it or move it away") from error
    ours = isinstance(manifest, dict) and str(manifest.get("format")).startswith(OURS)
    return manifest if ours else {}


def _flag(manifest: Mapping[str, Any], key: str, path: Path, *, default: bool) -> bool:
    """What a manifest, read from a path, says of a key."""
    value = manifest.get(key, default)
    if not isinstance(value, bool):
        raise InputError(f"{path}: {key} is {value!r}, expected true or false; mend it or move the file away")
    return value


def read_parts(engine: Engine, files: AuditFiles, *, schema: Schema, note: Note) -> None:
    """Read the files into `node`, `relation`, `row`, `implies` and those of `count_triples`.

    Args:
        engine: without tables.
        files: what to read; every cell is text.
        schema: knows what a relation implies.
        note: called with one line for everything that was skipped or is odd.

    Raises:
        InputError: a file is absent or damaged, a row is not a triple, has an empty id or another value than 0 or 1,
            or there is no positive row at all.
    """
    raws = []
    for number, (_, part, positive, path) in enumerate(files.named()):
        sign = _read_file(engine, path, f"raw_{number}", positive=positive, note=note)
        raws.append(f"SELECT '{part}' AS part, {sign} AS positive, head, relation, tail FROM raw_{number}")
    engine.view("raw", " UNION ALL ".join(raws))
    _number(engine)
    engine.drop("raw", *(f"raw_{number}" for number in range(len(raws))))
    count_triples(engine)
    if not engine.rows("SELECT 1 FROM entity LIMIT 1"):
        raise InputError(f"{files.positive['train'][0]}: no positive triples, nor in the other parts; check the files")
    list_consequences(engine, schema, directed=files.directed)
    if files.nodes is not None:
        _tell_unlisted(engine, files.nodes, note)


def _read_file(engine: Engine, path: Path, table: str, *, positive: bool, note: Note) -> str:
    """Read triples into a table of text; returns an SQL expression for whether a row is positive."""
    valued = _load(engine, path, table, note)
    faults = {"an id is empty": (" OR ".join(f"replace({name}, ' ', '') = ''" for name in TRIPLE), _lacks_id)}
    if valued:
        known = ", ".join(quote(mark) for mark in (*POSITIVE, *NEGATIVE))
        faults["the value is neither 0 nor 1"] = (f"value NOT IN ({known})", _lacks_value)
    for fault, (condition, is_faulty) in faults.items():
        rows = engine.rows(f"SELECT count(*) FROM {table} WHERE {condition}")[0][0]
        if rows:
            raise InputError(f"{path}{_first_line(path, is_faulty)}: {fault}; mend or remove such rows ({rows})")
    return f"value IN ({', '.join(quote(mark) for mark in POSITIVE)})" if valued else str(positive).lower()


def _load(engine: Engine, path: Path, table: str, note: Note) -> bool:
    """Read the triples of a file, with their values if it has any, and say whether it has."""
    valued = (*TRIPLE, "value")
    if path.suffix != PARQUET:
        columns = _columns(path, note)
    else:
        with suppress(InputError):  # no such column; what else is wrong is said below
            engine.read(path, table=table, columns=valued, note=note)
            return True
        columns = valued if path.stem.endswith("_sample") else TRIPLE
    engine.read(path, table=table, columns=columns, keep=[name for name in columns if name in valued], note=note)
    return "value" in columns


def _columns(path: Path, note: Note) -> tuple[str, ...]:
    """The columns of a file of delimited triples, by its first row; notes one that reads like a heading."""
    line = next((line for line in iter_lines(path, ignore) if line.strip()), None)
    cells = len(TRIPLE) if line is None else line.count("\t") + 1
    first = (line or "").lower().split("\t")
    if cells >= len(TRIPLE) and all(cell.strip() in names for cell, names in zip(first, HEADINGS, strict=False)):
        note(f"{path}: its first row ({', '.join(first)}) reads like a heading; it counts as a triple unless removed")
    if cells == len(TRIPLE):
        return TRIPLE
    if cells == len(SAMPLE):
        return SAMPLE
    other = next((name for mark, name in SEPARATORS.items() if cells == 1 and line and line.count(mark) > 1), None)
    found = f"its cells are separated by {other}" if other else f"{cells} cells"
    raise InputError(
        f"{path}, first row ({found}): expected head, relation and tail separated by tabs, or the six columns of a "
        "sample file; rewrite the file so"
    )


def _lacks_id(cells: Sequence[str]) -> bool:
    return not all(cell.strip(" ") for cell in cells[: len(TRIPLE)])


def _lacks_value(cells: Sequence[str]) -> bool:
    return cells[SAMPLE.index("value")] not in {*POSITIVE, *NEGATIVE}


def _first_line(path: Path, is_faulty: Callable[[Sequence[str]], bool]) -> str:
    """Where the first faulty row is; nothing for Parquet, which has no lines."""
    if path.suffix == PARQUET:
        return ""
    rows = ((number, line.split("\t")) for number, line in enumerate(iter_lines(path, ignore), 1) if line.strip(" "))
    return next((f", line {number}" for number, cells in rows if is_faulty(cells)), "")


def _number(engine: Engine) -> None:
    """Make `node`, `relation` and `row` of `raw`."""
    for table, columns in (("node", ("head", "tail")), ("relation", ("relation",))):
        names = " UNION ".join(f"SELECT DISTINCT {column} AS name FROM raw" for column in columns)
        engine.make(
            table,
            f"SELECT CAST(row_number() OVER (ORDER BY name) - 1 AS INTEGER) AS id, name FROM ({names}) AS named",
        )
    engine.make(
        "row",
        """
        SELECT raw.part, raw.positive, start.id AS h, relation.id AS r, finish.id AS t
        FROM raw JOIN node AS start ON start.name = raw.head JOIN relation ON relation.name = raw.relation
        JOIN node AS finish ON finish.name = raw.tail
        """,
    )


def count_triples(engine: Engine) -> None:
    """Make `triple`, `entity` and `mixed` of `row`, as `openbiolink.audit.context` describes them."""
    engine.make("triple", "SELECT part, h, r, t, count(*) AS n FROM row WHERE positive GROUP BY part, h, r, t")
    engine.make("entity", "SELECT h AS id FROM triple UNION SELECT t FROM triple")
    engine.make(
        "mixed_pair",
        """
        SELECT least(h, t) AS x, greatest(h, t) AS y FROM triple WHERE h <> t
        GROUP BY least(h, t), greatest(h, t) HAVING min(part) <> max(part)
        """,
    )
    engine.make(
        "mixed",
        """
        SELECT part, h, r, t, n
        FROM (SELECT part, h, r, t, n, least(h, t) AS x, greatest(h, t) AS y FROM triple) AS sided
        SEMI JOIN mixed_pair USING (x, y)
        """,
    )
    engine.drop("mixed_pair")


def list_consequences(engine: Engine, schema: Schema, *, directed: bool) -> None:
    """Make `implies` (special, general, flipped) of the relations in `relation`, each with itself."""
    numbers = dict(engine.rows("SELECT name, id FROM relation"))
    found = [
        (numbers[name], numbers[implied.relation], implied.flipped)
        for name in sorted(numbers)
        for implied in schema.consequences(name, directed=directed)
        if implied.relation in numbers
    ]
    special, general, flipped = zip(*found, strict=True)
    engine.put(
        "implies",
        {
            "special": np.array(special, np.int32),
            "general": np.array(general, np.int32),
            "flipped": np.array(flipped, np.bool_),
        },
    )


def _tell_unlisted(engine: Engine, path: Path, note: Note) -> None:
    """Note the entities that a file of nodes does not list in its first column."""
    if path.suffix == PARQUET:
        engine.read(path, table="listed", columns=("id",), note=note)
    else:
        lines = (line for line in iter_lines(path, ignore) if line.strip() and not line.startswith(COMMENT))
        width = next((line.count("\t") for line in lines), 1)
        rest = (f"more_{number}" for number in range(width))
        engine.read(path, table="listed", columns=("id", *rest), keep=("id",), comment=COMMENT, note=note)
    absent = engine.rows(
        "SELECT name FROM node ANTI JOIN (SELECT id AS name FROM listed) AS l USING (name) ORDER BY name"
    )
    engine.drop("listed")
    if absent:
        note(f"{path}: does not list {len(absent)} entities that rows name, {absent[0][0]!r} first")
