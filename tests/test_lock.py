"""The lock: what it says of a file, that it stays as it is, and that any other file is told from it."""

import gzip
import hashlib
import os
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbiolink.errors import InputError
from openbiolink.sources.declarations import Source
from openbiolink.sources.fetch import Fetched
from openbiolink.sources.lock import (
    Locked,
    check_locked,
    describe_source,
    find_version,
    name_layout,
    read_lock,
    write_lock,
)

ENTRY = Locked(
    url="https://example.org/a.tsv",
    version="1",
    date="2026-10-01",
    size=3,
    sha256="a" * 64,
    layout="table",
    file="a.tsv",
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
LOCKED = st.builds(
    Locked,
    url=TEXTS,
    version=TEXTS,
    date=TEXTS,
    size=st.integers(0, 2**62),
    sha256=st.text("0123456789abcdef", min_size=64, max_size=64),
    layout=TEXTS,
    file=TEXTS,
)
FORMATS = {
    "delimited": {"layout": [{"name": "table", "named": {"left": "a", "right": "b"}}]},
    "obo": {},
    "gaf": {},
    "pgdump": {"tables": {"thing": ["id"]}},
}


def declared(form="delimited", **more):
    common = {"title": "Things", "gives": ["edge"], "homepage": "", "licence": "CC0 1.0", "files": ["*"]}
    return Source.model_validate({**common, "format": form, **FORMATS[form], **more})


def fetched(path, url="", modified=""):
    data = path.read_bytes()
    sha256 = hashlib.sha256(data).hexdigest()
    return Fetched(source="things", path=path, url=url, sha256=sha256, size=len(data), modified=modified, kept=False)


@given(st.dictionaries(TEXTS, LOCKED, max_size=4), st.dictionaries(TEXTS, LOCKED, max_size=4))
def test_what_is_written_is_read(tmp_path_factory, old, new):
    path = tmp_path_factory.mktemp("lock") / "openbiolink.lock"
    write_lock(path, "2020", old)
    write_lock(path, "2026", new)
    assert read_lock(path, "2020") == old
    assert read_lock(path, "2026") == new


@given(st.dictionaries(TEXTS, LOCKED, min_size=1, max_size=4), st.dictionaries(TEXTS, LOCKED, max_size=4))
def test_other_entries_stay_byte_for_byte(tmp_path_factory, old, new):
    path = tmp_path_factory.mktemp("lock") / "openbiolink.lock"
    write_lock(path, "2020", old)
    before = path.read_text(encoding="utf-8").split("\n[")[1:]
    write_lock(path, "2026", new)
    write_lock(path, "2020", dict(reversed(old.items())))
    after = path.read_text(encoding="utf-8")
    assert all(f"[{table.rstrip()}\n" in after for table in before)
    write_lock(path, "2026", {})
    assert path.read_text(encoding="utf-8") == after


def test_a_lock_is_toml_in_a_form_that_stays(tmp_path):
    path = tmp_path / "openbiolink.lock"
    write_lock(path, "2026", {"b.c": replace(ENTRY, file='odd "name"\\\x7f.tsv'), "a": ENTRY})
    text = path.read_text(encoding="utf-8")
    assert list(tomllib.loads(text)["2026"]) == ["a", "b.c"]
    assert '["2026"."a"]\nurl = "https://example.org/a.tsv"\nversion = "1"\ndate = "2026-10-01"\nsize = 3\n' in text
    assert tomllib.loads(text)["2026"]["b.c"]["file"] == 'odd "name"\\\x7f.tsv'
    assert [entry.name for entry in tmp_path.iterdir()] == ["openbiolink.lock"]


def test_an_entry_of_the_same_file_keeps_what_was_known(tmp_path):
    path = tmp_path / "openbiolink.lock"
    write_lock(path, "2026", {"a": ENTRY, "b": ENTRY})
    again = replace(ENTRY, url="", version="", date="2027-01-01", layout="other")
    other = replace(again, sha256="b" * 64)
    write_lock(path, "2026", {"a": again, "b": other})
    assert read_lock(path, "2026") == {"a": replace(ENTRY, layout="other"), "b": other}
    write_lock(path, "2026", {"a": replace(ENTRY, url="https://mirror.example.org/a.tsv")})
    assert read_lock(path, "2026")["a"].url == "https://mirror.example.org/a.tsv"


def test_several_writers_lose_nothing(tmp_path):
    path = tmp_path / "new" / "openbiolink.lock"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: write_lock(path, "2026", {f"s{number}": ENTRY}), range(60)))
    assert read_lock(path, "2026").keys() == {f"s{number}" for number in range(60)}
    assert [entry.name for entry in path.parent.iterdir()] == ["openbiolink.lock"]


def test_where_nothing_changes_nothing_is_written(tmp_path):
    path = tmp_path / "openbiolink.lock"
    write_lock(path, "2026", {"a": ENTRY})
    path.write_text("# by hand\n" + path.read_text())
    before = path.read_bytes(), path.stat().st_ino
    write_lock(path, "2026", {"a": replace(ENTRY, url="", date="2030-01-01")})
    write_lock(path, "2026", {})
    assert (path.read_bytes(), path.stat().st_ino) == before


def test_where_there_is_no_lock_nothing_is_locked(tmp_path):
    assert read_lock(tmp_path / "openbiolink.lock", "2026") == {}
    write_lock(tmp_path / "openbiolink.lock", "2026", {"a": ENTRY})
    assert read_lock(tmp_path / "openbiolink.lock", "2020") == {}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (b"\xff\xfe", "not valid TOML"),
        (b'["2026"."a"]\nurl = "x', "not valid TOML"),
        (b"a = 1", "'a' is no table of sources"),
        (b"[2026]\na = 1", "[2026.a] must have url, version"),
        (b'[2026.a]\nurl = "x"', "[2026.a] must have url, version"),
        (b'[2026.a]\nurl=""\nversion=1\ndate=""\nsize=1\nsha256=""\nlayout=""\nfile=""', "[2026.a] must have"),
        (b'[2026.a]\nurl=""\nversion=""\ndate=""\nsize=true\nsha256=""\nlayout=""\nfile=""', "[2026.a] must have"),
        (b"<!doctype html>", "not valid TOML"),
    ],
)
def test_what_is_no_lock_is_refused_and_left_alone(tmp_path, text, fault):
    path = tmp_path / "openbiolink.lock"
    path.write_bytes(text)
    for attempt in (lambda: read_lock(path, "2026"), lambda: write_lock(path, "2026", {"a": ENTRY})):
        with pytest.raises(InputError) as caught:
            attempt()
        assert str(path) in str(caught.value)
        assert fault in str(caught.value)
        assert "\n" not in str(caught.value)
    assert path.read_bytes() == text
    with pytest.raises(InputError, match="folder"):
        read_lock(tmp_path, "2026")


def test_every_difference_is_named():
    locked = {"a": ENTRY, "b": ENTRY, "gone": ENTRY, "unwanted": ENTRY}
    same = replace(ENTRY, url="", date="2030-01-01", file="renamed.tsv", version="")
    changed = replace(ENTRY, version="2", size=4, sha256="b" * 64, layout="other")
    assert check_locked(locked, {"a": ENTRY, "b": same}) == []
    lines = check_locked(locked, {"new": ENTRY, "b": changed, "a": same}, wanted=["gone", "a"])
    assert lines == [
        "gone: is locked, but there is no file of it",
        "b: version is '2', the lock has '1'",
        "b: size is 4, the lock has 3",
        f"b: sha256 is '{'b' * 64}', the lock has '{'a' * 64}'",
        "b: layout is 'other', the lock has 'table'",
        "new: is not in the lock",
    ]


def test_a_file_is_described(tmp_path):
    path = tmp_path / "things.tsv.gz"
    path.write_bytes(gzip.compress(b"#version: 7\na\tb\n1\t2\n", mtime=0))
    os.utime(path, (1_790_000_000, 1_790_000_000))
    source = declared(
        layout=[{"name": "table", "comment": "#", "named": {"left": "a", "right": "b"}}],
        probe={"pattern": r"^#version: (\S+)"},
    )
    entry = describe_source("things", source, path, fetched=fetched(path, "https://example.org/things.tsv.gz"))
    assert (entry.version, entry.date, entry.layout, entry.file) == ("7", "2026-09-21", "table", "things.tsv.gz")
    assert entry.size == path.stat().st_size
    assert len(entry.sha256) == 64
    assert describe_source("things", source, path, fetched=fetched(path, modified="2020-03-27")).date == "2020-03-27"
    os.utime(path, (0, 0))
    assert describe_source("things", source, path, earlier=entry) == entry
    with pytest.raises(InputError, match="no such file"):
        describe_source("things", source, tmp_path / "absent")
    path.write_bytes(b"c\td\n1\t2\n")
    with pytest.raises(InputError, match="fits no known layout of things"):
        describe_source("things", source, path)


def test_the_version_of_a_pinned_file_is_that_of_the_catalogue(tmp_path):
    path = tmp_path / "things.tsv"
    path.write_bytes(b"a\tb\n1\t2\n")
    plain = describe_source("things", declared(), path)
    pinned = [
        {"url": "https://example.org/9/things.tsv", "kind": "pinned", "sha256": plain.sha256},
        {"url": "https://example.org/9/copy.tsv", "kind": "pinned", "sha256": plain.sha256},
        {"url": "https://example.org/newest/things.tsv", "kind": "rolling"},
    ]
    elsewhere = {"pattern": "(.*)", "url": "https://example.org/version"}
    source = declared(version="9", address=pinned, probe=elsewhere)
    assert describe_source("things", source, path).version == "9"
    source = declared(version="9", address=[pinned[2]], probe=elsewhere)
    assert describe_source("things", source, path, fetched=fetched(path, pinned[2]["url"])).version == ""
    source = declared(version="9", address=[{**pinned[0], "sha256": None}, pinned[2]], probe=elsewhere)
    assert describe_source("things", source, path, fetched=fetched(path, pinned[0]["url"])).version == "9"
    assert describe_source("things", source, path, fetched=fetched(path, pinned[2]["url"])).version == ""
    known = replace(plain, version="10")
    assert describe_source("things", source, path, earlier=known).version == "10"


def test_versions_are_found():
    lines = ["format-version: 1.2", "data-version: releases/2026-06-23/x.obo", "data-version: releases/1999/x.obo"]
    assert find_version(declared("obo", version="old"), lines) == ""
    probed = declared("obo", version="old", probe={"pattern": r"^data-version: releases/([^/]+)/"})
    assert find_version(probed, lines) == "2026-06-23"
    assert find_version(probed, ["nothing"]) == ""
    elsewhere = declared("obo", version="old", probe={"pattern": "(.)", "url": "https://example.org/v"})
    assert find_version(elsewhere, lines) == ""
    assert find_version(declared(probe={"pattern": "x(y)?"}), ["x"]) == ""


@pytest.mark.parametrize(
    ("form", "lines", "layout"),
    [
        ("delimited", ["a\tb", "1\t2"], "table"),
        ("obo", ["format-version: 1.4"], "obo 1.4"),
        ("gaf", ["!gaf-version: 2.2", "!date-generated: x", "\t".join(["cell"] * 17)], "gaf 2.2"),
        ("pgdump", ["--", "-- PostgreSQL database dump", "--"], "plain-text dump"),
    ],
)
def test_layouts_are_named(form, lines, layout):
    assert name_layout(lines, "things", declared(form), place="here") == layout
    with pytest.raises(InputError, match=r"^https://example\.org/x"):
        name_layout(["other"], "things", declared(form), place="https://example.org/x")
