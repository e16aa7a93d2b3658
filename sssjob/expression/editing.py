"""A request with other comparisons: what is left out is missed by neither And nor Or."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import accumulate

from sssjob.expression.reading import CONJUNCTIONS, LOGIC, group_or_zero, parse
from sssjob.expression.tree import (
    OPERATIONS,
    And,
    Comparison,
    Expression,
    all_of,
    conjuncts,
    follows,
    identities,
    opened,
    without,
)
from sssjob.expression.writing import write
from sssjob.model import Item, Note, Property, Requested


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
    if _is_flat(requested) and not any(LOGIC & item.attributes.keys() for item in new):
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


def has_unknown_words(properties: Iterable[Property]) -> bool:
    """Whether an operation or a conjunction is none, so that an awarenessPolicy decides."""
    return any(_known(item) is not item for item in properties)


def as_known(properties: Iterable[Property]) -> tuple[Property, ...]:
    """Comparisons as they count where awarenessPolicy lets them: without words that are none."""
    return tuple(map(_known, properties))


def keeping(
    properties: Iterable[Property], wanted: Callable[[Expression], bool]
) -> tuple[Property, ...]:
    """The properties of those conjuncts that are wanted, each as it was written.

    Words that nobody knows stay as well, so that whoever reads what is left can judge them. Raises
    as ``parse`` does where groups, preferences or depth are wrong.
    """
    items = tuple(properties)
    read = as_known(items)
    parts = opened(joined := conjuncts(parse(read)))
    if len(parts) > len(joined) and read == items and not all(map(wanted, parts)):
        return write(all_of(filter(wanted, parts)))
    left_out = identities(part for part in parts if not wanted(part))
    kept = [index for index, item in enumerate(read) if id(item) not in left_out]
    if len(kept) == len(items):
        return items
    unbracketed = _without_outer_brackets(items)
    found: list[Property] = []
    for before, index in zip([-1, *kept], kept, strict=False):
        item = unbracketed[index]
        # Preferences that were apart stay so.
        if before >= 0 and before + 1 < index and follows(read[before], read[index]):
            if "conj" in item.attributes:
                return items  # its word has to stay, so what stood between them does
            item = item.having(conj="And")
        found.append(item)
    return tuple(found)


def _known(item: Property) -> Property:
    """A comparison without words that are none."""
    conj = item.attributes.get("conj")
    words = {
        "op": Comparison(item).op in OPERATIONS,
        "conj": conj is None or conj.strip() in CONJUNCTIONS,
    }
    if all(words.values()):
        return item
    return item.having(**{name: None for name, known in words.items() if not known})


def _without_outer_brackets(items: Sequence[Property]) -> Sequence[Property]:
    """The same without brackets around all of them, which say nothing at the root."""
    groups = [group_or_zero(item) for item in items]
    outer = min(list(accumulate(groups))[:-1], default=0)
    groups[0] -= outer
    groups[-1] += outer
    return [
        item if group == group_or_zero(item) else item.having(group=str(group) if group else None)
        for item, group in zip(items, groups, strict=True)
    ]


def _is_flat(requested: Requested) -> bool:
    """Whether all of it holds, each by itself: any of it can go, and the rest is what it was."""
    return not any(LOGIC & item.attributes.keys() for item in requested.properties)


def _notes(requested: Requested) -> Iterable[Note]:
    return (item for item in requested.items if isinstance(item, Note))
