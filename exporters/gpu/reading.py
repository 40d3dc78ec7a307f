"""What one look at the GPUs gave, and the metric families made of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from exporters.family import Family, Sample, many, single
from exporters.metric import Metric
from exporters.names import gpu as names

Measured = tuple[Metric, tuple[str, ...], float]
"""A metric, its labels after the UUID, and the value in the base unit."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What a device is. `uuid` alone names it: its index moves at resets, and is `<device>:<instance>` for MIG."""

    uuid: str
    index: str
    bus_id: str
    model: str


@dataclass(frozen=True, slots=True)
class Instance:
    """What a MIG instance is a part of; numbers as text, empty where they are not told."""

    parent: str
    gpu_instance: str
    compute_instance: str


@dataclass(frozen=True, slots=True)
class Device:
    """One device's values, and for every field whether the device has it; `instance` only for MIG instances."""

    identity: Identity
    memory_api: str
    measured: tuple[Measured, ...]
    supported: dict[str, bool]
    instance: Instance | None = None


@dataclass(frozen=True, slots=True)
class Xids:
    """Errors that the driver reported: count and newest Unix time by (uuid, code); whether the device reports any."""

    counts: dict[tuple[str, str], int]
    newest: dict[tuple[str, str], float]
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
    """The library answers. `lost` are UUIDs that answered earlier; `failures` count by (uuid, field, reason).

    `hung` are UUIDs of which a call does not return now, `timeouts` how often that began, by UUID.
    """

    versions: Versions
    count: int
    devices: tuple[Device, ...]
    lost: tuple[str, ...]
    failures: dict[tuple[str, str, str], int]
    hung: tuple[str, ...] = ()
    timeouts: dict[str, int] = field(default_factory=dict)
    xids: Xids = Xids({}, {}, {})
    simulated: bool = False


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
        single(names.SIMULATED, int(reading.simulated)),
        single(names.DRIVER_INFO, 1, versions.driver, versions.nvml, versions.cuda),
        single(names.DEVICES, reading.count),
    )


def _devices(reading: Up) -> tuple[Family, ...]:
    answering = [device.identity.uuid for device in reading.devices]
    absent = dict.fromkeys((*reading.lost, *reading.hung))
    infos = [(d.identity, d.memory_api) for d in reading.devices]
    parts = [(d.identity.uuid, d.instance) for d in reading.devices if d.instance is not None]
    return (
        many(names.DEVICE_INFO, (((i.uuid, i.index, i.bus_id, i.model, memory_api), 1) for i, memory_api in infos)),
        many(names.INSTANCE_INFO, (((u, i.parent, i.gpu_instance, i.compute_instance), 1) for u, i in parts)),
        many(names.DEVICE_UP, [((uuid,), 1) for uuid in answering] + [((uuid,), 0) for uuid in absent]),
        many(names.DEVICE_HUNG, (((uuid,), int(uuid in reading.hung)) for uuid in (*answering, *absent))),
        many(names.DEVICE_TIMEOUTS, (((uuid,), reading.timeouts.get(uuid, 0)) for uuid in (*answering, *absent))),
        many(names.FIELD_SUPPORTED, _supported(reading)),
        many(names.FIELD_FAILURES, sorted(reading.failures.items())),
        many(names.XID_EVENTS, sorted(reading.xids.counts.items())),
        many(names.XID_LAST, sorted(reading.xids.newest.items())),
    )


def _supported(reading: Up) -> Iterator[Sample]:
    for device in reading.devices:
        uuid = device.identity.uuid
        yield from (((uuid, field), int(has)) for field, has in device.supported.items())
        if uuid in reading.xids.supported:
            yield (uuid, "xid_events"), int(reading.xids.supported[uuid])


def _values(reading: Up) -> tuple[Family, ...]:
    samples: dict[Metric, list[Sample]] = defaultdict(list)
    for device in reading.devices:
        for metric, labels, value in device.measured:
            samples[metric].append(((device.identity.uuid, *labels), value))
    return tuple(Family(metric, tuple(found)) for metric, found in samples.items())
