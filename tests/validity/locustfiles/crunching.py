# mypy: ignore-errors
"""Users whose code computes a little on every answer: a bit more than half a core in all."""

import time

from locust import FastHttpUser, between, task

BODY = {"instances": [[0.1] * 16]}
WORK_SECONDS = 0.001


class Cruncher(FastHttpUser):
    wait_time = between(0.005, 0.015)

    @task
    def predict(self):
        self.client.post("/v1/models/m:predict", json=BODY)
        until = time.thread_time() + WORK_SECONDS
        while time.thread_time() < until:
            pass
