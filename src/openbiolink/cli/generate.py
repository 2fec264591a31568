"""`openbiolink generate`: source files become a graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from openbiolink.cli.screen import SHOWN, note, progress_bars, say
from openbiolink.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

QUALITY_HELP = "Leave out rows below this level of evidence; `all` has no cut-off."


def generate(
    context: typer.Context,
    edition: Annotated[
        str | None, typer.Option(metavar="EDITION", help="Edition of the catalogue.", show_default="2020")
    ] = None,
    source_map: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML file that says where each source file lies.")
    ] = None,
    source_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder whose files are recognised by their names.")
    ] = None,
    quality: Annotated[Literal["all", "low", "medium", "high"], typer.Option(help=QUALITY_HELP)] = "all",
    undirected: Annotated[
        bool, typer.Option("--undirected", help="Write symmetric relations once, not in both directions.")
    ] = False,
    relation: Annotated[
        list[str] | None, typer.Option(metavar="RELATION", help="Build only this relation (repeatable).")
    ] = None,
    exclude_source: Annotated[
        list[str] | None, typer.Option(metavar="SOURCE", help="Leave out this source, such as `sider` (repeatable).")
    ] = None,
) -> None:
    """Build a graph from source files into DIR/graph_files/."""
    from openbiolink.graph import GraphOptions, generate_graph
    from openbiolink.sources.catalogue import load_catalogue
    from openbiolink.sources.local import check_sources, find_sources, read_source_map

    if source_map is None and source_dir is None:
        raise InputError(
            "generate needs source files: name them with --source-map FILE.toml or --source-dir DIR; "
            "`openbiolink demo` runs on built-in ones"
        )
    mapped_edition, mapped = read_source_map(source_map) if source_map is not None else (None, {})
    if edition is not None and mapped_edition is not None and edition != mapped_edition:
        raise InputError(f"{source_map}: is made for edition {mapped_edition!r}, not {edition!r}; leave out --edition")
    catalogue = load_catalogue(edition or mapped_edition or "2020")
    check_sources(catalogue, mapped, str(source_map))
    sources = (find_sources(catalogue, source_dir) if source_dir is not None else {}) | mapped
    if not sources:
        place = " and ".join(str(path) for path in (source_map, source_dir) if path is not None)
        raise InputError(f"{place}: no source file of edition {catalogue.edition}; docs/sources.md has their names")
    if source_dir is not None:
        _tell_unknown(source_dir, sources.values())
    options = GraphOptions(
        quality=quality,
        directed=not undirected,
        relations=tuple(dict.fromkeys(relation or ())),
        excluded_sources=tuple(dict.fromkeys(exclude_source or ())),
    )
    with progress_bars() as report:
        graph = generate_graph(catalogue, sources, context.obj / "graph_files", options=options, progress=report)
    _tell_graph(graph.manifest)
    print(graph.folder)


def _tell_unknown(folder: Path, known: Collection[Path]) -> None:
    strange = sorted(entry.name for entry in folder.iterdir() if entry not in known)
    if strange:
        more = " and more" if len(strange) > SHOWN else ""
        note(f"{folder}: not taken as sources: {', '.join(strange[:SHOWN])}{more}")


def _tell_graph(manifest: Mapping[str, Any]) -> None:
    built = {relation for relation, counts in manifest["counts"]["relations"].items() if counts["edges"]}
    for source, relations in manifest["missing_sources"].items():
        gone = [relation for relation in relations if relation not in built]
        less = [f"{relation} (a part)" for relation in relations if relation in built]
        note(f"{source} is not given or excluded, which leaves out {', '.join(gone + less)}")
    for text in manifest["notes"]:
        note(text)
    for text, count in manifest["not_in_ontology"].items():
        note(f"{text}: {count:,} identifiers, kept as they are")
    for text, count in manifest["replaced_in_ontology"].items():
        note(f"{text}: {count:,} nodes stand for alternative or obsolete ones")
    counts = manifest["counts"]
    say(
        f"{counts['nodes']:,} nodes, {counts['edges']:,} edges of {len(counts['relations'])} relations, "
        f"{counts['tn_edges']:,} true negative edges, {counts['conflicts']:,} conflicts"
    )
