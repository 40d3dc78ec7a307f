"""The canary: one request of the workload now and then, from a thread of the controller, beside the load.

One at a time, and only while it is let: it holds up nobody, and nobody waits for it.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from controller.edges.target_answer import look
from controller.edges.target_call import Caller, NoAnswerError
from controller.edges.target_signature import asked_inputs
from controller.edges.target_trial import Trial
from controller.figures.canary import Probe
from controller.plans.header_text import resolve_headers
from controller.plans.payloads import PayloadError, request_bodies
from controller.plans.plan import Plan
from controller.serving import grpc_channel
from controller.serving.predict import METADATA, PREDICT, inputs_in, metadata_request, predict_requests
from controller.serving.protos import tfserving_api_pb2 as api

POOL = 10
"""Requests of the workload that are sent in turn."""

MOST_PROBES = 1000
"""Probes that wait to be taken at most."""

SPREAD = 0.2
"""The time between probes varies by this share, so that they do not keep step with anything."""

HURRY_SECONDS = 0.1
"""The time between probes while they disagree with the generator and there are not enough of them to be sure."""

GOLDEN = 0.6180339887498949

Shot = Callable[[], str]
"""Sends one request and waits for its end: the outcome."""

log = logging.getLogger(__name__)


class CanaryThread:
    """Sends nothing before `sing(True)`; `stop` ends it at once, but for an answer that is under way."""

    def __init__(self, plan: Plan, period: float) -> None:
        """A probe every `period` seconds."""
        self._plan, self._period = plan, period
        self._lock = threading.Lock()
        self._singing, self._stopped = threading.Event(), threading.Event()
        self._hurrying = threading.Event()
        self._probes: deque[Probe] = deque(maxlen=MOST_PROBES)
        self._sent = 0
        self._outcomes: Counter[str] = Counter()
        self._thread = threading.Thread(target=self._work, name="canary", daemon=True)
        self._begun = False

    def sing(self, *, now: bool) -> None:
        """Whether probes may leave from now on."""
        if now and not self._begun:
            self._begun = True
            self._thread.start()
        if now:
            self._singing.set()
        else:
            self._singing.clear()

    def hurry(self, *, now: bool) -> None:
        """Whether probes follow each other quickly from now on."""
        if now:
            self._hurrying.set()
        else:
            self._hurrying.clear()

    def probes(self) -> Sequence[Probe]:
        """Those that ended since the last call."""
        with self._lock:
            found = tuple(self._probes)
            self._probes.clear()
        return found

    def counts(self) -> dict[str, int]:
        """Probes by outcome; `unanswered` are under way."""
        with self._lock:
            under_way = self._sent - sum(self._outcomes.values())
            return {**dict(sorted(self._outcomes.items())), **({"unanswered": under_way} if under_way else {})}

    def stop(self) -> None:
        """No probe leaves any more; does not wait."""
        self._singing.clear()
        self._stopped.set()

    def _work(self) -> None:
        try:
            with _shots(self._plan) as shots:
                self._shoot(shots)
        except (PayloadError, OSError, ValueError, DecodeError, NoAnswerError, grpc.RpcError) as error:
            log.warning("no canary in this run: %s", error)

    def _shoot(self, shots: Iterator[Shot]) -> None:
        number = 0
        while self._wait(self._period * (1 - SPREAD / 2 + SPREAD * (number * GOLDEN % 1.0))):
            number += 1
            if not self._singing.is_set():
                continue
            with self._lock:
                self._sent += 1
            at, begun = time.time(), time.perf_counter()
            outcome = next(shots)()
            took = time.perf_counter() - begun
            with self._lock:
                self._outcomes[outcome] += 1
                self._probes.append(Probe(at, took, outcome))

    def _wait(self, seconds: float) -> bool:
        """Until the next probe; False when none may leave any more."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if self._stopped.wait(min(left, HURRY_SECONDS)):
                return False
            if self._hurrying.is_set():
                break
        return not self._stopped.is_set()


def canary_for(plan: Plan) -> CanaryThread | None:
    """The plan's canary; None where it wants none, and where nobody knows what one request is: an own locustfile."""
    if plan.canary is None or plan.workload.locustfile is not None:
        return None
    return CanaryThread(plan, plan.canary.total_seconds())


@contextmanager
def _shots(plan: Plan) -> Iterator[Iterator[Shot]]:
    """Requests of the workload in turn, for ever, over one connection of their own."""
    if plan.workload.protocol == "grpc":
        longest = max(plan.workload.max_answer, grpc_channel.METADATA_BYTES)
        with grpc_channel.channel(plan.target, plan.workload, longest) as channel:
            yield _grpc_shots(plan, channel)
    else:
        headers = dict(resolve_headers(plan.workload.headers, os.environ))
        with Caller({}, plan.target) as asking, Caller(headers, plan.target) as sending:
            yield _http_shots(plan, asking, sending)


def _http_shots(plan: Plan, asking: Caller, sending: Caller) -> Iterator[Shot]:
    workload = plan.workload
    inputs = asked_inputs(plan, asking) if workload.payloads.from_model else ()
    trial = Trial(plan, sending, inputs)
    bodies = tuple(request_bodies(workload, plan.target.kind, most=POOL, inputs=inputs))

    def shot(index: int) -> str:
        try:
            answer = trial.send(bodies[index], workload.timeout.total_seconds())
        except NoAnswerError as error:
            return "timeout" if error.silent else "connection_error"
        return "ok" if look(answer.status, answer.content, trial.wanted).wrong is None else "not_ok"

    return (partial(shot, index) for index in cycle(range(len(bodies))))


def _grpc_shots(plan: Plan, channel: grpc.Channel) -> Iterator[Shot]:
    target, workload = plan.target, plan.workload
    headers = grpc_channel.metadata(workload)
    seconds = workload.timeout.total_seconds()
    told = grpc_channel.call(channel, METADATA, metadata_request(target, workload), headers, seconds)
    bodies = tuple(predict_requests(target, workload, inputs_in(told, workload.signature), most=POOL))
    call: Any = channel.unary_unary(
        PREDICT, request_serializer=None, response_deserializer=api.PredictResponse.FromString
    )

    def shot(index: int) -> str:
        try:
            call(bodies[index], timeout=seconds, metadata=headers)
        except grpc.RpcError as error:
            failed: Any = error  # it is the call as well; the types do not say so
            return "timeout" if failed.code() is grpc.StatusCode.DEADLINE_EXCEEDED else "not_ok"
        return "ok"

    return (partial(shot, index) for index in cycle(range(len(bodies))))
