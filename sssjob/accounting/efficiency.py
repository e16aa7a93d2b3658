"""What a job used of what it held and asked for, and what to ask for next time.

The sides are those of reports (``report.used``): CPU time of wall time by processors, memory of
memory requested, wall time of the time requested.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from sssjob import units
from sssjob.accounting.report import JobProperties, used
from sssjob.errors import InvalidValue
from sssjob.measures import Number
from sssjob.model import Job
from sssjob.resource_names import gpu_model
from sssjob.usage import usages

CPU, MEMORY, TIME, GPU = "CPU time", "memory", "time", "GPU time"
SECONDS, BYTES = "s", "B"

_LITTLE = Fraction(1, 2)  # of what was asked for: less is worth a word
_ALL = Fraction(19, 20)  # more is near to what ends a job
_SPARE = Fraction(5, 4)  # of what was used, to ask for the next time
_BRIEF = 60  # seconds; what a job used in less time is mostly its start and its end
_SHORT = 600  # seconds; nobody waits longer for a job that asks for no more
_SMALL = 1 << 30  # bytes, as for memory
_MOST = 10**18  # seconds or bytes; a document may state more, and that is no measurement


class UsedShare(NamedTuple):
    """How much was used ``of`` what was held or asked for, in seconds or bytes (``unit``)."""

    what: str
    used: Number
    of: Number
    unit: str

    @property
    def part(self) -> Fraction:
        """The part that was used: 1 is all of it, and there may have been more."""
        return Fraction(self.used) / Fraction(self.of)

    @property
    def words(self) -> str:
        """Both amounts: ``1:00:00 of 2:00:00``, ``1.49 GB, more than 1.46 GB``."""
        between = ", more than" if self.used > self.of else " of"
        return f"{amount(self.used, self.unit)}{between} {amount(self.of, self.unit)}"


class _Limit(NamedTuple):
    """What is said of a share that ends a job: near to it, beyond it, and far from it, with what
    would do.

    No word is said of jobs that ask for no more than ``small``.
    """

    what: str
    small: int
    near: str
    over: str
    far: str


_LIMITS = (
    _Limit(
        MEMORY, _SMALL, "Nearly all memory was used ({}): ask for more, so that it is not killed.",
        "More memory was used than it had ({}): ask for more, so that it is not killed.",
        "Of the memory {} was used: {} would do.",
    ),
    _Limit(
        TIME, _SHORT, "It used its time ({}): ask for more, or save and go on in another job.",
        "It ran longer than its time ({}): ask for more, or save and go on in another job.",
        "It ran for {}: a job that asks for {} may start earlier.",
    ),
)  # fmt: skip


def shares(job: Job) -> tuple[UsedShare, ...]:
    """What a job used of what it held or asked for, as far as it states both sides.

    The job has its defaults applied.
    """
    facts = JobProperties(job)
    told = used(facts)
    sides = (
        (CPU, told.cpu, told.slots, SECONDS),
        (MEMORY, told.memory, told.asked, BYTES),
        (TIME, told.wall, facts.asked("Duration"), SECONDS),
        (GPU, *gpu_seconds(job), SECONDS),
    )
    return tuple(
        UsedShare(what, some, of, unit)
        for what, some, of, unit in sides
        if some is not None and of is not None and 0 <= some < _MOST and 0 < of < _MOST
    )


def gpu_seconds(job: Job) -> tuple[Number | None, Number | None]:
    """How long GPUs were busy, and how long those were held of which a job says how busy they
    were (``consumptionRate``); None for both where it says that of none.
    """
    try:
        told = [
            each for each in usages(job)
            if "consumptionRate" in each.item.attributes
            and gpu_model(each.item.attributes) is not None
        ]  # fmt: skip
    except InvalidValue:
        return None, None
    if not told:
        return None, None
    return sum(each.total for each in told), sum(each.held for each in told)


def advice(job: Job) -> tuple[str, ...]:
    """What to ask for next time, a sentence each.

    Nothing of a job that has not ended, or that ran for less than a minute.
    """
    facts = JobProperties(job)
    wall = used(facts).wall
    if facts.ended is None or (wall is not None and wall < _BRIEF):
        return ()
    found = {share.what: share for share in shares(job)}
    told = [*_of_cpu(found.get(CPU), used(facts).processors)]
    for limit in _LIMITS:
        told += _of_limit(found.get(limit.what), limit)
    return tuple(told)


def amount(number: Number, unit: str) -> str:
    """A number of seconds, of bytes, or of anything ("") as people read it.

    >>> amount(3661, SECONDS), amount(3 << 29, BYTES), amount(4, "")
    ('01:01:01', '1.5 GB', '4')
    """
    if not unit or not 0 <= number < _MOST:
        return units.decimal(number)
    if unit == SECONDS:
        return units.clock(int(number))
    return units.size(number)


def _of_cpu(share: UsedShare | None, processors: Number | None) -> Iterator[str]:
    if share is None or share.part >= _LITTLE:
        return
    if processors is not None and 1 < processors < _MOST:
        busy = float(share.part * Fraction(processors))
        yield (
            f"Of {int(processors)} processors about {busy:.2g} were busy: ask for fewer, or look "
            "for what the others waited for."
        )
    else:
        yield "The processor waited most of the time: look for what the job waited for."


def _of_limit(share: UsedShare | None, limit: _Limit) -> Iterator[str]:
    if share is None:
        return
    if share.part > _ALL:
        yield (limit.over if share.part > 1 else limit.near).format(share.words)
    elif share.part < _LITTLE and share.of > limit.small:
        enough = amount(Fraction(share.used) * _SPARE, share.unit)
        yield limit.far.format(share.words, enough)
