"""Real requests before the load: one for each kind of payload, then a few one after the other to see how fast it is."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from controller.edges.target_answer import Wanted, look
from controller.edges.target_call import Answer, Caller, NoAnswerError
from controller.generator.http_request import base_url, path, required_fields
from controller.plans.model_inputs import ModelInput
from controller.plans.payloads import Body, PayloadError, exemplars, request_bodies
from controller.plans.plan import Plan
from controller.ports import Finding

TRIAL_REQUESTS = 10
TRIAL_SECONDS = 10.0
FIRST_SECONDS = 30.0
"""A model that is used for the first time may initialise itself: it gets longer than the plan's timeout."""

OTHER_SECONDS = 5.0
"""The same for every further kind of payload."""


@dataclass(frozen=True, slots=True)
class Trial:
    """How the plan's requests are made and judged."""

    plan: Plan
    caller: Caller
    inputs: Sequence[ModelInput] = ()  # the model's, where payloads are made from them

    def findings(self) -> Iterator[Finding]:
        """First one request a kind, each with its finding; then, if they were fit, the trial's."""
        workload, kind = self.plan.workload, self.plan.target.kind
        try:
            firsts = exemplars(workload, kind, self.inputs)
            more = list(request_bodies(workload, kind, most=TRIAL_REQUESTS, inputs=self.inputs))
        except (PayloadError, OSError) as error:
            yield Finding("payload", False, str(error))
            return
        fit = True
        for number, body in enumerate(firsts, 1):
            what = f"payload kind {number} of {len(firsts)}" if len(firsts) > 1 else "the payload"
            limit = max(FIRST_SECONDS if number == 1 else OTHER_SECONDS, self._timeout)
            found = replace(self._first(body, what, limit), requests=1)
            fit &= found.fit
            yield found
        if fit:
            yield self._trial([more[number % len(more)] for number in range(TRIAL_REQUESTS)])

    def _first(self, body: Body, what: str, limit: float) -> Finding:
        try:
            answer = self.send(body, limit)
        except NoAnswerError as error:
            return Finding("payload", False, f"{what}: {error}")
        looked = look(answer.status, answer.content, self.wanted)
        if looked.wrong is not None:
            return Finding("payload", False, f"{what} was answered with {looked.wrong} ({self._remedy(answer.status)})")
        if answer.seconds > self._timeout:
            slow = f"{what}: the first answer took {answer.seconds:.2f} s, longer than the plan's timeout"
            return Finding("payload", True, f"{slow}; begin with a warm-up stage", warning=True)
        if looked.odd is not None:
            return Finding("payload", True, f"{what} was answered, but {looked.odd}", warning=True)
        took = f"{len(body.content)} bytes was answered in {answer.seconds * 1e3:.1f} ms"
        return Finding("payload", True, f"{what} of {took}")

    def send(self, body: Body, limit: float) -> Answer:
        """One request as the generator makes it, answered within `limit` seconds. Raises `NoAnswerError`."""
        plan, recorded = self.plan, body.recorded
        if recorded is None:
            return self.caller.send(plan.workload.method, predict_url(plan), body.content, {}, limit)
        prefix = urlsplit(base_url(plan.target)).path.rstrip("/")
        url = _url(plan, prefix + recorded.path)
        return self.caller.send(recorded.method, url, body.content, dict(recorded.headers), limit)

    def _trial(self, sent: Sequence[Body]) -> Finding:
        seconds: list[float] = []
        failed: list[str] = []
        begun = time.monotonic()
        for body in sent:
            if time.monotonic() - begun > TRIAL_SECONDS:
                break
            try:
                answer = self.send(body, self._timeout)
            except NoAnswerError as error:
                failed.append(str(error))
                continue
            wrong = look(answer.status, answer.content, self.wanted).wrong
            if wrong is None:
                seconds.append(answer.seconds)
            else:
                failed.append(wrong)
        return replace(_summary(seconds, failed), requests=len(seconds) + len(failed))

    @property
    def _timeout(self) -> float:
        return self.plan.workload.timeout.total_seconds()

    @property
    def wanted(self) -> Wanted:
        """What a good answer has."""
        target, workload = self.plan.target, self.plan.workload
        per_row = "predictions" if target.kind == "tfserving" and workload.form == "row" else None
        return Wanted(required_fields(target, workload), per_row, workload.payloads.rows, workload.status)

    def _remedy(self, status: int) -> str:
        if status == 404:
            return "correct target.model, version or label" if self.plan.target.kind == "tfserving" else "correct path"
        if status in (401, 403):
            return "set the headers that the target wants"
        return "correct the payload, its form or its signature" if status in (400, 200) else "look at the target's log"


def predict_url(plan: Plan) -> str:
    """Where the generator will post to."""
    return _url(plan, path(plan.target, plan.workload))


def _url(plan: Plan, own: str) -> str:
    parts = urlsplit(base_url(plan.target))
    return f"{parts.scheme}://{parts.netloc}{own}"


def _summary(seconds: Sequence[float], failed: Sequence[str]) -> Finding:
    number = len(seconds) + len(failed)
    if not seconds:
        return Finding("trial", False, f"all {number} trial requests failed, the last with {failed[-1]}")
    median, slowest = statistics.median(seconds) * 1e3, max(seconds) * 1e3
    told = f"{number} requests one after the other: median {median:.1f} ms, slowest {slowest:.1f} ms"
    if failed:
        said = f"{told}; {len(failed)} failed, the last with {failed[-1]}"
        return Finding("trial", True, said, warning=True, seconds=median / 1e3)
    return Finding("trial", True, told, seconds=median / 1e3)
