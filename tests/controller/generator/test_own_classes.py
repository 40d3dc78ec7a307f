"""What is in a locustfile, found out in a process of its own, and how users are dealt out to its classes."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

FILES = Path(__file__).parent / "locustfiles"
DEAL = """
import json, sys
from pathlib import Path
from controller.generator.own_classes import dealt, load
classes = load(Path(sys.argv[1]), ())
whole = [dealt(classes, total, 0, 1) for total in range(0, 40)]
parts = [[dealt(classes, total, part, 3) for part in range(3)] for total in range(0, 40)]
print(json.dumps([whole, parts]))
"""


def told(name: str, *classes: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "controller.generator.own_classes", str(FILES / name), *classes]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return found


def test_classes_and_their_hosts_are_told() -> None:
    assert told("mixture.py") == {"classes": dict.fromkeys(("Validating", "Fast", "Sequential", "Keeper"))}
    assert told("mixture.py", "Keeper", "Fast") == {"classes": {"Keeper": None, "Fast": None}}


@pytest.mark.parametrize(
    ("name", "classes", "sentence"),
    [
        ("shaped.py", (), "it has a load shape (DoubleWave), and the plan's stages are the shape; remove it"),
        ("nobody.py", (), "could not find a user class in"),
        ("needy.py", (), "ModuleNotFoundError: No module named 'a_package_that_nobody_has'; correct the file"),
        ("idle.py", (), "could not run Idle of"),
        ("mixture.py", ("Buyer",), "could not find the user class Buyer in"),
    ],
)
def test_what_cannot_be_run_is_refused_with_a_sentence(name: str, classes: tuple[str, ...], sentence: str) -> None:
    assert sentence in told(name, *classes)["wrong"]


def test_users_are_dealt_by_fixed_count_and_weight_and_more_users_only_add() -> None:
    command = [sys.executable, "-c", DEAL, str(FILES / "mixture.py")]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    whole, parts = json.loads(output)
    assert whole[1] == {"Keeper": 1}
    assert whole[13] == {"Keeper": 1, "Validating": 6, "Fast": 4, "Sequential": 2}
    for total, (before, after) in enumerate(pairwise(whole)):
        assert sum(before.values()) == total
        assert all(after.get(name, 0) >= number for name, number in before.items())
    for total, split in enumerate(parts):
        added: dict[str, int] = {}
        for part in split:
            for name, number in part.items():
                added[name] = added.get(name, 0) + number
        assert added == whole[total]
        assert max(sum(part.values()) for part in split) - min(sum(part.values()) for part in split) <= 1
