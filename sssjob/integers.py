"""The whole numbers of 64 bits: what columns, attributes, records and their readers can hold.

A payload imports this module: it imports nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fractions import Fraction

LARGEST = 2**63 - 1
SMALLEST = -LARGEST - 1
DIGITS = 18  # so many always fit


def whole(text: str, digits: int = DIGITS) -> int | None:
    """The whole number of a text of so many ASCII digits at most; None for any other text.

    ``str.isdigit`` alone is true of ``²``, which is no number, and Python reads none of more than
    4300 digits: where a text comes from outside, ask this.

    >>> whole("016"), whole("²"), whole(""), whole("-1"), whole("9" * 19), whole("123", 2)
    (16, None, None, None, None, None)
    """
    is_one = len(text) <= digits and text.isascii() and text.isdigit()
    return int(text) if is_one else None


# decision 335
def limit_seconds(value: Fraction | float) -> int:
    """A limit of time in whole seconds, a part of a second rounded up, whoever reads the limit.

    >>> limit_seconds(90.5), limit_seconds(0.1), limit_seconds(90)
    (91, 1, 90)
    """
    return -int(-value // 1)
