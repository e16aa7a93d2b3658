"""Summaries: what jobs used, added up by user, group, project, queue, machine, state and time.

Memory grows with the number of groups, not with that of jobs. Sums are exact; what a job does not
state is not part of a sum, and efficiencies are those of the jobs that state both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from fractions import Fraction
from typing import Any, NamedTuple

from sssjob import defaults
from sssjob.amounts import Amount, Scope
from sssjob.errors import Finding, InvalidValue
from sssjob.model import Block, Job, JobGroup

Key = tuple[str, ...]
Grouping = Callable[[Job, tzinfo], str]


class Used(NamedTuple):
    """What one job used; None is not stated. Times are in seconds, memory in bytes.

    ``slots`` is wall time by processors; a job that states no processors held one.
    """

    wall: Fraction | None = None
    slots: Fraction | None = None
    cpu: Fraction | None = None
    processors: Fraction | None = None
    memory: Fraction | None = None
    asked: Fraction | None = None


def used(job: Job) -> Used:
    """What a job used, delivered before its own properties.

    Memory is the most that was measured (metric Max), or else what was given.
    """
    scope = Scope(job, "/Job", _unheard)
    wall = _first(scope.delivered("Duration"), scope.bare("Duration"))
    processors = _first(
        scope.delivered("Processors"), scope.dedicated("Processors"), scope.bare("Processors")
    )
    return Used(
        wall,
        None if wall is None else wall * (1 if processors is None else processors),
        _first(scope.bare("CpuDuration"), scope.delivered("CpuDuration")),
        processors,
        _most(job, scope),
        _asked(scope),
    )


@dataclass(slots=True)
class Totals:
    """The sums of a group of jobs."""

    jobs: int = 0
    wall: Fraction = Fraction(0)
    slots: Fraction = Fraction(0)
    cpu: Fraction = Fraction(0)
    processors: Fraction = Fraction(0)
    memory: Fraction = Fraction(0)
    most_memory: Fraction | None = None
    with_processors: int = 0
    with_memory: int = 0
    # The sides of the efficiencies, of jobs that state both.
    _cpu_of: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))
    _memory_of: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))

    def add(self, job: Used) -> None:
        """Count one job."""
        self.jobs += 1
        self.wall += job.wall or 0
        self.slots += job.slots or 0
        self.cpu += job.cpu or 0
        if job.processors is not None:
            self.processors += job.processors
            self.with_processors += 1
        if job.memory is not None:
            self.memory += job.memory
            self.with_memory += 1
            self.most_memory = max(job.memory, self.most_memory or job.memory)
        self._cpu_of = _plus(self._cpu_of, job.cpu, job.slots)
        self._memory_of = _plus(self._memory_of, job.memory, job.asked)

    def merge(self, other: Totals) -> None:
        """Count all jobs of another group."""
        for name in ("jobs", "wall", "slots", "cpu", "processors", "memory"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.with_processors += other.with_processors
        self.with_memory += other.with_memory
        if other.most_memory is not None:
            self.most_memory = max(other.most_memory, self.most_memory or other.most_memory)
        self._cpu_of = _plus(self._cpu_of, *other._cpu_of)
        self._memory_of = _plus(self._memory_of, *other._memory_of)

    @property
    def mean_processors(self) -> Fraction | None:
        """Processors of a job on average, of the jobs that state them."""
        return self.processors / self.with_processors if self.with_processors else None

    @property
    def mean_memory(self) -> Fraction | None:
        """Bytes of a job on average, of the jobs that state them."""
        return self.memory / self.with_memory if self.with_memory else None

    @property
    def efficiency(self) -> Fraction | None:
        """CPU time as a part of wall time by processors."""
        return _part(self._cpu_of)

    @property
    def memory_efficiency(self) -> Fraction | None:
        """Memory used as a part of memory requested."""
        return _part(self._memory_of)


class Measure(NamedTuple):
    """A column of a report: its name, its heading, and how it is printed for people."""

    name: str
    heading: str
    of: Callable[[Totals], Fraction | int | None]
    form: str


# How numbers are printed for people: counts, hours of seconds, parts in per cent, GB of bytes.
COUNT, HOURS, MEAN, PART, SIZE = "count", "hours", "mean", "part", "size"

# fmt: off
MEASURES: tuple[Measure, ...] = (
    Measure("jobs",              "jobs",       lambda of: of.jobs,              COUNT),
    Measure("wall_seconds",      "wall h",     lambda of: of.wall,              HOURS),
    Measure("processor_seconds", "proc h",     lambda of: of.slots,             HOURS),
    Measure("cpu_seconds",       "CPU h",      lambda of: of.cpu,               HOURS),
    Measure("efficiency",        "CPU eff.",   lambda of: of.efficiency,        PART),
    Measure("processors",        "processors", lambda of: of.mean_processors,   MEAN),
    Measure("memory_bytes",      "memory GB",  lambda of: of.mean_memory,       SIZE),
    Measure("memory_max_bytes",  "most GB",    lambda of: of.most_memory,       SIZE),
    Measure("memory_efficiency", "mem. eff.",  lambda of: of.memory_efficiency, PART),
)
# fmt: on


def _property(*names: str) -> Grouping:
    return lambda job, zone: _said(job, names)


def _span(form: str) -> Grouping:
    def shown(job: Job, zone: tzinfo) -> str:
        end = ended(job)
        return "" if end is None else f"{datetime.fromtimestamp(end, zone):{form}}"

    return shown


# fmt: off
GROUPINGS: dict[str, Grouping] = {
    "user":        _property("User"),
    "global-user": _property("GlobalUser"),
    "group":       _property("Group"),
    "project":     _property("Project", "Account"),
    "queue":       _property("Queue"),
    "partition":   _property("Partition"),
    "machine":     _property("Machine"),
    "qos":         _property("QualityOfService"),
    "application": _property("Application"),
    "state":       _property("State"),
    "status":      _property("StatusMessage"),
    "hour":        _span("%Y-%m-%d %H:00"),
    "day":         _span("%Y-%m-%d"),
    "week":        _span("%G-W%V"),
    "month":       _span("%Y-%m"),
    "year":        _span("%Y"),
}
# fmt: on
SPANS = ("hour", "day", "week", "month", "year")


@dataclass(slots=True)
class Report:
    """The totals of each group, by the values of ``by`` (names of ``GROUPINGS``).

    Only jobs that ended at ``since`` or later and before ``until`` count, in seconds since
    1970-01-01T00:00:00Z; ``outside`` is how many others there were. ``zone`` is that of spans.
    """

    by: tuple[str, ...] = ("user",)
    since: int | None = None
    until: int | None = None
    zone: tzinfo = UTC
    groups: dict[Key, Totals] = field(default_factory=dict)
    outside: int = 0

    def add(self, block: Block) -> None:
        """Count a job, or the jobs of a JobGroup with their defaults."""
        for job in jobs(block):
            if not self._counts(job):
                self.outside += 1
                continue
            key = tuple(GROUPINGS[name](job, self.zone) for name in self.by)
            totals = self.groups.get(key)
            if totals is None:
                totals = self.groups[key] = Totals()
            totals.add(used(job))

    @property
    def total(self) -> Totals:
        """The sums of all groups."""
        return merged(self.groups.values())

    def rows(self, sort: str = "", limit: int | None = None) -> list[tuple[Key, Totals]]:
        """The groups in order: by a measure downwards, or by time and then by processor hours.

        Without ``sort`` the spans of time that lead ``by`` go upwards.
        """
        measure = next((each for each in MEASURES if each.name == sort), None)
        spans = 0
        while measure is None and spans < len(self.by) and self.by[spans] in SPANS:
            spans += 1

        def order(row: tuple[Key, Totals]) -> tuple[Any, ...]:
            key, totals = row
            value = totals.slots if measure is None else measure.of(totals)
            return key[:spans], value is None, -(value or 0), key

        return sorted(self.groups.items(), key=order)[:limit]

    def _counts(self, job: Job) -> bool:
        if self.since is None and self.until is None:
            return True
        end = ended(job)
        if end is None:
            return False
        return (self.since is None or end >= self.since) and (
            self.until is None or end < self.until
        )


def merged(groups: Iterable[Totals]) -> Totals:
    """Several groups as one."""
    found = Totals()
    for totals in groups:
        found.merge(totals)
    return found


def jobs(block: Block) -> Iterator[Job]:
    """The jobs of a document, each with its defaults applied; references are none."""
    if isinstance(block, JobGroup):
        block = defaults.resolve(block).block
        assert isinstance(block, JobGroup)
        yield from (job for job in block.jobs if type(job) is Job)
    elif isinstance(block, Job):
        yield block


def ended(job: Job) -> int | None:
    """When a job ended; None if it did not, or where that cannot be read."""
    try:
        value = job.properties.value("EndTime")
    except InvalidValue:
        return None
    return value if isinstance(value, int) else None


def _said(job: Job, names: Iterable[str]) -> str:
    """The first of these that was delivered, is the job's own, or was requested."""
    for name in names:
        for place in (job.delivered, job.properties, job.requested):
            if text := place.text(name).strip():
                return text
    return ""


def _first(*amounts: Amount | None) -> Fraction | None:
    return next((amount.value for amount in amounts if amount is not None), None)


def _most(job: Job, scope: Scope) -> Fraction | None:
    for place in (job.delivered, job.properties):
        found = [scope.read(item) for item in place.all("Memory", metric="Max")]
        if values := [value for value in found if value is not None]:
            return max(values)
    return _first(scope.delivered("Memory"))


def _asked(scope: Scope) -> Fraction | None:
    amount = scope.requested("Memory")
    return None if amount is None or not amount.value else amount.value


def _plus(
    sides: tuple[Fraction, Fraction], over: Fraction | None, under: Fraction | None
) -> tuple[Fraction, Fraction]:
    if over is None or not under:
        return sides
    return sides[0] + over, sides[1] + under


def _part(sides: tuple[Fraction, Fraction]) -> Fraction | None:
    over, under = sides
    return over / under if under else None


def _unheard(finding: Finding) -> None:
    """A value that cannot be read is not stated; ``validate`` says so."""
