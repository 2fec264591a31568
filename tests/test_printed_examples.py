"""The two example classes of the documentation run as printed; so do classes of the same form that are made up here."""

import ast
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from openbiolink.dataset import PARTS, load_dataset
from openbiolink.evaluation import evaluate, evaluate_topk
from oracles import ranking as oracle

KEYS = ["hits@1", "hits@3", "hits@10", "mrr"]
ENTITIES = [f"E:{number}" for number in range(12)]
RELATIONS = ["DIS_DRUG", "GENE_DIS"]
MADE_UP = Path(__file__).with_name("examples_of_old.py")
pytest.importorskip("torch", reason="PyTorch is not installed; the extra openbiolink[torch] brings it")


def printed(shared, heading):
    """The code that the documentation prints below a heading."""
    (text,) = [path.read_text(encoding="utf-8") for path in (shared / "seeds").glob("000_*.txt")]
    lines = text[text.index(f"\n{heading}\n") :].splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(('"""', "import ")))
    end = next(number for number, line in enumerate(lines) if line == "    print(result)")
    return "\n".join(lines[start : end + 1]) + "\n"


@pytest.fixture(params=["made-up", pytest.param("printed", marks=pytest.mark.real)])
def run(request, tmp_path, monkeypatch, capsys):
    """Runs an example as a program in a folder with the files that it names, and gives what it prints."""
    import dglke_stand_in

    for name, module in dglke_stand_in.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.chdir(tmp_path)

    def program(name, heading):
        path = MADE_UP
        if request.param == "printed":
            path = tmp_path / f"{name}.py"
            path.write_text(printed(request.getfixturevalue("shared"), heading), encoding="utf-8")
        monkeypatch.setattr(sys, "argv", [str(path), name])
        capsys.readouterr()
        runpy.run_path(str(path), run_name="__main__")
        found = ast.literal_eval(capsys.readouterr().out)
        assert list(found) == KEYS
        assert all(type(value) is float for value in found.values())
        return found

    return program


@pytest.fixture
def world(tmp_path):
    """A data set in dataset/HQ_DIR with 130 test triples, so that a batch of 100 is not the last one."""
    rng = np.random.default_rng(3)
    every = np.array([(h, r, t) for h in range(12) for r in range(2) for t in range(12)])
    chosen = rng.permutation(every)[:250]
    folder = tmp_path / "dataset" / "HQ_DIR" / "train_test_data"
    folder.mkdir(parents=True)
    for name, part in (("test", chosen[:130]), ("val", chosen[130:150]), ("train", chosen[150:])):
        rows = [f"{ENTITIES[h]}\t{RELATIONS[r]}\t{ENTITIES[t]}\tNA\t1\tX\n" for h, r, t in part]
        (folder / f"{name}_sample.csv").write_text("".join(rows))
    return load_dataset(folder)


def test_the_example_of_dglke_runs(world, run, tmp_path):
    import dglke_stand_in

    rng = np.random.default_rng(0)
    order = rng.permutation(12)  # the model has its own ids
    entity, relation = (rng.normal(size=(count, 8)).astype(np.float32) for count in (12, 2))
    dglke_stand_in.save_model(tmp_path / "G:\\ckpts\\TransE_l2_FB15k_0", entity, relation, gamma=12.0)
    for name, labels in (("entities", [ENTITIES[place] for place in order]), ("relations", RELATIONS)):
        rows = "".join(f"{number}\t{label}\n" for number, label in enumerate(labels))
        (tmp_path / f"G:\\triples\\{name}.tsv").write_text(rows)
    known = {world.label(triple) for part in PARTS for triple in world.part(part)}
    vector = {ENTITIES[place]: entity[number].astype(float) for number, place in enumerate(order)}
    along = dict(zip(RELATIONS, relation.astype(float), strict=True))

    def score(h, r, t):
        return 12.0 - np.linalg.norm(vector[h] + along[r] - vector[t])

    ranks = []
    for h, r, t in map(world.label, world.test):
        for side, ends in (("head", lambda e, t=t: (e, t)), ("tail", lambda e, h=h: (h, e))):
            better, equal = oracle.counts(
                (h, r, t),
                side,
                ENTITIES,
                known,
                score=lambda e, r=r, ends=ends: score(ends(e)[0], r, ends(e)[1]),
                answer_score=score(h, r, t),
            )
            ranks.append(oracle.rank(better, equal, "realistic"))
    expected = oracle.metrics(ranks)
    assert run("dglke", "Example DGL-KE") == pytest.approx({key: expected[key] for key in KEYS}, abs=1e-12)


def write_predictions(path, world, lists):
    """A file with a list of (entity, score) for every test triple and side."""
    blocks = []
    for triple, sides in zip(map(world.label, world.test), lists, strict=True):
        blocks.append(" ".join(triple))
        for word, listed in zip(("Heads:", "Tails:"), sides, strict=True):
            blocks.append(" ".join([word, "\t".join(f"{label}\t{score}" for label, score in listed)]).rstrip())
    path.write_text("\n".join(blocks) + "\n")


def candidates(world):
    """For every test triple and side its answer and the other entities that are no known answers."""
    known = {world.label(triple) for part in PARTS for triple in world.part(part)}
    for h, r, t in map(world.label, world.test):
        for side, answer in (("head", h), ("tail", t)):
            yield answer, list(oracle.competitors((h, r, t), side, ENTITIES, known))


def test_the_example_of_safran_runs_and_agrees_with_the_command_where_all_answers_are_listed(world, run, tmp_path):
    rng = np.random.default_rng(1)
    lists = []
    for answer, others in candidates(world):
        listed = [answer, *others[: rng.integers(0, 8)]]
        scores = np.round(np.sort(rng.permutation(9999)[: len(listed)] + 1)[::-1] / 10_000, 4)
        lists.append(list(zip(rng.permutation(listed), scores.tolist(), strict=True)))
    path = tmp_path / "G:\\prediction.txt"
    write_predictions(path, world, zip(lists[0::2], lists[1::2], strict=True))
    metrics = evaluate_topk(path, world).metrics()
    assert run("safran", "Example SAFRAN") == {key: metrics[key] for key in KEYS}


def test_the_example_of_safran_and_the_command_differ_as_documented(world, run, tmp_path):
    """An empty list takes the whole triple away from the class, and what is not listed has 0 there, known or not."""
    rng = np.random.default_rng(2)
    lists = []
    for answer, others in candidates(world):
        listed = [*others[: rng.integers(0, 4)], *([answer] if rng.random() < 0.7 else [])]
        lists.append([(label, (10 - place) / 16) for place, label in enumerate(listed)])
    pairs = list(zip(lists[0::2], lists[1::2], strict=True))
    path = tmp_path / "G:\\prediction.txt"
    write_predictions(path, world, pairs)
    by_triple = dict(zip(map(world.label, world.test), pairs, strict=True))

    def zeros(batch):
        scores = np.zeros((2, len(batch), 12))
        for row, triple in enumerate(batch):
            sides = by_triple[world.label(triple)]
            for side, listed in enumerate(sides if all(sides) else ()):
                for label, score in listed:
                    scores[side, row, world.entities.index(label)] = score
        return tuple(scores)

    wanted = evaluate(zeros, world, filter_parts=()).metrics()
    found = run("safran", "Example SAFRAN")
    assert found == {key: wanted[key] for key in KEYS}
    ours = evaluate_topk(path, world)
    assert found["mrr"] < ours.metrics()["mrr"]
    assert sum(ours.not_listed.values()) > 0
