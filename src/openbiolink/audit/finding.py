"""What an audit says: one finding per check, with counts, examples, and what a model would gain by it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = "openbiolink-audit/1"
Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")  # from the mildest


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One row that a check found, by names, and why."""

    part: str
    head: str
    relation: str
    tail: str
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check found.

    Attributes:
        id: of the check.
        title: what the check looks for, in a few words.
        severity: `info` where nothing was found.
        count: rows of any part; 0 for baselines.
        test_affected: rows of the test part.
        test_share: `test_affected` of all test rows, 0 to 1; 0 without test rows.
        examples: at most three, the first by name.
        mrr: of a baseline, over all test rows; None for other checks.
        mrr_affected: of the rule that copies what was found, over the affected test rows; None without such.
        mrr_unaffected: the same over the other test rows.
        details: more numbers of this check, fit for JSON.
    """

    id: str
    title: str
    severity: Severity
    count: int
    test_affected: int
    test_share: float
    examples: tuple[Example, ...] = ()
    mrr: float | None = None
    mrr_affected: float | None = None
    mrr_unaffected: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """All findings on one split.

    Attributes:
        checks: the findings, in the order of the checks.
        rows: part → {"positive": rows, "negative": rows}.
        entities: distinct entities of positive rows.
        relations: distinct relations of positive rows.
        inputs: what was read → {"file": name, "sha256": …}.
        notes: what was skipped or assumed while reading.
    """

    checks: tuple[Finding, ...]
    rows: Mapping[str, Mapping[str, int]]
    entities: int
    relations: int
    inputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def worst(self) -> Severity | None:
        """The severest of the checks that found something; None where none did."""
        found = [finding.severity for finding in self.checks if finding.count]
        return max(found, key=SEVERITIES.index, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON."""
        return {"format": FORMAT, "version": version("openbiolink"), **asdict(self)}
