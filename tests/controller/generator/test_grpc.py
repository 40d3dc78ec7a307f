"""gRPC against the stand-in: real workers, real channels, and every way in which a call can end."""

from __future__ import annotations

import itertools
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest

from controller.generator import ledger
from controller.generator.grpc_outcome import outcome_of_call
from controller.generator_spec import GeneratorSpec
from controller.plans.answer_rules import Degraded
from controller.plans.plan import Payloads, Target, Workload
from controller.plans.tls import Tls
from tests.compose.targets.tfserving_standin.running import StandIn, a_stand_in
from tests.controller.generator.drive import Drive
from tests.controller.generator.grpc_server import a_grpc_server, good

Code = grpc.StatusCode


@pytest.mark.parametrize(
    ("code", "details", "outcome"),
    [
        (Code.DEADLINE_EXCEEDED, "Deadline Exceeded", ledger.TIMEOUT),
        (Code.DEADLINE_EXCEEDED, "Stream removed (Deadline Exceeded)", ledger.TIMEOUT),
        (Code.DEADLINE_EXCEEDED, "its own limit", ledger.TIMEOUT),
        (Code.UNAVAILABLE, "The batch scheduling queue to which this task was submitted is full", ledger.HTTP_ERROR),
        (Code.UNAVAILABLE, "", ledger.HTTP_ERROR),
        (Code.UNAVAILABLE, "failed to connect to all addresses; last error: refused", ledger.CONNECTION_ERROR),
        (Code.UNAVAILABLE, "failed to connect; last error: Failed parsing HTTP/2", ledger.INVALID_RESPONSE),
        (Code.UNAVAILABLE, "errors resolving nosuch.invalid:5", ledger.CONNECTION_ERROR),
        (Code.UNAVAILABLE, "Stream removed (Socket closed)", ledger.CONNECTION_ERROR),
        (Code.UNAVAILABLE, "GOAWAY received", ledger.CONNECTION_ERROR),
        (Code.UNAVAILABLE, "Cancelling all calls", ledger.CONNECTION_ERROR),
        (Code.UNAVAILABLE, "max connection age", ledger.CONNECTION_ERROR),
        (Code.RESOURCE_EXHAUSTED, "out of memory", ledger.HTTP_ERROR),
        (Code.RESOURCE_EXHAUSTED, "", ledger.HTTP_ERROR),
        (Code.RESOURCE_EXHAUSTED, "SERVER: Received message larger than max (9 vs. 4)", ledger.HTTP_ERROR),
        (Code.RESOURCE_EXHAUSTED, "CLIENT: Received message larger than max (9 vs. 4)", ledger.GENERATOR_ERROR),
        (Code.RESOURCE_EXHAUSTED, "Received message larger than max (9 vs. 4)", ledger.GENERATOR_ERROR),
        (Code.INVALID_ARGUMENT, "input size does not match", ledger.HTTP_ERROR),
        (Code.UNIMPLEMENTED, "Method not found!", ledger.HTTP_ERROR),
        (Code.INTERNAL, "the model broke", ledger.HTTP_ERROR),
        (Code.INTERNAL, "Received RST_STREAM with error code 2", ledger.INVALID_RESPONSE),
        (Code.UNKNOWN, "Stream removed (Failed parsing HTTP/2 (Frame size ...))", ledger.INVALID_RESPONSE),
        (Code.UNKNOWN, "Exception calling application", ledger.HTTP_ERROR),
        (Code.CANCELLED, "CANCELLED", ledger.HTTP_ERROR),
        (Code.CANCELLED, "Locally cancelled by application!", ledger.GENERATOR_ERROR),
    ],
)
def test_a_call_that_failed_has_one_class(code: Any, details: str, outcome: int) -> None:
    assert outcome_of_call(code, details) == outcome


def a_spec(server: StandIn, *, version: int | None = None, **workload: Any) -> GeneratorSpec:
    """Typed payloads from the model's signature; the server's REST interface is not named."""
    work = Workload(
        **{
            "payloads": Payloads(from_model=True, count=40, rows=2),
            "protocol": "grpc",
            "timeout": timedelta(seconds=2),
            **workload,
        }
    )
    target = Target("tfserving", model="m", grpc=server.grpc, version=version)
    return GeneratorSpec("run-1", "a-plan", target, work, 1)


@pytest.mark.slow
@pytest.mark.parametrize("connections", ["per_user", "shared"])
def test_the_server_and_the_generator_count_the_same(connections: str, tmp_path: Path) -> None:
    with a_stand_in("--port=free") as server:
        spec = a_spec(server, connections=connections, headers=(("X-Team", "a"),))
        with Drive(spec, tmp_path / "locust.log") as drive:
            drive.order(4, measured=True)
            drive.run(1.0)
            drained = drive.drain()
            assert drained.totals["ok"] == drained.started > 50, drained.totals
            received = server.settled()["received"]
            assert received["grpc"]["predict"] == drained.started, received
            assert drive.quit() == 0
        assert drained.told["versions"] == {"1": drained.started}


@pytest.mark.slow
def test_a_server_that_goes_is_a_connection_error_and_one_that_comes_back_is_found_again(tmp_path: Path) -> None:
    with a_stand_in("--port=free") as server:
        spec, port = a_spec(server), server.grpc.rpartition(":")[2]
        with Drive(spec, tmp_path / "locust.log") as drive:
            drive.order(2, measured=True)
            drive.run(0.5)
            server.stop()
            drive.run(1.0)
            with a_stand_in(f"--port={port}"):
                drive.run(2.5)
                drained = drive.drain()
        assert set(drained.totals.values()) > {0}
        assert drained.started == sum(drained.totals.values())
        lost = drained.totals["connection_error"]
        assert 0 < lost < 100, drained.totals  # it does not burn CPU while nobody listens
        ended = [sum(sum(cell.counts.values()) for cell in i.cells if cell.outcome == "ok") for i in drive.intervals()]
        assert ended[-1] + ended[-2] > 0


@pytest.mark.slow
def test_deadlines_and_limits_on_messages_have_their_classes(tmp_path: Path) -> None:
    with a_stand_in("--port=free", "--latency=constant:0.3") as server:
        with Drive(a_spec(server, timeout=timedelta(milliseconds=100)), tmp_path / "locust.log") as drive:
            drive.order(2)
            drive.run(0.6)
            totals = drive.drain().totals
        assert totals["timeout"] > 0
        assert totals["timeout"] == sum(totals.values()), totals
        with Drive(a_spec(server, max_answer=10), tmp_path / "locust.log") as drive:
            drive.order(1)
            drive.run(1.0)
            totals = drive.drain().totals
        assert totals["generator_error"] > 0
        assert totals["generator_error"] == sum(totals.values()), totals


@pytest.mark.slow
def test_over_tls_connections_that_the_server_ends_in_peace_are_made_anew_and_metadata_marks_a_fallback(
    tmp_path: Path, pems: Path
) -> None:
    turns = itertools.count()

    def predict(request: bytes, call: Any) -> bytes:
        if next(turns) % 4 == 0:
            call.set_trailing_metadata((("x-fallback", "cache"),))
        return good(request, call)

    credentials = grpc.ssl_server_credentials([((pems / "key.pem").read_bytes(), (pems / "cert.pem").read_bytes())])
    ages = [("grpc.max_connection_age_ms", 300), ("grpc.max_connection_age_grace_ms", 2000)]  # then comes GOAWAY
    with a_grpc_server(predict, credentials=credentials, options=ages) as served:
        target = Target(
            "tfserving", grpc=f"grpcs://localhost:{served.port}", model="m", tls=Tls(ca_file=pems / "cert.pem")
        )
        work = Workload(
            Payloads(random_shape=(4,), count=20),
            protocol="grpc",
            timeout=timedelta(seconds=3),
            think_time=(timedelta(milliseconds=5), timedelta(milliseconds=15)),
            degraded=Degraded(header="X-Fallback", value="cache"),
        )
        with Drive(GeneratorSpec("run-1", "a-plan", target, work, 1), tmp_path / "locust.log") as drive:
            drive.order(3, measured=True)
            drive.run(2.0)
            drained = drive.drain()
        assert len(served.peers) > 3  # users came back over new connections
        good_ones = drained.totals["ok"] + drained.totals["degraded"]
        assert good_ones == drained.started == len(served.seen) > 20, drained
        assert drained.totals["degraded"] == pytest.approx(drained.started / 4, abs=1)
        assert drained.told["versions"] == {"3": drained.started}
