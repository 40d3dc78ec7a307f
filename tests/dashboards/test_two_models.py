"""Boards over a server of two models, one with odd letters in its name, that starts anew while it is watched."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboards import tfserving
from dashboards.boards import INTERNALS, WHERE
from dashboards.promql import literal
from dashboards.queries import expressions
from tests.dashboards.conftest import Archived
from tests.dashboards.store import filled
from tests.needs import need
from tests.prometheus.files import ROOT

QUICK, SLOW = "quick", 'näme "2"/v1 (a+b)'
MEDIANS = {QUICK: 300.0, SLOW: 70_000.0}
"""Microseconds; every request of a model takes as long as this, so that one bucket of its holds them all."""

LASTS, RESET = 180, 90
RATE = {QUICK: 20, SLOW: 5}
BOUNDS = tuple(float(f"{10 * 1.8**i:.6g}") for i in range(33))


def page(start: int) -> str:
    """The server's series, scraped every five seconds; all counters fall to zero at the reset."""
    lines: list[str] = []
    for model, median in MEDIANS.items():
        name = model.replace('"', '\\"')
        own = f'job="tfserving",instance="s",model_name="{name}"'
        inference = f'{own},API="predict",entrypoint="REST"'
        counts = [(start + at, RATE[model] * (at % RESET + (1000 if at < RESET else 0))) for at in range(0, LASTS, 5)]
        for bound in (*BOUNDS, float("inf")):
            le = "+Inf" if bound == float("inf") else f"{bound:.6g}"
            series = f'{tfserving.REQUEST_LATENCY.name}_bucket{{{inference},le="{le}"}}'
            lines += [f"{series} {number if median <= bound else 0} {at}" for at, number in counts]
        for series, factor in (
            (f"{tfserving.REQUEST_LATENCY.name}_count{{{inference}}}", 1.0),
            (f"{tfserving.REQUEST_LATENCY.name}_sum{{{inference}}}", median),
            (f'{tfserving.REQUESTS.name}{{{own},status="OK"}}', 1.0),
        ):
            lines += [f"{series} {number * factor} {at}" for at, number in counts]
    lines += [f'up{{job="tfserving",instance="s"}} 1 {start + at}' for at in range(0, LASTS, 5)]
    return "\n".join([*lines, "# EOF", ""])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archived]:
    """The page in a store, and what the rules make of it."""
    start = int(time.time()) // 60 * 60 - 600
    rules = (ROOT / "rules" / "tfserving.yml",)
    folder: Path = tmp_path_factory.mktemp("two-models")
    with filled(page(start), folder, need("prometheus"), need("promtool"), rules) as store:
        yield Archived(store, start)


def values(served: Archived, key: str, ref: str, model: str | None, at: float | None = None) -> dict[str, list[float]]:
    """The lines of a query by the values of their labels, with one model chosen or with all."""
    chosen = {} if model is None else {"model": literal(model)}
    found = {(e.key, e.ref): e.expr for board in (WHERE, INTERNALS) for e in expressions(board, 20.0, chosen)}
    begin, end = (served.start + 45, served.start + LASTS - 5) if at is None else (served.start + at,) * 2
    answer = served.store.range(found[key, ref], begin, end)
    return {" ".join(s["metric"].values()): [float(value) for _, value in s["values"]] for s in answer}


@pytest.mark.parametrize("model", [QUICK, SLOW])
def test_a_chosen_model_is_shown_alone_and_within_its_bucket(served: Archived, model: str) -> None:
    low, high, shown = (values(served, "server-latency", ref, model)[""] for ref in ("C1", "C2", "C3"))
    for below, above, value in zip(low, high, shown, strict=True):
        assert below <= MEDIANS[model] / 1e6 <= above
        assert below <= value <= above * 1.0001


def test_of_all_models_the_slowest_is_shown_and_never_a_mixture(served: Archived) -> None:
    assert values(served, "server-latency", "A3", None) == values(served, "server-latency", "A3", SLOW)


def test_panels_by_model_show_both_and_a_restart_makes_no_spike(served: Archived) -> None:
    rates = values(served, "request-rate-by-model", "A", None)
    means = values(served, "request-mean-by-model", "A", None)
    statuses = values(served, "server-statuses", "A", None)["OK"]
    for model, median in MEDIANS.items():
        (name,) = (labels for labels in rates if model in labels)
        assert max(rates[name]) <= 1.3 * RATE[model]
        assert min(rates[name]) > 0
        assert means[name] == pytest.approx([median / 1e6] * len(means[name]), rel=0.01)
    assert max(statuses) <= 1.3 * sum(RATE.values())
