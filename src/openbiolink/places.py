"""Files and folders that may lie elsewhere: `s3://…`, `gs://…`, `https://…`, whatever fsspec knows.

An address becomes an object that behaves like a `Path` (universal_pathlib's `UPath`), so that code which opens, lists
and joins paths need not know. What must be a file of this machine is fetched into a scratch folder first. File systems
raise errors of any class; here they become `InputError`.
"""

from __future__ import annotations

import shutil
import tempfile
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from openbiolink.croissant import MANIFEST_FILE
from openbiolink.errors import InputError, OpenBioLinkError
from openbiolink.files import CHUNK, refuse_target, replaced_folder, scratch_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REMOTE = "://"
HERE = ("file://", "local://")  # the protocols of files of this machine


def place(text: str | Path) -> Path:
    """The path that a text names: of this machine, or an address such as `s3://bucket/edges.csv`.

    What is a path already, one of universal_pathlib among them, stays as it is.

    Raises:
        InputError: it is an address that cannot be reached, or universal_pathlib or what it needs for such addresses
            is not installed.

    >>> place("graph_files/edges.csv").name, str(place("file:///data/edges.csv"))
    ('edges.csv', '/data/edges.csv')
    """
    if not isinstance(text, str):
        return text
    if REMOTE not in text:
        return Path(text)
    if text.startswith(HERE):
        return Path(text.partition(REMOTE)[2])
    with _reached(text), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "UPath .* not explicitly implemented")  # fsspec's own way serves, too
        from upath import UPath

        path = cast("Path", UPath(text))
        path.exists()
    return path


@contextmanager
def _reached(path: str | Path) -> Iterator[None]:
    try:
        yield
    except OpenBioLinkError:
        raise
    except ImportError as error:
        raise InputError(
            f"{path}: this address needs a package that is not installed ({_reason(error)}); "
            "pip install 'openbiolink[remote]', and what fsspec names for this protocol"
        ) from error
    except Exception as error:
        raise InputError(f"{path}: cannot be reached ({_reason(error)}); check the address and your access") from error


def _reason(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def is_remote(path: Path) -> bool:
    """Whether a path is an address."""
    return not isinstance(path, Path)


def fetched(path: Path, folder: Path) -> Path:
    """The path itself if it is of this machine, else a copy of the file, or of the Parquet files in it, in `folder`.

    Raises:
        InputError: there is no such file, or it cannot be reached.
    """
    if not is_remote(path):
        return path
    with _reached(path):
        if not path.exists():
            raise InputError(f"{path}: no such file; check the address")
        target = Path(tempfile.mkdtemp(dir=folder, prefix="fetched-")) / path.name
        if path.is_dir():
            target.mkdir()
            parts = sorted((part for part in path.rglob("*.parquet") if part.is_file()), key=str)
            for number, part in enumerate(parts):
                _copy(part, target / f"{number:05}.parquet")
        else:
            _copy(path, target)
    return target


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as stream, target.open("wb") as copy:
        shutil.copyfileobj(stream, copy, CHUNK)


@contextmanager
def written_folder(target: Path, *, owned: Callable[[str], bool], replace: bool) -> Iterator[Path]:
    """As `files.replaced_folder`, but `target` may be an address.

    There nothing can be renamed in one step: the old manifest goes first and the new one comes last, so that a folder
    with a manifest is whole. What fails half way leaves nothing where nothing was.

    Raises:
        InputError: `target` is a file, holds files that this program did not write, is not to be replaced, or cannot
            be reached.
    """
    if not is_remote(target):
        with replaced_folder(target, owned=owned, replace=replace) as folder:
            yield folder
        return
    with _reached(target):
        refuse_target(target, owned=owned, replace=replace)
        there = sorted(entry.name for entry in target.iterdir()) if target.is_dir() else []
    with scratch_folder(Path(tempfile.gettempdir()), "openbiolink-upload-") as folder:
        yield folder
        with _reached(target):
            for name in sorted(there, key=lambda name: name != MANIFEST_FILE):
                _remove(target / name)
            _upload(folder, target)


def _upload(folder: Path, target: Path) -> None:
    """Copy the files of a folder to where nothing is, the manifest last."""
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    try:
        for path in sorted(files, key=lambda path: path.name == MANIFEST_FILE):
            copy = target / path.as_posix()
            copy.parent.mkdir(parents=True, exist_ok=True)
            _copy(folder / path, copy)
    except BaseException:
        with suppress(Exception):  # what is told is the first fault
            _remove(target)
        raise


def _remove(path: Path) -> None:
    if path.is_dir():
        for part in path.iterdir():
            _remove(part)
        path.rmdir()
    else:
        path.unlink()
