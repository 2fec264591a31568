"""Floors of a benchmark: the ranks that counting or copying gets, exactly, without scoring candidates one by one.

Two models look at no more than how common an entity is: `degree` scores a candidate by the number of context triples
it takes part in, `frequency` by how often it is the tail (for head queries: the head) of the query's relation. How
many candidates score better than an answer, or the same, follows from how many entities have each score, less the
known answers of the query that do. The third, `copy`, predicts every copy of a context triple that the graph's own
redundancy offers: reversed, under an inverse, near-duplicate or containing relation, under a super-relation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from openbiolink.audit.context import IN_CONTEXT
from openbiolink.audit.finding import Finding
from openbiolink.audit.relations import copies
from openbiolink.audit.rules import SIDES, Rule, reciprocal_mean, rule_mrr

if TYPE_CHECKING:
    from openbiolink.audit.context import Context
    from openbiolink.engines import Engine

ANSWER = {"tail": "t", "head": "h"}


def find_degree_baseline(engine: Engine, _: Context) -> Finding:
    """The mean reciprocal rank of the degree baseline.

    Reads the tables of an audit and those of `rules.make_queries`.
    """
    engine.make(
        "degree",
        f"""
        WITH learnt AS (SELECT DISTINCT h, r, t FROM triple WHERE {IN_CONTEXT})
        SELECT entity.id AS entity, coalesce(found.score, 0) AS score
        FROM entity LEFT JOIN (
            SELECT id, count(*) AS score
            FROM (SELECT h AS id FROM learnt UNION ALL SELECT t AS id FROM learnt WHERE h <> t) AS ends
            GROUP BY id
        ) AS found ON found.id = entity.id
        """,
    )
    levels = _levels("SELECT score, count(*) AS size FROM degree GROUP BY score")
    scores = {
        side: f"SELECT known.*, score FROM known JOIN degree ON degree.entity = known.{answer}"
        for side, answer in ANSWER.items()
    }
    twice = " UNION ALL ".join(_ranks(side, scores=scores[side], levels=levels) for side in SIDES)
    mrr = _mean(engine, twice)
    engine.drop("degree")
    return _floor("degree_baseline", "candidates by the number of their context triples", mrr)


def find_frequency_baseline(engine: Engine, _: Context) -> Finding:
    """The mean reciprocal rank of the frequency baseline.

    Reads the tables of an audit and those of `rules.make_queries`.
    """
    ranks = []
    for side, answer in ANSWER.items():
        engine.make(
            f"{side}_frequency",
            f"""
            SELECT r, {answer} AS entity, count(*) AS score
            FROM (SELECT DISTINCT h, r, t FROM triple WHERE {IN_CONTEXT}) AS learnt GROUP BY r, {answer}
            """,
        )
        levels = _levels(
            f"""
            SELECT r, score, count(*) AS size FROM {side}_frequency GROUP BY r, score
            UNION ALL SELECT relation.id AS r, 0 AS score, entities.number - count(found.r) AS size
            FROM relation LEFT JOIN {side}_frequency AS found ON found.r = relation.id
            CROSS JOIN (SELECT count(*) AS number FROM entity) AS entities GROUP BY relation.id, entities.number
            """,
            by="r",
        )
        scores = f"""
            SELECT known.*, coalesce(found.score, 0) AS score FROM known
            LEFT JOIN {side}_frequency AS found ON found.r = known.r AND found.entity = known.{answer}
        """
        ranks.append(_ranks(side, scores=scores, levels=levels, by="r"))
    mrr = _mean(engine, " UNION ALL ".join(ranks))
    engine.drop("tail_frequency", "head_frequency")
    return _floor("frequency_baseline", "candidates by how often the relation has them on this side", mrr)


def find_copy_baseline(engine: Engine, context: Context) -> Finding:
    """The mean reciprocal rank of copying, over all test rows and over those that a copy predicts.

    Reads the tables of an audit, those of `rules.make_queries` and what `relations.compare_relations` made.
    """
    engine.make("copied", copies("1 = 1"))
    predicted = "SELECT h, r, t FROM asked SEMI JOIN copied USING (h, r, t)"
    found = rule_mrr(engine, Rule(predicted="SELECT h, r, t FROM copied"), predicted)
    hits = int(engine.rows("SELECT coalesce(sum(n), 0) FROM asked SEMI JOIN copied USING (h, r, t)")[0][0])
    engine.drop("copied")
    return Finding(
        id="copy_baseline",
        title="copies of context triples, as redundant relations offer them",
        severity="info",
        count=0,
        test_affected=hits,
        test_share=hits / context.test_rows if context.test_rows else 0.0,
        mrr=found.mrr,
        mrr_affected=found.affected,
        mrr_unaffected=found.unaffected,
    )


def _floor(check: str, title: str, mrr: float | None) -> Finding:
    return Finding(id=check, title=title, severity="info", count=0, test_affected=0, test_share=0.0, mrr=mrr)


def _levels(sizes: str, by: str = "") -> str:
    """A query of (by, score, level, better): how many entities have each score or more, and how many more than it.

    Args:
        sizes: a query of (by, score, size): how many entities have a score.
        by: `r` where scores depend on the relation.
    """
    partition = f"PARTITION BY {by}" if by else ""
    columns = f"{by}, score" if by else "score"
    return f"""
        SELECT {columns}, sum(size) OVER ({partition} ORDER BY score DESC) AS level,
            sum(size) OVER ({partition} ORDER BY score DESC) - size AS better
        FROM ({sizes}) AS sizes
    """


def _ranks(side: str, *, scores: str, levels: str, by: str = "") -> str:
    """A query of (twice, n): twice the rank of each test triple on one side, and its rows.

    With a triple's `place` among the known answers of its query, 1 for the first of those with its score, and `upto`
    known answers with its score or more, `place - 1` known ones are better and `upto - (place - 1)` share its score,
    itself among them.
    """
    given = SIDES[side]
    keys = " AND ".join(f"levels.{key} = placed.{key}" for key in (*([by] if by else []), "score"))
    return f"""
        SELECT 3 + levels.better + levels.level - placed.place - placed.upto AS twice, asked.n
        FROM (
            SELECT h, r, t, score, rank() OVER (PARTITION BY {given} ORDER BY score DESC) AS place,
                count(*) OVER (PARTITION BY {given} ORDER BY score DESC) AS upto
            FROM ({scores}) AS scored SEMI JOIN {side}_query USING ({given})
        ) AS placed
        JOIN asked ON asked.h = placed.h AND asked.r = placed.r AND asked.t = placed.t
        JOIN ({levels}) AS levels ON {keys}
    """


def _mean(engine: Engine, ranks: str) -> float | None:
    found = engine.arrays(
        f"SELECT CAST(twice AS BIGINT) AS twice, CAST(sum(n) AS BIGINT) AS n FROM ({ranks}) AS ranked GROUP BY twice"
    )
    return reciprocal_mean(found["twice"].astype(np.int64), found["n"].astype(np.int64))
