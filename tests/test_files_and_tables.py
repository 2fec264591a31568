"""Files are read whole or refused, written whole or not at all; a cell stays what it is."""

import csv
import gzip
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openbiolink import files
from openbiolink.errors import InputError
from openbiolink.files import (
    CHUNK,
    MAX_LINE,
    iter_lines,
    iter_unpacked,
    not_data,
    replaced_folder,
    scratch_folder,
    sha256_of,
    unpack,
    write_json,
    write_text,
)
from openbiolink.tables import (
    create_text_table,
    first_lines,
    insert_rows,
    iter_rows,
    open_database,
    read_delimited,
    write_tsv,
)

TEXT = b"one\ttwo\nthree\tfour\n"


def nothing(_: str) -> None:
    """A note that nobody reads."""


@pytest.fixture(scope="module")
def connection():
    with open_database() as (connection, _):
        yield connection


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("scratch") / "table.tsv"


def read(connection, path, columns, **options):
    """The rows of a file, and the notes."""
    notes: list[str] = []
    read_delimited(connection, path, table="loaded", columns=columns, note=notes.append, **options)
    return connection.execute("SELECT * FROM loaded").fetchall(), notes


def read_bytes(connection, scratch, raw, columns, **options):
    scratch.write_bytes(raw)
    return read(connection, scratch, columns, **options)


# ------------------------------------------------------------------------------------------------------ unpacking


@pytest.mark.parametrize("cut", [0, 1, 5, len(TEXT)])
def test_a_file_is_what_its_first_bytes_say_not_its_name(tmp_path, cut):
    path = tmp_path / "named.txt"
    packed = gzip.compress(TEXT[:cut]) + gzip.compress(TEXT[cut:])
    for raw in (TEXT, packed, gzip.compress(TEXT)):
        path.write_bytes(raw)
        assert b"".join(iter_unpacked(path, nothing)) == TEXT


def test_a_zip_of_one_file_is_that_file_and_of_several_is_refused(tmp_path):
    path = tmp_path / "rows.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.mkdir("folder")
        archive.writestr("folder/rows.tsv", TEXT)
    assert b"".join(iter_unpacked(path, nothing)) == TEXT
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("more.tsv", TEXT)
    with pytest.raises(InputError, match=r"rows\.zip: the zip file holds 2 files .*more\.tsv.*expected one"):
        list(iter_unpacked(path, nothing))


@pytest.mark.parametrize("padding", [b"\0", b"\0" * 700, b"padding", b"\x1f"])
def test_bytes_after_the_gzip_data_are_ignored_with_a_note(tmp_path, padding):
    path, notes = tmp_path / "rows.tsv.gz", []
    path.write_bytes(gzip.compress(TEXT) + padding)
    assert b"".join(iter_unpacked(path, notes.append)) == TEXT
    assert len(notes) == 1
    assert "rows.tsv.gz" in notes[0]
    assert f"{len(padding)} bytes" in notes[0]


@pytest.mark.parametrize("kept", range(1, 40, 3))
def test_a_truncated_gzip_file_is_refused(tmp_path, kept):
    path = tmp_path / "rows.tsv.gz"
    packed = gzip.compress(TEXT * 50, mtime=0)
    path.write_bytes(packed[: len(packed) * kept // 40 + 2])
    with pytest.raises(InputError, match=r"rows\.tsv\.gz: .*(too early|damaged).*fetch"):
        list(iter_unpacked(path, nothing))


def test_a_damaged_gzip_file_is_refused(tmp_path):
    path = tmp_path / "rows.tsv.gz"
    packed = bytearray(gzip.compress(TEXT * 50, mtime=0))
    packed[-6] ^= 0xFF  # in the checksum
    path.write_bytes(packed)
    with pytest.raises(InputError, match=r"rows\.tsv\.gz: the compressed data are damaged"):
        list(iter_unpacked(path, nothing))


@pytest.mark.parametrize("members", [1, 3])
def test_gzip_data_are_unpacked_in_small_pieces_however_well_they_are_packed(tmp_path, members):
    path = tmp_path / "zeros.gz"
    zeros = b"0" * (20 << 20)
    path.write_bytes(gzip.compress(zeros) * members)
    assert path.stat().st_size < 100_000
    sizes = [len(chunk) for chunk in iter_unpacked(path, nothing)]
    assert max(sizes) <= CHUNK
    assert sum(sizes) == members * len(zeros)


@given(
    pieces=st.lists(st.tuples(st.binary(max_size=9), st.integers(0, 40)), max_size=6),
    chunk=st.integers(2, 30),
    after=st.sampled_from([b"", b"\0", b"padding"]),
)
@settings(max_examples=150, deadline=None)
def test_any_size_of_pieces_gives_the_same_bytes(scratch, pieces, chunk, after):
    members = [piece * times for piece, times in pieces] or [b""]
    scratch.write_bytes(b"".join(gzip.compress(member, mtime=0) for member in members) + after)
    notes = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "CHUNK", chunk)
        found = list(iter_unpacked(scratch, notes.append))
    assert b"".join(found) == b"".join(members)
    assert all(len(piece) <= chunk for piece in found)
    assert len(notes) == bool(after)


@pytest.mark.parametrize("kind", ["absent", "folder"])
def test_what_is_no_file_is_refused_by_name(tmp_path, kind, connection):
    path = tmp_path / kind
    if kind == "folder":
        path.mkdir()
    fault = {"absent": "no such file", "folder": "is a folder, expected a file"}[kind]
    for use in (lambda: list(iter_unpacked(path, nothing)), lambda: read(connection, path, ["a"])):
        with pytest.raises(InputError, match=f"{kind}: {fault}"):
            use()


def test_unpacking_leaves_a_plain_file_where_it_is(tmp_path):
    plain, packed = tmp_path / "rows.tsv", tmp_path / "rows.tsv.gz"
    plain.write_bytes(TEXT)
    packed.write_bytes(gzip.compress(TEXT))
    folder = tmp_path / "scratch"
    folder.mkdir()
    assert unpack(plain, folder, nothing) == plain
    unpacked = unpack(packed, folder, nothing)
    assert unpacked.parent == folder
    assert unpacked.read_bytes() == TEXT


# ---------------------------------------------------------------------------------------------------------- lines


@given(
    lines=st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n")), max_size=6),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    mark=st.booleans(),
    packed=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_lines_come_back_without_their_ends(scratch, lines, end, last, mark, packed):
    lines = [line.rstrip("\r") for line in lines]
    if lines:
        lines[0] = lines[0].removeprefix("\ufeff")
        if not last and not lines[-1]:
            lines = lines[:-1]
    text = "".join(line + end for line in lines)
    raw = (text if last else text.removesuffix(end)).encode()
    raw = b"\xef\xbb\xbf" + raw if mark and raw else raw
    scratch.write_bytes(gzip.compress(raw) if packed else raw)
    if lines and not last and not lines[-1]:
        lines = lines[:-1]
    assert list(iter_lines(scratch, nothing)) == lines
    assert first_lines(scratch, nothing, limit=2) == lines[:2]


def test_a_mark_is_a_letter_anywhere_but_at_the_beginning(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes("\ufeffone\n\ufefftwo\n".encode())
    assert list(iter_lines(path, nothing)) == ["one", "\ufefftwo"]


def test_lines_longer_than_a_chunk_are_whole(tmp_path):
    path = tmp_path / "long.txt"
    lines = ["a" * (3 << 20), "b", "é" * (2 << 20)]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert list(iter_lines(path, nothing)) == lines


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_without_end_is_refused_by_its_number(tmp_path, packed, connection):
    path = tmp_path / "endless.txt"
    for length, fits in ((MAX_LINE, True), (MAX_LINE + 1, False)):
        raw = b"x\n" + b"a" * length
        path.write_bytes(gzip.compress(raw, 1) if packed else raw)
        if fits:
            assert [len(line) for line in iter_lines(path, nothing)] == [1, length]
        else:
            for use in (lambda: list(iter_lines(path, nothing)), lambda: read(connection, path, ["a"])):
                with pytest.raises(
                    InputError, match=r"endless\.txt, line 2: is longer than 16,777,216 bytes"
                ) as caught:
                    use()
                assert "\n" not in str(caught.value)


def test_a_long_line_in_small_pieces_takes_no_longer(tmp_path, monkeypatch):
    path = tmp_path / "long.txt"
    path.write_bytes(b"a" * MAX_LINE + b"\nb\n")
    monkeypatch.setattr(files, "CHUNK", 256)
    started = time.process_time()
    assert [len(line) for line in iter_lines(path, nothing)] == [MAX_LINE, 1]
    assert time.process_time() - started < 5  # to add each piece to the line so far would take minutes


def test_a_line_that_is_not_utf8_is_named(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"fine\nna\xefve\n")
    with pytest.raises(InputError, match=r"latin\.txt, line 2: byte 0xef is not UTF-8"):
        list(iter_lines(path, nothing))


@given(pieces=st.lists(st.sampled_from(["a", "\n", "\r\n", "\r", " ", "\ufeff"]), max_size=8), mark=st.booleans())
@settings(max_examples=100, deadline=None)
def test_with_their_ends_lines_are_the_whole_text(scratch, pieces, mark):
    text = "x" + "".join(pieces)
    scratch.write_bytes((("\ufeff" if mark else "") + text).encode())
    lines = list(iter_lines(scratch, nothing, ends=True))
    assert "".join(lines) == text
    assert all(line.endswith("\n") and "\n" not in line[:-1] for line in lines[:-1])
    assert [line.removesuffix("\n").removesuffix("\r") for line in lines] == list(iter_lines(scratch, nothing))


# ----------------------------------------------------------------------------------------- what is there for data


@pytest.mark.parametrize(
    ("begins", "words"),
    [
        ("<!DOCTYPE html>\n<html>", "a web page"),
        ("\ufeff \r\n<HTML lang='en'>", "a web page"),
        ("<!-- moved --><!-- again -->\n<html>", "a web page"),
        ('<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "x"><html xmlns="x">', "a web page"),
        ("<head><title>404</title></head>", "a web page"),
        ("<html><title>Attention Required! | Cloudflare</title>", "a web page that keeps robots out (CAPTCHA)"),
        ("<!doctype html><p>Are you a Robot?</p>", "a web page that keeps robots out (CAPTCHA)"),
        ("<html><script src='https://x/reCAPTCHA/api.js'>", "a web page that keeps robots out (CAPTCHA)"),
        ('<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "an XML document"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "a Git-LFS pointer"),
    ],
)
def test_what_stands_in_the_place_of_data_is_told_by_its_beginning(begins, words):
    assert not_data(begins.encode()) == words


@pytest.mark.parametrize(
    "begins",
    [
        "",
        "protein1 protein2",
        "# <html>",
        "!gaf-version: 2.2",
        "format-version: 1.2",
        "-- dump",
        "captcha\tcloudflare",
        "<a>",
    ],
)
def test_data_are_nothing_else(begins):
    assert not_data(begins.encode()) is None
    assert not_data(gzip.compress(begins.encode())) is None


# -------------------------------------------------------------------------------------------------------- writing


def test_a_checksum_is_that_of_the_bytes_on_the_disk(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(TEXT)
    assert sha256_of(path) == hashlib.sha256(TEXT).hexdigest()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": [-float("inf")]}])
def test_json_never_holds_what_json_does_not_know(tmp_path, value):
    path = tmp_path / "x.json"
    path.write_text("before")
    with pytest.raises(ValueError, match="JSON compliant"):
        write_json(path, value)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_json_is_utf8_with_a_final_newline(tmp_path):
    path = tmp_path / "new" / "x.json"
    write_json(path, {"é": [1, None, "☃"]})
    assert path.read_bytes().endswith(b"}\n")
    assert b"\r" not in path.read_bytes()
    assert json.loads(path.read_text(encoding="utf-8")) == {"é": [1, None, "☃"]}


def test_a_text_that_cannot_be_written_leaves_the_old_one(tmp_path):
    path = tmp_path / "x.txt"
    write_text(path, "before\n")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "\ud800")
    assert path.read_bytes() == b"before\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_replaced_whole(tmp_path):
    target = tmp_path / "deep" / "out"
    for names in (["a", "b"], ["b", "c"], []):
        with replaced_folder(target, owned=lambda name: name in {"a", "b", "c"}) as fresh:
            assert not (
                target.exists() and set(target.iterdir()) & {target / name for name in names} and fresh == target
            )
            for name in names:
                (fresh / name).write_text(name)
        assert sorted(entry.name for entry in target.iterdir()) == names
        assert [entry.name for entry in target.parent.iterdir()] == ["out"]


def test_a_folder_stays_as_it_was_when_the_work_fails(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    (target / "a").write_text("old")
    with pytest.raises(KeyboardInterrupt), replaced_folder(target, owned=lambda _: True) as fresh:
        (fresh / "a").write_text("half")
        raise KeyboardInterrupt
    assert (target / "a").read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_holds_anything_else_is_refused_untouched(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    (target / "a").write_text("old")
    (target / "notes.txt").write_text("mine")
    entered = []
    with pytest.raises(InputError, match=r"out: holds notes\.txt"), replaced_folder(target, owned=lambda n: n == "a"):
        entered.append(True)
    assert not entered
    assert {entry.name: entry.read_text() for entry in target.iterdir()} == {"a": "old", "notes.txt": "mine"}


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path):
    target = tmp_path / "out"
    target.write_text("mine")
    with pytest.raises(InputError, match="out: is a file"), replaced_folder(target, owned=lambda _: True):
        pass
    assert target.read_text() == "mine"


def test_a_folder_that_must_not_be_there_is_refused_before_and_after_the_work(tmp_path):
    target, entered = tmp_path / "out", []

    def write_twice():
        with replaced_folder(target, owned=lambda _: True, replace=False) as fresh:
            entered.append(True)
            (fresh / "a").write_text("mine")
            target.mkdir(exist_ok=True)

    for _ in range(2):
        with pytest.raises(InputError, match="out: exists already"):
            write_twice()
    assert len(entered) == 1
    assert list(target.iterdir()) == []


# ------------------------------------------------------------------------------------------ what killed runs leave

RUN = """
import os, signal, sys
from pathlib import Path
from openbiolink.files import replaced_folder
from openbiolink.tables import open_database

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def die_after(number, done=[]):
    real = Path.rename
    def rename(self, target):
        real(self, target)
        done.append(target)
        if len(done) == number:
            die()
    Path.rename = rename

with open_database(), replaced_folder(Path("out"), owned={"a", "b"}.__contains__) as fresh:
    for name in ("a", "b"):
        (fresh / name).write_text("new")
    {body}
"""


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Starts a process that writes `out` in a folder with an older one, with a temporary folder of its own."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "here" / "out").mkdir(parents=True)
    for name in ("a", "b"):
        (tmp_path / "here" / "out" / name).write_text("old")

    def run(body):
        command = [sys.executable, "-c", RUN.replace("{body}", body)]
        return subprocess.Popen(
            command, cwd=tmp_path / "here", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    return run


def state_of(folder):
    """Every file with its content; folders that are empty too."""
    return {
        path.relative_to(folder).as_posix(): path.read_text() if path.is_file() else ""
        for path in folder.rglob("*")
        if path.is_file() or not list(path.iterdir())
    }


def sweep(tmp_path):
    """What is there at the beginning of the next run, and after it; it writes nothing."""
    begun = {}
    with (
        pytest.raises(ZeroDivisionError),
        open_database(),
        replaced_folder(tmp_path / "here" / "out", owned=lambda _: True) as fresh,
    ):
        begun.update(state_of(tmp_path / "here"))
        assert begun.pop(fresh.name) == ""
        raise ZeroDivisionError
    assert state_of(tmp_path / "here") == begun
    return begun


OLD = {"out/a": "old", "out/b": "old"}
NEW = {"out/a": "new", "out/b": "new"}


@pytest.mark.parametrize(
    ("body", "left", "expected"),
    [
        ("die()", 4, OLD),
        ("die_after(1)", 4, OLD),  # the older folder is aside, nothing in its place
        ("die_after(2)", 4, NEW),  # the newer one is in its place
        ("die_after(3)", 4, NEW),  # the older one waits to be removed
        ("import shutil; shutil.rmtree = die", 4, NEW),
    ],
)
def test_what_a_killed_run_leaves_is_removed_and_what_it_put_aside_comes_back(tmp_path, start, body, left, expected):
    killed = start(body)
    killed.communicate(timeout=30)
    assert killed.returncode == -signal.SIGKILL
    assert len(state_of(tmp_path / "here")) == left
    assert len(list((tmp_path / "tmp").iterdir())) == 1
    assert sweep(tmp_path) == expected
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_folder_that_was_put_aside_comes_back_only_where_nothing_is(tmp_path, start):
    start("die_after(1)").communicate(timeout=30)
    (tmp_path / "here" / "out").mkdir()
    (tmp_path / "here" / "out" / "a").write_text("later")
    assert sweep(tmp_path) == {"out/a": "later"}


def test_what_a_running_process_holds_is_left_alone(tmp_path, start):
    start("die_after(1)").communicate(timeout=30)
    aside = {name: text for name, text in state_of(tmp_path / "here").items() if "-old/" in name}
    assert sorted(aside.values()) == ["old", "old"]
    running = [start("print('ready', flush=True); input()") for _ in range(2)]
    assert [process.stdout.readline() for process in running] == ["ready\n"] * 2
    held = state_of(tmp_path / "here")
    assert sorted(held.values()) == ["new"] * 4 + ["old"] * 2
    assert sweep(tmp_path) == held
    assert len(list((tmp_path / "tmp").iterdir())) == 2
    for process in running:
        process.communicate("\n", timeout=30)
        assert process.returncode == 0
        assert state_of(tmp_path / "here" / "out") == {"a": "new", "b": "new"}
    assert state_of(tmp_path / "here") == NEW
    assert list((tmp_path / "tmp").iterdir()) == []


def test_what_is_put_aside_does_not_come_back_under_a_running_process(tmp_path, start):
    running = start("print('ready', flush=True); input()")
    assert running.stdout.readline() == "ready\n"
    (tmp_path / "here" / "out").rename(tmp_path / "here" / ".out-openbiolink-abcd1234-old")
    held = state_of(tmp_path / "here")
    assert sweep(tmp_path) == held
    running.communicate("\n", timeout=30)
    assert sweep(tmp_path) == NEW


@pytest.mark.parametrize(
    "name", [".out-backup", ".out-openbiolink-abc", ".out-openbiolink-ABCDEFGH", ".outer-openbiolink-abcd1234"]
)
def test_what_only_looks_like_ours_stays(tmp_path, start, name):
    start("die()").communicate(timeout=30)
    (tmp_path / "here" / name).mkdir()
    (tmp_path / "here" / ".out-openbiolink-filefile").write_text("a file")
    (tmp_path / "here" / ".out-openbiolink-linklink").symlink_to(tmp_path / "here" / name)
    (tmp_path / "tmp" / "openbiolink-checkout").mkdir()
    assert sweep(tmp_path).keys() == {
        "out/a",
        "out/b",
        name,
        ".out-openbiolink-filefile",
        ".out-openbiolink-linklink",
    }
    assert [path.name for path in (tmp_path / "tmp").iterdir()] == ["openbiolink-checkout"]


def test_without_locks_nothing_is_removed(tmp_path, start, monkeypatch):
    start("die()").communicate(timeout=30)
    before = state_of(tmp_path / "here")
    monkeypatch.setitem(sys.modules, "fcntl", None)
    assert sweep(tmp_path) == before
    assert len(list((tmp_path / "tmp").iterdir())) == 1


def test_folders_of_other_users_are_left_alone(tmp_path, start, monkeypatch):
    start("die()").communicate(timeout=30)
    before = state_of(tmp_path / "here")
    monkeypatch.setattr(os, "getuid", lambda: -1)
    assert sweep(tmp_path) == before


def test_a_folder_that_a_sweep_takes_before_it_is_held_is_made_anew(tmp_path, monkeypatch):
    real, taken = tempfile.mkdtemp, []

    def taken_at_once(**where):
        folder = real(**where)
        if len(taken) < 3:
            taken.append(folder)
            Path(folder).rmdir()
        return folder

    monkeypatch.setattr(tempfile, "mkdtemp", taken_at_once)
    with scratch_folder(tmp_path, "x-") as folder:
        assert len(taken) == 3
        assert list(tmp_path.iterdir()) == [folder]
    assert list(tmp_path.iterdir()) == []


def test_two_runs_that_end_at_once_leave_one_whole_folder(tmp_path, start, monkeypatch):
    real = Path.rename

    def overtaken(self, target):
        real(self, target)
        if target.name.endswith("-old"):
            monkeypatch.undo()
            with replaced_folder(tmp_path / "here" / "out", owned=lambda _: True) as other:
                (other / "a").write_text("other")

    def write():
        with replaced_folder(tmp_path / "here" / "out", owned=lambda _: True) as fresh:
            (fresh / "a").write_text("mine")

    monkeypatch.setattr(Path, "rename", overtaken)
    with pytest.raises(InputError, match=r"out: cannot be replaced .* no other run"):
        write()
    assert start  # made the older folder
    assert sweep(tmp_path) == {"out/a": "other"}


# --------------------------------------------------------------------------------------------------- delimited text


def split_naively(raw: bytes, width: int, separator: str, skip: int) -> tuple[list[list[str]], str]:
    """The rows of a file by splitting its lines, and what is wrong with the first ragged one.

    A line that holds nothing but blanks is blank, unless it has just the right number of (blank) cells.
    """
    rows, fault = [], ""
    lines = [line.removesuffix("\r") for line in raw.decode("utf-8-sig").split("\n")]
    for number, line in enumerate(lines, start=1):
        cells = line.split(separator)
        if number <= skip or line == "" or (not line.strip() and len(cells) != width):
            continue
        rows.append(cells)
        fault = fault or ("" if len(cells) == width else f"line {number} ({len(cells)} cells)")
    return rows, fault


@st.composite
def delimited_files(draw):
    """Bytes of a file, mostly of `width` cells a line, in any line-end convention."""
    separator = draw(st.sampled_from("\t |,"))
    width = draw(st.integers(1, 4))
    letters = st.characters(exclude_categories=["Cs"], exclude_characters=f"{separator}\r\n")
    cells = st.text(letters | st.sampled_from("\"'#\\\0\a ;|,\t".replace(separator, "")), max_size=4)
    cells |= st.sampled_from(["NA", "nan", "NULL", "\\N", "007", "1E5", "TRUE", '"', '""', "#", "\a", "1.0", "-"])
    rows = st.lists(cells, min_size=width, max_size=width).map(separator.join)
    ragged = st.lists(cells, min_size=1, max_size=6).map(separator.join)
    lines = draw(st.lists(st.one_of(rows, rows, rows, rows, rows, st.sampled_from(["", " "]), ragged), max_size=8))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    raw = end.join(lines).encode() + (end.encode() if draw(st.booleans()) else b"")
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    return (b"\xef\xbb\xbf" + raw.removeprefix(b"\xef\xbb\xbf") if draw(st.booleans()) else raw), width, separator


@given(file=delimited_files(), packed=st.booleans(), skip=st.integers(0, 2))
@settings(max_examples=250, deadline=None)
def test_delimited_text_is_what_naive_splitting_gives_or_an_error(connection, scratch, file, packed, skip):
    raw, width, separator = file
    expected, fault = split_naively(raw, width, separator, skip)
    columns = [f"column {place}" for place in range(width)]
    raw = gzip.compress(raw) if packed else raw
    if fault:
        with pytest.raises(InputError) as caught:
            read_bytes(connection, scratch, raw, columns, separator=separator, skip=skip)
        assert f"table.tsv, {fault}" in str(caught.value)
    else:
        rows, _ = read_bytes(connection, scratch, raw, columns, separator=separator, skip=skip)
        assert [list(row) for row in rows] == expected


@pytest.mark.parametrize("text", ["NA", "nan", "NULL", "null", "\\N", "None", "007", "1E5", "TRUE", '"', "", "\a", " "])
def test_a_cell_is_never_guessed_at(connection, scratch, text):
    rows, notes = read_bytes(connection, scratch, f"x\t{text}\n".encode(), ["a", "b"])
    assert rows == [("x", text)]
    assert notes == []


def test_many_blank_lines_do_not_hide_a_ragged_row(connection, scratch):
    raw = b"a\tb\n" + b"\n" * 100_001 + b"a\tb\tc\n"
    with pytest.raises(InputError, match=r"line 100003 \(3 cells\)"):
        read_bytes(connection, scratch, raw, ["a", "b"])


def test_many_comment_lines_are_all_counted_and_hide_nothing(connection, scratch):
    raw = b"a\tb\n" + b"# a comment\n" * 100_001
    rows, notes = read_bytes(connection, scratch, raw + b"c\td\n", ["a", "b"], comment="#")
    assert rows == [("a", "b"), ("c", "d")]
    assert len(notes) == 1
    assert "100001 lines" in notes[0].replace(",", "")
    with pytest.raises(InputError, match=r"line 100003 \(3 cells\)"):
        read_bytes(connection, scratch, raw + b"c\td\te\n", ["a", "b"], comment="#")


@pytest.mark.parametrize("keep", [["a", "b", "c"], ["b", "c"], ["c"]])
def test_a_comment_is_a_line_that_begins_with_its_mark_whatever_is_kept(connection, scratch, keep):
    raw = b"#x\ty\tz\n1\t2\t3\n#one cell\n4\t#5\t#6\n"
    rows, notes = read_bytes(connection, scratch, raw, ["a", "b", "c"], comment="#", keep=keep)
    whole = [{"a": "1", "b": "2", "c": "3"}, {"a": "4", "b": "#5", "c": "#6"}]
    assert rows == [tuple(row[name] for name in keep) for row in whole]
    assert sum(int(note.split(": ")[1].split()[0]) for note in notes) == 2


def test_ragged_rows_are_named_up_to_three(connection, scratch):
    raw = b"a\tb\n" + b"a\n" * 5
    with pytest.raises(InputError, match=r"line 2 \(1 cells\), line 3 \(1 cells\), line 4 \(1 cells\) and 2 more"):
        read_bytes(connection, scratch, raw, ["a", "b"])


@pytest.mark.parametrize("raw", [b"a\tb\xff\n", b"a\tb\nc\td\xc3", b"a\t\xed\xa0\x80\n", bytes(range(256)) * 20])
def test_what_is_not_utf8_is_refused(connection, scratch, raw):
    with pytest.raises(InputError, match=r"table\.tsv.*UTF-8"):
        read_bytes(connection, scratch, raw, ["a", "b"])


def test_leading_lines_are_skipped_by_number(connection, scratch):
    for raw in (b"head\tline\na\tb\n", b"\xef\xbb\xbfhead\tline\r\na\tb\r\n", gzip.compress(b"head\nless\na\tb")):
        skip = 1 if raw[:2] != b"\x1f\x8b" else 2
        assert read_bytes(connection, scratch, raw, ["a", "b"], skip=skip)[0] == [("a", "b")]
    assert read_bytes(connection, scratch, b"head\tline", ["a", "b"], skip=1)[0] == []


@given(
    rows=st.lists(
        st.tuples(*[st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\r\n"))] * 3), max_size=5
    )
)
@settings(max_examples=50, deadline=None)
def test_what_is_written_is_read_back_unchanged(connection, scratch, rows):
    rows = [row for row in rows if any(cell.strip() for cell in row) and not row[0].startswith("\ufeff")]
    connection.execute("CREATE OR REPLACE TABLE given (a VARCHAR, b VARCHAR, c VARCHAR)")
    for row in rows:
        connection.execute("INSERT INTO given VALUES (?, ?, ?)", row)
    assert write_tsv(connection, "SELECT * FROM given", scratch) == len(rows)
    assert b"\r" not in scratch.read_bytes()
    assert read(connection, scratch, ["a", "b", "c"])[0] == rows


@pytest.mark.parametrize("text", ["tab\tinside", "line\nend", "carriage\rreturn"])
def test_a_cell_that_a_table_file_cannot_hold_is_refused(connection, scratch, text):
    connection.execute("CREATE OR REPLACE TABLE given (a VARCHAR)")
    connection.execute("INSERT INTO given VALUES (?)", [text])
    with pytest.raises(InputError):
        write_tsv(connection, "SELECT a, 'x' AS b FROM given", scratch)


# ---------------------------------------------------------------------------------------------------- quoted cells


def take_apart(text: str, separator: str, comment: str) -> tuple[list[tuple[int, list[str]]], int]:
    """The rows of quoted text, letter by letter, with the numbers of their first lines, and the number of comments.

    Raises:
        ValueError: a quotation mark has no partner, or text follows it.
    """
    rows, comments, place = [], 0, 0
    while place < len(text):
        number = text.count("\n", 0, place) + 1
        if text.startswith((comment, f'"{comment}'), place):
            place = (text.find("\n", place) + 1) or len(text)
            comments += 1
            continue
        cells, ended = [], False
        while not ended:
            cell = ""
            if text.startswith('"', place):
                place += 1
                while not (text.startswith('"', place) and not text.startswith('""', place)):
                    if place >= len(text):
                        raise ValueError(number)
                    cell += text[place]
                    place += 2 if text.startswith('""', place) else 1
                place += 1
                if place < len(text) and text[place] not in (separator, "\n"):
                    raise ValueError(number)
            while place < len(text) and text[place] not in (separator, "\n"):
                cell += text[place]
                place += 1
            cells.append(cell)
            ended = place >= len(text) or text[place] == "\n"
            place += 1
        rows.append((number, cells))
    return rows, comments


@given(text=st.text(st.sampled_from('"",\n#a '), max_size=14), packed=st.booleans())
@settings(max_examples=400, deadline=None)
def test_quoted_text_is_what_letter_by_letter_reading_gives_or_an_error(connection, scratch, text, packed):
    raw = gzip.compress(text.encode()) if packed else text.encode()
    options = {"separator": ",", "quoted": True, "comment": "#"}
    try:
        whole, comments = take_apart(text, ",", "#")
    except ValueError as error:
        with pytest.raises(InputError, match=rf"table\.tsv, line {error}: quotation marks"):
            read_bytes(connection, scratch, raw, ["a", "b"], **options)
        return
    fault = next((f"line {n} ({len(row)} cells)" for n, row in whole if len(row) != 2 and ",".join(row).strip()), None)
    if fault:
        with pytest.raises(InputError) as caught:
            read_bytes(connection, scratch, raw, ["a", "b"], **options)
        assert f"table.tsv, {fault}" in str(caught.value)
        return
    rows, notes = read_bytes(connection, scratch, raw, ["a", "b"], **options)
    assert [list(row) for row in rows] == [row for _, row in whole if len(row) == 2]
    assert [note.split(": ")[1].split()[0] for note in notes] == [str(comments)] * bool(comments)
    seen = list(iter_rows(text.removesuffix("\n").split("\n"), **options))
    assert seen == [(number, row) for number, row in whole if ",".join(row).strip()]


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_what_csv_writes_is_read_back_letter_for_letter(connection, scratch, data):
    width = data.draw(st.integers(1, 4))
    separator = data.draw(st.sampled_from(",\t;|"))
    letters = st.characters(exclude_categories=["Cs"]) | st.sampled_from('"",;|\t\r\n\0 #')
    cells = st.text(letters, max_size=5) | st.sampled_from(["NA", "NULL", "\\N", "007", "1E5", '"', "+++"])
    rows = data.draw(st.lists(st.lists(cells, min_size=width, max_size=width), max_size=6))
    written = io.StringIO(newline="")
    quoting = data.draw(st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]))
    # As few quotation marks as it takes: then csv sees to a carriage return only if line ends have one.
    end = data.draw(st.sampled_from(["\r\n"] if quoting == csv.QUOTE_MINIMAL else ["\n", "\r\n"]))
    csv.writer(written, delimiter=separator, lineterminator=end, quoting=quoting).writerows(rows)
    mark = "\ufeff" if written.getvalue().startswith("\ufeff") or data.draw(st.booleans()) else ""
    names = [f"c{place}" for place in range(width)]
    keep = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    options = {"separator": separator, "quoted": True, "keep": keep}
    found, notes = read_bytes(connection, scratch, (mark + written.getvalue()).encode(), names, **options)
    assert [list(row) for row in found] == [[row[names.index(name)] for name in keep] for row in rows]
    assert notes == []


@given(file=delimited_files())
@settings(max_examples=100, deadline=None)
def test_without_quotation_marks_quoted_text_is_like_any_other(connection, scratch, file):
    raw, width, separator = file
    raw = raw.replace(b'"', b"").replace(b"\xef\xbb\xbf", b"")
    columns = [f"c{place}" for place in range(width)]
    outcomes = []
    for quoted in (False, True):
        try:
            outcomes.append(read_bytes(connection, scratch, raw, columns, separator=separator, quoted=quoted))
        except InputError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


QUOTED = 'id,name\n1,"a, ""b""\nc"\n\n# x "y, z\n"# w","v"\n2,5" thing\n'


def test_quoted_cells_hold_separators_line_ends_and_marks(connection, scratch):
    options = {"separator": ",", "quoted": True, "skip": 1, "comment": "#"}
    rows, notes = read_bytes(connection, scratch, QUOTED.encode(), ["id", "name"], **options)
    assert rows == [("1", 'a, "b"\nc'), ("2", '5" thing')]
    assert notes == [f"{scratch}: 2 lines that begin with '#' were skipped as comments"]
    windows = read_bytes(connection, scratch, QUOTED.replace("\n", "\r\n").encode(), ["id", "name"], **options)[0]
    assert windows == [("1", 'a, "b"\r\nc'), ("2", '5" thing')]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('a,b\n1,"2\n3,4\n', r"line 2: quotation marks .*unexpected end of data"),
        ('a,b\n1,"2"3\n3,4\n', r"line 2: quotation marks .*expected after"),
        ('a,b\n1,"2" \n', r"line 2: quotation marks"),
        ('a,b\n"1\n1","2"\n"x"y,z\n', r"line 4: quotation marks"),
        ('a,b\n1,"' + "x\n" * 100_000 + '"\n', r"line 2: quotation marks .*larger than field limit"),
        (
            'a,b\n"1\n1","2"\n"x,y"\n1,2,3\n4\n5,6\n7\n',
            r"line 4 \(1 cells\), line 5 \(3 cells\), line 6 \(1 cells\) and 1 more",
        ),
        ("a,b\n1,2\rx\n", r"line 2: quotation marks .*new-line character"),
        ("a,b\n1,\udcff\n", r"line 2: byte 0xff is not UTF-8"),
    ],
)
def test_broken_quotes_are_named_by_line(connection, scratch, text, named):
    with pytest.raises(InputError, match=rf"table\.tsv, {named}") as caught:
        read_bytes(connection, scratch, text.encode(errors="surrogateescape"), ["a", "b"], separator=",", quoted=True)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("rows", [0, 1, 10_000, 25_001])
def test_rows_that_are_handed_over_arrive_in_their_order(connection, rows):
    create_text_table(connection, '"x/y"', ["a", "b c"])
    insert_rows(connection, '"x/y"', ((str(number), "x") for number in range(rows)))
    assert connection.execute('SELECT * FROM "x/y"').fetchall() == [(str(number), "x") for number in range(rows)]
    assert [column[0] for column in connection.description] == ["a", "b c"]


# ----------------------------------------------------------------------------------------------------------- cases


def test_c08_hash_signs_inside_values_are_no_comments(connection, cases):
    rows, notes = read(connection, cases / "c08-hash-in-values-nodes.tsv", ["id", "type", "name"], comment="#")
    assert [row[2] for row in rows] == ["compound #1 (isomer)", "C# minor ligand", "plain"]
    assert len(notes) == 1


def test_c09_quotation_marks_are_letters(connection, cases):
    rows, _ = read(connection, cases / "c09-tsv-quotes-nodes.tsv", ["id", "type", "name"])
    assert [row[0] for row in rows] == [f"GO:990002{place}" for place in range(1, 7)]
    assert [row[2] for row in rows] == [
        "3'-5' exonuclease", '5" thing activity', '"starts with a quote', 'ends with a quote"', '"whole name quoted"',
        "last one",
    ]  # fmt: skip


def test_c12_leading_zeros_stay(connection, cases):
    (_, *rows), _ = read(connection, cases / "c12-leading-zeros-map.tsv", ["umls", "doid"])
    triples, _ = read(connection, cases / "c12-leading-zeros-triples.tsv", ["head", "relation", "tail"])
    found = {cell for row in rows for cell in row}
    assert found == {"9900001", "9900002", "0900003", "0060001", "060001", "1"}
    assert {cell for row in triples for cell in (row[0], row[2])} <= found


def test_c15_padding_after_gzip_data_is_named_and_ignored(connection, cases):
    name = "c15-gz-trailing-bytes-edges.tsv.gz"
    rows, notes = read(connection, cases / name, ["head", "relation", "tail", "score", "source"])
    assert len(rows) == 2
    assert len(notes) == 1
    assert name in notes[0]
    assert "after the end" in notes[0]


def test_c16_every_gzip_member_is_read(connection, cases):
    rows, _ = read(
        connection, cases / "c16-gz-two-members-edges.tsv.gz", ["head", "relation", "tail", "score", "source"]
    )
    assert len(rows) == 3


def test_c17_byte_order_mark_and_carriage_returns_stick_to_nothing(connection, cases):
    edges, _ = read(connection, cases / "c17-bom-crlf-edges-edges.tsv", ["head", "relation", "tail", "score", "source"])
    nodes, _ = read(connection, cases / "c17-bom-crlf-edges-nodes.tsv", ["id", "type"])
    assert len(edges) == 2
    assert edges[1][4] == ""
    assert {row[1] for row in nodes} == {"GENE", "DIS"}
    assert {cell for row in edges for cell in (row[0], row[2])} == {row[0] for row in nodes}
    assert not any("\r" in cell or "\ufeff" in cell for row in [*edges, *nodes] for cell in row)
    assert len(nodes) == 3


def test_c31_ragged_rows_are_named_by_line(connection, cases):
    path = cases / "c31-ragged-rows-edges.tsv"
    with pytest.raises(InputError) as caught:
        read(connection, path, ["head", "relation", "tail", "score", "source"])
    message = str(caught.value)
    assert path.name in message
    assert all(text in message for text in ("line 2 (3 cells)", "line 4 (6 cells)", "line 5 (1 cells)"))
    assert "line 3" not in message
    assert "\n" not in message


def test_c31_the_last_line_counts_without_a_newline(connection, scratch, cases):
    lines = (cases / "c31-ragged-rows-edges.tsv").read_bytes().split(b"\n")
    rows, _ = read_bytes(connection, scratch, b"\n".join([lines[0], b"", lines[-1]]), list("abcde"))
    assert [row[0] for row in rows] == ["NCBIGENE:1", "NCBIGENE:5"]


@pytest.mark.parametrize("name", ["g[1].tsv", "g*.tsv", "g?.tsv"])
def test_a_file_name_is_no_pattern(tmp_path, connection, name):
    (tmp_path / "g1.tsv").write_text("wrong\n")
    (tmp_path / "g2.tsv").write_text("wrong\n")
    (tmp_path / name).write_text("right\n")
    assert read(connection, tmp_path / name, ["a"])[0] == [("right",)]
