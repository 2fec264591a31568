"""The documented import paths DataLoader and Evaluator, with and without something like PyTorch."""

import inspect
import sys
from pathlib import Path
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
    with pytest.raises(InputError, match=r"MINE: no such folder; put the data set there .*root= and name="):
        DataLoader(str(tmp_path), "MINE")
    (tmp_path / "ALL_DIR").mkdir()  # an empty folder is none, as with earlier releases
    with pytest.raises(InputError, match=r"ALL_DIR: no such folder; `openbiolink datasets fetch ALL_DIR --dir "):
        DataLoader(str(tmp_path), "ALL_DIR", download=False)


def test_the_documented_signatures():
    loader = inspect.signature(DataLoader).parameters
    documented = {"root": "dataset", "name": "HQ_DIR", "entity_to_id_path": None, "relation_to_id_path": None}
    assert {name: parameter.default for name, parameter in list(loader.items())[:4]} == documented
    evaluator = list(inspect.signature(Evaluator).parameters.values())
    assert [(one.name, one.default) for one in evaluator] == [
        ("dl", inspect.Parameter.empty),
        ("higher_is_better", True),
    ]
    ranked = list(inspect.signature(Evaluator.evaluate).parameters.values())[1:4]
    assert [(one.name, one.default) for one in ranked] == [("batch_size", 100), ("processors", -1), ("filtering", True)]
    filtered = inspect.signature(DataLoader.filter_scores).parameters
    assert list(filtered) == ["self", "batch", "scores", "filter_col", "filter_val"]
    assert np.isnan(filtered["filter_val"].default)
    assert inspect.signature(DataLoader.get_test_batches).parameters["batch_size"].default == 100


def make_set(folder, name, test):
    place = folder / name / "train_test_data"
    place.mkdir(parents=True)
    for file, text in {**SAMPLE, "test_sample.csv": test}.items():
        (place / file).write_text(text.replace("\n", "\tNA\t1\tSRC\n"))


def test_a_lone_name_of_a_published_data_set_is_the_name_and_anything_else_the_root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ("HQ_DIR", "HQ_UNDIR", "ALL_DIR", "ALL_UNDIR")
    made = {("dataset", name): number for number, name in enumerate(names)} | {
        ("HQ_UNDIR", "HQ_DIR"): 4,
        ("mine", "HQ_DIR"): 5,
        ("mine", "own"): 6,
    }
    for (root, name), number in made.items():
        make_set(tmp_path / root, name, f"a\tr{number}\tb\n")

    def found(*places, **options):
        return int(DataLoader(*places, download=False, **options).dataset.relations[-1][1:])

    for name in names:
        assert found(name) == made["dataset", name]
        assert found(name=name) == made["dataset", name]
    assert found() == 0
    assert found("HQ_UNDIR", "HQ_DIR") == found(root="HQ_UNDIR", name="HQ_DIR") == 4
    assert found("mine") == found(Path("mine")) == found(root="mine") == 5
    assert found("mine", "own") == found(tmp_path / "mine", name="own") == 6
    loader = DataLoader("ALL_DIR")
    assert (loader.root, loader.name, type(loader.name)) == (Path("dataset"), "ALL_DIR", str)
    assert (DataLoader().name, type(DataLoader().name)) == ("HQ_DIR", str)


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
        ("0\ta\n2\tb\n", "line 2 has id 2, but there are 2 rows"),
        ("0\t1\n1\t2\n2\t0\n", "both columns hold 0 to 2, so either may be the ids"),
        ("0\ta\n1\ta\n", "line 2: 'a' is in line 1 already"),
        ("0\ta\n", "2 entity labels .* 'b' first"),
    ):
        entities.write_text(text)
        with pytest.raises(InputError, match=message):
            DataLoader(root, "HQ_DIR", entities, relations)


def test_mapping_files_in_the_reverse_order_are_read_and_noted(root, tmp_path):
    entities, relations = tmp_path / "entities.tsv", tmp_path / "relations.tsv"
    entities.write_text("c\t0\na\t2\nb\t1\n")
    relations.write_text("0\tr\n1\tq\n")
    notes = []
    loader = DataLoader(root, "HQ_DIR", entity_to_id_path=entities, relation_to_id_path=relations, note=notes.append)
    assert loader.entity_to_id == {"c": 0, "b": 1, "a": 2}
    assert [line for line in notes if "reverse" in line] == [
        f"{entities}: its columns are label and id, the reverse of id and label; they are read so"
    ]
    assert (loader.entity_to_id_path, loader.relation_to_id_path) == (entities, relations)
    assert (DataLoader(root).entity_to_id_path, DataLoader(root).relation_to_id_path) == (None, None)


def test_whole_scores_of_a_tensor_are_filtered_without_rounding(root, pytorch):
    loader = DataLoader(root)
    scores = pytorch.arange(2**24, 2**24 + loader.num_entities).repeat(len(loader.testing), 1)
    filtered = loader.filter_scores(loader.testing, scores, 0, filter_val=-1)
    assert ((filtered == scores) | (filtered == -1)).all()


def test_a_lone_name_of_a_published_data_set_without_a_split_is_not_taken_for_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="dataset/OBL2021: no such folder, and OBL2021 is not a split"):
        DataLoader("OBL2021")


def test_batches_cover_the_test_set_in_order(root):
    loader = DataLoader(root)
    number, batches = loader.get_test_batches(1)
    assert number == 2
    assert [batch.tolist() for batch in batches] == [[[1, 1, 0]], [[0, 0, 2]]]
    assert loader.get_test_batches()[0] == 1
    for wrong, message in (
        (0, "batch_size=0 is too small"),
        (2.5, "batch_size=2.5 is no whole"),
        (True, "True is no whole"),
    ):
        with pytest.raises(InputError, match=message):
            loader.get_test_batches(wrong)


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
    with pytest.raises(InputError, match=r"scores have shape \(3, 2\); expected \(3, 3\)"):
        loader.filter_scores(batch, scores[:, :2], 0)
    for wrong, message in (
        ([[0, 1]], r"batch has shape \(1, 2\) and type int64; expected whole numbers, shape \(n, 3\)"),
        ([[0, 1, 1.0]], "type float64"),
        ([[0, 1, 3]], "row 0 of the batch has entity 3; the data set has ids from 0 to 2"),
        ([[0, -1, 2]], "row 0 of the batch has relation -1; the data set has ids from 0 to 1"),
    ):
        with pytest.raises(InputError, match=message):
            loader.filter_scores(np.array(wrong), scores[:1], 0)


@pytest.mark.parametrize("filter_val", [np.nan, -np.inf])
def test_scores_filtered_by_hand_give_the_filtered_ranks(root, filter_val):
    loader = DataLoader(root)
    table = np.random.default_rng(0).permutation(18).reshape(3, 2, 3).astype(np.float32)
    table[1, 1, 2] = 99  # (b, r, c) is known and better than (b, r, a), which is asked for

    class Plain(Evaluator):
        def score_batch(self, batch):
            return table[:, batch[:, 1], batch[:, 2]].T, table[batch[:, 0], batch[:, 1]]

    class Filtered(Plain):
        def score_batch(self, batch):
            return [
                self.dl.filter_scores(batch, scores, column, filter_val)
                for scores, column in zip(super().score_batch(batch), (0, 2), strict=True)
            ]

    wanted = Plain(loader).evaluate()
    assert Filtered(loader).evaluate(filtering=False) == Filtered(loader).evaluate(1) == wanted
    assert Plain(loader).evaluate(filtering=False) != wanted


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


@pytest.mark.parametrize("own", [-9.0, 0.5, 9.0, np.nan, np.inf])
@pytest.mark.parametrize("rows", [0, 1, 98])
@pytest.mark.parametrize("batch_size", [1, 2, 100])
def test_four_arrays_give_the_same_with_or_without_the_answer_among_the_negatives(root, own, rows, batch_size):
    loader = DataLoader(root)
    table = np.random.default_rng(1).permutation(18).reshape(3, 2, 3).astype(np.float32)

    class Two(Evaluator):
        def score_batch(self, batch):
            return table[:, batch[:, 1], batch[:, 2]].T, table[batch[:, 0], batch[:, 1]]

    class Four(Two):
        def score_batch(self, batch):
            head, tail = (np.array(side) for side in super().score_batch(batch))
            every = np.arange(len(batch))
            positive = head[every, batch[:, 0]].copy()
            head[every, batch[:, 0]] = tail[every, batch[:, 2]] = own
            more = np.full((rows, 3), np.nan)
            return positive, np.concatenate([head, more]), positive, np.concatenate([tail, more])

    assert Four(loader).evaluate(batch_size) == Two(loader).evaluate(batch_size)


@pytest.mark.parametrize("processors", [-1, 1, 2, 500, np.int64(4)])
def test_processors_change_nothing(root, processors):
    evaluator = Constant(DataLoader(root))
    assert evaluator.evaluate(100, processors) == evaluator.evaluate(100, processors=processors) == evaluator.evaluate()


@pytest.mark.parametrize("processors", [0, -2, 1.0, "4", None, True])
def test_nonsense_is_refused(root, processors):
    evaluator = Constant(DataLoader(root))
    with pytest.raises(InputError, match=r"^processors=.* give 1 or more processors, or -1 for all$"):
        evaluator.evaluate(100, processors)
    with pytest.raises(InputError, match=r"^batch_size='100' is no whole number"):
        evaluator.evaluate("100")
    with pytest.raises(InputError, match=r"^filtering=0 is neither True nor False"):
        evaluator.evaluate(filtering=0)
    with pytest.raises(InputError, match="needs a DataLoader, not str"):
        Constant("HQ_DIR")


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
    whole = loader.filter_scores(pytorch.tensor([[2, 1, 2]]), pytorch.arange(3).reshape(1, 3), 0)
    assert whole.isnan().tolist() == [[True, True, False]]
