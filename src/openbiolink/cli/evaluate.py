"""`openbiolink evaluate`: exact filtered ranks of a model, of predictions, of a scorer, or of a baseline."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from openbiolink.cli.screen import note, page_console, progress_bars
from openbiolink.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openbiolink.dataset import Dataset
    from openbiolink.evaluation import Evaluation, Scorer
    from openbiolink.evaluation.vectors import VectorModel
    from openbiolink.progress import Progress

INPUTS = ("predictions", "ranks", "embeddings", "dglke", "pykeen", "libkge", "scorer", "baseline")
DISTANCES = frozenset({"predictions", "scorer"})  # inputs that may hold them
BATCHED = frozenset({"scorer", "pykeen"})  # inputs that may be scored a batch at a time


def evaluate(
    dataset: Annotated[
        Path, typer.Argument(help="A split folder, or a folder with train.txt, valid.txt and test.txt.")
    ],
    predictions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Top-k file with `Heads:` and `Tails:` lines, plain or gz.")
    ] = None,
    ranks: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Ranks of all test triples, a table with a header or Parquet.")
    ] = None,
    embeddings: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Arrays entities.npy, relations.npy, … with id maps; see --model."),
    ] = None,
    dglke: Annotated[Path | None, typer.Option(metavar="DIR", help="A model that DGL-KE saved.")] = None,
    pykeen: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A pipeline's folder that PyKEEN saved; needs --trust.")
    ] = None,
    libkge: Annotated[Path | None, typer.Option(metavar="FILE", help="A checkpoint of LibKGE.")] = None,
    scorer: Annotated[
        str | None, typer.Option(metavar="MODULE:OBJECT", help="A function of a batch, or an object with score_batch.")
    ] = None,
    baseline: Annotated[
        Literal["degree", "frequency"] | None,
        typer.Option(help="Rank by a trivial rule, the floor of every benchmark."),
    ] = None,
    model: Annotated[
        Literal["distmult", "complex", "rescal", "cp", "simple", "transe-l1", "transe-l2", "rotate"] | None,
        typer.Option(help="How --embeddings make a score."),
    ] = None,
    norm: Annotated[
        int | None, typer.Option(metavar="1|2", help="Of rotate: add the lengths of differences, or one of the whole.")
    ] = None,
    entity_map: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Id and label of each entity of the model, tab-separated.")
    ] = None,
    relation_map: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Id and label of each relation of the model.")
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Read pickles of the model, which run code that its maker chose.")
    ] = False,
    batch_size: Annotated[
        int | None, typer.Option(min=1, help="Triples that a scorer is given at once.", show_default="100")
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
        bool, typer.Option("--lower-is-better", help="The scores are distances: the smallest is the best.")
    ] = False,
) -> None:
    """Rank the test triples of a data set, filtered, against all its entities."""
    from openbiolink.dataset import load_dataset
    from openbiolink.evaluation import render_table
    from openbiolink.files import write_json

    given = dict(zip(INPUTS, (predictions, ranks, embeddings, dglke, pykeen, libkge, scorer, baseline), strict=True))
    options = {"model": model, "norm": norm, "entity_map": entity_map, "relation_map": relation_map}
    options |= {"trust": trust or None, "batch_size": batch_size, "lower_is_better": lower_is_better or None}
    kind = _only_input(given)
    options = _fitting(kind, options)
    if out is not None:
        _check_out(out)
    loaded = load_dataset(dataset, index=True, note=note)
    with progress_bars() as report:
        result = _evaluation(kind, given[kind], loaded, options, {"ties": ties, "unseen": unseen}, report)
    page_console().print(render_table(result))
    if out is not None:
        write_json(out, result.to_dict())
        print(out)


def _only_input(given: Mapping[str, Any]) -> str:
    """The one input that is given."""
    chosen = [name for name in INPUTS if given[name] is not None]
    if len(chosen) != 1:
        fault = f"not {' and '.join(map(_flag, chosen))} together" if chosen else "none is given"
        raise InputError(f"evaluate ranks one of {', '.join(map(_flag, INPUTS))}; {fault}")
    return chosen[0]


def _fitting(kind: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The further options that are given; each must be one of this input."""
    from openbiolink.evaluation.models import FORMATS

    takers = {"lower_is_better": DISTANCES, "batch_size": BATCHED}
    for name, value in options.items():
        known = takers.get(name) or [entry for entry, form in FORMATS.items() if name in form.options]
        if value is not None and kind not in known:
            goes = " or ".join(_flag(entry) for entry in INPUTS if entry in known)
            raise InputError(f"{_flag(name)} goes with {goes} only, not with {_flag(kind)}; leave it out")
    return {name: value for name, value in options.items() if value is not None}


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _evaluation(
    kind: str, given: Any, dataset: Dataset, options: dict[str, Any], rules: Mapping[str, Any], report: Progress
) -> Evaluation:
    """The ranks that an input stands for.

    Args:
        kind: one of `INPUTS`.
        given: the path or name that it was given.
        dataset: the test triples and all candidates.
        options: further ones of this input.
        rules: those that all inputs share.
        report: told how far the work is.
    """
    from openbiolink.evaluation import baseline, evaluate_topk
    from openbiolink.evaluation import evaluate as rank
    from openbiolink.evaluation.models import evaluate_ranks, load_scorer, read_model

    higher_is_better = not options.pop("lower_is_better", False)
    batch = {"batch_size": options.pop("batch_size")} if "batch_size" in options else {}
    if kind == "predictions":
        return evaluate_topk(given, dataset, higher_is_better=higher_is_better, note=note, progress=report, **rules)
    if kind == "ranks":
        return evaluate_ranks(given, dataset, note=note, **rules)
    if kind == "baseline":
        return rank(baseline(given, dataset), dataset, model_name=given, progress=report, **rules)
    said: list[str] = []
    found: Scorer | VectorModel
    if kind == "scorer":
        sys.path.insert(0, str(Path.cwd()))
        found = load_scorer(given, dataset)
    else:
        found = read_model(kind, given, dataset, note=said.append, **options)
    for line in said:
        note(line)
    result = rank(found, dataset, higher_is_better=higher_is_better, progress=report, **batch, **rules)
    return dataclasses.replace(result, notes=(*result.notes, *said))


def _check_out(out: Path) -> None:
    """Refuse to write over a file that is no result, before any work is done."""
    if out.is_file():
        with out.open("rb") as stream:
            begins = stream.read(100)
        if begins and b'"openbiolink-result/' not in begins:
            raise InputError(f"--out {out}: exists and is no result of an evaluation; choose another name")
    elif out.is_dir():
        raise InputError(f"--out {out}: is a folder, expected a file name; give one in it")
