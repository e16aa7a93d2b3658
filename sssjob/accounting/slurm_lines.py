"""From the bytes that sacct printed to rows of fields.

sacct escapes nothing: delimiters and newlines of job names, comments and command lines stand in
its output as they are. Physical lines are joined until the next one that begins a record, and a
record with too many fields is split where exactly one split lets every column have a value of its
kind. Where there are several, or none, the record is bad: nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple

from sssjob.accounting.record import Bad, Skipped, UnusableInput, lines

RECORD_LIMIT = 1 << 20  # bytes
LINES_LIMIT = 1000
SURPLUS_LIMIT = 200  # fields too many that are still taken for delimiters in texts
RESTART_LIMIT = 16  # lines within a broken record that are tried as the begin of another

_ID = r"[0-9]{1,18}(?:_(?:[0-9]{1,18}|\[[0-9,:%\-.]*\]?))?(?:\+[0-9]{1,9})?"
_STEP = r"(?:\.[A-Za-z0-9_+]{1,40})?"
JOB_ID = re.compile(_ID + _STEP)

_ISO = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,15}(?:Z|[+-][0-9:]{2,8})?"
_TIME = rf"(?:[0-9]{{1,10}}|{_ISO}|Unknown|None|N/A)?"
_SPAN = r"(?:[0-9:.\-]{5,24}|UNLIMITED|Partition_Limit|INVALID|Unknown)?"
_SIZE = r"(?:[0-9.]{1,24}[KMGTPEZ]?[cn]?|[0-9]{1,24}\?[cn]?)?"
_NUMBER = r"(?:[0-9.]{1,24}[KMG]?|UNLIMITED|Partition_Limit)?"
_CODE = r"(?:[0-9]{1,10}:[0-9]{1,5})?"
_WORD = r"\S{0,400}"
_TRES = r"(?:[A-Za-z][\w/:.\-]*=[^,=\s]*(?:,[A-Za-z][\w/:.\-]*=[^,=\s]*)*)?"
_NODES = r"(?:[^\s]+|None assigned)?"

# What a value of a column looks like, for columns whose values no user can choose freely.
# fmt: off
_SHAPES: dict[str, str] = {
    "JobID": _ID + _STEP, "JobIDRaw": _ID + _STEP, "State": r"(?:[A-Z][A-Z_]*\+?(?: by \S+)?)?",
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
                     "TRESUsageOutTot"), _TRES),
    **dict.fromkeys(("User", "Group", "Cluster", "Partition", "QOS", "Reason",
                     "ReqCPUFreq", "SLUID", "AveCPUFreq", "ReqCPUFreqMin", "ReqCPUFreqMax",
                     "ReqCPUFreqGov"), _WORD),
    "NodeList": _NODES, "Flags": r"[\w,]*", "Layout": r"[A-Za-z]*", "": "",
}
# What a text that a user chooses must begin with, where there is such a thing.
_BEGINS = {
    "WorkDir": r"(?:/|$)",
    "SubmitLine": r"(?:$|\S*(?:sbatch|srun|salloc|scrun)\S*(?:\s|$))",
}
# fmt: on
_NAME = re.compile(r"([A-Za-z][A-Za-z0-9_]*)(?:%-?[0-9]*)?")


class Row(NamedTuple):
    """One record: the line that it begins in, and its fields in the order of the header."""

    line: int
    fields: list[str]


class Header:
    """The columns of a table, by name and place."""

    def __init__(self, names: Iterable[str], delimiter: str) -> None:
        self.names = tuple(names)
        self.delimiter = delimiter
        self.at = {name: index for index, name in reversed(tuple(enumerate(self.names)))}
        self.key = self.at.get("JobID", self.at.get("JobIDRaw", -1))
        self.shapes = tuple(
            re.compile(_SHAPES[name]) if name in _SHAPES else None for name in self.names
        )
        self.begins = tuple(re.compile(_BEGINS.get(name, "")) for name in self.names)

    def split(self, text: str) -> list[str]:
        """The fields of a text; of hopelessly many only so many that they are too many."""
        return text.split(self.delimiter, len(self.names) + SURPLUS_LIMIT)

    def fits(self, index: int, text: str) -> bool:
        """Whether a text may be a value of the column at ``index``."""
        shape = self.shapes[index]
        if shape is None:
            return self.begins[index].match(text) is not None
        return shape.fullmatch(text) is not None

    def begins_record(self, fields: list[str]) -> bool:
        """Whether a line's fields begin a record: an id, and no column before a text amiss."""
        if len(fields) <= self.key or len(fields) < min(2, len(self.names)):
            return False
        if not JOB_ID.fullmatch(fields[self.key]):
            return False
        for index, text in enumerate(fields[: len(self.names)]):
            if self.shapes[index] is None:
                return True
            # The last field of a line may go on in the next one.
            if index + 1 < len(fields) and not self.fits(index, text):
                return False
        return True

    def whole(self, fields: list[str]) -> bool:
        """Whether there is one field for each column, and each may be a value of it."""
        return len(fields) == len(self.names) and all(map(self.fits, range(len(fields)), fields))

    def resplit(self, fields: list[str]) -> list[list[str]]:
        """Up to two ways to join surplus fields so that every column has a value of its kind."""
        width, surplus = len(self.names), len(fields) - len(self.names)
        # ways[extra]: splits of the fields seen so far that have used up so many surplus ones.
        ways: dict[int, list[list[str]]] = {0: [[]]}
        possible = self._reachable(fields, surplus)
        for index in range(width):
            longer: dict[int, list[list[str]]] = {}
            for extra, begun in ways.items():
                for more in range(surplus - extra + 1 if self.shapes[index] is None else 1):
                    if (index + 1, extra + more) not in possible:
                        continue
                    start = index + extra
                    text = self.delimiter.join(fields[start : start + more + 1])
                    if self.fits(index, text):
                        known = longer.setdefault(extra + more, [])
                        known.extend([*way, text] for way in begun[: 2 - len(known)])
            ways = longer
        return ways.get(surplus, [])

    def _reachable(self, fields: list[str], surplus: int) -> set[tuple[int, int]]:
        """The (column, surplus used) from which the fields to the right can all be placed."""
        width = len(self.names)
        possible = {(width, surplus)}
        for index in range(width - 1, -1, -1):
            beyond = [extra for extra in range(surplus + 1) if (index + 1, extra) in possible]
            if self.shapes[index] is None:
                most = max(beyond, default=-1)
                possible |= {
                    (index, extra)
                    for extra in range(most + 1)
                    if self.begins[index].match(fields[index + extra])
                }
            else:
                possible |= {
                    (index, extra) for extra in beyond if self.fits(index, fields[index + extra])
                }
        return possible


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


class Reader:
    """Reads the rows of a stream; ``header`` is the one that the last row belongs to."""

    def __init__(
        self, known: Iterable[str], columns: Iterable[str] = (), delimiter: str = ""
    ) -> None:
        self._known = tuple(known)
        self._delimiter = delimiter
        self.header: Header | None = None
        if names := tuple(columns):
            delimiter = delimiter or "|"
            self.header = header(delimiter.join(names), self._known, delimiter)
            if self.header is None:
                raise UnusableInput("the columns hold no JobID, or what is no column name")

    def rows(self, stream: BinaryIO) -> Iterator[Row | Skipped | Bad]:
        """Every record of a stream. Raises ``UnusableInput`` where the columns are not known."""
        keep = (self._delimiter or "\x1f\x1e\x1d\x1c").encode()
        physical = enumerate(lines(stream, RECORD_LIMIT, keep), start=1)
        if self.header is None:
            self.header = self._first(physical)
        group: list[str] = []
        alone: list[str] | None = None
        begun, size, tainted = 0, 0, False
        for number, line in physical:
            head = self.header
            fields = head.split(line)
            if head.begins_record(fields) and len(fields) == len(head.names):
                if alone is not None:
                    yield Row(begun, alone)
                    tainted = False
                elif group:
                    outcomes, tainted = self._settled(group, begun, tainted)
                    yield from outcomes
                group, alone, begun, size = [line], fields, number, len(line)
                continue
            alone = None
            if not (starts := head.begins_record(fields)) and (new := self._another(line)):
                outcomes, tainted = self._settled(group, begun, tainted)
                yield from outcomes
                yield Skipped(number, "header")
                self.header, group = new, []
                continue
            if starts and group and not self._completes(group, fields):
                outcomes, tainted = self._settled(group, begun, tainted)
                yield from outcomes
                group = []
            if not group:
                if not line.strip():
                    continue
                begun, size = number, 0
            size += len(line) + 1
            if size <= RECORD_LIMIT and len(group) <= LINES_LIMIT:
                group.append(line)
            elif group[-1:] != [_CUT]:
                group.append(_CUT)
        yield from self._settled(group, begun, tainted)[0]

    def _first(self, physical: Iterator[tuple[int, str]]) -> Header:
        for number, line in physical:
            text = line.removeprefix("\ufeff")
            if not text.strip() or text.startswith("#"):
                continue
            if found := header(text, self._known, self._delimiter):
                return found
            raise UnusableInput(
                "no header line: expected column names such as JobID|User|State "
                "(sacct without --noheader), or name the columns",
                number,
            )
        raise UnusableInput("nothing to read: not even a header line")

    def _another(self, line: str) -> Header | None:
        """The header of another file that was appended to this one."""
        if "JobID" not in line or len(line) > 8192:
            return None
        found = header(line.removeprefix("\ufeff"), self._known, self._delimiter)
        return found if found and set(found.names) <= {*self._known, ""} else None

    def _completes(self, group: list[str], fields: list[str]) -> bool:
        """Whether a line that could begin a record more likely continues the one before."""
        head = self.header
        assert head is not None
        if len(fields) >= len(head.names) or group[-1] is _CUT:
            return False
        return len(head.split("\n".join(group))) < len(head.names)

    def _settled(self, group: list[str], line: int, tainted: bool) -> tuple[list[Row | Bad], bool]:
        """What a group of lines is, and whether its last record was cut short.

        After a record that was cut short, one that does not fit by itself is bad as well: the two
        may be pieces of a text that imitates a record.
        """
        if not group:
            return [], tainted
        assert self.header is not None
        outcomes: list[Row | Bad] = []
        starts = self._starts(group)
        for begin, end in zip(starts, [*starts[1:], len(group)], strict=True):
            found = self._record(group[begin:], line + begin, tainted)
            if isinstance(found, Row):
                return [*outcomes, found], False
            if begin == 0 and not tainted and self._only_first(group):
                stray = Bad(line + 1, "not part of any record")
                return [Row(line, self.header.split(group[0])), stray], False
            if end < len(group):
                found = self._cut(group[begin:end], line + begin)
            outcomes.append(found)
            tainted = True
        return outcomes, tainted

    def _only_first(self, group: list[str]) -> bool:
        """Whether the first of several lines is a record by itself."""
        assert self.header is not None
        return len(group) > 1 and self.header.whole(self.header.split(group[0]))

    def _starts(self, group: list[str]) -> list[int]:
        """The first line, and those within that could begin a record if the whole is none."""
        head = self.header
        assert head is not None
        inner = (
            index
            for index in range(1, len(group))
            if group[index] is not _CUT and head.begins_record(head.split(group[index]))
        )
        return [0, *(index for index, _ in zip(inner, range(RESTART_LIMIT), strict=False))]

    def _cut(self, group: list[str], line: int) -> Bad:
        found = self._record(group, line, False)
        return found if isinstance(found, Bad) else Bad(line, "unclear where the record ends")

    def _record(self, group: list[str], line: int, tainted: bool) -> Row | Bad:
        head = self.header
        assert head is not None
        if group[-1] is _CUT:
            return Bad(line, f"longer than {RECORD_LIMIT} bytes or {LINES_LIMIT} lines")
        fields = head.split("\n".join(group).rstrip("\n"))
        width = len(head.names)
        if len(fields) == width and (len(group) == 1 or head.whole(fields)):
            return Row(line, fields)
        if tainted:
            return Bad(line, "not a whole record, after another that is none")
        if len(fields) < width:
            return Bad(line, f"{_fields(len(fields))} where the header has {width}")
        if len(fields) - width >= SURPLUS_LIMIT:
            return Bad(line, f"more than {width + SURPLUS_LIMIT - 1} fields")
        ways = head.resplit(fields)
        if len(ways) == 1:
            return Row(line, ways[0])
        found = f"{_fields(len(fields))} where the header has {width}"
        why = "cannot be told apart" if ways else "do not fit the columns"
        return Bad(line, f"{found}: a delimiter in a text, and the columns {why}")


_CUT = "\0cut"  # stands for lines that were not kept; no clean line holds a NUL


def _fields(count: int) -> str:
    return f"{count} field{'' if count == 1 else 's'}"
