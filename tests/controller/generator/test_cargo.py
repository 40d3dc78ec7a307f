"""Payload files on their way to workers of other hosts: whole, bounded, and for targets that are allowed there."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from controller.generator import cargo
from controller.generator.http_request import SpecError, requests
from controller.generator_spec import GeneratorSpec
from controller.plans.answer_rules import Expected
from controller.plans.plan import Locustfile, Payloads, Workload
from controller.plans.plan import Target as PlanTarget
from controller.plans.tls import Tls
from controller.ports import EdgeError
from tests.controller.generator.drive import Drive, a_spec
from tests.controller.generator.other_host import OtherHost, another_host
from tests.controller.generator.target import Target

ROWS = np.arange(24, dtype=np.float32).reshape(6, 4)


def files(folder: Path) -> dict[str, Path]:
    """One payload file of every kind, all of the same name."""
    found = {}
    for kind in ("npy", "jsonl", "csv", "requests"):
        found[kind] = folder / kind / "data"
        found[kind].parent.mkdir(parents=True)
    with found["npy"].open("wb") as file:
        np.save(file, ROWS)
    found["jsonl"].write_text("".join(json.dumps(row) + "\n" for row in ROWS.tolist()))
    found["csv"].write_text("".join(",".join(map(str, row)) + "\n" for row in ROWS.tolist()))
    found["requests"].write_text("".join(json.dumps({"at": i, "path": f"/{i}"}) + "\n" for i in range(6)))
    return found


def spec_of(kind: str, path: Path, **workload: Any) -> GeneratorSpec:
    """A specification with that file."""
    served = kind != "requests"
    target = PlanTarget("tfserving" if served else "http", "http://127.0.0.1:1", model="m" if served else None)
    work = Workload(Payloads(**{kind: path}), **workload)  # type: ignore[arg-type]
    return GeneratorSpec("r", "p", target, work, 2, secret="s")  # noqa: S106 - of this test alone


@pytest.mark.parametrize("kind", ["npy", "jsonl", "csv", "requests"])
def test_requests_there_are_those_from_here(kind: str, tmp_path: Path) -> None:
    spec = spec_of(kind, files(tmp_path / "here")[kind])
    packed = cargo.pack(spec)
    assert b'"s"' not in packed["spec"]  # the secret, which the other side has
    (there := tmp_path / "there").mkdir()
    unpacked = cargo.unpack(packed, there)
    for part in (0, 1):
        assert requests(unpacked, part) == requests(spec, part)
    path = getattr(unpacked.workload.payloads, kind)
    assert path.is_relative_to(there)
    assert path.name == "data"


def test_every_file_that_a_plan_names_travels_and_equal_names_stay_apart(tmp_path: Path) -> None:
    named = files(tmp_path / "here")
    tls = Tls(ca_file=named["csv"], client_cert=named["jsonl"])
    spec = spec_of("npy", named["npy"], expected=Expected(named["jsonl"]), locustfile=Locustfile(named["requests"]))
    spec = replace(spec, target=replace(spec.target, tls=tls))
    (there := tmp_path / "there").mkdir()
    found = cargo.unpack(cargo.pack(spec), there)
    assert found.target.tls is not None
    assert found.workload.expected is not None
    assert found.workload.locustfile is not None
    assert found.workload.payloads.npy is not None
    for path, was in (
        (found.target.tls.ca_file, named["csv"]),
        (found.target.tls.client_cert, named["jsonl"]),
        (found.workload.expected.file, named["jsonl"]),
        (found.workload.locustfile.file, named["requests"]),
        (found.workload.payloads.npy, named["npy"]),
    ):
        assert path is not None
        assert path.read_bytes() == was.read_bytes()


def test_files_that_are_too_large_or_gone_are_refused_with_what_to_do(tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(cargo.MOST_BYTES + 1)
    with pytest.raises(SpecError, match=r"more than 64 MiB; use a smaller pool, or local workers"):
        cargo.pack(spec_of("npy", large))
    with pytest.raises(SpecError, match=r"could not send .*gone.* to a worker on another host: No such file"):
        cargo.pack(spec_of("npy", tmp_path / "gone"))


@contextmanager
def agent(host: OtherHost, port: int, secret: Path, log: Path, hidden: Path, allow: str) -> Iterator[None]:
    """A worker on another host, which does not see the folder with the payload files."""
    worker = f"{sys.executable} -m controller worker --master {host.here}:{port} --secret-file {secret}"
    alone = f'mount -t tmpfs none {hidden} && test -z "$(ls -A {hidden})" && exec {worker}'
    with log.open("wb") as output:
        process = subprocess.Popen(
            host.command("sh", "-c", alone),
            stdout=output,
            stderr=output,
            env={**os.environ, "STAGELIGHT_ALLOW_TARGETS": allow},
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait(10)


@pytest.mark.slow
def test_a_worker_sends_the_shipped_payloads_and_only_to_targets_that_its_own_host_allows(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a secret of enough bytes for two hosts\n")
    data = files(tmp_path / "data")["npy"]
    with another_host() as host, socket.create_server((host.here, 0)) as probe:
        port = probe.getsockname()[1]
        probe.close()
        target = Target(host=host.here)
        payloads = Payloads(npy=data, order="sequential")
        spec = replace(a_spec(target.url, workers=1, payloads=payloads, timeout=timedelta(seconds=5)), remote=1)
        drive = Drive(spec, tmp_path / "1.log", bind=(host.here, port), secret_file=secret)
        with agent(host, port, secret, tmp_path / "agent1.log", data.parent, "other.example.internal"):
            told = f"target.rest is {host.here}, which is not this machine and not allowed"
            with pytest.raises((EdgeError, AssertionError), match=re.escape(told)):
                drive.__enter__()
        assert target.count == 0
        drive = Drive(spec, tmp_path / "2.log", bind=(host.here, port), secret_file=secret)
        with agent(host, port, secret, tmp_path / "agent2.log", data.parent, host.here), drive:
            drive.order(2)
            drive.run(1.0)
            drained = drive.drain()
        assert drained.totals["ok"] == drained.started == target.count > 0
        bodies = {tuple(json.loads(body)["instances"][0]) for body in target.bodies}
        assert bodies <= {tuple(row) for row in ROWS.tolist()}
        assert len(bodies) == min(len(ROWS), target.count)
