"""Reads one device, field by field, and the MIG instances that it is divided into."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pynvml

from exporters.gpu.codes import GONE, UNSUPPORTED, code, text
from exporters.gpu.field import NOW_AND_THEN_SECONDS, RARELY_SECONDS, Field, Handle
from exporters.gpu.fields import FIELDS, INSTANCE_FIELDS
from exporters.gpu.memory import MEMORY_APIS, NoMemoryError
from exporters.gpu.reading import Device, Identity, Instance, Measured
from exporters.names import gpu as names

REPROBE_SECONDS = 600.0
"""An unsupported field is asked again this rarely: some drivers log a kernel warning each time."""

MOST_MEMORIES = 1024
MOST_INSTANCES = 32
"""Of one device; today's have seven."""

_SENSELESS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What pynvml and we raise over an answer that makes no sense, such as a name that is no text."""

Failures = Counter[tuple[str, str, str]]
"""Failed readings by (uuid, field, reason)."""


@dataclass(slots=True)
class Kept:
    """What the fields of one beat said, and until when it is shown."""

    until: float
    measured: list[Measured] = field(default_factory=list)
    supported: dict[str, bool] = field(default_factory=dict)


@dataclass(slots=True)
class Memory:
    """What is remembered of one device until a time of the clock: by field, and by beat."""

    identity: Identity
    identity_until: float
    unsupported_until: dict[str, float] = field(default_factory=dict)
    kept: dict[float, Kept] = field(default_factory=dict)
    unified: bool = False


Beats = tuple[tuple[float, tuple[Field, ...]], ...]
"""Fields by the seconds after which they are read again."""


def _by_beat(fields: tuple[Field, ...]) -> Beats:
    beats = sorted({each.every for each in fields})
    return tuple((every, tuple(each for each in fields if each.every == every)) for every in beats)


_BEATS, _INSTANCE_BEATS = _by_beat(FIELDS), _by_beat(INSTANCE_FIELDS)


class DeviceReader:
    """Reads the device at one index. Used by one thread at a time; `memories` by UUID and `failures` are shared."""

    def __init__(self, index: int, clock: Callable[[], float], memories: dict[str, Memory], failures: Failures) -> None:
        """`clock` tells seconds for what is remembered."""
        self._index, self._clock = index, clock
        self._memories, self._failures = memories, failures

    def read(self) -> tuple[Device, ...]:
        """The device and its MIG instances; nothing when it does not even tell who it is, or is lost meanwhile."""
        try:
            handle = pynvml.nvmlDeviceGetHandleByIndex(self._index)
            uuid = text(pynvml.nvmlDeviceGetUUID(handle))
        except pynvml.NVMLError as error:
            self._failures["", "identity", code(error)] += 1
            return ()
        except _SENSELESS:
            self._failures["", "identity", "malformed"] += 1
            return ()
        try:
            device = self._device(handle, self._memory(handle, uuid, str(self._index)), _BEATS, None)
            return (device, *self._instances(handle, device))
        except pynvml.NVMLError:
            return ()

    def _memory(self, handle: Handle, uuid: str, index: str) -> Memory:
        memory, now = self._memories.get(uuid), self._clock()
        if memory is None or memory.identity.index != index or now >= memory.identity_until:
            identity = Identity(uuid, index, _bus_id(handle), _name(handle))
            memory = memory or Memory(identity, now)
            memory.identity, memory.identity_until = identity, now + RARELY_SECONDS
            if len(self._memories) > MOST_MEMORIES:
                self._memories.clear()  # uuids that change without end: begin anew rather than grow
            self._memories[uuid] = memory
        return memory

    def _device(self, handle: Handle, memory: Memory, beats: Beats, instance: Instance | None) -> Device:
        now, found = self._clock(), Kept(0.0)
        api = self._memory_api(handle, memory, found, now)
        for every, fields in beats:
            kept = memory.kept.get(every)
            if kept is None or now >= kept.until:
                kept = memory.kept[every] = self._beat(every, fields, handle, memory, now)
            found.measured.extend(kept.measured)
            found.supported.update(kept.supported)
        return Device(memory.identity, api, tuple(found.measured), found.supported, instance)

    def _beat(self, every: float, fields: tuple[Field, ...], handle: Handle, memory: Memory, now: float) -> Kept:
        """Read all fields of a beat; when one failed, again soon."""
        memory.kept.pop(every, None)
        kept, well = Kept(now), True
        for each in fields:
            well &= self._field(each, handle, memory, kept, now)
        kept.until = now + (every if well else min(every, NOW_AND_THEN_SECONDS))
        return kept

    def _instances(self, handle: Handle, parent: Device) -> tuple[Device, ...]:
        """The MIG instances; each has what can be its own."""
        try:
            mode, _ = pynvml.nvmlDeviceGetMigMode(handle) if self._may("mig", parent) else (0, 0)
            count = min(MOST_INSTANCES, pynvml.nvmlDeviceGetMaxMigDeviceCount(handle)) if mode else 0
        except pynvml.NVMLError as error:
            if error.value in GONE:
                raise
            if error.value in UNSUPPORTED:
                self._memories[parent.identity.uuid].unsupported_until["mig"] = self._clock() + REPROBE_SECONDS
            return ()
        found = (self._instance(handle, parent, n) for n in range(count))
        return tuple(device for device in found if device is not None)

    def _instance(self, handle: Handle, parent: Device, n: int) -> Device | None:
        try:
            own = pynvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, n)
            uuid = text(pynvml.nvmlDeviceGetUUID(own))
            part = Instance(
                parent.identity.uuid,
                _number(lambda: pynvml.nvmlDeviceGetGpuInstanceId(own)),
                _number(lambda: pynvml.nvmlDeviceGetComputeInstanceId(own)),
            )
            return self._device(own, self._memory(own, uuid, f"{self._index}:{n}"), _INSTANCE_BEATS, part)
        except pynvml.NVMLError as error:
            if error.value in GONE and error.value != pynvml.NVML_ERROR_GPU_NOT_FOUND:
                raise
            return None  # places without an instance answer `not found`
        except _SENSELESS:
            self._failures[parent.identity.uuid, "instance", "malformed"] += 1
            return None

    def _may(self, name: str, device: Device) -> bool:
        return self._clock() >= self._memories[device.identity.uuid].unsupported_until.get(name, 0.0)

    def _memory_api(self, handle: Handle, memory: Memory, found: Kept, now: float) -> str:
        """The first memory interface that the device has; an error of another kind never leads to the next one."""
        for each in MEMORY_APIS:
            self._field(each, handle, memory, found, now)
            if found.supported[each.name]:
                found.measured.append((names.MEMORY_UNIFIED, (), 0))
                return each.name.removeprefix("memory_")
        found.measured.append((names.MEMORY_UNIFIED, (), int(memory.unified)))
        return "none"

    def _field(self, each: Field, handle: Handle, memory: Memory, found: Kept, now: float) -> bool:
        """Read one field; False when that failed. Raises the library's error only when the device has gone."""
        if now < memory.unsupported_until.get(each.name, 0.0):
            found.supported[each.name] = False
            return True
        found.supported[each.name] = True
        try:
            found.measured.extend(each.read(handle))
        except pynvml.NVMLError as error:
            if error.value not in UNSUPPORTED:
                self._failures[memory.identity.uuid, each.name, code(error)] += 1
                if error.value in GONE:
                    raise
                return False
            found.supported[each.name] = False
            memory.unsupported_until[each.name] = now + REPROBE_SECONDS
            if each in MEMORY_APIS:
                memory.unified = isinstance(error, NoMemoryError) or error.value == pynvml.NVML_ERROR_NOT_SUPPORTED
        except _SENSELESS:
            self._failures[memory.identity.uuid, each.name, "malformed"] += 1
            return False
        return True


def _bus_id(handle: Handle) -> str:
    """A text that only describes: empty where it cannot be had."""
    try:
        return text(pynvml.nvmlDeviceGetPciInfo(handle).busId)
    except (pynvml.NVMLError, *_SENSELESS):
        return ""


def _name(handle: Handle) -> str:
    try:
        return text(pynvml.nvmlDeviceGetName(handle))
    except (pynvml.NVMLError, *_SENSELESS):
        return ""


def _number(ask: Callable[[], int]) -> str:
    try:
        return str(ask())
    except pynvml.NVMLError:
        return ""
