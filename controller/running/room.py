"""Has the generator what a plan will need of it? Little's law against what the machine gives; pure.

Refused is what cannot work: more connections than descriptors or ports, less memory or disk than the run takes. Warned
of is what may make the run invalid. What could not be read is said and holds up nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from controller.figures.wording import digits, latency
from controller.plans.plan import Plan
from controller.plans.rate import format_rate
from controller.plans.timetable import Timetable
from controller.ports import Finding

SPARE_DESCRIPTORS = 32
"""Open files of a worker beside its connections: libraries, its master, its log."""

CPU_SECONDS = {"lean": 60e-6, "fast": 400e-6}
"""Processor time of a request, recording included, as measured here on an ordinary core; machines differ."""

BUSY_SHARE = 0.7
"""Above this share of the processor time that can be had, a window will hardly stay below the limit throughout."""

WORKER_BYTES = 110_000_000
CONNECTION_BYTES = 40_000
"""Memory of a worker with its interpreter, and of each connection."""

DISK_BYTES, DISK_BYTES_A_SECOND = 10_000_000, 10_000
"""What a run leaves on disk: its report, and series and journal by its length."""

EXACT_CLOCKS = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "xen")
"""Clock sources that are read in nanoseconds; others take a microsecond and more for each time stamp."""


@dataclass(frozen=True, slots=True)
class Room:
    """What this machine gives a generator process; None where it could not be read. Sizes in bytes.

    `descriptors` is what a worker can raise its limit to. `ports` are those that the kernel may choose from, `sockets`
    those that are taken, TIME_WAIT with them. `memory` is free, within the limit of the cgroup.
    """

    descriptors: int | None = None
    ports: int | None = None
    sockets: int | None = None
    cores: int | None = None
    quota: float | None = None
    memory: int | None = None
    disk: int | None = None
    clock: str | None = None
    clock_synchronised: bool | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """What a plan needs of this machine: `likely` connections at its peak, `most` if every answer takes the whole
    timeout, `rate` requests a second; `how` says in words what they follow from."""

    workers: int
    likely: int
    most: int
    rate: float
    cpu: float | None
    memory: int
    disk: int
    how: str


def need_of(plan: Plan, timetable: Timetable, seconds: float | None) -> Need:
    """`seconds`: what a request took before the load; without it, the timeout has to stand for it."""
    timeout = plan.workload.timeout.total_seconds()
    took = min(seconds, timeout) if seconds else timeout
    users, rate = timetable.peak_users, timetable.peak_rate
    slots = max((slot.arrivals.max_in_flight for slot in timetable.slots if slot.arrivals is not None), default=0)
    open_likely, open_most = min(slots, math.ceil(rate * took)), min(slots, math.ceil(rate * timeout))
    here = max(1, plan.workers - (plan.remote_workers or 0))
    share = here / max(1, plan.workers)
    shared = plan.workload.connections == "shared" and plan.workload.protocol == "grpc"
    likely, most = (plan.workers, plan.workers) if shared else (max(users, open_likely), max(users, open_most))
    sent = max(rate, _closed_rate(plan, users, took if seconds else None))
    known = plan.workload.locustfile is None and plan.workload.protocol == "rest"
    return Need(
        workers=here,
        likely=math.ceil(likely * share),
        most=math.ceil(most * share),
        rate=sent * share,
        cpu=sent * share * CPU_SECONDS[plan.workload.client] if known else None,
        memory=round(here * WORKER_BYTES + most * share * CONNECTION_BYTES),
        disk=round(DISK_BYTES + DISK_BYTES_A_SECOND * timetable.span.total_seconds()),
        how=_how(users, rate, took, measured=bool(seconds)),
    )


def findings(need: Need, room: Room, limits: Mapping[str, float]) -> Iterator[Finding]:
    """One finding a resource; `limits` are those of the signals in force."""
    yield _descriptors(need, room, limits["descriptors"])
    yield _ports(need, room, limits["sockets"])
    yield _cores(need, room)
    yield _memory(need, room, limits["memory"])
    yield _disk(need, room)
    yield _clock(room)


def _closed_rate(plan: Plan, users: int, took: float | None) -> float:
    """Requests a second of so many users, if it is known how long an answer takes."""
    workload = plan.workload
    if workload.pacing is not None:
        return users / workload.pacing.total_seconds()
    if took is None:
        return 0.0
    think = sum(one.total_seconds() for one in workload.think_time) / 2
    return users / (took + think)


def _how(users: int, rate: float, took: float, *, measured: bool) -> str:
    parts = [f"{users:,} users"] if users else []
    if rate:
        when = "as measured" if measured else "the timeout"
        parts.append(f"{format_rate(rate)} x {latency(took)} ({when})")
    return " or ".join(parts) or "no load"


def _descriptors(need: Need, room: Room, share: float) -> Finding:
    if room.descriptors is None:
        return _unknown("descriptors", "how many files a process may open")
    likely, most = (math.ceil(n / need.workers) + SPARE_DESCRIPTORS for n in (need.likely, need.most))
    told = f"{likely:,} open files in each of {need.workers} worker(s) ({need.how}), allowed are {room.descriptors:,}"
    remedy = "raise ulimit -n (LimitNOFILE=), or give the plan more workers"
    if likely > room.descriptors:
        return _refused("descriptors", f"the plan needs {told}; {remedy}")
    if most > share * room.descriptors:
        worst = f"; {most:,} if every answer takes the whole timeout"
        return _warning("descriptors", f"open files may run out: {told}{worst}; {remedy}")
    return _fit("descriptors", told)


def _ports(need: Need, room: Room, share: float) -> Finding:
    if room.ports is None:
        return _unknown("ports", "which ephemeral ports there are")
    taken = room.sockets or 0
    told = f"{need.likely:,} connections ({need.how}), {room.ports:,} ephemeral ports, {taken:,} sockets in use"
    remedy = "widen net.ipv4.ip_local_port_range, or share the load over more hosts"
    if need.likely > room.ports:
        return _refused("ports", f"the plan needs {told}; {remedy}")
    if need.most + taken > share * room.ports:
        worst = f"; {need.most:,} connections if every answer takes the whole timeout"
        return _warning("ports", f"ephemeral ports may run out: {told}{worst}; {remedy}")
    return _fit("ports", told)


def _cores(need: Need, room: Room) -> Finding:
    if room.cores is None:
        return _unknown("cores", "how many cores there are")
    usable = min(float(room.cores), room.quota if room.quota is not None else math.inf)
    quota = "" if room.quota is None else f", a quota of {digits(room.quota)}"
    told = f"{need.workers} worker(s), {room.cores} core(s){quota}"
    if need.cpu is not None and need.rate:
        told += f", about {digits(need.cpu)} cores for {format_rate(round(need.rate, 1))}"
    if need.workers > usable:
        act = "raise the quota" if room.quota is not None and room.quota < room.cores else "ask for fewer workers"
        return _warning("cores", f"more workers than can run at once: {told}; {act}, or move the generator")
    if need.cpu is not None and need.cpu > BUSY_SHARE * min(usable, need.workers):
        return _warning("cores", f"processor time may run out: {told}; more workers, cores or quota")
    return _fit("cores", told)


def _memory(need: Need, room: Room, share: float) -> Finding:
    if room.memory is None:
        return _unknown("memory", "how much memory is free")
    told = f"about {_megabytes(need.memory)} for {need.workers} worker(s), {_megabytes(room.memory)} are free"
    if need.memory > room.memory:
        return _refused("memory", f"the plan needs {told}; ask for fewer workers, or raise the memory limit")
    if need.memory > share * room.memory:
        return _warning("memory", f"memory may run out: {told}; ask for fewer workers, or raise the memory limit")
    return _fit("memory", told)


def _disk(need: Need, room: Room) -> Finding:
    if room.disk is None:
        return _unknown("disk", "how much of the archive's disk is free")
    told = f"about {_megabytes(need.disk)} for the run's files, {_megabytes(room.disk)} are free"
    if need.disk > room.disk:
        return _refused("disk", f"the plan needs {told}; free some disk, or choose another runs folder")
    return _fit("disk", told)


def _clock(room: Room) -> Finding:
    if room.clock is None:
        return _unknown("clock", "from where the kernel has its time")
    match room.clock_synchronised:
        case None:
            synchronised = "whether it is synchronised is unknown"
        case True:
            synchronised = "synchronised"
        case False:
            synchronised = "not synchronised: compare its times with other hosts' with care"
    told = f"the kernel's clock source is {room.clock}, {synchronised}"
    if room.clock not in EXACT_CLOCKS:
        slow = "each time stamp takes a microsecond or more"
        return _warning(
            "clock", f"{told}; {slow}: choose tsc or kvm-clock (clocksource= of the kernel), or another host"
        )
    return _fit("clock", told)


def _megabytes(number: int) -> str:
    return f"{number / 1e6:,.0f} MB"


def _fit(what: str, told: str) -> Finding:
    return Finding(f"generator {what}", True, told)


def _unknown(what: str, told: str) -> Finding:
    return Finding(f"generator {what}", True, f"unknown: {told} could not be read")


def _warning(what: str, told: str) -> Finding:
    return Finding(f"generator {what}", True, told, warning=True)


def _refused(what: str, told: str) -> Finding:
    return Finding(f"generator {what}", False, told)
