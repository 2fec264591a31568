"""What every way to split has in common, and the ways that look at one edge at a time.

A scheme is a frozen set of options with a method `assign` that decides which part each row of `edge` belongs to. All
else - reading, negatives, removal of leaks, files - is shared. Adding one is a class here (or in a module beside), its
place in `openbiolink.split.SCHEMES`, and a test; the command line is made of its fields.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from openbiolink.errors import InputError
from openbiolink.split.drawing import NegativeKind  # noqa: TC001, the command line reads the types of options
from openbiolink.split.graph_files import hash_of_edge
from openbiolink.split.negatives import NegativeOptions, make_negatives

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from openbiolink.engines import Engine
    from openbiolink.progress import Progress
    from openbiolink.split.negatives import Shortfall

HASH_BITS = 60
MOST_FOLDS = 1000
EDGE = "edge.h, edge.r, edge.t, edge.positive, edge.score, edge.source, edge.curated"
NAMES = """JOIN node head ON head.id = edge.h JOIN node tail ON tail.id = edge.t
           JOIN relation ON relation.id = edge.r"""


@dataclass(frozen=True, slots=True)
class Flag:
    """How an option is given on the command line."""

    name: str
    metavar: str
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme(ABC):
    """One way to split, with the options that all have.

    Attributes:
        seed: another one gives another split, and other negatives.
        negatives: how negatives are drawn: `uniform`, `degree` or `hard`, see `openbiolink.split.negatives`.
        per_positive: how many negatives there are for each positive, from 1 to a million.
        negatives_train_validation: whether training and validation get negatives.
        negatives_test: whether the test set gets negatives.
        directed: False where no edge of the graph has a direction, so that a-b is b-a in every relation;
            None: as the manifest beside the edges file says, and directed where there is none.

    Raises:
        InputError: an option is out of its range.
    """

    name: ClassVar[str]  # on the command line
    summary: ClassVar[str]  # one line for people
    inference: ClassVar[bool] = False  # whether a part `inference` is to be seen when held-out rows are predicted
    earlier_slice: ClassVar[bool] = False  # whether an earlier slice of the graph is needed

    seed: Annotated[int, Flag("--seed", "NUMBER", "Another seed gives another split.")] = 42
    negatives: Annotated[NegativeKind, Flag("--negatives", "KIND", "How negatives are drawn.")] = "uniform"
    per_positive: Annotated[int, Flag("--per-positive", "NUMBER", "Negatives for each positive.")] = 1
    negatives_train_validation: bool = True
    negatives_test: bool = True
    directed: bool | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be split by."""
        wanted = {
            "negatives_train_validation (--no-neg-train-val)": self.negatives_train_validation,
            "negatives_test (--no-neg-test)": self.negatives_test,
        }
        for name, value in wanted.items():
            if not isinstance(value, bool):
                raise InputError(f"{name} is {value!r}, expected True or False")
        if not isinstance(self.seed, int) or isinstance(self.seed, bool):
            raise InputError(f"seed is {self.seed!r}, expected a whole number, such as 42")
        NegativeOptions(kind=self.negatives, per_positive=self.per_positive)
        self.check()

    @abstractmethod
    def check(self) -> None:
        """Raise `InputError` where an option of this scheme alone is out of its range."""

    def look_up(self, engine: Engine) -> None:  # noqa: B027, other schemes need it
        """Look up in the graph what options name; the tables are those of the graph, and `fact`.

        It is asked for before negatives are drawn, which can take minutes.

        Raises:
            InputError: the graph lacks it.
        """

    def add_negatives(self, engine: Engine, progress: Progress) -> tuple[Shortfall, ...]:
        """Make `negative`, and return what is missing there, as `openbiolink.split.negatives.make_negatives` does."""
        return make_negatives(
            engine,
            NegativeOptions(kind=self.negatives, per_positive=self.per_positive),
            seed=self.seed,
            draw=self.negatives_train_validation or self.negatives_test,
            progress=progress,
        )

    @abstractmethod
    def assign(self, engine: Engine) -> None:
        """Make the table `assigned` of `edge` (h, r, t, positive, score, source, curated).

        It has the same rows and columns, `part` (train, inference, validation, test, or NULL for a row that this
        scheme leaves out) and `reason` (why a row is left out, else NULL). An edge and its reverse of the same
        relation should get the same part; where they do not, the clean-up removes one. A scheme that holds out nodes
        lists them in `held_node` (id), which is empty before.
        """

    def inputs(self) -> dict[str, Path]:
        """The files that this scheme reads itself, by what a manifest calls them."""
        return {}

    def details(self, engine: Engine) -> dict[str, Any]:  # noqa: ARG002, other schemes need it
        """What the manifest is to tell of this split beyond counts: plain values for JSON, from the tables.

        It is asked for after the clean-up of the main split, when `assigned`, `kept` and `removed` are there.
        """
        return {}

    def notes(self, details: Mapping[str, Any]) -> list[str]:  # noqa: ARG002, other schemes need it
        """What people are to be told of these details, a line each."""
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeScheme(Scheme):
    """What schemes have in common that hold out shares of edges, or of what must stay together.

    Attributes:
        test_fraction: of all, 0 or more and less than 1.
        validation_fraction: in the same way; both fractions together are less than 1.
    """

    test_fraction: Annotated[float, Flag("--test-frac", "SHARE", "Share that goes to the test set.")] = 0.05
    validation_fraction: Annotated[float, Flag("--val", "SHARE", "Share that goes to the validation set.")] = 0.05

    def check(self) -> None:
        """Refuse fractions that are none."""
        check_fractions(self.test_fraction, self.validation_fraction)


def check_fractions(test: float, validation: float) -> None:
    """Refuse shares of the two held-out parts that are no shares or leave nothing."""
    for name, flag, value in (("test_fraction", "--test-frac", test), ("validation_fraction", "--val", validation)):
        if not 0 <= value < 1:
            raise InputError(f"{name} ({flag}) is {value}, expected a number from 0 to below 1, such as 0.05")
    if Fraction(test) + Fraction(validation) >= 1:
        raise InputError(
            f"test_fraction {test} and validation_fraction {validation} leave nothing to train on; "
            "their sum must be below 1"
        )


def part_of_hash(test: float, validation: float, hashed: str = "hash") -> str:
    """SQL for the part of a row by its hash: test below the one share, validation below both, else training.

    For a whole number, hash / 2^60 < share is the same as hash < ceil(share * 2^60), all of it exact.
    """
    held = Fraction(test) + Fraction(validation)
    below_test, below_held = (math.ceil(share * 2**HASH_BITS) for share in (Fraction(test), held))
    return (
        f"CASE WHEN {hashed} < {below_test} THEN 'test' WHEN {hashed} < {below_held} THEN 'validation' ELSE 'train' END"
    )


def assign_negatives(engine: Engine, seed: int) -> None:
    """Make `assigned` of `edge`, once a scheme knows where its positives go, and let negatives follow them.

    Reads `edge`, `relation`, `node` and a table or view that the caller made and may drop afterwards:

        placed(h, r, t, positive, part, reason)   the part of every positive of `edge`, or NULL and the reason why it
                                                  is left out; also of those negatives that the scheme itself places

    A negative that is not placed takes the part of its contrary, if that is there: the positive of the relation that
    its own excludes, between the same nodes (in either order where that relation is symmetric). Any other goes by the
    hash of its edge, so that of each relation's negatives the same share is in each part as of its positives;
    negatives of a relation without placed positives go to training.
    """
    _put_shares(engine)
    engine.make(
        "assigned",
        f"""
        SELECT {EDGE}, placed.part, placed.reason
        FROM edge JOIN placed ON placed.h = edge.h AND placed.r = edge.r AND placed.t = edge.t
            AND placed.positive = edge.positive
        UNION ALL
        SELECT {EDGE}, CASE
                WHEN straight.h IS NOT NULL THEN straight.part WHEN turned.h IS NOT NULL THEN turned.part
                WHEN hash < below_test THEN 'test' WHEN hash < below_validation THEN 'validation'
                WHEN hash < below_inference THEN 'inference' ELSE 'train' END,
            CASE WHEN straight.h IS NOT NULL THEN straight.reason ELSE turned.reason END
        FROM (SELECT {EDGE}, relation.excludes, contrary.undirected, {hash_of_edge(f"{seed} negative")} AS hash
              FROM (SELECT * FROM edge ANTI JOIN placed USING (h, r, t, positive)) edge {NAMES}
              LEFT JOIN relation contrary ON contrary.id = relation.excludes) edge
        LEFT JOIN part_share ON part_share.r = edge.r
        LEFT JOIN placed straight ON straight.h = edge.h AND straight.r = excludes AND straight.t = edge.t
            AND straight.positive
        LEFT JOIN placed turned ON turned.h = edge.t AND turned.r = excludes AND turned.t = edge.h
            AND turned.positive AND edge.undirected
        """,
    )
    engine.drop("part_share")


def _put_shares(engine: Engine) -> None:
    """Make `part_share`: below which hash the negatives of each relation are of which part."""
    counts: dict[int, dict[str, int]] = {}
    for relation, part, number in engine.rows("""
        SELECT r, part, count(*) FROM placed WHERE positive AND part IS NOT NULL GROUP BY r, part ORDER BY r, part
    """):
        counts.setdefault(relation, {})[part] = number
    below: dict[str, list[int]] = {part: [] for part in ("test", "validation", "inference")}
    for of_part in counts.values():
        reached, total = 0, sum(of_part.values())
        for part, thresholds in below.items():
            reached += of_part.get(part, 0)
            thresholds.append(-(-reached * 2**HASH_BITS // total))
    engine.put(
        "part_share",
        {
            "r": np.array(list(counts), dtype=np.int32),
            **{f"below_{part}": np.array(thresholds, dtype=np.int64) for part, thresholds in below.items()},
        },
    )


def number_of_folds(crossval: float) -> int:
    """How many folds `--crossval` asks for: 2 to 1000, or ceil(1 / f) for a fraction f below 1.

    Raises:
        InputError: it is neither, or asks for more folds than that.

    >>> number_of_folds(5), number_of_folds(0.3), number_of_folds(0.05)
    (5, 4, 20)
    """
    if 0 < crossval < 1:
        folds = math.ceil(1 / Fraction(str(crossval)))
    elif crossval < 2 or not float(crossval).is_integer():
        raise InputError(
            f"crossval (--crossval) is {crossval}, expected a whole number of folds from 2, or the share of a fold "
            "above 0 and below 1"
        )
    else:
        folds = int(crossval)
    if folds > MOST_FOLDS:
        raise InputError(
            f"crossval (--crossval) is {crossval}, which asks for more than {MOST_FOLDS} folds, each a folder with all "
            "edges; give a smaller number of folds or a greater share"
        )
    return folds


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomSplit(EdgeScheme):
    """At random: every edge alone decides its part, by a hash of the seed, its relation and its unordered pair.

    Attributes:
        test_fraction: of all edges, 0 or more and less than 1.
        validation_fraction: of all edges, 0 or more; both fractions together are less than 1.
        crossval: a number of folds or the share of one, see `number_of_folds`; every fold is in turn the validation
            set, and `validation_fraction` does not count.
    """

    name: ClassVar[str] = "rand"
    summary: ClassVar[str] = "Split a graph at random"

    crossval: Annotated[
        float | None,
        Flag("--crossval", "FOLDS", "Make so many folds (or 1/FOLDS, below 1) of all but the test set; no --val then."),
    ] = None

    def check(self) -> None:
        """Refuse fractions and folds that are none."""
        if self.crossval is not None:
            number_of_folds(self.crossval)
        check_fractions(self.test_fraction, 0 if self.crossval is not None else self.validation_fraction)

    def assign(self, engine: Engine) -> None:
        """Make `assigned` by one threshold for all edges."""
        validation = 0 if self.crossval is not None else self.validation_fraction
        engine.make(
            "assigned",
            f"""
            SELECT {EDGE}, {part_of_hash(self.test_fraction, validation)} AS part, CAST(NULL AS STRING) AS reason
            FROM (SELECT {EDGE}, {hash_of_edge(self.seed)} AS hash FROM edge {NAMES}) edge
            """,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StratifiedSplit(EdgeScheme):
    """The same shares of every relation, exactly.

    A unit is what must stay together: the rows of one pair of nodes, in any order, whose relations are inverse to or
    exclude each other. It belongs to the first of its relations by name. Of the n units of a relation, those with the
    smallest hashes are tested, as many as the share of n, rounded half up, and not less than the minimum; the next ones
    validate; one unit at least stays in training. Shares are decimal numbers here: 0.15 of 10 is 1.5. Negatives of a
    pair that has a positive go with it; the others have quotas of their own in the same way.

    Attributes:
        test_fraction: of the units of each relation, 0 or more and less than 1; with 0 nothing is tested.
        validation_fraction: in the same way.
        minimum: how many units of a relation are held out in each of the two parts at least, as far as there are any.
    """

    name: ClassVar[str] = "stratified"
    summary: ClassVar[str] = "Split every relation of a graph in the same shares"

    minimum: Annotated[int, Flag("--min", "NUMBER", "Of each relation so many at least, as far as there are any.")] = 1

    def check(self) -> None:
        """Refuse fractions that are none and a minimum below 0."""
        check_fractions(self.test_fraction, self.validation_fraction)
        if not isinstance(self.minimum, int) or self.minimum < 0:
            raise InputError(f"minimum (--min) is {self.minimum!r}, expected a whole number from 0, such as 1")

    def quota(self, units: int) -> tuple[int, int]:
        """How many of the units of a relation are of the test set, and how many of it or of the validation set.

        >>> StratifiedSplit(test_fraction=0.25, validation_fraction=0.05).quota(10)
        (3, 4)
        >>> StratifiedSplit(test_fraction=0.25, validation_fraction=0.05).quota(2)
        (1, 1)
        """
        reached, left = [0], units - 1
        for fraction in (self.test_fraction, self.validation_fraction):
            share = math.floor(Fraction(str(fraction)) * units + Fraction(1, 2))
            reached.append(min(left, reached[-1] + max(self.minimum, share)) if fraction else reached[-1])
        return reached[1], reached[2]

    def assign(self, engine: Engine) -> None:
        """Make `assigned` by the place of every unit among those of its relation."""
        _rank_units(engine, self.seed)
        sizes = engine.rows("SELECT positive, r, count(*) FROM unit GROUP BY positive, r ORDER BY positive, r")
        quotas = np.array([self.quota(units) for *_, units in sizes], dtype=np.int64).reshape(-1, 2)
        engine.put(
            "quota",
            {
                "positive": np.array([positive for positive, *_ in sizes], dtype=np.bool_),
                "r": np.array([relation for _, relation, _ in sizes], dtype=np.int32),
                "of_test": quotas[:, 0],
                "of_held": quotas[:, 1],
            },
        )
        engine.make(
            "assigned",
            f"""
            SELECT {EDGE}, CASE WHEN place <= of_test THEN 'test' WHEN place <= of_held THEN 'validation'
                                ELSE 'train' END AS part, CAST(NULL AS STRING) AS reason
            FROM edge JOIN family ON family.r = edge.r
            JOIN unit ON low = least(edge.h, edge.t) AND unit.family = family.id AND high = greatest(edge.h, edge.t)
            JOIN quota ON quota.positive = unit.positive AND quota.r = unit.r
            """,
        )
        engine.drop("family", "unit", "quota")


def number_families(engine: Engine) -> None:
    """Make `family` (r, id): of every relation the smallest number of a relation of its family."""
    engine.make("family", "SELECT id AS r, min(id) OVER (PARTITION BY family) AS id FROM relation")


def _rank_units(engine: Engine, seed: int) -> None:
    """Make `family`, as `number_families` does, and `unit` (low, family, high, positive, r, place).

    A unit has a positive or has not; `r` is its first relation (of a positive, if it has one); `place` counts from 1 by
    hash among the units with the same relation and sign.
    """
    number_families(engine)
    engine.make(
        "unit",
        f"""
        SELECT edge.h AS low, edge.r AS family, edge.t AS high, positive, main AS r,
            row_number() OVER (PARTITION BY positive, main ORDER BY {hash_of_edge(seed)}, edge.h, edge.t) AS place
        FROM (SELECT least(h, t) AS h, family.id AS r, greatest(h, t) AS t, bool_or(positive) AS positive,
                  coalesce(min(CASE WHEN positive THEN edge.r END), min(edge.r)) AS main
              FROM edge JOIN family ON family.r = edge.r GROUP BY least(h, t), family.id, greatest(h, t)) edge {NAMES}
        """,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSplit(EdgeScheme):
    """All rows between two nodes, of whatever relation, order and sign, are of one part: by the hash of the pair.

    Attributes:
        test_fraction: of the pairs of nodes, 0 or more and less than 1.
        validation_fraction: in the same way; both fractions together are less than 1.
    """

    name: ClassVar[str] = "pairs"
    summary: ClassVar[str] = "Split a graph so that no pair of nodes is in two parts"

    def assign(self, engine: Engine) -> None:
        """Make `assigned` by one threshold for all pairs."""
        key = f"concat_ws(chr(9), '{self.seed}', least(head.name, tail.name), greatest(head.name, tail.name))"
        engine.make(
            "assigned",
            f"""
            SELECT {EDGE}, {part_of_hash(self.test_fraction, self.validation_fraction)} AS part,
                CAST(NULL AS STRING) AS reason
            FROM (SELECT {EDGE}, hash60({key}) AS hash FROM edge {NAMES}) edge
            """,
        )
