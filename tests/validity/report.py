"""The matrix as figures, as a table on the screen, as JSON, and as a section of the README."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.bench.figures import Figure, markdown, put_into, show
from tests.validity.scoring import SOON_SECONDS, Row

LEAST_FLAGGED, MOST_HEALTHY = 0.95, 0.05


def totals(rows: Sequence[Row]) -> list[Figure]:
    """What was asked for, of the cases that were played."""
    healthy, poisoned, slow = (_of(rows, kind) for kind in ("healthy", "poisoned", "slow"))
    found = [row for row in poisoned if row.holds]
    late = sorted(row.seconds for row in poisoned if row.right and row.seconds is not None)
    median = late[len(late) // 2] if late else 0.0
    return [
        _count(
            f"poisoned runs flagged within {SOON_SECONDS:.0f} s with the right reason",
            len(found), poisoned, f">= {LEAST_FLAGGED:.0%}", len(found) >= LEAST_FLAGGED * len(poisoned),
        ),
        _count(
            "healthy runs flagged", sum(row.flagged for row in healthy), healthy, f"<= {MOST_HEALTHY:.0%}",
            sum(row.flagged for row in healthy) <= MOST_HEALTHY * len(healthy),
        ),
        _count(
            "slow servers called saturation", sum(row.flagged for row in slow), slow, "0",
            not any(row.flagged for row in slow),
        ),
        Figure("from the poison to the first right reading, median", median, "s", "", True, len(late), ""),
        _count("poisoned runs in which Locust's own CPU warning came", _warned(poisoned), poisoned, "", True),
        _count("healthy runs in which Locust's own CPU warning came", _warned(healthy), healthy, "", True),
    ]  # fmt: skip


def row_line(row: Row) -> str:
    """One line for the screen."""
    mark = "ok" if row.holds else "NO"
    seconds = "" if row.seconds is None else f"{row.seconds:.1f} s ({row.where})"
    ruling = row.ruling if row.outcome == "completed" else row.outcome
    flag = "flagged" if row.flagged else "-"
    warned = "Locust warned" if row.locust_warned else ""
    named = ", ".join(row.named) if row.kind == "poisoned" or row.flagged else _near(row)
    return f"{mark} {row.kind:8} {row.name:20} {ruling:12} {flag:8} {seconds:18} {warned:14} {named}"


def publish(rows: Sequence[Row], figures: Sequence[Figure], path: Path, *, readme: Path | None) -> None:
    """Keep everything; the README gets the table only of a whole matrix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    body = {"figures": [asdict(figure) for figure in figures], "rows": [asdict(row) for row in rows]}
    path.write_text(json.dumps(body, indent=1) + "\n")
    for figure in figures:
        show(figure)
    if readme is not None:
        put_into(readme, "make validity-matrix", f"{markdown(figures)}\n\n{_table(rows)}")


def _table(rows: Sequence[Row]) -> str:
    lines = ["| poisoned generator | first seen as | after | Locust's warning |", "|---|---|---|---|"]
    for row in _of(rows, "poisoned"):
        after_seconds = "never" if row.seconds is None else f"{row.seconds:.1f} s"
        warned = "yes" if row.locust_warned else "no"
        seen = ", ".join(row.named) or "nothing"
        lines.append(f"| {row.name.replace('_', ' ')} | {seen} | {after_seconds} | {warned} |")
    return "\n".join(lines)


def _near(row: Row) -> str:
    """How near to its limits a run came that was not flagged."""
    worst = sorted(row.peaks.items(), key=lambda peak: -peak[1])[:3]
    return ", ".join(f"{signal} {value:g}" for signal, value in worst)


def _of(rows: Sequence[Row], kind: str) -> list[Row]:
    return [row for row in rows if row.kind == kind]


def _warned(rows: Sequence[Row]) -> int:
    return sum(row.locust_warned for row in rows)


def _count(name: str, number: int, rows: Sequence[Row], goal: str, holds: bool) -> Figure:
    return Figure(name, number, f"of {len(rows)}", goal, holds, len(rows), "")
