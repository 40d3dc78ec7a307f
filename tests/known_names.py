"""Metric names of others that rules, alerts and dashboards may use."""

from __future__ import annotations

TFSERVING_HISTOGRAMS = (
    ":tensorflow:serving:request_latency",
    ":tensorflow:serving:runtime_latency",
    ":tensorflow:serving:model_warmup_latency",
    ":tensorflow:serving:batching_session:queuing_latency",
    ":tensorflow:serving:batching_session:input_batch_size",
    ":tensorflow:serving:batching_session:processed_batch_size",
    ":tensorflow:serving:batching_session:padding_size",
    ":tensorflow:core:graph_run_time_usecs_histogram",
)

TFSERVING = (
    ":tensorflow:serving:request_count",
    ":tensorflow:serving:batching_session:wrapped_run_count",
    ":tensorflow:serving:model_warmup_records_read",
    ":tensorflow:cc:saved_model:load_attempt_count",
    ":tensorflow:cc:saved_model:load_latency",
    ":tensorflow:core:graph_runs",
    ":tensorflow:core:graph_run_time_usecs",
    ":tensorflow:core:graph_build_calls",
)

PROMETHEUS = (
    "up",
    "ALERTS",
    "scrape_duration_seconds",
    "scrape_samples_scraped",
    "scrape_samples_post_metric_relabeling",
    "scrape_series_added",
    "prometheus_build_info",
    "prometheus_rule_evaluation_failures_total",
    "prometheus_target_interval_length_seconds",
)

NODE_EXPORTER = (
    "node_context_switches_total",
    "node_cpu_seconds_total",
    "node_disk_io_time_seconds_total",
    "node_disk_read_bytes_total",
    "node_disk_written_bytes_total",
    "node_filefd_allocated",
    "node_filefd_maximum",
    "node_load1",
    "node_memory_MemAvailable_bytes",
    "node_memory_MemTotal_bytes",
    "node_memory_SwapFree_bytes",
    "node_memory_SwapTotal_bytes",
    "node_netstat_TcpExt_ListenOverflows",
    "node_netstat_Tcp_OutSegs",
    "node_netstat_Tcp_RetransSegs",
    "node_network_receive_bytes_total",
    "node_network_receive_drop_total",
    "node_network_transmit_bytes_total",
    "node_network_transmit_drop_total",
    "node_pressure_cpu_waiting_seconds_total",
    "node_pressure_io_waiting_seconds_total",
    "node_pressure_memory_waiting_seconds_total",
    "node_timex_offset_seconds",
    "node_timex_sync_status",
)

DCGM_EXPORTER = (
    "DCGM_FI_DEV_CLOCKS_EVENT_REASONS",
    "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS",
    "DCGM_FI_DEV_DEC_UTIL",
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
    "DCGM_FI_DEV_ENC_UTIL",
    "DCGM_FI_DEV_FB_FREE",
    "DCGM_FI_DEV_FB_RESERVED",
    "DCGM_FI_DEV_FB_USED",
    "DCGM_FI_DEV_GPU_TEMP",
    "DCGM_FI_DEV_GPU_UTIL",
    "DCGM_FI_DEV_MEMORY_TEMP",
    "DCGM_FI_DEV_MEM_CLOCK",
    "DCGM_FI_DEV_MEM_COPY_UTIL",
    "DCGM_FI_DEV_POWER_USAGE",
    "DCGM_FI_DEV_ROW_REMAP_FAILURE",
    "DCGM_FI_DEV_SM_CLOCK",
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
    "DCGM_FI_DEV_XID_ERRORS",
    "DCGM_FI_PROF_PCIE_RX_BYTES",
    "DCGM_FI_PROF_PCIE_TX_BYTES",
)

NVIDIA_GPU_EXPORTER = (
    "nvidia_smi_clocks_current_memory_clock_hz",
    "nvidia_smi_clocks_current_sm_clock_hz",
    "nvidia_smi_clocks_event_reasons_hw_power_brake_slowdown",
    "nvidia_smi_clocks_event_reasons_hw_slowdown",
    "nvidia_smi_clocks_event_reasons_hw_thermal_slowdown",
    "nvidia_smi_clocks_event_reasons_sw_power_cap",
    "nvidia_smi_clocks_event_reasons_sw_thermal_slowdown",
    "nvidia_smi_clocks_throttle_reasons_hw_power_brake_slowdown",
    "nvidia_smi_clocks_throttle_reasons_hw_slowdown",
    "nvidia_smi_clocks_throttle_reasons_hw_thermal_slowdown",
    "nvidia_smi_clocks_throttle_reasons_sw_power_cap",
    "nvidia_smi_clocks_throttle_reasons_sw_thermal_slowdown",
    "nvidia_smi_ecc_errors_uncorrected_volatile_total",
    "nvidia_smi_enforced_power_limit_watts",
    "nvidia_smi_gpu_info",
    "nvidia_smi_memory_free_bytes",
    "nvidia_smi_memory_total_bytes",
    "nvidia_smi_memory_used_bytes",
    "nvidia_smi_power_draw_watts",
    "nvidia_smi_temperature_gpu",
    "nvidia_smi_temperature_memory",
    "nvidia_smi_utilization_gpu_ratio",
    "nvidia_smi_utilization_memory_ratio",
)

KNOWN = frozenset(
    (
        *TFSERVING,
        *PROMETHEUS,
        *NODE_EXPORTER,
        *DCGM_EXPORTER,
        *NVIDIA_GPU_EXPORTER,
        *(f"{name}_{part}" for name in TFSERVING_HISTOGRAMS for part in ("bucket", "sum", "count")),
    )
)
"""Every name as a query writes it."""
