"""The page for Prometheus, without processes: every name of the contract, from the first scrape on."""

from __future__ import annotations

import subprocess
import time

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from controller.generator.book import Book
from controller.generator.metrics import BookCollector
from controller.generator.pulse import Vitals
from controller.generator.wire import Share, WorkerReport
from controller.plans.arrivals import Arrivals
from exporters.names import loadgen
from tests.controller.generator.drive import a_spec
from tests.needs import need

READINGS = {metric.name: float(number) for number, metric in enumerate(loadgen.READINGS)}
VITALS = Vitals(2.5, 1_000_000, (90, 30_000), {"cpu": 0.25, "loop_lag": 1.5}, READINGS)


def page(book: Book) -> str:
    registry = CollectorRegistry()
    registry.register(BookCollector(a_spec("http://127.0.0.1:1"), book, "2.47.0"))
    return generate_latest(registry).decode()


def a_loaded_book() -> Book:
    book = Book()
    for name in ("worker-0", "worker-1"):
        book.join(name, name, now=1e12)  # far ahead, so that it has just reported whenever this runs
    book.order = Share(1, 3, measured=True, users=5)
    cells = ((3, True, "ok", {105: 2, 61_000_000: 1}, 61_000_210), (3, True, "timeout", {2_000_000: 1}, 2_000_000))
    book.report(WorkerReport("worker-0", 2, cells, started=6, ended=4, users=5, vitals=VITALS), now=1e12)
    return book


def an_open_book() -> Book:
    """With arrivals: five due, one dropped, one sent 3 ms late and answered after 2 ms more."""
    book = a_loaded_book()
    book.order = Share(2, 4, measured=True, users=0, arrivals=Arrivals(10, 30, 20), at=time.time() - 5)
    intended, arrivals = ((4, True, "ok", {5_000: 1}, 5_000),), ((4, True, 5, {"no_slot": 1}, {3_000: 1}, 3_000),)
    report = WorkerReport("worker-0", 3, (), 6, 4, 0, VITALS, intended, arrivals)
    assert book.report(report, now=1e12) == []
    return book


def test_every_metric_of_the_contract_is_there_with_its_type_help_and_labels() -> None:
    families = {family.name: family for family in text_string_to_metric_families(page(an_open_book()))}
    expected = {name.family if name.kind != "info" else name.name: name for name in loadgen.ALL}
    assert families.keys() == expected.keys()
    for found, name in expected.items():
        assert families[found].type == (
            name.kind if name.kind != "info" else "gauge"
        )  # infos are gauges in this format
        assert families[found].documentation == name.help
        labels = {label for sample in families[found].samples for label in sample.labels} - {"le"}
        assert labels == set(name.labels)


def test_all_outcomes_are_there_at_zero_before_the_first_request() -> None:
    lines = page(Book()).splitlines()
    for outcome in loadgen.OUTCOMES:
        assert f'loadgen_requests_total{{outcome="{outcome}"}} 0.0' in lines
        assert f'loadgen_request_duration_seconds_bucket{{le="+Inf",outcome="{outcome}"}} 0.0' in lines
    assert "loadgen_reports_lost_total 0.0" in lines


def test_counts_sums_and_buckets_are_those_of_the_book() -> None:
    lines = page(a_loaded_book()).splitlines()
    for line in (
        'loadgen_requests_total{outcome="ok"} 3.0',
        "loadgen_requests_started_total 6.0",
        "loadgen_in_flight_requests 2.0",
        "loadgen_reports_lost_total 1.0",
        'loadgen_request_duration_seconds_bucket{le="0.000103",outcome="ok"} 0.0',
        'loadgen_request_duration_seconds_bucket{le="0.000108",outcome="ok"} 2.0',
        'loadgen_request_duration_seconds_bucket{le="60.0",outcome="ok"} 2.0',
        'loadgen_request_duration_seconds_bucket{le="+Inf",outcome="ok"} 3.0',
        'loadgen_request_duration_seconds_sum{outcome="ok"} 61.00021',
        "loadgen_users_target 5.0",
        "loadgen_users_running 5.0",
        "loadgen_workers_expected 2.0",
        'loadgen_saturation{signal="loop_lag",worker="worker-0"} 1.5',
        'loadgen_worker_cpu_seconds_total{worker="worker-0"} 2.5',
        'loadgen_event_loop_lag_seconds_bucket{le="0.02",worker="worker-0"} 1.0',
        'loadgen_info{locust_version="2.47.0",plan="a-plan",run_id="run-1",target="http://127.0.0.1:1"} 1.0',
    ):
        assert line in lines


def test_an_open_loop_shows_what_was_due_and_what_became_of_it() -> None:
    lines = page(an_open_book()).splitlines()
    for line in (
        "loadgen_arrivals_total 5.0",
        'loadgen_dropped_arrivals_total{reason="no_slot"} 1.0',
        'loadgen_dropped_arrivals_total{reason="no_lease"} 0.0',
        "loadgen_send_lateness_seconds_sum 0.003",
        "loadgen_send_lateness_seconds_count 1.0",
        'loadgen_request_intended_duration_seconds_sum{outcome="ok"} 0.005',
        'loadgen_request_intended_duration_seconds_count{outcome="ok"} 1.0',
    ):
        assert line in lines
    rate = next(line for line in lines if line.startswith("loadgen_rate_target "))
    assert 15.0 <= float(rate.split()[1]) < 20.0  # five of twenty seconds on the way from 10 to 30


def test_a_closed_loop_has_no_latencies_from_an_intended_send() -> None:
    assert "loadgen_request_intended_duration_seconds_bucket" not in page(a_loaded_book())


def test_the_master_is_a_worker_of_its_own_and_limits_are_those_in_force() -> None:
    book = a_loaded_book()
    book.master = Vitals(1.0, 2, (), {"workers": 0.5}, {loadgen.WORKER_DESCRIPTORS.name: 12.0})
    lines = page(book).splitlines()
    assert 'loadgen_saturation{signal="workers",worker="master"} 0.5' in lines
    assert 'loadgen_worker_open_descriptors{worker="master"} 12.0' in lines
    assert 'loadgen_signal_limit{signal="loop_lag"} 0.02' in lines
    assert not [line for line in lines if line.startswith("loadgen_worker_sockets{") and "master" in line]


def test_the_number_of_series_is_bounded_by_the_number_of_workers() -> None:
    one = len(page(a_loaded_book()).splitlines())
    book = a_loaded_book()
    report = WorkerReport("worker-1", 1, (), started=0, ended=0, users=0, vitals=VITALS)
    book.report(report, now=1e12)
    a_worker = len(loadgen.READINGS) + len(VITALS.saturation) + len(loadgen.LOOP_LAG.labels) + 20
    assert 0 < len(page(book).splitlines()) - one <= a_worker


def test_a_worker_that_is_gone_leaves_only_the_age_of_its_last_report() -> None:
    book = a_loaded_book()
    book.give_up("worker-0", now=1e12)
    left = [line for line in page(book).splitlines() if 'worker="worker-0"' in line]
    assert [line.partition("{")[0] for line in left] == ["loadgen_worker_report_age_seconds"]


def test_promtool_finds_nothing_to_complain_about() -> None:
    command = [need("promtool"), "check", "metrics"]
    done = subprocess.run(command, input=page(a_loaded_book()), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
