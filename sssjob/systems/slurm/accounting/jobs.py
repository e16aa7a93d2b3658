"""Jobs and task groups of the rows that Slurm printed, many at once and column by column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Generic, TypeVar

from sssjob.errors import InvalidValue, Severity
from sssjob.records import clock as clocks
from sssjob.records.clock import NO_VALUE, Clock
from sssjob.records.plan import Columns, Odd, Plan
from sssjob.records.record import Field, Noted
from sssjob.records.roads import Road
from sssjob.systems.slurm import words
from sssjob.systems.slurm.accounting import table, values
from sssjob.systems.slurm.accounting.header import Header
from sssjob.systems.slurm.accounting.lines import Row
from sssjob.systems.slurm.accounting.readers import BEGUN, ENDED, TYPE
from sssjob.systems.slurm.accounting.steps import NO_SUMS
from sssjob.systems.slurm.accounting.values import Phase, phase

P = TypeVar("P")
J = TypeVar("J")

# What there is to say of a job that goes on and has an end all the same.
GOES_ON = "an End of a job that goes on: sacct --truncate prints it, and it is left out"

_NOT_STARTED = frozenset(("None assigned",))
_TIMES = ("Submit", "Eligible", "Start", "End")


class Maker(Generic[P, J]):
    """Makes jobs and task groups of rows that share a header, on one road.

    ``truncated`` is the first line of a job that goes on and has an end all the same.
    """

    def __init__(self, header: Header, clock: Clock, road: Road[P, J]) -> None:
        self._at = header.at
        self._clock = clock
        self.truncated = 0
        road = road.remembering()
        names = (*header.names, *table.WORKED_OUT)

        def plan(rows: Iterable[Field]) -> Plan[P, J]:
            chosen = table.chosen(rows, names)
            return Plan(clocks.by(clock, chosen), names, road, TYPE)

        self._started = plan(table.ALLOCATION)
        self._waiting = plan(table.WAITING)
        self._step = plan(table.STEP)
        self.step_columns = self._step.columns

    def jobs(
        self, rows: Sequence[Row], sums: Sequence[Sequence[Any]], groups: Sequence[P]
    ) -> list[J | Odd[J] | InvalidValue]:
        """Jobs of their allocations, of what was summed, and of their task groups."""
        columns = _turned(rows)
        if self._are_started(columns):
            return self._jobs(self._started, rows, columns, sums, groups, over=True)
        started = [self.started(row) for row in rows]
        found: dict[int, J | Odd[J] | InvalidValue] = {}
        for plan, wanted in ((self._started, True), (self._waiting, False)):
            places = [place for place, is_started in enumerate(started) if is_started is wanted]
            rows_ = [rows[place] for place in places]
            made = self._jobs(
                plan, rows_, _turned(rows_), [sums[place] for place in places],
                [groups[place] for place in places], over=wanted,
            )  # fmt: skip
            found.update(zip(places, made, strict=True))
        return [found[place] for place in range(len(rows))]

    def groups(self, rows: Sequence[Row], steps: Sequence[str]) -> list[P | Odd[P]]:
        """Steps as task groups, whose Id is the part of the step's id behind the job's."""
        sums = [NO_SUMS] * len(rows)
        made = self._step.groups(self._columns(rows, _turned(rows), steps, sums, over=True))
        for place, row in self._untangled(rows):
            one = self._columns((row,), _turned((row,)), (steps[place],), (NO_SUMS,), over=True)
            (made[place],) = self._step.groups(one)
        return made

    def started(self, row: Row) -> bool:
        """Whether the job was started."""
        if self._text(row, "NodeList") in _NOT_STARTED:
            return False
        if phase(self._text(row, "State")) is Phase.WAITS:
            return False
        return "Start" not in self._at or self._text(row, "Start") not in NO_VALUE

    def ended(self, row: Row) -> bool:
        """Whether the record is of a job, or a run of it, that has ended: the state decides.

        sacct prints an end for jobs that go on, too, if it is asked to.
        """
        text = self._text(row, "State")
        if phase(text) is not Phase.TOLD_BY_END:
            return False
        if "End" in self._at:
            return self._text(row, "End") not in NO_VALUE
        return bool(text) and values.is_over(text)

    def joined(self, row: Row) -> Iterator[Noted]:
        """Which lines are part of a record."""
        if row.joined and (lines := row.joined.lines):
            told = "the line behind it is" if lines == 1 else f"the {lines} lines behind it are"
            text = f"{told} part of this record: a text with line breaks"
            yield Noted(row.line, text, severity=Severity.NOTICE)

    def doubts(self, row: Row, *, step: bool = False) -> Iterator[Noted]:
        """Which columns of a row would have become something, if one could tell what they hold."""
        kept = (self._step if step else self._started).columns
        names = [name for name in row.joined.in_doubt if name in kept] if row.joined else ()
        if names:
            shown = ", ".join(names)
            text = f"a delimiter in a text: left out {shown}, which can be read in several ways"
            yield Noted(row.line, text)

    def twice(self, row: Row) -> Iterator[Noted]:
        """Times that happened twice and that nothing in the record tells apart."""
        twice = self._clock.twice
        doubtful = {
            self._text(row, column) for column in _TIMES if self._text(row, column) in twice
        }
        if doubtful and len(self._readings(row)) == 1:
            doubtful -= {self._text(row, "Start"), self._text(row, "End")}
        for text in sorted(doubtful):
            yield Noted(row.line, f"{text} happened twice; the first time is taken", once=True)

    def _jobs(
        self, plan: Plan[P, J], rows: Sequence[Row], columns: Columns,
        sums: Sequence[Sequence[Any]], groups: Sequence[P], *, over: bool,
    ) -> list[J | Odd[J] | InvalidValue]:  # fmt: skip
        steps = [""] * len(rows)
        made = plan.jobs(self._columns(rows, columns, steps, sums, over=over), groups)
        for place, row in self._untangled(rows):
            one = self._columns((row,), _turned((row,)), ("",), (sums[place],), over=over)
            (made[place],) = plan.jobs(one, (groups[place],))
        return made

    def _columns(
        self, rows: Sequence[Row], columns: Columns, steps: Sequence[str],
        sums: Sequence[Sequence[Any]], *, over: bool,
    ) -> list[Sequence[Any]]:  # fmt: skip
        """The columns of rows, and those that are worked out; ``over`` is False for what waits."""
        if not rows:
            return [()]
        submit = self._at.get("Submit")
        begun = BEGUN if over else ""
        if self._have_ended(columns):
            progress = [ENDED] * len(rows)
        else:
            progress = [ENDED if self.ended(row) else begun for row in rows]
            columns = self._without_ends(rows, columns)
        nothing = [""] * len(rows)
        return [
            *columns,
            progress,
            ["1" if text == ENDED else "" for text in progress] if over else nothing,
            nothing if submit is None else self._clock.column(columns[submit]),
            steps,
            *zip(*sums, strict=True),
        ]

    def _have_ended(self, columns: Columns) -> bool:
        """Whether all jobs are known to have ended."""
        end = self._at.get("End")
        return (
            end is not None
            and NO_VALUE.isdisjoint(columns[end])
            and self._phases(columns) <= {Phase.TOLD_BY_END}
        )

    def _phases(self, columns: Columns) -> set[Phase]:
        state = self._at.get("State")
        return set() if state is None else set(map(phase, set(columns[state])))

    def _without_ends(self, rows: Sequence[Row], columns: Columns) -> Columns:
        """The columns without the ends of jobs that go on: they are those of a window."""
        end, state = self._at.get("End"), self._at.get("State")
        if end is None or state is None:
            return columns
        ends = list(columns[end])
        for place, (row, text) in enumerate(zip(rows, columns[state], strict=True)):
            if ends[place] not in NO_VALUE and phase(text) is not Phase.TOLD_BY_END:
                ends[place] = ""
                self.truncated = self.truncated or row.line
        return [*columns[:end], ends, *columns[end + 1 :]]

    def _are_started(self, columns: Columns) -> bool:
        """Whether all jobs are known to be started."""
        nodes, start = self._at.get("NodeList"), self._at.get("Start")
        return (
            start is not None
            and bool(columns)
            and NO_VALUE.isdisjoint(columns[start])
            and (nodes is None or _NOT_STARTED.isdisjoint(columns[nodes]))
            and Phase.WAITS not in self._phases(columns)
        )

    def _text(self, row: Row, column: str) -> str:
        """The text of a column, or "" where there is none."""
        index = self._at.get(column)
        return "" if index is None else row.fields[index]

    def _untangled(self, rows: Sequence[Row]) -> Iterator[tuple[int, Row]]:
        """Rows with times of an autumn hour, which the time that passed tells apart."""
        twice = self._clock.twice
        for place, row in enumerate(rows) if twice else ():
            if not {self._text(row, "Start"), self._text(row, "End")} & twice:
                continue
            chosen = self._readings(row)
            if len(chosen) == 1:
                fields = list(row.fields)
                fields[self._at["Start"]], fields[self._at["End"]] = chosen[0]
                yield place, row._replace(fields=fields)

    def _readings(self, row: Row) -> list[tuple[str, str]]:
        """The pairs of start and end that are as far apart as the record says."""
        try:
            passed = words.duration(self._text(row, "Elapsed"))
            if passed is None and (raw := values.whole(self._text(row, "ElapsedRaw"))):
                passed = Fraction(int(raw))
            suspended = words.duration(self._text(row, "Suspended")) or 0
            starts = {self._clock.read(self._text(row, "Start"), fold) for fold in (0, 1)}
            ends = {self._clock.read(self._text(row, "End"), fold) for fold in (0, 1)}
        except InvalidValue:
            return []  # what cannot be read is told where it would be a property
        return [
            (start, end)
            for start in starts
            for end in ends
            if start and end and passed is not None and int(end) - int(start) == passed + suspended
        ]


def _turned(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """The columns of rows."""
    return list(zip(*[row.fields for row in rows], strict=True))
