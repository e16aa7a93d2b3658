"""Query: rows of properties, totals, what expressions find, or whole job objects."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing

from lxml import etree

from sssjob.document import bridge, tree
from sssjob.document.text import on_one_line
from sssjob.errors import Refused
from sssjob.handlers.columns import Column, Window, all_columns, ordered
from sssjob.handlers.finding import Search, is_true, names
from sssjob.handlers.paths import Path, found
from sssjob.handlers.roles import Reach
from sssjob.handlers.stores import Stores
from sssjob.handlers.totals import is_total, totals
from sssjob.handlers.view import View
from sssjob.rmap.message import Document, Item, Request, Row
from sssjob.rmap.responder import Answer, Call
from sssjob.store import Store

_MOST = 1000  # properties of a request


def query(stores: Stores, call: Call, reach: Reach) -> Answer:
    """The answer to a Query. Without Get it is whole job objects, as they are stored."""
    asked = call.request
    if asked.sets or asked.data:
        raise Refused("318", "A Query has neither Set nor Data")
    if is_true(asked, "ShowUsage"):
        return Answer((), "010", _USAGE, count=None)
    search, window = Search(call, reach), Window.of(asked)
    time = _time(asked)
    show = _Shown(asked)

    def rows() -> Iterator[Item]:
        with stores.use() as jobs, closing(_views(search, jobs, time)) as views:
            yield from window.of_rows(show.rows(views, window))

    return Answer(rows())


def whole(view: View) -> Document:
    """A job object as it is stored; one inside a job group with the defaults that hold for it."""
    element = bridge.to_tree(view.block) if view.place else tree.parse(view.stored.document)
    # On one line and in ASCII, as peers of Gold read.
    text = etree.tostring(element, encoding="ASCII", with_tail=False).decode()
    return Document(on_one_line(text).encode())


class _Shown:
    """What a request wants to see. Raises ``Refused`` (318)."""

    def __init__(self, asked: Request) -> None:
        self.kind = asked.object
        if len(asked.gets) > _MOST:
            raise Refused("318", f"There are more than {_MOST} Gets")
        known = names(asked)
        self._paths = [Path.of(get) for get in asked.gets if get.path]
        self._columns = [Column.of(get, self.kind, known) for get in asked.gets if not get.path]
        self._is_total = is_total(self._columns)
        self._hidden = is_true(asked, "ShowHidden")
        if self._is_total and self._paths:
            raise Refused("318", "An expression cannot stand beside totals")

    def rows(self, views: Iterator[View], window: Window) -> Iterator[Item]:
        """What is shown of jobs."""
        if self._is_total:
            yield from totals(views, self._columns, self.kind)
            return
        for view in ordered(views, self._columns, window.last):
            shown = self._row(view)
            if shown is not None:
                yield shown

    def _row(self, view: View) -> Item | None:
        if not self._columns and not self._paths and not self._hidden:
            return whole(view)
        columns = self._columns or (all_columns(view) if not self._paths else ())
        cells = [(column.label, column.text(view)) for column in columns]
        if self._paths:
            return found(view, self._paths, cells)
        return Row(self.kind, tuple(cells))


def _views(search: Search, jobs: Store, time: int | None) -> Generator[View, None, None]:
    yield from search.run(jobs) if time is None else search.at(jobs, time)


def _time(asked: Request) -> int | None:
    text = asked.option("Time")
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise Refused("317", "Time is a time in seconds since 1970")
    return int(text)


_USAGE = (
    "Query: Get name, op (Sort, Tros, Count, Sum, Average, Min, Max, GroupBy), alias, or an XPath "
    "expression as its text; Where name, op (EQ, NE, GT, GE, LT, LE, Match), conj (And, Or, "
    "AndNot, OrNot), group; Option Limit, Offset, Unique, ShowHidden, Time; chunking, chunkSize"
)
