"""Start one process of the generator: `python -m controller.generator --spec FILE --socket PATH` is the master."""

from __future__ import annotations

import argparse
import logging
import signal
from pathlib import Path

import gevent
import locust.runners
from locust.env import Environment

from controller.edges.target_address import refusal
from controller.edges.worker_secret import read_secret
from controller.generator import process, remote, worker
from controller.generator.link import Link
from controller.generator.master import Master
from controller.generator.sealed import seal
from controller.generator.team import Team
from controller.generator.user import ClosedLoopUser
from controller.generator_spec import GeneratorSpec, decode_spec

NEEDED = {
    "master": ("spec", "socket"),
    "worker": ("spec", "part", "host", "port", "parent"),
    "remote": ("host", "port", "parent", "secret_file"),
}
"""What each role has to be told."""

log = logging.getLogger(__name__)


def main() -> None:
    """Run the role that the arguments ask for; never returns."""
    arguments = _arguments()
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(process)d %(levelname)s %(message)s")
    logging.getLogger("controller.generator").setLevel(logging.INFO)
    locust.runners.WORKER_LOG_REPORT_INTERVAL = -1  # logs go to one file; never over the channel
    if arguments.role == "remote":
        _tie(arguments.parent)
        seal(read_secret(arguments.secret_file))
        process.leave(_work_afar(arguments))
    spec = decode_spec(arguments.spec.read_bytes())
    seal(spec.secret)
    if arguments.role == "worker":
        _tie(arguments.parent)
        process.leave(_work(spec, arguments.part, arguments.host, arguments.port))
    team = Team()
    for number in (signal.SIGINT, signal.SIGTERM):
        gevent.signal_handler(number, _stop, team, number)
    runner = Environment(user_classes=[ClosedLoopUser]).create_master_runner(*spec.bind)
    process.settle()
    process.leave(Master(spec, runner, Link(arguments.socket), team).run(arguments.spec))


def _tie(parent: int) -> None:
    process.die_with_parent(parent)
    process.raise_descriptor_limit()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)  # sent to the whole group: end at once, as the master ends us


def _work(spec: GeneratorSpec, part: int, host: str, port: int, name: str = "", *, far: bool = False) -> int:
    if spec.workload.locustfile is None:
        return worker.run(spec, part, host, port, name, far=far)
    from controller.generator import own_worker  # imports clients that no other workload needs

    return own_worker.run(spec, name or f"worker-{part}", host, port, far=far)


def _work_afar(arguments: argparse.Namespace) -> int:
    host, port = arguments.host, arguments.port
    return remote.run(
        host,
        port,
        lambda spec: refusal(spec.target, arguments.allow),
        lambda spec, seat: _work(spec, seat.part, host, port, seat.name, far=True),
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m controller.generator",
        description="A load generator's master, or one of its workers. Started by the controller, not by hand.",
    )
    parser.add_argument("--role", choices=tuple(NEEDED), default="master")
    parser.add_argument("--spec", type=Path, help="JSON file that says whom to load with what")
    parser.add_argument("--socket", type=Path, help="master: the controller's socket")
    parser.add_argument("--part", type=int, help="worker: its number, from 0")
    parser.add_argument("--host", help="worker, remote: the master's host")
    parser.add_argument("--port", type=int, help="worker, remote: the master's port")
    parser.add_argument("--parent", type=int, help="worker, remote: the parent's process id")
    parser.add_argument("--secret-file", type=Path, help="remote: file with the secret that the master knows, too")
    parser.add_argument("--allow", action="append", default=[], help="remote: a target that may be loaded")
    arguments = parser.parse_args()
    if missing := [name for name in NEEDED[arguments.role] if getattr(arguments, name) is None]:
        parser.error(f"the {arguments.role} needs --{', --'.join(missing)}")
    return arguments


def _stop(team: Team, number: int) -> None:
    """Told to stop by a signal: no request may start any more, so the workers go first."""
    log.warning("stopped by %s", signal.Signals(number).name)
    team.end(0.0)
    process.leave(128 + number)


if __name__ == "__main__":
    main()
