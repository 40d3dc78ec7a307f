# mypy: ignore-errors
"""A large heap of objects that refer to each other, looked through again and again."""

import gc
import os
from pathlib import Path

from locust import FastHttpUser, between, constant, task

TRIGGER = Path(os.environ.get("VALIDITY_TRIGGER", "/nowhere"))
BODY = {"instances": [[0.1] * 16]}
KEPT = []


class Litterer(FastHttpUser):
    fixed_count = 1
    wait_time = constant(0.1)

    @task
    def litter(self):
        if TRIGGER.exists():
            if not KEPT:
                KEPT.extend([[]] for _ in range(300_000))
            for _ in range(1000):
                circle = []
                circle.append(circle)
            gc.collect()
        self.client.post("/v1/models/m:predict", json=BODY)


class Visitor(FastHttpUser):
    wait_time = between(0.02, 0.06)

    @task
    def predict(self):
        self.client.post("/v1/models/m:predict", json=BODY)
