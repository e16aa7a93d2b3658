"""A regular expression as a list of instructions, and the places they ask for, for both engines."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from sssjob.errors import LimitExceeded
from sssjob.expression.pattern.syntax import (
    Anchor,
    Atomic,
    Back,
    Beginning,
    CaptureGroup,
    Char,
    Either,
    FoldedText,
    LookAround,
    Node,
    OneCharacter,
    Repeat,
    Seq,
)

SIZE_LIMIT = 100_000  # instructions: what is counted is written out so many times
_REMEMBERED = 1 << 16  # letters of one class
# What stands beside a place: nothing, the last line end of a text, a line end, a letter of a word.
BEGIN, END, LAST_LINE, LINE, WORD, OTHER = range(6)


class Opcode(IntEnum):
    """What an instruction does."""

    LETTER = 0  # take this letter
    CLASS = 1  # take one letter of a class
    FOLD = 2  # take a letter that folds to what stands at a place of a text
    SPLIT = 3  # go on at several places, the first one first
    PLACE = 4  # go on if this is such a place
    SAVE = 5  # note the place: a group begins or ends
    MARK = 6  # note the place: a turn of a loop begins
    TURN = 7  # the turn ends; another one follows if it took anything
    BACK = 8  # take what a group matched
    LOOK = 9  # go on if a part matches, or does not
    ATOMIC = 10  # take the first match of a part
    MATCH = 11  # the end


class CharacterClass:
    """The letters of a class, which the library ``regex`` knows."""

    def __init__(self, source: str, folded: bool) -> None:
        import regex  # slow to import, and most patterns have no class

        # Version 1 folds case fully, as Perl does.
        flags = regex.VERSION1 | (regex.IGNORECASE if folded else 0)
        self._ask = lru_cache(_REMEMBERED)(regex.compile(source, flags).fullmatch)

    def __contains__(self, letter: str) -> bool:
        return self._ask(letter) is not None


class Instruction(NamedTuple):
    """An instruction, where it goes on, and what it needs."""

    op: Opcode
    to: tuple[int, ...] = ()
    letter: str = ""
    members: CharacterClass | None = None
    number: int = 0
    flag: bool = False
    behind: bool = False
    part: PatternProgram | None = None


class PatternProgram(NamedTuple):
    """Instructions; the first is where it begins.

    ``notes`` is how many places it has to remember, ``is_regular`` whether it is told at each
    letter what may follow, without going back.
    """

    code: tuple[Instruction, ...]
    notes: int
    is_regular: bool
    has_places: bool


def program(node: Node, every_group: bool = False) -> PatternProgram:
    """The instructions of an expression. Raises ``LimitExceeded`` if these are too many.

    With ``every_group`` the place of group N stands in the notes 2N and 2N + 1.
    """
    return _InstructionWriter(_noted(node, every_group)).written(node)


def group_count(made: PatternProgram) -> int:
    """How many groups note their places: each does so where it begins and where it ends."""
    parts, count = [made], 0
    while parts:
        for each in parts.pop().code:
            count = max(count, each.number // 2 + 1) if each.op is Opcode.SAVE else count
            parts += [each.part] if each.part is not None else []
    return count


def _noted(node: Node, every_group: bool) -> frozenset[int]:
    """The groups that are referred to: no other needs to be noted, unless the caller asks."""
    found: set[int] = set()
    pending = [node]
    while pending:
        match pending.pop():
            case Back(number):
                found.add(number)
            case Seq(parts) | Either(parts):
                pending += parts
            case CaptureGroup(number, part):
                pending.append(part)
                found |= {number} if every_group else set()
            case Repeat(part) | LookAround(part) | Atomic(part):
                pending.append(part)
    return frozenset(found)


class _InstructionWriter:
    """Instructions, one after the other."""

    def __init__(self, referred: Iterable[int]) -> None:
        self.groups = {number: 2 * place for place, number in enumerate(sorted(referred))}
        self.notes = 2 * len(self.groups)
        self.code: list[Instruction] = []
        self.size = 0
        self.is_regular = True
        self.has_places = False
        self.looks = 0  # what looks ahead or behind, and is open

    def written(self, node: Node) -> PatternProgram:
        """All of it."""
        code = self.inner(node)
        return PatternProgram(tuple(code), self.notes, self.is_regular, self.has_places)

    def inner(self, node: Node) -> list[Instruction]:
        """A part as instructions of its own."""
        around, self.code = self.code, []
        self.add(node)
        self.put(Instruction(Opcode.MATCH))
        code, self.code = self.code, around
        return code

    def put(self, instruction: Instruction) -> int:
        """Add an instruction; its place."""
        self.size += 1
        if self.size > SIZE_LIMIT:
            raise LimitExceeded("steps in a pattern", SIZE_LIMIT)
        self.code.append(instruction)
        return len(self.code) - 1

    def go(self, place: int, *to: int) -> None:
        """Say where an instruction goes on."""
        self.code[place] = self.code[place]._replace(to=to)

    def add(self, node: Node) -> None:
        """The instructions of a part, behind which the next one follows."""
        match node:
            case Char(letter):
                self.put(Instruction(Opcode.LETTER, letter=letter))
            case OneCharacter(source, folded):
                self.put(Instruction(Opcode.CLASS, members=CharacterClass(source, folded)))
            case FoldedText(text):
                self.fold(text)
            case Anchor(kind):
                self.has_places = True
                self.put(Instruction(Opcode.PLACE, letter=kind))
            case Seq(parts):
                for part in parts:
                    self.add(part)
            case Either(parts):
                self.either(parts)
            case Repeat():
                self.repeat(node)
            case CaptureGroup(number, part) if number in self.groups:
                note = self.groups[number]
                self.put(Instruction(Opcode.SAVE, number=note))
                self.add(part)
                self.put(Instruction(Opcode.SAVE, number=note + 1))
            case CaptureGroup(_, part):
                self.add(part)
            case Beginning() if 0 in self.groups and not self.looks:
                self.put(Instruction(Opcode.SAVE, number=self.groups[0]))
            case Back(number, folded):
                self.is_regular = False
                self.put(Instruction(Opcode.BACK, number=self.groups[number], flag=folded))
            case LookAround(part, behind, negated):
                self.is_regular = False
                self.looks += 1
                looked = self.part(part)
                self.looks -= 1
                self.put(Instruction(Opcode.LOOK, part=looked, behind=behind, flag=negated))
            case Atomic(part):
                self.is_regular = False
                self.put(Instruction(Opcode.ATOMIC, part=self.part(part)))

    def part(self, node: Node) -> PatternProgram:
        """A part that is matched by itself; what it notes is noted with the rest."""
        return PatternProgram(tuple(self.inner(node)), 0, False, True)

    def fold(self, text: str) -> None:
        """A letter may fold to several, so each place of the text goes on behind what it takes."""
        start = len(self.code)
        for place in range(len(text)):
            self.put(Instruction(Opcode.FOLD, (start,), text, number=place))

    def either(self, parts: Iterable[Node]) -> None:
        """Each part, and behind it the end of all."""
        split = self.put(Instruction(Opcode.SPLIT))
        starts, ends = [], []
        for part in parts:
            starts.append(len(self.code))
            self.add(part)
            ends.append(self.put(Instruction(Opcode.SPLIT)))
        self.go(split, *starts)
        for end in ends:
            self.go(end, len(self.code))

    def repeat(self, node: Repeat) -> None:
        """What is counted is written out; the rest is a loop, or may be left out."""
        for _ in range(node.low):
            self.add(node.part)
        if node.high is None:
            self.loop(node)
            return
        splits = []
        for _ in range(node.high - node.low):
            splits.append(self.put(Instruction(Opcode.SPLIT)))
            self.add(node.part)
        for split in splits:
            ways = (split + 1, len(self.code))
            self.go(split, *(reversed(ways) if node.lazy else ways))

    def loop(self, node: Repeat) -> None:
        """Any number of turns. One that took nothing is the last, or there would be no end."""
        split = self.put(Instruction(Opcode.SPLIT))
        note, self.notes = self.notes, self.notes + 1
        self.put(Instruction(Opcode.MARK, number=note))
        self.add(node.part)
        turn = self.put(Instruction(Opcode.TURN, number=note))
        ways = (split + 1, len(self.code))
        self.go(split, *(reversed(ways) if node.lazy else ways))
        self.go(turn, split, len(self.code))


@lru_cache(1)
def _word() -> CharacterClass:
    return CharacterClass(r"[\w]", False)


def beside(letter: str) -> int:
    """What a letter is to the places beside it."""
    return LINE if letter == "\n" else WORD if letter in _word() else OTHER


def lets_through(kind: str, before: int, after: int) -> bool:
    """Whether a place between these two is of a kind."""
    match kind:
        case "^" | "A":
            return before == BEGIN
        case "^m":  # behind a line end, but not at the very end
            return before == BEGIN or (before == LINE and after != END)
        case "$" | "Z":
            return after in (END, LAST_LINE)
        case "$m":
            return after in (END, LAST_LINE, LINE)
        case "z":
            return after == END
        case "b":
            return (before == WORD) != (after == WORD)
    return (before == WORD) == (after == WORD)


def around(text: str, place: int) -> tuple[int, int]:
    """What stands before and after a place of a text."""
    before = beside(text[place - 1]) if place else BEGIN
    if place == len(text):
        return before, END
    last = place == len(text) - 1 and text[place] == "\n"
    return before, LAST_LINE if last else beside(text[place])
