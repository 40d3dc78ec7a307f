# mypy: ignore-errors
"""A locustfile that brings its own load shape."""

from locust import HttpUser, LoadTestShape, task


class Shopper(HttpUser):
    @task
    def look(self):
        self.client.get("/")


class DoubleWave(LoadTestShape):
    def tick(self):
        return (1, 1)
