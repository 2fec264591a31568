"""Build, split and measure link prediction benchmarks on biomedical knowledge graphs.

    sources  →  graph  →  split  →  evaluation  →  report

    load_catalogue, generate_graph     source files become nodes, edges and true negatives
    random_split                       a graph becomes training, validation and test set
    load_dataset, evaluate, baseline   a model becomes exact filtered ranks and metrics
    write_report                       the numbers become a page
    run_demo                           all of it, on made-up sources

Nothing is imported before it is used, so that a program pays only for what it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openbiolink.dataset import Dataset, from_labelled, load_dataset
    from openbiolink.demo import run_demo
    from openbiolink.errors import OpenBioLinkError
    from openbiolink.evaluation import Evaluation, baseline, evaluate, evaluate_topk
    from openbiolink.graph import Graph, GraphOptions, generate_graph, import_edges
    from openbiolink.report import write_report
    from openbiolink.sources.catalogue import load_catalogue
    from openbiolink.split import RandomSplit, Split, random_split

__all__ = [
    "Dataset",
    "Evaluation",
    "Graph",
    "GraphOptions",
    "OpenBioLinkError",
    "RandomSplit",
    "Split",
    "baseline",
    "evaluate",
    "evaluate_topk",
    "from_labelled",
    "generate_graph",
    "import_edges",
    "load_catalogue",
    "load_dataset",
    "random_split",
    "run_demo",
    "write_report",
]

_HOMES = {
    "dataset": ("Dataset", "from_labelled", "load_dataset"),
    "demo": ("run_demo",),
    "errors": ("OpenBioLinkError",),
    "evaluation": ("Evaluation", "baseline", "evaluate", "evaluate_topk"),
    "graph": ("Graph", "GraphOptions", "generate_graph", "import_edges"),
    "report": ("write_report",),
    "sources.catalogue": ("load_catalogue",),
    "split": ("RandomSplit", "Split", "random_split"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"openbiolink.{module}"), name)
    raise AttributeError(f"module 'openbiolink' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
