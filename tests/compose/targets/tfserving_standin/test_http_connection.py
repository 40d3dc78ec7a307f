"""What clients do on the wire, and that the stand-in survives it with its counts right."""

from __future__ import annotations

import socket
import struct
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from .running import BODY, PREDICT, StandIn, a_stand_in

Answered = Counter[tuple[str, int]]


@pytest.fixture(scope="module")
def server() -> Iterator[StandIn]:
    with a_stand_in("--max_body_bytes", "10000") as running:
        yield running


@pytest.fixture
def stand_in(server: StandIn) -> StandIn:
    server.script({})
    return server


@pytest.fixture
def before(stand_in: StandIn) -> Answered:
    return totals(stand_in)


def a_post(*headers: str, version: str = "1.1", body: str = BODY) -> bytes:
    lines = [f"POST {PREDICT} HTTP/{version}", "Host: x", f"Content-Length: {len(body)}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def totals(stand_in: StandIn) -> Answered:
    counts = stand_in.counts()
    assert counts["in_flight"] == 0
    return Counter({(entry["kind"], entry["status"]): entry["count"] for entry in counts["answered"]})


def answered(stand_in: StandIn, before: Answered) -> dict[tuple[str, int], int]:
    return dict(totals(stand_in) - before)


def test_old_and_closing_clients_are_parted_with_after_their_answer(stand_in: StandIn, before: Answered) -> None:
    for request in (a_post(version="1.0"), a_post("Connection: close")):
        answer = stand_in.raw(request)
        assert answer.count(b" 200 OK") == 1
        assert b"Connection: close" in answer
    kept = stand_in.raw(a_post("Connection: keep-alive", version="1.0"), until=b"]\n}")
    assert kept.startswith(b"HTTP/1.0 200 OK")
    assert b"Connection: keep-alive" in kept
    assert answered(stand_in, before) == {("predict", 200): 3}


def test_pipelined_requests_are_answered_in_order_also_when_answers_wait(stand_in: StandIn, before: Answered) -> None:
    stand_in.script({"latency": {"kind": "constant", "value": "5ms"}})
    wrong = a_post(body="{}")
    answer = stand_in.raw((a_post() + wrong) * 20 + a_post("Connection: close"))
    statuses = [int(part[:3]) for part in answer.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [200, 400] * 20 + [200]
    assert answered(stand_in, before) == {("predict", 200): 21, ("predict", 400): 20}


def test_chunks_and_continue_and_byte_by_byte(stand_in: StandIn, before: Answered) -> None:
    half = len(BODY) // 2
    chunks = f"{half:x}\r\n{BODY[:half]}\r\n{len(BODY) - half:x}\r\n{BODY[half:]}\r\n0\r\n\r\n"
    head = f"POST {PREDICT} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert b" 200 OK" in stand_in.raw((head + chunks).encode())
    patient = stand_in.raw(a_post("Expect: 100-continue", "Connection: close"))
    assert patient.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")
    with socket.create_connection((stand_in.host, stand_in.port), timeout=5) as slow:
        for byte in a_post("Connection: close"):
            slow.send(bytes([byte]))
        assert b" 200 OK" in slow.recv(65536)
    assert answered(stand_in, before) == {("predict", 200): 3}


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"\x00\xff rubbish\r\n\r\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (b"GET /v1/models/m HTTP/1.1\r\nX: " + b"a" * 70000 + b"\r\n\r\n", 400),
        (b"POST " + PREDICT.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 10001\r\n\r\n", 413),
        (b"POST " + PREDICT.encode() + b" HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2711\r\n" + b" " * 10001, 413),
    ],
)
def test_what_is_no_request_or_too_large_is_refused_and_not_counted(
    stand_in: StandIn, before: Answered, request_bytes: bytes, status: int
) -> None:
    answer = stand_in.raw(request_bytes)
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert answered(stand_in, before) == {}
    assert stand_in.predict().status == 200


def test_an_upgrade_is_answered_as_a_plain_request(stand_in: StandIn, before: Answered) -> None:
    upgrade = b"Host: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    answer = stand_in.raw(b"GET /v1/models/m HTTP/1.1\r\n" + upgrade)
    assert answer.count(b"HTTP/1.1 200 OK") == 1
    assert stand_in.raw(a_post("Connection: Upgrade", "Upgrade: h2c")).startswith(b"HTTP/1.1 400 ")
    assert answered(stand_in, before) == {("status", 200): 1}


def test_head_gets_no_body(stand_in: StandIn) -> None:
    answer = stand_in.raw(b"HEAD /v1/models/m HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.endswith(b"\r\n\r\n")


def test_clients_that_leave_are_counted_as_what_they_were(stand_in: StandIn, before: Answered) -> None:
    earlier = stand_in.counts()
    stand_in.script({"latency": {"kind": "constant", "value": "200ms"}})
    for request in (a_post()[:-5], a_post()):
        client = socket.create_connection((stand_in.host, stand_in.port))
        client.sendall(request)
        time.sleep(0.05)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
    counts = stand_in.settled()
    assert counts["interrupted"] == earlier["interrupted"] + 1, "one left before its request was complete"
    assert counts["undelivered"] == earlier["undelivered"] + 1, "the other before its answer"
    assert answered(stand_in, before) == {("predict", 200): 1}
    assert stand_in.predict().status == 200
