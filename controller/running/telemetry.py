"""The controller's own `/metrics`: families built anew at each scrape from the board, so that nothing old stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from controller import names
from controller.plans.places import place_of
from controller.ports import Annotator
from controller.running.board import Board, DaemonView, RunView
from exporters.loadgen_limits import in_force
from exporters.metric import Metric as Name
from exporters.names.loadgen import CONTROLLER, SATURATION

Family = GaugeMetricFamily | CounterMetricFamily
Values = Mapping[tuple[str, ...], float]


def families(run: RunView | None, daemon: DaemonView, annotator: Annotator | None) -> Iterable[Metric]:
    """All `loadtest_` families as of these views; pure but for asking the outbox for its counts."""
    yield _one(names.RUN_ACTIVE, {(): float(run is not None and run.active)})
    yield _one(names.RUNS, {key: float(number) for key, number in daemon.runs.items()})
    yield _one(names.SCHEDULE_NEXT, {(plan,): due.timestamp() for plan, due in daemon.next_due.items()})
    yield _one(names.SCHEDULE_MISFIRES, {(plan,): float(n) for plan, n in daemon.misfires.items()})
    yield _one(names.EDGE_FAILURES, {(edge,): float(n) for edge, n in daemon.edge_failures.items()})
    yield _one(names.LOOP_OVERRUN, {(): daemon.loop_overrun})
    if annotator is not None:
        yield _one(names.OUTBOX_PENDING, {(): float(annotator.pending())})
        yield _one(names.OUTBOX_FAILURES, {(reason,): float(n) for reason, n in annotator.failures().items()})
    if run is not None:
        yield from _run_families(run)


def _run_families(run: RunView) -> Iterable[Metric]:
    plan = run.plan.name
    info = InfoMetricFamily(names.RUN_INFO.family, names.RUN_INFO.help)
    digest = run.plan.digest[:12]
    info.add_metric(
        (), {"run_id": run.run_id, "plan": plan, "target": place_of(run.plan.target), "plan_digest": digest}
    )
    yield info
    limits: Values = {(plan, criterion.text): criterion.bound for criterion in run.plan.objectives}
    yield _one(names.OBJECTIVE_LIMIT, limits)
    key = [(plan, str(slot.seq), slot.stage, slot.phase.value) for slot in run.slots]
    yield _one(names.SLOT_START, {k: slot.start for k, slot in zip(key, run.slots, strict=True)})
    ended: Values = {k: slot.end for k, slot in zip(key, run.slots, strict=True) if slot.end is not None}
    yield _one(names.SLOT_END, ended)
    if run.active:
        yield _one(names.PHASE, {k[:1] + k[2:]: 1.0 for k, s in zip(key, run.slots, strict=True) if s.end is None})
        yield _one(names.USERS_TARGET, {(plan,): float(run.users)})
        yield _one(names.RATE_TARGET, {} if run.rate is None else {(plan,): run.rate})
        yield _one(names.RUN_REMAINING, {(plan,): run.remaining})
        yield from _canary(run)
        yield _one(SATURATION, {(signal, CONTROLLER): value for signal, value in _of_the_generator(run)})
    if run.verdict is not None:
        yield _one(names.VERDICT, {(plan, run.verdict): 1.0})


def _canary(run: RunView) -> Iterable[Metric]:
    """What the lone probe beside the load saw."""
    plan = run.plan.name
    yield _one(names.CANARY_REQUESTS, {(plan, outcome): float(number) for outcome, number in run.canary.items()})
    answered = run.probe is not None and run.probe.outcome == "ok"
    yield _one(names.CANARY_DURATION, {(plan,): run.probe.took} if run.probe is not None and answered else {})


def _of_the_generator(run: RunView) -> Iterator[tuple[str, float]]:
    """What only the controller knows of the generator, beside what its workers say of themselves. A master that has no
    core can serve no page: somebody else has to say so."""
    if run.state == "loading":
        yield "workers", run.silence / in_force(run.plan.generator_limits)["workers"]
    for worker in run.interval.workers if run.interval is not None else ():
        if worker.worker == CONTROLLER:
            yield from worker.saturation.items()


def _one(name: Name, values: Values) -> Family:
    kind = CounterMetricFamily if name.kind == "counter" else GaugeMetricFamily
    family = kind(name.family, name.help, labels=name.labels)
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family


class ControllerCollector(Collector):
    """Serves the families of a board."""

    def __init__(self, board: Board, annotator: Annotator | None) -> None:
        """Read `board` and `annotator` at each scrape."""
        self._board = board
        self._annotator = annotator

    def collect(self) -> Iterable[Metric]:
        """What prometheus_client calls at each scrape."""
        return families(self._board.run(), self._board.daemon(), self._annotator)
