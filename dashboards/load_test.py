"""The home board, *Run overview*: the load, what the client saw, what the server says, all on one time axis.

Its uid is older than its title and never changes.
"""

from __future__ import annotations

from dashboards.board import Board, Row
from dashboards.panels import client, load, loadgen, machine, overview, run, server
from dashboards.panels.shapes import beside, quarter
from dashboards.variables import GENERATOR, HOST, MODEL, PLAN, RUN, SERVER

NOW = (
    run.PHASE_NOW,
    run.TIME_LEFT,
    run.LAST_VERDICT,
    overview.VERDICT_SO_FAR,
    run.RATE_NOW,
    run.P99_NOW,
    run.ERRORS_NOW,
    run.SATURATION_NOW,
)

BOARD = Board(
    uid="stagelight-load-test",
    title="Stagelight / Run overview",
    description="Load profile, client latency and TF Serving's own histograms on one time axis, with the run's phases.",
    rows=(
        Row(
            100,
            "Run",
            (
                *(quarter(panel) for panel in NOW),
                run.PHASES,
            ),
        ),
        Row(101, "Load, and how near each limit is", (load.USERS, load.REQUESTS, overview.LIMITS_USED)),
        Row(
            102,
            "Latency: the client's, then the server's",
            (
                client.LATENCY,
                client.LATENCY_HEATMAP,
                server.HEATMAP,
                server.QUANTILES,
            ),
        ),
        Row(
            103,
            "Inside the server, and failures",
            (beside(server.TIMES, 8), beside(server.BATCHES, 8), client.FAILURES),
        ),
        Row(104, "Generator and machine", (loadgen.SATURATION, beside(machine.HOST, 7), beside(machine.GPU, 7))),
        Row(105, "Shares, and runs", (overview.REQUEST_SHARES, overview.RUNS)),
    ),
    variables=(PLAN, RUN, GENERATOR, SERVER, MODEL, HOST),
)
