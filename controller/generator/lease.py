"""May this process start a request now? Only under a lease that is young enough, and never again after it was shut.

A lease's age is taken by the wall clock once, when it arrives; from then on the monotonic clock counts, so that a step
of the wall clock can shorten the right to send by what it is, but never lengthen it beyond `LEASE_SECONDS`.
"""

from __future__ import annotations

import time

from gevent.event import Event

from controller.orders import LEASE_SECONDS

MARGIN_SECONDS = 0.2
"""How long before its end a sender stops using a lease: bytes on their way have to arrive before the end, too."""

EXIT_AFTER_SECONDS = 8.0
"""A process whose newest lease is this old ends itself; ten seconds are promised."""

FIRST_LEASE_SECONDS = 90.0
"""How long a process lives before its first lease, while others still start; until then it has sent nothing."""


STALL_SECONDS = 1.5
"""A process whose loop has not turned for this long does not send: a little later (`members.SILENT_SECONDS` after its
last word) others have its share."""


class Lease:
    """The newest lease on the monotonic clock."""

    __slots__ = ("_granted", "_margin", "_skew", "_started")

    def __init__(self, now: float, margin: float = 0.0) -> None:
        """No lease yet at monotonic `now`; the last `margin` seconds of every lease stay unused."""
        self._started = now
        self._margin = margin
        self._skew = float("inf")  # this clock less the master's, and the shortest way between them
        self._granted: float | None = None

    def grant(self, at: float, wall: float, now: float) -> None:
        """Take a lease granted at epoch second `at`, read at epoch second `wall`; older ones change nothing."""
        granted = now - max(wall - at, 0.0)
        self._granted = granted if self._granted is None else max(granted, self._granted)

    def grant_from_afar(self, at: float, now: float) -> None:
        """Take a lease of a master with another clock, received at monotonic `now`: it is as old as it is later than
        the quickest one so far was, so that one that was held up on its way is not taken for a fresh one."""
        self._skew = min(self._skew, now - at)
        granted = at + self._skew
        self._granted = granted if self._granted is None else max(granted, self._granted)

    @property
    def until(self) -> float:
        """Monotonic end of the right to send."""
        return float("-inf") if self._granted is None else self._granted + LEASE_SECONDS - self._margin

    def ran_out(self, now: float) -> bool:
        """Whether there was a lease and it is over."""
        return self._granted is not None and now >= self.until

    def must_exit(self, now: float) -> bool:
        """Whether the process has been without a lease for so long that it has to end."""
        if self._granted is None:
            return now >= self._started + FIRST_LEASE_SECONDS
        return now >= self._granted + EXIT_AFTER_SECONDS


class Gate:
    """What every sender passes right before it sends."""

    __slots__ = ("_awake", "_event", "_far", "_lease", "_shut", "_until", "asleep")

    def __init__(self) -> None:
        """Closed until the first lease."""
        self._lease = Lease(time.monotonic(), MARGIN_SECONDS)
        self._until = self._lease.until
        self._shut = self._far = False
        self._awake = float("inf")  # until then the process has turned lately enough; for ever where no heart beats
        self.asleep = False  # it has not, and the master has not said since what to do
        self._event = Event()

    def mistrust_clock(self) -> None:
        """The master is on another host: its epoch seconds are not ours."""
        self._far = True

    def grant(self, at: float) -> None:
        """Open for the rest of the lease that was granted at epoch second `at`."""
        if self._far:
            self._lease.grant_from_afar(at, time.monotonic())
        else:
            self._lease.grant(at, time.time(), time.monotonic())
        self._renew()

    def beat(self, now: float) -> bool:
        """The loop turns at monotonic `now`: whether it has done so often enough, and may go on."""
        self.asleep = self.asleep or now > self._awake
        if not self.asleep:
            self._awake = now + STALL_SECONDS
            self._renew()
        return not self.asleep

    def wake(self, now: float) -> None:
        """What to do is known."""
        self.asleep, self._awake = False, now + STALL_SECONDS
        self._renew()

    def slept(self) -> bool:
        """Whether the process has been asleep, perhaps before its heart has noticed."""
        return self.asleep or time.monotonic() > self._awake

    def _renew(self) -> None:
        if not self._shut:
            self._until = min(self._lease.until, self._awake)
            self._event.set()

    def is_open(self) -> bool:
        """Whether a request may start now."""
        return time.monotonic() < self._until

    def lapsed(self) -> bool:
        """Whether there was a lease and it is over, shut or not."""
        return self._lease.ran_out(time.monotonic())

    def shut(self) -> None:
        """Stay closed for good."""
        self._shut = True
        self._until = float("-inf")

    def wait(self) -> None:
        """Until the next lease comes, or for a second."""
        self._event.clear()
        self._event.wait(1.0)

    def must_exit(self) -> bool:
        """Whether the process has been without a lease for so long that it has to end."""
        return self._lease.must_exit(time.monotonic())
