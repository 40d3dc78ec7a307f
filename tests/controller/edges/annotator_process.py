"""A process with an annotator, to be killed: puts regions, says so, and ends when Grafana has them."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from controller.edges.grafana_annotator import GrafanaAnnotator
from controller.edges.grafana_credential import TokenFile
from controller.running import annotation
from tests.controller.edges.regions import HASTY, a_region


def main(url: str, token: str, outbox: str, first: int, number: int) -> None:
    """End lost regions, then put `number` new ones, each first open and then closed."""
    annotator = GrafanaAnnotator(Path(outbox), url, TokenFile(Path(token)), HASTY)
    for region in annotator.open_regions():
        annotator.put(annotation.end_unknown(region))
    for seq in range(first, first + number):
        annotator.put(a_region(seq, ends=15, closed=False))
        print("put", seq, flush=True)
        time.sleep(0.05)
        annotator.put(a_region(seq))
    end = time.monotonic() + 10
    while annotator.pending() and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(HASTY.confirm_after + 0.1)
    annotator.close(2)
    print("done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
