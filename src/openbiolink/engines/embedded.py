"""The embedded engine: DuckDB in this process, with a database in a scratch folder."""

from __future__ import annotations

from contextlib import contextmanager
from glob import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from openbiolink.errors import InputError
from openbiolink.places import fetched
from openbiolink.tables import number_sql, open_database, quote, read_delimited, write_tsv

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import duckdb

    from openbiolink.engines import Array
    from openbiolink.files import Note

MEMORY = "1000MB"  # that tables may take; more goes to the folder
FUNCTIONS = f"""
    CREATE MACRO hash60(text) AS ('0x' || substr(md5(text), 1, 15))::BIGINT;
    CREATE MACRO finite_number(text) AS {number_sql("text")};
    CREATE MACRO merged_names(names) AS coalesce(array_to_string(list_sort(list_distinct(list_filter(
        string_split(array_to_string(names, ';'), ';'), lambda name: name <> ''))), ';'), '');
    SET default_null_order = 'nulls_first_on_asc_last_on_desc';
"""


@contextmanager
def open_embedded() -> Iterator[EmbeddedEngine]:
    """As `openbiolink.engines.open_engine`."""
    with open_database(memory=MEMORY) as (connection, folder):
        connection.execute(FUNCTIONS)
        own = folder / "files"
        own.mkdir()
        yield EmbeddedEngine(connection, own)


class EmbeddedEngine:
    """As `openbiolink.engines.Engine`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
        """Take over an open database and an empty folder."""
        self.folder = folder
        self._connection = connection

    def make(self, table: str, query: str) -> None:
        """Create or replace a table by the rows of a query."""
        self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS {query}")

    def view(self, name: str, query: str) -> None:
        """Name a query."""
        self._connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {query}")

    def append(self, table: str, query: str) -> None:
        """Add the rows of a query to a table."""
        self._connection.execute(f"INSERT INTO {table} {query}")

    def drop(self, *tables: str) -> None:
        """Forget tables or views, where they exist."""
        kinds = dict(
            self._connection.execute("SELECT table_name, table_type FROM information_schema.tables").fetchall()
        )
        for table in tables:
            if table in kinds:
                self._connection.execute(f"DROP {'VIEW' if kinds[table] == 'VIEW' else 'TABLE'} {table}")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self._connection.execute(query).fetchall()

    def arrays(self, query: str) -> dict[str, Array]:
        """The columns of a query as arrays."""
        return {name: np.asarray(column) for name, column in self._connection.execute(query).fetchnumpy().items()}

    def put(self, table: str, columns: Mapping[str, Array | Sequence[str]]) -> None:
        """Create or replace a table of columns."""
        given = {
            name: column if isinstance(column, np.ndarray) else np.array(column, dtype=object)
            for name, column in columns.items()
        }
        texts = [name for name, column in given.items() if column.dtype == object]
        chosen = ", ".join(f'CAST("{name}" AS VARCHAR) AS "{name}"' if name in texts else f'"{name}"' for name in given)
        self._connection.register(f"{table}_given", given)
        self.make(table, f"SELECT {chosen} FROM {table}_given")
        self._connection.unregister(f"{table}_given")

    def read(
        self,
        path: Path,
        *,
        table: str,
        columns: Sequence[str],
        note: Note,
        keep: Sequence[str] | None = None,
        separator: str = "\t",
        comment: str | None = None,
    ) -> None:
        """Read delimited text or Parquet into a table of text."""
        path = fetched(path, self.folder)
        if path.suffix == ".parquet":
            self._read_parquet(path, table, keep or columns)
            return
        read_delimited(
            self._connection,
            path,
            table=table,
            columns=columns,
            keep=keep,
            separator=separator,
            comment=comment,
            whole_rows_are_data=True,
            note=note,
        )

    def _named(self, query: str, numbered: Mapping[str, str]) -> str:
        """The query with names for numbers: sorted, then looked up in lists, which spares memory."""
        columns = [name for name, *_ in self.rows(f"DESCRIBE {query}")]
        chosen = (f"of_{numbered[name]}[{name} + 1] AS {name}" if name in numbered else name for name in columns)
        lists = (
            f"(SELECT list(name ORDER BY id) AS of_{table} FROM {table})" for table in sorted(set(numbered.values()))
        )
        ordered = f"(SELECT * FROM ({query}) ORDER BY {', '.join(numbered)})"
        return f"SELECT {', '.join(chosen)} FROM {', '.join((ordered, *lists))}"

    def _read_parquet(self, path: Path, table: str, columns: Sequence[str]) -> None:
        pattern = f"{escape(str(path))}/**/*.parquet" if path.is_dir() else escape(str(path))
        rows = f"read_parquet({quote(pattern)}, hive_partitioning = false)"
        try:
            there = [row[0] for row in self.rows(f"DESCRIBE SELECT * FROM {rows}")]
        except Exception as error:
            raise InputError(f"{path}: cannot be read as Parquet ({str(error).splitlines()[0]}); check it") from error
        if missing := [name for name in columns if name not in there]:
            raise InputError(f"{path}: has no column {missing[0]!r}, only {', '.join(there)}; rename the columns")
        chosen = ", ".join(f'coalesce(CAST("{name}" AS VARCHAR), \'\') AS "{name}"' for name in columns)
        self.make(table, f"SELECT {chosen} FROM {rows}")

    def write(self, query: str, path: Path, *, numbered: Mapping[str, str] | None = None) -> int:
        """Write the rows of an ordered query to a file."""
        query = self._named(query, numbered) if numbered else query
        if path.is_dir():
            raise InputError(f"{path}: is a folder already; remove it, or write to another place")
        if path.suffix != ".parquet":
            return write_tsv(self._connection, query, path)
        copied = self.rows(f"COPY ({query}) TO {quote(str(path))} (FORMAT parquet, COMPRESSION zstd)")
        return int(copied[0][0])
