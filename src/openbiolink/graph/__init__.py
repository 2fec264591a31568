"""Stage 2: from source files to a graph of nodes, edges and true negatives, every row accounted for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from openbiolink.files import replaced_folder
from openbiolink.graph.build import build_graph
from openbiolink.graph.importing import ImportCounts, import_edges
from openbiolink.graph.plan import GraphOptions, plan_graph, wanted_sources
from openbiolink.graph.write import GRAPH_FILES, is_graph_file, write_graph
from openbiolink.graph.writers import OutputOptions
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
        InputError: a file cannot be used or has another number of rows than expected, nothing can be built, or
            `folder` holds other people's files.
    """
    options = options or GraphOptions()
    plan = plan_graph(catalogue, sources, options)
    notes: list[str] = []
    with replaced_folder(folder, owned=is_graph_file) as fresh, open_database() as (connection, _):
        build = build_graph(
            connection,
            catalogue,
            sources=sources,
            plan=plan,
            options=options,
            note=lambda text: notes.append(_without_folders(text, sources)),
            progress=progress,
        )
        progress("write files", 0, 1)
        manifest = write_graph(
            connection,
            fresh,
            catalogue=catalogue,
            plan=plan,
            options=options,
            build=build,
            notes=notes,
            origins=origins or {},
            added=added,
        )
        progress("write files", 1, 1)
    return Graph(folder=folder, manifest=manifest)


def _without_folders(text: str, sources: Mapping[str, Path]) -> str:
    """The note with bare file names, so that a manifest is the same wherever the files lie."""
    for path in sources.values():
        text = text.replace(str(path), path.name)
    return text
