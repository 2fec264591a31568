"""Documentation that cannot drift: examples are run, generated pages are made anew and compared."""

import doctest
import importlib.util
import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = [
    code
    for page in sorted((ROOT / "docs").rglob("*.md"))
    for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
]


def make_docs():
    spec = importlib.util.spec_from_file_location("make_docs", ROOT / "tools" / "make_docs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory):
    """A folder in which `openbiolink demo` was run as a user would run it."""
    folder = tmp_path_factory.mktemp("readme")
    command = [sys.executable, "-m", "openbiolink", "demo"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["demo/report.html", "demo/report.json"]
    assert "made up" in done.stderr
    assert "generate --source-map" in done.stderr
    return folder


@pytest.mark.parametrize("name", ["cli.md", "sources.md", "catalogue.md", "metric-reference.md"])
def test_generated_pages_are_up_to_date(name):
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == make_docs().PAGES[name](), "run `make docs`"


def test_every_command_is_in_the_reference():
    from typer.main import get_command

    from openbiolink.cli import app

    def paths(command, words=()):
        yield words
        for name, child in getattr(command, "commands", {}).items():
            yield from paths(child, (*words, name))

    assert set(paths(get_command(app))) == set(make_docs().COMMANDS)


def test_the_example_of_the_readme_runs(demo_folder):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    statements = [line for line in code.splitlines() if line.strip()]
    assert len(statements) <= 10
    done = subprocess.run([sys.executable, "-c", code], cwd=demo_folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert 0 < float(done.stdout) < 1


@pytest.mark.parametrize("code", EXAMPLES)
def test_the_examples_of_the_pages_run(code, tmp_path):
    env = {**os.environ, "HF_HOME": str(tmp_path)}  # where `evaluate` keeps its files
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "page", [page for page in PAGES if "```pycon" in page.read_text(encoding="utf-8")], ids=lambda page: page.name
)
def test_the_sessions_of_the_pages_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert found.attempted > 5
    assert not found.failed


def test_the_commands_of_the_readme_exist(demo_folder):
    commands = re.findall(r"^openbiolink (.*)$", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(commands) == 11
    for command in (line.partition("#")[0].strip() for line in commands):
        if "predictions predictions.txt" in command:
            continue  # needs a model's file; tests/test_topk.py runs it
        if command in {"sources check", "generate"}:
            continue  # need the network; test_sources_commands.py and test_gather.py run them on loopback servers
        words = command.replace("my-sources.toml", str(ROOT / "src/openbiolink/demo/sources.toml")).split()
        words = [str(ROOT / word) if word.startswith("examples/") else word for word in words]
        done = subprocess.run(
            [sys.executable, "-m", "openbiolink", *words],
            cwd=demo_folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert (demo_folder / "degree.json").is_file()


def shown_in_the_readme():
    """The lines of the example of an audit that are not left out."""
    (shown,) = re.findall(r"```console\n\$ openbiolink audit wn18rr\n(.*?)```", README, flags=re.DOTALL)
    lines = [line for line in shown.splitlines() if line != "…"]
    assert len(lines) > 10
    return lines


@pytest.mark.real
def test_the_audit_of_the_readme_is_real(shared):
    command = [sys.executable, "-m", "openbiolink", "audit", shared / "data" / "kg" / "wn18rr"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 1, done.stderr
    found = [line.rstrip() for line in done.stdout.splitlines()]
    assert [line for line in shown_in_the_readme() if line not in found] == []


def test_every_scheme_and_every_reason_is_explained():
    from openbiolink import split

    page = (ROOT / "docs" / "split.md").read_text(encoding="utf-8")
    assert [scheme.name for scheme in split.SCHEMES if f"(#{anchor_of(scheme.name, page)})" not in page] == []
    reasons = re.findall(r"^    (\w+)(?:\[?:[\w,:\[\]]+)?  ", split.__doc__, flags=re.MULTILINE)
    assert len(reasons) == len(split.__doc__.split("reasons:")[1].strip().splitlines())
    table = page[page.index("| reason in") : page.index("Drawn negatives that no part")]
    assert [reason for reason in reasons if not re.search(rf"`{reason}[`:]", table)] == []


def anchor_of(scheme, page):
    """Where the section about a scheme begins, as links to it are written."""
    (heading,) = [line for line in page.splitlines() if line.startswith("## ") and f"`{scheme}`" in line]
    return re.sub(r"[^\w -]", "", heading.removeprefix("## ").lower()).replace(" ", "-")


def test_every_check_of_the_audit_is_explained():
    from openbiolink.audit.render import ADVICE

    page = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^### `(\w+)`$", page, flags=re.MULTILINE)) == set(ADVICE)
    assert f"`openbiolink audit`: {len(ADVICE)} checks" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_readme_counts_the_schemes():
    from openbiolink.split import SCHEMES

    (listed,) = re.findall(r"knows twelve schemes: (.*?) for what a\nmodel has not seen", README, flags=re.DOTALL)
    assert len(SCHEMES) == 12
    assert {scheme.name for scheme in SCHEMES} == set(re.findall(r"`([\w-]+)`", listed))


def test_every_key_of_a_catalogue_is_explained():
    rows = re.findall(r"^\| `\w+` \|.*\|$", make_docs().catalogue_page(), flags=re.MULTILINE)
    assert len(rows) > 90
    assert [row for row in rows if row.split("|")[3].strip() == ""] == []


TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tutorial_folder(tmp_path_factory):
    """A folder with the files that the tutorial asks for."""
    folder = tmp_path_factory.mktemp("tutorial")
    for name, text in re.findall(r"[Ss]ave (?:it|this) as `([\w.-]+)`.*?```\w+\n(.*?)```", TUTORIAL, flags=re.DOTALL):
        (folder / name).write_text(text, encoding="utf-8")
    assert sorted(path.name for path in folder.iterdir()) == ["my-sources.toml", "screen.toml", "screen.tsv"]
    return folder


def test_the_tutorial_adds_a_source_without_code(tutorial_folder):
    blocks = "".join(re.findall(r"```console\n(.*?)```", TUTORIAL, flags=re.DOTALL))
    steps = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", blocks, flags=re.MULTILINE)
    assert len(steps) == 7
    for command, shown in steps:
        words = command.split()
        if words[0] == "cat":
            assert (tutorial_folder / words[1]).read_text(encoding="utf-8") == shown
            continue
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=tutorial_folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert shown in {"", done.stdout}


def test_what_the_tutorial_says_of_slips_and_bands_is_so(tutorial_folder, tmp_path):
    declared = (tutorial_folder / "screen.toml").read_text(encoding="utf-8")
    faults = {
        declared.replace("one_of", "one_off", 1): ('screen.toml: [rule."DRUG_BINDS_SCREENED_GENE"]', "one_off"),
        declared.replace("[5, 100]", "[8, 100]"): ("screen.tsv", "--allow-band DRUG_BINDS_SCREENED_GENE"),
    }
    for text, said in faults.items():
        (tmp_path / "screen.toml").write_text(text, encoding="utf-8")
        words = ["generate", "--catalogue", tmp_path / "screen.toml", "--source-map", "my-sources.toml"]
        done = subprocess.run(
            [sys.executable, "-m", "openbiolink", "-p", tmp_path, *words, "--relation", "DRUG_BINDS_SCREENED_GENE"],
            cwd=tutorial_folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        errors = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
        assert len(errors) == 1
        assert all(words in errors[0] for words in said)
        assert not (tmp_path / "graph_files").exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_changelog_has_the_version():
    from importlib.metadata import version

    assert f"## {version('openbiolink')}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
