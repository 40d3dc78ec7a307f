"""Whatever a plan file holds, loading ends in a plan or in problems with lines inside the file, and soon."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.plans.loader import load_plan
from controller.plans.problems import PlanError

REFERENCE = (Path(__file__).parents[3] / "compose" / "plans" / "reference.yaml").read_text()
WORDS = ["no", "010", "22:30", "1e3", "~", "*x", "&x", "<<", "!!int", "-5", "é"]
AWKWARD = [*WORDS, *"[]{}:|#%@,\t\n\x85'", '"', "- "]
TOKENS = [*AWKWARD, "version", "stages", "users", "kind", "hold", "30s", ": ", "\n  ", ", ", "1"]


def outcome(folder: Path, text: str) -> str:
    """`loads`, or the problems; anything else is an error."""
    path = folder / "plan.yaml"
    path.write_bytes(text.encode())
    started = time.process_time()
    try:
        load_plan(path)
    except PlanError as error:
        problems = error.problems
    else:
        problems = ()
    assert time.process_time() - started < 5
    for problem in problems:
        assert 0 <= problem.line <= len(text.splitlines()) + 1
        assert problem.message
        assert problem.remedy
        assert str(problem).isprintable()
    return "\n".join(map(str, problems)) or "loads"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all drawn plans."""
    return tmp_path_factory.mktemp("plans")


@given(st.text(max_size=80) | st.lists(st.sampled_from(TOKENS), max_size=25).map("".join))
@settings(deadline=None, max_examples=150)
def test_any_text_is_answered(folder: Path, text: str) -> None:
    outcome(folder, text)


def test_a_plan_with_a_word_replaced_is_answered(folder: Path) -> None:
    drawn = random.Random(1)  # noqa: S311 the same plans every time
    answers = []
    for _ in range(120):
        lines = REFERENCE.splitlines()
        row = drawn.randrange(len(lines))
        words = lines[row].split(" ")
        words[drawn.randrange(len(words))] = drawn.choice(AWKWARD)
        lines[row] = " ".join(words)
        answers.append(outcome(folder, "\n".join(lines)))
    assert 5 < answers.count("loads") < 115


def test_a_plan_cut_anywhere_is_answered(folder: Path) -> None:
    answers = [outcome(folder, REFERENCE[:length]) for length in range(0, len(REFERENCE), 97)]
    assert answers[0] != "loads"
    assert len(set(answers)) > 10


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[" * 5000, "is nested more than 12 levels deep"),
        ("a: " + "{a: " * 5000, "is nested more than 12 levels deep"),
        ("x: [" + "1, " * 30_000 + "]", "more than 10000 values"),
        ("- " * 5000, "is nested more than 12 levels deep"),
        ("a: &a [*a]\n", "*a stands inside what it refers to"),
        ("? a\n", "is not a key here"),
        ("&a a: *a\n", "is not a key here"),
    ],
)
def test_what_is_made_to_exhaust_a_reader_is_refused(folder: Path, text: str, sentence: str) -> None:
    assert sentence in outcome(folder, text)
