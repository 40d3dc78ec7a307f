"""Reads all GPUs through the driver's library, survives its absence and every failure, tries again with back-off."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pynvml

from exporters.gpu.backoff import Backoff
from exporters.gpu.fields import FIELDS, MEMORY_APIS, Field
from exporters.gpu.reading import Device, Down, GpuReading, Identity, Measured, Up, Versions

logger = logging.getLogger(__name__)

REPROBE_SECONDS = 600.0
"""An unsupported field is asked again this rarely: some drivers log a kernel warning each time."""

_PATIENCE = Backoff(first=5.0, longest=300.0)

_UNSUPPORTED = frozenset(
    {
        pynvml.NVML_ERROR_NOT_SUPPORTED,
        pynvml.NVML_ERROR_FUNCTION_NOT_FOUND,
        pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
        pynvml.NVML_ERROR_DEPRECATED,
    }
)
_GONE = frozenset(
    {
        pynvml.NVML_ERROR_GPU_IS_LOST,
        pynvml.NVML_ERROR_GPU_NOT_FOUND,
        pynvml.NVML_ERROR_RESET_REQUIRED,
        pynvml.NVML_ERROR_UNINITIALIZED,
        pynvml.NVML_ERROR_DRIVER_NOT_LOADED,
    }
)
"""After these the device's other fields are not asked: every one would fail, some slowly."""


class GpuReader:
    """The library's life and what is remembered between readings. Used by one thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` tells seconds for back-off and re-probing."""
        self._clock = clock
        self._up, self._down = False, ""
        self._opening = self._reopening = _PATIENCE
        self._versions = Versions("", "", "")
        self._seen: dict[str, None] = {}
        self._unsupported_until: dict[tuple[str, str], float] = {}
        self._failures: Counter[tuple[str, str, str]] = Counter()

    def read(self) -> GpuReading:
        """One look at all devices; never raises an error of the library."""
        if not self._up and not self._opening.due(self._clock()):
            return Down(self._down)
        try:
            if not self._up:
                self._open()
            count = pynvml.nvmlDeviceGetCount()
        except pynvml.NVMLError as error:
            return self._fall(code(error))
        devices = tuple(device for index in range(count) if (device := self._device(index)) is not None)
        present = {device.identity.uuid for device in devices}
        self._seen |= dict.fromkeys(sorted(present))
        lost = tuple(uuid for uuid in self._seen if uuid not in present)
        self._seek(lost)
        return Up(self._versions, count, devices, lost, dict(self._failures))

    def close(self) -> None:
        """Shut the library down, as a driver wants it before its user ends."""
        if self._up:
            self._up = False
            try:
                pynvml.nvmlShutdown()
            except pynvml.NVMLError as error:
                logger.info("could not shut the GPU library down: %s", code(error))

    def _open(self) -> None:
        pynvml.nvmlInit()
        self._up, self._down, self._opening = True, "", _PATIENCE
        self._versions = Versions(
            _text(pynvml.nvmlSystemGetDriverVersion), _text(pynvml.nvmlSystemGetNVMLVersion), _cuda()
        )
        logger.info("GPU library answers driver=%s", self._versions.driver)

    def _fall(self, reason: str) -> Down:
        """The library does not answer: close it, and open it again later."""
        self.close()
        if reason != self._down:
            logger.warning("no GPU can be read; going on without, trying again now and then reason=%s", reason)
        self._down, self._opening = reason, self._opening.failed(self._clock())
        return Down(reason)

    def _seek(self, lost: tuple[str, ...]) -> None:
        """Close the library now and then while devices are lost: one that came back shows only in one opened anew."""
        if not lost:
            self._reopening = _PATIENCE
        elif self._reopening.due(self._clock()):
            logger.warning("GPUs do not answer any more: %s", ", ".join(lost))
            self._reopening = self._reopening.failed(self._clock())
            self.close()

    def _device(self, index: int) -> Device | None:
        """Everything that the device tells; None when it does not even tell who it is, or is lost meanwhile."""
        try:
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            uuid = _decode(pynvml.nvmlDeviceGetUUID(handle))
        except pynvml.NVMLError as error:
            self._failures["", "identity", code(error)] += 1
            return None
        bus_id = _text(lambda: pynvml.nvmlDeviceGetPciInfo(handle).busId)
        identity = Identity(uuid, index, bus_id, _text(lambda: pynvml.nvmlDeviceGetName(handle)))
        measured: list[Measured] = []
        supported: dict[str, bool] = {}
        try:
            memory_api = self._memory(uuid, handle, measured, supported)
            for field in FIELDS:
                self._field(field, uuid, handle, measured, supported)
        except pynvml.NVMLError:
            return None
        return Device(identity, memory_api, tuple(measured), supported)

    def _memory(self, uuid: str, handle: Any, measured: list[Measured], supported: dict[str, bool]) -> str:
        """The first memory interface that the device has; an error of another kind never leads to the next one."""
        for field in MEMORY_APIS:
            self._field(field, uuid, handle, measured, supported)
            if supported[field.name]:
                return field.name.removeprefix("memory_")
        return "none"

    def _field(
        self, field: Field, uuid: str, handle: Any, measured: list[Measured], supported: dict[str, bool]
    ) -> None:
        """Read one field; raises the library's error only when the whole device has gone."""
        key = (uuid, field.name)
        if self._clock() < self._unsupported_until.get(key, 0.0):
            supported[field.name] = False
            return
        supported[field.name] = True
        try:
            measured.extend(field.read(handle))
        except pynvml.NVMLError as error:
            if error.value in _UNSUPPORTED:
                supported[field.name] = False
                self._unsupported_until[key] = self._clock() + REPROBE_SECONDS
                return
            self._failures[uuid, field.name, code(error)] += 1
            if error.value in _GONE:
                raise


def code(error: pynvml.NVMLError) -> str:
    """The library's error as a label: `library_not_found`; `code_<n>` for one that pynvml does not know."""
    number = int(error.value)
    return _CODES.get(number, f"code_{number}")


_CODES: dict[int, str] = {
    value: name.removeprefix("NVML_ERROR_").lower()
    for name, value in vars(pynvml).items()
    if name.startswith("NVML_ERROR_")
}


def _text(ask: Callable[[], str | bytes]) -> str:
    """A text that only describes: empty where it cannot be had."""
    try:
        return _decode(ask())
    except pynvml.NVMLError:
        return ""


def _cuda() -> str:
    """The CUDA version that the driver supports, from 12040 to `12.4`."""
    try:
        number = pynvml.nvmlSystemGetCudaDriverVersion_v2()
    except pynvml.NVMLError:
        return ""
    return f"{number // 1000}.{number % 1000 // 10}"


def _decode(text: str | bytes) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text
