"""Regular expressions in time that grows with the text, whatever the expression is.

Strategy. All ways through the instructions are followed at once: behind each letter stands the
set of instructions at which a match may be, and whether the text matches is known at its end
(Thompson 1968). What a set and a letter lead to is remembered, so most letters cost one look into a
table. There is no way back, so no expression takes longer than its size for each letter; a
text that is too long for that is refused before anything is matched, so the answer does not
depend on what was remembered, or on a clock.

Whether an instruction that asks for a place (``^``, ``$``, ``\\b``) lets through depends on the
letters on both sides, so sets are completed when the next letter is known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sssjob.errors import LimitExceeded
from sssjob.expression.pattern.program import (
    BEGIN,
    END,
    LAST_LINE,
    Instruction,
    Opcode,
    PatternProgram,
    beside,
    lets_through,
)

STEPS = 2_000_000  # instructions of the expression, times letters of the text

_REMEMBERED = 200_000  # instructions in all sets, and letters that lead on
_LAST_LINE_END = "\n$"  # the letter at the end of the last line, which ``$`` tells from others


@dataclass(slots=True, eq=False)
class _AutomatonState:
    """Where matches may be, the letter before, what letters lead to, and whether this is an end."""

    at: frozenset[int]
    before: int
    next: dict[str, _AutomatonState] = field(default_factory=dict)
    ends: bool | None = None


class Automaton:
    """An expression that is regular, asked whether it matches whole texts or parts of them."""

    def __init__(self, program: PatternProgram, search: bool) -> None:
        self.code, self.search = program.code, search
        self.longest = STEPS // len(program.code)  # letters
        self.has_places = program.has_places
        self.found, self.lost = (
            _AutomatonState(frozenset(), BEGIN),
            _AutomatonState(frozenset(), BEGIN),
        )
        self.forget()

    def forget(self) -> None:
        """Begin to remember anew."""
        self.size = 0
        self.states: dict[tuple[frozenset[int], int], _AutomatonState] = {}
        self.start = self.state((0,), BEGIN)

    def matches(self, text: str) -> bool:
        """Whether a text matches. Raises ``LimitExceeded`` for one that is too long."""
        if len(text) > self.longest:
            raise LimitExceeded("steps", STEPS)
        if self.size > _REMEMBERED:
            self.forget()
        state, found, lost = self.start, self.found, self.lost
        for letter in _letters(text) if "\n" in text else text:
            following = state.next.get(letter)
            if following is None:
                following = self.step(state, letter)
            if following is found or following is lost:
                return following is found
            state = following
        if state.ends is None:
            state.ends = self.matched(self.reached(state, END))
        return state.ends

    def matched(self, reached: Iterable[int]) -> bool:
        """Whether one of these instructions is the end."""
        return any(self.code[at].op is Opcode.MATCH for at in reached)

    def step(self, state: _AutomatonState, letter: str) -> _AutomatonState:
        """The state behind one more letter."""
        kind = beside(letter[0]) if self.has_places else BEGIN
        after = LAST_LINE if letter == _LAST_LINE_END else kind
        reached = self.reached(state, after)
        if self.search and self.matched(reached):
            following = self.found
        else:
            on = {to for at in reached for to in _taken(self.code[at], at, letter[0])}
            following = self.state((*on, 0) if self.search else on, kind)
        state.next[letter] = following
        self.size += 1
        return following

    def state(self, at: Iterable[int], before: int) -> _AutomatonState:
        """The one state of these instructions."""
        key = frozenset(at), before
        if not key[0]:
            return self.lost
        known = self.states.get(key)
        if known is None:
            known = self.states[key] = _AutomatonState(*key)
            self.size += len(key[0])
        return known

    def reached(self, state: _AutomatonState, after: int) -> set[int]:
        """The instructions that a match may be at before it takes the next letter."""
        seen: set[int] = set()
        pending = list(state.at)
        while pending:
            at = pending.pop()
            if at in seen:
                continue
            seen.add(at)
            instruction = self.code[at]
            match instruction.op:
                case Opcode.SPLIT | Opcode.TURN:
                    pending += instruction.to
                case Opcode.SAVE | Opcode.MARK:
                    pending.append(at + 1)
                case Opcode.PLACE if lets_through(instruction.letter, state.before, after):
                    pending.append(at + 1)
        return seen


def _letters(text: str) -> Iterable[str]:
    return (*text[:-1], _LAST_LINE_END) if text.endswith("\n") else text


def _taken(instruction: Instruction, at: int, letter: str) -> tuple[int, ...]:
    """Where an instruction goes on that takes this letter."""
    match instruction.op:
        case Opcode.LETTER if instruction.letter == letter:
            return (at + 1,)
        case Opcode.CLASS if instruction.members is not None and letter in instruction.members:
            return (at + 1,)
        case Opcode.FOLD:
            folded = letter.casefold()
            if instruction.letter.startswith(folded, instruction.number):
                return (at + len(folded),)
    return ()
