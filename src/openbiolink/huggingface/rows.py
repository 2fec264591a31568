"""Relations as the modules for `evaluate` store them between `add` and `compute`.

`evaluate` keeps what is added in Arrow files, which can change values: a number among texts turns the other texts into
JSON. So everything is checked before it is stored, and what no column fits (spans, ids, scores) is stored as JSON.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from openbiolink.errors import InputError
from openbiolink.metrics.relation_extraction.checks import SIDES, check_document, iter_pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from openbiolink.metrics.relation_extraction.checks import Corpus, Name, Relation

Row = dict[str, str]

TEXTS = ("head", "head_type", "type", "tail", "tail_type")
EXTRAS = ("head_span", "tail_span", "head_id", "tail_id", "score")
PACKED = "extras"  # the column of those
COLUMNS = (*TEXTS, PACKED)


def rows_of(*, predictions: Corpus, references: Corpus, first: int = 0) -> dict[str, list[list[Row]]]:
    """Documents as they are stored: side → document → relation → column → text.

    Args:
        predictions: lists of relations, one per document; or such lists by document id.
        references: the same documents, in the same order or by the same ids.
        first: the number of the first document, for messages.

    Raises:
        InputError: something is no relation, or the two sides differ in their documents; the message names side,
            document, relation and field.

    >>> acid = {"head": "aspirin", "head_type": "drug", "type": "treats", "tail": "pain", "tail_type": "disease"}
    >>> rows_of(predictions=[[]], references=[[acid | {"head_span": [0, 1]}]])["references"][0][0]["extras"]
    '{"head_span": [0, 1]}'
    """
    rows: dict[str, list[list[Row]]] = {side: [] for side in SIDES}
    for number, (name, *sides) in enumerate(iter_pairs(predictions, references), start=first):
        for side, relations in zip(SIDES, sides, strict=True):
            rows[side].append(_stored(relations, side, number if name is None else name))
    return rows


def _stored(relations: object, side: str, document: Name) -> list[Row]:
    """The rows of a document."""
    rows = [_row(relation) for relation in check_document(relations, side=side, document=document)]
    try:
        "".join(text for row in rows for text in row.values()).encode()
    except UnicodeEncodeError:
        for place, row in enumerate(rows):
            for field, text in row.items():
                if not _is_unicode(text):
                    raise InputError(
                        f"{side}, document {document!r}, relation {place}: field {field!r} is {text!r}, which holds "
                        "half a character (a lone surrogate); correct it or leave the relation out"
                    ) from None
    return rows


def _row(relation: Relation) -> Row:
    row = {field: relation[field] for field in TEXTS}
    row[PACKED] = _packed(relation) if len(relation) > len(TEXTS) else ""
    return row


def _packed(relation: Relation) -> str:
    """What some options look at, as JSON; nothing where there is none of it."""
    extras = {field: relation[field] for field in EXTRAS if relation.get(field) is not None}
    return json.dumps(extras, ensure_ascii=False, default=repr) if extras else ""


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def relations_of(rows: Iterable[Sequence[Mapping[str, str]]]) -> list[list[dict[str, Any]]]:
    """Documents as they were given to `rows_of`, without fields that no option looks at.

    >>> acid = {"head": "aspirin", "head_type": "drug", "type": "treats", "tail": "pain", "tail_type": "disease"}
    >>> relations_of(rows_of(predictions=[[acid | {"page": 7}]], references=[[]])["predictions"]) == [[acid]]
    True
    """
    return [[_relation(row) for row in document] for document in rows]


def _relation(row: Mapping[str, str]) -> dict[str, Any]:
    extras = json.loads(row[PACKED]) if row[PACKED] else {}
    return {field: row[field] for field in TEXTS} | extras
