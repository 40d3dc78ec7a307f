"""The connection against servers that do what servers do; gevent's sockets work without patching this process."""

from __future__ import annotations

import socket
import time

import pytest

from controller.generator.answer import Answer, BadAnswerError, ConnectionLostError
from controller.generator.connection import Connection
from controller.generator.route import Route
from tests.controller.generator.target import ANSWERS, GOOD, OUTCOME, Target

REQUEST = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}"


def ask(target: Target, times: int = 1) -> list[tuple[int, bytes]]:
    connection = Connection(Route(socket.AF_INET, ("127.0.0.1", target.port), timeout=5.0))
    answers = []
    try:
        for _ in range(times):
            connection.open(time.perf_counter())
            answer = connection.exchange(REQUEST)
            answers.append((answer.status, answer.body))
    finally:
        connection.close()
    return answers


@pytest.mark.parametrize("behaviour", [name for name, outcome in OUTCOME.items() if outcome == "ok"])
def test_an_answer_is_read_whole_however_it_is_framed(behaviour: str) -> None:
    target = Target(behaviours=(behaviour,))
    assert ask(target, 3) == [(200, GOOD)] * 3
    assert target.seen == {behaviour: 3}


@pytest.mark.parametrize("behaviour", ["ok", "chunked", "closing", "until_closed", "interim"])
def test_an_answer_may_arrive_byte_by_byte(behaviour: str) -> None:
    answer = Answer()
    for byte in ANSWERS[behaviour]:
        assert not answer.complete
        answer.feed(bytes([byte]))
    if behaviour == "until_closed":
        answer.end()
    assert (answer.complete, answer.status, answer.body) == (True, 200, GOOD)
    assert answer.keep_alive == (behaviour not in ("closing", "until_closed"))


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [("cut", ConnectionLostError), ("hang_up", ConnectionLostError), ("garbage", BadAnswerError)],
)
def test_an_answer_that_is_none_is_an_error(behaviour: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        ask(Target(behaviours=(behaviour,)))


def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    target = Target(behaviours=("redirect",))
    assert [status for status, _ in ask(target)] == [302]
    assert target.count == 1


def test_bytes_after_the_answer_end_the_connection_but_not_the_answer() -> None:
    for rest in (ANSWERS["ok"], b"rubbish"):
        answer = Answer()
        answer.feed(ANSWERS["ok"] + rest)
        assert (answer.complete, answer.body, answer.keep_alive) == (True, GOOD, False)


def test_an_endless_answer_is_given_up() -> None:
    answer = Answer(most=1000)
    answer.feed(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1000)
    with pytest.raises(BadAnswerError, match="larger than"):
        answer.feed(b"x")


def test_a_connection_that_the_server_closed_while_it_was_idle_is_made_anew() -> None:
    target = Target()
    connection = Connection(Route(socket.AF_INET, ("127.0.0.1", target.port), timeout=5.0))
    connection.open(time.perf_counter())
    assert connection.exchange(REQUEST).status == 200
    for open_one in list(target._connections):
        open_one.shutdown(socket.SHUT_RDWR)
    time.sleep(0.05)
    connection.open(time.perf_counter())
    assert connection.exchange(REQUEST).status == 200
    connection.close()
    assert target.count == 2


def test_nobody_listens() -> None:
    target = Target()
    target.stop()
    with pytest.raises(ConnectionRefusedError):
        ask(target)
