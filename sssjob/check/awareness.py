"""awarenessPolicy: what an implementation does not understand, and what follows from it (9.0).

``items`` finds everything that a vocabulary does not have, each with the policy that holds for
it; ``judge`` says what becomes of the whole. What is not understood stays in the document: reading
keeps it, and writing gives it back.
"""

from __future__ import annotations

from collections.abc import Container, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from lxml.etree import _Element as Element

from sssjob import spec
from sssjob.check.rules import Carried, Rule, is_idle
from sssjob.check.values import unknown_values, unknown_words
from sssjob.check.vocabulary import (
    ALWAYS_UNDERSTOOD,
    FULL,
    AwarenessPolicy,
    Vocabulary,
    attribute_level,
    element_level,
)
from sssjob.document.bridge import to_tree
from sssjob.document.places import has_elements, names, place, split, text_of
from sssjob.document.report import Report
from sssjob.errors import Finding, Severity, finding
from sssjob.model import Block, Note, Property, Requested
from sssjob.units import XML_SPACE

_POLICY = "awarenessPolicy"


class Kind(StrEnum):
    """What it is that is not understood."""

    ELEMENT = "element"
    ATTRIBUTE = "attribute"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that is not understood, and the policy that holds for it.

    ``name`` is that of the element or attribute, ``{namespace}local`` in a foreign namespace;
    ``value`` is its text, or the word of a closed vocabulary. ``level`` is the lowest level of
    compliance that understands it, "" where the standard does not have it.
    """

    path: str
    line: int
    kind: Kind
    name: str
    value: str
    policy: AwarenessPolicy
    level: str = ""

    @property
    def what(self) -> str:
        """What an answer to the requestor names: an element, an attribute, or a value."""
        return self.value if self.kind is Kind.VALUE else self.name


@dataclass(frozen=True, slots=True)
class Outcome:
    """What follows from all that is not understood: each item by its policy, in document order."""

    reject: tuple[Item, ...] = ()
    warn: tuple[Item, ...] = ()
    ignore: tuple[Item, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the request goes on: one Reject beats any number of Warns."""
        return not self.reject


def items(
    source: Element | Block, vocabulary: Vocabulary = FULL, *, offset: int = 0
) -> Iterator[Item]:
    """Everything in a job object that a vocabulary does not understand, in document order.

    What stands inside an unknown element is not listed. ``offset`` is the number of lines before
    the document of an element.
    """
    root = _tree(source) if isinstance(source, Block) else source
    yield from _Search(root, vocabulary, offset).root()


@dataclass(frozen=True, slots=True)
class Understood:
    """What is left of a request: properties without the attributes that are not understood.

    ``unknown`` are the places of properties that are not understood at all.
    """

    properties: tuple[Property, ...]
    unknown: frozenset[int]
    outcome: Outcome


def understood(
    requested: Requested, policy: AwarenessPolicy, path: str, words: Mapping[str, Container[str]]
) -> Understood:
    """What an operation makes of a Requested element, whatever its awarenessPolicy comes to (9.0).

    ``policy`` holds around it, ``path`` is where it stands, and ``words`` are values of attributes
    that the operation understands beyond those of the standard.
    """
    properties = tuple(requested.properties)
    about = requested.attributes, requested.namespace, requested.line
    root = _tree(Requested(properties, *about))
    search = _Search(root, FULL, 0)
    elements = [child for child in root if type(child.tag) is str]
    inner = FULL.policy(requested.attributes.get(_POLICY), policy)
    found: list[Item] = list(search.own(root, policy))
    kept, unknown = list(properties), set()
    for place_, element in enumerate(elements):
        for each in search.child(element, spec.REQUESTED, inner):
            if each.kind is Kind.VALUE and each.value.strip() in words.get(each.name, ()):
                continue
            found.append(replace(each, path=path + each.path.removeprefix(f"/{spec.REQUESTED}")))
            if each.kind is Kind.ELEMENT:
                unknown.add(place_)
            elif each.name in kept[place_].attributes:
                kept[place_] = kept[place_].having(**{each.name: None})
    return Understood(tuple(kept), frozenset(unknown), judge(found))


def said(outcome: Outcome) -> Iterator[Finding]:
    """What to say of all that is not understood: errors, or warnings; what is ignored, nothing."""
    for severity, found in ((Severity.ERROR, outcome.reject), (Severity.WARNING, outcome.warn)):
        for item in found:
            value = f"{item.name} {item.value!r}" if item.kind is Kind.VALUE else item.name
            text = f"{item.kind} {value}".removeprefix("value ") + " is not understood"
            yield finding(
                "E-UNKNOWN", f"{text}, and its awarenessPolicy is {item.policy}", line=item.line,
                path=item.path, section="SSS 9.0", severity=severity,
            )  # fmt: skip


def judge(items: Iterable[Item], *, reading: bool = False) -> Outcome:
    """What becomes of a request with these items (9.0).

    An operation that only reads skips in silence what the standard knows and it does not need:
    "it is reasonable ... to ignore an element or attribute that would not be critical".
    """
    by_policy: dict[AwarenessPolicy, list[Item]] = {policy: [] for policy in AwarenessPolicy}
    for item in items:
        if not (reading and item.level):
            by_policy[item.policy].append(item)
    return Outcome(*(tuple(found) for found in by_policy.values()))


class _Search:
    """One job object, searched for what a vocabulary does not have."""

    def __init__(self, root: Element, vocabulary: Vocabulary, offset: int) -> None:
        self._vocabulary = vocabulary
        self._root = root
        self._places = Report(root, offset)

    def root(self) -> Iterator[Item]:
        """The items of the job object, under the policy that holds around it."""
        policy = AwarenessPolicy.REJECT
        for ancestor in reversed(list(self._root.iterancestors())):
            policy = self._vocabulary.policy(ancestor.get(_POLICY), policy)
        namespace, name = names(self._root)
        known = namespace in spec.NAMESPACES and element_level("", name)
        if known and self._vocabulary.has("", name):
            yield from self._container(self._root, name, policy)
        else:
            yield from self._unknown(self._root, known or "", policy)

    def own(self, element: Element, policy: AwarenessPolicy) -> Iterator[Item]:
        """The items among the attributes of a container."""
        name = names(element)[1]
        yield from self._attributes(element, name, "", self._vocabulary.carried(name, ""), policy)

    def _container(self, element: Element, name: str, policy: AwarenessPolicy) -> Iterator[Item]:
        carried = self._vocabulary.carried(name, "")
        policy = yield from self._attributes(element, name, "", carried, policy)
        for child in element:
            if type(child.tag) is str and not child.tag.startswith(ALWAYS_UNDERSTOOD):
                yield from self.child(child, name, policy)
        self._places.leave(element)

    def child(self, element: Element, parent: str, policy: AwarenessPolicy) -> Iterator[Item]:
        """The items in what stands in a container."""
        tag = str(element.tag)
        here = place(tag, parent)
        if here.block and here.name in spec.blocks(parent):
            if self._vocabulary.has(parent, here.name):
                yield from self._container(element, here.name, policy)
                return
        elif asked := self._rule(tag, parent):
            yield from self._property(element, asked, policy)
            return
        level = element_level(parent, here.name) if _is_ours(tag) else ""
        yield from self._unknown(element, level, policy)

    def _rule(self, tag: str, parent: str) -> Rule | None:
        asked = self._vocabulary.rule(tag, parent)
        if asked is None and parent == spec.DELIVERED and split(tag)[1] == "CpuDuration":
            # Table 2 gives it no category, and deployed software writes it there: decision 6
            return self._vocabulary.rule(tag, "Job")
        return asked

    def _property(self, element: Element, asked: Rule, policy: AwarenessPolicy) -> Iterator[Item]:
        name = asked.row.name
        if name == "Environment":
            yield from self._container(element, name, policy)
            return
        category = asked.place.category
        policy = yield from self._attributes(element, name, category, asked.attributes, policy)
        if name == "NotificationList":
            for word in unknown_words(text_of(element), spec.NOTIFICATIONS):
                yield self._item(element, Kind.VALUE, name, word, policy)
        if len(element):
            for child in element:
                if type(child.tag) is str and not child.tag.startswith(ALWAYS_UNDERSTOOD):
                    yield from self._unknown(child, "", policy)

    def _attributes(
        self, element: Element, name: str, category: str, known: Mapping[str, Carried],
        policy: AwarenessPolicy,
    ) -> Generator[Item, None, AwarenessPolicy]:  # fmt: skip
        """The items among the attributes; gives the policy that holds on the element and below."""
        policy = self._vocabulary.policy(element.get(_POLICY), policy)
        for key, value in element.items():
            asked = known.get(key)
            if asked is None:
                if not key.startswith(ALWAYS_UNDERSTOOD):
                    level = attribute_level(name, key, category)
                    yield self._item(element, Kind.ATTRIBUTE, key, value, policy, level, key)
            elif is_idle(element, name, key):
                yield self._item(element, Kind.ATTRIBUTE, key, value, policy, attribute=key)
            elif not asked.plain(value):
                # A policy that is none is itself not understood, and always rejected.
                by = AwarenessPolicy.REJECT if key == _POLICY else policy
                for word in unknown_values(asked.row, value, name):
                    yield self._item(element, Kind.VALUE, key, word, by, attribute=key)
        return policy

    def _unknown(self, element: Element, level: str, policy: AwarenessPolicy) -> Iterator[Item]:
        """An element that is not understood: its own policy counts, what it holds does not."""
        stated = element.get(_POLICY)
        own = self._vocabulary.policy(stated, policy)
        text = "" if has_elements(element) else text_of(element).strip(XML_SPACE)
        namespace, local = names(element)
        name = local if namespace in spec.NAMESPACES else str(element.tag)
        yield self._item(element, Kind.ELEMENT, name, text, own, level)
        if stated is not None and self._vocabulary.awareness:
            row = spec.attributes("*")[_POLICY]
            for word in unknown_values(row, stated):
                yield self._item(
                    element, Kind.VALUE, _POLICY, word, AwarenessPolicy.REJECT, attribute=_POLICY
                )

    def _item(
        self, element: Element, kind: Kind, name: str, value: str, policy: AwarenessPolicy,
        level: str = "", attribute: str = "",
    ) -> Item:  # fmt: skip
        path = self._places.path(element) + (f"/@{split(attribute)[1]}" if attribute else "")
        return Item(path, self._places.line(element), kind, name, value, policy, level)


def _is_ours(tag: str) -> bool:
    return split(tag)[0] in spec.NAMESPACES


def _tree(block: Block) -> Element:
    """The element of a block, with the lines on which its parts were read."""
    root = to_tree(block)
    _number(root, block)
    return root


def _number(element: Element, item: Block | Property) -> None:
    if item.line:
        element.sourceline = item.line  # type: ignore[misc]  # the stubs think it cannot be set
    inner = item.items if isinstance(item, Block) else item.children
    parts = [part for part in inner if not isinstance(part, Note)]
    children = (child for child in element if type(child.tag) is str)
    for child, part in zip(children, parts, strict=True):
        _number(child, part)
