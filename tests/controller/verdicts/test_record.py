"""The record: strict JSON, stable, back without loss, and clear about what it cannot read."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.figures.measurement import Absent, Measured
from controller.plans.criterion import Indicator
from controller.plans.plan import Phase
from controller.ports import Finding
from controller.verdicts.conclusion import archive_files, conclude
from controller.verdicts.record import SCHEMA, RecordError, RunRecord, from_json, to_json
from tests.controller.loads import P99_50, Reporter, a_cell, a_slot, remains, times


def a_record(**changes: Any) -> RunRecord:
    reporter = Reporter()
    reporter.seconds(5, a_cell([900.0], slot=0, measured=False))
    reporter.seconds(20, a_cell([10.0] * 98 + [40.0] * 2, slot=1), a_cell([3000.0], "timeout", 1))
    reporter.seconds(2, a_cell([10.0] * 10, slot=2))
    warm = replace(a_slot(0, "warm", 5.0), phase=Phase.WARMUP)
    slots = [warm, a_slot(1, start=5.0), a_slot(2, "after", start=25.0)]
    happened = {0: replace(times(warm), window_start=None), 1: times(slots[1]), 2: times(slots[2], 2.0)}
    said = {"notes": ("Prometheus was late",), "findings": (Finding("health", True, "it answers"),)}
    return conclude(remains(reporter, slots, happened, **{**said, **changes}))


def test_it_comes_back_as_it_was() -> None:
    record = a_record()
    assert from_json(to_json(record)) == record


def test_equal_records_are_equal_bytes_and_keys_stand_in_order() -> None:
    one = a_record(fingerprint={"b": 1, "a": {"d": 1, "c": [{"z": 1, "y": 2}]}})
    other = a_record(fingerprint={"a": {"c": [{"y": 2, "z": 1}], "d": 1}, "b": 1})
    assert to_json(one) == to_json(other)
    assert list(json.loads(to_json(one)))[:4] == ["schema", "run_id", "plan", "started"]


def test_an_absence_is_null_with_its_reason() -> None:
    body = json.loads(to_json(a_record()))
    few = body["windows"][1]["indicators"]["p99"]
    assert few == {"reason": "insufficient (n=20)", "n": 20, "value": None}
    p99 = body["windows"][0]["indicators"]["p99"]
    assert set(p99) == {"value", "n", "low", "high", "censored"}


def test_no_token_of_the_text_is_outside_of_json() -> None:
    def refuse(constant: str) -> NoReturn:
        pytest.fail(f"{constant} is not JSON")

    json.loads(to_json(a_record()), parse_constant=refuse)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_none_are_refused_when_writing(bad: float) -> None:
    record = a_record()
    window = record.windows[0]
    window = replace(window, indicators={**window.indicators, Indicator.MEAN: Measured(bad, 1)})
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json(replace(record, windows=(window, *record.windows[1:])))
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json(replace(record, fingerprint={"memory": bad}))


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(0, 2**53),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
)
@settings(max_examples=50, deadline=None)
def test_any_measurement_comes_back(value: float, n: int, high: float | None, reason: str) -> None:
    record = BASE
    window = record.windows[0]
    indicators = {**window.indicators, Indicator.P99: Measured(value, n, None, high), Indicator.P50: Absent(reason, n)}
    changed = replace(record, windows=(replace(window, indicators=indicators), *record.windows[1:]), notes=(reason,))
    assert from_json(to_json(changed)) == changed


BASE = a_record()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace(b'"schema": 1', b'"schema": 2'), f"version 2, this program knows {SCHEMA}"),
        (lambda text: text.replace(b'"schema": 1,', b""), "no schema version"),
        (lambda text: text[: len(text) // 2], "not strict JSON"),
        (lambda text: text.replace(b'"n": 2020', b'"n": NaN', 1), "NaN is not a JSON number"),
        (lambda text: text.replace(b'"outcome": "completed"', b'"outcome": "splendid"'), "outcome: "),
        (lambda text: text.replace(b'"run_id"', b'"ran_id"'), "run_id: "),
        (lambda _: b"[]", "no schema version"),
        (lambda _: b"", "not strict JSON"),
        (lambda _: b"\xff\xfe", "not strict JSON"),
    ],
)
def test_what_cannot_be_read_is_said(change: Any, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        from_json(change(to_json(BASE)))


def test_it_knows_planned_and_acknowledged_times() -> None:
    warm, peak, after = BASE.timetable
    assert (warm.phase, warm.planned_start, warm.planned_end, warm.measured_from) == (Phase.WARMUP, 0.0, 5.0, None)
    assert peak.started == peak.measured_from == BASE.windows[0].start
    assert after.ended is not None
    assert after.ended < BASE.ended
    assert (BASE.load_started, BASE.load_ended) == (warm.started, after.ended)
    assert BASE.windows[1].cut_short
    assert [planned.name for planned in BASE.evidence.planned] == ["peak @5", "after @5"]


def test_the_archive_is_four_files_and_the_record_comes_last() -> None:
    reporter = Reporter()
    reporter.seconds(20, a_cell([10.0] * 100))
    left = remains(reporter, objectives=[P99_50])
    files = archive_files(conclude(left), left.ledger)
    assert list(files) == ["latency.hlog", "seconds.csv", "junit.xml", "record.json"]
    assert all(content.endswith(b"\n") for content in files.values())
