"""Names of the load generator's metrics (`loadgen_`)."""

from __future__ import annotations

from exporters.metric import Metric

OUTCOMES = ("ok", "http_error", "timeout", "connection_error", "invalid_response", "generator_error", "degraded")
"""Every request that left ends in exactly one of these classes; `degraded` is a usable answer of a fallback."""

SIGNALS = (
    *("cpu", "loop_lag", "throttling", "run_queue", "pressure", "sockets", "descriptors", "memory"),
    *("lateness", "arrivals", "users", "gc", "clock", "errors", "workers", "canary"),
)
"""Saturation signals published as `loadgen_saturation{signal}`; 1 means: at the limit (`exporters.loadgen_limits`).

A signal without a reading is absent. `workers` is the master's, `canary` the controller's."""

MASTER, CONTROLLER = PLACES = ("master", "controller")
"""Besides workers, who has readings under the label `worker`."""

NO_SLOT, NO_LEASE = DROP_REASONS = ("no_slot", "no_lease")
"""Why an arrival of an open loop was not sent: as many requests as allowed were under way, or the lease was over."""

INFO = Metric(
    "loadgen_info",
    "info",
    "The run this generator works for.",
    ("run_id", "plan", "target", "locust_version"),
)
REQUESTS = Metric("loadgen_requests_total", "counter", "Requests that ended, by outcome.", ("outcome",))
DURATION = Metric(
    "loadgen_request_duration_seconds",
    "histogram",
    "Time from the actual send to the end of the answer.",
    ("outcome",),
)
INTENDED_DURATION = Metric(
    "loadgen_request_intended_duration_seconds",
    "histogram",
    "Open loop: time from the intended send to the end of the answer.",
    ("outcome",),
)
LATENESS = Metric(
    "loadgen_send_lateness_seconds", "histogram", "Open loop: time from the intended to the actual send of a request."
)
ARRIVALS = Metric(
    "loadgen_arrivals_total", "counter", "Open loop: requests that were due, whether or not they were sent."
)
DROPPED = Metric(
    "loadgen_dropped_arrivals_total",
    "counter",
    "Open loop: requests that were due and not sent, by reason.",
    ("reason",),
)
RATE_TARGET = Metric(
    "loadgen_rate_target", "gauge", "Open loop: arrivals a second that are asked for now; otherwise 0."
)
RETRIES = Metric("loadgen_retries_total", "counter", "Further attempts of requests; their time is in the latency.")
STARTED = Metric("loadgen_requests_started_total", "counter", "Requests that were sent, whatever became of them.")
IN_FLIGHT = Metric("loadgen_in_flight_requests", "gauge", "Requests sent and not yet answered.")
USERS_TARGET = Metric("loadgen_users_target", "gauge", "Users that the last load order asked for.")
USERS_RUNNING = Metric("loadgen_users_running", "gauge", "Users that run now, over all workers.")
WORKERS_EXPECTED = Metric("loadgen_workers_expected", "gauge", "Worker processes that this run should have.")
WORKERS_CONNECTED = Metric(
    "loadgen_workers_connected", "gauge", "Worker processes that reported within the last three seconds."
)
WORKER_CPU = Metric("loadgen_worker_cpu_seconds_total", "counter", "CPU time of the worker process.", ("worker",))
WORKER_MEMORY = Metric(
    "loadgen_worker_resident_memory_bytes", "gauge", "Resident memory of the worker process.", ("worker",)
)
WORKER_REPORT_AGE = Metric(
    "loadgen_worker_report_age_seconds", "gauge", "Age of the worker's last report.", ("worker",)
)
LOOP_LAG = Metric(
    "loadgen_event_loop_lag_seconds",
    "histogram",
    "How much later than asked the worker's event loop woke up.",
    ("worker",),
)
SATURATION = Metric(
    "loadgen_saturation",
    "gauge",
    "Distance of a signal to its limit; 1 means that the generator is at it.",
    ("signal", "worker"),
)
REPORTS_LOST = Metric("loadgen_reports_lost_total", "counter", "Worker reports that never reached the master.")

ALL = tuple(value for value in list(globals().values()) if isinstance(value, Metric))
"""Every metric above, in order."""
