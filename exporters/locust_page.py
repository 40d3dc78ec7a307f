"""The page of any Locust run for Prometheus: the names of `exporters.names.loadgen`, as far as Locust can know them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client.core import InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from exporters import loadgen_families as families
from exporters.locust_account import Account
from exporters.names import loadgen as names


@dataclass(frozen=True, slots=True)
class State:
    """What Locust's runner says now; `info` are the labels of the info metric."""

    now: float  # monotonic
    users_target: int
    users: int
    workers_expected: int
    info: Mapping[str, str]


class Page(Collector):
    """Built anew at each scrape: a worker that is gone leaves no series behind."""

    def __init__(self, account: Account, limits: Mapping[str, float], look: Callable[[], State]) -> None:
        """Reads the account, never changes it."""
        self._account, self._limits, self._look = account, limits, look

    def collect(self) -> Iterator[Metric]:
        """All families."""
        state, account = self._look(), self._account
        connected = account.connected(state.now)
        yield InfoMetricFamily(names.INFO.family, names.INFO.help, value=dict(state.info))
        totals = {outcome: sum(buckets.counts.values()) for outcome, buckets in account.durations.items()}
        yield families.family(names.REQUESTS, (((outcome,), number) for outcome, number in totals.items()))
        seen: dict[tuple[str, ...], families.Cumulative] = {
            (o,): one.told() for o, one in account.durations.items() if totals[o] or o == "ok"
        }
        yield families.histogram(names.DURATION, seen)
        yield families.family(names.USERS_TARGET, [((), state.users_target)])
        yield families.family(names.USERS_RUNNING, [((), state.users)])
        yield families.family(names.WORKERS_EXPECTED, [((), state.workers_expected)])
        yield families.family(names.WORKERS_CONNECTED, [((), len(connected))])
        ages = (((process.name,), state.now - process.seen) for process in account.processes.values())
        yield families.family(names.WORKER_REPORT_AGE, ages)
        yield families.histogram(names.LOOP_LAG, {(process.name,): process.lags.told() for process in connected})
        yield families.limits(self._limits)
        yield from families.vitals([(process.name, process.vitals) for process in connected], account.master)
