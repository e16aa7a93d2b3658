"""Which elements of a document are its job objects: those that stand in no other and in no part.

A Job or JobGroup of another namespace is a stranger: no job object, though it may be the wrapper
of some. A root that is part of a job is what its document is about, whatever stands inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import spec
from sssjob.document.encodings import beginning
from sssjob.document.places import has_elements, names, text_of
from sssjob.errors import AwarenessPolicy
from sssjob.model import BLOCKS
from sssjob.units import XML_SPACE

UNITS = ("Job", "JobGroup")
TAGS = tuple(f"{{*}}{name}" for name in UNITS)
UNIT_TAGS = frozenset(
    etree.QName(namespace or None, name).text for namespace in spec.NAMESPACES for name in UNITS
)
FILE_TAGS = tuple(etree.QName(namespace or None, "File").text for namespace in spec.NAMESPACES)
_GROUP_TAGS = frozenset(tag for tag in UNIT_TAGS if tag.endswith("JobGroup"))
PART_TAGS = frozenset(
    etree.QName(namespace or None, row.name).text
    for namespace in spec.NAMESPACES
    for row in spec.CONTAINERS
    if row.name not in UNITS
)
_LOWER = frozenset(name.lower() for name in spec.CONTAINER)  # also as one may misspell them
_CALLED = {"jobs", *(name.lower() for name in UNITS)}
# The first element that tells whose jobs these are: ours, those of JSDL, or a usage record.
_TELLING = re.compile(
    rb"<(?:[\w.-]{1,60}:)?(?:(Jobs|Job|JobGroup)|JobDefinition|JobDescription|UsageRecord)[\s/>]"
)
_INSIDE = re.compile(rb"<[^<>]*(?:>\s*(?:<[\w.:-]*)?)?")  # a tag, and the name that comes next
_THEIRS = b"<Job_Id"  # what a Job of TORQUE begins with, and never one of ours


def told(head: bytes) -> str:
    """The element that tells that a source which begins so holds job objects; "" without any.

    A Job that begins with a Job_Id is what a batch system prints of a live one.

    >>> told(b"<Job><Id>1</Id>"), told(b"<Data><Job><Job_Id>1.srv</Job_Id>")
    ('Job', '')
    """
    found = _telling(head)
    return "" if found.inside.endswith(_THEIRS) else found.name


def are_theirs(head: bytes) -> bool:
    """Whether what a source begins with are jobs of a batch system."""
    return _telling(head).inside.endswith(_THEIRS)


def is_told(head: bytes) -> bool:
    """The same for certain: not where a tag is cut off, so that more of it has to come.

    Behind a whole tag nothing may come for a long time; such a Job is taken for ours.
    """
    found = _telling(head)
    is_cut = found.name == "Job" and found.is_last and not found.inside.endswith(b">")
    return bool(found.name) and not is_cut and not found.inside.endswith(_THEIRS)


class _Telling(NamedTuple):
    """The name of the element of ours that comes first, its tag with the name of the next one,
    and whether nothing comes behind that.
    """

    name: str
    inside: bytes
    is_last: bool


def _telling(head: bytes) -> _Telling:
    head = beginning(head)
    found = _TELLING.search(head) if head.startswith(b"<") else None
    if found is None or found[1] is None:
        return _Telling("", b"", True)
    inside = _INSIDE.match(head, found.start())
    assert inside is not None
    return _Telling(found[1].decode(), inside[0], inside.end() == len(head))


def is_block(element: Element) -> bool:
    """Whether an element is a job object, or a part of one that can stand by itself.

    A comment or an instruction is none.
    """
    namespace, name = names(element)
    return name in BLOCKS and namespace in spec.NAMESPACES


def is_mistaken(root: Element) -> bool:
    """Whether a document without a job object is a mistake: an empty wrapper is none."""
    return (
        has_elements(root)
        or bool(text_of(root).strip(XML_SPACE))
        or names(root)[1].lower() in _LOWER
    )


class Wanted(Enum):
    """What a reader of documents works on. # decision 1178

    A document that neither is such a thing nor holds one cannot be read; an empty wrapper can.
    """

    JOBS = "Job or JobGroup"
    JOB_OBJECTS = "job object"  # also a part of a job that stands by itself, such as a TaskGroup
    DOCUMENTS = "document"  # whatever it is about

    def takes(self, unit: Element) -> bool:
        """Whether it is an outermost element that is worked on."""
        return (
            self is Wanted.DOCUMENTS
            or unit.tag in UNIT_TAGS
            or (self is Wanted.JOB_OBJECTS and is_block(unit))
        )

    def takes_document(self, root: Element) -> bool:
        """Whether a whole document is worked on."""
        if self.takes(root):
            return True
        return root.tag not in PART_TAGS and next(root.iter(*UNIT_TAGS), None) is not None

    def missing(self, root: Element) -> str:
        """What is said of a document that cannot be read therefore."""
        return f"<{names(root)[1]}> is no {self.value} and holds none"


def is_foreign(root: Element) -> bool:
    """Whether a document is about something else: nothing in it is called as job objects are,
    in any namespace and letter case.

    >>> from sssjob.document.parsing import parse
    >>> is_foreign(parse(b"<project><target/></project>"))
    True
    >>> is_foreign(parse(b"<data><job/></data>"))
    False
    """
    if not is_mistaken(root) or names(root)[1].lower() in _LOWER:
        return False
    return not any(names(element)[1].lower() in _CALLED for element in root.iter("{*}*"))


def outermost(root: Element) -> list[Element]:
    """The job objects of a tree, or its root where that is part of one."""
    if root.tag in UNIT_TAGS or root.tag in PART_TAGS:
        return [root]
    return [element for element in root.iter(*UNIT_TAGS) if is_outermost(element)]


def is_outermost(element: Element) -> bool:
    """Whether nothing around a Job or JobGroup is a job object or a part of one."""
    ancestors = [item.tag for item in element.iterancestors()]
    return not ancestors or (ancestors[-1] not in PART_TAGS and UNIT_TAGS.isdisjoint(ancestors))


def strangers(root: Element) -> Iterator[Element]:
    """The elements that have the name of a job object, where one can be, in another namespace.

    As a root, also that of a part of one. One that holds job objects is only their wrapper; one in
    a JobGroup that says that it need not be understood is what an implementation may add (9.0).
    """
    if root.tag in PART_TAGS or (root.tag in UNIT_TAGS and root.tag not in _GROUP_TAGS):
        return
    held: set[Element] = set()
    candidates = [root] if _is_stranger(root) else []
    candidates += [each for each in root.iter(*TAGS) if each is not root]
    for element in candidates:
        if not _is_stranger(element):
            continue
        parent = element.getparent()
        if parent is not None and parent.tag in _GROUP_TAGS:
            if _must_be_understood(element):
                yield element
        elif is_outermost(element):
            is_wrapper = next(element.iter(*UNIT_TAGS), None) is not None
            if not is_wrapper and held.isdisjoint(element.iterancestors()):
                held.add(element)
                yield element


def may_hold_strangers(data: bytes, around: bytes = b"") -> bool:
    """Whether a JobGroup in some bytes may hold a job object of another namespace."""
    return b"JobGroup" in data and (b"xmlns" in data or b"xmlns" in around)


def _must_be_understood(element: Element) -> bool:
    """Whether the policy that holds for an element, its own or the nearest, is Reject."""
    policy = AwarenessPolicy.REJECT
    for each in reversed((element, *element.iterancestors())):
        policy = AwarenessPolicy.holding(each.get("awarenessPolicy"), policy)
    return policy is AwarenessPolicy.REJECT


def _is_stranger(element: Element) -> bool:
    namespace, name = names(element)
    if namespace in spec.NAMESPACES:
        return False
    return name in UNITS or (name in BLOCKS and element.getparent() is None)
