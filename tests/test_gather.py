"""`generate` with servers that misbehave: it ends right, or with one clear line, and the next run goes on."""

import gzip
import json
import signal
import subprocess
import sys
import time

import pytest

from loopback import File, ftp_server, http_server, redirect

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
def generate(tmp_path, monkeypatch):
    """`openbiolink generate` in a folder of its own, with a catalogue of these addresses."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)

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
    assert "lab.links: size is" in line
    assert "lab.links: sha256 is" in line
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
    assert names <= {"lab.toml", "links.tsv.gz.part", "links.tsv.gz.origin.part", "fetch.lock"}
    http.serve("/links.tsv.gz", File(data=data, **DATED))
    done = generate([url])
    assert done.returncode == 0, done.stderr
    assert len(edges_of(tmp_path)) == 6000
    assert http.ranges("/links.tsv.gz")[-1] is not None


@pytest.mark.parametrize("after", [0.1, 0.4, 0.7, 1.0, 1.3])
def test_a_build_that_is_killed_leaves_the_older_graph_or_the_whole_new_one(after, generate, tmp_path):
    stored = tmp_path / "sources" / "2026"
    stored.mkdir(parents=True)
    (stored / "links.tsv").write_text(LINKS)
    assert generate([]).returncode == 0
    older = {path.name: path.read_bytes() for path in (tmp_path / "graph_files").iterdir()}
    (stored / "links.tsv").write_text(LINKS + "".join(f"{991000 + n}\t{992000 + n}\t5\n" for n in range(50_000)))
    words = [word for name in ("TSV", "BEL", "RDF-N3") for word in ("--output-format", name)]
    running = generate([], *words, start=True)
    time.sleep(after)
    running.kill()
    running.communicate(timeout=30)
    folder = tmp_path / "graph_files"
    found = {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}
    assert found == older or "positive.bel.gz" in found
    assert generate([], *words).returncode == 0
    assert len(edges_of(tmp_path)) == 106_000
