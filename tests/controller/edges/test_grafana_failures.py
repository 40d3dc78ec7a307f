from __future__ import annotations

import time
from pathlib import Path

import pytest

from controller.edges.grafana_annotator import GrafanaAnnotator
from controller.edges.grafana_credential import TokenFile
from tests.controller.edges.grafana_double import TOKEN, Answer, Cut, Fault, GrafanaDouble, Odd, Stall
from tests.controller.edges.regions import FAST, a_region, settle, until

FAULTS: dict[str, tuple[str, tuple[Fault, ...], str]] = {
    "404 on a search": ("GET", (Answer(404),), "unexpected_answer"),
    "429": ("POST", (Answer(429, (("Retry-After", "0"),)),), "throttled"),
    "500 before storing": ("POST", (Answer(500), Answer(500)), "server_error"),
    "503": ("GET", (Answer(503),), "unreachable"),
    "timeout before storing": ("POST", (Stall("before", 0.4),), "timeout"),
    "timeout after storing": ("POST", (Stall("after", 0.4),), "timeout"),
    "two timeouts, then stored late": ("POST", (Stall("before", 0.5), Stall("before", 0.5)), "timeout"),
    "cut before storing": ("POST", (Cut("before"),), "unreachable"),
    "cut after storing": ("POST", (Cut("after"),), "unreachable"),
    "a page instead of JSON": ("GET", (Answer(200, text="<html>log in</html>"),), "unexpected_answer"),
    "a redirect": ("POST", (Answer(302, (("Location", "/login"),)),), "unexpected_answer"),
    "no id": ("POST", (Odd({"message": "Annotation added"}),), "unexpected_answer"),
    "id 0": ("POST", (Odd({"id": 0}),), "unexpected_answer"),
    "id in words": ("POST", (Odd({"id": "seven"}),), "unexpected_answer"),
    "search fails in between": ("GET", (Answer(500), Stall("after", 0.4)), "timeout"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_after_a_passing_failure_the_region_is_there_exactly_once(
    case: str, grafana: GrafanaDouble, hasty: GrafanaAnnotator
) -> None:
    method, faults, reason = FAULTS[case]
    grafana.fail(method, *faults)
    hasty.put(a_region())
    hasty.put(a_region(1))
    settle(hasty)
    if any(isinstance(fault, Stall) for fault in faults):
        time.sleep(0.8)  # late copies come into being, and are found
    hasty.close(2)
    assert sorted(row["data"]["key"] for row in grafana.rows.values()) == ["r-1/0", "r-1/1"]
    assert hasty.failures()[reason] >= 1
    assert grafana.complaints == []


@pytest.mark.parametrize(("status", "reason"), [(400, "refused"), (403, "forbidden")])
def test_what_grafana_refuses_for_good_is_given_up_and_counted(
    status: int, reason: str, grafana: GrafanaDouble, annotator: GrafanaAnnotator
) -> None:
    grafana.fail("POST", Answer(status))
    annotator.put(a_region(closed=False))
    settle(annotator)
    time.sleep(0.2)
    assert [method for method, _ in grafana.requests].count("POST") == 1
    assert annotator.failures() == {reason: 1}
    annotator.put(a_region(1))  # the next one has its own chance, and so has the next version
    annotator.put(a_region(ends=70))
    settle(annotator)
    assert len(grafana.rows) == 2


def test_a_refused_credential_is_not_used_again_until_its_file_changes(
    grafana: GrafanaDouble, token: TokenFile, outbox: Path, annotator: GrafanaAnnotator
) -> None:
    token.path.write_text("glsa_wrong")
    annotator.put(a_region())
    until(lambda: annotator.failures().get("unauthorized") == 1)
    for seq in range(1, 5):
        annotator.put(a_region(seq))
    time.sleep(0.4)
    annotator.close(1)
    assert len(grafana.requests) == 1
    again = GrafanaAnnotator(outbox, grafana.url, token, FAST)
    time.sleep(0.3)
    assert len(grafana.requests) == 1
    token.path.write_text(TOKEN)
    settle(again)
    again.close(1)
    assert len(grafana.rows) == 5


def test_a_missing_credential_is_waited_for(
    grafana: GrafanaDouble, token: TokenFile, annotator: GrafanaAnnotator
) -> None:
    token.path.unlink()
    annotator.put(a_region())
    until(lambda: annotator.failures().get("no_credential") == 1)
    assert grafana.requests == []
    token.path.write_text(TOKEN)
    settle(annotator)
    assert len(grafana.rows) == 1


def test_grafana_s_own_wish_to_be_left_alone_is_granted(grafana: GrafanaDouble, annotator: GrafanaAnnotator) -> None:
    grafana.fail("POST", Answer(429, (("Retry-After", "1"),)))
    asked = time.monotonic()
    annotator.put(a_region())
    settle(annotator)
    assert 1.0 <= time.monotonic() - asked < 2.0


def test_an_empty_database_gets_whole_regions_and_nobody_else_s_row_is_touched(
    grafana: GrafanaDouble, annotator: GrafanaAnnotator
) -> None:
    annotator.put(a_region(ends=15, closed=False))
    settle(annotator)
    grafana.lose_database()
    foreign = {"text": "deployed", "time": 1893456000000, "timeEnd": 1893456000000, "tags": ["deploy"]}
    assert grafana.store(foreign) == 1  # the id that ours had
    annotator.put(a_region(ends=30))
    settle(annotator)
    assert grafana.rows[1]["text"] == "deployed"
    assert grafana.rows[2]["timeEnd"] == 1893456030000
    assert grafana.rows[2]["text"] == a_region().text


def test_a_row_that_goes_away_between_looking_and_writing_is_made_again(
    grafana: GrafanaDouble, annotator: GrafanaAnnotator
) -> None:
    annotator.put(a_region(ends=15, closed=False))
    settle(annotator)
    grafana.on_request = lambda method: grafana.lose_database() if method == "PATCH" else None
    annotator.put(a_region(ends=30))
    settle(annotator)
    assert [row["timeEnd"] for row in grafana.rows.values()] == [1893456030000]
    assert annotator.failures() == {"gone": 1}


def test_ids_that_are_none_are_never_used(grafana: GrafanaDouble, annotator: GrafanaAnnotator) -> None:
    rows = [
        {"id": bad, "tags": list(a_region().tags), "time": 1, "timeEnd": 2} for bad in (0, None, "1", True, 1.0, -1)
    ]
    grafana.fail("GET", *(Odd([row]) for row in rows))
    annotator.put(a_region())
    settle(annotator)
    assert annotator.failures() == {"unexpected_answer": len(rows)}
    assert all(path.partition("?")[0] == "/api/annotations" for _, path in grafana.requests)
