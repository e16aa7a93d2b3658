"""What names a term of a request demands and excludes, whatever its aggregation (SSS 5.1).

>>> from sssjob.model import Property
>>> from sssjob.expression.tree import Comparison
>>> term = Comparison(Property("Feature", "ib,ssd", {"aggregation": "List", "op": "NE"}))
>>> asked_names(term).excludes("ssd"), asked_names(term).demanded
(True, ())
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from sssjob import nodes
from sssjob.errors import InvalidValue, LimitExceeded
from sssjob.expression.pattern import NotAPattern, Pattern
from sssjob.expression.tree import Not, Term, comparison_of
from sssjob.model import Property


class AskedNames(NamedTuple):
    """Sets of names of which one each has to be there, and what must not be there."""

    demanded: tuple[tuple[str, ...], ...] = ()
    excludes: Callable[[str], bool] = lambda name: False
    # Whether it names what is not wanted at all.
    is_excluding: bool = False
    # What is demanded, or else excluded, is what this pattern matches; "" for names.
    pattern: str = ""

    def admits(self, name: str) -> bool:
        """Whether one thing of this name may satisfy it, by itself: a node has but one name."""
        if self.is_excluding:
            return not self.excludes(name)
        if self.pattern:
            return not mismatches(self.pattern, name)
        return all(name in texts for texts in self.demanded)


_NOTHING = AskedNames()
_NAME = re.compile(r"[A-Za-z0-9_-]+")


# decision 1036
def asked_names(term: Term) -> AskedNames:
    """The names that a term demands and excludes.

    A List or Range of features demands each of them, one of nodes is a set to choose from; compared
    by NE both exclude each, and so does a pattern what it matches. Not of several demands that one
    of them is missing, which excludes none by itself. A demand of more names than an option lists,
    or what cannot be read, says nothing here.
    """
    negated = isinstance(term, Not)
    item, op = comparison_of(term).item, comparison_of(term).op
    aggregation = item.attributes.get("aggregation", "").strip()
    try:
        if op == "Match" or aggregation == nodes.PATTERN:
            return _of_pattern(item, op, negated)
        if op not in ("EQ", "NE"):
            return _NOTHING
        if not aggregation:
            text = item.text.strip()
            if (op == "NE") is negated:
                return AskedNames(((text,),))
            return AskedNames((), text.__eq__, True)
        return _of_several(item, op, negated)
    except (InvalidValue, LimitExceeded, NotAPattern):  # which is told where it is read
        return _NOTHING


def _of_several(item: Property, op: str, negated: bool) -> AskedNames:
    found = nodes.expand(item)
    if not isinstance(found, nodes.Names) or (negated and op == "EQ"):
        return _NOTHING
    if op == "NE" and not negated:
        return AskedNames((), found.tester(), True)
    if len(found) > nodes.OPTION_LIMIT:
        return _NOTHING
    texts = tuple(found)
    is_choice = negated or item.name == "Node"
    return AskedNames((texts,) if is_choice else tuple((text,) for text in texts))


def _of_pattern(item: Property, op: str, negated: bool) -> AskedNames:
    text, is_demanded = item.text.strip(), (op == "NE") is negated
    if is_demanded and "count" in item.attributes:  # of several nodes, and of none by itself
        return _NOTHING
    if is_demanded:
        return AskedNames(((text,),)) if _NAME.fullmatch(text) else AskedNames(pattern=text)
    matches = Pattern(text).matches

    def is_matched(name: str) -> bool:
        try:
            return matches(name)
        except LimitExceeded:
            return False

    return AskedNames((), is_matched, True, text)


def mismatches(pattern: str, name: str) -> bool:
    """Whether a pattern certainly does not match a name."""
    try:
        return not Pattern(pattern).matches(name)
    except (LimitExceeded, NotAPattern):
        return False
