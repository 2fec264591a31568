"""The audit as text, JSON and a page, the command, and the cleaned split: nothing lost, no error left."""

import io
import json
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console
from typer.testing import CliRunner

from conftest import ROOT
from openbiolink.audit import find_parts
from openbiolink.audit.finding import Audit, Example, Finding
from openbiolink.audit.fix import fix_split
from openbiolink.audit.render import ADVICE, render_text
from openbiolink.cli import app
from openbiolink.errors import InputError
from openbiolink.report.audit import render_page, write_page
from openbiolink.schema import read_schema
from test_report import HOSTILE, check_structure, read_page, rows_of, values_of

ISSUE_ORDER = [
    "duplicate", "loop", "reversed", "inverse_relation", "near_duplicate_relation", "contained_relation", "same_pair",
    "cartesian_relation", "transitive", "negative_collision", "unseen_entity", "unseen_relation", "degree_baseline",
    "frequency_baseline", "copy_baseline", "component_drift",
]  # fmt: skip
KEYS = {"id", "severity", "count", "test_affected", "test_share", "examples", "mrr", "mrr_affected", "mrr_unaffected"}
FIXED = ("duplicate", "loop", "reversed", "super_relation", "negative_collision", "unseen_entity", "unseen_relation")
FIXED_ON_REQUEST = (
    "inverse_relation", "near_duplicate_relation", "contained_relation", "same_pair", "transitive",
)  # fmt: skip
SCHEMA = """\
[relation]
a = { symmetric = true, parent = "b" }
b = { parent = "c" }
d = { inverse = "b" }
is_a = { transitive = true }
"""


def finding(name, **values):
    usual = {"title": f"title of {name}", "severity": "info", "count": 0, "test_affected": 0, "test_share": 0.0}
    return Finding(id=name, **(usual | values))


def make_audit(name="x"):
    examples = tuple(
        Example(part="test", head=f"{name}{n}", relation="r", tail="t", because=f"{name} is in train") for n in range(3)
    )
    pairs = [{"relation": f"{name}{n}", "share": 0.5, "pairs": 1_000 + n} for n in range(60)]
    found = finding(
        "reversed",
        title="rows whose reverse stands in another part",
        severity="error",
        count=1_806,
        test_affected=912,
        test_share=0.31,
        examples=examples,
        mrr_affected=0.9712,
        mrr_unaffected=0.0123,
        details={"symmetric_relations": pairs, "by_part": {"train": 3}, "names": ["a", "b"], "across": 5_000},
    )
    return Audit(
        checks=(found, finding("loop"), finding("degree_baseline", mrr=0.034)),
        rows={"train": {"positive": 270_000, "negative": 0}, "test": {"positive": 2_940, "negative": 7}},
        entities=14_541,
        relations=237,
        inputs={"train": {"file": f"{name}.txt", "sha256": "ab" * 32}},
        notes=(f"a note on {name}",),
    )


# -------------------------------------------------------------------------------------- text, JSON and page


def shown(audit):
    screen = io.StringIO()
    Console(width=120, file=screen).print(render_text(audit))
    return screen.getvalue()


def test_the_text_has_every_check_and_the_examples_of_what_was_found():
    lines = shown(make_audit()).splitlines()
    assert lines[0] == "train 270,000; test 2,940 (and 7 negative); 14,541 entities, 237 relations"
    rows = {line.split()[1]: line.split() for line in lines if line.split()[:1] in (["error"], ["ok"], ["info"])}
    assert rows["reversed"] == ["error", "reversed", "1,806", "912", "31.0%", "-", "0.9712", "0.0123"]
    assert [line for line in lines if line.startswith("  test: ")] == [f"  test: x{n}  r  t" for n in range(3)]
    assert rows["loop"] == ["ok", "loop", "0", "0", "0.0%", "-", "-", "-"]
    assert rows["degree_baseline"][5] == "0.0340"
    assert "reversed: rows whose reverse stands in another part" in lines
    assert lines.count("      x is in train") == 3
    assert lines[-1] == "note: a note on x"


def test_the_text_of_hostile_names_is_no_markup():
    assert "[bold]x[/nothing]0" in shown(make_audit("[bold]x[/nothing]"))


def test_the_json_has_the_keys_of_the_contract():
    document = make_audit().to_dict()
    assert json.loads(json.dumps(document, allow_nan=False))["format"] == "openbiolink-audit/1"
    assert {"version", "rows", "entities", "relations", "inputs", "checks", "notes"} <= document.keys()
    assert all(set(check) >= KEYS for check in document["checks"])
    assert set(document["checks"][0]["examples"][0]) == {"part", "head", "relation", "tail", "because"}


def test_the_page_holds_the_numbers_of_the_audit():
    page = check_structure(render_page(make_audit()))
    rows = values_of(page, "table-checks")
    assert rows == [
        ("error", [1_806, 912, 0.31, 0.9712, 0.0123]),
        ("ok", [0, 0, 0.0]),
        ("info", [0, 0, 0.0, 0.034]),
    ]
    assert [row[1].text() for row in rows_of(page, "table-checks")] == ["reversed", "loop", "degree_baseline"]
    assert len(rows_of(page, "examples-reversed")) == 3
    assert len(rows_of(page, "details-reversed-1")) == 50
    assert "the first 50" in page.text()
    assert values_of(page, "details-reversed-2") == [("train", [3])]
    assert values_of(page, "table-parts") == [("train", [270_000, 0]), ("test", [2_940, 7])]
    assert ADVICE["reversed"] in page.text()
    bars = [bar for bar in page.all("span") if bar.attributes.get("class") == "share error"]
    assert [bar.all("span")[1].attributes["style"] for bar in bars] == ["width: 31.00%"] * 2


def test_the_page_is_safe_self_contained_and_the_same_every_time(tmp_path):
    audit = make_audit(HOSTILE)
    text = render_page(audit)
    page = check_structure(text)
    assert f"{HOSTILE}0" in page.text()
    assert f"a note on {HOSTILE}" in page.text()
    assert "://" not in text
    assert "prefers-color-scheme: dark" in text
    assert text == render_page(make_audit(HOSTILE))
    for _ in range(2):
        write_page(audit, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == text


def test_a_page_of_an_audit_without_anything_is_sound():
    empty = Audit(checks=(), rows={}, entities=0, relations=0)
    assert "None of them found anything" in check_structure(render_page(empty)).text()
    assert read_page(render_page(empty)).all("article") == []


def test_a_page_replaces_pages_only(tmp_path):
    other = tmp_path / "other.html"
    other.write_text("<html></html>")
    for wrong in (other, tmp_path):
        with pytest.raises(InputError, match=str(wrong)):
            write_page(make_audit(), wrong)
    assert other.read_text() == "<html></html>"


# --------------------------------------------------------------------------------------------- the command


def write(folder, parts):
    folder.mkdir(exist_ok=True)
    for name, rows in parts.items():
        (folder / f"{name}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return folder


LEAKY = {
    "train": [("e1", "r", "e2"), ("e2", "r", "e3"), ("e3", "s", "e1")],
    "valid": [("e3", "r", "e1")],
    "test": [("e2", "r", "e1"), ("e1", "s", "e9")],
}
CLEAN = {"train": LEAKY["train"], "valid": [], "test": [("e1", "s", "e2")]}


def audit_command(*words):
    done = CliRunner().invoke(app, ["audit", *map(str, words)])
    return 2 if isinstance(done.exception, InputError) else done.exit_code, done.stdout


def test_the_command_says_what_it_found_by_its_status(tmp_path):
    leaky, clean = write(tmp_path / "leaky", LEAKY), write(tmp_path / "clean", CLEAN)
    status, text = audit_command(leaky)
    assert status == 1
    assert any(line.split()[:4] == ["error", "reversed", "2", "1"] for line in text.splitlines())
    assert audit_command(clean)[0] == 0
    assert audit_command(clean, "--fail-on", "warning")[0] == 1  # the same pair under another relation
    assert audit_command(leaky, "--fail-on", "info")[0] == 1


def test_json_is_all_that_is_printed_and_files_may_be_named_one_by_one(tmp_path):
    folder = write(tmp_path / "leaky", LEAKY)
    status, printed = audit_command(folder, "--json", "--html", tmp_path / "page.html")
    document = json.loads(printed)
    assert status == 1
    names = [check["id"] for check in document["checks"]]
    assert names[: len(ISSUE_ORDER)] == ISSUE_ORDER
    assert len(set(names)) == len(names)
    assert set(names) >= set(FIXED)
    check_structure((tmp_path / "page.html").read_text(encoding="utf-8"))
    named = [word for part in LEAKY for word in (f"--{part}", folder / f"{part}.tsv")]
    assert json.loads(audit_command(*named, "--json")[1])["checks"] == document["checks"]


def test_the_command_takes_negatives_and_a_schema(tmp_path):
    folder = write(tmp_path / "clean", {**CLEAN, "negatives": [("e2", "r", "e1"), ("e3", "r", "e3")]})
    schema = tmp_path / "schema.toml"
    schema.write_text("[relation]\nr = { symmetric = true }\n")
    for words, count in (((), 0), (("--schema", schema), 1), (("--undirected",), 1)):
        _, printed = audit_command(folder, "--test-negatives", folder / "negatives.tsv", "--json", *words)
        counts = {check["id"]: check["count"] for check in json.loads(printed)["checks"]}
        assert counts["negative_collision"] == count


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ((), "audit needs a folder"),
        (("--test", "test.tsv"), "--train"),
        (("FOLDER", "--train", "train.tsv"), "give one of them"),
        (("FOLDER", "--overwrite"), "--fix"),
        (("FOLDER", "--fail-on", "all"), "'all' is not one of"),
        (("nowhere",), "no such folder"),
    ],
)
def test_bad_input_is_one_line_and_status_2(tmp_path, words, fault):
    folder = write(tmp_path / "clean", CLEAN)
    line = [
        sys.executable,
        "-m",
        "openbiolink",
        "audit",
        *(str(folder) if word == "FOLDER" else word for word in words),
    ]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert fault in done.stderr


def test_the_command_writes_a_cleaned_split_that_passes(tmp_path):
    folder, out = write(tmp_path / "leaky", LEAKY), tmp_path / "out"
    status, printed = audit_command(folder, "--fix", out)
    assert status == 1
    assert printed.splitlines()[-1] == str(out)
    assert audit_command(out)[0] == 0
    assert (out / "test.tsv").read_text() == ""
    assert (out / "removed.tsv").read_text().splitlines() == [
        "test\te1\ts\te9\t1\tunseen_entity:e9",
        "test\te2\tr\te1\t1\treversed:train:r",
    ]
    assert audit_command(folder, "--fix", out)[0] == 2
    assert audit_command(folder, "--fix", out, "--overwrite")[0] == 1
    (out / "mine.txt").write_text("")
    assert audit_command(folder, "--fix", out, "--overwrite")[0] == 2
    assert (out / "mine.txt").exists()


@pytest.mark.parametrize("there", ["folder", "file", "notes"])
def test_a_place_that_cannot_be_written_is_refused_before_the_work(tmp_path, monkeypatch, there):
    folder, out = write(tmp_path / "leaky", LEAKY), tmp_path / "out"
    if there == "file":
        out.write_text("mine")
    else:
        out.mkdir()
    if there == "notes":
        (out / "mine.txt").write_text("mine")
    monkeypatch.setattr("openbiolink.audit.audit_files", lambda *_, **__: pytest.fail("the long work was begun"))
    words = ("--overwrite",) if there == "notes" else ()
    with pytest.raises(InputError, match=r"out: (exists already|is a file|holds mine\.txt)"):
        CliRunner().invoke(app, ["audit", str(folder), "--fix", str(out), *words], catch_exceptions=False)


def test_a_page_may_lie_in_the_cleaned_split(tmp_path):
    folder, out = write(tmp_path / "leaky", LEAKY), tmp_path / "out"
    assert audit_command(folder, "--fix", out, "--html", out / "audit.html")[0] == 1
    assert (out / "test.tsv").exists()
    assert (out / "audit.html").exists()


# ------------------------------------------------------------------------------------------ the cleaned split


def read_rows(folder, names):
    return {
        name: [tuple(line.split("\t")) for line in (folder / f"{name}.tsv").read_text().splitlines()]
        for name in names
        if (folder / f"{name}.tsv").exists()
    }


def fixed(parts, folder, **options):
    schema = folder / "schema.toml"
    schema.write_text(SCHEMA)
    out = folder / "out"
    audit = fix_split(find_parts(write(folder, parts)), out, schema=read_schema(schema), schema_file=schema, **options)
    return out, audit


ends = st.sampled_from(["e1", "e2", "e3", "e4", "e5"])
triples = st.tuples(ends, st.sampled_from(["a", "b", "c", "d", "is_a", "x"]), ends)
splits = st.fixed_dictionaries(
    {
        "train": st.lists(triples, min_size=3, max_size=14),
        "test": st.lists(triples, max_size=6),
    },
    optional={
        "valid": st.lists(triples, max_size=6),
        "inference": st.lists(triples, max_size=4),
        "train_negatives": st.lists(triples, max_size=4),
        "test_negatives": st.lists(triples, max_size=4),
    },
)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(parts=splits, warnings=st.booleans())
def test_a_cleaned_split_has_no_error_and_lost_nothing(tmp_path_factory, parts, warnings):
    if not any(head != tail for head, _, tail in parts["train"]):
        parts["train"].append(("e1", "a", "e2"))
    out, audit = fixed(parts, tmp_path_factory.mktemp("split"), warnings=warnings)
    left = {one.id: one.count for one in audit.checks if one.id in FIXED + (FIXED_ON_REQUEST if warnings else ())}
    assert left == dict.fromkeys(left, 0)
    assert audit.worst() != "error"
    assert json.loads((out / "audit.json").read_text()) == json.loads(json.dumps(audit.to_dict()))
    kept = read_rows(out, parts)
    assert kept.keys() == parts.keys()
    removed = [tuple(line.split("\t")) for line in (out / "removed.tsv").read_text().splitlines()]
    found = Counter((name, row) for name, rows in kept.items() for row in rows)
    for part, head, relation, tail, value, _ in removed:
        found[part + {"1": "", "0": "_negatives"}[value], (head, relation, tail)] += 1
    assert found == Counter((name, row) for name, rows in parts.items() for row in rows)
    reasons = {reason.split(":")[0] for part, *_, value, reason in removed if (part, value) == ("train", "1")}
    assert reasons <= {"loop", "duplicate"}


def test_rows_leave_for_the_first_reason_and_only_for_rows_that_stay(tmp_path):
    parts = {
        "train": [("e1", "x", "e2"), ("e1", "x", "e2"), ("e2", "x", "e2"), ("e3", "x", "e4"), ("e5", "c", "e1")],
        "valid": [("e2", "x", "e1"), ("e1", "x", "e2"), ("e4", "c", "e1"), ("e4", "c", "e5"), ("e2", "a", "e3")],
        "test": [("e4", "b", "e1"), ("e5", "b", "e4"), ("e3", "a", "e2"), ("e1", "b", "e5"), ("e9", "x", "e1")],
    }
    parts["train"] += [("e1", "b", "e3"), ("e3", "a", "e5")]
    parts["valid_negatives"] = [("e4", "b", "e1"), ("e1", "b", "e4"), ("e5", "c", "e4")]
    out, _ = fixed(parts, tmp_path)
    assert (out / "removed.tsv").read_text().splitlines() == [
        "test\te9\tx\te1\t1\tunseen_entity:e9",
        "train\te1\tx\te2\t1\tduplicate:train",
        "train\te2\tx\te2\t1\tloop",
        "valid\te1\tx\te2\t1\tduplicate:train",
        "valid\te2\ta\te3\t1\treversed:test:a",
        "valid\te2\tx\te1\t1\treversed:train:x",
        "valid\te4\tb\te1\t0\tnegative_collision",
        "valid\te4\tc\te1\t1\tsuper_relation:test:b",
        "valid\te5\tc\te4\t0\tnegative_collision",
    ]
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["rows"]["removed.tsv"] == 9
    assert manifest["removed"]["negative"] == {"negative_collision": 2}
    assert (out / "schema.toml").read_text() == SCHEMA


def test_a_cleaned_split_does_not_depend_on_the_order_of_rows(tmp_path):
    parts = {name: rows * 2 for name, rows in LEAKY.items()}
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    one, _ = fixed(parts, tmp_path / "one", warnings=True)
    other, _ = fixed({name: rows[::-1] for name, rows in parts.items()}, tmp_path / "other", warnings=True)
    for path in one.iterdir():
        if path.name != "audit.json" and path.suffix != ".json":
            assert path.read_bytes() == (other / path.name).read_bytes()


def test_a_cleaned_split_never_takes_the_place_of_its_input(tmp_path):
    folder = write(tmp_path / "leaky", LEAKY)
    for out in (folder, tmp_path):
        with pytest.raises(InputError, match="which is to be read"):
            fix_split(find_parts(folder), out, schema=read_schema_of(tmp_path), overwrite=True)
    nothing = write(tmp_path / "loops", {"train": [("e", "r", "e")], "valid": [], "test": [("e", "r", "d")]})
    with pytest.raises(InputError, match="no row of this split would be left"):
        fix_split(find_parts(nothing), tmp_path / "out", schema=read_schema_of(tmp_path))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "step", ["audit.audit_files", "audit.fix._write", "audit.fix.audit_files", "report.audit.write_page"]
)
def test_an_interrupted_audit_leaves_nothing_half_written(tmp_path, monkeypatch, step):
    def stop(*_, **__):
        raise KeyboardInterrupt

    split, scratch = write(tmp_path / "leaky", LEAKY), tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    monkeypatch.setattr(f"openbiolink.{step}", stop)
    status, _ = audit_command(split, "--fix", tmp_path / "out", "--html", tmp_path / "page.html")
    assert status == 130
    left = {path.name for path in tmp_path.iterdir()} - {"leaky", "scratch"}
    assert left == ({"out"} if step.endswith("write_page") else set())  # which is whole
    assert list(scratch.iterdir()) == []


def read_schema_of(folder):
    (folder / "s.toml").write_text(SCHEMA)
    return read_schema(folder / "s.toml")


# --------------------------------------------------------------------------------------- the documentation


def test_the_documentation_explains_every_check_in_its_words(tmp_path):
    _, printed = audit_command(write(tmp_path / "leaky", LEAKY), "--json")
    checks = json.loads(printed)["checks"]
    text = " ".join((ROOT / "docs" / "audit.md").read_text(encoding="utf-8").split())
    sections = dict(section.split("` ", 1) for section in text.split("### `")[1:])
    assert list(sections) == [check["id"] for check in checks]
    for check in checks:
        assert check["title"][0].upper() + check["title"][1:] + "." in sections[check["id"]]
        assert ADVICE[check["id"]].replace("--fix", "`--fix`") in sections[check["id"]]
    assert set(ADVICE) == set(sections)
