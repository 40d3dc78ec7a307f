"""What the exit status of a run says: one code for each way of ending."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit statuses of `stagelight`; stable, so that a pipeline may rely on them."""

    PASS = 0
    FAIL = 1
    USAGE = 2  # usage or plan wrong
    INCONCLUSIVE = 3
    INVALID = 4  # the generator cannot be trusted
    STOPPED = 5  # a stop rule ended the run
    TARGET = 6  # preflight: the target is not usable
    BROKEN = 7  # the run itself broke
    INTERRUPTED = 130
