"""What the generator's signals are made of, worker by worker, as it was read from the kernel and the interpreter."""

from __future__ import annotations

from controller import names as loadtest
from dashboards import palette
from dashboards.panel import Query, Style, Unit
from dashboards.panels.client import LATENCY_AT
from dashboards.panels.shapes import HALF, lines
from dashboards.panels.signals import ABSENT
from dashboards.promql import Expr, max_by, rate, series, sum_by
from dashboards.variables import OF_GENERATOR, OF_PLAN, OF_WORKER
from exporters.metric import Metric
from exporters.names import loadgen

OF = (OF_WORKER, OF_GENERATOR)
LIMIT = Style(dashed=True, width=1)


def _now(metric: Metric) -> Expr:
    return max_by(series(metric, *OF), "worker")


def _each_second(metric: Metric) -> Expr:
    return sum_by(rate(series(metric, *OF)), "worker")


CPU = lines(
    47,
    "health-cpu",
    "CPU of each worker, and its quota, in cores",
    "How much of a core does each worker use? A worker cannot use more than one.",
    "near 1 or near the quota: it cannot send more. Add workers.",
    Unit.COUNT,
    Query("A", _each_second(loadgen.WORKER_CPU), "{{worker}}"),
    Query("B", _now(loadgen.WORKER_QUOTA), "quota of {{worker}}", ABSENT["throttling"], LIMIT),
    width=HALF,
)
HELD = lines(
    320,
    "health-throttled",
    "Held back by the quota: time, and share of its periods",
    "For which share of the time, and in how many of the quota's periods, was the worker held back?",
    "any: for so long the worker stood still with its requests in hand.",
    Unit.SHARE,
    Query("A", _each_second(loadgen.WORKER_THROTTLED), "time, {{worker}}", ABSENT["throttling"]),
    Query(
        "B",
        Expr(f"{_each_second(loadgen.WORKER_THROTTLED_PERIODS)} / ({_each_second(loadgen.WORKER_PERIODS)} > 0)"),
        "periods, {{worker}}",
        ABSENT["throttling"],
        LIMIT,
    ),
    width=HALF,
)
WAITS = lines(
    321,
    "health-waits",
    "Waiting: for a core, and somebody for CPU, memory, disk",
    "For which share of the time was the sending thread ready without a core, or some task in want of a resource?",
    "a rise that is not the generator's own doing: a neighbour takes the cores.",
    Unit.SHARE,
    Query("A", _each_second(loadgen.WORKER_RUN_DELAY), "for a core, {{worker}}", ABSENT["run_queue"]),
    Query("B", _each_second(loadgen.WORKER_CPU_PRESSURE), "CPU, {{worker}}", ABSENT["pressure"], LIMIT),
    Query("C", _each_second(loadgen.WORKER_MEMORY_PRESSURE), "memory, {{worker}}", ABSENT["pressure"], LIMIT),
    Query("D", _each_second(loadgen.WORKER_IO_PRESSURE), "disk, {{worker}}", ABSENT["pressure"], LIMIT),
    width=HALF,
)
SOCKETS = lines(
    322,
    "health-sockets",
    "TCP sockets, those in TIME_WAIT, and local ports to be had",
    "Do connections run out of ports?",
    "more in TIME_WAIT as the rate grows: connections are not kept alive.",
    Unit.COUNT,
    Query("A", _now(loadgen.WORKER_SOCKETS), "in use, {{worker}}", ABSENT["sockets"]),
    Query("B", _now(loadgen.WORKER_TIME_WAIT), "TIME_WAIT, {{worker}}", ABSENT["sockets"]),
    Query("C", _now(loadgen.WORKER_PORTS), "ports, {{worker}}", ABSENT["sockets"], LIMIT),
    width=HALF,
)
DESCRIPTORS = lines(
    323,
    "health-descriptors",
    "Open files, and how many there may be",
    "Do descriptors run out?",
    "a rise at the same number of users: connections are left open.",
    Unit.COUNT,
    Query("A", _now(loadgen.WORKER_DESCRIPTORS), "open, {{worker}}"),
    Query("B", _now(loadgen.WORKER_DESCRIPTOR_LIMIT), "limit, {{worker}}", ABSENT["descriptors"], LIMIT),
    width=HALF,
)
MEMORY = lines(
    50,
    "health-memory",
    "Memory of each worker, of its cgroup, and the limit",
    "How much memory does each worker hold?",
    "a rise at the same number of users: something is kept; the kernel ends a worker that takes too much.",
    Unit.BYTES,
    Query("A", _now(loadgen.WORKER_MEMORY), "{{worker}}"),
    Query("B", _now(loadgen.WORKER_GROUP_MEMORY), "cgroup of {{worker}}", ABSENT["memory"]),
    Query("C", _now(loadgen.WORKER_MEMORY_LIMIT), "limit, {{worker}}", ABSENT["memory"], LIMIT),
    width=HALF,
)
COLLECTION = lines(
    324,
    "health-gc",
    "Garbage collection: longest pause, and time a second",
    "How long does the interpreter stop to look for garbage?",
    "pauses as long as the latencies that are measured.",
    Unit.SECONDS,
    Query("A", _now(loadgen.WORKER_GC_LONGEST), "longest, {{worker}}", ABSENT["gc"]),
    Query("B", _each_second(loadgen.WORKER_GC), "a second, {{worker}}", ABSENT["gc"], LIMIT),
    width=HALF,
)
CLOCK = lines(
    325,
    "health-clock",
    "Wall clock against the monotonic clock, since the worker began",
    "Does somebody set the clock during the run?",
    "a step: requests before and after it are put into the wrong seconds.",
    Unit.SECONDS,
    Query("A", _now(loadgen.WORKER_CLOCK), "{{worker}}", ABSENT["clock"]),
    width=HALF,
    minimum=None,
)
FAULTS = lines(
    326,
    "health-faults",
    "Faults of the generator's own machine, per second",
    "How many requests fail here, for want of a descriptor, a port, memory or a name?",
    "any: these requests never reached the target.",
    Unit.EVENTS,
    Query("A", _each_second(loadgen.WORKER_FAULTS), "{{worker}}", ABSENT["gc"]),
    width=HALF,
)
AGE = lines(
    49,
    "health-age",
    "Age of each worker's last report",
    "Do all workers report every second?",
    "three seconds: the worker counts as lost.",
    Unit.SECONDS,
    Query("A", _now(loadgen.WORKER_REPORT_AGE), "{{worker}}"),
    width=HALF,
)

PROBE = lines(
    327,
    "health-probe",
    "A lone probe of the controller's own, beside the generator's median",
    "Does a slow probe from another process see the latency that the generator sees?",
    "the generator's median far above the probe: the difference is the generator's own.",
    Unit.SECONDS,
    Query("A", max_by(series(loadtest.CANARY_DURATION, OF_PLAN)), "probe", ABSENT["canary"]),
    Query("B", LATENCY_AT["p50"], "generator, p50", style=LIMIT),
    width=HALF,
)
PROBES = lines(
    328,
    "health-probes",
    "Probes per second, by outcome",
    "Are the controller's probes answered?",
    "probes that fail while the generator's requests do not: the probe says nothing then.",
    Unit.PER_SECOND,
    Query("A", sum_by(rate(series(loadtest.CANARY_REQUESTS, OF_PLAN)), "outcome"), "{{outcome}}", ABSENT["canary"]),
    colours=tuple(palette.OUTCOMES.items()),
    width=HALF,
)

ALL = (CPU, HELD, WAITS, SOCKETS, DESCRIPTORS, MEMORY, COLLECTION, CLOCK, FAULTS, AGE, PROBE, PROBES)
