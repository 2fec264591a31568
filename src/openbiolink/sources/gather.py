"""Which file each source of a build is read from: named by the user, found in a folder, or fetched and locked.

Downloads lie in `DIR/sources/EDITION/`, the lock is `DIR/openbiolink.lock`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from openbiolink.errors import InputError
from openbiolink.sources.doctor import find_version_online
from openbiolink.sources.fetch import AS_USUAL, NOBODY, FetchOptions, fetch_sources
from openbiolink.sources.local import find_sources
from openbiolink.sources.lock import Locked, check_locked, describe_source, read_lock, write_lock

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from openbiolink.files import Note
    from openbiolink.sources.declarations import Catalogue
    from openbiolink.sources.fetch import Fetched, Listener

LOCK = "openbiolink.lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """Where the files of a build come from.

    Attributes:
        mapped: files that the user named, by source id; they go before all others.
        folder: a folder of the user that is searched by file names.
        online: whether missing files are fetched; downloads of earlier runs are used then, and whenever the user
            named neither files nor a folder.
        locked: whether files that are not as the lock says are refused.
    """

    mapped: Mapping[str, Path] = field(default_factory=dict)
    folder: Path | None = None
    online: bool = True
    locked: bool = False


FETCHED = SourceOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """The files of sources among the downloads.

    Attributes:
        files: source id → its file.
        entries: the same ids → what the lock says of it.
        failed: source id → one line that says why it could not be had, and the way out.
    """

    files: dict[str, Fetched]
    entries: dict[str, Locked]
    failed: dict[str, str]


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


def fetch_and_lock(
    catalogue: Catalogue,
    names: Sequence[str],
    directory: Path,
    *,
    options: FetchOptions = AS_USUAL,
    locked: bool = False,
    listener: Listener = NOBODY,
) -> Stored:
    """Get the files of sources, and write into the lock what each is as soon as it is there.

    So nothing that is known of a file is lost when another source fails or the run is stopped.

    Args:
        catalogue: the edition.
        names: the sources, by id.
        directory: where downloads and the lock lie.
        options: how they are got.
        locked: whether only files are accepted that the lock knows; the lock is not written then.
        listener: who is told; also of a file that is there and is not the one that the lock knows.

    Raises:
        InputError: as `fetch_sources`, or what is there is no lock.
        CatalogueError: as `fetch_sources`.
    """
    path = directory / LOCK
    lock = read_lock(path, catalogue.edition)
    entries: dict[str, Locked] = {}

    def land(file: Fetched) -> None:
        earlier = lock.get(file.source)
        if file.kept and not locked:
            _note_other(file.source, file.path, earlier, sha256=file.sha256, note=listener.note)
        try:
            entry = _describe(catalogue, file, earlier, listener.note)
            if not locked:
                write_lock(path, catalogue.edition, {file.source: entry})
        except InputError as error:
            raise InputError(f"{file.source}: {error}") from error
        entries[file.source] = entry
        listener.landed(file)

    known = {name: lock[name].sha256 for name in names if name in lock} if locked else options.known
    report = fetch_sources(
        catalogue,
        names,
        downloads(directory, catalogue),
        options=replace(options, known=known),
        listener=replace(listener, landed=land),
    )
    return Stored(files=report.fetched, entries={name: entries[name] for name in report.fetched}, failed=report.failed)


def gather_sources(
    catalogue: Catalogue,
    wanted: Collection[str],
    directory: Path,
    *,
    options: SourceOptions = FETCHED,
    listener: Listener = NOBODY,
) -> Gathered:
    """Find a file for every wanted source, fetching those that are missing.

    Downloads of earlier runs stand the checks of new ones; files that the user named are taken as they are.

    Args:
        catalogue: the edition.
        wanted: ids of the sources that a build would use.
        directory: where downloads and the lock lie.
        options: where files come from.
        listener: who is told; also of sources that can only be got by hand.

    Raises:
        InputError: nothing is there, a source cannot be fetched, a download of an earlier run does not stand the
            checks, or a file is not as the lock says.
    """
    path = directory / LOCK
    lock = read_lock(path, catalogue.edition)
    if options.locked and not lock:
        raise InputError(
            f"{path}: has nothing on edition {catalogue.edition}; --locked needs the lock of an earlier run"
        )
    found = find_sources(catalogue, options.folder) if options.folder is not None else {}
    paths = {name: file for name, file in (found | dict(options.mapped)).items() if name in wanted}
    names = _stored_names(
        catalogue, [name for name in wanted if name not in paths], directory, options=options, note=listener.note
    )
    if options.locked and (unknown := sorted({*paths, *names} - {*lock})):
        raise _not_as_locked(path, [f"{name}: is not in the lock" for name in unknown])
    stored = fetch_and_lock(
        catalogue,
        names,
        directory,
        options=FetchOptions(online=options.online),
        locked=options.locked,
        listener=listener,
    )
    _check_stored(stored, online=options.online)
    entries = stored.entries | {
        name: describe_source(name, catalogue.sources[name], file, earlier=lock.get(name), note=listener.note)
        for name, file in paths.items()
    }
    if not options.locked:
        for name, file in paths.items():
            _note_other(name, file, lock.get(name), sha256=entries[name].sha256, note=listener.note)
    if not entries:
        raise InputError(
            f"none of the {len(wanted)} sources of edition {catalogue.edition} that are wanted is there; fetch them "
            "with `openbiolink sources fetch`, or name files with --source-map FILE.toml or --source-dir DIR; "
            "docs/sources.md has their names, and `openbiolink demo` runs on built-in ones"
        )
    if options.locked and (differences := check_locked(lock, entries, wanted=wanted)):
        raise _not_as_locked(path, differences)
    paths |= {name: file.path for name, file in stored.files.items()}
    return Gathered(edition=catalogue.edition, paths=paths, entries=dict(sorted(entries.items())))


def _note_other(name: str, file: Path, earlier: Locked | None, *, sha256: str, note: Note) -> None:
    """Say that a file is not the one that the lock knows."""
    if earlier is not None and earlier.sha256 != sha256:
        note(
            f"{name}: {file} is not the file that {LOCK} knows: it has sha256 {sha256}, not {earlier.sha256}; "
            "it is taken, and locked from now on"
        )


def record(directory: Path, gathered: Gathered) -> None:
    """Write what the files of a build were into the lock of a folder.

    Raises:
        InputError: the lock that is there is none, or cannot be written.
    """
    write_lock(directory / LOCK, gathered.edition, gathered.entries)


def _describe(catalogue: Catalogue, file: Fetched, earlier: Locked | None, note: Note) -> Locked:
    """The entry of a file in the lock; a version that only a page elsewhere states is looked up when a file is new."""
    source = catalogue.sources[file.source]
    entry = describe_source(file.source, source, file.path, fetched=file, earlier=earlier, note=note)
    known = file.kept or (earlier is not None and earlier.sha256 == entry.sha256)
    return entry if entry.version or known else replace(entry, version=find_version_online(source))


def _stored_names(
    catalogue: Catalogue, wanted: Iterable[str], directory: Path, *, options: SourceOptions, note: Note
) -> list[str]:
    """The wanted sources whose files lie among the downloads, or come there; what only a person can get is noted."""
    if not options.online and (options.mapped or options.folder is not None):
        return []
    folder = downloads(directory, catalogue)
    present = find_sources(catalogue, folder) if folder.is_dir() else {}
    names = []
    for name in wanted:
        source = catalogue.sources[name]
        if name in present or (options.online and source.addresses):
            names.append(name)
        elif options.online:
            note(f"{name} has no address: {source.by_hand}; see `openbiolink sources show {name}`")
    return names


def _check_stored(stored: Stored, *, online: bool) -> None:
    """Refuse to go on without a source that was to be fetched or that lies there damaged."""
    if not stored.failed:
        return
    count = f"{len(stored.failed)} of {len(stored.failed) + len(stored.files)} sources"
    fault = "could not be fetched" if online else "cannot be read from the downloads"
    raise InputError(
        f"{count} {fault}: {'; '.join(stored.failed.values())}; "
        f"{'run the command again to go on, or ' if online else ''}leave a source out with --exclude-source"
    )


def _not_as_locked(path: Path, differences: Sequence[str]) -> InputError:
    return InputError(f"{path}: {'; '.join(differences)}; leave out --locked to take what is there now")
