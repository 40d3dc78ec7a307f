from __future__ import annotations

from collections.abc import Sequence

import pytest

from controller.edges.target_address import refusal
from controller.edges.target_http import TargetHttp
from controller.plans.plan import Target
from tests.controller.builders import a_plan

NAMES = {
    "localhost": ["127.0.0.1", "::1"],
    "model.lab": ["10.1.2.3"],
    "both.lab": ["127.0.0.1", "10.1.2.3"],
    "127.0.0.1": ["127.0.0.1"],
    "127.9.9.9": ["127.9.9.9"],
    "::1": ["::1"],
    "::ffff:127.0.0.1": ["::ffff:127.0.0.1"],
    "::ffff:10.1.2.3": ["::ffff:10.1.2.3"],
    "fe80::1": ["fe80::1%eth0"],
    "10.1.2.3": ["10.1.2.3"],
    "0.0.0.0": ["0.0.0.0"],
    "2130706433": ["127.0.0.1"],
}


def looked_up(host: str, _port: int) -> Sequence[str]:
    if host not in NAMES:
        raise OSError(-2, "Name or service not known")
    return NAMES[host]


def said(rest: str, *allow: str, metrics: str | None = None, grpc: str | None = None) -> str | None:
    return refusal(Target("http", rest, metrics=metrics, grpc=grpc), allow, looked_up)


@pytest.mark.parametrize(
    "rest",
    [
        "http://localhost:8501",
        "http://LOCALHOST",
        "http://127.9.9.9:1",
        "http://[::1]:8501",
        "http://[::ffff:127.0.0.1]:1",
        "http://2130706433:1",
    ],
)
def test_loopback_is_always_allowed(rest: str) -> None:
    assert said(rest) is None


@pytest.mark.parametrize(
    "rest",
    [
        "http://model.lab:8501",
        "http://both.lab:8501",  # one address of two is enough to refuse
        "http://10.1.2.3:8501",
        "http://0.0.0.0:8501",
        "http://[::ffff:10.1.2.3]:1",
        "http://[fe80::1]:1",
    ],
)
def test_everything_else_is_refused_with_the_setting_to_change(rest: str) -> None:
    sentence = said(rest)
    assert sentence is not None
    assert "nothing was sent" in sentence
    assert "STAGELIGHT_ALLOW_TARGETS" in sentence


@pytest.mark.parametrize(
    "entry", ["model.lab", "MODEL.lab", "model.lab:8501", "10.1.2.3", "10.1.2.3:8501", "10.1.0.0/16"]
)
def test_an_entry_allows_by_name_address_or_network(entry: str) -> None:
    assert said("http://model.lab:8501", entry) is None


@pytest.mark.parametrize("entry", ["lab", "model.lab:80", "10.1.2.4", "10.2.0.0/16", "other.lab", "10.1.2.3:80"])
def test_an_entry_allows_nothing_else(entry: str) -> None:
    assert said("http://model.lab:8501", entry) is not None


def test_every_host_of_the_target_is_looked_at() -> None:
    assert "target.metrics" in str(said("http://127.0.0.1:1", metrics="http://model.lab/m"))
    assert "target.grpc" in str(said("http://127.0.0.1:1", grpc="model.lab:8500"))


def test_a_name_nobody_knows_is_said_to_be_so() -> None:
    assert said("http://nowhere.lab:1") == (
        "could not find the host nowhere.lab of target.rest: Name or service not known; correct target.rest"
    )


def test_a_stranger_is_the_only_finding_and_is_not_asked_who_it_is() -> None:
    probe = TargetHttp((), looked_up)
    plan = a_plan(target=Target("tfserving", "http://model.lab:8501", "m"))
    (finding,) = probe.preflight(plan)
    assert (finding.check, finding.severity) == ("address", "refuse")
    assert "not allowed" in probe.identity(plan)["unknown"]
