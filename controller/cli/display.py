"""The run on the terminal: a live panel where there is a terminal, a line every five seconds where there is none."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from contextlib import AbstractContextManager
from fractions import Fraction
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from controller.figures.histogram import Histogram
from controller.figures.population import Population
from controller.figures.statistics import nearest_rank
from controller.orders import Interval
from controller.plans.rate import format_rate
from controller.running.board import Board, RunView

LINE_PERIOD = 5.0
FRAME_PERIOD = 0.25
RECENT = 5  # intervals behind the live figures


class Display(AbstractContextManager["Display"]):
    """Call `turn` as often as you like; it draws as often as makes sense."""

    def __init__(self, board: Board, console: Console, *, quiet: bool = False) -> None:
        """Draw what is on `board`."""
        self._board = board
        self._console = console
        self._quiet = quiet
        self._drawn = 0.0
        self._recent: deque[Interval] = deque(maxlen=RECENT)
        self._live = Live(console=console, auto_refresh=False) if console.is_terminal and not quiet else None

    def __enter__(self) -> Display:
        """Take the terminal."""
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the terminal back."""
        if self._live:
            self._live.stop()

    def turn(self) -> None:
        """Draw if it is time to."""
        view = self._board.run()
        if view is None or self._quiet:
            return
        if view.interval is not None and (not self._recent or self._recent[-1] is not view.interval):
            self._recent.append(view.interval)
        now = time.monotonic()
        if now - self._drawn < (FRAME_PERIOD if self._live else LINE_PERIOD):
            return
        self._drawn = now
        if self._live:
            self._live.update(panel(view, tuple(self._recent)), refresh=True)
        else:
            self._console.print(line(view, tuple(self._recent)), highlight=False, soft_wrap=True)


def line(view: RunView, recent: Iterable[Interval]) -> str:
    """The run in one line of plain text."""
    figures = "  ".join(f"{name} {value}" for name, value in _figures(view, tuple(recent)))
    return f"{_where(view):<28} {_clock(view.elapsed)} of {_clock(view.elapsed + view.remaining)}  {figures}"


def panel(view: RunView, recent: Iterable[Interval]) -> Panel:
    """The run as a panel: where it is, how far, and the figures of the last seconds."""
    whole = view.elapsed + view.remaining
    head = Text.assemble(
        (_where(view), "bold"), f"   {_clock(view.elapsed)} elapsed, {_clock(view.remaining)} remaining"
    )
    figures = Table.grid(padding=(0, 3))
    rows = _figures(view, tuple(recent))
    for name, _ in rows:
        figures.add_column(name)
    figures.add_row(*(Text(name, style="dim") for name, _ in rows))
    figures.add_row(*(Text(value) for _, value in rows))
    bar = ProgressBar(total=max(whole, 1.0), completed=view.elapsed)
    return Panel(Group(head, bar, figures), title=f"{view.plan.name} · {view.run_id}", title_align="left")


def _where(view: RunView) -> str:
    slot = next((slot for slot in reversed(view.slots) if slot.end is None), None)
    return f"{slot.stage} / {slot.phase}" if slot and view.state in ("loading", "draining") else view.state


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _figures(view: RunView, recent: tuple[Interval, ...]) -> list[tuple[str, str]]:
    if not recent:
        return [("users", f"0/{view.users}")] if view.rate is None else [("asked", format_rate(view.rate))]
    span = recent[-1].end - recent[0].start
    cells = [cell for interval in recent for cell in interval.cells]
    ended = sum(sum(cell.counts.values()) for cell in cells)
    errors = sum(sum(cell.counts.values()) for cell in cells if cell.outcome != "ok")
    answered = Histogram()
    intended = {(cell.slot, cell.measured) for interval in recent for cell in interval.intended}
    judged = [cell for cell in cells if (cell.slot, cell.measured) not in intended]
    judged += [cell for interval in recent for cell in interval.intended]
    for cell in judged:
        if cell.outcome == "ok":
            answered.add(cell.counts, cell.sum_us)
    latencies = Population(answered, Histogram())
    due, dropped = _arrivals(recent)
    load = [("users", f"{recent[-1].users}/{view.users}")]
    if view.rate is not None:
        load = [("asked", format_rate(view.rate)), ("dropped", f"{dropped / due:.2%}" if due else "-")]
    return [
        *load,
        ("rate", f"{ended / span:,.0f}/s" if span > 0 else "-"),
        ("p50", _milliseconds(latencies, Fraction(50, 100))),
        ("p99", _milliseconds(latencies, Fraction(99, 100))),
        ("errors", f"{errors / ended:.2%}" if ended else "-"),
        ("generator", health(recent[-1])),
    ]


def _arrivals(recent: tuple[Interval, ...]) -> tuple[int, int]:
    """Due and dropped."""
    cells = [cell for interval in recent for cell in interval.arrivals]
    return sum(cell.due for cell in cells), sum(sum(cell.dropped.values()) for cell in cells)


def _milliseconds(latencies: Population, quantile: Fraction) -> str:
    if not latencies.n:
        return "-"
    return f"{latencies.value_seconds(nearest_rank(latencies.n, quantile)) * 1e3:.1f} ms"


def health(interval: Interval) -> str:
    """`ok` or the signal that is nearest to its limit, with how near."""
    signals = [(value, name) for worker in interval.workers for name, value in worker.saturation.items()]
    if not signals:
        return "not measured"
    value, name = max(signals)
    return f"{name} {value:.0%} of its limit" if value >= 0.8 else f"ok ({value:.0%})"
