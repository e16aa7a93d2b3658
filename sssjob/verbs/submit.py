"""The places of jobs that a caller named: documents, and documents of stores; and which jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sssjob import store
from sssjob.addresses import is_store
from sssjob.document import from_tree, read
from sssjob.document.files import is_compressed
from sssjob.document.outermost import is_block
from sssjob.document.sources import naming
from sssjob.errors import UnusableInput
from sssjob.model import Block, Job, JobGroup, stripped
from sssjob.query import Match
from sssjob.query import compile as question
from sssjob.store.store import Store
from sssjob.store.where import Term, where
from sssjob.submission import InFile, InStore, Place
from sssjob.submission.planning import defined


@dataclass(frozen=True, slots=True)
class Choice:
    """Which jobs: by Ids of jobs or of their groups, by GlobalIds, or what an XPath finds.

    Nothing said is every job of a document; of a store something has to be said.
    """

    ids: frozenset[str] = frozenset()
    global_ids: frozenset[str] = frozenset()
    where: str = ""
    by: str = ""  # who makes changes of a store

    @property
    def everything(self) -> bool:
        """Whether nothing is said."""
        return not (self.ids or self.global_ids or self.where)


@dataclass(frozen=True, slots=True)
class _ChosenJobs:
    """Jobs that were chosen, by what they are called."""

    choice: Choice
    keys: frozenset[tuple[str, str]]

    def has(self, job: Job) -> bool:
        """Whether a job is one of them."""
        return (
            self.choice.everything
            or job.id in self.choice.ids
            or stripped(job.get("GlobalId")) in self.choice.global_ids
            or _key(job) in self.keys
        )


class JobsOfPlace(NamedTuple):
    """A place, and which of its jobs are meant."""

    place: Place
    chosen: Callable[[Job], bool]


@contextmanager
def places(name: str, choice: Choice) -> Iterator[list[JobsOfPlace]]:
    """The places of what was named. Raises ``UnusableInput`` and what reading raises."""
    if is_store(name):
        with store.open(name, by=choice.by) as jobs:
            yield list(_of_store(jobs, choice))
        return
    path = Path(name)
    if not path.is_file():
        path.stat()  # tells of one that is not there
        raise UnusableInput(f"{name} is no file: what is submitted is written back into it")
    if is_compressed(path):
        raise UnusableInput(f"{name} is compressed, and is not written back")
    with naming(name):
        keys = _keys(question(choice.where).run(path)) if choice.where else frozenset()
        blocks = tuple(read(path, parts=False))
    yield [JobsOfPlace(InFile(path), _ChosenJobs(choice, _with_groups(blocks, choice, keys)).has)]


def _of_store(jobs: Store, choice: Choice) -> Iterator[JobsOfPlace]:
    """Every document of a store with a job that is meant."""
    if choice.everything:
        raise UnusableInput("a store has many jobs: say which (--select, --global-id, --where)")
    keys = _keys(jobs.run(question(choice.where))) if choice.where else frozenset()
    ids = sorted({*choice.ids, *(id_ for id_, _ in keys)})
    found = [stored for id_ in ids for stored in jobs.named(id_)]
    for text in sorted(choice.global_ids):
        found += jobs.candidates(where([Term("GlobalId", "EQ", text)]))
    for number, document in {stored.number: stored.document for stored in found}.items():
        blocks = tuple(read(document))
        chosen = _ChosenJobs(choice, _with_groups(blocks, choice, keys))
        if any(chosen.has(job) for block in blocks for job in defined(block)):
            yield JobsOfPlace(InStore(jobs, number, "submission"), chosen.has)


def _keys(matches: Iterable[Match]) -> frozenset[tuple[str, str]]:
    """The jobs that a query finds; those of a group, where it finds that."""
    found: set[tuple[str, str]] = set()
    for match in matches:
        element = match.element if match.is_node and match.found is match.element else None
        block = from_tree(element) if element is not None and is_block(element) else None
        if not isinstance(block, Job | JobGroup):
            raise UnusableInput("--where finds what is neither a job nor a job group")
        found |= {_key(job) for job in defined(block)}
    return frozenset(found)


def _with_groups(
    blocks: Iterable[Block], choice: Choice, keys: frozenset[tuple[str, str]]
) -> frozenset[tuple[str, str]]:
    """The same with the jobs of groups whose Id is meant."""
    groups = (block for block in blocks if isinstance(block, JobGroup) and block.id in choice.ids)
    return keys | {_key(job) for group in groups for job in group.jobs}


def _key(job: Job) -> tuple[str, str]:
    return job.id, stripped(job.get("GlobalId"))
