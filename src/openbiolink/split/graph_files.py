"""The graph to split: text in files, integers in tables.

`read_graph` fills these tables; every number of a node, a node type or a relation is its place among all of
them sorted by bytes, so that sorting numbers is sorting text:

    kind(id, name)                          node types
    node(id, name, kind, listed)            kind is NULL where unknown; listed: stands in the nodes file
    relation(id, name, undirected, transitive, depth, family, excludes)
                                            depth: number of super-relations above it; family: name in hashes;
                                            excludes: number of the relation that cannot hold too, or NULL
    positive(h, r, t, score, source)        distinct triples of the edges file
    true_negative(h, r, t, score, source)   distinct triples of the true-negative file

With an earlier slice there are also `old_positive`, `old_true_negative` and `old_node(id, kind)`, the listed nodes of
that slice with their type there. Where both slices type a node, the present one counts in `node`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from openbiolink.croissant import EDGE_COLUMNS, MANIFEST_FILE
from openbiolink.dataset import ignore
from openbiolink.errors import InputError
from openbiolink.files import iter_lines
from openbiolink.graph.manifest import table_separator

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from openbiolink.engines import Engine
    from openbiolink.files import Note
    from openbiolink.schema import Schema

COMMENT = "#"
NODE_COLUMNS = ("node", "kind", "label")
PARQUET_NODE_COLUMNS = ("id", "type")
ALL_NODES = "ALL_nodes.csv"
SHOWN = 3
PARQUET = ".parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFiles:
    """The files of one graph; `tn_edges` is None where no true negatives are known.

    Raises:
        InputError: a path has no name, such as `.`, so that nothing can lie beside it.
    """

    edges: Path
    nodes: Path
    tn_edges: Path | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be a file."""
        for path in (self.edges, self.nodes, self.tn_edges):
            if path is not None and not path.name:
                raise InputError(f"{path}: is a folder, expected a file; name the file in it")

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
    engine: Engine,
    graph: GraphFiles,
    *,
    before: GraphFiles | None = None,
    schema: Schema,
    directed: bool,
    note: Note,
) -> InputCounts:
    """Read the files of a graph into the tables that the module describes.

    Cells are separated by tabs, or as the manifest beside a file says. Lines that begin with `#` are comments. A
    triple that comes several times becomes one row: with its best score (the greatest finite number, else the
    smallest text) and the sorted names of all its sources. Edges may have three columns, without score and source.

    Args:
        engine: without tables.
        graph: the files.
        before: the files of an earlier slice of the graph.
        schema: knows symmetric relations, super-relations and the node types of prefixes.
        directed: False where no edge of the graph has a direction: then every relation is symmetric.
        note: called with one line for everything that was skipped or merged.

    Returns:
        What the files of `graph` held.

    Raises:
        InputError: a file is absent or malformed, an id or type is empty, a node has two types, or a node of
            an edge is not in the nodes file.
    """
    slices = {"": graph} if before is None else {"": graph, "old_": before}
    for prefix, files in slices.items():
        _read_slice(engine, files, prefix, schema, note)
    _number(engine, tuple(slices), schema, directed=directed)
    counts = [_encode(engine, prefix + table) for prefix in slices for table in ("positive", "true_negative")]
    if before is not None:
        engine.make(
            "old_node",
            """SELECT node.id, kind.id AS kind FROM old_listed_node JOIN node ON node.name = old_listed_node.node
               JOIN kind ON kind.name = old_listed_node.kind""",
        )
        for path, (_, repeated) in zip((before.edges, before.tn_edges), counts[2:], strict=True):
            if repeated:
                note(f"{path}: {repeated} repeated rows of the earlier slice were merged")
    for prefix in slices:
        engine.drop(f"{prefix}listed_node", f"{prefix}typed_node")
    return InputCounts(
        positive=counts[0][0],
        true_negative=counts[1][0],
        positive_duplicates=counts[0][1],
        true_negative_duplicates=counts[1][1],
    )


def hash_of_edge(seed: int | str) -> str:
    """SQL for 60 bits of MD5 over seed, smaller end, relation and greater end of an edge.

    Relations of which one holds where the other does not have a common name here, and so have inverse relations, so
    that what one of them says about a pair is in the part of what the other says. It reads `head.name`,
    `relation.family` and `tail.name`. An edge and its reverse have the same number, which depends on nothing else in
    the graph.
    """
    return f"""hash60(concat_ws(chr(9), '{seed}', least(head.name, tail.name), relation.family,
                               greatest(head.name, tail.name)))"""


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
            f"{' in many files' if options.get('multi_file') else ''}, and a split needs TSV or Parquet in one file a "
            "kind; generate it so"
        )
    return "\t" if path.suffix == PARQUET else table_separator(manifest, path.with_name(MANIFEST_FILE))


def _iter_rows(path: Path, cells: int = 0) -> Iterator[tuple[int, list[str]]]:
    """The rows of a file with their line numbers, for a message; what the reader skips is left out.

    A line that begins like a comment is a row if it has as many cells as asked for.
    """
    separator = _separator(path)
    for number, line in enumerate(iter_lines(path, ignore), start=1):
        row = line.split(separator)
        if line.strip(" ") and (len(row) == cells or not line.startswith(COMMENT)):
            yield number, row


def _width(path: Path, default: int) -> int:
    """The number of cells of the first row of delimited text; `default` where there is none, and for Parquet."""
    if path.suffix == PARQUET:
        return default
    return next((len(row) for _, row in _iter_rows(path)), default)


def _read_slice(engine: Engine, graph: GraphFiles, prefix: str, schema: Schema, note: Note) -> None:
    """Make `raw_positive`, `raw_true_negative`, `listed_node` and `typed_node`, each with the prefix of the slice."""
    _read_nodes(engine, graph.nodes, f"{prefix}listed_node", note)
    _read_edges(engine, graph.edges, f"raw_{prefix}positive", note)
    if not engine.rows(f"SELECT count(*) FROM raw_{prefix}positive")[0][0]:
        raise InputError(f"{graph.edges}: holds no edges, so there is nothing to split; check the path")
    _refuse_dangling(engine, graph, prefix)
    if graph.tn_edges is None:
        engine.make(f"raw_{prefix}true_negative", f"SELECT * FROM raw_{prefix}positive WHERE false")
    else:
        _read_edges(engine, graph.tn_edges, f"raw_{prefix}true_negative", note)
    _type_other_nodes(engine, graph.all_nodes(), prefix, schema, note)


def _read_edges(engine: Engine, path: Path, table: str, note: Note) -> None:
    cells = _width(path, len(EDGE_COLUMNS))
    columns = EDGE_COLUMNS[:3] if cells == 3 else EDGE_COLUMNS
    engine.read(path, table=table, columns=columns, separator=_separator(path), comment=COMMENT, note=note)
    _refuse_empty(engine, path, table, EDGE_COLUMNS[:3], cells=len(columns))
    if len(columns) == 3:
        engine.make(table, f"SELECT head, relation, tail, '' AS score, '' AS source FROM {table}")


def _read_nodes(engine: Engine, path: Path, table: str, note: Note) -> None:
    if path.suffix == PARQUET:
        engine.read(path, table="raw_node", columns=PARQUET_NODE_COLUMNS, note=note)
        engine.make("raw_node", "SELECT id AS node, type AS kind FROM raw_node")
        cells = len(PARQUET_NODE_COLUMNS)
    else:
        cells = _width(path, 2)
        columns = NODE_COLUMNS if cells == len(NODE_COLUMNS) else NODE_COLUMNS[:2]
        engine.read(
            path,
            table="raw_node",
            columns=columns,
            keep=NODE_COLUMNS[:2],
            separator=_separator(path),
            comment=COMMENT,
            note=note,
        )
    _refuse_empty(engine, path, "raw_node", NODE_COLUMNS[:2], cells=cells)
    engine.make(table, "SELECT DISTINCT node, kind FROM raw_node")
    engine.drop("raw_node")
    twice = engine.rows(f"SELECT node FROM {table} GROUP BY node HAVING count(*) > 1")
    if twice:
        names = {name for (name,) in twice}
        lines = _places(path, lambda row: f"{row[0]} is {row[1]}" if row[0] in names else None, names, cells=cells)
        raise InputError(f"{path}, {lines}: a node has two types; keep one row of each node")


def _refuse_empty(engine: Engine, path: Path, table: str, columns: Collection[str], *, cells: int) -> None:
    condition = " OR ".join(f"trim({column}) = ''" for column in columns)
    if engine.rows(f"SELECT count(*) FROM {table} WHERE {condition}")[0][0]:
        lines = _places(
            path, lambda row: None if all(cell.strip(" ") for cell in row[: len(columns)]) else "", (), cells=cells
        )
        raise InputError(f"{path}, {lines}: an id or type is empty; fill in the first {len(columns)} cells")


def _places(path: Path, fault: Callable[[list[str]], str | None], names: Collection[str], *, cells: int) -> str:
    """The lines of a file that have a fault, as `line 2 (…), line 5 (…), line 6 (…) and 7 more lines`.

    Parquet has no lines; its faults are told by the `names` concerned.
    """
    if path.suffix == PARQUET:
        return ", ".join(sorted(names)[:SHOWN]) or "some rows"
    found = [(number, text) for number, row in _iter_rows(path, cells) if (text := fault(row)) is not None]
    named = (f"line {number} ({text})" if text else f"line {number}" for number, text in found[:SHOWN])
    return ", ".join(named) + (f" and {len(found) - SHOWN} more lines" if len(found) > SHOWN else "")


def _refuse_dangling(engine: Engine, graph: GraphFiles, prefix: str) -> None:
    rows = engine.rows(f"""
        SELECT node
        FROM (SELECT head AS node FROM raw_{prefix}positive UNION SELECT tail FROM raw_{prefix}positive) used
        ANTI JOIN {prefix}listed_node USING (node)
    """)
    if not rows:
        return
    missing = {name for (name,) in rows}

    def fault(row: list[str]) -> str | None:
        return " and ".join(sorted(missing.intersection((row[0], row[2])))) or None

    places = _places(graph.edges, fault, missing, cells=_width(graph.edges, len(EDGE_COLUMNS)))
    raise InputError(
        f"{graph.edges}, {places}: {len(missing)} nodes of edges are not in "
        f"{graph.nodes}; add them there with their type, or remove these edges"
    )


def _type_other_nodes(engine: Engine, all_nodes: Path | None, prefix: str, schema: Schema, note: Note) -> None:
    """Make `typed_node` of the listed nodes and those of true negatives, whose type may stay unknown."""
    listed = f"{prefix}listed_node"
    if all_nodes is None:
        engine.make("known_node", f"SELECT * FROM {listed} WHERE false")
    else:
        _read_nodes(engine, all_nodes, "known_node", note)
    raw = f"raw_{prefix}true_negative"
    engine.make(
        "other_node",
        f"""
        SELECT other.node, known_node.kind
        FROM (SELECT head AS node FROM {raw} UNION SELECT tail FROM {raw}) other
        LEFT JOIN known_node ON known_node.node = other.node LEFT JOIN {listed} ON {listed}.node = other.node
        WHERE {listed}.node IS NULL
        """,
    )
    rest = [name for (name,) in engine.rows("SELECT node FROM other_node WHERE kind IS NULL ORDER BY node")]
    kinds = {name: kind for name in rest if (kind := schema.node_type(name)) is not None}
    engine.put("by_prefix", {"node": list(kinds), "kind": list(kinds.values())})
    engine.make(
        f"{prefix}typed_node",
        f"""
        SELECT node, kind, true AS listed FROM {listed}
        UNION ALL
        SELECT other_node.node, coalesce(other_node.kind, by_prefix.kind), false
        FROM other_node LEFT JOIN by_prefix ON by_prefix.node = other_node.node
        """,
    )
    engine.drop("known_node", "other_node", "by_prefix")


def _number(engine: Engine, prefixes: Sequence[str], schema: Schema, *, directed: bool) -> None:
    """Make `kind`, `node` and `relation` of all slices; of two types of a node the first slice's counts."""
    typed = " UNION ALL ".join(
        f"SELECT node, kind, listed AND {place == 0} AS listed, {place} AS place FROM {prefix}typed_node"
        for place, prefix in enumerate(prefixes)
    )
    engine.make(
        "kind",
        f"""SELECT CAST(row_number() OVER (ORDER BY name) - 1 AS INTEGER) AS id, name
            FROM (SELECT DISTINCT kind AS name FROM ({typed}) typed WHERE kind IS NOT NULL) named""",
    )
    engine.make(
        "node",
        f"""
        SELECT CAST(row_number() OVER (ORDER BY node) - 1 AS INTEGER) AS id, node AS name, kind.id AS kind, listed
        FROM (SELECT node, kind, listed,
                  row_number() OVER (PARTITION BY node ORDER BY kind IS NULL, place) AS choice
              FROM ({typed}) typed) chosen
        LEFT JOIN kind ON kind.name = chosen.kind WHERE choice = 1
        ORDER BY id
        """,
    )
    tables = [f"raw_{prefix}{table}" for prefix in prefixes for table in ("positive", "true_negative")]
    names = sorted(name for (name,) in engine.rows(" UNION ".join(f"SELECT relation FROM {table}" for table in tables)))
    put_relations(engine, names, schema, directed=directed)


def put_relations(engine: Engine, names: Sequence[str], schema: Schema, *, directed: bool) -> None:
    """Make `relation` of sorted names, with what the schema says of each."""
    number = {name: place for place, name in enumerate(names)}
    engine.put(
        "relation",
        {
            "id": np.arange(len(names), dtype=np.int32),
            "name": names,
            "undirected": np.array([not directed or schema.relation(name).symmetric for name in names], dtype=np.bool_),
            "transitive": np.array([schema.relation(name).transitive for name in names], dtype=np.bool_),
            "depth": np.array([schema.depth(name) for name in names], dtype=np.int32),
            "family": [schema.family(name) for name in names],
            "excluded": np.array([number.get(schema.relation(name).excludes or "", -1) for name in names], np.int32),
        },
    )
    engine.make(
        "relation",
        """SELECT id, name, undirected, transitive, depth, family,
                  CASE WHEN excluded >= 0 THEN excluded END AS excludes FROM relation""",
    )


def _encode(engine: Engine, table: str) -> tuple[int, int]:
    """Turn `raw_TABLE` into the distinct triples of `table`; returns how many, and how many rows repeat."""
    raw = f"raw_{table}"
    engine.make(
        "coded",
        f"""
        SELECT head.id AS h, relation.id AS r, tail.id AS t, score, source
        FROM {raw} JOIN node head ON head.name = {raw}.head JOIN node tail ON tail.name = {raw}.tail
        JOIN relation ON relation.name = {raw}.relation
        """,
    )
    engine.drop(raw)
    engine.make("repeated", "SELECT h, r, t FROM coded GROUP BY h, r, t HAVING count(*) > 1")
    engine.make(
        table,
        """
        SELECT h, r, t, score, source FROM coded ANTI JOIN repeated USING (h, r, t)
        UNION ALL
        SELECT best.h, best.r, best.t, score, source
        FROM (SELECT h, r, t, score,
                  row_number() OVER (PARTITION BY h, r, t
                      ORDER BY finite_number(score) DESC NULLS LAST, score = '', score) AS choice
              FROM coded SEMI JOIN repeated USING (h, r, t)) best
        JOIN (SELECT h, r, t,
                  CASE WHEN min(source) = max(source) THEN min(source)
                       ELSE merged_names(array_agg(source)) END AS source
              FROM coded SEMI JOIN repeated USING (h, r, t) GROUP BY h, r, t) names
            ON names.h = best.h AND names.r = best.r AND names.t = best.t
        WHERE choice = 1
        """,
    )
    [(rows, distinct)] = engine.rows(f"SELECT (SELECT count(*) FROM coded), (SELECT count(*) FROM {table})")
    engine.drop("coded", "repeated")
    return distinct, rows - distinct
