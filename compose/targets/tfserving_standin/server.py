"""Puts the stand-in together, opens its ports, and closes everything again."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
import time
from functools import partial

import grpc.aio

from .alarms import Alarms
from .behaviour import Behaviour
from .config_files import read_batching, read_monitoring
from .control import Control
from .grpc_calls import GrpcCalls
from .grpc_predict import GrpcPredict
from .http_connection import HttpConnection, Site
from .ledger import FLUSH_SECONDS, Ledger
from .metric_page import MetricPage
from .options import OFF, Options
from .rest_api import RestApi
from .rest_inference import RestInference
from .runner import Runner
from .script import Script
from .servables import Servables
from .service import Service
from .version_loads import VersionLoads, version_numbers

GRPC_OPTIONS = (
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", 2**31 - 1),
    ("grpc.max_send_message_length", -1),
    ("grpc.server.max_pending_requests", 2**31 - 1),
    ("grpc.server.max_pending_requests_hard_limit", 2**31 - 1),
)


class StartError(Exception):
    """The stand-in cannot start or go on; the message says why and what to do."""


class StandIn:
    """All parts of one running stand-in. Make it inside a running event loop."""

    def __init__(self, options: Options) -> None:
        """Read the configuration files and open the log. Raises Failure or StartError."""
        self._options = options
        self.ended = asyncio.Event()
        """Set when it is time to stop."""
        self._page_path = read_monitoring(options.monitoring_file)
        batching = read_batching(options.enable_batching, options.batching_file)
        self._loop = asyncio.get_running_loop()
        self._page = MetricPage()
        try:
            self._ledger = Ledger(options.log)
        except OSError as error:
            raise StartError(
                f"could not write the log {options.log}: {error.strerror}; name another with --log"
            ) from error
        self._alarms = Alarms(self._loop)
        self._behaviour = Behaviour(Script(), time.monotonic())
        base = str(options.model_base_path) if options.model_base_path else f"/models/{options.model_name}"
        self._servables = Servables(options.model_name, base, options.labels)
        self._runner = Runner(self._page, self._alarms, self._behaviour, batching)
        self._service = Service(self._page, self._ledger, self._alarms, self._behaviour)
        self._loads = VersionLoads(self._servables, self._page, self._ledger, self._alarms, self._behaviour)
        self._site = self._make_site()
        self._rest: asyncio.Server | None = None
        self._grpc: grpc.aio.Server | None = None

    async def start(self) -> str:
        """Load the versions, open the ports, start the script; returns the line that says so. Raises StartError."""
        for number in await self._first_versions():
            self._loads.load_now(number)
        address = self._options.address
        rest = await self._open_rest(address)
        grpc_port = await self._open_grpc(address)
        gc.collect()
        gc.freeze()  # what lives from the start to the end need not be looked at again
        self._run_script(self._options.script)
        self._flush_log()
        if self._options.model_base_path is not None:
            self._follow_folder()
        where = "off" if grpc_port is None else f"{address}:{grpc_port}"
        return f"ready rest={address}:{rest} grpc={where} (Stagelight TF Serving stand-in)"

    async def stop(self) -> None:
        """Close the ports, drop the clients, complete the log."""
        if self._rest is not None:
            self._rest.close()
        self._ledger.close(time.monotonic())
        self._alarms.close()
        self._site.close()
        if self._grpc is not None:
            await self._grpc.stop(None)

    def check_log(self) -> None:
        """Raises StartError if the log is incomplete: a log that cannot be trusted ends the stand-in."""
        if self._ledger.broken is not None:
            reason = self._ledger.broken.strerror
            raise StartError(f"could not write the log {self._options.log}: {reason}; it is incomplete")

    def _make_site(self) -> Site:
        options = self._options
        inference = RestInference(self._servables, self._runner, self._service, options.timeout)
        control = Control(self._ledger, self._behaviour, self._run_script)
        api = RestApi(self._servables, inference, self._service, self._ledger, self._page, self._page_path, control)
        return Site(api.handle, self._lost, options.body_limit, cors=options.cors)

    def _lost(self) -> None:
        self._ledger.interrupted += 1

    def _run_script(self, script: Script) -> None:
        now = time.monotonic()
        self._service.run_script(script, now)
        self._loads.plan(script, now)
        self._ledger.note("script_started", now)

    async def _first_versions(self) -> list[int]:
        folder = self._options.model_base_path
        if folder is None:
            return list(self._options.versions)
        while not (found := version_numbers(folder)):
            sys.stderr.write(
                f"stand-in: no versions of {self._options.model_name} under {folder}; waiting for a sub-folder whose "
                "name is a number\n"
            )
            await asyncio.sleep(max(0.1, self._options.poll))
        return found[-1:]

    async def _open_rest(self, address: str) -> int:
        port = self._options.rest_port
        try:
            self._rest = await self._loop.create_server(
                partial(HttpConnection, self._site), address, port, backlog=1024
            )
        except OSError as error:
            raise StartError(
                f"could not listen on {address}:{port} for REST: {error.strerror}; choose another --rest_api_port"
            ) from error
        bound: int = self._rest.sockets[0].getsockname()[1]
        return bound

    async def _open_grpc(self, address: str) -> int | None:
        port = self._options.grpc_port
        if port == OFF:
            return None
        server = grpc.aio.server(options=GRPC_OPTIONS)
        predict = GrpcPredict(self._servables, self._runner, self._service)
        server.add_generic_rpc_handlers(
            tuple(GrpcCalls(self._servables, predict, self._service, self._ledger).handlers())
        )
        try:
            bound = server.add_insecure_port(f"{address}:{port}")
        except RuntimeError as error:
            raise StartError(
                f"could not listen on {address}:{port} for gRPC: it is taken or not allowed; choose another --port"
            ) from error
        await server.start()
        self._grpc = server
        return bound

    def _flush_log(self) -> None:
        self._ledger.flush()
        if self._ledger.broken is not None:
            self.ended.set()
        self._loop.call_later(FLUSH_SECONDS, self._flush_log)

    def _follow_folder(self) -> None:
        if self._options.model_base_path is not None and self._options.poll > 0:
            self._loads.follow(self._options.model_base_path)
            self._loop.call_later(self._options.poll, self._follow_folder)


async def serve(options: Options) -> None:
    """Run until SIGTERM or SIGINT. Raises Failure or StartError if it cannot start or go on."""
    loop = asyncio.get_running_loop()
    stand_in = StandIn(options)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stand_in.ended.set)
    starting = asyncio.ensure_future(stand_in.start())
    ended = asyncio.ensure_future(stand_in.ended.wait())
    try:
        await asyncio.wait((starting, ended), return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            sys.stdout.write(starting.result() + "\n")
            sys.stdout.flush()
            await ended
    finally:
        starting.cancel()
        ended.cancel()
        await stand_in.stop()
    stand_in.check_log()
