"""How many hosts have a worker to lend: as many as there are addresses behind one name."""

from __future__ import annotations

import socket

from controller.ports import EdgeError


def count_hosts(name: str) -> int:
    """Addresses of IPv4 behind `name`, or of IPv6 where it has none of those: one for each host, or container.

    Raises `EdgeError` when the name leads nowhere.
    """
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError as error:
        what = f"could not count the workers behind {name}: {error.strerror or error}"
        raise EdgeError(f"{what}; start one with `stagelight worker`, or let the plan say a number") from error
    families = {family: {address[0] for one, *_, address in found if one == family} for family, *_ in found}
    return len(families.get(socket.AF_INET) or next(iter(families.values())))
