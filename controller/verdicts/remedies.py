"""What does each signal of the generator mean in words, and what is to be done about it? One line a signal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from controller.figures.disturbance import REPORTS


@dataclass(frozen=True, slots=True)
class Remedy:
    """`means` completes "the generator was limited: …"; `act` is what to do."""

    means: str
    act: str


_MOVE = "move the generator off this host, or off the cores that it shares"

REMEDIES: Mapping[str, Remedy] = {
    "cpu": Remedy("its processor time was used up", "give the plan more workers, or more cores or quota to them"),
    "loop_lag": Remedy(
        "its event loop woke up late",
        f"let nothing block it (encoding large payloads, code of a locustfile), give the plan more workers, or {_MOVE}",
    ),
    "throttling": Remedy(
        "its cgroup was held back for its CPU quota", f"raise the quota (cpu.max, --cpus, limits.cpu), or {_MOVE}"
    ),
    "run_queue": Remedy("it was ready to run and got no core", f"end what else runs on its cores, or {_MOVE}"),
    "pressure": Remedy("tasks beside it waited for CPU, memory or disk", f"end what else runs there, or {_MOVE}"),
    "sockets": Remedy(
        "its ephemeral ports were used up",
        "widen net.ipv4.ip_local_port_range, keep connections alive, or share the load over more hosts",
    ),
    "descriptors": Remedy(
        "its file descriptors were used up", "raise ulimit -n (LimitNOFILE=), or give the plan more workers"
    ),
    "memory": Remedy("its memory was used up", "raise its memory limit, or use a smaller pool of payloads"),
    "lateness": Remedy("requests left later than they were due", "give the plan more workers, or ask for a lower rate"),
    "arrivals": Remedy("fewer requests left than were due", "give the plan more workers, or ask for a lower rate"),
    "users": Remedy(
        "fewer users ran than were asked for", "see locust.log for why users ended, or give the plan more workers"
    ),
    "gc": Remedy(
        "Python's garbage collector held it up", "make fewer objects in a task, or call gc.freeze() once all is loaded"
    ),
    "clock": Remedy(
        "the wall clock was set",
        "let the clock settle before a run (chronyc waitsync), and slew it rather than step it",
    ),
    "errors": Remedy(
        "requests failed inside it or names were resolved slowly",
        "see locust.log: raise ulimit -n, widen ip_local_port_range, or give the target's address instead of its name",
    ),
    "workers": Remedy(
        "workers did not report", "see locust.log and the machine's memory and CPU limits for why; then run again"
    ),
    "canary": Remedy(
        "it measured longer latencies than a lone probe beside it did", f"give the plan more workers, or {_MOVE}"
    ),
    REPORTS: Remedy("no report of it arrived", "see locust.log for a stalled master; then run again"),
}
"""Every signal that can be at its limit."""

UNKNOWN = Remedy("a signal was at its limit", "see locust.log, and the panel of the load generator's health")


def remedy(signal: str) -> Remedy:
    """Of a signal; a signal that is newer than this table has a general one."""
    return REMEDIES.get(signal, UNKNOWN)
