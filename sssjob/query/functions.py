"""The functions ``sss:…`` of queries: amounts, times, bounds, satisfaction and node sets.

Each takes what XPath gives as an argument: a list of nodes, a string, a number or a boolean. What
reads a request goes by its awarenessPolicy: it raises ``UnreadableDocument`` where that is Reject
for something that is not understood, since any answer would be made without it (9.0). Of several
nodes ``sss:bytes``, ``sss:seconds`` and ``sss:time`` read the first, as XPath's own
``number()`` does, and what cannot be read is NaN. Numbers are worked out exactly, and rounded
once, to the double that XPath has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import inf, nan
from typing import Any, NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import expression, nodes, spec, units
from sssjob.document import bridge
from sssjob.document.outermost import is_block
from sssjob.document.places import attributes, local, place, text_of
from sssjob.document.report import ObjectReport
from sssjob.errors import (
    InvalidValue,
    LimitExceeded,
    Severity,
    UnbalancedGroup,
    UnreadableDocument,
    finding,
)
from sssjob.expression.evaluate import Request, Verdict, stated
from sssjob.expression.offer import COUNTS, Offer, delivered
from sssjob.model import Block, Job, Property, Requested
from sssjob.query.syntax import MADE, NAMESPACE

NODES_LIMIT = 100_000  # names in one answer of sss:nodes
ALTERNATIVES = 1024  # of a request, in which its bounds are looked for

Argument = str | float | bool | Sequence[Element | str]

_DURATIONS = ("CPUTime", "Duration")
_COUNTED_LIMITS = (*_DURATIONS, "Processors", "Processes", "OpenFiles")
_UNREADABLE = (InvalidValue, UnbalancedGroup)


class _NumberBounds(NamedTuple):
    """The least and the most that is admitted; None is no bound."""

    low: Fraction | None
    high: Fraction | None


def size(argument: Argument) -> float:
    """``sss:bytes``: an amount in bytes, by its units or the default unit of its element.

    A string may name a unit (``'2 GB'``); without one it is in bytes.
    """
    return _number(argument, _bytes)


def size_of(name: str, text: str) -> float:
    """An amount of Memory, Swap or Disk in bytes as a caller states it; NaN if it is none.

    It may name a unit (``2 GB``); without one it is in the default unit of the property.
    """
    try:
        return units.double(
            units.bytes_of(*units.with_unit(text) or (text, units.DEFAULT_UNITS[name]))
        )
    except InvalidValue:
        return nan


def seconds(argument: Argument) -> float:
    """``sss:seconds``: a duration in seconds, also of ``days-hours:minutes:seconds``."""
    return _number(argument, _seconds)


def time(argument: Argument) -> float:
    """``sss:time``: seconds since 1970-01-01T00:00:00Z, also of ISO 8601 with a zone."""
    return _number(argument, lambda item: Fraction(units.time(_text(item))))


def least(argument: Argument) -> float:
    """``sss:min``: the least amount that a request admits, in base units; 0 without a bound."""
    found = _bounds(argument)
    if not found:
        return nan
    return min(0.0 if each.low is None else units.double(each.low) for each in found)


def most(argument: Argument) -> float:
    """``sss:max``: the most that a request admits, in base units; Infinity without a bound."""
    found = _bounds(argument)
    if not found:
        return nan
    return max(inf if each.high is None else units.double(each.high) for each in found)


def satisfied(argument: Argument) -> bool:
    """``sss:satisfied``: whether what was delivered to a job is what was requested (SSS 8).

    The comparison is exact, as that of ``sssjob match`` with delivered jobs. Of several nodes
    all must be satisfied; what cannot be known, or was delivered nothing, is not.
    """
    found = _items(argument)
    return bool(found) and all(isinstance(item, Element) and _satisfied(item) for item in found)


def names(argument: Argument) -> list[Element]:
    """``sss:nodes``: each name that Node elements or Ranges stand for, once, as a Node element.

    A Pattern names no nodes. Raises ``LimitExceeded``.
    """
    found: dict[str, None] = {}
    for item in _items(argument):
        try:
            expanded = nodes.expand(as_property(item)) if isinstance(item, Element) else (
                nodes.spans(item.strip(units.XML_SPACE))
            )  # fmt: skip
        except InvalidValue:
            continue
        if isinstance(expanded, nodes.Names):
            if len(found) + len(expanded) > NODES_LIMIT:
                raise LimitExceeded("names in one answer of sss:nodes", NODES_LIMIT)
            found.update(dict.fromkeys(expanded))
    holder = etree.Element(MADE)
    for name in found:
        if name:
            etree.SubElement(holder, "Node").text = name
    return list(holder)


# fmt: off
FUNCTIONS: Mapping[str, Callable[[Argument], Any]] = {
    "bytes":     size,
    "seconds":   seconds,
    "time":      time,
    "min":       least,
    "max":       most,
    "satisfied": satisfied,
    "nodes":     names,
}
# fmt: on


def extensions() -> dict[tuple[str, str], Callable[..., Any]]:
    """The functions as lxml wants them: by namespace and name, with a context they ignore."""

    def without_context(function: Callable[[Argument], Any]) -> Callable[..., Any]:
        return lambda _, argument: function(argument)

    return {(NAMESPACE, name): without_context(each) for name, each in FUNCTIONS.items()}


def check_literal(name: str, text: str) -> None:
    """Raise ``InvalidValue`` for a literal string that a function can never read."""
    if name == "time":
        try:
            units.time(text)
        except InvalidValue:
            raise InvalidValue(text, "a time with its zone such as 2026-01-31T00:00Z") from None
    elif name in _LITERALS:
        _LITERALS[name](text)


def _number(argument: Argument, read: Callable[[Element | str], Fraction]) -> float:
    if isinstance(argument, bool | float | int):
        return float(argument)
    for item in _items(argument)[:1]:
        try:
            return units.double(read(item))
        except InvalidValue:
            break
    return nan


def _items(argument: Argument) -> Sequence[Element | str]:
    return argument if isinstance(argument, list | tuple) else [str(argument)]


def _text(item: Element | str) -> str:
    return item if isinstance(item, str) else text_of(item)


def _bytes(item: Element | str) -> Fraction:
    if isinstance(item, str):
        found = units.with_unit(item)
        return units.bytes_of(*found) if found else units.number(item)
    read = as_property(item)
    unit = read.attributes.get("units") or units.DEFAULT_UNITS.get(read.name, "")
    limit = spec.limit_name(read.attributes.get("name", ""))
    if not unit and read.name == "ResourceLimit" and limit not in _COUNTED_LIMITS:
        unit = "B"  # what the operating system counts in
    return units.bytes_of(read.text, unit)


def _seconds(item: Element | str) -> Fraction:
    row = spec.element(as_property(item).name) if not isinstance(item, str) else None
    is_time = row is not None and row.type == spec.DATETIME
    return Fraction((units.time if is_time else units.duration)(_text(item)))


def as_property(element: Element) -> Property:
    """An element by its present name; what stands in a foreign namespace has no name here."""
    container = element.getparent()
    here = place(str(element.tag), "Job" if container is None else _container(container))
    return Property(here.name, text_of(element), attributes(element), line=element.sourceline or 0)


def _container(element: Element) -> str:
    name = local(element)
    return name if name in spec.CONTAINER else "Job"


def _bounds(argument: Argument) -> list[_NumberBounds]:
    """The bounds of each amount; none if one of them cannot be told."""
    found: list[_NumberBounds] = []
    asked: set[tuple[Element, str]] = set()
    for item in _items(argument):
        if not isinstance(item, Element) or not isinstance(item.tag, str) or is_block(item):
            return []
        parent = item.getparent()
        read = as_property(item)
        try:
            if parent is None or not is_block(parent) or local(parent) != spec.REQUESTED:
                exact = expression.amount(read)
                found.append(_NumberBounds(exact, exact))
                continue
            key = expression.key(read)
            holder = parent.getparent()
            block = parent if holder is None else holder
            if (block, key) not in asked:
                asked.add((block, key))
                found.append(_requested(block, key))
        except (*_UNREADABLE, LimitExceeded):
            return []
    return found


def _requested(holder: Element, key: str) -> _NumberBounds:
    """From the least to the most that any possible alternative of a request admits."""
    requests = [holder] if local(holder) == spec.REQUESTED else [
        child for child in holder.iterchildren("{*}Requested") if is_block(child)
    ]  # fmt: skip
    alone = Job(tuple(bridge.from_tree(child) for child in requests))
    asked = expression.of(_known(alone, holder))
    assert asked is not None
    found = expression.alternatives(asked, ALTERNATIVES)
    if not found.complete:
        raise LimitExceeded("alternatives in a request", found.limit)
    every = [
        _interval(item.terms, key) for item in found if not any(_impossible(item.terms))
    ]  # fmt: skip
    if not every:
        raise InvalidValue(key, "a request that some amount satisfies")
    lows, highs = [each.lo for each in every], [each.hi for each in every]
    return _NumberBounds(
        None if None in lows else min(low for low in lows if low is not None),
        None if None in highs else max(high for high in highs if high is not None),
    )


def _impossible(terms: Sequence[expression.Term]) -> Iterator[bool]:
    amounts = {
        expression.key(term.item) for term in terms
        if isinstance(term, expression.Comparison) and _is_amount(term.item)
    }  # fmt: skip
    for key in amounts:
        yield _interval(terms, key).empty


def _is_amount(item: Property) -> bool:
    try:
        expression.amount(item)
    except InvalidValue:
        return False
    return True


def _interval(terms: Sequence[expression.Term], key: str) -> expression.Interval:
    """Counts and seconds are whole; sizes are not."""
    found = expression.interval(terms, key)
    return found.integers() if key in COUNTS else found


def _satisfied(element: Element) -> bool:
    if not isinstance(element.tag, str) or not is_block(element):
        return False
    block = bridge.from_tree(element)
    if not block.delivered:
        return False
    try:
        asked = stated(_known(_own(block), element), block)
        return Request(asked).verdict(Offer.of("", delivered(block), "exact")) is Verdict.YES
    except (*_UNREADABLE, LimitExceeded):
        return False


def _own(block: Block) -> Block:
    """A block without the jobs, task groups and tasks in it, which ask for themselves."""
    kept = (each for each in block.items if not isinstance(each, Block))
    return block.holding((*kept, *block.blocks(Requested)))


def _known(block: Block, element: Element) -> Block:
    """What is understood of a block that was read from an element, by the policy that holds there.

    Raises ``UnreadableDocument`` with the whole list where that is Reject.
    """
    # Whoever keeps or queries documents imports this; what asks for bounds and answers is rare.
    from sssjob.check.awareness import ASK, understood
    from sssjob.check.vocabulary import FULL, AwarenessPolicy

    above = []  # the objects of jobs that it stands in: wrappers say nothing of what is in them
    at: Element | None = element if local(element) != spec.REQUESTED else element.getparent()
    while at is not None and is_block(at):
        above.append(at)
        at = at.getparent()
    policy = AwarenessPolicy.REJECT
    for each in reversed(above):
        policy = FULL.policy(attributes(each).get("awarenessPolicy"), policy)
    known = understood(block, ASK, around=policy)
    if not known.accepted:
        path = ObjectReport(above[-1] if above else element, 0).path(element)
        known = understood(block, ASK, around=policy, path=path)
        said = [each for each in known.findings() if each.severity is Severity.ERROR]
        text = "; ".join(f"{each.message} at {each.path}" for each in said)
        raise UnreadableDocument(finding("E-UNKNOWN", text, line=said[0].line, section="SSS 9.0"))
    return known.block


_LITERALS: Mapping[str, Callable[[str], object]] = {
    "bytes": _bytes,
    "seconds": _seconds,
    "nodes": lambda text: nodes.spans(text.strip(units.XML_SPACE)),
}
