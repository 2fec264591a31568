"""What all checks of an audit share: the facts they are told, and how the rows they found become a finding.

Tables of an audit, whose numbers are places in the byte order of names, from 0, h and t of node and r of relation:

    node(id, name)  relation(id, name)     all that rows name, negatives among them
    entity(id)                             the nodes of positive rows: the candidates of every query
    row(part, positive, h, r, t)           every row, repeats and all; part is one of `PARTS`
    triple(part, h, r, t, n)               the distinct positive triples of each part, and their rows
    implies(special, general, flipped)     what the schema declares: each relation implies itself, too
    mixed(part, h, r, t, n)                the triples, loops aside, whose ends are joined, by any relation in either
                                           direction, in two parts or more
    affected_ID(part, h, r, t, n)          what the check ID found; positive triples and their rows
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from openbiolink.audit.finding import Example, Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openbiolink.audit.finding import Severity
    from openbiolink.engines import Engine

PARTS = ("train", "inference", "valid", "test")
IN_CONTEXT = "part IN ('train', 'inference')"  # what a model may learn from
HELD_OUT = "part IN ('valid', 'test')"
EXAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What the checks of an audit are told besides the tables.

    Attributes:
        threshold: share from which on a relation is said to copy, contain or fill something, over 0, at most 1.
        test_rows: positive rows of the test part.
        transitive: numbers of the relations that the schema declares transitive.
        inductive: the scheme of the split where it keeps entities from training on purpose; None elsewhere.
    """

    threshold: float
    test_rows: int
    transitive: tuple[int, ...] = ()
    inductive: str | None = None


def the_number(engine: Engine, query: str) -> int:
    """The one number of a query, 0 in the place of NULL."""
    return int(engine.rows(query)[0][0] or 0)


def count_rows(engine: Engine, table: str) -> int:
    """How many rows a table has."""
    return the_number(engine, f"SELECT count(*) FROM {table}")


def found_rows(engine: Engine, table: str) -> dict[str, int]:
    """Rows by part in a table of affected triples (part, h, r, t, n)."""
    return {part: int(rows) for part, rows in engine.rows(f"SELECT part, sum(n) FROM {table} GROUP BY part")}


def name_rows(engine: Engine, table: str, because: str) -> tuple[Example, ...]:
    """The first rows by name of a table of affected triples (part, h, r, t, n), at most `EXAMPLES`.

    Args:
        engine: with `node` and `relation`.
        table: what was found.
        because: a query of (part, h, r, t, because), which may read the table `shown` of the rows chosen; or, without
            SELECT, a sentence.
    """
    first = f"SELECT part, h, r, t FROM {table} ORDER BY h, r, t, part LIMIT {EXAMPLES}"
    engine.make("shown", first)
    why = (
        because
        if because.lstrip().startswith(("SELECT", "WITH"))
        else f"SELECT shown.*, '{because}' AS because FROM shown"
    )
    rows = engine.rows(f"""
        SELECT why.part, head.name, relation.name, tail.name, why.because
        FROM ({why}) why JOIN node head ON head.id = why.h JOIN node tail ON tail.id = why.t
        JOIN relation ON relation.id = why.r ORDER BY why.h, why.r, why.t, why.part
    """)
    engine.drop("shown")
    return tuple(
        Example(part=part, head=head, relation=relation, tail=tail, because=text)
        for part, head, relation, tail, text in rows
    )


def conclude(
    engine: Engine,
    context: Context,
    check: str,
    *,
    title: str,
    severity: Severity,
    because: str,
    gain: tuple[float | None, float | None] = (None, None),
    details: Mapping[str, Any] | None = None,
) -> Finding:
    """The finding of a check that made the table `affected_ID`.

    Args:
        engine: with the tables of the audit.
        context: tells the number of test rows.
        check: ID of the check.
        title: what it looks for.
        severity: of the finding, where anything was found.
        because: as `name_rows` takes it.
        gain: MRR of the rule over the affected and over the other test rows; None where there are none.
        details: more numbers.
    """
    table = f"affected_{check}"
    rows = found_rows(engine, table)
    count, test = sum(rows.values()), rows.get("test", 0)
    return Finding(
        id=check,
        title=title,
        severity=severity if count else "info",
        count=count,
        test_affected=test,
        test_share=test / context.test_rows if context.test_rows else 0.0,
        examples=name_rows(engine, table, because) if count else (),
        mrr_affected=gain[0],
        mrr_unaffected=gain[1],
        details=details or {},
    )
