"""A split by time: an earlier slice of the graph is trained on, and what a later one has beyond it is held out.

Training is the earlier slice exactly, with its scores and sources, and nothing of it is removed but self loops: what
the later slice says of old edges must not reach a model that stands for the earlier time. So where an edge and its
reverse, or an edge and its super-relation, fall into both slices, the later one goes.

Negatives come first, for each slice on its own: those of the earlier slice from its true negatives and its nodes, those
of what is new from the new true negatives and from nodes of the later slice that training has seen, so that no negative
is told by a node that is new. New positives with a node or relation that training lacks will be removed, and are given
no negatives. A negative is a positive of neither slice, and no negative of the other one, in either order.

Tables: `positive` and `true_negative` are those of the later slice when they are read, and `positive` is the union of
both after `join_slices`, which keeps the former as `now_positive` and `now_true_negative`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar

from openbiolink.errors import InputError
from openbiolink.split.graph_files import hash_of_edge
from openbiolink.split.negatives import NegativeOptions, make_negatives
from openbiolink.split.schemes import EDGE, HASH_BITS, NAMES, Flag, Scheme

if TYPE_CHECKING:
    from openbiolink.engines import Engine
    from openbiolink.progress import Progress
    from openbiolink.split.negatives import Shortfall


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSplit(Scheme):
    """An earlier slice of the graph is trained on; what is new in the later one is tested.

    Edges are told apart by their triples, whatever their score and source.

    Attributes:
        validation_fraction: of the new edges, by their hash, 0 or more and less than 1; the others are the test set.
    """

    name: ClassVar[str] = "time"
    summary: ClassVar[str] = "Split a graph by time, given an earlier slice of it"
    earlier_slice: ClassVar[bool] = True

    validation_fraction: Annotated[
        float, Flag("--val", "SHARE", "Share of the new edges that goes to the validation set.")
    ] = 0.0

    def check(self) -> None:
        """Refuse a share that is none."""
        if not 0 <= self.validation_fraction < 1:
            raise InputError(
                f"validation_fraction (--val) is {self.validation_fraction}, expected a number from 0 to below 1, "
                "such as 0.5"
            )

    def add_negatives(self, engine: Engine, progress: Progress) -> tuple[Shortfall, ...]:
        """Make `negative` of both slices, and `placed` (h, r, t, positive, part, reason) of what is not new."""
        options = NegativeOptions(kind=self.negatives, per_positive=self.per_positive)
        held_out = self.negatives_test or (self.negatives_train_validation and self.validation_fraction > 0)
        engine.make("node_of_both", "SELECT id, name, kind, listed FROM node")
        _look_at_earlier_slice(engine)
        earlier = make_negatives(
            engine,
            options,
            seed=f"{self.seed} earlier",
            draw=self.negatives_train_validation,
            barred="other_negative",
            progress=progress,
        )
        engine.make("old_negative", "SELECT h, r, t, score, source, curated FROM negative")
        _look_at_what_is_new(engine)
        new = make_negatives(engine, options, seed=self.seed, draw=held_out, barred="other_negative", progress=progress)
        _look_at_both_slices(engine)
        slices = {"the earlier slice": earlier, "what is new": new}
        return tuple(replace(short, place=place) for place, found in slices.items() for short in found)

    def assign(self, engine: Engine) -> None:
        """Make `assigned`: training is what was there, and the hash of a new edge decides whether it validates."""
        below = math.ceil(Fraction(self.validation_fraction) * 2**HASH_BITS)
        engine.make(
            "assigned",
            f"""
            SELECT {EDGE}, CASE WHEN placed.h IS NOT NULL THEN placed.part
                                WHEN hash < {below} THEN 'validation' ELSE 'test' END AS part, placed.reason
            FROM (SELECT {EDGE}, {hash_of_edge(self.seed)} AS hash FROM edge {NAMES}) edge
            LEFT JOIN placed ON placed.h = edge.h AND placed.r = edge.r AND placed.t = edge.t
                AND placed.positive = edge.positive
            """,
        )
        engine.drop("placed")


def join_slices(engine: Engine) -> None:
    """Make `positive` the edges of both slices, those of the earlier one as they are there.

    The later slice is kept as `now_positive` and `now_true_negative`.
    """
    for table in ("positive", "true_negative"):
        engine.make(f"now_{table}", f"SELECT h, r, t, score, source FROM {table}")
    engine.make(
        "positive",
        """SELECT h, r, t, score, source FROM old_positive
           UNION ALL SELECT h, r, t, score, source FROM now_positive ANTI JOIN old_positive USING (h, r, t)""",
    )


def _look_at_earlier_slice(engine: Engine) -> None:
    """Make the tables that negatives are made of those of the earlier slice."""
    engine.view("fact", "SELECT h, r, t, score, source FROM old_positive WHERE h <> t")
    engine.make("true_negative", "SELECT h, r, t, score, source FROM old_true_negative")
    engine.make(
        "node",
        """SELECT node.id, name, node.kind, old_node.id IS NOT NULL AS listed
           FROM node_of_both node LEFT JOIN old_node ON old_node.id = node.id""",
    )
    engine.view(
        "other_negative",
        "SELECT h, r, t FROM now_true_negative UNION ALL SELECT t, r, h FROM now_true_negative",
    )


def _look_at_what_is_new(engine: Engine) -> None:
    """Make the tables that negatives are made of those of what is new.

    `new_true_negative` has all new true negatives, and of each whether training has seen its nodes and relation, and
    whether it is the reverse of a negative of training.
    """
    engine.make("trained_node", "SELECT h AS id FROM fact UNION SELECT t FROM fact")
    engine.make("trained_relation", "SELECT DISTINCT r AS id FROM fact")
    seen = """JOIN trained_node head ON head.id = h JOIN trained_node tail ON tail.id = t
              JOIN trained_relation relation ON relation.id = r"""
    engine.make(
        "new_fact",
        f"""SELECT h, r, t, score, source
            FROM (SELECT * FROM now_positive ANTI JOIN old_positive USING (h, r, t)) new {seen} WHERE h <> t""",
    )
    engine.make(
        "new_true_negative",
        f"""
        SELECT new.h, new.r, new.t, new.score, new.source, seen.h IS NOT NULL AS seen,
            turned.h IS NOT NULL AND new.h <> new.t AS turned
        FROM (SELECT * FROM now_true_negative ANTI JOIN old_true_negative USING (h, r, t)) new
        LEFT JOIN (SELECT h, r, t FROM now_true_negative {seen}) seen
            ON seen.h = new.h AND seen.r = new.r AND seen.t = new.t
        LEFT JOIN old_negative turned ON turned.h = new.t AND turned.r = new.r AND turned.t = new.h
        """,
    )
    engine.view("fact", "SELECT h, r, t, score, source FROM new_fact")
    engine.make(
        "true_negative",
        "SELECT h, r, t, score, source FROM new_true_negative WHERE seen AND NOT turned OR h = t",
    )
    engine.make(
        "node",
        """SELECT node.id, name, kind, listed AND trained_node.id IS NOT NULL AS listed
           FROM node_of_both node LEFT JOIN trained_node ON trained_node.id = node.id""",
    )
    engine.view(
        "other_negative",
        """SELECT h, r, t FROM old_negative UNION ALL SELECT t, r, h FROM old_negative
           UNION ALL SELECT h, r, t FROM old_true_negative UNION ALL SELECT t, r, h FROM old_true_negative""",
    )


def _look_at_both_slices(engine: Engine) -> None:
    """Put together what was made of each slice, and list what is not new, or is only an old one turned around."""
    engine.make(
        "negative",
        """SELECT h, r, t, score, source, curated FROM negative
           UNION ALL SELECT h, r, t, score, source, curated FROM old_negative
           UNION ALL SELECT h, r, t, score, source, true FROM new_true_negative WHERE h <> t AND (NOT seen OR turned)
        """,
    )
    engine.make(
        "placed",
        """SELECT h, r, t, true AS positive, 'train' AS part, CAST(NULL AS STRING) AS reason FROM old_positive
           UNION ALL SELECT h, r, t, false, 'train', NULL FROM old_negative
           UNION ALL SELECT h, r, t, false, NULL, 'reverse' FROM new_true_negative WHERE turned""",
    )
    engine.view("fact", "SELECT h, r, t, score, source FROM positive WHERE h <> t")
    engine.make("node", "SELECT id, name, kind, listed FROM node_of_both")
    engine.drop("other_negative", "old_negative", "new_true_negative", "new_fact", "true_negative")
    engine.drop("trained_node", "trained_relation", "node_of_both")
