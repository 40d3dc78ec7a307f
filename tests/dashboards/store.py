"""A real Prometheus over a folder of its own, filled with series that already happened."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests
import yaml

READY_SECONDS = 30.0


class Store:
    """Asks one Prometheus; every answer that is not a success fails the test with its reason."""

    def __init__(self, url: str) -> None:
        """Talk to the Prometheus at `url`."""
        self.url = url

    def range(self, expr: str, start: float, end: float, step: float = 5) -> list[dict[str, Any]]:
        """Series of a range query."""
        return self._ask("query_range", query=expr, start=str(start), end=str(end), step=str(step))

    def at(self, expr: str, time: float) -> list[dict[str, Any]]:
        """Series of an instant query."""
        return self._ask("query", query=expr, time=str(time))

    def cost(self, expr: str, start: float, end: float, step: float) -> tuple[float, int]:
        """Seconds that Prometheus itself took for a range query (an instant one if `start` is `end`); samples read."""
        asked = {"query": expr, "stats": "all"}
        if start == end:
            answer = self._answer("query", **asked, time=str(end))
        else:
            answer = self._answer("query_range", **asked, start=str(start), end=str(end), step=str(step))
        stats = answer["stats"]
        return float(stats["timings"]["execTotalTime"]), int(stats["samples"]["totalQueryableSamples"])

    def formatted(self, expr: str) -> str | None:
        """The expression as Prometheus prints it, or None if it does not parse or its types do not fit."""
        answer = requests.get(f"{self.url}/api/v1/format_query", {"query": expr}, timeout=10).json()
        return answer["data"] if answer["status"] == "success" else None

    def _ask(self, what: str, **parameters: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._answer(what, **parameters)["result"]
        return found

    def _answer(self, what: str, **parameters: str) -> dict[str, Any]:
        answer = requests.post(f"{self.url}/api/v1/{what}", data=parameters, timeout=20).json()
        assert answer["status"] == "success", f"{parameters['query']}: {answer['error']}"
        data: dict[str, Any] = answer["data"]
        return data


@contextmanager
def filled(series: str, folder: Path, prometheus: str, promtool: str, rules: tuple[Path, ...] = ()) -> Iterator[Store]:
    """A running Prometheus that holds the OpenMetrics text; a series ends ten seconds after its last sample.

    With `rules` it holds what the recording rules of these files make of the series as well.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.om").write_text(series)
    if series.strip() != "# EOF":
        bring_in(folder / "run.om", folder, promtool)
    for number, layer in enumerate(_layers(rules)):
        first, last = _span(series)
        (folder / "rules.yml").write_text(yaml.safe_dump({"groups": [{"name": f"layer-{number}", "rules": layer}]}))
        with running(folder, prometheus) as store:
            asked = [f"--url={store.url}", f"--start={first}", f"--end={last}", "--eval-interval=5s"]
            made = f"--output-dir={folder / 'made'}"
            _promtool(promtool, "create-blocks-from", "rules", *asked, made, str(folder / "rules.yml"))
        for block in (folder / "made").glob("0*"):
            block.rename(folder / "data" / block.name)
    with running(folder, prometheus) as store:
        yield store
    shutil.rmtree(folder / "data", ignore_errors=True)


def bring_in(openmetrics: Path, folder: Path, promtool: str) -> None:
    """Turn the text into blocks of the store in `folder`, which nobody serves now."""
    _promtool(promtool, "create-blocks-from", "openmetrics", str(openmetrics), str(folder / "data"))


def _layers(files: tuple[Path, ...]) -> list[list[dict[str, Any]]]:
    """The recording rules, those first that read no other rule's series."""
    left = [rule for file in files for group in yaml.safe_load(file.read_text())["groups"] for rule in group["rules"]]
    layers: list[list[dict[str, Any]]] = []
    while left:
        waiting = {rule["record"] for rule in left}
        ready = [rule for rule in left if not any(name in rule["expr"] for name in waiting)]
        assert ready, "rules read each other in a circle"
        layers.append(ready)
        left = [rule for rule in left if rule not in ready]
    return layers


def _promtool(promtool: str, *arguments: str) -> None:
    done = subprocess.run([promtool, "tsdb", *arguments], check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-800:]


def _span(series: str) -> tuple[int, int]:
    """The first and the last second of the series."""
    times = [float(line.rpartition(" ")[2]) for line in series.splitlines() if not line.startswith("#")]
    return int(min(times)), int(max(times))


@contextmanager
def running(folder: Path, prometheus: str) -> Iterator[Store]:
    """A Prometheus that serves the blocks in `folder`; a series ends ten seconds after its last sample."""
    (folder / "prometheus.yml").write_text("{}")
    options = [f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}"]
    options += ["--web.listen-address=127.0.0.1:0", "--query.lookback-delta=10s", "--log.level=info"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen([prometheus, *options], stdout=log, stderr=log)
        try:
            yield Store(_ready(process, folder / "log"))
        finally:
            process.terminate()
            process.wait(15)


def _ready(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        found = re.search(r"127\.0\.0\.1:(\d+)", log.read_text().partition("Listening on")[2])
        if found and _answers(f"http://127.0.0.1:{found[1]}"):
            return f"http://127.0.0.1:{found[1]}"
        time.sleep(0.1)
    raise AssertionError(f"could not start Prometheus: {log.read_text()[-800:]}")


def _answers(url: str) -> bool:
    try:
        return requests.get(f"{url}/-/ready", timeout=2).ok
    except requests.RequestException:
        return False
