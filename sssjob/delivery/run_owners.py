"""Whose a run is: what each voice said of it, kept apart, and what follows from other runs.

A record or a file says it of its run, and a Charge does of the run that it is for; a Create, a
Modify and a Reserve ask it for the job, and so for every run. What is only inferred, as a document
of a further run has it from the others, is said by nobody: it is worked out whenever it is asked
for, so that the order in which all this was told changes nothing. # decision 1016
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sssjob import spec
from sssjob.delivery.requested import StoredRun, about, latest_before
from sssjob.delivery.runs import frame_of, in_group
from sssjob.document import loads
from sssjob.features.folded import without_run
from sssjob.model import Block, Job, JobGroup, Requested, stripped
from sssjob.runs import Run, waits
from sssjob.store import Change
from sssjob.store.flat_properties import flat_properties
from sssjob.store.ledger import EntryKind, SaidEntry
from sssjob.store.stored import DELIVERED, OF_CHARGING, is_of_create, is_of_request, of_request

SUBMITTED_BY = frozenset(row.name for row in spec.CREDENTIALS)
_MODIFY = "Modify"


@dataclass(slots=True)
class RunVoices:
    """What was said of a run by some names, and by whom; what nobody said is not there.

    ``delivered`` are the names in its Delivered that a record or a file said, and ``recorded`` is
    what records did, which a file behind them may leave out. ``own`` is what these or a Modify said
    of the job itself, and ``told`` what of it counts for other runs, too.
    ``charged`` is what Charges said last, ``asked`` what was last requested of the job, ``held``
    what Reserves requested, each with its change, and ``hoped`` what Charges of this run only
    requested. The names that are ``inferred`` stand in the job, and nobody said them.
    """

    run: StoredRun
    delivered: set[str] = field(default_factory=set)
    inferred: set[str] = field(default_factory=set)
    recorded: dict[str, str] = field(default_factory=dict)
    own: dict[str, str] = field(default_factory=dict)
    told: dict[str, str] = field(default_factory=dict)
    charged: dict[str, str] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)
    held: dict[str, tuple[int, str]] = field(default_factory=dict)
    hoped: dict[str, str] = field(default_factory=dict)

    def forget(self) -> None:
        """Begin anew, as a job does that is created where a deleted one of its Id was."""
        for names in (self.delivered, self.inferred):
            names.clear()
        for each in (self.recorded, self.own, self.told, self.charged, self.asked, self.held,
                     self.hoped):  # fmt: skip
            each.clear()

    def take(self, entry: SaidEntry) -> None:
        """Hear what an entry of the ledger says."""
        if entry.kind is EntryKind.CHARGE:
            self.charged |= entry.said.used
            self.hoped |= entry.said.asked
        else:
            for name, text in entry.said.asked.items():
                self.held.setdefault(name, (entry.change, text))

    def delivered_text(self, name: str) -> str:
        """What a record or a file delivered the run with by a name, "" for nothing."""
        there = stripped(self.run.job.delivered.text(name)) if name in self.delivered else ""
        return there or self.recorded.get(name, "")


def heard(
    change: Change, run: StoredRun, names: Collection[str], entries: Sequence[SaidEntry]
) -> RunVoices:  # fmt: skip
    """What was said of a run, by the versions of its document and by ``entries`` of the ledger.

    A version that a Charge or a Reserve made before entries kept that says what it changed.
    """
    found, before = RunVoices(run), _SaidVersion.nothing(names)
    mine = deque(each for each in entries if each.document == run.stored.number)
    numbered = zip(change.changes(run.stored), change.versions(run.stored), strict=True)
    for (number, _), stored in numbered:
        while mine and mine[0].change < number:
            found.take(mine.popleft())
        if stored.version > 1 and is_of_create(stored.reason):
            found.forget()
            before = _SaidVersion.nothing(names)
        whole = loads(stored.document)
        job = about(whole, run.job) or Job()
        if job == before.job:
            continue  # it tells of another job of the group
        if stored.version == 1 and stored.reason == DELIVERED:  # what others said is there, too
            base = without_run(job)
            before = _SaidVersion.of(base, base, names)
        now = _SaidVersion.of(whole, job, names)
        if of_request(stored.reason) in OF_CHARGING:
            _hear_request(
                found, stored.reason, before, now, [e for e in mine if e.change == number]
            )
        else:
            _hear(found, stored.reason, before, now)
        before = now
    for each in mine:
        found.take(each)
    return found


@dataclass(frozen=True, slots=True)
class _SaidVersion:
    """A version of a job by some names: what it delivered, says itself, and asks for."""

    job: Job
    waits: bool
    is_member: bool
    delivered: Mapping[str, str]
    own: Mapping[str, str]
    asked: Mapping[str, str]
    requested: Mapping[str, str]

    @classmethod
    def nothing(cls, names: Collection[str]) -> _SaidVersion:
        """Of a job of which nobody said anything."""
        return cls.of(Job(), Job(), names)

    @classmethod
    def of(cls, whole: Block, job: Job, names: Collection[str]) -> _SaidVersion:
        """Of a job, alone or with the defaults of its group."""
        frame = frame_of(whole)
        effective = job if frame is None else in_group(job, frame)
        requested = effective.holding(
            item for item in effective.items if isinstance(item, Requested)
        )
        return cls(
            job, waits(job), isinstance(whole, JobGroup),
            {name: stripped(job.delivered.text(name)) for name in names},
            {name: stripped(effective.get(name)) for name in names}, _flat(effective, names),
            _flat(requested, names),
        )  # fmt: skip


def _flat(job: Job, names: Collection[str]) -> Mapping[str, str]:
    found = flat_properties(job)
    return {name: stripped(found[name].text) if name in found else "" for name in names}


def _hear(found: RunVoices, reason: str, before: _SaidVersion, now: _SaidVersion) -> None:
    """Hear what a record, a file, or a request that works with jobs says, in a version."""
    is_modify, is_file = of_request(reason) == _MODIFY, not is_of_request(reason)
    is_record = reason == DELIVERED
    for name, own in now.own.items():
        is_anew = own != before.own[name]
        delivered = now.delivered[name]
        if delivered != before.delivered[name] or is_file or is_record:
            is_told = delivered != before.delivered[name] or name not in found.delivered
            if is_told and (is_record or (is_modify and name in found.recorded)):
                _set(found.recorded, name, delivered)
            # A record leaves what it agrees with, and so does a file of a job in a group.
            (found.delivered.add if delivered else found.delivered.discard)(name)
        if now.waits:
            if now.asked[name] != before.asked[name]:
                _set(found.asked, name, now.asked[name])
            continue
        if is_anew or (is_file and not (now.is_member and name in found.inferred)):
            _set(found.own, name, own)
            _set(found.told, name, "" if is_record else own)
            found.inferred.discard(name)
        if is_modify and now.asked[name] != before.asked[name]:
            found.charged.pop(name, None)
            found.hoped.pop(name, None)
            _set(found.asked, name, now.asked[name])
        elif is_file and now.requested[name] not in ("", before.requested[name]):
            found.asked[name] = now.requested[name]


def _hear_request(
    found: RunVoices, reason: str, before: _SaidVersion, now: _SaidVersion,
    entries: Sequence[SaidEntry],
) -> None:  # fmt: skip
    """Hear what a Charge or a Reserve changed: what its entries do not say, it inferred.

    One that was made before entries told that says all that it changed.
    """
    action = of_request(reason)
    said = {name for each in entries for name in (*each.said.used, *each.said.asked)}
    found.inferred -= said
    for name, own in now.own.items():
        is_delivered_anew = now.delivered[name] != before.delivered[name]
        if is_delivered_anew:
            found.delivered.discard(name)
        if own == before.own[name] and not is_delivered_anew:
            continue
        if entries and name not in said:
            found.inferred.add(name)
        text = now.delivered[name] or own
        if entries or not text:
            continue
        if action == EntryKind.CHARGE:
            found.charged[name] = text
        elif action == EntryKind.RESERVE:
            found.held.setdefault(name, (0, text))


def _set(texts: dict[str, str], name: str, text: str) -> None:
    if text:
        texts[name] = text
    else:
        texts.pop(name, None)


class Voices:
    """What was said of all runs of a job by some names, as it tells of one of them.

    ``told`` tells which one; ``runs`` are those that are known.
    """

    def __init__(
        self, change: Change, runs: Sequence[StoredRun], told: Job, names: Collection[str]
    ) -> None:  # fmt: skip
        entries = change.ledger.said(told.id)
        self._all = [heard(change, run, names, entries) for run in latest_before(runs, told)]

    def text(self, name: str, number: int | None = None, hoped: str = "") -> str:
        """What counts by a name for the run of a document, "" for nothing.

        Without a number that is a run that nobody knows. What a request says itself comes before
        all that no record delivered, and is not among this; ``hoped`` is what it only requests.
        """
        own = next((each for each in self._all if each.run.stored.number == number), None)
        return next(filter(None, self._said(name, own, hoped)), "")

    def delivered_text(self, name: str, number: int) -> str:
        """What a record or a file delivered the run of a document with, "" for nothing."""
        found = (each.delivered_text(name) for each in self._all
                 if each.run.stored.number == number)  # fmt: skip
        return next(found, "")

    def _said(self, name: str, own: RunVoices | None, hoped: str) -> Iterator[str]:
        others = [each for each in self._all if each is not own]
        if own is not None:
            yield own.delivered_text(name)
            yield own.charged.get(name, "")
            yield from (each.charged.get(name, "") for each in others if _has_become(each, own))
            yield own.own.get(name, "")
            yield own.asked.get(name, "")
        yield from (each.asked.get(name, "") for each in others)
        held = [each.held[name] for each in self._all if name in each.held]
        if held:
            yield min(held)[1]
        yield hoped
        if own is not None:
            yield own.hoped.get(name, "")
        for each in others:
            if name in SUBMITTED_BY:
                yield each.delivered_text(name)
            yield each.told.get(name, "")


def _has_become(other: RunVoices, own: RunVoices) -> bool:
    """Whether a document was hidden as a group has taken its run in."""
    one, run = Run.of_job(other.run.job), Run.of_job(own.run.job)
    return other.run.stored.deleted and not waits(other.run.job) and run.is_of_by_times(one)
