"""TLS as the plan wants it: verified unless told otherwise, with our certificate where one is asked for."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.edges.target_call import Caller, NoAnswerError
from controller.generator.answer import Answer
from controller.generator.connection import Connection
from controller.generator.failures import outcome_of
from controller.generator.ledger import CONNECTION_ERROR, TIMEOUT
from controller.generator.route import Route, tls_context
from controller.plans.plan import Target
from controller.plans.tls import Tls
from tests.controller.generator.hostile import OK, Hostile, says

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def server(pems: Path, request: pytest.FixtureRequest) -> Iterator[Hostile]:
    """Over TLS; asks for a client's certificate if the test is marked so."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pems / "cert.pem", pems / "key.pem")
    if getattr(request, "param", False):
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(pems / "cert.pem")
    with Hostile(says(OK), tls=context) as listening:
        yield listening


def ask(server: Hostile, tls: Tls, times: int = 1, name: str = "localhost") -> Answer:
    """The last of so many answers over one connection."""
    route = Route(socket.AF_INET, server.sockaddr, timeout=3.0, tls=tls_context(tls), name=name)
    connection = Connection(route)
    try:
        for _ in range(times):
            connection.open(time.perf_counter())
            answer = connection.exchange(REQUEST)
    finally:
        connection.close()
    return answer


def test_a_known_authority_is_trusted_and_the_connection_is_kept(server: Hostile, pems: Path) -> None:
    answer = ask(server, Tls(ca_file=pems / "cert.pem"), times=5)
    assert (answer.status, answer.body) == (200, b"ok")
    assert (server.requests, server.connections) == (5, 1)


def test_an_unknown_authority_and_a_wrong_name_are_connection_errors(server: Hostile, pems: Path) -> None:
    for tls, name in ((Tls(), "localhost"), (Tls(ca_file=pems / "cert.pem"), "example.org")):
        with pytest.raises(ssl.SSLError) as caught:
            ask(server, tls, name=name)
        assert outcome_of(caught.value) == CONNECTION_ERROR
    assert server.requests == 0


def test_verification_can_be_switched_off(server: Hostile) -> None:
    assert ask(server, Tls(verify=False), name="example.org").status == 200


@pytest.mark.parametrize("server", [True], indirect=True)
def test_our_certificate_is_shown_where_it_is_asked_for(server: Hostile, pems: Path) -> None:
    ours = Tls(ca_file=pems / "cert.pem", client_cert=pems / "cert.pem", client_key=pems / "key.pem")
    assert ask(server, ours).status == 200
    with pytest.raises(OSError) as caught:  # noqa: PT011 - the class of the error is what is tested
        ask(server, Tls(ca_file=pems / "cert.pem"))
    assert outcome_of(caught.value) == CONNECTION_ERROR


def test_plain_text_where_tls_is_wanted_never_hangs() -> None:
    plain = says(b"HTTP/1.1 400 Bad Request\r\n\r\n\r\n\r\n", stay=False)
    with Hostile(plain) as server, pytest.raises(OSError) as caught:  # noqa: PT011 - as above
        ask(server, Tls(verify=False))
    assert outcome_of(caught.value) in (CONNECTION_ERROR, TIMEOUT)


def test_preflight_speaks_the_same_tls(server: Hostile, pems: Path) -> None:
    url = f"https://localhost:{server.port}"
    target = Target("http", url, tls=Tls(ca_file=pems / "cert.pem"))
    with Caller({}, target) as caller:
        assert caller.get(url).status == 200
    with Caller({}) as caller, pytest.raises(NoAnswerError):
        caller.get(url)


def test_preflight_speaks_over_a_unix_socket(tmp_path: Path) -> None:
    path = f"{tmp_path}/m.sock"
    with Hostile(says(OK), socket.AF_UNIX, path) as server, Caller({}, Target("http", f"unix://{path}")) as caller:
        assert [caller.get("http://localhost/x").status for _ in range(2)] == [200, 200]
        assert server.connections == 1
