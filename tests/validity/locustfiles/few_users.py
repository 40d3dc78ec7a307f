# mypy: ignore-errors
"""Ten requests a second from each of three users, however many the plan asks for."""

from locust import FastHttpUser, constant_throughput, task

BODY = {"instances": [[0.1] * 16]}


class Visitor(FastHttpUser):
    fixed_count = 3
    wait_time = constant_throughput(10)

    @task
    def predict(self):
        self.client.post("/v1/models/m:predict", json=BODY)
