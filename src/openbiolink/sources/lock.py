"""What the file of each source was: its address, version, checksum and layout, kept in a lock from run to run.

A lock is a TOML file with a table for each edition and source:

    ["2026"."go.ontology"]
    url = "https://…"           address that the file was fetched from, "" for a file of the user
    version = "2026-08-05"      release that it says it is, "" where that is not known
    date = "2026-10-01"         day on which it was last modified at the source, or was written here
    size = 34567890             bytes
    sha256 = "…"
    layout = "obo 1.2"          which of its known shapes it has
    file = "go-basic.obo"       its name

The date is the day on which the file was last modified at the source, if the server said so, else the day on which it
was written here, UTC. As long as the file is the same, the date stays.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from openbiolink.errors import InputError
from openbiolink.files import check_file, sha256_of, write_text
from openbiolink.sources.layout import SNIFFED_LINES
from openbiolink.sources.local import alone_in
from openbiolink.sources.read import recognise_layout
from openbiolink.tables import first_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from openbiolink.files import Note
    from openbiolink.sources.declarations import Source
    from openbiolink.sources.fetch import Fetched

BEGINS = "# What the file of each source was. Written by openbiolink; `generate --locked` refuses any other file.\n"
COMPARED = ("version", "size", "sha256", "layout")


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """The file of one source.

    Attributes:
        url: address that it was fetched from; "" for a file that the user put there.
        version: release that it says it is; "" where that is not known.
        date: day on which the file was last modified at the source, if the server said so, else the day on which it
            was written here, UTC; as YYYY-MM-DD. As long as the file is the same, the date stays.
        size: its bytes.
        sha256: its checksum, in hex.
        layout: name of the layout that it has.
        file: its name, without folders.
    """

    url: str
    version: str
    date: str
    size: int
    sha256: str
    layout: str
    file: str


KEYS = {field.name: int if field.name == "size" else str for field in fields(Locked)}


def read_lock(path: Path, edition: str) -> dict[str, Locked]:
    """The entries of an edition by source id; none where there is no lock yet.

    Raises:
        InputError: the file is no lock; the message says what is wrong.
    """
    return _read_editions(path).get(edition, {})


def write_lock(path: Path, edition: str, entries: Mapping[str, Locked]) -> None:
    """Add entries to a lock, or replace those of the same source; all others stay as they are, byte for byte.

    An entry of a file that the lock knows already keeps its date, and its address and version where the new entry
    has none. The lock is written beside and renamed, so that it is always whole; where nothing changes, nothing is
    written. Of several that write at the same time each waits for the other.

    Raises:
        InputError: what is there is no lock, or nothing can be written there.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); choose another place") from error
    with alone_in(path.parent, wait=True):
        editions = _read_editions(path)
        earlier = editions.get(edition, {})
        continued = {name: _continue(entry, earlier.get(name)) for name, entry in entries.items()}
        if continued.items() <= earlier.items():
            return
        editions[edition] = earlier | continued
        tables = [
            _table(name, source, entry)
            for name, found in sorted(editions.items())
            for source, entry in sorted(found.items())
        ]
        write_text(path, "\n".join([BEGINS, *tables]))


def check_locked(
    locked: Mapping[str, Locked], found: Mapping[str, Locked], *, wanted: Collection[str] = ()
) -> list[str]:
    """How the files that were found differ from a lock, a line for each difference.

    The address and the name of a file do not count, since the same bytes may come from anywhere; nor does a version
    that is not known.

    Args:
        locked: the lock.
        found: what is there.
        wanted: sources that must be there if the lock has them.
    """
    lines = [f"{name}: is locked, but there is no file of it" for name in sorted({*wanted} & {*locked} - {*found})]
    for name, entry in sorted(found.items()):
        if name not in locked:
            lines.append(f"{name}: is not in the lock")
            continue
        for field in COMPARED:
            here, there = getattr(entry, field), getattr(locked[name], field)
            if here != there and (field != "version" or (here and there)):
                lines.append(f"{name}: {field} is {here!r}, the lock has {there!r}")
    return lines


def describe_source(
    name: str,
    source: Source,
    path: Path,
    *,
    fetched: Fetched | None = None,
    earlier: Locked | None = None,
    note: Note = lambda _: None,
) -> Locked:
    """What a lock says of a file.

    Args:
        name: id of the source.
        source: its declaration.
        path: the file.
        fetched: what is known of it from fetching it, if it was fetched.
        earlier: the entry that the lock has; of the same file its date stays, and what is not known anew.
        note: told of remarks about the file.

    Raises:
        InputError: the file is absent, damaged or fits no known layout.
    """
    check_file(path)
    lines = first_lines(path, note, limit=SNIFFED_LINES)
    layout = name_layout(lines, name, source, place=str(path))
    status = path.stat()
    modified = "" if fetched is None else fetched.modified
    entry = Locked(
        url="" if fetched is None else fetched.url,
        version=find_version(source, lines),
        date=modified or datetime.fromtimestamp(status.st_mtime, tz=UTC).date().isoformat(),
        size=status.st_size,
        sha256=sha256_of(path) if fetched is None else fetched.sha256,
        layout=layout,
        file=path.name,
    )
    pinned = {address.sha256 for address in source.addresses if address.kind == "pinned"}
    pinned |= {address.url for address in source.addresses if address.kind == "pinned"}
    if not entry.version and pinned & {entry.sha256, entry.url}:
        entry = replace(entry, version=source.version)
    return _continue(entry, earlier)


def find_version(source: Source, first_lines: Sequence[str]) -> str:
    """The version that a file says it is.

    Args:
        source: its declaration.
        first_lines: the beginning of the file.

    Returns:
        What the source's probe finds in the lines; "" where it finds nothing, looks at another place, or there is
        no probe.
    """
    if source.probe is None or source.probe.url is not None:
        return ""
    return search_version(source.probe.pattern, first_lines)


def search_version(pattern: str, lines: Sequence[str]) -> str:
    r"""The first group of the first match of a pattern in a line, or "".

    >>> search_version(r"^#version: (\S+)", ["#tracker: x", "#version: 2026-06-23"])
    '2026-06-23'
    """
    matches = (re.search(pattern, line) for line in lines)
    return next((found[1] or "" for found in matches if found is not None), "")


def name_layout(lines: Sequence[str], name: str, source: Source, *, place: str) -> str:
    """The name of the layout that the first lines of a file have, as the manifest has it.

    Args:
        lines: the beginning of the file, whole lines without their ends.
        name: id of the source.
        source: its declaration.
        place: path or address of the file, for messages.

    Raises:
        InputError: they fit no known layout.
    """
    found = recognise_layout(lines, name=name, source=source, place=place)
    return found if isinstance(found, str) else found.layout.name


def _continue(entry: Locked, earlier: Locked | None) -> Locked:
    """An entry with what an earlier one of the same file knew."""
    if earlier is None or earlier.sha256 != entry.sha256:
        return entry
    return replace(entry, url=entry.url or earlier.url, version=entry.version or earlier.version, date=earlier.date)


def _table(edition: str, source: str, entry: Locked) -> str:
    lines = [f"[{_text(edition)}.{_text(source)}]", *(f"{key} = {_text(getattr(entry, key))}" for key in KEYS)]
    return "\n".join(lines) + "\n"


def _text(value: str | int) -> str:
    """A TOML value; its strings are those of JSON, except that DEL is escaped too."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f").encode("utf-8", "replace").decode()


def _read_editions(path: Path) -> dict[str, dict[str, Locked]]:
    if not path.exists():
        return {}
    check_file(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _no_lock(path, f"not valid TOML ({error})") from error
    return {
        edition: {name: _entry(path, edition, name, table) for name, table in _tables(path, edition, entries).items()}
        for edition, entries in content.items()
    }


def _tables(path: Path, edition: str, entries: object) -> dict[str, object]:
    if not isinstance(entries, dict):
        raise _no_lock(path, f"{edition!r} is no table of sources")
    return entries


def _entry(path: Path, edition: str, name: str, table: object) -> Locked:
    if not isinstance(table, dict) or {key: type(value) for key, value in table.items()} != KEYS:
        raise _no_lock(path, f"[{edition}.{name}] must have {', '.join(KEYS)} and nothing else")
    return Locked(**table)


def _no_lock(path: Path, fault: str) -> InputError:
    return InputError(f"{path}: is no lock: {fault}; remove it, and `openbiolink sources fetch` writes a new one")
