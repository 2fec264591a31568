"""Files that can be trusted: unpacked and checked when read, whole or absent when written."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import zipfile
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from openbiolink.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Note = Callable[[str], None]

CHUNK = 1 << 20  # bytes that are handled at once
MAX_LINE = 1 << 24  # bytes that a line of text may have
GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK\x03\x04"
UTF8_BOM = b"\xef\xbb\xbf"
INDEX_FILE = "filter-index.bin"  # of `openbiolink.index`, beside the parts of a data set, whoever wrote those
ASIDE = "-old"  # ends the name of a folder that is being replaced
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
WEB_PAGE = re.compile(rb"<(!doctype\s+html|html|head|body|title|script|meta)\b")
CAPTCHA = re.compile(rb"captcha|cloudflare|turnstile|are you a robot|not a robot|are (a )?human|just a moment")


def parquet_parts(folder: Path) -> list[Path]:
    """The files of a table that was written in parts, by name."""
    return sorted((part for part in folder.rglob("*.parquet") if part.is_file()), key=str)


def without_folders(text: str, paths: Iterable[Path]) -> str:
    """The text with bare names for these paths, so that it is the same wherever the files lie."""
    for path in paths:
        text = text.replace(str(path), path.name)
    return text


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hex; of a folder, of those of its Parquet parts one after another by name."""
    if path.is_dir():
        return hashlib.sha256("".join(map(sha256_of, parquet_parts(path))).encode()).hexdigest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def check_file(path: Path) -> None:
    """Check that a path is a file that can be read more than once.

    Raises:
        InputError: it is absent, a folder, or a pipe or device.
    """
    if path.is_dir():
        raise InputError(f"{path}: is a folder, expected a file; name the file in it")
    if not path.exists():
        raise InputError(f"{path}: no such file; check the path")
    if not path.is_file():
        raise InputError(f"{path}: is a pipe or a device, expected a file; write its content to a file first")


def not_data(first_bytes: bytes) -> str | None:
    """What the beginning of a file shows it to be instead of data, in words; None where nothing is wrong with it.

    Servers answer with web pages where they should send files, and repositories keep pointers in the place of
    large files. No format that is read here begins like any of these. Packed data are not looked into.

    >>> not_data(b"<!DOCTYPE html><html><title>Just a moment...</title>")
    'a web page that keeps robots out (CAPTCHA)'
    >>> not_data(b"protein1 protein2 combined_score") is None
    True
    """
    text = first_bytes.removeprefix(UTF8_BOM).lstrip().lower()
    if text.startswith(LFS_POINTER):
        return "a Git-LFS pointer"
    if WEB_PAGE.match(text) or (text.startswith((b"<!--", b"<?xml")) and b"<html" in text):
        return "a web page that keeps robots out (CAPTCHA)" if CAPTCHA.search(text) else "a web page"
    return "an XML document" if text.startswith(b"<?xml") else None


def iter_unpacked(path: Path, note: Note) -> Iterator[bytes]:
    """The bytes of a plain, gzip or zip file, unpacked and checked, in chunks.

    What a file is, its first bytes say, not its name. Gzip members are read one after another; bytes
    after the last one are ignored with a note, as the gzip program does. A zip file must hold one file.
    Gzip data are unpacked into chunks of at most `CHUNK` bytes, however well they are packed.

    Raises:
        InputError: the file is absent, cut short, damaged, or a zip of several files.
    """
    check_file(path)
    try:
        with path.open("rb") as stream:
            magic = stream.read(4)
            stream.seek(0)
            if magic[:2] == GZIP_MAGIC:
                yield from _iter_gzip(stream, path, note)
            elif magic == ZIP_MAGIC:
                yield from _iter_zip(stream, path)
            else:
                yield from iter(lambda: stream.read(CHUNK), b"")
    except (zlib.error, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: the compressed data are damaged ({error}); fetch the file again") from error


def _iter_gzip(stream: IO[bytes], path: Path, note: Note) -> Iterator[bytes]:
    waiting = stream.read(CHUNK)
    while waiting[:2] == GZIP_MAGIC:
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            if not waiting:
                raise InputError(f"{path}: the gzip data end too early; the file is cut short, fetch it again")
            yield member.decompress(waiting, CHUNK)
            waiting = member.unused_data if member.eof else member.unconsumed_tail or stream.read(CHUNK)
        waiting = waiting if len(waiting) > 1 else waiting + stream.read(CHUNK)
    if waiting:
        left = len(waiting) + len(stream.read())
        note(f"{path}: {left} bytes after the end of the gzip data were ignored")


def _iter_zip(stream: IO[bytes], path: Path) -> Iterator[bytes]:
    with zipfile.ZipFile(stream) as archive:
        names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
        if len(names) != 1:
            raise InputError(
                f"{path}: the zip file holds {len(names)} files ({', '.join(names[:3])}), expected one; "
                "unpack it and give the right one"
            )
        try:
            member = archive.open(names[0])
        except RuntimeError as error:  # encrypted, or packed by a method that Python lacks
            raise InputError(
                f"{path}: the zip file cannot be unpacked ({error}); unpack it and give the file"
            ) from error
        with member:
            yield from iter(lambda: member.read(CHUNK), b"")


def unpack(path: Path, folder: Path, note: Note) -> Path:
    """A plain copy of `path` in `folder`, or `path` itself where it is plain already."""
    check_file(path)
    with path.open("rb") as stream:
        magic = stream.read(4)
    if magic[:2] != GZIP_MAGIC and magic != ZIP_MAGIC:
        return path
    handle, name = tempfile.mkstemp(dir=folder, prefix="unpacked-")
    with os.fdopen(handle, "wb") as plain:
        for chunk in iter_unpacked(path, note):
            plain.write(chunk)
    return Path(name)


def iter_lines(path: Path, note: Note, *, ends: bool = False) -> Iterator[str]:
    """The lines of a plain, gzip or zip text file, without byte-order mark, with their line ends only if `ends`.

    LF, CR LF and a missing last line end are all understood; nothing else ends a line.

    Raises:
        InputError: as `iter_unpacked`, or a line is not UTF-8 or longer than `MAX_LINE` (its number is named).
    """
    number, pieces, length = 0, list[bytes](), 0  # pieces: what is there of the line that has not ended
    for chunk in iter_unpacked(path, note):
        piece, *further = chunk.split(b"\n")
        pieces.append(piece)
        length += len(piece)
        if length > MAX_LINE:
            raise InputError(
                f"{path}, line {number + 1}: is longer than {MAX_LINE:,} bytes, which no line of such a file is; "
                "check that it is text with line ends (LF or CR LF)"
            )
        if further:
            for line in (b"".join(pieces), *further[:-1]):
                number += 1
                yield _decode(line + b"\n" if ends else line.removesuffix(b"\r"), path, number)
            pieces, length = further[-1:], len(further[-1])
    if rest := b"".join(pieces):
        yield _decode(rest if ends else rest.removesuffix(b"\r"), path, number + 1)


def _decode(line: bytes, path: Path, number: int) -> str:
    line = line.removeprefix(UTF8_BOM) if number == 1 else line
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}, line {number}: byte {error.object[error.start]:#04x} is not UTF-8; convert the file to UTF-8"
        ) from error


def _umask() -> int:
    """The permissions that the user wants new files not to have; can only be read by setting it."""
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def write_json(path: Path, value: Any) -> None:
    """Write JSON as UTF-8 with LF; NaN and infinities are refused by the encoder."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    write_text(path, text + "\n")


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text as `write_bytes` writes bytes; line ends stay as they are.

    Raises:
        InputError: as `write_bytes`.
    """
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write beside the target and rename, so that readers see the old file or the whole new one.

    A link is followed; into a pipe, a device or an address (see `openbiolink.places`) the content is written as it is.

    Raises:
        InputError: the target is a folder, or nothing can be written there.
    """
    if path.is_dir():
        raise InputError(f"{path}: is a folder, expected a file name; give one in it")
    try:
        if not isinstance(path, Path) or (
            path.exists() and not path.is_file()
        ):  # asked before links are followed, which lead nowhere from a pipe
            path.write_bytes(content)
            return
        path = path.resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); choose another place") from error
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextmanager
def scratch_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A fresh folder that is gone afterwards; those that killed processes left are removed first.

    The system keeps a lock on it for as long as this process lives, so that a folder without a lock is known to be
    nobody's any more. Where there are no such locks (Windows, some network file systems) nothing is removed.

    Args:
        parent: an existing folder.
        prefix: what the name begins with; nobody else names folders so. Eight random letters follow.
    """
    _sweep(parent, prefix)
    folder, lock = _make_held(parent, prefix)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _make_held(parent: Path, prefix: str) -> tuple[Path, int | None]:
    """A new folder and the lock on it; another one if a sweep took the first before it was locked."""
    while True:
        folder = Path(tempfile.mkdtemp(dir=parent, prefix=prefix))
        lock = _lock(folder, wait=True)
        if folder.exists():
            return folder, lock
        if lock is not None:
            os.close(lock)


def _lock(folder: Path, *, wait: bool = False) -> int | None:
    """An open file that locks a folder of this user until it is closed; None where there is none to be had."""
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except (ImportError, OSError):
        return None
    try:
        if os.fstat(handle).st_uid == os.getuid():
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            return handle
    except OSError:  # another process holds it, or the file system has no locks
        pass
    os.close(handle)
    return None


def _sweep(parent: Path, prefix: str, target: Path | None = None) -> None:
    """Remove what killed processes left in `parent`, and bring back a `target` that one of them had put aside.

    A folder put aside is judged by the one that was to take its place. It comes back only if no running process
    holds any of these folders, since that one may just be about to put its own result there.
    """
    names = re.compile(f"({re.escape(prefix)}[a-z0-9_]{{8}})({ASIDE})?")
    left = {found[1] for path in parent.iterdir() if (found := names.fullmatch(path.name))}
    locks = {}
    for name in sorted(left):
        folder, aside = parent / name, parent / f"{name}{ASIDE}"
        locks[folder, aside] = _lock(folder if folder.exists() else aside)
    for (folder, aside), lock in locks.items():
        if lock is None:
            continue
        shutil.rmtree(folder, ignore_errors=True)
        if target is not None and target.exists():
            shutil.rmtree(aside, ignore_errors=True)
        elif target is not None and None not in locks.values():
            with suppress(OSError):  # another process was quicker
                aside.rename(target)
        os.close(lock)


@contextmanager
def replaced_folder(target: Path, *, owned: Callable[[str], bool], replace: bool = True) -> Iterator[Path]:
    """A fresh folder to write into, which takes the place of `target` once the block ends well.

    On any error the fresh folder is removed and `target` stays as it was. If the process is killed, the next call for
    the same `target` removes what it left, and brings `target` back if it was put aside just then.

    Args:
        target: the folder to create or replace.
        owned: says of a file name whether this program writes such files; a `target` that holds
            anything else is refused, so that nobody's notes are lost.
        replace: False where `target` must not exist, neither now nor when the block ends.

    Raises:
        InputError: `target` is a file, holds files that this program did not write, or is not to be replaced.
    """
    target = target.resolve()
    prefix = f".{target.name}-openbiolink-"
    target.parent.mkdir(parents=True, exist_ok=True)
    _sweep(target.parent, prefix, target)
    refuse_target(target, owned=owned, replace=replace)
    with scratch_folder(target.parent, prefix) as fresh:
        fresh.chmod(0o777 & ~_umask())
        yield fresh
        refuse_target(target, owned=owned, replace=replace)
        _swap(fresh, target)


def refuse_target(target: Path, *, owned: Callable[[str], bool], replace: bool) -> None:
    """Refuse what `replaced_folder` would refuse as its target, to be said before long work.

    Raises:
        InputError: as `replaced_folder`.
    """
    if target.exists() and not target.is_dir():
        raise InputError(f"{target}: is a file, expected a folder or nothing; choose another directory")
    if target.exists() and not replace:
        raise InputError(f"{target}: exists already; say --overwrite to replace it, or choose another place")
    names = [entry.name for entry in target.iterdir()] if target.is_dir() else []
    foreign = sorted(name for name in names if not owned(name) and not name.lstrip(".").startswith(INDEX_FILE))
    if foreign:
        raise InputError(
            f"{target}: holds {foreign[0]}, which was not written here; move it elsewhere, the folder is replaced whole"
        )


def _swap(fresh: Path, target: Path) -> None:
    """Put `fresh` in the place of `target`, which becomes `fresh`; if that fails, `target` is as it was.

    An older folder has the name that `_sweep` brings back only while nothing is in its place.
    """
    aside = fresh.with_name(f"{fresh.name}{ASIDE}")
    try:
        if target.is_dir():
            target.rename(aside)
        fresh.rename(target)
    except BaseException as error:
        if aside.is_dir() and not target.exists():
            aside.rename(target)
        if isinstance(error, OSError):
            raise InputError(
                f"{target}: cannot be replaced ({error.strerror}); see that no other run writes there, and run again"
            ) from error
        raise
    if aside.is_dir():
        aside.rename(fresh)
