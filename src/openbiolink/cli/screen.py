"""What commands say to people, on standard error."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from openbiolink.progress import Progress as Report

FILE_WIDTH = 120  # of a table that is written to a file or another program
SHOWN = 5


def plain(text: str) -> str:
    """The text on one line, with nothing that rich would read as markup."""
    return " ".join(text.split("\n")).replace("[", "\\[")


def say(text: str) -> None:
    """Print a line for people, on standard error."""
    Console(stderr=True, soft_wrap=True, highlight=False).print(text)


def note(text: str) -> None:
    """Print a remark for people."""
    say(f"[yellow]Note:[/] {plain(text)}")


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
