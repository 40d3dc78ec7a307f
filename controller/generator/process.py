"""How the generator's processes depend on each other: a worker never outlives its master, nobody exits half-way."""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import resource
import signal
import sys
from typing import NoReturn

PR_SET_PDEATHSIG = 1
DESCRIPTORS = 65_536
"""Open files a worker asks for, within its hard limit: every user needs one connection."""


def die_with_parent(parent: int) -> None:
    """Be killed by the kernel when process `parent`, which has to be the own parent, ends for whatever reason.

    Exits at once when it has ended already. `prctl(2)`: only the direct parent counts, and only from now on.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"could not tie this process to its parent: {os.strerror(number)}")
    if os.getppid() != parent:
        os._exit(1)


def raise_descriptor_limit() -> None:
    """Allow as many open files as this process may have, up to `DESCRIPTORS`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def settle() -> None:
    """What was imported and prepared until now is never looked through again: shorter pauses of the collector."""
    gc.collect()
    gc.freeze()


def leave(code: int) -> NoReturn:
    """End this process now: Locust's sockets would hold up an ordinary exit for as long as they have unsent words."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
