"""What one look at the GPUs gave, and the metric families made of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from exporters.family import Family, Sample, many, single
from exporters.metric import Metric
from exporters.names import gpu as names

Measured = tuple[Metric, tuple[str, ...], float]
"""A metric, its labels after the UUID, and the value in the base unit."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a device is. `uuid` alone names it: its index moves at resets."""

    uuid: str
    index: int
    bus_id: str
    model: str


@dataclass(frozen=True, slots=True)
class Device:
    """One device's values, and for every field whether the device has it."""

    identity: Identity
    memory_api: str
    measured: tuple[Measured, ...]
    supported: dict[str, bool]


@dataclass(frozen=True, slots=True)
class Versions:
    """Versions as the library tells them; empty where it does not."""

    driver: str
    nvml: str
    cuda: str


@dataclass(frozen=True, slots=True)
class Down:
    """No GPU can be read: the reason, from the library's error codes."""

    reason: str


@dataclass(frozen=True, slots=True)
class Up:
    """The library answers. `lost` are UUIDs that answered earlier; `failures` count by (uuid, field, reason)."""

    versions: Versions
    count: int
    devices: tuple[Device, ...]
    lost: tuple[str, ...]
    failures: dict[tuple[str, str, str], int]


GpuReading = Down | Up


def families(reading: GpuReading) -> tuple[Family, ...]:
    """The reading as metric families: without a GPU there is no device series at all, rather than zeros."""
    match reading:
        case Down(reason):
            return (single(names.UP, 0), single(names.DOWN_INFO, 1, reason))
        case Up():
            return (single(names.UP, 1), *_library(reading), *_devices(reading), *_values(reading))


def _library(reading: Up) -> tuple[Family, ...]:
    versions = reading.versions
    return (
        single(names.DRIVER_INFO, 1, versions.driver, versions.nvml, versions.cuda),
        single(names.DEVICES, reading.count),
    )


def _devices(reading: Up) -> tuple[Family, ...]:
    infos = [(d.identity, d.memory_api) for d in reading.devices]
    return (
        many(
            names.DEVICE_INFO,
            (((i.uuid, str(i.index), i.bus_id, i.model, memory_api), 1) for i, memory_api in infos),
        ),
        many(
            names.DEVICE_UP,
            [((i.uuid,), 1) for i, _ in infos] + [((uuid,), 0) for uuid in reading.lost],
        ),
        many(
            names.FIELD_SUPPORTED,
            (
                ((device.identity.uuid, field), int(has))
                for device in reading.devices
                for field, has in device.supported.items()
            ),
        ),
        many(names.FIELD_FAILURES, sorted(reading.failures.items())),
    )


def _values(reading: Up) -> tuple[Family, ...]:
    samples: dict[Metric, list[Sample]] = defaultdict(list)
    for device in reading.devices:
        for metric, labels, value in device.measured:
            samples[metric].append(((device.identity.uuid, *labels), value))
    return tuple(Family(metric, tuple(found)) for metric, found in samples.items())
