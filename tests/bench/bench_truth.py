"""Measures the instrument against the truth: quantiles as reported, and as the stand-in's own log has them.

Five known distributions; the log says of each request when it arrived and when its answer left. What lies between the
two clocks is in every figure and is not taken off: the generator's runs from right before `send` until the answer has
reached this machine's kernel, the stand-in's from right after its `recv` to right before its `write`. So the
generator's has the kernel's work on both ways and the stand-in's wake-up besides; on an idle machine with two
processors that is 0.13 ms: 0.04 to send, 0.06 until the stand-in runs, 0.03 back to our kernel. Stand-in and master
have one processor, the worker another.
`python -m tests.bench.bench_truth` prints a table, writes `build/figures/truth.json` and renews the README's table; it
takes about one minute and a half.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

from controller.figures.histogram import Histogram
from controller.figures.punctuality import quantile_seconds
from controller.plans.arrivals import Arrivals
from controller.plans.plan import Payloads
from tests.bench.engine.contenders import pin
from tests.bench.engine.open_loop import give
from tests.bench.figures import Figure, put_into, write
from tests.compose.targets.tfserving_standin.running import a_stand_in, requests_in
from tests.controller.generator.drive import Drive, a_spec

FIGURES = Path("build/figures/truth.json")
README = Path("README.md")
DISTRIBUTIONS = {
    "constant 5 ms": "constant:5ms",
    "uniform 2 to 20 ms": "uniform:low=2ms,high=20ms",
    "exponential, mean 10 ms": "exponential:mean=10ms",
    "lognormal, median 8 ms": "lognormal:median=8ms,sigma=0.6",
    "bimodal, 5 ms or 50 ms": "bimodal:low=5ms,high=50ms,share=0.02",
}
QUANTILES = (0.5, 0.95, 0.99, 0.999)
RATE = 800
SECONDS = 13.0  # n > 10,000, which P99.9 needs
ABSOLUTE_SECONDS = 0.0003
RELATIVE = 0.01


def main() -> int:
    """Measure everything. Goals that are not reached are shown, they do not fail."""
    figures = [figure for name, option in DISTRIBUTIONS.items() for figure in _compare(name, option)]
    write(figures, FIGURES)
    put_into(README, "make bench, percentiles", _table(figures))
    return 0


def _table(figures: Sequence[Figure]) -> str:
    """One line a distribution: by how much each quantile was reported above the log's, and whether that is near."""
    heads = " | ".join(f"P{p * 100:g}" for p in QUANTILES)
    lines = [f"| reported above the log, ms | {heads} |", "|---" * (1 + len(QUANTILES)) + "|"]
    for number, name in enumerate(DISTRIBUTIONS):
        row = figures[number * len(QUANTILES) : (number + 1) * len(QUANTILES)]
        lines.append(f"| {name} | " + " | ".join(f"{one.value:.2f} {'✓' if one.holds else '✗'}" for one in row) + " |")
    return "\n".join(lines)


def _compare(name: str, option: str) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        reported, truth = measure(option, Path(folder), RATE, SECONDS)
    for p in QUANTILES:
        said, true = quantile_seconds(reported, p) or 0.0, nearest(truth, p)
        allowed = max(ABSOLUTE_SECONDS, RELATIVE * true)
        note = f"reported {said * 1e3:.3f} ms, in the log {true * 1e3:.3f} ms, n={reported.total:,}"
        goal = f"+-{allowed * 1e3:.3f}"
        yield Figure(
            f"{name}, p{p * 100:g}", round((said - true) * 1e3, 3), "ms", goal, abs(said - true) <= allowed, 1, note
        )


def measure(option: str, folder: Path, rate: float, seconds: float) -> tuple[Histogram, Sequence[float]]:
    """Latencies from the actual send as the generator reported them, and as the stand-in wrote them down (seconds)."""
    log = folder / "log.jsonl"
    with a_stand_in("--latency", option, "--log", str(log)) as stand_in:
        payloads = Payloads(random_shape=(16,), count=100)
        spec = a_spec(
            f"http://{stand_in.host}:{stand_in.port}", workers=1, payloads=payloads, timeout=timedelta(seconds=10)
        )
        with Drive(spec, folder / "locust.log") as drive:
            _apart(stand_in.process.pid, drive)
            give(drive, Arrivals(rate, rate, seconds, max_in_flight=2000), slot=0)
            drive.run(seconds)
            give(drive, None, slot=1)
            drive.drain()
            reported = Histogram()
            for interval in drive.intervals():
                for cell in interval.cells:
                    reported.add(cell.counts, cell.sum_us)
            drive.quit()
        stand_in.settled()
    return reported, sorted(line["answer"] - line["arrival"] for line in requests_in(log))


def _apart(stand_in: int, drive: Drive) -> None:
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        for pid in (stand_in, drive.hello.pid):
            pin(pid, cores[0])
        for pid in drive.pids():
            pin(pid, cores[1])


def nearest(values: Sequence[float], p: float) -> float:
    """The nearest-rank quantile of sorted values."""
    return values[max(math.ceil(Fraction(repr(p)) * len(values)), 1) - 1]


if __name__ == "__main__":
    began = time.monotonic()
    code = main()
    sys.stdout.write(f"took {time.monotonic() - began:.1f} s\n")
    raise SystemExit(code)
