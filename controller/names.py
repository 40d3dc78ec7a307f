"""Names of the controller's own metrics (`loadtest_`); constants only."""

from __future__ import annotations

from exporters.metric import Metric

RUN_INFO = Metric(
    "loadtest_run_info",
    "info",
    "The run that is on, or the last one.",
    ("run_id", "plan", "target", "plan_digest"),
)
RUN_ACTIVE = Metric("loadtest_run_active", "gauge", "1 while a run is on, else 0.")
PHASE = Metric(
    "loadtest_phase",
    "gauge",
    "1 for the stage and phase that is on; no series between runs.",
    ("plan", "stage", "phase"),
)
SLOT_START = Metric(
    "loadtest_slot_start_timestamp_seconds",
    "gauge",
    "When the generator put the slot into effect.",
    ("plan", "seq", "stage", "phase"),
)
SLOT_END = Metric(
    "loadtest_slot_end_timestamp_seconds", "gauge", "When the slot ended.", ("plan", "seq", "stage", "phase")
)
USERS_TARGET = Metric("loadtest_target_users", "gauge", "Users that the timetable asks for now.", ("plan",))
RATE_TARGET = Metric(
    "loadtest_target_rate", "gauge", "Open loop: arrivals a second that the timetable asks for now.", ("plan",)
)
RUN_REMAINING = Metric("loadtest_run_remaining_seconds", "gauge", "Planned time left in the run.", ("plan",))
OBJECTIVE_LIMIT = Metric(
    "loadtest_objective_limit", "gauge", "The limit of an objective, in its base unit.", ("plan", "objective")
)
CANARY_REQUESTS = Metric(
    "loadtest_canary_requests_total",
    "counter",
    "Probes of the controller's own beside the load, by outcome; they are in no figure of the run.",
    ("plan", "outcome"),
)
CANARY_DURATION = Metric(
    "loadtest_canary_duration_seconds", "gauge", "How long the newest probe that was answered well took.", ("plan",)
)
VERDICT = Metric("loadtest_verdict", "gauge", "1 for the last run's verdict.", ("plan", "verdict"))
RUNS = Metric("loadtest_runs_total", "counter", "Runs that ended, by outcome and verdict.", ("outcome", "verdict"))
OUTBOX_PENDING = Metric("loadtest_annotation_outbox_pending", "gauge", "Annotation writes not yet accepted by Grafana.")
OUTBOX_FAILURES = Metric(
    "loadtest_annotation_failures_total", "counter", "Annotation writes that failed, by reason.", ("reason",)
)
SCHEDULE_NEXT = Metric("loadtest_schedule_next_timestamp_seconds", "gauge", "When the plan is due next.", ("plan",))
SCHEDULE_MISFIRES = Metric(
    "loadtest_schedule_misfires_total", "counter", "Due times missed by more than the grace.", ("plan",)
)
EDGE_FAILURES = Metric("loadtest_edge_failures_total", "counter", "Failed calls to the world, by edge.", ("edge",))
ARCHIVE_FREE = Metric("loadtest_archive_free_bytes", "gauge", "Bytes free on the disk of the archive.")
ARCHIVE_NEEDED = Metric("loadtest_archive_needed_bytes", "gauge", "Bytes that must be free there, or no run begins.")
LOOP_OVERRUN = Metric("loadtest_loop_overrun_seconds", "gauge", "How late the controller's last tick was.")

ALL = tuple(value for value in list(globals().values()) if isinstance(value, Metric))
"""Every metric above, in order."""
