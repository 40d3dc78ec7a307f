"""Every signal has words and a way out of its own."""

from __future__ import annotations

import pytest

from controller.orders import WorkerHealth
from controller.verdicts.conclusion import conclude
from controller.verdicts.remedies import REMEDIES, remedy
from exporters.names.loadgen import SIGNALS
from tests.controller.loads import Reporter, a_cell, a_slot, remains


def test_the_table_has_a_line_for_every_signal() -> None:
    assert set(SIGNALS) <= set(REMEDIES)
    assert len({line.means for line in REMEDIES.values()}) == len(REMEDIES)


@pytest.mark.parametrize(
    ("signal", "act"),
    [
        ("cpu", "more workers"),
        ("descriptors", "ulimit -n"),
        ("throttling", "raise the quota"),
        ("run_queue", "off this host"),
        ("sockets", "ip_local_port_range"),
        ("memory", "memory limit"),
        ("clock", "chronyc"),
        ("something_new", "locust.log"),
    ],
)
def test_the_verdict_says_what_to_do_about_that_signal(signal: str, act: str) -> None:
    reporter = Reporter()
    reporter.seconds(40, a_cell([10.0] * 100), workers=(WorkerHealth("worker-3", 5, 0.2, {signal: 1.5}),))
    (reason,) = conclude(remains(reporter, [a_slot(length=40.0)])).verdict.reasons
    assert act in reason.advice
    assert f"{signal} of worker-3 from 00:00:00 to 00:00:40 UTC (40 s, 100 % of the window" in reason.sentence
    assert remedy(signal).means in reason.sentence


def test_several_signals_are_several_reasons_the_longest_first() -> None:
    reporter = Reporter()
    both = (WorkerHealth("worker-0", 5, 0.2, {"loop_lag": 3.0, "run_queue": 2.0}),)
    reporter.seconds(20, a_cell([10.0] * 100), workers=(WorkerHealth("worker-0", 5, 0.2, {"run_queue": 2.0}),))
    reporter.seconds(20, a_cell([10.0] * 100), workers=both)
    reasons = conclude(remains(reporter, [a_slot(length=40.0)])).verdict.reasons
    assert ["run_queue of" in reason.sentence for reason in reasons] == [True, False]
    assert "at the same time its event loop woke up late: loop_lag of worker-0" in reasons[1].sentence
