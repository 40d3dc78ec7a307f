# mypy: ignore-errors
"""Several classes as people write them: both HTTP clients, nested and sequential task sets, weights, listeners."""

import logging
import random

from locust import FastHttpUser, HttpUser, SequentialTaskSet, TaskSet, between, constant, events, task

BODY = {"instances": [[0.1, 0.2]]}


@events.init_command_line_parser.add_listener
def add_options(parser, **_kwargs):
    parser.add_argument("--basket-size", type=int, default=3)


@events.test_start.add_listener
def started(environment, **_kwargs):
    assert environment.parsed_options.basket_size == 3
    logging.warning("the test starts")


@events.test_stop.add_listener
def stopped(environment, **_kwargs):
    logging.warning("the test stops")


@events.request.add_listener
def broken_listener(name, **_kwargs):
    raise RuntimeError(f"no database for {name}")


class Validating(HttpUser):
    weight = 3
    wait_time = between(0.005, 0.01)

    def on_start(self):
        self.client.headers["X-Basket"] = str(random.randint(1, 9))  # noqa: S311

    def on_stop(self):
        self.client.post("/logout", json=BODY)

    @task
    def predict(self):
        with self.client.post("/v1/models/m:predict", json=BODY, catch_response=True) as answer:
            if answer.status_code != 200:
                answer.failure(f"status {answer.status_code}")
            elif "predictions" not in answer.json():
                answer.failure("no predictions")
            else:
                answer.success()


class Fast(FastHttpUser):
    weight = 2
    wait_time = constant(0.005)

    @task
    class Nested(TaskSet):
        @task(3)
        def predict(self):
            self.client.post("/v1/models/m:predict", json=BODY)

        @task(1)
        def leave(self):
            self.interrupt()


class Sequential(HttpUser):
    wait_time = constant(0.005)

    @task
    class Steps(SequentialTaskSet):
        @task
        def first(self):
            self.client.post(f"/basket/{random.random()}", json=BODY)  # noqa: S311

        @task
        def second(self):
            self.client.post("/pay", json=BODY)


class Keeper(HttpUser):
    fixed_count = 1
    wait_time = constant(0.2)

    @task
    def check(self):
        self.client.post("/health", json=BODY)
