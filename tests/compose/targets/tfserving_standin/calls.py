"""A gRPC client of the stand-in, with raw method paths: what any client of the real server would call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import grpc

from compose.targets.protos import tfserving_api_pb2 as api_pb2
from compose.targets.protos import tfserving_tensor_pb2 as tensor_pb2

PREDICTION = "/tensorflow.serving.PredictionService/"
MODEL = "/tensorflow.serving.ModelService/"


@dataclass(frozen=True, slots=True)
class Client:
    """The calls that the stand-in answers."""

    predict: Any
    status: Any
    metadata: Any


@contextmanager
def a_client(address: str) -> Iterator[Client]:
    """Connect, and close at the end."""
    with grpc.insecure_channel(address) as channel:

        def unary(path: str, request: Any, response: Any) -> Any:
            return channel.unary_unary(path, request.SerializeToString, response.FromString)

        yield Client(
            unary(PREDICTION + "Predict", api_pb2.PredictRequest, api_pb2.PredictResponse),
            unary(MODEL + "GetModelStatus", api_pb2.GetModelStatusRequest, api_pb2.GetModelStatusResponse),
            unary(PREDICTION + "GetModelMetadata", api_pb2.GetModelMetadataRequest, api_pb2.GetModelMetadataResponse),
        )


def a_request(
    values: Sequence[Sequence[float]], *, model: str = "m", name: str = "features", **spec: Any
) -> api_pb2.PredictRequest:
    """A Predict request of float rows."""
    request = api_pb2.PredictRequest(model_spec=api_pb2.ModelSpec(name=model, **spec))
    tensor = request.inputs[name]
    tensor.dtype = tensor_pb2.DT_FLOAT
    for size in (len(values), len(values[0])):
        tensor.tensor_shape.dim.add(size=size)
    for row in values:
        tensor.float_val.extend(row)
    return request
