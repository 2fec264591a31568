"""What one edge says about others, and the removal of held-out edges that this gives away.

An edge *implies* its super-relations (BINDACT → BINDING → GENE_GENE) and, where a relation is symmetric, its
own reverse. A row of test or validation leaks if a row of another part implies it. The training set is
never touched: membership puts an edge and its reverse into the same part, and what is left to do is done to
the rows that were held out.

The steps below run once, in this order, and then nothing is left to remove:

1. `drop_unseen` compares with the positives of the training set only, which no step changes.
2. `drop_super_relations` goes from the most special relations upwards. Whether a row stays depends on rows
   of more special relations only, and those are final when its turn comes; a row that is gone implies
   nothing.
3. `drop_implied_negatives` looks at a false special edge that a false general edge gives away. After step 2
   no general row of test or validation has a special row in another part, so only rows of the training set,
   which no step changes, can still give something away.

Tables: `train` and `held` (h, r, t, positive, score, source; `held` has `part` as well) are the rows that
stay, `removed` has those that do not, with the reason, `implies` is made here by `write_rules`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from openbiolink.schema import Schema


def consequences(schema: Schema, name: str, *, directed: bool) -> list[tuple[str, bool]]:
    """What an edge of the relation `name` implies: (relation, flipped), itself first.

    Args:
        schema: knows symmetric relations and super-relations.
        name: a relation; an unknown one implies only itself.
        directed: False where every relation is symmetric.

    >>> from openbiolink.schema import load_schema
    >>> consequences(load_schema(), "DRUG_BINDING_GENE", directed=True)
    [('DRUG_BINDING_GENE', False), ('GENE_DRUG', True)]
    >>> consequences(load_schema(), "GENE_REACTION_GENE", directed=True)
    [('GENE_REACTION_GENE', False), ('GENE_GENE', False), ('GENE_GENE', True)]
    """
    either = not directed or schema.relation(name).symmetric
    found = [(name, False), (name, True)] if either else [(name, False)]
    for ancestor in schema.ancestors(name):
        either = either or schema.relation(ancestor.relation).symmetric
        orders = (False, True) if either else (ancestor.flipped,)
        found += [(ancestor.relation, flipped) for flipped in orders]
    return found


def write_rules(connection: DuckDBPyConnection, schema: Schema, *, directed: bool) -> None:
    """Make `implies` (special, general, flipped) of the relations in the graph, each with itself."""
    numbers = dict(connection.execute("SELECT name, id FROM relation").fetchall())
    connection.execute("CREATE TABLE implies (special INTEGER, general INTEGER, flipped BOOLEAN)")
    for name, number in numbers.items():
        for general, flipped in consequences(schema, name, directed=directed):
            if general in numbers:
                row = [number, numbers[general], flipped]
                connection.execute("INSERT INTO implies VALUES (?, ?, ?)", row)


def drop_unseen(connection: DuckDBPyConnection) -> None:
    """Remove the held-out rows with a node or a relation that no positive of the training set has."""
    connection.execute("""
        CREATE TABLE seen_node AS
        SELECT h AS id FROM train WHERE positive UNION SELECT t FROM train WHERE positive
    """)
    _remove(
        connection,
        """
        SELECT held.h, held.r, held.t, held.positive, CASE
            WHEN a.id IS NULL AND b.id IS NULL
                THEN 'unseen_node:' || head.name || ',' || tail.name
            WHEN a.id IS NULL THEN 'unseen_node:' || head.name
            WHEN b.id IS NULL THEN 'unseen_node:' || tail.name
            WHEN held.r NOT IN (SELECT r FROM train WHERE positive) THEN 'unseen_relation:' || relation.name
        END AS reason
        FROM held JOIN node head ON head.id = h JOIN node tail ON tail.id = t JOIN relation ON relation.id = r
        LEFT JOIN seen_node a ON a.id = h LEFT JOIN seen_node b ON b.id = t
        """,
    )


def drop_super_relations(connection: DuckDBPyConnection) -> None:
    """Remove held-out rows that a more special row of another part and the same sign implies."""
    levels = connection.execute("""
        SELECT DISTINCT depth FROM implies JOIN relation ON id = general WHERE special <> general
        ORDER BY depth DESC
    """).fetchall()
    for (depth,) in levels:
        _list_implied(connection, f"(SELECT id FROM relation WHERE depth = {depth})")
        _remove(
            connection,
            """
            SELECT held.h, held.r, held.t, held.positive, 'super_relation:' || min(relation.name) AS reason
            FROM held JOIN implied USING (h, r, t, positive) JOIN relation ON relation.id = implied.special
            WHERE held.part <> implied.part
            GROUP BY held.h, held.r, held.t, held.positive
            """,
        )


def drop_implied_negatives(connection: DuckDBPyConnection) -> None:
    """Remove the held-out negatives that are false because a more general negative of another part is."""
    _list_implied(connection, "(SELECT id FROM relation)", only="part <> 'train' AND NOT positive")
    _remove(
        connection,
        """
        SELECT implied.special_h AS h, implied.special AS r, implied.special_t AS t, implied.positive,
            'implied_negative:' || min(relation.name) AS reason
        FROM implied JOIN train USING (h, r, t, positive) JOIN relation ON relation.id = implied.r
        GROUP BY implied.special_h, implied.special, implied.special_t, implied.positive
        """,
    )


def _list_implied(connection: DuckDBPyConnection, general: str, *, only: str = "true") -> None:
    """Make the table `implied` (h, r, t, positive, part and the special row's own relation and ends).

    It is a table and not part of the query that uses it, since the join on relations alone, which comes
    first there, hides from the planner how few rows the join on whole edges leaves.
    """
    connection.execute(f"""
        CREATE OR REPLACE TABLE implied AS
        SELECT CASE WHEN flipped THEN edge.t ELSE edge.h END AS h, implies.general AS r,
            CASE WHEN flipped THEN edge.h ELSE edge.t END AS t, positive, part, special,
            edge.h AS special_h, edge.t AS special_t
        FROM (SELECT h, r, t, positive, 'train' AS part FROM train
              UNION ALL SELECT h, r, t, positive, part FROM held) edge
        JOIN implies ON implies.special = edge.r AND implies.special <> implies.general
        WHERE implies.general IN {general} AND {only}
    """)


def _remove(connection: DuckDBPyConnection, hits: str) -> None:
    """Move the rows of `held` that a query (h, r, t, positive, reason) names, where it gives a reason."""
    connection.execute(f"""
        CREATE OR REPLACE TABLE hit AS SELECT * FROM ({hits}) WHERE reason IS NOT NULL;
        INSERT INTO removed SELECT h, r, t, positive, score, source, part, reason
            FROM held JOIN hit USING (h, r, t, positive);
        CREATE OR REPLACE TABLE held AS FROM held ANTI JOIN hit USING (h, r, t, positive)
    """)
