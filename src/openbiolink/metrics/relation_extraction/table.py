"""The errors of an extraction as a table of tab-separated columns, an error a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openbiolink.errors import visible
from openbiolink.metrics.relation_extraction.checks import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from openbiolink.metrics.relation_extraction.mistakes import RelationError

SIDES = ("reference", "prediction")
COLUMNS = (*FIELDS, "head_span", "tail_span", "head_id", "tail_id", "score")
HEADER = ("document", "kind", "differs", *(f"{side}_{name}" for side in SIDES for name in COLUMNS))


def errors_table(errors: Iterable[RelationError]) -> str:
    r"""The errors as UTF-8 text with the header `HEADER`.

    A cell is empty where a relation lacks the field, or is not there. A span is written as `start:end`, fields that
    differ with commas between. A backslash is written as `\\`, and what is not seen, or moves what is, as Python writes
    it: `\t`, `\n`, `\r`, or its number as `\x1b`, `\u202e`.

    >>> errors_table([]).split()[:3]
    ['document', 'kind', 'differs']
    """
    lines = ["\t".join(HEADER)]
    for one in errors:
        cells = [str(one.document), one.kind, ",".join(one.differs)]
        cells += [_cell(relation, name) for relation in (one.reference, one.prediction) for name in COLUMNS]
        lines.append("\t".join(visible(cell.replace("\\", "\\\\")) for cell in cells))
    return "\n".join(lines) + "\n"


def _cell(relation: Mapping[str, Any] | None, name: str) -> str:
    value = None if relation is None else relation.get(name)
    if isinstance(value, list | tuple):
        return ":".join(map(str, value))
    return "" if value is None else str(value)
