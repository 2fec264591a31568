"""Drawing pairs of nodes, none twice and none that is taken: evenly, by degree, or near to each other.

A pair is written as its position `first * tails + second` in the table of all pairs of a first and a second node,
both counted from 0. Random bits come raw from the generator, and numbers are sorted before they are used, so that
pairs depend on the seed and on the sets that are given, not on any order or on the version of NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import BitGenerator
    from numpy.typing import NDArray

    IntArray = NDArray[np.int64]
    Adjacency = tuple[IntArray, IntArray]

NegativeKind = Literal["uniform", "degree", "hard"]
KINDS: tuple[NegativeKind, ...] = ("uniform", "degree", "hard")
DENSE = 2  # where more pairs than the DENSE-th part are taken or wanted, all free ones are listed
SMALL = 4096  # pairs are always listed, never drawn
AT_ONCE = 1 << 24
SPARE = 64
LITTLE = 0.0625  # of the walks lead to a new pair: then no more are made
STUCK = 0.75  # of the ends that were over are over again: then other ends are needed
ROUNDS = 32  # of matching at most, and
EFFORT = 4  # times as many pairs as wanted are matched


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTable:
    """All pairs of a first and a second node.

    Attributes:
        heads: number of first nodes.
        tails: number of second nodes.
        alike: first and second nodes are the same ones; then no node is paired with itself.
        unordered: of nodes that are alike, a-b is b-a, and is written with the smaller first.
    """

    heads: int
    tails: int
    alike: bool = False
    unordered: bool = False

    @property
    def pairs(self) -> int:
        """How many pairs there are, those of a node and itself included."""
        return self.heads * (self.heads + 1) // 2 if self.unordered else self.heads * self.tails

    def positions(self, first: IntArray, second: IntArray) -> IntArray:
        """The positions of pairs."""
        if self.unordered:
            first, second = np.minimum(first, second), np.maximum(first, second)
        return first * self.tails + second

    def ends(self, pairs: IntArray) -> tuple[IntArray, IntArray]:
        """The first and the second node of pairs."""
        return np.divmod(pairs, self.tails)

    def loops(self) -> IntArray:
        """The positions of the pairs of a node and itself, ascending."""
        return np.arange(self.heads if self.alike else 0, dtype=np.int64) * (self.tails + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is looked for in a table.

    Attributes:
        table: the table of pairs.
        wanted: number of pairs.
        taken: positions that may not be drawn, sorted.
        positives: positions of the positive pairs, sorted and distinct.
    """

    table: PairTable
    wanted: int
    taken: IntArray
    positives: IntArray


def draw_pairs(bits: BitGenerator, search: Search, kind: NegativeKind) -> tuple[IntArray, NDArray[np.int32]]:
    """Draw distinct pairs that are not taken; what one way does not find is left to the next.

    `hard` pairs are ends of short walks along positives, from where `degree` goes on, which gives every node as
    many negatives as it has positives, from where `uniform` goes on, which takes what there is.

    Args:
        bits: raw random bits.
        search: what is wanted; `positives` may be empty if `kind` is `uniform`.
        kind: how to begin.

    Returns:
        Positions, shape (min(wanted, number of free pairs),), in random order, and for each the place in `KINDS` of
        how it was found.
    """
    taken = merged(search.taken, search.table.loops())
    found: list[IntArray] = []
    kinds: list[NDArray[np.int32]] = []
    wanted = missing = min(search.wanted, search.table.pairs)
    for number in range(KINDS.index(kind), -1, -1):
        rest = Search(table=search.table, wanted=missing, taken=taken, positives=search.positives)
        pairs = DRAW[KINDS[number]](bits, rest)
        found.append(pairs)
        kinds.append(np.full(len(pairs), number, dtype=np.int32))
        missing -= len(pairs)
        if not missing:
            break
        taken = merged(taken, np.sort(pairs))
    order = _choose(bits, wanted - missing, wanted - missing)
    return np.concatenate(found)[order], np.concatenate(kinds)[order]


def distinct(numbers: IntArray) -> IntArray:
    """The distinct numbers, ascending; `numpy.unique` takes twenty times as long for ten million."""
    numbers = np.sort(numbers)
    return numbers[_is_first(numbers)]


def merged(left: IntArray, right: IntArray) -> IntArray:
    """The numbers of two sorted arrays, sorted; a stable sort only merges."""
    return np.sort(np.concatenate([left, right]), kind="stable") if len(right) else left


def _is_first(ascending: IntArray) -> NDArray[np.bool_]:
    first = np.ones(len(ascending), dtype=np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    return first


def _choose(bits: BitGenerator, number: int, chosen: int) -> IntArray:
    """`chosen` of the first `number` natural numbers, in random order.

    The numbers stand in the low bits of random ones, and sorting is by the high bits.
    """
    width = np.uint64(number.bit_length())
    keys = bits.random_raw(number) >> width << width
    keys |= np.arange(number, dtype=np.uint64)
    if chosen < number:
        keys = np.partition(keys, chosen)[:chosen]
    keys.sort()
    keys &= (np.uint64(1) << width) - np.uint64(1)
    return keys.view(np.int64)


def _below(bits: BitGenerator, number: int, limit: int | IntArray) -> IntArray:
    """`number` random numbers from 0 to below a limit, or to below each of as many limits."""
    raw = bits.random_raw(number)
    raw %= np.asarray(limit, dtype=np.uint64)
    return raw.view(np.int64)


def _sift(drawn: IntArray, taken: IntArray) -> tuple[IntArray, IntArray]:
    """What of the drawn numbers is new, distinct and ascending, and the rest, taken (sorted) or repeated."""
    drawn = np.sort(drawn)
    new = _is_first(drawn)
    if len(taken):
        place = np.searchsorted(taken, drawn)
        np.minimum(place, len(taken) - 1, out=place)
        new &= taken[place] != drawn
    return drawn[new], drawn[~new]


def _draw_evenly(bits: BitGenerator, search: Search) -> IntArray:
    """Pairs drawn from all that are free, each as likely as any other; as many as wanted or as there are."""
    table, taken = search.table, search.taken
    if table.pairs <= max(SMALL, DENSE * (search.wanted + len(taken))):
        free = np.ones((table.heads, table.tails), dtype=np.bool_)
        free.reshape(-1)[taken] = False
        listed = np.flatnonzero(np.triu(free) if table.unordered else free)
        return listed[_choose(bits, len(listed), min(search.wanted, len(listed)))]
    found = np.empty(0, dtype=np.int64)
    while (missing := search.wanted - len(found)) > 0:
        cells = _below(bits, min(missing + SPARE, AT_ONCE), table.heads * table.tails)
        new, _ = _sift(table.positions(*table.ends(cells)) if table.unordered else cells, taken)
        if len(new) > missing:
            new = new[_choose(bits, len(new), missing)]
        elif len(new) < missing:
            taken = merged(taken, new)
        found = np.concatenate([found, new])
    return found


def _draw_matching(bits: BitGenerator, search: Search) -> IntArray:
    """Pairs of the ends of positives, matched anew: each node is an end as often as in as many positives.

    The ends of pairs that turn out to be taken are matched again: among themselves, and once that gains little,
    together with the ends of as many pairs that were found. What was found once is not found again.
    """
    table, taken = search.table, search.taken
    copies = np.tile(search.positives, -(-search.wanted // len(search.positives)))
    over = copies[_choose(bits, len(copies), search.wanted)]
    found = np.empty(0, dtype=np.int64)
    effort, is_stuck = EFFORT * max(search.wanted, SMALL), False
    for _ in range(ROUNDS):
        if not len(over) or effort < 0:
            break
        kept, again = _divide(bits, found, len(over) if is_stuck else 0)
        new, rest = _sift(_match(bits, table, np.concatenate([over, again])), taken)
        effort -= len(over) + len(again)
        is_stuck |= len(rest) > STUCK * len(over)
        if len(rest) < len(over):
            found, over, taken = np.concatenate([kept, new]), rest, merged(taken, new)
    return found


def _divide(bits: BitGenerator, pairs: IntArray, number: int) -> tuple[IntArray, IntArray]:
    """All but about `number` random ones of the pairs, and these."""
    chosen = np.zeros(len(pairs), dtype=np.bool_)
    if len(pairs):
        chosen[_below(bits, number, len(pairs))] = True
    return pairs[~chosen], pairs[chosen]


def _match(bits: BitGenerator, table: PairTable, pairs: IntArray) -> IntArray:
    """As many pairs of the same ends: first nodes with second ones, or any with any where pairs have no order."""
    first, second = table.ends(pairs)
    if table.unordered:
        ends = np.concatenate([first, second])[_choose(bits, 2 * len(pairs), 2 * len(pairs))]
        return table.positions(ends[: len(pairs)], ends[len(pairs) :])
    return table.positions(first, second[_choose(bits, len(pairs), len(pairs))])


def _draw_walking(bits: BitGenerator, search: Search) -> IntArray:
    """Pairs of the two ends of walks along positives, until few of the walks lead to a pair that is new.

    From first to second node, back, and to a second node again; two steps between nodes of an unordered table.
    """
    table, taken = search.table, search.taken
    start, here = table.ends(search.positives)
    if table.unordered:
        start, here = np.concatenate([start, here]), np.concatenate([here, start])
        steps = [_adjacency(start, here, table.tails)]
    else:
        steps = [_adjacency(here, start, table.tails), _adjacency(start, here, table.heads)]
    found = np.empty(0, dtype=np.int64)
    while (missing := search.wanted - len(found)) > 0:
        walks = min(missing + SPARE, AT_ONCE)
        begin = _below(bits, walks, len(start))
        end = here[begin]
        for step in steps:
            end = _step(bits, step, end)
        new, _ = _sift(table.positions(start[begin], end), taken)
        if len(new) > missing:
            new = new[_choose(bits, len(new), missing)]
        found = np.concatenate([found, new])
        if len(new) < LITTLE * walks:
            break
        taken = merged(taken, new)
    return found


def _adjacency(start: IntArray, end: IntArray, nodes: int) -> Adjacency:
    """For the nodes that edges start from: where each one's neighbours begin, shape (nodes + 1,), and all of these."""
    offsets = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(start, minlength=nodes), out=offsets[1:])
    width = int(end.max()) + 1
    return offsets, np.sort(start * width + end) % width


def _step(bits: BitGenerator, adjacency: Adjacency, nodes: IntArray) -> IntArray:
    """A random neighbour of each node."""
    offsets, neighbours = adjacency
    begin = offsets[nodes]
    place: IntArray = begin + _below(bits, len(nodes), offsets[nodes + 1] - begin)
    return neighbours[place]


DRAW: dict[NegativeKind, Callable[[BitGenerator, Search], IntArray]] = {
    "uniform": _draw_evenly,
    "degree": _draw_matching,
    "hard": _draw_walking,
}
