"""Archives of several files, unpacked so that nothing is written beside the folder or over anything.

A member must be a plain file or folder with a plain relative name. Links, devices, absolute names, `..`, names that
only differ in letter case, and more bytes than are allowed or fit on the disk are refused before anything is written;
the bytes are counted again as they come, since what an archive says of itself may be wrong.
"""

from __future__ import annotations

import lzma
import shutil
import tarfile
import zipfile
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from openbiolink.errors import InputError
from openbiolink.files import CHUNK, ZIP_MAGIC, check_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_MEMBERS = 10_000
MOST_BYTES = 64_000_000_000
DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A file in an archive: its name as a path, its bytes unpacked as the archive says, and how they are read."""

    name: PurePosixPath
    size: int
    open: Callable[[], IO[bytes]]


def is_archive(path: Path) -> bool:
    """Whether a file is a zip or tar archive, told by its content."""
    with path.open("rb") as stream:
        if stream.read(len(ZIP_MAGIC)) == ZIP_MAGIC:
            return True
    with suppress(*DAMAGED):
        return tarfile.is_tarfile(path)
    return False


@contextmanager
def open_archive(path: Path, *, most_bytes: int = MOST_BYTES) -> Iterator[list[Member]]:
    """The files of a zip or tar archive (tar also packed with gzip, bzip2 or xz), in its order.

    Args:
        path: the archive.
        most_bytes: unpacked bytes that are allowed altogether.

    Raises:
        InputError: it is no archive, damaged, or holds what is not safe to unpack.
    """
    check_file(path)
    try:
        with path.open("rb") as stream:
            begins = stream.read(len(ZIP_MAGIC))
        if begins == ZIP_MAGIC:
            with zipfile.ZipFile(path) as zipped:
                yield _checked(_zip_members(zipped, path), path, most_bytes)
        else:
            with tarfile.open(path) as taped:
                yield _checked(_tar_members(taped, path), path, most_bytes)
                while taped.fileobj and taped.fileobj.read(CHUNK):  # the checksum of what is packed stands at its end
                    pass
    except DAMAGED as error:
        raise _damaged(path, error) from error


def check_archive(path: Path) -> None:
    """Read an archive from its beginning to its end.

    Raises:
        InputError: as `open_archive`, or a file of it is damaged.
    """
    with open_archive(path) as members:
        for member in members:
            for _ in _pieces(member, path):
                pass


def unpack_archive(path: Path, folder: Path, *, skip: Callable[[PurePosixPath], bool] = lambda _: False) -> list[str]:
    """Write the files of an archive into a folder that is empty; a top folder that they all lie in is left out.

    Args:
        path: the archive.
        folder: an existing empty folder; what is in it when this fails is to be thrown away.
        skip: says of a file whether it is left out.

    Returns:
        The names of the files that were left out.

    Raises:
        InputError: as `check_archive`, or the files do not fit on the disk.
    """
    with open_archive(path) as members:
        wanted = [member for member in members if not skip(member.name)]
        total, free = sum(member.size for member in wanted), shutil.disk_usage(folder).free
        if total > free:
            raise InputError(
                f"{folder}: has {free:,} bytes free, {path.name} unpacked needs {total:,}; make room for it"
            )
        top = {member.name.parts[0] for member in members}
        depth = 1 if len(top) == 1 and all(len(member.name.parts) > 1 for member in members) else 0
        for member in wanted:
            target = folder.joinpath(*member.name.parts[depth:])
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as stream:
                for piece in _pieces(member, path):
                    stream.write(piece)
    return [str(member.name) for member in members if skip(member.name)]


def _pieces(member: Member, path: Path) -> Iterator[bytes]:
    """The bytes of a file, as many as the archive says and no more."""
    left = member.size
    with member.open() as stream:
        while piece := stream.read(CHUNK):
            left -= len(piece)
            if left < 0:
                raise InputError(f"{path}: {member.name} has more bytes than the archive says; it is not to be trusted")
            yield piece
    if left:
        raise InputError(f"{path}: {member.name} ends {left} bytes too early; fetch the archive again")


def _zip_members(archive: zipfile.ZipFile, path: Path) -> Iterator[Member]:
    for entry in archive.infolist():
        kind = entry.external_attr >> 28 if entry.create_system == 3 else 0
        name = _safe_name(entry.orig_filename, path)
        if kind not in {0, 0o4, 0o10}:
            raise InputError(f"{path}: {entry.filename!r} is a link or a device, not a file; it is not unpacked")
        if entry.flag_bits & 1:
            raise InputError(f"{path}: {entry.filename!r} is encrypted; unpack the archive by hand")
        if not entry.is_dir():
            yield Member(name=name, size=entry.file_size, open=lambda entry=entry: archive.open(entry))  # type: ignore[misc]


def _tar_members(archive: tarfile.TarFile, path: Path) -> Iterator[Member]:
    for entry in archive:
        name = _safe_name(entry.name, path)
        if not (entry.isreg() or entry.isdir()):
            raise InputError(f"{path}: {entry.name!r} is a link or a device, not a file; it is not unpacked")
        if entry.isreg():
            yield Member(name=name, size=entry.size, open=lambda entry=entry: _opened(archive, entry))  # type: ignore[misc]


def _opened(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> IO[bytes]:
    stream = archive.extractfile(entry)
    assert stream is not None  # noqa: S101 - it is a file
    return stream


def _safe_name(name: str, path: Path) -> PurePosixPath:
    """The name of a member as a relative path that stays where it is unpacked, on every system."""
    parts = name.removesuffix("/").split("/")
    plain = all(part and not part.startswith("..") and part != "." and not part.endswith((" ", ".")) for part in parts)
    if not plain or not name.isprintable() or any(mark in name for mark in '\\:*?"<>|'):
        raise InputError(f"{path}: {name!r} is no plain name of a file in a folder; the archive is not unpacked")
    return PurePosixPath(*parts)


def _checked(found: Iterator[Member], path: Path, most_bytes: int) -> list[Member]:
    members: list[Member] = []
    folded: set[tuple[str, ...]] = set()
    folders: set[tuple[str, ...]] = set()
    for member in found:
        parts = tuple(part.casefold() for part in member.name.parts)
        above = {parts[:depth] for depth in range(1, len(parts))}
        if parts in folded | folders or above & folded:
            raise InputError(f"{path}: {str(member.name)!r} stands there twice, letter case aside; it is not unpacked")
        folded.add(parts)
        folders |= above
        members.append(member)
        if len(members) > MOST_MEMBERS:
            raise InputError(f"{path}: holds more than {MOST_MEMBERS:,} files; unpack it by hand if you trust it")
    if (total := sum(member.size for member in members)) > most_bytes:
        raise InputError(
            f"{path}: has {total:,} bytes unpacked, more than the {most_bytes:,} that are allowed; unpack it by hand"
        )
    if not members:
        raise InputError(f"{path}: holds no file; fetch the archive again")
    return members


def _damaged(path: Path, error: Exception) -> InputError:
    if isinstance(error, OSError) and error.errno:
        return InputError(
            f"{error.filename or path}: cannot be unpacked ({error.strerror}); make room, or choose another folder"
        )
    return InputError(f"{path}: is no whole zip or tar archive ({error}); fetch it again")
