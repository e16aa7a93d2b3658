"""Who is charged for a job, where a Charge names another one than is known: said, never silent.

What a record delivered of a run tells who ran it, and counts: a Charge that names another User,
Project or Machine changes neither that nor whom it is booked on, and so it is with what has a
factor, as a QualityOfService. What a job only requested it names anew. Who is charged is told in
either case. What a Charge does not name stays, in whatever form it comes.
# decisions 942 and 1002
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sssjob.fold import DELIVERED, Fact, placed
from sssjob.handlers.attributes import shown
from sssjob.handlers.ledger_entries import text
from sssjob.handlers.view import View, only
from sssjob.model import Block, Delivered, Job, Property, stripped, without

_NAMES = ("User", "Project", "Machine")


class _Payer(NamedTuple):
    """A name by which somebody is charged: as a Charge says it, as it was known, and delivered."""

    name: str
    told: str
    known: str
    delivered: str

    @property
    def is_payer(self) -> bool:
        """Whether it names who is charged, and is no factor of the price."""
        return self.name in _NAMES

    @property
    def is_kept(self) -> bool:
        """Whether a record knows better than the Charge."""
        return bool(self.told and self.delivered) and self.told != self.delivered

    def said(self, id_: str) -> str:
        """What is to be told of it, "" for nothing."""
        told, known, delivered = map(shown, (self.told, self.known, self.delivered))
        if self.is_kept:
            how = f"to {delivered}" if self.is_payer else "by it"
            return (
                f"{self.name} {delivered} is kept, not {told}: the run was delivered with it, "
                f"and is charged {how}"
            )
        if self.is_payer and self.told and self.known and self.told != self.known:
            return f"{self.name} of job {id_} is {told} now, not {known}; {told} is charged"
        return ""


class Payers:
    """The names in a Charge, beside those of the job that is known; ``factors`` are more names."""

    def __init__(self, known: View, written: Job, sent: Job, factors: Iterable[str]) -> None:
        asked = only(sent)
        self._written = written
        self._names = [
            _Payer(name, text(asked, name), text(known, name), _delivered(written, name))
            for name in (*_NAMES, *(each for each in factors if each not in _NAMES))
        ]

    def said(self) -> str:
        """What is to be told of who is charged."""
        return "\n".join(filter(None, (each.said(self._written.id) for each in self._names)))

    def without_kept(self, sent: Job) -> Job:
        """What is folded into the job that is known: names that stay are not in it."""
        for each in self._names:
            if each.is_kept:
                sent = without(sent, each.name)
        return sent

    def delivered(self, job: Job) -> Job:
        """A job with the names in its Delivered that one had whose place it may have taken."""
        for each in self._names:
            if each.delivered and each.delivered != _delivered(job, each.name):
                fact = Fact(Property(each.name, each.delivered), DELIVERED)
                job = placed(_undelivered(job, each.name), fact)
        return job


def _undelivered(job: Job, name: str) -> Job:
    return job.holding(
        without(item, name) if isinstance(item, Delivered) else item for item in job.items
    )


def _delivered(job: Block, name: str) -> str:
    return stripped(job.delivered.text(name))
