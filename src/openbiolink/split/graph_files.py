"""The graph to split: text in files, integers in tables.

`read_graph` fills these tables; every number of a node, a node type or a relation is its place among all of
them sorted by bytes, so that sorting numbers is sorting text:

    kind(id, name)                          node types
    node(id, name, kind, listed)            kind is NULL where unknown; listed: stands in the nodes file
    relation(id, name, undirected, depth, family)
                                            depth: number of super-relations above it; family: name in hashes
    positive(h, r, t, score, source)        distinct triples of the edges file
    true_negative(h, r, t, score, source)   distinct triples of the true-negative file
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from openbiolink.croissant import EDGE_COLUMNS, MANIFEST_FILE
from openbiolink.errors import InputError
from openbiolink.files import iter_lines
from openbiolink.graph.manifest import table_separator
from openbiolink.tables import number_sql, read_delimited

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from openbiolink.files import Note
    from openbiolink.schema import Schema

COMMENT = "#"
NODE_COLUMNS = ("node", "kind", "label")
ALL_NODES = "ALL_nodes.csv"
SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFiles:
    """The files of one graph; `tn_edges` is None where no true negatives are known."""

    edges: Path
    nodes: Path
    tn_edges: Path | None = None

    def all_nodes(self) -> Path | None:
        """`ALL_nodes.csv` beside the nodes file, which types nodes of true negatives too; None if absent."""
        sibling = self.nodes.with_name(ALL_NODES)
        return sibling if self.tn_edges is not None and sibling != self.nodes and sibling.is_file() else None

    def inputs(self) -> dict[str, Path]:
        """Every file that is read, by what it is called in a manifest."""
        files = {
            "edges": self.edges,
            "tn_edges": self.tn_edges,
            "nodes": self.nodes,
            "all_nodes": self.all_nodes(),
        }
        return {name: path for name, path in files.items() if path is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class InputCounts:
    """Distinct triples of the two edge files, and the rows beyond the first of each triple."""

    positive: int
    true_negative: int
    positive_duplicates: int
    true_negative_duplicates: int


def read_manifest(edges: Path) -> dict[str, Any]:
    """What the `manifest.json` beside the edges (or another file) holds; nothing where there is none.

    Raises:
        InputError: it is not JSON.
    """
    path = edges.with_name(MANIFEST_FILE)
    if not path.is_file():
        return {}
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(
            f"{path}: is not JSON ({error}); mend it, or say --directed or --undirected and move it away"
        ) from error
    return manifest if isinstance(manifest, dict) else {}


def read_direction(edges: Path, *, directed: bool | None) -> bool:
    """Whether the graph is directed: as asked, else as the manifest beside the edges says, else yes.

    Raises:
        InputError: that manifest is not JSON, or its `directed` is neither true nor false.
    """
    found = read_manifest(edges).get("directed", True) if directed is None else directed
    if not isinstance(found, bool):
        place = edges.with_name(MANIFEST_FILE)
        raise InputError(f"{place}: directed is {found!r}, expected true or false; say --directed instead")
    return found


def read_licence(edges: Path) -> dict[str, Any] | None:
    """The terms of a graph, as the manifest beside its edges tells them; None where nothing does.

    Raises:
        InputError: that manifest is not JSON.
    """
    manifest = read_manifest(edges)
    licence = manifest.get("licence")
    of_graph = str(manifest.get("format")).startswith("openbiolink-graph/")
    return licence if of_graph and isinstance(licence, dict) else None


def read_graph(
    connection: DuckDBPyConnection, graph: GraphFiles, *, schema: Schema, directed: bool, note: Note
) -> InputCounts:
    """Read the files of a graph into the tables that the module describes.

    Cells are separated by tabs, or as the manifest beside a file says. Lines that begin with `#` are comments. A
    triple that comes several times becomes one row: with its best score (the greatest finite number, else the
    smallest text) and the sorted names of all its sources.

    Args:
        connection: an empty database.
        graph: the files.
        schema: knows symmetric relations, super-relations and the node types of prefixes.
        directed: False where no edge of the graph has a direction: then every relation is symmetric.
        note: called with one line for everything that was skipped or merged.

    Raises:
        InputError: a file is absent or malformed, an id or type is empty, a node has two types, or a node of
            an edge is not in the nodes file.
    """
    _read_nodes(connection, graph.nodes, "listed_node", note)
    _read_edges(connection, graph.edges, "raw_positive", note)
    if not connection.execute("SELECT count(*) FROM raw_positive").fetchall()[0][0]:
        raise InputError(f"{graph.edges}: holds no edges, so there is nothing to split; check the path")
    _refuse_dangling(connection, graph)
    if graph.tn_edges is None:
        connection.execute("CREATE TABLE raw_true_negative AS FROM raw_positive LIMIT 0")
    else:
        _read_edges(connection, graph.tn_edges, "raw_true_negative", note)
    _type_other_nodes(connection, graph.all_nodes(), schema, note)
    _number(connection, schema, directed=directed)
    positive, positive_duplicates = _encode(connection, "positive")
    true_negative, true_negative_duplicates = _encode(connection, "true_negative")
    return InputCounts(
        positive=positive,
        true_negative=true_negative,
        positive_duplicates=positive_duplicates,
        true_negative_duplicates=true_negative_duplicates,
    )


def hash_of_edge(seed: int | str) -> str:
    """SQL for 60 bits of MD5 over seed, smaller end, relation and greater end of an edge.

    Relations of which one holds where the other does not have a common name here, so that what one of them says
    about a pair is in the part of what the other says. It reads `head.name`, `relation.family` and `tail.name`.
    An edge and its reverse have the same number, which depends on nothing else in the graph.
    """
    return f"""('0x' || substr(md5(concat_ws(chr(9), '{seed}', least(head.name, tail.name), relation.family,
                                             greatest(head.name, tail.name))), 1, 15))::BIGINT"""


def _ignore(line: str) -> None:
    """Take a note that was given before, when the file was read for the first time."""


def _separator(path: Path) -> str:
    """What stands between the cells of a file of a graph, by the manifest beside it; a tab where there is none.

    Raises:
        InputError: the manifest says that the graph was not written as TSV in one file a kind.
    """
    manifest = read_manifest(path)
    options = manifest.get("options")
    if not path.exists() and isinstance(options, dict) and "formats" in options:
        raise InputError(
            f"{path}: no such file; the graph there was written as {', '.join(options['formats'])}"
            f"{' in many files' if options.get('multi_file') else ''}, and a split needs TSV in one file a kind; "
            "generate it so"
        )
    return table_separator(manifest, path.with_name(MANIFEST_FILE))


def _iter_rows(path: Path, cells: int = 0) -> Iterator[tuple[int, list[str]]]:
    """The rows of a file with their line numbers, for a message; what `read_delimited` skips is left out.

    A line that begins like a comment is a row if it has as many cells as asked for.
    """
    separator = _separator(path)
    for number, line in enumerate(iter_lines(path, _ignore), start=1):
        row = line.split(separator)
        if line.strip(" ") and (len(row) == cells or not line.startswith(COMMENT)):
            yield number, row


def _read_edges(connection: DuckDBPyConnection, path: Path, table: str, note: Note) -> None:
    read_delimited(
        connection,
        path,
        table=table,
        columns=EDGE_COLUMNS,
        separator=_separator(path),
        comment=COMMENT,
        whole_rows_are_data=True,
        note=note,
    )
    _refuse_empty(connection, path, table, EDGE_COLUMNS[:3], cells=len(EDGE_COLUMNS))


def _read_nodes(connection: DuckDBPyConnection, path: Path, table: str, note: Note) -> None:
    cells = next((len(row) for _, row in _iter_rows(path)), 2)
    columns = NODE_COLUMNS if cells == len(NODE_COLUMNS) else NODE_COLUMNS[:2]
    read_delimited(
        connection,
        path,
        table="raw_node",
        columns=columns,
        keep=columns[:2],
        separator=_separator(path),
        comment=COMMENT,
        whole_rows_are_data=True,
        note=note,
    )
    _refuse_empty(connection, path, "raw_node", columns[:2], cells=cells)
    connection.execute(f"CREATE TABLE {table} AS SELECT DISTINCT node, kind FROM raw_node")
    twice = connection.execute(f"SELECT node FROM {table} GROUP BY node HAVING count(*) > 1").fetchall()
    if twice:
        names = {name for (name,) in twice}
        lines = _places(path, lambda row: f"{row[0]} is {row[1]}" if row[0] in names else None, cells=cells)
        raise InputError(f"{path}, {lines}: a node has two types; keep one row of each node")


def _refuse_empty(
    connection: DuckDBPyConnection, path: Path, table: str, columns: Collection[str], *, cells: int
) -> None:
    condition = " OR ".join(f"trim({column}) = ''" for column in columns)
    if connection.execute(f"SELECT count(*) FROM {table} WHERE {condition}").fetchall()[0][0]:
        lines = _places(
            path, lambda row: None if all(cell.strip(" ") for cell in row[: len(columns)]) else "", cells=cells
        )
        raise InputError(f"{path}, {lines}: an id or type is empty; fill in the first {len(columns)} cells")


def _places(path: Path, fault: Callable[[list[str]], str | None], *, cells: int) -> str:
    """The lines of a file that have a fault, as `line 2 (…), line 5 (…), line 6 (…) and 7 more lines`."""
    found = [(number, text) for number, row in _iter_rows(path, cells) if (text := fault(row)) is not None]
    named = (f"line {number} ({text})" if text else f"line {number}" for number, text in found[:SHOWN])
    return ", ".join(named) + (f" and {len(found) - SHOWN} more lines" if len(found) > SHOWN else "")


def _refuse_dangling(connection: DuckDBPyConnection, graph: GraphFiles) -> None:
    rows = connection.execute("""
        SELECT node FROM (SELECT head AS node FROM raw_positive UNION SELECT tail FROM raw_positive)
        ANTI JOIN listed_node USING (node)
    """).fetchall()
    if not rows:
        return
    missing = {name for (name,) in rows}

    def fault(row: list[str]) -> str | None:
        return " and ".join(sorted(missing.intersection((row[0], row[2])))) or None

    places = _places(graph.edges, fault, cells=len(EDGE_COLUMNS))
    raise InputError(
        f"{graph.edges}, {places}: {len(missing)} nodes of edges are not in "
        f"{graph.nodes}; add them there with their type, or remove these edges"
    )


def _type_other_nodes(connection: DuckDBPyConnection, all_nodes: Path | None, schema: Schema, note: Note) -> None:
    """Make `typed_node` of the listed nodes and those of true negatives, whose type may stay unknown."""
    if all_nodes is None:
        connection.execute("CREATE TABLE known_node AS FROM listed_node LIMIT 0")
    else:
        _read_nodes(connection, all_nodes, "known_node", note)
    connection.execute("""
        CREATE TABLE typed_node AS
        SELECT node, kind, true AS listed FROM listed_node
        UNION ALL
        SELECT node, kind, false FROM
            (SELECT head AS node FROM raw_true_negative UNION SELECT tail FROM raw_true_negative)
            ANTI JOIN listed_node USING (node) LEFT JOIN known_node USING (node)
    """)
    rest = connection.execute("SELECT node FROM typed_node WHERE kind IS NULL").fetchall()
    by_prefix = {name: kind for (name,) in rest if (kind := schema.node_type(name)) is not None}
    if by_prefix:
        connection.execute(
            """UPDATE typed_node SET kind = other.kind
               FROM (SELECT unnest(?) AS node, unnest(?) AS kind) other WHERE other.node = typed_node.node""",
            [list(by_prefix), list(by_prefix.values())],
        )


def _number(connection: DuckDBPyConnection, schema: Schema, *, directed: bool) -> None:
    connection.execute("""
        CREATE TABLE kind AS SELECT (row_number() OVER (ORDER BY name) - 1)::INTEGER AS id, name
            FROM (SELECT DISTINCT kind AS name FROM typed_node WHERE kind IS NOT NULL);
        CREATE TABLE node AS
            SELECT (row_number() OVER (ORDER BY node) - 1)::INTEGER AS id, node AS name,
                kind.id AS kind, listed
            FROM typed_node LEFT JOIN kind ON kind.name = typed_node.kind ORDER BY id;
        CREATE TABLE relation (id INTEGER, name VARCHAR, undirected BOOLEAN, depth INTEGER, family VARCHAR)
    """)
    names = connection.execute(
        "SELECT relation FROM raw_positive UNION SELECT relation FROM raw_true_negative"
    ).fetchall()
    for number, name in enumerate(sorted(name for (name,) in names)):
        symmetric = not directed or schema.relation(name).symmetric
        row = [number, name, symmetric, len(schema.ancestors(name)), schema.family(name)]
        connection.execute("INSERT INTO relation VALUES (?, ?, ?, ?, ?)", row)


def _encode(connection: DuckDBPyConnection, table: str) -> tuple[int, int]:
    """Turn `raw_TABLE` into the distinct triples of `table`; returns how many, and how many rows repeat."""
    connection.execute(f"""
        CREATE TABLE coded AS SELECT head.id AS h, relation.id AS r, tail.id AS t, score, source
            FROM raw_{table} raw JOIN node head ON head.name = raw.head JOIN node tail ON tail.name = raw.tail
            JOIN relation ON relation.name = raw.relation;
        CREATE TABLE repeated AS SELECT h, r, t FROM coded GROUP BY h, r, t HAVING count(*) > 1;
        CREATE TABLE {table} AS
        SELECT * FROM coded ANTI JOIN repeated USING (h, r, t)
        UNION ALL
        SELECT h, r, t, first(score ORDER BY number DESC NULLS LAST, score = '', score),
            CASE WHEN min(source) = max(source) THEN min(source)
                 ELSE coalesce(string_agg(DISTINCT nullif(name, ''), ';' ORDER BY nullif(name, '')), '') END
        FROM (SELECT *, unnest(string_split(source, ';')) AS name,
                  {number_sql("score")} AS number
              FROM coded SEMI JOIN repeated USING (h, r, t))
        GROUP BY h, r, t
    """)
    [(rows, distinct)] = connection.execute(
        f"SELECT (SELECT count(*) FROM coded), (SELECT count(*) FROM {table})"
    ).fetchall()
    connection.execute(f"DROP TABLE coded; DROP TABLE repeated; DROP TABLE raw_{table}")
    return distinct, rows - distinct
