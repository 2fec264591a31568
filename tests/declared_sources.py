"""Small catalogues of made-up declarations, written as TOML with their source files."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from openbiolink.graph import GraphOptions, generate_graph
from openbiolink.sources.catalogue import parse_catalogue
from openbiolink.sources.declarations import Catalogue
from source_files import WrittenGraph, ontologies, read_graph, write, write_obo, write_tabbed

COLUMNS = ("x", "y", "k", "score", "stated", "label")
GENE = {"type": "GENE", "column": "x", "prefix": "NCBIGENE"}
OTHER_GENE = {"type": "GENE", "column": "y", "prefix": "NCBIGENE"}
DISEASE = {"type": "DIS", "column": "y", "prefix": "DOID"}


def toml(value: Any) -> str:
    """A value as inline TOML."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml(entry) for entry in value) + "]"
    return json.dumps(value)


def table_source(*columns: str, **further: Any) -> dict[str, Any]:
    """The declaration of a table with a header."""
    layout = {"name": "table", "named": {column: column for column in columns or COLUMNS}}
    return {
        "title": "made-up", "gives": ["edge"], "homepage": "https://example.org", "licence": "CC0 1.0",
        "format": "delimited", "files": ["*"], "layout": [layout],
    } | further  # fmt: skip


ONTOLOGY = {key: value for key, value in table_source(format="obo").items() if key != "layout"}


def rule(source: str = "left.rows", relation: str = "GENE_DIS", **further: Any) -> dict[str, Any]:
    """A rule from x to y."""
    tail = DISEASE if relation == "GENE_DIS" else OTHER_GENE
    return {"relation": relation, "source": source, "label": "L", "head": GENE, "tail": tail} | further


def declare(path: Path, declared: Mapping[str, Mapping[str, Any]]) -> Catalogue:
    """The catalogue of some declarations, read from a TOML file."""
    lines = []
    for kind, entries in declared.items():
        lines.append(f"[{kind}]")
        lines += [f"{json.dumps(name)} = {toml(entry)}" for name, entry in entries.items()]
    return parse_catalogue("made-up", [write(path, lines)])


def row(x: str = "1", y: str = "1", **further: str) -> dict[str, str]:
    """A row of a table, other cells empty."""
    return dict.fromkeys(COLUMNS, "") | {"x": x, "y": y} | further


def write_rows(folder: Path, rows: Mapping[str, Iterable[Mapping[str, str]]]) -> dict[str, Path]:
    """Write the rows of each source; source id → file."""
    return {
        name: write_tabbed(folder / name, [COLUMNS, *([one[column] for column in COLUMNS] for one in some)])
        for name, some in rows.items()
    }


def build_made_up(folder: Path, declared: Mapping[str, Any], rows: Mapping[str, Any], **options: Any) -> WrittenGraph:
    """Build the graph of some declarations and rows; what generate_graph takes besides options is told apart."""
    further = {key: options.pop(key) for key in ("origins", "added") if key in options}
    sources = write_rows(folder / "sources", rows)
    catalogue = declare(folder / "declared.toml", declared)
    generate_graph(catalogue, sources, folder / "graph", options=GraphOptions(**options), **further)
    return read_graph(folder / "graph")


# ------------------------------------------------------------------------------------------------ any declarations

SOURCES = ("left.rows", "right.rows", "third.rows")
keys = st.sampled_from(["p", "p", "q", "q", "r", "p|q", ""])
seldom = st.integers(0, 3).map(lambda number: number == 0)
cells = {
    "x": st.sampled_from(["1", "1", "2", "2", "3", "NCBIGENE:2", "1|2", "3|x", ""]),
    "y": st.sampled_from(["1", "1", "2", "9900000", "9900000", "9900001", "doid:9900002", "9900090", "x"]),
    "k": keys,
    "score": st.sampled_from(["", "1", "400", "401", "4e2", "900", "gold", "silver", "NA"]),
    "stated": st.sampled_from(
        ["2012-05-03", "2011", "2012-5", "2013-13-01", "2012-02-30;2012-02-28", "", "x 1999-1-5", "0000-01-01",
         "2012-05-02,2010-01-01", "12-05", "2012-05"]
    ),
    "label": st.sampled_from(["", "alpha", "beta\x0bgamma", "Alpha", " two  words ", "\u2028", '5" x']),
}  # fmt: skip


@st.composite
def conditions(draw: st.DrawFn, *, deep: int = 2) -> dict[str, Any]:
    """Any condition, also one that looks into another table, whose conditions may do so again."""
    kinds = [
        {"column": "k", "one_of": draw(st.lists(keys, min_size=1, max_size=2))},
        {"column": "k", "none_of": draw(st.lists(keys, min_size=1, max_size=2))},
        {"column": "k", "matches": "p|q"},
        {"column": "k", "token": "q"},
        {"column": "score", "above": 400},
    ]
    if deep and draw(st.booleans()):
        columns = draw(st.sampled_from([{"k": "k"}, {"x": "x", "k": "k"}, {"x": "y"}, {"y": "y", "score": "score"}]))
        listed = {"source": draw(st.sampled_from(SOURCES)), "columns": columns}
        where = draw(st.lists(conditions(deep=deep - 1), max_size=1))
        return {"listed_in": listed | ({"where": where} if where else {})}
    return draw(st.sampled_from(kinds))


@st.composite
def ends(draw: st.DrawFn, kind: str, column: str) -> dict[str, Any]:
    """How a cell is read as a gene or a disease."""
    end = {"type": kind, "column": column, "prefix": "NCBIGENE" if kind == "GENE" else "DOID"}
    if draw(st.booleans()):
        end["split"] = "|"
    if kind == "GENE" and draw(seldom):
        end |= {"prefix": "HGNC", "via": ["to_gene"]}
    if kind == "DIS" and draw(st.booleans()):
        end["ontology"] = "do.ontology"
    return end


def with_reasons(tests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [test | {"reason": f"reason_{number}"} for number, test in enumerate(tests)]


@st.composite
def rules(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """Any rule of two relations, one of them symmetric."""
    relation = draw(st.sampled_from(["GENE_DIS", "GENE_GENE"]))
    found = rule(draw(st.sampled_from(SOURCES)), relation, label=f"label of {name}")
    found |= {"head": draw(ends("GENE", "x")), "tail": draw(ends("DIS" if relation == "GENE_DIS" else "GENE", "y"))}
    found["negative"] = draw(st.booleans())
    found["where"] = with_reasons(draw(st.lists(conditions(), max_size=1)))
    if draw(seldom):
        found["negation"] = draw(conditions())
    if score := draw(
        st.sampled_from([None, {"column": "score"}, {"column": "score", "best_first": ["gold", "silver"]}])
    ):
        found["score"] = score
        found["quality"] = {"high": draw(conditions(deep=1))}
    pattern = draw(
        st.sampled_from([None, {}, r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?", r"(\d{4})", r"(\d{2,4})-(\d\d)"])
    )
    if pattern is not None:
        found["date"] = {"column": "stated"} | ({"pattern": pattern} if pattern else {})
    return found


@st.composite
def names(draw: st.DrawFn) -> dict[str, Any]:
    """Any place where names stand."""
    kind = draw(st.sampled_from(["GENE", "DIS"]))
    found = {
        "source": draw(st.sampled_from(SOURCES)),
        "node": draw(ends(kind, "x" if kind == "GENE" else "y")),
        "text": "label",
    }
    return found | {"where": draw(st.lists(conditions(deep=1), max_size=1))}


@st.composite
def declarations(draw: st.DrawFn) -> dict[str, Any]:
    """A catalogue: three tables, an ontology, a map, up to four rules and three places of names."""
    sources = {name: table_source() for name in SOURCES} | {"do.ontology": ONTOLOGY}
    key, value = {"column": "x", "prefix": "HGNC", "split": "|"}, {"column": "y", "prefix": "NCBIGENE"}
    mapping = {"source": draw(st.sampled_from(SOURCES)), "key": key, "value": value}
    mapping["where"] = draw(st.lists(conditions(deep=1), max_size=1))
    return {
        "source": sources,
        "map": {"to_gene": mapping},
        "rule": {f"R{number}": draw(rules(f"R{number}")) for number in range(draw(st.integers(1, 4)))},
        "name": {f"n{number}": draw(names()) for number in range(draw(st.integers(0, 3)))},
    }


rows_of_sources = st.fixed_dictionaries(
    {name: st.lists(st.fixed_dictionaries(cells), min_size=5, max_size=25) for name in SOURCES}
)
diseases = ontologies("DOID")


def write_diseases(folder: Path, terms: Mapping[str, Iterable[str]]) -> Path:
    """Write the ontology of diseases."""
    return write_obo(folder / "do.obo", terms)
