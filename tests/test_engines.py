"""Both engines give the same rows, files and errors for the same statements and files."""

import gzip
import hashlib
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openbiolink.engines import open_engine
from openbiolink.engines import spark as spark_module
from openbiolink.errors import InputError, OpenBioLinkError

pytestmark = pytest.mark.xdist_group("spark")  # one process for all of them, since each would begin a session
FEW = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
TEXT = st.text(st.sampled_from("aB1;.\\'\"%_$ é\U0001f9ec\t\n"), max_size=6)
ROWS = "(VALUES (1, 2, 'a;b', '7'), (1, 2, 'c', ''), (3, 4, '', 'x'), (5, NULL, 'Z', '1e3')) AS v(h, t, s, q)"
STATEMENTS = [
    f"SELECT h, t, count_if(h > 1) AS n, bool_or(h = 1), bool_and(h = 1), min(s), max(s) FROM {ROWS} GROUP BY h, t",
    f"SELECT h, merged_names(array_agg(s)) FROM {ROWS} GROUP BY h",
    f"SELECT merged_names(array_agg(s)) FROM {ROWS} WHERE h > 9",
    f"SELECT h, s FROM {ROWS} ANTI JOIN (SELECT 1 AS h) AS w USING (h)",
    f"SELECT h, s FROM {ROWS} SEMI JOIN (SELECT 1 AS h) AS w USING (h)",
    f"SELECT h, w.z FROM {ROWS} LEFT JOIN (SELECT 1 AS x, 'y' AS z) AS w ON w.x = h",
    f"SELECT h = 1 AS c, CASE WHEN c THEN 'x' ELSE 'y' END AS d FROM {ROWS}",
    f"SELECT h, s, rank() OVER (PARTITION BY h ORDER BY s DESC), row_number() OVER (ORDER BY s, h) FROM {ROWS}",
    f"SELECT h, row_number() OVER (ORDER BY t, s), row_number() OVER (ORDER BY t DESC, s) FROM {ROWS}",
    f"SELECT h FROM {ROWS} WHERE h IN (SELECT 1) AND t IS NOT DISTINCT FROM 2",
    f"SELECT count(DISTINCT h), CAST(sum(h) AS BIGINT), count(t), max_by(s, h) FROM {ROWS}",
    f"WITH a AS (SELECT h FROM {ROWS}) SELECT h FROM a UNION SELECT 2 UNION ALL SELECT 2",
    "SELECT split_part('a:b', ':', 1), split_part('a:b', ':', 3), 7 % 4, -7 % 4, substr('abc', 1, 2), 5 / 2",
    "SELECT CAST(floor(log2(1024)) AS BIGINT), CAST(true AS INTEGER), CAST(true AS STRING), CAST('12' AS BIGINT)",
    "SELECT least('a', 'B'), greatest(1, NULL), concat_ws(chr(9), 'a', NULL, ''), 'a' || NULL",
    "SELECT length('é\U0001f9ec'), md5('é')",
    r"""SELECT 'it''s' AS "it's", '\' AS b, '\n' AS n, '${x}' AS "H", ':x' AS "row", '/* -- */'""",
    "SELECT row, positive, part, general FROM (SELECT 1 AS row, true AS positive, 'x' AS part, 2 AS general) AS known",
]


@pytest.fixture(scope="module")
def engines(spark):
    """One engine of each kind."""
    with open_engine("embedded") as embedded, open_engine("spark") as cluster:
        yield embedded, cluster


def sorted_rows(engine, query):
    return sorted(engine.rows(query), key=repr)


def outcome(act):
    """What an act returns, or the kind and the text of its error."""
    try:
        return act()
    except OpenBioLinkError as error:
        return type(error), str(error)


def read(engine, path, columns=("a", "b"), **options):
    """The sorted rows of a file and the notes on it, or the error."""
    notes = []

    def act():
        engine.read(path, table="read", columns=columns, note=notes.append, **options)
        return sorted_rows(engine, "SELECT * FROM read")

    return outcome(act), notes


@pytest.mark.parametrize("query", STATEMENTS)
def test_a_statement_gives_the_same_rows(engines, query):
    expected, found = (sorted_rows(engine, query) for engine in engines)
    assert expected
    assert found == expected


@FEW
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), TEXT), min_size=1, max_size=12))
def test_tables_of_any_content_are_the_same(engines, table):
    results = []
    for engine in engines:
        h, t, s = (list(column) for column in zip(*table, strict=True))
        engine.put("given", {"h": np.array(h, np.int32), "t": np.array(t, np.int64), "s": s})
        engine.make("pair", "SELECT h, t, count(*) AS n, min(s) AS low, max(s) AS high FROM given GROUP BY h, t")
        engine.append("pair", "SELECT t, h, CAST(1 AS BIGINT), s, s FROM given WHERE h = 0")
        engine.make("pair", "SELECT least(h, t) AS h, greatest(h, t) AS t, n, low, high, hash60(low) AS z FROM pair")
        order = "row_number() OVER (ORDER BY s, h, t)"
        results.append(
            [
                sorted_rows(engine, "SELECT * FROM pair"),
                sorted_rows(engine, f"SELECT {order}, h, t, s, finite_number(s), length(s) FROM given"),
                sorted_rows(engine, "SELECT h, merged_names(array_agg(s)) FROM given GROUP BY h"),
                sorted_rows(engine, "SELECT g.h, p.n FROM given AS g JOIN pair AS p ON p.low = g.s"),
            ]
        )
    assert results[0] == results[1]
    assert sum(row[2] for row in results[0][0]) == len(table) + sum(h == 0 for h, _, _ in table)


NUMBERS = {"1", "-1.5", "+.5", "1.", "1e3", "1E-400", "1e999", "-1e999", "nan", "inf", "Infinity", "1d", "0x1", "1_000"}
NUMBERS |= {"", "1,5", "٣", "1e", ".", "007", "4.35", "2.2250738585072011e-308", "12345678901234567890123", " 1", "1\n"}


def test_a_number_is_what_python_takes_the_decimal_text_for(engines):
    decimal = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
    expected = [
        float(text) if decimal.fullmatch(text) and abs(float(text)) < float("inf") else None for text in sorted(NUMBERS)
    ]
    for engine in engines:
        engine.put("text", {"place": np.arange(len(NUMBERS)), "text": sorted(NUMBERS)})
        assert [row[0] for row in engine.rows("SELECT finite_number(text) FROM text ORDER BY place")] == expected


def test_a_hash_is_60_bits_of_md5(engines):
    texts = ["", "a", "é", "a\tb", *(f"n{number}" for number in range(200))]
    expected = [int(hashlib.md5(text.encode()).hexdigest()[:15], 16) for text in texts]
    for engine in engines:
        engine.put("text", {"place": np.arange(len(texts)), "text": texts})
        found = engine.arrays("SELECT hash60(text) AS hash FROM text ORDER BY place")["hash"]
        assert found.dtype == np.int64
        assert found.tolist() == expected


def test_the_exponent_of_two_is_exact(engines):
    powers = ", ".join(f"CAST(floor(log2(CAST({2**power} AS BIGINT))) AS BIGINT)" for power in range(60))
    assert [engine.rows(f"SELECT {powers}") for engine in engines] == [[tuple(range(60))]] * 2


def test_arrays_go_in_and_come_out(engines):
    given_arrays = {
        "i": np.arange(5, dtype=np.int32),
        "j": np.arange(5, dtype=np.int64) << 40,
        "x": np.array([0.1, -0.0, 1e300, 5e-324, 2.5]),
        "b": np.arange(5) % 2 == 0,
    }
    for engine in engines:
        engine.put("mixed", {**given_arrays, "s": ["", "a", "\\", "'", "é"]})
        for query, kept in (
            ("SELECT i, j, x, b FROM mixed ORDER BY i", 5),
            ("SELECT i, j, x, b FROM mixed LIMIT 0", 0),
        ):
            found = engine.arrays(query)
            assert {name: column.dtype for name, column in found.items()} == {
                name: column.dtype for name, column in given_arrays.items()
            }
            assert all((found[name] == column[:kept]).all() for name, column in given_arrays.items())
        assert engine.rows("SELECT s FROM mixed ORDER BY s") == [("",), ("'",), ("\\",), ("a",), ("é",)]
        engine.put("none", {"i": given_arrays["i"][:0], "s": []})
        assert engine.rows("SELECT * FROM none") == []


def test_tables_views_and_what_becomes_of_them(engines):
    for engine in engines:
        engine.make("a", "SELECT 1 AS x, CAST('p' AS STRING) AS y")
        engine.view("b", "SELECT x + 1 AS z FROM a")
        engine.append("a", "SELECT CAST(5 AS BIGINT), 'q'")
        assert sorted_rows(engine, "SELECT z FROM b") == [(2,), (6,)]
        engine.make("a", "SELECT x * 10 AS x, y FROM a UNION ALL SELECT x, y FROM a")
        engine.append("a", "SELECT x, y FROM a")
        assert sorted_rows(engine, "SELECT z FROM b") == sorted([(11,), (51,), (2,), (6,)] * 2, key=repr)
        assert engine.arrays("SELECT x FROM a")["x"].dtype == np.int32
        engine.drop("b", "a", "never there")
        with pytest.raises(Exception, match="b"):
            engine.rows("SELECT * FROM b")
        with pytest.raises(Exception, match="a"):
            engine.rows("SELECT * FROM a")


def test_engines_do_not_see_each_other(every_engine):
    with open_engine(every_engine) as one, open_engine(every_engine) as other:
        one.make("a", "SELECT 1 AS x")
        assert list(one.folder.iterdir()) == []
        with pytest.raises(Exception, match="a"):
            other.rows("SELECT x FROM a")
        other.make("a", "SELECT 2 AS x")
        assert one.rows("SELECT x FROM a") == [(1,)]
    assert not one.folder.exists()
    assert not other.folder.exists()


def test_what_a_table_held_is_let_go(spark):
    held = spark._session.sparkContext._jsc.getPersistentRDDs
    before = held().size()
    with open_engine("spark") as engine:
        for number in range(3):
            engine.make("a", f"SELECT {number} AS x")
            engine.append("a", "SELECT 7 AS x")
        assert held().size() == before + 2
    assert held().size() == before


FILES = {
    "plain": b"a\tb\nc\td\n",
    "no last line end": b"a\tb\nc\td",
    "CR LF": b"a\tb\r\nc\td\r\n",
    "byte-order mark": b"\xef\xbb\xbfa\tb\n\xef\xbb\xbfc\td\n",
    "blank lines": b"\n \na\tb\n\r\n\t\t\n\nc\td\n\n",
    "every blank": "a\tb\n\x1c\x1d\x1e\x1f\x0b\x0c\x85\xa0\u1680\u2028\u3000 \nc\td\n".encode(),
    "empty cells": b"\t\na\t\n\tb\n \t \n",
    "nothing": b"",
    "nothing but a line end": b"\n",
    "what looks special": b"NA\t\"\n\\N\tNULL\n1E5\t007\n'\t%\n",
    "comments": b"#x\na\tb\n#c\td\n#a\tb\tc\n#\n",
    "a comment after a mark": b"\xef\xbb\xbf#x\na\tb\n",
    "letters beyond": "é\t\U0001f9ec\n\x00\ta\n".encode(),
    "too few": b"a\tb\nc\n",
    "too many, often": b"a\tb\nc\td\te\n" + b"#\n\nx\n" * 5,
    "not UTF-8": b"a\tb\n\xff\tc\n",
    "not UTF-8 in a comment": b"a\tb\n#\xff\n",
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_a_file_is_read_the_same(engines, tmp_path, content):
    path = tmp_path / "file.tsv"
    path.write_bytes(content)
    expected, found = (read(engine, path, comment="#") for engine in engines)
    assert found == expected


@FEW
@given(
    st.lists(st.text(st.sampled_from("a\t #é\ufeff\xa0\\"), max_size=5), max_size=6), st.sampled_from(["\n", "\r\n"])
)
def test_a_file_of_any_lines_is_read_the_same(engines, tmp_path, lines, end):
    path = tmp_path / "any.tsv"
    path.write_bytes("".join(line + end for line in lines).encode())
    expected, found = (read(engine, path, comment="#") for engine in engines)
    assert found == expected


def test_a_carriage_return_within_a_row_is_refused(engines, tmp_path):
    path = tmp_path / "file.tsv"
    path.write_bytes(b"a\tb\nc\rc\td\n")
    for engine in engines:
        (kind, message), _ = read(engine, path)
        assert kind is InputError
        assert str(path) in message
    assert "line 2 (a carriage return within)" in message


def test_columns_and_separators(engines, tmp_path):
    path = tmp_path / "file.csv"
    for separator in ",|; ":
        path.write_text(separator.join("abc") + "\n" + separator.join("def") + "\n")
        for engine in engines:
            options = {"columns": ("x", "y", "z"), "separator": separator, "keep": ("z", "x")}
            assert read(engine, path, **options) == ([("c", "a"), ("f", "d")], [])
    path.write_text("a\n\n b\n")
    assert [read(engine, path, ("x",)) for engine in engines] == [([(" b",), ("a",)], [])] * 2


def test_packed_files_are_read_the_same(engines, tmp_path):
    content = b"\xef\xbb\xbfa\tb\r\n" + b"c\td\r\n" * 100
    two = tmp_path / "two.gz"
    two.write_bytes(gzip.compress(content[:50]) + gzip.compress(content[50:]) + b"rest")
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(content)[:-9])
    with zipfile.ZipFile(tmp_path / "one.zip", "w") as archive:
        archive.writestr("x.tsv", content)
    for path in (two, cut, tmp_path / "one.zip", tmp_path / "absent.tsv", tmp_path):
        expected, found = (read(engine, path) for engine in engines)
        assert found == expected
        assert path in (cut, tmp_path / "absent.tsv", tmp_path) or len(found[0]) == 101


@pytest.mark.parametrize("name", ["_x.tsv", ".x.tsv", "a b%20é.tsv", "x[1].tsv", "{x}*?.tsv", "a=b/c:d.tsv"])
def test_files_of_any_name_are_read_and_written(spark, tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    with open_engine("spark") as engine:
        assert engine.write("SELECT 'p' AS a, 'q' AS b", path) == 1
        assert read(engine, path) == ([("p", "q")], [])
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.fixture
def parquet(tmp_path):
    """A folder of Parquet files, one of them in a folder of its own."""
    folder = tmp_path / "many [1].parquet"  # no pattern
    (folder / "further").mkdir(parents=True)
    scores = [0.1, 1e16, -0.0, 12345678.0, 1e-5, 2.0e-3, float("inf"), None]
    table = pa.table(
        {
            "name": ["a", None, "", "é", "#", "x", "y", "z"],
            "number": pa.array([1, None, 3, 4, 5, 6, 7, 8], pa.int64()),
            "score": pa.array(scores, pa.float64()),
            "small": pa.array(scores, pa.float32()),
            "good": [True, False, None, True, True, True, True, True],
        }
    )
    pq.write_table(table, folder / "1.parquet")
    pq.write_table(table, folder / "further" / "2.parquet")
    return folder


def test_parquet_is_read_the_same(engines, parquet):
    columns = ("number", "name", "score", "small", "good")
    for path in (parquet, parquet / "1.parquet"):
        expected, found = (read(engine, path, columns) for engine in engines)
        assert len(expected[0]) == (16 if path == parquet else 8)
        assert found == expected
        assert ("", "", "1e+16", "1e+16", "false") in found[0]
    for engine in engines:
        assert read(engine, parquet, columns, keep=("name",))[0].count(("",)) == 4
        (kind, message), _ = read(engine, parquet, ("other",))
        assert (kind, "has no column 'other'" in message) == (InputError, True)
        broken = parquet / "broken.parquet"
        broken.write_bytes(b"PAR1")
        (kind, message), _ = read(engine, broken, ("name",))
        assert kind is InputError
        assert str(broken) in message
        assert "\n" not in message
        broken.unlink()
        (kind, _), _ = read(engine, parquet / "absent.parquet", ("name",))
        assert kind is InputError


WRITTEN = {
    "all kinds": f"SELECT h, t, s, q, h > 1 AS b, CAST(h AS DOUBLE) / 3 AS d, NULL AS n FROM {ROWS} ORDER BY s",
    "no rows": f"SELECT h, s FROM {ROWS} WHERE h > 9 ORDER BY h",
    "one column": f"SELECT s FROM {ROWS} ORDER BY s",
    "the same name twice": f"SELECT s AS h, h FROM {ROWS} ORDER BY s",
    "a NULL to order by": f"SELECT t, s FROM {ROWS} ORDER BY t, s",
    "letters": r"""SELECT '"' AS a, '\n' AS b, 'é' AS c, ' ' AS d, '''' AS e ORDER BY a""",
    "a tab": "SELECT chr(9) AS a, 1 AS b ORDER BY a",
    "a line end": "SELECT 'a' AS a, chr(10) AS b ORDER BY a",
    "a carriage return": "SELECT chr(13) AS a, 1 AS b ORDER BY a",
}


@pytest.mark.parametrize("query", WRITTEN.values(), ids=WRITTEN)
def test_written_bytes_are_the_same(engines, tmp_path, query):
    results = []
    for engine in engines:
        path = tmp_path / type(engine).__name__ / "x.tsv"
        path.parent.mkdir()
        rows = outcome(partial(engine.write, query, path))
        results.append((rows, path.read_bytes()))
        assert list(path.parent.iterdir()) == [path]
    assert results[0] == results[1]


def test_order_holds_across_parts(engines, tmp_path, monkeypatch):
    embedded, cluster = engines
    cluster._session.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
    cluster._session.conf.set("spark.sql.shuffle.partitions", "3")
    joined = []  # the number of parts of every file

    def counted(join, parts, path):
        joined.append(len(list(parts.glob("part-*"))))
        return join(parts, path)

    for name in ("_joined_text", "_joined_parquet"):
        monkeypatch.setattr(spark_module, name, partial(counted, getattr(spark_module, name)))
    names = [f"n{number * 7919 % 30011}" for number in range(30000)]
    query = "SELECT name, h FROM many ORDER BY name, h"
    tables = []
    for engine in engines:
        engine.put("many", {"name": names, "h": np.arange(len(names), dtype=np.int32)})
        path = tmp_path / type(engine).__name__
        assert engine.write(query, path) == len(names)
        expected = sorted((name.encode(), number) for number, name in enumerate(names))
        assert path.read_bytes() == b"".join(b"%b\t%d\n" % row for row in expected)
        path = path.with_suffix(".parquet")
        assert engine.write(query, path) == len(names)
        assert len(read(embedded, path, ("name", "h"))[0]) == len(names)
        assert pq.read_metadata(path).row_group(0).column(0).compression == "ZSTD"
        tables.append(pq.read_table(path))
    assert joined == [3, 3]
    assert tables[0].to_pydict() == tables[1].to_pydict()
    assert tables[0].schema.types == tables[1].schema.types
    assert tables[0]["name"].to_pylist() == sorted(names)


def test_parquet_without_rows_is_written_with_its_columns(engines, tmp_path):
    for engine in engines:
        path = tmp_path / f"{type(engine).__name__}.parquet"
        assert engine.write("SELECT CAST(1 AS INTEGER) AS h, 'x' AS s WHERE 1 = 0 ORDER BY h", path) == 0
        assert pq.read_table(path).to_pydict() == {"h": [], "s": []}
        folder = tmp_path / f"{type(engine).__name__}-folder.parquet"
        folder.mkdir()
        with pytest.raises(InputError, match="is a folder already"):
            engine.write("SELECT 1 AS h", folder)


def test_errors_are_one_line(spark, tmp_path):
    with open_engine("spark") as engine:
        engine.make("a", "SELECT 'x' AS x")
        for act in (
            lambda: engine.rows("SELECT nothing FROM a"),
            lambda: engine.make("b", "SELECT CAST(x AS INTEGER) AS y FROM a"),
            lambda: engine.append("a", "SELECT 1, 2"),
            lambda: engine.rows("SELEKT"),
            lambda: engine.read(Path("x"), table="a", columns=("a",), note=print, separator="'\\"),
            lambda: engine.write("SELECT x FROM a ORDER BY y", tmp_path / "x.tsv"),
            lambda: engine.write("SELECT x FROM a ORDER BY x", tmp_path / "absent" / "x.tsv"),
        ):
            with pytest.raises(OpenBioLinkError) as raised:
                act()
            assert "\n" not in str(raised.value)
        assert engine.rows("SELECT x FROM a") == [("x",)]
    assert list(tmp_path.iterdir()) == []


def test_parts_that_lie_elsewhere_are_missed(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("openbiolink.engines.spark._joined_text", lambda *_: 0)
    with open_engine("spark") as engine, pytest.raises(OpenBioLinkError, match="0 of 1 rows"):
        engine.write("SELECT 1 AS x ORDER BY x", tmp_path / "x.tsv")


@pytest.mark.parametrize("package", ["pyspark", "pyarrow"])
def test_what_is_not_installed_is_named(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(OpenBioLinkError, match=rf"{package}.*pip install 'openbiolink\[spark\]'"), open_engine("spark"):
        pytest.fail("there is no such package")


ALONE = """
import signal
from openbiolink.engines import open_engine
before = signal.getsignal(signal.SIGINT)
try:
    with open_engine("spark") as engine:
        engine.put("a", {"x": ["p", "q"]})
        engine.write("SELECT x FROM a ORDER BY x", engine.folder / "x.tsv")
        print("ready", flush=True)
        million = "(SELECT id FROM range(0, 1000000))"
        engine.make("b", f"SELECT count(*) AS n FROM {million} AS a JOIN {million} AS b ON a.id <> b.id")
except KeyboardInterrupt:
    assert signal.getsignal(signal.SIGINT) is before
    print("ended")
"""


@pytest.fixture
def alone(tmp_path):
    """Starts a process in a session of its own; afterwards it must have left nothing where it worked."""
    for name in ("work", "temporary"):
        (tmp_path / name).mkdir()
    (tmp_path / "alone.py").write_text(ALONE)

    started = []

    def start(**environment):
        process = subprocess.Popen(
            [sys.executable, "-W", "error", str(tmp_path / "alone.py")],
            cwd=tmp_path / "work",
            env={**os.environ, "TMPDIR": str(tmp_path / "temporary"), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:  # the test has failed; nothing may run on
            process.kill()
            process.communicate()
    assert [*(tmp_path / "work").iterdir(), *(tmp_path / "temporary").iterdir()] == []


def test_a_session_of_its_own_is_quiet_and_an_interruption_leaves_nothing(spark, alone):
    process = alone()
    assert process.stdout.readline() == "ready\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60) == ("ended\n", "")
    assert process.returncode == 0


def test_absent_java_is_named(spark, tmp_path, alone):
    process = alone(JAVA_HOME=str(tmp_path))
    _, said = process.communicate()
    assert process.returncode == 1
    assert re.search(r"^\S+OpenBioLinkError: Spark did not start \(.*\); have Java 17 or later", said, re.MULTILINE)
