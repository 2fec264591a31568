"""Files of other programs: whatever the order of their ids, ranks are those of the formula; all else is refused."""

import dataclasses
import gzip
import json
import os
import pickle
import sys
import types
from functools import partial

import duckdb
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from openbiolink import evaluate, from_labelled
from openbiolink.cli import app
from openbiolink.errors import InputError, ScoreError
from openbiolink.evaluation.models import FORMATS, evaluate_ranks, load_scorer, read_model
from openbiolink.evaluation.models.embeddings import KINDS
from openbiolink.evaluation.models.maps import read_labels
from openbiolink.evaluation.rankfile import write_ranks as write_kept
from openbiolink.metrics import TIES
from oracles import vectors as oracle

ENTITIES = [f"e{number:02}" for number in range(11)]
RELATIONS = ["r", "s"]
SIDES = ("head", "tail")
SIZE = 6


def make_graph(tmp_path=None):
    generator = np.random.default_rng(3)
    triples = sorted(
        {(ENTITIES[h], RELATIONS[r], ENTITIES[t]) for h, t, r in generator.integers(0, (11, 11, 2), (60, 3))}
    )
    ring = {(ENTITIES[i], RELATIONS[i % 2], ENTITIES[i - 1]) for i in range(11)}
    test = [triple for triple in triples[::3] if triple not in ring]
    parts = {"train": sorted(ring | set(triples) - set(test)), "valid": [], "test": test}
    if tmp_path is not None:
        for part, rows in parts.items():
            (tmp_path / f"{part}.txt").write_text("".join("\t".join(row) + "\n" for row in rows))
    return from_labelled(**parts)


GRAPH = make_graph()


def counts(model, dataset=GRAPH):
    result = evaluate(model, dataset)
    return result.better.tolist(), result.equal.tolist()


def expected_counts(score, dataset=GRAPH):
    """Better and equal by brute force; `score` is a function of three labels, and of the side that is asked for."""
    every = {dataset.label(triple) for part in ("train", "valid", "test") for triple in dataset.part(part)}
    better, equal = [], []
    for triple in dataset.test:
        h, r, t = dataset.label(triple)
        row = []
        for side in SIDES:
            made = [(e, r, t) if side == "head" else (h, r, e) for e in dataset.entities]
            own = score(h, r, t, side)
            others = [score(*one, side) for one in made if one not in every]
            row.append((sum(x > own for x in others), sum(x == own for x in others)))
        better.append([row[0][0], row[1][0]])
        equal.append([row[0][1], row[1][1]])
    return better, equal


def write_map(path, labels, *, turned=False, header=""):
    rows = [(str(number), label) for number, label in enumerate(labels)]
    path.write_text(header + "".join("\t".join(row[::-1] if turned else row) + "\n" for row in rows))


def drawn(seed=0):
    """Parameters of every kind, in the order of the labels above."""
    generator = np.random.default_rng(seed)
    shapes = {"entities": (11, SIZE), "tails": (11, SIZE), "relations": (2, SIZE), "inverses": (2, SIZE)}
    return {name: generator.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def arrays_of(kind, seed=0):
    arrays = {name: table for name, table in drawn(seed).items() if name in KINDS[kind][1]}
    if kind == "rescal":
        arrays["relations"] = np.random.default_rng(seed).standard_normal((2, SIZE, SIZE)).astype(np.float32)
    if kind == "rotate":
        arrays["relations"] = arrays["relations"][:, : SIZE // 2].copy()
    return arrays


def save_arrays(folder, arrays, *, entities=ENTITIES, relations=RELATIONS, packed=False, **options):
    """Write arrays, whose rows follow the labels above, in the order of the labels given."""
    folder.mkdir(exist_ok=True)
    moved = {}
    for name, table in arrays.items():
        known, wanted = (RELATIONS, relations) if name in {"relations", "inverses"} else (ENTITIES, entities)
        moved[name] = table[[known.index(label) for label in wanted]]
    if packed:
        save_file({name: torch.from_numpy(table) for name, table in moved.items()}, folder / "model.safetensors")
    else:
        for name, table in moved.items():
            np.save(folder / f"{name}.npy", table)
    write_map(folder / "entities.tsv", entities, **options)
    write_map(folder / "relations.tsv", relations, **options)
    return folder


def read(folder, kind, **options):
    return read_model("embeddings", folder, GRAPH, model=kind, **options)


# maps


CELLS = st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"])
LABEL = st.text(CELLS, min_size=1, max_size=6) | st.text("01ab", min_size=1, max_size=3)


@settings(deadline=None, max_examples=25)
@given(labels=st.lists(LABEL, min_size=1, max_size=8, unique=True), turned=st.booleans(), seed=st.integers(0, 99))
def test_a_map_is_read_in_whichever_order_its_columns_and_rows_are(tmp_path_factory, labels, turned, seed):
    path = tmp_path_factory.mktemp("map") / "map.tsv.gz"
    rows = [(str(number), label) for number, label in enumerate(labels)]
    np.random.default_rng(seed).shuffle(rows)
    words = ("label", "id") if turned else ("id", "label")
    for header in ("\t".join(words) + "\n", ""):
        text = header + "".join("\t".join(row[::-1] if turned else row) + "\n" for row in rows)
        path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + text.encode()))
        if header or not all(label.isdecimal() for label in labels):
            assert read_labels(path) == tuple(labels)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "no rows"),
        ("id\tlabel\n", "no rows"),
        ("0\ta\n1\tb\tc\n", "line 2: expected an id and a label"),
        ("0 a\n", "line 1: expected an id and a label"),
        ("0\ta\n\n1\tb\n", "line 2: expected an id"),
        ("a\tb\n", "neither column holds ids"),
        ("0\ta\n0\tb\n", "id 0 is in line 1 and in line 2"),
        ("0\ta\n2\tb\n", "line 2 has id 2, but there are 2 rows"),
        ("a\t1\nb\t2\n", "line 2 has id 2"),
        ("0\ta\nx\tb\n1\tc\n", "line 2 has 'x'"),
        ("0\ta\n" + "9" * 5000 + "\tb\n", "line 2 has '999"),
        ("0\ta\n1\ta\n", "line 2: 'a' is in line 1 already"),
        ("0\t1\n1\t2\n2\t0\n", "both columns hold 0 to 2"),
        ("id\tlabel\n0\ta\n01\tb\n", "line 3 has '01'"),
    ],
)
def test_a_broken_map_is_refused_with_its_line(tmp_path, text, fault):
    path = tmp_path / "map.tsv"
    path.write_text(text)
    with pytest.raises(InputError, match=fault) as caught:
        read_labels(path)
    assert "\n" not in str(caught.value)


def test_columns_that_may_both_be_ids_are_told_by_a_header(tmp_path):
    path = tmp_path / "map.tsv"
    path.write_text("0\t1\n1\t0\n")  # the same both ways
    assert read_labels(path) == ("1", "0")
    for header, labels in (("id\tlabel\n", ("1", "2", "0")), ("label\tid\n", ("2", "0", "1"))):
        path.write_text(header + "0\t1\n1\t2\n2\t0\n")
        assert read_labels(path) == labels


# arrays


@pytest.mark.parametrize("kind", KINDS)
def test_ranks_do_not_depend_on_the_ids_of_the_model(tmp_path, kind):
    build, names = KINDS[kind]
    arrays = arrays_of(kind)
    expected = counts(build(*(arrays[name] for name in names)))
    generator = np.random.default_rng(1)
    for number, packed in enumerate((False, True)):
        entities = list(generator.permutation(ENTITIES))
        folder = save_arrays(
            tmp_path / str(number), arrays, entities=entities, relations=RELATIONS[::-1], packed=packed, turned=packed
        )
        assert counts(read(folder, kind)) == expected


def test_rows_of_nothing_in_the_data_set_are_no_candidates_and_noted(tmp_path):
    arrays = drawn()
    expected = counts(KINDS["distmult"][0](arrays["entities"], arrays["relations"]))
    folder = tmp_path / "more"
    folder.mkdir()
    np.save(folder / "entities.npy", np.vstack([np.full((1, SIZE), np.nan, np.float32), arrays["entities"]]))
    np.save(folder / "relations.npy", arrays["relations"])
    write_map(folder / "entities.tsv", ["elsewhere", *ENTITIES])
    write_map(folder / "relations.tsv", RELATIONS)
    notes = []
    assert counts(read(folder, "distmult", note=notes.append)) == expected
    assert [note.partition(": ")[2] for note in notes] == [
        "1 entities of the model, 'elsewhere' first, are not in the data set and are left out"
    ]


def test_missing_entities_and_relations_are_refused(tmp_path):
    arrays = {name: table for name, table in drawn().items() if name in KINDS["distmult"][1]}
    folder = save_arrays(tmp_path / "m", arrays)
    write_map(folder / "entities.tsv", [*ENTITIES[:-2], "x", "y"])
    with pytest.raises(InputError, match="lacks 2 of the 11 entities of the data set, entity 'e09' first"):
        read(folder, "distmult")
    write_map(folder / "entities.tsv", ENTITIES)
    write_map(folder / "relations.tsv", ["r", "q"])
    with pytest.raises(InputError, match="lacks 1 of the 2 relations of the data set, relation 's' first"):
        read(folder, "distmult")


@pytest.mark.parametrize("kind", [np.float16, np.float64, np.int8, ">f4", "bfloat16"])
def test_numbers_that_float32_holds_are_widened_exactly(tmp_path, kind):
    arrays = {name: np.round(table * 4) / 4 for name, table in drawn().items() if name in KINDS["distmult"][1]}
    if kind is np.int8:
        arrays = {name: np.round(table) for name, table in arrays.items()}
    expected = counts(KINDS["distmult"][0](arrays["entities"], arrays["relations"]))
    if kind == "bfloat16":
        folder = save_arrays(tmp_path / "m", {})
        tensors = {name: torch.from_numpy(table).bfloat16() for name, table in arrays.items()}
        save_file(tensors | {"relations": tensors["relations"].half()}, folder / "x.safetensors")
    else:
        folder = save_arrays(tmp_path / "m", {name: table.astype(kind) for name, table in arrays.items()})
    assert counts(read(folder, "distmult")) == expected


def test_complex_numbers_are_split_in_parts(tmp_path):
    generator = np.random.default_rng(0)
    made = {name: generator.standard_normal((n, 3)) + 1j * generator.standard_normal((n, 3)) for name, n in
            (("entities", 11), ("relations", 2))}  # fmt: skip
    made = {name: table.astype(np.complex64) for name, table in made.items()}
    made["relations"] /= np.abs(made["relations"])
    folder = save_arrays(tmp_path / "m", made)
    plain = {name: np.hstack([table.real, table.imag]) for name, table in made.items()}
    for kind in ("complex", "rotate"):
        assert counts(read(folder, kind)) == counts(KINDS[kind][0](plain["entities"], plain["relations"]))
    whole = expected_counts(
        lambda h, r, t, side: oracle.rotate(
            plain["entities"][int(h[1:])].tolist(), plain["relations"][RELATIONS.index(r)].tolist(),
            plain["entities"][int(t[1:])].tolist(), "l2",
        )
    )  # fmt: skip
    assert counts(read(folder, "rotate", norm=2)) == whole
    with pytest.raises(InputError, match="complex numbers"):
        read(folder, "distmult")


def bad_array(folder, name):
    return {
        "float64": lambda: np.save(folder / name, np.full((11, SIZE), 0.1)),
        "rows": lambda: np.save(folder / name, np.zeros((10, SIZE), np.float32)),
        "flat": lambda: np.save(folder / name, np.zeros(11, np.float32)),
        "text": lambda: np.save(folder / name, np.full((11, SIZE), "a")),
        "nan": lambda: np.save(folder / name, np.full((11, SIZE), np.nan, np.float32)),
        "width": lambda: np.save(folder / name, np.zeros((11, SIZE + 1), np.float32)),
        "damaged": lambda: (folder / name).write_bytes(b"\x93NUMPY\x01\x00"),
        "absent": (folder / name).unlink,
        "packed too": lambda: save_file({"entities": torch.zeros(11, SIZE)}, folder / "a.safetensors"),
        "further": lambda: np.save(folder / "tails.npy", np.zeros((11, SIZE), np.float32)),
        "no map": (folder / "entities.tsv").unlink,
    }


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("float64", "would be rounded"), ("rows", "its id map has 11 rows"), ("flat", "has shape"),
        ("text", "is no parameter"), ("nan", "NaN or infinity"), ("width", "do not fit"), ("damaged", "no array"),
        ("absent", "has no entities.npy"), ("packed too", "keep the one that is meant"),
        ("further", "tails is no part of distmult"), ("no map", "--entity-map"),
    ],
)  # fmt: skip
def test_arrays_that_do_not_fit_are_refused(tmp_path, fault, words):
    folder = save_arrays(
        tmp_path / "m", {name: table for name, table in drawn().items() if name in KINDS["distmult"][1]}
    )
    bad_array(folder, "entities.npy")[fault]()
    with pytest.raises(InputError, match=words) as caught:
        read(folder, "distmult")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [None, "transe"])
def test_an_unknown_model_is_refused(tmp_path, kind):
    folder = save_arrays(tmp_path / "m", {})
    with pytest.raises(InputError, match="--model with one of distmult"):
        read(folder, kind)
    with pytest.raises(InputError, match="only rotate has a norm"):
        read(folder, "transe-l1", norm=2)
    with pytest.raises(InputError, match="no such folder"):
        read(tmp_path / "n", "distmult")
    (tmp_path / "m" / "x.safetensors").write_bytes(b"no header")
    with pytest.raises(InputError, match="no file of tensors"):
        read(folder, "distmult")


class Mark:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


def test_an_array_of_objects_is_not_unpickled(tmp_path):
    folder = save_arrays(
        tmp_path / "m", {name: table for name, table in drawn().items() if name in KINDS["distmult"][1]}
    )
    np.save(folder / "entities.npy", np.array([[Mark(tmp_path / "run")]], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="no array of numbers"):
        read(folder, "distmult")
    assert not (tmp_path / "run").exists()


# DGL-KE

ANGLE = np.pi / ((12.0 + 2.0) / 3)  # of gamma 12 and hidden_dim 3
DGLKE = {
    "TransE": lambda h, r, t: oracle.transe(h, r, t, 2),
    "TransE_l1": lambda h, r, t: oracle.transe(h, r, t, 1),
    "TransE_l2": lambda h, r, t: oracle.transe(h, r, t, 2),
    "DistMult": oracle.distmult,
    "ComplEx": oracle.complex_bilinear,
    "RESCAL": oracle.rescal,
    "RotatE": lambda h, r, t: oracle.rotate(h, [angle * ANGLE for angle in r], t, "modulus"),
    "SimplE": lambda h, r, t: oracle.simple(h[:3], h[3:], r[:3], r[3:], t[:3], t[3:]),
}


def save_dglke(folder, name, *, config=None):
    generator = np.random.default_rng(len(name))
    sizes = {"RESCAL": SIZE * SIZE, "RotatE": SIZE // 2}
    entities = generator.standard_normal((11, SIZE)).astype(np.float32)
    relations = generator.standard_normal((2, sizes.get(name, SIZE))).astype(np.float32)
    folder.mkdir()
    np.save(folder / f"toy_{name}_entity.npy", entities[::-1])
    np.save(folder / f"toy_{name}_relation.npy", relations)
    write_map(folder / "entities.tsv", ENTITIES[::-1])
    write_map(folder / "relations.tsv", RELATIONS)
    given = {"model_name": name, "hidden_dim": 3, "gamma": 12.0} if config is None else config
    (folder / "config.json").write_text(json.dumps(given))
    return entities.astype(float).tolist(), relations.astype(float).tolist()


def by_label(formula, entities, relations):
    return lambda h, r, t, side: formula(entities[int(h[1:])], relations[RELATIONS.index(r)], entities[int(t[1:])])


@pytest.mark.parametrize("name", DGLKE)
def test_dglke_ranks_are_those_of_its_formula(tmp_path, name):
    tables = save_dglke(tmp_path / "m", name)
    assert counts(read_model("dglke", tmp_path / "m", GRAPH)) == expected_counts(by_label(DGLKE[name], *tables))


def test_dglke_maps_may_be_those_that_its_configuration_names(tmp_path):
    config = {"model": "DistMult", "emb_size": 6, "emap_file": "/elsewhere/e.map", "rmap_file": "r.map"}
    save_dglke(tmp_path / "m", "DistMult", config=config)
    expected = counts(read_model("dglke", tmp_path / "m", GRAPH))
    (tmp_path / "m" / "entities.tsv").rename(tmp_path / "m" / "e.map")
    (tmp_path / "m" / "relations.tsv").rename(tmp_path / "r.tsv")
    write_map(tmp_path / "m" / "entities.tsv", ENTITIES)  # of something else
    assert counts(read_model("dglke", tmp_path / "m", GRAPH, relation_map=tmp_path / "r.tsv")) == expected


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"model_name": "TransR"}, "model 'TransR' cannot be evaluated here"),
        ({"model_name": "ConvE"}, "there are TransE, TransE_l1"),
        ({}, "model None"),
        ({"model_name": ["RotatE"]}, "cannot be evaluated here"),
        ({"model_name": "RotatE", "hidden_dim": 3}, "gamma is None"),
        ({"model_name": "RotatE", "hidden_dim": 6, "gamma": 12}, "do not fit relations of 3 angles"),
        ({"model_name": "DistMult"}, "expected one file NAME_DistMult_entity.npy"),
        ([], "no JSON object"),
    ],
)
def test_dglke_folders_that_cannot_be_used_are_refused(tmp_path, config, words):
    save_dglke(tmp_path / "m", "RotatE", config=config)
    with pytest.raises(InputError, match=words):
        read_model("dglke", tmp_path / "m", GRAPH)
    (tmp_path / "m" / "config.json").write_text("{")
    with pytest.raises(InputError, match="is no JSON"):
        read_model("dglke", tmp_path / "m", GRAPH)
    (tmp_path / "m" / "config.json").unlink()
    with pytest.raises(InputError, match=r"has no config\.json"):
        read_model("dglke", tmp_path / "m", GRAPH)


# LibKGE

LIBKGE = {
    "distmult": (oracle.distmult, SIZE, {}),
    "complex": (oracle.complex_bilinear, SIZE, {}),
    "rescal": (oracle.rescal, SIZE * SIZE, {}),
    "cp": (lambda h, r, t: oracle.distmult(h[:3], r, t[3:]), 3, {}),
    "simple": (lambda h, r, t: oracle.simple(h[:3], h[3:], r[:3], r[3:], t[:3], t[3:]), SIZE, {}),
    "transe": (lambda h, r, t: oracle.transe(h, r, t, 1), SIZE, {"l_norm": 1.0}),
    "rotate": (lambda h, r, t: oracle.rotate(h, r, t, "l2"), 3, {"l_norm": 2.0}),
}


@pytest.fixture
def config_class(monkeypatch):
    """A class of the place and name of LibKGE's configuration, which is on no registry."""
    module = types.ModuleType("kge.config")

    class Config:
        pass

    Config.__module__, Config.__qualname__ = "kge.config", "Config"
    module.Config = Config
    monkeypatch.setitem(sys.modules, "kge", types.ModuleType("kge"))
    monkeypatch.setitem(sys.modules, "kge.config", module)
    return Config


def save_libkge(path, name, config_class, *, twice=False, old=False, packaged=True, **more):
    """A checkpoint in LibKGE's layout, and its tables."""
    _, size, options = LIBKGE.get(name, (None, SIZE, {}))
    generator = np.random.default_rng(len(name))
    entities = generator.standard_normal((11, SIZE)).astype(np.float32)
    relations = generator.standard_normal((2 * (1 + twice), size)).astype(np.float32)
    embedder = {"type": "lookup_embedder", "dim": SIZE}
    own = {**options, "entity_embedder": embedder, "relation_embedder": embedder}
    config = config_class()
    config.folder, config.options = None, {"model": name, name: own}
    if twice:
        config.options["model"] = "reciprocal_relations_model"
        config.options["reciprocal_relations_model"] = {"base_model": {"type": name}}
    prefix = "_base_model." if twice else ""
    weight = "embeddings.weight" if old else "_embeddings.weight"
    state = {
        f"{prefix}_entity_embedder.{weight}": torch.from_numpy(entities[::-1].copy()),
        f"{prefix}_relation_embedder.{weight}": torch.from_numpy(relations),
    }
    checkpoint = {"type": "package", "model": (state, {}), "config": config, "epoch": 3, "valid_trace": [{"mrr": 0.5}]}
    if packaged:
        meta = {"entity_ids": ENTITIES[::-1], "relation_ids": RELATIONS}
        checkpoint["dataset"] = {"num_entities": 11, "num_relations": 2, "meta": meta}
    torch.save(checkpoint | more, path)
    return entities.astype(float).tolist(), relations.astype(float).tolist()


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("name", LIBKGE)
def test_libkge_ranks_are_those_of_its_formula(tmp_path, config_class, name, twice):
    entities, relations = save_libkge(tmp_path / "c.pt", name, config_class, twice=twice, old=name == "cp")
    formula = LIBKGE[name][0]

    def score(h, r, t, side):
        head, number, tail = entities[int(h[1:])], RELATIONS.index(r), entities[int(t[1:])]
        return (
            formula(tail, relations[number + 2], head)
            if twice and side == "head"
            else formula(head, relations[number], tail)
        )

    del sys.modules["kge.config"]  # it is read where LibKGE is not installed
    assert counts(read_model("libkge", tmp_path / "c.pt", GRAPH)) == expected_counts(score)


def test_libkge_labels_may_come_from_the_data_set_it_was_trained_on(tmp_path, config_class):
    save_libkge(tmp_path / "packaged.pt", "distmult", config_class)
    expected = counts(read_model("libkge", tmp_path / "packaged.pt", GRAPH))
    save_libkge(tmp_path / "c.pt", "distmult", config_class, packaged=False)
    with pytest.raises(InputError, match=r"has no entity_ids\.del"):
        read_model("libkge", tmp_path / "c.pt", GRAPH)
    write_map(tmp_path / "entity_ids.del", ENTITIES[::-1])
    write_map(tmp_path / "entities.tsv", ENTITIES)  # of something else
    write_map(tmp_path / "other.del", RELATIONS)
    assert counts(read_model("libkge", tmp_path / "c.pt", GRAPH, relation_map=tmp_path / "other.del")) == expected


def test_libkge_checkpoints_run_nothing_without_trust(tmp_path, config_class):
    save_libkge(tmp_path / "c.pt", "distmult", config_class, further=Mark(tmp_path / "run"))
    with pytest.raises(InputError, match="say --trust"):
        read_model("libkge", tmp_path / "c.pt", GRAPH)
    (tmp_path / "plain.pt").write_bytes(pickle.dumps(Mark(tmp_path / "run")))
    with pytest.raises(InputError, match="say --trust"):
        read_model("libkge", tmp_path / "plain.pt", GRAPH)
    assert not (tmp_path / "run").exists()
    assert read_model("libkge", tmp_path / "c.pt", GRAPH, trust=True).num_entities == 11
    assert (tmp_path / "run").exists()


def test_libkge_models_that_are_not_known_are_refused(tmp_path, config_class):
    save_libkge(tmp_path / "c.pt", "conve", config_class)
    with pytest.raises(InputError, match="model 'conve' cannot be evaluated here; there are distmult"):
        read_model("libkge", tmp_path / "c.pt", GRAPH)
    torch.save({"a": 1}, tmp_path / "c.pt")
    with pytest.raises(InputError, match="has no `config` and `model`"):
        read_model("libkge", tmp_path / "c.pt", GRAPH)
    (tmp_path / "c.pt").write_bytes(b"PK\x03\x04 no checkpoint")
    with pytest.raises(InputError, match="cannot be read"):
        read_model("libkge", tmp_path / "c.pt", GRAPH)
    (tmp_path / "c.pt").write_bytes(b"<html>")
    with pytest.raises(InputError, match="no file that PyTorch or pickle wrote"):
        read_model("libkge", tmp_path / "c.pt", GRAPH)


# ranks

NAMES = {"ours": ("{}_better", "{}_equal"), "short": ("{}_optimistic", "{}_pessimistic"),
         "long": ("{}_rank_optimistic", "{}_rank_pessimistic")}  # fmt: skip


def write_ranks(path, form, rows=None, *, result=None):
    """Ranks of `result` as a table with tabs, in one of the forms, rows and columns in an order of its own."""
    header = ["model", *(name.format(side) for side in SIDES for name in NAMES[form]), "tail", "relation", "head"]
    lines = []
    for triple, better, equal in zip(result.triples, result.better, result.equal, strict=True):
        cells = ["m"]
        for b, e in zip(better.tolist(), equal.tolist(), strict=True):
            cells += [b, e] if form == "ours" else [b + 1, b + e + 1]
        lines.append([str(cell) for cell in (*cells, *result.dataset.label(triple)[::-1])])
    lines = (rows or (lambda same: same))(lines[::-1])
    path.write_text("".join("\t".join(cells) + "\n" for cells in [header, *lines]))


@pytest.fixture(scope="module")
def tied():
    """Ranks with equal scores."""
    table = np.random.default_rng(0).integers(0, 3, (11, 11)).astype(float)
    return evaluate(lambda batch: (table[batch[:, 2]], table[batch[:, 0]]), GRAPH)


@pytest.mark.parametrize("form", NAMES)
def test_ranks_of_every_form_come_back(tmp_path, form, tied):
    write_ranks(tmp_path / "ranks.tsv", form, result=tied)
    found = evaluate_ranks(tmp_path / "ranks.tsv", GRAPH)
    assert (found.better == tied.better).all()
    assert (found.equal == tied.equal).all()
    assert all(found.metrics(ties=ties) == tied.metrics(ties=ties) for ties in TIES)
    source, target = tmp_path / "ranks.tsv", tmp_path / "ranks.parquet"
    duckdb.sql(f"COPY (FROM read_csv('{source}', delim='\t', header=true)) TO '{target}' (FORMAT parquet)")
    packed = evaluate_ranks(target, GRAPH)
    assert (packed.better == tied.better).all()
    assert (packed.equal == tied.equal).all()


@pytest.mark.parametrize("ending", ["tsv", "parquet"])
def test_ranks_that_were_kept_here_say_themselves_what_they_are_of(tmp_path, tied, ending):
    write_kept(dataclasses.replace(tied, filter_parts=("train",), left_out=3), tmp_path / f"kept[1].{ending}")
    found = evaluate_ranks(tmp_path / f"kept[1].{ending}", GRAPH, ties="optimistic")
    assert (found.filter_parts, found.left_out, found.ties) == (("train",), 3, "optimistic")
    assert found.metrics(ties="realistic") == tied.metrics(ties="realistic")


def changed(column, text):
    return lambda lines: [[*lines[0][:column], text, *lines[0][column + 1 :]], *lines[1:]]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (lambda lines: lines[1:], "lacks 1 of"),
        (lambda lines: [*lines, lines[0]], "was given already"),
        (changed(1, "0"), "ranks are 1 or more"),
        (changed(2, "0"), "the former no larger"),
        (changed(1, "1.5"), "expected a whole number"),
        (changed(2, "12"), "that the filter"),
        (changed(5, "nobody"), "entity 'nobody' is not in the data set"),
        (lambda lines: [lines[0][:-1], *lines[1:]], "line 2: 7 cells"),
    ],
)
def test_ranks_that_are_not_whole_are_refused(tmp_path, tied, rows, words):
    write_ranks(tmp_path / "r.tsv", "short", rows, result=tied)
    with pytest.raises(InputError, match=words) as caught:
        evaluate_ranks(tmp_path / "r.tsv", GRAPH)
    assert "\n" not in str(caught.value)


def test_ranks_of_other_triples_are_counted_and_a_repeated_test_triple_may_be_repeated(tmp_path, tied):
    train = GRAPH.label(GRAPH.train[0])
    write_ranks(
        tmp_path / "r.tsv", "long", lambda lines: [*lines, ["m", "1", "1", "1", "1", *train[::-1]]], result=tied
    )
    assert evaluate_ranks(tmp_path / "r.tsv", GRAPH).notes[-1].endswith("no test triples and were ignored: 1")
    rows = [GRAPH.label(triple) for triple in GRAPH.test]
    parts = {part: [GRAPH.label(triple) for triple in GRAPH.part(part)] for part in ("train", "valid")}
    again = from_labelled(**parts, test=[*rows, rows[0]])
    for more in (0, 1):
        first = lambda lines, more=more: lines + lines[-1:] * more  # noqa: E731
        write_ranks(tmp_path / "r.tsv", "ours", first, result=tied)
        assert evaluate_ranks(tmp_path / "r.tsv", again).better[-1].tolist() == tied.better[0].tolist()


def test_kept_ranks_have_their_own_filter_and_a_name_that_may_be_given(tmp_path, tied):
    write_kept(tied, tmp_path / "r.parquet")
    assert evaluate_ranks(tmp_path / "r.parquet", GRAPH, model_name="mine").model == "mine"
    with pytest.raises(InputError, match=r"filtered by train, valid, test, not by train; say nothing of the filter"):
        evaluate_ranks(tmp_path / "r.parquet", GRAPH, filter_parts=("train",))
    write_kept(dataclasses.replace(tied, filter_parts=("train",)), tmp_path / "r.tsv")
    for parts in (("train", "valid", "test"), ("train",)):
        assert evaluate_ranks(tmp_path / "r.tsv", GRAPH, filter_parts=parts).filter_parts == ("train",)


@pytest.mark.parametrize("header", ["head\trelation\ttail\n", "a\n", "", "head\thead\trelation\ttail\n"])
def test_a_table_without_ranks_is_refused(tmp_path, header):
    (tmp_path / "r.tsv").write_text(header)
    with pytest.raises(InputError, match=r"has no column|two columns"):
        evaluate_ranks(tmp_path / "r.tsv", GRAPH)
    (tmp_path / "r.tsv").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match="no Parquet file"):
        evaluate_ranks(tmp_path / "r.tsv", GRAPH)


# scorers

MODULE = """
import numpy as np

def score(batch):
    return np.tile(np.arange(11.0), (len(batch), 1)), np.tile(np.arange(11.0), (len(batch), 1))

class Sized:
    name = "sized"
    def __init__(self, dataset):
        self.size = dataset.num_entities
    def score_batch(self, batch):
        return (np.tile(np.arange(self.size), (len(batch), 1)),) * 2

class Plain:
    def score_batch(self, batch):
        return score(batch)

def make(dataset):
    return Sized(dataset)

def singular(batch):
    return np.linalg.inv(np.zeros((2, 2)))

class Two:
    def __init__(self, dataset, other):
        self.name = other

def broken(batch):
    raise ValueError("no\\nluck")

def never(dataset):
    return 1 / 0

ready = Plain()
number = 3
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "own_models").mkdir()
    (tmp_path / "own_models" / "mine.py").write_text(MODULE)
    (tmp_path / "own_models" / "worse.py").write_text("import no_such_module\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in [name for name in sys.modules if name.startswith("own_models")]:
        monkeypatch.delitem(sys.modules, name)
    return "own_models.mine"


@pytest.mark.parametrize("name", ["score", "Sized", "Plain", "make", "ready", "ready.score_batch"])
def test_a_scorer_is_found_by_name_and_made_of_the_data_set(tmp_path, module, name):
    make_graph(tmp_path)
    expected = evaluate(lambda batch: ([list(range(11))] * len(batch),) * 2, GRAPH).metrics()
    app(["evaluate", str(tmp_path), "--scorer", f"{module}:{name}", "--out", "r.json"], standalone_mode=False)
    assert json.loads((tmp_path / "r.json").read_text())["metrics"]["realistic"]["both"]["mrr"] == expected["mrr"]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("own_models.mine", "names no scorer"), ("a b:c", "names no scorer"), (":x", "names no scorer"),
        ("own_models.mine:absent", "has no 'absent'"), ("own_models.mine:number", "int cannot score"),
        ("own_models.nothing:x", "there is no module .own_models.nothing.; check its spelling"),
        ("own_models.worse:x", r"worse\.py, line 1: ModuleNotFoundError"),
        ("own_models.mine:never", r"mine\.py, line \d+: ZeroDivisionError"),
    ],
)  # fmt: skip
def test_names_of_no_scorer_are_refused(module, monkeypatch, spec, words):
    monkeypatch.syspath_prepend(".")
    with pytest.raises(InputError, match=words) as caught:
        load_scorer(spec, GRAPH)
    assert "\n" not in str(caught.value)


def test_what_a_scorer_raises_is_one_line_with_its_place(module, monkeypatch):
    monkeypatch.syspath_prepend(".")
    with pytest.raises(ScoreError, match=r"broken: scoring failed, .*mine\.py, line \d+: ValueError: no luck; mend it"):
        evaluate(load_scorer("own_models.mine:broken", GRAPH), GRAPH)
    with pytest.raises(ScoreError, match=r"failed, .*mine\.py, line \d+: LinAlgError: Singular matrix; mend it"):
        evaluate(load_scorer("own_models.mine:singular", GRAPH), GRAPH)
    with pytest.raises(InputError, match="missing 2 required positional arguments"):
        load_scorer("own_models.mine:Two", GRAPH)


# the command


def test_every_format_has_its_option_and_only_one_input_is_taken(tmp_path, tied):
    make_graph(tmp_path)
    write_ranks(tmp_path / "r.tsv", "ours", result=tied)
    run = partial(app, standalone_mode=False)
    with pytest.raises(InputError, match="none is given"):
        run(["evaluate", str(tmp_path)])
    for name in FORMATS:
        with pytest.raises(InputError, match=f"not --ranks and --{name} together"):
            run(["evaluate", str(tmp_path), "--ranks", "r.tsv", f"--{name}", "x"])
    with pytest.raises(InputError, match="--trust goes with --pykeen or --libkge only, not with --ranks"):
        run(["evaluate", str(tmp_path), "--ranks", "r.tsv", "--trust"])
    with pytest.raises(InputError, match="--batch-size goes with --pykeen or --scorer only"):
        run(["evaluate", str(tmp_path), "--dglke", "x", "--batch-size", "3"])
    run(["evaluate", str(tmp_path), "--ranks", str(tmp_path / "r.tsv")])


def test_notes_of_the_model_are_in_the_result(tmp_path):
    make_graph(tmp_path)
    arrays = {name: table for name, table in drawn().items() if name in KINDS["distmult"][1]}
    folder = save_arrays(tmp_path / "m", arrays)
    for name, more in (("entities", "elsewhere"), ("relations", "q")):
        table = np.load(folder / f"{name}.npy")
        np.save(folder / f"{name}.npy", np.vstack([table, table[:1]]))
        (folder / f"{name}.tsv").write_text((folder / f"{name}.tsv").read_text() + f"{len(table)}\t{more}\n")
    words = ["evaluate", str(tmp_path), "--embeddings", str(folder), "--model", "distmult", "--out"]
    app([*words, str(tmp_path / "r.json")], standalone_mode=False)
    notes = json.loads((tmp_path / "r.json").read_text())["notes"]
    assert [note.split(": ")[1].split(",")[0] for note in notes] == [
        "1 entities of the model",
        "1 relations of the model",
    ]


def test_formats_are_named_and_their_options_checked(tmp_path):
    with pytest.raises(InputError, match="choose one of embeddings, dglke, pykeen, libkge"):
        read_model("openke", tmp_path, GRAPH)
    with pytest.raises(InputError, match="trust is no option of dglke"):
        read_model("dglke", tmp_path, GRAPH, trust=True)
