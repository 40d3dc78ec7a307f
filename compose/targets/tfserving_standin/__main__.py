"""Starts the stand-in: `python -m compose.targets.tfserving_standin --help`."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence

for _library in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_library, "1")  # the model is small: threads would cost more than they bring

import numpy as np  # noqa: E402 - reads those variables

from .codes import Failure  # noqa: E402 - imports numpy
from .options import parse_options  # noqa: E402
from .server import StartError, serve  # noqa: E402

EXIT_LIKE_THE_REAL_ONE = 255


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until told to stop. 0 after SIGTERM or SIGINT, 1 if a port or file is not to be had, 255 for bad files."""
    options = parse_options(argv)
    np.seterr(all="ignore")
    try:
        with asyncio.Runner(loop_factory=_new_loop) as runner:
            runner.run(serve(options))
    except Failure as failure:
        sys.stdout.write(f"Failed to start server. Error: {failure} (Stagelight TF Serving stand-in)\n")
        return EXIT_LIKE_THE_REAL_ONE
    except StartError as error:
        sys.stdout.write(f"stand-in: {error}\n")
        return 1
    return 0


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


if __name__ == "__main__":
    raise SystemExit(main())
