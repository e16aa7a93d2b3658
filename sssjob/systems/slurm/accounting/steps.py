"""What the rows of one job tell together: the memory of its tasks, and its CPU seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from sssjob.errors import InvalidValue
from sssjob.model import Property
from sssjob.records.plan import KEPT, LEFT_OUT
from sssjob.systems.slurm import words
from sssjob.systems.slurm.accounting import values
from sssjob.systems.slurm.accounting.header import Header
from sssjob.systems.slurm.accounting.readers import noted

# CPU seconds, memory and swap as texts, and what could not be summed as properties.
NO_SUMS: Sequence[Any] = ("", "", "", "", "", ())

_PEAKS = (("Memory", "MaxRSS", "AveRSS"), ("Swap", "MaxVMSize", "AveVMSize"))


class Lost(NamedTuple):
    """A value that could not be summed: the line and the column that it stood in, and why."""

    line: int
    column: str
    wrong: InvalidValue
    of_step: bool

    def __str__(self) -> str:
        kept = KEPT if not self.of_step and self.wrong.text.strip() else LEFT_OUT
        return f"{self.wrong}: {self.column}; {kept}"


class Places:
    """Where a header has the columns that are summed; -1 for those that it does not have."""

    def __init__(self, header: Header) -> None:
        def at(name: str) -> int:
            return header.at.get(name, -1)

        self.names = header.names
        peaks = ((element, at(most), at(average)) for element, most, average in _PEAKS)
        self.peaks = tuple(peak for peak in peaks if max(peak[1:]) >= 0)
        self.tasks = at("NTasks")
        self.cpu, self.user, self.system = at("TotalCPU"), at("UserCPU"), at("SystemCPU")

        told = (self.cpu, self.user, *(place for peak in self.peaks for place in peak[1:]))
        self._told = tuple(place for place in told if place >= 0)
        slow = () if self.cpu >= 0 else (self.user, self.system)
        averages = (average for _, _, average in self.peaks)
        self._slow = tuple(place for place in (*slow, *averages) if place >= 0)

    def sums(
        self, rows: Sequence[list[str]], spans: Sequence[tuple[int, int]]
    ) -> list[Sequence[Any]] | None:
        """What the rows of each of many jobs tell together, the allocation's first.

        None where it takes a ``Total`` to tell: it gives the same. Raises ``InvalidValue``; the
        times of steps are left to who reads all that steps have.
        """
        cpu, user = self.cpu, self.user
        if any(fields[place] for place in self._slow for fields in rows):
            return None
        if cpu >= 0 and user >= 0 and any(fields[user] and not fields[cpu] for fields in rows):
            return None
        nothing: list[words.Amount | None] = [None] * len(rows)
        spent, sizes = nothing, dict.fromkeys(("Memory", "Swap"), nothing)
        if cpu >= 0:
            spent = words.durations([rows[begin][cpu] for begin, _ in spans])
        for element, most, _ in self.peaks:
            if most >= 0:
                texts = [fields[most] for fields in rows]
                sizes[element] = list(map(_size, texts)) if any(texts) else nothing
        memory, swap = sizes.values()
        found: list[Sequence[Any]] = []
        for own, (begin, end) in zip(spent, spans, strict=False):
            has_steps = end - begin > 1
            if own is None and has_steps:
                return None
            told = str(values.rounded(own)) if own or (own is not None and has_steps) else ""
            used = "" if memory is nothing else _largest(memory[begin:end])
            swapped = "" if swap is nothing else _largest(swap[begin:end])
            found.append((told, used, "", swapped, "", ()))
        return found

    def any(self, fields: list[str]) -> bool:
        """Whether a row has anything that is summed."""
        return any(fields[place] for place in self._told)


class Total:
    """Sums over an allocation and its steps, taken row by row; no row is kept.

    A value that cannot be read is left out of its sum.
    """

    __slots__ = (
        "_external", "_has_inner_steps", "_has_steps", "_lost", "_lost_cpu", "_most", "_own",
        "_places", "_steps", "_weighed",
    )  # fmt: skip

    def __init__(self, places: Places) -> None:
        self._places = places
        self._most: dict[str, words.Amount] | None = None
        self._weighed: dict[str, tuple[words.Amount, int]] | None = None
        self._own: words.Amount | None = None
        self._steps: words.Amount | None = None
        self._external: words.Amount | None = None
        self._has_steps = self._has_inner_steps = False
        self._lost: list[Lost] = []
        self._lost_cpu: list[Lost] = []  # of steps: of no interest where the job has its own

    def add_allocation(self, line: int, fields: list[str]) -> None:
        """Take the row of the job itself."""
        self._add_memory(line, fields, of_step=False)
        self._own = self._cpu_of(line, fields, self._lost, of_step=False)

    def add_step(self, line: int, fields: list[str], step: str) -> None:
        """Take the row of a step."""
        self._add_memory(line, fields, of_step=True)
        cpu = self._cpu_of(line, fields, self._lost_cpu, of_step=True)
        self._has_steps = True
        if step == "extern":
            self._external = _plus(self._external, cpu)
        else:
            self._has_inner_steps = True
            self._steps = _plus(self._steps, cpu)

    def lost(self) -> list[Lost]:
        """What could not be read of what would have counted."""
        return self._lost if self._own is not None else self._lost + self._lost_cpu

    def cpu(self) -> words.Amount | None:
        """CPU seconds: the allocation's, which Slurm sums over the steps, else that sum.

        ``sacct --allocations`` prints 0 for what it has not summed, so 0 counts only beside
        steps. The external step holds what belongs to no other, and counts if it is alone.
        """
        if self._own or (self._own is not None and self._has_steps):
            return self._own
        return self._steps if self._has_inner_steps else self._external

    def texts(self) -> tuple[Any, ...]:
        """CPU seconds, then KB of memory and of swap: the most of any task, the mean of all.

        Behind them what could not be read of the job's own row.
        """
        cpu = self.cpu()
        return (
            "" if cpu is None else str(values.rounded(cpu)),
            *(
                text
                for element in ("Memory", "Swap")
                for text in (self._most_of(element), self._mean_of(element))
            ),
            tuple(self._not_summed()),
        )

    def _not_summed(self) -> Iterator[Property]:
        for lost in self._lost:
            if not lost.of_step and lost.wrong.text.strip():
                yield Property("Extension", lost.wrong.text, noted(lost.column))

    def _most_of(self, element: str) -> str:
        if not self._most or element not in self._most:
            return ""
        return values.in_kilobytes(self._most[element])

    def _mean_of(self, element: str) -> str:
        if not self._weighed or element not in self._weighed:
            return ""
        total, tasks = self._weighed[element]
        mean = values.rounded(Fraction(total, tasks)) if total % tasks else total // tasks
        return values.in_kilobytes(mean)

    def _add_memory(self, line: int, fields: list[str], *, of_step: bool) -> None:
        places, lost = self._places, self._lost
        for element, most, average in places.peaks:
            if most >= 0 and fields[most]:
                size = self._amount(words.size, line, fields, most, lost, of_step=of_step)
                if size is not None:
                    peaks = self._most = self._most or {}
                    peaks[element] = max(size, peaks.get(element, 0))
            if average >= 0 and fields[average]:
                size = self._amount(words.size, line, fields, average, lost, of_step=of_step)
                if size is not None:
                    weight = self._tasks(line, fields, of_step=of_step)
                    means = self._weighed = self._weighed or {}
                    total, tasks = means.get(element, (0, 0))
                    means[element] = total + size * weight, tasks + weight

    def _cpu_of(
        self, line: int, fields: list[str], lost: list[Lost], *, of_step: bool
    ) -> words.Amount | None:
        places = self._places
        if places.cpu >= 0 and fields[places.cpu]:
            return self._amount(words.duration, line, fields, places.cpu, lost, of_step=of_step)
        if places.user < 0 or places.system < 0:
            return None
        user, system = (
            self._amount(words.duration, line, fields, place, lost, of_step=of_step)
            for place in (places.user, places.system)
        )
        return None if user is None or system is None else user + system

    def _tasks(self, line: int, fields: list[str], *, of_step: bool) -> int:
        place = self._places.tasks
        try:
            return int(values.count(fields[place]) or 1) if place >= 0 else 1
        except InvalidValue as wrong:
            self._lost.append(Lost(line, self._places.names[place], wrong, of_step))
            return 1

    def _amount(
        self, read: Callable[[str], words.Amount | None], line: int, fields: list[str],
        place: int, lost: list[Lost], *, of_step: bool,
    ) -> words.Amount | None:  # fmt: skip
        """What a text is, or None where it is none that can be read."""
        try:
            return read(fields[place])
        except InvalidValue as wrong:
            lost.append(Lost(line, self._places.names[place], wrong, of_step))
            return None


def _largest(sizes: Sequence[words.Amount | None]) -> str:
    told = [size for size in sizes if size is not None]
    return values.in_kilobytes(max(told)) if told else ""


def _size(text: str) -> words.Amount | None:
    return words.size(text) if text else None


def _plus(total: words.Amount | None, more: words.Amount | None) -> words.Amount | None:
    return total if more is None else more if total is None else total + more
