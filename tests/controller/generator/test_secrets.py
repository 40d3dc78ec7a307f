"""A token reaches the target and nothing else: neither the specification nor the log, nor an error about it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from controller.generator.http_request import SpecError, fast_requests, requests
from controller.generator_spec import GeneratorSpec, encode_spec
from controller.plans.plan import Payloads, Target, Workload
from tests.controller.generator.drive import Drive, a_spec
from tests.controller.generator.target import Target as Listening

TOKEN = "t0ps3cret-4711"  # noqa: S105 - made up
FILE_TOKEN = "f1le-s3cret-0815"  # noqa: S105 - made up


def with_headers(*headers: tuple[str, str]) -> GeneratorSpec:
    workload = Workload(Payloads(body="{}"), headers=headers)
    return GeneratorSpec("r", "p", Target("http", "http://127.0.0.1:1"), workload, 1)


def test_references_are_resolved_where_requests_are_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text(f"{FILE_TOKEN}\n")
    monkeypatch.setenv("MODEL_TOKEN", TOKEN)
    spec = with_headers(("Authorization", "Bearer ${env:MODEL_TOKEN}"), ("X-Key", f"${{file:{tmp_path}/token}}"))
    head = requests(spec, 0)[0]
    assert f"\r\nAuthorization: Bearer {TOKEN}\r\nX-Key: {FILE_TOKEN}\r\n".encode() in head
    assert dict(fast_requests(spec, 0)[0].headers)["X-Key"] == FILE_TOKEN
    assert TOKEN.encode() not in encode_spec(spec)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(None, "cannot be read"), ("", "is empty"), ("se\ncret", "cannot carry"), ("ä", "cannot carry")],
)
def test_a_file_that_is_no_secret_is_refused_without_its_content(
    content: str | None, sentence: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "token").write_text(content)
    with pytest.raises(SpecError, match=sentence) as caught:
        requests(with_headers(("X-Key", f"${{file:{tmp_path}/token}}")), 0)
    assert "cret" not in str(caught.value).replace("secret", "")


@pytest.mark.slow
def test_a_token_is_sent_and_stays_out_of_everything_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_TOKEN", TOKEN)
    target = Listening()
    spec = dataclasses.replace(a_spec(target.url, workers=1, headers=(("X-Token", "${env:MODEL_TOKEN}"),)))
    with Drive(spec, tmp_path / "locust.log") as drive:
        drive.order(1)
        drive.run(0.3)
        target.stop()  # failures are logged with their reasons
        drive.run(0.3)
        drive.drain()
        drive.quit()
    assert f"X-Token: {TOKEN}".encode() in target.heads[0]
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes(), file
