"""The page that a scrape gets: every collector's newest sample, and what the exporter says about itself."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata

from exporters import kernel
from exporters.family import Family, Sample, many, single
from exporters.metric import Metric
from exporters.names import exporter as names
from exporters.sampler import State
from exporters.source import Result

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class SelfReading:
    """The exporter's own cost: counters since its start, `scrape_seconds` of the previous scrape."""

    cpu_seconds: float
    resident_bytes: int | None
    descriptors: int | None
    started: float | None
    scrapes: int
    scrape_seconds: float | None
    version: str
    python: str


def read_self(scrapes: int, scrape_seconds: float | None) -> SelfReading:
    """Read this process; what the system does not tell is None."""
    return SelfReading(
        cpu_seconds=time.process_time(),
        resident_bytes=_resident(),
        descriptors=_descriptors(),
        started=_started(),
        scrapes=scrapes,
        scrape_seconds=scrape_seconds,
        version=version(),
        python=platform.python_version(),
    )


def _resident() -> int | None:
    pages = (kernel.read_or_none("/proc/self/statm") or "").split()
    return int(pages[1]) * _PAGE_BYTES if len(pages) > 1 else None


def _descriptors() -> int | None:
    try:
        return len(os.listdir("/proc/self/fd")) - 1  # noqa: PTH208 - and without the one that lists them
    except OSError:
        return None


@cache
def _started() -> float | None:
    """Unix time of the process's start: ticks since boot (field 22 of its `stat`) behind the time of boot."""
    stat = kernel.read_or_none("/proc/self/stat")
    boot = kernel.pick(kernel.read_or_none("/proc/stat") or "", ("btime",))
    if stat is None or "btime" not in boot:
        return None
    return int(boot["btime"]) + int(stat.rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")


def families(states: Sequence[State], own: SelfReading) -> tuple[Family, ...]:
    """All families of a page; pure. No two collectors have a metric in common."""
    shown = (family for state in states if state.sample for family in measured(state.sample.results))
    return (*shown, *about(states, own))


def measured(results: Iterable[Result]) -> tuple[Family, ...]:
    """What one collector's sample says, each metric once however many sources have samples of it."""
    samples: dict[Metric, tuple[Sample, ...]] = {}
    for result in results:
        for family in result.families:
            samples[family.metric] = samples.get(family.metric, ()) + family.samples
    return tuple(Family(metric, found) for metric, found in samples.items())


def about(states: Sequence[State], own: SelfReading) -> tuple[Family, ...]:
    """What the exporter says about its collectors and itself."""
    return (*_freshness(states), *_sources(states), *_cost(own))


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


@cache
def version() -> str:
    """The version that is installed; `unknown` where none is."""
    try:
        return metadata.version("stagelight")
    except metadata.PackageNotFoundError:
        return "unknown"
