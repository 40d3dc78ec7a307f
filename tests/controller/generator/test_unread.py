"""An answer that lies here unread: the target's time ends when it arrived, whatever our own loop does meanwhile."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import gevent
import pytest

from controller.generator.connection import Connection
from controller.generator.route import Route
from controller.generator.sender import Sent
from tests.controller.generator.hostile import OK, Hostile, says
from tests.controller.generator.sending import sending

REQUEST = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}"
BLOCKED = 0.4

needs_stamps = pytest.mark.skipif(sys.platform != "linux", reason="only Linux stamps what arrives")


def told(server: Hostile) -> tuple[float, float]:
    """Seconds that are reported for a request on a kept connection, and those that passed until it was counted. The
    loop is blocked for `BLOCKED` seconds right after it left."""
    sender, work = sending(lambda: Connection(Route(server.family, server.sockaddr, timeout=5.0)), REQUEST, 5.0)
    assert sender.send() is Sent.ENDED  # the kernel begins to stamp a moment after it was first asked to
    gevent.sleep(0.1)
    work.ledger.take()
    gevent.get_hub().loop.run_callback(time.sleep, BLOCKED)
    began = time.perf_counter()
    assert sender.send() is Sent.ENDED
    passed = time.perf_counter() - began
    sender.connection.end()
    ((_, _, outcome, _, us),) = work.ledger.take()
    assert outcome == "ok"
    return us / 1e6, passed


def after(seconds: float, data: bytes) -> Callable[[socket.socket], None]:
    """An answer in two halves."""

    def behave(connection: socket.socket) -> None:
        connection.sendall(data[: len(data) // 2])
        time.sleep(seconds)
        connection.sendall(data[len(data) // 2 :])

    return behave


@needs_stamps
def test_what_the_loop_did_while_the_answer_lay_here_is_not_in_its_time() -> None:
    with Hostile(says(OK)) as server:
        reported, passed = told(server)
    assert passed > BLOCKED
    assert reported < BLOCKED / 2


@needs_stamps
def test_the_answers_end_counts_not_its_beginning() -> None:
    with Hostile(after(0.1, OK)) as server:
        reported, passed = told(server)
    assert passed > BLOCKED
    assert 0.09 < reported < 0.1 + BLOCKED / 2


def test_an_answer_that_comes_after_the_loop_was_blocked_has_its_whole_time() -> None:
    with Hostile(after(BLOCKED + 0.1, OK)) as server:
        reported, passed = told(server)
    assert BLOCKED + 0.05 < reported <= passed


def test_where_nothing_is_stamped_the_time_runs_until_the_answer_is_read(tmp_path: Path) -> None:
    with Hostile(says(OK), socket.AF_UNIX, str(tmp_path / "s")) as server:
        reported, passed = told(server)
    assert BLOCKED < reported <= passed
