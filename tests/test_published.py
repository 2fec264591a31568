"""Published data sets are fetched, unpacked so that nothing else is touched, counted, and compared with the table."""

import errno
import gzip
import hashlib
import io
import json
import os
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from loopback import File, http_server
from openbiolink.cli import app
from openbiolink.errors import InputError
from openbiolink.evaluation.dataLoader import DataLoader
from openbiolink.sources import archive as archive_module
from openbiolink.sources import published as published_module
from openbiolink.sources.archive import check_archive, open_archive, unpack_archive
from openbiolink.sources.fetch import FetchOptions, Listener
from openbiolink.sources.published import PublishedSet, PublishedSets, fetch_published, hold, load_published, splits
from openbiolink.sources.servers import Patience

QUICK = FetchOptions(patience=Patience(connect=5.0, stall=5.0, retries=0, backoff=0.001, longest_wait=0.01))
POSITIVE = {"train": "a\tr\tb\nb\tr\tc\nc\tq\ta\n", "val": "a\tr\tc\n", "test": "b\tr\ta\na\tq\tc\n"}
NEGATIVE = {"train": "a\tr\td\n", "val": "c\tr\tc\n", "test": "c\tr\ta\n"}
COUNTS = {"train": 4, "valid": 2, "test": 3, "entities": 4, "relations": 2}
SEED = {  # the summary of the documentation that the project was created from
    "HQ_DIR": (8503580, 401901, 397066, 184732, 28),
    "HQ_UNDIR": (7559921, 372877, 357297, 184722, 28),
    "ALL_DIR": (51636927, 2079139, 2474921, 486998, 32),
    "ALL_UNDIR": (41383093, 2010662, 1932436, 486998, 32),
}


def rows(text, value):
    return text.replace("\n", f"\tNA\t{value}\tSRC\n")


def split_files(top="HQ_DIR/", negatives=True):
    files = {f"{part}_sample.csv": rows(text, 1) for part, text in POSITIVE.items()}
    if negatives:
        files |= {f"negative_{part}_sample.csv": rows(text, 0) for part, text in NEGATIVE.items()}
    return {
        f"{top}graph_files/edges.csv": "a\tr\tb\n",
        **{f"{top}train_test_data/{name}": text for name, text in files.items()},
    }


def ids_files():
    return {
        "entities.tsv": "0\ta\n1\tb\n2\tc\n",
        "relations.tsv": "0\tr\n",
        "train.tsv": "0\t0\t1\n1\t0\t2\n",
        "valid.tsv": "0\t0\t2\n",
        "test.tsv": "2\t0\t0\n",
        "_dict_of_heads.pkl": "never read",
    }


def zipped(files, *, change=lambda entry: None):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            change(entry)
            made.writestr(entry, text)
    return stream.getvalue()


def flipped(data):
    """The archive with another byte in the middle of its first file."""
    place = 30 + len("HQ_DIR/graph_files/edges.csv") + 3
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def taped(*entries):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as made:
        for entry, text in entries:
            entry.size = len(text)
            made.addfile(entry, io.BytesIO(text))
    return stream.getvalue()


def saved(folder, data, name="some.zip"):
    path = folder / name
    path.write_bytes(data)
    return path


def tree(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def server():
    with http_server() as memory:
        memory.serve("/HQ_DIR.zip", File(data=zipped(split_files()), etag='"1"'))
        memory.serve("/KGID_HQ_DIR.zip", File(data=zipped(ids_files())))
        memory.serve("/openbiolink.bel.gz", File(data=gzip.compress(b"SET DOCUMENT\n", mtime=0)))
        yield memory


@pytest.fixture
def small(monkeypatch):
    """The table of data sets, with the numbers of the small ones that are served here."""
    table = load_published().sources
    numbers = {
        "HQ_DIR": {"counts": COUNTS, "positives": {"train": 3, "valid": 1, "test": 2}},
        "OBL2021": {"counts": {"train": 2, "valid": 1, "test": 1, "entities": 3, "relations": 1}},
    }
    changed = {name: entry.model_copy(update=numbers.get(name, {})) for name, entry in table.items()}
    monkeypatch.setattr(published_module, "load_published", lambda: PublishedSets(sources=changed))


def get(name, root, server, notes=None):
    listener = Listener(note=(notes if notes is not None else []).append)
    return fetch_published(name, root, mirror=server.url(""), options=QUICK, listener=listener)


# the table -----------------------------------------------------------------------------------------------------------


def test_the_table_holds_what_was_published():
    table = load_published().sources
    twins = [f"RDF_{name}" for name in SEED]
    assert list(table) == [*SEED, *twins, "BEL", "BEL_NODELINK", "OBL2021"]
    assert splits() == tuple(SEED)
    for name, numbers in SEED.items():
        assert tuple(table[name].counts.values()) == numbers
        assert list(table[name].counts) == ["train", "test", "valid", "entities", "relations"]
        assert all(count < table[name].counts[part] for part, count in table[name].positives.items())
    for name, entry in table.items():
        assert entry.addresses
        assert entry.addresses[0].url.startswith("https://zenodo.org/record/")
        assert entry.file_name() == entry.addresses[0].url.rpartition("/")[2], name
    assert len({entry.file_name() for entry in table.values()}) == len(table)


def test_an_unknown_name_is_met_with_the_known_ones(tmp_path):
    with pytest.raises(InputError, match=r"unknown data set 'hq_dr' \(did you mean 'HQ_DIR'\?\); published are HQ_DIR"):
        fetch_published("hq_dr", tmp_path)


# fetching ------------------------------------------------------------------------------------------------------------


def test_a_split_is_fetched_unpacked_counted_and_kept(tmp_path, server, small):
    notes = []
    held = get("HQ_DIR", tmp_path / "new" / "sets", server, notes)
    assert (held.kept, held.counts, held.differences, held.changed) == (False, COUNTS, (), ())
    assert held.positives == {"train": 3, "valid": 1, "test": 2, "entities": 3, "relations": 2}
    assert held.sha256 == hashlib.sha256(zipped(split_files())).hexdigest()
    assert held.url == server.url("/HQ_DIR.zip")
    assert notes == []
    root = tmp_path / "new" / "sets"
    assert tree(root) == sorted([*split_files(), "HQ_DIR/published.json"])
    assert (root / "HQ_DIR/train_test_data/train_sample.csv").read_text() == rows(POSITIVE["train"], 1)
    server.asked.clear()
    again = get("HQ_DIR", root, server, notes)
    assert again.kept
    assert (again.counts, again.files, again.url, again.sha256) == (held.counts, held.files, held.url, held.sha256)
    assert server.asked == []


def test_numbers_that_were_not_published_are_said_and_the_data_set_is_there(tmp_path, server):
    notes = []
    held = get("HQ_DIR", tmp_path, server, notes)
    assert notes == list(held.differences)
    assert "HQ_DIR: train has 4, published are 8,503,580" in notes
    assert "HQ_DIR: valid has 1 positives, known are 188,394" in notes
    assert len(notes) == 8
    assert held.folder.is_dir()


def test_without_negatives_only_positives_are_compared(tmp_path, server):
    server.serve("/HQ_DIR.zip", File(data=zipped(split_files(negatives=False))))
    held = get("HQ_DIR", tmp_path, server)
    assert [line.partition(" has")[0] for line in held.differences] == [
        f"HQ_DIR: {p}" for p in ("train", "test", "valid")
    ]


def test_numbers_that_cannot_be_compared_without_negatives_are_said(tmp_path, server):
    server.serve("/HQ_UNDIR.zip", File(data=zipped(split_files("HQ_UNDIR/", negatives=False))))
    notes = []
    assert get("HQ_UNDIR", tmp_path, server, notes).differences == ()
    assert len(notes) == 1
    assert notes[0].startswith(f"{tmp_path / 'HQ_UNDIR'}: has no files of negatives; the published numbers")


def test_ids_have_no_pickles_and_other_kinds_are_only_unpacked(tmp_path, server, small):
    notes = []
    held = get("OBL2021", tmp_path, server, notes)
    assert held.differences == ()
    assert notes == ["KGID_HQ_DIR.zip: pickled files that were not unpacked: _dict_of_heads.pkl"]
    assert "_dict_of_heads.pkl" not in tree(held.folder)
    bel = get("BEL", tmp_path, server)
    assert tree(bel.folder) == ["openbiolink.bel.gz", "published.json"]
    assert bel.counts == {}
    assert tree(tmp_path)[-1] == "OBL2021/valid.tsv"


def test_a_cut_transfer_goes_on_where_it_was(tmp_path, server, small):
    data = zipped({**split_files(), "HQ_DIR/noise.bin": os.urandom(60_000).hex()})
    whole = File(data=data, etag='"2"')
    server.serve("/HQ_DIR.zip", File(data=data, etag='"2"', cut=20_000))
    with pytest.raises(InputError, match=r"HQ_DIR: .*broke off .* download .*/HQ_DIR.zip by hand and save it as "):
        get("HQ_DIR", tmp_path, server)
    assert not (tmp_path / "HQ_DIR").exists()
    server.serve("/HQ_DIR.zip", whole)
    get("HQ_DIR", tmp_path, server)
    assert server.ranges("/HQ_DIR.zip")[-1] == "bytes=20000-"
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"<!doctype html><html>gone</html>", "web page"),
        (zipped(split_files())[:-50], "cannot be unpacked"),
        (flipped(zipped(split_files())), "cannot be unpacked"),
        (
            zipped({"HQ_DIR/readme.txt": "nothing"}),
            "HQ_DIR.zip: holds no HQ_DIR, it lacks train_test_data/train_sample",
        ),
        (zipped({**split_files(), "HQ_DIR/../../evil": "x"}), "no plain name"),
        (
            zipped({**split_files(), "HQ_DIR/train_test_data/val_sample.csv": "a\tr\n"}),
            r"HQ_DIR.zip: train_test_data/val_sample.csv.*line 1 \(2 cells\)",
        ),
    ],
)
def test_what_is_no_such_data_set_leaves_no_folder(tmp_path, server, data, message):
    server.serve("/HQ_DIR.zip", File(data=data))
    with pytest.raises(InputError, match=message) as caught:
        get("HQ_DIR", tmp_path, server)
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir() if path.name != "HQ_DIR.zip"] == []


def test_an_archive_that_was_put_there_by_hand_is_used_and_stays(tmp_path, server, small):
    saved(tmp_path, zipped(split_files(top="")), "HQ_DIR.zip")
    (tmp_path / "HQ_DIR").mkdir()  # empty, as an earlier program left it
    held = fetch_published("HQ_DIR", tmp_path, options=FetchOptions(online=False))
    assert (held.counts, held.url) == (COUNTS, "")
    assert (tmp_path / "HQ_DIR.zip").is_file()


def test_something_else_in_its_place_is_left_alone(tmp_path, server):
    (tmp_path / "HQ_DIR").mkdir()
    (tmp_path / "HQ_DIR" / "mine.txt").write_text("x")
    with pytest.raises(InputError, match=r"HQ_DIR: holds no HQ_DIR, it lacks train_test_data/.*; move it away"):
        get("HQ_DIR", tmp_path, server)
    assert tree(tmp_path) == ["HQ_DIR/mine.txt"]


def test_a_data_set_without_an_address_is_got_by_hand(tmp_path, monkeypatch):
    entry = PublishedSet(title="t", kind="bel", homepage="https://example.org", by_hand="ask them", saved_as="x.gz")
    monkeypatch.setattr(published_module, "load_published", lambda: PublishedSets(sources={"X": entry}))
    with pytest.raises(
        InputError, match=r"X: no address gives it, it must be got by hand \(ask them\); save it as .*x.gz"
    ):
        fetch_published("X", tmp_path)


def test_a_changed_file_and_a_broken_record_are_told(tmp_path, server, small):
    held = get("HQ_DIR", tmp_path, server)
    target = held.folder / "graph_files" / "edges.csv"
    target.write_text("changed")
    (held.folder / "more.txt").write_text("x")  # such as an index
    (held.folder / "train_test_data" / "negative_val_sample.csv").unlink()
    found = hold(held.folder)
    assert found.changed == ("graph_files/edges.csv", "train_test_data/negative_val_sample.csv")
    assert found.differences[0] == "HQ_DIR: valid has 1, published are 2"
    notes = []
    assert get("HQ_DIR", tmp_path, server, notes).kept
    assert notes[-1] == f"{held.folder}: files that are not as they were fetched: {', '.join(found.changed)}"
    (held.folder / "published.json").write_text("{}")
    with pytest.raises(InputError, match=r"published.json: is no record .*; remove it"):
        hold(held.folder)


# archives ------------------------------------------------------------------------------------------------------------

NAMES = st.lists(st.text(st.sampled_from("ab.é-"), min_size=1, max_size=3), min_size=1, max_size=3).map("/".join)


@settings(deadline=None, max_examples=25)
@given(files=st.dictionaries(NAMES, st.binary(max_size=40), min_size=1, max_size=5), as_tar=st.booleans())
def test_an_archive_is_unpacked_as_it_was_packed_or_not_at_all(tmp_path_factory, files, as_tar):
    folder = tmp_path_factory.mktemp("archive")
    entries = [(tarfile.TarInfo(f"top/{name}"), text) for name, text in files.items()]
    data = taped(*entries) if as_tar else zipped({f"top/{name}": text for name, text in files.items()})
    path = saved(folder, data)
    target = folder / "target"
    target.mkdir()
    try:
        check_archive(path)
    except InputError as error:
        assert "not unpacked" in str(error)
        assert tree(target) == []
        return
    assert unpack_archive(path, target) == []
    found = {name: (target / name).read_bytes() for name in tree(target)}
    assert {f"top/{name}" for name in found} >= {f"top/{name}" for name in files} or len(found) == len(files)
    assert sorted(found.values()) == sorted(files.values())
    assert sorted(path.name for path in folder.iterdir()) == ["some.zip", "target"]


@pytest.mark.parametrize(
    "name",
    [
        "/etc/x",
        "../x",
        "a/../../x",
        "a/./b",
        "C:/x",
        "a\\..\\x",
        "a//b",
        "a\x01",
        "",
        "a/..b/../x",
        "con:x",
        "a/b.",
        "a ",
    ],
)
def test_names_that_lead_elsewhere_are_refused(tmp_path, name):
    datas = [taped((tarfile.TarInfo("ok"), b"x"), (tarfile.TarInfo(name or "/"), b"x"))]
    if name:
        datas.append(zipped({"ok": "x", name: "x"}))
    for data in datas:
        path = saved(tmp_path, data)
        with pytest.raises(InputError, match="is no plain name of a file in a folder; the archive is not unpacked"):
            check_archive(path)


def linked(kind, target="/etc/passwd"):
    entry = tarfile.TarInfo("link")
    entry.type, entry.linkname = kind, target
    return entry


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(tmp_path, kind):
    with pytest.raises(InputError, match="'link' is a link or a device, not a file"):
        check_archive(saved(tmp_path, taped((tarfile.TarInfo("a"), b"x"), (linked(kind), b""))))

    def change(entry):
        entry.create_system, entry.external_attr = 3, (stat.S_IFLNK | 0o777) << 16

    with pytest.raises(InputError, match="'a' is a link or a device"):
        check_archive(saved(tmp_path, zipped({"a": "/etc/passwd"}, change=change)))


@pytest.mark.parametrize("names", [("a", "A"), ("a", "a/b"), ("a/b", "A"), ("é/x", "É")])
def test_two_files_of_one_place_are_refused(tmp_path, names):
    with pytest.raises(InputError, match="stands there twice, letter case aside"):
        check_archive(saved(tmp_path, zipped(dict.fromkeys(names, "x"))))


def test_archives_that_are_too_large_lie_or_are_damaged_are_refused(tmp_path, monkeypatch):
    path = saved(tmp_path, zipped({"a": "x" * 5000, "b": "y"}))
    with (
        pytest.raises(InputError, match=r"has 5,001 bytes unpacked, more than the 5,000"),
        open_archive(path, most_bytes=5000),
    ):
        pass
    with open_archive(path) as members:
        assert [member.size for member in members] == [5000, 1]
    monkeypatch.setattr(archive_module, "MOST_MEMBERS", 1)
    with pytest.raises(InputError, match="holds more than 1 files"):
        check_archive(path)
    monkeypatch.undo()
    monkeypatch.setattr(archive_module.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 10}))
    with pytest.raises(InputError, match=r"has 10 bytes free, some.zip unpacked needs 5,001; make room"):
        unpack_archive(path, tmp_path)
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\x01\x02")  # the entry of b in the list: 4 bytes of size after 24
    data[place + 24 : place + 28] = (9).to_bytes(4, "little")
    with pytest.raises(InputError, match=r"ends 8 bytes too early|is no whole zip"):
        check_archive(saved(tmp_path, bytes(data)))
    for damaged in (b"PK\x03\x04 not more", b"nothing", zipped({})):
        with pytest.raises(InputError, match=r"is no whole zip or tar archive|holds no file"):
            check_archive(saved(tmp_path, damaged))


def test_what_is_packed_is_read_to_the_checksum_at_its_end(tmp_path):
    entry, text = tarfile.TarInfo("a"), os.urandom(50_000)
    whole = taped((entry, text))
    check_archive(saved(tmp_path, whole))
    data = bytearray(gzip.compress(gzip.decompress(whole), 0))
    check_archive(saved(tmp_path, bytes(data)))
    data[20_000] ^= 1  # in what is packed as it is, so that only the checksum tells
    for read in (check_archive, lambda path: unpack_archive(path, tmp_path)):
        with pytest.raises(InputError, match="is no whole zip or tar archive"):
            read(saved(tmp_path, bytes(data)))


def test_other_packings_that_are_damaged_and_full_disks_are_told(tmp_path, monkeypatch):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_LZMA) as made:
        made.writestr("a", os.urandom(1000).hex())
    data = bytearray(stream.getvalue())
    data[200:260] = b"\xff" * 60
    with pytest.raises(InputError, match="is no whole zip or tar archive"):
        check_archive(saved(tmp_path, bytes(data)))
    path = saved(tmp_path, zipped({"a": "x"}))
    monkeypatch.setattr(archive_module, "_pieces", full)
    with pytest.raises(InputError, match=r"cannot be unpacked \(No space left on device\); make room"):
        unpack_archive(path, tmp_path)


def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


# commands and the door -----------------------------------------------------------------------------------------------


def run(folder, *words):
    return CliRunner().invoke(app, ["-p", str(folder), "datasets", *words], env={"COLUMNS": "200"})


def test_the_commands_list_fetch_and_show(tmp_path, server, small):
    listed = run(tmp_path, "list")
    assert listed.exit_code == 0
    assert all(name in listed.output for name in load_published().sources)
    before = run(tmp_path, "info", "HQ_DIR")
    assert "openbiolink datasets fetch HQ_DIR" in before.output
    fetched = run(tmp_path, "fetch", "HQ_DIR", "--mirror", server.url("/"))
    assert fetched.exit_code == 0, fetched.output
    assert fetched.stdout.split() == [str(tmp_path / "dataset" / "HQ_DIR")]
    rows = {row["name"]: row for row in json.loads(run(tmp_path, "list", "--json").output)}
    assert [name for name, row in rows.items() if row["here"]] == ["HQ_DIR"]
    for words in (("info", "HQ_DIR"), ("info", str(tmp_path / "dataset" / "HQ_DIR"))):
        shown = run(tmp_path, *words)
        assert shown.exit_code == 0, shown.output
        assert "train 4, test 3, valid 2, entities 4, relations 2" in shown.output
        facts = json.loads(run(tmp_path, *words, "--json").stdout)
        assert facts["counted"] == COUNTS
        assert facts["archive_sha256"] == hashlib.sha256(zipped(split_files())).hexdigest()
    Path(facts["folder"], "graph_files/edges.csv").write_text("")
    assert [run(tmp_path, word, "HQ_DIR").exit_code for word in ("info", "fetch")] == [1, 1]
    assert isinstance(run(tmp_path, "fetch", "NO").exception, InputError)
    assert isinstance(run(tmp_path, "fetch", "BEL", "--mirror", "here").exception, InputError)


def test_a_number_that_was_not_published_is_status_1(tmp_path, server):
    assert run(tmp_path, "fetch", "HQ_DIR", "--mirror", server.url("")).exit_code == 1
    assert run(tmp_path, "info", "HQ_DIR").exit_code == 1


def test_info_shows_any_data_set(tmp_path):
    for part, text in (("train", "a\tr\tb\nb\tr\ta\n"), ("valid", ""), ("test", "a\tr\ta\n")):
        (tmp_path / f"{part}.txt").write_text(text)
    shown = run(tmp_path, "info", str(tmp_path))
    assert shown.exit_code == 0, shown.output
    assert "train 2, test 1, valid 0, entities 2, relations 1" in shown.output


def test_the_loader_downloads_what_is_not_there(tmp_path, server, small, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        InputError, match=r"dataset/HQ_DIR: no such folder; `openbiolink datasets fetch HQ_DIR --dir dataset`"
    ):
        DataLoader("HQ_DIR", download=False)
    notes = []
    loader = DataLoader("HQ_DIR", download=server.url(""), note=notes.append)
    assert (loader.num_entities, loader.num_relations, len(loader.testing)) == (3, 2, 2)
    assert "is not there and is downloaded now" in notes[0]
    server.asked.clear()
    assert DataLoader().dataset.checksum == loader.dataset.checksum
    assert server.asked == []
