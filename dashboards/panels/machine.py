"""What do the machine and its GPU do meanwhile?"""

from __future__ import annotations

from dashboards import palette, recorded
from dashboards.panel import Kind, Panel, Query, Threshold, Unit
from dashboards.promql import Expr, equal, max_by, named_by, series
from dashboards.variables import OF_HOST
from exporters.metric import Metric

NO_GPU = "No GPU is measured on this machine."


def _gpu(metric: Metric) -> Expr:
    return max_by(named_by(series(metric), recorded.GPU_ORIGIN, "origin"), "uuid", "origin")


HOST = Panel(
    id=22,
    key="host",
    title="Host: CPU and memory",
    question="How busy is the machine, does work wait for a core, and how much memory is in use?",
    bad="CPU near 100 %, or waiting above a few per cent: client and server may be taking time from each other.",
    unit=Unit.SHARE,
    kind=Kind.LINES,
    queries=(
        Query("A", max_by(series(recorded.CPU_BUSY, OF_HOST), "instance"), "CPU busy {{instance}}"),
        Query(
            "B",
            max_by(series(recorded.PRESSURE, equal("resource", "cpu"), OF_HOST), "instance"),
            "waiting for CPU {{instance}}",
            "The kernel keeps no pressure figures.",
        ),
        Query("C", max_by(series(recorded.MEMORY_USED, OF_HOST), "instance"), "memory used {{instance}}"),
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
        Query("A", _gpu(recorded.GPU_BUSY), "busy {{uuid}} {{origin}}", NO_GPU),
        Query("B", _gpu(recorded.GPU_MEMORY), "memory {{uuid}} {{origin}}", NO_GPU),
    ),
    height=6,
    no_value="no GPU measured",
)
