"""Who is charged for a job, where a Charge names another one than is known: said, never silent.

What a record delivered of a run tells who ran it, and counts: a Charge that names another User,
Project or Machine changes neither that nor whom it is booked on, and so it is with what has a
factor, as a QualityOfService. What an earlier Charge said, and what a job only requested, it names
anew. Who is charged is told in either case. What a Charge does not name stays, in whatever form it
comes.
# decisions 942, 999, 1002 and 1009
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from sssjob.handlers.attributes import shown
from sssjob.handlers.ledger_entries import text
from sssjob.handlers.view import View
from sssjob.model import Delivered, Job, Property, Requested, stripped, without

PAYERS = ("User", "Project", "Machine")  # who is charged


class _KeptName(NamedTuple):
    """A name by which a run was delivered, and by which a Charge does not call it."""

    name: str
    told: str
    delivered: str

    def said(self) -> str:
        delivered, told = map(shown, (self.delivered, self.told))
        how = f"to {delivered}" if self.name in PAYERS else "by it"
        return (
            f"{self.name} {delivered} is kept, not {told}: the run was delivered with it, "
            f"and is charged {how}"
        )


class Payers:
    """The names in a Charge, beside those of the job that is known; ``factors`` are more names.

    ``was_brought`` says whether a record or a file delivered the run with what it has by a name.
    """

    def __init__(
        self, known: View, written: Job, sent: Job, factors: Iterable[str],
        was_brought: Callable[[str], bool],
    ) -> None:  # fmt: skip
        self._known = known
        names = dict.fromkeys((*PAYERS, *factors))
        self._said = [each for each in names if sent.get(each) or used_by(sent, each)]
        others = [each for name in self._said for each in _kept(name, written, sent)]
        self._kept = [each for each in others if was_brought(each.name)]
        self._anew = [each.name for each in others if each not in self._kept]

    def said(self, now: View) -> str:
        """What is to be told of who is charged, of the job that the Charge has made."""
        return "\n".join((*(each.said() for each in self._kept), *self._changed(now)))

    def _changed(self, now: View) -> Iterable[str]:
        id_ = now.block.id
        for name in PAYERS:
            was, is_ = text(self._known, name), text(now, name)
            if was and is_ and is_ != was:
                told = f"{shown(is_)} now, not {shown(was)}; {shown(is_)} is charged"
                yield f"{name} of job {id_} is {told}"

    def without_said_anew(self, known: Job) -> Job:
        """The job that is known, but for what an earlier Charge delivered and this one corrects."""
        for name in self._anew:
            known = known.holding(
                without(item, name) if isinstance(item, Delivered) else item for item in known.items
            )
        return known

    def without_kept(self, sent: Job) -> Job:
        """What is laid over the job that is known: names that stay are not in it."""
        for each in self._kept:
            used = (
                without(item, each.name) if isinstance(item, Delivered) else item
                for item in sent.items
            )
            sent = without(sent.holding(used), each.name)
        return sent

    def settled(self, job: Job) -> Job:
        """The job that the Charge has made, by the names alone by which that says that it ran."""
        for name in self._said:
            own, delivered = job.get(name), stripped(job.delivered.text(name))
            if own and delivered and own != delivered:
                job = without(job, name)
        return job


def used_by(sent: Job, name: str) -> str:
    """Who a Charge says that used a job, by a name; "" for nobody."""
    is_told_apart = sent.block(Delivered) is not None
    return (is_told_apart and stripped(sent.delivered.text(name))) or sent.get(name)


def hoped_by(sent: Job, name: str) -> str:
    """Who a request says that is to use a job, by a name; "" for nobody."""
    return "" if sent.block(Requested) is None else stripped(sent.requested.text(name))


# decision 1017
def naming(sent: Job, names: Iterable[str]) -> Job:
    """A Charge that says of the job itself by what names it was used.

    What stands in Delivered is then what a record or a file delivered, whichever came first.
    """
    told = {*sent.delivered.names()}
    for name in names:
        text = stripped(sent.delivered.text(name)) if name in told else ""
        if text:
            used = (
                without(item, name) if isinstance(item, Delivered) else item for item in sent.items
            )
            found = Property(name, text, {}, (), sent.namespace)
            sent = sent.holding(used).setting(found)
    return sent


def reserved_for(id_: str, known: View, asked: View) -> str:
    """What is to be told where a Reserve names somebody else than the job, which stays his."""
    names = [(name, text(known, name), text(asked, name)) for name in PAYERS]
    return "\n".join(
        f"{name} of job {id_} stays {shown(own)}; what is reserved is for {shown(other)}"
        for name, own, other in names if own and other and own != other
    )  # fmt: skip


def _kept(name: str, known: Job, sent: Job) -> Iterable[_KeptName]:
    """A name by which a run was delivered, if a Charge says another one that was used, anywhere."""
    delivered = stripped(known.delivered.text(name))
    for told in (sent.get(name), stripped(sent.delivered.text(name))):
        if delivered and told and told != delivered:
            yield _KeptName(name, told, delivered)
            return
