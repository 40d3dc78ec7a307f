"""A worker whose users are somebody's own classes: the file is loaded here, and only here.

Its code cannot be asked before each request whether it may send. So when the lease is over, all users are ended at
once and then the process; a thread of the system's sees to it even where the code never lets go of the loop.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import gevent
import locust
from gevent import monkey
from locust.argument_parser import get_parser
from locust.env import Environment

from controller.generator import process, wire
from controller.generator.http_request import SpecError
from controller.generator.lease import Gate
from controller.generator.ledger import Ledger
from controller.generator.own_classes import load
from controller.generator.own_crowd import OwnCrowd
from controller.generator.own_recording import Names, Recording, watch_clients
from controller.generator.reasons import Reasons
from controller.generator.worker import Worker
from controller.generator_spec import GeneratorSpec

LOOK_SECONDS = 0.1
"""How often the lease is looked at."""

LAST_WORDS_SECONDS = 0.1
"""How much longer than the lease a process may live that could not end its users itself."""

MOST_TROUBLES = 5
"""Kinds of trouble of one worker that are put into the record; all are in the log."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OwnBooks:
    """Right to send, counts and reasons of this process."""

    gate: Gate = field(default_factory=Gate)
    ledger: Ledger = field(default_factory=Ledger)
    reasons: Reasons = field(default_factory=Reasons)


class Troubles:
    """Sentences for the record: each kind once, a few at most."""

    def __init__(self, name: str, runner: Any) -> None:
        """They travel through the master."""
        self._name, self._runner, self._said = name, runner, set[str]()

    def say(self, what: str, kind: str | None = None) -> None:
        """Once for each kind."""
        log.warning("%s", what)
        if (kind or what) not in self._said and len(self._said) < MOST_TROUBLES:
            self._said.add(kind or what)
            self._runner.send_message(wire.TROUBLE, asdict(wire.Trouble(self._name, what[:300])))

    def on_user_error(self, user_instance: Any = None, exception: Any = None, **_: Any) -> None:
        """Locust's event: code of a user class raised, outside of any request."""
        who = type(getattr(user_instance, "user", user_instance)).__name__  # of a task, Locust names its task set
        what = type(exception).__name__
        self.say(f"{who} raised {what}: {exception}; see locust.log", f"{who} {what}")


def run(spec: GeneratorSpec, name: str, host: str, port: int, *, far: bool = False) -> int:
    """Be worker `name` of the master at `host`:`port` until the end; the exit code."""
    own = spec.workload.locustfile
    if own is None:
        raise SpecError("could not start: the workload has no locustfile")
    fault, classes = None, {}
    try:
        classes = load(own.file, own.user_classes)
    except SpecError as error:
        fault = str(error)
    environment = Environment(
        user_classes=list(classes.values()), events=locust.events, host=own.host, parsed_options=_options()
    )
    runner = environment.create_worker_runner(host, port)
    if fault is not None:
        runner.send_message(wire.UNFIT, {"what": fault})
        gevent.sleep(0.5)
        return 1
    for one in classes.values():
        one.host = own.host or one.host or spec.target.rest
    books, troubles = OwnBooks(), Troubles(name, runner)
    names = Names(troubles.say)
    books.reasons.names = names.counts
    recording = _listen(environment, books, troubles, names)
    process.settle()
    crowd = OwnCrowd(runner, classes, recording, troubles.say)
    worker = Worker(name, runner, books, crowd, spec.limits, far=far)
    _thread_watch(books.gate)
    gevent.spawn(_watch, books.gate, crowd, worker)
    runner.send_message(wire.JOINED, asdict(wire.Joined(name, os.getpid())))
    code = worker.run()
    names.log_totals()
    return code


def _listen(environment: Environment, books: OwnBooks, troubles: Troubles, names: Names) -> Recording:
    """Hear of every request and of every mistake, then let the file's own listeners begin."""
    recording = Recording(books.ledger, books.reasons, names)
    watch_clients(recording)
    events: Any = environment.events
    events.request.add_listener(recording.on_request)
    events.user_error.add_listener(troubles.on_user_error)
    _bound_statistics(environment, names)
    events.init.fire(environment=environment, runner=environment.runner, web_ui=None)
    return recording


def _options() -> Any:
    """Locust's own options and those that the file adds, with their defaults."""
    return get_parser(default_config_files=[]).parse_args([])


def _bound_statistics(environment: Environment, names: Names) -> None:
    """Locust keeps an entry a name and one an error; user classes may read them, so they stay, but bounded."""
    statistics: Any = environment.stats
    log_request, log_error = statistics.log_request, statistics.log_error
    statistics.log_request = lambda method, name, *rest: log_request(method, names.bounded(name), *rest)
    statistics.log_error = lambda method, name, error: log_error(method, names.bounded(name), type(error).__name__)


def _watch(gate: Gate, crowd: OwnCrowd, worker: Worker) -> None:
    while not gate.lapsed():
        gevent.sleep(LOOK_SECONDS)
    log.error("the lease is over: all users are ended")
    crowd.cut()
    worker.report()


def _thread_watch(gate: Gate) -> None:
    """In a thread of the system's, which no greenlet can hold up."""
    sleep: Callable[[float], None] = monkey.get_original("time", "sleep")

    def look() -> None:
        late = 0.0
        while late <= LAST_WORDS_SECONDS:
            sleep(LOOK_SECONDS / 2)
            late = late + LOOK_SECONDS / 2 if gate.lapsed() else 0.0
        os._exit(1)

    start: Callable[..., int] = monkey.get_original("_thread", "start_new_thread")
    start(look, ())
