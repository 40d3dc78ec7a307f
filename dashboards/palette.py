"""Colours, chosen to be told apart on white and on near-black; one meaning each."""

from __future__ import annotations

GOOD = "#3d9a50"
WARN = "#e0a020"
BAD = "#e0364c"
DEAD = "#7c8797"

BLUE = "#3f83e0"
TEAL = "#1fa3a3"
VIOLET = "#9a6ad6"
ORANGE = "#ee7b30"
PINK = "#d9569c"
BROWN = "#a9763f"

SERIES = (BLUE, ORANGE, GOOD, VIOLET, PINK, TEAL, BROWN, WARN)
"""Of series without a colour of their own, in order."""

QUANTILES = {"p50": BLUE, "p95": VIOLET, "p99": PINK}
"""By name, which is the rules' label `quantile` as well."""

PHASES = {
    "preflight": DEAD,
    "warmup": WARN,
    "ramp": BLUE,
    "steady": GOOD,
    "cooldown": VIOLET,
    "drain": BROWN,
}
"""Every phase, in the order in which a run can meet them."""

OUTCOMES = {
    "ok": GOOD,
    "http_error": BAD,
    "timeout": ORANGE,
    "connection_error": VIOLET,
    "invalid_response": PINK,
    "generator_error": BROWN,
    "degraded": WARN,
}

VERDICTS = {"pass": GOOD, "fail": BAD, "inconclusive": WARN, "invalid": VIOLET}
