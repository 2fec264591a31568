"""The report: the numbers of the page are those of the JSON, and the page is sound, safe and self-contained."""

import copy
import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openbiolink.errors import InputError
from openbiolink.report import render_report, write_report

VOID = {"meta", "link", "br", "hr", "img", "input", "col", "wbr", "source", "area", "base", "embed", "track"}
TIES, SIDES = ("optimistic", "realistic", "pessimistic"), ("head", "tail", "both")
METRICS = ("mrr", "hits@1", "hits@3", "hits@10", "mean_rank")
HOSTILE = "<script>alert('1')</script>\"&amp;"


def metrics(base: float) -> dict[str, Any]:
    """Made-up metrics, all different."""
    found: dict[str, Any] = {}
    for place, (ties, side) in enumerate((ties, side) for ties in TIES for side in SIDES):
        values = [base + place / 1000 + number / 100 for number in range(4)]
        found.setdefault(ties, {})[side] = dict(zip(METRICS, [*values, 1234.5 + place], strict=True))
    return found


def make_graph() -> dict[str, Any]:
    ledger = [
        ("GENE_GO", "go.annotations", "read", 2_600, 0),
        ("GENE_GO", "go.annotations", "kept", 2_400, 2_500),
        ("GENE_GO", "go.annotations", "duplicate", 150, 0),
        ("GENE_GO", "go.annotations", "filtered:taxon", 50, 0),
        ("GENE_GO", "go.annotations", "negated", 0, 0),
        ("IS_A.GO", "go.ontology", "read", 321, 0),
        ("IS_A.GO", "go.ontology", "kept", 321, 321),
    ]
    inputs = {
        "go.annotations": ("goa.gaf", "ab" * 32, 1_234_567, "gaf 2.1", "CC BY 4.0"),
        "go.ontology": ("go.obo", "cd" * 32, 890, "obo 1.2", "CC BY 4.0"),
    }
    return {
        "format": "openbiolink-graph/1",
        "version": "9.9.9",
        "edition": "2020",
        "options": {"quality": "all", "directed": True, "relations": [], "excluded_sources": ["sider"]},
        "directed": True,
        "inputs": {
            name: dict(zip(("file", "sha256", "bytes", "layout", "licence"), row, strict=True))
            for name, row in inputs.items()
        },
        "outputs": {},
        "missing_sources": {"uberon.ontology": ["IS_A", "PART_OF"]},
        "counts": {
            "nodes": 1_700,
            "edges": 2_821,
            "tn_nodes": 12,
            "tn_edges": 7,
            "conflicts": 3,
            "node_types": {"GENE": 1_500, "GO": 200},
            "relations": {"IS_A": {"edges": 321, "tn_edges": 0}, "GENE_GO": {"edges": 2_500, "tn_edges": 7}},
        },
        "ledger": [dict(zip(("rule", "source", "reason", "rows", "edges"), row, strict=True)) for row in ledger],
        "notes": ["a note of the graph"],
    }


def make_split() -> dict[str, Any]:
    columns = ("input", "train", "validation", "test", "removed")
    shares = dict.fromkeys(("train", "validation", "test"), 0.125)
    numbers = {"IS_A": (321, 321, 0, 0, 0), "GENE_GO": (2_500, 2_200, 120, 130, 50)}
    relations = {name: dict(zip(columns, row, strict=True)) for name, row in numbers.items()}
    return {
        "format": "openbiolink-split/1",
        "version": "9.9.9",
        "scheme": "rand",
        "directed": True,
        "options": {"seed": 42, "test_fraction": 0.05, "negatives_test": False},
        "counts": {
            "input": {
                "positive": 2_821,
                "true_negative": 7,
                "positive_duplicates": 1,
                "true_negative_duplicates": 0,
            },
            "parts": {
                "train": {"positive": 2_521, "negative": 2_520},
                "validation": {"positive": 120, "negative": 119},
                "test": {"positive": 130, "negative": 0},
            },
            "removed": {"positive": {"unseen_node": 50}, "negative": {"conflict": 3, "unseen_node": 2}},
        },
        "relations": {name: row | {"share": shares, "shortfall": 4} for name, row in relations.items()},
        "notes": ["a note of the split"],
    }


def make_result(model: str, base: float) -> dict[str, Any]:
    return {
        "format": "openbiolink-result/2",
        "version": "9.9.9",
        "model": model,
        "ties": "realistic",
        "filter_parts": ["train", "validation", "test"],
        "test_triples": 130,
        "left_out": 2,
        "metrics": metrics(base),
        "by_relation": {"GENE_GO": metrics(base + 0.2)},
        "notes": [],
    }


@pytest.fixture
def documents() -> dict[str, Any]:
    results = [make_result("degree", 0.1), make_result("frequency", 0.3)]
    return {"graph": make_graph(), "split": make_split(), "results": results}


# ------------------------------------------------------------------------------------ reading the page


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    children: "list[Element | str]" = field(default_factory=list)

    def all(self, tag: str) -> "list[Element]":
        found = [self] if self.tag == tag else []
        return found + [hit for child in self.children if isinstance(child, Element) for hit in child.all(tag)]

    def text(self) -> str:
        parts = [child if isinstance(child, str) else child.text() for child in self.children]
        return re.sub(r"\s+", " ", "".join(parts)).strip()

    def values(self) -> list[float]:
        return [float(element.attributes["value"]) for element in self.all("data")]


class Reader(HTMLParser):
    """Builds the tree of a page and fails where a tag is not closed, or closed without being open."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        raise AssertionError(f"<{tag}/> is not HTML")

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> ends <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read_page(text: str) -> Element:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert [element.tag for element in reader.open] == [""]
    return reader.root


def rows_of(page: Element, table: str) -> list[list[Element]]:
    """The cells of the body of a table, by its id."""
    found = next(element for element in page.all("table") if element.attributes["id"] == table)
    rows = [row for body in found.all("tbody") for row in body.all("tr")]
    return [[cell for cell in row.children if isinstance(cell, Element)] for row in rows]


def values_of(page: Element, table: str) -> list[tuple[str, list[float]]]:
    """First cell and all numbers of every row of a table."""
    return [(row[0].text(), [value for cell in row for value in cell.values()]) for row in rows_of(page, table)]


# ------------------------------------------------------------------------------------------- the numbers


def test_the_json_holds_the_documents_and_the_page_their_numbers(tmp_path: Path, documents: dict[str, Any]) -> None:
    html_path, json_path = write_report(tmp_path / "new", **documents)
    assert (html_path.name, json_path.name) == ("report.html", "report.json")
    numbers = json.loads(json_path.read_text(encoding="utf-8"))
    assert {name: numbers[name] for name in documents} == documents
    assert numbers["format"] == "openbiolink-report/1"
    assert html_path.read_text(encoding="utf-8") == render_report(**documents)
    assert sorted(path.name for path in html_path.parent.iterdir()) == ["report.html", "report.json"]


def test_the_tables_of_the_graph(documents: dict[str, Any]) -> None:
    page = read_page(render_report(**documents))
    assert values_of(page, "table-nodes") == [("GENE", [1_500]), ("GO", [200])]
    assert values_of(page, "table-relations") == [("GENE_GO", [2_500, 7]), ("IS_A", [321, 0])]
    assert values_of(page, "table-ledger") == [("GENE_GO", [2_600, 2_400, 2_500, 150, 50]), ("IS_A.GO", [321] * 3)]
    dropped = rows_of(page, "table-ledger")[0][-1]
    assert [item.text() for item in dropped.all("li")] == ["duplicate 150", "filtered:taxon 50"]
    sources = rows_of(page, "table-sources")
    assert [cell.text() for cell in sources[0]] == [
        "go.annotations", "goa.gaf", "gaf 2.1", "CC BY 4.0", "1,234,567", "ab" * 6,
    ]  # fmt: skip
    assert [cell.text() for cell in rows_of(page, "table-missing")[0]] == ["uberon.ontology", "IS_A, PART_OF"]


def test_the_tables_of_the_split(documents: dict[str, Any]) -> None:
    page = read_page(render_report(**documents))
    parts = [("train", [2_521, 2_520]), ("validation", [120, 119]), ("test", [130, 0])]
    assert values_of(page, "table-parts") == parts
    assert values_of(page, "table-removed") == [("unseen_node", [50, 2]), ("conflict", [0, 3])]
    assert values_of(page, "table-shares") == [
        ("GENE_GO", [2_500, 2_200, 120, 130, 50, 0.125, 0.125, 4]),
        ("IS_A", [321, 321, 0, 0, 0, 0.125, 0.125, 4]),
    ]


def test_the_tables_of_the_evaluation_hold_every_tie_rule_and_side(documents: dict[str, Any]) -> None:
    page = read_page(render_report(**documents))
    rows = {
        tuple(cell.text() for cell in row[:3]): [value for cell in row for value in cell.values()]
        for row in rows_of(page, "table-metrics")
    }
    assert rows == {
        (result["model"], ties, side): [result["metrics"][ties][side][name] for name in METRICS]
        for result in documents["results"]
        for ties in TIES
        for side in SIDES
    }
    assert values_of(page, "table-tested") == [("degree", [130, 2]), ("frequency", [130, 2])]
    first, second = (result["by_relation"]["GENE_GO"] for result in documents["results"])
    wanted = [130, first["realistic"]["both"]["mrr"], second["realistic"]["both"]["mrr"]]
    assert values_of(page, "table-measured") == [("GENE_GO", wanted)]


def test_numbers_are_shown_as_their_value_with_separators(documents: dict[str, Any]) -> None:
    page = read_page(render_report(**documents))
    shown = {(element.attributes["value"], element.text()) for element in page.all("data")}
    assert {("1234567", "1,234,567"), ("0.125", "12.5%"), ("1238.5", "1,238.5"), ("0.1", "0.1000")} <= shown
    for value, text in shown:
        plain = text.replace(",", "")
        number = float(plain.removesuffix("%")) / (100 if plain.endswith("%") else 1)
        assert number == pytest.approx(float(value), abs=5.1e-4 if plain.endswith("%") else 0.051)


def test_bars_are_as_long_as_their_numbers(documents: dict[str, Any]) -> None:
    page = read_page(render_report(**documents))
    plots = {plot.all("title")[0].text(): plot for plot in page.all("svg")}
    bars = [float(bar.attributes["width"]) for bar in plots["Edges by relation"].all("rect")]
    assert bars == pytest.approx([310, 310 * 7 / 2_500, 310 * 321 / 2_500], abs=0.06)
    shares = [float(bar.attributes["width"]) for bar in plots["Shares of the parts by relation"].all("rect")]
    assert shares[:4] == pytest.approx([190 * n / 2_500 for n in (2_200, 120, 130, 50)], abs=0.06)
    columns = [float(bar.attributes["height"]) for bar in plots["MRR and hits@k by model"].all("rect")]
    values = [result["metrics"]["realistic"]["both"][name] for name in METRICS[:4] for result in documents["results"]]
    assert columns == pytest.approx([value / 0.4 * 268 for value in values], abs=0.06)


def test_options_are_words_and_notes_are_listed(documents: dict[str, Any]) -> None:
    page = read_page(render_report(**documents, remark="all of it is made up"))
    words = {
        name.text(): value.text()
        for options in page.all("dl")
        for name, value in zip(options.all("dt"), options.all("dd"), strict=True)
        if "options" in options.attributes["class"]
    }
    assert words["excluded sources"] == "sider"
    assert words["relations"] == "not set"
    assert words["negatives test"] == "no"
    assert words["seed"] == "42"
    notes = [
        item.text() for group in page.all("ul") if group.attributes["class"] == "notes" for item in group.all("li")
    ]
    assert notes == ["a note of the graph", "a note of the split"]
    assert "all of it is made up" in page.text()


# --------------------------------------------------------------------------------------------- the page


def check_structure(text: str) -> Element:
    """The tree of a page that a browser and a screen reader can take without guessing."""
    assert text.startswith("<!DOCTYPE html>\n<html lang=")
    page = read_page(text)
    tags = set(re.findall(r"<([a-z][a-z0-9]*)", text))
    assert not {"script", "iframe", "object", "img", "link", "base", "form"} & tags
    ids = re.findall(r'\sid="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    for reference in re.findall(r'aria-labelledby="([^"]*)"', text) + re.findall(r'href="#([^"]*)"', text):
        assert set(reference.split()) <= set(ids)
    levels = [int(level) for level in re.findall(r"<h([1-6])[ >]", text)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))
    assert page.all("title")[0].text()
    for table in page.all("table"):
        assert len(table.all("caption")) == 1
        assert all(cell.attributes["scope"] in {"col", "row"} for cell in table.all("th"))
        width = len(table.all("tr")[0].all("th"))
        assert {len(row.all("th") + row.all("td")) for row in table.all("tr")} == {width}
    for plot in page.all("svg"):
        assert plot.attributes["role"] == "img"
        assert [child.tag for child in plot.children if isinstance(child, Element)][:2] == ["title", "desc"]
    return page


def test_the_page_is_sound(documents: dict[str, Any]) -> None:
    page = check_structure(render_report(**documents, remark="made up"))
    assert len(page.all("svg")) == 4
    assert [heading.text() for heading in page.all("h2")] == [
        "What was run",
        "Graph",
        "Rows kept and dropped",
        "Sources and licences",
        "Split",
        "Evaluation",
        "Notes",
    ]


def test_the_page_needs_nothing_from_elsewhere(documents: dict[str, Any]) -> None:
    text = render_report(**documents)
    targets = re.findall(r"(?:href|src|action|data|srcset|poster)=\"([^\"]*)\"", text)
    assert {target for target in targets if not target.startswith("#")} == {"report.json"}
    assert "://" not in text
    assert not re.search(r"url\(|@import", text)


def test_the_page_suits_dark_mode_print_and_keyboards(documents: dict[str, Any]) -> None:
    text = render_report(**documents)
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    page = read_page(text)
    regions = [element for element in page.all("div") if element.attributes.get("role") == "region"]
    assert len(regions) == len(page.all("table"))
    assert all(region.attributes["tabindex"] == "0" for region in regions)


def with_hostile_names(value: Any) -> Any:
    """The document with every text (but its format) and every free name made hostile."""
    fixed = {"format", "sha256"}
    free = {"relations", "node_types", "inputs", "missing_sources", "by_relation", "positive", "negative", "options"}
    if isinstance(value, dict):
        return {
            key: item
            if key in fixed
            else {HOSTILE + name: with_hostile_names(entry) for name, entry in item.items()}
            if key in free and isinstance(item, dict)
            else with_hostile_names(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [with_hostile_names(item) for item in value]
    return HOSTILE + value if isinstance(value, str) else value


def test_hostile_names_are_shown_as_text(documents: dict[str, Any]) -> None:
    hostile = with_hostile_names(documents)
    for row, original in zip(hostile["graph"]["ledger"], documents["graph"]["ledger"], strict=True):
        row["reason"] = original["reason"] if original["reason"] in {"read", "kept"} else row["reason"]
    page = check_structure(render_report(**hostile, remark=HOSTILE))
    text = page.text()
    for place in ("relations", "node_types"):
        assert all(name in text for name in hostile["graph"]["counts"][place])
    assert all(result["model"] in text for result in hostile["results"])
    assert hostile["graph"]["notes"][0] in text
    assert values_of(page, "table-nodes") == [(f"{HOSTILE}GENE", [1_500]), (f"{HOSTILE}GO", [200])]


# ------------------------------------------------------------------------------------------ odd documents


def test_same_documents_same_bytes(tmp_path: Path, documents: dict[str, Any]) -> None:
    first = [path.read_bytes() for path in write_report(tmp_path, **documents)]
    second = [path.read_bytes() for path in write_report(tmp_path, **copy.deepcopy(documents))]
    assert first == second


def test_a_page_without_models_or_edges_is_sound(documents: dict[str, Any]) -> None:
    graph, split = documents["graph"], documents["split"]
    graph |= {"notes": [], "ledger": [], "inputs": {}, "missing_sources": {}}
    graph["counts"] |= {"nodes": 0, "edges": 0, "node_types": {}, "relations": {}}
    split |= {"notes": [], "relations": {}}
    split["counts"]["removed"] = {"positive": {}, "negative": {}}
    page = check_structure(render_report(graph=graph, split=split, results=[]))
    assert "No model was evaluated." in page.text()
    assert "There are none." in page.text()
    assert values_of(page, "table-removed") == [("none was removed", [])]


def test_a_relation_that_only_one_model_measured_is_shown(documents: dict[str, Any]) -> None:
    documents["results"][0]["by_relation"] = {}
    page = check_structure(render_report(**documents))
    assert [cell.text() for cell in rows_of(page, "table-measured")[0]][2:3] == ["none"]


@pytest.mark.parametrize("kind", ["graph", "split", "result"])
def test_a_document_of_another_format_is_refused(tmp_path: Path, documents: dict[str, Any], kind: str) -> None:
    document = documents["results"][1] if kind == "result" else documents[kind]
    document["format"] = "openbiolink-other/7"
    with pytest.raises(InputError, match=rf"^the {kind} document .*openbiolink-other/7.*openbiolink-{kind}/[12]"):
        write_report(tmp_path, **documents)
    assert list(tmp_path.iterdir()) == []


def test_a_document_that_lacks_a_number_is_refused(tmp_path: Path, documents: dict[str, Any]) -> None:
    del documents["graph"]["counts"]["tn_nodes"]
    with pytest.raises(InputError, match="tn_nodes"):
        write_report(tmp_path, **documents)
    del documents["split"]["counts"]["removed"]
    with pytest.raises(InputError, match="removed"):
        write_report(tmp_path, **documents)
    assert list(tmp_path.iterdir()) == []


def test_a_number_that_json_cannot_hold_is_refused(tmp_path: Path, documents: dict[str, Any]) -> None:
    documents["results"][0]["metrics"]["realistic"]["both"]["mrr"] = float("nan")
    with pytest.raises(InputError, match="JSON"):
        write_report(tmp_path, **documents)
    assert list(tmp_path.iterdir()) == []


counts = st.integers(min_value=0, max_value=10**12)


@settings(max_examples=25, deadline=None)
@given(rows=st.dictionaries(st.text(min_size=1, max_size=40), st.tuples(counts, counts), max_size=6))
def test_any_counts_of_any_relations_are_those_of_the_table(rows: dict[str, tuple[int, int]]) -> None:
    graph = make_graph()
    graph["counts"]["relations"] = {name: {"edges": a, "tn_edges": b} for name, (a, b) in rows.items()}
    page = read_page(render_report(graph=graph, split=make_split(), results=[]))
    ordered = sorted(rows, key=lambda name: (-rows[name][0], name))
    assert [numbers for _, numbers in values_of(page, "table-relations")] == [list(rows[name]) for name in ordered]
    plot = next(plot for plot in page.all("svg") if plot.all("title")[0].text() == "Edges by relation")
    assert len(plot.all("rect")) == sum(bool(number) for row in rows.values() for number in row)
    assert all(0 <= float(bar.attributes["width"]) <= 310 for bar in plot.all("rect"))
