"""The tokens of XPath 1.0 (XPath 3.7), each with its place in the expression."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sssjob.errors import NotAQuery
from sssjob.legality import ILLEGAL, no_letter

MAX_LENGTH = 10_000  # characters; a program that writes longer ones means a list, not a question

NAME, NUMBER, LITERAL, VARIABLE, SIGN, END = "name", "number", "literal", "variable", "sign", "end"


class Token(NamedTuple):
    """A token: what kind, its text as written, and where it starts.

    A name is ``Job``, ``s:Job`` or ``s:*``. Whether ``div`` or ``*`` is an operator depends on
    what stands before it, which the parser knows.
    """

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """The place behind the last character."""
        return self.start + len(self.text)


_NC_NAME = r"[^\W\d][\w.\-\u00b7]*"
# fmt: off
_TOKEN = re.compile("|".join((
    rf"(?P<{NAME}>{_NC_NAME}(?::(?!:)(?:{_NC_NAME}|\*))?)",
    rf"(?P<{NUMBER}>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)",
    rf"(?P<{LITERAL}>\"[^\"]*\"|'[^']*')",
    rf"(?P<{VARIABLE}>\${_NC_NAME}(?::{_NC_NAME})?)",
    rf"(?P<{SIGN}>//|::|\.\.|!=|<=|>=|[()\[\].@,/|+\-=<>*])",
)))
# fmt: on
_SPACE = re.compile(r"[ \t\r\n]*")


def tokens(expression: str) -> Iterator[Token]:
    """The tokens of an expression, and an END behind the last. Raises ``NotAQuery``."""
    if len(expression) > MAX_LENGTH:
        raise NotAQuery(
            expression, MAX_LENGTH,
            f"an expression of {len(expression)} characters", f"at most {MAX_LENGTH}",
        )  # fmt: skip
    if unfit := ILLEGAL.search(expression):
        raise NotAQuery(expression, unfit.start(), no_letter(unfit))
    at = _end_of_space(expression, 0)
    while at < len(expression):
        found = _TOKEN.match(expression, at)
        if found is None:
            raise _strange(expression, at)
        assert found.lastgroup is not None
        yield Token(found.lastgroup, found.group(), at)
        at = _end_of_space(expression, found.end())
    yield Token(END, "", len(expression))


def _end_of_space(expression: str, at: int) -> int:
    found = _SPACE.match(expression, at)
    return found.end() if found else at


def _strange(expression: str, at: int) -> NotAQuery:
    letter = expression[at]
    if letter in "\"'":
        return NotAQuery(expression, len(expression), "a literal without an end", letter)
    if letter == "$":
        return NotAQuery(expression, at, "$ without a name", "the name of a variable")
    return NotAQuery(expression, at, f"{letter!r} has no meaning in XPath 1.0")
