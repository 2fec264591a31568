"""The audit of a split: leaks, redundancy and floors of any set of triple files, each with what a model gains by it.

folder or files  →  find_parts  →  AuditFiles  →  audit_files  →  Audit
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from openbiolink.audit.context import PARTS, Context, found_rows
from openbiolink.audit.finding import Audit, Example, Finding
from openbiolink.audit.leaks import LEAKS
from openbiolink.audit.read import AuditFiles, count_triples, find_parts, read_parts
from openbiolink.dataset import ignore
from openbiolink.engines import open_engine
from openbiolink.errors import InputError
from openbiolink.files import sha256_of, without_folders
from openbiolink.progress import silent

if TYPE_CHECKING:
    from pathlib import Path

    from openbiolink.engines import Engine
    from openbiolink.files import Note
    from openbiolink.progress import Progress
    from openbiolink.schema import Schema

__all__ = ["Audit", "AuditFiles", "Example", "Finding", "audit_files", "find_parts", "leak_counts"]


def audit_files(
    files: AuditFiles,
    *,
    schema: Schema,
    engine_name: str = "embedded",
    threshold: float = 0.8,
    progress: Progress = silent,
    note: Note = ignore,
) -> Audit:
    """Look for everything in a split that lets a model score without having learnt anything.

    Args:
        files: the parts of the split, as `find_parts` finds them.
        schema: what is known of the relations; those it does not know are directed and stand for themselves.
        engine_name: `embedded` or `spark`.
        threshold: share of pairs from which on one relation is said to copy, contain or fill something; over 0, at
            most 1.
        progress: is told how far the work is.
        note: called with one line for everything that was skipped or is odd.

    Raises:
        InputError: the threshold is out of its range, or a file is absent, damaged or no file of triples.
    """
    from openbiolink.audit.checks import CHECKS
    from openbiolink.audit.relations import compare_relations
    from openbiolink.audit.rules import make_queries

    if not 0 < threshold <= 1:
        raise InputError(f"threshold is {threshold}, expected a share over 0 and at most 1, such as 0.8")
    notes: list[str] = []
    paths = _paths(files)

    def tell(line: str) -> None:
        notes.append(without_folders(line, paths.values()))
        note(line)

    with open_engine(engine_name) as engine:
        steps = len(CHECKS) + 2
        progress("audit", 0, steps)
        read_parts(engine, files, schema=schema, note=tell)
        progress("audit", 1, steps)
        rows = _count_rows(engine)
        context = Context(
            threshold=threshold,
            test_rows=rows["test"]["positive"],
            transitive=tuple(
                number
                for number, name in engine.rows("SELECT id, name FROM relation ORDER BY id")
                if schema.relation(name).transitive
            ),
            inductive=files.inductive,
        )
        make_queries(engine)
        compare_relations(engine, context)
        progress("audit", 2, steps)
        findings = []
        for number, check in enumerate(CHECKS, start=3):
            findings.append(check(engine, context))
            progress("audit", number, steps)
        sizes = engine.rows("SELECT count(*), (SELECT count(DISTINCT r) FROM triple) FROM entity")[0]
    return Audit(
        checks=tuple(findings),
        rows=rows,
        entities=sizes[0],
        relations=sizes[1],
        inputs={name: {"file": path.name, "sha256": sha256_of(path)} for name, path in paths.items()},
        notes=tuple(notes),
    )


def leak_counts(engine: Engine) -> dict[str, int]:
    """Check → rows that it finds, of the checks on leaks that need no more than rows and the declared schema.

    Reads `row` and `implies` as `openbiolink.audit.context` describes them. Makes and drops all others that it needs:
    `triple`, `entity`, `mixed`, `collision`, `seen`, `across`, and one named `affected_` and the check for each.
    """
    count_triples(engine)
    counts = {}
    for check, list_affected in LEAKS.items():
        list_affected(engine)
        counts[check] = sum(found_rows(engine, f"affected_{check}").values())
        engine.drop(f"affected_{check}")
    engine.drop("triple", "entity", "mixed", "collision", "seen", "across")
    return counts


def _count_rows(engine: Engine) -> dict[str, dict[str, int]]:
    counts = {part: {"positive": 0, "negative": 0} for part in PARTS}
    for part, positive, rows in engine.rows("SELECT part, positive, count(*) FROM row GROUP BY part, positive"):
        counts[part]["positive" if positive else "negative"] = rows
    return {part: numbers for part, numbers in counts.items() if part != "inference" or any(numbers.values())}


def _paths(files: AuditFiles) -> dict[str, Path]:
    """Every file that is read, by what a report calls it."""
    return {name: path for name, _, _, path in files.named()} | ({} if files.nodes is None else {"nodes": files.nodes})
