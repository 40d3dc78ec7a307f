"""The page that a scrape gets: every collector's newest sample, and what the exporter says about itself."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import psutil
from prometheus_client.core import Metric as ClientMetric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector as ClientCollector
from prometheus_client.registry import CollectorRegistry

from exporters.family import Family, Sample, many, single
from exporters.metric import Metric
from exporters.names import exporter as names
from exporters.sampler import State


@dataclass(frozen=True, slots=True)
class SelfReading:
    """The exporter's own cost: counters since its start, `scrape_seconds` of the previous scrape."""

    cpu_seconds: float
    resident_bytes: int
    descriptors: int | None
    started: float
    scrapes: int
    scrape_seconds: float | None
    version: str
    python: str


def read_self(scrapes: int, scrape_seconds: float | None) -> SelfReading:
    """Read this process; descriptors are unknown where the system does not tell."""
    process = psutil.Process()
    try:
        descriptors: int | None = process.num_fds()
    except (psutil.AccessDenied, OSError, AttributeError):
        descriptors = None
    return SelfReading(
        cpu_seconds=time.process_time(),
        resident_bytes=process.memory_info().rss,
        descriptors=descriptors,
        started=process.create_time(),
        scrapes=scrapes,
        scrape_seconds=scrape_seconds,
        version=_version(),
        python=platform.python_version(),
    )


def families(states: Sequence[State], own: SelfReading) -> tuple[Family, ...]:
    """All families of a page, each metric once however many sources have samples of it; pure."""
    samples: dict[Metric, tuple[Sample, ...]] = {}
    for state in states:
        for result in state.sample.results if state.sample is not None else ():
            for family in result.families:
                samples[family.metric] = samples.get(family.metric, ()) + family.samples
    shown = (Family(metric, found) for metric, found in samples.items())
    return (*shown, *_freshness(states), *_sources(states), *_cost(own))


def render(shown: Iterable[Family], accept: str) -> tuple[bytes, str]:
    """The page in the format that `accept` (the request's header) asks for, and its content type."""
    encode, content_type = choose_encoder(accept)
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Shown(shown))
    return encode(registry), content_type


class _Shown(ClientCollector):
    """Our families as the Prometheus client library wants them."""

    def __init__(self, shown: Iterable[Family]) -> None:
        self._shown = [family for family in shown if family.samples]

    def describe(self) -> Iterator[ClientMetric]:
        """Nothing up front: what is shown depends on what was read."""
        return iter(())

    def collect(self) -> Iterator[ClientMetric]:
        """Every family that has samples."""
        for family in self._shown:
            metric = family.metric
            shown = ClientMetric(metric.family, metric.help, metric.kind)
            for labels, value in family.samples:
                shown.add_sample(metric.name, dict(zip(metric.labels, labels, strict=True)), value)
            yield shown


def _freshness(states: Sequence[State]) -> tuple[Family, ...]:
    return (
        many(names.SAMPLE_AGE, (((s.collector,), s.age_seconds) for s in states)),
        many(
            names.SAMPLE_DURATION,
            (((s.collector,), s.sample.ended - s.sample.started) for s in states if s.sample is not None),
        ),
        many(names.SAMPLE_INTERVAL, (((s.collector,), s.interval_seconds) for s in states)),
        many(names.SAMPLES, (((s.collector,), s.samples) for s in states)),
        many(names.SAMPLE_TIMEOUTS, (((s.collector,), s.timeouts) for s in states)),
        many(names.HUNG, (((s.collector,), int(s.hung)) for s in states)),
    )


def _sources(states: Sequence[State]) -> tuple[Family, ...]:
    results = [(s.collector, r) for s in states if s.sample is not None for r in s.sample.results]
    failures = [((s.collector, *key), count) for s in states for key, count in sorted(s.failures.items())]
    return (
        many(names.SOURCE_SUCCESS, (((c, r.source), int(not r.failure)) for c, r in results)),
        many(names.SOURCE_DURATION, (((c, r.source), r.seconds) for c, r in results)),
        many(names.SOURCE_FAILURES, failures),
    )


def _cost(own: SelfReading) -> tuple[Family, ...]:
    return (
        single(names.BUILD_INFO, 1, own.version, own.python),
        single(names.CPU, own.cpu_seconds),
        single(names.MEMORY, own.resident_bytes),
        single(names.DESCRIPTORS, own.descriptors),
        single(names.START_TIME, own.started),
        single(names.SCRAPES, own.scrapes),
        single(names.SCRAPE_DURATION, own.scrape_seconds),
    )


def _version() -> str:
    try:
        return version("stagelight")
    except PackageNotFoundError:
        return "unknown"
