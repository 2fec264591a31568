"""Which documents of the references and of the predictions belong together."""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from openbiolink.errors import InputError
from openbiolink.metrics.relation_extraction.fields import Unplaced, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from openbiolink.metrics.relation_extraction.fields import Relations, Side, Text

    Named = tuple[str | None, Relations]  # id and relations of a document
    Both = Iterable[tuple[Unplaced | None, Unplaced | None]]

SIDES: tuple[Side, Side] = ("references", "predictions")
SHOWN = 3  # ids that a message names


class Pair(NamedTuple):
    """A document of both sides.

    Attributes:
        id: None where neither side has one.
        references: its relations there.
        predictions: its relations there.
        text: that its spans are of; None where no side knows it.
    """

    id: str | None
    references: Relations
    predictions: Relations
    text: Text | None


def pair_documents(
    references: Iterable[Named], predictions: Iterable[Named], *, by_position: bool = False
) -> Iterator[tuple[str | None, Relations, Relations]]:
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
    wanted, found = ((Unplaced(*one, None) for one in side) for side in (references, predictions))
    for pair in pair_texts(wanted, found, by_position=by_position):
        yield pair[:3]


def pair_texts(
    references: Iterable[Unplaced],
    predictions: Iterable[Unplaced],
    *,
    by_position: bool = False,
    files: Mapping[Side, object] | None = None,
) -> Iterator[Pair]:
    """As `pair_documents`, and the two texts of a document must be the same where both are tokens, or both characters.

    Args:
        references: of one file.
        predictions: of the other.
        by_position: pair by position even if there are ids.
        files: where each side is from, for messages.

    Raises:
        InputError: as `pair_documents`, or the texts differ.
    """
    both = zip_longest(references, predictions)
    first = next(both, None)
    if first is None:
        return
    has_ids = [one.id is not None for one in first if one is not None]
    if by_position or not any(has_ids):
        pairs = _by_position(chain([first], both), files)
    elif all(has_ids):
        pairs = _by_id(chain([first], both), files)
    else:
        raise _one_sided(files)
    for number, (one, other) in enumerate(pairs):
        name = one.id if one.id is not None else other.id
        if one.text is not None and type(one.text) is type(other.text) and one.text != other.text:
            raise InputError(
                f"{_place(files)}document {number if name is None else name!r} has one text in the references and "
                "another in the predictions, so its spans cannot be compared; give the documents of one text on both "
                "sides in the same order, or with ids"
            )
        yield Pair(name, one.relations, other.relations, one.text if one.text is not None else other.text)


def _place(files: Mapping[Side, object] | None, *sides: Side) -> str:
    """How a message begins: with the files of these sides, of both if none is named."""
    names = dict.fromkeys(str(files[side]) for side in sides or SIDES) if files else ()
    return f"{' and '.join(names)}: " if names else ""


def _one_sided(files: Mapping[Side, object] | None) -> InputError:
    return InputError(
        f"{_place(files)}one of references and predictions has document ids, the other has none; give ids in both, "
        "or say --by-position (by_position=True) to pair them in the order they have"
    )


def _by_position(both: Both, files: Mapping[Side, object] | None) -> Iterator[tuple[Unplaced, Unplaced]]:
    wanted = found = 0
    for one, other in both:
        wanted += one is not None
        found += other is not None
        if one is not None and other is not None:
            yield one, other
    if wanted != found:
        sides = f"{counted(found, 'prediction')} and {counted(wanted, 'reference')}"
        raise InputError(
            f"{_place(files)}{sides}, which are paired by position; "
            "give one list of relations for each document on both sides, an empty one where it has no relation"
        )


def _by_id(both: Both, files: Mapping[Side, object] | None) -> Iterator[tuple[Unplaced, Unplaced]]:
    waiting: tuple[dict[str, Unplaced], dict[str, Unplaced]] = ({}, {})
    seen: tuple[set[str], set[str]] = (set(), set())
    for couple in both:
        for side, one in enumerate(couple):
            if one is None:
                continue
            name = one.id
            if name is None:
                raise _one_sided(files)
            if name in seen[side]:
                place = f"{_place(files, SIDES[side])}{SIDES[side]}"
                raise InputError(f"{place}: document {name!r} comes twice; give every document once")
            seen[side].add(name)
            if name in waiting[1 - side]:
                other = waiting[1 - side].pop(name)
                yield (one, other) if side == 0 else (other, one)
            else:
                waiting[side][name] = one
    for word, rest in zip(SIDES, waiting, strict=True):
        if alone := [*rest]:
            more = f" and {len(alone) - SHOWN:,} more" if alone[SHOWN:] else ""
            raise InputError(
                f"{_place(files)}only the {word} have document {', '.join(map(repr, alone[:SHOWN]))}{more}; "
                "give every document on both sides, with an empty list where it has no relation"
            )
