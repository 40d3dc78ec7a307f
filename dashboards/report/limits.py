"""The report's section about the generator's own limits: when it was at one in a measured window, and what was done."""

from __future__ import annotations

from collections.abc import Iterator

from dashboards.report import wording
from dashboards.report.instrument import Disturbance
from dashboards.report.markup import Markup, element, table, text, together
from dashboards.report.record import Run, Window
from exporters.loadgen_limits import LIMITS

NOTE = (
    "From the generator's own readings, once a second. What was measured in such a time is the generator's as well as "
    "the target's: more than 5 % of a window's seconds make it invalid, unless one stretch can be cut out that leaves "
    "three quarters of it. A rate with >= before it is a lower bound of what the target can."
)


def disturbances(run: Run) -> Markup:
    """When the generator was at a limit of its own in a measured window, and what was cut out for it."""
    found = [(window, one) for window in run.windows for one in window.disturbances]
    if not found:
        return element("p", text("The generator was at none of its limits in any measured window."))
    rows = (
        (
            text(window.name),
            text(one.signal.replace("_", " ")),
            text(one.worker),
            text(f"{one.start:%H:%M:%S} to {one.end:%H:%M:%S}"),
            text(wording.span(one.seconds)),
            text(f"{one.share * 100:.1f} %"),
            text(f"{wording.digits(one.worst)} times{_limit(one)}"),
            text(_dealt_with(window, one)),
        )
        for window, one in found
    )
    heads = ("window", "signal", "worker", "UTC", "lasted", "of the window", "at most, of its limit", "")
    return together(remarks(run), table(heads, rows))


def remarks(run: Run) -> Markup:
    """What a reader of windows that can be believed must know: what was cut out, and short disturbances."""
    found = [element("li", text(remark)) for window in run.windows for remark in window.remarks]
    return element("ul", *found, cls="remarks") if found else Markup("")


def _limit(one: Disturbance) -> str:
    """`, 20.0 ms`: in the signal's unit."""
    if one.limit is None:
        return ""
    known = LIMITS.get(one.signal)
    seconds = known is not None and known.unit == "seconds"
    return f" {wording.latency(one.limit) if seconds else wording.digits(one.limit * 100) + ' %'}"


def _dealt_with(window: Window, one: Disturbance) -> str:
    if window.cut is not None and one.start >= window.cut.start and one.end <= window.cut.end:
        return "cut out"
    return "in the figures"


QUANTILES = ("p50", "p95", "p99", "p99.9")

DISTORTION_NOTE = (
    "How much of each quantile the generator itself may have added: the same quantile of how long its event loops let "
    "things wait, and in an open loop of how late requests left; of the P50 also what a lone probe of the controller's "
    "own did not see. The slowest answers are assumed to be those that waited longest, so it is the most that the "
    "loops can have added; what a busy machine takes from generator and target alike is not in it."
)


def distortion(run: Run) -> Iterator[Markup]:
    """What of the latencies may be the generator's own; nothing for a record that does not know."""
    if not any(window.distortion for window in run.windows):
        return
    rows = (
        (
            text(window.name),
            *(text(_ours(window, name)) for name in QUANTILES),
            text("-" if window.canary is None else f"{window.canary.n:,}"),
            text(_latency(window.canary.p50 if window.canary else None)),
            text(_latency(window.canary.generator_p50 if window.canary else None)),
        )
        for window in run.windows
    )
    heads = [f"of the {name.upper()}" for name in QUANTILES]
    yield table(("window", *heads, "probes", "their P50", "the generator's P50 then"), rows)
    sent = sum(run.canary.values())
    counted = f" {sent:,} lone probes were sent in the run; the target received them, and no other figure holds them."
    yield element("p", text(DISTORTION_NOTE + (counted if sent else "")), cls="asks")


def _ours(window: Window, name: str) -> str:
    figure = window.distortion.get(name)
    if figure is None or figure.value is None:
        return (figure and figure.reason) or "unknown"
    return f"at most {wording.latency(figure.value)}"


def _latency(seconds: float | None) -> str:
    return "-" if seconds is None else wording.latency(seconds)
