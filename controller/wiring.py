"""The composition root: settings become edges; the only place that constructs them."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from prometheus_client import CollectorRegistry, start_http_server

from controller.edges.archive_disk import ArchiveDisk
from controller.edges.file_discovery import FileDiscovery
from controller.edges.grafana_annotator import GrafanaAnnotator
from controller.edges.grafana_off import GrafanaOff
from controller.edges.ownership import is_owned, own
from controller.edges.prometheus_http import PrometheusHttp
from controller.edges.run_directory import RunsFolder
from controller.edges.system_clock import SystemClock
from controller.edges.target_http import TargetHttp
from controller.ports import Annotator, EdgeError
from controller.running.board import Board
from controller.running.conducting import World
from controller.running.telemetry import ControllerCollector
from controller.settings import Settings

DAEMON_TARGET, RUN_TARGET = "stagelight", "stagelight-run"
"""Target files of the two that may be up at once; one job of Prometheus reads both."""
OWN_NAME = "@hostname"
"""As a generator's address: this machine's own name, by which containers of one network find each other."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
OUTBOX, SECOND_OUTBOX = "annotations.outbox", "annotations.2.outbox"
"""The second is for a run beside a daemon; whoever has the first next takes over what is left in it."""
DAEMON_LOCK = ".daemon.lock"
DELIVERY_SECONDS = 5.0
"""How long leaving waits for Grafana; what it did not take by then waits in the outbox for the next start."""


@contextmanager
def open_world(settings: Settings, patience: float = 0) -> Iterator[World]:
    """Everything that one run needs, up and owned; a run that is on is waited for, `patience` seconds at most.

    Closed in order. Raises `EdgeError` before anything is half open.
    """
    runs = RunsFolder.take(settings.runs, SystemClock(), settings.min_free, patience)
    with ExitStack() as stack:
        stack.callback(runs.close)
        yield _world(settings, runs, RUN_TARGET, stack)


@contextmanager
def open_daemon_world(settings: Settings) -> Iterator[World]:
    """The same for a daemon: one for each archive, which it owns during its runs only. Raises `EdgeError`."""
    runs = RunsFolder.beside(settings.runs, SystemClock(), settings.min_free)
    with ExitStack() as stack:
        stack.callback(own(settings.runs / DAEMON_LOCK, f"the schedules of {settings.runs}").release)
        yield _world(settings, runs, DAEMON_TARGET, stack)


def _world(settings: Settings, runs: RunsFolder, target: str, stack: ExitStack) -> World:
    named = not (settings.generator_address == OWN_NAME and target == DAEMON_TARGET)
    if settings.generator_address == OWN_NAME:
        settings = replace(settings, generator_address=socket.gethostname())
    annotator = _annotator(settings)
    stack.callback(annotator.close, DELIVERY_SECONDS)
    board = Board()
    _serve_metrics(settings, board, annotator, stack)
    discovery = FileDiscovery(settings.discovery)
    if named:  # a daemon that only knows its container's passing name is somebody's fixed target already
        _publish_myself(settings, target, discovery, stack)
    return World(
        clock=runs.clock,
        runs=runs,
        annotator=annotator,
        store=PrometheusHttp(settings.prometheus_url) if settings.prometheus_url else None,
        prometheus_url=settings.prometheus_url,
        deadline_factor=settings.deadline_factor,
        discovery=discovery,
        probe=TargetHttp(settings.allow_targets),
        board=board,
        generator_listen=settings.generator_listen,
        generator_bind=settings.generator_bind,
        worker_secret_file=settings.worker_secret_file,
        worker_hosts=settings.worker_hosts,
        generator_address=settings.generator_address,
    )


def _publish_myself(settings: Settings, target: str, discovery: FileDiscovery, stack: ExitStack) -> None:
    """Be a target while we live, where it is known what address leads here: on loopback, or by the generator's."""
    host, port = settings.listen
    address = host if host in LOOPBACK else settings.generator_address
    if address is not None:
        discovery.publish(target, f"{address}:{port}", {})
        stack.callback(discovery.withdraw, target)


def _annotator(settings: Settings) -> Annotator:
    if settings.grafana_url is None:
        return GrafanaOff("no Grafana is configured (STAGELIGHT_GRAFANA_URL)")
    credential = settings.credential()
    if credential is None:
        return GrafanaOff("no credential for Grafana is configured (STAGELIGHT_GRAFANA_TOKEN_FILE)")
    first, second = settings.runs / OUTBOX, settings.runs / SECOND_OUTBOX
    mine = second if is_owned(first.with_name(f"{OUTBOX}.lock")) else first
    return GrafanaAnnotator(mine, settings.grafana_url, credential, heirless=second if mine == first else None)


def _serve_metrics(settings: Settings, board: Board, annotator: Annotator, stack: ExitStack) -> None:
    host, port = settings.listen
    registry = CollectorRegistry()
    registry.register(ControllerCollector(board, annotator))
    registry.register(ArchiveDisk(settings.runs, settings.min_free))
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        why = "something else listens there" if error.errno == errno.EADDRINUSE else error.strerror
        remedy = "stop it, or choose another address with STAGELIGHT_LISTEN"
        raise EdgeError(f"could not serve metrics on {host}:{port}: {why}; {remedy}") from error
    stack.callback(thread.join, 2.0)
    stack.callback(server.server_close)
    stack.callback(server.shutdown)
