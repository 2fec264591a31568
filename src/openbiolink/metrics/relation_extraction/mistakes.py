"""Each error of an extraction with its document and its kind, from the one that is closest to right to the farthest.

    wrong type         head and tail are right, the relation type is another
    wrong entity type  relation type, head and tail are right, a type of head or tail is another
    reversed           head and tail have changed places
    near miss          the relation type is right, head and tail are so or nearly so
    missing            in the references, and nothing like it in the predictions
    spurious           in the predictions, and nothing like it in the references

The first four are a reference and a prediction at once: one fn and one fp. Of each kind, in this order, as many pairs
are made as can be; the rest is missing or spurious. What is right is what the options say, so that entity types are no
errors in mode `boundaries`, and one way round is as good as the other for symmetric types.

Two texts are near if they are equal but for case, blanks and Unicode form, or all words of one are among those of the
other, or the ratio of matching characters (2 m / length of both) is 0.8 at least. Two spans are near if they share a
place. Concept ids are equal or not, so that there are no near misses of them. Near misses take time in proportion to
the missing times the spurious relations that a document has of a type.

Source of the ratio: Ratcliff & Metzener 1988, "Pattern Matching: The Gestalt Approach".
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from openbiolink.metrics.relation_extraction.checks import SIDES, iter_pairs, list_relations
from openbiolink.metrics.relation_extraction.matching import (
    Dropped,
    crossed,
    match_relations,
    overlap,
    pair_keys,
    pair_wrong_types,
    read_keys,
    same_end,
    same_ends,
    shown,
    turned,
)
from openbiolink.metrics.relation_extraction.settings import NORMALISE, make_settings, normalised

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
    from typing import Unpack

    from openbiolink.metrics.relation_extraction.checks import Corpus, Document, Name
    from openbiolink.metrics.relation_extraction.matching import Key, Matched
    from openbiolink.metrics.relation_extraction.settings import RelationOptions, Settings

    Nearness = Callable[[str, str], bool]

Kind = Literal["wrong type", "wrong entity type", "reversed", "near miss", "missing", "spurious"]
KINDS: tuple[Kind, ...] = get_args(Kind)
NEAR = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationError:
    """An error.

    Attributes:
        document: its id, or its number from 0.
        kind: one of `KINDS`.
        reference: what should have been found; None where it is spurious.
        prediction: what was found; None where it is missing.
        differs: the fields in which the two differ as the options compare them; none where one of them is None.
    """

    document: Name
    kind: Kind
    reference: dict[str, Any] | None
    prediction: dict[str, Any] | None
    differs: tuple[str, ...]


def iter_errors(
    *, predictions: Corpus, references: Corpus, **options: Unpack[RelationOptions]
) -> Iterator[RelationError]:
    """The errors of all documents, in the order of the documents, then by kind and content.

    Args:
        predictions: as in `score_relations`.
        references: as there.
        **options: as there.

    Raises:
        InputError: as there.

    >>> acid = {"head": "aspirin", "head_type": "drug", "type": "treats", "tail": "pain", "tail_type": "disease"}
    >>> [one.kind for one in iter_errors(predictions=[[acid | {"type": "causes"}]], references=[[acid]])]
    ['wrong type']
    """
    settings = make_settings(**options)
    pairs: Iterable[tuple[Name | None, Document, Document]] = iter_pairs(predictions, references)
    types = None
    if settings.types_from == "references":
        pairs, types = list(pairs), set()
        for number, (name, found, wanted) in enumerate(pairs):
            listed = list_relations(wanted, SIDES[1], number if name is None else name)
            pairs[number] = name, found, listed
            types |= {key[0] for key in _read(listed, SIDES[1], number if name is None else name, settings)}
    for number, (name, found, wanted) in enumerate(pairs):
        document = number if name is None else name
        yield from document_errors(
            prediction=found, reference=wanted, document=document, settings=settings, types=types
        )


def document_errors(
    *,
    prediction: Document,
    reference: Document,
    document: Name,
    settings: Settings,
    types: Collection[str] | None = None,
) -> list[RelationError]:
    """The errors of one document, by kind and content.

    Args:
        prediction: its relations as predicted.
        reference: its relations as they should be.
        document: its id or number.
        settings: of the scorer.
        types: the only types that predictions may have, where types are those of all references; None for all.

    Raises:
        InputError: something is no relation.
    """
    found, wanted = _read(prediction, SIDES[0], document, settings), _read(reference, SIDES[1], document, settings)
    if types is not None:
        found = {key: relation for key, relation in found.items() if key[0] in types}
    left = match_relations(found, wanted, settings)
    pairs: list[tuple[Kind, Key | None, Key | None]] = []
    for kind, pair in _stages(settings) if left.missing and left.spurious else ():
        left = pair(left.missing, left.spurious)
        pairs += [(kind, key, other) for key, other in sorted(left.right)]
    pairs += [("missing", key, None) for key in sorted(left.missing)]
    pairs += [("spurious", None, other) for other in sorted(left.spurious)]
    return [
        RelationError(
            document=document,
            kind=kind,
            reference=None if key is None else shown(wanted[key]),
            prediction=None if other is None else shown(found[other]),
            differs=() if key is None or other is None else _differences(key, other, kind, settings),
        )
        for kind, key, other in pairs
    ]


def _read(relations: object, side: str, document: Name, settings: Settings) -> dict[Key, Any]:
    return read_keys(relations, side=side, document=document, settings=settings, dropped=Dropped())


def _stages(settings: Settings) -> Iterator[tuple[Kind, Callable[[Collection[Key], Collection[Key]], Matched]]]:
    """Each kind of pair, and what makes such pairs of the missing and the spurious relations."""
    relaxed, symmetric = settings.mode == "relaxed", settings.symmetric

    def either_way(key: Key, other: Key, fits: Callable[[Key, Key], bool]) -> bool:
        return fits(key, other) or (key[0] in symmetric and fits(key, turned(other)))

    def by_ends(key: Key) -> Hashable:
        return key[0], *(() if relaxed else sorted((key[1], key[3])))

    def same(key: Key, other: Key) -> bool:
        return either_way(key, other, lambda one, two: same_ends(one, two, settings))

    def by_type(key: Key) -> Hashable:
        return key[0]

    nearness = _nearness(settings)

    def near(key: Key, other: Key) -> bool:
        return either_way(key, other, lambda one, two: nearness(one[1], two[1]) and nearness(one[3], two[3]))

    yield "wrong type", lambda missing, spurious: pair_wrong_types(missing, spurious, settings)
    yield "wrong entity type", lambda missing, spurious: pair_keys(missing, spurious, by_ends, same)
    yield (
        "reversed",
        lambda missing, spurious: pair_keys(missing, spurious, by_ends, lambda one, two: crossed(one, two, settings)),
    )
    yield "near miss", lambda missing, spurious: pair_keys(missing, spurious, by_type, near)


def _nearness(settings: Settings) -> Callable[[Any, Any], bool]:
    """Whether two heads, or two tails, are near."""
    if settings.match == "span":
        return overlap
    if settings.match == "id":
        return lambda *_: False

    @cache
    def forms(text: str) -> tuple[str, frozenset[str]]:
        words = normalised(text, NORMALISE).split(" ")
        return "".join(words), frozenset(words)

    @lru_cache(1 << 16)
    def near(one: str, other: str) -> bool:
        (joined, words), (joined_other, words_other) = forms(one), forms(other)
        if joined == joined_other or (joined and joined_other and (words <= words_other or words_other <= words)):
            return True
        if 2 * min(len(joined), len(joined_other)) < NEAR * (len(joined) + len(joined_other)):
            return False  # as the ratio would say
        left, right = sorted((joined, joined_other))  # the ratio depends on the order
        matcher = SequenceMatcher(None, left, right, autojunk=False)
        return matcher.quick_ratio() >= NEAR and matcher.ratio() >= NEAR

    return near


def _differences(key: Key, other: Key, kind: Kind, settings: Settings) -> tuple[str, ...]:
    """The fields in which a reference and a prediction differ, the prediction turned round where that is closer."""
    ending = {"text": "", "span": "_span", "id": "_id"}[settings.match]
    names = ("type", f"head{ending}", "head_type", f"tail{ending}", "tail_type")

    def apart(found: Key) -> tuple[str, ...]:
        ends = [same_end(key[place], found[place], settings) for place in (1, 3)]
        same = (key[0] == found[0], ends[0], key[2] == found[2], ends[1], key[4] == found[4])
        return tuple(name for name, equal in zip(names, same, strict=True) if not equal)

    may_turn = kind != "reversed" and (key[0] in settings.symmetric or other[0] in settings.symmetric)
    return min(apart(other), apart(turned(other)), key=len) if may_turn else apart(other)
