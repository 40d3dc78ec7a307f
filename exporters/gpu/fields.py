"""The table of fields: each is one call of the driver's library, so that one that fails takes no other with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pynvml

from exporters.gpu.reading import Measured
from exporters.names import gpu as names

Handle = Any
"""pynvml's opaque device pointer."""

_PCIE_BYTES = 1000
"""The library speaks of KB per second; decimal, as for every other rate of a link."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field's name, as it stands in `gpu_field_supported`, and its reader; raises `pynvml.NVMLError`."""

    name: str
    read: Callable[[Handle], Iterable[Measured]]


def _utilization(handle: Handle) -> Iterable[Measured]:
    rates = pynvml.nvmlDeviceGetUtilizationRates(handle)
    return (names.UTILIZATION, (), rates.gpu / 100), (names.MEMORY_ACTIVITY, (), rates.memory / 100)


def _power(handle: Handle) -> Iterable[Measured]:
    return ((names.POWER, (), pynvml.nvmlDeviceGetPowerUsage(handle) / 1e3),)


def _power_limit(handle: Handle) -> Iterable[Measured]:
    return ((names.POWER_LIMIT, (), pynvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1e3),)


def _energy(handle: Handle) -> Iterable[Measured]:
    return ((names.ENERGY, (), pynvml.nvmlDeviceGetTotalEnergyConsumption(handle) / 1e3),)


def _temperature(handle: Handle) -> Iterable[Measured]:
    core = pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU)
    return ((names.TEMPERATURE, (), float(core)),)


def _clock(name: str, kind: int) -> Field:
    def read(handle: Handle) -> Iterable[Measured]:
        return ((names.CLOCK, (name,), pynvml.nvmlDeviceGetClockInfo(handle, kind) * 1e6),)

    return Field(f"clock_{name}", read)


def _clock_max(name: str, kind: int) -> Field:
    def read(handle: Handle) -> Iterable[Measured]:
        return ((names.CLOCK_MAX, (name,), pynvml.nvmlDeviceGetMaxClockInfo(handle, kind) * 1e6),)

    return Field(f"clock_max_{name}", read)


_CLOCKS = {
    "graphics": pynvml.NVML_CLOCK_GRAPHICS,
    "sm": pynvml.NVML_CLOCK_SM,
    "memory": pynvml.NVML_CLOCK_MEM,
    "video": pynvml.NVML_CLOCK_VIDEO,
}

THROTTLE_REASONS = {
    "idle": pynvml.nvmlClocksThrottleReasonGpuIdle,
    "application_clocks": pynvml.nvmlClocksThrottleReasonApplicationsClocksSetting,
    "software_power_cap": pynvml.nvmlClocksThrottleReasonSwPowerCap,
    "hardware_slowdown": pynvml.nvmlClocksThrottleReasonHwSlowdown,
    "sync_boost": pynvml.nvmlClocksThrottleReasonSyncBoost,
    "software_thermal": pynvml.nvmlClocksThrottleReasonSwThermalSlowdown,
    "hardware_thermal": pynvml.nvmlClocksThrottleReasonHwThermalSlowdown,
    "hardware_power_brake": pynvml.nvmlClocksThrottleReasonHwPowerBrakeSlowdown,
    "display_clocks": pynvml.nvmlClocksThrottleReasonDisplayClockSetting,
}


def _throttle(handle: Handle) -> Iterable[Measured]:
    mask = pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)
    return tuple((names.THROTTLE, (reason,), int(mask & bit != 0)) for reason, bit in THROTTLE_REASONS.items())


def _performance_state(handle: Handle) -> Iterable[Measured]:
    state = pynvml.nvmlDeviceGetPerformanceState(handle)
    known = state != pynvml.NVML_PSTATE_UNKNOWN
    return ((names.PERFORMANCE_STATE, (), state),) if known else ()


def _pcie_sent(handle: Handle) -> Iterable[Measured]:
    rate = pynvml.nvmlDeviceGetPcieThroughput(handle, pynvml.NVML_PCIE_UTIL_TX_BYTES)
    return ((names.PCIE_SENT, (), rate * _PCIE_BYTES),)


def _pcie_received(handle: Handle) -> Iterable[Measured]:
    rate = pynvml.nvmlDeviceGetPcieThroughput(handle, pynvml.NVML_PCIE_UTIL_RX_BYTES)
    return ((names.PCIE_RECEIVED, (), rate * _PCIE_BYTES),)


def _pcie_lanes(handle: Handle) -> Iterable[Measured]:
    return ((names.PCIE_WIDTH, (), pynvml.nvmlDeviceGetCurrPcieLinkWidth(handle)),)


def _pcie_generation(handle: Handle) -> Iterable[Measured]:
    return ((names.PCIE_GENERATION, (), pynvml.nvmlDeviceGetCurrPcieLinkGeneration(handle)),)


def _memory_v2(handle: Handle) -> Iterable[Measured]:
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2)
    return (*_sizes(memory), (names.MEMORY_RESERVED, (), memory.reserved))


def _memory_v1(handle: Handle) -> Iterable[Measured]:
    return _sizes(pynvml.nvmlDeviceGetMemoryInfo(handle))


def _sizes(memory: Any) -> tuple[Measured, ...]:
    if memory.total == 0:  # how some devices that share the machine's memory say that they have none
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
    return (
        (names.MEMORY_TOTAL, (), memory.total),
        (names.MEMORY_USED, (), memory.used),
        (names.MEMORY_FREE, (), memory.free),
    )


MEMORY_APIS = (Field("memory_v2", _memory_v2), Field("memory_v1", _memory_v1))
"""Tried in this order: only version 2 tells the driver's reserve apart from used memory."""

FIELDS = (
    Field("utilization", _utilization),
    Field("power", _power),
    Field("power_limit", _power_limit),
    Field("energy", _energy),
    Field("temperature", _temperature),
    *(_clock(name, kind) for name, kind in _CLOCKS.items()),
    *(_clock_max(name, kind) for name, kind in _CLOCKS.items()),
    Field("throttle_reasons", _throttle),
    Field("performance_state", _performance_state),
    Field("pcie_transmit", _pcie_sent),
    Field("pcie_receive", _pcie_received),
    Field("pcie_lanes", _pcie_lanes),
    Field("pcie_generation", _pcie_generation),
)
"""Every other field; a new one is a function and a row here."""
