"""What one implementation understands: a compliance level, or what one operation handles.

The level of a name follows from the compliance column of the tables: *minimal* is all that MUST be
supported, *recommended* what SHOULD be as well, *full* everything. sssjob itself is full.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import NamedTuple

from lxml.etree import _Element as Element

from sssjob import spec
from sssjob.check import rules
from sssjob.check.rules import CarriedAttribute, PropertyRule
from sssjob.document.places import names
from sssjob.errors import AwarenessPolicy

__all__ = [
    "CHARGE", "FULL", "LEVELS", "AwarenessPolicy", "NameDifference", "Vocabulary",
    "attribute_level", "differences", "element_level", "of_level",
]  # fmt: skip

LEVELS = ("minimal", "recommended", "full")

# Namespaces of XML itself, whose names are kept and mean nothing here.
ALWAYS_UNDERSTOOD = (
    "{http://www.w3.org/XML/1998/namespace}",
    "{http://www.w3.org/2001/XMLSchema-instance}",
)

_LEVEL = dict(zip((spec.MUST, spec.SHOULD, spec.MAY), LEVELS, strict=True))
_REMEMBERED = 1 << 14
_POLICY = "awarenessPolicy"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The elements and attributes that an implementation understands; None is all there are.

    Elements are named as ``Memory`` anywhere, ``Delivered/Memory`` in one container, or
    ``Delivered/*`` for all that the tables have there. Attributes are named as ``units`` on any
    element, ``Memory/units`` on one, or ``Requested/*/op`` on what is requested. Without
    ``awareness`` the implementation does not know awarenessPolicy and rejects whatever it does not
    understand, as the text asks.

    >>> of_level("minimal").has("Job", "Memory")
    False
    """

    name: str
    elements: frozenset[str] | None = None
    attributes: frozenset[str] | None = None
    awareness: bool = True

    @classmethod
    def of(
        cls, name: str, elements: Iterable[str], attributes: Iterable[str] | None = None
    ) -> Vocabulary:
        """The vocabulary of an operation; without ``attributes`` all that its elements carry."""
        words = None if attributes is None else frozenset((*attributes, _POLICY))
        return cls(name, frozenset(elements), words)

    def unaware(self) -> Vocabulary:
        """The same vocabulary in an implementation that does not support awarenessPolicy (9.0)."""
        return replace(self, awareness=False)

    def has(self, container: str, name: str) -> bool:
        """Whether an element of the tables is understood in a container; "" is the root."""
        words = self.elements
        return words is None or not words.isdisjoint(
            (name, f"{container}/{name}", f"{container}/*")
        )

    def has_attribute(self, element: str, name: str, category: str = "") -> bool:
        """Whether an attribute of the tables is understood on an element."""
        if name == _POLICY and not self.awareness:
            return False
        words = self.attributes
        return words is None or not words.isdisjoint(
            (name, f"{element}/{name}", f"{category}/*/{name}")
        )

    def rule(self, tag: str, container: str) -> PropertyRule | None:
        """The rule for a property that is understood in this place, or None."""
        return _rule(self, tag, container)

    def carried(self, element: str, category: str) -> dict[str, CarriedAttribute]:
        """The attributes that are understood on an element in a category."""
        return _carried(self, element, category)

    def policy(self, stated: str | None, inherited: AwarenessPolicy) -> AwarenessPolicy:
        """The policy that holds on an element: its own, else the one around it (9.0).

        A stated one that is none does not count; it is a value that is not understood.
        """
        if not self.awareness:
            return AwarenessPolicy.REJECT
        return AwarenessPolicy.holding(stated, inherited)

    # decision 925
    def around(self, root: Element) -> AwarenessPolicy:
        """The policy of the job objects that one stands in; a wrapper is none of them."""
        policy = AwarenessPolicy.REJECT
        for ancestor in reversed(list(root.iterancestors())):
            namespace, name = names(ancestor)
            if namespace in spec.NAMESPACES and name in spec.CONTAINER:
                policy = self.policy(ancestor.get("awarenessPolicy"), policy)
        return policy


def element_level(container: str, name: str) -> str:
    """The lowest level that understands an element in a container; "" if the standard has none.

    A MUST within a container that MAY be supported binds whoever supports the container.
    """
    if not container:
        return _LEVEL[spec.CONTAINER[name].compliance] if name in spec.CONTAINER else ""
    if name in spec.blocks(container):
        return _LEVEL[spec.CONTAINER[name].compliance]
    asked = rules.rule(name, container) or _stray(name, container)
    if asked is None:
        return ""
    if asked.row in spec.IMPLICIT_TASK_GROUP and container.startswith("Job"):
        # What makes a job its own task group takes an implementation that knows those.
        return _LEVEL[spec.CONTAINER["TaskGroup"].compliance]
    return _LEVEL[asked.row.compliance]


def attribute_level(element: str, name: str, category: str = "") -> str:
    """The lowest level that understands an attribute on an element that it understands, or ""."""
    row = spec.attributes(element, category).get(name)
    return _LEVEL[row.compliance] if row else ""


@cache  # made when it is asked for: few commands ask for one
def of_level(level: str) -> Vocabulary:
    """The vocabulary of a peer that supports one level and nothing above it."""
    reached = LEVELS[: LEVELS.index(level) + 1]
    if level == LEVELS[-1]:
        return Vocabulary(level)
    elements = (
        f"{container}/{name}"
        for container in ("", *spec.CONTAINER)
        for name in _known(container)
        if element_level(container, name) in reached
    )
    attributes = (
        f"{place}/{row.name}" if place != "*" else row.name
        for row in spec.ATTRIBUTES
        for place in row.on
        # awarenessPolicy MAY be supported: a peer that does not is ``unaware()``.
        if _LEVEL[row.compliance] in reached or row.name == _POLICY
    )
    return Vocabulary(level, frozenset(elements), frozenset(attributes))


class NameDifference(NamedTuple):
    """A name that one level understands and a lower one does not."""

    kind: str
    name: str
    level: str
    section: str


def differences(low: str, high: str = "full") -> Iterator[NameDifference]:
    """What a peer of one level lacks that one of a higher level understands, as printed (2.2)."""
    between = LEVELS[LEVELS.index(low) + 1 : LEVELS.index(high) + 1]
    for container in spec.CONTAINERS:
        if _LEVEL[container.compliance] in between and container.name != "Environment":
            level = _LEVEL[container.compliance]
            yield NameDifference("element", container.name, level, container.section)
    places = {"Table 1": "JobGroup", "Table 6": "TaskGroup", "Table 7": "Task", "3.0": "Job",
              "Environment": "Environment"}  # fmt: skip
    for table, rows in spec.TABLES.items():
        container_name = places.get(table, "Job")
        for row in rows:
            level = element_level(container_name, row.name)
            if level in between:
                name = row.name if container_name == "Job" else f"{container_name}/{row.name}"
                yield NameDifference("element", name, level, row.section)
    for attribute in spec.ATTRIBUTES:
        level = _LEVEL[attribute.compliance]
        if level in between:
            for place in attribute.on:
                yield NameDifference("attribute", f"{place}/@{attribute.name}", level,
                                 attribute.section)  # fmt: skip


@lru_cache(_REMEMBERED)
def _rule(vocabulary: Vocabulary, tag: str, container: str) -> PropertyRule | None:
    asked = rules.rule(tag, container)
    if asked is None or not vocabulary.has(container, asked.row.name):
        return None
    return asked._replace(attributes=vocabulary.carried(asked.row.name, asked.place.category))


@cache
def _carried(vocabulary: Vocabulary, element: str, category: str) -> dict[str, CarriedAttribute]:
    return {
        name: carried
        for name, carried in rules.carried(element, category).items()
        if vocabulary.has_attribute(element, name, category)
    }


def _stray(name: str, container: str) -> PropertyRule | None:
    """A property that is read in a category which the tables do not give it (decision 6)."""
    strays = name == "CpuDuration" and container == spec.DELIVERED
    return rules.rule(name, "Job") if strays else None


def _known(container: str) -> Iterable[str]:
    if not container:
        return ("JobGroup", "JobDefaults", "Job", "TaskGroupDefaults", "TaskGroup",
                "TaskDefaults", "Task")  # fmt: skip
    return (*spec.blocks(container), *spec.properties(container))


FULL = Vocabulary(LEVELS[-1])

_DATES = (spec.DATETIME, spec.DURATION)
# What charging for a job needs: who, what was delivered, and when.
CHARGE = Vocabulary.of(
    "charge",
    (
        "Job", "Id", "GlobalId", "Charge", "Quote", "Machine", spec.DELIVERED,
        f"{spec.DELIVERED}/*", *(row.name for row in spec.CREDENTIALS),
        *(f"Job/{row.name}" for row in spec.JOB if row.type in _DATES),
    ),
)  # fmt: skip
