from __future__ import annotations

import pytest

from dashboards import promql
from dashboards.promql import Expr
from dashboards.queries import rate_window, substitute
from exporters.metric import Metric
from tests.dashboards.store import Store

COUNTER = Metric("things_total", "counter", "Things.")
HISTOGRAM = Metric("wait_seconds", "histogram", "Waiting.")


def test_a_histogram_is_never_selected_as_a_whole_and_a_counter_has_no_buckets() -> None:
    with pytest.raises(ValueError, match="could not select wait_seconds: of a histogram ask for buckets"):
        promql.series(HISTOGRAM)
    with pytest.raises(ValueError, match="could not select the bucket of things_total: it is a counter"):
        promql.buckets(COUNTER)


def test_brackets_come_where_an_operator_needs_them_and_nowhere_else() -> None:
    plain = promql.series(COUNTER, promql.matches("kind", "a|b (c) *"))
    assert promql.divide(plain, promql.scale(plain, 2.0)) == f"{plain} / ({plain} * 2.0)"
    assert promql.complement(promql.sum_by(plain, "kind")) == f"1 - sum by (kind) ({plain})"


def test_a_variable_that_the_board_does_not_have_is_an_error() -> None:
    assert (
        substitute('x{a=~"$b"}[$__rate_interval] * $__rate_interval_ms', 20, {"b": ".+"})
        == 'x{a=~".+"}[20000ms] * 20000'
    )
    with pytest.raises(ValueError, match=r"could not fill in \$c"):
        substitute('x{a=~"$c"}', 20, {"b": ".+"})


def test_the_window_is_grafanas() -> None:
    assert rate_window(step=1, scrape_interval=5) == 20
    assert rate_window(step=60, scrape_interval=5) == 65


@pytest.mark.parametrize(
    ("estimate", "first", "growth", "bound"),
    [
        (3.0, 10, 1.8, 10.0),
        (10.0, 10, 1.8, 10.0),
        (10.1, 10, 1.8, 18.0),
        (188.957, 10, 1.8, 188.9568),
        (75_000.0, 10, 1.8, 121_439.531),
        (67_466.4, 10, 1.8, 67_466.406),
        (102_067.0, 100, 1.2, 102_067.47),
        (102_090.0, 100, 1.2, 122_480.964),
    ],
)
def test_the_bucket_of_an_estimate(
    prometheus: Store, estimate: float, first: float, growth: float, bound: float
) -> None:
    expr = promql.bucket_above(Expr(f"vector({estimate!r})"), first, growth)
    (found,) = prometheus.at(expr, 0)
    assert float(found["value"][1]) == pytest.approx(bound, rel=1e-6)
