"""The output formats of `openbiolink generate`: one table, one function for each.

A writer gets the database of a build and an empty folder. It reads the tables `edges`, `nodes`, `tn_nodes`,
`all_nodes`, `names` and `dates`, and answers which files it wrote with how many rows. It streams, so that its
memory does not grow with the graph, and its bytes depend on nothing but the graph and the options.

>>> find_format("rdf-n3")
'RDF-N3'
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from openbiolink.errors import InputError
from openbiolink.graph.writers.bel import write_bel
from openbiolink.graph.writers.graphml import write_graphml
from openbiolink.graph.writers.kgx import write_kgx
from openbiolink.graph.writers.neo4j import write_neo4j
from openbiolink.graph.writers.parquet import write_parquet
from openbiolink.graph.writers.rdf import write_rdf
from openbiolink.graph.writers.rows import EDGES, NODES, PART_OF_FILE_NAME
from openbiolink.graph.writers.tsv import write_tables

if TYPE_CHECKING:
    from openbiolink.files import Note
    from openbiolink.sources.declarations import Catalogue


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """How a graph is written.

    Attributes:
        formats: names of formats, keys of `WRITERS`; several are written side by side from one build.
        multi_file: whether `TSV` and `RDF-N3` write a file for each node type and relation, not one for all.
        separator: what stands between the cells of `TSV`, one ASCII character.
        scores: False leaves the scores empty, in every format.
    """

    formats: tuple[str, ...] = ("TSV",)
    multi_file: bool = False
    separator: str = "\t"
    scores: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterContext:
    """What a writer may know besides the tables.

    Attributes:
        catalogue: the edition that was built.
        options: how the graph is to be written.
        directed: whether symmetric relations stand in the table in both directions.
        note: takes one line on what a reader of the files should know.
    """

    catalogue: Catalogue
    options: OutputOptions
    directed: bool
    note: Note


Writer = Callable[[duckdb.DuckDBPyConnection, Path, WriterContext], dict[str, int]]

WRITERS: dict[str, Writer] = {
    "TSV": write_tables,
    "Parquet": write_parquet,
    "RDF-N3": write_rdf,
    "BEL": write_bel,
    "KGX": write_kgx,
    "Neo4j": write_neo4j,
    "GraphML": write_graphml,
}

# The files that a writer makes of any graph; those of `multi_file` follow a pattern.
FIXED_FILES = frozenset({
    *(f"{stem}.{end}" for stem in (*NODES, *EDGES) for end in ("csv", "parquet", "N3")),
    "positive.bel.gz", "positive.bel.nodelink.json.gz", "negative.bel.gz", "negative.bel.nodelink.json.gz",
    "kgx_nodes.tsv", "kgx_edges.tsv", "neo4j_nodes.csv", "neo4j_edges.csv", "graph.graphml", "TN_graph.graphml",
})  # fmt: skip
DIVIDED_FILES = rf"((TN_|ALL_)?nodes|(TN_)?edges)_{PART_OF_FILE_NAME}\.(csv|N3)"


def find_format(name: str) -> str:
    """The key of `WRITERS` that a name of any letter case means.

    Raises:
        InputError: there is no such format.
    """
    known = {key.casefold(): key for key in WRITERS}
    if name.casefold() not in known:
        raise InputError(f"--output-format {name}: there is no such format; choose among {', '.join(WRITERS)}")
    return known[name.casefold()]


def owned_file(name: str) -> bool:
    """Whether a writer, with any options and for any graph, makes a file of this name.

    >>> owned_file("TN_edges_GENE_DIS.csv"), owned_file("edges_of_mine.csv")
    (True, False)
    """
    return name in FIXED_FILES or re.fullmatch(DIVIDED_FILES, name) is not None
