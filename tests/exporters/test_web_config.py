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
import yaml

from exporters.access import Access
from exporters.ciphers import CIPHERS
from exporters.rate_limit import Bucket, RateLimit
from exporters.tls_config import TlsConfig
from exporters.web_config import WebConfigError
from tests.exporters.running import Exporter, an_exporter
from tests.needs import need


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    for prefix, name in (("", "IP:127.0.0.1"), ("known-", "DNS:prometheus,IP:::1"), ("other-", "DNS:other")):
        subject = ["-subj", "/CN=localhost", "-addext", f"subjectAltName={name}"]
        files = ["-keyout", str(folder / f"{prefix}key.pem"), "-out", str(folder / f"{prefix}cert.pem")]
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


def test_certificates_in_the_file_named_clients_chosen_ciphers_and_a_rate(certificate: Path, tmp_path: Path) -> None:
    def content(name: str) -> str:
        return (certificate / name).read_text()

    tls = {
        "cert": content("cert.pem"),
        "key": content("key.pem"),
        "client_ca": content("known-cert.pem") + content("other-cert.pem"),
        "client_auth_type": "RequireAndVerifyClientCert",
        "client_allowed_sans": ["prometheus"],
        "max_version": "TLS12",
        "cipher_suites": ["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA"],
        "prefer_server_cipher_suites": True,
        "curve_preferences": ["CurveP256"],
    }
    config = tmp_path / "web.yml"
    config.write_text(yaml.safe_dump({"tls_server_config": tls, "rate_limit": {"interval": "1h", "burst": 2}}))
    with an_exporter("host", "--web.config.file", str(config)) as exporter:
        assert _as_client(exporter, certificate, "known-") == (200, "ECDHE-ECDSA-CHACHA20-POLY1305", "TLSv1.2")
        for unwelcome in ("other-", None):
            with pytest.raises((ssl.SSLError, ConnectionError, http.client.BadStatusLine)):
                _as_client(exporter, certificate, unwelcome)
        with pytest.raises((ssl.SSLError, ConnectionError)):
            _as_client(exporter, certificate, "known-", "ECDHE-ECDSA-AES128-GCM-SHA256")
        assert _as_client(exporter, certificate, "known-", "ECDHE-ECDSA-AES256-SHA")[:2] == (
            200,
            "ECDHE-ECDSA-AES256-SHA",
        )
        assert _as_client(exporter, certificate, "known-")[0] == 429
        config.write_text(yaml.safe_dump({"tls_server_config": tls | {"client_allowed_sans": ["::1"]}}))
        assert _as_client(exporter, certificate, "known-")[0] == 200


def test_a_bucket_fills_with_time_and_no_further_than_its_burst() -> None:
    bucket = Bucket(RateLimit(interval=0.5, burst=2), now=10.0)
    asked = (10.0, 10.0, 10.0, 10.4, 10.6, 10.6, 100.0, 100.0, 100.0)
    assert [bucket.admits(now) for now in asked] == [True, True, False, False, True, False, True, True, False]


def test_suites_of_tls_1_3_alone_leave_nothing_older(certificate: Path) -> None:
    alone = TlsConfig(certificate / "cert.pem", certificate / "key.pem", ciphers=("TLS_AES_128_GCM_SHA256",))
    assert alone.context().minimum_version == ssl.TLSVersion.TLSv1_3


@pytest.mark.parametrize("name", sorted(CIPHERS))
def test_openssl_knows_every_cipher_of_the_toolkit(certificate: Path, name: str) -> None:
    context = TlsConfig(certificate / "cert.pem", certificate / "key.pem", ciphers=(name,)).context()
    assert CIPHERS[name] in {cipher["name"] for cipher in context.get_ciphers()}


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
        ("tls_server_config: {cert: a, cert_file: a, key: b}", "both cert and cert_file"),
        ("tls_server_config: {cert: a, key: b}", "could not use|PEM|cannot be used"),
        ("tls_server_config: {cert: a, key: b, cipher_suites: [TLS_RSA_WITH_RC4_128_SHA]}", "has TLS_RSA_WITH_RC4"),
        (
            "tls_server_config: {cert: a, key: b, max_version: TLS12, cipher_suites: [TLS_AES_128_GCM_SHA256]}",
            "nobody could connect",
        ),
        ("tls_server_config: {cert: a, key: b, curve_preferences: [X25519, CurveP256]}", "held to one only"),
        ("tls_server_config: {cert: a, key: b, curve_preferences: [P-256]}", "curve_preferences has P-256"),
        ("tls_server_config: {cert: a, key: b, client_allowed_sans: [x]}", "requires a certificate"),
        ("rate_limit: {interval: soon, burst: 1}", "no duration"),
        ("rate_limit: {interval: 1s}", "every request would be refused"),
        ("rate_limit: {interval: 1s, burst: many}", "no whole number"),
        ("http_server_config: {headers: {Server: x}}", "has Server, which is not supported"),
        ("a: [", "is not YAML"),
    ],
)
def test_a_file_that_would_open_a_door_is_refused(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "web.yml"
    file.write_text(content)
    with pytest.raises((WebConfigError, ssl.SSLError), match=said.replace("(", r"\(")):
        Access(file)


def test_the_program_refuses_a_file_that_it_cannot_use_and_shows_no_secret(tmp_path: Path) -> None:
    file = tmp_path / "web.yml"
    file.write_text("basic_auth_users: {ada: secret}")
    command = [sys.executable, "-m", "exporters", "host", "--web.config.file", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
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


def _as_client(
    exporter: Exporter, certificate: Path, name: str | None, ciphers: str | None = None
) -> tuple[int, str, str | None]:
    """Status of an answer, and cipher and version of the connection, for a client with this certificate."""
    context = ssl.create_default_context(cafile=str(certificate / "cert.pem"))
    if name is not None:
        context.load_cert_chain(certificate / f"{name}cert.pem", certificate / f"{name}key.pem")
    if ciphers is not None:
        context.set_ciphers(ciphers)
    connection = http.client.HTTPSConnection("127.0.0.1", urlsplit(exporter.url).port or 0, timeout=5, context=context)
    connection.connect()
    secured = connection.sock
    assert isinstance(secured, ssl.SSLSocket)
    cipher, version = (secured.cipher() or ("",))[0], secured.version()
    connection.request("GET", "/-/healthy")
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, cipher, version


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _hashed(password: str) -> str:
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(6)).decode()
