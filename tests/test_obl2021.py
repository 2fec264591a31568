"""The protocol of the OpenBioLink2021 challenge: hits among ten, and a file whose bytes depend on the lists alone."""

import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openbiolink.dataset import from_labelled
from openbiolink.errors import InputError
from openbiolink.evaluation.obl2021 import TopTen, evaluate_obl2021, load_obl2021

ENTITIES = [f"e{number:02}" for number in range(14)]
TEST = [("e00", "r", "e13"), ("e01", "r", "e02"), ("e13", "r", "e00")]
DATASET = from_labelled(train=TEST, valid=[], test=TEST, entities=ENTITIES)
ten = st.permutations(range(14)).map(lambda order: order[:10])
lists = st.lists(ten, min_size=3, max_size=3)


@settings(deadline=None, max_examples=25)
@given(heads=lists, tails=lists, dtype=st.sampled_from([np.int64, np.int32, np.uint8, None]))
def test_hits_are_counted_by_their_definition(heads, tails, dtype):
    given = [side if dtype is None else np.array(side, dtype) for side in (heads, tails)]
    found = evaluate_obl2021(*given, DATASET)
    ids = [(ENTITIES.index(head), ENTITIES.index(tail)) for head, _, tail in TEST]
    head = sum(answer in row for (answer, _), row in zip(ids, heads, strict=True))
    tail = sum(answer in row for (_, answer), row in zip(ids, tails, strict=True))
    assert found == TopTen(hits_at_10=(head + tail) / 6, head=head / 3, tail=tail / 3, triples=3, submission=None)
    assert type(found.hits_at_10) is float


def test_the_file_is_that_of_the_challenge_and_always_the_same(tmp_path):
    rng = np.random.default_rng(0)
    heads, tails = (np.stack([rng.permutation(14)[:10] for _ in TEST]) for _ in range(2))
    notes, path = [], tmp_path / "new" / "pred_OBL2021.npz"
    found = evaluate_obl2021(heads, tails, DATASET, submission=path, note=notes.append)
    assert found.submission == path
    assert notes == [f"{path}: has 6 rows, the challenge takes 361,928 (both sides of its test set)"]
    with np.load(path) as file:
        assert file.files == ["pred_top10"]
        assert file["pred_top10"].dtype == np.int32
        assert file["pred_top10"].tolist() == [*tails.tolist(), *heads.tolist()]
    first = path.read_bytes()
    other = np.asfortranarray(heads.astype(np.uint8)), tails.astype(">i8")
    evaluate_obl2021(*other, DATASET, submission=str(path))
    assert path.read_bytes() == first
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    with zipfile.ZipFile(path) as archive:
        assert [entry.date_time for entry in archive.infolist()] == [(1980, 1, 1, 0, 0, 0)]


def test_lists_that_the_challenge_would_not_take_are_refused(tmp_path):
    good = np.tile(np.arange(10), (3, 1))
    twice, low, high = (good.copy() for _ in range(3))
    twice[2, 9], low[1, 3], high[0, 9] = 4, -1, 14
    for wrong, message in (
        (good[:2], r"^the head predictions have shape \(2, 10\); expected \(3, 10\)"),
        (good[:, :9], r"have shape \(3, 9\)"),
        (good.astype(float), "have type float64; expected whole numbers"),
        (good.astype(bool), "have type bool"),
        ([[1, 2], [3]], "are ragged"),
        (low, "row 1 of the head predictions has id -1; the data set has ids from 0 to 13"),
        (high, "row 0 of the head predictions has id 14; "),
        (twice, "row 2 of the head predictions has id 4 twice; give ten different ids"),
    ):
        with pytest.raises(InputError, match=message):
            evaluate_obl2021(wrong, good, DATASET, submission=tmp_path / "x.npz")
        with pytest.raises(InputError, match="the tail predictions"):
            evaluate_obl2021(good, wrong, DATASET)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="no valid triples"):
        evaluate_obl2021(good, good, DATASET, part="valid")
    (tmp_path / "file").write_text("")
    for place, message in (
        ("pred_OBL2021", "is no name of a submission; give one that ends in .npz"),
        ("file/x.npz", "cannot be written"),
    ):
        with pytest.raises(InputError, match=message):
            evaluate_obl2021(good, good, DATASET, submission=tmp_path / place)


def test_tensors_are_understood():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed; the extra openbiolink[torch] brings it")
    rows = torch.arange(10).repeat(3, 1)
    assert evaluate_obl2021(rows, rows, DATASET) == evaluate_obl2021(rows.numpy(), rows.tolist(), DATASET)


def test_the_data_set_of_the_challenge_is_read_by_its_ids(tmp_path):
    (tmp_path / "entities.tsv").write_text("".join(f"{number}\tE:{number}\n" for number in range(12)))
    (tmp_path / "relations.tsv").write_text("0\tr\n1\tq\n")
    for part, text in (("train", "11\t0\t2\n2\t1\t10\n"), ("valid", ""), ("test", "10\t0\t2\n")):
        (tmp_path / f"{part}.tsv").write_text(text)
    notes = []
    dataset = load_obl2021(tmp_path, note=notes.append)
    assert dataset.train.tolist() == [[11, 0, 2], [2, 1, 10]]
    assert dataset.label(dataset.test[0]) == ("E:10", "r", "E:2")
    assert dataset.num_entities == 12
    assert "valid: no triples; the part is empty" in notes
    row = np.array([[10, 2, *range(3, 10), 0]])
    assert evaluate_obl2021(row, row, dataset).hits_at_10 == 1.0
    (tmp_path / "test.tsv").write_text("12\t0\t2\n")
    with pytest.raises(InputError, match="entity '12' of a triple is no id from 0 to 11"):
        load_obl2021(tmp_path)
