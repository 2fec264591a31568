"""What became of every row: one count under one reason, checked, and held against what was expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from openbiolink.errors import InputError, OpenBioLinkError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from openbiolink.sources.declarations import Band

# Reasons in their order: a row with several takes the first. The numbers are used in SQL.
KEPT, DUPLICATE, BELOW, NEGATED, FILTERED, OBSOLETE, UNMAPPED, UNMAPPED_TAIL, SELF_LOOP = range(9)
REASONS = {
    KEPT: "kept",
    DUPLICATE: "duplicate",
    BELOW: "below_quality",
    NEGATED: "negated",
    FILTERED: "filtered",
    OBSOLETE: "obsolete",
    UNMAPPED: "unmapped_head",
    UNMAPPED_TAIL: "unmapped_tail",
    SELF_LOOP: "self_loop",
}
READ = "read"


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """How many rows of a rule met a fate, and how many edges the kept ones gave."""

    rule: str
    source: str
    reason: str
    rows: int
    edges: int = 0


def ledger_of(
    name: str, source: str, early: Sequence[tuple[str, int]], late: Mapping[int, int], edges: int
) -> list[LedgerEntry]:
    """One entry of all rows read, then one for each reason that any row has, in the order of the reasons.

    Args:
        name: the rule.
        source: its source.
        early: reason → rows that the rule's conditions leave out.
        late: fate → rows, of the others.
        edges: how many edges the kept rows gave.
    """
    rows = {REASONS[fate]: count for fate, count in late.items()} | dict(early)
    order = list(REASONS.values())
    reasons = sorted(rows, key=lambda reason: (order.index(reason.split(":")[0]), reason))
    entries = [LedgerEntry(rule=name, source=source, reason=READ, rows=sum(rows.values()))]
    for reason in reasons:
        given = edges if reason == REASONS[KEPT] else 0
        entries.append(LedgerEntry(rule=name, source=source, reason=reason, rows=rows[reason], edges=given))
    return entries


def check_ledger(entries: Sequence[LedgerEntry], *, read: int) -> None:
    """Fail the build if a row of the source is not accounted for under exactly one known reason.

    Raises:
        OpenBioLinkError: a reason is unknown, or the rows do not add up to those read.
    """
    name = entries[0].rule
    reasons = [entry.reason for entry in entries[1:]]
    unknown = [reason for reason in reasons if reason.split(":")[0] not in REASONS.values()]
    if unknown:
        raise OpenBioLinkError(f"rule {name!r}: {unknown[0]!r} is no reason of the ledger; please report this")
    counted = sum(entry.rows for entry in entries[1:])
    if not entries[0].rows == counted == read or len(reasons) != len(set(reasons)):
        raise OpenBioLinkError(
            f"rule {name!r}: {read} rows were read but {counted} are accounted for; please report this"
        )


def band_fault(entries: Sequence[LedgerEntry], band: Band | None, *, cut: bool, file: str) -> str:
    """In words, how the rows of a rule differ from those expected; nothing where they do not.

    Args:
        entries: the ledger of the rule.
        band: what is expected.
        cut: whether rows below a quality level are left out; how many are kept says nothing then.
        file: name of the source's file.
    """
    rows = {entry.reason: entry.rows for entry in entries}
    expected = {} if band is None else {READ: band.read, REASONS[KEPT]: None if cut else band.kept}
    faults = [
        f"{rows.get(reason, 0):,} rows {reason}, expected {limits[0]:,} to {limits[1]:,}"
        for reason, limits in expected.items()
        if limits is not None and not limits[0] <= rows.get(reason, 0) <= limits[1]
    ]
    return f"rule {entries[0].rule}: {' and '.join(faults)}, of {file} ({entries[0].source})" if faults else ""


def check_bands(faults: Mapping[str, str]) -> None:
    """Stop the build where rules have another number of rows than expected.

    Args:
        faults: rule → in which way, of those that have and that are not allowed to.

    Raises:
        InputError: there are any; the message names all of them.
    """
    if faults:
        way_out = " ".join(f"--allow-band {rule}" for rule in faults)
        raise InputError(
            f"{'; '.join(faults.values())}: a file is cut short or has changed; check it, or let it pass with {way_out}"
        )
