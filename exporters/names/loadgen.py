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

A signal without a reading is absent. `workers` is the master's, and of the master the controller's;
`canary` is the controller's."""

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
SIGNAL_LIMIT = Metric(
    "loadgen_signal_limit", "gauge", "Limit at which a signal's saturation is 1, in the signal's own unit.", ("signal",)
)
WORKER_QUOTA = Metric(
    "loadgen_worker_cpu_quota_cores", "gauge", "Tightest CPU quota over the own cgroup and its ancestors.", ("worker",)
)
WORKER_PERIODS = Metric(
    "loadgen_worker_cpu_periods_total", "counter", "Enforcement periods of the cgroup with that quota.", ("worker",)
)
WORKER_THROTTLED_PERIODS = Metric(
    "loadgen_worker_throttled_periods_total", "counter", "Those of them in which the cgroup was held back.", ("worker",)
)
WORKER_THROTTLED = Metric(
    "loadgen_worker_throttled_seconds_total", "counter", "Time for which that cgroup was held back.", ("worker",)
)
WORKER_RUN_DELAY = Metric(
    "loadgen_worker_run_delay_seconds_total",
    "counter",
    "Time in which the sending thread was ready and had no core.",
    ("worker",),
)
WORKER_CPU_PRESSURE = Metric(
    "loadgen_worker_cpu_pressure_seconds_total",
    "counter",
    "Time in which a task of the cgroup, or of the host, waited for CPU.",
    ("worker",),
)
WORKER_MEMORY_PRESSURE = Metric(
    "loadgen_worker_memory_pressure_seconds_total",
    "counter",
    "Time in which a task of the cgroup, or of the host, waited for memory.",
    ("worker",),
)
WORKER_IO_PRESSURE = Metric(
    "loadgen_worker_io_pressure_seconds_total",
    "counter",
    "Time in which a task of the cgroup, or of the host, waited for disk.",
    ("worker",),
)
WORKER_SOCKETS = Metric(
    "loadgen_worker_sockets", "gauge", "TCP sockets in use in the worker's network namespace.", ("worker",)
)
WORKER_TIME_WAIT = Metric(
    "loadgen_worker_time_wait_sockets", "gauge", "TCP sockets in TIME_WAIT in that namespace.", ("worker",)
)
WORKER_PORTS = Metric(
    "loadgen_worker_local_ports", "gauge", "Local ports that new connections may be given there.", ("worker",)
)
WORKER_DESCRIPTORS = Metric("loadgen_worker_open_descriptors", "gauge", "Open files of the worker.", ("worker",))
WORKER_DESCRIPTOR_LIMIT = Metric(
    "loadgen_worker_descriptor_limit", "gauge", "Open files that the worker may have.", ("worker",)
)
WORKER_MEMORY_LIMIT = Metric(
    "loadgen_worker_memory_limit_bytes",
    "gauge",
    "Tightest memory limit over the own cgroup and its ancestors.",
    ("worker",),
)
WORKER_GROUP_MEMORY = Metric(
    "loadgen_worker_group_memory_bytes", "gauge", "Memory charged to the cgroup with that limit.", ("worker",)
)
WORKER_GC = Metric(
    "loadgen_worker_gc_pause_seconds_total", "counter", "Time in which garbage collection held all up.", ("worker",)
)
WORKER_GC_LONGEST = Metric(
    "loadgen_worker_gc_longest_pause_seconds", "gauge", "Longest such time within the last second.", ("worker",)
)
WORKER_CLOCK = Metric(
    "loadgen_worker_clock_shift_seconds",
    "gauge",
    "Time by which the wall clock has moved against the monotonic one since the worker began.",
    ("worker",),
)
WORKER_FAULTS = Metric(
    "loadgen_worker_faults_total",
    "counter",
    "Requests that failed on the worker's own machine, and names that were resolved too slowly.",
    ("worker",),
)
REPORTS_LOST = Metric("loadgen_reports_lost_total", "counter", "Worker reports that never reached the master.")

READINGS = (
    *(WORKER_QUOTA, WORKER_PERIODS, WORKER_THROTTLED_PERIODS, WORKER_THROTTLED, WORKER_RUN_DELAY),
    *(WORKER_CPU_PRESSURE, WORKER_MEMORY_PRESSURE, WORKER_IO_PRESSURE),
    *(WORKER_SOCKETS, WORKER_TIME_WAIT, WORKER_PORTS, WORKER_DESCRIPTORS, WORKER_DESCRIPTOR_LIMIT),
    *(WORKER_MEMORY_LIMIT, WORKER_GROUP_MEMORY, WORKER_GC, WORKER_GC_LONGEST, WORKER_CLOCK, WORKER_FAULTS),
)
"""What the signals are made of; of the master, too. Those that cannot be read have no series."""

ALL = tuple(value for value in list(globals().values()) if isinstance(value, Metric))
"""Every metric above, in order."""
