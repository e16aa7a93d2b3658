"""Functions of numbers: conversion, rounding, powers, multiples, chance."""

from __future__ import annotations

import math
import random as chance
import re

from sssjob.classads.operators import truth, wrapped
from sssjob.classads.values import ERROR, UNDEFINED, AbsTime, RelTime, missing
from sssjob.integers import LARGEST, SMALLEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sssjob.classads.values import Function, Value

# What C's strtod reads: a hexadecimal number, also with a point and a power of two, one that is
# none or without end, or a decimal one.
_NUMBER = re.compile(
    r"\s*([+-]?)(?:"
    r"(0x(?:[0-9a-f]{1,400}(?:\.[0-9a-f]{0,400})?|\.[0-9a-f]{1,400})(?:p[+-]?[0-9]{1,9})?)"
    r"|(inf|nan)"
    r"|((?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:e[+-]?[0-9]{1,9})?))",
    re.IGNORECASE | re.ASCII,
)
_WHOLE = re.compile(r"0[xX][0-9a-fA-F]+|[0-9]+")


def integer(value: Value) -> Value:
    """The whole part of a number, of the number a text begins with, or of the seconds of a time."""
    if isinstance(value, (bool, int)):
        return int(value)
    if isinstance(value, (AbsTime, RelTime)):
        value = value.seconds
    if isinstance(value, (int, float)):
        return int(value) if -(2**63) <= value < 2**63 else ERROR
    if isinstance(value, str):
        number = leading(value)
        return ERROR if number is None else integer(number)
    return ERROR


def real(value: Value) -> Value:
    """A number, the number a text begins with, or the seconds of a time, as a real."""
    if isinstance(value, (bool, int, float)):
        return float(value)
    if isinstance(value, (AbsTime, RelTime)):
        return float(value.seconds)
    if isinstance(value, str):
        number = leading(value)
        return ERROR if number is None else float(number)
    return ERROR


def leading(text: str) -> int | float | None:
    """The number that a text begins with, as C's ``strtod`` reads it; None if it is none.

    A whole number that 64 bits hold stays one; any other is a real.

    >>> [leading(text) for text in ("12 h", "0x1p3", "-9223372036854775809", "-inf", "h")]
    [12, 8.0, -9.223372036854776e+18, -inf, None]
    """
    found = _NUMBER.match(text)
    if found is None:
        return None
    sign, hexadecimal, odd, decimal = found.groups()
    if not odd and _WHOLE.fullmatch(hexadecimal or decimal):
        whole = int(sign + (hexadecimal or decimal), 16 if hexadecimal else 10)
        if SMALLEST <= whole <= LARGEST:
            return whole
    try:
        return float.fromhex(sign + hexadecimal) if hexadecimal else float(sign + (odd or decimal))
    except OverflowError:  # of fromhex only
        return -math.inf if sign == "-" else math.inf


def _bool(value: Value) -> Value:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower(), UNDEFINED)
    return bool(value.seconds) if isinstance(value, RelTime) else truth(value)


def _rounded(round_: Callable[[float], int]) -> Function:
    def asked(value: Value) -> Value:
        if type(value) is int or isinstance(value, (AbsTime, RelTime)):
            return integer(value)
        number = real(value)
        if not isinstance(number, float) or not -(2**63) <= number < 2**63:
            return ERROR
        return round_(number)

    return asked


def _to_even(number: float) -> int:
    return round(number)


def _pow(base: Value, exponent: Value) -> Value:
    if type(base) is int and type(exponent) is int and exponent >= 0:
        return _whole_power(base, exponent)
    first, second = real(base), real(exponent)
    if not isinstance(first, float) or not isinstance(second, float):
        return ERROR
    if not first and second < 0:
        return math.inf
    try:
        return math.pow(first, second)
    except ValueError:  # the root of a negative number
        return math.nan
    except OverflowError:
        return math.inf


def _whole_power(base: int, exponent: int) -> Value:
    if base in (0, 1, -1) or exponent < 64:  # nothing else fits 64 bits
        found = base ** (exponent if exponent < 64 else 64 + exponent % 2)
        return found if SMALLEST <= found <= LARGEST else ERROR
    return ERROR


def _quantize(value: Value, base: Value) -> Value:
    if isinstance(base, tuple):
        return _next_of(value, base)
    if type(value) is int and type(base) is int:
        return _multiple(value, base)
    have, step = real(value), real(base)
    if not isinstance(have, float) or not isinstance(step, float):
        return ERROR
    if not step:
        return value
    times = have / step
    return (-(-times // 1) if math.isfinite(times) else times) * step  # -0.0 keeps its sign


def _next_of(value: Value, steps: tuple[object, ...]) -> Value:
    """The first of a list that is as large, or a multiple of the last one."""
    have = real(value)
    if not isinstance(have, float):
        return ERROR
    for step in steps:
        size = real(step)  # type: ignore[arg-type]
        if not isinstance(size, float):
            return ERROR
        if size >= have:
            return step  # type: ignore[return-value]
    return _quantize(value, steps[-1]) if steps else value  # type: ignore[arg-type]


def _multiple(value: int, step: int) -> Value:
    if not step:
        return value
    above = wrapped(value + step - 1)
    quotient = abs(above) // abs(step)  # cut off towards zero, as in C
    return wrapped((quotient if (above < 0) == (step < 0) else -quotient) * step)


def _random(bound: Value = 1.0) -> Value:
    if type(bound) is int and bound > 0:
        return chance.randrange(bound)  # noqa: S311 - not for secrets
    if type(bound) is float and 0 < bound < math.inf:
        return chance.random() * bound  # noqa: S311
    return ERROR


# fmt: off
TABLE: dict[str, tuple[int, int, Function]] = {
    "int":      (1, 1, missing(integer)),
    "real":     (1, 1, missing(real)),
    "bool":     (1, 1, missing(_bool)),
    "floor":    (1, 1, _rounded(math.floor)),
    "ceil":     (1, 1, _rounded(math.ceil)),
    "ceiling":  (1, 1, _rounded(math.ceil)),
    "round":    (1, 1, _rounded(_to_even)),
    "pow":      (2, 2, _pow),
    "quantize": (2, 2, _quantize),
    "random":   (0, 1, _random),
}
# fmt: on
