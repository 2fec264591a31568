"""`openbiolink diff`: what changed between two graphs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from openbiolink.cli.screen import page_console


def diff(
    first: Annotated[Path, typer.Argument(metavar="GRAPH1", help="Folder of the earlier graph.")],
    second: Annotated[Path, typer.Argument(metavar="GRAPH2", help="Folder of the later graph.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """Compare two graphs: nodes and edges gained, lost and re-identified, by relation and source, and why.

    The folders hold edges.csv and nodes.csv as `generate` writes them (TSV).
    """
    from openbiolink.graph.diff import diff_graphs, render_diff

    found = diff_graphs(first, second)
    if as_json:
        print(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
    else:
        page_console().print(render_diff(found))
