"""A features directory as facts about a job: what the site gave, beside what was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from sssjob import units
from sssjob.amounts import UNKNOWN, Amount, Scope, longest
from sssjob.errors import Finding, Severity, finding
from sssjob.feature_rules import job_id
from sssjob.features import keys
from sssjob.features.keys import Value
from sssjob.features.sources import EXTENSION, MACHINE_EXTENSION, RATING
from sssjob.fold import DELIVERED, JOB, Fact
from sssjob.model import Job, Property

# A batch system and the job's own record seldom agree to the second about the start.
START_TOLERANCE = 60

_NOTHING: Mapping[str, Value] = {}
_CONFIGURED = {"context": "Configured"}
_HARD = {"type": "Hard"}


class KeyTable(NamedTuple):
    """Keys, the place and element each one goes to, and the type of extension for all others."""

    extension: str
    rows: tuple[keys.Key, ...]
    places: Mapping[str, tuple[str, str, Mapping[str, str]]]


# fmt: off
# Section 7 of the mapping, as far as a key alone decides: where it goes, and as what.
JOB_TABLE = KeyTable(EXTENSION, keys.JOB_FEATURES, {
    "allocated_cpu":       (DELIVERED, "Processors",    {}),
    "jobstart_secs":       (JOB,       "StartTime",     {}),
    "hs06_job":            (DELIVERED, "Resource",      {"name": RATING}),
    "cpu_limit_secs":      (JOB,       "ResourceLimit", {"name": "CPUTime",         **_HARD}),
    "max_rss_bytes":       (JOB,       "ResourceLimit", {"name": "ResidentSetSize", **_HARD}),
    "max_swap_bytes":      (JOB,       "ResourceLimit", {"name": "Swap",            **_HARD}),
    "scratch_limit_bytes": (JOB,       "ResourceLimit", {"name": "Disk",            **_HARD}),
    "shutdowntime_job":    (JOB,       "DeadlineTime",  {}),
})
MACHINE_TABLE = KeyTable(MACHINE_EXTENSION, keys.MACHINE_FEATURES, {
    "hs06":                (DELIVERED, "Resource",      {"name": RATING, **_CONFIGURED}),
    "total_cpu":           (DELIVERED, "Processors",    _CONFIGURED),
    "shutdowntime":        (JOB,       "DeadlineTime",  {}),
})
# fmt: on

# Looked at below, or computed again from their twins whenever they are needed.
_ELSEWHERE = ("job_id", "wall_limit_secs", "cpu_limit_secs_lrms", "wall_limit_secs_lrms")


@dataclass(frozen=True, slots=True)
class FeatureFacts:
    """Facts to fold, and what does not fit the job; ``about`` is false for another job's."""

    facts: tuple[Fact, ...]
    findings: tuple[Finding, ...] = ()
    about: bool = True


# decision 653
def is_of(job: Job, stated: Value | None) -> bool:
    """Whether a job_id is of a job: its Id, or the GlobalId that HTCondor has for it."""
    names = (job.id, job.get("GlobalId"))
    return str(stated) in {job_id(name) for name in names if name}


def facts(
    job: Job,
    features: Mapping[str, Value],
    machine: Mapping[str, Value] = _NOTHING,
    *,
    now: int | None = None,
    force: bool = False,
) -> FeatureFacts:
    """The facts about a job in values of $JOBFEATURES and $MACHINEFEATURES (2016 vocabulary).

    A directory whose job_id is another's gives no facts and a finding of severity error, unless
    ``force``. ``now`` lets a job without EndTime have run until then.
    """
    stated = features.get("job_id")
    if stated is not None and not force and not is_of(job, stated):
        text = f"the directory belongs to job {stated}, not to {job.id or 'one without an Id'}"
        wrong = finding("W-DISAGREE", text, path="/Job/Id", severity=Severity.ERROR)
        return FeatureFacts((), (wrong,), about=False)
    found: list[Finding] = []
    elapsed = _elapsed(job, features, now, found)
    ran = () if elapsed is None else (Property("Duration", elapsed),)
    start = features.get("jobstart_secs", _time(job, "StartTime") or 0)
    earliest = start if isinstance(start, int) else 0
    given = [
        *(Fact(item, DELIVERED, START_TOLERANCE) for item in ran),
        *_by_table(features, JOB_TABLE, earliest, elapsed),
        *_wall_limit(job, features, found),
        *_by_table(machine, MACHINE_TABLE, earliest, None),
    ]
    return FeatureFacts(tuple(given), tuple(found))


def _by_table(
    values: Mapping[str, Value], table: KeyTable, start: int, elapsed: int | None
) -> Iterator[Fact]:
    order = {row.name: number for number, row in enumerate(table.rows)}
    for name in sorted(values, key=lambda name: (order.get(name, len(order)), name)):
        value = values[name]
        if name in _ELSEWHERE:
            continue
        if name not in table.places:
            extra = {"type": table.extension, "name": name}
            yield Fact(Property("Extension", keys.spell(value), extra), JOB)
            continue
        place, element, attributes = table.places[name]
        if element == "DeadlineTime" and (isinstance(value, str) or value <= start):
            continue
        if name == "hs06_job" and elapsed is not None:
            attributes = {**attributes, "duration": str(elapsed)}
        tolerance = START_TOLERANCE if element == "StartTime" else 0
        yield Fact(Property(element, keys.spell(value), attributes), place, tolerance)


def _elapsed(
    job: Job, features: Mapping[str, Value], now: int | None, found: list[Finding]
) -> int | None:
    """Seconds in the Running state, once the end is known or the caller says what time it is."""
    start, end = features.get("jobstart_secs"), _time(job, "EndTime")
    end = now if end is None else end
    if not isinstance(start, int) or end is None:
        return None
    known = _time(job, "StartTime")
    if known is not None and abs(known - start) <= START_TOLERANCE:
        start = known
    seconds = units.seconds_between(start, end, _time(job, "SuspendDuration") or 0)
    if seconds is None:
        text = f"jobstart_secs {start} is after the end of the job, {end}"
        found.append(finding("W-RANGE", text, path="/Job/EndTime"))
    return seconds


def _wall_limit(job: Job, features: Mapping[str, Value], found: list[Finding]) -> Iterator[Fact]:
    """A limit is not usage: it is compared with the request, and kept as a limit without one."""
    value = features.get("wall_limit_secs")
    if value is None or isinstance(value, str):
        return
    asked = _asked(job)
    if asked is None:
        attributes = {"name": "Duration", "type": "Hard"}
        yield Fact(Property("ResourceLimit", keys.spell(value), attributes), JOB)
    elif asked.basis != UNKNOWN and Fraction(value) not in asked.admitted:
        found.append(
            finding(
                "W-DISAGREE",
                f"wall_limit_secs {keys.spell(value)} is not the Duration that is requested, "
                f"{keys.spell(asked.value)}",
                path=asked.source,
            )
        )


def _asked(job: Job) -> Amount | None:
    scope = Scope(job, "/Job")
    if (asked := scope.requested("Duration")) is not None:
        return asked
    if (bare := scope.bare("Duration")) is not None and "EndTime" not in job.properties.names():
        return bare
    return longest(Scope(group, "/Job/TaskGroup", scope.report) for group in job.task_groups)


def _time(job: Job, name: str) -> int | None:
    item = job.properties.get(name)
    value = None if item is None else Scope(job, "/Job").read(item)
    return None if value is None else int(value)
