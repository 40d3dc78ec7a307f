"""Exporters: what host, GPUs and load generator do, as Prometheus metrics; stand-alone, and importable anywhere.

A scrape's way: `options` → `collectors.collectors` → `sampler.Sampler` (one thread a collector) →
`source.Collector.sample` → `host/*.read_*` or `gpu.reader.GpuReader` → pure `families` →
`written.Written` from memory (`page`, `text`) → `server`.

As a library, in any program:

    from exporters import page, text
    from exporters.host.collector import host_collector

    collector = host_collector()
    body, content_type = text.render((f for r in collector.sample() for f in r.families), accept="")
"""
