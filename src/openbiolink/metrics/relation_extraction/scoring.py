"""Precision, recall and F1 of extracted relations, for one pass, for batches and for parts that are merged.

Of a relation type, tp are the relations that both sides have, fp those that only the predictions have, and fn those
that only the references have, document by document; repeats inside a document count once.

    p     100 tp / (tp + fp)
    r     100 tp / (tp + fn)
    f1    200 tp / (2 tp + fp + fn), which is the harmonic mean of p and r

A fraction with nothing below its line is 0. The row `ALL` has the sums over the types and their p, r and f1 (micro),
and the plain means of p, r and f1 over the types (macro): `Macro_f1` is the mean of the F1s, not the F1 of the means.

Sources: Taillé et al. 2020, "Let's Stop Incorrect Comparisons in End-to-end Relation Extraction!", arXiv 2009.10684
(modes); Yao et al. 2019, "DocRED: A Large-Scale Document-Level Relation Extraction Dataset", arXiv 1906.06127, section
4 (scores without known facts).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import product
from typing import TYPE_CHECKING, Any

from openbiolink.errors import InputError
from openbiolink.metrics.relation_extraction.checks import SIDES, iter_pairs
from openbiolink.metrics.relation_extraction.fields import counted
from openbiolink.metrics.relation_extraction.matching import (
    BELOW,
    LEFT_OUT,
    OUTSIDE,
    REASONS,
    REPEAT,
    UNSCORED,
    Dropped,
    match_relations,
    pair_wrong_types,
    read_keys,
)
from openbiolink.metrics.relation_extraction.settings import (
    TOTAL,
    Match,
    Mode,
    Normalise,
    Scale,
    Settings,
    TypesFrom,
    make_settings,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Self, Unpack

    from openbiolink.metrics.relation_extraction.checks import Corpus, Document, Name, Relation
    from openbiolink.metrics.relation_extraction.matching import Key
    from openbiolink.metrics.relation_extraction.settings import Fact, RelationOptions

Row = dict[str, int | float]
Scores = dict[str, Row]

FORMAT = "openbiolink-relations/1"
STATE = "openbiolink-relations-state/1"
MOST = 2**53  # of a count in a state: the last whole number that all programs that read JSON can tell from the next


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Of one relation type, or of all.

    Attributes:
        tp: found.
        fp: predicted, but not in the references.
        fn: in the references, but not predicted.
    """

    tp: int
    fp: int
    fn: int

    @property
    def support(self) -> int:
        """How many the references have."""
        return self.tp + self.fn

    def scores(self, whole: float) -> dict[str, float]:
        """`p`, `r` and `f1`, from 0 to `whole`."""
        return {
            "p": _ratio(whole * self.tp, self.tp + self.fp),
            "r": _ratio(whole * self.tp, self.tp + self.fn),
            "f1": _ratio(2 * whole * self.tp, 2 * self.tp + self.fp + self.fn),
        }

    def row(self, whole: float) -> Row:
        """The counts and the scores."""
        return {"tp": self.tp, "fp": self.fp, "fn": self.fn, **self.scores(whole)}


def _ratio(above: float, below: float) -> float:
    return above / below if below else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationResult:
    """What was found; all numbers are in the scale of the settings.

    Attributes:
        settings: what was compared, and how.
        documents: how many.
        counts: of each relation type that has a row, by name.
        confusion: of pairs with the same ends and another type: (reference type, predicted type) → how many.
        repeats: of either side, how many relations were there more than once in their document.
        left_out: reason → side → relation type → how many relations did not count, repeats and all. The reasons are
            `left_out`, `outside_relation_types`, `outside_reference_types` and `below_threshold`.
        without_score: relation type → how many predictions have no score where there is a threshold; they count, with
            repeats.
        ign: `p`, `r`, `f1` without right predictions of known facts, and how many these were; None where no known
            facts were given.
        notes: what a reader of the numbers should know, a line each.
    """

    settings: Settings
    documents: int
    counts: Mapping[str, Counts]
    confusion: Mapping[tuple[str, str], int]
    repeats: Mapping[str, int]
    left_out: Mapping[str, Mapping[str, Mapping[str, int]]]
    without_score: Mapping[str, int]
    ign: Mapping[str, int | float] | None
    notes: tuple[str, ...]

    @property
    def types(self) -> tuple[str, ...]:
        """The relation types that the macro scores are means over, by name."""
        return tuple(self.counts)

    @property
    def support(self) -> dict[str, int]:
        """How many relations of each type the references have, `ALL` last."""
        return {name: one.support for name, one in self.counts.items()} | {TOTAL: self.total.support}

    @property
    def total(self) -> Counts:
        """The sums over all types."""
        of = self.counts.values()
        return Counts(tp=sum(one.tp for one in of), fp=sum(one.fp for one in of), fn=sum(one.fn for one in of))

    @property
    def micro(self) -> dict[str, float]:
        """`p`, `r` and `f1` of the sums: every relation weighs the same."""
        return self.total.scores(self.settings.whole)

    @property
    def macro(self) -> dict[str, float]:
        """Plain means of `p`, `r` and `f1` over the types: every type weighs the same; 0 where there is none."""
        return self._means(dict.fromkeys(self.counts, 1))

    @property
    def weighted(self) -> dict[str, float]:
        """Means of `p`, `r` and `f1` over the types, each as often as the references have it."""
        return self._means({name: one.support for name, one in self.counts.items()})

    def _means(self, weights: Mapping[str, int]) -> dict[str, float]:
        each = {name: one.scores(self.settings.whole) for name, one in self.counts.items()}
        return {
            score: _ratio(math.fsum(weights[name] * each[name][score] for name in each), sum(weights.values()))
            for score in ("p", "r", "f1")
        }

    def scores(self) -> Scores:
        """The row of each type by name, and `ALL` as the last: what `score_relations` gives."""
        rows = {name: one.row(self.settings.whole) for name, one in self.counts.items()}
        macro = self.macro
        means = {"Macro_f1": macro["f1"], "Macro_p": macro["p"], "Macro_r": macro["r"]}
        return rows | {TOTAL: self.total.row(self.settings.whole) | means}

    def as_document(self) -> dict[str, Any]:
        """Everything as plain Python that JSON can hold, the same for the same relations in any order."""
        return {
            "format": FORMAT,
            "version": version("openbiolink"),
            "settings": self.settings.as_document(),
            "documents": self.documents,
            "types": [*self.types],
            "scores": self.scores(),
            "support": self.support,
            "micro": self.micro,
            "macro": self.macro,
            "weighted": self.weighted,
            "confusion": [
                {"reference": wanted, "predicted": found, "count": count}
                for (wanted, found), count in self.confusion.items()
            ],
            "ign": None if self.ign is None else dict(self.ign),
            "repeats": dict(self.repeats),
            "left_out": {
                reason: {side: dict(types) for side, types in sides.items()} for reason, sides in self.left_out.items()
            },
            "without_score": dict(self.without_score),
            "notes": [*self.notes],
        }


@dataclass(slots=True)
class _Tally:
    """Counts that add up, of any number of documents.

    Attributes:
        documents: how many.
        counts: of each type, how many are right, predicted, referenced, and right facts known from training.
        confusion: as in `RelationResult`.
        dropped: what did not count.
    """

    documents: int = 0
    counts: dict[str, list[int]] = field(default_factory=dict)
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)
    dropped: Dropped = field(default_factory=Counter)

    def count(self, prediction: object, reference: object, document: Name, settings: Settings) -> dict[str, list[int]]:
        """Count a document, or nothing of it where something is refused; returned are its own counts."""
        dropped = Dropped()
        found = read_keys(prediction, side=SIDES[0], document=document, settings=settings, dropped=dropped)
        wanted = read_keys(reference, side=SIDES[1], document=document, settings=settings, dropped=dropped)
        matched = match_relations(found, wanted, settings)
        counts = {key[0]: [0, 0, 0, 0] for key in (*found, *wanted)}
        for key in found:
            counts[key[0]][1] += 1
        for key in wanted:
            counts[key[0]][2] += 1
        for key, other in matched.right:
            counts[key[0]][0] += 1
            if settings.known_facts is not None and _is_known(other, found[other], settings):
                counts[key[0]][3] += 1
        self.add(1, counts)
        if dropped:
            self.dropped.update(dropped)
        if matched.missing and matched.spurious:
            for key, other in pair_wrong_types(matched.missing, matched.spurious, settings).right:
                self.confusion[key[0], other[0]] += 1
        return counts

    def add(self, documents: int, counts: Mapping[str, Sequence[int]]) -> None:
        """Add the counts of other documents."""
        self.documents += documents
        for name, numbers in counts.items():
            own = self.counts.get(name)
            if own is None:
                self.counts[name] = [*numbers]
            else:
                for place, number in enumerate(numbers):
                    own[place] += number

    def merge(self, other: _Tally) -> None:
        """Add everything of another tally."""
        self.add(other.documents, other.counts)
        self.confusion.update(other.confusion)
        self.dropped.update(other.dropped)


def _is_known(key: Key, relation: Relation, settings: Settings) -> bool:
    """Whether training has the fact: any names of the two ends, or the two ids where ids are compared."""
    facts = settings.known_facts or frozenset()
    if settings.match == "id" and settings.fact(key[0], settings.text(key[1]), settings.text(key[3])) in facts:
        return True
    ends = product(_names_of(relation, "head"), _names_of(relation, "tail"))
    return any(settings.fact(key[0], settings.text(head), settings.text(tail)) in facts for head, tail in ends)


def _names_of(relation: Relation, end: str) -> list[str]:
    """The texts of a head or tail: that of its field, and all that documents of DocRED have for the entity."""
    others = relation.get(f"{end}_names")
    return (
        [relation[end], *(name for name in others if isinstance(name, str))]
        if isinstance(others, list)
        else [relation[end]]
    )


class RelationScorer:
    """Counts documents as they come; its memory grows with the number of relation types, not of documents.

    Scorers with the same options can be merged: any partition of the documents, in any order, gives the same result.
    When something is refused, the scorer stays as it was.

    >>> scorer = RelationScorer()
    >>> acid = {"head": "aspirin", "head_type": "drug", "type": "treats", "tail": "pain", "tail_type": "disease"}
    >>> scorer.add(prediction=[acid], reference=[acid])
    >>> scorer.result().micro
    {'p': 100.0, 'r': 100.0, 'f1': 100.0}
    """

    def __init__(self, **options: Unpack[RelationOptions]) -> None:
        """A scorer without documents.

        Args:
            **options: those of `score_relations`.

        Raises:
            InputError: an option is wrong.
        """
        self._settings = make_settings(**options)
        self._tally = _Tally()

    @property
    def settings(self) -> Settings:
        """The options as they are used."""
        return self._settings

    @property
    def documents(self) -> int:
        """How many documents were counted."""
        return self._tally.documents

    def add(self, *, prediction: Document, reference: Document, document: Name | None = None) -> None:
        """Count one document.

        Args:
            prediction: its relations as predicted.
            reference: its relations as they should be.
            document: its id, for messages; its number from 0 by default.

        Raises:
            InputError: something is no relation; the message names side, document, relation and field.
        """
        self._count([(document, prediction, reference)])

    def add_batch(self, *, predictions: Corpus, references: Corpus) -> None:
        """Count documents; all of them, or none if one is refused.

        Args:
            predictions: lists of relations, one per document; or such lists by document id.
            references: the same documents, in the same order or by the same ids.

        Raises:
            InputError: as `add`, or the two do not have the same documents.
        """
        self._count(iter_pairs(predictions, references))

    def _count(self, pairs: Iterable[tuple[Name | None, Document, Document]]) -> None:
        fresh = _Tally()
        for number, (name, prediction, reference) in enumerate(pairs, start=self.documents):
            fresh.count(prediction, reference, number if name is None else name, self._settings)
        self._tally.merge(fresh)

    def count_document(
        self, *, prediction: Document, reference: Document, document: Name
    ) -> tuple[tuple[str, int, int, int], ...]:
        """Count one document, and tell what it adds.

        Args:
            prediction: as in `add`.
            reference: as there.
            document: its id or number, for messages.

        Returns:
            (type, right, predicted, referenced) of each type that it has, by name.

        Raises:
            InputError: as `add`.
        """
        counts = self._tally.count(prediction, reference, document, self._settings)
        return tuple((name, of[0], of[1], of[2]) for name, of in sorted(counts.items()))

    def merge(self, other: RelationScorer) -> Self:
        """Count the documents of another scorer as well, which stays as it is; gives this one back.

        Raises:
            InputError: its options are others.
        """
        mine, its = self._identity(), other._identity()
        if unlike := [name for name in mine if mine[name] != its[name]]:
            name = unlike[0]
            raise InputError(f"scorers differ in {name}: {mine[name]!r} and {its[name]!r}; merge those of one setting")
        self._tally.merge(other._tally)
        return self

    def _identity(self) -> dict[str, Any]:
        """The settings, with a checksum for the known facts."""
        return self._settings.as_document() | {"known_facts": self._settings.facts_digest()}

    def reset(self) -> None:
        """Forget all documents; the options stay."""
        self._tally = _Tally()

    def state(self) -> dict[str, Any]:
        """The scorer as plain Python that JSON can hold; of the known facts only a checksum."""
        tally = self._tally
        return {
            "format": STATE,
            "settings": self._identity(),
            "documents": tally.documents,
            "counts": {name: [*numbers] for name, numbers in sorted(tally.counts.items())},
            "confusion": [[*pair, count] for pair, count in sorted(tally.confusion.items())],
            "dropped": [[*what, count] for what, count in sorted(tally.dropped.items())],
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any], *, known_facts: Iterable[Fact] | None = None) -> Self:
        """The scorer of a state.

        Args:
            state: of `state`, as it was or read back from JSON.
            known_facts: those of the scorer where it had any; the state has only a checksum of them.

        Raises:
            InputError: it is no such state, or the known facts are others or absent.
        """
        if not isinstance(state, Mapping) or state.get("format") != STATE:
            raise InputError(f"this is no state of a scorer ({STATE}); give what state() returned")
        try:
            scorer = cls(**state["settings"] | {"known_facts": known_facts})
            facts = state["settings"]["known_facts"]
            scorer._tally = _tally_of(state)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"the state of a scorer is damaged ({error!r}); give what state() returned") from error
        if facts != scorer._settings.facts_digest():
            raise InputError("known_facts are not those of the scorer's state; give the same facts, or none if none")
        return scorer

    def result(self) -> RelationResult:
        """The scores of all documents so far.

        Raises:
            InputError: there are none.
        """
        tally, settings = self._tally, self._settings
        if not tally.documents:
            raise InputError("there are no documents; a score of nothing is not defined, give one document at least")
        if settings.relation_types is not None:
            types = [*settings.relation_types]
        elif settings.types_from == "references":
            types = sorted(name for name, numbers in tally.counts.items() if numbers[2])
        else:
            types = sorted(tally.counts)
        counts = {}
        for name in types:
            tp, predicted, referenced, _ = tally.counts.get(name, (0, 0, 0, 0))
            counts[str(name)] = Counts(tp=tp, fp=predicted - tp, fn=referenced - tp)
        left_out = _left_out(tally, types)
        without_score = {
            kind: count for (reason, _, kind), count in sorted(tally.dropped.items()) if reason == UNSCORED
        }
        repeats = {side: _sum_of(tally.dropped, REPEAT, side) for side in SIDES}
        return RelationResult(
            settings=settings,
            documents=tally.documents,
            counts=counts,
            confusion={pair: count for pair, count in sorted(tally.confusion.items()) if pair[1] in counts},
            repeats=repeats,
            left_out=left_out,
            without_score=without_score,
            ign=None if settings.known_facts is None else _ign(tally, counts, settings.whole),
            notes=(
                *_notes(settings, counts, repeats, left_out, sum(without_score.values())),
                *_notes_of_names(settings, {*tally.counts} | {kind for _, _, kind in tally.dropped}),
            ),
        )


def _tally_of(state: Mapping[str, Any]) -> _Tally:
    """The counts of a state.

    Raises:
        ValueError: a number is none that documents can count, or two of them contradict each other.
        TypeError, KeyError, AttributeError: something has another form.
    """
    tally = _Tally()
    tally.add(_whole(state["documents"]), {_kind(name): _four(of) for name, of in state["counts"].items()})
    for wanted, found, count in state["confusion"]:
        _put(tally.confusion, (_kind(wanted), _kind(found)), count)
    for reason, side, kind, count in state["dropped"]:
        if reason not in REASONS or side not in SIDES:
            raise ValueError(reason, side)
        _put(tally.dropped, (reason, side, _kind(kind)), count)
    for kind in {name for pair in tally.confusion for name in pair}:
        right, predicted, referenced, _ = tally.counts[kind]
        pairs = [(wanted, found, count) for (wanted, found), count in tally.confusion.items()]
        missing = sum(count for wanted, found, count in pairs if kind == wanted != found)
        spurious = sum(count for wanted, found, count in pairs if kind == found != wanted)
        if missing > referenced - right or spurious > predicted - right or (kind, kind) in tally.confusion:
            raise ValueError(kind)
    known = sum(of[3] for of in tally.counts.values())
    if known and state["settings"]["known_facts"] is None:
        raise ValueError(known)
    if (tally.counts or tally.dropped) and not tally.documents:
        raise ValueError(tally.documents)
    return tally


def _put(counts: Counter[Any], name: tuple[str, ...], count: int) -> None:
    """Note a count, which must be 1 at least and the only one of its name."""
    if not _whole(count) or name in counts:
        raise ValueError(name, count)
    counts[name] = count


def _kind(name: str) -> str:
    """The name of a relation type, which must be one."""
    if not isinstance(name, str) or name in {"", TOTAL}:
        raise ValueError(name)
    return name


def _whole(number: int) -> int:
    """A count, which must be a whole number from 0 to `MOST`."""
    if type(number) is not int or not 0 <= number <= MOST:
        raise ValueError(number)
    return number


def _four(numbers: Sequence[int]) -> list[int]:
    right, predicted, referenced, known = map(_whole, numbers)
    if not known <= right <= min(predicted, referenced) or not predicted + referenced:
        raise ValueError(numbers)
    return [right, predicted, referenced, known]


def _sum_of(dropped: Dropped, reason: str, side: str) -> int:
    return sum(count for (why, where, _), count in dropped.items() if (why, where) == (reason, side))


def _left_out(tally: _Tally, types: Collection[str]) -> dict[str, dict[str, dict[str, int]]]:
    """How many relations did not count, by reason, side and type."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for (reason, side, kind), count in sorted(tally.dropped.items()):
        if reason not in {REPEAT, UNSCORED}:
            found.setdefault(reason, {}).setdefault(side, {})[str(kind)] = count
    if others := {str(name): of[1] for name, of in sorted(tally.counts.items()) if name not in types}:
        found["outside_reference_types"] = {SIDES[0]: others}
    return found


def _ign(tally: _Tally, counts: Mapping[str, Counts], whole: float) -> dict[str, int | float]:
    """The scores without right predictions that training knew: they leave both sides of the precision's fraction."""
    known = sum(numbers[3] for name, numbers in tally.counts.items() if name in counts)
    right, predicted = sum(one.tp for one in counts.values()), sum(one.tp + one.fp for one in counts.values())
    p = _ratio(whole * (right - known), predicted - known)
    r = _ratio(whole * right, sum(one.support for one in counts.values()))
    return {"known": known, "p": p, "r": r, "f1": _ratio(2 * p * r, p + r)}


WHY = {  # of one relation, and of several
    BELOW: ("has a score below the threshold", "have a score below the threshold"),
    LEFT_OUT: ("is of a type that is left out", "are of types that are left out"),
    OUTSIDE: ("is of a type outside relation_types", "are of types outside relation_types"),
    "outside_reference_types": (
        "is of a type that the references do not have",
        "are of types that the references do not have",
    ),
}


def _notes(
    settings: Settings,
    counts: Mapping[str, Counts],
    repeats: Mapping[str, int],
    left_out: Mapping[str, Mapping[str, Mapping[str, int]]],
    without_score: int,
) -> Iterable[str]:
    """What a reader of the numbers should know."""
    if not any(one.tp + one.fp + one.fn for one in counts.values()):
        yield "nothing was scored: no relation that counts is on either side, so every score is 0"
    if settings.types_from == "references":
        yield "types are those of the references alone, so that predictions of other types are no errors"
    for reason, sides in left_out.items():
        for side, types in sides.items():
            listed = ", ".join(f"{kind} ({count})" for kind, count in types.items())
            number = sum(types.values())
            why, were = (WHY[reason][0], "was") if number == 1 else (WHY[reason][1], "were")
            yield f"{side}: {counted(number, 'relation')} {why} and {were} not counted: {listed}"
    for side, count in repeats.items():
        if count:
            were = "was" if count == 1 else "were"
            yield f"{side}: {counted(count, 'repeat')} inside a document {were} counted once"
    if without_score:
        have, them = ("has", "it") if without_score == 1 else ("have", "them")
        several = counted(without_score, "relation")
        yield f"predictions: {several} {have} no score, so the threshold does not touch {them}"


def _notes_of_names(settings: Settings, seen: Collection[str]) -> Iterable[str]:
    """A line for each option that names relation types which no relation has."""
    options = {
        "relation_types": settings.relation_types or (),
        "leave_out": settings.leave_out,
        "symmetric": settings.symmetric,
    }
    for option, names in options.items():
        if strange := [name for name in names if name not in seen]:
            yield f"{option}: no relation has the type {' or '.join(map(repr, strange))}; check the spelling"


def score_relations(
    *,
    predictions: Corpus,
    references: Corpus,
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
) -> Scores:
    """Precision, recall and F1 of each relation type and of all, as plain numbers.

    A relation is a mapping with the texts `head`, `head_type`, `type`, `tail` and `tail_type`; other fields are ignored
    unless an option needs them. A text may be empty, the relation type may not.

    Args:
        predictions: lists of relations, one per document; or such lists by document id.
        references: the same documents, in the same order or by the same ids.
        mode: `strict`: head, tail and their types must be equal. `boundaries`: entity types do not matter. `relaxed`:
            as strict, but spans need only share a place; pairs are made one to one, as many as can be.
        match: what head and tail are: their `text` (spans are ignored), their `span` (`head_span` and `tail_span`,
            [start, end)), or their concept `id` (`head_id` and `tail_id`). Texts by default, but spans in relaxed mode,
            which compares nothing else.
        relation_types: the only types that count on either side; each has a row, even if nothing is of it.
        types_from: which types have a row otherwise: those of either side (`union`), or those of the `references`,
            where predictions of other types do not count.
        symmetric: types for which (head, tail) and (tail, head) are one relation.
        leave_out: types that do not count on either side, such as `no_relation`.
        scale: `percent` (0 to 100) or `fraction` (0 to 1).
        normalise: differences of heads and tails that do not matter: `case`, `blanks`, `unicode` (NFKC); none by
            default. Types are never changed.
        known_facts: (head, type, tail) of training, for the scores `ign` of `RelationScorer.result`; nothing changes
            here. A relation is known by its texts, by its ids where these are compared, or by any of the further names
            that it may have as the lists `head_names` and `tail_names`.
        threshold: predictions with a lower `score` do not count; those without a score do, and a note says how many.

    Returns:
        A row of `tp`, `fp`, `fn`, `p`, `r`, `f1` for each type by name, and as the last the row `ALL`, which has
        `Macro_f1`, `Macro_p` and `Macro_r` as well. The module says how they are worked out.

    Raises:
        InputError: an option is wrong, the two sides do not have the same documents, there are none, or something is
            no relation; the message names side, document, relation and field.

    >>> acid = {"head": "aspirin", "head_type": "drug", "type": "treats", "tail": "pain", "tail_type": "disease"}
    >>> fever = acid | {"tail": "fever"}
    >>> score_relations(predictions=[[acid], []], references=[[acid], [fever]])["treats"]
    {'tp': 1, 'fp': 0, 'fn': 1, 'p': 100.0, 'r': 50.0, 'f1': 66.66666666666667}
    """
    scorer = RelationScorer(
        mode=mode,
        match=match,
        relation_types=relation_types,
        types_from=types_from,
        symmetric=symmetric,
        leave_out=leave_out,
        scale=scale,
        normalise=normalise,
        known_facts=known_facts,
        threshold=threshold,
    )
    scorer.add_batch(predictions=predictions, references=references)
    return scorer.result().scores()
