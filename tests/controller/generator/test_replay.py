"""Replays with real processes: what arrives is the recording, each request once, at its time divided by the speed."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from controller.generator_spec import GeneratorSpec
from controller.orders import Ack, Fault, Order
from controller.plans.arrivals import Arrivals
from controller.plans.plan import Payloads, Target, Workload
from tests.compose.targets.tfserving_standin.running import PREDICT, ROW, a_stand_in, requests_in
from tests.controller.generator.drive import Drive

pytestmark = pytest.mark.slow

SOON = 0.25
"""How late an arrival may be on a busy machine, seconds."""


def written(folder: Path, times: list[float], requests: list[dict[str, Any]]) -> Path:
    """A recording."""
    path = folder / "day.jsonl"
    lines = [json.dumps({"at": 1.7e9 + at, **request}) for at, request in zip(times, requests, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


def replaying(url: str, recording: Path, workers: int) -> GeneratorSpec:
    """A generator for it."""
    workload = Workload(Payloads(requests=recording), timeout=timedelta(seconds=2))
    return GeneratorSpec("run-1", "a-plan", Target("http", url), workload, workers, replays=True)


def replay(drive: Drive, arrivals: Arrivals | None, slot: int, *, measured: bool = False) -> Ack:
    """Order it and wait until it took effect."""
    drive.number += 1
    number = drive.number
    drive.process.send(Order(number, slot, "stage", "steady", measured, 0, arrivals))
    return drive.wait(Ack, 5.0, lambda ack: ack.number == number)


def test_the_target_gets_the_recorded_requests_at_the_recorded_times_divided_by_the_speed(tmp_path: Path) -> None:
    source = random.Random(7)  # noqa: S311 - no secret
    times = sorted(round(source.uniform(0, 5), 3) for _ in range(150))
    times = [round(at - times[0], 3) for at in times]
    body = {"instances": [ROW]}
    kinds = [source.choice(["predict", "status", "metadata"]) for _ in times]
    asked: dict[str, dict[str, Any]] = {
        "predict": {"path": PREDICT, "body": body},
        "status": {"path": "/v1/models/m"},
        "metadata": {"path": "/v1/models/m/metadata"},
    }
    log = tmp_path / "log.jsonl"
    whole = Arrivals(30, 30, 3, "recorded", max_in_flight=100, speed=2.0)
    with a_stand_in("--log", str(log)) as stand_in:
        recording = written(tmp_path, times, [asked[kind] for kind in kinds])
        spec = replaying(f"http://{stand_in.host}:{stand_in.port}", recording, 2)
        with Drive(spec, tmp_path / "locust.log") as drive:
            began = time.monotonic()
            replay(drive, whole, 0)
            drive.run(0.8)
            replay(drive, whole.after(time.monotonic() - began), 0, measured=True)  # the window begins: all goes on
            drive.run(2.2)
            replay(drive, None, 1)
            drained = drive.drain()
            cells = [cell for interval in drive.intervals() for cell in interval.arrivals]
            assert drive.quit() == 0
        stand_in.settled()
        lines = requests_in(log)
    assert sum(cell.due for cell in cells) == drained.started == drained.totals["ok"] == len(times)
    assert {cell.measured for cell in cells} == {False, True}
    late: list[float] = []
    for kind in asked:  # by kind, so that requests which came in another order are not taken for each other
        came = sorted(line["arrival"] for line in lines if line["kind"] == kind)
        due = [at / 2.0 for at, one in zip(times, kinds, strict=True) if one == kind]
        late += [one - at for one, at in zip(came, due, strict=True)]
    late.sort()
    assert late[-1] - late[0] < SOON
    assert late[len(late) // 2] - late[0] < 0.05


class Diary(ThreadingHTTPServer):
    """Answers everything, and notes when each path came."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.came: list[tuple[float, str]] = []


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.came.append((time.time(), self.path))  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b"ok")

    do_HEAD = do_GET  # noqa: N815 - the library's name

    def log_message(self, *_: object) -> None:
        pass


def test_when_a_worker_is_lost_the_others_go_on_with_what_is_left_of_the_recording(tmp_path: Path) -> None:
    times = [number * 0.02 for number in range(200)]
    requests = [{"path": f"/{number}", "method": "HEAD" if number % 10 == 0 else "GET"} for number in range(200)]
    with Diary() as diary:
        threading.Thread(target=diary.serve_forever, daemon=True).start()
        spec = replaying(f"http://127.0.0.1:{diary.server_port}", written(tmp_path, times, requests), 3)
        with Drive(replace(spec, workers=3), tmp_path / "locust.log") as drive:
            ack = replay(drive, Arrivals(50, 50, 4, "recorded", max_in_flight=60), 0)
            drive.run(1.0)
            os.kill(drive.pids()[0], signal.SIGKILL)
            struck = time.time()
            drive.wait(Fault, 5.0)
            told = time.time()
            drive.run(max(ack.at + 4.2 - time.time(), 0.1))
            drained = drive.drain()
        diary.shutdown()
    found = Counter(int(path[1:]) for _, path in diary.came)
    assert set(found.values()) == {1}, "a request was sent twice"
    missing = sorted(set(range(200)) - set(found))
    assert all(number % 3 == missing[0] % 3 for number in missing)  # of the lost worker's share alone
    first, last = (struck - ack.at) / 0.02 - 3, (told - ack.at) / 0.02 + 10
    assert all(first < number < last for number in missing), (missing, first, last)
    died_with_it = 20  # what it did since its last report
    assert drained.totals["ok"] + drained.totals["generator_error"] >= len(found) - died_with_it
    assert drained.totals["timeout"] == drained.totals["connection_error"] == 0  # HEAD's answers have no body
    late = sorted(at - ack.at - int(path[1:]) * 0.02 for at, path in diary.came)
    assert late[len(late) // 2] < 0.05
