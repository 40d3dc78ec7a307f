"""A paced user keeps its own beat."""

from __future__ import annotations

import subprocess
import sys

CHECK = """
from controller.generator.user import until_beat
assert until_beat(0.0, 0.5) == 0.5
assert abs(until_beat(0.2, 0.5) - 0.3) < 1e-9
late = until_beat(1.7, 0.5)  # three beats passed during one slow answer: the next is at 2.0, none is caught up
assert abs(late - 0.3) < 1e-9
first = {start: start + 3.1 + until_beat(3.1, 0.5) for start in (0.0, 0.1, 0.27)}  # all held up for the same time
assert len({round(at % 0.5, 6) for at in first.values()}) == 3, "they fell into step"
"""


def test_users_that_were_held_up_together_do_not_fall_into_step() -> None:
    """In a process of its own: importing Locust changes the one it is imported into."""
    done = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
