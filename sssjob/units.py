"""Text to exact values and back: the data types of SSS 2.2 and the units of Appendix A.

Amounts are exact rationals (``fractions.Fraction``), times are seconds since
1970-01-01T00:00:00Z, durations are seconds. Every reader raises ``InvalidValue``.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from math import inf, isfinite

from sssjob.errors import InvalidValue

# Appendix A: "Kilobyte 2^10 bytes" and so on, to the Nonabyte and the Doggabyte.
_ABBREVIATIONS = ("B", "KB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB", "NB", "DB")
UNITS: dict[str, int] = {unit: 1 << (10 * step) for step, unit in enumerate(_ABBREVIATIONS)}

_PRINTED = ("TB", "GB", "MB", "KB")

# The text implies a default unit and never names it; its examples (1024, 512, 975) can only
# be megabytes. Decision 3.
DEFAULT_UNITS = {"Memory": "MB", "Swap": "MB", "Disk": "MB"}

TIME_LIMIT = 0xFFFF_FFFF  # "a 32-bit unsigned long in GMT seconds since the EPOCH", SSS 2.2

YEAR_9999 = 253_402_300_799  # its last second; a calendar ends there
INTEGER_DIGITS = 4000
_INTEGER = re.compile(rf"[+-]?[0-9]{{1,{INTEGER_DIGITS}}}")
DIGITS = 400  # of a number before, and behind, its point
_BEYOND: int = 10**DIGITS
_FLOAT = re.compile(
    rf"[+-]?(?:[0-9]{{1,{DIGITS}}}(?:\.[0-9]{{0,{DIGITS}}})?|\.[0-9]{{1,{DIGITS}}})"
    r"(?:[eE][+-]?[0-9]{1,3})?"
)
_WITH_UNIT = re.compile(rf"({_FLOAT.pattern})[ \t\r\n]{{0,400}}([A-Za-z]{{1,400}})")
_CLOCK = re.compile(r"(?:([0-9]{1,6})-)?([0-9]{1,6}):([0-5]?[0-9]):([0-5]?[0-9])")
_BOOLEANS = {"true": True, "false": False, "True": True, "False": False, "1": True, "0": False}
_LOOSE_UNIT = re.compile("([kmgtpezy])?i?b?", re.IGNORECASE)
XML_SPACE = " \t\r\n"  # a no-break space is none


def integer(text: str) -> int:
    """Read an xsd:integer.

    >>> integer(" +16 ")
    16
    """
    stripped = text.strip(XML_SPACE)
    if not _INTEGER.fullmatch(stripped):
        raise InvalidValue(text, "an integer such as 16")
    return int(stripped)


def number(text: str) -> Fraction:
    """Read a decimal number exactly, exponents included; NaN and INF are no amounts.

    >>> number("1.89")
    Fraction(189, 100)
    """
    stripped = text.strip(XML_SPACE)
    if stripped.isascii() and stripped.isdigit() and len(stripped) <= DIGITS:
        return Fraction(int(stripped))
    if not _FLOAT.fullmatch(stripped):
        raise InvalidValue(text, "a number such as 1.89")
    return Fraction(stripped)


def boolean(text: str) -> bool:
    """Read ``true`` or ``false``; ``True``, ``False``, ``1`` and ``0`` are read too."""
    try:
        return _BOOLEANS[text.strip(XML_SPACE)]
    except KeyError:
        raise InvalidValue(text, "true or false") from None


def duration(text: str) -> int:
    """Read whole seconds; ``[days-]hours:minutes:seconds`` is read too.

    >>> duration("1-02:24:13")
    95053
    """
    stripped = text.strip(XML_SPACE)
    if clock := _CLOCK.fullmatch(stripped):
        days, hours, minutes, seconds = (int(part or 0) for part in clock.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if not _INTEGER.fullmatch(stripped) or (value := int(stripped)) < 0:
        raise InvalidValue(text, "a duration in whole seconds such as 3600")
    return value


def time(text: str) -> int:
    """Read seconds since the epoch; ISO 8601 with a zone is read too.

    >>> time("1051557713") == time("2003-04-28T19:21:53Z")
    True
    """
    stripped = text.strip(XML_SPACE)
    if _INTEGER.fullmatch(stripped):
        if (value := int(stripped)) < 0:
            raise InvalidValue(text, "a time since the epoch, which is not negative")
        return value
    try:
        moment = datetime.fromisoformat(stripped)
    except ValueError:
        moment = None
    # "1969-12-31" comes before the epoch, too, and has no number.
    if moment is None or moment.tzinfo is None or moment.timestamp() < 0:
        raise InvalidValue(text, "seconds since the epoch such as 1051557713")
    return int(moment.timestamp())


def iso(seconds: int) -> str:
    """A time as people read it; the number itself beyond the year 9999.

    >>> iso(1051557713)
    '2003-04-28T19:21:53Z'
    """
    if not 0 <= seconds <= YEAR_9999:
        return str(seconds)
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def clock(seconds: int, *, days: bool = True, digits: int = 2) -> str:
    """A duration as people read it; without ``days`` hours go on, in at least so many digits.

    >>> clock(95053), clock(95053, days=False), clock(245, days=False, digits=1)
    ('1-02:24:13', '26:24:13', '0:04:05')
    """
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    day, hour = divmod(hours, 24) if days else (0, hours)
    return f"{day}-" * bool(day) + f"{hour:0{digits}}:{minute:02}:{second:02}"


def seconds_between(start: int, end: int, suspended: int) -> int | None:
    """How long a job ran from its start to its end, in seconds, without what it was suspended.

    None where that is less than nothing: one of the three is wrong.
    """
    found = end - start - suspended
    return found if found >= 0 else None


def unit(text: str) -> str:
    """The abbreviation of Appendix A that is meant; ``kb``, ``GiB`` and ``M`` are read, too.

    >>> unit("GiB")
    'GB'
    """
    stripped = text.strip(XML_SPACE)
    if stripped in UNITS:
        return stripped
    loose = _LOOSE_UNIT.fullmatch(stripped)
    if not stripped or not loose:
        raise InvalidValue(text, f"one of the units {', '.join(UNITS)}")
    return f"{(loose[1] or '').upper()}B"


def with_unit(text: str) -> tuple[str, str] | None:
    """A number and the unit behind it, of a text that holds both; None for any other text.

    ``2E`` is 2 and the unit E, and ``2e3`` a number alone: digits behind an e are its exponent.

    >>> with_unit("1.5 gib"), with_unit("2GB"), with_unit("2E"), with_unit("2e3")
    (('1.5', 'gib'), ('2', 'GB'), ('2', 'E'), None)
    """
    found = _WITH_UNIT.fullmatch(text.strip(XML_SPACE))
    return (found[1], found[2]) if found else None


def bytes_of(text: str, units: str) -> Fraction:
    """An amount in bytes, exactly.

    >>> bytes_of("1.5", "GB")
    Fraction(1610612736, 1)
    """
    exact, factor = number(text), UNITS[unit(units)]
    return Fraction(exact.numerator * factor) if exact.denominator == 1 else exact * factor


def in_units(size: Fraction | int) -> tuple[str, str]:
    """An amount of bytes in the largest unit that keeps it a whole number.

    >>> in_units(2147483648)
    ('2', 'GB')
    """
    if not size or size.denominator != 1:
        return decimal(size), "B"
    whole = size.numerator
    zeros = (whole & -whole).bit_length() - 1  # units are powers of 2^10
    step = min(zeros // 10, len(_ABBREVIATIONS) - 1)
    return str(whole >> 10 * step), _ABBREVIATIONS[step]


def rounded(value: Fraction | float) -> int:
    """The nearest whole number, a half rounded up, as every reader of records does it.

    >>> rounded(Fraction(5, 2)), rounded(2.5), rounded(2)
    (3, 3, 2)
    """
    numerator, denominator = value.as_integer_ratio()
    return (2 * numerator + denominator) // (2 * denominator)


def rounded_up(number: int, unit: int) -> int:
    """How many units hold a number.

    >>> rounded_up(61, 60), rounded_up(60, 60)
    (2, 1)
    """
    return -(-number // unit)


def plain(value: Fraction) -> Fraction | int:
    """The same number, as an int where it is whole: those are added and compared much faster."""
    return value.numerator if value.denominator == 1 else value


def approximate(value: Fraction) -> int | float:
    """A number as JSON and ClassAds have it: whole, or the nearest double.

    They have no infinity, so that of more than a double can hold it is the whole part.

    >>> approximate(Fraction(3, 2)), approximate(10**400 + Fraction(1, 2)) == 10**400
    (1.5, True)
    """
    if value.denominator == 1:
        return value.numerator
    near = double(value)
    return near if isfinite(near) else int(value)


# decision 371
def double(value: Fraction | int | float) -> float:
    """The nearest double; infinity, with the sign, of a number that no double can hold.

    Documents may state numbers of any length, so that whoever has to write doubles asks this.

    >>> double(Fraction(1, 2)), double(10**400), double(-(10**400))
    (0.5, inf, -inf)
    """
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def in_largest(number: int, names: tuple[str, ...]) -> str:
    """Bytes in the largest of some units of 1024 that keeps them whole.

    ``names`` are those of bytes, KB, MB and so on.

    >>> in_largest(2 << 30, ("b", "kb", "mb", "gb")), in_largest(100, ("", "K"))
    ('2gb', '100')
    """
    power = len(names) - 1 if number else 0
    while number % (1 << (10 * power)):
        power -= 1
    return f"{number >> (10 * power)}{names[power]}"


def double_or_none(value: Fraction | int | float | None) -> float | None:
    """The nearest double of a number; None of none."""
    return None if value is None else double(value)


def is_bounded(value: Fraction | Decimal) -> bool:
    """Whether a number has no more digits before and behind its point than one that is read.

    >>> is_bounded(Fraction(10**400 - 1)), is_bounded(Decimal("1E-1000000"))
    (True, False)
    """
    if isinstance(value, Decimal):
        exponent = value.as_tuple().exponent
        return isinstance(exponent, int) and exponent >= -DIGITS and value.adjusted() < DIGITS
    return -_BEYOND < value < _BEYOND and value.denominator <= _BEYOND


def size(number: Fraction | int) -> str:
    """Bytes as people read them, in the largest unit of Appendix A up to TB that they fill.

    >>> size(1023), size(3 << 29), size(1023 << 20)
    ('1023 B', '1.5 GB', '1023 MB')
    """
    name = next((each for each in _PRINTED if number >= UNITS[each]), "")
    if not name:
        return f"{int(number)} B"
    part = float(Fraction(number) / UNITS[name])
    return f"{part:.0f} {name}" if part >= 999.5 else f"{part:.3g} {name}"


def decimal(value: Fraction | int) -> str:
    """The shortest decimal that reads back as ``value``, or its nearest in 17 places.

    >>> decimal(Fraction(189, 100))
    '1.89'
    """
    if value.denominator == 1:
        return str(value.numerator)
    exact = Fraction(value)
    digits = exact.denominator.bit_length()  # as many as a product of twos and fives may need
    if 10**digits % exact.denominator:
        digits = 17
    sign, scaled = "-" * (exact < 0), str(round(abs(exact) * 10**digits)).rjust(digits + 1, "0")
    return f"{sign}{scaled[:-digits]}.{scaled[-digits:]}".rstrip("0").rstrip(".")
