"""Splits by what is known of an edge beside the edge: when it was first stated, and which source states it."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path  # noqa: TC003, the command line reads the types of options
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np

from openbiolink.dataset import ignore
from openbiolink.errors import InputError
from openbiolink.files import iter_lines
from openbiolink.sources.catalogue import EDITIONS, load_catalogue
from openbiolink.split.negatives import CONTRASTIVE
from openbiolink.split.schemes import Flag, Scheme, assign_negatives

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from openbiolink.engines import Engine

DATE_COLUMNS = ("head", "relation", "tail", "date")
DATE = re.compile(r"[0-9]{4}(-[0-9]{2}){0,2}")
DATE_FORMS = "YYYY, YYYY-MM or YYYY-MM-DD"
SHOWN = 10


def days_of(text: str) -> tuple[str, str] | None:
    """The first and the last day that a date can mean, as YYYY-MM-DD; None where it is no date.

    >>> days_of("2020"), days_of("2020-02"), days_of("2020-02-30")
    (('2020-01-01', '2020-12-31'), ('2020-02-01', '2020-02-29'), None)
    """
    if not DATE.fullmatch(text):
        return None
    year, month, day = (*map(int, text.split("-")), 0, 0)[:3]
    try:
        first = date(year, month if len(text) > len("YYYY") else 1, day if len(text) > len("YYYY-MM") else 1)
    except ValueError:
        return None
    last = first
    if len(text) < len("YYYY-MM-DD"):
        end = month or 12
        last = date(year, end, calendar.monthrange(year, end)[1])
    return first.isoformat(), last.isoformat()


@dataclass(frozen=True, slots=True, kw_only=True)
class DateSplit(Scheme):
    """By date: what was first stated after a day is held out, and edges without a date stay in training.

    An edge is after a day if the earliest day that its date can mean is, and not after it if the latest is not. One
    that can be either is left out; an edge with several dates means all the time between them. A cut given as a year
    or a month is its last day. Negatives go by their own dates, where there are any, and are else shared out like the
    positives of their relation.

    Attributes:
        dates: a file of head, relation, tail and date, such as `edge_dates.tsv`; without a header.
        cut: edges after this day are tested.
        validation_cut: edges after this day, and not after `cut`, validate; not later than `cut`.
        tn_dates: the same file for true negatives.
    """

    name: ClassVar[str] = "dates"
    summary: ClassVar[str] = "Split a graph by the dates of its edges"

    dates: Annotated[Path, Flag("--dates", "FILE", "Dates of the edges, such as graph_files/edge_dates.tsv.")]
    cut: Annotated[str, Flag("--cut", "DATE", f"Later edges go to the test set ({DATE_FORMS}).")]
    validation_cut: Annotated[
        str | None, Flag("--val-cut", "DATE", "Later edges go to the validation set, up to --cut.")
    ] = None
    tn_dates: Annotated[
        Path | None, Flag("--tn-dates", "FILE", "Dates of true negatives, such as TN_edge_dates.tsv.")
    ] = None

    def check(self) -> None:
        """Refuse cuts that are no dates or in the wrong order."""
        for name, flag, value in (("cut", "--cut", self.cut), ("validation_cut", "--val-cut", self.validation_cut)):
            if value is not None and days_of(value) is None:
                raise InputError(f"{name} ({flag}) is {value!r}, expected {DATE_FORMS}, such as 2020-06-30")
        learned, known = self.last_days()
        if learned > known:
            raise InputError(
                f"validation_cut (--val-cut) is {self.validation_cut}, later than cut (--cut), {self.cut}; "
                "give an earlier one"
            )

    def last_days(self) -> tuple[str, str]:
        """The last day of the training set, and that of the validation set."""
        known = days_of(self.cut)
        learned = known if self.validation_cut is None else days_of(self.validation_cut)
        return (learned or ("", ""))[1], (known or ("", ""))[1]

    def inputs(self) -> dict[str, Path]:
        """The files of dates."""
        return {"dates": self.dates} if self.tn_dates is None else {"dates": self.dates, "tn_dates": self.tn_dates}

    def look_up(self, engine: Engine) -> None:
        """Make `dated` (h, r, t, positive, begins, ends, stated, number), what the files say.

        Raises:
            InputError: a file is absent or malformed, or a date is none.
        """
        _read_dates(engine, {True: self.dates, False: self.tn_dates})

    def assign(self, engine: Engine) -> None:
        """Make `assigned` by the dates of every row."""
        learned, known = self.last_days()
        engine.make(
            "placed",
            f"""
            SELECT edge.h, edge.r, edge.t, edge.positive, CASE
                    WHEN begins IS NULL OR ends <= '{learned}' THEN 'train' WHEN begins > '{known}' THEN 'test'
                    WHEN begins > '{learned}' AND ends <= '{known}' THEN 'validation' END AS part,
                CASE WHEN part IS NULL THEN 'date_straddles_cut:' || stated END AS reason
            FROM edge LEFT JOIN dated ON dated.h = edge.h AND dated.r = edge.r AND dated.t = edge.t
                AND dated.positive = edge.positive
            WHERE edge.positive OR begins IS NOT NULL
            """,
        )
        assign_negatives(engine, self.seed)
        engine.drop("placed")

    def details(self, engine: Engine) -> dict[str, Any]:
        """The last days, how many edges have no date and how many dates no edge, and what `reverse` took."""
        learned, known = self.last_days()
        [(undated,)] = engine.rows("""
            SELECT count(*) FROM fact ANTI JOIN (SELECT h, r, t FROM dated WHERE positive) dated USING (h, r, t)
        """)
        [(unused,)] = engine.rows("""
            SELECT coalesce(sum(number), 0) FROM dated LEFT JOIN (
                SELECT h, r, t, true AS positive FROM positive
                UNION ALL SELECT h, r, t, false AS positive FROM true_negative) edge
            ON edge.h = dated.h AND edge.r = dated.r AND edge.t = dated.t AND edge.positive = dated.positive
            WHERE edge.h IS NULL
        """)
        return {
            "last_training_day": learned,
            "last_validation_day": known,
            "undated_edges": undated,
            "dates_without_edge": int(unused),
            "split_directions": _split_directions(engine),
        }

    def notes(self, details: Mapping[str, Any]) -> list[str]:
        """Tell of edges without a date, of dates without an edge, and of symmetric edges with two dates."""
        found = {
            f"{details['undated_edges']} edges have no date and stay in training": details["undated_edges"],
            f"{details['dates_without_edge']} rows of the dates are of no edge of the graph": details[
                "dates_without_edge"
            ],
            f"{details['split_directions']} held-out edges of symmetric relations are in no part, since the date of "
            "their other direction puts that elsewhere": details["split_directions"],
        }
        return [line for line, number in found.items() if number]


def _read_dates(engine: Engine, files: Mapping[bool, Path | None]) -> None:
    """Make `dated` of the files for positives and for negatives: when each triple was stated, and in how many rows.

    Dates of nodes or relations that the graph lacks have NULL there.
    """
    engine.make("raw_date", "SELECT '' AS head, '' AS relation, '' AS tail, '' AS date, true AS positive WHERE false")
    spans: dict[str, tuple[str, str]] = {}
    for positive, path in files.items():
        if path is not None:
            engine.read(path, table="read_date", columns=DATE_COLUMNS, note=ignore)
            spans |= _spans(engine, path)
            engine.append("raw_date", f"SELECT head, relation, tail, date, {positive} FROM read_date")
            engine.drop("read_date")
    dates = sorted(spans)
    begins, ends = ([spans[text][place] for text in dates] for place in (0, 1))
    engine.put("day", {"date": dates, "begins": begins, "ends": ends})
    engine.make(
        "dated",
        """
        SELECT head.id AS h, relation.id AS r, tail.id AS t, positive, min(begins) AS begins, max(ends) AS ends,
            CASE WHEN min(day.date) = max(day.date) THEN min(day.date)
                 ELSE min(day.date) || '/' || max(day.date) END AS stated, count(*) AS number
        FROM raw_date JOIN day ON day.date = raw_date.date LEFT JOIN node head ON head.name = raw_date.head
        LEFT JOIN relation ON relation.name = raw_date.relation LEFT JOIN node tail ON tail.name = raw_date.tail
        GROUP BY head.id, relation.id, tail.id, positive
        """,
    )
    engine.drop("raw_date", "day")


def _spans(engine: Engine, path: Path) -> dict[str, tuple[str, str]]:
    """The first and last day of every date in `read_date`, which was read from a file."""
    spans = {text: days_of(text) for (text,) in engine.rows("SELECT DISTINCT date FROM read_date")}
    wrong = {text for text, days in spans.items() if days is None}
    if wrong:
        raise InputError(f"{path}, {_place_of(path, wrong)}; dates are {DATE_FORMS}: mend it, or leave the row out")
    return {text: days for text, days in spans.items() if days is not None}


def _place_of(path: Path, wrong: set[str]) -> str:
    """Where the first of these dates stands, and what it is."""
    if path.suffix == ".parquet":
        return f"a row: {min(wrong)!r} is no date"
    dates = (line.rpartition("\t")[2] for line in iter_lines(path, ignore))
    return next(f"line {number}: {text!r} is no date" for number, text in enumerate(dates, start=1) if text in wrong)


def _split_directions(engine: Engine) -> int:
    """How many positives of symmetric relations the clean-up removed since their reverse is in another part."""
    [(number,)] = engine.rows("""
        SELECT count(*) FROM removed JOIN relation ON relation.id = removed.r
        WHERE positive AND undirected AND reason = 'reverse'
    """)
    return int(number)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSplit(Scheme):
    """By source: what some sources alone state is held out, and what they do not state is trained on.

    The sources of an edge are the pieces of its source cell, which `;` separates. An edge that has sources of two parts
    is of neither. True negatives go by their sources too; those without one, and drawn ones, are shared out like the
    positives of their relation.

    Attributes:
        test_sources: edges of nothing but these are tested.
        validation_sources: edges of nothing but these validate.
        mixed: `remove` or `train`, what becomes of edges of several parts.
    """

    name: ClassVar[str] = "source"
    summary: ClassVar[str] = "Split a graph by the sources of its edges"

    test_sources: Annotated[tuple[str, ...], Flag("--test-source", "NAME", "Source to test on; may be repeated.")]
    validation_sources: Annotated[
        tuple[str, ...], Flag("--val-source", "NAME", "Source to validate on; may be repeated.")
    ] = ()
    mixed: Annotated[
        Literal["remove", "train"], Flag("--mixed", "WHAT", "What becomes of edges with sources of several parts.")
    ] = "remove"

    def check(self) -> None:
        """Refuse an empty choice, a source in two parts and another fate of mixed edges."""
        if not self.test_sources:
            raise InputError("test_sources (--test-source) is empty, expected the name of a source at least")
        if both := sorted(set(self.test_sources) & set(self.validation_sources)):
            raise InputError(f"{both[0]!r} is a test source and a validation source (--val-source); choose one of them")
        if self.mixed not in {"remove", "train"}:
            raise InputError(f"mixed (--mixed) is {self.mixed!r}, expected remove or train")

    def part_of(self, names: Iterable[str]) -> str:
        """The part of an edge with these sources; empty where they are of several parts.

        >>> split = SourceSplit(test_sources=("A", "B"))
        >>> split.part_of(["B", "A"]), split.part_of([]), split.part_of(["A", "C"])
        ('test', 'train', '')
        """
        held = dict.fromkeys(self.validation_sources, "validation") | dict.fromkeys(self.test_sources, "test")
        parts = {held.get(name, "train") for name in names} or {"train"}
        if len(parts) == 1:
            return parts.pop()
        return "" if self.mixed == "remove" else "train"

    def look_up(self, engine: Engine) -> None:
        """See that each of the sources states an edge.

        Raises:
            InputError: one does not.
        """
        known = {name for (cell,) in engine.rows("SELECT DISTINCT source FROM fact") for name in _names(cell)}
        for flag, names in (("--test-source", self.test_sources), ("--val-source", self.validation_sources)):
            for name in names:
                if name not in known:
                    more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
                    there = f"there are {', '.join(sorted(known)[:SHOWN])}{more}" if known else "no edge names any"
                    raise InputError(f"{flag} {name!r} is the source of no edge; {there}")

    def assign(self, engine: Engine) -> None:
        """Make `assigned` by the sources of every row."""
        cells = engine.rows("SELECT DISTINCT positive, source FROM edge WHERE curated")
        used = sorted((positive, cell) for positive, cell in cells if positive or _names(cell))
        engine.put(
            "cell",
            {
                "positive": np.array([positive for positive, _ in used], dtype=np.bool_),
                "source": [cell for _, cell in used],
                "part": [self.part_of(_names(cell)) for _, cell in used],
            },
        )
        engine.make(
            "placed",
            """
            SELECT h, r, t, edge.positive, CASE WHEN cell.part <> '' THEN cell.part END AS part,
                CASE WHEN cell.part = '' THEN 'mixed_sources:' || edge.source END AS reason
            FROM edge JOIN cell ON cell.positive = edge.positive AND cell.source = edge.source WHERE curated
            """,
        )
        assign_negatives(engine, self.seed)
        engine.drop("cell", "placed")

    def details(self, engine: Engine) -> dict[str, Any]:
        """How many edges each held source has a part in, and which sources in training have their content."""
        numbers: dict[str, int] = {}
        mixed = 0
        for cell, number in engine.rows("SELECT source, count(*) FROM fact GROUP BY source"):
            names = _names(cell)
            mixed += number * (len({self.part_of([name]) for name in names}) > 1)
            for name in names:
                numbers[name] = numbers.get(name, 0) + number
        held = {"test": self.test_sources, "validation": self.validation_sources}
        learned = numbers.keys() - {*self.test_sources, *self.validation_sources}
        return {
            "sources": {part: {name: numbers[name] for name in sorted(set(names))} for part, names in held.items()},
            "mixed_edges": mixed,
            "split_directions": _split_directions(engine),
            "shared_content": shared_content({*self.test_sources, *self.validation_sources}, learned),
        }

    def notes(self, details: Mapping[str, Any]) -> list[str]:
        """Tell of edges with sources of several parts, and of content that reaches training by another source."""
        fate = "are in no part" if self.mixed == "remove" else "stay in training"
        lines = [f"{details['mixed_edges']} edges have sources of several parts and {fate}"]
        halves = (
            f"{details['split_directions']} held-out edges of symmetric relations are in no part, since the source of "
            "their other direction puts that elsewhere"
        )
        return [
            *(lines if details["mixed_edges"] else []),
            *([halves] if details["split_directions"] else []),
            *details["shared_content"],
        ]


def _names(cell: str) -> list[str]:
    """The sources that a cell names; what marks a contrastive negative is none."""
    return [name for name in cell.removeprefix(f"{CONTRASTIVE}:").split(";") if name]


def shared_content(held: Iterable[str], learned: Iterable[str]) -> list[str]:
    """Why a source in training may tell what a held-out one says, as far as the packaged catalogues know; a line each.

    >>> shared_content(["DISEASES"], ["Reactome", "SIDER"])
    []
    >>> shared_content(["CTD"], ["Reactome"])
    ['held-out source CTD is derived from Reactome, which is in training']
    """
    origins = _origins()
    upstream = {name: _upstream(name, origins) for name in {*held, *learned}}
    lines = []
    for one in sorted(set(held)):
        for other in sorted(set(learned)):
            if other in upstream[one]:
                lines.append(f"held-out source {one} is derived from {other}, which is in training")
            elif one in upstream[other]:
                lines.append(f"{other}, which is in training, is derived from held-out source {one}")
            elif common := sorted(upstream[one] & upstream[other]):
                shared = ", ".join(common)
                lines.append(f"held-out source {one} and {other}, which is in training, are both derived from {shared}")
    return lines


def _origins() -> dict[str, set[str]]:
    """What each source, by its name in source cells, is derived from in any edition."""
    origins: dict[str, set[str]] = {}
    for catalogue in map(load_catalogue, EDITIONS):
        labels = {rule.source: rule.label for rule in catalogue.rules.values()}
        for source, label in labels.items():
            origins.setdefault(label, set()).update(
                labels.get(origin, origin) for origin in catalogue.sources[source].derived_from
            )
    return origins


def _upstream(name: str, origins: Mapping[str, set[str]]) -> set[str]:
    """Everything that a source is derived from, at any distance."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = origins.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found - {name}
