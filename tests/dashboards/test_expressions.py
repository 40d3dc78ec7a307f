"""Every expression, against a real Prometheus: does it parse, and does it show what really happened?"""

from __future__ import annotations

import pytest

from dashboards import tfserving
from dashboards.board import Board
from dashboards.catalog import BOARDS
from dashboards.grafana.render import phase_starts
from dashboards.load_test import BOARD
from dashboards.panel import Kind
from dashboards.queries import Expression, expressions, substitute
from tests.dashboards.conftest import Archived
from tests.dashboards.store import Store
from tests.dashboards.synthetic_run import SLOTS, SPAN, below, latency, slot_at

WINDOW = 20.0
ALL = [expression for board in BOARDS for expression in expressions(board, WINDOW)]

EMPTY_HERE = {
    ("last-verdict", "A"): "an instant query inside the run sees no verdict yet",
    ("gpu", "A"): "the synthetic machine has no GPU",
    ("gpu", "B"): "the synthetic machine has no GPU",
    ("client-latency", "E"): "the synthetic run's loop is closed",
}

SHOWN = [e for e in expressions(BOARD, WINDOW) if e.panel.kind is not Kind.TABLE]
"""Of the home board, whose components the synthetic run has."""

every_expression = pytest.mark.parametrize(
    "expression", {e.expr: e for e in ALL}.values(), ids=lambda e: f"{e.key}-{e.ref}"
)


def ask(archived: Archived, key: str, ref: str, offset: float) -> dict[str, float]:
    """Legend label values (joined) to value, at an offset from the start of load."""
    expr = {(e.key, e.ref): e.expr for e in ALL}[key, ref]
    found = archived.store.at(expr, archived.start + offset)
    return {" ".join(series["metric"].values()): float(series["value"][1]) for series in found}


@every_expression
def test_prometheus_parses_and_types_every_expression(prometheus: Store, expression: Expression) -> None:
    assert prometheus.formatted(expression.expr) is not None, expression.expr


def test_a_rate_without_a_range_is_refused(prometheus: Store) -> None:
    assert prometheus.formatted("rate(x)") is None


@pytest.mark.parametrize("expression", SHOWN, ids=lambda e: f"{e.key}-{e.ref}")
def test_no_panel_stays_empty_over_a_run(archived: Archived, expression: Expression) -> None:
    found = archived.store.range(expression.expr, archived.start, archived.start + SPAN)
    numbers = [value for series in found for _, value in series["values"] if value != "NaN"]
    if (expression.key, expression.ref) in EMPTY_HERE:
        assert expression.may_be_empty
    else:
        assert numbers, f"{expression.panel.title} {expression.ref}: {expression.expr}"


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.uid)
def test_variables_find_values_and_a_wrong_one_empties_what_it_narrows(archived: Archived, board: Board) -> None:
    nothing = {variable.name: "nobody" for variable in board.variables if not variable.hidden}
    for expression in expressions(board, WINDOW, nothing):
        if "nobody" in expression.expr:
            found = archived.store.range(expression.expr, archived.start, archived.start + SPAN)
            assert found == [], expression.expr


@pytest.mark.parametrize("slot", [slot for slot in SLOTS if slot.end - slot.start >= 30], ids=lambda s: f"{s.start}s")
def test_the_boards_show_what_happened(archived: Archived, slot: object) -> None:
    middle = next(s.end - 5 for s in SLOTS if s is slot)
    on = slot_at(middle)
    assert on
    assert ask(archived, "load-profile", "A", middle) == {"": on.users}
    assert ask(archived, "phases", "A", middle)[on.stage] == {"warmup": 2, "steady": 4}[on.phase.value]
    rate = on.users / (latency(on.users) * 1.1)
    assert ask(archived, "request-rate", "B", middle)[""] == pytest.approx(rate, rel=0.01)
    assert ask(archived, "request-rate", "A", middle)["ok"] == pytest.approx(rate, rel=0.01)
    assert ask(archived, "server-times", "A", middle)[""] == pytest.approx(latency(on.users), rel=0.01)
    assert ask(archived, "server-batches", "B", middle)[""] == pytest.approx(1 + on.users / 20, rel=0.01)
    assert ask(archived, "server-batches", "A", middle)[""] == pytest.approx(4 * (1 + on.users / 20), rel=0.01)


@pytest.mark.parametrize(("ref", "q"), [("A", 0.5), ("B", 0.95), ("C", 0.99)])
def test_the_true_server_quantile_lies_within_the_bounds_shown(archived: Archived, ref: str, q: float) -> None:
    for slot in SLOTS[1:5]:
        at = slot.end - 5
        low = ask(archived, "server-latency", f"{ref}1", at)[""]
        high = ask(archived, "server-latency", f"{ref}2", at)[""]
        shown = ask(archived, "server-latency", f"{ref}3", at)[""]
        assert below(low, latency(slot.users)) <= q <= below(high, latency(slot.users))
        assert low <= shown <= high * 1.0001
        assert high / low == pytest.approx(tfserving.LATENCY_BUCKETS.growth)


def test_the_first_failures_of_a_new_status_are_seen_at_once(archived: Archived) -> None:
    begin = next(slot.start for slot in SLOTS if slot.users > 80)
    at = archived.start + begin + 5
    plain = f'sum by (status) (rate({tfserving.REQUESTS.name}{{status!="OK"}}[30s]))'
    assert archived.store.at(plain, at) == [], "this is what a plain rate misses"
    new = 0.02 * 5 * 120 / (latency(120) * 1.1)
    shown = ask(archived, "failures", "B", begin + 10)  # a rule is evaluated at some moment of its five seconds
    assert shown.keys() == {"UNAVAILABLE"}
    assert 0.99 * new / 30 <= shown["UNAVAILABLE"] <= 2.02 * new / 30


def test_phase_starts_are_the_slots_in_milliseconds(archived: Archived) -> None:
    found = archived.store.at(substitute(phase_starts(), WINDOW, {"plan": ".+"}), archived.start + SPAN + 5)
    assert sorted(float(s["value"][1]) for s in found) == [(archived.start + slot.start) * 1000 for slot in SLOTS]


MOST_SAMPLES = 60_000
"""That Prometheus may read for one refresh over the run's seven minutes: a number that a busy machine does not move."""


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.uid)
def test_a_refresh_reads_few_samples(archived: Archived, board: Board) -> None:
    begin, end = archived.start - 60, archived.start + SPAN + 55
    panels = set(board.opened)
    asked = [e for e in expressions(board, WINDOW, span=end - begin) if e.panel in panels]
    read = {e.expr: archived.store.cost(e.expr, begin, end, 5)[1] for e in asked}
    assert 0 < sum(read.values()) <= MOST_SAMPLES, sorted(read.items(), key=lambda item: -item[1])[:5]
