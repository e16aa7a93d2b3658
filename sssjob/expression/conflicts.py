"""What cannot hold together in one alternative of a request: one rule for all who look at it.

>>> from sssjob.expression import alternatives, parse
>>> from sssjob.model import Property
>>> asked = parse([Property("Feature", "ib"), Property("Feature", "ib", {"op": "NE"})])
>>> shown(conflict(alternatives(asked).best[0]))
'Feature EQ ib and Feature NE ib cannot hold together'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice

from sssjob.errors import InvalidValue
from sssjob.expression.alternative import Alternative, interval
from sssjob.expression.offer import AMOUNTS, COUNTS, SETS, slots
from sssjob.expression.tree import Comparison, amount, key
from sssjob.model import Property

_PAIRS = 4096  # more are not looked at: then all that is said of the thing is told


# decision 1033
def conflict(one: Alternative) -> tuple[Comparison, ...]:
    """Comparisons of one alternative that no value satisfies together; none where there is one.

    Of features and nodes there may be several, of all else there is one value. Names of a List, a
    Range or a Pattern, and what stands under Not, are not looked at.
    """
    compared = [term for term in one.terms if isinstance(term, Comparison)]
    if len({term.item.name for term in compared}) == len(compared):  # as in most
        return ()
    kinds: dict[str, list[Comparison]] = {}
    for term in compared:
        if "aggregation" not in term.item.attributes:
            kinds.setdefault(about(term.item), []).append(term)
    for terms in kinds.values():
        if len(terms) > 1 and (found := _clash(terms)):
            return found
    return ()


def shown(found: Iterable[Comparison]) -> str:
    """A conflict as a sentence."""
    return f"{' and '.join(dict.fromkeys(map(str, found)))} cannot hold together"


def about(item: Property) -> str:
    """What a comparison is about: an amount by where it is looked up, a fact by its key."""
    return slots(item)[0] if item.name in AMOUNTS else key(item)


def _clash(terms: Sequence[Comparison]) -> tuple[Comparison, ...]:
    empty = _no_text
    if terms[0].item.name in AMOUNTS:
        empty, terms = _no_number, [*_readable(terms)]
    if not empty(terms):
        return ()
    pairs = islice(combinations(terms, 2), _PAIRS)
    return next((pair for pair in pairs if empty(pair)), tuple(terms))


def _readable(terms: Iterable[Comparison]) -> Iterator[Comparison]:
    for term in terms:
        try:
            amount(term.item)
        except InvalidValue:
            continue  # which is told where it is read
        yield term


def _no_number(terms: Sequence[Comparison]) -> bool:
    left = interval(terms, key(terms[0].item)) if terms else None
    return left is not None and (left.integers() if terms[0].item.name in COUNTS else left).empty


def _no_text(terms: Sequence[Comparison]) -> bool:
    equal = {each.item.text.strip() for each in terms if each.op == "EQ"}
    unequal = {each.item.text.strip() for each in terms if each.op == "NE"}
    several = len(equal) > 1 and terms[0].item.name not in SETS
    return several or not equal.isdisjoint(unequal)
