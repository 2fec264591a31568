"""Negatives: what is known to be false first, then pairs drawn from nodes of the same types.

A *group* is all positives of one relation between nodes of two types. It gets a number of negatives per positive.
Where a relation is symmetric, a-b and b-a are one pair; the negatives of a group then come in both orders, or in
one, in the same shares as its positives do, since otherwise the order alone would tell them apart.

No pair is drawn of which anything is known under its relation, in either order: no positive of any part or slice,
none that is true because a more special edge is (a positive DRUG_BINDING_GENE makes the GENE_DRUG pair true), and
no reverse of these, also where the relation has a direction. No loop is drawn, and nothing twice.

The source of a negative tells its kind:

    SOURCE               asserted: a true negative, as it was given
    CONTRASTIVE:SOURCE   a true negative whose pair has the relation that excludes this one
    GENERATED            drawn evenly
    GENERATED:degree     drawn so that each node is in as many negatives as positives, in proportion
    GENERATED:hard       drawn as the ends of a short walk along positives
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from openbiolink.errors import InputError
from openbiolink.split.drawing import KINDS, NegativeKind, PairTable, Search, distinct, draw_pairs, merged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.random import BitGenerator
    from numpy.typing import NDArray

    from openbiolink.engines import Engine
    from openbiolink.progress import Progress

    IntArray = NDArray[np.int64]
    NodeArray = NDArray[np.int32]
    Drawn = dict[str, NodeArray]

GENERATED = "GENERATED"
CONTRASTIVE = "CONTRASTIVE"
MOST_PER_POSITIVE = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NegativeOptions:
    """How negatives are drawn, and how many there are.

    Attributes:
        kind: `uniform`: evenly from all pairs of the right types; `degree`: each node as often as in positives;
            `hard`: nodes that are near to each other.
        per_positive: negatives per positive, from 1 to a million.

    Raises:
        InputError: there is no such kind, or the number is not a whole one in that range.
    """

    kind: NegativeKind = "uniform"
    per_positive: int = 1

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn."""
        if self.kind not in KINDS:
            raise InputError(f"kind (--negatives) is {self.kind!r}, expected one of {', '.join(KINDS)}")
        number = self.per_positive
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MOST_PER_POSITIVE:
            raise InputError(
                f"per_positive (--per-positive) is {number!r}, expected a whole number from 1 to {MOST_PER_POSITIVE}"
            )


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

    def times(self, number: int) -> Orders:
        """As many times as many."""
        return Orders(number * self.both, number * self.forward, number * self.backward)

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
    """A group that got fewer negatives than were wanted, since no more free pairs exist.

    Attributes:
        relation: its name.
        head: the name of the node type.
        tail: in the same way.
        wanted: how many negatives.
        found: how many there are.
        place: which part of the graph they are of, such as `the earlier slice`; empty where they are of all of it.
    """

    relation: str
    head: str
    tail: str
    wanted: int
    found: int
    place: str = ""

    def in_words(self) -> str:
        """For a note.

        >>> Shortfall(relation="R", head="GENE", tail="DRUG", wanted=5, found=3, place="the earlier slice").in_words()
        'R (GENE, DRUG) in the earlier slice: 3 of 5 negatives, 2 short, since no more pairs are free'
        """
        place = f" in {self.place}" if self.place else ""
        return (
            f"{self.relation} ({self.head}, {self.tail}){place}: {self.found} of {self.wanted} negatives, "
            f"{self.wanted - self.found} short, since no more pairs are free"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where each listed node stands among all of them, sorted by type and number.

    Attributes:
        nodes: the number of the node at each place.
        of_node: the place of each node by its number; -1 for nodes that are not listed.
        begin: the first place of each type, and after the last type the number of places.
    """

    nodes: NodeArray
    of_node: IntArray
    begin: list[int]

    def keys(self, heads: NodeArray, tails: NodeArray, *, undirected: bool) -> IntArray:
        """Pairs as `place of head * number of places + place of tail`, sorted, distinct; the smaller place first
        where they are undirected. Pairs with a node that is not listed are left out.
        """
        first, second = self.of_node[heads], self.of_node[tails]
        if undirected:
            first, second = np.minimum(first, second), np.maximum(first, second)
        return distinct((first * len(self.nodes) + second)[(first >= 0) & (second >= 0)])

    def table(self, group: Group, *, undirected: bool) -> PairTable:
        """All pairs of a group."""
        heads, tails = (self.begin[kind + 1] - self.begin[kind] for kind in (group.head, group.tail))
        alike = group.head == group.tail
        return PairTable(heads=heads, tails=tails, alike=alike, unordered=alike and undirected)

    def positions(self, keys: IntArray, group: Group, table: PairTable) -> IntArray:
        """The pairs among sorted keys that are of a group, as sorted positions in its table."""
        ends = [self.begin[group.head] * len(self.nodes), self.begin[group.head + 1] * len(self.nodes)]
        low, high = np.searchsorted(keys, ends)
        first, second = np.divmod(keys[low:high], len(self.nodes))
        first -= self.begin[group.head]
        second -= self.begin[group.tail]
        return table.positions(first, second)[(second >= 0) & (second < table.tails)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Pairs of one relation as sorted keys, see `Places.keys`.

    Attributes:
        taken: those that may not be drawn.
        positives: those that drawing may go by.
        undirected: whether a-b is b-a.
    """

    taken: IntArray
    positives: IntArray
    undirected: bool


def make_negatives(
    engine: Engine,
    options: NegativeOptions,
    *,
    seed: int | str,
    draw: bool,
    barred: str | None = None,
    progress: Progress,
) -> tuple[Shortfall, ...]:
    """Make the table `negative` (h, r, t, score, source, curated); what is left over goes to `removed`.

    Reads `fact` (positives without self loops), `known` (h, r, t: positives of any slice), `true_negative`, `kind`,
    `node`, `relation` and `implies`.

    Args:
        engine: has the tables.
        options: how negatives are drawn, and how many there are.
        seed: of the order of surplus true negatives and of the drawn pairs.
        draw: whether to draw pairs where the true negatives do not suffice.
        barred: a table or view (h, r, t) of further pairs that are not drawn, as they are written.
        progress: is told of every group.

    Returns:
        The groups for which fewer pairs exist than were wanted; empty where nothing is drawn.
    """
    positive = _count_orders(engine, "fact")
    wanted = {group: orders.times(options.per_positive) for group, orders in positive.items()}
    _judge_true_negatives(engine, seed)
    _choose_true_negatives(engine, wanted)
    there = _count_orders(engine, "negative")
    missing = {group: orders.without(there.get(group, Orders())) for group, orders in wanted.items()}
    if not draw:
        return ()
    found = _draw(engine, missing, options.kind, seed=seed, barred=barred, progress=progress)
    relations, kinds = _names(engine)
    return tuple(
        Shortfall(
            relation=relations[group.relation],
            head=kinds[group.head],
            tail=kinds[group.tail],
            wanted=orders.rows,
            found=orders.rows - missing[group].rows + found[group],
        )
        for group, orders in wanted.items()
        if found[group] < missing[group].rows
    )


def _names(engine: Engine) -> tuple[dict[int, str], dict[int, str]]:
    """The names of relations and of node types by their numbers."""
    return dict(engine.rows("SELECT id, name FROM relation")), dict(engine.rows("SELECT id, name FROM kind"))


def _pairs(edges: str) -> str:
    """A query of the group (r, a, b) and pair (x, y) of every row (h, r, t) of a query, with that row."""
    return f"""
        SELECT h, r, t, relation.undirected,
            relation.undirected AND (u.kind > v.kind OR (u.kind = v.kind AND h > t)) AS swapped,
            CASE WHEN swapped THEN v.kind ELSE u.kind END AS a, CASE WHEN swapped THEN t ELSE h END AS x,
            CASE WHEN swapped THEN u.kind ELSE v.kind END AS b, CASE WHEN swapped THEN h ELSE t END AS y
        FROM ({edges}) JOIN relation ON relation.id = r JOIN node u ON u.id = h JOIN node v ON v.id = t
    """


def _count_orders(engine: Engine, table: str) -> dict[Group, Orders]:
    """How many pairs of each group stand in which orders; the pairs of directed relations all stand forward."""
    pairs = _pairs(f"SELECT h, r, t FROM {table}")
    rows = engine.rows(f"""
        SELECT r, a, b, 0 AS twice, count(*) AS forward, 0 AS backward FROM ({pairs}) WHERE NOT undirected
        GROUP BY r, a, b
        UNION ALL
        SELECT r, a, b, count_if(low <> high), count_if(low = high AND low = 0), count_if(low = high AND low = 1)
        FROM (SELECT r, a, b, min(CASE WHEN swapped THEN 1 ELSE 0 END) AS low,
                  max(CASE WHEN swapped THEN 1 ELSE 0 END) AS high
              FROM ({pairs}) WHERE undirected GROUP BY r, a, b, x, y)
        GROUP BY r, a, b ORDER BY r, a, b
    """)
    return {Group(*row[:3]): Orders(*row[3:]) for row in rows}


def _find_evidence(engine: Engine) -> None:
    """Make `evidence` (h, r, t, contrastive, clash): the true negatives that positives exclude or contradict.

    What would be positives against them is listed first: joined in one go, that is looked for among all `known`.
    """
    engine.make(
        "claim",
        """
        SELECT tn.h, tn.r, tn.t, asked, special, child.name AS child,
            CASE WHEN flipped THEN tn.t ELSE tn.h END AS x, CASE WHEN flipped THEN tn.h ELSE tn.t END AS y
        FROM true_negative tn
        JOIN (SELECT id, id AS asked FROM relation
              UNION ALL SELECT id, excludes FROM relation WHERE excludes IS NOT NULL) question ON question.id = tn.r
        JOIN implies ON general = asked JOIN relation child ON child.id = special
        """,
    )
    engine.make(
        "evidence",
        """
        SELECT claim.h, claim.r, claim.t, bool_or(asked <> claim.r) AS contrastive, CASE
            WHEN bool_or(asked = claim.r AND special = claim.r) THEN 'conflict'
            WHEN bool_or(asked = claim.r) THEN 'conflict:' || min(CASE WHEN asked = claim.r THEN child END)
        END AS clash
        FROM claim JOIN known ON known.h = x AND known.r = special AND known.t = y
        GROUP BY claim.h, claim.r, claim.t
        """,
    )
    engine.drop("claim")


def _judge_true_negatives(engine: Engine, seed: int | str) -> None:
    """Make `judged`: each true negative with its hash, whether it is contrastive, and why it cannot be used, if so.

    The hash that chooses among too many has nothing to do with the one that decides the part.
    """
    _find_evidence(engine)
    engine.make(
        "judged",
        f"""
        SELECT tn.h, tn.r, tn.t, score, source, coalesce(contrastive, false) AS contrastive,
            hash60(concat_ws(chr(9), '{seed} surplus', least(head.name, tail.name), family,
                             greatest(head.name, tail.name))) AS hash,
            CASE WHEN tn.h = tn.t THEN 'self_loop'
                 WHEN clash IS NOT NULL THEN clash
                 WHEN head.kind IS NULL AND tail.kind IS NULL THEN 'untyped_node:' || head.name || ',' || tail.name
                 WHEN head.kind IS NULL THEN 'untyped_node:' || head.name
                 WHEN tail.kind IS NULL THEN 'untyped_node:' || tail.name END AS reason
        FROM true_negative tn LEFT JOIN evidence ON evidence.h = tn.h AND evidence.r = tn.r AND evidence.t = tn.t
        JOIN relation ON relation.id = tn.r JOIN node head ON head.id = tn.h JOIN node tail ON tail.id = tn.t
        """,
    )
    engine.drop("evidence")


def _choose_true_negatives(engine: Engine, wanted: Mapping[Group, Orders]) -> None:
    """Make `negative` of the true negatives that are used; those that are not go to `removed`."""
    engine.put(
        "wanted",
        {
            "r": np.array([group.relation for group in wanted], dtype=np.int32),
            "a": np.array([group.head for group in wanted], dtype=np.int32),
            "b": np.array([group.tail for group in wanted], dtype=np.int32),
            "number": np.array([orders.rows for orders in wanted.values()], dtype=np.int64),
        },
    )
    engine.make(
        "chosen",
        f"""
        SELECT h, r, t FROM (
            SELECT h, r, t, number, row_number() OVER (PARTITION BY r, a, b ORDER BY hash, h, t) AS place
            FROM ({_pairs("SELECT h, r, t FROM judged WHERE reason IS NULL")})
            JOIN judged USING (h, r, t) JOIN wanted USING (r, a, b)
        ) WHERE place <= number
        """,
    )
    engine.make(
        "negative",
        f"""
        SELECT h, r, t, score, CASE WHEN contrastive THEN '{CONTRASTIVE}:' || source ELSE source END AS source,
            true AS curated
        FROM judged SEMI JOIN chosen USING (h, r, t)
        """,
    )
    engine.append(
        "removed",
        """
        SELECT h, r, t, false, score, source, CAST(NULL AS STRING), coalesce(reason, 'surplus_negative')
        FROM judged ANTI JOIN chosen USING (h, r, t)
        """,
    )
    engine.drop("wanted", "chosen", "judged")


def _draw(
    engine: Engine,
    missing: Mapping[Group, Orders],
    kind: NegativeKind,
    *,
    seed: int | str,
    barred: str | None,
    progress: Progress,
) -> dict[Group, int]:
    """Add drawn pairs to `negative`; returns how many rows of each group, fewer than missing if pairs run out."""
    places = _read_places(engine)
    undirected = dict(engine.rows("SELECT id, undirected FROM relation"))
    names = _names(engine)
    found = dict.fromkeys(missing, 0)
    drawn = []
    open_groups = [group for group, orders in missing.items() if orders.rows]
    for relation, groups in groupby(enumerate(open_groups), key=lambda item: item[1].relation):
        evidence = _read_evidence(engine, places, relation, undirected=undirected[relation], kind=kind, barred=barred)
        for done, group in groups:
            progress("negatives", done, len(open_groups))
            rows = _draw_group(_stream(group, names, seed), places, evidence, group, missing=missing[group], kind=kind)
            found[group] = len(rows["h"])
            drawn.append(rows)
    progress("negatives", len(open_groups), len(open_groups))
    _append_drawn(engine, drawn)
    return found


def _read_places(engine: Engine) -> Places:
    [(nodes, kinds)] = engine.rows("SELECT (SELECT count(*) FROM node), (SELECT count(*) FROM kind)")
    listed = engine.arrays("SELECT id, kind FROM node WHERE listed AND kind IS NOT NULL")
    order = np.lexsort((listed["id"], listed["kind"]))
    of_node = np.full(nodes, -1, dtype=np.int64)
    of_node[listed["id"][order]] = np.arange(len(order))
    begin = np.searchsorted(listed["kind"][order], np.arange(kinds + 1))
    return Places(nodes=listed["id"][order].astype(np.int32), of_node=of_node, begin=begin.tolist())


def _read_evidence(
    engine: Engine, places: Places, relation: int, *, undirected: bool, kind: NegativeKind, barred: str | None
) -> Evidence:
    """What is known of the pairs of a relation; positives are read only where drawing needs them."""

    def read(query: str) -> tuple[NodeArray, NodeArray]:
        columns = engine.arrays(query)
        return np.asarray(columns["h"], dtype=np.int32), np.asarray(columns["t"], dtype=np.int32)

    special = ", ".join(str(row[0]) for row in engine.rows(f"SELECT special FROM implies WHERE general = {relation}"))
    heads, tails = read(f"SELECT h, t FROM known WHERE r IN ({special})")
    taken = places.keys(heads, tails, undirected=undirected)
    if not undirected:
        taken = merged(taken, places.keys(tails, heads, undirected=False))
    further = "" if barred is None else f" UNION ALL SELECT h, t FROM {barred} WHERE r = {relation}"
    used = read(f"SELECT h, t FROM negative WHERE r = {relation}{further}")
    taken = merged(taken, places.keys(*used, undirected=undirected))
    positives = np.empty(0, dtype=np.int64)
    if kind != "uniform":
        positives = places.keys(*read(f"SELECT h, t FROM fact WHERE r = {relation}"), undirected=undirected)
    return Evidence(taken=taken, positives=positives, undirected=undirected)


def _stream(group: Group, names: tuple[Mapping[int, str], Mapping[int, str]], seed: int | str) -> BitGenerator:
    """Random bits of a group alone: seeded by names, so that other groups do not matter."""
    relations, kinds = names
    key = "\t".join([str(seed), "negatives", relations[group.relation], kinds[group.head], kinds[group.tail]])
    return np.random.PCG64(int(hashlib.md5(key.encode(), usedforsecurity=False).hexdigest(), 16))


def _draw_group(
    bits: BitGenerator, places: Places, evidence: Evidence, group: Group, *, missing: Orders, kind: NegativeKind
) -> Drawn:
    """Rows (h, r, t, kind) of drawn pairs of a group, in the orders that are missing."""
    table = places.table(group, undirected=evidence.undirected)
    search = Search(
        table=table,
        wanted=missing.pairs,
        taken=places.positions(evidence.taken, group, table),
        positives=places.positions(evidence.positives, group, table),
    )
    pairs, kinds = draw_pairs(bits, search, kind)
    heads, tails = table.ends(pairs)
    first, second = places.nodes[heads + places.begin[group.head]], places.nodes[tails + places.begin[group.tail]]
    both, forward = missing.both, missing.both + missing.forward
    return {
        "h": np.concatenate([first[:forward], second[:both], second[forward:]]),
        "r": np.full(len(first) + len(first[:both]), group.relation, dtype=np.int32),
        "t": np.concatenate([second[:forward], first[:both], first[forward:]]),
        "kind": np.concatenate([kinds[:forward], kinds[:both], kinds[forward:]]),
    }


def _append_drawn(engine: Engine, drawn: list[Drawn]) -> None:
    """Add drawn rows to `negative`, with a source that tells how they were drawn."""
    if not drawn:
        return
    engine.put("drawn", {name: np.concatenate([rows.pop(name) for rows in drawn]) for name in ("h", "r", "t", "kind")})
    sources = " ".join(f"WHEN {number} THEN '{GENERATED}:{name}'" for number, name in enumerate(KINDS) if number)
    engine.append(
        "negative", f"SELECT h, r, t, '', CASE kind {sources} ELSE '{GENERATED}' END, false AS curated FROM drawn"
    )
    engine.drop("drawn")
