"""What every page about a load generator is written with: metric families by the names of `exporters.names.loadgen`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from exporters.loadgen_pulse import Vitals
from exporters.metric import Metric as Name
from exporters.names import loadgen as names

Labelled = Iterable[tuple[tuple[str, ...], float]]
"""Samples by the values of their labels."""

Cumulative = tuple[Sequence[tuple[str, float]], float]
"""A histogram: (`le`, number at or below it), the last one `+Inf`; and the sum of its values, in seconds."""


def family(name: Name, samples: Labelled) -> Metric:
    """A counter or a gauge, as its name says, with these samples."""
    kind = CounterMetricFamily if name.kind == "counter" else GaugeMetricFamily
    made = kind(name.family, name.help, labels=name.labels)
    for labels, value in samples:
        made.add_metric(labels, value)
    return made


def histogram(name: Name, found: Mapping[tuple[str, ...], Cumulative]) -> Metric:
    """A histogram by the values of its labels."""
    made = HistogramMetricFamily(name.name, name.help, labels=name.labels)
    for labels, (buckets, total) in found.items():
        made.add_metric(labels, buckets, total)
    return made


def limits(in_force: Mapping[str, float]) -> Metric:
    """Every signal's limit."""
    return family(names.SIGNAL_LIMIT, [((signal,), limit) for signal, limit in in_force.items()])


def vitals(workers: Sequence[tuple[str, Vitals]], master: Vitals | None) -> Iterator[Metric]:
    """What the processes that send use; and of them and of the master the distances to the limits, with what those are
    made of."""
    yield family(names.WORKER_CPU, [((name,), one.cpu_seconds) for name, one in workers])
    yield family(names.WORKER_MEMORY, [((name,), one.resident_bytes) for name, one in workers])
    everybody = [*workers, *([] if master is None else [(names.MASTER, master)])]
    distances = [((signal, name), value) for name, one in everybody for signal, value in one.saturation.items()]
    yield family(names.SATURATION, distances)
    found = [(name, one.readings) for name, one in everybody]
    for metric in names.READINGS:
        yield family(metric, [((name,), read[metric.name]) for name, read in found if metric.name in read])
