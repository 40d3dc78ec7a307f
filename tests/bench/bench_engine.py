"""Measures the load engine against wrk, hey and stock Locust: all load the same server, in turns, several rounds.

`python -m tests.bench.bench_engine` prints a table, writes `build/figures/bench.json` and renews the README's table; it
takes about four minutes. `STAGELIGHT_SOAK=30m` makes the soak that long; it is two minutes otherwise.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

from controller.plans.duration import parse_duration
from controller.ports import EdgeError
from tests.bench.engine import contenders, open_loop
from tests.bench.engine.contenders import Measured
from tests.bench.engine.recording import ledger_cost
from tests.bench.engine.server import a_server
from tests.bench.figures import Figure, markdown, put_into, write
from tests.controller.generator.drive import Drive

FIGURES = Path("build/figures/bench.json")
README = Path("README.md")
TOOLS = Path("build/tools-bench/usr")
ROUNDS = 3
SECONDS = 3.0
RATES = (200, 1_000, 5_000)
RATE_SECONDS = 10.0
RATE_GOAL = 0.5
IDLE_RATE = 1_000
"""Up to this rate one worker is far from its limit."""

SOAK_RATE = 2_000.0
MOST_MEMORY_MIB = 120
BUSY = 0.5
"""Load average above which the machine is not idle enough for rates and lateness."""

WANTED = {"wrk": "wrk", "nginx": "nginx", "hey": "hey", "taskset": "util-linux"}

Rounds = dict[str, list[Measured]]


def main() -> int:
    """Measure everything; 1 if a tool is missing. Goals that are not reached are shown, they do not fail."""
    found = {name: shutil.which(name) or shutil.which(name, path=f"{TOOLS}/bin:{TOOLS}/sbin") for name in WANTED}
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2 or not all(found.values()):
        missing = ", ".join(WANTED[name] for name, path in found.items() if path is None) or "a second processor"
        sys.stderr.write(f"could not measure the engine: it needs {missing}; `make tools` fetches what Debian has\n")
        return 1
    began, load = time.monotonic(), os.getloadavg()[0]
    tools = {name: path for name, path in found.items() if path is not None}
    with tempfile.TemporaryDirectory() as name, a_server(tools["nginx"], Path(name), cores[0]) as url:
        folder = Path(name)
        with contenders.our_generator(url, cores[1], folder / "locust.log") as drive:
            rounds = _rounds(tools, url, cores[1], folder, drive)
        figures = [*_ratios(rounds), *_recording(rounds)]
        for measure in (_lateness, _soak):
            figures += _open_loop(measure, lambda: contenders.our_generator(url, cores[1], folder / "2.log", cores[0]))
    write(figures, FIGURES)
    put_into(README, "make bench", f"{_how(len(cores), load)}\n\n{markdown(figures)}")
    sys.stdout.write(f"took {time.monotonic() - began:.0f} s\n")
    return 0


def _rounds(tools: dict[str, str], url: str, core: int, folder: Path, drive: Drive) -> Rounds:
    """Everybody once a round, so that what else the machine does hits all alike."""
    rounds: Rounds = {name: [] for name in ("wrk", "hey", "fast", "script", "lean", "worker")}
    turns: dict[str, Callable[[], Measured]] = {
        "wrk": lambda: contenders.wrk(tools["wrk"], url, core, SECONDS, folder),
        "hey": lambda: contenders.hey(tools["hey"], url, core, SECONDS),
        "fast": lambda: contenders.stock("fast", url, core, SECONDS),
        "script": lambda: contenders.stock("script", url, core, SECONDS),
    }
    for _ in range(ROUNDS):
        whole, worker = contenders.lean(drive, SECONDS)
        rounds["lean"].append(whole)
        rounds["worker"].append(worker)
        for name, turn in turns.items():
            drive.run(0.0)  # renews the lease
            rounds[name].append(_while_leased(drive, turn))
    return rounds


def _while_leased(drive: Drive, turn: Callable[[], Measured]) -> Measured:
    """Take a turn in a thread, while the generator, which has no users now, keeps its lease."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(turn)
        while not future.done():
            drive.run(0.2)
        return future.result()


def _ratios(rounds: Rounds) -> Iterator[Figure]:
    names = {"wrk": "wrk", "hey": "hey", "lean": "Stagelight, everything recorded"}
    names |= {"fast": "Locust FastHttpUser", "script": "Locust HttpUser script"}
    for key, label in names.items():
        costs, rates = [one.cost for one in rounds[key]], [one.rate for one in rounds[key]]
        note = "runs " + ", ".join(f"{cost:.1f}" for cost in costs)
        yield Figure(f"{label}: CPU a request", statistics.median(costs), "µs", "", True, ROUNDS, note)
        note = "runs " + ", ".join(f"{rate:.0f}" for rate in rates)
        yield Figure(f"{label}: requests a second on one core", statistics.median(rates), "1/s", "", True, ROUNDS, note)
    for key, label, goal, text in (
        ("fast", "CPU a request, Stagelight / FastHttpUser", 1 / 6, "<= 1/6"),
        ("script", "CPU a request, Stagelight / HttpUser script", 1 / 25, "<= 1/25"),
    ):
        found = [ours.cost / theirs.cost for ours, theirs in zip(rounds["lean"], rounds[key], strict=True)]
        yield _ratio(label, found, text, statistics.median(found) <= goal)
    found = [ours.rate / theirs.rate for ours, theirs in zip(rounds["lean"], rounds["wrk"], strict=True)]
    yield _ratio("requests a second, Stagelight / wrk", found, ">= 0.35", statistics.median(found) >= 0.35)
    found = [theirs.cost / ours.cost for ours, theirs in zip(rounds["lean"], rounds["wrk"], strict=True)]
    holds = statistics.median(found) >= 0.35
    yield _ratio("the same by processor time, which a busy machine leaves alone", found, ">= 0.35", holds)


def _ratio(name: str, found: list[float], goal: str, holds: bool) -> Figure:
    note = "paired; runs " + ", ".join(f"{ratio:.3f}" for ratio in found)
    return Figure(name, statistics.median(found), "", goal, holds, ROUNDS, note)


def _recording(rounds: Rounds) -> Iterator[Figure]:
    """Ledger in the worker and whole master, over a lean request with both."""
    ledger = ledger_cost()
    master = statistics.median(w.cost - p.cost for w, p in zip(rounds["lean"], rounds["worker"], strict=True))
    whole = statistics.median(one.cost for one in rounds["lean"])
    share = (ledger + max(master, 0.0)) / whole
    note = f"ledger {ledger:.2f} µs and master {master:.2f} µs of {whole:.1f} µs"
    yield Figure(
        "recording and metrics, share of a lean request", share * 100, "%", "<= 10 %", share <= 0.1, ROUNDS, note
    )


def _open_loop(
    measure: Callable[[Drive], Iterator[Figure]], generator: Callable[[], AbstractContextManager[Drive]]
) -> list[Figure]:
    """As many figures as could be taken: a machine so busy that the lease runs out ends the generator, as it should."""
    taken: list[Figure] = []
    try:
        with generator() as drive:
            for figure in measure(drive):
                taken.append(figure)
    except (EdgeError, AssertionError, ValueError) as error:
        note = str(error).splitlines()[0][:100]
        taken.append(Figure(f"open loop: cut short after {len(taken)} figures", 0.0, "", "measured", False, 1, note))
    return taken


def _lateness(drive: Drive) -> Iterator[Figure]:
    for slot, rate in enumerate(RATES, 10):
        kept = open_loop.keep(drive, rate, slot, RATE_SECONDS)
        stolen = "" if kept.stolen is None else f", {kept.stolen:.1%} of the machine stolen by its host"
        note = f"p50 {kept.p50:.2f} ms; {kept.dropped} dropped{stolen}"
        goal = "<= 5 ms" if rate <= IDLE_RATE else ""
        yield Figure(f"lateness p99 at {rate:,}/s, open loop", kept.p99, "ms", goal, kept.p99 <= 5.0, 1, note)
        off, goal = kept.off * 100, "within 0.5 %" if rate <= IDLE_RATE else ""
        yield Figure(f"sent against asked at {rate:,}/s", off, "%", goal, abs(off) <= RATE_GOAL, 1, "over 10 s")


def _soak(drive: Drive) -> Iterator[Figure]:
    seconds = parse_duration(os.environ.get("STAGELIGHT_SOAK", "2m")).total_seconds()
    memory = open_loop.soak(drive, SOAK_RATE, 20, seconds)
    note = f"{memory.error * open_loop.T_95:.1f} either way, 95 % sure; over {seconds:.0f} s at {SOAK_RATE:.0f}/s"
    yield Figure("a worker's memory over a soak, slope", memory.slope, "MiB/h", "flat", memory.flat, 1, note)
    holds = memory.end <= MOST_MEMORY_MIB
    yield Figure("a worker's memory at its end", memory.end, "MiB", f"<= {MOST_MEMORY_MIB}", holds, 1, note)


def _how(cores: int, load: float) -> str:
    busy = ""
    if load > BUSY:
        busy = f" Other programs had a load of {load:.0f} on it: rates and lateness tell more of them than of us."
    return (
        f"Measured by `make bench` on a machine with {cores} cores: 20 connections, each generator on one core, the "
        f"server (nginx, one process) on another, {ROUNDS} paired rounds of {SECONDS:.0f} s, medians. Ratios travel, "
        f"absolute figures do not.{busy}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
