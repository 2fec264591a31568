"""The documented import paths DataLoader and Evaluator, with and without something like PyTorch."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from openbiolink.dataset import load_dataset
from openbiolink.errors import InputError
from openbiolink.evaluation import evaluate
from openbiolink.evaluation.dataLoader import DataLoader
from openbiolink.evaluation.evaluation import Evaluator

TRAIN = "a\tr\tb\nb\tr\tc\nc\tq\ta\n"
VALID = "a\tr\tc\n"
TEST = "b\tr\ta\na\tq\tc\n"
SAMPLE = {"train_sample.csv": TRAIN, "val_sample.csv": VALID, "test_sample.csv": TEST}


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "dataset" / "HQ_DIR" / "train_test_data"
    folder.mkdir(parents=True)
    for name, text in SAMPLE.items():
        (folder / name).write_text(text.replace("\n", "\tNA\t1\tSRC\n"))
    return tmp_path / "dataset"


class Tensor(np.ndarray):
    """An array that has the methods by which tensors of PyTorch are told."""

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.view(np.ndarray)

    def clone(self):
        return self.copy()


@pytest.fixture(autouse=True)
def without_pytorch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)


@pytest.fixture
def something_like_pytorch(monkeypatch, without_pytorch):
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(from_numpy=lambda array: array.view(Tensor)))


@pytest.fixture
def pytorch(monkeypatch, without_pytorch):
    monkeypatch.undo()
    return pytest.importorskip("torch", reason="PyTorch is not installed; the extra openbiolink[torch] brings it")


class Constant(Evaluator):
    def score_batch(self, batch):
        scores = np.zeros((len(batch), self.num_neg))
        return scores, scores


class Perfect(Evaluator):
    """Four arrays with a hundred rows whatever the batch, and the positives above all."""

    def score_batch(self, batch):
        ones, zeros = np.ones(len(batch)), np.zeros((100, self.num_neg))
        return ones, zeros, ones, zeros


def test_loader_reads_root_and_name(root, monkeypatch):
    loader = DataLoader(str(root), "HQ_DIR")
    assert (loader.num_entities, loader.num_relations) == (3, 2)
    assert loader.training.tolist() == [[0, 1, 1], [1, 1, 2], [2, 0, 0]]
    assert loader.validation.tolist() == [[0, 1, 2]]
    assert loader.testing.tolist() == [[1, 1, 0], [0, 0, 2]]
    assert loader.training.dtype == np.int64
    assert loader.entity_to_id == {"a": 0, "b": 1, "c": 2}
    assert loader.relation_to_id == {"q": 0, "r": 1}
    monkeypatch.chdir(root.parent)
    for other in (DataLoader(), DataLoader("HQ_DIR"), DataLoader(root)):
        assert other.dataset.checksum == loader.dataset.checksum


def test_loader_says_where_to_put_what_is_absent(tmp_path):
    with pytest.raises(InputError, match=r"ALL_DIR: no such folder; put the data set there .*root= and name="):
        DataLoader(str(tmp_path), "ALL_DIR")


def test_mapping_files_give_the_ids(root, tmp_path):
    entities, relations = tmp_path / "entities.tsv", tmp_path / "relations.tsv"
    entities.write_text("2\ta\n0\tc\n1\tb\n3\tonly a candidate\n10\tx\n".replace("10", "4"))
    relations.write_text("0\tr\n1\tq\n")
    loader = DataLoader(root, "HQ_DIR", entities, relations)
    assert loader.entity_to_id == {"c": 0, "b": 1, "a": 2, "only a candidate": 3, "x": 4}
    assert loader.testing.tolist() == [[1, 0, 2], [2, 1, 0]]
    assert loader.num_entities == 5
    with pytest.raises(InputError, match="go together; give both or none"):
        DataLoader(root, "HQ_DIR", entity_to_id_path=entities)
    for text, message in (
        ("0\ta\n2\tb\n", "id '2' where 1 should be"),
        ("0\ta\n0\tb\n", "id '0' where 1 should be"),
        ("00\ta\n", "id '00' where 0"),
        ("a\t0\n", "id 'a' where 0"),
        ("0\n", r"line 1 \(1 cells\)"),
        ("0\ta\n1\ta\n", "entity 'a' is given twice"),
        ("0\ta\n", "2 entity labels .* 'b' first"),
    ):
        entities.write_text(text)
        with pytest.raises(InputError, match=message):
            DataLoader(root, "HQ_DIR", entities, relations)


def test_batches_cover_the_test_set_in_order(root):
    loader = DataLoader(root)
    number, batches = loader.get_test_batches(1)
    assert number == 2
    assert [batch.tolist() for batch in batches] == [[[1, 1, 0]], [[0, 0, 2]]]
    assert loader.get_test_batches()[0] == 1
    with pytest.raises(InputError, match="batch_size=0"):
        loader.get_test_batches(0)


def test_filter_scores_blanks_other_known_answers_in_a_copy(root):
    loader = DataLoader(root)
    scores = np.arange(9.0).reshape(3, 3)
    batch = np.array([[0, 1, 1], [0, 0, 2], [2, 1, 2]])
    tails = loader.filter_scores(batch, scores, 2)
    assert np.array_equal(tails, [[0, 1, np.nan], [3, 4, 5], [6, 7, 8]], equal_nan=True)
    heads = loader.filter_scores(batch, scores.astype(int), 0, filter_val=-1.5)
    assert heads.tolist() == [[0, 1, 2], [3, 4, 5], [-1.5, -1.5, 8]]
    assert scores.tolist() == np.arange(9.0).reshape(3, 3).tolist()
    with pytest.raises(InputError, match="give 0 for heads or 2 for tails"):
        loader.filter_scores(batch, scores, 1)


def test_evaluator_gives_four_plain_numbers(root):
    loader = DataLoader(root)
    found = Constant(loader).evaluate()
    assert list(found) == ["hits@1", "hits@3", "hits@10", "mrr"]
    assert all(type(value) is float for value in found.values())
    whole = evaluate(lambda batch: [np.zeros((len(batch), 3))] * 2, load_dataset(root / "HQ_DIR")).metrics()
    assert found == {name: whole[name] for name in found}
    assert found["mrr"] < 1
    assert Constant(loader).evaluate(ties="optimistic")["mrr"] == 1.0
    assert set(Perfect(loader).evaluate(100, -1).values()) == {1.0}


def test_direction_and_filter_reach_the_evaluation(root):
    loader = DataLoader(root)
    worst = Perfect(loader, higher_is_better=False).evaluate(1)
    assert worst["hits@1"] < 1
    raw = Constant(loader).evaluate(100, 1, filtering=False)
    assert raw["mrr"] == pytest.approx(0.5)  # rank 2 among three entities that are all the same
    assert raw["mrr"] < Constant(loader).evaluate()["mrr"]


def test_evaluator_is_abstract(root):
    with pytest.raises(TypeError, match="abstract"):
        Evaluator(DataLoader(root))
    evaluator = Constant(DataLoader(root))
    assert evaluator.entities.tolist() == [0, 1, 2]
    assert evaluator.relations.tolist() == [0, 1]
    assert evaluator.num_neg == 3
    assert isinstance(evaluator.entities, np.ndarray)


def test_with_something_like_pytorch_everything_is_a_tensor(root, something_like_pytorch):
    loader = DataLoader(root)
    seen = []

    class Watching(Constant):
        def score_batch(self, batch):
            seen.append(batch)
            return [side.view(Tensor) for side in super().score_batch(batch)]

    evaluator = Watching(loader)
    result = evaluator.evaluate()
    assert isinstance(loader.training, Tensor)
    assert isinstance(evaluator.entities, Tensor)
    assert all(isinstance(batch, Tensor) for batch in seen)
    assert len(seen) == 1
    filtered = loader.filter_scores(loader.testing, np.ones((2, 3)).view(Tensor), 0, -1.0)
    assert isinstance(filtered, Tensor)
    assert result == Constant(loader).evaluate()


def test_with_pytorch_itself(root, pytorch):
    loader = DataLoader(root)
    wanted = Constant(loader).evaluate()

    class Tensors(Evaluator):
        def score_batch(self, batch):
            scores = pytorch.zeros((len(batch), self.num_neg), dtype=pytorch.bfloat16, requires_grad=True)
            return scores[:, self.entities], scores[batch[:, 0] * 0]

    assert Tensors(loader).evaluate() == wanted
    assert loader.training.dtype == pytorch.int64
    assert loader.testing.tolist() == [[1, 1, 0], [0, 0, 2]]
    scores = pytorch.arange(6.0).reshape(2, 3)
    filtered = loader.filter_scores(pytorch.tensor([[0, 0, 2], [2, 1, 2]]), scores, 0, filter_val=-1.0)
    assert filtered.tolist() == [[0, 1, 2], [-1, -1, 5]]
    assert scores.tolist() == [[0, 1, 2], [3, 4, 5]]
