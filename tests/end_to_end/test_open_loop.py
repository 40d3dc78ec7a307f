"""An open loop tells of a frozen target what a closed one hides, to the figure that can be computed beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.freeze import Frozen, run

pytestmark = pytest.mark.slow

CASE = Frozen(rate=150, users=5, lasts=10, closed_lasts=8, frozen=0.5)


def trusted(record: dict[str, Any], window: dict[str, Any]) -> bool:
    """Whether the run itself says that the generator was fit in this window."""
    reasons = record["verdict"]["reasons"]
    return not any(reason["slot"] == window["slot"] and reason["ruling"] == "invalid" for reason in reasons)


def test_a_frozen_target_shows_in_full_and_the_report_says_from_when_latency_counts(tmp_path: Path) -> None:
    record, output = run(tmp_path, CASE)
    assert record["outcome"] == "completed", output
    opened, closed = record["windows"]
    assert (opened["loop"], closed["loop"]) == ("open", "closed")
    p99 = {window["loop"]: window["indicators"]["p99"]["value"] for window in (opened, closed)}
    near = 0.08 if trusted(record, opened) else 0.4  # a busy machine adds its own delays, and the verdict says so
    assert p99["open"] == pytest.approx(CASE.expected_p99(opened["seconds"]), rel=near), output
    assert p99["closed"] < (0.1 if trusted(record, closed) else 0.6 * p99["open"]), output
    assert "loop: open, latency from the intended send time" in output
    assert "loop: closed, latency from the actual send" in output

    kept = opened["punctuality"]
    assert kept["due"] == pytest.approx(CASE.rate * opened["seconds"], abs=2 + 0.005 * kept["due"])
    assert kept["dropped"] == {}
    assert sum(opened["outcomes"].values()) == kept["due"]
    assert sum(record["totals"].values()) == record["generator"]["started"]
