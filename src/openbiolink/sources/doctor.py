"""Whether the sources of an edition can still be had: asked of their servers, without downloading whole files."""

from __future__ import annotations

import struct
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from openbiolink.errors import InputError, OpenBioLinkError
from openbiolink.files import GZIP_MAGIC, UTF8_BOM, ZIP_MAGIC, not_data
from openbiolink.progress import silent
from openbiolink.sources.declarations import Address
from openbiolink.sources.layout import SNIFFED_LINES
from openbiolink.sources.local import find_sources, where_to_save
from openbiolink.sources.lock import find_version, name_layout, search_version
from openbiolink.sources.servers import Patience, Traffic, shown
from openbiolink.sources.transfer import check_size, read_start
from openbiolink.tables import first_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from openbiolink.progress import Progress
    from openbiolink.sources.declarations import Catalogue, Source
    from openbiolink.sources.lock import Locked

State = Literal["ok", "moved", "down", "changed", "by hand"]
FIRST_BLOCK = 1 << 16  # bytes that are asked for
UNPACKED = 1 << 20  # bytes that are made of them at most
AT_ONCE = 8
HASTE = Patience(retries=1)  # a server that stays away must not hold up the answers of all others
ZIP_HEADER = struct.Struct("<4s5H3I2H")
DEFLATED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found out about one source.

    Attributes:
        source: its id.
        state: "ok"; "moved" (usable, in another version); "down" (no address gives it); "changed" (it has no known
            layout); "by hand" (it has no address, and is not here).
        words: what stands behind that, in one line, with the way out.
        ok: whether a build goes on: the source is usable or not wanted, or it can only be got by hand, so that a build
            goes without it.
    """

    source: str
    state: State
    words: str
    ok: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What the addresses of a source gave: the first lines of the file, where one of them gave it."""

    state: State
    words: str
    lines: tuple[str, ...] = ()


def check_sources_online(
    catalogue: Catalogue,
    names: Collection[str] = (),
    *,
    folder: Path,
    locked: Mapping[str, Locked] | None = None,
    progress: Progress = silent,
    patience: Patience = HASTE,
) -> list[Finding]:
    """Ask for the first block of every source, and look whether a reader would know it.

    Args:
        catalogue: the edition.
        names: the sources, all of which are wanted; by default all of the edition, of which those are wanted that are
            used by default.
        folder: where downloads lie; a source whose file is there is usable whatever its servers say.
        locked: the lock; a version that it has counts, not that of the catalogue.
        progress: told of every source that is done.
        patience: how long servers are waited for.

    Returns:
        A finding for each source, in the order of the catalogue.

    Raises:
        InputError: a name is unknown, or two files in the folder could be the same source.
    """
    for name in names:
        catalogue.source(name)
    sources = {name: source for name, source in catalogue.sources.items() if name in names or not names}
    here = find_sources(catalogue, folder) if folder.is_dir() else {}
    traffic = Traffic(patience=patience)
    wanted = {*(names or catalogue.used_by_default())}

    def examine(name: str, source: Source) -> Finding:
        answer = _ask(name, source, traffic)
        if answer.lines:
            answer = _compare_version(answer, source, (locked or {}).get(name), traffic)
        finding = _judge(name, source, answer, here=here.get(name), folder=folder)
        return finding if name in wanted else replace(finding, ok=True)

    findings: list[Finding] = []
    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        progress("ask servers", 0, len(sources))
        for finding in pool.map(examine, sources, sources.values()):
            findings.append(finding)
            progress("ask servers", len(findings), len(sources))
    finally:
        traffic.stop.set()
        pool.shutdown(cancel_futures=True)
    return findings


def find_version_online(source: Source, *, traffic: Traffic | None = None) -> str:
    """The version that the page of a source's probe states; "" where it has no such page, or none is found there.

    A web page is none, such as one that keeps robots out: any number may stand in it.
    """
    if source.probe is None or source.probe.url is None:
        return ""
    page = Address(url=source.probe.url, kind="rolling")
    try:
        block, _ = read_start(page, limit=FIRST_BLOCK, traffic=traffic or Traffic(patience=HASTE))
        return "" if not_data(block) else search_version(source.probe.pattern, _unpack_lines(block))
    except OpenBioLinkError:
        return ""


def _unpack_lines(block: bytes) -> tuple[str, ...]:
    """The first lines of a file, unpacked, without the last one if it may be cut.

    Raises:
        InputError: nothing is in the block, or what is in it is damaged.
    """
    try:
        text = unpack_start(block).removeprefix(UTF8_BOM).decode("utf-8", errors="replace")
    except (zlib.error, struct.error) as error:
        raise InputError(f"holds damaged compressed data ({error})") from error
    if not text:
        raise InputError("is empty")
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return tuple(lines[:-1] or lines)[:SNIFFED_LINES]


def unpack_start(block: bytes) -> bytes:
    """What the first bytes of a file hold when they are unpacked as far as they go.

    Args:
        block: the beginning of a gzip file, a zip file (of which the first member counts) or a plain file.

    Raises:
        zlib.error: the compressed data are damaged.
        struct.error: the head of a zip file is cut.
    """
    if block[:2] == GZIP_MAGIC:
        unpacked = b""
        while block[:2] == GZIP_MAGIC and len(unpacked) < UNPACKED:
            member = zlib.decompressobj(wbits=31)
            unpacked += member.decompress(block, UNPACKED)
            block = member.unused_data
        return unpacked
    if block[:4] != ZIP_MAGIC:
        return block
    head = ZIP_HEADER.unpack_from(block)
    method, name_length, extra_length = head[3], head[9], head[10]
    block = block[ZIP_HEADER.size + name_length + extra_length :]
    return zlib.decompressobj(wbits=-15).decompress(block, UNPACKED) if method == DEFLATED else block


def _ask(name: str, source: Source, traffic: Traffic) -> _Answer:
    """Try the addresses in order, until one gives a first block that a reader knows."""
    state: State = "down"
    faults: list[str] = []
    for address in source.addresses:
        place = shown(address.url)
        try:
            block, said = read_start(address, limit=FIRST_BLOCK, traffic=traffic)
            if found := not_data(block):
                raise InputError(f"is {found}, not the file")
            lines = _unpack_lines(block)
            if said["size"]:
                check_size(address, int(said["size"]))
        except OpenBioLinkError as error:
            faults.append(f"{place}: {error}")
            continue
        try:
            layout = name_layout(lines, name, source, place=place)
        except InputError as error:
            state = "changed"
            faults.append(str(error))
            continue
        return _Answer(state="ok", words="; ".join([f"layout {layout!r} at {place}", *faults]), lines=lines)
    return _Answer(state=state, words="; ".join(faults) or "has no address")


def _compare_version(answer: _Answer, source: Source, entry: Locked | None, traffic: Traffic) -> _Answer:
    """The answer with the version of the file, "moved" where another one was expected."""
    if source.probe is None:
        return answer
    found = find_version(source, answer.lines) or find_version_online(source, traffic=traffic)
    if not found:
        return replace(answer, words=f"no version found, {answer.words}")
    holder, expected = ("lock", entry.version) if entry is not None and entry.version else ("edition", source.version)
    if not expected or found == expected or found.startswith(tuple(f"{expected}{mark}" for mark in "-._")):
        return replace(answer, words=f"version {found}, {answer.words}")
    return replace(answer, state="moved", words=f"version {found}, the {holder} has {expected}; {answer.words}")


def _judge(name: str, source: Source, answer: _Answer, *, here: Path | None, folder: Path) -> Finding:
    """What the answer and the file that is here, if any, mean for a build."""
    usable = answer.state in {"ok", "moved"}
    if here is not None and (fault := _size_fault(source, here)):
        answer, here = replace(answer, words=f"{here} {fault}; {answer.words}"), None
    if here is None and not source.addresses:
        return Finding(source=name, state="by hand", words=_way_out(source, folder), ok=True)
    if here is None:
        words = answer.words if usable else f"{answer.words}; {_way_out(source, folder)}"
        return Finding(source=name, state=answer.state, words=words, ok=usable)
    try:
        layout = name_layout(first_lines(here, lambda _: None, limit=SNIFFED_LINES), name, source, place=str(here))
    except InputError as error:
        return Finding(source=name, state="changed", words=f"{error}; or remove it", ok=False)
    if not source.addresses:
        return Finding(source=name, state="ok", words=f"layout {layout!r} in {here}, got by hand", ok=True)
    words = answer.words if usable else f"{answer.words}; a build uses {here}"
    return Finding(source=name, state=answer.state, words=words, ok=True)


def _size_fault(source: Source, path: Path) -> str:
    """Why the size of a file fits no address of its source; nothing where it does."""
    faults = []
    for address in source.addresses:
        try:
            check_size(address, path.stat().st_size)
        except InputError as error:
            faults.append(str(error))
        else:
            return ""
    return faults[0] if faults else ""


def _way_out(source: Source, folder: Path) -> str:
    hint = f" ({' '.join(source.by_hand.split())})" if source.by_hand else ""
    if source.addresses:
        return f"download it by hand{hint} and {where_to_save(source, folder)}"
    return f"get it{hint or f' ({source.homepage})'} and {where_to_save(source, folder)}"
