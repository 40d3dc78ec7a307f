from __future__ import annotations

import gzip
import math
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from controller.edges.file_discovery import FileDiscovery
from controller.edges.prometheus_http import PrometheusHttp
from controller.edges.rehearsal import RehearsalClock, RehearsalStore
from controller.ports import Series
from controller.running import openmetrics
from tests.controller.edges.pages import Page, serving
from tests.controller.edges.real_prometheus import running
from tests.prometheus.binaries import every, path

START = datetime(2030, 1, 1, tzinfo=UTC)

LATENCY = ":tensorflow:serving:request_latency"
SCRAPED = f"""# TYPE {LATENCY} histogram
{LATENCY}_bucket{{model_name="m",API="predict",entrypoint="REST",le="10"}} 0
{LATENCY}_bucket{{model_name="m",API="predict",entrypoint="REST",le="18"}} NN
{LATENCY}_bucket{{model_name="m",API="predict",entrypoint="REST",le="1.0e+01"}} 3
{LATENCY}_bucket{{model_name="m",API="predict",entrypoint="REST",le="+Inf"}} NN
{LATENCY}_sum{{model_name="m",API="predict",entrypoint="REST"}} 1.23457e+06
{LATENCY}_count{{model_name="m",API="predict",entrypoint="REST"}} NN
odd_gauge{{text="back\\\\slash \\"quote\\" new\\nline ünï 長"}} NaN
odd_gauge{{text="up"}} +Inf
odd_gauge{{text="down"}} -Inf
odd_gauge{{text="tiny"}} 5e-324
odd_gauge{{text="third"}} 0.3333333333333333
odd_gauge{{text="large"}} 9007199254740993
some_requests_total NN
"""

Values = dict[tuple[tuple[str, str], ...], list[tuple[float, str]]]


def values(store: PrometheusHttp, start: datetime, end: datetime) -> Values:
    """Every stored point; NaN by name, because it equals nothing."""
    return {
        tuple(sorted(series.labels.items())): [(at, repr(value)) for at, value in series.points]
        for series in store.raw('{job="loadgen"}', start, end)
    }


def wait(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 15
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.2)


@pytest.mark.slow
@pytest.mark.parametrize("program", every("prometheus"))
def test_a_run_comes_back_whole_in_another_prometheus(tmp_path: Path, program: str) -> None:
    """Also: what is published is scraped, what is withdrawn is forgotten, and both are seen through the store."""
    promtool = Path(path(program)).with_name("promtool")
    scrapes = 0

    def page(_method: str, _path: str, _body: bytes) -> Page:
        nonlocal scrapes
        scrapes += 1
        return Page(SCRAPED.replace("NN", str(scrapes)), kind="text/plain; version=0.0.4")

    start = datetime.now(UTC) - timedelta(seconds=1)
    with serving(page) as exporter, running(tmp_path / "one", program) as store:
        discovery = FileDiscovery(tmp_path / "one" / "targets")
        assert store.active_targets("loadgen") == {}
        discovery.publish("loadgen", exporter.url.removeprefix("http://"), {"plan": "demo"})
        wait(lambda: list(store.active_targets("loadgen").values()) == ["up"])
        wait(lambda: scrapes >= 6)
        discovery.withdraw("loadgen")
        wait(lambda: store.active_targets("loadgen") == {})
        end = datetime.now(UTC)
        exported = openmetrics.archive(store, ['{job="loadgen"}', '{plan="demo"}'], start, end)
        before = values(store, start, end)
        assert openmetrics.archive(store, ['{job="loadgen"}'], start, end) == exported
        assert store.names('{job="loadgen"}', start, end)[0] == f"{LATENCY}_bucket"
        (counted,) = store.instant("max_over_time(some_requests_total[1m])", end)
        assert counted.value == max(float(value) for _, value in before[_key(before, "some_requests_total")])
    text = tmp_path / "series.om"
    text.write_bytes(gzip.decompress(exported))
    command = [str(promtool), "tsdb", "create-blocks-from", "openmetrics", str(text), str(tmp_path / "two" / "data")]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    with running(tmp_path / "two", program) as store:
        assert values(store, start, end) == before
    assert len(before) >= 13
    assert {repr(math.nan), "inf", "-inf", "5e-324"} <= {value for points in before.values() for _, value in points}


def _key(found: Values, name: str) -> tuple[tuple[str, str], ...]:
    return next(key for key in found if ("__name__", name) in key)


def store_of(*series: Series) -> RehearsalStore:
    store = RehearsalStore(RehearsalClock())
    store.series["{}"] = series
    for name in {one.labels["__name__"] for one in series}:
        store.series[f'{{__name__="{name}"}}'] = [one for one in series if one.labels["__name__"] == name]
    return store


def exported(*series: Series) -> str:
    return b"".join(openmetrics.export_series(store_of(*series), ["{}"], START, START + timedelta(minutes=1))).decode()


def test_names_are_in_order_and_the_text_ends_as_openmetrics_must() -> None:
    at = START.timestamp()
    text = exported(
        Series({"__name__": "b", "x": "2"}, [(at + 1.5, 1.0), (at + 2, 2.5)]),
        Series({"__name__": "a"}, [(at + 1, 1e21)]),
        Series({"__name__": "b", "x": "1"}, [(at + 1, math.nan)]),
        Series({"__name__": "late"}, [(at + 61, 1.0)]),
    )
    assert text == (
        f"a 1e+21 {at + 1:.3f}\n"
        f'b{{x="1"}} NaN {at + 1:.3f}\n'
        f'b{{x="2"}} 1.0 {at + 1.5:.3f}\nb{{x="2"}} 2.5 {at + 2:.3f}\n'
        "# EOF\n"
    )


def test_no_series_is_still_a_text() -> None:
    assert exported() == "# EOF\n"


def test_names_that_only_newer_versions_know_are_quoted() -> None:
    point = [(START.timestamp() + 1, 1.0)]
    assert exported(Series({"__name__": "a.b", "c.d": "e"}, point)).startswith('{"a.b","c.d"="e"} 1.0 ')


def test_a_selector_must_be_one() -> None:
    with pytest.raises(ValueError, match="not a selector in braces"):
        list(openmetrics.export_series(store_of(), ["up"], START, START))
