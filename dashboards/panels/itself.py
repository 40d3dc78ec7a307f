"""Is Stagelight itself well: controller, schedules, outbox, exporters, scrapes, rules?"""

from __future__ import annotations

from controller import names as loadtest
from dashboards import palette, prometheus
from dashboards.panel import Column, Kind, Panel, Query, Style, Threshold, Unit
from dashboards.panels.shapes import HALF, NONE_IS_GOOD, lines, now
from dashboards.promql import Expr, equal, max_by, min_by, rate, series, sum_by
from dashboards.variables import OF_CONTROLLER, OF_PLAN
from exporters.names import exporter

NO_SCHEDULE = "The controller runs one plan now, and has no schedule."
NO_GRAFANA = "No Grafana is configured, or no write has failed."
NO_RUN_YET = "No run has ended since the controller started."
NOTHING_FIRES = "No alert is pending or firing."
OTHER_EXPORTER = "Only our own exporter measures this."

CPU_BUDGET, MEMORY_BUDGET = 0.005, 45e6
"""Of the exporter with host and eight GPUs, a sample each second: share of a core, and bytes."""

UP = now(
    260,
    "self-down",
    "Targets that do not answer",
    "How many scrape targets are down?",
    "any during a run: its part is not measured.",
    Unit.COUNT,
    Expr(f"count({prometheus.UP.name}) - sum({prometheus.UP.name})"),
    thresholds=NONE_IS_GOOD,
    width=6,
)
LATE = now(
    261,
    "self-late",
    "Controller late",
    "How late was the controller's last tick?",
    "more than half a second: boundaries of phases are late.",
    Unit.SECONDS,
    max_by(series(loadtest.LOOP_OVERRUN, OF_CONTROLLER)),
    thresholds=(Threshold(None, palette.GOOD), Threshold(0.5, palette.BAD)),
    width=6,
)
OUTBOX = now(
    262,
    "self-outbox",
    "Annotations waiting",
    "How many writes has Grafana not taken yet?",
    "a number that grows: see the failures by reason.",
    Unit.COUNT,
    sum_by(series(loadtest.OUTBOX_PENDING, OF_CONTROLLER)),
    thresholds=(Threshold(None, palette.GOOD), Threshold(20, palette.WARN)),
    width=6,
)
NEXT = now(
    263,
    "self-next",
    "Next run in",
    "When is the next plan due?",
    "less than zero: the plan is due and has not begun.",
    Unit.CLOCK,
    Expr(f"min({series(loadtest.SCHEDULE_NEXT, OF_PLAN, OF_CONTROLLER)}) - time()"),
    absent=NO_SCHEDULE,
    no_value="no schedule",
    width=6,
)
MISSED = now(
    264,
    "self-missed",
    "Due times missed",
    "How many due times were missed by more than the grace?",
    "any: the controller was down, or busy with another run.",
    Unit.COUNT,
    sum_by(series(loadtest.SCHEDULE_MISFIRES, OF_PLAN, OF_CONTROLLER)),
    absent=NO_SCHEDULE,
    thresholds=NONE_IS_GOOD,
    no_value="no schedule",
    width=6,
)
EDGES = now(
    265,
    "self-edges",
    "Failed calls",
    "How many calls to the world failed since the controller started?",
    "a number that grows: see below which edge.",
    Unit.COUNT,
    sum_by(series(loadtest.EDGE_FAILURES, OF_CONTROLLER)),
    absent="No call has failed.",
    thresholds=NONE_IS_GOOD,
    no_value="none",
    width=6,
)
RULES = now(
    266,
    "self-rules",
    "Rules failing",
    "How many rules could not be evaluated, per second?",
    "any: alerts that depend on them are silent.",
    Unit.COUNT,
    sum_by(rate(series(prometheus.RULE_FAILURES))),
    thresholds=NONE_IS_GOOD,
    width=6,
)
FIRING = now(
    267,
    "self-firing",
    "Alerts firing",
    "How many alerts fire now?",
    "any: the table below names them, the runbook says what to do.",
    Unit.COUNT,
    sum_by(series(prometheus.ALERTS, equal("alertstate", "firing"))),
    absent=NOTHING_FIRES,
    thresholds=NONE_IS_GOOD,
    no_value="none",
    width=6,
)
ALERTS = Panel(
    id=268,
    key="self-alerts",
    title="Alerts that are pending or firing: each has its page in the runbook",
    question="Which alerts are on?",
    bad="critical ones.",
    unit=Unit.PLAIN,
    kind=Kind.TABLE,
    queries=(
        Query(
            "A",
            max_by(series(prometheus.ALERTS), "alertname", "severity", "alertstate", "job", "instance"),
            "on",
            NOTHING_FIRES,
        ),
    ),
    columns=(
        Column("alertname", "alert", width=300),
        Column("severity", "severity", width=120),
        Column("alertstate", "state", width=120),
        Column("job", "job", width=160),
        Column("instance", "instance", width=240),
    ),
    height=6,
    no_value="no alert",
)
SCRAPES = lines(
    269,
    "self-scrapes",
    "Scrapes: how long each takes",
    "Does each target answer in time? After 4 s a scrape is given up.",
    "a rise with the load: the target answers its page on the threads that serve requests.",
    Unit.SECONDS,
    Query("A", max_by(series(prometheus.SCRAPE_DURATION), "job"), "{{job}}"),
    thresholds=(Threshold(None, palette.GOOD), Threshold(4, palette.BAD)),
    width=HALF,
)
SERIES = lines(
    270,
    "self-series",
    "Samples of each scrape",
    "How large is what each target exposes?",
    "a steady rise: a label without bounds.",
    Unit.COUNT,
    Query("A", max_by(series(prometheus.SCRAPED), "job"), "{{job}}"),
    width=HALF,
)
OWN_CPU = lines(
    271,
    "self-cpu",
    "Exporter's own CPU, of one core; the line is its budget",
    "What does measuring cost, and is it within the budget of half a hundredth of a core?",
    "above the line: a longer sampling interval, or a collector fewer, costs less.",
    Unit.SHARE,
    Query("A", sum_by(rate(series(exporter.CPU)), "instance"), "{{instance}}", OTHER_EXPORTER),
    thresholds=(Threshold(None, palette.GOOD), Threshold(CPU_BUDGET, palette.BAD)),
    width=HALF,
)
OWN_MEMORY = lines(
    272,
    "self-memory",
    "Exporter's own memory; the line is its budget",
    "How much memory does measuring hold, and is it within the budget of 45 MB?",
    "a steady rise, or above the line.",
    Unit.BYTES,
    Query("A", max_by(series(exporter.MEMORY), "instance"), "{{instance}}", OTHER_EXPORTER),
    thresholds=(Threshold(None, palette.GOOD), Threshold(MEMORY_BUDGET, palette.BAD)),
    width=HALF,
)
WRITES = lines(
    273,
    "self-outbox-line",
    "Annotations waiting, and writes that failed",
    "Does Grafana take the annotations?",
    "waiting that grows. Failures by reason say whether it is the token or the server.",
    Unit.COUNT,
    Query("A", sum_by(series(loadtest.OUTBOX_PENDING, OF_CONTROLLER)), "waiting"),
    Query(
        "B",
        sum_by(rate(series(loadtest.OUTBOX_FAILURES, OF_CONTROLLER)), "reason"),
        "failed per second: {{reason}}",
        NO_GRAFANA,
    ),
    width=HALF,
)
TICKS = lines(
    274,
    "self-ticks",
    "Controller: how late its tick was",
    "Does the controller keep its time?",
    "more than half a second.",
    Unit.SECONDS,
    Query("A", max_by(series(loadtest.LOOP_OVERRUN, OF_CONTROLLER), "instance"), "{{instance}}"),
    width=HALF,
)
ARCHIVE = lines(
    276,
    "self-archive",
    "Archive: disk that is free, and what a run needs",
    "Is there room for the next runs?",
    "free near what a run needs: below it no run begins.",
    Unit.BYTES,
    Query("A", min_by(series(loadtest.ARCHIVE_FREE, OF_CONTROLLER), "instance"), "free, {{instance}}"),
    Query(
        "B",
        max_by(series(loadtest.ARCHIVE_NEEDED, OF_CONTROLLER)),
        "a run needs",
        style=Style(palette.BAD, dashed=True, width=1),
    ),
    width=HALF,
)
ENDED = Panel(
    id=275,
    key="self-runs",
    title="Runs that ended, by outcome and verdict",
    question="How did the runs of this controller end?",
    bad="crashed or abandoned ones.",
    unit=Unit.PLAIN,
    kind=Kind.TABLE,
    queries=(Query("A", sum_by(series(loadtest.RUNS, OF_CONTROLLER), "outcome", "verdict"), "runs", NO_RUN_YET),),
    columns=(
        Column("outcome", "outcome", width=220),
        Column("verdict", "verdict", width=160),
        Column("A", "runs", Unit.COUNT, width=100),
    ),
    height=6,
    no_value="no run has ended",
)
