"""What the library's error codes mean to us: a label, not there, or gone."""

from __future__ import annotations

import pynvml

UNSUPPORTED = frozenset(
    {
        pynvml.NVML_ERROR_NOT_SUPPORTED,
        pynvml.NVML_ERROR_FUNCTION_NOT_FOUND,
        pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
        pynvml.NVML_ERROR_DEPRECATED,
    }
)
"""The device, driver or library does not have the field."""

GONE = frozenset(
    {
        pynvml.NVML_ERROR_GPU_IS_LOST,
        pynvml.NVML_ERROR_GPU_NOT_FOUND,
        pynvml.NVML_ERROR_RESET_REQUIRED,
        pynvml.NVML_ERROR_UNINITIALIZED,
        pynvml.NVML_ERROR_DRIVER_NOT_LOADED,
    }
)
"""After these the device's other fields are not asked: every one would fail, some slowly."""


def code(error: pynvml.NVMLError) -> str:
    """The library's error as a label: `library_not_found`; `code_<n>` for one that pynvml does not know."""
    number = int(error.value)
    return _CODES.get(number, f"code_{number}")


def text(told: str | bytes) -> str:
    """The library's text, whatever bytes it has."""
    return told.decode("utf-8", "replace") if isinstance(told, bytes) else told


_CODES: dict[int, str] = {
    value: name.removeprefix("NVML_ERROR_").lower()
    for name, value in vars(pynvml).items()
    if name.startswith("NVML_ERROR_")
}
