"""The gRPC side: Predict, GetModelMetadata and GetModelStatus, with the real server's names, codes and messages."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import grpc
import grpc.aio
from google.protobuf.message import Message

from ..protos import tfserving_api_pb2 as api_pb2
from ..protos import tfserving_errors_pb2 as errors_pb2
from ..protos import tfserving_signature_pb2 as signature_pb2
from .call import Call, Wire
from .codes import Code, Failure, invalid
from .grpc_predict import GrpcPredict
from .ledger import Ledger
from .servables import Servables, Version
from .service import Service
from .signature import Signature

Context = grpc.aio.ServicerContext[Any, Any]
MESSAGE_LIMIT = 1024
NO_SPEC = "Missing ModelSpec"


class GrpcCalls:
    """Handlers of both services. A call that its client gives up goes on to its end, as on the real server."""

    def __init__(self, servables: Servables, predict: GrpcPredict, service: Service, ledger: Ledger) -> None:
        """All parts are the caller's."""
        self._servables = servables
        self._predict = predict
        self._service = service
        self._ledger = ledger

    def handlers(self) -> list[grpc.GenericRpcHandler[Any, Any]]:
        """What a gRPC server needs to dispatch."""
        prediction = {
            "Predict": _unary(self.predict, api_pb2.PredictRequest),
            "GetModelMetadata": _unary(self.metadata, api_pb2.GetModelMetadataRequest),
        }
        model = {"GetModelStatus": _unary(self.status, api_pb2.GetModelStatusRequest)}
        return [
            grpc.method_handlers_generic_handler("tensorflow.serving.PredictionService", prediction),
            grpc.method_handlers_generic_handler("tensorflow.serving.ModelService", model),
        ]

    async def predict(self, request: api_pb2.PredictRequest, context: Context) -> bytes:
        """Answer `PredictionService.Predict`."""
        call, answer = self._open("predict", "/tensorflow.serving.PredictionService/Predict")
        call.model, call.api, call.runtime_api = request.model_spec.name, "Predict", "Predict"
        call.request = request
        call.timeout = context.time_remaining()
        self._service.infer(call, self._predict.begin, self._predict.refuse)
        return await answer.sent(context)

    async def status(self, request: api_pb2.GetModelStatusRequest, context: Context) -> bytes:
        """Answer `ModelService.GetModelStatus`."""
        call, answer = self._open("status", "/tensorflow.serving.ModelService/GetModelStatus")
        call.counted = False
        try:
            self._settle(call, self._states(request))
        except Failure as failure:
            self._predict.refuse(call, failure, 0.0)
        return await answer.sent(context)

    async def metadata(self, request: api_pb2.GetModelMetadataRequest, context: Context) -> bytes:
        """Answer `PredictionService.GetModelMetadata`."""
        call, answer = self._open("metadata", "/tensorflow.serving.PredictionService/GetModelMetadata")
        call.counted = False
        try:
            self._settle(call, self._metadata(request))
        except Failure as failure:
            self._predict.refuse(call, failure, 0.0)
        return await answer.sent(context)

    def _open(self, kind: str, path: str) -> tuple[Call, _Answer]:
        answer = _Answer()
        call = Call(Wire.GRPC, kind, path, time.monotonic(), answer)
        self._ledger.received(call)
        return call, answer

    def _settle(self, call: Call, message: Message) -> None:
        self._service.settle(call, Code.OK, message.SerializeToString())

    def _states(self, request: api_pb2.GetModelStatusRequest) -> api_pb2.GetModelStatusResponse:
        if not request.HasField("model_spec"):
            raise invalid(NO_SPEC)
        spec = request.model_spec
        number = spec.version.value if spec.HasField("version") else None
        response = api_pb2.GetModelStatusResponse()
        for version in self._servables.states(spec.name, number):
            failure = version.failure
            response.model_version_status.add(
                version=version.number,
                state=api_pb2.ModelVersionStatus.State.Name(int(version.state)),
                status=api_pb2.StatusProto(
                    error_code=errors_pb2.Code.Name(int(failure.code) if failure else 0),
                    error_message=failure.message if failure else "",
                ),
            )
        return response

    def _metadata(self, request: api_pb2.GetModelMetadataRequest) -> api_pb2.GetModelMetadataResponse:
        if not request.HasField("model_spec"):
            raise invalid(NO_SPEC)
        if not request.metadata_field:
            raise invalid("GetModelMetadataRequest must specify at least one metadata_field")
        for field in request.metadata_field:
            if field != "signature_def":
                raise invalid(f"Metadata field {field} is not supported")
        version = self._predict.version_of(request.model_spec)
        response = api_pb2.GetModelMetadataResponse()
        response.model_spec.name = request.model_spec.name
        response.model_spec.version.value = version.number
        response.metadata["signature_def"].Pack(_signatures(version))
        return response


class _Answer:
    """Where a call's answer arrives, and where its client waits."""

    def __init__(self) -> None:
        self._arrived: asyncio.Future[tuple[int, bytes]] = asyncio.get_running_loop().create_future()

    def __call__(self, status: int, body: bytes, content_type: bytes) -> bool:  # noqa: ARG002 - of HTTP only
        if self._arrived.done():
            return False  # cancelled: the client is gone
        self._arrived.set_result((status, body))
        return True

    def drop(self) -> None:
        self(Code.UNAVAILABLE, b"dropped by the stand-in's script", b"")

    async def sent(self, context: Context) -> bytes:
        status, body = await self._arrived
        if status == Code.OK:
            return body
        message = body.decode("utf-8", "replace")
        if len(message) > MESSAGE_LIMIT:
            message = message[:MESSAGE_LIMIT] + "...TRUNCATED"
        await context.abort(STATUS[status], message)
        return b""


STATUS: dict[int, grpc.StatusCode] = {status.value[0]: status for status in grpc.StatusCode}


def _unary(handler: Any, request: type[Message]) -> Any:
    return grpc.unary_unary_rpc_method_handler(handler, request_deserializer=request.FromString)


def _signatures(version: Version) -> api_pb2.SignatureDefMap:
    wanted = api_pb2.SignatureDefMap()
    for name, signature in (version.signatures or {}).items():
        _describe(signature, wanted.signature_def[name])
    return wanted


def _describe(signature: Signature, proto: signature_pb2.SignatureDef) -> None:
    proto.method_name = signature.method
    for tensors, described in ((signature.inputs, proto.inputs), (signature.outputs, proto.outputs)):
        for name, info in tensors.items():
            described[name].MergeFrom(signature_pb2.TensorInfo(name=info.feed, dtype=info.dtype))
            for size in info.shape:
                described[name].tensor_shape.dim.add(size=size)
