"""The command line: the real server's flags where they mean something here, and the stand-in's own."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .http_answers import SERVER
from .script import Script, ScriptError, parse_option, read_script

FREE = 0
OFF = -1
EXAMPLE = """examples:
  python -m compose.targets.tfserving_standin --model_name resnet --monitoring_config_file monitoring.config
  python -m compose.targets.tfserving_standin --port 8500 --latency lognormal:median=5ms,sigma=0.5 \\
      --freeze at=10s,for=2s --errors code=UNAVAILABLE,share=0.1,from=20s,for=5s --log requests.jsonl
"""
LISTS = {"phases": "phase", "freezes": "freeze", "errors": "errors", "loads": "load"}


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asks for. Ports: `FREE` for any free one, `OFF` for none. Timeout and poll in seconds."""

    address: str
    rest_port: int
    grpc_port: int
    model_name: str
    model_base_path: Path | None
    versions: tuple[int, ...]
    labels: dict[str, int]
    enable_batching: bool
    batching_file: Path | None
    monitoring_file: Path | None
    timeout: float | None
    poll: float
    cors: bool
    body_limit: int
    log: Path | None
    script: Script


def parse_options(argv: Sequence[str] | None) -> Options:
    """The options; a wrong command line ends the program with code 2 and says what is wrong."""
    parser = _parser()
    given = parser.parse_args(argv)
    try:
        script = read_script(given.script, _script_parts(given))
    except ScriptError as error:
        parser.error(f"the script cannot be used:\n{error}")
    if given.rest_api_port == given.port and given.port > 0:
        parser.error(f"--port and --rest_api_port are both {given.port}; gRPC and REST need a port each")
    return Options(
        address=given.address,
        rest_port=given.rest_api_port,
        grpc_port=given.port,
        model_name=given.model_name,
        model_base_path=given.model_base_path,
        versions=given.versions,
        labels=given.version_labels,
        enable_batching=given.enable_batching,
        batching_file=given.batching_parameters_file,
        monitoring_file=given.monitoring_config_file,
        timeout=given.rest_api_timeout_in_ms / 1000 if given.rest_api_timeout_in_ms > 0 else None,
        poll=given.file_system_poll_wait_seconds,
        cors=given.enable_cors_support,
        body_limit=given.max_body_bytes,
        log=given.log,
        script=script,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m compose.targets.tfserving_standin",
        description=f"{SERVER}: speaks like TensorFlow Serving, runs a small NumPy model, takes as long as told.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _add_server_flags(parser.add_argument_group("flags of the real server"))
    _add_own_flags(parser.add_argument_group("flags of the stand-in alone"))
    return parser


def _add_server_flags(group: argparse._ArgumentGroup) -> None:
    flag = group.add_argument
    flag("--port", type=_grpc_port, default=OFF, help="gRPC port; 0 or absent: no gRPC; `free`: any free one")
    flag("--rest_api_port", type=_port, default=8501, help="REST port (8501); 0 or `free`: any free one")
    flag("--model_name", default="default", help="name of the model (default)")
    flag("--model_base_path", type=Path, help="folder whose sub-folders are version numbers; the largest is served")
    flag("--enable_batching", type=_boolean, nargs="?", const=True, default=False, help="batch requests")
    flag("--batching_parameters_file", type=Path, help="batching parameters in protobuf text format")
    flag("--monitoring_config_file", type=Path, help="monitoring configuration in protobuf text format")
    flag("--rest_api_timeout_in_ms", type=int, default=30000, help="longest run of a REST request (30000)")
    flag("--file_system_poll_wait_seconds", type=float, default=1.0, help="how often to look for versions (1)")
    flag("--enable_cors_support", type=_boolean, nargs="?", const=True, default=False, help="send CORS headers")
    flag("--rest_api_num_threads", type=int, default=0, help="accepted, without effect; see --capacity")
    flag("--grpc_max_threads", type=int, default=0, help="accepted, without effect; see --capacity")


def _add_own_flags(group: argparse._ArgumentGroup) -> None:
    flag = group.add_argument
    flag("--address", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    flag("--versions", type=_versions, default=(1,), metavar="N,N", help="versions served without a base path (1)")
    flag("--version_labels", type=_labels, default={}, metavar="NAME=N,...", help="labels of versions")
    flag("--max_body_bytes", type=int, default=64 * 2**20, help="largest request body (64 MiB)")
    flag("--log", type=Path, help="file that gets a JSON line for every request")
    flag("--script", type=Path, help="YAML file with everything below and more")
    flag(
        "--latency",
        type=parse_option,
        metavar="KIND:...",
        help="service time, as constant:5ms or uniform:low=1ms,high=2ms",
    )
    flag("--capacity", type=parse_option, metavar="concurrency=N,rate=N/s,queue=N", help="how much is served at once")
    flag("--phase", type=_phase, action="append", default=[], metavar="from=T,for=T,KIND:...", help="other latency")
    flag("--freeze", type=parse_option, action="append", default=[], metavar="at=T,for=T", help="hold all answers")
    flag("--errors", type=parse_option, action="append", default=[], metavar="code=C,share=S,from=T,for=T")
    flag("--load", type=parse_option, action="append", default=[], metavar="version=N,at=T,takes=T,extra=T")
    flag("--seed", type=int, help="start of the random draws (1)")


def _script_parts(given: argparse.Namespace) -> dict[str, Any]:
    parts: dict[str, Any] = {key: getattr(given, name) for key, name in LISTS.items() if getattr(given, name)}
    for name in ("latency", "capacity", "seed"):
        if getattr(given, name) is not None:
            parts[name] = getattr(given, name)
    numbered: dict[str, Any] = _numbers(parts)
    return numbered


def _numbers(part: Any) -> Any:
    """Text that is a whole or decimal number becomes one, as in YAML; the rest stays."""
    match part:
        case dict():
            return {key: _numbers(value) for key, value in part.items()}
        case list() | tuple():
            return [_numbers(value) for value in part]
        case str() if re.fullmatch(r"\d+", part):
            return int(part)
        case str() if re.fullmatch(r"\d+\.\d+", part):
            return float(part)
        case str() if part in {"true", "false"}:
            return part == "true"
        case _:
            return part


def _phase(text: str) -> dict[str, Any]:
    when, comma, latency = text.rpartition(",") if ":" not in text else _before_kind(text)
    if not comma:
        raise argparse.ArgumentTypeError(f"{text!r} is not like from=10s,for=5s,constant:20ms")
    return {**parse_option(when), "latency": parse_option(latency)}


def _before_kind(text: str) -> tuple[str, str, str]:
    head, _, rest = text.partition(":")
    when, comma, kind = head.rpartition(",")
    return when, comma, f"{kind}:{rest}"


def _port(text: str) -> int:
    if text == "free":
        return FREE
    if text.isdigit() and int(text) < 65536:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a port")


def _grpc_port(text: str) -> int:
    return OFF if text == "0" else _port(text)


def _boolean(text: str) -> bool:
    if text.lower() in {"true", "1", "false", "0"}:
        return text.lower() in {"true", "1"}
    raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")


def _versions(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of version numbers like 1,2")
    return tuple(sorted({int(number) for number in text.split(",")}))


def _labels(text: str) -> dict[str, int]:
    found = re.findall(r"([^=,]+)=(\d+)", text)
    if ",".join(f"{name}={number}" for name, number in found) != text:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of labels like stable=1,canary=2")
    return {name: int(number) for name, number in found}
