"""What the rows of one job tell together: the memory of its tasks, and its CPU seconds.

Each column is read for many rows at once. A text that cannot be read costs its own value: then the
column is read text by text, and what is lost is told of its row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from sssjob.errors import InvalidValue
from sssjob.model import Property
from sssjob.records.layout import Names
from sssjob.records.plan import KEPT, LEFT_OUT
from sssjob.systems.slurm import words
from sssjob.systems.slurm.accounting import values
from sssjob.systems.slurm.accounting.lines import Row
from sssjob.systems.slurm.accounting.readers import noted

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


class Told(NamedTuple):
    """What rows tell, a value or None for each: ``parts`` are the steps, "" for a job itself.

    ``peaks`` and ``means`` are those of memory and of swap; ``lost`` goes by the places of rows.
    """

    parts: list[str]
    cpu: Amounts
    peaks: tuple[Amounts, Amounts]
    means: tuple[Means, Means]
    lost: dict[int, list[Lost]]

    def then(self, more: Told) -> Told:
        """These rows, and more behind them."""
        size = len(self.parts)
        return Told(
            self.parts + more.parts,
            self.cpu + more.cpu,
            (self.peaks[0] + more.peaks[0], self.peaks[1] + more.peaks[1]),
            (self.means[0] + more.means[0], self.means[1] + more.means[1]),
            {**self.lost, **{size + place: lost for place, lost in more.lost.items()}},
        )

    def rows(self, begin: int, end: int) -> Told:
        """The rows of one job, of which more may come; many steps become two."""
        first, last = self.peaks, self.means
        found = Told(
            self.parts[begin:end],
            self.cpu[begin:end],
            (first[0][begin:end], first[1][begin:end]),
            (last[0][begin:end], last[1][begin:end]),
            {place - begin: lost for place, lost in self.lost.items() if begin <= place < end},
        )
        return found if end - begin < _ROWS_LIMIT else found._shorter()

    def _shorter(self) -> Told:
        """The row of the job, and those of all external and of all other steps as one each."""
        external = {place for place, part in enumerate(self.parts) if part == _EXTERNAL}
        chosen = [external, set(range(1, len(self.parts))) - external]
        kept = [places for places in chosen if places]
        inner, outer = self.peaks, self.means
        return Told(
            ["", *((_EXTERNAL if places is external else _OTHERS) for places in kept)],
            [self.cpu[0], *(_sum(self.cpu[place] for place in places) for places in kept)],
            (_fewer(inner[0], kept, _most), _fewer(inner[1], kept, _most)),
            (_fewer(outer[0], kept, _weighed), _fewer(outer[1], kept, _weighed)),
            {0: [one for lost in self.lost.values() for one in lost]},
        )

    def sums(self, spans: Sequence[tuple[int, int]]) -> list[Sequence[Any]]:
        """What the rows of each job tell together, that of the job itself first.

        CPU seconds, then KB of memory and of swap: the most of any task, the mean of all. Behind
        them what could not be read of the job's own row.
        """
        found: list[Sequence[Any]] = []
        memory, swap = self.peaks
        has_means = any(map(any, self.means))
        for begin, end in spans:
            if end - begin == 1:
                cpu, used, swapped = self.cpu[begin] or None, memory[begin], swap[begin]
            else:
                cpu = self._cpu(begin, end)
                used, swapped = _most(memory[begin:end]), _most(swap[begin:end])
            mean = other = ""
            if has_means:
                mean, other = (_mean(each[begin:end]) for each in self.means)
            found.append((
                "" if cpu is None else str(values.rounded(cpu)),
                "" if used is None else values.in_kilobytes(used), mean,
                "" if swapped is None else values.in_kilobytes(swapped), other,
                tuple(self._not_summed(begin)) if self.lost else (),
            ))  # fmt: skip
        return found

    def lost_of(self, begin: int, end: int) -> list[Lost]:
        """What could not be read of what would have counted: a job may tell its own CPU time."""
        found = [one for place in range(begin, end) for one in self.lost.get(place, ())]
        return [one for one in found if not (one.of_cpu and one.of_step) or self.cpu[begin] is None]

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

    def read(self, rows: Sequence[Row], parts: list[str]) -> Told:
        """What rows tell, of which these are the steps, "" for the job itself."""
        lost: dict[int, list[Lost]] = {}
        reading = _Reading(rows, parts, self._names, lost)
        peaks, means = zip(
            *(
                (reading.column(most, _sizes), self._means(reading, average))
                for most, average in self._peaks
            ),
            strict=True,
        )
        return Told(parts, self._cpu_of(reading, rows), peaks, means, lost)

    def _cpu_of(self, reading: _Reading, rows: Sequence[Row]) -> Amounts:
        cpu, user, system = self._cpu, self._user, self._system
        found = reading.column(cpu, words.durations, of_cpu=True)
        if user < 0 or system < 0:
            return found
        for place, row in enumerate(rows):
            if not (cpu >= 0 and row.fields[cpu]) and (row.fields[user] or row.fields[system]):
                each = [
                    reading.one(place, at, words.duration, of_cpu=True) for at in (user, system)
                ]
                found[place] = None if None in each else _sum(each)
        return found

    def _means(self, reading: _Reading, average: int) -> Means:
        sizes = reading.column(average, _sizes)
        if not any(sizes) and set(sizes) <= {None}:
            return [None] * len(sizes)
        return [
            None if size is None else self._weight(reading, place, size)
            for place, size in enumerate(sizes)
        ]

    def _weight(
        self, reading: _Reading, place: int, size: words.Amount
    ) -> tuple[words.Amount, int]:
        told = reading.one(place, self._tasks, values.count) if self._tasks >= 0 else None
        tasks = int(told or 1)
        return size * tasks, tasks


class _Reading:
    """Rows whose columns are read; what cannot be is put with what is lost."""

    def __init__(
        self, rows: Sequence[Row], parts: Sequence[str], names: Sequence[str],
        lost: dict[int, list[Lost]],
    ) -> None:  # fmt: skip
        self._rows, self._parts, self._names, self._lost = rows, parts, names, lost

    def column(
        self, at: int, read: Callable[[Sequence[str]], Amounts], *, of_cpu: bool = False
    ) -> Amounts:
        """The values of a column, if there is such a column."""
        if at < 0:
            return [None] * len(self._rows)
        texts = [row.fields[at] for row in self._rows]
        if not any(texts):
            return [None] * len(texts)
        try:
            return read(texts)
        except InvalidValue:
            return [
                self.one(place, at, lambda text: read((text,))[0], of_cpu=of_cpu)
                for place in range(len(texts))
            ]

    def one(self, place: int, at: int, read: Callable[[str], Any], *, of_cpu: bool = False) -> Any:
        """The value of a column of one row, or None where it is none that can be read."""
        row = self._rows[place]
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


def _most(found: Sequence[words.Amount | None]) -> words.Amount | None:
    return max((each for each in found if each is not None), default=None)


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
        values.rounded(Fraction(total, tasks)) if total % tasks else total // tasks
    )
