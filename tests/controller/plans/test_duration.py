"""Durations as text."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.plans.duration import PATTERN, format_duration, parse_duration

READ = {
    "0s": timedelta(0),
    "250ms": timedelta(milliseconds=250),
    "2.5s": timedelta(seconds=2, milliseconds=500),
    "90s": timedelta(seconds=90),
    "1h30m": timedelta(hours=1, minutes=30),
    "1d2h3m4s5ms6us": timedelta(days=1, hours=2, minutes=3, seconds=4, milliseconds=5, microseconds=6),
    "0.000001s": timedelta(microseconds=1),
}
REFUSED = {
    "": "an empty text is not a duration",
    "30": "30 has no unit",
    "1.5": "1.5 has no unit",
    "-5s": "-5s is negative",
    "30 s": "30 s is not a duration",
    "22:30": "22:30 is not a duration",
    "5w": "5w is not a duration",
    "1m1h": "1m1h is not a duration: units must fall from left to right, each used once",
    "1s1s": "1s1s is not a duration: units must fall from left to right, each used once",
    "0.5us": "0.5us is finer than a microsecond",
    "٣s": "٣s is not a duration",
    "1s\n": "1s\n is not a duration",
}


@pytest.mark.parametrize(("text", "duration"), READ.items())
def test_a_duration_is_read_exactly(text: str, duration: timedelta) -> None:
    assert parse_duration(text) == duration
    assert re.search(PATTERN, text)


@pytest.mark.parametrize(("text", "complaint"), REFUSED.items())
def test_what_is_no_duration_is_refused_with_the_reason(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(complaint)}$"):
        parse_duration(text)


def test_endless_digits_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration("9" * 100_000 + "s")
    with pytest.raises(ValueError, match="longer than any clock can count"):
        parse_duration("9" * 15 + "d")


@given(st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=10_000)))
def test_a_written_duration_reads_back_as_itself(duration: timedelta) -> None:
    text = format_duration(duration)
    assert parse_duration(text) == duration
    assert re.search(PATTERN, text)


def test_a_negative_duration_is_written_with_a_minus() -> None:
    assert format_duration(timedelta(seconds=-90)) == "-1m30s"
