"""BEL: the graph as a BEL script and as the node-link JSON of PyBEL, both without PyBEL.

`positive.*` hold the edges, `negative.*` the true negatives. Each edge is one statement of the script. Namespaces are
defined by patterns. The citation is the web page of the source, the evidence says which source lists the pair under
which relation, and the annotations `Relation`, `Source` and `Score` keep what the graph says; dates are left out.
PyBEL takes the script as text, `pybel.from_bel_script(gzip.open("positive.bel.gz", "rt"))`, and the other file by its
name, `pybel.from_nodelink_gz("positive.bel.nodelink.json.gz")`.

BEL cannot negate a statement. In `negative.*` every statement therefore is `noCorrelation` between the plain terms of
head and tail, annotated `Negated`, whatever the relation. It stands for "the relation that the annotation `Relation`
names does not hold" and asserts nothing else: no activity, no complex, no modified protein.

PyBEL keeps relations that hold both ways in both directions, ties complexes to their members and modified proteins to
the plain ones. The node-link files say the same, so that it reads one graph from both files. It knows an edge by its
ends, relation, citation and evidence. Where a relation of a user's own is directed but said by one that holds both
ways, a pair that stands in the graph in both directions is one edge to PyBEL, with the score that it reads first.

Formats: https://language.bel.bio and https://pybel.readthedocs.io/en/latest/reference/io.html.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from importlib.metadata import version
from io import BufferedWriter, TextIOWrapper
from itertools import chain
from typing import TYPE_CHECKING, Any

from openbiolink.graph.writers.rows import EDGES, NODES, edges_where
from openbiolink.graph.writers.vocabulary import load_vocabulary
from openbiolink.tables import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import duckdb

    from openbiolink.graph.writers import WriterContext
    from openbiolink.graph.writers.vocabulary import Statement, Vocabulary

FILES = {"positive": ("nodes", "edges"), "negative": ("TN_nodes", "TN_edges")}
FUNCTIONS = {"p": "Protein", "a": "Abundance", "bp": "BiologicalProcess", "path": "Pathology", "pop": "Population"}
PYBEL_VERSION = "0.15.5"  # whose node-link format this is
PROJECT = "https://github.com/OpenBioLink/OpenBioLink"
CONVENTION = (
    "True negatives: noCorrelation stands for 'the relation that the annotation Relation names does not hold'. "
    "Nothing in here is asserted."
)
PLAIN_WORD = "[A-Za-z0-9.-]+"  # what stands in a term without quotation marks
# What a quoted text can hold: no quotation mark, backslash or control character, and no ` //`, which begins a comment.
SPOKEN = r"""
    CREATE OR REPLACE TEMP MACRO spoken(text) AS trim(regexp_replace(regexp_replace(
        replace(replace(text, '"', ''''), '\', '/'), '[\x00-\x1f\x7f]+', ' ', 'g'), ' //+', ' /', 'g'), ' ')"""
ACTIVITY = '{"modifier":"Activity"}'
BATCH = 20_000
BUFFER = 1 << 20
LEVEL = 4  # of compression: a quarter of the time of level 9 for 4 % more bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """Edges that are said in the same way: those of one rule, and of one kind of tail where that matters.

    Attributes:
        where: SQL test of `bel_edges`.
        statement: how they are said.
        citation: title and web page of the source.
        evidence: which source says what; another one for each relation and source, since readers take two statements
            with the same ends, relation and evidence for one.
        annotations: what is said of each edge besides the score.
        both_ways: whether readers store each statement in both directions, and the graph does not.
    """

    where: str
    statement: Statement
    citation: tuple[str, str]
    evidence: str
    annotations: dict[str, str]
    both_ways: bool


def write_bel(connection: duckdb.DuckDBPyConnection, folder: Path, context: WriterContext) -> dict[str, int]:
    """Write a script and a node-link file of the edges, and both of the true negatives.

    Returns:
        File name → edges of the graph in it. A node-link file holds more links than that, see above.
    """
    vocabulary = load_vocabulary()
    connection.execute(SPOKEN)
    rows = {}
    for name, (nodes, edges) in FILES.items():
        _create_nodes(connection, NODES[nodes], vocabulary)
        _create_edges(connection, edges_where(EDGES[edges], context.options), vocabulary)
        groups = _find_groups(connection, context, vocabulary, negative=name == "negative")
        _create_derived(connection, groups)
        definitions = _definitions(connection, context, groups, vocabulary)
        document = {
            "name": name,
            "version": version("openbiolink"),
            "description": CONVENTION if name == "negative" else "The edges of a graph.",
            "authors": f"OpenBioLink, edition {context.catalogue.edition}",
            "contact": PROJECT,
        }
        bodies = (_script_of(connection, group, vocabulary) for group in groups)
        script = chain(_script_head(document, definitions), *bodies)
        graph = {"pybel_version": PYBEL_VERSION, "document_metadata": document} | definitions
        count: int = connection.execute("SELECT count(*) FROM bel_edges").fetchall()[0][0]
        for file, text in (
            (f"{name}.bel.gz", script),
            (f"{name}.bel.nodelink.json.gz", _nodelink(connection, graph, groups, vocabulary)),
        ):
            _write_gzip(folder / file, text)
            rows[file] = count
    connection.execute("; ".join(f"DROP TABLE bel_{table}" for table in ("terms", "nodes", "edges", "derived")))
    return rows


# --- what is written, as tables ---


def _create_nodes(connection: duckdb.DuckDBPyConnection, nodes: str, vocabulary: Vocabulary) -> None:
    """Create `bel_nodes`, one row for each term, and `bel_terms`, which also has the ids, types and kinds.

    The place of a node is its number in the byte order of terms.
    """
    kinds = connection.execute(f"""
        SELECT DISTINCT type, coalesce(kind, '') FROM {nodes} LEFT JOIN names USING (id) ORDER BY ALL
    """).fetchall()
    said = ", ".join(
        f"({quote(node_type)}, {quote(kind)}, {quote(term.bel)}, {term.activity})"
        for node_type, kind in [*kinds, ("", "")]
        for term in [vocabulary.term(node_type, kind)]
    )
    connection.execute(f"""
        CREATE OR REPLACE TABLE bel_terms AS
        WITH parts AS (
            SELECT id, type, coalesce(kind, '') AS kind, spoken(coalesce(name, '')) AS label,
                regexp_replace(split_part(id, ':', 1), '[^A-Za-z0-9_.-]', '_', 'g') AS namespace,
                spoken(substr(id, strpos(id, ':') + 1)) AS local
            FROM {nodes} LEFT JOIN names USING (id)),
        spelled AS (
            SELECT parts.*, activity, bel, bel || '(' || namespace || ':' || {_quoted("local")}
                || CASE WHEN label = '' THEN '' ELSE ' ! ' || {_quoted("label")} END || ')' AS term
            FROM parts JOIN (VALUES {said}) AS said(type, kind, bel, activity) USING (type, kind))
        SELECT *, dense_rank() OVER (ORDER BY term) - 1 AS place FROM spelled;
        CREATE OR REPLACE TABLE bel_nodes AS
        SELECT DISTINCT place, term, activity, bel, namespace, local, label FROM bel_terms
    """)


def _quoted(column: str) -> str:
    return f"CASE WHEN regexp_full_match({column}, '{PLAIN_WORD}') THEN {column} ELSE '\"' || {column} || '\"' END"


def _create_edges(connection: duckdb.DuckDBPyConnection, edges: str, vocabulary: Vocabulary) -> None:
    """Create `bel_edges`: the ends as places, the kind of the tail where it matters how the edge is said."""
    matters = ", ".join(quote(relation) for relation, kind in vocabulary.statements if kind)
    connection.execute(f"""
        CREATE OR REPLACE TABLE bel_edges AS
        SELECT rule, relation, source AS label, CASE WHEN relation IN ({matters}) THEN tails.kind ELSE '' END AS kind,
            spoken(coalesce(score, '')) AS score, heads.place AS head, tails.place AS tail
        FROM {edges} AS edges
        JOIN bel_terms AS heads ON heads.id = head AND heads.type = head_type
        JOIN bel_terms AS tails ON tails.id = tail AND tails.type = tail_type
    """)


def _find_groups(
    connection: duckdb.DuckDBPyConnection, context: WriterContext, vocabulary: Vocabulary, *, negative: bool
) -> list[_Group]:
    def spoken(text: str) -> str:
        return str(connection.execute("SELECT spoken(?)", [text]).fetchall()[0][0])

    groups = []
    found = connection.execute("SELECT DISTINCT relation, label, rule, kind FROM bel_edges ORDER BY ALL").fetchall()
    for relation, label, rule, kind in found:
        source = context.catalogue.sources[context.catalogue.rules[rule].source]
        statement = vocabulary.denial() if negative else vocabulary.statement(relation, kind)
        symmetric = context.catalogue.graph_schema.relation(relation).symmetric
        mirrored = context.directed and symmetric and statement.object == "term"
        annotations = {"Relation": spoken(relation), "Source": spoken(label)}
        verb = "denies" if negative else "lists"
        groups.append(
            _Group(
                where=f"rule = {quote(rule)} AND kind = {quote(kind)}",
                statement=statement,
                citation=(spoken(source.title), spoken(source.homepage)),
                evidence=spoken(f"{label} ({source.title}) {verb} this pair as {relation}."),
                annotations=annotations | ({"Negated": "true"} if negative else {}),
                both_ways=statement.bel in vocabulary.two_way and not mirrored,
            )
        )
    return groups


def _create_derived(connection: duckdb.DuckDBPyConnection, groups: Iterable[_Group]) -> None:
    """Create `bel_derived` (object, first, second, place): complexes of two nodes, and modified nodes, given twice."""
    ends = {"complex": ("least(head, tail)", "greatest(head, tail)"), "modified": ("tail", "tail")}
    queries = [
        f"SELECT {quote(group.statement.object)}, {first}, {second} FROM bel_edges WHERE {group.where}"
        for group in groups
        for first, second in [ends.get(group.statement.object, ("", ""))]
        if first
    ]
    connection.execute(f"""
        CREATE OR REPLACE TABLE bel_derived AS
        SELECT *, (SELECT count(*) FROM bel_nodes) + row_number() OVER (ORDER BY object, first, second) - 1 AS place
        FROM ({" UNION ".join(queries) or "SELECT '', 0, 0 LIMIT 0"}) AS derived(object, first, second)
    """)


def _definitions(
    connection: duckdb.DuckDBPyConnection, context: WriterContext, groups: list[_Group], vocabulary: Vocabulary
) -> dict[str, Any]:
    """Namespaces and annotations, in the form of a node-link file."""
    used = {name for (name,) in connection.execute("SELECT DISTINCT namespace FROM bel_nodes").fetchall()}
    if any(group.statement.object == "modified" for group in groups):
        used.add(vocabulary.modification[0].partition(":")[0])
    prefixes = context.catalogue.graph_schema.prefixes
    known = {name: prefixes[name].pattern.replace('"', ".") if name in prefixes else ".+" for name in sorted(used)}
    names = dict.fromkeys(name for group in groups for name in group.annotations)
    lists = {name: sorted({group.annotations[name] for group in groups}) for name in names}
    scored = connection.execute("SELECT 1 FROM bel_edges WHERE score <> '' LIMIT 1").fetchall()
    return {
        "namespace_url": {},
        "namespace_pattern": {name: f"^({pattern})$" for name, pattern in known.items()},
        "annotation_url": {},
        "annotation_pattern": {"Score": "^.+$"} if scored else {},
        "annotation_list": lists,
        "annotation_curie": [],
        "annotation_miriam": [],
    }


# --- the script ---


def _script_head(document: dict[str, str], definitions: dict[str, Any]) -> Iterator[str]:
    keys = {"authors": "Authors", "contact": "ContactInfo"}
    for key, value in document.items():
        yield f'SET DOCUMENT {keys.get(key, key.title())} = "{value}"\n'
    for kind in ("namespace", "annotation"):
        for name, pattern in definitions[f"{kind}_pattern"].items():
            yield f'DEFINE {kind.upper()} {name} AS PATTERN "{pattern}"\n'
    for name, values in definitions["annotation_list"].items():
        listed = ", ".join(f'"{value}"' for value in values)
        yield f"DEFINE ANNOTATION {name} AS LIST {{{listed}}}\n"


def _script_of(connection: duckdb.DuckDBPyConnection, group: _Group, vocabulary: Vocabulary) -> Iterator[str]:
    """The statements of a group, in the order of their scores, which are set where they change."""
    title, homepage = group.citation
    yield f'SET Citation = {{"Online Resource", "{title}", "{homepage}"}}\nSET Evidence = "{group.evidence}"\n'
    yield from (f'SET {name} = "{value}"\n' for name, value in group.annotations.items())
    subject = _acting("heads", always=False)
    objects = {
        "term": _acting("tails", always=False),
        "activity": _acting("tails", always=True),
        "complex": _complex("heads", "tails"),
        "modified": _modified("tails", vocabulary),
    }
    statement = f"{subject} || ' {group.statement.bel} ' || {objects[group.statement.object]}"
    current = ""  # edges without a score come first
    for score, text in _stream(connection, f"SELECT score, {statement} FROM {_edges_of(group)}"):
        if score != current:
            yield f'SET Score = "{score}"\n'
            current = score
        yield f"{text}\n"


def _edges_of(group: _Group) -> str:
    """Sub-query of a group's edges with `heads` and `tails`, whole rows of `bel_nodes`, in order."""
    return f"""(
        SELECT score, head, tail, heads, tails FROM bel_edges
        JOIN bel_nodes AS heads ON heads.place = head JOIN bel_nodes AS tails ON tails.place = tail
        WHERE {group.where} ORDER BY score, head, tail)"""


def _acting(node: str, *, always: bool) -> str:
    acting = f"'act(' || {node}.term || ')'"
    return acting if always else f"CASE WHEN {node}.activity THEN {acting} ELSE {node}.term END"


def _complex(first: str, second: str) -> str:
    return f"'complex(' || least({first}.term, {second}.term) || ', ' || greatest({first}.term, {second}.term) || ')'"


def _modified(node: str, vocabulary: Vocabulary) -> str:
    identifier, name = vocabulary.modification
    return f"rtrim({node}.term, ')') || ', pmod({identifier} ! \"{name}\"))'"


# --- the node-link file ---


def _nodelink(
    connection: duckdb.DuckDBPyConnection, graph: dict[str, Any], groups: Iterable[_Group], vocabulary: Vocabulary
) -> Iterator[str]:
    """The text of a node-link file; links name nodes by their place in the list."""
    namespace, _, local = vocabulary.modification[0].partition(":")
    concept = {"namespace": namespace, "name": vocabulary.modification[1], "identifier": local}
    variants = json.dumps([{"kind": "pmod", "concept": concept}])
    nodes = (
        f"SELECT {_node_json('node')} FROM bel_nodes AS node ORDER BY place",
        f"""SELECT CASE object WHEN 'complex' THEN {_complex_json("one", "two")}
                ELSE {_modified_json("one", variants, vocabulary)} END
            FROM bel_derived JOIN bel_nodes AS one ON one.place = first JOIN bel_nodes AS two ON two.place = second
            ORDER BY bel_derived.place""",
    )
    ties = """
        SELECT CASE object WHEN 'complex'
            THEN '{"relation":"partOf","source":' || first || ',"target":' || place || '},' || chr(10)
                || '{"relation":"partOf","source":' || second || ',"target":' || place || '}'
            ELSE '{"relation":"hasVariant","source":' || first || ',"target":' || place || '}' END
        FROM bel_derived ORDER BY place"""
    yield f'{{"directed":true,"multigraph":true,"graph":{json.dumps(graph, ensure_ascii=False)},\n"nodes":[\n'
    yield from _separated(text for query in nodes for (text,) in _stream(connection, query))
    yield '],\n"links":[\n'
    links = (*(_links_of(group) for group in groups), ties)
    yield from _separated(text for query in links for (text,) in _stream(connection, query))
    yield "]}\n"


def _separated(items: Iterable[str]) -> Iterator[str]:
    """Items of a JSON list, each on its line."""
    before = ""
    for item in items:
        yield before + item
        before = ",\n"
    yield "\n"


def _concept_json(node: str, *, unnamed: str) -> str:
    """SQL of a concept; where it has no label its id stands under the key `unnamed`."""
    names = f"""CASE {node}.label WHEN '' THEN '"{unnamed}":"' || {node}.local
        ELSE '"name":"' || {node}.label || '","identifier":"' || {node}.local END"""
    return f"""'{{"namespace":"' || {node}.namespace || '",' || {names} || '"}}'"""


def _named_json(term: str) -> str:
    """SQL of what PyBEL adds to each node: a digest of the term, and the term."""
    return f"""'"id":"' || md5({term}) || '","bel":"' || replace({term}, '"', '\\"') || '"'"""


def _node_json(node: str) -> str:
    function = (
        f"CASE {node}.bel {' '.join(f'WHEN {quote(bel)} THEN {quote(name)}' for bel, name in FUNCTIONS.items())} END"
    )
    return f"""'{{"function":"' || {function} || '","concept":' || {_concept_json(node, unnamed="identifier")}
        || ',' || {_named_json(f"{node}.term")} || '}}'"""


def _complex_json(first: str, second: str) -> str:
    """SQL of a complex; the first member is the first in byte order, since places are."""
    return f"""'{{"function":"Complex","members":[' || {_node_json(first)} || ',' || {_node_json(second)}
        || '],' || {_named_json(_complex(first, second))} || '}}'"""


def _modified_json(node: str, variants: str, vocabulary: Vocabulary) -> str:
    """SQL of a modified protein; PyBEL wants a name there, and takes the id for one as it does in a script."""
    return f"""'{{"function":"Protein","concept":' || {_concept_json(node, unnamed="name")}
        || ',"variants":{variants},' || {_named_json(_modified(node, vocabulary))} || '}}'"""


def _links_of(group: _Group) -> str:
    """Query of the links of a group: one for each edge, or one for each direction."""
    said = {name: [{"namespace": name, "identifier": value}] for name, value in group.annotations.items()}
    whole = {
        "relation": group.statement.bel,
        "evidence": group.evidence,
        "citation": {"namespace": "url", "identifier": group.citation[1]},
        "annotations": said,
    }
    start = quote(json.dumps(whole, ensure_ascii=False).removesuffix("}}"))
    score = (
        """CASE score WHEN '' THEN '' ELSE ', "Score": [{"namespace": "Score", "identifier": "' || score || '"}]' END"""
    )
    active = {"heads": "heads.activity", "tails": "tails.activity"}
    edges, place = _edges_of(group), "tail"
    if group.statement.object == "activity":
        active["tails"] = "true"
    elif group.statement.object != "term":
        active["tails"] = "false"
        place = "derived.place"
        ends = (
            ("least(head, tail)", "greatest(head, tail)") if group.statement.object == "complex" else ("tail", "tail")
        )
        edges = f"""{edges} AS edges JOIN bel_derived AS derived
            ON object = {quote(group.statement.object)} AND first = {ends[0]} AND second = {ends[1]}"""

    def link(source: tuple[str, str], target: tuple[str, str]) -> str:
        modifiers = " || ".join(
            f"CASE WHEN {end[1]} THEN ', \"{side}_modifier\": {ACTIVITY}' ELSE '' END"
            for side, end in (("source", source), ("target", target))
        )
        return f"""{start} || {score} || '}}' || {modifiers}
            || ', "source": ' || {source[0]} || ', "target": ' || {target[0]} || '}}'"""

    head, tail = ("head", active["heads"]), (place, active["tails"])
    text = link(head, tail)
    if group.both_ways:
        text += f" || ',' || chr(10) || {link(tail, head)}"
    return f"SELECT {text} FROM {edges} ORDER BY score, head, tail"


# --- output ---


def _stream(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[tuple[str, ...]]:
    cursor = connection.execute(query)
    while batch := cursor.fetchmany(BATCH):
        yield from batch


def _write_gzip(path: Path, text: Iterable[str]) -> None:
    """Write text compressed, with neither name nor time in the file."""
    with (
        path.open("wb") as raw,
        gzip.GzipFile("", "wb", LEVEL, raw, mtime=0) as packed,
        TextIOWrapper(BufferedWriter(packed, BUFFER), encoding="utf-8", newline="\n") as stream,
    ):
        stream.writelines(text)
