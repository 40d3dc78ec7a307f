from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from controller.edges.prometheus_http import PrometheusHttp
from controller.edges.rehearsal import RehearsalClock, RehearsalStore
from controller.ports import EdgeError, Sample, Series, SeriesStore
from tests.controller.edges.pages import Page, serving
from tests.controller.edges.real_prometheus import free_port

T0 = 1_800_000_000
AT = datetime.fromtimestamp(T0, UTC)


def success(kind: str, result: Any, **more: Any) -> Page:
    return Page(json.dumps({"status": "success", "data": {"resultType": kind, "result": result}, **more}))


def failure(status: int, kind: str, why: str) -> Page:
    return Page(json.dumps({"status": "error", "errorType": kind, "error": why}), status)


def ask(page: Page) -> tuple[list[Sample], list[str]]:
    with serving(lambda *_: page) as prometheus:
        store = PrometheusHttp(prometheus.url, now=lambda: AT)
        return list(store.instant("x")), list(store.warnings())


def test_values_are_read_from_strings_and_kept_as_they_are() -> None:
    told = ["NaN", "+Inf", "-Inf", "1.21e+05", "-0"]
    found, warnings = ask(
        success("vector", [{"metric": {"n": str(i)}, "value": [T0 + 0.781, v]} for i, v in enumerate(told)])
    )
    values = [sample.value for sample in found]
    assert math.isnan(values[0])
    assert values[1:] == [math.inf, -math.inf, 121_000.0, 0.0]
    assert found[2].labels == {"n": "2"}
    assert found[0].at == AT + timedelta(milliseconds=781)
    assert warnings == []


def test_nothing_is_an_empty_answer_and_not_zero() -> None:
    assert ask(success("vector", []))[0] == []


def test_a_scalar_is_a_sample_without_labels_and_a_string_is_refused() -> None:
    assert ask(success("scalar", [T0, "1"]))[0] == [Sample({}, 1.0, AT)]
    with pytest.raises(EdgeError, match="it is a string, a vector was expected"):
        ask(success("string", [T0, "x"]))


def test_a_native_histogram_is_left_out_and_named() -> None:
    element = {"metric": {}, "histogram": [T0, {"count": "4", "sum": "0.4", "buckets": []}]}
    found, warnings = ask(success("vector", [element, {"metric": {}, "value": [T0, "2"]}]))
    assert [sample.value for sample in found] == [2.0]
    assert "1 native histograms were left out" in warnings[0]


def test_a_warning_of_the_server_travels_with_the_value() -> None:
    page = success("vector", [{"metric": {}, "value": [T0, "7"]}], warnings=["one store unavailable"], infos=["x"])
    found, warnings = ask(page)
    assert (found[0].value, warnings) == (7.0, ["Prometheus warned: one store unavailable"])


def test_a_bare_nan_is_no_number() -> None:
    page = Page('{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1800000000,NaN]}]}}')
    assert math.isnan(ask(page)[0][0].value)


def test_clocks_that_are_apart_are_named() -> None:
    _, warnings = ask(success("vector", [{"metric": {}, "value": [T0 + 7200, "7"]}]))
    assert "7200 s ahead of ours" in warnings[0]
    _, warnings = ask(success("vector", [{"metric": {}, "value": [T0 - 60, "7"]}]))
    assert "60 s behind ours" in warnings[0]


@pytest.mark.parametrize(
    ("page", "sentence", "tries"),
    [
        (failure(400, "bad_data", "1:5: parse error"), "400 bad_data: 1:5: parse error", 1),
        (failure(503, "timeout", "query timed out"), "503 timeout: query timed out", 3),
        (failure(422, "execution", "query processing would load too many samples into memory"), "shorter span", 1),
        (Page("<html><head><title>502 Bad Gateway</title></head></html>" * 9, 502), "502, not JSON but '<html>", 3),
        (Page("[]"), "no reason", 1),
        (Page('{"status": "success", "data": null}'), "it has no result", 1),
        (Page("", 302, headers=(("Location", "/login"),)), "302, not JSON", 1),
    ],
)
def test_an_error_is_a_sentence_after_a_bounded_number_of_tries(page: Page, sentence: str, tries: int) -> None:
    with serving(lambda *_: page) as prometheus:
        with pytest.raises(EdgeError) as caught:
            PrometheusHttp(prometheus.url).instant("rate(x[5m])")
        assert sentence in str(caught.value)
        assert "rate(x[5m])" in str(caught.value)
        assert len(str(caught.value)) < 400
        assert len(prometheus.seen) == tries


def test_a_slow_and_an_absent_server_are_told_apart() -> None:
    with serving(lambda *_: Page(delay=1.0)) as prometheus, pytest.raises(EdgeError, match=r"no answer within 0\.2 s"):
        PrometheusHttp(prometheus.url, read=0.2).instant("x")
    gone = PrometheusHttp(f"http://127.0.0.1:{free_port()}")
    with pytest.raises(EdgeError, match="Connection refused; is it running"):
        gone.instant("x")
    assert not gone.ready()


def test_a_gap_stays_a_gap_and_an_empty_series_is_left_out() -> None:
    points = [(T0, "10"), (T0 + 5, "15"), (T0 + 25, "3"), (T0 + 30, "9")]
    page = success("matrix", [{"metric": {"__name__": ":t:c"}, "values": points}, {"metric": {}, "values": []}])
    with serving(lambda *_: page) as prometheus:
        found = PrometheusHttp(prometheus.url).raw(":t:c", AT - timedelta(seconds=1), AT + timedelta(seconds=30))
    assert found == [Series({"__name__": ":t:c"}, [(at, float(value)) for at, value in points])]


def test_series_of_two_instances_stay_two() -> None:
    result = [{"metric": {"instance": i}, "values": [[T0, v]]} for i, v in (("a", "0.010"), ("b", "0.500"))]
    with serving(lambda *_: success("matrix", result)) as prometheus:
        found = PrometheusHttp(prometheus.url).range("p99", AT, AT, timedelta(seconds=5))
    assert [(dict(one.labels), one.points[0][1]) for one in found] == [
        ({"instance": "a"}, 0.01),
        ({"instance": "b"}, 0.5),
    ]


def test_a_span_that_is_too_large_is_halved_and_put_together_and_never_for_ever() -> None:
    def script(_method: str, _path: str, body: bytes) -> Page:
        question = dict(part.split("=") for part in body.decode().split("&"))
        span, end = int(question["query"].partition("%5B")[2].removesuffix("ms%5D")) / 1000, float(question["time"])
        if span > 20:
            return failure(422, "execution", "query processing would load too many samples into memory")
        points = [[at, str(at)] for at in range(T0, T0 + 61, 5) if end - span <= at <= end]
        return success("matrix", [{"metric": {"a": "b"}, "values": points}])

    with serving(script) as prometheus:
        store = PrometheusHttp(prometheus.url)
        (found,) = store.raw("x", AT, AT + timedelta(seconds=60))
        assert [at for at, _ in found.points] == [float(at) for at in range(T0 + 5, T0 + 61, 5)]
        before = len(prometheus.seen)
        with pytest.raises(EdgeError, match="too many samples"):
            store.raw("x", AT - timedelta(days=300), AT)
        assert len(prometheus.seen) - before < 20


def test_only_targets_of_the_job_are_told_with_their_health() -> None:
    targets = [
        {"labels": {"job": job}, "scrapeUrl": f"http://{job}/metrics", "health": health}
        for job, health in (("loadgen", "up"), ("host", "down"))
    ]
    page = Page(json.dumps({"status": "success", "data": {"activeTargets": targets}}))
    with serving(lambda *_: page) as prometheus:
        assert PrometheusHttp(prometheus.url).active_targets("loadgen") == {"http://loadgen/metrics": "up"}


QUESTIONS: dict[str, Callable[[SeriesStore], object]] = {
    "instant": lambda store: store.instant("x"),
    "active_targets": lambda store: store.active_targets("x"),
    "raw": lambda store: store.raw("x", AT, AT + timedelta(seconds=1)),
    "range": lambda store: store.range("x", AT, AT, timedelta(seconds=1)),
    "names": lambda store: store.names("{}", AT, AT),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_both_stores_say_when_they_are_down(question: str) -> None:
    stores: list[SeriesStore] = [
        PrometheusHttp(f"http://127.0.0.1:{free_port()}"),
        RehearsalStore(RehearsalClock(), down=True),
    ]
    for store in stores:
        assert not store.ready()
        with pytest.raises(EdgeError, match="could not ask"):
            QUESTIONS[question](store)
