# mypy: ignore-errors
"""Ordinary users with `HttpUser`; once told so, they pause no longer and want more than one core."""

import os
from pathlib import Path

from locust import HttpUser, task

TRIGGER = Path(os.environ.get("VALIDITY_TRIGGER", "/nowhere"))
BODY = {"instances": [[0.1] * 16]}


class Shopper(HttpUser):
    def wait_time(self):
        return 0.0 if TRIGGER.exists() else 0.1

    @task
    def predict(self):
        self.client.post("/v1/models/m:predict", json=BODY)
