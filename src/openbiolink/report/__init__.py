"""What one run did, as a page to read and the same numbers as JSON.

`write_report` takes the three documents that the stages before it write (the manifest of the graph, the
manifest of the split, one result per model) and computes nothing that they do not hold, apart from sums
and shares of their counts. The page needs no network, no script and no other file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup

from openbiolink.errors import InputError
from openbiolink.files import write_json, write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    Document = Mapping[str, Any]

FORMAT = "openbiolink-report/1"
EXPECTED = {"graph": "openbiolink-graph/1", "split": "openbiolink-split/1", "result": "openbiolink-result/2"}
HTML_NAME, JSON_NAME = "report.html", "report.json"
READ, KEPT = "read", "kept"
SHOWN_METRICS = {"mrr": "MRR", "hits@1": "hits@1", "hits@3": "hits@3", "hits@10": "hits@10"}
SHOWN_TIES, SHOWN_SIDE = "realistic", "both"
PARTS = ("train", "validation", "test")
NOT_SET = "not set"


def write_report(
    folder: Path,
    *,
    graph: Document,
    split: Document,
    results: Sequence[Document],
    remark: str = "",
) -> tuple[Path, Path]:
    """Write `report.html` and `report.json` into `folder`; each is there whole or as it was before.

    Args:
        folder: made where it is absent.
        graph: the manifest of the graph, format `openbiolink-graph/1`.
        split: the manifest of the split, format `openbiolink-split/1`.
        results: one document per model, format `openbiolink-result/2`; may be empty.
        remark: one sentence to show below the title, such as where the data come from.

    Returns:
        The paths of the page and of the JSON file.

    Raises:
        InputError: a document has another format, lacks a number that the page shows, or holds NaN.
    """
    page = render_report(graph=graph, split=split, results=results, remark=remark)
    numbers = {"format": FORMAT, "remark": remark, "graph": graph, "split": split, "results": list(results)}
    html_path, json_path = folder / HTML_NAME, folder / JSON_NAME
    try:
        write_json(json_path, numbers)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"the report cannot be written as JSON ({error}); a metric is no number") from error
    write_text(html_path, page)
    return html_path, json_path


def render_report(*, graph: Document, split: Document, results: Sequence[Document], remark: str = "") -> str:
    """The page as text; arguments and errors as `write_report`."""
    _check_format(graph, "graph")
    _check_format(split, "split")
    for result in results:
        _check_format(result, "result")
    try:
        view = _view(graph, split, results)
        return page_environment().get_template("page.html.jinja").render(remark=remark, **view)
    except (jinja2.UndefinedError, KeyError) as error:
        raise InputError(
            f"the report cannot be made: a document lacks an entry ({error}); write it again with this version"
        ) from error


def _view(graph: Document, split: Document, results: Sequence[Document]) -> dict[str, Any]:
    """What the template names: the documents, and their counts in the order in which they are shown."""
    relations = _by_size(graph["counts"]["relations"], "edges")
    shares = _by_size(split["relations"], "input")
    shown = [result["metrics"][SHOWN_TIES][SHOWN_SIDE] for result in results]
    return {
        "graph": graph,
        "split": split,
        "results": results,
        "kinds": _by_count(graph["counts"]["node_types"]),
        "relations": relations,
        "relation_bars": [(name, [row["edges"], row["tn_edges"]]) for name, row in relations],
        "rules": _rules(graph["ledger"]),
        "removals": _removals(split["counts"]["removed"]),
        "shares": shares,
        "share_bars": [(name, [row[part] for part in (*PARTS, "removed")]) for name, row in shares],
        "metric_groups": [(title, [metrics[name] for metrics in shown]) for name, title in SHOWN_METRICS.items()],
        "measured": sorted({name for result in results for name in result["by_relation"]}),
        "parts": PARTS,
    }


def _check_format(document: Document, kind: str) -> None:
    found = document.get("format")
    if found != EXPECTED[kind]:
        raise InputError(
            f"the {kind} document of a report has the format {found!r}, expected {EXPECTED[kind]!r}; "
            "write it again with this version"
        )


def _rules(ledger: Iterable[Document]) -> list[dict[str, Any]]:
    """One entry per rule and source, in the order of the ledger: rows read and kept, edges, drops by reason."""
    rules: dict[tuple[str, str], dict[str, Any]] = {}
    for row in ledger:
        key = (row["rule"], row["source"])
        empty = {"rule": key[0], "source": key[1], READ: 0, KEPT: 0, "edges": 0, "dropped": []}
        rule = rules.setdefault(key, empty)
        if row["reason"] in (READ, KEPT):
            rule[row["reason"]] += row["rows"]
        elif row["rows"]:
            rule["dropped"].append((row["reason"], row["rows"]))
        rule["edges"] += row["edges"] if row["reason"] == KEPT else 0
    return list(rules.values())


def _by_size(relations: Document, count: str) -> list[tuple[str, Document]]:
    """The relations, those with the highest count first, equal ones by name."""
    return sorted(relations.items(), key=lambda item: (-item[1][count], item[0]))


def _by_count(counts: Mapping[str, int]) -> list[tuple[str, list[int]]]:
    """Names and their counts, the highest first, as rows of a plot of one series."""
    return [(name, [number]) for name, number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def _removals(removed: Document) -> list[tuple[str, int, int]]:
    """Reason, positive and negative edges removed for it; the most frequent first."""
    positive, negative = removed["positive"], removed["negative"]
    rows = [(reason, positive.get(reason, 0), negative.get(reason, 0)) for reason in {*positive, *negative}]
    return sorted(rows, key=lambda row: (-row[1] - row[2], row[0]))


def page_environment() -> jinja2.Environment:
    """What makes pages of the templates of this package: names are escaped, a name that is absent is an error."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("openbiolink.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "whole": _whole,
        "decimal": _decimal,
        "percent": _percent,
        "plain": _plain,
        "ceiling": _ceiling,
        "short": _short,
    }
    return environment


def _number(value: float, shown: str) -> Markup:
    """A number for readers, as the format `shown` has it, and for machines as it is."""
    exact = str(value)  # an entry that a document lacks raises here, with its name
    return Markup('<data value="{}">{}</data>').format(exact, format(value, shown))


def _whole(value: int) -> Markup:
    return _number(value, ",")


def _decimal(value: float, digits: int = 4) -> Markup:
    return _number(value, f",.{digits}f")


def _percent(share: float) -> Markup:
    return _number(share, ".1%")


def _plain(value: object) -> str:
    r"""An option as words.

    >>> _plain(["a", "b"]), _plain(True), _plain([]), _plain(None), _plain("\t")
    ('a, b', 'yes', 'not set', 'not set', 'tab')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        value = [f"{key}: {_plain(item)}" for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_plain, value)) or NOT_SET
    return NOT_SET if value is None or value == "" else {"\t": "tab"}.get(str(value), str(value))


def _ceiling(value: float) -> float:
    """Where an axis from 0 may end that holds `value`, which is at most 1.

    >>> _ceiling(0.31), _ceiling(0.04), _ceiling(0.7), _ceiling(0.0)
    (0.4, 0.04, 0.8, 0.1)
    """
    ends = (0.01, 0.02, 0.04, 0.1, 0.2, 0.4, 0.6, 0.8)
    return next((end for end in ends if value <= end), 1.0) if value > 0 else 0.1


def _short(text: str, length: int = 30) -> str:
    """The text, cut where it would not fit beside a bar."""
    return text if len(text) <= length else text[: length - 1] + "…"
