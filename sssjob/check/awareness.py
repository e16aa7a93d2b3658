"""awarenessPolicy: what an implementation does not understand, and what follows from it (9.0).

``items`` finds everything that a vocabulary does not have, each with the policy that holds for
it; ``judge`` says what becomes of the whole. What is not understood stays in the document: reading
keeps it, and writing gives it back.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import Generic, TypeAlias

from lxml.etree import _Element as Element

from sssjob import expression, spec
from sssjob.check.rules import CarriedAttribute, PropertyRule, is_idle
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
from sssjob.document.places import (
    attributes,
    has_elements,
    local,
    names,
    place,
    split,
    text_of,
)
from sssjob.document.report import MOST, ObjectReport, too_many
from sssjob.errors import (
    Finding,
    InvalidJob,
    InvalidValue,
    LimitExceeded,
    Severity,
    UnbalancedGroup,
    finding,
)
from sssjob.expression import CONJUNCTIONS
from sssjob.graph import RELEVANT
from sssjob.legality import legal
from sssjob.model import BLOCKS, B, Block, Job, JobGroup, Note, Property, replace_text
from sssjob.model import Item as ModelItem
from sssjob.units import XML_SPACE

_POLICY = "awarenessPolicy"
_DEFAULTS = frozenset(spec.DEFAULTS.values())
_OLD = frozenset(("JobId", "UserId", "ProjectId", "MachineName", "WallDuration"))
# Values of attributes that are understood in requests beyond those of the standard.
_FEW = 10  # things around all jobs of a group that each of them says, as the first one says all
WORDS: Mapping[str, Container[str]] = {"conj": CONJUNCTIONS}


class UnknownKind(StrEnum):
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
    kind: UnknownKind
    name: str
    value: str
    policy: AwarenessPolicy
    level: str = ""

    @property
    def what(self) -> str:
        """What an answer to the requestor names: an element, an attribute, or a value."""
        return self.value if self.kind is UnknownKind.VALUE else self.name


@dataclass(frozen=True, slots=True)
class AwarenessOutcome:
    """What follows from all that is not understood: each item by its policy, in document order."""

    reject: tuple[Item, ...] = ()
    warn: tuple[Item, ...] = ()
    ignore: tuple[Item, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the request goes on: one Reject beats any number of Warns."""
        return not self.reject

    def brief(self) -> AwarenessOutcome:
        """The same with the first items of each policy."""
        return AwarenessOutcome(self.reject[:_FEW], self.warn[:_FEW], self.ignore[:_FEW])

    def and_then(self, other: AwarenessOutcome) -> AwarenessOutcome:
        """What follows from this and from more behind it."""
        return AwarenessOutcome(
            self.reject + other.reject, self.warn + other.warn, self.ignore + other.ignore
        )


def items(
    source: Element | Block, vocabulary: Vocabulary = FULL, *, offset: int = 0
) -> Iterator[Item]:
    """Everything in a job object that a vocabulary does not understand, in document order.

    What stands inside an unknown element is not listed. ``offset`` is the number of lines before
    the document of an element.
    """
    root = _tree(source) if isinstance(source, Block) else source
    yield from _UnknownSearch(root, vocabulary, offset).root()


@dataclass(frozen=True, slots=True)
class Operation:
    """What an operation looks at: it judges nothing else (9.0).

    "It is reasonable for an implementation to ignore (not even look for) an element or attribute
    that would not be critical to its function." ``blocks`` are the containers that it looks into,
    ``properties`` those of which it looks at the attributes; None is all there are. An element
    that nobody knows could be critical in any container.
    """

    name: str
    blocks: frozenset[str] | None = None
    properties: frozenset[str] | None = None

    def looks_into(self, block: str) -> bool:
        """Whether what stands in a container counts."""
        return self.blocks is None or block in self.blocks

    def looks_at(self, name: str, block: str) -> bool:
        """Whether the attributes of a property count; in a request, those of all do."""
        return self.properties is None or block == spec.REQUESTED or name in self.properties


# ``ASK`` is that of match, explain and alternatives.
# fmt: off
ASK     = Operation("ask", frozenset(("JobGroup", spec.REQUESTED)), frozenset())
GRAPH   = Operation("graph", frozenset(("JobGroup", "JobDefaults", "Job")), RELEVANT)
LAYOUT  = Operation("layout", frozenset((
    "JobGroup", "JobDefaults", "Job", "TaskGroupDefaults", "TaskGroup", "TaskDefaults", "Task",
    spec.REQUESTED,
)), frozenset(("TaskCount", "NodeCount", "Processors", "TaskDistribution", "Node")))
PLACE   = Operation("place", LAYOUT.blocks, (LAYOUT.properties or frozenset()) | frozenset((
    "Architecture", "Disk", "Feature", "Memory", "Network", "NetworkAdapter", "OperatingSystem",
    "Resource", "Swap",
)))
ACT     = Operation("act")  # features, deliver, submit, and whatever is made of a job elsewhere
# fmt: on


@dataclass(frozen=True, slots=True)
class Understood(Generic[B]):
    """What is left of a job object for an operation, and what follows from the rest.

    The block is without elements and attributes that are not understood, and its requests are
    without attributes whose values are not. It counts only where it is ``accepted``.
    """

    block: B
    outcome: AwarenessOutcome

    @property
    def accepted(self) -> bool:
        """Whether the operation goes on."""
        return self.outcome.accepted

    @property
    def items(self) -> tuple[Item, ...]:
        """All that is not understood."""
        return *self.outcome.reject, *self.outcome.warn, *self.outcome.ignore

    def findings(self) -> Iterator[Finding]:
        """What to say: errors, or warnings, each with the policy that holds."""
        yield from said(self.outcome)

    def about(self, concerns: Callable[[str], bool]) -> Understood[B]:
        """The same, judged by what is of concern of all that is not understood, by its path."""
        return Understood(self.block, judge(item for item in self.items if concerns(item.path)))

    def within(
        self, context: SharedContext | None, operation: Operation = ACT, *,
        around: AwarenessPolicy = AwarenessPolicy.REJECT,
    ) -> Understood[B]:  # fmt: skip
        """The same, judged with what stands around it; ``around`` is the policy around all."""
        if context is None:
            return self
        return Understood(self.block, context.outcome(operation, around).and_then(self.outcome))

    def required(self) -> B:
        """The block; raises ``InvalidJob`` with all that is to be said if it is rejected."""
        if not self.accepted:
            raise InvalidJob(list(self.findings()))
        return self.block


def understood(
    block: B, operation: Operation = ACT, *, around: AwarenessPolicy = AwarenessPolicy.REJECT,
    path: str = "",
) -> Understood[B]:  # fmt: skip
    """What an operation makes of a job object, whatever its awarenessPolicy comes to (9.0).

    Every operation asks here. ``around`` is the policy that holds around the block, ``path`` is
    where it stands. What is inherited has the policy that held where it was written: ask after
    ``resolve``, so that defaults are judged for each job that has them.
    """
    if _is_plain(block):  # as most are, which takes a tenth of the time
        return Understood(block, judge(()))
    root = _tree(block)
    sieve = _Sieve(
        _UnknownSearch(root, FULL, 0), operation, f"/{block.name}", path or f"/{block.name}"
    )
    left = sieve.block(block, root, around)
    return Understood(left, judge(sieve.found))


@dataclass(frozen=True)
class SharedContext:
    """What ``resolve`` leaves of the surroundings of a job, to be judged with it (9.0).

    ``shared`` is about all jobs of a group, which may be many: it is judged once for all of them,
    and said as a whole with the first of them, ``is_first``. ``own`` is about the job alone.
    """

    shared: Judged
    own: Block | None = None
    is_first: bool = True

    def later(self) -> SharedContext:
        """The same with one of the jobs behind the first."""
        return replace(self, is_first=False)

    def outcome(self, operation: Operation, around: AwarenessPolicy) -> AwarenessOutcome:
        """What follows from all of it that an operation looks at, by the policy around all."""
        found = self.shared.by(operation, around, whole=self.is_first)
        if self.own is None:
            return found
        return found.and_then(understood(self.own, operation, around=around).outcome)

    def judged(
        self, around: AwarenessPolicy = AwarenessPolicy.REJECT
    ) -> tuple[bool, list[Finding]]:
        """Whether something is made of the job elsewhere, and what to say."""
        outcome = self.outcome(ACT, around)
        return outcome.accepted, list(said(outcome))


@dataclass(frozen=True)
class Judged:
    """A block that is judged once for each operation, by each policy that is asked for."""

    block: Block
    _known: dict[tuple[str, AwarenessPolicy], tuple[AwarenessOutcome, AwarenessOutcome]] = field(
        default_factory=dict, compare=False
    )

    # decision 1103
    def by(
        self, operation: Operation, around: AwarenessPolicy, *, whole: bool = True
    ) -> AwarenessOutcome:
        """What follows from what is not understood of it; what follows is the same if not whole."""
        key = operation.name, around
        if key not in self._known:
            found = understood(self.block, operation, around=around).outcome
            self._known[key] = found, found.brief()
        return self._known[key][not whole]


# decision 899
def around(block: Block, jobs: Iterable[Block]) -> Iterator[SharedContext | None]:
    """What stands around each job, as far as something of it is not understood; None if not.

    ``jobs`` are as they were read. Whatever an operation does with one of them, it judges this,
    too (``Understood.within``): the attributes of its group, of what the group says, and of
    defaults elements, and what the standard has not in a group. An element there could be about
    each of the jobs, and is none of theirs. Elements in defaults are judged in the job that
    inherits them.
    """
    if not isinstance(block, JobGroup):
        for inner in map(_defaults, jobs):
            yield None if inner is None else SharedContext(Judged(inner))
        return
    every = of_group(block)
    shared = Judged(block.holding(())) if every is None else every.shared
    bare = replace(block, items=(), attributes=_policy_alone(block))
    later = None if every is None else every.later()
    for number, job in enumerate(jobs):
        inner, is_first = _defaults(job), not number
        if inner is None:
            yield every if is_first else later
        else:
            yield SharedContext(shared, bare.holding((inner,)), is_first)


def by_group(job: Job, group: Block) -> Job:
    """A job as it is outside of its group, whose awarenessPolicy still holds for it."""
    policy = _policy_alone(group)
    if not policy or _POLICY in job.attributes:
        return job
    return replace(job, attributes={**job.attributes, **policy})


def of_group(block: Block) -> SharedContext | None:
    """What a job object says around all of its jobs, if something of it is not understood."""
    if not isinstance(block, JobGroup):
        return None
    whole = block.holding(_of_group(block))
    return SharedContext(Judged(whole)) if understood(whole).items else None


def _of_group(group: JobGroup) -> Iterator[ModelItem]:
    yield from _misplaced(group)
    for item in group.items:
        if isinstance(item, Block):
            if item.name in _DEFAULTS and (left := _of_defaults(item)) is not None:
                yield left
        elif isinstance(item, Property):
            is_known = not item.namespace and bool(element_level(group.name, item.name))
            if item.attributes or item.children or not is_known:
                yield item


def _misplaced(block: Block) -> Iterator[Block]:
    """The containers in one that the tables do not have there, without what is in them."""
    for item in block.items:
        if isinstance(item, Block) and item.name not in spec.blocks(block.name):
            yield item.holding(())


def _of_defaults(block: B) -> B | None:
    """What of a defaults element no job inherits and can be not understood, if there is any."""
    left = tuple(_misplaced(block))
    return block.holding(left) if left or block.attributes else None


def _defaults(block: B) -> B | None:
    """A block with nothing but what of the defaults elements in it no job inherits, if any."""
    items: list[ModelItem] = []
    for item in block.items:
        if not isinstance(item, Block):
            continue
        if item.name in _DEFAULTS:
            items += [left for left in (_of_defaults(item),) if left is not None]
        elif (inner := _defaults(item)) is not None:
            items.append(inner)
    if not items:
        return None
    return replace(block, items=tuple(items), attributes=_policy_alone(block))


def _policy_alone(block: Block) -> dict[str, str]:
    return {key: value for key, value in block.attributes.items() if key == _POLICY}


# A property without its text: its name, its attributes, and what it holds.
_Shape: TypeAlias = tuple[str, tuple[tuple[str, str], ...], tuple["_Shape", ...]]


def _is_plain(block: Block) -> bool:
    """Whether all of a block is known to be understood, without a look at any text."""
    if block.attributes or block.namespace:
        return False
    for item in block.items:
        if isinstance(item, Block):
            if item.name not in spec.blocks(block.name) or not _is_plain(item):
                return False
        elif type(item) is not Property:
            return False
        elif not item.attributes and not item.children and not item.namespace:
            legal(item.text)  # which a tree would ask as well
            if not _knows_name(block.name, item.name):
                return False
        elif (shape := _shape(item)) is None or not _knows(block.name, shape):
            return False
    return True


def _shape(item: Property) -> _Shape | None:
    """None for a property in a namespace, one with notes, and one whose text is looked at.

    Raises ``InvalidValue`` for a text that XML cannot hold.
    """
    if item.namespace or _is_special(item.name):
        return None
    legal(item.text)  # which a tree would ask as well
    inside: list[_Shape] = []
    for each in item.children:
        shape = _shape(each) if isinstance(each, Property) else None
        if shape is None:
            return None
        inside.append(shape)
    return item.name, tuple(item.attributes.items()), tuple(inside)


def _is_special(name: str) -> bool:
    """Whether the name alone does not tell what a property is."""
    return name.startswith("{") or name == "NotificationList"


@lru_cache(1 << 10)
def _knows_name(parent: str, name: str) -> bool:
    """Whether a property that is nothing but a name and a text is understood in a container."""
    return not _is_special(name) and _knows(parent, (name, (), ()))


@lru_cache(1 << 12)
def _knows(parent: str, shape: _Shape) -> bool:
    """Whether such a property is understood in a container, whatever its text is."""
    root = to_tree(BLOCKS[parent]((_of_shape(shape),)))
    found = _UnknownSearch(root, FULL, 0).child(root[0], parent, AwarenessPolicy.REJECT)
    return next(found, None) is None


def _of_shape(shape: _Shape) -> Property:
    name, attributes, inside = shape
    return Property(name, "", dict(attributes), map(_of_shape, inside))


class _Sieve:
    """One job object without what an operation does not understand; ``found`` is that."""

    def __init__(self, search: _UnknownSearch, operation: Operation, root: str, path: str) -> None:
        self._search, self._operation = search, operation
        self._root, self._path = root, path
        self.found: list[Item] = []

    def block(self, block: B, element: Element, around: AwarenessPolicy) -> B:
        """A block, and what is not understood in it and in what it holds."""
        policy = FULL.policy(block.attributes.get(_POLICY), around)
        looks = self._operation.looks_into(block.name)
        if looks:
            self._keep(self._search.own(element, around))
        elements = (child for child in element if type(child.tag) is str)
        items: list[ModelItem] = []
        unknown: list[Property] = []
        for item in block.items:
            if isinstance(item, Note):
                items.append(item)
                continue
            child = next(elements)
            if isinstance(item, Block):
                if item.name in spec.blocks(block.name):
                    items.append(self.block(item, child, policy))
                elif looks:
                    self._keep(self._search.child(child, block.name, policy))
                continue
            found = self._of(item, child, block.name, policy) if looks else ()
            if any(each.kind is UnknownKind.ELEMENT for each in found):
                if block.name == spec.REQUESTED:
                    # Its place in the expression is known only together with the others.
                    unknown.append(_bare(item))
                    items.append(unknown[-1])
                continue
            # Elsewhere a value stays, for who reads the attribute may know better than to go by
            # its absence: a job must not start before one that it depends on.
            asked = block.name == spec.REQUESTED
            names = {each.name for each in found if asked or each.kind is UnknownKind.ATTRIBUTE}
            items.append(_without(item, names))
        return _asking(block.holding(items), unknown)

    def _of(
        self, item: Property, element: Element, parent: str, policy: AwarenessPolicy
    ) -> Sequence[Item]:
        """What is not understood of a property itself, where what is in it counts as well."""
        found = list(self._search.child(element, parent, policy))
        if not self._operation.looks_at(item.name, parent):
            found = [each for each in found if each.kind is UnknownKind.ELEMENT]
        if parent == spec.REQUESTED:
            found = [
                each
                for each in found
                if each.kind is not UnknownKind.VALUE
                or each.value.strip() not in WORDS.get(each.name, ())
            ]
        self._keep(found)
        if not found:
            return found
        here = self._search.path(element)
        return [each for each in found if each.path.partition("/@")[0] == here]

    def _keep(self, found: Iterable[Item]) -> None:
        for each in found:
            path = self._path + each.path.removeprefix(self._root)
            self.found.append(replace(each, path=path))


def _without(item: Property, names: Container[str]) -> Property:
    """A property without attributes that are not understood."""
    if not any(name in names for name in item.attributes):
        return item
    return item.having(**{name: None for name in item.attributes if name in names})


def _bare(item: Property) -> Property:
    """What is not understood, with no more than its place in the expression."""
    kept = {"group": item.attributes.get("group", "0"), "conj": item.attributes.get("conj", "And")}
    if kept["conj"].strip() not in CONJUNCTIONS:
        del kept["conj"]
    return replace_text(item, "", kept)


def _asking(block: B, unknown: Sequence[Property]) -> B:
    """A request without these properties: neither And nor Or misses them.

    One whose groups cannot be read stays as it is, for that is told by who reads it.
    """
    if not unknown:
        return block
    notes = [item for item in block.items if isinstance(item, Note)]
    try:
        left = expression.without(expression.parse(block.properties), unknown)
    except (UnbalancedGroup, InvalidValue, LimitExceeded):
        return block
    return block.holding([*notes, *(() if left is None else expression.write(left))])


def said(outcome: AwarenessOutcome) -> Iterator[Finding]:
    """What to say of all that is not understood: errors, or warnings; what is ignored, nothing."""
    left = MOST
    for severity, found in ((Severity.ERROR, outcome.reject), (Severity.WARNING, outcome.warn)):
        for item in found:
            if not left:
                yield finding("E-LIMIT", too_many(MOST), line=item.line)
                return
            left -= 1
            value = f"{item.name} {item.value!r}" if item.kind is UnknownKind.VALUE else item.name
            text = f"{item.kind} {value}".removeprefix("value ") + " is not understood"
            yield finding(
                "E-UNKNOWN", f"{text}, and its awarenessPolicy is {item.policy}", line=item.line,
                path=item.path, section="SSS 9.0", severity=severity,
            )  # fmt: skip


def judge(items: Iterable[Item], *, reading: bool = False) -> AwarenessOutcome:
    """What becomes of a request with these items (9.0).

    An operation that only reads skips in silence what the standard knows and it does not need:
    "it is reasonable ... to ignore an element or attribute that would not be critical".
    """
    by_policy: dict[AwarenessPolicy, list[Item]] = {policy: [] for policy in AwarenessPolicy}
    for item in items:
        if not (reading and item.level):
            by_policy[item.policy].append(item)
    return AwarenessOutcome(*(tuple(found) for found in by_policy.values()))


def is_old(element: Element) -> bool:
    """Whether a job is written with names that only Gold's clients and old drafts have.

    Gold ignores what it does not know, whatever a policy says. # decision 161
    """
    return any(isinstance(child.tag, str) and local(child) in _OLD for child in element)


class _UnknownSearch:
    """One job object, searched for what a vocabulary does not have."""

    def __init__(self, root: Element, vocabulary: Vocabulary, offset: int) -> None:
        self._vocabulary = vocabulary
        self._root = root
        self._places = ObjectReport(root, offset)

    def root(self) -> Iterator[Item]:
        """The items of the job object, under the policy that holds around it."""
        policy = self._vocabulary.around(self._root)
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

    def path(self, element: Element) -> str:
        """Where an element stands."""
        return self._places.path(element)

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

    def _rule(self, tag: str, parent: str) -> PropertyRule | None:
        asked = self._vocabulary.rule(tag, parent)
        if asked is None and parent == spec.DELIVERED and split(tag)[1] == "CpuDuration":
            # Table 2 gives it no category, and deployed software writes it there: decision 6
            return self._vocabulary.rule(tag, "Job")
        return asked

    def _property(
        self, element: Element, asked: PropertyRule, policy: AwarenessPolicy
    ) -> Iterator[Item]:
        name = asked.row.name
        if name == "Environment":
            yield from self._container(element, name, policy)
            return
        category = asked.place.category
        policy = yield from self._attributes(element, name, category, asked.attributes, policy)
        if name == "NotificationList":
            for word in unknown_words(text_of(element), spec.NOTIFICATIONS):
                yield self._item(element, UnknownKind.VALUE, name, word, policy)
        if len(element):
            for child in element:
                if type(child.tag) is str and not child.tag.startswith(ALWAYS_UNDERSTOOD):
                    yield from self._unknown(child, "", policy)

    def _attributes(
        self, element: Element, name: str, category: str, known: Mapping[str, CarriedAttribute],
        policy: AwarenessPolicy,
    ) -> Generator[Item, None, AwarenessPolicy]:  # fmt: skip
        """The items among the attributes; gives the policy that holds on the element and below."""
        policy = self._vocabulary.policy(element.get(_POLICY), policy)
        for key, value in attributes(element).items():
            asked = known.get(key)
            if asked is None:
                if not key.startswith(ALWAYS_UNDERSTOOD):
                    level = attribute_level(name, key, category)
                    yield self._item(element, UnknownKind.ATTRIBUTE, key, value, policy, level, key)
            elif is_idle(element, name, key):
                yield self._item(element, UnknownKind.ATTRIBUTE, key, value, policy, attribute=key)
            elif not asked.plain(value):
                # A policy that is none is itself not understood, and always rejected.
                by = AwarenessPolicy.REJECT if key == _POLICY else policy
                for word in unknown_values(asked.row, value, name):
                    yield self._item(element, UnknownKind.VALUE, key, word, by, attribute=key)
        return policy

    def _unknown(self, element: Element, level: str, policy: AwarenessPolicy) -> Iterator[Item]:
        """An element that is not understood: its own policy counts, what it holds does not."""
        stated = element.get(_POLICY)
        own = self._vocabulary.policy(stated, policy)
        text = "" if has_elements(element) else text_of(element).strip(XML_SPACE)
        namespace, local = names(element)
        name = local if namespace in spec.NAMESPACES else str(element.tag)
        yield self._item(element, UnknownKind.ELEMENT, name, text, own, level)
        if stated is not None and self._vocabulary.awareness:
            row = spec.attributes("*")[_POLICY]
            for word in unknown_values(row, stated):
                yield self._item(
                    element,
                    UnknownKind.VALUE,
                    _POLICY,
                    word,
                    AwarenessPolicy.REJECT,
                    attribute=_POLICY,
                )

    def _item(
        self, element: Element, kind: UnknownKind, name: str, value: str, policy: AwarenessPolicy,
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
