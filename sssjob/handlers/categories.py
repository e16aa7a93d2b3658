"""What a job used and what it asks for, kept apart: only a Charge says what was used."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sssjob import spec, units
from sssjob.errors import InvalidValue
from sssjob.model import (
    B,
    Block,
    Delivered,
    Item,
    Job,
    Property,
    Requested,
    Task,
    TaskGroup,
    replace_text,
)
from sssjob.runs import OF_A_RUN
from sssjob.store.identity import NAMED

# In which order these stand in a job, all other blocks behind them.
_ORDER = {Requested: 0, Delivered: 1}
_COUNTED = frozenset(
    name for name in spec.AMOUNTS if (row := spec.element(name)) and row.type == spec.INTEGER
)


# decision 977
def without_blanks(job: Job) -> Job:
    """A job without what it leaves blank, as a client does that has no value: it says nothing.

    An amount that is blank is none, and is refused.
    """
    return job.holding(
        _without_blanks(item) if isinstance(item, (Delivered, Requested)) else item
        for item in _without_blanks(job).items
    )


def _without_blanks(block: B) -> B:
    return block.holding(
        item for item in block.items if not (isinstance(item, Property) and _is_blank(item))
    )


def _is_blank(item: Property) -> bool:
    if item.text.strip() or item.children or item.name in spec.AMOUNTS:
        return False
    return item.name in NAMED or not item.attributes


def delivering(job: Job) -> Job:
    """A job that ran, with the amounts that it says of itself in Delivered.

    But for one that its Delivered says otherwise: what is beside that is not what it used.
    """
    return _gathered(job, Delivered, job.delivered.names())


# decision 1013
def in_whole_numbers(job: Job) -> Job:
    """A job that ran, with its processors and nodes as the standard writes them: 4 and not 4.0."""
    return job.holding(
        _in_whole_numbers(item) if isinstance(item, Delivered) else item
        for item in _in_whole_numbers(job).items
    )


def _in_whole_numbers(block: B) -> B:
    return block.holding(
        _as_whole(item) if isinstance(item, Property) and item.name in _COUNTED else item
        for item in block.items
    )


def _as_whole(item: Property) -> Property:
    try:
        found = units.number(item.text)
    except InvalidValue:
        return item
    text = str(found)
    return (
        replace_text(item, text, item.attributes)
        if found.denominator == 1 and text != item.text
        else item
    )


def asking(job: Job) -> Job:
    """A job as it asks to run: its amounts in Requested, and nothing of any run.

    Where it has a Requested, that says it all: an amount beside it may mean what it used.
    """
    simple = _not_run(job if job.block(Requested) else _gathered(job, Requested))
    return simple.holding(
        item for item in simple.items if getattr(item, "name", "") not in spec.AMOUNTS
    )


def _not_run(block: B) -> B:
    """A block without what was delivered, in its task groups and tasks, too."""
    return block.holding(
        _not_run(item) if isinstance(item, (TaskGroup, Task)) else item
        for item in block.items
        if not isinstance(item, Delivered) and getattr(item, "name", "") not in OF_A_RUN
    )


def _gathered(job: Job, kind: type[Delivered] | type[Requested], but: Collection[str] = ()) -> Job:
    """A job with its own amounts in a category, ``but`` for some."""
    amounts = tuple(
        item for item in job.properties if item.name in spec.AMOUNTS and item.name not in but
    )
    if not amounts:
        return job
    items = [item for item in job.items if item not in amounts]
    known = job.block(kind)
    if known is not None:
        more = known.holding((*known.items, *amounts))
        return job.holding(more if item is known else item for item in items)
    return job.holding(placed_block(items, kind(amounts, {}, job.namespace)))


def placed_block(items: Sequence[Item], new: Block) -> list[Item]:
    """Items with a block that none of them is: before all blocks that stand behind its kind.

    >>> [type(item).__name__ for item in placed_block([Requested(), Task()], Delivered())]
    ['Requested', 'Delivered', 'Task']
    """
    behind = (
        place for place, item in enumerate(items)
        if isinstance(item, Block) and _rank(item) > _rank(new)
    )  # fmt: skip
    place = next(behind, len(items))
    return [*items[:place], new, *items[place:]]


def _rank(block: Block) -> int:
    return _ORDER.get(type(block), len(_ORDER))
