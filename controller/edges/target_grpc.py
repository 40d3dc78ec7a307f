"""Is a gRPC target usable? Its model's status, what it takes, and one real Predict, before any load."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from controller.plans.payloads import PayloadError
from controller.plans.plan import Plan
from controller.ports import Finding
from controller.serving import grpc_channel
from controller.serving.predict import METADATA, PREDICT, STATUS, inputs_in, metadata_request, predict_requests
from controller.serving.predict import model_spec as model_spec_of
from controller.serving.protos import tfserving_api_pb2 as api

ASK_SECONDS = 5.0
FIRST_SECONDS = 30.0
"""A model that is used for the first time may initialise itself: it gets longer than the plan's timeout."""

_AVAILABLE = api.ModelVersionStatus.AVAILABLE


@dataclass(frozen=True, slots=True)
class GrpcTrial:
    """How the plan's gRPC requests are made and judged."""

    plan: Plan

    def findings(self) -> Iterator[Finding]:
        """In the order of looking; the first that is not fit is the last."""
        try:
            headers = grpc_channel.metadata(self.plan.workload)
        except ValueError as error:
            yield Finding("address", False, str(error))
            return
        target, workload = self.plan.target, self.plan.workload
        with grpc_channel.channel(target, workload, max(workload.max_answer, grpc_channel.METADATA_BYTES)) as channel:
            for look in (self._status, self._predict):
                found = look(channel, headers)
                yield found
                if not found.fit:
                    return

    def _status(self, channel: grpc.Channel, headers: Sequence[tuple[str, str]]) -> Finding:
        target = self.plan.target
        spec = model_spec_of(target, self.plan.workload)
        spec.signature_name = ""
        request = api.GetModelStatusRequest(model_spec=spec).SerializeToString()
        try:
            answer = api.GetModelStatusResponse.FromString(_call(channel, STATUS, request, headers, ASK_SECONDS))
        except (grpc.RpcError, DecodeError) as error:
            return Finding("grpc", False, f"{target.grpc}: {_told(error)}; start the server or correct target.grpc")
        ready = sorted(one.version for one in answer.model_version_status if one.state == _AVAILABLE)
        if not ready:
            return Finding("grpc", False, f"no version of {target.model} is available at {target.grpc}; load one")
        return Finding("grpc", True, f"{target.model} is there over gRPC: {', '.join(map(str, ready))}")

    def _predict(self, channel: grpc.Channel, headers: Sequence[tuple[str, str]]) -> Finding:
        target, workload = self.plan.target, self.plan.workload
        try:
            told = _call(channel, METADATA, metadata_request(target, workload), headers, ASK_SECONDS)
            request = next(predict_requests(target, workload, inputs_in(told, workload.signature), most=1))
        except (PayloadError, ValueError, DecodeError) as error:
            return Finding("payload", False, f"{error}; correct the payload or the signature")
        except grpc.RpcError as error:
            return Finding("payload", False, f"what {target.model} takes could not be asked: {_told(error)}")
        limit = max(FIRST_SECONDS, workload.timeout.total_seconds())
        began = time.perf_counter()
        try:
            answer = api.PredictResponse.FromString(_call(channel, PREDICT, request, headers, limit))
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
        return Finding("payload", True, what, requests=1)


def _call(
    channel: grpc.Channel, method: str, request: bytes, headers: Sequence[tuple[str, str]], seconds: float
) -> bytes:
    ask: Any = channel.unary_unary(method, request_serializer=None, response_deserializer=None)
    answer: bytes = ask(request, timeout=seconds, metadata=headers)
    return answer


def _told(error: BaseException) -> str:
    if isinstance(error, grpc.RpcError):
        call: Any = error  # it is the call as well; the types do not say so
        return f"{call.code().name}: {str(call.details())[:300]}"
    return f"something that is no message ({error})"
