"""LSF: the event log ``lsb.acct`` becomes job objects, one for each JOB_FINISH.

Fields are separated by blanks; texts stand in quotes, doubled where they hold one. How many
fields there are depends on the version and on counts within the record: it is read from the
left as far as it goes, and what a later version may have behind that is left alone.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, islice
from operator import itemgetter
from typing import NamedTuple

from sssjob.errors import InvalidValue
from sssjob.library_words import csv_fault
from sssjob.model import Property
from sssjob.records.cuts import Lines
from sssjob.records.layout import (
    NEVER,
    NO_START,
    KnownColumns,
    Layout,
    NoRecord,
    Read,
    RunKey,
    alone,
    mapping,
    ran,
    told_by_columns,
)
from sssjob.records.lines import TWO_RECORDS, first_line
from sssjob.records.readers import integer, noted
from sssjob.records.record import KEPT, LEFT_OUT, Bad, Noted, Skipped
from sssjob.records.values import is_nearly
from sssjob.records.wall_times import lasted
from sssjob.systems.lsf.accounting import table

_CSV_LIMIT = 131_072  # characters that the csv module takes in a field
_EVENT = re.compile(rb'"[A-Z][A-Z0-9_]{2,40}" "[0-9.]+" [0-9]+ ')
_END, _OF_STREAMS = "JOB_FINISH", "JOB_FINISH2"  # the second one stands in lsb.stream
_FINISH = f'"{_END}" "'  # in a text quotes are doubled
_ENDED = re.compile(_FINISH + '[0-9.]+" [0-9]+ ')
_TOKEN = re.compile(r'"((?:[^"]|"")*)"(?= |$)|([^ "]+)(?= |$)')
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_COUNT = re.compile("0|[1-9][0-9]{0,8}")  # 08 is a 0 and an 8 without a blank between them
_REAL = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]+)?")
_NINE = re.compile("9|[1-9][0-9]")  # versions of which all fields are known
_START = 10  # startTime, from 0
_CPU = slice(table.REST.index("ru_utime"), table.REST.index("ru_stime") + 1)
_RUN_TIME = slice(table.TAIL.index("runTime"), table.TAIL.index("runTime") + 1)
_NO_BLANK = "two fields without a blank between them"
_NO_FIELD = "a field is missing in front of numAskedHosts"
_NO_HOSTS = "it ran, and no execution hosts are told: nor are its processors"
_ASKED, _RAN = table.HOSTS
_JOB_FILE = len(table.HEAD) - 1  # the last of the texts, which stand in quotes
_last_numbers = itemgetter(*table.NUMBERS[-2:])
_WIDTHS = (2, 6)  # fields for each entry of the lists before the tail
_FIRST_NUMBERS = 3  # of the tail: runLimit, options3 and avgMem
_ENERGY, _RANGE = 5, 3  # numbers about energy, and those of a range of indices
_OTHER_TAIL = f"what stands behind {table.REST[-1]} has not the form of LSF 9.1 to 10.1: left out"


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it is an event log of LSF, or ""."""
    return 'lines of "EVENT" "version" time' if _EVENT.match(first_line(head, b"#")) else ""


def record(number: int, line: str) -> Read:
    """What a line is. Raises ``InvalidValue``."""
    if (place := line.find(_FINISH, 1)) > 0 and _ENDED.match(line, place):
        return Bad(number, TWO_RECORDS)
    if not line.startswith(f'"{_END}" '):
        kind = re.match(r'"([A-Z][A-Z0-9_]{2,40})" ', line)
        if kind and kind[1] != _OF_STREAMS and is_nearly(kind[1], _END):
            return Bad(number, f"{kind[1]} is no event: JOB_FINISH with a letter that is damaged")
        if kind:
            return Skipped(number, kind[1])
        return Bad(number, 'not a record such as "JOB_FINISH" "10.1" 1700000000 ...')
    fields = split(line.rstrip())
    if fields[_JOB_FILE : len(table.HEAD)] and fields[_JOB_FILE].isdecimal():
        quoted = _TOKEN.finditer(line)
        if next(islice(quoted, _JOB_FILE, None))[1] is None:
            raise NoRecord(_NO_BLANK if '"' in "".join(fields[:_JOB_FILE]) else _NO_FIELD)
    return _record(number, fields)


def split(line: str) -> list[str]:
    """The fields of a line, without their quotes."""
    if len(line) <= _CSV_LIMIT:
        if line.count('"') & 1:  # the csv module takes one in a field that has none around it
            raise NoRecord("a quote that is not closed, or a stray one: their number is odd")
        try:
            return next(csv.reader((line,), delimiter=" ", strict=True))
        except csv.Error as wrong:
            raise NoRecord(csv_fault(wrong)) from None
    fields, position = [], 0
    while position < len(line):
        found = _TOKEN.match(line, position)
        if not found:
            raise NoRecord(f"a quote that is not closed, or a stray one, in column {position}")
        fields.append(found[2] or found[1].replace('""', '"') if found[2] or found[1] else "")
        position = found.end() + 1
    return fields


def _record(number: int, fields: list[str]) -> Read:
    first = len(table.HEAD)
    asked, position = _list(fields, first, "numAskedHosts")
    if _ends_hosts(fields, position):
        hosts: list[str] = []  # some versions leave numExHosts out beside asked hosts
        if '"' in "".join(fields[:first]):  # or this is numExHosts, one place too early
            raise NoRecord(_NO_BLANK)
    else:
        hosts, position = _list(fields, position, "numExHosts")
        if not (_ends_hosts(fields, position) or _ends_hosts_but_for_one(fields, position)):
            raise NoRecord("no state and host factor behind the hosts")
    known = fields[position : position + len(table.REST)]
    if _are_shifted(known):
        raise NoRecord(_NO_BLANK)
    least = len(table.REST) if _NINE.match(fields[1]) else table.LEAST
    if len(known) < least:
        raise NoRecord(f"{len(fields)} fields: the record is cut short")
    asked_text, odd_asked = _entries(asked, _ASKED)
    hosts_text, odd_hosts = _entries(hosts, _RAN)
    tail, behind, odd_counts = _tail(fields, position + len(table.REST))
    says_no_start = fields[_START] == "0"
    never = says_no_start and not table.is_done(known[0])
    names = _names(len(known), len(tail), len(behind), never)
    told = [*fields[:first], asked_text, hosts_text, *known, *tail, *behind]
    found = told_by_columns(number, names, told)
    notes = [] if hosts or never else [_NO_HOSTS]
    if says_no_start and not never and ran(*tail[_RUN_TIME], *known[_CPU]):
        notes.append(NO_START)
    if not tail and len(fields) > position + len(table.REST):
        notes.append(_OTHER_TAIL)
    if not (notes or odd_asked or odd_hosts or odd_counts):
        return found
    odd = [*odd_asked, *odd_hosts]
    odd += (
        (f"{InvalidValue(text, 'a count')}: {name}; {KEPT}", noted(table.TYPE, name, text))
        for name, text in odd_counts.items()
    )
    notes += (told for told, _ in odd)
    more = tuple(kept for _, kept in odd if kept.text.strip())
    return found._replace(more=more, notes=tuple(Noted(number, text, once=True) for text in notes))


def _entries(entries: list[str], name: str) -> tuple[str, list[tuple[str, Property]]]:
    """A list of hosts as one text; what to say and to keep of each entry that is no host.

    An entry of ``execHosts`` is a slot whatever it says. # decision 1044
    """
    if not entries:
        return "", []
    text = " ".join(entries)
    is_separated = text.count(" ") == len(entries) - 1 and "" not in entries
    if is_separated and (text.isprintable() and table.NAMELESS not in text):
        return text, []
    odd = dict.fromkeys(entry for entry in entries if not table.is_host(entry))
    of_a_run = ([table.NAMELESS], "a slot whose host is not known, ")
    instead, then = of_a_run if name == _RAN else ([], "")
    told = [
        (
            f"{InvalidValue(entry, table.A_HOST)}: {name}; "
            f"{then}{KEPT if entry.strip() else LEFT_OUT}",
            noted(table.TYPE, name, entry),
        )
        for entry in odd
    ]
    good = (instead if entry in odd else [entry] for entry in entries)
    return " ".join(chain.from_iterable(good)), told


def _list(fields: list[str], position: int, name: str) -> tuple[list[str], int]:
    """So many fields as the one before them says."""
    if position >= len(fields) or not _COUNT.fullmatch(fields[position]):
        raise NoRecord(f"no number in {name}")
    end = position + 1 + int(fields[position])
    if end > len(fields):
        raise NoRecord(f"fewer hosts than {name} says: the record is cut short")
    return fields[position + 1 : end], end


def _ends_hosts(fields: list[str], position: int) -> bool:
    """Whether the state and the host factor stand here."""
    return (
        position + 2 < len(fields)
        and fields[position] in table.STATES
        and _REAL.fullmatch(fields[position + 1]) is not None
    )


def _ends_hosts_but_for_one(fields: list[str], position: int) -> bool:
    """Whether of the state and the host factor one alone is odd: every number behind them is one.

    A host more or less would put a text where a number is. # decision 1047
    """
    known = fields[position : position + len(table.REST)]
    numbers = [known[place] for place in table.NUMBERS if place < len(known)]
    return (
        len(known) >= table.LEAST
        and (known[0] in table.STATES or _REAL.fullmatch(known[1]) is not None)
        and all(map(_REAL.fullmatch, numbers))
    )


def _are_shifted(known: list[str]) -> bool:
    """Whether fields stand in wrong places, because two before them were read as one.

    ``"a""b"`` is one text with a quote in it. One number that is none is only an odd value.
    """
    if len(known) == len(table.REST) and all(map(_WHOLE.fullmatch, _last_numbers(known))):
        return False  # what was shifted before them would be texts here
    if '"' not in "".join(known):
        return False
    places = (place for place in table.NUMBERS if place < len(known))
    return sum(not _REAL.fullmatch(known[place]) for place in places) > 1


class _Tail(NamedTuple):
    """What 9.1 added, behind its two lists, and what is told of what 10.1 has behind that.

    ``odd`` are counts of the lists that are none, by their names.
    """

    fields: list[str]
    behind: list[str]
    odd: dict[str, str]


_NO_TAIL = _Tail([], [], {})


def _tail(fields: list[str], position: int) -> _Tail:
    """The tail of a record; nothing where it has not the form of one.

    One odd number costs itself: the others show that these are the fields. Where it is the count of
    a list, the tail stands at the only place where all of its numbers are some. # decision 1046
    """
    begin = position
    for width in _WIDTHS:
        if begin >= len(fields) or not fields[begin].isdecimal():
            return _searched_tail(fields, position)
        begin += 1 + width * int(fields[begin][:9])
    return _tail_at(fields, begin) if _are_tail(fields, begin, 1) else _NO_TAIL


def _tail_at(fields: list[str], begin: int, odd: dict[str, str] | None = None) -> _Tail:
    end = begin + len(table.TAIL)
    return _Tail(fields[begin:end], _behind(fields, end), odd or {})


def _are_tail(fields: list[str], begin: int, faults: int) -> bool:
    """Whether the fields from a place on are those of a tail, but for so many faults.

    Where the first three numbers stand in their places the others may be anything.
    """
    if faults and all(map(_WHOLE.fullmatch, fields[begin : begin + _FIRST_NUMBERS])):
        return True
    if len(fields) < begin + len(table.TAIL):
        return False
    found = sum(not _WHOLE.fullmatch(fields[begin + at]) for at in table.WHOLE_IN_TAIL)
    return found <= faults


def _searched_tail(fields: list[str], position: int) -> _Tail:
    """The tail behind two lists of which one has a count that is none."""
    found: list[_Tail] = []
    for first in _ends(fields, position, _WIDTHS[0]):
        counts = [fields[position], fields[first]]
        odd = {
            name: text
            for name, text in zip(table.COUNTS, counts, strict=True)
            if not text.isdecimal()
        }
        if len(odd) == 1:
            found += (
                _tail_at(fields, begin, odd)
                for begin in _ends(fields, first, _WIDTHS[1])
                if _are_tail(fields, begin, 0)
            )
    return found[0] if len(found) == 1 else _NO_TAIL


def _ends(fields: list[str], position: int, width: int) -> Iterable[int]:
    """The places at which a list may end, behind its count."""
    if position >= len(fields):
        return ()
    if not fields[position].isdecimal():
        return range(position + 1, len(fields), width)
    end = position + 1 + width * int(fields[position][:9])
    return (end,) if end < len(fields) else ()


def _behind(fields: list[str], position: int) -> list[str]:
    """What there is of ``table.TOLD_BEHIND``, as far as the fields have the form of 10.1.

    Of the numbers about energy one may be odd: the others show where they stand. # decision 1062

    What stands there for each network of a parallel job is in no record that people published.
    """
    found: list[str] = []
    numbers = fields[position + 2 : position + 2 + _ENERGY]
    odd = sum(not _REAL.fullmatch(text) for text in numbers)
    if fields[position : position + 1] != ["0"] or len(numbers) < _ENERGY or odd > 1:
        return found
    try:
        found.append(numbers[0])
        position = _counted(fields, position + 2 + _ENERGY, 1)
        found.append(fields[position])
        position = _counted(fields, position + 1, _RANGE)
        found.append(fields[position])
        begin = position + 1
        position = begin + 1
        for _ in range(int(fields[begin])):
            position = _counted(fields, position + 1, 2)
        found.append(" ".join(fields[begin + 1 : position]))
    except (IndexError, ValueError):
        pass  # of an earlier version, or of a form that is not known
    return found


def _counted(fields: list[str], position: int, width: int) -> int:
    """Where a list ends. Raises ``IndexError`` and ``ValueError`` where there is none."""
    end = position + 1 + width * int(fields[position][:9])
    if not position < end <= len(fields):
        raise IndexError
    return end


@lru_cache(64)
def _names(known: int, tail: int, behind: int, never: bool) -> tuple[str, ...]:
    told = (
        *table.HEAD, *table.HOSTS, *table.REST[:known], *table.TAIL[:tail],
        *table.TOLD_BEHIND[:behind],
    )  # fmt: skip
    return (*told, NEVER) if never else told


LAYOUT = Layout(
    type=table.TYPE,
    cut=Lines(),
    reader=alone(record),
    rows=mapping(table.TABLE, table.WAITING),
    span=("startTime", "eventTime"),
    lasted=lasted(integer, "runTime"),
    known=KnownColumns(
        (*table.HEAD, *table.HOSTS, *table.REST, *table.LISTS, *table.TAIL, *table.BEHIND),
        {},
        table.NOT_KEPT,
    ),
    run=RunKey("submitTime", "startTime", "eventTime"),
    recognises=recognises,
)
