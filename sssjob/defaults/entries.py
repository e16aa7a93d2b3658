"""Items on their way from where they were written to where they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from sssjob import units
from sssjob.errors import AwarenessPolicy, InvalidValue
from sssjob.expression import Expression
from sssjob.model import Block, Item, Note, Property

OWN = "own"

# fmt: off
# What each block holds that takes defaults, and the element that gives them.
HOLDS = {
    "JobGroup":          ("Job",       "JobDefaults"),
    "Job":               ("TaskGroup", "TaskGroupDefaults"),
    "JobDefaults":       ("TaskGroup", "TaskGroupDefaults"),
    "TaskGroup":         ("Task",      "TaskDefaults"),
    "TaskGroupDefaults": ("Task",      "TaskDefaults"),
}

# A default is the same property as another if these attributes agree, besides the name.
KEYS = {
    "Variable":      ("name",),
    "ResourceLimit": ("name", "type"),
    "Resource":      ("name", "type"),
    "Extension":     ("name", "type"),
}
# fmt: on
LISTS = ("Dependency", "Hold", "TaskGroup", "Task")  # a list of one's own replaces all defaults
IDENTITY = ("Id", "GlobalId")  # never inherited

JOINED = ("Requested", "Delivered", "Environment")


class SourcedValue(NamedTuple):
    """A value and where it was written: ``own``, or the defaults element that holds it."""

    source: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Origin:
    """Where one effective property comes from, and what it overrode."""

    path: str
    value: str
    source: str
    line: int = 0
    overrode: tuple[SourcedValue, ...] = ()

    def __str__(self) -> str:
        line = f":{self.line}" if self.line else ""
        over = "".join(f", over {old.value!r} of {old.source}" for old in self.overrode)
        return f"{self.path} = {self.value!r} ({self.source}{line}{over})"


class SourcedItem(NamedTuple):
    """An item on its way: where it was written, and the awarenessPolicy that held there.

    ``parts`` are what a rewritten Requested, Delivered or Environment holds; None is as it was.
    """

    item: Item
    source: str
    policy: AwarenessPolicy
    over: tuple[SourcedValue, ...] = ()
    parts: tuple[SourcedItem, ...] | None = None

    def written(self) -> SourcedValue:
        """The value and its place, as origins tell it: ``LE 400 MB``."""
        words: tuple[str, ...] = ()
        if isinstance(item := self.item, Property):
            words = (item.said("op"), item.text, item.attributes.get("units", ""))
        text = " ".join(word.strip() for word in words if word.strip())
        return SourcedValue(self.source, text, line_of(self.item))


Key: TypeAlias = tuple[str, ...]
Conjuncts: TypeAlias = tuple[Expression, ...]


@dataclass(slots=True)
class Layer:
    """What one block gives: entries, and the defaults for what it holds."""

    block: Block
    path: str
    policy: AwarenessPolicy
    entries: list[SourcedItem]
    below: Layer | None = None
    # The conjuncts of each of its Requested elements, once they were asked for as defaults.
    read_once: bool = False
    conjuncts: tuple[Conjuncts, ...] | None = None
    mentioned: frozenset[str] = frozenset()  # what any of them is about
    lending: Lending | None = None

    def plain(self) -> list[SourcedItem]:
        """The entries of uncategorised properties."""
        return [entry for entry in self.entries if isinstance(entry.item, Property)]

    def named(self, name: str) -> list[SourcedItem]:
        """The entries of that element name."""
        return [entry for entry in self.entries if name_of(entry.item) == name]

    def requested(self) -> list[SourcedItem]:
        """The entries of the properties in all Requested elements."""
        return [part for entry in self.named("Requested") for part in parts_of(entry)]

    def lent(self) -> Lending:
        """What it gives as defaults: worked out once, however many go over it."""
        if self.lending is None:
            self.lending = Lending.of(self)
        return self.lending

    def put(self, old: list[SourcedItem], new: SourcedItem) -> None:
        """Let one entry stand for others, at the place of the first, or at the end."""
        gone = {id(entry) for entry in old}
        places = [index for index, entry in enumerate(self.entries) if id(entry) in gone]
        for index in reversed(places[1:]):
            del self.entries[index]
        first = places[0] if places else len(self.entries)
        self.entries[first : first + 1] = [new]


class Lending(NamedTuple):
    """A layer as the defaults of others, once it holds all that it will.

    ``properties`` are those that are inherited one by one, ``joined`` the entries of the rest by
    their names. ``size`` is how many elements whoever goes over it may come to hold by that.
    """

    properties: list[tuple[str, Key, SourcedItem]]
    joined: Mapping[str, list[SourcedItem]]
    size: int

    @classmethod
    def of(cls, layer: Layer) -> Lending:
        """What a layer gives."""
        properties: list[tuple[str, Key, SourcedItem]] = []
        joined: dict[str, list[SourcedItem]] = {name: [] for name in JOINED}
        size = 0
        for entry in layer.entries:
            name = name_of(entry.item)
            size += 1
            if name in JOINED:
                joined[name].append(entry)
                size += len(all_parts(entry))
            else:
                properties.append((name, key_of(entry.item), entry))
        return cls(properties, joined, size)


Overridden: TypeAlias = dict[Key, tuple[SourcedValue, ...]]


def group_of(entry: SourcedItem) -> int:
    """The group attribute of a property; what is no integer counts as 0."""
    try:
        return units.integer(attributes_of(entry.item).get("group", "0"))
    except InvalidValue:
        return 0


def grouped(entry: SourcedItem, group: int) -> SourcedItem:
    """The entry with another group attribute."""
    if group == group_of(entry) or not isinstance(entry.item, Property):
        return entry
    return entry._replace(item=entry.item.having(group=str(group) if group else None))


def name_of(item: Item) -> str:
    """The element name; a note has none."""
    return "" if isinstance(item, Note) else item.name


def line_of(item: Item) -> int:
    """The line of an item, 0 if it is not known."""
    return 0 if isinstance(item, Note) else item.line


def attributes_of(item: Item) -> Mapping[str, str]:
    """The attributes of an item; a note has none."""
    return {} if isinstance(item, Note) else item.attributes


def key_of(item: Item) -> Key:
    """What makes two properties the same one."""
    name, attributes = name_of(item), attributes_of(item)
    return (name, *(attributes.get(each, "").strip() for each in KEYS.get(name, ())))


def delivered_key(item: Item) -> Key:
    """What makes two delivered properties the same one."""
    return (*key_of(item), *(attributes_of(item).get(each, "") for each in ("metric", "context")))


def entry_of(item: Item, source: str, outer: AwarenessPolicy) -> SourcedItem:
    """An item as it stands in a block of this source, where this policy holds."""
    return SourcedItem(item, source, AwarenessPolicy.at(attributes_of(item), outer))


def all_parts(entry: SourcedItem) -> tuple[SourcedItem, ...]:
    """What a category or an Environment holds, notes included; nothing for other items."""
    if entry.parts is not None or isinstance(entry.item, Note):
        return entry.parts or ()
    inside: tuple[Item, ...] = ()
    if name_of(entry.item) in JOINED:
        inside = entry.item.items if isinstance(entry.item, Block) else entry.item.children
    return tuple(entry_of(item, entry.source, entry.policy) for item in inside)


def parts_of(entry: SourcedItem) -> list[SourcedItem]:
    """The properties that a category or an Environment holds."""
    return [part for part in all_parts(entry) if not isinstance(part.item, Note)]


def notes_of(entry: SourcedItem) -> list[SourcedItem]:
    """The notes in a category or an Environment."""
    return [part for part in all_parts(entry) if isinstance(part.item, Note)]


def placed(entry: SourcedItem, outer: AwarenessPolicy) -> Item:
    """The item for its new place, where it keeps the policy that held where it was written."""
    item = entry.item
    if isinstance(item, Note):
        return item
    if "awarenessPolicy" not in item.attributes and entry.policy != outer:
        if isinstance(item, Block):
            item = replace(item, attributes={**item.attributes, "awarenessPolicy": entry.policy})
        else:
            item = item.having(awarenessPolicy=entry.policy)
    if entry.parts is None:
        return item
    parts = tuple(placed(part, entry.policy) for part in entry.parts)
    if isinstance(item, Block):
        return item.holding(parts)
    inside = tuple(part for part in parts if not isinstance(part, Block))
    return Property(item.name, item.text, item.attributes, inside, item.namespace, item.line)


def numbered(entries: Sequence[SourcedItem], path: str) -> Iterator[tuple[SourcedItem, str]]:
    """Each entry with its path; those that share a name are counted."""
    counts = Counter(name_of(entry.item) for entry in entries)
    seen: Counter[str] = Counter()
    for entry in entries:
        name = name_of(entry.item)
        seen[name] += 1
        yield entry, f"{path}/{name}[{seen[name]}]" if counts[name] > 1 else f"{path}/{name}"
