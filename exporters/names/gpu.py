"""Names of the GPU metrics (`gpu_`); every device series is keyed by the UUID alone."""

from __future__ import annotations

from exporters.metric import Metric

UP = Metric("gpu_exporter_up", "gauge", "1 while the driver's library answers, else 0.")
DOWN_INFO = Metric("gpu_exporter_down_info", "info", "Why no GPU can be read; no series while one can.", ("reason",))
DRIVER_INFO = Metric("gpu_driver_info", "info", "Versions of driver, library and CUDA.", ("driver", "nvml", "cuda"))
DEVICES = Metric("gpu_devices", "gauge", "GPUs that the driver lists; no series while it cannot be asked.")
DEVICE_INFO = Metric(
    "gpu_device_info",
    "info",
    "What the device is; its index may change at any reset.",
    ("uuid", "index", "bus_id", "model", "memory_api"),
)
DEVICE_UP = Metric("gpu_device_up", "gauge", "1 when the device's last reading ended, 0 when it is lost.", ("uuid",))
FIELD_SUPPORTED = Metric(
    "gpu_field_supported",
    "gauge",
    "0 when the device does not have the field: its series is absent, not zero.",
    ("uuid", "field"),
)
FIELD_FAILURES = Metric(
    "gpu_field_failures_total",
    "counter",
    "Readings of a supported field that failed, by reason.",
    ("uuid", "field", "reason"),
)
UTILIZATION = Metric("gpu_utilization_ratio", "gauge", "Share of time in which a kernel ran on the device.", ("uuid",))
MEMORY_ACTIVITY = Metric(
    "gpu_memory_activity_ratio", "gauge", "Share of time in which memory was read or written.", ("uuid",)
)
MEMORY_TOTAL = Metric("gpu_memory_total_bytes", "gauge", "Memory of the device.", ("uuid",))
MEMORY_USED = Metric(
    "gpu_memory_used_bytes", "gauge", "Memory allocated; with memory_api v1 including the reserve.", ("uuid",)
)
MEMORY_FREE = Metric("gpu_memory_free_bytes", "gauge", "Memory that can be allocated.", ("uuid",))
MEMORY_RESERVED = Metric(
    "gpu_memory_reserved_bytes", "gauge", "Memory that the driver keeps; unknown with memory_api v1.", ("uuid",)
)
POWER = Metric("gpu_power_draw_watts", "gauge", "Electric power drawn.", ("uuid",))
POWER_LIMIT = Metric("gpu_power_limit_watts", "gauge", "Power limit in force.", ("uuid",))
ENERGY = Metric("gpu_energy_joules_total", "counter", "Energy used since the driver was loaded.", ("uuid",))
TEMPERATURE = Metric("gpu_temperature_celsius", "gauge", "Temperature of the core.", ("uuid",))
CLOCK = Metric("gpu_clock_hertz", "gauge", "Clock in force.", ("uuid", "clock"))
CLOCK_MAX = Metric("gpu_clock_max_hertz", "gauge", "Highest clock of the device.", ("uuid", "clock"))
THROTTLE = Metric(
    "gpu_throttle_reason_active", "gauge", "1 while the reason holds the clocks down, else 0.", ("uuid", "reason")
)
PERFORMANCE_STATE = Metric(
    "gpu_performance_state", "gauge", "Performance state, 0 the fastest and 15 the slowest.", ("uuid",)
)
PCIE_SENT = Metric(
    "gpu_pcie_transmit_bytes_per_second", "gauge", "Bytes sent over PCIe, over the last 20 ms.", ("uuid",)
)
PCIE_RECEIVED = Metric(
    "gpu_pcie_receive_bytes_per_second", "gauge", "Bytes received over PCIe, over the last 20 ms.", ("uuid",)
)
PCIE_WIDTH = Metric("gpu_pcie_link_lanes", "gauge", "PCIe lanes in use.", ("uuid",))
PCIE_GENERATION = Metric("gpu_pcie_link_generation", "gauge", "PCIe generation in use.", ("uuid",))

ALL = tuple(value for value in list(globals().values()) if isinstance(value, Metric))
"""Every metric above, in order."""
