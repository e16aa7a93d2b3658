"""Jobs to APEL's messages: one record for each job, or sums for each month, user and kind of job.

A record is about a job that has ended, of a site that has a name; what it lacks is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from typing import NamedTuple

from sssjob import units
from sssjob.accounting.writers.grid import Site, level, noted
from sssjob.accounting.writers.losses import MOST, NO_PLACE, Taken
from sssjob.accounting.writers.writer import Unfit
from sssjob.errors import InvalidValue

INDIVIDUAL = "APEL-individual-job-message: v0.3\n"
SUMMARY = "APEL-summary-job-message: v0.2\n"
END = "%%\n"

_KB = 1024


class Facts(NamedTuple):
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
    InfrastructureType: str
    MemoryReal: int | None
    MemoryVirtual: int | None
    ServiceLevelType: str
    ServiceLevel: str


def facts(job: Taken, site: Site) -> Facts:
    """What APEL wants of a job. Raises ``Unfit`` where it lacks what every record has."""
    extensions = noted(job)
    benchmark = level(job, site)
    needed = {
        "Duration": job.amount("Duration"), "CpuDuration": job.amount("CpuDuration"),
        "StartTime": job.time("StartTime"), "EndTime": job.time("EndTime"),
    }  # fmt: skip
    machine = job.text("Machine")
    name = extensions.get("Site") or site.name or machine  # decision 118
    for key, value in needed.items():
        if value is None:
            raise Unfit(f"no {key}, which APEL demands")
    if not name:
        raise Unfit("no name of a site, which APEL demands")
    if job.peek("State") == "Completed":
        job.text("State")  # every record is about a job that has ended
    return Facts(
        name,
        site.submit_host or job.text("SubmitHost"),
        machine,
        job.text("Queue"),
        job.text("Id"),
        job.text("User"),
        job.text("GlobalUser"),
        extensions.get("FQAN", ""),
        job.text("Project"),
        extensions.get("vo-group", ""),
        extensions.get("vo-role", ""),
        needed["Duration"] or 0,
        needed["CpuDuration"] or 0,
        job.amount("Processors"),
        job.amount("NodeCount"),
        needed["StartTime"] or 0,
        needed["EndTime"] or 0,
        site.infrastructure,
        _kilobytes(job, "Memory"),
        _kilobytes(job, "Swap"),
        *benchmark,
    )


def record(found: Facts) -> str:
    """One record of a message about individual jobs."""
    return _lines(found._asdict().items()) + END


class _Group(NamedTuple):
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
class _Sum:
    earliest: int
    latest: int
    wall: int = 0
    cpu: int = 0
    jobs: int = 0


@dataclass(slots=True)
class Summary:
    """Sums by month of the end (in UTC), user, VO and kind of job; memory grows with the groups."""

    _groups: dict[_Group, _Sum] = field(default_factory=dict)

    def add(self, job: Facts) -> None:
        """Add a job up."""
        end = datetime.fromtimestamp(job.EndTime, UTC)
        group = _Group(
            job.Site, end.month, end.year, job.GlobalUserName, job.VO, job.VOGroup, job.VORole,
            job.SubmitHost, job.InfrastructureType, job.ServiceLevelType, job.ServiceLevel,
            job.NodeCount, job.Processors,
        )  # fmt: skip
        found = self._groups.setdefault(group, _Sum(job.EndTime, job.EndTime))
        found.earliest = min(found.earliest, job.EndTime)
        found.latest = max(found.latest, job.EndTime)
        found.wall += job.WallDuration
        found.cpu += job.CpuDuration
        found.jobs += 1

    def records(self) -> Iterator[str]:
        """The records of the message, in the order in which their groups were met."""
        for group, found in self._groups.items():
            sums = {
                "EarliestEndTime": found.earliest,
                "LatestEndTime": found.latest,
                "WallDuration": found.wall,
                "CpuDuration": found.cpu,
                "NumberOfJobs": found.jobs,
            }
            yield _lines((*group._asdict().items(), *sums.items())) + END


def _lines(pairs: Iterable[tuple[str, object]]) -> str:
    """Keys and values, one pair on a line; a line break inside a value becomes a blank."""
    return "".join(
        f"{key}: {' '.join(str(value).splitlines())}\n"
        for key, value in pairs
        if value is not None and value != ""
    )


def _kilobytes(job: Taken, name: str) -> int | None:
    """The most that was measured, or else what was given, in KB rounded up."""
    found = job.all(name, "units", "metric")
    sizes: dict[str, Fraction] = {}
    for item in found:
        metric = item.attributes.get("metric", "")
        unit = item.attributes.get("units") or units.DEFAULT_UNITS[name]
        try:
            size = units.bytes_of(item.text, unit)
        except InvalidValue as error:
            job.lose(item, str(error))
            continue
        if not 0 <= size <= MOST:
            job.lose(item, "below zero" if size < 0 else "too large a number")
        elif metric in ("Max", "Total", "") and metric not in sizes:
            sizes[metric] = size
        else:
            job.lose(item, NO_PLACE)
    best = next((sizes[metric] for metric in ("Max", "Total", "") if metric in sizes), None)
    return None if best is None else -(-best // _KB)
