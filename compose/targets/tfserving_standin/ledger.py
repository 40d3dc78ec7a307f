"""The stand-in's own truth: a log line for every request, and counts of what came in and what went out."""

from __future__ import annotations

import json
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from .call import Call
from .codes import NAMES, Code

FLUSH_SECONDS = 0.2


class Ledger:
    """Counts always, and writes JSON Lines if it has a file. Moments are given on the monotonic clock, written in
    epoch seconds; a line's moments share one offset, so that its differences are exact."""

    def __init__(self, path: Path | None) -> None:
        """Open the log (truncating it). Raises OSError."""
        self._file: TextIO | None = path.open("w", encoding="utf-8") if path is not None else None
        self._lines: list[str] = []
        self._offset = time.time() - time.monotonic()
        self._received: Counter[tuple[str, str]] = Counter()
        self._answered: Counter[tuple[str, str, int, str]] = Counter()
        self._undelivered = 0
        self._in_flight: set[Call] = set()
        self._paths: dict[str, str] = {}
        self.broken: OSError | None = None
        """Why the log could not be written, once it could not; it is incomplete then."""
        self.interrupted = 0
        """Connections lost in the middle of a request, which was therefore never received."""
        self.note("started", time.monotonic(), log="Stagelight TF Serving stand-in", version=1)

    def epoch(self, moment: float) -> float:
        """A moment of the monotonic clock in epoch seconds."""
        return moment + self._offset

    def note(self, event: str, moment: float, **facts: Any) -> None:
        """Log something that is not a request."""
        if self._file is not None:
            self._lines.append(json.dumps({"event": event, "at": round(self.epoch(moment), 6), **facts}))

    def received(self, call: Call) -> None:
        """A request has been read completely."""
        self._received[call.wire, call.kind] += 1
        self._in_flight.add(call)

    def answered(self, call: Call, status: int, code: Code, moment: float, *, delivered: bool) -> None:
        """Its answer left at `moment`, or would have if the client had stayed."""
        self._in_flight.discard(call)
        self._answered[call.wire, call.kind, status, NAMES[code]] += 1
        if not delivered:
            self._undelivered += 1
        if self._file is not None:
            self._lines.append(self._line(call, status, NAMES[code], moment, delivered=delivered))

    def flush(self) -> None:
        """Write what is buffered, and follow the wall clock's steps."""
        self._offset = time.time() - time.monotonic()
        if self._file is not None and self._lines:
            lines, self._lines = self._lines, []
            try:
                self._file.write("\n".join(lines) + "\n")
                self._file.flush()
            except OSError as error:
                self.broken = error

    def close(self, moment: float) -> None:
        """Log the requests that will get no answer, then the sums, and close the file."""
        for call in self._in_flight:
            if self._file is not None:
                self._lines.append(self._line(call, 0, "", None, delivered=False))
        sums = {"received": self._received.total(), "answered": self._answered.total()}
        self.note("stopped", moment, **sums)
        self.flush()
        if self._file is not None:
            with suppress(OSError):  # what could not be written has been noted in `broken`
                self._file.close()
            self._file = None

    def counts(self) -> dict[str, Any]:
        """All counts: by protocol and kind what was received, by status and code too what was answered."""
        received: dict[str, dict[str, int]] = {}
        for (wire, kind), number in sorted(self._received.items()):
            received.setdefault(wire, {})[kind] = number
        answered = [
            {"protocol": wire, "kind": kind, "status": status, "code": code, "count": number}
            for (wire, kind, status, code), number in sorted(self._answered.items())
        ]
        return {
            "received": received,
            "answered": answered,
            "in_flight": len(self._in_flight),
            "undelivered": self._undelivered,
            "interrupted": self.interrupted,
        }

    def _line(self, call: Call, status: int, code: str, moment: float | None, *, delivered: bool) -> str:
        offset = self._offset
        path = self._paths.get(call.path)
        if path is None:
            path = json.dumps(call.path)
            if len(self._paths) < 1024:  # a bound, because clients choose the paths
                self._paths[call.path] = path
        answer, taken = "null", "null"
        if moment is not None:
            answer, taken = f"{moment + offset:.6f}", f"{moment - call.run:.6f}"
        asked = "null" if call.asked is None else f"{call.asked:.6f}"
        return (
            f'{{"event": "request", "arrival": {call.arrival + offset:.6f}, "start": {call.start + offset:.6f}, '
            f'"run": {call.run + offset:.6f}, "answer": {answer}, "protocol": "{call.wire}", "kind": "{call.kind}", '
            f'"path": {path}, "status": {status}, "code": "{code}", "rows": {call.rows}, "version": {call.version}, '
            f'"asked": {asked}, "taken": {taken}, "delivered": {"true" if delivered else "false"}}}'
        )
