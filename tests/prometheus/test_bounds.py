"""Bounds of buckets that rules name: those that the generator really publishes."""

from __future__ import annotations

import re

from controller.generator.latency import COARSE_BOUNDS_US, EDGES_US
from controller.generator.open_book import duration_buckets
from tests.prometheus import files


def test_the_shares_ask_for_the_edges_that_every_outcome_has() -> None:
    edges = [str(edge / 1e6) for edge in EDGES_US]
    assert asked("instance_le:loadgen_answers_within:ratio_rate30s") == edges
    for rule in files.rules(files.RULES):
        if rule["record"] == "instance_duration:loadgen_requests:ratio_rate30s":
            named = re.findall(r'le="([^"]+)"', rule["expr"])
            assert named
            assert set(named) <= set(edges)


def test_the_heatmap_asks_for_the_bounds_that_answers_and_time_outs_share() -> None:
    bounds = asked("instance_le:loadgen_answers:rate30s")
    assert bounds == [*(str(bound / 1e6) for bound in COARSE_BOUNDS_US), r"\\+Inf"]
    published = duration_buckets()
    for outcome in ("ok", "timeout"):
        assert set(bounds[:-1]) <= {le for le, _ in published[outcome].cumulative()}


def asked(record: str) -> list[str]:
    """The values of `le` in a rule's one regular expression."""
    (expression,) = (rule["expr"] for rule in files.rules(files.RULES) if rule["record"] == record)
    (pattern,) = re.findall(r'le=~"([^"]+)"', expression)
    return str(pattern).split("|")
