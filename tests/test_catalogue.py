"""The declarations of all editions, each field of each entry, and what a wrong declaration says."""

import re
import tempfile
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from edition_2026 import generate_2026, quoted, write_sources
from openbiolink.errors import CatalogueError, InputError, OpenBioLinkError
from openbiolink.graph import generate_graph
from openbiolink.schema import load_schema
from openbiolink.sources.catalogue import DEFAULT_EDITION, EDITIONS, load_catalogue, parse_catalogue
from openbiolink.sources.layout import find_layout
from openbiolink.sources.local import check_sources, find_sources, read_source_map
from openbiolink.sources.lock import find_version
from openbiolink.sources.read import load_source
from openbiolink.tables import open_database, quote
from oracles.graph import build
from source_files import assert_as_expected, demo_sources, generate, write, write_obo

CATALOGUES = {name: load_catalogue(name) for name in EDITIONS}
CATALOGUE = CATALOGUES["2020"]
SCHEMA = load_schema()
FOLDER = files("openbiolink") / "sources" / "editions"
SOURCES = {
    "2020": [
        "string.links", "string.actions", "string.entrez", "stitch.links", "stitch.actions", "go.ontology",
        "go.annotations", "disgenet.gene_disease", "disgenet.mappings", "hpo.ontology", "hpo.disease_phenotype",
        "hpo.disease_phenotype_negated", "hpo.gene_phenotype", "bgee.expression", "bgee.differential",
        "ctd.gene_pathway", "drugcentral.dump", "sider.side_effects", "do.ontology", "uberon.ontology",
        "uniprot.id_mapping",
    ],
    "2026": [
        "string.links", "string.regulation", "string.entrez", "stitch.links", "stitch.actions", "go.ontology",
        "go.annotations", "mondo.ontology", "mondo.mappings", "gencc.gene_disease", "clingen.gene_disease",
        "diseases.knowledge", "hpo.ontology", "hpo.disease_phenotype", "hpo.gene_phenotype", "hpo.gene_disease",
        "drugcentral.dump", "sider.side_effects", "medgen.hpo", "uberon.ontology", "bgee.expression",
        "reactome.gene_pathway", "ctd.gene_pathway", "kegg.gene_pathway", "hgnc.genes", "uniprot.id_mapping",
    ],
}  # fmt: skip
LICENCES = {
    "bgee": "CC0", "clingen": "CC0", "ctd": "Custom: CTD", "diseases": "CC BY", "disgenet": "CC BY-NC-SA", "do": "CC0",
    "drugcentral": "CC BY-SA", "gencc": "CC0", "go": "CC BY", "hgnc": "CC0", "hpo": "Custom: HPO",
    "kegg": "Custom: KEGG", "medgen": "Public Domain", "mondo": "CC BY", "reactome": "CC BY", "sider": "CC BY-NC-SA",
    "stitch": "CC BY", "string": "CC BY", "uberon": "CC BY", "uniprot": "CC BY",
}  # fmt: skip
LABELS = {
    "bgee": "Bgee", "clingen": "ClinGen", "ctd": "CTD", "diseases": "DISEASES", "disgenet": "DisGeNet", "do": "DO",
    "drugcentral": "DrugCentral", "gencc": "GenCC", "go": "GO", "hpo": "HPO", "kegg": "KEGG", "mondo": "MONDO",
    "reactome": "Reactome", "sider": "SIDER", "stitch": "STITCH", "string": "STRING", "uberon": "UBERON",
}  # fmt: skip
ACTIONS = ["ACTIVATION", "BINDING", "CATALYSIS", "EXPRESSION", "INHIBITION", "REACTION", "BINDACT", "BINDINH", "PTMOD"]
CHANNELS = ["NEIGHBORHOOD", "FUSION", "COOCCURRENCE", "COEXPRESSION", "EXPERIMENT", "DATABASE", "TEXTMINING"]
# Relations that an edition has no source of.
ABSENT = {
    "2020": {"GENE_REGULATION_GENE", *(f"GENE_{channel}_GENE" for channel in CHANNELS)},
    "2026": {
        *(f"GENE_{action}_GENE" for action in ACTIONS), "GENE_OVEREXPRESSED_ANATOMY", "GENE_UNDEREXPRESSED_ANATOMY",
    },
}  # fmt: skip
NEGATIVE = {
    "2020": {
        "TN.DIS_PHENOTYPE", "TN.DIS_PHENOTYPE.negated_file", "TN.DIS_DRUG", "TN.GENE_EXPRESSED_ANATOMY",
        "TN.GENE_OVEREXPRESSED_ANATOMY", "TN.GENE_UNDEREXPRESSED_ANATOMY",
    },
    "2026": {
        "TN.DIS_PHENOTYPE", "TN.DIS_DRUG", "TN.GENE_EXPRESSED_ANATOMY", "TN.GENE_GO", "TN.GENE_DIS",
        "TN.GENE_DIS.ClinGen",
    },
}  # fmt: skip
# What is used or built only where it is asked for by name.
OPT_IN = {
    "2020": set(),
    "2026": {
        "sider.side_effects", "ctd.gene_pathway", "kegg.gene_pathway", "GENE_PHENOTYPE.any",
        *(f"GENE_{channel}_GENE" for channel in CHANNELS),
    },
}  # fmt: skip
UNSCORED = {
    "ctd",
    "kegg",
    "drugcentral",
    "sider",
    "do",
    "mondo",
    "uberon",
}  # and what is not an annotation of GO or HPO
# Real files in each layout of each source whose facts were checked; "" is the layout of a fixed format.
REAL = {
    "go.annotations": {"": "go/excerpts/goa_human.2020-06-01.gaf21.gaf.gz go/excerpts/goa_human_head.gaf22.gaf"},
    "hpo.ontology": {"": "hpo/2021-02-08/hp.obo.gz hpo/2025-01-16/hp.obo.gz"},
    "hpo.disease_phenotype": {
        "hpoa, plain header (from 2021)": "hpo/2025-01-16/phenotype.hpoa.gz",
        "hpoa, header in a comment (to 2021)": "hpo/2021-02-08/phenotype.hpoa.gz",
    },
    "hpo.gene_phenotype": {"6 columns (from June 2023)": "hpo/2025-01-16/genes_to_phenotype.txt.gz"},
    "sider.side_effects": {"6 columns": "sider/meddra_all_se.tsv.gz"},
    "do.ontology": {"": "do/HumanDO.2015-05-14.obo.gz"},
    "uberon.ontology": {"": "uberon/musculoskeletal.obo.gz uberon/efo-slim.obo.gz"},
    "string.links": {
        "full links": "string/excerpts/9606.protein.links.full.v12.0.txt.gz",
        "links, with or without channels": "string/excerpts/10090.protein.links.detailed.txt",
    },
}
VERSIONS = {
    "hpo/2025-01-16/hp.obo.gz": "2025-01-16",
    "hpo/2025-01-16/phenotype.hpoa.gz": "2025-01-16",
    "hpo/2021-02-08/hp.obo.gz": "2021-02-08",
    "hpo/2021-02-08/phenotype.hpoa.gz": "2021-02-08",
    "go/excerpts/goa_human_head.gaf22.gaf": "2021-12-16",
}


def nothing(_: str) -> None:
    """A note that nobody reads."""


def each(names):
    """Parameters (edition, name) for all names of all editions."""
    return [pytest.param(name, one, id=f"{name} {one}") for name in EDITIONS for one in names[name]]


EACH_SOURCE = each(SOURCES)
EACH_RULE = each({name: CATALOGUES[name].rules for name in EDITIONS})
EACH_LOOKUP = each(
    {name: [*CATALOGUES[name].rules, *CATALOGUES[name].maps, *CATALOGUES[name].names] for name in EDITIONS}
)


# --------------------------------------------------------------------------------------------------- every source


def test_the_default_edition_is_the_newest():
    assert max(EDITIONS) == DEFAULT_EDITION


@pytest.mark.parametrize("name", EDITIONS)
def test_the_sources_are_these(name):
    assert sorted(CATALOGUES[name].sources) == sorted(SOURCES[name])


@pytest.mark.parametrize(("name", "one"), EACH_SOURCE)
def test_a_source_says_what_it_is_and_where(name, one):
    source = CATALOGUES[name].sources[one]
    assert source.title.strip() == source.title != ""
    assert re.fullmatch(r"https?://[\w.-]+\.[a-z]+(/\S*)?", source.homepage)
    assert source.version or source.addresses[0].kind == "rolling"
    assert source.gives
    assert source.infores


@pytest.mark.parametrize(("name", "one"), EACH_SOURCE)
def test_a_source_can_be_fetched_or_says_how_to_get_it_by_hand(name, one):
    source = CATALOGUES[name].sources[one]
    assert source.addresses or source.by_hand
    order = ["pinned", "rolling", "mirror", "archive"]
    kinds = [order.index(address.kind) for address in source.addresses]
    assert kinds == sorted(kinds)
    assert len({address.url for address in source.addresses}) == len(kinds)
    assert all(address.sha256 is None or address.kind in {"pinned", "archive"} for address in source.addresses)
    assert all(address.credential is None for address in source.addresses)


@pytest.mark.parametrize("name", EDITIONS)
def test_downloads_lie_side_by_side(name, tmp_path):
    """In one folder under names of their own, where each is found as the source it is."""
    fetched = {one: source for one, source in CATALOGUES[name].sources.items() if source.addresses}
    paths = {one: write(tmp_path / source.file_name(), ["x"]) for one, source in fetched.items()}
    assert len(set(paths.values())) == len(paths)
    assert find_sources(CATALOGUES[name], tmp_path) == paths


@pytest.mark.parametrize(("name", "one"), EACH_SOURCE)
def test_a_source_is_not_made_from_itself(name, one):
    assert one not in CATALOGUES[name].sources[one].derived_from


@pytest.mark.parametrize("name", EDITIONS)
def test_what_is_used_by_name_only_is_this(name):
    catalogue = CATALOGUES[name]
    named = {one: entry.default for one, entry in (*catalogue.sources.items(), *catalogue.rules.items())}
    assert {one for one, default in named.items() if not default} == OPT_IN[name]


@pytest.mark.parametrize(("name", "one"), EACH_SOURCE)
def test_a_source_has_the_licence_of_the_table(name, one):
    licence = re.sub(r" \d\.\d$", "", CATALOGUES[name].sources[one].licence)
    assert licence == LICENCES[one.split(".")[0]]


PUBLISHED = tomllib.loads((FOLDER.parent / "published_licences.toml").read_text(encoding="utf-8"))["row"]


@pytest.mark.parametrize("row", PUBLISHED, ids=[f"{row['type']} {row['name']}" for row in PUBLISHED])
def test_the_published_table_of_licences_holds(row):
    """Every row of it is a source or a namespace of edition 2020, with the same role, terms and true negatives."""
    owner, catalogue = row["name"].casefold(), CATALOGUE
    givers = {one: source for one, source in catalogue.sources.items() if one.split(".")[0] == owner}
    givers |= {one: entry for one, entry in catalogue.namespaces.items() if one == owner}
    givers = {one: giver for one, giver in givers.items() if row["type"] in giver.gives}
    assert givers
    licences = {giver.licence for giver in givers.values()}
    assert {catalogue.licences[licence].printed or licence for licence in licences} == {row["licence"]}
    if row["type"].startswith("edge"):
        rules = [rule for rule in catalogue.rules.values() if rule.source in givers]
        assert any(rule.negative for rule in rules) == (row["true_negatives"] == "Yes")
        assert row["score"] == "No" or all(rule.score is not None for rule in rules)


def test_the_published_table_of_licences_is_whole():
    assert len(PUBLISHED) == 25
    assert sum("score" in row for row in PUBLISHED) == sum(row["type"].startswith("edge") for row in PUBLISHED) == 10


@pytest.mark.parametrize(("name", "one"), EACH_SOURCE)
def test_a_source_is_found_by_its_own_file_names_only(name, one, tmp_path):
    source = CATALOGUES[name].sources[one]
    assert source.files
    for pattern in source.files:
        for ending in ("", ".gz", "-2020.txt.gz"):
            folder = tmp_path / f"{source.files.index(pattern)}{ending}"
            folder.mkdir()
            file = folder / (pattern.replace("*", "") + ending if pattern.endswith("*") else pattern.replace("*", ""))
            file.write_bytes(b"x")
            assert find_sources(CATALOGUES[name], folder) == {one: file}


def test_every_source_of_a_folder_is_found():
    folder = demo_sources()["string.links"].parent
    assert find_sources(CATALOGUE, folder) == demo_sources()


@pytest.mark.parametrize(("name", "one"), EACH_SOURCE)
def test_layouts_are_told_apart_by_their_names(name, one):
    source = CATALOGUES[name].sources[one]
    assert len({layout.name for layout in source.layouts}) == len(source.layouts)
    assert bool(source.layouts) == (source.format == "delimited")


LAYOUTS = [
    pytest.param(name, one, layout, id=f"{name} {one}: {layout.name}")
    for name in EDITIONS
    for one in SOURCES[name]
    for layout in CATALOGUES[name].sources[one].layouts
]


@pytest.mark.parametrize(("name", "one", "layout"), LAYOUTS)
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_a_file_built_from_a_layout_is_recognised_as_that(name, one, layout, data):
    separator = data.draw(st.sampled_from(layout.separator))
    join = (lambda cells: quoted(cells, separator)) if layout.quoted else separator.join
    ascii_only = st.characters(min_codepoint=33, max_codepoint=126, exclude_characters=[separator, '"'])
    comments = data.draw(st.integers(0, 40)) if layout.comment else 0
    lines = [f"{layout.comment} made-up {number}" for number in range(comments)]
    if layout.header == "below":
        lines += [join(["a banner", "", ""])] * data.draw(st.integers(0, 4))
    skip = len(lines) + (layout.header != "none")
    if layout.header == "none":
        columns = list(layout.positional)
    else:
        extra = data.draw(st.lists(st.sampled_from(["Extra", "extra_2", "Other"]), unique=True))
        columns = data.draw(st.permutations([*layout.named.values(), *extra]))
        spelled = data.draw(st.sampled_from([str, str.lower, str.upper]))
        header = join([spelled(column) for column in columns])
        lines.append(f"{layout.comment}{header}" if layout.header == "comment" else header)
    for _ in range(data.draw(st.integers(1, 3))):
        lines.append(join([
            data.draw(st.from_regex(layout.patterns[column], fullmatch=True, alphabet=ascii_only))
            if column in layout.patterns else "made-up" for column in columns
        ]))  # fmt: skip
    found = find_layout(lines, name=one, source=CATALOGUES[name].sources[one], place="file")
    assert found.layout.name == layout.name
    assert found.separator == separator
    assert found.skip == skip
    wanted = layout.positional or [{text: ours for ours, text in layout.named.items()}.get(text) for text in columns]
    assert all(ours in {None, theirs} for ours, theirs in zip(wanted, found.columns, strict=True))


CHECKED = [
    pytest.param(name, one, id=f"{name} {one}")
    for name in EDITIONS
    for one, source in CATALOGUES[name].sources.items()
    if source.checked != "no"
]


def test_these_sources_were_checked_against_real_files():
    levels = {
        (name, one): source.checked
        for name in EDITIONS
        for one, source in CATALOGUES[name].sources.items()
        if source.checked != "no"
    }
    assert levels == {
        ("2020", "hpo.ontology"): "full", ("2020", "sider.side_effects"): "full", ("2020", "do.ontology"): "full",
        ("2020", "go.annotations"): "excerpt", ("2020", "uberon.ontology"): "excerpt",
        ("2026", "hpo.ontology"): "full", ("2026", "sider.side_effects"): "full",
        ("2026", "hpo.disease_phenotype"): "full", ("2026", "hpo.gene_phenotype"): "full",
        ("2026", "go.annotations"): "excerpt", ("2026", "uberon.ontology"): "excerpt",
        ("2026", "string.links"): "excerpt",
    }  # fmt: skip


def described(shared):
    """Real data file → what it is: "real, full size", "real, excerpt", or something that is not real."""
    lines = (shared / "data" / "README.md").read_text(encoding="utf-8").splitlines()
    rows = (re.split(r"(?<!\\)\|", line) for line in lines if line.startswith("| "))
    return {row[1].strip(): row[-2].strip() for row in rows if len(row) > 6}


def read_columns(catalogue, one):
    """Table of a source → every column of it that the edition reads."""
    columns = {}
    for reader in (*catalogue.rules.values(), *catalogue.maps.values(), *catalogue.names.values()):
        if reader.source == one:
            columns[reader.table] = columns.get(reader.table, frozenset()) | reader.columns()
    return columns


@pytest.mark.real
@pytest.mark.parametrize(("name", "one"), CHECKED)
def test_every_declared_table_and_column_is_in_the_real_files(name, one, shared, tmp_path):
    source = CATALOGUES[name].sources[one]
    assert {layout.name for layout in source.layouts} == REAL[one].keys() - {""}
    columns = read_columns(CATALOGUES[name], one)
    for layout, paths in REAL[one].items():
        for path in paths.split():
            kind = described(shared)[path]
            assert kind.startswith("real, full size" if source.checked == "full" else "real, ")
            needed = {"rows": frozenset(source.layouts[0].columns())} if source.layouts else columns
            notes = []
            with open_database() as (connection, _):
                loaded = load_source(connection, one, shared / "data" / path, source, needed=needed, note=notes.append)
                filled = {
                    table: connection.execute(f'SELECT {columns_filled(fields)} FROM "{one}/{table}"').fetchall()[0]
                    for table, fields in needed.items()
                }
            assert not [note for note in notes if "taken as empty" in note]
            assert loaded.layout == layout or not source.layouts
            assert all(all(cells) for cells in filled.values())
            if path in VERSIONS:
                assert find_version(source, loaded.first_lines) == VERSIONS[path]


def columns_filled(columns):
    return ", ".join(f'count(*) > 0 AND count("{column}") = count(*)' for column in sorted(columns))


# ----------------------------------------------------------------------------------------------------- every rule


@pytest.mark.parametrize("name", EDITIONS)
def test_every_relation_of_the_schema_has_a_rule_and_no_other(name):
    relations = {rule.relation for rule in CATALOGUES[name].rules.values() if not rule.negative}
    assert relations == SCHEMA.relations.keys() - ABSENT[name]


@pytest.mark.parametrize("name", EDITIONS)
def test_true_negatives_come_from_these_rules_only(name):
    assert {one for one, rule in CATALOGUES[name].rules.items() if rule.negative} == NEGATIVE[name]


@pytest.mark.parametrize(("name", "one"), EACH_RULE)
def test_a_rule_fits_its_relation(name, one):
    rule = CATALOGUES[name].rules[one]
    relation = SCHEMA.relation(rule.relation)
    assert one.startswith(("TN." if rule.negative else "") + rule.relation)
    assert relation.head in {"*", rule.head.type}
    assert relation.tail in {"*", rule.tail.type}


@pytest.mark.parametrize(("name", "one"), EACH_RULE)
def test_a_rule_is_labelled_with_its_source(name, one):
    rule = CATALOGUES[name].rules[one]
    assert rule.label == LABELS[rule.source.split(".")[0]]


@pytest.mark.parametrize(("name", "one"), EACH_RULE)
def test_every_condition_of_a_rule_has_a_reason_of_its_own(name, one):
    reasons = [condition.reason for condition in CATALOGUES[name].rules[one].where]
    assert all(re.fullmatch("[a-z_]+", reason) for reason in reasons)
    assert not {"bad_score", "no_score"} & set(reasons)
    if one.split(".")[0] not in {"IS_A", "PART_OF"}:  # where an id and a parent can both be of another ontology
        assert len(reasons) == len(set(reasons))


@pytest.mark.parametrize(("name", "one"), EACH_RULE)
def test_quality_levels_only_ever_tighten(name, one):
    rule = CATALOGUES[name].rules[one]
    levels = [rule.quality.low, rule.quality.medium, rule.quality.high]
    unscored = rule.source.split(".")[0] in UNSCORED or rule.relation in {"IS_A", "PART_OF", "GENE_PHENOTYPE"}
    assert (rule.score is None) == unscored
    if rule.score is None:
        assert levels == [None] * 3
        return
    assert rule.quality.high is not None
    assert all(level.column == rule.score.column for level in levels if level is not None)
    if not rule.score.best_first:
        bounds = [level.above for level in levels]
        assert bounds in ([0, 400, 700], [0, 0.4, 0.7])
    elif levels[0] is not None and levels[0].one_of is not None:
        # Each level has the best of the words that the one before it has.
        words = [sorted(level.one_of, key=rule.score.best_first.index) for level in levels]
        assert words[1] == words[0][: len(words[1])]
        assert words[2] == words[1][: len(words[2])]
        assert len(words[0]) >= len(words[1]) >= len(words[2]) >= 1
    elif levels[0] is not None:
        bounds = [level.above if level.above is not None else level.at_least for level in levels]
        assert bounds == sorted(set(bounds))


@pytest.mark.parametrize(("name", "one"), EACH_RULE)
def test_a_negation_is_looked_for_wherever_annotations_have_one(name, one):
    rule = CATALOGUES[name].rules[one]
    if "qualifier" in rule.columns():
        tests = [rule.negation] if not rule.negative else [test for test in rule.where if test.column == "qualifier"]
        assert [test.token for test in tests] == ["NOT"]
    assert rule.negation is None or not rule.negative


@pytest.mark.parametrize("name", EDITIONS)
def test_rules_of_one_relation_grade_on_one_scale(name):
    """So that of several rows that give an edge one is the best, whichever source it is from."""
    scales = {}
    for rule in CATALOGUES[name].rules.values():
        if rule.score is not None:
            scales.setdefault((rule.relation, rule.negative), set()).add(rule.score.best_first)
    assert all(len(scale) == 1 for scale in scales.values())


@pytest.fixture(scope="module")
def database():
    with open_database() as (connection, _):
        yield connection


def cells_of(catalogue, one):
    """The cells that a rule, map or name reads ids from."""
    if one in catalogue.maps:
        return [catalogue.maps[one].key, catalogue.maps[one].value]
    return [catalogue.names[one].node] if one in catalogue.names else [*catalogue.rules[one].ends()]


@pytest.mark.parametrize(("name", "one"), EACH_LOOKUP)
def test_regular_expressions_mean_something_to_the_engine(name, one, database):
    catalogue = CATALOGUES[name]
    entry = catalogue.rules.get(one) or catalogue.maps.get(one) or catalogue.names[one]
    cells = cells_of(catalogue, one)
    patterns = [cell.extract for cell in cells if cell.extract] + [text for cell in cells for text in cell.rewrite]
    patterns += [test.matches or test.matches_not for test in entry.where if test.matches or test.matches_not]
    patterns += [entry.date.pattern] if getattr(entry, "date", None) else []
    for pattern in patterns:
        assert database.execute(f"SELECT regexp_matches('', {quote(pattern)})").fetchall()
    assert all(re.compile(cell.extract).groups >= 1 for cell in cells if cell.extract)


@pytest.mark.parametrize(("name", "one"), EACH_LOOKUP)
def test_prefixes_are_spelled_as_registered(name, one):
    cells = cells_of(CATALOGUES[name], one)
    assert {cell.prefix for cell in cells if cell.prefix is not None} <= set(SCHEMA.prefixes)


@pytest.mark.parametrize("name", EDITIONS)
def test_every_map_is_used_and_every_source_needed(name):
    catalogue = CATALOGUES[name]
    ends = [end for rule in catalogue.rules.values() for end in rule.ends()]
    assert {via for end in ends for via in end.via} == set(catalogue.maps)
    needed = {source for rule in catalogue.rules.values() for source in catalogue.needs(rule)}
    assert needed == set(SOURCES[name])


@pytest.mark.parametrize("name", EDITIONS)
def test_names_are_of_sources_that_are_read_anyway(name):
    """A name needs no source that the rules of its type do not need."""
    catalogue = CATALOGUES[name]
    for entry in catalogue.names.values():
        rules = [rule for rule in catalogue.rules.values() if entry.node.type in {end.type for end in rule.ends()}]
        assert set(catalogue.needs(entry)) <= {source for rule in rules for source in catalogue.needs(rule)}


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
    """Ledgers of each edition: of the demo and of the demo with odd rows; of made-up files with all that is opt-in."""
    folder = tmp_path_factory.mktemp("examples")
    plain = generate(demo_sources(), folder / "plain")
    newest = generate_2026(write_sources(folder / "2026"), folder / "graph", included=tuple(sorted(OPT_IN["2026"])))
    return {"2020": [plain.ledger, odd[1].ledger], "2026": [newest.ledger]}


def test_odd_rows_are_counted_as_a_plain_reading_counts_them(odd):
    sources, graph = odd
    assert_as_expected(graph, build(sources))


@pytest.mark.parametrize(("name", "one"), EACH_RULE)
def test_a_rule_keeps_a_row_of_an_example(name, one, examples):
    assert examples[name][0][one]["kept"] >= 1


@pytest.mark.parametrize(("name", "one"), EACH_RULE)
def test_every_reason_of_a_rule_occurs(name, one, examples):
    rule = CATALOGUES[name].rules[one]
    declared = {f"filtered:{condition.reason}" for condition in rule.where}
    declared |= {"negated"} if rule.negation is not None else set()
    seen = {reason for ledger in examples[name] for reason in ledger[one]}
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
    "an end of another type": ('type = "GENE"', 'type = "DRUG"', "its head is DRUG, but the head of relation GENE_GO"),
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
    "a lookahead": ("matches = '^GO:'", "matches = '^(?=GO)'", "RE2.*perl operator"),
    "a lookahead that none matches": ("matches = '^GO:'", "matches_not = '(?<!x)'", "RE2"),
    "a lookahead in an extract": ('column = "gene", via', "column = 'gene', extract = '(?=G)(.)', via", "RE2"),
    "a lookahead in a date": ('label = "A"', "label = 'A'\ndate = { column = 'score', pattern = '(?=1)(1)' }", "RE2"),
    "a lookahead of a score": ('{ column = "score" }\nq', "{ column = 'score', extract = '(?=1)(1)' }\nq", "RE2"),
    "a rewriting without its group": (
        'key = { column = "gene" }',
        "key = { column = 'gene', rewrite = { '(a)' = '\\7' } }",
        "requests 7 matches",
    ),
    "a lookahead that is rewritten": (
        'key = { column = "gene" }',
        "key = { column = 'gene', rewrite = { '(?=a)' = 'b' } }",
        "RE2",
    ),
    "a bound that is no number": ("above = 7", "above = nan", "finite number"),
    "a bound without end": ("above = 7", "at_least = inf", "finite number"),
    "none of no texts": ("matches = '^GO:'", "none_of = []", "at least 1 item"),
    "a mark in the name of a column": ('gene = "gene"', '\'ge"ne\' = "gene"', "match pattern"),
    "a line end in the name of a column": ('gene = "gene"', '"ge\\nne" = "gene"', "match pattern"),
    "two columns of one name": ('gene = "gene"', "gene = 'gene', GENE = 'g2'", "'gene', letter case aside"),
    "two names for one column": ('gene = "gene"', "gene = 'gene', g2 = 'gene'", "of the file are called 'gene'"),
    "a template of no column": ('score = "score" }', 'score = "score" }\ncompose = { x = "{gen}" }', "'{gen}'"),
    "a template with a blank": ('score = "score" }', 'score = "score" }\ncompose = { x = "{ge ne}" }', "'{ge ne}'"),
    "a comment that every line begins with": ('name = "rows"\n', 'name = "rows"\ncomment = ""\n', "at least 1"),
    "a separator of two characters": ('name = "rows"\n', 'name = "rows"\nseparator = ["ab"]\n', "separator"),
    "a tab in a label": ('label = "A"', 'label = "A\\tB"', "label"),
    "a mark in the name of a source": ("[map.genes]", '[source."a\\"b"]\n[map.genes]', "names are of letters"),
    "a source in other letters": (
        "[map.genes]",
        '[source."A.Rows"]\ntitle="x"\ngives=[]\nhomepage="x"\nlicence="x"\nformat="obo"\nfiles=["x"]\n[map.genes]',
        "letter case",
    ),
    "an optional table that is none": (
        'format = "obo"',
        'format = "pgdump"\noptional_tables = ["b"]\ntables = { a = ["x"] }',
        "'b' is optional",
    ),
    "an origin that is no source": (
        'format = "obo"',
        'format = "obo"\nderived_from = ["a.row"]',
        "'a.row' is not.*did you mean 'a.rows'",
    ),
    "a list of node types": ('[source."a.rows"]', 'node_type = ["X"]\n[source."a.rows"]', "'node_type' is no table"),
    "a node type that is a text": ("[map.genes]", '[node_type]\nX = "X"\n[map.genes]', "'X' in .node_type. is no list"),
    "a prefix of numbers": ("[map.genes]", "[prefix]\nX = { pattern = 3 }\n[map.genes]", "prefix 'X': pattern"),
    "a prefix without a pattern": ("[map.genes]", "[prefix]\nX = {}\n[map.genes]", "prefix 'X'"),
    "a prefix of no pattern": ("[map.genes]", "[prefix]\nX = { pattern = '(?=a)' }\n[map.genes]", "prefix 'X'"),
    "a relation below itself": (
        "[map.genes]",
        "[relation]\nX = { parent = 'X' }\n[map.genes]",
        "'X' is below",
    ),
    "a relation that is a path": ("[map.genes]", "[relation]\n'../X' = { }\n[map.genes]", r"has the name '\.\./X'"),
    "nesting beyond measure": ("[map.genes]", f"x = {'[' * 50_000}\n[map.genes]", "not valid TOML"),
    "a number beyond measure": ("[map.genes]", f"x = {'9' * 5_000}\n[map.genes]", "not valid TOML"),
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


ADDRESS = 'format = "obo"\naddress = [{ url = "%s", kind = "rolling" }]'
UNSAFE = ["../../../evil.tsv", "a/b.obo", "a\\\\b.obo", "a\\u0000.obo", "..", "a.obo.part", "a.TMP", "openbiolink.lock"]


@pytest.mark.parametrize("name", UNSAFE)
def test_a_download_is_saved_under_a_plain_name(tmp_path, name):
    wrong = f'files = ["*"]\nsaved_as = "{name}"\n'
    with pytest.raises(CatalogueError, match=r'0\.toml: \[source\."a\.ontology"\]:.* cannot be saved as') as caught:
        parse(tmp_path, SOURCE.replace('files = ["a.obo"]', wrong))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", ["", "a/", "x%00y", "a%2F..", "a%5Cb", "a.lock", "%2E%2E"])
def test_a_download_has_no_name_of_an_address_that_is_none(tmp_path, path):
    text = SOURCE.replace('format = "obo"', ADDRESS % f"https://example.org/{path}")
    with pytest.raises(CatalogueError, match="saved as"):
        parse(tmp_path, text.replace('files = ["a.obo"]', 'files = ["*"]') if path != "a/" else text)


def test_scores_are_declared_once_and_tested_by_levels_without_a_column(tmp_path):
    pieces = """
        [score.graded]
        column = "score"
        best_first = ["good", "bad"]
        [quality.graded]
        low = { one_of = ["good", "bad"] }
        high = { column = "term", one_of = ["good"] }
    """
    rule = SOURCE.replace('score = { column = "score" }', 'score = "graded"')
    rule = rule.replace('quality = { high = { column = "score", above = 7 } }', 'quality = "graded"')
    found = parse(tmp_path, rule, pieces).rules["GENE_GO"]
    assert found.score.best_first == ("good", "bad")
    assert (found.quality.low.column, found.quality.medium, found.quality.high.column) == ("score", None, "term")
    with pytest.raises(CatalogueError, match="score = 'graded' is not declared"):
        parse(tmp_path, rule)


# ------------------------------------------------------------------------------------------- whatever a file may say

TEXTS = st.sampled_from([
    "", "a", "gene", "GENE", "a.rows", "a.ontology", "genes", "GENE_GO", "NCBIGENE", "^GO:", "(", "(?=a)", "(a)", r"\7",
    'a"b', "it's", "a\nb", "\x00", "{gene}", "../x", "http://[x/", "https://example.org/a.obo", "pgdump", "none", "\t",
]) | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)  # fmt: skip
KEYS = st.sampled_from([
    "source", "map", "rule", "name", "node_type", "prefix", "relation", "end", "score", "quality", "licence", "genes",
    "a.rows", "a.ontology", "GENE_GO", "layout", "address", "probe", "tables", "column", "listed_in", "where", "via",
    "rewrite", "extract", "one_of", "above", "parent", "pattern", "X",
])  # fmt: skip
NUMBERS = st.integers(-(2**70), 2**70) | st.floats() | st.dates() | st.booleans()
VALUES = st.recursive(
    TEXTS | NUMBERS,
    lambda deeper: st.lists(deeper, max_size=3) | st.dictionaries(KEYS | TEXTS, deeper, max_size=3),
    max_leaves=6,
)


EVERY_TABLE = """
[node_type]
TRAIT = ["ACME", "GO"]
[prefix.ACME]
pattern = "A[0-9]+"
synonyms = ["AC"]
[relation.TRAIT_TRAIT]
head = "TRAIT"
tail = "*"
parent = "~IS_A"
[end.trait]
type = "TRAIT"
column = "gene"
split = ";"
extract = "(.+)"
rewrite = { "x(.)" = "A" }
prefix = "ACME"
[score.graded]
column = "score"
best_first = ["4", "2"]
[quality.graded]
low = { one_of = ["2", "4"] }
[rule.TRAIT_TRAIT]
relation = "TRAIT_TRAIT"
source = "a.rows"
label = "A"
head = "trait"
tail = { type = "GO", column = "term" }
score = "graded"
quality = "graded"
date = { column = "score", pattern = "(....)-(..)" }
where = [
  { column = "gene", token = "x", separator = "|", reason = "token" },
  { column = "score", at_least = 1, reason = "few" },
  { reason = "unlisted", listed_in = { source = "a.rows", columns = { gene = "gene" } } },
]
[name.GO]
source = "a.ontology"
table = "name"
node = { type = "GO", column = "id" }
text = "name"
"""


def toml(value):
    """A value as TOML writes it."""
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(letter):08x}" for letter in value) + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(key)} = {toml(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(toml(entry) for entry in value) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def places_in(value):
    """(holder, key) of everything inside a value."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in [*entries]:
        yield value, key
        yield from places_in(entry)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_a_file_of_any_shape_is_read_or_refused_in_one_line(data):
    """Whatever stands where: it is refused by name, and what is not refused is something that the engine can run."""
    declared = tomllib.loads(SOURCE + EVERY_TABLE)
    for _ in range(data.draw(st.integers(1, 2))):
        places = [*places_in(declared)]
        texts = [(holder, key) for holder, key in places if isinstance(holder[key], str)]
        holder, key = data.draw(st.sampled_from(places) | st.sampled_from(texts))
        if isinstance(holder[key], dict) and data.draw(st.booleans()):
            holder[key][data.draw(KEYS | TEXTS)] = data.draw(VALUES)
        else:
            holder[key] = data.draw(TEXTS if isinstance(holder[key], str) else VALUES)
    if data.draw(st.booleans()):
        declared[data.draw(KEYS)] = data.draw(VALUES)
    text = "\n".join(f"{toml(kind)} = {toml(entries)}" for kind, entries in declared.items())
    try:
        catalogue = parse_catalogue("test", [Declared(text)])
    except (CatalogueError, InputError) as error:
        assert "\n" not in str(error)
        return
    event("accepted")
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "rows.tsv", ["gene\tterm\tscore", "x\tGO:0000001\t3"])
        ontology = write_obo(Path(folder) / "a.obo", {"GO:0000001": []})
        try:
            generate_graph(catalogue, {"a.rows": path, "a.ontology": ontology}, Path(folder) / "graph")
        except OpenBioLinkError as error:
            assert "\n" not in str(error)


class Declared:
    """A file of declarations that lies nowhere."""

    name = "made-up.toml"

    def __init__(self, text):
        self.text = text

    def read_text(self, encoding):
        return self.text


def test_a_declaration_is_made_once(tmp_path):
    with pytest.raises(CatalogueError, match=r"1\.toml: \[map\.'genes'\] is declared twice"):
        parse(
            tmp_path, SOURCE, '[map.genes]\nsource = "a.rows"\nkey = { column = "gene" }\nvalue = { column = "term" }\n'
        )


def test_an_unknown_edition_names_the_known_ones():
    with pytest.raises(InputError, match="'2019'; known are 2020, 2026"):
        load_catalogue("2019")


def test_declarations_are_frozen():
    with pytest.raises(Exception, match="frozen"):
        CATALOGUE.rules["GENE_GO"].label = "x"
    assert load_catalogue("2020") == CATALOGUE


def test_the_folders_of_the_editions_hold_nothing_else():
    assert {folder.name for folder in FOLDER.iterdir()} == {"shared", *EDITIONS}
    declarations = [file for folder in FOLDER.iterdir() for file in folder.iterdir()]
    assert all(file.name.endswith(".toml") for file in declarations)
    kinds = {kind for file in declarations for kind in tomllib.loads(file.read_text(encoding="utf-8"))}
    assert kinds == {"source", "map", "rule", "name", "namespace", "end", "score", "quality"}


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
    assert all(name in str(caught.value) for name in SOURCES["2020"])


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
