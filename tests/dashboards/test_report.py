from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.figures import wording as terminal
from controller.figures.measurement import Absent, Measured
from controller.plans.criterion import Indicator
from controller.verdicts.record import from_json
from dashboards.load_test import BOARD
from dashboards.report import exact, wording
from dashboards.report.__main__ import main
from dashboards.report.page import render_report
from dashboards.report.record import Figure, RecordError, read
from tests.dashboards.archived_run import START, words, write_run
from tests.dashboards.synthetic_run import SPAN


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_run(tmp_path, START)
    return tmp_path


def change(folder: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    record = json.loads((folder / "record.json").read_text())
    edit(record)
    (folder / "record.json").write_text(json.dumps(record))


def test_the_report_reads_what_the_controller_writes(folder: Path) -> None:
    ours, theirs = read(folder / "record.json"), from_json((folder / "record.json").read_bytes())
    assert (ours.run_id, ours.verdict.ruling) == (theirs.run_id, theirs.verdict.ruling.value)
    assert ours.span == (START, START + SPAN - 5)
    for window, source in zip(ours.windows, theirs.windows, strict=True):
        assert window.name == source.name
        assert {name: figure.value for name, figure in window.indicators.items()} == {
            indicator.value: measured.value for indicator, measured in source.indicators.items()
        }


@pytest.mark.parametrize("indicator", list(Indicator))
@pytest.mark.parametrize("value", [0.0, 0.00012345, 0.04821, 0.9994, 0.9996, 1.534, 1234.5678])
def test_a_figure_reads_the_same_in_the_report_and_on_the_terminal(indicator: Indicator, value: float) -> None:
    for low, high, censored in ((None, None, False), (value * 0.9, value * 1.1, False), (value * 0.9, None, True)):
        measured = Measured(value, 1000, low, high, censored)
        ours = Figure(1000, value, low, high, censored)
        assert wording.measurement(indicator, ours) == terminal.measurement(indicator, measured)
        assert wording.interval(indicator, ours) == terminal.interval(indicator, measured)
    absent = Absent("insufficient (n=12)", 12)
    assert wording.measurement(indicator, Figure(12, reason=absent.reason)) == terminal.measurement(indicator, absent)


@pytest.mark.parametrize("seconds", [0.4, 9.99, 42.2, 200.0, 7199.6, 7500.0])
def test_a_span_reads_the_same_as_well(seconds: float) -> None:
    assert wording.span(seconds) == terminal.span(seconds)


def test_every_value_of_the_record_stands_in_the_page(folder: Path) -> None:
    assert main(["--run", str(folder)]) == 0
    said = words((folder / "report.html").read_text())
    run = read(folder / "record.json")
    for window in run.windows:
        for name in ("p50", "p95", "p99", "p99.9", "mean", "max", "throughput", "error_ratio", "timeout_ratio"):
            assert wording.measurement(name, window.indicators[name]) in said
    for reason in run.verdict.reasons:
        assert reason.sentence.replace("<", "&lt;") in said
    assert run.fingerprint["workload"]["digest"] in said
    assert "memory_bytes" in said


def test_names_cannot_become_markup(folder: Path) -> None:
    bad = "<script>alert(1)</script>\"'&"

    def edit(record: dict[str, Any]) -> None:
        record["plan"]["name"] = bad
        record["timetable"][1]["stage"] = bad
        record["notes"] = [bad]

    change(folder, edit)
    assert main(["--run", str(folder)]) == 0
    page = (folder / "report.html").read_text()
    assert "<script>alert(1)" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 3


def test_the_page_needs_nothing_from_outside(folder: Path) -> None:
    assert main(["--run", str(folder)]) == 0
    page = (folder / "report.html").read_text()
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=", page)
    assert "default-src 'none'" in page


def test_without_prometheus_every_figure_says_why_it_is_empty(folder: Path) -> None:
    page = render_report(read(folder / "record.json"), BOARD, exact.read(folder), None, "no Prometheus was given.")
    for panel in BOARD.panels:
        if panel.kind in ("timeseries", "heatmap"):
            article = re.search(rf'<article class="panel" id="{panel.key}">(.*?)</article>', page, re.S)
            assert article
            assert "no Prometheus was given." in article[1]


def test_a_run_that_never_closed_its_slots_is_drawn_to_its_end(folder: Path) -> None:
    def edit(record: dict[str, Any]) -> None:
        record["timetable"][-1]["ended"] = None
        record["outcome"], record["because"] = "abandoned", "its controller died"

    change(folder, edit)
    assert main(["--run", str(folder)]) == 0
    page = (folder / "report.html").read_text()
    assert "abandoned: its controller died" in words(page)
    assert "peak \\u00b7 steady" in page or "peak · steady" in page


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "give the folder of a run that has ended"),
        ("{", "could not read"),
        ('{"schema": 99}', "its schema is version 99, this report knows 1"),
        ('{"schema": 1}', "run_id: Field required"),
    ],
)
def test_a_record_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, sentence: str
) -> None:
    if content is not None:
        (tmp_path / "record.json").write_text(content)
    with pytest.raises(RecordError, match=re.escape(sentence)):
        read(tmp_path / "record.json")
    assert main(["--run", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("could not read ")
    assert len(said.splitlines()) == 1
