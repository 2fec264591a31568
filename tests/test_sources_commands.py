"""`openbiolink sources`: list, show, fetch and check, on a small catalogue whose servers run here."""

import gzip
import json
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from conftest import ROOT
from loopback import File, http_server
from openbiolink.cli import app
from openbiolink.sources import catalogue as catalogue_module
from openbiolink.sources.catalogue import EDITIONS, load_catalogue, parse_catalogue
from openbiolink.sources.lock import read_lock

LINKS = b"#version: 12\nleft\tright\tscore\n" + b"1\t2\t900\n" * 200
TERMS = b"format-version: 1.2\ndata-version: releases/2026-06-23\n\n[Term]\nid: GO:1\nname: x\n"
PAGE = b"<!doctype html><html>moved</html>"
KEYS = [
    "id", "gives", "title", "version", "licence", "true_negatives", "scores", "size", "status", "checked", "default",
]  # fmt: skip
DECLARED = """
[source."thing.links"]
title = "Links of things"
gives = ["edge (gene-gene)"]
homepage = "https://example.org/links"
licence = "CC BY 4.0"
version = "12"
checked = "full"
infores = "infores:thing"
derived_from = ["GO"]
format = "delimited"
files = ["links*.tsv*"]
probe = { pattern = '^#version: (\\S+)' }
[[source."thing.links".address]]
url = "URL/pinned/links.tsv.gz"
kind = "pinned"
size = SIZE
[[source."thing.links".address]]
url = "URL/mirror/links.tsv.gz"
kind = "mirror"
credential = "THING_KEY"
[[source."thing.links".layout]]
name = "with header"
comment = "#"
named = { left = "left", right = "right", score = "score" }

[source."thing.terms"]
title = "Ontology of things"
gives = ["ontology (genes)", "id (go)"]
homepage = "https://example.org/terms"
licence = "CC0 1.0"
version = "2026-06-23"
checked = "excerpt"
format = "obo"
files = ["terms*.obo"]
probe = { pattern = '^data-version: releases/(\\S+)' }
address = [{ url = "URL/terms.obo", kind = "rolling", min_bytes = 10 }]

[source."thing.bought"]
title = "Pathways that cost something"
gives = ["edge (gene-pathway)"]
homepage = "https://example.org/bought"
licence = "Custom: KEGG"
default = false
by_hand = "buy it at example.org"
format = "delimited"
files = ["bought*"]
[[source."thing.bought".layout]]
name = "bought"
separator = [","]
header = "none"
positional = ["gene", "pathway"]
patterns = { gene = '\\d+' }

[source."thing.lost"]
title = "Expression that nobody has any more"
gives = ["edge (gene-anatomy)"]
homepage = "https://example.org/lost"
licence = "CC0 1.0"
format = "pgdump"
files = ["lost*"]
[source."thing.lost".tables]
expressed = ["gene", "anatomy"]

[end.gene]
type = "GENE"
column = "left"
prefix = "NCBIGENE"

[rule.GENE_GENE]
relation = "GENE_GENE"
source = "thing.links"
label = "Thing"
head = "gene"
tail = { type = "GENE", column = "right", ontology = "thing.terms" }
score = { column = "score" }

[rule.GENE_ANATOMY]
relation = "GENE_EXPRESSED_ANATOMY"
source = "thing.lost"
table = "expressed"
label = "Lost"
head = { type = "GENE", column = "gene", prefix = "NCBIGENE" }
tail = { type = "ANATOMY", column = "anatomy" }

[rule.GENE_PATHWAY]
relation = "GENE_PATHWAY"
source = "thing.bought"
label = "Bought"
head = { type = "GENE", column = "gene", prefix = "NCBIGENE" }
tail = { type = "PATHWAY", column = "pathway", prefix = "KEGG" }

[rule."TN.GENE_GENE"]
relation = "GENE_GENE"
source = "thing.links"
label = "Thing"
negative = true
default = false
head = "gene"
tail = "gene"
"""


@pytest.fixture
def server():
    with http_server() as memory:
        memory.serve("/pinned/links.tsv.gz", File(data=gzip.compress(LINKS, mtime=0)))
        memory.serve("/terms.obo", File(data=TERMS))
        yield memory


@pytest.fixture
def run(server, tmp_path, monkeypatch):
    """Runs a command of `openbiolink sources`; the catalogue is the one above."""
    declared = DECLARED.replace("URL", server.url("")).replace("SIZE", str(len(gzip.compress(LINKS, mtime=0))))
    (tmp_path / "declared.toml").write_text(declared, encoding="utf-8")
    monkeypatch.setattr(
        catalogue_module, "load_catalogue", lambda *_: parse_catalogue("2026", [tmp_path / "declared.toml"])
    )

    def command(*words, **env):
        words = ["-p", str(tmp_path / "dir"), "sources", *words]
        return CliRunner().invoke(app, words, env={"COLUMNS": "100", **env}, catch_exceptions=False)

    return command


def terminal(run, *words, width):
    """What a command shows on a terminal of this width, without its colours."""
    shown = run(*words, COLUMNS=str(width), TTY_COMPATIBLE="1", TERM="xterm").stdout
    return re.sub(r"\x1b\[[\d;]*m", "", shown)


def test_list_has_stable_keys(run):
    rows = json.loads(run("list", "--json").stdout)
    assert [list(row) for row in rows] == [KEYS] * 4
    bought, links, lost, terms = rows
    assert links == {
        "id": "thing.links",
        "gives": ["edge (gene-gene)"],
        "title": "Links of things",
        "version": "12",
        "licence": "CC BY 4.0",
        "true_negatives": True,
        "scores": True,
        "size": len(gzip.compress(LINKS, mtime=0)),
        "status": "absent",
        "checked": "full",
        "default": True,
    }
    assert (terms["true_negatives"], terms["scores"], terms["size"]) == (None, None, None)
    assert (bought["default"], bought["checked"], lost["default"]) == (False, "no", True)


def test_the_status_is_that_of_the_folder_and_the_lock(run, tmp_path):
    def status():
        return {row["id"]: (row["status"], row["size"]) for row in json.loads(run("list", "--json").stdout)}

    (tmp_path / "dir" / "sources" / "2026").mkdir(parents=True)
    (tmp_path / "dir" / "sources" / "2026" / "terms.obo").write_bytes(TERMS)
    assert status()["thing.terms"] == ("present", len(TERMS))
    assert run("fetch", "thing.terms").exit_code == 0
    assert status()["thing.terms"] == ("locked", len(TERMS))
    (tmp_path / "dir" / "sources" / "2026" / "terms.obo").write_bytes(TERMS + b"\n")
    assert status()["thing.terms"] == ("present", len(TERMS) + 1)


@pytest.mark.parametrize("width", [80, 120])
def test_a_list_fits_the_terminal(run, width):
    shown = terminal(run, "list", width=width)
    lines = shown.splitlines()
    assert 60 < max(map(len, lines)) <= width
    assert "…" not in shown
    for words in (
        "thing.links",
        "  edge (gene-gene)",
        "CC BY 4.0",
        "Custom: KEGG",
        "absent",
        "opt-in",
        "closed",
        "full",
    ):
        assert words in shown


def test_show_says_everything(run, server, tmp_path):
    folder = tmp_path / "dir" / "sources" / "2026"
    shown = " ".join(terminal(run, "show", "thing.links", width=500).split())
    for words in (
        "Links of things", "https://example.org/links", "CC BY 4.0: Creative Commons Attribution 4.0 (open)",
        "https://creativecommons.org/licenses/by/4.0/", "12 (found by ^#version: (\\S+) in the first lines)",
        f"{server.url('/pinned/links.tsv.gz')} (pinned, ", "(mirror, key from the environment variable THING_KEY)",
        f"{folder / 'links.tsv.gz'} (or another name like links*.tsv*)", "infores:thing", "by default",
        "with header: tabs, header in the first line, comments '#'; left = 'left'", "full: against a whole file",
        "GENE_GENE", "TN.GENE_GENE (true negatives of GENE_GENE, only where it is named)",
    ):  # fmt: skip
        assert words in shown, words
    shown = " ".join(run("show", "thing.bought").stdout.split())
    for words in ("generate --include thing.bought", "buy it at example.org", "bought*", "commas, header absent"):
        assert words in shown
    assert "expressed: gene, anatomy" in run("show", "thing.lost").stdout
    assert "GENE_GENE (looks into it)" in run("show", "thing.terms").stdout
    run("fetch", "thing.links")
    shown = " ".join(terminal(run, "show", "thing.links", width=500).split())
    assert f"file {folder / 'links.tsv.gz'}, " in shown
    assert "locked links.tsv.gz, version 12, 2" in shown
    assert "belongs at" not in shown


def test_fetch_brings_what_is_used_by_default_and_locks_it(run, server, tmp_path):
    done = run("fetch")
    assert done.exit_code == 0
    folder, lock = tmp_path / "dir" / "sources" / "2026", tmp_path / "dir" / "openbiolink.lock"
    assert done.stdout == f"{folder}\n"
    assert (folder / "links.tsv.gz").read_bytes() == gzip.compress(LINKS, mtime=0)
    assert (folder / "terms.obo").read_bytes() == TERMS
    assert "fetched thing.links (12): links.tsv.gz, " in done.stderr
    assert "thing.lost is got by hand (https://example.org/lost)" in done.stderr
    assert "thing.bought" not in done.stderr
    entries = read_lock(lock, "2026")
    assert {name: (entry.version, entry.layout, entry.url) for name, entry in entries.items()} == {
        "thing.links": ("12", "with header", server.url("/pinned/links.tsv.gz")),
        "thing.terms": ("2026-06-23", "obo 1.2", server.url("/terms.obo")),
    }
    before = lock.read_bytes()
    asked = len(server.asked)
    again = run("fetch")
    assert (again.exit_code, len(server.asked), lock.read_bytes()) == (0, asked, before)
    assert "kept thing.links (12)" in again.stderr
    server.serve("/terms.obo", File(data=TERMS.replace(b"2026-06-23", b"2026-09-01")))
    assert run("fetch", "thing.terms", "--refresh").exit_code == 0
    entries = read_lock(lock, "2026")
    assert entries["thing.terms"].version == "2026-09-01"
    old, new = (text.split(b"\n[") for text in (before, lock.read_bytes()))
    assert [one == other for one, other in zip(old, new, strict=True)] == [True, True, False]


def test_fetch_brings_only_what_a_build_uses(run, server, tmp_path):
    path = tmp_path / "declared.toml"
    path.write_text(path.read_text().replace("[rule.GENE_GENE]", "[rule.GENE_GENE]\ndefault = false"))
    assert run("fetch").exit_code == 0
    assert server.asked == []


def test_fetch_tries_all_and_says_what_failed(run, server, tmp_path):
    server.serve("/pinned/links.tsv.gz", File(data=PAGE))
    done = run("fetch")
    assert done.exit_code == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("Failed:")]
    for words in (
        "thing.links",
        "a web page",
        "THING_KEY",
        str(tmp_path / "dir" / "sources" / "2026" / "links.tsv.gz"),
    ):
        assert words in line
    assert read_lock(tmp_path / "dir" / "openbiolink.lock", "2026").keys() == {"thing.terms"}
    done = run("fetch", "thing.bought", "thing.terms")
    assert done.exit_code == 2
    assert "buy it at example.org" in done.stderr
    server.serve("/terms.obo", File(data=b"not an ontology at all"))
    before = (tmp_path / "dir" / "openbiolink.lock").read_bytes()
    done = run("fetch", "thing.terms", "--refresh")
    assert done.exit_code == 2
    assert "Failed: thing.terms: " in done.stderr
    assert "begins with 'format-version:', found 'not an ontology at all'" in done.stderr
    assert (tmp_path / "dir" / "openbiolink.lock").read_bytes() == before


def test_a_version_that_stands_elsewhere_is_locked(run, server, tmp_path):
    server.serve("/version", File(data=b"release 2026_02 of today"))
    path = tmp_path / "declared.toml"
    elsewhere = f"""probe = {{ pattern = 'release (\\S+)', url = "{server.url("/version")}" }}"""
    path.write_text(path.read_text().replace("probe = { pattern = '^data-version: releases/(\\S+)' }", elsewhere))
    for _ in range(2):  # what is kept keeps its version
        assert run("fetch", "thing.terms").exit_code == 0
        assert read_lock(tmp_path / "dir" / "openbiolink.lock", "2026")["thing.terms"].version == "2026_02"
        server.serve("/version", File(data=b"release 2026_03 of tomorrow"))


def test_check_has_a_line_for_each_source_and_ends_with_one_if_a_build_would_fail(run, server, tmp_path):
    done = run("check")
    assert done.exit_code == 0  # a build goes without what can only be got by hand
    lines = {line[9:].split()[0]: line for line in done.stdout.splitlines()}
    assert {name: line[:9].strip() for name, line in lines.items()} == {
        "thing.links": "ok",
        "thing.terms": "ok",
        "thing.bought": "by hand",
        "thing.lost": "by hand",
    }
    assert len(done.stdout.splitlines()) == 4
    assert "buy it at example.org" in lines["thing.bought"]
    done = run("check", "thing.links", "thing.terms")
    assert (done.exit_code, len(done.stdout.splitlines())) == (0, 2)
    server.serve("/pinned/links.tsv.gz", File(data=gzip.compress(LINKS + b"\n", mtime=0)))
    assert run("check").exit_code == 1  # its size is not the pinned one
    assert run("fetch", "thing.terms").exit_code == 0
    server.serve("/terms.obo", File(data=TERMS.replace(b"2026-06-23", b"2026-09-01")))
    done = run("check", "thing.terms")
    assert done.exit_code == 0
    assert done.stdout.startswith("moved    thing.terms  version 2026-09-01, the lock has 2026-06-23; ")
    server.serve("/terms.obo", File(data=PAGE))
    assert run("check", "thing.terms").stdout.startswith("down     thing.terms  ")
    assert run("check", "thing.terms").exit_code == 0  # its file is here


def test_errors_are_one_line_and_status_two(tmp_path):
    (tmp_path / "openbiolink.lock").write_text("<html>")
    for words, fault in (
        (["list"], "openbiolink.lock: is no lock"),
        (["fetch", "string.link"], "openbiolink.lock: is no lock"),
        (["show", "string.lnks"], "unknown source 'string.lnks' (did you mean 'string.links'?)"),
        (["check", "string.lnks"], "unknown source"),
        (["list", "--edition", "1999"], "unknown edition '1999'"),
        (["list", "--catalogue", "absent.toml"], "absent.toml: no such file"),
    ):
        where = tmp_path if "openbiolink.lock" in fault else tmp_path / "elsewhere"
        line = [sys.executable, "-m", "openbiolink", "-p", where, "sources", *words]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1, done.stderr
        assert fault in done.stderr


FIRST_LICENCES = """
edge (gene-gene) | STRING | CC BY | No | Yes
edge (gene-go) | GO | CC BY | No | Yes
edge (gene-disease) | DisGeNet | CC BY-NC-CA | No | Yes
edge (gene-phenotype) | HPO | Custom: HPO | No | No
edge (gene-anatomy) | Bgee | CC 0 | Yes | Yes
edge (gene-drug) | STITCH | CC BY | No | Yes
edge (gene-pathway) | CTD | Custom: CTD | No | No
edge (disease-phenotype) | HPO | Custom: HPO | Yes | No
edge (disease-drug) | DrugCentral | CC BY-SA | Yes | No
edge (drug-phenotype) | SIDER | CC BY-NC-CA | No | No
ontology (genes) | GO | CC BY |  |
ontology (diseases) | DO | CC 0 |  |
ontology (phenotype) | HPO | Custom: HPO |  |
ontology (anatomy) | UBERON | CC BY |  |
mapping (UMLS-DO) | DisGeNet | CC BY-NC-CA |  |
mapping (STRING-NCBI) | STRING | CC BY |  |
mapping (ENSEMBL/UNIPROT-NCBI) | UniProt | CC BY |  |
id (genes) | NCBI | Public Domain |  |
id (go) | GO | CC BY |  |
id (anatomy) | UBERON | CC BY |  |
id (disease) | DO | CC 0 |  |
id (drug) | PubChem | Public Domain |  |
id (phenotype) | HPO | Custom: HPO |  |
id (pathway) | REACTOME | CC BY |  |
id (pathway) | KEGG | Custom: KEGG |  |
"""


def test_the_page_has_every_row_of_the_first_licence_table():
    page = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
    section = page[page.index("## Licences as first published") :]
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| ")][2:]
    assert [[cell.strip("| ") for cell in row[:5]] for row in rows] == [
        [cell.strip() for cell in line.split("|")] for line in FIRST_LICENCES.strip().splitlines()
    ]
    terms = {row[2]: row[5].partition("]")[0] for row in rows}
    assert terms["CC BY-NC-CA"] == "[CC BY-NC-SA 4.0"
    assert terms["CC 0"] == "[CC0 1.0"
    assert [row[5].partition("]")[0] for row in rows if row[0] == "| id (pathway)"] == ["[CC BY 4.0", "[Custom: KEGG"]


@pytest.mark.parametrize("edition", EDITIONS)
def test_the_page_says_of_each_source_what_the_catalogue_says(edition):
    page = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
    _, _, section = page.partition(f"\n## Edition {edition}")
    section = section.partition("\n## ")[0]
    catalogue = load_catalogue(edition)
    for name, source in catalogue.sources.items():
        first, second = [line for line in section.splitlines() if line.startswith(f"| `{name}` |")]
        for words in (source.title, source.homepage, source.checked, catalogue.licences[source.licence].url):
            assert words in first
        assert ("opt-in" in first) is not source.default
        assert [second.index(address.url) for address in source.addresses] == sorted(
            second.index(address.url) for address in source.addresses
        )
    for namespace in catalogue.namespaces.values():
        assert namespace.title in section
