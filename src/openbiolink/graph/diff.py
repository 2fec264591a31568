"""What changed between two graphs: nodes and edges kept, lost, gained or known by another id now, and the inputs.

A node is an id with its type, an edge is head, relation and tail; true negatives are compared apart from edges. What
only the first graph has is lost, what only the second has is gained.

An edge is *re-identified* where it is lost under one id and gained under another that stands for the same node. Two ids
of the same type, one only in the first graph and the other only in the second, are taken for the same node if

1. they have the same name (`node_names.tsv`), which no other node of that type has in either graph; or else
2. they have the same neighbours by the same relations in the same directions, at least two of them, and no other id of
   that type that was lost, and none that was gained, has exactly these. Edges and true negatives both count. Neighbours
   that rule 1 found to be the same node count as the same.

The second rule is a guess; `Diff.same_nodes` says by which rule each pair was found. Ontologies are not asked: a graph
does not tell which ids they list as alternatives.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from openbiolink.croissant import EDGE_COLUMNS, MANIFEST_FILE, NODE_COLUMNS
from openbiolink.errors import InputError
from openbiolink.files import iter_lines
from openbiolink.graph.manifest import table_separator
from openbiolink.tables import open_database, read_delimited

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import duckdb
    from rich.console import Group
    from rich.table import Table

FORMAT = "openbiolink-diff/1"
EDGES, NEGATIVE_EDGES = "edges.csv", "TN_edges.csv"
NODE_FILES = ("nodes.csv", "TN_nodes.csv", "ALL_nodes.csv")
NAMES = "node_names.tsv"
LEAST_NEIGHBOURS = 2
SIDES = ("first", "second")
INPUT_FACTS = ("version", "sha256", "layout", "licence")
SETTINGS = ("version", "edition", "directed", "options", "catalogues", "missing_sources", "left_out")
SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many nodes or edges: first - lost - reidentified = kept = second - gained - reidentified.

    Attributes:
        first: in the first graph.
        second: in the second graph.
        kept: in both.
        reidentified: in both, under other ids.
        lost: only in the first.
        gained: only in the second.
    """

    first: int
    second: int
    kept: int
    reidentified: int
    lost: int
    gained: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeChange(Counts):
    """Nodes of one type."""

    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeChange(Counts):
    """Edges, or true negatives, of one relation and source; kept and re-identified ones by their first source.

    What is said of second and gained holds when summed over the sources of a relation.

    Attributes:
        relation: the relation.
        source: what the source column says.
        negative: whether they are true negatives.
        score_changed: kept or re-identified ones with another score, letter for letter.
        source_changed: kept or re-identified ones with another source.
    """

    relation: str
    source: str
    negative: bool
    score_changed: int
    source_changed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SameNode:
    """Two ids of a type that were taken for the same node, and by which rule."""

    type: str
    first: str
    second: str
    rule: Literal["name", "neighbours"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A fact of the manifests that differs; None where a manifest does not tell it."""

    what: str
    first: Any
    second: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """All differences of two graphs, sorted.

    Attributes:
        nodes: by type.
        edges: by relation and source, edges first, then true negatives.
        same_nodes: the ids that were taken for the same node.
        inputs: what changed in the sources, such as `go.ontology: sha256`; a source of one graph only is one entry.
        settings: what else changed in the manifests: edition, options, program version.
        notes: what a reader of the numbers should know.
    """

    nodes: tuple[NodeChange, ...]
    edges: tuple[EdgeChange, ...]
    same_nodes: tuple[SameNode, ...]
    inputs: tuple[Change, ...]
    settings: tuple[Change, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON."""
        return {"format": FORMAT, **asdict(self)}


def diff_graphs(first: Path, second: Path) -> Diff:
    """Compare two graphs on the disk.

    A folder holds `edges.csv` and, as far as they are there, `nodes.csv`, `TN_edges.csv`, `TN_nodes.csv`,
    `ALL_nodes.csv`, `node_names.tsv` and `manifest.json`, as `generate` writes them as TSV. Repeated edges count once.
    Memory is bounded by that of the database.

    Raises:
        InputError: a folder has no `edges.csv`, or a file is malformed.
    """
    notes: list[str] = []
    manifests = [_read_manifest(folder, notes) for folder in (first, second)]
    with open_database() as (connection, _):
        for side, folder, manifest in zip(SIDES, (first, second), manifests, strict=True):
            separator = table_separator(manifest or {}, folder / MANIFEST_FILE)
            _read_graph(connection, folder, side, separator=separator, notes=notes)
        _note_absent((first, second), notes)
        _pair_nodes(connection)
        return Diff(
            nodes=_compare_nodes(connection),
            edges=_compare_edges(connection),
            same_nodes=_same_nodes(connection),
            inputs=compare_inputs(*manifests),
            settings=compare_settings(*manifests),
            notes=tuple(notes),
        )


def _note_absent(folders: Sequence[Path], notes: list[str]) -> None:
    """Say which files only one of the graphs has."""
    for name in (NODE_FILES[0], NEGATIVE_EDGES, NAMES):
        lacking = [folder for folder in folders if not (folder / name).is_file()]
        if len(lacking) == 1:
            notes.append(f"{lacking[0]} has no {name}; what the other graph has there counts as a change")


def _read_manifest(folder: Path, notes: list[str]) -> dict[str, Any] | None:
    path = folder / MANIFEST_FILE
    if not path.is_file():
        notes.append(f"{folder} has no {MANIFEST_FILE}, so inputs and options cannot be compared")
        return None
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: is not JSON ({error}); mend it, or move it away") from error
    if not isinstance(manifest, dict) or not str(manifest.get("format")).startswith("openbiolink-graph/"):
        raise InputError(f"{path}: is not the manifest of a graph; give the folder of a graph, or move the file away")
    return manifest


def _read_graph(
    connection: duckdb.DuckDBPyConnection, folder: Path, side: str, *, separator: str, notes: list[str]
) -> None:
    """Create `edge_SIDE` (negative, head, relation, tail, score, source), `node_SIDE` (id, type), `name_SIDE`."""
    if not (folder / EDGES).is_file():
        raise InputError(
            f"{folder}: has no {EDGES}; name the folder of a graph that was written as TSV in one file a kind"
        )
    connection.execute(f"""
        CREATE TABLE edge_{side} (negative BOOLEAN, head VARCHAR, relation VARCHAR, tail VARCHAR, score VARCHAR,
            source VARCHAR);
        CREATE TABLE node_{side} (id VARCHAR, type VARCHAR); CREATE TABLE name_{side} (id VARCHAR, name VARCHAR)
    """)
    for name, negative in ((EDGES, False), (NEGATIVE_EDGES, True)):
        if (path := folder / name).is_file():
            _read_table(connection, path, EDGE_COLUMNS, separator=separator, notes=notes)
            rows = connection.execute("SELECT count(*) FROM raw").fetchall()[0][0]
            copied = connection.execute(f"""
                INSERT INTO edge_{side} SELECT {negative}, head, relation, tail, min(score), min(source)
                FROM raw GROUP BY head, relation, tail
            """).fetchall()[0][0]
            if rows > copied:
                notes.append(f"{path}: {rows - copied} repeated rows count once")
    for name in NODE_FILES:
        if (path := folder / name).is_file():
            _read_table(connection, path, NODE_COLUMNS, separator=separator, notes=notes)
            connection.execute(f"INSERT INTO node_{side} SELECT id, type FROM raw")
    if (path := folder / NAMES).is_file():
        _read_table(connection, path, ("id", "name"), separator="\t", notes=notes)
        connection.execute(f"INSERT INTO name_{side} SELECT id, min(name) FROM raw WHERE name <> '' GROUP BY id")
    connection.execute(f"""
        CREATE OR REPLACE TABLE node_{side} AS
        WITH ends AS (SELECT head AS id FROM edge_{side} UNION SELECT tail FROM edge_{side})
        SELECT id, type FROM node_{side} UNION SELECT id, '' FROM ends ANTI JOIN node_{side} USING (id);
        DROP TABLE raw
    """)


def _read_table(
    connection: duckdb.DuckDBPyConnection, path: Path, columns: Sequence[str], *, separator: str, notes: list[str]
) -> None:
    """Read a table of these columns, and further ones that are left out, into `raw`."""
    cells = (line.count(separator) + 1 for line in iter_lines(path, lambda _: None))
    further = range(next((number for number in cells if number >= len(columns)), 0) - len(columns))
    read_delimited(
        connection,
        path,
        table="raw",
        columns=(*columns, *(f"further{number}" for number in further)),
        keep=columns,
        separator=separator,
        comment="#",
        whole_rows_are_data=True,
        note=notes.append,
    )


def _pair_nodes(connection: duckdb.DuckDBPyConnection) -> None:
    """Create `pair` (type, first, second, rule): ids of which each is in one graph only and stands for one node."""
    connection.execute("CREATE TABLE pair (type VARCHAR, first VARCHAR, second VARCHAR, rule VARCHAR)")
    for side, other in (SIDES, SIDES[::-1]):
        connection.execute(f"""
            CREATE TABLE alone_{side} AS SELECT id, min(type) AS type
            FROM node_{side} ANTI JOIN node_{other} USING (id) GROUP BY id HAVING count(*) = 1;
            CREATE TABLE named_{side} AS SELECT type, name, min(id) AS id
            FROM node_{side} JOIN name_{side} USING (id) GROUP BY type, name HAVING count(*) = 1
        """)
    connection.execute("""
        INSERT INTO pair SELECT type, named_first.id, named_second.id, 'name'
        FROM named_first JOIN named_second USING (type, name)
        WHERE named_first.id IN (SELECT id FROM alone_first) AND named_second.id IN (SELECT id FROM alone_second)
    """)
    for side in SIDES:
        connection.execute(f"CREATE TABLE known_{side} AS {_neighbourhoods(side)}")
    connection.execute("""
        INSERT INTO pair SELECT type, known_first.id, known_second.id, 'neighbours'
        FROM known_first JOIN known_second USING (type, edges, digest)
    """)


def _neighbourhoods(side: str) -> str:
    """SQL of the lonely ids whose neighbours no other lonely id of the type has: type, edges, digest, id.

    A set of neighbours is told by its size and the exclusive-or of the MD5 of its members, which takes no memory for
    the members. Ids of the second graph that have a partner are replaced by it.
    """
    return f"""
        WITH around AS (
            SELECT head AS id, negative, relation, 'out' AS direction, tail AS neighbour FROM edge_{side}
            UNION ALL SELECT tail, negative, relation, 'in', head FROM edge_{side}),
        renamed AS (
            SELECT around.* REPLACE (coalesce(pair.first, neighbour) AS neighbour)
            FROM around SEMI JOIN alone_{side} USING (id) ANTI JOIN pair ON around.id = pair.{side}
            LEFT JOIN pair ON neighbour = pair.{side}),
        neighbourhood AS (
            SELECT id, count(*) AS edges,
                bit_xor(md5_number(concat_ws(chr(9), negative, relation, direction, neighbour))) AS digest
            FROM renamed GROUP BY id HAVING count(DISTINCT neighbour) >= {LEAST_NEIGHBOURS})
        SELECT type, edges, digest, min(id) AS id FROM neighbourhood JOIN alone_{side} USING (id)
        GROUP BY type, edges, digest HAVING count(*) = 1
    """


def _same_nodes(connection: duckdb.DuckDBPyConnection) -> tuple[SameNode, ...]:
    rows = connection.execute("SELECT type, first, second, rule FROM pair ORDER BY ALL").fetchall()
    return tuple(SameNode(type=kind, first=first, second=second, rule=rule) for kind, first, second, rule in rows)


def _compare_nodes(connection: duckdb.DuckDBPyConnection) -> tuple[NodeChange, ...]:
    tests = {
        "first": "in_first",
        "second": "in_second",
        "kept": "same",
        "reidentified": "NOT same",
        "lost": "NOT in_second",
        "gained": "NOT in_first",
    }
    rows = connection.execute(f"""
        WITH joined AS (
            SELECT type, node_first.id IS NOT NULL AS in_first, renamed.second IS NOT NULL AS in_second,
                node_first.id = renamed.second AS same
            FROM node_first FULL JOIN (
                SELECT coalesce(pair.first, node_second.id) AS id, node_second.type, node_second.id AS second
                FROM node_second LEFT JOIN pair ON node_second.id = pair.second) AS renamed USING (id, type))
        SELECT type, {_counts(tests.values())} FROM joined GROUP BY type ORDER BY type
    """).fetchall()
    return tuple(NodeChange(type=kind, **dict(zip(tests, numbers, strict=True))) for kind, *numbers in rows)


def _compare_edges(connection: duckdb.DuckDBPyConnection) -> tuple[EdgeChange, ...]:
    connection.execute("""
        CREATE TABLE joined AS
        SELECT negative, relation, edge_first.source AS first_source, renamed.source AS second_source,
            edge_first.score IS NOT NULL AS in_first, renamed.score IS NOT NULL AS in_second,
            head = renamed.second_head AND tail = renamed.second_tail AS same,
            edge_first.score <> renamed.score AS score_changed, first_source <> second_source AS source_changed
        FROM edge_first FULL JOIN (
            SELECT negative, coalesce(heads.first, head) AS head, relation, coalesce(tails.first, tail) AS tail,
                score, source, head AS second_head, tail AS second_tail
            FROM edge_second
            LEFT JOIN pair AS heads ON head = heads.second LEFT JOIN pair AS tails ON tail = tails.second
        ) AS renamed USING (negative, head, relation, tail)
    """)
    tests = {
        "first": "side = 1",
        "second": "side = 2",
        "kept": "side = 1 AND same",
        "reidentified": "side = 1 AND NOT same",
        "lost": "side = 1 AND NOT in_second",
        "gained": "side = 2 AND NOT in_first",
        "score_changed": "side = 1 AND score_changed",
        "source_changed": "side = 1 AND source_changed",
    }
    rows = connection.execute(f"""
        SELECT negative, relation, source, {_counts(tests.values())}
        FROM (SELECT *, 1 AS side, first_source AS source FROM joined WHERE in_first
              UNION ALL SELECT *, 2, second_source FROM joined WHERE in_second)
        GROUP BY negative, relation, source ORDER BY negative, relation, source
    """).fetchall()
    return tuple(
        EdgeChange(negative=negative, relation=relation, source=source, **dict(zip(tests, numbers, strict=True)))
        for negative, relation, source, *numbers in rows
    )


def _counts(tests: Iterable[str]) -> str:
    """SQL of the numbers of rows that pass each test."""
    return ", ".join(f"count(*) FILTER (WHERE {test})" for test in tests)


def compare_inputs(first: Mapping[str, Any] | None, second: Mapping[str, Any] | None) -> tuple[Change, ...]:
    """What differs between the sources that two manifests of graphs tell of; nothing where one is absent."""
    if first is None or second is None:
        return ()
    one, other = (manifest.get("inputs", {}) for manifest in (first, second))
    changes: list[Change] = []
    for name in sorted({*one, *other}):
        if name in one and name in other:
            facts = [{f"{name}: {fact}": inputs[name].get(fact) for fact in INPUT_FACTS} for inputs in (one, other)]
            changes += _changes(*facts)
        else:
            changes.append(
                Change(what=name, first=one.get(name, {}).get("sha256"), second=other.get(name, {}).get("sha256"))
            )
    return tuple(changes)


def compare_settings(first: Mapping[str, Any] | None, second: Mapping[str, Any] | None) -> tuple[Change, ...]:
    """What else differs between two manifests of graphs; nothing where one is absent."""
    if first is None or second is None:
        return ()
    one, other = (
        _flat({name: manifest[name] for name in SETTINGS if name in manifest}) for manifest in (first, second)
    )
    return tuple(_changes(one, other))


def _flat(settings: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Nested tables as one, with keys such as `options.formats`."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= _flat(value, f"{before}{name}.") if isinstance(value, dict) else {f"{before}{name}": value}
    return flat


def _changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterable[Change]:
    for name in sorted({*first, *second}):
        if first.get(name) != second.get(name):
            yield Change(what=name, first=first.get(name), second=second.get(name))


def render_diff(diff: Diff) -> Group:
    """The differences as tables for the terminal; rows in which nothing changed are left out."""
    from rich.console import Group
    from rich.text import Text

    counts = ("first", "second", "kept", "reidentified", "lost", "gained")
    parts: list[Table | Text] = [_table("nodes", ("type", *counts), [asdict(row) for row in diff.nodes])]
    for title, negative in (("edges", False), ("true negative edges", True)):
        rows = [asdict(row) for row in diff.edges if row.negative == negative]
        parts.append(_table(title, ("relation", "source", *counts, "score_changed", "source_changed"), rows))
    for title, changes in (("inputs", diff.inputs), ("settings", diff.settings)):
        lines = [f"  {change.what}: {_shown(change.first)} -> {_shown(change.second)}" for change in changes]
        parts.append(Text("\n".join([f"{title}: {len(lines)} changes", *lines])))
    for rule in ("name", "neighbours"):
        pairs = [f"{pair.first} -> {pair.second}" for pair in diff.same_nodes if pair.rule == rule]
        if pairs:
            more = ", ..." if len(pairs) > SHOWN else ""
            parts.append(Text(f"same node by {rule}: {len(pairs)} ({', '.join(pairs[:SHOWN])}{more})"))
    parts += [Text(f"note: {note}") for note in diff.notes]
    return Group(*parts)


def _table(title: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Table:
    """Rows with a change, and the sums of all rows in the last line; what no row has is no column."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), show_footer=True, box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    words = {"type", "relation", "source"}
    always = words | {"first", "second", "lost", "gained"}
    columns = [name for name in columns if name in always or any(row[name] for row in rows)]
    for name in columns:
        total = "" if name in words else f"{sum(row[name] for row in rows):,}"
        table.add_column(
            name.replace("_", "\n").replace("reidentified", "re-\nidentified"),
            footer=total,
            justify="right" if total else "left",
            overflow="fold",
        )
    for row in rows:
        if (
            row["kept"] != row["first"]
            or row["gained"]
            or any(row.get(f"{what}_changed") for what in ("score", "source"))
        ):
            table.add_row(*(Text(f"{row[name]:,}" if isinstance(row[name], int) else row[name]) for name in columns))
    return table


def _shown(value: Any) -> str:
    """A value in few letters: the first of a checksum, `-` for nothing."""
    if value is None:
        return "-"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{text[:12]}..." if len(text) == 64 and " " not in text else text
