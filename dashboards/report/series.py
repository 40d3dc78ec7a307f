"""What Prometheus answered to the panels' queries over a run, kept beside the record so that it is asked only once."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from dashboards.disk import put

FILE = "panels.json.gz"
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Line:
    """One series: its labels, and a value (None: no number) for each instant of the answer's grid."""

    labels: dict[str, str]
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one query. `query` is the panel's expression with its variables, to know a changed one.

    `failure`: why Prometheus gave no answer; an answer without lines is empty.
    """

    key: str
    ref: str
    query: str
    lines: tuple[Line, ...] = ()
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """All answers: times in epoch seconds, `step` and `window` (of rates) in seconds."""

    source: str
    start: float
    end: float
    step: float
    window: float
    answers: tuple[Answer, ...]
    schema: int = SCHEMA

    @property
    def grid(self) -> tuple[float, ...]:
        """The instants at which the queries were evaluated."""
        return tuple(self.start + number * self.step for number in range(int((self.end - self.start) / self.step) + 1))

    def to(self, key: str, ref: str) -> Answer | None:
        """The answer to one query of a panel."""
        return next((answer for answer in self.answers if (answer.key, answer.ref) == (key, ref)), None)


_ANSWERS = TypeAdapter(Answers)


def keep(folder: Path, answers: Answers) -> None:
    """Write the answers into the run's folder. OSError if that is not possible."""
    put(folder / FILE, gzip.compress(_ANSWERS.dump_json(answers), mtime=0))


def kept(folder: Path) -> Answers | None:
    """Earlier answers, or None if there are none that can be read."""
    try:
        found = _ANSWERS.validate_json(gzip.decompress((folder / FILE).read_bytes()))
    except (OSError, EOFError, ValidationError):
        return None
    return found if found.schema == SCHEMA else None
