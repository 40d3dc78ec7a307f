"""Programs that live no longer than we do: in a session of their own, ended in order, killed when we are killed."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from controller.ports import EdgeError

PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


class ChildProcess:
    """One program and its log file; terminal signals do not reach it, our own death does."""

    def __init__(
        self, name: str, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start it. Raises `EdgeError` when that is not possible."""
        self.name = name
        self.log = log
        self._output = log.open("wb")
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
                preexec_fn=_die_with_parent,  # noqa: PLW1509 -- the only way; nothing else runs in the child before exec
            )
        except OSError as error:
            raise EdgeError(f"could not start {name} ({command[0]}): {error.strerror}") from error

    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def last_words(self) -> str:
        """The end of its log, one line."""
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it printed nothing"

    def end(self, patience: float = 5.0) -> None:
        """SIGTERM, then after `patience` seconds SIGKILL to the whole session; returns when it is gone."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(patience)
                break
        self._output.close()


def _die_with_parent() -> None:
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
