"""Answers REST inference requests: body to tensors, tensors through the model, outputs to body."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from .batch_queue import Done
from .call import Call
from .codes import Code, Failure, invalid
from .pretty import debug_text
from .rest_answers import classify_answer, column_answer, error_answer, regress_answer, row_answer
from .rest_bodies import check_examples_signature, examples, parse_body, signature_name, unzipped
from .routes import Route
from .runner import Runner
from .servables import Servables, Version, signature_of
from .service import Service
from .signature import Signature, Tensors
from .tensor_json import from_inputs, from_instances

Encode = Callable[[Tensors], bytes]


class RestBody(NamedTuple):
    """An inference request as it was read."""

    route: Route
    body: bytes
    gzipped: bool


class _Ready(NamedTuple):
    """A decoded request: what to run on which inputs, and how to write the outputs."""

    version: Version
    signature: Signature
    inputs: Tensors
    encode: Encode


class RestInference:
    """Decodes, runs and encodes predict, classify and regress."""

    def __init__(self, servables: Servables, runner: Runner, service: Service, timeout: float | None) -> None:
        """`timeout` in seconds is the longest a run may take; None for no limit."""
        self._servables = servables
        self._runner = runner
        self._service = service
        self._timeout = timeout

    def begin(self, call: Call) -> None:
        """Take a call with a `RestBody` as its request all the way to its answer."""
        request: RestBody = call.request
        try:
            ready = self._decoded(request)
            call.version = ready.version.number
            call.rows = next((tensor.shape[0] for tensor in ready.inputs.values() if tensor.ndim), 0)
            call.session = time.monotonic()
            done = self._done(call, ready.encode)
            self._runner.run(ready.version, ready.signature, ready.inputs, call.start, self._timeout, done)
        except Failure as failure:
            self.refuse(call, failure, 0.0)
        except RecursionError:
            self.refuse(call, invalid("JSON Parse error: nested too deep for the stand-in at offset: 0"), 0.0)

    def refuse(self, call: Call, failure: Failure, due: float) -> None:
        """Answer with a failure."""
        self._service.settle(call, failure.code, error_answer(failure.message), due)

    def _done(self, call: Call, encode: Encode) -> Done:
        def done(outcome: Tensors | Failure, run: float, asked: float, due: float) -> None:
            call.run, call.asked = run, asked
            if isinstance(outcome, Failure):
                self.refuse(call, outcome, due)
            else:
                self._service.settle(call, Code.OK, encode(outcome), due)

        return done

    def _decoded(self, request: RestBody) -> _Ready:
        content = parse_body(unzipped(request.body) if request.gzipped else request.body)
        name = signature_name(content)
        match request.route.kind:
            case "predict":
                return self._predict(request.route, content, name)
            case "classify":
                return self._examples(request.route, content, name, 2, "classification", classify_answer)
            case _:
                return self._examples(request.route, content, name, 1, "regression", regress_answer)

    def _predict(self, route: Route, content: dict[str, Any], name: str) -> _Ready:
        version = self._servables.find(route.model, route.version, route.label)
        signature = signature_of(version, name)
        if signature is None:
            raise invalid(f'Serving signature name: "{name}" not found in signature def')
        if "instances" in content:
            instances = content["instances"]
            problem = _instances_problem(content, instances)
            if problem:
                raise invalid(f"JSON Value: {debug_text(content)} {problem}")
            return _Ready(version, signature, from_instances(instances, signature), row_answer)
        if "inputs" in content:
            return _Ready(version, signature, from_inputs(content["inputs"], signature), column_answer)
        raise invalid("Missing 'inputs' or 'instances' key")

    def _examples(
        self, route: Route, content: dict[str, Any], name: str, outputs: int, kind: str, encode: Encode
    ) -> _Ready:
        inputs = examples(content)
        version = self._servables.find(route.model, route.version, route.label)
        signature = signature_of(version, name)
        if signature is None:
            raise invalid(f"No signature was found with the name: {name}")
        check_examples_signature(signature, outputs=outputs, name=kind)
        return _Ready(version, signature, inputs, encode)


def _instances_problem(content: dict[str, Any], instances: Any) -> str:
    if "inputs" in content:
        return "Not formatted correctly expecting only one of 'inputs' or 'instances' keys to exist "
    if not isinstance(instances, list):
        return "Expecting 'instances' to be an list/array"
    return "" if instances else "No values in 'instances' array"
