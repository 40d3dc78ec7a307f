"""What does the machine do, and what does it run out of?"""

from __future__ import annotations

from dashboards import palette, recorded
from dashboards.panel import Panel, Query, Threshold, Unit
from dashboards.panels.shapes import HALF, NONE_IS_GOOD, TO_LIMIT, lines, now
from dashboards.promql import count_by, max_by, rate, series, sum_by, unequal
from dashboards.variables import OF_HOST
from exporters.names import host

OTHER_EXPORTER = "Only our own exporter measures this."
NO_PRESSURE = "The kernel keeps no pressure figures."
NO_QUOTA = "No CPU quota holds for the exporter's cgroup."
NO_DEVICE = "The machine has no such device."


def _half(number: int, key: str, title: str, question: str, bad: str, unit: Unit, *queries: Query) -> Panel:
    return lines(number, key, title, question, bad, unit, *queries, width=HALF)


CPU_NOW = now(
    90,
    "host-cpu-now",
    "CPU, busiest host",
    "How busy is the busiest machine?",
    "near 100 %: client and server take time from each other.",
    Unit.SHARE,
    max_by(series(recorded.CPU_BUSY, OF_HOST)),
    thresholds=TO_LIMIT,
    decimals=0,
    width=6,
)
MEMORY_NOW = now(
    91,
    "host-memory-now",
    "Memory, fullest host",
    "How full is the memory of the fullest machine?",
    "near 100 %: the kernel will end a process.",
    Unit.SHARE,
    max_by(series(recorded.MEMORY_USED, OF_HOST)),
    thresholds=TO_LIMIT,
    decimals=0,
    width=6,
)
HOSTS = now(
    92,
    "host-count",
    "Hosts measured",
    "How many machines are measured?",
    "fewer than take part in the run.",
    Unit.COUNT,
    count_by(series(recorded.CPU_BUSY, OF_HOST)),
    width=6,
)
OOM = now(
    93,
    "host-oom",
    "Killed for memory",
    "How many processes did the kernel end for want of memory, since it started?",
    "any new one during a run.",
    Unit.COUNT,
    sum_by(series(host.OOM_KILLS, OF_HOST)),
    absent=OTHER_EXPORTER,
    thresholds=NONE_IS_GOOD,
    width=6,
)
BUSY = _half(
    94,
    "host-busy",
    "CPU busy, by host",
    "How busy is each machine? With our exporter or with node_exporter.",
    "near 100 %.",
    Unit.SHARE,
    Query("A", max_by(series(recorded.CPU_BUSY, OF_HOST), "instance"), "{{instance}}"),
)
MODES = lines(
    95,
    "host-cpu-modes",
    "CPU time by mode",
    "What are the cores busy with?",
    "much system time: small packets, or too many context switches. Much iowait: the disk.",
    Unit.SHARE,
    Query(
        "A",
        max_by(series(recorded.CPU_MODES, unequal("mode", "idle"), OF_HOST), "instance", "mode"),
        "{{mode}} {{instance}}",
    ),
    stacked=True,
    width=HALF,
)
PRESSURE = _half(
    96,
    "host-pressure",
    "Pressure: share of time in which some work waits",
    "Does work wait for CPU, memory or disk?",
    "CPU above a tenth: latencies hold the wait for a core.",
    Unit.SHARE,
    Query(
        "A",
        max_by(series(recorded.PRESSURE, OF_HOST), "instance", "resource"),
        "{{resource}} {{instance}}",
        NO_PRESSURE,
    ),
)
THROTTLED = lines(
    97,
    "host-throttled",
    "Held back by its quota: share of periods",
    "Does a CPU quota hold the container back?",
    "any under load: give the container a higher quota.",
    Unit.SHARE,
    Query("A", max_by(series(recorded.THROTTLED, OF_HOST), "instance", "cgroup"), "{{instance}} {{cgroup}}", NO_QUOTA),
    width=HALF,
    no_value="no quota",
)
MEMORY = _half(
    98,
    "host-memory-used",
    "Memory in use, by host",
    "How full is the memory?",
    "a rise at constant load: a leak.",
    Unit.SHARE,
    Query("A", max_by(series(recorded.MEMORY_USED, OF_HOST), "instance"), "{{instance}}"),
)
SOCKETS = _half(
    99,
    "host-tcp",
    "TCP sockets by state",
    "In which states are the connections?",
    "a pile of time_wait: connections are not reused, and local ports run out.",
    Unit.COUNT,
    Query("A", max_by(series(host.TCP_SOCKETS, OF_HOST), "state"), "{{state}}", OTHER_EXPORTER),
)
TCP_TROUBLE = _half(
    210,
    "host-tcp-trouble",
    "TCP: sent again, not accepted, failed, per second",
    "Do connections suffer?",
    "listen drops: the server accepts too slowly. Segments sent again: the network loses packets.",
    Unit.EVENTS,
    *(
        Query(ref, sum_by(rate(series(metric, OF_HOST))), legend, OTHER_EXPORTER)
        for ref, metric, legend in (
            ("A", host.TCP_RETRANSMITTED, "segments sent again"),
            ("B", host.TCP_LISTEN_DROPS, "not accepted"),
            ("C", host.TCP_FAILED_OPENS, "attempts failed"),
        )
    ),
)
NETWORK = _half(
    211,
    "host-network",
    "Network: received and sent",
    "How much data moves over each device?",
    "flat at the link's speed: compress, or send less.",
    Unit.BYTES_PER_SECOND,
    Query(
        "A",
        max_by(series(recorded.NET_RECEIVED, OF_HOST), "instance", "device"),
        "in {{device}} {{instance}}",
        NO_DEVICE,
    ),
    Query(
        "B", max_by(series(recorded.NET_SENT, OF_HOST), "instance", "device"), "out {{device}} {{instance}}", NO_DEVICE
    ),
)
DISK = _half(
    212,
    "host-disk",
    "Disk busy, by device",
    "Which share of the time is the disk at work?",
    "near 100 % during a run: logs, or a model that is being loaded.",
    Unit.SHARE,
    Query("A", max_by(series(recorded.DISK_BUSY, OF_HOST), "instance", "device"), "{{device}} {{instance}}", NO_DEVICE),
)
SWITCHES = _half(
    213,
    "host-switches",
    "Context switches per second",
    "How often do the cores change from one thread to another?",
    "a rise without a rise of throughput: too many threads.",
    Unit.EVENTS,
    Query("A", max_by(series(recorded.SWITCHES, OF_HOST), "instance"), "{{instance}}"),
)
FILES = lines(
    214,
    "host-files",
    "File descriptors in use, of those that the kernel allows",
    "Do descriptors run out?",
    "near 100 %: connections will be refused.",
    Unit.SHARE,
    Query(
        "A",
        max_by(series(recorded.FILES, OF_HOST), "instance"),
        "{{instance}}",
    ),
    thresholds=(Threshold(None, palette.GOOD), Threshold(1, palette.BAD)),
    width=HALF,
)
