"""The GPU collector: one source, because the driver's library is one."""

from __future__ import annotations

from exporters.gpu.reader import GpuReader
from exporters.gpu.reading import families
from exporters.source import Collector, Source


def gpu_collector() -> Collector:
    """All GPUs of this machine; without one the collector says so and stays."""
    reader = GpuReader()
    return Collector("gpu", (Source("nvml", lambda _: reader.read(), families),), reader.close)
