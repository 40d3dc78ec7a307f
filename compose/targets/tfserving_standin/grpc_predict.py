"""Answers gRPC Predict: message to tensors, tensors through the model, outputs to message."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ..protos import tfserving_api_pb2 as api_pb2
from .call import Call
from .codes import Code, Failure, invalid
from .grpc_tensors import from_proto, to_proto, type_name
from .runner import Runner
from .servables import Servables, Version, signature_of
from .service import Service
from .signature import DEFAULT_SIGNATURE, NUMPY_TYPES, TYPE_NAMES, Signature, Tensors


class GrpcPredict:
    """Decodes, runs and encodes `PredictRequest`s."""

    def __init__(self, servables: Servables, runner: Runner, service: Service) -> None:
        """All parts are the caller's."""
        self._servables = servables
        self._runner = runner
        self._service = service

    def begin(self, call: Call) -> None:
        """Take a call with a `PredictRequest` as its request all the way to its answer."""
        request: api_pb2.PredictRequest = call.request
        try:
            version, signature = self._asked(request)
            inputs = _inputs(request, signature)
            wanted = _outputs(request.output_filter, signature)
            call.version = version.number
            call.rows = next((tensor.shape[0] for tensor in inputs.values() if tensor.ndim), 0)
            call.session = time.monotonic()

            def done(outcome: Tensors | Failure, run: float, asked: float, due: float) -> None:
                call.run, call.asked = run, asked
                if isinstance(outcome, Failure):
                    self.refuse(call, outcome, due)
                else:
                    body = _response(request.model_spec.name, signature, version, outcome, wanted)
                    self._service.settle(call, Code.OK, body, due)

            self._runner.run(version, signature, inputs, call.start, call.timeout, done)
        except Failure as failure:
            self.refuse(call, failure, 0.0)

    def refuse(self, call: Call, failure: Failure, due: float) -> None:
        """Answer with a failure."""
        self._service.settle(call, failure.code, failure.message.encode("utf-8", "surrogatepass"), due)

    def version_of(self, spec: api_pb2.ModelSpec) -> Version:
        """The version a request means. Raises Failure."""
        number = spec.version.value if spec.HasField("version") else None
        label = spec.version_label if spec.HasField("version_label") else None
        return self._servables.find(spec.name, number, label)

    def _asked(self, request: api_pb2.PredictRequest) -> tuple[Version, Signature]:
        if not request.HasField("model_spec"):
            raise invalid("Missing ModelSpec")
        version = self.version_of(request.model_spec)
        name = request.model_spec.signature_name or DEFAULT_SIGNATURE
        signature = signature_of(version, name)
        if signature is None:
            raise Failure(Code.FAILED_PRECONDITION, f'Serving signature key "{name}" not found.')
        return version, signature


def _inputs(request: api_pb2.PredictRequest, signature: Signature) -> Tensors:
    sent, wanted = sorted(request.inputs), sorted(signature.inputs)
    if len(sent) != len(wanted):
        extra = [name for name in sent if name not in signature.inputs]
        missing = [name for name in wanted if name not in request.inputs]
        raise invalid(
            f"input size does not match signature: {len(sent)}!={len(wanted)} len({{{','.join(sent)}}}) != "
            f"len({{{','.join(wanted)}}}). Sent extra: {{{','.join(extra)}}}. "
            f"Missing but required: {{{','.join(missing)}}}."
        )
    tensors: Tensors = {}
    for index, (name, info) in enumerate(signature.inputs.items()):
        if name not in request.inputs:
            raise invalid(
                f"Signature input alias: {name}(feed name: {info.feed}) not found in request and no default value "
                f"provided. Inputs expected to be in the request {{{','.join(sent)}}}, or default input alias set: {{}}"
            )
        tensor = from_proto(name, request.inputs[name])
        if tensor.dtype != NUMPY_TYPES[info.dtype]:
            given = type_name(request.inputs[name].dtype)
            raise invalid(f"Expects arg[{index}] to be {TYPE_NAMES[info.dtype]} but {given} is provided")
        tensors[name] = tensor
    return tensors


def _outputs(wanted: Sequence[str], signature: Signature) -> list[str]:
    """The outputs a request asks for, all if it names none."""
    for index, name in enumerate(wanted):
        if name not in signature.outputs:
            raise invalid(
                f"output tensor alias not found in signature: {name} Outputs expected to be in the set "
                f"{{{','.join(sorted(signature.outputs))}}}."
            )
        if name in wanted[:index]:
            raise invalid(f"duplicate output tensor alias: {name}")
    return list(wanted) or list(signature.outputs)


def _response(model: str, signature: Signature, version: Version, outputs: Tensors, wanted: Sequence[str]) -> bytes:
    response = api_pb2.PredictResponse()
    response.model_spec.name = model
    response.model_spec.signature_name = signature.name
    response.model_spec.version.value = version.number
    for name in wanted:
        response.outputs[name].CopyFrom(to_proto(outputs[name]))
    return response.SerializeToString()
