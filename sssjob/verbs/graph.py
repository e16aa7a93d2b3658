"""The graphs of chosen job objects: one for each job group, one for jobs beside each other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from sssjob import graph
from sssjob.errors import Finding
from sssjob.graph import FAILED, Exit, Graph, Progress, State
from sssjob.model import Job, JobGroup

if TYPE_CHECKING:
    from sssjob.verbs.selection import ChosenObject


class GroupGraph(NamedTuple):
    """A graph, the file and the id of its group, and the jobs of it that were asked for.

    ``id`` is "" for jobs that are in no group.
    """

    file: str
    id: str
    graph: Graph
    keys: Collection[str]

    @property
    def title(self) -> str:
        """What stands above a picture of it."""
        return f"JobGroup {self.id}" if self.id else "Jobs"

    def findings(self, *, closed: bool = False) -> tuple[Finding, ...]:
        """What is wrong with the dependencies, each with its file.

        ``closed``: one on a job that is not there is an error. What is not understood is told
        where the document is read.
        """
        told = self.graph.check(closed=closed)
        return tuple(each.in_file(self.file) for each in told if each.code != "E-UNKNOWN")

    def progress(self, exits: Mapping[str, Exit], *, from_document: bool = True) -> Progress:
        """The state of each job after these exits; ``from_document``: and those of the document."""
        known = self.graph.exits if from_document else {}
        return self.graph.given({**known, **exits})

    def knows(self) -> set[str]:
        """The ids of its jobs, and of jobs elsewhere that these depend upon."""
        return {*self.graph.jobs, *(edge.target for edge in self.graph.external)}

    def as_dict(self, progress: Progress) -> dict[str, Any]:
        """The contract for scripts; ``order`` lacks jobs in a circle and behind one."""
        graph, keys = self.graph, set(self.keys)
        return {
            "file": self.file,
            "id": self.id or None,
            "states": {key: progress.states[key].value for key in self.keys},
            "jobs": [_job(graph, progress, key) for key in self.keys],
            "order": [key for key in graph.order if key in keys],
            "cycles": [list(circle) for circle in graph.cycles if keys.issuperset(circle)],
            "impossible": [key for key in graph.impossible if key in keys],
            "external": [
                {"job": edge.job, "dependency": edge.target,
                 "designator": "JobName" if edge.by_name else "JobId"}
                for edge in graph.external
                if edge.job in keys
            ],
        }  # fmt: skip


def graphs(chosen: Iterable[ChosenObject]) -> Iterator[GroupGraph]:
    """The graph of each job group; jobs beside each other in what was named have one together.

    Of what was chosen within a group these are the jobs that were asked for, with all that they
    wait for or that waits for them; every job of the group counts.
    """
    for (file, is_job), items in groupby(
        chosen, key=lambda item: (item.given, type(item.block) is Job)
    ):
        if is_job:
            jobs = [graph.relevant(item.block) for item in items if isinstance(item.block, Job)]
            made = graph.of(jobs)
            yield GroupGraph(file, "", made, made.jobs)
            continue
        for item in items:
            if isinstance(item.block, JobGroup):
                made = graph.of(item.block)
                yield GroupGraph(file, item.block.id, made, _around(made, item.paths))


def _around(graph: Graph, paths: tuple[str, ...] | None) -> Collection[str]:
    """The chosen jobs with all that they depend upon and all that depend on them."""
    if paths is None or "/JobGroup" in paths:
        return graph.jobs
    wanted = {path.partition("/TaskGroup")[0] for path in paths}
    keys = [key for key in graph.jobs if graph.path(key) in wanted]
    around = {
        near for key in keys for near in (key, *graph.ancestors(key), *graph.descendants(key))
    }
    return [key for key in graph.jobs if key in around]


def _job(graph: Graph, progress: Progress, key: str) -> dict[str, Any]:
    state = progress.states[key]
    code = progress.exit(key) if state is State.DONE else None
    return {
        "id": key,
        "name": graph.job(key).get("Name") or None,
        "state": state.value,
        "exit": "failed" if code is FAILED else code,
        "why": [{"state": why.state.value, "needs": why.text} for why in progress.why(key)],
    }
