"""Arrays of parameters: read without running anything, put in the order of a data set, float32 without loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from openbiolink.errors import InputError
from openbiolink.files import check_file

if TYPE_CHECKING:
    from pathlib import Path

    from openbiolink.evaluation.models.maps import Rows

Array = npt.NDArray[Any]
Parameters = npt.NDArray[np.float32]


def read_npy(path: Path) -> Array:
    """The array of a `.npy` file, mapped into memory; objects in it are refused, since reading them runs code.

    Raises:
        InputError: there is no such file, it is damaged, or holds objects.
    """
    check_file(path)
    try:
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except (ValueError, EOFError, TypeError, OSError) as error:
        raise InputError(
            f"{path}: is no array of numbers in NumPy's format ({_short(error)}); write it with numpy.save as float32"
        ) from error


def read_safetensors(path: Path) -> dict[str, Array]:
    """The arrays of a `.safetensors` file by name; bfloat16 is widened to float32, which is exact.

    Raises:
        InputError: there is no such file, it is damaged, or the library is absent.
    """
    check_file(path)
    try:
        from safetensors import SafetensorError, deserialize, safe_open
    except ImportError as error:
        raise InputError(f"{path}: needs safetensors; run `pip install 'openbiolink[safetensors]'`") from error
    try:
        with safe_open(path, framework="np") as stream:
            names = list(stream.keys())
            if all(stream.get_slice(name).get_dtype() != "BF16" for name in names):
                return {name: stream.get_tensor(name) for name in names}
        raw = dict(deserialize(path.read_bytes()))  # type: ignore[no-untyped-call]
        return {name: _from_bytes(path, name, raw[name]) for name in names}
    except (SafetensorError, TypeError) as error:
        raise InputError(f"{path}: is no file of tensors that can be read ({_short(error)}); save it again") from error


def _from_bytes(path: Path, name: str, raw: Any) -> Array:
    if raw["dtype"] == "BF16":
        widened = np.frombuffer(raw["data"], "<u2").astype(np.uint32) << 16
        return widened.view(np.float32).reshape(raw["shape"])
    kinds = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}
    if raw["dtype"] not in kinds:
        raise InputError(f"{path}: {name} is of type {raw['dtype']}; save it as float32")
    return np.frombuffer(raw["data"], kinds[raw["dtype"]]).reshape(raw["shape"])


def take_rows(array: Array, rows: Rows, *, what: str, number: int) -> Parameters:
    """The rows of an array that a data set needs, in its order, as float32.

    Complex numbers become their real parts followed by their imaginary parts.

    Args:
        array: shape (number, ...).
        rows: which, shape (n,).
        what: what messages call the array.
        number: rows that the id map has.

    Raises:
        InputError: the array has another number of rows, or holds numbers that float32 cannot, NaN or infinity.
    """
    if array.ndim < 2 or len(array) != number:
        raise InputError(
            f"{what}: has shape {array.shape}, but its id map has {number} rows; give the map that belongs to it"
        )
    taken = array[rows]
    finite = np.isfinite(taken).reshape(len(taken), -1).all(axis=1) if taken.dtype.kind in "fc" else np.True_
    if not np.all(finite):
        row = int(rows[np.flatnonzero(~finite)[0]])
        raise InputError(f"{what}: row {row} (the first is 0) holds NaN or infinity; mend the model")
    if taken.dtype.kind == "c":
        taken = np.concatenate([taken.real, taken.imag], axis=-1)
    if taken.dtype == np.float32:
        return np.ascontiguousarray(taken, np.float32)
    if taken.dtype.kind not in "fiu":
        raise InputError(f"{what}: is of type {taken.dtype}, which is no parameter; save it as float32")
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = taken.astype(np.float32)
        is_exact = (narrow.astype(taken.dtype) == taken).all()
    if not is_exact:
        raise InputError(
            f"{what}: is {taken.dtype} and would be rounded, while ranks are those of float32 parameters; "
            "round it yourself with array.astype(numpy.float32) and save it again"
        )
    return narrow


def _short(error: Exception) -> str:
    return str(error).splitlines()[0][:120] if str(error) else type(error).__name__
