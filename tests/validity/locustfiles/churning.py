# mypy: ignore-errors
"""A connection, and a lookup of the name, for every request; the client closes first."""

import http.client
import json
import time
from urllib.parse import urlsplit

from locust import User, between, task

BODY = json.dumps({"instances": [[0.1] * 16]})


class Stranger(User):
    wait_time = between(0.02, 0.05)

    @task
    def predict(self):
        began, failure, length = time.perf_counter(), None, 0
        connection = http.client.HTTPConnection(urlsplit(self.host).netloc, timeout=3)
        try:
            connection.request("POST", "/v1/models/m:predict", BODY)
            length = len(connection.getresponse().read())
        except (OSError, http.client.HTTPException) as error:
            failure = error
        finally:
            connection.close()
        self.environment.events.request.fire(
            request_type="POST",
            name="predict",
            response_time=(time.perf_counter() - began) * 1000,
            response_length=length,
            exception=failure,
            context={},
        )
