"""`generate` with servers that misbehave: it ends right, or with one clear line, and the next run goes on."""

import gzip
import hashlib
import json
import re
import signal
import subprocess
import sys
import time

import pytest

from loopback import File, ftp_server, http_server, redirect
from openbiolink.errors import InputError
from openbiolink.sources import gather
from openbiolink.sources.fetch import Listener
from openbiolink.sources.gather import SourceOptions, fetch_and_lock, gather_sources
from openbiolink.sources.lock import read_lock
from test_fetch import DATA, OTHER, catalogue, source

LINKS = "left\tright\tscore\n" + "".join(f"{990000 + n}\t{990100 + n}\t{n + 1}.5\n" for n in range(3000))
TERMS = "gene\tterm\n" + "".join(f"{990000 + n}\tGO:{9900000 + n}\n" for n in range(20))
DATED = {"etag": '"one"', "modified": "Fri, 27 Mar 2020 12:00:00 GMT"}
DECLARED = """
[source."lab.links"]
title = "Links of a laboratory"
gives = ["edge (gene-gene)"]
homepage = "https://example.org/links"
licence = "CC BY 4.0"
format = "delimited"
saved_as = "links.tsv.gz"
files = ["links*.tsv*"]
ADDRESSES
[[source."lab.links".layout]]
name = "three columns"
named = { left = "left", right = "right", score = "score" }

[source."lab.terms"]
title = "Terms of a laboratory"
gives = ["edge (gene-go)"]
homepage = "https://example.org/terms"
licence = "CC BY-NC-SA 4.0"
default = false
format = "delimited"
files = ["terms*.tsv"]
by_hand = "ask the laboratory"
[[source."lab.terms".layout]]
name = "two columns"
named = { gene = "gene", term = "term" }

[relation]
LAB_LINK = { head = "GENE", tail = "GENE", symmetric = true }
LAB_TERM = { head = "GENE", tail = "GO" }

[rule.LAB_LINK]
relation = "LAB_LINK"
source = "lab.links"
label = "Lab"
head = { type = "GENE", column = "left", prefix = "NCBIGENE" }
tail = { type = "GENE", column = "right", prefix = "NCBIGENE" }
score = { column = "score" }

[rule.LAB_TERM]
relation = "LAB_TERM"
source = "lab.terms"
label = "Lab"
head = { type = "GENE", column = "gene", prefix = "NCBIGENE" }
tail = { type = "GO", column = "term" }
"""


@pytest.fixture
def http():
    with http_server() as server:
        yield server


@pytest.fixture
def generate(tmp_path):
    """`openbiolink generate` in a folder of its own, with a catalogue of these addresses."""

    def run(urls, *words, relation="LAB_LINK", start=False):
        addresses = [f'[[source."lab.links".address]]\nurl = "{url}"\nkind = "rolling"\n' for url in urls]
        (tmp_path / "lab.toml").write_text(DECLARED.replace("ADDRESSES", "".join(addresses)))
        command = [
            sys.executable,
            "-m",
            "openbiolink",
            "-p",
            tmp_path,
            "generate",
            "--catalogue",
            tmp_path / "lab.toml",
        ]
        command += [*(("--relation", relation) if relation else ()), *words]
        if start:
            return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)

    return run


def error_of(done):
    """The one line that an error is."""
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    return line


def edges_of(folder):
    return (folder / "graph_files" / "edges.csv").read_text(encoding="utf-8").splitlines()


def test_what_is_missing_is_fetched_once_and_locked(http, generate, tmp_path):
    http.serve("/links.tsv.gz", File(data=gzip.compress(LINKS.encode()), **DATED))
    url = http.url("/links.tsv.gz")
    done = generate([url])
    assert done.returncode == 0, done.stderr
    assert len(edges_of(tmp_path)) == 6000
    lock = (tmp_path / "openbiolink.lock").read_text(encoding="utf-8")
    assert f'url = "{url}"' in lock
    assert 'layout = "three columns"' in lock
    manifest = json.loads((tmp_path / "graph_files" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["inputs"]["lab.links"]["url"] == url
    assert [entry["file"] for entry in manifest["catalogues"]] == ["lab.toml"]
    asked = len(http.asked)
    assert generate([url]).returncode == 0
    assert generate([url], "--offline", "--locked").returncode == 0
    assert len(http.asked) == asked
    assert (tmp_path / "openbiolink.lock").read_text(encoding="utf-8") == lock


def test_servers_that_misbehave_are_passed_over_or_gone_on_with(http, generate, tmp_path):
    data = gzip.compress(LINKS.encode(), mtime=0)
    http.serve("/page.tsv.gz", File(data=b"<!DOCTYPE html><title>moved</title>"))
    http.serve("/pointer.tsv.gz", File(data=b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"))
    http.serve("/cut.tsv.gz", File(data=data, cut=4000, **DATED), File(data=data, **DATED))
    with ftp_server() as ftp:
        ftp.serve("/other.tsv.gz", File(data=data[:3000]))
        urls = [
            http.url("/page.tsv.gz"),
            http.url("/pointer.tsv.gz"),
            ftp.url("/other.tsv.gz"),
            http.url("/cut.tsv.gz"),
        ]
        done = generate(urls)
    assert done.returncode == 0, done.stderr
    for words in ("a web page", "a Git-LFS pointer", "cut.tsv.gz instead"):
        assert words in done.stderr
    assert http.ranges("/cut.tsv.gz")[-1] == "bytes=4000-"
    assert len(edges_of(tmp_path)) == 6000


def test_a_source_that_no_server_gives_ends_with_one_line_and_no_graph(http, generate, tmp_path):
    http.serve("/captcha.tsv.gz", File(data=b"<html><h1>Are you a robot?</h1> captcha</html>"))
    http.serve("/away.tsv.gz", redirect(http.url("/gone.tsv.gz")))
    line = error_of(generate([http.url("/captcha.tsv.gz"), http.url("/away.tsv.gz")]))
    for words in ("CAPTCHA", "404", "by hand", "sources/2026/links.tsv.gz", "--exclude-source"):
        assert words in line
    assert not (tmp_path / "graph_files").exists()
    assert not (tmp_path / "openbiolink.lock").exists()
    (tmp_path / "sources" / "2026" / "links-by-hand.tsv").write_text(LINKS)
    assert generate([http.url("/captcha.tsv.gz"), http.url("/away.tsv.gz")]).returncode == 0
    assert len(edges_of(tmp_path)) == 6000


def test_the_lock_refuses_what_differs_and_names_it(http, generate, tmp_path):
    url = http.url("/links.tsv")
    assert "has nothing on edition 2026" in error_of(generate([url], "--locked", "--offline"))
    http.serve("/links.tsv", File(data=LINKS.encode()))
    assert generate([url]).returncode == 0
    before = edges_of(tmp_path)
    http.serve("/links.tsv", File(data=LINKS.replace("990001", "990999").encode()))
    stored = tmp_path / "sources" / "2026" / "links.tsv.gz"
    stored.unlink()
    assert "lock says" in error_of(generate([url], "--locked"))
    assert not stored.exists()
    stored.write_text(LINKS + "1\t2\t3\n")
    line = error_of(generate([url], "--locked", "--offline"))
    assert "lab.links: " in line
    assert "has sha256" in line
    assert "the lock says" in line
    assert edges_of(tmp_path) == before
    stored.unlink()
    assert generate([url]).returncode == 0
    assert edges_of(tmp_path) != before


def test_what_is_given_is_not_fetched_unless_that_is_said(http, generate, tmp_path):
    http.serve("/links.tsv", File(data=LINKS.encode()))
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "terms.tsv").write_text(TERMS)
    (tmp_path / "files" / "links.txt").write_text("not it")
    url, given = http.url("/links.tsv"), ("--source-dir", tmp_path / "files")
    assert "none of the 1 sources" in error_of(generate([url], *given, relation="LAB_LINK"))
    assert http.asked == []
    done = generate([url], *given, "--include", "lab", relation="LAB_TERM")
    assert done.returncode == 0, done.stderr
    assert "not taken as sources: links.txt" in done.stderr
    assert len(edges_of(tmp_path)) == 20
    done = generate([url], *given, "--fetch", "--include", "lab", "--relation", "LAB_TERM")
    assert done.returncode == 0, done.stderr
    assert len(edges_of(tmp_path)) == 6020


def test_a_source_that_is_named_is_opted_in_and_one_that_is_found_is_not(generate, tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "terms.tsv").write_text(TERMS)
    (tmp_path / "map.toml").write_text('[sources]\n"lab.terms" = "files/terms.tsv"\n')
    assert "--include" in error_of(generate([], "--source-dir", tmp_path / "files", relation="LAB_TERM"))
    done = generate([], "--source-map", tmp_path / "map.toml", relation="LAB_TERM")
    assert done.returncode == 0, done.stderr
    assert "non-commercial" in error_of(
        generate([], "--source-map", tmp_path / "map.toml", "--license", "open", relation="LAB_TERM")
    )


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_leaves_nothing_half_written_and_the_next_completes(stop, http, generate, tmp_path):
    data = gzip.compress(LINKS.encode(), mtime=0)
    http.serve("/links.tsv.gz", File(data=data, pause=0.15, **DATED))
    url = http.url("/links.tsv.gz")
    running = generate([url], start=True)
    part = tmp_path / "sources" / "2026" / "links.tsv.gz.part"
    while running.poll() is None and not (part.exists() and part.stat().st_size > 4096):
        time.sleep(0.02)
    running.send_signal(stop)
    _, said = running.communicate(timeout=30)
    assert running.returncode == (-signal.SIGKILL if stop == signal.SIGKILL else 128 + stop), said
    names = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert names <= {"lab.toml", "links.tsv.gz.part", "links.tsv.gz.origin.part"}
    http.serve("/links.tsv.gz", File(data=data, **DATED))
    done = generate([url])
    assert done.returncode == 0, done.stderr
    assert len(edges_of(tmp_path)) == 6000
    assert http.ranges("/links.tsv.gz")[-1] is not None


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The only folder for temporary files of the processes that are started."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    return tmp_path / "temporary"


def wait_until(running, step, file, folder):
    """Wait until a step begins and, if a file is named, until that file is being written; False if it ended before."""
    for line in running.stderr:
        if step in line:
            break
    while file and running.poll() is None and not list(folder.glob(f".graph_files-*/{file}")):
        time.sleep(0.001)
    return running.poll() is None


@pytest.mark.parametrize(
    ("step", "file"),
    [
        ("read lab.links", ""),
        ("build LAB_LINK", ""),
        ("write files", "edges_list.csv"),
        ("write files", "edges.csv"),
        ("write files", "positive.bel.gz"),
    ],
)
def test_a_build_that_is_killed_leaves_the_older_graph_and_the_next_leaves_nothing_else(
    step, file, generate, tmp_path, temporary
):
    stored = tmp_path / "sources" / "2026"
    stored.mkdir(parents=True)
    (stored / "links.tsv").write_text(LINKS)
    assert generate([]).returncode == 0
    assert list(temporary.iterdir()) == []
    before = {path.name for path in tmp_path.iterdir()}
    older = {path.name: path.read_bytes() for path in (tmp_path / "graph_files").iterdir()}
    (stored / "links.tsv").write_text(LINKS + "".join(f"{991000 + n}\t{992000 + n}\t5\n" for n in range(10_000)))
    words = [word for name in ("TSV", "BEL") for word in ("--output-format", name)]
    running = generate([], *words, start=True)
    assert wait_until(running, step, file, tmp_path)
    running.kill()
    running.communicate(timeout=30)
    assert running.returncode == -signal.SIGKILL
    assert {path.name: path.read_bytes() for path in (tmp_path / "graph_files").iterdir()} == older
    assert len(list(tmp_path.glob(".graph_files-*"))) == len(list(temporary.iterdir())) == 1
    assert generate([], *words).returncode == 0
    assert len(edges_of(tmp_path)) == 26_000
    assert {path.name for path in tmp_path.iterdir()} == before
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("--output-format", "Parquet", "--output-sep", ";"), r"--output-sep ';': only TSV .*add --output-format TSV"),
        (("--output-format", "KGX", "--output-multi-file"), r"--output-multi-file: only RDF-N3 and TSV .*leave"),
        (("--output-sep", ";;"), r"--output-sep ';;': expected one character"),
        (("--output-sep", "_"), r"the cell 'LAB_LINK' holds the separator '_'"),
    ],
)
def test_output_that_cannot_be_is_refused_before_anything_is_built(words, fault, http, generate, tmp_path):
    http.serve("/links.tsv.gz", File(data=gzip.compress(LINKS.encode())))
    assert re.search(fault, error_of(generate([http.url("/links.tsv.gz")], *words)))
    assert not (tmp_path / "graph_files").exists()
    assert http.asked == [] or "_" in words  # the names of relations are asked of the plan, which needs the files


# what lies among the downloads ---------------------------------------------------------------------------------------

SHA256 = hashlib.sha256(DATA).hexdigest()
BAD = [
    (DATA[:-5000], {"min_bytes": len(DATA)}, "fewer than"),
    (DATA[:-5000], {"size": len(DATA)}, "expected"),
    (OTHER, {"sha256": SHA256}, "has sha256"),
    (gzip.compress(DATA, mtime=0)[:-9], {}, "cannot be unpacked"),
]


def store(folder, data):
    path = folder / "sources" / "test" / "a.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(("data", "facts", "words"), BAD)
def test_a_download_that_is_not_as_the_catalogue_says_is_fetched_again(http, tmp_path, data, facts, words):
    http.serve("/a.tsv", File(data=DATA, **DATED))
    path, notes = store(tmp_path, data), []
    declared = catalogue(one=source({"url": http.url("/a.tsv"), **facts}))
    gathered = gather_sources(declared, ["one"], tmp_path, listener=Listener(note=notes.append))
    assert (gathered.paths, path.read_bytes()) == ({"one": path}, DATA)
    assert words in notes[0]
    entry = read_lock(tmp_path / "openbiolink.lock", "test")["one"]
    assert (entry.sha256, entry.url, entry.date) == (SHA256, http.url("/a.tsv"), "2020-03-27")


@pytest.mark.parametrize(("data", "facts", "words"), BAD)
def test_offline_a_download_that_is_not_as_the_catalogue_says_is_refused(http, tmp_path, data, facts, words):
    path = store(tmp_path, data)
    declared = catalogue(one=source({"url": http.url("/a.tsv"), **facts}))
    with pytest.raises(InputError) as caught:
        gather_sources(declared, ["one"], tmp_path, options=SourceOptions(online=False))
    for text in (str(path), words, "without --offline", f"save it as {path}"):
        assert text in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == data
    assert not (tmp_path / "openbiolink.lock").exists()
    assert http.asked == []


def test_files_that_the_user_names_are_taken_as_they_are(tmp_path):
    path = tmp_path / "mine.tsv"
    path.write_bytes(OTHER)
    declared = catalogue(one=source({"url": "https://example.org/a.tsv", "sha256": SHA256}))
    for options in (SourceOptions(mapped={"one": path}), SourceOptions(folder=tmp_path, online=False)):
        gathered = gather_sources(declared, ["one"], tmp_path, options=options)
        assert gathered.paths == {"one": path}
        assert gathered.entries["one"].sha256 == hashlib.sha256(OTHER).hexdigest()


def test_another_file_than_the_lock_knows_is_noted(http, tmp_path):
    http.serve("/a.tsv", File(data=DATA))
    declared, notes = catalogue(one=source(http.url("/a.tsv"))), []
    for _ in range(2):
        gather_sources(declared, ["one"], tmp_path, listener=Listener(note=notes.append))
    assert notes == []
    path = store(tmp_path, OTHER)
    gather_sources(declared, ["one"], tmp_path, listener=Listener(note=notes.append))
    (note,) = notes
    for text in ("one: ", str(path), SHA256, hashlib.sha256(OTHER).hexdigest()):
        assert text in note


def test_each_file_is_locked_as_it_lands(http, tmp_path):
    http.serve("/a.tsv", File(data=DATA, **DATED))
    http.serve("/version", File(data=b"release 7\n"))
    probe = {"pattern": r"release (\S+)", "url": http.url("/version")}
    declared = catalogue(
        one=source(http.url("/a.tsv"), probe=probe), two=source(http.url("/none.tsv"), files=["none.tsv"])
    )
    with pytest.raises(InputError, match="1 of 2 sources could not be fetched: two: "):
        gather_sources(declared, ["one", "two"], tmp_path)
    entry = read_lock(tmp_path / "openbiolink.lock", "test")["one"]
    assert (entry.url, entry.version, entry.date) == (http.url("/a.tsv"), "7", "2020-03-27")
    http.serve("/version", File(data=b"release 8\n"))
    http.asked.clear()
    assert fetch_and_lock(declared, ["one"], tmp_path).entries == {"one": entry}
    assert http.asked == []


def test_a_run_that_is_stopped_between_a_file_and_its_entry_loses_neither_address_nor_version(
    http, tmp_path, monkeypatch
):
    http.serve("/a.tsv", File(data=DATA, **DATED))
    http.serve("/version", File(data=b"release 7\n"))
    probe = {"pattern": r"release (\S+)", "url": http.url("/version")}
    declared = catalogue(one=source(http.url("/a.tsv"), probe=probe))

    def stopped(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(gather, "write_lock", stopped)
        fetch_and_lock(declared, ["one"], tmp_path)
    assert not (tmp_path / "openbiolink.lock").exists()
    gather_sources(declared, ["one"], tmp_path)
    entry = read_lock(tmp_path / "openbiolink.lock", "test")["one"]
    assert (entry.url, entry.version, entry.date) == (http.url("/a.tsv"), "7", "2020-03-27")
    assert [asked.path for asked in http.asked].count("/a.tsv") == 1


def test_what_the_lock_lacks_is_refused_before_anything_is_fetched(http, tmp_path):
    http.serve("/a.tsv", File(data=DATA))
    http.serve("/b.tsv", File(data=DATA))
    declared = catalogue(
        one=source(http.url("/a.tsv"), files=["a.tsv"]), two=source(http.url("/b.tsv"), files=["b.tsv"])
    )
    gather_sources(declared, ["one"], tmp_path)
    store(tmp_path, b"").unlink()
    http.asked.clear()
    with pytest.raises(InputError, match=r"openbiolink\.lock: two: is not in the lock; leave out --locked"):
        gather_sources(declared, ["one", "two"], tmp_path, options=SourceOptions(locked=True))
    assert http.asked == []


def test_a_locked_run_leaves_the_lock_alone(http, generate, tmp_path):
    http.serve("/links.tsv.gz", File(data=gzip.compress(LINKS.encode())))
    assert generate([http.url("/links.tsv.gz")]).returncode == 0
    stored, lock = tmp_path / "sources" / "2026" / "links.tsv.gz", tmp_path / "openbiolink.lock"
    stored.rename(tmp_path / "links-renamed.tsv.gz")
    (tmp_path / "map.toml").write_text('[sources]\n"lab.links" = "links-renamed.tsv.gz"\n')
    before = lock.read_bytes(), lock.stat().st_ino
    done = generate([http.url("/links.tsv.gz")], "--source-map", tmp_path / "map.toml", "--locked")
    assert done.returncode == 0, done.stderr
    assert (lock.read_bytes(), lock.stat().st_ino) == before
    assert generate([http.url("/links.tsv.gz")], "--source-map", tmp_path / "map.toml").returncode == 0
    assert b'file = "links-renamed.tsv.gz"' in lock.read_bytes()


def test_two_builds_into_one_new_folder_both_end_well(generate, tmp_path):
    (tmp_path / "links.tsv").write_text(LINKS)
    (tmp_path / "map.toml").write_text('[sources]\n"lab.links" = "links.tsv"\n')
    running = [generate([], "--source-map", tmp_path / "map.toml", start=True) for _ in range(2)]
    said = [one.communicate(timeout=60)[1] for one in running]
    assert [one.returncode for one in running] == [0, 0] or any("another run" in text for text in said), said
    assert len(edges_of(tmp_path)) == 6000


def test_a_file_of_the_user_that_is_not_the_one_locked_is_noted(http, generate, tmp_path):
    http.serve("/links.tsv", File(data=LINKS.encode()))
    assert generate([http.url("/links.tsv")]).returncode == 0
    (tmp_path / "mine.tsv").write_text(LINKS + "1\t2\t3\n")
    (tmp_path / "map.toml").write_text('[sources]\n"lab.links" = "mine.tsv"\n')
    done = generate([http.url("/links.tsv")], "--source-map", tmp_path / "map.toml")
    assert done.returncode == 0
    assert "is not the file that openbiolink.lock knows" in done.stderr


def test_a_graph_in_another_format_cannot_be_split_and_says_why(generate, tmp_path):
    (tmp_path / "links.tsv").write_text(LINKS)
    (tmp_path / "map.toml").write_text('[sources]\n"lab.links" = "links.tsv"\n')
    assert generate([], "--source-map", tmp_path / "map.toml", "--output-format", "parquet").returncode == 0
    folder = tmp_path / "graph_files"
    words = ["split", "rand", "--edges", folder / "edges.csv", "--nodes", folder / "nodes.csv"]
    done = subprocess.run([sys.executable, "-m", "openbiolink", *words], capture_output=True, text=True, check=False)
    assert "written as Parquet" in error_of(done)
