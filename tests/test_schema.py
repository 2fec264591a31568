"""Node types, relations and prefixes: consistent with each other, with a registry, and between Python and SQL."""

import re

import bioregistry
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from openbiolink.graph.identifiers import create_macros
from openbiolink.schema import ANY_TYPE, Implied, Relation, Schema, load_schema
from openbiolink.tables import open_database

SCHEMA = load_schema()
NODE_TYPES = ["GENE", "GO", "DIS", "DRUG", "PHENOTYPE", "PATHWAY", "ANATOMY"]
ACTIONS = ["ACTIVATION", "BINDING", "CATALYSIS", "EXPRESSION", "INHIBITION", "REACTION", "BINDACT", "BINDINH"]
RELATIONS = [
    "IS_A", "PART_OF", "GENE_GENE", "GENE_GO", "GENE_DIS", "GENE_DRUG", "GENE_PHENOTYPE", "GENE_PATHWAY",
    "GENE_EXPRESSED_ANATOMY", "GENE_OVEREXPRESSED_ANATOMY", "GENE_UNDEREXPRESSED_ANATOMY", "DIS_DRUG",
    "DIS_PHENOTYPE", "DRUG_PHENOTYPE",
    *(f"GENE_{action}_GENE" for action in [*ACTIONS, "PTMOD"]),
    *(f"DRUG_{action}_GENE" for action in [*ACTIONS, "PREDBIND"]),
]  # fmt: skip
CHANNELS = ["NEIGHBORHOOD", "FUSION", "COOCCURRENCE", "COEXPRESSION", "EXPERIMENT", "DATABASE", "TEXTMINING"]
SINCE_2026 = ["GENE_REGULATION_GENE", *(f"GENE_{channel}_GENE" for channel in CHANNELS)]
PREFIXES = ["CL", "DOID", "GO", "HP", "KEGG", "MONDO", "NCBIGENE", "PUBCHEM.COMPOUND", "REACTOME", "UBERON"]


@pytest.fixture(scope="module")
def connection():
    with open_database() as (connection, _):
        create_macros(connection, SCHEMA)
        yield connection


# ------------------------------------------------------------------------------------------------ types, relations


def test_the_seven_node_types_and_the_relations_of_both_editions_are_there():
    assert sorted(SCHEMA.node_types) == sorted(NODE_TYPES)
    assert sorted(SCHEMA.relations) == sorted([*RELATIONS, *SINCE_2026])
    assert len(RELATIONS) == 32


@pytest.mark.parametrize("name", [*RELATIONS, *SINCE_2026])
def test_the_ends_of_a_relation_are_node_types(name):
    relation = SCHEMA.relation(name)
    assert relation.name == name
    assert {relation.head, relation.tail} <= {*NODE_TYPES, ANY_TYPE}
    assert relation.head == relation.tail or not relation.symmetric
    if ANY_TYPE not in {relation.head, relation.tail}:
        assert name.startswith(f"{relation.head}_")
        assert name.endswith(f"_{relation.tail}")


@pytest.mark.parametrize("name", [*RELATIONS, *SINCE_2026])
def test_a_super_relation_has_the_same_ends(name):
    relation = SCHEMA.relation(name)
    for implied in SCHEMA.ancestors(name):
        parent = SCHEMA.relation(implied.relation)
        assert implied.relation in SCHEMA.relations
        assert implied.relation != name
        ends = (parent.tail, parent.head) if implied.flipped else (parent.head, parent.tail)
        assert ends == (relation.head, relation.tail)


def test_the_super_relations_are_the_published_ones():
    parents = {name: {one.relation: one.flipped for one in SCHEMA.ancestors(name)} for name in SCHEMA.relations}
    for name in SCHEMA.relations:
        if re.fullmatch("GENE_.+_GENE", name):
            assert parents[name]["GENE_GENE"] is False
        elif re.fullmatch("DRUG_.+_GENE", name):
            assert parents[name]["GENE_DRUG"] is True
        elif re.fullmatch("GENE_(OVER|UNDER)EXPRESSED_ANATOMY", name):
            assert parents[name] == {"GENE_EXPRESSED_ANATOMY": False}
        else:
            assert parents[name] == {}


def test_only_these_relations_are_symmetric():
    symmetric = {name for name, relation in SCHEMA.relations.items() if relation.symmetric}
    channels = {f"GENE_{channel}_GENE" for channel in CHANNELS}
    assert symmetric == {"GENE_GENE", "GENE_BINDING_GENE", "GENE_PTMOD_GENE"} | channels


def test_a_relation_that_is_not_known_is_directed_and_has_no_parent():
    relation = SCHEMA.relation("PERSON_READS_BOOK")
    assert (relation.head, relation.tail, relation.symmetric, relation.parent) == (ANY_TYPE, ANY_TYPE, False, None)
    assert SCHEMA.ancestors("PERSON_READS_BOOK") == ()


def test_directions_multiply_along_ancestors():
    assert SCHEMA.ancestors("DRUG_BINDINH_GENE") == (
        Implied("DRUG_BINDING_GENE", flipped=False),
        Implied("GENE_DRUG", flipped=True),
    )
    chain = [("A", "B", True), ("B", "C", False), ("C", "D", True)]
    relations = {name: Relation(name=name, parent=Implied(parent, flipped)) for name, parent, flipped in chain}
    schema = Schema(node_types={}, relations=relations, prefixes={})
    assert [(one.relation, one.flipped) for one in schema.ancestors("A")] == [("B", True), ("C", True), ("D", False)]


# -------------------------------------------------------------------------------------------------------- prefixes


def test_every_prefix_of_a_node_type_is_declared_and_belongs_to_no_other():
    prefixes = [prefix for prefixes in SCHEMA.node_types.values() for prefix in prefixes]
    assert sorted(prefixes) == PREFIXES
    assert set(prefixes) <= set(SCHEMA.prefixes)


@pytest.mark.parametrize("name", sorted(SCHEMA.prefixes))
def test_a_prefix_is_registered(name):
    registered = bioregistry.normalize_prefix(name)
    assert registered is not None
    resolvable = bioregistry.get_identifiers_org_prefix(registered) is not None
    assert SCHEMA.prefixes[name].resolvable == resolvable


@pytest.mark.parametrize("name", sorted(SCHEMA.prefixes))
def test_the_pattern_takes_what_the_registry_gives_as_examples(name):
    resource = bioregistry.get_resource(bioregistry.normalize_prefix(name))
    examples = [text for text in (resource.get_example(), *(resource.example_extras or [])) if text]
    assert examples
    for text in examples:
        assert re.fullmatch(SCHEMA.prefixes[name].pattern, text), text


LOCAL_IDS = {
    "NCBIGENE": "990001", "GO": "9900001", "DOID": "9901", "PUBCHEM.COMPOUND": "9001", "HP": "9900001",
    "REACTOME": "R-HSA-9901", "KEGG": "hsa99001", "UBERON": "9900001", "CL": "9900001",
    "MONDO": "9900001",
}  # fmt: skip


@pytest.mark.parametrize("name", PREFIXES)
def test_ids_of_the_graph_are_good_in_the_registry_too(name):
    assert re.fullmatch(SCHEMA.prefixes[name].pattern, LOCAL_IDS[name])
    assert bioregistry.is_valid_identifier(bioregistry.normalize_prefix(name), LOCAL_IDS[name])


@pytest.mark.parametrize("name", PREFIXES)
def test_a_pattern_takes_nothing_with_blanks_or_a_prefix(name):
    for text in ("", f" {LOCAL_IDS[name]}", f"{LOCAL_IDS[name]} ", f"{name}:{LOCAL_IDS[name]}", f"{LOCAL_IDS[name]}\n"):
        assert not re.fullmatch(SCHEMA.prefixes[name].pattern, text)


def test_no_spelling_stands_for_two_prefixes():
    spelled = [name.upper() for name in SCHEMA.prefixes]
    spelled += [synonym for prefix in SCHEMA.prefixes.values() for synonym in prefix.synonyms]
    assert len(spelled) == len(set(spelled))
    assert all(text == text.upper() for text in spelled)
    assert set(SCHEMA.spellings()) == set(spelled)
    assert set(SCHEMA.spellings().values()) == set(SCHEMA.prefixes)


@pytest.mark.parametrize(
    ("name", "synonym"),
    [(name, synonym) for name in sorted(SCHEMA.prefixes) for synonym in SCHEMA.prefixes[name].synonyms],
)
def test_a_synonym_is_known_to_the_registry(name, synonym):
    normal = bioregistry.normalize_prefix(synonym)
    assert normal is not None
    assert normal == bioregistry.normalize_prefix(name) or normal.startswith(name.lower() + ".")


# ---------------------------------------------------------------------------------------------------- canonical ids

ids = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
spellings = st.sampled_from(sorted({*SCHEMA.spellings(), *SCHEMA.prefixes, "Xx", ""}))
blanks = st.sampled_from(["", " ", "\t", "\n", "\r", '"', "\u00a0", "\u2003", "\x0b", "\x1c", "\x85", "  "])
curies = st.builds(
    lambda a, prefix, lower, b, c, local, d: a + (prefix.lower() if lower else prefix) + b + ":" + c + local + d,
    blanks, spellings, st.booleans(), blanks, blanks, ids, blanks,
)  # fmt: skip


@given(text=ids | curies)
@example("ncbigene:10")
@example(' "hp : 0000001" ')
@example("a:b:c")
@example("\x1cGO:1\x85")
@settings(max_examples=300, deadline=None)
def test_python_and_sql_agree_on_the_canonical_spelling(connection, text):
    assert connection.execute("SELECT canonical(?)", [text]).fetchall() == [(SCHEMA.canonical(text),)]


@given(text=ids | curies)
@settings(max_examples=200, deadline=None)
def test_the_canonical_spelling_is_stable_and_in_the_table(text):
    found = SCHEMA.canonical(text)
    assert SCHEMA.canonical(found) == found
    assert found == found.strip()
    prefix, colon, _ = found.partition(":")
    if colon:
        assert prefix.upper() not in SCHEMA.spellings() or prefix in SCHEMA.prefixes


@given(prefix=spellings.filter(bool), local=st.text("Aa1é-._", min_size=1, max_size=8))
def test_only_the_prefix_is_respelled_never_the_local_id(prefix, local):
    assert SCHEMA.canonical(f"{prefix}:{local}").partition(":")[2] == local


@pytest.mark.parametrize(
    ("curie", "kind"),
    [
        ("ncbigene:10", "GENE"), ("GO:0006915", "GO"), ("doid:1", "DIS"), ("mondo:1", "DIS"), ("CID:1", "DRUG"),
        ("hpo:0000001", "PHENOTYPE"),
        ("REACT:R-HSA-1", "PATHWAY"), ("kegg:hsa1", "PATHWAY"), ("UBERON:1", "ANATOMY"), ("cl:1", "ANATOMY"),
        ("UMLS:C1", None), ("10", None), ("", None), ("X:1", None),
    ],
)  # fmt: skip
def test_the_prefix_tells_the_node_type(curie, kind):
    assert SCHEMA.node_type(curie) == kind


@pytest.mark.parametrize(
    ("table", "name", "entry", "fault"),
    [
        ("relation", "X", {"head": "*", "tail": "*", "symetric": True}, "unknown key 'symetric'"),
        ("relation", "X", {"head": "*", "tail": "*", "parent": "GENE_GEN"}, "refers to 'GENE_GEN'"),
        ("relation", "X", {"head": "*", "tail": "*", "excludes": "Y"}, "refers to 'Y'"),
        ("relation", "X", {"head": "DRUG", "tail": "GENE", "parent": "GENE_DRUG"}, "write `~` before the parent"),
        ("relation", "X", {"head": "GENE", "tail": "DRUG", "parent": "~GENE_DRUG"}, "take another parent"),
        ("relation", "X", {"head": "GENE", "tail": "GENE", "parent": "DIS_PHENOTYPE"}, "take another parent"),
        ("relation", "X", {"head": "DRUG", "tail": "GENE", "symmetric": True}, "is symmetric, but its head is DRUG"),
        ("prefix", "ncbigene", {"pattern": "x"}, "NCBIGENE is a spelling of the prefixes"),
        ("prefix", "X", {"pattern": "x", "synonyms": ["Entrez"]}, "is a spelling of the prefixes"),
        ("node_type", "X", ["GO"], "prefix 'GO' is of node types 'GO' and 'X'"),
        ("relation", "X", {"head": "GEN", "tail": "*"}, "refers to 'GEN'"),
        ("prefix", "X", {"patern": "x"}, "unknown key 'patern'"),
        ("node_type", "X", ["NOPE"], "has prefix 'NOPE'"),
    ],
)
def test_a_wrong_declaration_is_refused(table, name, entry, fault):
    import tomllib
    from importlib.resources import files

    from openbiolink.errors import CatalogueError
    from openbiolink.schema import parse_schema

    raw = tomllib.loads((files("openbiolink") / "schema.toml").read_text(encoding="utf-8"))
    raw[table][name] = entry
    with pytest.raises(CatalogueError, match=fault):
        parse_schema(raw)
