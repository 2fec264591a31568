"""`openbiolink split`: a graph becomes training, validation and test set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openbiolink.cli.screen import note, progress_bars, say

if TYPE_CHECKING:
    from collections.abc import Mapping

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Split a graph into training, validation and test set without leaks.",
)


@app.command("rand")
def split_rand(
    context: typer.Context,
    edges: Annotated[Path, typer.Option(metavar="FILE", help="Edges of the graph, such as graph_files/edges.csv.")],
    nodes: Annotated[Path, typer.Option(metavar="FILE", help="Its nodes and their types, such as nodes.csv.")],
    tn_edges: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Its true negative edges, such as TN_edges.csv.")
    ] = None,
    test_frac: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of all edges that go to the test set.")
    ] = 0.05,
    val: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of all edges that go to the validation set.")
    ] = 0.05,
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="Another seed gives another split.")] = 42,
    no_neg_train_val: Annotated[
        bool, typer.Option("--no-neg-train-val", help="No negatives for training and validation set.")
    ] = False,
    no_neg_test: Annotated[bool, typer.Option("--no-neg-test", help="No negatives for the test set.")] = False,
    directed: Annotated[
        bool | None,
        typer.Option("--directed/--undirected", help="Direction of the graph.", show_default="as its manifest says"),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing DIR/train_test_data/.")] = False,
) -> None:
    """Split a graph at random into DIR/train_test_data/."""
    from openbiolink.split import RandomSplit, random_split

    options = RandomSplit(
        test_fraction=test_frac,
        validation_fraction=val,
        seed=seed,
        negatives_train_validation=not no_neg_train_val,
        negatives_test=not no_neg_test,
        directed=directed,
    )
    with progress_bars() as report:
        split = random_split(
            edges,
            nodes,
            context.obj / "train_test_data",
            tn_edges=tn_edges,
            options=options,
            overwrite=overwrite,
            progress=report,
            note=note,
        )
    _tell_split(split.manifest)
    print(split.folder)


def _tell_split(manifest: Mapping[str, Any]) -> None:
    counts = manifest["counts"]
    for part, rows in counts["parts"].items():
        say(f"{part}: {rows['positive']:,} positive, {rows['negative']:,} negative edges")
