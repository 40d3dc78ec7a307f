"""Whatever stands in the kernel's files, no exception reaches a scrape and the page can be read."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from exporters import page, text
from exporters.host.collector import host_collector
from exporters.loadgen_readings import Reader
from exporters.sampler import Sampled, State
from tests.exporters.running import parse

PROC = (
    *("stat", "loadavg", "schedstat", "meminfo", "vmstat", "diskstats", "pressure/cpu", "sys/fs/file-nr"),
    *("net/dev", "net/sockstat", "net/snmp", "net/netstat", "sys/net/ipv4/ip_local_port_range"),
    *("self/cgroup", "self/mountinfo", "self/statm", "self/schedstat", "net/sockstat6", "pressure/io"),
)
GROUP = ("cpu.max", "cpu.stat", "memory.max", "memory.current", "memory.stat", "cpu/cpu.cfs_quota_us", "cpu/cpu.stat")

word = st.one_of(
    st.sampled_from(
        ["cpu", "cpu0", "TCP:", "Tcp:", "eth0:", "vda", "MemTotal:", "kB", "total=1", "some", "usage_usec"]
    ),
    st.sampled_from(["max", "-1", "0", "nr_periods", "0::/", "1:cpu:/", "-", "cgroup", "/sys/fs/cgroup", ""]),
    st.integers(0, 2**70).map(str),
    st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=8),
)
content = st.lists(st.lists(word, max_size=16).map(" ".join), max_size=5).map("\n".join)
FIXTURE = Path(__file__).with_name("fixtures") / "proc"


@settings(
    max_examples=int(os.environ.get("STAGELIGHT_FUZZ_EXAMPLES", "150")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking this many files takes minutes
)
@given(proc=st.dictionaries(st.sampled_from(PROC), content), group=st.dictionaries(st.sampled_from(GROUP), content))
def test_no_content_breaks_the_page(proc: dict[str, str], group: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in PROC:
            captured = FIXTURE / name
            _write(root / "proc" / name, proc.get(name, captured.read_text() if captured.exists() else ""))
        for name, written in group.items():
            _write(root / "cgroup" / name, written)
        results = host_collector(root / "proc", root / "cgroup", root / "sys").sample()
        reading = Reader(root / "proc", root / "cgroup").read()
    assert not [result.failure for result in results if result.failure not in ("", "malformed", "missing")]
    assert reading.quota_cores is None or reading.quota_cores > 0
    own = page.SelfReading(0.0, 0, None, 0.0, 0, None, "", "")
    state = State("host", 1.0, Sampled(0.0, 0.0, results), 0.0, 1, 0, False, {})
    shown = parse(text.render(page.families([state], own), "")[0].decode())
    assert not [name for (name, _), value in shown.items() if name.endswith("_total") and value < 0]


def _write(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")
