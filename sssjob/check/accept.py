"""Documents about which no rule has anything to say, recognised at the speed of libxml2.

Strategy. Nearly all documents are right, and asking rules written in Python about each element of
them is what takes the time; but only these rules can say what is wrong, and where.

The idea is to make grammars from the tables that the rules ask too, which libxml2 compares with a
document in C. There are two, in RELAX NG, and both are narrower than the standard: one of simple
jobs, in which no two values can contradict each other, and one of all job objects, whose values
other rules then hold against each other.

Why it is right: a grammar only accepts, and never refuses. What neither accepts may be right as
well; the walk in ``check`` says so, or says why not. A property test holds that the walk finds
nothing in what is accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import spec, units
from sssjob.check import dependencies
from sssjob.check.meaning import is_silent
from sssjob.check.requests import ANY_OPERATION, PLAIN_OPERATIONS
from sssjob.check.values import contexts
from sssjob.defaults.entries import IDENTITY
from sssjob.document.places import CATEGORIES, has_elements, names, text_of
from sssjob.units import XML_SPACE

# Building the grammar costs as much as walking that many job objects.
_WORTH_A_GRAMMAR = 200
_LONGEST_PAUSE = 64

_ROOTS = ("Job", "JobGroup")
_WORDY = ("NotificationList", "redirectList")  # their lists of words are for the walk
_AMOUNTS = tuple(units.DEFAULT_UNITS)

# What a simple job does not have: values that have to be held against others.
_SIMPLE = ("Job", spec.REQUESTED, spec.DELIVERED, "Environment")
_CONTRADICTING = ("Dependency", "NodeCount", "TaskCount", "TaskDistribution")
_COMPLEX = ("aggregation", "delimiter", "conj")

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
_COUNTED = {
    spec.INTEGER: _TYPES[spec.DURATION],
    spec.FLOAT:   '<data type="decimal"><param name="minInclusive">0</param></data>',
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
        self._simple = _Backoff(self._is_simple)
        self._silent = _Backoff(self._is_silent)

    def __call__(self, element: Element) -> bool:
        """Whether nothing can be said about this job object."""
        self._met += 1
        if self._met <= _WORTH_A_GRAMMAR:
            return False
        return self._simple(element) or self._silent(element)

    def _is_simple(self, element: Element) -> bool:
        """A job in which no two values can contradict each other: most jobs of a log are."""
        namespace, name = names(element)
        if name != "Job" or namespace not in spec.NAMESPACES:
            return False
        grammar = _grammar(namespace, "I-UNIT" not in self._said, True)
        tags = _tags(namespace)
        return (
            bool(grammar.validate(element))
            and next(element.iter(tags.duration), None) is not None
            and all(map(has_elements, element.iterchildren(tags.requested)))
            and all(map(_names_each_once, element.iterchildren(tags.environment)))
        )

    def _is_silent(self, element: Element) -> bool:
        """Any job or job group that the rules beyond the grammar find nothing in, either."""
        namespace, name = names(element)
        if name not in _ROOTS or namespace not in spec.NAMESPACES:
            return False
        grammar = _grammar(namespace, "I-UNIT" not in self._said, False)
        return (
            bool(grammar.validate(element))
            and _is_plain(element)
            and is_silent(element)
            and dependencies.is_silent(element)
        )


class _Backoff:
    """A test that pauses when it keeps refusing: asking in vain costs more than walking."""

    def __init__(self, test: Callable[[Element], bool]) -> None:
        self._test = test
        self._refused = self._pause = 0

    def __call__(self, element: Element) -> bool:
        if self._pause:
            self._pause -= 1
            return False
        passed = self._test(element)
        self._refused = 0 if passed else min(2 * self._refused + 1, _LONGEST_PAUSE)
        self._pause = max(self._refused - 1, 0)
        return passed


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
            if not _names_each_once(node):
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
                own = [text_of(child).strip() for child in node.iterchildren(tags.id)]
                if not siblings.isdisjoint(own):
                    return False
                siblings.update(own)
    return not owing


def _names_each_once(environment: Element) -> bool:
    if len(environment) < 2:
        return True
    variables = [child.get("name") for child in environment.iterchildren("{*}*")]
    return len(set(variables)) == len(variables)


@cache
def _grammar(namespace: str, units_needed: bool, simple: bool) -> etree.RelaxNG:
    """The grammar of one namespace; a ``simple`` one has nothing that could contradict itself."""
    roots = ("Job",) if simple else _ROOTS
    containers = [row for row in spec.CONTAINERS if not simple or row.name in _SIMPLE]
    text = "".join((
        f'<grammar xmlns="http://relaxng.org/ns/structure/1.0" ns="{namespace}"'
        ' datatypeLibrary="http://www.w3.org/2001/XMLSchema-datatypes"><start><choice>',
        *(f'<ref name="{name}"/>' for name in roots),
        "</choice></start>",
        *(line for row in containers for line in _container(row, units_needed, simple)),
        "</grammar>",
    ))  # fmt: skip
    return etree.RelaxNG(etree.fromstring(text))


def _container(row: spec.Container, units_needed: bool, simple: bool) -> Iterator[str]:
    """The definition of a container, and one of each property as it may stand there."""
    yield f'<define name="{row.name}"><element name="{row.name}">'
    yield "".join(_attributes(row.name, "", units_needed, simple))
    category = row.name if row.name in CATEGORIES else ""
    yield "<interleave>"
    for name, wildcard in spec.blocks(row.name).items():
        # A reference is for the walk, which looks for what it means.
        if not simple:
            yield _repeated(f'<ref name="{name}"/>', wildcard)
        elif name in _SIMPLE:
            yield _repeated(f'<ref name="{name}"/>', "?")
    left_out = _CONTRADICTING if simple and category != spec.DELIVERED else ()
    if row.name in spec.DEFAULTS.values():
        left_out = (*left_out, *IDENTITY)  # they have no effect there
    properties = [
        item
        for item in spec.properties(row.name).values()
        if item.name not in _WORDY and item.name not in left_out
    ]
    if category == spec.DELIVERED or (category and not simple):
        choices = "".join(f'<ref name="{row.name}.{item.name}"/>' for item in properties)
        yield f"<oneOrMore><choice>{choices}</choice></oneOrMore>"
    else:
        for item in properties:
            wildcard = "*" if item.repeats is True or item.name == "Variable" else "?"
            if item.appearance == spec.MUST:
                wildcard = ""
            elif category:
                wildcard = "?"  # a property that is compared twice may contradict itself
            yield _repeated(f'<ref name="{row.name}.{item.name}"/>', wildcard)
    yield "</interleave>"
    yield "</element></define>"
    for item in properties:
        yield f'<define name="{row.name}.{item.name}">'
        if item.name == "Environment":
            yield '<ref name="Environment"/></define>'
            continue
        types = _COUNTED if item.name in spec.COUNTED else _TYPES
        content = _NOT_EMPTY if item.name == "Id" else types[item.type]
        attributes = "".join(_attributes(item.name, category, units_needed, simple))
        yield f'<element name="{item.name}">{attributes}{content}</element></define>'


def _attributes(element: str, category: str, units_needed: bool, simple: bool) -> Iterator[str]:
    for row in spec.attributes(element, category).values():
        if row.name in _WORDY or (row.name == "group" and category == spec.REQUESTED):
            continue  # balance is for the walk
        if simple and row.name in _COMPLEX:
            continue
        content = _NARROWER.get(row.name) or _TYPES[row.type]
        values: tuple[str, ...] = row.values
        needed = row.appearance == spec.MUST
        if row.name == "units" and element in _AMOUNTS:
            values, needed = tuple(units.UNITS), units_needed
        elif row.name == "context":
            values = contexts(category)
        elif row.name == "dynamic" and category != spec.REQUESTED:
            values = ("false",)
        elif row.name == "op" and simple:
            values = PLAIN_OPERATIONS.get(element, ANY_OPERATION)
        if values:
            listed = "".join(f'<value type="string">{value}</value>' for value in values)
            content = f"<choice>{listed}</choice>"
        yield _repeated(
            f'<attribute name="{row.name}" ns="">{content}</attribute>', "" if needed else "?"
        )


def _repeated(inner: str, wildcard: str) -> str:
    wrapper = {"": "", "?": "optional", "*": "zeroOrMore", "+": "oneOrMore"}[wildcard]
    return f"<{wrapper}>{inner}</{wrapper}>" if wrapper else inner
