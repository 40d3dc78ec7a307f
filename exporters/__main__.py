"""`stagelight-exporter`: host and GPU metrics for Prometheus, sampled off the scrape path."""

from __future__ import annotations

import argparse
import logging
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence

from exporters import page, text
from exporters.gpu.collector import gpu_collector
from exporters.host.collector import host_collector
from exporters.sampler import Sampler
from exporters.server import MetricsServer
from exporters.source import Collector

COLLECTORS: dict[str, Callable[[], Collector]] = {
    "host": host_collector,
    "gpu": gpu_collector,
}
"""Every collector by the name that the command line and the metrics use."""

logger = logging.getLogger("exporters")

_EXAMPLE = """example:
  stagelight-exporter host gpu --listen 127.0.0.1:9692
  stagelight-exporter host --once
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the exporter until SIGTERM or SIGINT; exit code 0, or 2 when it cannot be started as asked."""
    options = _parser().parse_args(argv)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    wanted = dict.fromkeys(options.collectors or COLLECTORS)
    samplers = tuple(Sampler(COLLECTORS[name](), options.interval, options.deadline) for name in wanted)
    return _once(samplers, options.deadline) if options.once else _serve(samplers, options)


def _once(samplers: tuple[Sampler, ...], deadline: float) -> int:
    """Print one page; a collector that passes the deadline is said to hang, and has no data on it."""
    for sampler in samplers:
        sampler.start()
    ends = time.monotonic() + deadline
    for sampler in samplers:
        sampler.wait_first(max(0.0, ends - time.monotonic()))
    states = [sampler.state(time.monotonic()) for sampler in samplers]
    body, _ = text.render(page.families(states, page.read_self(0, None)), accept="")
    sys.stdout.write(body.decode())
    _stop(samplers)
    return 0


def _serve(samplers: tuple[Sampler, ...], options: argparse.Namespace) -> int:
    host, port = options.listen
    try:
        server = MetricsServer(host, port, samplers)
    except OSError as error:
        print(
            f"could not listen on {host}:{port}: {error.strerror or error}; "
            "choose another address with --listen, or end the program that has it",
            file=sys.stderr,
        )
        return 2
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    for sampler in samplers:
        sampler.start()
    for sampler in samplers:
        sampler.wait_first(options.deadline)
    threading.Thread(target=server.serve_forever, name="server", daemon=True).start()
    print(f"ready http://{_shown(host)}:{server.server_port}/metrics", flush=True)
    _watch(samplers, stop)
    server.shutdown()
    server.server_close()
    _stop(samplers)
    return 0


def _watch(samplers: tuple[Sampler, ...], stop: threading.Event) -> None:
    """Wait for the end; one log line when a collector begins to hang and one when it no longer does."""
    hung: dict[str, bool] = {}
    while not stop.wait(1.0):
        for sampler in samplers:
            state = sampler.state(time.monotonic())
            if state.hung and not hung.get(state.collector, False):
                logger.warning("collector hangs; its data ends until it answers collector=%s", state.collector)
            elif hung.get(state.collector, False) and not state.hung:
                logger.info("collector answers again collector=%s", state.collector)
            hung[state.collector] = state.hung


def _stop(samplers: tuple[Sampler, ...]) -> None:
    """End the samplers; one that hangs in a call is left to the end of the process."""
    for sampler in samplers:
        if not sampler.stop(timeout=1.0):
            logger.warning("collector did not end in time collector=%s", sampler.collector.name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stagelight-exporter",
        description="Host and GPU metrics for Prometheus, sampled off the scrape path.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("collectors", nargs="*", metavar="COLLECTOR", type=_collector, help="host, gpu (default: both)")
    parser.add_argument(
        "--listen", type=_address, default=("127.0.0.1", 9692), metavar="HOST:PORT", help="port 0: a free one"
    )
    parser.add_argument("--interval", type=_seconds, default=1.0, metavar="TIME", help="between samples (default 1s)")
    parser.add_argument("--deadline", type=_seconds, default=2.0, metavar="TIME", help="for one sample (default 2s)")
    parser.add_argument("--once", action="store_true", help="print the page once and exit")
    return parser


def _collector(text: str) -> str:
    if text not in COLLECTORS:
        raise argparse.ArgumentTypeError(f"there is no collector {text!r}; there are: {', '.join(COLLECTORS)}")
    return text


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT, such as 127.0.0.1:9692")
    return host.strip("[]") or "0.0.0.0", int(port)  # noqa: S104 - only where the host was left empty on purpose


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m)", text)
    seconds = float(match[1]) * {"ms": 1e-3, "s": 1.0, "m": 60.0}[match[2]] if match else 0.0
    if seconds < 0.01:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time of at least 10ms, such as 500ms or 1s")
    return seconds


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


if __name__ == "__main__":
    sys.exit(main())
