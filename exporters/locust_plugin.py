"""A plugin for any Locust run, without a controller: is the generator itself at its limit?

    locust -f mine.py,$(stagelight-exporter --locust-plugin)

Every process measures itself and its own requests each second; master or local runner serve them all at
`http://127.0.0.1:9646/metrics` (`--stagelight-listen`, or STAGELIGHT_LOCUST_LISTEN; `--stagelight-limits`, or
STAGELIGHT_LOCUST_LIMITS, moves the limits). The locustfile stays as it is; `import exporters.locust_plugin` in it does
the same.
"""

from __future__ import annotations

import contextlib
import logging
import math
import time
from pathlib import Path
from typing import Any

import gevent
import locust
from gevent.pywsgi import WSGIServer
from locust.exception import RPCError
from locust.runners import MasterRunner, WorkerRunner
from prometheus_client import CollectorRegistry, make_wsgi_app

from exporters.loadgen import Load
from exporters.loadgen_limits import in_force, of_master, read_limits
from exporters.loadgen_lookups import watch
from exporters.loadgen_pulse import LAG_PERIOD, Pulse, Vitals
from exporters.locust_account import Account, Tally, packed, unpacked
from exporters.locust_outcome import outcome
from exporters.locust_page import Page, State

REPORT = "stagelight_pulse"
log = logging.getLogger("stagelight")


class Node:
    """This process's part of a run; in greenlets of Locust's own loop."""

    def __init__(self, environment: Any) -> None:
        """Measure from now on; called in each process once it has been forked."""
        self._environment, self._runner = environment, environment.runner
        self._limits = in_force(read_limits(str(getattr(environment.parsed_options, "stagelight_limits", "") or "")))
        self._pulse = Pulse(of_master(self._limits) if isinstance(self._runner, MasterRunner) else self._limits)
        self._tally, self._account, self._expected = Tally(), Account(), 0
        self._names = watch(gevent.get_hub())
        environment.events.request.add_listener(self._on_request)
        if isinstance(self._runner, MasterRunner):
            self._runner.register_message(REPORT, self._on_report)
        self._pulse.probe(gevent.get_hub().loop.timer(LAG_PERIOD, repeat=LAG_PERIOD))
        gevent.spawn(self._beat)

    def serve(self, host: str, port: int) -> int:
        """Answer scrapes; the port, a free one for 0. Raises `OSError` where the address cannot be had."""
        registry = CollectorRegistry()
        registry.register(Page(self._account, self._limits, self._look))
        server = WSGIServer((host, port), make_wsgi_app(registry), log=None)
        server.start()
        return int(server.server_port)

    def _on_request(self, response_time: Any = None, exception: Any = None, response: Any = None, **_: Any) -> None:
        """Locust's event, in milliseconds; what has no time of its own is counted with none."""
        try:
            seconds = max(float(response_time) / 1000, 0.0)
        except (TypeError, ValueError):
            seconds = 0.0
        self._tally.count(outcome(exception, response), seconds if math.isfinite(seconds) else 0.0)

    def _beat(self) -> None:
        while True:
            gevent.sleep(1.0)
            parts, ended, faults = self._tally.take()
            vitals = self._pulse.take(self._load(ended, faults))
            if isinstance(self._runner, WorkerRunner):
                with contextlib.suppress(RPCError):
                    self._runner.send_message(REPORT, packed(parts, vitals))
            elif isinstance(self._runner, MasterRunner):
                self._account.master = self._with_workers(vitals)
            else:
                self._account.report("", "local", parts, vitals, time.monotonic())

    def _load(self, ended: int, faults: int) -> Load:
        """Users are asked for once Locust says that all have been started, and until it begins to stop them."""
        runner = self._runner
        asked = 0
        if runner.state == "running" and not isinstance(runner, MasterRunner):
            asked = runner.target_user_count
        return Load(asked=asked, running=runner.user_count, requests=ended, faults=faults + self._names.take())

    def _on_report(self, msg: Any, **_: Any) -> None:
        parts, vitals = unpacked(msg.data)
        name = f"worker-{self._runner.get_worker_index(msg.node_id)}"
        self._account.report(msg.node_id, name, parts, vitals, time.monotonic())

    def _with_workers(self, vitals: Vitals) -> Vitals:
        """The master's own, and how long its workers have been silent."""
        now, runner = time.monotonic(), self._runner
        self._account.keep(list(runner.clients))
        connected = len(self._account.connected(now))
        busy = runner.state in ("spawning", "running")
        self._expected = max(self._expected, connected) if busy else connected
        silence = self._account.silence(now, self._expected - connected, self._limits["workers"])
        vitals.saturation["workers"] = silence / self._limits["workers"]
        return vitals

    def _look(self) -> State:
        options, runner = self._environment.parsed_options, self._runner
        files = [Path(one.strip()) for one in str(getattr(options, "locustfile", "") or "").split(",")]
        plan = ",".join(file.stem for file in files if file.stem and file.stem != Path(__file__).stem)
        host = self._environment.host or ""
        expected = max(self._expected, getattr(options, "expect_workers", 0) or 0)
        return State(
            time.monotonic(),
            int(getattr(runner, "target_user_count", 0) or 0),
            runner.user_count,
            expected if isinstance(runner, MasterRunner) else 1,
            {"run_id": "", "plan": plan, "target": host, "locust_version": locust.__version__},
        )


def _add_options(parser: Any, **_: Any) -> None:
    parser.add_argument(
        "--stagelight-listen",
        env_var="STAGELIGHT_LOCUST_LISTEN",
        default="127.0.0.1:9646",
        metavar="HOST:PORT",
        help="where master or local runner serve the generator's metrics (127.0.0.1:9646)",
    )
    parser.add_argument(
        "--stagelight-limits",
        env_var="STAGELIGHT_LOCUST_LIMITS",
        default="",
        metavar="SIGNAL=LIMIT,...",
        help="limits of the generator's signals instead of those that ship, such as loop_lag=30ms,cpu=0.9",
    )


def _begin(environment: Any, **_: Any) -> None:
    node = Node(environment)
    if isinstance(environment.runner, WorkerRunner):
        return
    options = environment.parsed_options
    listen = str(getattr(options, "stagelight_listen", "") or "127.0.0.1:9646")
    host, colon, port = listen.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"--stagelight-listen {listen} is not HOST:PORT, such as 127.0.0.1:9646")
    try:
        port = str(node.serve(host.strip("[]"), int(port)))
    except OSError as error:
        raise OSError(
            f"could not serve the generator's metrics at {listen}: {error.strerror or error}; choose another address "
            "with --stagelight-listen"
        ) from error
    log.info("the generator's metrics are at http://%s:%s/metrics", host, port)


def listen(events: Any) -> None:
    """Begin with each run of a Locust whose events these are; a second time does nothing."""
    if getattr(events, "stagelight", None) is None:
        events.stagelight = True
        events.init_command_line_parser.add_listener(_add_options)
        events.init.add_listener(_begin)


listen(locust.events)
