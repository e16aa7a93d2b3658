"""What the rows of one job tell together: the memory of its tasks, and its CPU seconds."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from sssjob.accounting import slurm_values as values
from sssjob.accounting.slurm_header import Header
from sssjob.accounting.slurm_lines import Row
from sssjob.accounting.slurm_rows import MEMO_LIMIT
from sssjob.model import Property

_PEAKS = (("Memory", "MaxRSS", "AveRSS"), ("Swap", "MaxVMSize", "AveVMSize"))


class Places:
    """Where a header has the columns that are summed; -1 for those that it does not have."""

    def __init__(self, header: Header) -> None:
        def at(name: str) -> int:
            return header.at.get(name, -1)

        peaks = ((element, at(most), at(average)) for element, most, average in _PEAKS)
        self.peaks = tuple(peak for peak in peaks if max(peak[1:]) >= 0)
        self.tasks = at("NTasks")
        self.cpu, self.user, self.system = at("TotalCPU"), at("UserCPU"), at("SystemCPU")


class Total:
    """Sums over an allocation and its steps, taken row by row; no row is kept.

    The last field of a row is empty: it stands for the columns that the header does not have.
    """

    __slots__ = (
        "_external", "_has_inner_steps", "_has_steps", "_most", "_own", "_places", "_steps",
        "_weighed",
    )  # fmt: skip

    def __init__(self, places: Places) -> None:
        self._places = places
        self._most: dict[str, values.Amount] = {}
        self._weighed: dict[str, tuple[values.Amount, int]] = {}
        self._own: values.Amount | None = None
        self._steps: values.Amount | None = None
        self._external: values.Amount | None = None
        self._has_steps = self._has_inner_steps = False

    def add_allocation(self, row: Row) -> None:
        """Take the row of the job itself. Raises ``InvalidValue``."""
        self._add_memory(row)
        self._own = self._cpu_of(row)

    def add_step(self, row: Row, step: str) -> None:
        """Take the row of a step. Raises ``InvalidValue``."""
        self._add_memory(row)
        cpu = self._cpu_of(row)
        self._has_steps = True
        if step == "extern":
            self._external = _plus(self._external, cpu)
        else:
            self._has_inner_steps = True
            self._steps = _plus(self._steps, cpu)

    def cpu(self) -> values.Amount | None:
        """CPU seconds: the allocation's, which Slurm sums over the steps, else that sum.

        ``sacct --allocations`` prints 0 for what it has not summed, so 0 counts only beside
        steps. The external step holds what belongs to no other, and counts if it is alone.
        """
        if self._own or (self._own is not None and self._has_steps):
            return self._own
        return self._steps if self._has_inner_steps else self._external

    def memory(self) -> Iterator[Property]:
        """The most memory that a task of any step had, and the average over all tasks."""
        for element, _, _ in self._places.peaks:
            if element in self._most:
                yield _kilobytes(element, self._most[element], "Max")
            if element in self._weighed:
                total, tasks = self._weighed[element]
                mean = Fraction(total, tasks) if total % tasks else total // tasks
                yield _kilobytes(element, values.rounded(mean), "Average")

    def _add_memory(self, row: Row) -> None:
        fields = row.fields
        for element, most, average in self._places.peaks:
            if (text := fields[most]) and (size := values.size(text)) is not None:
                self._most[element] = max(size, self._most.get(element, 0))
            if (text := fields[average]) and (size := values.size(text)) is not None:
                weight = int(values.count(fields[self._places.tasks]) or 1)
                total, tasks = self._weighed.get(element, (0, 0))
                self._weighed[element] = total + size * weight, tasks + weight

    def _cpu_of(self, row: Row) -> values.Amount | None:
        fields, places = row.fields, self._places
        if text := fields[places.cpu]:
            return values.duration(text)
        user, system = values.duration(fields[places.user]), values.duration(fields[places.system])
        return None if user is None or system is None else user + system


def _plus(total: values.Amount | None, more: values.Amount | None) -> values.Amount | None:
    return total if more is None else more if total is None else total + more


@lru_cache(MEMO_LIMIT)
def _kilobytes(element: str, size: values.Amount, metric: str) -> Property:
    return Property(element, values.in_kilobytes(size), {"metric": metric, "units": "KB"})
