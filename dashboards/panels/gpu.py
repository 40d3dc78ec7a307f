"""What does each GPU do, and what holds it back?"""

from __future__ import annotations

from dashboards import palette, recorded
from dashboards.panel import Panel, Query, State, Threshold, Unit
from dashboards.panels.machine import NO_GPU
from dashboards.panels.shapes import HALF, NONE_IS_GOOD, lines, now
from dashboards.promql import Expr, count_by, max_by, named_by, series, sum_by
from dashboards.variables import OF_GPU
from exporters.metric import Metric
from exporters.names import gpu

NOT_MEASURED = "no GPU measured"

REAL, SIMULATED = 1, 2
ORIGINS = (State(REAL, "real", palette.GOOD), State(SIMULATED, "SIMULATED", palette.VIOLET))


def each(metric: Metric, *labels: str) -> Expr:
    """The largest by GPU and these labels; a simulated GPU says so in its label `origin`."""
    return max_by(named_by(series(metric, OF_GPU), recorded.GPU_ORIGIN, "origin"), *labels, "uuid", "origin")


ORIGIN = now(
    85,
    "gpu-origin",
    "These GPUs are",
    "Are the figures those of real GPUs?",
    "simulated: a stand-in answers in place of the driver's library, and no figure here is real.",
    Unit.PLAIN,
    Expr(f"(max({recorded.GPU_SIMULATED.name}) or 0 * max({series(recorded.GPU_BUSY, OF_GPU)})) + {REAL}"),
    absent=NO_GPU,
    states=ORIGINS,
    no_value=NOT_MEASURED,
    width=6,
)

UP = now(
    70,
    "gpu-up",
    "GPUs that answer",
    "How many GPUs can be read?",
    "fewer than the machine has: a GPU was lost; see the kernel's log for Xid.",
    Unit.COUNT,
    count_by(series(recorded.GPU_BUSY, OF_GPU)),
    absent=NO_GPU,
    no_value=NOT_MEASURED,
    width=6,
)
WHY_NOT = now(
    71,
    "gpu-why-not",
    "Why none is read",
    "Why can no GPU be read?",
    "anything but what you know about this machine.",
    Unit.PLAIN,
    max_by(series(gpu.DOWN_INFO), "reason"),
    absent="GPUs can be read.",
    thresholds=(Threshold(None, palette.WARN),),
    labels=("reason",),
    no_value="they are read",
    width=6,
)
HELD_BACK = now(
    72,
    "gpu-held-back",
    "Reasons that hold clocks down",
    "How many reasons hold the clocks of GPUs down now?",
    "any but idle: the GPU is slower than it could be.",
    Unit.COUNT,
    sum_by(series(recorded.GPU_THROTTLED, OF_GPU)),
    absent=NO_GPU,
    thresholds=NONE_IS_GOOD,
    no_value=NOT_MEASURED,
    width=6,
)


def _each(
    number: int,
    key: str,
    title: str,
    question: str,
    bad: str,
    unit: Unit,
    *queries: Query,
    thresholds: tuple[Threshold, ...] = (),
) -> Panel:
    return lines(
        number,
        key,
        title,
        question,
        bad,
        unit,
        *queries,
        thresholds=thresholds,
        width=HALF,
        no_value=NOT_MEASURED,
    )


BUSY = _each(
    73,
    "gpu-busy",
    "Busy: share of time with a kernel running",
    "How busy is each GPU?",
    "well below 100 % while throughput is flat: the limit is elsewhere, mostly preprocessing or batching.",
    Unit.SHARE,
    Query("A", each(recorded.GPU_BUSY), "{{uuid}} {{origin}}", NO_GPU),
)
MEMORY = _each(
    74,
    "gpu-memory",
    "Memory in use (TF Serving takes nearly all of it at its start)",
    "How much of each GPU's memory is allocated?",
    "near 100 % says nothing by itself: out-of-memory shows as errors.",
    Unit.SHARE,
    Query(
        "A",
        each(recorded.GPU_MEMORY),
        "{{uuid}} {{origin}}",
        NO_GPU,
    ),
)
POWER = _each(
    75,
    "gpu-power",
    "Power and its limit",
    "How much power does each GPU draw, and how much may it?",
    "at the limit: the clocks are held down.",
    Unit.WATTS,
    Query("A", each(recorded.GPU_POWER), "{{uuid}} {{origin}}", NO_GPU),
    Query("B", each(recorded.GPU_POWER_LIMIT), "limit {{uuid}} {{origin}}", NO_GPU),
)
TEMPERATURE = _each(
    76,
    "gpu-temperature",
    "Temperature",
    "How hot is each GPU?",
    "above 85 °C: it will slow itself down.",
    Unit.CELSIUS,
    Query("A", each(recorded.GPU_TEMPERATURE), "{{uuid}} {{origin}}", NO_GPU),
    thresholds=(Threshold(None, palette.GOOD), Threshold(85, palette.BAD)),
)
CLOCKS = _each(
    77,
    "gpu-clocks",
    "Clocks",
    "How fast do the clocks run?",
    "a fall under load: see the reasons beside.",
    Unit.HERTZ,
    Query("A", each(recorded.GPU_CLOCK), "cores {{uuid}} {{origin}}", NO_GPU),
)
REASONS = _each(
    78,
    "gpu-reasons",
    "Reasons that hold the clocks down",
    "Why is a GPU slower than it could be?",
    "thermal or power reasons under load.",
    Unit.COUNT,
    Query("A", each(recorded.GPU_THROTTLED, "reason"), "{{reason}} {{uuid}} {{origin}}", NO_GPU),
)
PCIE = _each(
    79,
    "gpu-pcie",
    "PCIe: to and from the GPU",
    "How much data moves between host and GPU?",
    "near the link's limit: inputs are large, or copied too often.",
    Unit.BYTES_PER_SECOND,
    Query("A", each(recorded.GPU_PCIE_TO), "to {{uuid}} {{origin}}", NO_GPU),
    Query("B", each(recorded.GPU_PCIE_FROM), "from {{uuid}} {{origin}}", NO_GPU),
)
ENERGY = _each(
    80,
    "gpu-energy",
    "Energy per second, by the device's own counter",
    "How much energy does the work take?",
    "far from the power drawn: one of the two is wrong.",
    Unit.WATTS,
    Query("A", each(recorded.GPU_ENERGY), "{{uuid}} {{origin}}", NO_GPU),
)
XID = _each(
    84,
    "gpu-xid",
    "Errors that the driver reports (Xid), within 5 min",
    "Does the driver report errors of the card?",
    "any: the runbook says which numbers mean a broken card.",
    Unit.COUNT,
    Query("A", each(recorded.GPU_XID, "code"), "Xid {{code}} {{uuid}} {{origin}}", "No error was reported."),
)
