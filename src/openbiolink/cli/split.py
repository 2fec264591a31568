"""`openbiolink split`: a graph becomes training, validation and test set, by one of many schemes."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from openbiolink.cli.screen import note, progress_bars, say
from openbiolink.engines import EngineName, Format
from openbiolink.places import place
from openbiolink.split import SCHEMES, GraphFiles, split_graph
from openbiolink.split.schemes import Flag, Scheme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Split a graph into training, validation and test set without leaks.",
)


def _file(flag: str, words: str, *, needed: bool = False) -> Any:
    option = typer.Option(flag, metavar="FILE", help=words, parser=place)
    return Annotated[Path, option] if needed else Annotated[Path | None, option]


FILES: Mapping[str, Any] = {
    "edges": _file("--edges", "Edges of the graph, such as graph_files/edges.csv.", needed=True),
    "nodes": _file("--nodes", "Its nodes and their types, such as nodes.csv.", needed=True),
    "tn_edges": _file("--tn-edges", "Its true negative edges, such as TN_edges.csv."),
}
EARLIER: Mapping[str, Any] = {
    "tmo_edges": _file("--tmo-edges", "Edges of the earlier slice (t-1).", needed=True),
    "tmo_nodes": _file("--tmo-nodes", "Its nodes and their types.", needed=True),
    "tmo_tn_edges": _file("--tmo-tn-edges", "Its true negative edges."),
}
COMMON: Mapping[str, tuple[Any, Any]] = {
    "no_neg_train_val": (
        Annotated[bool, typer.Option("--no-neg-train-val", help="No negatives for training and validation set.")],
        False,
    ),
    "no_neg_test": (Annotated[bool, typer.Option("--no-neg-test", help="No negatives for the test set.")], False),
    "directed": (
        Annotated[
            bool | None,
            typer.Option(
                "--directed/--undirected", help="Direction of the graph.", show_default="as its manifest says"
            ),
        ],
        None,
    ),
    "schema": (
        _file("--schema", "What its relations imply, as TOML; by default schema.toml beside the edges, if any."),
        None,
    ),
    "engine": (
        Annotated[EngineName, typer.Option("--engine", help="Where the tables live: in this process, or on Spark.")],
        "embedded",
    ),
    "output_format": (Annotated[Format, typer.Option("--format", help="Of the tables that are written.")], "tsv"),
    "overwrite": (
        Annotated[bool, typer.Option("--overwrite", help="Replace an existing DIR/train_test_data/.")],
        False,
    ),
}


def _fields(scheme: type[Scheme]) -> Iterator[tuple[dataclasses.Field[Any], Any, Flag]]:
    """The options of a scheme that have a flag: field, type, flag; those of all schemes come last."""
    hints = get_type_hints(scheme, include_extras=True)
    found = [
        (entry, get_args(hints[entry.name])[0], flag)
        for entry in dataclasses.fields(scheme)
        for flag in get_args(hints[entry.name])[1:]
        if isinstance(flag, Flag)
    ]
    return iter(sorted(found, key=lambda item: item[0].name in Scheme.__annotations__))


def _parameters(scheme: type[Scheme]) -> Iterator[inspect.Parameter]:
    files = {**FILES, **(EARLIER if scheme.earlier_slice else {})}
    yield inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    for name, kind in files.items():
        default = inspect.Parameter.empty if name.endswith(("edges", "nodes")) and "tn_" not in name else None
        yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
    for entry, kind, flag in _fields(scheme):
        many = get_origin(kind) is tuple
        file = Path in (kind, *get_args(kind))
        metavar = None if get_origin(kind) is Literal else flag.metavar  # the choices are shown
        option = typer.Option(flag.name, metavar=metavar, help=flag.help, parser=place if file else None)
        required = entry.default is dataclasses.MISSING
        given: Any = entry.default
        yield inspect.Parameter(
            entry.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=Annotated[list[str] if many else kind, option],
            default=inspect.Parameter.empty if required else list(given) if many else given,
        )
    for name, (kind, default) in COMMON.items():
        yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)


def _command(scheme: type[Scheme]) -> Callable[..., None]:
    """A function that typer reads the options of a scheme from."""

    def command(**given: Any) -> None:
        options: dict[str, Any] = {
            entry.name: tuple(given[entry.name]) if isinstance(given[entry.name], list) else given[entry.name]
            for entry, _, _ in _fields(scheme)
        }
        chosen = scheme(
            **options,
            negatives_train_validation=not given["no_neg_train_val"],
            negatives_test=not given["no_neg_test"],
            directed=given["directed"],
        )
        _split(given, chosen)

    command.__doc__ = f"{scheme.summary} into DIR/train_test_data/."
    command.__signature__ = inspect.Signature(list(_parameters(scheme)))  # type: ignore[attr-defined]
    command.__annotations__ = {entry.name: entry.annotation for entry in _parameters(scheme)}
    return command


def _split(given: Mapping[str, Any], scheme: Scheme) -> None:
    graph = GraphFiles(edges=given["edges"], nodes=given["nodes"], tn_edges=given["tn_edges"])
    before = None
    if "tmo_edges" in given:
        before = GraphFiles(edges=given["tmo_edges"], nodes=given["tmo_nodes"], tn_edges=given["tmo_tn_edges"])
    with progress_bars() as report:
        split = split_graph(
            graph,
            given["context"].obj / "train_test_data",
            scheme,
            before=before,
            schema=given["schema"],
            engine=given["engine"],
            output_format=given["output_format"],
            overwrite=given["overwrite"],
            progress=report,
            note=note,
        )
    for part, rows in split.manifest["counts"]["parts"].items():
        say(f"{part}: {rows['positive']:,} positive, {rows['negative']:,} negative edges")
    unseen = split.manifest["leaks"]["unseen_entity"]  # all else is 0, or nothing would be written
    wanted = f"; {unseen:,} held-out edges have nodes that training lacks, as the scheme wants it" if unseen else ""
    say(f"audit: no leak is left{wanted}")
    print(split.folder)


for kind in SCHEMES:
    app.command(kind.name, short_help=kind.summary)(_command(kind))
