"""The graph is what a naive builder gives, its files state laws that hold, and bad input changes nothing."""

import gzip
import hashlib
import json
import os
import random
import re
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from openbiolink.cli import main
from openbiolink.errors import InputError, OpenBioLinkError
from openbiolink.graph import GRAPH_FILES, GraphOptions, generate_graph
from openbiolink.graph.ledger import REASONS, LedgerEntry, check_ledger
from openbiolink.schema import load_schema
from oracles.graph import build
from source_files import (
    DEMO,
    PROTEIN,
    annotation_row,
    as_gzip,
    as_windows,
    assert_as_expected,
    demo_sources,
    edition,
    gaf_row,
    generate,
    ontologies,
    read_graph,
    read_rows,
    rewritten,
    write,
    write_annotations,
    write_disease_mappings,
    write_dump,
    write_entrez,
    write_expression,
    write_gaf,
    write_gene_disease,
    write_id_mapping,
    write_links,
    write_obo,
    write_string_actions,
)

SCHEMA = load_schema()
WAYS = {
    "all": ("all", True), "low": ("low", True), "medium": ("medium", True), "high": ("high", True),
    "undirected": ("all", False),
}  # fmt: skip
REASON_NAMES = {"read", *REASONS.values()}
WITHOUT_ROWS = {"stats.txt", "tn_stats.txt", "ledger.tsv", "LICENSE.txt", "croissant.json"}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The graph of the demo at each quality, directed, and once undirected."""
    folder = tmp_path_factory.mktemp("demo")
    return {
        way: generate(demo_sources(), folder / way, quality=quality, directed=directed)
        for way, (quality, directed) in WAYS.items()
    }


def test_the_files_of_a_graph_are_these():
    documented = "ALL_nodes.csv edges.csv edges_list.csv nodes.csv nodes_list.csv TN_edges.csv TN_edges_list.csv"
    documented += " TN_nodes.csv TN_nodes_list.csv ids_no_mapping.tsv tn_ids_no_mapping.tsv stats.txt tn_stats.txt"
    documented += " node_names.tsv edge_dates.tsv TN_edge_dates.tsv conflicts.tsv ledger.tsv manifest.json LICENSE.txt"
    assert {*documented.split(), "croissant.json"} == GRAPH_FILES


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


ABOUT_INPUTS = {"manifest.json", "croissant.json"}


def without_inputs(files):
    """What manifest and description say, but for checksums and sizes of input files, and of the description itself."""
    manifest, described = (json.loads(files[name]) for name in ("manifest.json", "croissant.json"))
    for entry in (*manifest["inputs"].values(), manifest["outputs"]["croissant.json"]):
        del entry["sha256"], entry["bytes"]
    for entry in described["prov:wasDerivedFrom"]:
        del entry["sc:sha256"]
    return manifest, described


def assert_same_graph(one, other):
    """All files of two graphs are the same bytes, but for what is said of the inputs' bytes."""
    first, second = files_of(one), files_of(other)
    assert first.keys() == second.keys()
    assert [name for name in first if name not in ABOUT_INPUTS and first[name] != second[name]] == []
    assert without_inputs(first) == without_inputs(second)


# ------------------------------------------------------------------------------------------------ the naive builder


@pytest.mark.parametrize("way", WAYS)
def test_the_demo_graph_is_what_a_naive_builder_gives(demo, way):
    quality, directed = WAYS[way]
    assert_as_expected(demo[way], build(demo_sources(), quality=quality, directed=directed))


NUMBERS = [
    "0",
    "1",
    "399",
    "400",
    "401",
    "699",
    "700",
    "701",
    "700.0",
    "7e2",
    "0.4",
    "0.41",
    "0.7",
    "0.70",
    ".9",
    "+900",
]
scores = st.sampled_from([*NUMBERS, "900", "0900", "1000", "-1", "NA", "-", "abc", "nan", "inf", "1e999", "1.2.3", ""])
genes = st.sampled_from(["990001", "990002", "990003", "990001|990002", "990003|990001"])
proteins = st.sampled_from([PROTEIN(number) for number in range(1, 6)] + ["9606.ENSP9", "10090.ENSP1"])
ways = {"quality": st.sampled_from(["all", "low", "medium", "high"]), "directed": st.booleans()}
PLAIN = {PROTEIN(number): f"9900{number}" for number in range(10, 31)}  # what a layout without a header is told by
few = settings(  # a build takes a quarter of a second: few examples, and failing ones are shown as they are
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow], phases=[Phase.reuse, Phase.generate]
)


def check(folder, sources, quality, directed):
    graph = generate(sources, folder / "graph", quality=quality, directed=directed)
    assert_as_expected(graph, build(sources, quality=quality, directed=directed))
    return graph


@given(
    entrez=st.dictionaries(proteins, genes), rows=st.lists(st.tuples(proteins, proteins, scores), min_size=1), **ways
)
@few
def test_symmetric_relations_of_any_rows(tmp_path_factory, entrez, rows, quality, directed):
    folder = tmp_path_factory.mktemp("string")
    sources = {
        "string.entrez": write_entrez(folder, {**PLAIN, **entrez, PROTEIN(8): "x|NCBIGENE:990002|"}),
        "string.links": write_links(folder, (" ".join(row) for row in rows)),
    }
    graph = check(folder, sources, quality, directed)
    if directed:
        assert {(tail, relation, head): value for (head, relation, tail), value in graph.edges.items()} == graph.edges


@given(
    entrez=st.dictionaries(proteins, genes),
    rows=st.lists(
        st.tuples(
            proteins, proteins, st.sampled_from(["activation", "binding", "ptmod", "reaction", "other"]),
            st.sampled_from(["", "activation", "inhibition"]), st.sampled_from("tf"), st.sampled_from("tf"),
            scores.filter(bool),
        ),
        min_size=1, max_size=20,
    ),
    **ways,
)  # fmt: skip
@few
def test_actions_of_any_rows(tmp_path_factory, entrez, rows, quality, directed):
    folder = tmp_path_factory.mktemp("actions")
    sources = {
        "string.entrez": write_entrez(folder, {**PLAIN, **entrez, PROTEIN(8): "x|NCBIGENE:990002|"}),
        "string.actions": write_string_actions(folder, (" ".join(row) for row in rows)),
    }
    check(folder, sources, quality, directed)


diseases = st.sampled_from(["C9900001", "umls:C9900002", "UMLS:C9900003", "C9900004", '"C9900001"', "X", ""])
doids = st.sampled_from(
    ["9900000", "DOID:9900001", "9900002", "doid:9900003", "9900090", "9900091", "9999998", "x", ""]
)


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["990001", "0990001", "NCBIGENE:990002", "entrez:990003", "x", ""]), diseases,
            scores | st.sampled_from(['"0.8"', " 0.5 ", '""']),
        ),
        min_size=1,
    ),
    mappings=st.lists(st.tuples(diseases, st.sampled_from(["DO", "OMIM"]), doids), min_size=1),
    terms=ontologies("DOID"),
    **ways,
)  # fmt: skip
@few
def test_diseases_of_any_rows(tmp_path_factory, rows, mappings, terms, quality, directed):
    folder = tmp_path_factory.mktemp("disease")
    sources = {
        "disgenet.gene_disease": write_gene_disease(folder, rows),
        "disgenet.mappings": write_disease_mappings(folder, mappings),
        "do.ontology": write_obo(folder / "doid.obo", terms),
    }
    check(folder, sources, quality, directed)


accessions = st.sampled_from(["X90001", "X90002", "X90003", "UNIPROTKB:X90001", "uniprot:X90002", "X9"])
go_ids = st.sampled_from(
    [f"GO:99000{n:02d}" for n in range(5)] + ["GO:9900090", "go:9900091", "GO:99", "GO:9999998", ""]
)


@given(
    rows=st.lists(
        st.builds(
            gaf_row, accessions, go_ids,
            qualifier=st.sampled_from(["", "enables", "NOT", "NOT|enables", "enables | NOT", "NOTHING", "not"]),
            evidence=st.sampled_from(["IDA", "IEA", "ND", "ZZZ", "", "IBA"]),
            taxon=st.sampled_from(["taxon:9606", "taxon:9606|taxon:562", "taxon:562|taxon:9606", "taxon:96060"]),
        ),
        min_size=1, max_size=20,
    ),
    mapping=st.dictionaries(
        st.sampled_from(["X90001", "X90002", "X90003"]), st.sampled_from(["", "990001", "990001; 990002", "990003; "]),
        min_size=1,
    ),
    terms=ontologies("GO"),
    **ways,
)  # fmt: skip
@few
def test_annotations_of_any_rows(tmp_path_factory, rows, mapping, terms, quality, directed):
    folder = tmp_path_factory.mktemp("go")
    mapping = {accession: gene.removesuffix("; ") for accession, gene in mapping.items()}
    sources = {
        "go.annotations": write_gaf(folder, rows),
        "uniprot.id_mapping": write_id_mapping(folder, mapping),
        "go.ontology": write_obo(folder / "go-basic.obo", terms),
    }
    check(folder, sources, quality, directed)


anatomies = st.sampled_from(
    ["UBERON:9900001", "UBERON:9900002", "CL:9900001", "UBERON:9900001 ∩ CL:9900001", "uberon:9900090", ""]
)


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["ENSG99000000001", "ENSG99000000002.3", "ENSG99000000003", "x"]), anatomies,
            st.sampled_from(["present", "absent", "maybe"]),
            st.sampled_from(["gold quality", "silver quality", "bronze quality", "tin quality", "NA"]),
        ),
        min_size=1, max_size=20,
    ),
    ensembl=st.dictionaries(
        st.sampled_from(["X90001", "X90002", "X90003"]),
        st.sampled_from(["ENSG99000000001", "ENSG99000000001.4; ENSG99000000002", "ENSG99000000003", ""]), min_size=1,
    ),
    terms=ontologies("UBERON"),
    **ways,
)  # fmt: skip
@few
def test_expression_of_any_rows(tmp_path_factory, rows, ensembl, terms, quality, directed):
    folder = tmp_path_factory.mktemp("bgee")
    mapping = {"X90001": "990001", "X90002": "990002; 990003", "X90003": ""}
    sources = {
        "bgee.expression": write_expression(folder, rows),
        "uniprot.id_mapping": write_id_mapping(folder, mapping, ensembl),
        "uberon.ontology": write_obo(folder / "ext.obo", terms),
    }
    graph = check(folder, sources, quality, directed)
    assert {row[:3] for row in graph.rows("conflicts.tsv")} == graph.edges.keys() & graph.negatives.keys()


entries = st.sampled_from(
    ["OMIM:990001", "MIM:990002", "omim:990003", "OMIM:PS990001", "ORPHA:9901", "DECIPHER:9", "x"]
)
phenotypes = st.sampled_from([f"HP:99000{number:02d}" for number in range(5)] + ["HP:9900090", "HP:9900091", "HP:1"])


@given(
    rows=st.lists(
        st.builds(
            annotation_row, entries, phenotypes, qualifier=st.sampled_from(["", "", "NOT"]),
            evidence=st.sampled_from(["PCS", "TAS", "IEA", "ICE", ""]), aspect=st.sampled_from("PPPIOC"),
        ),
        min_size=1, max_size=20,
    ),
    more=st.lists(
        st.tuples(entries, phenotypes, st.sampled_from(["NOT", "NOT", ""]), st.sampled_from(["TAS", "IEA"])), min_size=1
    ),
    signs=ontologies("HP"),
    known=st.dictionaries(st.sampled_from(["DOID:9900000", "DOID:9900001"]), st.lists(entries, max_size=3), min_size=1),
    **ways,
)  # fmt: skip
@few
def test_phenotypes_of_any_rows(tmp_path_factory, rows, more, signs, known, quality, directed):
    folder = tmp_path_factory.mktemp("hpo")
    negated = (
        "\t".join([*entry.partition(":")[::2], "x", qualifier, phenotype, "x", evidence, *[""] * 3, "P", *[""] * 4])
        for entry, phenotype, qualifier, evidence in more
    )
    sources = {
        "hpo.disease_phenotype": write_annotations(folder, rows),
        "hpo.disease_phenotype_negated": write(folder / "phenotype_annotation_negated.tab", negated),
        "hpo.ontology": write_obo(folder / "hp.obo", signs),
        "do.ontology": write_obo(
            folder / "doid.obo", {term: [f"xref: {one}" for one in entries] for term, entries in known.items()}
        ),
    }
    if any(not re.fullmatch(r"HP:\d{7}", phenotype) for _, phenotype, *_ in more):
        del sources["hpo.disease_phenotype_negated"]  # a layout without a header is told by such ids
    check(folder, sources, quality, directed)


# ------------------------------------------------------------------------------------------------------------ laws


@pytest.mark.parametrize("way", WAYS)
def test_every_row_read_is_counted_under_exactly_one_reason(demo, way):
    graph = demo[way]
    assert set(graph.ledger) == set(edition().rules)
    for rule, counts in graph.ledger.items():
        assert {reason.split(":")[0] for reason in counts} <= REASON_NAMES, rule
        assert counts["read"] == sum(rows for reason, rows in counts.items() if reason != "read"), rule
    order = [row[2] for row in graph.rows("ledger.tsv")[1:]]
    places = [["read", *REASONS.values()].index(reason.split(":")[0]) for reason in order]
    starts = [place for place, reason in enumerate(order) if reason == "read"]
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        assert places[start:end] == sorted(places[start:end])


@pytest.mark.parametrize("way", WAYS)
def test_the_edges_of_the_ledger_are_those_of_the_graph(demo, way):
    graph, rules = demo[way], edition().rules
    for edges, negative in ((graph.edges, False), (graph.negatives, True)):
        assert sum(given for rule, given in graph.given.items() if rules[rule].negative == negative) == len(edges)


@pytest.mark.parametrize("way", WAYS)
def test_nodes_are_the_ends_of_edges_and_nothing_else(demo, way):
    graph = demo[way]
    found = {name: dict(graph.rows(name)) for name in ("nodes.csv", "TN_nodes.csv", "ALL_nodes.csv")}
    ends = [{end for head, _, tail in edges for end in (head, tail)} for edges in (graph.edges, graph.negatives)]
    assert found["nodes.csv"].keys() == ends[0]
    assert found["TN_nodes.csv"].keys() == ends[1]
    assert found["ALL_nodes.csv"] == found["nodes.csv"] | found["TN_nodes.csv"]
    for name, nodes in found.items():
        assert len(nodes) == len(graph.rows(name))
        assert set(nodes.values()) <= set(SCHEMA.node_types)
    for prefix, edges in (("", graph.edges), ("TN_", graph.negatives)):
        assert [row[0] for row in graph.rows(f"{prefix}edges_list.csv")] == sorted({edge[1] for edge in edges})
        assert [row[0] for row in graph.rows(f"{prefix}nodes_list.csv")] == sorted(
            set(found[f"{prefix}nodes.csv"].values())
        )


@pytest.mark.parametrize("way", WAYS)
def test_every_id_has_a_registered_prefix_its_pattern_and_the_right_type(demo, way):
    types = dict(demo[way].rows("ALL_nodes.csv"))
    for curie, kind in types.items():
        prefix, _, local = curie.partition(":")
        assert re.fullmatch(SCHEMA.prefixes[prefix].pattern, local), curie
        assert SCHEMA.canonical(curie) == curie
        assert SCHEMA.node_type(curie) == kind
    for head, relation, tail in (*demo[way].edges, *demo[way].negatives):
        assert SCHEMA.relation(relation).head in {"*", types[head]}
        assert SCHEMA.relation(relation).tail in {"*", types[tail]}
        assert head != tail


@pytest.mark.parametrize("way", WAYS)
def test_files_are_sorted_by_bytes_and_end_their_lines_with_lf(demo, way):
    for name, raw in files_of(demo[way].folder).items():
        assert b"\r" not in raw, name
        assert not raw or raw.endswith(b"\n"), name
        if name not in {"manifest.json", *WITHOUT_ROWS}:
            rows = [line.split(b"\t") for line in raw.split(b"\n")[:-1]]
            assert rows == sorted(rows), name


@pytest.mark.parametrize("way", WAYS)
def test_the_manifest_tells_the_truth(demo, way):
    graph, (quality, directed) = demo[way], WAYS[way]
    manifest, files = graph.manifest, files_of(graph.folder)
    assert set(files) == GRAPH_FILES
    assert set(manifest["outputs"]) == GRAPH_FILES - {"manifest.json"}
    for name, output in manifest["outputs"].items():
        assert output["sha256"] == hashlib.sha256(files[name]).hexdigest()
        assert output["bytes"] == len(files[name])
        assert ("rows" in output) == (name not in WITHOUT_ROWS)
        assert output.get("rows", 0) in {0, files[name].count(b"\n")}
    assert set(manifest["inputs"]) == set(demo_sources())
    for name, path in demo_sources().items():
        entry, raw = manifest["inputs"][name], path.read_bytes()
        assert (entry["file"], entry["bytes"]) == (path.name, len(raw))
        assert entry["sha256"] == hashlib.sha256(raw).hexdigest()
        assert entry["licence"] == edition().sources[name].licence
        assert name in manifest["licences"][entry["licence"]]
    assert (manifest["edition"], manifest["options"]["quality"], manifest["directed"]) == ("2020", quality, directed)
    assert (manifest["missing_sources"], manifest["notes"]) == ({}, [])
    counts = manifest["counts"]
    assert (counts["edges"], counts["tn_edges"]) == (len(graph.edges), len(graph.negatives))
    assert (counts["nodes"], counts["all_nodes"]) == (len(graph.rows("nodes.csv")), len(graph.rows("ALL_nodes.csv")))
    assert sum(counts["node_types"].values()) == counts["nodes"]
    assert {name: entry["edges"] for name, entry in counts["relations"].items() if entry["edges"]} == {
        name: len(graph.pairs(name)) for name in SCHEMA.relations if graph.pairs(name)
    }
    listed = [
        (entry["rule"], entry["source"], entry["reason"], entry["rows"], entry["edges"]) for entry in manifest["ledger"]
    ]
    assert [tuple(str(cell) for cell in row) for row in listed] == graph.rows("ledger.tsv")[1:]


@pytest.mark.parametrize("way", WAYS)
def test_nothing_written_tells_where_or_when_it_was_written(demo, way):
    for name, raw in files_of(demo[way].folder).items():
        assert str(DEMO).encode() not in raw, name
        assert str(demo[way].folder.parent).encode() not in raw, name
        assert not re.search(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d", raw), name


@pytest.mark.parametrize("way", WAYS)
def test_conflicts_are_the_pairs_that_are_stated_and_denied(demo, way):
    graph = demo[way]
    expected = {
        (*edge, *graph.edges[edge], *graph.negatives[edge]) for edge in graph.edges.keys() & graph.negatives.keys()
    }
    assert expected
    assert graph.rows("conflicts.tsv") == sorted(expected)
    assert graph.manifest["counts"]["conflicts"] == len(expected)


@pytest.mark.parametrize("way", WAYS)
def test_statistics_agree_with_the_ledger(demo, way):
    graph, rules = demo[way], edition().rules
    for name, negative in (("stats.txt", False), ("tn_stats.txt", True)):
        header, *rows = graph.rows(name)
        assert (len(header), header[0], header[9]) == (16, "Edge Type", "Nr edges after mapping (final nr)")
        expected = []
        for rule in sorted((rules[rule].relation, rule) for rule in graph.ledger if rules[rule].negative == negative):
            counts = graph.ledger[rule[1]]
            early = sum(n for reason, n in counts.items() if reason.startswith(("negated", "filtered")))
            lost = sum(counts.get(reason, 0) for reason in ("obsolete", "unmapped_head", "unmapped_tail"))
            expected.append(
                [rule[0], counts["read"] - early, lost, counts.get("below_quality", 0), graph.given[rule[1]]]
            )
        assert [[row[0], *(int(row[place]) for place in (3, 4, 5, 9))] for row in rows] == expected
        for row in rows:
            for coverage, lost, total in (
                (row[6], row[4], row[3]),
                (row[14], row[10], row[12]),
                (row[15], row[11], row[13]),
            ):
                assert coverage == (str(1 - int(lost) / int(total)) if int(total) else "")


def test_higher_quality_never_adds_an_edge(demo):
    for more, fewer in (("all", "low"), ("low", "medium"), ("medium", "high")):
        assert demo[fewer].edges.keys() < demo[more].edges.keys() or more == "all"
        assert demo[fewer].edges.items() <= demo[more].edges.items()
        assert demo[fewer].negatives.items() <= demo[more].negatives.items()


def test_an_undirected_graph_has_one_orientation_of_symmetric_relations(demo):
    directed, undirected = demo["all"].edges, demo["undirected"].edges
    symmetric = {name for name, relation in SCHEMA.relations.items() if relation.symmetric}
    assert undirected == {
        (head, relation, tail): value
        for (head, relation, tail), value in directed.items()
        if relation not in symmetric or head < tail
    }
    assert demo["undirected"].negatives == demo["all"].negatives
    for head, relation, tail in directed:
        assert relation not in symmetric or directed[tail, relation, head] == directed[head, relation, tail]


def shuffled_rows(name, raw):
    """The file with its rows (of an ontology: its stanzas) in another order."""
    rng, text = random.Random(7), raw.decode("utf-8")
    kind = edition().sources[name].format
    if kind == "obo":
        header, *stanzas = text.rstrip("\n").split("\n\n")
        rng.shuffle(stanzas)
        return "\n\n".join([header, *stanzas, ""]).encode()
    lines = text.splitlines(keepends=True)
    if kind == "pgdump":
        start = None
        for place, line in enumerate(lines):
            if line.startswith("COPY "):
                start = place + 1
            elif line == "\\.\n":
                lines[start:place] = rng.sample(lines[start:place], place - start)
        return "".join(lines).encode()
    comments = sum(line.startswith(("#", "!")) for line in lines)
    layouts = edition().sources[name].layouts
    head = comments + (bool(layouts) and not comments and layouts[0].header == "first")
    return "".join([*lines[:head], *rng.sample(lines[head:], len(lines) - head)]).encode()


def test_neither_the_order_of_rows_nor_threads_change_a_byte(demo, tmp_path, monkeypatch):
    sources = rewritten(demo_sources(), tmp_path / "sources", shuffled_rows)
    assert all(path.read_bytes() != sources[name].read_bytes() for name, path in demo_sources().items())
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    graph = generate(sources, tmp_path / "graph")
    assert_same_graph(graph.folder, demo["all"].folder)


def test_line_ends_byte_order_marks_and_compression_change_nothing(demo, tmp_path):
    names = list(demo_sources())
    changes = (as_windows, as_gzip, lambda raw: as_gzip(as_windows(raw)), lambda raw: raw.rstrip(b"\n"))
    change = {name: changes[place % len(changes)] for place, name in enumerate(names)}
    sources = rewritten(demo_sources(), tmp_path / "sources", lambda name, raw: change[name](raw))
    graph = generate(sources, tmp_path / "graph")
    assert_same_graph(graph.folder, demo["all"].folder)


def test_other_processes_with_other_hashes_write_the_same_bytes(demo, tmp_path):
    command = [sys.executable, "-c", "from openbiolink.cli import main; main()", "-p"]
    for seed in ("1", "12345"):
        ended = subprocess.run(
            [*command, str(tmp_path / seed), "generate", "--source-map", str(DEMO / "sources.toml")],
            env={**os.environ, "PYTHONHASHSEED": seed, "TERM": "dumb"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        assert ended.stdout.strip() == str(tmp_path / seed / "graph_files")
    first, second = (files_of(tmp_path / seed / "graph_files") for seed in ("1", "12345"))
    assert first == second
    tables = {name: raw for name, raw in files_of(demo["all"].folder).items() if name.endswith(("csv", "tsv"))}
    assert tables == {name: raw for name, raw in first.items() if name in tables}


def test_a_ledger_that_does_not_add_up_fails_the_build():
    def entries(*rows):
        return [LedgerEntry(rule="R", source="s", reason=reason, rows=count) for reason, count in rows]

    check_ledger(entries(("read", 3), ("kept", 2), ("filtered:x", 1)), read=3)
    for wrong in (
        entries(("read", 3), ("kept", 2)),
        entries(("read", 2), ("kept", 2)),
        entries(("read", 3), ("kept", 2), ("lost", 1)),
        entries(("read", 3), ("kept", 2), ("kept", 1)),
    ):
        with pytest.raises(OpenBioLinkError, match="rule 'R'"):
            check_ledger(wrong, read=3)


# ------------------------------------------------------------------------------------------------- what is chosen


@pytest.fixture
def links(tmp_path):
    """A small pair of STRING files."""
    return {
        "string.entrez": write_entrez(tmp_path, {PROTEIN(1): "990001", PROTEIN(2): "990002|990003"}),
        "string.links": write_links(tmp_path, [f"{PROTEIN(1)} {PROTEIN(2)} 800", f"{PROTEIN(2)} {PROTEIN(1)} 900"]),
    }


@pytest.mark.parametrize("seed", range(3))
def test_of_equal_scores_the_smaller_text_stays_whatever_the_order(tmp_path, seed):
    rows = [f"{PROTEIN(1)} {PROTEIN(2)} {score}" for score in ("700.0", "0700", "7e2", "700", "699", "")]
    random.Random(seed).shuffle(rows)
    links = write_links(tmp_path, rows)
    entrez = write_entrez(tmp_path, {PROTEIN(1): "990001", PROTEIN(2): "990002"})
    graph = generate({"string.links": links, "string.entrez": entrez}, tmp_path / "graph")
    assert set(graph.edges.values()) == {("0700", "STRING")}
    assert graph.ledger["GENE_GENE"] == {"read": 6, "kept": 1, "duplicate": 5}


def test_a_row_that_fans_out_takes_the_first_of_its_reasons(tmp_path):
    best, both = f"{PROTEIN(1)} {PROTEIN(2)} 900", f"{PROTEIN(1)} {PROTEIN(3)} 800"  # 990001-990002; and 990001 itself
    links = write_links(tmp_path, [best, both, f"{PROTEIN(1)} {PROTEIN(1)} 700", f"{PROTEIN(1)} {PROTEIN(4)} 700"])
    genes = {PROTEIN(1): "990001", PROTEIN(2): "990002", PROTEIN(3): "990001|990002", PROTEIN(4): "990001|x"}
    sources = {"string.links": links, "string.entrez": write_entrez(tmp_path, {**PLAIN, **genes})}
    graph = generate(sources, tmp_path / "graph")
    assert graph.ledger["GENE_GENE"] == {"read": 4, "kept": 1, "duplicate": 1, "self_loop": 1, "unmapped_tail": 1}
    assert_as_expected(graph, build(sources))


def test_a_missing_source_leaves_its_relations_out_and_says_so(tmp_path):
    sources = {name: path for name, path in demo_sources().items() if not name.startswith("string")}
    graph = generate({**sources, "string.links": demo_sources()["string.links"]}, tmp_path / "graph", quality="high")
    assert "GENE_DRUG" in graph.manifest["missing_sources"]["string.entrez"]
    assert "GENE_GENE" in graph.manifest["missing_sources"]["string.entrez"]
    assert set(graph.manifest["missing_sources"]) == {"string.entrez", "string.actions"}
    assert not any("GENE_GENE" in edge or "GENE_DRUG" in edge for edge in graph.edges)
    assert not {"GENE_GENE", "GENE_DRUG"} & graph.ledger.keys()
    assert ("GENE_GENE",) not in graph.rows("edges_list.csv")


def test_a_relation_can_be_asked_for_by_name(links, tmp_path):
    graph = generate({**demo_sources(), **links}, tmp_path / "graph", relations=("GENE_GENE",))
    assert set(graph.manifest["inputs"]) == set(links)
    assert set(graph.ledger) == {"GENE_GENE"}
    assert len(graph.edges) == 4
    assert set(graph.edges.values()) == {("900", "STRING")}
    negatives = generate(demo_sources(), tmp_path / "other", relations=("DIS_DRUG",))
    assert negatives.edges.keys() | negatives.negatives.keys()
    assert {edge[1] for edge in (*negatives.edges, *negatives.negatives)} == {"DIS_DRUG"}
    assert negatives.negatives


@pytest.mark.parametrize("excluded", ["string", "string.links"])
def test_a_source_can_be_left_out(links, tmp_path, excluded):
    sources = {**links, "hpo.ontology": demo_sources()["hpo.ontology"]}
    graph = generate(sources, tmp_path / "graph", excluded_sources=(excluded,))
    assert set(graph.manifest["inputs"]) == {"hpo.ontology"}
    assert {edge[1] for edge in graph.edges} == {"IS_A"}
    assert "string.links" in graph.manifest["missing_sources"]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"relations": ("GENE_GENES",)}, "--relation GENE_GENES: .*did you mean 'GENE_GENE'.*it has .*DRUG_PHENOTYPE"),
        ({"relations": ("GENE_GO",)}, "--relation GENE_GO: needs the sources .*go.annotations"),
        ({"excluded_sources": ("sider.side_effect",)}, "--exclude-source sider.side_effect: .*did you mean"),
        ({"excluded_sources": ("string",)}, "none of the relations of edition 2020 can be built"),
    ],
)
def test_options_that_cannot_be_met_are_refused(links, tmp_path, options, named):
    with pytest.raises(InputError, match=named) as caught:
        generate(links, tmp_path / "graph", **options)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "graph").exists()


def test_progress_tells_each_source_and_ends(links, tmp_path):
    steps: list[tuple[str, int, int]] = []
    generate_graph(edition(), links, tmp_path / "graph", progress=lambda *step: steps.append(step))
    assert {f"read {name}" for name in links} <= {step for step, _, _ in steps}
    assert all(0 <= done <= total for _, done, total in steps)
    assert steps[-1][1] == steps[-1][2]


# -------------------------------------------------------------------------------------------------------- bad input


def spoilt(links, name, raw):
    links[name].write_bytes(raw)
    return links


BAD = {
    "truncated gzip": (lambda raw: gzip.compress(raw * 50)[:60], r"9606\.protein\.links\.txt: .*(too early|damaged)"),
    "nothing": (lambda raw: b"", r"9606\.protein\.links\.txt: is empty"),
    "binary": (lambda raw: bytes(range(256)) * 30, r"9606\.protein\.links\.txt"),
    "another table": (
        lambda raw: b"a\tb\tc\n1\t2\t3\n",
        "fits no known layout of string.links .*'links', expects columns",
    ),
    "a web page": (lambda raw: b"<html>\n<body>404</body>\n</html>\n", r"links\.txt: is a web page"),
    "a row cut short": (lambda raw: raw + b"9606.ENSP1 9606.ENSP2\n", r"links\.txt, line 4 \(2 cells\)"),
    "not UTF-8": (lambda raw: raw + b"9606.\xff 9606.ENSP2 1\n", r"links\.txt.*UTF-8"),
}


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_file_ends_in_one_line_and_leaves_the_old_graph(links, tmp_path, fault):
    folder = tmp_path / "out" / "graph_files"
    generate(links, folder)
    before = files_of(folder)
    change, named = BAD[fault]
    with pytest.raises(InputError, match=named) as caught:
        generate(spoilt(links, "string.links", change(links["string.links"].read_bytes())), folder)
    assert "\n" not in str(caught.value)
    assert files_of(folder) == before
    assert [entry.name for entry in folder.parent.iterdir()] == ["graph_files"]


def test_a_file_that_vanished_is_named(links, tmp_path):
    links["string.entrez"].unlink()
    with pytest.raises(InputError, match=r"human\.entrez_2_string\.tsv: no such file"):
        generate(links, tmp_path / "graph")
    assert not (tmp_path / "graph").exists()


def test_a_folder_with_foreign_files_is_left_alone(links, tmp_path):
    folder = tmp_path / "graph"
    generate(links, folder)
    (folder / "notes.txt").write_text("mine")
    before = files_of(folder)
    with pytest.raises(InputError, match=r"graph: holds notes\.txt"):
        generate(links, folder, quality="high")
    assert files_of(folder) == before


@pytest.mark.parametrize("name", ["edges_MINE.csv", "edges.parquet", "graph.graphml"])
def test_a_file_that_only_looks_like_one_of_ours_is_foreign(links, tmp_path, name):
    folder = tmp_path / "graph"
    folder.mkdir()
    (folder / "edges.csv").write_text("my work")
    with pytest.raises(InputError, match=r"graph: holds edges\.csv"):
        generate(links, folder)
    (folder / "edges.csv").unlink()
    generate(links, folder)
    (folder / name).write_text("mine")
    with pytest.raises(InputError, match=rf"graph: holds {name}"):
        generate(links, folder)
    assert (folder / name).read_text() == "mine"


def test_an_interrupted_build_leaves_the_old_graph_at_every_step(links, tmp_path):
    folder = tmp_path / "out" / "graph"
    generate(links, folder)
    before, steps = files_of(folder), []
    generate_graph(edition(), links, tmp_path / "counted", progress=lambda *step: steps.append(step))
    for stop in range(len(steps)):
        calls = iter(range(len(steps)))

        def interrupt(*_, calls=calls, stop=stop):
            if next(calls) == stop:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            generate_graph(edition(), links, folder, options=GraphOptions(quality="high"), progress=interrupt)
        assert files_of(folder) == before
        assert [entry.name for entry in folder.parent.iterdir()] == ["graph"]


def test_a_new_graph_replaces_the_old_one_whole(links, tmp_path):
    folder = tmp_path / "graph"
    generate(links, folder)
    generate(links, folder, directed=False)
    assert len(read_graph(folder).edges) == 2
    assert set(files_of(folder)) == GRAPH_FILES


def test_an_escaped_tab_in_a_dump_breaks_no_file(tmp_path):
    dump = write_dump(tmp_path, ["99\\t01\tindication\tC9900001"], ["990001\tPUBCHEM_CID\t9901"])
    sources = {**demo_sources(), "drugcentral.dump": dump}
    try:
        graph = generate(sources, tmp_path / "graph", relations=("DIS_DRUG",))
    except InputError as error:
        assert "\n" not in str(error)
        assert not (tmp_path / "graph").exists()
    else:
        assert all(len(row) == 2 for row in graph.rows("ids_no_mapping.tsv"))


# ----------------------------------------------------------------------------------------------------- command line


@pytest.fixture
def command(monkeypatch, capsys):
    """Run the command line in this process; gives status, standard output and standard error."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["openbiolink", *(str(argument) for argument in arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
            raise SystemExit(0)
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return run


@pytest.fixture
def source_map(links, tmp_path):
    """A source map beside its files."""
    return write(
        tmp_path / "map.toml",
        ['edition = "2020"', "[sources]", *(f'"{name}" = "{path.name}"' for name, path in links.items())],
    )


def test_generate_writes_into_the_working_folder_and_prints_its_path(command, source_map, tmp_path, monkeypatch):
    status, out, err = command("-p", tmp_path / "new" / "work", "generate", "--source-map", source_map)
    folder = tmp_path / "new" / "work" / "graph_files"
    assert (status, out) == (0, f"{folder}\n")
    assert "4 edges" in err
    assert "string.actions" in err
    assert len(read_graph(folder).edges) == 4
    monkeypatch.chdir(tmp_path)
    assert command("generate", "--source-map", source_map)[1] == "graph_files\n"
    assert files_of(tmp_path / "graph_files") == files_of(folder)


def test_generate_takes_a_folder_of_sources_and_a_map_over_it(command, source_map, links, tmp_path):
    (tmp_path / "other").mkdir()
    better = write_links(tmp_path / "other", [f"{PROTEIN(1)} {PROTEIN(2)} 999"])
    write(tmp_path / "other" / "map.toml", ["[sources]", f'"string.links" = "{better.name}"'])
    status, _, _ = command("-p", tmp_path / "a", "generate", "--edition", "2020", "--source-dir", tmp_path)
    assert status == 0
    assert set(read_graph(tmp_path / "a" / "graph_files").edges.values()) == {("900", "STRING")}
    both = ("generate", "--edition", "2020", "--source-dir", tmp_path, "--source-map", tmp_path / "other" / "map.toml")
    assert command("-p", tmp_path / "b", *both)[0] == 0
    assert set(read_graph(tmp_path / "b" / "graph_files").edges.values()) == {("999", "STRING")}


def test_generate_takes_every_option(command, links, tmp_path):
    sources = {**links, "hpo.ontology": demo_sources()["hpo.ontology"], "go.ontology": demo_sources()["go.ontology"]}
    lines = ['edition = "2020"', "[sources]", *(f'"{name}" = "{path}"' for name, path in sources.items())]
    options = (
        "--quality",
        "high",
        "--undirected",
        "--relation",
        "GENE_GENE",
        "--relation",
        "IS_A",
        "--exclude-source",
        "go",
    )
    path = write(tmp_path / "map.toml", lines)
    status, _, _ = command("-p", tmp_path, "generate", "--edition", "2020", "--source-map", path, *options)
    assert status == 0
    graph = read_graph(tmp_path / "graph_files")
    stated = {"quality": "high", "directed": False, "relations": ["GENE_GENE", "IS_A"], "excluded_sources": ["go"]}
    assert stated.items() <= graph.manifest["options"].items()
    assert {edge[1] for edge in graph.edges} == {"GENE_GENE", "IS_A"}
    assert len(graph.pairs("GENE_GENE")) == 2
    assert graph.ledger["GENE_GENE"] == {"read": 2, "kept": 1, "duplicate": 1}


MAPPED = ("generate", "--source-map")
FAULTS = {
    "no sources": (lambda _: ("generate", "--offline"), "--source-map"),
    "no map": (lambda tmp: (*MAPPED, tmp / "none.toml"), "none.toml: no such file"),
    "no folder": (lambda tmp: ("generate", "--source-dir", tmp / "none"), "none: no such folder"),
    "an empty folder": (lambda tmp: ("generate", "--source-dir", tmp / "empty"), "--source-dir DIR"),
    "an unknown edition": (lambda tmp: (*MAPPED, tmp / "map.toml", "--edition", "1999"), "1999"),
    "an unknown relation": (lambda tmp: (*MAPPED, tmp / "map.toml", "--relation", "X"), "--relation X"),
    "a relation without sources": (lambda tmp: (*MAPPED, tmp / "map.toml", "--relation", "GENE_GO"), "is there; "),
    "an unknown source": (lambda tmp: (*MAPPED, tmp / "map.toml", "--exclude-source", "X"), "--exclude-source X"),
    "an unknown source id": (lambda tmp: (*MAPPED, tmp / "unknown.toml"), "string.link"),
    "an absent file": (lambda tmp: (*MAPPED, tmp / "absent.toml"), "gone.tsv"),
    "another edition": (lambda tmp: (*MAPPED, tmp / "old.toml", "--edition", "2020"), "2019"),
    "two files for a source": (
        lambda tmp: ("generate", "--edition", "2020", "--source-dir", tmp / "twice"),
        "hp.obo.gz",
    ),
    "a directory in a file": (lambda tmp: ("-p", tmp / "map.toml", *MAPPED, tmp / "map.toml"), "map.toml"),
    "a foreign file": (lambda tmp: ("-p", tmp / "foreign", *MAPPED, tmp / "map.toml"), "mine.txt"),
    "brackets in a name": (lambda tmp: (*MAPPED, tmp / "[red]x[/red].toml"), "[red]x[/red].toml: no such file"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line_on_standard_error_and_status_2(command, source_map, tmp_path, monkeypatch, fault):
    for folder in ("empty", "twice", "foreign/graph_files", "work"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("hp.obo", "hp.obo.gz"):
        (tmp_path / "twice" / name).write_bytes(b"x")
    (tmp_path / "foreign" / "graph_files" / "mine.txt").write_text("mine")
    write(tmp_path / "unknown.toml", ["[sources]", '"string.link" = "map.toml"'])
    write(tmp_path / "absent.toml", ["[sources]", '"string.links" = "gone.tsv"'])
    write(tmp_path / "old.toml", ['edition = "2019"', "[sources]"])
    monkeypatch.chdir(tmp_path / "work")
    arguments, named = FAULTS[fault]
    status, out, err = command(*arguments(tmp_path))
    assert status == 2
    assert out == ""
    assert "Traceback" not in err
    assert err.count("\n") == 1
    assert err.startswith("Error: ")
    assert named in err
    assert list((tmp_path / "work").iterdir()) == []


def test_a_wrong_option_is_refused_before_anything_is_read(command, source_map, tmp_path):
    status, _, err = command("-p", tmp_path / "work", "generate", "--source-map", source_map, "--quality", "best")
    assert status == 2
    assert "best" in err
    assert "Traceback" not in err
    assert not (tmp_path / "work").exists()


def test_an_interrupt_says_so_and_ends_with_130(command, source_map, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("openbiolink.graph.generate_graph", interrupt)
    status, _, err = command("-p", tmp_path / "work", "generate", "--source-map", source_map)
    assert (status, err.count("\n")) == (130, 1)
    assert err.startswith("Interrupted:")


def test_written_tables_can_be_read_line_by_line(demo):
    assert read_rows(demo["all"].folder / "edges.csv")[0] == ("CL:9900021", "IS_A", "UBERON:9900013", "", "UBERON")
