"""Splits that keep the shape of the graph: how well the ends of edges are connected, or which nodes hang together.

A *unit* is what must stay together: the positives of one pair of nodes, in any order, whose relations are inverse to
or exclude each other, and so are of one family.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from openbiolink.split.graph_files import hash_of_edge
from openbiolink.split.schemes import NAMES, EdgeScheme, assign_negatives, number_families, part_of_hash

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from openbiolink.engines import Array, Engine

DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class DegreeSplit(EdgeScheme):
    """Held-out edges join nodes that are as well connected as those of training edges are.

    The degree of a node is its number of units in a family of relations. Units of a family are grouped by the
    product of the degrees of their ends, to the power of two, and of every group the same shares are held out, as
    far as there are units that may be: of the units of a node in a family the one with the greatest hash stays in
    training, so that no node is unseen. Shares are decimal numbers here, and are rounded over the groups together.

    Attributes:
        test_fraction: of the units of each group, 0 or more and less than 1.
        validation_fraction: in the same way; both fractions together are less than 1.
    """

    name: ClassVar[str] = "degree"
    summary: ClassVar[str] = "Split a graph so that degrees are alike in all parts"

    def assign(self, engine: Engine) -> None:
        """Make `assigned` by the place of every unit in its group, and `degree` (family, id, degree, anchor)."""
        _list_units(engine, self.seed)
        _group_units(engine)
        sizes = engine.rows("SELECT family, level, count(*) FROM grouped GROUP BY family, level ORDER BY family, level")
        quotas = np.array(list(self.quotas(sizes)), dtype=np.int64).reshape(-1, 4)
        engine.put(
            "quota",
            {
                "family": quotas[:, 0].astype(np.int32),
                "level": quotas[:, 1],
                "of_test": quotas[:, 2],
                "of_held": quotas[:, 3],
            },
        )
        engine.make(
            "held_unit",
            """
            SELECT low, grouped.family, high, CASE WHEN place <= of_test THEN 'test' ELSE 'validation' END AS part
            FROM grouped JOIN quota ON quota.family = grouped.family AND quota.level = grouped.level
            WHERE NOT anchored AND place <= of_held
            """,
        )
        engine.drop("grouped", "quota")
        _place_units(engine, self.seed)

    def quotas(self, sizes: Sequence[tuple[int, int, int]]) -> Iterator[tuple[int, int, int, int]]:
        """How many units of each group are of the test set, and how many of it or of the validation set.

        Args:
            sizes: family, power of two and number of units of each group, sorted.

        Yields:
            Family, power of two, and the two numbers. Those of a family sum up to its rounded share.

        >>> split = DegreeSplit(test_fraction=0.25, validation_fraction=0)
        >>> list(split.quotas([(0, 0, 3), (0, 1, 3), (0, 5, 3), (1, 0, 2)]))
        [(0, 0, 1, 1), (0, 1, 1, 1), (0, 5, 0, 0), (1, 0, 1, 1)]
        """
        shares = [Fraction(str(share)) for share in (self.test_fraction, self.validation_fraction)]
        for _, groups in groupby(sizes, key=itemgetter(0)):
            before = 0
            for family, level, number in groups:
                after = before + number
                test, validation = (_rounded(share * after) - _rounded(share * before) for share in shares)
                yield family, level, test, test + validation
                before = after

    def details(self, engine: Engine) -> dict[str, Any]:
        """How far apart the products of degrees are in training and test set, from 0 (not at all) to 1."""
        return {"degree_distance": _degree_distance(engine)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentSplit(EdgeScheme):
    """What hangs together in the graph hangs together in training: no held-out edge is the last path between nodes.

    Units below the thresholds are held out by their hash, except those of the spanning forest with the greatest
    hashes, which is found by Kruskal's algorithm (1956, Proc. AMS 7(1), 48-50). Another relation in the graph can
    replace a unit in the forest, so that one more is held out; none that is held out is ever trained on by that.

    Attributes:
        test_fraction: of all units, 0 or more and less than 1; those that stay in training are missing from it.
        validation_fraction: in the same way; both fractions together are less than 1.
    """

    name: ClassVar[str] = "components"
    summary: ClassVar[str] = "Split a graph so that training falls into no more pieces than the graph"

    def assign(self, engine: Engine) -> None:
        """Make `assigned` by one threshold for all units, and `link` (low, family, high), the units kept back."""
        _list_units(engine, self.seed)
        part = part_of_hash(self.test_fraction, self.validation_fraction)
        engine.make("unit", f"SELECT low, family, high, hash, {part} AS part FROM unit")
        engine.put("link", _find_links(engine))
        engine.make(
            "held_unit",
            """SELECT low, family, high, part FROM unit ANTI JOIN link USING (low, family, high)
               WHERE part <> 'train'""",
        )
        _place_units(engine, self.seed)

    def details(self, engine: Engine) -> dict[str, Any]:
        """How many units were kept in training since nothing else joins their ends there."""
        return {"units_kept_together": engine.rows("SELECT count(*) FROM link")[0][0]}


def _list_units(engine: Engine, seed: int) -> None:
    """Make `family`, as `number_families` does, and `unit` (low, family, high, hash)."""
    number_families(engine)
    engine.make(
        "unit",
        f"""
        SELECT edge.h AS low, edge.r AS family, edge.t AS high, {hash_of_edge(seed)} AS hash
        FROM (SELECT DISTINCT least(h, t) AS h, family.id AS r, greatest(h, t) AS t
              FROM fact JOIN family ON family.r = fact.r) edge {NAMES}
        """,
    )


def _group_units(engine: Engine) -> None:
    """Make `degree` (family, id, degree, anchor) and `grouped` (low, family, high, level, anchored, place).

    `anchor` is the greatest hash of the units of a node; `level` is the power of two below the product of degrees;
    `place` counts by hash among the units of a family and level that are anchored, or that are not.
    """
    engine.make(
        "degree",
        """
        SELECT family, id, count(*) AS degree, max(hash) AS anchor
        FROM (SELECT family, low AS id, hash FROM unit UNION ALL SELECT family, high, hash FROM unit) ends
        GROUP BY family, id
        """,
    )
    # Twice the product and one is never a power of two, so that no engine rounds its logarithm to another whole number.
    engine.make(
        "grouped",
        """
        SELECT low, family, high, level, anchored,
            row_number() OVER (PARTITION BY family, level, anchored ORDER BY hash, low, high) AS place
        FROM (SELECT low, unit.family, high, hash, hash = one.anchor OR hash = other.anchor AS anchored,
                  CAST(floor(log2(CAST(2 * one.degree * other.degree + 1 AS DOUBLE))) AS BIGINT) - 1 AS level
              FROM unit JOIN degree one ON one.family = unit.family AND one.id = low
              JOIN degree other ON other.family = unit.family AND other.id = high) sized
        """,
    )


def _rounded(number: Fraction) -> int:
    """The nearest whole number; the greater one of two."""
    return math.floor(number + Fraction(1, 2))


def _find_links(engine: Engine) -> dict[str, Array]:
    """The units of `unit` below the thresholds that the spanning forest with the greatest hashes has.

    All units above are in one part anyway, so it does not matter which of them the forest has.
    """
    from openbiolink.audit.components import flatten, join_ends

    [(nodes,)] = engine.rows("SELECT count(*) FROM node")
    roots = np.arange(nodes, dtype=np.int32)
    join_ends(roots, engine.arrays("SELECT low AS h, high AS t FROM unit WHERE part = 'train'"))
    roots = flatten(roots)
    held = engine.arrays("SELECT low, family, high, hash FROM unit WHERE part <> 'train'")
    apart = np.flatnonzero(roots[held["low"]] != roots[held["high"]])
    found = {name: column[apart] for name, column in held.items()}
    order = np.lexsort((found["high"], found["family"], found["low"], found["hash"]))[::-1]
    joins = _join_in_order(roots, found["low"][order], found["high"][order])
    return {name: found[name][order][joins].astype(np.int32) for name in ("low", "family", "high")}


def _join_in_order(roots: NDArray[np.int32], heads: Array, tails: Array) -> NDArray[np.bool_]:
    """Whether each edge joins nodes that the edges before it leave apart; shape (edges,).

    Args:
        roots: a node of the same component for every node, no greater than it; shape (nodes,).
        heads: one end of every edge; shape (edges,).
        tails: the other end.

    >>> _join_in_order(np.array([0, 1, 2], np.int32), np.array([0, 1, 0]), np.array([1, 2, 2])).tolist()
    [True, True, False]
    """
    parents: list[int] = roots.tolist()

    def root(node: int) -> int:
        while parents[node] != node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node

    joins = np.zeros(len(heads), dtype=np.bool_)
    for place, (head, tail) in enumerate(zip(heads.tolist(), tails.tolist(), strict=True)):
        one, other = root(head), root(tail)
        joins[place] = one != other
        parents[max(one, other)] = min(one, other)
    return joins


def _place_units(engine: Engine, seed: int) -> None:
    """Make `assigned` of `held_unit` (low, family, high, part): other units are trained on, and negatives follow."""
    engine.make(
        "placed",
        """
        SELECT h, r, t, true AS positive, coalesce(held_unit.part, 'train') AS part, CAST(NULL AS STRING) AS reason
        FROM (SELECT fact.h, fact.r, fact.t, family.id AS family FROM fact JOIN family ON family.r = fact.r) fact
        LEFT JOIN held_unit ON low = least(h, t) AND held_unit.family = fact.family AND high = greatest(h, t)
        """,
    )
    engine.drop("unit", "held_unit")
    assign_negatives(engine, seed)
    engine.drop("placed")


def _degree_distance(engine: Engine) -> dict[str, Any]:
    """The Kolmogorov-Smirnov distance of the products of degrees between training and test set.

    Returns:
        `mean` over the test rows, `max` and by relation; relations without test rows are left out.
    """
    found = engine.arrays("""
        SELECT kept.r, one.degree * other.degree AS product, CAST(count_if(part = 'train') AS BIGINT) AS train,
            CAST(count_if(part = 'test') AS BIGINT) AS test
        FROM kept JOIN family ON family.r = kept.r
        JOIN degree one ON one.family = family.id AND one.id = kept.h
        JOIN degree other ON other.family = family.id AND other.id = kept.t
        WHERE positive GROUP BY kept.r, one.degree * other.degree ORDER BY kept.r, product
    """)
    names = dict(engine.rows("SELECT id, name FROM relation"))
    distances: dict[str, float] = {}
    rows: dict[str, int] = {}
    for number in np.unique(found["r"]).tolist():
        here = found["r"] == number
        tested = int(found["test"][here].sum())
        if tested:
            rows[names[number]] = tested
            distances[names[number]] = _largest_gap(found["train"][here], found["test"][here])
    return _summary(distances, rows)


def _largest_gap(counts: Array, others: Array) -> float:
    """The greatest distance of two distributions, by how often each has the same ascending values.

    >>> _largest_gap(np.array([1, 1, 0]), np.array([0, 1, 3]))
    0.75
    """
    one, other = (np.cumsum(column, dtype=np.float64) for column in (counts, others))
    return float(np.abs(one / one[-1] - other / other[-1]).max())


def _summary(distances: Mapping[str, float], rows: Mapping[str, int]) -> dict[str, Any]:
    total = sum(rows.values())
    return {
        "mean": round(sum(distances[name] * rows[name] for name in rows) / total, DIGITS) if total else None,
        "max": round(max(distances.values()), DIGITS) if total else None,
        "relations": {name: round(distance, DIGITS) for name, distance in sorted(distances.items())},
    }
