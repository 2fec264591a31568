"""What counts as the same relation, which relations count, and how results are shown: checked once, then fixed."""

from __future__ import annotations

import hashlib
import math
import unicodedata
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

from openbiolink.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

Mode = Literal["strict", "boundaries", "relaxed"]
Match = Literal["text", "span", "id"]
TypesFrom = Literal["union", "references"]
Scale = Literal["percent", "fraction"]
Normalise = Literal["case", "blanks", "unicode"]
Fact = tuple[str, str, str]

TOTAL = "ALL"  # the row of the total, so that no relation type may have this name
CHOICES: dict[str, tuple[str, ...]] = {
    "mode": get_args(Mode),
    "match": get_args(Match),
    "types_from": get_args(TypesFrom),
    "scale": get_args(Scale),
}
NORMALISE: tuple[str, ...] = get_args(Normalise)


class RelationOptions(TypedDict, total=False):
    """The options that all functions for relations share; `score_relations` says what each means."""

    mode: Mode
    match: Match | None
    relation_types: Collection[str] | None
    types_from: TypesFrom
    symmetric: Collection[str]
    leave_out: Collection[str]
    scale: Scale
    normalise: Collection[Normalise]
    known_facts: Iterable[Fact] | None
    threshold: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options as they are used; collections without repeats, in the order of their names.

    Attributes:
        mode: `strict`, `boundaries` or `relaxed`.
        match: `text`, `span` or `id`: what of head and tail is compared; `span` in relaxed mode.
        relation_types: the only types that count; None where all do.
        types_from: which types have a row where `relation_types` does not say it.
        symmetric: types whose head and tail may change places.
        leave_out: types that are taken out on both sides.
        scale: `percent` or `fraction`.
        normalise: what is done to the texts of heads and tails.
        known_facts: (head, type, tail) of training, normalised and turned round like relations; None where not given.
        threshold: the lowest score that a prediction may have; None where scores do not matter.
    """

    mode: Mode = "strict"
    match: Match = "text"
    relation_types: tuple[str, ...] | None = None
    types_from: TypesFrom = "union"
    symmetric: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    scale: Scale = "percent"
    normalise: tuple[str, ...] = ()
    known_facts: frozenset[Fact] | None = None
    threshold: float | None = None

    @property
    def whole(self) -> float:
        """What a perfect score is."""
        return 100.0 if self.scale == "percent" else 1.0

    def fact(self, kind: str, head: str, tail: str) -> Fact:
        """A fact with its ends in the order that the type demands."""
        return (tail, kind, head) if kind in self.symmetric and tail < head else (head, kind, tail)

    def text(self, given: str) -> str:
        """The text of a head or tail as it is compared."""
        return normalised(given, self.normalise)

    def as_document(self) -> dict[str, Any]:
        """The settings as plain Python that JSON can hold; of the known facts their number."""
        return {
            "mode": self.mode,
            "match": self.match,
            "relation_types": None if self.relation_types is None else [*self.relation_types],
            "types_from": self.types_from,
            "symmetric": [*self.symmetric],
            "leave_out": [*self.leave_out],
            "scale": self.scale,
            "normalise": [*self.normalise],
            "known_facts": None if self.known_facts is None else len(self.known_facts),
            "threshold": self.threshold,
        }

    def facts_digest(self) -> str | None:
        """A SHA-256 that is the same for the same known facts; None where there are none."""
        if self.known_facts is None:
            return None
        return hashlib.sha256(repr(sorted(self.known_facts)).encode("utf-8", "surrogatepass")).hexdigest()


def normalised(text: str, ways: Collection[str]) -> str:
    """A text without differences that do not matter.

    Args:
        text: of a head or tail.
        ways: `unicode` (NFKC), `case` (folded as Unicode says), `blanks` (one between words, none outside).

    >>> normalised("  Interleukin  2", ["case", "blanks"])
    'interleukin 2'
    """
    if "unicode" in ways:
        text = unicodedata.normalize("NFKC", text)
    if "case" in ways:
        text = text.casefold()
        text = unicodedata.normalize("NFKC", text) if "unicode" in ways else text
    return " ".join(text.split()) if "blanks" in ways else text


def is_finite(value: object) -> bool:
    """Whether a value is a finite number, a whole one of any length among them.

    >>> is_finite(0.5), is_finite(10**400), is_finite(math.inf), is_finite(True)
    (True, True, False, False)
    """
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def make_settings(
    *,
    mode: Mode = "strict",
    match: Match | None = None,
    relation_types: Collection[str] | None = None,
    types_from: TypesFrom = "union",
    symmetric: Collection[str] = (),
    leave_out: Collection[str] = (),
    scale: Scale = "percent",
    normalise: Collection[Normalise] = (),
    known_facts: Iterable[Fact] | None = None,
    threshold: float | None = None,
) -> Settings:
    """Settings from options as users give them; `score_relations` says what each means.

    Raises:
        InputError: an option has no such value, or two of them contradict each other.
    """
    if match is None:
        match = "span" if mode == "relaxed" else "text"
    chosen = {"mode": mode, "match": match, "types_from": types_from, "scale": scale}
    _check_choices(chosen)
    only = None if relation_types is None else _names("relation_types", relation_types)
    out, ways = _names("leave_out", leave_out), _names("normalise", normalise)
    _check_types(only, out, types_from)
    if wrong := [way for way in ways if way not in NORMALISE]:
        raise InputError(f"normalise={wrong[0]!r} does not exist; choose from {', '.join(NORMALISE)}")
    if ways and match != "text" and known_facts is None:
        raise InputError(f"normalise changes texts, but match={match!r} compares none; leave one of the two out")
    if threshold is not None and not is_finite(threshold):
        raise InputError(f"threshold={threshold!r} is no finite number; give one, or leave the option out")
    settings = Settings(
        mode=mode,
        match=match,
        relation_types=only,
        types_from=types_from,
        symmetric=_names("symmetric", symmetric),
        leave_out=out,
        scale=scale,
        normalise=ways,
        threshold=threshold,
    )
    return settings if known_facts is None else with_facts(settings, known_facts)


def _check_choices(chosen: Mapping[str, str]) -> None:
    for name, value in chosen.items():
        if value not in CHOICES[name]:
            raise InputError(f"{name}={value!r} does not exist; choose one of {', '.join(CHOICES[name])}")
    if chosen["mode"] == "relaxed" and chosen["match"] != "span":
        what = {"id": "concept ids", "text": "texts"}[chosen["match"]]
        raise InputError(f"mode='relaxed' compares spans, match={chosen['match']!r} {what}; choose one of the two")


def _check_types(only: tuple[str, ...] | None, out: tuple[str, ...], types_from: str) -> None:
    if only is None:
        return
    if both := sorted({*only} & {*out}):
        raise InputError(f"type {both[0]!r} is in relation_types and in leave_out; name it in one of them")
    if not only:
        raise InputError("relation_types names no type; name one at least, or leave the option out")
    if types_from != "union":
        raise InputError("relation_types says which types count, and so does types_from; give one of them")


def with_facts(settings: Settings, known_facts: Iterable[Fact]) -> Settings:
    """The settings with known facts, normalised as they say.

    Raises:
        InputError: a fact is not three texts.
    """
    facts = set()
    for place, fact in enumerate(known_facts):
        if not isinstance(fact, tuple | list) or len(fact) != 3 or not all(isinstance(part, str) for part in fact):
            raise InputError(f"known_facts, fact {place}: {fact!r} is not (head, type, tail), three texts; give these")
        head, kind, tail = fact
        facts.add(settings.fact(kind, settings.text(head), settings.text(tail)))
    return replace(settings, known_facts=frozenset(facts))


def _names(option: str, given: Collection[str]) -> tuple[str, ...]:
    """The names of an option, sorted, each once."""
    if isinstance(given, str | bytes):
        raise InputError(f"{option}={given!r} is one text; give a list of names")
    names = [*given]
    for name in names:
        if not isinstance(name, str) or not name or name == TOTAL:
            raise InputError(f"{option} holds {name!r}, which is no name of a relation type; give texts, not {TOTAL}")
    return tuple(sorted({*names}))
