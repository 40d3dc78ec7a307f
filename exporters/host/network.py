"""Network counters by device: `/proc/net/dev`, as the kernel keeps them: no sum and no wrap correction of our own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from exporters import kernel
from exporters.family import Family, many, single
from exporters.metric import Metric
from exporters.names import host as names

MOST_DEVICES = 64

_COLUMNS: tuple[tuple[Metric, int], ...] = (
    (names.NET_RECEIVED, 0),
    (names.NET_RECEIVED_PACKETS, 1),
    (names.NET_RECEIVE_ERRORS, 2),
    (names.NET_RECEIVE_DROPS, 3),
    (names.NET_SENT, 8),
    (names.NET_SENT_PACKETS, 9),
    (names.NET_SEND_ERRORS, 10),
    (names.NET_SEND_DROPS, 11),
)
"""Metric, and column of the file after the device's name."""


@dataclass(frozen=True, slots=True)
class NetworkReading:
    """A device's counters in the file's order, by device name; `left_out` devices are beyond the bound."""

    devices: dict[str, tuple[int, ...]]
    left_out: int


def read_network(proc: Path) -> NetworkReading | None:
    """Read `net/dev` under `proc`; None where there is none."""
    try:
        text = kernel.read(f"{proc}/net/dev")
    except FileNotFoundError:
        return None
    devices = {}
    for line in text.splitlines()[2:]:
        name, _, numbers = line.rpartition(":")  # an alias has a colon in its name
        devices[name.strip()] = tuple(map(int, numbers.split()))
    shown = dict(list(devices.items())[:MOST_DEVICES])
    return NetworkReading(shown, len(devices) - len(shown))


def families(reading: NetworkReading) -> tuple[Family, ...]:
    """The reading as metric families; a device that has gone ends its series."""
    return (
        *(
            many(metric, (((device,), numbers[column]) for device, numbers in reading.devices.items()))
            for metric, column in _COLUMNS
        ),
        single(names.DEVICES_LEFT_OUT, reading.left_out, "network"),
    )
