"""Which documents of the references and of the predictions belong together."""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from openbiolink.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from openbiolink.metrics.relation_extraction.fields import Relations

    Named = tuple[str | None, Relations]  # id and relations of a document
    Pair = tuple[str | None, Relations, Relations]  # id, references and predictions of a document
    Both = Iterable[tuple[Named | None, Named | None]]

SIDES = ("references", "predictions")
SHOWN = 3  # ids that a message names


def pair_documents(
    references: Iterable[Named], predictions: Iterable[Named], *, by_position: bool = False
) -> Iterator[Pair]:
    """The documents of two files: those of one id belong together or, where neither has ids, those of one position.

    A pair is given on as soon as both are there, in memory that grows with the distance between them.

    Args:
        references: id and relations of documents.
        predictions: the same documents, in any order if they have ids.
        by_position: pair by position even if there are ids.

    Yields:
        Id, references and predictions of each document.

    Raises:
        InputError: a document is on one side alone, an id comes twice, or one side alone has ids.

    >>> [*pair_documents([("a", []), ("b", [])], [("b", [{}]), ("a", [])])]
    [('b', [], [{}]), ('a', [], [])]
    """
    both = zip_longest(references, predictions)
    first = next(both, None)
    if first is None:
        return
    has_ids = [one[0] is not None for one in first if one is not None]
    if by_position or not any(has_ids):
        yield from _by_position(chain([first], both))
    elif all(has_ids):
        yield from _by_id(chain([first], both))
    else:
        raise _one_sided()


def _one_sided() -> InputError:
    return InputError(
        "one of references and predictions has document ids, the other has none; give ids in both, "
        "or say --by-position (by_position=True) to pair them in the order they have"
    )


def _by_position(both: Both) -> Iterator[Pair]:
    wanted = found = 0
    for one, other in both:
        wanted += one is not None
        found += other is not None
        if one is not None and other is not None:
            yield one[0] if one[0] is not None else other[0], one[1], other[1]
    if wanted != found:
        raise InputError(
            f"{found} predictions and {wanted} references, which are paired by position; "
            "give one list of relations for each document on both sides"
        )


def _by_id(both: Both) -> Iterator[Pair]:
    waiting: tuple[dict[str, Relations], dict[str, Relations]] = ({}, {})
    seen: tuple[set[str], set[str]] = (set(), set())
    for couple in both:
        for side, one in enumerate(couple):
            if one is None:
                continue
            name, relations = one
            if name is None:
                raise _one_sided()
            if name in seen[side]:
                raise InputError(f"{SIDES[side]}: document {name!r} comes twice; give every document once")
            seen[side].add(name)
            if name in waiting[1 - side]:
                other = waiting[1 - side].pop(name)
                yield (name, relations, other) if side == 0 else (name, other, relations)
            else:
                waiting[side][name] = relations
    for word, rest in zip(SIDES, waiting, strict=True):
        if alone := [*rest]:
            more = f" and {len(alone) - SHOWN:,} more" if alone[SHOWN:] else ""
            raise InputError(
                f"only the {word} have document {', '.join(map(repr, alone[:SHOWN]))}{more}; "
                "give every document on both sides, with an empty list where it has no relation"
            )
