"""promtool on everything, every alert with its tests and its page in the runbook."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest

from dashboards.catalog import BOARDS
from tests.prometheus import binaries, files


@pytest.mark.parametrize("promtool", binaries.every("promtool"))
def test_the_configuration_is_valid(promtool: str) -> None:
    assert "is valid prometheus config file syntax" in _promtool(promtool, "check", "config", str(files.CONFIG))


@pytest.mark.parametrize("promtool", binaries.every("promtool"))
def test_all_rules_are_valid(promtool: str) -> None:
    said = _promtool(promtool, "check", "rules", *map(str, files.RULES + files.ALERTS))
    assert said.count("SUCCESS") == len(files.RULES) + len(files.ALERTS)


@pytest.mark.parametrize("promtool", binaries.every("promtool"))
def test_all_rule_tests_hold(promtool: str) -> None:
    assert "FAILED" not in _promtool(promtool, "test", "rules", *map(str, files.TESTS))


def test_every_rule_file_has_a_test_of_its_name() -> None:
    tested = {file.name.removesuffix(".test.yml") for file in files.TESTS}
    assert tested == {file.stem for file in files.RULES + files.ALERTS}


def test_every_recording_is_named_level_metric_operation_and_is_tested() -> None:
    named = [rule["record"] for rule in files.rules(files.RULES)]
    assert [name for name in named if not re.fullmatch(r"[a-z_]+:[a-z0-9_]+:[a-z0-9_]+", name)] == []
    expressions = "\n".join(case["expr"] for case in _cases("promql_expr_test"))
    untested = {name for name in named if name not in expressions}
    used_by_others = {name for name in untested for rule in files.rules(files.RULES) if name in rule["expr"]}
    assert untested - used_by_others == set()


@pytest.mark.parametrize("alert", sorted(files.alerts()))
def test_an_alert_fires_when_it_should_and_is_quiet_when_it_should(alert: str) -> None:
    cases = [case for case in _cases("alert_rule_test") if case["alertname"] == alert]
    assert [case for case in cases if case["exp_alerts"]], f"no test fires {alert}"
    assert [case for case in cases if not case["exp_alerts"]], f"no test keeps {alert} quiet"


@pytest.mark.parametrize("alert", sorted(files.alerts()))
def test_an_alert_has_its_page_in_the_runbook(alert: str) -> None:
    rule = files.alerts()[alert]
    assert rule["annotations"]["runbook_url"] == f"prometheus/runbook.md#{alert.lower()}"
    pages = re.split(r"^## ", (files.ROOT / "runbook.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    page = {page.split("\n", 1)[0]: page for page in pages}.get(alert, "")
    assert [word for word in ("**Meaning.**", "**Check.**", "**Act.**") if word not in page] == []


def test_the_runbook_has_no_page_without_an_alert() -> None:
    text = (files.ROOT / "runbook.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^## (.+)$", text, flags=re.MULTILINE)) == set(files.alerts())


@pytest.mark.parametrize("alert", sorted(files.alerts()))
def test_an_alert_has_a_severity_and_asks_whether_a_run_is_on(alert: str) -> None:
    rule = files.alerts()[alert]
    assert rule["labels"]["severity"] in {"critical", "warning"}
    assert {"summary", "description"} <= set(rule["annotations"])
    asks = "and on () (controller:loadtest_run_active:last5m == 1)" in rule["expr"]
    assert asks != (alert in WITHOUT_A_RUN), "either silent between runs, or listed with its reason"


WITHOUT_A_RUN = {
    "ScheduleMissed": "a missed run is not on",
    "RunRefused": "a refused run is over before anything is scraped",
    "ArchiveDiskLow": "there is time to make room only before the next run",
}


@pytest.mark.parametrize("alert", sorted(files.alerts()))
def test_an_alert_links_a_board_that_exists(alert: str) -> None:
    folder, _, uid = files.alerts()[alert]["annotations"]["dashboard"].rpartition("/")
    assert folder == "/d"
    assert uid in {board.uid for board in BOARDS}


def _cases(kind: str) -> list[dict[str, Any]]:
    return [case for file in files.TESTS for group in files.load(file)["tests"] for case in group.get(kind, [])]


def _promtool(promtool: str, *arguments: str) -> str:
    command = [binaries.path(promtool), *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
