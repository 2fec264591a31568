"""`openbiolink evaluate`: exact filtered ranks of predictions or a baseline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from openbiolink.cli.screen import note, page_console, progress_bars
from openbiolink.errors import InputError


def evaluate(
    dataset: Annotated[
        Path, typer.Argument(help="A split folder, or a folder with train.txt, valid.txt and test.txt.")
    ],
    predictions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Top-k file with `Heads:` and `Tails:` lines, plain or gz.")
    ] = None,
    baseline: Annotated[
        Literal["degree", "frequency"] | None,
        typer.Option(help="Rank by a trivial rule, the floor of every benchmark."),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write all numbers as JSON.")] = None,
    ties: Annotated[
        Literal["optimistic", "realistic", "pessimistic"],
        typer.Option(help="Rank of an answer among equal scores (table)."),
    ] = "realistic",
    unseen: Annotated[
        Literal["refuse", "drop", "keep"],
        typer.Option(help="Test triples with an entity or relation that training lacks."),
    ] = "refuse",
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="The file holds distances: the smallest is the best.")
    ] = False,
) -> None:
    """Rank the test triples of a data set, filtered, against all its entities."""
    from openbiolink.dataset import load_dataset
    from openbiolink.evaluation import baseline as make_baseline
    from openbiolink.evaluation import evaluate as rank
    from openbiolink.evaluation import evaluate_topk, render_table
    from openbiolink.files import write_json

    if (predictions is None) == (baseline is None):
        raise InputError("evaluate needs either --predictions FILE or --baseline degree|frequency; give one of them")
    if lower_is_better and predictions is None:
        raise InputError("--lower-is-better goes with --predictions only; a baseline has no distances")
    if out is not None:
        _check_out(out)
    loaded = load_dataset(dataset, note=note)
    with progress_bars() as report:
        if predictions is not None:
            result = evaluate_topk(
                predictions,
                loaded,
                ties=ties,
                unseen=unseen,
                higher_is_better=not lower_is_better,
                note=note,
                progress=report,
            )
        elif baseline is not None:
            scorer = make_baseline(baseline, loaded)
            result = rank(scorer, loaded, model_name=baseline, ties=ties, unseen=unseen, progress=report)
    page_console().print(render_table(result))
    if out is not None:
        write_json(out, result.to_dict())
        print(out)


def _check_out(out: Path) -> None:
    """Refuse to write over a file that is no result, before any work is done."""
    if out.is_file():
        with out.open("rb") as stream:
            begins = stream.read(100)
        if begins and b'"openbiolink-result/' not in begins:
            raise InputError(f"--out {out}: exists and is no result of an evaluation; choose another name")
    elif out.is_dir():
        raise InputError(f"--out {out}: is a folder, expected a file name; give one in it")
