"""The whole road on made-up source files: generate, split, baselines, evaluation, report."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from openbiolink.dataset import load_dataset
from openbiolink.errors import InputError
from openbiolink.evaluation import BASELINES, baseline, evaluate
from openbiolink.files import write_json
from openbiolink.graph import generate_graph
from openbiolink.progress import silent
from openbiolink.report import write_report
from openbiolink.sources.catalogue import load_catalogue
from openbiolink.sources.local import read_source_map
from openbiolink.split import RandomSplit, random_split

if TYPE_CHECKING:
    from pathlib import Path

    from openbiolink.progress import Progress

REMARK = "All identifiers and rows of this demo are made up; they say nothing about biology."


def run_demo(folder: Path, *, progress: Progress = silent) -> tuple[Path, Path]:
    """Build, split, evaluate and report the embedded sources; returns `report.html` and `report.json`.

    `folder` also receives `graph_files/`, `train_test_data/` and `results/`, as the single commands would
    write them. A second run replaces the first.

    Raises:
        InputError: `folder` holds files that are in the way.
    """
    _refuse_other_split(folder / "train_test_data" / "manifest.json")
    with as_file(files("openbiolink") / "demo") as embedded:
        edition, sources = read_source_map(embedded / "sources.toml")
        graph = generate_graph(load_catalogue(edition or "2020"), sources, folder / "graph_files", progress=progress)
    split = random_split(
        graph.folder / "edges.csv",
        graph.folder / "nodes.csv",
        folder / "train_test_data",
        tn_edges=graph.folder / "TN_edges.csv",
        options=RandomSplit(),
        overwrite=True,
        progress=progress,
        note=lambda _: None,
    )
    dataset = load_dataset(split.folder)
    results = []
    for name in BASELINES:
        result = evaluate(baseline(name, dataset), dataset, model_name=name, progress=progress).to_dict()
        write_json(folder / "results" / f"{name}.json", result)
        results.append(result)
    return write_report(folder, graph=dict(graph.manifest), split=dict(split.manifest), results=results, remark=REMARK)


def _refuse_other_split(manifest: Path) -> None:
    """The demo may replace its own split, made with the default options, but nobody else's."""
    if manifest.is_file():
        options = json.loads(manifest.read_text(encoding="utf-8")).get("options")
        if options != asdict(RandomSplit()):
            raise InputError(f"{manifest.parent}: holds another split than the demo's; move it, or choose another DIR")
