"""Measures the open loop: a frozen target's P99, lateness at rising rates, and achieved against asked arrivals.

`python -m tests.bench.bench_open_loop` prints a table and writes `build/figures/open_loop.json`; it takes about two
minutes and a half. Lateness is the machine's too: the figures mean something only where nothing else runs.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from controller.figures.histogram import Histogram
from controller.figures.punctuality import quantile_seconds
from controller.orders import Ack, Order
from controller.plans.arrivals import Arrivals
from controller.plans.plan import Payloads
from tests.bench.figures import Figure, write
from tests.compose.targets.tfserving_standin.running import StandIn, a_stand_in
from tests.controller.generator.drive import Drive, a_spec
from tests.end_to_end.freeze import Frozen, run

FIGURES = Path("build/figures/open_loop.json")
FROZEN = Frozen(rate=200, users=10, lasts=60, closed_lasts=20, frozen=2.0)
RATES = (200, 1000, 5000)
SECONDS = 10.0
LATE_GOAL_MS = 5.0
RATE_GOAL = 0.5


def main() -> int:
    """Measure everything. Goals that are not reached are shown, they do not fail."""
    figures = list(_frozen())
    with a_stand_in("--latency", "constant:1ms") as stand_in, tempfile.TemporaryDirectory() as folder:
        for rate in RATES:
            figures += _schedule(stand_in, Path(folder), rate)
    write(figures, FIGURES)
    return 0


def _frozen() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        record, _ = run(Path(folder), FROZEN)
    opened, closed = record["windows"]
    expected = FROZEN.expected_p99(opened["seconds"])
    found = {window["loop"]: window["indicators"]["p99"]["value"] for window in (opened, closed)}
    kept, note = opened["punctuality"], f"verdict {record['verdict']['ruling']}"
    name = f"frozen {FROZEN.frozen:g} s of {FROZEN.lasts} s at {FROZEN.rate}/s"
    near = abs(found["open"] - expected) <= 0.05 * expected
    yield Figure(f"{name}, open: P99", round(found["open"], 4), "s", f"{expected:.2f} +- 5 %", near, 1, note)
    small, much = found["closed"] < 0.1, f"the same with {FROZEN.users} users, {closed['outcomes']['ok']:,} requests"
    yield Figure(f"{name}, closed: P99", round(found["closed"], 4), "s", "< 0.1", small, 1, much)
    lost = sum(kept["dropped"].values())
    yield Figure(f"{name}, dropped", float(lost), "", "0", lost == 0, 1, f"of {kept['due']:,} arrivals")


@dataclass(frozen=True, slots=True)
class Kept:
    """A schedule as it was kept: seconds between the first order's effect and the last's, and what was due in them."""

    seconds: float
    due: int
    dropped: int
    lateness: Histogram
    saturation: float


def _schedule(stand_in: StandIn, folder: Path, rate: int) -> Iterator[Figure]:
    kept = keep(stand_in, folder, Arrivals(rate, rate, SECONDS, max_in_flight=2000), SECONDS)
    note = f"worst saturation {kept.saturation:.2f}, {kept.dropped} dropped"
    for p, goal in ((0.5, None), (0.99, LATE_GOAL_MS if rate <= 1000 else None), (0.999, None)):
        late = (quantile_seconds(kept.lateness, p) or 0.0) * 1e3
        wanted = f"<= {goal:g}" if goal else "for scale"
        name = f"lateness p{p * 100:g} at {rate:,}/s"
        yield Figure(name, round(late, 3), "ms", wanted, goal is None or late <= goal, 1, note)
    sent = kept.due - kept.dropped
    off = (sent / kept.seconds / rate - 1) * 100
    what = f"{sent:,} sent in {kept.seconds:.3f} s"
    saturated = kept.saturation >= 1  # then the generator itself says that it cannot
    holds = saturated or abs(off) <= RATE_GOAL
    wanted = "for scale, saturated" if saturated else "within 0.5"
    yield Figure(f"achieved against {rate:,}/s", round(off, 3), "%", wanted, holds, 1, what)


def keep(stand_in: StandIn, folder: Path, arrivals: Arrivals, seconds: float) -> Kept:
    """Drive one worker for a while and read what it reported."""
    payloads = Payloads(random_shape=(16,), count=100)
    spec = a_spec(f"http://{stand_in.host}:{stand_in.port}", workers=1, payloads=payloads, timeout=timedelta(seconds=5))
    with Drive(spec, folder / "locust.log") as drive:
        first = give(drive, arrivals, slot=0)
        drive.run(seconds)
        last = give(drive, None, slot=1)
        drive.drain()
        cells = [cell for interval in drive.intervals() for cell in interval.arrivals]
        lateness, dropped = Histogram(), Counter[str]()
        for cell in cells:
            lateness.add(cell.lateness, cell.lateness_sum_us)
            dropped.update(cell.dropped)
        workers = [worker for interval in drive.intervals() for worker in interval.workers]
        worst = max((value for worker in workers for value in worker.saturation.values()), default=0.0)
        drive.quit()
    return Kept(last.at - first.at, sum(cell.due for cell in cells), dropped.total(), lateness, worst)


def give(drive: Drive, arrivals: Arrivals | None, slot: int) -> Ack:
    """Order arrivals, or none, and wait until it took effect."""
    drive.number += 1
    number = drive.number
    drive.process.send(Order(number, slot, "stage", "steady", True, 0, arrivals))
    return drive.wait(Ack, 5.0, lambda ack: ack.number == number)


if __name__ == "__main__":
    began = time.monotonic()
    code = main()
    sys.stdout.write(f"took {time.monotonic() - began:.1f} s\n")
    raise SystemExit(code)
