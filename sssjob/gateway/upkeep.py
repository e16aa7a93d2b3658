"""What a gateway does by the way: submitted jobs are looked up, and what is too old goes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from sssjob.gateway.log import event
from sssjob.gateway.rounds import Rounds
from sssjob.handlers.service import Service
from sssjob.handlers.stores import Stores
from sssjob.handlers.submitting import GatewaySubmission

_EVERY = 60.0  # seconds between two looks at answers that are too old
_SELDOM = 3600.0  # and at quotes and reservations


class Looking:
    """Asks a batch system, in a thread of its own, for the jobs that were submitted to it."""

    def __init__(self, to: GatewaySubmission, stores: Stores) -> None:
        self.to, self.stores = to, stores
        rounds = Rounds(
            "look", self._look, to.every, failed="jobs are not looked up", patience=to.timeout,
            first=to.every,
        )  # fmt: skip
        self.start, self.stop = rounds.start, rounds.stop

    def _look(self) -> None:
        if why := self.to.look(self.stores):
            event("jobs are known by their State only", logging.WARNING, reason=why)


class Pruning:
    """Forgets, in a thread of its own, quotes and reservations that ended long ago.

    Answers that nobody can ask for again are forgotten, too, and often: those of an hour would hold
    up all others, and stay in the memory of a connection that is not used for the next one.
    Another process may hold the store for longer than the end of this one may take: ``grace`` is
    how many seconds a round is waited for.
    """

    def __init__(
        self, service: Service, *, grace: float, clock: Callable[[], float] = time.time
    ) -> None:
        self.service, self.clock = service, clock
        self._due = 0.0
        # What is not forgotten at the end is forgotten at the next beginning.
        rounds = Rounds("prune", self.prune, _EVERY, failed="ledger not pruned", patience=grace)
        self.start, self.stop = rounds.start, rounds.stop

    def prune(self) -> int:
        """Forget what is too old by now; how many entries of the ledger those were."""
        rule, now = self.service.settings.accounting, int(self.clock())
        is_due = now >= self._due
        with self.service.stores.use() as jobs:
            count = jobs.prune(
                quotes=now - rule.kept if is_due else None, answers=now - rule.repeated
            )
        self.service.stores.leave()
        if is_due:
            self._due = now + _SELDOM
        if count:
            event("ledger pruned", entries=count)
        return count
