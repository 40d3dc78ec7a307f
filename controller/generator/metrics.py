"""The generator's one endpoint for Prometheus: the master's book as metric families, served from memory."""

from __future__ import annotations

import time
from collections.abc import Iterator

from gevent.pywsgi import WSGIServer
from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.core import InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from controller.generator.book import Book
from controller.generator_spec import GeneratorSpec
from controller.plans.places import place_of
from exporters import loadgen_families as families
from exporters.loadgen_limits import in_force
from exporters.names import loadgen


class BookCollector(Collector):
    """Builds every family anew at each scrape: a worker that is gone leaves no series behind."""

    def __init__(self, spec: GeneratorSpec, book: Book, locust_version: str) -> None:
        """Reads `book`, never changes it."""
        self._spec = spec
        self._book = book
        self._locust_version = locust_version
        self._limits = in_force(spec.limits)

    def collect(self) -> Iterator[Metric]:
        """All families of `exporters.names.loadgen`."""
        now, book, spec = time.monotonic(), self._book, self._spec
        info = {"run_id": spec.run_id, "plan": spec.plan, "target": place_of(spec.target)}
        yield InfoMetricFamily(
            loadgen.INFO.family, loadgen.INFO.help, value={**info, "locust_version": self._locust_version}
        )
        yield families.family(loadgen.REQUESTS, [((outcome,), number) for outcome, number in book.totals.items()])
        yield families.histogram(loadgen.DURATION, {(o,): one.told() for o, one in book.durations.items()})
        yield from _open_loop(book)
        yield families.family(loadgen.RETRIES, [((), book.retries)])
        yield families.family(loadgen.STARTED, [((), book.started)])
        yield families.family(loadgen.REPORTS_LOST, [((), book.reports_lost)])
        yield families.family(loadgen.IN_FLIGHT, [((), book.started - book.ended)])
        yield families.family(loadgen.USERS_TARGET, [((), book.order.users)])
        yield families.family(loadgen.USERS_RUNNING, [((), book.users)])
        yield families.family(loadgen.WORKERS_EXPECTED, [((), spec.workers)])
        connected = [member for member in book.members.values() if member.connected(now)]
        yield families.family(loadgen.WORKERS_CONNECTED, [((), len(connected))])
        ages = [((member.name,), member.age(now)) for member in book.members.values()]
        yield families.family(loadgen.WORKER_REPORT_AGE, ages)
        read = [(member, member.vitals) for member in connected if member.vitals is not None]
        yield families.histogram(loadgen.LOOP_LAG, {(member.name,): member.lags.told() for member, _ in read})
        yield from families.vitals([(member.name, vitals) for member, vitals in read], book.master)
        yield families.limits(self._limits)


def _open_loop(book: Book) -> Iterator[Metric]:
    """Latencies from the intended send have no series before there is one: most runs have no open loop."""
    open_book = book.open
    yield families.family(loadgen.RATE_TARGET, [((), book.rate(time.time()))])
    yield families.family(loadgen.ARRIVALS, [((), open_book.due)])
    yield families.family(loadgen.DROPPED, [((reason,), number) for reason, number in open_book.dropped.items()])
    yield families.histogram(loadgen.LATENESS, {(): open_book.lateness.told()})
    intended = open_book.durations.items() if open_book.due or book.order.arrivals else ()
    yield families.histogram(loadgen.INTENDED_DURATION, {(outcome,): buckets.told() for outcome, buckets in intended})


def serve(collector: Collector, host: str) -> str:
    """Serve on a free port of `host`, in greenlets of this thread; the address as host:port."""
    registry = CollectorRegistry()
    registry.register(collector)
    server = WSGIServer((host, 0), make_wsgi_app(registry), log=None)
    server.start()
    return f"{host}:{server.server_port}"
