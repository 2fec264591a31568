"""Models that PyKEEN trained and saved get the ranks of its own evaluator, or differ where float32 cannot tell."""

import copy
import gc
import gzip
import os
import pickle
import warnings
from importlib.util import find_spec

import numpy as np
import pytest
import torch

from openbiolink import evaluate
from openbiolink.cli import app
from openbiolink.dataset import load_dataset
from openbiolink.errors import InputError
from openbiolink.evaluation.models import read_model
from openbiolink.evaluation.vectors import VectorModel
from openbiolink.metrics import TIES

pytestmark = [
    pytest.mark.skipif(find_spec("pykeen") is None, reason="PYKEEN ABSENT: pip install 'openbiolink[pykeen]'"),
    pytest.mark.xdist_group("pykeen"),  # it takes long to import
]

SIDES = ("head", "tail")
NAMES = {"mrr": "inverse_harmonic_mean_rank", "mean_rank": "arithmetic_mean_rank"} | {
    f"hits@{k}": f"hits_at_{k}" for k in (1, 3, 10)
}
SMALL = {"embedding_dim": 12}
# name of the case: model, its options, whether its scores are products or distances of vectors
CASES = {
    "distmult": ("DistMult", SMALL, True),
    "complex": ("ComplEx", SMALL, True),
    "rescal": ("RESCAL", SMALL, True),
    "cp": ("CP", {"embedding_dim": 4, "rank": 3}, True),
    "simple": ("SimplE", SMALL, True),
    "transe-1": ("TransE", {**SMALL, "scoring_fct_norm": 1}, True),
    "transe-2": ("TransE", {**SMALL, "scoring_fct_norm": 2}, True),
    "rotate": ("RotatE", SMALL, True),
    "rotate-long": ("RotatE", {**SMALL, "relation_constrainer": None}, True),
    "inverse": ("DistMult", SMALL, True),
    "clamped": ("SimplE", {**SMALL, "clamp_score": 0.01}, False),
    "sigmoid": ("DistMult", {**SMALL, "predict_with_sigmoid": True}, True),
    "ermlp": ("ERMLP", {**SMALL, "hidden_dim": 8}, False),
    "inverse-ermlp": ("ERMLP", {**SMALL, "hidden_dim": 8}, False),
}
DISTANCES = ("TransE", "RotatE")
UNIT = 2.0**-24  # of float32


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    """A folder with made-up triples, entities of odd names among them, and the triples by part."""
    folder = tmp_path_factory.mktemp("graph")
    generator = np.random.default_rng(7)
    names = [f"e{number}" for number in generator.permutation(38)] + ['a "quoted" one', "NA"]
    relations = ["r2", "r0", "r1"]
    drawn = {(names[i], relations[i % 3], names[(i * 7 + 3) % 40]) for i in range(40)}
    while len(drawn) < 340:
        head, tail = generator.integers(0, 40, 2)
        drawn.add((names[head], relations[int(head + tail) % 3], names[tail]))
    ordered = sorted(drawn)
    mixed = [ordered[number] for number in generator.permutation(len(ordered))]
    ring = [
        triple
        for triple in mixed
        if triple in {(names[i], relations[i % 3], names[(i * 7 + 3) % 40]) for i in range(40)}
    ]
    rest = [triple for triple in mixed if triple not in set(ring)]
    parts = {"train": ring + rest[:200], "valid": rest[200:230], "test": rest[230:]}
    for part, triples in parts.items():
        (folder / f"{part}.txt").write_text("".join("\t".join(triple) + "\n" for triple in triples))
    return folder, parts


@pytest.fixture(scope="module")
def trained(graph, tmp_path_factory):
    """A function (case) → folder that PyKEEN saved, its model, and its own ranks and metrics."""
    done = {}

    def train(case):
        if case not in done:
            gc.freeze()  # PyKEEN collects garbage after each epoch, which takes long among what all tests hold
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                done[case] = _train(case, graph[1], tmp_path_factory.mktemp(case))
            gc.unfreeze()
        return done[case]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSTOW_HOME", str(tmp_path_factory.mktemp("pystow")))
        yield train


def _train(case, parts, folder):
    from pykeen.evaluation import RankBasedEvaluator
    from pykeen.pipeline import pipeline
    from pykeen.triples import TriplesFactory

    rows = {part: np.array(triples, dtype=object).astype(str) for part, triples in parts.items()}
    train = TriplesFactory.from_labeled_triples(rows["train"], create_inverse_triples=case.startswith("inverse"))
    maps = {"entity_to_id": train.entity_to_id, "relation_to_id": train.relation_to_id}
    held = {part: TriplesFactory.from_labeled_triples(rows[part], **maps) for part in ("valid", "test")}
    name, options, _ = CASES[case]
    result = pipeline(
        training=train,
        validation=held["valid"],
        testing=held["test"],
        model=name,
        model_kwargs=options,
        training_kwargs={"num_epochs": 2, "use_tqdm": False, "batch_size": 64},
        evaluator_kwargs={"filtered": True},
        evaluation_kwargs={"use_tqdm": False, "batch_size": 64},
        random_seed=5,
        device="cpu",
    )
    result.save_to_directory(folder)
    evaluator = RankBasedEvaluator(filtered=True, clear_on_finalize=False)
    found = evaluator.evaluate(
        result.model,
        mapped_triples=held["test"].mapped_triples,
        additional_filter_triples=[train.mapped_triples, held["valid"].mapped_triples],
        batch_size=64,
        use_tqdm=False,
    )
    triples = [tuple(triple) for triple in held["test"].triples]
    ranks = {key: np.concatenate(value) for key, value in evaluator.ranks.items()}
    return folder, result.model, train, triples, ranks, found


def slack(case, model):
    """What the float32 scores of a model may be off by, twice: that of an answer and that of a competitor."""
    with torch.no_grad():
        entities = [part().abs().double().flatten(1) for part in model.entity_representations]
        relations = [part().abs().double().flatten(1) for part in model.relation_representations]
    terms = max(table.shape[1] for table in relations)
    if CASES[case][0] in DISTANCES:
        sizes = [
            2 * max(table.sum(dim=1).max() for table in entities),
            max(table.sum(dim=1).max() for table in relations),
        ]
        return 2 * (terms + 8) * UNIT * 2 * float(sum(sizes))
    length = max(table.norm(dim=1).max() for table in entities)
    return 2 * (terms + 8) * UNIT * 4 * float(length**2 * max(table.norm(dim=1).max() for table in relations))


def gaps(model, train, triple, side):
    """Float64 scores of all entities less that of the answer, by PyKEEN's own formula."""
    h, r, t = train.entity_to_id[triple[0]], train.relation_to_id[triple[1]], train.entity_to_id[triple[2]]
    with torch.no_grad():
        if side == "tail":
            scores = model.predict_t(torch.tensor([[h, r]]))[0]
            return np.sort((scores - scores[t]).numpy())
        scores = model.predict_h(torch.tensor([[r, t]]))[0]
        return np.sort((scores - scores[h]).numpy())


@pytest.mark.parametrize("case", CASES)
def test_ranks_are_those_of_its_own_evaluator(graph, trained, case):
    folder, model, train, triples, expected, metrics = trained(case)
    dataset = load_dataset(graph[0])
    notes = []
    read = read_model("pykeen", folder, dataset, trust=True, note=notes.append)
    assert isinstance(read, VectorModel) == CASES[case][2]
    assert len(notes) == (case == "sigmoid" or not CASES[case][2])
    result = evaluate(read, dataset, batch_size=50)
    row = {tuple(dataset.label(triple)): number for number, triple in enumerate(result.triples)}
    order = [row[triple] for triple in triples]
    exact = copy.deepcopy(model).double()
    different = {}
    for side in SIDES:
        for ties in TIES:
            ours, theirs = result.ranks(side, ties=ties)[order], expected[side, ties]
            for place in np.flatnonzero(ours != theirs):
                off = gaps(exact, train, triples[place], side)
                bound = slack(case, model) if CASES[case][2] else 1e-5 * np.abs(off).max()
                near = int((np.abs(off) <= bound).sum()) - 1
                assert abs(ours[place] - theirs[place]) <= near, (triples[place], side, ties)
                different[triples[place], side, ties] = float(np.sort(np.abs(off))[1])
    print(f"{case}: {len(different)} of {6 * len(triples)} ranks differ", *sorted(different.items()), sep="\n  ")
    assert len(different) <= 6 * len(triples) / 50
    if not different:
        for side in (*SIDES, "both"):
            for ties in TIES:
                for name, value in result.metrics(side, ties=ties).items():
                    assert value == pytest.approx(metrics.get_metric(f"{side}.{ties}.{NAMES[name]}"), abs=1e-6)


def test_the_command_needs_trust_and_says_so(graph, trained, capsys):
    folder, *_ = trained("distmult")
    words = ["evaluate", str(graph[0]), "--pykeen", str(folder)]
    with pytest.raises(InputError, match=r"trained_model\.pkl: is a pickle.*--trust"):
        app(words, standalone_mode=False)
    app([*words, "--trust"], standalone_mode=False)
    assert "distmult: filtered by train, valid, test" in capsys.readouterr().out


class Mark:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


def test_a_pickle_is_not_run_without_trust(graph, trained, tmp_path):
    folder, *_ = trained("distmult")
    bad = tmp_path / "bad"
    (bad / "training_triples").mkdir(parents=True)
    for name in ("entity_to_id.tsv.gz", "relation_to_id.tsv.gz"):
        (bad / "training_triples" / name).write_bytes((folder / "training_triples" / name).read_bytes())
    (bad / "trained_model.pkl").write_bytes(pickle.dumps(Mark(tmp_path / "run")))
    with pytest.raises(InputError, match="say --trust"):
        read_model("pykeen", bad, load_dataset(graph[0]))
    assert not (tmp_path / "run").exists()


def test_maps_of_another_model_are_refused(graph, trained, tmp_path):
    folder, *_ = trained("distmult")
    dataset = load_dataset(graph[0])
    longer = tmp_path / "longer.tsv"
    text = gzip.decompress((folder / "training_triples" / "entity_to_id.tsv.gz").read_bytes()).decode()
    longer.write_text(text.replace('"a ""quoted"" one"', 'a "quoted" one') + "40\tone more\n")
    with pytest.raises(InputError, match="40 entities, its id map 41"):
        read_model("pykeen", folder, dataset, entity_map=longer, trust=True)
    with pytest.raises(InputError, match=r"has no trained_model\.pkl"):
        read_model("pykeen", tmp_path, dataset, trust=True)
    (tmp_path / "trained_model.pkl").write_bytes((folder / "trained_model.pkl").read_bytes())
    with pytest.raises(InputError, match="--entity-map"):
        read_model("pykeen", tmp_path, dataset, trust=True)
    torch.save({"a": 1}, tmp_path / "trained_model.pkl")
    (folder / "training_triples").rename(tmp_path / "training_triples")
    with pytest.raises(InputError, match="holds a dict, expected a model of PyKEEN"):
        read_model("pykeen", tmp_path, dataset, trust=True)
    (tmp_path / "training_triples").rename(folder / "training_triples")
