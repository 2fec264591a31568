"""Fetching from servers that misbehave ends with the right file, or with a clear line and no file."""

import gzip
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
import zipfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from loopback import File, ftp_server, http_server, redirect
from openbiolink.errors import CatalogueError, InputError
from openbiolink.sources.catalogue import parse_catalogue
from openbiolink.sources.declarations import Address, Catalogue, Source
from openbiolink.sources.fetch import FetchOptions, Listener, fetch_sources
from openbiolink.sources.servers import Patience
from openbiolink.sources.transfer import read_start

QUICK = Patience(connect=5.0, stall=5.0, retries=2, backoff=0.001, longest_wait=0.05)
HURRIED = replace(QUICK, stall=0.6)
DATA = random.Random(1).randbytes(60_000).hex().encode() + b"\n"
OTHER = random.Random(2).randbytes(50_000).hex().encode() + b"\n"
ETAG = '"one"'
DATED = "Fri, 27 Mar 2020 12:00:00 GMT"
GOOD = File(data=DATA, etag=ETAG, modified=DATED)


@pytest.fixture(scope="module")
def http():
    with http_server() as server:
        yield server


@pytest.fixture(scope="module")
def ftp():
    with ftp_server() as server:
        yield server


def source(*addresses, **facts):
    """A source with these addresses: each a URL, or a URL and further facts of the address."""
    declared = [
        {"kind": "rolling", "url": one} if isinstance(one, str) else {"kind": "rolling", **one} for one in addresses
    ]
    words = {"title": "t", "gives": ["g"], "homepage": "https://example.org", "licence": "l", "format": "delimited"}
    layout = [{"name": "one column", "header": "none", "positional": ["text"]}]
    return Source.model_validate({**words, "layout": layout, "files": ["*.tsv*"], "address": declared, **facts})


def catalogue(**sources):
    return Catalogue.model_construct(edition="test", sources=sources)


def fetch_all(declared, names, folder, *, patience=QUICK, progress=None, note=None, landed=None, **options):
    heard = {"progress": progress, "note": note, "landed": landed}
    listener = Listener(**{name: call for name, call in heard.items() if call is not None})
    return fetch_sources(declared, names, folder, options=FetchOptions(patience=patience, **options), listener=listener)


def fetch(declared, folder, **options):
    """Fetch one source; the report's only entry: what was fetched, or the line that says why not."""
    report = fetch_all(catalogue(one=declared), ["one"], folder, **options)
    assert len(report.fetched) + len(report.failed) == 1
    return report.fetched.get("one") or report.failed["one"]


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def check_got(fetched, data, folder):
    """The right bytes under the final name, the right numbers, and nothing else left."""
    assert not isinstance(fetched, str), fetched
    assert fetched.path.read_bytes() == data
    assert (fetched.sha256, fetched.size) == (hashlib.sha256(data).hexdigest(), len(data))
    assert left(folder) == [fetched.path.name]


def check_refused(line, *words, folder, rest=()):
    assert isinstance(line, str), line
    assert "\n" not in line
    for word in ("one: ", *words, " by hand", f" save it as {folder}"):
        assert word in line
    assert left(folder) == list(rest)


# one file over HTTP --------------------------------------------------------------------------------------------------


def test_a_file_is_fetched_whole(http, tmp_path):
    http.serve("/whole.tsv", GOOD)
    seen = []
    fetched = fetch(source(http.url("/whole.tsv")), tmp_path / "new", progress=lambda *numbers: seen.append(numbers))
    check_got(fetched, DATA, tmp_path / "new")
    assert (fetched.url, fetched.modified, fetched.kept) == (http.url("/whole.tsv"), "2020-03-27", False)
    assert seen[-1] == ("whole.tsv", len(DATA), len(DATA))
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)
    headers = http.asked[-1].headers
    assert headers["Accept-Encoding"] == "identity"
    assert headers["User-Agent"].startswith("openbiolink/")
    assert not headers.keys() & {"Authorization", "Range"}


@pytest.mark.parametrize("framing", ["length", "chunked"])
@pytest.mark.parametrize("version", [{"etag": ETAG}, {"modified": DATED}, {"etag": ETAG, "modified": DATED}])
@pytest.mark.parametrize("fault", [{"cut": 30_000}, {"stall": 30_000}])
def test_a_cut_transfer_goes_on_where_it_was(http, tmp_path, fault, version, framing):
    http.asked.clear()
    http.serve("/cut.tsv", File(data=DATA, framing=framing, **version, **fault), File(data=DATA, **version))
    check_got(fetch(source(http.url("/cut.tsv")), tmp_path, patience=HURRIED), DATA, tmp_path)
    assert http.ranges("/cut.tsv") == [None, "bytes=30000-"]
    assert http.asked[-1].headers["If-Range"] == version.get("etag", DATED)


def test_a_transfer_that_breaks_off_often_goes_on_while_it_gets_further(http, tmp_path):
    http.asked.clear()
    cuts = [File(data=DATA, etag=ETAG, cut=place) for place in range(10_000, 120_000, 10_000)]
    http.serve("/often.tsv", *cuts, GOOD)
    check_got(fetch(source(http.url("/often.tsv")), tmp_path), DATA, tmp_path)
    assert len(http.ranges("/often.tsv")) == 12


def test_a_transfer_that_gets_no_further_is_given_up_and_kept(http, tmp_path):
    http.asked.clear()
    http.serve("/stuck.tsv", File(data=DATA, etag=ETAG, cut=1000))
    line = fetch(source(http.url("/stuck.tsv")), tmp_path)
    check_refused(line, "broke off", folder=tmp_path, rest=["stuck.tsv.origin.part", "stuck.tsv.part"])
    assert len(http.ranges("/stuck.tsv")) == 2 + QUICK.retries
    http.serve("/stuck.tsv", GOOD)
    check_got(fetch(source(http.url("/stuck.tsv")), tmp_path), DATA, tmp_path)
    assert http.ranges("/stuck.tsv")[-1] == "bytes=1000-"


@pytest.mark.parametrize(
    "answer",
    [
        File(data=DATA, etag=ETAG, ranges=False),
        File(data=OTHER, etag='"two"'),
        File(data=OTHER, etag='"two"', if_range=False),
        File(data=OTHER, etag=ETAG, if_range=False),
        File(data=DATA[:20_000], etag=ETAG),
        File(data=DATA, etag=ETAG, shift=500),
        File(data=DATA, etag=ETAG, shift=-500),
        File(data=DATA, etag=ETAG, content_range=False),
    ],
    ids=[
        "ignored",
        "changed",
        "changed, If-Range ignored",
        "size changed",
        "shrunk",
        "early start",
        "late start",
        "start not told",
    ],
)
def test_what_cannot_be_gone_on_with_is_started_anew(http, tmp_path, answer):
    http.serve("/anew.tsv", File(data=DATA, etag=ETAG, cut=30_000), answer)
    check_got(fetch(source(http.url("/anew.tsv")), tmp_path), answer.data, tmp_path)


@pytest.mark.parametrize("answer", [GOOD, File(data=OTHER)], ids=["same", "changed"])
def test_a_beginning_without_a_version_is_not_gone_on_with(http, tmp_path, answer):
    http.asked.clear()
    http.serve("/plain.tsv", File(data=DATA, cut=30_000), answer)
    check_got(fetch(source(http.url("/plain.tsv")), tmp_path), answer.data, tmp_path)
    assert http.ranges("/plain.tsv") == [None, None]


def test_a_beginning_without_a_version_is_gone_on_with_where_the_checksum_is_known(http, tmp_path):
    http.asked.clear()
    pinned = {"url": http.url("/pinned.tsv"), "sha256": hashlib.sha256(DATA).hexdigest()}
    http.serve("/pinned.tsv", File(data=DATA, cut=30_000), File(data=DATA))
    check_got(fetch(source(pinned), tmp_path), DATA, tmp_path)
    assert http.ranges("/pinned.tsv") == [None, "bytes=30000-"]


def test_a_weak_tag_proves_nothing(http, tmp_path):
    http.asked.clear()
    http.serve("/weak.tsv", File(data=DATA, etag='W/"one"', cut=30_000), File(data=OTHER, etag='W/"one"'))
    check_got(fetch(source(http.url("/weak.tsv")), tmp_path), OTHER, tmp_path)
    assert http.ranges("/weak.tsv") == [None, None]


def test_a_beginning_of_another_address_is_not_gone_on_with(http, tmp_path):
    http.asked.clear()
    http.serve("/first.tsv", File(data=OTHER, etag=ETAG, cut=30_000))
    http.serve("/second.tsv", GOOD)
    notes = []
    both = source(http.url("/first.tsv"), http.url("/second.tsv"))
    fetched = fetch(both, tmp_path, note=notes.append)
    check_got(fetched, DATA, tmp_path)
    assert (fetched.url, fetched.path.name) == (http.url("/second.tsv"), "first.tsv")
    assert http.ranges("/second.tsv") == [None]
    assert len(notes) == 1
    assert "/first.tsv broke off" in notes[0]
    assert f"took {http.url('/second.tsv')}" in notes[0]


def test_where_both_addresses_pin_one_checksum_the_second_goes_on_where_the_first_stopped(http, tmp_path):
    http.asked.clear()
    sha256 = hashlib.sha256(DATA).hexdigest()
    both = source(*({"url": http.url(path), "sha256": sha256} for path in ("/origin.tsv", "/archive.tsv")))
    http.serve("/origin.tsv", File(data=DATA, etag='"here"', cut=30_000), File(data=b"", status=404))
    http.serve("/archive.tsv", File(data=DATA, etag='"there"', cut=70_000), GOOD)
    check_got(fetch(both, tmp_path), DATA, tmp_path)
    assert http.ranges("/archive.tsv") == ["bytes=30000-", "bytes=70000-"]
    assert "If-Range" not in http.asked[-2].headers


@pytest.mark.parametrize("pinned", [True, False])
def test_a_short_beginning_of_one_address_takes_the_place_of_no_longer_one(http, tmp_path, pinned):
    http.asked.clear()
    more = {"sha256": hashlib.sha256(DATA).hexdigest()} if pinned else {}
    both = source(*({"url": http.url(path), **more} for path in ("/long.tsv", "/short.tsv")))
    http.serve("/long.tsv", File(data=DATA, etag=ETAG, cut=90_000), File(data=b"", status=404))
    http.serve("/short.tsv", File(data=DATA, etag='"other"', ranges=False, cut=10_000))
    assert "broke off" in fetch(both, tmp_path)
    assert (tmp_path / "long.tsv.part").stat().st_size == 90_000
    assert (tmp_path / "long.tsv.2.part").stat().st_size == 10_000
    http.serve("/long.tsv", GOOD)
    check_got(fetch(both, tmp_path), DATA, tmp_path)
    assert http.ranges("/long.tsv")[-1] == "bytes=90000-"


def test_a_page_in_the_middle_costs_nothing_that_came_before(http, tmp_path):
    http.serve("/page.tsv", File(data=DATA, etag=ETAG, cut=30_000), File(data=b"<html>down</html>"))
    line = fetch(source(http.url("/page.tsv")), tmp_path)
    check_refused(line, "is a web page", folder=tmp_path, rest=["page.tsv.origin.part", "page.tsv.part"])
    http.serve("/page.tsv", GOOD)
    check_got(fetch(source(http.url("/page.tsv")), tmp_path), DATA, tmp_path)
    assert http.ranges("/page.tsv")[-1] == "bytes=30000-"


@pytest.mark.parametrize("more", [b"", b"and more"])
def test_a_transfer_that_was_killed_before_the_rename_asks_for_one_byte(http, tmp_path, more):
    http.asked.clear()
    http.serve("/last.tsv", GOOD)
    version = {"url": http.url("/last.tsv"), "etag": ETAG, "modified": "", "size": len(DATA)}
    (tmp_path / "last.tsv.part").write_bytes(DATA + more)
    (tmp_path / "last.tsv.origin.part").write_text(json.dumps(version))
    check_got(fetch(source(http.url("/last.tsv")), tmp_path), DATA, tmp_path)
    assert http.ranges("/last.tsv") == [f"bytes={len(DATA) - 1}-"]


@pytest.mark.parametrize(
    "origin", [None, "", "{", "[]", '{"url": 1}', '{"url": "x", "size": "y"}', '{"url": "https://example.org/x"}']
)
def test_a_beginning_of_unknown_origin_is_thrown_away(http, tmp_path, origin):
    http.asked.clear()
    http.serve("/unknown.tsv", GOOD)
    (tmp_path / "unknown.tsv.part").write_bytes(b"something else")
    if origin is not None:
        (tmp_path / "unknown.tsv.origin.part").write_text(origin)
    check_got(fetch(source(http.url("/unknown.tsv")), tmp_path), DATA, tmp_path)
    assert http.ranges("/unknown.tsv") == [None]


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_whatever_a_server_does_the_file_is_one_version_whole_or_absent(data, http, tmp_path_factory):
    versions = {'"one"': DATA, '"two"': OTHER, '"three"': DATA[:40_000] + OTHER[:20_000]}
    place = st.none() | st.integers(0, 99_000)
    answers = st.builds(
        lambda etag, cut, **how: File(data=versions[etag], etag=etag, cut=cut, **how),
        etag=st.sampled_from(list(versions)),
        cut=place,
        ranges=st.booleans(),
        if_range=st.booleans(),
        content_range=st.booleans(),
        shift=st.sampled_from([0, 0, 7, -7]),
        framing=st.sampled_from(["length", "chunked"]),
        status=st.sampled_from([200, 200, 200, 404]),
    )
    folder = tmp_path_factory.mktemp("any")
    http.serve("/any.tsv", *data.draw(st.lists(answers, min_size=1, max_size=6)))
    for _ in range(2):
        outcome = fetch(source(http.url("/any.tsv")), folder)
        if isinstance(outcome, str):
            assert not (folder / "any.tsv").exists()
        else:
            check_got(outcome, (folder / "any.tsv").read_bytes(), folder)
            assert (folder / "any.tsv").read_bytes() in versions.values()


# what is refused -----------------------------------------------------------------------------------------------------

PACKED = gzip.compress(DATA, mtime=0)
CAPTCHA = b"<!DOCTYPE html><title>Just a moment...</title><p>Are you a robot? Solve the captcha"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"<!DOCTYPE html><html>welcome", "is a web page, not the file"),
        (b"\xef\xbb\xbf\n <HTML><body>welcome", "is a web page, not the file"),
        (CAPTCHA, "is a web page that keeps robots out (CAPTCHA)"),
        (gzip.compress(CAPTCHA, mtime=0), "is a web page that keeps robots out (CAPTCHA)"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "is a Git-LFS pointer"),
        (b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "is an XML document"),
        (b"", "is empty"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (PACKED[:-9], "cannot be unpacked: the gzip data end too early"),
        (PACKED[:500] + b"\0" * 500 + PACKED[1000:], "cannot be unpacked: the compressed data are damaged"),
        (b"PK\x03\x04" + DATA, "cannot be unpacked: the compressed data are damaged"),
    ],
)
def test_what_is_not_the_file_is_refused(http, tmp_path, data, words):
    for framing in ("length", "chunked"):
        http.serve("/wrong.tsv.gz", File(data=data, framing=framing))
        line = fetch(source(http.url("/wrong.tsv.gz")), tmp_path)
        check_refused(line, words, http.url("/wrong.tsv.gz"), folder=tmp_path)
        assert f"save it as {tmp_path / 'wrong.tsv.gz'}" in line


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"sha256": "0" * 64}, f"has sha256 {hashlib.sha256(DATA).hexdigest()}, expected {'0' * 64}"),
        ({"size": 5}, f"has {len(DATA)} bytes, expected 5"),
        ({"min_bytes": 10**6}, f"has {len(DATA)} bytes, fewer than the 1000000 of a whole file"),
    ],
)
@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_what_is_not_as_the_catalogue_says_is_refused(http, tmp_path, facts, words, framing):
    http.serve("/other.tsv", File(data=DATA, framing=framing))
    check_refused(fetch(source({"url": http.url("/other.tsv"), **facts}), tmp_path), words, folder=tmp_path)


def test_a_zip_file_is_read_to_its_end(http, tmp_path):
    with zipfile.ZipFile(tmp_path / "made.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.tsv", DATA)
    data = (tmp_path / "made.zip").read_bytes()
    http.serve("/a.tsv.zip", File(data=data))
    check_got(fetch(source(http.url("/a.tsv.zip")), tmp_path / "good"), data, tmp_path / "good")
    http.serve("/a.tsv.zip", File(data=data[:-300]))
    check_refused(
        fetch(source(http.url("/a.tsv.zip")), tmp_path / "bad"), "cannot be unpacked", folder=tmp_path / "bad"
    )


def test_too_few_bytes_are_a_cut_and_not_a_file(http, tmp_path):
    http.serve("/few.tsv", File(data=DATA, cut=len(DATA) - 1))
    line = fetch(source(http.url("/few.tsv")), tmp_path)
    check_refused(line, "broke off", folder=tmp_path, rest=["few.tsv.origin.part", "few.tsv.part"])


def test_a_file_of_untold_length_must_end_with_a_line(http, tmp_path):
    http.serve("/untold.tsv", File(data=DATA, framing="close"))
    check_got(fetch(source(http.url("/untold.tsv")), tmp_path / "good"), DATA, tmp_path / "good")
    http.serve("/untold.tsv", File(data=DATA, framing="close", cut=50_001))
    line = fetch(source(http.url("/untold.tsv")), tmp_path / "bad")
    check_refused(line, "ends inside a line", folder=tmp_path / "bad")


def test_a_chunked_file_needs_no_line_end(http, tmp_path):
    http.serve("/chunked.tsv", File(data=DATA[:-1], framing="chunked"))
    check_got(fetch(source(http.url("/chunked.tsv")), tmp_path), DATA[:-1], tmp_path)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 204, 304])
def test_a_bad_status_is_said(http, tmp_path, status):
    http.serve("/status.tsv", File(data=b"" if status in (204, 304) else b"<html>no</html>", status=status))
    line = fetch(source(http.url("/status.tsv")), tmp_path)
    check_refused(line, f"answers {status} ", folder=tmp_path)


def test_a_captcha_behind_a_bad_status_is_said(http, tmp_path):
    http.serve("/guarded.tsv", File(data=CAPTCHA, status=403))
    check_refused(fetch(source(http.url("/guarded.tsv")), tmp_path), "answers 403", "CAPTCHA", folder=tmp_path)


def test_a_coding_that_was_not_asked_for_is_refused(http, tmp_path):
    http.serve("/coded.tsv", File(data=DATA, headers={"Content-Encoding": "br"}))
    check_refused(fetch(source(http.url("/coded.tsv")), tmp_path), "is packed as 'br'", folder=tmp_path)


def test_gzip_is_not_unpacked_on_the_way(http, tmp_path):
    http.serve("/raw.tsv.gz", File(data=PACKED, headers={"Content-Encoding": "x-gzip"}))
    check_got(fetch(source(http.url("/raw.tsv.gz")), tmp_path), PACKED, tmp_path)


# waiting and giving up -----------------------------------------------------------------------------------------------


def test_a_busy_server_is_asked_again(http, tmp_path):
    http.asked.clear()
    busy = File(data=b"later", status=503, headers={"Retry-After": "7200"})
    http.serve("/busy.tsv", busy, File(data=b"slow down", status=429), GOOD)
    began = time.monotonic()
    check_got(fetch(source(http.url("/busy.tsv")), tmp_path), DATA, tmp_path)
    assert len(http.ranges("/busy.tsv")) == 3
    assert time.monotonic() - began < 5


def test_a_server_that_stays_busy_is_given_up(http, tmp_path):
    http.asked.clear()
    http.serve("/busy.tsv", File(data=b"later", status=503))
    check_refused(fetch(source(http.url("/busy.tsv")), tmp_path), "answers 503 Service", folder=tmp_path)
    assert 1 < len(http.ranges("/busy.tsv")) <= 1 + QUICK.retries  # a connection that was not made counts too


def test_a_server_that_is_not_there_is_said(tmp_path):
    line = fetch(source("http://127.0.0.1:9/a.tsv", "ftp://127.0.0.1:9/a.tsv"), tmp_path)
    check_refused(line, "does not answer (Connection refused)", "ftp://127.0.0.1:9/a.tsv", folder=tmp_path)


def test_what_cannot_be_written_is_said(http, tmp_path):
    http.serve("/disk.tsv", GOOD)
    (tmp_path / "disk.tsv.part").mkdir()
    line = fetch(source(http.url("/disk.tsv")), tmp_path)
    assert "one: " in line
    assert str(tmp_path / "disk.tsv.part") in line
    assert "choose another folder" in line


def test_tests_cannot_leave_this_machine(tmp_path):
    line = fetch(source("https://example.org/a.tsv"), tmp_path)
    check_refused(line, "does not answer (Connection refused)", folder=tmp_path)
    program = "import os; print(os.environ['https_proxy'], os.environ['NO_PROXY'])"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert shown == "http://127.0.0.1:9 127.0.0.1,localhost\n"


# redirects and credentials -------------------------------------------------------------------------------------------

SECRET = "Bearer s3cr3t-t0k3n"


@pytest.fixture
def secret(monkeypatch):
    monkeypatch.setenv("TEST_KEY", SECRET)


def test_redirects_are_followed_and_the_address_stays_that_of_the_catalogue(http, tmp_path):
    http.serve("/a/moved.tsv", redirect("../b/moved.tsv"))
    http.serve("/b/moved.tsv", redirect(http.url("/c/moved.tsv", host="localhost"), status=301))
    http.serve("/c/moved.tsv", GOOD)
    fetched = fetch(source(http.url("/a/moved.tsv")), tmp_path)
    check_got(fetched, DATA, tmp_path)
    assert fetched.url == http.url("/a/moved.tsv")


def test_a_redirected_transfer_goes_on_where_it_was(http, tmp_path):
    http.asked.clear()
    http.serve("/via.tsv", redirect(http.url("/there.tsv")))
    http.serve("/there.tsv", File(data=DATA, etag=ETAG, cut=5000), GOOD)
    check_got(fetch(source(http.url("/via.tsv")), tmp_path), DATA, tmp_path)
    assert http.ranges("/there.tsv") == [None, "bytes=5000-"]


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("ftp://127.0.0.1/a.tsv", "redirects to ftp:"),
        ("file:///etc/hostname", "redirects to file:"),
        ("/loop.tsv", "redirects more than 10 times"),
        ("https://127.0.0.1:9/a.tsv", "does not answer"),
        ("http://[", "does not answer"),
        ("http://[::1/a.tsv", "does not answer"),
        ("http://127.0.0.1:99999/a.tsv", "does not answer"),
    ],
)
def test_redirects_that_lead_nowhere_are_said(http, tmp_path, target, words):
    http.serve("/loop.tsv", redirect(target))
    check_refused(fetch(source(http.url("/loop.tsv")), tmp_path), words, folder=tmp_path)


@pytest.mark.parametrize("elsewhere", ["other host", "other port"])
@pytest.mark.usefixtures("secret")
def test_a_credential_stays_with_its_server(http, tmp_path, elsewhere):
    with http_server() as other:
        there = http.url("/keyed/2.tsv", host="localhost") if elsewhere == "other host" else other.url("/keyed/2.tsv")
        http.serve("/keyed.tsv", redirect("/keyed/1.tsv"))
        http.serve("/keyed/1.tsv", redirect(there))
        back = http.url("/keyed/3.tsv")
        for server in (http, other):
            server.asked.clear()
            server.serve("/keyed/2.tsv", redirect(back))
        http.serve("/keyed/3.tsv", GOOD)
        check_got(fetch(source({"url": http.url("/keyed.tsv"), "credential": "TEST_KEY"}), tmp_path), DATA, tmp_path)
        sent = {asked.path: asked.headers.get("Authorization") for asked in (*http.asked, *other.asked)}
    assert sent == {"/keyed.tsv": SECRET, "/keyed/1.tsv": SECRET, "/keyed/2.tsv": None, "/keyed/3.tsv": SECRET}


@pytest.mark.usefixtures("secret")
def test_a_credential_is_never_written(http, tmp_path):
    keyed = source({"url": http.url("/closed.tsv"), "credential": "TEST_KEY"})
    lines = []
    for answer in (File(data=b"no", status=401), File(data=DATA, etag=ETAG, cut=500), File(data=b"<html>")):
        http.serve("/closed.tsv", answer)
        lines.append(fetch(keyed, tmp_path, note=lines.append))
    assert "check the environment variable TEST_KEY" in lines[0]
    assert (tmp_path / "closed.tsv.origin.part").is_file()
    written = "".join(lines) + "".join(path.read_text() for path in tmp_path.iterdir())
    assert "s3cr3t" not in written


@pytest.mark.parametrize(
    ("value", "words"),
    [("", "which is not set"), (" ", "which is not set"), ("s3cr3t\nx: y", "cannot be sent"), ("s3cr3tä", "cannot be")],
)
def test_a_credential_that_cannot_be_sent_is_said(http, tmp_path, monkeypatch, value, words):
    monkeypatch.setenv("TEST_KEY", value)
    http.asked.clear()
    line = fetch(source({"url": http.url("/closed.tsv"), "credential": "TEST_KEY"}), tmp_path)
    check_refused(line, "the environment variable TEST_KEY", words, folder=tmp_path)
    assert "s3cr3t" not in line
    assert http.asked == []


def test_credentials_of_netrc_and_of_addresses_are_not_sent(http, tmp_path, monkeypatch):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password s3cr3t\n")
    (tmp_path / "netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    http.asked.clear()
    http.serve("/open.tsv", redirect(http.url("/open2.tsv").replace("//", "//me:s3cr3t@")))
    http.serve("/open2.tsv", GOOD)
    check_got(fetch(source(http.url("/open.tsv")), tmp_path / "good"), DATA, tmp_path / "good")
    assert [asked.headers.get("Authorization") for asked in http.asked] == [None, None]
    line = fetch(source(http.url("/open2.tsv").replace("//", "//me:s3cr3t@")), tmp_path / "bad")
    check_refused(line, "put the credential into an environment variable", folder=tmp_path / "bad")
    assert "s3cr3t" not in line
    assert len(http.asked) == 2


@pytest.mark.parametrize(
    "url",
    [
        "ftp://h:99999/x",
        "ftp://[::1/x",
        "http://h:port/x",
        "https://h:0/x",
        "https://:80/x",
        "https://h",
        "http://a..b/x",
        f"http://{'a' * 70}.org/x",
        "gopher://h/x",
        "https://h/a b",
        "https://h/a\x7f",
        "",
    ],
)
def test_what_is_no_address_is_refused_in_words(url):
    for declare in (lambda: source(url), lambda: source(probe={"pattern": "(.)", "url": url})):
        with pytest.raises(ValidationError) as caught:
            declare()
        (fault,) = caught.value.errors()
        assert fault["msg"] == "is no http, https or ftp address of the form https://host/path"


@pytest.mark.parametrize(
    "query", ["apikey=X", "a=1&api_key=X", "API-KEY=X", "key=X", "access_token=X", "Token=X", "secret=", "password=X"]
)
def test_a_key_in_an_address_is_refused_and_not_repeated(query, tmp_path):
    url = f"https://example.org/a.tsv?{query.replace('X', 's3cr3t')}"
    declared = """[source.a]
        title = "t"\ngives = ["g"]\nhomepage = "h"\nlicence = "CC0 1.0"\nformat = "obo"\nfiles = ["a*"]
        """
    path = tmp_path / "a.toml"
    for more in (f'address = [{{ kind = "rolling", url = "{url}" }}]', f'probe = {{ pattern = "(.)", url = "{url}" }}'):
        path.write_text(declared + more + "\n[rule]\n")
        with pytest.raises(CatalogueError, match=r"in its query.*`credential`") as caught:
            parse_catalogue("test", [path])
        assert "s3cr3t" not in str(caught.value)
    assert source("https://example.org/a.tsv?format=new&keyword=x").addresses


# what is there already -----------------------------------------------------------------------------------------------


def test_a_file_that_is_there_is_kept(http, tmp_path):
    http.asked.clear()
    (tmp_path / "there.tsv").write_bytes(OTHER)
    (tmp_path / "there.tsv.origin.part").write_text("{}")
    kept = fetch(source(http.url("/there.tsv")), tmp_path)
    check_got(kept, OTHER, tmp_path)
    assert (kept.kept, kept.url) == (True, "")
    assert http.asked == []


def test_a_file_with_the_checksum_of_an_address_is_kept_and_its_address_known(http, tmp_path):
    (tmp_path / "by hand.tsv").write_bytes(DATA)
    pinned = {"url": http.url("/b.tsv"), "sha256": hashlib.sha256(DATA).hexdigest()}
    kept = fetch(source({"url": http.url("/a.tsv"), "min_bytes": 10**9}, pinned), tmp_path)
    check_got(kept, DATA, tmp_path)
    assert (kept.kept, kept.url, kept.path) == (True, http.url("/b.tsv"), tmp_path / "by hand.tsv")


@pytest.mark.parametrize(
    ("data", "facts", "words"),
    [
        (b"", {}, "is empty"),
        (CAPTCHA, {}, "CAPTCHA"),
        (PACKED[:-9], {}, "cannot be unpacked"),
        (OTHER, {"sha256": hashlib.sha256(DATA).hexdigest()}, "has sha256"),
        (OTHER, {"size": len(DATA)}, "bytes, expected"),
        (OTHER, {"min_bytes": len(DATA)}, "fewer than"),
    ],
)
def test_a_bad_file_that_is_there_is_replaced_only_by_a_good_one(http, tmp_path, data, facts, words):
    declared = source({"url": http.url("/bad.tsv"), **facts})
    (tmp_path / "bad.tsv").write_bytes(data)
    http.serve("/bad.tsv", File(data=b"<html>"))
    line = fetch(declared, tmp_path)
    check_refused(line, f"{tmp_path / 'bad.tsv'} ", words, "is a web page", folder=tmp_path, rest=["bad.tsv"])
    assert (tmp_path / "bad.tsv").read_bytes() == data
    http.serve("/bad.tsv", GOOD)
    notes = []
    check_got(fetch(declared, tmp_path, note=notes.append), DATA, tmp_path)
    assert words in notes[0]


@pytest.mark.parametrize(
    ("data", "facts", "words"),
    [
        (PACKED[:-9], {}, "cannot be unpacked"),
        (OTHER, {"sha256": hashlib.sha256(DATA).hexdigest()}, "has sha256"),
        (OTHER[:-5], {"min_bytes": len(OTHER)}, "fewer than"),
    ],
)
def test_without_servers_a_bad_file_is_named_and_left(http, tmp_path, data, facts, words):
    http.asked.clear()
    (tmp_path / "off.tsv").write_bytes(data)
    line = fetch(source({"url": http.url("/off.tsv"), **facts}), tmp_path, online=False)
    check_refused(line, f"one: {tmp_path / 'off.tsv'} ", words, "without --offline", folder=tmp_path, rest=["off.tsv"])
    assert (tmp_path / "off.tsv").read_bytes() == data
    assert "there is no file of it" in fetch(source(http.url("/none.tsv")), tmp_path / "none", online=False)
    assert not (tmp_path / "none").exists()
    (tmp_path / "off.tsv").write_bytes(DATA)
    check_got(fetch(source({"url": http.url("/off.tsv"), **facts}), tmp_path, online=False), DATA, tmp_path)
    assert http.asked == []


def test_a_file_whose_landing_nobody_heard_of_is_told_of_again(http, tmp_path):
    declared = source(http.url("/first.tsv"), http.url("/told.tsv"), saved_as="told.tsv")
    http.serve("/first.tsv", File(data=b"", status=404))
    http.serve("/told.tsv", GOOD)

    def stopped(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(declared, tmp_path, landed=stopped)
    assert (tmp_path / "told.tsv").read_bytes() == DATA
    http.asked.clear()
    landed = []
    fetched = fetch(declared, tmp_path, landed=landed.append)
    check_got(fetched, DATA, tmp_path)
    assert (fetched.kept, fetched.url, fetched.modified) == (False, http.url("/told.tsv"), "2020-03-27")
    assert landed == [fetched]
    assert fetch(declared, tmp_path).kept
    with pytest.raises(KeyboardInterrupt):
        fetch(declared, tmp_path, landed=stopped, refresh=True)
    (tmp_path / "told.tsv").write_bytes(OTHER)  # by hand, so that nothing is known of it
    fetched = fetch(declared, tmp_path)
    check_got(fetched, OTHER, tmp_path)
    assert (fetched.kept, fetched.url) == (True, "")


def test_a_file_that_is_not_accepted_where_it_lands_makes_its_source_fail(http, tmp_path):
    http.serve("/landed.tsv", GOOD)

    def refuse(_):
        raise InputError("one: no")

    for _ in range(2):
        assert fetch(source(http.url("/landed.tsv")), tmp_path, landed=refuse) == "one: no"
        assert (tmp_path / "landed.tsv").read_bytes() == DATA


def test_refresh_replaces_a_file_only_by_a_good_one(http, tmp_path):
    (tmp_path / "fresh.tsv").write_bytes(OTHER)
    http.serve("/fresh.tsv", File(data=b"<html>"))
    line = fetch(source(http.url("/fresh.tsv")), tmp_path, refresh=True)
    check_refused(line, "is a web page", "the older file stays", folder=tmp_path, rest=["fresh.tsv"])
    assert (tmp_path / "fresh.tsv").read_bytes() == OTHER
    http.serve("/fresh.tsv", GOOD)
    check_got(fetch(source(http.url("/fresh.tsv")), tmp_path, refresh=True), DATA, tmp_path)


def test_only_what_the_lock_knows_is_taken(http, tmp_path):
    http.serve("/locked.tsv", GOOD)
    wanted = hashlib.sha256(OTHER).hexdigest()
    line = fetch(source(http.url("/locked.tsv")), tmp_path, known={"one": wanted})
    check_refused(line, f"the lock says {wanted}", folder=tmp_path)
    (tmp_path / "locked.tsv").write_bytes(DATA)
    line = fetch(source(http.url("/locked.tsv")), tmp_path, known={"one": wanted})
    check_refused(line, f"the lock says {wanted}", folder=tmp_path, rest=["locked.tsv"])
    http.serve("/locked.tsv", File(data=OTHER))
    check_got(fetch(source(http.url("/locked.tsv")), tmp_path, known={"one": wanted}), OTHER, tmp_path)
    http.asked.clear()
    pinned = {"url": http.url("/locked.tsv"), "sha256": wanted}
    line = fetch(source(pinned), tmp_path, known={"one": "1" * 64})
    check_refused(line, f"the lock says {'1' * 64}", folder=tmp_path, rest=["locked.tsv"])
    assert http.asked == []


def test_a_source_without_address_must_be_got_by_hand(tmp_path):
    declared = source(saved_as="closed.tsv", by_hand="Log in and export it.")
    words = "one: no address gives it, it must be got by hand (Log in and export it.); "
    assert fetch(declared, tmp_path) == f"{words}save it as {tmp_path / 'closed.tsv'}"
    unnamed = source(by_hand="Log in and export it.", files=["closed*.tsv", "x.tsv"])
    assert fetch(unnamed, tmp_path) == f"{words}save it in {tmp_path} under a name like closed*.tsv or x.tsv"
    (tmp_path / "closed.tsv").write_bytes(DATA)
    check_got(fetch(declared, tmp_path, refresh=True), DATA, tmp_path)


def test_arguments_that_cannot_work_are_refused(http, tmp_path):
    one, two = source(http.url("/a/same.tsv")), source(http.url("/b/same.tsv"))
    with pytest.raises(CatalogueError, match=r"one and two would both be saved as same\.tsv; set `saved_as`"):
        fetch_sources(catalogue(one=one, two=two), ["one", "two"], tmp_path)
    with pytest.raises(InputError, match=r"unknown source 'on'.*did you mean 'one'"):
        fetch_sources(catalogue(one=one), ["on"], tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file: cannot be made .*choose another folder"):
        fetch_sources(catalogue(one=one), ["one"], tmp_path / "file")


# many at once --------------------------------------------------------------------------------------------------------


def test_all_are_tried_and_reported_in_order(http, ftp, tmp_path):
    http.serve("/x.tsv", GOOD)
    http.serve("/y.tsv", File(data=b"<html>"))
    ftp.serve("/z.tsv", File(data=OTHER))
    addresses = {"x": http.url("/x.tsv"), "y": http.url("/y.tsv"), "z": ftp.url("/z.tsv")}
    all_of_them = catalogue(**{name: source(url, files=[f"{name}.tsv"]) for name, url in addresses.items()})
    report = fetch_all(all_of_them, ["z", "y", "x", "z"], tmp_path)
    assert list(report.fetched) == ["z", "x"]
    assert list(report.failed) == ["y"]
    assert left(tmp_path) == ["x.tsv", "z.tsv"]


def test_hosts_are_asked_at_the_same_time_and_never_for_more_than_two_files(tmp_path):
    with http_server() as server:
        sources = {}
        for number in range(12):
            host, path = ("localhost", "127.0.0.1")[number % 2], f"/{number}.tsv"
            server.serve(path, File(data=DATA, pause=0.003))
            server.serve(f"/to{path}", redirect(server.url(path, host="127.0.0.1")))
            url = server.url(f"/to{path}" if number % 3 == 0 else path, host=host)
            sources[f"s{number}"] = source(url, files=[f"{number}.tsv"])
        report = fetch_all(catalogue(**sources), list(sources), tmp_path)
        assert len(report.fetched) == 12
        assert server.most == {"localhost": 2, "127.0.0.1": 2}


def test_progress_and_notes_come_one_at_a_time(http, tmp_path):
    sources, running, seen = {}, [], set()

    def alone(*told):
        running.append(told)
        time.sleep(0.0005)
        assert running == [told]
        seen.add(told[0])
        running.clear()

    for number in range(4):
        http.serve(f"/p{number}.tsv", GOOD)
        (tmp_path / f"p{number}.tsv").write_bytes(b"<html>")
        sources[f"s{number}"] = source(http.url(f"/p{number}.tsv"), files=[f"p{number}.tsv"])
    report = fetch_all(catalogue(**sources), list(sources), tmp_path, progress=alone, note=alone)
    assert len(report.fetched) == 4
    assert len(seen) == 8


def test_an_error_of_the_listener_is_not_lost(http, tmp_path):
    http.serve("/heard.tsv", GOOD)

    def broken(*_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fetch(source(http.url("/heard.tsv")), tmp_path, progress=broken)
    assert not (tmp_path / "heard.tsv").exists()


# FTP -----------------------------------------------------------------------------------------------------------------

STAMP = "20200327120000"


def retrieved(ftp):
    return [asked.path for asked in ftp.asked if asked.path.split()[0] in ("REST", "RETR")]


def test_a_file_is_fetched_over_ftp(ftp, tmp_path):
    ftp.asked.clear()
    ftp.serve("/pub/a b.tsv", File(data=DATA, modified=STAMP))
    fetched = fetch(source(ftp.url("/pub/a%20b.tsv")), tmp_path)
    check_got(fetched, DATA, tmp_path)
    assert (fetched.path.name, fetched.modified) == ("a b.tsv", "2020-03-27")
    assert [asked.path for asked in ftp.asked[:2]] == ["USER anonymous", "PASS anonymous@"]


@pytest.mark.parametrize("fault", [{"cut": 30_000}, {"stall": 30_000}, {"cut": 30_000, "honest": False}])
def test_a_cut_transfer_over_ftp_goes_on_where_it_was(ftp, tmp_path, fault):
    ftp.asked.clear()
    ftp.serve("/cut.tsv", File(data=DATA, modified=STAMP, **fault), File(data=DATA, modified=STAMP))
    check_got(fetch(source(ftp.url("/cut.tsv")), tmp_path, patience=HURRIED), DATA, tmp_path)
    assert retrieved(ftp) == ["RETR cut.tsv", "REST 30000", "RETR cut.tsv"]


@pytest.mark.parametrize(
    "answer",
    [
        File(data=OTHER, modified=STAMP),
        File(data=DATA[::-1] + b"\n", modified="20210327120000"),
        File(data=DATA, modified=STAMP, ranges=False),
    ],
    ids=["other size", "other date", "no REST"],
)
def test_what_cannot_be_gone_on_with_over_ftp_is_started_anew(ftp, tmp_path, answer):
    ftp.serve("/anew.tsv", File(data=DATA, modified=STAMP, cut=30_000), answer)
    check_got(fetch(source(ftp.url("/anew.tsv")), tmp_path), answer.data, tmp_path)


def test_an_ftp_server_that_tells_neither_size_nor_date_is_believed_only_to_the_end(ftp, tmp_path):
    ftp.asked.clear()
    ftp.serve("/dumb.tsv", File(data=DATA, framing="close", cut=30_000), File(data=DATA, framing="close"))
    check_got(fetch(source(ftp.url("/dumb.tsv")), tmp_path), DATA, tmp_path)
    assert retrieved(ftp) == ["RETR dumb.tsv", "RETR dumb.tsv"]


def test_a_busy_ftp_server_is_asked_again(ftp, tmp_path):
    ftp.serve("/busy.tsv", File(data=DATA, status=503), File(data=DATA))
    check_got(fetch(source(ftp.url("/busy.tsv")), tmp_path), DATA, tmp_path)


@pytest.mark.parametrize(
    ("path", "words"),
    [("/no/such.tsv", "answers 550 No such file."), ("/a%0D%0ADELE%20b/c.tsv", "has a line end in its path")],
)
def test_what_an_ftp_server_does_not_have_is_said(ftp, tmp_path, path, words):
    ftp.asked.clear()
    check_refused(fetch(source(ftp.url(path)), tmp_path), words, folder=tmp_path)
    assert not any(asked.path.startswith("DELE") for asked in ftp.asked)


def test_an_ftp_server_may_ask_for_a_name_and_a_password(tmp_path, monkeypatch):
    with ftp_server() as server:
        server.password = "me:s3cr3t:x"
        server.serve("/closed.tsv", File(data=DATA))
        keyed = source({"url": server.url("/closed.tsv"), "credential": "TEST_KEY"})
        monkeypatch.setenv("TEST_KEY", "me:wrong-s3cr3t")
        line = fetch(keyed, tmp_path)
        check_refused(line, "answers 530 to the login; check the environment variable TEST_KEY", folder=tmp_path)
        assert "s3cr3t" not in line
        monkeypatch.setenv("TEST_KEY", "me:s3cr3t:x")
        check_got(fetch(keyed, tmp_path), DATA, tmp_path)


# the beginning only --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ranges", [True, False])
def test_the_beginning_of_a_file_is_read_without_the_rest(http, ranges):
    http.asked.clear()
    http.serve("/start.tsv.gz", File(data=PACKED, etag=ETAG, modified=DATED, ranges=ranges, stall=20_000))
    start, said = read_start(Address(url=http.url("/start.tsv.gz"), kind="rolling"), limit=10_000)
    assert start == PACKED[:10_000]
    assert said == {"etag": ETAG, "modified": "2020-03-27", "size": str(len(PACKED))}
    assert http.ranges("/start.tsv.gz") == ["bytes=0-9999"]


def test_the_beginning_of_a_file_is_read_over_ftp(ftp):
    ftp.serve("/start.tsv", File(data=DATA, modified=STAMP, stall=70_000))
    start, said = read_start(Address(url=ftp.url("/start.tsv"), kind="rolling"), limit=10_000)
    assert start == DATA[:10_000]
    assert said == {"etag": "", "modified": "2020-03-27", "size": str(len(DATA))}


def test_a_file_shorter_than_the_beginning_is_read_whole(http):
    http.serve("/short.tsv", File(data=b"a\tb\n", framing="chunked", ranges=False))
    start, said = read_start(Address(url=http.url("/short.tsv"), kind="rolling"), limit=10_000)
    assert (start, said["size"]) == (b"a\tb\n", "")


def test_the_beginning_of_what_is_not_there_is_refused(http):
    with pytest.raises(InputError, match=r"^answers 404 Not Found$"):
        read_start(Address(url=http.url("/nothing.tsv"), kind="rolling"), limit=10)


# killed --------------------------------------------------------------------------------------------------------------

PROGRAM = """
import sys
from pathlib import Path
from test_fetch import QUICK, catalogue, source
from openbiolink.sources.fetch import Listener, fetch_sources

url, folder = sys.argv[1:]
sys.stdout.write("ready\\n"); sys.stdout.flush()
draw = lambda file, done, total: (sys.stdout.write(f"{done}\\n"), sys.stdout.flush())
fetch_sources(catalogue(one=source(url)), ["one"], Path(folder), listener=Listener(progress=draw))
"""


@pytest.fixture
def start():
    """Start a program that fetches one address into a folder and says how many bytes it has."""
    with ExitStack() as stack:

        def started(url, folder):
            path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
            return stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", PROGRAM, url, str(folder)],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    env={**os.environ, "PYTHONPATH": path},
                )
            )

        yield started


def wait_for(process, done):
    """Read what the program says until it has so many bytes."""
    for line in process.stdout:
        if line.strip().isdecimal() and int(line) >= done:
            return
    pytest.fail(process.stderr.read())


@pytest.mark.parametrize("moment", [1, 40_000, 119_000])
def test_a_killed_fetch_leaves_no_file_and_the_next_goes_on(http, tmp_path, start, moment):
    http.asked.clear()
    http.serve("/killed.tsv", File(data=DATA, etag=ETAG, pause=0.004), GOOD)
    process = start(http.url("/killed.tsv"), tmp_path)
    wait_for(process, moment)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "killed.tsv").exists()
    have = (tmp_path / "killed.tsv.part").stat().st_size
    check_got(fetch(source(http.url("/killed.tsv")), tmp_path), DATA, tmp_path)
    first, *rest = http.ranges("/killed.tsv")
    assert first is None
    assert rest == ([f"bytes={min(have, len(DATA) - 1)}-"] if have else [None])
    assert have > 0 or moment == 1


def test_an_interrupted_fetch_ends_at_once(http, tmp_path, start):
    http.serve("/waits.tsv", File(data=DATA, etag=ETAG, stall=50_000))
    process = start(http.url("/waits.tsv"), tmp_path)
    wait_for(process, 50_000)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.wait(timeout=10)
    assert time.monotonic() - began < 5
    assert "KeyboardInterrupt" in process.stderr.read()
    assert left(tmp_path) == ["waits.tsv.origin.part", "waits.tsv.part"]


def test_two_runs_do_not_write_the_same_file(http, tmp_path, start):
    http.serve("/twice.tsv", File(data=DATA, etag=ETAG, stall=50_000), GOOD)
    process = start(http.url("/twice.tsv"), tmp_path)
    wait_for(process, 50_000)
    with pytest.raises(InputError, match="another run is fetching into it"):
        fetch(source(http.url("/twice.tsv")), tmp_path)
    (tmp_path / "else.tsv").write_bytes(OTHER)
    assert fetch(source(http.url("/else.tsv"), files=["else.tsv"]), tmp_path).kept  # nobody is waited for to read
    (tmp_path / "else.tsv").unlink()
    process.kill()
    process.wait()
    check_got(fetch(source(http.url("/twice.tsv")), tmp_path), DATA, tmp_path)


def test_a_file_of_no_known_layout_takes_the_place_of_no_good_one(http, tmp_path):
    layout = [{"name": "two", "named": {"gene": "gene", "term": "term"}}]
    http.serve("/of-layout.tsv", File(data=b"gene\tterm\n1\tGO:9900001\n"))
    declared = source(http.url("/of-layout.tsv"), layout=layout)
    good = fetch(declared, tmp_path)
    http.serve("/of-layout.tsv", File(data=b"gene_id\tterm\n1\tGO:9900001\n"))
    failure = fetch(declared, tmp_path, refresh=True)
    assert "fits no known layout" in failure
    assert "'gene_id' may be its new name" in failure
    assert ".part" not in failure
    assert left(tmp_path) == ["of-layout.tsv"]
    assert good.path.read_bytes() == b"gene\tterm\n1\tGO:9900001\n"


@pytest.mark.parametrize("wait", ["soon", "-10", "Fri, 99 Zzz 2020"])
def test_nonsense_of_how_long_to_wait_is_passed_over(http, tmp_path, wait):
    http.serve("/nonsense.tsv", File(data=b"later", status=503, headers={"Retry-After": wait}), GOOD)
    check_got(fetch(source(http.url("/nonsense.tsv")), tmp_path), DATA, tmp_path)
