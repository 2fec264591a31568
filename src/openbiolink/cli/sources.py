"""`openbiolink sources`: what sources there are, what is known of each, fetching them, and whether they can be had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.filesize import decimal
from rich.markup import escape
from rich.table import Table

from openbiolink.cli.screen import byte_bars, note, page_console, plain, progress_bars, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from openbiolink.sources.declarations import Address, Catalogue, Layout, Rule, Source
    from openbiolink.sources.lock import Locked

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List, show, fetch and check the source files of an edition.",
)
ROOMY = 100  # columns of a terminal that has room between columns
CHECKED = {
    "full": "against a whole file, of this or another release",
    "excerpt": "against an excerpt of such a file",
    "no": "not against a real file, only against what others write of it",
}

SEPARATORS = {"\t": "tabs", " ": "blanks", ",": "commas", "|": "bars", ";": "semicolons"}
HEADERS = {
    "first": "in the first line",
    "comment": "in a comment",
    "below": "below a banner",
    "none": "absent",
}

Edition = Annotated[str | None, typer.Option(metavar="EDITION", help="Edition of the catalogue.", show_default="2026")]
Added = Annotated[
    list[Path] | None,
    typer.Option("--catalogue", metavar="FILE", help="TOML file that adds or replaces sources and rules (repeatable)."),
]
Names = Annotated[list[str] | None, typer.Argument(metavar="ID", help="Ids of sources.", show_default=False)]


@app.command("list")
def list_sources(
    context: typer.Context,
    edition: Edition = None,
    added: Added = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON array, an object for each source.")] = False,
) -> None:
    """List the sources of an edition and their terms.

    The status says whether the file is in DIR/sources/EDITION/, and whether DIR/openbiolink.lock has it. The size
    is that of the file there, else the one that the catalogue states. `checked` says against how much of the file
    the facts of the catalogue were checked.
    """
    catalogue = _load(edition, added)
    rows = list_rows(catalogue, *_files(catalogue, context.obj))
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    screen = page_console()
    screen.print(_list_table(catalogue, rows, screen.width))


@app.command("show")
def show_source(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="ID", help="Id of the source, as `sources list` has it.")],
    edition: Edition = None,
    added: Added = None,
) -> None:
    """Show all of one source, and where its file belongs."""
    catalogue = _load(edition, added)
    catalogue.source(name)
    files, locked = _files(catalogue, context.obj)
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in _facts(catalogue, name, context.obj, files.get(name), locked.get(name)):
        table.add_row(f"[bold]{label}[/]", escape(text))
    page_console().print(table)


@app.command("fetch")
def fetch(
    context: typer.Context,
    names: Names = None,
    edition: Edition = None,
    added: Added = None,
    refresh: Annotated[bool, typer.Option("--refresh", help="Fetch files anew that are there already.")] = False,
) -> None:
    """Fetch source files and lock what they are.

    They go to DIR/sources/EDITION/, and what each is goes into DIR/openbiolink.lock. Without an ID, every source is
    fetched that a build uses by default. What is there already is kept, what was cut is resumed. Ends with status 2
    if a source cannot be fetched, after trying all.
    """
    from openbiolink.sources.fetch import FetchOptions, Listener
    from openbiolink.sources.gather import downloads, fetch_and_lock

    catalogue = _load(edition, added)
    files, _ = _files(catalogue, context.obj)
    wanted = _wanted(catalogue, names or (), files)
    with byte_bars() as report:
        stored = fetch_and_lock(
            catalogue,
            wanted,
            context.obj,
            options=FetchOptions(refresh=refresh),
            listener=Listener(progress=report, note=note),
        )
    for name, entry in stored.entries.items():
        kept = "kept" if stored.files[name].kept else "fetched"
        version = f" ({entry.version})" if entry.version else ""
        say(plain(f"{kept} {name}{version}: {entry.file}, {decimal(entry.size)}"))
    for message in stored.failed.values():
        say(f"[bold red]Failed:[/] {plain(message)}")
    print(downloads(context.obj, catalogue))
    if stored.failed:
        raise typer.Exit(2)


@app.command("check")
def check(context: typer.Context, names: Names = None, edition: Edition = None, added: Added = None) -> None:
    """Check at the servers whether a build would go well.

    Only the first block of each file is asked for. A line for each source: `ok`; `moved` (usable, in another
    version than the lock or the catalogue says); `down` (no address gives it); `changed` (its first block fits no
    known layout); `by hand` (no server has it, and it is not in DIR/sources/EDITION/; a build goes without it). Ends
    with status 1 if a source that is named, or without an ID one that a build uses by default, is neither usable nor
    in DIR/sources/EDITION/.
    """
    from openbiolink.sources.doctor import check_sources_online
    from openbiolink.sources.gather import LOCK, downloads
    from openbiolink.sources.lock import read_lock

    catalogue = _load(edition, added)
    with progress_bars() as report:
        findings = check_sources_online(
            catalogue,
            names or (),
            folder=downloads(context.obj, catalogue),
            locked=read_lock(context.obj / LOCK, catalogue.edition),
            progress=report,
        )
    width = max(len(finding.source) for finding in findings)
    for finding in findings:
        print(f"{finding.state:<7}  {finding.source:<{width}}  {' '.join(finding.words.split())}")
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


def list_rows(catalogue: Catalogue, files: Mapping[str, Path], locked: Mapping[str, Locked]) -> list[dict[str, Any]]:
    """What `sources list --json` prints.

    Args:
        catalogue: the edition.
        files: source id → its file, for those that are there.
        locked: what the lock says.

    Returns:
        An object for each source, by id. `true_negatives` and `scores` are null for a source that no edges are made of,
        `size` (bytes) where it is not known; `status` is "absent", "present" or "locked" (there, with the name and the
        size that the lock has).
    """
    rows = []
    for name, source in sorted(catalogue.sources.items()):
        rules = [rule for rule in catalogue.rules.values() if rule.source == name]
        path = files.get(name)
        sizes = [path.stat().st_size] if path else [address.size for address in source.addresses if address.size]
        entry = locked.get(name)
        known = path is not None and entry is not None and (path.name, sizes[0]) == (entry.file, entry.size)
        rows.append({
            "id": name,
            "gives": list(source.gives),
            "title": source.title,
            "version": source.version,
            "licence": source.licence,
            "true_negatives": any(rule.negative for rule in rules) if rules else None,
            "scores": any(rule.score is not None for rule in rules) if rules else None,
            "size": sizes[0] if sizes else None,
            "status": "locked" if known else "present" if path else "absent",
            "checked": source.checked,
            "default": source.default,
        })  # fmt: skip
    return rows


def _load(edition: str | None, added: Sequence[Path] | None) -> Catalogue:
    from openbiolink.sources.catalogue import DEFAULT_EDITION, load_catalogue

    return load_catalogue(edition or DEFAULT_EDITION, *(added or ()))


def _files(catalogue: Catalogue, directory: Path) -> tuple[dict[str, Path], dict[str, Locked]]:
    """The files that are there, and the lock."""
    from openbiolink.sources.gather import LOCK, downloads
    from openbiolink.sources.local import find_sources
    from openbiolink.sources.lock import read_lock

    folder = downloads(directory, catalogue)
    files = find_sources(catalogue, folder) if folder.is_dir() else {}
    return files, read_lock(directory / LOCK, catalogue.edition)


def _wanted(catalogue: Catalogue, names: Iterable[str], files: Mapping[str, Path]) -> list[str]:
    """The sources to fetch: those that are named, else those of a build by default that can be had or are here."""
    if names:
        return list(dict.fromkeys(names))
    default = {name: catalogue.sources[name] for name in catalogue.used_by_default()}
    absent = {name: source for name, source in default.items() if not source.addresses and name not in files}
    for name, source in absent.items():
        note(f"{name} is got by hand ({source.by_hand or source.homepage}); see `openbiolink sources show {name}`")
    return [name for name in default if name not in absent]


def _yes(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"


def _status(catalogue: Catalogue, row: Mapping[str, Any]) -> str:
    words = [row["status"]]
    words += [] if row["default"] else ["opt-in"]
    words += [] if catalogue.sources[row["id"]].addresses else ["by hand"]
    words += ["closed"] if catalogue.licences[row["licence"]].reuse == "closed" else []
    return ", ".join(words)


def _size(size: int | None) -> str:
    return "" if size is None else decimal(size)


def _list_table(catalogue: Catalogue, rows: Iterable[Mapping[str, Any]], width: int) -> Table:
    """Two lines for each source, so that they fit a terminal of 80 columns."""
    roomy = width >= ROOMY
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1 if roomy else 0))
    for header in ("id\n  gives", "version\nsize", "licence", "true\nneg.", "scores"):
        table.add_column(header, overflow="fold")
    table.add_column("status\nchecked", max_width=None if roomy else 8)
    for row in rows:
        table.add_row(
            escape("\n".join([row["id"], *(f"  {role}" for role in row["gives"])])),
            f"{escape(row['version'])}\n{_size(row['size'])}",
            escape(row["licence"]),
            _yes(row["true_negatives"]),
            _yes(row["scores"]),
            f"{_status(catalogue, row)}\n{row['checked']}",
        )
    return table


def _facts(
    catalogue: Catalogue, name: str, directory: Path, path: Path | None, entry: Locked | None
) -> Iterable[tuple[str, str]]:
    """What `sources show` prints: labels and texts."""
    source, licence = catalogue.sources[name], catalogue.licences[catalogue.sources[name].licence]
    (row,) = (row for row in list_rows(catalogue, {} if path is None else {name: path}, {}) if row["id"] == name)
    yield "id", f"{name} (edition {catalogue.edition})"
    yield "title", source.title
    yield "gives", "; ".join(source.gives)
    yield "homepage", source.homepage
    yield "version", f"{source.version or 'not known'}{_probe(source)}"
    yield "checked", f"{source.checked}: {CHECKED[source.checked]}"
    yield "licence", f"{source.licence}: {licence.title} ({licence.reuse}), {licence.url}"
    yield "used", "by default" if source.default else "only where it is named: generate --include " + name
    if row["true_negatives"] is not None:
        yield "true neg.", _yes(row["true_negatives"])
        yield "scores", _yes(row["scores"])
    for label, values in (("infores", [source.infores or ""]), ("derived", source.derived_from)):
        if any(values):
            yield label, ", ".join(values)
    yield from _place(source, directory / "sources" / catalogue.edition, path, entry)
    yield from (("address", _address(address)) for address in source.addresses)
    yield from (("layout", _layout(layout)) for layout in source.layouts)
    yield from (("table", f"{table}: {', '.join(columns)}") for table, columns in source.tables.items())
    for label, rule in catalogue.rules.items():
        if name in catalogue.needs(rule):
            yield "rule", _rule(label, rule, name)


def _probe(source: Source) -> str:
    if source.probe is None:
        return ""
    return f" (found by {source.probe.pattern} in {source.probe.url or 'the first lines'})"


def _place(source: Source, folder: Path, path: Path | None, entry: Locked | None) -> Iterable[tuple[str, str]]:
    """Where the file is, or where it belongs."""
    if path is not None:
        yield "file", f"{path}, {decimal(path.stat().st_size)}"
    if entry is not None:
        yield "locked", f"{entry.file}, version {entry.version or 'not known'}, {entry.date}, sha256 {entry.sha256}"
    if path is None and source.by_hand:
        yield "by hand", source.by_hand
    if path is None:
        known = source.file_name() if source.saved_as or source.addresses else ""
        name = f"{folder / known} (or another name like" if known else f"{folder}/ (under a name like"
        yield "belongs at", f"{name} {', '.join(source.files)})"


def _address(address: Address) -> str:
    parts = [f"{address.url} ({address.kind}", *([decimal(address.size)] if address.size else [])]
    if address.sha256:
        parts.append(f"sha256 {address.sha256}")
    if address.credential:
        parts.append(f"key from the environment variable {address.credential}")
    return ", ".join(parts) + ")"


def _layout(layout: Layout) -> str:
    separators = " or ".join(SEPARATORS.get(separator, repr(separator)) for separator in layout.separator)
    comment = f", comments {layout.comment!r}" if layout.comment else ""
    columns = [f"{ours} = {theirs!r}" for ours, theirs in layout.named.items()] or list(layout.positional)
    columns += [f"{ours} = {template!r}" for ours, template in layout.compose.items()]
    tests = [f"{column} is like {pattern}" for column, pattern in layout.patterns.items()]
    text = f"{layout.name}: {separators}, header {HEADERS[layout.header]}{comment}; {', '.join(columns)}"
    return "; ".join([text, *tests])


def _rule(label: str, rule: Rule, name: str) -> str:
    parts = [f"true negatives of {rule.relation}"] if rule.negative else []
    parts += [] if rule.source == name else ["looks into it"]
    parts += [] if rule.default else ["only where it is named"]
    return label + (f" ({', '.join(parts)})" if parts else "")
