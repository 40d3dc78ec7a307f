"""A wall clock that steps and names that are looked up slowly or not at all, for the program alone."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.validity.case import Launch, Place, Strike, Victim

SOURCE = Path(__file__).with_name("shim.c")


def _state(place: Place) -> Path:
    return place.folder / "shim.state"


@contextmanager
def shimmed(place: Place) -> Iterator[Launch]:
    """Compile the shim, and start the program with it; it does nothing yet."""
    library = place.folder / "shim.so"
    compiler = shutil.which("cc") or "cc"
    subprocess.run(
        [compiler, "-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"], check=True, timeout=60
    )
    _write(place)
    yield Launch((), {"LD_PRELOAD": str(library), "VALIDITY_SHIM": str(_state(place))})


def _write(place: Place, step: float = 0.0, delay: float = 0.0, fails: float = 0.0) -> None:
    """In place, because the file is mapped."""
    file = os.open(_state(place), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.pwrite(file, struct.pack("ddd", step, delay, fails), 0)
    finally:
        os.close(file)


def _from_now_on(**state: float) -> Strike:
    @contextmanager
    def strike(victim: Victim) -> Iterator[None]:
        _write(victim.place, **state)
        try:
            yield
        finally:
            if "step" not in state:  # a clock that steps twice would be another poison
                _write(victim.place)

    return strike


clock_ahead = _from_now_on(step=2.0)
slow_lookups = _from_now_on(delay=0.3)
failing_lookups = _from_now_on(fails=1.0)
