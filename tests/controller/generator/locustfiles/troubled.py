# mypy: ignore-errors
"""Classes with mistakes in them: one never gets through `on_start`, one raises in its task, one never reports."""

from locust import HttpUser, User, constant, task

BODY = {"instances": [[0.1, 0.2]]}


class NeverStarts(HttpUser):
    wait_time = constant(0.01)

    def on_start(self):
        raise ValueError("no account left")

    @task
    def never(self):
        self.client.post("/never", json=BODY)


class Raises(HttpUser):
    wait_time = constant(0.05)

    @task
    def predict(self):
        answer = self.client.post("/v1/models/m:predict", json=BODY)
        answer.json()["nothing"]


class Custom(User):
    wait_time = constant(0.05)

    @task
    def work(self):
        self.environment.events.request.fire(
            request_type="QUEUE", name="push", response_time=12.5, response_length=0, exception=None, context={}
        )
