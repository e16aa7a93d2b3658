"""What submitting and steering write into job objects, as changes of a place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import NamedTuple

from sssjob.errors import SSSJobError
from sssjob.model import (
    Block,
    Item,
    Job,
    JobDefaults,
    JobGroup,
    Property,
    replace_text,
    stripped,
    with_each,
)
from sssjob.submission.places import Change, Place
from sssjob.submission.planning import BY_ID, defined

_DEPENDENCY = "Dependency"

Edit = Callable[[Job], Job]


class Changed(SSSJobError, RuntimeError):
    """A document that another program has changed meanwhile, so that a job is not found in it."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(place, what)
        self.place, self.what = place, what

    def __str__(self) -> str:
        return f"{self.place} has been changed by another program: {self.what}"


def saying(job: Job, **texts: str) -> Job:
    """A job that says something else, in its own namespace."""
    return job.setting(*(
        Property(name, text, namespace=job.namespace) for name, text in texts.items()
    ))  # fmt: skip


def naming(place: Place, names: Mapping[int, tuple[Job, str]]) -> None:
    """Give jobs a GlobalId, each by where it stands and what it was. Raises ``Changed``."""
    if not names:
        return
    places = count()
    missed = dict(names)

    def named(job: Job) -> Job:
        old, text = missed.pop(next(places), (None, ""))
        if old is None:
            return job
        if job != old:
            raise Changed(place.name, f"job {old.id} is another one")
        return saying(job, GlobalId=text)

    place.change(_each(named))
    if missed:
        raise Changed(place.name, "jobs are gone")


class Edited(NamedTuple):
    """A change of the job of a GlobalId, or of an Id where it has none; ``new`` is another Id."""

    global_id: str
    id: str
    edit: Edit
    new: str = ""


def setting(place: Place, *edits: Edited) -> None:
    """Change jobs, all of them in one write. Raises ``Changed`` where one is not there any more.

    Where a job gets another Id, Dependency of the others names that.
    """
    if not edits:
        return
    wanted = _ChangesByJob(edits)
    ids = _new_ids(place, wanted)
    missed = set(edits)

    def edited(job: Job) -> Job:
        own = wanted.of(job)
        if own is not None:
            missed.discard(own)
            job = own.edit(job)
            job = saying(job, Id=own.new) if own.new else job
        elif job.id in ids.of_others and _is_free(job):
            job = saying(job, Id=ids.of_others[job.id])
        return _waiting(job, ids.every)

    place.change(_each(edited, lambda defaults: _waiting(defaults, ids.every)))
    for each in edits:
        if each in missed:
            shown = each.new or each.id
            raise Changed(place.name, f"job {shown} of the batch system is not in it any more")


class _ChangesByJob:
    """Changes by the jobs that they are of."""

    def __init__(self, edits: Iterable[Edited]) -> None:
        self._named = {each.global_id: each for each in edits if each.global_id}
        self._others = {each.id: each for each in edits if not each.global_id}
        self.new = any(each.new for each in edits)

    def of(self, job: Job) -> Edited | None:
        """The change of a job, if there is one."""
        found = self._named.get(stripped(job.get("GlobalId")))
        return found or self._others.get(job.id)


class _Ids(NamedTuple):
    """Ids that become others: of any job, and of those that are not changed otherwise."""

    every: Mapping[str, str]
    of_others: Mapping[str, str]


def _new_ids(place: Place, wanted: _ChangesByJob) -> _Ids:
    """The Ids that change, by those that they were.

    Another job that is not submitted yet may happen to go by the id that the batch system gave:
    it goes by its GlobalId from now on.
    """
    if not wanted.new:
        return _Ids({}, {})
    jobs = [job for block in place.blocks() for job in defined(block)]
    own = {
        job.id: each.new
        for job in jobs
        if (each := wanted.of(job)) and each.new not in ("", job.id)
    }
    given = {*own.values()}
    others = {
        job.id: job.get("GlobalId") or f"{job.id} of the document"
        for job in jobs
        if job.id in given and wanted.of(job) is None and _is_free(job)
    }
    return _Ids({old: new for old, new in {**others, **own}.items() if old}, others)


def _is_free(job: Job) -> bool:
    """Whether the Id of a job is none of a batch system."""
    return not job.get("SubmitTime")


def _waiting(job: Job, ids: Mapping[str, str]) -> Job:
    """A job whose dependencies name the new Ids."""

    def renamed(item: Item) -> Item:
        if type(item) is not Property or item.name != _DEPENDENCY:
            return item
        by_id = item.said("designator", BY_ID) == BY_ID
        text = ids.get(stripped(item.text), "") if by_id else ""
        return replace_text(item, text, item.attributes) if text else item

    return with_each(job, renamed)


def _each(edit: Edit, lend: Edit = lambda defaults: defaults) -> Change:
    """A change of every job, in the order of the document; ``lend`` is that of defaults."""

    def change(block: Block) -> Block:
        if type(block) is Job:
            return edit(block)
        if not isinstance(block, JobGroup):
            return block
        return with_each(block, changed)

    def changed(item: Item) -> Item:
        if type(item) is Job:
            return edit(item)
        return lend(item) if type(item) is JobDefaults else item

    return change
