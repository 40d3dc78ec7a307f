"""A controller of its own process, so that tests can kill or freeze it: `python -m … SPEC_FILE LOG USERS`.

Prints the process ids of master and workers, then holds the load and renews the lease for at most a minute.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from controller.generator_spec import decode_spec
from tests.controller.generator.drive import Drive


def main(spec: str, log: str, users: str) -> None:
    with Drive(decode_spec(Path(spec).read_bytes()), Path(log)) as drive:
        drive.order(int(users))
        print(json.dumps([drive.hello.pid, *drive.pids()]), flush=True)
        drive.run(60.0)


if __name__ == "__main__":
    main(*sys.argv[1:])
