"""From a graph to a split, whatever the scheme: read, add negatives, assign, clean up, write."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from openbiolink.croissant import MANIFEST_FILE
from openbiolink.engines import open_engine
from openbiolink.errors import InputError
from openbiolink.files import without_folders
from openbiolink.places import written_folder
from openbiolink.progress import silent
from openbiolink.schema import schema_of
from openbiolink.split.changes import compare_slices, describe_changes, put_changes, tell_changes
from openbiolink.split.graph_files import GraphFiles, hash_of_edge, read_direction, read_graph, read_licence
from openbiolink.split.leakage import clean_up, keep_rows, write_rules
from openbiolink.split.schemes import NAMES, RandomSplit, number_of_folds
from openbiolink.split.time import join_slices
from openbiolink.split.write import (
    Outcome,
    describe,
    is_split_file,
    split_files,
    write_manifests,
    write_tables,
    write_terms,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from openbiolink.engines import Engine, Format
    from openbiolink.files import Note
    from openbiolink.progress import Progress
    from openbiolink.schema import Schema
    from openbiolink.split.negatives import Shortfall
    from openbiolink.split.schemes import Scheme
    from openbiolink.split.write import Variant

STEPS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A split on disk.

    Attributes:
        folder: where it is.
        files: path of every file, by name; those of a fold by `fold_0/…`.
        manifest: the content of `manifest.json`.
    """

    folder: Path
    files: Mapping[str, Path]
    manifest: Mapping[str, Any]


def random_split(
    edges: Path,
    nodes: Path,
    target: Path,
    *,
    tn_edges: Path | None,
    options: RandomSplit,
    overwrite: bool = False,
    progress: Progress = silent,
    note: Note,
) -> Split:
    """Split a graph at random: `split_graph` with the three files of one graph."""
    graph = GraphFiles(edges=edges, nodes=nodes, tn_edges=tn_edges)
    return split_graph(graph, target, options, overwrite=overwrite, progress=progress, note=note)


def split_graph(
    graph: GraphFiles,
    target: Path,
    scheme: Scheme,
    *,
    before: GraphFiles | None = None,
    schema: Path | None = None,
    engine: str = "embedded",
    output_format: Format = "tsv",
    overwrite: bool = False,
    progress: Progress = silent,
    note: Note,
) -> Split:
    """Split a graph by a scheme, without leakage, into the folder `target`, which appears only when it is whole.

    Same files and options, same bytes, whatever the order of rows, the number of threads and the engine.

    Args:
        graph: its files: edges (id, relation, id, and perhaps score and source; tab-separated without a header, may
            be packed, or Parquet), nodes (id, type, perhaps a name), true negatives (as edges).
        target: the folder to write.
        scheme: which edge goes where.
        before: the earlier slice of the graph, for a split by time, and for nothing else; `graph` is the later one.
        schema: a TOML with what relations imply; by default `schema.toml` beside the edges, else the built-in one.
        engine: `embedded` or `spark`.
        output_format: `tsv` or `parquet`, of the tables.
        overwrite: whether `target` may be replaced.
        progress: is told how far the work is.
        note: called with one line for everything that was merged, removed or could not be had.

    Raises:
        InputError: `target` exists and `overwrite` is not set, an input file is malformed, or an earlier slice is
            missing or of no use.
    """
    _check_slices(scheme, before)
    directed = read_direction(graph.edges, directed=scheme.directed)
    known, schema_file = schema_of(graph.edges, schema)
    inputs = _inputs(graph, scheme, before=before, schema=schema_file)
    notes: list[str] = []
    with written_folder(target, owned=is_split_file, replace=overwrite) as folder, open_engine(engine) as tables:
        progress("split", 0, STEPS)
        keep = _keeper(notes, inputs, note)
        counts = read_graph(tables, graph, before=before, schema=known, directed=directed, note=keep)
        changes = None if before is None else _compare(tables, graph, before, schema=known, note=keep)
        write_rules(tables, known, directed=directed)
        _list_facts(tables)
        scheme.look_up(tables)
        progress("split", 1, STEPS)
        shortfalls = _add_negatives(tables, scheme, progress)
        progress("split", 2, STEPS)
        _assign(tables, scheme)
        outcome = Outcome(
            scheme=scheme.name,
            unseen_by_design=bool(tables.rows("SELECT 1 FROM held_node LIMIT 1")),
            directed=directed,
            options={name: getattr(value, "name", value) for name, value in asdict(scheme).items()},
            licence=read_licence(graph.edges),
            inputs=inputs,
            counts=counts,
            shortfalls=shortfalls,
            read_notes=notes,
            changes=changes,
        )
        variants = _write_variants(tables, folder, scheme, outcome, output_format)
        for line in scheme.notes(variants[0].details):
            keep(line)
        write_terms(folder, graph.edges, earlier=None if before is None else before.edges)
        manifest = write_manifests(folder, outcome, variants, note=note)
        progress("split", STEPS, STEPS)
    return Split(
        folder=target, files={name: target / name for name in (*manifest["outputs"], MANIFEST_FILE)}, manifest=manifest
    )


def _inputs(graph: GraphFiles, scheme: Scheme, *, before: GraphFiles | None, schema: Path | None) -> dict[str, Path]:
    """Every file that is read, by what it is called in the manifest."""
    inputs = graph.inputs()
    if before is not None:
        inputs |= {f"tmo_{name}": path for name, path in before.inputs().items()}
    if schema is not None:
        inputs["schema"] = schema
    return inputs | scheme.inputs()


def _keeper(notes: list[str], inputs: Mapping[str, Path], note: Note) -> Note:
    """Passes notes on and keeps them for the manifest, which names files without their folders."""

    def keep(line: str) -> None:
        note(line)
        notes.append(without_folders(line, inputs.values()))

    return keep


def _check_slices(scheme: Scheme, before: GraphFiles | None) -> None:
    """Refuse a split by time of one slice, and any other of two."""
    if scheme.earlier_slice and before is None:
        raise InputError(
            f"split {scheme.name}: needs an earlier slice of the graph; give before (--tmo-edges, --tmo-nodes, "
            "--tmo-tn-edges)"
        )
    if before is not None and not scheme.earlier_slice:
        raise InputError(f"split {scheme.name}: takes no earlier slice ({before.edges}); leave before out, or use time")


def _compare(engine: Engine, graph: GraphFiles, before: GraphFiles, *, schema: Schema, note: Note) -> Mapping[str, Any]:
    """Tell what changed between two slices, make `change` of it, and join their positives."""
    changes = compare_slices(engine, graph, before, schema=schema)
    put_changes(engine, changes)
    for line in tell_changes(changes):
        note(line)
    join_slices(engine)
    return describe_changes(changes)


def _list_facts(engine: Engine) -> None:
    """Make `removed`, rows that are in no part; `fact`, positives that can be split; `known`, their triples."""
    engine.make(
        "removed",
        """SELECT h, r, t, true AS positive, score, source, CAST(NULL AS STRING) AS part, 'self_loop' AS reason
           FROM positive WHERE h = t""",
    )
    engine.view("fact", "SELECT h, r, t, score, source FROM positive WHERE h <> t")
    engine.view("known", "SELECT h, r, t FROM positive WHERE h <> t")


def _add_negatives(engine: Engine, scheme: Scheme, progress: Progress) -> tuple[Shortfall, ...]:
    """Make `edge`, facts and negatives; returns the groups with too few of these."""
    shortfalls = scheme.add_negatives(engine, progress)
    engine.view(
        "edge",
        """SELECT h, r, t, true AS positive, score, source, true AS curated FROM fact
           UNION ALL SELECT h, r, t, false, score, source, curated FROM negative""",
    )
    return shortfalls


def _assign(engine: Engine, scheme: Scheme) -> None:
    """Make `assigned` and move what the scheme leaves out, and negatives that nobody wants, to `removed`."""
    engine.make("held_node", "SELECT id FROM node WHERE false")
    scheme.assign(engine)
    unwanted = f"""NOT positive AND NOT CASE WHEN part = 'test' THEN {scheme.negatives_test}
                                             ELSE {scheme.negatives_train_validation} END"""
    engine.append(
        "removed",
        f"""
        SELECT h, r, t, positive, score, source, part, coalesce(reason, 'negatives_off')
        FROM assigned WHERE part IS NULL AND (positive OR curated) OR curated AND {unwanted}
        """,
    )
    engine.make("unwanted", f"SELECT h, r, t, positive FROM assigned WHERE part IS NULL OR {unwanted}")
    if engine.rows("SELECT count(*) FROM unwanted")[0][0]:
        engine.make("assigned", "SELECT * FROM assigned ANTI JOIN unwanted USING (h, r, t, positive)")
    engine.drop("unwanted")


def _variants(engine: Engine, scheme: Scheme) -> Iterator[tuple[str, str]]:
    """The splits to write: the folder inside the target, and SQL for the part of a row of `assigned`."""
    yield "", "part"
    if isinstance(scheme, RandomSplit) and scheme.crossval is not None:
        folds = number_of_folds(scheme.crossval)
        engine.make(
            "assigned",
            f"""SELECT edge.h, edge.r, edge.t, positive, score, source, part,
                    CAST({hash_of_edge(f"{scheme.seed} fold")} % {folds} AS INTEGER) AS fold
                FROM assigned edge {NAMES}""",
        )
        for fold in range(folds):
            yield f"fold_{fold}", f"CASE WHEN part = 'train' AND fold = {fold} THEN 'validation' ELSE part END"


def _write_variants(
    engine: Engine, folder: Path, scheme: Scheme, outcome: Outcome, output_format: Format
) -> list[Variant]:
    """Clean up and write the tables of the split, and each fold on its own."""
    files = split_files(
        train_validation=scheme.negatives_train_validation,
        test=scheme.negatives_test,
        inference=scheme.inference,
        slices=scheme.earlier_slice,
        output_format=output_format,
    )
    engine.make("left_out", "SELECT * FROM removed")
    variants = []
    for name, part in _variants(engine, scheme):
        engine.make("removed", "SELECT * FROM left_out")
        keep_rows(engine, f"SELECT h, r, t, positive, score, source, {part} AS part FROM assigned")
        leaks = clean_up(engine, unseen_by_design=outcome.unseen_by_design)
        rows = write_tables(engine, folder / name, files)
        details = {} if name else scheme.details(engine)
        variants.append(describe(engine, outcome, name=name, rows=rows, leaks=leaks, details=details))
    return variants
