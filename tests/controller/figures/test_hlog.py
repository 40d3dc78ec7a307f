"""The histogram log: back without loss, readable by HdrHistogram's own reader, and clear about damage."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.figures import hlog
from controller.figures.histogram import Histogram
from controller.figures.measurement import Batch
from tests.controller.loads import T0, Reporter, a_cell, dice

STARTED = datetime.fromtimestamp(T0, UTC)
OUTCOMES = st.dictionaries(
    st.sampled_from(["ok", "timeout", "http_error"]),
    st.tuples(
        st.dictionaries(st.integers(0, 2**36), st.integers(1, 10**6), min_size=1, max_size=6), st.integers(0, 999)
    ),
    min_size=1,
)


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 99), st.booleans()), st.lists(OUTCOMES, min_size=1, max_size=4), max_size=4
    )
)
@settings(max_examples=40, deadline=None)
def test_what_is_written_comes_back_exactly(
    slots: dict[tuple[int, bool], list[dict[str, tuple[dict[int, int], int]]]],
) -> None:
    batches = {}
    for key, series in sorted(slots.items()):
        made = []
        for number, outcomes in enumerate(series):
            histograms = {}
            for outcome, (counts, beside) in sorted(outcomes.items()):
                histograms[outcome] = Histogram()
                histograms[outcome].add(counts, sum(us * n for us, n in counts.items()) + beside)
            made.append(Batch(T0 + number, T0 + number + 1, histograms))
        batches[key] = tuple(made)
    assert hlog.read(hlog.write(batches, STARTED)) == batches


def test_hdrhistograms_own_reader_finds_every_request(tmp_path: Path) -> None:
    reporter, rolls = Reporter(), dice(4)
    for _ in range(5):
        reporter.second(a_cell([rolls.lognormvariate(3, 1) for _ in range(200)]), a_cell([3_600_000.0], "timeout", 1))
    path = tmp_path / "latency.hlog"
    path.write_bytes(hlog.of_ledger(reporter.ledger, STARTED))
    reader = HistogramLogReader(str(path), HdrHistogram(1, 2**40, 3))
    found: dict[str, HdrHistogram] = {}
    while (one := reader.get_next_interval_histogram()) is not None:
        assert T0 <= one.get_start_time_stamp() / 1000 < T0 + 5
        found.setdefault(one.tag, HdrHistogram(1, 2**40, 3)).add(one)
    reader.close()
    assert {tag: one.get_total_count() for tag, one in found.items()} == {
        "0/measured/ok": 1000,
        "1/measured/timeout": 5,
    }
    assert found["1/measured/timeout"].get_max_value() == pytest.approx(3.6e9, rel=0.001)  # an hour is not cut off
    own = sorted(reporter.ledger.histogram(0, "ok").counts)
    assert found["0/measured/ok"].get_value_at_percentile(100) >= own[-1]


def test_lines_are_in_order_of_time_and_say_what_they_are() -> None:
    reporter = Reporter()
    for slot in (1, 0):
        reporter.second(a_cell([10.0], slot=slot), a_cell([12.0], slot=slot, measured=False))
    lines = hlog.of_ledger(reporter.ledger, STARTED).decode().splitlines()
    assert lines[0] == "#[Histogram log format version 1.3]"
    assert lines[2] == "#[StartTime: 1893456000.000 (seconds since epoch), 2030-01-01T00:00:00+00:00]"
    tags = [line.split(",")[0] for line in lines if line.startswith("Tag=")]
    assert tags == ["Tag=1/unmeasured/ok", "Tag=1/measured/ok", "Tag=0/unmeasured/ok", "Tag=0/measured/ok"]
    assert "Tag=1/measured/ok,1893456000.000,1.000,10.007,HISTFAAAA" in "\n".join(lines)


def test_without_the_exact_sum_places_count_with_their_middle() -> None:
    reporter = Reporter()
    reporter.second(a_cell([100.0] * 10))
    text = hlog.of_ledger(reporter.ledger, STARTED).decode()
    bare = "\n".join(line for line in text.splitlines() if "SumMicroseconds" not in line).encode()
    (batch,) = hlog.read(bare)[0, True]
    assert batch.histogram("ok").sum_us == pytest.approx(1_000_000, rel=0.001)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (b"Tag=0/measured/ok,1.0,1.0,1.0,HISTFAAA\n", "line 1 holds no histogram"),
        (b"Tag=0/measured/ok,1.0,1.0,1.0,HISTFAAAABF4nJNpmSzMwMBgxwAAB1MA\n", "line 1 holds no histogram"),
        (b"Tag=zero,1.0\n", "line 1 is not one of ours"),
        (b"hello\n", "line 1 is not one of ours"),
        ("#ü\n".encode("latin-1"), "not ASCII"),
    ],
)
def test_damage_is_told_with_its_line(damage: bytes, message: str) -> None:
    with pytest.raises(hlog.HlogError, match=message):
        hlog.read(damage)


def test_an_empty_log_holds_nothing() -> None:
    assert hlog.read(hlog.write({}, STARTED)) == {}
