"""Job objects as plain frozen values that know nothing of XML.

An object keeps what was read, in document order: properties, categories, task groups, even
comments and elements that the standard does not know. Questions are asked of views
(``job.properties``, ``job.requested``, ``job["User"]``); a change is a new object.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import FrozenInstanceError, dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from types import UnionType
from typing import Any, ClassVar, NoReturn, Self, SupportsIndex, TypeVar, overload

from sssjob import spec, suggestions, units
from sssjob.dotted import EDITING, NOTEBOOK, loaded
from sssjob.errors import (
    InvalidValue,
    NoSuchProperty,
    UnknownName,
    WrongKind,
    of_kind,
    quoted,
    shown,
)
from sssjob.legality import DECLARES, legal, legal_name, legal_namespace, legal_note

Scalar = str | int | float | bool | Fraction | Decimal | datetime | timedelta
Value = str | int | bool | Fraction

B = TypeVar("B", bound="Block")
P = TypeVar("P", bound="Property")
T = TypeVar("T")
Each = TypeVar("Each", bound="Item")

_SHOWN = 43  # characters of a text in a repr


class Attributes(dict[str, str]):
    """The attributes of an element: a mapping that does not change.

    Values are spelled as ``text`` does. Raises ``InvalidValue`` for one that has no spelling.
    """

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]  # a dict has none
        """So that a set of a thousand properties looks at each once, whatever tells them apart."""
        return hash(frozenset(self.items())) if self else 0

    def __init__(self, given: Mapping[str, Any] | Iterable[tuple[str, Any]] = ()) -> None:
        try:
            dict.__init__(self, given)
        except (TypeError, ValueError) as error:
            raise WrongKind(shown(given), "a mapping of names to values") from error
        for name, value in self.items():
            of_kind(name, str, "a name of an attribute")
            if name == "xmlns":
                raise InvalidValue(name, "a name of an attribute: a namespace is one of its own")
            declares = _declares(name)
            if type(value) is not str:
                value = text(value)
                dict.__setitem__(self, name, value)
            if not value.isprintable():  # as legal says
                legal(value, name.removeprefix(DECLARES))
            if declares:
                legal_namespace(value, name)

    @classmethod
    def read(cls, given: Mapping[str, str]) -> Self:
        """The attributes of an element that was parsed."""
        new = cls.__new__(cls)
        dict.update(new, given)
        return new

    def __reduce__(self) -> tuple[type[Attributes], tuple[dict[str, str]]]:
        return Attributes, (dict(self),)

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("attributes do not change: having() gives a property with other ones")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse


@lru_cache(1 << 12)
def _declares(name: str) -> bool:
    """Whether an attribute of a legal name declares a prefix."""
    legal_name(name.removeprefix(DECLARES))
    return name.startswith(DECLARES)


_NO_ATTRIBUTES = Attributes()
MARK = ""  # the name of an attribute by which a property is found again


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
    attributes: Mapping[str, str] = field(default_factory=dict)
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
        if type(name) is not str or not name:
            of_kind(name, str, "a name of a property")
            if not name:
                raise InvalidValue(shown(name), "a name of a property")
        if type(namespace) is not str:
            of_kind(namespace, str, "a namespace")
        legal_name(name)
        if namespace:
            legal_namespace(namespace, name)
        set_ = object.__setattr__
        set_(self, "name", name)
        set_(self, "text", legal(value if type(value) is str else text(value), name))
        set_(self, "attributes", frozen(attributes))
        if type(children) is not tuple or children:
            children = _items(children, Property | Note, "a property or note")
        set_(self, "children", children)
        set_(self, "namespace", namespace)
        if type(line) is not int:
            of_kind(line, int, "the number of a line")
        set_(self, "line", line)

    @classmethod
    def read(
        cls, name: str, text: str, attributes: Mapping[str, str],
        children: tuple[Property | Note, ...] = (), namespace: str = "", line: int = 0,
    ) -> Self:  # fmt: skip
        """A property of something parsed: XML can hold it, and it is not asked again."""
        new = object.__new__(cls)
        if type(attributes) is not Attributes:
            attributes = Attributes.read(attributes) if attributes else _NO_ATTRIBUTES
        set_ = object.__setattr__  # not by a function: most of a document is made here
        set_(new, "name", name)
        set_(new, "text", text)
        set_(new, "attributes", attributes)
        set_(new, "children", children)
        set_(new, "namespace", namespace)
        set_(new, "line", line)
        return new

    def __repr__(self) -> str:
        parts = [repr(self.name), quoted(self.text, _SHOWN)]
        parts += [repr(dict(self.attributes))] if self.attributes else []
        parts += [f"<{len(self.children)} inside>"] if self.children else []
        return f"{type(self).__name__}({', '.join(parts)})"

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

    # decision 1177
    def said(self, name: str, default: str = "") -> str:
        """The value of an attribute without the white space around it; ``default`` of none."""
        if type(name) is not str or type(default) is not str:
            of_kind(name, str, "the name of an attribute")
            of_kind(default, str, "what stands for an attribute that is not there")
        value = self.attributes.get(name)
        return default if value is None else value.strip(units.XML_SPACE)

    def having(self, **attributes: str | None) -> Self:
        """The same property with these attributes; None removes one."""
        given = {name: value for name, value in attributes.items() if value is not None}
        merged = {**self.attributes, **frozen(given)}
        gone = attributes.keys() - given.keys()
        kept = {name: value for name, value in merged.items() if name not in gone}
        return replace_text(self, self.text, Attributes.read(kept))


@dataclass(frozen=True, slots=True, init=False)
class Reference(Property):
    """A mention of a predefined job group, job, task group or task: its text is the id (9)."""

    def __init__(
        self, name: str, value: Scalar = "", attributes: Mapping[str, str] = _NO_ATTRIBUTES,
        children: Iterable[Property | Note] = (), namespace: str = "", line: int = 0,
    ) -> None:  # fmt: skip
        Property.__init__(self, name, value, attributes, children, namespace, line)
        if not self.id:  # which would be an object of its own, with nothing in it
            raise InvalidValue(self.text, f"the id of a {name}")

    @property
    def id(self) -> str:
        """The id that is meant, without surrounding white space."""
        return stripped(self.text)


@dataclass(frozen=True, slots=True)
class Note:
    """What stands between elements and is no property: a comment, an instruction, stray text."""

    kind: str
    text: str

    def __post_init__(self) -> None:
        legal_note(self.kind, self.text)


class Properties(tuple[Property, ...]):
    """Properties in document order, asked by name and attributes; ``in`` takes a name, too."""

    __slots__ = ()

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            return any(item.name == key for item in self)
        return super().__contains__(key)

    @overload
    def __getitem__(self, key: SupportsIndex) -> Property: ...
    @overload
    def __getitem__(self, key: slice) -> Properties: ...
    @overload
    def __getitem__(self, key: str) -> Property: ...
    def __getitem__(self, key: SupportsIndex | slice | str) -> Property | Properties:
        """By place, or the first of a name; raises ``NoSuchProperty``."""
        if isinstance(key, slice):
            return Properties(super().__getitem__(key))
        if not isinstance(key, str):
            return super().__getitem__(key)
        found = self.get(key)
        if found is None:
            raise NoSuchProperty(key, "block", meant=suggestions.nearest(key, self.names()))
        return found

    def all(self, name: str, /, **attributes: str) -> Properties:
        """Every property of that name whose attributes have these values; "" means absent."""
        return Properties(
            item
            for item in self
            if item.name == name and all(item.said(key) == want for key, want in attributes.items())
        )

    def get(self, name: str, /, **attributes: str) -> Property | None:
        """The first property of that name, or None."""
        for item in self:
            if item.name == name and (
                not attributes or all(item.said(key) == want for key, want in attributes.items())
            ):
                return item
        return None

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


class _WorkedOut:
    """Room for what was worked out of a value, which does not change."""

    __slots__ = ("_known",)
    _known: dict[Callable[..., Any], Any]


@dataclass(frozen=True, slots=True)
class Block(_WorkedOut):
    """What holds properties: ``items`` in document order, and its own attributes."""

    items: tuple[Item, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=lambda: _NO_ATTRIBUTES)
    namespace: str = ""
    line: int = field(default=0, compare=False, repr=False)
    prefixes: Mapping[str, str] = field(
        default_factory=lambda: _NO_ATTRIBUTES, compare=False, repr=False
    )

    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        if type(self.items) is not tuple or not _HELD.issuperset(map(type, self.items)):
            set_(self, "items", _items(self.items))
        if type(self.attributes) is not Attributes:
            set_(self, "attributes", frozen(self.attributes))
        if type(self.namespace) is not str or type(self.line) is not int:
            of_kind(self.namespace, str, "a namespace")
            of_kind(self.line, int, "the number of a line")
        if type(self.prefixes) is not Attributes:
            of_kind(self.prefixes, Mapping, "namespaces by their prefixes")
            for prefix, uri in self.prefixes.items():
                of_kind(prefix, str, "a prefix")
                of_kind(uri, str, "a namespace")
            for prefix, uri in self.prefixes.items():
                legal_namespace(uri, prefix and legal_name(prefix))
            set_(self, "prefixes", Attributes.read(self.prefixes))
        if self.namespace:
            legal_namespace(self.namespace, self.name)

    def __repr__(self) -> str:
        counts = Counter(
            "property" if isinstance(item, Property) else item.name
            for item in self.items
            if not isinstance(item, Note)
        )
        inside = [f"{number} {_plural(name, number)}" for name, number in counts.items()]
        return f"<{' '.join(filter(None, (self.name, self.id)))}: {', '.join(inside) or 'empty'}>"

    def _repr_html_(self) -> str:
        """The block for a notebook."""
        return str(loaded(f"{NOTEBOOK}:block")(self))

    @classmethod
    def of(cls, *items: Item, **properties: Scalar) -> Self:
        """A block of items and of simple properties given by name.

        Raises ``UnknownName`` for a name that is one of the tables misspelt, and ``InvalidValue``
        for a value that has no spelling. A name like no other is one of your own.

        >>> Job.of(Requested.of(Processors=16), Id="PBS.1234.0", User="scottmo")["User"].text
        'scottmo'
        """
        held = _items(items)
        cls._refuse_read_otherwise(held)
        return cls((*cls._named(properties), *held))

    @classmethod
    def _refuse_read_otherwise(cls, items: Iterable[Item]) -> None:
        """Refuse properties of names that are read again as a block, or as another property."""
        for item in items if cls.name else ():  # of no kind, none is known
            if type(item) is not Property or item.namespace not in spec.NAMESPACES:
                continue
            if item.name in BLOCKS or spec.older(item.name, cls.name) is not None:
                advice = _meant(item.name, cls.name) or f"{item.name} is a block"
                raise UnknownName(item.name, cls.name, advice)

    @classmethod
    def _named(cls, properties: Mapping[str, Scalar]) -> Iterator[Property]:
        for name, value in properties.items():
            if spec.element(name) is None and (advice := _meant(name, cls.name)):
                raise UnknownName(name, cls.name, advice)
            yield Property(name, _of_kind(name, value))

    def __contains__(self, key: object) -> bool:
        """Whether the block itself has a property of that name, or holds that item."""
        return key in (self.properties.names() if isinstance(key, str) else self.items)

    def __iter__(self) -> Iterator[Property]:
        """The properties of the block itself."""
        return iter(self.properties)

    @property
    def properties(self) -> Properties:
        """The properties of the block itself, without those in categories."""
        return Properties([item for item in self.items if type(item) is Property])

    @property
    def requested(self) -> Properties:
        """Every requested property. For what op, conj and group mean, see ``expression``."""
        return self._within(Requested)

    @property
    def delivered(self) -> Properties:
        """Every delivered property."""
        return self._within(Delivered)

    def _within(self, kind: type[Block]) -> Properties:
        """The properties in every block of exactly one kind."""
        return Properties([
            item
            for block in self.items
            if isinstance(block, Block) and type(block) is kind
            for item in block.items
            if type(item) is Property
        ])  # fmt: skip

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
        """The first property of that name in the block itself; raises ``NoSuchProperty``.

        What is requested or delivered is in blocks of its own: ``job.requested["Memory"]``.
        """
        if not isinstance(name, str):
            expected = (
                "a name of a property; properties are counted in .properties, items in .items"
            )
            raise InvalidValue(shown(name), expected)
        found = self.properties.get(name)
        if found is None:
            kinds = (Requested, Delivered)
            has = [kind.name for kind in kinds if any(name in each for each in self.blocks(kind))]
            meant = "" if has else suggestions.nearest(name, self.properties.names())
            raise NoSuchProperty(name, self.name, has, meant)
        return found

    def get(self, name: str, default: str = "") -> str:
        """The stripped text of a property of the block itself, or ``default``."""
        for item in self.items:
            if type(item) is Property and item.name == name:
                return stripped(item.text)
        return default

    @property
    def id(self) -> str:
        """The Id without surrounding white space, or an empty string."""
        return self.get("Id")

    def holding(self, items: Iterable[Item]) -> Self:
        """The same block with other items."""
        return replace(self, items=_items(items))

    def setting(
        self, *properties: Property, inside: type[Block] | None = None, **named: Scalar
    ) -> Self:
        """The same block with these properties, each in the place of the first of its name.

        ``inside`` is Requested or Delivered: there, in the first of them, or in a new one. What
        is requested is then asked for in place of all that was said of the same name.

        >>> job = Job.of(Requested.of(Memory=512, Processors=4))
        >>> [item.text for item in job.setting(inside=Requested, Memory=1024).requested]
        ['1024', '4']
        """
        _check_change(properties, inside, Property)
        (inside or type(self))._refuse_read_otherwise(properties)
        if inside is not None:
            found = self.block(inside) or inside(namespace=self.namespace)
            asked = (*properties, *inside._named(named))
            return self._with(found, found.setting(*asked))
        items = list(self.items)
        for given in (*properties, *self._named(named)):
            new = belonging(given, self.namespace)
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

    def removing(self, *names: str, inside: type[Block] | None = None) -> Self:
        """The same block without properties of these names; ``inside`` a category, if given.

        Of a request, neither And nor Or misses them. Raises ``UnknownName`` for a name that is one
        of the tables misspelt, and that nothing here has.
        """
        self._refuse_misspelt(names, inside)
        if inside is not None:
            for found in self.blocks(inside):
                self = self._with(found, found.removing(*names))
            return self
        return self.holding(
            item for item in self.items if type(item) is not Property or item.name not in names
        )

    def _refuse_misspelt(self, names: Sequence[str], inside: type[Block] | None) -> None:
        _check_change(names, inside, str)
        holders = (self,) if inside is None else self.blocks(inside)
        container = self.name if inside is None else inside.name
        for name in names:
            if spec.element(name) is not None or any(name in each for each in holders):
                continue
            if advice := suggestions.advice(name, container):
                raise UnknownName(name, container, advice)

    def _with(self, old: Block, new: Block) -> Self:
        """The same block with one in the place of another, or behind all if that is not here."""
        if any(item is old for item in self.items):
            return self.holding(new if item is old else item for item in self.items)
        return self.holding((*self.items, new))


def _items(
    items: Iterable[Each], kinds: type | UnionType | None = None, expected: str = ""
) -> tuple[Each, ...]:
    """What a block or property holds. Raises ``WrongKind``."""
    expected = expected or "a property, note or block"
    of_kind(items, Iterable, f"several of what is {expected}")
    held = tuple(items)
    for item in held:
        of_kind(item, kinds or Property | Note | Block, expected)
    return held


def _check_change(given: Iterable[object], inside: object, kinds: type | UnionType) -> None:
    """Refuse what no property can be found or set by, and what is no kind of block."""
    for each in given:
        of_kind(each, kinds, "a name of a property" if kinds is str else "a Property")
    if inside is not None and not (isinstance(inside, type) and issubclass(inside, Block)):
        raise WrongKind(shown(inside), "a kind of block, such as Requested")


def _cannot_assign(_: object, name: str, *__: object) -> NoReturn:
    """As frozen dataclasses refuse, whose own way with slots fails in classes made of them."""
    raise FrozenInstanceError(f"cannot assign to {name!r}: a change is a new value")


for _frozen in (Property, Reference, Block):
    _frozen.__setattr__ = _frozen.__delattr__ = _cannot_assign  # type: ignore[method-assign]


class Requested(Block):
    """Properties as they were requested: an expression of op, conj and group (8.1)."""

    __slots__ = ()
    name = spec.REQUESTED

    def setting(
        self, *properties: Property, inside: type[Block] | None = None, **named: Scalar
    ) -> Self:
        """The same request, but for what it says of these names: that is asked for instead."""
        if inside is not None:
            return super().setting(*properties, inside=inside, **named)
        _check_change(properties, None, Property)
        self._refuse_read_otherwise(properties)
        asked = (*properties, *self._named(named))
        new = [belonging(item, self.namespace) for item in asked]
        return self.holding(_editing().setting(self, new))

    def removing(self, *names: str, inside: type[Block] | None = None) -> Self:
        """The same request without these names: neither And nor Or misses them."""
        self._refuse_misspelt(names, inside)
        if inside is not None:
            return super().removing(*names, inside=inside)
        return self.holding(_editing().removing(self, names))


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

    @property
    def is_step(self) -> bool:
        """Whether it is a step or a start of a job that ran: delivered, and not asked for."""
        return bool(self.blocks(Delivered)) and not self.blocks(Requested)


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
        return worked_out(self, _task_groups)

    @property
    def asking_groups(self) -> tuple[TaskGroup, ...]:
        """The task groups that ask for something: all but the steps."""
        return worked_out(self, _asking_groups)


def _task_groups(job: Job) -> tuple[TaskGroup, ...]:
    return job.blocks(TaskGroup)


def has_only_group(job: Job) -> bool:
    """Whether all tasks of a job are in one task group, steps of what ran aside."""
    return len(job.asking_groups) == 1 and not job.references("TaskGroup")


def _asking_groups(job: Job) -> tuple[TaskGroup, ...]:
    return tuple(each for each in job.task_groups if not each.is_step)


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


def worked_out(block: B, how: Callable[[B], T]) -> T:
    """What a function makes of a block, which is made once: who asks for each of its items may."""
    try:
        known = block._known
    except AttributeError:
        known = {}
        object.__setattr__(block, "_known", known)
    if how not in known:
        known[how] = how(block)
    found: T = known[how]
    return found


def jobs_of(block: Block) -> tuple[Job, ...]:
    """The jobs of what stands outermost: a job itself, or those that a group defines."""
    return (block,) if isinstance(block, Job) else block.blocks(Job)


Item = Property | Note | Block

BLOCKS: dict[str, type[Block]] = {
    kind.name: kind
    for kind in (
        JobGroup, JobDefaults, Job, TaskGroupDefaults, TaskGroup, TaskDefaults, Task,
        Requested, Delivered,
    )
}  # fmt: skip
_HELD = frozenset((Property, Reference, Note, *BLOCKS.values()))  # what stands in a block


def stripped(text: str) -> str:
    """A text without the white space of XML around it; a no-break space is no white space."""
    return text.strip(units.XML_SPACE)


def text_in(item: Property | None) -> str:
    """The text of a property without white space around it; "" where there is no property."""
    return "" if item is None else stripped(item.text)


def frozen(attributes: Mapping[str, str] | Sequence[tuple[str, str]]) -> Attributes:
    """Attributes that do not change."""
    if type(attributes) is Attributes:
        return attributes
    return Attributes(attributes) if attributes else _NO_ATTRIBUTES


def text(value: Scalar) -> str:
    """A value as a document spells it: ``true``, ``16``, ``1.89``.

    A time is the second since the epoch that it is in, and needs a zone; a timedelta is whole
    seconds. Raises ``InvalidValue`` for what has no spelling: None, NaN, an infinity, a number
    of more digits than readers take.

    >>> from datetime import UTC, datetime, timedelta
    >>> text(datetime(2003, 4, 28, 19, 21, 53, tzinfo=UTC)), text(timedelta(hours=1))
    ('1051557713', '3600')
    """
    match value:
        case str():
            return str.__str__(value)
        case bool():
            return "true" if value else "false"
        case float() if math.isfinite(value):
            return float.__repr__(value)
        case Decimal() if value.is_finite() and units.is_bounded(value):
            return units.decimal(Fraction(value))
        case int() if -_BEYOND < value < _BEYOND:
            return units.decimal(value)
        case Fraction() if units.is_bounded(value):
            return units.decimal(value)
        case datetime() if value.tzinfo is not None:
            return str(math.floor(value.timestamp()))
        case timedelta() if not value.microseconds:
            return str(value.days * 86400 + value.seconds)
    said = type(value).__name__ if isinstance(value, int | Fraction) else shown(value)  # very long
    raise InvalidValue(said, _SPELLED.get(type(value), "a text, number, time or duration"))


_BEYOND: int = 10**units.INTEGER_DIGITS
_BOUNDED = f"of at most {units.DIGITS} digits before and behind its point"
_SPELLED: Mapping[type, str] = {
    int: f"a whole number of at most {units.INTEGER_DIGITS} digits",
    Fraction: f"a number {_BOUNDED}",
    float: "a number that is finite",
    Decimal: f"a number that is finite, {_BOUNDED}",
    datetime: "a time with a zone, such as datetime.now(UTC)",
    timedelta: "a duration of whole seconds",
}


def _of_kind(name: str, value: Scalar) -> Scalar:
    """A value of Python for a property, a whole number as an int where it has to be whole.

    Raises ``InvalidValue`` where its kind is not that of the property.
    """
    if type(value) is str or type(value) is int:  # as most are: of no kind that is refused
        return value
    row = spec.element(name)
    if row is None:
        return value
    refused: tuple[type, ...] = ()
    if row.type in _NUMBERS:
        refused = (bool, datetime) + (timedelta,) * (row.type != spec.DURATION)
    if row.type == spec.DATETIME:
        refused = (bool, timedelta)
    if isinstance(value, refused):
        raise InvalidValue(shown(value), f"a value of {name}, which is of type {row.type}")
    if isinstance(value, timedelta) and value < timedelta():
        raise InvalidValue(shown(value), "a duration, which is not negative")
    if row.type in _WHOLE and isinstance(value, float | Decimal | Fraction):
        exact = Fraction(text(value))
        if exact.denominator != 1:
            raise InvalidValue(shown(value), f"a value of {name}, which is whole")
        return exact.numerator
    return value


_WHOLE = frozenset((spec.INTEGER, spec.DURATION, spec.DATETIME))
_NUMBERS = frozenset((spec.INTEGER, spec.FLOAT, spec.DURATION))


def _meant(name: str, block: str) -> str:
    if name in spec.blocks(block):
        return f"give {name}.of(...)"
    return suggestions.advice(name, block)


def _plural(name: str, number: int) -> str:
    if number == 1:
        return name
    return "properties" if name == "property" else f"{name} blocks"


def _editing() -> Any:
    """What op, conj and group mean, and so what is left of a request, is said by a room above."""
    return loaded(EDITING)


def replace_text(old: P, text: str, attributes: Mapping[str, str]) -> P:
    """The same property with another text and other attributes."""
    said, held = legal(text, old.name), frozen(attributes)
    return type(old).read(old.name, said, held, old.children, old.namespace, old.line)


def without(block: B, name: str) -> B:
    """A block without what has a name: neither properties nor containers."""
    return block.holding(item for item in block.items if getattr(item, "name", "") != name)


def with_each(block: B, change: Callable[[Item], Item]) -> B:
    """A block with each of its items changed; where none is another one then, the block itself."""
    items = tuple(map(change, block.items))
    is_same = all(new is old for new, old in zip(items, block.items, strict=True))
    return block if is_same else block.holding(items)


def marked(item: P, mark: str) -> P:
    """A property that tells where it was, by an attribute that no document can have."""
    held = Attributes.read({**item.attributes, MARK: mark})
    return replace_text(item, item.text, held)


def belonging(item: Each, namespace: str) -> Each:
    """What is in no namespace, in this one, as what it will stand in; so with all in it."""
    if not namespace or isinstance(item, Note) or item.name[0] == "{":
        return item
    namespace = item.namespace or namespace
    if isinstance(item, Block):
        items = tuple(belonging(each, namespace) for each in item.items)
        return replace(item, items=items, namespace=namespace)
    children = tuple(belonging(each, namespace) for each in item.children)
    return type(item).read(item.name, item.text, item.attributes, children, namespace, item.line)


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
    for step, item in steps(block, path):
        if isinstance(item, Block):
            yield step, item


def steps(block: Block, path: str = "") -> Iterator[tuple[str, Block | Reference]]:
    """The same with the references that stand among them, which have numbers, too."""
    here = path or f"/{block.name}"
    named = [item for item in block.items if isinstance(item, Block | Reference)]
    totals = Counter(item.name for item in named)
    met: Counter[str] = Counter()
    for item in named:
        met[item.name] += 1
        number = f"[{met[item.name]}]" if totals[item.name] > 1 else ""
        yield f"{here}/{item.name}{number}", item


# What reads a text of each data type of 2.2 but a string.
VALUE_READERS: Mapping[str, Callable[[str], int | bool | Fraction]] = {
    spec.INTEGER: units.integer,
    spec.FLOAT: units.number,
    spec.BOOLEAN: units.boolean,
    spec.DATETIME: units.time,
    spec.DURATION: units.duration,
}
_READERS: Mapping[str, Callable[[str], Value]] = {
    "": stripped, spec.STRING: stripped, **VALUE_READERS,
}  # fmt: skip
