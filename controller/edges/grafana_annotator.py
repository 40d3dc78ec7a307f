"""The Annotator: regions go into the outbox at once and to Grafana from a thread of their own, one after the other."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from controller.edges.grafana_credential import Credential, Refusal, stamp
from controller.edges.grafana_delivery import confirm, deliver, read_back
from controller.edges.grafana_failure import GrafanaError, Reason
from controller.edges.grafana_http import GrafanaHttp
from controller.edges.grafana_outbox import Item, Outbox
from controller.edges.grafana_pace import Pace, Patience
from controller.ports import Region

log = logging.getLogger(__name__)

IDLE = 3600.0


class GrafanaAnnotator:
    """Deliveries are serial; Grafana being down, slow or hostile never delays `put`."""

    def __init__(
        self, path: Path, url: str, credential: Credential, pace: Pace | None = None, heirless: Path | None = None
    ) -> None:
        """Take over the outbox at `path`, with what an earlier process left in it. Raises `EdgeError`.

        So is the outbox `heirless`, if there is one and nobody owns it.
        """
        self._outbox = Outbox(path)
        if heirless is not None:
            self._outbox.inherit(heirless)
        self._pace = pace or Pace()
        self._grafana = GrafanaHttp(url.rstrip("/"), credential, self._pace.connect, self._pace.read)
        self._refusal = Refusal(path.with_name(path.name + ".refused"))
        self._stamp = ""  # of the credential file before it was read for a delivery: it may change meanwhile
        self._patience = Patience(self._pace, refused=self._refusal.stamp())
        if self._patience.refused == stamp(credential):
            log.warning("Grafana refused this credential before; no annotations until %s changes", credential.path)
        self._failures: Counter[str] = Counter()
        self._trouble: Reason | None = None  # said in the log, and not over yet
        self._tries: Counter[str] = Counter()
        self._read_back = ""  # run id of the last run whose first annotation was read back
        self._until = math.inf  # monotonic; set by close
        self._hurried = False
        self._wake = threading.Condition()
        look_again = time.monotonic() + self._pace.confirm_after
        self._unsure = {key: look_again for key, item in self._outbox.items().items() if item.posting}
        self._thread = threading.Thread(target=self._work, name="grafana-annotator", daemon=True)
        self._thread.start()

    def put(self, region: Region) -> None:
        """Store durably and return; the delivery happens behind. A full disk is counted, the region kept in memory."""
        self._note(lambda: self._outbox.put(region))
        with self._wake:
            self._wake.notify()

    def pending(self) -> int:
        """Regions not yet accepted by Grafana in their newest version."""
        return sum(item.waiting for item in self._outbox.items().values())

    def failures(self) -> Mapping[str, int]:
        """Failed deliveries so far, by reason."""
        with self._wake:
            return dict(self._failures)

    def open_regions(self) -> Sequence[Region]:
        """Regions that were put and never closed, also by an earlier process that crashed."""
        return [item.region for item in self._outbox.items().values() if not item.region.closed]

    def close(self, timeout: float) -> None:
        """Deliver what can be delivered within `timeout` seconds, then stop; the rest waits in the outbox."""
        with self._wake:
            self._until = time.monotonic() + timeout
            self._wake.notify()
        self._thread.join(timeout + 0.2)
        self._outbox.close()

    def _work(self) -> None:
        while True:
            with self._wake:
                match self._step(time.monotonic()):
                    case None:
                        return
                    case float(wait):
                        self._wake.wait(wait)
                        continue
                    case (key, item):
                        pass
            self._attempt(key, item)

    def _step(self, now: float) -> tuple[str, Item] | float | None:
        """What to do now, or for how long to wait, or None: the end."""
        if self._until < math.inf and not self._hurried:
            self._hurried = True
            self._patience.hurry()
        job = self._next(now)
        if job is None:
            wait = min((moment - now for moment in self._unsure.values()), default=IDLE)
            return wait if self._until == math.inf else None
        self._stamp = stamp(self._grafana.credential)
        wait = self._patience.delay(now, self._stamp)
        if now + wait >= self._until:
            return None
        return job if wait <= 0 else wait

    def _next(self, now: float) -> tuple[str, Item] | None:
        """The waiting region tried least often, oldest first; else one whose late copies are to be looked for."""
        items = self._outbox.items()
        waiting = [key for key, item in items.items() if item.waiting]
        if waiting:
            key = min(waiting, key=lambda key: self._tries[key])
            return key, items[key]
        closing = self._until < math.inf
        return next(((key, items[key]) for key, moment in self._unsure.items() if closing or moment <= now), None)

    def _attempt(self, key: str, item: Item) -> None:
        left = max(self._until - time.monotonic(), 0.1)
        grafana = replace(self._grafana, connect=min(self._grafana.connect, left), read=min(self._grafana.read, left))
        posting = [False]

        def before_post() -> None:
            posting[0] = True
            self._note(lambda: self._outbox.posting(key))

        try:
            if item.waiting:
                posted = deliver(grafana, item.region, before_post).posted
                self._delivered(grafana, key, item, posted=posted)
            else:
                confirm(grafana, item.region)
                self._confirmed(key)
        except GrafanaError as error:
            self._failed(key, item, error, posting=posting[0])
        else:
            self._calm()

    def _delivered(self, grafana: GrafanaHttp, key: str, item: Item, *, posted: bool) -> None:
        self._tries.pop(key, None)
        self._note(lambda: self._outbox.settle(key, item.version))
        if key not in self._unsure:
            self._note(lambda: self._outbox.confirm(key))
        if posted and item.region.run_id != self._read_back:
            self._read_back = item.region.run_id
            try:
                read_back(grafana, item.region)
            except GrafanaError as error:
                self._count(error)

    def _confirmed(self, key: str) -> None:
        """Late copies cannot come any more, or we have to close before that is sure: the file then still says so."""
        if self._unsure.pop(key) <= time.monotonic():
            self._note(lambda: self._outbox.confirm(key))

    def _failed(self, key: str, item: Item, error: GrafanaError, *, posting: bool) -> None:
        now = time.monotonic()
        self._count(error)
        self._tries[key] += 1
        self._patience.failed(error, now, self._stamp)
        if error.reason is Reason.UNAUTHORIZED:
            self._note(lambda: self._refusal.remember(self._stamp))
        if posting and error.ambiguous:
            self._unsure[key] = now + self._pace.confirm_after
        elif posting and key not in self._unsure:
            self._note(lambda: self._outbox.confirm(key))
        if not item.waiting and error.reason is Reason.GONE:
            del self._unsure[key]
            self._note(lambda: self._outbox.settle(key, item.version - 1))
        if error.reason.gives_up:
            self._give_up(key, item)

    def _give_up(self, key: str, item: Item) -> None:
        self._unsure.pop(key, None)
        self._patience.succeeded()
        self._note(lambda: self._outbox.settle(key, item.version))
        self._note(lambda: self._outbox.confirm(key))

    def _note(self, write: Callable[[], None]) -> None:
        """Write to the outbox; a full disk costs durability, not the delivery."""
        try:
            write()
        except OSError as error:
            self._count(GrafanaError(Reason.OUTBOX, f"could not write the annotation outbox: {error}; free its disk"))

    def _count(self, error: GrafanaError) -> None:
        with self._wake:
            self._failures[str(error.reason)] += 1
        if error.reason is not self._trouble:
            self._trouble = error.reason
            log.warning("an annotation was not delivered reason=%s: %s", error.reason, error)

    def _calm(self) -> None:
        self._patience.succeeded()
        if self._trouble is not None:
            self._trouble = None
            log.info("annotations are delivered again")
