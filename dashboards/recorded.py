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

ANSWER_QUANTILE = Metric(
    "instance_quantile:loadgen_answer_seconds:histogram_quantile30s",
    "gauge",
    "Quantile of answers and time-outs, from the actual send.",
    ("job", "instance", "quantile"),
)
INTENDED_QUANTILE = Metric(
    "instance_quantile:loadgen_intended_answer_seconds:histogram_quantile30s",
    "gauge",
    "Open loop: quantile of answers and time-outs, from the intended send.",
    ("job", "instance", "quantile"),
)
JUDGED_QUANTILE = Metric(
    "instance_quantile:loadgen_judged_answer_seconds:histogram_quantile30s",
    "gauge",
    "Quantile of answers and time-outs as the verdict counts: from the intended send where the loop is open.",
    ("job", "instance", "quantile"),
)
ANSWERS = Metric(
    "instance_le:loadgen_answers:rate30s",
    "gauge",
    "Answers and time-outs a second that took no longer than the bound.",
    ("job", "instance", "le"),
)
LATENESS_QUANTILE = Metric(
    "instance_quantile:loadgen_send_lateness_seconds:histogram_quantile30s",
    "gauge",
    "Open loop: how late the slowest hundredth is sent.",
    ("job", "instance", "quantile"),
)
DROPPED_SHARE = Metric(
    "instance_reason:loadgen_dropped_arrivals:ratio_rate30s",
    "gauge",
    "Open loop: share of what is due that is dropped.",
    ("job", "instance", "reason"),
)
REQUEST_QUANTILE = Metric(
    "instance_model_entrypoint_quantile:tfserving_request_latency_seconds:histogram_quantile30s",
    "gauge",
    "Quantile of successful requests inside the server.",
    ("job", "instance", "model_name", "entrypoint", "quantile"),
)
REQUEST_BUCKETS = Metric(
    "instance_model_le:tfserving_requests_ok:rate30s",
    "gauge",
    "Successful requests a second that took no longer than the bound, which is in microseconds.",
    ("job", "instance", "model_name", "le"),
)
REQUEST_STATUSES = Metric(
    "instance_model_status:tfserving_requests:rate30s",
    "gauge",
    "Requests a second by status; a status's first requests count whole, those of a target that is new do not.",
    ("job", "instance", "model_name", "status"),
)
RUNTIME_QUANTILE = Metric(
    "instance_model_quantile:tfserving_runtime_latency_seconds:histogram_quantile30s",
    "gauge",
    "Quantile of the blocking session run.",
    ("job", "instance", "model_name", "quantile"),
)
QUEUE_QUANTILE = Metric(
    "instance_quantile:tfserving_batch_queue_seconds:histogram_quantile30s",
    "gauge",
    "Quantile of the wait in the batch queue.",
    ("job", "instance", "quantile"),
)

CPU_MODES = Metric(
    "instance_mode:host_cpu:ratio_rate30s", "gauge", "Share of CPU time by mode.", ("job", "instance", "mode")
)
PRESSURE = Metric(
    "instance_resource:host_pressure:ratio_rate30s",
    "gauge",
    "Share of time in which some work waited for the resource.",
    ("job", "instance", "resource"),
)
NET_RECEIVED = Metric(
    "instance_device:host_network_receive:bytes_rate30s", "gauge", "Bytes received.", ("job", "instance", "device")
)
NET_SENT = Metric(
    "instance_device:host_network_transmit:bytes_rate30s", "gauge", "Bytes sent.", ("job", "instance", "device")
)
DISK_BUSY = Metric(
    "instance_device:host_disk_busy:ratio_rate30s", "gauge", "Share of time at work.", ("job", "instance", "device")
)
SWITCHES = Metric("instance:host_context_switches:rate30s", "gauge", "Context switches.", ("job", "instance"))
FILES = Metric("instance:host_file_descriptors:ratio", "gauge", "Descriptors in use of all.", ("job", "instance"))

GPU_BUSY = Metric("uuid:gpu_utilization:ratio", "gauge", "Share of time with a kernel.", ("job", "instance", "uuid"))
GPU_MEMORY = Metric("uuid:gpu_memory_used:ratio", "gauge", "Share of memory allocated.", ("job", "instance", "uuid"))
GPU_POWER = Metric("uuid:gpu_power_draw:watts", "gauge", "Power drawn.", ("job", "instance", "uuid"))
GPU_POWER_LIMIT = Metric("uuid:gpu_power_limit:watts", "gauge", "Power limit.", ("job", "instance", "uuid"))
GPU_TEMPERATURE = Metric("uuid:gpu_temperature:celsius", "gauge", "Temperature.", ("job", "instance", "uuid"))
GPU_CLOCK = Metric("uuid:gpu_sm_clock:hertz", "gauge", "Clock of the cores.", ("job", "instance", "uuid"))
GPU_PCIE_TO = Metric(
    "uuid:gpu_pcie_receive:bytes_per_second", "gauge", "Received over PCIe.", ("job", "instance", "uuid")
)
GPU_PCIE_FROM = Metric(
    "uuid:gpu_pcie_transmit:bytes_per_second", "gauge", "Sent over PCIe.", ("job", "instance", "uuid")
)
GPU_ENERGY = Metric("uuid:gpu_energy:watts_rate30s", "gauge", "Energy a second.", ("job", "instance", "uuid"))
GPU_XID = Metric(
    "uuid_code:gpu_xid_events:increase5m",
    "gauge",
    "Xid errors in 5 min.",
    ("job", "instance", "uuid", "code"),
)

GPU_THROTTLED = Metric(
    "uuid_reason:gpu_throttled:bool",
    "gauge",
    "1 while the reason holds clocks down.",
    ("job", "instance", "uuid", "reason"),
)

GPU_SIMULATED = Metric(
    "instance:gpu_simulated:bool", "gauge", "1 where a stand-in answers: no figure is real.", ("job", "instance")
)
GPU_ORIGIN = Metric(
    "instance:gpu_origin:labels", "gauge", "1, with the word that says: simulated.", ("job", "instance", "origin")
)

ALL = tuple(value for value in list(globals().values()) if isinstance(value, Metric))
"""Every series above."""
