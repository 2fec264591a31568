"""`openbiolink metrics`: numbers from what any program found, by themselves."""

from __future__ import annotations

import typer

from openbiolink.cli.metrics_ranks import ranks
from openbiolink.cli.metrics_relations import relations

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Metrics of ranks and of extracted relations, whatever program they come from.",
)
for command in (ranks, relations):
    app.command()(command)
