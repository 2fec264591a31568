"""The files of a split, and the manifest that says what is in them and how they came about."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from openbiolink.croissant import CROISSANT_FILE, LICENCE_FILE, MANIFEST_FILE, croissant
from openbiolink.files import sha256_of, write_json, write_text
from openbiolink.graph.licence import unknown_terms_text
from openbiolink.tables import write_tsv

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from openbiolink.files import Note
    from openbiolink.split.graph_files import InputCounts
    from openbiolink.split.negatives import Shortfall

FORMAT = "openbiolink-split/1"
PARTS = ("train", "validation", "test")
NAMED = 20

PART_ROWS = """(SELECT h, r, t, positive, score, source, 'train' AS part FROM train
                UNION ALL SELECT h, r, t, positive, score, source, part FROM held)"""
NAMES = """JOIN node head ON head.id = h JOIN relation ON relation.id = r JOIN node tail ON tail.id = t"""
REMOVED_ROWS = f"""
    SELECT head.name, relation.name, tail.name, score, positive::INTEGER, source, reason
    FROM removed {NAMES} ORDER BY h, r, t, score, positive, source, reason
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the manifest tells and the database does not hold.

    Attributes:
        scheme: the name of the scheme.
        directed: whether the graph is.
        options: of the scheme.
        licence: the terms of the graph, as its manifest has them; None where they are unknown.
        inputs: the files that were read.
        counts: what they held.
        rows: file of the split → rows.
        shortfalls: groups of negatives that are too few.
    """

    scheme: str
    directed: bool
    options: Mapping[str, Any]
    licence: Mapping[str, Any] | None
    inputs: Mapping[str, Path]
    counts: InputCounts
    rows: Mapping[str, int]
    shortfalls: Sequence[Shortfall]


def _rows(part: str, *, positive: bool) -> str:
    return f"""
        SELECT head.name, relation.name, tail.name, score, {positive:d}, source
        FROM {PART_ROWS} {NAMES} WHERE part = '{part}' AND positive = {positive} ORDER BY h, r, t
    """


def _nodes(condition: str) -> str:
    rows = f"FROM {PART_ROWS} WHERE {condition}"
    return f"""
        SELECT node.name, kind.name FROM node LEFT JOIN kind ON kind.id = node.kind
        WHERE node.id IN (SELECT h {rows} UNION SELECT t {rows}) ORDER BY node.id
    """


def _unseen(part: str) -> str:
    rows = f"FROM removed WHERE part = '{part}' AND starts_with(reason, 'unseen_node:')"
    return f"""
        SELECT name FROM node ANTI JOIN seen_node USING (id)
        WHERE id IN (SELECT h {rows} UNION SELECT t {rows}) ORDER BY id
    """


def split_files(*, train_validation: bool = True, test: bool = True) -> dict[str, str]:
    """The query of every file of a split, by name; the flags leave out files of negatives."""
    files = {
        "train_sample.csv": _rows("train", positive=True),
        "val_sample.csv": _rows("validation", positive=True),
        "test_sample.csv": _rows("test", positive=True),
        "train_val_nodes.csv": _nodes("part <> 'test'"),
        "test_nodes.csv": _nodes("part = 'test'"),
        "removed_test_nodes.csv": _unseen("test"),
        "removed_val_nodes.csv": _unseen("validation"),
        "removed_edges.tsv": REMOVED_ROWS,
    }
    if train_validation:
        files["negative_train_sample.csv"] = _rows("train", positive=False)
        files["negative_val_sample.csv"] = _rows("validation", positive=False)
    if test:
        files["negative_test_sample.csv"] = _rows("test", positive=False)
    return files


def is_split_file(name: str) -> bool:
    """Whether a file of this name is one that a split consists of."""
    return name in {MANIFEST_FILE, LICENCE_FILE, CROISSANT_FILE} or name in split_files()


def write_parts(connection: DuckDBPyConnection, folder: Path, files: Mapping[str, str]) -> dict[str, int]:
    """Write the files: tab-separated, no header, LF, sorted by bytes; returns the rows of each."""
    return {name: write_tsv(connection, query, folder / name) for name, query in sorted(files.items())}


def write_terms(folder: Path, edges: Path) -> None:
    """Write `LICENSE.txt`: the one that lies beside the edges, or a text that says that the terms are unknown."""
    beside = edges.with_name(LICENCE_FILE)
    if beside.is_file():
        shutil.copyfile(beside, folder / LICENCE_FILE)
    else:
        write_text(folder / LICENCE_FILE, unknown_terms_text())


def write_manifest(
    connection: DuckDBPyConnection, folder: Path, outcome: Outcome, *, read_notes: Sequence[str], note: Note
) -> dict[str, Any]:
    """Write `croissant.json` and `manifest.json` beside the files of a split; returns what the manifest holds.

    `relations` has, for every relation of the edges file, its distinct positives in the input, in each part
    and among the removed; its share of all positives of each part (0 to 1); and how many negatives it lacks.

    Args:
        connection: the database with the tables of the split.
        folder: holds all other files already, `LICENSE.txt` among them.
        outcome: what else to tell.
        read_notes: what was noted while the input was read.
        note: called with what there is to note of the split itself.
    """
    relations = _relations(connection, outcome.shortfalls)
    counts = _counts(connection, outcome.counts)
    notes = _notes(counts, relations, outcome.shortfalls)
    for line in notes:
        note(line)
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "version": version("openbiolink"),
        "scheme": outcome.scheme,
        "directed": outcome.directed,
        "options": dict(outcome.options),
        "licence": outcome.licence,
        "inputs": {name: {"file": path.name, **_fingerprint(path)} for name, path in outcome.inputs.items()},
        "outputs": {
            **{name: {**_fingerprint(folder / name), "rows": n} for name, n in outcome.rows.items()},
            LICENCE_FILE: _fingerprint(folder / LICENCE_FILE),
        },
        "counts": counts,
        "relations": relations,
        "notes": [*read_notes, *notes],
    }
    write_json(folder / CROISSANT_FILE, croissant(manifest))
    manifest["outputs"][CROISSANT_FILE] = _fingerprint(folder / CROISSANT_FILE)
    write_json(folder / MANIFEST_FILE, manifest)
    return manifest


def _fingerprint(path: Path) -> dict[str, Any]:
    return {"sha256": sha256_of(path), "bytes": path.stat().st_size}


def _counts(connection: DuckDBPyConnection, counts: InputCounts) -> dict[str, Any]:
    parts = {part: {"positive": 0, "negative": 0} for part in PARTS}
    for part, positive, number in connection.execute(
        f"SELECT part, positive, count(*) FROM {PART_ROWS} GROUP BY part, positive"
    ).fetchall():
        parts[part]["positive" if positive else "negative"] = number
    removed: dict[str, dict[str, int]] = {"positive": {}, "negative": {}}
    for positive, reason, number in connection.execute("""
        SELECT positive, split_part(reason, ':', 1) AS reason_kind, count(*) FROM removed
        GROUP BY positive, reason_kind ORDER BY reason_kind
    """).fetchall():
        removed["positive" if positive else "negative"][reason] = number
    return {"input": asdict(counts), "parts": parts, "removed": removed}


def _relations(connection: DuckDBPyConnection, shortfalls: Sequence[Shortfall]) -> dict[str, Any]:
    rows = connection.execute(f"""
        WITH place AS (SELECT r, 'input' AS part FROM positive
                       UNION ALL SELECT r, part FROM {PART_ROWS} WHERE positive
                       UNION ALL SELECT r, 'removed' FROM removed WHERE positive)
        SELECT name, {", ".join(f"count_if(part = '{part}')" for part in ("input", *PARTS, "removed"))}
        FROM place JOIN relation ON relation.id = r GROUP BY name ORDER BY name
    """).fetchall()
    sums = [sum(column) for column in list(zip(*rows, strict=True))[2:5]]
    missing = {name: 0 for name, *_ in rows}
    for short in shortfalls:
        missing[short.relation] += short.wanted - short.found
    return {
        name: {
            "input": entered,
            **dict(zip(PARTS, numbers, strict=True)),
            "removed": removed,
            "share": {
                part: round(number / total, 6) if total else 0.0
                for part, number, total in zip(PARTS, numbers, sums, strict=True)
            },
            "shortfall": missing[name],
        }
        for name, entered, *numbers, removed in rows
    }


def _notes(counts: Mapping[str, Any], relations: Mapping[str, Any], shortfalls: Sequence[Shortfall]) -> list[str]:
    merged = [
        f"{number} repeated {what.removesuffix('_duplicates').replace('_', ' ')} rows were merged"
        for what, number in counts["input"].items()
        if what.endswith("_duplicates") and number
    ]
    removed = [
        f"{number} {sign} edges are in no part: {reason} (listed in removed_edges.tsv)"
        for sign, reasons in counts["removed"].items()
        for reason, number in reasons.items()
    ]
    short = [
        f"{group.relation} ({group.head}, {group.tail}): {group.found} of {group.wanted} negatives, "
        f"{group.wanted - group.found} short, since no more pairs are free"
        for group in shortfalls
    ]
    empty = [f"the {part} set is empty" for part in PARTS if not counts["parts"][part]["positive"]]
    return [*merged, *removed, *short, *empty, *_note_untested(counts, relations)]


def _note_untested(counts: Mapping[str, Any], relations: Mapping[str, Any]) -> list[str]:
    names = [name for name, entry in relations.items() if not entry["test"]]
    if not names or not counts["parts"]["test"]["positive"]:
        return []
    more = f" and {len(names) - NAMED} more (see {MANIFEST_FILE})" if len(names) > NAMED else ""
    return [f"{len(names)} relations have no test edge: {', '.join(names[:NAMED])}{more}"]
