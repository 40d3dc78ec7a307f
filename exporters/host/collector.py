"""The host collector's table of sources."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from exporters import cgroup
from exporters.host import clock, container, cpu, disk, load, memory, network, pressure, processes, tcp, thermal
from exporters.host.processes import ProcessWatcher
from exporters.host.rules import Rule
from exporters.source import Collector, Source

SYS = Path("/sys")


def host_collector(
    proc: Path = cgroup.PROC,
    root: Path = cgroup.CGROUP,
    sys: Path = SYS,
    *,
    per_core: bool = False,
    rules: tuple[Rule, ...] = (),
) -> Collector:
    """All sources of this machine, read from `proc` (`/proc`), `root` (`/sys/fs/cgroup`) and `sys` (`/sys`).

    `per_core` adds CPU seconds by core; `rules` name the processes of interest.
    """
    sources: tuple[Source[Any], ...] = (
        Source("cpu", lambda before: cpu.read_cpu(proc, before, per_core=per_core), cpu.families),
        Source("load", lambda _: load.read_load(proc), load.families),
        Source("memory", lambda _: memory.read_memory(proc), memory.families),
        Source("pressure", lambda _: pressure.read_pressure(proc), pressure.families),
        Source("disk", lambda _: disk.read_disk(proc), disk.families),
        Source("network", lambda _: network.read_network(proc), network.families),
        Source("tcp", lambda _: tcp.read_tcp(proc), tcp.families),
        Source("clock", clock.read_clock, clock.families),
        Source("thermal", lambda before: thermal.read_thermal(sys, before), thermal.families),
        Source("container", lambda before: container.read_container(proc, root, before), container.families),
    )
    if rules:
        watcher = ProcessWatcher(proc, rules)
        sources = (*sources, Source("processes", lambda _: watcher.read(), processes.families))
    return Collector("host", sources)
