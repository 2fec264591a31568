"""`openbiolink generate`: source files become a graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from openbiolink.cli.screen import SHOWN, byte_bars, note, progress_bars, say
from openbiolink.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from openbiolink.graph import Graph, GraphOptions
    from openbiolink.sources.declarations import Catalogue
    from openbiolink.sources.gather import Gathered

FORMATS = ("TSV", "Parquet", "RDF-N3", "BEL", "KGX", "Neo4j", "GraphML")
QUALITY_HELP = "Leave out rows below this level of evidence; `all` has no cut-off."


def generate(
    context: typer.Context,
    edition: Annotated[
        str | None, typer.Option(metavar="EDITION", help="Edition of the catalogue.", show_default="2026")
    ] = None,
    catalogue: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="TOML file that adds or replaces sources and rules (repeatable)."),
    ] = None,
    source_map: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML file that says where each source file lies.")
    ] = None,
    source_dir: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder whose files are recognised by their names.")
    ] = None,
    fetch: Annotated[
        bool | None,
        typer.Option(
            "--fetch/--offline",
            help="Whether missing source files are fetched.",
            show_default="fetch, unless a source map or folder is given",
        ),
    ] = None,
    locked: Annotated[
        bool, typer.Option("--locked", help="Refuse source files that are not as DIR/openbiolink.lock says.")
    ] = False,
    quality: Annotated[Literal["all", "low", "medium", "high"], typer.Option(help=QUALITY_HELP)] = "all",
    undirected: Annotated[
        bool, typer.Option("--undirected", help="Write symmetric relations once, not in both directions.")
    ] = False,
    relation: Annotated[
        list[str] | None, typer.Option(metavar="RELATION", help="Build only this relation (repeatable).")
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Also use a source, relation or rule that is off by default (repeatable)."),
    ] = None,
    exclude_source: Annotated[
        list[str] | None, typer.Option(metavar="SOURCE", help="Leave out this source, such as `sider` (repeatable).")
    ] = None,
    licence: Annotated[
        Literal["open", "share-alike", "non-commercial", "any"],
        typer.Option("--license", "--licence", help="Use only sources whose terms allow this."),
    ] = "any",
    allow_band: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="Let this rule, or `all`, have unexpectedly many or few rows (repeatable)."),
    ] = None,
    output_format: Annotated[
        list[str] | None,
        typer.Option(metavar="FORMAT", help=f"One of {', '.join(FORMATS)} (repeatable).", show_default="TSV"),
    ] = None,
    output_multi_file: Annotated[
        bool, typer.Option("--output-multi-file", help="A file for each relation and node type (TSV and RDF-N3).")
    ] = False,
    output_sep: Annotated[str, typer.Option(metavar="CHAR", help="Separator of TSV files.", show_default="tab")] = "\t",
    no_qscore: Annotated[bool, typer.Option("--no-qscore", help="Leave the quality scores empty.")] = False,
) -> None:
    """Build a graph from source files into DIR/graph_files/.

    Without a source map or a source folder, the files are those in DIR/sources/EDITION/, and missing ones are fetched.
    """
    from openbiolink.graph import GraphOptions, OutputOptions, wanted_sources
    from openbiolink.graph.writers import find_format
    from openbiolink.sources.fetch import Listener
    from openbiolink.sources.gather import SourceOptions, gather_sources, record

    declared, mapped = _load(edition, catalogue or (), source_map)
    opted_in = [name for name in mapped if not declared.sources[name].default]
    output = OutputOptions(
        formats=_distinct(find_format(name) for name in output_format or ("TSV",)),
        multi_file=output_multi_file,
        separator=output_sep.replace("\\t", "\t"),
        scores=not no_qscore,
    )
    options = GraphOptions(
        quality=quality,
        directed=not undirected,
        relations=_distinct(relation or ()),
        included=_distinct([*(include or ()), *opted_in]),
        excluded_sources=_distinct(exclude_source or ()),
        licence=licence,
        allowed_bands=_distinct(allow_band or ()),
        allow_empty=False,
        output=output,
    )
    with byte_bars() as report_bytes:
        gathered = gather_sources(
            declared,
            wanted_sources(declared, options),
            context.obj,
            options=SourceOptions(
                mapped=mapped,
                folder=source_dir,
                online=source_map is None and source_dir is None if fetch is None else fetch,
                locked=locked,
            ),
            listener=Listener(progress=report_bytes, note=note),
        )
    if source_dir is not None:
        _tell_unknown(source_dir, gathered.paths.values())
    graph = _build(declared, gathered, context.obj / "graph_files", options, catalogue or ())
    if not locked:
        record(context.obj, gathered)
    _tell_graph(graph.manifest)
    print(graph.folder)


def _build(
    catalogue: Catalogue, gathered: Gathered, folder: Path, options: GraphOptions, added: Sequence[Path]
) -> Graph:
    from openbiolink.graph import generate_graph

    with progress_bars() as report:
        return generate_graph(
            catalogue,
            gathered.paths,
            folder,
            options=options,
            origins=gathered.origins(),
            added=added,
            progress=report,
        )


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _load(edition: str | None, added: Sequence[Path], source_map: Path | None) -> tuple[Catalogue, dict[str, Path]]:
    """The edition with what was added to it, and the files of the source map."""
    from openbiolink.sources.catalogue import DEFAULT_EDITION, load_catalogue
    from openbiolink.sources.local import check_sources, edition_of, read_source_map

    mapped_edition, mapped = read_source_map(source_map) if source_map is not None else (None, {})
    if edition is not None and mapped_edition is not None and edition != mapped_edition:
        raise InputError(f"{source_map}: is made for edition {mapped_edition!r}, not {edition!r}; leave out --edition")
    chosen = edition or mapped_edition
    if chosen is None:
        chosen = edition_of(mapped.keys(), *added)
        if chosen != DEFAULT_EDITION:
            note(f"{source_map}: states no edition; its source ids are those of edition {chosen}, which is taken")
    catalogue = load_catalogue(chosen, *added)
    check_sources(catalogue, mapped, str(source_map))
    return catalogue, mapped


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
    by_reason: dict[str, list[str]] = {}
    for name, entry in manifest["left_out"].items():
        by_reason.setdefault(entry["reason"], []).append(name)
    for reason, names in by_reason.items():
        note(f"left out: {', '.join(names)}: {reason}")
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
