"""Source files from the network: kept where they are there already, fetched where not, refused where they are wrong.

A file has its final name only when all of it has come and has been checked; whatever is refused is removed again,
and an older good file stays until then. Files of different hosts come at the same time, of one host at most two.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field, replace
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Protocol

from openbiolink.errors import CatalogueError, InputError
from openbiolink.files import GZIP_MAGIC, ZIP_MAGIC, iter_unpacked, not_data, sha256_of
from openbiolink.sources.archive import check_archive, is_archive
from openbiolink.sources.declarations import Source
from openbiolink.sources.layout import SNIFFED_LINES
from openbiolink.sources.local import alone_in, find_sources, where_to_save
from openbiolink.sources.read import recognise_layout
from openbiolink.sources.servers import PAGE, Patience, Traffic, shown
from openbiolink.sources.transfer import check_size, forget, origin_of, read_origin, transfer, write_origin
from openbiolink.tables import first_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from openbiolink.files import Note
    from openbiolink.sources.declarations import Address
    from openbiolink.sources.local import Download, Downloads


PATIENCE = Patience()


class FetchProgress(Protocol):
    """Called as the bytes of a file come, by one thread at a time; the command line draws it."""

    def __call__(self, file: str, done: int, total: int | None) -> None:
        """Say that `done` of `total` bytes of `file` are there; None where the server does not say how many."""


def unwatched(file: str, done: int, total: int | None) -> None:
    """A progress report that nobody reads."""


def unheard(note: str) -> None:
    """A note that nobody reads."""


def unheeded(file: Fetched) -> None:
    """A file that nobody waits for."""


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
        kept: whether it was there already. A file that came whole in a run which was stopped before it could say so
            does not count as kept.
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
class FetchOptions:
    """How files are got.

    Attributes:
        online: whether servers are asked; otherwise the files that are there are checked only.
        refresh: fetch also what is there already.
        known: source → the only SHA-256 that is accepted, such as the lock's.
        patience: how long servers are waited for.
    """

    online: bool = True
    refresh: bool = False
    known: Mapping[str, str] = field(default_factory=dict)
    patience: Patience = PATIENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Who is told of what goes on. Files are told of one at a time, and so are notes and progress.

    Attributes:
        progress: told of the bytes of each file.
        note: told why an address or a file that is there was passed over.
        landed: told of each file as soon as it is there and good, before that is forgotten; an `InputError` that it
            raises makes the source a failed one.
    """

    progress: FetchProgress = unwatched
    note: Note = unheard
    landed: Callable[[Fetched], None] = unheeded


AS_USUAL = FetchOptions()
NOBODY = Listener()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """One source to get: its declaration, the folder, and what is known of it.

    Attributes:
        present: its file, if there is one that may be kept.
        known: the only SHA-256 that is accepted, or "".
        fault: why the file that is there is not kept.
    """

    name: str
    source: Download
    folder: Path
    present: Path | None
    known: str
    fault: str = ""

    def target(self) -> Path:
        """Where its file goes; only of a source with addresses."""
        return self.folder / self.source.file_name()

    def may_be_archive(self) -> bool:
        """Whether its file may hold several files; that of a source of a catalogue never does."""
        return not isinstance(self.source, Source)

    def part(self, address: Address) -> Path:
        """Where the bytes of an address go until they are all there."""
        number = self.source.addresses.index(address) + 1
        return self.folder / f"{self.source.file_name()}{'' if number == 1 else f'.{number}'}.part"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What all sources of a run share."""

    traffic: Traffic
    listener: Listener


def fetch_sources(
    catalogue: Downloads,
    names: Sequence[str],
    folder: Path,
    *,
    options: FetchOptions = AS_USUAL,
    listener: Listener = NOBODY,
) -> FetchReport:
    """Get the files of sources, all of them tried before it ends.

    A file that is there already is kept if it stands the checks. The addresses of a source are tried in order.

    Args:
        catalogue: the edition, or the published data sets, whose files may be archives of several files.
        names: the sources, by id.
        folder: where the files lie; made if it is absent and something is to be fetched.
        options: how they are got.
        listener: who is told.

    Raises:
        InputError: a source is unknown, the folder cannot be used, or another run is fetching into it.
        CatalogueError: two of the sources would be saved under one name.
    """
    found = find_sources(catalogue, folder) if folder.is_dir() else {}
    wanted = [_wanted(name, catalogue.source(name), folder, found.get(name), options) for name in dict.fromkeys(names)]
    _check_targets([one for one in wanted if one.source.addresses])
    run = _Run(traffic=Traffic(patience=options.patience), listener=_one_at_a_time(listener))
    try:
        checked = _at_once([one for one in wanted if one.present is not None], lambda one: _keep_present(one, run))
        kept = checked.fetched
        landed = _at_once([one for one in wanted if one.name in kept], lambda one: _land(one, kept[one.name], run))
        missing = [replace(one, fault=checked.failed.get(one.name, "")) for one in wanted if one.name not in kept]
        done = _fetch_missing(missing, folder, run, online=options.online)
    finally:
        run.traffic.stop.set()
    fetched, failed = landed.fetched | done.fetched, landed.failed | done.failed
    return FetchReport(
        fetched={one.name: fetched[one.name] for one in wanted if one.name in fetched},
        failed={one.name: failed[one.name] for one in wanted if one.name in failed},
    )


def _wanted(name: str, source: Download, folder: Path, found: Path | None, options: FetchOptions) -> _Wanted:
    return _Wanted(
        name=name,
        source=source,
        folder=folder,
        present=None if options.refresh and source.addresses else found,
        known=options.known.get(name, ""),
    )


def _check_targets(wanted: Sequence[_Wanted]) -> None:
    shared = [path for path, count in Counter(one.target() for one in wanted).items() if count > 1]
    if shared:
        both = " and ".join(one.name for one in wanted if one.target() == shared[0])
        raise CatalogueError(f"{both} would both be saved as {shared[0].name}; set `saved_as` of one to another name")


def _one_at_a_time(listener: Listener) -> Listener:
    """The same listener for several threads; whoever waits for what `landed` does holds up no transfer."""
    screen, files = Lock(), Lock()

    def in_turn(call: Callable[..., None], lock: Lock) -> Callable[..., None]:
        def wait(*told: Any) -> None:
            with lock:
                call(*told)

        return wait

    return Listener(
        progress=in_turn(listener.progress, screen),
        note=in_turn(listener.note, screen),
        landed=in_turn(listener.landed, files),
    )


def _at_once(wanted: Sequence[_Wanted], work: Callable[[_Wanted], Fetched]) -> FetchReport:
    """Every source in a thread of its own; they wait for each other where they need the same host."""
    fetched: dict[str, Fetched] = {}
    failed: dict[str, str] = {}
    broken: list[BaseException] = []

    def do(one: _Wanted) -> None:
        try:
            fetched[one.name] = work(one)
        except InputError as error:
            failed[one.name] = str(error)
        except BaseException as error:  # noqa: BLE001 - raised again below, in the thread that asked
            broken.append(error)

    threads = [Thread(target=do, args=(one,), daemon=True) for one in wanted]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if broken:
        raise broken[0]
    return FetchReport(fetched=fetched, failed=failed)


def _keep_present(one: _Wanted, run: _Run) -> Fetched:
    """The file that is there.

    Raises:
        InputError: it does not stand the checks; the message begins with its path.
    """
    path = one.present
    assert path is not None  # noqa: S101 - it is asked for only where there is one
    try:
        return _keep(one, path, run.listener.note)
    except InputError as error:
        raise InputError(f"{path} {error}") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error


def _land(one: _Wanted, fetched: Fetched, run: _Run) -> Fetched:
    """Tell of a file; only then what is kept for the case that this run is stopped is removed."""
    run.listener.landed(fetched)
    for address in one.source.addresses:
        if not fetched.kept:
            forget(one.part(address))
        elif not one.part(address).exists():
            origin_of(one.part(address)).unlink(missing_ok=True)
    return fetched


def _fetch_missing(missing: Sequence[_Wanted], folder: Path, run: _Run, *, online: bool) -> FetchReport:
    """Fetch what is not there, or say why that is not done."""
    if not missing:
        return FetchReport(fetched={}, failed={})
    if not online:
        absent = f"{folder}: there is no file of it"
        failed = {one.name: _way_out(one, [one.fault or absent], online=False) for one in missing}
        return FetchReport(fetched={}, failed=failed)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror}); choose another folder") from error
    with alone_in(folder, wait=False):
        return _at_once(missing, lambda one: _fetch_one(one, run))


def _fetch_one(one: _Wanted, run: _Run) -> Fetched:
    """The file of the first address which gives a good one."""
    faults = [one.fault] if one.fault else []
    try:
        for address in one.source.addresses:
            try:
                fetched = _fetch_from(one, address, run)
            except InputError as error:
                faults.append(f"{shown(address.url)} {error}")
                continue
            if faults:
                run.listener.note(f"{one.name}: {'; '.join(faults)}; took {address.url} instead")
            return _land(one, fetched, run)
    except OSError as error:
        place = error.filename or one.folder
        raise InputError(f"{one.name}: {place}: {error.strerror}; make room for it or choose another folder") from error
    raise InputError(_way_out(one, faults, online=True))


def _way_out(one: _Wanted, faults: Sequence[str], *, online: bool) -> str:
    by_hand, save = " ".join(one.source.by_hand.split()), where_to_save(one.source, one.folder)
    if not one.source.addresses:
        faults = [*faults, f"no address gives it, it must be got by hand ({by_hand or one.source.homepage})"]
        return f"{one.name}: {'; '.join(faults)}; {save}"
    hint = f" ({by_hand})" if by_hand else ""
    older = "; the older file stays there until then" if one.target().exists() and one.present is None else ""
    again = "" if online else "run again without --offline, or "
    url = shown(one.source.addresses[0].url)
    if one.known:
        older = f", if that is the file that the lock knows, or leave out --locked{older}"
    return f"{one.name}: {'; '.join(faults)}; {again}download {url} by hand{hint} and {save}{older}"


def _keep(one: _Wanted, path: Path, note: Note) -> Fetched:
    """A file that is there already and stands the checks of any address."""
    sha256, size = _measure(path, note, archive=one.may_be_archive())
    faults = [_misfit(address, sha256, size) for address in one.source.addresses]
    if one.known:
        _check_known(sha256, one.known)
    elif faults and all(faults):
        raise InputError(faults[0])
    kept = Fetched(source=one.name, path=path, url="", sha256=sha256, size=size, modified="", kept=True)
    for address in one.source.addresses:
        origin = read_origin(one.part(address))
        if origin is not None and origin[1] == sha256 and not one.part(address).exists():
            return replace(kept, url=origin[0].url, modified=origin[0].date(), kept=False)
    pinned = [address.url for address in one.source.addresses if address.sha256 == sha256]
    return replace(kept, url=pinned[0]) if pinned else kept


def _fetch_from(one: _Wanted, address: Address, run: _Run) -> Fetched:
    """The file of one address, under its final name only once it has been checked."""
    if one.known and address.sha256 is not None:
        _check_known(address.sha256, one.known)
    part, target = one.part(address), one.target()
    pinned = [other for other in one.source.addresses if other.sha256 and other.sha256 == address.sha256]
    version = transfer(
        address,
        part,
        others=[one.part(other) for other in pinned if other != address],
        traffic=run.traffic,
        report=lambda done, total: run.listener.progress(target.name, done, total),
    )
    try:
        sha256, size = _measure(part, run.listener.note, archive=one.may_be_archive(), whole=version.size is not None)
        _check_fit(one, address, sha256, size)
        _check_layout(one, part)
    except InputError:
        forget(part)
        raise
    write_origin(part, version, sha256)
    part.replace(target)
    return Fetched(
        source=one.name,
        path=target,
        url=address.url,
        sha256=sha256,
        size=size,
        modified=version.date(),
        kept=False,
    )


def _measure(path: Path, note: Note, *, archive: bool, whole: bool = True) -> tuple[str, int]:
    """The SHA-256 and the bytes of a file that can be read from its beginning to its end.

    Args:
        path: the file.
        note: told of bytes after the end of packed data.
        archive: whether it may hold several files.
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
        start = _test_packed(path, note, archive=archive)
    elif not whole and end != b"\n":
        raise InputError("ends inside a line, and the server does not say how long it is")
    if not start:
        raise InputError("is empty")
    if found := not_data(start):
        raise InputError(f"is {found}, not the file")
    return sha256_of(path), size


def _test_packed(path: Path, note: Note, *, archive: bool) -> bytes:
    """Unpack all of a file, and give the beginning of what is in it."""
    start = b""
    try:
        if archive and is_archive(path):
            check_archive(path)
            return ZIP_MAGIC
        for chunk in iter_unpacked(path, note):
            start = start or chunk[:PAGE]
    except InputError as error:
        words = str(error).removeprefix(f"{path}: ").partition(";")[0]
        raise InputError(f"cannot be unpacked: {words}") from error
    return start


def _misfit(address: Address, sha256: str, size: int) -> str:
    """In which way a file is not what the catalogue says of an address; empty where it is."""
    try:
        check_size(address, size)
    except InputError as error:
        return str(error)
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
    if not isinstance(one.source, Source):
        return
    lines = first_lines(part, lambda _: None, limit=SNIFFED_LINES)
    try:
        recognise_layout(lines, name=one.name, source=one.source, place=str(part))
    except InputError as error:
        raise InputError(str(error).removeprefix(str(part)).removeprefix(": ").removeprefix(", ")) from error


def _check_known(sha256: str, known: str) -> None:
    if sha256 != known:
        raise InputError(f"has sha256 {sha256}, the lock says {known}")
