"""Match and Pattern: regular expressions of strangers, anchored at both ends, in bounded steps.

>>> Pattern("node[1-5]").matches("node12")
False
>>> Pattern("node[1-5]", "search").matches("node12")
True

``perl`` reads an expression into the nodes of ``syntax``, and ``program`` makes steps of these. An
``automaton`` runs all that is regular in linear time; references, look-around and atomic groups
need ``backtracking``, which counts its steps. So the same pattern and the same text have the same
answer everywhere, or are given up everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal, TypeAlias

from sssjob.errors import LimitExceeded
from sssjob.expression.pattern.automaton import Automaton
from sssjob.expression.pattern.backtracking import Backtracking
from sssjob.expression.pattern.perl import NotAPattern, read, shown
from sssjob.expression.pattern.program import group_count, program
from sssjob.expression.pattern.syntax import Char, Group, Node, OneOf, Repeat, Seq

__all__ = ["Matching", "NotAPattern", "Pattern", "Span", "occurrences"]

# full: the expression is the whole text (decision: what a request for nodes means); search: it is
# somewhere in the text, as in Perl; glob: * and ? stand for any text and any character, as in Gold.
Matching: TypeAlias = Literal["full", "search", "glob"]
# Where a group began and ended, None if it matched nothing.
Span: TypeAlias = "tuple[int, int] | None"

_REMEMBERED = 256  # patterns
_GIVEN_UP = 4096  # texts of one pattern


class Pattern:
    """A regular expression (Perl 5) that is asked about texts.

    Raises ``NotAPattern`` for what cannot be evaluated, and ``LimitExceeded`` for what is too
    large. ``stopped`` is the first text that was given up, if there is one.
    """

    def __init__(self, text: str, match: Matching = "full") -> None:
        self.text, self.match = text, match
        self.stopped: LimitExceeded | None = None
        self._given_up: dict[str, LimitExceeded] = {}
        self._engine = _engine(text, match)

    def matches(self, text: str) -> bool:
        """Whether it matches a text. Raises ``LimitExceeded`` if that takes too many steps."""
        if text in self._given_up:
            raise self._given_up[text]
        try:
            return self._engine.matches(text)
        except LimitExceeded as error:
            what = f"{error.what} to match {shown(self.text)} with {shown(text)}"
            stopped = LimitExceeded(what, error.limit)
            self.stopped = self.stopped or stopped
            if len(self._given_up) < _GIVEN_UP:
                self._given_up[text] = stopped
            raise stopped from None

    def given_up(self, texts: Iterable[str]) -> LimitExceeded | None:
        """Why the first of some texts that takes too many steps was given up."""
        return next((self._given_up[text] for text in texts if text in self._given_up), None)


def occurrences(pattern: str, text: str) -> Iterator[tuple[Span, ...]]:
    """Where an expression is in a text, time and again: the whole match, then each of its groups.

    Raises ``NotAPattern``, and ``LimitExceeded`` if all of them take too many steps.

    >>> list(occurrences("(a)|b", "ab"))
    [((0, 1), (0, 1)), ((1, 2), None)]
    """
    engine, groups = _noting(pattern)
    for notes in engine.occurrences(text):
        ends = [notes[2 * each : 2 * each + 2] for each in range(groups)]
        yield tuple(None if min(start, end) < 0 else (start, end) for start, end in ends)


@lru_cache(_REMEMBERED)
def _noting(text: str) -> tuple[Backtracking, int]:
    made = program(Group(0, read(text)), every_group=True)
    return Backtracking(made, True), group_count(made)


@lru_cache(_REMEMBERED)
def _engine(text: str, match: Matching) -> Automaton | Backtracking:
    made = program(_glob(text) if match == "glob" else read(text))
    return (Automaton if made.is_regular else Backtracking)(made, match == "search")


def _glob(text: str) -> Node:
    any_ = OneOf(r"[\s\S]")
    signs: dict[str, Node] = {"*": Repeat(any_, 0, None), "?": any_}
    return Seq(tuple(signs.get(letter) or Char(letter) for letter in text))
