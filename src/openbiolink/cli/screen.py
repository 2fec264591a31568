"""What commands say to people, on standard error."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from openbiolink.errors import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from openbiolink.progress import Progress as Report
    from openbiolink.sources.fetch import FetchProgress

FILE_WIDTH = 120  # of a table that is written to a file or another program
SHOWN = 5


def plain(text: str) -> str:
    """The text on one line, with nothing that rich would read as markup, or a terminal as anything but text."""
    return visible(" ".join(text.split("\n"))).replace("[", "\\[")


def say(text: str) -> None:
    """Print a line for people, on standard error."""
    Console(stderr=True, soft_wrap=True, highlight=False).print(text)


def note(text: str) -> None:
    """Print a remark for people."""
    say(f"[yellow]Note:[/] {plain(text)}")


def page_console() -> Console:
    """Where results are printed: as wide as the terminal, or `FILE_WIDTH` in a file or another program."""
    screen = Console(highlight=False)
    return screen if screen.is_terminal else Console(width=FILE_WIDTH, highlight=False)


@contextmanager
def progress_bars() -> Iterator[Report]:
    """A progress report on standard error: a bar on a terminal, else a line whenever another step begins."""
    console = Console(stderr=True)
    if not console.is_terminal:
        steps: list[str] = []

        def report_line(step: str, done: int, total: int) -> None:
            if steps[-1:] != [step] or done == total:
                steps.append(step)
                say(f"{step} ({done}/{total})")

        yield report_line
        return
    columns = (TextColumn("{task.description:<48}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("", total=1)

        def report(step: str, done: int, total: int) -> None:
            bars.update(task, description=step, completed=done, total=total)

        yield report


@contextmanager
def byte_bars() -> Iterator[FetchProgress]:
    """A report on files that are fetched: a bar for each on a terminal, else a line when each begins."""
    console = Console(stderr=True)
    begun: dict[str, TaskID] = {}
    columns = (TextColumn("{task.description:<36.36}"), BarColumn(20), DownloadColumn(), TimeRemainingColumn())
    bars = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)

    def report(file: str, done: int, total: int | None) -> None:
        if file not in begun:
            begun[file] = bars.add_task(plain(file), total=total)
            if not console.is_terminal:
                say(f"fetch {plain(file)} ({'unknown size' if total is None else decimal(total)})")
        bars.update(begun[file], completed=done, total=total, visible=done != total)

    with bars:
        yield report
