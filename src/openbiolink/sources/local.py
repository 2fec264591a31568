"""Where the source files lie: a source map, or a folder searched by file names, which one run at a time writes into."""

from __future__ import annotations

import os
import tomllib
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Protocol

from openbiolink.errors import InputError
from openbiolink.files import check_file
from openbiolink.sources.catalogue import DEFAULT_EDITION, EDITIONS, load_catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from openbiolink.sources.declarations import Address, Catalogue

UNFINISHED = {".part", ".tmp", ".crdownload", ".lock"}


class Download(Protocol):
    """One file that can be had from somewhere: a source of a catalogue, or a published data set."""

    @property
    def homepage(self) -> str:
        """Where people read about it."""

    @property
    def addresses(self) -> tuple[Address, ...]:
        """Where it can be had, the best place first; none where it must be got by hand."""

    @property
    def by_hand(self) -> str:
        """How to get it where no address gives it."""

    @property
    def saved_as(self) -> str:
        """Its name after a download, where that is not the last part of the address."""

    @property
    def files(self) -> tuple[str, ...]:
        """File-name patterns by which a folder is searched."""

    def file_name(self) -> str:
        """The name that a download of it has."""


class Downloads(Protocol):
    """Files that can be had, by id."""

    @property
    def sources(self) -> Mapping[str, Download]:
        """All of them."""

    def source(self, name: str) -> Download:
        """The one of this id; an `InputError` names the known ones where there is none."""


def read_source_map(path: Path) -> tuple[str | None, dict[str, Path]]:
    """Read a source map: its edition, if it names one, and the file of each source id.

    A source map is TOML with a table `[sources]` of `"source id" = "path"`, paths relative to the map,
    and optionally `edition = "2020"`.

    Raises:
        InputError: the file is absent, not TOML, or holds anything else.
    """
    check_file(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not valid TOML ({error}); see docs/sources.md for the form") from error
    unknown = sorted(content.keys() - {"edition", "sources"})
    if unknown:
        raise InputError(f"{path}: unknown key {unknown[0]!r}; a source map has `edition` and [sources] only")
    edition, entries = content.get("edition"), content.get("sources", {})
    if not isinstance(entries, dict) or not all(isinstance(value, str) for value in entries.values()):
        raise InputError(
            f'{path}: [sources] must hold lines of "source id" = "path", both in quotes; see docs/sources.md'
        )
    if edition is not None and not isinstance(edition, str):
        raise InputError(f"{path}: edition = {edition!r} is not a text; write it in quotes")
    return edition, {name: path.parent / value for name, value in entries.items()}


def edition_of(names: AbstractSet[str], *added: Path) -> str:
    """The edition that source ids belong to: the default one if it has them all, else the first that does.

    Args:
        names: source ids.
        added: files that are added to the catalogue.
    """
    editions = sorted(EDITIONS, key=DEFAULT_EDITION.__ne__)
    fitting = (edition for edition in editions if names <= load_catalogue(edition, *added).sources.keys())
    return next(fitting, DEFAULT_EDITION)


def check_sources(catalogue: Catalogue, paths: Mapping[str, Path], origin: str) -> None:
    """Check that all ids are known and all files there.

    Raises:
        InputError: naming the id with the known ones, or the file.
    """
    for name, path in paths.items():
        try:
            catalogue.source(name)
        except InputError as error:
            raise InputError(f"{origin}: {error}") from None
        try:
            check_file(path)
        except InputError as error:
            raise InputError(f"{origin}: {name} is {error}, or remove the line") from None


def find_sources(catalogue: Downloads, folder: Path) -> dict[str, Path]:
    """The source files in a folder, recognised by name; a name that downloads have goes before all others.

    Raises:
        InputError: the folder is absent, or two files could be the same source.
    """
    if not folder.is_dir():
        fault = "is a file, expected a folder" if folder.exists() else "no such folder"
        raise InputError(f"{folder}: {fault}; give the folder of the source files with --source-dir")
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_file() and entry.suffix not in UNFINISHED)
    found = {}
    for source, declared in catalogue.sources.items():
        matching = [name for name in names if any(fnmatch(name, pattern) for pattern in declared.files)]
        if declared.addresses and declared.file_name() in matching:
            matching = [declared.file_name()]
        if len(matching) > 1:
            both = f"{matching[0]} and {matching[1]}"
            raise InputError(f"{folder}: both {both} could be {source}; keep one, or name it in a source map")
        if matching:
            found[source] = folder / matching[0]
    return found


def where_to_save(source: Download, folder: Path) -> str:
    """The end of a message: where a file of a source belongs that is got by hand."""
    if source.addresses or source.saved_as:
        return f"save it as {folder / source.file_name()}"
    return f"save it in {folder} under a name like {' or '.join(source.files)}"


@contextmanager
def alone_in(folder: Path, *, wait: bool) -> Iterator[None]:
    """Keep other runs that ask for the same out of a folder; the system forgets it when a run ends, however it ends.

    The folder itself is locked, no file is made. Where that is not possible, nothing keeps others out.

    Args:
        folder: the folder.
        wait: whether another run is waited for.

    Raises:
        InputError: another run is in it, and is not waited for.
    """
    with ExitStack() as stack:
        try:
            import fcntl

            descriptor = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{folder}: another run is fetching into it; wait until that has ended") from None
        except (ImportError, OSError):  # neither Windows nor every network file system has such locks
            pass
        yield
