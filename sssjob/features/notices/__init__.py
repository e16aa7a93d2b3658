"""Notices that a machine, or a job, is to end: who tells of them, and what they say.

A source is asked again and again, as ``shutdowntime`` is: what it no longer says is called off.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, cast

from sssjob import registry
from sssjob.commands import CommandFailed
from sssjob.dotted import loaded
from sssjob.errors import InvalidValue, NotFetched, SSSJobError
from sssjob.features import pod

MACHINE, JOB = "shutdowntime", "shutdowntime_job"
DRAINING = "draining"  # the machine takes no new job: no key of the texts
_LEAST = 0.05  # seconds for a question
_LONGEST = 200  # characters of a reason
_NEVER = 1 << 63  # seconds: no clock of a kernel counts so far


class Notice(NamedTuple):
    """When a machine (``shutdowntime``) or a job (``shutdowntime_job``) is to have ended, and why.

    Of ``draining`` it is since when the machine takes no new jobs, which ends nothing by itself.
    ``moment`` is in seconds since 1970. One that ``counts`` is so many seconds after it was first
    seen, because nobody says since when: who looks again keeps the first.
    """

    key: str
    moment: int
    source: str
    why: str
    counts: bool = False


class Unread(NamedTuple):
    """What a source could not say, beside what it says."""

    reason: str


def trying(notices: Iterable[Notice | Unread]) -> Iterator[Notice | Unread]:
    """A part of what a source says, of which a fault leaves all other parts as they are."""
    try:
        yield from notices
    except (NotFetched, InvalidValue) as error:
        yield Unread(str(error))


def no_new_jobs(machine: str, source: str, reason: str, since: int | None, now: int) -> Notice:
    """That a machine takes no new jobs; ``since`` is None where nobody says since when.

    A time that is none (before 1970) says nothing either. ``reason`` is what people wrote, or "".
    # decision 700
    """
    since = since if since is not None and 0 <= since < _NEVER else None
    why = f"{machine} takes no new jobs{said_by_people(reason)}"
    return Notice(DRAINING, now if since is None else since, source, why, since is None)


def said_by_people(reason: str) -> str:
    """A reason in brackets, on one line; "" where there is none."""
    text = " ".join(reason.split())
    return f" ({text[:_LONGEST]})" if text else ""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a source has to know to be asked: the job, its machine, and where services answer.

    ``environment`` is that of the job, ``node`` what the batch system calls the machine, ``url``
    where a metadata service or an API answers ("" is the usual place), ``root`` where /run and
    /proc are. ``seconds`` are for all questions of a source together. ``announced`` has the
    directory, by key, in which is announced what the sources of ``names`` say.
    """

    environment: Mapping[str, str]
    node: str = ""
    url: str = ""
    root: str = "/"
    seconds: float = 5.0
    announced: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    end: float | None = None  # of the time to answer, by the monotonic clock

    def share(self, questions: int = 1) -> float:
        """The seconds for the next one of so many questions that are still to be asked."""
        left = self.seconds if self.end is None else self.end - time.monotonic()
        return max(left / questions, _LEAST)

    def called(self, name: str) -> str:
        """By which name a source announces what it says."""
        row = registry.all_systems().get(name)
        return name if self.node or not (row and row.script) else f"{name}-by-host"


Source = Callable[[Surroundings, int], Iterable[Notice | Unread]]


class _Own(NamedTuple):
    """A source that is of no batch system: what reads it, what that asks, and when it is asked.

    ``around`` is the variable by which a process knows that it answers there; "" is that it
    answers anywhere, and None that it is asked only by name.
    """

    reader: str
    told_of: str
    around: str | None = None


# fmt: off
SOURCES = {
    "features":   _Own("here:read",       "$MACHINEFEATURES and $JOBFEATURES of this job", ""),
    "systemd":    _Own("systemd:read",    "systemd: a shutdown that is scheduled here", ""),
    "kubernetes": _Own("kubernetes:read", "Kubernetes: deletion of the pod, and taints of its node",
                       pod.AROUND),
    "aws":        _Own("clouds:aws",      "the metadata service of AWS EC2"),
    "azure":      _Own("clouds:azure",    "the metadata service of Azure"),
    "gce":        _Own("clouds:gce",      "the metadata service of Google Compute Engine"),
}
# fmt: on
_HERE = "sssjob.features.notices."


Said = Mapping[str, Mapping[str, Notice]]  # the earliest notices by key, by source


def earliest(said: Said) -> dict[str, Notice]:
    """The earliest notice of some sources, by key; of two at the same moment the first source's."""
    return _earliest(notice for each in said.values() for notice in each.values())


def _earliest(notices: Iterable[Notice]) -> dict[str, Notice]:
    found: dict[str, Notice] = {}
    for notice in notices:
        if notice.key not in found or notice.moment < found[notice.key].moment:
            found[notice.key] = notice
    return found


class SourceAnswer(NamedTuple):
    """What one source says: its earliest notices by key, and why it did not say all.

    Of one that ``is_last`` nothing more comes; before it, a source may say a part.
    """

    said: Mapping[str, Notice] | None  # None where it said nothing
    problem: str = ""
    is_last: bool = True


def answers(name: str, asked: Surroundings, now: int) -> Iterator[SourceAnswer]:
    """Ask one source, of which each notice is given on at once, and all together at the end.

    What it said before it failed counts; however it fails, nothing is raised. A notice stands as
    long as its source tells it, also when its moment has come.
    """
    asked = replace(asked, end=time.monotonic() + asked.seconds)
    found: list[Notice] = []
    faults: list[str] = []
    try:
        for each in _source(name)(asked, now):
            if isinstance(each, Unread):
                faults.append(each.reason)
            elif 0 <= each.moment < _NEVER:
                found.append(each)
                yield SourceAnswer(_earliest(found), is_last=False)
            else:
                faults.append(f"{each.why}: it tells no moment")
    except (NotFetched, CommandFailed, SSSJobError, OSError, ImportError) as error:
        faults.append(str(error))
    except Exception as error:  # of a source, whichever it is: it costs that one, no other
        faults.append(f"{type(error).__name__}: {error}")
    said = _earliest(found) if found or not faults else None
    yield SourceAnswer(said, "; ".join(dict.fromkeys(faults)))


def names() -> tuple[str, ...]:
    """What can be asked: the sources that are told of here, and batch systems."""
    systems = (name for name, row in registry.all_systems().items() if row.notices)
    return (*SOURCES, *systems)


def _source(name: str) -> Source:
    if name in SOURCES:
        return cast(Source, loaded(_HERE + SOURCES[name].reader))
    return cast(Source, registry.system(name).load("notices"))


def usual(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The sources that answer in such an environment; clouds are asked only by name.

    Each batch system says by which variable its jobs know it.
    """
    own = [(name, row.around) for name, row in SOURCES.items()]
    systems = [(name, row.around) for name, row in registry.all_systems().items() if row.notices]
    found = [name for name, around in own if around == ""]
    found += [name for name, around in (*systems, *own) if around and environment.get(around)]
    return tuple(found)
