"""Regular expressions with references, look-around and atomic groups, as Perl matches them.

Strategy. What a group matched may be asked for again, so ways through an expression cannot be
followed all at once: one is followed to its end, and where it fails the last choice is made
otherwise. There may be more ways than letters in the universe, so steps are counted. That number
depends on the expression and the text alone, so both are answered, or given up, alike everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from sssjob.errors import LimitExceeded
from sssjob.expression.pattern.program import (
    Instruction,
    Opcode,
    PatternProgram,
    around,
    lets_through,
)

STEPS = 200_000  # for one text

# Where a match is in the instructions and in the text, and the places that it noted.
_Way: TypeAlias = tuple[int, int, tuple[int, ...]]
_NOWHERE = -1


class Backtracking:
    """An expression, asked whether it matches whole texts or parts of them."""

    def __init__(self, program: PatternProgram, search: bool) -> None:
        self.program, self.search = program, search

    def matches(self, text: str) -> bool:
        """Whether a text matches. Raises ``LimitExceeded`` if that takes too many steps."""
        run = _MatchAttempt(text)
        notes = (_NOWHERE,) * self.program.notes
        if not self.search:
            return run.match(self.program, 0, notes, lambda end, _: end == len(text)) is not None
        return any(
            run.match(self.program, start, notes, _anywhere) is not None
            for start in range(len(text) + 1)
        )

    def finder(self, text: str) -> Callable[[int, bool], tuple[int, ...] | None]:
        """What gives the notes of the first match from a place on, or else of one just there.

        Notes 0 and 1 are where it began and ended. One just there is none of nothing. The steps of
        all that is asked count together.
        """
        run = _MatchAttempt(text)
        nothing = (_NOWHERE,) * self.program.notes

        def found(start: int, is_there: bool) -> tuple[int, ...] | None:
            def takes_some(end: int, notes: tuple[int, ...]) -> bool:
                return not start == end == notes[0]

            starts = (start,) if is_there else range(start, len(text) + 1)
            ends = takes_some if is_there else _anywhere
            ways = (run.match(self.program, each, nothing, ends) for each in starts)
            return next((way[2] for way in ways if way is not None), None)

        return found


def _anywhere(end: int, notes: tuple[int, ...]) -> bool:
    return True


class _MatchAttempt:
    """One text, and the steps that were made in it."""

    def __init__(self, text: str) -> None:
        self.text, self.steps = text, 0

    def match(
        self,
        program: PatternProgram,
        start: int,
        notes: tuple[int, ...],
        ends: Callable[[int, tuple[int, ...]], bool],
    ) -> _Way | None:
        """The first match from a place on that ends where it may."""
        code = program.code
        ways: list[_Way] = [(0, start, notes)]
        while ways:
            at, place, notes = ways.pop()
            while at != _NOWHERE:
                self.steps += 1
                if self.steps > STEPS:
                    raise LimitExceeded("steps", STEPS)
                instruction = code[at]
                match instruction.op:
                    case Opcode.MATCH:
                        if ends(place, notes):
                            return at, place, notes
                        break
                    case Opcode.SPLIT:
                        at, *others = instruction.to
                        ways += [(other, place, notes) for other in reversed(others)]
                    case Opcode.TURN:
                        again, behind = instruction.to
                        at = again if notes[instruction.number] != place else behind
                    case _:
                        at, place, notes = self.step(instruction, at, place, notes)
        return None

    def step(self, asked: Instruction, at: int, place: int, notes: tuple[int, ...]) -> _Way:
        """What one instruction leads to; nowhere if it fails."""
        text = self.text
        match asked.op:
            case Opcode.SAVE | Opcode.MARK:
                return at + 1, place, (*notes[: asked.number], place, *notes[asked.number + 1 :])
            case Opcode.PLACE:
                passes = lets_through(asked.letter, *around(text, place))
                return at + 1 if passes else _NOWHERE, place, notes
            case Opcode.BACK:
                return self.back(asked, at, place, notes)
            case Opcode.LOOK:
                return self.look(asked, at, place, notes)
            case Opcode.ATOMIC:
                assert asked.part is not None
                found = self.match(asked.part, place, notes, _anywhere)
                return (_NOWHERE, place, notes) if found is None else (at + 1, *found[1:])
        if place == len(text):
            return _NOWHERE, place, notes
        letter = text[place]
        if asked.op is Opcode.FOLD:
            folded = letter.casefold()
            passes = asked.letter.startswith(folded, asked.number)
            return at + len(folded) if passes else _NOWHERE, place + 1, notes
        passes = letter == asked.letter if asked.members is None else letter in asked.members
        return at + 1 if passes else _NOWHERE, place + 1, notes

    def back(self, asked: Instruction, at: int, place: int, notes: tuple[int, ...]) -> _Way:
        """What a group matched, once more; a group that matched nothing yet fails."""
        start, end = notes[asked.number : asked.number + 2]
        if _NOWHERE in (start, end):
            return _NOWHERE, place, notes
        want = self.text[start:end]
        if not asked.flag:
            passes = self.text.startswith(want, place)
            return at + 1 if passes else _NOWHERE, place + len(want), notes
        want, have = want.casefold(), ""
        while len(have) < len(want) and place < len(self.text):
            have += self.text[place].casefold()
            place += 1
        return at + 1 if have == want else _NOWHERE, place, notes

    def look(self, asked: Instruction, at: int, place: int, notes: tuple[int, ...]) -> _Way:
        """Whether a part matches from this place on, or from one before it up to here."""
        assert asked.part is not None
        found = None
        if asked.behind:
            for start in range(place, -1, -1):
                found = self.match(asked.part, start, notes, lambda end, _: end == place)
                if found is not None:
                    break
        else:
            found = self.match(asked.part, place, notes, _anywhere)
        if asked.flag:
            return at + 1 if found is None else _NOWHERE, place, notes
        return (_NOWHERE, place, notes) if found is None else (at + 1, place, found[2])
