"""The collectors that the options ask for."""

from __future__ import annotations

from exporters.options import Options
from exporters.source import Collector


def collectors(options: Options) -> tuple[Collector, ...]:
    """One for each name, with the sources that are on; what is not asked for is not even imported.

    `loadgen` is a rule of the host's processes, and a collector of its own only without the host.
    """
    made = []
    for name in options.collectors:
        match name:
            case "gpu":
                made.append(_gpu(options))
            case "loadgen" if "host" in options.collectors:
                continue
            case _:
                made.append(_host(name, options))
    return tuple(made)


def _gpu(options: Options) -> Collector:
    from exporters.gpu.collector import gpu_collector

    return _only(options, gpu_collector(patience=options.deadline / 4))


def _host(name: str, options: Options) -> Collector:
    from exporters.host.collector import host_collector

    found = host_collector(per_core=options.per_core, rules=options.rules)
    if name == "loadgen":
        processes = tuple(source for source in found.sources if source.name == "processes")
        return Collector(name, processes, found.close)
    return _only(options, found)


def _only(options: Options, collector: Collector) -> Collector:
    collector.sources = tuple(source for source in collector.sources if source.name in options.sources)
    return collector
