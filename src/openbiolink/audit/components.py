"""Component drift: held-out rows that join nodes between which the context has no path, so no walk can find them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import numpy.typing as npt

from openbiolink.audit.context import HELD_OUT, IN_CONTEXT, conclude

if TYPE_CHECKING:
    from openbiolink.audit.context import Context
    from openbiolink.audit.finding import Finding
    from openbiolink.engines import Array, Engine

Nodes = npt.NDArray[np.int32]

ABSENT = -1  # of a node without edges


def find_component_drift(engine: Engine, context: Context) -> Finding:
    """Held-out rows whose ends lie in different components of the undirected context graph, or outside it.

    Loops are left out. Reads the tables of an audit. Makes and drops `component`.
    """
    nodes = int(engine.rows("SELECT max(id) + 1 FROM node")[0][0])
    roots = np.full(nodes, ABSENT, np.int32)
    join_ends(roots, engine.arrays(f"SELECT h, t FROM triple WHERE h <> t AND {IN_CONTEXT}"))
    learnt = flatten(roots)
    join_ends(roots, engine.arrays(f"SELECT h, t FROM triple WHERE h <> t AND {HELD_OUT}"))
    there = np.flatnonzero(learnt != ABSENT)
    engine.put("component", {"id": there.astype(np.int32), "root": learnt[there]})
    engine.make(
        "affected_component_drift",
        f"""
        SELECT part, h, r, t, n FROM triple
        LEFT JOIN component AS start ON start.id = h LEFT JOIN component AS finish ON finish.id = t
        WHERE h <> t AND {HELD_OUT} AND (start.root IS NULL OR finish.root IS NULL OR start.root <> finish.root)
        """,
    )
    engine.drop("component")
    return conclude(
        engine,
        context,
        "component_drift",
        title="held-out rows between components of the training graph, or outside it",
        severity="info",
        because="no path of training edges joins its ends",
        details={"context": describe(learnt), "all": describe(flatten(roots))},
    )


def join_ends(roots: Nodes, edges: dict[str, Array]) -> None:
    """Join the components of the ends of edges, in place.

    Args:
        roots: a node of the same component, no greater, for every node, or `ABSENT`; shape (nodes,).
        edges: columns h and t, shape (edges,).
    """
    union(roots, edges["h"].astype(np.int32, copy=False), edges["t"].astype(np.int32, copy=False))


def flatten(roots: Nodes) -> Nodes:
    """The least node of the component of every node, or `ABSENT`; shape (nodes,).

    >>> roots = np.full(5, ABSENT, np.int32)
    >>> join_ends(roots, {"h": np.array([3, 1]), "t": np.array([4, 3])})
    >>> flatten(roots).tolist()
    [-1, 1, -1, 1, 1]
    """
    flat = roots.copy()
    while not np.array_equal(further := np.where(flat == ABSENT, ABSENT, flat[flat]), flat):
        flat = further
    return flat


def describe(flat: Nodes) -> dict[str, Any]:
    """Components and nodes of a graph, and the share of the nodes that the largest component holds."""
    sizes = np.unique(flat[flat != ABSENT], return_counts=True)[1]
    nodes = int(sizes.sum())
    return {"components": len(sizes), "nodes": nodes, "largest": int(sizes.max(initial=0)) / max(nodes, 1)}


def _union(roots: Any, heads: Any, tails: Any) -> None:
    """Union by the lesser node, with paths halved on the way (Tarjan & van Leeuwen 1984, J. ACM 31(2), 245-281)."""
    for i in range(len(heads)):
        one, other = heads[i], tails[i]
        if roots[one] < 0:
            roots[one] = one
        if roots[other] < 0:
            roots[other] = other
        while roots[one] != one:
            roots[one] = roots[roots[one]]
            one = roots[one]
        while roots[other] != other:
            roots[other] = roots[roots[other]]
            other = roots[other]
        roots[max(one, other)] = min(one, other)


union = numba.njit(nogil=True)(_union)
