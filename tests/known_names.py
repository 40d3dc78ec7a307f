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

KNOWN = frozenset(
    (
        *TFSERVING,
        *PROMETHEUS,
        *(f"{name}_{part}" for name in TFSERVING_HISTOGRAMS for part in ("bucket", "sum", "count")),
    )
)
"""Every name as a query writes it."""
