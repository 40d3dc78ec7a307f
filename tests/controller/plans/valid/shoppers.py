# mypy: ignore-errors
"""User classes for the plan beside it; only loaded, never run."""

from locust import HttpUser, constant, task


class Shopper(HttpUser):
    wait_time = constant(0.1)

    @task
    def look(self) -> None:
        self.client.get("/")


class Robot(Shopper):
    weight = 2
