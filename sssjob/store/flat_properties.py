"""The properties of a job that count, of those that it states: a job as accounting sees it.

What was delivered stands before what is said of the job itself, and that before what was
requested, which counts only where exactly one value was asked for, of what the standard lets a job
ask for: nobody asks for a Charge, or for when a job ended. Of amounts those that were given
stand before those that were measured. ``flat`` asks columns the same. # decision 639
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sssjob import defaults, spec
from sssjob.amounts import is_given
from sssjob.document.flat import is_exact
from sssjob.model import Block, Delivered, Job, JobGroup, Note, Property, Requested, TaskGroup

# Consumables that count only as they were given: of others the most that was measured is worth
# knowing, but nobody has processors by a metric.
ONLY_GIVEN = frozenset(("Processors",))
_CONSUMABLE = frozenset(row.name for row in spec.CONSUMABLES)


def effective(block: Block) -> Block:
    """A block with its defaults applied, if it has room for any."""
    if isinstance(block, Job) and not any(isinstance(item, TaskGroup) for item in block.items):
        return block
    return defaults.resolve(block).block


def jobs_in(block: Block) -> Iterator[tuple[int, Job]]:
    """The jobs of what a document holds, defaults applied: 0 is its own, those of a group follow.

    Each comes with its place.
    """
    whole = effective(block)
    if isinstance(whole, JobGroup):
        yield from enumerate(whole.jobs, 1)
    elif isinstance(whole, Job):
        yield 0, whole


def flat_properties(block: Block) -> dict[str, Property]:
    """The property that counts for each name, in the order in which they are found."""
    own: list[Property] = []
    delivered: list[Property] = []
    asked: list[Property] = []
    # In one pass: this is done for every job that a request looks at.
    for item in block.items:
        if type(item) is Property:
            own.append(item)
        elif isinstance(item, Delivered):
            delivered += item.properties
        elif isinstance(item, Requested):
            asked += item.properties
    found: dict[str, Property] = {}
    for each in (*_in_order(delivered), *_in_order(own)):
        found.setdefault(each.name, each)
    names = [each.name for each in asked]
    for wish in asked:
        if wish.name not in found and is_asked(wish, names) and not _is_left_out(wish):
            found[wish.name] = wish
    return found


def _in_order(items: list[Property]) -> list[Property]:
    """Those that count, the measured amounts behind all others."""
    measured = [each for each in items if is_measured(each)] if items else items
    if not measured:  # as nearly always
        return items
    plain = [each for each in items if not is_measured(each)]
    return [*plain, *(each for each in measured if each.name not in ONLY_GIVEN)]


def is_measured(item: Property) -> bool:
    """Whether an amount is told by a metric, or in a context other than that of the job."""
    return bool(item.attributes) and item.name in _CONSUMABLE and not is_given(item)


def _is_left_out(item: Property) -> bool:
    return item.name in ONLY_GIVEN and is_measured(item)


def is_asked(wish: Property, names: Sequence[str]) -> bool:
    """Whether a requested property counts; ``names`` are all that is asked.

    What a run was charged, or when it ended, was not asked for, wherever it stands.
    # decision 641
    """
    can_be = wish.name in spec.properties(spec.REQUESTED) or spec.element(wish.name) is None
    return can_be and is_exact(wish, names)


def is_text(found: Property) -> bool:
    """Whether a property holds a text, with notes in between perhaps, and no other elements."""
    return all(isinstance(each, Note) for each in found.children)
