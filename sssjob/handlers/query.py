"""Query: rows of properties, totals, what expressions find, or whole job objects."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lxml import etree
from lxml.etree import _Element as Element

from sssjob.document import bridge, tree
from sssjob.document.text import on_one_line
from sssjob.errors import LimitExceeded, LostWorker, NotAQuery, Refused, UnreadableDocument
from sssjob.handlers.attributes import JOB, AttributeType
from sssjob.handlers.columns import (
    GROUP_BY,
    MOST,
    OPTIONS,
    TOTALS,
    RowWindow,
    ShownColumn,
    all_columns,
    comparable,
    is_name,
    ordered,
    row,
    usual_columns,
)
from sssjob.handlers.conditions import Described
from sssjob.handlers.finding import Search, is_true, names, option, require_options
from sssjob.handlers.query_process import FoundValue, RequestProcess
from sssjob.handlers.stores import Stores
from sssjob.handlers.view import View
from sssjob.query import Question, compile
from sssjob.rmap.message import DataDocument, Get, Item, Request, Row
from sssjob.rmap.reading import item
from sssjob.rmap.responder import HandlerAnswer, ReceivedRequest
from sssjob.store import Store, Stored
from sssjob.store.flat import FlatGroup, Texts
from sssjob.store.reach import Reach
from sssjob.units import decimal

_MOST = 1000  # properties of a request
_USAGE = (
    "Query: Get name, op (Sort, Tros, Count, Sum, Average, Min, Max, GroupBy), alias, or an XPath "
    "expression as its text; Where name, op (EQ, NE, GT, GE, LT, LE, Match), conj (And, Or, "
    "AndNot, OrNot), group; Option Limit, Offset, Unique, ShowHidden, Time; chunking, chunkSize"
)
_VALUE = "Value"  # what a found text is called that has no name of its own
_LONGEST = 4096  # characters of an expression
_PLACES = 16  # digits behind the point of an average that has no end


def query(stores: Stores, call: ReceivedRequest, reach: Reach) -> HandlerAnswer:
    """The answer to a Query.

    Without Get it is whole job objects, as they are stored, but rows for programs of Gold.
    """
    asked = call.request
    if asked.sets or asked.data:
        raise Refused("318", "A Query has neither Set nor Data")
    require_options(asked, OPTIONS)
    if is_true(asked, "ShowUsage"):
        return HandlerAnswer((), "010", _USAGE, count=None)
    search, window = Search(call, reach), RowWindow.of(asked)
    time = time_of(asked)
    show = _ShownAttributes(asked, flat=call.flat)

    def rows() -> Iterator[Item]:
        with stores.use() as jobs:
            told = show.by_columns(search, jobs) if time is None else None
            if told is not None:
                yield from window.of_rows(told)
                return
            with closing(_views(search, jobs, time)) as views, RequestProcess() as apart:
                yield from window.of_rows(show.rows(views, window, apart))

    return HandlerAnswer(rows())


def item_of(view: View, call: ReceivedRequest) -> Item:
    """A job object as who asks reads it: whole, or as a row for a program of Gold."""
    return row(view, usual_columns(view.block.name)) if call.flat else document_of(view)


def document_of(view: View) -> DataDocument:
    """A job object as it is stored; one inside a job group with the defaults that hold for it."""
    element = bridge.to_tree(view.block) if view.place else tree.parse(view.stored.document)
    # On one line and in ASCII, as peers of Gold read.
    text = etree.tostring(element, encoding="ASCII", with_tail=False).decode()
    return DataDocument(on_one_line(text).encode())


class _ShownAttributes:
    """What a request wants to see. Raises ``Refused`` (318)."""

    def __init__(self, asked: Request, *, flat: bool = False) -> None:
        self.kind = asked.object
        if len(asked.gets) > _MOST:
            raise Refused("318", f"There are more than {_MOST} Gets")
        known = names(asked)
        self._paths = [QueryExpression.of(get) for get in asked.gets if get.path]
        self._columns = [
            ShownColumn.of(get, self.kind, known) for get in asked.gets if not get.path
        ]
        self._is_total = is_total(self._columns)
        self._hidden = is_true(asked, "ShowHidden")
        if flat and not asked.gets:
            self._columns = list(usual_columns(self.kind, hidden=self._hidden))
        if self._is_total and self._paths:
            raise Refused("318", "An expression cannot stand beside totals")

    def by_columns(self, search: Search, jobs: Store) -> Iterable[Row] | None:
        """What is shown, where columns of the store tell it, and few documents have to."""
        if self._is_total:
            return totals_by_columns(search, jobs, self._columns, self.kind)
        if self._paths or not self._columns or not all(map(_is_text, self._columns)):
            return None
        return rows_by_columns(search, jobs, self._columns)

    def rows(
        self, views: Iterator[View], window: RowWindow, apart: RequestProcess
    ) -> Iterator[Item]:
        """What is shown of jobs."""
        if self._is_total:
            yield from totals(views, self._columns, self.kind)
            return
        for view in ordered(views, self._columns, window.last):
            shown = self._row(view, apart)
            if shown is not None:
                yield shown

    def _row(self, view: View, apart: RequestProcess) -> Item | None:
        if not self._columns and not self._paths and not self._hidden:
            return document_of(view)
        columns = self._columns or (all_columns(view) if not self._paths else ())
        if self._paths:
            cells = [(column.label, column.text(view)) for column in columns]
            return found(view, self._paths, cells, apart)
        return row(view, columns)


def _views(search: Search, jobs: Store, time: int | None) -> Generator[View, None, None]:
    yield from search.run(jobs) if time is None else search.at(jobs, time)


def time_of(asked: Request) -> int | None:
    """As of when something is asked; None for now. Raises ``Refused`` (317)."""
    text = option(asked, "Time")
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise Refused("317", "Time is a time in seconds since 1970")
    return int(text)


@dataclass(frozen=True, slots=True)
class QueryExpression:
    """An expression, and what its findings are called."""

    question: Question
    label: str

    @classmethod
    def of(cls, asked: Get) -> QueryExpression:
        """The path that a Get asks for. Raises ``Refused`` (318) for what is no XPath 1.0."""
        label = asked.alias or asked.name
        if asked.op or (label and not is_name(label)) or len(asked.path) > _LONGEST:
            raise Refused("318", "An expression stands alone, or with an alias")
        try:
            return cls(compile(asked.path), label)
        except (NotAQuery, LimitExceeded) as error:
            raise Refused("318", f"The expression is not understood: {error}") from error


def found(
    view: View,
    paths: Sequence[QueryExpression],
    cells: Sequence[tuple[str, str]],
    apart: RequestProcess,
) -> Item | None:
    """The element of a job with what its paths find; None where they find nothing.

    ``cells`` are the properties that were asked for by name; they make a job worth an element.
    """
    # Effective, and detached: no axis leads to a neighbour in the same job group.
    root = bridge.to_tree(view.block, namespace="")
    element = etree.Element(view.block.name)
    for name, text in cells:
        etree.SubElement(element, name).text = text
    for path in paths:
        try:
            answer = apart.found(path.question, root)
        except (LimitExceeded, LostWorker, NotAQuery, UnreadableDocument) as error:
            raise Refused("318", "The expression asks too much of a job") from error
        element.extend(_shown(each, path.label) for each in answer)
    return item(element) if len(element) else None


def _shown(found: FoundValue, label: str) -> Element:
    if found.element is not None:
        copy = deepcopy(found.element)
        copy.tail = None
        if label:
            copy.tag = label
        return copy
    element = etree.Element(label or _VALUE)
    element.text = found.text
    return element


def is_total(columns: Sequence[ShownColumn]) -> bool:
    """Whether a request asks for totals. Raises ``Refused`` (318) where it asks for both."""
    kinds = {column.op in (GROUP_BY, *TOTALS) for column in columns}
    if len(kinds) == 2:
        raise Refused("318", "A plain property cannot stand beside totals; give it op GroupBy")
    return True in kinds


def totals(views: Iterable[Described], columns: Sequence[ShownColumn], kind: str) -> Iterator[Row]:
    """A row for each group, in the order in which they are met; one row where none are asked."""
    groups = _GroupTotals(columns)
    for place, view in enumerate(views):
        groups.add(view, place)
    yield from groups.rows(kind)


def totals_by_columns(
    search: Search, jobs: Store, columns: Sequence[ShownColumn], kind: str
) -> list[Row] | None:
    """The same from the columns of a store; None where these do not tell."""
    plan = search.plan
    if plan is None or jobs.verifies or not all(map(_is_told, columns)):
        return None
    groups = _GroupTotals(columns)

    def add(stored: Stored) -> None:
        for view in search.among(stored, jobs):
            groups.add(view, stored.number)

    by, of = ([each.attribute.name for each in some] for some in (groups.by, groups.measures))
    found = jobs.totals(plan, by, of, add)
    if found is None:
        return None
    for group in found:
        groups.join(group)
    return list(groups.rows(kind))


def rows_by_columns(
    search: Search, jobs: Store, columns: Sequence[ShownColumn]
) -> Iterator[Row] | None:
    """Rows of properties from the columns of a store; None where these do not tell."""
    found = search.texts(jobs, [column.attribute.name for column in columns])
    return None if found is None else _of_texts(found, search, jobs, columns)


def _of_texts(
    found: Iterable[Texts | Stored], search: Search, jobs: Store, columns: Sequence[ShownColumn]
) -> Iterator[Row]:
    labels = [column.label for column in columns]
    for each in found:
        if isinstance(each, Stored):
            for view in search.among(each, jobs):
                yield row(view, columns)
        else:
            yield Row(JOB, tuple(zip(labels, each, strict=True)))


def _is_text(column: ShownColumn) -> bool:
    """Whether a column of a store may have it as it is shown, in the order of the store."""
    attribute = column.attribute
    named = not (attribute.derived or attribute.extension)
    return named and not column.op and attribute.kind is AttributeType.TEXT


def _is_told(column: ShownColumn) -> bool:
    """Whether columns of a store may tell a total: not which text a number was written as."""
    named = not (column.attribute.derived or column.attribute.extension)
    return named and column.op in (GROUP_BY, "Count", "Sum", "Average")


class _GroupTotals:
    """Totals of each group. Raises ``Refused`` (318) for a sum of what is no number."""

    def __init__(self, columns: Sequence[ShownColumn]) -> None:
        for column in columns:
            if column.op in ("Sum", "Average") and column.attribute.kind in (
                AttributeType.TEXT,
                AttributeType.FLAG,
            ):
                raise Refused("318", f"{column.label} is no number, and has no {column.op}")
        self._columns = columns
        self.by = [column for column in columns if column.op == GROUP_BY]
        self.measures = [column for column in columns if column.op != GROUP_BY]
        self._found: dict[tuple[str, ...], tuple[int, list[_TotalCell]]] = {}

    def add(self, view: Described, place: int) -> None:
        """Add one thing, which stands at a place in the order."""
        for total in self._at(tuple(column.text(view) for column in self.by), place):
            total.add(view)

    def join(self, group: FlatGroup) -> None:
        """Add what was added up elsewhere."""
        for total, (count, number) in zip(
            self._at(group.texts, group.first), group.sums, strict=True
        ):
            total.join(count, number)

    def rows(self, kind: str) -> Iterator[Row]:
        """A row for each group, the first met first."""
        if not self.by:
            self._at((), 0)
        for key, (_, totals) in sorted(self._found.items(), key=lambda each: each[1][0]):
            texts, told = iter(key), iter(totals)
            yield Row(kind, tuple(
                (column.label, next(texts) if column.op == GROUP_BY else next(told).text)
                for column in self._columns
            ))  # fmt: skip

    def _at(self, key: tuple[str, ...], place: int) -> list[_TotalCell]:
        first, totals = self._found.get(key, (place, []))
        if not totals and key not in self._found:
            if len(self._found) == MOST:
                raise Refused("740", f"More than {MOST} groups; give conditions")
            totals = [_TotalCell(column) for column in self.measures]
            self._found[key] = place, totals
        elif place < first:
            self._found[key] = place, totals
        return totals


class _TotalCell:
    """One cell of a row of totals. What a job does not have is not counted."""

    def __init__(self, column: ShownColumn) -> None:
        self.column = column
        self._count = 0
        self._sum = Fraction()
        self._best: tuple[Any, str] | None = None

    def add(self, view: Described) -> None:
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

    def join(self, count: int, number: Fraction) -> None:
        """Add a count and a sum that were made elsewhere."""
        self._count += count
        self._sum += number

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
