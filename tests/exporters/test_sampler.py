"""The sampler and the source under failures: what hangs or raises stays inside its own collector."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from exporters.family import Family, single
from exporters.metric import Metric
from exporters.sampler import Sampler, State
from exporters.source import Collector, Source

LEVEL = Metric("a_level", "gauge", "A level.")


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """An open gate; readers that wait at it hang while it is closed."""
    event = threading.Event()
    event.set()
    yield event
    event.set()


def test_a_source_that_raises_leaves_the_others_and_is_counted() -> None:
    def broken(_: float | None) -> float:
        raise PermissionError(13, "Permission denied", "/proc/1/io")

    collector = Collector("x", (Source("sick", broken, _families), Source("well", lambda _: 1.0, _families)))
    with _running(Sampler(collector, 0.05, 1.0)) as sampler:
        state = _until(sampler, lambda: sampler.state(time.monotonic()).samples >= 3)
    assert state.sample is not None
    assert {r.source: (r.failure, len(r.families)) for r in state.sample.results} == {
        "sick": ("permission", 0),
        "well": ("", 1),
    }
    assert state.failures["sick", "permission"] >= 3


def test_a_failure_while_building_families_is_the_source_s_own() -> None:
    def unable(_: float) -> tuple[Family, ...]:
        raise KeyError("field")

    (result,) = Collector("x", (Source("s", lambda _: 1.0, unable),)).sample()
    assert (result.failure, result.families) == ("malformed", ())


def test_a_counter_below_zero_is_malformed() -> None:
    count = Metric("a_count_total", "counter", "A count.")
    (result,) = Collector("x", (Source("s", lambda _: -1.0, lambda value: (single(count, value),)),)).sample()
    assert (result.failure, result.families) == ("malformed", ())


def test_nothing_to_read_is_success_without_series() -> None:
    nothing: Source[float] = Source("s", lambda _: None, _families)
    (result,) = Collector("x", (nothing,)).sample()
    assert (result.failure, result.families) == ("", ())


def test_a_source_gets_its_previous_reading() -> None:
    counting: Source[float] = Source("s", lambda before: (before or 0.0) + 1.0, _families)
    collector = Collector("x", (counting,))
    assert [collector.sample()[0].families[0].samples[0][1] for _ in range(3)] == [1.0, 2.0, 3.0]


def test_one_log_line_when_it_begins_to_fail_and_one_when_it_works_again(caplog: pytest.LogCaptureFixture) -> None:
    answers: Iterator[OSError | float] = iter([OSError(5, "I/O"), OSError(5, "I/O"), OSError(5, "I/O"), 1.0, 1.0])

    def flaky(_: float | None) -> float:
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    collector = Collector("x", (Source("s", flaky, _families),))
    with caplog.at_level(logging.INFO):
        for _ in range(5):
            collector.sample()
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]


def test_a_hung_reader_is_counted_once_its_data_ends_and_it_may_come_back(gate: threading.Event) -> None:
    with _running(Sampler(_gated(gate), 0.05, 0.2)) as sampler:
        assert sampler.wait_first(2.0)
        gate.clear()
        hung = _until(sampler, lambda: sampler.state(time.monotonic()).sample is None)
        assert (hung.hung, hung.timeouts) == (True, 1)
        assert hung.age_seconds is not None
        assert hung.age_seconds > 0.25
        threads = threading.active_count()
        time.sleep(0.3)
        assert threading.active_count() == threads  # a hung reader costs one thread, however long it hangs
        assert sampler.state(time.monotonic()).timeouts == 1
        gate.set()
        back = _until(sampler, lambda: sampler.state(time.monotonic()).sample is not None)
        assert (back.hung, back.timeouts) == (False, 1)


def test_the_data_of_a_late_sample_is_never_shown(gate: threading.Event) -> None:
    gate.clear()
    with _running(Sampler(_gated(gate), 5.0, 0.1)) as sampler:
        time.sleep(0.3)
        gate.set()
        assert sampler.wait_first(2.0)
        state = sampler.state(time.monotonic())
    assert (state.sample, state.samples, state.timeouts) == (None, 0, 1)


def test_samples_start_at_fixed_beats_however_long_they_take() -> None:
    starts: list[float] = []

    def note(_: float | None) -> float:
        starts.append(time.monotonic())
        time.sleep(0.025)
        return 1.0

    with _running(Sampler(Collector("x", (Source("s", note, _families),)), 0.05, 1.0)) as sampler:
        _until(sampler, lambda: len(starts) > 20)
    assert all(start > starts[0] + n * 0.05 - 0.01 for n, start in enumerate(starts))
    assert starts[20] - starts[0] < 1.35  # 1.0 by the beat, 1.5 if every sample pushed the next one back


def test_stopping_closes_the_collector_in_its_own_thread() -> None:
    closed: list[str] = []
    collector = Collector("x", (), lambda: closed.append(threading.current_thread().name))
    sampler = Sampler(collector, 10.0, 1.0)
    sampler.start()
    assert sampler.stop(2.0)
    assert closed == ["sampler-x"]


def test_stopping_gives_up_on_a_hung_reader(gate: threading.Event) -> None:
    gate.clear()
    sampler = Sampler(_gated(gate), 0.05, 0.1)
    sampler.start()
    assert not sampler.stop(0.2)
    gate.set()
    assert sampler.stop(2.0)


def _families(value: float) -> tuple[Family, ...]:
    return (single(LEVEL, value),)


def _gated(gate: threading.Event) -> Collector:
    def read(_: float | None) -> float:
        gate.wait(10.0)
        return 1.0

    return Collector("x", (Source("s", read, _families),))


class _running:  # noqa: N801 - reads as a verb in a with statement
    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    def __enter__(self) -> Sampler:
        self._sampler.start()
        return self._sampler

    def __exit__(self, *_: object) -> None:
        self._sampler.stop(2.0)


def _until(sampler: Sampler, holds: Callable[[], bool], seconds: float = 5.0) -> State:
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.01)
    return sampler.state(time.monotonic())
