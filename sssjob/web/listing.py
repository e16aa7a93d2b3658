"""The table of jobs that an address asks for: which columns of which jobs, in which order."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

from sssjob.document.text import write
from sssjob.errors import InvalidValue, SSSJobError
from sssjob.store import Store, browsing, dashboards
from sssjob.store.browsing import (
    FACETS,
    MOST,
    SHOWN,
    USUAL,
    Page,
    PageKey,
    TableJob,
    ValueCount,
    ValueKind,
)
from sssjob.store.condition import TRUE, Condition, all_of
from sssjob.store.dashboards import SPREAD
from sssjob.store.engine import CountedIn
from sssjob.verbs import browse
from sssjob.visible import Csv, csv_lines, visible
from sssjob.web.parameters import Parameter, QueryParameters

SIZE = 50  # jobs of a page
VALUES = 8  # of a facet beside the table
OPEN = ("state", "user", "queue")  # facets that are open where nobody chose
ALONE = "none"  # in the place of a facet: all are closed
RAN, ENDED, COUNTED, PART = "ran", "ended", "counted", "part"
_LONGEST = 15  # digits, which a double holds
_SEP = ".."  # between two bounds
_TEXT: dict[str, object] = {"type": "string"}

# fmt: off
FILTERS = (
    *(Parameter(name, f"Only jobs whose {name} is this; empty: that state none.", _TEXT)
      for name in dict.fromkeys((*FACETS, *SHOWN))),
    Parameter(RAN, "Only jobs that ran in this time: 2026-11-01..2026-12-01, in UTC; without an "
              "end, as far as their record says.", _TEXT),
    Parameter(ENDED, "Only jobs that ended in this time, written as for ran; as for month, the "
              "second day is not part of it.", _TEXT),
    Parameter(COUNTED, "Only jobs that charts count in this time, written as for ran: those that "
              "ended then; without an end, as far as their record says.", _TEXT),
    Parameter(PART, "Only jobs with such a number: wait:60..300, from 60 up to below 300; "
              f"of {', '.join(SPREAD)}.", _TEXT, several=True),
)
PARAMETERS = (
    Parameter("q", "Only jobs with this text in their Id, Name, GlobalId, user or project.", _TEXT),
    Parameter("columns", "The columns, with commas between.", _TEXT),
    Parameter("sort", "The column to sort by; with a minus in front, from the highest on.", _TEXT),
    Parameter("size", "How many jobs a page has.",
              {"type": "integer", "minimum": 1, "maximum": MOST, "default": SIZE}),
    Parameter("after", "Where the page before ended, as it says.", _TEXT),
    Parameter("facet", "A facet that is open beside the table, or none.",
              {"enum": [*FACETS, ALONE]}, several=True),
    *FILTERS,
)
# fmt: on
_FILTERS = frozenset(each.name for each in FILTERS)


class Facet(NamedTuple):
    """The most frequent values of a facet, and whether there are more."""

    name: str
    counts: tuple[ValueCount, ...]
    more: bool
    kind: ValueKind


@dataclass(frozen=True)
class ListingRequest:
    """What an address asks for. What it says wrongly raises ``InvalidValue`` when it is asked."""

    given: QueryParameters
    only: Condition = TRUE  # of these jobs, whatever the address says

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        names = self.given.get("columns") or ",".join(USUAL)
        return tuple(browsing.shown(name.strip()).name for name in names.split(","))

    @property
    def size(self) -> int:
        """How many jobs a page has."""
        return self.given.number("size", SIZE, MOST)

    @cached_property
    def sort(self) -> tuple[str, bool]:
        """The column to sort by, and whether from the highest on; the newest in the store first."""
        text = self.given.get("sort", "-")
        name = text.removeprefix("-")
        return (browsing.shown(name).name if name else ""), text.startswith("-")

    @property
    def chosen(self) -> tuple[tuple[str, str], ...]:
        """The filters: columns, and the values that they have to have."""
        return tuple(pair for pair in self.given.pairs if pair[0] in _FILTERS)

    @property
    def after(self) -> PageKey | None:
        """Where the page before ended."""
        text = self.given.get("after")
        return _read(text, browsing.shown(self.sort[0]).kind if self.sort[0] else None)

    def where(self, *, without: str = "") -> Condition:
        """Which jobs are meant; without the filter of one column, for its facet."""
        filters = (_condition(name, value) for name, value in self.chosen if name != without)
        return all_of(self.only, browsing.holding(self.given.get("q")), *filters)

    def page(self, engine: CountedIn, after: PageKey | None, limit: int = 0) -> Page:
        """The jobs behind a key: those of a page, or so many."""
        sort, down = self.sort
        return browsing.page(
            engine, self.columns, self.where(), sort=sort, down=down, after=after,
            limit=limit or self.size,
        )  # fmt: skip

    @property
    def asked(self) -> frozenset[str]:
        """The columns of the store that a page needs."""
        names = (*self.columns, *filter(None, (self.sort[0],)))
        return frozenset(each for name in names for each in browsing.shown(name).columns)

    def facet(self, engine: CountedIn, name: str, limit: int) -> Facet:
        """The values of a facet, as far as the other filters leave jobs."""
        where = self.where(without=name)
        found = browsing.facet(engine, name, where, limit=limit + 1)
        kind = SHOWN[name].kind if name in SHOWN else ValueKind.TEXT
        return Facet(name, tuple(found[:limit]), len(found) > limit, kind)

    @property
    def open(self) -> tuple[str, ...]:
        """The facets that are open."""
        named = [*filter(None, self.given.all("facet"))]
        return tuple(name for name in named if name != ALONE) if named else OPEN


def window(text: str) -> tuple[int, int]:
    """The first second of a time, and the one behind its last. Raises ``InvalidValue``.

    >>> window("1970-01-02..1970-01-03")
    (86400, 172800)
    """
    first, _, last = text.partition(_SEP)
    try:
        days = [datetime.strptime(each, "%Y-%m-%d") for each in (first, last)]
    except ValueError:
        days = []
    low, high = (int(each.replace(tzinfo=UTC).timestamp()) for each in days) if days else (0, 0)
    if low >= high:
        raise InvalidValue(text, "two days in order, such as 2026-11-01..2026-12-01")
    return low, high


def _condition(name: str, value: str) -> Condition:
    """What a filter asks for. Raises ``InvalidValue``."""
    if name == RAN:
        return browsing.ran(*window(value))
    if name == ENDED:
        return browsing.ended(*window(value))
    if name == COUNTED:
        return browsing.counted(*window(value))
    if name == PART:
        number, _, bounds = value.partition(":")
        low, _, high = bounds.partition(_SEP)
        if not (_is_whole(low) and (_is_whole(high) or not high)):
            raise InvalidValue(value, "a name and two whole numbers, such as wait:60..300")
        return dashboards.between(number, int(low), int(high) if high else None)
    return browsing.having(name, value)


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _LONGEST


def written(key: PageKey) -> str:
    """A key as it stands in an address: ``17.0`` or ``17.0=amy``.

    >>> [written(PageKey(*each)) for each in (("amy", 17, 0), (2.5, 17, 3), (None, 1, 0))]
    ['17.0=amy', '17.3=2.5', '1.0']
    """
    place = f"{key.document}.{key.place}"
    return place if key.value is None else f"{place}={key.value}"


def _read(text: str, kind: ValueKind | None) -> PageKey | None:
    if not text:
        return None
    place, has_value, value = text.partition("=")
    numbers = place.split(".")
    if len(numbers) != 2 or not all(each.isascii() and each.isdecimal() for each in numbers):
        raise InvalidValue(text, "the end of a page, as a link to the next one says")
    document, job = (int(each[:18]) for each in numbers)
    if not has_value or kind is None:
        return PageKey(None, document, job)
    if kind is ValueKind.TEXT:
        return PageKey(value, document, job)
    try:
        return PageKey(float(value), document, job)
    except ValueError:
        raise InvalidValue(text, "the end of a page, as a link to the next one says") from None


def as_dict(names: tuple[str, ...], row: TableJob) -> dict[str, Any]:
    """A job of the table for JSON; of several texts all."""
    told = {name: _plain(value) for name, value in zip(names, row.values, strict=True)}
    return {"job": f"/jobs/{row.document}/{row.place}", **told}


def _plain(value: str | float | None) -> object:
    if isinstance(value, str):
        found = browsing.texts(value)
        return found if len(found) > 1 else found[0]
    return int(value) if value is not None and float(value).is_integer() else value


def csv(names: tuple[str, ...], rows: Iterator[TableJob]) -> Iterator[Csv]:
    """The table as lines of comma-separated values."""
    yield from csv_lines([names])
    yield from csv_lines(map(_cells, rows))


def _cells(row: TableJob) -> Iterator[object]:
    return ("" if each is None else each for each in cells(row))


def cells(row: TableJob) -> Iterator[object]:
    """The values of a job for a table, several texts in one; None is not stated."""
    for value in row.values:
        plain = _plain(value)
        yield ", ".join(plain) if isinstance(plain, list) else plain


def xml(jobs: Store, rows: tuple[TableJob, ...]) -> tuple[bytes, int]:
    """The jobs of a page as one document, each with its defaults applied.

    Documents that cannot be read are left out: comments behind the others say why, and their number
    is given.
    """
    out, bad = io.BytesIO(), list[str]()

    def note(number: int, error: SSSJobError) -> None:
        bad.append(f"document {number} is left out: {error}")

    places = ((row.document, row.place) for row in rows)
    write(browse.effective(jobs, places, note), out, wrap="Data", indent=True)
    for said in bad:
        text = visible(said).replace("--", "- -").removesuffix("-")
        out.write(f"<!-- {text} -->\n".encode("utf-8", "replace"))
    return out.getvalue(), len(bad)
