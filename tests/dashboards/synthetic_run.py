"""A run as Prometheus would have stored it: OpenMetrics text with timestamps, computed from a small queueing model.

Every figure follows from the run's own formula, so that tests can say what the boards must show.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from controller import names as loadtest
from controller.generator.latency import COARSE_BOUNDS_US
from controller.plans.plan import Phase
from dashboards import prometheus, tfserving
from exporters.names import gpu, host, loadgen

SCRAPE = 5
PLAN = "demo"
RUN_ID = "demo-20300101T000000-1a2b"
SERVER = {"instance": "127.0.0.1:8501", "job": "tfserving"}
GENERATOR = {"instance": "127.0.0.1:9646", "job": "loadgen"}
CONTROLLER = {"instance": "127.0.0.1:9645", "job": "stagelight"}
EXPORTER = {"instance": "127.0.0.1:9647", "job": "exporter"}
UUID = "GPU-5a1c0b7e-0000-4000-8000-000000000001"

CLIENT_BOUNDS = tuple(bound / 1e6 for bound in COARSE_BOUNDS_US)
LATENCY_BOUNDS = tuple(float(f"{10 * 1.8**i:.6g}") for i in range(33))
QUEUE_BOUNDS = tuple(float(f"{100 * 1.2**i:.6g}") for i in range(52))
BATCH_BOUNDS = tuple(float(2**i) for i in range(14))

Labels = dict[str, str]


@dataclass(frozen=True, slots=True)
class Slot:
    """A phase of the run; `users` constant, offsets in seconds from the start of load."""

    stage: str
    phase: Phase
    start: int
    end: int
    users: int


SLOTS = (
    Slot("warm", Phase.WARMUP, 0, 30, 20),
    Slot("climb", Phase.STEADY, 30, 70, 40),
    Slot("climb", Phase.STEADY, 70, 110, 80),
    Slot("climb", Phase.STEADY, 110, 150, 120),
    Slot("peak", Phase.STEADY, 150, 300, 80),
    Slot("drain", Phase.DRAIN, 300, 305, 0),
)
SPAN = SLOTS[-1].end


def slot_at(offset: float) -> Slot | None:
    """The slot that is on, `offset` seconds after the start of load."""
    return next((slot for slot in SLOTS if slot.start <= offset < slot.end), None)


def latency(users: int) -> float:
    """Median latency of the server in seconds at this load: flat up to 80 users, then growing."""
    return 0.012 + 0.0001 * users + max(0, users - 80) * 0.0006


def below(bound: float, median: float, spread: float = 0.35) -> float:
    """Share of log-normal durations with this median that end within `bound`."""
    return 0.5 * (1 + math.erf(math.log(bound / median) / (spread * math.sqrt(2))))


def openmetrics(start: float, *, with_gpu: bool = False, errors: bool = True) -> str:
    """The run's series from 60 s before the start of load (epoch seconds) to 60 s after its end."""
    lines: dict[str, list[str]] = {}
    totals = Totals()
    for offset in range(-60, SPAN + 60, SCRAPE):
        totals.advance(offset, errors)
        for name, labels, value in totals.samples(offset, start, with_gpu):
            text = ",".join(f'{key}="{label}"' for key, label in labels.items())
            lines.setdefault(f"{name}{{{text}}}", []).append(f"{value:.17g} {start + offset:.3f}")
    return "".join(f"{series} {point}\n" for series, points in lines.items() for point in points) + "# EOF\n"


class Totals:
    """Counters of the run so far, advanced scrape by scrape."""

    def __init__(self) -> None:
        """Begin with nothing counted."""
        self.ok = self.failed = self.refused = self.rows = self.batches = 0.0
        self.cpu = self.idle = self.waiting = 0.0
        self.client = dict.fromkeys(CLIENT_BOUNDS, 0.0)
        self.server = dict.fromkeys(LATENCY_BOUNDS, 0.0)
        self.queue = dict.fromkeys(QUEUE_BOUNDS, 0.0)
        self.spent_client = self.spent_server = self.spent_queue = 0.0

    def advance(self, offset: int, errors: bool) -> None:
        """Add the five seconds that end at `offset`."""
        slot = slot_at(offset - SCRAPE)
        users = slot.users if slot else 0
        median = latency(users)
        new = SCRAPE * users / (median * 1.1)
        self.ok += new
        if errors and slot and slot.users > 80:
            self.failed += 0.02 * new
            self.refused += 0.02 * new
        self.rows += 4 * new
        self.batches += new / (1 + users / 20)
        self.spent_client += new * median * 1.15
        self.spent_server += new * median * 1e6
        self.spent_queue += new * median * 0.4e6
        for bound in self.client:
            self.client[bound] += new * below(bound, median * 1.1)
        for bound in self.server:
            self.server[bound] += new * below(bound, median * 1e6)
        for bound in self.queue:
            self.queue[bound] += new * below(bound, median * 0.3e6)
        busy = min(0.97, 0.1 + users * 0.008)
        self.cpu += 2 * SCRAPE * busy
        self.idle += 2 * SCRAPE * (1 - busy)
        self.waiting += SCRAPE * max(0.0, busy - 0.7)

    def samples(self, offset: int, start: float, with_gpu: bool) -> Iterator[tuple[str, Labels, float]]:
        """Everything that a scrape at `offset` would have seen."""
        slot = slot_at(offset)
        if slot:
            yield from self._controller_on(slot, offset)
            yield from self._generator(slot)
        yield from self._controller(offset, start)
        yield from self._server(offset)
        yield from self._host(slot)
        if with_gpu:
            labels = {**EXPORTER, "uuid": UUID}
            yield gpu.UTILIZATION.name, labels, 0.9 if slot else 0.0
            yield gpu.MEMORY_USED.name, labels, 6e9
            yield gpu.MEMORY_TOTAL.name, labels, 24e9

    def _controller_on(self, slot: Slot, offset: int) -> Iterator[tuple[str, Labels, float]]:
        yield loadtest.PHASE.name, {**CONTROLLER, "plan": PLAN, "stage": slot.stage, "phase": slot.phase.value}, 1
        yield loadtest.USERS_TARGET.name, {**CONTROLLER, "plan": PLAN}, slot.users
        yield loadtest.RUN_REMAINING.name, {**CONTROLLER, "plan": PLAN}, max(0, 300 - offset)

    def _controller(self, offset: int, start: float) -> Iterator[tuple[str, Labels, float]]:
        run = {"run_id": RUN_ID, "plan": PLAN, "target": "http://127.0.0.1:8501", "plan_digest": "0123456789ab"}
        yield loadtest.RUN_INFO.name, {**CONTROLLER, **run}, 1
        for text, bound in (("p99 <= 50ms", 0.05), ("error_ratio < 1%", 0.01)):
            yield loadtest.OBJECTIVE_LIMIT.name, {**CONTROLLER, "plan": PLAN, "objective": text}, bound
        for seq, slot in enumerate(SLOTS):
            if slot.start <= offset:
                labels = {**CONTROLLER, "plan": PLAN, "seq": str(seq), "stage": slot.stage, "phase": slot.phase.value}
                yield loadtest.SLOT_START.name, labels, start + slot.start
        if offset >= SPAN:
            yield loadtest.VERDICT.name, {**CONTROLLER, "plan": PLAN, "verdict": "pass"}, 1

    def _generator(self, slot: Slot) -> Iterator[tuple[str, Labels, float]]:
        yield loadgen.USERS_RUNNING.name, GENERATOR, slot.users
        yield loadgen.IN_FLIGHT.name, GENERATOR, slot.users * 0.9
        for outcome in loadgen.OUTCOMES:
            number = {"ok": self.ok, "http_error": self.failed}.get(outcome, 0.0)
            yield loadgen.REQUESTS.name, {**GENERATOR, "outcome": outcome}, number
        ok = {**GENERATOR, "outcome": "ok"}
        yield from _histogram(loadgen.DURATION.name, ok, self.client, self.ok, self.spent_client)
        for signal, value in zip(loadgen.SIGNALS, (slot.users / 150, 0.1), strict=False):
            yield loadgen.SATURATION.name, {**GENERATOR, "worker": "w1", "signal": signal}, value

    def _server(self, offset: int) -> Iterator[tuple[str, Labels, float]]:
        yield prometheus.UP.name, SERVER, 1
        model = {**SERVER, "model_name": "scorer"}
        yield tfserving.REQUESTS.name, {**model, "status": "OK"}, self.ok + (60 + offset) / 5
        if self.refused:
            yield tfserving.REQUESTS.name, {**model, "status": "UNAVAILABLE"}, self.refused
        probes = {**model, "entrypoint": "REST"}
        yield from _histogram(
            tfserving.REQUEST_LATENCY.name,
            probes,
            dict.fromkeys(LATENCY_BOUNDS[1:], (60 + offset) / 5),
            (60 + offset) / 5,
            1e3,
        )
        if not self.ok:
            return
        rest = {**model, "API": "predict", "entrypoint": "REST"}
        yield from _histogram(tfserving.REQUEST_LATENCY.name, rest, self.server, self.ok, self.spent_server)
        runtime = {**model, "API": "Predict", "runtime": "TF1"}
        yield from _histogram(tfserving.RUNTIME_LATENCY.name, runtime, self.server, self.ok, 0.8 * self.spent_server)
        yield from _histogram(tfserving.QUEUE_LATENCY.name, SERVER, self.queue, self.ok, self.spent_queue)
        sizes = {bound: self.batches if bound >= 8 else 0.0 for bound in BATCH_BOUNDS}
        yield from _histogram(tfserving.BATCH_SIZE.name, SERVER, sizes, self.batches, self.rows)
        yield tfserving.BATCHES.name, SERVER, self.batches

    def _host(self, slot: Slot | None) -> Iterator[tuple[str, Labels, float]]:
        yield host.CPU.name, {**EXPORTER, "mode": "user"}, self.cpu
        yield host.CPU.name, {**EXPORTER, "mode": "idle"}, self.idle
        yield host.CPU.name, {**EXPORTER, "mode": "iowait"}, 0
        yield host.CPU_CORES.name, EXPORTER, 2
        yield host.PRESSURE.name, {**EXPORTER, "resource": "cpu", "share": "some"}, self.waiting
        yield host.MEMORY_TOTAL.name, EXPORTER, 24e9
        yield host.MEMORY_AVAILABLE.name, EXPORTER, 18e9 if slot else 20e9


def _histogram(
    name: str, labels: Labels, counts: dict[float, float], everything: float, spent: float
) -> Sequence[tuple[str, Labels, float]]:
    parts = [(f"{name}_bucket", {**labels, "le": _printed(bound)}, number) for bound, number in counts.items()]
    parts.append((f"{name}_bucket", {**labels, "le": "+Inf"}, everything))
    return [*parts, (f"{name}_sum", labels, float(f"{spent:.6g}")), (f"{name}_count", labels, everything)]


def _printed(bound: float) -> str:
    """As the generator prints its bounds, and the server its own, which have six digits."""
    return str(bound) if bound in CLIENT_BOUNDS else f"{bound:.6g}"
