"""What submitting and steering write into job objects, as changes of a place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count

from sssjob.errors import SSSJobError
from sssjob.model import Block, Item, Job, JobDefaults, JobGroup, Property, replace_text, stripped
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


def setting(place: Place, name: str, id_: str, edit: Edit, old: str = "") -> None:
    """Change the job of a GlobalId, or of an Id where it has none. Raises ``Changed``.

    ``old`` is the Id that it had: what waits for that waits for ``id_`` then.
    """
    ids = _new_ids(place, name, id_, old)
    met = False

    def edited(job: Job) -> Job:
        nonlocal met
        if _is(job, name, id_):
            met = True
            job = edit(job)
        elif job.id in ids and job.id != old:
            job = saying(job, Id=ids[job.id])
        return _waiting(job, ids)

    place.change(_each(edited, lambda defaults: _waiting(defaults, ids)))
    if not met:
        raise Changed(place.name, f"job {id_} of the batch system is not in it any more")


def _new_ids(place: Place, name: str, id_: str, old: str) -> Mapping[str, str]:
    """The Ids that change, by those that they were.

    Another job that is not submitted yet may happen to go by the id that the batch system gave:
    it goes by its GlobalId from now on.
    """
    if not old or old == id_:
        return {}
    found = {old: id_}
    for block in place.blocks():
        for job in defined(block):
            if job.id == id_ and not _is(job, name, id_) and not job.get("SubmitTime"):
                found[id_] = job.get("GlobalId") or f"{id_} of the document"
    return found


def _is(job: Job, name: str, id_: str) -> bool:
    return stripped(job.get("GlobalId")) == name if name else job.id == id_


def _waiting(job: Job, ids: Mapping[str, str]) -> Job:
    """A job whose dependencies name the new Ids."""
    items: list[Item] = []
    for item in job.items:
        if type(item) is Property and item.name == _DEPENDENCY:
            by_id = item.attributes.get("designator", BY_ID) == BY_ID
            text = ids.get(stripped(item.text), "") if by_id else ""
            items.append(replace_text(item, text, item.attributes) if text else item)
        else:
            items.append(item)
    same = all(one is other for one, other in zip(items, job.items, strict=True))
    return job if same else job.holding(items)


def _each(edit: Edit, lend: Edit = lambda defaults: defaults) -> Change:
    """A change of every job, in the order of the document; ``lend`` is that of defaults."""

    def change(block: Block) -> Block:
        if type(block) is Job:
            return edit(block)
        if not isinstance(block, JobGroup):
            return block
        items: list[Item] = [
            edit(item) if type(item) is Job else lend(item) if type(item) is JobDefaults else item
            for item in block.items
        ]
        same = all(one is other for one, other in zip(items, block.items, strict=True))
        return block if same else block.holding(items)

    return change
