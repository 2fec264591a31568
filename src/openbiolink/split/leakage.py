"""What one edge says about others, and the removal of held-out edges that this gives away.

An edge *implies* its super-relations (BINDACT → BINDING → GENE_GENE), its copy by an inverse relation and, where a
relation is symmetric, its own reverse. A row of test or validation leaks if a row of another part implies it, or is its
mere reverse. What a model may learn from - training, and the inference graph of an inductive split - is never touched:
schemes put an edge and its reverse into one part wherever they can, and what is left to do is done to the rows that
were held out. One rule serves every two parts:

    a held-out row goes if a row of another part gives it away; of two rows, one of test and one of validation, that
    give each other away, the row of validation goes

The steps of a pass, in this order:

1. `drop_unseen` compares with the positives of the context only, which no step changes.
2. `drop_reversed` and `drop_implied`, from the most special relations upwards. Whether a row stays depends on rows of
   more special relations only, and those are final when its turn comes; a row that is gone implies nothing.
3. `drop_implied_negatives` looks at a false special edge that a false general edge gives away.

`clean_up` repeats passes until the audit, which counts leaks by other means, finds none.

Tables: `kept` (h, r, t, positive, score, source, part), made by `keep_rows` of `context_row` and `held`, are the rows
that stay; `removed` has those that do not, with the reason; `implies` is made here by `write_rules`; `held_node` (id)
are nodes that may be unseen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from openbiolink.audit import leak_counts
from openbiolink.audit.read import list_consequences
from openbiolink.errors import OpenBioLinkError

if TYPE_CHECKING:
    from openbiolink.engines import Engine
    from openbiolink.schema import Schema

CONTEXT = "kept.part IN ('train', 'inference')"
HELD = "kept.part IN ('validation', 'test')"
ROW = "h, r, t, positive, score, source, part"
PASSES = 10  # each removes rows, or is the last


def keep_rows(engine: Engine, rows: str) -> None:
    """Make `context_row` and `held` of a query, and `kept` of both: only the held-out rows are ever touched."""
    engine.view("kept", rows)
    context, held = f"SELECT {ROW} FROM kept WHERE {CONTEXT}", f"SELECT {ROW} FROM kept WHERE {HELD}"
    engine.make("context_row", context)
    engine.make("held", held)
    engine.view("kept", f"SELECT {ROW} FROM context_row UNION ALL SELECT {ROW} FROM held")


def write_rules(engine: Engine, schema: Schema, *, directed: bool) -> None:
    """Make `implies` (special, general, flipped, mutual) of the relations in the graph, each with itself.

    `mutual` tells that the general row implies the special one too.
    """
    list_consequences(engine, schema, directed=directed)
    engine.make(
        "implies",
        """SELECT rule.special, rule.general, rule.flipped, back.special IS NOT NULL AS mutual
           FROM implies rule LEFT JOIN implies back ON back.special = rule.general AND back.general = rule.special
               AND back.flipped = rule.flipped""",
    )


def clean_up(engine: Engine, *, unseen_by_design: bool) -> dict[str, int]:
    """Remove held-out rows until none leaks.

    Args:
        engine: with the tables that the module describes.
        unseen_by_design: whether the scheme holds nodes out, so that they are unseen.

    Returns:
        What the audit counts in the end: the id of every check on leaks → 0, and `unseen_entity` as it is.
    """
    # The context is what it was, so nodes and relations that it lacks are known once and for all.
    drop_unseen(engine)
    for _ in range(PASSES):
        drop_reversed(engine)
        drop_implied(engine)
        drop_implied_negatives(engine)
        counts = _count_leaks(engine)
        if not any(number for check, number in counts.items() if not (unseen_by_design and check == "unseen_entity")):
            return counts
    raise OpenBioLinkError(
        f"the split still leaks after {PASSES} passes ({counts}); nothing was written, please report the graph"
    )


def _count_leaks(engine: Engine) -> dict[str, int]:
    """What the audit finds among the rows that stay."""
    engine.view(
        "row",
        "SELECT CASE WHEN part = 'validation' THEN 'valid' ELSE part END AS part, positive, h, r, t FROM kept",
    )
    try:
        return leak_counts(engine)
    finally:
        engine.drop("row")


def drop_unseen(engine: Engine) -> None:
    """Remove the held-out rows with a relation or node that no positive of the context has, `held_node` aside."""
    context = f"FROM kept WHERE positive AND {CONTEXT}"
    engine.make("seen_node", f"SELECT h AS id {context} UNION SELECT t {context}")
    engine.make("seen_relation", f"SELECT DISTINCT r AS id {context}")
    engine.make("known_node", "SELECT id FROM seen_node UNION SELECT id FROM held_node")
    _remove(
        engine,
        """
        SELECT held.h, held.r, held.t, held.positive, held.part, CASE
            WHEN a.id IS NULL AND b.id IS NULL THEN 'unseen_node:' || head.name || ',' || tail.name
            WHEN a.id IS NULL THEN 'unseen_node:' || head.name
            WHEN b.id IS NULL THEN 'unseen_node:' || tail.name
            ELSE 'unseen_relation:' || relation.name
        END AS reason
        FROM held JOIN node head ON head.id = h JOIN node tail ON tail.id = t JOIN relation ON relation.id = r
        LEFT JOIN known_node a ON a.id = h LEFT JOIN known_node b ON b.id = t LEFT JOIN seen_relation s ON s.id = r
        WHERE a.id IS NULL OR b.id IS NULL OR s.id IS NULL
        """,
    )


def drop_reversed(engine: Engine) -> None:
    """Remove held-out rows whose reverse, by the same relation and of the same sign, is in another part."""
    _remove(
        engine,
        """
        SELECT DISTINCT held.h, held.r, held.t, held.positive, held.part, 'reverse' AS reason
        FROM held JOIN kept other ON other.h = held.t AND other.r = held.r AND other.t = held.h
            AND other.positive = held.positive
        WHERE other.part <> held.part AND NOT (held.part = 'test' AND other.part = 'validation')
        """,
    )


def drop_implied(engine: Engine) -> None:
    """Remove held-out rows that a row of another part and the same sign implies, the most special ones first."""
    levels = engine.rows("""
        SELECT DISTINCT depth FROM implies JOIN relation ON relation.id = general
        WHERE special <> general OR flipped ORDER BY depth DESC
    """)
    for (depth,) in levels:
        _list_implied(engine, f"general IN (SELECT id FROM relation WHERE depth = {depth})")
        _remove(
            engine,
            """
            SELECT held.h, held.r, held.t, held.positive, held.part, min(CASE
                WHEN implied.special = held.r THEN 'reverse'
                WHEN mutual THEN 'inverse:' || relation.name
                ELSE 'super_relation:' || relation.name END) AS reason
            FROM held JOIN implied ON implied.h = held.h AND implied.r = held.r AND implied.t = held.t
                AND implied.positive = held.positive
            JOIN relation ON relation.id = implied.special
            WHERE held.part <> implied.part
                AND NOT (mutual AND held.part = 'test' AND implied.part = 'validation')
            GROUP BY held.h, held.r, held.t, held.positive, held.part
            """,
        )
    engine.drop("implied")


def drop_implied_negatives(engine: Engine) -> None:
    """Remove the held-out negatives that are false because a more general negative of another part is.

    After the step before no general row of test or validation has a special row in another part, so only rows of the
    context, which no step changes, can still give something away.
    """
    _list_implied(engine, f"NOT mutual AND NOT positive AND {HELD}")
    _remove(
        engine,
        f"""
        SELECT implied.special_h AS h, implied.special AS r, implied.special_t AS t, implied.positive, implied.part,
            'implied_negative:' || min(relation.name) AS reason
        FROM implied JOIN kept ON kept.h = implied.h AND kept.r = implied.r AND kept.t = implied.t
            AND kept.positive = implied.positive
        JOIN relation ON relation.id = implied.r
        WHERE {CONTEXT}
        GROUP BY implied.special_h, implied.special, implied.special_t, implied.positive, implied.part
        """,
    )
    engine.drop("implied")


def _list_implied(engine: Engine, condition: str) -> None:
    """Make `implied` (h, r, t, positive, part, mutual and the special row's own relation and ends).

    It is a table and not part of the query that uses it, since the join on relations alone, which comes
    first there, hides from the planner how few rows the join on whole edges leaves.
    """
    engine.make(
        "implied",
        f"""
        SELECT CASE WHEN flipped THEN kept.t ELSE kept.h END AS h, implies.general AS r,
            CASE WHEN flipped THEN kept.h ELSE kept.t END AS t, positive, part, mutual, special,
            kept.h AS special_h, kept.t AS special_t
        FROM kept JOIN implies ON implies.special = kept.r AND (implies.special <> implies.general OR flipped)
        WHERE {condition}
        """,
    )


def _remove(engine: Engine, hits: str) -> None:
    """Move the rows of `held` that a query (h, r, t, positive, part, reason) names to `removed`, with the reason."""
    engine.make("hit", hits)
    if engine.rows("SELECT count(*) FROM hit")[0][0]:
        same = "hit.h = held.h AND hit.r = held.r AND hit.t = held.t AND hit.positive = held.positive"
        engine.append(
            "removed",
            f"""SELECT held.h, held.r, held.t, held.positive, score, source, held.part, reason
                FROM held JOIN hit ON {same}""",
        )
        engine.make("held", f"SELECT {ROW} FROM held ANTI JOIN hit USING (h, r, t, positive)")
    engine.drop("hit")
