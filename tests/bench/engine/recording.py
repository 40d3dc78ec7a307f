"""What does recording cost a request? The ledger's part of it by itself, over latencies as they come."""

from __future__ import annotations

import random
import statistics
import time

from controller.generator.ledger import OK, Ledger

REQUESTS = 100_000
REPEATS = 5


def ledger_cost() -> float:
    """Microseconds of processor time to begin, end and hand over one request: the median of several repetitions."""
    found = []
    for repeat in range(REPEATS):
        source = random.Random(repeat)  # noqa: S311 - repeatable latencies
        latencies = [round(source.lognormvariate(6.0, 0.6)) for _ in range(REQUESTS)]
        ledger = Ledger()
        ledger.switch(0, measured=True)
        empty = time.process_time()
        for _ in latencies:
            pass
        began = time.process_time()
        for us in latencies:
            ledger.end(ledger.begin(), OK, us)
        ledger.take()
        found.append((time.process_time() - began - (began - empty)) / REQUESTS * 1e6)
    return statistics.median(found)
