"""An audit as text for the terminal, and the words that say what to do about each finding."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Group, RenderableType
    from rich.table import Table

    from openbiolink.audit.finding import Audit, Finding

STYLES = MappingProxyType({"error": "bold red", "warning": "yellow", "info": "", "ok": "dim"})
ADVICE: Mapping[str, str] = MappingProxyType(
    {
        "duplicate": "Keep one row of each triple; --fix keeps that of training.",
        "loop": "Remove them, or say of the data that an entity may be joined to itself.",
        "reversed": "Split unordered pairs, not rows, so that both directions fall into one part; --fix removes "
        "the held-out row.",
        "super_relation": "Keep an edge and all that it implies in one part; --fix removes the held-out row.",
        "inverse_relation": "Keep one of the two relations, or declare them as inverses and split their pairs "
        "together.",
        "near_duplicate_relation": "Keep one of the two relations, or split their pairs together.",
        "contained_relation": "Declare the general relation as parent of the special one, or split their pairs "
        "together.",
        "same_pair": "Split by unordered pair if a link of one kind must not hint at another kind.",
        "cartesian_relation": "Leave these relations out of the test part: two lists of entities say all of them.",
        "transitive": "Test on edges that do not follow from others, and keep those that do in training.",
        "negative_collision": "Draw negatives against the positives of all parts and what they imply; --fix "
        "removes the negative.",
        "unseen_entity": "Remove these rows, or say that the split is inductive; many models cannot score them.",
        "unseen_relation": "Remove these rows: no model can have learnt a relation that it never met.",
        "degree_baseline": "Report it beside every model: what does not beat it has learnt nothing about the pair.",
        "frequency_baseline": "Report it beside every model: what does not beat it has learnt nothing about the pair.",
        "copy_baseline": "Report it beside every model: so much is had by copying rows of other parts.",
        "component_drift": "Hold out fewer edges, or only such as keep their ends in one component of training.",
    }
)


def state(finding: Finding) -> str:
    """The severity of what was found, `ok` where nothing was and no baseline was measured."""
    return finding.severity if finding.count or finding.mrr is not None else "ok"


def render_text(audit: Audit) -> Group:
    """The findings as a table for the terminal, and the examples of each in words below it."""
    from rich.console import Group
    from rich.text import Text

    counts = [f"{part} {_counted(rows)}" for part, rows in audit.rows.items()]
    sizes = f"{audit.entities:,} entities, {audit.relations:,} relations"
    parts: list[RenderableType] = [Text(f"{'; '.join(counts)}; {sizes}"), _table(audit)]
    for finding in audit.checks:
        if finding.count and finding.examples:
            parts += _examples(finding)
    parts += [Text(f"note: {note}") for note in audit.notes]
    return Group(*parts)


def _counted(rows: Mapping[str, int]) -> str:
    negative = rows.get("negative", 0)
    return f"{rows['positive']:,}" + (f" (and {negative:,} negative)" if negative else "")


def _table(audit: Audit) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("severity", "check"):
        table.add_column(name, no_wrap=True)
    for name in ("rows", "test\nrows", "of test", "MRR of\nthe rule", "on affected\ntest rows", "on the\nothers"):
        table.add_column(name, justify="right", no_wrap=True)
    for finding in audit.checks:
        level = state(finding)
        numbers = (finding.mrr, finding.mrr_affected, finding.mrr_unaffected)
        table.add_row(
            level,
            finding.id,
            f"{finding.count:,}",
            f"{finding.test_affected:,}",
            f"{finding.test_share:.1%}",
            *("-" if number is None or level == "ok" else f"{number:.4f}" for number in numbers),
            style=STYLES[level],
        )
    return table


def _examples(finding: Finding) -> list[RenderableType]:
    """A heading with the title, and two lines for each example: the row, and why it was found."""
    from rich.padding import Padding
    from rich.text import Text

    lines: list[RenderableType] = [Text(f"\n{finding.id}: {finding.title}", style="bold")]
    for example in finding.examples:
        triple = f"{example.part}: {example.head}  {example.relation}  {example.tail}"
        lines.append(Padding(Text(triple), (0, 0, 0, 2), expand=False))
        lines.append(Padding(Text(example.because, style="dim"), (0, 0, 0, 6), expand=False))
    return lines
