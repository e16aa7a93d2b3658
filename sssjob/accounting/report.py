"""Summaries: what jobs used, added up by user, group, project, queue, machine, state and time.

Memory grows with the number of groups, not with that of jobs. Sums are exact; what a job does not
state is not part of a sum, and efficiencies are those of the jobs that state both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from fractions import Fraction
from typing import Any, NamedTuple

from sssjob import units
from sssjob.amounts import Scope
from sssjob.dotted import NOTEBOOK, loaded
from sssjob.errors import Finding, InvalidValue
from sssjob.formats.sss import jobs_of
from sssjob.model import Block, Delivered, Job, Property, Requested, stripped

# What resources are called, and what their units are in joules.
_GPUS, _ENERGY = ("gpu", "gpus"), "energy"
_JOULES = {"J": 1, "kJ": 1000, "MJ": 10**6, "Wh": 3600, "kWh": 3_600_000}
DATED = 50_000_000_000  # seconds from 1970, some 1584 years: what has a date in every zone
_LONG = 18  # digits of a number that needs no look at what it means

Key = tuple[str, ...]
Number = int | Fraction  # exact; whole numbers are added ten times as fast as fractions
Named = dict[str, list[Property]]
Grouping = Callable[["JobProperties", tzinfo], str]


class JobUsage(NamedTuple):
    """What one job used; None is not stated. Times are in seconds, memory in bytes, energy in J.

    ``slots``, ``nodes`` and ``gpus`` are wall time by their number; a job that states no processors
    held one.
    """

    wall: Number | None = None
    slots: Number | None = None
    cpu: Number | None = None
    processors: Number | None = None
    memory: Number | None = None
    asked: Number | None = None
    nodes: Number | None = None
    gpus: Number | None = None
    energy: Number | None = None


class JobProperties:
    """The properties of a job by their names, gathered once for all that is asked of them."""

    __slots__ = ("delivered", "job", "own", "requested", "scope")

    def __init__(self, job: Job) -> None:
        self.job = job
        self.scope = Scope(job, "/Job", _unheard)
        self.own: Named = {}
        self.delivered: Named = {}
        self.requested: Named = {}
        _gather(self.own, job.items)
        for item in job.items:
            if type(item) is Delivered:
                _gather(self.delivered, item.items)
            elif type(item) is Requested:
                _gather(self.requested, item.items)

    def text(self, *names: str) -> str:
        """The first of these that was delivered, is the job's own, or was requested."""
        for name in names:
            for place in (self.delivered, self.own, self.requested):
                if name in place and (text := stripped(place[name][0].text)):
                    return text
        return ""

    @property
    def ended(self) -> int | None:
        """When the job ended; None if it did not, or where that cannot be read."""
        return self.time("EndTime")

    def time(self, name: str) -> int | None:
        """A time of the job itself; None where it is not stated, or is none that has a date."""
        found = self.own.get(name)
        try:
            value = found[0].value if found else None
        except InvalidValue:
            return None
        return value if isinstance(value, int) and abs(value) < DATED else None

    def given(self, name: str) -> Number | None:
        """What was delivered, or else the job's own amount."""
        found = self.delivered.get(name)
        if found and (len(found) > 1 or found[0].attributes):
            amount = self.scope.delivered(name)  # metrics, contexts, parts from several machines
            found = None
            if amount is not None:
                return units.plain(amount.value)
        for item in (*(found or ()), *self.own.get(name, ())):
            context, metric = (item.attributes.get(key, "") for key in ("context", "metric"))
            if context in ("", "Dedicated") and metric in ("", "Total"):
                return self.read(item)
        return None

    def resources(self, *names: str) -> Iterator[tuple[Number, str]]:
        """The numbers of the resources of these names that were delivered, and their units."""
        found = self.delivered.get("Resource") or self.own.get("Resource") or ()
        for item in found:
            attributes = item.attributes
            if attributes.get("name", "").lower() not in names:
                continue
            if attributes.get("metric", "") not in ("", "Total"):
                continue
            try:
                number = units.number(item.text)
            except InvalidValue:
                continue
            if number >= 0:
                yield units.plain(number), attributes.get("units", "")

    def most(self, name: str) -> Number | None:
        """The most that was measured, or else what was given."""
        for place in (self.delivered, self.own):
            found = [item for item in place.get(name, ()) if item.attributes.get("metric") == "Max"]
            values = [value for item in found if (value := self.read(item)) is not None]
            if values:
                return max(values)
        return self.given(name)

    def asked(self, name: str) -> Number | None:
        """The upper bound of what was requested, or else the lower; None where that is nothing."""
        found = self.requested.get(name, ())
        if not found:
            return None
        every = [item.attributes for items in self.requested.values() for item in items]
        if len(found) == 1 and all(is_plain(attributes) for attributes in every):
            return self.read(found[0]) or None
        amount = self.scope.requested(name)
        return None if amount is None or not amount.value else units.plain(amount.value)

    def read(self, item: Property) -> Number | None:
        """An amount in base units; None where it cannot be read."""
        text = item.text
        is_plain = text.isdecimal() and text.isascii() and len(text) <= _LONG
        if is_plain and item.name not in units.DEFAULT_UNITS:
            return int(text)
        value = self.scope.read(item)
        return None if value is None else units.plain(value)


def _numbered(*names: str) -> Callable[[JobProperties], Number | None]:
    return lambda job: _sum(number for number, _ in job.resources(*names))


def _energy(job: JobProperties) -> Number | None:
    told = job.resources(_ENERGY)
    return _sum(number * _JOULES[unit] for number, unit in told if unit in _JOULES)


class Amount(NamedTuple):
    """What ``used_of`` is made of: a number that a job states, and of which properties it is.

    Those are delivered or the job's own, or ``is_asked`` for.
    """

    of: Callable[[JobProperties], Number | None]
    names: tuple[str, ...]
    is_asked: bool = False


# fmt: off
AMOUNTS: tuple[Amount, ...] = (
    Amount(lambda job: job.given("Duration"),    ("Duration",)),
    Amount(lambda job: job.given("Processors"),  ("Processors",)),
    Amount(lambda job: job.given("CpuDuration"), ("CpuDuration",)),
    Amount(lambda job: job.most("Memory"),       ("Memory",)),
    Amount(lambda job: job.asked("Memory"),      ("Memory",), is_asked=True),
    Amount(lambda job: job.given("NodeCount"),   ("NodeCount",)),
    Amount(_numbered(*_GPUS),                    ("Resource",)),
    Amount(_energy,                              ("Resource",)),
)
# fmt: on


def used(job: JobProperties) -> JobUsage:
    """What a job used, delivered before its own properties.

    Memory is the most that was measured (metric Max), or else what was given.
    """
    return used_of(*[amount.of(job) for amount in AMOUNTS])


def used_of(
    wall: Number | None, processors: Number | None, cpu: Number | None, memory: Number | None,
    asked: Number | None, nodes: Number | None, gpus: Number | None, energy: Number | None,
) -> JobUsage:  # fmt: skip
    """What was used, by the numbers of ``AMOUNTS``."""
    if wall is None:
        return JobUsage(None, None, cpu, processors, memory, asked, None, None, energy)
    return JobUsage(
        wall, wall if processors is None else wall * processors, cpu, processors, memory, asked,
        None if nodes is None else wall * nodes, None if gpus is None else wall * gpus, energy,
    )  # fmt: skip


def _sum(numbers: Iterable[Number]) -> Number | None:
    """The sum, None where there is nothing to add."""
    found = [*numbers]
    return sum(found) if found else None


@dataclass(slots=True)
class Totals:
    """The sums of a group of jobs."""

    jobs: int = 0
    wall: Number = 0
    slots: Number = 0
    cpu: Number = 0
    processors: Number = 0
    memory: Number = 0
    most_memory: Number | None = None
    nodes: Number | None = None
    gpus: Number | None = None
    energy: Number | None = None
    with_processors: int = 0
    with_memory: int = 0
    # The sides of the efficiencies, of jobs that state both.
    cpu_of: tuple[Number, Number] = (0, 0)
    memory_of: tuple[Number, Number] = (0, 0)

    def add(self, job: JobUsage) -> None:
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
        self._add_stated(job)
        self.cpu_of = _plus(self.cpu_of, job.cpu, job.slots)
        self.memory_of = _plus(self.memory_of, job.memory, job.asked)

    def merge(self, other: Totals) -> None:
        """Count all jobs of another group."""
        for name in ("jobs", "wall", "slots", "cpu", "processors", "memory"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self._add_stated(other)
        self.with_processors += other.with_processors
        self.with_memory += other.with_memory
        if other.most_memory is not None:
            self.most_memory = max(other.most_memory, self.most_memory or other.most_memory)
        self.cpu_of = _plus(self.cpu_of, *other.cpu_of)
        self.memory_of = _plus(self.memory_of, *other.memory_of)

    def _add_stated(self, more: JobUsage | Totals) -> None:
        """Add what is not known where no job states it."""
        if more.nodes is not None:
            self.nodes = (self.nodes or 0) + more.nodes
        if more.gpus is not None:
            self.gpus = (self.gpus or 0) + more.gpus
        if more.energy is not None:
            self.energy = (self.energy or 0) + more.energy

    @property
    def mean_processors(self) -> Fraction | None:
        """Processors of a job on average, of the jobs that state them."""
        return Fraction(self.processors, self.with_processors) if self.with_processors else None

    @property
    def mean_memory(self) -> Fraction | None:
        """Bytes of a job on average, of the jobs that state them."""
        return Fraction(self.memory, self.with_memory) if self.with_memory else None

    @property
    def efficiency(self) -> Fraction | None:
        """CPU time as a part of wall time by processors."""
        return _part(self.cpu_of)

    @property
    def memory_efficiency(self) -> Fraction | None:
        """Memory used as a part of memory requested."""
        return _part(self.memory_of)


class Measure(NamedTuple):
    """A column of a report: its name, its heading, and how it is printed for people.

    A ``rare`` one is not printed for people where no job states it.
    """

    name: str
    heading: str
    of: Callable[[Totals], Number | None]
    form: str
    rare: bool = False


# How numbers are printed for people: counts, hours of seconds, parts in per cent, GB of bytes, kWh
# of joules.
COUNT, HOURS, MEAN, PART, SIZE, ENERGY = "count", "hours", "mean", "part", "size", "energy"

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
    Measure("gpu_seconds",       "GPU h",      lambda of: of.gpus,              HOURS,  rare=True),
    Measure("node_seconds",      "node h",     lambda of: of.nodes,             HOURS,  rare=True),
    Measure("energy_joules",     "kWh",        lambda of: of.energy,            ENERGY, rare=True),
)
# fmt: on


def _property(*names: str) -> Grouping:
    return lambda job, zone: job.text(*names)


def span_name(span: str, time: int, zone: tzinfo) -> str:
    """What a report calls the hour, day, week, month or year (``SPANS``) of a time."""
    return f"{datetime.fromtimestamp(time, zone):{_FORMS[span]}}"


def _span(span: str) -> Grouping:
    def shown(job: JobProperties, zone: tzinfo) -> str:
        end = job.ended
        return "" if end is None else span_name(span, end, zone)

    return shown


# fmt: off
_FORMS = {
    "hour": "%Y-%m-%d %H:00", "day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "year": "%Y",
}
SPANS = tuple(_FORMS)
# The properties by which jobs are grouped: the first that was delivered, is the job's own or asked.
NAMED: dict[str, tuple[str, ...]] = {
    "user":        ("User",),
    "global-user": ("GlobalUser",),
    "group":       ("Group",),
    "project":     ("Project", "Account"),
    "queue":       ("Queue",),
    "partition":   ("Partition",),
    "machine":     ("Machine",),
    "qos":         ("QualityOfService",),
    "application": ("Application",),
    "state":       ("State",),
    "status":      ("StatusMessage",),
}
# fmt: on
GROUPINGS: dict[str, Grouping] = {
    **{name: _property(*names) for name, names in NAMED.items()},
    **{name: _span(name) for name in SPANS},
}


@dataclass(slots=True, repr=False)
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

    def __repr__(self) -> str:
        jobs = sum(totals.jobs for totals in self.groups.values())
        return f"<Report by {', '.join(self.by)}: {len(self.groups)} groups, {jobs} jobs>"

    def _repr_html_(self) -> str:
        """The report for a notebook."""
        return str(loaded(f"{NOTEBOOK}:report")(self))

    def add(self, block: Block) -> None:
        """Count a job, or the jobs of a JobGroup with their defaults."""
        for job in map(JobProperties, jobs_of(block)):
            if not self._counts(job):
                self.outside += 1
                continue
            key = tuple(GROUPINGS[name](job, self.zone) for name in self.by)
            totals = self.groups.get(key)
            if totals is None:
                totals = self.groups[key] = Totals()
            totals.add(used(job))

    def merge(self, other: Report) -> None:
        """Count all jobs of another report of the same kind; sums are exact in any order."""
        self.outside += other.outside
        for key, totals in other.groups.items():
            if key in self.groups:
                self.groups[key].merge(totals)
            else:
                self.groups[key] = totals

    def empty(self) -> Report:
        """One of the same kind, in which nothing was counted."""
        return Report(self.by, self.since, self.until, self.zone)

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

    def _counts(self, job: JobProperties) -> bool:
        if self.since is None and self.until is None:
            return True
        end = job.ended
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


def _gather(named: Named, items: Iterable[object]) -> None:
    for item in items:
        if type(item) is Property:
            named.setdefault(item.name, []).append(item)


def is_plain(attributes: Mapping[str, str]) -> bool:
    """Whether a request says nothing about how it joins with others, and names a bound."""
    return attributes.get("op", "EQ") in ("EQ", "LE", "GE") and not (
        attributes.keys() & {"conj", "group", "preference"}
    )


def _plus(
    sides: tuple[Number, Number], over: Number | None, under: Number | None
) -> tuple[Number, Number]:
    if over is None or not under:
        return sides
    return sides[0] + over, sides[1] + under


def _part(sides: tuple[Number, Number]) -> Fraction | None:
    over, under = sides
    return Fraction(over, under) if under else None


def _unheard(finding: Finding) -> None:
    """A value that cannot be read is not stated; ``validate`` says so."""
