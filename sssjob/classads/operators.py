"""What the operators of ClassAds give: ERROR for wrong kinds, UNDEFINED for what is missing."""

from __future__ import annotations

import math
import operator

from sssjob.classads.values import ERROR, UNDEFINED, AbsTime, Ad, RelTime, Special

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from sssjob.classads.values import Attribute, Value

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def truth(value: Attribute) -> bool | Special:
    """A value as && and ?: take it: numbers other than 0 are true, text is an error."""
    if isinstance(value, (bool, int, float)):
        return bool(value)
    return UNDEFINED if value is UNDEFINED else ERROR


def holds(value: Attribute) -> bool:
    """Whether Requirements that come to a value are met: numbers and spans other than 0 are.

    >>> [holds(each) for each in (True, 0.5, RelTime(5), 0, "true", UNDEFINED)]
    [True, True, True, False, False, False]
    """
    return bool(value.seconds) if isinstance(value, RelTime) else truth(value) is True


def unary(op: str, value: Value) -> Value:
    """The value of ``op value``."""
    if value is UNDEFINED or value is ERROR:
        return value
    if op == "!":
        found = truth(value)
        return found if isinstance(found, Special) else not found
    if isinstance(value, bool):
        return ERROR
    if isinstance(value, int):
        return value if op == "+" else wrapped(-value if op == "-" else ~value)
    if isinstance(value, float) and op != "~":
        return -value if op == "-" else value
    if isinstance(value, RelTime) and op != "~":
        return RelTime(-value.seconds) if op == "-" else value
    return ERROR


def binary(op: str, left: Value, right: Value) -> Value:
    """The value of ``left op right``, && and || apart: they may not need their right side."""
    if op in ("is", "isnt"):
        same = identical(left, right)
        return same if isinstance(same, Special) else same is (op == "is")
    if left is ERROR or right is ERROR:
        return ERROR
    if left is UNDEFINED or right is UNDEFINED:
        return UNDEFINED
    if op in _COMPARISONS:
        return compared(op, left, right)
    if isinstance(left, (bool, int, float)) and isinstance(right, (bool, int, float)):
        return _calculated(op, left, right)
    return _timed(op, left, right)


def identical(left: Value, right: Value) -> bool | Special:
    """Whether two values are of one type and the same; two lists and two ads cannot be asked."""
    if any(isinstance(left, kind) and isinstance(right, kind) for kind in (tuple, Ad)):
        return ERROR
    if isinstance(left, AbsTime) and isinstance(right, AbsTime) and left.offset != right.offset:
        return False
    return type(left) is type(right) and left == right


def compared(op: str, left: Value, right: Value) -> bool | Special:
    """Numbers and truth values with each other, texts without regard to case, times."""
    ask = _COMPARISONS[op]
    if isinstance(left, str) and isinstance(right, str):
        return ask(folded(left), folded(right))
    if isinstance(left, (bool, int, float)) and isinstance(right, (bool, int, float)):
        if isinstance(left, float) or isinstance(right, float):
            return ask(float(left), float(right))
        return ask(left, right)
    if isinstance(left, AbsTime) and isinstance(right, AbsTime):
        return ask(left.seconds, right.seconds)
    if isinstance(left, RelTime) and isinstance(right, RelTime):
        return ask(left.seconds, right.seconds)
    return ERROR


def folded(text: str) -> bytes:
    """A text for comparing: ASCII letters are small ones, all else is as it is."""
    return text.encode("utf-8", "surrogatepass").lower()


def wrapped(number: int) -> int:
    """A number in the 64 bits that HTCondor computes with."""
    return (number + 2**63) % 2**64 - 2**63


def short(number: int) -> int:
    """A number in the 32 bits that HTCondor has for places in lists and texts. # decision 771"""
    return (number + 2**31) % 2**32 - 2**31


def _calculated(op: str, left: bool | int | float, right: bool | int | float) -> Value:
    if op in "+-*/":
        if isinstance(left, float) or isinstance(right, float):
            return _real(op, float(left), float(right))
        if op == "/":
            return wrapped(_divided(left, right)) if right else ERROR
        whole = left + right if op == "+" else left - right if op == "-" else left * right
        return wrapped(whole)
    if op == "%" and not isinstance(left, float) and not isinstance(right, float):
        return left - right * _divided(left, right) if right else ERROR
    if type(left) is not int or type(right) is not int:
        return ERROR
    match op:
        case "&":
            return left & right
        case "|":
            return left | right
        case "^":
            return left ^ right
        case "<<":
            return wrapped(left << (right & 63))
        case ">>":
            # What is below 0 fills up with its sign, and is not shifted by less than nothing.
            return left >> (min(max(right, 0), 63) if left < 0 else right & 63)
    by = right & 63
    if left < 0 and not by:
        return 0  # the library shifts its mask by all 64 bits, which leaves nothing
    return wrapped((left % 2**64) >> by)


def _divided(left: int, right: int) -> int:
    """Cut off towards zero, as in C."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _real(op: str, left: float, right: float) -> Value:
    if op == "/":
        return bounded(left / right if right else _by_zero(left, right))
    return bounded(left + right if op == "+" else left - right if op == "-" else left * right)


def _by_zero(left: float, zero: float) -> float:
    """A real divided by 0.0 or -0.0, as processors do it."""
    if not left or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1, zero)


def bounded(number: float) -> float | Special:
    """What was calculated: beyond the largest real it is an error, as in HTCondor.

    Below the smallest one it is minus infinity there, and 0.0 / 0 is no number (decision 635).
    """
    return ERROR if number == math.inf else number


def _timed(op: str, left: Value, right: Value) -> Value:
    match left, right:
        case AbsTime(), AbsTime() if op == "-":
            return RelTime(left.seconds - right.seconds)
        case AbsTime(), RelTime() if op in "+-":
            span = int(right.seconds)
            return AbsTime(left.seconds + (span if op == "+" else -span), left.offset)
        case RelTime(), AbsTime() if op == "+":
            return AbsTime(right.seconds + int(left.seconds), right.offset)
        case RelTime(), RelTime() if op in "+-":
            return RelTime(left.seconds + (right.seconds if op == "+" else -right.seconds))
        case RelTime(), int() | float() if op in "*/" and not isinstance(right, bool):
            if op == "/" and not right:
                return ERROR
            return RelTime(left.seconds * right if op == "*" else left.seconds / right)
        case int() | float(), RelTime() if op == "*" and not isinstance(left, bool):
            return RelTime(left * right.seconds)
    return ERROR
