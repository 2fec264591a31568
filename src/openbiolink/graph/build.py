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

from openbiolink.graph.dates import create_cell_dates
from openbiolink.graph.identifiers import OK, condition_sql, create_ends, create_lookups, create_macros, score_sql
from openbiolink.graph.ledger import (
    BELOW,
    DUPLICATE,
    KEPT,
    OBSOLETE,
    SELF_LOOP,
    UNMAPPED,
    UNMAPPED_TAIL,
    LedgerEntry,
    band_fault,
    check_bands,
    check_ledger,
    ledger_of,
)
from openbiolink.graph.names import create_names
from openbiolink.graph.plan import ALL_BANDS
from openbiolink.graph.statistics import RuleStatistics, count_rows, count_statistics
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
    from openbiolink.sources.declarations import Catalogue, End, Rule

NO_SCORE = ("", "NA", "-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """The outcome of a build; its edges are in the database.

    Tables: `edges` (head, relation, tail, score, source, negative, head_type, tail_type, rule; the last is the rule
    whose row was kept), `nodes`, `tn_nodes` and `all_nodes` (id, type), `names` (id, name), `dates` (head, relation,
    tail, negative, date), `unmapped` (id, type, negative).

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
    options: GraphOptions
    loaded: Mapping[str, LoadedSource]
    note: Note
    faults: dict[str, str]  # rule → how its rows differ from those expected


def build_graph(
    connection: duckdb.DuckDBPyConnection,
    catalogue: Catalogue,
    *,
    sources: Mapping[str, Path],
    plan: Plan,
    options: GraphOptions,
    note: Note,
    progress: Progress = silent,
) -> Build:
    """Read the sources of a plan and build its rules, leaving the edges in the database.

    Raises:
        InputError: a source file cannot be read, fits no known layout, or has another number of rows than expected.
    """
    create_macros(connection, catalogue.graph_schema)
    connection.execute("""
        CREATE TABLE edges (head VARCHAR, relation VARCHAR, tail VARCHAR, score VARCHAR, source VARCHAR,
            negative BOOLEAN, head_type VARCHAR, tail_type VARCHAR, rule VARCHAR);
        CREATE TABLE dates (head VARCHAR, relation VARCHAR, tail VARCHAR, negative BOOLEAN, date VARCHAR);
        CREATE TABLE unmapped (id VARCHAR, type VARCHAR, negative BOOLEAN);
        CREATE TABLE followed (words VARCHAR, key VARCHAR, relation VARCHAR, id VARCHAR)
    """)
    loaded: dict[str, LoadedSource] = {}
    for done, (name, needed) in enumerate(plan.needed.items()):
        progress(f"read {name}", done, len(plan.needed))
        loaded[name] = load_source(connection, name, sources[name], catalogue.sources[name], needed=needed, note=note)
    progress("read sources", len(plan.needed), len(plan.needed))
    ends = [end for name in plan.rules for end in catalogue.rules[name].ends()]
    create_lookups(connection, catalogue, [*ends, *(catalogue.names[name].node for name in plan.names)])
    context = _Context(connection, catalogue, options, loaded, note, faults={})
    ledger, statistics = _build_groups(context, plan.rules, progress)
    _create_nodes(connection)
    create_names(connection, catalogue, plan.names)
    return Build(
        loaded=loaded,
        ledger=tuple(ledger),
        statistics=tuple(statistics),
        not_in_ontology=_count_followed(connection, "not in"),
        replaced=_count_followed(connection, "ids replaced through"),
    )


def _create_nodes(connection: duckdb.DuckDBPyConnection) -> None:
    for name, test in (("nodes", "NOT negative"), ("tn_nodes", "negative"), ("all_nodes", "true")):
        connection.execute(f"""
            CREATE TABLE {name} AS
            SELECT head AS id, head_type AS type FROM edges WHERE {test}
            UNION SELECT tail, tail_type FROM edges WHERE {test}
        """)


def _build_groups(
    context: _Context, rules: Sequence[str], progress: Progress
) -> tuple[list[LedgerEntry], list[RuleStatistics]]:
    """Build the rules of each relation and polarity together."""
    groups: dict[tuple[str, bool], list[str]] = {}
    for name in rules:
        rule = context.catalogue.rules[name]
        groups.setdefault((rule.relation, rule.negative), []).append(name)
    ledger: list[LedgerEntry] = []
    statistics: list[RuleStatistics] = []
    for done, ((relation, negative), names) in enumerate(groups.items()):
        progress(f"build {relation}{' (true negatives)' if negative else ''}", done, len(groups))
        entries, counts = _build_group(context, names)
        ledger += entries
        statistics += counts
    check_bands(context.faults)
    progress("build relations", len(groups), len(groups))
    return ledger, statistics


def _build_group(context: _Context, names: Sequence[str]) -> tuple[list[LedgerEntry], list[RuleStatistics]]:
    connection, rules = context.connection, [context.catalogue.rules[name] for name in names]
    symmetric = context.catalogue.graph_schema.relation(rules[0].relation).symmetric
    copies = 2 if symmetric and context.options.directed else 1
    early = []
    for number, (name, rule) in enumerate(zip(names, rules, strict=True)):
        early.append(_filter_rows(context, name, rule, number))
        _work_out_cells(context, name, rule, number)
    _number_nodes(connection, len(names))
    _list_candidates(connection, rules, symmetric=symmetric)
    _choose_edges(connection)
    for number, (name, rule) in enumerate(zip(names, rules, strict=True)):
        _store_edges(connection, name, rule, number, copies=copies)
    if any(rule.date is not None for rule in rules):
        _store_dates(connection, rules[0], copies=copies)
    ledger, statistics = [], []
    for number, (name, rule) in enumerate(zip(names, rules, strict=True)):
        late = _count_fates(connection, number)
        edges = copies * count_rows(connection, f"chosen WHERE rule = {number}")
        entries = ledger_of(name, rule.source, early[number], late, edges)
        _check_rule(context, name, rule, entries)
        ledger += entries
        statistics.append(count_statistics(connection, rule, number, entries, copies=copies))
    tables = [f"{kind}{number}" for number in range(len(names)) for kind in ("rows", "heads", "tails", "stated")]
    for table in ("candidates", "chosen", "nodes", *tables):
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    return ledger, statistics


def _work_out_cells(context: _Context, name: str, rule: Rule, number: int) -> None:
    """Create what every distinct cell of the rows of a rule stands for: `heads`, `tails`, and `stated` for dates."""
    for side, end in (("head", rule.head), ("tail", rule.tail)):
        create_ends(
            context.connection,
            context.catalogue.graph_schema,
            end=end,
            cells=f"SELECT DISTINCT {side} AS cell FROM rows{number}",
            table=f"{side}s{number}",
        )
        _list_unmapped(context, rule, end, f"{side}s{number}")
    if rule.date is None:
        return
    cells = f"SELECT DISTINCT stated AS cell FROM rows{number}"
    create_cell_dates(context.connection, rule.date, cells=cells, table=f"stated{number}")
    wrong, example = context.connection.execute(f"""
        SELECT count(*), min(wrong) FROM rows{number} JOIN stated{number} ON cell = stated WHERE wrong IS NOT NULL
    """).fetchall()[0]
    if wrong:
        file = context.loaded[rule.source].path.name
        context.note(f"{name}: {wrong:,} rows of {file} hold what is no date, such as {example!r}, which is ignored")


def _check_rule(context: _Context, name: str, rule: Rule, entries: Sequence[LedgerEntry]) -> None:
    """Check that the rows of a rule add up and are as many as expected, and say so where none gives an edge."""
    check_ledger(entries, read=count_rows(context.connection, table_name(rule.source, rule.table)))
    file = context.loaded[rule.source].path.name
    cut = context.options.quality != "all"
    fault = band_fault(entries, rule.expect, cut=cut, file=file)
    if fault and {name, ALL_BANDS} & {*context.options.allowed_bands}:
        context.note(f"{fault}, which was allowed")
    elif fault:
        context.faults[name] = fault
    if not any(entry.edges for entry in entries):
        context.note(f"{name}: none of the {entries[0].rows:,} rows of {file} gives an edge; ledger.tsv says why")


def _filter_rows(context: _Context, name: str, rule: Rule, number: int) -> list[tuple[str, int]]:
    """Create the table of the rows that a rule takes, and count the others by reason."""
    cases = []
    if rule.negation is not None:
        cases.append(f"WHEN {condition_sql(rule.negation)} THEN 'negated'")
    cases += [f"WHEN NOT {condition_sql(test)} THEN {quote(f'filtered:{test.reason}')}" for test in rule.where]
    level = None if context.options.quality == "all" else getattr(rule.quality, context.options.quality)
    score = "''"
    if rule.score is not None:
        score = score_sql(rule.score)
        if not rule.score.best_first:
            score = f"CASE WHEN {score} IN {NO_SCORE} THEN '' ELSE {score} END"
            cases.append(f"WHEN ({score}) <> '' AND number({score}) IS NULL THEN 'filtered:bad_score'")
            if level is not None:
                cases.append(f"WHEN ({score}) = '' THEN 'filtered:no_score'")
    reason = f"CASE {' '.join(cases)} ELSE '' END" if cases else "''"
    stated = f'"{rule.date.column}"' if rule.date is not None else "NULL::VARCHAR"
    context.connection.execute(f"""
        CREATE OR REPLACE TABLE rows{number} AS
        SELECT row_number() OVER () AS row, "{rule.head.column}" AS head, "{rule.tail.column}" AS tail,
            {score} AS score, {condition_sql(level) if level is not None else "true"} AS good, {stated} AS stated
        FROM {table_name(rule.source, rule.table)} WHERE {reason} = ''
    """)
    counts = context.connection.execute(f"""
        SELECT reason, count(*) FROM (SELECT {reason} AS reason FROM {table_name(rule.source, rule.table)})
        WHERE reason <> '' GROUP BY reason ORDER BY reason
    """).fetchall()
    _note_scores(context, name, rule, number, dict(counts))
    return counts


def _note_scores(context: _Context, name: str, rule: Rule, number: int, counts: Mapping[str, int]) -> None:
    """Say where numbers are missing or no numbers, and where words are none of those known."""
    if rule.score is None:
        return
    if rule.score.best_first:
        _note_words(context, name, rule, number)
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
            if (
                all_rows
                and source.found is not None
                and rule.score.column in source.found.columns
                and not rule.score.extract
            ):
                numbers = lines_where(source.path, source.found, rule.score.column, fails=fails, limit=3)
                place = f" (line {', '.join(str(line) for line in numbers)})"
            context.note(f"{name}: {rows} rows of {source.path.name} {fate}{place}")


def _note_words(context: _Context, name: str, rule: Rule, number: int) -> None:
    words = ", ".join(quote(word) for word in rule.score.best_first) if rule.score else ""
    rows, example = context.connection.execute(
        f"SELECT count(*), min(score) FROM rows{number} WHERE score NOT IN ({words})"
    ).fetchall()[0]
    if rows:
        file = context.loaded[rule.source].path.name
        context.note(
            f"{name}: {rows} rows of {file} have a score that is not known, such as {example!r}, and come last"
        )


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


def _list_candidates(connection: duckdb.DuckDBPyConnection, rules: Sequence[Rule], *, symmetric: bool) -> None:
    """Create `candidates`: each combination of a row's identifiers, with its fate so far and its score's place."""
    queries = []
    for number, rule in enumerate(rules):
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
        date, dates = "NULL::VARCHAR", ""
        if rule.date is not None:
            date, dates = "date", f"LEFT JOIN stated{number} ON stated{number}.cell = stated"
        queries.append(f"""
            SELECT {number}::UTINYINT AS rule, row, {head} AS head, {tail} AS tail, ({fate})::UTINYINT AS fate,
                ({place})::DOUBLE AS place, score, heads.code AS head_cell, tails.code AS tail_cell, {date} AS date
            FROM rows{number}
            JOIN (SELECT code, cell, fate, node FROM heads{number} LEFT JOIN nodes USING (id)) AS heads
                ON heads.cell = rows{number}.head
            JOIN (SELECT code, cell, fate, node FROM tails{number} LEFT JOIN nodes USING (id)) AS tails
                ON tails.cell = rows{number}.tail {dates}""")
    connection.execute(f"CREATE OR REPLACE TABLE candidates AS {' UNION ALL '.join(queries)}")


def _choose_edges(connection: duckdb.DuckDBPyConnection) -> None:
    """Create `chosen`: for each edge the row with the best score, ties broken by the cells."""
    connection.execute(f"""
        CREATE OR REPLACE TABLE chosen AS
        SELECT rule, row, head, tail, score FROM candidates WHERE fate = {KEPT}
        QUALIFY row_number() OVER (
            PARTITION BY head, tail ORDER BY place NULLS LAST, score, rule, head_cell, tail_cell, row) = 1
    """)


def _store_edges(connection: duckdb.DuckDBPyConnection, name: str, rule: Rule, number: int, *, copies: int) -> None:
    """Add the edges that a rule's rows gave, turned round too where there are two copies of each."""
    for head, tail in (("heads", "tails"), ("tails", "heads"))[:copies]:
        connection.execute(f"""
            INSERT INTO edges SELECT {head}.id, {quote(rule.relation)}, {tail}.id, score, {quote(rule.label)},
                {str(rule.negative).lower()}, {quote(rule.head.type)}, {quote(rule.tail.type)}, {quote(name)}
            FROM chosen JOIN nodes AS heads ON heads.node = head JOIN nodes AS tails ON tails.node = tail
            WHERE rule = {number}
        """)


def _store_dates(connection: duckdb.DuckDBPyConnection, first: Rule, *, copies: int) -> None:
    """Add the earliest date of each edge over all rows that give it, whichever of them was kept."""
    for head, tail in (("heads", "tails"), ("tails", "heads"))[:copies]:
        connection.execute(f"""
            INSERT INTO dates
            SELECT {head}.id, {quote(first.relation)}, {tail}.id, {str(first.negative).lower()}, date
            FROM (SELECT head, tail, min(date) AS date FROM candidates WHERE fate = {KEPT} GROUP BY head, tail) AS pairs
            JOIN nodes AS heads ON heads.node = head JOIN nodes AS tails ON tails.node = tail
            WHERE date IS NOT NULL
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
