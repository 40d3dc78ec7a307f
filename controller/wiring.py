"""The composition root: settings become edges; the only place that constructs them."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from prometheus_client import CollectorRegistry, start_http_server

from controller.edges.file_discovery import FileDiscovery
from controller.edges.grafana_annotator import GrafanaAnnotator
from controller.edges.grafana_off import GrafanaOff
from controller.edges.prometheus_http import PrometheusHttp
from controller.edges.run_directory import RunsFolder
from controller.edges.system_clock import SystemClock
from controller.edges.target_http import TargetHttp
from controller.ports import Annotator, EdgeError
from controller.running.board import Board
from controller.running.conducting import World
from controller.running.telemetry import ControllerCollector
from controller.settings import Settings

JOB = "stagelight"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
OUTBOX = "annotations.outbox"
DELIVERY_SECONDS = 5.0
"""How long leaving waits for Grafana; what it did not take by then waits in the outbox for the next start."""


@contextmanager
def open_world(settings: Settings) -> Iterator[World]:
    """Everything that runs share, up and owned; closed in order. Raises `EdgeError` before anything is half open."""
    with ExitStack() as stack:
        clock = SystemClock()
        runs = RunsFolder.take(settings.runs, clock, settings.min_free)
        stack.callback(runs.close)
        annotator = _annotator(settings)
        stack.callback(annotator.close, DELIVERY_SECONDS)
        board = Board()
        _serve_metrics(settings, board, annotator, stack)
        discovery = FileDiscovery(settings.discovery)
        _publish_myself(settings, discovery, stack)
        yield World(
            clock=clock,
            runs=runs,
            annotator=annotator,
            store=PrometheusHttp(settings.prometheus_url) if settings.prometheus_url else None,
            prometheus_url=settings.prometheus_url,
            deadline_factor=settings.deadline_factor,
            discovery=discovery,
            probe=TargetHttp(settings.allow_targets),
            board=board,
            generator_listen=settings.generator_listen,
            generator_address=settings.generator_address,
        )


def _publish_myself(settings: Settings, discovery: FileDiscovery, stack: ExitStack) -> None:
    """Be a target while we live; only on loopback: what address leads here from elsewhere, only others know."""
    host, port = settings.listen
    if host in LOOPBACK:
        discovery.publish(JOB, f"{host}:{port}", {})
        stack.callback(discovery.withdraw, JOB)


def _annotator(settings: Settings) -> Annotator:
    if settings.grafana_url is None:
        return GrafanaOff("no Grafana is configured (STAGELIGHT_GRAFANA_URL)")
    credential = settings.credential()
    if credential is None:
        return GrafanaOff("no credential for Grafana is configured (STAGELIGHT_GRAFANA_TOKEN_FILE)")
    return GrafanaAnnotator(settings.runs / OUTBOX, settings.grafana_url, credential)


def _serve_metrics(settings: Settings, board: Board, annotator: Annotator, stack: ExitStack) -> None:
    host, port = settings.listen
    registry = CollectorRegistry()
    registry.register(ControllerCollector(board, annotator))
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        why = "something else listens there" if error.errno == errno.EADDRINUSE else error.strerror
        remedy = "stop it, or choose another address with STAGELIGHT_LISTEN"
        raise EdgeError(f"could not serve metrics on {host}:{port}: {why}; {remedy}") from error
    stack.callback(thread.join, 2.0)
    stack.callback(server.server_close)
    stack.callback(server.shutdown)
