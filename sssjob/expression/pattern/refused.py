"""Regular expressions that are not evaluated, and how messages show them."""

from __future__ import annotations

from sssjob.errors import InvalidValue


class NotAPattern(InvalidValue):
    """A regular expression that cannot be evaluated; ``position`` counts characters from 1."""

    def __init__(self, text: str, position: int, reason: str) -> None:
        super().__init__(text, f"a regular expression that is evaluated here: {reason}")
        self.args = (text, position, reason)
        self.position, self.reason = position, reason

    def __str__(self) -> str:
        return f"{self.reason} at character {self.position} of {shown(self.text)}"


def shown(text: str) -> str:
    """A text for a message, quoted and not too long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")
