"""Splits by nodes: which nodes are new, or under which term of an ontology they are, decides where their edges go.

Negatives follow the same rule as positives here, so that what a part says of a node it says with both signs. Where
relations are chosen, those that are inverse to one of them or exclude it are chosen with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from openbiolink.errors import InputError
from openbiolink.split.graph_files import hash_of_edge
from openbiolink.split.schemes import EDGE, NAMES, Flag, Scheme, check_fractions, part_of_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from openbiolink.engines import Engine

SHOWN = 10
TestShare = Annotated[float, Flag("--test-frac", "SHARE", "Share of the nodes that are tested.")]
ValidationShare = Annotated[float, Flag("--val", "SHARE", "Share of the nodes that validate.")]
Relations = Annotated[
    tuple[str, ...],
    Flag("--relation", "NAME", "Hold out edges of this relation alone, others are trained on; may be repeated."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeScheme(Scheme):
    """What these schemes have in common: each makes two lists in `look_up`, and assigns edges by them.

    They are `node_part` (id, part), the part of every node, and `target` (id), the relations whose edges may be held
    out; edges of all others are trained on.
    """

    def details(self, engine: Engine) -> dict[str, Any]:
        """How many nodes of the graph are of each part."""
        return {"nodes": dict(engine.rows("SELECT part, count(*) FROM node_part GROUP BY part ORDER BY part"))}


@dataclass(frozen=True, slots=True, kw_only=True)
class SemiInductiveSplit(NodeScheme):
    """Some nodes of some types are new: training has no edge of theirs, but of the nodes that they are joined to.

    The hash of seed and id decides which nodes are held out. An edge of one such node is of its part; an edge of two
    is in no part. With chosen relations only edges of these are held out, and a held-out node has to be seen in
    training by another relation; without, it is unseen by design.

    Attributes:
        types: the types of the nodes that may be held out.
        relations: the relations whose edges are held out; all where it is empty.
        test_fraction: of the nodes of these types, 0 or more and less than 1.
        validation_fraction: in the same way; both fractions together are less than 1.
    """

    name: ClassVar[str] = "semi-inductive"
    summary: ClassVar[str] = "Split a graph so that held-out edges have one new node"

    types: Annotated[tuple[str, ...], Flag("--type", "TYPE", "Type of nodes to hold out; may be repeated.")]
    relations: Relations = ()
    test_fraction: TestShare = 0.05
    validation_fraction: ValidationShare = 0.05

    def check(self) -> None:
        """Refuse fractions that are none and an empty choice of types."""
        if not self.types:
            raise InputError("types (--type) is empty, expected a type of nodes at least")
        check_fractions(self.test_fraction, self.validation_fraction)

    def look_up(self, engine: Engine) -> None:
        """Make the lists of nodes and relations.

        Raises:
            InputError: the graph lacks one of the types or relations.
        """
        part = part_of_hash(self.test_fraction, self.validation_fraction)
        _divide(engine, self.seed, part, kinds=_find(engine, "kind", self.types, "--type"))
        _list_targets(engine, self.relations)

    def assign(self, engine: Engine) -> None:
        """Make `assigned` by the end that is held out."""
        _list_held_nodes(engine, self.relations)
        _assign_by_ends(
            engine,
            "CASE WHEN head_part = 'train' THEN tail_part WHEN tail_part = 'train' THEN head_part END",
            reason="two_held_nodes",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class InductiveSplit(NodeScheme):
    """Training and the rest have no node in common: a model is to be used on a graph of new nodes.

    The hash of seed and id decides which nodes of the divided types are new. Edges between nodes that are not new
    are trained on. Edges of new nodes are of the inference graph, which a model may look at when it is used, or are
    held out, by a threshold for the hash of the edge. An edge between a new node and another one of a divided type
    is in no part. Nodes of types that are not divided may be in all parts.

    Attributes:
        types: the types that are divided; all where it is empty.
        new_fraction: of the nodes of these types that are new, above 0 and below 1.
        test_fraction: of the edges of new nodes, 0 or more and less than 1.
        validation_fraction: in the same way; both fractions together are less than 1.
    """

    name: ClassVar[str] = "inductive"
    summary: ClassVar[str] = "Split a graph so that training has no node of the rest"
    inference: ClassVar[bool] = True

    types: Annotated[tuple[str, ...], Flag("--type", "TYPE", "Type of nodes to divide (all); may be repeated.")] = ()
    new_fraction: Annotated[float, Flag("--new-frac", "SHARE", "Share of the nodes that are new.")] = 0.2
    test_fraction: Annotated[float, Flag("--test-frac", "SHARE", "Share of their edges that are tested.")] = 0.25
    validation_fraction: Annotated[float, Flag("--val", "SHARE", "Share of their edges that validate.")] = 0.25

    def check(self) -> None:
        """Refuse fractions that are none."""
        if not 0 < self.new_fraction < 1:
            raise InputError(
                f"new_fraction (--new-frac) is {self.new_fraction}, expected a number above 0 and below 1, such as 0.2"
            )
        check_fractions(self.test_fraction, self.validation_fraction)

    def look_up(self, engine: Engine) -> None:
        """Make the lists of nodes and relations.

        Raises:
            InputError: the graph lacks one of the types.
        """
        part = f"CASE {part_of_hash(self.new_fraction, 0)} WHEN 'test' THEN 'inference' ELSE 'train' END"
        _divide(engine, self.seed, part, kinds=_find(engine, "kind", self.types, "--type"), outside="both")
        _list_targets(engine)

    def assign(self, engine: Engine) -> None:
        """Make `assigned` by the ends of every row, and where one is new by the hash of the edge."""
        of_new = f"coalesce(nullif({part_of_hash(self.test_fraction, self.validation_fraction)}, 'train'), 'inference')"
        _assign_by_ends(
            engine,
            f"""CASE WHEN 'inference' NOT IN (head_part, tail_part) THEN 'train'
                     WHEN 'train' NOT IN (head_part, tail_part) THEN {of_new} END""",
            reason="crosses",
            hashed=hash_of_edge(self.seed),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdSplit(NodeScheme):
    """Both ends of a held-out edge are new: no training edge of the chosen relations has one of them.

    The hash of seed and id decides the part of every node. An edge whose ends are of one part is of this part; one
    of the chosen relations whose ends are of two is in no part. Edges of other relations are trained on, and then a
    held-out node has to be seen there; without a choice it is unseen by design.

    Attributes:
        relations: the relations whose edges are held out; all where it is empty.
        test_fraction: of all nodes, 0 or more and less than 1; about the square of it of the edges.
        validation_fraction: in the same way; both fractions together are less than 1.
    """

    name: ClassVar[str] = "cold"
    summary: ClassVar[str] = "Split a graph so that held-out edges have two new nodes"

    relations: Relations = ()
    test_fraction: TestShare = 0.2
    validation_fraction: ValidationShare = 0.2

    def check(self) -> None:
        """Refuse fractions that are none."""
        check_fractions(self.test_fraction, self.validation_fraction)

    def look_up(self, engine: Engine) -> None:
        """Make the lists of nodes and relations.

        Raises:
            InputError: the graph lacks one of the relations.
        """
        _divide(engine, self.seed, part_of_hash(self.test_fraction, self.validation_fraction))
        _list_targets(engine, self.relations)

    def assign(self, engine: Engine) -> None:
        """Make `assigned` by the parts of both ends."""
        _list_held_nodes(engine, self.relations)
        _assign_by_ends(engine, "CASE WHEN head_part = tail_part THEN head_part END", reason="one_end_held")


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchSplit(NodeScheme):
    """Whole branches of an ontology are held out: the terms that are given and all that is below them by any parent.

    An edge of a hierarchy leads from the child to the parent. Its edges stay in training, so that the terms of a
    branch are seen there; edges of other relations with such a term are held out. What is below a term to test and a
    term to validate is tested, and so is an edge of one of each.

    Attributes:
        roots: ids of the terms whose branches are tested.
        validation_roots: ids of the terms whose branches validate.
        hierarchies: the relations from child to parent; where it is empty those that the schema calls transitive.
        relations: the relations whose edges are held out; all but the hierarchies where it is empty.
    """

    name: ClassVar[str] = "branch"
    summary: ClassVar[str] = "Split a graph by branches of an ontology"

    roots: Annotated[tuple[str, ...], Flag("--root", "ID", "Term whose branch is tested; may be repeated.")]
    validation_roots: Annotated[
        tuple[str, ...], Flag("--val-root", "ID", "Term whose branch validates; may be repeated.")
    ] = ()
    hierarchies: Annotated[
        tuple[str, ...],
        Flag("--hierarchy", "NAME", "Relation from child to parent (those that are transitive); may be repeated."),
    ] = ()
    relations: Relations = ()

    def check(self) -> None:
        """Refuse an empty choice, a root of two parts and a relation with two tasks."""
        if not self.roots:
            raise InputError("roots (--root) is empty, expected the id of a term at least")
        if both := sorted(set(self.roots) & set(self.validation_roots)):
            raise InputError(f"{both[0]!r} is a root to test and to validate (--val-root); choose one of them")

    def look_up(self, engine: Engine) -> None:
        """Make the lists of nodes and relations.

        Raises:
            InputError: the graph lacks a term or relation, has no hierarchy, or one is to be held out.
        """
        hierarchies = self._find_hierarchies(engine)
        kept = _family(engine, hierarchies)
        targets = _family(engine, _find(engine, "relation", self.relations, "--relation"))
        if both := sorted(set(kept) & set(targets)):
            [(name,)] = engine.rows(f"SELECT name FROM relation WHERE id = {both[0]}")
            raise InputError(f"--relation {name!r} is a hierarchy, which stays in training; choose another relation")
        _mark_branches(
            engine,
            tested=_find(engine, "node", self.roots, "--root"),
            validated=_find(engine, "node", self.validation_roots, "--val-root"),
            hierarchies=hierarchies,
        )
        chosen = f"id IN ({_listed(targets)})" if targets else f"id NOT IN ({_listed(kept)})"
        engine.make("target", f"SELECT id FROM relation WHERE {chosen}")

    def assign(self, engine: Engine) -> None:
        """Make `assigned` by the branches of both ends."""
        _assign_by_ends(
            engine,
            """CASE WHEN 'test' IN (head_part, tail_part) THEN 'test'
                    WHEN 'validation' IN (head_part, tail_part) THEN 'validation' ELSE 'train' END""",
        )

    def _find_hierarchies(self, engine: Engine) -> list[int]:
        """The numbers of the relations that lead from child to parent."""
        if self.hierarchies:
            return _find(engine, "relation", self.hierarchies, "--hierarchy")
        found = [number for (number,) in engine.rows("SELECT id FROM relation WHERE transitive ORDER BY id")]
        if not found:
            raise InputError(
                "the schema calls no relation of the graph transitive, so nothing is below a --root; name the "
                "relations from child to parent with --hierarchy"
            )
        return found


def _find(engine: Engine, table: str, names: Sequence[str], flag: str) -> list[int]:
    """The numbers of names in `kind`, `node` or `relation`, sorted.

    Raises:
        InputError: a name is not there.
    """
    if not names:
        return []
    engine.put("asked", {"name": sorted(set(names))})
    found = dict(engine.rows(f"SELECT name, id FROM {table} SEMI JOIN asked USING (name)"))
    engine.drop("asked")
    for name in names:
        if name not in found:
            [(number,)] = engine.rows(f"SELECT count(*) FROM {table}")
            some = ", ".join(name for (name,) in engine.rows(f"SELECT name FROM {table} ORDER BY name LIMIT {SHOWN}"))
            more = f" and {number - SHOWN} more" if number > SHOWN else ""
            what = {"kind": "type of a node"}.get(table, table)
            raise InputError(f"{flag} {name!r} is no {what} of the graph; there are {some}{more}")
    return sorted(found.values())


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _family(engine: Engine, relations: Sequence[int]) -> list[int]:
    """These relations and those that are inverse to one of them or exclude it, sorted."""
    if not relations:
        return []
    return [
        number
        for (number,) in engine.rows(f"""
            SELECT id FROM relation WHERE family IN (SELECT family FROM relation WHERE id IN ({_listed(relations)}))
            ORDER BY id
        """)
    ]


def _list_targets(engine: Engine, relations: Sequence[str] = ()) -> None:
    """Make `target` of the families of these relations, or of all."""
    numbers = _family(engine, _find(engine, "relation", relations, "--relation"))
    engine.make("target", f"SELECT id FROM relation WHERE {f'id IN ({_listed(numbers)})' if numbers else 'true'}")


def _divide(engine: Engine, seed: int, part: str, *, kinds: Sequence[int] = (), outside: str = "train") -> None:
    """Make `node_part` (id, part): by SQL that reads `hash` for nodes of these types, or all, `outside` for others."""
    chosen = f"kind IN ({_listed(kinds)})" if kinds else "true"
    engine.make(
        "node_part",
        f"""
        SELECT id, CASE WHEN {chosen} THEN {part} ELSE '{outside}' END AS part
        FROM (SELECT id, kind, hash60(concat_ws(chr(9), '{seed}', 'entity', name)) AS hash FROM node) hashed
        """,
    )


def _list_held_nodes(engine: Engine, relations: Sequence[str]) -> None:
    """Let the nodes that are held out be unseen, unless edges of other relations than these are to show them."""
    if not relations:
        engine.make("held_node", "SELECT id FROM node_part WHERE part <> 'train'")


def _mark_branches(
    engine: Engine, *, tested: Sequence[int], validated: Sequence[int], hierarchies: Sequence[int]
) -> None:
    """Make `node_part`: test for what is below some nodes, validation for what else is below others."""
    [(nodes,)] = engine.rows("SELECT count(*) FROM node")
    edges = engine.arrays(f"SELECT h, t FROM fact WHERE r IN ({_listed(hierarchies)})")
    inside = {}
    for part, roots in (("test", tested), ("validation", validated)):
        inside[part] = below = np.zeros(nodes, dtype=np.bool_)
        below[list(roots)] = True
        while (further := below[edges["t"]] & ~below[edges["h"]]).any():
            below[edges["h"][further]] = True
    held = np.flatnonzero(inside["test"] | inside["validation"])
    engine.put("branch", {"id": held.astype(np.int32), "tested": inside["test"][held]})
    engine.make(
        "node_part",
        """SELECT node.id, CASE WHEN tested THEN 'test' WHEN NOT tested THEN 'validation' ELSE 'train' END AS part
           FROM node LEFT JOIN branch ON branch.id = node.id""",
    )
    engine.drop("branch")


def _assign_by_ends(engine: Engine, part: str, *, reason: str = "", hashed: str | None = None) -> None:
    """Make `assigned` by the parts of both ends.

    Args:
        engine: with `node_part` and `target`.
        part: SQL that reads `head_part` and `tail_part`, and `hash` if it is asked for; NULL for a row in no part.
        reason: why a row is in no part.
        hashed: SQL for the hash of a row, by names.
    """
    column, names = (f", {hashed} AS hash", NAMES) if hashed else ("", "")
    engine.make(
        "assigned",
        f"""
        SELECT {EDGE}, CASE WHEN target.id IS NOT NULL THEN {part} ELSE 'train' END AS part,
            CASE WHEN part IS NULL THEN '{reason}' END AS reason
        FROM (SELECT {EDGE}, start.part AS head_part, finish.part AS tail_part{column}
              FROM edge JOIN node_part AS start ON start.id = edge.h JOIN node_part AS finish ON finish.id = edge.t
              {names}) edge LEFT JOIN target ON target.id = edge.r
        """,
    )
