"""How many steps an expression may take, so that a hostile one is refused instead of run for days.

libxml2 answers most expressions in time that grows with the document. What starts at the document
again inside brackets, or goes sideways from many nodes, multiplies: those are estimated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from lxml.etree import _Element as Element

from sssjob.errors import LimitExceeded
from sssjob.query.syntax import Expression, Path, Step, parts

STEPS = 10**10  # a minute or two

_SIBLINGS = ("following-sibling", "preceding-sibling")
_SIDEWAYS = ("following", "preceding")  # of several nodes, each result is looked for among all
_SAMPLE = 1000  # nodes of an imagined document, to tell what multiplies

Size = Callable[[str], int]  # how many elements have a name; of all names for *


class _Burden(NamedTuple):
    """Steps for all contexts together, and further ones for each of them."""

    shared: int
    each: int


def multiplies(expression: Expression) -> bool:
    """Whether the steps may grow faster than the document."""
    found = _burden(expression, lambda _: _SAMPLE)
    return found.shared + found.each > _SAMPLE * len(str(expression)) * 10


def refuse_endless(expression: Expression, within: Element) -> None:
    """Raise ``LimitExceeded`` if the steps in an element's tree may be more than ``STEPS``."""
    names = Counter(
        tag.rpartition("}")[2] for tag in (each.tag for each in within.iter()) if type(tag) is str
    )
    total = names.total()
    found = _burden(expression, lambda name: total if name == "*" else names[name])
    if found.shared + found.each > STEPS:
        raise LimitExceeded(f"steps to answer this on {total} elements, as estimated", STEPS)


def _burden(expression: Expression, size: Size) -> _Burden:
    if isinstance(expression, Path):
        return _of_path(expression, size)
    found = [_burden(part, size) for part in parts(expression)]
    return _Burden(sum(each.shared for each in found), sum(each.each for each in found))


def _of_path(path: Path, size: Size) -> _Burden:
    everything = size("*")
    shared = each = 0
    apart = path.absolute  # whether the steps are taken anew for each context
    nodes = 1 if path.absolute else everything
    if path.start is not None:
        shared, each = _burden(path.start, size)
        apart, nodes = apart or each > 0, everything
    for predicate in path.predicates:
        inner = _burden(predicate, size)
        shared, each = shared + inner.shared, each + inner.shared + nodes * inner.each
    for index, step in enumerate(path.steps):
        steps = everything
        if step.axis in _SIDEWAYS and (apart or index):
            steps = everything * everything * nodes
        elif step.axis in _SIBLINGS and apart:
            steps = everything * nodes
        apart = apart or step.axis in (*_SIDEWAYS, *_SIBLINGS)
        nodes = _named(step, size)
        for predicate in step.predicates:
            inner = _burden(predicate, size)
            steps += inner.shared + nodes * inner.each
        if apart:
            each += steps
        else:
            shared += steps
    return _Burden(shared, each)


def _named(step: Step, size: Size) -> int:
    if step.axis == "attribute" or not step.test.is_name:
        return size("*")
    return size(step.test.name)
