# mypy: ignore-errors
"""One user of many encodes a picture inside its task, twice a second."""

import json
import os
from pathlib import Path

import numpy as np
from locust import FastHttpUser, between, constant, task

TRIGGER = Path(os.environ.get("VALIDITY_TRIGGER", "/nowhere"))
BODY = {"instances": [[0.1] * 16]}
PICTURE = np.random.default_rng(1).random((224, 224, 3))


class Photographer(FastHttpUser):
    fixed_count = 1
    wait_time = constant(0.5)

    @task
    def predict(self):
        size = len(json.dumps({"instances": [PICTURE.tolist()]})) if TRIGGER.exists() else 0
        self.client.post("/v1/models/m:predict", json=BODY, headers={"X-Size": str(size)})


class Visitor(FastHttpUser):
    wait_time = between(0.02, 0.06)

    @task
    def predict(self):
        self.client.post("/v1/models/m:predict", json=BODY)
