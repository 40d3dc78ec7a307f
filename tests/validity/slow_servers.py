"""Five servers that are slow or wrong by themselves, and generators that are well: nothing may call that saturation."""

from __future__ import annotations

from tests.validity.case import PAUSING, Case

SLOW = (
    Case(
        "slow_constant",
        "slow",
        "users: 20",
        server=("--latency", "constant:20ms"),
        script={"latency": {"kind": "constant", "value": "400ms"}},
        why="every answer takes twenty times longer than before",
    ),
    Case(
        "heavy_tail",
        "slow",
        "loop: open, rate: 200/s",
        server=("--latency", "constant:5ms"),
        script={"latency": {"kind": "lognormal", "median": "20ms", "sigma": 1.5}},
        why="one answer in a hundred takes more than half a second",
    ),
    Case(
        "little_capacity",
        "slow",
        "loop: open, rate: 150/s, max_in_flight: 100",
        server=("--latency", "constant:10ms"),
        script={"latency": {"kind": "constant", "value": "20ms"}, "capacity": {"concurrency": 1}},
        why="fifty answers a second where 150 are asked for: the queue takes every slot, and arrivals find none",
    ),
    Case(
        "freezes",
        "slow",
        "loop: open, rate: 150/s",
        script={"freezes": [{"at": "1s", "for": "2s"}, {"at": "6s", "for": "1s"}]},
        why="no answer leaves for two seconds and for one",
    ),
    Case(
        "error_bursts",
        "slow",
        "users: 10",
        PAUSING.format("10ms"),
        script={
            "errors": [
                {"code": "UNAVAILABLE", "share": 0.5, "from": "0s", "for": "3s"},
                {"code": "UNAVAILABLE", "share": 0.3, "from": "4s", "for": "3s", "drop": True},
            ]
        },
        why="half of the answers are errors, then connections are closed without one",
    ),
)
