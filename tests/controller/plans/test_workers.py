"""How many workers a plan has, and that `auto` does not make the same plan another one on another machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.plans.loader import load_plan
from controller.plans.plan import Plan
from controller.plans.workers import settle, spare_cores

HERE = Path(__file__).parent


def plan_with(folder: Path, workers: str) -> Plan:
    path = folder / "plan.yaml"
    path.write_text((HERE / "valid" / "other_hosts.yaml").read_text().replace("{local: 2, remote: 1}", workers))
    return load_plan(path)


@pytest.mark.parametrize(
    ("words", "total", "remote"),
    [("3", 3, 0), ("{local: 2, remote: 1}", 3, 1), ("{local: 0, remote: 2}", 2, 2), ("auto", spare_cores(), 0)],
)
def test_workers_here_and_elsewhere_are_added_up(tmp_path: Path, words: str, total: int, remote: int) -> None:
    plan = plan_with(tmp_path, words)
    assert (plan.workers, plan.remote_workers, plan.workers_auto) == (total, remote, words == "auto")


def test_workers_elsewhere_may_be_as_many_as_there_are_when_a_run_begins(tmp_path: Path) -> None:
    plan = plan_with(tmp_path, "{local: 1, remote: auto}")
    assert (plan.workers, plan.remote_workers, plan.workers_auto) == (1, None, False)
    settled = settle(plan, 4)
    assert (settled.workers, settled.remote_workers) == (5, 4)
    assert settled.digest == plan.digest != plan_with(tmp_path, "{local: 1, remote: 4}").digest
    assert settle(settled, 7) is settled


def test_auto_is_part_of_the_plans_content_and_its_number_is_not(tmp_path: Path) -> None:
    auto = plan_with(tmp_path, "auto")
    same = plan_with(tmp_path, "auto # as many as there are")
    fixed = plan_with(tmp_path, str(spare_cores()))
    assert auto.digest == same.digest != fixed.digest
