"""Counts the errors that the driver reports (Xid), by the library's event interface, in a thread of its own."""

from __future__ import annotations

import ctypes
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable

import pynvml

from exporters.gpu.codes import code, text
from exporters.gpu.field import Handle
from exporters.gpu.reading import Xids

logger = logging.getLogger(__name__)

WAIT_SECONDS = 1.0
"""For an event, in a call that cannot be ended from outside: so long the end of the thread may take."""

_MOST_SERIES = 256
_OTHER = "other"


class XidWatcher:
    """Counters since the exporter's start, over every opening and closing of the library."""

    def __init__(self, wait: float = WAIT_SECONDS, wall_clock: Callable[[], float] = time.time) -> None:
        """`wait` for events at a time, in seconds; `wall_clock` stamps them, in Unix time."""
        self._wait_seconds, self._wall_clock = wait, wall_clock
        self._counts: Counter[tuple[str, str]] = Counter()
        self._newest: dict[tuple[str, str], float] = {}
        self._supported: dict[str, bool] = {}
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._lock = threading.Lock()

    def state(self) -> Xids:
        """What was reported until now."""
        with self._lock:
            return Xids(dict(self._counts), dict(self._newest), dict(self._supported))

    def start(self, count: int) -> None:
        """Watch the devices of the first `count` indexes from when the thread that watches now has ended."""
        self._stop.set()
        self._stop, before = threading.Event(), self._thread
        arguments = (count, self._stop, before)
        self._thread = threading.Thread(target=self._watch, args=arguments, name="gpu-xid", daemon=True)
        self._thread.start()

    def stop(self) -> bool:
        """End the thread; False when its call does not return."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(self._wait_seconds + 0.5)
        return self._thread is None or not self._thread.is_alive()

    def _watch(self, count: int, stop: threading.Event, before: threading.Thread | None) -> None:
        if before is not None:
            before.join()
        if stop.is_set():
            return
        try:
            events = pynvml.nvmlEventSetCreate()
        except pynvml.NVMLError as error:
            logger.info("GPU errors (Xid) are not reported here reason=%s", code(error))
            return
        try:
            devices = self._register(count, events)
            while devices and not stop.is_set():
                self._wait(events, devices)
        except pynvml.NVMLError as error:
            logger.warning("GPU errors (Xid) are not watched until the library is opened anew reason=%s", code(error))
            with self._lock:
                self._supported = {}
        finally:
            _free(events)

    def _register(self, count: int, events: Handle) -> dict[int | None, str]:
        devices: dict[int | None, str] = {}
        supported: dict[str, bool] = {}
        for index in range(count):
            try:
                handle = pynvml.nvmlDeviceGetHandleByIndex(index)
                uuid = text(pynvml.nvmlDeviceGetUUID(handle))
            except pynvml.NVMLError:
                continue
            try:
                pynvml.nvmlDeviceRegisterEvents(handle, pynvml.nvmlEventTypeXidCriticalError, events)
            except pynvml.NVMLError:
                supported[uuid] = False
                continue
            supported[uuid] = True
            devices[_address(handle)] = uuid
        with self._lock:
            self._supported = supported
        return devices

    def _wait(self, events: Handle, devices: dict[int | None, str]) -> None:
        try:
            event = pynvml.nvmlEventSetWait_v2(events, int(self._wait_seconds * 1e3))
        except pynvml.NVMLError as error:
            if error.value == pynvml.NVML_ERROR_TIMEOUT:
                return
            raise
        uuid = devices.get(_address(event.device))
        if uuid is None or event.eventType != pynvml.nvmlEventTypeXidCriticalError:
            return
        with self._lock:
            key = (uuid, str(event.eventData))
            if key not in self._counts and len(self._counts) >= _MOST_SERIES:
                key = (uuid, _OTHER)
            self._counts[key] += 1
            self._newest[key] = self._wall_clock()
        logger.warning("the driver reports an error of a GPU uuid=%s xid=%d", uuid, event.eventData)


def _address(handle: Handle) -> int | None:
    return ctypes.cast(handle, ctypes.c_void_p).value


def _free(events: Handle) -> None:
    try:
        pynvml.nvmlEventSetFree(events)
    except pynvml.NVMLError as error:
        logger.info("could not free the GPU event set reason=%s", code(error))
