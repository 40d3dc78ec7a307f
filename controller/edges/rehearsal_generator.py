"""A generator in memory: obeys orders at virtual time, reports every second, and fails where it is told to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from controller.edges.rehearsal import RehearsalClock
from controller.edges.rehearsal_load import Answers, Behaviour, Flow, closed_loop, latencies
from controller.generator_spec import GeneratorSpec
from controller.orders import (
    LEASE_SECONDS,
    Ack,
    ArrivalCell,
    Cell,
    Command,
    Drain,
    Drained,
    Fault,
    Hello,
    Interval,
    Lease,
    Order,
    Quit,
    Report,
    WorkerHealth,
)
from controller.plans.arrivals import Arrivals
from controller.ports import EdgeError


@dataclass(frozen=True, slots=True)
class Faults:
    """What goes wrong; times in seconds since the start, None for never."""

    cannot_start: str | None = None
    dies_at: float | None = None
    loses_worker_at: float | None = None
    never_says_hello: bool = False
    never_acks: frozenset[int] = frozenset()  # order numbers
    never_drains: bool = False


@dataclass(slots=True)
class RehearsalGenerator:
    """`hello_after` and `ack_after` are seconds from start and from an order to its effect."""

    clock: RehearsalClock
    behaviour: Behaviour = field(default_factory=closed_loop)
    faults: Faults = field(default_factory=Faults)
    hello_after: float = 1.0
    ack_after: float = 0.05
    commands: list[Command] = field(default_factory=list)  # everything that was sent, in order
    _begun: float = 0.0
    _time: float = 0.0  # since start; everything before it has happened
    _alive: bool = False
    _workers: int = 0
    _order: Order = field(default_factory=lambda: Order(0, -1, "", "", False, 0))  # in effect
    _since: float = 0.0  # when it took effect
    _due: dict[tuple[int, bool], Flow] = field(default_factory=dict)  # arrivals of open loops
    _coming: list[tuple[float, Order | Drain]] = field(default_factory=list)
    _leased: float = math.inf  # from hello on
    _interval_start: float = math.inf
    _ready: bool = False
    _flows: dict[tuple[int, bool, str], Flow] = field(default_factory=dict)
    _ended: int = 0
    _totals: dict[str, int] = field(default_factory=dict)
    _answers: Answers = field(default_factory=lambda: Answers(0.0))
    _reports: list[Report] = field(default_factory=list)

    def start(self, spec: GeneratorSpec) -> None:
        """Come up; `Hello` follows."""
        if self.faults.cannot_start is not None:
            raise EdgeError(f"could not start the generator: {self.faults.cannot_start}")
        self._begun, self._alive, self._workers = self.clock.monotonic(), True, spec.workers

    def send(self, command: Command) -> None:
        """Take a command. Raises `EdgeError` when the generator is gone."""
        self._catch_up()
        if not self._alive:
            raise EdgeError("could not send a command to the generator: its process is gone")
        self.commands.append(command)
        match command:
            case Order() if command.number not in self.faults.never_acks:
                self._coming.append((self._time + self.ack_after, command))
            case Drain() if not self.faults.never_drains:
                self._coming.append((self._time + min(self.ack_after, command.timeout), command))
            case Lease():
                self._leased = self._time if self._ready else math.inf
            case Quit():
                self._alive = False
            case _:
                pass

    def reports(self) -> Sequence[Report]:
        """Everything that happened until now."""
        self._catch_up()
        taken, self._reports = self._reports, []
        return taken

    def alive(self) -> bool:
        """Whether the process is there."""
        self._catch_up()
        return self._alive

    def kill(self) -> None:
        """End at once."""
        self._alive = False

    def _catch_up(self) -> None:
        until = self.clock.monotonic() - self._begun
        while self._alive and (moment := self._next_moment()) <= until:
            self._load_until(moment)
            self._happen(moment)
        if self._alive:
            self._load_until(until)

    def _next_moment(self) -> float:
        moments = [self._time + 1.0, self._leased + LEASE_SECONDS + 1e-6, *(due for due, _ in self._coming)]
        moments += [at for at in (self.faults.dies_at, self.faults.loses_worker_at) if at is not None]
        moments += [self.hello_after, self._interval_start + 1.0]
        return min(moment for moment in moments if moment > self._time)

    def _happen(self, moment: float) -> None:
        if self.faults.dies_at == moment:
            self._alive = False
            return
        if self.faults.loses_worker_at == moment and self._workers:
            self._lose_worker()
        if moment >= self.hello_after and not self._ready and not self.faults.never_says_hello:
            self._ready, self._interval_start, self._leased = True, moment, moment
            self._reports.append(Hello(0, "127.0.0.1:9646", self._workers, "rehearsal"))
        if moment > self._leased + LEASE_SECONDS:
            self._reports.append(Fault("the lease was not renewed: no more load", fatal=True))
            self._alive = False
            return
        if moment >= self._interval_start + 1.0:
            self._report_interval(moment)
        for item in [item for item in self._coming if item[0] <= moment]:
            self._coming.remove(item)
            self._obey(item[1], moment)

    def _obey(self, command: Order | Drain, moment: float) -> None:
        match command:
            case Order():
                if (fewer := self._order.users - command.users) > 0:
                    self._flow("ok").owed += fewer
                self._order, self._since = command, moment
                self._reports.append(Ack(command.number, self._wall(moment)))
            case Drain():
                self._flow("ok").owed += self._order.users
                self._order = Order(self._order.number, self._order.slot, "", "drain", self._order.measured, 0)
                self._report_interval(moment)
                self._interval_start = math.inf
                self._reports.append(Drained(self._wall(moment), dict(self._totals), self._ended, 0))

    def _lose_worker(self) -> None:
        lost = self._order.users // self._workers
        self._workers -= 1
        self._flow("generator_error").owed += lost
        users = self._order.users - lost
        order = self._order
        self._order = Order(order.number, order.slot, order.stage, order.phase, order.measured, users)
        self._reports.append(Fault(f"worker {self._workers} was lost", fatal=False))

    def _load_until(self, moment: float) -> None:
        if self._order.arrivals is not None:
            self._arrive(self._order.arrivals, moment)
        elif self._order.users > 0:
            self._answers = self.behaviour(self._time, self._order.users)
            done = (moment - self._time) * self._order.users / self._answers.mean_latency
            self._flow("ok").owed += done * (1.0 - self._answers.error_ratio)
            if self._answers.error_ratio > 0:
                self._flow("http_error").owed += done * self._answers.error_ratio
        self._time = moment

    def _arrive(self, arrivals: Arrivals, moment: float) -> None:
        """Every arrival is sent on time; as many are under way as Little's law says."""
        rate = arrivals.rate(moment - self._since)
        self._answers = self.behaviour(self._time, math.ceil(rate * self._answers.mean_latency))
        due = arrivals.expected(self._time - self._since, moment - self._since)
        self._due.setdefault((self._order.slot, self._order.measured), Flow()).owed += due
        self._flow("ok").owed += due * (1.0 - self._answers.error_ratio)
        if self._answers.error_ratio > 0:
            self._flow("http_error").owed += due * self._answers.error_ratio

    def _flow(self, outcome: str) -> Flow:
        return self._flows.setdefault((self._order.slot, self._order.measured, outcome), Flow())

    def _report_interval(self, moment: float) -> None:
        cells = []
        for (slot, measured, outcome), flow in self._flows.items():
            first, number = flow.take()
            if number > 0:
                counts = latencies(first, number, self._answers.mean_latency or 0.001)
                total = sum(us * count for us, count in counts.items())
                cells.append(Cell(slot, measured, outcome, counts, total))
                self._ended += number
                self._totals[outcome] = self._totals.get(outcome, 0) + number
        users = self._order.users
        start, end = self._wall(self._interval_start), self._wall(moment)
        arrivals = tuple(_arrivals(slot, measured, flow) for (slot, measured), flow in self._due.items())
        intended = tuple(cell for cell in cells if (cell.slot, cell.measured) in self._due)
        totals = (self._ended + users, self._ended, users, users)
        rate = self._order.arrivals.rate(moment - self._since) if self._order.arrivals else 0.0
        self._reports.append(Interval(start, end, tuple(cells), *totals, self._health(), intended, arrivals, rate))
        self._interval_start = moment

    def _health(self) -> tuple[WorkerHealth, ...]:
        share = self._order.users // max(self._workers, 1)
        signals = {"cpu": self._answers.saturation, "loop_lag": self._answers.saturation / 2}
        return tuple(WorkerHealth(f"worker-{number}", share, 0.0, signals) for number in range(self._workers))

    def _wall(self, moment: float) -> float:
        behind = self.clock.monotonic() - self._begun - moment
        return (self.clock.now() - timedelta(seconds=behind)).timestamp()


def _arrivals(slot: int, measured: bool, flow: Flow) -> ArrivalCell:
    _, number = flow.take()
    return ArrivalCell(slot, measured, number, {}, {0: number}, 0)
