"""What the screen of a verdict says of the generator itself: how much of the latencies may be its own, and remarks."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from controller.figures import wording
from controller.figures.measurement import Measured, Measurement
from controller.figures.window import Window
from controller.plans.criterion import QUANTILES
from controller.verdicts.table_cells import ABSENT, LATENCIES, MOST_ROWS, block, columns


def distortion(windows: tuple[Window, ...]) -> Iterator[RenderableType]:
    """How much of each quantile may be the generator's; nothing in a record that does not know."""
    if not any(window.distortion for window in windows):
        return
    if not any(isinstance(found, Measured) for window in windows for found in window.distortion.values()):
        yield Text("how much of that is the generator's own: unknown, nothing was read of its event loops", style="dim")
        return
    shown = [indicator for indicator in LATENCIES if indicator in QUANTILES]
    heads = [indicator.value.replace("p", "P") for indicator in shown]
    table = columns("Of that ours, ms", *heads, "canary P50", "P50 then")
    for window in windows:
        cells = [_ours(window.distortion[indicator]) for indicator in shown]
        seen = window.canary
        both = (None, None) if seen is None else (seen.p50, seen.generator_p50)
        table.add_row(window.name, *cells, *(ABSENT if one is None else wording.digits(one * 1000) for one in both))
    yield block(table)


def _ours(measured: Measurement) -> str:
    return f"<={wording.digits(measured.value * 1000)}" if isinstance(measured, Measured) else "?"


def remarks(windows: tuple[Window, ...]) -> Iterator[RenderableType]:
    """What must be known of windows that can be believed: what was cut out of them, and short disturbances."""
    found = [remark for window in windows for remark in window.remarks]
    if found:
        yield Text("\nTo be known", style="bold")
    yield from (Text(remark) for remark in found[:MOST_ROWS])
    if len(found) > MOST_ROWS:
        yield Text(f"{len(found) - MOST_ROWS} more, all in record.json", style="dim")
