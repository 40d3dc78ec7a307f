"""A run's histograms as a HdrHistogram interval log, which every HdrHistogram tool reads, and back without loss.

One line a batch: `Tag=<slot>/<measured|unmeasured>/<outcome>,<start>,<length>,<max in ms>,<V2 compressed histogram>`,
start in epoch seconds, values in microseconds. Requests of an open loop are there a second time, timed from their
intended send; the tag then ends in `/intended`. A comment before each line keeps the exact sum of the unrounded
latencies, which the format has no field for. The histograms' range grows with their longest latency: nothing is cut.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

import numpy as np
from hdrh.codec import HdrCookieException, HdrLengthException
from hdrh.histogram import HdrHistogram

from controller.figures.histogram import Histogram, highest
from controller.figures.latency import LatencyLedger
from controller.figures.measurement import Batch

DIGITS = 3
INTENDED = "/intended"
TEN_MINUTES_US = 600_000_000
LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'

Key = tuple[int, bool]
"""Slot, and whether inside its window."""


class HlogError(Exception):
    """A histogram log cannot be read; the sentence says which line and why."""


def write(
    batches: Mapping[Key, tuple[Batch, ...]], started: datetime, intended: Mapping[Key, tuple[Batch, ...]] | None = None
) -> bytes:
    """The log of a run that began at `started`; lines in order of time, as the format asks."""
    begun = started.timestamp()
    lines = [
        "#[Histogram log format version 1.3]",
        "#[latencies in microseconds; tags are slot/measured or unmeasured/outcome, /intended: from the intended send]",
        f"#[StartTime: {begun:.3f} (seconds since epoch), {started.astimezone(UTC).isoformat(timespec='seconds')}]",
        LEGEND,
    ]
    rows = sorted(
        (batch.start, key, outcome, suffix, batch.end, histogram)
        for suffix, found in (("", batches), (INTENDED, intended or {}))
        for key, series in found.items()
        for batch in series
        for outcome, histogram in batch.outcomes.items()
        if histogram.total
    )
    for start, (slot, measured), outcome, suffix, end, histogram in rows:
        tag = f"{slot}/{'measured' if measured else 'unmeasured'}/{outcome}{suffix}"
        encoded = _to_hdr(histogram)
        longest = highest(max(histogram.counts)) / 1000
        lines.append(f"#[SumMicroseconds: {histogram.sum_us}]")
        lines.append(f"Tag={tag},{start:.3f},{end - start:.3f},{longest:.3f},{encoded.encode().decode()}")
    return ("\n".join(lines) + "\n").encode()


def of_ledger(ledger: LatencyLedger, started: datetime) -> bytes:
    """The log of everything that a ledger holds."""
    keys = [(slot, measured) for slot in ledger.slots() for measured in (True, False)]
    sent = {(slot, m): found for slot, m in keys if (found := ledger.batches_from_send(slot, measured=m))}
    intended = {(s, m): ledger.batches(s, measured=m) for s, m in keys if ledger.is_open(s, measured=m)}
    return write(sent, started, intended)


_SUM = re.compile(r"#\[SumMicroseconds: (\d+)\]$")
_LINE = re.compile(r"Tag=(\d+)/(measured|unmeasured)/(\w+)(/intended)?,([\d.]+),([\d.]+),[\d.]+,(\S+)$")


def read(text: bytes) -> dict[Key, tuple[Batch, ...]]:
    """Batches by slot and window, in order of time, with the latencies that count: of an open loop those from the
    intended send. Raises `HlogError`."""
    rows = list(_rows(text))
    intended = {key for key, suffix, *_ in rows if suffix}
    found: dict[Key, dict[tuple[float, float], Batch]] = {}
    for key, suffix, outcome, start, end, histogram in rows:
        if bool(suffix) == (key in intended):
            batch = found.setdefault(key, {}).setdefault((start, end), Batch(start, end, {}))
            batch.outcomes.setdefault(outcome, Histogram()).merge(histogram)
    return {key: tuple(batches[when] for when in sorted(batches)) for key, batches in sorted(found.items())}


def _rows(text: bytes) -> Iterator[tuple[Key, str, str, float, float, Histogram]]:
    exact: int | None = None
    for number, line in enumerate(_lines(text), start=1):
        if comment := _SUM.match(line):
            exact = int(comment[1])
        elif row := _LINE.match(line):
            start, length = float(row[5]), float(row[6])
            histogram = _from_hdr(row[7], exact, number)
            key = (int(row[1]), row[2] == "measured")
            yield key, row[4] or "", row[3], start, round(start + length, 3), histogram
            exact = None
        elif line and not line.startswith(("#", '"')):
            raise HlogError(f"could not read the histogram log: line {number} is not one of ours: {line[:60]!r}")


def _lines(text: bytes) -> Iterable[str]:
    try:
        return text.decode("ascii").splitlines()
    except UnicodeDecodeError as error:
        raise HlogError(f"could not read the histogram log: it is not ASCII text: {error}") from error


def _to_hdr(histogram: Histogram) -> HdrHistogram:
    top = max(TEN_MINUTES_US, 2 * max(histogram.counts, default=0))
    full = HdrHistogram(1, top, DIGITS)
    for us, number in histogram.counts.items():
        full.record_value(us, number)
    return full


def _from_hdr(encoded: str, exact: int | None, line: int) -> Histogram:
    """The histogram in one line; without its exact sum, places count with their middle."""
    try:
        full = HdrHistogram.decode(encoded)
    except (HdrCookieException, HdrLengthException, ValueError, TypeError, zlib.error) as error:
        raise HlogError(f"could not read the histogram log: line {line} holds no histogram: {error!r}") from error
    numbers = np.frombuffer(full.counts, dtype=np.uint64)
    counts = {full.get_value_from_index(int(i)): int(numbers[i]) for i in np.flatnonzero(numbers)}
    middle = sum((us + highest(us)) * number for us, number in counts.items()) // 2
    histogram = Histogram()
    histogram.add(counts, middle if exact is None else exact)
    return histogram
