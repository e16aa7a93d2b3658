"""What an attribute of a ClassAd can be, and the ad itself.

Booleans, integers, reals, strings and lists (tuples) are those of Python. Hooks import this module
before every job: nothing here that is slow to import.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, Self, TypeAlias

    from sssjob.classads.errors import BadAd

    # A list or an ad may hold expressions until it is evaluated.
    Value: TypeAlias = (
        "bool | int | float | str | Special | AbsTime | RelTime | Ad | tuple[Attribute, ...]"
    )
    Attribute: TypeAlias = "Value | Node"
    Function: TypeAlias = Callable[..., Value]


class Special:
    """``undefined`` or ``error``, which are neither true nor false: compare them by ``is``."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __bool__(self) -> bool:
        raise TypeError(f"{self.name} is neither true nor false")

    def __repr__(self) -> str:
        return self.name.upper()


UNDEFINED = Special("undefined")
ERROR = Special("error")


def undecided(values: Iterable[Value], first: Special = UNDEFINED) -> Special | None:
    """What an answer is where a value is undefined or an error, None where none is.

    ``first`` wins over the other one, whichever stands first.
    """
    found = {value for value in values if isinstance(value, Special)}
    return first if first in found else next(iter(found), None)


def missing(function: Function) -> Function:
    """The same function, which gives what is undefined or an error back as it is."""

    def asked(value: Value, *others: Value) -> Value:
        return value if isinstance(value, Special) else function(value, *others)

    return asked


class AbsTime:
    """A moment: seconds since 1970-01-01T00:00:00Z, and its zone's seconds east of Greenwich."""

    __slots__ = ("offset", "seconds")

    def __init__(self, seconds: int, offset: int = 0) -> None:
        self.seconds, self.offset = seconds, offset

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbsTime) and self.seconds == other.seconds

    def __hash__(self) -> int:
        return hash(("absTime", self.seconds))

    def __repr__(self) -> str:
        return f"AbsTime({self.seconds}, {self.offset})"


class RelTime:
    """A span of time in seconds."""

    __slots__ = ("seconds",)

    def __init__(self, seconds: float) -> None:
        self.seconds = float(seconds)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RelTime) and self.seconds == other.seconds

    def __hash__(self) -> int:
        return hash(("relTime", self.seconds))

    def __repr__(self) -> str:
        return f"RelTime({self.seconds})"


# decision 662
def exists(value: AbsTime | RelTime) -> bool:
    """Whether a moment is in the years 1 to 9999 where it is told, and a span a number of 64 bits.

    >>> exists(AbsTime(0)), exists(AbsTime(10**18)), exists(RelTime(float("nan")))
    (True, False, False)
    """
    if isinstance(value, AbsTime):
        return all(-62_135_596_800 <= each < 253_402_300_800  # from 0001-01-01, before 10000-01-01
                   for each in (value.seconds, value.seconds + value.offset))  # fmt: skip
    return abs(value.seconds) < 2**63


class Listed(tuple["Value", ...]):
    """The values of a list that an expression or an ad tells, and how it tells them.

    A function of texts is given these, as in HTCondor: ``string({1 + 1})`` is ``{ 1 + 1 }``.
    """

    told: tuple[Attribute, ...]

    def __new__(cls, values: Iterable[Value], told: tuple[Attribute, ...]) -> Self:
        """A list of these values; ``told`` has a value or a tree for each."""
        found = super().__new__(cls, values)
        found.told = told
        return found


class Node:
    """A part of an expression; two are equal if they are of one kind with equal parts."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()

    def parts(self) -> tuple[object, ...]:
        """What the node is made of, in the order in which it is written."""
        return tuple(getattr(self, name) for name in self.__match_args__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and same(self.parts(), other.parts())

    def __hash__(self) -> int:
        return hash((type(self), self.parts()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.parts()))})"


class Unparsed(Node):
    """An expression of the old syntax whose text nobody has looked at yet; it may be none."""

    __slots__ = __match_args__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Ad(dict[str, "Attribute"]):
    """A ClassAd: attributes by name. Case does not tell names apart, but is kept.

    Nothing is changed in an ad once it is made: ``merged`` gives another. ``line`` counts from 1
    in the source the ad was read from, and is 0 if there was none. ``again`` is the name of an
    attribute that it was made with twice, and with two values, of which the last counts.

    >>> Ad({"Cpus": 8})["CPUS"]
    8
    """

    __slots__ = ("_folded", "again", "line")

    def __init__(
        self, items: Mapping[str, Attribute] | Iterable[tuple[str, Attribute]] = (), line: int = 0
    ) -> None:
        told = [*(items.items() if hasattr(items, "items") else items)]
        super().__init__(told)
        self.line = line
        self.again = ""
        self._folded: dict[str, str] = {}
        if len(self._names()) != len(told):
            self._once(told)

    def __missing__(self, name: str) -> Attribute:
        return super().__getitem__(self._names()[name.lower()])

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (
            isinstance(name, str) and name.lower() in self._names()
        )

    def __eq__(self, other: object) -> bool:
        """Equal if every attribute is; an integer never equals a real, nor true 1."""
        if not isinstance(other, Ad):
            return NotImplemented
        return len(self) == len(other) and all(
            name in other and same(value, other[name]) for name, value in self.items()
        )

    def __hash__(self) -> int:  # type: ignore[override]  # nothing changes in an ad
        return hash(frozenset(self._names()))

    def __repr__(self) -> str:
        return f"Ad({super().__repr__()})"

    def get(self, name: str, default: object = None) -> Any:
        """An attribute, or the default where it is missing."""
        return self[name] if name in self else default  # noqa: SIM401 - this is get

    def merged(self, other: Mapping[str, Attribute]) -> Ad:
        """This ad with attributes of another in the place of its own of that name."""
        new = {name.lower() for name in other}
        kept = {name: value for name, value in self.items() if name.lower() not in new}
        return Ad({**kept, **other}, self.line)

    def without(self, name: str) -> Ad:
        """This ad without an attribute."""
        gone = name.lower()
        return Ad({each: self[each] for each in self if each.lower() != gone}, self.line)

    def text(self, name: str, default: str = "") -> str:
        """A string, or the default where the attribute is missing or something else."""
        value = self.get(name)
        return value if isinstance(value, str) else default

    def number(self, name: str) -> int | float | None:
        """A number, or None where the attribute is missing or something else."""
        value = self.get(name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        return value

    def _names(self) -> dict[str, str]:
        if not self._folded:
            self._folded = {name.lower(): name for name in self}
        return self._folded

    def _once(self, told: Iterable[tuple[str, Attribute]]) -> None:
        """Of names that are the same but for their case only the last counts, as in HTCondor."""
        names = self._names()
        for name, value in told:
            if not same(value, self[names[name.lower()]]):
                self.again = name
        for name in list(self):
            if names[name.lower()] != name:
                del self[name]


def bad(reason: str, *texts: str) -> BadAd:
    """An error, in whose braces the beginnings of these texts stand.

    Hooks, which read good ads, start without the module of errors.
    """
    from sssjob.classads.errors import BadAd
    from sssjob.errors import quoted

    return BadAd(reason.format(*map(quoted, texts)) if texts else reason)


def same(one: object, other: object) -> bool:
    """Whether two attributes are of one type and equal; one NaN is as good as another."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if type(one) is not type(other):
        return False
    return one == other or (one != one and other != other)
