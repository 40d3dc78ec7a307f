"""PromQL from names: every expression of a panel is built here out of metrics and labels."""

from __future__ import annotations

import math
import re
from typing import NewType

from exporters.metric import Metric

Expr = NewType("Expr", str)
"""A PromQL expression; it may hold Grafana's variables."""

Match = NewType("Match", str)
"""One label matcher."""

WINDOW = "$__rate_interval"
"""Grafana's window for rates: at least four scrapes, and no shorter than the graph's step."""

RANGE = "$__range"
"""Grafana's length of the board's whole time range."""

STEP = "$__interval"
"""Grafana's distance of two points of a graph."""

EVERYTHING = ".+"
"""What `All` of a variable stands for: the label exists."""


OPERATOR = re.compile(r" ([-+*/^]|or|and|unless) ")


def equal(label: str, value: str) -> Match:
    """The label has this value."""
    return Match(f'{label}="{value}"')


def unequal(label: str, value: str) -> Match:
    """The label has another value; an empty value means: the label exists."""
    return Match(f'{label}!="{value}"')


def matches(label: str, pattern: str) -> Match:
    """The label fits the regular expression, which PromQL anchors at both ends."""
    return Match(f'{label}=~"{pattern}"')


def differs(label: str, pattern: str) -> Match:
    """The label does not fit the regular expression."""
    return Match(f'{label}!~"{pattern}"')


def literal(text: str) -> str:
    """The pattern that fits this text alone, as it stands between PromQL's quotes."""
    escaped = re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text)
    return escaped.replace("\\", "\\\\").replace('"', '\\"')


def series(metric: Metric, *where: Match) -> Expr:
    """The metric's series; a histogram has none of its own."""
    if metric.kind == "histogram":
        raise ValueError(f"could not select {metric.name}: of a histogram ask for buckets, total or count")
    return _select(metric.name, where)


def buckets(metric: Metric, *where: Match) -> Expr:
    """A histogram's cumulative buckets."""
    return _part(metric, "bucket", where)


def total(metric: Metric, *where: Match) -> Expr:
    """The sum of everything a histogram observed, in its unit."""
    return _part(metric, "sum", where)


def count(metric: Metric, *where: Match) -> Expr:
    """How many observations a histogram has."""
    return _part(metric, "count", where)


def rate(counter: Expr) -> Expr:
    """Increase per second over the window."""
    return Expr(f"rate({counter}[{WINDOW}])")


def sum_by(expr: Expr, *labels: str) -> Expr:
    """Sum over everything but the labels."""
    return _aggregate("sum", expr, labels)


def max_by(expr: Expr, *labels: str) -> Expr:
    """Largest over everything but the labels."""
    return _aggregate("max", expr, labels)


def min_by(expr: Expr, *labels: str) -> Expr:
    """Smallest over everything but the labels."""
    return _aggregate("min", expr, labels)


def count_by(expr: Expr, *labels: str) -> Expr:
    """How many series there are, by the labels."""
    return _aggregate("count", expr, labels)


def subtract(first: Expr, second: Expr) -> Expr:
    """Difference of series with equal labels."""
    return Expr(f"{_grouped(first)} - {_grouped(second)}")


def not_below(expr: Expr, bound: float) -> Expr:
    """The expression, or the bound where it is below."""
    return Expr(f"clamp_min({expr}, {bound:g})")


def largest(expr: Expr, window: str = RANGE, step: str = STEP) -> Expr:
    """The largest value of an expression over the window, looked at every step."""
    return Expr(f"max_over_time(({expr})[{window}:{step}])")


def mean(histogram: Metric, *where: Match, by: tuple[str, ...] = ()) -> Expr:
    """Mean of what a histogram observed within the window, out of sum and count: no bucket is in it."""
    return divide(sum_by(rate(total(histogram, *where)), *by), sum_by(rate(count(histogram, *where)), *by))


def mean_quotient(histogram: Metric, divisor: Metric, *where: Match) -> Expr:
    """The sum of one histogram for each unit of another one's sum."""
    return divide(sum_by(rate(total(histogram, *where))), sum_by(rate(total(divisor, *where))))


def named_by(expr: Expr, names: Metric, label: str) -> Expr:
    """The series, with a label that only some of their instances have from another metric whose value is 1."""
    joined = f"{expr} * on (job, instance) group_left ({label}) {names.name}"
    return Expr(f"({joined} or {expr} unless on (job, instance) {names.name})")


def shifted(expr: Expr, by: str) -> Expr:
    """The expression as it was `by` earlier, a duration that may be negative; every selector must have braces."""
    return Expr(re.sub(r"(\{[^{}]*\})(\[[^\]]*\])?", rf"\1\2 offset {by}", expr))


def quantile_now(recorded: Metric, name: str, *where: Match) -> Expr:
    """The quantile of this name (`p99`) as a rule recorded it: the largest of the chosen series, never their mean."""
    return max_by(series(recorded, equal("quantile", name), *where))


def quantile(recorded: Metric, name: str, *where: Match) -> Expr:
    """The same over time: each point is the largest of its step, so that no peak is lost in a long range."""
    return max_by(within_step(series(recorded, equal("quantile", name), *where)))


def within_step(selected: Expr) -> Expr:
    """The largest value within each step of the graph, of selected series."""
    return Expr(f"max_over_time({selected}[{STEP}])")


def by_bucket(recorded: Metric, *where: Match) -> Expr:
    """Recorded rates by bucket, each point the mean of its step: rates, unlike quantiles, may be averaged."""
    return sum_by(Expr(f"avg_over_time({series(recorded, *where)}[{STEP}])"), "le")


def bucket_above(estimate: Expr, first: float, growth: float) -> Expr:
    """Upper bound of the bucket that holds `estimate`, for bounds `first * growth^i`.

    Holds for any estimate by interpolation, because it never leaves its bucket. Servers print bounds with six digits:
    the small allowance keeps an estimate that sits on a bound in the bucket below it.
    """
    steps = f"ceil(ln({estimate} / {first:g}) / {math.log(growth)!r} - 0.0001)"
    return Expr(f"{first:g} * {growth:g} ^ clamp_min({steps}, 0)")


def divide(dividend: Expr, divisor: Expr) -> Expr:
    """Quotient of series with equal labels; no divisor, no result."""
    return Expr(f"{_grouped(dividend)} / {_grouped(divisor)}")


def scale(expr: Expr, factor: float) -> Expr:
    """The expression times a constant."""
    return Expr(f"{_grouped(expr)} * {factor!r}")


def complement(share: Expr) -> Expr:
    """One minus the share."""
    return Expr(f"1 - {_grouped(share)}")


def or_else(first: Expr, *others: Expr) -> Expr:
    """The first, with what only the others have."""
    return Expr(" or ".join((first, *others)))


def label_values(metric: Metric, label: str, *where: Match) -> Expr:
    """Grafana's query for the values that a label has."""
    return Expr(f"label_values({_select(metric.name, where)}, {label})")


def _select(name: str, where: tuple[Match, ...]) -> Expr:
    return Expr(f"{name}{{{', '.join(where)}}}" if where else name)


def _part(metric: Metric, part: str, where: tuple[Match, ...]) -> Expr:
    if metric.kind != "histogram":
        raise ValueError(f"could not select the {part} of {metric.name}: it is a {metric.kind}, not a histogram")
    return _select(f"{metric.name}_{part}", where)


def _aggregate(operator: str, expr: Expr, labels: tuple[str, ...]) -> Expr:
    return Expr(f"{operator} by ({', '.join(labels)}) ({expr})" if labels else f"{operator}({expr})")


def _grouped(expr: Expr) -> str:
    """In brackets, unless it is a single selector or call, which binds tighter than any operator."""
    outside = re.sub(r'"[^"]*"', "", expr)
    while (shorter := re.sub(r"\([^()]*\)|\{[^{}]*\}|\[[^\[\]]*\]", "", outside)) != outside:
        outside = shorter
    return f"({expr})" if OPERATOR.search(outside) else expr
