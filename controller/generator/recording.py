"""The whole requests of a recording with their times: encoded once before load, kept in a file, read when they are due.

A recording may be larger than a process should be. What a worker keeps of a request in memory is where it stands in
an unlinked temporary file and when it is due: 16 bytes.
"""

from __future__ import annotations

import os
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, cast

from controller.generator.http_request import SpecError

WRITTEN_BYTES = 1024 * 1024
"""Of requests are gathered before they are written."""


class Recording:
    """Requests by their place in the recording; `times` are seconds since the first one."""

    __slots__ = ("_file", "_places", "times")

    def __init__(self, times: Sequence[float], places: Sequence[int], file: BinaryIO) -> None:
        """`places` has one entry more than `times`: where each request begins, and the end."""
        self.times = times
        self._places = places
        self._file = file

    def __len__(self) -> int:
        """How many requests there are."""
        return len(self.times)

    def request(self, index: int) -> bytes:
        """All bytes of a request."""
        start = self._places[index]
        return os.pread(self._file.fileno(), self._places[index + 1] - start, start)

    def endless(self, order: Sequence[int]) -> Iterator[bytes]:
        """These requests, again and again."""
        while True:
            for index in order:
                yield self.request(int(index))


def kept(requests: Iterable[tuple[float | None, bytes]]) -> Recording:
    """Keep requests with their times. Raises `SpecError` for one without a time, or when the disk is full."""
    times, places = array("d"), array("Q", [0])
    file = cast("BinaryIO", tempfile.TemporaryFile(buffering=WRITTEN_BYTES))  # noqa: SIM115 - as long as the process
    try:
        for at, request in requests:
            if at is None or (times and at < times[-1]):
                what = "has no `at`" if at is None else "was sent before the one above it"
                raise SpecError(f"could not replay the recording: request {len(times) + 1} {what}; correct the file")
            times.append(at)
            places.append(places[-1] + file.write(request))
        file.flush()
    except OSError as error:
        why = f"{error.strerror}; make room in {tempfile.gettempdir()}, or set TMPDIR"
        raise SpecError(f"could not keep the recorded requests: {why}") from error
    return Recording(times, places, file)
