"""Which answer does each request have to get? Read once, before load, when the plan has a file of known answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from controller.generator.http_request import SpecError
from controller.generator_spec import GeneratorSpec
from controller.plans.payloads import order_of, size_of


def known_answers(spec: GeneratorSpec, part: int, built: Sequence[Any]) -> Mapping[Any, Any] | None:
    """Requests of worker `part` to what they have to be answered with; None when nothing is expected.

    Raises `SpecError` when the file does not have an answer for each payload.
    """
    expected = spec.workload.expected
    if expected is None:
        return None
    try:
        with expected.file.open("rb") as lines:
            answers = [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError, RecursionError) as error:
        raise SpecError(f"could not read the known answers in {expected.file}: {error}") from error
    pool = size_of(spec.workload.payloads)
    if len(answers) != pool:
        raise SpecError(f"could not use the known answers: {expected.file} has {len(answers)} for {pool} payloads")
    order = order_of(spec.workload.payloads)
    mine = order[part :: spec.workers] or [order[part % len(order)]]
    if len(built) != len(mine):
        fit = f"only {len(built)} of {len(mine)} requests fit into memory"
        raise SpecError(f"could not use the known answers: {fit}; shorten the pool")
    found: dict[Any, Any] = {}
    for request, index in zip(built, mine, strict=True):
        if request in found and found[request] != answers[index]:
            raise SpecError(f"could not use the known answers: payload {index + 1} stands twice and has two answers")
        found[request] = answers[index]
    return found
