"""`stagelight-exporter`: host and GPU metrics for Prometheus, sampled off the scrape path."""

from __future__ import annotations

import logging
import signal
import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from exporters import options, page, text, textfile
from exporters.collectors import collectors
from exporters.sampler import Sampler
from exporters.server import MetricsServer

if TYPE_CHECKING:
    from exporters.access import Access
    from exporters.options import Options

logger = logging.getLogger("exporters")

WATCH_SECONDS = 5.0
"""How often it is looked whether a collector hangs, to say so in the log."""

SWITCH_SECONDS = 0.0005
"""How long a thread may hold the interpreter while another waits: a scrape must not wait long for a sample."""

STAGGER_SECONDS = 0.1
"""The next collector starts when the first has sampled, at most so much later: beats that fall together cost more."""


class CannotStartError(RuntimeError):
    """The exporter cannot be started as asked; the message is one sentence."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the exporter until SIGTERM or SIGINT; exit code 0, or 2 when it cannot be started as asked."""
    asked = options.read(argv)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    try:
        if asked.gpu_demo:
            _load_demo(asked)
        samplers = tuple(Sampler(collector, asked.interval, asked.deadline) for collector in collectors(asked))
        return _once(samplers, asked) if asked.once else _serve(samplers, asked)
    except CannotStartError as error:
        print(error, file=sys.stderr)
        return 2


def _load_demo(asked: Options) -> None:
    from exporters.gpu import demo

    try:
        demo.load(asked.gpu_script or demo.SCRIPT)
    except demo.DemoError as error:
        raise CannotStartError(str(error)) from error


def _once(samplers: tuple[Sampler, ...], asked: Options) -> int:
    """Print one page; a collector that passes the deadline is said to hang, and has no data on it."""
    for sampler in samplers:
        sampler.start()
    ends = time.monotonic() + asked.deadline
    for sampler in samplers:
        sampler.wait_first(max(0.0, ends - time.monotonic()))
    body = _body(samplers)
    if asked.textfile is None:
        sys.stdout.write(body.decode())
    else:
        try:
            textfile.write(asked.textfile, body)
        except OSError as error:
            raise CannotStartError(f"could not write {asked.textfile}: {error.strerror or error}") from error
    _stop(samplers)
    return 0


def _serve(samplers: tuple[Sampler, ...], asked: Options) -> int:
    host, port = asked.listen
    access = _access(asked)
    try:
        server = MetricsServer(host, port, samplers, access)
    except OSError as error:
        raise CannotStartError(
            f"could not listen on {host}:{port}: {error.strerror or error}; "
            "choose another address with --listen, or end the program that has it"
        ) from error
    stop = threading.Event()
    sys.setswitchinterval(SWITCH_SECONDS)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    for sampler in samplers:
        sampler.start()
        sampler.wait_first(STAGGER_SECONDS)
    for sampler in samplers:
        sampler.wait_first(asked.deadline)
    threading.Thread(target=server.serve_forever, args=(1.0,), name="server", daemon=True).start()
    scheme = "http" if access is None or access.current()[1] is None else "https"
    print(f"ready {scheme}://{_shown(host)}:{server.server_port}/metrics", flush=True)
    _watch(samplers, asked, stop)
    server.shutdown()
    server.server_close()
    _stop(samplers)
    return 0


def _access(asked: Options) -> Access | None:
    if asked.web_config is None:
        return None
    from exporters.access import Access
    from exporters.web_config import WebConfigError

    try:
        return Access(asked.web_config)
    except (OSError, WebConfigError) as error:
        raise CannotStartError(f"could not use the web configuration {asked.web_config}: {error}") from error


def _watch(samplers: tuple[Sampler, ...], asked: Options, stop: threading.Event) -> None:
    """Wait for the end; write the text file; one log line when a collector begins to hang and one when it stops."""
    hung: dict[str, bool] = {}
    write_at, unwritten = time.monotonic(), False
    beat = WATCH_SECONDS if asked.textfile is None else 1.0
    while not stop.wait(beat):
        for sampler in samplers:
            state = sampler.state(time.monotonic())
            if state.hung and not hung.get(state.collector, False):
                logger.warning("collector hangs; its data ends until it answers collector=%s", state.collector)
            elif hung.get(state.collector, False) and not state.hung:
                logger.info("collector answers again collector=%s", state.collector)
            hung[state.collector] = state.hung
        if asked.textfile is not None and time.monotonic() >= write_at:
            write_at += asked.textfile_interval
            try:
                textfile.write(asked.textfile, _body(samplers))
                unwritten = False
            except OSError as error:
                if not unwritten:
                    logger.warning("could not write the text file %s: %s", asked.textfile, error)
                unwritten = True


def _body(samplers: tuple[Sampler, ...]) -> bytes:
    now = time.monotonic()
    body, _ = text.render(page.families([s.state(now) for s in samplers], page.read_self(0, None)), accept="")
    return body


def _stop(samplers: tuple[Sampler, ...]) -> None:
    """End the samplers; one that hangs in a call is left to the end of the process."""
    for sampler in samplers:
        if not sampler.stop(timeout=2.0):
            logger.warning("collector did not end in time collector=%s", sampler.collector.name)


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


if __name__ == "__main__":
    sys.exit(main())
