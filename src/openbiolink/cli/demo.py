"""`openbiolink demo`: the whole road on made-up sources."""

from __future__ import annotations

import typer

from openbiolink.cli.screen import progress_bars, say


def demo(context: typer.Context) -> None:
    """Run the whole road on made-up sources that come with the package, into DIR/demo/."""
    from openbiolink.demo import run_demo

    with progress_bars() as report:
        page, numbers = run_demo(context.obj / "demo", progress=report)
    print(page)
    print(numbers)
    say(
        "All identifiers and rows of this demo are made up. Next, on real sources:\n"
        "  openbiolink generate --source-map my-sources.toml\n"
        "  openbiolink split rand --edges graph_files/edges.csv --tn-edges graph_files/TN_edges.csv "
        "--nodes graph_files/nodes.csv\n"
        "  openbiolink evaluate train_test_data --baseline degree\n"
        "docs/sources.md says which files there are and how a source map looks."
    )
