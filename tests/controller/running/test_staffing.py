"""How many workers a run has is the plan's to say, or is counted when it begins; without a count nothing begins."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from controller.edges.worker_hosts import count_hosts
from controller.plans.loader import load_plan
from controller.plans.plan import Plan
from controller.plans.timetable import lay_out
from controller.ports import EdgeError
from controller.running.limits import run_limits
from controller.running.rehearsing import rehearse
from controller.running.staffing import staffed
from controller.running.states import Ended

VALID = Path(__file__).parents[1] / "plans/valid/other_hosts.yaml"


def plan(folder: Path, workers: str) -> Plan:
    path = folder / "plan.yaml"
    path.write_text(VALID.read_text().replace("{local: 2, remote: 1}", workers))
    return load_plan(path)


def test_a_number_is_the_plans_own(tmp_path: Path) -> None:
    fixed = plan(tmp_path, "{local: 2, remote: 3}")
    assert staffed(fixed, None) is staffed(fixed, "no-such-host.invalid") is fixed


def test_auto_is_counted_by_addresses(tmp_path: Path) -> None:
    run = staffed(plan(tmp_path, "{local: 1, remote: auto}"), "127.0.0.1")
    assert (run.workers, run.remote_workers) == (2, 1)


def test_a_name_with_addresses_of_both_families_is_one_host_each() -> None:
    here = {row[4][0] for row in socket.getaddrinfo("localhost", None, socket.AF_INET, socket.SOCK_STREAM)}
    assert count_hosts("localhost") == len(here)


def test_a_name_that_leads_nowhere_begins_no_run(tmp_path: Path) -> None:
    with pytest.raises(
        EdgeError, match=r"could not count the workers behind no-such-host\.invalid: .*`stagelight worker`"
    ):
        staffed(plan(tmp_path, "{local: 0, remote: auto}"), "no-such-host.invalid")


def test_auto_without_a_name_says_which_setting_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(EdgeError, match="set STAGELIGHT_WORKER_HOSTS"):
        staffed(plan(tmp_path, "{local: 0, remote: auto}"), None)


def test_workers_of_other_hosts_have_time_to_start_until_their_master_gives_up(tmp_path: Path) -> None:
    near, far = plan(tmp_path, "2"), plan(tmp_path, "{local: 1, remote: 1}")
    waits = [run_limits(each, lay_out(each), 0.0, metrics=False).start_timeout for each in (near, far)]
    assert waits[0] < 60.0 < waits[1]


def test_such_a_plan_is_rehearsed_with_one_of_them(tmp_path: Path) -> None:
    rehearsal = rehearse(plan(tmp_path, "{local: 0, remote: auto}"))
    assert isinstance(rehearsal.ended, Ended)
    assert rehearsal.ended.outcome == "completed"
