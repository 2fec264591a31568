"""The files of a split, and the manifest that says what is in them and how they came about."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from importlib.metadata import version
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from openbiolink.croissant import CHANGE_COLUMNS, CROISSANT_FILE, LICENCE_FILE, MANIFEST_FILE, croissant
from openbiolink.files import parquet_parts, sha256_of, write_json, write_text
from openbiolink.graph.licence import unknown_terms_text
from openbiolink.schema import FILE_NAME as SCHEMA_FILE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from openbiolink.engines import Engine, Format
    from openbiolink.files import Note
    from openbiolink.split.graph_files import InputCounts
    from openbiolink.split.negatives import Shortfall

FORMAT = "openbiolink-split/1"
PARTS = ("train", "validation", "test")
INFERENCE = "inference"
NAMED = 20
CHANGES_FILE = "changes.tsv"
SAMPLE_FILE = "_sample."
NUMBERED = MappingProxyType({"head": "node", "relation": "relation", "tail": "node"})
FOLD = re.compile(r"fold_[0-9]+")

NAMES = """JOIN node head ON head.id = h JOIN relation ON relation.id = r JOIN node tail ON tail.id = t"""
REMOVED_ROWS = f"""
    SELECT head.name AS head, relation.name AS relation, tail.name AS tail, score, CAST(positive AS INTEGER) AS value,
        source, reason
    FROM removed {NAMES} ORDER BY h, r, t, score, positive, source, reason
"""

VANISHED_ROWS = f"""
    SELECT head.name AS head, relation.name AS relation, tail.name AS tail, score, value, source
    FROM (SELECT h, r, t, score, 1 AS value, source FROM old_positive ANTI JOIN now_positive USING (h, r, t)
          UNION ALL
          SELECT h, r, t, score, 0, source FROM old_true_negative ANTI JOIN now_true_negative USING (h, r, t)) vanished
    {NAMES} ORDER BY h, r, t, score, value, source
"""
CHANGES = f"SELECT {', '.join(CHANGE_COLUMNS)} FROM change ORDER BY what, name, source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the manifest tells and the tables do not hold.

    Attributes:
        scheme: the name of the scheme.
        unseen_by_design: whether it holds nodes out that training may lack.
        directed: whether the graph is.
        options: of the scheme.
        licence: the terms of the graph, as its manifest has them; None where they are unknown.
        inputs: the files that were read.
        counts: what they held.
        shortfalls: groups of negatives that are too few.
        read_notes: what was noted while the input was read.
        changes: between an earlier slice and the present one; None where there is one slice only.
    """

    scheme: str
    unseen_by_design: bool
    directed: bool
    options: Mapping[str, Any]
    licence: Mapping[str, Any] | None
    inputs: Mapping[str, Path]
    counts: InputCounts
    shortfalls: Sequence[Shortfall]
    read_notes: Sequence[str]
    changes: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One written split: the main one, or a fold.

    Attributes:
        name: the folder inside the target; empty for the main split.
        rows: file → rows.
        counts: rows of the input, of the parts and of what was removed, by reason.
        relations: the same per relation.
        leaks: check of the audit → rows that it found in the end.
        details: what the scheme tells of the main split; empty for a fold.
    """

    name: str
    rows: Mapping[str, int]
    counts: Mapping[str, Any]
    relations: Mapping[str, Any]
    leaks: Mapping[str, int]
    details: Mapping[str, Any]


def _rows(part: str, *, positive: bool) -> str:
    """Rows of a sample file, with numbers for names."""
    return f"""
        SELECT h AS head, r AS relation, t AS tail, score, {positive:d} AS value, source
        FROM kept WHERE part = '{part}' AND positive = {positive}
    """


def _nodes(condition: str) -> str:
    rows = f"FROM kept WHERE {condition}"
    return f"""
        SELECT node.name AS id, kind.name AS type
        FROM node JOIN (SELECT h AS id {rows} UNION SELECT t {rows}) used ON used.id = node.id
        LEFT JOIN kind ON kind.id = node.kind ORDER BY node.id
    """


def _unseen(part: str) -> str:
    rows = f"FROM removed WHERE part = '{part}' AND substr(reason, 1, 12) = 'unseen_node:'"
    return f"""
        SELECT name AS id FROM (SELECT node.id, name FROM node JOIN (SELECT h AS id {rows} UNION SELECT t {rows}) lost
                          ON lost.id = node.id) unseen ANTI JOIN known_node USING (id) ORDER BY unseen.id
    """


def split_files(
    *,
    train_validation: bool = True,
    test: bool = True,
    inference: bool = False,
    slices: bool = False,
    output_format: Format = "tsv",
) -> dict[str, str]:
    """The query of every table of a split, by file name; the flags leave out or add files."""
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
    if inference:
        files["inference_sample.csv"] = _rows("inference", positive=True)
    if train_validation:
        files["negative_train_sample.csv"] = _rows("train", positive=False)
        files["negative_val_sample.csv"] = _rows("validation", positive=False)
        if inference:
            files["negative_inference_sample.csv"] = _rows("inference", positive=False)
    if test:
        files["negative_test_sample.csv"] = _rows("test", positive=False)
    if slices:
        files |= {"vanished_edges.csv": VANISHED_ROWS, CHANGES_FILE: CHANGES}
    if output_format == "parquet":
        files = {f"{name.rpartition('.')[0]}.parquet": query for name, query in files.items()}
    return files


def is_split_file(name: str) -> bool:
    """Whether a file or folder of this name is one that a split consists of."""
    stem = name.rpartition(".")[0]
    tables = {table.rpartition(".")[0] for table in split_files(inference=True, slices=True)}
    others = {MANIFEST_FILE, LICENCE_FILE, CROISSANT_FILE, SCHEMA_FILE}
    return name in others or FOLD.fullmatch(name) is not None or stem in tables


def write_tables(engine: Engine, folder: Path, files: Mapping[str, str]) -> dict[str, int]:
    """Write the tables of one split: tab-separated, LF, sorted by bytes; or Parquet with the same rows.

    No table has a header, but that of changes.

    Returns:
        File → rows.
    """
    folder.mkdir(exist_ok=True)
    rows = {
        file: engine.write(query, folder / file, numbered=NUMBERED if SAMPLE_FILE in file else None)
        for file, query in sorted(files.items())
    }
    if CHANGES_FILE in files:
        path = folder / CHANGES_FILE
        write_text(path, "\t".join(CHANGE_COLUMNS) + "\n" + path.read_text(encoding="utf-8"))
    return rows


def describe(
    engine: Engine,
    outcome: Outcome,
    *,
    name: str,
    rows: Mapping[str, int],
    leaks: Mapping[str, int],
    details: Mapping[str, Any],
) -> Variant:
    """What the tables of one split hold."""
    return Variant(
        name=name,
        rows=rows,
        counts=_counts(engine, outcome.counts),
        relations=_relations(engine, outcome.shortfalls),
        leaks=dict(leaks),
        details=details,
    )


def write_terms(folder: Path, edges: Path, *, earlier: Path | None = None) -> None:
    """Write `LICENSE.txt`: the one that lies beside the edges, or a text that says that the terms are unknown.

    Where other terms lie beside the edges of an earlier slice, they follow.
    """
    texts = [_terms_of(edges)]
    if earlier is not None and (others := _terms_of(earlier)) not in texts:
        texts += [b"\nThe terms of the earlier slice, which the training set is made of:\n\n", others]
    (folder / LICENCE_FILE).write_bytes(b"".join(texts))


def _terms_of(edges: Path) -> bytes:
    beside = edges.with_name(LICENCE_FILE)
    return beside.read_bytes() if beside.is_file() else unknown_terms_text().encode()


def write_manifests(folder: Path, outcome: Outcome, variants: Sequence[Variant], *, note: Note) -> dict[str, Any]:
    """Write `croissant.json` and `manifest.json` beside the files of a split; returns what the manifest holds.

    `relations` has, for every relation of the edges file, its distinct positives in the input, in each part
    and among the removed; its share of all positives of each part (0 to 1); and how many negatives it lacks.
    `leaks` is what the audit counted in the end, `details` what the scheme tells. `folds` has counts and leaks of every
    fold, `changes` what differs between two slices. Every fold has a manifest of its own, and the schema file if there
    is one, so that each can be audited alone.

    Args:
        folder: holds all other files already, `LICENSE.txt` among them.
        outcome: what else to tell.
        variants: the main split first.
        note: called with what there is to note of the split itself.
    """
    main, *folds = variants
    notes = _notes(main, outcome.shortfalls, folds=bool(folds))
    for line in notes:
        note(line)
    inputs = {name: {"file": path.name, **_fingerprint(path)} for name, path in outcome.inputs.items()}
    extras: dict[str, Any] = {"notes": [*outcome.read_notes, *notes]}
    if outcome.changes is not None:
        extras["changes"] = dict(outcome.changes)
    if folds:
        extras["folds"] = [{"folder": fold.name, "counts": fold.counts, "leaks": fold.leaks} for fold in folds]
    written = dict(main.rows)
    for fold in folds:
        _copy_schema(outcome, folder / fold.name)
        manifest = _manifest(folder / fold.name, outcome, fold, inputs=inputs, rows=fold.rows)
        write_json(folder / fold.name / MANIFEST_FILE, manifest)
        written |= {f"{fold.name}/{name}": number for name, number in fold.rows.items()}
    _copy_schema(outcome, folder)
    manifest = _manifest(folder, outcome, main, inputs=inputs, rows=written) | extras
    write_json(folder / CROISSANT_FILE, croissant(manifest))
    manifest["outputs"][CROISSANT_FILE] = _fingerprint(folder / CROISSANT_FILE)
    write_json(folder / MANIFEST_FILE, manifest)
    return manifest


def _manifest(
    folder: Path, outcome: Outcome, variant: Variant, *, inputs: Mapping[str, Any], rows: Mapping[str, int]
) -> dict[str, Any]:
    """What the manifest of the main split and of a fold have in common."""
    beside = [name for name in (LICENCE_FILE, SCHEMA_FILE) if (folder / name).is_file()]
    return {
        "format": FORMAT,
        "version": version("openbiolink"),
        "scheme": outcome.scheme,
        "unseen_by_design": outcome.unseen_by_design,
        "directed": outcome.directed,
        "options": dict(outcome.options),
        "licence": outcome.licence,
        "inputs": dict(inputs),
        "outputs": {
            **{name: {**_fingerprint(folder / name), "rows": number} for name, number in rows.items()},
            **{name: _fingerprint(folder / name) for name in beside},
        },
        "counts": variant.counts,
        "leaks": variant.leaks,
        "relations": variant.relations,
        "details": dict(variant.details),
    }


def _copy_schema(outcome: Outcome, folder: Path) -> None:
    if "schema" in outcome.inputs:
        (folder / SCHEMA_FILE).write_bytes(outcome.inputs["schema"].read_bytes())


def _fingerprint(path: Path) -> dict[str, Any]:
    """SHA-256 and size of a file, or of the parts of a folder."""
    files = parquet_parts(path) if path.is_dir() else [path]
    return {"sha256": sha256_of(path), "bytes": sum(file.stat().st_size for file in files)}


def _counts(engine: Engine, counts: InputCounts) -> dict[str, Any]:
    parts = {part: {"positive": 0, "negative": 0} for part in PARTS}
    for part, positive, number in engine.rows(
        "SELECT part, positive, count(*) FROM kept GROUP BY part, positive ORDER BY part, positive"
    ):
        parts.setdefault(part, {"positive": 0, "negative": 0})["positive" if positive else "negative"] = number
    removed: dict[str, dict[str, int]] = {"positive": {}, "negative": {}}
    for positive, reason, number in engine.rows("""
        SELECT positive, reason_kind, count(*)
        FROM (SELECT positive, split_part(reason, ':', 1) AS reason_kind FROM removed) kinds
        GROUP BY positive, reason_kind ORDER BY reason_kind
    """):
        removed["positive" if positive else "negative"][reason] = number
    return {"input": asdict(counts), "parts": parts, "removed": removed}


def _relations(engine: Engine, shortfalls: Sequence[Shortfall]) -> dict[str, Any]:
    parts = (*PARTS, INFERENCE) if engine.rows(f"SELECT 1 FROM kept WHERE part = '{INFERENCE}' LIMIT 1") else PARTS
    places = ("input", *parts, "removed")
    numbers = ", ".join(f"coalesce(sum(CASE WHEN part = '{part}' THEN n END), 0)" for part in places)
    rows = engine.rows(f"""
        SELECT name, {numbers}
        FROM (SELECT r, 'input' AS part, count(*) AS n FROM positive GROUP BY r
              UNION ALL SELECT r, part, count(*) FROM kept WHERE positive GROUP BY r, part
              UNION ALL SELECT r, 'removed', count(*) FROM removed WHERE positive GROUP BY r) place
        JOIN relation ON relation.id = r GROUP BY name ORDER BY name
    """)
    rows = [(name, *map(int, counts)) for name, *counts in rows]
    sums = [sum(column) for column in list(zip(*rows, strict=True))[2:-1]]
    missing = {name: 0 for name, *_ in rows}
    for short in shortfalls:
        missing[short.relation] += short.wanted - short.found
    return {
        name: {
            "input": entered,
            **dict(zip(parts, numbers, strict=True)),
            "removed": removed,
            "share": {
                part: round(number / total, 6) if total else 0.0
                for part, number, total in zip(parts, numbers, sums, strict=True)
            },
            "shortfall": missing[name],
        }
        for name, entered, *numbers, removed in rows
    }


def _notes(main: Variant, shortfalls: Sequence[Shortfall], *, folds: bool) -> list[str]:
    counts = main.counts
    listed = next(name for name in main.rows if name.startswith("removed_edges."))
    merged = [
        f"{number} repeated {what.removesuffix('_duplicates').replace('_', ' ')} rows were merged"
        for what, number in counts["input"].items()
        if what.endswith("_duplicates") and number
    ]
    removed = [
        f"{number} {sign} edges are in no part: {reason} (listed in {listed})"
        for sign, reasons in counts["removed"].items()
        for reason, number in reasons.items()
    ]
    short = [group.in_words() for group in shortfalls]
    parts = [part for part in PARTS if part != "validation" or not folds]
    empty = [f"the {part} set is empty" for part in parts if not counts["parts"][part]["positive"]]
    return [*merged, *removed, *short, *empty, *_note_untested(counts, main.relations)]


def _note_untested(counts: Mapping[str, Any], relations: Mapping[str, Any]) -> list[str]:
    names = [name for name, entry in relations.items() if not entry["test"]]
    if not names or not counts["parts"]["test"]["positive"]:
        return []
    more = f" and {len(names) - NAMED} more (see {MANIFEST_FILE})" if len(names) > NAMED else ""
    return [f"{len(names)} relations have no test edge: {', '.join(names[:NAMED])}{more}"]
