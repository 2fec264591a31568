"""`openbiolink metrics ranks`: the metrics of ranks in files, of whatever program they come from."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openbiolink.cli.screen import note, page_console, plain, progress_bars
from openbiolink.errors import InputError
from openbiolink.progress import silent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.table import Table

    from openbiolink.metrics.accumulator import RankingEvaluator

FORMAT = "openbiolink-rank-metrics/1"
FEWEST = 10  # draws that an interval needs
LARGE = 1 << 26  # bytes of files from which on progress is shown


def ranks(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Text files of ranks, or files of `evaluate --ranks-out`."),
    ],
    ks: Annotated[str, typer.Option(metavar="K,K,...", help="The k of hits@k.")] = "1,3,10",
    by: Annotated[
        str,
        typer.Option(metavar="NAME,...", help="Columns to group by, as in relation,side.", show_default="no groups"),
    ] = "",
    columns: Annotated[
        str,
        typer.Option(
            metavar="NAME[,NAME]",
            help="The column of ranks, or that of heads and that of tails.",
            show_default="rank, or head_rank and tail_rank",
        ),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw hits@n for n up to 20 (PNG, SVG or PDF); also printed as text."),
    ] = None,
    workers: Annotated[int, typer.Option(metavar="N", min=1, help="Processes, for several or large files.")] = 1,
    bootstrap: Annotated[
        int, typer.Option(metavar="N", min=0, max=100_000, help="Draws for 95 % intervals, 10 at least; 0 for none.")
    ] = 0,
    against: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Other ranks of the same queries, line by line, to compare FILE with."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Of the random draws.")] = 0,
) -> None:
    """Work out MRR, hits@k, mean and median rank of ranks in files.

    A file has one rank a line, or tab-separated columns under a header (rank, relation, side; or head_rank and
    tail_rank). All files are counted together, in memory that grows with the number of different ranks only.
    """
    from openbiolink.metrics.curves import plot_hits_curve, show_hits_curve

    if 0 < bootstrap < FEWEST:
        raise InputError(
            f"--bootstrap {bootstrap}: too few draws for an interval; give {FEWEST} or more, or 0 for none"
        )
    if double := next((path for path in files if files.count(path) > 1), None):
        raise InputError(f"{double}: is given twice, and its ranks would count twice; give every file once")
    counted = _counted(files, _whole(ks), _names(by), _names(columns) or None, workers)
    found: dict[str, Any] = {"format": FORMAT, "files": [path.name for path in files], **counted.result()}
    draws = {"seed": seed, "resamples": bootstrap or 1000}
    if bootstrap or against is not None:
        found |= _uncertain(files, against, _names(columns) or None, _whole(ks), bootstrap=bootstrap, draws=draws)
    if plot is not None:
        plot_hits_curve(counted.tally(), path=plot)
    if as_json:
        print(json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False))
        return
    console = page_console()
    for table in _tables(found, counted.by, against):
        console.print(table)
    if plot is not None:
        console.print(show_hits_curve(counted.tally()), markup=False)
        print(plot)
    if "not_found" in found:
        note(f"answers that were not found: {found['not_found']:,}; they add 0 to MRR and hits, and have no mean rank")


def _counted(
    files: Sequence[Path], ks: Sequence[int], by: Sequence[str], columns: Sequence[str] | None, workers: int
) -> RankingEvaluator:
    """The ranks of text files, and of files that `evaluate` kept."""
    from openbiolink.evaluation.breakdown import by_relation, by_side
    from openbiolink.evaluation.rankfile import is_kept
    from openbiolink.evaluation.rankfile import read_ranks as read_kept
    from openbiolink.metrics.accumulator import RankingEvaluator
    from openbiolink.metrics.rank_files import read_ranks

    kept = [path for path in files if path.is_file() and is_kept(path)]
    texts = [path for path in files if path not in kept]
    large = sum(path.stat().st_size for path in texts if path.is_file()) > LARGE
    evaluator = RankingEvaluator(ks, by=by)
    if texts:
        with progress_bars() if large else nullcontext(silent) as report:
            options: dict[str, Any] = {"by": by, "columns": columns, "workers": workers}
            evaluator.merge(read_ranks(texts, ks, note=note, report=report, **options))
    if kept and (columns or {*by} - {"relation", "side"}):
        raise InputError(
            f"{kept[0]}: kept ranks are grouped by relation and side alone; leave --columns and others out"
        )
    for path in kept:
        one = read_kept(path)
        labels = {"relation": by_relation(one), "side": by_side(one)}
        given = {name: [labels[name].names[of] for of in labels[name].of.ravel()] for name in by}
        evaluator.add_batch(one.ranks("both").ravel(), **given)
    return evaluator


def _uncertain(
    files: Sequence[Path],
    against: Path | None,
    columns: Sequence[str] | None,
    ks: Sequence[int],
    *,
    bootstrap: int,
    draws: Mapping[str, int],
) -> dict[str, Any]:
    """Intervals, and the comparison with other ranks."""
    import numpy as np

    from openbiolink.metrics.uncertainty import bootstrap_ranks, compare_ranks

    rows = _rows(files, columns)
    other = None if against is None else _rows([against], columns)
    metrics = ["mrr", *(f"hits@{k}" for k in ks)]
    if np.isfinite(rows).all() and (other is None or np.isfinite(other).all()):
        metrics.append("mean_rank")
    found: dict[str, Any] = dict(draws)
    if bootstrap:
        found["intervals"] = {name: asdict(one) for name, one in bootstrap_ranks(rows, metrics, **draws).items()}
    if against is not None and other is not None:
        if rows.shape != other.shape:
            raise InputError(
                f"{against}: has {len(other)} lines of {other.shape[1]} ranks, expected {len(rows)} of {rows.shape[1]} "
                f"as in {', '.join(map(str, files))}; give ranks of the same queries in the same order"
            )
        pairs = compare_ranks(other, rows, metrics, **draws)
        found["comparison"] = {"against": against.name, "metrics": {name: asdict(one) for name, one in pairs.items()}}
    return found


def _rows(files: Sequence[Path], columns: Sequence[str] | None) -> Any:
    """All ranks of the files, a row for each line."""
    import numpy as np

    from openbiolink.evaluation.rankfile import is_kept
    from openbiolink.metrics.rank_files import iter_rank_rows

    for path in files:
        if path.is_file() and is_kept(path):
            raise InputError(f"{path}: holds kept ranks; `openbiolink compare` has their intervals and differences")
    found = [rows for path in files for rows in iter_rank_rows(path, columns=columns, note=note) if len(rows)]
    if not found or len({rows.shape[1] for rows in found}) > 1:
        raise InputError(
            f"{', '.join(map(str, files))}: no ranks, or one column in some and two in others; give like files"
        )
    return np.concatenate(found)


def _tables(found: Mapping[str, Any], by: Sequence[str], against: Path | None) -> list[Table]:
    from rich.table import Table

    from openbiolink.errors import visible

    names = [
        "count",
        *(name for name in found if name == "mrr" or name.startswith("hits@")),
        "mean_rank",
        "median_rank",
    ]
    metrics = Table()
    for name in by:
        metrics.add_column(name, overflow="fold")
    for name in names:
        metrics.add_column(name, justify="right")
    for group in found.get("groups", ()):
        metrics.add_row(*(plain(visible(group[name])) for name in by), *(_shown(name, group[name]) for name in names))
    metrics.add_section()
    metrics.add_row(*(["all", *[""] * (len(by) - 1)] if by else []), *(_shown(name, found[name]) for name in names))
    tables = [metrics]
    if "intervals" in found:
        tables.append(Table("metric", "value", "95 % interval", "standard error"))
        for name, one in found["intervals"].items():
            ends = f"{_shown(name, one['low'])} … {_shown(name, one['high'])}"
            tables[-1].add_row(name, _shown(name, one["value"]), ends, _shown(name, one["standard_error"]))
    if against is not None:
        titles = ("difference", "95 % interval", "p", "better / same / worse lines")
        tables.append(Table("metric", *titles, title=f"difference from {plain(against.name)}"))
        for name, one in found["comparison"]["metrics"].items():
            ends = f"{_shown(name, one['low'])} … {_shown(name, one['high'])}"
            counts = f"{one['wins']:,} / {one['ties']:,} / {one['losses']:,}"
            tables[-1].add_row(name, _shown(name, one["difference"]), ends, f"{one['p']:.4f}", counts)
    return tables


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if name == "count" else f"{value:,.2f}" if name.endswith("rank") else f"{value:.4f}"


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _whole(text: str) -> list[int]:
    names = _names(text)
    if not names or not all(name.isascii() and name.isdecimal() and int(name) for name in names):
        raise InputError(f"--ks {text}: expected whole numbers of at least 1 with commas between them, as in 1,3,10")
    return [int(name) for name in names]
