"""Measures the exporters: cost beside node_exporter's, cost of sampling, scrapes while a device hangs, soak, odd input.

`python -m tests.bench.bench_exporters` prints a table and writes `build/figures/exporters.json`; it takes about six
minutes. `STAGELIGHT_SOAK_SECONDS` (60) and `STAGELIGHT_FUZZ_EXAMPLES` (2000) make it longer: 3600 and 100000 are the
figures that are published.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from exporters.gpu.field import RARELY_SECONDS
from tests.bench.figures import Figure, keep, show
from tests.bench.node_exporter import FLAGS, OUR_SWITCHES, Scraper, cpu_seconds, node_exporter
from tests.exporters.nvml import A, Lines, Standin, a_device, a_system, build
from tests.exporters.running import Exporter, Series, an_exporter

FIGURES = Path("build/figures/exporters.json")
DEVICES = 8
SCRAPES = 200
BESIDE_RUNS, SAMPLES_PER_SCRAPE = 5, 5
COST_SECONDS = 60.0
CPU_GOAL, MEMORY_GOAL, P99_GOAL = 0.005, 45e6, 0.020


def main() -> int:
    """Measure everything; 1 if a tool is missing. Goals that are not reached are shown, they do not fail."""
    if shutil.which("cc") is None:
        sys.stderr.write("could not measure the exporters: there is no C compiler for the stand-in GPU library\n")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        library = build(Path(folder))
        figures = []
        for each in (_beside(), _cost(library), _hung(library), _soak(library), _fuzz()):
            for figure in each:
                figures.append(figure)
                show(figure)
    keep(figures, FIGURES)
    return 0


def _beside() -> Iterator[Figure]:
    """CPU of one scrape, ours with the samples it may need, against node_exporter's of the same families.

    node_exporter reads at every scrape, ours every second: a scrape of every second costs us its page and one sample,
    one of every five seconds its page and five.
    """
    with node_exporter(*FLAGS) as theirs:
        if theirs is None:
            sys.stderr.write("note: no node_exporter, so its cost is not compared\n")
            return
        found = []
        with an_exporter("host", *OUR_SWITCHES, "--interval", "10m") as idle:
            for _ in range(BESIDE_RUNS):
                page, node = _per_scrape(idle.process.pid, idle.url), _per_scrape(theirs.pid, theirs.url)
                found.append((page, _sample_ms(), node))
    note = ", ".join(f"{page:.2f}+n x {sample:.2f}/{node:.2f}" for page, sample, node in found)
    for samples, name in ((1, "and one sample"), (SAMPLES_PER_SCRAPE, "and five samples")):
        value = median((page + samples * sample) / node for page, sample, node in found)
        yield Figure(
            f"CPU of a scrape {name} against node_exporter",
            round(value, 3),
            "ratio",
            "<= 1.0",
            value <= 1.0,
            BESIDE_RUNS,
            f"ms: page + n samples / node_exporter {theirs.version}: {note}",
        )


def _per_scrape(pid: int, url: str) -> float:
    scrape = Scraper(url)
    scrape()
    before = cpu_seconds(pid)
    for _ in range(SCRAPES):
        scrape()
    return (cpu_seconds(pid) - before) / SCRAPES * 1e3


def _sample_ms() -> float:
    """CPU of one sample of the host, in this process, where no other thread disturbs the measurement."""
    from exporters.collectors import collectors
    from exporters.options import read

    (collector,) = collectors(read(["host", *OUR_SWITCHES]))
    collector.sample()
    before = time.process_time()
    for _ in range(SCRAPES):
        collector.sample()
    return (time.process_time() - before) / SCRAPES * 1e3


def _cost(library: Standin) -> Iterator[Figure]:
    """The whole program at a sample each second and a scrape every five."""
    library.script(*_machine())
    with an_exporter("host", "gpu", environment=library.quiet_environment) as exporter:
        scrape = Scraper(exporter.url)
        scrape()
        time.sleep(3)
        before, began = cpu_seconds(exporter.process.pid), time.monotonic()
        while time.monotonic() - began < COST_SECONDS:
            time.sleep(5)
            scrape()
        share = (cpu_seconds(exporter.process.pid) - before) / (time.monotonic() - began)
        series = exporter.series()
    resident = series["exporter_process_resident_memory_bytes", ()]
    lines = len(series)
    yield Figure(
        "CPU at 1 s samples, 5 s scrapes, 8 GPUs",
        round(share, 5),
        "cores",
        f"<= {CPU_GOAL}",
        share <= CPU_GOAL,
        1,
        f"over {COST_SECONDS:.0f} s, {lines} series",
    )
    megabytes = resident / 1e6
    yield Figure("resident memory", round(megabytes, 1), "MB", "<= 45", resident <= MEMORY_GOAL, 1, "host and 8 GPUs")


def _hung(library: Standin) -> Iterator[Figure]:
    """Two scrapers, ten times a second each, while a call for one of eight devices does not return."""
    library.script(*_machine(), {"0.power": "hang 3600 1"})
    with an_exporter("host", "gpu", environment=library.quiet_environment) as exporter:
        exporter.until(lambda s: s.get(("gpu_devices", ())) == DEVICES, seconds=20)
        with ThreadPoolExecutor(2) as pool:
            took = sorted(t for times in pool.map(lambda _: _times(exporter, 100), range(2)) for t in times)
        alive = len([key for key in exporter.series() if key[0] == "gpu_power_draw_watts"])
    p99 = took[-(-99 * len(took) // 100) - 1]
    note = f"{len(took)} scrapes by 2, max {took[-1] * 1e3:.1f} ms, data of {alive} of {DEVICES} devices shown"
    holds = p99 <= P99_GOAL and alive == DEVICES - 1
    yield Figure("scrape p99, 8 GPUs, one hung", round(p99 * 1e3, 2), "ms", "<= 20", holds, 1, note)


def _times(exporter: Exporter, count: int) -> list[float]:
    times, scrape = [], Scraper(exporter.url)
    for _ in range(count):
        began = time.perf_counter()
        scrape()
        times.append(time.perf_counter() - began)
        time.sleep(0.1)
    return times


def _soak(library: Standin) -> Iterator[Figure]:
    """Memory and descriptors at the start and at the end of many scrapes.

    The start is when everything has been read twice, which takes a little longer than the rarest beat.
    """
    seconds = float(os.environ.get("STAGELIGHT_SOAK_SECONDS", "60"))
    library.script(*_machine())
    with an_exporter("host", "gpu", "--interval", "500ms", environment=library.quiet_environment) as exporter:
        scrape = Scraper(exporter.url)
        fresh = exporter.series()
        _scrape_for(RARELY_SECONDS + 5, scrape)
        first = exporter.series()
        scrapes = _scrape_for(seconds, scrape)
        last = exporter.series()
    grown, before = (_grown(*pair, "resident_memory_bytes") / 1e6 for pair in ((first, last), (fresh, first)))
    opened = _grown(first, last, "file_descriptors")
    note = f"{scrapes} scrapes in {seconds:.0f} s"
    memory = f"{note}; {before:.2f} MB in the {RARELY_SECONDS + 5:.0f} s before, until everything was read twice"
    yield Figure("soak: resident memory grown", round(grown, 2), "MB", "<= 1", grown <= 1, 1, memory)
    yield Figure("soak: descriptors grown", opened, "", "<= 0", opened <= 0, 1, note)


def _scrape_for(seconds: float, scrape: Scraper) -> int:
    scrapes, ends = 0, time.monotonic() + seconds
    while time.monotonic() < ends:
        scrape()
        scrapes += 1
        time.sleep(0.15)
    return scrapes


def _grown(before: Series, after: Series, what: str) -> float:
    return _of(after, what) - _of(before, what)


def _of(series: Series, what: str) -> float:
    return series[f"exporter_process_{what}", ()]


def _fuzz() -> Iterator[Figure]:
    """Odd kernel files and odd answers of the driver's library: any exception ends this with its input."""
    examples = int(os.environ.get("STAGELIGHT_FUZZ_EXAMPLES", "2000"))
    os.environ["STAGELIGHT_FUZZ_EXAMPLES"] = str(examples // 2)  # the tests read it when they are imported
    from tests.exporters.test_odd_files import test_no_content_breaks_the_page
    from tests.exporters.test_odd_gpus import test_no_answer_breaks_the_page

    logging.disable(logging.WARNING)  # what odd answers are worth saying, thousands of times
    test_no_content_breaks_the_page()
    test_no_answer_breaks_the_page()
    yield Figure("odd readings that broke nothing", examples, "", "no error", True, 1, "half kernel files, half GPUs")


def _machine() -> tuple[Lines, ...]:
    """Eight devices, each with everything."""
    names = [A, *(f"GPU-{n:08x}-0000-4000-8000-000000000000" for n in range(1, DEVICES))]
    return (a_system(DEVICES), *(a_device(n, uuid) for n, uuid in enumerate(names)))


if __name__ == "__main__":
    raise SystemExit(main())
