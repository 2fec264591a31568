"""Negatives: never true, never twice, of the right types, as many as wanted or as there are, whatever the kind."""

import hashlib
import random
from collections import Counter, defaultdict
from itertools import product

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openbiolink.engines import open_engine
from openbiolink.engines.embedded import FUNCTIONS, EmbeddedEngine
from openbiolink.errors import InputError
from openbiolink.progress import silent
from openbiolink.split import drawing
from openbiolink.split.drawing import KINDS, PairTable, Search, draw_pairs
from openbiolink.split.negatives import NegativeOptions, Orders, Shortfall, make_negatives
from oracles.leakage import read_rows

# Relation → whether it is undirected, its family, what it excludes, and what its edges imply besides themselves:
# (relation, flipped). They join nodes of any types, so that what is implied is often of another group.
RELATIONS = {
    "child": (False, "child", None, [("pair", False), ("pair", True)]),
    "expressed": (False, "expressed", None, []),
    "forth": (False, "forth", None, [("back", True)]),
    "back": (False, "back", None, []),
    "over": (False, "over", "under", [("expressed", False)]),
    "under": (False, "over", "over", [("expressed", False)]),
    "pair": (True, "pair", None, [("pair", True)]),
}
NODES = {f"{kind}{number}": kind for kind in "AB" for number in range(5)}
OUTSIDE = {"A9": "A", "B9": "B", "X": None}  # stand in true negatives only, and are not listed
SOURCES = {"uniform": "GENERATED", "degree": "GENERATED:degree", "hard": "GENERATED:hard"}


# Pairs


@st.composite
def searches(draw):
    alike = draw(st.booleans())
    heads = draw(st.integers(1, 9))
    tails = heads if alike else draw(st.integers(1, 9))
    unordered = alike and draw(st.booleans())
    allowed = [
        x * tails + y
        for x, y in product(range(heads), range(tails))
        if not (alike and (x == y or (unordered and x > y)))
    ]
    taken = draw(st.sets(st.sampled_from(allowed))) if allowed else set()
    positives = draw(st.sets(st.sampled_from(sorted(taken)), min_size=1)) if taken else set()
    search = Search(
        table=PairTable(heads=heads, tails=tails, alike=alike, unordered=unordered),
        wanted=draw(st.integers(0, 90)),
        taken=np.array(sorted(taken), dtype=np.int64),
        positives=np.array(sorted(positives), dtype=np.int64),
    )
    return search, set(allowed) - taken


def sparse_search(pairs, nodes, *, wanted=None, alike=False, unordered=False, seed=1):
    """A search around positives; the node of rank k has a degree of about k^-0.6 times that of the first."""
    weights = np.arange(1, nodes + 1) ** -0.6
    random_ends = np.random.default_rng(seed).choice(nodes, size=(2, 2 * pairs), p=weights / weights.sum())
    table = PairTable(heads=nodes, tails=nodes, alike=alike, unordered=unordered)
    positives = {
        (min(x, y), max(x, y)) if unordered else (x, y) for x, y in random_ends.T.tolist() if not (alike and x == y)
    }
    keys = np.array([x * nodes + y for x, y in random.Random(seed).sample(sorted(positives), pairs)])
    return Search(table=table, wanted=wanted or pairs, taken=np.sort(keys), positives=np.sort(keys))


def degrees(search, pairs):
    first, second = np.divmod(pairs, search.table.tails)
    if search.table.unordered:
        return np.bincount(np.concatenate([first, second]), minlength=search.table.heads)
    return np.concatenate(
        [np.bincount(first, minlength=search.table.heads), np.bincount(second, minlength=search.table.tails)]
    )


@pytest.mark.parametrize("small", [0, 4096])
@pytest.mark.parametrize("kind", KINDS)
def test_pairs_are_distinct_free_and_as_many_as_there_are(small, kind):
    @settings(deadline=None)
    @given(searches(), st.integers(0, 5))
    def check(made, seed):
        search, free = made
        if not len(search.positives) and kind != "uniform":
            return
        found, kinds = draw_pairs(np.random.PCG64(seed), search, kind)
        again = draw_pairs(np.random.PCG64(seed), search, kind)
        assert found.tolist() == again[0].tolist()
        assert kinds.tolist() == again[1].tolist()
        assert len(set(found.tolist())) == len(found) == len(kinds) == min(search.wanted, len(free))
        assert set(found.tolist()) <= free
        assert set(kinds.tolist()) <= set(range(KINDS.index(kind) + 1))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "SMALL", small)
        check()


@pytest.mark.parametrize(("size", "wanted"), [(60, 400), (200, 400)], ids=["listed", "drawn"])
@pytest.mark.parametrize("unordered", [True, False])
def test_pairs_are_drawn_evenly(size, wanted, unordered):
    times = np.zeros(size * size)
    streams = 200
    nothing = np.empty(0, dtype=np.int64)
    table = PairTable(heads=size, tails=size, alike=True, unordered=unordered)
    for seed in range(streams):
        search = Search(table=table, wanted=wanted, taken=nothing, positives=nothing)
        pairs, _ = draw_pairs(np.random.PCG64(seed), search, "uniform")
        times[pairs] += 1
    by_node = times.reshape(size, size).sum(axis=0) + times.reshape(size, size).sum(axis=1)
    expected = 2 * streams * wanted / size
    assert times.sum() == streams * wanted
    assert np.abs(by_node - expected).max() < 6 * expected**0.5


def test_a_dense_table_is_listed_and_a_sparse_one_drawn(monkeypatch):
    listed = []
    flatnonzero = np.flatnonzero
    monkeypatch.setattr(np, "flatnonzero", lambda free: listed.append(free.size) or flatnonzero(free))
    nothing = np.empty(0, dtype=np.int64)
    for size in (100, 5000):
        table = PairTable(heads=size, tails=size)
        search = Search(table=table, wanted=9000, taken=nothing, positives=nothing)
        draw_pairs(np.random.PCG64(1), search, "uniform")
    assert listed == [100 * 100]


@pytest.mark.parametrize("per_positive", [1, 3])
@pytest.mark.parametrize(("alike", "unordered"), [(False, False), (True, False), (True, True)])
def test_each_node_is_in_as_many_matched_negatives_as_positives(alike, unordered, per_positive):
    search = sparse_search(3000, 3000, wanted=3000 * per_positive, alike=alike, unordered=unordered)
    found, kinds = draw_pairs(np.random.PCG64(1), search, "degree")
    wanted = per_positive * degrees(search, search.positives)
    matched = degrees(search, found[kinds == KINDS.index("degree")])
    assert (matched <= wanted).all()  # nothing beyond, and what is short are hubs that run out of partners
    uniform, _ = draw_pairs(np.random.PCG64(1), search, "uniform")
    off, off_uniform = (np.abs(degrees(search, pairs) - wanted).sum() / wanted.sum() for pairs in (found, uniform))
    assert off < 0.25 * off_uniform


@pytest.mark.parametrize("kind", KINDS)
def test_more_pairs_than_there_can_be_cost_no_memory(kind):
    search = Search(
        table=PairTable(heads=3, tails=4), wanted=10**12, taken=np.array([5]), positives=np.array([5], dtype=np.int64)
    )
    pairs, _ = draw_pairs(np.random.PCG64(1), search, kind)
    assert sorted(pairs.tolist()) == [number for number in range(12) if number != 5]


def test_matched_negatives_are_exact_where_no_node_runs_out_of_partners():
    ring = np.arange(600, dtype=np.int64)
    keys = np.sort(np.concatenate([ring * 600 + (ring + step) % 600 for step in (1, 2, 5)]))
    search = Search(table=PairTable(heads=600, tails=600, alike=True), wanted=1800, taken=keys, positives=keys)
    found, kinds = draw_pairs(np.random.PCG64(1), search, "degree")
    assert set(kinds.tolist()) == {KINDS.index("degree")}
    assert degrees(search, found).tolist() == [3] * 1200


@pytest.mark.parametrize(("alike", "unordered"), [(False, False), (True, False), (True, True)])
def test_hard_negatives_are_ends_of_short_walks(alike, unordered):
    search = sparse_search(6000, 3000, alike=alike, unordered=unordered)
    forth, back = defaultdict(set), defaultdict(set)
    for x, y in zip(*(ends.tolist() for ends in np.divmod(search.positives, 3000)), strict=True):
        forth[x].add(y)
        back[y].add(x)
        if unordered:
            forth[y].add(x)
            back[x].add(y)

    def is_near(pair):  # a common neighbour, or a head that shares a tail with this head and has that tail
        x, y = divmod(pair, 3000)
        return bool(forth[x] & back[y] if unordered else any(back[other] & back[y] for other in forth[x]))

    share = {}
    for kind in KINDS:
        found, kinds = draw_pairs(np.random.PCG64(1), search, kind)
        near = [is_near(pair) for pair in found.tolist()]
        share[kind] = np.mean(near)
        assert all(is_near(pair) for pair in found[kinds == KINDS.index("hard")].tolist())
    assert share["hard"] > 0.9
    assert share["uniform"] < 0.1 < share["degree"] < share["hard"]


@given(*[st.builds(Orders, *[st.integers(0, 6)] * 3)] * 2, st.integers(1, 4))
def test_missing_rows_add_up(positive, there, number):
    wanted = positive.times(number)
    missing = wanted.without(there)
    assert wanted.rows == number * positive.rows
    assert missing.rows == max(0, wanted.rows - there.rows)
    assert min(missing.both, missing.forward, missing.backward) >= 0
    assert missing.both <= wanted.both
    assert missing.backward <= wanted.backward


# Tables


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    """The embedded engine in memory, since tiny tables in a file take four times as long."""
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(FUNCTIONS)
        yield EmbeddedEngine(connection, tmp_path_factory.mktemp("engine"))


def fill(engine, facts, true_negatives, others=(), *, nodes=NODES, unlisted=OUTSIDE):
    """Make the tables that negatives are made from; rows stand in the order they come in."""
    names = sorted({*nodes, *unlisted})
    used = sorted({triple[1] for triple in (*facts, *true_negatives, *others)})
    kinds = sorted(set(nodes.values()))
    code = {name: number for number, name in enumerate(names)}
    relation_code = {name: number for number, name in enumerate(used)}

    def integers(values):
        return np.array(list(values), dtype=np.int32)

    def triples(rows):
        return {
            "h": integers(code[h] for h, _, _ in rows),
            "r": integers(relation_code[r] for _, r, _ in rows),
            "t": integers(code[t] for _, _, t in rows),
        }

    engine.put("kind", {"id": integers(range(len(kinds))), "name": kinds})
    engine.put(
        "named",
        {
            "id": integers(range(len(names))),
            "name": names,
            "kind": integers(kinds.index(kind) if (kind := {**unlisted, **nodes}[name]) else -1 for name in names),
            "listed": np.array([name in nodes for name in names]),
        },
    )
    engine.make("node", "SELECT id, name, CASE WHEN kind >= 0 THEN kind END AS kind, listed FROM named")
    rules = {name: RELATIONS.get(name, (False, name, None, [])) for name in used}
    engine.put(
        "related",
        {
            "id": integers(range(len(used))),
            "name": used,
            "undirected": np.array([rules[name][0] for name in used]),
            "depth": integers(0 for _ in used),
            "family": [rules[name][1] for name in used],
            "excludes": integers(relation_code.get(rules[name][2], -1) for name in used),
        },
    )
    engine.make(
        "relation",
        """SELECT id, name, undirected, depth, family, CASE WHEN excludes >= 0 THEN excludes END AS excludes
           FROM related""",
    )
    implied = [
        (name, other, flipped) for name in used for other, flipped in [(name, False), *rules[name][3]] if other in used
    ]
    engine.put(
        "implies",
        {
            "special": integers(relation_code[name] for name, _, _ in implied),
            "general": integers(relation_code[other] for _, other, _ in implied),
            "flipped": np.array([flipped for _, _, flipped in implied]),
        },
    )
    for table, rows in (("fact", facts), ("true_negative", true_negatives)):
        engine.put(table, triples(rows) | {"score": ["" for _ in rows], "source": [f"of {row[0]}" for row in rows]})
    engine.put("known", triples([*facts, *others]))
    engine.make(
        "removed",
        """SELECT h, r, t, true AS positive, score, source, CAST(NULL AS STRING) AS part, '' AS reason
           FROM fact WHERE false""",
    )


def negatives_of(engine, *, kind="uniform", per_positive=1, seed=1, draw=True):
    """The negatives as (head, relation, tail, source, curated), and the shortfalls."""
    options = NegativeOptions(kind=kind, per_positive=per_positive)
    shortfalls = make_negatives(engine, options, seed=seed, draw=draw, progress=silent)
    rows = engine.rows(
        """SELECT head.name, relation.name, tail.name, source, curated FROM negative
           JOIN node head ON head.id = h JOIN relation ON relation.id = r JOIN node tail ON tail.id = t"""
    )
    return sorted(rows), shortfalls


def removed_of(engine):
    return engine.rows(
        """SELECT head.name, relation.name, tail.name, source, reason FROM removed
           JOIN node head ON head.id = h JOIN relation ON relation.id = r JOIN node tail ON tail.id = t"""
    )


def consequences(triples):
    found, waiting = set(triples), list(triples)
    while waiting:
        head, relation, tail = waiting.pop()
        for other, flipped in RELATIONS[relation][3]:
            step = (tail, other, head) if flipped else (head, other, tail)
            if step not in found:
                found.add(step)
                waiting.append(step)
    return found


def reverse(triple):
    return triple[::-1]


def group(triple):
    head, relation, tail = triple
    ends = ({**OUTSIDE, **NODES}[head], {**OUTSIDE, **NODES}[tail])
    return relation, *(sorted(ends) if RELATIONS[relation][0] else ends)


def surplus_hash(triple, seed):
    low, high = sorted((triple[0], triple[2]))
    return hashlib.md5(f"{seed} surplus\t{low}\t{RELATIONS[triple[1]][1]}\t{high}".encode()).hexdigest()[:15]


def fate(triple, true):
    """Why a true negative cannot be used, or None."""
    head, _, tail = triple
    causes = {cause[1] for cause in true if triple in consequences([cause])}
    untyped = [node for node in (head, tail) if NODES.get(node, OUTSIDE.get(node)) is None]
    if head == tail:
        return "self_loop"
    if triple[1] in causes:
        return "conflict"
    if causes:
        return f"conflict:{min(causes)}"
    return f"untyped_node:{','.join(untyped)}" if untyped else None


ENDS = st.sampled_from(sorted(NODES))
TRIPLES = st.tuples(ENDS, st.sampled_from(sorted(RELATIONS)), ENDS)
FALSE_ENDS = st.sampled_from(sorted(NODES | OUTSIDE))
FALSE_TRIPLES = st.tuples(FALSE_ENDS, st.sampled_from(sorted(RELATIONS)), FALSE_ENDS)
GRAPHS = st.tuples(
    st.lists(TRIPLES.filter(lambda row: row[0] != row[2]), min_size=1, max_size=60, unique=True),
    st.lists(FALSE_TRIPLES, max_size=20, unique=True),
    st.lists(TRIPLES.filter(lambda row: row[0] != row[2]), max_size=15, unique=True),
)


@settings(max_examples=80, deadline=None)
@given(graph=GRAPHS, kind=st.sampled_from(KINDS), per_positive=st.integers(1, 3), seed=st.integers(0, 3))
def test_laws_of_negatives(engine, graph, kind, per_positive, seed):
    facts, true_negatives, others = graph
    fill(engine, facts, true_negatives, others)
    rows, shortfalls = negatives_of(engine, kind=kind, per_positive=per_positive, seed=seed)
    true = consequences([*facts, *others])
    negatives = [row[:3] for row in rows]
    drawn = {row[:3]: row[3] for row in rows if not row[4]}
    assert len(set(negatives)) == len(negatives)
    assert not true & set(negatives)
    assert not true & {reverse(triple) for triple in drawn}
    assert all(head != tail and {head, tail} <= NODES.keys() for head, _, tail in drawn)
    assert set(drawn.values()) <= {SOURCES[name] for name in KINDS[: KINDS.index(kind) + 1]}

    wanted = {name: per_positive * number for name, number in Counter(map(group, facts)).items()}
    found = Counter(map(group, negatives))
    assert found.keys() <= wanted.keys()
    assert all(found[name] <= number for name, number in wanted.items())
    either = true | set(map(reverse, true)) | set(negatives)
    either |= {reverse(triple) for triple in negatives if RELATIONS[triple[1]][0]}
    for relation, head, tail in (name for name in wanted if found[name] < wanted[name]):
        pools = [[node for node in NODES if NODES[node] == end] for end in (head, tail)]
        assert not [
            pair for pair in product(*pools) if pair[0] != pair[1] and (pair[0], relation, pair[1]) not in either
        ]
    assert list(shortfalls) == [
        Shortfall(relation=name[0], head=name[1], tail=name[2], wanted=wanted[name], found=found[name])
        for name in sorted(wanted)
        if found[name] < wanted[name]
    ]


@settings(max_examples=40, deadline=None)
@given(graph=GRAPHS, per_positive=st.integers(1, 2), draw=st.booleans())
def test_every_true_negative_has_its_fate(engine, graph, per_positive, draw):
    facts, true_negatives, others = graph
    fill(engine, facts, true_negatives, others)
    rows, _ = negatives_of(engine, per_positive=per_positive, draw=draw)
    true = set(facts) | set(others)
    implied = consequences(true)
    wanted = Counter(map(group, facts * per_positive))
    usable = defaultdict(list)
    expected = {}
    for triple in true_negatives:
        expected[triple] = fate(triple, true)
        if expected[triple] is None:
            usable[group(triple)].append(triple)
    for name, triples in usable.items():
        for triple in sorted(triples, key=lambda row: (surplus_hash(row, 1), row[0], row[2]))[wanted[name] :]:
            expected[triple] = "surplus_negative"
    sources = {
        (h, r, t): f"{'CONTRASTIVE:' if (h, RELATIONS[r][2], t) in implied else ''}of {h}" for h, r, t in true_negatives
    }
    assert {row[:3]: row[3] for row in rows if row[4]} == {
        triple: sources[triple] for triple, reason in expected.items() if reason is None
    }
    assert sorted(removed_of(engine)) == sorted(
        (*triple, f"of {triple[0]}", reason) for triple, reason in expected.items() if reason is not None
    )
    assert draw or all(row[4] for row in rows)


@settings(max_examples=12, deadline=None)
@given(graph=GRAPHS, kind=st.sampled_from(KINDS), shuffle=st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_another_relation_moves_a_negative(engine, graph, kind, shuffle):
    fill(engine, *graph)
    rows, _ = negatives_of(engine, kind=kind, per_positive=2)
    mixed = [shuffle.sample(part, len(part)) for part in graph]
    fill(engine, *mixed)
    for table in ("node", "relation", "implies", "kind"):
        engine.make(table, f"SELECT * FROM {table} ORDER BY hash60(concat_ws('-', {shuffle.random()}, {table}))")
    assert negatives_of(engine, kind=kind, per_positive=2)[0] == rows
    facts, true_negatives, others = graph
    for unrelated in ("aaa", "zzz"):
        new = [("A1", unrelated, "B1"), ("B1", unrelated, "A2"), ("A1", unrelated, "A2")]
        fill(engine, [*new, *facts], [*true_negatives, ("A1", unrelated, "B2")], others)
        again, _ = negatives_of(engine, kind=kind, per_positive=2)
        assert [row for row in again if row[1] != unrelated] == rows


@pytest.mark.parametrize("kind", KINDS)
def test_the_only_negative_there_is(engine, cases, kind):
    facts = [row[:3] for row in read_rows(cases / "c26-negatives-collide-edges.tsv")]
    nodes = dict(row[:2] for row in read_rows(cases / "c26-negatives-collide-nodes.tsv"))
    fill(engine, facts, [], nodes=nodes, unlisted={})
    for per_positive in (1, 2):
        rows, shortfalls = negatives_of(engine, kind=kind, per_positive=per_positive)
        assert [row[:3] for row in rows] == [("C:2", "DRUG_GENE", "G:2")]
        short = {"relation": "DRUG_GENE", "head": "DRUG", "tail": "GENE", "wanted": 3 * per_positive, "found": 1}
        assert shortfalls == (Shortfall(**short),)


def test_seeds_differ_and_the_kind_tells_how_a_row_was_drawn(engine):
    nodes = {f"{kind}{number:03}": kind for kind in "AB" for number in range(200)}
    facts = [(f"A{number:03}", "forth", f"B{number * number % 200:03}") for number in range(200)]
    facts += [(f"A{number:03}", "forth", f"B{(number * 7 + 3) % 200:03}") for number in range(200)]
    facts = sorted(set(facts))
    drawn = {}
    for kind, seed in product(KINDS, (1, 2)):
        fill(engine, facts, [], nodes=nodes, unlisted={})
        rows, shortfalls = negatives_of(engine, kind=kind, seed=seed)
        assert len(rows) == len(facts)
        assert not shortfalls
        assert {row[3] for row in rows} == {SOURCES[kind]}
        drawn[kind, seed] = {row[:3] for row in rows}
    assert len(set(map(frozenset, drawn.values()))) == len(drawn)
    for end in (0, 2):
        assert Counter(row[end] for row in drawn["degree", 1]) == Counter(row[end] for row in facts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "easy"}, "--negatives"),
        ({"per_positive": 0}, "--per-positive"),
        ({"per_positive": True}, "--per-positive"),
        ({"per_positive": 1.5}, "--per-positive"),
        ({"per_positive": 10**20}, "--per-positive"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        NegativeOptions(**options)


@pytest.mark.xdist_group("spark")
def test_a_cluster_gives_the_same_negatives(engine, spark):
    shuffle = random.Random(1)
    ends = list(product(NODES | OUTSIDE, RELATIONS, NODES | OUTSIDE))
    facts = [row for row in shuffle.sample(ends, 150) if {row[0], row[2]} <= NODES.keys() and row[0] != row[2]]
    graph = facts[10:], shuffle.sample(ends, 60), facts[:10]
    outcomes = []
    with open_engine("spark") as cluster:
        for tables in (engine, cluster):
            fill(tables, *graph)
            found = negatives_of(tables, kind="hard", per_positive=2)
            outcomes.append((*found, sorted(removed_of(tables))))
    assert outcomes[0] == outcomes[1]
    assert len({row[3].partition(" ")[0] for row in outcomes[0][0]}) > 2
