"""An expression that cannot be understood, shown with a caret under the place."""

from __future__ import annotations

from sssjob.errors import SSSJobError

_WIDTH = 72  # characters of the expression that are shown around the place


class NotAQuery(SSSJobError, ValueError):
    """An expression that is not XPath 1.0, or that asks for what is not offered here.

    ``position`` counts characters from 0; ``expected`` may be empty.
    """

    def __init__(self, expression: str, position: int, message: str, expected: str = "") -> None:
        super().__init__(expression, position, message, expected)
        self.expression = expression
        self.position = position
        self.message = message
        self.expected = expected

    def __str__(self) -> str:
        said = f"{self.message}; expected {self.expected}" if self.expected else self.message
        return f"{said}\n{picture(self.expression, self.position)}"


def picture(expression: str, position: int) -> str:
    """The line of the expression that holds the position, and a caret under it.

    >>> print(picture("//Job[", 6))
        //Job[
              ^
    """
    start = expression.rfind("\n", 0, position) + 1
    end = expression.find("\n", position)
    line = expression[start : end if end >= 0 else len(expression)]
    at = position - start
    cut = max(0, at - _WIDTH + 12) if len(line) > _WIDTH else 0
    shown = "".join(letter if letter.isprintable() else " " for letter in line[cut : cut + _WIDTH])
    return f"    {shown}\n    {' ' * (at - cut)}^"
