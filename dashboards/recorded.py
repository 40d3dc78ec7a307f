"""Series that recording rules make and panels read: one name, whichever exporter they come from."""

from __future__ import annotations

from exporters.metric import Metric

CPU_BUSY = Metric(
    "instance:host_cpu_busy:ratio_rate30s", "gauge", "Share of the machine's CPU time in use.", ("job", "instance")
)
MEMORY_USED = Metric("instance:host_memory_used:ratio", "gauge", "Share of the memory in use.", ("job", "instance"))
THROTTLED = Metric(
    "instance_cgroup:host_container_throttled_periods:ratio_rate30s",
    "gauge",
    "Share of quota periods in which the cgroup was held back.",
    ("job", "instance", "cgroup"),
)
QUOTA_USED = Metric(
    "instance_cgroup:host_container_cpu_quota_used:ratio_rate30s",
    "gauge",
    "Share of its CPU quota that the cgroup uses.",
    ("job", "instance", "cgroup"),
)
OBJECTIVE_USED = Metric(
    "plan_objective:loadtest_objective_used:ratio",
    "gauge",
    "What is measured now over the limit that the plan sets; more than 1 is beyond the limit.",
    ("plan", "objective"),
)
SHARES = Metric(
    "instance_duration:loadgen_requests:ratio_rate30s",
    "gauge",
    "Share of answered or timed-out requests whose duration lies in the interval.",
    ("job", "instance", "duration"),
)
IN_PROGRESS = Metric(
    "instance_model:tfserving_requests_in_progress:mean30s",
    "gauge",
    "Mean inferences in progress inside the server.",
    ("job", "instance", "model_name"),
)

ALL = tuple(value for value in list(globals().values()) if isinstance(value, Metric))
"""Every series above."""
