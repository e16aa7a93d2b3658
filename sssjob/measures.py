"""What reports add up of jobs, and how it is divided over time: one table and one rule.

Reports of job objects (``accounting.report``), of a ledger by DuckDB, and of a store by its own SQL
ask the same rows. Where a rule is needed as SQL, it stands beside the one in Python.

Strategy. A job that runs over midnight used both days. A report by the day of the end counts all of
it on the second, which a month's slides may want, and which a chart of a cluster's load must not.

The idea is to divide what a job used by the time that it ran in each piece of time (``spans``): of
V in D seconds, those until t have had V t / D, and a piece has what was had at its end less what
was had at its beginning. How many jobs there were, their means and their maxima count where a job
ended.

Why it is right: the differences add up to V, whatever the pieces are, so a total does not depend on
how it is divided. The other cases have one answer each:

- A time counts if it is within ``DATED``, and is not stated otherwise.
- A run without an end counts as far as its record says: to its start, its wall time and the time
  that it was suspended; if start or wall time are not stated either, it is in no span.
- A run without a start, or that does not end after it, is counted where it ended. So is one that
  took more than ten years by its times (``LONGEST``): one of both is wrong, and divided it would be
  in every span of every report.
- Suspensions are spread evenly over a run: records say how long they were, and not when.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, zip_longest
from operator import add
from typing import Any, NamedTuple

from sssjob.errors import InvalidValue
from sssjob.spans import DATED
from sssjob.units import plain

Number = int | Fraction  # exact; whole numbers are added ten times as fast as fractions
LONGEST = 3660 * 86_400  # seconds that a run takes; where there are more, a time is wrong
ALONE = 1  # processors of a job that states none


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
    limit: Number | None = None
    asked_processors: Number | None = None
    asked_gpus: Number | None = None
    wait: Number | None = None


class Sum(NamedTuple):
    """What is added up: its name in ``JobUsage``, its column and unit, and what it says.

    One that ``is_divided`` is divided over the time of a run; others count where it ended.
    """

    name: str
    column: str
    unit: str
    says: str
    is_divided: bool = True


# fmt: off
SUMS: tuple[Sum, ...] = (
    Sum("wall", "wall_seconds", "s",
        "wall time (Delivered/Duration), without suspensions where the record leaves them out"),
    Sum("slots", "processor_seconds", "s",
        "wall time by processors; a job that states no processors held one"),
    Sum("cpu", "cpu_seconds", "s", "time of processors at work (CpuDuration)"),
    Sum("processors", "used_processors", "", "how many processors there were", is_divided=False),
    Sum("memory", "used_memory_bytes", "B",
        "the most memory that was measured, else what was given", is_divided=False),
    Sum("asked", "asked_memory_bytes", "B", "the memory that was requested", is_divided=False),
    Sum("nodes", "node_seconds", "s", "wall time by nodes"),
    Sum("gpus", "gpu_seconds", "s", "wall time by GPUs"),
    Sum("energy", "energy_joules", "J", "energy used"),
    Sum("limit", "limit_seconds", "s", "requested wall time", is_divided=False),
    Sum("asked_processors", "asked_processors", "", "requested processors", is_divided=False),
    Sum("asked_gpus", "asked_gpus", "", "requested GPUs", is_divided=False),
    Sum("wait", "wait_seconds", "s", "from submission to start", is_divided=False),
)
# fmt: on
DIVIDED = tuple(each.name for each in SUMS if each.is_divided)

assert tuple(each.name for each in SUMS) == JobUsage._fields


def _times(one: Number | None, other: Number | None) -> Number | None:
    """A product, None where either is."""
    return None if one is None or other is None else one * other


def _or_else(number: Number | None, otherwise: Number) -> Number:
    return otherwise if number is None else number


def used_of(
    wall: Any, processors: Any, cpu: Any, memory: Any, asked: Any, nodes: Any, gpus: Any,
    energy: Any, limit: Any, asked_processors: Any, asked_gpus: Any, *,
    times: Callable[[Any, Any], Any] = _times, or_else: Callable[[Any, Any], Any] = _or_else,
) -> JobUsage:  # fmt: skip
    """What was used, by the numbers that a job states (``accounting.report.AMOUNTS``).

    How long it waited is told by its times (``waited``). The numbers may be whole columns, if
    ``times`` and ``or_else`` are given for these.
    """
    return JobUsage(
        wall, times(wall, or_else(processors, ALONE)), cpu, processors, memory, asked,
        times(wall, nodes), times(wall, gpus), energy, limit, asked_processors, asked_gpus,
    )  # fmt: skip


def waited(submit: int | None, start: int | None) -> int | None:
    """How long a job waited, in seconds; None where a time is not stated, or clocks disagree."""
    return None if submit is None or start is None or start < submit else start - submit


def usage_text(job: JobUsage) -> str:
    """What a job used as a text that ``usage_of`` reads: fractions, and - for what is not stated.

    >>> usage_text(JobUsage(3, Fraction(1, 2))), usage_of("3 1/2") == JobUsage(3, Fraction(1, 2))
    ('3 1/2', True)
    """
    return " ".join("-" if each is None else str(each) for each in job).rstrip(" -") or "-"


def usage_of(text: str) -> JobUsage:
    """What a job used, of a text; what is missing at its end is not stated."""
    return JobUsage(*(None if each == "-" else plain(Fraction(each)) for each in text.split()))


def memory_held(job: JobUsage) -> Number | None:
    """The memory that a job kept from others: what it requested, or else what it used."""
    return job.memory if job.asked is None else job.asked


# Wall time by memory has two sides where a database adds it up, so that each sum fits its numbers:
# the bits from here on, and those below.
HELD_BITS = 32


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
    limit: Number | None = None
    limit_of: tuple[Number, Number] = (0, 0)
    held: Number = 0  # wall time by memory (``memory_held``), in byte seconds
    # What was requested: memory, and wall time by requested processors and by requested GPUs.
    asked: Number | None = None
    with_asked: int = 0
    asked_slots: Number | None = None
    asked_gpus: Number | None = None
    cpu_of_asked: tuple[Number, Number] = (0, 0)
    gpus_of_asked: tuple[Number, Number] = (0, 0)
    wait: Number | None = None
    with_wait: int = 0
    # What a site makes of the sums: by factors and rates (``EXTRA``).
    more: dict[str, Number] = field(default_factory=dict)

    @classmethod
    def of_sums(cls, sums: Mapping[tuple[str, int], Any], jobs: int = 0) -> Totals:
        """The totals that a database has, by their fields and the number of the side of each.

        NULL is none.
        """
        found = cls(jobs)
        for (name, side), value in sums.items():
            if (name, 1) not in sums:
                if value is not None:
                    setattr(found, name, value)
            elif side:
                over, under = sums[name, 0] or 0, value or 0
                whole = (over << HELD_BITS) + under if name == "held" else (over, under)
                setattr(found, name, whole)
        return found

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
        for name in _STATED:
            self._add_stated(name, getattr(job, name))
        self.cpu_of = _plus(self.cpu_of, job.cpu, job.slots)
        self.memory_of = _plus(self.memory_of, job.memory, job.asked)
        if job.limit is not None:
            self.limit_of = _plus(self.limit_of, job.wall, job.limit)
        memory = memory_held(job)
        if memory and job.wall:
            self.held += job.wall * memory
        self._add_asked(job)

    def _add_asked(self, job: JobUsage) -> None:
        """Count what a job requested."""
        self.with_asked += job.asked is not None
        self.with_wait += job.wait is not None
        slots, gpus = _times(job.wall, job.asked_processors), _times(job.wall, job.asked_gpus)
        self._add_stated("asked_slots", slots)
        self._add_stated("asked_gpus", gpus)
        self.cpu_of_asked = _plus(self.cpu_of_asked, job.cpu, slots)
        self.gpus_of_asked = _plus(self.gpus_of_asked, job.gpus, gpus)

    def merge(self, other: Totals) -> None:
        """Count all jobs of another group."""
        for name in ("jobs", "wall", "slots", "cpu", "processors", "memory", "held"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in (*_STATED, "asked_slots", "asked_gpus"):
            self._add_stated(name, getattr(other, name))
        for name in ("with_processors", "with_memory", "with_asked", "with_wait"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        if other.most_memory is not None:
            self.most_memory = max(other.most_memory, self.most_memory or other.most_memory)
        for name in ("cpu_of", "memory_of", "limit_of", "cpu_of_asked", "gpus_of_asked"):
            setattr(self, name, _plus(getattr(self, name), *getattr(other, name)))
        for name, value in other.more.items():
            self.more[name] = self.more.get(name, 0) + value

    def forget(self, names: Iterable[str]) -> None:
        """Leave out the sums of some fields (``left_out``)."""
        nothing = Totals()
        for name in names:
            setattr(self, name, getattr(nothing, name))

    def _add_stated(self, name: str, more: Number | None) -> None:
        """Add what is not known where no job states it."""
        if more is not None:
            setattr(self, name, (getattr(self, name) or 0) + more)

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

    @property
    def limit_efficiency(self) -> Fraction | None:
        """Wall time as a part of the wall time that was requested."""
        return _part(self.limit_of)

    @property
    def mean_asked(self) -> Fraction | None:
        """Bytes of memory that a job requested on average, of the jobs that state them."""
        return Fraction(self.asked or 0, self.with_asked) if self.with_asked else None

    @property
    def mean_wait(self) -> Fraction | None:
        """Seconds that a job waited on average, of the jobs that state both times."""
        return Fraction(self.wait or 0, self.with_wait) if self.with_wait else None


_STATED = ("nodes", "gpus", "energy", "limit", "asked", "wait")


def merged(groups: Iterable[Totals]) -> Totals:
    """Several groups as one."""
    found = Totals()
    for totals in groups:
        found.merge(totals)
    return found


class Measure(NamedTuple):
    """A column of a report: its name, its headings, of which sums it is, and how it is printed.

    ``title`` is the heading where there is room. Of two sums it is the part that the first is of
    the second. A ``rare`` one is not printed for people where no job states it.
    """

    name: str
    heading: str
    title: str
    of: Callable[[Totals], Number | None]
    form: str
    sums: tuple[str, ...]
    rare: bool = False


# How numbers are printed for people: counts, hours of seconds, parts in per cent, GB of bytes, kWh
# of joules.
COUNT, HOURS, MEAN, PART, SIZE, ENERGY = "count", "hours", "mean", "part", "size", "energy"
MONEY = "money"  # printed with the decimals of a currency
SCALES = {HOURS: 3600, SIZE: 1 << 30, ENERGY: 3_600_000}

# fmt: off
MEASURES: tuple[Measure, ...] = (
    Measure("jobs", "jobs", "jobs", lambda of: of.jobs, COUNT, ()),
    Measure("wall_seconds", "wall h", "wall hours", lambda of: of.wall, HOURS, ("wall",)),
    Measure("processor_seconds", "proc h", "processor hours", lambda of: of.slots, HOURS,
            ("slots",)),
    Measure("cpu_seconds", "CPU h", "CPU hours", lambda of: of.cpu, HOURS, ("cpu",)),
    Measure("efficiency", "CPU eff.", "CPU efficiency", lambda of: of.efficiency, PART,
            ("cpu", "slots")),
    Measure("processors", "processors", "processors", lambda of: of.mean_processors, MEAN,
            ("processors",)),
    Measure("memory_bytes", "memory GB", "GB of memory", lambda of: of.mean_memory, SIZE,
            ("memory",)),
    Measure("memory_max_bytes", "most GB", "most GB of memory", lambda of: of.most_memory, SIZE,
            ("memory",)),
    Measure("memory_efficiency", "mem. eff.", "memory efficiency",
            lambda of: of.memory_efficiency, PART, ("memory", "asked")),
    Measure("gpu_seconds", "GPU h", "GPU hours", lambda of: of.gpus, HOURS, ("gpus",), rare=True),
    Measure("node_seconds", "node h", "node hours", lambda of: of.nodes, HOURS, ("nodes",),
            rare=True),
    Measure("energy_joules", "kWh", "kWh", lambda of: of.energy, ENERGY, ("energy",), rare=True),
)

# What a report tells besides, if it is wanted: what was requested, and what a site makes of usage.
ASKED, WAIT, FACTORS, RATES, WHAT_IF = "asked", "wait", "factors", "rates", "what-if"
EXTRA: dict[str, tuple[Measure, ...]] = {
    ASKED: (
        Measure("limit_seconds", "asked h", "requested wall hours", lambda of: of.limit, HOURS,
                ("limit",)),
        Measure("limit_efficiency", "wall of asked", "wall time of requested",
                lambda of: of.limit_efficiency, PART, ("wall", "limit")),
        Measure("asked_processor_seconds", "asked proc h", "requested processor hours",
                lambda of: of.asked_slots, HOURS, ("wall", "asked_processors")),
        Measure("asked_processor_efficiency", "CPU of asked", "CPU time of requested processors",
                lambda of: _part(of.cpu_of_asked), PART, ("cpu", "wall", "asked_processors")),
        Measure("asked_memory_bytes", "asked GB", "GB of memory requested",
                lambda of: of.mean_asked, SIZE, ("asked",)),
        Measure("asked_gpu_seconds", "asked GPU h", "requested GPU hours",
                lambda of: of.asked_gpus, HOURS, ("wall", "asked_gpus"), rare=True),
        Measure("asked_gpu_efficiency", "GPU of asked", "GPU hours of requested",
                lambda of: _part(of.gpus_of_asked), PART, ("gpus", "wall", "asked_gpus"),
                rare=True),
    ),
    WAIT: (
        Measure("wait_seconds", "wait h", "hours of waiting", lambda of: of.wait, HOURS, ("wait",)),
        Measure("wait_mean_seconds", "mean wait h", "hours that a job waited",
                lambda of: of.mean_wait, HOURS, ("wait",)),
    ),
    FACTORS: (
        Measure("normalized_processor_seconds", "norm. proc h", "normalized processor hours",
                lambda of: of.more.get("slots"), HOURS, ("slots",)),
        Measure("normalized_cpu_seconds", "norm. CPU h", "normalized CPU hours",
                lambda of: of.more.get("cpu"), HOURS, ("cpu",)),
    ),
    RATES: (
        Measure("charge", "charge", "charge", lambda of: of.more.get("charge"), MONEY, ()),
    ),
    WHAT_IF: (
        Measure("charge_what_if", "what if", "charge by the other rates",
                lambda of: of.more.get("charge_what_if"), MONEY, ()),
        Measure("charge_difference", "difference", "difference of the charges",
                lambda of: _less(of.more.get("charge_what_if"), of.more.get("charge")), MONEY, ()),
    ),
}
# fmt: on
# The fields of ``Totals`` that only these need: others need not add them up.
_NEEDED = {
    ASKED: (
        "limit",
        "limit_of",
        "asked",
        "with_asked",
        "asked_slots",
        "asked_gpus",
        "cpu_of_asked",
        "gpus_of_asked",
    ),
    WAIT: ("wait", "with_wait"),
    RATES: ("held",),
}  # fmt: skip


def told_besides(*, requested: bool = False, wait: bool = False) -> tuple[str, ...]:
    """What a report tells besides, without the files of a site."""
    return (*((ASKED,) if requested else ()), *((WAIT,) if wait else ()))


def left_out(extra: Iterable[str]) -> frozenset[str]:
    """The fields of ``Totals`` that nothing in a report needs, by what it tells besides."""
    some = {*extra}
    return frozenset(chain.from_iterable(it for name, it in _NEEDED.items() if name not in some))


BY_NAME = {measure.name: measure for measure in MEASURES}
SORTED_BY = {**BY_NAME, **{each.name: each for some in EXTRA.values() for each in some}}


class Distribution(NamedTuple):
    """A number of each job whose spread is told: its name, its heading and how it is printed.

    Of two sums it is the part that the first is of the second; without sums, who asks knows the
    column. ``bounds`` are the lower bounds of the parts of a histogram, upwards from 0. Where a job
    does not state the number, or it is below 0, the job is left out and counted apart.
    """

    name: str
    heading: str
    form: str
    sums: tuple[str, ...] = ()
    bounds: tuple[Number, ...] = ()

    def of(self, job: JobUsage) -> Number | None:
        """The number of a job, of its sums."""
        over, *under = (getattr(job, each) for each in self.sums)
        found: Number | None = _part(_plus((0, 0), over, *under)) if under else over
        return found


# fmt: off
_DAY = 86_400
_SECONDS = (0, 1, 10, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, _DAY, 3 * _DAY, 7 * _DAY)
_COUNTS = (0, 1, 2, 3, 5, 9, 17, 33, 65, 129, 257, 1025, 4097)
_TENTHS = tuple(plain(Fraction(number, 10)) for number in range(11))
DISTRIBUTIONS: dict[str, Distribution] = {each.name: each for each in (
    Distribution("wait", "wait h", HOURS, (), _SECONDS),
    Distribution("wall", "wall h", HOURS, ("wall",), _SECONDS),
    Distribution("processors", "processors", MEAN, ("processors",), _COUNTS),
    Distribution("nodes", "nodes", MEAN, (), _COUNTS),
    Distribution("memory", "memory GB", SIZE, ("memory",),
                 (0, *(1 << power for power in range(26, 43, 2)))),
    Distribution("efficiency", "CPU eff.", PART, ("cpu", "slots"), _TENTHS),
    Distribution("memory_efficiency", "mem. eff.", PART, ("memory", "asked"), _TENTHS),
)}
# fmt: on


def node_class(nodes: int | None) -> str:
    """What a report calls so many nodes: 1, 2, 3-4, 5-8 and so on; "" is not stated.

    >>> node_class(1), node_class(4), node_class(5000), node_class(None)
    ('1', '3-4', '4097-', '')
    """
    return next((name for low, name in reversed(NODE_CLASSES) if nodes and nodes >= low), "")


def node_class_sql(nodes: str) -> str:
    """The same of a column as SQL."""
    cases = (f"WHEN {nodes} >= {low} THEN '{name}'" for low, name in reversed(NODE_CLASSES))
    return f"CASE {' '.join(cases)} ELSE '' END"


_LOWS = _COUNTS[1:]
NODE_CLASSES = [
    (low, str(low) if end == low + 1 else f"{low}-{'' if end is None else end - 1}")
    for low, end in zip_longest(_LOWS, _LOWS[1:])
]


def wait_sql(submit: str, start: str) -> str:
    """How long a job waited: from submission to start, of columns as SQL; see ``waited``."""
    return f"{start} - {submit}"


class Percentile(NamedTuple):
    """A percentile: its name, such as ``p99.9``, and ``part`` of 1."""

    name: str
    part: Fraction

    @classmethod
    def read(cls, text: str) -> Percentile:
        """What a text such as ``99.9`` names. Raises ``InvalidValue``."""
        if not _PERCENT.fullmatch(text) or (percent := Fraction(text)) > 100:
            raise InvalidValue(text, "a percentile: 0 to 100, with at most 3 decimals")
        whole, _, decimals = text.partition(".")
        decimals = decimals.rstrip("0")
        return cls(f"p{int(whole)}{'.' if decimals else ''}{decimals}", percent / 100)


_PERCENT = re.compile("[0-9]{1,3}([.][0-9]{1,3})?")


class Spread(NamedTuple):
    """A distribution over the jobs of a group: each wanted percentile, to the nearest double.

    ``not_stated`` is how many jobs were left out; if that is all of them, the values are None.
    """

    not_stated: int
    values: tuple[float | None, ...]


@dataclass(slots=True)
class Percentiles:
    """The percentiles of some distributions, for each group of a report, and for all jobs.

    A job counts where it ended. The p-th percentile is the least number of a job that at least
    p per cent of the jobs have, or less: it is always the number of a job, and 0 is the least.
    A spread has the order of ``of``, its values that of ``wanted``.
    """

    wanted: tuple[Percentile, ...]
    of: tuple[Distribution, ...]
    groups: dict[tuple[str, ...], tuple[Spread, ...]] = field(default_factory=dict)
    total: tuple[Spread, ...] = ()

    def group(self, key: tuple[str, ...]) -> tuple[Spread, ...]:
        """The spreads of a group; one in which no job ended has no values."""
        return self.groups.get(key) or self.nothing

    @property
    def nothing(self) -> tuple[Spread, ...]:
        """The spreads of no job at all."""
        return (Spread(0, (None,) * len(self.wanted)),) * len(self.of)

    @classmethod
    def read(cls, wanted: Iterable[str], of: Iterable[str] = ()) -> Percentiles:
        """Those of these names; without ``of``, of ``USUAL``. Raises ``InvalidValue``."""
        named = distributions(of)
        some = tuple(dict.fromkeys(map(Percentile.read, wanted)))
        if not 0 < len(some) <= MOST_PERCENTILES:
            raise InvalidValue(str(len(some)), f"1 to {MOST_PERCENTILES} percentiles")
        return cls(some, named)


class Histogram(NamedTuple):
    """How many jobs have a number from each of the ``bounds`` of a distribution up to the next.

    ``not_stated`` is how many jobs were left out.
    """

    not_stated: int
    counts: tuple[int, ...]

    def __add__(self, other: Histogram) -> Histogram:  # type: ignore[override]
        counts = map(sum, zip(self.counts, other.counts, strict=True))
        return Histogram(self.not_stated + other.not_stated, tuple(counts))


@dataclass(slots=True)
class Histograms:
    """The histograms of some distributions, for each group of a report.

    A job counts where it ended. Those of a group have the order of ``of``.
    """

    of: tuple[Distribution, ...]
    groups: dict[tuple[str, ...], tuple[Histogram, ...]] = field(default_factory=dict)

    def group(self, key: tuple[str, ...]) -> tuple[Histogram, ...]:
        """The histograms of a group; one in which no job ended has 0 everywhere."""
        return self.groups.get(key) or self.nothing

    def added(self, keys: Iterable[tuple[str, ...]]) -> tuple[Histogram, ...]:
        """The histograms of some groups together."""
        found = self.nothing
        for key in keys:
            found = tuple(map(add, found, self.group(key)))
        return found

    @property
    def total(self) -> tuple[Histogram, ...]:
        """The histograms of all jobs."""
        return self.added(self.groups)

    @property
    def nothing(self) -> tuple[Histogram, ...]:
        """The histograms of no job at all."""
        return tuple(Histogram(0, (0,) * len(each.bounds)) for each in self.of)

    @classmethod
    def read(cls, of: Iterable[str] = ()) -> Histograms:
        """Those of these names; without any, of ``USUAL``. Raises ``InvalidValue``."""
        return cls(distributions(of))


def distributions(names: Iterable[str] = ()) -> tuple[Distribution, ...]:
    """Those of these names; without any, of ``USUAL``. Raises ``InvalidValue``."""
    wanted = dict.fromkeys(names) or dict.fromkeys(USUAL)
    for name in wanted:
        if name not in DISTRIBUTIONS:
            raise InvalidValue(name, f"one of {', '.join(DISTRIBUTIONS)}")
    return tuple(DISTRIBUTIONS[name] for name in wanted)


USUAL = ("wait", "wall", "processors", "efficiency", "memory_efficiency")
MOST_PERCENTILES = 20


def held_sql(wall: str, processors: str) -> str:
    """Wall time by processors as ``used_of`` has it, of columns as SQL."""
    return f"{wall} * coalesce({processors}, {ALONE})"


def has_both_sql(over: str, under: str) -> str:
    """Whether a job states both sides of a part, as ``_plus`` asks, of columns as SQL."""
    return f"{over} IS NOT NULL AND {under} <> 0"


def dated_sql(time: str) -> str:
    """A time that has a date, else NULL."""
    return f"CASE WHEN {time} BETWEEN {1 - DATED} AND {DATED - 1} THEN {time} END"


def over_sql(start: str, end: str, wall: str, suspended: str) -> str:
    """When a run was over, or as far as its record says; NULL if it says neither.

    Its times have dates (``dated_sql``). Wall time is without the time that it was ``suspended``.
    """
    reached = f"{wall} BETWEEN {1 - DATED} - {start} AND {DATED - 1} - {start}"
    away = f"coalesce({suspended}, 0)"
    within = f"{away} BETWEEN 0 AND {DATED - 1} - ({start} + {wall})"
    over = f"CASE WHEN {within} THEN {start} + {wall} + {away} END"
    return f"coalesce({end}, CASE WHEN {reached} THEN {over} END)"


def begun_sql(start: str, over: str) -> str:
    """From when on a run is divided, of when it was ``over``; NULL where it counts there."""
    return f"CASE WHEN {over} - {start} <= {LONGEST} THEN {start} END"


def due_sql(amount: str, time: str, begun: str, over: str, sign: str = "/") -> str:
    """What a run has had of an amount at a time while it runs; ``sign`` divides.

    Where whole numbers are divided to whole numbers, differences still add up to all.
    """
    return f"{amount} * ({time} - {begun}) {sign} ({over} - {begun})"


def due(time: int, begun: int, over: int) -> Fraction:
    """The part that a run has had at a time, as ``due_sql`` has it."""
    return Fraction(time - begun, over - begun)


def _less(one: Number | None, other: Number | None) -> Number | None:
    return None if one is None or other is None else one - other


def _plus(
    sides: tuple[Number, Number], over: Number | None, under: Number | None
) -> tuple[Number, Number]:
    if over is None or not under:
        return sides
    return sides[0] + over, sides[1] + under


def _part(sides: tuple[Number, Number]) -> Fraction | None:
    over, under = sides
    return Fraction(over, under) if under else None
