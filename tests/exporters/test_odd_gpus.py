"""Whatever the driver's library answers, no exception reaches a scrape and the page can be read."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from exporters import page, text
from exporters.gpu import demo
from exporters.gpu.reader import GpuReader
from exporters.gpu.reading import families
from exporters.gpu.xid import XidWatcher
from exporters.sampler import Sampled, State
from exporters.source import Collector, Source
from tests.exporters.nvml import A, B, a_device, a_system
from tests.exporters.running import parse
from tests.needs import need

FIELDS = sorted({*a_device(0, A), *a_device(1, B), "0.mig", "0.mig_devices", "0m0.uuid", "0m0.memory_v2", "0.power"})
SYSTEM = sorted(a_system())
CODES = (1, 2, 3, 4, 6, 9, 10, 13, 15, 16, 18, 25, 999, 12345)

answer = st.one_of(
    st.sampled_from(CODES).map(lambda code: f"error {code}"),
    st.integers(0, 2**70).map(lambda number: f"value {number}"),
    st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), max_size=60).map(
        lambda word: f"value {word}"
    ),
    st.lists(st.tuples(st.integers(0, 2**33), st.integers(0, 2**65)), max_size=20).map(
        lambda found: "value " + " ".join(f"{pid}:{memory}" for pid, memory in found)
    ),
)


class Machine:
    """The stand-in library in this process, a reader that lives on from example to example, and a clock."""

    def __init__(self) -> None:
        need("cc")
        self._folder = tempfile.TemporaryDirectory()
        self._script = Path(self._folder.name) / "script"
        self._script.write_text("")
        demo.load(self._script)
        self._now = 0.0
        self._reader = GpuReader(lambda: self._now, patience=10.0, xids=XidWatcher(wait=0.002))
        self.collector = Collector("gpu", (Source("nvml", lambda _: self._reader.read(), families),))

    def does(self, lines: dict[str, str]) -> None:
        """Go on by so long that everything is asked anew."""
        new = self._script.with_suffix(".new")
        new.write_text("".join(f"{key} {what}\n" for key, what in lines.items()), encoding="utf-8")
        new.replace(self._script)
        self._now += 1000.0


@cache
def machine() -> Machine:
    """One for all examples: a library stays loaded, and so does what the reader remembers."""
    return Machine()


@settings(
    max_examples=int(os.environ.get("STAGELIGHT_FUZZ_EXAMPLES", "60")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(
    odd=st.dictionaries(st.sampled_from(FIELDS), answer),
    system=st.dictionaries(st.sampled_from(SYSTEM), answer, max_size=1),
)
def test_no_answer_breaks_the_page(odd: dict[str, str], system: dict[str, str]) -> None:
    devices = {"system.devices": "value 2"}  # how many there are is read from a number of our own kind
    machine().does(a_system() | a_device(0, A) | a_device(1, B) | odd | system | devices)
    results = machine().collector.sample()
    assert not [result.failure for result in results if result.failure not in ("", "malformed")]
    own = page.SelfReading(0.0, 0, None, 0.0, 0, None, "", "")
    state = State("gpu", 1.0, Sampled(0.0, 0.0, results), 0.0, 1, 0, False, {})
    shown = parse(text.render(page.families([state], own), "")[0].decode())
    assert shown["exporter_source_success", (("collector", "gpu"), ("source", "nvml"))] in (0, 1)
    assert not [name for (name, _), value in shown.items() if name.endswith("_total") and value < 0]


def test_it_is_the_stand_in_that_answers() -> None:
    machine().does(a_system() | a_device(0, A) | a_device(1, B))
    shown = {f.metric.name: f.samples for result in machine().collector.sample() for f in result.families}
    assert shown["gpu_simulated"] == (((), 1),)
