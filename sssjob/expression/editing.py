"""A request with other comparisons: what is left out is missed by neither And nor Or."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sssjob.expression.reading import parse
from sssjob.expression.tree import And, all_of, conjuncts, without
from sssjob.expression.writing import write
from sssjob.model import Item, Note, Property, Requested

_STRUCTURE = frozenset(("conj", "group", "preference"))


def removing(requested: Requested, names: Collection[str]) -> tuple[Item, ...]:
    """What a request holds without its comparisons of these names.

    Raises ``UnbalancedGroup``, ``InvalidValue`` and ``LimitExceeded`` for one that cannot be read.
    """
    if _is_flat(requested):
        return tuple(
            item for item in requested.items if isinstance(item, Note) or item.name not in names
        )
    properties = requested.properties
    gone = [item for item in properties if item.name in names]
    if not gone:
        return requested.items
    left = without(parse(properties), gone)
    return (*_notes(requested), *(() if left is None else write(left)))


def setting(requested: Requested, properties: Iterable[Property]) -> tuple[Item, ...]:
    """What a request holds if these comparisons are asked for in place of those of their names."""
    new = tuple(properties)
    names = {item.name for item in new}
    if _is_flat(requested) and not any(_STRUCTURE & item.attributes.keys() for item in new):
        items: list[Item] = []
        waiting = list(new)
        for item in requested.items:
            if isinstance(item, Note) or item.name not in names:
                items.append(item)
            else:  # where the first of its name stood
                items += [each for each in waiting if each.name == item.name]
                waiting = [each for each in waiting if each.name != item.name]
        return (*items, *waiting)
    left = requested.holding(removing(requested, names))
    asked = parse(left.properties) if left.properties else And()
    return (*_notes(requested), *write(all_of((*conjuncts(asked), *conjuncts(parse(new))))))


def _is_flat(requested: Requested) -> bool:
    """Whether all of it holds, each by itself: any of it can go, and the rest is what it was."""
    return not any(_STRUCTURE & item.attributes.keys() for item in requested.properties)


def _notes(requested: Requested) -> Iterable[Note]:
    return (item for item in requested.items if isinstance(item, Note))
