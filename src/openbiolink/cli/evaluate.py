"""`openbiolink evaluate`: exact filtered ranks of a model, of predictions, of a scorer, or of a baseline."""

from __future__ import annotations

import dataclasses
import sys
from contextlib import ExitStack, redirect_stderr
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from openbiolink.cli.screen import note, page_console, progress_bars
from openbiolink.cli.targets import check_json_target
from openbiolink.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from openbiolink.dataset import Dataset, Part
    from openbiolink.evaluation import Evaluation, Scorer
    from openbiolink.evaluation.classification import Classification
    from openbiolink.evaluation.vectors import VectorModel
    from openbiolink.progress import Progress

INPUTS = ("predictions", "ranks", "embeddings", "dglke", "pykeen", "libkge", "scorer", "baseline")
DISTANCES = frozenset({"predictions", "scorer"})  # inputs that may hold them
BATCHED = frozenset({"scorer", "pykeen"})  # inputs that may be scored a batch at a time
VECTORS = frozenset({"embeddings", "dglke", "pykeen", "libkge"})  # inputs that may be models given as vectors
SCORED = VECTORS | {"scorer", "baseline"}  # inputs that are ranked here
TAKERS = {
    "lower_is_better": DISTANCES,
    "batch_size": BATCHED,
    "candidates": SCORED,
    "estimate": SCORED,
    "negatives": SCORED,
    "threads": VECTORS | {"scorer"},
    "device": VECTORS | {"scorer"},
    "first_pass": VECTORS | {"scorer"},
    "distributed": SCORED,
}


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
        int | None,
        typer.Option(
            metavar="1|2", help="Of rotate: 1 adds the lengths of complex differences (default), 2 takes the whole one."
        ),
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
    ranks_out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep the ranks, as .parquet or .tsv, for `compare` and `--ranks`."),
    ] = None,
    candidates: Annotated[
        str | None,
        typer.Option(
            metavar="all|typed|FILE",
            help="What answers compete with: all entities, those of the right node type, or a list, one a line.",
            show_default="all",
        ),
    ] = None,
    estimate: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Rank N drawn test triples only, and enclose the numbers of all."),
    ] = None,
    negatives: Annotated[
        bool, typer.Option("--negatives", help="Also tell test triples from the true negatives of the split.")
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Of --estimate, and for bootstrap intervals; without it intervals come from standard errors.",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="For models given as vectors.", show_default="all processors")
    ] = None,
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of PyTorch, such as cuda, for models given as vectors.")
    ] = None,
    first_pass: Annotated[
        Literal["float32", "int8"] | None,
        typer.Option(help="int8 may be faster for large trained models; ranks are the same.", show_default="float32"),
    ] = None,
    distributed: Annotated[
        bool, typer.Option("--distributed", help="Share the work with the processes that torchrun started.")
    ] = False,
    ties: Annotated[
        Literal["optimistic", "realistic", "pessimistic"],
        typer.Option(help="How an answer ranks among equal scores in the table; files hold all three."),
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
    from openbiolink.evaluation.candidates import read_types
    from openbiolink.evaluation.distributed import torchrun_shard
    from openbiolink.evaluation.fused import WHOLE
    from openbiolink.evaluation.rankfile import check_rank_target, write_ranks
    from openbiolink.files import write_json

    given = dict(zip(INPUTS, (predictions, ranks, embeddings, dglke, pykeen, libkge, scorer, baseline), strict=True))
    options: dict[str, Any] = {"model": model, "norm": norm, "entity_map": entity_map, "relation_map": relation_map}
    options |= {"trust": trust or None, "batch_size": batch_size, "lower_is_better": lower_is_better or None}
    options |= {"candidates": candidates, "estimate": estimate, "negatives": negatives or None}
    options |= {"threads": threads, "device": device, "first_pass": first_pass, "distributed": distributed or None}
    kind = _only_input(given)
    options = _fitting(kind, options)
    if out is not None:
        check_json_target(out, "result", "result of an evaluation")
    if ranks_out is not None:
        check_rank_target(ranks_out)
    rules = {"ties": ties, "unseen": unseen}
    with ExitStack() as stack:
        shard = stack.enter_context(torchrun_shard()) if options.pop("distributed", None) else WHOLE
        if shard.number:  # all processes would say the same
            stack.enter_context(redirect_stderr(StringIO()))
        loaded = load_dataset(dataset, index=True, note=note)
        types = read_types(dataset, loaded) if out is not None or candidates == "typed" else ()
        ranking = _ranking(dataset, loaded, types, options, seed) | {"shard": shard}
        report = stack.enter_context(progress_bars())
        result, classified = _evaluation(kind, given[kind], loaded, options, rules, ranking, report)
    if shard.number:
        return
    _tell(result, classified)
    if ranks_out is not None:
        write_ranks(result, ranks_out)
        print(ranks_out)
    if out is not None:
        write_json(out, result.to_dict(types=types, seed=seed, classification=classified))
        print(out)


def _ranking(
    folder: Path, dataset: Dataset, types: Sequence[str], options: dict[str, Any], seed: int | None
) -> dict[str, Any]:
    """The options of `openbiolink.evaluate` that some further options stand for; those are taken out."""
    from openbiolink.evaluation.candidates import candidate_subset, typed_candidates
    from openbiolink.evaluation.classification import read_negatives
    from openbiolink.evaluation.device import device_backend
    from openbiolink.evaluation.quantised import quantised_backend
    from openbiolink.schema import schema_of

    ranking: dict[str, Any] = {}
    chosen = options.pop("candidates", "all")
    if chosen == "typed":
        ranking["candidates"] = typed_candidates(dataset, types, schema_of(folder)[0], note=note)
    elif chosen != "all":
        ranking["candidates"] = candidate_subset(dataset, Path(chosen), note=note)
    if "estimate" in options:
        ranking |= {"sample": options.pop("estimate"), "seed": seed or 0}
    if "threads" in options:
        ranking["threads"] = options.pop("threads")
    compared = options.pop("first_pass", "float32")
    if compared == "int8" and "device" in options:
        raise InputError(f"--first-pass int8 is of the processor, not of --device {options['device']}; leave one out")
    if compared == "int8":
        ranking["backend"] = quantised_backend()
    if "device" in options:
        ranking["backend"] = device_backend(options.pop("device"))
    if options.pop("negatives", None):
        parts: tuple[Part, Part] = ("test", "valid")
        found = [read_negatives(folder, part, dataset, note=note) for part in parts]
        if found[0] is None:
            raise InputError(f"{folder}: --negatives: the split has no negatives of the test part; leave it out")
        ranking["negatives"] = found
    return ranking


def _tell(result: Evaluation, classified: Classification | None) -> None:
    """Show the result."""
    from openbiolink.evaluation import render_table
    from openbiolink.evaluation.sampling import estimate

    page_console().print(render_table(result))
    if result.sample is not None:
        for name, interval in estimate(result).items():
            note(
                f"{name} of all {result.sample.population} test triples is within "
                f"{interval.low:.4f} and {interval.high:.4f} (95 %)"
            )
    if classified is not None:
        overall = classified.overall
        note(f"true negatives of the split: AUROC {overall.auroc:.4f}, AUPRC {overall.auprc:.4f}")


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

    for name, value in options.items():
        known = TAKERS.get(name) or [entry for entry, form in FORMATS.items() if name in form.options]
        if value is not None and kind not in known:
            goes = " or ".join(_flag(entry) for entry in INPUTS if entry in known)
            raise InputError(f"{_flag(name)} goes with {goes} only, not with {_flag(kind)}; leave it out")
    return {name: value for name, value in options.items() if value is not None}


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _evaluation(
    kind: str,
    given: Any,
    dataset: Dataset,
    options: dict[str, Any],
    rules: Mapping[str, Any],
    ranking: dict[str, Any],
    report: Progress,
) -> tuple[Evaluation, Classification | None]:
    """The ranks that an input stands for, and how it tells test triples from negatives, if there are any.

    Args:
        kind: one of `INPUTS`.
        given: the path or name that it was given.
        dataset: the test triples and all candidates.
        options: further ones of this input.
        rules: those that all inputs share.
        ranking: those of inputs that are ranked here, and `negatives` of the test and validation parts.
        report: told how far the work is.
    """
    from openbiolink.evaluation import baseline, evaluate_topk
    from openbiolink.evaluation import evaluate as rank
    from openbiolink.evaluation.classification import evaluate_classification
    from openbiolink.evaluation.models import evaluate_ranks, load_scorer, read_model

    higher_is_better = not options.pop("lower_is_better", False)
    batch = {"batch_size": options.pop("batch_size")} if "batch_size" in options else {}
    if kind == "predictions":
        ranked = evaluate_topk(given, dataset, higher_is_better=higher_is_better, note=note, progress=report, **rules)
        return ranked, None
    if kind == "ranks":
        return evaluate_ranks(given, dataset, note=note, **rules), None
    said: list[str] = []
    found: Scorer | VectorModel
    if kind == "baseline":
        found = baseline(given, dataset)
    elif kind == "scorer":
        sys.path.insert(0, str(Path.cwd()))
        found = load_scorer(given, dataset)
    else:
        found = read_model(kind, given, dataset, note=said.append, **options)
    for line in said:
        note(line)
    negatives = ranking.pop("negatives", None)
    result = rank(found, dataset, higher_is_better=higher_is_better, progress=report, **batch, **rules, **ranking)
    result = dataclasses.replace(result, notes=(*result.notes, *said))
    if negatives is None:
        return result, None
    test, valid = negatives
    classified = evaluate_classification(
        found, dataset, test, valid_negatives=valid, higher_is_better=higher_is_better, model_name=result.model
    )
    for line in classified.notes:
        note(line)
    return result, classified
