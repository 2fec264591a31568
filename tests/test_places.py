"""Graphs and splits may lie at addresses that fsspec knows, and be Parquet: the results are those of local text."""

import gzip
import json
import re
import sys
import zipfile

import fsspec
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from openbiolink import places
from openbiolink.audit import audit_files, find_parts
from openbiolink.errors import InputError
from openbiolink.graph import GraphOptions, generate_graph
from openbiolink.graph.writers import OutputOptions
from openbiolink.places import fetched, is_remote, place, written_folder
from openbiolink.schema import load_schema, schema_of
from openbiolink.split import DateSplit, GraphFiles, RandomSplit, split_graph
from source_files import demo_sources, edition
from split_graphs import run_command, write

ROWS = [
    (f"n{number % 7}", "binds" if number % 3 else "acts on", f"n{number * 5 % 11}", "", "A") for number in range(60)
]
NEGATIVES = [("n0", "binds", "n3", "", "B"), ("n4", "binds", "n9", "", "B")]
NODES = {f"n{number}": "THING" for number in range(11)}
BESIDE = {
    "schema.toml": '[relation]\nbinds = { symmetric = true }\n"acts on" = { parent = "binds" }\n',
    "manifest.json": json.dumps({"format": "openbiolink-graph/1", "directed": False, "licence": None}),
    "LICENSE.txt": "As you like.\n",
}
PACKINGS = {"edges.csv": None, "edges.csv.gz": gzip.compress, "edges.zip": None}
SETTINGS = {"test_fraction": 0.3, "validation_fraction": 0.2}


@pytest.fixture
def memory():
    """The file system of this process, empty before and after."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


@pytest.fixture
def graph(tmp_path):
    """A folder with a graph and all that may lie beside it."""
    folder = tmp_path / "graph"
    write(folder, "edges.csv", ROWS)
    write(folder, "TN_edges.csv", NEGATIVES)
    write(folder, "nodes.csv", NODES.items())
    write(folder, "edge_dates.tsv", [(*row[:3], "2020" if len(row[0] + row[2]) % 2 else "2024-05") for row in ROWS])
    for name, text in BESIDE.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "edges.csv.gz").write_bytes(gzip.compress((folder / "edges.csv").read_bytes()))
    with zipfile.ZipFile(folder / "edges.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(folder / "edges.csv", "edges.csv")
    return folder


def contents(folder):
    """The bytes of every file below a folder or an address, by name."""
    return {
        str(path).removeprefix(str(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def files_of(folder):
    return GraphFiles(edges=folder / "edges.csv", nodes=folder / "nodes.csv", tn_edges=folder / "TN_edges.csv")


def split(files, target, scheme=None, **options):
    scheme = scheme or RandomSplit(**SETTINGS)
    return split_graph(files, target, scheme, note=lambda _: None, **options).folder


# -------------------------------------------------------------------------------------- addresses


def test_paths_of_this_machine_stay_paths():
    for text in ("/data/x.csv", "file:///data/x.csv", "local:///data/x.csv"):
        path = place(text)
        assert (str(path), is_remote(path)) == ("/data/x.csv", False)
    path = place("memory://data/x.csv")
    assert (str(path), is_remote(path), place(path)) == ("memory://data/x.csv", True, path)


class Broken(MemoryFileSystem):
    """What raises an error of two lines, of a class of its own."""

    protocol = "broken"

    def info(self, path, **_):
        raise type("Refused", (Exception,), {})("no entry\nfor you")

    ls = exists = info


@pytest.mark.parametrize(("address", "reason"), [("nosuch://x", "nosuch"), ("broken://x/y", "no entry")])
def test_an_address_that_cannot_be_reached_is_one_line(address, reason):
    fsspec.register_implementation("broken", Broken, clobber=True)
    with pytest.raises(InputError) as raised:
        place(address)
    assert str(raised.value).startswith(f"{address}: cannot be reached")
    assert reason in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("words", [("split", "rand", "--nodes", "x", "--edges"), ("audit",), ("audit", "--train")])
def test_a_missing_package_is_one_line(monkeypatch, capsys, words):
    monkeypatch.setitem(sys.modules, "upath", None)
    status, said, error = run_command(monkeypatch, capsys, *words, "memory://x")
    assert (status, said, error.count("\n")) == (2, "", 1)
    assert "pip install 'openbiolink[remote]'" in error


@pytest.mark.parametrize("words", [("generate",), ("sources", "list"), ("demo",)])
def test_only_split_writes_to_an_address(memory, monkeypatch, capsys, words):
    status, said, error = run_command(monkeypatch, capsys, "-p", "memory://x", *words)
    assert (status, said, error.count("\n")) == (2, "", 1)
    assert "only split" in error
    assert memory.find("/") == []


def test_what_is_not_there_is_one_line(memory, monkeypatch, capsys):
    for words in (
        ("split", "rand", "--edges", "memory://x", "--nodes", "memory://y"),
        ("audit", "memory://x"),
        ("audit", "--train", "memory://x", "--test", "memory://y"),
    ):
        status, said, error = run_command(monkeypatch, capsys, *words)
        assert (status, said) == (2, "")
        assert re.fullmatch(r"Error: memory://[xy]: no such .*", error.splitlines()[-1])
        assert "Traceback" not in error


@pytest.mark.parametrize("edges", PACKINGS)
def test_a_split_at_an_address_is_the_same(graph, memory, monkeypatch, capsys, edges):
    memory.put(str(graph), "/graph", recursive=True)
    said = []
    again = (f"file://{graph}", f"file://{graph.parent}/again")
    for top, out in ((graph, graph.parent / "out"), ("memory://graph", "memory://out"), again):
        words = ["--edges", f"{top}/{edges}", "--tn-edges", f"{top}/TN_edges.csv", "--nodes", f"{top}/nodes.csv"]
        status, said_out, error = run_command(monkeypatch, capsys, "-p", out, "split", "rand", *words, "--val", "0.2")
        assert status == 0, error
        assert said_out.strip() == f"{out}/train_test_data".removeprefix("file://")
        said.append(contents(place(f"{out}/train_test_data")))
    assert said[0] == said[1] == said[2]
    assert said[0]["/LICENSE.txt"] == b"As you like.\n"
    manifest = json.loads(said[0]["/manifest.json"])
    assert (manifest["directed"], "schema" in manifest["inputs"]) == (False, True)
    assert [name for name in memory.find("/") if not name.startswith(("/graph/", "/out/train_test_data/"))] == []


def test_dates_and_a_schema_at_an_address_are_read(graph, memory):
    memory.put(str(graph), "/graph", recursive=True)
    found = []
    for top in (graph, place("memory://graph")):
        scheme = DateSplit(dates=top / "edge_dates.tsv", cut="2021", validation_cut="2020")
        folder = split(files_of(top), top.parent / "dated", scheme, schema=top / "schema.toml")
        found.append(contents(folder))
    assert found[0] == found[1]
    assert found[0]["/test_sample.csv"]


def test_an_audit_at_an_address_is_the_same(graph, memory, monkeypatch, capsys):
    for part, rows in (("train", ROWS[:40]), ("valid", ROWS[40:50]), ("test", ROWS[48:])):
        write(graph, f"{part}.tsv", [row[:3] for row in rows])
    memory.put(str(graph), "/graph", recursive=True)
    said = []
    for top in (str(graph), "memory://graph"):
        out = ("--html", f"{top}/page.html", "--fix", f"{top}-clean", "--json", "--fail-on", "warning")
        status, found, error = run_command(monkeypatch, capsys, "audit", top, *out)
        assert status == 1, error
        words = (f"--{part}={top}/{part}.tsv" for part in ("train", "valid", "test"))
        again = run_command(monkeypatch, capsys, "audit", *words, f"--schema={top}/schema.toml", "--json")
        assert again[1] == found
        said.append((found, place(f"{top}/page.html").read_bytes(), contents(place(f"{top}-clean"))))
        with pytest.raises(InputError, match="is to be read"):
            from openbiolink.audit.fix import check_target

            check_target(find_parts(top), place(top), overwrite=True)
    assert said[0] == said[1]
    assert {check["id"] for check in json.loads(said[0][0])["checks"] if check["severity"] == "error"} >= {"duplicate"}
    assert "/schema.toml" in said[0][2]


# -------------------------------------------------------------------------------------- folders at an address


def put(target, names, *, replace=False, owned=lambda name: name != "mine.txt"):
    with written_folder(place(target), owned=owned, replace=replace) as folder:
        for name in names:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(name, encoding="utf-8")


def test_a_folder_at_an_address_is_replaced_whole_or_not_at_all(memory):
    put("memory://out", ["manifest.json", "a.parquet/1.parquet", "a.parquet/2.parquet", "b.csv"])
    with pytest.raises(InputError, match="exists already"):
        put("memory://out", ["c.csv"])
    put("memory://out", ["a.parquet/1.parquet", "manifest.json"], replace=True)
    assert contents(place("memory://out")) == {
        "/a.parquet/1.parquet": b"a.parquet/1.parquet",
        "/manifest.json": b"manifest.json",
    }
    with pytest.raises(InputError, match="is a file"):
        put("memory://out/manifest.json", ["c.csv"], replace=True)
    memory.pipe("/out/mine.txt", b"notes")
    with pytest.raises(InputError, match=r"mine.txt, which was not written here"):
        put("memory://out", ["c.csv"], replace=True)
    assert len(memory.find("/out")) == 3


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_an_upload_that_fails_leaves_nothing(memory, monkeypatch, failing):
    copied = []

    def copy(source, target, original=places._copy):
        original(source, target)
        copied.append(source.name)
        if len(copied) == failing:
            raise KeyboardInterrupt

    monkeypatch.setattr(places, "_copy", copy)
    with pytest.raises(KeyboardInterrupt):
        put("memory://out", ["a.csv", "manifest.json", "z.csv"])
    assert copied == ["a.csv", "z.csv", "manifest.json"][:failing]
    assert memory.find("/") == []
    assert not place("memory://out").exists()


def test_parquet_files_of_one_name_in_many_folders_are_all_fetched(memory, tmp_path):
    for number in range(3):
        memory.pipe(f"/x.parquet/{number}/part-0.parquet", bytes([number]))
    memory.pipe("/x.parquet/_SUCCESS", b"")
    copy = fetched(place("memory://x.parquet"), tmp_path)
    assert copy.name == "x.parquet"
    assert [part.read_bytes() for part in sorted(copy.iterdir())] == [b"\0", b"\1", b"\2"]
    with pytest.raises(InputError, match="no such file"):
        fetched(place("memory://y.parquet"), tmp_path)


# -------------------------------------------------------------------------------------- Parquet


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """A graph as text and as Parquet."""
    options = GraphOptions(output=OutputOptions(formats=("TSV", "Parquet")))
    return generate_graph(edition(), demo_sources(), tmp_path_factory.mktemp("parquet") / "graph", options=options)


def text_rows(folder, name):
    return [line.split("\t") for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def parquet_rows(folder, name):
    return [
        ["" if cell is None else str(cell) for cell in row.values()] for row in pq.read_table(folder / name).to_pylist()
    ]


def test_parquet_in_and_out_has_the_rows_of_text(generated, tmp_path, memory):
    top = generated.folder
    parquet = GraphFiles(edges=top / "edges.parquet", nodes=top / "nodes.parquet", tn_edges=top / "TN_edges.parquet")
    memory.put(str(top), "/graph", recursive=True)
    text = split(files_of(top), tmp_path / "text")
    folders = [
        split(parquet, tmp_path / "parquet", output_format="parquet"),
        split(parquet, tmp_path / "mixed"),
        split(files_of(place("memory://graph")), place("memory://out"), output_format="parquet"),
    ]
    names = [name for name in contents(text) if name.endswith((".csv", ".tsv"))]
    for name in names:
        stem = name[1:].rpartition(".")[0]
        assert parquet_rows(folders[0], f"{stem}.parquet") == text_rows(text, name[1:]), name
        assert (folders[1] / name[1:]).read_bytes() == (text / name[1:]).read_bytes()
        assert (folders[2] / f"{stem}.parquet").read_bytes() == (folders[0] / f"{stem}.parquet").read_bytes()
    assert len(names) == 11
    reports = [audit_files(find_parts(folder), schema=load_schema()).to_dict() for folder in (text, *folders)]
    assert [report.pop("inputs")["test"]["file"] for report in reports] == [
        "test_sample.csv", "test_sample.parquet", "test_sample.csv", "test_sample.parquet",
    ]  # fmt: skip
    assert reports == [reports[0]] * 4


def test_a_folder_of_parquet_is_a_table_and_the_schema_lies_beside_it(graph):
    folder = graph / "edges.parquet"
    folder.mkdir()
    assert schema_of(folder)[1] == schema_of(graph / "edges.csv")[1] == schema_of(graph)[1] == graph / "schema.toml"
