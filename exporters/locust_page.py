"""The page of any Locust run for Prometheus: the names of `exporters.names.loadgen`, as far as Locust can know them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from exporters.loadgen_pulse import Vitals
from exporters.locust_account import Account, Buckets
from exporters.metric import Metric as Name
from exporters.names import loadgen as names

Labelled = Iterable[tuple[tuple[str, ...], float]]


@dataclass(frozen=True, slots=True)
class State:
    """What Locust's runner says now; `info` are the labels of the info metric."""

    now: float  # monotonic
    users_target: int
    users: int
    workers_expected: int
    info: Mapping[str, str]


class Page(Collector):
    """Built anew at each scrape: a worker that is gone leaves no series behind."""

    def __init__(self, account: Account, limits: Mapping[str, float], look: Callable[[], State]) -> None:
        """Reads the account, never changes it."""
        self._account, self._limits, self._look = account, limits, look

    def collect(self) -> Iterator[Metric]:
        """All families."""
        state, account = self._look(), self._account
        connected = account.connected(state.now)
        yield InfoMetricFamily(names.INFO.family, names.INFO.help, value=dict(state.info))
        totals = {outcome: sum(buckets.counts.values()) for outcome, buckets in account.durations.items()}
        yield _counter(names.REQUESTS, (((outcome,), number) for outcome, number in totals.items()))
        seen: dict[tuple[str, ...], Buckets] = {(o,): b for o, b in account.durations.items() if totals[o] or o == "ok"}
        yield _histogram(names.DURATION, seen)
        yield _gauge(names.USERS_TARGET, [((), state.users_target)])
        yield _gauge(names.USERS_RUNNING, [((), state.users)])
        yield _gauge(names.WORKERS_EXPECTED, [((), state.workers_expected)])
        yield _gauge(names.WORKERS_CONNECTED, [((), len(connected))])
        ages = (((process.name,), state.now - process.seen) for process in account.processes.values())
        yield _gauge(names.WORKER_REPORT_AGE, ages)
        yield _histogram(names.LOOP_LAG, {(process.name,): process.lags for process in connected})
        yield _gauge(names.SIGNAL_LIMIT, (((signal,), limit) for signal, limit in self._limits.items()))
        yield from _vitals([(process.name, process.vitals) for process in connected], account.master)


def _vitals(workers: list[tuple[str, Vitals]], master: Vitals | None) -> Iterator[Metric]:
    yield _counter(names.WORKER_CPU, [((name,), vitals.cpu_seconds) for name, vitals in workers])
    yield _gauge(names.WORKER_MEMORY, [((name,), vitals.resident_bytes) for name, vitals in workers])
    everybody = [*workers, *([] if master is None else [(names.MASTER, master)])]
    distances = [((signal, name), value) for name, v in everybody for signal, value in v.saturation.items()]
    yield _gauge(names.SATURATION, distances)
    for metric in names.READINGS:
        samples = [((name,), v.readings[metric.name]) for name, v in everybody if metric.name in v.readings]
        yield (_counter if metric.kind == "counter" else _gauge)(metric, samples)


def _counter(name: Name, samples: Labelled) -> Metric:
    family = CounterMetricFamily(name.family, name.help, labels=name.labels)
    for labels, value in samples:
        family.add_metric(labels, value)
    return family


def _gauge(name: Name, samples: Labelled) -> Metric:
    family = GaugeMetricFamily(name.family, name.help, labels=name.labels)
    for labels, value in samples:
        family.add_metric(labels, value)
    return family


def _histogram(name: Name, found: Mapping[tuple[str, ...], Buckets]) -> Metric:
    family = HistogramMetricFamily(name.name, name.help, labels=name.labels)
    for labels, buckets in found.items():
        family.add_metric(labels, buckets.cumulative(), buckets.sum)
    return family
