"""`openbiolink compare`: whether one model is better than another on the same test triples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from openbiolink.cli.screen import note, page_console
from openbiolink.cli.targets import check_json_target
from openbiolink.errors import InputError


def compare(
    ranks: Annotated[
        list[Path],
        typer.Argument(metavar="RANKS...", help="Files of `evaluate --ranks-out`, that to compare with first."),
    ],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write all numbers as JSON.")] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="mrr, mean_rank or hits@K; repeatable.", show_default="the usual five"),
    ] = None,
    ties: Annotated[
        Literal["optimistic", "realistic", "pessimistic"], typer.Option(help="Rank of an answer among equal scores.")
    ] = "realistic",
    seed: Annotated[int, typer.Option(help="Of the random draws.")] = 0,
    resamples: Annotated[
        int, typer.Option(help="How often test triples are drawn anew, and signs are flipped.")
    ] = 1000,
) -> None:
    """Compare models on the same test triples: intervals, differences, p-values, effects, triples needed."""
    from openbiolink.evaluation.comparison import advice, compare_all, render_comparison
    from openbiolink.evaluation.rankfile import read_ranks
    from openbiolink.files import write_json
    from openbiolink.metrics.uncertainty import MEANS

    if len(ranks) < 2:
        raise InputError(f"{ranks[0]}: one file of ranks leaves nothing to compare; give two or more")
    if out is not None:
        check_json_target(out, "compare", "comparison")
    found = [read_ranks(path) for path in ranks]
    models = [one.model for one in found]
    names = (
        models
        if len({*models}) == len(models)
        else [f"{one.model} ({path.name})" for one, path in zip(found, ranks, strict=True)]
    )
    if len({*names}) < len(names):
        names = [f"{number}: {name}" for number, name in enumerate(names, 1)]
    document = compare_all(
        dict(zip(names, found, strict=True)), ties=ties, metrics=metric or MEANS, seed=seed, resamples=resamples
    )
    for table in render_comparison(document):
        page_console().print(table)
    for line in advice(document):
        note(line)
    if out is not None:
        write_json(out, document)
        print(out)
