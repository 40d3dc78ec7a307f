"""Before load over gRPC: what the model takes is asked, requests are serialised, channels are chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import grpc
import grpc.experimental.gevent  # type: ignore[import-not-found]  # the stubs leave it out
import numpy as np
from google.protobuf.message import DecodeError

from controller.generator import ledger
from controller.generator.client import Client, Reply
from controller.generator.grpc_client import GrpcConnection
from controller.generator.http_request import SpecError
from controller.generator.work import Check
from controller.generator_spec import GeneratorSpec
from controller.serving import grpc_channel
from controller.serving.predict import METADATA, inputs_in, metadata_request, predict_requests
from controller.serving.protos import tfserving_api_pb2 as api

METADATA_SECONDS = 10.0
"""How long the model may take to say what it takes."""

WHOLE_BYTES = 4096
"""Answers up to this size are always decoded."""

EVERY = 64
"""Of larger answers one in so many is."""


class PredictCheck:
    """Judges answers: they decode, have the wanted outputs, and their numbers are finite. Counts model versions."""

    def __init__(self, required: Sequence[str], *, allow_nan: bool) -> None:
        """`required` are names of outputs; without any, one output has to be there."""
        self._required = tuple(required)
        self._allow_nan = allow_nan
        self._large = 0
        self.versions: Counter[int] = Counter()  # that answered, by number

    def outcome(self, _request: Any, reply: Reply) -> int:
        """`ok` or `invalid_response`."""
        body = reply.body
        if len(body) > WHOLE_BYTES:
            self._large += 1
            if self._large % EVERY != 1:
                return ledger.OK
        try:
            answer = api.PredictResponse.FromString(body)
        except DecodeError:
            return ledger.INVALID_RESPONSE
        self.versions[answer.model_spec.version.value] += 1
        outputs = answer.outputs
        if not outputs or any(name not in outputs for name in self._required):
            return ledger.INVALID_RESPONSE
        finite = self._allow_nan or all(_finite(one) for one in outputs.values())
        return ledger.OK if finite else ledger.INVALID_RESPONSE


def _finite(proto: Any) -> bool:
    kind = {1: np.float32, 2: np.float64}.get(proto.dtype)
    if kind is None:
        return True
    if proto.tensor_content:
        return bool(np.isfinite(np.frombuffer(proto.tensor_content, dtype=kind)).all())
    return bool(np.isfinite(proto.float_val if proto.dtype == 1 else proto.double_val).all())


def sending(spec: GeneratorSpec, part: int) -> tuple[Sequence[bytes], Callable[[], Client], Check]:
    """Requests, the maker of clients, and the check. Raises `SpecError` and `PayloadError`."""
    grpc.experimental.gevent.init_gevent()  # once, after patching and before any channel: or one call blocks all
    target, workload = spec.target, spec.workload
    try:
        headers = grpc_channel.metadata(workload)
    except ValueError as error:
        raise SpecError(f"could not build requests: {error}") from error
    requests = list(predict_requests(target, workload, _inputs(spec, headers), part=part, parts=spec.workers))
    timeout, own = workload.timeout.total_seconds(), workload.connections == "per_user"
    shared = None if own else grpc_channel.channel(target, workload)

    def made() -> Any:
        return grpc_channel.channel(target, workload) if shared is None else shared

    check = PredictCheck(workload.required_fields, allow_nan=workload.allow_nan)
    return requests, lambda: GrpcConnection(made, headers, timeout, own), check


def _inputs(spec: GeneratorSpec, headers: Sequence[tuple[str, str]]) -> Any:
    target, workload = spec.target, spec.workload
    with grpc_channel.channel(target, workload, grpc_channel.METADATA_BYTES) as channel:
        try:
            ask: Any = channel.unary_unary(METADATA, request_serializer=None, response_deserializer=None)
            answer = ask(metadata_request(target, workload), timeout=METADATA_SECONDS, metadata=headers)
            return inputs_in(answer, workload.signature)
        except grpc.RpcError as error:
            call: Any = error
            raise SpecError(f"could not ask {target.grpc} what {target.model} takes: {call.details()}") from error
        except ValueError as error:
            raise SpecError(f"could not build gRPC requests: {error}") from error
