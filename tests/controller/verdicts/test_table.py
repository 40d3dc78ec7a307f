"""The screen: golden at 80 columns, whole without colour, readable in ASCII."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from controller.orders import WorkerHealth
from controller.outcome import Outcome
from controller.verdicts.conclusion import conclude
from controller.verdicts.record import RunRecord
from controller.verdicts.table import render, show
from controller.verdicts.table_cells import MOST_ROWS
from tests.controller.loads import ERRORS_1, P99_50, Reporter, a_cell, a_slot, dice, remains, times

GOLDEN = Path(__file__).with_name("golden") / "verdict_table.txt"
HOT = (WorkerHealth("worker-0", 5, 0.2, {"cpu": 1.2}),)


def a_record(steps: int = 3) -> RunRecord:
    """A staircase that gets slower; its last step with timeouts on a generator that was for a while at its limit."""
    rolls, reporter, slots = dice(3), Reporter(), []
    for step in range(steps):
        slots.append(a_slot(step, "climb", 20.0, 20.0 * step, 50 * (step + 1)))
        reporter.users = 50 * (step + 1)
        for second in range(20):
            cells = [a_cell([rolls.lognormvariate(2.5 + 0.35 * step, 0.5) for _ in range(150)], slot=step)]
            if second % 5 == 0:
                cells.append(a_cell([3.0], "http_error", step))
            last = step == steps - 1
            if last and second > 15:
                cells.append(a_cell([3000.0], "timeout", step))
            reporter.second(*cells, workers=HOT if last and second < 4 else reporter_health())
    unreached = a_slot(steps, "peak", 30.0, 20.0 * steps, 400)
    left = remains(reporter, [*slots, unreached], {slot.seq: times(slot) for slot in slots})
    return conclude(replace(left, outcome=Outcome.STOPPED_BY_RULE, because="stop rule held: p99 > 1s for 10s"))


def reporter_health() -> tuple[WorkerHealth, ...]:
    return (WorkerHealth("worker-0", 5, 0.2, {"cpu": 0.42}, {120: 45, 900: 5}),)


@pytest.mark.golden
def test_the_screen_is_the_golden_one() -> None:
    shown = render(a_record())
    if os.environ.get("STAGELIGHT_GOLDEN") == "write":
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(shown, encoding="utf-8")
    assert shown == GOLDEN.read_text(encoding="utf-8"), "if this is meant, run the tests with STAGELIGHT_GOLDEN=write"


def test_it_fits_the_width_and_a_screen() -> None:
    lines = render(a_record()).splitlines()
    assert max(len(line) for line in lines) <= 80
    assert len(lines) <= 50


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_figure_is_cut_at_any_usual_width(width: int) -> None:
    text = render(a_record(), width)
    assert "…" not in text or width < 80


def test_many_windows_still_make_a_list_that_ends() -> None:
    record = a_record(steps=20)
    text = render(record)
    assert "more not shown" in text
    assert text.count("error_ratio < 1%") <= MOST_ROWS


def test_every_ruling_is_a_word_and_not_only_a_colour() -> None:
    text = render(a_record())
    assert text.startswith("Verdict: INVALID")
    assert "! invalid" in text
    assert "? inconclusive" in text
    assert "exit code 5" in text


def test_plain_output_has_no_escape_codes_and_ascii_where_it_must() -> None:
    record = a_record()
    for encoding, expected in (("utf-8", "✓"), ("ascii", "+")):
        raw = io.BytesIO()
        sink = io.TextIOWrapper(raw, encoding=encoding, errors="strict")
        show(record, Console(file=sink, width=80))
        sink.flush()
        text = raw.getvalue().decode(encoding)
        assert "\x1b" not in text
        assert f"{expected} climb @50" in text


def test_a_terminal_gets_colour() -> None:
    sink = io.StringIO()
    show(a_record(), Console(file=sink, width=80, force_terminal=True, color_system="standard", legacy_windows=False))
    assert "\x1b[" in sink.getvalue()


def test_a_run_without_windows_still_says_what_it_means() -> None:
    record = conclude(remains(Reporter(), happened={}, drained=None, outcome=Outcome.REFUSED, because="no model x"))
    text = render(record)
    assert "INCONCLUSIVE" in text
    assert "no model x" in text
    assert "Latency" not in text


def test_absent_figures_are_dashes_and_few_requests_say_how_many_it_takes() -> None:
    reporter = Reporter()
    reporter.seconds(20, a_cell([1.0] * 10, "http_error"))
    reporter.seconds(20, a_cell([10.0], slot=1))
    slots = [a_slot(0, "broken"), a_slot(1, "few", start=20.0)]
    text = render(conclude(remains(reporter, slots, objectives=[P99_50, ERRORS_1])))
    broken, few = [line for line in text.splitlines() if " broken @5 " in line or " few @5 " in line][:2]
    assert broken.split()[3:] == ["-"] * 7
    assert "n<1,000" in few
    assert "n<10,000" in few


def test_answers_of_a_fallback_have_a_column_of_their_own_and_are_no_errors() -> None:
    reporter = Reporter()
    reporter.seconds(20, a_cell([10.0] * 8), a_cell([1.0] * 2, "degraded"))
    text = render(conclude(remains(reporter, [a_slot(0, "steady")], objectives=[ERRORS_1])))
    heads, row = (
        next(line for line in text.splitlines() if line.startswith(start)) for start in ("Requests", "steady")
    )
    assert "degraded" in heads.split()
    assert row.split()[heads.split().index("errors") + 1] == "0"
    assert " 20.0 % " in row
    assert "degraded" not in render(a_record())
