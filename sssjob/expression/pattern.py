"""Match and Pattern: expressions of strangers, anchored at both ends and stopped in time.

>>> Pattern("node[1-5]").matches("node12")
False
>>> Pattern("node[1-5]", "search").matches("node12")
True
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from sssjob.errors import LimitExceeded
from sssjob.expression.perl import NotAPattern, shown, translate

if TYPE_CHECKING:
    import regex

__all__ = ["MATCHES", "Matching", "NotAPattern", "Pattern"]

# full: the expression is the whole text (decision: what a request for nodes means); search: it is
# somewhere in the text, as in Perl; glob: * and ? stand for any text and any character, as in Gold.
Matching: TypeAlias = Literal["full", "search", "glob"]
MATCHES: tuple[Matching, ...] = get_args(Matching)

SECONDS = 0.1  # for one text
_QUICK = 0.001
_BUDGET = 2.0  # for all texts that were not matched quickly


class Pattern:
    """A regular expression (Perl 5) that is asked about texts.

    Raises ``NotAPattern`` for what cannot be evaluated. One that ran out of time once is not
    tried again; ``stopped`` says so.
    """

    def __init__(self, text: str, match: Matching = "full") -> None:
        self.text, self.match = text, match
        self._search = match == "search"
        self._spent = 0.0
        self.stopped: LimitExceeded | None = None
        self._compiled = _compiled(text, match)

    def matches(self, text: str) -> bool:
        """Whether it matches a text. Raises ``LimitExceeded`` if that takes too long."""
        if self.stopped is not None:
            raise self.stopped
        ask = self._compiled.search if self._search else self._compiled.fullmatch
        began = perf_counter()
        try:
            return ask(text, timeout=SECONDS) is not None
        except TimeoutError:
            what = f"milliseconds to match {shown(self.text)} with {shown(text)}"
            self.stopped = LimitExceeded(what, int(SECONDS * 1000))
            raise self.stopped from None
        finally:
            taken = perf_counter() - began
            if taken > _QUICK:
                self._spent += taken
                if self._spent > _BUDGET and self.stopped is None:
                    self.stopped = LimitExceeded(
                        f"seconds to match {shown(self.text)}", int(_BUDGET)
                    )


def _compiled(text: str, match: Matching) -> regex.Pattern[str]:
    import regex  # slow to import, and most requests have no pattern

    if match == "glob":
        parts = {"*": ".*", "?": "."}
        source = "(?s)" + "".join(parts.get(letter) or regex.escape(letter) for letter in text)
    else:
        source = translate(text)
    try:
        # Version 1 scopes (?i) as Perl does, and folds case fully, as Perl does.
        return regex.compile(source, regex.VERSION1)
    except regex.error as error:
        raise NotAPattern(text, 1, f"what the engine refuses ({error}) somewhere") from None
