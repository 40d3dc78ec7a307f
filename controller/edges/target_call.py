"""One HTTP call to a target: an answer with its time, or a sentence that says what to do."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType

import requests
from urllib3.exceptions import HTTPError, ReadTimeoutError

from controller.edges.http_cause import cause, root
from controller.edges.unix_http import UnixAdapter
from controller.plans.plan import Target

CONNECT_SECONDS = 2.0
ANSWER_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; `seconds` from sending to the end of the answer."""

    status: int
    content: bytes
    headers: Mapping[str, str]
    seconds: float


class NoAnswerError(Exception):
    """The target did not answer; the sentence says why and what to do. `silent`: it is there, but too slow."""

    def __init__(self, sentence: str, *, silent: bool = False) -> None:
        """A sentence without its subject's address repeated."""
        super().__init__(sentence)
        self.silent = silent


class Caller:
    """Calls over kept connections, as the generator makes them; no proxy, no redirects."""

    def __init__(self, headers: Mapping[str, str], target: Target | None = None) -> None:
        """`headers` go with every call; over TLS or a Unix socket as the target says."""
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers.update(headers)
        if target is not None and (target.rest or "").startswith("unix://"):
            self._session.mount("http://", UnixAdapter((target.rest or "").removeprefix("unix://")))
        if target is not None and target.tls is not None:
            tls = target.tls
            self._session.verify = tls.verify if tls.ca_file is None or not tls.verify else str(tls.ca_file)
            if tls.client_cert is not None:
                cert = str(tls.client_cert)
                self._session.cert = cert if tls.client_key is None else (cert, str(tls.client_key))

    def get(self, url: str, seconds: float = 5.0) -> Answer:
        """Raises `NoAnswerError`."""
        return self._call("GET", url, None, seconds)

    def send(self, method: str, url: str, body: bytes, headers: Mapping[str, str], seconds: float) -> Answer:
        """Raises `NoAnswerError`."""
        return self._call(method, url, body or None, seconds, headers)

    def __enter__(self) -> Caller:
        """For `with`."""
        return self

    def __exit__(self, _type: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None) -> None:
        """Close every connection."""
        self._session.close()

    def _call(
        self, method: str, url: str, body: bytes | None, seconds: float, more: Mapping[str, str] | None = None
    ) -> Answer:
        headers = ({"Content-Type": "application/json"} if body is not None else {}) | dict(more or {})
        headers = {name: value for name, value in headers.items() if name not in self._session.headers}
        begun = time.perf_counter()
        limits = (CONNECT_SECONDS, seconds)
        try:
            with self._session.request(
                method, url, data=body, headers=headers, timeout=limits, allow_redirects=False, stream=True
            ) as answer:
                content = _whole(answer, url, begun + CONNECT_SECONDS + seconds)
        except requests.ConnectTimeout as error:
            why = f"no connection to {url} within {CONNECT_SECONDS:g} s: start the server or change target.rest"
            raise NoAnswerError(why) from error
        except (requests.Timeout, ReadTimeoutError) as error:
            raise NoAnswerError(f"no answer from {url} within {seconds:g} s", silent=True) from error
        except (requests.RequestException, HTTPError) as error:
            raise NoAnswerError(_why(url, error)) from error
        return Answer(answer.status_code, content, answer.headers, time.perf_counter() - begun)


def _whole(answer: requests.Response, url: str, until: float) -> bytes:
    """The body, however slowly it drips and however long it is: both have an end here."""
    content = bytearray()
    while piece := answer.raw.read1(65536, decode_content=True):
        content += piece
        if time.perf_counter() > until:
            raise NoAnswerError(f"the answer from {url} did not end in time", silent=True)
        if len(content) > ANSWER_BYTES:
            raise NoAnswerError(f"the answer from {url} has more than {ANSWER_BYTES // 2**20} MiB")
    return bytes(content)


def _why(url: str, error: Exception) -> str:
    if isinstance(root(error), ConnectionRefusedError):
        return f"connection refused at {url}: start the server or change target.rest"
    return f"no usable answer from {url} ({cause(error)}): is a server of the target's kind there?"
