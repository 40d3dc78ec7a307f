# mypy: ignore-errors
"""A class that, once its basket is full, never lets go of the event loop again."""

import time

from locust import HttpUser, task

BODY = {"instances": [[0.1, 0.2]]}


class Stubborn(HttpUser):
    sent = 0

    @task
    def predict(self):
        self.client.post("/v1/models/m:predict", json=BODY)
        Stubborn.sent += 1
        while Stubborn.sent > 200:
            time.perf_counter()
