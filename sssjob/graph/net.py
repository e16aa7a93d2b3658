"""Jobs as numbered vertices, and what each needs of which other: made once, never changed.

A name that several jobs share is a vertex of its own between them and those that depend on the
name, so that a graph takes as much room as its document, however many jobs answer to one name.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from functools import cached_property
from typing import Final, Literal, NamedTuple, TypeAlias

from sssjob import units
from sssjob.defaults import resolve
from sssjob.errors import AwarenessPolicy, InvalidValue
from sssjob.model import Block, Item, Job, JobDefaults, JobGroup, Property, Reference
from sssjob.states import SIGNAL


class Condition(StrEnum):
    """When a job may run in relation to the one it depends upon."""

    ON_SUCCESS = "OnSuccess"
    ON_FAILURE = "OnFailure"
    ON_EXIT = "OnExit"


class Mark(Enum):
    """What a vertex has come to, or what is needed of it, where that is no exit code."""

    FAILED = "ended without success, with a code that is not known"
    ANY = "ended, with whatever code"
    UNREAD = "a condition that is not understood"
    WAIT = "not ended"
    NEVER = "will never run"


FAILED: Final = Mark.FAILED
Exit: TypeAlias = int | Literal[Mark.FAILED] | None  # None: ended, and nobody says how
Want: TypeAlias = int | Mark  # an exit code, FAILED, ANY or UNREAD


class NeededVertex(NamedTuple):
    """A vertex, and what is needed of it: 0 is success."""

    target: int
    want: Want


class JobPlace(NamedTuple):
    """A job in its document: what of it counts here, and where it is."""

    job: Job
    path: str
    id: str
    name: str
    written: tuple[Property, ...]  # its Dependency elements
    inherits: bool  # they stand in JobDefaults

    @property
    def dependencies(self) -> tuple[Property, ...]:
        """The dependencies that name another job; an empty one says nothing."""
        if all(item.text.strip() for item in self.written):
            return self.written
        return tuple(item for item in self.written if item.text.strip())


@dataclass(frozen=True)
class Net:
    """The vertices: first the jobs in document order, then shared names and jobs elsewhere.

    ``needs`` says what each job needs, in the order of its ``dependencies``. ``members`` are the
    jobs of a shared name; ``external`` are the ids and names that no job here has.
    """

    places: tuple[JobPlace, ...]
    keys: tuple[str, ...]
    needs: list[tuple[NeededVertex, ...]]
    members: Mapping[int, tuple[int, ...]]
    external: Mapping[int, str]
    policy: AwarenessPolicy = AwarenessPolicy.REJECT
    numbers: Mapping[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many vertices there are; the first ``len(keys)`` are jobs."""
        return len(self.needs)

    def label(self, vertex: int) -> str:
        """The key of a job, the name that jobs share, or the id of a job that is elsewhere."""
        if vertex < len(self.keys):
            return self.keys[vertex]
        if vertex in self.external:
            return self.external[vertex]
        return self.places[self.members[vertex][0]].name

    def targets(self, vertex: int) -> Iterator[int]:
        """The vertices that one depends upon."""
        yield from (need.target for need in self.needs[vertex])
        yield from self.members.get(vertex, ())

    @cached_property
    def dependents(self) -> list[list[int]]:
        """For each vertex those that depend upon it, in document order."""
        found: list[list[int]] = [[] for _ in range(self.size)]
        for vertex, needs in enumerate(self.needs):
            for need in needs:
                found[need.target].append(vertex)
        for vertex, members in self.members.items():
            for member in members:
                found[member].append(vertex)
        return found

    @cached_property
    def sequence(self) -> tuple[list[int], list[int]]:
        """Jobs and shared names so that each comes behind what it depends upon, ties in document
        order; and those that cannot be placed so, because they are in a circle or behind one.
        """
        jobs = len(self.keys)
        open_ = [sum(need.target not in self.external for need in needs) for needs in self.needs]
        for vertex, members in self.members.items():
            open_[vertex] = len(members)
        ready = [vertex for vertex in range(jobs) if not open_[vertex]]
        placed: list[int] = []
        while ready:
            going = [heapq.heappop(ready)]
            while going:
                vertex = going.pop()
                placed.append(vertex)
                for dependent in self.dependents[vertex]:
                    open_[dependent] -= 1
                    if not open_[dependent]:
                        # A shared name is no job and takes no turn.
                        if dependent >= jobs:
                            going.append(dependent)
                        else:
                            heapq.heappush(ready, dependent)
        return placed, [vertex for vertex in range(self.size) if open_[vertex]]


# What of a job matters for its dependencies; the rest need not be carried along.
RELEVANT = frozenset(("Id", "Name", "State", "StatusMessage", "ExitCode", "EndTime", "Dependency"))


def net_of(jobs: JobGroup | Iterable[Job]) -> Net:
    """The net of a job group, or of jobs that stand beside each other."""
    if isinstance(jobs, JobGroup):
        places = tuple(_places(jobs))
        policy = AwarenessPolicy.at(jobs.attributes, AwarenessPolicy.REJECT)
    else:
        places = tuple(_place(job, "/Job") for job in jobs)
        policy = AwarenessPolicy.REJECT
    return _NetBuilder(places).net(policy)


def relevant(job: Job) -> Job:
    """A job with the properties that its dependencies are about, and no others."""
    return job.holding(_relevant(job))


def is_relevant(name: str, attributes: Mapping[str, str]) -> bool:
    """Whether a property matters for dependencies: by its name, or as the Extension Signal."""
    return name in RELEVANT or (name == "Extension" and attributes.get("name") == SIGNAL)


def _relevant(block: Block) -> Iterator[Item]:
    return (
        item
        for item in block.items
        if type(item) is Property and is_relevant(item.name, item.attributes)
    )


def _places(group: JobGroup) -> Iterator[JobPlace]:
    jobs = [item for item in group.items if type(item) is Job or _is_job_reference(item)]
    paths = [f"/JobGroup/Job[{number}]" for number in range(1, len(jobs) + 1)]
    defined = [
        _place(job, path if len(jobs) > 1 else "/JobGroup/Job")
        for job, path in zip(jobs, paths, strict=True)
        if type(job) is Job
    ]
    defaults = group.block(JobDefaults)
    if defaults is None or not (lent := tuple(_relevant(defaults))):
        yield from defined
        return
    trimmed = JobGroup((JobDefaults(lent), *(relevant(place.job) for place in defined)))
    for own, job in zip(defined, resolve(trimmed).block.blocks(Job), strict=True):
        yield _place(job, own.path, inherits=not own.written)


def _place(job: Job, path: str, *, inherits: bool = False) -> JobPlace:
    """One look at a job; of two Ids the first counts."""
    texts = {"Id": "", "Name": ""}
    written = []
    for item in job.items:
        if type(item) is Property:
            if item.name == "Dependency":
                written.append(item)
            elif item.name in texts:
                texts[item.name] = texts[item.name] or item.text.strip()
    return JobPlace(job, path, texts["Id"], texts["Name"], tuple(written), inherits)


def _is_job_reference(item: Item) -> bool:
    return isinstance(item, Reference) and item.name == "Job"


class _NetBuilder:
    """Finds what each dependency means; equal ones share what was found."""

    def __init__(self, places: tuple[JobPlace, ...]) -> None:
        self.places = places
        self.numbers: dict[str, int] = {}
        self.named: dict[str, list[int]] = {}
        self.shared: dict[str, int] = {}
        self.elsewhere: dict[str, int] = {}
        self.count = len(places)
        self.known: dict[tuple[str, str | None, str | None, str | None], NeededVertex] = {}

    def net(self, policy: AwarenessPolicy) -> Net:
        keys = tuple(self.keys())
        needs = [tuple([self.need(item) for item in place.dependencies]) for place in self.places]
        needs += [()] * (self.count - len(keys))
        members = {vertex: tuple(self.named[name]) for name, vertex in self.shared.items()}
        external = {vertex: text for text, vertex in self.elsewhere.items()}
        return Net(self.places, keys, needs, members, external, policy, self.numbers)

    def keys(self) -> Iterator[str]:
        """A key for each job: its Id; if it has none, or not for itself, its place says which."""
        for number, place in enumerate(self.places):
            key = place.id or f"Job[{number + 1}]"
            if key in self.numbers:
                key = f"{key} (job {number + 1})"
            self.numbers.setdefault(key, number)
            if place.name:
                self.named.setdefault(place.name, []).append(number)
            yield key

    def need(self, item: Property) -> NeededVertex:
        get = item.attributes.get
        text = item.text.strip()
        key = (text, get("designator"), get("condition"), get("code"))
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = NeededVertex(self.target(text, get("designator")), want(item))
        return known

    def target(self, text: str, designator: str | None) -> int:
        if designator == "JobName":
            jobs = self.named.get(text, ())
            if len(jobs) > 1:
                return self.vertex(text, self.shared)
            if jobs:
                return jobs[0]
        elif text in self.numbers:
            return self.numbers[text]
        return self.vertex(text, self.elsewhere)

    def vertex(self, text: str, kind: dict[str, int]) -> int:
        if text not in kind:
            kind[text] = self.count
            self.count += 1
        return kind[text]


def want(item: Property) -> Want:
    """What a dependency needs of the job it names; a code counts with OnExit only."""
    condition = item.said("condition", Condition.ON_SUCCESS)
    if item.said("designator", "JobId") not in ("JobId", "JobName"):
        return Mark.UNREAD
    if condition == Condition.ON_SUCCESS:
        return 0
    if condition == Condition.ON_FAILURE:
        return FAILED
    if condition != Condition.ON_EXIT:
        return Mark.UNREAD
    try:
        return units.integer(item.attributes["code"]) if "code" in item.attributes else Mark.ANY
    except InvalidValue:
        return Mark.UNREAD
