"""Heads and error pages of HTTP answers, as libevent inside the real server writes them."""

from __future__ import annotations

from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus

SERVER = "Stagelight TF Serving stand-in"
HTML = b"text/html"
NO_TYPE = b"text/html; charset=ISO-8859-1"
CORS = (
    b"Access-Control-Allow-Origin: *\r\n"
    b"Access-Control-Allow-Methods: POST, GET\r\n"
    b"Access-Control-Allow-Headers: Content-Type\r\n"
)


def phrase(status: int) -> str:
    """The words after a status number."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Client Closed Request" if status == 499 else "Unknown"


@lru_cache(maxsize=64)
def error_page(status: int) -> bytes:
    """The HTML page of an error outside the API."""
    words = phrase(status)
    return (f"<HTML><HEAD>\n<TITLE>{status} {words}</TITLE>\n</HEAD><BODY>\n<H1>{words}</H1>\n</BODY></HTML>\n").encode(
        "ascii"
    )


@lru_cache(maxsize=256)
def _start(status: int, content_type: bytes, old: bool, stays: bool, cors: bool, second: int) -> bytes:
    """Everything of a head up to the number of bytes; the same for all answers of a kind within a second."""
    lines = [f"HTTP/1.{0 if old else 1} {status} {phrase(status)}", f"Content-Type: {content_type.decode('ascii')}"]
    if old and stays:
        lines.append("Connection: keep-alive")
    if not stays:
        lines.append("Connection: close")
    lines += [f"Date: {formatdate(second, usegmt=True)}", f"Server: {SERVER}"]
    return "\r\n".join(lines).encode("ascii") + b"\r\n" + (CORS if cors else b"") + b"Content-Length: "


def head(status: int, content_type: bytes, length: int, *, old: bool, stays: bool, cors: bool, second: int) -> bytes:
    """An answer's head: `old` for HTTP/1.0, `stays` if the connection does, `second` of the epoch for the date."""
    return b"%b%d\r\n\r\n" % (_start(status, content_type, old, stays, cors, second), length)
