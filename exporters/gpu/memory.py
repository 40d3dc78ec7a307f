"""Memory of a device through both interfaces, and the window through which the host sees it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pynvml

from exporters.gpu.field import NOW_AND_THEN_SECONDS, Field, Handle
from exporters.gpu.reading import Measured
from exporters.names import gpu as names


class NoMemoryError(pynvml.NVMLError_NotSupported):  # type: ignore[misc]
    """The device answers, and has no memory of its own: it works in the machine's."""


def _memory_v2(handle: Handle) -> Iterable[Measured]:
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2)
    return (*_sizes(memory), (names.MEMORY_RESERVED, (), memory.reserved))


def _memory_v1(handle: Handle) -> Iterable[Measured]:
    return _sizes(pynvml.nvmlDeviceGetMemoryInfo(handle))


def _sizes(memory: Any) -> tuple[Measured, ...]:
    if memory.total == 0:  # how some devices that share the machine's memory say that they have none
        raise NoMemoryError
    return (
        (names.MEMORY_TOTAL, (), memory.total),
        (names.MEMORY_USED, (), memory.used),
        (names.MEMORY_FREE, (), memory.free),
    )


def _bar1(handle: Handle) -> Iterable[Measured]:
    window = pynvml.nvmlDeviceGetBAR1MemoryInfo(handle)
    return (names.BAR1_TOTAL, (), window.bar1Total), (names.BAR1_USED, (), window.bar1Used)


MEMORY_APIS = (Field("memory_v2", _memory_v2), Field("memory_v1", _memory_v1))
"""Tried in this order: only version 2 tells the driver's reserve apart from used memory."""

BAR1 = Field("bar1", _bar1, NOW_AND_THEN_SECONDS)
