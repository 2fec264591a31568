"""Source files from the network: kept where they are there already, fetched where not, refused where they are wrong.

A file has its final name only when all of it has come and has been checked; whatever is refused is removed again,
and an older good file stays until then. Files of different hosts come at the same time, of one host at most two.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock, Thread
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from openbiolink.errors import CatalogueError, InputError
from openbiolink.files import GZIP_MAGIC, ZIP_MAGIC, iter_unpacked, not_data, sha256_of
from openbiolink.sources.layout import SNIFFED_LINES
from openbiolink.sources.local import find_sources
from openbiolink.sources.read import recognise_layout
from openbiolink.sources.servers import PAGE, Patience, Traffic, shown
from openbiolink.sources.transfer import forget, origin_of, transfer
from openbiolink.tables import first_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from openbiolink.files import Note
    from openbiolink.sources.declarations import Address, Catalogue, Source

LOCK = "fetch.lock"


class FetchProgress(Protocol):
    """Called as the bytes of a file come, by one thread at a time; the command line draws it."""

    def __call__(self, file: str, done: int, total: int | None) -> None:
        """Say that `done` of `total` bytes of `file` are there; None where the server does not say how many."""


def unwatched(file: str, done: int, total: int | None) -> None:
    """A progress report that nobody reads."""


def unheard(note: str) -> None:
    """A note that nobody reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """One source's file on the disk.

    Attributes:
        source: the source.
        path: its file.
        url: the address that it came from; empty where it was there already and no pinned checksum tells.
        sha256: checksum of the file as it is, in hex.
        size: its bytes.
        modified: when it was last changed, as the server said (YYYY-MM-DD); empty where unknown.
        kept: whether it was there already and was not transferred.
    """

    source: str
    path: Path
    url: str
    sha256: str
    size: int
    modified: str
    kept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchReport:
    """What became of every source that was asked for, in that order.

    Attributes:
        fetched: source → its file.
        failed: source → one line that says what each address gave instead, and the way out.
    """

    fetched: dict[str, Fetched]
    failed: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """One source to get: its declaration, where its file goes, and what is known of it."""

    name: str
    source: Source
    target: Path
    present: Path | None
    known: str

    def part(self) -> Path:
        return self.target.with_name(f"{self.target.name}.part")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What all sources of a run share; notes and progress are passed on one at a time."""

    traffic: Traffic
    progress: FetchProgress
    note: Note


def fetch_sources(
    catalogue: Catalogue,
    names: Sequence[str],
    folder: Path,
    *,
    refresh: bool = False,
    known: Mapping[str, str] = MappingProxyType({}),
    progress: FetchProgress = unwatched,
    note: Note = unheard,
    patience: Patience | None = None,
) -> FetchReport:
    """Get the files of sources, all of them tried before it ends.

    A file that is there already is kept if it stands the checks. The addresses of a source are tried in order.

    Args:
        catalogue: the edition.
        names: the sources, by id.
        folder: where the files lie; made if it is absent.
        refresh: fetch also what is there already.
        known: source → the only SHA-256 that is accepted, such as the lock's.
        progress: told of the bytes of each file.
        note: told why an address or a file that is there was passed over.
        patience: how long servers are waited for.

    Raises:
        InputError: a source is unknown, the folder cannot be used, or another run is fetching into it.
        CatalogueError: two of the sources would be saved under one name.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror}); choose another folder") from error
    with _alone(folder):
        present = find_sources(catalogue, folder)
        wanted = [
            _wanted(name, catalogue.source(name), folder, present=present.get(name), refresh=refresh, known=known)
            for name in dict.fromkeys(names)
        ]
        shared = [path for path, count in Counter(one.target for one in wanted).items() if count > 1]
        if shared:
            both = " and ".join(one.name for one in wanted if one.target == shared[0])
            raise CatalogueError(
                f"{both} would both be saved as {shared[0].name}; set `saved_as` of one to another name"
            )
        return _fetch_all(wanted, progress, note, patience or Patience())


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder; the system forgets this lock when a run ends, however it ends."""
    with (folder / LOCK).open("ab") as stream:
        try:
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{folder}: another run is fetching into it; wait until that has ended") from None
        except (ImportError, OSError):  # neither Windows nor every network file system has such locks
            pass
        yield


def _wanted(
    name: str, source: Source, folder: Path, *, present: Path | None, refresh: bool, known: Mapping[str, str]
) -> _Wanted:
    return _Wanted(
        name=name,
        source=source,
        target=folder / (source.file_name() if source.addresses else source.saved_as or source.files[0]),
        present=None if refresh and source.addresses else present,
        known=known.get(name, ""),
    )


def _fetch_all(wanted: Sequence[_Wanted], progress: FetchProgress, note: Note, patience: Patience) -> FetchReport:
    """Every source in a thread of its own; they wait for each other where they need the same host."""
    lock, traffic = Lock(), Traffic(patience=patience)
    fetched: dict[str, Fetched] = {}
    failed: dict[str, str] = {}
    broken: list[BaseException] = []

    def tell(text: str) -> None:
        with lock:
            note(text)

    def draw(file: str, done: int, total: int | None) -> None:
        with lock:
            progress(file, done, total)

    def work(one: _Wanted) -> None:
        try:
            fetched[one.name] = _fetch_one(one, _Run(traffic=traffic, progress=draw, note=tell))
        except InputError as error:
            failed[one.name] = str(error)
        except BaseException as error:  # noqa: BLE001 - raised again below, in the thread that asked
            broken.append(error)

    threads = [Thread(target=work, args=(one,), daemon=True) for one in wanted]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        traffic.stop.set()
    if broken:
        raise broken[0]
    names = [one.name for one in wanted]
    return FetchReport(
        fetched={name: fetched[name] for name in names if name in fetched},
        failed={name: failed[name] for name in names if name in failed},
    )


def _fetch_one(one: _Wanted, run: _Run) -> Fetched:
    """The file of a source: the one that is there, or else that of the first address which gives a good one."""
    faults = []
    try:
        if one.present is not None:
            try:
                return _keep(one, one.present, run.note)
            except InputError as error:
                faults.append(f"{one.present} {error}")
        for address in one.source.addresses:
            try:
                fetched = _fetch_from(one, address, run)
            except InputError as error:
                faults.append(f"{shown(address.url)} {error}")
            else:
                if faults:
                    run.note(f"{one.name}: {'; '.join(faults)}; took {address.url} instead")
                return fetched
    except OSError as error:
        place = error.filename or one.part()
        raise InputError(f"{one.name}: {place}: {error.strerror}; make room for it or choose another folder") from error
    raise InputError(_way_out(one, faults))


def _way_out(one: _Wanted, faults: Sequence[str]) -> str:
    by_hand = " ".join(one.source.by_hand.split())
    if not one.source.addresses:
        faults = [*faults, f"no address gives it, it must be got by hand ({by_hand or one.source.homepage})"]
        return f"{one.name}: {'; '.join(faults)}; save it as {one.target}"
    hint = f" ({by_hand})" if by_hand else ""
    older = "; the older file stays there until then" if one.target.exists() and one.present is None else ""
    url = shown(one.source.addresses[0].url)
    return f"{one.name}: {'; '.join(faults)}; download {url} by hand{hint} and save it as {one.target}{older}"


def _keep(one: _Wanted, path: Path, note: Note) -> Fetched:
    """A file that is there already and stands the checks of any address."""
    sha256, size = _measure(path, note)
    faults = [_misfit(address, sha256, size) for address in one.source.addresses]
    if one.known:
        _check_known(sha256, one.known)
    elif faults and all(faults):
        raise InputError(faults[0])
    if not one.part().exists():
        origin_of(one.part()).unlink(missing_ok=True)  # of a run that was killed right after its last rename
    pinned = [address.url for address in one.source.addresses if address.sha256 == sha256]
    url = pinned[0] if pinned else ""
    return Fetched(source=one.name, path=path, url=url, sha256=sha256, size=size, modified="", kept=True)


def _fetch_from(one: _Wanted, address: Address, run: _Run) -> Fetched:
    """The file of one address, under its final name only once it has been checked."""
    if one.known and address.sha256 is not None:
        _check_known(address.sha256, one.known)
    part = one.part()
    version = transfer(
        address, part, traffic=run.traffic, report=lambda done, total: run.progress(one.target.name, done, total)
    )
    try:
        sha256, size = _measure(part, run.note, whole=version.size is not None)
        _check_fit(one, address, sha256, size)
        _check_layout(one, part)
    except InputError:
        forget(part)
        raise
    part.replace(one.target)
    origin_of(part).unlink(missing_ok=True)
    return Fetched(
        source=one.name,
        path=one.target,
        url=address.url,
        sha256=sha256,
        size=size,
        modified=version.date(),
        kept=False,
    )


def _measure(path: Path, note: Note, *, whole: bool = True) -> tuple[str, int]:
    """The SHA-256 and the bytes of a file that can be read from its beginning to its end.

    Args:
        path: the file.
        note: told of bytes after the end of packed data.
        whole: False where only the file itself can tell whether all of it has come.

    Raises:
        InputError: it is empty, a web page, a pointer, or packed data that are damaged or cut short.
    """
    with path.open("rb") as stream:
        start = stream.read(PAGE)
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(size - 1, 0))
        end = stream.read(1)
    if start.startswith((GZIP_MAGIC, ZIP_MAGIC)):
        start = _test_packed(path, note)
    elif not whole and end != b"\n":
        raise InputError("ends inside a line, and the server does not say how long it is")
    if not start:
        raise InputError("is empty")
    if found := not_data(start):
        raise InputError(f"is {found}, not the file")
    return sha256_of(path), size


def _test_packed(path: Path, note: Note) -> bytes:
    """Unpack all of a file, and give the beginning of what is in it."""
    start = b""
    try:
        for chunk in iter_unpacked(path, note):
            start = start or chunk[:PAGE]
    except InputError as error:
        words = str(error).removeprefix(f"{path}: ").partition(";")[0]
        raise InputError(f"cannot be unpacked: {words}") from error
    return start


def _misfit(address: Address, sha256: str, size: int) -> str:
    """In which way a file is not what the catalogue says of an address; empty where it is."""
    if address.size is not None and size != address.size:
        return f"has {size} bytes, expected {address.size}"
    if size < address.min_bytes:
        return f"has {size} bytes, fewer than the {address.min_bytes} of a whole file"
    if address.sha256 is not None and sha256 != address.sha256:
        return f"has sha256 {sha256}, expected {address.sha256}"
    return ""


def _check_fit(one: _Wanted, address: Address, sha256: str, size: int) -> None:
    if fault := _misfit(address, sha256, size):
        raise InputError(fault)
    if one.known:
        _check_known(sha256, one.known)


def _check_layout(one: _Wanted, part: Path) -> None:
    """Refuse a file that no build could read, before it takes the place of one that it could."""
    lines = first_lines(part, lambda _: None, limit=SNIFFED_LINES)
    try:
        recognise_layout(lines, name=one.name, source=one.source, place=str(part))
    except InputError as error:
        raise InputError(str(error).removeprefix(str(part)).removeprefix(": ").removeprefix(", ")) from error


def _check_known(sha256: str, known: str) -> None:
    if sha256 != known:
        raise InputError(f"has sha256 {sha256}, the lock says {known}")
