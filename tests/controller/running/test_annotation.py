from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.plans.plan import Phase
from controller.plans.timetable import Slot
from controller.running.annotation import END_UNKNOWN, clean_tags, end_unknown, identity_tags, region

START = datetime(2030, 1, 1, tzinfo=UTC)


def slot(seq: int = 3, stage: str = "climb", users_end: int = 50) -> Slot:
    return Slot(seq, stage, Phase.RAMP, timedelta(0), timedelta(seconds=60), 10, users_end)


def test_a_region_says_stage_phase_load_plan_and_run() -> None:
    found = region("r-1", "nightly", slot(), START, START + timedelta(seconds=60))
    assert found.text == "<b>climb</b>: ramp, 10 to 50 users<br>plan nightly, run r-1"
    assert found.tags == ("stagelight", "run-phase", "run_id:r-1", "seq:3", "phase:ramp", "plan:nightly")
    assert (found.key, found.closed) == ("r-1/3", False)
    assert "10 users" in region("r-1", "nightly", slot(users_end=10), START, START).text


def test_text_of_the_plan_s_author_is_escaped() -> None:
    found = region("r", "<script>&", slot(stage='<img src="x">'), START, START + timedelta(seconds=1))
    assert "<script>" not in found.text
    assert "<img" not in found.text
    assert "&lt;script&gt;&amp;" in found.text


def test_an_end_before_the_start_still_makes_a_region() -> None:
    for end in (START, START - timedelta(seconds=90)):
        assert region("r", "p", slot(), START, end).end == START + timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("a:b:c", "plan:a-b-c"),
        ("a, b", "plan:a--b"),
        ("http://127.0.0.1:8501/v1", "plan:http-//127.0.0.1-8501/v1"),
        ("Prüfung über Nacht", "plan:Prüfung-über-Nacht"),
        ("tab\tnul\0line\n", "plan:tab-nul-line-"),
    ],
)
def test_names_become_tags_that_grafana_keeps_whole(name: str, tag: str) -> None:
    assert tag in region("r", name, slot(), START, START).tags


def test_long_names_are_shortened_and_stay_apart() -> None:
    one, other = (region("r", "長" * 300 + end, slot(), START, START).tags[-1] for end in "ab")
    assert one != other
    assert len(one) <= 100


@given(st.text(), st.text(), st.integers(0, 10**6), st.lists(st.text(), max_size=20))
def test_any_names_stay_within_grafana_s_limits_and_keep_the_identity(
    run_id: str, plan: str, seq: int, more: list[str]
) -> None:
    found = region(run_id, plan, slot(seq), START, START)
    for tags in (found.tags, end_unknown(found).tags, clean_tags([*found.tags, *more])):
        assert set(identity_tags(run_id, seq)) < set(tags)
        assert {"stagelight", "run-phase"} < set(tags)
        assert all(tag.count(":") <= 1 and len(tag) <= 100 for tag in tags)
        assert len(json.dumps(tags, ensure_ascii=False, separators=(",", ":")).encode()) <= 500
        assert len(set(tags)) == len(tags)


def test_a_lost_region_is_closed_at_its_last_known_end_and_says_so() -> None:
    lost = region("r", "p", slot(), START, START + timedelta(seconds=45))
    closed = end_unknown(lost)
    assert (closed.end, closed.closed, closed.key) == (lost.end, True, lost.key)
    assert END_UNKNOWN in closed.tags
    assert "end unknown" in closed.text
    assert end_unknown(closed) == closed
    assert end_unknown(lost, START + timedelta(seconds=31)).end == START + timedelta(seconds=31)
    assert end_unknown(lost, START + timedelta(hours=1)).end == lost.end
    assert end_unknown(lost, START - timedelta(hours=1)).end == START + timedelta(milliseconds=1)


def test_the_longest_region_has_room_for_the_unknown_end() -> None:
    full = region("𝄞" * 200, "𝄞" * 400, slot(), START, START)
    assert END_UNKNOWN in end_unknown(full).tags
