"""The header of what sacct printed: which columns there are, and what values of each look like."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from itertools import chain, takewhile
from typing import NamedTuple

from sssjob.records.texts import BulkColumn, Coded, Numbers, Plain, distinct, is_of_form
from sssjob.systems.slurm.states import STATES

_ENOUGH = 3  # values of their kind that no line of a text has by chance
SURPLUS_LIMIT = 200  # fields too many that are still taken for delimiters in texts

_ID = r"[0-9]{1,18}(?:_(?:[0-9]{1,18}|\[[0-9,:%\-.]*\]?))?(?:\+[0-9]{1,9})?"
_STEP = r"(?:\.[A-Za-z0-9_+]{1,40})?"
JOB_ID = re.compile(_ID + _STEP)
_STEP_ID = re.compile(_STEP)
_ID_AT_END = re.compile(rf"{_ID}{_STEP}\Z")
_DIGITS_OR_NOTHING = frozenset(("", *"0123456789"))
_UNITS = _DIGITS_OR_NOTHING | frozenset("KMGTPEZ")

_ISO = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,15}(?:Z|[+-][0-9:]{2,8})?"
_TIME = rf"(?:[0-9]{{1,10}}|{_ISO}|Unknown|None|N/A)?"
_SPAN = r"(?:[0-9:.\-]{5,24}|UNLIMITED|Partition_Limit|INVALID|Unknown)?"
_SIZE = r"(?:[0-9.]{1,24}[KMGTPEZ]?[cn]?|[0-9]{1,24}\?[cn]?)?"
_NUMBER = r"(?:[0-9.]{1,24}[KMG]?|UNLIMITED|Partition_Limit)?"
_CODE = r"(?:[0-9]{1,10}:[0-9]{1,5})?"
_WORD = r"\S{0,400}"
_TRES = r"(?:[A-Za-z][\w/:.\-]*=[^,=\s]*(?:,[A-Za-z][\w/:.\-]*=[^,=\s]*)*)?"
_NODES = r"(?:[^\s]+|None assigned)?"
# A word that nobody knows in capitals; one that is known in any letters.
_STATE = rf"(?: *(?:[A-Z][A-Z_]*\+?|(?i:{'|'.join(STATES)}))(?: by \S+)? *)?"

# What a value of a column looks like, for columns whose values no user can choose freely.
# fmt: off
_SHAPES: dict[str, str] = {
    "JobID": _ID + _STEP, "JobIDRaw": _ID + _STEP, "State": _STATE,
    "ExitCode": _CODE, "DerivedExitCode": _CODE,
    **dict.fromkeys(("Submit", "Eligible", "Start", "End"), _TIME),
    **dict.fromkeys(("Elapsed", "Suspended", "Reserved", "Planned", "Timelimit", "CPUTime",
                     "UserCPU", "SystemCPU", "TotalCPU", "AveCPU", "MinCPU", "PlannedCPU",
                     "ResvCPU"), _SPAN),
    **dict.fromkeys(("ElapsedRaw", "TimelimitRaw", "CPUTimeRAW", "Priority", "ReqCPUS", "AllocCPUS",
                     "NCPUS", "ReqNodes", "AllocNodes", "NNodes", "NTasks", "UID", "GID", "AssocID",
                     "DBIndex", "Restarts", "ReservationId", "ConsumedEnergyRaw", "MaxPages",
                     "AvePages", "MaxRSSTask", "MaxVMSizeTask", "MaxPagesTask", "MaxDiskReadTask",
                     "MaxDiskWriteTask", "MinCPUTask", "WCKeyID", "QOSRAW", "PlannedCPURAW",
                     "ResvCPURAW"), _NUMBER),
    **dict.fromkeys(("ReqMem", "MaxRSS", "AveRSS", "MaxVMSize", "AveVMSize", "MaxDiskRead",
                     "MaxDiskWrite", "AveDiskRead", "AveDiskWrite", "ConsumedEnergy"), _SIZE),
    **dict.fromkeys(("ReqTRES", "AllocTRES", "TRESUsageInAve", "TRESUsageInMax", "TRESUsageInMin",
                     "TRESUsageInTot", "TRESUsageOutAve", "TRESUsageOutMax", "TRESUsageOutMin",
                     "TRESUsageOutTot", "TRESUsageInMaxNode", "TRESUsageInMaxTask",
                     "TRESUsageInMinNode", "TRESUsageInMinTask", "TRESUsageOutMaxNode",
                     "TRESUsageOutMaxTask", "TRESUsageOutMinNode", "TRESUsageOutMinTask"), _TRES),
    **dict.fromkeys(("User", "Group", "Account", "Cluster", "Partition", "QOS", "Reason",
                     "ReqCPUFreq", "SLUID", "AveCPUFreq", "ReqCPUFreqMin", "ReqCPUFreqMax",
                     "ReqCPUFreqGov", "QOSREQ", "Reservation", "McsLabel", "OriginalSLUID",
                     "BlockID", "FailedNode", "MaxRSSNode", "MaxVMSizeNode", "MaxPagesNode",
                     "MinCPUNode", "MaxDiskReadNode", "MaxDiskWriteNode"), _WORD),
    "NodeList": _NODES, "Flags": r"(?:[A-Z]\w*(?:,[A-Z]\w*)*)?", "Layout": r"[A-Za-z]*", "": "",
}
# What a text that a user chooses must begin with, where there is such a thing.
_BEGINS = {
    "Constraints": r"(?:[\w\[(]|$)",
    "WorkDir": r"(?:/|$)",
    "SubmitLine": r"(?:$|\S*(?:sbatch|srun|salloc|scrun)\S*(?:\s|$))",
}
# fmt: on
# Columns whose values look like those of many others: they are no evidence of a record.
_TOO_PLAIN = frozenset(
    name
    for name, shape in _SHAPES.items()
    if shape == _WORD
    or name in ("JobID", "JobIDRaw", "UID", "GID", "NodeList", "Layout", "Flags", "")
)
_IDS = frozenset(("JobID", "JobIDRaw"))
_NO_EVIDENCE = _TOO_PLAIN | _IDS | {"State"}
# Free texts that tell amounts: a record in which one of them is in doubt is no record.
_AMOUNTS = frozenset(("AllocGRES", "Licenses", "ReqGRES"))
# How many digits have a shape, and the shapes of columns whose texts seldom repeat.
_DIGITS = {_ID + _STEP: 18, _TIME: 10, _NUMBER: 24, _SIZE: 24}
_VARIED = frozenset((*_DIGITS, _SPAN))
_NOT_MUCH = re.compile(r"[0-9.]{1,8}[A-Z]?[cn]?|[A-Za-z0-9]?")  # what a name may have as well
_NAME = re.compile(r"([A-Za-z][A-Za-z0-9_]*)(?:%-?[0-9]*)?")


class Begin(Enum):
    """Whether a line begins a record.

    It does SURELY with all fields of a record, or with columns in their places that only a
    record has; PERHAPS where nothing but an id tells: a text may have such a line as well. A line
    with as many fields as a record, or more, an id and a state in their places is one, whatever is
    wrong with the rest; so is one with just as many fields, of which more that tell are as their
    columns have them than not: a state may be the one that is wrong.
    """

    NOT = 0
    PERHAPS = 1
    SURELY = 2


def _are_ids(texts: Sequence[str]) -> bool:
    """Ids of jobs, of which none is a step, or of elements of arrays."""
    joined = "|".join(texts)
    return (
        max(map(len, texts)) <= 18
        and _are_digits("".join(texts).replace("_", ""))
        and not ("_|" in joined or "|_" in joined or joined[0] == "_" or joined[-1] == "_")
        and joined.count("_") == sum("_" in text for text in texts)
        and "" not in texts
    )


def _are_times(texts: Sequence[str]) -> bool:
    """Times such as 2026-11-20T14:29:34: what else stands between digits is in its place."""
    joined, size = "".join(texts), len(texts)
    return (
        {*map(len, texts)} == {19}
        and joined[4::19] == joined[7::19] == "-" * size
        and joined[10::19] == "T" * size
        and joined[13::19] == joined[16::19] == ":" * size
        and len(digits := joined.replace("-", "").replace(":", "").replace("T", "")) == 14 * size
        and _are_digits(digits)
    )


def are_plain_times(column: Plain) -> bool:
    """The same of a column of bytes."""
    found = column.characters(19)
    return found is not None and is_of_form(found, "0000-00-00T00:00:00")


def _are_spans(texts: Sequence[str]) -> bool:
    sizes = {*map(len, texts)}
    return min(sizes) >= 5 and max(sizes) <= 24 and not "".join(texts).strip("0123456789:.-")


def _are_words(texts: Sequence[str]) -> bool:
    return max(map(len, texts)) <= 400 and len(f"|{''.join(texts)}|".split()) == 1


def _are_ids_with_steps(texts: Sequence[str]) -> bool:
    if "." not in "".join(texts):
        return _are_ids(texts)
    parts = [text.partition(".") for text in texts]
    steps = {f"{dot}{step}" for _, dot, step in parts}
    return _are_ids([*{id for id, _, _ in parts}]) and all(map(_STEP_ID.fullmatch, steps))


def _are_sizes(texts: Sequence[str]) -> bool:
    """Sizes in digits with one letter behind them, or empty."""
    alone = {text for text in texts if len(text) < 2}
    return (
        max(map(len, texts)) <= 24
        and _are_digits("".join([text[:-1] for text in texts]) or "0")
        and {text[-1:] for text in texts} <= _UNITS
        and alone <= _DIGITS_OR_NOTHING
    )


def _are_digits(text: str) -> bool:
    return text.isdecimal() and text.isascii()


# What proves of a whole column, that is not empty, that its texts have a shape; not of each that
# has.
_PROOFS: dict[str, Callable[[Sequence[str]], bool]] = {
    _ID + _STEP: _are_ids_with_steps, _SIZE: _are_sizes, _TIME: _are_times, _SPAN: _are_spans,
    _WORD: _are_words, _NODES: _are_words,
}  # fmt: skip


def are_job_ids(texts: Sequence[str]) -> bool:
    """Whether all texts are ids of jobs or of steps."""
    return not texts or _are_ids_with_steps(texts) or all(map(JOB_ID.fullmatch, texts))


class _Fits(dict[str, bool]):
    """Whether texts have a shape; remembered for columns whose texts repeat."""

    def __init__(self, shape: re.Pattern[str]) -> None:
        super().__init__()
        self._fullmatch = shape.fullmatch
        self._digits = _DIGITS.get(shape.pattern, 0)
        self._varied = shape.pattern in _VARIED
        self._empty = shape.fullmatch("") is not None
        self._proof = _PROOFS.get(shape.pattern)

    def __missing__(self, text: str) -> bool:
        fits = self._fullmatch(text) is not None
        if not self._varied:
            if len(self) >= 1024:
                self.clear()
            self[text] = fits
        return fits

    def proves(self, column: BulkColumn) -> bool:
        """Whether every text of a column has the shape, by its distinct ones."""
        if self._proof is _are_times and isinstance(column, Plain) and are_plain_times(column):
            return True
        return self.all([*distinct(column)])

    def all(self, texts: Sequence[str]) -> bool:
        """Whether every text of a column has the shape."""
        if self._digits:
            joined = "".join(texts)
            if joined.isdecimal() and joined.isascii():
                sizes = set(map(len, texts))
                if max(sizes) <= self._digits and (self._empty or 0 not in sizes):
                    return True
        if self._proof and texts and self._proof(texts):
            return True
        if self._varied:
            return all(map(self._fullmatch, set(texts)))
        return all(map(self.__getitem__, set(texts)))


class Split(NamedTuple):
    """A field for each column, and the columns whose text there are several readings of."""

    fields: list[str]
    doubtful: tuple[int, ...] = ()


class Header:
    """The columns of a table, by name and place."""

    def __init__(self, names: Iterable[str], delimiter: str) -> None:
        self.names = tuple(names)
        self.delimiter = delimiter
        self.at = {name: index for index, name in reversed(tuple(enumerate(self.names)))}
        self.key = self.at.get("JobID", self.at.get("JobIDRaw", -1))
        self._state = self.at.get("State", -1)
        self.shapes = tuple(
            re.compile(_SHAPES[name]) if name in _SHAPES else None for name in self.names
        )
        self.begins = tuple(re.compile(_BEGINS.get(name, "")) for name in self.names)
        self.has_texts = None in self.shapes
        # What tells a record by the columns before its first text.
        shapes = [shape for shape in takewhile(lambda shape: shape, self.shapes) if shape]
        self._before_texts = tuple(_Fits(shape) for shape in shapes)

    def can_miss(self, index: int) -> bool:
        """Whether a job can do without the column: a text on which nothing else depends."""
        return self.shapes[index] is None and self.names[index] not in _AMOUNTS

    def split(self, text: str) -> list[str]:
        """The fields of a text; of hopelessly many only so many that they are too many."""
        return text.split(self.delimiter, len(self.names) + SURPLUS_LIMIT)

    def split_all(self, lines: Iterable[str]) -> list[list[str]]:
        """The fields of each of many lines."""
        delimiter, most = self.delimiter, len(self.names) + SURPLUS_LIMIT
        return [line.split(delimiter, most) for line in lines]

    def fits(self, index: int, text: str) -> bool:
        """Whether a text may be a value of the column at ``index``."""
        shape = self.shapes[index]
        if shape is None:
            return self.begins[index].match(text) is not None
        return shape.fullmatch(text) is not None

    def begins_record(self, fields: list[str]) -> Begin:
        """Whether a line's fields begin a record; see ``Begin``."""
        width = len(self.names)
        if not self.has_texts:
            return Begin.SURELY if any(fields) else Begin.NOT
        if len(fields) <= self.key:
            return Begin.NOT
        if not JOB_ID.fullmatch(fields[self.key]):
            return Begin.SURELY if self._lacks_only_an_id(fields) else Begin.NOT
        if len(fields) >= width:
            surely = (
                self._fits_before_texts(fields)
                or self._has_evidence(fields)
                or (len(fields) > width and self.holds_two(fields) is Begin.SURELY)
            )
            return Begin.SURELY if surely else Begin.NOT
        if len(fields) < 2 or not self._fits_before_texts(fields):
            return Begin.NOT
        # The last field of a line may go on in the next one.
        told = self._telling(fields[:-1], _TOO_PLAIN)
        if told and all(self.fits(index, fields[index]) for index in told):
            return Begin.SURELY
        return Begin.PERHAPS

    def _fits_before_texts(self, fields: list[str]) -> bool:
        """Whether the columns before the first text have values of their kind."""
        # The last field of a line may go on in the next one.
        return all(fits[text] for fits, text in zip(self._before_texts, fields[:-1], strict=False))

    def is_damaged(self, fields: list[str]) -> bool:
        """Whether a line is a record of which delimiters are lost, or that has some too many.

        Before one place its values are those of their columns, and behind it those of columns
        moved by as many: of values that tell, more are so than not, and more than a text has by
        chance.
        """
        surplus = len(fields) - len(self.names)
        if not (self.has_texts and len(fields) >= _ENOUGH and surplus < SURPLUS_LIMIT):
            return False
        moved = fields[surplus:] if surplus > 0 else [*[""] * -surplus, *fields]
        there = [(at, self.fits(at, fields[at])) for at in self._telling(fields, _TOO_PLAIN)]
        behind = [
            (at + surplus, self.fits(at, moved[at])) for at in self._telling(moved, _TOO_PLAIN)
        ]
        return any(
            self._are_most(
                [*(fits for at, fits in there if at < place),
                 *(fits for at, fits in behind if at >= place)]
            )
            for place in range(len(fields) + 1)
        )  # fmt: skip

    @staticmethod
    def _are_most(fits: Sequence[bool]) -> bool:
        return sum(fits) >= _ENOUGH and 2 * sum(fits) > len(fits)

    def _lacks_only_an_id(self, fields: list[str]) -> bool:
        """Whether a line is a record but for its id, which is none: there is a field for each
        column, a state, another value that tells, and nothing that a column cannot have.
        """
        if len(fields) != len(self.names) or not self._has_state(fields):
            return False
        return bool(self._telling(fields, _NO_EVIDENCE)) and all(
            self.fits(index, text)
            for index, text in enumerate(fields)
            if self.names[index] not in _IDS
        )

    def records(self, rows: Sequence[list[str]]) -> list[bool]:
        """Of many lines, by their fields: which are whole records for sure, with an id."""
        width = len(self.names)
        found = [fields for fields in rows if len(fields) == width]
        columns = list(zip(*found, strict=True)) or [()] * width
        if are_job_ids(columns[self.key]) and (
            not self.has_texts
            or all(
                fits.all(texts)
                for fits, texts in zip(self._before_texts, columns[: width - 1], strict=False)
            )
        ):
            return [len(fields) == width for fields in rows]
        return [
            len(fields) == width
            and JOB_ID.fullmatch(fields[self.key]) is not None
            and self.begins_record(fields) is Begin.SURELY
            for fields in rows
        ]

    def fit(self, columns: Sequence[BulkColumn]) -> Numbers:
        """The same of lines with a field for each column, as columns, those of steps left out.

        Such a line has an id, and values of their kind before its first text: there may be others.
        """
        import numpy as np

        fit = np.ones(len(columns[0]), bool)
        keys = columns[self.key]
        if not are_job_ids(keys.list):
            fit &= np.array([JOB_ID.fullmatch(text) is not None for text in keys.list])
        if "." in "".join(keys.list):
            fit &= np.array(["." not in text for text in keys.list])
        if self.has_texts:
            width = len(self.names)
            for fits, column in zip(self._before_texts, columns[: width - 1], strict=False):
                if fits.proves(column):
                    continue
                if isinstance(column, Coded):
                    fit &= np.array([fits[text] for text in column.values])[column.codes]
                else:
                    fit &= np.array([fits[text] for text in column.list])
        return fit

    def holds_two(self, fields: list[str]) -> Begin:
        """Whether too many fields are two records, of which one has no line of its own: a writer
        was killed, or a line end or more was lost.

        They are SURELY where enough of both tells; PERHAPS where not much does, and where an id is
        as long as the other: texts of users have numbers, too.
        """
        found = self._ends_whole(fields)
        return found if found is not Begin.NOT else self._begins_whole(fields)

    def _ends_whole(self, fields: list[str]) -> Begin:
        """Whether the second record is whole: the first field of it ends with an id."""
        begin = len(fields) - len(self.names)
        second = fields[begin:]
        found = _ID_AT_END.search(second[self.key])
        # No first record has more fields than there are columns.
        if not 1 <= begin <= len(self.names) or found is None:
            return Begin.NOT
        second[self.key] = found[0]
        if not (self.is_whole(second) and self._has_evidence(second)):
            return Begin.NOT
        if any(self.fits(at, fields[at]) for at in self._telling(fields[:begin], _TOO_PLAIN)):
            return Begin.SURELY
        if begin > 2 and all(map(self.fits, range(begin), fields)):
            return Begin.SURELY
        own, other = (text.partition("_")[0] for text in (fields[self.key], found[0]))
        return Begin.PERHAPS if len(other) + 1 >= len(own) else Begin.NOT

    def _begins_whole(self, fields: list[str]) -> Begin:
        """Whether the first record is whole up to its last field, and behind that stands the
        second without its beginning, or up to where it was cut short.
        """
        width = len(self.names)
        surplus = len(fields) - width
        if surplus < 2 or not all(map(self.fits, range(width - 1), fields)):
            return Begin.NOT
        size = min(surplus, width)
        ways = [(width - size, fields[len(fields) - size :])]
        if self.key == 0 and _ID_AT_END.search(fields[width - 1]):
            ways.append((1, fields[width:-1][: width - 1]))
        return max((self._tells(*way) for way in ways), key=lambda found: found.value)

    def _tells(self, first: int, texts: list[str]) -> Begin:
        """Whether texts are those of the columns from the first one on.

        Two values that are more than a number tell it: a name may have numbers.
        """
        if not all(self.fits(first + at, text) for at, text in enumerate(texts)):
            return Begin.NOT
        told = [texts[at - first] for at in self._telling([""] * first + texts, _TOO_PLAIN)]
        much = sum(":" in text or not _NOT_MUCH.fullmatch(text) for text in told)
        if much > 1:
            return Begin.SURELY
        return Begin.PERHAPS if much and len(told) > 1 else Begin.NOT

    def is_whole(self, fields: list[str]) -> bool:
        """Whether there is one field for each column, and each may be a value of it."""
        return len(fields) == len(self.names) and all(map(self.fits, range(len(fields)), fields))

    def is_record(self, fields: list[str]) -> bool:
        """Whether there is one field for each column, an id, and a state or others that tell.

        A value that does not fit its column is then a fault of the record.
        """
        return (
            len(fields) == len(self.names)
            and JOB_ID.fullmatch(fields[self.key]) is not None
            and self._has_evidence(fields)
        )

    def broken(self, fields: list[str]) -> str:
        """The first column that is no text and has a line end in it, or ""."""
        told = zip(self.names, self.shapes, fields, strict=True)
        return next((name for name, shape, text in told if shape and "\n" in text), "")

    def _has_evidence(self, fields: list[str]) -> bool:
        """Whether what stands behind an id tells a record."""
        return self._has_state(fields) or self._mostly_fits(fields)

    def _mostly_fits(self, fields: list[str]) -> bool:
        """Whether a field stands for each column, and most of those that tell fit theirs."""
        if len(fields) != len(self.names):
            return False
        told = [self.fits(index, fields[index]) for index in self._telling(fields, _TOO_PLAIN)]
        return 2 * sum(told) > len(told)

    def _telling(self, fields: list[str], plain: frozenset[str]) -> list[int]:
        """The places of fields that tell: of columns with a shape of their own, and not empty."""
        return [
            index
            for index, text in enumerate(fields[: len(self.names)])
            if text and self.shapes[index] is not None and self.names[index] not in plain
        ]

    def _has_state(self, fields: list[str]) -> bool:
        """Whether a state stands where it should; no text before it can have moved it."""
        at = self._state
        moved = len(fields) > len(self.names) and at > len(self._before_texts)
        return at >= 0 and not moved and fields[at] != "" and self.fits(at, fields[at])

    def resplit(self, fields: list[str]) -> Split | None:
        """Join surplus fields so that every column has a value of its kind, or None if none can.

        All ways of doing so are looked at, by the places where a column can begin: each column
        gets what every way gives it, and is in doubt where two ways differ.
        """
        places = self._places(fields)
        if 0 not in places[0]:
            return None
        found: list[str] = []
        doubtful: list[int] = []
        begun = {0}
        for index in range(len(self.names)):
            behind = places[index + 1]
            ends = [used for used in begun & behind if self.fits(index, fields[index + used])]
            on = [used for used in begun if self._goes_on(index, fields[index + used])]
            texts = chain(
                (fields[index + used : index + used + 1] for used in ends),
                (
                    fields[index + used : index + after + 1]
                    for used in on
                    for after in behind
                    if after > used
                ),
            )
            first = next(texts)
            if any(text != first for text in texts):
                doubtful.append(index)
            found.append(self.delimiter.join(first))
            begun = {*ends, *(after for after in behind if on and after > min(on))}
        return Split(found, tuple(doubtful))

    def _places(self, fields: list[str]) -> list[set[int]]:
        """How many surplus fields may be used up before each column, and behind the last.

        From each such place the fields to the right can all be given to the columns there.
        """
        width, surplus = len(self.names), len(fields) - len(self.names)
        places = [{surplus}]
        for index in range(width - 1, -1, -1):
            behind = places[-1]
            most = max(behind, default=-1)
            places.append({
                used
                for used in range(surplus + 1)
                if (used in behind and self.fits(index, fields[index + used]))
                or (used < most and self._goes_on(index, fields[index + used]))
            })  # fmt: skip
        return places[::-1]

    def _goes_on(self, index: int, text: str) -> bool:
        """Whether a value of the column may begin with a text and a delimiter behind it."""
        return self.shapes[index] is None and self.fits(index, text + self.delimiter)


def header(line: str, known: Iterable[str], delimiter: str = "") -> Header | None:
    """Read a header line, or None where the line is none.

    A header names JobID or JobIDRaw. The delimiter is what stands between its first two names,
    unless it is given.
    """
    canonical = {name.lower(): name for name in known}
    first = _NAME.match(line)
    if not first:
        return None
    if not delimiter:
        between = re.compile(r"[^A-Za-z0-9_%]+").match(line, first.end())
        delimiter = between[0] if between else "|"
    names = []
    for part in line.split(delimiter):
        found = _NAME.fullmatch(part)
        if part and not found:
            return None
        names.append(canonical.get(found[1].lower(), found[1]) if found else "")
    if not {"JobID", "JobIDRaw"} & set(names) or "" in names[:-1]:
        return None
    return Header(names, delimiter)
