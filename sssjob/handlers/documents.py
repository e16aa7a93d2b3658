"""Job objects that a request carries: read, and held against what is understood here."""

from __future__ import annotations

from dataclasses import dataclass

from lxml.etree import _Element as Element

from sssjob import spec
from sssjob.check import awareness
from sssjob.document import bridge, tree
from sssjob.document.places import local
from sssjob.errors import Refused, UnreadableDocument
from sssjob.handlers.attributes import JOB
from sssjob.model import Block, Item, Property
from sssjob.rmap.message import Item as Sent
from sssjob.rmap.message import Request
from sssjob.rmap.writing import written

# Names by which a job is known to be written for Gold, which ignores what it does not know.
_OLD = frozenset(("JobId", "UserId", "ProjectId", "MachineName", "WallDuration"))


@dataclass(frozen=True, slots=True)
class Carried:
    """Job objects of a request, and what is not understood in them and goes on (Warn)."""

    blocks: tuple[Block, ...]
    warnings: str = ""


def carried(asked: Request) -> Carried:
    """The job objects in Data.

    Raises ``Refused``: 314 without any, 740 for one of another kind, 302 for what cannot be
    read, and 710 with all that is not understood where the policy of one of it is Reject (9.0).
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
    return Carried(tuple(_block(element) for element in elements), warnings)


def is_old(element: Element) -> bool:
    """Whether a job is written with names that only Gold's clients and old drafts have."""
    return any(isinstance(child.tag, str) and local(child) in _OLD for child in element)


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
    return once(block) if is_old(element) else block


def once(block: Block) -> Block:
    """A block without what it says twice, by an old and by a new name. Raises ``Refused`` (740)."""
    items: list[Item] = []
    said: dict[str, str] = {}
    for item in block.items:
        if type(item) is Property and not item.attributes and not item.children:
            row = spec.element(item.name)
            if item.name in said and not (row and row.repeats):
                if said[item.name] != item.text.strip():
                    raise Refused(
                        "740", f"The {block.name} has two different values of {item.name}"
                    )
                continue
            said[item.name] = item.text.strip()
        items.append(item)
    return block.holding(items)


def _said(item: awareness.Item) -> str:
    return f"{item.kind} {item.what} at {item.path}"
