"""Graphs and splits describe themselves in Croissant: the standard's own reader takes it, and reads what is there."""

import json
import socket
from pathlib import Path

import mlcroissant
import pytest

from openbiolink.croissant import croissant
from openbiolink.errors import InputError
from openbiolink.files import sha256_of
from openbiolink.graph import GraphOptions, generate_graph
from openbiolink.graph.writers import OutputOptions
from openbiolink.split import GraphFiles, RandomSplit, split_graph
from source_files import demo_sources, edition

# What rdflib and pandas say of themselves, of which mlcroissant makes use.
pytestmark = [
    pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.reset_index:DeprecationWarning"),
]
MISSING = {"citeAs", "datePublished"}  # what only whoever publishes can say
NOT_DESCRIBED = {"croissant.json", "manifest.json"}
WITH_OWN_HEADER = {"ledger.tsv", "stats.txt", "tn_stats.txt"}


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*arguments):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def make_graph(folder, **output):
    return generate_graph(
        edition(), demo_sources(), folder, options=GraphOptions(output=OutputOptions(**output))
    ).folder


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    return make_graph(tmp_path_factory.mktemp("croissant") / "graph", formats=("TSV", "Parquet", "RDF-N3", "Neo4j"))


def make_split(graph, folder, output_format):
    choice = RandomSplit(test_fraction=0.2, validation_fraction=0.2)
    files = GraphFiles(edges=graph / "edges.csv", nodes=graph / "nodes.csv", tn_edges=graph / "TN_edges.csv")
    return split_graph(files, folder, choice, output_format=output_format, note=lambda _: None).folder


@pytest.fixture(scope="module")
def split(graph, tmp_path_factory):
    return make_split(graph, tmp_path_factory.mktemp("croissant") / "split", "tsv")


@pytest.fixture(scope="module")
def parquet_split(graph, tmp_path_factory):
    return make_split(graph, tmp_path_factory.mktemp("croissant") / "split", "parquet")


def rows_of(path, separator="\t"):
    return [line.split(separator) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def description_of(folder):
    return json.loads((folder / "croissant.json").read_text(encoding="utf-8"))


def records_of(folder, table):
    """The records that the reference library reads, each as its columns → text."""
    dataset = mlcroissant.Dataset(str(folder / "croissant.json"))
    return [
        {
            name.partition("/")[2]: value.decode() if isinstance(value, bytes) else str(value)
            for name, value in row.items()
        }
        for row in dataset.records(table)
    ]


@pytest.mark.parametrize("kind", ["graph", "split", "parquet_split"])
def test_the_reference_library_finds_no_fault_without_a_network(kind, request):
    folder = request.getfixturevalue(kind)
    issues = mlcroissant.Dataset(str(folder / "croissant.json")).metadata.ctx.issues
    assert issues.errors == set()
    assert {warning.split('"')[1].rpartition("/")[2] for warning in issues.warnings} == MISSING


def test_what_the_publisher_adds_is_told():
    manifest = {
        "format": "openbiolink-split/1",
        "version": "1.2.3",
        "scheme": "rand",
        "counts": {"parts": {}},
        "inputs": {},
    }
    before = json.dumps(manifest | {"outputs": {}})
    description = croissant(manifest | {"outputs": {}}, url="https://example.org/set", published="2026-11-05")
    assert json.dumps(manifest | {"outputs": {}}) == before
    issues = mlcroissant.Dataset(description).metadata.ctx.issues
    assert {warning.split('"')[1].rpartition("/")[2] for warning in issues.warnings} == {"citeAs"}
    assert (description["url"], description["license"]) == ("https://example.org/set", ["LICENSE.txt"])


@pytest.mark.parametrize("kind", ["graph", "split", "parquet_split"])
def test_every_file_is_described_by_checksum_and_size(kind, request):
    folder = request.getfixturevalue(kind)
    described = {entry["@id"]: entry for entry in description_of(folder)["distribution"]}
    assert described.keys() == {path.name for path in folder.iterdir()} - NOT_DESCRIBED
    for name, entry in described.items():
        assert entry["sha256"] == sha256_of(folder / name)
        assert entry["contentSize"] == f"{(folder / name).stat().st_size} B"
        assert entry["contentUrl"] == entry["name"] == name


@pytest.mark.parametrize("kind", ["graph", "split"])
def test_every_table_without_a_header_is_described_with_all_its_columns(kind, request):
    folder = request.getfixturevalue(kind)
    description = description_of(folder)
    columns = {entry["@id"]: [field["name"] for field in entry["field"]] for entry in description["recordSet"]}
    encodings = {entry["@id"]: entry["encodingFormat"] for entry in description["distribution"]}
    for path in folder.iterdir():
        if path.suffix in {".csv", ".tsv"} and path.name not in WITH_OWN_HEADER and not path.name.startswith("neo4j"):
            assert encodings[path.name] == "text/plain"
            widths = {len(row) for row in rows_of(path)}
            assert widths <= {len([name for name in columns[path.stem] if name != "split"])}, path.name
    headed = {name for name, encoding in encodings.items() if encoding != "text/plain"}
    assert headed >= ({"ledger.tsv", "neo4j_edges.csv", "edges.parquet", "edges.N3"} if kind == "graph" else set())


@pytest.mark.parametrize("table", ["edges", "TN_edges", "ALL_nodes", "conflicts", "node_names"])
def test_records_of_a_graph_are_its_rows(graph, table):
    suffix = "tsv" if table in {"conflicts", "node_names"} else "csv"
    assert [list(record.values()) for record in records_of(graph, table)] == rows_of(graph / f"{table}.{suffix}")


def test_records_with_a_header_are_named_by_it(graph):
    header, *rows = rows_of(graph / "ledger.tsv")
    found = records_of(graph, "ledger")
    assert [list(record) for record in found[:1]] == [header]
    assert [list(record.values()) for record in found] == rows


@pytest.mark.parametrize(
    ("table", "part"), [("test_sample", "test"), ("val_sample", "val"), ("negative_val_sample", "val")]
)
def test_records_of_a_split_are_its_rows_and_name_their_part(split, table, part):
    rows = rows_of(split / f"{table}.csv")
    assert rows
    assert [list(record.values()) for record in records_of(split, table)] == [[*row, part] for row in rows]


def test_records_of_a_split_in_parquet_are_those_of_text(split, parquet_split):
    tables = [path.stem for path in parquet_split.iterdir() if path.suffix == ".parquet"]
    assert len(tables) == len([path for path in split.iterdir() if path.suffix in {".csv", ".tsv"}])
    for table in tables:
        expected, found = records_of(split, table), records_of(parquet_split, table)
        assert found == expected, table
    assert records_of(parquet_split, "negative_val_sample")[0]["split"] == "val"


def test_the_parts_are_listed(split):
    assert records_of(split, "splits") == [
        {"name": "train", "url": "cr:TrainingSplit"},
        {"name": "val", "url": "cr:ValidationSplit"},
        {"name": "test", "url": "cr:TestSplit"},
    ]


@pytest.mark.parametrize("kind", ["graph", "split"])
def test_sources_and_terms_are_told(kind, request, graph):
    manifest = json.loads((graph / "manifest.json").read_text(encoding="utf-8"))
    description = description_of(request.getfixturevalue(kind))
    told = {entry["@id"]: entry for entry in description["prov:wasDerivedFrom"]}
    assert told.keys() == manifest["inputs"].keys()
    for name, entry in told.items():
        licence = edition().licences[edition().sources[name].licence]
        assert (entry["prov:label"], entry["sc:license"]) == (edition().sources[name].title, licence.url)
        assert licence.url in description["license"]
        assert entry.get("sc:sha256") == (manifest["inputs"][name]["sha256"] if kind == "graph" else None)


def test_a_file_for_each_relation_and_another_separator_are_understood(tmp_path):
    folder = make_graph(tmp_path / "graph", multi_file=True, separator=";")
    issues = mlcroissant.Dataset(str(folder / "croissant.json")).metadata.ctx.issues
    assert issues.errors == set()
    path = folder / "edges_GENE_DIS.csv"
    assert [list(record.values()) for record in records_of(folder, path.stem)] == rows_of(path, ";")


def test_nothing_but_the_manifest_is_told(graph):
    manifest = json.loads((graph / "manifest.json").read_text(encoding="utf-8"))
    del manifest["outputs"]["croissant.json"]
    assert croissant(manifest) == description_of(graph)
    assert str(Path.home()) not in json.dumps(description_of(graph))


@pytest.mark.parametrize("manifest", [{}, {"format": "openbiolink-result/1"}])
def test_other_documents_are_refused(manifest):
    with pytest.raises(InputError, match="expected that of a graph or a split"):
        croissant(manifest)
