"""Models given as vectors: counts are those of exact scores, whatever the blocks, the threads and the order."""

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from openbiolink import evaluate, from_labelled
from openbiolink.dataset import PARTS, reindex
from openbiolink.errors import InputError
from openbiolink.evaluation import device, exact, fused, quantised
from openbiolink.evaluation.candidates import Candidates
from openbiolink.evaluation.known import find_known
from openbiolink.evaluation.vectors import (
    Queries,
    VectorModel,
    complex_bilinear,
    cp,
    distmult,
    rescal,
    rotate,
    simple,
    transe,
)
from openbiolink.progress import silent
from oracles import vectors as oracle

RELATIONS = ("r", "s", "t")


def floats(generator, *shape, kind):
    """Numbers as models have them, or small whole ones, which give many equal scores, or of all sizes."""
    if kind == "whole":
        return generator.integers(-2, 3, shape).astype(np.float32)
    drawn = generator.standard_normal(shape)
    if kind == "near":  # all rows are the same but for the last bits, which a float32 product cannot tell apart
        return np.nextafter(np.float32(drawn[:1]), generator.integers(-2, 3, shape).astype(np.float32))
    return (drawn * 10.0 ** generator.integers(-6, 7, (shape[0], 1)) if kind == "wild" else drawn).astype(np.float32)


def build(name, generator, number, size, kind):
    """A model by name, and its oracle: a function of three ids."""

    def draw(*shape):
        return floats(generator, *shape, kind=kind)

    count = len(RELATIONS)
    entities, relations = draw(number, size), draw(count, size)
    e, r = entities.astype(float).tolist(), relations.astype(float).tolist()
    if name == "distmult":
        return distmult(entities, relations), lambda h, p, t: oracle.distmult(e[h], r[p], e[t])
    if name == "complex":
        return complex_bilinear(entities, relations), lambda h, p, t: oracle.complex_bilinear(e[h], r[p], e[t])
    if name == "rescal":
        matrices = draw(count, size * size)
        m = matrices.astype(float).tolist()
        return rescal(entities, matrices), lambda h, p, t: oracle.rescal(e[h], m[p], e[t])
    if name == "cp":
        tails = draw(number, size)
        o = tails.astype(float).tolist()
        return cp(entities, relations, tails), lambda h, p, t: oracle.distmult(e[h], r[p], o[t])
    if name == "simple":
        tails, inverses = draw(number, size), draw(count, size)
        o, i = tails.astype(float).tolist(), inverses.astype(float).tolist()
        model = simple(entities, tails, relations, inverses)
        return model, lambda h, p, t: oracle.simple(e[h], o[h], r[p], i[p], e[t], o[t])
    if name.startswith("transe"):
        norm = int(name[-1])
        return transe(entities, relations, norm=norm), lambda h, p, t: oracle.transe(e[h], r[p], e[t], norm)
    form, kind_of_turn = name.split("-")[1:]
    turns = draw(count, size // 2)
    if kind_of_turn != "angles":
        angles = turns.astype(float)
        lengths = generator.choice([0.25, 0.5, 2.0, 3.0], (count, 1)) if kind_of_turn == "lengths" else 1.0
        lengths = lengths * generator.uniform(0.9, 1.1, angles.shape) ** generator.integers(0, 2, (count, 1))
        turns = np.hstack([lengths * np.cos(angles), lengths * np.sin(angles)]).astype(np.float32)
    w = turns.astype(float).tolist()
    return rotate(entities, turns, form=form), lambda h, p, t: oracle.rotate(e[h], w[p], e[t], form)


NAMES = [
    *("distmult", "complex", "rescal", "cp", "simple", "transe-1", "transe-2"),
    *(f"rotate-{form}-{turn}" for form in ("modulus", "l2") for turn in ("angles", "numbers", "lengths")),
]


def graph(generator, number, test):
    names = [f"e{place:05}" for place in range(number)]

    def triples(count):
        ends = generator.integers(0, number, (count, 2))
        return [(names[h], RELATIONS[generator.integers(3)], names[t]) for h, t in ends]

    test_triples = sorted(set(triples(test)))
    ring = [(names[i], relation, names[i - 1]) for i in range(number) for relation in RELATIONS[:1]]
    train = sorted({*ring, *triples(5 * test), *((names[0], relation, names[1]) for relation in RELATIONS)})
    return from_labelled(
        train=[triple for triple in train if triple not in set(test_triples)],
        valid=[],
        test=test_triples,
        entities=names,
        relations=RELATIONS,
    )


def counts(model, dataset, **options):
    result = evaluate(model, dataset, unseen="keep", **options)
    return result.better, result.equal


@pytest.mark.parametrize("kind", ["normal", "whole", "wild"])
@pytest.mark.parametrize("name", NAMES)
def test_counts_are_those_of_the_formula(name, kind):
    generator = np.random.default_rng([NAMES.index(name), len(kind)])
    dataset = graph(generator, 60, 40)
    model, score = build(name, generator, 60, 20, kind)
    better, equal = counts(model, dataset)
    every = [tuple(triple) for part in ("train", "valid", "test") for triple in dataset.part(part).tolist()]
    for row, (h, r, t) in enumerate(dataset.test.tolist()):
        heads = [score(entity, r, t) for entity in range(60)]
        tails = [score(h, r, entity) for entity in range(60)]
        known = ({a for a, b, c in every if (b, c) == (r, t)}, {c for a, b, c in every if (a, b) == (h, r)})
        for side, (scores, answer) in enumerate(((heads, h), (tails, t))):
            slack = 1e-13 * max(map(abs, scores)) * (name != "distmult" or kind != "whole")
            least, most, same, near = oracle.counts(scores, answer, known[side], slack)
            assert least <= better[row, side] <= most
            assert (same if slack == 0 else 0) <= equal[row, side] <= near


@settings(deadline=None, max_examples=15)
@given(
    name=st.sampled_from(["distmult", "transe-1", "transe-2", "rotate-modulus-numbers", "rotate-modulus-lengths"]),
    seed=st.integers(0, 1000),
    kind=st.sampled_from(["normal", "whole", "wild"]),
    rows=st.sampled_from([1, 3, 64]),
    columns=st.sampled_from([1, 7, 64]),
)
def test_blocks_and_threads_change_nothing(name, seed, kind, rows, columns):
    generator = np.random.default_rng(seed)
    dataset = graph(generator, 50, 30)
    model, _ = build(name, generator, 50, 12, kind)
    better, equal = counts(model, dataset)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fused, "QUERIES", rows)
        patch.setattr(fused, "CANDIDATES", columns)
        patch.setattr(fused, "processors", lambda: 1 + seed % 3)
        again = counts(model, dataset)
    assert (again[0] == better).all()
    assert (again[1] == equal).all()


def sets_of(dataset, generator):
    """Three sets of candidates, one of them empty, and all entities; which relation has which is drawn."""
    sets = tuple(np.unique(generator.integers(0, dataset.num_entities, size)) for size in (20, 5, 0))
    of = {side: generator.integers(-1, len(sets), dataset.num_relations) for side in ("head", "tail")}
    return Candidates(
        kind="typed", names=("A", "B", "C"), sets=sets, of=of, sums=("", "", ""), relations=dataset.relations
    )


def defined(model):
    """A scorer that gives all scores of a batch as they are defined, one after the other."""
    score = exact.SCORES[model.form]

    def scores(side, given, relation):
        asked = model.query(side, np.array([given]), np.array([relation]))
        weights = exact.weights_of(asked)[0]
        return [score(asked.vectors[0], weights, candidate) for candidate in model.candidates[side]]

    return lambda batch: ([scores("head", t, r) for _, r, t in batch], [scores("tail", h, r) for h, r, _ in batch])


@settings(deadline=None, max_examples=20)
@given(
    name=st.sampled_from(NAMES),
    seed=st.integers(0, 1000),
    kind=st.sampled_from(["normal", "whole", "wild", "near"]),
    parts=st.sampled_from([PARTS, ("train",), ()]),
    has_sets=st.booleans(),
)
def test_counts_are_those_of_the_defined_scores(name, seed, kind, parts, has_sets):
    generator = np.random.default_rng(seed)
    dataset = graph(generator, 50, 30)
    model, _ = build(name, generator, 50, 12, kind)
    options = {"filter_parts": parts, "candidates": sets_of(dataset, generator) if has_sets else None}
    options |= {"unseen": "keep"}
    found, wanted = (evaluate(one, dataset, **options) for one in (model, defined(model)))
    assert (found.better == wanted.better).all()
    assert (found.equal == wanted.equal).all()
    assert (found.candidates == wanted.candidates).all()
    assert (found.better + found.equal < found.candidates).all()
    assert found.candidate_set["kind"] == ("typed" if has_sets else "all")


def test_scores_of_triples_are_those_of_their_tails():
    generator = np.random.default_rng(7)
    for name in NAMES:
        model, _ = build(name, generator, 9, 6, "normal")
        triples = generator.integers(0, [9, 3, 9], (20, 3))
        tails = defined(model)(triples)[1]
        assert exact.score_triples(model, triples).tolist() == [
            row[t] for row, t in zip(tails, triples[:, 2], strict=True)
        ]


@settings(deadline=None, max_examples=10)
@given(
    name=st.sampled_from(["distmult", "complex", "transe-1", "transe-2"]),
    seed=st.integers(0, 1000),
    kind=st.sampled_from(["normal", "wild"]),
    of=st.integers(1, 4),
)
def test_shards_add_up_and_entities_may_be_in_any_order(name, seed, kind, of):
    generator = np.random.default_rng(seed)
    dataset = graph(generator, 50, 30)
    order = generator.permutation(50)
    entities, relations = (floats(generator, number, 12, kind=kind) for number in (50, 3))
    make = {"distmult": distmult, "complex": complex_bilinear}.get(name) or partial(transe, norm=int(name[-1]))
    better, equal = counts(make(entities, relations), dataset)
    known = {side: find_known(dataset, side, PARTS) for side in ("head", "tail")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fused, "QUERIES", 3)
        given = (make(entities, relations), dataset, dataset.test, known)
        parts = [
            fused.count_vectors(*given, shard=fused.Shard(number=number, of=of), progress=silent)
            for number in range(of)
        ]
    assert (sum(part[0] for part in parts) == better).all()
    assert (sum(part[1] for part in parts) == equal).all()
    moved = reindex(dataset, entities=[dataset.entities[old] for old in order], relations=dataset.relations)
    again = counts(make(entities[order], relations), moved)
    assert (again[0] == better).all()
    assert (again[1] == equal).all()


def test_weights_of_any_size_are_in_the_band():
    generator = np.random.default_rng(6)
    dataset = graph(generator, 60, 40)
    for form in ("l1", "l2", "modulus"):
        for spread in (0.0, 0.01, 1.0, 3.0):
            table = generator.standard_normal((60, 12), dtype=np.float32)
            weights = np.exp(spread * generator.standard_normal((3, 6)) + generator.normal()) * (
                generator.random() > 0.1
            )

            def query(side, given, relation, table=table, weights=weights):
                found = np.tile(weights[relation], 2)
                return Queries(vectors=table[given] + relation[:, np.newaxis] / 4, weights=found)

            model = VectorModel(
                name="weighted", form=form, candidates={"head": table, "tail": table}, query=query, num_relations=3
            )
            better, equal = counts(model, dataset)
            for backend in (None, device.device_backend("cpu")):
                with pytest.MonkeyPatch.context() as patch:  # every pair is worked out exactly
                    patch.setattr(fused, "UNIT", 1e9)
                    again = counts(model, dataset, backend=backend)
                assert (again[0] == better).all()
                assert (again[1] == equal).all()


def test_equal_vectors_have_equal_scores():
    generator = np.random.default_rng(1)
    dataset = graph(generator, 60, 40)
    entities = np.tile(generator.standard_normal((20, 33), dtype=np.float32), (3, 1))
    for model in (
        distmult(entities, generator.standard_normal((3, 33), dtype=np.float32)),
        transe(entities, generator.standard_normal((3, 33), dtype=np.float32), norm=1),
    ):
        result = evaluate(model, dataset, unseen="keep", filter_parts=())
        assert (result.equal == 2).all()


def test_numbers_that_overflow_float32_are_still_ranked():
    generator = np.random.default_rng(2)
    dataset = graph(generator, 60, 40)
    model, _ = build("distmult", generator, 60, 8, "whole")
    large = distmult(model.candidates["tail"] * np.float32(2.0**100), np.full((3, 8), 2.0**60, np.float32))
    small = distmult(model.candidates["tail"], np.ones((3, 8), np.float32))
    assert (counts(large, dataset)[0] == counts(small, dataset)[0]).all()
    assert (counts(large, dataset)[1] == counts(small, dataset)[1]).all()


def test_numbers_that_underflow_float32_are_still_ranked():
    generator = np.random.default_rng(2)
    dataset = graph(generator, 60, 40)
    entities = generator.standard_normal((60, 8)).astype(np.float32)
    relations = np.full((3, 8), 2.0**-149, np.float32)
    result = counts(distmult(entities * np.float32(2.0**20), relations), dataset)
    for backend in (None, device.device_backend("cpu"), quantised.quantised_backend()):
        again = counts(distmult(entities, np.ones((3, 8), np.float32)), dataset, backend=backend)
        assert (result[0] == again[0]).all()
        assert (result[1] == again[1]).all()
        assert (
            counts(distmult(entities * np.float32(2.0**20), relations), dataset, backend=backend)[0] == result[0]
        ).all()


def test_a_sample_has_the_ranks_of_the_whole():
    generator = np.random.default_rng(3)
    dataset = graph(generator, 60, 40)
    model, _ = build("transe-2", generator, 60, 8, "normal")
    whole = evaluate(model, dataset, unseen="keep")
    part = evaluate(model, dataset, unseen="keep", sample=11, seed=5)
    row = {tuple(triple): number for number, triple in enumerate(whole.triples.tolist())}
    own = [row[tuple(triple)] for triple in part.triples.tolist()]
    assert len(set(own)) == 11
    assert (whole.better[own] == part.better).all()
    assert (part.sample.population, part.sample.seed) == (len(whole.triples), 5)


@settings(deadline=None, max_examples=12)
@given(name=st.sampled_from(NAMES), seed=st.integers(0, 1000), kind=st.sampled_from(["near", "whole", "wild"]))
def test_a_device_of_pytorch_gives_the_same_counts(name, seed, kind):
    generator = np.random.default_rng(seed)
    dataset = graph(generator, 50, 30)
    model, _ = build(name, generator, 50, 22, kind)
    better, equal = counts(model, dataset)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device, "QUESTIONS", 7)
        patch.setattr(device, "PAIRS", 64)
        patch.setattr(device, "PLAIN", 24 * 2 * 7 * 1024)
        again = counts(model, dataset, backend=device.device_backend("cpu"))
    assert (again[0] == better).all()
    assert (again[1] == equal).all()


def test_scores_of_a_device_have_the_same_bits():
    generator = np.random.default_rng(4)
    for form in ("dot", "l1", "l2"):
        score = exact.SCORES[form]
        query, weights = generator.standard_normal(38), generator.random(38)
        candidate = generator.standard_normal(38, dtype=np.float32)
        arrays = (torch.from_numpy(array[np.newaxis].astype(np.float64)) for array in (query, weights, candidate))
        assert float(device._exact(torch, form, *arrays)[0]) == score(query, weights, candidate)


def test_devices_that_are_not_there_are_refused():
    for name in ("cuda:77", "abacus"):
        with pytest.raises(InputError, match=f"device '{name}' is not there"):
            device.device_backend(name)


@settings(deadline=None, max_examples=12)
@given(
    name=st.sampled_from(["distmult", "complex", "rescal", "transe-2"]),
    seed=st.integers(0, 1000),
    kind=st.sampled_from(["normal", "near", "wild"]),
    limit=st.sampled_from([0.0, 0.03, 2.0]),
)
def test_a_first_pass_in_whole_numbers_gives_the_same_counts(name, seed, kind, limit):
    generator = np.random.default_rng(seed)
    dataset = graph(generator, 70, 30)
    model, _ = build(name, generator, 70, 22 if name == "complex" else 1 + seed % 22, kind)
    better, equal = counts(model, dataset)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantised, "LIMIT", limit)
        patch.setattr(quantised, "CANDIDATES", 16)
        patch.setattr(fused, "CANDIDATES", 16)
        again = counts(model, dataset, backend=quantised.quantised_backend())
    assert (again[0] == better).all()
    assert (again[1] == equal).all()


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10_000), spread=st.integers(0, 6))
def test_whole_numbers_are_within_their_bound(seed, spread):
    generator = np.random.default_rng(seed)
    rows = (generator.standard_normal((9, 31)) * 10.0 ** generator.integers(-spread, spread + 1, (9, 31))).astype("f4")
    numbers, units, lengths, rests = quantised._quantise_rows(torch, rows)
    gaps = rows.astype(float) - units[:, np.newaxis].astype(float) * numbers.numpy()
    assert (np.linalg.norm(gaps, axis=1) <= rests * 1.001).all()
    assert (np.linalg.norm(rows.astype(float), axis=1) <= lengths).all()
