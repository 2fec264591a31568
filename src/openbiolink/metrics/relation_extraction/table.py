"""The errors of an extraction as a table of tab-separated columns, an error a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openbiolink.metrics.relation_extraction.checks import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from openbiolink.metrics.relation_extraction.mistakes import RelationError

SIDES = ("reference", "prediction")
COLUMNS = (*FIELDS, "head_span", "tail_span", "head_id", "tail_id", "score")
HEADER = ("document", "kind", "differs", *(f"{side}_{name}" for side in SIDES for name in COLUMNS))
ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def errors_table(errors: Iterable[RelationError]) -> str:
    r"""The errors as UTF-8 text with the header `HEADER`.

    A cell is empty where a relation lacks the field, or is not there. A span is written as `start:end`, fields that
    differ with commas between. Backslash, tab, LF and CR are written as `\\`, `\t`, `\n` and `\r`, and half a character
    (a lone surrogate) by its number.

    >>> errors_table([]).split()[:3]
    ['document', 'kind', 'differs']
    """
    lines = ["\t".join(HEADER)]
    for one in errors:
        cells = [str(one.document), one.kind, ",".join(one.differs)]
        cells += [_cell(relation, name) for relation in (one.reference, one.prediction) for name in COLUMNS]
        lines.append("\t".join(cell.translate(ESCAPES) for cell in cells))
    return ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace").decode("utf-8")


def _cell(relation: Mapping[str, Any] | None, name: str) -> str:
    value = None if relation is None else relation.get(name)
    if isinstance(value, list | tuple):
        return ":".join(map(str, value))
    return "" if value is None else str(value)


def visible(text: str) -> str:
    r"""The text with everything that is not seen, or moves what is, written as an escape.

    >>> visible("a\x1b[31mb"), visible("\u202e")
    ('a\\x1b[31mb', '\\u202e')
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)
