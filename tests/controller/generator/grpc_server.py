"""A gRPC server of our own for tests: TF Serving's three calls, and Predict as it is told, over TLS if asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
import numpy as np

from controller.serving.predict import METADATA, PREDICT, STATUS
from controller.serving.protos import tfserving_api_pb2 as api
from controller.serving.protos import tfserving_tensor_pb2 as tensor

Predict = Callable[[bytes, Any], bytes]
"""Request and call to an answer."""


def answer(values: Any, version: int = 3, **outputs: Any) -> bytes:
    """A PredictResponse with the output `scores`, and others; numbers as TF Serving packs them."""
    made = api.PredictResponse()
    made.model_spec.version.value = version
    for name, given in {"scores": values, **outputs}.items():
        one = np.asarray(given)
        proto = made.outputs[name]
        for side in one.shape:
            proto.tensor_shape.dim.add(size=side)
        if one.dtype.kind in "US":
            proto.dtype = tensor.DT_STRING
            proto.string_val.extend(text.encode() for text in one.ravel().tolist())
        else:
            proto.dtype = tensor.DT_FLOAT
            proto.tensor_content = one.astype(np.float32).tobytes()
    return made.SerializeToString()


def good(_request: bytes, _call: Any) -> bytes:
    """Two numbers."""
    return answer([[0.25, 0.75]])


@dataclass
class Served:
    """A running server."""

    port: int = 0
    seen: list[dict[str, str]] = field(default_factory=list)  # metadata of each Predict
    peers: set[str] = field(default_factory=set)
    predict: Predict = good
    versions: Sequence[tuple[int, int]] = ((3, 30),)  # number and state

    def answered(self, request: bytes, call: Any) -> bytes:
        """Predict."""
        self.seen.append({key: str(value) for key, value in call.invocation_metadata()})
        self.peers.add(call.peer())
        return self.predict(request, call)

    def status(self, _request: bytes, _call: Any) -> bytes:
        """GetModelStatus."""
        told = api.GetModelStatusResponse()
        for number, state in self.versions:
            one = told.model_version_status.add(version=number)
            one.state = state  # type: ignore[assignment]
        return told.SerializeToString()

    def metadata(self, _request: bytes, _call: Any) -> bytes:
        """GetModelMetadata: one input x of [-1, 4]."""
        found, told = api.SignatureDefMap(), api.GetModelMetadataResponse()
        info = found.signature_def["serving_default"].inputs["x"]
        info.name, info.dtype = "x:0", tensor.DT_FLOAT
        for size in (-1, 4):
            info.tensor_shape.dim.add(size=size)
        told.metadata["signature_def"].Pack(found)
        return told.SerializeToString()


@contextmanager
def a_grpc_server(
    predict: Predict = good,
    *,
    credentials: grpc.ServerCredentials | None = None,
    options: Sequence[tuple[str, Any]] = (),
    **more: Any,
) -> Iterator[Served]:
    """On a free loopback port."""
    served = Served(predict=predict, **more)
    pool = ThreadPoolExecutor(8)
    server = grpc.server(pool, options=[("grpc.so_reuseport", 0), *options])
    calls = {PREDICT: served.answered, STATUS: served.status, METADATA: served.metadata}

    class Calls(grpc.GenericRpcHandler):  # type: ignore[type-arg] # no generic at run time
        def service(self, details: grpc.HandlerCallDetails) -> Any:
            found = calls.get(details.method)
            return None if found is None else grpc.unary_unary_rpc_method_handler(found)

    server.add_generic_rpc_handlers((Calls(),))
    if credentials is None:
        served.port = server.add_insecure_port("127.0.0.1:0")
    else:
        served.port = server.add_secure_port("localhost:0", credentials)
    server.start()
    try:
        yield served
    finally:
        stopped: threading.Event = server.stop(0)
        stopped.wait(5)
        pool.shutdown(wait=False, cancel_futures=True)
