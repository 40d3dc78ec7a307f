"""Twenty generators that are well: rates, loops, protocols, payloads and users of many kinds."""

from __future__ import annotations

from tests.validity.case import PAUSING, Case, own

GRPC = '{kind: tfserving, rest: "TARGET", grpc: "GRPC", model: m}'
HTTP = '{kind: http, rest: "TARGET", health: /}'
TLS = '{kind: http, rest: "TARGET", health: /, tls: {ca_file: "FOLDER/cert.pem"}}'
BODY = "{path: /predict, payloads: {body: '{\"x\": 1}'}, timeout: 3s, think_time: 20ms}"
OVER_GRPC = "{protocol: grpc, payloads: {random: {shape: [16]}}, timeout: 3s}"
UNEVEN = "lognormal:median=50ms,sigma=0.5"
GET = "{path: /page, method: GET, timeout: 3s, think_time: 20ms}"

HEALTHY = (
    Case("one_user", "healthy", "users: 1", PAUSING.format("100ms")),
    Case("gentle_users", "healthy", "users: 10", PAUSING.format("100ms")),
    Case("brisk_users", "healthy", "users: 10", PAUSING.format("10ms")),
    Case("many_users", "healthy", "users: 100", PAUSING.format("500ms")),
    Case("paced_users", "healthy", "users: 20", "{payloads: {random: {shape: [16]}}, timeout: 3s, pacing: 100ms}"),
    Case("slow_answers", "healthy", "users: 40", server=("--latency", "constant:200ms")),
    Case("rate_20", "healthy", "loop: open, rate: 20/s"),
    Case("rate_200", "healthy", "loop: open, rate: 200/s"),
    Case("rate_500", "healthy", "loop: open, rate: 500/s"),
    Case("poisson_200", "healthy", "loop: open, rate: 200/s, arrivals: poisson, seed: 3"),
    Case(
        "open_slow_answers",
        "healthy",
        "loop: open, rate: 100/s",
        server=("--latency", UNEVEN),
    ),
    Case("two_workers", "healthy", "users: 20", PAUSING.format("50ms"), workers="2"),
    Case("two_workers_open", "healthy", "loop: open, rate: 200/s", workers="2"),
    Case(
        "grpc_users",
        "healthy",
        "users: 10",
        OVER_GRPC.replace("{", "{think_time: 50ms, ", 1),
        GRPC,
    ),
    Case(
        "grpc_rate_100",
        "healthy",
        "loop: open, rate: 100/s",
        OVER_GRPC,
        GRPC,
    ),
    Case("http_body", "healthy", "users: 5", BODY, HTTP, serving="http"),
    Case("http_get", "healthy", "users: 5", GET, HTTP, serving="http"),
    Case("over_tls", "healthy", "users: 5", BODY, TLS, serving="tls"),
    Case("socket_file", "healthy", "users: 5", BODY, HTTP, serving="unix"),
    Case("own_locustfile", "healthy", "users: 20", own("browsing.py")),
)
