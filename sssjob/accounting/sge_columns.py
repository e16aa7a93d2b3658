"""Where the columns of Grid Engine's accounting stand, and whether fields are what they hold."""

from __future__ import annotations

import re
from collections.abc import Sequence

NUMBER = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?")
_PE_TASK_SHAPE = re.compile(r"[0-9]+\.\S+")
OLDEST, NEWEST = 43, 45  # fields before Univa's
JOB, PRIORITY, SUBMITTED, STARTED, ENDED = 5, 7, 8, 9, 10
MAXRSS, PE, SLOTS, TASK, CPU = 16, 33, 34, 35, 36
CATEGORY, IOW, PE_TASK, MAXVMEM, CWD, COMMAND = 39, 40, 41, 42, 50, 51

_AMOUNTS = (CPU, MAXRSS, IOW, MAXVMEM)


def fit(rows: Sequence[list[str]]) -> bool:
    """Whether the fields of all rows are those of records, and rows of one size.

    Nothing else than ``fits_alone`` of every row, column by column.
    """
    if not rows or len(rows[0]) not in (OLDEST, NEWEST) or len(set(map(len, rows))) > 1:
        return False
    columns = list(zip(*rows, strict=True))
    return (
        all(map(_are_decimal, [columns[JOB], columns[SLOTS], *columns[OLDEST:]]))
        and _are_decimal([text.removeprefix("-") for text in columns[PRIORITY]])
        and all(map(_are_times, columns[SUBMITTED : ENDED + 1]))
        and all(text == "NONE" or text[:1] == "-" for text in set(columns[CATEGORY]))
        and all(text == "NONE" or _PE_TASK_SHAPE.fullmatch(text) for text in set(columns[PE_TASK]))
        and all(all(map(NUMBER.fullmatch, columns[place])) for place in _AMOUNTS)
    )


def _are_decimal(texts: Sequence[str]) -> bool:
    return "" not in texts and "".join(texts).isdecimal()


def _are_times(texts: Sequence[str]) -> bool:
    sizes = set(map(len, texts)) - {9, 10, 11, 12, 13}
    return "".join(texts).isdecimal() and (
        not sizes or (sizes == {1} and all(text == "0" for text in texts if len(text) == 1))
    )


def fits_alone(fields: list[str]) -> bool:
    """Whether the fields are those of a record as they stand."""
    size = len(fields)
    if size < OLDEST:
        return False
    amounts = fields[CPU], fields[MAXRSS], fields[IOW], fields[MAXVMEM]
    # Plain decimals are the rule; only what is none of them is looked at one by one.
    plain = "" not in amounts and "".join(amounts).replace(".", "", 4).isdecimal()
    return (
        fields[JOB].isdecimal()
        and is_times(fields, SUBMITTED)
        and fields[PRIORITY].removeprefix("-").isdecimal()
        and fields[SLOTS].isdecimal()
        and (fields[CATEGORY] == "NONE" or fields[CATEGORY][:1] == "-")
        and (fields[PE_TASK] == "NONE" or _PE_TASK_SHAPE.fullmatch(fields[PE_TASK]) is not None)
        and (plain or all(map(NUMBER.fullmatch, amounts)))
        and ((size in (OLDEST, NEWEST) and all(map(str.isdecimal, fields[OLDEST:])))
             or (size > NEWEST and _is_univa(fields)))
    )  # fmt: skip


def is_times(fields: list[str], index: int) -> bool:
    """Whether three times stand there, as seconds or milliseconds; 0 is none."""
    times = fields[index : index + 3]
    return "".join(times).isdecimal() and all(8 < len(text) < 14 or text == "0" for text in times)


def _is_univa(fields: list[str]) -> bool:
    """Whether the fields behind the command line are all numbers."""
    return len(fields) > COMMAND and all(map(NUMBER.fullmatch, fields[COMMAND + 1 :]))
