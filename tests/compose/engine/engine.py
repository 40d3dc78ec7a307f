"""A Docker engine of our own: in namespaces of its own, so that neither its networks nor its mounts outlive it.

Nothing is installed and no other engine is asked: the programs come from Debian's packages, unpacked beside us. The
engine has no way out of its network; its published ports are reachable by `Engine.within` only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tests.compose.composition import ROOT

TOOLS = ROOT / "build/tools-engine"
PACKAGES = (
    "docker.io", "containerd", "runc", "tini", "iptables", "libip4tc2", "libip6tc2", "libxtables12", "libnftnl11",
    "libmnl0", "libnfnetlink0", "libnetfilter-conntrack3", "debootstrap",
)  # fmt: skip
LIBRARIES = TOOLS / "usr/lib/x86_64-linux-gnu"
START_SECONDS = 60.0
CLONE_NEWNET = 0x40000000
Answer = TypeVar("Answer")

STARTER = """
ip link set lo up
mount -t tmpfs none /run
exec dockerd --data-root {data} --exec-root {home}/exec --pidfile {home}/pid --host unix://{home}/sock \
  --cgroup-parent /{parent} \
  --group root --log-level warn --containerd-namespace stagelight --containerd-plugins-namespace stagelight-plugins
"""


class EngineError(Exception):
    """The engine cannot be had; the message says why."""


@dataclass(slots=True)
class Engine:
    """A running engine; `home` is short, because the path of a socket has to be."""

    home: Path
    process: subprocess.Popen[bytes]

    @property
    def environment(self) -> dict[str, str]:
        """For `docker` and the compose plugin: this engine and no configuration of this machine's user."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        folder = self.home / "config"
        mine = {"DOCKER_HOST": f"unix://{self.home}/sock", "DOCKER_CONFIG": str(folder), "HOME": str(folder)}
        return kept | mine | {"DOCKER_BUILDKIT": "1"}

    def docker(self, *words: str, check: bool = True, timeout: float = 120, **more: Any) -> str:
        """What `docker` prints. Raises `AssertionError` with its complaint."""
        line = [str(TOOLS / "usr/bin/docker"), *words]
        done = subprocess.run(
            line, env=self.environment, capture_output=True, text=True, timeout=timeout, check=False, **more
        )
        if check and done.returncode != 0:
            raise AssertionError(f"docker {' '.join(words)}: {(done.stderr or done.stdout)[-6000:]}")
        said: str = done.stdout
        return said

    def within(self, ask: Callable[[], Answer]) -> Answer:
        """Do something in the engine's network, where its published ports are on loopback."""
        found: list[Answer] = []
        trouble: list[BaseException] = []

        def work() -> None:
            try:
                _enter_network(self._inside())
                found.append(ask())
            except BaseException as error:  # noqa: BLE001 -- handed to the caller's thread
                trouble.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        if trouble:
            raise trouble[0]
        return found[0]

    def kill(self, number: int) -> None:
        """SIGKILL a process by its number inside the engine's namespace."""
        run(["nsenter", "--target", str(self._inside()), "--pid", "--mount", "kill", "-KILL", str(number)])

    def stop(self) -> None:
        """End the engine with every container; its network and its mounts go with the namespaces.

        Raises `AssertionError` when folders of its control groups cannot be removed: then something still runs in them.
        """
        self.process.send_signal(signal.SIGKILL)  # of `unshare`, whose children are told to die with it
        self.process.wait(30)
        deadline = time.monotonic() + 10
        while (self.home / "sock").exists() and self._answers() and time.monotonic() < deadline:
            time.sleep(0.1)
        left = self._control_groups()
        while left and time.monotonic() < deadline:
            for folder in left:
                with contextlib.suppress(OSError):  # its last process has not been reaped yet
                    folder.rmdir()
            time.sleep(0.1)
            left = self._control_groups()
        shutil.rmtree(self.home, ignore_errors=True)
        assert left == [], f"processes of the engine are left in {left}"

    def _control_groups(self) -> list[Path]:
        """Every folder of ours in every hierarchy, the innermost first."""
        mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
        tops = [Path(place) / self.home.name for _, place, kind, *_ in mounts if kind in ("cgroup", "cgroup2")]
        found = [folder for top in tops if top.exists() for folder in (top, *top.rglob("*")) if folder.is_dir()]
        return sorted(found, key=lambda folder: len(folder.parts), reverse=True)

    def _inside(self) -> int:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0])

    def _answers(self) -> bool:
        return bool(self.docker("info", "--format", "{{.ServerVersion}}", check=False).strip())


def start(home: Path, data: Path) -> Engine:
    """Start one, with its images in `data`. Raises `EngineError`."""
    for program in ("unshare", "ip", "mount"):
        if shutil.which(program) is None:
            raise EngineError(f"{program} is not on PATH")
    (home / "config").mkdir(parents=True)
    programs = home / "programs"
    programs.mkdir()
    for name in ("iptables", "ip6tables"):
        (programs / name).symlink_to(TOOLS / "usr/sbin/xtables-legacy-multi")
    places = [programs, TOOLS / "usr/sbin", TOOLS / "usr/bin", os.environ["PATH"]]
    environment = {
        "PATH": ":".join(map(str, places)),
        "LD_LIBRARY_PATH": str(LIBRARIES),
        "XTABLES_LIBDIR": str(LIBRARIES / "xtables"),
        "HOME": str(home),
    }
    own = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    script = STARTER.format(home=home, data=data, parent=home.name)
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            [*own, "bash", "-euc", script], env=environment, stdout=log, stderr=log, start_new_session=True
        )
    engine = Engine(home, process)
    deadline = time.monotonic() + START_SECONDS
    while not ((home / "sock").exists() and engine._answers()):
        if process.poll() is not None or time.monotonic() > deadline:
            said = (home / "log").read_text(errors="replace").strip().splitlines()[-5:]
            engine.stop()
            raise EngineError("the engine did not start: " + " / ".join(said))
        time.sleep(0.2)
    return engine


def _enter_network(pid: int) -> None:
    """Move this thread, and no other, into the network of a process."""
    library = ctypes.CDLL(None, use_errno=True)
    with Path(f"/proc/{pid}/ns/net").open() as network:
        if library.setns(network.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "could not enter the engine's network")


def run(line: Sequence[str | Path], **more: Any) -> None:
    """Run a program of the preparation. Raises `EngineError` with the end of its output."""
    done = subprocess.run(list(map(str, line)), capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise EngineError(f"{line[0]} failed: {(done.stdout + done.stderr).strip()[-500:]}")
