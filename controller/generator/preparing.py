"""Before load: requests built, the target's name resolved, the client chosen, the check of answers made."""

from __future__ import annotations

import itertools
import json
import random
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from controller.generator.answer import BadAnswerError
from controller.generator.answers import AnswerCheck
from controller.generator.client import Client
from controller.generator.connection import Connection, RecordedConnection
from controller.generator.deadlines import Deadlines
from controller.generator.fast_client import FastConnection
from controller.generator.http_request import (
    SpecError,
    address,
    fast_requests,
    path,
    recorded_requests,
    requests,
    required_fields,
)
from controller.generator.known_answers import known_answers
from controller.generator.lease import Gate
from controller.generator.ledger import Ledger
from controller.generator.reasons import Reasons
from controller.generator.recording import Recording, kept
from controller.generator.resolve import resolve
from controller.generator.route import Route, tls_context
from controller.generator.work import Check, Work
from controller.generator_spec import GeneratorSpec
from controller.plans.model_inputs import ModelInput, model_inputs
from controller.plans.payloads import groups_of

METADATA_SECONDS = 10.0
"""How long the model may take to say what it takes."""


def prepare(spec: GeneratorSpec, part: int) -> Work:
    """Everything that worker `part` needs to send. Raises `SpecError` and `PayloadError`."""
    workload = spec.workload
    recording = kept(recorded_requests(spec)) if spec.replays else None
    endless, client, check = _sending(spec, part) if recording is None else _replaying(spec, part, recording)
    reasons = Reasons(getattr(check, "versions", None))
    return Work(
        requests=endless,
        client=client,
        timeout=workload.timeout.total_seconds(),
        think=(workload.think_time[0].total_seconds(), workload.think_time[1].total_seconds()),
        check=check,
        gate=Gate(),
        ledger=Ledger(),
        reasons=reasons,
        random=random.Random(f"{workload.payloads.seed}/{part}"),  # noqa: S311 - repeatable think times, no secret
        pacing=workload.pacing.total_seconds() if workload.pacing else 0.0,
        retries=workload.retries,
        recording=recording,
    )


Sending = tuple[Iterator[Any], Callable[[], Client], Check]
"""Endless requests, what makes clients, and what judges answers."""


def _sending(spec: GeneratorSpec, part: int) -> Sending:
    if spec.workload.protocol == "grpc":
        from controller.generator.grpc_preparing import sending  # takes 20 MB that only these runs need

        built, client, check = sending(spec, part)
        return itertools.cycle(built), client, check
    route = _route(spec)
    inputs = _inputs(spec, route)
    if spec.workload.client == "fast":
        parts = fast_requests(spec, part, inputs)
        return itertools.cycle(parts), lambda: FastConnection(route), _check(spec, part, parts)
    whole = requests(spec, part, inputs)
    return itertools.cycle(whole), lambda: Connection(route), _check(spec, part, whole)


def _replaying(spec: GeneratorSpec, part: int, recording: Recording) -> Sending:
    """Stages that are no replay take the recorded requests as a pool, from where the replay keeps them."""
    route = _route(spec)
    order = groups_of(len(recording), spec.workload.payloads).ravel()
    mine = (order[part :: spec.workers] if part < len(order) else order).astype("uint32")
    return recording.endless(array("I", mine.tobytes())), lambda: RecordedConnection(route), _check(spec, part, ())


def _route(spec: GeneratorSpec) -> Route:
    workload, where = spec.workload, address(spec.target)
    family, sockaddr = resolve(where)
    connect = workload.connect_timeout
    try:
        tls = tls_context(spec.target.tls) if where.secure else None
    except OSError as error:
        raise SpecError(f"could not use the certificates of target.tls: {error}") from error
    return Route(
        family,
        sockaddr,
        timeout=workload.timeout.total_seconds(),
        connect=None if connect is None else connect.total_seconds(),
        most=workload.max_answer,
        tls=tls,
        name=where.host,
        bodiless=workload.method == "HEAD",
    )


def _check(spec: GeneratorSpec, part: int, built: Sequence[Any]) -> AnswerCheck:
    workload = spec.workload
    return AnswerCheck(
        required_fields(spec.target, workload),
        status=workload.status,
        allow_nan=workload.allow_nan,
        degraded=workload.degraded,
        expected=known_answers(spec, part, built),
        tolerance=workload.expected.tolerance if workload.expected else 0.0,
    )


def _inputs(spec: GeneratorSpec, route: Route) -> Sequence[ModelInput]:
    """What the model takes, asked of itself, where payloads are made from that."""
    target, workload = spec.target, spec.workload
    if not workload.payloads.from_model:
        return ()
    where = path(target, workload).removesuffix(":predict") + "/metadata"
    connection = Connection(replace(route, timeout=METADATA_SECONDS, connect=None, deadlines=Deadlines()))
    try:
        connection.open(time.perf_counter())
        answer = connection.exchange(f"GET {where} HTTP/1.1\r\nHost: {address(target).authority}\r\n\r\n".encode())
        return model_inputs(json.loads(answer.body), workload.signature)
    except (OSError, BadAnswerError, ValueError) as error:
        raise SpecError(f"could not read the model's metadata at {target.rest}{where}: {error}") from error
    finally:
        connection.close()
