"""Every output format, read back by a reader that is not ours, holds the graph: nothing lost, nothing made up."""

import csv
import hashlib
import random
import re
import tempfile
import warnings
import xml.etree.ElementTree as ET
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

import duckdb
import networkx as nx
import pyarrow as pa
import pyarrow.parquet
import pyoxigraph
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

from openbiolink.errors import InputError
from openbiolink.graph.writers import (
    WRITERS,
    OutputOptions,
    WriterContext,
    find_format,
    graphml,
    owned_file,
    refuse_names,
)
from openbiolink.sources.catalogue import load_catalogue

FORMATS = ("TSV", "Parquet", "RDF-N3", "Neo4j", "GraphML")
CATALOGUE = load_catalogue("2020")
SCHEMA = "https://openbiolink.github.io/schema#"
EDGES = {"edges": False, "TN_edges": True}
NODES = ("nodes", "TN_nodes", "ALL_nodes")


@dataclass
class Graph:
    """Edges (head, relation, tail, negative) → (score, source, date), node id → types, node id → name."""

    edges: dict[tuple[str, str, str, bool], tuple[str, str, str]]
    types: dict[str, set[str]]
    names: dict[str, str] = field(default_factory=dict)

    def nodes(self, which):
        """(id, type) of the ends of edges: "nodes" of the true ones, "TN_nodes" of the others, "ALL_nodes" of both."""
        wanted = {"nodes": {False}, "TN_nodes": {True}, "ALL_nodes": {False, True}}[which]
        ends = {end for h, _, t, no in self.edges if no in wanted for end in (h, t)}
        return {(end, kind) for end in ends for kind in self.types[end]}


SMALL = Graph(
    edges={
        ("NCBIGENE:10", "GENE_DIS", "DOID:1", False): ("0.25", "DisGeNET", "2019"),
        ("NCBIGENE:10", "GENE_DIS", "DOID:2", False): ("gold quality", "ClinGen", ""),
        ("NCBIGENE:2", "GENE_DIS", "DOID:1", True): ("1e-5", "ClinGen", "2020-05-01"),
        ("DOID:1", "IS_A", "DOID:2", False): ("", "DO", ""),
    },
    types={"NCBIGENE:10": {"GENE"}, "NCBIGENE:2": {"GENE"}, "DOID:1": {"DIS", "PHENOTYPE"}, "DOID:2": {"DIS"}},
    names={"DOID:1": 'a "rare" disease; 5\' <b>&amp;</b> \\'},
)


@contextmanager
def database(graph, *, threads=2, shuffle=None):
    """The tables of a build that gave this graph."""
    edges, nodes = list(graph.edges.items()), sorted(graph.nodes("ALL_nodes"))
    if shuffle is not None:
        random.Random(shuffle).shuffle(edges)
        random.Random(shuffle).shuffle(nodes)
    with duckdb.connect(config={"threads": threads}) as connection:
        connection.execute("""
            CREATE TABLE edges (head VARCHAR, relation VARCHAR, tail VARCHAR, score VARCHAR, source VARCHAR,
                negative BOOLEAN, head_type VARCHAR, tail_type VARCHAR, rule VARCHAR);
            CREATE TABLE dates (head VARCHAR, relation VARCHAR, tail VARCHAR, negative BOOLEAN, date VARCHAR);
            CREATE TABLE names (id VARCHAR, name VARCHAR, kind VARCHAR);
            CREATE TABLE nodes (id VARCHAR, type VARCHAR);
            CREATE TABLE tn_nodes (id VARCHAR, type VARCHAR);
            CREATE TABLE all_nodes (id VARCHAR, type VARCHAR);
        """)
        rows = {
            "edges": [
                (h, r, t, score, source, no, min(graph.types[h]), min(graph.types[t]), "")
                for (h, r, t, no), (score, source, _) in edges
            ],
            "dates": [(*key, date) for key, (_, _, date) in edges if date],
            "names": [(one, name, "") for one, name in graph.names.items()],
            **{stem: [node for node in nodes if node in graph.nodes(stem)] for stem in NODES},
        }
        for table, cells in rows.items():
            if cells:
                marks = f"({', '.join('?' * len(cells[0]))})"
                everything = ", ".join([marks] * len(cells))
                connection.execute(f"INSERT INTO {table} VALUES {everything}", [one for row in cells for one in row])
        yield connection


@contextmanager
def written(graph, name, *, threads=2, shuffle=None, **options):
    """The folder that a writer fills, and the rows it tells."""
    context = WriterContext(catalogue=CATALOGUE, options=OutputOptions(**options), directed=True, note=pytest.fail)
    with tempfile.TemporaryDirectory() as folder, database(graph, threads=threads, shuffle=shuffle) as connection:
        rows = WRITERS[name](connection, Path(folder), context)
        assert rows.keys() == {path.name for path in Path(folder).iterdir()}
        assert all(owned_file(file) for file in rows)
        yield Path(folder), rows


# --- graphs with hostile text: everything but line ends and tabs, which no table can hold ---

PIECES = [
    *"'\"\\%<>&{}|^` #?/,;:.-éAb", '""', "\\n", "\\u0041", "%20", "%3A", "&lt;", "]]>", "//", "..", "日本",
    "\U0001f9ec", "\u00a0", "\u2028", "\u0085", "\ufeff", "\x7f", "NULL", "NA", "true", "007", "1e5",
]  # fmt: skip
ANY = st.characters(exclude_categories=["Cs", "Cc", "Cn"])
TEXT = st.lists(st.one_of(st.sampled_from(PIECES), ANY), max_size=6).map("".join)
WORDS = TEXT.filter(bool)
IDS = st.builds(lambda prefix, local: f"{prefix}:{local}", st.sampled_from(["GO", "X.y", "é"]), WORDS)
NUMBERS = ["0", "900", "-3", "+0.50", ".5", "5.", "1e-5", "2E+3", "0.30000000000000004", "1" * 30, "9" * 400]
SCORES = st.one_of(st.just(""), st.sampled_from([*NUMBERS, "gold quality", "inf", "nan", "0x10"]), TEXT)
KINDS = ["GENE", "DIS", "DRUG"]


RELATIONS = st.one_of(st.sampled_from(["GENE_DIS", "IS_A"]), WORDS)
FILE_RELATIONS = st.sampled_from(["GENE_DIS", "IS_A", "PART_OF", "LIST"])


@st.composite
def graphs(draw, relations=RELATIONS):
    ids = draw(st.lists(IDS, min_size=2, max_size=6, unique=True))
    keys = st.tuples(st.sampled_from(ids), relations, st.sampled_from(ids), st.booleans())
    values = st.tuples(SCORES, WORDS, st.sampled_from(["", "1999", "2020-05", "2020-05-01"]))
    return Graph(
        edges=draw(st.dictionaries(keys, values, max_size=8)),
        types={one: draw(st.sets(st.sampled_from(KINDS), min_size=1, max_size=2)) for one in ids},
        names=draw(st.dictionaries(st.sampled_from(ids), WORDS, max_size=4)),
    )


FEW = settings(max_examples=30, deadline=None)


def is_number(text):
    return re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text) is not None


# --- TSV ---


def rows_of(path, separator="\t"):
    """The cells of a file without quotes, by Python's csv reader."""
    with path.open(encoding="utf-8", newline="\n") as stream:
        return [tuple(row) for row in csv.reader(stream, delimiter=separator, quoting=csv.QUOTE_NONE, strict=True)]


def cells_of(path, separator="\t"):
    lines = path.read_bytes().decode("utf-8").split("\n")
    assert lines.pop() == ""
    return [tuple(line.split(separator)) for line in lines]


@FEW
@given(graphs(), st.booleans())
def test_tsv_holds_the_graph(graph, scores):
    with written(graph, "TSV", scores=scores) as (folder, rows):
        assert len(rows) == 5
        for stem in NODES:
            assert cells_of(folder / f"{stem}.csv") == sorted(graph.nodes(stem), key=encoded)
        for stem, negative in EDGES.items():
            expected = [
                (h, r, t, score if scores else "", source)
                for (h, r, t, no), (score, source, _) in graph.edges.items()
                if no == negative
            ]
            assert cells_of(folder / f"{stem}.csv") == sorted(expected, key=encoded)
            assert rows[f"{stem}.csv"] == len(expected)


def encoded(cells):
    return [cell.encode() for cell in cells]


@FEW
@given(graphs(FILE_RELATIONS), st.sampled_from(["TSV", "RDF-N3"]))
def test_a_file_for_each_type_and_relation_holds_the_same_lines(graph, name):
    end = {"TSV": "csv", "RDF-N3": "N3"}[name]
    with written(graph, name) as (whole, whole_rows), written(graph, name, multi_file=True) as (parts, part_rows):
        for file, count in whole_rows.items():
            stem = file.removesuffix(f".{end}")
            files = [one for one in part_rows if re.fullmatch(rf"{stem}_[A-Z_]+\.{end}", one)]
            assert sum(part_rows[one] for one in files) == count
            lines = [line for one in files for line in body(parts / one)]
            assert sorted(lines) == sorted(body(whole / file))
            for part in (body(parts / one) for one in files):
                assert part
                assert part == [line for line in body(whole / file) if line in part]
        assert part_rows.keys() == {
            *(f"{stem}_{r}.{end}" for stem, no in EDGES.items() for _, r, _, negative in graph.edges if negative == no),
            *(f"nodes_{kind}.{end}" for _, kind in graph.nodes("nodes")),
            *(f"TN_nodes_{kind}.{end}" for _, kind in graph.nodes("TN_nodes")),
            *(f"ALL_nodes_{kind}.{end}" for _, kind in graph.nodes("ALL_nodes")),
        }


def body(path):
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line and not line.startswith("@prefix")]


@pytest.mark.parametrize("name", ["TSV", "RDF-N3"])
def test_a_relation_that_no_file_name_takes_is_refused(name):
    for relation in ("../x", "gene_dis", "list", "É", ""):
        graph = Graph(edges={("X:1", relation, "X:2", False): ("", "S", "")}, types={"X:1": {"A"}, "X:2": {"A"}})
        with (
            pytest.raises(InputError, match="--output-multi-file: the relation"),
            written(graph, name, multi_file=True),
        ):
            pass
        with written(graph, name) as (_, rows):
            assert rows[f"edges.{'csv' if name == 'TSV' else 'N3'}"] == 1


@pytest.mark.parametrize("separator", [",", ";", "|", " ", "'", "\\", "~", "\t"])
def test_any_separator_that_no_cell_holds(separator):
    graph = Graph(
        edges={("X:1", "R", "X:2", False): ("0.5", "S", ""), ("X:1", "R", "X:3", True): ("", "S", "")},
        types={"X:1": {"A"}, "X:2": {"A"}, "X:3": {"A"}},
    )
    with written(graph, "TSV", separator=separator) as (folder, _):
        assert (folder / "edges.csv").read_text() == separator.join(["X:1", "R", "X:2", "0.5", "S\n"])
        assert rows_of(folder / "TN_edges.csv", separator) == [("X:1", "R", "X:3", "", "S")]
        assert rows_of(folder / "nodes.csv", separator) == [("X:1", "A"), ("X:2", "A")]


@pytest.mark.parametrize("separator", ["", ",,", "\n", "\r", '"', "é", "\x00", "\x0b", "\x7f"])
def test_what_is_no_separator_is_refused(separator):
    with (
        pytest.raises(InputError, match=r"--output-sep .*expected one character"),
        written(SMALL, "TSV", separator=separator),
    ):
        pass


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (
            {"formats": ("Parquet", "KGX"), "separator": ";"},
            "only TSV has a separator, and the formats are Parquet, KGX",
        ),
        ({"formats": ("RDF-N3",), "separator": ","}, "only TSV has a separator"),
        ({"formats": ("Neo4j", "BEL"), "multi_file": True}, "--output-multi-file: only RDF-N3 and TSV"),
        ({"formats": ("Parquet", "TSV"), "separator": "ab"}, "expected one character"),
        ({"formats": ("tsv",)}, "expected one or more of TSV, Parquet"),
        ({"formats": ()}, "expected one or more of TSV, Parquet"),
    ],
)
def test_options_that_no_format_heeds_are_refused_at_once(options, fault):
    with pytest.raises(InputError, match=fault) as caught:
        OutputOptions(**options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"formats": ("Parquet", "TSV"), "separator": ";", "multi_file": True},
        {"formats": ("RDF-N3", "KGX"), "multi_file": True},
        {"formats": tuple(WRITERS)},
        {"formats": ("GraphML",), "scores": False},
    ],
)
def test_options_that_a_format_heeds_are_taken(options):
    assert OutputOptions(**options).formats == options["formats"]


RULES = list(load_catalogue("2020").rules.values())


@pytest.mark.parametrize(
    ("options", "update", "fault"),
    [
        ({"separator": "_"}, {}, "the cell 'DIS_DRUG' holds the separator '_'"),
        ({"separator": ":"}, {}, "the cell 'PREFIX:id' holds the separator ':'"),
        ({"separator": "y"}, {"label": "my lab"}, "the cell 'my lab' holds the separator 'y'"),
        ({"multi_file": True}, {"relation": "my relation"}, "the relation 'my relation' cannot be part of a file name"),
        ({"multi_file": True, "formats": ("RDF-N3",)}, {"relation": "r"}, "the relation 'r' cannot"),
    ],
)
def test_names_that_cannot_be_written_are_refused_by_the_rules_alone(options, update, fault):
    rules = [*RULES, RULES[0].model_copy(update=update)]
    with pytest.raises(InputError, match=fault):
        refuse_names(OutputOptions(**options), rules)
    for fit in ({}, {"multi_file": True}, {"separator": ";"}, {"formats": ("Parquet",)}):
        refuse_names(OutputOptions(**fit), RULES)


def test_a_cell_that_holds_the_separator_is_named():
    cells = {":": "DOID:1", " ": "gold quality", "_": "GENE_DIS", ".": "0.25", "B": "NCBIGENE:10"}
    for separator, cell in cells.items():
        fault = re.escape(f"the cell '{cell}' holds the separator '{separator}'")
        with pytest.raises(InputError, match=fault), written(SMALL, "TSV", separator=separator):
            pass
    with written(SMALL, "TSV", separator=".", scores=False) as (folder, _):  # the scores that held it are not written
        assert ("NCBIGENE:10", "GENE_DIS", "DOID:1", "", "DisGeNET") in rows_of(folder / "edges.csv", ".")
    with written(SMALL, "TSV", separator=" ", scores=False) as (_, rows):  # names are not written here
        assert rows["edges.csv"] == 3


# --- Parquet ---


@FEW
@given(graphs(), st.booleans())
def test_parquet_holds_the_graph_with_types(graph, scores):
    with written(graph, "Parquet", scores=scores) as (folder, rows):
        for stem, negative in EDGES.items():
            table = pa.parquet.read_table(folder / f"{stem}.parquet")
            assert table.num_rows == rows[f"{stem}.parquet"]
            kinds = {name: pa.float64() if name == "score_number" else pa.string() for name in table.column_names}
            assert dict(zip(table.schema.names, table.schema.types, strict=True)) == kinds
            found = {(row["head"], row["relation"], row["tail"]): row for row in table.to_pylist()}
            assert [encoded(key) for key in found] == sorted(map(encoded, found))
            assert found.keys() == {key[:3] for key in graph.edges if key[3] == negative}
            for (h, r, t), row in found.items():
                score, source, date = graph.edges[h, r, t, negative]
                score = score if scores else ""
                value = float(score) if is_number(score) else float("inf")
                assert (row["score"], row["source"], row["date"]) == (score or None, source, date or None)
                assert row["score_number"] == (value if value < float("inf") else None)
                assert (row["head_type"], row["tail_type"]) == (min(graph.types[h]), min(graph.types[t]))
        for stem in NODES:
            table = pa.parquet.read_table(folder / f"{stem}.parquet").to_pylist()
            expected = sorted(graph.nodes(stem), key=encoded)
            assert [(row["id"], row["type"], row["name"]) for row in table] == [
                (one, kind, graph.names.get(one)) for one, kind in expected
            ]


# --- RDF ---


def statements_by_rdflib(path):
    """(subject, predicate, object) of a file as plain tuples, literals as (text, datatype)."""

    def plain(term):
        if isinstance(term, rdflib.Literal):
            return str(term), str(term.datatype or rdflib.XSD.string)
        return str(term) if isinstance(term, rdflib.URIRef) else f"_:{term}"

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # its N3 parser calls names that it deprecates itself
        return {tuple(map(plain, triple)) for triple in rdflib.Graph().parse(path, format="n3")}


def statements_by_oxigraph(path, form=pyoxigraph.RdfFormat.N3):
    def plain(term):
        if isinstance(term, pyoxigraph.Literal):
            return term.value, term.datatype.value
        return term.value if isinstance(term, pyoxigraph.NamedNode) else f"_:{term.value}"

    return {tuple(map(plain, (q.subject, q.predicate, q.object))) for q in pyoxigraph.parse(path=path, format=form)}


READERS = {
    "rdflib": statements_by_rdflib,
    "oxigraph": statements_by_oxigraph,
    "oxigraph, as Turtle": lambda path: statements_by_oxigraph(path, pyoxigraph.RdfFormat.TURTLE),
}
RDF, XSD, OWL = str(rdflib.RDF), str(rdflib.XSD), str(rdflib.OWL)
LABEL, A, DATE = str(rdflib.RDFS.label), str(rdflib.RDF.type), str(rdflib.DCTERMS.date)


@pytest.fixture(autouse=True)
def literals_as_written(monkeypatch):
    """Reads 0.50 as "0.50": rdflib would shorten it."""
    monkeypatch.setattr(rdflib, "NORMALIZE_LITERALS", False)


def curie(iri):
    assert re.fullmatch(r"https://identifiers\.org/[A-Za-z0-9._~!$&'()*+,;=:@/%-]+", iri), iri
    return unquote(iri.removeprefix("https://identifiers.org/"))


def term(iri):
    assert iri.startswith(SCHEMA)
    return unquote(iri.removeprefix(SCHEMA))


def described(statements, kind, subject, predicate, object_):
    """The edges that blank nodes of one class describe, with score, source and date."""
    about = {}
    for s, p, o in statements:
        if s.startswith("_:"):
            assert p not in about.setdefault(s, {}), "a property is there twice"
            about[s][p] = o
    edges = {}
    for one in about.values():
        assert one.pop(A) == kind
        key = (curie(one.pop(subject)), term(one.pop(predicate)), curie(one.pop(object_)))
        score, source, date = one.pop(f"{SCHEMA}score", None), one.pop(f"{SCHEMA}source"), one.pop(DATE, None)
        assert not one
        assert key not in edges
        edges[key] = (score, source, date)
    return edges


def score_term(text):
    if not text:
        return None
    kind = "string" if not is_number(text) else "double" if "e" in text.lower() else "decimal"
    return text, XSD + kind


@FEW
@given(graphs(), st.booleans(), st.sampled_from(sorted(READERS)))
def test_rdf_holds_the_graph(graph, scores, reader):
    with written(graph, "RDF-N3", scores=scores) as (folder, rows):
        for stem, negative in EDGES.items():
            statements = READERS[reader](folder / f"{stem}.N3")
            plain = {(curie(s), term(p), curie(o)) for s, p, o in statements if not s.startswith("_:")}
            expected = {
                key[:3]: (score_term(values[0] if scores else ""), (values[1], f"{XSD}string"), values[2])
                for key, values in graph.edges.items()
                if key[3] == negative
            }
            names = (
                ("NegativePropertyAssertion", "sourceIndividual", "assertionProperty", "targetIndividual")
                if negative
                else ("Statement", "subject", "predicate", "object")
            )
            found = described(statements, *[(OWL if negative else RDF) + name for name in names])
            assert {
                key: (score, source, date[0] if date else "") for key, (score, source, date) in found.items()
            } == expected
            assert plain == (set() if negative else set(expected)), "true negatives must not be asserted"
            assert rows[f"{stem}.N3"] == len(expected)
        for stem in NODES:
            statements = READERS[reader](folder / f"{stem}.N3")
            nodes = graph.nodes(stem)
            assert {(curie(s), term(o)) for s, p, o in statements if p == A} == nodes
            named = {(curie(s), o[0]) for s, p, o in statements if p == LABEL}
            assert named == {(one, graph.names[one]) for one, _ in nodes if one in graph.names}


def test_rdf_as_it_is_documented():
    with written(SMALL, "RDF-N3") as (folder, _):
        edges, negatives = body(folder / "edges.N3"), body(folder / "TN_edges.N3")
        gene, disease = "<https://identifiers.org/NCBIGENE:10>", "<https://identifiers.org/DOID:1>"
        digest = hashlib.md5(b"NCBIGENE:10\tGENE_DIS\tDOID:1").hexdigest()
        assert f"{gene} obl:GENE_DIS {disease} ." in edges
        assert (
            f"_:p{digest} a rdf:Statement ; rdf:subject {gene} ; rdf:predicate obl:GENE_DIS ; rdf:object {disease} ; "
            'obl:score "0.25"^^xsd:decimal ; obl:source "DisGeNET" ; dcterms:date "2019" .'
        ) in edges
        assert len(edges) == 6
        assert len(negatives) == 1
        assert re.match(
            r'_:n\w+ a owl:NegativePropertyAssertion ; .* ; obl:score "1e-5"\^\^xsd:double ; ', negatives[0]
        )
        assert any('; obl:score "gold quality" ; obl:source "ClinGen" .' in line for line in edges)
        assert f"{disease} a obl:PHENOTYPE ; rdfs:label " in (folder / "nodes.N3").read_text()


# --- Neo4j ---


@FEW
@given(graphs(), st.booleans())
def test_neo4j_holds_the_graph(graph, scores):
    with written(graph, "Neo4j", scores=scores) as (folder, rows):
        with (folder / "neo4j_nodes.csv").open(encoding="utf-8", newline="") as stream:
            header, *nodes = csv.reader(stream, strict=True)
        assert header == ["id:ID", "name", ":LABEL"]
        ids = sorted({one for one, _ in graph.nodes("ALL_nodes")}, key=str.encode)
        assert nodes == [[one, graph.names.get(one, ""), ";".join(sorted(graph.types[one]))] for one in ids]
        with (folder / "neo4j_edges.csv").open(encoding="utf-8", newline="") as stream:
            header, *edges = csv.reader(stream, strict=True)
        assert header == [":START_ID", ":END_ID", ":TYPE", "score", "source", "date", "negative:boolean"]
        expected = [
            [h, t, f"NOT_{r}" if no else r, score if scores else "", source, date, "true" if no else "false"]
            for (h, r, t, no), (score, source, date) in graph.edges.items()
        ]
        assert sorted(edges) == sorted(expected)
        assert rows == {"neo4j_nodes.csv": len(nodes), "neo4j_edges.csv": len(edges)}
        assert (folder / "neo4j_edges.csv").read_bytes().count(b"\n") == len(edges) + 1


def test_neo4j_marks_what_is_absent_by_nothing_and_not_by_an_empty_text():
    with written(SMALL, "Neo4j") as (folder, _):
        assert "DOID:1,DOID:2,IS_A,,DO,,false\n" in (folder / "neo4j_edges.csv").read_text()
        assert "DOID:2,,DIS\n" in (folder / "neo4j_nodes.csv").read_text()


def test_neo4j_refuses_what_its_import_would_misread():
    types = {"X:1": {"A;B"}, "X:2": {"A"}}
    graph = Graph(edges={("X:1", "R", "X:2", False): ("", "S", "")}, types=types)
    with pytest.raises(InputError, match="'A;B' is a node type with ';'"), written(graph, "Neo4j"):
        pass
    graph = Graph(edges=graph.edges, types={"X:1": {"A"}, "X:2": {"A"}}, names={"X:2": "two\nlines"})
    with pytest.raises(InputError, match=r"'two\\nlines' holds a line end"), written(graph, "Neo4j"):
        pass


# --- GraphML ---


@FEW
@given(graphs(), st.booleans())
def test_graphml_holds_the_graph(graph, scores):
    with written(graph, "GraphML", scores=scores) as (folder, rows):
        for file, stem, negative in (("graph.graphml", "nodes", False), ("TN_graph.graphml", "TN_nodes", True)):
            read = nx.read_graphml(folder / file, force_multigraph=True)
            assert read.is_directed()
            assert {one: values.get("type") for one, values in read.nodes(data=True)} == {
                one: ";".join(sorted(graph.types[one])) for one, _ in graph.nodes(stem)
            }
            assert {one: values["name"] for one, values in read.nodes(data=True) if "name" in values} == {
                one: name for one, name in graph.names.items() if one in read
            }
            found = {
                (h, values["relation"], t): tuple(values.get(key, "") for key in ("score", "source", "date"))
                for h, t, values in read.edges(data=True)
            }
            assert found == {
                key[:3]: (score if scores else "", source, date)
                for key, (score, source, date) in graph.edges.items()
                if key[3] == negative
            }
            assert rows[file] == read.number_of_nodes() + read.number_of_edges()
            assert len(found) == read.number_of_edges()


def test_graphml_is_in_the_order_and_namespace_of_the_format():
    with written(SMALL, "GraphML") as (folder, _):
        root = ET.parse(folder / "graph.graphml").getroot()
    tags = [child.tag.removeprefix("{http://graphml.graphdrawing.org/xmlns}") for child in root]
    assert root.tag == "{http://graphml.graphdrawing.org/xmlns}graphml"
    assert tags == ["key"] * 6 + ["graph"]
    inner = [child.tag.rpartition("}")[2] for child in root[-1]]
    assert inner == ["node"] * 3 + ["edge"] * 3
    assert [edge.get("target") for edge in root[-1] if edge.tag.endswith("edge")] == ["DOID:2", "DOID:1", "DOID:2"]


def test_graphml_refuses_a_graph_too_big_for_its_readers(monkeypatch):
    monkeypatch.setattr(graphml, "MOST_EDGES", 3)
    with written(SMALL, "GraphML") as (_, rows):
        assert rows["graph.graphml"] == 6
    monkeypatch.setattr(graphml, "MOST_EDGES", 2)
    with (
        pytest.raises(InputError, match=r"has 3 edges, expected at most 2.*nothing was written.*take Parquet"),
        written(SMALL, "GraphML"),
    ):
        pass


@pytest.mark.parametrize("letter", ["\x00", "\x01", "\x0b", "\x1f", "\ufffe", "\uffff"])
def test_graphml_refuses_what_xml_cannot_say(letter):
    graph = Graph(edges=SMALL.edges, types=SMALL.types, names={"DOID:1": f"a{letter}b"})
    with pytest.raises(InputError, match="holds a character that XML does not have"), written(graph, "GraphML"):
        pass


# --- all of them ---


@pytest.mark.parametrize("letter", ["\x01", "\x0b", "\x1b", "\x7f", "\x9f", "\ufffe", "\U0010ffff"])
def test_control_characters_come_through(letter):
    one, two = f"X:a{letter}", f"X:{letter}b"
    graph = Graph(
        edges={(one, "R", two, False): ("", f"S{letter}", "")},
        types={one: {"A"}, two: {"A"}},
        names={one: f"{letter}n"},
    )
    with written(graph, "RDF-N3") as (folder, _):
        for reader in READERS.values():
            statements = reader(folder / "edges.N3")
            assert (one, "R", two) in {(curie(s), term(p), curie(o)) for s, p, o in statements if s[0] != "_"}
            assert (f"S{letter}", f"{XSD}string") in {o for _, _, o in statements}
            assert (f"{letter}n", f"{XSD}string") in {o for _, _, o in reader(folder / "nodes.N3")}
    with (
        written(graph, "Neo4j") as (folder, _),
        (folder / "neo4j_nodes.csv").open(encoding="utf-8", newline="") as stream,
    ):
        assert [one, f"{letter}n", "A"] in list(csv.reader(stream, strict=True))


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=6, deadline=None)
@given(graphs(), st.integers(0, 3))
def test_bytes_do_not_depend_on_the_order_of_rows_or_threads(name, graph, shuffle):
    with written(graph, name, threads=1) as (first, _), written(graph, name, threads=3, shuffle=shuffle) as (second, _):
        assert [(path.name, path.read_bytes()) for path in sorted(first.iterdir())] == [
            (path.name, path.read_bytes()) for path in sorted(second.iterdir())
        ]


@pytest.mark.parametrize("name", FORMATS)
def test_an_empty_graph_gives_valid_files(name):
    with written(Graph(edges={}, types={}), name) as (folder, rows):
        assert set(rows.values()) == {0}
        for path in folder.iterdir():
            if path.suffix == ".N3":
                assert all(reader(path) == set() for reader in READERS.values())
            elif path.suffix == ".graphml":
                assert nx.read_graphml(path).number_of_nodes() == 0
            elif path.suffix == ".parquet":
                assert pa.parquet.read_table(path).num_rows == 0
            else:
                assert len(path.read_text().splitlines()) == (name == "Neo4j")
    with written(Graph(edges={}, types={}), name, multi_file=True) as (_, rows):
        assert bool(rows) == (name not in {"TSV", "RDF-N3"})


def create_many_edges(connection):
    """Tables of 150,000 edges in no order: more than the database hands on at once."""
    connection.execute("""
        CREATE TABLE edges AS SELECT 'NCBIGENE:' || hash(i) AS head, 'R' || (i % 7) AS relation,
            'GO:' || (hash(i + 1) % 1000) AS tail, CASE WHEN i % 3 = 0 THEN '' ELSE (i % 1000)::VARCHAR END AS score,
            'S' AS source, i % 10 = 0 AS negative, 'GENE' AS head_type, 'GO' AS tail_type, '' AS rule
        FROM range(150000) AS t(i);
        CREATE TABLE dates (head VARCHAR, relation VARCHAR, tail VARCHAR, negative BOOLEAN, date VARCHAR);
        CREATE TABLE names (id VARCHAR, name VARCHAR, kind VARCHAR);
        CREATE TABLE all_nodes AS SELECT head AS id, 'GENE' AS type FROM edges UNION SELECT tail, 'GO' FROM edges;
        CREATE TABLE nodes AS FROM all_nodes; CREATE TABLE tn_nodes AS FROM all_nodes
    """)


STARTS = {  # the file of the edges, and how the line of one begins
    "TSV": ("edges.csv", r"^(NCBIGENE:\d+)\t"),
    "RDF-N3": ("edges.N3", r"^<https://identifiers.org/(NCBIGENE:\d+)> obl:"),
    "Neo4j": ("neo4j_edges.csv", r"^(NCBIGENE:\d+),.*,false$"),
    "GraphML": ("graph.graphml", r'^<edge source="(NCBIGENE:\d+)"'),
}


@pytest.mark.parametrize("name", FORMATS)
def test_large_files_are_sorted_and_the_same_with_any_number_of_threads(name, tmp_path):
    digests = []
    for threads in (1, 4):
        folder = tmp_path / str(threads)
        folder.mkdir()
        context = WriterContext(catalogue=CATALOGUE, options=OutputOptions(), directed=True, note=pytest.fail)
        with duckdb.connect(config={"threads": threads}) as connection:
            create_many_edges(connection)
            rows = WRITERS[name](connection, folder, context)
        digests.append({file: hashlib.sha256((folder / file).read_bytes()).hexdigest() for file in rows})
    assert digests[0] == digests[1]
    if name == "Parquet":
        heads = pa.parquet.read_table(folder / "edges.parquet")["head"].to_pylist()
    else:
        file, start = STARTS[name]
        heads = re.findall(start, (folder / file).read_text(), flags=re.MULTILINE)
    assert len(heads) == 135_000
    assert heads == sorted(heads)


def test_formats_are_found_in_any_letter_case():
    for name in FORMATS:
        assert find_format(name.lower()) == find_format(name.upper()) == name
        assert name in WRITERS
    with pytest.raises(InputError, match="--output-format rdf: there is no such format; choose among TSV, Parquet"):
        find_format("rdf")


def test_no_other_file_is_taken_for_ours():
    others = ["notes.txt", "edges.csv.bak", "nodes_mine.csv", "edges_GENE_DIS.txt", "ALL_edges_X.csv", "xnodes_A.csv"]
    others += ["TN_ALL_nodes_A.csv", "TN_graph.csv"]
    for name in [*others, "", "nodes_A.csv\n", "nodes_.csv", "edges_../x.csv"]:
        assert not owned_file(name)
    for name in ("positive.bel.gz", "negative.bel.nodelink.json.gz", "kgx_nodes.tsv", "kgx_edges.tsv"):
        assert owned_file(name)
