"""Every board but the home: which panels it holds, in which rows. Row ids lie above all panels'."""

from __future__ import annotations

from dashboards.board import Board, Row
from dashboards.panels import (
    arrivals,
    capacity,
    client,
    compare,
    gpu,
    health,
    host,
    internals,
    itself,
    load,
    readings,
    run,
    server,
    signals,
    where,
)
from dashboards.variables import CONTROLLER, GENERATOR, GPU, HOST, MODEL, PLAN, RUN, SERVER, WORKER

WHERE = Board(
    uid="stagelight-where-time-goes",
    title="Stagelight / Where the time goes",
    description="From being sent to being answered: network, server, batch queue, model; with the bounds of buckets.",
    rows=(
        Row(901, "Now", (where.NETWORK_SHARE, where.QUEUE_SHARE, where.PADDING_SHARE, where.IN_SERVER, run.PHASES)),
        Row(902, "One answer's time", (where.STACK, server.TIMES)),
        Row(903, "By model and entry point", (where.BY_MODEL, where.RATE_BY_MODEL)),
        Row(904, "Quantiles within their buckets", (server.QUANTILES, where.RUNTIME_BOUNDS, where.QUEUE_BOUNDS)),
        Row(905, "Batches and failures", (server.BATCHES, client.FAILURES)),
    ),
    variables=(PLAN, GENERATOR, SERVER, MODEL),
)

HEALTH = Board(
    uid="stagelight-generator-health",
    title="Stagelight / Load-generator health",
    description="Can the load generator be trusted? One glance, then each signal, its limit and what to do.",
    rows=(
        Row(
            911,
            "One glance: anything red means that the verdict will be invalid",
            (
                health.FIT,
                health.WORST,
                health.MISSING,
                health.USERS_MISSING,
                health.LOST,
                health.OWN_ERRORS,
                run.PHASES,
            ),
        ),
        Row(912, "Signals, their limits, what to do", (signals.NOW, health.SIGNALS)),
        Row(
            913,
            "Load asked for and sent",
            (
                arrivals.DROPPED_NOW,
                arrivals.LATE_NOW,
                arrivals.RATES,
                arrivals.FROM_INTENDED,
                load.USERS,
                load.REQUESTS,
            ),
        ),
        Row(914, "Signals of time: cores, quota, waiting", signals.TIME, opened=False),
        Row(915, "Signals of load: what is due, who sends it, and a lone probe beside it", signals.LOAD, opened=False),
        Row(916, "Signals of room: sockets, files, memory, clock", signals.ROOM, opened=False),
        Row(917, "Readings that the signals are made of", (health.LAG, *readings.ALL), opened=False),
    ),
    variables=(PLAN, GENERATOR, WORKER, SERVER, MODEL),
)

CAPACITY = Board(
    uid="stagelight-capacity",
    title="Stagelight / Capacity",
    description="Throughput against latency and against concurrency, runs overlaid; the knee and the limit.",
    rows=(
        Row(
            921,
            "Best so far",
            (
                capacity.BEST_STABLE,
                capacity.NOW_OF_BEST,
                capacity.LATENCY_OF_BEST,
                capacity.MOST_IN_FLIGHT,
                run.PHASES,
            ),
        ),
        Row(922, "The knee", (capacity.RATE_TO_LATENCY, capacity.FLIGHT_TO_RATE)),
        Row(923, "Over time", (capacity.OVER_TIME, capacity.CONCURRENCY, capacity.ERRORS)),
    ),
    variables=(PLAN, RUN, GENERATOR),
)

GPU_BOARD = Board(
    uid="stagelight-gpu",
    title="Stagelight / GPU",
    description="What each GPU does, and what holds it back.",
    rows=(
        Row(931, "Now", (gpu.UP, gpu.ORIGIN, gpu.WHY_NOT, gpu.HELD_BACK, run.PHASES)),
        Row(932, "Work", (gpu.BUSY, gpu.MEMORY, gpu.PCIE, gpu.ENERGY)),
        Row(933, "Limits", (gpu.POWER, gpu.TEMPERATURE, gpu.CLOCKS, gpu.REASONS, gpu.XID)),
    ),
    variables=(PLAN, GPU),
)

HOST_BOARD = Board(
    uid="stagelight-host",
    title="Stagelight / Host",
    description="What the machines do, and what they run out of.",
    rows=(
        Row(941, "Now", (host.CPU_NOW, host.MEMORY_NOW, host.HOSTS, host.OOM, run.PHASES)),
        Row(942, "CPU and memory", (host.BUSY, host.MODES, host.PRESSURE, host.THROTTLED, host.MEMORY, host.SWITCHES)),
        Row(943, "Network and disk", (host.SOCKETS, host.TCP_TROUBLE, host.NETWORK, host.DISK, host.FILES)),
    ),
    variables=(PLAN, HOST),
)

INTERNALS = Board(
    uid="stagelight-tfserving",
    title="Stagelight / TF Serving internals",
    description="Loads, versions, warm-up, graph runs, statuses.",
    rows=(
        Row(
            951,
            "Now",
            (internals.LOADED, internals.FAILED, internals.PROGRESS, internals.BATCH_RATE, run.PHASES),
        ),
        Row(952, "Versions", (internals.VERSIONS, internals.LOADS, internals.WARMUP)),
        Row(953, "Model runs", (internals.GRAPH_RATE, internals.GRAPH_MEAN, internals.STATUSES, internals.PADDING)),
    ),
    variables=(PLAN, SERVER, MODEL),
)

COMPARE = Board(
    uid="stagelight-compare",
    title="Stagelight / Compare two runs",
    description="The run in sight, and dashed another one, moved so that their first steady phases begin together.",
    rows=(
        Row(961, "Both runs", (compare.APART, compare.PHASES)),
        Row(962, "Load and latency", (compare.USERS, compare.RATE, compare.LATENCY)),
        Row(963, "Server, failures, generator", (compare.TIMES, compare.FAILURES, compare.SATURATION)),
        Row(964, "Runs", (compare.RUNS,)),
    ),
    variables=(PLAN, compare.THIS, compare.OTHER, compare.SHIFT, GENERATOR, SERVER, MODEL),
)

ITSELF = Board(
    uid="stagelight-itself",
    title="Stagelight / Stagelight itself",
    description="Controller, schedules, outbox, scrapes, rules, and what measuring costs.",
    rows=(
        Row(
            971,
            "Now",
            (
                itself.UP,
                itself.LATE,
                itself.OUTBOX,
                itself.NEXT,
                itself.MISSED,
                itself.EDGES,
                itself.RULES,
                itself.FIRING,
                run.PHASES,
            ),
        ),
        Row(972, "Alerts and runs", (itself.ALERTS, itself.ENDED)),
        Row(973, "Pipeline", (itself.SCRAPES, itself.SERIES, itself.WRITES, itself.TICKS)),
        Row(974, "Own cost, and the archive's disk", (itself.OWN_CPU, itself.OWN_MEMORY, itself.ARCHIVE)),
    ),
    variables=(PLAN, CONTROLLER),
)

ALL = (WHERE, HEALTH, CAPACITY, GPU_BOARD, HOST_BOARD, INTERNALS, COMPARE, ITSELF)
"""Every board above, in the order of the links."""
