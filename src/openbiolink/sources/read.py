"""One reader per format, each giving the tables of a source in DuckDB, every cell as text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from openbiolink.errors import InputError
from openbiolink.files import iter_lines, iter_unpacked, not_data, sha256_of
from openbiolink.sources.catalogue import TABLES
from openbiolink.sources.declarations import Layout
from openbiolink.sources.layout import SNIFFED_LINES, FoundLayout, check_begun, find_layout
from openbiolink.sources.obo import read_obo
from openbiolink.sources.pgdump import iter_copy_rows
from openbiolink.tables import create_text_table, first_lines, insert_rows, iter_rows, quote, read_delimited

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import duckdb

    from openbiolink.files import Note
    from openbiolink.sources.declarations import Source

    Needed = Mapping[str, frozenset[str]]

GAF_COLUMNS = (
    "database", "object_id", "symbol", "qualifier", "go_id", "reference", "evidence", "with_or_from", "aspect",
    "name", "synonym", "type", "taxa", "date", "assigned_by", "extension", "gene_product",
)  # fmt: skip
GAF_COMMENT = "!"
GAF_VERSION = "!gaf-version:"
OBO_START = "format-version:"
DUMP_STARTS = ("--", "COPY ")
FORMATS = {"obo": "an OBO file", "pgdump": "a plain-text database dump"}
COMPOSED = re.compile(r"\{(\w+)\}")
BATCH = 100_000
REMEMBERED_LINES = 200
BOM = "\ufeff"


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
        first_lines: its first lines, `REMEMBERED_LINES` at most, in which the version may stand.
    """

    path: Path
    sha256: str
    size: int
    layout: str
    found: FoundLayout | None
    first_lines: tuple[str, ...]


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
    looks = not_data(_first_bytes(path))
    if looks is not None:
        raise InputError(f"{path}: is {looks}, not {source.title}; fetch the file again, by hand if need be")
    lines = first_lines(path, _ignore, limit=SNIFFED_LINES)
    found = recognise_layout(lines, name=name, source=source, place=str(path))
    file = SourceFile(connection, name, path, source, needed, note)
    if isinstance(found, FoundLayout):
        (_read_gaf if source.format == "gaf" else _read_delimited_source)(file, found)
    else:
        (_read_obo_source if source.format == "obo" else _read_pgdump)(file)
    return LoadedSource(
        path=path,
        sha256=sha256_of(path),
        size=path.stat().st_size,
        layout=found.layout.name if isinstance(found, FoundLayout) else found,
        found=found if isinstance(found, FoundLayout) else None,
        first_lines=tuple(lines[:REMEMBERED_LINES]),
    )


def _first_bytes(path: Path) -> bytes:
    """Some first bytes of a file, unpacked."""
    return next((chunk for chunk in iter_unpacked(path, _ignore) if chunk), b"")


def _ignore(_: str) -> None:
    """A note that is made again when the file is read whole."""


def recognise_layout(lines: Sequence[str], *, name: str, source: Source, place: str) -> FoundLayout | str:
    """The layout that the first lines of a source's file have: found among the known ones, or the format's version.

    Args:
        lines: the first lines, whole and without their ends; `SNIFFED_LINES` are enough.
        name: the id of the source.
        source: its declaration.
        place: what messages call the file: its path or address.

    Raises:
        InputError: they are not those of such a file; the message says what is expected and what was found.
    """
    check_begun(lines, source, place)
    if source.format == "delimited":
        return find_layout(lines, name=name, source=source, place=place)
    if source.format == "gaf":
        return _recognise_gaf(lines, source, place)
    if source.format == "pgdump":
        fits, layout, expected = any(line.startswith(DUMP_STARTS) for line in lines), "plain-text dump", DUMP_STARTS[0]
    else:
        fits, layout, expected = lines[0].startswith(OBO_START), lines[0].replace(OBO_START, "obo"), OBO_START
    if not fits:
        raise InputError(
            f"{place}, line 1: {FORMATS[source.format]} begins with {expected!r}, found {lines[0]!r:.60}; "
            f"check that this is {source.title}"
        )
    return layout


def _read_delimited_source(file: SourceFile, found: FoundLayout) -> None:
    wanted = file.needed["rows"]
    composed = {column: template for column, template in found.layout.compose.items() if column in wanted}
    pieces = {piece for template in composed.values() for piece in COMPOSED.findall(template)}
    plain = wanted - composed.keys()
    keep = [column for column in found.columns if column in pieces | plain]
    _load_rows(file, found, keep)
    # Some releases put quotation marks around cells; they and blanks are no part of what a cell says.
    around = "' '" if found.layout.quoted else "' \"'"
    chosen = [f'trim("{column}", {around}) AS "{column}"' for column in sorted(plain & set(keep))]
    for column in sorted(plain - set(keep)):
        file.note(f"{file.path}: has no column {found.layout.optional[column]!r}, which is taken as empty")
        chosen.append(f"'' AS \"{column}\"")
    chosen += [f'{_compose_sql(template)} AS "{column}"' for column, template in sorted(composed.items())]
    _rename_loaded(file, chosen)


def _load_rows(file: SourceFile, found: FoundLayout, keep: Sequence[str]) -> None:
    """Create the table `loaded` of some columns; what is no row is left out and noted."""
    above = found.skip - 1 - sum(cell.count("\n") for cell in found.header)
    if found.layout.header == "below" and above:
        file.note(f"{file.path}: {above} lines above the header were skipped")
    read_delimited(
        file.connection,
        file.path,
        table="loaded",
        columns=found.columns,
        note=file.note,
        separator=found.separator,
        quoted=found.layout.quoted,
        skip=found.skip,
        comment=found.layout.comment,
        keep=keep,
    )
    # Files that were put together from several have a header in the middle.
    header = dict(zip(found.columns, found.header, strict=False))
    same = [f'"{column}" IN ({quote(header[column])}, {quote(BOM + header[column])})' for column in keep if header]
    if same:
        deleted = file.connection.execute(f"DELETE FROM loaded WHERE {' AND '.join(same)}").fetchall()[0][0]
        if deleted:
            file.note(f"{file.path}: the header stands {deleted} more times among the rows; these were skipped")


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


def _recognise_gaf(lines: Sequence[str], source: Source, place: str) -> FoundLayout:
    """Gene association files: https://geneontology.org/docs/go-annotation-file-gaf-format-2.2/."""
    versions = (line.removeprefix(GAF_VERSION).strip() for line in lines if line.startswith(GAF_VERSION))
    number, row = next(iter_rows(lines, separator="\t", comment=GAF_COMMENT), (len(lines), []))
    if not len(GAF_COLUMNS) - 2 <= len(row) <= len(GAF_COLUMNS):
        raise InputError(
            f"{place}, line {number}: {len(row)} cells, expected the 15 to 17 of a gene association file "
            f"({source.title}); check that this is the right file"
        )
    layout = Layout(
        name=f"gaf {next(versions, '')}".strip(),
        comment=GAF_COMMENT,
        header="none",
        positional=GAF_COLUMNS[: len(row)],
    )
    return FoundLayout(layout=layout, separator="\t", skip=number - 1, columns=layout.positional)


def _read_gaf(file: SourceFile, found: FoundLayout) -> None:
    # Of two taxa the first is that of the gene product, the second an interacting organism.
    chosen = {"taxon": ("taxa", "trim(split_part(taxa, '|', 1)) AS taxon")}
    pairs = [chosen.get(column, (column, column)) for column in sorted(file.needed["rows"])]
    _load_rows(file, found, [column for column, _ in pairs])
    _rename_loaded(file, [expression for _, expression in pairs])


def _read_obo_source(file: SourceFile) -> None:
    ontology = read_obo(file.path, file.note)
    rows: dict[str, Sequence[tuple[str, ...]]] = {
        "is_a": ontology.is_a,
        "part_of": ontology.part_of,
        "xref": ontology.xref,
        "name": ontology.name,
    }
    tables = {table: (TABLES["obo"][table], rows[table]) for table in file.needed.keys() & rows.keys()}
    tables["resolved"] = (("id", "live"), list(ontology.resolved.items()))
    for table, (columns, content) in tables.items():
        create_text_table(file.connection, table_name(file.name, table), columns)
        insert_rows(file.connection, table_name(file.name, table), content)


def _read_pgdump(file: SourceFile) -> None:
    columns = {table: file.source.tables[table] for table in file.needed}
    for table, names in columns.items():
        create_text_table(file.connection, table_name(file.name, table), names)
    rows = iter_copy_rows(file.path, columns, file.note, file.source.optional_tables)
    while batch := list(islice(rows, BATCH)):
        for table in columns:
            chosen = (row for owner, row in batch if owner == table)
            insert_rows(file.connection, table_name(file.name, table), chosen)


def lines_where(path: Path, found: FoundLayout, column: str, *, fails: Callable[[str], bool], limit: int) -> list[int]:
    """The numbers of the first lines whose cell of `column` fails a test, for messages."""
    place = found.columns.index(column)
    rows = iter_rows(
        iter_lines(path, _ignore),
        separator=found.separator,
        quoted=found.layout.quoted,
        comment=found.layout.comment,
        skip=found.skip,
    )
    header = [*found.header]
    failing = (
        number for number, cells in rows if [cells[0].removeprefix(BOM), *cells[1:]] != header and fails(cells[place])
    )
    return list(islice(failing, limit))
