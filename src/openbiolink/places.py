"""Files and folders that may lie elsewhere: `s3://…`, `gs://…`, `https://…`, whatever fsspec knows.

An address becomes an object that behaves like a `Path` (universal_pathlib's `UPath`), so that code which opens, lists
and joins paths need not know. What must be a file of this machine is fetched into a scratch folder first.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from openbiolink.croissant import MANIFEST_FILE
from openbiolink.errors import InputError
from openbiolink.files import CHUNK, replaced_folder, scratch_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REMOTE = "://"


def place(text: str | Path) -> Path:
    """The path that a text names: of this machine, or an address such as `s3://bucket/edges.csv`.

    Raises:
        InputError: it is an address, and universal_pathlib or what it needs for such addresses is not installed.

    >>> place("graph_files/edges.csv").name
    'edges.csv'
    """
    words = str(text)
    if REMOTE not in words:
        return Path(words)
    if words.startswith("file://"):
        return Path(words.removeprefix("file://"))
    try:
        from upath import UPath

        path = UPath(words)
        path.exists()
    except ImportError as error:
        raise InputError(
            f"{words}: this address needs a package that is not installed ({error}); "
            "pip install 'openbiolink[remote]', and what fsspec names for this protocol"
        ) from error
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"{words}: cannot be reached ({error}); check the address") from error
    return cast("Path", path)


def is_remote(path: Path) -> bool:
    """Whether a path is an address."""
    return not isinstance(path, Path)


def fetched(path: Path, folder: Path) -> Path:
    """The path itself if it is of this machine, else a copy of the file, or of the Parquet files in it, in `folder`.

    Raises:
        InputError: there is no such file.
    """
    if not is_remote(path):
        return path
    if not path.exists():
        raise InputError(f"{path}: no such file; check the address")
    target = Path(tempfile.mkdtemp(dir=folder, prefix="fetched-")) / path.name
    if path.is_dir():
        target.mkdir()
        for part in sorted(path.rglob("*.parquet"), key=str):
            _copy(part, target / part.name)
    else:
        _copy(path, target)
    return target


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as stream, target.open("wb") as copy:
        shutil.copyfileobj(stream, copy, CHUNK)


@contextmanager
def written_folder(target: Path, *, owned: Callable[[str], bool], replace: bool) -> Iterator[Path]:
    """As `files.replaced_folder`, but `target` may be an address.

    There nothing can be renamed in one step: the manifest goes first and comes back last, so that a folder with a
    manifest is whole.

    Raises:
        InputError: `target` is a file, holds files that this program did not write, or is not to be replaced.
    """
    if not is_remote(target):
        with replaced_folder(target, owned=owned, replace=replace) as folder:
            yield folder
        return
    there = sorted(entry.name for entry in target.iterdir()) if target.is_dir() else []
    if there and not replace:
        raise InputError(f"{target}: exists already; say --overwrite to replace it, or choose another place")
    if foreign := [name for name in there if not owned(name)]:
        raise InputError(f"{target}: holds {foreign[0]}, which was not written here; move it elsewhere")
    with scratch_folder(Path(tempfile.gettempdir()), "openbiolink-upload-") as folder:
        yield folder
        if MANIFEST_FILE in there:
            (target / MANIFEST_FILE).unlink()
        files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
        for path in sorted(files, key=lambda path: path.name == MANIFEST_FILE):
            place_there = target / path.as_posix()
            place_there.parent.mkdir(parents=True, exist_ok=True)
            _copy(folder / path, place_there)
        for name in there:
            if not (folder / name).exists():
                _remove(target / name)


def _remove(path: Path) -> None:
    if path.is_dir():
        for part in path.iterdir():
            _remove(part)
        path.rmdir()
    else:
        path.unlink()
