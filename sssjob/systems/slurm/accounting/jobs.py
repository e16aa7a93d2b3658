"""Records of jobs, and their task groups, of the rows that Slurm printed: column by column."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import chain, repeat
from typing import Any, Generic, TypeVar, cast

from sssjob import units
from sssjob.errors import InvalidValue, Severity
from sssjob.records.clock import doubts, is_apart, passed, states_zone
from sssjob.records.layout import NEVER, NO_START, Names, RecordBatch, goes_on, ran
from sssjob.records.making import Plans
from sssjob.records.plan import Odd
from sssjob.records.readers import digits
from sssjob.records.record import Noted
from sssjob.records.texts import BulkColumn, Coded, WholeNumbers, distinct, has_any, same
from sssjob.systems.slurm import words
from sssjob.systems.slurm.accounting import table, values
from sssjob.systems.slurm.accounting.lines import RowRun, SacctRow
from sssjob.systems.slurm.accounting.readers import BEGUN, ENDED
from sssjob.systems.slurm.accounting.steps import Summed
from sssjob.systems.slurm.states import Phase, is_over, phase, was_started
from sssjob.systems.slurm.unset import NO_VALUE

P = TypeVar("P")
J = TypeVar("J")


def _over(progress: Sequence[str]) -> tuple[Sequence[str], Sequence[bool]]:
    """Which jobs have run to their end: as a column, and whether each has."""
    if isinstance(progress, Coded):
        told = ["1" if text == ENDED else "" for text in progress.values]
        over = Coded(told, progress.codes)
        return over, [each != "" for each in over.list]
    return ["1" if text == ENDED else "" for text in progress], [text == ENDED for text in progress]


_MAY_BE_TWO = (
    "a text has the delimiter in it, and what may be the id of another job: if the line was cut "
    "short and another one joined to it, what it says is of that one"
)
_NOT_STARTED = frozenset(("None assigned",))
_NO_TIME = NO_VALUE | {"0"}  # seconds since 1970, as SLURM_TIME_FORMAT has them printed
_TIMES = ("Submit", "Eligible", "Start", "End")
# Columns that tell one thing: the first that there is counts, as in ``table``.
_PASSED = ("ElapsedRaw", "Elapsed")
_OF_CPU = ("TotalCPU", "UserCPU", "SystemCPU")
_PROCESSORS, _NODES = ("NCPUS", "AllocCPUS"), ("NNodes", "AllocNodes")


def truncated_end(line: int) -> Noted:
    """What there is to say of a job that goes on and has an end all the same."""
    return goes_on(line, "sacct --truncate")


def _is_untold(text: str) -> bool:
    return text in NO_VALUE


def _has_untold(column: Sequence[str]) -> bool:
    return has_any(column, NO_VALUE)


def _passed(start: str, end: str, suspended: str) -> str:
    """The seconds from a start to an end without those of a suspension, or ""."""
    try:
        away = int(words.duration(suspended) or 0)
    except InvalidValue:
        return ""
    return passed(start, end, str(away)) or ""


def _durations(column: Sequence[str]) -> list[int]:
    """Durations, or plain seconds, of a column, -1 where there is none that can be read."""
    try:
        found = words.durations(column)
    except InvalidValue:
        found = [*map(_duration, column)]
    return [-1 if each is None else int(each) for each in found]


def _duration(text: str) -> int | None:
    try:
        found = words.duration(text) if ":" in text else values.integer(text)
    except InvalidValue:
        return None
    return None if found is None else int(found)


def _is_apart(between: int, wall: int, paused: int, *times: str) -> bool:
    """Whether the times of a job are another time apart than what passed, and a suspension.

    Where nothing tells the suspension (-1), only what is longer contradicts them. Where ``times``
    do not state their zone, an hour may be that of a clock that was put forward; one put back is
    told elsewhere. # decision 1070
    """
    lasted = wall + max(paused, 0)
    if between < 0 or not is_apart(between, lasted, longer=paused < 0):
        return False
    return is_apart(abs(between - lasted), 3600) or all(map(states_zone, times))


def _apart(starts: Any, ends: Any, walls: Any, away: Any = None) -> list[int]:
    """The places of jobs of which ``_is_apart`` may be true."""
    import numpy as np

    between = ends - starts
    if away is None:
        apart = is_apart(between, walls, longer=True)
    else:
        apart = is_apart(between, walls + np.maximum(away, 0))
    found: list[int] = np.flatnonzero(apart).tolist()
    return found


def _seconds_of(column: Sequence[str], *, are_clocks: bool) -> WholeNumbers | None:
    """A column of durations, if it is one of bytes and can be read at once."""
    if isinstance(column, Coded):
        import numpy as np

        return WholeNumbers(np.array(_durations(column.values))[column.codes])
    if not isinstance(column, BulkColumn):
        return None
    found = words.clocks(column) if are_clocks else digits(column)
    return found if isinstance(found, WholeNumbers) else None


class RowColumns(Generic[P, J]):
    """Rows with the same names: what is worked out of their columns, many at once.

    ``key`` is the place of the column of ids, ``step_columns`` are those of which a step makes
    something.
    """

    def __init__(self, names: Names, plans: Plans[P, J]) -> None:
        self._at = {name: index for index, name in reversed(tuple(enumerate(names)))}
        self.key = self._at.get("JobID", self._at.get("JobIDRaw", -1))
        self._clock = plans.clock
        self._names = (*names, *table.OF_JOBS)
        self._never = (*self._names, NEVER)
        self._steps = plans.of((*names, *table.OF_STEPS))
        self.step_columns = self._steps.columns
        self._job_columns = plans.of(self._names).columns

    def batches(
        self, rows: Sequence[SacctRow], places: Sequence[int], sums: Sequence[Sequence[Any]],
        groups: Sequence[P], notes: Sequence[tuple[Noted, ...]],
        folded: Sequence[Collection[tuple[int, str]]],
    ) -> list[RecordBatch]:  # fmt: skip
        """The records of jobs in these places: of allocations, sums, and task groups."""
        if not rows:
            return []
        columns, twice = self._columns(rows)
        if twice:
            pairs = zip(notes or repeat(()), rows, strict=False)
            notes = [(*told, *self._doubtful(row, twice)) for told, row in pairs]
        told = RecordBatch(
            self._names, places, [row.line for row in rows], [*columns, *sums],
            (), (), notes, folded, groups,
        )  # fmt: skip
        return self._batches(told)

    def of_runs(self, runs: Sequence[RowRun], summed: Summed) -> list[RecordBatch] | None:
        """The same of jobs of one row each, of runs behind each other; None where a time in them
        happened twice.
        """
        columns = RowRun.columns(runs)
        times = [columns[self._at[name]] for name in _TIMES if name in self._at]
        if self._clock.doubtful_in(times):
            return None
        lines = runs[0].lines if len(runs) == 1 else [*chain(*(run.lines for run in runs))]
        told = summed.of_jobs(columns, lines)
        if told is None:
            return None
        places = range(len(lines))
        return self._batches(RecordBatch(self._names, places, lines, [*columns, *told]))

    def _batches(self, told: RecordBatch) -> list[RecordBatch]:
        """Records with their columns and sums, and what is worked out of these between them."""
        width, size = len(self._names) - len(table.OF_JOBS), len(told.lines)
        columns, sums = [*told.columns[:width]], told.columns[width:]
        progress = self._progress(columns, size)
        truncated = self._without_ends(columns, progress)
        contradicted = self._contradicted(columns, progress)
        span = self._span(columns, progress, size)
        self._fill(columns)
        submit = self._at.get("Submit")
        submitted: Sequence[str]
        submitted = [""] * size if submit is None else self._clock.column(columns[submit])
        over, ended = _over(progress)
        worked_out = [progress, over, submitted, span]
        batch = told._replace(columns=[*columns, *worked_out, *sums], ended=ended)
        begun, unsaid = self._started(columns, progress, size)
        if unsaid or truncated or contradicted:
            notes = [*(batch.notes or repeat((), size))]
            for at, told_times in contradicted.items():
                notes[at] = (*notes[at], *doubts(told.lines[at], *told_times))
            for at in truncated:
                notes[at] = (*notes[at], truncated_end(told.lines[at]))
            for at in unsaid:
                notes[at] = (*notes[at], Noted(told.lines[at], NO_START, once=True))
            batch = batch._replace(notes=notes)
        if all(begun):
            return [batch]
        waiting = batch.only([at for at, started in enumerate(begun) if not started])
        at = len(columns)
        waits = [[text if text == ENDED else "" for text in waiting.columns[at]],
                 [""] * len(waiting.lines)]  # fmt: skip
        columns = [*waiting.columns[:at], *waits, *waiting.columns[at + 2 :]]
        return [
            batch.only([at for at, started in enumerate(begun) if started]),
            waiting._replace(names=self._never, columns=columns),
        ]

    def _span(
        self, columns: list[Sequence[str]], progress: Sequence[str], size: int
    ) -> Sequence[str]:
        """The seconds from start to end of jobs that have ended and tell nothing better.

        That is less the time that they were suspended. Where there is a column of the time that
        passed, they are put into it, and the column of spans is empty.
        """
        own = next((self._at[name] for name in _PASSED if name in self._at), None)
        empty = same("", size) if isinstance(progress, BulkColumn) else [""] * size
        if "Start" not in self._at or "End" not in self._at:
            return empty
        if own is not None and not _has_untold(columns[own]):
            return empty
        told = [""] * size if own is None else [*columns[own]]
        starts = self._clock.column(columns[self._at["Start"]])
        ends = self._clock.column(columns[self._at["End"]])
        suspended = self._told(columns, "Suspended", size)
        are_clocks = own == self._at.get("Elapsed", -1)
        for at, text in enumerate(told):
            if not _is_untold(text) or progress[at] != ENDED:
                continue
            if span := _passed(starts[at], ends[at], suspended[at]):
                told[at] = units.clock(int(span)) if are_clocks else span
        if own is None:
            return told
        columns[own] = told
        return empty

    # decision 1059
    def _contradicted(
        self, columns: Sequence[Sequence[str]], progress: Sequence[str]
    ) -> dict[int, tuple[str, str, str, str | None]]:
        """The jobs whose times are not as long apart as the time that passed, and what was told.

        That is start and end, the time that passed, and that of a suspension, if it is told.
        """
        own = next((name for name in _PASSED if name in self._at), None)
        if own is None or "Start" not in self._at or "End" not in self._at:
            return {}
        times = [columns[self._at[name]] for name in ("Start", "End", own)]
        places: Sequence[int]
        starts: Sequence[str]
        ends: Sequence[str]
        away = columns[self._at["Suspended"]] if "Suspended" in self._at else None
        numbers = self._numbers(times, away, own)
        places = range(len(progress)) if numbers is None else _apart(*numbers)
        if numbers is None:
            starts, ends = map(self._clock.column, times[:2])
        else:
            times = [[column[at] for at in places] for column in times]
            away = None if away is None else [away[at] for at in places]
            starts, ends = ([*map(self._clock.readable, column)] for column in times[:2])
        lasted = _durations(times[2])
        paused = [-1] * len(lasted) if away is None else _durations(away)
        found = {}
        told = zip(places, starts, ends, lasted, paused, *times[:2], strict=True)
        for at, start, end, wall, rest, *texts in told:
            if wall < 0 or not (start and end) or progress[at] != ENDED:
                continue
            if _is_apart(int(end) - int(start), wall, rest, *texts):
                found[at] = (start, end, str(wall), None if rest < 0 else str(rest))
        return found

    def _numbers(
        self, times: Sequence[Sequence[str]], away: Sequence[str] | None, own: str
    ) -> list[Any] | None:
        """The same as arrays: start, end, the time that passed and that of a suspension."""
        if not isinstance(times[0], BulkColumn):
            return None
        found = [self._clock.bulk(times[0]), self._clock.bulk(cast(BulkColumn, times[1]))]
        for column in (times[2], away):
            if column is None:
                break
            found.append(_seconds_of(column, are_clocks=own == "Elapsed" or column is away))
        if any(each is None for each in found):
            return None
        return [cast(WholeNumbers, each).numbers for each in found]

    def _fill(self, columns: list[Sequence[str]]) -> None:
        """Put the numbers of processors and nodes that AllocTRES tells where no other does."""
        if "AllocTRES" not in self._at:
            return
        allocated = columns[self._at["AllocTRES"]]
        for names, kind in ((_PROCESSORS, "cpu"), (_NODES, "node")):
            own = next((self._at[name] for name in names if name in self._at), None)
            if own is not None and _has_untold(columns[own]):
                columns[own] = [
                    (values.in_all(kind, tres) or text) if _is_untold(text) else text
                    for text, tres in zip(columns[own], allocated, strict=True)
                ]

    def groups(
        self, rows: Sequence[SacctRow], steps: Sequence[str]
    ) -> tuple[list[P | Odd[P]], list[int]]:
        """Steps as task groups, whose Id is the part of the step's id behind the job's.

        With them those that go on and have an end all the same.
        """
        columns, _ = self._columns(rows)
        progress = self._progress(columns, len(rows))
        truncated = self._without_ends(columns, progress)
        over, _ = _over(progress)
        return self._steps.groups([*columns, progress, over, steps]), truncated

    def joined(self, row: SacctRow) -> Iterator[Noted]:
        """Which lines are part of a record."""
        if row.joined and (lines := row.joined.lines):
            told = "the next line belongs" if lines == 1 else f"the next {lines} lines belong"
            text = f"{told} to this record: it has a text with line breaks"
            yield Noted(row.line, text, severity=Severity.NOTICE)
        if row.joined and row.joined.may_be_two:
            yield Noted(row.line, _MAY_BE_TWO)

    def doubts(self, row: SacctRow, *, step: bool = False) -> Iterator[Noted]:
        """Which columns of a row would have become something, if one could tell what they hold."""
        kept = self.step_columns if step else self._job_columns
        names = [name for name in row.joined.in_doubt if name in kept] if row.joined else ()
        if names:
            shown = ", ".join(names)
            why = "a text has the delimiter in it: left out, since they cannot be told apart"
            text = f"{why}: {shown}"
            yield Noted(row.line, text)

    def _columns(self, rows: Sequence[SacctRow]) -> tuple[list[Sequence[str]], set[str]]:
        """The columns of rows, and their times that happened twice.

        Those of an autumn hour are told apart by the time that passed.
        """
        twice = self._twice(rows)
        if twice:
            rows = [self._untangled(row, twice) for row in rows]
        return [*zip(*[row.fields for row in rows], strict=True)], twice

    def _told(self, columns: Sequence[Sequence[str]], name: str, size: int) -> Sequence[str]:
        """The texts of a column, each "" where there is none."""
        index = self._at.get(name)
        return [""] * size if index is None else columns[index]

    def _progress(self, columns: Sequence[Sequence[str]], size: int) -> Sequence[str]:
        """How far each job is: the state decides, for sacct prints ends of jobs that go on, too.

        What it cannot tell is told by the end, or by the state where there is no such column.
        """
        states = self._told(columns, "State", size)
        open_ended = {text for text in {*distinct(states)} if phase(text) is not Phase.TOLD_BY_END}
        if "End" in self._at:
            ends = columns[self._at["End"]]
            if not open_ended and not has_any(ends, _NO_TIME):
                return same(ENDED, size) if isinstance(ends, BulkColumn) else [ENDED] * size
            over = [
                end not in _NO_TIME or bool(text and is_over(text))
                for end, text in zip(ends, states, strict=True)
            ]
        else:
            over = [bool(text) and is_over(text) for text in states]
        return [
            ENDED if end and state not in open_ended else BEGUN
            for end, state in zip(over, states, strict=True)
        ]

    def _without_ends(self, columns: list[Sequence[str]], progress: Sequence[str]) -> list[int]:
        """Leave out the ends of jobs that go on, which are those of a window; the jobs with one."""
        end, state = self._at.get("End"), self._at.get("State")
        if end is None or state is None or BEGUN not in progress:
            return []
        told = enumerate(zip(columns[end], columns[state], strict=True))
        found = [
            place for place, (text, state) in told
            if text not in _NO_TIME and phase(state) is not Phase.TOLD_BY_END
        ]  # fmt: skip
        if found:
            ends = columns[end] = [*columns[end]]
            for place in found:
                ends[place] = ""
        return found

    def _started(
        self, columns: Sequence[Sequence[str]], progress: Sequence[str], size: int
    ) -> tuple[Sequence[bool], list[int]]:
        """Whether each job was started; and those that ran, as they tell, and say no start.

        Nodes that were not assigned say none either, but for a time that passed.
        """
        states = self._told(columns, "State", size)
        waits = {text for text in {*distinct(states)} if phase(text) is Phase.WAITS}
        nodes = self._told(columns, "NodeList", size)
        starts = columns[self._at["Start"]] if "Start" in self._at else ["1"] * size
        if not waits and not has_any(nodes, _NOT_STARTED) and not has_any(starts, _NO_TIME):
            return (True,), []
        begun, unsaid = [], []
        for at, (node, state, start) in enumerate(zip(nodes, states, starts, strict=True)):
            can_be = state not in waits
            has_no_start = start in _NO_TIME
            says_none = has_no_start or node in _NOT_STARTED
            if can_be and says_none and progress[at] == ENDED:
                if self._ran(columns, at):
                    unsaid += [at] * has_no_start
                    says_none = False
                elif was_started(state) and not self._tells_wall(columns, at):
                    says_none = False  # nor does anything say that it used nothing
            begun.append(can_be and not says_none)
        return begun, unsaid

    def _tells_wall(self, columns: Sequence[Sequence[str]], at: int) -> bool:
        """Whether a record tells how much time passed in its job."""
        return any(
            not _is_untold(columns[self._at[name]][at]) for name in _PASSED if name in self._at
        )

    def _ran(self, columns: Sequence[Sequence[str]], at: int) -> bool:
        """Whether time passed in a job, as its record says."""
        names = [name for name in (*_PASSED, *_OF_CPU) if name in self._at]
        return ran(*[columns[self._at[name]][at] for name in names])

    def _text(self, fields: Sequence[str], column: str) -> str:
        """The text of a column, or "" where there is none."""
        index = self._at.get(column)
        return "" if index is None else fields[index]

    def _twice(self, rows: Sequence[SacctRow]) -> set[str]:
        """The times of rows that happened twice."""
        places = [self._at[name] for name in _TIMES if name in self._at]
        return self._clock.doubtful(row.fields[place] for place in places for row in rows)

    def _doubtful(self, row: SacctRow, twice: set[str]) -> Iterator[Noted]:
        """Times that happened twice and that nothing in the record tells apart."""
        doubtful = {self._text(row.fields, column) for column in _TIMES} & twice
        if doubtful and len(self._readings(row.fields)) == 1:
            doubtful -= {self._text(row.fields, "Start"), self._text(row.fields, "End")}
        for text in sorted(doubtful):
            yield Noted(row.line, f"{text} happened twice; the first time is taken", once=True)

    def _untangled(self, row: SacctRow, twice: set[str]) -> SacctRow:
        """The row; times of an autumn hour are told apart by the time that passed."""
        if not {self._text(row.fields, "Start"), self._text(row.fields, "End")} & twice:
            return row
        chosen = self._readings(row.fields)
        if len(chosen) != 1:
            return row
        fields = list(row.fields)
        fields[self._at["Start"]], fields[self._at["End"]] = chosen[0]
        return row._replace(fields=fields)

    def _readings(self, fields: Sequence[str]) -> list[tuple[str, str]]:
        """The pairs of start and end that are as far apart as the record says."""
        try:
            passed = words.duration(self._text(fields, "Elapsed"))
            if passed is None and (raw := values.integer(self._text(fields, "ElapsedRaw"))):
                passed = Fraction(int(raw))
            suspended = words.duration(self._text(fields, "Suspended")) or 0
            starts = {self._clock.read(self._text(fields, "Start"), fold) for fold in (0, 1)}
            ends = {self._clock.read(self._text(fields, "End"), fold) for fold in (0, 1)}
        except InvalidValue:
            return []  # what cannot be read is told where it would be a property
        return [
            (start, end)
            for start in starts
            for end in ends
            if start and end and passed is not None and int(end) - int(start) == passed + suspended
        ]
