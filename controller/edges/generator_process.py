"""The generator as real processes: one session of master and workers, spoken to over a private local socket.

Locust is never imported here: importing it patches the whole process.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

import controller
from controller.edges.leftovers import RUN_ID_VARIABLE
from controller.edges.worker_secret import read_secret
from controller.generator_spec import GeneratorSpec, encode_spec
from controller.orders import Command, Fault, Hello, Quit, Report, decode, encode
from controller.ports import EdgeError

START_SECONDS = 30.0
"""How long the master may take to come up and connect."""

SEND_SECONDS = 1.0
"""A command that the master does not take within this time means that it is gone or stuck."""

GRACE_SECONDS = 2.0
"""How long a process may take to end after SIGTERM; then comes SIGKILL."""

FORCE_SECONDS = 5.0
"""How long the kernel may take to end killed processes."""

LAST_WORDS_SECONDS = 0.5
"""How long a failed command waits for what the master said before it went."""

TAIL_BYTES = 2000
"""How much of the log goes into a sentence about a generator that failed."""

MOST_PATH_BYTES = 100
"""A Unix socket's path has to fit into 108 bytes."""


class GeneratorProcess:
    """The generator port on real Locust processes; everything they print goes to `log`."""

    def __init__(self, log: Path, bind: tuple[str, int] | None = None, secret_file: Path | None = None) -> None:
        """Nothing is started; `log` is appended to. Workers of other hosts come to `bind` with the file's secret."""
        self._bind, self._secret_file = bind, secret_file
        self._log = log
        self._folder: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._reader: Thread | None = None
        self._reports: SimpleQueue[Report] = SimpleQueue()
        self._leaving = False
        self._last_words = ""  # the newest fatal fault

    @property
    def exit_code(self) -> int | None:
        """The master's, once it has ended; negative for a signal."""
        return None if self._process is None else self._process.poll()

    def start(self, spec: GeneratorSpec) -> None:
        """Start the process group and wait until its master has connected (a second or two); `Hello` follows as a
        report. Raises `EdgeError` with the end of the log when it does not come up; nothing is left running then."""
        if self._process is not None:
            raise EdgeError("could not start the generator: it was started before")
        self._folder = _private_folder()
        try:
            self._socket = self._connect(spec, self._folder)
        except OSError as error:
            self.kill()
            raise EdgeError(f"could not start the generator: {error}{self._tail()}") from error
        self._reader = Thread(target=self._read, args=(self._socket,), name="generator-reports", daemon=True)
        self._reader.start()

    def send(self, command: Command) -> None:
        """Hand a command to the master. Raises `EdgeError` when it is gone or does not take it within a second."""
        if self._socket is None:
            raise EdgeError("could not send a command to the generator: it does not run")
        self._leaving = self._leaving or isinstance(command, Quit)
        try:
            self._socket.sendall(encode(command))
        except OSError as error:
            if self._reader is not None:
                self._reader.join(timeout=LAST_WORDS_SECONDS)
            what, why = type(command).__name__.lower(), self._last_words or f"{error}; its log is {self._log}"
            raise EdgeError(f"could not send {what} to the generator: {why}") from error

    def reports(self) -> Sequence[Report]:
        """Everything that arrived since the last call, in order; never blocks."""
        taken: list[Report] = []
        with contextlib.suppress(Empty):
            while True:
                taken.append(self._reports.get_nowait())
        return taken

    def alive(self) -> bool:
        """Whether any process of the group still runs."""
        if self._process is None:
            return False
        return self._process.poll() is None or bool(_group(self._process.pid))

    def kill(self) -> None:
        """End the whole group: SIGTERM, after two seconds SIGKILL. Safe to call twice, also before `start`."""
        self._leaving = True
        if self._process is not None:
            self._signal(signal.SIGTERM, GRACE_SECONDS)
            self._signal(signal.SIGKILL, FORCE_SECONDS)
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)  # wakes the reader
        if self._reader is not None:
            self._reader.join(timeout=1.0)
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self._clean_up()

    def _clean_up(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _sealed(self, spec: GeneratorSpec) -> GeneratorSpec:
        """With a secret and a place to come to: made up for this run, or those that other hosts know."""
        if not spec.remote:
            return replace(spec, secret=secrets.token_hex(32))
        if self._bind is None or self._secret_file is None:
            what = "the plan wants workers of other hosts"
            raise OSError(f"{what}; set STAGELIGHT_GENERATOR_BIND and STAGELIGHT_WORKER_SECRET_FILE")
        try:
            return replace(spec, bind=self._bind, secret=read_secret(self._secret_file))
        except ValueError as error:
            raise OSError(str(error)) from error

    def _connect(self, spec: GeneratorSpec, folder: Path) -> socket.socket:
        spec = self._sealed(spec)
        (folder / "spec.json").write_bytes(encode_spec(spec))
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(str(folder / "orders"))
            listener.listen(1)
            listener.settimeout(0.1)
            self._process = self._spawn(folder, spec.run_id)
            deadline = time.monotonic() + START_SECONDS
            while time.monotonic() < deadline:
                if (code := self._process.poll()) is not None:
                    raise ChildProcessError(f"its master ended with exit code {code}")
                with contextlib.suppress(TimeoutError):
                    connection, _ = listener.accept()
                    connection.settimeout(None)
                    limit = struct.pack("ll", int(SEND_SECONDS), 0)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
                    return connection
        raise TimeoutError(f"its master did not connect within {START_SECONDS:.0f} s")

    def _spawn(self, folder: Path, run_id: str) -> subprocess.Popen[bytes]:
        root = str(Path(controller.__file__).resolve().parents[1])
        path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        arguments = ["--spec", str(folder / "spec.json"), "--socket", str(folder / "orders")]
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "controller.generator", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1", RUN_ID_VARIABLE: run_id},
                start_new_session=True,
            )

    def _read(self, connection: socket.socket) -> None:
        with connection.makefile("rb") as lines, contextlib.suppress(OSError):
            for line in lines:
                report = _report(line)
                if isinstance(report, Hello):
                    self._clean_up()  # everybody has read the specification, which may hold secrets
                elif isinstance(report, Fault) and report.fatal:
                    self._last_words = report.what
                self._reports.put(report)
        if not self._leaving and self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=GRACE_SECONDS)
            code = self._process.returncode
            how = "its master closed the connection" if code is None else f"its master ended with exit code {code}"
            self._reports.put(Fault(f"the generator is gone: {how}{self._tail()}", fatal=True))

    def _signal(self, number: signal.Signals, patience: float) -> None:
        """Send a signal to every process of the group that is left and wait until none is."""
        process, deadline = self._process, time.monotonic() + patience
        if process is None or not self.alive():
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        while self.alive() and time.monotonic() < deadline:
            time.sleep(0.02)

    def _tail(self) -> str:
        try:
            end = self._log.read_bytes()[-TAIL_BYTES:].decode(errors="replace").strip()
        except OSError:
            return ""
        return f"; the end of {self._log}:\n{end}" if end else f"; {self._log} is empty"


def _report(line: bytes) -> Report:
    try:
        message = decode(line)
    except ValueError as error:
        return Fault(f"the generator said something that is not a report: {error}", fatal=False)
    if isinstance(message, Report):
        return message
    return Fault(f"the generator said {type(message).__name__}, which is not a report", fatal=False)


def _private_folder() -> Path:
    """A folder that only this user can enter, with a path short enough for a socket in it."""
    folder = Path(tempfile.mkdtemp(prefix="stagelight-"))
    if len(os.fsencode(folder / "orders")) <= MOST_PATH_BYTES:
        return folder
    folder.rmdir()
    return Path(tempfile.mkdtemp(prefix="stagelight-", dir="/tmp"))


def _group(leader: int) -> list[int]:
    """Process ids of the group that `leader` leads, without zombies: nobody may be there to collect those."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state, _, group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
        except OSError:  # it ended while we looked
            continue
        if int(group) == leader and state not in ("Z", "X"):
            found.append(int(entry.name))
    return found
