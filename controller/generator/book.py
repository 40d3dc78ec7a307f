"""The master's exact account of all workers: reports in, intervals, totals and faults out. Time is an argument."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from controller.breakdown import together
from controller.generator.latency import quantise
from controller.generator.ledger import RawCell
from controller.generator.members import GONE_SECONDS, Member, Presence
from controller.generator.open_book import OpenBook, duration_buckets
from controller.generator.pulse import Vitals
from controller.generator.wire import Share, WorkerDrained, WorkerReport
from controller.orders import Cell, Drained, Interval, WorkerHealth
from exporters.names.loadgen import MASTER, OUTCOMES

LOST_OUTCOME = "generator_error"


class Book:
    """Every request that was reported is in exactly one interval, and in `durations` as soon as it was reported."""

    def __init__(self) -> None:
        """No worker yet."""
        self.members: dict[str, Member] = {}
        self.durations = duration_buckets()
        self.open = OpenBook()
        self.totals: Counter[str] = Counter(dict.fromkeys(OUTCOMES, 0))
        self.reports_lost = 0
        self.master: Vitals | None = None  # of the process that keeps this book
        self.order = Share(0, -1, measured=False, users=0)  # the newest, over all workers
        self._pending: dict[tuple[int, bool, str], tuple[dict[int, int], int]] = {}

    @property
    def present(self) -> list[Member]:
        """Workers that are not dead."""
        return [member for member in self.members.values() if not member.gone]

    @property
    def able(self) -> list[Member]:
        """Workers that report, and so can take a share."""
        return [member for member in self.members.values() if member.presence is Presence.UP]

    @property
    def started(self) -> int:
        """Requests sent since the run began."""
        return sum(member.started for member in self.members.values())

    @property
    def ended(self) -> int:
        """Requests that ended since the run began."""
        return sum(member.ended for member in self.members.values())

    @property
    def retries(self) -> int:
        """Further attempts of requests that had failed."""
        return sum(member.retries for member in self.members.values())

    @property
    def users(self) -> int:
        """Users that are known to run now: those of a silent worker are not."""
        return sum(member.users for member in self.able)

    def join(self, name: str, address: str, now: float) -> None:
        """A worker is ready. Members stay in the order of their names, so that a rising order only ever adds users."""
        joined = {**self.members, name: Member(name, address, now)}
        self.members = dict(sorted(joined.items(), key=lambda item: (len(item[0]), item[0])))

    def report(self, report: WorkerReport, now: float) -> list[str]:
        """Take a report in; what was wrong, in sentences. A dead worker's report comes too late to count."""
        member = self.members[report.worker]
        if member.gone:
            return [f"a report of {member.name} arrived after it was given up; it is not counted"]
        faults = []
        if (lost := report.sequence - member.sequence - 1) > 0:
            self.reports_lost += lost
            faults.append(f"{lost} reports of {member.name} never arrived: counts are too low by what they held")
        member.seen, before = now, member.seen
        if (back := self.hears(member, now, before)) is not None:
            faults.append(back)
        member.sequence = report.sequence
        member.started, member.ended, member.users = report.started, report.ended, report.users
        member.vitals, member.retries = report.vitals, report.retries
        member.lags.add(Counter(report.vitals.lags_us), sum(report.vitals.lags_us))
        member.new_lags.update(map(quantise, report.vitals.lags_us))
        self._add(report.cells, member)
        self.open.add(report.intended, report.arrivals)
        return faults

    def silences(self, now: float) -> list[Member]:
        """Workers that have become silent since the last call."""
        fresh = [member for member in self.able if member.mute(now)]
        for member in fresh:
            member.presence = Presence.SILENT
        return fresh

    def hears(self, member: Member, now: float, reported: float | None = None) -> str | None:
        """A word of a worker: a sentence if it had been silent and is back. `reported` is when it reported before."""
        quiet = now - max(member.heard, member.seen if reported is None else reported)
        member.heard = now
        if member.presence is not Presence.SILENT or member.mute(now):
            return None
        member.presence = Presence.UP
        return f"{member.name} answers again after {quiet:.1f} s of silence"

    def lost(self, now: float) -> list[Member]:
        """Workers that have been silent for so long that nobody expects them any more."""
        silent = (member for member in self.members.values() if member.presence is Presence.SILENT)
        return [member for member in silent if member.quiet(now) > GONE_SECONDS]

    def give_up(self, name: str, now: float) -> str:
        """A worker is dead: what it had in flight is counted as `generator_error`, with its time until now."""
        member = self.members[name]
        cut = member.started - member.ended
        member.presence, member.users, member.ended = Presence.DEAD, 0, member.started
        if cut > 0:
            us = round(member.age(now) * 1e6)
            lost = (self.order.slot, self.order.measured, LOST_OUTCOME, {quantise(us): cut}, us * cut)
            self._add([lost], member)
            self.open.add([lost] if self.order.arrivals else [], [])
        return (
            f"{name} is lost: {cut} requests that were in flight at its last report {member.age(now):.1f} s ago are "
            "counted as generator_error, what it did since is not known"
        )

    def interval(self, start: float, end: float, now: float) -> Interval:
        """Everything reported since the last call, as what happened from epoch second `start` to `end`."""
        cells = tuple(Cell(*key, counts, sum_us) for key, (counts, sum_us) in self._pending.items())
        self._pending = {}
        health = tuple(member.health(now) for member in self.members.values())
        if self.master is not None:
            health = (*health, WorkerHealth(MASTER, 0, 0.0, dict(self.master.saturation)))
        for member in self.members.values():
            member.new_lags = Counter()
        in_flight = self.started - self.ended
        totals = (self.started, self.ended, in_flight, self.users)
        return Interval(start, end, cells, *totals, health, *self.open.take(), self.rate(end))

    def oldest(self, now: float) -> float:
        """Seconds since the last report of the worker that has been silent for longest."""
        return max((member.age(now) for member in self.members.values()), default=0.0)

    def rate(self, at: float) -> float:
        """Arrivals a second that the newest order asks for at epoch second `at`."""
        return self.order.arrivals.rate(at - self.order.at) if self.order.arrivals else 0.0

    def drained(self, drained: WorkerDrained) -> list[str]:
        """A worker has nothing in flight; a sentence if its own totals are not what its reports told."""
        member = self.members[drained.worker]
        member.drained = drained
        sent, got = sum(drained.totals.values()), sum(member.received.values())
        if dict(drained.totals) == {outcome: member.received[outcome] for outcome in OUTCOMES}:
            return []
        return [f"{drained.worker} counted {sent} requests, but its reports told of {got}"]

    def conclusion(self, at: float) -> Drained:
        """The totals: of every worker its own, of a dead one what its reports told."""
        totals = Counter(dict.fromkeys(OUTCOMES, 0))
        for member in self.members.values():
            totals.update(member.received if member.drained is None else member.drained.totals)
        aborted = sum(member.drained.aborted for member in self.members.values() if member.drained)
        told = together(member.drained.told for member in self.members.values() if member.drained)
        return Drained(at, dict(totals), self.started, aborted, told)

    def _add(self, cells: Iterable[RawCell], member: Member) -> None:
        for slot, measured, outcome, counts, sum_us in cells:
            number = sum(counts.values())
            self.totals[outcome] += number
            member.received[outcome] += number
            self.durations[outcome].add(counts, sum_us)
            merged, total = self._pending.get((slot, measured, outcome), ({}, 0))
            for us, count in counts.items():
                merged[us] = merged.get(us, 0) + count
            self._pending[slot, measured, outcome] = (merged, total + sum_us)


def shares(order: Share, members: Iterable[Member]) -> Iterator[tuple[Member, Share]]:
    """An order over all workers, divided as evenly as whole users can be; the first ones get what is left over."""
    among = list(members)
    for index, member in enumerate(among):
        users = order.users // len(among) + (index < order.users % len(among))
        yield member, replace(order, users=users, part=index, parts=len(among), total=order.users)
