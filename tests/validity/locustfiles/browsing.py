# mypy: ignore-errors
"""A gentle mixture of both of Locust's clients."""

from locust import FastHttpUser, HttpUser, between, task

BODY = {"instances": [[0.1] * 16]}


class Browser(FastHttpUser):
    weight = 3
    wait_time = between(0.05, 0.15)

    @task
    def predict(self):
        self.client.post("/v1/models/m:predict", json=BODY)


class Reader(HttpUser):
    weight = 1
    wait_time = between(0.1, 0.3)

    @task
    def predict(self):
        self.client.post("/v1/models/m:predict", json=BODY)
