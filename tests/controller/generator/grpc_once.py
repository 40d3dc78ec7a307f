"""Three gRPC requests to each address, in a process of its own: importing Locust patches the process.

`python -m tests.controller.generator.grpc_once ADDRESS…` prints outcomes, reasons and the longest time of each.
"""

from __future__ import annotations

import json
import sys
import time
from datetime import timedelta

import locust  # noqa: F401 - first: it wants to patch before all others

import grpc.experimental.gevent  # type: ignore[import-not-found] # isort: skip

from controller.generator.grpc_answers import PredictCheck
from controller.generator.grpc_client import GrpcConnection
from controller.plans.plan import Payloads, Target, Workload
from controller.serving import grpc_channel
from tests.controller.generator.sending import TIMEOUT, counted, sending


def main(addresses: list[str]) -> None:
    grpc.experimental.gevent.init_gevent()
    found = []
    for address in addresses:
        target = Target("tfserving", grpc=address, model="m")
        workload = Workload(Payloads(), protocol="grpc", timeout=timedelta(seconds=TIMEOUT), max_answer=1_000_000)
        sender, work = sending(
            lambda t=target, w=workload: GrpcConnection(lambda: grpc_channel.channel(t, w), (), TIMEOUT, own=True),  # type: ignore[misc]
            b"",
            TIMEOUT,
            check=PredictCheck((), allow_nan=False),
        )
        longest = 0.0
        for _ in range(3):
            began = time.perf_counter()
            sender.send()
            longest = max(longest, time.perf_counter() - began)
        sender.connection.end()
        ended = (work.ledger.started, work.ledger.ended)
        found.append([counted(work), list(work.reasons.counts), longest, ended])
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
