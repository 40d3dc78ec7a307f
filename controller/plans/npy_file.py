"""A .npy file as instances along its first axis: mapped, never read whole, never unpickled; or what is wrong."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import numpy as np

_SAVE = "write it with numpy.save"
_MAGIC = b"\x93NUMPY"
_OTHERS = {
    b"\x1f\x8b": ("is compressed with gzip", "unpack it with gunzip"),
    b"PK": ("is an archive of arrays", "save one array with numpy.save"),
    b"\x80": ("is a pickle, which could run code and is never loaded", "save an array of numbers with numpy.save"),
}
"""What people have instead, by its first bytes."""


def open_npy(path: Path) -> np.ndarray[Any, Any]:
    """The array, mapped. Raises `ValueError(message, remedy)` unless it holds at least one instance of numbers or
    texts, and `OSError`."""
    import numpy as np  # takes longer than loading a whole plan, and only plans with such a file need it

    with path.open("rb") as file:
        shape, in_columns, dtype = _header(file)
        _check_type(dtype)
        start, size = file.tell(), file.seek(0, 2)
    if not shape or prod(shape) == 0:
        raise ValueError(f"has the shape {shape}: no instance", "save at least one row")
    if size < (whole := start + prod(shape) * dtype.itemsize):
        raise ValueError(f"is not a whole .npy file (it has {size:,} of {whole:,} bytes)", "copy or save it again")
    return np.memmap(path, dtype, "r", start, shape, "F" if in_columns else "C")


def _header(file: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    from numpy.lib import format as npy

    first = file.read(len(_MAGIC))
    if first != _MAGIC:
        known = next((found for start, found in _OTHERS.items() if first.startswith(start)), None)
        raise ValueError(*(known or ("is not a whole .npy file (it does not begin as one)", _SAVE)))
    file.seek(0)
    try:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, in_columns, dtype = read(file)
    except (ValueError, EOFError, SyntaxError, TypeError) as error:
        why = " ".join(str(error).split())[:120] or type(error).__name__
        raise ValueError(f"is not a whole .npy file (its header cannot be read: {why})", _SAVE) from error
    return shape, in_columns, dtype


def _check_type(dtype: np.dtype[Any]) -> None:
    if dtype.names is not None:
        raise ValueError(f"holds records of {', '.join(dtype.names)}, not numbers", "save one plain array of numbers")
    if dtype.hasobject:
        raise ValueError("holds Python objects, which are pickles and never loaded", "save an array of numbers")
    if dtype.kind not in "fiubSU" or (dtype.kind == "f" and dtype.itemsize > 8):
        raise ValueError(f"holds {dtype}, not numbers", "save an array of floats, integers or booleans")
