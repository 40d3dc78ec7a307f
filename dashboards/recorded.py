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

ALL = tuple(value for value in list(globals().values()) if isinstance(value, Metric))
"""Every series above."""
