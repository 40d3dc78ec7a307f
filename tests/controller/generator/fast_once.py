"""One request of FastHttpUser's client to each port, in a process of its own: importing Locust patches the process.

`python -m tests.controller.generator.fast_once PORT…` prints a list with outcomes and seconds of each.
"""

from __future__ import annotations

import json
import sys
import time

from controller.generator.fast_client import FastConnection  # first: Locust wants to patch before all others
from controller.generator.http_request import FastRequest
from controller.generator.route import Route
from tests.controller.generator.sending import TIMEOUT, counted, sending


def main(ports: list[str]) -> None:
    found = []
    for port in ports:
        route = Route(2, ("127.0.0.1", int(port)), timeout=TIMEOUT, most=1_000_000)
        request = FastRequest("POST", f"http://127.0.0.1:{port}/", (), b"{}")
        sender, work = sending(lambda route=route: FastConnection(route), request, TIMEOUT)  # type: ignore[misc]
        began = time.perf_counter()
        sender.send()
        found.append([counted(work), time.perf_counter() - began])
        sender.connection.end()
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
