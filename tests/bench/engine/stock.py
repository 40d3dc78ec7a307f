"""Stock Locust in one process: `python -m tests.bench.engine.stock CLASS URL SECONDS` prints requests and CPU seconds.

What is measured begins when all users are there, so that no import and no start is in it.
"""

from __future__ import annotations

import json
import random
import sys
import time
from typing import Any

import gevent
from locust import FastHttpUser, HttpUser, task
from locust.env import Environment

from tests.bench.engine.server import BODY, PATH, USERS

WARM_SECONDS = 0.7


class Fast(FastHttpUser):
    """The leanest that Locust itself has: bytes that are ready, nothing looked at."""

    @task
    def predict(self) -> None:
        """One request."""
        self.client.post(PATH, data=BODY, headers={"Content-Type": "application/json"})


class Script(HttpUser):
    """What load scripts for model servers do: a body made for each request, a token, a look into the answer."""

    @task
    def predict(self) -> None:
        """One request."""
        instance = {"input": [random.random() for _ in range(4)]}  # noqa: S311 - no secret
        data = json.dumps({"instances": [instance]})
        headers = {"Content-Type": "application/json", "Authorization": "Bearer token"}
        with self.client.post(PATH, data=data, headers=headers, catch_response=True) as answer:
            if answer.status_code != 200:
                answer.failure(f"status {answer.status_code}")
            elif "predictions" in answer.json():
                answer.success()
            else:
                answer.failure("no predictions in the answer")


def main(kind: str, url: str, seconds: float) -> None:
    """Load, measure, print one line of JSON."""
    user: Any = {"fast": Fast, "script": Script}[kind]
    user.host = url
    environment = Environment(user_classes=[user])
    runner = environment.create_local_runner()
    runner.start(USERS, spawn_rate=1000)
    gevent.sleep(WARM_SECONDS)
    total = environment.stats.total
    began, cpu, requests, failed = time.perf_counter(), time.process_time(), total.num_requests, total.num_failures
    gevent.sleep(seconds)
    wall, used = time.perf_counter() - began, time.process_time() - cpu
    told = {"requests": total.num_requests - requests, "failed": total.num_failures - failed}
    sys.stdout.write(json.dumps({**told, "wall": wall, "cpu": used}) + "\n")
    sys.stdout.flush()
    runner.quit()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
