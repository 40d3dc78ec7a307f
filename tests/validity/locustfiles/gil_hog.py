# mypy: ignore-errors
"""A real thread beside the users that never lets go of the interpreter for longer than it has to."""

import os
import time
from pathlib import Path

from gevent import monkey
from locust import FastHttpUser, between, events, task

TRIGGER = Path(os.environ.get("VALIDITY_TRIGGER", "/nowhere"))
BODY = {"instances": [[0.1] * 16]}


def compute():
    sleep, end = monkey.get_original("time", "sleep"), time.monotonic() + 90
    while time.monotonic() < end:
        if TRIGGER.exists():
            sum(number * number for number in range(200_000))
        else:
            sleep(0.05)


@events.init.add_listener
def begin(**_kwargs):
    monkey.get_original("_thread", "start_new_thread")(compute, ())


class Visitor(FastHttpUser):
    wait_time = between(0.02, 0.06)

    @task
    def predict(self):
        self.client.post("/v1/models/m:predict", json=BODY)
