"""The messages of SSSRMAP as frozen values: what is asked, and what is answered.

Attributes of a value are those of its element; "" means that one is absent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from sssjob.rmap import codes

READING = frozenset(("Query", "Balance"))  # actions that change nothing


class Op(StrEnum):
    """How a condition compares. Match knows ``*`` and ``?``."""

    EQ = "EQ"
    NE = "NE"
    GT = "GT"
    GE = "GE"
    LT = "LT"
    LE = "LE"
    MATCH = "Match"


class Conj(StrEnum):
    """How a condition joins the one before it; And binds tighter than Or.

    The Not of AndNot and OrNot is about this one condition, and counts on the first one, too.
    """

    AND = "And"
    OR = "Or"
    AND_NOT = "AndNot"
    OR_NOT = "OrNot"

    @property
    def is_or(self) -> bool:
        """Or and OrNot."""
        return self in (Conj.OR, Conj.OR_NOT)

    @property
    def negates(self) -> bool:
        """AndNot and OrNot."""
        return self in (Conj.AND_NOT, Conj.OR_NOT)


@dataclass(frozen=True, slots=True)
class Object:
    """The kind of thing that a request is about; several only where they are joined."""

    name: str
    alias: str = ""
    join: str = ""


@dataclass(frozen=True, slots=True)
class Get:
    """A property to be returned, or how rows are sorted, grouped or summed up (``op``).

    ``path`` is the text of the element: an XPath expression that is asked of the job object.
    """

    name: str
    op: str = ""
    object: str = ""
    alias: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Set:
    """A property to be changed: Assign, Inc or Dec."""

    name: str
    value: str
    op: str = "Assign"


@dataclass(frozen=True, slots=True)
class Where:
    """A condition, and how it joins the one before it.

    A positive ``group`` opens so many parentheses before it, a negative one closes them after
    it. ``subject`` makes the value the name of a property of that object.
    """

    name: str
    value: str
    op: Op = Op.EQ
    conj: Conj = Conj.AND
    group: int = 0
    object: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """A modifier of the request; which ones count depends on the action."""

    name: str
    value: str
    op: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A flat element of Data: the name of an object, and its properties in their order."""

    object: str
    fields: tuple[tuple[str, str], ...] = ()

    def get(self, name: str) -> str | None:
        """The text of the first property of that name; None if there is none."""
        return next((value for key, value in self.fields if key == name), None)


@dataclass(frozen=True, slots=True)
class DataDocument:
    """An element of Data that is more than flat, such as a job object, as XML in UTF-8."""

    xml: bytes


Item = Row | DataDocument


@dataclass(frozen=True, slots=True)
class Data:
    """What a message carries: rows and documents, in their order."""

    items: tuple[Item, ...] = ()
    name: str = ""
    type: str = ""


@dataclass(frozen=True, slots=True)
class File:
    """A file that a message carries as text; an Executable names it by its id, behind ``#``."""

    text: str
    name: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """What an actor wants done with objects.

    ``chunk_size`` is in rows, 0 if absent. ``id`` names the request over all its repetitions.
    ``nonce`` and ``time`` (seconds since 1970, UTC) are ours: they tell a replay. decision 148
    """

    action: str
    actor: str
    objects: tuple[Object, ...] = ()
    gets: tuple[Get, ...] = ()
    sets: tuple[Set, ...] = ()
    wheres: tuple[Where, ...] = ()
    options: tuple[Option, ...] = ()
    data: Data | None = None
    files: tuple[File, ...] = ()
    chunking: bool = False
    chunk_size: int = 0
    id: str = ""
    nonce: str = ""
    time: int | None = None

    @property
    def object(self) -> str:
        """The name of its first object, "" if it has none."""
        return self.objects[0].name if self.objects else ""

    def option(self, name: str) -> str | None:
        """The value of an option; None if it is absent."""
        return next((option.value for option in self.options if option.name == name), None)


@dataclass(frozen=True, slots=True)
class Status:
    """What became of a request: a code of the table, and a message for people."""

    code: str = "000"
    message: str = ""
    value: codes.Value = field(default=codes.Value.SUCCESS)

    @classmethod
    def of(cls, code: str, message: str = "") -> Status:
        """The status of a code, with the value that its first digit says."""
        return cls(code, message, codes.code(code).value)


@dataclass(frozen=True, slots=True)
class Response:
    """The answer to a request, or one chunk of it.

    ``count`` is None where there is none to tell. ``chunk_num`` counts from 1, ``chunk_max`` is
    -1 while more chunks follow and 0 in the last one; both are None in an answer of one part.
    """

    status: Status = Status()
    count: int | None = None
    data: Data | None = None
    files: tuple[File, ...] = ()
    actor: str = ""
    chunk_num: int | None = None
    chunk_max: int | None = None
    nonce: str = ""

    @property
    def is_last(self) -> bool:
        """Whether nothing follows."""
        return self.chunk_num is None or self.chunk_max != -1

    @property
    def rows(self) -> tuple[Item, ...]:
        """What Data holds."""
        return self.data.items if self.data else ()
