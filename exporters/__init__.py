"""Exporters: what host, GPUs and load generator do, as Prometheus metrics; stand-alone, and importable anywhere.

A scrape's way: `__main__.COLLECTORS` → `sampler.Sampler` (one thread a collector) → `source.Collector.sample` →
`host/*.read_*` or `gpu.reader.GpuReader` → pure `families` → `page.families` from memory → `server`.
"""
