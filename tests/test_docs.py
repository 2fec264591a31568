"""Documentation that cannot drift: examples are run, generated pages are made anew and compared."""

import importlib.util
import re
import subprocess
import sys

import pytest

from conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
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


@pytest.mark.parametrize("name", ["cli.md", "sources.md"])
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
def test_the_examples_of_the_pages_run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_commands_of_the_readme_exist(demo_folder):
    commands = re.findall(r"^openbiolink (.*)$", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        if "predictions" in command:
            continue  # needs a model's file; tests/test_topk.py runs it
        words = command.replace("my-sources.toml", str(ROOT / "src/openbiolink/demo/sources.toml")).split()
        done = subprocess.run(
            [sys.executable, "-m", "openbiolink", *words],
            cwd=demo_folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert (demo_folder / "degree.json").is_file()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_changelog_has_the_version():
    from importlib.metadata import version

    assert f"## {version('openbiolink')}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
