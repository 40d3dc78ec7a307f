"""The table of fields: each is one call of the driver's library, so that one that fails takes no other with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pynvml

from exporters.gpu import links
from exporters.gpu.field import EACH_SAMPLE, NOW_AND_THEN_SECONDS, RARELY_SECONDS, Field, Handle
from exporters.gpu.memory import BAR1
from exporters.gpu.processes import PROCESSES
from exporters.gpu.reading import Measured
from exporters.metric import Metric
from exporters.names import gpu as names


def _utilization(handle: Handle) -> Iterable[Measured]:
    rates = pynvml.nvmlDeviceGetUtilizationRates(handle)
    return (names.UTILIZATION, (), rates.gpu / 100), (names.MEMORY_ACTIVITY, (), rates.memory / 100)


def _video(name: str, metric: Metric, ask: Callable[[Handle], list[int]]) -> Field:
    def read(handle: Handle) -> Iterable[Measured]:
        return ((metric, (), ask(handle)[0] / 100),)

    return Field(name, read, NOW_AND_THEN_SECONDS)


def _power(handle: Handle) -> Iterable[Measured]:
    return ((names.POWER, (), pynvml.nvmlDeviceGetPowerUsage(handle) / 1e3),)


def _power_limit(handle: Handle) -> Iterable[Measured]:
    return ((names.POWER_LIMIT, (), pynvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1e3),)


def _energy(handle: Handle) -> Iterable[Measured]:
    return ((names.ENERGY, (), pynvml.nvmlDeviceGetTotalEnergyConsumption(handle) / 1e3),)


def _temperature(handle: Handle) -> Iterable[Measured]:
    core = pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU)
    return ((names.TEMPERATURE, (), float(core)),)


def _memory_temperature(handle: Handle) -> Iterable[Measured]:
    celsius = links.field_value(handle, pynvml.NVML_FI_DEV_MEMORY_TEMP)
    if celsius == 0:  # how devices without this sensor answer
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
    return ((names.MEMORY_TEMPERATURE, (), celsius),)


def _temperature_limit(limit: str, kind: int) -> Field:
    def read(handle: Handle) -> Iterable[Measured]:
        celsius = pynvml.nvmlDeviceGetTemperatureThreshold(handle, kind)
        return ((names.TEMPERATURE_LIMIT, (limit,), float(celsius)),)

    return Field(f"temperature_limit_{limit}", read, RARELY_SECONDS)


_TELLING_CLOCKS = ("sm", "memory")
"""They tell whether work is held back; the others follow them or hardly matter."""


def _clock(name: str, kind: int) -> Field:
    def read(handle: Handle) -> Iterable[Measured]:
        return ((names.CLOCK, (name,), pynvml.nvmlDeviceGetClockInfo(handle, kind) * 1e6),)

    return Field(f"clock_{name}", read, EACH_SAMPLE if name in _TELLING_CLOCKS else NOW_AND_THEN_SECONDS)


def _clock_max(name: str, kind: int) -> Field:
    def read(handle: Handle) -> Iterable[Measured]:
        return ((names.CLOCK_MAX, (name,), pynvml.nvmlDeviceGetMaxClockInfo(handle, kind) * 1e6),)

    return Field(f"clock_max_{name}", read, RARELY_SECONDS)


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


def _ecc(kind: str, error_type: int) -> Field:
    def read(handle: Handle) -> Iterable[Measured]:
        count = pynvml.nvmlDeviceGetTotalEccErrors(handle, error_type, pynvml.NVML_AGGREGATE_ECC)
        return ((names.ECC_ERRORS, (kind,), count),)

    return Field(f"ecc_{kind}", read, NOW_AND_THEN_SECONDS)


def _remapped_rows(handle: Handle) -> Iterable[Measured]:
    corrected, uncorrected, pending, failed = pynvml.nvmlDeviceGetRemappedRows(handle)
    return (
        (names.REMAPPED_ROWS, ("corrected",), corrected),
        (names.REMAPPED_ROWS, ("uncorrected",), uncorrected),
        (names.REMAPPING_PENDING, (), int(pending != 0)),
        (names.REMAPPING_FAILED, (), int(failed != 0)),
    )


_TEMPERATURE_LIMITS = {
    "shutdown": pynvml.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN,
    "slowdown": pynvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN,
    "memory": pynvml.NVML_TEMPERATURE_THRESHOLD_MEM_MAX,
    "core": pynvml.NVML_TEMPERATURE_THRESHOLD_GPU_MAX,
}

_ENCODER = _video("encoder", names.ENCODER, pynvml.nvmlDeviceGetEncoderUtilization)
_DECODER = _video("decoder", names.DECODER, pynvml.nvmlDeviceGetDecoderUtilization)
_ECC = (
    _ecc("corrected", pynvml.NVML_MEMORY_ERROR_TYPE_CORRECTED),
    _ecc("uncorrected", pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED),
)

FIELDS = (
    Field("utilization", _utilization),
    _ENCODER,
    _DECODER,
    BAR1,
    Field("power", _power),
    Field("power_limit", _power_limit, NOW_AND_THEN_SECONDS),
    Field("energy", _energy),
    Field("temperature", _temperature),
    Field("memory_temperature", _memory_temperature, NOW_AND_THEN_SECONDS),
    *(_temperature_limit(limit, kind) for limit, kind in _TEMPERATURE_LIMITS.items()),
    *(_clock(name, kind) for name, kind in _CLOCKS.items()),
    *(_clock_max(name, kind) for name, kind in _CLOCKS.items()),
    Field("throttle_reasons", _throttle),
    Field("performance_state", _performance_state, NOW_AND_THEN_SECONDS),
    *links.FIELDS,
    *_ECC,
    Field("remapped_rows", _remapped_rows, RARELY_SECONDS),
    PROCESSES,
)
"""Every field but memory; a new one is a function and a row here."""

INSTANCE_FIELDS = (Field("utilization", _utilization), BAR1, *_ECC, PROCESSES)
"""What can be a MIG instance's own; power, clocks and links are its parent's."""
