"""The command `openbiolink`: parses, calls the library, prints. One command per stage, in the order of the road."""

from __future__ import annotations

import io
import signal
import sys
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from openbiolink.cli import datasets, metrics, sources, split
from openbiolink.cli.audit import audit
from openbiolink.cli.compare import compare
from openbiolink.cli.demo import demo
from openbiolink.cli.diff import diff
from openbiolink.cli.evaluate import evaluate
from openbiolink.cli.generate import generate
from openbiolink.cli.screen import plain, say
from openbiolink.errors import InputError, OpenBioLinkError
from openbiolink.places import is_remote, place

ROAD = ("sources", "datasets", "generate", "diff", "split", "audit", "evaluate", "compare", "metrics", "demo")
INTERRUPTED = 128 + signal.SIGINT
USAGE_ERRORS: Any = typer.BadParameter.__bases__  # every fault of a command line; has no public name


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
app.add_typer(sources.app, name="sources")
app.add_typer(datasets.app, name="datasets")
app.add_typer(split.app, name="split")
app.add_typer(metrics.app, name="metrics")
for command in (generate, diff, audit, evaluate, compare, demo):
    app.command()(command)


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
        say("[bold red]Interrupted:[/] nothing was left half-written; run the command again")
        sys.exit(128 + (signals or [signal.SIGINT])[0])


def _run() -> None:
    try:
        sys.exit(app(standalone_mode=False))
    except USAGE_ERRORS as error:
        words = error.format_message()
        if "\n" in words.strip():  # the help of a command that was given nothing
            print(words, file=sys.stderr)
        else:
            command = error.ctx.command_path if error.ctx is not None else "openbiolink"
            fault = plain(words.replace("Value error, ", "").rstrip("."))
            say(f"[bold red]Error:[/] {fault}; `{command} --help` says what there is")
        sys.exit(2)
    except OpenBioLinkError as error:
        say(f"[bold red]Error:[/] {plain(str(error))}")
        sys.exit(2)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        say(f"[bold red]Error:[/] {plain(place)}{plain(error.strerror or str(error))}; nothing was left half-written")
        sys.exit(2)


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
            parser=place,
            help="Folder that sources, datasets, generate, split and demo write into; other paths are as they stand.",
            show_default="current folder",
        ),
    ] = Path(),
    _version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Say the version and end.")
    ] = False,
) -> None:
    if is_remote(directory) and context.invoked_subcommand != "split":
        raise InputError(f"-p {directory}: only split writes to an address; give a folder of this machine")
    if directory.exists() and not directory.is_dir():
        raise InputError(f"-p {directory}: is a file, expected a folder; choose another one")
    context.obj = directory
