"""One scripted run: what is loaded how, what is done to the generator meanwhile, and what has to be said of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from exporters.loadgen_limits import LIMITS

Kind = Literal["healthy", "poisoned", "slow"]

LEAN = "{payloads: {random: {shape: [16]}}, timeout: 3s}"
PAUSING = "{{payloads: {{random: {{shape: [16]}}}}, timeout: 3s, think_time: {}}}"
TFSERVING = '{kind: tfserving, rest: "TARGET", model: m}'


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run happens: its folder, and the server it loads."""

    folder: Path
    host: str
    port: int

    @property
    def trigger(self) -> Path:
        """A file that is there while a poison that waits inside the generator is to be at work."""
        return self.folder / "trigger"


@dataclass(frozen=True, slots=True)
class Launch:
    """How the program is started there: words before its own, and variables."""

    prefix: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


class Victim(Protocol):
    """The running program as a poison sees it."""

    place: Place

    def master(self) -> int:
        """Process number of the generator's master."""
        ...

    def workers(self) -> list[int]:
        """Process numbers of its workers."""
        ...


Around = Callable[[Place], AbstractContextManager[Launch]]
Strike = Callable[[Victim], AbstractContextManager[None]]


def as_it_is(_place: Place) -> AbstractContextManager[Launch]:
    """Start the program as its user would."""
    return nullcontext(Launch())


def from_the_start(_victim: Victim) -> AbstractContextManager[None]:
    """Nothing more is done: the poison was there from the start."""
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Poison:
    """`around` holds from before the program starts, `strike` from a moment of its load on.

    `alone`: in a network namespace of its own, which needs root. `needs` names programs, `groups` controllers of
    control groups of version 1.
    """

    strike: Strike = from_the_start
    around: Around = as_it_is
    alone: bool = False
    root: bool = False
    needs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """`stage` is the load in the plan's words; `right` are the signals and rules that tell the truth about the poison,
    `why` says why. `server` are options of the stand-in, `script` is what it does from the
    strike on. `words`: one of them is in the sentence of preflight that refuses the run rightly."""

    name: str
    kind: Kind
    stage: str
    workload: str = LEAN
    target: str = TFSERVING
    workers: str = "1"
    generator: str = ""
    server: tuple[str, ...] = ()
    script: Mapping[str, Any] | None = None
    serving: Literal["standin", "tls", "unix", "http"] = "standin"
    poison: Poison | None = None
    right: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds: how long the load lasts, when in it the poison strikes, and for how long.

    `shared`: the machine is busy with other things, too, so what tells of a busy machine has its limit lifted where a
    run is to be called well.
    """

    load: int
    strike: float
    lasts: float
    shared: bool = False


WHOLE = Timing(load=24, strike=6.0, lasts=16.0)
"""Locust looks at its CPU every ten seconds: one of its looks covers nothing but the poison."""

BRIEF = Timing(load=7, strike=1.5, lasts=4.5, shared=True)
"""For the sample that belongs to the tests."""

MOVED_BY_A_BUSY_MACHINE = ("loop_lag", "lateness", "cpu", "run_queue", "pressure", "gc", "arrivals", "canary")

LOCUSTFILES = Path(__file__).parent / "locustfiles"


def own(file: str, *, host: str = "TARGET") -> str:
    """A workload of one of our locustfiles."""
    return f'{{locustfile: "{LOCUSTFILES / file}", host: "{host}"}}'


def plan_text(case: Case, timing: Timing, addresses: Mapping[str, str]) -> str:
    """The plan of a case; `addresses` are what its capital words stand for."""
    text = f"""version: 1
name: {case.name.replace("_", "-")}
target: {case.target}
workload: {case.workload}
workers: {case.workers}
stages:
  - {{name: load, kind: hold, {case.stage}, for: {timing.load}s, discard: 1s}}
objectives: [error_ratio < 90%]
drain_timeout: 3s
"""
    if case.generator:
        text += f"generator: {case.generator}\n"
    elif timing.shared and case.kind != "poisoned":
        text += f"generator: {{limits: {{{_lifted()}}}}}\n"
    for word, address in addresses.items():
        text = text.replace(word, address)
    return text


def _lifted() -> str:
    limits = {name: LIMITS[name] for name in MOVED_BY_A_BUSY_MACHINE if name in LIMITS}
    return ", ".join(f"{name}: {limit.most:g}{'s' * (limit.unit == 'seconds')}" for name, limit in limits.items())
