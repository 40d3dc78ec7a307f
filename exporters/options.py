"""The command line of `stagelight-exporter`, and the collectors that it asks for."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from exporters.host.rules import Rule, parse

COLLECTORS = ("host", "gpu", "loadgen")
SOURCES = (
    *("cpu", "load", "memory", "pressure", "disk", "network", "tcp", "clock", "thermal", "container", "processes"),
    "nvml",
)
"""What `--collector.<name>` and `--no-collector.<name>` switch."""

LOADGEN_RULE = Rule("loadgen", "command", r"(^|[/ ])locust( |$)|controller\.generator")

_EXAMPLE = """example:
  stagelight-exporter host gpu --listen 127.0.0.1:9692 --process model=port:8500
  stagelight-exporter host --no-collector.thermal --collector.cpu.cores
  stagelight-exporter host --once
  stagelight-exporter host gpu --textfile /var/lib/node_exporter/stagelight.prom

`loadgen` watches the load generator's processes on this machine: Locust's, or a controller's.
"""


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for; times in seconds."""

    collectors: tuple[str, ...]
    sources: frozenset[str]
    rules: tuple[Rule, ...]
    per_core: bool
    listen: tuple[str, int]
    interval: float
    deadline: float
    once: bool
    textfile: Path | None
    textfile_interval: float
    web_config: Path | None
    gpu_demo: bool
    gpu_script: Path | None


def read(argv: Sequence[str] | None) -> Options:
    """Read the command line; ends the process with code 2 and a sentence when it makes no sense."""
    given = _parser().parse_args(argv)
    collectors = tuple(dict.fromkeys(given.collectors or ("host", "gpu")))
    rules = (*given.process, *((LOADGEN_RULE,) if "loadgen" in collectors else ()))
    switches = {source: getattr(given, f"source_{source}") for source in SOURCES}
    sources = frozenset(s for s, on in switches.items() if on or (on is None and not given.collector_disable_defaults))
    return Options(
        collectors=collectors,
        sources=sources,
        rules=rules,
        per_core=given.per_core,
        listen=given.listen,
        interval=given.interval,
        deadline=given.deadline,
        once=given.once,
        textfile=given.textfile,
        textfile_interval=given.textfile_interval,
        web_config=given.web_config,
        gpu_demo=given.gpu_demo or given.gpu_script is not None,
        gpu_script=given.gpu_script,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="stagelight-exporter",
        description="Host and GPU metrics for Prometheus, sampled off the scrape path.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("collectors", nargs="*", metavar="COLLECTOR", type=_collector, help="host, gpu, loadgen (default: host gpu)")
    add("--listen", type=_address, default=("127.0.0.1", 9692), metavar="HOST:PORT", help="port 0: a free one")
    add("--interval", type=_seconds, default=1.0, metavar="TIME", help="between samples (default 1s)")
    add("--deadline", type=_seconds, default=2.0, metavar="TIME", help="for one sample (default 2s)")
    add("--process", type=_rule, action="append", default=[], metavar="LABEL=KIND:VALUE", help=_PROCESS_HELP)
    add("--once", action="store_true", help="print the page once and exit")
    add("--textfile", type=Path, metavar="FILE", help="write the page into a file, too")
    add("--textfile-interval", type=_seconds, default=15.0, metavar="TIME", help="between writes (default 15s)")
    add("--web.config.file", dest="web_config", type=Path, metavar="FILE", help="TLS and users, as exporters have it")
    add("--gpu-demo", action="store_true", help="simulated GPUs; says so in gpu_simulated")
    add("--locust-plugin", action=_PluginPath, nargs=0, help="print the path of the plugin for `locust -f`, and exit")
    add("--gpu-script", type=Path, metavar="FILE", help="what simulated GPUs do (implies --gpu-demo)")
    _add_switches(parser)
    return parser


class _PluginPath(argparse.Action):
    """Ends the program with a path on its output, as `--version` does."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(Path(__file__).with_name("locust_plugin.py"))  # noqa: T201
        parser.exit()


_PROCESS_HELP = "processes of interest: by name, command, port or cgroup; may be given several times"


def _add_switches(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("switches", "every source is on unless it is switched off")
    group.add_argument("--collector.disable-defaults", dest="collector_disable_defaults", action="store_true")
    group.add_argument("--collector.cpu.cores", dest="per_core", action="store_true", help="CPU time by core, too")
    for source in SOURCES:
        name = f"source_{source}"
        group.add_argument(f"--collector.{source}", dest=name, action="store_const", const=True, default=None)
        group.add_argument(f"--no-collector.{source}", dest=name, action="store_const", const=False)


def _collector(text: str) -> str:
    if text not in COLLECTORS:
        raise argparse.ArgumentTypeError(f"there is no collector {text!r}; there are: {', '.join(COLLECTORS)}")
    return text


def _rule(text: str) -> Rule:
    try:
        return parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


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
