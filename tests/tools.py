"""Bring the programs that the tests drive: what is missing is fetched where that is possible, else named.

Prometheus is unpacked beside us, in two versions; a browser needs many libraries, so it is installed, as root only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from controller.edges.debian_package import unpack
from controller.ports import EdgeError

TOOLS = Path("build/tools")
NEWER = Path("build/tools-newer")
NEWER_SUITE = "forky"
SYSTEMD = Path("/run/systemd/system")
ALERT_TEMPLATES = Path("/usr/share/prometheus/alertmanager/default.tmpl")
BENCH = Path("build/tools-bench")


def main() -> int:
    """Fetch what is missing; never fails: each test says itself what it cannot do without."""
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        _try(lambda: unpack(["prometheus"], TOOLS))
    _alertmanager()
    node_exporter = "prometheus-node-exporter"
    if shutil.which(node_exporter) is None and not (TOOLS / "usr/bin" / node_exporter).exists():
        _try(lambda: unpack([node_exporter], TOOLS))
    if not (NEWER / "usr/bin/prometheus").exists():
        _try(lambda: unpack(["prometheus", "promtool"], NEWER, NEWER_SUITE))
    if not (NEWER / "usr/libexec/docker/cli-plugins/docker-compose").exists():
        _try(lambda: unpack(["docker-compose"], NEWER, NEWER_SUITE))
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        _install("chromium", "chromium-driver", "fonts-dejavu-core")
    if not all((BENCH / program).exists() for program in ("usr/sbin/nginx", "usr/bin/hey")):
        _try(lambda: unpack(["nginx", "hey"], BENCH))
    if shutil.which("wrk") is None:
        _install("wrk")
    return 0


def _alertmanager() -> None:
    """Debian's Alertmanager reads its templates at a fixed place, so to run it has to be installed.

    That starts a service where systemd runs: there it is only unpacked, for amtool, and who would run it is skipped.
    """
    if not ALERT_TEMPLATES.exists() and not SYSTEMD.exists():
        _install("prometheus-alertmanager")
    if shutil.which("amtool") is None and not (TOOLS / "usr/bin/amtool").exists():
        _try(lambda: unpack(["prometheus-alertmanager"], TOOLS))


def _try(fetch: Callable[[], object]) -> None:
    try:
        fetch()
    except EdgeError as error:
        sys.stderr.write(f"note: {error}\n")


def _install(*packages: str) -> None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        sys.stderr.write(f"note: not installed: {' '.join(packages)}; what needs them is skipped\n")
        return
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "-qq", "update"],
        ["apt-get", "-qq", "install", "-y", "--no-install-recommends", *packages],
    ):
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)


if __name__ == "__main__":
    sys.exit(main())
