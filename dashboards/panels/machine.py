"""What do the machine and its GPU do meanwhile?"""

from __future__ import annotations

from dashboards import palette
from dashboards.panel import Kind, Panel, Query, Threshold, Unit
from dashboards.promql import complement, divide, equal, matches, max_by, rate, series, sum_by
from dashboards.variables import OF_HOST
from exporters.names import gpu, host

NO_GPU = "No GPU is measured on this machine."

HOST = Panel(
    id=22,
    key="host",
    title="Host: CPU and memory",
    question="How busy is the machine, does work wait for a core, and how much memory is in use?",
    bad="CPU near 100 %, or waiting above a few per cent: client and server may be taking time from each other.",
    unit=Unit.SHARE,
    kind=Kind.LINES,
    queries=(
        Query(
            "A",
            complement(
                divide(
                    sum_by(rate(series(host.CPU, matches("mode", "idle|iowait"), OF_HOST)), "instance"),
                    max_by(series(host.CPU_CORES, OF_HOST), "instance"),
                )
            ),
            "CPU busy {{instance}}",
        ),
        Query(
            "B",
            max_by(rate(series(host.PRESSURE, equal("resource", "cpu"), equal("share", "some"), OF_HOST)), "instance"),
            "waiting for CPU {{instance}}",
            "The kernel keeps no pressure figures.",
        ),
        Query(
            "C",
            complement(
                divide(
                    max_by(series(host.MEMORY_AVAILABLE, OF_HOST), "instance"),
                    max_by(series(host.MEMORY_TOTAL, OF_HOST), "instance"),
                )
            ),
            "memory used {{instance}}",
        ),
    ),
    thresholds=(Threshold(None, palette.GOOD), Threshold(0.9, palette.BAD)),
)

GPU = Panel(
    id=23,
    key="gpu",
    title="GPU: busy, memory",
    question="How busy is each GPU, and how much of its memory is allocated?",
    bad="busy well below 100 % while throughput is flat: the limit is elsewhere, mostly preprocessing or batching.",
    unit=Unit.SHARE,
    kind=Kind.LINES,
    queries=(
        Query("A", max_by(series(gpu.UTILIZATION), "uuid"), "busy {{uuid}}", NO_GPU),
        Query(
            "B",
            divide(max_by(series(gpu.MEMORY_USED), "uuid"), max_by(series(gpu.MEMORY_TOTAL), "uuid")),
            "memory {{uuid}}",
            NO_GPU,
        ),
    ),
    height=6,
    no_value="no GPU measured",
)
