"""Hits@n for every n up to a limit: as numbers, as a plot, and as a plot of letters for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from openbiolink.errors import InputError
from openbiolink.metrics.ranking import check_k, tally_ranks

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from openbiolink.metrics.ranking import Ranks, Tally

    Curves = Iterable[float] | Mapping[str, Iterable[float]] | Tally

MAX_N = 20
WIDTH = 40  # letters of a full bar
EIGHTHS = "▏▎▍▌▋▊▉█"


def hits_curve(ranks: Iterable[float] | Tally, max_n: int = MAX_N) -> Ranks:
    """Hits@1 to hits@max_n, each as `hits_at_k` gives it, shape (max_n,); never falling, in [0, 1].

    Raises:
        InputError: as `hits_at_k`.

    >>> hits_curve([1, 3, 5, 10, 20, 2, 1, 8, 15, 1], max_n=5).tolist()
    [0.3, 0.4, 0.5, 0.5, 0.6]
    """
    from openbiolink.metrics.ranking import Tally

    check_k(max_n)
    tally = ranks if isinstance(ranks, Tally) else tally_ranks(ranks)
    within = np.searchsorted(tally.ranks, np.arange(1, max_n + 1), side="right")
    return np.concatenate([[0], np.cumsum(tally.counts)])[within] / tally.total


def plot_hits_curve(ranks: Curves, max_n: int = MAX_N, *, ax: Any = None, path: Path | str | None = None) -> Any:
    """Draw the curve; no screen is needed and no window opens.

    Args:
        ranks: of one model, or of several by name.
        max_n: the largest n.
        ax: Matplotlib axes to draw on; new ones by default.
        path: a file to write the figure to (PNG, SVG or PDF by its name); none by default.

    Returns:
        The axes; `axes.figure` is the figure.

    Raises:
        InputError: as `hits_curve`, Matplotlib is not installed, or the file cannot be written.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError("plots need Matplotlib; install openbiolink[plot]") from error
    axes = Figure(figsize=(7, 4.5), layout="constrained").add_subplot() if ax is None else ax
    if isinstance(ranks, Mapping) and not ranks:
        raise InputError("there are no curves; give ranks, or ranks by name")
    curves = {name: hits_curve(given, max_n) for name, given in _named(ranks).items()}
    for name, values in curves.items():
        axes.plot(
            np.arange(1, max_n + 1), values, marker="o" if max_n <= 50 else None, markersize=4, label=name or None
        )
    axes.set(xlabel="n", ylabel="hits@n", title="Share of answers among the first n", ylim=(0, 1.02))
    step = max(1, 5 * round(max_n / 25)) if max_n > 10 else 1
    axes.set_xticks([1, *range(step if step > 1 else 2, max_n + 1, step)])
    axes.grid(visible=True, alpha=0.3)
    if any(curves):
        axes.legend()
    if path is not None:
        _write(axes.figure, path)
    return axes


def show_hits_curve(ranks: Curves, max_n: int = MAX_N) -> str:
    """The curve as lines of text, a bar for each n.

    Raises:
        InputError: as `hits_curve`.

    >>> print(show_hits_curve([1, 2, 2, 9], max_n=2))
    hits@1  0.2500 ██████████
    hits@2  0.7500 ██████████████████████████████
    """
    lines = []
    for name, given in _named(ranks).items():
        lines += [name] if name else []
        for n, value in enumerate(hits_curve(given, max_n).tolist(), 1):
            lines.append(f"{f'hits@{n}':<{len(str(max_n)) + 6}} {value:.4f} {_bar(value)}".rstrip())
    return "\n".join(lines)


def _bar(share: float) -> str:
    eighths = round(share * WIDTH * 8)
    return EIGHTHS[-1] * (eighths // 8) + (EIGHTHS[eighths % 8 - 1] if eighths % 8 else "")


def _named(ranks: Curves) -> dict[str, Any]:
    return dict(ranks) if isinstance(ranks, Mapping) else {"": ranks}


def _write(figure: Any, path: Path | str) -> None:
    """Write the figure whole or not at all."""
    import io
    from pathlib import Path as FilePath

    from openbiolink.files import write_bytes

    target = FilePath(path)
    kind = target.suffix.lower().removeprefix(".") or "png"
    stream = io.BytesIO()
    known = figure.canvas.get_supported_filetypes()
    if kind not in known:
        raise InputError(f"{target}: no plot is written as .{kind}; choose one of {', '.join(sorted(known))}")
    plain = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": "openbiolink"}):
        figure.savefig(stream, format=kind, dpi=150, metadata=plain.get(kind))
    write_bytes(target, stream.getvalue())
