"""Whatever a catalogue declares, the graph is what a naive builder gives: lookups, dates, names, choices, bands."""

import hashlib

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import declared_sources as made
from declared_sources import (
    GENE,
    ONTOLOGY,
    build_made_up,
    declare,
    row,
    rule,
    table_source,
    write_rows,
)
from openbiolink.errors import CatalogueError, InputError
from openbiolink.graph import GraphOptions, OutputOptions, generate_graph, wanted_sources
from openbiolink.graph.build import build_graph
from openbiolink.graph.plan import plan_graph
from openbiolink.schema import load_schema
from openbiolink.tables import open_database
from oracles.declared import World, build_declared
from oracles.graph import Identifiers
from source_files import read_graph, write, write_obo

SYMMETRIC = {name for name, relation in load_schema().relations.items() if relation.symmetric}
LEFT = {"left.rows": table_source()}
few = settings(  # a build takes a fifth of a second; failing examples are shown as they are
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow], phases=[Phase.reuse, Phase.generate]
)
EDGE = ("NCBIGENE:1", "GENE_DIS", "DOID:1")


@given(
    declared=made.declarations(), rows=made.rows_of_sources, terms=made.diseases,
    quality=st.sampled_from(["all", "high"]), directed=st.booleans(),
)  # fmt: skip
@few
def test_any_declarations_give_what_a_naive_builder_gives(tmp_path_factory, declared, rows, terms, quality, directed):
    folder = tmp_path_factory.mktemp("declared")
    sources = write_rows(folder, rows) | {"do.ontology": made.write_diseases(folder, terms)}
    catalogue = declare(folder / "declared.toml", declared)
    generate_graph(catalogue, sources, folder / "graph", options=GraphOptions(quality=quality, directed=directed))
    graph = read_graph(folder / "graph")
    world = World(declared, rows, {"do.ontology": Identifiers(sources).ontology("do.ontology")})
    expected = build_declared(world, quality=quality, directed=directed, symmetric=SYMMETRIC)
    assert graph.edges == expected.edges[False]
    assert graph.negatives == expected.edges[True]
    assert graph.ledger == expected.ledger
    assert graph.dates == expected.dates[False]
    assert graph.negative_dates == expected.dates[True]
    assert graph.names == expected.names
    noted = [note.split()[:2] for note in graph.manifest["notes"] if "is no date" in note]
    assert sorted(noted) == sorted([f"{name}:", f"{count}"] for name, count in expected.impossible.items())


@given(declared=made.declarations(), rows=made.rows_of_sources, terms=made.diseases, directed=st.booleans())
@settings(parent=few, max_examples=10)
def test_the_tables_that_writers_read_say_what_was_built(tmp_path_factory, declared, rows, terms, directed):
    folder = tmp_path_factory.mktemp("tables")
    sources = write_rows(folder, rows) | {"do.ontology": made.write_diseases(folder, terms)}
    catalogue, options = declare(folder / "declared.toml", declared), GraphOptions(directed=directed)
    world = World(declared, rows, {"do.ontology": Identifiers(sources).ontology("do.ontology")})
    expected = build_declared(world, quality="all", directed=directed, symmetric=SYMMETRIC)
    plan = plan_graph(catalogue, sources, options)
    with open_database() as (connection, _):
        build_graph(connection, catalogue, sources=sources, plan=plan, options=options, note=str)
        edges = connection.execute("SELECT negative, head, relation, tail, rule FROM edges").fetchall()
        nodes = connection.execute("SELECT id, type FROM all_nodes").fetchall()
    assert sorted(edges) == sorted(
        (negative, *edge, name) for negative, rules in expected.rules.items() for edge, name in rules.items()
    )
    types = {"NCBIGENE": "GENE", "DOID": "DIS"}
    ends = {end for part in expected.edges.values() for edge in part for end in edge[::2]}
    assert sorted(nodes) == sorted((end, types[end.split(":")[0]]) for end in ends)


# --------------------------------------------------------------------------------------------------------- lookups


def listed(**columns):
    """A condition that the row has a partner in the table to the right, of kind p."""
    where = [{"column": "k", "one_of": ["p"]}]
    return {"listed_in": {"source": "right.rows", "columns": columns, "where": where}}


def test_a_row_needs_a_partner_that_is_equal_in_all_columns_letter_for_letter(tmp_path):
    declared = {
        "source": LEFT | {"right.rows": table_source()},
        "rule": {"R": rule(where=[listed(x="y", y="x") | {"reason": "not_listed"}])},
    }
    partners = [row("1", "5", k="p"), row("2", "5", k="q"), row("3", "6", k="p"), row("07", "7", k="p")]
    found = [row("5", "1"), row("5", "2"), row("6", "4"), row("7", "7"), row("5", "1")]
    graph = build_made_up(tmp_path, declared, {"left.rows": found, "right.rows": partners})
    assert set(graph.edges) == {("NCBIGENE:5", "GENE_DIS", "DOID:1")}
    assert graph.ledger["R"] == {"read": 5, "kept": 1, "duplicate": 1, "filtered:not_listed": 3}
    assert set(graph.manifest["inputs"]) == {"left.rows", "right.rows"}


def test_a_lookup_can_negate_grade_and_choose_rows_of_a_map(tmp_path):
    mapping = {
        "source": "left.rows", "where": [listed(k="label")],
        "key": {"column": "x", "prefix": "HGNC"}, "value": {"column": "y", "prefix": "NCBIGENE"},
    }  # fmt: skip
    rules = {
        "N": rule(negation=listed(x="x")),
        "Q": rule(relation="GENE_GENE", score={"column": "score"}, quality={"high": listed(x="x")}),
        "M": rule(head={"type": "GENE", "column": "x", "prefix": "HGNC", "via": ["to_gene"]}),
    }
    declared = {"source": LEFT | {"right.rows": table_source()}, "map": {"to_gene": mapping}, "rule": rules}
    rows = {
        "left.rows": [row("1", "8", k="a", score="1"), row("2", "9", k="b", score="1")],
        "right.rows": [row("1", k="p", label="b"), row("2", k="q", label="a")],
    }
    graph = build_made_up(tmp_path, declared, rows, quality="high")
    assert graph.ledger["N"] == {"read": 2, "kept": 1, "negated": 1}
    assert graph.ledger["Q"] == {"read": 2, "kept": 1, "below_quality": 1}
    assert graph.ledger["M"] == {"read": 2, "kept": 1, "unmapped_head": 1}
    assert ("NCBIGENE:9", "GENE_DIS", "DOID:9") in graph.edges


def test_a_rule_waits_for_the_table_that_it_looks_into(tmp_path):
    declared = {
        "source": LEFT | {"right.rows": table_source()},
        "rule": {"R": rule(where=[listed(x="x") | {"reason": "r"}]), "S": rule(relation="GENE_GENE")},
    }
    graph = build_made_up(tmp_path, declared, {"left.rows": [row("1", "2")]})
    assert graph.manifest["missing_sources"] == {"right.rows": ["GENE_DIS"]}
    assert set(graph.ledger) == {"S"}
    catalogue = declare(tmp_path / "declared.toml", declared)
    assert wanted_sources(catalogue, GraphOptions()) == ("left.rows", "right.rows")
    assert wanted_sources(catalogue, GraphOptions(excluded_sources=("right",))) == ("left.rows",)


def test_a_lookup_into_a_table_or_column_that_is_not_there_is_refused(tmp_path):
    for place in ("map", "name"):
        where = [{"listed_in": {"source": "left.rows", "columns": {"x": "nothing"}}}]
        cell = {"column": "x", "prefix": "NCBIGENE"}
        entries = {
            "map": {"source": "left.rows", "key": cell, "value": cell, "where": where},
            "name": {"source": "left.rows", "node": GENE, "text": "label", "where": where},
        }
        declared = {"source": LEFT, "rule": {"R": rule()}, place: {"entry": entries[place]}}
        with pytest.raises(CatalogueError, match=rf'\[{place}\."entry"\]: reads column .nothing.'):
            declare(tmp_path / "declared.toml", declared)


# ----------------------------------------------------------------------------------------------------------- dates

DATED = rule(score={"column": "score"}, quality={"high": {"column": "score", "above": 400}}, date={"column": "stated"})


def test_an_edge_has_the_earliest_date_of_all_rows_that_give_it(tmp_path):
    declared = {
        "source": LEFT | {"right.rows": table_source()},
        "rule": {"A": DATED, "B": DATED | {"source": "right.rows", "label": "other"}},
    }
    rows = {
        "left.rows": [row(score="900", stated="2015-01-01"), row(score="500", stated="2014-02-03 and 2013-12-31")],
        "right.rows": [row(score="450", stated="2012-06-01"), row(score="399", stated="1999-01-01"), row("2", "3")],
    }
    graph = build_made_up(tmp_path / "all", declared, rows)
    assert graph.edges[EDGE] == ("900", "L")
    assert graph.dates == {EDGE: "1999-01-01"}
    high = build_made_up(tmp_path / "high", declared, rows, quality="high")
    assert high.dates == {EDGE: "2012-06-01"}
    assert (graph.manifest["counts"]["dated_edges"], graph.manifest["counts"]["tn_dated_edges"]) == (1, 0)
    assert graph.manifest["outputs"]["edge_dates.tsv"]["rows"] == 1


@pytest.mark.parametrize("directed", [True, False])
def test_dates_follow_the_directions_in_which_edges_are_written(tmp_path, directed):
    declared = {
        "source": LEFT,
        "rule": {
            "S": rule(relation="GENE_GENE", date={"column": "stated"}),
            "TN.S": rule(relation="GENE_GENE", negative=True, date={"column": "stated"}),
        },
    }
    rows = [row("2", "10", stated="2012-06-01"), row("10", "2", stated="2011-06-01")]
    graph = build_made_up(tmp_path, declared, {"left.rows": rows}, directed=directed)
    assert set(graph.dates) == set(graph.edges) == set(graph.negative_dates) == set(graph.negatives)
    assert len(graph.edges) == 1 + directed
    assert set(graph.dates.values()) == {"2011-06-01"}


@pytest.mark.parametrize(
    ("pattern", "cell", "date"),
    [
        (r"(\d{4})(\d{2})(\d{2})", "20200229", "2020-02-29"),
        (r"(\d{4})(\d{2})(\d{2})", "20210229", ""),
        (r"(\d{4})(\d{2})(\d{2})", "20201301", ""),
        (r"(\d{4})-(\d{2})-(\d{2})", "01/03/2024", ""),
        (r"(\d{4})-(\d{2})-(\d{2})", "Jan 9 2025", ""),
        (r"(\d{4})(\d{2})(\d{2})", "20200132", ""),
        (r"(\d{4})(\d{2})(\d{2})", "00000101", ""),
        (r"(\d{4})", "1999;1998", "1998"),
        (r"(\d{4})-(\d{1,2})", "1999-7", "1999-07"),
        (r"(\d{4})-(\d{1,2})", "1999-00", ""),
        (r"(\d{4})-?(\d{2})?-?(\d{2})?", "1999", "1999"),
        (r"(\d{4})-?(\d{2})?-?(\d{2})?", "1999-07 1999-08-01", "1999-07"),
        (r"(\d{4}):(\d*):(\d*)", "1999::11", ""),
        (r"(\d+)-(\d+)-(\d+)", "1999-012-1", ""),
        (r"(\d+)-(\d+)-(\d+)", "99-12-1 2001-1-9", "2001-01-09"),
        (r"\[(\d{4})-(\d{2})-(\d{2})\]", "x[2009-02-17]; y[2008-02-17]", "2008-02-17"),
    ],
)
def test_what_is_a_date_and_what_is_not(tmp_path, pattern, cell, date):
    declared = {"source": LEFT, "rule": {"R": rule(date={"column": "stated", "pattern": pattern})}}
    graph = build_made_up(tmp_path, declared, {"left.rows": [row(stated=cell), row("2", "2")]})
    assert graph.dates == ({EDGE: date} if date else {})
    assert len(graph.edges) == 2
    wrong = [note for note in graph.manifest["notes"] if "no date" in note]
    assert len(wrong) == (not date or "99-12" in cell)
    assert all(note.startswith("R: 1 rows of left.rows hold what is no date") for note in wrong)


# ----------------------------------------------------------------------------------------------------------- names


def test_the_first_declaration_names_a_node_and_in_it_the_smallest_text(tmp_path):
    names = {
        "first": {"source": "left.rows", "node": GENE, "text": "label", "where": [{"column": "k", "one_of": ["p"]}]},
        "second": {"source": "left.rows", "node": GENE, "text": "k"},
        "unused": {"source": "right.rows", "node": made.DISEASE, "text": "label"},
        "other_type": {"source": "left.rows", "node": GENE | {"type": "GO", "prefix": "GO"}, "text": "label"},
    }
    declared = {"source": LEFT | {"right.rows": table_source()}, "name": names, "rule": {"R": rule()}}
    left = [
        row("1", "1", k="p", label="b"), row("1", "1", k="p", label="a"), row("1", "1", k="q", label="A"),
        row("2", "1", k="z", label="x"), row("3", "x", k="p", label="no node"), row("4", "1", k="p", label="\x1f \x7f"),
    ]  # fmt: skip
    graph = build_made_up(tmp_path, declared, {"left.rows": left, "right.rows": [row("1", "1", label="disease")]})
    assert graph.names == {"NCBIGENE:1": "a", "NCBIGENE:2": "z", "NCBIGENE:4": "p"}
    assert set(graph.manifest["inputs"]) == {"left.rows"}
    assert graph.manifest["counts"]["named_nodes"] == 3


def test_what_stands_for_several_nodes_names_none_and_a_dash_is_no_name(tmp_path):
    mapped = GENE | {"via": ["several"]}
    names = {"first": {"source": "left.rows", "node": mapped, "text": "label"}}
    cell = {"column": "x", "prefix": "NCBIGENE"}
    maps = {
        "several": {"source": "left.rows", "key": cell, "value": {"column": "k", "split": ";", "prefix": "NCBIGENE"}}
    }
    left = [
        row("1", "1", k="11;12", label="both"),
        row("2", "1", k="13", label="one"),
        row("3", "1", k="14", label="-"),
    ]
    declared = {"source": LEFT, "name": names, "map": maps, "rule": {"R": rule(head=mapped)}}
    graph = build_made_up(tmp_path, declared, {"left.rows": left})
    assert {head for head, _, _ in graph.edges} == {f"NCBIGENE:{gene}" for gene in (11, 12, 13, 14)}
    assert graph.names == {"NCBIGENE:13": "one"}


def test_without_names_and_dates_their_files_are_empty(tmp_path):
    graph = build_made_up(tmp_path, {"source": LEFT, "rule": {"R": rule()}}, {"left.rows": [row()]})
    for name in ("node_names.tsv", "edge_dates.tsv", "TN_edge_dates.tsv"):
        assert (graph.folder / name).read_bytes() == b""


def test_a_node_is_not_named_after_the_obsolete_one_that_it_stands_for(tmp_path):
    disease = made.DISEASE | {"ontology": "do.ontology"}
    declared = {
        "source": LEFT | {"do.ontology": ONTOLOGY},
        "rule": {"R": rule(tail=disease)},
        "name": {
            "table": {"source": "left.rows", "node": disease, "text": "label"},
            "ontology": {"source": "do.ontology", "table": "name", "node": disease | {"column": "id"}, "text": "name"},
        },
    }
    terms = {
        "DOID:3": ["alt_id: DOID:4"], "DOID:5": ["alt_id: DOID:6"], "DOID:7": [],
        "DOID:1": ["is_obsolete: true", "replaced_by: DOID:3"],
    }  # fmt: skip
    rows = [row("1", "1", label="A obsolete"), row("1", "3", label="B live"), row("1", "6", label="C"), row("1", "7")]
    sources = write_rows(tmp_path, {"left.rows": rows}) | {"do.ontology": write_obo(tmp_path / "do.obo", terms)}
    generate_graph(declare(tmp_path / "declared.toml", declared), sources, tmp_path / "graph")
    found = read_graph(tmp_path / "graph").names
    assert found == {"DOID:3": "B live", "DOID:5": "C", "DOID:7": "made-up DOID:7"}


# ----------------------------------------------------------------------------------------------------------- bands

SPOILT = [row("1", "1"), row("1", "1"), row("2", "x")]  # 3 rows read, 1 kept


def band(**limits):
    return {"source": LEFT, "rule": {"R": rule(expect=limits), "S": rule(relation="GENE_GENE")}}


@pytest.mark.parametrize("limits", [{"read": [3, 3]}, {"read": [0, 5], "kept": [1, 1]}, {"kept": [0, 1]}])
def test_a_rule_within_its_band_is_built(tmp_path, limits):
    graph = build_made_up(tmp_path, band(**limits), {"left.rows": SPOILT})
    assert set(graph.edges) >= {EDGE}
    assert not any("expected" in note for note in graph.manifest["notes"])


@pytest.mark.parametrize(
    ("limits", "fault"),
    [
        ({"read": [4, 1000]}, r"R: 3 rows read, expected 4 to 1,000, of left.rows \(left.rows\)"),
        ({"read": [0, 2]}, "R: 3 rows read, expected 0 to 2"),
        ({"read": [3, 3], "kept": [2, 9]}, "R: 1 rows kept, expected 2 to 9"),
        ({"read": [4, 5], "kept": [0, 0]}, "R: 3 rows read, expected 4 to 5 and 1 rows kept, expected 0 to 0"),
    ],
)
def test_a_rule_outside_its_band_stops_the_build_unless_allowed(tmp_path, limits, fault):
    declared, rows = band(**limits), {"left.rows": SPOILT}
    old = build_made_up(tmp_path, {"source": LEFT, "rule": {"S": rule()}}, rows)
    for allowed in ((), ("S",)):
        with pytest.raises(InputError, match=f"{fault}.*--allow-band R") as caught:
            build_made_up(tmp_path, declared, rows, allowed_bands=allowed)
        assert "\n" not in str(caught.value)
        assert set(read_graph(old.folder).ledger) == {"S"}
    for allowed in (("R",), ("all",), ("S", "R")):
        graph = build_made_up(tmp_path, declared, rows, allowed_bands=allowed)
        assert set(graph.ledger) == {"R", "S"}
        assert any(fault.split(",")[0] in note and "allowed" in note for note in graph.manifest["notes"])
    with pytest.raises(InputError, match=r"--allow-band Q: .*no such rule"):
        build_made_up(tmp_path, declared, rows, allowed_bands=("Q",))


def test_how_many_rows_are_kept_is_not_asked_where_a_level_leaves_some_out(tmp_path):
    cut = rule(score={"column": "score"}, quality={"high": {"column": "score", "above": 400}})
    declared = {"source": LEFT, "rule": {"R": cut | {"expect": {"read": [1, 2], "kept": [1, 2]}}}}
    graph = build_made_up(tmp_path, declared, {"left.rows": [row(score="1")]}, quality="high")
    assert graph.ledger["R"] == {"read": 1, "below_quality": 1}


# --------------------------------------------------------------------------------------------------- what is wanted

OPEN, SHARED, CLOSED = "CC0 1.0", "CC BY-SA 4.0", "CC BY-NC-SA 4.0"
CHOICE = {
    "source": {
        "a.open": table_source(),
        "b.shared": table_source(licence=SHARED),
        "c.closed": table_source(licence=CLOSED),
        "d.optional": table_source(default=False),
    },
    "map": {
        "mapped": {
            "source": "d.optional",
            "key": {"column": "x", "prefix": "HGNC"},
            "value": {"column": "y", "prefix": "NCBIGENE"},
        }
    },
    "rule": {
        "A": rule("a.open"),
        "A2": rule("a.open", label="A2", default=False),
        "B": rule("b.shared", relation="GENE_GENE"),
        "C": rule("c.closed", negative=True),
        "D": rule("d.optional", relation="GENE_BINDING_GENE"),
        "E": rule("a.open", head={"type": "GENE", "column": "x", "prefix": "HGNC", "via": ["mapped"]}, label="E"),
    },
}
NAMES_OF_ALL = ["a", "a.open", "d", "d.optional", "A2", "GENE_DIS", "GENE_BINDING_GENE", "E", "D"]


@pytest.mark.parametrize(
    ("options", "rules", "left_out"),
    [
        ({}, "ABC", {"A2", "d.optional"}),
        ({"included": ("d",)}, "ABCDE", {"A2"}),
        ({"included": ("d.optional", "A2")}, ["A", "A2", "B", "C", "D", "E"], set()),
        ({"included": ("E",)}, "ABCE", {"A2", "d.optional"}),
        ({"included": ("GENE_BINDING_GENE",)}, "ABCD", {"A2", "d.optional"}),
        ({"included": ("GENE_DIS",)}, ["A", "A2", "B", "C", "E"], {"d.optional"}),
        ({"included": ("a",)}, "ABC", {"A2", "d.optional"}),
        ({"licence": "open"}, "A", {"A2", "b.shared", "c.closed", "d.optional"}),
        ({"licence": "share-alike"}, "AB", {"A2", "c.closed", "d.optional"}),
        ({"licence": "non-commercial"}, "ABC", {"A2", "d.optional"}),
        ({"licence": "open", "included": ("c", "d")}, "ADE", {"A2", "b.shared", "c.closed"}),
        ({"relations": ("GENE_GENE",)}, "B", set()),
    ],
)
def test_what_is_built_is_what_default_names_and_terms_allow(tmp_path, options, rules, left_out):
    rows = {name: [row("1", "2")] for name in CHOICE["source"]}
    graph = build_made_up(tmp_path, CHOICE, rows, **options)
    assert sorted(graph.ledger) == sorted(rules)
    assert set(graph.manifest["left_out"]) == left_out
    assert graph.manifest["missing_sources"] == {}
    assert graph.manifest["options"]["licence"] == options.get("licence", "any")
    wanted = wanted_sources(declare(tmp_path / "declared.toml", CHOICE), GraphOptions(**options))
    assert set(wanted) == set(graph.manifest["inputs"]) == set(graph.manifest["licence"]["sources"])


def test_what_is_left_out_is_listed_with_its_reason_and_relations(tmp_path):
    graph = build_made_up(tmp_path, CHOICE, {"a.open": [row()]}, licence="open")
    by_name = "it is used only where it is included by name"
    assert graph.manifest["left_out"] == {
        "A2": {"reason": by_name, "relations": ["GENE_DIS"]},
        "b.shared": {"reason": f"its terms ({SHARED}) are share-alike", "relations": ["GENE_GENE"]},
        "c.closed": {"reason": f"its terms ({CLOSED}) are non-commercial", "relations": ["GENE_DIS"]},
        "d.optional": {"reason": by_name, "relations": ["GENE_BINDING_GENE", "GENE_DIS"]},
    }


@given(
    included=st.lists(st.sampled_from(NAMES_OF_ALL), max_size=2),
    excluded=st.lists(st.sampled_from(["b", "c.closed", "d"]), max_size=1),
    licence=st.sampled_from(["open", "share-alike", "non-commercial", "any"]),
    present=st.sets(st.sampled_from(sorted(CHOICE["source"]))),
)
@settings(max_examples=100, deadline=None)
def test_a_plan_is_the_wanted_rules_whose_sources_are_there(catalogue_of_choice, included, excluded, licence, present):
    options = GraphOptions(included=tuple(included), excluded_sources=tuple(excluded), licence=licence)
    wanted = wanted_sources(catalogue_of_choice, options)
    try:
        plan = plan_graph(catalogue_of_choice, dict.fromkeys(present, None), options)
    except InputError as error:
        assert "can be built" in str(error)
        assert not {"a.open", *wanted} <= present
        return
    assert set(plan.needed) <= set(wanted) & present
    full = plan_graph(catalogue_of_choice, dict.fromkeys(CHOICE["source"], None), options)
    assert set(full.needed) == set(wanted)
    assert plan.rules == tuple(
        name for name in full.rules if {*catalogue_of_choice.needs(catalogue_of_choice.rules[name])} <= present
    )
    assert plan.left_out == full.left_out
    assert not set(plan.left_out) & set(plan.rules)


@pytest.fixture(scope="module")
def catalogue_of_choice(tmp_path_factory):
    return declare(tmp_path_factory.mktemp("choice") / "declared.toml", CHOICE)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"included": ("d.option",)}, r"--include d\.option: .*did you mean 'd\.optional'"),
        ({"relations": ("GENE_BINDING_GENE",)}, "--relation GENE_BINDING_GENE: .*d.optional .*--include"),
        (
            {"relations": ("GENE_GENE",), "licence": "open"},
            r"--relation GENE_GENE: .*b\.shared \(its terms .*--license",
        ),
    ],
)
def test_choices_that_cannot_be_met_are_refused_before_anything_is_fetched(catalogue_of_choice, options, fault):
    for decide in (wanted_sources, lambda *given: plan_graph(given[0], {}, given[1])):
        with pytest.raises(InputError, match=fault) as caught:
            decide(catalogue_of_choice, GraphOptions(**options))
        assert "\n" not in str(caught.value)


# -------------------------------------------------------------------------------------------------------- manifest


def test_the_manifest_says_where_inputs_are_from_and_what_was_added(tmp_path):
    added = write(tmp_path / "mine.toml", ["# mine"])
    origins = {"left.rows": {"url": "https://example.org/rows", "version": "7"}, "gone.rows": {"url": "x"}}
    declared = {"source": {"left.rows": table_source(licence=SHARED)}, "rule": {"R": rule()}}
    graph = build_made_up(tmp_path, declared, {"left.rows": [row()]}, origins=origins, added=[added])
    manifest = graph.manifest
    assert manifest["catalogues"] == [{"file": "mine.toml", "sha256": hashlib.sha256(b"# mine\n").hexdigest()}]
    assert manifest["edition"] == "made-up"
    stated = {"url": "https://example.org/rows", "version": "7", "licence": SHARED}
    assert stated.items() <= manifest["inputs"]["left.rows"].items()
    assert manifest["licence"]["reuse"] == "share-alike"
    assert manifest["licence"]["sources"]["left.rows"]["edges"] == 1
    assert SHARED in (graph.folder / "LICENSE.txt").read_text(encoding="utf-8")
    unknown = build_made_up(tmp_path, declared, {"left.rows": [row()]}, origins={"left.rows": {"url": ""}})
    assert not {"url", "version"} & set(unknown.manifest["inputs"]["left.rows"])
    assert unknown.manifest["catalogues"] == []


def test_types_and_prefixes_of_the_user_count_as_those_of_the_schema(tmp_path):
    declared = {
        "source": LEFT,
        "node_type": {"TRAIT": ["ACME"]},
        "prefix": {"ACME": {"pattern": r"A\d+", "synonyms": ["AC"]}},
        "relation": {"TRAIT_TRAIT": {"head": "TRAIT", "tail": "TRAIT", "symmetric": True}},
        "rule": {
            "R": rule(
                relation="TRAIT_TRAIT",
                head={"type": "TRAIT", "column": "x", "prefix": "ACME"},
                tail={"type": "TRAIT", "column": "y", "prefix": "ACME"},
            )
        },
    }
    graph = build_made_up(tmp_path, declared, {"left.rows": [row("A1", "ac:A2"), row("A1", "2")]})
    assert set(graph.edges) == {("ACME:A1", "TRAIT_TRAIT", "ACME:A2"), ("ACME:A2", "TRAIT_TRAIT", "ACME:A1")}
    assert graph.unmapped == {("ACME:2", "TRAIT")}
    assert dict(graph.rows("nodes.csv")) == {"ACME:A1": "TRAIT", "ACME:A2": "TRAIT"}


def test_several_formats_come_from_one_build_and_are_all_in_the_manifest(tmp_path):
    declared = {"source": LEFT, "rule": {"R": rule(date={"column": "stated"})}}
    rows = {"left.rows": [row(stated="2012-05-03")]}
    both = build_made_up(tmp_path, declared, rows, output=OutputOptions(formats=("TSV", "Parquet")))
    files = {path.name for path in both.folder.iterdir()}
    assert {"edges.csv", "edges.parquet", "edge_dates.tsv"} <= files
    assert files == {*both.manifest["outputs"], "manifest.json"}
    catalogue, sources = declare(tmp_path / "declared.toml", declared), write_rows(tmp_path / "sources", rows)
    options = GraphOptions(output=OutputOptions(formats=("Parquet",)))
    generate_graph(catalogue, sources, both.folder, options=options)  # takes the place of the files of both
    left = {path.name for path in both.folder.iterdir()}
    assert left < files
    assert not {"edges.csv", "node_names.tsv", "edge_dates.tsv"} & left
    assert {"edges.parquet", "ledger.tsv", "edges_list.csv", "LICENSE.txt", "croissant.json"} <= left
