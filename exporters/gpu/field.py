"""One field of a device: one call of the driver's library, so that one that fails takes no other with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from exporters.gpu.reading import Measured

Handle = Any
"""pynvml's opaque device pointer."""

EACH_SAMPLE = 0.0
NOW_AND_THEN_SECONDS = 5.0
"""For what changes with programs, or slowly, or hardly matters: processes, links, video, memory heat."""
RARELY_SECONDS = 60.0
"""For what changes with operators: limits, highest clocks, widths."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field's name, as it stands in `gpu_field_supported`, and its reader; raises `pynvml.NVMLError`.

    The value is asked for again after `every` seconds, and shown unchanged until then.
    """

    name: str
    read: Callable[[Handle], Iterable[Measured]]
    every: float = EACH_SAMPLE
