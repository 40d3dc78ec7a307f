from __future__ import annotations

import json
import re
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from controller import wording as terminal
from controller.criterion import Indicator
from controller.measurement import Absent, Measured
from controller.record import from_json
from dashboards.load_test import BOARD
from dashboards.panels import client, load
from dashboards.promql import literal
from dashboards.report import wording
from dashboards.report.__main__ import main
from dashboards.report.fetch import Span, fetch
from dashboards.report.page import render_report
from dashboards.report.picture import Drawn, figure
from dashboards.report.record import Figure, RecordError, read
from dashboards.report.series import Answer, Answers, Line, keep, kept
from tests.dashboards.archived_run import write_run
from tests.dashboards.conftest import Archived
from tests.dashboards.store import Store
from tests.dashboards.synthetic_run import SPAN

START = 1_893_456_000.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_run(tmp_path, START)
    return tmp_path


def words(page: str) -> str:
    """What the page says, without scripts, styles and markup."""
    return re.sub(r"<[^>]*>", " ", re.sub(r"<(script|style).*?</\1>", "", page, flags=re.S))


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
    page = render_report(read(folder / "record.json"), BOARD, None, "no Prometheus was given.")
    for panel in BOARD.panels:
        if panel.kind in ("timeseries", "heatmap"):
            article = re.search(rf'<article class="panel" id="{panel.key}">(.*?)</article>', page, re.S)
            assert article
            assert "no Prometheus was given." in article[1]


def test_series_are_those_of_prometheus_and_are_kept_for_the_next_time(archived: Archived, tmp_path: Path) -> None:
    write_run(tmp_path, archived.start)
    assert main(["--run", str(tmp_path), "--prometheus", archived.store.url]) == 0
    first = (tmp_path / "report.html").read_bytes()
    answers = kept(tmp_path)
    assert answers
    (line,) = (answers.to("load-profile", "A") or Answer("", "", "")).lines
    truth = archived.store.range('max(loadtest_target_users{plan="demo"})', answers.start, answers.end, answers.step)
    assert {t: float(v) for t, v in truth[0]["values"]} == {
        t: v for t, v in zip(answers.grid, line.values, strict=True) if v is not None
    }
    assert main(["--run", str(tmp_path)]) == 0
    assert (tmp_path / "report.html").read_bytes() == first
    assert main(["--run", str(tmp_path), "--prometheus", "http://127.0.0.1:9"]) == 0
    assert (tmp_path / "report.html").read_bytes() == first, "an unreachable Prometheus must not cost the kept series"


def test_an_empty_prometheus_is_said_to_be_empty(prometheus: Store, folder: Path) -> None:
    assert main(["--run", str(folder), "--prometheus", prometheus.url]) == 0
    assert kept(folder) is None
    assert f"{prometheus.url} has no series of the time of this run" in words((folder / "report.html").read_text())


def test_a_query_that_fails_and_a_host_that_is_no_prometheus_say_so(folder: Path) -> None:
    class Odd(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.answer
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        answer = b"<html>"

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Odd) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://user:secret@127.0.0.1:{server.server_port}"
        odd = fetch(url, BOARD, Span(START, START + 60, 5), {})
        Odd.answer = b'{"status": "error", "error": "query timed out"}'
        slow = fetch(url, BOARD, Span(START, START + 60, 5), {})
        server.shutdown()
    assert "secret" not in odd.source
    assert {answer.failure for answer in slow.answers} == {"Prometheus refused the query: query timed out"}
    (failure,) = {answer.failure for answer in odd.answers}
    assert failure
    assert "does not answer like a Prometheus" in failure
    page = words(render_report(read(folder / "record.json"), BOARD, slow, ""))
    assert page.count("query timed out") >= 10


def test_a_panel_that_changed_since_the_series_were_kept_is_not_drawn_from_them(folder: Path) -> None:
    lines = (Line({}, (1.0, 2.0)),)
    keep(folder, Answers("http://p", START, START + 5, 5, 20, (Answer("load-profile", "A", "something else", lines),)))
    assert main(["--run", str(folder)]) == 0
    page = (folder / "report.html").read_text()
    assert "The panel is newer than the kept series" in page
    assert 'id="chart-load-profile"' not in page


def test_a_long_run_is_asked_for_in_steps_of_whole_scrapes() -> None:
    assert Span(0, 180, 5).step == 5
    assert Span(0, 6 * 3600, 5).step == 40


def test_a_plans_name_narrows_to_itself_alone(prometheus: Store) -> None:
    for name in ('a b.c+(d)|"e"\\', "nightly", "пример"):
        pattern = literal(name)
        assert prometheus.formatted(f'x{{plan=~"{pattern}"}}') is not None
        assert re.fullmatch(json.loads(f'"{pattern}"'), name)


def test_cumulative_buckets_become_what_each_bucket_holds() -> None:
    panel, (query,) = client.LATENCY_HEATMAP, client.LATENCY_HEATMAP.queries
    lines = tuple(
        Line({"le": bound}, values)
        for bound, values in (
            ("0.1", (3.0, None)),
            ("0.01", (0.0, None)),
            ("+Inf", (4.0, None)),
            ("0.001", (0.0, None)),
        )
    )
    (trace,) = figure(panel, [Drawn(query, lines)], (START, START + 5)).data
    assert [list(row) for row in trace.z] == [[None, None], [3.0, None], [1.0, None]]
    assert [row[0] for row in trace.customdata] == ["1 ms to 10 ms", "10 ms to 100 ms", "100 ms to more"]


def test_outcomes_stack_with_the_good_answers_at_the_bottom() -> None:
    query = load.REQUESTS.queries[0]
    lines = tuple(Line({"outcome": outcome}, (1.0,)) for outcome in ("http_error", "connection_error", "ok"))
    made = figure(load.REQUESTS, [Drawn(query, lines)], (START,))
    assert [trace.name for trace in made.data] == ["ok", "http_error", "connection_error"]
    assert {trace.stackgroup for trace in made.data} == {"A"}


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
