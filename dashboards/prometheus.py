"""Names of Prometheus's own series that panels use."""

from __future__ import annotations

from exporters.metric import Metric

UP = Metric("up", "gauge", "1 when the last scrape of the target succeeded, else 0.", ("job",))
SCRAPE_DURATION = Metric("scrape_duration_seconds", "gauge", "How long the last scrape took.", ("job",))
SCRAPED = Metric("scrape_samples_scraped", "gauge", "Samples that the target exposed.", ("job",))
ALERTS = Metric("ALERTS", "gauge", "Alerts that are pending or firing.", ("alertname", "alertstate", "severity"))
RULE_FAILURES = Metric(
    "prometheus_rule_evaluation_failures_total", "counter", "Evaluations of rules that failed.", ("job", "rule_group")
)

ALL = tuple(value for value in list(globals().values()) if isinstance(value, Metric))
"""Every series above."""
