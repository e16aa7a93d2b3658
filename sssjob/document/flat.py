"""A job as Gold knows it: flat, without categories and structure."""

from __future__ import annotations

from collections.abc import Sequence

from sssjob import spec
from sssjob.model import Block, Delivered, Item, Job, Note, Property, Reference, Requested


def flat(job: Job, *, used: bool = False) -> tuple[Job, tuple[Item, ...]]:
    """The job with its delivered properties in the place of its own, and what had no place.

    Gold charges for what was delivered. A requested property stands only where nothing of its
    name was delivered or said of the job itself, and only when it asks for exactly one value.
    ``used`` is for a charge: then an amount that was only requested has no place.
    """
    kept: list[Item] = []
    lost: list[Item] = []
    taken: set[str] = set()
    simple, asked = list(job.delivered) + list(job.properties), list(job.requested)
    for own in simple:
        (lost if own.name in taken or own.children else kept).append(own)
        taken.add(own.name)
    names = [wish.name for wish in asked]
    for wish in asked:
        exact = is_exact(wish, names)
        if wish.name in taken or (used and wish.name in spec.AMOUNTS):
            exact = False
        (kept if exact else lost).append(wish)
    for item in job.items:
        if isinstance(item, Reference) or (
            isinstance(item, Block) and not isinstance(item, (Requested, Delivered))
        ):
            lost.append(item)
        elif isinstance(item, Note):
            kept.append(item)
    return job.holding(_in_order(job, kept)), tuple(lost)


def is_exact(wish: Property, names: Sequence[str]) -> bool:
    """Whether a requested property asks for exactly one value; ``names`` are all that is asked."""
    return (
        names.count(wish.name) == 1
        and wish.said("op", "EQ") == "EQ"
        and "conj" not in wish.attributes
    )


def _in_order(job: Job, items: list[Item]) -> list[Item]:
    """The job's own properties first, as the job has them."""
    own = [id(item) for item in job.items]
    return sorted(items, key=lambda item: own.index(id(item)) if id(item) in own else len(own))


def name(item: Item) -> str:
    """What to call an item that was left out."""
    if isinstance(item, Property):
        return item.name
    return item.kind if isinstance(item, Note) else f"{item.name} {item.id}".strip()
