"""Reads one device, field by field, and the MIG instances that it is divided into."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pynvml

from exporters.gpu.codes import GONE, UNSUPPORTED, code, text
from exporters.gpu.field import RARELY_SECONDS, Field, Handle
from exporters.gpu.fields import FIELDS, INSTANCE_FIELDS
from exporters.gpu.memory import MEMORY_APIS, NoMemoryError
from exporters.gpu.reading import Device, Identity, Instance, Measured
from exporters.names import gpu as names

REPROBE_SECONDS = 600.0
"""An unsupported field is asked again this rarely: some drivers log a kernel warning each time."""

MOST_MEMORIES = 1024
MOST_INSTANCES = 32
"""Of one device; today's have seven."""

Failures = Counter[tuple[str, str, str]]
"""Failed readings by (uuid, field, reason)."""


@dataclass(slots=True)
class Memory:
    """What is remembered of one device, by field, until a time of the clock."""

    identity: Identity
    identity_until: float
    unsupported_until: dict[str, float] = field(default_factory=dict)
    kept: dict[str, tuple[float, tuple[Measured, ...]]] = field(default_factory=dict)
    unified: bool = False


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
        try:
            device = self._device(handle, self._memory(handle, uuid, str(self._index)), FIELDS, None)
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

    def _device(self, handle: Handle, memory: Memory, fields: tuple[Field, ...], instance: Instance | None) -> Device:
        measured: list[Measured] = []
        supported: dict[str, bool] = {}
        api = self._memory_api(handle, memory, measured, supported)
        for each in fields:
            self._field(each, handle, memory, measured, supported)
        return Device(memory.identity, api, tuple(measured), supported, instance)

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
            return self._device(own, self._memory(own, uuid, f"{self._index}:{n}"), INSTANCE_FIELDS, part)
        except pynvml.NVMLError as error:
            if error.value in GONE and error.value != pynvml.NVML_ERROR_GPU_NOT_FOUND:
                raise
            return None  # places without an instance answer `not found`

    def _may(self, name: str, device: Device) -> bool:
        return self._clock() >= self._memories[device.identity.uuid].unsupported_until.get(name, 0.0)

    def _memory_api(self, handle: Handle, memory: Memory, measured: list[Measured], supported: dict[str, bool]) -> str:
        """The first memory interface that the device has; an error of another kind never leads to the next one."""
        for each in MEMORY_APIS:
            self._field(each, handle, memory, measured, supported)
            if supported[each.name]:
                measured.append((names.MEMORY_UNIFIED, (), 0))
                return each.name.removeprefix("memory_")
        measured.append((names.MEMORY_UNIFIED, (), int(memory.unified)))
        return "none"

    def _field(
        self, each: Field, handle: Handle, memory: Memory, measured: list[Measured], supported: dict[str, bool]
    ) -> None:
        """Read one field, or show what it said lately; raises the library's error only when the device has gone."""
        now = self._clock()
        if now < memory.unsupported_until.get(each.name, 0.0):
            supported[each.name] = False
            return
        supported[each.name] = True
        until, found = memory.kept.get(each.name, (now, ()))
        if now < until:
            measured.extend(found)
            return
        try:
            found = tuple(each.read(handle))
        except pynvml.NVMLError as error:
            self._fail(each, memory, supported, error)
            return
        measured.extend(found)
        if each.every:
            memory.kept[each.name] = (now + each.every, found)

    def _fail(self, each: Field, memory: Memory, supported: dict[str, bool], error: pynvml.NVMLError) -> None:
        memory.kept.pop(each.name, None)
        if error.value in UNSUPPORTED:
            supported[each.name] = False
            memory.unsupported_until[each.name] = self._clock() + REPROBE_SECONDS
            if each in MEMORY_APIS:
                memory.unified = isinstance(error, NoMemoryError) or error.value == pynvml.NVML_ERROR_NOT_SUPPORTED
            return
        self._failures[memory.identity.uuid, each.name, code(error)] += 1
        if error.value in GONE:
            raise error


def _bus_id(handle: Handle) -> str:
    """A text that only describes: empty where it cannot be had."""
    try:
        return text(pynvml.nvmlDeviceGetPciInfo(handle).busId)
    except pynvml.NVMLError:
        return ""


def _name(handle: Handle) -> str:
    try:
        return text(pynvml.nvmlDeviceGetName(handle))
    except pynvml.NVMLError:
        return ""


def _number(ask: Callable[[], int]) -> str:
    try:
        return str(ask())
    except pynvml.NVMLError:
        return ""
