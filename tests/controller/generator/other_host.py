"""Another host for tests: a network namespace of our own with one wire to it; nothing else is reachable from there."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.needs import missing

SECRET = "a secret of enough bytes for two hosts\n"  # noqa: S105 - of tests alone


@dataclass(frozen=True, slots=True)
class OtherHost:
    """`here` and `there` are the two ends' addresses."""

    name: str
    wire: str
    here: str
    there: str

    def command(self, *words: str) -> list[str]:
        """Run something there."""
        return ["ip", "netns", "exec", self.name, *words]

    def plug(self, *, connected: bool) -> None:
        """Pull the wire out, or put it in."""
        _ip("link", "set", self.wire, "up" if connected else "down")

    def kill_everything(self) -> None:
        """As if it had lost its power: nothing there says goodbye."""
        for pid in _ip("netns", "pids", self.name).split():
            os.kill(int(pid), signal.SIGKILL)


@contextmanager
def another_host() -> Iterator[OtherHost]:
    """Root only: skipped with the reason elsewhere, a failure in CI."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        missing("network namespaces need root and Debian's package `iproute2`")
    number = os.getpid() % 60_000
    host = OtherHost(f"sl{number}", f"sl{number}v", f"10.203.{number % 250}.1", f"10.203.{number % 250}.2")
    try:
        _ip("netns", "add", host.name)
    except subprocess.CalledProcessError as error:
        missing(f"no network namespace could be made: {error.stderr.strip()}")
    try:
        _ip("link", "add", host.wire, "type", "veth", "peer", "name", "eth0", "netns", host.name)
        _ip("addr", "add", f"{host.here}/30", "dev", host.wire)
        _ip("link", "set", host.wire, "up")
        _ip("-n", host.name, "addr", "add", f"{host.there}/30", "dev", "eth0")
        _ip("-n", host.name, "link", "set", "eth0", "up")
        _ip("-n", host.name, "link", "set", "lo", "up")
        yield host
    finally:
        _ip("netns", "del", host.name)  # and with it the wire


def free_port(host: OtherHost) -> int:
    """One that nobody listens on at our end of the wire."""
    with socket.create_server((host.here, 0)) as probe:
        return int(probe.getsockname()[1])


@contextmanager
def agent(host: OtherHost, port: int, secret: Path, log: Path, ends: int = 130) -> Iterator[None]:
    """The one command that another host needs; its exit status in the end, which comes when it is asked to stop."""
    words = ("-m", "controller", "worker", "--master", f"{host.here}:{port}", "--secret-file", str(secret))
    with log.open("wb") as output:
        process = subprocess.Popen(
            host.command(sys.executable, *words),
            stdout=output,
            stderr=output,
            env={**os.environ, "STAGELIGHT_ALLOW_TARGETS": host.here},
        )
    try:
        yield
    finally:
        process.terminate()
        assert process.wait(10) == ends


def _ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True, timeout=10).stdout
