"""The verdict on one screen: figures by window, shares, objectives, reasons and what to do about them.

Laid out for 80 columns; on a terminal in colour, elsewhere plain text that means the same, because every colour stands
beside a word or a sign.
"""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from controller.figures import wording
from controller.figures.measurement import Measured
from controller.figures.window import Window
from controller.plans.criterion import Indicator
from controller.plans.rate import format_rate
from controller.verdicts.reasons import Reason, Ruling
from controller.verdicts.record import RunRecord
from controller.verdicts.table_cells import (
    ABSENT,
    LATENCIES,
    MOST_ROWS,
    block,
    cell,
    columns,
    ms,
    ms_interval,
    percent,
)
from controller.verdicts.table_instrument import distortion, remarks

WIDTH = 80
STYLES = {
    Ruling.PASS: "bold green",
    Ruling.FAIL: "bold red",
    Ruling.INVALID: "bold magenta",
    Ruling.INCONCLUSIVE: "bold yellow",
}
SIGNS = {Ruling.PASS: "✓", Ruling.FAIL: "✗", Ruling.INVALID: "!", Ruling.INCONCLUSIVE: "?"}
PLAIN_SIGNS = str.maketrans({"✓": "+", "✗": "x", "…": "."})


def verdict_screen(record: RunRecord) -> RenderableType:
    """Everything that a person must see after a run, top to bottom."""
    parts: list[RenderableType] = [_headline(record)]
    if record.windows:
        parts += [
            _latencies(record),
            *_arrivals(record.windows),
            *distortion(record.windows),
            _requests(record.windows),
            _shares(record.windows),
        ]
    if record.verdict.objectives:
        parts.append(_objectives(record))
    parts.extend(_reasons(record.verdict.reasons))
    parts.extend(remarks(record.windows))
    return Group(*parts)


def render(record: RunRecord, width: int = WIDTH, *, ascii_only: bool = False) -> str:
    """The screen as plain text without colour, for files, pipes and tests."""
    sink = io.StringIO()
    console = Console(file=sink, width=width, color_system=None, force_terminal=False, legacy_windows=False)
    console.print(verdict_screen(record))
    text = "\n".join(line.rstrip() for line in sink.getvalue().splitlines()) + "\n"
    return text.translate(PLAIN_SIGNS).encode("ascii", "replace").decode() if ascii_only else text


def show(record: RunRecord, console: Console) -> None:
    """Print the screen: in colour on a terminal, plain elsewhere, in ASCII where the terminal knows nothing better."""
    encoding = (console.encoding or "").lower()
    if console.is_terminal and encoding.startswith("utf"):
        console.print(verdict_screen(record))
        return
    console.file.write(render(record, console.width, ascii_only=not encoding.startswith("utf")))


def _headline(record: RunRecord) -> RenderableType:
    ruling = record.verdict.ruling
    length = (record.ended - record.started).total_seconds()
    first = Text.assemble(("Verdict: ", "bold"), (ruling.value.upper(), STYLES[ruling]), f"   plan {record.plan.name}")
    ended = f"{record.outcome.value.replace('_', ' ')} after {wording.span(length)}"
    books = f"{sum(record.totals.values()):,} requests"
    second = Text(f"run {record.run_id}, {ended}, {books}, exit code {int(record.exit_code)}", style="dim")
    return Group(first, second)


def _latencies(record: RunRecord) -> RenderableType:
    """In milliseconds throughout, so that a column can be read downwards."""
    heads = [indicator.value.replace("p", "P") for indicator in LATENCIES]
    table = columns("Latency, ms", *heads[:3], "95 % sure", *heads[3:])
    for window in record.windows:
        ruling = record.verdict.of_window(window.slot)
        cells = [ms(indicator, window.indicators[indicator]) for indicator in LATENCIES]
        name = Text.assemble((SIGNS[ruling], STYLES[ruling]), f" {window.name}")
        table.add_row(name, *cells[:3], ms_interval(window.indicators[Indicator.P99]), *cells[3:])
    return block(table)


def _arrivals(windows: tuple[Window, ...]) -> Iterator[RenderableType]:
    """Whose latency is counted from when, and how well the open loops kept their schedules; nothing without one."""
    found = [(window, window.punctuality) for window in windows if window.punctuality is not None]
    if not found:
        return
    yield Text("loop: open, latency from the intended send time", style="dim")
    if len(found) < len(windows):
        yield Text("loop: closed, latency from the actual send (windows named by users)", style="dim")
    table = columns("Open loop", "asked", "sent/s", "dropped", "late P99", "P50 from send", "P99 from send")
    for window, kept in found:
        table.add_row(
            window.name,
            format_rate(kept.asked),
            f"{wording.digits(kept.sent / window.seconds, 4)}",
            percent((kept.due - kept.sent) / kept.due, kept.due - kept.sent) if kept.due else ABSENT,
            ABSENT if kept.lateness_p99 is None else wording.latency(kept.lateness_p99),
            *(ms(indicator, window.from_send[indicator]) for indicator in (Indicator.P50, Indicator.P99)),
        )
    yield block(table)


def _requests(windows: tuple[Window, ...]) -> RenderableType:
    fallbacks = any(window.outcomes.get("degraded") for window in windows)
    heads = ("degraded",) if fallbacks else ()
    table = columns("Requests", "ended", "ok/s", "errors", "timeouts", *heads, "P99/mean", "stalled", "gen.")
    for window in windows:
        found, tail = window.indicators, window.tail_ratio
        degraded = [cell(Indicator.DEGRADED_RATIO, found[Indicator.DEGRADED_RATIO])] if fallbacks else []
        table.add_row(
            window.name,
            f"{window.ended:,}",
            cell(Indicator.THROUGHPUT, found[Indicator.THROUGHPUT]).removesuffix("/s").replace(">= ", ">="),
            cell(Indicator.ERROR_RATIO, found[Indicator.ERROR_RATIO]),
            cell(Indicator.TIMEOUT_RATIO, found[Indicator.TIMEOUT_RATIO]),
            *degraded,
            wording.digits(tail.value) if isinstance(tail, Measured) else ABSENT,
            wording.span(window.health.stalled_seconds),
            cell(Indicator.SATURATION, found[Indicator.SATURATION]),
        )
    return block(table)


def _shares(windows: tuple[Window, ...]) -> RenderableType:
    table = columns("Share of n", "n", "0-100 ms", "100-200", "200-500", "500-1000", "above")
    for window in windows:
        n = sum(share.count for share in window.shares)
        table.add_row(window.name, f"{n:,}", *(percent(share.ratio, share.count) for share in window.shares))
    return block(table)


def _objectives(record: RunRecord) -> RenderableType:
    windows = {window.slot: window for window in record.windows}
    results = record.verdict.objectives
    if len(results) > MOST_ROWS:
        results = tuple(result for result in results if result.ruling is not Ruling.PASS)
    table = columns("Objective", "window", "measured", "95 % sure", "margin")
    for result in results[:MOST_ROWS]:
        table.add_row(
            Text.assemble((SIGNS[result.ruling], STYLES[result.ruling]), f" {result.objective}"),
            windows[result.slot].name,
            cell(result.indicator, result.measured),
            wording.interval(result.indicator, result.measured) or ABSENT,
            ABSENT if result.margin is None else f"{result.margin * 100:+,.0f} %",
        )
    passed = sum(result.ruling is Ruling.PASS for result in record.verdict.objectives)
    hidden = len(record.verdict.objectives) - min(len(results), MOST_ROWS)
    more = Text(f"{hidden} more not shown; {passed} of {len(record.verdict.objectives)} passed", style="dim")
    return Group(block(table), more) if hidden else block(table)


def _reasons(reasons: tuple[Reason, ...]) -> Iterator[RenderableType]:
    """Each reason; advice that would come again for the next one is given once, after the last."""
    if reasons:
        yield Text("\nWhy, and what to do", style="bold")
    shown = reasons[:MOST_ROWS]
    for number, reason in enumerate(shown, start=1):
        sign = (f"{SIGNS[reason.ruling]} {reason.ruling.value}", STYLES[reason.ruling])
        yield Text.assemble(sign, " ", reason.sentence)
        if number == len(shown) or shown[number].advice != reason.advice:
            yield Padding(Text(f"-> {reason.advice}", style="dim"), (0, 0, 0, 2))
    if len(reasons) > MOST_ROWS:
        yield Text(f"{len(reasons) - MOST_ROWS} more, all in record.json", style="dim")
