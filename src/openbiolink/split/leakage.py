"""What one edge says about others, and the removal of held-out edges that this gives away.

An edge *implies* its super-relations (BINDACT → BINDING → GENE_GENE), its copy by an inverse relation and, where a
relation is symmetric, its own reverse. A row of test or validation leaks if a row of another part implies it, or is its
mere reverse. What a model may learn from - training, and the inference graph of an inductive split - is never touched:
schemes put an edge and its reverse into one part wherever they can, and what is left to do is done to the rows that
were held out. One rule serves every two parts:

    a held-out row goes if a row of another part gives it away; of two rows, one of test and one of validation, that
    give each other away, the row of validation goes

No row goes for one that goes itself. The steps see to that by their order:

1. `drop_unseen` and `drop_implied_negatives` compare with the context only, which no step changes.
2. `drop_given_away` goes from the most special relations upwards. Whether a row stays depends on the context, on rows
   of more special relations, which are final when its turn comes, and - of two that give each other away - on the row
   of test, which is final before the row of validation is looked at.

`clean_up` repeats passes until the audit, which counts leaks by other means, finds none.

Tables: `kept` (h, r, t, positive, score, source, part), made by `keep_rows` of `context_row` and `held`, are the rows
that stay; `removed` has those that do not, with the reason; `gives` is made here by `write_rules`; `held_node` (id) are
nodes that may be unseen.
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
SAME_AS_OTHER = """JOIN kept ON kept.h = other_h AND kept.r = other_r AND kept.t = other_t
    AND kept.positive = clue.positive"""
PASSES = 10  # each removes rows, or is the last


def keep_rows(engine: Engine, rows: str) -> None:
    """Make `context_row` and `held` of a query, and `kept` of both: only the held-out rows are ever touched."""
    engine.view("kept", rows)
    context, held = f"SELECT {ROW} FROM kept WHERE {CONTEXT}", f"SELECT {ROW} FROM kept WHERE {HELD}"
    engine.make("context_row", context)
    engine.make("held", held)
    engine.view("kept", f"SELECT {ROW} FROM context_row UNION ALL SELECT {ROW} FROM held")


def write_rules(engine: Engine, schema: Schema, *, directed: bool) -> None:
    """Make `gives` (special, general, flipped, mutual) of the relations in the graph, and the audit's `implies`.

    A row of relation `special` gives away the row of `general` between the same nodes, head and tail exchanged
    where it is `flipped`; `mutual` tells that this holds the other way round too, as between an edge and its reverse.
    """
    list_consequences(engine, schema, directed=directed)
    engine.make(
        "gives",
        """SELECT rule.special, rule.general, rule.flipped, back.special IS NOT NULL AS mutual
           FROM implies rule LEFT JOIN implies back ON back.special = rule.general AND back.general = rule.special
               AND back.flipped = rule.flipped
           WHERE rule.special <> rule.general
           UNION ALL SELECT id AS special, id AS general, true AS flipped, true AS mutual FROM relation""",
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
    drop_implied_negatives(engine)
    for _ in range(PASSES):
        drop_given_away(engine)
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


def drop_implied_negatives(engine: Engine) -> None:
    """Remove the held-out negatives that are false because a more general negative of the context is.

    That a more general negative of the other held-out part is false gives nothing away in the end: it goes itself, as
    `drop_given_away` sees to.
    """
    _list_clues(engine, own="special", other="general", condition="NOT mutual AND NOT positive")
    _remove(
        engine,
        f"""SELECT clue.h, clue.r, clue.t, clue.positive, clue.part,
                'implied_negative:' || min(relation.name) AS reason
            FROM clue {SAME_AS_OTHER} JOIN relation ON relation.id = other_r WHERE {CONTEXT}
            GROUP BY clue.h, clue.r, clue.t, clue.positive, clue.part""",
    )
    engine.drop("clue")


def drop_given_away(engine: Engine) -> None:
    """Remove the held-out rows that a row of another part and the same sign gives away, the most special ones first."""
    levels = engine.rows("SELECT DISTINCT depth FROM gives JOIN relation ON relation.id = general ORDER BY depth DESC")
    for (depth,) in levels:
        _list_clues(
            engine,
            own="general",
            other="special",
            condition=f"general IN (SELECT id FROM relation WHERE depth = {depth})",
        )
        for certain in (f"({CONTEXT} OR NOT mutual)", "clue.part = 'validation'"):
            _remove(
                engine,
                f"""SELECT clue.h, clue.r, clue.t, clue.positive, clue.part, min(CASE
                        WHEN other_r = clue.r THEN 'reverse'
                        WHEN mutual THEN 'inverse:' || relation.name
                        ELSE 'super_relation:' || relation.name END) AS reason
                    FROM clue {SAME_AS_OTHER} JOIN relation ON relation.id = other_r
                    WHERE clue.part <> kept.part AND {certain}
                    GROUP BY clue.h, clue.r, clue.t, clue.positive, clue.part""",
            )
    engine.drop("clue")


def _list_clues(engine: Engine, *, own: str, other: str, condition: str) -> None:
    """Make `clue` (h, r, t, positive, part, mutual, other_h, other_r, other_t): held-out rows and what would tell them.

    It is a table and not part of the query that uses it, since the join on relations alone, which comes
    first there, hides from the planner how few rows the join on whole edges leaves.

    Args:
        engine: with `held` and `gives`.
        own: the side of a rule that the held-out row is on, `special` or `general`.
        other: the other side.
        condition: what of both is wanted.
    """
    engine.make(
        "clue",
        f"""SELECT h, r, t, positive, part, mutual, CASE WHEN flipped THEN t ELSE h END AS other_h,
                {other} AS other_r, CASE WHEN flipped THEN h ELSE t END AS other_t
            FROM held JOIN gives ON gives.{own} = held.r WHERE {condition}""",
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
