"""The class of a failed request of somebody's user class, read from errors as clients really wrap them."""

from __future__ import annotations

import json
import subprocess
import sys

CODE = """
import locust, errno, json, socket
import gevent, requests, urllib3
from locust.exception import CatchResponseError
from controller.generator.own_outcome import own_outcome
from exporters.names.loadgen import OUTCOMES

class Answer:
    def __init__(self, status_code, error=None):
        self.status_code, self.error = status_code, error

def wrapped(error):
    retry = urllib3.exceptions.MaxRetryError(None, "/", urllib3.exceptions.NewConnectionError(None, str(error)))
    retry.__cause__ = error
    return requests.ConnectionError(retry)

def grpc(name):
    class Error(Exception):
        def code(self):
            return type("Code", (), {"name": name})
    return Error()

cases = [
    (None, None, "ok"), (None, Answer(503), "ok"), (False, None, "ok"),
    (requests.HTTPError("503"), Answer(503), "http_error"), (CatchResponseError("503"), Answer(503), "http_error"),
    (CatchResponseError("no predictions"), Answer(200), "invalid_response"), ("wrong", Answer(200), "invalid_response"),
    (CatchResponseError("status 0"), Answer(0, requests.ReadTimeout()), "timeout"),
    (CatchResponseError("status 0"), Answer(0, ConnectionResetError(errno.ECONNRESET, "")), "connection_error"),
    (requests.ConnectTimeout(), None, "timeout"), (gevent.Timeout(1), None, "timeout"),
    (socket.timeout(), None, "timeout"), (ConnectionRefusedError(errno.ECONNREFUSED, ""), None, "connection_error"),
    (wrapped(ConnectionRefusedError(errno.ECONNREFUSED, "")), None, "connection_error"),
    (wrapped(OSError(errno.EMFILE, "")), None, "generator_error"),
    (requests.exceptions.ChunkedEncodingError(), None, "connection_error"),
    (requests.exceptions.InvalidURL(), None, "generator_error"), (KeyError("x"), None, "invalid_response"),
    (NameError("x"), None, "generator_error"), (grpc("DEADLINE_EXCEEDED"), None, "timeout"),
    (grpc("UNAVAILABLE"), None, "connection_error"), (grpc("INTERNAL"), None, "http_error"),
]
print(json.dumps([[repr(e), OUTCOMES[own_outcome(e, r)], wanted] for e, r, wanted in cases]))
"""


def test_each_error_ends_in_its_class() -> None:
    output = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True, timeout=60).stdout
    found = json.loads(output.splitlines()[-1])
    assert len(found) > 20
    assert [case for case in found if case[1] != case[2]] == []
