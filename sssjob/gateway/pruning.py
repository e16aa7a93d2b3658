"""What need not be kept any longer goes away by rule: once at the start, and every hour."""

from __future__ import annotations

import time
from collections.abc import Callable

from sssjob.gateway.log import event
from sssjob.gateway.rounds import Rounds
from sssjob.handlers.service import Service

_EVERY = 3600.0  # seconds


class Pruning:
    """Forgets, in a thread of its own, quotes and reservations that ended long ago.

    Answers that nobody can ask for again are forgotten, too.
    """

    def __init__(self, service: Service, *, clock: Callable[[], float] = time.time) -> None:
        self.service, self.clock = service, clock
        rounds = Rounds(
            "prune", self.prune, _EVERY, failed="ledger not pruned",
            patience=service.stores.patience,
        )  # fmt: skip
        self.start, self.stop = rounds.start, rounds.stop

    def prune(self) -> int:
        """Forget what is too old by now; how many entries of the ledger those were."""
        rule, now = self.service.settings.accounting, int(self.clock())
        with self.service.stores.use() as jobs:
            count = jobs.prune(quotes=now - rule.kept, answers=now - rule.repeated)
        if count:
            event("ledger pruned", entries=count)
        return count
