"""RDF-N3: the graph as statements, in the part of N3 that is Turtle too, so that any RDF library reads it.

A node is the IRI that identifiers.org resolves, with its type as class and its name as `rdfs:label`. Characters of an
id that cannot stand in the path of an IRI are percent-encoded, `%` among them, so that decoding gives the id back.

An edge is asserted as a plain triple; its score, source and date stand on an `rdf:Statement` about it. A true negative
is never asserted. It is an `owl:NegativePropertyAssertion`, the standard form for a statement that is known to be
false: readers who take an `rdf:Statement` for a fact, as many do, cannot mistake it.

Classes, relations and properties are in a namespace below the web pages of the OpenBioLink project, where nobody else
names things, and not relative to the file, so that two files loaded together mean the same. It holds only names:
nothing has to answer at the address. Statements are blank nodes, as OWL asks for negative ones; the label is a digest
of head, relation and tail, so that it does not change when other edges come or go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote as percent_encoded

from openbiolink.graph.writers.rows import date_edges, edge_files, named, node_files, write_lines
from openbiolink.tables import NUMBER, quote

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from openbiolink.graph.writers import WriterContext

NAMESPACE = "https://openbiolink.github.io/schema#"
RESOLVER = "https://identifiers.org/"
PATH_MARKS = "!$&'()*+,;=:@/"  # what RFC 3986 allows in a path besides letters, digits and -._~
PREFIXES = f"""\
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix obl: <{NAMESPACE}> .
"""
POSITIVE = ("rdf:Statement", "rdf:subject", "rdf:predicate", "rdf:object")
NEGATIVE = ("owl:NegativePropertyAssertion", "owl:sourceIndividual", "owl:assertionProperty", "owl:targetIndividual")


def write_rdf(connection: duckdb.DuckDBPyConnection, folder: Path, context: WriterContext) -> dict[str, int]:
    """Write nodes and edges as N3; returns file name → nodes or edges in it."""
    lines = {
        stem: f"SELECT {_node_text()} FROM (FROM {named(query)} ORDER BY id, type)"
        for stem, query in node_files(connection, context.options).items()
    }
    for stem, query in edge_files(connection, context.options, table=date_edges(connection)).items():
        text = _edge_text(negative=stem.startswith("TN_"))
        lines[stem] = f"SELECT {text} FROM (FROM {query} ORDER BY head, relation, tail)"
    return {
        f"{stem}.N3": write_lines(connection, text, folder / f"{stem}.N3", before=PREFIXES)
        for stem, text in lines.items()
    }


def _node_text() -> str:
    label = f"CASE WHEN name = '' THEN '' ELSE ' ; rdfs:label ' || {_literal('name')} END"
    return f"{_node('id')} || ' a ' || {_term('type')} || {label} || ' .'"


def _edge_text(*, negative: bool) -> str:
    """SQL of the statements of one edge: the plain triple if it is true, then what is known about it."""
    kind, subject, predicate, object_ = NEGATIVE if negative else POSITIVE
    head, relation, tail = _node("head"), _term("relation"), _node("tail")
    plain = "" if negative else f"{head} || ' ' || {relation} || ' ' || {tail} || ' .' || chr(10) || "
    label = f"'_:{'n' if negative else 'p'}' || md5(head || chr(9) || relation || chr(9) || tail)"
    score = f"CASE WHEN score = '' THEN '' ELSE ' ; obl:score ' || {_score()} END"
    date = f"CASE WHEN date = '' THEN '' ELSE ' ; dcterms:date ' || {_literal('date')} END"
    return (
        f"{plain}{label} || ' a {kind} ; {subject} ' || {head} || ' ; {predicate} ' || {relation} || "
        f"' ; {object_} ' || {tail} || {score} || ' ; obl:source ' || {_literal('source')} || {date} || ' .'"
    )


def _node(column: str) -> str:
    return f"'<{RESOLVER}' || {_path(column)} || '>'"


def _term(column: str) -> str:
    """SQL of a name in our namespace: short where it is a word, else a whole IRI."""
    return (
        f"CASE WHEN regexp_full_match({column}, '[A-Za-z_][A-Za-z0-9_]*') THEN 'obl:' || {column} "
        f"ELSE '<{NAMESPACE}' || {_path(column)} || '>' END"
    )


def _path(column: str) -> str:
    """SQL of a text as part of an IRI; as it is where nothing has to be encoded, which is the same and faster."""
    encoded = f"url_encode({column})"
    for mark in PATH_MARKS:
        encoded = f"replace({encoded}, {quote(percent_encoded(mark, safe=''))}, {quote(mark)})"
    plain = quote(rf"[A-Za-z0-9._~{PATH_MARKS}-]*")
    return f"CASE WHEN regexp_full_match({column}, {plain}) THEN {column} ELSE {encoded} END"


def _literal(column: str) -> str:
    text = column
    for mark, escape in (("'\\'", r"'\\'"), ("'\"'", "'\\\"'"), ("chr(10)", "'\\n'"), ("chr(13)", "'\\r'")):
        text = f"replace({text}, {mark}, {escape})"
    return f"'\"' || {text} || '\"'"


def _score() -> str:
    """SQL of a score: a decimal number as it is spelled, a number with an exponent, or a word."""
    return (
        f"CASE WHEN NOT regexp_full_match(score, {quote(NUMBER)}) THEN {_literal('score')} "
        "WHEN regexp_matches(score, '[eE]') THEN '\"' || score || '\"^^xsd:double' "
        "ELSE '\"' || score || '\"^^xsd:decimal' END"
    )
