"""What a regular expression is made of, once it was read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Char:
    """This character."""

    letter: str


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A text of folded case: whatever folds to it, as ``\u00df`` does to ``ss``."""

    text: str


@dataclass(frozen=True, slots=True)
class OneCharacter:
    """One character of a class, written as the library ``regex`` reads it."""

    source: str
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Anchor:
    r"""A place between characters: \A, \z, \Z, \b and \B by their letters; ^ and $ of lines."""

    kind: str


@dataclass(frozen=True, slots=True)
class Seq:
    """One after the other."""

    parts: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Either:
    """One of them, the first that will do first."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """From ``low`` to ``high`` times, None is any number; the fewest first if it is ``lazy``."""

    part: Node
    low: int
    high: int | None
    lazy: bool = False


@dataclass(frozen=True, slots=True)
class CaptureGroup:
    """A group that can be referred to by its number."""

    number: int
    part: Node


@dataclass(frozen=True, slots=True)
class Beginning:
    r"""Where the match is said to begin, whatever stands before it (\K)."""


@dataclass(frozen=True, slots=True)
class Back:
    """What a group matched, once more."""

    number: int
    folded: bool = False


@dataclass(frozen=True, slots=True)
class LookAround:
    """Whether a part matches ahead of a place, or behind it."""

    part: Node
    behind: bool = False
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Atomic:
    """The first match of a part, and no other."""

    part: Node


Node: TypeAlias = (
    Char
    | FoldedText
    | OneCharacter
    | Anchor
    | Seq
    | Either
    | Repeat
    | CaptureGroup
    | Beginning
    | Back
    | LookAround
    | Atomic
)


def seq(parts: Iterable[Node]) -> Node:
    """Parts one after the other; texts of folded case join, since a character may be two of it."""
    joined: list[Node] = []
    for part in parts:
        for each in part.parts if isinstance(part, Seq) else (part,):
            if isinstance(each, FoldedText) and joined and isinstance(joined[-1], FoldedText):
                joined[-1] = FoldedText(joined[-1].text + each.text)
            else:
                joined.append(each)
    return joined[0] if len(joined) == 1 else Seq(tuple(joined))


def either(parts: Iterable[Node]) -> Node:
    """One of the parts."""
    every = tuple(parts)
    return every[0] if len(every) == 1 else Either(every)
