"""The only worker is on another host, whose way to the target becomes slow. From here the target is as fast as ever."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tests.controller.generator.other_host import another_host
from tests.end_to_end.stage import ROOT, free_ports
from tests.validity.case import Launch, Place

RELAY = "tests.validity.poisons.relay"


@contextmanager
def _program(*command: str) -> Iterator[None]:
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def far_worker(place: Place) -> Iterator[Launch]:
    """Loopback is another one there: the target's address leads to a relay, which leads to the target."""
    secret, port = place.folder / "secret", free_ports(1)[0]
    secret.write_text(secrets.token_hex(32))
    with another_host() as host, ExitStack() as stack:
        here, there = f"{host.here}:{place.port}", f"127.0.0.1:{place.port}"
        stack.enter_context(_program(sys.executable, "-m", RELAY, here, f"{place.host}:{place.port}"))
        stack.enter_context(
            _program(*host.command(sys.executable, "-m", RELAY, there, here, "--slow-while", str(place.trigger)))
        )
        master = f"{host.here}:{port}"
        worker = [sys.executable, "-m", "controller", "worker", "--master", master, "--secret-file", str(secret)]
        stack.enter_context(_program(*host.command(*worker)))
        yield Launch((), {"STAGELIGHT_GENERATOR_BIND": master, "STAGELIGHT_WORKER_SECRET_FILE": str(secret)})
