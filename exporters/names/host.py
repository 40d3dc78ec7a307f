"""Names of the host's metrics (`host_`), and of the container's own view of itself (`host_container_`)."""

from __future__ import annotations

from exporters.metric import Metric

CPU = Metric(
    "host_cpu_seconds_total",
    "counter",
    "Time that all cores together spent in a mode; user includes guests.",
    ("mode",),
)
CPU_CORE = Metric(
    "host_cpu_core_seconds_total", "counter", "Time that a core spent in a mode; only when asked for.", ("core", "mode")
)
CPU_CORES = Metric("host_cpu_cores", "gauge", "Cores that are online.")
LOAD1 = Metric("host_load1", "gauge", "Load average over one minute, of the host even in a container.")
LOAD5 = Metric("host_load5", "gauge", "Load average over five minutes, of the host even in a container.")
LOAD15 = Metric("host_load15", "gauge", "Load average over fifteen minutes, of the host even in a container.")
CONTEXT_SWITCHES = Metric("host_context_switches_total", "counter", "Context switches.")
FORKS = Metric("host_forks_total", "counter", "Processes and threads started.")
RUNNING = Metric("host_processes_running", "gauge", "Threads that run or wait for a core.")
BLOCKED = Metric("host_processes_blocked", "gauge", "Threads that wait for input or output.")
RUN_QUEUE_WAIT = Metric(
    "host_run_queue_wait_seconds_total",
    "counter",
    "Time that runnable threads waited for a core, summed over threads.",
    ("core",),
)
INTERFERENCE = Metric(
    "host_interference_seconds_total",
    "counter",
    "CPU time that was taken from the processes of interest: by other programs, or by other machines (steal).",
    ("by",),
)
BOOT_TIME = Metric("host_boot_time_seconds", "gauge", "When the machine started, in Unix time.")
FILES = Metric("host_file_descriptors", "gauge", "File descriptors in use.")
FILES_LIMIT = Metric("host_file_descriptors_limit", "gauge", "File descriptors that the kernel allows.")

MEMORY_TOTAL = Metric("host_memory_total_bytes", "gauge", "Memory installed and usable by the kernel.")
MEMORY_FREE = Metric("host_memory_free_bytes", "gauge", "Memory used for nothing.")
MEMORY_AVAILABLE = Metric("host_memory_available_bytes", "gauge", "Memory that programs can get without swapping.")
MEMORY_BUFFERS = Metric("host_memory_buffers_bytes", "gauge", "Memory used as buffers of block devices.")
MEMORY_CACHED = Metric("host_memory_cached_bytes", "gauge", "Memory used as page cache.")
SWAP_TOTAL = Metric("host_swap_total_bytes", "gauge", "Swap space installed.")
SWAP_FREE = Metric("host_swap_free_bytes", "gauge", "Swap space not in use.")
SWAP_IN = Metric("host_swap_read_bytes_total", "counter", "Bytes read back from swap.")
SWAP_OUT = Metric("host_swap_written_bytes_total", "counter", "Bytes written to swap.")
MAJOR_FAULTS = Metric("host_major_page_faults_total", "counter", "Page faults that had to read from disk.")
OOM_KILLS = Metric("host_oom_kills_total", "counter", "Processes killed because memory ran out.")

PRESSURE = Metric(
    "host_pressure_seconds_total",
    "counter",
    "Time that some, or all (full), runnable work was stalled for want of a resource.",
    ("resource", "share"),
)

DISK_READS = Metric("host_disk_reads_total", "counter", "Reads that completed.", ("device",))
DISK_WRITES = Metric("host_disk_writes_total", "counter", "Writes that completed.", ("device",))
DISK_READ_BYTES = Metric("host_disk_read_bytes_total", "counter", "Bytes read.", ("device",))
DISK_WRITTEN_BYTES = Metric("host_disk_written_bytes_total", "counter", "Bytes written.", ("device",))
DISK_READ_TIME = Metric(
    "host_disk_read_seconds_total", "counter", "Time spent by reads, summed over reads.", ("device",)
)
DISK_WRITE_TIME = Metric(
    "host_disk_write_seconds_total", "counter", "Time spent by writes, summed over writes.", ("device",)
)
DISK_BUSY = Metric(
    "host_disk_busy_seconds_total", "counter", "Time in which at least one request was in progress.", ("device",)
)
DISK_IN_PROGRESS = Metric("host_disk_requests_in_progress", "gauge", "Requests in progress.", ("device",))

NET_RECEIVED = Metric("host_network_receive_bytes_total", "counter", "Bytes received.", ("device",))
NET_SENT = Metric("host_network_transmit_bytes_total", "counter", "Bytes sent.", ("device",))
NET_RECEIVED_PACKETS = Metric("host_network_receive_packets_total", "counter", "Packets received.", ("device",))
NET_SENT_PACKETS = Metric("host_network_transmit_packets_total", "counter", "Packets sent.", ("device",))
NET_RECEIVE_ERRORS = Metric(
    "host_network_receive_errors_total", "counter", "Packets received with errors.", ("device",)
)
NET_SEND_ERRORS = Metric(
    "host_network_transmit_errors_total", "counter", "Packets that could not be sent.", ("device",)
)
NET_RECEIVE_DROPS = Metric("host_network_receive_drops_total", "counter", "Received packets dropped.", ("device",))
NET_SEND_DROPS = Metric("host_network_transmit_drops_total", "counter", "Packets dropped instead of sent.", ("device",))
DEVICES_LEFT_OUT = Metric(
    "host_devices_left_out", "gauge", "Devices without series because there are too many.", ("kind",)
)

TCP_SOCKETS = Metric(
    "host_tcp_sockets",
    "gauge",
    "TCP sockets by state, of this network namespace; allocated and orphan are of the host.",
    ("state",),
)
TCP_ACTIVE_OPENS = Metric("host_tcp_active_opens_total", "counter", "Connections opened from here.")
TCP_PASSIVE_OPENS = Metric("host_tcp_passive_opens_total", "counter", "Connections accepted here.")
TCP_FAILED_OPENS = Metric("host_tcp_failed_opens_total", "counter", "Connection attempts that failed.")
TCP_RESETS = Metric("host_tcp_established_resets_total", "counter", "Connections reset while established.")
TCP_RECEIVED = Metric("host_tcp_segments_received_total", "counter", "Segments received.")
TCP_SENT = Metric("host_tcp_segments_sent_total", "counter", "Segments sent.")
TCP_RETRANSMITTED = Metric("host_tcp_segments_retransmitted_total", "counter", "Segments sent again.")
TCP_LISTEN_OVERFLOWS = Metric(
    "host_tcp_listen_overflows_total", "counter", "Connections not accepted because a listen queue was full."
)
TCP_LISTEN_DROPS = Metric("host_tcp_listen_drops_total", "counter", "Connections not accepted, for any reason.")
TCP_TIMEOUTS = Metric("host_tcp_timeouts_total", "counter", "Retransmission timers that ran out.")
TCP_LOCAL_PORTS = Metric(
    "host_tcp_local_ports", "gauge", "Local ports to be had for connections opened from here, per destination."
)

CLOCK_OFFSET = Metric("host_clock_offset_seconds", "gauge", "Time that the clock is still to be moved by.")
CLOCK_ERROR = Metric("host_clock_error_max_seconds", "gauge", "Time by which the clock may be wrong at most.")
CLOCK_SYNCHRONIZED = Metric("host_clock_synchronized", "gauge", "1 when a time server keeps the clock right, else 0.")
CLOCK_STEPS = Metric("host_clock_steps_total", "counter", "Jumps of the clock since the exporter's start.")
CLOCK_STEP = Metric(
    "host_clock_last_step_seconds", "gauge", "Time by which the clock last jumped; no series before it does."
)
TEMPERATURE = Metric(
    "host_temperature_celsius", "gauge", "Temperature of a zone, named by its kind and number.", ("zone",)
)
THERMAL_THROTTLES = Metric(
    "host_cpu_thermal_throttles_total", "counter", "How often heat slowed a core down.", ("core",)
)

PROCESSES_FOUND = Metric("host_processes_found", "gauge", "Processes that the rule finds.", ("process",))
PROCESS_CPU = Metric(
    "host_process_cpu_seconds_total",
    "counter",
    "CPU time of the processes that the rule finds, with that of those that ended.",
    ("process", "mode"),
)
PROCESS_MEMORY = Metric(
    "host_process_resident_memory_bytes", "gauge", "Resident memory of the processes that the rule finds.", ("process",)
)
PROCESS_THREADS = Metric("host_process_threads", "gauge", "Threads of the processes that the rule finds.", ("process",))
PROCESS_DESCRIPTORS = Metric(
    "host_process_file_descriptors", "gauge", "Descriptors of the processes that the rule finds.", ("process",)
)
PROCESS_SWITCHES = Metric(
    "host_process_context_switches_total",
    "counter",
    "Context switches of the processes that the rule finds, voluntary or not.",
    ("process", "kind"),
)
PROCESS_START = Metric(
    "host_process_start_time_seconds", "gauge", "When the oldest process started, in Unix time.", ("process",)
)
PROCESS_FAILURES = Metric(
    "host_process_read_failures_total",
    "counter",
    "Readings of a process that failed, by reason; what was denied is absent.",
    ("process", "field", "reason"),
)

CONTAINER_INFO = Metric(
    "host_container_info",
    "info",
    "The cgroup that the container's own view is read from, or the reason why there is none.",
    ("controller", "version", "cgroup", "reason"),
)
CONTAINER_CPU = Metric(
    "host_container_cpu_seconds_total", "counter", "CPU time of everything in the cgroup.", ("cgroup",)
)
CONTAINER_QUOTA = Metric(
    "host_container_cpu_quota_cores",
    "gauge",
    "Tightest CPU quota over own cgroup and ancestors; no series without a quota.",
    ("cgroup",),
)
CONTAINER_PERIODS = Metric(
    "host_container_cpu_periods_total", "counter", "Quota periods in which the cgroup wanted to run.", ("cgroup",)
)
CONTAINER_THROTTLED_PERIODS = Metric(
    "host_container_cpu_throttled_periods_total",
    "counter",
    "Quota periods in which the cgroup was held back.",
    ("cgroup",),
)
CONTAINER_THROTTLED = Metric(
    "host_container_cpu_throttled_seconds_total",
    "counter",
    "Time for which the cgroup was held back by its quota.",
    ("cgroup",),
)
CONTAINER_MEMORY_LIMIT = Metric(
    "host_container_memory_limit_bytes",
    "gauge",
    "Tightest memory limit over own cgroup and ancestors; no series without a limit.",
    ("cgroup",),
)
CONTAINER_MEMORY = Metric(
    "host_container_memory_usage_bytes", "gauge", "Memory charged to the cgroup, with page cache.", ("cgroup",)
)
CONTAINER_WORKING_SET = Metric(
    "host_container_memory_working_set_bytes",
    "gauge",
    "Memory charged to the cgroup without inactive page cache: what counts towards the limit.",
    ("cgroup",),
)

ALL = tuple(value for value in list(globals().values()) if isinstance(value, Metric))
"""Every metric above, in order."""
