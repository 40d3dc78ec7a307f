"""What is wrong with a plan: every problem with its place, in one exception."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong and what to do about it. `line` counts from 1; 0 means the file as a whole."""

    file: str
    line: int
    key: str  # path of the key such as `stages[2].discard`; empty for the file as a whole
    message: str
    remedy: str

    def __str__(self) -> str:
        """`file:line: key: message; remedy`."""
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {f'{self.key}: ' if self.key else ''}{self.message}; {self.remedy}"


class PlanError(Exception):
    """A plan that cannot be used, with all its problems in the order of their lines."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        """Keep the problems; the text of the exception has one a line."""
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


LONGEST = 400
"""Characters of a message: what was found in the file is quoted, and may be anything."""


def _one_line(text: str) -> str:
    shown = text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[:LONGEST])
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"


@dataclass(slots=True)
class Findings:
    """Collects the problems of one file; `folder` is where its relative paths start."""

    file: str
    folder: Path
    problems: list[Problem] = field(default_factory=list)

    def add(self, line: int, key: str, message: str, remedy: str) -> None:
        """Note a problem; the same one in the same place counts once."""
        problem = Problem(self.file, line, _one_line(key), _one_line(message), _one_line(remedy))
        if problem not in self.problems:
            self.problems.append(problem)

    def error(self) -> PlanError:
        """Everything found, by line."""
        return PlanError(tuple(sorted(self.problems, key=lambda problem: problem.line)))
