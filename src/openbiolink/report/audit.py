"""An audit as one page that needs no network, no script and no other file."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from openbiolink.audit.finding import FORMAT
from openbiolink.audit.render import ADVICE, state
from openbiolink.errors import InputError
from openbiolink.files import write_text
from openbiolink.report import page_environment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from openbiolink.audit.finding import Audit, Finding

    Cells = Sequence[Sequence[Any]]

SHOWN = 50  # rows of a table of details
BASELINE = "_baseline"
HEAD = 400  # bytes from the start of a page that name its format


def check_page(path: Path) -> None:
    """Refuse a path where something else than such a page would be overwritten.

    Raises:
        InputError: it is a folder, or a file that is no page of an audit.
    """
    if path.is_dir():
        raise InputError(f"{path}: is a folder, expected a file name; give one in it")
    if path.is_file():
        with path.open("rb") as stream:
            begins = stream.read(HEAD)
        if begins and FORMAT.encode() not in begins:
            raise InputError(f"{path}: exists and is no page of an audit; choose another name")


def write_page(audit: Audit, path: Path) -> None:
    """Write the page of an audit; it is there whole or as it was before.

    Raises:
        InputError: as `check_page`, or nothing can be written there.
    """
    check_page(path)
    write_text(path, render_page(audit))


def render_page(audit: Audit) -> str:
    """The page as text; the same audit gives the same bytes."""
    measured = [finding for finding in audit.checks if finding.mrr is not None]
    found = [finding for finding in audit.checks if finding.count]
    return (
        page_environment()
        .get_template("audit.html.jinja")
        .render(
            audit=audit,
            format=FORMAT,
            version=version("openbiolink"),
            severities=[(name, sum(one.severity == name for one in found)) for name in ("error", "warning", "info")],
            found=[(finding, *_details(finding)) for finding in found],
            clean=[finding for finding in audit.checks if state(finding) == "ok"],
            baselines=measured,
            columns=[(finding.id.removesuffix(BASELINE), [finding.mrr]) for finding in measured],
            advice=ADVICE,
            state=state,
        )
    )


def _details(finding: Finding) -> tuple[dict[str, object], list[tuple[str, Sequence[str], Cells, int]]]:
    """The details that are one value each, and the others as tables: name, names of columns, cells, all rows."""
    facts: dict[str, object] = {}
    tables: list[tuple[str, Sequence[str], Cells, int]] = []
    for name, value in finding.details.items():
        words = name.replace("_", " ")
        if columns_and_cells := _as_table(value):
            columns, cells = columns_and_cells
            tables.append((words, columns, cells[:SHOWN], len(cells)))
        else:
            facts[words] = value
    return facts, tables


def _as_table(value: object) -> tuple[list[str], list[list[Any]]] | None:
    """Names of columns, and rows, of what is a mapping or a sequence of mappings; None of anything else.

    >>> _as_table({"a": 1}), _as_table([{"x": 1, "y": 2}]), _as_table({"a": {"x": 1}}), _as_table(3)
    ((['', ''], [['a', 1]]), (['x', 'y'], [[1, 2]]), (['', 'x'], [['a', 1]]), None)
    """
    if isinstance(value, Mapping) and value:
        pairs = [(name, row if isinstance(row, Mapping) else {"": row}) for name, row in value.items()]
        rows = [{"": name} | {f"{key}": cell for key, cell in row.items()} for name, row in pairs if "" not in row]
        if not rows:
            return ["", ""], [[name, row[""]] for name, row in pairs]
    elif isinstance(value, list | tuple) and value and all(isinstance(row, Mapping) for row in value):
        rows = [dict(row) for row in value]
    else:
        return None
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return columns, [[row.get(name) for name in columns] for row in rows]
