"""Functions of lists, and of lists that are written in one string."""

from __future__ import annotations

import re

from sssjob.classads.numbers import leading
from sssjob.classads.operators import binary, bounded, compared, folded, identical, wrapped
from sssjob.classads.strings import BLANKS, DELIMITERS, cut
from sssjob.classads.values import ERROR, UNDEFINED, Ad, Special, undecided

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sssjob.classads.values import Function, Value

_COMPARISONS = ("<", "<=", "==", ">", ">=", "!=", "is", "isnt")
_WHOLE = re.compile(r"[+0-9-]+")  # so that "1-2" is the whole number 1
_NO_DIGITS = re.compile(r"(?i)[+-]?0x(?!\.?[0-9a-f])")  # C's scanf takes no 0 out of it
_ANY = ", \t\n\r"  # between the words of lists, where it is only asked what is in them


def _member(same: Callable[[Value, Value], Value]) -> Function:
    def asked(item: Value, members: Value) -> Value:
        if members is UNDEFINED:
            return UNDEFINED
        if not isinstance(members, tuple) or isinstance(item, (tuple, Ad)):
            return ERROR
        return any(same(item, each) is True for each in members)  # type: ignore[arg-type]

    return asked


def _equal_member(item: Value, members: Value) -> Value:
    if UNDEFINED in (item, members):
        return UNDEFINED
    if item is ERROR:
        return ERROR
    return _member(lambda one, other: compared("==", one, other))(item, members)


def _comparing(every: bool) -> Function:
    """``anyCompare`` and ``allCompare``: the operator is an argument."""

    def asked(op: Value, members: Value, item: Value) -> Value:
        if op is UNDEFINED:
            return UNDEFINED
        if not isinstance(op, str) or op not in _COMPARISONS:
            return ERROR
        if not isinstance(members, tuple):
            return UNDEFINED if members is UNDEFINED else ERROR
        for each in members:
            found = binary(op, each, item)  # type: ignore[arg-type]
            if found is ERROR:
                return ERROR
            if found is UNDEFINED:  # HTCondor looks no further
                return False
            if (found is True) is not every:
                return not every
        return every

    return asked


def _numbers(members: Value) -> list[int] | list[float] | Special:
    """The numbers of a list without what is undefined: reals if one is, else integers."""
    if not isinstance(members, tuple):
        return UNDEFINED if members is UNDEFINED else ERROR
    found = [each for each in members if each is not UNDEFINED]
    if not all(isinstance(each, (bool, int, float)) for each in found):
        return ERROR
    if any(isinstance(each, float) for each in found):
        return [float(each) for each in found]  # type: ignore[arg-type]
    return [int(each) for each in found]  # type: ignore[arg-type]


def _of_numbers(function: Callable[[Sequence[float]], Value]) -> Function:
    def asked(members: Value) -> Value:
        numbers = _numbers(members)
        return numbers if isinstance(numbers, Special) else function(numbers)

    return asked


def _sum(numbers: Sequence[float]) -> Value:
    total = sum(numbers)
    if isinstance(total, int):
        return wrapped(total)
    return bounded(total) if len(numbers) > 1 else total  # of one nothing was calculated


def _average(numbers: Sequence[float]) -> Value:
    if not numbers:
        return 0
    total = sum(numbers)
    return bounded((wrapped(total) if isinstance(total, int) else total) / len(numbers))


def _extreme(choose: Callable[[Iterable[float]], float]) -> Callable[[Sequence[float]], Value]:
    return lambda numbers: choose(numbers) if numbers else UNDEFINED


def _one_or(function: Callable[[Sequence[float]], Value]) -> Function:
    many = _of_numbers(function)

    def asked(members: Value) -> Value:
        if isinstance(members, tuple):  # one alone stays what it is, a truth value, too
            found = [each for each in members if each is not UNDEFINED]
            if len(found) == 1 and isinstance(found[0], bool):
                return found[0]
        return many(members)

    return asked


def words(text: str, delimiters: str) -> list[str]:
    """The strings of a list in a string: without blanks around them, and none that is empty."""
    return list(filter(None, (word.strip(BLANKS) for word in cut(text, delimiters))))


def _string_list_size(text: Value, delimiters: Value = DELIMITERS) -> Value:
    if not isinstance(text, str) or not isinstance(delimiters, str):
        return ERROR
    return len(words(text, delimiters))


def _string_list_numbers(function: Callable[[Sequence[float]], Value]) -> Function:
    def asked(text: Value, delimiters: Value = DELIMITERS) -> Value:
        if not isinstance(text, str) or not isinstance(delimiters, str):
            return ERROR
        parts = words(text, delimiters)
        numbers = [leading(part) for part in parts]
        if None in numbers or any(map(_NO_DIGITS.match, parts)):
            return ERROR
        if all(map(_WHOLE.fullmatch, parts)):
            whole = all(isinstance(number, int) for number in numbers)  # or beyond 64 bits
            return function(numbers) if whole else ERROR  # type: ignore[arg-type]
        return function([float(number or 0) for number in numbers])

    return asked


def _string_sum(numbers: Sequence[float]) -> Value:
    total = sum(numbers) if numbers else 0.0
    return wrapped(total) if isinstance(total, int) else total


def _string_average(numbers: Sequence[float]) -> Value:
    """Of integers it is one, too, as HTCondor answers."""
    if not numbers:
        return 0.0
    total = sum(numbers)
    if isinstance(total, int):
        quotient = abs(total) // len(numbers)
        return quotient if total >= 0 else -quotient
    return total / len(numbers)


def _string_list_member(fold: bool) -> Function:
    def asked(item: Value, members: Value, delimiters: Value = UNDEFINED) -> Value:
        marks = _ANY if delimiters is UNDEFINED else delimiters
        if not all(isinstance(each, str) or each is UNDEFINED for each in (item, members)):
            return ERROR
        if not isinstance(marks, str):
            return ERROR
        if not isinstance(item, str) or not isinstance(members, str):
            return UNDEFINED if item is members else False
        return _fold(fold, item) in {_fold(fold, word) for word in words(members, marks)}

    return asked


def _subset(fold: bool) -> Function:
    def asked(some: Value, others: Value, delimiters: Value = UNDEFINED) -> Value:
        marks = _ANY if delimiters is UNDEFINED else delimiters
        if not all(isinstance(each, str) or each is UNDEFINED for each in (some, others, marks)):
            return ERROR
        if some is UNDEFINED and others is UNDEFINED:
            return UNDEFINED
        if others is UNDEFINED:
            return some == ""
        one, other = (
            {_fold(fold, word) for word in words(each, str(marks))} if isinstance(each, str) else ()
            for each in (some, others)
        )
        if isinstance(some, str) and some and not one:  # which HTCondor takes for no list
            return False
        return all(word in other for word in one)

    return asked


def _intersect(one: Value, other: Value, delimiters: Value = DELIMITERS) -> Value:
    if (special := undecided((one, other, delimiters), ERROR)) is not None:
        return special
    if not (isinstance(one, str) and isinstance(other, str) and isinstance(delimiters, str)):
        return ERROR
    # This one function of HTCondor's leaves blanks around the words.
    one_words, other_words = (cut(each, delimiters or DELIMITERS) for each in (one, other))
    return bool({*one_words} & {*other_words} - {""})


def _fold(fold: bool, word: str) -> bytes | str:
    return folded(word) if fold else word


# fmt: off
TABLE: dict[str, tuple[int, int, Function]] = {
    "member":                 (2, 2, _equal_member),
    "identicalmember":        (2, 2, _member(identical)),
    "anycompare":             (3, 3, _comparing(every=False)),
    "allcompare":             (3, 3, _comparing(every=True)),
    "sum":                    (1, 1, _one_or(_sum)),
    "avg":                    (1, 1, _of_numbers(_average)),
    "min":                    (1, 1, _one_or(_extreme(min))),
    "max":                    (1, 1, _one_or(_extreme(max))),
    "stringlistsize":         (1, 2, _string_list_size),
    "stringlistsum":          (1, 2, _string_list_numbers(_string_sum)),
    "stringlistavg":          (1, 2, _string_list_numbers(_string_average)),
    "stringlistmin":          (1, 2, _string_list_numbers(_extreme(min))),
    "stringlistmax":          (1, 2, _string_list_numbers(_extreme(max))),
    "stringlistmember":       (2, 3, _string_list_member(fold=False)),
    "stringlistimember":      (2, 3, _string_list_member(fold=True)),
    "stringlistsintersect":   (2, 3, _intersect),
    "stringlistsubsetmatch":  (2, 3, _subset(fold=False)),
    "stringlistisubsetmatch": (2, 3, _subset(fold=True)),
}
# fmt: on
