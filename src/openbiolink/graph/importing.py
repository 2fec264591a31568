"""Anybody's edge list in the canonical form of the project's own graphs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from openbiolink.croissant import EDGE_COLUMNS
from openbiolink.errors import InputError
from openbiolink.files import replaced_folder
from openbiolink.graph.identifiers import create_macros
from openbiolink.schema import load_schema
from openbiolink.tables import open_database, quote, read_delimited, write_tsv

if TYPE_CHECKING:
    from openbiolink.files import Note
    from openbiolink.schema import Schema

FILES = frozenset({"edges.csv", "nodes.csv"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportCounts:
    """What became of the rows of an edge list: `rows` = `edges` + `duplicates` + `self_loops`.

    Attributes:
        rows: rows read.
        edges: distinct edges written.
        duplicates: rows that were merged into another one.
        self_loops: rows from a node to itself, left out.
        respelled: rows of which a prefix was written in another letter case or by a synonym.
        trimmed: rows with blanks around an identifier or its local part.
    """

    rows: int
    edges: int
    duplicates: int
    self_loops: int
    respelled: int
    trimmed: int


def import_edges(edges: Path | str, folder: Path | str, *, note: Note) -> ImportCounts:
    """Read five columns (head, relation, tail, quality score, source) and write them in canonical form.

    Prefixes get one spelling: the registered one, or for others the most frequent one in the file (the first in
    byte order of equally frequent ones). Local ids are never changed, but for blanks around them. Of rows
    that give the same edge the best score stays (the greatest number, else the first text in byte order),
    and the sources of all are joined by ";". Plain or compressed files are read.

    Args:
        edges: the edge list, tab-separated, without a header; lines that begin with # and are no whole rows are
            comments.
        folder: receives `edges.csv` and `nodes.csv` (id, node type), sorted by bytes. The type is that of the
            prefix, or the prefix itself where the schema has no type for it, or `NODE` where there is none.
        note: called with one line for everything worth knowing.

    Raises:
        InputError: a row has another number of cells, or an empty identifier or relation.
    """
    edges = Path(edges)
    with replaced_folder(Path(folder), owned=FILES.__contains__) as fresh, open_database() as (connection, _):
        schema = load_schema()
        create_macros(connection, schema)
        read_delimited(
            connection, edges, table="loaded", columns=EDGE_COLUMNS, note=note, comment="#", whole_rows_are_data=True
        )
        empty = connection.execute(
            "SELECT count(*) FROM loaded WHERE bare(head) = '' OR bare(relation) = '' OR bare(tail) = ''"
        ).fetchall()[0][0]
        if empty:
            raise InputError(f"{edges}: {empty} rows have an empty head, relation or tail; fill or remove them")
        connection.execute(SPELL)
        connection.execute(MERGE)
        write_tsv(connection, f"SELECT {', '.join(EDGE_COLUMNS)} FROM merged ORDER BY ALL", fresh / "edges.csv")
        write_tsv(connection, _nodes_sql(schema), fresh / "nodes.csv")
        counts = connection.execute("""
            SELECT count(*), count(*) FILTER (head = tail), count(*) FILTER (respelled), count(*) FILTER (trimmed),
                (SELECT count(*) FROM merged)
            FROM rows
        """).fetchall()
    rows, loops, respelled, trimmed, distinct = counts[0]
    return ImportCounts(
        rows=rows,
        edges=distinct,
        duplicates=rows - loops - distinct,
        self_loops=loops,
        respelled=respelled,
        trimmed=trimmed,
    )


def _nodes_sql(schema: Schema) -> str:
    types = {prefix: kind for kind, prefixes in schema.node_types.items() for prefix in prefixes}
    known = ", ".join(f"{quote(prefix)}: {quote(kind)}" for prefix, kind in types.items())
    return f"""
        SELECT id, CASE WHEN contains(id, ':')
            THEN coalesce(MAP {{{known}}}[split_part(id, ':', 1)], split_part(id, ':', 1)) ELSE 'NODE' END AS type
        FROM (SELECT head AS id FROM rows UNION SELECT tail FROM rows) ORDER BY id
    """


# Each identifier as found, with blanks removed (`tidy`), and in its one spelling (`id`).
SPELL = """
    CREATE TABLE spelled AS
    WITH found AS (SELECT head AS found FROM loaded UNION ALL SELECT tail FROM loaded),
    tidied AS (
        SELECT found, count(*) AS uses, canonical(found) AS known, CASE WHEN contains(found, ':')
            THEN bare(split_part(found, ':', 1)) || ':' || bare(substr(found, position(':' IN found) + 1))
            ELSE bare(found) END AS tidy
        FROM found GROUP BY found),
    prefixes AS (
        SELECT split_part(known, ':', 1) AS prefix, sum(uses) AS uses
        FROM tidied WHERE contains(known, ':') GROUP BY prefix),
    spellings AS (
        SELECT upper(prefix) AS folded, first(prefix ORDER BY uses DESC, prefix) AS spelling
        FROM prefixes GROUP BY folded)
    SELECT found, tidy, CASE WHEN spelling IS NULL THEN known
        ELSE spelling || substr(known, position(':' IN known)) END AS id
    FROM tidied LEFT JOIN spellings ON contains(known, ':') AND folded = upper(split_part(known, ':', 1));
    CREATE TABLE rows AS
    SELECT heads.id AS head, bare(relation) AS relation, tails.id AS tail, bare(score) AS score, bare(source) AS source,
        heads.id <> heads.tidy OR tails.id <> tails.tidy AS respelled,
        heads.tidy <> heads.found OR tails.tidy <> tails.found AS trimmed
    FROM loaded
    JOIN spelled AS heads ON heads.found = loaded.head
    JOIN spelled AS tails ON tails.found = loaded.tail
"""

MERGE = """
    CREATE TABLE merged AS
    SELECT head, relation, tail,
        first(score ORDER BY number(score) DESC NULLS LAST, score = '', score) AS score,
        string_agg(DISTINCT name, ';' ORDER BY name) FILTER (name <> '') AS source
    FROM (SELECT *, unnest(string_split(source, ';')) AS name FROM rows WHERE head <> tail)
    GROUP BY head, relation, tail
"""
