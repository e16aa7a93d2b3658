"""Before a job starts: its directories are made of what the batch system and its document say."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sssjob import directory_handles as handles
from sssjob import host_name
from sssjob.amounts import MINIMUM, Amount
from sssjob.errors import Finding, SSSJobError, Unprotected
from sssjob.features import host, keys, machine
from sssjob.features.batch import documents
from sssjob.features.batch.allocation import Allocation, amount, features
from sssjob.features.batch.call import Invocation
from sssjob.features.batch.directories import (
    MACHINE,
    Directories,
    announce,
    is_watched,
    make_machine,
    user_number,
)
from sssjob.features.keys import Value
from sssjob.features.precedence import Features
from sssjob.features.read import read
from sssjob.features.site import Setting, SiteTables
from sssjob.features.vocabulary import spoken
from sssjob.model import Job

_SHOWN = 40  # characters of a name


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """What a site wants: where directories and documents are, and what it says of its machines.

    ``jobs`` is the directory of documents, ``scratch`` one of the scratch space; "" is none.
    ``status_size`` is the room of a $JOBSTATUS in bytes; 0 is that of the file system.
    """

    root: Path
    jobs: str = ""
    site: SiteTables | None = None
    scratch: str = ""
    vocabulary: str = "both"
    status_size: int = 0


@dataclass(frozen=True, slots=True)
class Started:
    """The directories that stand now, what is in them, and what was found on the way."""

    directories: Directories
    features: Features
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = field(default=())


def start(call: Invocation, settings: SiteSettings, now: int | None = None) -> Started:
    """Make the directories of the job that calls, and tell it their names where a prolog can.

    What cannot be asked or read is noted, and missing. Raises ``InvalidValue`` where no job calls,
    ``Unprotected`` where others could lead root elsewhere, or ``OSError``.
    """
    call.export({})  # whatever goes wrong now, no job has what is of another one
    handles.check(settings.root)
    group = call.group()
    enforced = _enforced(settings.scratch, group)
    given = _without_least(call.allocation(known=_of_this_job(enforced, group)), enforced)
    notes = list(given.notes)
    told: list[Finding] = []
    job, is_described = _described(settings.jobs, given, notes, told)
    node = given.node or host_name.own()
    known = {} if settings.site is None else settings.site.of(node)
    moment = int(time.time()) if now is None else now
    values = _machine(call, settings.root, node, known, moment, notes)
    found = features(
        given, job, now=moment, machine=values,
        settings={} if settings.site is None else settings.site.settings(node),
        host=enforced,
    )  # fmt: skip
    directories = Directories(settings.root, given.job_id)
    is_root = os.geteuid() == 0
    user = _known_user(given.user, call.system, notes) if is_root else ""
    room = settings.status_size if is_root else 0
    offered = spoken(found.values, settings.vocabulary)
    is_folded = is_described and bool(given.alone)
    without = directories.make(offered, user, room, given.unlearned, is_described=is_folded)
    notes += [without] if without else []
    call.export(directories.variables())
    return Started(directories, found, tuple(notes), (*told, *found.findings))


def _known_user(user: str, system: str, notes: list[str]) -> str:
    """Whose the job is; "" where nobody knows, which is noted."""
    why = "" if user else f"{system} does not say whose the job is"
    if user:
        try:
            user_number(user)
        except LookupError:
            why = f"{system} says that the job is {user[:_SHOWN]!r}'s, who is no user here"
    if why:
        notes.append(f"{why}: root owns its $JOBSTATUS")
    return "" if why else user


def _of_this_job(enforced: Mapping[str, Amount], group: str) -> set[str]:
    """The keys of which nobody else need be asked; what binds a group above binds more jobs."""
    return {
        name for name, each in enforced.items()
        if name == "scratch_limit_bytes" or os.path.dirname(each.source) == group
    }  # fmt: skip


def _without_least(given: Allocation, enforced: Mapping[str, Amount]) -> Allocation:
    """Without a size that is at least there, where the whole is known. # decision 534"""
    amounts = {
        name: each for name, each in given.amounts.items()
        if each.basis != MINIMUM or name not in enforced
    }  # fmt: skip
    return replace(given, amounts=amounts)


@dataclass(frozen=True, slots=True)
class Preview:
    """What a job with one processor, and without limits of its own, would find on this node."""

    node: str
    machine: Mapping[str, Value]
    job: Mapping[str, Value]
    notes: tuple[str, ...] = ()


def preview(call: Invocation, settings: SiteSettings, node: str, now: int) -> Preview:
    """What a prolog would write on this node, of which nothing is written."""
    notes: list[str] = []
    known = {} if settings.site is None else settings.site.of(node)
    values = dict(_described_machine(call, node, known, now, notes))
    shutdown = call.shutdown(node, now, notes)
    if shutdown is not None and shutdown.moment is not None:
        values["shutdowntime"] = int(shutdown.moment.value)
    given = Allocation("1", node, amounts={"allocated_cpu": amount(1, "an example")})
    found = features(
        given, None, now=now, machine=values,
        settings={} if settings.site is None else settings.site.settings(node),
        host=_enforced(settings.scratch, ""),
    )  # fmt: skip
    if "hs06" not in values:
        notes.append(
            f"no rating of {node} is known: --site says hs06; hs06 and hs06_job are missing"
        )
    return Preview(
        node, spoken(values, "both"), spoken(found.values, settings.vocabulary), tuple(notes)
    )


def _machine(
    call: Invocation,
    root: Path,
    node: str,
    known: Mapping[str, Setting],
    now: int,
    notes: list[str],
) -> Mapping[str, Value]:
    """The values of $MACHINEFEATURES, which are made if they are not there.

    Only the site and the batch system know how many processors jobs may have; while neither says
    it, that is missing, and asked again for the next job. When jobs have to be gone is asked
    for each, but where ``features watch`` asks it for all of them. # decision 535
    """
    standing = _standing(root)
    if "total_cpu" not in standing:
        values = _described_machine(call, node, known, now, notes)
        make_machine(root, spoken(values, "both"))
        standing = {**values, **standing}
    if is_watched(root, call.system, node, now):
        return standing
    shutdown = call.shutdown(node, now, notes)
    if shutdown is not None and standing:
        moment = None if shutdown.moment is None else int(shutdown.moment.value)
        announce(root, {call.system: moment}, now)
    return standing


def _described_machine(
    call: Invocation, node: str, known: Mapping[str, Setting], now: int, notes: list[str]
) -> Mapping[str, Value]:
    """What the site, the batch system and the machine itself say of it."""
    granted: dict[str, Amount] = {}
    if "total_cpu" not in known and (found := call.processors(node, notes)) is not None:
        granted["total_cpu"] = found
    # Without it, who reads cores takes them for what jobs may have.
    of_host = host.machine() if granted or "total_cpu" in known else {}
    return machine.derive(settings=known, granted=granted, host=of_host, now=now).values


def _standing(root: Path) -> Mapping[str, Value]:
    """The values of the machine as they stand."""
    try:
        return read(root / MACHINE, keys.MACHINE_FEATURES).values
    except FileNotFoundError:
        return {}


def _described(
    jobs: str, given: Allocation, notes: list[str], told: list[Finding]
) -> tuple[Job | None, bool]:
    """The job object, if the site has one, and whether there may be a document.

    What is not understood of one that goes on without it is told, and no note.
    """
    if not jobs:
        return None, False
    place = documents.place(jobs, given.job_id)
    try:
        handles.check(jobs)
        known = documents.described(place, given.job_id)
        if known.accepted:
            told += (found.in_file(str(place)) for found in known.findings())
            return known.block, True
        notes += [f"{place}: {found.message}" for found in known.findings()]
    except Unprotected as error:
        notes.append(str(error))
    except OSError as error:
        if documents.is_absent(place):
            return None, False
        notes.append(f"{place}: {error.strerror}")
    except SSSJobError as error:
        notes.append(f"{place}: {error}")
    return None, True


def _enforced(scratch: str, group: str) -> dict[str, Amount]:
    """The scratch space, and what the job's control group limits.

    Other limits are those of the prolog itself, and none of the job.
    """
    wanted = {"scratch_limit_bytes"} if scratch else set()
    wanted |= {"max_rss_bytes", "max_swap_bytes"} if group else set()
    if not wanted:
        return {}
    found = host.job(cgroup=group, scratch=scratch)
    return {name: value for name, value in found.items() if name in wanted}
