"""Records of jobs, and their task groups, of the rows that Slurm printed: column by column."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from typing import Any, Generic, TypeVar

from sssjob.errors import InvalidValue, Severity
from sssjob.records.clock import NO_VALUE
from sssjob.records.layout import NEVER, Names, Record
from sssjob.records.making import Plans
from sssjob.records.plan import Odd
from sssjob.records.record import Noted
from sssjob.systems.slurm import words
from sssjob.systems.slurm.accounting import table, values
from sssjob.systems.slurm.accounting.lines import Row
from sssjob.systems.slurm.accounting.readers import BEGUN, ENDED
from sssjob.systems.slurm.accounting.values import Phase, phase

P = TypeVar("P")
J = TypeVar("J")

# What there is to say of a job that goes on and has an end all the same.
GOES_ON = "an End of a job that goes on: sacct --truncate prints it, and it is left out"

_record = tuple.__new__  # what Record(...) calls in the end, without a call in between
_NOT_STARTED = frozenset(("None assigned",))
_TIMES = ("Submit", "Eligible", "Start", "End")


class Columns(Generic[P, J]):
    """Rows with the same names: what is worked out of their columns, many at once.

    ``key`` is the place of the column of ids, ``step_columns`` are those of which a step makes
    something, ``truncated`` is the first line of a job that goes on and has an end all the same, if
    such jobs are wanted.
    """

    def __init__(self, names: Names, plans: Plans[P, J], *, ended_only: bool) -> None:
        self._at = {name: index for index, name in reversed(tuple(enumerate(names)))}
        self.key = self._at.get("JobID", self._at.get("JobIDRaw", -1))
        self.truncated = 0
        self._ended_only = ended_only
        self._clock = plans.clock
        self._names = (*names, *table.OF_JOBS)
        self._never = (*self._names, NEVER)
        self._steps = plans.of((*names, *table.OF_STEPS))
        self.step_columns = self._steps.columns
        self._job_columns = plans.of(self._names).columns

    def records(
        self, rows: Sequence[Row], sums: Sequence[Sequence[Any]], groups: Sequence[P],
        notes: Sequence[tuple[Noted, ...]], folded: Sequence[Collection[tuple[int, str]]],
    ) -> list[Record]:  # fmt: skip
        """The records of jobs: of their allocations, what was summed, and their task groups."""
        twice = self._twice(rows)
        if twice:
            pairs = zip(notes, rows, strict=True)
            notes = [(*told, *self._doubtful(row, twice)) for told, row in pairs]
            rows = [self._untangled(row, twice) for row in rows]
        progress = self._progress(rows)
        fields, truncated = self._without_ends(rows, progress)
        if not self._ended_only:
            self.truncated = self.truncated or truncated
        submitted = self._submitted(fields)
        names, never = self._names, self._never
        started = [True] * len(rows) if self._are_started(fields) else map(self._started, fields)
        return [
            _record(Record, (
                row.line,
                names if begun else never,
                [*texts, done if begun or done == ENDED else "",
                 "1" if begun and done == ENDED else "", moment, *summed],
                done == ENDED, (), told, parts, group,
            ))
            for row, texts, begun, done, moment, summed, told, parts, group in zip(
                rows, fields, started, progress, submitted, sums, notes, folded, groups,
                strict=True,
            )
        ]  # fmt: skip

    def groups(self, rows: Sequence[Row], steps: Sequence[str]) -> list[P | Odd[P]]:
        """Steps as task groups, whose Id is the part of the step's id behind the job's."""
        if twice := self._twice(rows):
            rows = [self._untangled(row, twice) for row in rows]
        progress = self._progress(rows)
        fields, truncated = self._without_ends(rows, progress)
        self.truncated = self.truncated or truncated
        over = ["1" if text == ENDED else "" for text in progress]
        return self._steps.groups([*zip(*fields, strict=True), progress, over, steps])

    def joined(self, row: Row) -> Iterator[Noted]:
        """Which lines are part of a record."""
        if row.joined and (lines := row.joined.lines):
            told = "the line behind it is" if lines == 1 else f"the {lines} lines behind it are"
            text = f"{told} part of this record: a text with line breaks"
            yield Noted(row.line, text, severity=Severity.NOTICE)

    def doubts(self, row: Row, *, step: bool = False) -> Iterator[Noted]:
        """Which columns of a row would have become something, if one could tell what they hold."""
        kept = self.step_columns if step else self._job_columns
        names = [name for name in row.joined.in_doubt if name in kept] if row.joined else ()
        if names:
            shown = ", ".join(names)
            text = f"a delimiter in a text: left out {shown}, which can be read in several ways"
            yield Noted(row.line, text)

    def _progress(self, rows: Sequence[Row]) -> list[str]:
        """How far each job is."""
        end, state = self._at.get("End"), self._at.get("State")
        if end is not None and NO_VALUE.isdisjoint([row.fields[end] for row in rows]):
            states = set() if state is None else {row.fields[state] for row in rows}
            if all(phase(text) is Phase.TOLD_BY_END for text in states):
                return [ENDED] * len(rows)
        return [ENDED if self._ended(row) else BEGUN for row in rows]

    def _ended(self, row: Row) -> bool:
        """Whether the record is of a job, or a run of it, that has ended: the state decides.

        sacct prints an end for jobs that go on, too, if it is asked to.
        """
        text = self._text(row.fields, "State")
        if phase(text) is not Phase.TOLD_BY_END:
            return False
        if "End" in self._at:
            return self._text(row.fields, "End") not in NO_VALUE
        return bool(text) and values.is_over(text)

    def _without_ends(
        self, rows: Sequence[Row], progress: Sequence[str]
    ) -> tuple[list[list[str]], int]:
        """The fields of rows without the ends of jobs that go on, and the first line with one.

        Such ends are those of a window.
        """
        found = [row.fields for row in rows]
        end, state = self._at.get("End"), self._at.get("State")
        if end is None or state is None or BEGUN not in progress:
            return found, 0
        first = 0
        for place, (row, texts) in enumerate(zip(rows, found, strict=True)):
            if texts[end] not in NO_VALUE and phase(texts[state]) is not Phase.TOLD_BY_END:
                found[place] = [*texts[:end], "", *texts[end + 1 :]]
                first = first or row.line
        return found, first

    def _submitted(self, fields: Sequence[list[str]]) -> Sequence[str]:
        submit = self._at.get("Submit")
        if submit is None or not fields:
            return [""] * len(fields)
        return self._clock.column([texts[submit] for texts in fields])

    def _are_started(self, fields: Sequence[list[str]]) -> bool:
        """Whether all jobs are known to be started."""
        nodes, start, state = map(self._at.get, ("NodeList", "Start", "State"))
        return (
            start is not None
            and NO_VALUE.isdisjoint([texts[start] for texts in fields])
            and (nodes is None or _NOT_STARTED.isdisjoint([texts[nodes] for texts in fields]))
            and (state is None or Phase.WAITS not in map(phase, {it[state] for it in fields}))
        )

    def _started(self, fields: Sequence[str]) -> bool:
        """Whether the job was started."""
        if self._text(fields, "NodeList") in _NOT_STARTED:
            return False
        if phase(self._text(fields, "State")) is Phase.WAITS:
            return False
        return "Start" not in self._at or self._text(fields, "Start") not in NO_VALUE

    def _text(self, fields: Sequence[str], column: str) -> str:
        """The text of a column, or "" where there is none."""
        index = self._at.get(column)
        return "" if index is None else fields[index]

    def _twice(self, rows: Sequence[Row]) -> set[str]:
        """The times of rows that happened twice."""
        places = [self._at[name] for name in _TIMES if name in self._at]
        return self._clock.doubtful(row.fields[place] for place in places for row in rows)

    def _doubtful(self, row: Row, twice: set[str]) -> Iterator[Noted]:
        """Times that happened twice and that nothing in the record tells apart."""
        doubtful = {self._text(row.fields, column) for column in _TIMES} & twice
        if doubtful and len(self._readings(row.fields)) == 1:
            doubtful -= {self._text(row.fields, "Start"), self._text(row.fields, "End")}
        for text in sorted(doubtful):
            yield Noted(row.line, f"{text} happened twice; the first time is taken", once=True)

    def _untangled(self, row: Row, twice: set[str]) -> Row:
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
