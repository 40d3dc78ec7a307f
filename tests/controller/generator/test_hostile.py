"""Every request to a server that misbehaves ends in exactly one class, and in time; nothing stays behind."""

from __future__ import annotations

import itertools
import json
import socket
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest

from controller.generator import ledger
from controller.generator.connection import Connection
from controller.generator.route import Route
from controller.generator.sender import Sender
from controller.generator.work import Work
from exporters.names.loadgen import OUTCOMES
from tests.controller.generator.hostile import CASES, OK, Hostile, says
from tests.controller.generator.sending import TIMEOUT, counted
from tests.controller.generator.sending import sending as sending_with

REQUEST = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}"
SLACK = 0.5
"""How much longer than the timeout a request may take on a busy machine, seconds."""


def sending(route: Route, *, retries: int = 0) -> tuple[Sender, Work]:
    """With the lean client."""
    return sending_with(lambda: Connection(route), REQUEST, route.timeout, retries)


@pytest.mark.parametrize("case", CASES)
def test_each_request_ends_in_one_class_and_in_time(case: str) -> None:
    behave, outcome = CASES[case]
    with Hostile(behave) as server:
        sender, work = sending(Route(socket.AF_INET, server.sockaddr, timeout=TIMEOUT, most=1_000_000))
        for _ in range(3):
            began = time.perf_counter()
            sender.send()
            assert time.perf_counter() - began < TIMEOUT + SLACK
        assert counted(work) == {outcome: 3}, work.reasons.counts
        assert (work.ledger.started, work.ledger.ended, server.requests) == (3, 3, 3)
        sender.connection.close()


def test_the_client_of_fast_http_user_ends_in_the_same_classes() -> None:
    cases = ["reset in mid-answer", "silence", "infinite drip", "not HTTP", "100-continue first"]
    with ExitStack() as stack:
        servers = [stack.enter_context(Hostile(CASES[case][0])) for case in cases]
        command = [sys.executable, "-m", "tests.controller.generator.fast_once", *(str(one.port) for one in servers)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    found = json.loads(done.stdout)
    assert [outcomes for outcomes, _ in found] == [{CASES[case][1]: 1} for case in cases]
    assert all(seconds < TIMEOUT + SLACK for _, seconds in found)


def test_connections_are_kept_unless_the_answer_ends_them() -> None:
    with Hostile(says(OK)) as server:
        sender, work = sending(Route(socket.AF_INET, server.sockaddr, timeout=2.0))
        for _ in range(20):
            sender.send()
        assert counted(work) == {"ok": 20}
        assert (server.requests, server.connections) == (20, 1)
        sender.connection.close()


def test_a_kept_connection_that_ended_before_any_byte_is_a_connection_error_that_says_so() -> None:
    with Hostile(says(b"", stay=False)) as server:
        sender, work = sending(Route(socket.AF_INET, server.sockaddr, timeout=2.0))
        sender.send()
        assert counted(work) == {"connection_error": 1}
        assert "before the first byte" in next(iter(work.reasons.counts))


def test_retries_are_off_unless_asked_for_and_then_counted_inside_the_latency() -> None:
    turns = itertools.cycle([says(b"", stay=False), says(OK)])

    def every_other(connection: socket.socket) -> None:
        next(turns)(connection)

    with Hostile(every_other) as server:
        sender, work = sending(Route(socket.AF_INET, server.sockaddr, timeout=2.0), retries=2)
        for _ in range(3):
            sender.send()
        assert counted(work) == {"ok": 3}
        assert (server.requests, work.ledger.started, work.reasons.retries) == (6, 3, 3)
        sender.connection.close()


def test_a_server_that_does_not_accept_is_a_timeout_or_earlier_a_connection_error() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(3)]
        try:
            for one in waiting:
                one.setblocking(False)
                one.connect_ex(full.getsockname())
            time.sleep(0.05)
            for connect, outcome in ((None, "timeout"), (0.2, "connection_error")):
                sender, work = sending(Route(socket.AF_INET, full.getsockname(), timeout=TIMEOUT, connect=connect))
                began = time.perf_counter()
                sender.send()
                assert time.perf_counter() - began < TIMEOUT + SLACK
                assert counted(work) == {outcome: 1}, work.reasons.counts
        finally:
            for one in waiting:
                one.close()


def test_a_request_larger_than_the_socket_holds_is_sent_whole() -> None:
    body = b"z" * 6_000_000
    with Hostile(says(OK)) as server:
        connection = Connection(Route(socket.AF_INET, server.sockaddr, timeout=20.0))
        connection.open(time.perf_counter())
        assert connection.exchange(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)).status == 200
        connection.close()


def test_unix_sockets_and_ipv6_are_spoken(tmp_path: object) -> None:
    path = f"{tmp_path}/model.sock"
    for family, address in ((socket.AF_UNIX, path), (socket.AF_INET6, ("::1", 0))):
        with Hostile(says(OK), family, address) as server:
            sender, work = sending(Route(family, server.sockaddr, timeout=2.0))
            for _ in range(2):
                sender.send()
            assert counted(work) == {"ok": 2}, work.reasons.counts
            sender.connection.close()


def test_outcomes_of_this_file_are_real() -> None:
    assert {outcome for _, outcome in CASES.values()} <= set(OUTCOMES)
    assert OUTCOMES.index("ok") == ledger.OK
