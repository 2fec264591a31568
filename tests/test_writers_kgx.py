"""The KGX files hold every edge once in the words of the Biolink Model; KGX itself reads them where there is one."""

import json
import os
import re
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from built_tables import USER, Built, database, every_rule
from openbiolink.errors import InputError
from openbiolink.graph.writers import OutputOptions, WriterContext, owned_file
from openbiolink.graph.writers.kgx import write_kgx
from openbiolink.graph.writers.vocabulary import load_vocabulary
from openbiolink.sources.catalogue import EDITIONS, load_catalogue

ROOT = Path(__file__).resolve().parent.parent
CATALOGUES = {edition: load_catalogue(edition) for edition in EDITIONS}
SPELLED = {"NCBIGENE": "NCBIGene", "REACTOME": "REACT"}
CATEGORIES = {
    "GENE": "Gene", "GO": "BiologicalEntity", "DIS": "Disease", "DRUG": "ChemicalEntity",
    "PHENOTYPE": "PhenotypicFeature", "PATHWAY": "Pathway", "ANATOMY": "AnatomicalEntity",
    "molecular_function": "MolecularActivity", "cellular_component": "CellularComponent",
    "biological_process": "BiologicalProcess",
}  # fmt: skip
INVERTED = {"DIS_DRUG", "GENE_DRUG"}
PREDICATES = {
    "IS_A": "subclass_of", "PART_OF": "part_of", "GENE_DIS": "associated_with", "DIS_DRUG": "treats",
    "GENE_BINDINH_GENE": "affects", "DRUG_PHENOTYPE": "has_side_effect", "GENE_EXPRESSED_ANATOMY": "expressed_in",
    "GENE_PHENOTYPE": "has_phenotype", "GENE_PATHWAY": "participates_in",
    "GENE_UNDEREXPRESSED_ANATOMY": "negatively_correlated_with", "GENE_COEXPRESSION_GENE": "coexpressed_with",
    ("GENE_GO", "molecular_function"): "enables", ("GENE_GO", "cellular_component"): "located_in",
    ("GENE_GO", "biological_process"): "acts_upstream_of_or_within", ("GENE_GO", ""): "related_to",
}  # fmt: skip
DIRECTIONS = {
    f"{actor}_{action}_GENE": direction
    for actor in ("GENE", "DRUG")
    for action, direction in [
        ("ACTIVATION", "increased"), ("BINDACT", "increased"), ("INHIBITION", "decreased"), ("BINDINH", "decreased"),
    ]
}  # fmt: skip


@contextmanager
def written(built, catalogue, *, threads=2, reverse=False, scores=True, notes=None):
    """The rows of both files as dictionaries, and the folder."""
    taken = [] if notes is None else notes
    context = WriterContext(catalogue=catalogue, options=OutputOptions(scores=scores), directed=True, note=taken.append)
    with tempfile.TemporaryDirectory() as name, database(built, threads=threads, reverse=reverse) as connection:
        folder = Path(name)
        before = connection.execute("SHOW TABLES").fetchall()
        rows = write_kgx(connection, folder, context)
        assert set(connection.execute("SHOW TABLES").fetchall()) == {*before, ("dated_edges",)}
        assert rows.keys() == {path.name for path in folder.iterdir()}
        assert all(owned_file(file) for file in rows)
        tables = {}
        for file, count in rows.items():
            header, *lines = [line.split("\t") for line in (folder / file).read_text().split("\n")[:-1]]
            tables[file] = [dict(zip(header, line, strict=True)) for line in lines]
            assert len(lines) == count
        yield tables["kgx_nodes.tsv"], tables["kgx_edges.tsv"], folder


def respelled(curie):
    prefix, _, local = curie.partition(":")
    return f"{SPELLED.get(prefix, prefix)}:{local}"


@pytest.mark.parametrize("edition", EDITIONS)
def test_every_edge_is_a_row_that_says_what_the_graph_says(edition):
    catalogue = CATALOGUES[edition]
    built = every_rule(catalogue)
    with written(built, catalogue) as (_, edges, _):
        assert len({edge["id"] for edge in edges}) == len(edges) == len(built.edges)
        found = {}
        for edge in edges:
            ends = (edge["subject"], edge["object"])
            ends = ends[::-1] if edge["original_predicate"] in INVERTED else ends
            found[ends[0], edge["original_predicate"], ends[1], edge["negated"]] = edge
        assert found.keys() == {
            (respelled(h), r, respelled(t), "true" if negative else "false") for h, r, t, negative in built.edges
        }
        for (head, relation, tail, negative), (score, label, rule, date) in built.edges.items():
            edge = found[respelled(head), relation, respelled(tail), "true" if negative else "false"]
            assert (edge["score"], edge["source"], edge["date"]) == (score, label, date)
            source = catalogue.sources[catalogue.rules[rule].source]
            assert edge["primary_knowledge_source"] == (source.infores or "")
            kind = built.kinds.get(tail, "")
            predicate = PREDICATES.get((relation, kind) if relation == "GENE_GO" else relation)
            assert edge["predicate"] == f"biolink:{predicate}" or predicate is None
            assert edge["object_direction_qualifier"] == DIRECTIONS.get(relation, "")


@pytest.mark.parametrize("edition", EDITIONS)
def test_nodes_are_the_ends_of_edges_with_category_name_and_sources(edition):
    catalogue = CATALOGUES[edition]
    built = every_rule(catalogue)
    with written(built, catalogue) as (nodes, edges, _):
        ends = {end for edge in edges for end in (edge["subject"], edge["object"])}
        assert [node["id"] for node in nodes] == [respelled(node) for node in sorted(built.types)]
        assert ends == {node["id"] for node in nodes}
        of = {respelled(node): node for node in built.types}
        for node in nodes:
            ours = of[node["id"]]
            assert node["category"] == f"biolink:{CATEGORIES[built.kinds.get(ours) or built.types[ours]]}"
            assert node["name"] == built.names.get(ours, "")
            providers = {
                catalogue.sources[catalogue.rules[rule].source].infores or label
                for (h, _, t, _), (_, label, rule, _) in built.edges.items()
                if ours in (h, t)
            }
            assert node["provided_by"] == "|".join(sorted(providers))


def test_bytes_depend_on_the_graph_alone():
    built = every_rule(CATALOGUES["2020"])
    found = []
    for threads, reverse in ((1, False), (4, False), (2, True)):
        with written(built, CATALOGUES["2020"], threads=threads, reverse=reverse) as (*_, folder):
            found.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert found[0] == found[1] == found[2]


def test_scores_can_be_left_out():
    with written(every_rule(CATALOGUES["2020"]), CATALOGUES["2020"], scores=False) as (_, edges, _):
        assert {edge["score"] for edge in edges} == {""}


def test_a_node_of_two_types_has_two_categories():
    built = Built(
        edges={
            ("NCBIGENE:1", "GENE_DIS", "X:1", False): ("", "DisGeNet", "GENE_DIS", ""),
            ("NCBIGENE:1", "GENE_PHENOTYPE", "X:1", False): ("", "HPO", "GENE_PHENOTYPE", ""),
        },
        types={"NCBIGENE:1": "GENE", "X:1": "DIS"},
    )
    context = WriterContext(catalogue=CATALOGUES["2020"], options=OutputOptions(), directed=True, note=lambda _: None)
    with tempfile.TemporaryDirectory() as folder, database(built) as connection:
        connection.execute("INSERT INTO all_nodes VALUES ('X:1', 'PHENOTYPE')")
        assert write_kgx(connection, Path(folder), context) == {"kgx_nodes.tsv": 2, "kgx_edges.tsv": 2}
        assert "X:1\tbiolink:Disease|biolink:PhenotypicFeature\t" in (Path(folder) / "kgx_nodes.tsv").read_text()


def test_what_a_catalogue_of_the_user_adds_is_related_and_a_source_without_infores_is_told(tmp_path):
    (tmp_path / "mine.toml").write_text(USER)
    catalogue, notes = load_catalogue("2020", tmp_path / "mine.toml"), []
    built = Built(
        edges={("MINE:m1", "THING_LIKES_GENE", "NCBIGENE:1", False): ("", "mine", "THING_LIKES_GENE", "")},
        types={"MINE:m1": "THING", "NCBIGENE:1": "GENE"},
    )
    with written(built, catalogue, notes=notes) as (nodes, [edge], _):
        assert [node["category"] for node in nodes] == ["biolink:NamedThing", "biolink:Gene"]
        assert edge["predicate"] == "biolink:related_to"
        assert edge["id"] == "MINE:m1-THING_LIKES_GENE-NCBIGene:1"
        assert edge["primary_knowledge_source"] == ""
    assert notes == ["kgx_edges.tsv: no primary_knowledge_source for mine, which have no `infores`"]


@pytest.mark.parametrize("mark", ["\t", "\n"])
def test_a_cell_that_no_row_can_hold_is_refused(mark):
    built = every_rule(CATALOGUES["2020"])
    built.names = {"NCBIGENE:10": f"a{mark}b"}
    with pytest.raises(InputError, match="holds a tab or a line end"), written(built, CATALOGUES["2020"]):
        pass


def test_the_vocabulary_is_spelled_as_biolink_spells():
    vocabulary = load_vocabulary()
    for term in (*vocabulary.terms.values(), *vocabulary.kinds.values(), vocabulary.default_term):
        assert re.fullmatch("biolink:([A-Z][a-z]+)+", term.category)
    for statement in (*vocabulary.statements.values(), vocabulary.default_statement):
        assert re.fullmatch("biolink:[a-z]+(_[a-z]+)*", statement.predicate)
        assert re.fullmatch("biolink:([A-Z][a-z]+)*Association", statement.association)
    inverted = {relation for (relation, _), statement in vocabulary.statements.items() if statement.inverted}
    assert inverted == INVERTED


@pytest.mark.parametrize("edition", EDITIONS)
def test_kgx_finds_no_fault(edition):
    python = os.environ.get("OPENBIOLINK_KGX_PYTHON")
    if python is None:
        pytest.skip("NO KGX: set OPENBIOLINK_KGX_PYTHON to a Python that has it, as `make check-kgx` does")
    built = every_rule(CATALOGUES[edition])
    with written(built, CATALOGUES[edition]) as (nodes, edges, folder):
        check = [python, str(ROOT / "tools" / "check_kgx.py"), str(folder)]
        ran = subprocess.run(check, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, (ran.stdout + ran.stderr)[-2000:]
    counts = json.loads(ran.stdout.splitlines()[-1])
    assert (counts["nodes"], counts["edges"]) == (len(nodes), len(edges))


def test_a_graph_without_edges_is_two_headers():
    with written(Built(edges={}, types={}), CATALOGUES["2026"]) as (nodes, edges, _):
        assert (nodes, edges) == ([], [])
