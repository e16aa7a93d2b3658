"""What is added up over jobs: Count, Sum, Average, Min and Max, over all or by group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from sssjob.errors import Refused
from sssjob.handlers.attributes import Kind
from sssjob.handlers.columns import GROUP_BY, MOST, TOTALS, Column, comparable
from sssjob.handlers.view import View
from sssjob.rmap.message import Row
from sssjob.units import decimal

_PLACES = 16  # digits behind the point of an average that has no end


def is_total(columns: Sequence[Column]) -> bool:
    """Whether a request asks for totals. Raises ``Refused`` (318) where it asks for both."""
    kinds = {column.op in (GROUP_BY, *TOTALS) for column in columns}
    if len(kinds) == 2:
        raise Refused("318", "A plain property cannot stand beside totals; give it op GroupBy")
    return True in kinds


def totals(views: Iterable[View], columns: Sequence[Column], kind: str) -> Iterator[Row]:
    """A row for each group, in the order in which they are met; one row where none are asked."""
    for column in columns:
        if column.op in ("Sum", "Average") and column.attribute.kind in (Kind.TEXT, Kind.FLAG):
            raise Refused("318", f"{column.label} is no number, and has no {column.op}")
    by = [column for column in columns if column.op == GROUP_BY]
    groups: dict[tuple[str, ...], list[_Total]] = {}
    if not by:
        groups[()] = [_Total(column) for column in columns]
    for view in views:
        key = tuple(column.text(view) for column in by)
        if key not in groups:
            if len(groups) == MOST:
                raise Refused("740", f"More than {MOST} groups; give conditions")
            groups[key] = [_Total(column) for column in columns]
        for total in groups[key]:
            total.add(view)
    for found in groups.values():
        yield Row(kind, tuple((total.column.label, total.text) for total in found))


class _Total:
    """One cell of a row of totals. What a job does not have is not counted."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self._count = 0
        self._sum = Fraction()
        self._best: tuple[Any, str] | None = None

    def add(self, view: View) -> None:
        attribute, op = self.column.attribute, self.column.op
        if op in ("Sum", "Average"):
            value = view.number(attribute)
            if value is not None:
                self._count += 1
                self._sum += value
            return
        text = view.text(attribute)
        if text is None:
            return
        self._count += 1
        if op == "Count":
            return
        key = comparable(view, attribute)
        better = self._best is None or (
            (key < self._best[0] and op == "Min") or (key > self._best[0] and op == "Max")
        )
        if better:
            self._best = key, text

    @property
    def text(self) -> str:
        """The total; "" where nothing was added up."""
        op = self.column.op
        if op == "Count":
            return str(self._count)
        if not self._count:
            return ""
        if op == "Sum":
            return decimal(self._sum)
        if op == "Average":
            return decimal(round(self._sum / self._count, _PLACES))
        assert self._best is not None
        return self._best[1]
