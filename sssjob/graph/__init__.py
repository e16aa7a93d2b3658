"""Dependencies between jobs: circles, order, and who is ready, waits or never runs (SSS 4, 5.1).

>>> from sssjob.model import Job, JobGroup, Property
>>> group = JobGroup.of(
...     Job.of(Id="stage"),
...     Job.of(Property("Dependency", "stage"), Id="solve"),
...     Job.of(Property("Dependency", "solve", {"condition": "OnFailure"}), Id="mend"),
... )
>>> graph = of(group)
>>> {key: str(state) for key, state in graph.states({"stage": 0}).items()}
{'stage': 'done', 'solve': 'ready', 'mend': 'waiting'}
>>> graph.order
('stage', 'solve', 'mend')
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from sssjob import units
from sssjob.errors import Finding, InvalidValue
from sssjob.graph.circles import circles
from sssjob.graph.findings import check
from sssjob.graph.net import FAILED, RELEVANT, Condition, Exit, Net, is_relevant, net_of, relevant
from sssjob.graph.never import contradictions
from sssjob.graph.progress import Progress, Reason, State
from sssjob.model import Job, JobGroup
from sssjob.states import SIGNAL, Ending, has_ended, how_it_ended

__all__ = [
    "FAILED", "RELEVANT", "Condition", "Edge", "Exit", "Graph", "Progress", "Reason", "State",
    "exit_of", "findings_for", "is_relevant", "of", "relevant",
]  # fmt: skip


class Edge(NamedTuple):
    """A dependency: who depends, upon what, and how. ``jobs`` are the keys of those meant."""

    job: str
    target: str
    by_name: bool
    condition: str
    code: str | None
    jobs: tuple[str, ...]

    @property
    def external(self) -> bool:
        """Whether no job of the graph is meant."""
        return not self.jobs


@dataclass(frozen=True)
class Graph:
    """The jobs of a group and their dependencies. Make one with ``of``.

    A job goes by its Id; one without goes by its place (``Job[3]``), and so does a second one of
    the same Id (``a (job 3)``).
    """

    net: Net

    @property
    def jobs(self) -> tuple[str, ...]:
        """The keys of the jobs that are defined here, in document order."""
        return self.net.keys

    def job(self, key: str) -> Job:
        """A job, with what JobDefaults say of it as far as it counts here. Raises ``KeyError``."""
        return self.net.places[self.net.numbers[key]].job

    def path(self, key: str) -> str:
        """Where a job stands: ``/JobGroup/Job[3]``, as findings count. Raises ``KeyError``."""
        return self.net.places[self.net.numbers[key]].path

    def edges(self, key: str) -> Iterator[Edge]:
        """The dependencies of one job, in document order. Raises ``KeyError``."""
        number = self.net.numbers[key]
        items = self.net.places[number].dependencies
        for (target, _), item in zip(self.net.needs[number], items, strict=True):
            by_name = item.said("designator") == "JobName"
            condition = item.said("condition", Condition.ON_SUCCESS.value)
            code = item.attributes.get("code") if condition == Condition.ON_EXIT else None
            jobs = () if target in self.net.external else tuple(
                self.net.keys[member] for member in self.net.members.get(target, (target,))
            )  # fmt: skip
            yield Edge(key, item.text.strip(), by_name, condition, code, jobs)

    @property
    def external(self) -> tuple[Edge, ...]:
        """The dependencies on what is not defined here."""
        net = self.net
        return tuple(
            edge
            for key, needs in zip(net.keys, net.needs, strict=False)
            if net.external and any(need.target in net.external for need in needs)
            for edge in self.edges(key)
            if edge.external
        )

    @cached_property
    def cycles(self) -> tuple[tuple[str, ...], ...]:
        """Circles of jobs that wait for each other: ``("a", "c", "b", "a")``, a on c and so on.

        Each starts at its first job in document order and has a dependency that no other has;
        when they are many, only the first hundred are told.
        """
        found, _ = circles(self.net)
        return tuple(tuple(self.net.keys[job] for job in circle) for circle in found)

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The jobs so that each comes behind those it depends upon, otherwise in document order.

        Jobs in a circle, or behind one, have no place in it.
        """
        ordered, _ = self.net.sequence
        return tuple(self.net.keys[vertex] for vertex in ordered if vertex < len(self.jobs))

    @cached_property
    def impossible(self) -> tuple[str, ...]:
        """Jobs that no exit codes let run, because what they need of one job excludes itself.

        Jobs that only wait for such a job are not among them.
        """
        return tuple(self.net.keys[found.job] for found in contradictions(self.net))

    def ancestors(self, key: str) -> tuple[str, ...]:
        """All that a job depends upon, at whatever distance, in document order."""
        return self._reached(key, self.net.targets)

    def descendants(self, key: str) -> tuple[str, ...]:
        """All that depend upon a job, at whatever distance, in document order."""
        return self._reached(key, self.net.dependents.__getitem__)

    def near(self, key: str, most: int) -> tuple[tuple[str, ...], bool]:
        """A job with those that it depends upon and those that depend on it, in document order.

        They are at most so many: the nearest, and whether there are more. No more than these
        are looked at. Raises ``KeyError``.
        """
        start = self.net.numbers[key]
        found = {start}
        walks = (self.net.targets, self.net.dependents.__getitem__)
        seen = {walk: {start} for walk in walks}
        waiting = deque((start, walk) for walk in walks)
        while waiting:
            vertex, walk = waiting.popleft()
            for other in walk(vertex):
                if other in seen[walk]:
                    continue
                if len(found) == most and other not in found:
                    return self._keys(found), True
                seen[walk].add(other)
                found.add(other)
                waiting.append((other, walk))
        return self._keys(found), False

    @cached_property
    def exits(self) -> dict[str, Exit]:
        """How the jobs have ended that have ended by what the document says of them.

        State decides, if there is one; a job without State has ended if it has an ExitCode or
        EndTime. None is an end without an ExitCode, ``FAILED`` one that cannot have been well.
        """
        return {
            key: exit_of(place.job)
            for key, place in zip(self.net.keys, self.net.places, strict=True)
            if has_ended(place.job.get)
        }

    def given(self, exits: Mapping[str, Exit] | None = None) -> Progress:
        """The graph when these jobs have ended, and no others; without any, what ``exits`` says.

        A dependency on what is not here is fulfilled by an exit of that id, too.
        """
        return Progress(self.net, self.exits if exits is None else exits)

    def states(self, exits: Mapping[str, Exit] | None = None) -> dict[str, State]:
        """Whether each job is ready, waits, will never run, or is done; see ``given``."""
        return self.given(exits).states

    def check(self, *, closed: bool = False) -> Iterator[Finding]:
        """Circles, jobs that can never run, and what is odd about single dependencies.

        A dependency on what is not here is worth a notice; an error, if the graph is ``closed``.
        """
        unsaid = frozenset(key for key, exit_ in self.exits.items() if exit_ is None)
        return check(self.net, closed=closed, unsaid=unsaid)

    def _reached(self, key: str, ways: Callable[[int], Iterable[int]]) -> tuple[str, ...]:
        waiting = deque([self.net.numbers[key]])
        seen: set[int] = set()
        while waiting:
            for vertex in ways(waiting.popleft()):
                if vertex not in seen:
                    seen.add(vertex)
                    waiting.append(vertex)
        return self._keys(seen)

    def _keys(self, vertices: set[int]) -> tuple[str, ...]:
        """The keys of those that are jobs, in document order."""
        return tuple(self.net.keys[each] for each in sorted(vertices) if each < len(self.jobs))


def of(jobs: JobGroup | Iterable[Job]) -> Graph:
    """The graph of a job group, or of jobs beside each other.

    What JobDefaults say of names and states is applied; a job does not inherit a
    dependency on itself. References to jobs are not definitions: what they name is elsewhere.
    """
    return Graph(net_of(jobs))


def findings_for(jobs: JobGroup | Iterable[Job], *, closed: bool = False) -> Iterator[Finding]:
    """What is to be said of the dependencies of a job group; see ``Graph.check``."""
    yield from of(jobs).check(closed=closed)


def exit_of(job: Job) -> Exit:
    """How a job that has ended did end."""
    signal = job.properties.get("Extension", name=SIGNAL)
    ending = how_it_ended(job.get, "" if signal is None else signal.text)
    if ending is Ending.UNSAID:
        return None
    try:
        code = units.integer(job.get("ExitCode"))
    except InvalidValue:
        return FAILED
    # A batch system may print 0 for a job that was cancelled before it could fail.
    return FAILED if ending is not Ending.WELL and code == 0 else code
