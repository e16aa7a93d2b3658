"""The State of submitted jobs, looked up by the way: a Query shows what was seen last."""

from __future__ import annotations

import logging

from sssjob.gateway.log import event
from sssjob.gateway.rounds import Rounds
from sssjob.handlers.stores import Stores
from sssjob.handlers.submitting import Submission


class Looking:
    """Asks a batch system, in a thread of its own, for the jobs that were submitted to it."""

    def __init__(self, to: Submission, stores: Stores) -> None:
        self.to, self.stores = to, stores
        rounds = Rounds(
            "look", self._look, to.every, failed="jobs are not looked up", patience=to.timeout,
            first=to.every,
        )  # fmt: skip
        self.start, self.stop = rounds.start, rounds.stop

    def _look(self) -> None:
        if why := self.to.look(self.stores):
            event("jobs are known by their State only", logging.WARNING, reason=why)
