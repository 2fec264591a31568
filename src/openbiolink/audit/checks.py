"""All checks of an audit, in order: each makes a table of what it finds, and a finding with what a model gains by it.

Every `find_…` reads the tables of `openbiolink.audit.context` and of `openbiolink.audit.rules.make_queries`, and what
`openbiolink.audit.relations.compare_relations` made.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from openbiolink.audit.baselines import find_copy_baseline, find_degree_baseline, find_frequency_baseline
from openbiolink.audit.components import find_component_drift
from openbiolink.audit.context import HELD_OUT, IN_CONTEXT, conclude, found_rows, the_number
from openbiolink.audit.leaks import (
    LEARNT,
    implied_by,
    list_collisions,
    list_duplicates,
    list_implied,
    list_loops,
    list_reversed,
    list_same_pairs,
    list_transitive,
    list_unseen_entities,
    list_unseen_relations,
)
from openbiolink.audit.relations import (
    find_cartesian_relations,
    find_contained_relations,
    find_inverse_relations,
    find_near_duplicate_relations,
    symmetric_relations,
)
from openbiolink.audit.rules import Rule, gain

if TYPE_CHECKING:
    from collections.abc import Callable

    from openbiolink.audit.context import Context
    from openbiolink.audit.finding import Finding
    from openbiolink.engines import Engine

PARTS_OF_OTHERS = "replace(merged_names(array_agg(other.part)), ';', ', ')"


def find_duplicates(engine: Engine, context: Context) -> Finding:
    """Rows whose triple stands twice or more, in one part or in several."""
    list_duplicates(engine)
    rows = the_number(engine, "SELECT sum(n) FROM affected_duplicate")
    triples = the_number(engine, "SELECT count(*) FROM (SELECT DISTINCT h, r, t FROM affected_duplicate) AS found")
    across = the_number(engine, "SELECT sum(n) FROM across")
    engine.drop("across")
    return conclude(
        engine,
        context,
        "duplicate",
        title="rows that repeat a triple",
        severity="error" if across else "warning",
        because=_because(
            f"CAST(sum(other.n) AS STRING) || ' such rows: ' || {PARTS_OF_OTHERS}",
            "triple AS other ON other.h = own.h AND other.r = own.r AND other.t = own.t",
        ),
        gain=gain(engine, "duplicate", Rule(predicted=LEARNT)),
        details={"repeats": rows - triples, "across": across},
    )


def find_loops(engine: Engine, context: Context) -> Finding:
    """Rows whose head is their tail."""
    list_loops(engine)
    looping = f"SELECT DISTINCT r FROM triple WHERE {IN_CONTEXT} AND h = t"
    return conclude(
        engine,
        context,
        "loop",
        title="rows whose head is their tail",
        severity="error" if the_number(engine, f"SELECT count(*) FROM affected_loop WHERE {HELD_OUT}") else "warning",
        because="its head is its tail",
        gain=gain(engine, "loop", Rule(predicted=looping, form="loops")),
    )


def find_reversed(engine: Engine, context: Context) -> Finding:
    """Rows whose reverse stands in another part."""
    list_reversed(engine)
    turned = f"SELECT DISTINCT t AS h, r, h AS t FROM triple WHERE {IN_CONTEXT} AND h <> t"
    return conclude(
        engine,
        context,
        "reversed",
        title="rows whose reverse stands in another part",
        severity="error",
        because=_because(
            f"'its reverse stands in ' || {PARTS_OF_OTHERS}",
            "mixed AS other ON other.h = own.t AND other.r = own.r AND other.t = own.h AND other.part <> own.part",
        ),
        gain=gain(engine, "reversed", Rule(predicted=turned)),
        details={"symmetric_relations": list(symmetric_relations(engine))},
    )


def find_super_relations(engine: Engine, context: Context) -> Finding:
    """Rows that one of another relation in another part implies, as the schema declares."""
    list_implied(engine)
    context_rows = f"(SELECT part, h, r, t FROM triple WHERE {IN_CONTEXT} AND h <> t)"
    return conclude(
        engine,
        context,
        "super_relation",
        title="rows that a row of another relation implies, in another part",
        severity="error",
        because=_because(
            "min(relation.name || ' of ' || other.part || ' implies it')",
            f"""{implied_by("mixed")} AS other ON other.h = own.h AND other.r = own.r AND other.t = own.t
                AND other.part <> own.part JOIN relation ON relation.id = other.special""",
        ),
        gain=gain(
            engine, "super_relation", Rule(predicted=f"SELECT DISTINCT h, r, t FROM {implied_by(context_rows)} AS said")
        ),
    )


def find_same_pairs(engine: Engine, context: Context) -> Finding:
    """Rows whose ends another relation joins in another part, in either direction."""
    list_same_pairs(engine)
    plain = f"FROM triple WHERE {IN_CONTEXT} AND h <> t"
    return conclude(
        engine,
        context,
        "same_pair",
        title="rows whose ends another relation joins, in another part",
        severity="warning",
        because=_because(
            "min(relation.name || ' joins its ends in ' || other.part)",
            """mixed AS other ON other.r <> own.r AND other.part <> own.part
                AND least(other.h, other.t) = least(own.h, own.t)
                AND greatest(other.h, other.t) = greatest(own.h, own.t)
                JOIN relation ON relation.id = other.r""",
        ),
        gain=gain(
            engine,
            "same_pair",
            Rule(predicted=f"SELECT h, t {plain} UNION SELECT t AS h, h AS t {plain}", form="pairs"),
        ),
    )


def find_transitive(engine: Engine, context: Context) -> Finding:
    """Held-out rows of a transitive relation whose ends a path of two context rows or more joins."""
    list_transitive(engine, context.transitive)
    gained = gain(engine, "transitive", Rule(predicted="SELECT h, r, t FROM path"))
    engine.drop("path")
    return conclude(
        engine,
        context,
        "transitive",
        title="held-out rows that a path of a transitive relation implies",
        severity="warning",
        because="a path of two or more such rows of the context leads from its head to its tail",
        gain=gained,
    )


def find_negative_collisions(engine: Engine, context: Context) -> Finding:
    """Negative rows that a positive row states or implies; of the test part, the positive rows that these deny."""
    list_collisions(engine)
    said = """
        SELECT shown.part, shown.h, shown.r, shown.t, min(CASE WHEN other_h = shown.h AND other_r = shown.r AND
            other_t = shown.t THEN 'a negative that is a positive of ' || other_part
            ELSE 'a negative that ' || relation.name || ' of ' || other_part || ' implies' END) AS because
        FROM shown JOIN collision ON collision.part = shown.part AND collision.h = shown.h AND collision.r = shown.r
            AND collision.t = shown.t
        JOIN relation ON relation.id = other_r GROUP BY shown.part, shown.h, shown.r, shown.t
    """
    pairs = engine.rows("""
        SELECT part, other_part, sum(n)
        FROM (SELECT DISTINCT part, h, r, t, other_part FROM collision) AS found
        JOIN affected_negative_collision USING (part, h, r, t) GROUP BY part, other_part ORDER BY part, other_part
    """)
    denied = the_number(
        engine,
        """SELECT sum(n) FROM triple SEMI JOIN (
               SELECT other_part AS part, other_h AS h, other_r AS r, other_t AS t FROM collision) AS found
           USING (part, h, r, t) WHERE part = 'test'""",
    )
    finding = conclude(
        engine,
        context,
        "negative_collision",
        title="negatives that positives state or imply",
        severity="error",
        because=said,
        details={"parts": {f"{negative}, {positive}": int(rows) for negative, positive, rows in pairs}},
    )
    engine.drop("collision")
    return replace(finding, test_affected=denied, test_share=denied / context.test_rows if context.test_rows else 0.0)


def find_unseen_entities(engine: Engine, context: Context) -> Finding:
    """Held-out rows with an entity that no context row has."""
    list_unseen_entities(engine)
    ends = "SELECT h AS id FROM affected_unseen_entity UNION SELECT t FROM affected_unseen_entity"
    entities = the_number(engine, f"SELECT count(*) FROM ({ends}) AS ends ANTI JOIN seen USING (id)")
    because = """
        SELECT part, h, r, t, 'the context lacks ' || concat_ws(' and ', CASE WHEN start.id IS NULL THEN head.name END,
            CASE WHEN finish.id IS NULL THEN tail.name END) AS because
        FROM shown LEFT JOIN seen AS start ON start.id = h LEFT JOIN seen AS finish ON finish.id = t
        JOIN node AS head ON head.id = h JOIN node AS tail ON tail.id = t
    """
    by_design = {"by_design": context.inductive} if context.inductive else {}
    finding = conclude(
        engine,
        context,
        "unseen_entity",
        title="held-out rows with an entity that training lacks",
        severity="info" if context.inductive else "error",
        because=because,
        details={"entities": entities, **_by_part(engine, "unseen_entity"), **by_design},
    )
    engine.drop("seen")
    return finding


def find_unseen_relations(engine: Engine, context: Context) -> Finding:
    """Held-out rows whose relation no context row has."""
    list_unseen_relations(engine)
    relations = the_number(engine, "SELECT count(*) FROM (SELECT DISTINCT r FROM affected_unseen_relation) AS found")
    return conclude(
        engine,
        context,
        "unseen_relation",
        title="held-out rows with a relation that training lacks",
        severity="error",
        because="no row of the context has its relation",
        details={"relations": relations, **_by_part(engine, "unseen_relation")},
    )


CHECKS: tuple[Callable[[Engine, Context], Finding], ...] = (
    find_duplicates,
    find_loops,
    find_reversed,
    find_inverse_relations,
    find_near_duplicate_relations,
    find_contained_relations,
    find_same_pairs,
    find_cartesian_relations,
    find_transitive,
    find_negative_collisions,
    find_unseen_entities,
    find_unseen_relations,
    find_degree_baseline,
    find_frequency_baseline,
    find_copy_baseline,
    find_component_drift,
    find_super_relations,
)


def _because(text: str, others: str) -> str:
    """A query as `conclude` takes it: for each row shown, called own, a text about what it joins with."""
    key = "own.part, own.h, own.r, own.t"
    return f"SELECT {key}, {text} AS because FROM shown AS own JOIN {others} GROUP BY {key}"


def _by_part(engine: Engine, check: str) -> dict[str, int]:
    found = found_rows(engine, f"affected_{check}")
    return {part: found.get(part, 0) for part in ("valid", "test")}
