"""How a device is connected: PCIe and NVLink."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pynvml

from exporters.gpu.field import NOW_AND_THEN_SECONDS, RARELY_SECONDS, Field, Handle
from exporters.gpu.reading import Measured
from exporters.metric import Metric
from exporters.names import gpu as names

_PCIE_BYTES = 1000
"""The library speaks of KB per second; decimal, as for every other rate of a link."""
_NVLINK_BYTES = 1024
"""Here it speaks of KiB."""
_ALL_LINKS = 0xFFFFFFFF
_MOST_LINKS = 18


def _pcie_rate(name: str, metric: Metric, counter: int) -> Field:
    def read(handle: Handle) -> Iterable[Measured]:
        return ((metric, (), pynvml.nvmlDeviceGetPcieThroughput(handle, counter) * _PCIE_BYTES),)

    return Field(name, read, NOW_AND_THEN_SECONDS)  # the driver measures for 20 ms while the call waits


def _number(name: str, metric: Metric, ask: Callable[[Handle], int], every: float) -> Field:
    def read(handle: Handle) -> Iterable[Measured]:
        return ((metric, (), ask(handle)),)

    return Field(name, read, every)


def _nvlink_bytes(name: str, metric: Metric, field: int) -> Field:
    def read(handle: Handle) -> Iterable[Measured]:
        return ((metric, (), field_value(handle, field, _ALL_LINKS) * _NVLINK_BYTES),)

    return Field(name, read, NOW_AND_THEN_SECONDS)


def _nvlink_links(handle: Handle) -> Iterable[Measured]:
    """Links that are up; the library ends the list of links with an error, which at the first link means none."""
    active = 0
    for link in range(_MOST_LINKS):
        try:
            active += pynvml.nvmlDeviceGetNvLinkState(handle, link)
        except (pynvml.NVMLError_InvalidArgument, pynvml.NVMLError_NotSupported):
            if link == 0:
                raise
            break
    return ((names.NVLINK_LINKS, (), active),)


def field_value(handle: Handle, field: int, scope: int = 0) -> float:
    """One of the library's numbered fields, whatever type it has; raises `pynvml.NVMLError`."""
    (answer,) = pynvml.nvmlDeviceGetFieldValues(handle, [(field, scope)])
    if answer.nvmlReturn != pynvml.NVML_SUCCESS:
        raise pynvml.NVMLError(answer.nvmlReturn)
    match answer.valueType:
        case pynvml.NVML_VALUE_TYPE_DOUBLE:
            return float(answer.value.dVal)
        case pynvml.NVML_VALUE_TYPE_UNSIGNED_INT:
            return float(answer.value.uiVal)
        case pynvml.NVML_VALUE_TYPE_SIGNED_INT:
            return float(answer.value.siVal)
        case pynvml.NVML_VALUE_TYPE_SIGNED_LONG_LONG:
            return float(answer.value.sllVal)
        case _:
            return float(answer.value.ullVal)


FIELDS = (
    _pcie_rate("pcie_transmit", names.PCIE_SENT, pynvml.NVML_PCIE_UTIL_TX_BYTES),
    _pcie_rate("pcie_receive", names.PCIE_RECEIVED, pynvml.NVML_PCIE_UTIL_RX_BYTES),
    _number("pcie_lanes", names.PCIE_WIDTH, pynvml.nvmlDeviceGetCurrPcieLinkWidth, NOW_AND_THEN_SECONDS),
    _number("pcie_lanes_max", names.PCIE_WIDTH_MAX, pynvml.nvmlDeviceGetMaxPcieLinkWidth, RARELY_SECONDS),
    _number("pcie_generation", names.PCIE_GENERATION, pynvml.nvmlDeviceGetCurrPcieLinkGeneration, NOW_AND_THEN_SECONDS),
    _number(
        "pcie_generation_max", names.PCIE_GENERATION_MAX, pynvml.nvmlDeviceGetMaxPcieLinkGeneration, RARELY_SECONDS
    ),
    _number("pcie_replays", names.PCIE_REPLAYS, pynvml.nvmlDeviceGetPcieReplayCounter, NOW_AND_THEN_SECONDS),
    Field("nvlink_links", _nvlink_links, NOW_AND_THEN_SECONDS),
    _nvlink_bytes("nvlink_transmit", names.NVLINK_SENT, pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX),
    _nvlink_bytes("nvlink_receive", names.NVLINK_RECEIVED, pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX),
)
