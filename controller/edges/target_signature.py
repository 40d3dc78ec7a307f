"""Does the model's signature take the plan's payload? Asked of the metadata, which is cheap; a real request decides."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from controller.edges.target_call import Caller, NoAnswerError
from controller.edges.target_trial import predict_url
from controller.plans.model_inputs import DEFAULT_SIGNATURE, ModelInput, model_inputs
from controller.plans.plan import Payloads, Plan
from controller.ports import Finding

Shape = tuple[int, ...]


def signature_finding(plan: Plan, caller: Caller) -> Finding:
    """Not fit when there is no such signature, or when its only input has another shape than the payload's arrays."""
    try:
        answer = caller.get(predict_url(plan).removesuffix(":predict") + "/metadata")
        signatures = json.loads(answer.content)["metadata"]["signature_def"]["signature_def"]
        inputs = {name: _shapes(definition["inputs"]) for name, definition in signatures.items()}
    except (NoAnswerError, ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"the model's metadata could not be read ({error or type(error).__name__})"
        return Finding("signature", True, f"{why}; its signature was not checked", warning=True)
    wanted = plan.workload.signature or DEFAULT_SIGNATURE
    if wanted not in inputs:
        known = ", ".join(sorted(inputs)) or "none"
        return Finding("signature", False, f"the model has no signature {wanted}, it has {known}; correct signature")
    return fitting_finding(plan, inputs[wanted])


def fitting_finding(plan: Plan, inputs: Mapping[str, Shape | None]) -> Finding:
    """Whether arrays of the payload have the shape of the signature's only input; `inputs` as `_shapes` has them."""
    wanted = plan.workload.signature or DEFAULT_SIGNATURE
    takes = ", ".join(f"{name} {_written(shape)}" for name, shape in sorted(inputs.items())) or "no inputs"
    given = instance_shape(plan.workload.payloads)
    shapes = list(inputs.values())
    if given is not None and len(shapes) == 1 and shapes[0] is not None and not _fits(given, shapes[0][1:]):
        why = f"signature {wanted} takes {takes}, an instance of the payload is {_written(given)}"
        return Finding("signature", False, f"{why}; correct the payload or the signature")
    return Finding("signature", True, f"signature {wanted} takes {takes}")


def asked_inputs(plan: Plan, caller: Caller) -> tuple[ModelInput, ...]:
    """What the model's signature takes. Raises `ValueError` with the reason why it is not known."""
    try:
        answer = caller.get(predict_url(plan).removesuffix(":predict") + "/metadata")
        return model_inputs(json.loads(answer.content), plan.workload.signature)
    except (NoAnswerError, ValueError) as error:
        raise ValueError(f"no payloads can be made from the model's signature: {error}") from error


def instance_shape(payloads: Payloads) -> Shape | None:
    """The shape of one instance of an array; None for lines, and for files that cannot be read."""
    if payloads.random_shape is not None:
        return payloads.random_shape
    if payloads.npy is None:
        return None
    try:
        return tuple(np.load(payloads.npy, mmap_mode="r", allow_pickle=False).shape[1:])
    except (OSError, ValueError, EOFError, AttributeError):
        return None


def _fits(given: Shape, wanted: Sequence[int]) -> bool:
    return len(given) == len(wanted) and all(want in (-1, have) for have, want in zip(given, wanted, strict=True))


def _shapes(inputs: Mapping[str, Any]) -> dict[str, Shape | None]:
    """By input, batch dimension first; None where the rank is unknown or there is none."""
    found: dict[str, Shape | None] = {}
    for name, tensor in inputs.items():
        shape = tensor["tensor_shape"]
        dims = tuple(int(dim["size"]) for dim in shape.get("dim") or ())
        found[name] = None if shape.get("unknown_rank") or not dims else dims
    return found


def _written(shape: Shape | None) -> str:
    if shape is None:
        return "of any shape"
    return "[" + ", ".join("?" if side == -1 else str(side) for side in shape) + "]"
