"""The GPU collector: one source, because the driver's library is one."""

from __future__ import annotations

from exporters.gpu.reader import PATIENCE_SECONDS, GpuReader
from exporters.gpu.reading import families
from exporters.gpu.xid import XidWatcher
from exporters.source import Collector, Source


def gpu_collector(patience: float = PATIENCE_SECONDS) -> Collector:
    """All GPUs of this machine, waited for `patience` seconds in all; without one the collector says so and stays."""
    reader = GpuReader(patience=patience, xids=XidWatcher(wait=2 * patience))  # a sample may have to await its end
    return Collector("gpu", (Source("nvml", lambda _: reader.read(), families),), reader.close)
