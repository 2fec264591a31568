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
from openbiolink.tables import first_lines, quote, read_delimited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    import duckdb

    from openbiolink.files import Note
    from openbiolink.sources.declarations import Source

    Needed = Mapping[str, frozenset[str]]
    Reader = Callable[["SourceFile"], FoundLayout | str]

GAF_COLUMNS = (
    "database", "object_id", "symbol", "qualifier", "go_id", "reference", "evidence", "with_or_from", "aspect",
    "name", "synonym", "type", "taxa", "date", "assigned_by", "extension", "gene_product",
)  # fmt: skip
GAF_COMMENT = "!"
COMPOSED = re.compile(r"\{(\w+)\}")
BATCH = 100_000


@dataclass(frozen=True, slots=True)
class SourceFile:
    """What a reader is given: where the rows go, the file, its declaration, what is needed of it, and who is told."""

    connection: duckdb.DuckDBPyConnection
    name: str
    path: Path
    source: Source
    needed: Needed
    note: Note


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
    found = READERS[source.format](SourceFile(connection, name, path, source, needed, note))
    layout = found if isinstance(found, str) else found.layout.name
    return LoadedSource(
        path=path,
        sha256=sha256_of(path),
        size=path.stat().st_size,
        layout=layout,
        found=None if isinstance(found, str) else found,
    )


def _read_delimited_source(file: SourceFile) -> FoundLayout:
    found = find_layout(file.path, file.name, file.source, file.note)
    wanted = file.needed["rows"]
    composed = {column: template for column, template in found.layout.compose.items() if column in wanted}
    pieces = {piece for template in composed.values() for piece in COMPOSED.findall(template)}
    read_delimited(
        file.connection,
        file.path,
        table="loaded",
        columns=found.columns,
        note=file.note,
        separator=found.separator,
        skip=found.skip,
        comment=found.layout.comment,
        keep=[column for column in found.columns if column in pieces | (wanted - composed.keys())],
    )
    # Some releases put quotation marks around cells; they and blanks are no part of what a cell says.
    chosen = [f'trim("{column}", \' "\') AS "{column}"' for column in sorted(wanted - composed.keys())]
    chosen += [f'{_compose_sql(template)} AS "{column}"' for column, template in sorted(composed.items())]
    _rename_loaded(file, chosen)
    return found


def _compose_sql(template: str) -> str:
    """An SQL expression for a template such as "{database}:{local_id}"."""
    pieces = [
        f'"{piece}"' if place % 2 else quote(piece)  # texts and names of columns take turns
        for place, piece in enumerate(COMPOSED.split(template))
    ]
    return f"concat({', '.join(pieces)})"


def _rename_loaded(file: SourceFile, chosen: Sequence[str]) -> None:
    target = table_name(file.name, "rows")
    file.connection.execute(
        f"CREATE OR REPLACE TABLE {target} AS SELECT {', '.join(chosen)} FROM loaded; DROP TABLE loaded"
    )


def _read_gaf(file: SourceFile) -> str:
    """Gene association files: https://geneontology.org/docs/go-annotation-file-gaf-format-2.2/."""
    version, width, skip = "gaf", 0, 0
    for line in iter_lines(file.path, file.note):
        if line.strip() and not line.startswith(GAF_COMMENT):
            width = line.count("\t") + 1
            break
        skip += 1
        version = line[1:].strip().replace("-version:", "") if line.startswith("!gaf-version:") else version
    if not len(GAF_COLUMNS) - 2 <= width <= len(GAF_COLUMNS):
        raise InputError(
            f"{file.path}, line {skip + 1}: {width} cells, expected the 15 to 17 of a gene association file "
            f"({file.source.title}); check that this is the right file"
        )
    read_delimited(
        file.connection,
        file.path,
        table="loaded",
        columns=GAF_COLUMNS[:width],
        note=file.note,
        skip=skip,
        comment=GAF_COMMENT,
    )
    # Of two taxa the first is that of the gene product, the second an interacting organism.
    taxon = "trim(split_part(taxa, '|', 1)) AS taxon"
    _rename_loaded(file, [taxon if column == "taxon" else column for column in sorted(file.needed["rows"])])
    return version


def _read_obo_source(file: SourceFile) -> str:
    first = "".join(first_lines(file.path, file.note, limit=1))
    if not first.startswith("format-version:"):
        raise InputError(
            f"{file.path}, line 1: an OBO file begins with 'format-version:', found {first!r:.60}; "
            f"check that this is {file.source.title}"
        )
    ontology = read_obo(file.path, file.note)
    rows: dict[str, Sequence[tuple[str, ...]]] = {
        "is_a": ontology.is_a,
        "part_of": ontology.part_of,
        "xref": ontology.xref,
    }
    for table in file.needed.keys() & rows.keys():
        _create(file, table, TABLES["obo"][table])
        _insert(file, table, TABLES["obo"][table], rows[table])
    _create(file, "resolved", ("id", "live"))
    _insert(file, "resolved", ("id", "live"), list(ontology.resolved.items()))
    return first.replace("format-version:", "obo")


def _read_pgdump(file: SourceFile) -> str:
    columns = {table: file.source.tables[table] for table in file.needed}
    for table, names in columns.items():
        _create(file, table, names)
    rows = iter_copy_rows(file.path, columns, file.note)
    while batch := list(islice(rows, BATCH)):
        for table, names in columns.items():
            _insert(file, table, names, [row for owner, row in batch if owner == table])
    return "plain-text dump"


def _create(file: SourceFile, table: str, columns: Sequence[str]) -> None:
    declared = ", ".join(f'"{column}" VARCHAR' for column in columns)
    file.connection.execute(f"CREATE OR REPLACE TABLE {table_name(file.name, table)} ({declared})")


def _insert(file: SourceFile, table: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> None:
    if rows:
        cells = zip(*rows, strict=True)
        batch = {column: np.array(values, dtype=object) for column, values in zip(columns, cells, strict=True)}
        file.connection.register("batch", batch)
        file.connection.execute(f"INSERT INTO {table_name(file.name, table)} SELECT * FROM batch")
        file.connection.unregister("batch")


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
