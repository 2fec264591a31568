"""Files of PyTorch: read without running anything in them, unless the user says that they can be trusted."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from openbiolink.errors import InputError
from openbiolink.files import check_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MAGICS = (b"PK", b"\x80")  # of the zip file that PyTorch writes, and of a pickle


def load_checkpoint(path: Path, *, trust: bool, harmless: Sequence[type] = ()) -> Any:
    """What a file that `torch.save` wrote holds, on the processor.

    Args:
        path: the file.
        trust: False reads tensors, plain values and `harmless` only, and runs nothing; True unpickles anything, which
            runs whatever the file says.
        harmless: classes without methods that stand for those of the same module and name in the file.

    Raises:
        InputError: PyTorch is absent, the file is damaged, or it holds more than may be read without trust.
    """
    check_file(path)
    with path.open("rb") as stream:
        if not stream.read(2).startswith(MAGICS):
            raise InputError(f"{path}: is no file that PyTorch or pickle wrote; give the right one")
    try:
        torch = import_module("torch")
    except ImportError as error:
        raise InputError(f"{path}: needs PyTorch; run `pip install 'openbiolink[torch]'`") from error
    pickle = import_module("pickle")
    try:
        with warnings.catch_warnings(), torch.serialization.safe_globals([] if trust else list(harmless)):
            warnings.simplefilter("ignore")  # PyTorch warns of what the error then says
            return torch.load(path, map_location="cpu", weights_only=not trust)
    except pickle.UnpicklingError as error:
        if trust:
            raise InputError(f"{path}: cannot be unpickled ({_short(error)}); save it again") from error
        raise InputError(
            f"{path}: holds more than tensors and plain values, and reading that runs code that the file names; "
            "say --trust if you know who made it"
        ) from error
    except ImportError as error:
        raise InputError(f"{path}: is made of classes of {error.name}, which is not installed; install it") from error
    except Exception as error:  # whatever the code in a trusted file raises, and whatever a damaged one leads to
        raise InputError(f"{path}: cannot be read ({_short(error)}); save it again with PyTorch") from error


def _short(error: Exception) -> str:
    words = str(error).splitlines()[0][:160] if str(error) else ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
