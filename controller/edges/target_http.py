"""The TargetProbe: looks at a target over HTTP before and after load, cheapest question first, and says what to do."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from controller.edges.payload_reading import payload_findings
from controller.edges.target_address import Resolver, refusal, resolve
from controller.edges.target_call import Caller, NoAnswerError
from controller.edges.target_grpc import GrpcTrial, grpc_identity
from controller.edges.target_locustfile import locustfile_finding
from controller.edges.target_metrics import metrics_finding
from controller.edges.target_model import identity, state_finding
from controller.edges.target_signature import asked_inputs, signature_finding
from controller.edges.target_trial import Trial
from controller.generator.http_request import SpecError, address, base_url
from controller.plans.header_text import resolve_headers
from controller.plans.plan import Plan
from controller.ports import Finding


@dataclass(frozen=True, slots=True)
class TargetHttp:
    """`allow` are the targets that may be loaded beside loopback; nothing at all is sent to others."""

    allow: Sequence[str] = ()
    resolver: Resolver = resolve

    def preflight(self, plan: Plan) -> Sequence[Finding]:
        """Findings in the order of looking; the first that is not fit is the last, except for metrics."""
        found: list[Finding] = []
        for finding in self._looks(plan):
            found.append(finding)
            if not finding.fit:
                break
        return found

    def identity(self, plan: Plan) -> Mapping[str, Any]:
        """What the target says of itself; `unknown` with the reason where it cannot be asked."""
        if (why := refusal(plan.target, self.allow, self.resolver)) is not None:
            return {"unknown": why}
        if plan.target.rest is None:
            return grpc_identity(plan)
        with Caller({}, plan.target) as caller:
            if plan.target.kind == "tfserving":
                return identity(plan, caller)
            try:
                answer = caller.get(base_url(plan.target) + (plan.target.health or "/"))
            except NoAnswerError as error:
                return {"unknown": str(error)}
            return {"server": answer.headers.get("Server")}

    def _looks(self, plan: Plan) -> Iterator[Finding]:
        if (why := refusal(plan.target, self.allow, self.resolver)) is not None:
            yield Finding("address", False, why)
            return
        own = plan.workload.locustfile
        try:
            if plan.target.rest is not None:
                address(plan.target)
            headers = dict(resolve_headers(plan.workload.headers, os.environ))
        except (SpecError, ValueError) as error:
            yield Finding("address", False, str(error))
            return
        with Caller({}, plan.target) as asking, Caller(headers, plan.target) as sending:
            if plan.target.rest is None:
                yield from _over_grpc_alone(plan)
            elif plan.target.kind == "tfserving":
                yield state_finding(plan, asking)
                if plan.workload.locustfile is None:
                    yield signature_finding(plan, asking)
            else:
                yield _health(plan, asking)
            if own is None:
                yield from payload_findings(plan)
            if own is None and plan.workload.protocol == "grpc":
                yield from GrpcTrial(plan).findings()
            elif own is None:
                yield from _trial(plan, asking, sending)
            else:
                yield locustfile_finding(plan, own, self.allow, self.resolver)
            yield metrics_finding(plan.target, asking)


def _over_grpc_alone(plan: Plan) -> Iterator[Finding]:
    """A locustfile's target that has no REST: only its model's status can be asked; ours are tried as a whole."""
    if plan.workload.locustfile is not None:
        found = grpc_identity(plan)
        why = found.get("unknown")
        yield Finding("grpc", why is None, str(why) if why else f"{plan.target.model} is there over gRPC")


def _trial(plan: Plan, asking: Caller, sending: Caller) -> Iterator[Finding]:
    try:
        inputs = asked_inputs(plan, asking) if plan.workload.payloads.from_model else ()
    except ValueError as error:
        yield Finding("payload", False, str(error))
        return
    yield from Trial(plan, sending, inputs).findings()


def _health(plan: Plan, caller: Caller) -> Finding:
    """Without a path of its own to ask, any answer shows that somebody is there."""
    target = plan.target
    try:
        answer = caller.get(base_url(target) + (target.health or "/"))
    except NoAnswerError as error:
        return Finding("health", False, str(error))
    if target.health is not None and answer.status != 200:
        why = f"{target.rest}{target.health} answers {answer.status}, not 200: the target is not ready"
        return Finding("health", False, f"{why}; wait until it is, or correct target.health")
    return Finding("health", True, f"{target.rest} answers in {answer.seconds * 1e3:.1f} ms")
