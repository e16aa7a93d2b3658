"""Jobs that differ in nothing but their texts from one that was translated before.

Where each of their properties stands, by which policy, and that all of it is understood, is known
from that job: it is worked out once, by whoever works it out of any job.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

from sssjob import expression
from sssjob.amounts import NUMBERS, Scope, is_of_job
from sssjob.errors import AwarenessPolicy, InvalidValue
from sssjob.expression import Alternative, Comparison, Expression, Interval
from sssjob.expression.offer import SETS
from sssjob.legality import ILLEGAL
from sssjob.model import Item, Job, Property, Requested
from sssjob.translate.requests import JobRequest, Outline

# Names and attributes in document order; None begins and ends a request.
_Part: TypeAlias = str | tuple[object, ...] | None

_KNOWN = 256  # outlines that are kept, each of a job of about so many characters beside its texts
_LENGTH = 4000


class ListedProperties(NamedTuple):
    """All properties of a job in document order; ``key`` is what else the job says."""

    key: tuple[_Part, ...]
    items: list[Property]
    requested: Sequence[Property]
    inside: Sequence[Property]  # variables of its environment


class PlainScope(Scope):
    """The scope of a job that requests one number of everything, all of which have to hold."""

    numbers: Mapping[str, Interval] = {}

    def wanted(self, name: str) -> Interval:
        """The number itself."""
        return self.numbers.get(name) or super().wanted(name)

    @cached_property
    def chosen(self) -> Alternative | None:
        """The only alternative there is."""
        return Alternative(tuple(map(Comparison, self.request)))

    @property
    def demands(self) -> tuple[Expression, ...]:
        """None that needs an expression."""
        return ()


class Outlines:
    """The outlines that are known."""

    def __init__(self) -> None:
        self._known: dict[tuple[_Part, ...], Outline] = {}

    def asked(
        self, job: Job, listed: ListedProperties, unstated: AwarenessPolicy
    ) -> JobRequest | None:
        """What a job asks for; None where no outline of it is known, or its request is odd."""
        outline = self._known.get(listed.key)
        if outline is None or (numbers := _numbers(listed.requested)) is None:
            return None
        if not _is_legal(listed.items) or (listed.inside and not _is_legal(listed.inside)):
            return None
        scope = PlainScope(job, "/Job")
        scope.numbers = numbers
        return JobRequest(job, scope, unstated, outline, listed.items)

    def learn(self, listed: ListedProperties, asked: JobRequest) -> None:
        """Keep the outline of a job all of which is understood, and of which nothing is taken."""
        if asked.sets_aside or not _is_plain(listed.requested) or len(repr(listed.key)) > _LENGTH:
            return
        if not listed.requested or asked.scope.chosen is not None:
            if len(self._known) >= _KNOWN:
                self._known.clear()
            self._known[listed.key] = asked.outline()


def listed(job: Job, unstated: AwarenessPolicy) -> ListedProperties | None:
    """The properties of a job that has no blocks but one request; None for another one."""
    if type(job) is not Job or job.namespace:
        return None
    key: list[_Part] = [unstated, tuple(job.attributes.items())]
    items: list[Property] = []
    inside: list[Property] = []
    requested: Sequence[Property] = ()
    start = 0
    for place, block in enumerate(job.items):
        if type(block) is Requested:
            if start or block.namespace or not _list(job.items[:place], key, items, inside):
                return None
            before = len(items)
            key += (None, tuple(block.attributes.items()))
            if not _list(block.items, key, items, inside):
                return None
            key.append(None)
            requested, start = items[before:], place + 1
    if not _list(job.items[start:], key, items, inside):
        return None
    return ListedProperties(tuple(key), items, requested, inside)


def _list(
    given: Iterable[Item], key: list[_Part], items: list[Property], inside: list[Property]
) -> bool:
    """Add properties; False for what is none, or in a namespace, or has more than variables.

    Whether one is understood depends on no text but that of a NotificationList, which counts in a
    request only, and has no place there.
    """
    for item in given:
        if type(item) is not Property or item.namespace:
            return False
        items.append(item)
        key.append(item.name)
        if item.attributes:
            key.append(tuple(item.attributes.items()))
        for each in item.children:
            if type(each) is not Property or each.namespace or each.children:
                return False
            inside.append(each)
            key.append((each.name, *each.attributes.items()))
    return True


def _is_plain(requested: Sequence[Property]) -> bool:
    """Whether a request compares by EQ only, and once what there is one of, so that it can hold."""
    once = [expression.key(item) for item in requested if item.name not in SETS]
    plain = all(expression.LOGIC_AND_OPERATOR.isdisjoint(item.attributes) for item in requested)
    return plain and len(set(once)) == len(once) and all(map(is_of_job, requested))


def _numbers(requested: Iterable[Property]) -> dict[str, Interval] | None:
    """The amounts that are requested; None where one of them is none, or no whole number."""
    found: dict[str, Interval] = {}
    for item in requested:
        if item.name in NUMBERS:
            try:
                number = expression.exactly(item)
            except InvalidValue:
                return None
            if number.empty:
                return None
            found[item.name] = number
    return found


def _is_legal(items: Iterable[Property]) -> bool:
    text = "".join([item.text for item in items])
    return text.isprintable() or ILLEGAL.search(text) is None
