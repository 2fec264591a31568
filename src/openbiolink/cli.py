"""The command `openbiolink`: parses, calls the library, prints. One command per stage, in the order of the road."""

from __future__ import annotations

import io
import signal
import sys
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from typer.core import TyperGroup

from openbiolink.errors import InputError, OpenBioLinkError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from openbiolink.progress import Progress as Report

ROAD = ("generate", "split", "evaluate", "demo")


class _InRoadOrder(TyperGroup):
    """A group that lists its commands in the order of the road."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=ROAD.index)


app = typer.Typer(
    cls=_InRoadOrder,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Build, split and measure link prediction benchmarks on biomedical knowledge graphs.",
)
split_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Split a graph into training, validation and test set without leaks.",
)
app.add_typer(split_app, name="split")

INTERRUPTED = 128 + signal.SIGINT
FILE_WIDTH = 120  # of a table that is written to a file or another program
SHOWN = 5
QUALITY_HELP = "Leave out rows below this level of evidence; `all` has no cut-off."


def main() -> None:
    """Run the command line.

    Errors that the package raises on purpose are one line and status 2. Ctrl-C and a request to end (SIGTERM) end
    the program in order, whatever library they meet it in.
    """
    signals: list[int] = []

    def stop(number: int, _frame: object) -> None:
        signals.append(number)
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        _run()
    except BaseException as error:
        by_hand = isinstance(error, KeyboardInterrupt) or (isinstance(error, SystemExit) and error.code == INTERRUPTED)
        if not signals and not by_hand:
            raise
        _say("[bold red]Interrupted:[/] nothing was left half-written; run the command again")
        sys.exit(128 + (signals or [signal.SIGINT])[0])


def _run() -> None:
    try:
        app()
    except OpenBioLinkError as error:
        _say(f"[bold red]Error:[/] {_plain(str(error))}")
        sys.exit(2)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _say(
            f"[bold red]Error:[/] {_plain(place)}{_plain(error.strerror or str(error))}; nothing was left half-written"
        )
        sys.exit(2)


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
    """A progress report on standard error: a bar on a terminal, else a line whenever another step begins."""
    console = Console(stderr=True)
    if not console.is_terminal:
        steps: list[str] = []

        def report_line(step: str, done: int, total: int) -> None:
            if steps[-1:] != [step] or done == total:
                steps.append(step)
                _say(f"{step} ({done}/{total})")

        yield report_line
        return
    columns = (TextColumn("{task.description:<48}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("", total=1)

        def report(step: str, done: int, total: int) -> None:
            bars.update(task, description=step, completed=done, total=total)

        yield report


def _say_version(asked: bool) -> None:
    if asked:
        print(f"openbiolink {metadata.version('openbiolink')}")
        raise typer.Exit


@app.callback()
def _global(
    context: typer.Context,
    directory: Annotated[
        Path,
        typer.Option(
            "-p",
            "--directory",
            metavar="DIR",
            help="Folder that generate, split and demo write into; other paths are as they stand.",
            show_default="current folder",
        ),
    ] = Path(),
    _version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Say the version and end.")
    ] = False,
) -> None:
    if directory.exists() and not directory.is_dir():
        raise InputError(f"-p {directory}: is a file, expected a folder; choose another one")
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
    with _progress_bars() as report:
        graph = generate_graph(catalogue, sources, context.obj / "graph_files", options=options, progress=report)
    _tell_graph(graph.manifest)
    print(graph.folder)


def _tell_unknown(folder: Path, known: Collection[Path]) -> None:
    strange = sorted(entry.name for entry in folder.iterdir() if entry not in known)
    if strange:
        more = " and more" if len(strange) > SHOWN else ""
        _note(f"{folder}: not taken as sources: {', '.join(strange[:SHOWN])}{more}")


def _tell_graph(manifest: Mapping[str, Any]) -> None:
    built = {relation for relation, counts in manifest["counts"]["relations"].items() if counts["edges"]}
    for source, relations in manifest["missing_sources"].items():
        gone = [relation for relation in relations if relation not in built]
        less = [f"{relation} (a part)" for relation in relations if relation in built]
        _note(f"{source} is not given or excluded, which leaves out {', '.join(gone + less)}")
    for text in manifest["notes"]:
        _note(text)
    for text, count in manifest["not_in_ontology"].items():
        _note(f"{text}: {count:,} identifiers, kept as they are")
    for text, count in manifest["replaced_in_ontology"].items():
        _note(f"{text}: {count:,} nodes stand for alternative or obsolete ones")
    counts = manifest["counts"]
    _say(
        f"{counts['nodes']:,} nodes, {counts['edges']:,} edges of {len(counts['relations'])} relations, "
        f"{counts['tn_edges']:,} true negative edges, {counts['conflicts']:,} conflicts"
    )


@split_app.command("rand")
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
    with _progress_bars() as report:
        split = random_split(
            edges,
            nodes,
            context.obj / "train_test_data",
            tn_edges=tn_edges,
            options=options,
            overwrite=overwrite,
            progress=report,
            note=_note,
        )
    _tell_split(split.manifest)
    print(split.folder)


def _tell_split(manifest: Mapping[str, Any]) -> None:
    counts = manifest["counts"]
    for part, rows in counts["parts"].items():
        _say(f"{part}: {rows['positive']:,} positive, {rows['negative']:,} negative edges")


@app.command()
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
    loaded = load_dataset(dataset, note=_note)
    with _progress_bars() as report:
        if predictions is not None:
            result = evaluate_topk(
                predictions,
                loaded,
                ties=ties,
                unseen=unseen,
                higher_is_better=not lower_is_better,
                note=_note,
                progress=report,
            )
        elif baseline is not None:
            scorer = make_baseline(baseline, loaded)
            result = rank(scorer, loaded, model_name=baseline, ties=ties, unseen=unseen, progress=report)
    screen = Console()
    Console(width=None if screen.is_terminal else FILE_WIDTH).print(render_table(result))
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


@app.command()
def demo(context: typer.Context) -> None:
    """Run the whole road on made-up sources that come with the package, into DIR/demo/."""
    from openbiolink.demo import run_demo

    with _progress_bars() as report:
        page, numbers = run_demo(context.obj / "demo", progress=report)
    print(page)
    print(numbers)
    _say(
        "All identifiers and rows of this demo are made up. Next, on real sources:\n"
        "  openbiolink generate --source-map my-sources.toml\n"
        "  openbiolink split rand --edges graph_files/edges.csv --tn-edges graph_files/TN_edges.csv "
        "--nodes graph_files/nodes.csv\n"
        "  openbiolink evaluate train_test_data --baseline degree\n"
        "docs/sources.md says which files there are and how a source map looks."
    )


if __name__ == "__main__":
    main()
