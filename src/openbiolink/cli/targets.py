"""Where commands may write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from openbiolink.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


def check_json_target(out: Path, kind: str, what: str) -> None:
    """Refuse to write over a file of another kind, before any work is done.

    Args:
        out: the file to write.
        kind: what the format of such files begins with, as in `openbiolink-result/2`.
        what: what messages call them.

    Raises:
        InputError: the place is a folder, or a file that does not begin as such files do.
    """
    if out.is_dir():
        raise InputError(f"--out {out}: is a folder, expected a file name; give one in it")
    if out.is_file():
        with out.open("rb") as stream:
            begins = stream.read(100)
        if begins and f'"openbiolink-{kind}/'.encode() not in begins:
            raise InputError(f"--out {out}: exists and is no {what}; choose another name")
