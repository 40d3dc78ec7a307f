"""What a panel is: a question with its queries and how to draw them; values only, no Grafana and no plotly."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from dashboards.promql import Expr


class Kind(StrEnum):
    """How a panel is drawn; the values are Grafana's panel types."""

    STAT = "stat"
    LINES = "timeseries"
    HEATMAP = "heatmap"
    STATES = "state-timeline"
    TABLE = "table"
    POINTS = "xychart"


class Unit(StrEnum):
    """Unit of a panel's values; the values are Grafana's unit ids."""

    SECONDS = "s"
    MICROSECONDS = "µs"
    CLOCK = "dthms"
    PER_SECOND = "reqps"
    EVENTS = "ops"
    SHARE = "percentunit"
    COUNT = "short"
    BYTES = "bytes"
    BYTES_PER_SECOND = "Bps"
    WATTS = "watt"
    CELSIUS = "celsius"
    HERTZ = "hertz"
    INSTANT = "dateTimeAsIso"
    PLAIN = "none"


@dataclass(frozen=True, slots=True)
class Style:
    """How one query's series differ from the panel's others.

    `band_from` is the legend of the query whose line is the band's lower edge; both edges are drawn without a line.
    """

    colour: str | None = None
    dashed: bool = False
    stepped: bool = False
    width: int = 2
    unstacked: bool = False
    band_from: str | None = None
    in_legend: bool = True


@dataclass(frozen=True, slots=True)
class Query:
    """One expression. `ref` is unique in the panel; `legend` may hold `{{label}}`.

    `may_be_empty` says why a healthy run can have no such series; without it an empty answer is a fault.
    """

    ref: str
    expr: Expr
    legend: str
    may_be_empty: str | None = None
    style: Style = Style()


@dataclass(frozen=True, slots=True)
class Threshold:
    """From `value` upwards, `colour`; None: from the bottom."""

    value: float | None
    colour: str


@dataclass(frozen=True, slots=True)
class State:
    """What a number stands for in a state timeline or a stat, and its colour."""

    value: int
    text: str
    colour: str


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: the label, or the ref of the query, whose values it shows.

    `link` is where a click leads; it may hold `${__data.fields["<title>"]}`. `width` in pixels. `texts`: what to show
    in place of a value.
    """

    source: str
    title: str
    unit: Unit = Unit.PLAIN
    width: int = 150
    link: str = ""
    texts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture. `id` and `key` never change once published: links and stored series name them.

    `question` is what the reader wants to know and `bad` what they should worry about: one sentence each.
    `colours` fixes the colour of series by their legend, or of labels by their value.
    `labels`: a stat shows the values of these labels, not the number, each in its colour.
    `columns`: what a table shows, from left to right; its rows are what its queries' labels have in common.
    `x_unit`: of points the first query is the horizontal axis; the others are drawn above it, one set of points a run.
    """

    id: int
    key: str
    title: str
    question: str
    bad: str
    unit: Unit
    kind: Kind
    queries: tuple[Query, ...]
    thresholds: tuple[Threshold, ...] = ()
    states: tuple[State, ...] = ()
    colours: tuple[tuple[str, str], ...] = ()
    width: int = 24
    height: int = 8
    minimum: float | None = 0
    decimals: int | None = None
    no_value: str = "no data"
    stacked: bool = False
    labels: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    x_unit: Unit = Unit.PLAIN

    @property
    def description(self) -> str:
        """Both sentences, as the reader sees them."""
        return f"{self.question} Bad: {self.bad}"
