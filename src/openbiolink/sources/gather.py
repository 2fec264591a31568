"""Which file each source of a build is read from: named by the user, found in a folder, or fetched and locked.

Downloads lie in `DIR/sources/EDITION/`, the lock is `DIR/openbiolink.lock`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from openbiolink.errors import InputError
from openbiolink.sources.fetch import fetch_sources
from openbiolink.sources.local import find_sources
from openbiolink.sources.lock import Locked, check_locked, describe_source, read_lock, write_lock

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from openbiolink.files import Note
    from openbiolink.sources.declarations import Catalogue
    from openbiolink.sources.fetch import Fetched, FetchProgress

LOCK = "openbiolink.lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """The files of a build.

    Attributes:
        edition: the edition that they are for.
        paths: source id → file.
        entries: source id → what the lock says of it.
    """

    edition: str
    paths: dict[str, Path]
    entries: dict[str, Locked]

    def origins(self) -> dict[str, dict[str, str]]:
        """Source id → where it was fetched from and which version it says it is, as far as known."""
        return {name: {"url": entry.url, "version": entry.version} for name, entry in sorted(self.entries.items())}


def downloads(directory: Path, catalogue: Catalogue) -> Path:
    """The folder that downloads of an edition lie in."""
    return directory / "sources" / catalogue.edition


def gather_sources(
    catalogue: Catalogue,
    wanted: Collection[str],
    directory: Path,
    *,
    mapped: Mapping[str, Path],
    folder: Path | None,
    online: bool,
    locked: bool,
    progress: FetchProgress,
    note: Note,
) -> Gathered:
    """Find a file for every wanted source, fetching those that are missing.

    Args:
        catalogue: the edition.
        wanted: ids of the sources that a build would use.
        directory: where downloads and the lock lie.
        mapped: files that the user named; they go before all others.
        folder: a folder of the user that is searched by file names.
        online: whether missing files are fetched; downloads of earlier runs are used then, and whenever the user
            named neither files nor a folder.
        locked: whether files that are not as the lock says are refused.
        progress: told of the bytes of each file.
        note: told of sources that can only be got by hand.

    Raises:
        InputError: nothing is there, a source cannot be fetched, or a file is not as the lock says.
    """
    lock = read_lock(directory / LOCK, catalogue.edition)
    if locked and not lock:
        raise InputError(
            f"{directory / LOCK}: has nothing on edition {catalogue.edition}; --locked needs the lock of an earlier run"
        )
    store = downloads(directory, catalogue)
    used_store = online or not (mapped or folder)
    paths: dict[str, Path] = find_sources(catalogue, store) if used_store and store.is_dir() else {}
    paths |= find_sources(catalogue, folder) if folder is not None else {}
    paths = {name: path for name, path in (paths | dict(mapped)).items() if name in wanted}
    fetched: dict[str, Fetched] = {}
    if online:
        missing = [name for name in wanted if name not in paths]
        known = {name: lock[name].sha256 for name in missing if name in lock} if locked else {}
        fetched = _fetch(catalogue, missing, store, known=known, progress=progress, note=note)
        paths |= {name: file.path for name, file in fetched.items()}
    if not paths:
        raise InputError(
            f"none of the {len(wanted)} sources of edition {catalogue.edition} that are wanted is there; fetch them "
            "with `openbiolink sources fetch`, or name files with --source-map FILE.toml or --source-dir DIR; "
            "docs/sources.md has their names, and `openbiolink demo` runs on built-in ones"
        )
    entries = {
        name: describe_source(
            name,
            catalogue.sources[name],
            path,
            url=fetched[name].url if name in fetched else "",
            earlier=lock.get(name),
        )
        for name, path in sorted(paths.items())
    }
    if locked and (differences := check_locked(lock, entries, wanted=wanted)):
        raise InputError(f"{directory / LOCK}: {'; '.join(differences)}; leave out --locked to take what is there now")
    return Gathered(edition=catalogue.edition, paths=paths, entries=entries)


def record(directory: Path, gathered: Gathered) -> None:
    """Write what the files of a build were into the lock of a folder.

    Raises:
        InputError: the lock that is there is none, or cannot be written.
    """
    write_lock(directory / LOCK, gathered.edition, gathered.entries)


def _fetch(
    catalogue: Catalogue,
    missing: Sequence[str],
    store: Path,
    *,
    known: Mapping[str, str],
    progress: FetchProgress,
    note: Note,
) -> dict[str, Fetched]:
    """Fetch what can be fetched; what only a person can get is noted.

    Raises:
        InputError: a source cannot be fetched, after all have been tried.
    """
    for name in missing:
        if not catalogue.sources[name].addresses:
            note(f"{name} has no address: {catalogue.sources[name].by_hand}; see `openbiolink sources show {name}`")
    fetchable = [name for name in missing if catalogue.sources[name].addresses]
    if not fetchable:
        return {}
    report = fetch_sources(catalogue, fetchable, store, known=known, progress=progress, note=note)
    if report.failed:
        failures = "; ".join(report.failed.values())
        raise InputError(
            f"{len(report.failed)} of {len(fetchable)} sources could not be fetched: {failures}; "
            "run the command again to go on, or leave a source out with --exclude-source"
        )
    return dict(report.fetched)
