# mypy: ignore-errors
"""A user class without a task."""

from locust import HttpUser


class Idle(HttpUser):
    pass
