"""KGX: nodes and edges in the words of the Biolink Model, for the tools of the KGX family.

`kgx_nodes.tsv` holds the nodes of edges and true negatives, `kgx_edges.tsv` both kinds of edges: `negated` is "true"
for the latter. Identifiers are CURIEs in Biolink's spelling of their prefixes. `original_predicate` is the relation of
the graph; `score`, `source` and `date` are columns of our own. Where a source is not in the Biolink registry of
information resources, `primary_knowledge_source` is empty.

Format: https://github.com/biolink/kgx/blob/master/specification/kgx-format.md. There is no quoting; several values in
one cell have `|` between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from openbiolink.graph.writers.rows import NODES, date_edges, edges_where, refuse_cells, write_lines
from openbiolink.graph.writers.vocabulary import load_vocabulary
from openbiolink.tables import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import duckdb

    from openbiolink.graph.writers import WriterContext
    from openbiolink.graph.writers.vocabulary import Vocabulary

NODE_COLUMNS = ("id", "category", "name", "provided_by")
QUALIFIERS = (
    "qualified_predicate", "object_aspect_qualifier", "object_direction_qualifier", "causal_mechanism_qualifier",
)  # fmt: skip
EDGE_COLUMNS = (
    "id", "subject", "predicate", "object", "category", *QUALIFIERS, "negated", "primary_knowledge_source",
    "knowledge_level", "agent_type", "original_predicate", "score", "source", "date",
)  # fmt: skip
CELLS = """
    SELECT unnest([head, relation, tail, score, source, head_type, tail_type]) AS cell FROM edges
    UNION ALL SELECT name FROM names"""


def write_kgx(connection: duckdb.DuckDBPyConnection, folder: Path, context: WriterContext) -> dict[str, int]:
    """Write nodes and edges; returns file name → rows besides the header.

    Raises:
        InputError: a cell holds a tab or a line end.
    """
    refuse_cells(
        connection,
        CELLS,
        test=r"regexp_matches(cell, '[\t\n\r]')",
        fault="holds a tab or a line end, which no KGX file can; mend the source, or leave KGX out",
    )
    vocabulary, dated = load_vocabulary(), date_edges(connection)
    _create_sources(connection, context)
    _create_statements(connection, vocabulary)
    queries = {
        "kgx_nodes.tsv": (NODE_COLUMNS, _nodes(connection, vocabulary)),
        "kgx_edges.tsv": (EDGE_COLUMNS, _edges(edges_where("true", context.options, table=dated), vocabulary)),
    }
    rows = {
        name: write_lines(connection, query, folder / name, before="\t".join(columns) + "\n")
        for name, (columns, query) in queries.items()
    }
    connection.execute("DROP TABLE kgx_sources; DROP TABLE kgx_statements")
    return rows


def _create_sources(connection: duckdb.DuckDBPyConnection, context: WriterContext) -> None:
    """Create `kgx_sources` (rule, infores), the second empty where the source has none, which is noted."""
    rules = [rule for (rule,) in connection.execute("SELECT DISTINCT rule FROM edges ORDER BY rule").fetchall()]
    sources = {rule: context.catalogue.rules[rule].source for rule in rules}
    known = {rule: context.catalogue.sources[source].infores or "" for rule, source in sources.items()}
    missing = sorted({source for rule, source in sources.items() if not known[rule]})
    if missing:
        context.note(f"kgx_edges.tsv: no primary_knowledge_source for {', '.join(missing)}, which have no `infores`")
    _create_table(connection, "kgx_sources", ("rule", "infores"), known.items())


def _create_statements(connection: duckdb.DuckDBPyConnection, vocabulary: Vocabulary) -> None:
    """Create `kgx_statements`: how each relation of the graph is said of a tail of each kind."""
    found = connection.execute("""
        SELECT DISTINCT relation, coalesce(kind, '') FROM edges LEFT JOIN names ON id = tail ORDER BY ALL
    """).fetchall()
    columns = ("relation", "kind", "predicate", "inverted", "category", "knowledge_level", "agent_type", *QUALIFIERS)
    rows = []
    for relation, kind in found:
        one = vocabulary.statement(relation, kind)
        said = (one.predicate, "yes" if one.inverted else "", one.association, one.knowledge_level, one.agent_type)
        rows.append((relation, kind, *said, *(one.qualifiers.get(name, "") for name in QUALIFIERS)))
    _create_table(connection, "kgx_statements", columns, rows)


def _create_table(
    connection: duckdb.DuckDBPyConnection, name: str, columns: Iterable[str], rows: Iterable[tuple[str, ...]]
) -> None:
    declared = ", ".join(f"{column} VARCHAR" for column in columns)
    connection.execute(f"CREATE OR REPLACE TABLE {name} ({declared})")
    for row in rows:
        connection.execute(f"INSERT INTO {name} VALUES ({', '.join(quote(cell) for cell in row)})")


def _nodes(connection: duckdb.DuckDBPyConnection, vocabulary: Vocabulary) -> str:
    """Query of the lines of the nodes; a node of several types has several categories."""
    types = connection.execute(f"""
        SELECT DISTINCT type, coalesce(kind, '') FROM {NODES["ALL_nodes"]} LEFT JOIN names USING (id) ORDER BY ALL
    """).fetchall()
    category = _cases(
        "type || chr(9) || coalesce(kind, '')",
        {f"{node_type}\t{kind}": vocabulary.term(node_type, kind).category for node_type, kind in types},
        other=quote(vocabulary.default_term.category),
    )
    cells = (_respelled("id", vocabulary), "categories", "coalesce(name, '')", "coalesce(provided_by, '')")
    return f"""
        WITH typed AS (
            SELECT id, any_value(name) AS name, string_agg(DISTINCT {category}, '|' ORDER BY {category}) AS categories
            FROM {NODES["ALL_nodes"]} LEFT JOIN names USING (id) GROUP BY id),
        provided AS (
            SELECT id, string_agg(DISTINCT provider, '|' ORDER BY provider) AS provided_by
            FROM (SELECT unnest([head, tail]) AS id, coalesce(nullif(infores, ''), source) AS provider
                FROM edges JOIN kgx_sources USING (rule)) GROUP BY id)
        SELECT {_joined(cells)} FROM (FROM typed LEFT JOIN provided USING (id) ORDER BY id)"""


def _edges(edges: str, vocabulary: Vocabulary) -> str:
    """Query of the lines of the edges."""
    head, tail = _respelled("head", vocabulary), _respelled("tail", vocabulary)
    subject, object_ = (
        f"CASE inverted WHEN 'yes' THEN {one} ELSE {other} END" for one, other in ((tail, head), (head, tail))
    )
    negated = "CASE WHEN negative THEN 'true' ELSE 'false' END"
    identifier = f"{head} || '-' || relation || '-' || {tail} || CASE WHEN negative THEN '-negated' ELSE '' END"
    cells = (
        identifier, subject, "predicate", object_, "category", *QUALIFIERS, negated, "infores",
        "knowledge_level", "agent_type", "relation", "score", "source", "date",
    )  # fmt: skip
    return f"""
        SELECT {_joined(cells)} FROM (
            SELECT edges.*, kgx_statements.* EXCLUDE (relation, kind), infores
            FROM {edges} AS edges LEFT JOIN names ON id = tail
            JOIN kgx_statements ON kgx_statements.relation = edges.relation
                AND kgx_statements.kind = coalesce(names.kind, '')
            JOIN kgx_sources USING (rule)
            ORDER BY head, edges.relation, tail, negative)"""


def _respelled(column: str, vocabulary: Vocabulary) -> str:
    """SQL of a CURIE in Biolink's spelling."""
    prefix = f"split_part({column}, ':', 1)"
    return f"{_cases(prefix, vocabulary.prefixes, other=prefix)} || substr({column}, strpos({column}, ':'))"


def _cases(value: str, cases: Mapping[str, str], *, other: str) -> str:
    whens = " ".join(f"WHEN {quote(case)} THEN {quote(result)}" for case, result in cases.items())
    return f"CASE {value} {whens} ELSE {other} END" if cases else f"coalesce({other})"  # never a bare literal


def _joined(cells: Iterable[str]) -> str:
    return " || chr(9) || ".join(f"({cell})" for cell in cells)
