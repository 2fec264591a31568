"""Node types, relations and prefixes: consistent with each other, with a registry, and between Python and SQL."""

import json
import re
import tomllib
from importlib.resources import files

import bioregistry
import networkx as nx
import pytest
from hypothesis import assume, example, find, given, settings
from hypothesis import strategies as st

from conftest import ROOT
from openbiolink.errors import CatalogueError, InputError
from openbiolink.graph.identifiers import create_macros
from openbiolink.schema import (
    ANY_TYPE,
    KEYS,
    Implied,
    Relation,
    Schema,
    load_schema,
    parse_schema,
    read_schema,
    schema_of,
)
from openbiolink.tables import open_database
from oracles import implied

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
    for one in SCHEMA.ancestors(name):
        parent = SCHEMA.relation(one.relation)
        assert one.relation in SCHEMA.relations
        assert one.relation != name
        ends = (parent.tail, parent.head) if one.flipped else (parent.head, parent.tail)
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
        ("prefix", "ncbigene", {"pattern": "x"}, "'NCBIGENE' is a spelling of the prefixes"),
        ("prefix", "X", {"pattern": "x", "synonyms": ["Entrez"]}, "is a spelling of the prefixes"),
        ("node_type", "X", ["GO"], "prefix 'GO' is of node types 'GO' and 'X'"),
        ("relation", "X", {"head": "GEN", "tail": "*"}, "refers to 'GEN'"),
        ("prefix", "X", {"patern": "x"}, "unknown key 'patern'"),
        ("node_type", "X", ["NOPE"], "has prefix 'NOPE'"),
    ],
)
def test_a_wrong_declaration_is_refused(table, name, entry, fault):
    raw = tomllib.loads((files("openbiolink") / "schema.toml").read_text(encoding="utf-8"))
    raw[table][name] = entry
    with pytest.raises(CatalogueError, match=fault):
        parse_schema(raw)


@pytest.mark.parametrize(
    ("relations", "fault"),
    [
        ({"X": {"inverse": "Y"}}, "refers to 'Y', which is not declared"),
        ({"X Y": {}}, "names begin with a letter"),
        ({"X": {"symmetric": "yes"}}, "symmetric = 'yes'; write true or false"),
        (
            {"X": {"head": "GENE", "tail": "DRUG", "inverse": "GENE_DRUG"}},
            "has GENE as its head, where its inverse 'X'",
        ),
    ],
)
def test_a_wrong_declaration_of_a_catalogue_is_refused(relations, fault):
    with pytest.raises(CatalogueError, match=fault):
        load_schema({"relation": relations})


# --------------------------------------------------------------------------------------------- what follows from what

NAMES = "ABCDEFGH"
PACKAGED = tomllib.loads((files("openbiolink") / "schema.toml").read_text(encoding="utf-8"))["relation"]


def schema_with(declared):
    """A schema of these relations alone, as a file beside a graph would declare them."""
    return parse_schema({"node_type": {}, "prefix": {}, "relation": declared}, any_relation=True)


@st.composite
def any_tables(draw):
    """Tables of relations of which many make no sense together."""
    other = st.sampled_from(NAMES[:5])
    keys = {
        "symmetric": st.booleans(),
        "parent": st.builds(str.__add__, st.sampled_from(["", "~"]), other),
        "inverse": other,
        "excludes": other,
    }
    return draw(st.dictionaries(other, st.fixed_dictionaries({}, optional=keys), max_size=4))


@st.composite
def good_tables(draw):
    """Tables of relations that make sense: a super-relation is always of a later group of one or two inverses."""
    sizes = draw(st.lists(st.integers(1, 2), min_size=1, max_size=4))
    places = [sum(sizes[:number]) for number in range(len(sizes))]
    declared = {}
    for start, size in zip(places, sizes, strict=True):
        group, above = NAMES[start : start + size], NAMES[start + size : sum(sizes)]
        if size == 2:
            first, second = draw(st.permutations(group))
            declared[first] = {"inverse": second}
            declared[second] = {"inverse": first} if draw(st.booleans()) else {}
        else:
            declared[group] = {"symmetric": True} if draw(st.booleans()) else {}
        for name in group if above else "":
            if draw(st.booleans()):
                declared[name]["parent"] = draw(st.sampled_from(["", "~"])) + draw(st.sampled_from(above))
        if draw(st.booleans()):
            declared[group[0]]["transitive"] = True
    names = draw(st.permutations(sorted(declared)))
    return {name: declared[name] for name in names}


def test_tables_of_both_kinds_occur():
    assert find(any_tables(), lambda declared: len(declared) > 2 and implied.contradiction(declared) is None)
    assert find(any_tables(), lambda declared: (implied.contradiction(declared) or "").endswith("above itself"))
    assert find(any_tables(), lambda declared: (implied.contradiction(declared) or "").endswith("contradicts itself"))
    assert find(good_tables(), lambda declared: max(implied.levels_above(declared, name) for name in declared) == 3)


@given(declared=any_tables() | good_tables())
@settings(max_examples=400, deadline=None)
def test_exactly_what_contradicts_itself_is_refused(declared):
    fault = implied.contradiction(declared)
    if fault is None:
        assert schema_with(declared).relations.keys() >= declared.keys()
    else:
        with pytest.raises(CatalogueError, match=r"^schema: relation '\w' .*; \w"):
            schema_with(declared)


def follows(schema, name, *, directed):
    return [(one.relation, one.flipped) for one in schema.consequences(name, directed=directed)]


@given(declared=good_tables(), directed=st.booleans())
@settings(max_examples=150, deadline=None)
def test_consequences_are_those_of_a_walk_from_triple_to_triple(declared, directed):
    schema = schema_with(declared)
    for name in [*declared, "UNKNOWN"]:
        found = follows(schema, name, directed=directed)
        walked = implied.consequences(declared, ("a", name, "b"), directed=directed)
        triples = [("b", relation, "a") if flipped else ("a", relation, "b") for relation, flipped in found]
        assert len(triples) == len(set(triples))
        assert set(triples) == set(walked)
        steps = [walked[triple] for triple in triples]
        assert steps == sorted(steps)


@given(declared=good_tables(), directed=st.booleans())
@settings(max_examples=150, deadline=None)
def test_laws_of_consequences(declared, directed):
    schema = schema_with(declared)
    for name in declared:
        found = follows(schema, name, directed=directed)
        assert found[0] == (name, False)
        assert ((name, True) in found) == (schema.relation(name).symmetric or not directed)
        for relation, flipped in found:
            further = {(other, flipped ^ turned) for other, turned in follows(schema, relation, directed=directed)}
            assert further <= set(found)
        assert set(found) >= {(one.relation, one.flipped) for one in schema.ancestors(name)}
        inverse = schema.relation(name).inverse
        if inverse is not None:
            assert schema.relation(inverse).inverse == name
            assert schema.relation(inverse).transitive == schema.relation(name).transitive
            assert set(follows(schema, inverse, directed=directed)) == {(other, not turned) for other, turned in found}


@given(declared=good_tables())
@settings(max_examples=150, deadline=None)
def test_a_relation_is_deeper_than_every_more_general_one(declared):
    schema = schema_with(declared)
    for name in declared:
        assert schema.depth(name) == implied.levels_above(declared, name)
        for relation, _ in follows(schema, name, directed=True):
            if relation in {name, schema.relation(name).inverse}:
                assert schema.depth(relation) == schema.depth(name)
            else:
                assert schema.depth(relation) < schema.depth(name)


@given(tables=good_tables(), excluded=st.dictionaries(st.sampled_from(NAMES[:5]), st.sampled_from(NAMES)))
@settings(max_examples=200, deadline=None)
def test_a_family_is_what_inverses_and_exclusions_connect(tables, excluded):
    declared = tables | {name: {**tables.get(name, {}), "excludes": other} for name, other in excluded.items()}
    assume(implied.contradiction(declared) is None)
    schema = schema_with(declared)
    linked = nx.Graph()
    linked.add_nodes_from(schema.relations)
    linked.add_edges_from(
        (name, keys[key]) for name, keys in declared.items() for key in ("inverse", "excludes") if key in keys
    )
    for family in nx.connected_components(linked):
        assert {schema.family(name) for name in family} == {min(family)}
    assert schema.family("UNKNOWN") == "UNKNOWN"


@given(declared=good_tables(), order=st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_the_order_of_declarations_changes_nothing(declared, order):
    names = sorted(declared)
    order.shuffle(names)
    one, other = schema_with(declared), schema_with({name: declared[name] for name in names})
    assert one == other
    for name in names:
        assert one.consequences(name) == other.consequences(name)
        assert (one.depth(name), one.family(name)) == (other.depth(name), other.family(name))


@pytest.mark.parametrize("name", [*RELATIONS, *SINCE_2026])
def test_consequences_of_the_packaged_relations(name):
    found = follows(SCHEMA, name, directed=True)
    triples = [("b", relation, "a") if flipped else ("a", relation, "b") for relation, flipped in found]
    assert set(triples) == set(implied.consequences(PACKAGED, ("a", name, "b")))
    assert SCHEMA.depth(name) == implied.levels_above(PACKAGED, name) == len(SCHEMA.ancestors(name))
    expressed = name in {"GENE_OVEREXPRESSED_ANATOMY", "GENE_UNDEREXPRESSED_ANATOMY"}
    assert SCHEMA.family(name) == ("GENE_OVEREXPRESSED_ANATOMY" if expressed else name)
    assert SCHEMA.relation(name).transitive == (name in {"IS_A", "PART_OF"})
    assert SCHEMA.relation(name).inverse is None


def test_a_long_ladder_of_inverse_pairs_is_climbed_at_once():
    ladder = {}
    for rung in range(60):
        ladder |= {
            f"a{rung}": {"inverse": f"b{rung}", "parent": f"a{rung + 1}"},
            f"b{rung}": {"parent": f"b{rung + 1}"},
        }
    schema = schema_with({**ladder, "a60": {"inverse": "b60"}})
    assert schema.depth("b0") == 60
    assert len(schema.consequences("a0")) == 122


# ------------------------------------------------------------------------------------------- the file beside a graph

PAGE = (ROOT / "docs" / "schema.md").read_text(encoding="utf-8")
FILES = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)


def write(folder, content, name="schema.toml"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_the_first_file_of_the_page_says_what_the_page_says(tmp_path):
    schema = read_schema(write(tmp_path, FILES[0]))
    rows = re.findall(r"^\| `(\w) (.+) (\w)` \|(.*)\|$", PAGE, flags=re.MULTILINE)
    declared = tomllib.loads(FILES[0])["relation"]
    assert {"activates", *(row[1] for row in rows)} == {*declared, "interacts", "has target", "treats"}
    for head, name, tail, rest in rows:
        said = [(head, name, tail), *re.findall(r"`(\w) ([^`]+) (\w)`", rest)]
        found = follows(schema, name, directed=True)
        assert said == [(tail, one, head) if flipped else (head, one, tail) for one, flipped in found]
    assert schema.relation("is a").transitive
    assert schema.relation("binds") == Relation(
        name="binds", symmetric=True, parent=Implied("interacts", flipped=False)
    )
    assert schema.family("inhibits") == schema.family("activates") == "activates"
    assert schema.family("target of") == schema.family("has target") == "has target"


def test_the_second_file_of_the_page_types_nodes(tmp_path):
    schema = read_schema(write(tmp_path, FILES[1]))
    assert len(FILES) == 2
    assert schema.node_type("cellosaurus:0030") == "CELL"
    assert schema.node_type("DOID:1") == "DIS"
    assert (schema.relation("grows in").head, schema.relation("grows in").tail) == ("CELL", "ANATOMY")


def test_the_page_explains_every_key():
    table = PAGE.partition("## Keys of a relation")[2].partition("\n## ")[0]
    explained = re.findall(r"`(\w+)`", " ".join(row.split("|")[1] for row in table.splitlines() if "|" in row))
    assert sorted(explained) == sorted(KEYS["relation"])


@pytest.mark.parametrize("content", ["", "[relation]\n", "# nothing\n", "\ufeff[relation]\r\nx = {}\r\n"])
def test_what_is_not_declared_is_as_packaged(tmp_path, content):
    schema = read_schema(write(tmp_path, content))
    assert {name: one for name, one in schema.relations.items() if name != "x"} == SCHEMA.relations
    assert (schema.node_types, schema.prefixes) == (SCHEMA.node_types, SCHEMA.prefixes)


def test_an_entry_takes_the_place_of_the_packaged_one(tmp_path):
    schema = read_schema(write(tmp_path, '[relation]\nGENE_DIS = { inverse = "of" }\n[node_type]\nDIS = ["UMLS"]'))
    assert schema.relation("GENE_DIS") == Relation(name="GENE_DIS", inverse="of")
    assert schema.relation("of") == Relation(name="of", inverse="GENE_DIS")
    assert schema.node_types["DIS"] == (*SCHEMA.node_types["DIS"], "UMLS")


relation_names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8).filter(
    lambda name: name[0] != "~"
)


@given(name=relation_names, other=relation_names)
@settings(max_examples=100, deadline=None)
def test_a_relation_may_have_any_name(tmp_path_factory, name, other):
    assume(name != other and not {name, other} & SCHEMA.relations.keys())
    keys = {"parent": f"~{other}"}
    path = write(tmp_path_factory.mktemp("names"), f"[relation]\n{json.dumps(name, ensure_ascii=False)} = "
                 f"{{ parent = {json.dumps(keys['parent'], ensure_ascii=False)} }}\n")  # fmt: skip
    assert follows(read_schema(path), name, directed=True) == [(name, False), (other, True)]


REFUSED = {
    "not TOML": ("[relation\n", "is not TOML", "line 1"),
    "twice": ("[relation]\na = {}\na = {}\n", "is not TOML", "line 3"),
    "beyond measure": ("a = " + "[" * 100_000, "is not TOML"),
    "not UTF-8": (b"[relation]\n# caf\xe9\n", "is not UTF-8", "0xe9", "save it as UTF-8"),
    "an unknown table": ("[relations]\na = {}\n", "unknown table 'relations'; known are node_type, prefix, relation"),
    "no table around": ("a = { symmetric = true }\n", "unknown table 'a'", "stands below [relation]"),
    "a table that is a text": ('relation = "a"\n', "relation is 'a', expected a table; write [relation]"),
    "a list of tables": ("[[relation]]\na = {}\n", "expected a table; write [relation]"),
    "an entry that is a text": ('[relation]\na = "b"\n', "relation 'a' is 'b', expected a table"),
    "an unknown key": ("[relation]\na = { symetric = true }\n", "'a' has an unknown key 'symetric'; known are excl"),
    "a dot without quotes": ("[relation]\na.b = { symmetric = true }\n", "unknown key 'b'", "stands in quotes"),
    "a number for a name": ("[relation]\na = { parent = 5 }\n", "'a': parent = 5; write a text in quotes"),
    "a table for a name": ("[relation]\na = { parent = { b = 1 } }\n", "'a': parent = {'b': 1}; write a text"),
    "a text for a flag": ('[relation]\na = { symmetric = "yes" }\n', "'a': symmetric = 'yes'; write true or false"),
    "a number for a flag": ("[relation]\na = { transitive = 1 }\n", "'a': transitive = 1; write true or false"),
    "an empty name": ('[relation]\n"" = { }\n', "relation has the name ''", "is not empty"),
    "an empty parent": ('[relation]\na = { parent = "~" }\n', "relation has the name ''"),
    "a name that begins with ~": ('[relation]\n"~a" = { }\n', "the name '~a'", "does not begin with `~`"),
    "an inverse turned round": ('[relation]\na = { inverse = "~b" }\n', "the name '~b'", "does not begin with `~`"),
    "a line end in a name": ('[relation]\n"a\\nb" = { }\n', "the name 'a\\nb'", "no tabs, line ends"),
    "an unknown type": ('[relation]\na = { head = "PERSON" }\n', "'a' refers to 'PERSON'", "[node_type]"),
    "two inverses": (
        '[relation]\na = { inverse = "b" }\nb = { inverse = "c" }\n',
        "relation 'b' has the inverses 'a' and 'c'; keep one",
    ),
    "an inverse of two": (
        '[relation]\na = { inverse = "c" }\nb = { inverse = "c" }\n',
        "relation 'c' has the inverses 'a' and 'b'; keep one",
    ),
    "its own inverse": ('[relation]\na = { inverse = "a" }\n', "'a' is its own inverse; write symmetric = true"),
    "symmetric with an inverse": (
        '[relation]\na = { symmetric = true }\nb = { inverse = "a" }\n',
        "relation 'a' is symmetric and has the inverse 'b'",
    ),
    "above itself": ('[relation]\na = { parent = "~a" }\n', "'a' is below 'a', which implies 'a' in turn"),
    "in a circle": (
        '[relation]\na = { parent = "b" }\nb = { parent = "c" }\nc = { parent = "a" }\n',
        "relation 'a' is below 'b', which implies 'a' in turn; take one parent or inverse out",
    ),
    "below its inverse": ('[relation]\na = { parent = "b", inverse = "b" }\n', "'a' is below 'b', which implies"),
    "in a circle of inverses": (
        '[relation]\na = { parent = "b" }\nc = { inverse = "b", parent = "d" }\nd = { inverse = "a" }\n',
        "relation 'a' is below 'b', which implies 'a' in turn",
    ),
    "excludes itself": ('[relation]\na = { excludes = "a" }\n', "relation 'a' excludes itself"),
    "excludes its parent": (
        '[relation]\na = { parent = "b", excludes = "b" }\n',
        "relation 'a' implies 'a', which excludes 'b', and 'a' implies that as well; take one",
    ),
    "excluded by its parent": (
        '[relation]\na = { parent = "b" }\nb = { excludes = "a" }\n',
        "relation 'a' implies 'b', which excludes 'a'",
    ),
    "an inverse of other ends": (
        '[relation]\na = { head = "GENE", tail = "DIS", inverse = "b" }\nb = { head = "GENE" }\n',
        "relation 'a' has DIS as its tail, where its inverse 'b' would have GENE; swap the types of one",
    ),
    "transitive between unlike ends": (
        '[relation]\na = { head = "GENE", tail = "DIS", transitive = true }\n',
        "relation 'a' is transitive, but its head is GENE and its tail DIS",
    ),
    "a node type that is a text": ('[node_type]\nCELL = "CVCL"\n', "node_type 'CELL' = 'CVCL'; write a list of texts"),
    "a node type of numbers": ("[node_type]\nDIS = [1]\n", "node_type 'DIS' = [1]; write a list of texts"),
    "a prefix of a type alone": ('[node_type]\nCELL = ["CVCL"]\n', "'CVCL', which is not declared; declare it in"),
    "a prefix without a pattern": ("[prefix]\nCVCL = {}\n", "prefix 'CVCL' has no pattern; give"),
    "a pattern that is none": ("[prefix]\nCVCL = { pattern = '(' }\n", "prefix 'CVCL' has pattern '(', which is none"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_file_is_refused_in_one_line(tmp_path, case):
    content, *said = REFUSED[case]
    path = write(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read_schema(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert "schema: " not in message.removeprefix(str(path))
    assert [words for words in said if words not in message] == []
    assert ";" in message


@pytest.mark.parametrize(("name", "said"), [("absent.toml", "no such file"), ("", "is a folder")])
def test_a_file_that_is_none_is_refused(tmp_path, name, said):
    with pytest.raises(InputError, match=rf"^{re.escape(str(tmp_path / name))}: {said}.*; \w"):
        read_schema(tmp_path / name)
    with pytest.raises(InputError, match=said):
        schema_of(tmp_path / "edges.csv", tmp_path / name)


def test_the_schema_of_a_graph_is_given_or_beside_the_edges_or_packaged(tmp_path):
    edges, other = tmp_path / "edges.csv", write(tmp_path, '[relation]\na = { parent = "given" }\n', "other.toml")
    assert schema_of(edges, None) == schema_of(tmp_path, None) == (SCHEMA, None)
    beside = write(tmp_path, '[relation]\na = { parent = "beside" }\n')
    for place in (edges, tmp_path):
        schema, path = schema_of(place)
        assert (schema.ancestors("a"), path) == ((Implied("beside", flipped=False),), beside)
        schema, path = schema_of(place, other)
        assert (schema.ancestors("a"), path) == ((Implied("given", flipped=False),), other)


def test_a_file_beside_the_edges_is_never_passed_over(tmp_path):
    (tmp_path / "schema.toml").symlink_to("nowhere.toml")
    with pytest.raises(InputError, match="no such file"):
        schema_of(tmp_path / "edges.csv")
    (tmp_path / "schema.toml").unlink()
    write(tmp_path, "[relation\n")
    with pytest.raises(InputError, match="is not TOML"):
        schema_of(tmp_path)
