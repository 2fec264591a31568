"""The index of known answers: what a plain dictionary says, kept beside the data set while that stays the same."""

import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openbiolink import dataset as reading
from openbiolink import load_dataset
from openbiolink.dataset import PARTS, from_labelled
from openbiolink.evaluation.known import ANSWER_COLUMN, find_known, query_codes
from openbiolink.files import INDEX_FILE, replaced_folder
from openbiolink.index import load_index

LABELS = st.sampled_from("abcde")
TRIPLES = st.lists(st.tuples(LABELS, st.sampled_from("rs"), LABELS), min_size=1, max_size=20)


@settings(deadline=None, max_examples=25)
@given(train=TRIPLES, valid=TRIPLES, test=TRIPLES, parts=st.lists(st.sampled_from(PARTS), unique=True))
def test_known_answers_are_those_of_a_dictionary(train, valid, test, parts):
    graph = from_labelled(train=train, valid=valid, test=test)
    every = [tuple(triple) for part in parts for triple in graph.part(part).tolist()]
    for side, column in ANSWER_COLUMN.items():
        known = find_known(graph, side, parts)
        begin, end = known.spans(query_codes(graph, graph.test, side))
        for row, triple in enumerate(graph.test.tolist()):
            others = [place for place in (0, 1, 2) if place != column]
            wanted = {other[column] for other in every if all(other[place] == triple[place] for place in others)}
            assert known.answers[begin[row] : end[row]].tolist() == sorted(wanted)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "KEPT_FROM", 1)
    texts = {"train": "b\tr\ta\na\ts\tb\nb\tr\tc\n", "valid": "b\tr\ta\n", "test": "c\ts\tb\né\tr\tb\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    return tmp_path


def shown(dataset):
    parts = [dataset.part(part).tolist() for part in PARTS]
    facts = [dataset.checksum, dict(dataset.files), dict(dataset.unseen), dict(dataset.duplicates)]
    index = [
        [getattr(dataset.index.known[side], name).tolist() for name in reading.INDEX_ARRAYS] for side in ANSWER_COLUMN
    ]
    return parts, facts, dict(dataset.in_train), dataset.notes, dataset.entities, dataset.relations, index


def must_not_read(*_, **__):
    raise AssertionError("the files were read again")


def test_a_kept_index_gives_the_same_data_set_without_reading_the_files(folder, monkeypatch):
    said, again = [], []
    first = load_dataset(folder, index=True, note=said.append)
    assert (folder / INDEX_FILE).is_file()
    monkeypatch.setattr(reading, "_read", must_not_read)
    assert shown(load_dataset(folder, index=True, note=again.append)) == shown(first)
    assert again == said
    assert said


def test_files_that_were_only_touched_are_compared_by_checksum(folder, monkeypatch):
    first = load_dataset(folder, index=True)
    os.utime(folder / "train.txt", (1, 1))
    monkeypatch.setattr(reading, "_read", must_not_read)
    notes = []
    assert shown(load_dataset(folder, index=True, note=notes.append)) == shown(first)
    assert "SHA-256" in notes[0]


@pytest.mark.parametrize("same_length", [True, False])
def test_a_changed_file_is_read_again(folder, same_length):
    load_dataset(folder, index=True)
    text = "b\tr\ta\na\ts\tb\nc\tr\ta\n" if same_length else "b\tr\ta\na\ts\tb\n"
    (folder / "train.txt").write_text(text, encoding="utf-8")
    plain, indexed = load_dataset(folder), load_dataset(folder, index=True)
    assert indexed.checksum == plain.checksum
    assert np.array_equal(indexed.train, plain.train)
    assert load_index(folder)[0]["checksum"] == plain.checksum


@pytest.mark.parametrize("left", [0, 1, 100, 600, -1])
def test_a_damaged_index_is_no_index(folder, left):
    first = load_dataset(folder, index=True)
    whole = (folder / INDEX_FILE).read_bytes()
    (folder / INDEX_FILE).write_bytes(whole[:left])
    assert load_index(folder) is None
    assert shown(load_dataset(folder, index=True)) == shown(first)
    assert len((folder / INDEX_FILE).read_bytes()) == len(whole)


@pytest.mark.parametrize("place", [0.1, 0.6, 0.9])
def test_a_changed_byte_of_an_index_is_found(folder, place):
    first = load_dataset(folder, index=True)
    whole = bytearray((folder / INDEX_FILE).read_bytes())
    whole[int(place * len(whole))] ^= 1
    (folder / INDEX_FILE).write_bytes(whole)
    assert load_index(folder) is None
    assert shown(load_dataset(folder, index=True)) == shown(first)


def test_a_folder_that_takes_no_file_is_read_all_the_same(folder, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(reading, "save_index", refuse)
    notes = []
    assert load_dataset(folder, index=True, note=notes.append).index is not None
    assert "was not kept (Permission denied)" in notes[-1]


def test_an_index_of_other_triples_is_not_used(folder):
    whole = load_dataset(folder, index=True)
    for other in (replace(whole, test=whole.test[:1]), replace(whole, entities=(*whole.entities, "zz"))):
        plain = replace(other, index=None)
        for side in ANSWER_COLUMN:
            found, wanted = (find_known(one, side, PARTS) for one in (other, plain))
            assert all(np.array_equal(getattr(found, name), getattr(wanted, name)) for name in reading.INDEX_ARRAYS)
    assert find_known(whole, "head", PARTS) is whole.index.known["head"]


def test_small_data_sets_are_not_indexed_on_disk(folder, monkeypatch):
    monkeypatch.setattr(reading, "KEPT_FROM", 1_000_000)
    load_dataset(folder, index=True)
    assert not (folder / INDEX_FILE).exists()


def test_an_index_does_not_keep_a_folder_from_being_replaced(folder):
    load_dataset(folder, index=True)
    with replaced_folder(folder, owned=lambda name: name.endswith(".txt")) as fresh:
        (fresh / "train.txt").write_text("new")
    assert [entry.name for entry in folder.iterdir()] == ["train.txt"]
