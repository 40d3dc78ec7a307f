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
DEVICE_UP = Metric(
    "gpu_device_up", "gauge", "1 when the device's last reading ended, 0 when it is lost or hangs.", ("uuid",)
)
DEVICE_HUNG = Metric("gpu_device_hung", "gauge", "1 while a call for the device does not return, else 0.", ("uuid",))
DEVICE_TIMEOUTS = Metric(
    "gpu_device_timeouts_total", "counter", "Readings of the device that did not end in time.", ("uuid",)
)
INSTANCE_INFO = Metric(
    "gpu_instance_info",
    "info",
    "A MIG instance, which is a device of its own, and the device that it is a part of.",
    ("uuid", "parent", "gpu_instance", "compute_instance"),
)
SIMULATED = Metric(
    "gpu_simulated", "gauge", "1 when a stand-in answers instead of the driver's library: no figure is real."
)
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
ENCODER = Metric("gpu_encoder_utilization_ratio", "gauge", "Share of time in which the video encoder ran.", ("uuid",))
DECODER = Metric("gpu_decoder_utilization_ratio", "gauge", "Share of time in which the video decoder ran.", ("uuid",))
MEMORY_UNIFIED = Metric(
    "gpu_memory_unified",
    "gauge",
    "1 when the device has no memory to tell of because it works in the machine's own, else 0.",
    ("uuid",),
)
MEMORY_TOTAL = Metric("gpu_memory_total_bytes", "gauge", "Memory of the device.", ("uuid",))
MEMORY_USED = Metric(
    "gpu_memory_used_bytes", "gauge", "Memory allocated; with memory_api v1 including the reserve.", ("uuid",)
)
MEMORY_FREE = Metric("gpu_memory_free_bytes", "gauge", "Memory that can be allocated.", ("uuid",))
MEMORY_RESERVED = Metric(
    "gpu_memory_reserved_bytes", "gauge", "Memory that the driver keeps; unknown with memory_api v1.", ("uuid",)
)
BAR1_TOTAL = Metric("gpu_bar1_total_bytes", "gauge", "Memory of the window through which the host sees.", ("uuid",))
BAR1_USED = Metric("gpu_bar1_used_bytes", "gauge", "Memory used of the window through which the host sees.", ("uuid",))
POWER = Metric("gpu_power_draw_watts", "gauge", "Electric power drawn.", ("uuid",))
POWER_LIMIT = Metric("gpu_power_limit_watts", "gauge", "Power limit in force.", ("uuid",))
ENERGY = Metric("gpu_energy_joules_total", "counter", "Energy used since the driver was loaded.", ("uuid",))
TEMPERATURE = Metric("gpu_temperature_celsius", "gauge", "Temperature of the core.", ("uuid",))
MEMORY_TEMPERATURE = Metric("gpu_memory_temperature_celsius", "gauge", "Temperature of the memory.", ("uuid",))
TEMPERATURE_LIMIT = Metric(
    "gpu_temperature_limit_celsius",
    "gauge",
    "Temperature at which the device slows down or shuts down, or may run at most.",
    ("uuid", "limit"),
)
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
PCIE_WIDTH_MAX = Metric("gpu_pcie_link_lanes_max", "gauge", "PCIe lanes to be had.", ("uuid",))
PCIE_GENERATION = Metric("gpu_pcie_link_generation", "gauge", "PCIe generation in use.", ("uuid",))
PCIE_GENERATION_MAX = Metric("gpu_pcie_link_generation_max", "gauge", "PCIe generation to be had.", ("uuid",))
PCIE_REPLAYS = Metric("gpu_pcie_replays_total", "counter", "PCIe packets sent again.", ("uuid",))
NVLINK_LINKS = Metric("gpu_nvlink_links_active", "gauge", "NVLink links that are up.", ("uuid",))
NVLINK_SENT = Metric("gpu_nvlink_transmit_bytes_total", "counter", "Bytes sent over all NVLink links.", ("uuid",))
NVLINK_RECEIVED = Metric(
    "gpu_nvlink_receive_bytes_total", "counter", "Bytes received over all NVLink links.", ("uuid",)
)
ECC_ERRORS = Metric(
    "gpu_ecc_errors_total", "counter", "Memory errors in the device's life, corrected or not.", ("uuid", "kind")
)
REMAPPED_ROWS = Metric(
    "gpu_remapped_rows", "gauge", "Memory rows replaced by spare ones, by the errors that led to it.", ("uuid", "cause")
)
REMAPPING_PENDING = Metric(
    "gpu_row_remapping_pending", "gauge", "1 when rows will be replaced at the next reset, else 0.", ("uuid",)
)
REMAPPING_FAILED = Metric(
    "gpu_row_remapping_failed", "gauge", "1 when a row could not be replaced: the card is to be returned.", ("uuid",)
)
XID_EVENTS = Metric(
    "gpu_xid_events_total", "counter", "Errors that the driver reported since the exporter's start.", ("uuid", "code")
)
XID_LAST = Metric(
    "gpu_xid_last_event_timestamp_seconds", "gauge", "When the newest error came, in Unix time.", ("uuid", "code")
)
PROCESSES = Metric("gpu_processes", "gauge", "Processes on the device, by name.", ("uuid", "process"))
PROCESS_MEMORY = Metric(
    "gpu_process_memory_bytes",
    "gauge",
    "Memory allocated on the device by the processes of a name; `others` are beyond the bound.",
    ("uuid", "process"),
)

ALL = tuple(value for value in list(globals().values()) if isinstance(value, Metric))
"""Every metric above, in order."""
