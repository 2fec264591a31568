"""Where the tables of a split or an audit live: an SQL engine, embedded or on a cluster, that runs the same statements.

    with open_engine("embedded") as engine:
        engine.read(path, table="raw", columns=("head", "relation", "tail"), note=note)
        engine.make("pair", "SELECT head, tail FROM raw")
        engine.rows("SELECT count(*) FROM pair")

All statements keep to what DuckDB and Spark both understand and take for the same: `SELECT … FROM … ANTI JOIN …
USING (…)`, `CAST(x AS BIGINT|INTEGER|DOUBLE|STRING)`, `count_if`, `bool_or`, `array_agg`, window functions, and three
functions that each engine is taught:

    hash60(text)          60 bits of MD5 as BIGINT, the same number in every engine
    finite_number(text)   the finite number that a decimal text stands for, else NULL
    merged_names(array)   the distinct non-empty pieces of `;`-separated texts, sorted, joined by `;`

Text is compared by its UTF-8 bytes, and NULL comes first in ascending order, last in descending. No order of rows is
promised but where a query asks for it. A backslash in a literal is a backslash. What the engines take differently is
kept out of statements:

    CAST(x AS BIGINT) of a DOUBLE         rounded | cut off: take the floor first
    CAST(x AS STRING) of a DOUBLE         1e+20 | 1.0E20: only `write` spells numbers alike
    floor(x), sign(x)                     DOUBLE | BIGINT, INTEGER | DOUBLE: cast the result
    sum, count_if of integers             HUGEINT, which `arrays` gives as float64 | BIGINT: cast to BIGINT
    row_number(), rank(), length(x)       BIGINT | INTEGER: cast where `arrays` or a table's type matters
    sum, avg of DOUBLE                    depend on the order of rows in both: sum integers
    x / 0                                 inf | error
    array_agg(x), max_by(x, y) of NULL x  in the array, passed over | left out, taken: leave such rows out
    WHERE on an alias of SELECT           allowed | not
    count(DISTINCT x, y)                  not | allowed: count the rows of SELECT DISTINCT
    upper, lower beyond ASCII             by different editions of Unicode
    substr(x, 0, n), split_part(x, y, 0)  counted from 0 or an error: count from 1
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, Protocol

from openbiolink.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from openbiolink.files import Note

    Array = npt.NDArray[np.generic]

EngineName = Literal["embedded", "spark"]
ENGINES: tuple[EngineName, ...] = ("embedded", "spark")
Format = Literal["tsv", "parquet"]


class Engine(Protocol):
    """Tables by name, and statements about them. Numbers of nodes and relations are INTEGER, counts BIGINT.

    Attributes:
        folder: an empty folder for files of one's own, gone when the engine is closed.
    """

    folder: Path

    def make(self, table: str, query: str) -> None:
        """Create or replace a table by the rows of a query, which may read the table that it replaces."""

    def view(self, name: str, query: str) -> None:
        """Name a query, which is worked out whenever it is read."""

    def append(self, table: str, query: str) -> None:
        """Add the rows of a query, with the columns of the table in their order."""

    def drop(self, *tables: str) -> None:
        """Forget tables, where they exist."""

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query; meant for few."""

    def arrays(self, query: str) -> dict[str, Array]:
        """The columns of a query without NULL as arrays of numbers or truth values, shape (rows,)."""

    def put(self, table: str, columns: Mapping[str, Array | Sequence[str]]) -> None:
        """Create or replace a table of columns: arrays of int32, int64, float64 or bool, or sequences of text."""

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
        """Read a file into a table of text: delimited text without a header (also packed), or Parquet by its columns.

        A line that begins with `comment` and has another number of cells than `columns` is skipped and noted. What is
        absent in Parquet becomes the empty text.

        Args:
            path: local, or what `openbiolink.places.place` made of an address; a folder holds Parquet files.
            table: name of the table to create or replace.
            columns: a name for each column of delimited text, in order; those that Parquet must have.
            note: called with one line for everything that was skipped.
            keep: the columns to keep, all by default.
            separator: one character, of delimited text.
            comment: what a comment line begins with, of delimited text.

        Raises:
            InputError: the file is absent, damaged or not UTF-8, or a row has too many or too few cells.
        """

    def write(self, query: str, path: Path, *, numbered: Mapping[str, str] | None = None) -> int:
        """Write the rows of an ordered query to a local file, and return their number.

        Columns that are `numbered` hold ids of a table (id, name), which counts from 0, and are written as the names;
        the rows are then ordered by these columns, and the query need not be.

        A name that ends with `.parquet` is written as Parquet, anything else as tab-separated text: no header, no
        quotes, LF, NULL as the empty text.

        Raises:
            InputError: a cell of text holds a tab or a line end.
        """


@contextmanager
def open_engine(name: str = "embedded") -> Iterator[Engine]:
    """An engine with no tables, and its scratch folder; both are gone afterwards.

    Args:
        name: `embedded` (DuckDB, in this process) or `spark` (the Spark session of this process, or a new one).

    Raises:
        InputError: no engine has this name.
        OpenBioLinkError: Spark or Java is not installed, or memory or disk do not suffice.
    """
    if name not in ENGINES:
        raise InputError(f"engine {name!r} is unknown; choose one of {', '.join(ENGINES)}")
    if name == "spark":
        from openbiolink.engines.spark import open_spark

        with open_spark() as spark:
            yield spark
        return
    from openbiolink.engines.embedded import open_embedded

    with open_embedded() as embedded:
        yield embedded
