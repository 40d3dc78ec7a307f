"""A thread for each device, so that a call that does not return holds this device and no other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from exporters.gpu.device import DeviceReader
from exporters.gpu.reading import Device

TURN_SECONDS = 0.005
"""A device that answers at once is read alone: many threads that ask at once cost more than their calls.

One that is slower goes on while the next is asked."""

_SICK = (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError)
"""What an answer that makes no sense may raise; the library's own errors never leave the reader."""


class Lane:
    """Reads one device when it is asked to, in its own thread. Asked by one thread."""

    def __init__(self, index: int, reader: DeviceReader) -> None:
        """Starts the thread, which ends with `stop` or with the process."""
        self.uuids: tuple[str, ...] = ()
        self.late = False
        self._reader = reader
        self._asked, self._answered = threading.Semaphore(0), threading.Event()
        self._answered.set()
        self._stopped = False
        self._found: tuple[Device, ...] = ()
        self._error: Exception | None = None
        threading.Thread(target=self._run, name=f"gpu-{index}", daemon=True).start()

    @property
    def busy(self) -> bool:
        """Whether a call has not returned yet."""
        return not self._answered.is_set()

    def ask(self) -> None:
        """Begin to read."""
        self._answered.clear()
        self._asked.release()

    def wait(self, seconds: float) -> None:
        """Until it has answered, but no longer."""
        self._answered.wait(seconds)

    def answer(self, seconds: float) -> tuple[Device, ...] | None:
        """What was read; None when it is not there within `seconds`. Raises what the reader raised."""
        if not self._answered.wait(max(0.0, seconds)):
            return None
        if self._error is not None:
            raise self._error
        self.uuids = tuple(device.identity.uuid for device in self._found) or self.uuids
        return self._found

    def stop(self) -> None:
        """End the thread once it is idle."""
        self._stopped = True
        self._asked.release()

    def _run(self) -> None:
        while True:
            self._asked.acquire()
            if self._stopped:
                return
            self._found, self._error = (), None
            try:
                self._found = self._reader.read()
            except _SICK as error:  # handed to the thread that asked
                self._error = error
            self._answered.set()


class Lanes:
    """One lane for each index, asked together; one that is late is not waited for again until it has answered."""

    def __init__(self, patience: float, reader: Callable[[int], DeviceReader]) -> None:
        """Wait for at most `patience` seconds in all, of real time."""
        self._patience, self._reader = patience, reader
        self._lanes: list[Lane] = []
        self.timeouts: dict[str, int] = {}

    @property
    def busy(self) -> bool:
        """Whether any call has not returned yet."""
        return any(lane.busy for lane in self._lanes)

    @property
    def hung(self) -> tuple[str, ...]:
        """The devices, by UUID, of which a call does not return."""
        return tuple(uuid for lane in self._lanes if lane.late for uuid in lane.uuids)

    def read(self, count: int) -> tuple[Device, ...]:
        """Everything that answers in time, in the order of the indexes."""
        while len(self._lanes) < count:
            self._lanes.append(Lane(len(self._lanes), self._reader(len(self._lanes))))
        for lane in self._lanes:
            lane.late = lane.late and lane.busy
        asked = [lane for lane in self._lanes[:count] if not lane.busy]
        for lane in asked:
            lane.ask()
            lane.wait(TURN_SECONDS)
        return self._collect(asked)

    def stop(self) -> None:
        """End all threads that are idle; a busy one ends with its call."""
        for lane in self._lanes:
            lane.stop()
        self._lanes = []

    def _collect(self, asked: Sequence[Lane]) -> tuple[Device, ...]:
        ends = time.monotonic() + self._patience
        devices: list[Device] = []
        for lane in asked:
            found = lane.answer(ends - time.monotonic())
            if found is None:
                lane.late = True
                for uuid in lane.uuids:
                    self.timeouts[uuid] = self.timeouts.get(uuid, 0) + 1
            else:
                devices.extend(found)
        return tuple(devices)
