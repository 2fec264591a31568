"""Which predicted relation is which referenced one, in one document.

A relation is compared as a key: type, head, head type, tail, tail type. What head and tail are (texts, spans, ids) and
whether their types count, the settings say; types that do not count are empty texts in the key. Repeats of a key are
one relation. In relaxed mode spans that share a place fit, and as many pairs are made as can be.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING, Any, NamedTuple

from openbiolink.metrics.relation_extraction.checks import (
    FIELDS,
    ids_of,
    list_relations,
    scores_of,
    spans_of,
    texts_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Sequence

    from openbiolink.metrics.relation_extraction.checks import Name, Relation
    from openbiolink.metrics.relation_extraction.settings import Settings

Key = tuple[str, Any, str, Any, str]
Pairs = list[tuple[Key, Key]]  # of a referenced and a predicted relation
Dropped = Counter[tuple[str, str, str]]  # reason, side, relation type → how many

REPEAT, BELOW, LEFT_OUT, OUTSIDE = "repeats", "below_threshold", "left_out", "outside_relation_types"
UNSCORED = "without_score"  # these count, since no threshold tells whether they should
REASONS = (REPEAT, BELOW, LEFT_OUT, OUTSIDE, UNSCORED)
EXTRAS = ("head_span", "tail_span", "head_id", "tail_id", "score")


class Matched(NamedTuple):
    """What became of the relations of a document.

    Attributes:
        right: pairs of referenced and predicted.
        missing: referenced ones that no prediction is.
        spurious: predicted ones that no reference is.
    """

    right: Pairs
    missing: list[Key]
    spurious: list[Key]


def read_keys(
    relations: object, *, side: str, document: Name, settings: Settings, dropped: Dropped
) -> dict[Key, Relation]:
    """The different relations of one side of a document that count.

    Args:
        relations: as given.
        side: `predictions` or `references`.
        document: its number or id, for messages.
        settings: what counts.
        dropped: what does not is counted here, and what has no score where there is a threshold.

    Raises:
        InputError: something is no relation.
    """
    listed = list_relations(relations, side, document)
    keys: list[Key] = [*texts_of(listed, side, document)]
    scores = scores_of(listed, side, document) if settings.threshold is not None and side == "predictions" else None
    if settings.match == "text" and settings.normalise:
        keys = [(key[0], settings.text(key[1]), key[2], settings.text(key[3]), key[4]) for key in keys]
    elif settings.match != "text":
        ends = (spans_of if settings.match == "span" else ids_of)(listed, side, document)
        keys = [(key[0], head, key[2], tail, key[4]) for key, (head, tail) in zip(keys, ends, strict=True)]
    if settings.mode == "boundaries":
        keys = [(key[0], key[1], "", key[3], "") for key in keys]
    if settings.symmetric:
        keys = [turned(key) if key[0] in settings.symmetric and key[3:] < key[1:3] else key for key in keys]
    if scores is not None or settings.leave_out or settings.relation_types is not None:
        kept = _kept(keys, scores, side, settings, dropped)
        keys, listed = [keys[place] for place in kept], [listed[place] for place in kept]
    found = dict(zip(keys, listed, strict=True))
    if len(found) < len(keys):
        for key, relation in zip(keys, listed, strict=True):
            if _order(relation) < _order(found[key]):
                found[key] = relation
        for kind, times in (Counter(key[0] for key in keys) - Counter(key[0] for key in found)).items():
            dropped[REPEAT, side, kind] += times
    return found


def _kept(
    keys: Sequence[Key], scores: Sequence[float | None] | None, side: str, settings: Settings, dropped: Dropped
) -> list[int]:
    """The places of the relations that count."""
    kept = []
    for place, key in enumerate(keys):
        score = None if scores is None else scores[place]
        if score is not None and settings.threshold is not None and score < settings.threshold:
            dropped[BELOW, side, key[0]] += 1
        elif key[0] in settings.leave_out:
            dropped[LEFT_OUT, side, key[0]] += 1
        elif settings.relation_types is not None and key[0] not in settings.relation_types:
            dropped[OUTSIDE, side, key[0]] += 1
        else:
            kept.append(place)
            if scores is not None and score is None:
                dropped[UNSCORED, side, key[0]] += 1
    return kept


def shown(relation: Relation) -> dict[str, Any]:
    """The fields of a relation that are known here, in one order."""
    return {name: relation[name] for name in (*FIELDS, *EXTRAS) if name in relation}


def _order(relation: Relation) -> str:
    """Something to choose among repeats by, so that their order does not matter."""
    return repr(shown(relation))


def turned(key: Key) -> Key:
    """The relation with head and tail changed."""
    return (key[0], key[3], key[4], key[1], key[2])


def match_relations(predicted: Collection[Key], referenced: Collection[Key], settings: Settings) -> Matched:
    """Which of the different relations of a document are the same; what is returned has no order by chance.

    Args:
        predicted: keys of predictions, each once.
        referenced: keys of references, each once.
        settings: in relaxed mode, as many pairs as can be are made of relations of one type whose entity types are
            the same and whose spans share a place.
    """
    if settings.mode != "relaxed":
        one, other = frozenset(predicted), frozenset(referenced)
        right = one & other
        return Matched([(key, key) for key in right], [*(other - right)], [*(one - right)])

    def group(key: Key) -> Hashable:
        return key[0], *(sorted((key[2], key[4])) if key[0] in settings.symmetric else (key[2], key[4]))

    def fits(key: Key, found: Key) -> bool:
        return straight(key, found, settings) or (key[0] in settings.symmetric and crossed(key, found, settings))

    return pair_keys(referenced, predicted, group, fits)


def straight(key: Key, other: Key, settings: Settings) -> bool:
    """Whether two relations have the same ends, whatever their types are."""
    return key[2] == other[2] and key[4] == other[4] and same_ends(key, other, settings)


def crossed(key: Key, other: Key, settings: Settings) -> bool:
    """Whether the ends of one relation are those of the other the other way round."""
    return straight(key, turned(other), settings)


def same_ends(key: Key, other: Key, settings: Settings) -> bool:
    """Whether heads and tails are the same, whatever the entity types are."""
    return same_end(key[1], other[1], settings) and same_end(key[3], other[3], settings)


def same_end(one: Any, other: Any, settings: Settings) -> bool:
    """Whether two heads, or two tails, are the same: spans that share a place are so in relaxed mode."""
    return overlap(one, other) if settings.mode == "relaxed" else bool(one == other)


def overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two spans [start, end) share a place.

    >>> overlap((0, 3), (2, 4)), overlap((0, 3), (3, 4))
    (True, False)
    """
    return one[0] < other[1] and other[0] < one[1]


def pair_wrong_types(missing: Collection[Key], spurious: Collection[Key], settings: Settings) -> Matched:
    """The pairs of relations with the same ends and another type; a symmetric type has its ends in both orders."""
    relaxed, symmetric = settings.mode == "relaxed", settings.symmetric
    if not relaxed and not symmetric:
        shared = {key[1:] for key in missing}.intersection([key[1:] for key in spurious])
        if not shared:  # as in most documents
            return Matched([], [*missing], [*spurious])

    def group(key: Key) -> Hashable:
        return tuple(sorted((key[2], key[4])) if relaxed else sorted((key[1:3], key[3:])))

    def fits(key: Key, found: Key) -> bool:
        either = key[0] in symmetric or found[0] in symmetric
        return key[0] != found[0] and (straight(key, found, settings) or (either and crossed(key, found, settings)))

    return pair_keys(missing, spurious, group, fits)


def pair_keys(
    referenced: Collection[Key],
    predicted: Collection[Key],
    group: Callable[[Key], Hashable],
    fits: Callable[[Key, Key], bool],
) -> Matched:
    """As many pairs of a reference and a prediction that fit as there can be.

    Args:
        referenced: keys, each once, in any order.
        predicted: keys, each once, in any order.
        group: a label that two keys which fit have in common.
        fits: (reference, prediction) → whether they do.
    """
    groups: dict[Hashable, tuple[list[Key], list[Key]]] = defaultdict(lambda: ([], []))
    for side, keys in enumerate((referenced, predicted)):
        for key in sorted(keys):
            groups[group(key)][side].append(key)
    right = []
    for left, others in groups.values():
        if left and others:
            right += [(left[one], others[other]) for one, other in largest_pairing(left, others, fits)]
    taken, found = {one for one, _ in right}, {other for _, other in right}
    return Matched(
        right, [key for key in referenced if key not in taken], [key for key in predicted if key not in found]
    )


def largest_pairing(
    left: Sequence[Any], right: Sequence[Any], fits: Callable[[Any, Any], bool]
) -> list[tuple[int, int]]:
    """A largest set of pairs that fit, no member in two of them, by augmenting paths.

    Source: Berge 1957, "Two Theorems in Graph Theory". The same lists give the same pairs.

    Returns:
        Places in `left` and `right`, in the order of `left`.

    >>> largest_pairing([1, 2], [2, 4], lambda one, other: other % one == 0)
    [(0, 0), (1, 1)]
    """
    near = [[place for place, other in enumerate(right) if fits(one, other)] for one in left]
    of_left: list[int | None] = [None] * len(left)
    of_right: list[int | None] = [None] * len(right)
    for start in range(len(left)):
        came: dict[int, int] = {}  # from where each place on the right was reached
        waiting, free = deque([start]), None
        while waiting and free is None:
            one = waiting.popleft()
            for other in near[one]:
                if other in came:
                    continue
                came[other] = one
                if (holder := of_right[other]) is None:
                    free = other
                    break
                waiting.append(holder)
        while free is not None:
            one = came[free]
            of_right[free], of_left[one], free = one, free, of_left[one]
    return [(one, other) for one, other in enumerate(of_left) if other is not None]
