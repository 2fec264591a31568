"""The engine on a cluster: Spark SQL, in the session of this process or in one that is begun for it.

Every engine works in a session of its own inside that one, so that engines see neither each other's tables nor the
user's. A table is a local checkpoint: its rows lie on the executors, and what they were made from is forgotten. A
cluster that loses an executor therefore ends with an error. Local files are read and written by executors too, so
that on several machines they, and the folder for temporary files (TMPDIR), have to lie where all of them see them.
"""

from __future__ import annotations

import re
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from openbiolink.engines.spark_session import one_line_errors, running_session
from openbiolink.errors import InputError, OpenBioLinkError
from openbiolink.files import CHUNK, MAX_LINE, check_file, iter_lines, scratch_folder, unpack
from openbiolink.places import fetched
from openbiolink.tables import NUMBER, SHOWN, iter_rows, quote, ragged_lines, refuse_broken_cells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, Observation, SparkSession

    from openbiolink.engines import Array
    from openbiolink.files import Note

SETTINGS = {  # of every engine: names and arithmetic as the embedded engine has them, no row lost silently
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.variable.substitute": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.constraintPropagation.enabled": "false",  # a checkpoint may keep those of columns that it has not
}
A_NUMBER = rf"\A({NUMBER})\z"
FUNCTIONS = (
    "hash60(name STRING) RETURNS BIGINT RETURN CAST(conv(substr(md5(name), 1, 15), 16, 10) AS BIGINT)",
    f"""finite_number(name STRING) RETURNS DOUBLE RETURN
        CASE WHEN name RLIKE '{A_NUMBER}' AND abs(try_cast(name AS DOUBLE)) < CAST('Infinity' AS DOUBLE)
        THEN try_cast(name AS DOUBLE) END""",
    """merged_names(names ARRAY<STRING>) RETURNS STRING RETURN
        array_join(array_sort(array_distinct(filter(split(array_join(names, ';'), ';'), name -> name <> ''))), ';')""",
)
COMPRESSION = "zstd"  # of Parquet, as the embedded engine has it
READ_IN_PLACE = ("hdfs://", "webhdfs://", "viewfs://", "s3a://", "gs://", "abfs://", "abfss://")
BLANK = r"(?U)\A[\s\x1c-\x1f]*\z"  # what Python's `str.strip` leaves nothing of
UNSEEN_BY_SPARK = re.compile(r"[*?\[\]{}\\:]|/[._][^/]*\Z")  # patterns, and names that Spark takes for hidden


@contextmanager
def open_spark() -> Iterator[SparkEngine]:
    """As `openbiolink.engines.open_engine`."""
    with (
        scratch_folder(Path(tempfile.gettempdir()), "openbiolink-spark-") as folder,
        running_session(folder) as session,
    ):
        own = folder / "files"
        own.mkdir()
        with one_line_errors():
            engine = SparkEngine(session.newSession(), own)
        try:
            yield engine
        finally:
            engine.close()


def _literal(text: str) -> str:
    """The text as an SQL string literal of Spark, where a backslash begins an escape."""
    return quote(text).replace("\\", "\\\\")


def _is_read_in_place(path: Path) -> bool:
    """Whether a path is an address that Spark reads itself; what it does not know is fetched."""
    return str(path).startswith(READ_IN_PLACE)


def _text(name: str, kind: str) -> str:
    """An SQL expression of Spark for a column as text, spelled as the embedded engine spells it."""
    if kind in {"float", "double"}:
        return f"CASE WHEN `{name}` IS NOT NULL THEN {kind}_text(`{name}`) END"
    return f"CAST(`{name}` AS STRING)"


def _float_text() -> Callable[[float | None], str | None]:
    """What spells a number of 32 bits with as few digits as tell it apart; all that it needs goes with it to Spark."""

    def spelled(value: float | None) -> str | None:
        from ctypes import c_float

        if value is None:
            return None
        shortest = (float(f"{value:.{digits}g}") for digits in range(6, 10))
        return repr(next((number for number in shortest if c_float(number).value == value), value))

    return spelled


def _arrow_table(columns: Mapping[str, Array | Sequence[str]]) -> pa.Table:
    import pyarrow as pa

    def arrow(column: Array | Sequence[str]) -> pa.Array:
        is_number = isinstance(column, np.ndarray) and column.dtype.kind in "bif"
        return pa.array(column) if is_number else pa.array(list(column), pa.string())

    return pa.table({name: arrow(column) for name, column in columns.items()})


def _counted(frame: DataFrame, **conditions: str) -> tuple[DataFrame, Observation]:
    """The same rows, and what counts for how many of them each condition holds, while they are first worked out."""
    from pyspark.sql import Observation
    from pyspark.sql.functions import expr

    counts = Observation()
    return frame.observe(counts, *(expr(f"count_if({holds}) AS {name}") for name, holds in conditions.items())), counts


def _as_lines(frame: DataFrame) -> DataFrame:
    """The rows as lines of tab-separated text."""
    kinds = [field.dataType.simpleString() for field in frame.schema.fields]
    names = [f"cell_{number}" for number in range(len(kinds))]
    cells = ", ".join(f"coalesce({_text(name, kind)}, '')" for name, kind in zip(names, kinds, strict=True))
    return frame.toDF(*names).selectExpr(f"concat_ws(chr(9), {cells}) AS line")


def _first_bad(path: Path, lines: DataFrame, *, width: int, separator: str, comment: str | None) -> list[str]:
    """Descriptions of the first lines of a file that are neither rows nor to be skipped.

    Raises:
        InputError: a line is not UTF-8 or too long.
    """
    if _is_read_in_place(path):
        bad = lines.where("NOT whole AND NOT skipped").select("line").take(SHOWN)
        return [f"a line that begins with {row[0][:40]!r}" for row in bad]
    described = []
    for number, cells in iter_rows(iter_lines(path, lambda _: None), separator=separator):
        if comment is not None and cells[0].startswith(comment):
            continue
        if len(cells) != width:
            described.append(f"line {number} ({len(cells)} cells)")
        elif "\r" in separator.join(cells).rstrip("\r"):
            described.append(f"line {number} (a carriage return within)")
    return described[:SHOWN]


def _joined_text(parts: Path, path: Path) -> int:
    """Join text that was written in parts, in the order of their names, and return the number of line ends."""
    ends = 0
    with path.open("wb") as whole:
        for part in sorted(parts.glob("part-*")):
            with part.open("rb") as stream:
                while chunk := stream.read(CHUNK):
                    whole.write(chunk)
                    ends += chunk.count(b"\n")
            part.unlink()
    return ends


def _joined_parquet(parts: Path, path: Path) -> int:
    """Join Parquet files in the order of their names, one group of rows after another, and return the number of rows.

    There is at least one, since Spark writes an empty one where there are no rows.
    """
    from pyarrow.parquet import ParquetFile, ParquetWriter

    rows = 0
    with ExitStack() as opened:
        files = (opened.enter_context(ParquetFile(part)) for part in sorted(parts.glob("part-*")))
        writer = None
        for file in files:
            if writer is None:
                writer = opened.enter_context(ParquetWriter(path, file.schema_arrow, compression=COMPRESSION))
            for group in range(file.num_row_groups):
                writer.write_table(file.read_row_group(group))
            rows += file.metadata.num_rows
    return rows


class SparkEngine:
    """As `openbiolink.engines.Engine`."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        """Take over a session that nobody else uses, and an empty folder."""
        self.folder = folder
        self._session = session
        self._parts: dict[str, list[DataFrame]] = {}  # of each table: what it was made of, and what was appended
        for key, value in SETTINGS.items():
            session.conf.set(key, value)
        context = session.sparkContext
        parts = "spark.sql.shuffle.partitions"
        if (context.master or "").startswith("local") and not context.getConf().contains(parts):
            session.conf.set(parts, str(context.defaultParallelism))
        for function in FUNCTIONS:
            self._sql(f"CREATE OR REPLACE TEMPORARY FUNCTION {function}")
        session.udf.register("double_text", repr, "string")
        session.udf.register("float_text", _float_text(), "string")

    def close(self) -> None:
        """Let go of all tables; where Spark is gone already, they are too."""
        try:
            self.drop(*self._parts)
        except OpenBioLinkError:
            self._parts.clear()

    def _sql(self, query: str) -> DataFrame:
        """The rows of a query, in which a backslash stands for itself; Spark would take it for an escape."""
        return self._session.sql(query.replace("\\", "\\\\"))

    def _named(self, query: str, numbered: Mapping[str, str]) -> str:
        """The query with names for numbers, in the order of the numbers."""
        columns = self._sql(query).columns
        chosen = (f"of_{name}.name AS {name}" if name in numbered else f"numbered.{name}" for name in columns)
        joins = (f"JOIN {table} AS of_{name} ON of_{name}.id = numbered.{name}" for name, table in numbered.items())
        order = ", ".join(f"numbered.{name}" for name in numbered)
        return f"SELECT {', '.join(chosen)} FROM ({query}) AS numbered {' '.join(joins)} ORDER BY {order}"

    def make(self, table: str, query: str) -> None:
        """Create or replace a table by the rows of a query."""
        with one_line_errors():
            self._keep(table, [self._sql(query).localCheckpoint()])

    def _keep(self, table: str, parts: list[DataFrame]) -> None:
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.unionAll(part)
        whole.createOrReplaceTempView(table)
        before, self._parts[table] = self._parts.get(table, []), parts
        self._release(part for part in before if part not in parts)

    @staticmethod
    def _release(parts: Iterable[DataFrame]) -> None:
        for part in parts:
            part._jdf.queryExecution().logical().rdd().unpersist(False)  # noqa: FBT003, SLF001, has no Python name

    def view(self, name: str, query: str) -> None:
        """Name a query."""
        with one_line_errors():
            self._sql(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS {query}")

    def append(self, table: str, query: str) -> None:
        """Add the rows of a query to a table."""
        with one_line_errors():
            parts = self._parts[table]
            columns = [(field.name, field.dataType.simpleString()) for field in parts[0].schema.fields]
            added = self._sql(query).toDF(*(name for name, _ in columns))
            fitted = added.selectExpr(*(f"CAST(`{name}` AS {kind}) AS `{name}`" for name, kind in columns))
            self._keep(table, [*parts, fitted.localCheckpoint()])

    def drop(self, *tables: str) -> None:
        """Forget tables or views, where they exist."""
        with one_line_errors():
            for table in tables:
                self._session.catalog.dropTempView(table)
                self._release(self._parts.pop(table, []))

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with one_line_errors():
            return [tuple(row) for row in self._sql(query).collect()]

    def arrays(self, query: str) -> dict[str, Array]:
        """The columns of a query as arrays."""
        with one_line_errors():
            table = self._sql(query).toArrow()
        return {name: column.to_numpy() for name, column in zip(table.column_names, table.columns, strict=True)}

    def put(self, table: str, columns: Mapping[str, Array | Sequence[str]]) -> None:
        """Create or replace a table of columns."""
        with one_line_errors():
            self._keep(table, [self._session.createDataFrame(_arrow_table(columns)).localCheckpoint()])

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
        keep = keep or columns
        path = path if _is_read_in_place(path) else fetched(path, self.folder)
        with one_line_errors(lambda reason: InputError(f"{path}: cannot be read ({reason}); check the file")):
            if path.suffix == ".parquet":
                self._read_parquet(path, table, keep)
                return
            plain = path if _is_read_in_place(path) else unpack(path, self.folder, note)
            try:
                lines = self._judged_lines(plain, width=len(columns), separator=separator, comment=comment)
                counts = self._keep_whole(lines, table, columns, keep=keep, separator=separator)
                if counts["comments"]:
                    note(f"{path}: {counts['comments']} lines that begin with {comment!r} were skipped as comments")
                if counts["bad"]:
                    self.drop(table)
                    described = _first_bad(path, lines, width=len(columns), separator=separator, comment=comment)
                    raise ragged_lines(path, described, counts["bad"], width=len(columns), separator=separator)
            finally:
                if plain != path:
                    plain.unlink()
        if rows := counts["like_comments"]:
            note(f"{path}: {rows} whole rows begin with {comment!r} and are read as rows, not as comments")

    def _judged_lines(self, path: Path, *, width: int, separator: str, comment: str | None) -> DataFrame:
        """The lines of a file, and of each whether it begins like a comment, is a whole row, or may be skipped."""
        sound = f"is_valid_utf8(line) AND octet_length(line) <= {MAX_LINE}"
        cells = f"length(line) - length(replace(line, {_literal(separator)}, '')) + 1"
        begins = f"startswith(line, {_literal(comment)})" if comment is not None else "false"
        read = self._session.read.text(self._address(path), lineSep="\n")
        return read.selectExpr("trim(TRAILING chr(13) FROM value) AS line").selectExpr(
            "line",
            f"{begins} AS begins",
            f"{sound} AND line <> '' AND {cells} = {width} AND NOT contains(line, chr(13)) AS whole",
            f"{sound} AND ({begins} OR line RLIKE {_literal(BLANK)}) AS skipped",
        )

    def _keep_whole(
        self, lines: DataFrame, table: str, columns: Sequence[str], *, keep: Sequence[str], separator: str
    ) -> dict[str, int]:
        """Make a table of the whole rows, and count in the same pass what else there is."""
        seen, counts = _counted(
            lines,
            bad="NOT whole AND NOT skipped",
            comments="begins AND skipped AND NOT whole",
            like_comments="begins AND whole",
        )
        cells = (f"split_part(line, {_literal(separator)}, {columns.index(name) + 1}) AS `{name}`" for name in keep)
        self._keep(table, [seen.where("whole").selectExpr(*cells).localCheckpoint()])
        return dict(counts.get)

    def _read_parquet(self, path: Path, table: str, columns: Sequence[str]) -> None:
        if not _is_read_in_place(path) and not path.is_dir():
            check_file(path)
        reader = self._session.read.option("recursiveFileLookup", "true").option("pathGlobFilter", "*.parquet")
        frame = reader.parquet(self._address(path))
        there = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
        if missing := [name for name in columns if name not in there]:
            raise InputError(f"{path}: has no column {missing[0]!r}, only {', '.join(there)}; rename the columns")
        texts = (f"coalesce({_text(name, there[name])}, '') AS `{name}`" for name in columns)
        self._keep(table, [frame.selectExpr(*texts).localCheckpoint()])

    def _address(self, path: Path) -> str:
        """What Spark finds a path by; one whose name it would take for a pattern or for hidden gets a link."""
        if _is_read_in_place(path):
            return str(path)
        place = path.resolve()
        if UNSEEN_BY_SPARK.search(str(place)):
            link = self.folder / f"plain-{len(list(self.folder.iterdir()))}{path.suffix}"
            link.symlink_to(place)
            place = link
        return f"file://{place}"

    def write(self, query: str, path: Path, *, numbered: Mapping[str, str] | None = None) -> int:
        """Write the rows of an ordered query to a file."""
        query = self._named(query, numbered) if numbered else query
        if path.is_dir():
            raise InputError(f"{path}: is a folder already; remove it, or write to another place")
        with one_line_errors(), scratch_folder(path.parent, f".{path.name}-parts-") as folder:
            frame, counts = _counted(self._sql(query), rows="true")
            parts = folder / "parts"
            if path.suffix == ".parquet":
                frame.write.parquet(f"file://{parts.resolve()}", compression=COMPRESSION)
                written = _joined_parquet(parts, path)
            else:
                _as_lines(frame).write.text(f"file://{parts.resolve()}", compression="none", lineSep="\n")
                written = _joined_text(parts, path)
            rows = int(counts.get["rows"])
        if written < rows:
            raise OpenBioLinkError(
                f"{path}: only {written} of {rows} rows are found where they were to be written; choose a folder that "
                "all machines of the cluster see"
            )
        if path.suffix != ".parquet":
            refuse_broken_cells(path, rows=rows, columns=len(frame.columns), separator="\t")
        return rows
