"""Start one process of the generator: `python -m controller.generator --spec FILE --socket PATH` is the master."""

from __future__ import annotations

import argparse
import logging
import signal
from pathlib import Path

import gevent
import locust.runners
from locust.env import Environment

from controller.generator import process, worker
from controller.generator.link import Link
from controller.generator.master import Master
from controller.generator.team import Team
from controller.generator.user import ClosedLoopUser
from controller.generator_spec import GeneratorSpec, decode_spec

log = logging.getLogger(__name__)


def main() -> None:
    """Run the role that the arguments ask for; never returns."""
    arguments = _arguments()
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(process)d %(levelname)s %(message)s")
    logging.getLogger("controller.generator").setLevel(logging.INFO)
    locust.runners.WORKER_LOG_REPORT_INTERVAL = -1  # logs go to one file; never over the channel
    spec = decode_spec(arguments.spec.read_bytes())
    if arguments.role == "worker":
        process.die_with_parent(arguments.parent)
        process.raise_descriptor_limit()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)  # sent to the whole group: end at once, as the master ends us
        process.leave(_work(spec, arguments.part, "127.0.0.1", arguments.port))
    team = Team()
    for number in (signal.SIGINT, signal.SIGTERM):
        gevent.signal_handler(number, _stop, team, number)
    runner = Environment(user_classes=[ClosedLoopUser]).create_master_runner("127.0.0.1", 0)
    process.leave(Master(spec, runner, Link(arguments.socket), team).run(arguments.spec))


def _work(spec: GeneratorSpec, part: int, host: str, port: int) -> int:
    if spec.workload.locustfile is None:
        return worker.run(spec, part, host, port)
    from controller.generator import own_worker  # imports clients that no other workload needs

    return own_worker.run(spec, f"worker-{part}", host, port)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m controller.generator",
        description="A load generator's master, or one of its workers. Started by the controller, not by hand.",
    )
    parser.add_argument("--spec", type=Path, required=True, help="JSON file that says whom to load with what")
    parser.add_argument("--role", choices=("master", "worker"), default="master")
    parser.add_argument("--socket", type=Path, help="master: the controller's socket")
    parser.add_argument("--part", type=int, help="worker: its number, from 0")
    parser.add_argument("--port", type=int, help="worker: the master's port on loopback")
    parser.add_argument("--parent", type=int, help="worker: the master's process id")
    arguments = parser.parse_args()
    needed = ("part", "port", "parent") if arguments.role == "worker" else ("socket",)
    if missing := [name for name in needed if getattr(arguments, name) is None]:
        parser.error(f"the {arguments.role} needs --{', --'.join(missing)}")
    return arguments


def _stop(team: Team, number: int) -> None:
    """Told to stop by a signal: no request may start any more, so the workers go first."""
    log.warning("stopped by %s", signal.Signals(number).name)
    team.end(0.0)
    process.leave(128 + number)


if __name__ == "__main__":
    main()
