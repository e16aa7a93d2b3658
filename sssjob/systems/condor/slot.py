"""Machine/Job Features of a slot and of the job in it, from their two ads.

Hooks come by here: nothing slow is imported, and expressions are worked out only where a value is
one. Memory is MiB in ads, Disk and VirtualMemory are KiB.
"""

from __future__ import annotations

from sssjob.classads.question import one_question
from sssjob.classads.values import Ad
from sssjob.feature_rules import (
    GRANTED,
    REQUESTED,
    STATED,
    cpu_limit_secs,
    hs06_job,
    is_told,
    job_id,
    winner,
)
from sssjob.integers import limit_seconds
from sssjob.systems.condor import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Values = dict[str, int | str]
    Whole = Callable[[int | float], int]

MIB, KIB = 1 << 20, 1 << 10
_JOB, _SLOT = 0, 1  # whose ad

# fmt: off
# Who says a key (see ``feature_rules.PRECEDENCE``), by which attributes, and their unit. Where
# several say a limit, the least holds, as in records (``accounting.table.limit``); else the first.
SOURCES = (
    ("allocated_cpu",       GRANTED,   ((_JOB, "CpusProvisioned"), (_SLOT, "Cpus")), 1),
    ("allocated_cpu",       REQUESTED, ((_JOB, "RequestCpus"),), 1),
    ("jobstart_secs",       GRANTED,   ((_JOB, "JobCurrentStartDate"), (_JOB, "JobStartDate"),
                                        (_SLOT, "JobStart")), 1),
    ("max_rss_bytes",       GRANTED,   ((_JOB, "MemoryProvisioned"), (_SLOT, "Memory")), MIB),
    ("scratch_limit_bytes", GRANTED,   ((_JOB, "DiskProvisioned"), (_SLOT, "Disk")), KIB),
    ("wall_limit_secs",     GRANTED,   ((_SLOT, "MaxJobRetirementTime"),), 1),
    ("wall_limit_secs",     REQUESTED, ((_JOB, "AllowedJobDuration"),), 1),
    ("wall_limit_secs",     REQUESTED, ((_JOB, "AllowedExecuteDuration"),), 1),
)
# fmt: on
_ALWAYS_THERE = ("RequestCpus", "RequestMemory", "RequestDisk")
# A slot may have more than its job may use: of these limits the least holds, whoever sets it.
_LEAST = ("max_rss_bytes", "scratch_limit_bytes", "wall_limit_secs")
# By which attributes a job is told when it has to be out of its slot, in each activity of that.
_ENDING = {
    "Retiring":  ((_SLOT, "RetirementTimeRemaining"),),
    "Vacating":  ((_SLOT, "MachineMaxVacateTime"), (_JOB, "JobMaxVacateTime"),
                  (_SLOT, "EnteredCurrentActivity")),
    "Killing":   ((_SLOT, "EnteredCurrentActivity"),),
}  # fmt: skip
_DRAINED = "ExpectedMachineGracefulDrainingCompletion"
# Of what was given, the two ads may say more than there is.
_AMOUNTS = ("allocated_cpu", *_LEAST)


@one_question
def machine_features(slot: Ad, now: int | None = None) -> Values:
    """The values of $MACHINEFEATURES that the ad of a slot tells; what it does not is absent.

    A machine's rating is what the site publishes as MJF_HS06 or hs06. A shutdown that is not
    after ``now`` is left out.
    """
    found: Values = {}
    _put(found, "total_cpu", _number(slot, "TotalCpus") or _number(slot, "DetectedCpus"))
    _put(found, "log_cores", _number(slot, "DetectedCpus"))
    _put(found, "phys_cores", _number(slot, "DetectedPhysicalCpus"))
    _put(found, "jobslots", _job_slots(slot))
    _put(found, "grace_secs", _number(slot, "MachineMaxVacateTime"), least=0)
    end = _number(slot, _DRAINED)
    if slot.get("Draining") is True and end and (now is None or end > now):
        _put(found, "shutdowntime", end)
    _rating(found, "hs06", slot)
    for name in slot:
        # What startd cron publishes completes what HTCondor knows: its count of processors is the
        # one that it gives away. A rating is a real, and known already.
        key = name[len(names.PUBLISHED) :]
        if name.startswith(names.PUBLISHED) and key != "hs06" and key not in found:
            _put(found, key, _number(slot, name), least=0)
    return found


@one_question
def job_features(job: Ad, slot: Ad, now: int | None = None) -> Values:
    """The values of $JOBFEATURES for a job in a slot; limits that are not known are absent.

    What a job object said of itself (attributes SSSFeature_...) comes first where it is a limit
    of the job, and the slot's size where that is less. ``now`` is the start of a job that has
    none in its ad.
    """
    found: Values = {}
    said = _said(job, slot)
    if "jobstart_secs" not in said and (start := now or _number(slot, "EnteredCurrentActivity")):
        said["jobstart_secs"] = {GRANTED: start}
    for key in dict.fromkeys((*(row[0] for row in SOURCES), *said)):
        if values := said.get(key):
            found[key] = min(values.values()) if key in _LEAST else values[winner(values)]
    limit = found.get("wall_limit_secs")
    if limit and "allocated_cpu" in found and "cpu_limit_secs" not in found:
        found["cpu_limit_secs"] = cpu_limit_secs(int(limit), int(found["allocated_cpu"]))
    _put(found, "shutdowntime_job", shutdown(job, slot, now))
    identity = job.text("GlobalJobId") or _identity(job)
    if identity:
        found["job_id"] = job_id(identity)
    _rating(found, "hs06_job", slot)
    if "hs06_job" not in found:
        _share(found, machine_features(slot, now))
    return found


def unreadable(job: Ad, slot: Ad) -> Iterator[tuple[str, str]]:
    """The keys that an attribute is to tell, and the attribute, where it is no number from 0 on."""
    ads = job, slot
    rows = [(key, ads[ad], name) for key, _, places, _ in SOURCES for ad, name in places]
    rows += [(each[len(names.FEATURE) :], job, each) for each in job
             if each.startswith(names.FEATURE)]  # fmt: skip
    rows += [("shutdowntime_job", ads[ad], name) for ad, name in _ENDING.get(_stage(slot), ())]
    rows.append(("shutdowntime_job", slot, "ClaimEndTime"))
    rows.append(("shutdowntime_job", job, names.OWN["DeadlineTime"]))
    if slot.get("Draining") is True:
        rows.append(("shutdowntime", slot, _DRAINED))
    for key, ad, name in rows:
        value = _number(ad, name) if name in ad else 0
        if value is None or value < 0:
            yield key, name
    if _stage(slot) in _ENDING and eviction(slot, job, 0) is None:
        yield "shutdowntime_job", _ENDING[_stage(slot)][0][1]


def apart(job: Ad, slot: Ad) -> Iterator[str]:
    """A sentence for each amount of which the slot has less than the job's ad says it was given."""
    for key, who, places, _ in SOURCES:
        stated = list(_stated(job, slot, key, places))
        if who == GRANTED and key in _AMOUNTS and len(stated) > 1:
            (name, value), (other, least) = stated[0], min(stated, key=lambda each: each[1])
            if least < value:
                yield f"{key} is {value} by {name}, but {least} by {other}"


def lacking(
    job: Ad, slot: Ad
) -> Iterator[tuple[str, int | float, int | float | None]]:  # fmt: skip
    """What a job requests and a slot has not: attribute, amount wanted, amount there.

    What a slot does not tell of processors, memory and disk, it has; of all else it has nothing.
    """
    for attribute in job:
        if attribute.startswith("Request"):
            wanted, has = job.number(attribute), slot.number(attribute[len("Request") :])
            if wanted is None or (has is not None and wanted <= has):
                continue
            if has is not None or (wanted and attribute not in _ALWAYS_THERE):
                yield attribute, wanted, has


def _share(found: Values, machine: Values) -> None:
    """The job's share of the rating of its machine; a job cannot have more than that has."""
    rating, total, given = machine.get("hs06"), machine.get("total_cpu"), found.get("allocated_cpu")
    if rating is None or total is None or given is None or int(given) > int(total):
        return
    if share := hs06_job(round(float(rating) * 100), int(total), int(given)):
        found["hs06_job"] = _decimals(share / 100)


def _decimals(rating: float) -> str:
    """A rating as a file has it: two decimals are enough."""
    return f"{rating:.2f}".rstrip("0").rstrip(".")


def _identity(job: Ad) -> str:
    return job.text(names.JOB_ID) or _number_of(job)


def _number_of(job: Ad) -> str:
    cluster, proc = _number(job, "ClusterId"), _number(job, "ProcId")
    return "" if cluster is None else f"{cluster}.{proc or 0}"


def ids(job: Ad) -> Iterator[str]:
    """All names of a job by its ad."""
    found = (job.text("GlobalJobId"), job.text(names.JOB_ID), _number_of(job))
    yield from filter(None, found)


def _job_slots(slot: Ad) -> int | None:
    """A machine with one partitionable slot has as many as that has processors."""
    if slot.get("PartitionableSlot") is True or slot.get("DynamicSlot") is True:
        return _number(
            slot, "TotalSlotCpus" if slot.get("DynamicSlot") is not True else "TotalCpus"
        )
    return _number(slot, "TotalSlots")


def shutdown(job: Ad, slot: Ad, now: int | None) -> int | None:
    """When the job has to be out of its slot, or has to end; None where nobody says so.

    Of an eviction and the end of the claim the former counts. A moment that has passed says
    nothing.
    """
    ends = eviction(slot, job, now)
    places = (
        (job, names.OWN["DeadlineTime"]),
        *(((slot, "ClaimEndTime"),) if ends is None else ()),
    )
    told = (_number(ad, name) for ad, name in places)
    later = [end for end in told if end and (now is None or end > now)]
    return min(later if ends is None else (ends, *later), default=None)


def eviction(slot: Ad, job: Ad, now: int | None = None) -> int | None:
    """When the job that is being put out of a slot has to be gone; None where none is, or nobody
    tells.

    It retires first, for as long as it was promised, then it may clean up (vacates) for the time
    that the machine gives, or for less that it asked for itself; the drain of a machine may leave
    out one or both (``condor_drain -quick``, ``-fast``). HTCondor begins with vacating so early
    that both end together. ``now`` stands for the time of an ad that has none.
    """
    activity, entered = _stage(slot), _number(slot, "EnteredCurrentActivity")
    if activity == "Killing":
        return entered
    if activity == "Vacating":
        spans = (_number(slot, "MachineMaxVacateTime"), _number(job, "JobMaxVacateTime"))
        known = [span for span in spans if span is not None and span >= 0]
        return entered + min(known) if entered is not None and known else None
    left = _number(slot, "RetirementTimeRemaining")
    if activity == "Retiring" and left is not None:
        moment = _number(slot, "MyCurrentTime") or now
        return None if moment is None else moment + left
    return None


def _stage(slot: Ad) -> str:
    """The activity of a slot; "" of one that has drained, or waits for others to drain."""
    return "" if slot.text("State") == names.DRAINED else slot.text("Activity")


def emptied(slot: Ad) -> int | None:
    """Since when a slot has drained, and all others of its startd, too; None where they have not.

    One that waits for others has the same State, and retires.
    """
    has_drained = slot.text("State") == names.DRAINED and slot.text("Activity") == "Idle"
    return _number(slot, "EnteredCurrentActivity") if has_drained else None


def _said(job: Ad, slot: Ad) -> dict[str, dict[str, int]]:
    """What the two ads say of each key, by who says it."""
    found: dict[str, dict[str, int]] = {}
    for key, who, places, unit in SOURCES:
        values = [value for _, value in _stated(job, slot, key, places)]
        if values:
            value = (min(values) if key in _AMOUNTS else values[0]) * unit
            told = found.setdefault(key, {})
            told[who] = min(told.get(who, value), value)
    for name in job:
        key = name[len(names.FEATURE) :]
        if not name.startswith(names.FEATURE) or (stated := _number(job, name)) is None:
            continue
        if is_told(key, stated):
            found.setdefault(key, {})[STATED] = stated
    return found


def _rating(found: Values, key: str, slot: Ad) -> None:
    """A rating that the site publishes."""
    for name in (f"{names.PUBLISHED}{key}", f"MJF_{key.upper()}", key):
        value = slot.number(name)
        if value is not None and value > 0:
            found[key] = _decimals(value)
            return


def _put(found: Values, key: str, value: int | None, least: int = 1) -> None:
    if value is not None and value >= least:
        found[key] = value


def _stated(
    job: Ad, slot: Ad, key: str, places: tuple[tuple[int, str], ...]
) -> Iterator[tuple[str, int]]:
    """The attributes that say a key, and their numbers above 0."""
    whole = limit_seconds if key == "wall_limit_secs" else int
    for ad, name in places:
        value = _number((job, slot)[ad], name, whole) or 0
        if value > 0:
            yield name, value


def _number(ad: Ad, name: str, whole: Whole = int) -> int | None:
    value = ad.number(name)
    if value is None and name in ad:
        from sssjob.classads.evaluate import number

        value = number(ad, name)
    return None if value is None or value - value != 0 else whole(value)
