"""What gives rows away, found by comparing rows with rows.

Every `list_…` reads the tables of `openbiolink.audit.context`, and makes `affected_ID` (part, h, r, t, n).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from openbiolink.audit.context import HELD_OUT, IN_CONTEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from openbiolink.engines import Engine

LEARNT = f"SELECT DISTINCT h, r, t FROM triple WHERE {IN_CONTEXT}"


def list_duplicates(engine: Engine) -> None:
    """Make `affected_duplicate`, and `across` (part, h, r, t, n): those of them that stand in another part, too."""
    engine.make(
        "across",
        """
        SELECT part, h, r, t, n FROM (SELECT part, h, r, t, n FROM mixed UNION ALL
                                      SELECT part, h, r, t, n FROM triple WHERE h = t) AS both_kinds
        SEMI JOIN (SELECT h, r, t FROM (SELECT h, r, t FROM mixed UNION ALL
                                        SELECT h, r, t FROM triple WHERE h = t) AS each_part
                   GROUP BY h, r, t HAVING count(*) > 1) AS repeated USING (h, r, t)
        """,
    )
    engine.make(
        "affected_duplicate",
        "SELECT part, h, r, t, n FROM across UNION SELECT part, h, r, t, n FROM triple WHERE n > 1",
    )


def list_loops(engine: Engine) -> None:
    """Make `affected_loop`: the triples whose head is their tail."""
    engine.make("affected_loop", "SELECT part, h, r, t, n FROM triple WHERE h = t")


def list_reversed(engine: Engine) -> None:
    """Make `affected_reversed`: the triples whose reverse stands in another part."""
    engine.make(
        "affected_reversed",
        """
        SELECT own.part, own.h, own.r, own.t, min(own.n) AS n
        FROM mixed AS own JOIN mixed AS other ON other.h = own.t AND other.r = own.r AND other.t = own.h
        WHERE other.part <> own.part GROUP BY own.part, own.h, own.r, own.t
        """,
    )


def list_implied(engine: Engine) -> None:
    """Make `affected_super_relation`: the held-out triples that one of another relation in another part implies."""
    engine.make(
        "affected_super_relation",
        f"""
        SELECT own.part, own.h, own.r, own.t, min(own.n) AS n FROM mixed AS own JOIN {implied_by("mixed")} AS other
        ON other.h = own.h AND other.r = own.r AND other.t = own.t
        WHERE other.part <> own.part AND own.{HELD_OUT} GROUP BY own.part, own.h, own.r, own.t
        """,
    )


def list_same_pairs(engine: Engine) -> None:
    """Make `affected_same_pair`: the triples whose ends another relation joins, in another part.

    That is so where the least or the greatest relation that joins them there is not their own.
    """
    engine.make(
        "affected_same_pair",
        """
        SELECT own.part, own.h, own.r, own.t, min(own.n) AS n
        FROM mixed AS own JOIN (
            SELECT part, least(h, t) AS x, greatest(h, t) AS y, min(r) AS low, max(r) AS high FROM mixed
            GROUP BY part, least(h, t), greatest(h, t)) AS other
        ON other.x = least(own.h, own.t) AND other.y = greatest(own.h, own.t)
        WHERE other.part <> own.part AND (other.low <> own.r OR other.high <> own.r)
        GROUP BY own.part, own.h, own.r, own.t
        """,
    )


def list_transitive(engine: Engine, relations: Iterable[int]) -> None:
    """Make `affected_transitive`: held-out triples that a path of two edges or more of the context joins.

    Makes `path` (h, r, t) of all such paths that begin at the head of a held-out triple or end at the tail of one of
    the test part.
    """
    chosen = f"r IN ({', '.join(map(str, relations)) or 'NULL'})"
    engine.make("step", f"SELECT r, h AS near, t AS far FROM ({LEARNT}) AS learnt WHERE h <> t AND {chosen}")
    engine.make("back", "SELECT r, far AS near, near AS far FROM step")
    _follow(engine, "step", f"SELECT DISTINCT r, h AS near FROM triple WHERE {chosen} AND {HELD_OUT}", "onward")
    _follow(engine, "back", f"SELECT DISTINCT r, t AS near FROM triple WHERE {chosen} AND part = 'test'", "backward")
    engine.make("path", "SELECT near AS h, r, far AS t FROM onward UNION SELECT far AS h, r, near AS t FROM backward")
    engine.make(
        "affected_transitive",
        f"SELECT part, h, r, t, n FROM triple SEMI JOIN path USING (h, r, t) WHERE h <> t AND {HELD_OUT}",
    )
    engine.drop("step", "back", "onward", "backward")


def _follow(engine: Engine, step: str, starts: str, reached: str) -> None:
    """Make a table (r, near, far) of what paths of two steps or more lead to from the starts (r, near)."""
    further = f"""
        SELECT DISTINCT front.r, front.near, {step}.far
        FROM front JOIN {step} ON {step}.r = front.r AND {step}.near = front.far
    """
    engine.make("front", f"SELECT r, near, far FROM {step} SEMI JOIN ({starts}) AS start USING (r, near)")
    engine.make(reached, further)
    engine.make("front", f"SELECT r, near, far FROM {reached}")
    while engine.rows("SELECT 1 FROM front LIMIT 1"):
        engine.make(
            "front", f"SELECT r, near, far FROM ({further}) AS further ANTI JOIN {reached} USING (r, near, far)"
        )
        engine.append(reached, "SELECT r, near, far FROM front")
    engine.drop("front")


def list_collisions(engine: Engine) -> None:
    """Make `affected_negative_collision`: the negatives (part, h, r, t, n) that a positive of any part says, and
    `collision`: (part, h, r, t) of the negative, (other_part, other_h, other_r, other_t) of the positive.
    """
    said = implied_by("triple", more="OR implies.flipped")
    engine.make("denied", "SELECT part, h, r, t FROM row WHERE NOT positive")
    engine.make(
        "collision",
        f"""
        SELECT denied.part, denied.h, denied.r, denied.t, triple.part AS other_part,
            triple.h AS other_h, triple.r AS other_r, triple.t AS other_t
        FROM denied JOIN triple ON triple.h = denied.h AND triple.r = denied.r AND triple.t = denied.t
        UNION
        SELECT denied.part, denied.h, denied.r, denied.t, said.part, said.own_h, said.special, said.own_t
        FROM denied JOIN {said} AS said ON said.h = denied.h AND said.r = denied.r AND said.t = denied.t
        """,
    )
    engine.make(
        "affected_negative_collision",
        """
        SELECT part, h, r, t, count(*) AS n
        FROM denied SEMI JOIN collision USING (part, h, r, t) GROUP BY part, h, r, t
        """,
    )
    engine.drop("denied")


def implied_by(table: str, *, more: str = "") -> str:
    """A query of what the rows of a table say besides themselves: (part, h, r, t, special, own_h, own_t)."""
    return f"""(
        SELECT special.part, CASE WHEN flipped THEN special.t ELSE special.h END AS h, general AS r,
            CASE WHEN flipped THEN special.h ELSE special.t END AS t, special, special.h AS own_h, special.t AS own_t
        FROM {table} AS special JOIN implies ON implies.special = special.r AND (special <> general {more}))"""


def list_unseen_entities(engine: Engine) -> None:
    """Make `affected_unseen_entity`: held-out triples with an end that the context lacks; and `seen` (id)."""
    engine.make("seen", f"SELECT h AS id FROM triple WHERE {IN_CONTEXT} UNION SELECT t FROM triple WHERE {IN_CONTEXT}")
    engine.make(
        "affected_unseen_entity",
        f"""
        SELECT part, h, r, t, n
        FROM triple LEFT JOIN seen AS start ON start.id = h LEFT JOIN seen AS finish ON finish.id = t
        WHERE {HELD_OUT} AND (start.id IS NULL OR finish.id IS NULL)
        """,
    )


def list_unseen_relations(engine: Engine) -> None:
    """Make `affected_unseen_relation`: the held-out triples whose relation no triple of the context has."""
    engine.make(
        "affected_unseen_relation",
        f"""
        SELECT part, h, r, t, n
        FROM triple ANTI JOIN (SELECT DISTINCT r FROM triple WHERE {IN_CONTEXT}) AS learnt USING (r)
        WHERE {HELD_OUT}
        """,
    )


LEAKS: Mapping[str, Callable[[Engine], None]] = MappingProxyType(
    {
        "duplicate": list_duplicates,
        "loop": list_loops,
        "reversed": list_reversed,
        "super_relation": list_implied,
        "negative_collision": list_collisions,
        "unseen_entity": list_unseen_entities,
        "unseen_relation": list_unseen_relations,
    }
)
