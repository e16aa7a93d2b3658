"""What names a term of a request demands and excludes, whatever its aggregation (SSS 5.1).

>>> from sssjob.model import Property
>>> from sssjob.expression.tree import Comparison
>>> term = Comparison(Property("Feature", "ib,ssd", {"aggregation": "List", "op": "NE"}))
>>> asked_names(term).excludes("ssd"), asked_names(term).demanded
(True, ())
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from sssjob import nodes
from sssjob.errors import InvalidValue, LimitExceeded
from sssjob.expression.pattern import NotAPattern, Pattern
from sssjob.expression.tree import Not, Term, comparison_of
from sssjob.model import Property


class NamesTerm(NamedTuple):
    """What a term says names by, and whether it takes them away."""

    item: Property
    op: str
    names: nodes.Names | None  # None of what a pattern says, or of what compares no names
    is_pattern: bool
    excludes: bool
    # Not to be none of several names is to be one of them.
    is_one_of: bool


# decision 1107
def names_in(term: Term, *, extended: bool = False) -> NamesTerm:
    """What a term says of names, whatever its aggregation, without that one is made.

    Raises ``InvalidValue`` and ``LimitExceeded``.
    """
    negated = isinstance(term, Not)
    said = comparison_of(term)
    item, op = said.item, said.op
    names: nodes.Names | None = None
    is_pattern = op == "Match"
    if op in ("EQ", "NE"):
        found = nodes.expand(item, extended=extended)
        if type(found) is nodes.Names:
            names = found
        else:
            is_pattern = True
    is_one_of = negated and op == "NE" and not is_pattern
    return NamesTerm(item, op, names, is_pattern, (op == "NE") is not negated, is_one_of)


def _excludes_nothing(name: str) -> bool:
    return False


class AskedNames(NamedTuple):
    """Sets of names of which one each has to be there, and what must not be there."""

    demanded: tuple[tuple[str, ...], ...] = ()
    excludes: Callable[[str], bool] = _excludes_nothing
    # Whether it names what is not wanted at all.
    is_excluding: bool = False
    # What is demanded, or else excluded, is what this pattern matches; "" for names.
    pattern: str = ""
    # The names that it excludes, where these are all of them and few.
    excluded: tuple[str, ...] = ()

    @property
    def takes_away(self) -> bool:
        """Whether there are names that it excludes: by themselves, or all but some."""
        return self.excludes is not _excludes_nothing

    def admits(self, name: str) -> bool:
        """Whether one thing of this name may satisfy it, by itself: a node has but one name."""
        if self.is_excluding:
            return not self.excludes(name)
        if self.pattern:
            return not mismatches(self.pattern, name)
        return all(name in texts for texts in self.demanded)


# Questions to patterns, of one request, whether a name is excluded; 100 patterns of 1000 names.
ASKED = 100_000

_NOTHING = AskedNames()
_NAME = re.compile(r"[A-Za-z0-9_-]+")


# decision 1036
def asked_names(term: Term) -> AskedNames:
    """The names that a term demands and excludes.

    A List or Range of features demands each of them, one of nodes is a set to choose from; compared
    by NE both exclude each, and so does a pattern what it matches. Not of several demands that one
    of them is missing, which excludes none by itself; but a node that is not of a set is none of
    it, and one that is not none of several names is one of them. A demand of more names than an
    option lists, or what cannot be read, says nothing here.
    """
    try:
        said = names_in(term)
        if said.names is not None:
            return _of_names(said, said.names)
        if said.is_pattern:
            return _of_pattern(said)
    except (InvalidValue, LimitExceeded, NotAPattern):  # which is told where it is read
        pass
    return _NOTHING


def _of_names(said: NamesTerm, found: nodes.Names) -> AskedNames:
    is_node = said.item.name == "Node"
    if len(found.parts) == 1 and isinstance(one := found.parts[0], str):  # as most are
        if said.excludes:
            return AskedNames((), one.__eq__, True, excluded=(one,))
        return AskedNames(((one,),))
    if said.excludes:
        if not is_node and said.op != "NE":
            return _NOTHING
        few = tuple(found) if len(found) <= nodes.OPTION_LIMIT else ()
        return AskedNames((), found.tester(), True, excluded=few)
    if len(found) > nodes.OPTION_LIMIT:
        return _NOTHING
    texts = tuple(found)
    if said.is_one_of and is_node:
        is_one = found.tester()
        return AskedNames((texts,), lambda name: not is_one(name))
    is_choice = said.is_one_of or is_node
    return AskedNames((texts,) if is_choice else tuple((text,) for text in texts))


def _of_pattern(said: NamesTerm) -> AskedNames:
    text = said.item.text.strip()
    if not said.excludes and "count" in said.item.attributes:
        return _NOTHING  # it is of several nodes, and of none by itself
    if not said.excludes:
        return AskedNames(((text,),)) if _NAME.fullmatch(text) else AskedNames(pattern=text)
    matches = Pattern(text).matches

    def is_matched(name: str) -> bool:
        try:
            return matches(name)
        except LimitExceeded:
            return False

    return AskedNames((), is_matched, True, text)


def excluded_by(every: Iterable[AskedNames]) -> Callable[[str], bool]:
    """What tells whether any of them excludes a name; names are looked up, however many.

    Nothing is said of a name once patterns have been asked ``ASKED`` times.
    """
    names: set[str] = set()
    others: list[Callable[[str], bool]] = []
    for asked in every:
        names.update(asked.excluded)
        if asked.takes_away and not asked.excluded:
            others.append(asked.excludes)
    left = ASKED

    def is_excluded(name: str) -> bool:
        nonlocal left
        if name in names:
            return True
        left -= len(others)
        return left >= 0 and any(excludes(name) for excludes in others)

    return is_excluded


def is_matched_and_not(every: Iterable[AskedNames]) -> bool:
    """Whether what one pattern matches is demanded and excluded."""
    found = {(asked.pattern, asked.is_excluding) for asked in every if asked.pattern}
    return any((pattern, not is_excluding) in found for pattern, is_excluding in found)


def mismatches(pattern: str, name: str) -> bool:
    """Whether a pattern certainly does not match a name."""
    try:
        return not Pattern(pattern).matches(name)
    except (LimitExceeded, NotAPattern):
        return False
