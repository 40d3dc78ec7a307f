"""What a generator process needs to know before its first order; written as JSON for the processes to read."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import TypeAdapter

from controller.plans.plan import Target, Workload


@dataclass(frozen=True, slots=True)
class GeneratorSpec:
    """One run's generator: whom to load with what, and how many workers share the work."""

    run_id: str
    plan: str
    target: Target
    workload: Workload
    workers: int
    listen: str = "127.0.0.1"  # host on which metrics are served, on a free port
    remote: int = 0  # so many of the workers are on other hosts and come by themselves
    bind: tuple[str, int] = ("127.0.0.1", 0)  # where workers reach the master; port 0 is any free one
    secret: str = ""  # known to the master and all of its workers; empty: made up for this run
    replays: bool = False  # some stage replays the workload's recorded requests at their times
    limits: tuple[tuple[str, float], ...] = ()  # of the plan, by signal; for the others those that ship


def encode_spec(spec: GeneratorSpec) -> bytes:
    """As JSON; durations in ISO 8601."""
    return _ADAPTER.dump_json(spec)


def decode_spec(text: bytes) -> GeneratorSpec:
    """The specification in a JSON text. Raises `ValueError`."""
    return _ADAPTER.validate_json(text)


_ADAPTER = TypeAdapter(GeneratorSpec)
