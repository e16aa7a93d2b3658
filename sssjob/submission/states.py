"""What became of jobs that were submitted: their batch system is asked for all of them at once.

The list from which marks are read tells their States. What else there is, such as times and what
was delivered, is what ``sssjob status`` reads, and is asked for where a State has changed.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from sssjob import registry
from sssjob.commands import CommandFailed
from sssjob.errors import InvalidValue, UnusableInput
from sssjob.fold import DELIVERED, JOB, Fact, fold
from sssjob.model import Block, Job, stripped
from sssjob.records import read_records
from sssjob.records.builders import OBJECTS
from sssjob.records.recognition import HEAD, recognise
from sssjob.records.record import Bad, Converted, Options
from sssjob.states import is_over
from sssjob.submission.calling import Caller, How
from sssjob.submission.control import RUNNING, control
from sssjob.submission.editing import Edited, setting
from sssjob.submission.places import Place

# What only a batch system says of a job, beside its State and when it was submitted.
BECAME = (
    "CpuDuration", "EndTime", "ExitCode", "StartCount", "StartTime", "SuspendDuration",
)  # fmt: skip
# What is told of a job while it runs and is its own: how long it has run, say, is not known yet.
_GIVEN = frozenset((
    "Node", "NodeCount", "Partition", "Processors", "Project", "QualityOfService", "Queue",
    "StartCount", "StartTime",
))  # fmt: skip


class Now(NamedTuple):
    """A job, its State now, and what else became of it; "" where its system knows it no more."""

    job: Job
    state: str
    facts: tuple[Fact, ...] = ()


class Known(NamedTuple):
    """What became of jobs; ``why`` tells why there is nothing of it but the State."""

    jobs: tuple[Now, ...]
    why: str = ""


def states(jobs: Iterable[Job], to: str, how: How | None = None) -> Known:
    """What became of each job.

    Raises ``CommandFailed`` where the batch system does not answer, and ``UnusableInput`` for what
    takes no jobs.
    """
    caller = Caller(control(to), how or How())
    there = {seen.id: seen.state for seen in caller.there()}
    found = [Now(job, there.get(job.id, "") or _ended(caller, job)) for job in jobs]
    asked = frozenset(each.job.id for each in found if _is_news(each))
    if not asked:
        return Known(tuple(found))
    try:
        facts, why = _facts(caller, asked)
    except (CommandFailed, UnusableInput) as error:
        return Known(tuple(found), str(error))
    return Known(tuple(each._replace(facts=facts.get(each.job.id, ())) for each in found), why)


def is_there(job: Block, to: str, how: How | None = None) -> bool:
    """Whether the batch system has a job with the mark of this one. Raises ``CommandFailed``."""
    return Caller(control(to), how or How()).find(stripped(job.get("GlobalId"))) is not None


def record(place: Place, now: Now) -> None:
    """Write what became of a job into its document. Raises ``Changed``."""

    def edit(old: Job) -> Job:
        new = fold(old, now.facts).job if now.facts else old
        before = old.get("State")
        return new if before == now.state or is_over(before) else new.setting(State=now.state)

    setting(place, Edited(stripped(now.job.get("GlobalId")), now.job.id, edit))


def _ended(caller: Caller, job: Job) -> str:
    """The State of a job that is not among those that are there."""
    try:
        found = caller.job(job.id) or caller.find(stripped(job.get("GlobalId")))
    except InvalidValue:
        return ""
    return found.state if found is not None and found.id == job.id else ""


def _is_news(now: Now) -> bool:
    """Whether there may be more to know of a job than its document says."""
    if not now.state:
        return False
    begun = now.state == RUNNING and not now.job.get("StartTime")
    ended = is_over(now.state) and not now.job.get("EndTime")
    return begun or ended or now.state != stripped(now.job.get("State"))


def _facts(
    caller: Caller, wanted: frozenset[str]
) -> tuple[Mapping[str, tuple[Fact, ...]], str]:  # fmt: skip
    """What a batch system shows of some jobs, by their ids; and what of it cannot be read.

    Raises ``CommandFailed`` and ``UnusableInput``.
    """
    status = registry.all_statuses().get(caller.control.system)
    if status is None:
        return {}, ""
    environment = dict(status.environment)
    printed = b"\n".join(caller.shown(words, environment) for words in status.past or status.ask[0])
    if not printed.strip():
        return {}, ""
    found = recognise(printed[:HEAD], status.formats).format
    options = Options(zone=environment.get("TZ", ""))
    facts: dict[str, tuple[Fact, ...]] = {}
    why = ""
    for each in read_records(found, io.BytesIO(printed), options, OBJECTS):
        if isinstance(each, Converted) and each.job.id in wanted:
            over = is_over(each.job.get("State"))
            facts[each.job.id] = tuple(
                fact for fact in _of(each.job) if over or fact.item.name in _GIVEN
            )
        elif isinstance(each, Bad):
            why = why or each.reason
    return facts, "" if facts.keys() >= wanted else why


def _of(job: Job) -> Iterator[Fact]:
    """What became of a job that is shown; what it was asked for is known better here."""
    for item in job.properties:
        if item.name in BECAME:
            yield Fact(item, JOB)
    for item in job.delivered:
        yield Fact(item, DELIVERED)
