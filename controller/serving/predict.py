"""Serialised `PredictRequest`s from a plan's payloads, and what comes back of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from controller.plans.model_inputs import DEFAULT_SIGNATURE, REAL, WHOLE, ModelInput, random_arrays
from controller.plans.payloads import groups_of
from controller.plans.plan import Target, Workload
from controller.plans.pools import Array, PayloadError, pool_of
from controller.serving.protos import tfserving_api_pb2 as api
from controller.serving.protos import tfserving_tensor_pb2 as tensor

PREDICT = "/tensorflow.serving.PredictionService/Predict"
METADATA = "/tensorflow.serving.PredictionService/GetModelMetadata"
STATUS = "/tensorflow.serving.ModelService/GetModelStatus"

MOST_BYTES = 64 * 1024 * 1024
"""Requests of one process together; of a larger pool each process sends a sample, evenly spread."""

_TYPES = {**REAL, **WHOLE, "DT_BOOL": np.bool_}

Arrays = Mapping[str, np.ndarray[Any, Any]]


def model_spec(target: Target, workload: Workload) -> api.ModelSpec:
    """Which model, version and signature is asked."""
    spec = api.ModelSpec(name=target.model or "", signature_name=workload.signature or "")
    if target.version is not None:
        spec.version.value = target.version
    elif target.label is not None:
        spec.version_label = target.label
    return spec


def metadata_request(target: Target, workload: Workload) -> bytes:
    """Asks what the model takes."""
    spec = model_spec(target, workload)
    spec.signature_name = ""
    return api.GetModelMetadataRequest(model_spec=spec, metadata_field=["signature_def"]).SerializeToString()


def inputs_in(answer: bytes, signature: str | None) -> tuple[ModelInput, ...]:
    """The inputs in the answer to that, by name. Raises `ValueError` that says what is missing."""
    wanted, found = signature or DEFAULT_SIGNATURE, api.SignatureDefMap()
    api.GetModelMetadataResponse.FromString(answer).metadata["signature_def"].Unpack(found)
    if wanted not in found.signature_def:
        known = ", ".join(sorted(found.signature_def)) or "none"
        raise ValueError(f"the model has no signature {wanted}, it has {known}")
    return tuple(_input(name, info) for name, info in sorted(found.signature_def[wanted].inputs.items()))


def _input(name: str, info: Any) -> ModelInput:
    shape = None if info.tensor_shape.unknown_rank else tuple(int(dim.size) for dim in info.tensor_shape.dim)
    return ModelInput(name, tensor.DataType.Name(info.dtype), shape)


def predict_requests(
    target: Target,
    workload: Workload,
    inputs: Sequence[ModelInput],
    *,
    part: int = 0,
    parts: int = 1,
    most: int | None = None,
) -> Iterator[bytes]:
    """Requests of worker `part` of `parts` in sending order. Raises `PayloadError`."""
    try:
        columns = _columns(workload, inputs)
    except ValueError as error:
        raise PayloadError(f"could not build gRPC requests: {error}") from error
    spec, total = model_spec(target, workload), len(next(iter(columns.values())))
    groups = groups_of(total, workload.payloads)
    mine = groups[part::parts] if part < len(groups) else groups[part % len(groups) :][:1]
    first = _request(spec, columns, inputs, mine[0])
    fit = max(MOST_BYTES // max(len(first), 1), 1)
    if most is not None:
        mine = mine[:most]
    elif len(mine) > fit:
        mine = mine[np.linspace(0, len(mine) - 1, fit).astype(np.int64)]
    for group in mine:
        yield _request(spec, columns, inputs, group)


def _columns(workload: Workload, inputs: Sequence[ModelInput]) -> Arrays:
    payloads = workload.payloads
    if payloads.from_model:
        return random_arrays(inputs, payloads.count, payloads.seed)
    pool = pool_of(payloads)
    if not isinstance(pool, Array):
        raise PayloadError("could not build gRPC requests: they need typed payloads: use npy, csv or random")
    if len(inputs) != 1:
        names = ", ".join(taken.name for taken in inputs) or "none"
        raise ValueError(f"the signature takes {names}, and the payload is one array; use random: {{from: model}}")
    return {inputs[0].name: pool.values}


def _request(spec: api.ModelSpec, columns: Arrays, inputs: Sequence[ModelInput], group: Any) -> bytes:
    request = api.PredictRequest(model_spec=spec)
    for taken in inputs:
        request.inputs[taken.name].CopyFrom(_tensor(taken, np.asarray(columns[taken.name][group]), group))
    return request.SerializeToString()


def _tensor(taken: ModelInput, values: np.ndarray[Any, Any], group: Any) -> tensor.TensorProto:
    proto = tensor.TensorProto(dtype=taken.dtype)
    for side in values.shape:
        proto.tensor_shape.dim.add(size=side)
    if taken.dtype == "DT_STRING":
        if values.dtype.kind not in "SU":
            raise PayloadError(f"the input {taken.name} takes texts, and the payload holds {values.dtype}")
        proto.string_val.extend(_bytes(value) for value in values.ravel().tolist())
        return proto
    wanted = _TYPES.get(taken.dtype)
    if wanted is None or not np.can_cast(values.dtype, wanted, casting="same_kind"):
        raise PayloadError(f"the input {taken.name} takes {taken.dtype}, and the payload holds {values.dtype}")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise PayloadError(f"a payload holds NaN or Infinity (instances {[int(i) + 1 for i in group][:8]}); clean it")
    proto.tensor_content = values.astype(wanted).tobytes()
    return proto


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()
