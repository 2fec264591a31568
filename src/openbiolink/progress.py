"""How long work tells what it is doing, without the library printing anything."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called whenever a step advances; the command line draws it, a test may record it."""

    def __call__(self, step: str, done: int, total: int) -> None:
        """Say that `done` of `total` units of `step` are finished (0 of n when it begins)."""


def silent(step: str, done: int, total: int) -> None:
    """A progress report that nobody reads."""
