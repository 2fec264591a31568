"""Stage 2: from source files to a graph of nodes, edges and true negatives, every row accounted for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from openbiolink.errors import InputError
from openbiolink.files import replaced_folder, without_folders
from openbiolink.graph.build import Build, build_graph
from openbiolink.graph.importing import ImportCounts, import_edges
from openbiolink.graph.ledger import READ
from openbiolink.graph.manifest import Provenance
from openbiolink.graph.plan import GraphOptions, plan_graph, wanted_sources
from openbiolink.graph.write import GRAPH_FILES, owned_files, write_graph
from openbiolink.graph.writers import OutputOptions, refuse_names
from openbiolink.progress import silent
from openbiolink.tables import open_database

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from openbiolink.progress import Progress
    from openbiolink.sources.declarations import Catalogue

__all__ = [
    "GRAPH_FILES",
    "Graph",
    "GraphOptions",
    "ImportCounts",
    "OutputOptions",
    "generate_graph",
    "import_edges",
    "wanted_sources",
]


MOST_REASONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """A graph on the disk.

    Attributes:
        folder: where its files are.
        manifest: what `manifest.json` holds: options, inputs, outputs, counts, the ledger and notes.
    """

    folder: Path
    manifest: Mapping[str, Any]


def generate_graph(
    catalogue: Catalogue,
    sources: Mapping[str, Path],
    folder: Path,
    *,
    options: GraphOptions | None = None,
    origins: Mapping[str, Mapping[str, str]] | None = None,
    added: Sequence[Path] = (),
    progress: Progress = silent,
) -> Graph:
    """Build the graph of an edition from source files and write it.

    The same inputs and options give the same bytes, whatever the order of rows, the number of threads
    or the machine. Rows are never lost: each is counted under one reason in `ledger.tsv`.

    Args:
        catalogue: the edition, see `sources.catalogue.load_catalogue`.
        sources: source id → file. Relations whose sources are absent are left out, which the manifest says.
        folder: the folder to write; it appears, or replaces an earlier graph, only when everything is there.
        options: what to build; everything by default.
        origins: source id → `url` and `version` of its file, where they are known, for the manifest.
        added: the files that were added to the edition, for the manifest.
        progress: called as the work goes on.

    Raises:
        InputError: a file cannot be used or has another number of rows than expected, nothing can be built, a format
            cannot hold it, or `folder` holds other people's files.
    """
    options = options or GraphOptions()
    plan = plan_graph(catalogue, sources, options)
    refuse_names(options.output, (catalogue.rules[name] for name in plan.rules))
    notes: list[str] = []
    written = replaced_folder(folder, owned=lambda name: name in owned_files(folder))
    with written as fresh, open_database() as (connection, _):
        build = build_graph(
            connection,
            catalogue,
            sources=sources,
            plan=plan,
            options=options,
            note=lambda text: notes.append(without_folders(text, sources.values())),
            progress=progress,
        )
        if not options.allow_empty:
            _check_edges(build)
        progress("write files", 0, 1)
        provenance = Provenance(
            catalogue=catalogue, plan=plan, options=options, build=build, origins=origins or {}, added=added
        )
        manifest = write_graph(connection, fresh, provenance, notes)
        progress("write files", 1, 1)
    return Graph(folder=folder, manifest=manifest)


def _check_edges(build: Build) -> None:
    """Refuse a graph without any edge, with the reasons that took the most rows.

    Raises:
        InputError: there is no edge.
    """
    if any(entry.edges for entry in build.ledger):
        return
    reasons: Counter[str] = Counter()
    for entry in build.ledger:
        reasons[entry.reason] += entry.rows
    read = reasons.pop(READ)
    most = ", ".join(f"{count:,} {reason}" for reason, count in (+reasons).most_common(MOST_REASONS)) or "none at all"
    raise InputError(
        f"none of the {read:,} rows read gives an edge ({most}); nothing was written, an earlier graph is as it was; "
        "check that the source files belong together and to this edition"
    )
