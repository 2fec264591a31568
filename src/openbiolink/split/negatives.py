"""One negative per positive: true negatives first, then pairs drawn from nodes of the same types.

A *group* is all positives of one relation between nodes of two types. It gets as many negatives as it has
positives. Where a relation is symmetric, a-b and b-a are one pair; the negatives of a group then come in both
orders, or in one, in the same numbers as its positives do, since otherwise the order alone would tell them
apart.

Nothing that is true is drawn: no positive, no pair that is true because a more special edge is (a positive
DRUG_BINDING_GENE makes the GENE_DRUG pair true), no reverse of a symmetric positive, no loop.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from openbiolink.split.graph_files import hash_of_edge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from duckdb import DuckDBPyConnection
    from numpy.random import BitGenerator
    from numpy.typing import NDArray

    from openbiolink.progress import Progress

    IntArray = NDArray[np.int64]

GENERATED = "GENERATED"
DENSE = 4  # with a table of all pairs more than this many times the pairs in use, half of the draws are free
SMALL = 4096
DRAWN_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True)
class Group:
    """One relation between two node types; the types of a symmetric relation are in ascending order."""

    relation: int
    head: int
    tail: int


@dataclass(frozen=True, slots=True)
class Orders:
    """Pairs by the orders they stand in: both, first node first, second node first.

    The first node of a pair is its head; in a symmetric relation that of the smaller type, else the smaller.
    """

    both: int = 0
    forward: int = 0
    backward: int = 0

    @property
    def rows(self) -> int:
        """How many rows the pairs are."""
        return 2 * self.both + self.forward + self.backward

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return self.both + self.forward + self.backward

    def without(self, other: Orders) -> Orders:
        """What is missing to as many rows as here, once `other` is there; by order as far as that goes.

        >>> Orders(3, 2, 0).without(Orders(0, 1, 0))
        Orders(both=3, forward=1, backward=0)
        >>> Orders(1, 0, 0).without(Orders(0, 1, 0))
        Orders(both=0, forward=1, backward=0)
        """
        rows = max(0, self.rows - other.rows)
        both = min(max(0, self.both - other.both), rows // 2)
        single = rows - 2 * both
        backward = min(max(0, self.backward - other.backward), single)
        return Orders(both, single - backward, backward)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """A group that got fewer negatives than it has positives, since no more free pairs exist."""

    relation: str
    head: str
    tail: str
    wanted: int
    found: int


def make_negatives(
    connection: DuckDBPyConnection, *, seed: int, draw: bool, progress: Progress
) -> tuple[Shortfall, ...]:
    """Make the table `negative` (h, r, t, score, source, curated); what is left over goes to `removed`.

    Reads `fact` (positives without self loops), `true_negative`, `node`, `relation` and `implies`.

    Args:
        connection: the database.
        seed: of the order of surplus true negatives and of the drawn pairs.
        draw: whether to draw pairs where the true negatives do not suffice.
        progress: is told of every group.

    Returns:
        The groups for which fewer pairs exist than were wanted; empty where nothing is drawn.
    """
    wanted = _count_orders(connection, "fact")
    _judge_true_negatives(connection, seed)
    _choose_true_negatives(connection, wanted)
    if not draw:
        return ()
    there = _count_orders(connection, "negative")
    shortfalls = []
    for done, (group, orders) in enumerate(wanted.items()):
        progress("negatives", done, len(wanted))
        missing = orders.without(there.get(group, Orders()))
        short = missing.rows - _draw(connection, group, missing, seed)
        if short:
            relation, head, tail = _names(connection, group)
            found = orders.rows - short
            shortfalls.append(Shortfall(relation=relation, head=head, tail=tail, wanted=orders.rows, found=found))
    progress("negatives", len(wanted), len(wanted))
    return tuple(shortfalls)


def _pairs(edges: str) -> str:
    """A query of the group (r, a, b) and pair (x, y) of every row (h, r, t) of a query, with that row."""
    return f"""
        SELECT h, r, t, u.listed AND v.listed AS listed,
            relation.undirected AND (u.kind > v.kind OR (u.kind = v.kind AND h > t)) AS swapped,
            CASE WHEN swapped THEN v.kind ELSE u.kind END AS a, CASE WHEN swapped THEN t ELSE h END AS x,
            CASE WHEN swapped THEN u.kind ELSE v.kind END AS b, CASE WHEN swapped THEN h ELSE t END AS y
        FROM ({edges}) JOIN relation ON relation.id = r JOIN node u ON u.id = h JOIN node v ON v.id = t
    """


def _count_orders(connection: DuckDBPyConnection, table: str) -> dict[Group, Orders]:
    rows = connection.execute(f"""
        SELECT r, a, b,
            count_if(forward AND backward), count_if(forward AND NOT backward), count_if(NOT forward)
        FROM (SELECT r, a, b, bool_or(NOT swapped) AS forward, bool_or(swapped) AS backward
              FROM ({_pairs(f"SELECT h, r, t FROM {table}")}) GROUP BY r, a, b, x, y)
        GROUP BY r, a, b ORDER BY r, a, b
    """).fetchall()
    return {Group(*row[:3]): Orders(*row[3:]) for row in rows}


def _judge_true_negatives(connection: DuckDBPyConnection, seed: int) -> None:
    """Make `judged`: each true negative with its hash and, where it cannot be used, the reason.

    The hash that chooses among too many has nothing to do with the one that decides the part.
    """
    connection.execute(f"""
        CREATE TABLE conflict AS
        SELECT tn.h, tn.r, tn.t, CASE WHEN bool_or(special = general) THEN 'conflict'
                                      ELSE 'conflict:' || min(child.name) END AS clash
        FROM true_negative tn JOIN implies ON general = tn.r JOIN relation child ON child.id = special
        JOIN fact ON fact.r = special AND fact.h = CASE WHEN flipped THEN tn.t ELSE tn.h END
            AND fact.t = CASE WHEN flipped THEN tn.h ELSE tn.t END
        GROUP BY tn.h, tn.r, tn.t;

        CREATE TABLE judged AS
        SELECT tn.*, {hash_of_edge(f"{seed} surplus")} AS hash, CASE
            WHEN h = t THEN 'self_loop'
            WHEN clash IS NOT NULL THEN clash
            WHEN head.kind IS NULL AND tail.kind IS NULL THEN 'untyped_node:' || head.name || ',' || tail.name
            WHEN head.kind IS NULL THEN 'untyped_node:' || head.name
            WHEN tail.kind IS NULL THEN 'untyped_node:' || tail.name
        END AS reason
        FROM true_negative tn LEFT JOIN conflict USING (h, r, t) JOIN relation ON relation.id = tn.r
        JOIN node head ON head.id = tn.h JOIN node tail ON tail.id = tn.t
    """)


def _choose_true_negatives(connection: DuckDBPyConnection, wanted: Mapping[Group, Orders]) -> None:
    """Make `negative` of the true negatives that are used; those that are not go to `removed`."""
    connection.execute("CREATE TABLE wanted (r INTEGER, a INTEGER, b INTEGER, number BIGINT)")
    for group, orders in wanted.items():
        row = [group.relation, group.head, group.tail, orders.rows]
        connection.execute("INSERT INTO wanted VALUES (?, ?, ?, ?)", row)
    usable = _pairs("SELECT h, r, t FROM judged WHERE reason IS NULL")
    connection.execute(f"""
        CREATE TABLE chosen AS
        SELECT h, r, t FROM ({usable}) JOIN judged USING (h, r, t) JOIN wanted USING (r, a, b)
        QUALIFY row_number() OVER (PARTITION BY r, a, b ORDER BY hash, h, t) <= number;

        CREATE TABLE negative AS
        SELECT h, r, t, score, source, true AS curated FROM judged SEMI JOIN chosen USING (h, r, t);

        INSERT INTO removed
        SELECT h, r, t, false, score, source, NULL, coalesce(reason, 'surplus_negative')
        FROM judged ANTI JOIN chosen USING (h, r, t)
    """)


def _names(connection: DuckDBPyConnection, group: Group) -> tuple[str, str, str]:
    [(relation, head, tail)] = connection.execute(
        """SELECT (SELECT name FROM relation WHERE id = ?), (SELECT name FROM kind WHERE id = ?),
                  (SELECT name FROM kind WHERE id = ?)""",
        [group.relation, group.head, group.tail],
    ).fetchall()
    return relation, head, tail


def _draw(connection: DuckDBPyConnection, group: Group, missing: Orders, seed: int) -> int:
    """Add drawn pairs of a group to `negative`; returns their rows, fewer than missing if pairs run out."""
    if not missing.rows:
        return 0
    heads, tails = _pool(connection, group.head), _pool(connection, group.tail)
    pairs = draw_pairs(
        _stream(connection, group, seed),
        shape=(len(heads), len(tails)),
        wanted=missing.pairs,
        excluded=_excluded(connection, group, heads, tails),
        alike=group.head == group.tail,
        unordered=_is_undirected(connection, group),
    )
    first, second = heads[pairs // len(tails)], tails[pairs % len(tails)]
    both, forward = missing.both, missing.both + missing.forward
    drawn = {
        "h": np.concatenate([first[:forward], second[:both], second[forward:]]),
        "t": np.concatenate([second[:forward], first[:both], first[forward:]]),
    }
    connection.register("drawn", drawn)
    connection.execute(f"INSERT INTO negative SELECT h, {group.relation}, t, '', '{GENERATED}', false FROM drawn")
    connection.unregister("drawn")
    return len(drawn["h"])


def _is_undirected(connection: DuckDBPyConnection, group: Group) -> bool:
    row = connection.execute("SELECT undirected FROM relation WHERE id = ?", [group.relation]).fetchall()
    return bool(row[0][0])


def _pool(connection: DuckDBPyConnection, kind: int) -> IntArray:
    """The numbers of the listed nodes of a type, ascending."""
    columns = connection.execute(
        "SELECT id::BIGINT AS id FROM node WHERE listed AND kind = ? ORDER BY id", [kind]
    ).fetchnumpy()
    return np.asarray(columns["id"], dtype=np.int64)


def _stream(connection: DuckDBPyConnection, group: Group, seed: int) -> BitGenerator:
    """Random bits of a group alone: seeded by names, so that other groups do not matter."""
    key = "\t".join([str(seed), "negatives", *_names(connection, group)])
    return np.random.PCG64(int(hashlib.md5(key.encode(), usedforsecurity=False).hexdigest(), 16))


def _excluded(connection: DuckDBPyConnection, group: Group, heads: IntArray, tails: IntArray) -> IntArray:
    """Positions of the pairs of a group that are positive, implied by a positive or used already; sorted."""
    known = _pairs(f"""
        SELECT CASE WHEN flipped THEN t ELSE h END AS h, general AS r,
            CASE WHEN flipped THEN h ELSE t END AS t
        FROM fact JOIN implies ON special = r WHERE general = {group.relation}
        UNION ALL SELECT h, r, t FROM negative WHERE r = {group.relation}
    """)
    found = connection.execute(f"""
        SELECT DISTINCT x::BIGINT AS x, y::BIGINT AS y FROM ({known})
        WHERE a = {group.head} AND b = {group.tail} AND listed
    """).fetchnumpy()
    return np.sort(np.searchsorted(heads, found["x"]) * len(tails) + np.searchsorted(tails, found["y"]))


def draw_pairs(
    bits: BitGenerator,
    *,
    shape: tuple[int, int],
    wanted: int,
    excluded: IntArray,
    alike: bool,
    unordered: bool,
) -> IntArray:
    """Distinct pairs, drawn evenly from all that are allowed.

    A pair is written as its position `first * shape[1] + second` in the table of all pairs. Where few pairs
    are free they are listed and shuffled, else they are drawn until there are enough; both ways end.

    Args:
        bits: raw random bits; the outcome depends on nothing that differs between versions of NumPy.
        shape: numbers of first and of second nodes.
        wanted: number of pairs.
        excluded: sorted distinct positions that may not be drawn, all within what the other rules allow.
        alike: first and second nodes are the same; then no node is paired with itself.
        unordered: a-b is b-a; then, of nodes that are alike, the smaller is first.

    Returns:
        Positions, shape (min(wanted, number of free pairs),), in random order.
    """
    size = shape[0] * shape[1]
    if size <= max(SMALL, DENSE * (wanted + len(excluded))):
        free = np.ones(shape, dtype=np.bool_)
        free.reshape(-1)[excluded] = False
        if alike:
            np.fill_diagonal(free, val=False)
        if alike and unordered:
            free = np.triu(free)
        positions: IntArray = np.flatnonzero(free)
        return positions[np.argsort(bits.random_raw(len(positions)), kind="stable")[:wanted]]
    found, taken = np.empty(0, dtype=np.int64), excluded
    while (missing := wanted - len(found)) > 0:
        raw = bits.random_raw(min(2 * missing + 64, DRAWN_AT_ONCE))
        drawn = (raw % np.uint64(size)).astype(np.int64)
        allowed = _allowed(drawn, shape, alike=alike, unordered=unordered)
        fresh = _distinct(allowed, taken)[:missing]
        found, taken = np.concatenate([found, fresh]), np.sort(np.concatenate([taken, fresh]))
    return found


def _allowed(drawn: IntArray, shape: tuple[int, int], *, alike: bool, unordered: bool) -> IntArray:
    if not alike:
        return drawn
    first, second = np.divmod(drawn, shape[1])
    if unordered:
        first, second = np.minimum(first, second), np.maximum(first, second)
    pairs: IntArray = (first * shape[1] + second)[first != second]
    return pairs


def _distinct(drawn: IntArray, taken: IntArray) -> IntArray:
    """The drawn numbers that are not taken (sorted), each where it comes first."""
    distinct: IntArray = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
    known = np.append(taken, -1)[np.searchsorted(taken, distinct)] == distinct
    fresh: IntArray = distinct[~known]
    return fresh
