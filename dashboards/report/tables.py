"""The report's words and tables: what the record says, in the order in which a reader asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dashboards.report import limits, wording
from dashboards.report.markup import Markup, element, facts, table, text, together
from dashboards.report.record import Figure, Run, Window, rate

LATENCIES = ("p50", "p95", "p99", "p99.9", "mean", "max")
SIGNS = {"pass": "✓", "fail": "✗", "invalid": "!", "inconclusive": "?"}


def verdict(run: Run) -> Markup:
    """The ruling with every reason and what to do about it."""
    ruling = run.verdict.ruling
    head = element("p", badge(ruling), text(f" {run.outcome.replace('_', ' ')}: {run.because}"), cls="verdict")
    reasons = (
        element("li", badge(reason.ruling), text(f" {reason.sentence}. "), element("em", text(f"→ {reason.advice}")))
        for reason in run.verdict.reasons
    )
    why = element("ul", *reasons, cls="reasons") if run.verdict.reasons else Markup("")
    return element("section", head, why, limits.remarks(run), about(run), id="verdict", cls=f"ruling-{ruling}")


def badge(ruling: str) -> Markup:
    """The ruling as a word with its sign: colour never stands alone."""
    return element("span", text(f"{SIGNS.get(ruling, '')} {ruling}"), cls=f"badge {ruling}")


def about(run: Run) -> Markup:
    """Which run this is."""
    start, end = run.span
    target = run.fingerprint.get("target", {})
    return facts(
        (
            ("run", text(run.run_id)),
            ("plan", text(f"{run.plan.name} (digest {run.plan.digest[:12]})")),
            ("target", text(target.get("rest", "not named in the record"))),
            ("model", text(target.get("model") or "none")),
            ("started", text(wording.instant(run.started))),
            ("under load", text(wording.span(end - start))),
            ("requests", text(f"{sum(run.totals.values()):,} ended, {run.generator.started:,} sent")),
            ("exit code", text(run.exit_code)),
        )
    )


def latencies(run: Run) -> Markup:
    """Percentiles of every window with the number of requests and their intervals."""
    rows = (
        (text(window.name), text(f"{_speaks_of(window):,}"), *(_figure(name, window) for name in LATENCIES))
        for window in run.windows
    )
    found = table(("window", "n", *(name.upper() if name[1].isdigit() else name for name in LATENCIES)), rows)
    return together(found, *_open_loops(run))


def _open_loops(run: Run) -> Iterator[Markup]:
    """From when latency counts, and how the schedule was kept; nothing without an open loop."""
    found = [(window, window.punctuality) for window in run.windows if window.punctuality is not None]
    if not found:
        return
    closed = "; loop: closed, latency from the actual send" if len(found) < len(run.windows) else ""
    yield element("p", text(f"loop: open, latency from the intended send time{closed}."))
    rows = []
    for window, kept in found:
        lost = sum(kept.dropped.values())
        late = "-" if kept.lateness_p99 is None else wording.latency(kept.lateness_p99)
        sent = f"{wording.digits((kept.due - lost) / window.seconds, 4)}/s"
        dropped = f"{lost:,} ({lost / kept.due:.2%})" if kept.due else "-"
        from_send = (wording.measurement(name, window.from_send[name]) for name in ("p50", "p99"))
        rows.append(tuple(map(text, (window.name, rate(kept.asked), sent, dropped, late, *from_send))))
    heads = (
        "open loop",
        "asked",
        "sent",
        "dropped",
        "lateness P99",
        "P50 from the actual send",
        "P99 from the actual send",
    )
    yield table(heads, rows)


def requests(run: Run) -> Markup:
    """Rate, failures and the generator's state of every window."""
    rows = (
        (
            text(window.name),
            text(_length(window)),
            text(f"{sum(window.outcomes.values()):,}"),
            _figure("throughput", window),
            _figure("error_ratio", window),
            _figure("timeout_ratio", window),
            _plain(window.tail_ratio),
            text(_outcomes(window)),
            text(_saturation(window)),
        )
        for window in run.windows
    )
    heads = ("window", "length", "ended", "ok per second", "errors", "time-outs", "P99 / mean", "not ok", "generator")
    return table(heads, rows)


def shares(run: Run) -> Markup:
    """How many requests of every window took how long."""
    if not any(window.shares for window in run.windows):
        return element("p", text("No request was answered or timed out, so there are no shares."))
    heads = next([_class(s.low, s.high) for s in window.shares] for window in run.windows if window.shares)
    rows = (
        (text(window.name), *(_share(share.ratio, share.count) for share in window.shares))
        for window in run.windows
        if window.shares
    )
    return table(("window", *heads), rows, cls="shares")


def objectives(run: Run) -> Markup:
    """Every objective against every window."""
    if not run.verdict.objectives:
        return element("p", text("The plan has no objectives."))
    names = {window.slot: window.name for window in run.windows}
    rows = (
        (
            badge(result.ruling),
            text(result.objective),
            text(names.get(result.slot, result.slot)),
            text(wording.measurement(result.indicator, result.measured)),
            text(wording.interval(result.indicator, result.measured) or "-"),
            text(f"{result.measured.n:,}"),
            text("-" if result.margin is None else f"{result.margin * 100:+,.0f} %"),
        )
        for result in run.verdict.objectives
    )
    return table(("", "objective", "window", "measured", "95 % sure", "n", "margin"), rows)


def timetable(run: Run) -> Markup:
    """Every slot as planned and as it took effect, in seconds from the start of load."""
    start, _ = run.span
    rows = (
        (
            text(slot.seq),
            text(slot.stage),
            text(slot.phase),
            text(" → ".join(slot.load)),
            text(f"{slot.planned_start:.1f} to {slot.planned_end:.1f}"),
            text(
                f"{slot.started.timestamp() - start:.2f} to {slot.ended.timestamp() - start:.2f}"
                if slot.started and slot.ended
                else "never"
            ),
        )
        for slot in run.timetable
    )
    return table(("slot", "stage", "phase", "users or rate", "planned, s", "took effect, s"), rows)


def findings(run: Run) -> Markup:
    """What was checked before the run."""
    if not run.findings:
        return element("p", text("No check before the run is recorded."))
    rows = (
        (
            text("refused" if not found.fit else "warning" if found.warning else "ok"),
            text(found.check),
            text(found.sentence),
        )
        for found in run.findings
    )
    return table(("", "check", "what was seen"), rows)


def notes(run: Run) -> Markup:
    """Remarks made during the run."""
    if not run.notes:
        return element("p", text("Nothing out of the ordinary was noted."))
    return element("ul", *(element("li", text(note)) for note in run.notes))


def fingerprint(run: Run) -> Markup:
    """What must be equal for another run to be comparable."""
    return table(("fact", "value"), ((text(name), text(value)) for name, value in _flat(run.fingerprint)))


def _flat(node: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key} · ")
        else:
            yield f"{prefix}{key}", "unknown" if value is None else str(value)


def _figure(indicator: str, window: Window) -> Markup:
    figure = window.indicators.get(indicator)
    if figure is None:
        return text("-")
    shown = text(wording.measurement(indicator, figure))
    bounds = wording.interval(indicator, figure)
    return shown if not bounds else together(shown, element("small", text(bounds)))


def _plain(figure: Figure) -> Markup:
    return text(figure.reason if figure.value is None else wording.digits(figure.value))


def _speaks_of(window: Window) -> int:
    """Requests that latency speaks of: answered and timed out."""
    return sum(share.count for share in window.shares)


def _outcomes(window: Window) -> str:
    bad = {name: number for name, number in window.outcomes.items() if number and name != "ok"}
    return ", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in bad.items()) or "-"


def _length(window: Window) -> str:
    """How long was measured, and of how much."""
    if window.cut is None:
        return wording.span(window.seconds)
    return f"{wording.span(window.seconds)} of {wording.span(window.seconds + window.cut.seconds)}"


def _saturation(window: Window) -> str:
    health = window.health
    if health.worst_saturation is None:
        return "state unknown"
    return f"at most {health.worst_saturation:.0%} ({health.worst_signal.replace('_', ' ')})"


def _class(low: float, high: float | None) -> str:
    return f"{low * 1000:g} to {high * 1000:g} ms" if high is not None else f"from {low * 1000:g} ms"


def _share(ratio: float, count: int) -> Markup:
    shown = "<0.1 %" if count and f"{ratio:.1%}" == "0.0%" else f"{ratio * 100:.1f} %"
    bar = element("span", cls="bar", style=f"width:{ratio * 100:.2f}%")
    return together(element("span", bar, cls="track"), text(shown), element("small", text(f"{count:,}")))
