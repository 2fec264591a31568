"""The BEL files say what the graph says, read with a small parser of our own and, where there is one, with PyBEL.

The expectations are worked out edge by edge from a table of this file, not from the vocabulary of the package.
"""

import gzip
import hashlib
import json
import os
import re
import subprocess
import tempfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from built_tables import USER, Built, database, every_rule
from openbiolink.graph.writers import OutputOptions, WriterContext, owned_file
from openbiolink.graph.writers.bel import FUNCTIONS, write_bel
from openbiolink.graph.writers.vocabulary import load_vocabulary
from openbiolink.schema import load_schema
from openbiolink.sources.catalogue import EDITIONS, load_catalogue
from openbiolink.sources.obo import read_obo

ROOT = Path(__file__).resolve().parent.parent
CATALOGUES = {edition: load_catalogue(edition) for edition in EDITIONS}
GRAPHS = [(edition, directed) for edition in EDITIONS for directed in (True, False)]
PLAIN = re.compile("[A-Za-z0-9.-]+")
PMOD = 'pmod(GO:0036211 ! "protein modification process")'
BOTH_WAYS = {"association", "correlation", "positiveCorrelation", "negativeCorrelation", "noCorrelation"}

# Relation → BEL relation, and what becomes of the tail; all others are plain associations.
SAID = {
    "IS_A": ("isA", "plain"),
    "PART_OF": ("partOf", "plain"),
    "GENE_PATHWAY": ("partOf", "plain"),
    "GENE_BINDING_GENE": ("directlyIncreases", "complex"),
    "DRUG_BINDING_GENE": ("directlyIncreases", "complex"),
    "GENE_PTMOD_GENE": ("association", "modified"),
    "GENE_OVEREXPRESSED_ANATOMY": ("positiveCorrelation", "plain"),
    "GENE_UNDEREXPRESSED_ANATOMY": ("negativeCorrelation", "plain"),
    "GENE_COEXPRESSION_GENE": ("correlation", "plain"),
    "GENE_REGULATION_GENE": ("regulates", "plain"),
    **{
        f"{actor}_{action}_GENE": said
        for actor in ("GENE", "DRUG")
        for action, said in {
            "ACTIVATION": ("increases", "acting"),
            "INHIBITION": ("decreases", "acting"),
            "BINDACT": ("directlyIncreases", "acting"),
            "BINDINH": ("directlyDecreases", "acting"),
            "CATALYSIS": ("regulates", "plain"),
            "REACTION": ("regulates", "plain"),
            "EXPRESSION": ("regulates", "plain"),
        }.items()
    },
}
FUNCTION_OF = {
    "GENE": "p",
    "GO": "bp",
    "DIS": "path",
    "DRUG": "a",
    "PHENOTYPE": "path",
    "PATHWAY": "bp",
    "ANATOMY": "pop",
}


@contextmanager
def written(built, catalogue, *, directed=True, threads=2, reverse=False, scores=True):
    """The folder that the writer fills, and the rows it tells."""
    context = WriterContext(
        catalogue=catalogue, options=OutputOptions(scores=scores), directed=directed, note=pytest.fail
    )
    with tempfile.TemporaryDirectory() as folder, database(built, threads=threads, reverse=reverse) as connection:
        before = connection.execute("SHOW TABLES").fetchall()
        rows = write_bel(connection, Path(folder), context)
        assert connection.execute("SHOW TABLES").fetchall() == before
        assert rows.keys() == {path.name for path in Path(folder).iterdir()}
        assert all(owned_file(file) for file in rows)
        yield Path(folder), rows


# --- what the files should say ---


def clean(text):
    """A text as it may stand between quotation marks."""
    text = re.sub(r"[\x00-\x1f\x7f]+", " ", text.replace('"', "'").replace("\\", "/"))
    return re.sub(" //+", " /", text).strip(" ")


def quoted(text):
    return text if PLAIN.fullmatch(text) else f'"{text}"'


def term_of(built, node):
    """The plain BEL term of a node, and whether it stands for an activity."""
    kind = built.kinds.get(node, "") if node in built.names else ""
    function = {"molecular_function": "a", "cellular_component": "a", "biological_process": "bp"}.get(
        kind, FUNCTION_OF.get(built.types[node], "a")
    )
    prefix, _, local = node.partition(":")
    name = clean(built.names.get(node, ""))
    label = f" ! {quoted(name)}" if name else ""
    return f"{function}({prefix}:{quoted(local)}{label})", kind == "molecular_function"


def statement_of(built, edge, *, negative):
    """(subject, its activity, relation, object, its activity) of an edge."""
    head, relation, tail = edge
    (subject, subject_acts), (plain, object_acts) = term_of(built, head), term_of(built, tail)
    if negative:
        return subject, subject_acts, "noCorrelation", plain, object_acts
    said, shape = SAID.get(relation, ("association", "plain"))
    if relation == "GENE_GO" and built.kinds.get(tail) == "biological_process" and tail in built.names:
        said = "partOf"
    if shape == "complex":
        return subject, subject_acts, said, f"complex({', '.join(sorted([subject, plain]))})", False
    if shape == "modified":
        return subject, subject_acts, said, f"{plain[:-1]}, {PMOD})", False
    return subject, subject_acts, said, plain, object_acts or shape == "acting"


def expected_statements(built, catalogue, *, negative, scores=True):
    """Every statement with its context, once for each edge."""
    found = Counter()
    for edge, (score, label, rule, _) in built.of(negative=negative).items():
        source = catalogue.sources[catalogue.rules[rule].source]
        verb = "denies" if negative else "lists"
        annotations = {"Relation": edge[1], "Source": label, "Score": clean(score) if scores else ""}
        annotations |= {"Negated": "true"} if negative else {}
        evidence = f"{label} ({source.title}) {verb} this pair as {edge[1]}."
        said = tuple(sorted((name, value) for name, value in annotations.items() if value))
        found[(*statement_of(built, edge, negative=negative), source.homepage, evidence, said)] += 1
    return found


def links_of(statements):
    """The links that readers make of statements: both directions, members of complexes, modified proteins."""
    links = set()
    for subject, subject_acts, relation, object_, object_acts, *context in statements:
        links.add((subject, subject_acts, relation, object_, object_acts, *context))
        if relation in BOTH_WAYS:
            links.add((object_, object_acts, relation, subject, subject_acts, *context))
        if object_.startswith("complex("):
            for member in members_of(object_):
                links.add((member, False, "partOf", object_, False, None, None, ()))
        if object_.endswith(f", {PMOD})"):
            links.add((object_.removesuffix(f", {PMOD})") + ")", False, "hasVariant", object_, False, None, None, ()))
    return links


def members_of(term):
    """The two members of a complex."""
    tokens, depth, start, found = TOKEN.findall(term), 0, 0, []
    for number, token in enumerate(tokens):
        depth += {"(": 1, ")": -1}.get(token[-1] if token[0] != '"' else "", 0)
        if depth == 1 and (token.startswith(",") or number == 0):
            start = number + 1
        if depth == 1 and token == ")":
            found.append("".join(tokens[start : number + 1]))
    return found


# --- a parser of BEL scripts that knows what we write, and no more ---

TOKEN = re.compile(r'"[^"\\\n]*"|[a-z]+\(|\)|, | ! |[A-Za-z0-9_.-]+:?|.')
STATEMENT = re.compile(r'((?:"[^"]*"|[^"])*?) ([a-z]+[A-Za-z]*) ((?:p|a|bp|path|pop|act|complex)\((?:"[^"]*"|[^"])*\))')
CONCEPT = re.compile(r'([A-Za-z0-9_.-]+):([A-Za-z0-9_.-]+|"[^"\\]*")(?: ! ([A-Za-z0-9.-]+|"[^"\\]*"))?')


def parse_script(text):
    """Definitions, and statements with their context as `expected_statements` gives them."""
    definitions, statements, context = {}, Counter(), {}
    for line in text.splitlines():
        assert " //" not in line
        assert line.count('"') % 2 == 0
        if match := re.fullmatch(r'SET DOCUMENT (\w+) = "([^"]+)"', line):
            definitions["document", match[1]] = match[2]
        elif match := re.fullmatch(r'DEFINE (NAMESPACE|ANNOTATION) ([\w.-]+) AS PATTERN "(.+)"', line):
            assert (match[1], match[2]) not in definitions
            definitions[match[1], match[2]] = re.compile(match[3])
        elif match := re.fullmatch(r"DEFINE ANNOTATION (\w+) AS LIST \{(.+)\}", line):
            definitions["ANNOTATION", match[1]] = set(re.findall('"([^"]+)"', match[2]))
        elif match := re.fullmatch(r'SET Citation = \{"Online Resource", "([^"]+)", "([^"]+)"\}', line):
            context = {"": match[2]}
        elif match := re.fullmatch(r'SET (\w+) = "([^"]+)"', line):
            check_value(definitions, *match.groups())
            context[match[1]] = match[2]
        else:
            subject, relation, object_ = STATEMENT.fullmatch(line).groups()
            ends = [parse_term(definitions, end) for end in (subject, object_)]
            said = tuple(sorted((name, value) for name, value in context.items() if name not in {"", "Evidence"}))
            statements[(*ends[0], relation, *ends[1], context[""], context["Evidence"], said)] += 1
    return definitions, statements


def check_value(definitions, name, value):
    if name != "Evidence":
        known = definitions["ANNOTATION", name]
        assert value in known if isinstance(known, set) else known.match(value)


def parse_term(definitions, text):
    """A term without act(), and whether it had that; every namespace in it is defined and fits its pattern."""
    for namespace, local, _ in CONCEPT.findall(re.sub(r' ! "[^"]*"', "", text)):
        assert definitions["NAMESPACE", namespace].match(local.strip('"')), text
    acts = text.startswith("act(")
    return (text[4:-1] if acts else text), acts


def read_text(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        return stream.read()


def read_nodelink(path):
    """The links of a node-link file in the form of `links_of`; nodes are checked on the way."""
    graph = json.loads(read_text(path))
    assert graph["directed"]
    assert graph["multigraph"]
    terms = [node["bel"] for node in graph["nodes"]]
    assert len(set(terms)) == len(terms)
    for node in graph["nodes"]:
        check_node(node)
    links = []
    for link in graph["links"]:
        acts = [link.get(f"{side}_modifier") for side in ("source", "target")]
        assert all(one in (None, {"modifier": "Activity"}) for one in acts)
        said = tuple(sorted((name, one["identifier"]) for name, (one,) in link.get("annotations", {}).items()))
        for name in link.get("annotations", {}):
            assert {name} == {one["namespace"] for one in link["annotations"][name]}
            assert name in graph["graph"]["annotation_list"].keys() | graph["graph"]["annotation_pattern"].keys()
        context = (link.get("citation", {}).get("identifier"), link.get("evidence"), said)
        ends = terms[link["source"]], terms[link["target"]]
        links.append((ends[0], acts[0] is not None, link["relation"], ends[1], acts[1] is not None, *context))
    assert len(set(links)) == len(links)
    assert {end for link in links for end in (link[0], link[3])} == set(terms)
    return links, graph


def check_node(node):
    """The parts of a node say what its term says."""
    assert node["id"] == hashlib.md5(node["bel"].encode()).hexdigest()
    if node["function"] == "Complex":
        assert node["bel"] == f"complex({', '.join(member['bel'] for member in node['members'])})"
        for member in node["members"]:
            check_node(member)
        return
    concept = node["concept"]
    shown = f"{concept['namespace']}:{quoted(concept.get('identifier') or concept['name'])}"
    if "identifier" in concept and "name" in concept:
        shown += f" ! {quoted(concept['name'])}"
    variant = f", {PMOD}" if "variants" in node else ""
    function = {name: bel for bel, name in FUNCTIONS.items()}[node["function"]]
    assert node["bel"] == f"{function}({shown}{variant})"


# --- tests ---


@pytest.mark.parametrize(("edition", "directed"), GRAPHS)
def test_both_files_say_every_edge_once_and_nothing_else(edition, directed):
    catalogue = CATALOGUES[edition]
    built = every_rule(catalogue, directed=directed)
    with written(built, catalogue, directed=directed) as (folder, rows):
        for name, negative in (("positive", False), ("negative", True)):
            definitions, statements = parse_script(read_text(folder / f"{name}.bel.gz"))
            expected = expected_statements(built, catalogue, negative=negative)
            assert statements == expected
            assert rows[f"{name}.bel.gz"] == rows[f"{name}.bel.nodelink.json.gz"] == expected.total()
            links, graph = read_nodelink(folder / f"{name}.bel.nodelink.json.gz")
            assert set(links) == links_of(expected)
            patterns = {key: one.pattern for (kind, key), one in definitions.items() if isinstance(one, re.Pattern)
                        for _ in [kind]}  # fmt: skip
            assert patterns == graph["graph"]["namespace_pattern"] | graph["graph"]["annotation_pattern"]
            document = {key: value for (kind, key), value in definitions.items() if kind == "document"}
            assert sorted(document.values()) == sorted(graph["graph"]["document_metadata"].values())
            assert document.keys() == {"Name", "Version", "Description", "Authors", "ContactInfo"}


@pytest.mark.parametrize("edition", EDITIONS)
def test_what_is_known_not_to_hold_is_never_asserted(edition):
    catalogue = CATALOGUES[edition]
    built = every_rule(catalogue)
    with written(built, catalogue) as (folder, _):
        links, graph = read_nodelink(folder / "negative.bel.nodelink.json.gz")
        assert {link[2] for link in links} == {"noCorrelation"}
        assert all(("Negated", "true") in link[-1] for link in links)
        assert not any("members" in node or "variants" in node for node in graph["nodes"])
        assert "Negated" not in read_text(folder / "positive.bel.gz")
        relations = {value for link in links for name, value in link[-1] if name == "Relation"}
        assert relations == {relation for _, relation, _ in built.of(negative=True)}


def test_the_script_of_a_small_graph_letter_by_letter():
    built = Built(
        edges={
            ("NCBIGENE:2", "GENE_BINDINH_GENE", "NCBIGENE:10", False): ("900", "STRING", "GENE_BINDINH_GENE", ""),
            ("NCBIGENE:10", "GENE_BINDINH_GENE", "NCBIGENE:2", False): ("", "STRING", "GENE_BINDINH_GENE", ""),
        },
        types={"NCBIGENE:2": "GENE", "NCBIGENE:10": "GENE"},
        names={"NCBIGENE:10": 'N-acetyltransferase 2, "NAT2"'},
    )
    with written(built, CATALOGUES["2020"]) as (folder, _):
        lines = read_text(folder / "positive.bel.gz").splitlines()
    assert [line for line in lines if not line.startswith("SET DOCUMENT")] == [
        r'DEFINE NAMESPACE NCBIGENE AS PATTERN "^(\d+)$"',
        'DEFINE ANNOTATION Score AS PATTERN "^.+$"',
        'DEFINE ANNOTATION Relation AS LIST {"GENE_BINDINH_GENE"}',
        'DEFINE ANNOTATION Source AS LIST {"STRING"}',
        'SET Citation = {"Online Resource", "STRING protein actions, human", "https://string-db.org"}',
        'SET Evidence = "STRING (STRING protein actions, human) lists this pair as GENE_BINDINH_GENE."',
        'SET Relation = "GENE_BINDINH_GENE"',
        'SET Source = "STRING"',
        "p(NCBIGENE:10 ! \"N-acetyltransferase 2, 'NAT2'\") directlyDecreases act(p(NCBIGENE:2))",
        'SET Score = "900"',
        "p(NCBIGENE:2) directlyDecreases act(p(NCBIGENE:10 ! \"N-acetyltransferase 2, 'NAT2'\"))",
    ]


def test_bytes_depend_on_the_graph_alone():
    catalogue = CATALOGUES["2020"]
    built = every_rule(catalogue)
    found = []
    for threads, reverse in ((1, False), (4, False), (2, True)):
        with written(built, catalogue, threads=threads, reverse=reverse) as (folder, rows):
            found.append({file: (folder / file).read_bytes() for file in rows})
    assert found[0] == found[1] == found[2]
    assert {raw[3:8] for raw in found[0].values()} == {bytes(5)}  # gzip: no name, no time


def test_scores_can_be_left_out():
    catalogue = CATALOGUES["2020"]
    built = every_rule(catalogue)
    with written(built, catalogue, scores=False) as (folder, _):
        for name, negative in (("positive", False), ("negative", True)):
            _, statements = parse_script(read_text(folder / f"{name}.bel.gz"))
            assert statements == expected_statements(built, catalogue, negative=negative, scores=False)
            assert "Score" not in read_text(folder / f"{name}.bel.nodelink.json.gz")


def test_a_graph_without_edges_gives_files_without_statements():
    with written(Built(edges={}, types={}), CATALOGUES["2020"]) as (folder, rows):
        assert set(rows.values()) == {0}
        for name in ("positive", "negative"):
            assert parse_script(read_text(folder / f"{name}.bel.gz"))[1] == {}
            assert read_nodelink(folder / f"{name}.bel.nodelink.json.gz")[0] == []


TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]) | st.sampled_from("\"'\\/ ()!,:"), max_size=12
)


@given(names=st.lists(TEXTS, min_size=3, max_size=3), score=TEXTS)
@settings(max_examples=30, deadline=None)
def test_no_text_breaks_out_of_its_quotation_marks(names, score):
    catalogue = CATALOGUES["2020"]
    nodes = ["NCBIGENE:1", "NCBIGENE:2", "GO:0008150"]
    built = Built(
        edges={
            (nodes[0], "GENE_BINDING_GENE", nodes[1], False): (score, "STRING", "GENE_BINDING_GENE", ""),
            (nodes[0], "GENE_PTMOD_GENE", nodes[1], False): ("", "STRING", "GENE_PTMOD_GENE", ""),
            (nodes[1], "GENE_GO", nodes[2], True): (score, "GO", "TN.MADE_UP", ""),
        },
        types=dict(zip(nodes, ["GENE", "GENE", "GO"], strict=True)),
        names={node: name for node, name in zip(nodes, names, strict=True) if name},
    )
    rules = catalogue.rules | {"TN.MADE_UP": catalogue.rules["GENE_GO"]}
    with written(built, catalogue.model_copy(update={"rules": rules}), directed=False) as (folder, _):
        for name, negative in (("positive", False), ("negative", True)):
            expected = expected_statements(
                built, CATALOGUES["2020"].model_copy(update={"rules": rules}), negative=negative
            )
            assert parse_script(read_text(folder / f"{name}.bel.gz"))[1] == expected
            assert set(read_nodelink(folder / f"{name}.bel.nodelink.json.gz")[0]) == links_of(expected)


def test_what_a_catalogue_of_the_user_adds_is_said_by_the_default(tmp_path):
    (tmp_path / "mine.toml").write_text(USER)
    catalogue = load_catalogue("2020", tmp_path / "mine.toml")
    edge = ("MINE:m1", "THING_LIKES_GENE", "NCBIGENE:1", False)
    built = Built(edges={edge: ("", "mine", "THING_LIKES_GENE", "")}, types={"MINE:m1": "THING", "NCBIGENE:1": "GENE"})
    with written(built, catalogue) as (folder, _):
        text = read_text(folder / "positive.bel.gz")
        assert text.endswith("\na(MINE:m1) association p(NCBIGENE:1)\n")
        assert parse_script(text)[1] == expected_statements(built, catalogue, negative=False)


def test_the_vocabulary_speaks_of_everything_in_the_schema():
    schema, vocabulary = load_schema(), load_vocabulary()
    assert {relation for relation, _ in vocabulary.statements} == schema.relations.keys()
    assert vocabulary.terms.keys() == schema.node_types.keys()
    assert {term.bel for term in (*vocabulary.terms.values(), *vocabulary.kinds.values())} <= FUNCTIONS.keys()
    assert vocabulary.prefixes.keys() <= schema.prefixes.keys()
    said = {statement.bel for statement in vocabulary.statements.values()}
    assert vocabulary.two_way == BOTH_WAYS >= {vocabulary.denied, vocabulary.default_statement.bel}
    assert said <= BOTH_WAYS | {relation for relation, _ in SAID.values()}


def test_branches_of_the_gene_ontology_come_from_its_file(tmp_path):
    path = tmp_path / "go.obo"
    path.write_text(
        "format-version: 1.2\n\n[Term]\nid: GO:9900001\nname: a\nnamespace: molecular_function\n\n"
        "[Term]\nid: GO:9900002\nname: b\n"
    )
    assert read_obo(path, pytest.fail).name == [("GO:9900001", "a", "molecular_function"), ("GO:9900002", "b", "")]
    for catalogue in CATALOGUES.values():
        kinds = {entry.kind for entry in catalogue.names.values() if entry.node.type == "GO"}
        assert kinds == {"namespace"}


@pytest.mark.parametrize(("edition", "directed"), GRAPHS)
def test_pybel_reads_both_files_without_a_warning_as_one_graph(edition, directed):
    python = os.environ.get("OPENBIOLINK_BEL_PYTHON")
    if python is None:
        pytest.skip("NO PYBEL: set OPENBIOLINK_BEL_PYTHON to a Python that has it, as `make check-bel` does")
    catalogue = CATALOGUES[edition]
    built = every_rule(catalogue, directed=directed)
    with written(built, catalogue, directed=directed) as (folder, _):
        check = [python, str(ROOT / "tools" / "check_bel.py"), str(folder)]
        ran = subprocess.run(check, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    counts = json.loads(ran.stdout.splitlines()[-1])
    for name, negative in (("positive", False), ("negative", True)):
        expected = expected_statements(built, catalogue, negative=negative)
        links = links_of(expected)
        assert counts[name]["statements"] == expected.total()
        assert counts[name]["nodes"] == len({end for link in links for end in (link[0], link[3])})
        assert counts[name]["relations"] == dict(Counter(link[2] for link in links))
