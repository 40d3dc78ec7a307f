"""The report's section about the generator's own limits: when it was at one in a measured window, and what was done."""

from __future__ import annotations

from dashboards.report import wording
from dashboards.report.instrument import Disturbance
from dashboards.report.markup import Markup, element, table, text, together
from dashboards.report.record import Run, Window

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
    remarks = [element("li", text(remark)) for window in run.windows for remark in window.remarks]
    rows = (
        (
            text(window.name),
            text(one.signal.replace("_", " ")),
            text(one.worker),
            text(f"{one.start:%H:%M:%S} to {one.end:%H:%M:%S}"),
            text(wording.span(one.seconds)),
            text(f"{one.share * 100:.1f} %"),
            text(f"{wording.digits(one.worst)} times"),
            text(_dealt_with(window, one)),
        )
        for window, one in found
    )
    heads = ("window", "signal", "worker", "UTC", "lasted", "of the window", "at most, of its limit", "")
    return together(element("ul", *remarks) if remarks else Markup(""), table(heads, rows))


def _dealt_with(window: Window, one: Disturbance) -> str:
    if window.cut is not None and one.start >= window.cut.start and one.end <= window.cut.end:
        return "cut out"
    return "in the figures"
