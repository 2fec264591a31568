"""Data sets from files and from lists: nothing lost, nothing changed, everything odd counted."""

import gzip
import hashlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openbiolink.dataset import from_labelled, load_dataset, read_dataset, reindex
from openbiolink.errors import InputError
from openbiolink.tables import open_database, read_delimited

SAMPLE = {"train": "train_sample.csv", "valid": "val_sample.csv", "test": "test_sample.csv"}
TRAIN = [("b", "r", "a"), ("a", "q", "c")]
VALID = [("c", "r", "a")]
TEST = [("a", "r", "c"), ("a", "r", "c")]

labels = st.text(st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\ufeff"), min_size=1, max_size=6)
triples = st.lists(st.tuples(labels, labels, labels), max_size=6)


def lines(rows, *, end="\n"):
    return "".join("\t".join(row) + end for row in rows)


def write_plain(folder, train=TRAIN, valid=VALID, test=TEST):
    folder.mkdir(parents=True, exist_ok=True)
    for part, rows in (("train", train), ("valid", valid), ("test", test)):
        (folder / f"{part}.txt").write_text(lines(rows), encoding="utf-8", newline="\n")
    return folder


def write_split(folder, train=TRAIN, valid=VALID, test=TEST):
    folder.mkdir(parents=True, exist_ok=True)
    for part, rows in (("train", train), ("valid", valid), ("test", test)):
        text = lines((*row, "NA", "1", "SRC") for row in rows)
        (folder / SAMPLE[part]).write_text(text, encoding="utf-8", newline="\n")
    return folder


def labelled(dataset, part):
    return [dataset.label(triple) for triple in dataset.part(part)]


def test_plain_files(tmp_path):
    dataset = load_dataset(write_plain(tmp_path))
    assert dataset.entities == ("a", "b", "c")
    assert dataset.relations == ("q", "r")
    assert dataset.train.tolist() == [[1, 1, 0], [0, 0, 2]]
    assert (labelled(dataset, "train"), labelled(dataset, "valid"), labelled(dataset, "test")) == (TRAIN, VALID, TEST)
    assert not dataset.train.flags.writeable


@pytest.mark.parametrize("below", ["", "train_test_data"])
def test_split_folder(tmp_path, below):
    write_split(tmp_path / below)
    (tmp_path / below / "negative_train_sample.csv").write_text("x\tr\ty\t\t0\tSRC\n")
    assert labelled(load_dataset(tmp_path), "train") == TRAIN


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(train=triples, valid=triples, test=triples, kind=st.sampled_from([write_plain, write_split]))
def test_every_label_survives_letter_for_letter_and_in_order(tmp_path, train, valid, test, kind):
    if not (train or valid or test):
        train = [("NA", "nan", "null")]
    folder = tmp_path / kind.__name__
    dataset = load_dataset(kind(folder, train, valid, test))
    assert [labelled(dataset, part) for part in ("train", "valid", "test")] == [train, valid, test]
    rows = train + valid + test
    assert dataset.entities == tuple(sorted({label for row in rows for label in (row[0], row[2])}))
    assert dataset.relations == tuple(sorted({row[1] for row in rows}))
    assert dataset.checksum == from_labelled(train=train, valid=valid, test=test).checksum


def test_order_is_that_of_the_file_at_scale(tmp_path):
    rows = [(f"e{number * 7919 % 50_021}", f"r{number % 7}", f"e{number}") for number in range(200_000)]
    dataset = load_dataset(write_plain(tmp_path, rows, [], []))
    position = {label: number for number, label in enumerate(dataset.entities)}
    assert np.array_equal(dataset.train[:, 0], [position[head] for head, _, _ in rows])
    assert np.array_equal(dataset.train[:, 2], [position[tail] for _, _, tail in rows])


def test_packed_and_differently_ended_files_are_the_same_data(tmp_path):
    plain = load_dataset(write_plain(tmp_path / "plain"))
    packed = tmp_path / "packed"
    packed.mkdir()
    (packed / "train.txt.gz").write_bytes(gzip.compress(lines(TRAIN).encode()))
    (packed / "valid.tsv").write_bytes(lines(VALID, end="\r\n").encode())
    (packed / "test.tsv").write_bytes(b"\xef\xbb\xbf" + lines(TEST).strip().encode())
    other = load_dataset(packed)
    assert other.checksum == plain.checksum == load_dataset(write_split(tmp_path / "split")).checksum
    assert other.files["train"] == hashlib.sha256((packed / "train.txt.gz").read_bytes()).hexdigest()
    assert other.files["train"] != plain.files["train"]
    assert load_dataset(write_plain(tmp_path / "else", TRAIN[::-1])).checksum != plain.checksum


def test_na_like_ids(cases, tmp_path):
    rows = [line.split("\t")[:3] for line in (cases / "c07-na-like-ids-edges.tsv").read_text().splitlines()]
    wanted = {"NA", "nan", "null", "None", "inf", "1E5", "TRUE", "DOID:9901", "DOID:9902", "DOID:9903"}
    for kind in (write_plain, write_split):
        dataset = load_dataset(kind(tmp_path / kind.__name__, rows, [], []))
        assert len(dataset.train) == 6
        assert set(dataset.entities) == wanted


def test_leading_zeros(cases):
    path = cases / "c12-leading-zeros-triples.tsv"
    dataset = read_dataset(train=path, valid=path, test=path)
    assert dataset.entities == ("0060001", "060001", "0900003")
    with open_database() as (connection, _):
        mapping = cases / "c12-leading-zeros-map.tsv"
        read_delimited(connection, mapping, table="map", columns=("umls", "doid"), note=print, skip=1)
        cells = [cell for row in connection.execute("FROM map").fetchall() for cell in row]
    assert cells == ["9900001", "0060001", "9900002", "060001", "0900003", "1"]


def test_unseen_in_test_is_counted_and_said(cases):
    notes = []
    paths = {part: cases / f"c30-unseen-in-test-{part}.tsv" for part in ("train", "valid", "test")}
    dataset = read_dataset(**paths, note=notes.append)
    assert len(dataset.test) == 3
    unseen = dataset.unseen["test"]
    assert (unseen.triples, unseen.by_entity, unseen.by_relation) == (2, 1, 1)
    assert (unseen.entities, unseen.relations) == (1, 1)
    assert dataset.unseen["valid"].triples == 0
    said = "test: 2 of 3 triples hold what train lacks: 1 an entity (1 different), 1 a relation (1 different)"
    assert notes == [said]
    assert dataset.notes == (said,)


def test_ragged_rows(cases, tmp_path):
    path = cases / "c31-ragged-rows-edges.tsv"
    with (
        open_database() as (connection, _),
        pytest.raises(InputError, match=r"line 2 \(3 cells\), line 4 \(6 cells\), line 5 \(1 cells\)"),
    ):
        read_delimited(connection, path, table="edges", columns=("a", "b", "c", "d", "e"), note=print)
    write_plain(tmp_path)
    (tmp_path / "valid.txt").write_text("a\tr\tb\n\na\tr\na r b\n")
    with pytest.raises(InputError, match=r"valid.txt, line 3 \(2 cells\), line 4 \(1 cells\)"):
        load_dataset(tmp_path)


def test_empty_parts_are_allowed_and_said(cases):
    notes = []
    paths = {part: cases / f"c37-empty-test-{part}.tsv" for part in ("train", "valid", "test")}
    dataset = read_dataset(**paths, note=notes.append)
    assert (len(dataset.train), len(dataset.valid), len(dataset.test)) == (1, 0, 0)
    assert dataset.test.shape == (0, 3)
    assert notes == ["valid: no triples; the part is empty", "test: no triples; the part is empty"]


def test_nothing_at_all_is_refused(tmp_path):
    with pytest.raises(InputError, match="no triples, nor in the other parts"):
        load_dataset(write_plain(tmp_path, [], [], []))


def test_a_hash_sign_begins_an_id_like_any_other(tmp_path):
    rows = [("#1", "#r", "# 2"), ('"', "'", "a b")]
    assert labelled(load_dataset(write_plain(tmp_path, rows)), "train") == rows


def test_repeated_rows_and_test_triples_in_train_are_counted(tmp_path):
    notes = []
    dataset = load_dataset(write_plain(tmp_path, TRAIN + TRAIN[:1], VALID, [*TEST, TRAIN[0]]), note=notes.append)
    assert dict(dataset.duplicates) == {"train": 1, "valid": 0, "test": 1}
    assert dict(dataset.in_train) == {"valid": 0, "test": 1}
    assert len(dataset.train) == 3
    assert notes == [
        "train: 1 of 3 rows repeat an earlier row; they are kept",
        "test: 1 of 3 rows repeat an earlier row; they are kept",
        "test: 1 of 3 triples are also in train",
    ]


def test_an_empty_id_is_refused_with_its_line(tmp_path):
    write_plain(tmp_path)
    (tmp_path / "test.txt").write_text("a\tr\tb\n\n  \na\tr\t\na\t\tb\n")
    with pytest.raises(InputError, match=r"test.txt, line 4: an empty id; give every id \(such rows: 2\)"):
        load_dataset(tmp_path)


def test_a_negative_among_the_triples_is_refused_with_its_line(tmp_path):
    write_split(tmp_path)
    with (tmp_path / "val_sample.csv").open("a") as stream:
        stream.write("c\tr\tb\t\t0\tSRC\n")
    with pytest.raises(InputError, match=r"val_sample.csv, line 2: a negative \(value 0\)"):
        load_dataset(tmp_path)


def test_folders_that_hold_no_data_set_or_two(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        load_dataset(tmp_path / "absent")
    with pytest.raises(InputError, match="holds no data set; expected train_sample"):
        load_dataset(tmp_path)
    write_split(write_plain(tmp_path))
    with pytest.raises(InputError, match="holds more than one data set"):
        load_dataset(tmp_path)


def test_parts_that_are_absent_or_there_twice(tmp_path):
    write_plain(tmp_path)
    (tmp_path / "valid.txt").rename(tmp_path / "val.txt")
    with pytest.raises(InputError, match=r"has train.txt but no valid.txt; add it, .* an empty file"):
        load_dataset(tmp_path)
    (tmp_path / "val.txt").rename(tmp_path / "valid.txt")
    (tmp_path / "test.txt.gz").write_bytes(gzip.compress(b""))
    with pytest.raises(InputError, match=r"has test.txt and test.txt.gz; keep the one that is meant"):
        load_dataset(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_dataset(train=tmp_path / "train.txt", valid=tmp_path / "absent", test=tmp_path / "test.txt")


def test_reindex_gives_the_ids_that_were_asked_for():
    dataset = from_labelled(train=TRAIN, valid=VALID, test=TEST)
    moved = reindex(dataset, entities=["c", "x", "b", "a"], relations=["r", "q"])
    assert moved.train.tolist() == [[2, 0, 3], [3, 1, 0]]
    assert [labelled(moved, part) for part in ("train", "valid", "test")] == [TRAIN, VALID, TEST]
    assert moved.num_entities == 4
    assert moved.checksum == dataset.checksum
    with pytest.raises(InputError, match="entity 'a' is given twice"):
        reindex(dataset, entities=["a", "b", "a", "c"], relations=["r", "q"])
    with pytest.raises(InputError, match="1 relation labels of the data set, 'q' first, are not in the order"):
        reindex(dataset, entities=["a", "b", "c"], relations=["r"])


@pytest.mark.parametrize("triple", [("a", "r"), ("a", "r", ""), ("a", "r", 1), ("a", "r", "b", "c"), None, "arb"])
def test_what_is_no_labelled_triple_is_refused(triple):
    with pytest.raises(InputError, match=r"valid triple 2 is .*; expected three labels"):
        from_labelled(train=TRAIN, valid=[*VALID, triple], test=TEST)


def test_graphs_beyond_64_bits_are_refused():
    dataset = from_labelled(train=TRAIN, valid=VALID, test=TEST)

    class Many(tuple):
        __slots__ = ()

        def __len__(self):
            return 2**32

    large = type(dataset)(**{name: getattr(dataset, name) for name in dataset.__slots__} | {"entities": Many()})
    with pytest.raises(InputError, match="4294967296 entities with 2 relations are more than can be numbered"):
        large.codes(large.train)
