"""`openbiolink datasets`: the published data sets, fetching them, and what a folder holds of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.markup import escape
from rich.table import Table

from openbiolink.cli.screen import byte_bars, note, page_console, say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from openbiolink.dataset import Dataset
    from openbiolink.sources.published import Count, Held, PublishedSet

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List and fetch the published data sets, and show what a folder holds.",
)
SHOWN: tuple[Count, ...] = ("train", "test", "valid", "entities", "relations")

Place = Annotated[Path, typer.Option("--dir", metavar="DIR", help="Folder of data sets, in that of -p.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_sets(context: typer.Context, root: Place = Path("dataset"), as_json: AsJson = False) -> None:
    """List the published data sets: what they are, how large they are said to be, and whether they are here.

    The numbers of a split count positives and negatives together, as its publication does; those in brackets are the
    positives alone, where they are known.
    """
    from openbiolink.sources.published import load_published

    root = context.obj / root
    table = load_published().sources
    if as_json:
        print(json.dumps([_row(name, entry, root) for name, entry in table.items()], indent=2))
        return
    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    shown.add_column("name\n  what", overflow="fold")
    for column in SHOWN:
        shown.add_column(column, justify="right")
    shown.add_column("here")
    for name, entry in table.items():
        numbers = [_number(entry.counts.get(column), entry.positives.get(column)) for column in SHOWN]
        shown.add_row(escape(f"{name}\n  {entry.title}"), *numbers, "yes" if (root / name).is_dir() else "")
    page_console().print(shown)


@app.command("fetch")
def fetch(
    context: typer.Context,
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Names of data sets.", show_default=False)],
    root: Place = Path("dataset"),
    mirror: Annotated[
        str, typer.Option(metavar="URL", help="Folder that has the archives, in the place of the published addresses.")
    ] = "",
) -> None:
    """Fetch published data sets into DIR/NAME and compare them with what was published.

    What was cut is resumed, what is there already is only counted. A folder appears when all of it is unpacked and
    has the files that it should. Ends with status 1 if a number is another than published, or a file is not as it was
    fetched.
    """
    from openbiolink.sources.fetch import Listener
    from openbiolink.sources.published import fetch_published, load_published

    table = load_published()
    for name in names:
        table.source(name)
    held = []
    with byte_bars() as report:
        for name in dict.fromkeys(names):
            listener = Listener(progress=report, note=note)
            held.append(fetch_published(name, context.obj / root, mirror=mirror, listener=listener))
            say(f"{'kept' if held[-1].kept else 'fetched'} {name}")
    for one in held:
        print(one.folder)
    if any(one.differences or one.changed for one in held):
        raise typer.Exit(1)


@app.command("info")
def show(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME|FOLDER", help="A published data set, or a folder with any.")],
    root: Place = Path("dataset"),
    as_json: AsJson = False,
) -> None:
    """Show what is known of a data set, and count what is here of it: a published one, or a folder with any.

    Ends with status 1 if a number is another than published, or a file is not as it was fetched.
    """
    from openbiolink.dataset import load_dataset
    from openbiolink.sources.published import RECORD, hold, load_published

    table = load_published()
    folder = Path(name) if Path(name).is_dir() and name not in table.sources else context.obj / root / name
    published = name in table.sources or (folder / RECORD).is_file()
    if not published and Path(name).is_dir():
        facts = _of_dataset(folder, load_dataset(folder, note=note))
        _print(facts, as_json=as_json)
        return
    if not folder.exists():
        facts = _row(name, table.source(name), context.obj / root)
        _print({**facts, "command": f"openbiolink datasets fetch {name}"}, as_json=as_json)
        return
    held = replace(hold(folder, name=name if name in table.sources else "", note=note), folder=folder)
    _print({**_row(held.name, table.source(held.name), folder.parent), **_of_held(held)}, as_json=as_json)
    if held.differences or held.changed:
        raise typer.Exit(1)


def _row(name: str, entry: PublishedSet, root: Path) -> dict[str, Any]:
    return {
        "name": name,
        "title": entry.title,
        "kind": entry.kind,
        "homepage": entry.homepage,
        "addresses": [address.url for address in entry.addresses],
        "archive": entry.file_name(),
        "folder": str(root / name),
        "here": (root / name).is_dir(),
        "published": {**entry.counts},
        "published_positives": {**entry.positives},
    }


def _of_held(held: Held) -> dict[str, Any]:
    return {
        "folder": str(held.folder),
        "counted": {**held.counts},
        "counted_positives": {**held.positives},
        "fetched_from": held.url,
        "archive_sha256": held.sha256,
        "files": {**held.files},
        "changed": list(held.changed),
        "differences": list(held.differences),
    }


def _of_dataset(folder: Path, dataset: Dataset) -> dict[str, Any]:
    return {
        "folder": str(folder),
        "counted": {
            **{part: len(dataset.part(part)) for part in ("train", "test", "valid")},
            "entities": dataset.num_entities,
            "relations": dataset.num_relations,
        },
        "checksum": dataset.checksum,
        "files": {str(part): checksum for part, checksum in dataset.files.items()},
        "differences": [],
    }


def _print(facts: dict[str, Any], *, as_json: bool) -> None:
    """As JSON, or as lines of a word and what it stands for."""
    if as_json:
        print(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for label, value in facts.items():
        for text in _texts(value):
            table.add_row(f"[bold]{label.replace('_', ' ')}[/]", escape(text))
    page_console().print(table)


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, dict):
        numbers = [f"{key} {found:,}" for key, found in value.items() if isinstance(found, int)]
        return [", ".join(numbers)] if numbers else [f"{found}  {key}" for key, found in value.items()]
    if isinstance(value, list):
        return map(str, value)
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    return [str(value)] if value else []


def _number(count: int | None, positives: int | None) -> str:
    whole = "" if count is None else f"{count:,}"
    return whole if positives is None else f"{whole}\n({positives:,})"
