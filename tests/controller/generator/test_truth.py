"""What is reported, held against the stand-in's own log; `tests/bench/bench_truth.py` does it to the figure."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.figures.punctuality import quantile_seconds
from tests.bench.bench_truth import measure, nearest

pytestmark = pytest.mark.slow

BUSY_SECONDS = 0.5
"""What a busy machine may add; never may anything be missing."""


def test_quantiles_are_those_of_the_targets_log_and_never_better(tmp_path: Path) -> None:
    reported, truth = measure("bimodal:low=20ms,high=400ms,share=0.05", tmp_path, rate=100.0, seconds=4.0)
    assert reported.total == len(truth) == pytest.approx(400, abs=80)
    for p in (0.5, 0.9, 0.99):
        said, true = quantile_seconds(reported, p), nearest(truth, p)
        assert said is not None
        assert 0.998 * true <= said <= true + BUSY_SECONDS
