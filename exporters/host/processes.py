"""The processes of interest, summed by rule, and the CPU time that everything else took meanwhile.

A process is known by its number and its start, because numbers are used again. What ended stays in its rule's counters,
so that they never step back; what began to fit long after its start counts from then on.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from exporters.family import Family, many
from exporters.host.cpu import CpuReading, read_cpu
from exporters.host.rules import Rule, search
from exporters.host.usage import NOTHING, TICKS_PER_SECOND, Usage, Who, counters, less, read_usage
from exporters.names import host as names

SEARCH_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Group:
    """What a rule finds: the counters with what ended, the rest over what is alive."""

    count: int
    user: float
    system: float
    threads: int
    resident_bytes: int
    descriptors: int | None
    voluntary: int | None
    involuntary: int | None
    started: float | None


@dataclass(frozen=True, slots=True)
class ProcessesReading:
    """Groups by label; failures by (process, field, reason); CPU seconds taken by everything else and by steal."""

    groups: dict[str, Group]
    failures: dict[tuple[str, str, str], int]
    taken_by_others: float
    stolen: float | None


@dataclass(slots=True)
class _Ledger:
    """One rule's processes: what they had when they were first seen, their newest usage, and the sum of what ended."""

    pids: tuple[int, ...] = ()
    since: dict[Who, Usage] = field(default_factory=dict)
    newest: dict[Who, Usage] = field(default_factory=dict)
    ended: Counter[str] = field(default_factory=Counter)


class ProcessWatcher:
    """Follows the processes that the rules find. Used by one thread."""

    def __init__(self, proc: Path, rules: tuple[Rule, ...], clock: Callable[[], float] | None = None) -> None:
        """`clock` tells seconds since boot."""
        self._proc, self._rules = proc, rules
        self._clock = clock or (lambda: time.clock_gettime(time.CLOCK_BOOTTIME))
        self._ledgers = {rule.process: _Ledger() for rule in rules}
        self._failures: Counter[tuple[str, str, str]] = Counter()
        self._searched: float | None = None
        self._seen_before: float | None = None
        self._cpu: CpuReading | None = None
        self._watched: dict[Who, float] = {}
        self._balance = self._taken = 0.0

    def read(self) -> ProcessesReading:
        """One look; raises OSError or ValueError only where `stat` under `/proc` makes no sense."""
        now = self._clock()
        cpu = read_cpu(self._proc, self._cpu)
        if self._searched is None or now - self._searched >= SEARCH_SECONDS:
            self._search(now)
        for process, ledger in self._ledgers.items():
            self._follow(process, ledger)
        self._weigh(cpu)
        self._cpu = cpu
        groups = {process: _sum(ledger, cpu.boot_time) for process, ledger in self._ledgers.items()}
        return ProcessesReading(groups, dict(self._failures), self._taken, cpu.seconds.get(("steal",)))

    def _search(self, now: float) -> None:
        found = search(self._proc, self._rules, os.getpid())
        for process, pids in found.found.items():
            self._ledgers[process].pids = pids
        for process, count in found.denied.items():
            self._failures[process, "search", "permission"] += count
        self._seen_before, self._searched = self._searched, now

    def _follow(self, process: str, ledger: _Ledger) -> None:
        alive: dict[Who, Usage] = {}
        for pid in ledger.pids:
            try:
                who, usage, denied = read_usage(self._proc / str(pid), ledger.newest)
            except (FileNotFoundError, ProcessLookupError):
                continue
            except (OSError, ValueError, IndexError):
                self._failures[process, "stat", "malformed"] += 1
                continue
            self._failures.update((process, name, "permission") for name in denied)
            alive[who] = usage
            ledger.since.setdefault(who, self._first(who, usage))
        for who in ledger.newest.keys() - alive.keys():
            usage = less(ledger.newest[who], ledger.since.pop(who))
            ledger.ended.update(counters(usage))
        ledger.newest = alive

    def _first(self, who: Who, usage: Usage) -> Usage:
        """What not to count: nothing of a process that is as new as the search that found it, or found at first."""
        before = self._seen_before
        return usage if before is not None and who[1] / TICKS_PER_SECOND < before else NOTHING

    def _weigh(self, cpu: CpuReading) -> None:
        """Add what the machine did since the last look and the processes of interest did not do.

        Ticks make single differences too small or too large; so the balance is kept exactly, and shown only rising.
        """
        watched = {
            who: usage.user + usage.system for ledger in self._ledgers.values() for who, usage in ledger.newest.items()
        }
        if self._cpu is not None:
            since = {who: use for ledger in self._ledgers.values() for who, use in ledger.since.items()}
            own = sum(
                value - self._watched.get(who, since[who].user + since[who].system) for who, value in watched.items()
            )
            self._balance += max(0.0, cpu.busy_seconds - self._cpu.busy_seconds) - own
            self._taken = max(self._taken, self._balance)
        self._watched = watched


def _sum(ledger: _Ledger, boot_time: int | None) -> Group:
    counted = Counter(ledger.ended)
    for who, usage in ledger.newest.items():
        counted.update(counters(less(usage, ledger.since[who])))
    alive = list(ledger.newest.values())
    oldest = min((start for _, start in ledger.newest), default=None)
    return Group(
        count=len(alive),
        user=counted["user"],
        system=counted["system"],
        threads=sum(usage.threads for usage in alive),
        resident_bytes=sum(usage.resident_bytes for usage in alive),
        descriptors=_total([usage.descriptors for usage in alive]),
        voluntary=None if _total([usage.voluntary for usage in alive]) is None else int(counted["voluntary"]),
        involuntary=None if _total([usage.involuntary for usage in alive]) is None else int(counted["involuntary"]),
        started=None if oldest is None or boot_time is None else boot_time + oldest / TICKS_PER_SECOND,
    )


def _total(values: list[int | None]) -> int | None:
    """The sum; None when one is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def families(reading: ProcessesReading) -> tuple[Family, ...]:
    """The reading as metric families."""
    groups = reading.groups.items()
    return (
        many(names.PROCESSES_FOUND, (((p,), g.count) for p, g in groups)),
        many(names.PROCESS_CPU, (s for p, g in groups for s in (((p, "user"), g.user), ((p, "system"), g.system)))),
        many(names.PROCESS_MEMORY, (((p,), g.resident_bytes) for p, g in groups)),
        many(names.PROCESS_THREADS, (((p,), g.threads) for p, g in groups)),
        many(names.PROCESS_DESCRIPTORS, (((p,), g.descriptors) for p, g in groups)),
        many(
            names.PROCESS_SWITCHES,
            (s for p, g in groups for s in (((p, "voluntary"), g.voluntary), ((p, "involuntary"), g.involuntary))),
        ),
        many(names.PROCESS_START, (((p,), g.started) for p, g in groups)),
        many(names.PROCESS_FAILURES, sorted(reading.failures.items())),
        many(names.INTERFERENCE, ((("others",), reading.taken_by_others), (("steal",), reading.stolen))),
    )
