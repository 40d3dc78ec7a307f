"""The generator's one endpoint for Prometheus: the master's book as metric families, served from memory."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping

from gevent.pywsgi import WSGIServer
from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from controller.generator.book import Book
from controller.generator.latency import Buckets
from controller.generator.members import Member
from controller.generator.pulse import Vitals
from controller.generator_spec import GeneratorSpec
from controller.plans.places import place_of
from exporters.loadgen_limits import in_force
from exporters.metric import Metric as Name
from exporters.names import loadgen

Labelled = tuple[tuple[str, ...], float]


class BookCollector(Collector):
    """Builds every family anew at each scrape: a worker that is gone leaves no series behind."""

    def __init__(self, spec: GeneratorSpec, book: Book, locust_version: str) -> None:
        """Reads `book`, never changes it."""
        self._spec = spec
        self._book = book
        self._locust_version = locust_version

    def collect(self) -> Iterator[Metric]:
        """All families of `exporters.names.loadgen`."""
        now, book, spec = time.monotonic(), self._book, self._spec
        info = {"run_id": spec.run_id, "plan": spec.plan, "target": place_of(spec.target)}
        yield InfoMetricFamily(
            loadgen.INFO.family, loadgen.INFO.help, value={**info, "locust_version": self._locust_version}
        )
        yield _counter(loadgen.REQUESTS, [((outcome,), number) for outcome, number in book.totals.items()])
        yield _histogram(loadgen.DURATION, {(outcome,): buckets for outcome, buckets in book.durations.items()})
        yield from _open_loop(book)
        yield _counter(loadgen.RETRIES, [((), book.retries)])
        yield _counter(loadgen.STARTED, [((), book.started)])
        yield _counter(loadgen.REPORTS_LOST, [((), book.reports_lost)])
        yield _gauge(loadgen.IN_FLIGHT, [((), book.started - book.ended)])
        yield _gauge(loadgen.USERS_TARGET, [((), book.order.users)])
        yield _gauge(loadgen.USERS_RUNNING, [((), book.users)])
        yield _gauge(loadgen.WORKERS_EXPECTED, [((), spec.workers)])
        connected = [member for member in book.members.values() if member.connected(now)]
        yield _gauge(loadgen.WORKERS_CONNECTED, [((), len(connected))])
        ages = [((member.name,), member.age(now)) for member in book.members.values()]
        yield _gauge(loadgen.WORKER_REPORT_AGE, ages)
        yield from _vitals(connected)
        yield from _signals([(member.name, member.vitals) for member in connected], book.master)
        limits = in_force(spec.limits)
        yield _gauge(loadgen.SIGNAL_LIMIT, [((signal,), limit) for signal, limit in limits.items()])


def _vitals(members: Iterable[Member]) -> Iterator[Metric]:
    """Readings of the workers that are connected; of the others there are none."""
    found = [(member, member.vitals) for member in members if member.vitals is not None]
    yield _counter(loadgen.WORKER_CPU, [((member.name,), vitals.cpu_seconds) for member, vitals in found])
    yield _gauge(loadgen.WORKER_MEMORY, [((member.name,), vitals.resident_bytes) for member, vitals in found])
    yield _histogram(loadgen.LOOP_LAG, {(member.name,): member.lags for member, _ in found})


def _signals(workers: Iterable[tuple[str, Vitals | None]], master: Vitals | None) -> Iterator[Metric]:
    """Distances to the limits and what they are made of, of the workers and of this process."""
    found = [(name, vitals) for name, vitals in (*workers, (loadgen.MASTER, master)) if vitals is not None]
    distances = [((signal, name), value) for name, vitals in found for signal, value in vitals.saturation.items()]
    yield _gauge(loadgen.SATURATION, distances)
    for metric in loadgen.READINGS:
        family = _counter if metric.kind == "counter" else _gauge
        yield family(metric, [((name,), v.readings[metric.name]) for name, v in found if metric.name in v.readings])


def _open_loop(book: Book) -> Iterator[Metric]:
    """Latencies from the intended send have no series before there is one: most runs have no open loop."""
    open_book = book.open
    yield _gauge(loadgen.RATE_TARGET, [((), book.rate(time.time()))])
    yield _counter(loadgen.ARRIVALS, [((), open_book.due)])
    yield _counter(loadgen.DROPPED, [((reason,), number) for reason, number in open_book.dropped.items()])
    yield _histogram(loadgen.LATENESS, {(): open_book.lateness})
    intended = open_book.durations.items() if open_book.due or book.order.arrivals else ()
    yield _histogram(loadgen.INTENDED_DURATION, {(outcome,): buckets for outcome, buckets in intended})


def _histogram(name: Name, found: Mapping[tuple[str, ...], Buckets]) -> Metric:
    family = HistogramMetricFamily(name.name, name.help, labels=name.labels)
    for labels, buckets in found.items():
        family.add_metric(labels, buckets.cumulative(), buckets.sum_us / 1e6)
    return family


def _counter(name: Name, samples: Iterable[Labelled]) -> Metric:
    family = CounterMetricFamily(name.family, name.help, labels=name.labels)
    for labels, value in samples:
        family.add_metric(labels, value)
    return family


def _gauge(name: Name, samples: Iterable[Labelled]) -> Metric:
    family = GaugeMetricFamily(name.family, name.help, labels=name.labels)
    for labels, value in samples:
        family.add_metric(labels, value)
    return family


def serve(collector: Collector, host: str) -> str:
    """Serve on a free port of `host`, in greenlets of this thread; the address as host:port."""
    registry = CollectorRegistry()
    registry.register(collector)
    server = WSGIServer((host, 0), make_wsgi_app(registry), log=None)
    server.start()
    return f"{host}:{server.server_port}"
