"""Documents about which no rule has anything to say, recognised at the speed of libxml2.

From the tables of ``spec`` comes a RELAX NG grammar that is narrower than the standard: whatever
it accepts, ``_is_plain`` finds plain and ``meaning`` silent, gives no finding. What it does not
accept may be right as well; the walk in ``check`` says so, or says why not.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import spec, units
from sssjob.document import dependencies
from sssjob.document.meaning import is_silent
from sssjob.document.places import CATEGORIES, XML_SPACE, names, text_of
from sssjob.document.values import contexts

# Building the grammar costs as much as walking that many job objects.
_WORTH_A_GRAMMAR = 200
_LONGEST_PAUSE = 64

_ROOTS = ("Job", "JobGroup")
_WORDY = ("NotificationList", "redirectList")  # their lists of words are for the walk
_AMOUNTS = tuple(units.DEFAULT_UNITS)

# fmt: off
_TYPES = {
    "":            "<empty/>",
    spec.STRING:   "<text/>",
    spec.INTEGER:  '<data type="integer"/>',
    spec.FLOAT:    '<data type="decimal"/>',
    spec.BOOLEAN:  "<choice><value>true</value><value>false</value></choice>",
    spec.DATETIME: '<data type="unsignedInt"/>',
    spec.DURATION: '<data type="nonNegativeInteger"/>',
}
_NARROWER = {
    "consumptionRate": '<data type="decimal"><param name="minInclusive">0</param>'
                       '<param name="maxInclusive">1</param></data>',
    "count":           '<data type="positiveInteger"/>',
    "preference":      '<choice><data type="positiveInteger"/>'
                       '<data type="negativeInteger"/></choice>',
}
# fmt: on
_NOT_EMPTY = '<data type="token"><param name="minLength">1</param></data>'


class Acceptor:
    """Tells elements that give no finding from those that must be walked.

    ``said`` is shared with the walk: what has been said once per source counts as nothing to say.
    """

    def __init__(self, said: set[str]) -> None:
        self._said = said
        self._met = 0
        self._pause = self._walks = 0

    def __call__(self, element: Element) -> bool:
        """Whether nothing can be said about this job object."""
        self._met += 1
        if self._met <= _WORTH_A_GRAMMAR or self._pause:
            self._pause = max(self._pause - 1, 0)
            return False
        accepted = self._accepts(element)
        # A source of which each job object gives findings is not asked in vain each time.
        self._walks = 0 if accepted else min(2 * self._walks + 1, _LONGEST_PAUSE)
        self._pause = self._walks - 1 if self._walks > 1 else 0
        return accepted

    def _accepts(self, element: Element) -> bool:
        namespace, name = names(element)
        if name not in _ROOTS or namespace not in spec.NAMESPACES:
            return False
        grammar = _grammar(namespace, "I-UNIT" not in self._said)
        return (
            bool(grammar.validate(element))
            and _is_plain(element)
            and is_silent(element)
            and dependencies.is_silent(element)
        )


class _Tags(NamedTuple):
    """The tags in one namespace of what the grammar cannot tell apart."""

    job: str
    task_group: str
    task: str
    environment: str
    duration: str
    job_defaults: str
    task_group_defaults: str
    task_defaults: str
    requested: str
    delivered: str
    id: str


@cache
def _tags(namespace: str) -> _Tags:
    space = f"{{{namespace}}}" if namespace else ""
    names = (
        "Job", "TaskGroup", "Task", "Environment", "Duration",
        "JobDefaults", "TaskGroupDefaults", "TaskDefaults", "Requested", "Delivered", "Id",
    )  # fmt: skip
    return _Tags(*(f"{space}{name}" for name in names))


def _is_plain(element: Element) -> bool:
    """What the grammar cannot say: a Duration in each job, ids and variables named once."""
    tags = _tags(names(element)[0])
    owing: set[Element | None] = set()
    ids: dict[Element | None, set[str]] = {}
    for node in element.iter(*tags[:8]):
        tag = node.tag
        if tag == tags.duration:
            # One in a task group is not the job's.
            parent = node.getparent()
            owing.discard(parent)
            if owing and parent is not None and parent.tag in (tags.requested, tags.delivered):
                owing.discard(parent.getparent())
        elif tag == tags.environment:
            if len(node) > 1:
                variables = [child.get("name") for child in node.iterchildren("{*}*")]
                if len(set(variables)) < len(variables):
                    return False
        elif next(node.iterchildren("{*}*"), None) is None:
            if not text_of(node).strip(XML_SPACE):
                return False
        else:
            if tag == tags.job:
                owing.add(node)
            elif tag == tags.task_group and all(
                child.tag in (tags.task, tags.task_defaults) for child in node
            ):
                return False
            if node is not element:
                siblings = ids.setdefault(node.getparent(), set())
                own = [(child.text or "").strip() for child in node.iterchildren(tags.id)]
                if not siblings.isdisjoint(own):
                    return False
                siblings.update(own)
    return not owing


@cache
def _grammar(namespace: str, units_needed: bool) -> etree.RelaxNG:
    text = "".join((
        f'<grammar xmlns="http://relaxng.org/ns/structure/1.0" ns="{namespace}"'
        ' datatypeLibrary="http://www.w3.org/2001/XMLSchema-datatypes"><start><choice>',
        *(f'<ref name="{name}"/>' for name in _ROOTS),
        "</choice></start>",
        *(line for row in spec.CONTAINERS for line in _container(row, units_needed)),
        "</grammar>",
    ))  # fmt: skip
    return etree.RelaxNG(etree.fromstring(text))


def _container(row: spec.Container, units_needed: bool) -> Iterator[str]:
    """The definition of a container, and one of each property as it may stand there."""
    yield f'<define name="{row.name}"><element name="{row.name}">'
    yield "".join(_attributes(row.name, "", units_needed))
    category = row.name if row.name in CATEGORIES else ""
    yield "<interleave>"
    for name, wildcard in spec.blocks(row.name).items():
        # A reference is for the walk, which looks for what it means.
        yield _repeated(f'<ref name="{name}"/>', wildcard)
    properties = [item for item in spec.properties(row.name).values() if item.name not in _WORDY]
    if category:
        choices = "".join(f'<ref name="{row.name}.{item.name}"/>' for item in properties)
        yield f"<oneOrMore><choice>{choices}</choice></oneOrMore>"
    else:
        for item in properties:
            wildcard = "*" if item.repeats is True or item.name == "Variable" else "?"
            wildcard = "" if item.appearance == spec.MUST else wildcard
            yield _repeated(f'<ref name="{row.name}.{item.name}"/>', wildcard)
    yield "</interleave>"
    yield "</element></define>"
    for item in properties:
        yield f'<define name="{row.name}.{item.name}">'
        if item.name == "Environment":
            yield '<ref name="Environment"/></define>'
            continue
        content = _NOT_EMPTY if item.name == "Id" else _TYPES[item.type]
        attributes = "".join(_attributes(item.name, category, units_needed))
        yield f'<element name="{item.name}">{attributes}{content}</element></define>'


def _attributes(element: str, category: str, units_needed: bool) -> Iterator[str]:
    for row in spec.attributes(element, category).values():
        if row.name in _WORDY or (row.name == "group" and category == spec.REQUESTED):
            continue  # balance is for the walk
        content = _NARROWER.get(row.name) or _TYPES[row.type]
        values: tuple[str, ...] = row.values
        needed = row.appearance == spec.MUST
        if row.name == "units" and element in _AMOUNTS:
            values, needed = tuple(units.UNITS), units_needed
        elif row.name == "context":
            values = contexts(category)
        elif row.name == "dynamic" and category != spec.REQUESTED:
            values = ("false",)
        if values:
            listed = "".join(f'<value type="string">{value}</value>' for value in values)
            content = f"<choice>{listed}</choice>"
        yield _repeated(
            f'<attribute name="{row.name}" ns="">{content}</attribute>', "" if needed else "?"
        )


def _repeated(inner: str, wildcard: str) -> str:
    wrapper = {"": "", "?": "optional", "*": "zeroOrMore", "+": "oneOrMore"}[wildcard]
    return f"<{wrapper}>{inner}</{wrapper}>" if wrapper else inner
