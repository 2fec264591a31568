"""From a cell of a source to node identifiers, in SQL: taking apart, mapping, following obsolete ids.

All work is done once per distinct cell, not per row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from openbiolink.graph.ledger import KEPT, OBSOLETE, UNMAPPED
from openbiolink.sources.read import table_name
from openbiolink.tables import number_sql, quote

if TYPE_CHECKING:
    from collections.abc import Collection

    import duckdb

    from openbiolink.schema import Schema
    from openbiolink.sources.declarations import Catalogue, Cell, Condition, End, IdMap, Listed, Score

OK = KEPT  # the fate of an identifier that is a node; the others are OBSOLETE and UNMAPPED


def create_macros(connection: duckdb.DuckDBPyConnection, schema: Schema) -> None:
    """Define what texts mean.

    `bare(text)` has no blanks and quotes around it, `canonical(curie)` is as `Schema.canonical`, `number(text)` is the
    finite number of a decimal text, or NULL.
    """
    spellings = ", ".join(f"{quote(found)}: {quote(name)}" for found, name in schema.spellings().items())
    connection.execute(f"""
        CREATE OR REPLACE MACRO bare(text) AS
            regexp_replace(text, '^[\\s\\pZ\\x0b\\x1c-\\x1f\\x85"]+|[\\s\\pZ\\x0b\\x1c-\\x1f\\x85"]+$', '', 'g');
        CREATE OR REPLACE MACRO spelled(prefix) AS coalesce(MAP {{{spellings}}}[upper(prefix)], prefix);
        CREATE OR REPLACE MACRO canonical(curie) AS CASE WHEN contains(curie, ':')
            THEN spelled(bare(split_part(curie, ':', 1))) || ':' || bare(substr(curie, position(':' IN curie) + 1))
            ELSE bare(curie) END;
        CREATE OR REPLACE MACRO number(text) AS {number_sql("text")}
    """)


def condition_sql(condition: Condition) -> str:
    """An SQL test that is true for rows that meet the condition, and never NULL."""
    if condition.listed_in is not None:
        return _listed_sql(condition.listed_in)
    cell = f'"{condition.column}"'
    if condition.token is not None:
        pieces = f"list_transform(string_split({cell}, {quote(condition.separator)}), lambda piece: upper(trim(piece)))"
        return f"list_contains({pieces}, {quote(condition.token.upper())})"
    for texts, sign in ((condition.one_of, "IN"), (condition.none_of, "NOT IN")):
        if texts is not None:
            return f"({cell} {sign} ({', '.join(quote(text) for text in texts)}))"
    for pattern, sign in ((condition.matches, ""), (condition.matches_not, "NOT ")):
        if pattern is not None:
            return f"({sign}regexp_matches({cell}, {quote(pattern)}))"
    comparison = f"> {condition.above}" if condition.above is not None else f">= {condition.at_least}"
    return f"coalesce(number(bare({cell})) {comparison}, false)"


def _listed_sql(listed: Listed) -> str:
    """An SQL test whether a row has a partner; names of columns after SELECT are those of the other table."""
    ours, theirs = (
        ", ".join(f'cell{number} := "{column}"' for number, column in enumerate(side))
        for side in (listed.columns, listed.columns.values())
    )
    conditions = " AND ".join(condition_sql(condition) for condition in listed.where) or "true"
    partners = f"FROM {table_name(listed.source, listed.table)} WHERE {conditions}"
    return f"(struct_pack({ours}) IN (SELECT struct_pack({theirs}) {partners}))"


def score_sql(score: Score) -> str:
    """An SQL expression for what a cell says as a score."""
    found = f'bare("{score.column}")'
    return found if score.extract is None else f"regexp_extract({found}, {quote(score.extract)}, 1)"


def found_sql(cell: Cell, text: str) -> str:
    """An SQL expression for what a piece of a cell says: bare, rewritten, and the part that is the id."""
    found = f"bare({text})"
    for pattern, replacement in cell.rewrite.items():
        found = f"regexp_replace({found}, {quote(pattern)}, {quote(replacement)})"
    return found if cell.extract is None else f"regexp_extract({found}, {quote(cell.extract)}, 1)"


def curie_sql(cell: Cell, found: str) -> str:
    """An SQL expression for the canonical CURIE of what was found, a column; empty where nothing was."""
    if cell.prefix is None:
        return f"canonical({found})"
    carried = f"contains({found}, ':') AND spelled(bare(split_part({found}, ':', 1))) = {quote(cell.prefix)}"
    return (
        f"CASE WHEN {found} = '' THEN '' WHEN {carried} THEN canonical({found}) "
        f"ELSE {quote(cell.prefix + ':')} || {found} END"
    )


def pieces_sql(cell: Cell, text: str) -> str:
    """An SQL list of the pieces of a cell."""
    return f"[{text}]" if cell.split is None else f"string_split({text}, {quote(cell.split)})"


def create_lookups(connection: duckdb.DuckDBPyConnection, catalogue: Catalogue, ends: Collection[End]) -> None:
    """Create what ends look things up in: `map/NAME` (key, value) and `ontology/SOURCE` (old, live)."""
    for name in dict.fromkeys(name for end in ends for name in end.via):
        _create_map(connection, catalogue.maps[name], f'"map/{name}"')
    for source in dict.fromkeys(end.ontology for end in ends if end.ontology is not None):
        connection.execute(f"""
            CREATE TABLE "ontology/{source}" AS
            SELECT canonical(id) AS old, canonical(live) AS live FROM {table_name(source, "resolved")}
        """)


def _create_map(connection: duckdb.DuckDBPyConnection, mapping: IdMap, table: str) -> None:
    conditions = [condition_sql(condition) for condition in mapping.where] or ["true"]
    key, value = (f'"{cell.column}"' for cell in (mapping.key, mapping.value))
    connection.execute(f"""
        CREATE TABLE {table} AS
        WITH pieces AS (
            SELECT keys.piece AS key_piece, unnest({pieces_sql(mapping.value, value)}) AS value_piece
            FROM {table_name(mapping.source, mapping.table)}, unnest({pieces_sql(mapping.key, key)}) AS keys(piece)
            WHERE {" AND ".join(conditions)}),
        found AS (
            SELECT DISTINCT {found_sql(mapping.key, "key_piece")} AS key_found,
                {found_sql(mapping.value, "value_piece")} AS value_found
            FROM pieces),
        curies AS (
            SELECT DISTINCT {curie_sql(mapping.key, "key_found")} AS key,
                {curie_sql(mapping.value, "value_found")} AS value
            FROM found)
        SELECT key, value FROM curies WHERE key <> '' AND value <> ''
    """)


def create_ends(connection: duckdb.DuckDBPyConnection, schema: Schema, *, end: End, cells: str, table: str) -> None:
    """Create a table of what every distinct cell of an end stands for.

    Args:
        connection: the database, with the macros and the lookups.
        schema: node types and prefixes.
        end: the head or tail of a rule.
        cells: a query of the distinct cells, one column `cell`.
        table: the table to create: `code` (number of the cell in byte order), `cell`, `id` (the node, or
            what could not be mapped), `fate` (OK, OBSOLETE or UNMAPPED), `unknown` (whether the
            ontology does not hold the node) and `moved` (whether the ontology said to use this node for
            another one). A cell with several nodes has several rows.
    """
    steps = [
        f"""cells AS (SELECT row_number() OVER (ORDER BY cell) AS code, cell FROM ({cells})),
        pieces AS (SELECT code, cell, unnest({pieces_sql(end, "cell")}) AS piece FROM cells),
        found AS (SELECT code, cell, bare(piece) AS piece, {found_sql(end, "piece")} AS found FROM pieces),
        step0 AS (
            SELECT code, cell, CASE WHEN found = '' THEN piece ELSE {curie_sql(end, "found")} END AS id,
                CASE WHEN found = '' THEN {UNMAPPED} ELSE {OK} END AS fate
            FROM found)"""
    ]
    for number, via in enumerate(end.via):
        steps.append(f"""step{number + 1} AS (
            SELECT code, cell, coalesce(value, id) AS id,
                CASE WHEN fate = {OK} AND value IS NULL THEN {UNMAPPED} ELSE fate END AS fate
            FROM step{number} LEFT JOIN "map/{via}" ON key = id AND fate = {OK})""")
    last = f"step{len(end.via)}"
    if end.ontology is None:
        steps.append(f"followed AS (SELECT code, cell, id, fate, false AS unknown, false AS moved FROM {last})")
    else:
        steps.append(f"""followed AS (
            SELECT code, cell, coalesce(nullif(live, ''), id) AS id,
                CASE WHEN live = '' THEN {OBSOLETE} ELSE fate END AS fate, live IS NULL AND fate = {OK} AS unknown,
                coalesce(live <> '' AND live <> id, false) AS moved
            FROM {last} LEFT JOIN "ontology/{end.ontology}" ON old = id AND fate = {OK})""")
    valid = " OR ".join(
        f"regexp_full_match(id, {quote(f'{prefix}:({schema.prefixes[prefix].pattern})')})"
        for prefix in schema.node_types[end.type]
    )
    connection.execute(f"""
        CREATE OR REPLACE TABLE {table} AS WITH {", ".join(steps)},
        checked AS (SELECT *, {valid} AS valid FROM followed)
        SELECT DISTINCT code, cell, id, unknown AND valid AS unknown, moved,
            CASE WHEN fate = {OK} AND NOT valid THEN {UNMAPPED} ELSE fate END AS fate
        FROM checked
    """)
