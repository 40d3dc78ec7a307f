"""Where the load generator's limits are and why: one table, read by whoever measures, publishes or judges.

`loadgen_saturation{signal,worker}` is a reading over its limit, so 1 means: at it. Every signal looks at the instrument
only; a slow target raises none of them. Signals look at the last three seconds unless their row says otherwise: one
hiccup of a machine is no saturation, and three seconds are soon enough to be told within five.

The figures are chosen between what a healthy generator beside its target on two cores shows and what generators showed
that measured wrongly: smooth overload, a quota, a busy neighbour on the same core, and tasks that block their loop.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from exporters.names.loadgen import SIGNALS

VIEW_SECONDS = 3.0
"""How far signals look back."""

MASTER_PATIENCE = 5
"""The master sends nothing: what its loop does late by a tenth of a second harms no request."""


@dataclass(frozen=True, slots=True)
class Limit:
    """One signal's limit: `value` in `unit`, what is measured, why the limit is there, and what to do about it.

    A plan may set any value from `least` to `most`. A share above 1 is never reached: the signal is then only shown.
    """

    value: float
    unit: Literal["ratio", "seconds"]
    measures: str
    reason: str
    remedy: str
    least: float = 0.0001
    most: float = 10.0


_MORE_WORKERS = "give the plan more workers"
_MOVE = "move the generator to cores, or to a host, of its own"

LIMITS: Mapping[str, Limit] = {
    "cpu": Limit(
        0.95,
        "ratio",
        "CPU time over what can be had: one core, or the tightest quota over the cgroup and its ancestors; of the "
        "quota also what the whole cgroup takes; over the last second",
        "a process has one interpreter lock: at a full core requests queue inside it, and rates fell to 0.6 of what "
        "was asked",
        _MORE_WORKERS + ", or raise the quota",
    ),
    "loop_lag": Limit(
        0.020,
        "seconds",
        "the 99th percentile of how much later than asked the event loop woke up, or four times the median, or a tenth "
        "of the longest delay",
        "healthy generators stayed below 15 ms while those that measured wrongly were at 19 to 80 ms; every request "
        "waits for the loop, so its lag is in the latency. A single delay of 200 ms is 0.07 of the view",
        "let nothing block the loop (a user class that computes or sleeps), " + _MORE_WORKERS + ", or " + _MOVE,
        least=0.001,
        most=10.0,
    ),
    "throttling": Limit(
        0.10,
        "ratio",
        "periods in which the cgroup, or an ancestor, was held back for its quota, of all its periods",
        "a throttled process stands still for up to a period (100 ms): three of thirty periods already are in the P99; "
        "generators that measured wrongly had 0.3 to 1, without a quota there are none",
        "raise the quota, or " + _MOVE,
    ),
    "run_queue": Limit(
        0.30,
        "ratio",
        "time in which the sending thread was ready and no core was free for it, of all time",
        "a generator with cores of its own waits for 0 to 0.01 of the time and one that shares two cores with its "
        "target for up to 0.15; at a quota or a busy neighbour it was 0.2 while still coping, 0.3 with four busy "
        "processes on two cores, and 0.5 when latencies were wrong",
        _MOVE + ", or end what else runs there",
    ),
    "pressure": Limit(
        0.80,
        "ratio",
        "time in which some task of the cgroup (without version 2: of the host) waited for memory or disk, of the "
        "cgroup also for CPU, the worst of them",
        "a busy host waits for its disk for up to 0.3 of the time and generators run on; when somebody waits nearly "
        "always, what is measured is the host. CPU of the whole host does not count: the target may keep it busy",
        _MOVE + ", or end what else runs there",
    ),
    "sockets": Limit(
        0.80,
        "ratio",
        "TCP sockets, those in TIME_WAIT with them, over the ports that the kernel may give to new connections",
        "without a free port no connection can be made; on loopback both ends count, so 0.8 leaves room",
        "keep connections alive, widen net.ipv4.ip_local_port_range, or share the load over more hosts",
    ),
    "descriptors": Limit(
        0.90,
        "ratio",
        "open files over the process's limit (RLIMIT_NOFILE)",
        "each user needs one; at the limit requests fail that never left, and what they measure is not the target",
        "raise the limit (ulimit -n, LimitNOFILE=), or " + _MORE_WORKERS,
    ),
    "memory": Limit(
        0.90,
        "ratio",
        "resident memory, and what the cgroup cannot give back, over the tightest memory limit of the cgroup and its "
        "ancestors; address space over RLIMIT_AS",
        "near its limit a process is stopped for reclaim, then killed",
        "raise the limit, or send smaller payloads from a smaller pool",
    ),
    "lateness": Limit(
        0.020,
        "seconds",
        "open loop: the 99th percentile of the time from the intended to the actual send",
        "it is a part of the latency that the target has nothing to do with; as far off as the loop may be",
        _MORE_WORKERS + ", or ask for a lower rate",
        least=0.001,
        most=10.0,
    ),
    "arrivals": Limit(
        0.05,
        "ratio",
        "open loop: arrivals that were due and neither sent nor dropped for want of a slot, of all that were due",
        "a rate that is not reached measures another load; 0.05 of three seconds is 150 ms behind",
        _MORE_WORKERS + ", or ask for a lower rate",
    ),
    "users": Limit(
        0.01,
        "ratio",
        "closed loop: users that were asked for and do not run, of those asked for",
        "the window's own rule for users; a user that waits for a slow answer runs",
        "see locust.log for why users ended, or " + _MORE_WORKERS,
    ),
    "gc": Limit(
        0.05,
        "ratio",
        "time in which Python's garbage collector held everything up",
        "healthy generators spend below 0.005; at 0.05 one request in twenty was held up",
        "make fewer objects in a task, or call gc.freeze() once everything is loaded",
    ),
    "clock": Limit(
        0.5,
        "seconds",
        "how far the wall clock moved against the monotonic one",
        "durations do not depend on it, but requests are put into seconds and windows by it; slewing moves it by 1.5 "
        "ms",
        "let the clock settle (chronyc waitsync) before the run",
        least=0.01,
        most=3600.0,
    ),
    "errors": Limit(
        0.001,
        "ratio",
        "requests that failed on this machine (no descriptor, port or memory, a name that was not resolved), and "
        "names that took longer than 100 ms to resolve, of all requests",
        "the window's own rule for requests that the generator itself lost",
        "raise the limit that locust.log names, or give the target's address instead of its name",
    ),
    "workers": Limit(
        2.5,
        "seconds",
        "age of the oldest worker's last report, or of the master's to the controller; a worker that is gone counts as "
        "long as the limit at least",
        "workers and master report every second; one that missed two reports is frozen, starved or cut off",
        "see locust.log for how it ended; " + _MOVE,
        least=1.5,
        most=60.0,
    ),
    "canary": Limit(
        0.020,
        "seconds",
        "by how much the generator's median latency exceeds that of a slow probe from the controller's own process",
        "both go to the same target at the same time: what only the generator measures is the generator's",
        _MORE_WORKERS + ", or " + _MOVE,
        least=0.001,
        most=60.0,
    ),
}
"""By signal, in the order of `SIGNALS`."""

if tuple(LIMITS) != SIGNALS:
    raise AssertionError("every signal has one limit, in the order of their names")


def of_master(limits: Mapping[str, float]) -> dict[str, float]:
    """The same for a process that only divides the load and adds up what became of it."""
    return {**limits, "loop_lag": MASTER_PATIENCE * limits["loop_lag"]}


def read_limits(text: str) -> tuple[tuple[str, float], ...]:
    """`loop_lag=30ms,cpu=0.9`: signal and limit, times in `ms` or `s`. Raises `ValueError` with a sentence."""
    found = []
    for part in filter(None, (one.strip() for one in text.split(","))):
        signal, _, written = part.partition("=")
        limit = LIMITS.get(signal.strip())
        if limit is None:
            raise ValueError(f"{part}: {signal} is no signal; there are {', '.join(SIGNALS)}")
        form = r"([0-9]+(?:\.[0-9]+)?)(ms|s)" if limit.unit == "seconds" else r"([0-9]+(?:\.[0-9]+)?)()"
        match = re.fullmatch(form, written.strip())
        value = float(match[1]) * (0.001 if match[2] == "ms" else 1.0) if match else math.nan
        if not limit.least <= value <= limit.most:
            wanted = "a time such as 30ms" if limit.unit == "seconds" else "a number such as 0.9"
            raise ValueError(f"{part}: write {wanted}, from {limit.least:g} to {limit.most:g} {limit.unit}")
        found.append((signal.strip(), value))
    return tuple(found)


def in_force(changed: Iterable[tuple[str, float]] = ()) -> dict[str, float]:
    """Every signal's limit, a plan's (signal, value) instead of ours. Raises `KeyError` for an unknown signal."""
    values = {signal: limit.value for signal, limit in LIMITS.items()}
    for signal, value in changed:
        if signal not in values:
            raise KeyError(signal)
        values[signal] = value
    return values
