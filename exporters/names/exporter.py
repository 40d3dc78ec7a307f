"""Names of what the exporter says about itself (`exporter_`): freshness, success and its own cost."""

from __future__ import annotations

from exporters.metric import Metric

BUILD_INFO = Metric("exporter_build_info", "info", "Versions of the exporter and of Python.", ("version", "python"))
SOURCE_SUCCESS = Metric(
    "exporter_source_success",
    "gauge",
    "1 when the source's last reading succeeded; also when there is nothing to read on this machine.",
    ("collector", "source"),
)
SOURCE_DURATION = Metric(
    "exporter_source_duration_seconds",
    "gauge",
    "How long the source's last reading took.",
    ("collector", "source"),
)
SOURCE_FAILURES = Metric(
    "exporter_source_failures_total",
    "counter",
    "Readings that failed, by reason.",
    ("collector", "source", "reason"),
)
SAMPLE_AGE = Metric(
    "exporter_sample_age_seconds",
    "gauge",
    "Age of the newest sample; the collector's data is left out once it is older than interval plus deadline.",
    ("collector",),
)
SAMPLE_DURATION = Metric(
    "exporter_sample_duration_seconds",
    "gauge",
    "How long the newest sample of all the collector's sources took.",
    ("collector",),
)
SAMPLE_INTERVAL = Metric(
    "exporter_sample_interval_seconds", "gauge", "Fixed time between the starts of samples.", ("collector",)
)
SAMPLES = Metric("exporter_samples_total", "counter", "Samples finished within the deadline.", ("collector",))
SAMPLE_TIMEOUTS = Metric(
    "exporter_sample_timeouts_total",
    "counter",
    "Samples that passed the deadline; their data is never shown.",
    ("collector",),
)
HUNG = Metric("exporter_collector_hung", "gauge", "1 while a reading is past its deadline, else 0.", ("collector",))
SCRAPES = Metric("exporter_scrapes_total", "counter", "Scrapes answered before this one.")
SCRAPE_DURATION = Metric(
    "exporter_scrape_duration_seconds", "gauge", "How long the previous scrape took to answer from memory."
)
CPU = Metric("exporter_process_cpu_seconds_total", "counter", "CPU time of the exporter itself.")
MEMORY = Metric("exporter_process_resident_memory_bytes", "gauge", "Resident memory of the exporter itself.")
DESCRIPTORS = Metric("exporter_process_file_descriptors", "gauge", "Open file descriptors of the exporter itself.")
START_TIME = Metric("exporter_process_start_time_seconds", "gauge", "When the exporter started, in Unix time.")

ALL = tuple(value for value in list(globals().values()) if isinstance(value, Metric))
"""Every metric above, in order."""
