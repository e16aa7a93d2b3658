"""PBS: the accounting files of TORQUE, OpenPBS and PBS Pro become job objects.

A line is ``MM/DD/YYYY HH:MM:SS;letter;id;key=value key=value ...``. A job is made of the record
that ends it (E), and one for each run that was lost before (R). The mapping is ``pbs_table``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sssjob.records.cuts import Lines
from sssjob.records.layout import KnownColumns, Layout, Read, RunKey, alone, told_by_columns
from sssjob.records.lines import TWO_RECORDS, KeysWithin, first_line
from sssjob.records.record import Bad, Skipped
from sssjob.records.wall_times import lasted
from sssjob.systems.pbs.accounting import table

# fmt: off
# What the other records tell of, by their letter.
LETTERS = {
    "A": "aborted", "C": "checkpointed", "D": "deleted", "L": "licences", "M": "moved",
    "P": "provisioning", "Q": "queued", "S": "started", "T": "restarted",
    "a": "altered", "c": "next phase", "e": "last phase", "p": "provisioned", "r": "resumed",
    "s": "started on fewer nodes", "u": "phase ended", "z": "suspended",
    "B": "reservation begun", "F": "reservation finished", "K": "reservation deleted",
    "U": "reservation requested", "Y": "reservation confirmed", "k": "reservation deleted",
}
# fmt: on

_STAMP = re.compile(r"[0-9]{2}/[0-9]{2}/[0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}")
_BEGUN = re.compile(rf"{_STAMP.pattern};[A-Z];")
_LINE = re.compile(_STAMP.pattern.encode() + rb";[A-Za-z];[^;\n]*;")
# A line of the server's log, which stands in another directory under the same name.
_SERVER = re.compile(rb"\s*[0-9/]{10} [0-9:.]{8,15};[0-9a-fA-F]{2,4};[^;\n]{1,80};[A-Za-z]{1,10};")
_NUMBER = r"[0-9]{1,18}"
_ID = re.compile(_NUMBER + r"(\[[0-9]*\]|-[0-9]{1,9})?(?:\.(\S+))?")
_KEY = r"[A-Za-z_][\w.\-]*="
# A value in quotes, or one up to the next key; hooks write values with spaces and no quotes.
_PAIR = re.compile(
    rf"""({_KEY})("[^"]*"(?=\s|$)|'[^']*'(?=\s|$)|.*?)(?=\s{_KEY}|$)\s?""", re.DOTALL
)
# Keys that each record of an end has, and values in which none of all keys can stand.
_ALWAYS = ("user", "group", "queue", "jobname", "ctime", "qtime", "etime", "start", "exec_host",
           "session", "end", "Exit_status")  # fmt: skip
_NAMED = ("user", "group", "account", "project", "queue", "owner")
_OTHERS = ("jobname", "ctime", "qtime", "etime")
_WITHIN_NAMES = KeysWithin(
    (*_ALWAYS, *_NAMED, "exec_vnode", "run_count"), "=", (*_ALWAYS, "account")
)
_WITHIN_OTHERS = KeysWithin(_ALWAYS, "=", _ALWAYS)
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w.\-]*")
_BESIDE = ("(id)", "(server)", "(array index)", "(letter)", "(ended)")


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it is PBS accounting, or ""."""
    return "lines of stamp;letter;id;text" if _LINE.match(first_line(head)) else ""


def mistaken(head: bytes) -> str:
    """What is wrong with a file that begins so, or ""."""
    if not _SERVER.match(head):
        return ""
    return "a log of the server, not of its accounting: take server_priv/accounting"


def record(number: int, line: str) -> Read:
    """What a line is."""
    for pattern, names in _SEEN.patterns:
        if found := pattern.fullmatch(line):
            return told_by_columns(number, names, found.groups(""))
    return _record(number, line)


def _record(number: int, line: str) -> Read:
    parts = line.split(";", 3)
    if len(parts) < 4 or not _STAMP.fullmatch(parts[0]):
        return Bad(number, "not a record such as 11/20/2026 14:29:34;E;123.server;user=amy ...")
    stamp, letter, id, text = parts
    if ";" in text and _BEGUN.search(text):
        return Bad(number, TWO_RECORDS)
    if letter not in ("E", "R"):
        if letter not in LETTERS and _TELLS_AN_END.search(text):
            return Bad(number, f"{letter[:10]!r} is no letter of a record, and it tells an end")
        if letter not in _OF_ENDS and "Exit_status=" in text and _TELLS_USE.search(text):
            return Bad(number, f"{letter} is of no record that tells an end and what was used")
        meaning = LETTERS.get(letter, "an unknown record")
        return Skipped(number, f"{letter[:10]}: {meaning}")
    found = _ID.fullmatch(id)
    if not found:
        return Bad(number, f"{id[:60]!r} is no job id such as 123.server or 123[4].server")
    array, server = found.groups("")
    if array == "[]":
        return Skipped(number, "array whose jobs have their own records")
    told = _pairs(text.strip())
    if told is None:
        return Bad(number, TWO_RECORDS)
    keys, values = told
    if letter == "R" and "start" not in keys and not _TELLS_USE.search(text):
        return Skipped(number, "R: requeued, without what was used")
    if "user" not in keys:
        return Bad(number, "no user in it: not a whole record")
    if letter == "E" and "end" not in keys:
        return Bad(number, "no end in it: not a whole record")
    pairs = dict(zip(keys, values, strict=False))
    for within, names in ((_WITHIN_NAMES, _NAMED), (_WITHIN_OTHERS, _OTHERS)):
        if wrong := within.told([(name, pairs.get(name, "")) for name in names], pairs):
            return Bad(number, wrong)
    if letter == "E" and not array:
        _SEEN.add(keys[: -len(_BESIDE)])
    # A lost run ended when its record was written.
    ended = "" if "end" in keys else _iso(stamp)
    columns = (*values, id, server, array.strip("[]-"), letter, ended)
    return told_by_columns(number, keys, columns)


def _pairs(text: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The names of a record's columns, and the values of those that stand in its text.

    None where a key has two values: a record has each of its keys once. # decision 751
    """
    if '"' not in text and "'" not in text and text:
        keys, equals, values = zip(*[item.partition("=") for item in text.split()], strict=True)
        if "" not in equals and (names := _NAMES[keys]):
            return names, values
    pairs = [
        (key[:-1], value[1:-1] if key[:-1] not in _RAW and _is_quoted(value) else value)
        for key, value in ((key, value.rstrip()) for key, value in _PAIR.findall(text))
    ]
    told = dict(pairs)
    if len(told) < len(pairs) and len(told) < len({*pairs}):
        return None
    return _NAMES[tuple(told)], tuple(told.values())


class _ColumnNames(dict[tuple[str, ...], tuple[str, ...]]):
    """The names of a record's columns by its keys, or none where these are no keys, each once.

    Most records of a file have the same.
    """

    def __missing__(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        if len(self) >= 1024:
            self.clear()
        known = all(map(_PLAIN_KEY.fullmatch, keys)) and len({*keys}) == len(keys)
        names = self[keys] = (*keys, *_BESIDE) if known else ()
        return names


_NAMES = _ColumnNames()


class _LinePatterns:
    """Patterns of whole lines that end a job, by the keys that were seen often.

    They tell nothing else than reading such a line key by key, in a third of the time. A pattern
    takes a thousand times as long to make, so it is made for keys that come again and again.
    """

    def __init__(self) -> None:
        self.patterns: list[tuple[re.Pattern[str], tuple[str, ...]]] = []
        self._times: dict[tuple[str, ...], int] = {}

    def add(self, keys: tuple[str, ...]) -> None:
        """Count the keys of a line of which there was no pattern."""
        if len(self._times) >= 1024:
            self._times.clear()
        times = self._times[keys] = self._times.get(keys, 0) + 1
        if times % _OFTEN or len(keys) > _KEYS_LIMIT:
            return
        texts = " ".join(
            rf"{re.escape(key)}=([^\s\"'{'=' * (key in (*_NAMED, *_OTHERS))}]*)" for key in keys
        )
        id = rf"({_NUMBER}(?:\[([0-9]+)\])?(?:\.([^\s;]+))?)"
        pattern = re.compile(rf"{_STAMP.pattern};(E);{id};{texts}\s*")
        names = ("(letter)", "(id)", "(array index)", "(server)", *keys)
        self.patterns = [(pattern, names), *self.patterns[: _PATTERNS - 1]]


_OFTEN = 1000  # lines with some keys, at which these get a pattern
_PATTERNS = 3  # that are tried on every line
_KEYS_LIMIT = 200
_SEEN = _LinePatterns()
_TELLS_USE = re.compile(r"\sresources_used\.")
_OF_ENDS = ("e", "u")  # phases of a job that was begun on fewer nodes
_TELLS_AN_END = re.compile(r"(?:^|\s)(?:end|Exit_status)=")
_RAW = frozenset(("jobname",))  # never quoted, and a user's choice


def _is_quoted(value: str) -> bool:
    return len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"


def _iso(stamp: str) -> str:
    """A stamp in local time, as the clock reads it."""
    return f"{stamp[6:10]}-{stamp[:2]}-{stamp[3:5]}T{stamp[11:]}"


def _ran_again(record: Mapping[str, str]) -> bool:
    """Whether a job ran several times: one that goes on from a checkpoint has their wall time."""
    return record.get("run_count", "") not in ("", "0", "1")


LAYOUT = Layout(
    type=table.TYPE,
    cut=Lines(),
    reader=alone(record),
    rows=table.rows,
    span=("start", "end"),
    lasted=lasted(table.seconds, "resources_used.walltime", may_be_longer=_ran_again),
    known=KnownColumns(table.COLUMNS, table.WORKED_OUT, table.NOT_KEPT),
    run=RunKey("ctime", "start", "end"),
    recognises=recognises,
    mistaken=mistaken,
)
