"""One file from one address: gone on with after a cut, started anew when it has changed.

The bytes that came stand in a `.part` file; beside it an `.origin.part` file says which version of which address
they are the beginning of. Bytes of another address or version are never added to them, and whoever stops the
program at whatever moment loses at most the bytes that were on their way. Each address has a `.part` file of its own;
only of addresses that pin the same checksum one may go on where another stopped.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from itertools import chain
from typing import TYPE_CHECKING

from openbiolink.errors import InputError
from openbiolink.files import not_data
from openbiolink.sources.servers import CutError, StaleError, Traffic, Version, open_address

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from openbiolink.sources.declarations import Address

CUTS = 50


def origin_of(part: Path) -> Path:
    """The file that says what a `.part` file is the beginning of."""
    return part.with_suffix(".origin.part")


def read_origin(part: Path) -> tuple[Version, str] | None:
    """The version that a `.part` file is the beginning of, and its SHA-256 where that is known; None if nothing tells.

    What is written there may have been cut or changed: all of it is to be checked.
    """
    try:
        found = json.loads(origin_of(part).read_text(encoding="utf-8"))
        sha256 = found.pop("sha256", "")
        version = Version(**found)
    except (OSError, ValueError, TypeError, AttributeError):
        return None
    texts = (version.url, version.etag, version.modified, sha256)
    sound = isinstance(version.size, int | None) and all(isinstance(text, str) for text in texts)
    return (version, sha256) if sound else None


def write_origin(part: Path, version: Version, sha256: str) -> None:
    """Say what a `.part` file is the beginning of, and the SHA-256 of the whole file where that is known, else ""."""
    origin_of(part).write_text(json.dumps({**asdict(version), "sha256": sha256}), encoding="utf-8")


def forget(part: Path) -> None:
    """Remove an unfinished transfer."""
    origin_of(part).unlink(missing_ok=True)
    part.unlink(missing_ok=True)


def transfer(
    address: Address,
    part: Path,
    *,
    others: Sequence[Path] = (),
    traffic: Traffic,
    report: Callable[[int, int | None], None],
) -> Version:
    """Bring the file at an address into `part`, going on from what an earlier run left there.

    Args:
        address: where the file is.
        part: where its bytes go.
        others: `.part` files of addresses that pin the same checksum; the longest is gone on with.
        traffic: what all transfers of the run share.
        report: told how many bytes have come, of how many.

    Returns:
        The version that came; its `size` is None only where nothing proves that the file is whole.

    Raises:
        InputError: the address does not give the file; the message says what it gives, without naming the address.
        OSError: the file cannot be written.
    """
    most = part.stat().st_size if part.is_file() else 0
    idle, patience = 0, traffic.patience
    for _ in range(CUTS):
        try:
            return _attempt(address, _longest(address, (part, *others)), part, traffic, report)
        except CutError as cut:
            reason = str(cut)
            if isinstance(cut, StaleError) and not others:
                origin_of(part).unlink(missing_ok=True)
            others = () if isinstance(cut, StaleError) else others
        have = part.stat().st_size if part.is_file() else 0
        idle, most = (0, have) if have > most else (idle + 1, most)
        if idle > patience.retries or traffic.stop.wait(min(patience.backoff * 2**idle, patience.longest_wait)):
            break
    raise InputError(f"{reason}, again and again; the next run goes on from there if the server lets it")


def read_start(address: Address, *, limit: int, traffic: Traffic | None = None) -> tuple[bytes, dict[str, str]]:
    """The first bytes of a remote file, as they are: nothing is unpacked, and web pages are not refused.

    Args:
        address: where the file is.
        limit: how many bytes at most.
        traffic: what all transfers of a run share.

    Returns:
        The bytes, and what the server says of the file: `etag`, `modified` (YYYY-MM-DD) and `size`, each empty
        where it says nothing.

    Raises:
        InputError: the address does not answer, or not with a file; the message does not name the address.
    """
    traffic = traffic or Traffic()
    start = b""
    try:
        with open_address(address, None, (0, limit), traffic) as opened:
            for chunk in opened.chunks:
                start += chunk
                if len(start) >= limit:
                    break
    except CutError as cut:
        if not start:
            raise InputError(str(cut)) from cut
    version = opened.version
    size = "" if version.size is None else str(version.size)
    return start[:limit], {"etag": version.etag, "modified": version.date(), "size": size}


def _attempt(
    address: Address, beginning: Path, part: Path, traffic: Traffic, report: Callable[[int, int | None], None]
) -> Version:
    """Bring the rest of the file, going on from `beginning`, which is `part` or that of another address."""
    earlier, have = _resumable(address, beginning)
    with open_address(address, earlier, (have, None), traffic) as opened:
        first = next(opened.chunks, b"")
        if opened.start == 0:
            _check_start(address, opened.version, first)
            origin_of(part).unlink(missing_ok=True)
            part.write_bytes(b"")
            write_origin(part, opened.version, address.sha256 or "")
        elif beginning != part:
            origin_of(part).unlink(missing_ok=True)
            beginning.replace(part)
            write_origin(part, opened.version, address.sha256 or "")
            origin_of(beginning).unlink(missing_ok=True)
        done, size = opened.start, opened.version.size
        with part.open("r+b") as stream:
            stream.truncate(done)
            stream.seek(done)
            for chunk in chain([first], opened.chunks):
                stream.write(chunk)
                done += len(chunk)
                report(done, size)
                if traffic.stop.is_set():
                    raise CutError("was given up")
            stream.flush()
            os.fsync(stream.fileno())
    if size is not None and done != size:
        raise CutError(f"broke off at byte {done} of {size}")
    return replace(opened.version, size=done if opened.end_is_told else None)


def _longest(address: Address, parts: Sequence[Path]) -> Path:
    """The longest beginning of the file, the first of several."""
    return max(parts, key=lambda part: _resumable(address, part)[1])


def _resumable(address: Address, part: Path) -> tuple[Version | None, int]:
    """The version that `part` is the beginning of and the byte to go on from; None and 0 where that is not sure.

    Of a file whose bytes are all there the last one is asked for again: the answer tells whether it has changed.
    """
    origin = read_origin(part)
    if origin is None or not part.is_file():
        return None, 0
    version, sha256 = origin
    if version.url != address.url:
        if address.sha256 is None or address.sha256 != sha256:
            return None, 0
        version = Version(url=address.url, size=version.size)  # what another server calls it proves nothing here
    if not (version.etag or version.modified or address.sha256):
        return None, 0
    have = part.stat().st_size
    return version, have if version.size is None else min(have, max(version.size - 1, 0))


def check_size(address: Address, size: int) -> None:
    """Refuse a file of a size that it cannot have.

    Raises:
        InputError: the message does not name the address.
    """
    if address.size is not None and size != address.size:
        raise InputError(f"has {size} bytes, expected {address.size}")
    if size < address.min_bytes:
        raise InputError(f"has {size} bytes, fewer than the {address.min_bytes} of a whole file")


def _check_start(address: Address, version: Version, first: bytes) -> None:
    """Refuse a wrong file by its first bytes and its size, before anything that has come earlier is given up."""
    if not first:
        raise InputError("is empty")
    if found := not_data(first):
        raise InputError(f"is {found}, not the file")
    if version.size is not None:
        check_size(address, version.size)
