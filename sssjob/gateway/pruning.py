"""What need not be kept any longer goes away by rule: once at the start, and every hour."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from sssjob.errors import Refused, UnusableStore
from sssjob.gateway.log import event
from sssjob.handlers.service import Service

_EVERY = 3600.0  # seconds


class Pruning:
    """Forgets, in a thread of its own, quotes and reservations that ended long ago.

    Answers that nobody can ask for again are forgotten, too.
    """

    def __init__(self, service: Service, *, clock: Callable[[], float] = time.time) -> None:
        self.service, self.clock = service, clock
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="prune", daemon=True)

    def start(self) -> None:
        """Begin, in another thread."""
        self._thread.start()

    def stop(self) -> None:
        """End after what is being done now."""
        self._stopping.set()
        self._thread.join(self.service.stores.patience)

    def prune(self) -> int:
        """Forget what is too old by now; how many entries of the ledger those were."""
        rule, now = self.service.settings.accounting, int(self.clock())
        with self.service.stores.use() as jobs:
            return jobs.prune(quotes=now - rule.kept, answers=now - rule.repeated)

    def _run(self) -> None:
        while True:
            try:
                if count := self.prune():
                    event("ledger pruned", entries=count)
            except (Refused, UnusableStore) as error:
                event("ledger not pruned", logging.WARNING, reason=str(error))
            if self._stopping.wait(_EVERY):
                return
