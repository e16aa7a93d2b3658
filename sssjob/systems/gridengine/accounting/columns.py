"""Where the columns of Grid Engine's accounting stand, and whether fields are what they hold.

Each version writes the fields of the one before, and some more behind them: 43 up to 6.1, 45 since
6.2 (advance reservations), and of Univa 46 (a job class), 52 since 8.2 (up to the command), 53
since 8.3 (wallclock), 54 since 8.4 (ioops), 55 (bound_cores) and 74. What the fields behind these
55 are called stands in no public text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

from sssjob.records.texts import Plain, distinct

NUMBER = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?")
_PE_TASK_SHAPE = re.compile(r"[0-9]+\.\S*[A-Za-z]\S*")  # such as 1.n2; an amount has no letter
_WALLCLOCK_SHAPE = re.compile(r"[0-9]{1,12}\.[0-9]{1,9}")

OLDEST, NEWEST = 43, 45  # fields before Univa's
CLASSED, COMMANDED, CLOCKED, COUNTED, NAMED = 46, 52, 53, 54, 55  # fields of Univa's versions
LATEST = 74  # of which only the first 55 are known by name
SIZES = (OLDEST, NEWEST, CLASSED, COMMANDED, CLOCKED, COUNTED, NAMED, LATEST)

NAME, JOB, ACCOUNT, PRIORITY, SUBMITTED, STARTED, ENDED, FAILED = range(4, 12)
WALL, MAXRSS, PE, SLOTS, TASK, CPU = 13, 16, 33, 34, 35, 36
CATEGORY, IOW, PE_TASK, MAXVMEM, CWD, WALLCLOCK, IOOPS = 39, 40, 41, 42, 50, 52, 53

_AMOUNTS = (CPU, MAXRSS, IOW, MAXVMEM)
_PEAKS = (47, 48)  # maxrss and maxpss


def fit(rows: Sequence[list[str]]) -> bool:
    """Whether the fields of all rows are those that one version writes."""
    size = len(rows[0]) if rows else 0
    if size not in SIZES or len(set(map(len, rows))) > 1:
        return False
    return fit_columns(list(zip(*rows, strict=True)))


def fit_columns(columns: Sequence[Sequence[str]]) -> bool:
    """The same of so many fields as some version writes, as columns."""
    size = len(columns)
    return (
        _fit_oldest(columns)
        and all(map(_are_decimal, columns[OLDEST:NEWEST]))
        and (size <= CLASSED or _fit_univa(columns))
    )


def _fit_oldest(columns: Sequence[Sequence[str]]) -> bool:
    """Whether the columns that every version has hold what they should."""
    return (
        all(map(_are_decimal, (columns[JOB], columns[SLOTS])))
        and "" not in columns[FAILED]
        and _are_decimal([text.removeprefix("-") for text in columns[PRIORITY]])
        and all(map(_are_times, columns[SUBMITTED : ENDED + 1]))
        and all(map(is_category, set(columns[CATEGORY])))
        and all(map(is_task, set(columns[PE_TASK])))
        and all(_are_numbers(columns[place]) for place in _AMOUNTS)
    )


def _fit_univa(columns: Sequence[Sequence[str]]) -> bool:
    """The same of the columns that Univa added behind those of all others."""
    peaks = chain.from_iterable(columns[place] for place in _PEAKS)
    clocks = chain.from_iterable(columns[WALLCLOCK:IOOPS])
    return (
        all(map(NUMBER.fullmatch, peaks))
        and all(map(_WALLCLOCK_SHAPE.fullmatch, clocks))
        and all(map(_are_decimal, columns[IOOPS : IOOPS + 1]))
    )


def _are_numbers(texts: Sequence[str]) -> bool:
    """Whether all are numbers; each that repeats is looked at once."""
    if isinstance(texts, Plain):
        return texts.all_match(NUMBER.pattern)
    return all(map(NUMBER.fullmatch, distinct(texts)))


def _are_decimal(texts: Sequence[str]) -> bool:
    return "" not in texts and "".join(texts).isdecimal()


def _are_times(texts: Sequence[str]) -> bool:
    """Whether all are seconds or milliseconds; 0 is none."""
    sizes = set(map(len, texts)) - {9, 10, 11, 12, 13}
    return "".join(texts).isdecimal() and (
        not sizes or (sizes == {1} and all(text == "0" for text in texts if len(text) == 1))
    )


def with_tail(fields: list[str], told: int = NAMED) -> list[str]:
    """The fields that are known, and all behind them as one text.

    So many fields has no version; see ``has_tail``.
    """
    return [*fields[:told], ":".join(fields[told:])] if len(fields) > told else fields


def has_tail(size: int) -> bool:
    """Whether the last of so many fields is the text of ``with_tail``."""
    return size not in SIZES


def known(fields: list[str]) -> int:
    """How many fields, from the first on, hold what their columns do; 0 if these are no record's.

    What stands behind them is not known: a later version wrote it, or a colon stands in it.
    """
    size = len(fields)
    if size < OLDEST or not _fit_oldest([(text,) for text in fields]):
        return 0
    if size < NEWEST or not (fields[43].isdecimal() and fields[44].isdecimal()):
        return OLDEST
    if size <= CLASSED:
        return size
    if size < COMMANDED or not all(NUMBER.fullmatch(fields[place]) for place in _PEAKS):
        return CLASSED
    return known_behind(fields)


def known_behind(fields: list[str]) -> int:
    """How many fields are known where those before a command are: a colon may stand in that."""
    size = len(fields)
    if size <= COMMANDED:
        return size
    return min(size, NAMED) if _may_end(fields, WALLCLOCK) else CWD


def command_ends(fields: list[str], first: int) -> list[int]:
    """Where a directory and a command with colons in them may end, which begin at ``first``.

    Only where no numbers behind a command tell, they may go on up to the end of the record.
    """
    behind = (size - COMMANDED for size in SIZES if size > COMMANDED)
    ends = [end for more in behind if (end := len(fields) - more) > first + 1]
    found = [end for end in ends if _may_end(fields, end)]
    alone = len(fields) > first + 2 and _may_end(fields, first + 2)
    return found if found or alone else [len(fields)]


def _may_end(fields: list[str], place: int) -> bool:
    """Whether what stands behind a command begins there: wallclock, then ioops if any follows."""
    return _WALLCLOCK_SHAPE.fullmatch(fields[place]) is not None and (
        place + 1 == len(fields) or fields[place + 1].isdecimal()
    )


def may_begin(fields: list[str], place: int) -> bool:
    """Whether a priority stands here, by what stands behind it up to the category: no texts."""
    behind = fields[place : place + CATEGORY - PRIORITY + 1]
    if len(behind) <= CATEGORY - PRIORITY or not is_times(fields, place + 1):
        return False
    return (
        behind[0].removeprefix("-").isdecimal()
        and behind[SLOTS - PRIORITY].isdecimal()
        and all(NUMBER.fullmatch(behind[at - PRIORITY]) for at in (MAXRSS, CPU))
        and is_category(behind[-1])
    )


def fits_but_values(fields: list[str]) -> bool:
    """Whether the fields are those of a job as some version writes it, but for some values.

    No colon can stand in a text then: the id, the times and the slave task are in their places.
    """
    return (
        len(fields) in SIZES
        and fields[JOB].isdecimal()
        and is_times(fields, SUBMITTED)
        and is_category(fields[CATEGORY])
        and fields[PE_TASK] == "NONE"
    )


# decision 1076
def fits_but_an_anchor(fields: list[str]) -> bool:
    """Whether the fields are those of a job, but for one of those by which others are found.

    All others have to be what they should. Where a parallel job may have rows of slave tasks, a
    slave task that is none may be one of them, whose usage its job tells, too.
    """
    odd = [place for place, is_it in _ANCHORS.items() if not is_it(fields[place])]
    if len(odd) != 1 or (odd == [PE_TASK] and fields[PE] != "NONE"):
        return False
    if odd == [SUBMITTED] and fields[SUBMITTED].isdecimal():
        return False  # of another column
    usual = fields[STARTED] if odd == [SUBMITTED] else "NONE"
    return fit([[*fields[: odd[0]], usual, *fields[odd[0] + 1 :]]])


def is_category(text: str) -> bool:
    """Whether a text is what was asked for, or the word for nothing."""
    return text == "NONE" or text[:1] == "-"


def is_task(text: str) -> bool:
    """Whether a text is the name of a slave task, or the word for none."""
    return text == "NONE" or _PE_TASK_SHAPE.fullmatch(text) is not None


def _is_time(text: str) -> bool:
    return _are_times([text])


_ANCHORS = {SUBMITTED: _is_time, CATEGORY: is_category, PE_TASK: is_task}


def is_times(fields: list[str], index: int) -> bool:
    """Whether three times stand there."""
    return _are_times(fields[index : index + 3])
