"""Every name that is resolved in this loop is timed.

Our own clients resolve once, before load; users of somebody's own classes do with every connection.
"""

from __future__ import annotations

from typing import Any

import gevent

from exporters.loadgen_lookups import Resolver


def watch_names() -> Resolver:
    """From now on, until the process ends."""
    hub: Any = gevent.get_hub()
    hub.resolver = resolver = Resolver(hub.resolver)
    return resolver
