"""Which alternatives of a request have counts and names of nodes that can hold together.

One rule for all who choose one: targets, ads, submission and features. ``layouts`` and ``check``
tell of each alternative what it contradicts, and ``place`` of a job without any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TypeAlias, TypeVar

from sssjob.defaults import LAID_OUT
from sssjob.errors import InvalidValue, LimitExceeded
from sssjob.expression import Comparison, Term, comparisons
from sssjob.expression.offer import without_set_aside
from sssjob.layout.plan import CountsPlan
from sssjob.layout.request import LayoutRequest, Statement
from sssjob.model import Block, Property
from sssjob.task_counts import pins

_MOST = 4096  # things that are known
_LENGTH = 4000  # of what they are known by, about

_Key: TypeAlias = tuple[object, ...]
V = TypeVar("V")


# decision 1127
def keep(known: dict[_Key, V], made_of: _Key, value: V) -> None:
    """Keep what is known by what it is made of, unless that is long."""
    if len(repr(made_of)) > _LENGTH:
        return
    if len(known) >= _MOST:
        known.clear()
    known[made_of] = value


def said(items: Iterable[Property]) -> list[object]:
    """What of some properties a layout is made of: what says the same has the same one."""
    found: list[object] = []
    for item in items:
        if item.name in LAID_OUT:
            found += (item.name, item.text)
            if item.attributes:
                found.append((*item.attributes.items(),))
    return found


_known: dict[_Key, dict[_Key, int | None]] = {}


class LayoutVerdicts:
    """Whether alternatives of a job or a task group have a layout, and of how many nodes.

    What is made of the same is judged once, in whichever block it stands. ``own`` and ``requested``
    are the properties of the block.
    """

    def __init__(
        self, block: Block, path: str, own: Iterable[Property], requested: Iterable[Property]
    ) -> None:
        self.block, self.path = block, path
        made_of = (*said(own), None, *said(requested), pins(block))
        if (known := _known.get(made_of)) is None:
            known = {}
            keep(_known, made_of, known)
        self._found = known

    @cached_property
    def _statement(self) -> Statement:
        return Statement(without_set_aside(self.block), self.path)

    def nodes(self, terms: tuple[Term, ...]) -> int | None:
        """How many nodes a layout has by which these terms hold; None where there is none.

        0 is an open number. Raises ``InvalidValue`` and ``LimitExceeded`` for what cannot be read.
        """
        key = _of_terms(terms)
        try:
            return self._found[key]
        except KeyError:
            found = self._found[key] = _nodes(self._statement.request(terms))
            return found

    def holds(self, terms: tuple[Term, ...]) -> bool:
        """Whether there is a layout by which these terms hold. Raises as ``nodes``."""
        return self.nodes(terms) is not None


def _of_terms(terms: Iterable[Term]) -> _Key:
    found: list[object] = []
    for term in terms:
        if type(term) is Comparison:
            if term.item.name in LAID_OUT:
                found += said((term.item,))
        elif some := said(each.item for each in comparisons(term)):
            found += (type(term), *some)
    return tuple(found)


# decision 1145
def that_can_be_met(
    verdicts: LayoutVerdicts, every: list[V], terms: Callable[[V], tuple[Term, ...]]
) -> list[V]:
    """Those of some choices that have a layout; all of them where none has one."""
    try:
        return [each for each in every if verdicts.holds(terms(each))] or every
    except (InvalidValue, LimitExceeded):
        return every  # which is told where it is taken


def _nodes(asked: LayoutRequest | None) -> int | None:
    found = None if asked is None else CountsPlan(asked, lenient=False).checked()
    if found is None or not found.holds:
        return None
    return 0 if found.nodes is None else found.nodes.value


def holds(asked: LayoutRequest | None) -> bool:
    """Whether what one alternative says of counts and names can hold together."""
    return _nodes(asked) is not None
