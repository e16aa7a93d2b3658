"""Jobs to APEL's messages: one record for each job, or sums for each month, user and kind of job.

A record is about a job that has ended, of a site that has a name; what it lacks is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from sssjob import units
from sssjob.accounting.writers.grid import infrastructure, is_level, is_noted, level, noted
from sssjob.accounting.writers.losses import NO_PLACE, TakenJob
from sssjob.accounting.writers.parts import RecordPart
from sssjob.accounting.writers.writer import Unfit, WriterOptions
from sssjob.accounting.writers.xml import TIME_DIGITS, are_numbers, plain_texts
from sssjob.errors import InvalidValue
from sssjob.integers import LARGEST
from sssjob.model import Property, text_in
from sssjob.records.builders import Column, Same, Tagged
from sssjob.states import COMPLETED, has_ended, spelled

INDIVIDUAL = "APEL-individual-job-message: v0.3\n"
SUMMARY = "APEL-summary-job-message: v0.2\n"
NORMALISED = "APEL-normalised-summary-message: v0.4\n"
SYNC = "APEL-sync-message: v0.1\n"
_MARK = "%%"  # wherever it stands, a record ends
END = f"{_MARK}\n"

_KB = 1024
_NO_VALUE = frozenset(("none", "null"))  # in any case, to whoever reads a message
_KIND = re.compile(r"[\w.+-]+", re.ASCII)  # of a benchmark; others would end a dictionary


class ApelJob(NamedTuple):
    """What APEL knows of a job, by its keys, in the order of its messages."""

    Site: str
    SubmitHost: str
    MachineName: str
    Queue: str
    LocalJobId: str
    LocalUserId: str
    GlobalUserName: str
    FQAN: str
    VO: str
    VOGroup: str
    VORole: str
    WallDuration: int
    CpuDuration: int
    Processors: int | None
    NodeCount: int | None
    StartTime: int
    EndTime: int
    InfrastructureDescription: str
    InfrastructureType: str
    MemoryReal: int | None
    MemoryVirtual: int | None
    ServiceLevelType: str
    ServiceLevel: str


_DEMANDED = ("Duration", "CpuDuration", "StartTime", "EndTime")  # by every message
_TIMES = _DEMANDED[2:]


def _demanded(name: str) -> RecordPart:
    """What makes nothing, and refuses a job that lacks what every record has."""
    fact = _number(name)

    def write(job: TakenJob, options: WriterOptions) -> str:
        if fact.find(job, options) is None:
            raise Unfit(f"no {name}, which APEL demands")
        return ""

    def many(texts: Sequence[str], told: Mapping[str, str]) -> Column | None:
        found = fact.many(texts, told) if fact.many else None
        return None if found is None else Same(("",))

    return RecordPart((), write, (name,), many)


def _site(job: TakenJob, options: WriterOptions) -> str:
    found = noted(job).get("Site") or options.site.name or job.peek("Machine")  # decision 118
    if not found:
        raise Unfit("no name of a site, which APEL demands")
    return found


def _names_a_site(item: Property) -> bool:
    return item.name == "Machine" or is_noted(item)


# decision 391
def _ended(job: TakenJob, _: WriterOptions) -> str:
    if not has_ended(job.peek):
        raise Unfit("a State that is not one of a job that has ended")
    if spelled(job.peek("State")) == COMPLETED:
        job.text("State")  # every record is about a job that has ended
    # Another state of jobs that have ended (states.OVER) says more, and is told as lost.
    return ""


class _SummaryFact(NamedTuple):
    """How a fact is found, as a ``RecordPart`` finds a text; ``many`` gives those of numbers."""

    takes: tuple[str, ...]
    find: Callable[[TakenJob, WriterOptions], Any]
    looks: tuple[str, ...] = ()
    many: Callable[[Sequence[str], Mapping[str, str]], Sequence[str] | None] | None = None
    of: Callable[[Property], bool] | None = None

    def told(self, key: str, job: TakenJob, options: WriterOptions) -> Any:
        """The fact. Raises ``Unfit`` for a text in which APEL would end the record."""
        found = self.find(job, options)
        if found.__class__ is str and _MARK in found:
            raise Unfit(f"{key} {found!r}, in which APEL ends a record")
        return found

    def part(self, key: str) -> RecordPart:
        """The line of a message that tells the fact."""

        def write(job: TakenJob, options: WriterOptions) -> str:
            return _lines(((key, self.told(key, job, options)),))

        def many(texts: Sequence[str], told: Mapping[str, str]) -> Column | None:
            found = self.many(texts, told) if self.many else None
            return None if found is None else Tagged(f"{key}: ", found, "\n")

        return RecordPart(self.takes, write, self.looks, many if self.many else None, of=self.of)


def _text(name: str) -> _SummaryFact:
    def find(job: TakenJob, _: WriterOptions) -> str:
        item = job.one(name)
        text = text_in(item)
        if item is None or not text:
            return text
        if text.lower() in _NO_VALUE:
            lost, unfit = "APEL reads this word as no value", "which APEL reads as none"
        elif _MARK in text:
            lost, unfit = "APEL ends a record there", "in which APEL ends a record"
        else:
            read = _as_read(text)
            if read != text:
                job.lose(
                    item, f"APEL reads {read!r}: to it lines end there, or blanks do not count"
                )
            return read
        if name == "Id":
            raise Unfit(f"the Id {text!r}, {unfit}")
        job.lose(item, lost)
        return ""

    def many(texts: Sequence[str], told: Mapping[str, str]) -> Sequence[str] | None:
        if told or not _NO_VALUE.isdisjoint(map(str.lower, texts)):
            return None
        found = plain_texts(texts)
        if found is None or _MARK in (joined := "".join(found)):
            return None
        is_read = found is texts or (
            joined.splitlines() == [joined] and all(map(str.__eq__, map(str.strip, found), found))
        )
        return found if is_read else None

    return _SummaryFact((name,), find, many=many)


# decision 1058
def _as_read(value: str) -> str:
    """A text as APEL reads it back from its line, which it cuts at every line end of Unicode."""
    return " ".join(value.splitlines()).strip()


def _number(name: str) -> _SummaryFact:
    is_time = name in _TIMES

    def many(texts: Sequence[str], told: Mapping[str, str]) -> Sequence[str] | None:
        fits = (
            not told
            and are_numbers(texts)
            and (not is_time or len(max(texts, key=len)) <= TIME_DIGITS)
        )
        return texts if fits else None

    read = TakenJob.time if is_time else TakenJob.amount
    return _SummaryFact((name,), lambda job, _: read(job, name), many=many)


def _said_of_grid(key: str) -> _SummaryFact:
    return _SummaryFact((), lambda job, _: noted(job).get(key, ""), ("Extension",), of=is_noted)


def _infrastructure(place: int) -> _SummaryFact:
    return _SummaryFact(
        (), lambda job, options: infrastructure(job, options.site)[place], ("Extension",),
        of=is_noted,
    )  # fmt: skip


def _submit_host(job: TakenJob, options: WriterOptions) -> str:
    return options.site.submit_host or job.text("SubmitHost")


def _level(place: int) -> Callable[[TakenJob, WriterOptions], str]:
    return lambda job, options: level(job, options.site)[place]


def _kilobytes(name: str) -> _SummaryFact:
    """The most that was measured, or else what was given, in KB rounded up."""

    def find(job: TakenJob, _: WriterOptions) -> int | None:
        sizes: dict[str, int] = {}
        for item in job.all(name, *_MEASURED):
            metric = item.said("metric")
            try:
                size = _in_kilobytes(item.text, item.attributes.get("units") or default)
            except InvalidValue as error:
                job.lose(item, str(error))
                continue
            if size < 0:
                job.lose(item, "below zero" if size == _BELOW else "too large a number")
            elif metric in _METRICS and metric not in sizes:
                sizes[metric] = size
            else:
                job.lose(item, NO_PLACE)
        return next((sizes[metric] for metric in _METRICS if metric in sizes), None)

    def many(texts: Sequence[str], told: Mapping[str, str]) -> Sequence[str] | None:
        if {*told} - {*_MEASURED} or told.get("metric", "") not in _METRICS:
            return None
        try:
            found = [_in_kilobytes(text, told.get("units") or default) for text in texts]
        except InvalidValue:
            return None
        return [*map(str, found)] if min(found) >= 0 else None

    default = units.DEFAULT_UNITS[name]
    return _SummaryFact((name,), find, many=many)


_MEASURED = ("units", "metric")  # the attributes of an amount
_METRICS = ("Max", "Total", "")  # those that APEL means, the best first
_BELOW, _ABOVE = -1, -2  # instead of an amount that APEL cannot hold


@lru_cache(4096)
def _in_kilobytes(text: str, unit: str) -> int:
    """An amount in KB rounded up, or why it is none. Raises ``InvalidValue``."""
    size = units.bytes_of(text, unit)
    if not 0 <= size <= LARGEST:
        return _BELOW if size < 0 else _ABOVE
    return -(-size // _KB)


# fmt: off
_FACTS: dict[str, _SummaryFact] = {
    "Site":               _SummaryFact(("Extension",), _site, ("Machine",), of=_names_a_site),
    "SubmitHost":         _SummaryFact(("SubmitHost",), _submit_host),
    "MachineName":        _text("Machine"),
    "Queue":              _text("Queue"),
    "LocalJobId":         _text("Id"),
    "LocalUserId":        _text("User"),
    "GlobalUserName":     _text("GlobalUser"),
    "FQAN":               _said_of_grid("FQAN"),
    "VO":                 _text("Project"),
    "VOGroup":            _said_of_grid("vo-group"),
    "VORole":             _said_of_grid("vo-role"),
    "WallDuration":       _number("Duration"),
    "CpuDuration":        _number("CpuDuration"),
    "Processors":         _number("Processors"),
    "NodeCount":          _number("NodeCount"),
    "StartTime":          _number("StartTime"),
    "EndTime":            _number("EndTime"),
    "InfrastructureDescription": _infrastructure(1),
    "InfrastructureType": _infrastructure(0),
    "MemoryReal":         _kilobytes("Memory"),
    "MemoryVirtual":      _kilobytes("Swap"),
    "ServiceLevelType":   _SummaryFact(("Resource",), _level(0), of=is_level),
    "ServiceLevel":       _SummaryFact((), _level(1), ("Resource",), of=is_level),
}
# fmt: on
_ENDED = RecordPart(("State",), _ended, there=("ExitCode", "EndTime"))
_BEFORE = (*map(_demanded, _DEMANDED), _ENDED)
RECORD = (*_BEFORE, *(fact.part(key) for key, fact in _FACTS.items()))


def facts(job: TakenJob, options: WriterOptions) -> ApelJob:
    """What APEL wants of a job. Raises ``Unfit`` where it lacks what every record has."""
    for part in _BEFORE:
        part.write(job, options)
    return ApelJob(*(fact.told(key, job, options) for key, fact in _FACTS.items()))


class _SummaryKey(NamedTuple):
    """What jobs have in common that are added up; the names are APEL's."""

    Site: str
    Month: int
    Year: int
    GlobalUserName: str
    VO: str
    VOGroup: str
    VORole: str
    SubmitHost: str
    InfrastructureType: str
    ServiceLevelType: str
    ServiceLevel: str
    NodeCount: int | None
    Processors: int | None


@dataclass(slots=True)
class _SummarySum:
    earliest: int
    latest: int
    wall: int = 0
    cpu: int = 0
    jobs: int = 0

    def add(self, job: ApelJob) -> None:
        self.earliest = min(self.earliest, job.EndTime)
        self.latest = max(self.latest, job.EndTime)
        self.wall += job.WallDuration
        self.cpu += job.CpuDuration
        self.jobs += 1

    def include(self, more: _SummarySum) -> None:
        """Add the sums of other jobs."""
        self.earliest = min(self.earliest, more.earliest)
        self.latest = max(self.latest, more.latest)
        self.wall += more.wall
        self.cpu += more.cpu
        self.jobs += more.jobs

    def pairs(self) -> dict[str, int]:
        """The sums by APEL's names."""
        return {
            "EarliestEndTime": self.earliest,
            "LatestEndTime": self.latest,
            "WallDuration": self.wall,
            "CpuDuration": self.cpu,
            "NumberOfJobs": self.jobs,
        }


@dataclass(slots=True)
class UsageSummary:
    """Sums by month of the end (in UTC), user, VO and kind of job; memory grows with the groups."""

    _groups: dict[_SummaryKey, _SummarySum] = field(default_factory=dict)

    def add(self, job: ApelJob) -> None:
        """Add a job up."""
        found = self._groups.setdefault(_group(job), _SummarySum(job.EndTime, job.EndTime))
        found.add(job)

    def include(self, more: UsageSummary) -> None:
        """Add the sums of other jobs, which come behind these."""
        for group, sums in more._groups.items():
            if group in self._groups:
                self._groups[group].include(sums)
            else:
                self._groups[group] = sums

    def records(self) -> Iterator[str]:
        """The records of the message, in the order in which their groups were met."""
        for group, found in self._groups.items():
            yield _lines((*group._asdict().items(), *found.pairs().items())) + END


def _group(job: ApelJob) -> _SummaryKey:
    end = datetime.fromtimestamp(job.EndTime, UTC)
    return _SummaryKey(
        job.Site, end.month, end.year, job.GlobalUserName, job.VO, job.VOGroup, job.VORole,
        job.SubmitHost, job.InfrastructureType, job.ServiceLevelType, job.ServiceLevel,
        job.NodeCount, job.Processors,
    )  # fmt: skip


class _Month(NamedTuple):
    """Jobs of a submit host that ended in a month, in the words of APEL."""

    Site: str
    SubmitHost: str
    Month: int
    Year: int


@dataclass(slots=True)
class Sync:
    """How many jobs ended in each month, by which a repository finds what did not reach it."""

    _jobs: dict[_Month, int] = field(default_factory=dict)

    def add(self, job: ApelJob) -> None:
        """Count a job. Raises ``Unfit`` for one of no submit host."""
        if not job.SubmitHost:
            raise Unfit("no SubmitHost, which APEL demands")
        end = datetime.fromtimestamp(job.EndTime, UTC)
        month = _Month(job.Site, job.SubmitHost, end.month, end.year)
        self._jobs[month] = self._jobs.get(month, 0) + 1

    def include(self, more: Sync) -> None:
        """Count other jobs, which come behind these."""
        for month, jobs in more._jobs.items():
            self._jobs[month] = self._jobs.get(month, 0) + jobs

    def records(self) -> Iterator[str]:
        """The records of the message, in the order in which months were met."""
        for month, jobs in self._jobs.items():
            yield _lines((*month._asdict().items(), ("NumberOfJobs", jobs))) + END


@dataclass(slots=True)
class _Normalised:
    sums: _SummarySum
    wall: dict[str, Fraction]
    cpu: dict[str, Fraction]


@dataclass(slots=True)
class NormalisedSummary:
    """Sums with what they are worth by each benchmark: seconds times its figure.

    Jobs that state other benchmarks than others have a record of their own, so that all sums of a
    record are of the same jobs.
    """

    _groups: dict[tuple[_SummaryKey, tuple[str, ...]], _Normalised] = field(default_factory=dict)

    def add(self, job: ApelJob, levels: Mapping[str, Fraction]) -> None:
        """Add a job up. Raises ``Unfit`` for one that is worth nobody knows what."""
        if not levels:
            raise Unfit("no benchmark, by which a normalised summary counts")
        if wrong := next((kind for kind in levels if not _KIND.fullmatch(kind)), None):
            raise Unfit(f"a benchmark called {wrong!r}, which APEL cannot hold")
        group = _group(job)._replace(ServiceLevelType="", ServiceLevel="")
        key = (group, tuple(sorted(levels)))
        found = self._groups.get(key)
        if found is None:
            zero = dict.fromkeys(key[1], Fraction(0))
            found = _Normalised(_SummarySum(job.EndTime, job.EndTime), zero, dict(zero))
            self._groups[key] = found
        found.sums.add(job)
        for kind, figure in levels.items():
            found.wall[kind] += job.WallDuration * figure
            found.cpu[kind] += job.CpuDuration * figure

    def include(self, more: NormalisedSummary) -> None:
        """Add the sums of other jobs, which come behind these."""
        for key, those in more._groups.items():
            found = self._groups.setdefault(key, those)
            if found is not those:
                found.sums.include(those.sums)
                for kind in key[1]:
                    found.wall[kind] += those.wall[kind]
                    found.cpu[kind] += those.cpu[kind]

    def records(self) -> Iterator[str]:
        """The records of the message, in the order in which their groups were met."""
        for (group, _), found in self._groups.items():
            pairs = group._asdict()
            pairs["Infrastructure"] = pairs.pop("InfrastructureType")
            sums = found.sums.pairs()
            jobs = sums.pop("NumberOfJobs")
            worth = {
                "NormalisedWallDuration": _dictionary(found.wall),
                "NormalisedCpuDuration": _dictionary(found.cpu),
                "NumberOfJobs": jobs,
            }
            yield _lines((*pairs.items(), *sums.items(), *worth.items())) + END


def _dictionary(worth: Mapping[str, Fraction]) -> str:
    """Figures by names, rounded half up: ``{hepspec: 519728, HEPscore23: 708720}``."""
    pairs = (f"{kind}: {(value + Fraction(1, 2)).__floor__()}" for kind, value in worth.items())
    return f"{{{', '.join(pairs)}}}"


def _lines(pairs: Iterable[tuple[str, object]]) -> str:
    """Keys and values, one pair on a line; a line break inside a value becomes a blank."""
    return "".join(
        f"{key}: {_as_read(str(value))}\n"
        for key, value in pairs
        if value is not None and value != ""
    )
