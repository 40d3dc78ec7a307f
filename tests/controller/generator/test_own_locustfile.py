"""Somebody's user classes under our orders: counted exactly, stopped by the lease, drained, their mistakes told."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest

from controller.generator_spec import GeneratorSpec
from controller.orders import LEASE_SECONDS
from controller.plans.plan import Locustfile, Payloads, Target, Workload
from controller.ports import EdgeError
from tests.controller.generator.drive import Drive
from tests.controller.generator.target import OUTCOME
from tests.controller.generator.target import Target as Server

pytestmark = pytest.mark.slow

FILES = Path(__file__).parent / "locustfiles"


def own_spec(url: str, name: str, *classes: str, workers: int = 1) -> GeneratorSpec:
    own = Locustfile(FILES / name, classes)
    return GeneratorSpec("run-1", "a-plan", Target("http", url), Workload(Payloads(), locustfile=own), workers)


def test_every_request_of_any_class_is_counted_once_and_in_its_class(tmp_path: Path) -> None:
    server = Server(behaviours=("ok", "ok", "http_error", "ok", "no_field", "cut", "ok"))
    with Drive(own_spec(server.url, "mixture.py", workers=2), tmp_path / "locust.log") as drive:
        for slot, users in enumerate((3, 14, 8)):
            drive.order(users, slot, measured=slot == 1)
            drive.run(1.5)
            assert drive.intervals()[-1].users == users
        drained = drive.drain()
        assert drive.outcomes() == Counter({name: n for name, n in drained.totals.items() if n})
        assert drive.quit() == 0
    assert server.count > 300
    assert sum(drained.totals.values()) == drained.started == server.count
    seen = Counter(dict.fromkeys(OUTCOME.values(), 0))
    for behaviour, number in server.seen.items():
        seen[OUTCOME[behaviour]] += number
    # only one of the classes looks into the answer: to the others it is good
    assert drained.totals["invalid_response"] > 0
    assert drained.totals["ok"] + drained.totals["invalid_response"] == seen["ok"] + seen["invalid_response"]
    assert {name: drained.totals[name] for name in ("http_error", "connection_error")} == {
        name: seen[name] for name in ("http_error", "connection_error")
    }
    assert drained.totals["generator_error"] == drained.aborted == 0
    log = (tmp_path / "locust.log").read_text()
    assert "the test starts" in log
    assert "the test stops" in log
    assert "no database for" in log
    assert "requests named other were good" in log
    good, failed = drained.told["good"], drained.told["failed"]
    assert len(good) <= 51
    assert good["other"] > 0
    assert sum(good.values()) == drained.totals["ok"]
    assert sum(failed.values()) == sum(drained.told["reasons"].values()) == drained.started - drained.totals["ok"]
    [fault] = {fault.what.partition(": ")[2] for fault in drive.faults()}
    assert fault.startswith("more than 50 request names: further ones are counted as other")


def test_mistakes_of_the_classes_are_told_and_harm_no_count(tmp_path: Path) -> None:
    server = Server()
    with Drive(own_spec(server.url, "troubled.py"), tmp_path / "locust.log") as drive:
        drive.order(6)
        drive.run(1.2)
        drained = drive.drain()
        users = drive.intervals()[-2].users
    assert users == 4  # two of six could not start, and nobody starts them again and again
    assert drained.totals["ok"] == drained.started > server.count > 10
    told = [fault.what for fault in drive.faults()]
    assert [what for what in told if "NeverStarts raised ValueError: no account left" in what]
    assert [what for what in told if "Raises raised KeyError: 'nothing'" in what]
    assert len(told) == 2


def test_users_who_do_not_finish_in_time_are_cut_and_counted(tmp_path: Path) -> None:
    server = Server(delay=3.0)
    with Drive(own_spec(server.url, "mixture.py", "Fast", "Validating"), tmp_path / "locust.log") as drive:
        drive.order(5)
        drive.run(0.5)
        begun = time.monotonic()
        drained = drive.drain(0.5)
        assert time.monotonic() - begun < 2.0
    assert drained.aborted == drained.totals["generator_error"] >= 5
    assert sum(drained.totals.values()) == drained.started


def test_without_a_lease_users_are_ended_even_if_they_never_let_go_of_the_loop(tmp_path: Path) -> None:
    server = Server()
    with Drive(own_spec(server.url, "stubborn.py", workers=1), tmp_path / "locust.log") as drive:
        [worker] = drive.pids()
        drive.order(2)
        drive.run(1.5)
        assert server.count > 200
        drive.leasing = False
        last = drive._leased
        while Path(f"/proc/{worker}").exists() and time.time() < last + 10:
            drive.run(0.05)
        assert time.time() - last < LEASE_SECONDS + 0.5
    assert server.last < last + LEASE_SECONDS


def test_a_file_that_cannot_be_run_ends_the_start_with_its_sentence(tmp_path: Path) -> None:
    drive = Drive(own_spec("http://127.0.0.1:9", "shaped.py"), tmp_path / "locust.log")
    with pytest.raises(EdgeError, match="it has a load shape"):
        drive.__enter__()
    assert not drive.process.alive()
