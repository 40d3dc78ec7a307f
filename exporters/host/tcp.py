"""TCP sockets and counters from three small files; never a scan over sockets, which would cost more than the load.

`/proc/net/sockstat` and `sockstat6` (sockets by state), `/proc/net/snmp` and `/proc/net/netstat` (counters).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from exporters import kernel
from exporters.family import Family, many, single
from exporters.metric import Metric
from exporters.names import host as names

_STATES = {
    "in_use": ("TCP", "inuse"),
    "in_use_ipv6": ("TCP6", "inuse"),
    "time_wait": ("TCP", "tw"),
    "orphan": ("TCP", "orphan"),
    "allocated": ("TCP", "alloc"),
}

_COUNTERS: dict[tuple[str, str], Metric] = {
    ("Tcp", "ActiveOpens"): names.TCP_ACTIVE_OPENS,
    ("Tcp", "PassiveOpens"): names.TCP_PASSIVE_OPENS,
    ("Tcp", "AttemptFails"): names.TCP_FAILED_OPENS,
    ("Tcp", "EstabResets"): names.TCP_RESETS,
    ("Tcp", "InSegs"): names.TCP_RECEIVED,
    ("Tcp", "OutSegs"): names.TCP_SENT,
    ("Tcp", "RetransSegs"): names.TCP_RETRANSMITTED,
    ("TcpExt", "ListenOverflows"): names.TCP_LISTEN_OVERFLOWS,
    ("TcpExt", "ListenDrops"): names.TCP_LISTEN_DROPS,
    ("TcpExt", "TCPTimeouts"): names.TCP_TIMEOUTS,
}

Table = dict[tuple[str, str], int]
"""(protocol, name) to number."""


RARELY_SECONDS = 60.0
"""How many local ports there are is an operator's setting, and among the dearest files to read."""


@dataclass(frozen=True, slots=True)
class TcpReading:
    """Sockets and counters as the kernel names them, and how many local ports there are."""

    sockets: Table
    counters: Table
    local_ports: int | None


def read_tcp(proc: Path) -> TcpReading | None:
    """Read the files under `proc`; None where there is no network at all."""
    sockets: Table = {}
    for name in ("sockstat", "sockstat6"):
        sockets |= _pairs(kernel.read_or_none(f"{proc}/net/{name}") or "")
    counters = _columns(kernel.read_or_none(f"{proc}/net/snmp") or "", "Tcp") | _columns(
        kernel.read_or_none(f"{proc}/net/netstat") or "", "TcpExt"
    )
    if not sockets and not counters and not (proc / "net").is_dir():
        return None
    bounds = (kernel.read_lately(f"{proc}/sys/net/ipv4/ip_local_port_range", RARELY_SECONDS) or "").split()
    ports = int(bounds[1]) - int(bounds[0]) + 1 if len(bounds) == 2 else None
    return TcpReading(sockets, counters, ports)


def families(reading: TcpReading) -> tuple[Family, ...]:
    """The reading as metric families."""
    states = [((state,), reading.sockets.get(key)) for state, key in _STATES.items()]
    states.append((("established",), reading.counters.get(("Tcp", "CurrEstab"))))
    return (
        many(names.TCP_SOCKETS, states),
        *(single(metric, reading.counters.get(key)) for key, metric in _COUNTERS.items()),
        single(names.TCP_LOCAL_PORTS, reading.local_ports),
    )


def _pairs(text: str) -> Table:
    """Lines such as `TCP: inuse 5 orphan 0`."""
    found = {}
    for line in text.splitlines():
        protocol, _, rest = line.partition(":")
        words = rest.split()
        for name, value in zip(words[::2], words[1::2], strict=False):
            found[protocol, name] = int(value)
    return found


def _columns(text: str, protocol: str) -> Table:
    """A pair of lines after the same protocol: one with names, one with numbers."""
    text = f"\n{text}"
    first = text.find(f"\n{protocol}: ")
    second = text.find(f"\n{protocol}: ", first + 1)
    if first < 0 or second < 0:
        return {}
    numbers = _line(text, second).split()
    places = _places(_line(text, first), protocol)
    return {(protocol, name): int(numbers[place]) for name, place in places if place < len(numbers)}


def _line(text: str, at: int) -> str:
    end = text.find("\n", at + 1)
    return text[at + 1 : end if end >= 0 else len(text)]


@lru_cache(maxsize=8)
def _places(line: str, protocol: str) -> tuple[tuple[str, int], ...]:
    """Where the wanted numbers stand: the names' line is the same at every reading."""
    wanted = {name for owner, name in (*_COUNTERS, ("Tcp", "CurrEstab")) if owner == protocol}
    return tuple((name, place) for place, name in enumerate(line.split()) if name in wanted)
