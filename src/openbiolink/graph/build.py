"""From rows of sources to distinct edges, with every row accounted for.

Rules of the same relation and polarity are built together, so that an edge found twice is one edge.
The steps are SQL over integers: cells are numbered in byte order, identifiers are worked out once per
distinct cell, and of several rows that give the same edge the one with the best score is kept. Ties are
broken by the cells themselves, never by the order of rows.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from openbiolink.errors import OpenBioLinkError
from openbiolink.graph.identifiers import (
    OBSOLETE,
    OK,
    UNMAPPED,
    condition_sql,
    create_ends,
    create_lookups,
    create_macros,
)
from openbiolink.progress import silent
from openbiolink.sources.read import LoadedSource, lines_where, load_source, table_name
from openbiolink.tables import NUMBER, quote

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import duckdb

    from openbiolink.files import Note
    from openbiolink.graph.plan import GraphOptions, Plan
    from openbiolink.progress import Progress
    from openbiolink.schema import Schema
    from openbiolink.sources.declarations import Catalogue, End, Rule

# Reasons of the ledger in their order: a row with several takes the first. The numbers are used in SQL.
REASONS = {
    0: "kept",
    1: "duplicate",
    2: "below_quality",
    3: "negated",
    4: "filtered",
    OBSOLETE: "obsolete",
    UNMAPPED: "unmapped_head",
    7: "unmapped_tail",
    8: "self_loop",
}
KEPT, DUPLICATE, BELOW, NEGATED, FILTERED, UNMAPPED_TAIL, SELF_LOOP = 0, 1, 2, 3, 4, 7, 8
NO_SCORE = ("", "NA", "-")


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """How many rows of a rule met a fate, and how many edges the kept ones gave."""

    rule: str
    source: str
    reason: str
    rows: int
    edges: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleStatistics:
    """Counts of one rule: rows that met its conditions, and what became of them and their identifiers.

    `additions` are edges before duplicates were merged, reversed copies included.
    """

    rule: str
    relation: str
    head_type: str
    tail_type: str
    negative: bool
    rows: int
    no_mapping: int
    below_quality: int
    additions: int
    returned: int
    edges: int
    heads: int
    tails: int
    heads_no_mapping: int
    tails_no_mapping: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """The outcome of a build; its edges are in the database.

    Tables: `edges` (head, relation, tail, score, source, negative), `unmapped` (id, type, negative).

    Attributes:
        loaded: the sources read.
        ledger: what became of every row.
        statistics: counts by rule.
        not_in_ontology: relation and ontology → nodes that the ontology does not hold, which are kept.
        replaced: relation and ontology → nodes that stand for alternative or obsolete ids.
    """

    loaded: dict[str, LoadedSource]
    ledger: tuple[LedgerEntry, ...]
    statistics: tuple[RuleStatistics, ...]
    not_in_ontology: dict[str, int]
    replaced: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Context:
    connection: duckdb.DuckDBPyConnection
    catalogue: Catalogue
    schema: Schema
    options: GraphOptions
    loaded: Mapping[str, LoadedSource]
    note: Note


def build_graph(
    connection: duckdb.DuckDBPyConnection,
    catalogue: Catalogue,
    schema: Schema,
    *,
    sources: Mapping[str, Path],
    plan: Plan,
    options: GraphOptions,
    note: Note,
    progress: Progress = silent,
) -> Build:
    """Read the sources of a plan and build its rules, leaving the edges in the database.

    Raises:
        InputError: a source file cannot be read, or fits no known layout.
    """
    create_macros(connection, schema)
    connection.execute("""
        CREATE TABLE edges (head VARCHAR, relation VARCHAR, tail VARCHAR, score VARCHAR, source VARCHAR,
            negative BOOLEAN, head_type VARCHAR, tail_type VARCHAR);
        CREATE TABLE unmapped (id VARCHAR, type VARCHAR, negative BOOLEAN);
        CREATE TABLE followed (words VARCHAR, key VARCHAR, relation VARCHAR, id VARCHAR)
    """)
    loaded: dict[str, LoadedSource] = {}
    for done, (name, needed) in enumerate(plan.needed.items()):
        progress(f"read {name}", done, len(plan.needed))
        loaded[name] = load_source(connection, name, sources[name], catalogue.sources[name], needed=needed, note=note)
    progress("read sources", len(plan.needed), len(plan.needed))
    create_lookups(connection, catalogue, [catalogue.rules[name] for name in plan.rules])
    context = _Context(connection, catalogue, schema, options, loaded, note)
    groups: dict[tuple[str, bool], list[str]] = {}
    for name in plan.rules:
        rule = catalogue.rules[name]
        groups.setdefault((rule.relation, rule.negative), []).append(name)
    ledger: list[LedgerEntry] = []
    statistics: list[RuleStatistics] = []
    for done, ((relation, negative), names) in enumerate(groups.items()):
        progress(f"build {relation}{' (true negatives)' if negative else ''}", done, len(groups))
        entries, counts = _build_group(context, names)
        ledger += entries
        statistics += counts
    progress("build relations", len(groups), len(groups))
    return Build(
        loaded=loaded,
        ledger=tuple(ledger),
        statistics=tuple(statistics),
        not_in_ontology=_count_followed(connection, "not in"),
        replaced=_count_followed(connection, "ids replaced through"),
    )


def _build_group(context: _Context, names: Sequence[str]) -> tuple[list[LedgerEntry], list[RuleStatistics]]:
    connection = context.connection
    first = context.catalogue.rules[names[0]]
    symmetric = context.schema.relation(first.relation).symmetric
    early: dict[str, list[tuple[str, int]]] = {}
    for number, name in enumerate(names):
        rule = context.catalogue.rules[name]
        early[name] = _filter_rows(context, name, rule, number)
        for side, end in (("head", rule.head), ("tail", rule.tail)):
            create_ends(
                connection,
                context.schema,
                end=end,
                cells=f"SELECT DISTINCT {side} AS cell FROM rows{number}",
                table=f"{side}s{number}",
            )
            _list_unmapped(context, rule, end, f"{side}s{number}")
    _number_nodes(connection, len(names))
    _list_candidates(context, names, symmetric=symmetric)
    _choose_edges(connection)
    copies = 2 if symmetric and context.options.directed else 1
    for number, name in enumerate(names):
        _store_edges(connection, context.catalogue.rules[name], number, both=copies == 2)
    ledger, statistics = [], []
    for number, name in enumerate(names):
        late = _count_fates(connection, number)
        edges = copies * _count(context, f"chosen WHERE rule = {number}")
        rule = context.catalogue.rules[name]
        entries = _ledger_of(name, rule.source, early[name], late, edges)
        check_ledger(entries, read=_count(context, table_name(rule.source, rule.table)))
        if not edges:
            file = context.loaded[rule.source].path.name
            context.note(f"{name}: none of the {entries[0].rows:,} rows of {file} gives an edge; ledger.tsv says why")
        ledger += entries
        statistics.append(_statistics_of(context, name, number, entries, copies))
    tables = [f"{table}{number}" for number in range(len(names)) for table in ("rows", "heads", "tails")]
    connection.execute("; ".join(f"DROP TABLE {table}" for table in ("candidates", "chosen", "nodes", *tables)))
    return ledger, statistics


def _filter_rows(context: _Context, name: str, rule: Rule, number: int) -> list[tuple[str, int]]:
    """Create the table of the rows that a rule takes, and count the others by reason."""
    cases = []
    if rule.negation is not None:
        cases.append(f"WHEN {condition_sql(rule.negation)} THEN 'negated'")
    cases += [f"WHEN NOT {condition_sql(test)} THEN {quote(f'filtered:{test.reason}')}" for test in rule.where]
    level = None if context.options.quality == "all" else getattr(rule.quality, context.options.quality)
    score = "''"
    if rule.score is not None:
        score = f'bare("{rule.score.column}")'
        if not rule.score.best_first:
            score = f"CASE WHEN {score} IN {NO_SCORE} THEN '' ELSE {score} END"
            cases.append(f"WHEN ({score}) <> '' AND number({score}) IS NULL THEN 'filtered:bad_score'")
            if level is not None:
                cases.append(f"WHEN ({score}) = '' THEN 'filtered:no_score'")
    reason = f"CASE {' '.join(cases)} ELSE '' END" if cases else "''"
    context.connection.execute(f"""
        CREATE OR REPLACE TABLE rows{number} AS
        SELECT row_number() OVER () AS row, "{rule.head.column}" AS head, "{rule.tail.column}" AS tail,
            {score} AS score, {condition_sql(level) if level is not None else "true"} AS good
        FROM {table_name(rule.source, rule.table)} WHERE {reason} = ''
    """)
    counts = context.connection.execute(f"""
        SELECT {reason} AS reason, count(*) FROM {table_name(rule.source, rule.table)}
        GROUP BY reason HAVING reason <> '' ORDER BY reason
    """).fetchall()
    _note_scores(context, name, rule, number, dict(counts))
    return counts


def _note_scores(context: _Context, name: str, rule: Rule, number: int, counts: Mapping[str, int]) -> None:
    """Say where numbers are missing or no numbers."""
    if rule.score is None or rule.score.best_first:
        return
    kept = context.connection.execute(f"SELECT count(*) FROM rows{number} WHERE score = ''").fetchall()[0][0]
    fates = (
        ("have no score and are kept without one", kept, _is_missing),
        ("have no score and are left out by the cut-off", counts.get("filtered:no_score", 0), _is_missing),
        ("have a score that is not a number and are left out", counts.get("filtered:bad_score", 0), _is_no_number),
    )
    source = context.loaded[rule.source]
    all_rows = not rule.where and rule.negation is None  # else the first such lines may belong to other rules
    for fate, rows, fails in fates:
        if rows:
            place = ""
            if all_rows and source.found is not None and rule.score.column in source.found.columns:
                numbers = lines_where(source.path, source.found, rule.score.column, fails=fails, limit=3)
                place = f" (line {', '.join(str(line) for line in numbers)})"
            context.note(f"{name}: {rows} rows of {source.path.name} {fate}{place}")


def _is_missing(cell: str) -> bool:
    return cell.strip(' "') in NO_SCORE


def _is_no_number(cell: str) -> bool:
    text = cell.strip(' "')
    return text not in NO_SCORE and (re.fullmatch(NUMBER, text) is None or not math.isfinite(float(text)))


def _list_unmapped(context: _Context, rule: Rule, end: End, ends: str) -> None:
    context.connection.execute(f"""
        INSERT INTO unmapped SELECT DISTINCT id, {quote(end.type)}, {str(rule.negative).lower()} FROM {ends}
        WHERE fate <> {OK} AND id <> ''
    """)
    if end.ontology is not None:
        for test, words in (("unknown", "not in"), (f"moved AND fate = {OK}", "ids replaced through")):
            key = f"{rule.relation}: {end.type} {words} {end.ontology}"
            context.connection.execute(f"""
                INSERT INTO followed SELECT DISTINCT {quote(words)}, {quote(key)}, {quote(rule.relation)}, id
                FROM {ends} WHERE {test}
            """)


def _count_followed(connection: duckdb.DuckDBPyConnection, words: str) -> dict[str, int]:
    """How many nodes of the graph an ontology does not hold, or holds under other ids too, by relation."""
    rows = connection.execute(f"""
        WITH ends AS (SELECT relation, head AS id FROM edges UNION SELECT relation, tail FROM edges)
        SELECT key, count(DISTINCT id) FROM followed SEMI JOIN ends USING (relation, id)
        WHERE words = {quote(words)} GROUP BY key ORDER BY key
    """).fetchall()
    return dict(rows)


def _number_nodes(connection: duckdb.DuckDBPyConnection, rules: int) -> None:
    """Create `nodes` (node, id): the identifiers of all ends, numbered in byte order."""
    ends = " UNION ".join(
        f"SELECT id FROM {side}s{number} WHERE fate = {OK}" for number in range(rules) for side in ("head", "tail")
    )
    connection.execute(
        f"CREATE OR REPLACE TABLE nodes AS SELECT row_number() OVER (ORDER BY id) AS node, id FROM ({ends})"
    )


def _list_candidates(context: _Context, names: Sequence[str], *, symmetric: bool) -> None:
    """Create `candidates`: each combination of a row's identifiers, with its fate so far and its score's place."""
    queries = []
    for number, name in enumerate(names):
        rule = context.catalogue.rules[name]
        fate = f"""CASE WHEN NOT good THEN {BELOW}
            WHEN heads.fate = {OBSOLETE} OR tails.fate = {OBSOLETE} THEN {OBSOLETE}
            WHEN heads.fate = {UNMAPPED} THEN {UNMAPPED} WHEN tails.fate = {UNMAPPED} THEN {UNMAPPED_TAIL}
            WHEN heads.node = tails.node THEN {SELF_LOOP} ELSE {KEPT} END"""
        ends = ("least(heads.node, tails.node)", "greatest(heads.node, tails.node)")
        head, tail = ends if symmetric else ("heads.node", "tails.node")
        place = "NULL"
        if rule.score is not None and rule.score.best_first:
            words = ", ".join(quote(word) for word in rule.score.best_first)
            place = f"coalesce(list_position([{words}], score), {len(rule.score.best_first) + 1})"
        elif rule.score is not None:
            place = "-number(score)"
        queries.append(f"""
            SELECT {number}::UTINYINT AS rule, row, {head} AS head, {tail} AS tail, ({fate})::UTINYINT AS fate,
                ({place})::DOUBLE AS place, score, heads.code AS head_cell, tails.code AS tail_cell
            FROM rows{number}
            JOIN (SELECT code, cell, fate, node FROM heads{number} LEFT JOIN nodes USING (id)) AS heads
                ON heads.cell = rows{number}.head
            JOIN (SELECT code, cell, fate, node FROM tails{number} LEFT JOIN nodes USING (id)) AS tails
                ON tails.cell = rows{number}.tail""")
    context.connection.execute(f"CREATE OR REPLACE TABLE candidates AS {' UNION ALL '.join(queries)}")


def _choose_edges(connection: duckdb.DuckDBPyConnection) -> None:
    """Create `chosen`: for each edge the row with the best score, ties broken by the cells."""
    connection.execute(f"""
        CREATE OR REPLACE TABLE chosen AS
        SELECT rule, row, head, tail, score FROM candidates WHERE fate = {KEPT}
        QUALIFY row_number() OVER (
            PARTITION BY head, tail ORDER BY place NULLS LAST, score, rule, head_cell, tail_cell, row) = 1
    """)


def _store_edges(connection: duckdb.DuckDBPyConnection, rule: Rule, number: int, *, both: bool) -> None:
    types = f"{quote(rule.head.type)}, {quote(rule.tail.type)}"
    for head, tail in (("heads", "tails"), ("tails", "heads"))[: 2 if both else 1]:
        connection.execute(f"""
            INSERT INTO edges SELECT {head}.id, {quote(rule.relation)}, {tail}.id, score, {quote(rule.label)},
                {str(rule.negative).lower()}, {types}
            FROM chosen JOIN nodes AS heads ON heads.node = head JOIN nodes AS tails ON tails.node = tail
            WHERE rule = {number}
        """)


def _count_fates(connection: duckdb.DuckDBPyConnection, number: int) -> dict[int, int]:
    """How many rows met each fate; a row is kept if it gave any chosen edge, else its first fate counts."""
    counts = connection.execute(f"""
        WITH kept AS (SELECT DISTINCT row FROM chosen WHERE rule = {number}),
        others AS (
            SELECT min(CASE WHEN fate = {KEPT} THEN {DUPLICATE} ELSE fate END) AS fate
            FROM candidates WHERE rule = {number} AND row NOT IN (FROM kept) GROUP BY row)
        SELECT {KEPT}, count(*) FROM kept
        UNION ALL SELECT fate, count(*) FROM others GROUP BY fate
    """).fetchall()
    return dict(counts)


def _ledger_of(
    name: str, source: str, early: Sequence[tuple[str, int]], late: Mapping[int, int], edges: int
) -> list[LedgerEntry]:
    """One entry of all rows read, then one for each reason that any row has, in the order of the reasons."""
    rows = {REASONS[fate]: count for fate, count in late.items()} | dict(early)
    order = list(REASONS.values())
    reasons = sorted(rows, key=lambda reason: (order.index(reason.split(":")[0]), reason))
    entries = [LedgerEntry(rule=name, source=source, reason="read", rows=sum(rows.values()), edges=0)]
    for reason in reasons:
        given = edges if reason == REASONS[KEPT] else 0
        entries.append(LedgerEntry(rule=name, source=source, reason=reason, rows=rows[reason], edges=given))
    return entries


def check_ledger(entries: Sequence[LedgerEntry], *, read: int) -> None:
    """Fail the build if a row of the source is not accounted for under exactly one known reason.

    Raises:
        OpenBioLinkError: a reason is unknown, or the rows do not add up to those read.
    """
    name = entries[0].rule
    reasons = [entry.reason for entry in entries[1:]]
    unknown = [reason for reason in reasons if reason.split(":")[0] not in REASONS.values()]
    if unknown:
        raise OpenBioLinkError(f"rule {name!r}: {unknown[0]!r} is no reason of the ledger; please report this")
    counted = sum(entry.rows for entry in entries[1:])
    if not entries[0].rows == counted == read or len(reasons) != len(set(reasons)):
        raise OpenBioLinkError(
            f"rule {name!r}: {read} rows were read but {counted} are accounted for; please report this"
        )


def _statistics_of(
    context: _Context, name: str, number: int, entries: Sequence[LedgerEntry], copies: int
) -> RuleStatistics:
    rule = context.catalogue.rules[name]
    rows = {entry.reason: entry.rows for entry in entries}
    no_rule = sum(count for reason, count in rows.items() if reason.split(":")[0] in {"negated", "filtered"})
    additions = _count(context, f"candidates WHERE rule = {number} AND fate = {KEPT}")
    sides = {
        f"{side}{kind}": _count(context, f"(SELECT DISTINCT code FROM {side}{number}{test})")
        for side in ("heads", "tails")
        for kind, test in (("", ""), ("_mapped", f" WHERE fate = {OK}"))
    }
    return RuleStatistics(
        rule=name,
        relation=rule.relation,
        head_type=rule.head.type,
        tail_type=rule.tail.type,
        negative=rule.negative,
        rows=rows["read"] - no_rule,
        no_mapping=sum(rows.get(REASONS[fate], 0) for fate in (OBSOLETE, UNMAPPED, UNMAPPED_TAIL)),
        below_quality=rows.get(REASONS[BELOW], 0),
        additions=additions * copies,
        returned=additions * (copies - 1),
        edges=next(entry.edges for entry in entries if entry.reason == REASONS[KEPT]),
        heads=sides["heads"],
        tails=sides["tails"],
        heads_no_mapping=sides["heads"] - sides["heads_mapped"],
        tails_no_mapping=sides["tails"] - sides["tails_mapped"],
    )


def _count(context: _Context, what: str) -> int:
    return int(context.connection.execute(f"SELECT count(*) FROM {what}").fetchall()[0][0])
