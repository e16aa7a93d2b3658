"""What the rows of one job tell together: the memory of its tasks, and its CPU seconds.

Each column is read for many rows at once. A text that cannot be read costs its own value: then the
column is read text by text, and what is lost is told of its row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from fractions import Fraction
from itertools import chain
from typing import Any, NamedTuple

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.model import Property
from sssjob.records.layout import Names
from sssjob.records.record import KEPT, LEFT_OUT
from sssjob.records.texts import BulkColumn, Coded, Plain, same
from sssjob.systems.slurm import words
from sssjob.systems.slurm.accounting import values
from sssjob.systems.slurm.accounting.lines import SacctRow
from sssjob.systems.slurm.accounting.readers import noted
from sssjob.systems.slurm.accounting.table import SUMS

_PEAKS = (("MaxRSS", "AveRSS"), ("MaxVMSize", "AveVMSize"))  # of memory, and of swap
_EXTERNAL, _OTHERS = "extern", "(others)"
_ROWS_LIMIT = 4096  # of a job that goes on, before those of its steps become two

Amounts = list[words.Amount | None]
Means = list[tuple[words.Amount, int] | None]  # totals, and of how many tasks


class Lost(NamedTuple):
    """A value that could not be summed: the line and the column that it stood in, and why."""

    line: int
    column: str
    wrong: InvalidValue
    of_step: bool
    of_cpu: bool = False

    def __str__(self) -> str:
        kept = KEPT if not self.of_step and self.wrong.text.strip() else LEFT_OUT
        return f"{self.wrong}: {self.column}; {kept}"


class StepValues(NamedTuple):
    """What rows tell, a value or None for each: ``parts`` are the steps, "" for a job itself.

    ``peaks`` and ``means`` are those of memory and of swap; ``lost`` goes by the places of rows.
    """

    parts: list[str]
    cpu: Amounts
    peaks: tuple[Amounts, Amounts]
    means: tuple[Means, Means]
    lost: dict[int, list[Lost]]

    def then(self, more: StepValues) -> StepValues:
        """These rows, and more behind them."""
        size = len(self.parts)
        return StepValues(
            self.parts + more.parts,
            self.cpu + more.cpu,
            (self.peaks[0] + more.peaks[0], self.peaks[1] + more.peaks[1]),
            (self.means[0] + more.means[0], self.means[1] + more.means[1]),
            {**self.lost, **{size + place: lost for place, lost in more.lost.items()}},
        )

    def rows(self, begin: int, end: int) -> StepValues:
        """The rows of one job, of which more may come; many steps become two."""
        first, last = self.peaks, self.means
        found = StepValues(
            self.parts[begin:end],
            self.cpu[begin:end],
            (first[0][begin:end], first[1][begin:end]),
            (last[0][begin:end], last[1][begin:end]),
            {place - begin: lost for place, lost in self.lost.items() if begin <= place < end},
        )
        return found if end - begin < _ROWS_LIMIT else found._shorter()

    def _shorter(self) -> StepValues:
        """The row of the job, and those of all external and of all other steps as one each."""
        external = {place for place, part in enumerate(self.parts) if part == _EXTERNAL}
        chosen = [external, set(range(1, len(self.parts))) - external]
        kept = [places for places in chosen if places]
        inner, outer = self.peaks, self.means
        return StepValues(
            ["", *((_EXTERNAL if places is external else _OTHERS) for places in kept)],
            [self.cpu[0], *(_sum(self.cpu[place] for place in places) for places in kept)],
            (_fewer(inner[0], kept, _most), _fewer(inner[1], kept, _most)),
            (_fewer(outer[0], kept, _weighed), _fewer(outer[1], kept, _weighed)),
            {0: [one for lost in self.lost.values() for one in lost]},
        )

    def sums(self, spans: Sequence[tuple[int, int]]) -> list[Sequence[Any]]:
        """What the rows of each job tell together, that of the job itself first, as columns.

        CPU seconds, then KB of memory and of swap: the most of any task, the mean of all. Behind
        them what could not be read of the job's own row.
        """
        lost = [tuple(self._not_summed(begin)) for begin, _ in spans] if self.lost else []
        return [
            ["" if each is None else str(units.rounded(each)) for each in self._cpu_times(spans)],
            *(
                column
                for peaks, means in zip(self.peaks, self.means, strict=True)
                for column in (_peaks(peaks, spans), _means(means, spans))
            ),
            lost or [()] * len(spans),
        ]

    def lost_of(self, begin: int, end: int) -> list[Lost]:
        """What could not be read of what would have counted: a job may tell its own CPU time."""
        found = [one for place in range(begin, end) for one in self.lost.get(place, ())]
        return [one for one in found if not (one.of_cpu and one.of_step) or self.cpu[begin] is None]

    def _cpu_times(self, spans: Sequence[tuple[int, int]]) -> Amounts:
        if len(spans) == len(self.parts):
            return [each or None for each in self.cpu]
        return [
            (self.cpu[begin] or None) if end - begin == 1 else self._cpu(begin, end)
            for begin, end in spans
        ]

    def _cpu(self, begin: int, end: int) -> words.Amount | None:
        """CPU seconds: the allocation's, which Slurm sums over the steps, else that sum.

        ``sacct --allocations`` prints 0 for what it has not summed, so 0 counts only beside
        steps. The external step holds what belongs to no other, and counts if it is alone.
        """
        own = self.cpu[begin]
        if own or (own is not None and end - begin > 1):
            return own
        steps = range(begin + 1, end)
        inner = [place for place in steps if self.parts[place] != _EXTERNAL]
        return _sum(self.cpu[place] for place in inner or steps)

    def _not_summed(self, place: int) -> Iterator[Property]:
        for lost in self.lost.get(place, ()):
            if not lost.of_step and lost.wrong.text.strip():
                yield Property("Extension", lost.wrong.text, noted(lost.column))


class Summed:
    """Reads the columns that are summed, of rows with these names."""

    def __init__(self, names: Names) -> None:
        def at(name: str) -> int:
            return names.index(name) if name in names else -1

        self._names = names
        self._peaks = tuple((at(most), at(average)) for most, average in _PEAKS)
        self._tasks = at("NTasks")
        self._cpu, self._user, self._system = at("TotalCPU"), at("UserCPU"), at("SystemCPU")

    def read(
        self, rows: Sequence[SacctRow], parts: list[str], before: StepValues | None
    ) -> StepValues:
        """What rows tell, of which these are the steps, "" for the job itself.

        ``before`` is what those of the job told that is open.
        """
        lost: dict[int, list[Lost]] = {}
        reading = _StepReading(rows, parts, self._names, lost)
        peaks, means = zip(
            *(
                (reading.column(most, _sizes, range(len(rows))), self._means(reading, average))
                for most, average in self._peaks
            ),
            strict=True,
        )
        return StepValues(parts, self._cpus(reading, parts, before), peaks, means, lost)

    def of_jobs(
        self, columns: Sequence[Sequence[str]], lines: Sequence[int]
    ) -> list[Sequence[Any]] | None:
        """The sums of jobs without steps; None where a value cannot be read."""
        size = len(lines)
        places = [*chain(*self._peaks), self._tasks, self._cpu, self._user, self._system]
        told = {place for place in places if place >= 0}
        if not told:
            return [*([same("", size)] * (len(SUMS) - 1)), same((), size)]
        if (cpu := self._only_cpu(columns, told)) is not None:
            return [cpu, *([same("", size)] * (len(SUMS) - 2)), same((), size)]
        nothing = [""] * size
        texts = [column if place in told else nothing for place, column in enumerate(columns)]
        fields = zip(*texts, strict=True)
        rows = [
            SacctRow(line, self._names, [*each]) for line, each in zip(lines, fields, strict=True)
        ]
        found = self.read(rows, [""] * size, None)
        return None if found.lost else found.sums([(at, at + 1) for at in range(size)])

    def _only_cpu(
        self, columns: Sequence[Sequence[str]], told: Collection[int]
    ) -> BulkColumn | None:
        """The CPU seconds of a column of bytes, "" for 0; None where there is more to read."""
        import pyarrow as pa
        import pyarrow.compute as pc

        others = (columns[place] for place in told if place != self._cpu)
        if not all(isinstance(each, Coded) and each.values == [""] for each in others):
            return None
        cpu = columns[self._cpu] if self._cpu in told else None
        whole = words.clocks(cpu) if isinstance(cpu, BulkColumn) else None
        if whole is None or whole.numbers.min() > 0:
            return whole
        numbers = pa.array(whole.numbers)
        return Plain(pc.if_else(pc.equal(numbers, 0), "", numbers.cast(pa.string())))

    def _cpus(
        self, reading: _StepReading, parts: Sequence[str], before: StepValues | None
    ) -> Amounts:
        """CPU seconds; those of steps are read where a job does not tell its own, which count."""
        jobs = [place for place, part in enumerate(parts) if not part]
        own = self._cpu_of(reading, jobs)
        if len(jobs) == len(parts):
            return own
        found = dict(zip(jobs, own, strict=True))
        if None in own or (before is not None and before.cpu[0] is None):
            steps = [place for place, part in enumerate(parts) if part]
            found.update(zip(steps, self._cpu_of(reading, steps), strict=True))
        return [*map(found.get, range(len(parts)))]

    def _cpu_of(self, reading: _StepReading, places: Sequence[int]) -> Amounts:
        cpu, user, system = self._cpu, self._user, self._system
        found = reading.column(cpu, words.durations, places, of_cpu=True)
        if user < 0 or system < 0:
            return found
        for at, place in enumerate(places):
            fields = reading.rows[place].fields
            if not (cpu >= 0 and fields[cpu]) and (fields[user] or fields[system]):
                each = [
                    reading.one(place, index, words.duration, of_cpu=True)
                    for index in (user, system)
                ]
                found[at] = None if None in each else _sum(each)
        return found

    def _means(self, reading: _StepReading, average: int) -> Means:
        sizes = reading.column(average, _sizes, range(len(reading.rows)))
        if not any(sizes) and set(sizes) <= {None}:
            return [None] * len(sizes)
        return [
            None if size is None else self._weight(reading, place, size)
            for place, size in enumerate(sizes)
        ]

    def _weight(
        self, reading: _StepReading, place: int, size: words.Amount
    ) -> tuple[words.Amount, int]:
        told = reading.one(place, self._tasks, values.count) if self._tasks >= 0 else None
        tasks = int(told or 1)
        return size * tasks, tasks


class _StepReading:
    """Rows whose columns are read; what cannot be is put with what is lost."""

    def __init__(
        self, rows: Sequence[SacctRow], parts: Sequence[str], names: Sequence[str],
        lost: dict[int, list[Lost]],
    ) -> None:  # fmt: skip
        self.rows, self._parts, self._names, self._lost = rows, parts, names, lost

    def column(
        self, at: int, read: Callable[[Sequence[str]], Amounts], places: Sequence[int], *,
        of_cpu: bool = False,
    ) -> Amounts:  # fmt: skip
        """The values of some rows in a column, if there is such a column."""
        if at < 0:
            return [None] * len(places)
        texts = [self.rows[place].fields[at] for place in places]
        if not any(texts):
            return [None] * len(texts)
        try:
            return read(texts)
        except InvalidValue:
            return [
                self.one(place, at, lambda text: read((text,))[0], of_cpu=of_cpu)
                for place in places
            ]

    def one(self, place: int, at: int, read: Callable[[str], Any], *, of_cpu: bool = False) -> Any:
        """The value of a column of one row, or None where it is none that can be read."""
        row = self.rows[place]
        try:
            return read(row.fields[at])
        except InvalidValue as wrong:
            of_step = bool(self._parts[place])
            lost = Lost(row.line, self._names[at], wrong, of_step, of_cpu)
            self._lost.setdefault(place, []).append(lost)
            return None


def _sizes(texts: Sequence[str]) -> Amounts:
    return [words.size(text) if text else None for text in texts]


def _sum(found: Any) -> words.Amount | None:
    told = [each for each in found if each is not None]
    return sum(told) if told else None


def _peaks(found: Amounts, spans: Sequence[tuple[int, int]]) -> list[str]:
    """The most of each job in KB, or ""."""
    if found.count(None) == len(found):
        return [""] * len(spans)
    most = (_most(found[begin:end]) for begin, end in spans)
    return ["" if each is None else values.in_kilobytes(each) for each in most]


def _means(found: Means, spans: Sequence[tuple[int, int]]) -> list[str]:
    """The mean of all tasks of each job in KB, or ""."""
    if found.count(None) == len(found):
        return [""] * len(spans)
    return [_mean(found[begin:end]) for begin, end in spans]


def _most(found: Sequence[words.Amount | None]) -> words.Amount | None:
    return max([each for each in found if each is not None], default=None)


def _weighed(found: Sequence[tuple[words.Amount, int] | None]) -> tuple[words.Amount, int] | None:
    told = [each for each in found if each is not None]
    return (sum(total for total, _ in told), sum(tasks for _, tasks in told)) if told else None


def _fewer(column: list[Any], kept: Sequence[set[int]], together: Callable[[Any], Any]) -> Any:
    return [column[0], *(together([column[place] for place in places]) for places in kept)]


def _mean(found: Sequence[tuple[words.Amount, int] | None]) -> str:
    told = _weighed(found)
    if told is None:
        return ""
    total, tasks = told
    return values.in_kilobytes(
        units.rounded(Fraction(total, tasks)) if total % tasks else total // tasks
    )
