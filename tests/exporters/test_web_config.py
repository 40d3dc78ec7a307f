"""TLS and users as the exporter toolkit's file says, in the real program; and a file that says nonsense."""

from __future__ import annotations

import base64
import http.client
import ssl
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import bcrypt
import pytest

from exporters.access import Access
from exporters.web_config import WebConfigError, load
from tests.exporters.running import Exporter, an_exporter
from tests.needs import need


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    made = [need("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run([*made, "-days", "2", *subject, *files], check=True, capture_output=True)
    return folder


def test_tls_users_and_headers(certificate: Path, tmp_path: Path) -> None:
    config = tmp_path / "web.yml"
    config.write_text(
        f"tls_server_config:\n  cert_file: {certificate}/cert.pem\n  key_file: {certificate}/key.pem\n"
        "  min_version: TLS13\n"
        f"http_server_config:\n  http2: false\n  headers:\n    X-Frame-Options: deny\n"
        f"basic_auth_users:\n  ada: {_hashed('right')}\n"
    )
    with an_exporter("host", "--web.config.file", str(config)) as exporter:
        assert exporter.url.startswith("https://")
        assert _ask(exporter, certificate, "ada", "right") == (200, "deny")
        started = time.monotonic()
        assert [_ask(exporter, certificate, "ada", "right")[0] for _ in range(20)] == [200] * 20
        assert time.monotonic() - started < 3.0  # the slow hash was computed once
        assert _ask(exporter, certificate, "ada", "wrong")[0] == 401
        assert _ask(exporter, certificate, "bob", "right")[0] == 401
        assert _ask(exporter, certificate, None, "")[0] == 401
        plain = http.client.HTTPConnection("127.0.0.1", urlsplit(exporter.url).port or 0, timeout=5)
        plain.request("GET", "/metrics")
        with pytest.raises((http.client.BadStatusLine, ConnectionError)):
            plain.getresponse()
        config.write_text(config.read_text().replace("ada:", "bob:"))
        assert _ask(exporter, certificate, "bob", "right")[0] == 200
        assert _ask(exporter, certificate, "ada", "right")[0] == 401
        config.write_text("basic_auth_users: [")
        assert _ask(exporter, certificate, "bob", "right")[0] == 200


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("basic_auth_user: {}", "has basic_auth_user, which is not supported"),
        ("basic_auth_users: {ada: secret}", "the password of user 'ada' is no bcrypt hash"),
        ("basic_auth_users: [ada]", "is not a list of keys and values"),
        ("tls_server_config: {cert_file: a}", "no key_file"),
        ("tls_server_config: {cert_file: a, key_file: b, client_auth_type: Maybe}", "'Maybe' is none of"),
        ("tls_server_config: {cert_file: a, key_file: b, min_version: TLS10}", "'TLS10' is none of"),
        ("tls_server_config: {cert_file: a, key_file: b, client_auth_type: RequireAnyClientCert}", "client_ca_file"),
        ("http_server_config: {headers: {Server: x}}", "has Server, which is not supported"),
        ("a: [", "is not YAML"),
    ],
)
def test_a_file_that_would_open_a_door_is_refused(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "web.yml"
    file.write_text(content)
    with pytest.raises(WebConfigError, match=said.replace("(", r"\(")):
        load(file)
    done = subprocess.run(
        [sys.executable, "-m", "exporters", "host", "--web.config.file", str(file)],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert (done.returncode, "secret" in done.stderr) == (2, False)
    assert done.stderr.startswith(f"could not use the web configuration {file}: ")


def test_passwords_are_remembered_by_user_and_hash(tmp_path: Path) -> None:
    file = tmp_path / "web.yml"
    file.write_text(f"basic_auth_users: {{ada: {_hashed('a')}, bob: {_hashed('b')}}}")
    access = Access(file)
    users = access.current()[0].users
    for _ in range(2):
        assert access.allows(users, _basic("ada", "a"))
        assert not access.allows(users, _basic("bob", "a"))
        assert not access.allows(users, "Bearer a")
        assert not access.allows(users, "Basic !!!")
    assert not access.allows({"ada": _hashed("new").encode()}, _basic("ada", "a"))


def _ask(exporter: Exporter, certificate: Path, user: str | None, password: str) -> tuple[int, str | None]:
    context = ssl.create_default_context(cafile=str(certificate / "cert.pem"))
    connection = http.client.HTTPSConnection("127.0.0.1", urlsplit(exporter.url).port or 0, timeout=5, context=context)
    connection.request("GET", "/metrics", headers={} if user is None else {"Authorization": _basic(user, password)})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.headers["X-Frame-Options"]


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _hashed(password: str) -> str:
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(6)).decode()
