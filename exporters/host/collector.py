"""The host collector's table of sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from exporters import cgroup
from exporters.host import container, cpu, disk, load, memory, network, pressure, tcp
from exporters.source import Collector, Source


def host_collector(proc: Path = cgroup.PROC, root: Path = cgroup.CGROUP) -> Collector:
    """All sources of this machine, read from `proc` (`/proc`) and `root` (`/sys/fs/cgroup`)."""
    sources: tuple[Source[Any], ...] = (
        Source("cpu", lambda before: cpu.read_cpu(proc, before), cpu.families),
        Source("load", lambda _: load.read_load(proc), load.families),
        Source("memory", lambda _: memory.read_memory(proc), memory.families),
        Source("pressure", lambda _: pressure.read_pressure(proc), pressure.families),
        Source("disk", lambda _: disk.read_disk(proc), disk.families),
        Source("network", lambda _: network.read_network(proc), network.families),
        Source("tcp", lambda _: tcp.read_tcp(proc), tcp.families),
        Source("container", lambda _: container.read_container(proc, root), container.families),
    )
    return Collector("host", sources)
