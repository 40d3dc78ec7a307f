"""Is a gRPC target usable, and who is it? Its model's status, what it takes, and one real Predict, before any load."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from controller.edges.target_model import ModelVersion, listed, trouble, wanted
from controller.edges.target_signature import fitting_finding
from controller.plans.model_inputs import ModelInput
from controller.plans.payloads import PayloadError
from controller.plans.plan import Plan
from controller.ports import Finding
from controller.serving import grpc_channel
from controller.serving.outputs import is_finite
from controller.serving.predict import METADATA, PREDICT, STATUS, inputs_in, metadata_request, predict_requests
from controller.serving.protos import tfserving_api_pb2 as api

ASK_SECONDS = 5.0
FIRST_SECONDS = 30.0
"""A model that is used for the first time may initialise itself: it gets longer than the plan's timeout."""


@dataclass(frozen=True, slots=True)
class GrpcTrial:
    """How the plan's gRPC requests are made and judged."""

    plan: Plan

    def findings(self) -> Iterator[Finding]:
        """In the order of looking; the first that is not fit is the last."""
        target, workload = self.plan.target, self.plan.workload
        try:
            headers = grpc_channel.metadata(workload)
            made = grpc_channel.channel(target, workload, max(workload.max_answer, grpc_channel.METADATA_BYTES))
        except (ValueError, OSError) as error:
            yield Finding("address", False, _unusable(error))
            return
        with made as channel:
            yield (status := self._status(channel, headers))
            if not status.fit:
                return
            try:
                inputs = self._inputs(channel, headers)
            except (grpc.RpcError, DecodeError, ValueError) as error:
                yield Finding("signature", False, _about_inputs(self.plan, error))
                return
            yield (shape := fitting_finding(self.plan, {one.name: one.shape or None for one in inputs}))
            if shape.fit:
                yield self._predict(channel, headers, inputs)

    def _status(self, channel: grpc.Channel, headers: grpc_channel.Metadata) -> Finding:
        target = self.plan.target
        try:
            found = wanted(self.plan, _versions(channel, self.plan, headers))
        except (grpc.RpcError, DecodeError) as error:
            return Finding("grpc", False, f"{target.grpc}: {_told(error)}; {_remedy(error)}")
        return Finding("grpc", found.fit, found.sentence, warning=found.warning)

    def _inputs(self, channel: grpc.Channel, headers: grpc_channel.Metadata) -> Sequence[ModelInput]:
        target, workload = self.plan.target, self.plan.workload
        told = grpc_channel.call(channel, METADATA, metadata_request(target, workload), headers, ASK_SECONDS)
        return inputs_in(told, workload.signature)

    def _predict(self, channel: grpc.Channel, headers: grpc_channel.Metadata, inputs: Sequence[ModelInput]) -> Finding:
        target, workload = self.plan.target, self.plan.workload
        try:
            request = next(predict_requests(target, workload, inputs, most=1))
        except (PayloadError, ValueError) as error:
            return Finding("payload", False, f"{error}; correct the payload or the signature")
        limit = max(FIRST_SECONDS, workload.timeout.total_seconds())
        began = time.perf_counter()
        try:
            answer = api.PredictResponse.FromString(grpc_channel.call(channel, PREDICT, request, headers, limit))
        except (grpc.RpcError, DecodeError) as error:
            why = f"the payload was answered with {_told(error)}"
            return Finding("payload", False, f"{why} (correct the payload or its signature)", requests=1)
        took = time.perf_counter() - began
        missing = [name for name in workload.required_fields if name not in answer.outputs]
        if missing or not answer.outputs:
            has = ", ".join(sorted(answer.outputs)) or "none"
            why = f"the answer has no output {', '.join(missing)}, it has {has}; correct required_fields"
            return Finding("payload", False, why, requests=1)
        version = answer.model_spec.version.value
        what = f"the payload of {len(request)} bytes was answered by version {version} in {took * 1e3:.1f} ms"
        if not workload.allow_nan and not all(map(is_finite, answer.outputs.values())):
            return Finding("payload", True, f"{what}, but holds NaN or Infinity", warning=True, requests=1)
        if took > workload.timeout.total_seconds():
            slow = f"{what}, longer than the plan's timeout; begin with a warm-up stage"
            return Finding("payload", True, slow, warning=True, requests=1)
        return Finding("payload", True, what, requests=1)


def grpc_identity(plan: Plan) -> Mapping[str, Any]:
    """Versions with their states, newest first; `unknown` says why there is nothing."""
    try:
        headers = grpc_channel.metadata(plan.workload)
        with grpc_channel.channel(plan.target, plan.workload, grpc_channel.METADATA_BYTES) as channel:
            return {"versions": listed(_versions(channel, plan, headers))}
    except (ValueError, OSError) as error:
        return {"unknown": _unusable(error)}
    except (grpc.RpcError, DecodeError) as error:
        return {"unknown": f"{plan.target.grpc}: {_told(error)}"}


def _versions(channel: grpc.Channel, plan: Plan, headers: grpc_channel.Metadata) -> Sequence[ModelVersion]:
    """All versions of the model: asked for one of them, the server would not tell which others it has."""
    request = api.GetModelStatusRequest(model_spec=api.ModelSpec(name=plan.target.model or "")).SerializeToString()
    answer = api.GetModelStatusResponse.FromString(grpc_channel.call(channel, STATUS, request, headers, ASK_SECONDS))
    found = [_version(one) for one in answer.model_version_status]
    return sorted(found, key=lambda version: -version.number)


def _version(one: Any) -> ModelVersion:
    codes = one.status.DESCRIPTOR.fields_by_name["error_code"].enum_type.values_by_number
    code = codes[one.status.error_code].name if one.status.error_code in codes else one.status.error_code
    status = {"error_code": code, "error_message": one.status.error_message}
    return ModelVersion(one.version, api.ModelVersionStatus.State.Name(one.state), trouble(status))


def _about_inputs(plan: Plan, error: Exception) -> str:
    if isinstance(error, grpc.RpcError):
        return f"what {plan.target.model} takes could not be asked: {_told(error)}"
    return f"{error}; correct signature"


def _unusable(error: Exception) -> str:
    return f"could not use the certificates of target.tls: {error}" if isinstance(error, OSError) else str(error)


def _told(error: BaseException) -> str:
    if isinstance(error, grpc.RpcError):
        call: Any = error  # it is the call as well; the types do not say so
        return f"{call.code().name}: {str(call.details())[:300]}"
    return f"something that is no message ({error})"


def _remedy(error: BaseException) -> str:
    code = error.code() if isinstance(error, grpc.RpcError) and isinstance(error, grpc.Call) else None
    if code is grpc.StatusCode.NOT_FOUND:
        return "correct target.model or load it"
    if code in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED):
        return "set the headers that the target wants"
    return "start the server, or correct target.grpc or target.tls"
