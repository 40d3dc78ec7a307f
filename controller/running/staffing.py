"""How many workers a run has, where its plan leaves that to those who are there when it begins."""

from __future__ import annotations

from controller.edges.worker_hosts import count_hosts
from controller.plans.plan import Plan
from controller.plans.workers import settle
from controller.ports import EdgeError


def staffed(plan: Plan, hosts: str | None) -> Plan:
    """The plan with its number of workers; `hosts` is the name behind which those of other hosts are.

    Raises `EdgeError` when they cannot be counted.
    """
    if plan.remote_workers is not None:
        return plan
    if hosts is None:
        what = "could not count the workers: the plan wants as many of other hosts as there are (remote: auto)"
        raise EdgeError(f"{what}; set STAGELIGHT_WORKER_HOSTS to a name that leads to them, or write a number")
    return settle(plan, count_hosts(hosts))
