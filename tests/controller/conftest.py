"""Certificates for tests that speak TLS."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.needs import need


@pytest.fixture(scope="session")
def pems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of `localhost` that is its own authority (`cert.pem`), and its key (`key.pem`)."""
    folder = tmp_path_factory.mktemp("pems")
    ask = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run([need("openssl"), *ask, *name, *files], check=True, capture_output=True, timeout=60)
    return folder
