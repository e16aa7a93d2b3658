"""Job objects that a request carries: read, and held against what is understood here."""

from __future__ import annotations

from dataclasses import dataclass

from lxml.etree import _Element as Element

from sssjob import spec, units
from sssjob.check import awareness
from sssjob.check.awareness import is_old
from sssjob.document import bridge, tree
from sssjob.document.places import local
from sssjob.errors import InvalidValue, Refused, UnreadableDocument
from sssjob.handlers.attributes import JOB
from sssjob.model import Block, Item, Job, Property
from sssjob.rmap.message import Item as Sent
from sssjob.rmap.message import Request
from sssjob.rmap.writing import written

_SINGLE = frozenset(("Id", "Charge", "Quote", *spec.AMOUNTS))


@dataclass(frozen=True, slots=True)
class Carried:
    """Job objects of a request, and what is not understood in them and goes on (Warn)."""

    blocks: tuple[Block, ...]
    warnings: str = ""


def carried(asked: Request) -> Carried:
    """The job objects in Data.

    Raises ``Refused``: 314 without any, 740 for one of another kind or of two meanings, 317 for a
    Charge below zero, 302 for what cannot be read, and 710 with all that is not understood where
    the policy of one of it is Reject (9.0).
    """
    items = asked.data.items if asked.data else ()
    if not items:
        raise Refused("314", f"The request carries no {asked.object}")
    elements = [_element(each, asked.object) for each in items]
    rejected: list[str] = []
    warned: list[str] = []
    for element in elements:
        if asked.object == JOB and is_old(element):
            continue
        outcome = awareness.judge(awareness.items(element))
        rejected += map(_said, outcome.reject)
        warned += map(_said, outcome.warn)
    if rejected:
        raise Refused("710", f"Not understood: {'; '.join((*rejected, *warned))}")
    warnings = f"Not understood, and kept: {'; '.join(warned)}" if warned else ""
    blocks = tuple(_block(element) for element in elements)
    for block in blocks:
        for job in (block, *block.blocks(Job)):
            require_credits(job.get("Charge"))
    return Carried(blocks, warnings)


def require_credits(text: str) -> None:
    """Refuse (317) a Charge below zero: only a Refund gives back, and never more than was taken."""
    try:
        is_credit = units.number(text) < 0
    except InvalidValue:
        return
    if is_credit:
        raise Refused("317", "Charge is not less than 0; a Refund gives back")


def _element(item: Sent, kind: str) -> Element:
    try:
        element = tree.parse(written(item).encode())
    except UnreadableDocument as error:
        raise Refused("302", f"A {kind} cannot be read: {error.finding.message}") from error
    if local(element) != kind:
        raise Refused("740", f"Found {local(element)} in Data, expected {kind}")
    return element


def _block(element: Element) -> Block:
    try:
        block = bridge.from_tree(element)
    except ValueError as error:
        raise Refused("740", "An element of Data is no job object") from error
    require_one_meaning(block)
    return once(block) if is_old(element) else block


def require_one_meaning(block: Block) -> None:
    """Refuse (740) a job with two Ids, charges or amounts that differ: which one is meant?

    What it requests is an expression, which may name a thing as often as it likes.
    """
    for items in (block.properties, block.delivered):
        said: dict[object, str] = {}
        for item in items:
            if item.name in _SINGLE:
                # An amount may be told for each metric, context or duration of its own.
                what = item.name, frozenset(item.attributes.items())
                if said.setdefault(what, item.text.strip()) != item.text.strip():
                    text = f"The {block.name} has two different values of {item.name}"
                    raise Refused("740", text)
    for job in block.blocks(Job):
        require_one_meaning(job)


def once(block: Block) -> Block:
    """A block without what it says twice, by an old and by a new name."""
    items: list[Item] = []
    said: set[str] = set()
    for item in block.items:
        if type(item) is Property and not item.attributes and not item.children:
            row = spec.element(item.name)
            if item.name in said and not (row and row.repeats):
                continue
            said.add(item.name)
        items.append(item)
    return block.holding(items)


def _said(item: awareness.Item) -> str:
    return f"{item.kind} {item.what} at {item.path}"
