"""Can the load generator be trusted?"""

from __future__ import annotations

from dashboards import palette
from dashboards.panel import Kind, Panel, Query, Threshold, Unit
from dashboards.promql import Expr, max_by, series
from dashboards.variables import OF_GENERATOR
from exporters.names import loadgen

WORST_SIGNAL: Expr = series(loadgen.SATURATION, OF_GENERATOR)

SATURATION = Panel(
    id=20,
    key="generator-saturation",
    title="Generator saturation, by signal",
    question="How near is the generator's worst worker to the limit of each signal?",
    bad="100 %: the generator is at its limit; the verdict becomes invalid, the latency above is the generator's own.",
    unit=Unit.SHARE,
    kind=Kind.LINES,
    queries=(Query("A", max_by(WORST_SIGNAL, "signal"), "{{signal}}"),),
    thresholds=(Threshold(None, palette.GOOD), Threshold(1, palette.BAD)),
    colours=tuple(zip(loadgen.SIGNALS, palette.SERIES, strict=False)),
    height=7,
)
