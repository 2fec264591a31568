"""Build, split and measure link prediction benchmarks on biomedical knowledge graphs.

    sources  →  graph  →  split  →  evaluation  →  report

    load_catalogue, generate_graph     source files become nodes, edges and true negatives
    split_graph, RandomSplit, …        a graph becomes training, validation and test set
    find_parts, audit_files            a split, of any program, shows what it gives away
    load_dataset, evaluate, baseline   a model becomes exact filtered ranks and metrics
    write_report                       the numbers become a page
    run_demo                           all of it, on made-up sources

Nothing is imported before it is used, so that a program pays only for what it needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openbiolink.audit import Audit, AuditFiles, audit_files, find_parts
    from openbiolink.dataset import Dataset, from_labelled, load_dataset
    from openbiolink.demo import run_demo
    from openbiolink.errors import OpenBioLinkError
    from openbiolink.evaluation import Evaluation, baseline, evaluate, evaluate_topk
    from openbiolink.graph import Graph, GraphOptions, generate_graph, import_edges
    from openbiolink.report import write_report
    from openbiolink.sources.catalogue import load_catalogue
    from openbiolink.split import (
        BranchSplit,
        ColdSplit,
        ComponentSplit,
        DateSplit,
        DegreeSplit,
        GraphFiles,
        InductiveSplit,
        PairSplit,
        RandomSplit,
        SemiInductiveSplit,
        SourceSplit,
        Split,
        StratifiedSplit,
        TimeSplit,
        random_split,
        split_graph,
    )

__all__ = [
    "Audit",
    "AuditFiles",
    "BranchSplit",
    "ColdSplit",
    "ComponentSplit",
    "Dataset",
    "DateSplit",
    "DegreeSplit",
    "Evaluation",
    "Graph",
    "GraphFiles",
    "GraphOptions",
    "InductiveSplit",
    "OpenBioLinkError",
    "PairSplit",
    "RandomSplit",
    "SemiInductiveSplit",
    "SourceSplit",
    "Split",
    "StratifiedSplit",
    "TimeSplit",
    "audit_files",
    "baseline",
    "evaluate",
    "evaluate_topk",
    "find_parts",
    "from_labelled",
    "generate_graph",
    "import_edges",
    "load_catalogue",
    "load_dataset",
    "random_split",
    "run_demo",
    "split_graph",
    "write_report",
]

_HOMES = {
    "audit": ("Audit", "AuditFiles", "audit_files", "find_parts"),
    "dataset": ("Dataset", "from_labelled", "load_dataset"),
    "demo": ("run_demo",),
    "errors": ("OpenBioLinkError",),
    "evaluation": ("Evaluation", "baseline", "evaluate", "evaluate_topk"),
    "graph": ("Graph", "GraphOptions", "generate_graph", "import_edges"),
    "report": ("write_report",),
    "sources.catalogue": ("load_catalogue",),
    "split": (
        "BranchSplit",
        "ColdSplit",
        "ComponentSplit",
        "DateSplit",
        "DegreeSplit",
        "GraphFiles",
        "InductiveSplit",
        "PairSplit",
        "RandomSplit",
        "SemiInductiveSplit",
        "SourceSplit",
        "Split",
        "StratifiedSplit",
        "TimeSplit",
        "random_split",
        "split_graph",
    ),
}


def __getattr__(name: str) -> Any:
    if name == "huggingface":
        return import_module("openbiolink.huggingface")
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"openbiolink.{module}"), name)
    raise AttributeError(f"module 'openbiolink' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
