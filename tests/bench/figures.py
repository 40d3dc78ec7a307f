"""Measured figures: what they are, how they are kept, and their table in the README."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number, the goal it has (empty: none), whether it is reached, and of how many runs it is."""

    name: str
    value: float
    unit: str
    goal: str
    holds: bool
    runs: int
    note: str


def write(figures: Sequence[Figure], path: Path) -> None:
    """Keep them as JSON and print them as a table."""
    keep(figures, path)
    for figure in figures:
        show(figure)


def keep(figures: Sequence[Figure], path: Path) -> None:
    """As JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(figure) for figure in figures], indent=1) + "\n")


def show(figure: Figure) -> None:
    """One row of the table, at once."""
    mark = "  " if not figure.goal else "ok" if figure.holds else "NO"
    value = f"{figure.value:12,.3f}" if abs(figure.value) < 100 else f"{figure.value:12,.0f}"
    sys.stdout.write(f"{mark} {figure.name:52} {value} {figure.unit:8} {figure.goal:16} {figure.note}\n")
    sys.stdout.flush()


def markdown(figures: Sequence[Figure]) -> str:
    """The same for the README."""
    lines = ["| what | measured | goal | |", "|---|---|---|---|"]
    for figure in figures:
        value = f"{figure.value:,.3g}" if figure.value < 1000 else f"{figure.value:,.0f}"
        mark = "" if not figure.goal else "✓" if figure.holds else "✗"
        lines.append(f"| {figure.name} | {value} {figure.unit} | {figure.goal} | {mark} |")
    return "\n".join(lines)


def put_into(readme: Path, command: str, text: str) -> bool:
    """Renew what stands between the two marks of a command; False where there are none."""
    begin, end = (f"<!-- {command}: {word} -->" for word in ("begin", "end"))
    whole = readme.read_text()
    if begin not in whole or end not in whole:
        return False
    before, _, rest = whole.partition(begin)
    _, _, after = rest.partition(end)
    readme.write_text(f"{before}{begin}\n{text}\n{end}{after}")
    return True
