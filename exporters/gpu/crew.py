"""Reads devices in as few threads as they need, so that a call that does not return holds this device and no other."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from exporters.gpu.device import DeviceReader
from exporters.gpu.reading import Device

TURN_SECONDS = 0.010
"""One thread reads devices that answer at once, one after the other: a switch of threads costs more than a call.

While one is slower than this, another thread goes on with the next."""


@dataclass(slots=True)
class _Seat:
    """One device: `busy` from when it is asked for until it has answered, `late` when that was not waited for."""

    reader: DeviceReader
    busy: bool = False
    late: bool = False
    uuids: tuple[str, ...] = ()
    found: tuple[Device, ...] = ()
    error: Exception | None = None


class Crew:
    """Reads all devices that are not still being read; one that is late is not waited for again until it answered."""

    def __init__(self, patience: float, reader: Callable[[int], DeviceReader]) -> None:
        """Wait for at most `patience` seconds in all, of real time. Asked by one thread."""
        self._patience, self._reader = patience, reader
        self._seats: list[_Seat] = []
        self._queue: deque[_Seat] = deque()
        lock = threading.Lock()
        self._work, self._done = threading.Condition(lock), threading.Condition(lock)
        self._idle = self._threads = 0
        self._resting = False
        self.timeouts: dict[str, int] = {}

    @property
    def busy(self) -> bool:
        """Whether any call has not returned yet."""
        return any(seat.busy for seat in self._seats)

    @property
    def hung(self) -> tuple[str, ...]:
        """The devices, by UUID, of which a call does not return."""
        return tuple(uuid for seat in self._seats if seat.late for uuid in seat.uuids)

    def read(self, count: int) -> tuple[Device, ...]:
        """Everything that answers in time, in the order of the indexes. Raises what a reader raised."""
        while len(self._seats) < count:
            self._seats.append(_Seat(self._reader(len(self._seats))))
        with self._done:
            self._resting = False
            for seat in self._seats:
                seat.late = seat.late and seat.busy
            asked = [seat for seat in self._seats[:count] if not seat.busy]
            for seat in asked:
                seat.busy, seat.found, seat.error = True, (), None
            self._queue.extend(asked)
            self._wait(asked)
            return self._collect(asked)

    def rest(self) -> None:
        """End all threads until the next reading; a busy one ends with its call."""
        with self._work:
            self._resting = True
            self._work.notify_all()

    def _wait(self, asked: Sequence[_Seat]) -> None:
        """Until all have answered, but no longer than the patience; one more thread at every turn without progress."""
        now = time.monotonic()
        ends, left = now + self._patience, -1
        while any(seat.busy for seat in asked) and now < ends:
            if self._queue and left in (-1, len(self._queue)):
                self._hire()
            left = len(self._queue)
            self._done.wait(min(TURN_SECONDS, ends - now) if left else ends - now)
            now = time.monotonic()

    def _hire(self) -> None:
        if self._idle:
            self._work.notify()
        else:
            self._threads += 1
            threading.Thread(target=self._run, name=f"gpu-{self._threads}", daemon=True).start()

    def _collect(self, asked: Sequence[_Seat]) -> tuple[Device, ...]:
        devices: list[Device] = []
        for seat in asked:
            if seat.busy:
                seat.late = True
                for uuid in seat.uuids:
                    self.timeouts[uuid] = self.timeouts.get(uuid, 0) + 1
            elif seat.error is not None:
                raise seat.error
            else:
                seat.uuids = tuple(device.identity.uuid for device in seat.found) or seat.uuids
                devices.extend(seat.found)
        return tuple(devices)

    def _run(self) -> None:
        while (seat := self._next()) is not None:
            found, error = _read(seat.reader)
            with self._done:
                seat.found, seat.error, seat.busy = found, error, False
                if not self._queue:
                    self._done.notify()

    def _next(self) -> _Seat | None:
        """The next device to read, waited for; None when there is none for now."""
        with self._work:
            while not self._queue and not self._resting:
                self._idle += 1
                self._work.wait()
                self._idle -= 1
            return self._queue.popleft() if self._queue else None


def _read(reader: DeviceReader) -> tuple[tuple[Device, ...], Exception | None]:
    """What the reader found, or what it raised: handed to the thread that asked."""
    try:
        return reader.read(), None
    except Exception as error:  # noqa: BLE001 - a thread that died would leave its device hanging for ever
        return (), error
