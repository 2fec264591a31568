"""How long and how much memory each output format takes, and how large its files are.

    python benchmarks/bench_writers.py [--source-map FILE --edition EDITION | --edges 1000000] [--format FORMAT ...]

Builds the graph of the source files once, or makes one up with a name for every node and a date for every third edge.
Each format is written in a process of its own, with the settings of a build, and its time and CPU time (without the
start of Python), the peak memory of the process and the size of its files are printed.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from openbiolink.errors import InputError
from openbiolink.graph.build import build_graph
from openbiolink.graph.plan import GraphOptions, plan_graph
from openbiolink.graph.writers import WRITERS, OutputOptions, WriterContext, find_format
from openbiolink.sources.catalogue import load_catalogue
from openbiolink.sources.local import read_source_map
from openbiolink.tables import open_database, quote

NODE_TABLES = {"nodes": "NOT negative", "tn_nodes": "negative", "all_nodes": "true"}
TABLES = ("edges", "names", "dates", *NODE_TABLES)


def make_graph(connection, edges):
    """A made-up graph: genes, diseases and drugs, of every 20th edge known that it does not hold."""
    connection.execute(f"""
        CREATE TABLE edges AS SELECT DISTINCT ON (head, relation, tail, negative) * FROM (
            SELECT 'NCBIGENE:' || (hash(i) % 20000) AS head,
                CASE WHEN i % 2 = 0 THEN 'GENE_DIS' ELSE 'GENE_DRUG' END AS relation,
                CASE WHEN i % 2 = 0 THEN 'DOID:' || (hash(-i) % 9000)
                    ELSE 'PUBCHEM.COMPOUND:' || (hash(-i) % 90000) END AS tail,
                (hash(i) % 1000)::VARCHAR AS score, 'STITCH' AS source, i % 20 < 2 AS negative,
                'GENE' AS head_type, CASE WHEN i % 2 = 0 THEN 'DIS' ELSE 'DRUG' END AS tail_type,
                CASE WHEN i % 2 = 0 THEN 'GENE_DIS' ELSE 'GENE_DRUG' END AS rule
            FROM range({edges}) AS t(i));
        CREATE TABLE dates AS
        SELECT head, relation, tail, negative, '2020-01-01' AS date FROM edges WHERE hash(tail) % 3 = 0;
        CREATE TABLE names AS SELECT id, 'the name of ' || id AS name, '' AS kind
        FROM (SELECT head AS id FROM edges UNION SELECT tail FROM edges)
    """)
    for name, test in NODE_TABLES.items():
        connection.execute(f"""
            CREATE TABLE {name} AS SELECT head AS id, head_type AS type FROM edges WHERE {test}
            UNION SELECT tail, tail_type FROM edges WHERE {test}
        """)


def prepare(file, catalogue, source_map, edges):
    """Write the tables that a build leaves into a database file; returns the number of edges."""
    with open_database() as (connection, _):
        if source_map is None:
            make_graph(connection, edges)
        else:
            sources, options = read_source_map(source_map)[1], GraphOptions()
            plan = plan_graph(catalogue, sources, options)
            build_graph(connection, catalogue, sources=sources, plan=plan, options=options, note=lambda _: None)
        connection.execute(f"ATTACH {quote(str(file))} AS kept")
        for name in TABLES:
            connection.execute(f"CREATE TABLE kept.{name} AS FROM {name}")
        return connection.execute("SELECT count(*) FROM edges").fetchall()[0][0]


def write_one(name, file, folder, catalogue):
    """Write one format and print its seconds, peak memory in MiB and size in MB."""
    context = WriterContext(catalogue=catalogue, options=OutputOptions(), directed=True, note=print)
    with open_database() as (connection, _):
        connection.execute(f"ATTACH {quote(str(file))} AS kept (READ_ONLY)")
        for table in TABLES:
            connection.execute(f"CREATE VIEW {table} AS FROM kept.{table}")
        start, busy = time.perf_counter(), time.process_time()
        try:
            rows = WRITERS[name](connection, folder, context)
        except InputError as error:
            sys.exit(f"{name:10s} {error}")
        seconds, busy = time.perf_counter() - start, time.process_time() - busy
    status = Path("/proc/self/status").read_text()  # `getrusage` would tell the peak of the parent, were that higher
    peak = int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) / 1024
    size = sum((folder / one).stat().st_size for one in rows) / 1e6
    print(f"{name:10s} {seconds:8.1f} s {busy:8.1f} s of CPU {peak:8,.0f} MiB {size:8,.1f} MB  {len(rows)} files")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source-map", type=Path)
    parser.add_argument("--edition", default="2020")
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--format", action="append", type=find_format)
    parser.add_argument("--database", type=Path, help="write one format from these tables (used by the program itself)")
    options = parser.parse_args()
    catalogue = load_catalogue(options.edition)
    with tempfile.TemporaryDirectory() as name:
        if options.database is not None:
            write_one(options.format[0], options.database, Path(name), catalogue)
            return
        file = Path(name) / "graph.duckdb"
        edges = prepare(file, catalogue, options.source_map, options.edges)
        print(f"{edges:,} edges, DuckDB {duckdb.__version__}")
        for one in options.format or WRITERS:
            command = [sys.executable, __file__, "--edition", options.edition, "--database", file, "--format", one]
            subprocess.run(command, check=False)


if __name__ == "__main__":
    main()
