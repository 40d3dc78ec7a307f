"""Reads all GPUs through the driver's library, survives its absence and every failure, tries again with back-off."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable

import pynvml

from exporters.gpu.backoff import Backoff
from exporters.gpu.codes import code, text
from exporters.gpu.crew import Crew
from exporters.gpu.device import DeviceReader, Failures, Memory
from exporters.gpu.reading import Device, Down, GpuReading, Up, Versions
from exporters.gpu.xid import XidWatcher

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 0.5
"""How long a sample waits for all devices together; one that answers later is shown as hung until it answers."""

MOST_DEVICES = 64
"""Each may hold a thread; no machine has more."""

MOST_REMEMBERED = 256
"""Devices that were seen once: beyond, the oldest are forgotten."""

_BACKOFF = Backoff(first=5.0, longest=300.0)


class GpuReader:
    """The library's life and what is remembered between readings. Used by one thread."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        patience: float = PATIENCE_SECONDS,
        xids: XidWatcher | None = None,
    ) -> None:
        """`clock` tells seconds for back-off and re-probing; `patience` is of real time."""
        self._clock = clock
        self._up, self._down = False, ""
        self._opening = self._reopening = _BACKOFF
        self._versions, self._simulated = Versions("", "", ""), False
        self._seen: dict[str, None] = {}
        self._watched: frozenset[str] = frozenset()
        self._memories: dict[str, Memory] = {}
        self._failures: Failures = Counter()
        self._xids = xids or XidWatcher()
        self._crew = Crew(patience, lambda index: DeviceReader(index, clock, self._memories, self._failures))

    def read(self) -> GpuReading:
        """One look at all devices; never raises an error of the library."""
        if not self._up and (self._crew.busy or not self._opening.due(self._clock())):
            return Down(self._down)  # a library with a call in it cannot be opened anew
        try:
            if not self._up:
                self._open()
            count = pynvml.nvmlDeviceGetCount()
        except pynvml.NVMLError as error:
            return self._fall(code(error))
        devices = self._told_apart(self._crew.read(min(count, MOST_DEVICES)))
        hung = self._crew.hung
        self._watch(devices, min(count, MOST_DEVICES))
        present = {device.identity.uuid for device in devices}
        self._seen |= dict.fromkeys(device.identity.uuid for device in devices if device.instance is None)
        while len(self._seen) > MOST_REMEMBERED:
            self._seen.pop(next(iter(self._seen)))
        lost = tuple(uuid for uuid in sorted(self._seen) if uuid not in present and uuid not in hung)
        self._seek(lost)
        return Up(
            self._versions,
            count,
            devices,
            lost,
            dict(self._failures),
            tuple(uuid for uuid in hung if uuid not in present),
            dict(self._crew.timeouts),
            self._xids.state(),
            self._simulated,
        )

    def _told_apart(self, devices: tuple[Device, ...]) -> tuple[Device, ...]:
        """The first of each UUID: a second one would have the same series, and the whole page would be refused."""
        first: dict[str, Device] = {}
        for device in devices:
            if first.setdefault(device.identity.uuid, device) is not device:
                self._failures[device.identity.uuid, "identity", "duplicate"] += 1
        return tuple(first.values())

    def close(self) -> None:
        """Shut the library down, as a driver wants it before its user ends; not while a call is in it."""
        if not self._up:
            return
        self._up = False
        self._crew.rest()
        quiet = self._xids.stop()
        if self._crew.busy or not quiet:
            logger.warning("the GPU library is left open: a call in it does not return")
            return
        try:
            pynvml.nvmlShutdown()
        except pynvml.NVMLError as error:
            logger.info("could not shut the GPU library down: %s", code(error))

    def _open(self) -> None:
        pynvml.nvmlInit()
        self._up, self._down, self._opening = True, "", _BACKOFF
        self._watched = frozenset()
        self._memories.clear()  # another driver may have other fields
        self._simulated = hasattr(pynvml.nvmlLib, "nvmlStandin")
        self._versions = Versions(
            _text(pynvml.nvmlSystemGetDriverVersion), _text(pynvml.nvmlSystemGetNVMLVersion), _cuda()
        )
        logger.info("GPU library answers driver=%s", self._versions.driver)
        if self._simulated:
            logger.warning("a stand-in answers instead of the GPU driver: every GPU figure is simulated")

    def _fall(self, reason: str) -> Down:
        """The library does not answer: close it, and open it again later."""
        self.close()
        if reason != self._down:
            logger.warning("no GPU can be read; going on without, trying again now and then reason=%s", reason)
        self._down, self._opening = reason, self._opening.failed(self._clock())
        return Down(reason)

    def _watch(self, devices: tuple[Device, ...], count: int) -> None:
        """Have the errors of these devices reported; anew when there are others, which events do not tell."""
        uuids = frozenset(device.identity.uuid for device in devices if device.instance is None)
        if uuids - self._watched:
            self._watched = uuids
            self._xids.start(count)

    def _seek(self, lost: tuple[str, ...]) -> None:
        """Close the library now and then while devices are lost: one that came back shows only in one opened anew."""
        if not lost:
            self._reopening = _BACKOFF
        elif self._reopening.due(self._clock()) and not self._crew.busy:
            logger.warning("GPUs do not answer any more: %s", ", ".join(lost))
            self._reopening = self._reopening.failed(self._clock())
            self.close()


def _text(ask: Callable[[], str | bytes]) -> str:
    """A text that only describes: empty where it cannot be had."""
    try:
        return text(ask())
    except (pynvml.NVMLError, UnicodeDecodeError):
        return ""


def _cuda() -> str:
    """The CUDA version that the driver supports, from 12040 to `12.4`."""
    try:
        number = pynvml.nvmlSystemGetCudaDriverVersion_v2()
    except pynvml.NVMLError:
        return ""
    return f"{number // 1000}.{number % 1000 // 10}"
