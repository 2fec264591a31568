"""`openbiolink audit`: what a split gives away."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from openbiolink.audit.finding import SEVERITIES, Severity
from openbiolink.cli.screen import note, page_console, progress_bars
from openbiolink.errors import InputError
from openbiolink.places import place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openbiolink.audit import AuditFiles

FOUND = 1  # status where something was found


def audit(
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", parser=place, help="Folder of a split, of any program.")
    ] = None,
    train: Annotated[
        Path | None, typer.Option(metavar="FILE", parser=place, help="Triples of the training part.")
    ] = None,
    valid: Annotated[
        Path | None, typer.Option(metavar="FILE", parser=place, help="Triples of the validation part.")
    ] = None,
    test: Annotated[Path | None, typer.Option(metavar="FILE", parser=place, help="Triples of the test part.")] = None,
    nodes: Annotated[
        Path | None,
        typer.Option(metavar="FILE", parser=place, help="The entities that there are, in the first column."),
    ] = None,
    train_negatives: Annotated[
        Path | None, typer.Option(metavar="FILE", parser=place, help="Negatives of the training part.")
    ] = None,
    valid_negatives: Annotated[
        Path | None, typer.Option(metavar="FILE", parser=place, help="Negatives of the validation part.")
    ] = None,
    test_negatives: Annotated[
        Path | None, typer.Option(metavar="FILE", parser=place, help="Negatives of the test part.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", parser=place, help="Write a page to read.")] = None,
    schema: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            parser=place,
            help="TOML that says which relations are symmetric, inverse, transitive or parents of others.",
            show_default="schema.toml in the folder, if it is there",
        ),
    ] = None,
    directed: Annotated[
        bool | None,
        typer.Option("--directed/--undirected", help="Direction of the graph.", show_default="as its manifest says"),
    ] = None,
    threshold: Annotated[
        float, typer.Option(metavar="SHARE", help="From which overlap on a relation counts as a copy of another.")
    ] = 0.8,
    engine: Annotated[
        Literal["embedded", "spark"], typer.Option(help="Where the tables live: in this process, or on Spark.")
    ] = "embedded",
    fail_on: Annotated[Severity, typer.Option(help="End with status 1 if this or worse is found.")] = "error",
    fix: Annotated[
        Path | None,
        typer.Option(metavar="OUT", parser=place, help="Write a split without these errors into a new folder."),
    ] = None,
    fix_warnings: Annotated[
        bool, typer.Option("--fix-warnings", help="With --fix: without most of the warnings, too.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="With --fix: replace an existing OUT.")] = False,
) -> None:
    """Check a split for leaks, redundancy and shortcuts, and tell what a model gains by each.

    Any triples will do: head, relation, tail, separated by tabs, plain or packed. DIR holds train, valid and test with
    the ending .txt, .tsv or .csv, or is a folder that `split` wrote.
    """
    from openbiolink.audit import audit_files
    from openbiolink.audit.fix import check_target, fix_split
    from openbiolink.audit.render import render_text
    from openbiolink.report.audit import check_page, write_page
    from openbiolink.schema import schema_of

    if fix is None and (fix_warnings or overwrite):
        raise InputError(f"--{'fix-warnings' if fix_warnings else 'overwrite'} goes with --fix OUT; give it, too")
    if html is not None:
        check_page(html)
    parts = {"train": train, "valid": valid, "test": test}
    negatives = {"train": train_negatives, "valid": valid_negatives, "test": test_negatives}
    files = _chosen(folder, parts, negatives, nodes, directed)
    if fix is not None:
        check_target(files, fix, overwrite=overwrite)
    facts, schema_file = schema_of(files.positive["train"][0], schema)
    with progress_bars() as report:
        found = audit_files(files, schema=facts, engine_name=engine, threshold=threshold, progress=report, note=note)
        if fix is not None:
            fix_split(
                files,
                fix,
                schema=facts,
                schema_file=schema_file,
                engine_name=engine,
                threshold=threshold,
                warnings=fix_warnings,
                overwrite=overwrite,
                progress=report,
            )
        if html is not None:
            write_page(found, html)
    if as_json:
        print(json.dumps(found.to_dict(), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        page_console().print(render_text(found))
        for path in (html, fix):
            if path is not None:
                print(path)
    worst = found.worst()
    if worst is not None and SEVERITIES.index(worst) >= SEVERITIES.index(fail_on):
        raise typer.Exit(FOUND)


def _chosen(
    folder: Path | None,
    parts: Mapping[str, Path | None],
    negatives: Mapping[str, Path | None],
    nodes: Path | None,
    directed: bool | None,
) -> AuditFiles:
    """The files of the folder, or those named one by one."""
    from openbiolink.audit import AuditFiles, find_parts

    positive = {part: (path,) for part, path in parts.items() if path is not None}
    negative = {part: (path,) for part, path in negatives.items() if path is not None}
    if (folder is None) == (not positive):
        raise InputError("audit needs a folder, or --train FILE --test FILE and perhaps --valid FILE; give one of them")
    if folder is not None:
        found = find_parts(folder)
        files = replace(found, negative={**found.negative, **negative}, nodes=nodes)
    else:
        if missing := [part for part in ("train", "test") if part not in positive]:
            raise InputError(
                f"audit needs --{missing[0]} FILE beside the other parts; give an empty file if it is empty"
            )
        files = AuditFiles(positive=positive, negative=negative, nodes=nodes)
    return files if directed is None else replace(files, directed=directed)
