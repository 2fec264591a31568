"""What a model would gain by copying what a check found: the exact mean reciprocal rank of a rule, by counting.

A rule predicts a set of triples. Each of them scores 1, any other triple 0. The rank of a test triple is filtered by
the positives of all parts, all entities are candidates, and equal scores share their places. Of a query (h, r, ?) with
`known` answers among E entities, all that matters is how many tails the rule predicts wrongly: if it predicts the
answer, these tie with it; if not, they are better, and all other candidates tie. So with `false` such tails

    2 * rank = 2 + false                       where the answer is predicted
    2 * rank = 2 + false + (E - known)         where it is not

and nothing is ever listed by candidate. Queries (?, r, t) likewise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from openbiolink.audit.context import IN_CONTEXT, count_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from openbiolink.engines import Engine

Form = Literal["triples", "pairs", "product", "loops"]
Counts = npt.NDArray[np.int64]

SIDES: Mapping[str, str] = MappingProxyType({"tail": "h, r", "head": "r, t"})  # what a query gives of a triple
NOTHING = "SELECT h, r, t FROM asked WHERE 1 = 0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A set of triples, by a query and what its rows stand for.

    Attributes:
        predicted: a query without repeats.
        form: `triples`: rows (h, r, t); `pairs`: rows (h, t), each with every relation; `product`: rows (r), each with
            every head and every tail of its context triples, loops left out; `loops`: rows (r), each with (e, r, e)
            for every entity e.
    """

    predicted: str
    form: Form = "triples"


class RuleMrr(NamedTuple):
    """Mean reciprocal ranks over test rows, both sides; None where there are no such rows.

    Attributes:
        mrr: over all test rows.
        affected: over those a check found.
        unaffected: over the others.
    """

    mrr: float | None
    affected: float | None
    unaffected: float | None


def make_queries(engine: Engine) -> None:
    """Make what all ranks are counted from; to be called once, before `rule_mrr` and the baselines.

    Reads `triple` and `entity`. Makes `known` (h, r, t): the positives of all parts, each once; `tail_query` (h, r,
    others) and `head_query` (r, t, others): the queries that test rows ask, with the number of entities that are no
    answer; and `asked` (h, r, t, n, tail_others, head_others): the test triples, each with its number of rows.
    """
    entities = count_rows(engine, "entity")
    engine.make("known", "SELECT DISTINCT h, r, t FROM triple")
    for side, given in SIDES.items():
        engine.make(
            f"{side}_query",
            f"""
            SELECT {given}, {entities} - count(*) AS others
            FROM known SEMI JOIN (SELECT h, r, t FROM triple WHERE part = 'test') AS test USING ({given})
            GROUP BY {given}
            """,
        )
    engine.make(
        "asked",
        """
        SELECT test.h, test.r, test.t, test.n, tail_query.others AS tail_others, head_query.others AS head_others
        FROM triple AS test
        JOIN tail_query ON tail_query.h = test.h AND tail_query.r = test.r
        JOIN head_query ON head_query.r = test.r AND head_query.t = test.t
        WHERE test.part = 'test'
        """,
    )


def rule_mrr(engine: Engine, rule: Rule, affected: str | None) -> RuleMrr:
    """The mean reciprocal ranks of a rule over the test rows, those that a check found, and the others.

    Reads what `make_queries` made, `triple` and `entity`. Makes and drops `predicted` and `compared`.

    Args:
        engine: with these tables.
        rule: what is predicted.
        affected: a query of test triples (h, r, t), each once; None where the check found none.
    """
    engine.make("predicted", rule.predicted)
    form = FORMS[rule.form]()
    engine.make("compared", form.compared)
    found = engine.arrays(f"""
        WITH hit AS ({form.hit}), tail_false AS ({form.tail_false}), head_false AS ({form.head_false}),
        affected AS ({affected or NOTHING}),
        ranked AS (
            SELECT asked.n, affected.h IS NOT NULL AS affected,
                2 + coalesce(tail_false.size, 0) + CASE WHEN hit.h IS NULL THEN tail_others ELSE 0 END AS tail,
                2 + coalesce(head_false.size, 0) + CASE WHEN hit.h IS NULL THEN head_others ELSE 0 END AS head
            FROM asked
            LEFT JOIN hit ON hit.h = asked.h AND hit.r = asked.r AND hit.t = asked.t
            LEFT JOIN affected ON affected.h = asked.h AND affected.r = asked.r AND affected.t = asked.t
            LEFT JOIN tail_false ON tail_false.h = asked.h AND tail_false.r = asked.r
            LEFT JOIN head_false ON head_false.r = asked.r AND head_false.t = asked.t
        )
        SELECT twice, affected, CAST(sum(n) AS BIGINT) AS n
        FROM (SELECT tail AS twice, affected, n FROM ranked UNION ALL SELECT head, affected, n FROM ranked) AS one
        GROUP BY twice, affected
    """)
    engine.drop("predicted", "compared")
    twice, number, chosen = found["twice"].astype(np.int64), found["n"].astype(np.int64), found["affected"].astype(bool)
    return RuleMrr(
        mrr=reciprocal_mean(twice, number),
        affected=reciprocal_mean(twice[chosen], number[chosen]),
        unaffected=reciprocal_mean(twice[~chosen], number[~chosen]),
    )


def gain(engine: Engine, check: str, rule: Rule) -> tuple[float | None, float | None]:
    """The mean reciprocal ranks of a rule on the test rows in `affected_` and the check, and on the others."""
    found = rule_mrr(engine, rule, f"SELECT h, r, t FROM affected_{check} WHERE part = 'test'")
    return found.affected, found.unaffected


def reciprocal_mean(twice: Counts, number: Counts) -> float | None:
    """The mean of 1/rank, to the last digit whatever the order; None without ranks.

    Args:
        twice: twice the rank, shape (n,), with repeats.
        number: how often, shape (n,).

    >>> reciprocal_mean(np.array([2, 8]), np.array([1, 1]))
    0.625
    """
    if not len(twice):
        return None
    different, place = np.unique(twice, return_inverse=True)
    counts = np.bincount(place, weights=number)
    return math.fsum(counts / (different / 2)) / int(counts.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sets:
    """Queries of what a rule of one form predicts, from `predicted`.

    Attributes:
        compared: what is known of it, or what is not; the others may read it as a table of this name.
        hit: the test triples that are predicted, perhaps among others.
        tail_false: how many tails are predicted that are no answers, by query (h, r, size).
        head_false: how many heads, by query (r, t, size).
    """

    compared: str
    hit: str
    tail_false: str
    head_false: str


def _of_triples() -> _Sets:
    return _Sets(
        compared="SELECT h, r, t FROM predicted ANTI JOIN known USING (h, r, t)",
        hit="SELECT h, r, t FROM asked SEMI JOIN predicted USING (h, r, t)",
        tail_false="SELECT h, r, count(*) AS size FROM compared GROUP BY h, r",
        head_false="SELECT r, t, count(*) AS size FROM compared GROUP BY r, t",
    )


def _of_sizes(*, known: str, tails: str, heads: str) -> _Sets:
    """Where numbers are at hand: of all that a query is predicted, those that are known are no false ones.

    Args:
        known: a query of the known triples that are predicted.
        tails: a query of the number of tails predicted, by query (h, r, size).
        heads: the same of heads (r, t, size).
    """
    false = """
        SELECT {given}, CAST(sum(size) AS BIGINT) AS size FROM (
            SELECT {given}, size FROM ({sizes}) AS every
            UNION ALL SELECT {given}, -count(*) AS size FROM compared SEMI JOIN {side}_query USING ({given})
            GROUP BY {given}
        ) AS one GROUP BY {given}
    """
    return _Sets(
        compared=known,
        hit="SELECT h, r, t FROM compared",
        tail_false=false.format(given=SIDES["tail"], side="tail", sizes=tails),
        head_false=false.format(given=SIDES["head"], side="head", sizes=heads),
    )


def _of_pairs() -> _Sets:
    size = "(SELECT {end}, count(*) AS size FROM predicted GROUP BY {end}) AS found USING ({end})"
    return _of_sizes(
        known="SELECT h, r, t FROM known SEMI JOIN predicted USING (h, t)",
        tails=f"SELECT h, r, size FROM tail_query JOIN {size.format(end='h')}",
        heads=f"SELECT r, t, size FROM head_query JOIN {size.format(end='t')}",
    )


def _of_product() -> _Sets:
    ends = f"(SELECT DISTINCT r, {{end}} FROM triple SEMI JOIN predicted USING (r) WHERE {IN_CONTEXT} AND h <> t)"
    heads, tails = ends.format(end="h"), ends.format(end="t")
    among_heads, among_tails = f"SEMI JOIN {heads} AS heads USING (h, r)", f"SEMI JOIN {tails} AS tails USING (r, t)"
    size = "(SELECT r, count(*) AS size FROM {ends} AS ends GROUP BY r) AS found USING (r)"
    return _of_sizes(
        known=f"SELECT h, r, t FROM known {among_heads} {among_tails}",
        tails=f"SELECT h, r, size FROM tail_query JOIN {size.format(ends=tails)} {among_heads}",
        heads=f"SELECT r, t, size FROM head_query JOIN {size.format(ends=heads)} {among_tails}",
    )


def _of_loops() -> _Sets:
    return _of_sizes(
        known="SELECT h, r, t FROM known SEMI JOIN predicted USING (r) WHERE h = t",
        tails="SELECT h, r, 1 AS size FROM tail_query SEMI JOIN predicted USING (r)",
        heads="SELECT r, t, 1 AS size FROM head_query SEMI JOIN predicted USING (r)",
    )


FORMS: Mapping[Form, Callable[[], _Sets]] = MappingProxyType(
    {"triples": _of_triples, "pairs": _of_pairs, "product": _of_product, "loops": _of_loops}
)
