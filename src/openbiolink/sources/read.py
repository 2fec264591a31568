"""One reader per format, each giving the tables of a source in DuckDB, every cell as text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from openbiolink.errors import InputError
from openbiolink.files import iter_lines, sha256_of
from openbiolink.sources.catalogue import TABLES
from openbiolink.sources.layout import FoundLayout, find_layout
from openbiolink.sources.obo import read_obo
from openbiolink.sources.pgdump import iter_copy_rows
from openbiolink.tables import first_lines, read_delimited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    import duckdb

    from openbiolink.files import Note
    from openbiolink.sources.catalogue import Source

    Needed = Mapping[str, frozenset[str]]
    Reader = Callable[["duckdb.DuckDBPyConnection", Path, str, Source, Needed, Note], FoundLayout | str]

GAF_COLUMNS = (
    "database", "object_id", "symbol", "qualifier", "go_id", "reference", "evidence", "with_or_from", "aspect",
    "name", "synonym", "type", "taxa", "date", "assigned_by", "extension", "gene_product",
)  # fmt: skip
GAF_COMMENT = "!"
BATCH = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSource:
    """A source that has been read.

    Attributes:
        path: its file.
        sha256: checksum of the file as it lies on the disk.
        size: bytes of that file.
        layout: name of the layout that was recognised.
        found: how cells lie in the file (delimited text only).
    """

    path: Path
    sha256: str
    size: int
    layout: str
    found: FoundLayout | None


def table_name(source: str, table: str) -> str:
    """The quoted name of a source's table in the database."""
    return f'"{source}/{table}"'


def load_source(
    connection: duckdb.DuckDBPyConnection, name: str, path: Path, source: Source, *, needed: Needed, note: Note
) -> LoadedSource:
    """Read the needed tables and columns of a source into the database, as `"<source>/<table>"`.

    An OBO file also gives a table `resolved` (id, live), see `sources.obo.Ontology`.

    Raises:
        InputError: the file is absent, damaged, or fits no known layout.
    """
    found = READERS[source.format](connection, path, name, source, needed, note)
    layout = found if isinstance(found, str) else found.layout.name
    return LoadedSource(
        path=path,
        sha256=sha256_of(path),
        size=path.stat().st_size,
        layout=layout,
        found=None if isinstance(found, str) else found,
    )


def _read_delimited_source(
    connection: duckdb.DuckDBPyConnection, path: Path, name: str, source: Source, needed: Needed, note: Note
) -> FoundLayout:
    found = find_layout(path, name, source, note)
    wanted = needed["rows"]
    pieces = {column: re.findall(r"\{(\w+)\}", found.layout.compose[column]) for column in found.layout.compose}
    direct = {column for column in wanted if column not in pieces}
    direct |= {piece for column in wanted & pieces.keys() for piece in pieces[column]}
    read_delimited(
        connection,
        path,
        table="loaded",
        columns=found.columns,
        note=note,
        separator=found.separator,
        skip=found.skip,
        comment=found.layout.comment,
        keep=[column for column in found.columns if column in direct],
    )
    chosen = [f'"{column}"' for column in sorted(wanted - pieces.keys())]
    for column in sorted(wanted & pieces.keys()):
        template = re.split(r"\{\w+\}", found.layout.compose[column])
        parts = [f"'{template[0]}'"]
        for piece, text in zip(pieces[column], template[1:], strict=True):
            parts += [f'"{piece}"', f"'{text}'"]
        chosen.append(f'concat({", ".join(parts)}) AS "{column}"')
    _rename_loaded(connection, table_name(name, "rows"), chosen)
    return found


def _rename_loaded(connection: duckdb.DuckDBPyConnection, target: str, chosen: Sequence[str]) -> None:
    connection.execute(f"CREATE OR REPLACE TABLE {target} AS SELECT {', '.join(chosen)} FROM loaded; DROP TABLE loaded")


def _read_gaf(
    connection: duckdb.DuckDBPyConnection, path: Path, name: str, source: Source, needed: Needed, note: Note
) -> str:
    """Gene association files: https://geneontology.org/docs/go-annotation-file-gaf-format-2.2/."""
    version, width, skip = "gaf", 0, 0
    for line in iter_lines(path, note):
        if line.strip() and not line.startswith(GAF_COMMENT):
            width = line.count("\t") + 1
            break
        skip += 1
        version = line[1:].strip().replace("-version:", "") if line.startswith("!gaf-version:") else version
    if not len(GAF_COLUMNS) - 2 <= width <= len(GAF_COLUMNS):
        raise InputError(
            f"{path}, line {skip + 1}: {width} cells, expected the 15 to 17 of a gene association file ({source.title}); "
            "check that this is the right file"
        )
    read_delimited(
        connection, path, table="loaded", columns=GAF_COLUMNS[:width], note=note, skip=skip, comment=GAF_COMMENT
    )
    columns = sorted(needed["rows"])
    # Of two taxa the first is that of the gene product, the second an interacting organism.
    chosen = ["trim(split_part(taxa, '|', 1)) AS taxon" if column == "taxon" else column for column in columns]
    _rename_loaded(connection, table_name(name, "rows"), chosen)
    return version


def _read_obo_source(
    connection: duckdb.DuckDBPyConnection, path: Path, name: str, source: Source, needed: Needed, note: Note
) -> str:
    head = first_lines(path, note, limit=1)
    if not head or not head[0].startswith("format-version:"):
        raise InputError(
            f"{path}, line 1: an OBO file begins with 'format-version:', found {(head or [''])[0]!r:.60}; "
            f"check that this is {source.title}"
        )
    ontology = read_obo(path, note)
    rows: dict[str, Sequence[tuple[str, ...]]] = {"is_a": ontology.is_a, "part_of": ontology.part_of, "xref": ontology.xref}
    for table in needed.keys() & rows.keys():
        _insert(connection, table_name(name, table), TABLES["obo"][table], rows[table])
    _insert(connection, table_name(name, "resolved"), ("id", "live"), list(ontology.resolved.items()))
    return head[0].replace("format-version:", "obo")


def _read_pgdump(
    connection: duckdb.DuckDBPyConnection, path: Path, name: str, source: Source, needed: Needed, note: Note
) -> str:
    columns = {table: source.tables[table] for table in needed}
    for table in columns:
        _insert(connection, table_name(name, table), columns[table], [])
    rows = iter_copy_rows(path, columns, note)
    while batch := list(islice(rows, BATCH)):
        for table in columns:
            _insert(connection, table_name(name, table), columns[table], [row for owner, row in batch if owner == table], more=True)
    return "plain-text dump"


def _insert(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    columns: Sequence[str],
    rows: Sequence[tuple[str, ...]],
    *,
    more: bool = False,
) -> None:
    if not more:
        declared = ", ".join(f'"{column}" VARCHAR' for column in columns)
        connection.execute(f"CREATE OR REPLACE TABLE {table} ({declared})")
    if rows:
        cells = {column: np.array(values, dtype=object) for column, values in zip(columns, zip(*rows, strict=True), strict=True)}
        connection.register("batch", cells)
        connection.execute(f"INSERT INTO {table} SELECT * FROM batch")
        connection.unregister("batch")


READERS: dict[str, Reader] = {
    "delimited": _read_delimited_source,
    "gaf": _read_gaf,
    "obo": _read_obo_source,
    "pgdump": _read_pgdump,
}


def lines_where(path: Path, found: FoundLayout, column: str, *, fails: Callable[[str], bool], limit: int) -> list[int]:
    """The numbers of the first lines whose cell of `column` fails a test, for messages."""
    place = found.columns.index(column)
    numbers: list[int] = []
    for number, line in _data_lines(path, found):
        if fails(line.split(found.separator)[place]):
            numbers.append(number)
            if len(numbers) == limit:
                break
    return numbers


def _data_lines(path: Path, found: FoundLayout) -> Iterable[tuple[int, str]]:
    comment = found.layout.comment
    for number, line in enumerate(iter_lines(path, lambda _: None), start=1):
        if number > found.skip and line.strip() and not (comment and line.startswith(comment)):
            yield number, line
