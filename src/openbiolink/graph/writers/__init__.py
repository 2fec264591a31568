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
from openbiolink.graph.writers.rows import EDGES, NODES, PART_OF_FILE_NAME, refuse_file_name
from openbiolink.graph.writers.tsv import refuse_separator, write_tables

if TYPE_CHECKING:
    from collections.abc import Iterable

    from openbiolink.files import Note
    from openbiolink.sources.declarations import Catalogue, Rule


TAB = "\t"
SEPARATOR = "[ !#-~]"  # printable ASCII without the quotation mark
EXAMPLE = "PREFIX:id"  # the form of an identifier
MULTI_FILE = frozenset({"TSV", "RDF-N3"})


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """How a graph is written.

    Attributes:
        formats: names of formats, keys of `WRITERS`; several are written side by side from one build.
        multi_file: whether `TSV` and `RDF-N3` write a file for each node type and relation, not one for all.
        separator: what stands between the cells of `TSV`: a tab, or one printable character of ASCII other than `"`.
        scores: False leaves the scores empty, in every format.

    Raises:
        InputError: there is no such format or none at all, the separator is none, or an option is set that none of the
            formats heeds.
    """

    formats: tuple[str, ...] = ("TSV",)
    multi_file: bool = False
    separator: str = "\t"
    scores: bool = True

    def __post_init__(self) -> None:
        """Refuse what would fail, or change nothing, once the graph is built."""
        strange = [name for name in self.formats if name not in WRITERS]
        if strange or not self.formats:
            raise InputError(f"formats are {self.formats!r}; expected one or more of {', '.join(WRITERS)}")
        named = ", ".join(self.formats)
        if self.separator != TAB and "TSV" not in self.formats:
            raise InputError(
                f"--output-sep {self.separator!r}: only TSV has a separator, and the formats are {named}; "
                "add --output-format TSV, or leave the separator out"
            )
        if not (self.separator == TAB or re.fullmatch(SEPARATOR, self.separator)):
            raise InputError(
                f"--output-sep {self.separator!r}: expected one character, a tab or a printable one of ASCII except "
                "the quotation mark; choose another"
            )
        if self.multi_file and not MULTI_FILE.intersection(self.formats):
            raise InputError(
                f"--output-multi-file: only {' and '.join(sorted(MULTI_FILE))} can have a file for each relation, and "
                f"the formats are {named}; add --output-format TSV, or leave --output-multi-file out"
            )


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


def refuse_names(options: OutputOptions, rules: Iterable[Rule]) -> None:
    """Stop before anything is built if the formats cannot hold what some rules are known to write.

    Raises:
        InputError: a relation or node type cannot stand in the name of a file, or a cell holds the separator.
    """
    rules = list(rules)
    names = {"relation": {rule.relation for rule in rules}}
    names["type"] = {end.type for rule in rules for end in (rule.head, rule.tail)}
    if options.multi_file:
        for column, values in names.items():
            for value in sorted(values):
                refuse_file_name(column, value)
    if "TSV" in options.formats:
        labels = {rule.label for rule in rules}
        refuse_separator(options.separator, {*names["relation"], *names["type"], *labels, EXAMPLE})


def owned_file(name: str) -> bool:
    """Whether a writer, with any options and for any graph, makes a file of this name.

    >>> owned_file("TN_edges_GENE_DIS.csv"), owned_file("edges_of_mine.csv")
    (True, False)
    """
    return name in FIXED_FILES or re.fullmatch(DIVIDED_FILES, name) is not None
