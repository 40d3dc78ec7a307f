"""Before load over gRPC: what the model takes is asked, requests are serialised, channels are chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import grpc
import grpc.experimental.gevent  # type: ignore[import-not-found]  # the stubs leave it out

from controller.generator.client import Client
from controller.generator.grpc_answers import PredictCheck
from controller.generator.grpc_client import GrpcConnection
from controller.generator.http_request import SpecError
from controller.generator.known_answers import known_answers
from controller.generator.work import Check
from controller.generator_spec import GeneratorSpec
from controller.serving import grpc_channel
from controller.serving.predict import METADATA, inputs_in, metadata_request, predict_requests

METADATA_SECONDS = 10.0
"""How long the model may take to say what it takes."""


def sending(spec: GeneratorSpec, part: int) -> tuple[Sequence[bytes], Callable[[], Client], Check]:
    """Requests, the maker of clients, and the check. Raises `SpecError` and `PayloadError`."""
    grpc.experimental.gevent.init_gevent()  # once, after patching and before any channel: or one call blocks all
    target, workload = spec.target, spec.workload
    try:
        headers = grpc_channel.metadata(workload)
    except ValueError as error:
        raise SpecError(f"could not build requests: {error}") from error
    inputs = _inputs(spec, headers)
    requests = list(predict_requests(target, workload, inputs, part=part, parts=spec.workers))
    timeout, own = workload.timeout.total_seconds(), workload.connections == "per_user"
    shared = None if own else grpc_channel.channel(target, workload)

    def made() -> Any:
        return grpc_channel.channel(target, workload) if shared is None else shared

    check = PredictCheck(
        workload.required_fields,
        allow_nan=workload.allow_nan,
        degraded=workload.degraded,
        expected=known_answers(spec, part, requests),
        tolerance=workload.expected.tolerance if workload.expected else 0.0,
    )
    listens = workload.degraded is not None and workload.degraded.header is not None
    return requests, lambda: GrpcConnection(made, headers, timeout, own, listens=listens), check


def _inputs(spec: GeneratorSpec, headers: grpc_channel.Metadata) -> Any:
    target, workload = spec.target, spec.workload
    try:
        made = grpc_channel.channel(target, workload, grpc_channel.METADATA_BYTES)
    except OSError as error:
        raise SpecError(f"could not use the certificates of target.tls: {error}") from error
    with made as channel:
        try:
            asked = metadata_request(target, workload)
            answer = grpc_channel.call(channel, METADATA, asked, headers, METADATA_SECONDS)
            return inputs_in(answer, workload.signature)
        except grpc.RpcError as error:
            call: Any = error
            raise SpecError(f"could not ask {target.grpc} what {target.model} takes: {call.details()}") from error
        except ValueError as error:
            raise SpecError(f"could not build gRPC requests: {error}") from error
