"""Where the report's series come from, and how they become figures."""

from __future__ import annotations

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from dashboards.load_test import BOARD
from dashboards.panels import client, load
from dashboards.promql import literal
from dashboards.report import exact
from dashboards.report.__main__ import main
from dashboards.report.fetch import Span, fetch
from dashboards.report.page import render_report
from dashboards.report.picture import Drawn, figure
from dashboards.report.record import read
from dashboards.report.series import Answer, Answers, Line, keep, kept
from tests.dashboards.archived_run import START, words, write_run
from tests.dashboards.conftest import Archived
from tests.dashboards.store import Store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_run(tmp_path, START)
    return tmp_path


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
    page = words(render_report(read(folder / "record.json"), BOARD, exact.read(folder), slow, ""))
    assert page.count("query timed out") >= 10


def test_a_panel_that_changed_since_the_series_were_kept_is_not_drawn_from_them(folder: Path) -> None:
    lines = (Line({}, (1.0, 2.0)),)
    keep(folder, Answers("http://p", START, START + 5, 5, 20, (Answer("load-profile", "A", "something else", lines),)))
    assert main(["--run", str(folder)]) == 0
    page = (folder / "report.html").read_text()
    assert "The panel is newer than the kept series" in page
    assert 'id="chart-load-profile"' not in page


def test_the_exact_seconds_are_those_of_the_file_and_spans_of_them_never_average_quantiles(folder: Path) -> None:
    rows = [line.split(",") for line in (folder / "seconds.csv").read_text().splitlines()]
    heads, body = rows[0], rows[1:]
    seconds = exact.read(folder)
    assert seconds
    assert seconds.every == 1
    assert list(seconds.columns["p99"]) == [float(row[heads.index("p99")]) for row in body]
    assert seconds.rate("ok")[0] == float(body[0][heads.index("ok")])
    lines = [
        "start,end,ok,errors,users,p50,p99",
        *(f"{n},{n + 1},{n},0,5,0.1,{n}" for n in range(3 * 3600 - 1)),
        "9,,,,,,",
    ]
    (folder / "seconds.csv").write_text("\n".join(lines))
    long = exact.read(folder)
    assert long
    assert long.every == 3
    assert (long.columns["p99"][1], long.rate("ok")[1]) == (5.0, 4.0)
    assert "worst of 3 s" in exact.latencies(long).data[1].name


@pytest.mark.parametrize("content", [None, "", "a,b\n1,2\n", "start,end,ok,errors,users,p50,p99\n1,2,x,0,0,0,0\n"])
def test_a_run_without_readable_seconds_says_so(folder: Path, content: str | None) -> None:
    (folder / "seconds.csv").unlink()
    if content is not None:
        (folder / "seconds.csv").write_text(content)
    assert exact.read(folder) is None
    assert main(["--run", str(folder)]) == 0
    assert "no seconds.csv" in (folder / "report.html").read_text()


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
