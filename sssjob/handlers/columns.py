"""Get: what is shown of each job, how rows are sorted, and which are shown at all."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from itertools import islice
from typing import Any, TypeVar

from sssjob.errors import Refused
from sssjob.handlers.attributes import (
    DERIVED,
    JOB,
    AttributeType,
    ObjectAttribute,
    attribute,
    shown,
)
from sssjob.handlers.conditions import Described
from sssjob.handlers.finding import is_true, option
from sssjob.handlers.view import View
from sssjob.rmap.message import Get, Item, Request, Row
from sssjob.store.rows import number

D = TypeVar("D", bound=Described)

MOST = 1_000_000  # rows that are held to be sorted, told apart or added up by group
_LONGEST = 100  # characters of an alias
SORT, TROS, GROUP_BY = "Sort", "Tros", "GroupBy"
CHOOSING = ("Limit", "Offset", "Unique", "Time")  # options of a Query: which rows it gives
OPTIONS = (*CHOOSING, "ShowHidden", "ShowUsage")
TOTALS = ("Count", "Sum", "Average", "Min", "Max")
_OPS = {op.lower(): op for op in (SORT, TROS, GROUP_BY, *TOTALS)}


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A property that is shown, under its alias or the name that it was asked by."""

    attribute: ObjectAttribute
    label: str
    op: str = ""

    @classmethod
    def of(
        cls, asked: Get, kind: str, names: Iterable[str],
        known: Callable[[str, str], ObjectAttribute | None] | None = None,
    ) -> ShownColumn:  # fmt: skip
        """The column that a Get asks for; ``known`` finds an attribute.

        Raises ``Refused`` (318).
        """
        if asked.object and asked.object not in names:
            raise Refused("318", "A Get cannot join objects here")
        found = (known or attribute)(asked.name, kind)
        if found is None:
            raise Refused(
                "318", f"{shown(asked.name)} is not a valid attribute for a {kind} object"
            )
        if asked.op and asked.op.lower() not in _OPS:
            raise Refused(
                "318", f"There is no such operation; there are {', '.join(_OPS.values())}"
            )
        if asked.alias and not is_name(asked.alias):
            raise Refused("318", "An alias is a name of letters, digits and _")
        return cls(found, asked.alias or asked.name, _OPS.get(asked.op.lower(), ""))

    def text(self, view: Described) -> str:
        """What stands in the row of a job; "" where it has nothing."""
        return view.text(self.attribute) or ""


def is_name(text: str) -> bool:
    """Whether a text can be the name of an element, for every peer."""
    return (
        len(text) <= _LONGEST
        and text.isascii()
        and text.replace("_", "a").isalnum()
        and not text[0].isdigit()
    )


def all_columns(view: View) -> tuple[ShownColumn, ...]:
    """Every property of a job, and what is hidden (ShowHidden)."""
    known = [attribute(name, view.block.name) for name in view.flat]
    shown = [each for each in known if each is not None and view.text(each) is not None]
    derived = DERIVED.values() if view.block.name == JOB else ()
    return tuple(ShownColumn(each, each.name) for each in (*shown, *derived))


# What Gold shows of a job that nobody chose properties of, by its names and in its order.
_USUAL = (
    "Id", "JobId", "User", "Project", "Machine", "Charge", "Queue", "Type", "Stage",
    "QualityOfService", "Nodes", "Processors", "Executable", "Application", "StartTime", "EndTime",
    "WallDuration", "QuoteId", "Description",
)  # fmt: skip
_HIDDEN = ("ModificationTime", "Deleted")


def usual_columns(kind: str, *, hidden: bool = False) -> tuple[ShownColumn, ...]:
    """What a program of Gold is shown of each Job, or JobGroup, where it does not say what."""
    if kind == JOB:
        names = [*_USUAL, *(_HIDDEN if hidden else ())]
    else:
        names = ["Id", "Name", "State", "CreationTime", "Description"]
    known = [(name, attribute(name, kind)) for name in names]
    return tuple(ShownColumn(found, name) for name, found in known if found is not None)


def row(view: View, columns: Iterable[ShownColumn]) -> Row:
    """A row of the answer."""
    return Row(view.block.name, tuple((column.label, column.text(view)) for column in columns))


@dataclass(frozen=True, slots=True)
class RowWindow:
    """Which rows of an answer are given: Limit, Offset and Unique. ``limit`` 0 means all."""

    limit: int = 0
    offset: int = 0
    unique: bool = False

    @classmethod
    def of(cls, asked: Request) -> RowWindow:
        """The window of a request. Raises ``Refused`` (317)."""
        unique = is_true(asked, "Unique")
        return cls(_whole(asked, "Limit"), _whole(asked, "Offset"), unique)

    def of_rows(self, rows: Iterable[Item]) -> Iterator[Item]:
        """The rows in the window."""
        found = _distinct(rows) if self.unique else rows
        return islice(found, self.offset, self.offset + self.limit if self.limit else None)

    @property
    def last(self) -> int:
        """After how many sorted rows nothing more is needed; 0 if all are."""
        return self.offset + self.limit if self.limit and not self.unique else 0


def ordered(views: Iterable[D], columns: Sequence[ShownColumn], last: int) -> Iterable[D]:
    """Jobs sorted by the columns that ask for it, of which the first ``last`` are enough.

    A job without the property stands first, as the smallest. Equal ones stay in their order.
    """
    by = [(column.attribute, column.op == TROS) for column in columns if column.op in (SORT, TROS)]
    if not by:
        return views
    key = cmp_to_key(_compare([down for _, down in by]))

    def keyed(view: Described) -> Any:
        return key([comparable(view, each) for each, _ in by])

    if last:
        return heapq.nsmallest(min(last, MOST), views, keyed)
    return sorted(limited(views), key=keyed)


def comparable(view: Described, asked: ObjectAttribute) -> tuple[int, float, str]:
    """A value by which jobs are put in order: numbers as numbers, before texts."""
    text = view.text(asked)
    if text is None:
        return 0, 0.0, ""
    if asked.kind in (AttributeType.TEXT, AttributeType.FLAG):
        return 2, 0.0, text
    value = number(text)
    return (1, value, "") if value == value else (2, 0.0, text)


def limited(views: Iterable[Any]) -> Iterator[Any]:
    """The same, as long as there are not too many to hold. Raises ``Refused`` (740)."""
    for place, each in enumerate(views):
        if place == MOST:
            raise Refused(
                "740", f"More than {MOST} rows cannot be held; give conditions or a Limit"
            )
        yield each


def _compare(downs: Sequence[bool]) -> Callable[[Sequence[Any], Sequence[Any]], int]:
    def compare(one: Sequence[Any], other: Sequence[Any]) -> int:
        for first, second, down in zip(one, other, downs, strict=True):
            if first != second:
                return -1 if (first < second) is not down else 1
        return 0

    return compare


def _distinct(rows: Iterable[Item]) -> Iterator[Item]:
    seen: set[Item] = set()
    for each in rows:
        if each not in seen:
            if len(seen) == MOST:
                raise Refused("740", f"More than {MOST} different rows; give conditions")
            seen.add(each)
            yield each


def _whole(asked: Request, name: str) -> int:
    text = option(asked, name) or "0"
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise Refused("317", f"{name} is a whole number")
    return int(text)
