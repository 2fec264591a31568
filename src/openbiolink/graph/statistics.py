"""Counts of each rule: how many of its rows, identifiers and edges were of use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from openbiolink.graph.identifiers import OK
from openbiolink.graph.ledger import BELOW, KEPT, OBSOLETE, READ, REASONS, UNMAPPED, UNMAPPED_TAIL, LedgerEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import duckdb

    from openbiolink.sources.declarations import Rule

STATISTICS_HEADER = (
    "Edge Type", "Node1 Type", "Node2 Type", "Nr edges", "Nr edges no mapping", "Nr edges below cutoff",
    "Edges coverage", "Duplicated edges", "Nr edges return direction", "Nr edges after mapping (final nr)",
    "Nr nodes1 no mapping", "Nr nodes2 no mapping", "Nr nodes1", "Nr nodes2", "nodes1 coverage", "nodes2 coverage",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleStatistics:
    """Counts of one rule: rows that met its conditions, and what became of them and their identifiers.

    `additions` are edges before duplicates were merged, reversed copies included.
    """

    rule: str
    relation: str
    head_type: str
    tail_type: str
    negative: bool
    rows: int
    no_mapping: int
    below_quality: int
    additions: int
    returned: int
    edges: int
    heads: int
    tails: int
    heads_no_mapping: int
    tails_no_mapping: int


def count_statistics(
    connection: duckdb.DuckDBPyConnection, rule: Rule, number: int, entries: Sequence[LedgerEntry], *, copies: int
) -> RuleStatistics:
    """Count what became of a rule, whose tables `heads`, `tails` (with its number) and `candidates` are there.

    Args:
        connection: the database.
        rule: the rule.
        number: its place among those that are built together.
        entries: its ledger.
        copies: 2 where every edge is written in both directions, else 1.
    """
    rows = {entry.reason: entry.rows for entry in entries}
    no_rule = sum(count for reason, count in rows.items() if reason.split(":")[0] in {"negated", "filtered"})
    additions = count_rows(connection, f"candidates WHERE rule = {number} AND fate = {KEPT}")
    sides = {
        f"{side}{kind}": count_rows(connection, f"(SELECT DISTINCT code FROM {side}{number}{test})")
        for side in ("heads", "tails")
        for kind, test in (("", ""), ("_mapped", f" WHERE fate = {OK}"))
    }
    return RuleStatistics(
        rule=entries[0].rule,
        relation=rule.relation,
        head_type=rule.head.type,
        tail_type=rule.tail.type,
        negative=rule.negative,
        rows=rows[READ] - no_rule,
        no_mapping=sum(rows.get(REASONS[fate], 0) for fate in (OBSOLETE, UNMAPPED, UNMAPPED_TAIL)),
        below_quality=rows.get(REASONS[BELOW], 0),
        additions=additions * copies,
        returned=additions * (copies - 1),
        edges=sum(entry.edges for entry in entries),
        heads=sides["heads"],
        tails=sides["tails"],
        heads_no_mapping=sides["heads"] - sides["heads_mapped"],
        tails_no_mapping=sides["tails"] - sides["tails_mapped"],
    )


def statistics_text(statistics: Iterable[RuleStatistics]) -> str:
    """The text of `stats.txt`: a header, then a line for each rule."""
    lines = ["\t".join(STATISTICS_HEADER)]
    for entry in sorted(statistics, key=lambda entry: (entry.relation, entry.rule)):
        values = (
            entry.relation, entry.head_type, entry.tail_type, entry.rows, entry.no_mapping, entry.below_quality,
            _coverage(entry.no_mapping, entry.rows), entry.additions - entry.edges, entry.returned, entry.edges,
            entry.heads_no_mapping, entry.tails_no_mapping, entry.heads, entry.tails,
            _coverage(entry.heads_no_mapping, entry.heads), _coverage(entry.tails_no_mapping, entry.tails),
        )  # fmt: skip
        lines.append("\t".join(str(value) for value in values))
    return "\n".join(lines) + "\n"


def _coverage(lost: int, total: int) -> str:
    """The share that was not lost; empty where there was nothing."""
    return str(1 - lost / total) if total else ""


def count_rows(connection: duckdb.DuckDBPyConnection, what: str) -> int:
    """The number of rows of a table, or of whatever may stand behind FROM."""
    return int(connection.execute(f"SELECT count(*) FROM {what}").fetchall()[0][0])
