"""Croissant 1.1 descriptions of graphs and splits, made of nothing but their manifests; which file has which columns.

A description (http://mlcommons.org/croissant/1.1) names every file with its checksum and size, the columns of the
tables, the parts of a split, the terms and the sources with their versions. Tables without a header are described
line by line, a regular expression for each column, since Croissant knows columns by their names in a header only.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from openbiolink.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

CROISSANT_FILE = "croissant.json"
MANIFEST_FILE = "manifest.json"
CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
LICENCE_FILE = "LICENSE.txt"
CREATOR = "OpenBioLink"

NODE_COLUMNS = ("id", "type")
EDGE_COLUMNS = ("head", "relation", "tail", "score", "source")
LEDGER_COLUMNS = ("rule", "source", "reason", "rows", "edges")
SAMPLE = ("head", "relation", "tail", "score", "value", "source")
CHANGE_COLUMNS = (
    "what", "name", "source", "earlier", "present", "vanished", "appeared", "score_changed", "warning",
)  # fmt: skip
# Patterns of file names → columns, for tables without a header and with one; the first pattern that fits counts.
WITHOUT_HEADER: Mapping[str, Sequence[str]] = {
    "*nodes_list.csv": ("type",),
    "*edges_list.csv": ("relation",),
    "train_val_nodes.csv": NODE_COLUMNS,
    "test_nodes.csv": NODE_COLUMNS,
    "removed_*_nodes.csv": ("id",),
    "removed_edges.tsv": (*SAMPLE, "reason"),
    "*_sample.csv": SAMPLE,
    "vanished_edges.csv": SAMPLE,
    "node_names.tsv": ("id", "name"),
    "*edge_dates.tsv": ("head", "relation", "tail", "date"),
    "*ids_no_mapping.tsv": NODE_COLUMNS,
    "conflicts.tsv": (*EDGE_COLUMNS, "negative_score", "negative_source"),
    **{f"{sign}nodes{part}.csv": NODE_COLUMNS for sign in ("", "TN_", "ALL_") for part in ("", "_[A-Z]*")},
    **{f"{sign}edges{part}.csv": EDGE_COLUMNS for sign in ("", "TN_") for part in ("", "_[A-Z]*")},
}
WITH_HEADER: Mapping[str, Sequence[str]] = {
    "ledger.tsv": LEDGER_COLUMNS,
    "changes.tsv": CHANGE_COLUMNS,
    "changes.parquet": CHANGE_COLUMNS,
    "vanished_edges.parquet": SAMPLE,
    "removed_edges.parquet": (*SAMPLE, "reason"),
    "*_sample.parquet": SAMPLE,
    "removed_*_nodes.parquet": ("id",),
    "test_nodes.parquet": NODE_COLUMNS,
    "train_val_nodes.parquet": NODE_COLUMNS,
    "*nodes.parquet": ("id", "type", "name"),
    "*edges.parquet": ("head", "relation", "tail", "score", "score_number", "source", "head_type", "tail_type", "date"),
}
NUMBERS: Mapping[str, str] = {
    "value": "sc:Integer",
    "rows": "sc:Integer",
    "edges": "sc:Integer",
    "score_number": "sc:Float",
}
ENCODINGS: Mapping[str, str] = {
    "*.parquet": "application/x-parquet",
    "*.N3": "text/n3",
    "*.graphml": "application/xml",
    "*.json": "application/json",
    "*.gz": "application/gzip",
    "*stats.txt": "text/tab-separated-values",
    "*.tsv": "text/tab-separated-values",
    "*.csv": "text/csv",
}
PARTS: Mapping[str, str] = {"train": "cr:TrainingSplit", "val": "cr:ValidationSplit", "test": "cr:TestSplit"}
OF_PART = "^(?:negative_)?(train|val|test)"
# The context that the specification recommends, and the vocabulary of provenance.
CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "prov": "http://www.w3.org/ns/prov#",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    **{
        term: f"cr:{term}"
        for term in (
            "arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileObject",
            "fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5",
            "parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate",
            "separator", "source", "subField", "transform",
        )
    },
}  # fmt: skip


def croissant(manifest: Mapping[str, Any], *, url: str | None = None, published: str | None = None) -> dict[str, Any]:
    """The content of `croissant.json` beside the files of a graph or a split.

    Args:
        manifest: of format `openbiolink-graph/…` or `openbiolink-split/…`; its `outputs` are the files described, of
            which each has `sha256` and `bytes`, its `licence` tells terms and sources, where they are known.
        url: the web page of the data set. Whoever publishes it adds it, and the date; both are left out otherwise.
        published: the date of publication, YYYY-MM-DD.

    Raises:
        InputError: the manifest is of neither format.
    """
    kind = str(manifest.get("format", "")).partition("/")[0]
    if kind not in DESCRIBE:
        raise InputError(f"the manifest has the format {manifest.get('format')!r}, expected that of a graph or a split")
    licence = manifest.get("licence") or {}
    description = {
        "@context": dict(CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        **DESCRIBE[kind](manifest),
        "creator": {"@type": "sc:Organization", "name": CREATOR},
        "license": [terms["url"] for terms in licence.get("terms", {}).values()] or [LICENCE_FILE],
        "url": url,
        "datePublished": published,
        "prov:wasGeneratedBy": {"@type": "prov:Activity", "prov:label": f"OpenBioLink {manifest['version']}"},
        "prov:wasDerivedFrom": [_source(manifest, name, entry) for name, entry in licence.get("sources", {}).items()],
        "distribution": [_file_object(name, entry) for name, entry in sorted(manifest["outputs"].items())],
        "recordSet": [*_parts(kind), *_record_sets(manifest)],
    }
    return {key: value for key, value in description.items() if value}


def _describe_graph(manifest: Mapping[str, Any]) -> dict[str, str]:
    counts, edition = manifest["counts"], manifest["edition"]
    direction = "directed" if manifest["directed"] else "undirected"
    return {
        "name": f"openbiolink-graph-{edition}",
        "description": (
            f"A {direction} biomedical knowledge graph, edition {edition}: {counts['nodes']} nodes, {counts['edges']} "
            f"edges of {len(counts['relations'])} relations and {counts['tn_edges']} true negative edges. "
            f"{MANIFEST_FILE} tells options, sources and counts, {LICENCE_FILE} the terms."
        ),
        "version": edition,
    }


def _describe_split(manifest: Mapping[str, Any]) -> dict[str, str]:
    parts = ", ".join(
        f"{part} {rows['positive']} positive and {rows['negative']} negative edges"
        for part, rows in manifest["counts"]["parts"].items()
    )
    return {
        "name": f"openbiolink-split-{manifest['scheme']}",
        "description": (
            f"A split of a biomedical knowledge graph for link prediction ({parts}), scheme {manifest['scheme']}. "
            f"{MANIFEST_FILE} tells options and counts, {LICENCE_FILE} the terms."
        ),
        "version": manifest["version"],
    }


DESCRIBE = {"openbiolink-graph": _describe_graph, "openbiolink-split": _describe_split}


def _source(manifest: Mapping[str, Any], name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    source = {
        "@type": "prov:Entity",
        "@id": name,
        "prov:label": entry["title"],
        "sc:url": entry["homepage"],
        "sc:version": entry["version"],
        "sc:license": manifest["licence"]["terms"][entry["licence"]]["url"],
        "sc:sha256": manifest["inputs"].get(name, {}).get("sha256"),
    }
    return {key: value for key, value in source.items() if value}


def _file_object(name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    plain = _columns_of(name, WITHOUT_HEADER) is not None
    found = next((encoding for pattern, encoding in ENCODINGS.items() if fnmatchcase(name, pattern)), "text/plain")
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{entry['bytes']} B",
        "encodingFormat": "text/plain" if plain else found,
        "sha256": entry["sha256"],
    }


def _columns_of(name: str, tables: Mapping[str, Sequence[str]]) -> Sequence[str] | None:
    return next((columns for pattern, columns in tables.items() if fnmatchcase(name, pattern)), None)


def _parts(kind: str) -> list[dict[str, Any]]:
    """The record set that lists the parts of a split."""
    if kind != "openbiolink-split":
        return []
    fields = {"name": "sc:Text", "url": "sc:URL"}
    return [
        {
            "@type": "cr:RecordSet",
            "@id": "splits",
            "name": "splits",
            "dataType": "cr:Split",
            "key": {"@id": "splits/name"},
            "field": [
                {"@type": "cr:Field", "@id": f"splits/{name}", "name": name, "dataType": data_type}
                for name, data_type in fields.items()
            ],
            "data": [{"splits/name": name, "splits/url": meaning} for name, meaning in PARTS.items()],
        }
    ]


def _record_sets(manifest: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """One record set for each table; where two files hold the same, the one without a header is described."""
    chosen = manifest.get("options", {}).get("separator", "\t")
    seen = set()
    for name in sorted(manifest["outputs"]):
        stem = name.rpartition(".")[0]
        plain, headed = (_columns_of(name, tables) for tables in (WITHOUT_HEADER, WITH_HEADER))
        columns = plain or headed
        if columns is None or stem in seen:
            continue
        seen.add(stem)
        separator = chosen if name.endswith(".csv") else "\t"
        fields = [
            _field(stem, column, _nth(name, number, separator) if plain else _column(name, column))
            for number, column in enumerate(columns)
        ]
        if columns == SAMPLE and re.match(OF_PART, name):
            fields.append(_split_field(stem, name))
        yield {"@type": "cr:RecordSet", "@id": stem, "name": stem, "field": fields}


def _field(table: str, column: str, source: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{column}",
        "name": column,
        "dataType": NUMBERS.get(column, "sc:Text"),
        "source": source,
    }


def _column(name: str, column: str) -> dict[str, Any]:
    return {"fileObject": {"@id": name}, "extract": {"column": column}}


def _nth(name: str, number: int, separator: str) -> dict[str, Any]:
    """The cell with this number, from 0, of every line."""
    mark = r"\t" if separator == "\t" else re.escape(separator)
    cell = f"[^{mark}]*"
    before = f"(?:{cell}{mark}){{{number}}}" if number else ""
    return {
        "fileObject": {"@id": name},
        "extract": {"fileProperty": "lines"},
        "transform": {"regex": f"^{before}({cell})"},
    }


def _split_field(table: str, name: str) -> dict[str, Any]:
    source = {
        "fileObject": {"@id": name},
        "extract": {"fileProperty": "filename"},
        "transform": {"regex": OF_PART},
    }
    return _field(table, "split", source) | {"references": {"field": {"@id": "splits/name"}}}
