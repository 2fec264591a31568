"""The command `openbiolink`: parses, calls the library, prints. One command per stage, in the order of the road."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from openbiolink.errors import InputError, OpenBioLinkError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from openbiolink.progress import Progress as Report

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Build, split and measure link prediction benchmarks on biomedical knowledge graphs.",
)
split_app = typer.Typer(no_args_is_help=True, help="Split a graph into training, validation and test set without leaks.")
app.add_typer(split_app, name="split")

QUALITY_HELP = "Leave out rows below this level of evidence; `all` has no cut-off."


def main() -> None:
    """Run the command line; errors that the package raises on purpose are one line and status 2."""
    try:
        app()
    except OpenBioLinkError as error:
        _say(f"[bold red]Error:[/] {_plain(str(error))}")
        sys.exit(2)
    except KeyboardInterrupt:
        _say("[bold red]Interrupted:[/] nothing was left half-written; run the command again")
        sys.exit(130)


def _plain(text: str) -> str:
    """The text on one line, with nothing that rich would read as markup."""
    return " ".join(text.split("\n")).replace("[", "\\[")


def _say(text: str) -> None:
    """Print a line for people, on standard error."""
    Console(stderr=True, soft_wrap=True, highlight=False).print(text)


def _note(text: str) -> None:
    _say(f"[yellow]Note:[/] {_plain(text)}")


@contextmanager
def _progress_bars() -> Iterator[Report]:
    """A progress report that draws a bar for the work going on, on standard error."""
    columns = (TextColumn("{task.description:<48}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("", total=1)

        def report(step: str, done: int, total: int) -> None:
            bars.update(task, description=step, completed=done, total=total)

        yield report


@app.callback()
def _global(
    context: typer.Context,
    directory: Annotated[
        Path, typer.Option("-p", "--directory", metavar="DIR", help="Folder to work in.", show_default="current folder")
    ] = Path(),
) -> None:
    context.obj = directory


@app.command()
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
    options = GraphOptions(
        quality=quality,
        directed=not undirected,
        relations=tuple(relation or ()),
        excluded_sources=tuple(exclude_source or ()),
    )
    with _progress_bars() as report:
        graph = generate_graph(
            catalogue, sources, context.obj / "graph_files", options=options, progress=report
        )
    _tell_graph(graph.manifest)
    print(graph.folder)


def _tell_graph(manifest: Mapping[str, Any]) -> None:
    for source, relations in manifest["missing_sources"].items():
        _note(f"{source} is not given: left out or smaller are {', '.join(relations)}")
    for text in manifest["notes"]:
        _note(text)
    for text, count in manifest["not_in_ontology"].items():
        _note(f"{text}: {count:,} identifiers, kept as they are")
    counts = manifest["counts"]
    _say(
        f"{counts['nodes']:,} nodes, {counts['edges']:,} edges of {len(counts['relations'])} relations, "
        f"{counts['tn_edges']:,} true negative edges, {counts['conflicts']:,} conflicts"
    )
