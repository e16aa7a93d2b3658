"""Match and Pattern: regular expressions of strangers, anchored at both ends, in bounded steps.

>>> Pattern("node[1-5]").matches("node12")
False
>>> Pattern("node[1-5]", "search").matches("node12")
True

``perl`` reads an expression into the nodes of ``syntax``, ``program`` makes steps of these, and
``engines`` chooses what runs them. An ``automaton`` runs all that is regular in linear time;
references, look-around and atomic groups need ``backtracking``, which counts its steps. So the same
pattern and the same text have the same answer everywhere, or are given up everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

from sssjob.errors import InvalidValue, LimitExceeded, quoted

__all__ = ["Matching", "NotAPattern", "Pattern", "Span", "Spans", "finder"]

# full: the expression is the whole text (decision: what a request for nodes means); search: it is
# somewhere in the text, as in Perl; glob: * and ? stand for any text and any character, as in Gold.
Matching: TypeAlias = Literal["full", "search", "glob"]
# Where a group began and ended, None if it matched nothing.
Span: TypeAlias = "tuple[int, int] | None"
Spans: TypeAlias = "tuple[Span, ...]"

_GIVEN_UP = 4096  # texts of one pattern


class NotAPattern(InvalidValue):
    """A regular expression that cannot be evaluated; ``position`` counts characters from 1."""

    def __init__(self, text: str, position: int, reason: str) -> None:
        super().__init__(text, f"a regular expression that is evaluated here: {reason}")
        self.args = (text, position, reason)
        self.position, self.reason = position, reason

    def __str__(self) -> str:
        return f"{self.reason} at character {self.position} of {quoted(self.text)}"


class Pattern:
    """A regular expression (Perl 5) that is asked about texts.

    Raises ``NotAPattern`` for what cannot be evaluated, and ``LimitExceeded`` for what is too
    large. ``stopped`` is the first text that was given up, if there is one.
    """

    def __init__(self, text: str, match: Matching = "full") -> None:
        self.text, self.match = text, match
        self.stopped: LimitExceeded | None = None
        self._given_up: dict[str, LimitExceeded] = {}
        # Most requests have no pattern: what runs them is imported with the first.
        from sssjob.expression.pattern.engines import engine

        self._engine = engine(text, match)

    def matches(self, text: str) -> bool:
        """Whether it matches a text. Raises ``LimitExceeded`` if that takes too many steps."""
        if text in self._given_up:
            raise self._given_up[text]
        try:
            return self._engine.matches(text)
        except LimitExceeded as error:
            what = f"{error.what} to match {quoted(self.text)} with {quoted(text)}"
            stopped = LimitExceeded(what, error.limit)
            self.stopped = self.stopped or stopped
            if len(self._given_up) < _GIVEN_UP:
                self._given_up[text] = stopped
            raise stopped from None

    def given_up(self, texts: Iterable[str]) -> LimitExceeded | None:
        """Why the first of some texts that takes too many steps was given up."""
        return next((self._given_up[text] for text in texts if text in self._given_up), None)


def finder(pattern: str, text: str) -> Callable[[int, bool], Spans | None]:
    """What finds an expression in a text from a place on: the whole match, then its groups.

    With True it is a match just there, of at least one character. Raises ``NotAPattern``; what is
    given raises ``LimitExceeded`` if all that it is asked takes too many steps.

    >>> found = finder("(a)|b|", "ab")
    >>> found(0, False), found(1, False), found(2, False), found(2, True)
    (((0, 1), (0, 1)), ((1, 2), None), ((2, 2), None), None)
    """
    from sssjob.expression.pattern.engines import noting

    engine, groups = noting(pattern)
    found = engine.finder(text)

    def spans(start: int, is_there: bool) -> Spans | None:
        notes = found(start, is_there)
        if notes is None:
            return None
        ends = [notes[2 * each : 2 * each + 2] for each in range(groups)]
        return tuple(None if min(start, end) < 0 else (start, end) for start, end in ends)

    return spans
