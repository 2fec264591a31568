"""The declarations of edition 2020, each field of each entry, and what a wrong declaration says."""

import re
import tomllib
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openbiolink.errors import CatalogueError, InputError
from openbiolink.schema import load_schema
from openbiolink.sources.catalogue import load_catalogue, parse_catalogue
from openbiolink.sources.layout import find_layout
from openbiolink.sources.local import check_sources, find_sources, read_source_map
from openbiolink.tables import open_database, quote
from oracles.graph import build
from source_files import assert_as_expected, demo_sources, edition, generate, write, write_obo

CATALOGUE = edition()
SCHEMA = load_schema()
FOLDER = files("openbiolink") / "sources" / "editions" / "2020"
SOURCES = [
    "string.links", "string.actions", "string.entrez", "stitch.links", "stitch.actions", "go.ontology",
    "go.annotations", "disgenet.gene_disease", "disgenet.mappings", "hpo.ontology", "hpo.disease_phenotype",
    "hpo.disease_phenotype_negated", "hpo.gene_phenotype", "bgee.expression", "bgee.differential",
    "ctd.gene_pathway", "drugcentral.dump", "sider.side_effects", "do.ontology", "uberon.ontology",
    "uniprot.id_mapping",
]  # fmt: skip
LICENCES = {
    "bgee": "CC0", "ctd": "Custom: CTD", "disgenet": "CC BY-NC-SA", "drugcentral": "CC BY-SA", "go": "CC BY",
    "hpo": "Custom: HPO", "sider": "CC BY-NC-SA", "stitch": "CC BY", "string": "CC BY", "uniprot": "CC BY",
    "do": "CC0", "uberon": "CC BY",
}  # fmt: skip
ROLES = {
    "edge (gene-gene)": "string", "edge (gene-go)": "go", "edge (gene-disease)": "disgenet",
    "edge (gene-phenotype)": "hpo", "edge (gene-anatomy)": "bgee", "edge (gene-drug)": "stitch",
    "edge (gene-pathway)": "ctd", "edge (disease-phenotype)": "hpo", "edge (disease-drug)": "drugcentral",
    "edge (drug-phenotype)": "sider", "ontology (genes)": "go", "ontology (diseases)": "do",
    "ontology (phenotype)": "hpo", "ontology (anatomy)": "uberon", "mapping (UMLS-DO)": "disgenet",
    "mapping (STRING-NCBI)": "string", "mapping (ENSEMBL/UNIPROT-NCBI)": "uniprot", "id (go)": "go",
    "id (anatomy)": "uberon", "id (disease)": "do", "id (phenotype)": "hpo",
}  # fmt: skip
LABELS = {
    "string": "STRING", "stitch": "STITCH", "go": "GO", "disgenet": "DisGeNet", "hpo": "HPO", "bgee": "Bgee",
    "ctd": "CTD", "drugcentral": "DrugCentral", "sider": "SIDER", "do": "DO", "uberon": "UBERON",
}  # fmt: skip
NEGATIVE = {
    "TN.DIS_PHENOTYPE", "TN.DIS_PHENOTYPE.negated_file", "TN.DIS_DRUG", "TN.GENE_EXPRESSED_ANATOMY",
    "TN.GENE_OVEREXPRESSED_ANATOMY", "TN.GENE_UNDEREXPRESSED_ANATOMY",
}  # fmt: skip
UNSCORED = {"GENE_PHENOTYPE", "GENE_PATHWAY", "DIS_DRUG", "DRUG_PHENOTYPE", "IS_A", "PART_OF"}


def nothing(_: str) -> None:
    """A note that nobody reads."""


def conditions(rule):
    levels = (rule.quality.low, rule.quality.medium, rule.quality.high, rule.negation)
    return [*rule.where, *(condition for condition in levels if condition is not None)]


# --------------------------------------------------------------------------------------------------- every source


def test_the_sources_are_these():
    assert sorted(CATALOGUE.sources) == sorted(SOURCES)


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_says_what_it_is_and_where(name):
    source = CATALOGUE.sources[name]
    assert source.title.strip() == source.title != ""
    assert re.fullmatch(r"https?://[\w.-]+\.[a-z]+(/\S*)?", source.homepage)
    assert source.version
    assert source.gives


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_has_the_licence_of_the_table(name):
    licence = re.sub(r" \d\.\d$", "", CATALOGUE.sources[name].licence)
    assert licence == LICENCES[name.split(".")[0]]


@pytest.mark.parametrize("role", ROLES)
def test_every_role_of_the_licence_table_is_given_by_a_source_of_that_name(role):
    assert any(role in CATALOGUE.sources[name].gives for name in SOURCES if name.split(".")[0] == ROLES[role])


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_is_found_by_its_own_file_names_only(name, tmp_path):
    source = CATALOGUE.sources[name]
    assert source.files
    for pattern in source.files:
        for ending in ("", ".gz", "-2020.txt.gz"):
            folder = tmp_path / f"{source.files.index(pattern)}{ending}"
            folder.mkdir()
            file = folder / (pattern.replace("*", "") + ending if pattern.endswith("*") else pattern.replace("*", ""))
            file.write_bytes(b"x")
            assert find_sources(CATALOGUE, folder) == {name: file}


def test_every_source_of_a_folder_is_found():
    folder = demo_sources()["string.links"].parent
    assert find_sources(CATALOGUE, folder) == demo_sources()


@pytest.mark.parametrize("name", SOURCES)
def test_layouts_are_told_apart_by_their_names(name):
    layouts = CATALOGUE.sources[name].layouts
    assert len({layout.name for layout in layouts}) == len(layouts)
    assert bool(layouts) == (CATALOGUE.sources[name].format == "delimited")


LAYOUTS = [(name, layout) for name in SOURCES for layout in CATALOGUE.sources[name].layouts]


@pytest.mark.parametrize(("name", "layout"), LAYOUTS, ids=[f"{name}: {layout.name}" for name, layout in LAYOUTS])
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_a_file_built_from_a_layout_is_recognised_as_that(name, layout, tmp_path_factory, data):
    separator = data.draw(st.sampled_from(layout.separator))
    ascii_only = st.characters(min_codepoint=33, max_codepoint=126, exclude_characters=separator)
    comments = data.draw(st.integers(0, 40)) if layout.comment else 0
    lines = [f"{layout.comment} made-up {number}" for number in range(comments)]
    if layout.header == "none":
        columns = list(layout.positional)
    else:
        extra = data.draw(st.lists(st.sampled_from(["Extra", "extra_2", "Other"]), unique=True))
        columns = data.draw(st.permutations([*layout.named.values(), *extra]))
        spelled = data.draw(st.sampled_from([str, str.lower, str.upper]))
        header = separator.join(spelled(column) for column in columns)
        lines.append(f"{layout.comment}{header}" if layout.header == "comment" else header)
    for _ in range(data.draw(st.integers(1, 3))):
        cells = [
            data.draw(st.from_regex(layout.patterns[column], fullmatch=True, alphabet=ascii_only))
            if column in layout.patterns else "made-up" for column in columns
        ]  # fmt: skip
        lines.append(separator.join(cells))
    path = write(tmp_path_factory.mktemp("layout") / "file", lines, end=data.draw(st.sampled_from(["\n", "\r\n"])))
    found = find_layout(path, name, CATALOGUE.sources[name], nothing)
    assert found.layout.name == layout.name
    assert found.separator == separator
    assert found.skip == comments + (layout.header != "none")
    wanted = layout.positional or [{text: ours for ours, text in layout.named.items()}.get(text) for text in columns]
    assert all(ours in {None, theirs} for ours, theirs in zip(wanted, found.columns, strict=True))


# ----------------------------------------------------------------------------------------------------- every rule

RULES = list(CATALOGUE.rules)


def test_every_relation_of_the_schema_has_a_rule_and_no_other():
    assert {rule.relation for rule in CATALOGUE.rules.values() if not rule.negative} == set(SCHEMA.relations)


def test_true_negatives_come_from_these_rules_only():
    assert {name for name, rule in CATALOGUE.rules.items() if rule.negative} == NEGATIVE


@pytest.mark.parametrize("name", RULES)
def test_a_rule_fits_its_relation(name):
    rule = CATALOGUE.rules[name]
    relation = SCHEMA.relation(rule.relation)
    assert name.startswith(("TN." if rule.negative else "") + rule.relation)
    assert relation.head in {"*", rule.head.type}
    assert relation.tail in {"*", rule.tail.type}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_labelled_with_its_source(name):
    rule = CATALOGUE.rules[name]
    assert rule.label == LABELS[rule.source.split(".")[0]]


@pytest.mark.parametrize("name", RULES)
def test_every_condition_of_a_rule_has_a_reason_of_its_own(name):
    reasons = [condition.reason for condition in CATALOGUE.rules[name].where]
    assert all(re.fullmatch("[a-z_]+", reason) for reason in reasons)
    assert not {"bad_score", "no_score"} & set(reasons)
    if name.split(".")[0] not in {"IS_A", "PART_OF"}:  # where an id and a parent can both be of another ontology
        assert len(reasons) == len(set(reasons))


@pytest.mark.parametrize("name", RULES)
def test_quality_levels_only_ever_tighten(name):
    rule = CATALOGUE.rules[name]
    levels = [rule.quality.low, rule.quality.medium, rule.quality.high]
    assert (rule.score is None) == (rule.relation in UNSCORED)
    if rule.score is None:
        assert levels == [None] * 3
        return
    assert rule.quality.high is not None
    assert all(level.column == rule.score.column for level in levels if level is not None)
    if not rule.score.best_first:
        bounds = [level.above for level in levels]
        assert bounds in ([0, 400, 700], [0, 0.4, 0.7])
    elif levels[0] is not None:
        grades = [list(level.one_of) for level in levels]
        assert all(grade == list(rule.score.best_first)[: len(grade)] for grade in grades)
        assert grades[2] == grades[1][: len(grades[2])]
        assert grades[1] == grades[0][: len(grades[1])]


@pytest.mark.parametrize("name", RULES)
def test_a_negation_is_looked_for_wherever_annotations_have_one(name):
    rule = CATALOGUE.rules[name]
    if "qualifier" in rule.columns():
        tests = [rule.negation] if not rule.negative else [test for test in rule.where if test.column == "qualifier"]
        assert [test.token for test in tests] == ["NOT"]
    assert rule.negation is None or not rule.negative


@pytest.fixture(scope="module")
def database():
    with open_database() as (connection, _):
        yield connection


@pytest.mark.parametrize("name", [*RULES, *CATALOGUE.maps])
def test_regular_expressions_mean_something_to_the_engine(name, database):
    entry = CATALOGUE.rules.get(name) or CATALOGUE.maps[name]
    cells = [entry.head, entry.tail] if name in CATALOGUE.rules else [entry.key, entry.value]
    patterns = [cell.extract for cell in cells if cell.extract] + [one for cell in cells for one in cell.rewrite]
    patterns += [test.matches or test.matches_not for test in entry.where if test.matches or test.matches_not]
    for pattern in patterns:
        assert database.execute(f"SELECT regexp_matches('', {quote(pattern)})").fetchall()
    assert all(re.compile(cell.extract).groups >= 1 for cell in cells if cell.extract)


@pytest.mark.parametrize("name", RULES)
def test_prefixes_are_spelled_as_registered(name):
    rule = CATALOGUE.rules[name]
    cells = [rule.head, rule.tail]
    cells += [cell for end in cells for via in end.via for cell in (CATALOGUE.maps[via].key, CATALOGUE.maps[via].value)]
    assert {cell.prefix for cell in cells if cell.prefix is not None} <= set(SCHEMA.prefixes)


def test_every_map_is_used_and_every_source_needed():
    ends = [end for rule in CATALOGUE.rules.values() for end in (rule.head, rule.tail)]
    assert {via for end in ends for via in end.via} == set(CATALOGUE.maps)
    needed = {source for rule in CATALOGUE.rules.values() for source in CATALOGUE.needs(rule)}
    assert needed == set(SOURCES)


# ------------------------------------------------------------------------------------------- every rule, by example


def write_odd_sources(folder):
    """Files with a row for each reason that no row of the demo has."""
    tree = ["is_a: {0}:9900001", "relationship: part_of {0}:9900001"]
    foreign = ["is_a: BFO:0000001", "relationship: part_of BFO:0000001"]
    changed = demo_sources()
    for name, prefix in {"go": "GO", "hpo": "HP", "do": "DOID", "uberon": "UBERON"}.items():
        own = [line.format(prefix) for line in tree]
        path = folder / changed[f"{name}.ontology"].name
        changed[f"{name}.ontology"] = write_obo(
            path,
            {
                f"{prefix}:9900001": [],
                f"{prefix}:9900002": [*own, *foreign],
                f"{prefix}:9900003": [*own, "is_obsolete: true"],
            },
        )
    annotation = ["OMIM", "990001", "x", "{call}", "HP:9900001", "x", "TAS", "", "", "", "I", "", "", "", ""]
    both = "UBERON:9900001 ∩ CL:9900001"
    more = {
        "bgee.expression": ["ENSG99000000001", "x", both, "x", "{call}", "gold quality", "1"],
        "bgee.differential": ["ENSG99000000001", "x", both.replace(" ", ""), "x", "x", "x", "{call}", "high quality"],
        "hpo.disease_phenotype": annotation,
        "hpo.disease_phenotype_negated": annotation,
        "string.actions": ["9606.ENSP99000000001", "9606.ENSP99000000002", "{call}", "", "f", "f", "900"],
    }  # fmt: skip
    calls = {
        "bgee.expression": ["present", "absent"],
        "bgee.differential": ["over-expression", "under-expression"],
        "hpo.disease_phenotype": ["", "NOT"],
        "hpo.disease_phenotype_negated": ["", "NOT"],
        "string.actions": ["activation", "catalysis", "expression", "inhibition", "reaction"],
    }
    for name, row in more.items():
        lines = changed[name].read_text(encoding="utf-8").splitlines()
        rows = ["\t".join(row).format(call=call) for call in calls[name]]
        if name == "string.actions":
            for action in ("activation", "inhibition"):
                rows.append("\t".join(row).format(call="binding").replace("\t\tf\t", f"\t{action}\tf\t"))
            rows.append("\t".join(row).format(call="ptmod").replace("\tf\tf\t", "\tt\tt\t"))
        changed[name] = write(folder / changed[name].name, [*lines, *rows])
    return changed


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """The demo with odd rows: its sources and its graph."""
    folder = tmp_path_factory.mktemp("odd")
    sources = write_odd_sources(folder / "sources")
    return sources, generate(sources, folder / "graph")


@pytest.fixture(scope="module")
def examples(tmp_path_factory, odd):
    """The ledgers of the demo, and of the demo with odd rows."""
    return generate(demo_sources(), tmp_path_factory.mktemp("plain") / "graph").ledger, odd[1].ledger


def test_odd_rows_are_counted_as_a_plain_reading_counts_them(odd):
    sources, graph = odd
    assert_as_expected(graph, build(sources))


@pytest.mark.parametrize("name", RULES)
def test_a_rule_keeps_a_row_of_the_demo(name, examples):
    plain, _ = examples
    assert plain[name]["kept"] >= 1


@pytest.mark.parametrize("name", RULES)
def test_every_reason_of_a_rule_occurs(name, examples):
    rule = CATALOGUE.rules[name]
    declared = {f"filtered:{condition.reason}" for condition in rule.where}
    declared |= {"negated"} if rule.negation is not None else set()
    seen = {reason for ledger in examples for reason in ledger[name]}
    assert {reason for reason in seen if reason.startswith(("filtered", "negated"))} == declared


# ---------------------------------------------------------------------------------------------- wrong declarations

SOURCE = """
[source."a.rows"]
title = "made-up"
gives = ["edge (made-up)"]
homepage = "https://example.org"
licence = "CC0 1.0"
format = "delimited"
files = ["rows*"]
[["source"."a.rows".layout]]
name = "rows"
named = { gene = "gene", term = "term", score = "score" }

[source."a.ontology"]
title = "made-up"
gives = ["ontology (made-up)"]
homepage = "https://example.org"
licence = "CC0 1.0"
format = "obo"
files = ["a.obo"]

[map.genes]
source = "a.rows"
key = { column = "gene" }
value = { column = "term", prefix = "NCBIGENE" }

[rule.GENE_GO]
relation = "GENE_GO"
source = "a.rows"
label = "A"
head = { type = "GENE", column = "gene", via = ["genes"] }
tail = { type = "GO", column = "term", ontology = "a.ontology" }
score = { column = "score" }
quality = { high = { column = "score", above = 7 } }
where = [{ column = "term", matches = '^GO:', reason = "other_term" }]
"""


def parse(folder, text, *more):
    paths = []
    for number, content in enumerate((text, *more)):
        paths.append(folder / f"{number}.toml")
        paths[-1].write_text(content, encoding="utf-8")
    return parse_catalogue("test", paths)


def test_a_tabular_source_is_added_without_python(tmp_path):
    catalogue = parse(tmp_path, SOURCE)
    assert list(catalogue.rules) == ["GENE_GO"]
    assert catalogue.needs(catalogue.rules["GENE_GO"]) == ("a.rows", "a.ontology")


WRONG = {
    "an unknown key of a source": ('licence = "CC0 1.0"', 'licence = "CC0 1.0"\ncolour = "red"', "colour"),
    "an unknown key of a layout": ('name = "rows"', 'name = "rows"\nskip = 29', "skip"),
    "an unknown key of a rule": ('label = "A"', 'label = "A"\ndirected = true', "directed"),
    "an unknown key of an end": ('column = "gene", via', 'column = "gene", colour = "red", via', "colour"),
    "an unknown key of a condition": ('reason = "other_term"', 'reason = "x", maybe = true', "maybe"),
    "an unknown key of a map": ('key = { column = "gene" }', 'key = { column = "gene" }\nbest = 1', "best"),
    "an unknown table": ("[map.genes]", "[maps.genes]", "maps"),
    "an unknown format": ('format = "obo"', 'format = "owl"', "owl"),
    "a missing key": ('label = "A"', "", "label"),
    "an unknown relation": ('relation = "GENE_GO"', 'relation = "GENE_GOO"', "GENE_GOO.*did you mean 'GENE_GO'"),
    "an unknown node type": ('type = "GENE"', 'type = "GENES"', "GENES"),
    "an unknown source of a rule": (
        'source = "a.rows"\nlabel',
        'source = "a.row"\nlabel',
        "'a.row'.*did you mean 'a.rows'",
    ),
    "an unknown source of a map": ('source = "a.rows"\nkey', 'source = "b.rows"\nkey', "'b.rows'"),
    "an unknown map": ('via = ["genes"]', 'via = ["genez"]', "genez.*did you mean 'genes'"),
    "an unknown ontology": ('ontology = "a.ontology"', 'ontology = "b.ontology"', "b.ontology"),
    "an ontology that is none": ('ontology = "a.ontology"', 'ontology = "a.rows"', "a.rows"),
    "an unknown column of a rule": ('column = "score" }\nq', 'column = "skore" }\nq', "skore.*did you mean 'score'"),
    "an unknown column of a condition": ('where = [{ column = "term"', 'where = [{ column = "them"', "them"),
    "an unknown column of a map": ('key = { column = "gene" }', 'key = { column = "jean" }', "jean"),
    "an unknown table of a source": ('label = "A"', 'label = "A"\ntable = "xref"', "xref"),
    "an unknown piece": ('head = { type = "GENE", column = "gene", via = ["genes"] }', 'head = "gene"', "'gene'"),
    "a pattern that is none": ("'^GO:'", "'^(GO:'", "GENE_GO"),
    "an extract without a group": ('column = "gene", via', 'column = "gene", extract = "^9606", via', "extract"),
    "a condition without a test": ("matches = '^GO:', ", "", "exactly one test"),
    "a condition with two tests": ("matches = '^GO:', ", "matches = '^GO:', token = 'x', ", "exactly one test"),
    "a condition without a reason": (', reason = "other_term"', "", "reason"),
    "a prefix that is not registered": ('prefix = "NCBIGENE"', 'prefix = "ENTREZ"', "ENTREZ"),
    "a layout without columns": ('named = { gene = "gene", term = "term", score = "score" }', "", "named"),
    "delimited text without a layout": ('format = "obo"', 'format = "delimited"', "layout"),
    "a dump without tables": ('format = "obo"', 'format = "pgdump"', "tables"),
    "no TOML": ("[map.genes]", "[map.genes", "0.toml"),
    "a rule that is no table": ("[map.genes]", "[rule]\nX = 3\n[map.genes]", "X"),
    "a map that is no table": ("[map.genes]", "[map]\nX = 3\n[map.genes]", "X"),
    "a source that is no table": ('[source."a.ontology"]', '[source]\nX = 3\n[source."a.ontology"]', "X"),
    "a kind that is no table": ('[source."a.rows"]', 'end = 3\n[source."a.rows"]', "end"),
    "a layout of a source that has none": (
        'format = "obo"',
        'format = "delimited"\nlayout = "a.ontology"',
        "a.ontology",
    ),
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_declaration_is_refused_by_name(tmp_path, fault):
    old, new, named = WRONG[fault]
    assert SOURCE.count(old) >= 1, old
    with pytest.raises(CatalogueError, match=named) as caught:
        parse(tmp_path, SOURCE.replace(old, new))
    assert "\n" not in str(caught.value)


def test_a_declaration_is_made_once(tmp_path):
    with pytest.raises(CatalogueError, match=r"1\.toml: \[map\.'genes'\] is declared twice"):
        parse(
            tmp_path, SOURCE, '[map.genes]\nsource = "a.rows"\nkey = { column = "gene" }\nvalue = { column = "term" }\n'
        )


def test_an_unknown_edition_names_the_known_ones():
    with pytest.raises(InputError, match="'2019'; known are 2020"):
        load_catalogue("2019")


def test_declarations_are_frozen():
    with pytest.raises(Exception, match="frozen"):
        CATALOGUE.rules["GENE_GO"].label = "x"
    assert load_catalogue("2020") == CATALOGUE


def test_the_files_of_the_edition_hold_nothing_else():
    assert all(file.name.endswith(".toml") for file in FOLDER.iterdir())
    kinds = {kind for file in FOLDER.iterdir() for kind in tomllib.loads(file.read_text(encoding="utf-8"))}
    assert kinds == {"source", "map", "rule", "end", "quality"}


# ------------------------------------------------------------------------------------------------------ source maps


def test_paths_of_a_source_map_are_relative_to_it(tmp_path):
    path = write(tmp_path / "deep" / "map.toml", ['edition = "2020"', "[sources]", '"go.ontology" = "../go.obo"'])
    assert read_source_map(path) == ("2020", {"go.ontology": tmp_path / "deep" / ".." / "go.obo"})
    write(path, ["[sources]", '"go.ontology" = "/somewhere/go.obo"'])
    assert read_source_map(path)[1]["go.ontology"].as_posix() == "/somewhere/go.obo"
    assert read_source_map(path)[0] is None


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("[sources", "not valid TOML"),
        ("[sources]\n'go.ontology' = 3", "sources"),
        ("sources = 3", "sources"),
        ("[source]\n'go.ontology' = 'x'", "unknown key 'source'"),
        ("edition = 2020\n[sources]", "edition = 2020"),
        ("\udcff", "not valid TOML"),
    ],
)
def test_a_wrong_source_map_is_refused(tmp_path, content, named):
    path = tmp_path / "map.toml"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=named) as caught:
        read_source_map(path)
    assert "map.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_absent_source_map_is_named(tmp_path):
    with pytest.raises(InputError, match=r"map\.toml: no such file"):
        read_source_map(tmp_path / "map.toml")


def test_an_unknown_source_id_names_the_known_ones(tmp_path):
    with pytest.raises(InputError) as caught:
        check_sources(CATALOGUE, {"string.link": tmp_path}, "map.toml")
    assert str(caught.value).startswith("map.toml: unknown source 'string.link' (did you mean 'string.links'?)")
    assert all(name in str(caught.value) for name in SOURCES)


def test_an_absent_source_file_is_named(tmp_path):
    with pytest.raises(
        InputError, match=r"map\.toml: go\.ontology is .*go\.obo: no such file; check the path, or remove the line"
    ):
        check_sources(CATALOGUE, {"go.ontology": tmp_path / "go.obo"}, "map.toml")


def test_two_files_that_could_be_one_source_are_refused(tmp_path):
    for name in ("hp.obo", "hp.obo.gz", "readme.txt"):
        (tmp_path / name).write_bytes(b"x")
    with pytest.raises(InputError, match=r"both hp\.obo and hp\.obo\.gz could be hpo\.ontology"):
        find_sources(CATALOGUE, tmp_path)


def test_an_absent_source_folder_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere: no such folder"):
        find_sources(CATALOGUE, tmp_path / "nowhere")
