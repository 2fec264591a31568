"""From a graph to a split, whatever the scheme: read, add negatives, assign, clean up, write.

A scheme decides only which part an edge belongs to; all else is shared. Another scheme is another function
`assign`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from openbiolink.croissant import MANIFEST_FILE
from openbiolink.errors import InputError
from openbiolink.files import replaced_folder
from openbiolink.split.graph_files import read_direction, read_graph, read_licence
from openbiolink.split.leakage import drop_implied_negatives, drop_super_relations, drop_unseen, write_rules
from openbiolink.split.negatives import make_negatives
from openbiolink.split.write import (
    Outcome,
    is_split_file,
    split_files,
    write_manifest,
    write_parts,
    write_terms,
)
from openbiolink.tables import open_database

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from openbiolink.files import Note
    from openbiolink.progress import Progress
    from openbiolink.schema import Schema
    from openbiolink.split.graph_files import GraphFiles

STEPS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """One way to split.

    Attributes:
        name: as on the command line.
        options: what the manifest says of it.
        seed: of the choice of negatives.
        assign: makes the table `assigned` from `edge` (h, r, t, positive, score, source, curated): the same
            rows and columns and `part`: train, validation or test. An edge and its reverse of the same
            relation must get the same part.
        directed: as the user says, None to look into the manifest of the graph.
        negatives_train_validation: whether training and validation get negatives.
        negatives_test: whether the test set gets negatives.
    """

    name: str
    options: Mapping[str, Any]
    seed: int
    assign: Callable[[DuckDBPyConnection], None]
    directed: bool | None
    negatives_train_validation: bool
    negatives_test: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A split on disk.

    Attributes:
        folder: where it is.
        files: path of every file, by name.
        manifest: the content of `manifest.json`.
    """

    folder: Path
    files: Mapping[str, Path]
    manifest: Mapping[str, Any]


def build_split(
    graph: GraphFiles,
    target: Path,
    scheme: Scheme,
    *,
    schema: Schema,
    overwrite: bool,
    progress: Progress,
    note: Note,
) -> Split:
    """Split a graph by a scheme into the folder `target`, which appears only when it is whole.

    Raises:
        InputError: `target` exists and `overwrite` is not set, or an input file is malformed.
    """
    if target.exists() and not overwrite:
        raise InputError(f"{target}: exists already; say --overwrite to replace it, or choose another place")
    directed = read_direction(graph.edges, directed=scheme.directed)
    files = split_files(train_validation=scheme.negatives_train_validation, test=scheme.negatives_test)
    notes: list[str] = []
    with replaced_folder(target, owned=is_split_file, replace=overwrite) as folder, open_database() as (connection, _):
        progress("split", 0, STEPS)
        keep = _keeper(notes, graph, note)
        counts = read_graph(connection, graph, schema=schema, directed=directed, note=keep)
        write_rules(connection, schema, directed=directed)
        _start_removed(connection)
        progress("split", 1, STEPS)
        wants_negatives = scheme.negatives_train_validation or scheme.negatives_test
        shortfalls = make_negatives(connection, seed=scheme.seed, draw=wants_negatives, progress=progress)
        progress("split", 2, STEPS)
        _assign_parts(connection, scheme)
        drop_unseen(connection)
        drop_super_relations(connection)
        drop_implied_negatives(connection)
        progress("split", 3, STEPS)
        rows = write_parts(connection, folder, files)
        write_terms(folder, graph.edges)
        outcome = Outcome(
            scheme=scheme.name,
            directed=directed,
            options=scheme.options,
            licence=read_licence(graph.edges),
            inputs=graph.inputs(),
            counts=counts,
            rows=rows,
            shortfalls=shortfalls,
        )
        manifest = write_manifest(connection, folder, outcome, read_notes=notes, note=note)
        progress("split", STEPS, STEPS)
    return Split(
        folder=target, files={name: target / name for name in (*manifest["outputs"], MANIFEST_FILE)}, manifest=manifest
    )


def _keeper(notes: list[str], graph: GraphFiles, note: Note) -> Note:
    """Passes notes on and keeps them for the manifest, which names files without their folders."""

    def keep(line: str) -> None:
        note(line)
        for path in graph.inputs().values():
            line = line.replace(str(path), path.name)
        notes.append(line)

    return keep


def _start_removed(connection: DuckDBPyConnection) -> None:
    """Make `fact`, the positives that can be split, and `removed`, the rows that are in no part."""
    connection.execute("""
        CREATE TABLE removed (h INTEGER, r INTEGER, t INTEGER, positive BOOLEAN,
                              score VARCHAR, source VARCHAR, part VARCHAR, reason VARCHAR);
        INSERT INTO removed SELECT h, r, t, true, score, source, NULL, 'self_loop' FROM positive WHERE h = t;
        CREATE VIEW fact AS FROM positive WHERE h <> t
    """)


def _assign_parts(connection: DuckDBPyConnection, scheme: Scheme) -> None:
    """Make `train` and `held` of `fact` and `negative`, without the negatives that nobody wants."""
    connection.execute("""
        CREATE TABLE edge AS
        SELECT h, r, t, true AS positive, score, source, true AS curated FROM fact
        UNION ALL SELECT h, r, t, false, score, source, curated FROM negative
    """)
    scheme.assign(connection)
    wanted = f"""(positive OR CASE WHEN part = 'test' THEN {scheme.negatives_test}
                                   ELSE {scheme.negatives_train_validation} END)"""
    connection.execute(f"""
        CREATE TABLE train AS SELECT * EXCLUDE (curated, part) FROM assigned
            WHERE part = 'train' AND {wanted};
        CREATE TABLE held AS SELECT * EXCLUDE (curated) FROM assigned
            WHERE part <> 'train' AND {wanted};
        INSERT INTO removed SELECT h, r, t, positive, score, source, part, 'negatives_off'
            FROM assigned WHERE curated AND NOT {wanted};
        DROP TABLE edge; DROP TABLE assigned
    """)
