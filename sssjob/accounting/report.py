"""Summaries: what jobs used, added up by user, group, project, queue, machine, state and time.

Memory grows with the number of groups, not with that of jobs. Sums are exact; what a job does not
state is not part of a sum, and efficiencies are those of the jobs that state both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from fractions import Fraction
from typing import Any, NamedTuple

from sssjob import units
from sssjob.amounts import Scope, is_given
from sssjob.dotted import NOTEBOOK, loaded
from sssjob.errors import InvalidValue, of_kind
from sssjob.integers import LARGEST, SMALLEST
from sssjob.measures import (
    EXTRA,
    MEASURES,
    Histograms,
    JobUsage,
    Measure,
    Number,
    Percentiles,
    Totals,
    merged,
    node_class,
    used_of,
    waited,
)
from sssjob.model import Block, Delivered, Job, Property, Requested, stripped
from sssjob.resource_names import gpu_model
from sssjob.resource_names import key as resource_key
from sssjob.spans import DATED, PERIOD, SPANS, TIMED, in_order, period_name, span_name
from sssjob.usage import average

# What a Resource is called, and what its units are in joules.
_ENERGY = "energy"
_JOULES = {"J": 1, "kJ": 1000, "MJ": 10**6, "Wh": 3600, "kWh": 3_600_000}
_ENDS = ("EQ", "LE", "GE")  # of a plain request: the upper bound before the lower
_LONG = 18  # digits of a number that needs no look at what it means

Key = tuple[str, ...]
Named = dict[str, list[Property]]
Grouping = Callable[["JobProperties", tzinfo], str]


class JobProperties:
    """The properties of a job by their names, gathered once for all that is asked of them."""

    __slots__ = ("delivered", "job", "own", "requested", "scope")

    def __init__(self, job: Job) -> None:
        self.job = job
        self.scope = Scope(job, "/Job")
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
            # Metrics, contexts, parts from several machines, or each for a time of its own.
            amounts = [
                self._for_the_whole(item, amount)
                for item in self.scope.parts(name)
                if (amount := self.scope.read(item)) is not None
            ]
            if amounts:
                return units.plain(sum(amounts, Fraction()))
            found = None
        for item in (*(found or ()), *self.own.get(name, ())):
            if is_given(item):
                value = self.read(item)
                if value is None or "duration" not in item.attributes:
                    return value
                return units.plain(self._for_the_whole(item, value))
        return None

    def over_time(self, item: Property) -> Number | bool | str | None:
        """What an amount for its ``duration`` is for the whole Duration; any other value as it is.

        Raises ``InvalidValue``.
        """
        value = item.value
        if isinstance(value, bool) or not isinstance(value, (int, Fraction)):
            return value
        return units.plain(self._for_the_whole(item, value))

    # decision 665
    def _for_the_whole(self, stated: Property, value: Number) -> Fraction:
        """What the value of an amount is for the whole Duration, by its ``duration`` (SSS 5.1).

        The same where it does not say one, or is a Duration itself.
        """
        number = Fraction(value)
        if "duration" not in stated.attributes or stated.name in ("Duration", "CpuDuration"):
            return number
        wall = self.given("Duration")
        try:
            return average([stated], wall, amount=lambda _: number) if wall else number
        except InvalidValue:
            return number

    def resources(self, meant: Callable[[Mapping[str, str]], bool]) -> Iterator[tuple[Number, str]]:
        """The numbers of the resources that were delivered, and their units, by attributes."""
        found = self.delivered.get("Resource") or self.own.get("Resource") or ()
        for item in found:
            attributes = item.attributes
            if not meant(attributes):
                continue
            if item.said("metric") not in ("", "Total"):
                continue
            if (number := _number(item)) is not None:
                if "duration" in attributes:
                    number = units.plain(self._for_the_whole(item, number))
                yield number, item.said("units")

    def most(self, name: str) -> Number | None:
        """The most that was measured, or else what was given."""
        for place in (self.delivered, self.own):
            found = [item for item in place.get(name, ()) if item.said("metric") == "Max"]
            values = [value for item in found if (value := self.read(item)) is not None]
            if values:
                return max(values)
        return self.given(name)

    def asked(self, name: str) -> Number | None:
        """The upper bound of what was requested, or else the lower; None where that is nothing."""
        found = self.requested.get(name, ())
        if not found:
            return None
        if len(found) == 1 and self._asks_plainly():
            return self.read(found[0]) or None
        amount = self.scope.requested(name)
        return None if amount is None or not amount.value else units.plain(amount.value)

    def asked_resources(self, meant: Callable[[Mapping[str, str]], bool]) -> Number | None:
        """How many of some resources were requested: of each the upper bound, or else the lower.

        None where that is nothing, or is weighed against other requests.
        """
        bounds: dict[tuple[tuple[str, str], ...], dict[str, Number]] = {}
        for item in self.requested.get("Resource", ()):
            if meant(item.attributes) and (number := _number(item)) is not None:
                told = bounds.setdefault(resource_key(item.attributes), {})
                told[item.said("op", "EQ")] = number
        if not bounds or not self._asks_plainly():
            return None
        ends = (next(told[op] for op in _ENDS if op in told) for told in bounds.values())
        return sum(ends) or None

    def _asks_plainly(self) -> bool:
        return all(is_plain(item) for items in self.requested.values() for item in items)

    def read(self, item: Property) -> Number | None:
        """An amount in base units; None where it cannot be read."""
        text = item.text
        is_plain = text.isdecimal() and text.isascii() and len(text) <= _LONG
        if is_plain and item.name not in units.DEFAULT_UNITS:
            return int(text)
        value = self.scope.read(item)
        return None if value is None else units.plain(value)


# decision 373
def wall_time(job: JobProperties, *, spans: bool = False) -> Number | None:
    """How long a job ran, in seconds: what was delivered, or else its own Duration.

    Of a job that has ended, ``spans`` takes the time from start to end where that is shorter than
    its own Duration, which may be what it asked for, or where there is none. Reports do not: they
    say of documents what columns of stores say. None where nothing tells.
    """
    stated = job.given("Duration")
    if not spans or job.scope.delivered("Duration") is not None:
        return stated
    start, end = job.time("StartTime"), job.time("EndTime")
    suspended = job.own.get("SuspendDuration")
    away = job.read(suspended[0]) if suspended else None
    span = None
    if start is not None and end is not None:
        span = units.seconds_between(start, end, int(away or 0))
    return min((each for each in (stated, span) if each is not None), default=None)


def gpus(job: JobProperties) -> Number | None:
    """How many GPUs a job had."""
    told = job.resources(lambda attributes: gpu_model(attributes) is not None)
    return _sum(number for number, _ in told)


def _asked_gpus(job: JobProperties) -> Number | None:
    return job.asked_resources(lambda attributes: gpu_model(attributes) is not None)


def _energy(job: JobProperties) -> Number | None:
    told = job.resources(
        lambda attributes: attributes.get("name", "").strip(units.XML_SPACE).lower() == _ENERGY
    )
    return _sum(number * _JOULES[unit] for number, unit in told if unit in _JOULES)


class StatedNumber(NamedTuple):
    """What ``used_of`` is made of: a number that a job states, and of which properties it is.

    Those are delivered or the job's own, or ``is_asked`` for.
    """

    of: Callable[[JobProperties], Number | None]
    names: tuple[str, ...]
    is_asked: bool = False


# fmt: off
AMOUNTS: tuple[StatedNumber, ...] = (
    StatedNumber(lambda job: wall_time(job),           ("Duration",)),
    StatedNumber(lambda job: job.given("Processors"),  ("Processors",)),
    StatedNumber(lambda job: job.given("CpuDuration"), ("CpuDuration",)),
    StatedNumber(lambda job: job.most("Memory"),       ("Memory",)),
    StatedNumber(lambda job: job.asked("Memory"),      ("Memory",), is_asked=True),
    StatedNumber(lambda job: job.given("NodeCount"),   ("NodeCount",)),
    StatedNumber(gpus,                                 ("Resource",)),
    StatedNumber(_energy,                              ("Resource",)),
    StatedNumber(lambda job: job.asked("Duration"),    ("Duration",), is_asked=True),
    StatedNumber(lambda job: job.asked("Processors"),  ("Processors",), is_asked=True),
    StatedNumber(_asked_gpus,                           ("Resource",), is_asked=True),
)
# fmt: on


def used(job: JobProperties) -> JobUsage:
    """What a job used, delivered before its own properties.

    Memory is the most that was measured (metric Max), or else what was given.
    """
    found = used_of(*[amount.of(job) for amount in AMOUNTS])
    return found._replace(wait=waited(job.time("SubmitTime"), job.time("StartTime")))


def _sum(numbers: Iterable[Number]) -> Number | None:
    """The sum, None where there is nothing to add."""
    found = [*numbers]
    return sum(found) if found else None


def _property(*names: str) -> Grouping:
    return lambda job, zone: job.text(*names)


def _span(span: str) -> Grouping:
    def shown(job: JobProperties, zone: tzinfo) -> str:
        end = job.ended
        return "" if end is None else span_name(span, end, zone)

    return shown


# fmt: off
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
# Other words for the same.
SAME = {"account": "project", "cluster": "machine"}
EXIT, NODES = "exit", "nodes"  # what the job ended with, and how many nodes it had, by classes
GROUPINGS: dict[str, Grouping] = {
    **{name: _property(*names) for name, names in NAMED.items()},
    **{name: _property(*NAMED[other]) for name, other in SAME.items()},
    EXIT: lambda job, zone: "" if (code := exit_code(job)) is None else str(code),
    NODES: lambda job, zone: node_class(rounded(job.given("NodeCount"))),
    **{name: _span(name) for name in SPANS},
}


def exit_code(job: JobProperties) -> int | None:
    """What a job ended with; None where it is not stated, or is no whole number of 64 bits."""
    try:
        code = units.integer(job.text("ExitCode"))
    except InvalidValue:
        return None
    return code if SMALLEST <= code <= LARGEST else None


def rounded(value: Number | None) -> int | None:
    """A number as a column of whole numbers of 64 bits has it."""
    return None if value is None else max(-LARGEST, min(LARGEST, round(value)))


class Money(NamedTuple):
    """How charges are printed: the currency, and so many decimals, to which halves are rounded up.

    Sums are exact, and rounded where they are printed: so a total may differ from the sum of the
    rounded rows by a few units of the last decimal.
    """

    currency: str = ""
    decimals: int = 2

    def text(self, amount: Number) -> str:
        """An amount as a decimal number."""
        unit = 10**self.decimals
        whole = int(abs(Fraction(amount)) * unit + Fraction(1, 2))
        sign = "-" if amount < 0 and whole else ""
        if not self.decimals:
            return f"{sign}{whole}"
        return f"{sign}{whole // unit}.{whole % unit:0{self.decimals}}"


@dataclass(slots=True, repr=False)
class Report:
    """The totals of each group, by the values of ``by`` (names of ``GROUPINGS``).

    Only jobs that ended at ``since`` or later and before ``until`` count, in seconds since
    1970-01-01T00:00:00Z; ``outside`` is how many others there were. ``zone`` is that of spans.
    ``percentiles`` and ``histograms`` are wanted of a ledger only, which fills them. A name that
    ``by`` says again counts once. ``cuts`` are the times between which a period is one (``PERIOD``
    in ``by``), ``extra`` names of ``measures.EXTRA`` that are told besides, charges in ``money``.
    ``answered`` says how many files of a ledger were answered by rollups, and how many by rows;
    ``notes``, for a program, what the files of a site do not tell.
    Raises ``InvalidValue`` if ``since`` is after ``until``.
    """

    by: tuple[str, ...] = ("user",)
    since: int | None = None
    until: int | None = None
    zone: tzinfo = UTC
    groups: dict[Key, Totals] = field(default_factory=dict)
    outside: int = 0
    percentiles: Percentiles | None = None
    histograms: Histograms | None = None
    cuts: tuple[int, ...] = ()
    extra: tuple[str, ...] = ()
    money: Money = field(default_factory=Money)
    answered: dict[str, int] | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        in_order(self.since, self.until)
        self.by = tuple(dict.fromkeys(self.by))

    def __repr__(self) -> str:
        jobs = sum(totals.jobs for totals in self.groups.values())
        return f"<Report by {', '.join(self.by)}: {len(self.groups)} groups, {jobs} jobs>"

    def _repr_html_(self) -> str:
        """The report for a notebook."""
        return str(loaded(f"{NOTEBOOK}:report")(self))

    def add(self, block: Block) -> None:
        """Count a job, or the jobs of a JobGroup with their defaults."""
        from sssjob.formats.sss import jobs_of  # a report of columns has no need of it

        for job in map(JobProperties, jobs_of(block)):
            end = job.ended
            if not self._counts(end):
                self.outside += 1
                continue
            key = tuple(
                self._span(name, end) if name in TIMED else GROUPINGS[name](job, self.zone)
                for name in self.by
            )
            self._add(key, used(job))

    def add_row(self, row: JobRow) -> None:
        """Count a job of which this is known."""
        if not self._counts(row.end):
            self.outside += 1
            return
        texts = dict(zip(ROW_NAMES, row.texts, strict=True))
        key = tuple(
            self._span(name, row.end) if name in TIMED else texts[SAME.get(name, name)]
            for name in self.by
        )
        self._add(key, row.sums)

    def put(self, key: Key, more: Totals) -> None:
        """Count all jobs of a group."""
        if key in self.groups:
            self.groups[key].merge(more)
        else:
            self.groups[key] = more

    def merge(self, other: Report) -> None:
        """Count all jobs of another report of the same kind; sums are exact in any order."""
        self.outside += other.outside
        for key, totals in other.groups.items():
            self.put(key, totals)

    def empty(self) -> Report:
        """One of the same kind, in which nothing was counted."""
        return replace(self, groups={}, outside=0, percentiles=None, histograms=None)

    @property
    def is_windowed(self) -> bool:
        """Whether only jobs of some time count."""
        return self.since is not None or self.until is not None

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What is told of each group."""
        return (*MEASURES, *(each for name in self.extra for each in EXTRA[name]))

    @property
    def total(self) -> Totals:
        """The sums of all groups."""
        return merged(self.groups.values())

    def rows(self, sort: str = "", limit: int | None = None) -> list[tuple[Key, Totals]]:
        """The groups in order: by a measure downwards, or by time and then by processor hours.

        Without ``sort`` the spans of time that lead ``by`` go upwards.
        """
        measure = next((each for each in self.measures if each.name == sort), None)
        spans = 0
        while measure is None and spans < len(self.by) and self.by[spans] in SPANS:
            spans += 1

        def order(row: tuple[Key, Totals]) -> tuple[Any, ...]:
            key, totals = row
            value = totals.slots if measure is None else measure.of(totals)
            return key[:spans], value is None, -(value or 0), key

        return sorted(self.groups.items(), key=order)[:limit]

    def _add(self, key: Key, job: JobUsage) -> None:
        totals = self.groups.get(key)
        if totals is None:
            totals = self.groups[key] = Totals()
        totals.add(job)

    def _span(self, name: str, end: int | None) -> str:
        """What a part of a key says of when a job ended."""
        if end is None:
            return ""
        return period_name(self.cuts, end) if name == PERIOD else span_name(name, end, self.zone)

    def _counts(self, end: int | None) -> bool:
        if not self.is_windowed:
            return True
        if end is None:
            return False
        return (self.since is None or end >= self.since) and (
            self.until is None or end < self.until
        )


class JobRow(NamedTuple):
    """What reports read of a job: its texts by ``ROW_NAMES``, when it ended, and what it used."""

    texts: tuple[str, ...]
    end: int | None
    sums: JobUsage

    @classmethod
    def of(cls, job: Job) -> JobRow:
        """The row of a job with its defaults."""
        facts = JobProperties(job)
        texts = tuple(GROUPINGS[name](facts, UTC) for name in ROW_NAMES)
        return cls(texts, facts.ended, used(facts))


# By what jobs are grouped that is no time, each once.
ROW_NAMES = tuple(name for name in GROUPINGS if name not in SPANS and name not in SAME)


def grouped_by(names: tuple[str, ...], more: Iterable[str] = ()) -> tuple[str, ...]:
    """What a program wants a report by, which may have ``more`` names; without any, by user.

    Raises ``InvalidValue``.
    """
    known = (*GROUPINGS, *more)
    for name in names:
        of_kind(name, str, "what jobs are grouped by")
        if name not in known:
            raise InvalidValue(name, f"what jobs are grouped by: {', '.join(known)}")
    return names or Report().by


def _number(item: Property) -> Number | None:
    """The number of a Resource; None where it cannot be read, or is below 0."""
    try:
        number = units.number(item.text)
    except InvalidValue:
        return None
    return units.plain(number) if number >= 0 else None


def _gather(named: Named, items: Iterable[object]) -> None:
    for item in items:
        if type(item) is Property:
            named.setdefault(item.name, []).append(item)


def is_plain(item: Property) -> bool:
    """Whether a request says nothing about how it joins with others, and names a bound."""
    return item.said("op", "EQ") in _ENDS and not (
        item.attributes.keys() & {"conj", "group", "preference"}
    )
