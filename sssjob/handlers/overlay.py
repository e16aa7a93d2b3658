"""What a request says of a job that is known: a Charge in the place of what it names, and no more.

It is one way for all that holds properties: what the job says itself, its Delivered and Requested,
and each task group and task. So what a Charge leaves out is as the job has it, wherever it stands.
An amount that it says is what is charged, by whatever metric: one that was given gives way to it,
and one of another metric stands behind it.
A Reserve only adds what nobody has said. # decisions 947, 960, 996, 998, 999, 1002 and 1008
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from sssjob.fold import JOB, Fact, fold, is_same_group, is_same_place, replace_namespace
from sssjob.handlers.categories import placed_block
from sssjob.model import B, Block, Delivered, Item, Job, Property, Requested
from sssjob.store.flat_properties import ONLY_GIVEN, is_measured

# A part of an expression: what asks for something else is asked for in the place of the whole.
_OF_EXPRESSIONS = frozenset(("op", "conj", "group", "preference"))


def overlaid(job: Job, said: Job) -> Job:
    """The job that is known, with what is said of it.

    What is said of the job itself is folded in: as of all facts, a State advances.

    >>> known = Job.of(Delivered.of(Processors=4, Node="n1"), Id="1", User="ann")
    >>> now = overlaid(known, Job.of(Delivered.of(Processors=2), Id="1", Queue="q"))
    >>> now.get("User"), now.get("Queue"), [each.text for each in now.delivered]
    ('ann', 'q', ['n1', '2'])
    """
    found = fold(job, _own_facts(said), overwrite=True).job
    return found.holding(_with_blocks(found.items, _blocks(said)))


# decision 999
def added(job: Job, known: Block, said: Job) -> Job:
    """A job with what is said of it that nobody has said yet, wherever it stands in ``known``.

    That is the same job, with its defaults.
    """
    there = (*known.properties, *known.delivered, *known.requested)
    news = (
        fact for fact in _own_facts(said)
        if not any(is_same_place(item, fact.item) for item in there)
    )  # fmt: skip
    return fold(job, news).job


def _own_facts(said: Job) -> list[Fact]:
    """What a job says itself, but for which one it is."""
    return [Fact(item, JOB) for item in said.properties if item.name != "Id"]


def _with_blocks(items: Iterable[Item], said: Sequence[Block]) -> list[Item]:
    """Items of a block, each block that is said laid over the one of them that it is."""
    found = _joined(items)
    unnamed: Counter[type[Block]] = Counter()
    for each in _joined(said):
        assert isinstance(each, Block)
        known = [item for item in found if isinstance(item, Block) and type(item) is type(each)]
        if _is_named(each):
            known = [item for item in known if is_same_group(item, each)]
        else:
            # Which one is meant only its place among the others can tell.
            known = [item for item in known if not _is_named(item)][unnamed[type(each)] :]
            unnamed[type(each)] += 1
        if known:
            found = [_over(item, each) if item is known[0] else item for item in found]
        else:
            found = placed_block(found, each)
    return found


def _over(old: B, new: Block) -> B:
    """A block, with what another one says in the place of what that names."""
    left = [item for item in old.items if not _gives_way(item, new)]
    said = (
        replace_namespace(item, old.namespace) if isinstance(item, Property) else item
        for item in new.items if not isinstance(item, Block)
    )  # fmt: skip
    names = {item.name for item in new.properties}
    behind = (
        at for at, item in enumerate(left)
        if isinstance(item, Block) or (isinstance(item, Property) and item.name in names)
    )  # fmt: skip
    place = next(behind, len(left))  # the first of several amounts counts, and so what is said
    return old.holding(_with_blocks((*left[:place], *said, *left[place:]), _blocks(new)))


def _gives_way(old: Item, new: Block) -> bool:
    if not isinstance(old, Property):
        return False
    if isinstance(new, Requested) and not _OF_EXPRESSIONS.isdisjoint(old.attributes):
        return True
    return any(
        is_same_place(old, item) or old.name == item.name == "Node" or _counts_before(old, item)
        for item in new.properties
    )


# decision 1008
def _counts_before(old: Property, new: Property) -> bool:
    """Whether an amount that was given would be charged in the place of one that is measured."""
    is_so = is_measured(new) and not is_measured(old) and new.name not in ONLY_GIVEN
    return is_so and is_same_place(*(each.having(metric=None, context=None) for each in (old, new)))


def _joined(items: Iterable[Item]) -> list[Item]:
    """Items, with all that several Delivered, or several Requested, say in the first of them."""
    found: list[Item] = []
    for item in items:
        first = next((each for each in found if type(each) is type(item)), None)
        if isinstance(first, (Delivered, Requested)) and isinstance(item, Block):
            more = first.holding((*first.items, *item.items))
            found = [more if each is first else each for each in found]
        else:
            found.append(item)
    return found


def _is_named(block: Block) -> bool:
    return bool(block.id or block.get("Name"))


def _blocks(block: Block) -> list[Block]:
    return [item for item in block.items if isinstance(item, Block)]
