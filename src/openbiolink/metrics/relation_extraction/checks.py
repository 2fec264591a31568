"""Whether what is given are relations, documents and corpora; what is not is refused with its place, never mended.

A relation is a mapping with the texts `type`, `head`, `head_type`, `tail` and `tail_type`. Where the options need them
it also has `head_span` and `tail_span` ([start, end), whole numbers), `head_id` and `tail_id` (texts) or `score` (a
finite number). Other fields are ignored. A text may be empty, but the relation type may not, nor may it be `ALL`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from openbiolink.errors import InputError
from openbiolink.metrics.relation_extraction.fields import counted
from openbiolink.metrics.relation_extraction.settings import TOTAL, is_finite

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Relation = Mapping[str, Any]
Document = Iterable[Relation]
Corpus = Iterable[Document] | Mapping[str, Document]
Texts = tuple[str, str, str, str, str]
Span = tuple[int, int]
Name = str | int

FIELDS = ("type", "head", "head_type", "tail", "tail_type")
SIDES = ("predictions", "references")
_TEXTS = itemgetter(*FIELDS)
_REFUSED = frozenset(("", TOTAL))


def check_document(relations: object, *, side: str, document: Name) -> Sequence[Relation]:
    """Refuse what is not a list of relations; spans, ids and scores are not looked at.

    Args:
        relations: of the document.
        side: `predictions` or `references`, for the message.
        document: its number from 0, or its id, for the message.

    Returns:
        The relations as a list.

    Raises:
        InputError: the message names side, document, relation and field.

    >>> check_document([None], side="predictions", document=0)
    Traceback (most recent call last):
    openbiolink.errors.InputError: predictions, document 0, relation 0: is None (NoneType), expected a mapping; give one
    """
    listed = list_relations(relations, side, document)
    texts_of(listed, side, document)
    return listed


def list_relations(relations: object, side: str, document: Name) -> Sequence[Relation]:
    """The relations of a document as a list of mappings.

    Raises:
        InputError: there is no list, or something in it is no mapping.
    """
    if isinstance(relations, list):
        listed = relations
    elif isinstance(relations, Iterable) and not isinstance(relations, str | bytes | Mapping):
        listed = [*relations]
    else:
        raise InputError(
            f"{side}, document {document!r}: is {_shown(relations)}, expected a list of relations; "
            "put the relations of each document into a list"
        )
    if not {*map(type, listed)} <= {dict}:
        for place, relation in enumerate(listed):
            if not isinstance(relation, Mapping):
                raise InputError(
                    f"{side}, document {document!r}, relation {place}: is {_shown(relation)}, expected a mapping; "
                    "give one"
                )
    return listed


def texts_of(relations: Sequence[Relation], side: str, document: Name) -> list[Texts]:
    """The five texts of each relation, in the order of `FIELDS`.

    Raises:
        InputError: one is missing or no text, or a type is empty or that of the total.
    """
    try:
        texts = [*map(_TEXTS, relations)]
        "".join(chain.from_iterable(texts))  # the quickest way to see that all are texts
        if _REFUSED.isdisjoint([one[0] for one in texts]):
            return texts
    except (KeyError, TypeError):
        pass
    for place, relation in enumerate(relations):
        for field in FIELDS:
            if field not in relation:
                raise InputError(
                    f"{side}, document {document!r}, relation {place}: has no field {field!r}; "
                    f"a relation has {', '.join(FIELDS)}"
                )
            value = relation[field]
            if not isinstance(value, str):
                raise _wrong((side, document, place, field), value, "a text")
            if field == "type" and value in _REFUSED:
                raise _wrong((side, document, place, field), value, f"a name that is not empty and not {TOTAL}")
    raise AssertionError("what is wrong with the relations was not found")


def ids_of(relations: Sequence[Relation], side: str, document: Name) -> list[tuple[str, str]]:
    """The concept ids of head and tail of each relation.

    Raises:
        InputError: one is missing, no text or empty.
    """
    found = []
    for place, relation in enumerate(relations):
        for field in ("head_id", "tail_id"):
            value = relation.get(field)
            if not isinstance(value, str) or not value:
                raise _wrong((side, document, place, field), value, "a concept id (match='id')")
        found.append((relation["head_id"], relation["tail_id"]))
    return found


def spans_of(relations: Sequence[Relation], side: str, document: Name) -> list[tuple[Span, Span]]:
    """The spans of head and tail of each relation.

    Raises:
        InputError: one is missing, or not two whole numbers with 0 <= start < end.
    """
    found = []
    for place, relation in enumerate(relations):
        ends: list[Span] = []
        for field in ("head_span", "tail_span"):
            value = relation.get(field)
            if not isinstance(value, list | tuple) or len(value) != 2 or not all(type(one) is int for one in value):
                raise _wrong((side, document, place, field), value, "[start, end), two whole numbers")
            if not 0 <= value[0] < value[1]:
                raise _wrong((side, document, place, field), value, "[start, end) with 0 <= start < end")
            ends.append((value[0], value[1]))
        found.append((ends[0], ends[1]))
    return found


def scores_of(relations: Sequence[Relation], side: str, document: Name) -> list[float | None]:
    """The score of each relation, None where it has none.

    Raises:
        InputError: one is no finite number.
    """
    found: list[float | None] = []
    for place, relation in enumerate(relations):
        score = relation.get("score")
        if "score" in relation and not is_finite(score):
            of_alias = "confidence" in relation and relation["confidence"] is score
            raise _wrong((side, document, place, "confidence" if of_alias else "score"), score, "a finite number")
        found.append(score)
    return found


def _wrong(at: tuple[str, Name, int, str], value: object, expected: str) -> InputError:
    """The error of a field that holds something else."""
    side, document, place, field = at
    return InputError(
        f"{side}, document {document!r}, relation {place}: field {field!r} is {_shown(value)}, expected {expected}; "
        "correct it or leave the relation out"
    )


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        text = "a value too long to show"
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"


def iter_pairs(predictions: Corpus, references: Corpus) -> Iterator[tuple[Name | None, Document, Document]]:
    """(id, prediction, reference) of each document, by position, or by id where both are mappings.

    Raises:
        InputError: the two are not of one kind, of one length or of the same ids.
    """
    for side, corpus in zip(SIDES, (predictions, references), strict=True):
        if isinstance(corpus, str | bytes) or not isinstance(corpus, Iterable):
            raise InputError(f"{side} are {_shown(corpus)}, expected a list of documents; give one list per document")
    if isinstance(predictions, Mapping) and isinstance(references, Mapping):
        for side, corpus, other in (("predictions", predictions, references), ("references", references, predictions)):
            if lost := [name for name in other if name not in corpus]:
                raise InputError(
                    f"{side} have no document {lost[0]!r}, which the other side has ({len(lost)} such ids); "
                    "give every document on both sides, with an empty list where it has no relation"
                )
        return ((name, predictions[name], references[name]) for name in references)
    if isinstance(predictions, Mapping) or isinstance(references, Mapping):
        raise InputError("one side has documents by id, the other a list of them; give both in one way")
    given, wanted = [*predictions], [*references]
    if len(given) != len(wanted):
        sides = f"{counted(len(given), 'prediction')} and {counted(len(wanted), 'reference')}"
        raise InputError(
            f"{sides}, which are paired by position; "
            "give one list of relations for each document on both sides, an empty one where it has no relation"
        )
    return ((None, one, other) for one, other in zip(given, wanted, strict=True))
