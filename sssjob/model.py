"""Job objects as plain frozen values that know nothing of XML.

An object keeps what was read, in document order: properties, categories, task groups, even
comments and elements that the standard does not know. Questions are asked of views
(``job.properties``, ``job.requested``, ``job["User"]``); a change is a new object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar, Self, TypeVar

from sssjob import spec, units

Scalar = str | int | float | bool | Fraction
Value = str | int | bool | Fraction

B = TypeVar("B", bound="Block")
P = TypeVar("P", bound="Property")

_NO_ATTRIBUTES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, init=False)
class Property:
    """A property by its canonical name, with its text exactly as it was written.

    ``value`` reads the text by the data type of the tables. An element that the standard does
    not know is a property too; in a foreign namespace its name is ``{namespace}local``.
    ``children`` holds the variables of an Environment, and what unknown elements hold.

    >>> Property("Memory", 2, {"units": "GB"}).value
    Fraction(2, 1)
    """

    name: str
    text: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict, hash=False)
    children: tuple[Property | Note, ...] = ()
    namespace: str = ""
    line: int = field(default=0, compare=False, repr=False)

    def __init__(
        self,
        name: str,
        value: Scalar = "",
        attributes: Mapping[str, str] = _NO_ATTRIBUTES,
        children: Iterable[Property | Note] = (),
        namespace: str = "",
        line: int = 0,
    ) -> None:
        set_ = object.__setattr__
        set_(self, "name", name)
        set_(self, "text", value if type(value) is str else text(value))
        set_(self, "attributes", attributes)
        set_(self, "children", children if type(children) is tuple else tuple(children))
        set_(self, "namespace", namespace)
        set_(self, "line", line)

    @property
    def value(self) -> Value:
        """The text by its data type: str stripped, int, bool, or an exact Fraction.

        Raises ``InvalidValue``. Amounts are in the units that the property states.
        """
        row = spec.element(self.name)
        return _READERS[row.type if row else spec.STRING](self.text)

    @property
    def bytes(self) -> Fraction:
        """An amount of Memory, Swap or Disk in bytes; without units the default unit counts."""
        stated = self.attributes.get("units") or units.DEFAULT_UNITS.get(self.name, "")
        return units.bytes_of(self.text, stated)

    def having(self, **attributes: str | None) -> Self:
        """The same property with these attributes; None removes one."""
        merged = {**self.attributes, **attributes}
        kept = {name: value for name, value in merged.items() if value is not None}
        return replace_text(self, self.text, kept)


@dataclass(frozen=True, slots=True, init=False)
class Reference(Property):
    """A mention of a predefined job group, job, task group or task: its text is the id (9)."""

    @property
    def id(self) -> str:
        """The id that is meant, without surrounding white space."""
        return stripped(self.text)


@dataclass(frozen=True, slots=True)
class Note:
    """What stands between elements and is no property: a comment, an instruction, stray text."""

    kind: str
    text: str


class Properties(tuple[Property, ...]):
    """Properties in document order, asked by name and attributes."""

    __slots__ = ()

    def all(self, name: str, /, **attributes: str) -> Properties:
        """Every property of that name whose attributes have these values; "" means absent."""
        return Properties(
            item
            for item in self
            if item.name == name
            and all(item.attributes.get(key, "") == want for key, want in attributes.items())
        )

    def get(self, name: str, /, **attributes: str) -> Property | None:
        """The first property of that name, or None."""
        return next(iter(self.all(name, **attributes)), None)

    def text(self, name: str, default: str = "") -> str:
        """The stripped text of the first property of that name, or ``default``."""
        found = self.get(name)
        return default if found is None else stripped(found.text)

    def value(self, name: str, /, **attributes: str) -> Value | None:
        """The value of the first property of that name, or None. Raises ``InvalidValue``."""
        found = self.get(name, **attributes)
        return None if found is None else found.value

    def names(self) -> frozenset[str]:
        """The names that appear."""
        return frozenset(item.name for item in self)


@dataclass(frozen=True, slots=True)
class Block:
    """What holds properties: ``items`` in document order, and its own attributes."""

    items: tuple[Item, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict, hash=False)
    namespace: str = ""
    line: int = field(default=0, compare=False, repr=False)
    prefixes: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    name: ClassVar[str] = ""

    @classmethod
    def of(cls, *items: Item, **properties: Scalar) -> Self:
        """A block of items and of simple properties given by name.

        >>> Job.of(Requested.of(Processors=16), Id="PBS.1234.0", User="scottmo")["User"].text
        'scottmo'
        """
        named = tuple(Property(name, value) for name, value in properties.items())
        return cls((*named, *items))

    @property
    def properties(self) -> Properties:
        """The properties of the block itself, without those in categories."""
        return Properties(
            item for item in self.items if isinstance(item, Property) and type(item) is Property
        )

    @property
    def requested(self) -> Properties:
        """Every requested property. For what op, conj and group mean, see ``expression``."""
        return Properties(item for block in self.blocks(Requested) for item in block.properties)

    @property
    def delivered(self) -> Properties:
        """Every delivered property."""
        return Properties(item for block in self.blocks(Delivered) for item in block.properties)

    def blocks(self, kind: type[B]) -> tuple[B, ...]:
        """The blocks of exactly one kind (JobDefaults is not a Job), in document order."""
        return tuple(item for item in self.items if type(item) is kind)

    def block(self, kind: type[B]) -> B | None:
        """The first block of one kind, or None."""
        return next(iter(self.blocks(kind)), None)

    def references(self, name: str) -> tuple[Reference, ...]:
        """The references of one kind, ``Job`` for example."""
        return tuple(
            item for item in self.items if isinstance(item, Reference) and item.name == name
        )

    def __getitem__(self, name: str) -> Property:
        """The first property of that name in the block itself; raises KeyError."""
        found = self.properties.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def get(self, name: str, default: str = "") -> str:
        """The stripped text of a property of the block itself, or ``default``."""
        return self.properties.text(name, default)

    @property
    def id(self) -> str:
        """The Id without surrounding white space, or an empty string."""
        return self.get("Id")

    def holding(self, items: Iterable[Item]) -> Self:
        """The same block with other items."""
        return replace(self, items=tuple(items))

    def setting(self, *properties: Property) -> Self:
        """The same block with these properties, each in the place of the first of its name."""
        items = list(self.items)
        for new in properties:
            places = [
                index
                for index, item in enumerate(items)
                if type(item) is Property and item.name == new.name
            ]
            if places:
                items[places[0]] = new
            else:
                items.append(new)
        return self.holding(items)


class Requested(Block):
    """Properties as they were requested: an expression of op, conj and group (8.1)."""

    __slots__ = ()
    name = spec.REQUESTED


class Delivered(Block):
    """Properties as they were utilized, realized or consumed (8.2)."""

    __slots__ = ()
    name = spec.DELIVERED


class Task(Block):
    """An endpoint for executing a process instance (7)."""

    __slots__ = ()
    name = "Task"


class TaskDefaults(Block):
    """Properties assumed by all tasks of a task group (7)."""

    __slots__ = ()
    name = "TaskDefaults"


class TaskGroup(Block):
    """Tasks and their common properties (6)."""

    __slots__ = ()
    name = "TaskGroup"

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks that are spelled out."""
        return self.blocks(Task)


class TaskGroupDefaults(TaskGroup):
    """Properties assumed by all task groups of a job (6)."""

    __slots__ = ()
    name = "TaskGroupDefaults"


class Job(Block):
    """A single schedulable entity (5)."""

    __slots__ = ()
    name = "Job"

    @property
    def task_groups(self) -> tuple[TaskGroup, ...]:
        """The task groups that are spelled out; none means a single implicit one."""
        return self.blocks(TaskGroup)


class JobDefaults(Job):
    """Properties assumed by all jobs of a job group (5)."""

    __slots__ = ()
    name = "JobDefaults"


class JobGroup(Block):
    """Interdependent jobs (4)."""

    __slots__ = ()
    name = "JobGroup"

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs that are defined here; references are not among them."""
        return self.blocks(Job)


Item = Property | Note | Block

BLOCKS: dict[str, type[Block]] = {
    kind.name: kind
    for kind in (
        JobGroup, JobDefaults, Job, TaskGroupDefaults, TaskGroup, TaskDefaults, Task,
        Requested, Delivered,
    )
}  # fmt: skip


def stripped(text: str) -> str:
    """A text without the white space of XML around it; a no-break space is no white space."""
    return text.strip(units.XML_SPACE)


def text(value: Scalar) -> str:
    """A value as a document spells it: ``true``, ``16``, ``1.89``."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    return units.decimal(value)


def replace_text(old: P, text: str, attributes: Mapping[str, str]) -> P:
    """The same property with another text and other attributes."""
    return type(old)(old.name, text, attributes, old.children, old.namespace, old.line)


def walk(block: Block) -> Iterator[Block]:
    """A block and every block below it, in document order."""
    yield block
    for item in block.items:
        if isinstance(item, Block):
            yield from walk(item)


def paths(block: Block, path: str = "") -> Iterator[tuple[str, Block]]:
    """The blocks that a block holds, each with its path; numbered where several have a name.

    >>> [path for path, _ in paths(Job.of(Requested.of(), TaskGroup.of(), TaskGroup.of()))]
    ['/Job/Requested', '/Job/TaskGroup[1]', '/Job/TaskGroup[2]']
    """
    here = path or f"/{block.name}"
    named = [item for item in block.items if isinstance(item, Block | Reference)]
    totals = Counter(item.name for item in named)
    met: Counter[str] = Counter()
    for item in named:
        met[item.name] += 1
        if isinstance(item, Block):
            number = f"[{met[item.name]}]" if totals[item.name] > 1 else ""
            yield f"{here}/{item.name}{number}", item


_READERS: Mapping[str, Callable[[str], Value]] = {
    "": stripped,
    spec.STRING: stripped,
    spec.INTEGER: units.integer,
    spec.FLOAT: units.number,
    spec.BOOLEAN: units.boolean,
    spec.DATETIME: units.time,
    spec.DURATION: units.duration,
}
