"""Pilots in the order in which a site would end them, by the use cases 9 to 12 of the draft."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sssjob.errors import Finding
from sssjob.features import keys, status
from sssjob.features.keys import Value
from sssjob.features.read import modern
from sssjob.features.read import read as read_features
from sssjob.features.status import LockTimeout, StatusSnapshot
from sssjob.features.waste import Figure, Number, Outlook, outlook

# Why a pilot is to be ended: what counts first, then what decides between equals. # decision 271
PURPOSES: Mapping[str, tuple[str, ...]] = {
    "drain": ("draining_waste", "remaining_time_expected", "remaining_time_enforced"),
    "kill": ("kill_waste", "remaining_time_expected", "remaining_time_enforced"),
    "wait": ("remaining_time_expected", "remaining_time_enforced", "draining_waste"),
}


@dataclass(frozen=True, slots=True)
class RankedPilot:
    """A pilot: where its status is, whose it is, and what it would cost to end it.

    ``problem`` says why nothing, or nothing certain, is known of it.
    """

    place: str
    job_id: str = ""
    owner: int | None = None
    snapshot: StatusSnapshot | None = None
    outlook: Outlook | None = None
    problem: str = ""
    findings: tuple[Finding, ...] = field(default=(), compare=False)

    @property
    def values(self) -> Mapping[str, Value]:
        """What the pilot said."""
        return {} if self.snapshot is None else self.snapshot.values

    @property
    def retires(self) -> bool:
        """Whether it fetches no more work: it drains by itself."""
        return self.values.get("can_postpone_last_job") == "False"

    def figure(self, name: str) -> Figure | None:
        """One of the derived values."""
        found: Figure | None = getattr(self.outlook, name, None)
        return found


def look(
    place: str, *, allocated: int | None = None, wait: float = 2.0, now: float | None = None
) -> RankedPilot:
    """The pilot in a directory: a $JOBSTATUS, or one that holds ``jobstatus`` and ``jobfeatures``.

    allocated_CPU comes from the ``jobfeatures`` in it or beside it, unless it is given. Whatever
    cannot be read is a problem of this pilot. ``now`` is for what is known at another moment.
    """
    inner = os.path.join(place, "jobstatus")
    directory = inner if os.path.isdir(inner) else place
    beside = os.path.join(os.path.dirname(directory.rstrip("/")) or ".", "jobfeatures")
    job, findings = _features(beside)
    snapshot: StatusSnapshot | None = None
    problem = ""
    try:
        owner = os.stat(directory).st_uid
        snapshot = status.read(directory, wait=wait)
        if snapshot is None:
            problem = "it has no status yet"
    except LockTimeout as error:
        snapshot, problem = error.snapshot, "it keeps the lock: what it says may be torn"
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        return RankedPilot(place, problem=reason or str(error), findings=findings)
    id_ = str(job.get("job_id", ""))
    if snapshot is None:
        return RankedPilot(place, id_, owner, problem=problem, findings=findings)
    cores = job.get("allocated_cpu") if allocated is None else allocated
    number = cores if isinstance(cores, int) else None
    seen = outlook(snapshot.values, number, snapshot.now if now is None else now)
    return RankedPilot(place, id_, owner, snapshot, seen, problem, (*findings, *snapshot.findings))


def ranked(pilots: Iterable[RankedPilot], purpose: str) -> list[RankedPilot]:
    """Pilots, the one that costs least to end first; those of which too little is known last.

    A pilot that fetches no more work drains already: what stands idle in it is lost anyway, and
    only its end is certain to come. priority_factor decides between equals of one user, and only
    there: it is not "to compare jobs of different users". What decides between equals of several
    users is their order before.
    """
    found = sorted(enumerate(pilots), key=lambda item: _cost(item[1], purpose))
    first = {_group(pilot, purpose): index for index, pilot in reversed(found)}
    return [
        pilot
        for _, pilot in sorted(
            found,
            key=lambda item: (
                _cost(item[1], purpose), first[_group(item[1], purpose)], _priority(item[1])
            ),
        )
    ]  # fmt: skip


def _cost(pilot: RankedPilot, purpose: str) -> tuple[tuple[bool, Number], ...]:
    """What counts, each with whether it is not known."""
    first, *others = (_known(pilot.figure(name)) for name in PURPOSES[purpose])
    goes_on = (pilot.outlook is None, 0 if pilot.retires else 1)
    if purpose == "wait":
        return (goes_on, first, *others)
    if purpose == "drain" and pilot.retires:
        first = (False, 0)
    return (first, goes_on, *others)


def _known(figure: Figure | None) -> tuple[bool, Number]:
    return (figure is None, 0 if figure is None else figure.value)


def _group(pilot: RankedPilot, purpose: str) -> tuple[object, ...]:
    """Pilots of one user that cost the same."""
    return (pilot.owner, *_cost(pilot, purpose))


def _priority(pilot: RankedPilot) -> Number:
    value = pilot.values.get("priority_factor", 0)
    return value if isinstance(value, int | Fraction) else 0


def _features(directory: str) -> tuple[Mapping[str, Value], tuple[Finding, ...]]:
    try:
        found = modern(read_features(directory, keys.JOB_FEATURES))
    except OSError:
        return {}, ()  # not every pilot has its features beside its status
    return found.values, found.findings
